"""Equations with triangular matrices: solve_triangular, cholesky_solve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.ir.op import ZERO, ops
from symgrad.ops.families import Array, composite, opaque
from symgrad.ops.matrices import adjoint, column, equations_type, row, transposed
from symgrad.types import TensorType


def _type(x1: TensorType, x2: TensorType, *, upper: bool, unit_diagonal: bool) -> TensorType:
    return equations_type("solve_triangular", x1, x2)


def _part(x: Any, upper: bool, unit_diagonal: bool) -> Any:
    """What the equations depend on: a triangle, without the diagonal if that is known."""
    aside = int(unit_diagonal)
    return ops.triu(x, k=aside) if upper else ops.tril(x, k=-aside)


def _back(ct: Any, x1: Any, x2: Any, upper: bool, unit_diagonal: bool) -> Any:
    """The cotangent of the right side, with a column for a vector."""
    ct = column(ct) if x2.ndim == 1 else ct
    return solve_triangular(transposed(x1), ct, upper=not upper, unit_diagonal=unit_diagonal)


def _first(ct: Any, y: Any, x1: Any, x2: Any, *, upper: bool, unit_diagonal: bool) -> Any:
    back = _back(ct, x1, x2, upper, unit_diagonal)
    return -_part(back @ (row(y) if x2.ndim == 1 else transposed(y)), upper, unit_diagonal)


def _second(ct: Any, y: Any, x1: Any, x2: Any, *, upper: bool, unit_diagonal: bool) -> Any:
    back = _back(ct, x1, x2, upper, unit_diagonal)
    return ops.reshape(back, back.shape[:-1]) if x2.ndim == 1 else back


def _jvp(tangents: Sequence[Any], y: Any, args: Sequence[Any], attrs: dict[str, Any]) -> Any:
    (t1, t2), (x1, x2) = tangents, args
    if t1 is ZERO:
        return ZERO if t2 is ZERO else solve_triangular(x1, t2, **attrs)
    vector = x2.ndim == 1
    right = -(_part(t1, **attrs) @ (column(y) if vector else y))
    if t2 is not ZERO:
        right = right + (column(t2) if vector else t2)
    moved = solve_triangular(x1, right, **attrs)
    return ops.reshape(moved, moved.shape[:-1]) if vector else moved


def upper_triangle(x: Array, unit_diagonal: bool) -> Array:
    """The triangle with nothing below; ones on its diagonal if that is known."""
    triangle = np.triu(x)
    if unit_diagonal:
        steps = np.arange(x.shape[-1])
        triangle[..., steps, steps] = 1
    return triangle


def substituted_back(x1: Array, x2: Array, unit_diagonal: bool) -> Array:
    """The solution for upper triangles, block by block from the last rows on.

    Elimination finds nothing to do in an upper triangle: what it does is to substitute back.
    """
    n, size = x1.shape[-1], 64
    if n <= size:
        return np.linalg.solve(upper_triangle(x1, unit_diagonal), x2)
    batch = np.broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    rest = np.array(np.broadcast_to(x2, (*batch, *x2.shape[-2:])), np.result_type(x1, x2))
    for stop in range(n, 0, -size):
        start = max(stop - size, 0)
        block = upper_triangle(x1[..., start:stop, start:stop], unit_diagonal)
        found = np.linalg.solve(block, rest[..., start:stop, :])
        rest[..., start:stop, :] = found
        rest[..., :start, :] -= x1[..., :start, start:stop] @ found
    return rest


@opaque(
    type=_type,
    vjp=(_first, _second),
    jvp=_jvp,
    integers="float",
    warns=False,
    namespace="linalg",
)
def solve_triangular(
    x1: Array, x2: Array, /, *, upper: bool = False, unit_diagonal: bool = False
) -> Array:
    """The solutions of ``x1 @ y == x2`` for triangular matrices, by substitution.

    Args:
        x1: square matrices in the last two axes, of float32 or wider, of which only one triangle is
            read.
        x2: one vector, or matrices whose batch broadcasts with that of ``x1``.
        upper: which triangle: the upper one, or the lower.
        unit_diagonal: take the diagonal for ones, whatever it holds.
    Raises:
        ShapeError: not square, or sizes differ. DTypeError: float16.
        LinAlgError: a 0 on the diagonal, when it runs.

    >>> import symgrad as sg
    >>> x1 = sg.asarray([[2.0, 99.0], [1.0, 4.0]])
    >>> sg.linalg.solve_triangular(x1, sg.asarray([2.0, 9.0]))
    Tensor([1., 2.])
    """
    right = x2[:, None] if x2.ndim == 1 else x2
    if upper:
        y = substituted_back(x1, right, unit_diagonal)
    else:  # in reverse order, an upper triangle
        turned = substituted_back(x1[..., ::-1, ::-1], right[..., ::-1, :], unit_diagonal)
        y = np.ascontiguousarray(turned[..., ::-1, :])
    return y[..., 0] if x2.ndim == 1 else y


@composite(namespace="linalg")
def cholesky_solve(x1: Array, x2: Array, /, *, upper: bool = False) -> Any:
    """The solutions of ``a @ y == x2``, given the Cholesky factor of ``a``.

    Args:
        x1: what `cholesky` gives, of which only one triangle is read.
        x2: one vector, or matrices whose batch broadcasts with that of ``x1``.
        upper: whether the factor is upper triangular.
    Raises:
        ShapeError: not square, or sizes differ. DTypeError: float16.
        LinAlgError: a 0 on the diagonal of the factor, when it runs.

    >>> import symgrad as sg
    >>> factor = sg.linalg.cholesky(sg.asarray([[4.0, 2.0], [2.0, 5.0]]))
    >>> sg.linalg.cholesky_solve(factor, sg.asarray([6.0, 7.0]))
    Tensor([1., 1.])
    """
    x1, x2 = ops.asarray(x1), ops.asarray(x2)
    lower = adjoint(x1) if upper else x1
    right = column(x2) if x2.ndim == 1 else x2
    y = solve_triangular(adjoint(lower), solve_triangular(lower, right), upper=True)
    return ops.reshape(y, y.shape[:-1]) if x2.ndim == 1 else y
