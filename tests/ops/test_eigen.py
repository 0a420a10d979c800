"""Eigenvalues of general matrices, and repeated ones of any."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import DTypeError, ShapeError
from tests.ops.finite_differences import check_derivatives

la = sg.linalg
RNG = np.random.default_rng(13)
GENERAL = ["float64", "complex128"]


def numbers(*shape: int, dtype: str = "float64") -> np.ndarray:
    a = RNG.normal(size=shape)
    return (a + 1j * RNG.normal(size=shape) if dtype[0] == "c" else a).astype(dtype)


def gradient(f: Any, a: Any) -> np.ndarray:
    a = np.asarray(a)
    x = sg.placeholder("x", a.shape, a.dtype)
    return sg.evaluate(sg.grad(f(x), x)[0], {x: a})


# --- eig ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", [(3, 3), (2, 2, 2), (1, 1), (0, 0), (0, 2, 2), (2, 0, 0)])
def test_values(shape: tuple[int, ...], dtype: str) -> None:
    a = numbers(*shape, dtype=dtype)
    found = la.eig(a)
    assert found._fields == ("eigenvalues", "eigenvectors")
    wide = np.result_type(dtype, np.complex64)
    for part, wanted in zip(found, np.linalg.eig(a), strict=True):
        assert part.dtype == wide
        np.testing.assert_allclose(part.numpy(), wanted.astype(wide), rtol=1e-5)
    assert np.array_equal(la.eigvals(a).numpy(), found.eigenvalues.numpy())
    x = sg.placeholder("x", ("b", "n", "n")[-len(shape) :], dtype)
    w, v = la.eig(x)
    assert w.type.shape == x.shape[:-1]
    assert v.type.shape == x.shape
    w, v = sg.evaluate([w, v], {x: a})
    np.testing.assert_allclose(a @ v, v * w[..., None, :], rtol=1e-4, atol=1e-4)


def test_real_eigenvalues_are_complex_numbers_too() -> None:
    assert la.eigvals(np.diag([1.0, 2.0])).dtype == np.complex128
    assert la.eig(np.array([[1, 0], [0, 2]])).eigenvectors.dtype == np.complex128


@pytest.mark.parametrize("dtype", GENERAL)
@pytest.mark.parametrize("shape", [(3, 3), (4, 4), (2, 2, 2), (1, 1), (0, 0)])
def test_derivatives(shape: tuple[int, ...], dtype: str) -> None:
    # The eigenvectors themselves, in the phase that LAPACK gives them.
    check_derivatives(lambda x: tuple(la.eig(x)), numbers(*shape, dtype=dtype), tolerance=1e-5)
    check_derivatives(la.eigvals, numbers(*shape, dtype=dtype))


@pytest.mark.parametrize("dtype", GENERAL)
def test_the_gradient_agrees_with_that_of_eigh_and_of_powers(dtype: str) -> None:
    a = numbers(3, 3, dtype=dtype)
    a = a + a.conj().T
    for f in (lambda w: w**2, lambda w: sg.exp(w / 4)):
        found = gradient(lambda x, f=f: sg.real(sg.sum(f(la.eigvals(x)))), a)
        wanted = gradient(lambda x, f=f: sg.sum(f(la.eigvalsh(x))), a)
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)

    def cubed(x: Any) -> Any:
        w, v = la.eig(x)
        return sg.sum(sg.real((v * w**3) @ la.inv(v)) * np.arange(9.0).reshape(3, 3))

    b = numbers(3, 3, dtype=dtype)
    wanted = gradient(
        lambda x: sg.sum(sg.real(la.matrix_power(x, 3)) * np.arange(9.0).reshape(3, 3)), b
    )
    np.testing.assert_allclose(gradient(cubed, b), wanted, rtol=1e-9, atol=1e-9)


def test_repeated_eigenvalues_of_general_matrices() -> None:
    def power_sum(x: Any) -> Any:
        return sg.real(sg.sum(la.eigvals(x) ** 3))

    p = numbers(3, 3)
    for d in ([2.0, 2.0, 1.0], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0]):
        a = p @ np.diag(d) @ np.linalg.inv(p)
        # d trace(x**3) = 3 (x**2)^T
        np.testing.assert_allclose(gradient(power_sum, a), 3 * (a @ a).T, rtol=1e-9, atol=1e-9)


def test_errors() -> None:
    with pytest.raises(ShapeError, match="eig: rows and columns of x differ"):
        la.eig(sg.ones((2, 3)))
    with pytest.raises(DTypeError, match="eig: element type of x: expected float32 or wider"):
        la.eigvals(sg.ones((2, 2), dtype="float16"))
    with pytest.raises(np.linalg.LinAlgError, match="infs or NaNs"):
        la.eig(np.full((2, 2), np.nan))


# --- symmetric matrices ---------------------------------------------------------------------------


def test_one_triangle_is_read_and_the_gradient_is_hermitian() -> None:
    for dtype in GENERAL:
        a = numbers(3, 3, dtype=dtype)
        a = a @ a.conj().T + np.eye(3)
        spoilt = np.tril(a) + np.triu(np.full((3, 3), 7.0), 1)
        for f in (
            lambda x: sg.sum(la.eigvalsh(x) ** 2),
            lambda x: sg.sum(la.eigh(x).eigenvalues ** 2),
            lambda x: sg.sum(sg.log(sg.real(la.diagonal(la.cholesky(x))))),
        ):
            found = gradient(f, a)
            np.testing.assert_allclose(found, found.conj().T, rtol=0, atol=1e-12)
            np.testing.assert_allclose(gradient(f, spoilt), found, rtol=1e-10, atol=1e-12)
        # log det == 2 sum(log(diag(L))), and the eigenvalues' squares add up to trace(a @ a).
        np.testing.assert_allclose(found, np.linalg.inv(a) / 2, rtol=1e-9, atol=1e-12)
        squares = gradient(lambda x: sg.sum(la.eigvalsh(x) ** 2), a)
        np.testing.assert_allclose(squares, 2 * a, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_close_eigenvalues_are_told_apart(dtype: str) -> None:
    spacing = 1e6 * float(np.finfo(dtype).eps)
    values = 1e6 + np.array([0.0, 20 * spacing, 60 * spacing])
    weights = numbers(3, 3)
    found = gradient(
        lambda x: sg.sum(la.eigh(x).eigenvectors * weights.astype(dtype)),
        np.diag(values).astype(dtype),
    )
    gaps = values[None, :] - values[:, None]
    quotients = np.where(gaps == 0, 0, weights / np.where(gaps == 0, 1, gaps))
    np.testing.assert_allclose(found, (quotients + quotients.T) / 2, rtol=1e-2)


@pytest.mark.parametrize("dtype", GENERAL)
def test_functions_of_a_repeated_eigenvalue_and_its_space(dtype: str) -> None:
    q, _ = np.linalg.qr(numbers(4, 4, dtype=dtype))
    a = (q * np.array([1.0, 1.0, 2.0, 3.0])) @ q.conj().T
    weights = numbers(4, 4)

    def projected(x: Any) -> Any:
        _, v = la.eigh(x)
        return sg.real(v[:, :2] @ sg.conj(sg.matrix_transpose(v[:, :2])))

    x = sg.placeholder("x", (4, 4), dtype)
    (g,) = sg.grad(sg.sum(projected(x) * weights), x)
    t = numbers(4, 4, dtype=dtype)
    t = (t + t.conj().T) / 2
    ends = [np.sum(sg.evaluate(projected(x), {x: a + h * t}) * weights) for h in (1e-5, -1e-5)]
    slope = float(np.sum(np.real(np.conj(sg.evaluate(g, {x: a})) * t)))
    assert abs((ends[0] - ends[1]) / 2e-5 - slope) < 1e-6


# --- singular values ------------------------------------------------------------------------------


def test_a_norm_by_way_of_repeated_singular_values() -> None:
    a = np.diag([1.0, 1.0, 2.0, 3.0])

    def norm(x: Any) -> Any:
        u, s, vh = la.svd(x, full_matrices=False)
        return la.matrix_norm((u * s) @ vh)

    np.testing.assert_allclose(gradient(norm, a), a / np.sqrt(15), atol=1e-15)


@pytest.mark.parametrize("shape", [(3, 3), (3, 2), (2, 4)])
def test_symmetric_functions_of_repeated_singular_values(shape: tuple[int, ...]) -> None:
    u, _ = np.linalg.qr(numbers(shape[0], shape[0]))
    v, _ = np.linalg.qr(numbers(shape[1], shape[1]))
    a = 1.5 * u @ np.eye(*shape) @ v
    np.testing.assert_allclose(gradient(lambda x: sg.sum(la.svdvals(x)), a), a / 1.5, atol=1e-12)
    squares = gradient(lambda x: sg.sum(la.svd(x).S ** 2), a)
    np.testing.assert_allclose(squares, 2 * a, atol=1e-12)
    assert not np.any(gradient(lambda x: sg.sum(la.svdvals(x) ** 2), np.zeros(shape)))


def test_what_was_taken_apart_and_put_together_at_a_zero_singular_value() -> None:
    weights = np.array([[1.0, 2.0], [3.0, 4.0]])

    def same(x: Any) -> Any:
        u, s, vh = la.svd(x)
        return sg.sum(((u * s) @ vh) * weights)

    np.testing.assert_allclose(gradient(same, np.diag([1.0, 0.0])), weights, atol=1e-14)
