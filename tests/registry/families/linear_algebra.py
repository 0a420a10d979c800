"""Rows of linear algebra: triangles, eigenvalues, elimination, functions of matrices, products."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

import symgrad as sg
from tests.registry.sampling import (
    S,
    Sample,
    between,
    called,
    cnormal,
    kink,
    normal,
    regular,
    rigid,
    spaced,
)

INF = math.inf
_SINGULAR = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.5], [1.0, 2.0, 0.3]])
_LOW = normal(5, 2) @ normal(2, 4)


_TRIANGULAR = [
    rigid(S(regular(5), normal(5, 3))),
    rigid(S(regular(5), normal(5), upper=True)),
    rigid(S(regular(2, 3), normal(3, 4), unit_diagonal=True)),
    rigid(S(regular(3), normal(2, 3, 4), upper=True, unit_diagonal=True)),
    rigid(S(regular(2, 3), normal(3))),
    rigid(S(regular(3, imaginary=True), cnormal(3, 2))),
    rigid(S(np.ones((0, 0)), np.ones((0, 2)))),
    rigid(S(np.array([[2.0]]), np.array([3.0]))),
]
_FACTORED = [
    rigid(S(normal(4, 4))),
    rigid(S(normal(5, 3))),
    rigid(S(normal(3, 5))),
    rigid(S(normal(2, 3, 3))),
    rigid(S(cnormal(4, 3))),
    rigid(S(np.array([[1.0, 2.0], [2.0, 4.0]])), note="singular"),
    rigid(S(np.ones((0, 3)))),
    rigid(S(np.ones((3, 0)))),
    rigid(S(np.ones((1, 1)))),
]
_EXPONENTS = [
    rigid(S(normal(4, 4))),
    rigid(S(normal(2, 3, 3))),
    rigid(S(cnormal(3, 3))),
    rigid(S(np.array([[0.0, 1.0], [0.0, 0.0]])), note="nilpotent"),
    rigid(S(np.zeros((2, 2)))),
    rigid(S(np.array([[0.0, -9.0], [9.0, 0.0]])), narrow=False),
    rigid(S(np.ones((0, 0)))),
    rigid(S(np.array([[2.0]]))),
]

SAMPLES: dict[str, list[Sample]] = {
    "cofactor_curvature": [
        rigid(S(regular(5), normal(5, 5), normal(5, 5, seed=1))),
        rigid(S(regular(2, 4), normal(4, 4), normal(4, 4, seed=1))),
        rigid(S(normal(3, 3), normal(3, 3, seed=1), normal(3, 3, seed=2))),
        rigid(S(regular(4, imaginary=True), cnormal(4, 4), cnormal(4, 4, seed=1))),
    ],
    "solve_triangular": _TRIANGULAR,
    "eig_pack": [
        rigid(S(regular(4))),
        rigid(S(normal(2, 4, 4, seed=2))),
        rigid(S(regular(3, imaginary=True))),
        rigid(S(np.ones((0, 0)))),
        rigid(S(np.ones((1, 1)))),
    ],
    "lu_pack": _FACTORED,
    "expm": _EXPONENTS,
    "inverse_or_infinite": [
        rigid(S(regular(4))),
        rigid(S(regular(2, 3))),
        rigid(S(regular(3, imaginary=True))),
        rigid(S(np.ones((0, 0)))),
    ],
    "pseudo_inverse": [
        rigid(S(normal(5, 3), np.array(1e-3))),
        rigid(S(normal(2, 3, 4), np.array([1e-3, 1e-4]))),
        rigid(S(regular(2, 3), np.array(0.1))),
        rigid(S(cnormal(4, 2), np.array(1e-3))),
    ],
    "rank_above": [
        rigid(S(normal(5, 3), np.array(1e-3))),
        rigid(S(regular(2, 3), np.array([0.1, 0.6]))),
        rigid(S(np.zeros((3, 3)), np.array(0.1))),
        rigid(S(np.ones((0, 3)), np.array(0.1))),
    ],
    "lstsq_pack": [
        rigid(S(normal(5, 3), normal(5, 2), np.array(1e-3))),
        rigid(S(normal(3, 5), normal(3, 2), np.array(1e-3))),
        rigid(S(normal(2, 4, 3), normal(4, 1), np.array([1e-3, 1e-4]))),
        rigid(S(normal(4, 3), normal(2, 4, 2), np.array(1e-3))),
        rigid(S(cnormal(4, 2), cnormal(4, 3), np.array(1e-3))),
    ],
    "det": [
        rigid(S(np.ones((3, 3))), note="of rank 1"),
        rigid(S(np.zeros((3, 3)))),
        rigid(S(np.stack([_SINGULAR, np.eye(3)]))),
    ],
    "svdvals": [
        rigid(kink(S(np.zeros((3, 2))))),
        rigid(
            kink(
                S(np.ones((2, 2))),
            )
        ),
    ],
}
COMPOSITE_SAMPLES: dict[str, list[Sample]] = {
    "cholesky_solve": [
        rigid(S(regular(4), normal(4, 2))),
        rigid(S(regular(4), normal(4), upper=True)),
        rigid(S(regular(2, 3), normal(3))),
        rigid(S(regular(3, imaginary=True), cnormal(3, 2), upper=True)),
    ],
    "eig": [rigid(S(regular(4)))],
    "eigvals": [
        rigid(S(regular(4))),
        rigid(S(normal(2, 3, 3))),
        rigid(S(cnormal(3, 3))),
    ],
    "lu": _FACTORED[:4],
    "pinv": [
        rigid(S(normal(5, 3))),
        rigid(S(normal(3, 5))),
        rigid(S(regular(3))),
        rigid(S(cnormal(4, 2))),
        rigid(S(normal(2, 4, 3), rtol=1e-3)),
        rigid(kink(S(_LOW)), note="of rank 2"),
        rigid(kink(S(np.zeros((2, 3))))),
        rigid(S(np.ones((0, 3)))),
    ],
    "matrix_rank": [
        rigid(S(normal(5, 3))),
        rigid(S(np.ones((2, 4, 3)))),
        rigid(S(np.ones((3, 3)), rtol=0.1)),
        rigid(S(np.zeros((3, 2)))),
        rigid(S(np.ones((0, 3)))),
    ],
    "lstsq": [
        rigid(S(normal(5, 3), normal(5, 2))),
        rigid(S(normal(5, 3), normal(5))),
        rigid(S(normal(3, 5), normal(3, 2))),
        rigid(S(regular(3), normal(3))),
        rigid(S(cnormal(5, 3), cnormal(5, 2))),
        rigid(S(normal(2, 4, 3), normal(4))),
        rigid(S(normal(4, 3), normal(2, 4, 2), rtol=1e-3)),
        rigid(kink(S(_LOW, normal(5, 2))), note="of rank 2"),
        rigid(S(np.ones((0, 2)), np.ones((0, 3)))),
    ],
    "cond": [
        rigid(S(normal(5, 3))),
        rigid(S(regular(3), p=-2)),
        rigid(S(regular(2, 3), p="fro")),
        rigid(S(regular(3), p=1)),
        rigid(S(cnormal(3, 3), p=INF)),
    ],
    "multi_dot": [
        S(normal(5, 7), normal(7, 3), normal(3, 4)),
        S(normal(5), normal(5, 7), normal(7)),
        S(normal(2, 5, 7), normal(7, 3), normal(3)),
        S(normal(5, 7), normal(7, 6)),
    ],
    "kron": [
        S(normal(5), normal(7)),
        S(normal(5, 3), normal(2, 4)),
        S(normal(), normal(3, 4)),
        S(normal(3, 4, 5), normal(2)),
    ],
    "block_diag": [
        S(normal(5, 7), normal(3, 4)),
        S(normal(5, 7), normal(6), normal()),
        S(normal(2, 5, 7), normal(3, 4)),
        S(normal(5, 7)),
    ],
    "diag_embed": [S(normal(5)), S(normal(5, 7), offset=2), S(normal(5, 7), offset=-1)],
    "tril_indices": [called(lambda op: op(4)), called(lambda op: op(3, k=-1, m=5))],
    "triu_indices": [called(lambda op: op(4)), called(lambda op: op(3, 1, 2))],
    "vector_norm": [
        S(normal(5, 7), axis=(0, 1), ord=4),
        S(between(0.5, 2, 5, 7), axis=1, ord=0.5),
        S(normal(5, 7), axis=0, ord=-1, keepdims=True),
        S(normal(5), ord=-2.5),
        kink(S(np.array([[0.0, 3.0], [0.0, 0.0]]), axis=1, ord=0.5)),
        kink(S(np.array([[0.0, 3.0], [2.0, 1.0]]), axis=1, ord=-1)),
        S(np.array([0.0, 3.0, -1.0]), ord=4),
        kink(S(np.array([2.0, -2.0, 1.0]), ord=INF)),
        S(np.ones((5, 0)), axis=1, ord=3),
        S(np.ones((5, 0)), axis=1, ord=INF),
    ],
    "matrix_norm": [
        rigid(kink(S(np.eye(3), ord=2))),
        rigid(kink(S(np.zeros((3, 2)), ord="nuc"))),
        rigid(kink(S(np.ones((3, 2)), ord="nuc"))),
        S(np.ones((0, 3)), ord=2),
        S(np.ones((3, 0)), ord=1),
    ],
    "slogdet": [rigid(S(regular(2, 3)), through=lambda sign, log: log)],
    "cross": [
        Sample((spaced(3), between(0, 1, 5, 3)), fixed={3: "vectors in space"}),
    ],
}


def _triangle(x1: Any, upper: bool, unit_diagonal: bool) -> Any:
    a = np.triu(x1) if upper else np.tril(x1)
    if unit_diagonal:
        n = a.shape[-1]
        a = a * (1 - np.eye(n)) + np.eye(n)
    return a


def _solve_triangular(x1: Any, x2: Any, upper: bool = False, unit_diagonal: bool = False) -> Any:
    return np.linalg.solve(_triangle(x1, upper, unit_diagonal), x2)


def _cholesky_solve(x1: Any, x2: Any, upper: bool = False) -> Any:
    a = _triangle(x1, upper, False)
    adjoint = np.swapaxes(a.conj(), -1, -2)
    return np.linalg.solve(adjoint @ a if upper else a @ adjoint, x2)


def _lstsq(x1: Any, x2: Any, rtol: Any = None) -> Any:
    if x1.ndim > 2 or x2.ndim > 2 or not x1.size:
        return NotImplemented
    y, _, rank, s = np.linalg.lstsq(x1, x2, rcond=rtol)
    return y, np.sum(np.abs(x1 @ y - x2) ** 2, axis=0), rank, s


def _block_diag(*arrays: Any) -> Any:
    return scipy.linalg.block_diag(*arrays) if max(a.ndim for a in arrays) < 3 else NotImplemented


def _curvature(x: Any, a: Any, b: Any) -> Any:
    """From Leibniz' sum over permutations: three factors of each product are differentiated."""
    n = x.shape[-1]
    result = np.zeros(x.shape, np.result_type(x, a, b))
    for columns in itertools.permutations(range(n)):
        sign = round(np.linalg.det(np.eye(n)[list(columns)])) if n else 1
        for i, j, k in itertools.permutations(range(n), 3):
            term = sign * a[..., i, columns[i]] * b[..., j, columns[j]]
            for r in set(range(n)) - {i, j, k}:
                term = term * x[..., r, columns[r]]
            result[..., k, columns[k]] += term
    return result


REFERENCES: dict[str, Callable[..., Any]] = {
    "cofactor_curvature": _curvature,
    "solve_triangular": _solve_triangular,
    "cholesky_solve": _cholesky_solve,
    "eig_pack": np.linalg.eig,
    "eig": np.linalg.eig,
    "eigvals": np.linalg.eigvals,
    "lu_pack": lambda x: scipy.linalg.lu(x) if x.ndim == 2 and x.size else NotImplemented,
    "lu": lambda x: scipy.linalg.lu(x) if x.ndim == 2 else NotImplemented,
    "expm": lambda x: scipy.linalg.expm(x) if x.size else NotImplemented,
    "inverse_or_infinite": np.linalg.inv,
    "pseudo_inverse": lambda x, rtol: np.linalg.pinv(x, rtol=rtol),
    "rank_above": lambda x, rtol: np.linalg.matrix_rank(x, rtol=rtol) if x.size else NotImplemented,
    "matrix_rank": lambda x, rtol=None: np.linalg.matrix_rank(x, rtol=rtol),
    "lstsq": _lstsq,
    "cond": lambda x, p=None: np.linalg.cond(x, p),
    "multi_dot": lambda *xs: np.linalg.multi_dot(xs) if xs[0].ndim < 3 else NotImplemented,
    "kron": np.kron,
    "block_diag": _block_diag,
}

CUT = {("pseudo_inverse", 1), ("lstsq_pack", 2)}
"""Bounds below which singular values do not count."""

ROWS: list[tuple[str, Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]] = [
    (
        "nuclear norm of a singular matrix",
        lambda x: sg.linalg.matrix_norm(x, ord="nuc"),
        ([[2.0, 0.0], [0.0, 0.0]],),
        ([[1.0, 0.0], [0.0, 0.0]],),
    ),
    (
        "spectral norm of the identity",
        lambda x: sg.linalg.matrix_norm(x, ord=2),
        ([[1.0, 0.0], [0.0, 1.0]],),
        ([[0.5, 0.0], [0.0, 0.5]],),
    ),
    (
        "spectral norm at 0",
        lambda x: sg.linalg.matrix_norm(x, ord=2),
        ([[0.0, 0.0], [0.0, 0.0]],),
        ([[0.0, 0.0], [0.0, 0.0]],),
    ),
    (
        "1/2-norm beside a 0",
        lambda x: sg.linalg.vector_norm(x, ord=0.5),
        ([0.0, 4.0],),
        ([0.0, 1.0],),
    ),
    (
        "harmonic norm with a 0",
        lambda x: sg.linalg.vector_norm(x, ord=-1),
        ([0.0, 4.0],),
        ([0.0, 0.0],),
    ),
    ("0-norm", lambda x: sg.linalg.vector_norm(x, ord=0), ([0.0, 4.0],), ([0.0, 0.0],)),
    (
        "sup-norm shares ties",
        lambda x: sg.linalg.vector_norm(x, ord=INF),
        ([-3.0, 3.0, 1.0],),
        ([-0.5, 0.5, 0.0],),
    ),
    (
        "pinv of zeros",
        lambda x: sg.sum(sg.linalg.pinv(x)),
        ([[0.0, 0.0], [0.0, 0.0]],),
        ([[0.0, 0.0], [0.0, 0.0]],),
    ),
    (
        "sum of the eigenvalues of the identity",
        lambda x: sg.sum(sg.linalg.eigvalsh(x)),
        ([[1.0, 0.0], [0.0, 1.0]],),
        ([[1.0, 0.0], [0.0, 1.0]],),
    ),
    (
        "sum of the singular values of the identity",
        lambda x: sg.sum(sg.linalg.svdvals(x)),
        ([[1.0, 0.0], [0.0, 1.0]],),
        ([[1.0, 0.0], [0.0, 1.0]],),
    ),
    (
        "sum of the squares of the eigenvalues of any identity",
        lambda x: sg.real(sg.sum(sg.linalg.eigvals(x) ** 2)),
        ([[1.0, 0.0], [0.0, 1.0]],),
        ([[2.0, 0.0], [0.0, 2.0]],),
    ),
]
