"""Element-wise functions: mpmath is the oracle, for values and for all derivatives."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, DTypeError
from tests.ops.finite_differences import check_derivatives
from tests.ops.front_ends import check_everywhere

INF, NAN = math.inf, math.nan
mp.mp.dps = 60


def _gelu(x: Any) -> Any:
    return x * mp.erfc(-x / mp.sqrt(2)) / 2


def _gelu_tanh(x: Any) -> Any:
    return x * (1 + mp.tanh(mp.sqrt(2 / mp.pi) * (x + mp.mpf(0.044715) * x**3))) / 2


def _sinc(x: Any) -> Any:
    return mp.sincpi(x)


# name: ours, the formula, points of the domain
ROWS: dict[str, tuple[Callable[..., Any], Callable[..., Any], list[float]]] = {
    "softplus": (
        sg.softplus,
        lambda x: mp.log1p(mp.exp(x)),
        [-300, -38.25, -1, 0, 1e-9, 1, 38.25, 300],
    ),
    "log_sigmoid": (
        sg.log_sigmoid,
        lambda x: -mp.log1p(mp.exp(-x)),
        [-300, -38.25, -1, 0, 1, 38.25, 300],
    ),
    "silu": (sg.silu, lambda x: x / (1 + mp.exp(-x)), [-300, -38.25, -1, 0, 1, 38.25]),
    "gelu": (sg.gelu, _gelu, [-37, -30, -8.3, -3, -1, -0.75, -0.3, 0, 1e-5, 0.3, 1, 5, 30]),
    "gelu tanh": (
        lambda x: sg.gelu(x, approximate="tanh"),
        _gelu_tanh,
        [-4, -3, -1, -0.3, 0, 0.3, 1, 5, 30],
    ),
    "erf": (
        sg.erf,
        mp.erf,
        [-6, -2, -0.4688, -0.4687, -1e-9, 0, 1e-9, 0.1, 0.46875, 0.5, 3.9, 4, 4.1, 6],
    ),
    "erfc": (sg.erfc, mp.erfc, [-6, -2, -0.4, 0, 1e-9, 0.46875, 0.5, 1, 3.999, 4.001, 10, 26]),
    "sinc": (
        sg.sinc,
        _sinc,
        [-2.5, -1e-3, -1e-9, 0, 1e-9, 1e-3, 0.1, 0.25, 0.4, 1, 1.5, 2, 7.3, 1e3 + 0.25],
    ),
    "rsqrt": (sg.rsqrt, lambda x: 1 / mp.sqrt(x), [1e-200, 1e-3, 1, 4, 1e200]),
    "cbrt": (sg.cbrt, lambda x: mp.sign(x) * mp.cbrt(abs(x)), [-8, -1e-9, 1e-200, 1, 27]),
    "logit": (sg.logit, lambda x: mp.log(x / (1 - x)), [1e-300, 1e-9, 0.25, 0.5, 0.75]),
    "elu": (sg.elu, lambda x: x if x > 0 else mp.expm1(x), [-300, -40, -1, -1e-9, 1, 40]),
    "leaky_relu": (sg.leaky_relu, lambda x: x if x > 0 else x * mp.mpf(0.01), [-3, -1e-9, 1e-9, 3]),
    "relu": (sg.relu, lambda x: max(x, 0), [-3, -1e-9, 1e-9, 3]),
}


@pytest.mark.parametrize("name", ROWS)
def test_values(name: str) -> None:
    ours, formula, points = ROWS[name]
    expected = [float(formula(mp.mpf(p))) for p in points]
    check_everywhere(
        ours,
        np.array(expected),
        np.array(points, float),
        rtol=2e-15,
        atol=1e-60 if name == "sinc" else 1e-320,
    )


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_derivatives_of_every_order(name: str, order: int) -> None:
    ours, formula, points = ROWS[name]
    x = sg.placeholder("x")
    y = sg.nth_derivative(ours(x), x, order)
    for point in points:
        if name == "cbrt" and abs(point) < 1e-100 and order > 1:
            continue  # beyond the range of doubles
        if name in ("rsqrt", "logit") and abs(math.log10(point)) > 90:
            continue
        wanted = float(_derivative(formula, point, order))
        got = float(sg.evaluate(y, {x: point}))
        # Next to a zero of the derivative, only the absolute error is small.
        assert got == pytest.approx(wanted, rel=1e-11, abs=1e-16 if abs(point) < 12 else 0), point


def _derivative(formula: Callable[..., Any], point: float, order: int) -> Any:
    with mp.workdps(400 if abs(point) > 20 else 60):
        return mp.diff(formula, mp.mpf(point), order, h=mp.mpf(10) ** -15 * (abs(point) or 1))


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_narrow_types(name: str, dtype: str) -> None:
    ours, formula, points = ROWS[name]
    info = np.finfo(dtype)
    x = np.array([p for p in points if abs(p) < float(info.max)], dtype)
    if name in ("rsqrt", "logit", "cbrt"):
        x = x[np.abs(x) > info.tiny]
    expected = np.array([float(formula(mp.mpf(float(p)))) for p in x]).astype(dtype)
    check_everywhere(
        ours, expected, x, rtol=8 * float(info.eps), atol=4 * float(info.smallest_subnormal)
    )


LIMITS: dict[str, tuple[float, float]] = {
    "softplus": (0.0, INF),
    "log_sigmoid": (-INF, 0.0),
    "silu": (-0.0, INF),
    "gelu": (-0.0, INF),
    "gelu tanh": (-0.0, INF),
    "erf": (-1.0, 1.0),
    "erfc": (2.0, 0.0),
    "sinc": (0.0, 0.0),
    "cbrt": (-INF, INF),
    "elu": (-1.0, INF),
    "leaky_relu": (-INF, INF),
    "relu": (0.0, INF),
}


@pytest.mark.parametrize("name", LIMITS)
def test_infinities_and_nan(name: str) -> None:
    low, high = LIMITS[name]
    check_everywhere(ROWS[name][0], np.array([low, high, NAN]), np.array([-INF, INF, NAN]))


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (1, 1), (2, 3)])
def test_shapes(name: str, shape: tuple[int, ...]) -> None:
    ours, formula, _ = ROWS[name]
    x = np.full(shape, 0.3)
    check_everywhere(ours, np.full(shape, float(formula(mp.mpf(0.3)))), x, rtol=1e-14)
    check_everywhere(ours, np.full(shape[::-1], float(formula(mp.mpf(0.3)))), x.T, rtol=1e-14)


@pytest.mark.parametrize("name", ROWS)
def test_kernels_take_the_numbers_that_reductions_give(name: str) -> None:
    x = sg.placeholder("x", (), "float32")
    y = ROWS[name][0](x)
    got = y.op.kernel(np.float32(0.5), **y.attrs)
    assert np.shape(got) == ()
    assert np.asarray(got).dtype == np.float32


def test_integers_become_floats_or_stay() -> None:
    x = np.array([-1, 0, 2])
    check_everywhere(sg.relu, np.array([0, 0, 2]), x)
    assert np.asarray(sg.erf(x)).dtype == np.float64
    for op in (sg.relu, sg.softplus, sg.erf):
        with pytest.raises(DTypeError):
            op(np.ones(2, complex))
    with pytest.raises(DTypeError, match="relu"):
        sg.relu(np.array([True]))


def test_slopes_at_kinks() -> None:
    x = sg.placeholder("x", (3,))
    point = {x: np.array([-1.0, 0.0, 2.0])}
    for op, expected in (
        (sg.relu, [0, 0, 1]),
        (sg.leaky_relu, [0.01, 0.01, 1]),
        (lambda x: sg.elu(x, alpha=2.0), [2 * math.exp(-1), 2, 1]),
    ):
        (g,) = sg.grad(sg.sum(op(x)), x)
        np.testing.assert_allclose(sg.evaluate(g, point), expected)


def test_rectifier_guards_what_it_cut() -> None:
    x = sg.placeholder("x", (2,))
    (g,) = sg.grad(sg.sum(sg.relu(sg.sqrt(x) - 1)), x)
    np.testing.assert_array_equal(sg.evaluate(g, {x: np.array([0.0, 4.0])}), [0.0, 0.25])


def test_tails_keep_their_accuracy() -> None:
    x = sg.placeholder("x")
    curvature = sg.nth_derivative(sg.softplus(x), x, 2)
    expected = math.exp(-38.25) / (1 + math.exp(-38.25)) ** 2
    assert float(sg.evaluate(curvature, {x: 38.25})) == pytest.approx(expected, rel=1e-14)
    rng = np.random.default_rng(1)
    values = -np.abs(rng.normal(size=200)) * 12
    expected_gelu = [float(_gelu(mp.mpf(v))) for v in values]
    np.testing.assert_allclose(np.asarray(sg.gelu(values)), expected_gelu, rtol=1e-15 * 2)
    values = rng.uniform(0, 26, 200)
    expected_erfc = [float(mp.erfc(mp.mpf(v))) for v in values]
    np.testing.assert_allclose(np.asarray(sg.erfc(values)), expected_erfc, rtol=2e-15)


def test_sinc_at_its_removable_point() -> None:
    x = sg.placeholder("x")
    for order, expected in (
        (0, 1.0),
        (1, 0.0),
        (2, -(math.pi**2) / 3),
        (3, 0.0),
        (4, math.pi**4 / 5),
    ):
        y = sg.nth_derivative(sg.sinc(x), x, order) if order else sg.sinc(x)
        assert float(sg.evaluate(y, {x: 0.0})) == pytest.approx(expected, rel=1e-14, abs=1e-300)
    shifted = sg.nth_derivative(sg.sinc(2.0 * x + 1.0), x, 2)
    assert float(sg.evaluate(shifted, {x: -0.5})) == pytest.approx(-4 * math.pi**2 / 3, rel=1e-14)
    assert float(sg.sinc(3.0)) == 0.0


@pytest.mark.parametrize("order", [5, 8, 12])
def test_sinc_of_high_order(order: int) -> None:
    x = sg.placeholder("x", (6,))
    y = sg.sinc(x)
    for _ in range(order):
        (y,) = sg.grad(sg.sum(y), x)
    points = np.array([0.0, 1e-3, 0.7, 1.9, 3.1, 8.4])
    with mp.workdps(80):
        expected = [float(mp.diff(_sinc, mp.mpf(p), order, h=mp.mpf(10) ** -5)) for p in points]
    scale = math.pi**order / (order + 1)
    np.testing.assert_allclose(sg.evaluate(y, {x: points}), expected, rtol=1e-5, atol=1e-9 * scale)


def test_xlogy() -> None:
    a, b = np.array([0.0, 0.0, 2.0, 0.0, 1.0]), np.array([0.0, 5.0, 3.0, NAN, 0.0])
    check_everywhere(sg.xlogy, np.array([0.0, 0.0, 2 * math.log(3), NAN, -INF]), a, b)
    x, y = sg.placeholder("x", (3,)), sg.placeholder("y", (3,))
    slopes = sg.grad(sg.sum(sg.xlogy(x, y)), [x, y])
    by_x, by_y = sg.evaluate(list(slopes), {x: a[:3], y: b[:3]})
    np.testing.assert_allclose(by_x, [0.0, math.log(5), math.log(3)])
    np.testing.assert_allclose(by_y, [0.0, 0.0, 2 / 3])
    check_derivatives(sg.xlogy, np.array([[0.5], [2.0]]), np.array([1.5, 0.7, 3.0]))


@pytest.mark.parametrize("name", [n for n in ROWS if n not in ("rsqrt", "logit")])
def test_derivatives_by_differences(name: str) -> None:
    check_derivatives(ROWS[name][0], np.array([[-1.3, 0.4], [2.1, 0.9]]))


def test_unknown_approximation() -> None:
    with pytest.raises(
        ArgumentError, match="gelu: unknown approximation: expected 'none' or 'tanh', got 'erf'"
    ):
        sg.gelu(1.0, approximate="erf")
