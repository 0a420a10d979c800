"""Gaussian elimination: lu."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from symgrad.ir.op import ZERO, ops
from symgrad.ops.families import Array, composite, multi, unpack
from symgrad.ops.matrices import column_range, plus, require_matrix, row_range, transposed
from symgrad.types import Size, TensorType, TupleType, max_size, min_size, real_dtype


class LUResult(NamedTuple):
    """A permutation, a lower triangle with ones on its diagonal, and an upper triangle."""

    P: Any
    L: Any
    U: Any


def _lu_type(x: TensorType) -> Any:
    require_matrix("lu", x)
    *batch, rows, columns = x.shape
    inner = min_size(rows, columns)
    return TupleType(
        (
            TensorType((*batch, rows, rows), real_dtype(x.dtype)),
            TensorType((*batch, rows, inner), x.dtype),
            TensorType((*batch, inner, columns), x.dtype),
        )
    )


def _with_rows(x: Any, rows: Size) -> Any:
    """Zeros below, to as many rows."""
    below = ops.zeros((*x.shape[:-2], rows - x.shape[-2], x.shape[-1]), dtype=x.dtype)
    return ops.concat([x, below], axis=-2)


def _with_columns(x: Any, columns: Size) -> Any:
    """Zeros to the right, to as many columns."""
    return transposed(_with_rows(transposed(x), columns))


def _lu_vjp(cts: Sequence[Any], ys: Sequence[Any], x: Any) -> Any:
    """The adjoint of the following, where L is completed by columns of the identity.

    ``s = inv(L) P^T dx``, ``m = strictly_lower(s[:, :k] inv(U[:k, :k]))``, ``dL = L m``,
    ``dU = s - m U[:k]``: only k columns of L vary, and the rest of U may be singular.
    """
    (_, ct_l, ct_u), (p, lower, upper) = cts, ys
    rows, columns = x.shape[-2:]
    k = min_size(max_size(rows - 1, 0), columns)
    whole = ops.tril(_with_columns(column_range(lower, None, k), rows), k=-1)
    whole = transposed(whole + ops.eye(rows, dtype=x.dtype))
    ct_s: Any = ZERO
    ct_m: Any = ZERO
    if ct_u is not ZERO:
        ct_s = _with_rows(ops.triu(ct_u), rows)
        ct_m = -(ct_s @ transposed(row_range(upper, None, k)))
    if ct_l is not ZERO:
        ct_m = plus(ct_m, whole @ ops.tril(column_range(ct_l, None, k), k=-1))
    if ct_m is ZERO:
        return ZERO
    # To divide from the right by a triangle is to divide its transpose from the left.
    corner = upper[..., :k, :k]
    divided = transposed(ops.solve_triangular(corner, transposed(ops.tril(ct_m, k=-1)), upper=True))
    ct_s = plus(ct_s, _with_columns(divided, columns))
    back = ops.solve_triangular(whole, ct_s, upper=True, unit_diagonal=True)
    return ops.astype(p, x.dtype) @ back


def eliminated(x: Array) -> tuple[Array, Array]:
    """Both triangles in one matrix, and the order of the rows; for a batch with one axis.

    The pivot is the element of the largest ``|re| + |im|``, the first one of equals.
    """
    a = x.copy()
    count, rows, columns = a.shape
    members = np.arange(count)
    order = np.broadcast_to(np.arange(rows), (count, rows)).copy()
    inner, width = min(rows, columns), 32
    for start in range(0, inner, width):
        stop = min(start + width, inner)
        for k in range(start, stop):
            size = np.abs(a[:, k:, k].real) + np.abs(a[:, k:, k].imag)
            pivot = k + np.argmax(size, axis=1)
            for swapped in (a, order):
                kept = swapped[:, k].copy()
                swapped[:, k] = swapped[members, pivot]
                swapped[members, pivot] = kept
            diagonal = a[:, k, k, None]
            a[:, k + 1 :, k] /= np.where(diagonal == 0, 1, diagonal)
            a[:, k + 1 :, k + 1 : stop] -= a[:, k + 1 :, k, None] * a[:, k, None, k + 1 : stop]
        for k in range(start, stop):  # the rows of the upper triangle, right of the block
            above = a[:, start:k, stop:]
            a[:, k, stop:] -= (a[:, k, None, start:k] @ above)[:, 0]
        a[:, stop:, stop:] -= a[:, stop:, start:stop] @ a[:, start:stop, stop:]
    return a, order


@multi(type=_lu_type, vjp=(_lu_vjp,), integers="float", warns=False)
def lu_pack(x: Array, /) -> Any:
    """The outputs of `lu`, packed.

    >>> import symgrad as sg
    >>> [part.shape for part in sg.linalg.lu(sg.ones((2, 3)))]
    [(2, 2), (2, 2), (2, 3)]
    """
    *batch, rows, columns = x.shape
    inner = min(rows, columns)
    a, order = eliminated(x.reshape(int(np.prod(batch)), rows, columns))
    lower = np.tril(a[:, :, :inner], -1) + np.eye(rows, inner, dtype=x.dtype)
    upper = np.triu(a[:, :inner])
    moved = (np.arange(rows)[:, None] == order[:, None, :]).astype(x.real.dtype)
    return (
        moved.reshape(*batch, rows, rows),
        lower.reshape(*batch, rows, inner),
        upper.reshape(*batch, inner, columns),
    )


@composite(namespace="linalg")
def lu(x: Array, /) -> LUResult:
    """Gaussian elimination with row exchanges: ``x == P @ L @ U``.

    The derivative is that for changes that keep the order of the rows.

    Args:
        x: matrices in the last two axes, of float32 or wider; tall, square or wide.
    Returns:
        a named tuple ``(P, L, U)``: a permutation matrix of real numbers; ones on the diagonal of
        ``L``, and nothing above.
    Raises:
        ShapeError: fewer than two axes. DTypeError: float16. LinAlgError: the gradient where the
        first columns are not independent.

    >>> import symgrad as sg
    >>> p, l, u = sg.linalg.lu(sg.asarray([[1.0, 2.0], [4.0, 4.0]]))
    >>> l, u
    (Tensor([[1.  , 0.  ],
            [0.25, 1.  ]]), Tensor([[4., 4.],
            [0., 1.]]))
    """
    return LUResult(*unpack(lu_pack(x), 3))
