"""What a key in brackets means: ints, slices, ``None``, ``...``, integer arrays, boolean masks.

A key is numpy's. It is brought into the layout of `symgrad.ops.gather` here, once: reading and
writing share that.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, DTypeError, OutOfRange, TraceError
from symgrad.ir.late import late
from symgrad.ir.op import ops
from symgrad.ir.symbol import CONSTANT, Symbol
from symgrad.ir.walk import reachable
from symgrad.ops.slicing import canonical_slice, in_range
from symgrad.types import Dim, Size, is_bool, is_integer, is_nonnegative, max_size, min_size


@dataclass(slots=True)
class Place:
    """What a key means on an array: the layout, the index arrays, and what follows from masks."""

    layout: list[Any] = field(default_factory=list[Any])
    indices: list[Any] = field(default_factory=list[Any])
    arrays: int = 0
    masks: int = 0
    known_sizes: dict[int, Size] = field(default_factory=dict[int, Size])
    """Axes of a named size that a mask fixes."""

    @property
    def unique(self) -> bool:
        """Whether no position can occur twice."""
        return self.arrays == 0 and self.masks <= 1


def place_of(where: str, x: Any, key: Any) -> Place:
    """Bring a key into layout form.

    Raises:
        OutOfRange: too many indices, or a known index outside its axis.
        DTypeError: an index array of neither integers nor booleans.
        TraceError: a mask, or the bound of a slice, that has no value yet.
    """
    entries = [_entry(where, one) for one in (key if isinstance(key, tuple) else (key,))]
    place = Place()
    axis = 0
    for entry in _filled(where, entries, x):
        if entry is None or entry is Ellipsis:
            place.layout.append("new" if entry is None else "rest")
            continue
        if _is_mask(entry):
            _place_mask(where, place, x, axis, entry)
            axis += entry.ndim
            continue
        place.layout.append(_on_axis(where, place, entry, x.shape[axis], axis))
        axis += 1
    return place


def _entry(where: str, value: Any) -> Any:
    """One entry of a key: None, Ellipsis, a slice, a position, an index array or a known mask."""
    if value is None or value is Ellipsis or isinstance(value, (slice, Dim)):
        return value
    if isinstance(value, (bool, np.bool_)):
        raise ArgumentError(
            where,
            "a single bool is no index",
            got=value,
            hint="use None for a new axis, or an array",
        )
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, list):
        # A list without elements says nothing of their type.
        value = np.asarray(value) if np.size(value) else np.asarray(value, np.intp)
    if isinstance(value, np.ndarray) and value.ndim == 0 and is_integer(value.dtype):
        return int(value)
    if not hasattr(value, "dtype"):
        raise DTypeError(
            where, "no such index", expected="ints, slices, None, ... or arrays", got=repr(value)
        )
    if is_bool(value.dtype):
        return _mask(where, value)
    if not is_integer(value.dtype):
        raise DTypeError(
            where, "element type of an index array", expected="integer or bool", got=value.dtype
        )
    return value


def _mask(where: str, mask: Any) -> Any:
    """A mask: its value, if it has one while the graph is built."""
    if mask.ndim == 0:
        raise ArgumentError(
            where, "a mask has at least one axis", got=mask, hint="use None for a new axis"
        )
    if is_unknown_mask(mask):
        return mask
    if isinstance(mask, Symbol):
        mask = mask.value if mask.op is CONSTANT else late.evaluate(mask)
    return np.asarray(mask.numpy() if hasattr(mask, "numpy") else mask)


def is_unknown_mask(key: Any) -> bool:
    """Whether a key is a boolean array that depends on more than constants."""
    if not isinstance(key, Symbol) or not is_bool(key.dtype):
        return False
    return any(not s.args and s.op is not CONSTANT for s in reachable([key]))


def _is_mask(entry: Any) -> bool:
    return hasattr(entry, "dtype") and is_bool(entry.dtype)


def _filled(where: str, entries: list[Any], x: Any) -> list[Any]:
    """The entries with the ellipsis, or the end, filled up with whole axes."""
    used = sum(
        entry.ndim if _is_mask(entry) else entry is not None
        for entry in entries
        if entry is not ...
    )
    if used > x.ndim:
        raise OutOfRange(
            where, "too many indices", expected=f"at most {x.ndim}, for {x.type}", got=used
        )
    rest: list[Any] = [slice(None)] * (x.ndim - used)
    gaps = [k for k, entry in enumerate(entries) if entry is ...]
    if len(gaps) > 1:
        raise OutOfRange(where, "more than one ellipsis in a key", expected="one", got=len(gaps))
    at = gaps[0] if gaps else len(entries)
    # An ellipsis that stands for no axis still separates index arrays, in numpy's eyes.
    return [*entries[:at], *(rest or entries[at : at + 1]), *entries[at + 1 :]]


def _on_axis(where: str, place: Place, entry: Any, size: Size, axis: int) -> Any:
    """The layout's entry for what a key says of one axis."""
    if isinstance(entry, slice):
        return canonical_slice(*_bounds(where, entry, size), size)
    if isinstance(entry, (int, Dim)):
        return in_range(where, entry, size, axis)
    value = entry.payload if isinstance(entry, Symbol) and entry.op is CONSTANT else entry
    if isinstance(value, np.ndarray) and value.size and isinstance(size, int):
        in_range(where, int(value.min()), size, axis)
        in_range(where, int(value.max()), size, axis)
    place.arrays += 1
    place.indices.append(entry)
    return "index"


def _bounds(where: str, cut: slice, size: Size) -> tuple[Any, Any, Any]:
    """The bounds of a slice, where a named size stands for a position inside the axis."""
    start, stop, step = (_bound(where, bound) for bound in (cut.start, cut.stop, cut.step))
    return _inside(start, size), _inside(stop, size), step


def _bound(where: str, bound: Any) -> Any:
    if bound is None or isinstance(bound, Dim):
        return bound
    if isinstance(bound, Symbol):
        raise TraceError(
            where,
            "the bounds of a slice must be known while the graph is built",
            got=repr(bound),
            hint="take positions by an integer array: x[start + sg.arange(length)]",
        )
    try:
        return operator.index(bound)
    except TypeError:
        raise ArgumentError(
            where, "the bound of a slice is an int or None", got=repr(bound)
        ) from None


def _inside(bound: Any, size: Size) -> Any:
    if not isinstance(bound, Dim):
        return bound
    if is_nonnegative(-bound):
        return max_size(size + bound, 0)
    bound = bound if is_nonnegative(bound) else max_size(bound, 0)
    return bound if is_nonnegative(size - bound) else min_size(bound, size)


def _place_mask(where: str, place: Place, x: Any, axis: int, mask: Any) -> None:
    """A mask is the index arrays of its true positions, one per axis that it covers."""
    covered = x.shape[axis : axis + mask.ndim]
    for k, (size, length) in enumerate(zip(covered, mask.shape, strict=True), axis):
        if size == length:
            continue
        if isinstance(size, Dim):
            place.known_sizes[k] = length
        elif isinstance(length, int):
            raise OutOfRange(
                where, f"mask does not fit axis {k}", expected=f"size {size}", got=mask.shape
            )
    place.masks += 1
    place.layout.extend(["index"] * mask.ndim)
    place.indices.extend(_true_positions(mask, covered))


def _true_positions(mask: Any, covered: Sequence[Size]) -> Sequence[Any]:
    if not isinstance(mask, Symbol):
        return np.nonzero(mask)
    # A named size of the mask is that of the axis; stretching says so.
    sizes = [
        length if isinstance(size, Dim) else size
        for size, length in zip(covered, mask.shape, strict=True)
    ]
    return ops.nonzero(mask if tuple(sizes) == mask.shape else ops.broadcast_to(mask, tuple(sizes)))
