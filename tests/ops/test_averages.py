"""Means, covariances, reductions without NaN: element types, edges, named sizes, refusals."""

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
RNG = np.random.default_rng(8)
X = RNG.normal(size=(4, 6))
W = RNG.uniform(0.5, 2, size=6)
COUNTS = np.array([1, 0, 3, 2, 1, 1])


# --- weights --------------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [None, 0, (1, 0)])
def test_weights_of_each_element(axis: Any) -> None:
    weights = RNG.uniform(0.5, 2, size=(4, 6))
    wanted = np.average(X, axis=axis, weights=weights)
    check_everywhere(
        lambda x, w: sg.average(x, axis=axis, weights=w), wanted, X, weights, named=False
    )


def test_weights_of_some_axes() -> None:
    x, w = RNG.normal(size=(2, 3, 4)), RNG.uniform(1, 2, size=(4, 2))
    wanted = np.average(x, axis=(2, 0), weights=w)
    check_everywhere(lambda x, w: sg.average(x, axis=(2, 0), weights=w), wanted, x, w)
    check_derivatives(lambda x, w: sg.average(x, axis=(2, 0), weights=w), x, w)


@pytest.mark.parametrize(
    ("x", "weights", "result"),
    [
        ("float32", "int64", "float32"),
        ("float32", "float64", "float64"),
        ("float16", "float16", "float16"),
        ("int8", "int8", "float64"),
        ("complex64", "float32", "complex64"),
    ],
)
def test_types_of_averages(x: str, weights: str, result: str) -> None:
    found = sg.average(np.array([1, 2], x), weights=np.array([1, 3], weights))
    assert found.dtype == result
    assert complex(found) == 1.75


def test_large_half_precision_numbers() -> None:
    x = np.full(5, 60000, np.float16)
    assert float(sg.average(x, weights=x)) == 60000.0
    assert float(sg.nanmean(x)) == 60000.0
    assert float(sg.nanvar(x)) == float(sg.nanstd(x)) == 0.0
    assert sg.cov(np.array([[300.0, -300.0]], np.float16)).dtype == np.float16
    assert float(sg.trapezoid(np.array([60000, 60000], np.float16))) == 60000.0


def test_named_weights() -> None:
    x, w = sg.placeholder("x", ("n", "m")), sg.placeholder("w", ("m",))
    y = sg.average(x, axis=1, weights=w)
    assert str(y.type) == "f64[n]"
    np.testing.assert_allclose(
        sg.evaluate(y, {x: X, w: W}), np.average(X, axis=1, weights=W), rtol=1e-14
    )


# --- covariance -----------------------------------------------------------------------------------


@pytest.mark.parametrize("ddof", [0, 1, 3])
@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_covariances_are_those_of_numpy(ddof: int, counted: bool, weighted: bool) -> None:
    more = {"fweights": COUNTS} if counted else {}
    more |= {"aweights": W} if weighted else {}
    wanted = np.cov(X, ddof=ddof, **more)
    np.testing.assert_allclose(sg.cov(X, correction=ddof, **more).numpy(), wanted, rtol=1e-12)
    complex_x = X + 1j * X[::-1]
    wanted = np.cov(complex_x, ddof=ddof, **more)
    found = sg.cov(complex_x, correction=ddof, **more).numpy()
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_counts_stand_for_repeated_observations() -> None:
    wanted = sg.cov(np.repeat(X, COUNTS, axis=1)).numpy()
    np.testing.assert_allclose(sg.cov(X, fweights=COUNTS).numpy(), wanted, rtol=1e-13)


def test_named_variables() -> None:
    x = sg.placeholder("x", ("n", "m"))
    for function in (sg.cov, sg.corrcoef):
        assert str(function(x).type) == "f64[n, n]"
        assert str(function(x, rowvar=False).type) == "f64[m, m]"
        assert str(function(x, x[0]).type) == "f64[n + 1, n + 1]"
    np.testing.assert_allclose(sg.cov(x).eval({x: X}), np.cov(X), rtol=1e-13)


def test_one_variable_gives_a_number() -> None:
    assert sg.cov(X[0]).shape == sg.cov(X[:1]).shape == sg.corrcoef(X[0]).shape == ()
    assert float(sg.corrcoef(X[0])) == pytest.approx(1.0, rel=1e-15)
    assert sg.cov(X[0], X[1]).shape == (2, 2)


def test_too_few_observations() -> None:
    x = sg.placeholder("x", (2, "m"))
    with np.errstate(all="ignore"):
        assert np.all(np.isnan(sg.cov(X[:, :1]).numpy()))
        assert np.all(np.isnan(sg.cov(x).eval({x: X[:2, :1]})))
        assert np.all(np.isinf(sg.cov(X[:2, :2], correction=5).numpy()))


def test_correlations_stay_within_bounds() -> None:
    x = np.array([[0.1, 0.2, 0.7], [0.3, 0.6, 2.1], [-0.1, -0.2, -0.7]])
    found = sg.corrcoef(x).numpy()
    assert np.max(np.abs(found)) <= 1.0
    np.testing.assert_allclose(found, [[1, 1, -1], [1, 1, -1], [-1, -1, 1]], rtol=1e-15)
    large = sg.corrcoef(np.array([[1e200, 3e200, 2e200], [1e-200, 2e-200, 9e-200]])).numpy()
    np.testing.assert_allclose(large[0, 1], np.corrcoef([1, 3, 2], [1, 2, 9])[0, 1], rtol=1e-13)


def test_no_correlation_of_what_does_not_vary() -> None:
    with np.errstate(all="ignore"):
        found = sg.corrcoef(np.array([[1.0, 2.0, 4.0], [0.1, 0.1, 0.1]])).numpy()
    np.testing.assert_array_equal(np.isnan(found), [[False, True], [True, True]])


# --- without NaN ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["nanmean", "nanvar", "nanstd", "nanmax", "nanmin"])
def test_nothing_but_nan(name: str) -> None:
    x = sg.placeholder("x", ("n", 2))
    value = np.array([[NAN, NAN], [1.0, NAN]])
    y = getattr(sg, name)(x, axis=1)
    (g,) = sg.grad(sg.sum(sg.where(sg.isnan(y), 0.0, y)), x)
    (whole,) = sg.grad(sg.sum(y), x)
    found, slope, of_all = sg.evaluate([y, g, whole], {x: value})
    assert np.isnan(found).tolist() == [True, False]
    wanted = 0.0 if name in ("nanvar", "nanstd") else 1.0
    assert slope.tolist() == of_all.tolist() == [[0.0, 0.0], [wanted, 0.0]]


@pytest.mark.parametrize("name", ["nansum", "nanprod", "nanmean", "nanvar", "nanstd"])
@pytest.mark.parametrize("shape", [(0,), (3, 0)])
def test_of_nothing(name: str, shape: tuple[int, ...]) -> None:
    wanted = {"nansum": 0.0, "nanprod": 1.0}.get(name, NAN)
    np.testing.assert_array_equal(getattr(sg, name)(np.zeros(shape)).numpy(), wanted)


def test_an_infinite_element_leaves_no_spread() -> None:
    for x in ([-INF, NAN, -INF], [INF, 1.0, NAN]):
        assert math.isnan(sg.nanvar(np.array(x)))
        assert math.isnan(sg.nanstd(np.array(x)))


@pytest.mark.parametrize("level", [0.1, -1e300, 1 / 3, 7e-320])
def test_equal_elements_have_no_spread(level: float) -> None:
    x = np.array([level, NAN, level, level])
    assert float(sg.nanvar(x)) == float(sg.nanstd(x)) == 0.0
    a = sg.placeholder("a", (4,))
    y = sg.nanstd(a)
    for _ in range(3):
        (g,) = sg.grad(y, a, materialize_grads=True)
        assert g.eval({a: x}).tolist() == [0.0] * 4
        y = sg.sum(g * np.arange(4.0))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64"])
def test_integers_hold_no_nan(dtype: str) -> None:
    x = np.array([[1, 0, 1]], dtype)
    for name in ("sum", "prod", "mean", "var", "std", "max", "min"):
        found, wanted = getattr(sg, f"nan{name}")(x, axis=1), getattr(sg, name)(x, axis=1)
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-15)
    assert sg.nan_to_num(x).dtype == dtype


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_largest_finite_numbers(dtype: str) -> None:
    found = sg.nan_to_num(np.array([INF, -INF, NAN], dtype))
    limits = np.finfo(dtype)
    assert found.dtype == dtype
    assert found.numpy().tolist() == [limits.max, limits.min, 0.0]


def test_parts_of_complex_numbers_are_replaced_separately() -> None:
    x = np.array([complex(NAN, 2.0), complex(1.0, -INF)])
    found = sg.nan_to_num(x, nan=-1.0, neginf=-9.0).numpy()
    assert found.tolist() == [-1 + 2j, 1 - 9j]


def test_spread_of_named_sizes() -> None:
    x = sg.placeholder("x", ("n", "m"))
    value = np.where(np.arange(24).reshape(4, 6) % 5 == 0, NAN, X)
    for name in ("nanvar", "nanstd", "nanmean", "nanmax"):
        y = getattr(sg, name)(x, axis=0)
        assert str(y.type) == "f64[m]"
        wanted = getattr(np, name)(value, axis=0)
        np.testing.assert_allclose(y.eval({x: value}), wanted, rtol=1e-13)


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: sg.average(x, weights=W[:4]), ShapeError, "average: weights has another shape"),
        (lambda x: sg.average(x, axis=1, weights=W[:1]), ShapeError, "the axes that are averaged"),
        (lambda x: sg.average(x, axis=2), ShapeError, "axis out of range"),
        (lambda x: sg.average(x, weights=x > 0), DTypeError, "average: element type of weights"),
        (lambda x: sg.ptp(x > 0), DTypeError, "ptp: element type of x: expected real"),
        (lambda x: sg.ptp(x[:0]), ShapeError, "axis 0 is empty"),
        (lambda x: sg.cov(x[None]), ShapeError, "cov: axes of x: expected at most 2"),
        (lambda x: sg.cov(x, x[:, :5]), ShapeError, "cov: numbers of observations"),
        (lambda x: sg.cov(x, fweights=W), DTypeError, "cov: element type of fweights"),
        (lambda x: sg.cov(x, fweights=COUNTS[:1]), ShapeError, "fweights has another shape"),
        (lambda x: sg.cov(x, aweights=W * 1j), DTypeError, "cov: element type of aweights"),
        (lambda x: sg.cov(x, correction=None), ArgumentError, "cov: correction is no number"),
        (lambda x: sg.corrcoef(x[None]), ShapeError, "corrcoef: axes of x"),
        (lambda x: sg.nanvar(x * 1j), DTypeError, "nanvar: element type of x"),
        (lambda x: sg.nanstd(x, correction="1"), ArgumentError, "nanstd: correction is no number"),
        (lambda x: sg.nanmax(x[:, :0], axis=1), ShapeError, "nanmax: axis 1 is empty"),
        (lambda x: sg.nanmin(x * 1j), DTypeError, "nanmin: element type"),
    ],
)
def test_refusals(call: Any, error: Any, message: str) -> None:
    for x in (sg.asarray(X), sg.placeholder("x", (4, 6))):
        with pytest.raises(error, match=message):
            call(x)
