"""Slopes and areas of sampled functions, sliding products, polynomials: sizes, types, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import integrate

import symgrad as sg
from symgrad.errors import ArgumentError, DTypeError, ShapeError
from tests.ops.finite_differences import check_derivatives
from tests.ops.front_ends import check_everywhere

RNG = np.random.default_rng(10)
F = RNG.normal(size=(4, 5, 6))
POINTS = [np.cumsum(RNG.uniform(0.2, 1, size=n)) for n in F.shape]

# --- slopes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("edge_order", [1, 2])
@pytest.mark.parametrize(
    ("spacing", "axis"),
    [
        ((), None),
        ((0.3,), None),
        ((0.3, 2, -0.7), None),
        (tuple(POINTS), None),
        ((POINTS[1],), 1),
        ((POINTS[2], 2.0), (2, 0)),
        ((), ()),
    ],
)
def test_slopes_are_those_of_numpy(spacing: Any, axis: Any, edge_order: int) -> None:
    wanted = np.gradient(F, *spacing, axis=axis, edge_order=edge_order)
    found = sg.gradient(F, *spacing, axis=axis, edge_order=edge_order)
    assert isinstance(found, tuple) == isinstance(wanted, tuple)
    if not isinstance(wanted, tuple):
        found, wanted = (found,), (wanted,)
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a.numpy(), b, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("edge_order", [1, 2])
def test_slopes_of_named_sizes(edge_order: int) -> None:
    x, at = sg.placeholder("x", ("n", "m")), sg.placeholder("at", ("n",))
    y = sg.gradient(x, at, axis=0, edge_order=edge_order)
    assert str(y.type) == "f64[n, m]"
    run = sg.function([x, at], y)
    for n in (edge_order + 1, 5):
        f, points = RNG.normal(size=(n, 3)), np.arange(float(n)) ** 2
        wanted = np.gradient(f, points, axis=0, edge_order=edge_order)
        np.testing.assert_allclose(run(f, points), wanted, atol=1e-13)
    for n in range(edge_order + 1):
        with pytest.raises(ShapeError, match=f"n = {n}"):
            run(np.ones((n, 3)), np.arange(float(n)))


def test_slopes_of_parabolas_are_exact() -> None:
    x = np.array([0.0, 0.5, 2.0, 3.0, 7.0])
    found = sg.gradient(x**2, x, edge_order=2).numpy()
    np.testing.assert_allclose(found, 2 * x, atol=1e-13)


def test_derivatives_by_values_and_coordinates() -> None:
    check_derivatives(lambda f, x: sg.gradient(f, x, axis=1, edge_order=2), F[0], POINTS[2])
    check_derivatives(lambda f, h: sg.gradient(f, h)[0], F[0], np.array(0.4))
    check_derivatives(sg.trapezoid, F[0], POINTS[2])
    check_derivatives(lambda y, h: sg.cumulative_trapezoid(y, dx=h), F[0], np.array(0.4))


# --- areas ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_areas_are_those_of_numpy_and_scipy(axis: int) -> None:
    for more in ({"dx": 0.3}, {"x": POINTS[axis]}, {"x": F * F}):
        wanted = np.trapezoid(F, axis=axis, **more)
        np.testing.assert_allclose(sg.trapezoid(F, axis=axis, **more).numpy(), wanted, rtol=1e-12)
        wanted = integrate.cumulative_trapezoid(F, axis=axis, initial=0, **more)
        found = sg.cumulative_trapezoid(F, axis=axis, include_initial=True, **more)
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-11, atol=1e-13)


def test_areas_of_named_sizes() -> None:
    x = sg.placeholder("x", ("n", "m"))
    assert str(sg.trapezoid(x).type) == "f64[n]"
    assert str(sg.cumulative_trapezoid(x, axis=0, include_initial=True).type) == "f64[n, m]"
    y = sg.cumulative_trapezoid(x, axis=0)
    run = sg.function([x], [y, sg.trapezoid(x, axis=0)])
    for n in (1, 2, 4):
        parts, whole = run(F[:n, :, 0])
        assert parts.shape == (n - 1, 5)
        np.testing.assert_allclose(whole, np.trapezoid(F[:n, :, 0], axis=0), atol=1e-14)
    with pytest.raises(ShapeError, match="n = 0"):
        run(np.ones((0, 5)))


@pytest.mark.parametrize(
    ("y", "x", "result"),
    [
        ("float16", None, "float16"),
        ("float16", "float16", "float16"),
        ("float16", "float32", "float32"),
        ("float32", "int64", "float64"),
        ("int8", None, "float64"),
        ("complex64", "float32", "complex64"),
    ],
)
def test_types_of_areas(y: str, x: Any, result: str) -> None:
    values = np.array([1, 2, 3], y)
    points = None if x is None else np.array([0, 1, 2], x)
    assert sg.trapezoid(values, points).dtype == result
    assert sg.cumulative_trapezoid(values, points, dx=1).dtype == result
    assert complex(sg.trapezoid(values, points)) == 4


# --- sliding products -----------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_sliding_products_are_those_of_numpy(name: str, mode: str) -> None:
    ours, numpys = getattr(sg, name), getattr(np, name)
    a, b = sg.placeholder("a", ("n",), "complex128"), sg.placeholder("b", ("m",), "complex128")
    run = sg.function([a, b], ours(a, b, mode))
    for n, m in np.ndindex(6, 6):
        x, y = (RNG.normal(size=(2, k + 1)) for k in (n, m))
        x, y = x[0] + 1j * x[1], y[0] + 1j * y[1]
        wanted = numpys(x, y, mode)
        for found in (ours(x, y, mode).numpy(), run(x, y)):
            assert found.shape == wanted.shape
            np.testing.assert_allclose(found, wanted, atol=1e-13)


def test_sizes_of_sliding_products() -> None:
    a, b = sg.placeholder("a", ("n",)), sg.placeholder("b", ("m",))
    assert str(sg.convolve(a, b).type) == "f64[m + n - 1]"
    assert str(sg.convolve(a, b, "same").type) == "f64[max(m, n)]"
    assert str(sg.correlate(a, a, "full").type) == "f64[2*n - 1]"
    (by_b,) = sg.grad(sg.sum(sg.convolve(a, b) ** 2), b)
    assert str(by_b.type) == "f64[m]"


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_derivatives_of_sliding_products(mode: str) -> None:
    x, y = RNG.normal(size=5), RNG.normal(size=3)
    check_derivatives(lambda a, b: sg.convolve(a, b, mode), x, y, order=3)
    check_derivatives(lambda a, b: sg.correlate(a, b, mode), y, x)
    check_derivatives(lambda a, b: sg.correlate(a, b, mode), x + 1j * x[::-1], y * (1 - 2j))


@pytest.mark.parametrize("dtype", ["int8", "uint64", "float16", "float32", "complex64"])
def test_types_of_sliding_products(dtype: str) -> None:
    x = np.array([1, 2, 3], dtype)
    for f in (sg.convolve, sg.correlate):
        assert f(x, x[:2]).dtype == dtype
    assert sg.convolve(x, x[:2]).numpy().tolist() == [1, 4, 7, 6]
    assert sg.correlate(x, x[:2]).numpy().tolist() == [5, 8]


def test_long_half_precision_sums() -> None:
    ones = np.ones(3000, np.float16)
    assert float(sg.convolve(ones, ones, "valid")[0]) == 3000.0


# --- polynomials ----------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_polynomials_of_named_degree(count: int) -> None:
    p, x = sg.placeholder("p", ("k",)), sg.placeholder("x", ("n", "m"))
    y = sg.polyval(p, x)
    assert str(y.type) == "f64[n, m]"
    gradients = sg.grad(sg.sum(y), [p, x])
    coefficients, points = RNG.normal(size=count), RNG.normal(size=(3, 4))
    value, by_p, by_x = sg.evaluate([y, *gradients], {p: coefficients, x: points})
    np.testing.assert_allclose(value, np.polyval(coefficients, points), rtol=1e-13)
    np.testing.assert_allclose(by_x, np.polyval(np.polyder(coefficients), points), rtol=1e-12)
    powers = [np.sum(points**k) for k in reversed(range(count))]
    np.testing.assert_allclose(by_p, powers, rtol=1e-13)


def test_roots_at_zero_have_every_derivative() -> None:
    x = sg.placeholder("x")
    y = sg.polyval([1.0, 0.0, 0.0, 0.0], x)
    orders = [y]
    for _ in range(4):
        orders.append(sg.grad(orders[-1], x, materialize_grads=True)[0])
    assert [float(v) for v in sg.evaluate(orders, {x: 0.0})] == [0.0, 0.0, 0.0, 6.0, 0.0]


def test_types_of_polynomials() -> None:
    assert sg.polyval(np.array([1, 2], "int8"), np.array(3, "int8")).dtype == np.int8
    assert sg.polyval(np.array([1, 2]), np.array(3, "float32")).dtype == np.float64
    assert sg.polyval(np.array([1, 2j], "complex64"), np.array(3, "float32")).dtype == np.complex64
    assert sg.vander(np.array([2, 3], "uint8")).numpy().tolist() == [[2, 1], [3, 1]]


def test_columns_of_named_powers() -> None:
    x = sg.placeholder("x", ("n",))
    assert str(sg.vander(x).type) == "f64[n, n]"
    assert str(sg.vander(x, x.shape[0] + 1).type) == "f64[n, n + 1]"
    check_everywhere(sg.vander, np.vander(POINTS[0]), POINTS[0])


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: sg.gradient(x[:1]), ShapeError, "gradient: points on axis 0: expected at least"),
        (lambda x: sg.gradient(x[:2], edge_order=2), ShapeError, "expected at least 3, got 2"),
        (lambda x: sg.gradient(x, edge_order=3), ArgumentError, "edge_order: expected 1 or 2"),
        (lambda x: sg.gradient(x, 1.0, 2.0), ArgumentError, "one distance, or one per axis"),
        (lambda x: sg.gradient(x, x[:2]), ShapeError, "coordinates has another shape"),
        (lambda x: sg.gradient(x, x[:1]), ShapeError, "coordinates has another shape"),
        (lambda x: sg.gradient(x, x[None]), ShapeError, "coordinates are a vector"),
        (lambda x: sg.gradient(x, axis=1), ShapeError, "axis out of range"),
        (lambda x: sg.trapezoid(x[:0]), ShapeError, "trapezoid: points on axis 0"),
        (lambda x: sg.trapezoid(x, x[:2]), ShapeError, "trapezoid: coordinates has another shape"),
        (lambda x: sg.trapezoid(x[0]), ShapeError, "trapezoid: axis out of range"),
        (lambda x: sg.cumulative_trapezoid(x, axis=1), ShapeError, "axis out of range"),
        (lambda x: sg.convolve(x, x[:0]), ShapeError, "convolve: x2 is empty"),
        (lambda x: sg.correlate(x[None], x), ShapeError, "correlate: axes of x1"),
        (lambda x: sg.convolve(x, x, "all"), ArgumentError, "convolve: mode: expected 'full'"),
        (lambda x: sg.convolve(x, x > 0), DTypeError, "convolve: element type of x2"),
        (lambda x: sg.polyval(x[None], x), ShapeError, "polyval: coefficients are a vector"),
        (lambda x: sg.polyval(x > 0, x), DTypeError, "polyval: element type of p"),
        (lambda x: sg.vander(x[None]), ShapeError, "vander: x is no vector"),
        (lambda x: sg.vander(x, -1), ShapeError, "vander"),
    ],
)
def test_refusals(call: Any, error: Any, message: str) -> None:
    for x in (sg.ones(4), sg.placeholder("x", (4,))):
        with pytest.raises(error, match=message):
            call(x)
