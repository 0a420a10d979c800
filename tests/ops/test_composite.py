"""Clip, softmax: numpy and closed forms are the oracles, finite differences for slopes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import DTypeError, ShapeError
from tests.ops.finite_differences import check_derivatives
from tests.ops.front_ends import check_everywhere
from tests.ops.gradients import gradient

RNG = np.random.default_rng(9)
INF, NAN = math.inf, math.nan


# --- clip -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int64", "uint8"])
@pytest.mark.parametrize(("low", "high"), [(1, 3), (1, None), (None, 3), (None, None), (3, 1)])
def test_clip(dtype: str, low: int | None, high: int | None) -> None:
    x = np.array([0, 1, 2, 3, 4], dtype)
    expected = x if low is None and high is None else np.clip(x, low, high)
    check_everywhere(lambda x: sg.clip(x, low, high), expected, x)
    arrays = [None if b is None else np.asarray(b, dtype) for b in (low, high)]
    check_everywhere(lambda x: sg.clip(x, *arrays), expected, x)


def test_clip_of_integers_by_floats() -> None:
    x = np.array([0, 1, 2])
    check_everywhere(lambda x: sg.clip(x, 0.5, 1.5), np.array([0.5, 1.0, 1.5]), x)
    check_everywhere(lambda x: sg.clip(x, max=1.5), np.array([0.0, 1.0, 1.5]), x)


def test_clip_by_bounds_outside_an_integer_type() -> None:
    x = np.array([0, 200], np.uint8)
    check_everywhere(lambda x: sg.clip(x, -5, 300), x, x)
    check_everywhere(lambda x: sg.clip(x, -5, 100), np.array([0, 100], np.uint8), x)
    with pytest.raises(DTypeError, match="300 does not fit uint8"):
        sg.clip(x, 300)


def test_clip_specials() -> None:
    x = np.array([NAN, INF, -INF])
    check_everywhere(lambda x: sg.clip(x, 0.0, 1.0), np.array([NAN, 1.0, 0.0]), x)
    check_everywhere(lambda x: sg.clip(x, 0.0), np.array([NAN, INF, 0.0]), x)
    for x in (np.zeros(3, complex), np.zeros(3, bool)):
        with pytest.raises(DTypeError, match="clip"):
            sg.clip(x, 0.0, 1.0)


def test_slopes_of_clip() -> None:
    x = np.array([0.5, -2.0, 3.0, 0.0, 1.0])
    inside = [1.0, 0.0, 0.0, 0.0, 0.0]
    np.testing.assert_array_equal(gradient(lambda x: sg.sum(sg.clip(x, 0.0, 1.0)), x), inside)
    np.testing.assert_array_equal(
        gradient(lambda x: sg.sum(sg.clip(x, max=1.0)), x), [1, 1, 0, 1, 0]
    )
    low, high = np.zeros(5), np.ones(5)
    by_x, by_low, by_high = gradient(lambda *a: sg.sum(sg.clip(*a)), x, low, high)
    np.testing.assert_array_equal(by_x, [1.0, 0.0, 0.0, 0.5, 0.5])
    np.testing.assert_array_equal(by_low, [0.0, 1.0, 0.0, 0.5, 0.0])
    np.testing.assert_array_equal(by_high, [0.0, 0.0, 1.0, 0.0, 0.5])


def test_clip_guards_what_it_cut() -> None:
    g = gradient(lambda x: sg.sum(sg.clip(sg.sqrt(x), 1.0, 3.0)), np.array([0.0, 4.0]))
    np.testing.assert_array_equal(g, [0.0, 0.25])


# --- softmax --------------------------------------------------------------------------------------


def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("shape", [(3, 4), (1, 4), (3, 1), (2, 3, 2)])
def test_softmax(shape: tuple[int, ...], axis: int) -> None:
    x = 3 * RNG.normal(size=shape)
    check_everywhere(lambda x: sg.softmax(x, axis=axis), softmax(x, axis), x, rtol=1e-14)
    check_everywhere(
        lambda x: sg.log_softmax(x, axis), np.log(softmax(x, axis)), x, rtol=1e-12, atol=1e-15
    )
    check_derivatives(lambda x: sg.softmax(x, axis=axis), x)
    check_derivatives(lambda x: sg.log_softmax(x, axis=axis), x)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_softmax_of_narrow_types(dtype: str) -> None:
    x = RNG.normal(size=(3, 5)).astype(dtype)
    eps = float(np.finfo(dtype).eps)
    wide = x.astype(float)
    check_everywhere(sg.softmax, softmax(wide).astype(dtype), x, rtol=4 * eps)
    check_everywhere(sg.log_softmax, np.log(softmax(wide)).astype(dtype), x, rtol=4 * eps)
    ct = RNG.normal(size=(3, 5)).astype(dtype)
    for op in (sg.softmax, sg.log_softmax):
        g = gradient(op, x, ct=ct)
        assert g.dtype == dtype
        np.testing.assert_allclose(
            g, gradient(op, wide, ct=ct.astype(float)), rtol=20 * eps, atol=8 * eps
        )


def test_softmax_of_nothing_and_of_integers() -> None:
    for op in (sg.softmax, sg.log_softmax):
        check_everywhere(op, np.zeros((3, 0)), np.zeros((3, 0)))
        assert gradient(lambda x, op=op: sg.sum(op(x)), np.zeros((3, 0))).shape == (3, 0)
        assert np.asarray(op(np.array([1, 2]))).dtype == np.float64
        with pytest.raises(ShapeError, match="softmax: axis out of range"):
            op(np.array(1.0))
        with pytest.raises(DTypeError, match="softmax"):
            op(np.zeros(2, complex))


def test_softmax_specials() -> None:
    with np.errstate(all="ignore"):
        check_everywhere(sg.softmax, np.array([0.0, 1.0]), np.array([-INF, 1.0]))
        check_everywhere(sg.log_softmax, np.array([-INF, 0.0]), np.array([-INF, 1.0]))
        check_everywhere(sg.softmax, np.array([NAN, NAN]), np.array([NAN, 1.0]))
        check_everywhere(sg.softmax, np.array([NAN, NAN]), np.array([-INF, -INF]))
    np.testing.assert_allclose(
        gradient(sg.log_softmax, np.array([-INF, 1.0, 1.0]), ct=[0.0, 1.0, 0.0]), [0, 0.5, -0.5]
    )


def test_small_components_survive() -> None:
    x = np.array([38.0, 0.0])
    s = math.exp(-38.0) / (1 + math.exp(-38.0)) ** 2
    p = math.exp(-38.0) / (1 + math.exp(-38.0))
    np.testing.assert_allclose(gradient(sg.softmax, x, ct=[1.0, 0.0]), [s, -s], rtol=1e-14)
    np.testing.assert_allclose(gradient(sg.softmax, x, ct=[0.0, 1.0]), [-s, s], rtol=1e-14)
    np.testing.assert_allclose(gradient(sg.log_softmax, x, ct=[1.0, 0.0]), [p, -p], rtol=1e-14)
    loss = lambda x: sg.cross_entropy(x, np.array(0))  # noqa: E731
    assert float(loss(x)) == pytest.approx(p, rel=1e-14)
    np.testing.assert_allclose(gradient(loss, x), [-p, p], rtol=1e-14)
    symbol = sg.placeholder("x", (2,))
    (slope,) = sg.grad(loss(symbol), symbol)
    rows = [sg.grad(slope[k], symbol)[0] for k in range(2)]
    hessian = sg.evaluate(rows, {symbol: x})
    np.testing.assert_allclose(hessian, [[s, -s], [-s, s]], rtol=1e-13)


def test_forward_mode_keeps_small_components() -> None:
    t = sg.placeholder("t")
    line = sg.constant([1.0, 0.0])
    s = math.exp(-38.0) / (1 + math.exp(-38.0)) ** 2
    for op in (sg.softmax, sg.log_softmax):
        y = op(t * line)
        (dy,) = sg.jvp(y[0], [t], [sg.constant(1.0)])
        expected = s if op is sg.softmax else s * (1 + math.exp(-38.0))
        assert float(sg.evaluate(dy, {t: 38.0})) == pytest.approx(expected, rel=1e-12)


def test_half_precision_counts_beyond_its_range() -> None:
    n = 70001
    x = np.zeros(n, np.float16)
    x[0] = 1.0
    g = gradient(lambda x: sg.sum(sg.log_softmax(x)), x)
    z = n - 1 + math.e
    assert g.dtype == np.float16
    assert g[0] == pytest.approx(1 - n * math.e / z, rel=2e-3)
    np.testing.assert_allclose(g[1:], np.full(n - 1, 1 - n / z), rtol=0.1)


def test_guards_pass_softmax() -> None:
    def f(x: Any) -> Any:
        rows = sg.softmax(sg.log(x), axis=1)
        return sg.sum(sg.where(x[:, :1] > 0.0, rows, 0.0)[:, 0])

    g = gradient(f, np.array([[1.0, 3.0], [0.0, 0.0]]))
    np.testing.assert_allclose(g, [[3 / 16, -1 / 16], [0.0, 0.0]])


# --- closeness ------------------------------------------------------------------------------------


def test_isclose() -> None:
    a = np.array([1.0, 1.0, INF, INF, NAN, 0.0, 1.0])
    b = np.array([1.0 + 1e-7, 1.1, INF, -INF, NAN, 1e-9, INF])
    for equal_nan in (False, True):
        with np.errstate(invalid="ignore"):
            expected = np.isclose(a, b, equal_nan=equal_nan)
            check_everywhere(
                lambda a, b, e=equal_nan: sg.isclose(a, b, equal_nan=e), expected, a, b
            )
    assert bool(sg.allclose(a[:1], b[:1]))
    assert not bool(sg.allclose(a, b))
    assert bool(sg.allclose(np.array([True]), np.array([True])))


def test_softmax_beside_an_infinity() -> None:
    x = sg.placeholder("x", (3,))
    at = np.array([np.inf, 1.0, -np.inf])
    with np.errstate(all="ignore"):
        want = np.exp(at) / np.exp(at).sum()
    for y in (sg.softmax(x), sg.exp(x) / sg.sum(sg.exp(x))):
        np.testing.assert_array_equal(y.eval({x: at}), want)


def test_softmax_of_nothing_has_an_empty_gradient() -> None:
    x = sg.placeholder("x", (3, 0))
    (dx,) = sg.grad(sg.sum(sg.softmax(x, axis=1) ** 2), x)
    assert dx.eval({x: np.zeros((3, 0))}).shape == (3, 0)
