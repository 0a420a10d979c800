"""Factors, inverses and ranks of matrices of any shape: qr, pinv, matrix_rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from symgrad.errors import ArgumentError, ShapeError
from symgrad.ir.op import ZERO, ops
from symgrad.ops.families import (
    Array,
    composite,
    multi,
    nondifferentiable,
    opaque,
    require_kind,
    unpack,
)
from symgrad.ops.matrices import (
    adjoint,
    adjoint_if_any,
    as_inexact,
    column_range,
    divided_right,
    halved_triangle,
    minus,
    plus,
    require_matrix,
    row_range,
    times,
    without_complement,
)
from symgrad.types import (
    Size,
    TensorType,
    TupleType,
    broadcast_shapes,
    finfo,
    max_size,
    min_size,
    real_dtype,
)


class QRResult(NamedTuple):
    """An orthogonal and a triangular factor."""

    Q: Any
    R: Any


def _qr_type(x: TensorType, *, mode: str) -> Any:
    require_matrix("qr", x)
    if mode not in ("reduced", "complete"):
        raise ArgumentError("qr", "mode", expected="'reduced' or 'complete'", got=repr(mode))
    *batch, rows, columns = x.shape
    inner = min_size(rows, columns) if mode == "reduced" else rows
    return TupleType(
        (
            TensorType((*batch, rows, inner), x.dtype),
            TensorType((*batch, inner, columns), x.dtype),
        )
    )


def _qr_vjp(cts: Sequence[Any], ys: Sequence[Any], x: Any, *, mode: str) -> Any:
    (ct_q, ct_r), (q, r) = cts, ys
    size = min_size(*x.shape[-2:])
    if mode == "complete":
        ct_q = without_complement(ct_q, q, size)
        q, r, ct_r = (
            column_range(q, None, size),
            row_range(r, None, size),
            row_range(ct_r, None, size),
        )
    if size == x.shape[-1]:
        return _qr_tall(ct_q, ct_r, q, r)
    # Wide: the first columns determine q, the others are q @ (the rest of r).
    rest, ct_rest = column_range(x, size, None), column_range(ct_r, size, None)
    ct_q = plus(ct_q, times(rest, adjoint_if_any(ct_rest)))
    first = _qr_tall(ct_q, column_range(ct_r, None, size), q, column_range(r, None, size))
    parts = [first, times(q, ct_rest)]
    return ops.concat([_dense(p, x, k, size) for k, p in enumerate(parts)], axis=-1)


def _dense(part: Any, x: Any, k: int, size: Size) -> Any:
    """A block of columns, of zeros if it is nothing."""
    columns = (size, x.shape[-1] - size)[k]
    return ops.zeros((*x.shape[:-1], columns), dtype=x.dtype) if part is ZERO else part


def _qr_tall(ct_q: Any, ct_r: Any, q: Any, r: Any) -> Any:
    """S. F. Walter and L. Lehmann, "Algorithmic differentiation of linear algebra" (2010)."""
    middle = plus(times(r, adjoint_if_any(ct_r)), minus(times(adjoint_if_any(ct_q), q)))
    if middle is ZERO:
        return ZERO
    half = halved_triangle(middle)
    inner = plus(ct_q, q @ (half + adjoint(half)))
    return divided_right(inner, adjoint(r))


@multi(type=_qr_type, vjp=(_qr_vjp,), integers="float", holomorphic=False, warns=False)
def qr_pack(x: Array, /, *, mode: Any) -> Any:
    """The outputs of `qr`, packed.

    >>> import symgrad as sg
    >>> [part.shape for part in sg.linalg.qr(sg.ones((2, 3)))]
    [(2, 2), (2, 3)]
    """
    return tuple(np.linalg.qr(x, mode=mode))


@composite(namespace="linalg")
def qr(x: Array, /, *, mode: str = "reduced") -> QRResult:
    """The QR factorisation: orthonormal columns times an upper triangle.

    Args:
        x: matrices in the last two axes, of float32 or wider; tall, square or wide.
        mode: "reduced" gives min(rows, columns) columns, "complete" a square first factor.
    Returns:
        a named tuple ``(Q, R)``.
    Raises:
        ShapeError: fewer than two axes. DTypeError: float16. ArgumentError: an unknown mode.
        LinAlgError: the gradient where the first columns are not independent.

    >>> import symgrad as sg
    >>> q, r = sg.linalg.qr(sg.asarray([[3.0, 1.0], [4.0, 2.0]]))
    >>> sg.abs(r)
    Tensor([[5. , 2.2],
            [0. , 0.4]])
    """
    return QRResult(*unpack(qr_pack(x, mode=mode), 2))


# --- singular values that count -------------------------------------------------------------------


def tolerance_of(x: Any, rtol: Any) -> Any:
    """The smallest singular value that counts, relative to the largest: numbers per matrix."""
    dtype = real_dtype(x.dtype)
    if rtol is None:
        sides = max_size(x.shape[-2], x.shape[-1])
        spacing = float(finfo(dtype).eps)
        count = sides if isinstance(sides, int) else ops.size(dim=sides, dtype=dtype)
        return ops.asarray(count * spacing, dtype=dtype)
    return ops.astype(ops.asarray(rtol), dtype)


def require_tolerance(where: str, x: TensorType, rtol: TensorType) -> None:
    """Refuse a tolerance that is not one per matrix."""
    require_kind(where, rtol.dtype, "floating", "rtol")
    batch = broadcast_shapes(where, x.shape[:-2], rtol.shape)
    if len(batch) > x.ndim - 2:
        raise ShapeError(where, "axes of rtol", expected=f"at most {x.ndim - 2}", got=rtol)


def _pseudo_inverse_type(x: TensorType, rtol: TensorType) -> TensorType:
    require_matrix("pinv", x)
    require_tolerance("pinv", x, rtol)
    return TensorType((*x.shape[:-2], x.shape[-1], x.shape[-2]), x.dtype)


def _pseudo_inverse_vjp(ct: Any, y: Any, x: Any, rtol: Any) -> Any:
    """G. H. Golub and V. Pereyra (1973), for changes that keep the rank."""
    back, ct_back = adjoint(y), adjoint(ct)
    result = -(back @ ct @ back)
    # Each term vanishes where x has independent columns, or rows; which it has need not be known.
    left = ct_back @ (y @ back)
    result = result + (left - x @ (y @ left))
    right = (back @ y) @ ct_back
    return result + (right - (right @ y) @ x)


@opaque(
    type=_pseudo_inverse_type,
    vjp=(_pseudo_inverse_vjp,),
    promotes=(0,),
    holomorphic=False,
    warns=False,
    namespace=None,
)
def pseudo_inverse(x: Array, rtol: Array, /) -> Array:
    """What `pinv` gives, for a tolerance per matrix.

    >>> pseudo_inverse(np.diag([2.0, 0.5]), np.array(0.5))
    Tensor([[0.5, 0. ],
            [0. , 0. ]])
    """
    return np.asarray(np.linalg.pinv(x, rtol=rtol), x.dtype)


@composite(namespace="linalg")
def pinv(x: Array, /, *, rtol: Array | None = None) -> Any:
    """The Moore-Penrose pseudo-inverses of matrices.

    The derivative is that for changes that keep the rank.

    Args:
        x: matrices in the last two axes, of float32 or wider.
        rtol: singular values up to ``rtol`` times the largest count as 0; a number, or an array of
            one per matrix. The default is the larger of rows and columns times the spacing of the
            element type.
    Raises:
        ShapeError: fewer than two axes. DTypeError: float16.

    >>> import symgrad as sg
    >>> sg.linalg.pinv(sg.asarray([[2.0, 0.0], [0.0, 0.0]]))
    Tensor([[0.5, 0. ],
            [0. , 0. ]])
    """
    x = as_inexact(x)
    require_matrix("pinv", x.type)
    return pseudo_inverse(x, tolerance_of(x, rtol))


def _rank_type(x: TensorType, rtol: TensorType) -> TensorType:
    require_matrix("matrix_rank", x)
    require_tolerance("matrix_rank", x, rtol)
    return TensorType(x.shape[:-2], "int64")


@nondifferentiable(type=_rank_type, reason="a rank is an integer", warns=False, namespace=None)
def rank_above(x: Array, rtol: Array, /) -> Array:
    """What `matrix_rank` gives, for a tolerance per matrix.

    >>> rank_above(np.diag([2.0, 0.5]), np.array(0.5))
    Tensor(1)
    """
    values = np.linalg.svd(x, compute_uv=False)
    bound = np.max(values, axis=-1, keepdims=True, initial=0) * rtol[..., None]
    return np.count_nonzero(values > bound, axis=-1).astype(np.int64)


@composite(namespace="linalg")
def matrix_rank(x: Array, /, *, rtol: Array | None = None) -> Any:
    """The ranks of matrices: how many singular values are not negligible.

    Args:
        x, rtol: as for `pinv`.
    Returns:
        int64 numbers, one per matrix.
    Raises:
        ShapeError: fewer than two axes. DTypeError: float16.

    >>> import symgrad as sg
    >>> int(sg.linalg.matrix_rank(sg.asarray([[1.0, 2.0], [2.0, 4.0]])))
    1
    """
    x = as_inexact(x)
    require_matrix("matrix_rank", x.type)
    return rank_above(x, tolerance_of(x, rtol))
