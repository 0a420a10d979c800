"""Reading and writing at positions that are data: gather, scatter, and their kin.

A *layout* says how numpy's index expression is put together: one entry per axis of the array, in
order, ``"new"`` where an axis is inserted, and ``"rest"`` for an ellipsis that stands for no axis.
An entry of an axis is ``"index"`` (the next index array), a position, or a canonical slice
``(start, stop, step)``. `gather_at` reads there, `scatter_add_at` sums into zeros there (each the
other's transpose), `scatter_set_at` overwrites.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.errors import DTypeError, ShapeError
from symgrad.ir.op import ZERO, no_derivative, ops
from symgrad.ops.families import Array, linear, nondifferentiable, selection
from symgrad.ops.half import working_dtype
from symgrad.ops.slicing import axis_slice, fits, slice_length
from symgrad.types import (
    Size,
    TensorType,
    broadcast_shapes,
    is_integer,
    promote,
)

Layout = tuple[Any, ...]
MARKS = ("new", "rest")
"""What may stand in a layout besides one entry per axis."""
NOT_DIFFERENTIATED = no_derivative("an index is not differentiated")


# --- types ----------------------------------------------------------------------------------------


def require_integers(where: str, indices: Sequence[TensorType]) -> None:
    """Refuse index arrays of other element types."""
    for kind in indices:
        if not is_integer(kind.dtype):
            raise DTypeError(where, "element type of an index", expected="integer", got=kind.dtype)


def region_shape(where: str, layout: Layout, indices: Sequence[TensorType]) -> tuple[Size, ...]:
    """The shape of what an index expression takes, by numpy's rule.

    The axes of the index arrays, broadcast together, stand where the first of them stood, or in
    front if a slice or a new axis lies between two of them.
    """
    require_integers(where, indices)
    advanced = [k for k, entry in enumerate(layout) if _is_advanced(entry)] if indices else []
    together = advanced == list(range(advanced[0], advanced[-1] + 1)) if advanced else True
    broadcast = broadcast_shapes(where, *(kind.shape for kind in indices))
    shape: list[Size] = [] if together else [*broadcast]
    for k, entry in enumerate(layout):
        if advanced and together and k == advanced[0]:
            shape += broadcast
        if entry == "new":
            shape.append(1)
        elif isinstance(entry, tuple):
            shape.append(slice_length(entry))
    return tuple(shape)


def _is_advanced(entry: Any) -> bool:
    """Whether numpy counts an entry among the index arrays, once there is one."""
    return entry not in MARKS and not isinstance(entry, tuple)


def _gather_type(types: list[TensorType], *, layout: Layout, unique: bool) -> TensorType:
    axes = sum(entry not in MARKS for entry in layout)
    if axes != types[0].ndim:
        raise ShapeError(
            "gather_at", "layout has one entry per axis", expected=types[0].ndim, got=axes
        )
    return TensorType(region_shape("gather_at", layout, types[1:]), types[0].dtype)


def _stretches(where: str, values: Sequence[Size], region: Sequence[Size]) -> None:
    """Require that values broadcast to the place they are written to."""
    if len(values) > len(region):
        raise ShapeError(
            where, "more axes than the place", expected=tuple(region), got=tuple(values)
        )
    kept = region[len(region) - len(values) :]
    fits(
        where, [want if have == 1 else have for have, want in zip(values, kept, strict=True)], kept
    )


def _scatter_add_type(
    types: list[TensorType], *, shape: Any, layout: Layout, unique: bool
) -> TensorType:
    _stretches("scatter_add_at", types[0].shape, region_shape("scatter_add_at", layout, types[1:]))
    return TensorType(shape, types[0].dtype)


def _scatter_set_type(types: list[TensorType], *, layout: Layout, unique: bool) -> TensorType:
    x, values = types[:2]
    _stretches("scatter_set_at", values.shape, region_shape("scatter_set_at", layout, types[2:]))
    return TensorType(x.shape, promote(x.dtype, values.dtype))


def _last_writes_type(types: list[TensorType], *, shape: Any, layout: Layout) -> TensorType:
    return TensorType(region_shape("last_writes", layout, types), bool)


# --- kernels --------------------------------------------------------------------------------------


def numpy_key(layout: Layout, indices: Sequence[Any]) -> tuple[Any, ...]:
    """The index expression that numpy understands."""
    following = iter(indices)
    key: list[Any] = []
    for entry in layout:
        if entry == "index":
            key.append(next(following))
        elif entry == "new":
            key.append(None)
        elif entry == "rest":
            key.append(Ellipsis)
        else:
            key.append(axis_slice(*entry) if isinstance(entry, tuple) else entry)
    return tuple(key)


def flat_positions(shape: tuple[int, ...], key: tuple[Any, ...]) -> Any:
    """Where in the flattened array an index expression points."""
    positions: Any = np.arange(np.prod(shape, dtype=np.intp)).reshape(shape)
    return np.asarray(positions[key])


# --- gather and scatter ---------------------------------------------------------------------------


def _gather_transpose(ct: Any, x: Any, *indices: Any, layout: Layout, unique: bool) -> Any:
    return scatter_add_at([ct, *indices], shape=x.shape, layout=layout, unique=unique)


def _scatter_add_transpose(
    ct: Any, values: Any, *indices: Any, shape: Any, layout: Layout, unique: bool
) -> Any:
    return gather_at([ct, *indices], layout=layout, unique=unique)


@linear(
    type=_gather_type,
    transpose=_gather_transpose,
    warns=False,
    view=True,
    namespace=None,
)
def gather_at(
    operands: Sequence[Array], /, *, layout: tuple[Any, ...], unique: bool = False
) -> Array:
    """Read an array at an index expression with index arrays, as numpy does.

    Args:
        operands: the array, then the index arrays, whose shapes broadcast together. Negative
            indices count from the end.
        layout: the index expression's entries; see the module.
        unique: promises that no position is read twice, which makes the transpose faster.
    Raises:
        DTypeError: an index is not of integers. IndexError: an index is out of range, when it runs.

    >>> import symgrad as sg
    >>> gather_at([sg.asarray([1.0, 2.0, 3.0]), sg.asarray([2, 2, 0])], layout=("index",))
    Tensor([3., 3., 1.])
    """
    return operands[0][numpy_key(layout, operands[1:])]


@linear(
    type=_scatter_add_type,
    transpose=_scatter_add_transpose,
    warns=False,
    namespace=None,
)
def scatter_add_at(
    operands: Sequence[Array],
    /,
    *,
    shape: tuple[Any, ...],
    layout: tuple[Any, ...],
    unique: bool = False,
) -> Array:
    """Zeros of ``shape``, with values added at an index expression: the transpose of `gather_at`.

    Values for one position accumulate; booleans are or-ed.

    Args:
        operands: the values, whose shape broadcasts to what the expression takes, then the indices.
        shape: the shape of the result.
        layout, unique: as for `gather_at`.

    >>> import symgrad as sg
    >>> values, index = sg.asarray([1.0, 2.0, 4.0]), sg.asarray([2, 2, 0])
    >>> scatter_add_at([values, index], shape=(3,), layout=("index",))
    Tensor([4., 0., 3.])
    """
    values, key = operands[0], numpy_key(layout, operands[1:])
    whole = np.zeros(shape, values.dtype if unique else working_dtype(values.dtype))
    if unique:
        whole[key] = values
    else:
        np.add.at(whole, key, values)
    return whole.astype(values.dtype, copy=False)


def _scatter_set_vjp(i: int, ct: Any, y: Any, args: Sequence[Any], attrs: dict[str, Any]) -> Any:
    if i > 1:
        return NOT_DIFFERENTIATED
    indices, layout, unique = args[2:], attrs["layout"], attrs["unique"]
    if i == 0:
        nothing = ops.zeros_like(args[1], dtype=ct.dtype)
        return scatter_set_at([ct, nothing, *indices], layout=layout, unique=unique)
    gathered = gather_at([ct, *indices], layout=layout, unique=unique)
    return gathered if unique else ops.where(_winners(args, layout), gathered, 0)


def _winners(args: Sequence[Any], layout: Layout) -> Any:
    """Which of the values written are still there; a position may be written twice."""
    return last_writes(args[2:], shape=args[0].shape, layout=layout)


def _scatter_set_jvp(
    tangents: Sequence[Any], y: Any, args: Sequence[Any], attrs: dict[str, Any]
) -> Any:
    if tangents[0] is ZERO and tangents[1] is ZERO:
        return ZERO
    dense = [
        ops.zeros_like(a) if t is ZERO else t for t, a in zip(tangents[:2], args[:2], strict=True)
    ]
    return scatter_set_at([*dense, *args[2:]], **attrs)


def _scatter_set_guard(
    i: int, predicate: Any, y: Any, args: Sequence[Any], attrs: dict[str, Any]
) -> Any:
    return _scatter_set_vjp(i, predicate, y, args, {**attrs, "unique": True})


@selection(
    type=_scatter_set_type,
    vjp=_scatter_set_vjp,
    jvp=_scatter_set_jvp,
    guard=_scatter_set_guard,
    promotes=(0, 1),
    warns=False,
    namespace=None,
)
def scatter_set_at(
    operands: Sequence[Array], /, *, layout: tuple[Any, ...], unique: bool = False
) -> Array:
    """A copy of an array with values written at an index expression; the last write wins.

    Args:
        operands: the array, the values, which broadcast to what the expression takes, the indices.
        layout: as for `gather_at`.
        unique: promises that no position is written twice.

    >>> import symgrad as sg
    >>> x, v, index = sg.asarray([1.0, 2.0, 3.0]), sg.asarray([7.0, 8.0]), sg.asarray([2, 2])
    >>> scatter_set_at([x, v, index], layout=("index",))
    Tensor([1., 2., 8.])
    """
    x, values, *indices = operands
    whole = np.array(x, np.result_type(x.dtype, values.dtype))
    # numpy writes in the order in which the indices lie in memory.
    whole[numpy_key(layout, [np.asarray(index, order="C") for index in indices])] = values
    return whole


@nondifferentiable(type=_last_writes_type, reason="boolean output", warns=False, namespace=None)
def last_writes(
    indices: Sequence[Array], /, *, shape: tuple[Any, ...], layout: tuple[Any, ...]
) -> Array:
    """For each value that `scatter_set_at` writes, whether no later one overwrites it.

    >>> import symgrad as sg
    >>> last_writes([sg.asarray([2, 2, 0])], shape=(3,), layout=("index",))
    Tensor([False,  True,  True])
    """
    positions = flat_positions(shape, numpy_key(layout, indices))
    order = np.arange(positions.size).reshape(positions.shape)
    latest = np.zeros(np.prod(shape, dtype=np.intp), np.intp)
    latest[positions.reshape(-1)] = order.reshape(-1)
    return latest[positions] == order
