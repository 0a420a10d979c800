"""Order: sort, argsort, searchsorted.

A sorted array is its elements gathered in order, so the derivative passes along the permutation.
NaNs come last in both directions, and equal elements keep their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, ShapeError
from symgrad.ir.op import ZERO
from symgrad.ops.families import Array, composite, nondifferentiable, selection
from symgrad.ops.take import add_along_axis, take, take_along_axis
from symgrad.types import TensorType, normalize_axis, promote


def order_reversed(x: Array) -> Array:
    """Keys whose ascending order is the descending one of ``x``, with NaNs still last."""
    # Unlike the negative of an integer, its complement cannot overflow.
    return np.negative(x) if x.dtype.kind in "fc" else np.invert(x)


def equal_may_differ(x: Array) -> bool:
    """Whether elements that compare equal may be told apart: only zeros of both signs can."""
    if x.dtype.kind not in "fc":
        return False
    if x.dtype.kind == "c" or not x.flags.c_contiguous or not x.size:
        return True
    # Of all bit patterns that of -0.0 is the smallest integer.
    bits = x.view(f"i{x.dtype.itemsize}")
    return bool(bits.min() == np.iinfo(bits.dtype).min)


def sorted_stably(x: Array, axis: int) -> Array:
    """The elements in ascending order along an axis, equal ones in that in which they stand.

    Where equal elements cannot be told apart, a sort need not be stable, which for long arrays is
    several times faster.
    """
    if x.size <= 64:
        return np.sort(x, axis=axis, kind="stable")
    if x.ndim > 1 or x.dtype.kind != "f":
        return np.sort(x, axis=axis, kind="stable" if equal_may_differ(x) else "quicksort")
    result = np.sort(x)
    zero = x.dtype.type(0)
    first, end = result.searchsorted(zero), result.searchsorted(zero, "right")
    if end - first > 1:
        result[first:end] = x[x == 0]
    return result


def _sort_axis(where: str, types: Sequence[TensorType], attrs: dict[str, Any]) -> dict[str, Any]:
    return {**attrs, "axis": normalize_axis(attrs["axis"], types[0].ndim, where)}


def _sort_normalize(types: Sequence[TensorType], attrs: dict[str, Any]) -> dict[str, Any]:
    return _sort_axis("sort", types, attrs)


def _argsort_normalize(types: Sequence[TensorType], attrs: dict[str, Any]) -> dict[str, Any]:
    return _sort_axis("argsort", types, attrs)


def _sort_type(x: TensorType, *, axis: int, descending: bool, stable: bool) -> TensorType:
    return x


def _argsort_type(x: TensorType, *, axis: int, descending: bool, stable: bool) -> TensorType:
    return TensorType(x.shape, "int64")


def _unsorted(i: int, ct: Any, y: Any, args: Sequence[Any], attrs: dict[str, Any]) -> Any:
    """Hand each element of a cotangent, or of a guard, back to where its value came from."""
    (x,) = args
    order = argsort(x, **attrs)
    return add_along_axis(ct, order, shape=x.shape, axis=attrs["axis"], unique=True)


def _sort_jvp(tangents: Sequence[Any], y: Any, args: Sequence[Any], attrs: dict[str, Any]) -> Any:
    if tangents[0] is ZERO:
        return ZERO
    return take_along_axis(tangents[0], argsort(args[0], **attrs), axis=attrs["axis"])


@selection(
    type=_sort_type,
    vjp=_unsorted,
    jvp=_sort_jvp,
    guard=_unsorted,
    normalize=_sort_normalize,
    warns=False,
)
def sort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """The elements in order along one axis; NaNs come last.

    Of equal elements each keeps its own derivative, in the order of `argsort`.

    Args:
        x: an array of at least one axis, of any element type.
        axis: which axis.
        descending: the largest first.
        stable: whether equal elements must keep their order.
    Raises:
        ShapeError: no such axis.

    >>> import symgrad as sg
    >>> sg.sort(sg.asarray([2.0, 3.0, 1.0]), descending=True)
    Tensor([3., 2., 1.])
    """
    keys = order_reversed(x) if descending else x
    result = sorted_stably(keys, axis) if stable else np.sort(keys, axis=axis)
    return order_reversed(result) if descending else result


@nondifferentiable(
    type=_argsort_type, reason="integer output", normalize=_argsort_normalize, warns=False
)
def argsort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """The indices that sort along one axis; NaNs come last.

    Args:
        x, axis, descending, stable: as for `sort`.
    Returns:
        int64 indices, in the shape of ``x``.
    Raises:
        ShapeError: no such axis.

    >>> import symgrad as sg
    >>> sg.argsort(sg.asarray([2.0, 3.0, 1.0, 2.0]), descending=True)
    Tensor([1, 0, 3, 2])
    """
    kind = "stable" if stable else "quicksort"
    return np.argsort(order_reversed(x) if descending else x, axis=axis, kind=kind)


def _insertion_points_type(x1: TensorType, x2: TensorType, *, side: str) -> TensorType:
    if x1.ndim != 1:
        raise ShapeError("searchsorted", "axes of x1", expected="1 axis", got=x1)
    if side not in ("left", "right"):
        raise ArgumentError("searchsorted", "side", expected="'left' or 'right'", got=repr(side))
    promote(x1.dtype, x2.dtype)
    return TensorType(x2.shape, "int64")


@nondifferentiable(
    type=_insertion_points_type, reason="integer output", warns=False, namespace=None
)
def insertion_points(x1: Array, x2: Array, /, *, side: Any = "left") -> Array:
    """Where elements belong in a sorted array; `searchsorted` is its public face.

    >>> import symgrad as sg
    >>> insertion_points(sg.asarray([1.0, 2.0]), sg.asarray([1.5, 3.0]))
    Tensor([1, 2])
    """
    return np.searchsorted(x1, x2, side=side)


@composite
def searchsorted(
    x1: Array, x2: Array, /, *, side: str = "left", sorter: Array | None = None
) -> Any:
    """Where the elements of ``x2`` belong in ``x1`` so that it stays sorted.

    Args:
        x1: an array of one axis, in ascending order (after ``sorter``).
        x2: an array of any shape.
        side: "left" gives the first place that fits, "right" the last.
        sorter: integer indices that sort ``x1``.
    Returns:
        int64 indices from 0 to the length of ``x1``, in the shape of ``x2``.
    Raises:
        ShapeError: ``x1`` has not one axis. ArgumentError: an unknown side.

    >>> import symgrad as sg
    >>> sg.searchsorted(sg.asarray([1.0, 2.0, 3.0]), sg.asarray([2.0, 9.0]))
    Tensor([1, 3])
    """
    return insertion_points(x1 if sorter is None else take(x1, sorter), x2, side=side)
