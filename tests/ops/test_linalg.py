"""Linear algebra: numpy is the oracle for values, finite differences for derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, DTypeError, ShapeError
from symgrad.ops.determinants import cofactor, cofactor_slope
from tests.ops.finite_differences import check_derivatives

RNG = np.random.default_rng(11)
la = sg.linalg


def matrices(*shape: int, dtype: str = "float64") -> np.ndarray:
    """Well-conditioned for square ones: a random matrix moved away from singularity."""
    a = RNG.normal(size=shape)
    if dtype[0] == "c":
        a = a + 1j * RNG.normal(size=shape)
    return (a + 2 * np.eye(*shape[-2:])).astype(dtype)


def adjoint(a: np.ndarray) -> np.ndarray:
    return a.conj().swapaxes(-1, -2)


def conjugated(x: Any) -> Any:
    """The conjugate transpose of a symbol."""
    x = sg.matrix_transpose(x)
    return sg.conj(x) if x.dtype.kind == "c" else x


def symmetric(x: Any) -> Any:
    return (x + conjugated(x)) / 2


def positive(x: Any) -> Any:
    """A positive definite matrix that depends on every element of ``x``."""
    return x @ conjugated(x) + 0.5 * sg.eye(x.shape[-1], dtype=x.dtype)


BATCHES = [(), (2,), (2, 1)]


# --- values ---------------------------------------------------------------------------------------

SQUARE: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "inv": (la.inv, np.linalg.inv),
    "det": (la.det, np.linalg.det),
    "slogdet": (la.slogdet, np.linalg.slogdet),
    "cholesky": (
        lambda x: la.cholesky(positive(x)),
        lambda a: np.linalg.cholesky(a @ adjoint(a) + 0.5 * np.eye(a.shape[-1], dtype=a.dtype)),
    ),
    "eigh": (lambda x: la.eigh(symmetric(x)), lambda a: np.linalg.eigh((a + adjoint(a)) / 2)),
    "eigvalsh": (
        lambda x: la.eigvalsh(symmetric(x)),
        lambda a: np.linalg.eigvalsh((a + adjoint(a)) / 2),
    ),
    "cube": (lambda x: la.matrix_power(x, 3), lambda a: np.linalg.matrix_power(a, 3)),
    "sixth": (lambda x: la.matrix_power(x, 6), lambda a: np.linalg.matrix_power(a, 6)),
    "one": (lambda x: la.matrix_power(x, 1), lambda a: a),
    "zero": (lambda x: la.matrix_power(x, 0), lambda a: np.linalg.matrix_power(a, 0)),
    "back": (lambda x: la.matrix_power(x, -2), lambda a: np.linalg.matrix_power(a, -2)),
}
GENERAL: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "qr": (la.qr, np.linalg.qr),
    "qr complete": (
        lambda x: la.qr(x, mode="complete"),
        lambda a: np.linalg.qr(a, mode="complete"),
    ),
    "svd": (la.svd, np.linalg.svd),
    "svd reduced": (
        lambda x: la.svd(x, full_matrices=False),
        lambda a: np.linalg.svd(a, full_matrices=False),
    ),
    "svdvals": (la.svdvals, np.linalg.svdvals),
    "pinv": (la.pinv, lambda a: np.linalg.pinv(a, rtol=None)),
    "matrix_rank": (la.matrix_rank, lambda a: np.linalg.matrix_rank(a, rtol=None)),
    "diagonal": (la.diagonal, np.linalg.diagonal),
    "diagonal above": (
        lambda x: la.diagonal(x, offset=1),
        lambda a: np.linalg.diagonal(a, offset=1),
    ),
    "diagonal below": (
        lambda x: la.diagonal(x, offset=-2),
        lambda a: np.linalg.diagonal(a, offset=-2),
    ),
    "trace": (la.trace, np.linalg.trace),
    "trace above": (lambda x: la.trace(x, offset=2), lambda a: np.linalg.trace(a, offset=2)),
}


def agree(found: Any, expected: Any, dtype: str) -> None:
    found = list(found) if isinstance(found, (tuple, list)) else [found]
    expected = list(expected) if isinstance(expected, tuple) else [expected]
    tolerance = 1e-9 if dtype in ("float64", "complex128") else 2e-3
    assert len(found) == len(expected)
    for mine, theirs in zip(found, expected, strict=True):
        theirs = np.asarray(theirs)
        mine = np.asarray(mine)
        assert mine.shape == theirs.shape
        assert mine.dtype == theirs.dtype
        assert np.allclose(mine, theirs, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("name", [*SQUARE, *GENERAL])
def test_values(name: str, dtype: str) -> None:
    mine, theirs = (SQUARE | GENERAL)[name]
    shapes = [(3, 3), (2, 2, 2), (0, 0), (2, 0, 0), (1, 1)]
    if name in GENERAL:
        shapes += [(4, 2), (2, 3, 5), (0, 3), (3, 0)]
    for shape in shapes:
        a = matrices(*shape, dtype=dtype)
        eager = mine(sg.asarray(a))
        agree(eager, theirs(a), dtype)
        names = tuple(f"n{k}" for k in range(len(shape) - 2))
        last = ("m", "m") if name in SQUARE else ("m", "k")
        x = sg.placeholder("x", (*names, *last), dtype)
        y = mine(x)
        outputs = list(y) if isinstance(y, tuple) else [y]
        agree(sg.evaluate(outputs, {x: a}), theirs(a), dtype)


def test_solve_values() -> None:
    for batch, right in (
        ((), (3,)),
        ((), (3, 2)),
        ((2,), (3,)),
        ((2,), (3, 1)),
        ((2, 1), (4, 3, 2)),
        ((), (3, 0)),
    ):
        a, b = matrices(*batch, 3, 3), RNG.normal(size=right)
        agree(la.solve(sg.asarray(a), sg.asarray(b)), np.linalg.solve(a, b), "float64")
        x = sg.placeholder("x", (*batch, "n", "n"))
        y = sg.placeholder("y", ("n",) if len(right) == 1 else (*right[:-2], "n", "k"))
        agree(sg.evaluate(la.solve(x, y), {x: a, y: b}), np.linalg.solve(a, b), "float64")
    assert la.solve(sg.zeros((0, 0)), sg.zeros((0,))).shape == (0,)
    agree(
        la.solve(sg.asarray([[2, 0], [0, 4]]), sg.asarray([1, 1])), np.array([0.5, 0.25]), "float64"
    )


def test_results_are_named() -> None:
    x = sg.placeholder("x", (2, 2))
    assert la.slogdet(x)._fields == ("sign", "logabsdet")
    assert la.eigh(x)._fields == ("eigenvalues", "eigenvectors")
    assert la.qr(x)._fields == ("Q", "R")
    assert la.svd(x)._fields == ("U", "S", "Vh")


# --- derivatives ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("shape", [(3, 3), (2, 2, 2), (2, 1, 3, 3), (0, 0), (1, 1)], ids=str)
@pytest.mark.parametrize("name", ["inv", "det", "slogdet", "cholesky", "cube", "back", "zero"])
def test_square_derivatives(name: str, shape: tuple[int, ...], dtype: str) -> None:
    check_derivatives(SQUARE[name][0], matrices(*shape, dtype=dtype))


NAMED: dict[str, Callable[..., Any]] = {
    **{
        name: SQUARE[name][0]
        for name in ("inv", "det", "slogdet", "cholesky", "eigvalsh", "cube", "back", "zero")
    },
    **{
        name: GENERAL[name][0]
        for name in ("qr", "svdvals", "pinv", "diagonal above", "diagonal below", "trace")
    },
    "solve": lambda x: la.solve(x, x[..., :2]),
    "whole svd": lambda x: whole_svd(x)[:2],
    "vector_norm": lambda x: la.vector_norm(x, axis=-1),
    "nuclear": lambda x: la.matrix_norm(x, ord="nuc"),
}


@pytest.mark.parametrize("name", NAMED)
def test_named_sizes_give_the_same_derivatives(name: str) -> None:
    function = NAMED[name]
    shapes = [(2, 3, 3)] if name in SQUARE or name == "solve" else [(2, 3, 3), (2, 4, 2), (2, 2, 4)]
    for shape in shapes:
        a, found = matrices(*shape), []
        for declared in (shape, ("b", "n", "n") if len(shapes) == 1 else ("b", "m", "n")):
            x = sg.placeholder("x", declared)
            y = function(x)
            total = sum(sg.sum(part**3) for part in (y if isinstance(y, tuple) else (y,)))
            (g,) = sg.grad(total, x)
            (h,) = sg.grad(sg.sum(g**2), x, allow_unused=True, materialize_grads=True)
            found.append(sg.evaluate([g, h], {x: a}))
        for concrete, named in zip(*found, strict=True):
            assert np.allclose(concrete, named, rtol=1e-9, atol=1e-9 * (1 + np.abs(concrete).max()))


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_derivatives_keep_the_element_type(dtype: str) -> None:
    a = matrices(3, 3, dtype=dtype)
    for name in ("inv", "det", "slogdet", "cholesky", "eigvalsh"):
        x = sg.placeholder("x", (3, 3), dtype)
        y = SQUARE[name][0](x)
        y = y.logabsdet if name == "slogdet" else y
        (g,) = sg.grad(sg.sum(sg.abs(y)), x)
        assert g.dtype == np.dtype(dtype)
        assert sg.evaluate(g, {x: a}).dtype == np.dtype(dtype)


def test_upper_cholesky_derivatives() -> None:
    for dtype in ("float64", "complex128"):
        check_derivatives(
            lambda x: la.cholesky(positive(x), upper=True), matrices(3, 3, dtype=dtype)
        )


def test_the_gradient_of_cholesky_is_symmetric() -> None:
    x = sg.placeholder("x", (3, 3))
    (g,) = sg.grad(sg.sum(la.cholesky(x)), x)
    a = matrices(3, 3)
    value = sg.evaluate(g, {x: a @ a.T})
    assert np.allclose(value, value.T, rtol=0, atol=1e-14)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_solve_derivatives(dtype: str) -> None:
    for batch, right in (
        ((), (3,)),
        ((), (3, 2)),
        ((2,), (3,)),
        ((2,), (3, 1)),
        ((2, 1), (2, 3, 2)),
        ((), (2, 3, 1)),
    ):
        b = RNG.normal(size=right).astype(dtype)
        check_derivatives(la.solve, matrices(*batch, 3, 3, dtype=dtype), b)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize(
    "shape", [(3, 3), (4, 2), (2, 4), (2, 3, 2), (0, 2), (2, 0), (1, 3)], ids=str
)
def test_general_derivatives(shape: tuple[int, ...], dtype: str) -> None:
    a = matrices(*shape, dtype=dtype)
    check_derivatives(la.qr, a)
    check_derivatives(la.svdvals, a)
    check_derivatives(la.pinv, a)
    for offset in (-1, 0, 2):
        check_derivatives(lambda x, k=offset: la.diagonal(x, offset=k) ** 2, a)
        check_derivatives(lambda x, k=offset: la.trace(x, offset=k) ** 2, a)


def whole_svd(x: Any) -> Any:
    """All that does not depend on the choice of the singular vectors."""
    u, s, vh = la.svd(x)
    k = s.shape[-1]
    u1, v1 = u[..., :k], conjugated(vh)[..., :k]
    turned = (u1 * s[..., None, :] ** 2) @ conjugated(v1)
    others = u[..., k:] @ conjugated(u[..., k:]), conjugated(vh)[..., k:] @ vh[..., k:, :]
    return s, turned, *others


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 2)], ids=str)
def test_svd_derivatives(shape: tuple[int, ...], dtype: str) -> None:
    a = matrices(*shape, dtype=dtype)
    check_derivatives(whole_svd, a, tolerance=1e-5)

    def polar(x: Any) -> Any:
        u, _, vh = la.svd(x, full_matrices=False)
        return u @ vh

    check_derivatives(polar, a, tolerance=1e-5)


@pytest.mark.parametrize("shape", [(3, 3), (3, 2), (2, 3)], ids=str)
def test_the_polar_factor_at_equal_singular_values(shape: tuple[int, ...]) -> None:
    def polar(x: Any) -> Any:
        u, _, vh = la.svd(x, full_matrices=False)
        return u @ vh

    left, _ = np.linalg.qr(RNG.normal(size=(shape[0], shape[0])))
    check_derivatives(polar, 2.0 * np.eye(*shape), order=1)
    check_derivatives(polar, 1.5 * left @ np.eye(*shape), order=1)


def test_qr_complete_derivatives() -> None:
    def invariant(x: Any) -> Any:
        q, r = la.qr(x, mode="complete")
        k = min(x.shape[-2:])
        return q[..., :k], r, q[..., k:] @ conjugated(q[..., k:])

    for dtype in ("float64", "complex128"):
        for shape in ((4, 2), (3, 3), (2, 3)):
            check_derivatives(invariant, matrices(*shape, dtype=dtype))


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("shape", [(3, 3), (2, 2, 2), (0, 0), (1, 1)], ids=str)
def test_eigh_derivatives(shape: tuple[int, ...], dtype: str) -> None:
    def invariant(x: Any) -> Any:
        values, vectors = la.eigh(symmetric(x))
        return values, (vectors * sg.exp(values)[..., None, :]) @ conjugated(vectors)

    a = matrices(*shape, dtype=dtype)
    check_derivatives(invariant, a, tolerance=1e-5)
    check_derivatives(lambda x: la.eigvalsh(symmetric(x)) ** 2, a)


def test_symmetric_functions_of_equal_eigenvalues() -> None:
    x = sg.placeholder("x", (3, 3))
    (g,) = sg.grad(sg.sum(la.eigvalsh(x) ** 2), x)
    assert np.allclose(sg.evaluate(g, {x: 1.5 * np.eye(3)}), 3 * np.eye(3))
    values, vectors = la.eigh(x)
    (g,) = sg.grad(sg.sum(values) + sg.sum((vectors @ sg.matrix_transpose(vectors)) ** 2), x)
    q, _ = np.linalg.qr(RNG.normal(size=(3, 3)))
    for a in (np.eye(3), np.zeros((3, 3)), q @ np.diag([1.0, 1.0, 2.0]) @ q.T):
        assert np.allclose(sg.evaluate(g, {x: a}), np.eye(3), atol=1e-12)


@pytest.mark.parametrize(
    "a", [2.0 * np.array([[0.0, -1.0], [1.0, 0.0]]), np.eye(3), np.eye(2, 4), np.eye(4, 2)], ids=str
)
def test_the_nuclear_norm_of_equal_singular_values(a: np.ndarray) -> None:
    x = sg.placeholder("x", a.shape)
    (g,) = sg.grad(la.matrix_norm(x, ord="nuc"), x)
    u, _, vh = np.linalg.svd(a, full_matrices=False)
    assert np.allclose(sg.evaluate(g, {x: a}), u @ vh)


def test_degenerate_matrices_give_finite_derivatives() -> None:
    x = sg.placeholder("x", (3, 3))
    u, s, vh = la.svd(x)
    outputs = [sg.sum(u) + sg.sum(s) + sg.sum(vh), sg.sum(la.eigh(x).eigenvectors)]
    for y in outputs:
        (g,) = sg.grad(y, x)
        (h,) = sg.grad(sg.sum(g), x)
        for a in (np.zeros((3, 3)), np.eye(3), np.ones((3, 3)), np.diag([1.0, 0.0, 0.0])):
            for value in sg.evaluate([g, h], {x: a}):
                assert np.all(np.isfinite(value))


def test_pinv_of_deficient_matrices() -> None:
    def deficient(x: Any) -> Any:
        return la.pinv(x[:, :2] @ x[:2, :])

    check_derivatives(deficient, matrices(4, 4))


# --- determinants ---------------------------------------------------------------------------------


def cofactors(a: np.ndarray) -> np.ndarray:
    n = a.shape[0]
    c = np.ones_like(a)
    for i in range(n):
        for j in range(n):
            c[i, j] = (-1) ** (i + j) * np.linalg.det(np.delete(np.delete(a, i, 0), j, 1))
    return c


def of_rank(n: int, rank: int, dtype: str) -> np.ndarray:
    return matrices(n, n, dtype=dtype)[:, :rank] @ matrices(n, n, dtype=dtype)[:rank, :]


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_determinants_of_singular_matrices(n: int, dtype: str) -> None:
    for rank in range(n + 1):
        a = of_rank(n, rank, dtype)
        assert np.allclose(cofactor(sg.asarray(a)).numpy(), cofactors(a), atol=1e-10)
        t = matrices(n, n, dtype=dtype)
        slope = (cofactors(a + 1e-4 * t) - cofactors(a - 1e-4 * t)) / 2e-4
        assert np.allclose(cofactor_slope(sg.asarray(a), sg.asarray(t)).numpy(), slope, atol=1e-5)
        check_derivatives(la.det, a, order=4 if n < 5 else 3, tolerance=1e-5, step=1e-3)
    check_derivatives(la.det, matrices(n, n, dtype=dtype), order=4, tolerance=1e-5, step=1e-3)


def test_determinants_of_batches_with_singular_members() -> None:
    a = np.stack([np.zeros((3, 3)), np.ones((3, 3)), matrices(3, 3), np.diag([1.0, 0.0, 2.0])])
    x = sg.placeholder("x", ("n", 3, 3))
    (g,) = sg.vjp(la.det(x), x, sg.ones(x.shape[:1]))
    assert np.allclose(sg.evaluate(g, {x: a}), np.stack([cofactors(m) for m in a]), atol=1e-12)
    c = cofactor(sg.asarray(np.diag([1e-160, 1e160, 1.0]))).numpy()
    assert np.allclose(np.diag(c), [1e160, 1e-160, 1.0])


def test_slogdet_of_a_negative_determinant() -> None:
    a = np.array([[1.0, 2.0], [5.0, 3.0]])
    x = sg.placeholder("x", (2, 2))
    result = la.slogdet(x)
    (g,) = sg.grad(result.logabsdet, x)
    sign, value, gradient = sg.evaluate([*result, g], {x: a})
    assert sign == -1.0
    assert np.isclose(value, np.log(7.0))
    assert np.allclose(gradient, np.linalg.inv(a).T)


# --- norms ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128", "int32"])
@pytest.mark.parametrize("order", [0, 1, 2, 2.5, 3, -1, np.inf, -np.inf])
def test_vector_norms(order: float, dtype: str) -> None:
    a = (4 * RNG.normal(size=(2, 3, 4))).astype(dtype)
    a[a == 0] = 1
    for axis in (None, 0, -1, (0, 2), (2, 1)):
        for keepdims in (False, True):
            x = sg.placeholder("x", ("n", 3, "m"), dtype)
            y = la.vector_norm(x, axis=axis, keepdims=keepdims, ord=order)
            inexact = a if dtype != "int32" else a.astype(float)
            expected = np.linalg.vector_norm(inexact, axis=axis, keepdims=keepdims, ord=order)
            agree(
                sg.evaluate(y, {x: a}),
                np.asarray(expected, dtype if dtype[0] == "f" else None),
                dtype,
            )
    if dtype in ("float64", "complex128"):
        check_derivatives(lambda x: la.vector_norm(x, axis=1, ord=order), a)


def test_norms_at_zero() -> None:
    x = sg.placeholder("x", (3,))
    for order in (2, 3, 2.5, 1):
        (g,) = sg.grad(la.vector_norm(x, ord=order), x)
        (h,) = sg.grad(sg.sum(g), x, allow_unused=True, materialize_grads=True)
        for value in sg.evaluate([g, h], {x: np.zeros(3)}):
            assert np.array_equal(value, np.zeros(3))
    assert float(la.vector_norm(sg.zeros((0,)))) == 0.0
    assert float(la.vector_norm(sg.asarray(-3.0))) == 3.0


def test_the_hessian_of_a_length() -> None:
    x, a = sg.placeholder("x", (3,)), np.array([2.0, -1.0, 2.0])
    (g,) = sg.grad(la.vector_norm(x), x)
    rows = [sg.grad(g[k], x)[0] for k in range(3)]
    expected = (np.eye(3) - np.outer(a, a) / 9) / 3
    assert np.allclose(sg.evaluate(rows, {x: a}), expected)


@pytest.mark.parametrize("order", ["fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf])
def test_matrix_norms(order: Any) -> None:
    for dtype in ("float64", "complex128", "float32", "int64"):
        a = (4 * RNG.normal(size=(2, 3, 4))).astype(dtype)
        for keepdims in (False, True):
            x = sg.placeholder("x", ("n", 3, "m"), dtype)
            y = la.matrix_norm(x, ord=order, keepdims=keepdims)
            inexact = a if dtype != "int64" else a.astype(float)
            expected = np.linalg.matrix_norm(inexact, ord=order, keepdims=keepdims)
            agree(sg.evaluate(y, {x: a}), expected, dtype)
        if dtype in ("float64", "complex128"):
            check_derivatives(lambda x: la.matrix_norm(x, ord=order), a)


def test_cross() -> None:
    a, b = RNG.normal(size=(2, 3)), RNG.normal(size=(3,))
    assert np.allclose(
        la.cross(sg.asarray(a), sg.asarray(b)).numpy(),
        np.linalg.cross(a, np.broadcast_to(b, a.shape)),
    )
    assert np.allclose(
        la.cross(sg.asarray(a.T), sg.asarray(a.T[:, ::-1]), axis=0).numpy(),
        np.linalg.cross(a.T, a.T[:, ::-1], axis=0),
    )
    check_derivatives(la.cross, a, b)
    with pytest.raises(ShapeError, match="cross: axis -1 of x2"):
        la.cross(sg.asarray(a), sg.zeros((2,)))


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["inv", "det", "slogdet", "cholesky", "eigh", "eigvalsh"])
def test_square_matrices_are_required(name: str) -> None:
    op = getattr(la, name)
    for value in (
        sg.zeros((2, 3)),
        sg.placeholder("x", (2, 3)),
        sg.placeholder("x", ("n", "n + 1")),
    ):
        with pytest.raises(ShapeError, match=f"{name}: rows and columns of x differ"):
            op(value)
    with pytest.raises(ShapeError, match=f"{name}: x is no matrix: expected 2 or more axes"):
        op(sg.zeros((2,)))
    with pytest.raises(DTypeError, match="expected float32 or wider, got float16"):
        op(sg.zeros((2, 2), dtype="float16"))
    x = sg.placeholder("x", ("n", "m"))
    with pytest.raises(ShapeError):
        sg.evaluate(op(x)[0] if name in ("slogdet", "eigh") else op(x), {x: np.zeros((2, 3))})


def test_other_errors() -> None:
    with pytest.raises(ShapeError, match="solve: rows of x1 and x2"):
        la.solve(sg.zeros((2, 2)), sg.zeros((3,)))
    with pytest.raises(ArgumentError, match="qr: mode"):
        la.qr(sg.zeros((2, 2)), mode="full")
    with pytest.raises(ArgumentError, match=r"the exponent is an int: got 0.5"):
        la.matrix_power(sg.zeros((2, 2)), 0.5)
    with pytest.raises(ShapeError, match="matrix_power: x is not square"):
        la.matrix_power(sg.zeros((2, 3)), 2)
    with pytest.raises(ArgumentError, match="matrix_norm: ord"):
        la.matrix_norm(sg.zeros((2, 2)), ord=3)
    with pytest.raises(ShapeError, match="matrix_norm: x is no matrix"):
        la.matrix_norm(sg.zeros((2,)))
    with pytest.raises(ShapeError, match="diagonal: x is no matrix"):
        la.diagonal(sg.zeros((2,)))


def test_singular_matrices_raise_when_they_run() -> None:
    x = sg.placeholder("x", (2, 2))
    for y in (la.inv(x), la.solve(x, x), la.cholesky(x), la.matrix_power(x, -1)):
        with pytest.raises(np.linalg.LinAlgError):
            sg.evaluate(y, {x: np.zeros((2, 2))})
    assert np.allclose(sg.evaluate(la.slogdet(x)[1], {x: np.zeros((2, 2))}), -np.inf)


def test_half_precision_length_does_not_overflow() -> None:
    x = sg.asarray(np.array([300.0, 400.0], np.float16))
    assert float(sg.linalg.vector_norm(x)) == 500.0
    assert sg.linalg.vector_norm(x).dtype == np.float16
