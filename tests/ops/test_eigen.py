"""Eigenvalues of general matrices, and repeated ones of any."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import DTypeError, ShapeError
from symgrad.ir.op import OPS
from symgrad.ops.families import Array, opaque
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


FUNCTIONS: dict[str, tuple[Any, Any]] = {
    "identity": (lambda w: w, lambda x: x),
    "square": (lambda w: w**2, lambda x: x @ x),
    "inverse": (lambda w: 1 / w, la.inv),
    "exponential": (sg.exp, la.expm),
}


@pytest.mark.parametrize("dtype", GENERAL)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("d", [(1, 1, 1), (1, 1, 2), (1, 2, 2), (1, 2, 3)], ids=str)
def test_functions_of_a_matrix_by_its_eigenvalues(
    d: tuple[int, ...], name: str, dtype: str
) -> None:
    function, whole = FUNCTIONS[name]
    weights = numbers(3, 3)
    q, _ = np.linalg.qr(numbers(3, 3, dtype=dtype))

    def by_values(x: Any) -> Any:
        w, v = la.eigh(x)
        return sg.sum(sg.real((v * function(w)) @ sg.conj(v.mT)) * weights)

    def by_general_values(x: Any) -> Any:
        w, v = la.eig(x)
        return sg.sum(sg.real((v * function(w)) @ la.inv(v)) * weights)

    for a in ((q * np.array(d)) @ q.conj().T, np.diag(d).astype(dtype)):
        wanted = gradient(lambda x: sg.sum(sg.real(whole(x)) * weights), a)
        np.testing.assert_allclose(gradient(by_general_values, a), wanted, atol=1e-12)
        hermitian = (wanted + wanted.conj().T) / 2
        np.testing.assert_allclose(gradient(by_values, a), hermitian, atol=1e-12)


def test_second_derivatives_of_functions_of_repeated_eigenvalues() -> None:
    q, _ = np.linalg.qr(numbers(3, 3))
    t = numbers(3, 3)
    x = sg.placeholder("x", (3, 3))
    for values in (la.eigvalsh(x), la.eigh(x).eigenvalues, sg.real(la.eigvals(x))):
        (g,) = sg.grad(sg.sum(values**3), x)
        (h,) = sg.grad(sg.sum(g * (t + t.T)), x)
        for d in ([2.0, 2.0, 2.0], [1.0, 1.0, 3.0], [0.0, 0.0, 0.0]):
            a = (q * d) @ q.T
            # The gradient of trace(x**3) is 3 (x**2)^T.
            wanted = 3 * (a @ (t + t.T) + (t + t.T) @ a)
            np.testing.assert_allclose(sg.evaluate(h, {x: a}), wanted, atol=1e-12)


def test_a_cotangent_of_plain_numbers_shows_no_slope() -> None:
    x = sg.placeholder("x", (2, 2))
    _, v = la.eigh(x)
    (g,) = sg.vjp(v, x, sg.asarray([[1.0, 2.0], [3.0, 4.0]]))
    assert np.array_equal(sg.evaluate(g, {x: np.eye(2)}), np.zeros((2, 2)))


def test_an_op_without_forward_mode_shows_no_slope() -> None:
    @opaque(type=lambda x: x, vjp=(lambda ct, y, x: ct,), linear_vjp=False, namespace=None)
    def one_way(x: Array, /) -> Array:
        return np.array(x)

    try:
        weights = numbers(2, 2)

        def same(x: Any) -> Any:
            w, v = la.eigh(x)
            return sg.sum(one_way((v * one_way(w)) @ v.mT) * weights)

        assert np.array_equal(gradient(same, np.eye(2)), np.diag(np.diag(weights)))
    finally:
        del OPS["one_way"]


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


SINGULAR = {
    "equal": np.eye(3),
    "tall": np.eye(3, 2),
    "wide": np.eye(2, 3),
    "zeros": np.zeros((3, 2)),
    "of rank 1": np.ones((3, 3)),
    "two equal": np.diag([2.0, 2.0, 1.0]),
    "one zero": np.diag([2.0, 1.0, 0.0]),
    "two zeros": np.diag([1.0, 0.0, 0.0]),
    "equal and zero": np.diag([1.0, 1.0, 0.0]),
}


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("dtype", GENERAL)
@pytest.mark.parametrize("name", SINGULAR)
def test_functions_of_a_matrix_by_its_singular_values(name: str, dtype: str, full: bool) -> None:
    a = SINGULAR[name].astype(dtype)
    p, _ = np.linalg.qr(numbers(a.shape[0], a.shape[0], dtype=dtype))
    q, _ = np.linalg.qr(numbers(a.shape[1], a.shape[1], dtype=dtype))
    weights = numbers(*a.shape)

    def power(x: Any, n: int) -> Any:
        u, s, vh = la.svd(x, full_matrices=full)
        k = s.shape[-1]
        return sg.sum(sg.real((u[:, :k] * s**n) @ vh[:k, :]) * weights)

    def whole(x: Any, n: int) -> Any:
        y = x if n == 1 else x @ sg.conj(x.mT) @ x
        return sg.sum(sg.real(y) * weights)

    for m in (a, p @ a @ q):
        for n in (1, 3):
            found, wanted = (gradient(lambda x, f=f, n=n: f(x, n), m) for f in (power, whole))
            np.testing.assert_allclose(found, wanted, atol=1e-12)


@pytest.mark.parametrize("name", SINGULAR)
def test_second_derivatives_of_functions_of_repeated_singular_values(name: str) -> None:
    a = SINGULAR[name]
    t = numbers(*a.shape)
    x = sg.placeholder("x", a.shape)
    second = []
    for y in (
        la.trace(x.mT @ x @ x.mT @ x),
        sg.sum(la.svdvals(x) ** 4),
        sg.sum(la.svd(x).S ** 4),
    ):
        (g,) = sg.grad(y, x)
        second += sg.grad(sg.sum(g * t), x)
    wanted, *found = sg.evaluate(second, {x: a})
    for value in found:
        np.testing.assert_allclose(value, wanted, atol=1e-12)
