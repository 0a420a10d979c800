"""Reading along one axis at positions that are data: take, take_along_axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.errors import ShapeError
from symgrad.ir.op import ops
from symgrad.ops.families import Array, linear
from symgrad.ops.gather import Layout, require_integers, scatter_add_at
from symgrad.ops.half import working_dtype
from symgrad.ops.slicing import fits
from symgrad.types import Size, TensorType, broadcast_shapes, normalize_axis


def _take_axis(types: list[TensorType], attrs: dict[str, Any]) -> dict[str, Any]:
    x = types[0]
    if attrs["axis"] is None and x.ndim != 1:
        raise ShapeError("take", "axis may be left out only for one axis", expected="1 axis", got=x)
    return {"axis": normalize_axis(0 if attrs["axis"] is None else attrs["axis"], x.ndim, "take")}


def _take_type(x: TensorType, indices: TensorType, *, axis: int) -> TensorType:
    require_integers("take", [indices])
    return TensorType((*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]), x.dtype)


def _take_transpose(ct: Any, x: Any, indices: Any, *, axis: int) -> Any:
    return scatter_add_at([ct, indices], shape=x.shape, layout=along(axis, x.shape))


def along(axis: int, shape: Sequence[Size]) -> Layout:
    """The layout of an index array on one axis, all of the others."""
    return tuple("index" if k == axis else (0, size, 1) for k, size in enumerate(shape))


@linear(
    type=_take_type,
    transpose=_take_transpose,
    normalize=_take_axis,
    warns=False,
)
def take(x: Array, indices: Array, /, *, axis: int | None = None) -> Array:
    """The slices of ``x`` at ``indices`` of one axis.

    Args:
        x: an array of at least one axis.
        indices: integers of any shape, which replaces the axis; negative ones count from the end.
        axis: which axis; may be left out if ``x`` has only one.
    Raises:
        DTypeError: indices are not integers. ShapeError: no such axis.
        IndexError: an index is out of range, when it runs.

    >>> import symgrad as sg
    >>> sg.take(sg.asarray([1.0, 2.0, 3.0]), sg.asarray([2, 0]))
    Tensor([3., 1.])
    """
    return np.take(x, np.asarray(indices, np.intp), axis=axis)


def _take_along_axis_transpose(ct: Any, x: Any, indices: Any, *, axis: int) -> Any:
    # One index per line of ``x``, and no line twice: nothing has to be added up.
    lines = (*indices.shape[:axis], 1, *indices.shape[axis + 1 :])
    unique = indices.shape == lines == (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    return add_along_axis(ct, indices, shape=x.shape, axis=axis, unique=unique)


def _add_along_axis_transpose(
    ct: Any, values: Any, indices: Any, *, shape: Any, axis: int, unique: bool
) -> Any:
    return take_along_axis(ct, indices, axis=axis)


def _along_axis(types: list[TensorType], attrs: dict[str, Any]) -> dict[str, Any]:
    return {"axis": normalize_axis(attrs["axis"], types[0].ndim, "take_along_axis")}


def _taken_along(
    where: str, shape: Sequence[Size], indices: TensorType, axis: int
) -> tuple[Size, ...]:
    require_integers(where, [indices])
    if len(shape) != indices.ndim:
        raise ShapeError(where, "numbers of axes differ", expected=len(shape), got=indices)
    others = (*shape[:axis], 1, *shape[axis + 1 :])
    return broadcast_shapes(where, others, indices.shape)


def _take_along_axis_type(x: TensorType, indices: TensorType, *, axis: int) -> TensorType:
    return TensorType(_taken_along("take_along_axis", x.shape, indices, axis), x.dtype)


def _add_along_axis_type(
    values: TensorType, indices: TensorType, *, shape: Any, axis: int, unique: bool
) -> TensorType:
    fits("add_along_axis", values.shape, _taken_along("add_along_axis", shape, indices, axis))
    return TensorType(shape, values.dtype)


@linear(
    type=_take_along_axis_type,
    transpose=_take_along_axis_transpose,
    normalize=_along_axis,
    warns=False,
)
def take_along_axis(x: Array, indices: Array, /, *, axis: int = -1) -> Array:
    """Per line of ``x`` along one axis, the elements at that line's ``indices``.

    Args:
        x: an array of at least one axis.
        indices: integers, with as many axes as ``x``; the other axes broadcast with those of ``x``.
        axis: which axis.
    Raises:
        DTypeError: indices are not integers. ShapeError: shapes do not fit.
        IndexError: an index is out of range, when it runs.

    >>> import symgrad as sg
    >>> x = sg.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> sg.take_along_axis(x, sg.asarray([[1], [0]]), axis=1)
    Tensor([[2.],
            [3.]])
    """
    return np.take_along_axis(x, np.asarray(indices, np.intp), axis)


@linear(
    type=_add_along_axis_type,
    transpose=_add_along_axis_transpose,
    warns=False,
    namespace=None,
)
def add_along_axis(
    values: Array, indices: Array, /, *, shape: tuple[Any, ...], axis: int, unique: bool = False
) -> Array:
    """Zeros of ``shape`` with values added along one axis: the transpose of `take_along_axis`.

    Args:
        values: what is added, in the shape that `take_along_axis` gives.
        indices, axis: as for `take_along_axis`.
        shape: the shape of the result.
        unique: promises that no position is given twice, which is faster.

    >>> import symgrad as sg
    >>> values, indices = sg.asarray([[2.0, 5.0]]), sg.asarray([[1, 1]])
    >>> add_along_axis(values, indices, shape=(1, 3), axis=1)
    Tensor([[0., 7., 0.]])
    """
    whole = np.zeros(shape, values.dtype if unique else working_dtype(values.dtype))
    if unique:
        np.put_along_axis(whole, indices, values, axis)
    else:
        np.add.at(whole, along_key(indices, values.shape, shape, axis), values)
    return whole.astype(values.dtype, copy=False)


def along_key(
    indices: Array, taken: tuple[int, ...], shape: tuple[int, ...], axis: int
) -> tuple[Any, ...]:
    """The index expression for elements along one axis."""
    # On an axis along which the array was broadcast, every copy adds to its only position.
    grids: Any = np.ogrid[tuple(slice(0, size) for size in taken)]
    return tuple(indices if k == axis else grid % max(shape[k], 1) for k, grid in enumerate(grids))


# --- selections -----------------------------------------------------------------------------------


def _chosen_type(x: TensorType, indices: TensorType, *, axis: int, unique: bool) -> TensorType:
    require_integers("chosen_along", [indices])
    others = (*x.shape[:axis], indices.shape[axis], *x.shape[axis + 1 :])
    fits("chosen_along", indices.shape, others)
    return TensorType(indices.shape, x.dtype)


def _chosen_transpose(ct: Any, x: Any, indices: Any, *, axis: int, unique: bool) -> Any:
    return add_along_axis(ct, indices, shape=x.shape, axis=axis, unique=unique)


def _is_chosen(y: Any, x: Any, indices: Any, *, axis: int, unique: bool) -> Any:
    yes = ops.ones_like(indices, dtype=bool)
    return add_along_axis(yes, indices, shape=x.shape, axis=axis, unique=unique)


@linear(
    type=_chosen_type,
    transpose=_chosen_transpose,
    live=(_is_chosen, None),
    warns=False,
    namespace=None,
)
def chosen_along(x: Array, indices: Array, /, *, axis: int, unique: bool = False) -> Array:
    """`take_along_axis` of a selection by size: elements that are not chosen do not matter.

    Args:
        x: an array of at least one axis.
        indices: integers, in the shape of ``x`` but for the axis.
        axis: which axis.
        unique: promises that no element is chosen twice.

    >>> import symgrad as sg
    >>> chosen_along(sg.asarray([3.0, 1.0, 2.0]), sg.asarray([0, 2]), axis=0)
    Tensor([3., 2.])
    """
    return np.take_along_axis(x, indices, axis)
