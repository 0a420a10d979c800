"""Triangular systems: scipy is the oracle for values, finite differences for derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg

import symgrad as sg
from symgrad.errors import DTypeError, ShapeError
from tests.ops.finite_differences import check_derivatives

la = sg.linalg
RNG = np.random.default_rng(12)


def numbers(*shape: int, dtype: str = "float64") -> np.ndarray:
    a = RNG.normal(size=shape)
    return (a + 1j * RNG.normal(size=shape) if dtype[0] == "c" else a).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("upper", [False, True])
def test_solutions(upper: bool, unit: bool, dtype: str) -> None:
    for n in (1, 2, 5, 64, 65, 150):
        a = numbers(n, n, dtype=dtype) / n + 2 * np.eye(n, dtype=dtype)
        for right in ((n,), (n, 3), (n, 0)):
            b = numbers(*right, dtype=dtype)
            found = la.solve_triangular(a, b, upper=upper, unit_diagonal=unit).numpy()
            wanted = scipy.linalg.solve_triangular(a, b, lower=not upper, unit_diagonal=unit)
            assert found.dtype == wanted.dtype
            tolerance = 1e-11 if dtype in ("float64", "complex128") else 1e-3
            np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


def test_only_one_triangle_is_read() -> None:
    a = np.array([[2.0, np.nan, np.inf], [1.0, 4.0, np.nan], [1.0, 1.0, 5.0]])
    b = np.array([2.0, 5.0, 7.0])
    assert np.array_equal(la.solve_triangular(a, b).numpy(), [1.0, 1.0, 1.0])
    np.testing.assert_allclose(la.solve_triangular(a.T, b, upper=True).numpy(), [-0.15, 0.9, 1.4])
    x = sg.placeholder("x", (3, 3))
    (g,) = sg.grad(sg.sum(la.solve_triangular(x, b)), x)
    value = sg.evaluate(g, {x: a})
    assert np.all(np.isfinite(value))
    assert not np.any(np.triu(value, 1))


def test_substitution_keeps_the_accuracy_of_rows_of_any_size() -> None:
    n = 40
    a = np.tril(numbers(n, n) / n + np.eye(n)) * 10.0 ** np.arange(0, -2 * n, -2)[:, None]
    wanted = np.ones(n)
    exact = scipy.linalg.solve_triangular(a, a @ wanted, lower=True)
    np.testing.assert_allclose(la.solve_triangular(a, a @ wanted).numpy(), exact, rtol=1e-13)


@pytest.mark.parametrize("n", [150, 3])
def test_batches(n: int) -> None:
    for left, right in (((2,), (4, 2)), ((3, 1), (2,)), ((0,), (0,)), ((), (0,)), ((2, 0), ())):
        a, b = numbers(*left, n, n) / n + np.eye(n), numbers(*right, n, 2)
        found = la.solve_triangular(a, b).numpy()
        np.testing.assert_allclose(found, np.linalg.solve(np.tril(a), b), rtol=1e-9, atol=1e-9)
        vector = la.solve_triangular(a, b.reshape(-1)[:n] if b.size else np.ones(n)).numpy()
        assert vector.shape == (*left, n)
    assert la.solve_triangular(sg.zeros((0, 0)), sg.zeros((0,))).shape == (0,)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("upper", [False, True])
def test_derivatives(upper: bool, unit: bool, dtype: str) -> None:
    for left, right in (((3, 3), (3,)), ((3, 3), (3, 2)), ((2, 3, 3), (3,)), ((3, 3), (2, 3, 1))):
        a = numbers(*left, dtype=dtype) + 3 * np.eye(3)
        check_derivatives(
            lambda x, y: la.solve_triangular(x, y, upper=upper, unit_diagonal=unit),
            a,
            numbers(*right, dtype=dtype),
        )


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("upper", [False, True])
def test_cholesky_solve_undoes_cholesky(upper: bool, dtype: str) -> None:
    c = numbers(2, 4, 4, dtype=dtype)
    a = c @ c.conj().swapaxes(-1, -2) + np.eye(4)
    for b in (numbers(4, dtype=dtype), numbers(4, 2, dtype=dtype), numbers(2, 4, 1, dtype=dtype)):
        factor = la.cholesky(a, upper=upper)
        found = la.cholesky_solve(factor, b, upper=upper).numpy()
        np.testing.assert_allclose(found, np.linalg.solve(a, b), rtol=1e-9, atol=1e-9)

        def solved(x: Any, y: Any) -> Any:
            hermitian = x @ sg.conj(sg.matrix_transpose(x)) + 2 * sg.eye(4, dtype=x.dtype)
            return la.cholesky_solve(la.cholesky(hermitian, upper=upper), y, upper=upper)

        check_derivatives(solved, c, b)


def test_the_gradient_by_way_of_a_factor_is_that_of_the_inverse() -> None:
    c = numbers(4, 4)
    a = c @ c.T + np.eye(4)
    x = sg.placeholder("x", (4, 4))
    by_factor = la.cholesky_solve(la.cholesky(x), sg.eye(4))
    (found,) = sg.grad(la.trace(by_factor), x)
    (wanted,) = sg.grad(la.trace(la.inv(x)), x)
    np.testing.assert_allclose(*sg.evaluate([found, wanted], {x: a}), rtol=1e-10)


def test_errors() -> None:
    with pytest.raises(ShapeError, match="solve_triangular: rows of x1 and x2 differ"):
        la.solve_triangular(sg.ones((2, 2)), sg.ones(3))
    with pytest.raises(ShapeError, match="solve_triangular: rows and columns of x1 differ"):
        la.solve_triangular(sg.ones((2, 3)), sg.ones(3))
    with pytest.raises(DTypeError, match="expected float32 or wider, got float16"):
        la.solve_triangular(sg.ones((2, 2), dtype="float16"), sg.ones(2))
    for n in (2, 100):
        singular = np.eye(n)
        singular[0, 0] = 0
        with pytest.raises(np.linalg.LinAlgError):
            la.solve_triangular(singular, np.ones(n))
        assert la.solve_triangular(singular, np.ones(n), unit_diagonal=True).shape == (n,)


def test_named_sizes() -> None:
    x, y = sg.placeholder("x", ("b", "n", "n")), sg.placeholder("y", ("n", "k"))
    z = la.solve_triangular(x, y)
    assert str(z.type) == "f64[b, n, k]"
    a, b = numbers(2, 3, 3) + 3 * np.eye(3), numbers(3, 2)
    np.testing.assert_allclose(
        sg.evaluate(z, {x: a, y: b}), np.linalg.solve(np.tril(a), b), rtol=1e-12
    )
