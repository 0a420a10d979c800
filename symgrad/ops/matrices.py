"""What the linear algebra ops share: the checks of their types, and a few matrix expressions.

All of them work on the last two axes; the axes before are a batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.errors import DTypeError, ShapeError
from symgrad.ir.op import ZERO, ops
from symgrad.ops.families import require_kind
from symgrad.types import (
    Size,
    TensorType,
    broadcast_shapes,
    default_float,
    finfo,
    is_complex,
    is_inexact,
    promote,
    require_equal,
)


def require_matrix(where: str, x: TensorType, argument: str = "x") -> None:
    """Refuse what is no matrix (or batch of them) of an element type that LAPACK computes in."""
    require_kind(where, x.dtype, "inexact", argument)
    if x.dtype == np.float16:
        raise DTypeError(
            where,
            f"element type of {argument}",
            expected="float32 or wider",
            got=x.dtype,
            hint="cast by sg.astype(x, sg.float32)",
        )
    if x.ndim < 2:
        raise ShapeError(where, f"{argument} is no matrix", expected="2 or more axes", got=x)


def require_square(where: str, x: TensorType, argument: str = "x") -> Size:
    """Refuse what is no square matrix (or batch of them); its order."""
    require_matrix(where, x, argument)
    return require_equal(x.shape[-2], x.shape[-1], where, f"rows and columns of {argument}")


def square_type(where: str) -> Any:
    """The type rule of an op from square matrices to square matrices."""

    def infer(x: TensorType) -> TensorType:
        require_square(where, x)
        return x

    return infer


def equations_type(where: str, x1: TensorType, x2: TensorType) -> TensorType:
    """The type of the solution of ``x1 @ y == x2``: ``x2`` is one vector, or matrices."""
    order = require_square(where, x1, "x1")
    dtype = promote(x1.dtype, x2.dtype)
    if x2.ndim == 1:
        require_equal(order, x2.shape[0], where, "rows of x1 and x2")
        return TensorType((*x1.shape[:-2], order), dtype)
    require_matrix(where, x2, "x2")
    require_equal(order, x2.shape[-2], where, "rows of x1 and x2")
    batch = broadcast_shapes(where, x1.shape[:-2], x2.shape[:-2])
    return TensorType((*batch, order, x2.shape[-1]), dtype)


def transposed(x: Any) -> Any:
    """The last two axes exchanged."""
    axes = range(x.ndim - 2)
    return ops.permute_dims(x, (*axes, x.ndim - 1, x.ndim - 2))


def _inverse_vjp(ct: Any, y: Any, x: Any) -> Any:
    back = transposed(y)
    return -(back @ ct @ back)


def _inverse_jvp(tangents: Sequence[Any], y: Any, args: Any, attrs: Any) -> Any:
    return ZERO if tangents[0] is ZERO else -(y @ tangents[0] @ y)


INVERSE_RULES: dict[str, Any] = {"vjp": (_inverse_vjp,), "jvp": _inverse_jvp}
"""The rules of an op that inverts matrices, for its declaration."""


def adjoint(x: Any) -> Any:
    """The conjugate transpose."""
    return ops.conj(transposed(x)) if is_complex(x.dtype) else transposed(x)


def column(x: Any) -> Any:
    """A vector as a matrix of one column: scales rows."""
    return ops.reshape(x, (*x.shape, 1))


def row(x: Any) -> Any:
    """A vector as a matrix of one row: scales columns."""
    return ops.reshape(x, (*x.shape[:-1], 1, x.shape[-1]))


def hermitian_part(x: Any) -> Any:
    """The nearest matrix that equals its adjoint."""
    return 0.5 * (x + adjoint(x))


def halved_triangle(x: Any) -> Any:
    """The lower triangle with half the diagonal: plus its adjoint, a Hermitian matrix."""
    return 0.5 * (ops.tril(x) + ops.tril(x, k=-1))


def divided_right(x: Any, lower: Any) -> Any:
    """``x @ inv(lower)`` without the inverse, for lower triangles."""
    return transposed(ops.solve_triangular(transposed(lower), transposed(x), upper=True))


def inverse_of_some(x: Any, left_out: Any) -> Any:
    """``1 / x``, and 0 where ``x`` is left out: also in every derivative."""
    return ops.where(left_out, 0, 1 / x)


def negligible(difference: Any, values: Any) -> Any:
    """Whether a difference of these values is no more than the error of computing them.

    Numbers of single precision are computed in double, so there the error is that of the matrix.
    """
    eps = float(finfo(values.dtype).eps)
    bound = (8 if eps < 1e-10 else 4) * eps * ops.vector_norm(values, axis=-1, keepdims=True)
    while bound.ndim < difference.ndim:
        bound = column(bound)
    return ops.abs(difference) <= bound


def largest(x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    """The largest of some numbers >= 0; of none it is 0."""
    for k in axes:
        if not (isinstance(x.shape[k], int) and x.shape[k] > 0):
            x = ops.pad(x, [(0, int(axis == k)) for axis in range(x.ndim)])
    return ops.max(x, axis=axes, keepdims=keepdims)


def as_inexact(x: Any) -> Any:
    """An array; integers and booleans in the default float type."""
    x = ops.asarray(x)
    return x if is_inexact(x.dtype) else ops.astype(x, default_float())


# --- cotangents that may be nothing ---------------------------------------------------------------


def plus(a: Any, b: Any) -> Any:
    """``a + b``, where either may be nothing, and so below."""
    if a is ZERO:
        return b
    return a if b is ZERO else a + b


def times(a: Any, b: Any) -> Any:
    """The matrix product."""
    return ZERO if a is ZERO or b is ZERO else a @ b


def minus(a: Any) -> Any:
    """The negative."""
    return ZERO if a is ZERO else -a


def adjoint_if_any(a: Any) -> Any:
    """The conjugate transpose."""
    return ZERO if a is ZERO else adjoint(a)


def column_range(x: Any, start: Size | None, stop: Size | None) -> Any:
    """Some of the columns."""
    return ZERO if x is ZERO else x[..., :, start:stop]


def row_range(x: Any, start: Size | None, stop: Size | None) -> Any:
    """Some of the rows."""
    return ZERO if x is ZERO else x[..., start:stop, :]


def without_complement(ct: Any, vectors: Any, size: Size) -> Any:
    """The cotangent of the first columns of a unitary matrix.

    What a function makes of the other columns can only depend on the space that they span, which
    the first ones determine.
    """
    if ct is ZERO:
        return ZERO
    first, ct_first = column_range(vectors, None, size), column_range(ct, None, size)
    others, ct_others = column_range(vectors, size, None), column_range(ct, size, None)
    return ct_first - others @ (adjoint(ct_others) @ first)
