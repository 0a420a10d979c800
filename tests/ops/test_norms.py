"""Norms and condition numbers where squares overflow, and where there is nothing to divide by."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import mpmath
import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, DTypeError, ShapeError
from tests.ops.finite_differences import check_derivatives

la = sg.linalg
INF = math.inf
ORDERS = (0.5, 1, 1.5, 2, 3, 4, 7, -0.5, -1, -2, -3, INF, -INF)


def derivative(f: Any, a: Any, order: int = 1) -> np.ndarray:
    """The gradient at a point, or that of the sum of the gradient."""
    a = np.asarray(a)
    x = sg.placeholder("x", a.shape, a.dtype)
    g = f(x)
    for _ in range(order):
        total = sg.sum(sg.real(g) + sg.imag(g)) if g.dtype.kind == "c" else sg.sum(g)
        (g,) = sg.grad(total, x, allow_unused=True, materialize_grads=True)
    return sg.evaluate(g, {x: a})


def exact_norm(a: list[float], order: float) -> float:
    """By definition, in 60 digits."""
    with mpmath.workdps(60):
        size = [abs(mpmath.mpf(v)) for v in a]
        if abs(order) == INF:
            return float(max(size) if order > 0 else min(size))
        return float(mpmath.fsum(v**order for v in size) ** (mpmath.mpf(1) / order))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("scale", [1e-305, 1e-200, 1.0, 1e200, 1e306])
def test_vector_norms_of_any_size(order: float, scale: float) -> None:
    a = [3 * scale, -4 * scale, 0.5 * scale]
    found = float(la.vector_norm(sg.asarray(a), ord=order))
    assert math.isclose(found, exact_norm(a, order), rel_tol=1e-14)
    slope = derivative(lambda x: la.vector_norm(x, ord=order), a)
    plain = derivative(lambda x: la.vector_norm(x, ord=order), np.array(a) / scale)
    np.testing.assert_allclose(slope, plain, rtol=1e-13)


def test_lengths_of_single_precision_and_of_complex_numbers() -> None:
    assert float(la.vector_norm(sg.asarray([3e30, 4e30], dtype="float32"))) == np.float32(5e30)
    assert math.isclose(float(la.vector_norm(sg.asarray([3e200, 4e200j]))), 5e200, rel_tol=1e-15)
    rows = sg.asarray([[3e200, 4e200], [0.0, 0.0], [3.0, 4.0], [3e-200, 4e-200]])
    np.testing.assert_allclose(la.vector_norm(rows, axis=1).numpy(), [5e200, 0, 5, 5e-200])
    assert float(la.matrix_norm(sg.asarray([[300.0], [400.0]], dtype="float16"))) == 500.0


@pytest.mark.parametrize("order", ORDERS)
def test_vector_norms_of_what_is_not_finite(order: float) -> None:
    for a in ([INF, 1.0], [-INF, INF], [1.0, math.nan], [INF, math.nan]):
        with np.errstate(all="ignore"):
            wanted = np.linalg.vector_norm(a, ord=order)
        np.testing.assert_equal(la.vector_norm(sg.asarray(a), ord=order).numpy(), wanted)


@pytest.mark.parametrize("order", [*ORDERS, 0])
def test_vector_norms_of_nothing_are_those_of_numpy(order: float) -> None:
    x = sg.placeholder("x", (2, "n"))
    y = la.vector_norm(x, axis=1, ord=order)
    if order == -INF:
        with pytest.raises(ValueError, match="zero-size"):
            sg.evaluate(y, {x: np.zeros((2, 0))})
        return
    with np.errstate(all="ignore"):
        wanted = np.linalg.vector_norm(np.zeros((2, 0)), axis=1, ord=order)
    assert np.array_equal(sg.evaluate(y, {x: np.zeros((2, 0))}), wanted)
    assert np.array_equal(la.vector_norm(sg.zeros((2, 0)), axis=1, ord=order).numpy(), wanted)


@pytest.mark.parametrize("order", [*ORDERS, 0])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_the_slope_of_a_norm_at_zeros_is_finite(order: float, dtype: str) -> None:
    for a in ([0, 0, 0], [0, 2, -1]):
        for k in (1, 2):
            slope = derivative(lambda x: la.vector_norm(x, ord=order), np.array(a, dtype), k)
            assert np.all(np.isfinite(slope))
            if not any(a):
                assert not np.any(slope)


def test_even_orders_are_smooth_where_an_element_is_0() -> None:
    check_derivatives(lambda x: la.vector_norm(x, ord=4), np.array([0.0, 2.0, -1.0]), order=3)
    fourth = derivative(lambda x: la.vector_norm(sg.stack([x, x + 1]), ord=4), 0.0, 4)
    # (x**4 + (x + 1)**4)**(1/4) == 1 + x + x**4/4 + ...
    assert math.isclose(float(fourth), 6.0, rel_tol=1e-12)


@pytest.mark.parametrize("order", ["fro", None, "nuc", 1, 2, INF])
def test_matrix_norms_of_nothing_are_0(order: Any) -> None:
    for shape in ((0, 3), (3, 0), (0, 0), (2, 0, 3)):
        wanted = np.linalg.matrix_norm(np.zeros(shape), ord="fro" if order is None else order)
        assert np.array_equal(la.matrix_norm(sg.zeros(shape), ord=order).numpy(), wanted)
        x = sg.placeholder("x", ("m", "n")[-len(shape) :] if len(shape) == 2 else ("b", "m", "n"))
        y = la.matrix_norm(x, ord=order)
        assert np.array_equal(sg.evaluate(y, {x: np.zeros(shape)}), wanted)


def test_norms_have_no_order_of_another_kind() -> None:
    with pytest.raises(ArgumentError, match="vector_norm: ord: expected a real number, got 'fro'"):
        la.vector_norm(sg.ones(2), ord="fro")
    with pytest.raises(ArgumentError, match="matrix_norm: ord"):
        la.matrix_norm(sg.ones((2, 2)), ord="f")
    with pytest.raises(DTypeError, match="expected float32 or wider"):
        la.matrix_norm(sg.ones((2, 2), dtype="float16"), ord="nuc")


# --- singular values ------------------------------------------------------------------------------


def test_the_slope_of_a_singular_value_at_0() -> None:
    left, right = np.array([[1.0], [2.0], [2.0]]), np.array([[3.0, 4.0]])
    # u1 v1^T: what central differences of the nuclear norm give.
    wanted = left @ right / 15
    for order in ("nuc", 2):
        found = derivative(partial(la.matrix_norm, ord=order), left @ right)
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert not np.any(derivative(lambda x: la.matrix_norm(x, ord=-2), left @ right))
    for order in ("fro", "nuc", 1, 2, -2, INF):
        assert not np.any(derivative(partial(la.matrix_norm, ord=order), np.zeros((2, 2))))


@pytest.mark.parametrize("p", [None, 2, -2, "fro", "nuc", 1, -1, INF, -INF])
def test_condition_numbers(p: Any) -> None:
    rng = np.random.default_rng(3)
    for shape in ((3, 3), (2, 2, 2), (1, 1)):
        a = rng.normal(size=shape) + 2 * np.eye(shape[-1])
        np.testing.assert_allclose(la.cond(sg.asarray(a), p=p).numpy(), np.linalg.cond(a, p))
    check_derivatives(lambda x: la.cond(x, p=p), a := rng.normal(size=(3, 3)))
    with np.errstate(all="ignore"):
        for singular in (np.zeros((2, 2)), np.ones((2, 2)), np.diag([1.0, 0.0])):
            if p == "nuc":  # numpy gives up
                assert float(la.cond(sg.asarray(singular), p=p)) > 1e15
                continue
            batch = np.stack([singular, a[:2, :2]])
            found, wanted = la.cond(sg.asarray(batch), p=p).numpy(), np.linalg.cond(batch, p)
            # numpy's singular values of a singular matrix need not be 0.
            finite = np.isfinite(wanted) & (wanted < 1e15)
            assert np.array_equal(np.isfinite(found) & (found < 1e15), finite)
            np.testing.assert_allclose(found[finite], wanted[finite], atol=1e-15)


def test_condition_numbers_need_square_matrices() -> None:
    with pytest.raises(ShapeError, match="rows and columns of x differ"):
        la.cond(sg.ones((2, 3)), p=1)
    assert math.isclose(float(la.cond(sg.asarray([[2.0, 0, 0], [0, 4.0, 0]]))), 2.0)
    with pytest.raises(ArgumentError, match="matrix_norm: ord"):
        la.cond(sg.ones((2, 2)), p=3)
    assert np.isnan(float(la.cond(sg.asarray([[math.nan, 1.0], [1.0, 1.0]]), p=1)))
