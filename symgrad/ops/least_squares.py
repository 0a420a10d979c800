"""Linear equations that have no solution, or many: lstsq."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from symgrad.ir.op import ZERO, ops
from symgrad.ops.families import Array, composite, multi, unpack
from symgrad.ops.linalg_factor import pseudo_inverse, require_tolerance, tolerance_of
from symgrad.ops.matrices import adjoint, as_inexact, column, require_matrix
from symgrad.ops.spectral import svdvals
from symgrad.types import (
    TensorType,
    TupleType,
    broadcast_shapes,
    is_complex,
    promote,
    require_equal,
)


class LstsqResult(NamedTuple):
    """A solution, the sums of squares that it leaves, and what is known of the matrix."""

    solution: Any
    residuals: Any
    rank: Any
    singular_values: Any


def _lstsq_type(x1: TensorType, x2: TensorType, rtol: TensorType) -> Any:
    require_matrix("lstsq", x1, "x1")
    require_matrix("lstsq", x2, "x2")
    require_tolerance("lstsq", x1, rtol)
    *batch, rows, columns = x1.shape
    require_equal(rows, x2.shape[-2], "lstsq", "rows of x1 and x2")
    all_batch = broadcast_shapes("lstsq", tuple(batch), x2.shape[:-2])
    dtype = promote(x1.dtype, x2.dtype)
    return TupleType(
        (
            TensorType((*all_batch, columns, x2.shape[-1]), dtype),
            TensorType(batch, "int64"),
        )
    )


def _by_matrix(cts: Sequence[Any], ys: Sequence[Any], x1: Any, x2: Any, rtol: Any) -> Any:
    """G. H. Golub and V. Pereyra (1973), for changes that keep the rank; as for `pinv`."""
    ct, y = cts[0], ys[0]
    if ct is ZERO:
        return ZERO
    inverse = pseudo_inverse(x1, rtol)
    back = adjoint(inverse) @ ct
    left = x2 - x1 @ y
    aside = ct - adjoint(x1) @ back
    result = left @ adjoint(inverse @ back) - back @ adjoint(y)
    return result + (adjoint(inverse) @ y) @ adjoint(aside)


def _by_right_side(cts: Sequence[Any], ys: Sequence[Any], x1: Any, x2: Any, rtol: Any) -> Any:
    return ZERO if cts[0] is ZERO else adjoint(pseudo_inverse(x1, rtol)) @ cts[0]


@multi(
    type=_lstsq_type,
    vjp=(_by_matrix, _by_right_side),
    promotes=(0, 1),
    holomorphic=False,
    warns=False,
)
def lstsq_pack(x1: Array, x2: Array, rtol: Array, /) -> Any:
    """Solution and rank of `lstsq`, packed; right sides are matrices.

    >>> import symgrad as sg
    >>> sg.linalg.lstsq(sg.ones((3, 2)), sg.ones(3)).rank
    Tensor(1)
    """
    u, s, vh = np.linalg.svd(x1, full_matrices=False)
    bound = np.max(s, axis=-1, keepdims=True, initial=0) * rtol[..., None]
    counts = s > bound
    inverse = np.where(counts, 1 / np.where(counts, s, 1), 0).astype(s.dtype)[..., None]
    turned = inverse * (np.swapaxes(u.conj(), -1, -2) @ x2)
    y = np.swapaxes(vh.conj(), -1, -2) @ turned
    return y, np.count_nonzero(counts, axis=-1).astype(np.int64)


@composite(namespace="linalg")
def lstsq(x1: Array, x2: Array, /, *, rtol: Array | None = None) -> LstsqResult:
    """The ``y`` that makes ``x1 @ y - x2`` as short as possible; of several, the shortest.

    The derivative is that for changes that keep the rank.

    Args:
        x1: matrices in the last two axes, of float32 or wider; tall, square or wide.
        x2: one vector, or matrices whose batch broadcasts with that of ``x1``.
        rtol: singular values up to ``rtol`` times the largest count as 0, as for `pinv`.
    Returns:
        a named tuple ``(solution, residuals, rank, singular_values)``; residuals are the sums of
        the squares of ``x1 @ y - x2``, one per right side, whatever the rank is.
    Raises:
        ShapeError: fewer than two axes, or sizes differ. DTypeError: float16.

    >>> import symgrad as sg
    >>> x1 = sg.asarray([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
    >>> y = sg.linalg.lstsq(x1, sg.asarray([0.0, 1.0, 5.0]))
    >>> [round(float(part), 12) for part in (*y.solution, y.residuals)]
    [-0.5, 2.5, 1.5]
    """
    x1, x2 = as_inexact(x1), as_inexact(x2)
    require_matrix("lstsq", x1.type, "x1")
    vector = x2.ndim == 1
    right = column(x2) if vector else x2
    y, rank = unpack(lstsq_pack(x1, right, tolerance_of(x1, rtol)), 2)
    left = x1 @ y - right
    square = ops.real(left * ops.conj(left)) if is_complex(left.dtype) else left * left
    residuals = ops.sum(square, axis=-2)
    if vector:
        y, residuals = (ops.reshape(a, a.shape[:-1]) for a in (y, residuals))
    return LstsqResult(y, residuals, rank, svdvals(x1))
