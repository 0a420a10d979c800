"""Indexing by Python's brackets: reading, and writing into a copy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.errors import DTypeError
from symgrad.ir.op import ops
from symgrad.ops.families import Array, composite
from symgrad.ops.gather import MARKS, gather_at, last_writes, scatter_add_at, scatter_set_at
from symgrad.ops.keys import Place, is_unknown_mask, place_of
from symgrad.ops.slicing import pick, slice_axes, unpick, unslice
from symgrad.ops.take import add_along_axis, take, take_along_axis
from symgrad.types import promote

__all__ = [
    "add_along_axis",
    "add_at",
    "gather_at",
    "getitem",
    "last_writes",
    "pick",
    "scatter_add_at",
    "scatter_set_at",
    "set_at",
    "slice_axes",
    "take",
    "take_along_axis",
    "unpick",
    "unslice",
]


@composite
def getitem(x: Array, key: Any, /) -> Any:
    """``x[key]``, with numpy's meaning of the key.

    Args:
        x: an array.
        key: ints, slices, None, ``...``, integer arrays and boolean masks (both may be symbols), or
            a tuple of these. A mask that is a symbol gives an axis whose size only running tells.
    Raises:
        OutOfRange: too many indices, or an index outside its axis (at once where both are known,
            else IndexError when it runs). DTypeError: an index array of another element type.
        TraceError: the bound of a slice is a symbol.

    >>> import symgrad as sg
    >>> x = sg.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    >>> x[1, ::-1], x[:, [2, 0]]
    (Tensor([6., 5., 4.]), Tensor([[3., 1.],
            [6., 4.]]))
    """
    place = place_of("getitem", x, key)
    x = _with_known_sizes(x, place)
    if not place.indices:
        return _read_basic(x, place.layout)
    only = _only_index(x, place)
    if only is not None and not place.unique:
        return take(x, place.indices[0], axis=only)
    return gather_at([x, *place.indices], layout=tuple(place.layout), unique=place.unique)


def _with_known_sizes(x: Any, place: Place) -> Any:
    """Record that a mask fixes the sizes of named axes."""
    if not place.known_sizes:
        return x
    return ops.broadcast_to(
        x, tuple(place.known_sizes.get(k, size) for k, size in enumerate(x.shape))
    )


def _read_basic(x: Any, layout: Sequence[Any]) -> Any:
    """Read at positions, slices and new axes: by at most one op for each of the three."""
    on_axes = [entry for entry in layout if entry not in MARKS]
    positions = tuple(None if isinstance(entry, tuple) else entry for entry in on_axes)
    if any(position is not None for position in positions):
        x = pick(x, positions=positions)
    cuts: list[Any] = [entry for entry in on_axes if isinstance(entry, tuple)]
    if any(cut != (0, size, 1) for cut, size in zip(cuts, x.shape, strict=True)):
        starts, stops, steps = zip(*cuts, strict=True)
        x = slice_axes(x, starts=starts, stops=stops, steps=steps)
    if "new" not in layout:
        return x
    sizes = iter(x.shape)
    kept = [entry for entry in layout if entry == "new" or isinstance(entry, tuple)]
    return ops.reshape(x, tuple(1 if entry == "new" else next(sizes) for entry in kept))


def _only_index(x: Any, place: Place) -> int | None:
    """The axis, if the key is one index array and whole axes."""
    if len(place.indices) != 1 or len(place.layout) != x.ndim:
        return None
    axis = place.layout.index("index")
    whole = (
        k == axis or entry == (0, size, 1)
        for k, (entry, size) in enumerate(zip(place.layout, x.shape, strict=True))
    )
    return axis if all(whole) else None


@composite
def set_at(x: Array, key: Any, values: Array, /) -> Any:
    """A copy of ``x`` in which ``x[key]`` has been set.

    Where a position occurs twice in the key, the last value is kept, and has the derivative.

    Args:
        x: an array.
        key: as for `getitem`.
        values: broadcast to the shape of ``x[key]``, and cast to the element type of ``x``.
    Raises:
        OutOfRange, TraceError: as `getitem`. ShapeError: values do not broadcast.
        DTypeError: values of a wider kind of numbers.

    >>> import symgrad as sg
    >>> sg.set_at(sg.asarray([1.0, 2.0, 3.0]), slice(0, 2), 7.0)
    Tensor([7., 7., 3.])
    """
    values = in_type_of("set_at", x, values)
    if _selects_evenly(x, key, values):
        return ops.where(_mask_over(x, key), values, x)
    place = place_of("set_at", x, key)
    x = _with_known_sizes(x, place)
    return scatter_set_at(
        [x, values, *place.indices], layout=tuple(place.layout), unique=place.unique
    )


@composite
def add_at(x: Array, key: Any, values: Array, /) -> Any:
    """A copy of ``x`` in which ``values`` have been added to ``x[key]``.

    Where a position occurs twice in the key, both values are added.

    Args:
        x, key, values: as for `set_at`.
    Raises:
        As `set_at`.

    >>> import symgrad as sg
    >>> sg.add_at(sg.asarray([1.0, 2.0, 3.0]), [0, 0], sg.asarray([10.0, 20.0]))
    Tensor([31.,  2.,  3.])
    """
    values = in_type_of("add_at", x, values)
    if _selects_evenly(x, key, values):
        return x + ops.where(_mask_over(x, key), values, 0)
    place = place_of("add_at", x, key)
    x = _with_known_sizes(x, place)
    added = scatter_add_at(
        [values, *place.indices], shape=x.shape, layout=tuple(place.layout), unique=place.unique
    )
    return x + added


def in_type_of(where: str, x: Any, values: Any) -> Any:
    """The values in the element type of ``x``, if they are of no wider kind."""
    if isinstance(values, (bool, int, float, complex)):
        if not np.can_cast(promote(x.dtype, values), x.dtype, "same_kind"):
            raise _wider(where, x, repr(values))
        return ops.full((), values, dtype=x.dtype)
    values = values if hasattr(values, "dtype") else ops.asarray(values)
    if not np.can_cast(values.dtype, x.dtype, "same_kind"):
        raise _wider(where, x, values.dtype)
    return values if values.dtype == x.dtype else ops.astype(values, x.dtype)


def _wider(where: str, x: Any, got: Any) -> DTypeError:
    return DTypeError(
        where, "values of a wider kind", expected=x.dtype, got=got, hint="cast by sg.astype"
    )


def _selects_evenly(x: Any, key: Any, values: Any) -> bool:
    """Whether a mask without a value gets the same values for whatever it selects."""
    return is_unknown_mask(key) and values.ndim <= x.ndim - key.ndim


def _mask_over(x: Any, mask: Any) -> Any:
    """A mask, stretched over the axes of ``x`` that follow its own."""
    return ops.reshape(mask, (*mask.shape, *(1,) * (x.ndim - mask.ndim)))
