"""Ops that move elements without changing them: reshape, permute, broadcast, join, pad.

All are linear. Each transpose also works on booleans, where a sum becomes `any`: it carries guards.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.errors import ShapeError
from symgrad.ir.op import Attrs, ops
from symgrad.ops.families import Array, linear
from symgrad.types import (
    Dim,
    Shape,
    Size,
    TensorType,
    as_shape,
    broadcast_shapes,
    is_bool,
    normalize_axes,
    require_equal,
)


def total(x: Any, axes: tuple[int, ...]) -> Any:
    """The sum over axes; for a predicate, whether it holds anywhere along them."""
    if not axes:
        return x
    return ops.any(x, axis=axes) if is_bool(x.dtype) else ops.sum(x, axis=axes, dtype=x.dtype)


def count(shape: Shape) -> Size:
    """The number of elements of an array of this shape."""
    product: Size = 1
    for size in shape:
        product = product * size
    return product


# --- reshape, permute, broadcast ------------------------------------------------------------------


def _reshape_attrs(types: list[TensorType], attrs: Attrs) -> Attrs:
    """The shape without -1."""
    given = attrs["shape"] if isinstance(attrs["shape"], tuple) else (attrs["shape"],)
    unknown = [axis for axis, size in enumerate(given) if not isinstance(size, Dim) and size == -1]
    if len(unknown) > 1:
        raise ShapeError("reshape", "only one size can be -1", got=given)
    if not unknown:
        return {"shape": as_shape(given, "reshape"), "copy": attrs["copy"] or None}
    axis = unknown[0]
    before, after = as_shape(given[:axis], "reshape"), as_shape(given[axis + 1 :], "reshape")
    rest = count(before + after)
    if rest == 0:
        raise ShapeError("reshape", "the size at -1 is not determined", got=given)
    return {"shape": (*before, types[0].size // rest, *after), "copy": attrs["copy"] or None}


def _reshape_type(x: TensorType, *, shape: Shape, copy: bool | None) -> TensorType:
    if isinstance(x.size, int) and isinstance(count(shape), int) and x.size != count(shape):
        raise ShapeError(
            "reshape", "the number of elements changes", expected=f"{x.size} elements", got=shape
        )
    require_equal(x.size, count(shape), "reshape", "numbers of elements")
    return TensorType(shape, x.dtype)


@linear(
    type=_reshape_type,
    transpose=lambda ct, x, **_: reshape(ct, x.shape),
    normalize=_reshape_attrs,
    warns=False,
    view=True,
)
def reshape(x: Array, /, shape: Any, *, copy: bool | None = None) -> Array:
    """The same elements, in the same (row-major) order, in another shape.

    Args:
        x: array of any shape.
        shape: the new shape, with the same number of elements; one size may be -1: what is left.
        copy: a value is never changed in place by another's user, so it makes no difference.
    Raises:
        ShapeError: the number of elements changes.

    >>> import symgrad as sg
    >>> sg.reshape(sg.asarray([1, 2, 3, 4]), (2, -1))
    Tensor([[1, 2],
            [3, 4]])
    """
    return np.reshape(x, shape)


def _permute_attrs(types: list[TensorType], attrs: Attrs) -> Attrs:
    axes = normalize_axes(attrs["axes"], types[0].ndim, "permute_dims")
    if len(axes) != types[0].ndim:
        raise ShapeError(
            "permute_dims", "axes is not a permutation", expected=f"{types[0].ndim} axes", got=axes
        )
    return {"axes": axes}


def inverse_permutation(axes: tuple[int, ...]) -> tuple[int, ...]:
    """The permutation that undoes ``axes``."""
    return tuple(sorted(range(len(axes)), key=axes.__getitem__))


@linear(
    type=lambda x, *, axes: TensorType(tuple(x.shape[axis] for axis in axes), x.dtype),
    transpose=lambda ct, x, *, axes: permute_dims(ct, inverse_permutation(axes)),
    normalize=_permute_attrs,
    warns=False,
    view=True,
)
def permute_dims(x: Array, /, axes: Any) -> Array:
    """The axes in another order: axis ``k`` of the result is axis ``axes[k]`` of ``x``.

    Raises:
        ShapeError: ``axes`` is not a permutation of the axes of ``x``.

    >>> import symgrad as sg
    >>> sg.permute_dims(sg.zeros((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    return np.transpose(x, axes)


def _broadcast_type(x: TensorType, *, shape: Shape) -> TensorType:
    if len(shape) < x.ndim or broadcast_shapes("broadcast_to", x.shape, shape) is None:
        raise ShapeError("broadcast_to", "too few axes", expected=f"at least {x.ndim}", got=shape)
    for axis in range(-x.ndim, 0):
        if x.shape[axis] != 1:
            require_equal(x.shape[axis], shape[axis], "broadcast_to", f"sizes of axis {axis}")
    return TensorType(shape, x.dtype)


def _broadcast_transpose(ct: Any, x: Any, *, shape: Shape) -> Any:
    new = len(shape) - x.ndim
    stretched = [
        axis
        for axis, size in enumerate(shape)
        if axis >= new and x.shape[axis - new] == 1 and size != 1
    ]
    summed = total(ct, (*range(new), *stretched))
    return summed if summed.ndim == x.ndim else reshape(summed, x.shape)


@linear(
    type=_broadcast_type,
    transpose=_broadcast_transpose,
    normalize=lambda types, attrs: {"shape": as_shape(attrs["shape"], "broadcast_to")},
    warns=False,
    view=True,
)
def broadcast_to(x: Array, /, shape: Any) -> Array:
    """``x`` repeated along new leading axes and axes of size 1 to fill ``shape``.

    Raises:
        ShapeError: an axis of ``x`` has neither size 1 nor the wanted one.

    >>> import symgrad as sg
    >>> sg.broadcast_to(sg.asarray([1, 2]), (2, 2))
    Tensor([[1, 2],
            [1, 2]])
    """
    return np.broadcast_to(x, shape)
