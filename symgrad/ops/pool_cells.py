"""Cells of planes, read and written at flat indices: what pooling by the maximum is made of.

A plane is what the spatial axes of (N, C, *sizes) span; a flat index counts its cells in row-major
order, and -1 is no cell. Reading there (`pool_gather`) and adding there (`pool_scatter`) are linear
and each other's transposes, so a selection by index is closed under differentiation.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.errors import ShapeError
from symgrad.ir.op import ZERO, Attrs, Op, ops
from symgrad.ops.families import Array, composite, linear, nondifferentiable, require_kind
from symgrad.ops.half import working_dtype
from symgrad.ops.windows import (
    covered,
    per_axis,
    sizes_per_axis,
    spatial_axes,
    starts,
    window_attrs,
)
from symgrad.types import Size, TensorType, require_equal, take_constraints

# --- types ----------------------------------------------------------------------------------------


def _require_same_planes(where: str, a: TensorType, b: TensorType) -> None:
    if a.ndim != b.ndim:
        raise ShapeError(where, "numbers of axes differ", expected=a.ndim, got=b)
    require_equal(a.shape[0], b.shape[0], where, "batch sizes of values and indices")
    require_equal(a.shape[1], b.shape[1], where, "channels of values and indices")
    require_kind(where, b.dtype, "integer", "indices")


def _require_same_sizes(where: str, values: TensorType, indices: TensorType) -> None:
    _require_same_planes(where, values, indices)
    for axis, (a, b) in enumerate(zip(values.shape, indices.shape, strict=True)):
        require_equal(a, b, where, f"sizes of values and indices on axis {axis}")


def _gather_type(x: TensorType, indices: TensorType) -> TensorType:
    _require_same_planes("pool_gather", x, indices)
    return TensorType(indices.shape, x.dtype)


def _scatter_type(values: TensorType, indices: TensorType, *, shape: Any) -> TensorType:
    _require_same_sizes("pool_scatter", values, indices)
    return TensorType((*values.shape[:2], *shape), values.dtype)


def _last_type(indices: TensorType, *, shape: Any) -> TensorType:
    require_kind("max_unpool", indices.dtype, "integer", "indices")
    return TensorType(indices.shape, np.bool_)


# --- reading and adding ---------------------------------------------------------------------------


def _gather_to_x(ct: Any, x: Any, indices: Any) -> Any:
    return pool_scatter(ct, indices, shape=x.shape[2:])


def _scatter_to_values(ct: Any, values: Any, indices: Any, *, shape: Any) -> Any:
    return pool_gather(ct, indices)


@linear(
    type=_gather_type,
    transpose=_gather_to_x,
    warns=False,
    namespace=None,
)
def pool_gather(x: Array, indices: Array, /) -> Array:
    """The cells of each plane (N, C, *sizes) at flat indices (N, C, *places); 0 at -1.

    >>> import symgrad as sg
    >>> pool_gather(sg.asarray([[[5.0, 6.0, 7.0]]]), sg.asarray([[[2, 0]]]))
    Tensor([[[7., 5.]]])
    """
    n, c, *places = indices.shape
    cells, taken = math.prod(x.shape[2:]), math.prod(places)
    flat = np.reshape(indices, (n, c, taken))
    values = np.take_along_axis(np.reshape(x, (n, c, cells)), flat, axis=2)
    if np.any(flat < 0):
        values[flat < 0] = 0
    return values.reshape(indices.shape)


def _flat_in_batch(indices: Array, cells: int) -> Array:
    """Indices into the planes one after another; what goes nowhere goes to one more cell."""
    n, c = indices.shape[:2]
    planes = starts(n * c, cells, 0).reshape(n, c, *(1,) * (indices.ndim - 2))
    flat = indices.astype(np.int64) + planes
    flat[indices < 0] = n * c * cells
    return flat.reshape(-1)


@linear(
    type=_scatter_type,
    transpose=_scatter_to_values,
    warns=False,
    namespace=None,
)
def pool_scatter(values: Array, indices: Array, /, *, shape: Any) -> Array:
    """Planes of ``shape`` with values added at flat indices: the transpose of `pool_gather`.

    >>> import symgrad as sg
    >>> pool_scatter(sg.asarray([[[7.0, 5.0]]]), sg.asarray([[[2, 0]]]), shape=(3,))
    Tensor([[[5., 0., 7.]]])
    """
    n, c = values.shape[:2]
    cells = math.prod(shape)
    whole = np.zeros(n * c * cells + 1, working_dtype(values.dtype))
    np.add.at(whole, _flat_in_batch(indices, cells), np.reshape(values, -1))
    return whole[:-1].reshape(n, c, *shape).astype(values.dtype, copy=False)


def selecting(indices: Op) -> dict[str, Any]:
    """The rules of a selection whose cells ``indices(x, **attrs)`` names, for its declaration."""

    def vjp(ct: Any, y: Any, x: Any, **attrs: Any) -> Any:
        return pool_scatter(ct, indices(x, **attrs), shape=x.shape[2:])

    def jvp(tangents: Any, y: Any, args: Any, attrs: Attrs) -> Any:
        if tangents[0] is ZERO:
            return ZERO
        return pool_gather(tangents[0], indices(args[0], **attrs))

    def guard(i: int, predicate: Any, y: Any, args: Any, attrs: Attrs) -> Any:
        return vjp(predicate, y, args[0], **attrs)

    def live(y: Any, x: Any, **attrs: Any) -> Any:
        return vjp(ops.ones_like(y, dtype=np.dtype(bool)), y, x, **attrs)

    return {"vjp": (vjp,), "jvp": jvp, "guard": guard, "live": (live,)}


# --- unpooling ------------------------------------------------------------------------------------


@nondifferentiable(type=_last_type, reason="boolean output", warns=False, namespace=None)
def last_in_plane(indices: Array, /, *, shape: Any) -> Array:
    """For each flat index, whether no later one of its plane is equal; False at -1.

    >>> import symgrad as sg
    >>> last_in_plane(sg.asarray([[[2, 2, 0, -1]]]), shape=(3,))
    Tensor([[[False,  True,  True, False]]])
    """
    cells = math.prod(shape)
    if np.any(indices < -1) or np.any(indices >= cells):
        raise IndexError(f"max_unpool: an index is outside its plane of {cells} cells")
    flat, order = _flat_in_batch(indices, cells), np.arange(indices.size)
    latest = np.zeros(math.prod(indices.shape[:2]) * cells + 1, np.int64)
    latest[flat] = order
    return (latest[flat] == order).reshape(indices.shape) & (indices >= 0)


def _unpooled_sizes(
    x: TensorType, kernel: Any, stride: Any, padding: Any, output_size: Any
) -> tuple[Size, ...]:
    """The sizes before pooling: as given, or the smallest that pooling maps to those of ``x``."""
    where = "max_unpool"
    axes = spatial_axes(where, x)
    kernel = per_axis(where, "kernel", kernel, axes, 1)
    moving = window_attrs(where, axes, kernel, kernel if stride is None else stride, padding, 1)
    if output_size is not None:
        return sizes_per_axis(where, "output_size", output_size, x.shape[2:])
    columns = zip(x.shape[2:], kernel, moving["stride"], moving["padding"], strict=True)
    sizes = tuple(covered(n, k, s, 1) - before - after for n, k, s, (before, after) in columns)
    if any(isinstance(size, int) and size < 0 for size in sizes):
        raise ShapeError(where, "padding takes away more than there is", got=padding)
    return sizes


@composite
def max_unpool(
    x: Array,
    indices: Array,
    /,
    kernel: Any,
    *,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Any:
    """Planes of zeros with the maxima put back where `max_pool_with_indices` found them.

    Where two windows found one cell, the later value stays, and it alone has a derivative.

    Args:
        x: values (N, C, *sizes), of any element type.
        indices: integers of the same shape: positions in the flattened plane; -1 is nowhere.
        kernel, stride, padding: those of the pooling.
        output_size: the sizes before the pooling, one per axis; if None, a size becomes
            ``(size - 1)*stride + kernel - before - after``.
    Raises:
        ShapeError: shapes differ, or an attribute is out of range. DTypeError: indices are not
        integers. IndexError: an index is outside its plane, when it runs.

    >>> import symgrad as sg
    >>> values, indices = sg.max_pool_with_indices(sg.asarray([[[1.0, 3.0, 2.0, 5.0]]]), 2)
    >>> sg.max_unpool(values, indices, 2)
    Tensor([[[0., 3., 0., 5.]]])
    """
    x, indices = ops.asarray(x), ops.asarray(indices)
    shape = _unpooled_sizes(x.type, kernel, stride, padding, output_size)
    _require_same_sizes("max_unpool", x.type, indices.type)
    take_constraints()  # `pool_scatter` states them
    stays = last_in_plane(indices, shape=shape)
    return pool_scatter(ops.where(stays, x, ops.zeros_like(x)), indices, shape=shape)
