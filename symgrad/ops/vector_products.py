"""Products of vectors, and what becomes of them for arrays of other ranks: dot, inner, vdot."""

from __future__ import annotations

from typing import Any

from symgrad.errors import ShapeError
from symgrad.ir.op import ops
from symgrad.ops.contract import matmul, tensordot
from symgrad.ops.families import Array, composite
from symgrad.types import is_complex


def _joined(where: str, x1: Any, x2: Any, axis: int) -> Any:
    """The sum over the last axis of one and an axis of the other; a number is a factor."""
    if x1.ndim == 0 or x2.ndim == 0:
        return x1 * x2
    sizes = x1.shape[-1], x2.shape[axis]
    if all(isinstance(size, int) for size in sizes) and sizes[0] != sizes[1]:
        raise ShapeError(where, "sizes of the summed axes differ", expected=sizes[0], got=sizes[1])
    return tensordot(x1, x2, axes=((x1.ndim - 1,), (axis,)))


@composite
def dot(x1: Array, x2: Array, /) -> Any:
    """The sum over the last axis of ``x1`` and the second-to-last one (or only one) of ``x2``.

    Of two vectors this is their inner product, of two matrices the matrix product; a number is a
    factor. Complex numbers are not conjugated.

    Args:
        x1, x2: arrays.
    Returns:
        an array with the other axes of ``x1``, then those of ``x2``; for batches of matrices
        rather use `matmul`.
    Raises:
        ShapeError: sizes of the summed axes differ.

    >>> import symgrad as sg
    >>> sg.dot(sg.asarray([1.0, 2.0]), sg.asarray([3.0, 4.0]))
    Tensor(11.)
    """
    x1, x2 = ops.asarray(x1), ops.asarray(x2)
    if 0 < x1.ndim <= 2 and 0 < x2.ndim <= 2:
        return matmul(x1, x2)
    return _joined("dot", x1, x2, max(x2.ndim - 2, 0))


@composite
def inner(x1: Array, x2: Array, /) -> Any:
    """The sum over the last axes of both. Complex numbers are not conjugated.

    Args:
        x1, x2: arrays; a number is a factor.
    Returns:
        an array with the other axes of ``x1``, then those of ``x2``.
    Raises:
        ShapeError: sizes of the last axes differ.

    >>> import symgrad as sg
    >>> sg.inner(sg.asarray([1.0, 2.0]), sg.asarray([[3.0, 4.0], [5.0, 6.0]]))
    Tensor([11., 17.])
    """
    x1, x2 = ops.asarray(x1), ops.asarray(x2)
    return _joined("inner", x1, x2, x2.ndim - 1)


@composite
def vdot(x1: Array, x2: Array, /) -> Any:
    """The sum of ``conj(x1) * x2`` over all elements, as of vectors, in row-major order.

    Args:
        x1, x2: arrays of as many elements.
    Raises:
        ShapeError: numbers of elements differ.

    >>> import symgrad as sg
    >>> sg.vdot(sg.asarray([1j, 2.0]), sg.asarray([1j, 1.0]))
    Tensor(3.+0.j)
    """
    x1, x2 = (ops.reshape(ops.asarray(x), (-1,)) for x in (x1, x2))
    first = ops.conj(x1) if is_complex(x1.dtype) else x1
    return _joined("vdot", first, x2, 0)
