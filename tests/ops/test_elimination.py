"""Gaussian elimination: scipy is the oracle for values, finite differences for derivatives."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

import symgrad as sg
from symgrad.errors import DTypeError, ShapeError
from tests.ops.finite_differences import check_derivatives

la = sg.linalg
RNG = np.random.default_rng(14)
SHAPES = [(3, 3), (5, 2), (2, 5), (1, 1), (0, 3), (3, 0), (0, 0)]


def numbers(*shape: int, dtype: str = "float64") -> np.ndarray:
    a = RNG.normal(size=shape)
    return (a + 1j * RNG.normal(size=shape) if dtype[0] == "c" else a).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", [*SHAPES, (70, 70), (100, 40), (40, 100)], ids=str)
def test_values(shape: tuple[int, int], dtype: str) -> None:
    a = numbers(*shape, dtype=dtype)
    found = la.lu(a)
    assert found._fields == ("P", "L", "U")
    tolerance = 1e-11 if dtype in ("float64", "complex128") else 2e-3
    rows, inner = shape[0], min(shape)
    nothing = np.eye(rows), np.zeros((rows, 0)), np.zeros((0, shape[1]))
    wanted = scipy.linalg.lu(a) if inner else nothing
    assert [str(part.dtype) for part in found] == [str(a.real.dtype), dtype, dtype]
    for part, theirs in zip(found, wanted, strict=True):
        assert part.shape == theirs.shape
        np.testing.assert_allclose(part.numpy(), theirs, rtol=tolerance, atol=tolerance)


def test_batches() -> None:
    a = numbers(2, 3, 4, 4)
    a[0, 0] = 0
    a[0, 1] = 1
    a[0, 2, 0] = np.array([0.0, 0.0, 1.0, 0.0])
    p, lower, upper = (part.numpy() for part in la.lu(a))
    np.testing.assert_allclose(p @ lower @ upper, a, atol=1e-13)
    for place in np.ndindex(2, 3):
        for mine, theirs in zip((p, lower, upper), scipy.linalg.lu(a[place]), strict=True):
            np.testing.assert_allclose(mine[place], theirs, atol=1e-13)
    assert [part.shape for part in la.lu(sg.zeros((0, 3, 2)))] == [(0, 3, 3), (0, 3, 2), (0, 2, 2)]


def test_what_is_not_finite_stays_where_it_is() -> None:
    a = np.array([[1.0, 2.0], [np.nan, 1.0]])
    assert np.all(np.isnan(la.lu(a).U.numpy()[:, 0]) == [True, False])


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("shape", [*SHAPES, (2, 3, 3)], ids=str)
def test_derivatives(shape: tuple[int, ...], dtype: str) -> None:
    check_derivatives(lambda x: tuple(la.lu(x))[1:], numbers(*shape, dtype=dtype))


def test_derivatives_where_only_the_last_pivot_is_0() -> None:
    for a in ([[1.0, 2.0], [2.0, 4.0]], [[3.0, 1.0, 2.0], [1.0, 4.0, 1.0], [2.0, 8.0, 2.0]]):
        check_derivatives(lambda x: tuple(la.lu(x))[1:], np.array(a))


def test_equations_by_elimination() -> None:
    a, b = numbers(4, 4), numbers(4)

    def solved(x):
        p, lower, upper = la.lu(x)
        y = la.solve_triangular(lower, p.mT @ b, unit_diagonal=True)
        return la.solve_triangular(upper, y, upper=True)

    x = sg.placeholder("x", (4, 4))
    found, wanted = (
        [y, sg.grad(sg.sum(y**2), x)[0]] for y in (solved(x), la.solve(x, sg.asarray(b)))
    )
    for mine, theirs in zip(sg.evaluate(found, {x: a}), sg.evaluate(wanted, {x: a}), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-8, atol=1e-9)


def test_named_sizes() -> None:
    for names, shapes in (
        (("m", "n"), [(3, 3), (4, 2), (2, 4), (1, 1), (0, 2)]),
        (("n", "n"), [(3, 3)]),
    ):
        x = sg.placeholder("x", names)
        _, lower, upper = la.lu(x)
        (g,) = sg.grad(sg.sum(lower**2) + sg.sum(upper**3), x)
        for shape in shapes:
            a = numbers(*shape)
            y = sg.placeholder("y", shape)
            plain = la.lu(y)
            (wanted,) = sg.grad(sg.sum(plain.L**2) + sg.sum(plain.U**3), y)
            np.testing.assert_allclose(
                sg.evaluate(g, {x: a}), sg.evaluate(wanted, {y: a}), rtol=1e-10, atol=1e-12
            )


def test_errors() -> None:
    with pytest.raises(ShapeError, match="lu: x is no matrix"):
        la.lu(sg.ones(3))
    with pytest.raises(DTypeError, match="expected float32 or wider"):
        la.lu(sg.ones((2, 2), dtype="float16"))
    x = sg.placeholder("x", (3, 2))
    (g,) = sg.grad(sg.sum(la.lu(x).L), x)
    with pytest.raises(np.linalg.LinAlgError):
        sg.evaluate(g, {x: np.zeros((3, 2))})
