"""Quantiles and medians against numpy, tables against their definition, and both at their edges."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, DTypeError, ShapeError
from tests.ops.finite_differences import check_derivatives
from tests.ops.front_ends import check_everywhere

INF, NAN = math.inf, math.nan
METHODS = (
    "linear lower higher midpoint nearest inverted_cdf averaged_inverted_cdf closest_observation "
    "interpolated_inverted_cdf hazen weibull median_unbiased normal_unbiased"
).split()


def slopes(f: Any, *points: Any) -> list[Any]:
    values = [np.asarray(p, np.float64) for p in points]
    xs = [sg.placeholder(f"x{k}", v.shape) for k, v in enumerate(values)]
    gradient = sg.grad(f(*xs), xs, materialize_grads=True)
    return [v.tolist() for v in sg.evaluate(list(gradient), dict(zip(xs, values, strict=True)))]


# --- quantiles ------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 8])
def test_methods_are_numpys(method: str, count: int) -> None:
    x = np.random.default_rng(count).permutation(count) ** 2.0
    # All fractions at which a method jumps, and some between.
    q = np.concatenate([np.linspace(0, 1, 4 * count + 1), [0.1, 0.37, 0.99]])
    expected = np.quantile(x, q, method=method)
    found = sg.quantile(x, q, method=method)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-14, atol=1e-14)
    x[0] = NAN
    expected = np.nanquantile(x, q, method=method) if count > 1 else np.full(q.shape, NAN)
    found = sg.nanquantile(x, q, method=method)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), (2, 1, 0)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_axes(axis: Any, keepdims: bool) -> None:
    x = np.random.default_rng(1).normal(size=(2, 3, 4))
    options = {"axis": axis, "keepdims": keepdims}
    check_everywhere(lambda v: sg.median(v, **options), np.median(x, **options), x)
    for q in (0.3, [0.3, 0.8], [[0.0], [1.0]]):
        expected = np.quantile(x, q, **options)
        check_everywhere(lambda v, q=q: sg.quantile(v, q, **options), expected, x)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "uint64", "float16", "float32"])
def test_types(dtype: str) -> None:
    top = np.iinfo(dtype).max if np.dtype(dtype).kind in "iu" else 1
    x = np.array([top, top, 0, top], dtype)
    wide = np.float64 if x.dtype.kind in "biu" else x.dtype
    found = sg.median(x)
    assert found.dtype == wide
    assert float(found) == float(top)
    assert sg.quantile(x, 0.25, method="lower").dtype == wide


def test_middles_do_not_overflow() -> None:
    assert float(sg.median(np.array([60000, 60000], np.float16))) == 60000.0
    assert float(sg.median(np.array([1.5e308, 1e308]))) == 1.25e308
    assert float(sg.median(np.array([-1.7e308, 1.7e308]))) == 0.0
    assert float(sg.median(np.array([120, 126], np.int8))) == 123.0


@pytest.mark.parametrize("level", [0.1, 1 / 3, -7e-310, 1e300])
def test_quantiles_of_equal_numbers(level: float) -> None:
    q = np.linspace(0, 1, 29)
    assert np.all(sg.quantile(np.full(5, level), q).numpy() == level)


def test_quantiles_stay_between_their_neighbours() -> None:
    low, high = 0.1, np.nextafter(0.1, 1)
    found = sg.quantile(np.array([low, high]), np.linspace(0, 1, 101)).numpy()
    assert found.min() == low
    assert found.max() == high
    assert np.all(np.diff(found) >= 0)


def test_infinities_among_the_elements() -> None:
    for x, q, expected in (
        ([INF, INF], 0.5, INF),
        ([1.0, INF], 0.5, INF),
        ([1.0, INF], 0.0, 1.0),
        ([-INF, 1.0, INF], 0.5, 1.0),
        ([-INF, 1.0], 0.25, -INF),
    ):
        assert float(sg.quantile(np.array(x), q)) == expected


def test_a_nan_spoils_its_line_alone() -> None:
    x = np.array([[1.0, NAN, 3.0], [4.0, 6.0, 5.0], [NAN, NAN, NAN]])
    np.testing.assert_array_equal(sg.median(x, axis=1).numpy(), [NAN, 5.0, NAN])
    np.testing.assert_array_equal(sg.nanmedian(x, axis=1).numpy(), [2.0, 5.0, NAN])
    assert slopes(lambda v: sg.sum(sg.median(v, axis=1)), x)[0] == [
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0],
        [1.0, 0.0, 0.0],
    ]
    assert slopes(lambda v: sg.sum(sg.nanmedian(v, axis=1)[:2]), x)[0] == [
        [0.5, 0.0, 0.5],
        [0.0, 0.0, 1.0],
        [0.0, 0.0, 0.0],
    ]


@pytest.mark.parametrize("function", [sg.median, sg.nanmedian])
def test_of_nothing(function: Any) -> None:
    assert math.isnan(float(function(np.zeros(0))))
    check_everywhere(lambda v: function(v, axis=1), np.full(3, NAN), np.zeros((3, 0)))
    check_everywhere(lambda v: function(v, axis=0), np.zeros(0), np.zeros((3, 0)))
    assert slopes(function, np.zeros(0)) == [[]]


@pytest.mark.parametrize("q", [-0.1, 1.0001, NAN, INF, [0.5, 2.0]])
def test_fractions_outside_of_their_range(q: Any) -> None:
    with pytest.raises(ArgumentError, match=r"quantile: q lies outside of its range: expected 0"):
        sg.quantile(np.zeros(3), q)
    s = sg.placeholder("q", np.shape(q))
    with pytest.raises(ValueError, match="q lies outside of 0 to 1"):
        sg.evaluate(sg.quantile(np.zeros(3), s), {s: np.asarray(q)})


def test_arguments() -> None:
    with pytest.raises(ArgumentError, match="quantile: method: expected linear, lower"):
        sg.quantile(np.zeros(3), 0.5, method="cubic")
    with pytest.raises(DTypeError, match="median: element type of x: expected real"):
        sg.median(np.zeros(3, complex))
    with pytest.raises(DTypeError, match="quantile: element type of q"):
        sg.quantile(np.zeros(3), 0.5j)
    with pytest.raises(ShapeError, match="median: axis out of range"):
        sg.median(np.zeros(3), axis=1)
    with pytest.raises(ShapeError, match="an axis is given twice"):
        sg.quantile(np.zeros((2, 3)), 0.5, axis=(1, -1))


def test_named_sizes() -> None:
    x = sg.placeholder("x", ("n", 3, "m"))
    assert sg.median(x, axis=(0, 2)).shape == (3,)
    y = sg.quantile(x, [0.2, 0.9], axis=1, keepdims=True)
    assert y.shape == (2, x.shape[0], 1, x.shape[2])
    value = np.random.default_rng(2).normal(size=(4, 3, 2))
    np.testing.assert_allclose(
        sg.evaluate(sg.median(x, axis=(0, 2)), {x: value}), np.median(value, axis=(0, 2))
    )


def test_derivatives_of_quantiles() -> None:
    x = np.array([0.3, 2.0, -1.0, 1.5, 0.9])
    check_derivatives(lambda v, q: sg.quantile(v, q) ** 3, x, np.array([0.3, 0.6]))
    assert slopes(lambda q: sg.quantile(x, q), 0.3) == [pytest.approx(4 * 0.6)]


def test_fractions_are_doubles_whatever_the_elements() -> None:
    """In single precision, the position among so many elements would be off by several."""
    x = np.arange(2**24 + 2, dtype=np.float32)[::-1]
    assert float(sg.quantile(x, 0.1, method="lower")) == math.floor(0.1 * (len(x) - 1))


# --- tables ---------------------------------------------------------------------------------------

XP, FP = np.array([0.0, 1.0, 3.0]), np.array([2.0, 4.0, 0.0])


def test_values_of_a_table() -> None:
    x = np.array([[-1.0, 0.0, 0.25], [1.0, 2.0, 3.0], [4.0, -INF, INF]])
    check_everywhere(lambda v: sg.interp(v, XP, FP), np.interp(x, XP, FP), x)
    expected = np.interp(x, XP, FP, left=-7.0, right=9.0)
    check_everywhere(lambda v: sg.interp(v, XP, FP, left=-7.0, right=9.0), expected, x)
    assert math.isnan(float(sg.interp(np.array(NAN), XP, FP)))


@pytest.mark.parametrize("period", [4.0, -4.0, 3])
def test_a_table_repeats(period: float) -> None:
    x, xp = np.linspace(-9, 9, 41), np.array([3.5, -1.0, 0.25])
    expected = np.interp(x, xp, FP, period=period)
    check_everywhere(lambda v: sg.interp(v, xp, FP, period=period), expected, x, rtol=1e-12)


@pytest.mark.parametrize("x", [0.0, 1.0, 2.0, 3.0, 0.5, 9.0])
def test_tables_with_jumps_and_infinities(x: float) -> None:
    for xp, fp in (
        ([0.0, 1.0, 1.0, 3.0], [0.0, 1.0, 5.0, 6.0]),
        ([0.0, 1.0, 1.0], [0.0, 1.0, 2.0]),
        ([0.0, 0.0, 1.0], [3.0, 1.0, 2.0]),
        ([0.0, 1.0, 3.0], [2.0, INF, 1.0]),
        ([0.0, 1.0, 3.0], [INF, INF, 1.0]),
    ):
        assert float(sg.interp(np.array(x), np.array(xp), np.array(fp))) == np.interp(x, xp, fp)


def test_a_table_of_one_point() -> None:
    x = np.array([-1.0, 0.5, 2.0])
    point, value = np.array([0.5]), np.array([7.0])
    found = sg.interp(x, point, value, left=0.0, right=1.0).numpy()
    assert found.tolist() == [0.0, 7.0, 1.0]
    assert slopes(lambda v: sg.sum(sg.interp(v, point, value)), x) == [[0.0, 0.0, 0.0]]


def test_derivatives_of_a_table() -> None:
    x = np.array([-0.5, 0.3, 0.8, 1.7, 2.9, 3.5])
    check_derivatives(lambda a, b, c: sg.interp(a, b, c) ** 2, x, XP, FP)
    found = slopes(lambda a, b, c: sg.sum(sg.interp(a, b, c)), [0.25, 2.0, 9.0], XP, FP)
    assert found == [[2.0, -2.0, 0.0], [-1.5, 0.5, 1.0], [0.75, 0.75, 1.5]]


def test_ends_of_a_table_have_slopes() -> None:
    found = slopes(
        lambda a, left, right: sg.sum(sg.interp(a, XP, FP, left=left, right=right)),
        [-1.0, -2.0, 0.5, 4.0],
        0.0,
        [1.0, 2.0, 3.0, 4.0],
    )
    assert found == [[0.0, 0.0, 2.0, 0.0], 2.0, [0.0, 0.0, 0.0, 1.0]]


def test_types_of_a_table() -> None:
    x = np.array([1, 2])
    assert sg.interp(x, np.array([0, 4]), np.array([0, 2])).numpy().tolist() == [0.5, 1.0]
    single = sg.interp(x.astype(np.float32), XP.astype(np.float32), FP.astype(np.float32))
    assert single.dtype == np.float32
    waves = np.array([0.0, 1j, 1.0])
    np.testing.assert_array_equal(
        sg.interp(np.array([0.5, 2.0]), XP, waves).numpy(), [0.5j, 0.5 + 0.5j]
    )


def test_arguments_of_a_table() -> None:
    x = np.zeros(2)
    with pytest.raises(ShapeError, match="interp: sizes of xp and fp differ"):
        sg.interp(x, XP, FP[:2])
    with pytest.raises(ShapeError, match="interp: axes of fp: expected 1 axis"):
        sg.interp(x, XP, FP[:, None])
    with pytest.raises(ShapeError, match="interp: a table without points"):
        sg.interp(x, x[:0], x[:0])
    with pytest.raises(ArgumentError, match="interp: period: expected a number, not 0"):
        sg.interp(x, XP, FP, period=0)
    with pytest.raises(DTypeError, match="interp: element type of x: expected real"):
        sg.interp(x + 1j, XP, FP)


def test_a_table_of_a_named_size() -> None:
    x = sg.placeholder("x", ("m",))
    xp, fp = sg.placeholder("xp", ("n",)), sg.placeholder("fp", ("n",))
    y = sg.interp(x, xp, fp)
    assert y.shape == x.shape
    for points in (XP, XP[:1]):
        value = np.array([-1.0, 0.25, 2.5])
        found = sg.evaluate(y, {x: value, xp: points, fp: FP[: len(points)]})
        np.testing.assert_allclose(found, np.interp(value, points, FP[: len(points)]), rtol=1e-15)
