"""Least squares and pseudo-inverses, of full rank and not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import DTypeError, ShapeError
from tests.ops.finite_differences import check_derivatives

la = sg.linalg
RNG = np.random.default_rng(15)


def numbers(*shape: int, dtype: str = "float64") -> np.ndarray:
    a = RNG.normal(size=shape)
    return (a + 1j * RNG.normal(size=shape) if dtype[0] == "c" else a).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (3, 3), (1, 1), (4, 1), (1, 4)])
@pytest.mark.parametrize("right", [(), (2,), (0,)])
def test_values(shape: tuple[int, int], right: tuple[int, ...], dtype: str) -> None:
    a, b = numbers(*shape, dtype=dtype), numbers(shape[0], *right, dtype=dtype)
    found = la.lstsq(a, b)
    assert found._fields == ("solution", "residuals", "rank", "singular_values")
    y, _, rank, values = np.linalg.lstsq(a, b)
    residuals = np.sum(np.abs(a @ y - b) ** 2, axis=0)
    tolerance = 1e-9 if dtype in ("float64", "complex128") else 1e-3
    for mine, theirs in zip(found, (y, residuals, rank, values), strict=True):
        assert mine.shape == np.shape(theirs)
        np.testing.assert_allclose(mine.numpy(), theirs, rtol=tolerance, atol=tolerance)
    assert found.solution.dtype == dtype
    assert found.residuals.dtype == a.real.dtype
    assert found.rank.dtype == np.int64


def test_of_several_solutions_the_shortest() -> None:
    a = numbers(5, 2) @ numbers(2, 4)
    b = numbers(5)
    found = la.lstsq(a, b)
    np.testing.assert_allclose(found.solution.numpy(), np.linalg.pinv(a) @ b, rtol=1e-9)
    assert int(found.rank) == 2
    rank = [int(la.lstsq(np.diag([1.0, 0.1]), np.ones(2), rtol=r).rank) for r in (0.05, 0.1, 1.0)]
    assert rank == [2, 1, 0]
    nothing = la.lstsq(sg.zeros((3, 2)), sg.ones(3))
    assert np.array_equal(nothing.solution.numpy(), [0.0, 0.0])
    assert (float(nothing.residuals), int(nothing.rank)) == (3.0, 0)


def test_a_tolerance_per_matrix() -> None:
    a = np.stack([np.diag([1.0, 0.1])] * 3)
    rtol = np.array([0.05, 0.1, 1.0])
    assert np.array_equal(la.matrix_rank(a, rtol=rtol).numpy(), [2, 1, 0])
    wanted = np.stack([np.linalg.pinv(m, rtol=r) for m, r in zip(a, rtol, strict=True)])
    np.testing.assert_allclose(la.pinv(a, rtol=rtol).numpy(), wanted)
    assert np.array_equal(la.lstsq(a, np.ones(2), rtol=rtol).rank.numpy(), [2, 1, 0])
    x, t = sg.placeholder("x", ("b", "m", "n")), sg.placeholder("t", ("b",))
    y = [la.pinv(x, rtol=t), la.matrix_rank(x, rtol=t)]
    assert [str(part.type) for part in y] == ["f64[b, n, m]", "i64[b]"]
    found = sg.evaluate(y, {x: a, t: rtol})
    np.testing.assert_allclose(found[0], wanted)
    assert np.array_equal(found[1], [2, 1, 0])
    with pytest.raises(ShapeError, match="pinv: axes of rtol: expected at most 0"):
        la.pinv(sg.eye(2), rtol=np.array([0.1, 0.2]))


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_derivatives(dtype: str) -> None:
    def parts(x1: Any, x2: Any) -> Any:
        y = la.lstsq(x1, x2)
        return y.solution, y.residuals, y.singular_values

    for left, right in (
        ((5, 3), (5, 2)),
        ((3, 5), (3,)),
        ((3, 3), (3, 2)),
        ((2, 4, 3), (4,)),
        ((4, 3), (2, 4, 2)),
        ((0, 3), (0, 2)),
        ((3, 0), (3, 2)),
    ):
        check_derivatives(parts, numbers(*left, dtype=dtype), numbers(*right, dtype=dtype))


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_derivatives_of_matrices_of_low_rank(dtype: str) -> None:
    def parts(u: Any, v: Any, b: Any) -> Any:
        y = la.lstsq(u @ v, b)
        return y.solution, y.residuals, la.pinv(u @ v)

    check_derivatives(
        parts, numbers(4, 2, dtype=dtype), numbers(2, 3, dtype=dtype), numbers(4, dtype=dtype)
    )


def test_a_regular_matrix_is_solved() -> None:
    a, b = numbers(3, 3), numbers(3)
    x = sg.placeholder("x", (3, 3))
    found, wanted = (
        [y, sg.grad(sg.sum(y**2), x)[0]]
        for y in (la.lstsq(x, b).solution, la.solve(x, sg.asarray(b)))
    )
    for mine, theirs in zip(sg.evaluate(found, {x: a}), sg.evaluate(wanted, {x: a}), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-8, atol=1e-9)


def test_integers_and_lists() -> None:
    assert la.lstsq([[1, 0], [0, 2]], [2, 2]).solution.numpy().tolist() == [2.0, 1.0]
    assert la.pinv([[2, 0], [0, 0]]).numpy().tolist() == [[0.5, 0.0], [0.0, 0.0]]
    assert int(la.matrix_rank(np.array([[1, 2], [2, 4]]))) == 1


def test_errors() -> None:
    with pytest.raises(ShapeError, match="lstsq: rows of x1 and x2 differ: expected 2, got 3"):
        la.lstsq(sg.ones((2, 2)), sg.ones(3))
    with pytest.raises(ShapeError, match="lstsq: x1 is no matrix"):
        la.lstsq(sg.ones(2), sg.ones(2))
    with pytest.raises(DTypeError, match="lstsq: element type of x1: expected float32 or wider"):
        la.lstsq(sg.ones((2, 2), dtype="float16"), sg.ones(2))
    with pytest.raises(ShapeError, match="matrix_rank: x is no matrix"):
        la.matrix_rank(sg.ones(2))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0), (2, 0, 3)], ids=str)
def test_empty_matrices(shape: tuple[int, ...]) -> None:
    assert la.pinv(sg.zeros(shape)).shape == (*shape[:-2], shape[-1], shape[-2])
    assert not np.any(la.matrix_rank(sg.zeros(shape)).numpy())
    assert la.lstsq(sg.zeros(shape), sg.zeros((*shape[:-1], 2))).solution.shape == (
        *shape[:-2],
        shape[-1],
        2,
    )
