"""Factors and inverses of matrices of any shape: qr, pinv, matrix_rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from symgrad.errors import ArgumentError
from symgrad.ir.op import ZERO, ops
from symgrad.ops.families import Array, composite, multi, nondifferentiable, opaque, unpack
from symgrad.ops.matrices import (
    adjoint,
    adjoint_if_any,
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
from symgrad.types import Size, TensorType, TupleType, min_size


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


def _pinv_type(x: TensorType, *, rtol: float | None) -> TensorType:
    require_matrix("pinv", x)
    return TensorType((*x.shape[:-2], x.shape[-1], x.shape[-2]), x.dtype)


def _pinv_vjp(ct: Any, y: Any, x: Any, *, rtol: float | None) -> Any:
    """G. H. Golub and V. Pereyra (1973), for changes that keep the rank."""
    back, ct_back = adjoint(y), adjoint(ct)
    result = -(back @ ct @ back)
    # Each term vanishes where x has independent columns, or rows; which it has need not be known.
    left = ct_back @ (y @ back)
    result = result + (left - x @ (y @ left))
    right = (back @ y) @ ct_back
    return result + (right - (right @ y) @ x)


@opaque(
    type=_pinv_type,
    vjp=(_pinv_vjp,),
    integers="float",
    holomorphic=False,
    warns=False,
    namespace="linalg",
)
def pinv(x: Array, /, *, rtol: Any = None) -> Array:
    """The Moore-Penrose pseudo-inverses of matrices.

    The derivative is that for changes that keep the rank.

    Args:
        x: matrices in the last two axes, of float32 or wider.
        rtol: singular values below ``rtol`` times the largest count as 0; the default is the larger
            of rows and columns times the spacing of the element type.
    Raises:
        ShapeError: fewer than two axes. DTypeError: float16.

    >>> import symgrad as sg
    >>> sg.linalg.pinv(sg.asarray([[2.0, 0.0], [0.0, 0.0]]))
    Tensor([[0.5, 0. ],
            [0. , 0. ]])
    """
    return np.linalg.pinv(x, rtol=rtol)


def _matrix_rank_type(x: TensorType, *, rtol: float | None) -> TensorType:
    require_matrix("matrix_rank", x)
    return TensorType(x.shape[:-2], "int64")


@nondifferentiable(
    type=_matrix_rank_type,
    reason="a rank is an integer",
    integers="float",
    warns=False,
    namespace="linalg",
)
def matrix_rank(x: Array, /, *, rtol: float | None = None) -> Array:
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
    return np.linalg.matrix_rank(x, rtol=rtol)
