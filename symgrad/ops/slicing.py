"""Positions and slices that are known while the graph is built, and their transposes.

`slice_axes` cuts every axis at once, `pick` takes one position of some axes; `unslice` and `unpick`
write a cotangent back into zeros. Each is the other's transpose, so all orders are covered.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, OutOfRange, ShapeError
from symgrad.ops.families import Array, linear
from symgrad.types import Size, TensorType, ceil_div, max_size, min_size, require_equal

Slice = tuple[Size, "Size | None", int]
"""Start, stop and step in absolute positions; a stop of None is the front, for a negative step."""


def canonical_slice(start: Any, stop: Any, step: Any, size: Size) -> Slice:
    """The one form of a slice of an axis: ``range(start, stop, step)`` without wrapping.

    A ``Dim`` among the bounds is taken as final. Idempotent.

    >>> canonical_slice(-3, None, None, 5), canonical_slice(None, None, -2, 5)
    ((2, 5, 1), (4, None, -2))
    >>> canonical_slice(4, 2, 1, 5)
    (0, 0, 1)
    """
    step = 1 if step is None else step
    if not isinstance(step, int) or step == 0:
        raise ArgumentError("slice", "a step is a non-zero int", got=repr(step))
    least: Size = 0 if step > 0 else -1
    most = size + least
    if start is None:
        start = 0 if step > 0 else most
    start = _bound(start, size, least, most)
    if stop is None and step > 0:
        stop = most
    stop = None if stop is None else _bound(stop, size, least, most)
    if isinstance(stop, int) and stop < 0:
        stop = None
    length = slice_length((start, stop, step))
    if length == 0:
        return (0, 0, 1)
    if length == 1 and isinstance(start, int):
        return (start, start + 1, 1)
    if isinstance(length, int) and isinstance(start, int) and isinstance(stop, int):
        # Stop right after the last element: equal slices then are the same symbol.
        stop = start + (length - 1) * step + (1 if step > 0 else -1)
        return (start, stop if stop >= 0 else None, step)
    return (start, stop, step)


def _bound(bound: Any, size: Size, least: Size, most: Size) -> Size:
    """A bound counted from the front, inside the axis."""
    if not isinstance(bound, int):
        return bound
    return max_size(bound + size, least) if bound < 0 else min_size(bound, most)


def slice_length(cut: Slice) -> Size:
    """How many elements a canonical slice takes."""
    start, stop, step = cut
    if step > 0:
        assert stop is not None
        return ceil_div(max_size(stop - start, 0), step)
    return ceil_div(max_size(start - (-1 if stop is None else stop), 0), -step)


def sliced_shape(where: str, shape: Sequence[Size], cuts: Sequence[Slice]) -> tuple[Size, ...]:
    """The shape of an array of ``shape`` cut by one canonical slice per axis."""
    if len(cuts) != len(shape):
        raise ShapeError(where, "one slice per axis", expected=len(shape), got=len(cuts))
    return tuple(slice_length(cut) for cut in cuts)


def _canonical_slices(where: str, shape: Sequence[Size], attrs: dict[str, Any]) -> dict[str, Any]:
    starts, stops, steps = attrs["starts"], attrs["stops"], attrs["steps"]
    if not len(starts) == len(stops) == len(steps) == len(shape):
        raise ShapeError(
            where,
            "starts, stops and steps have one entry per axis",
            expected=len(shape),
            got=f"{len(starts)}, {len(stops)}, {len(steps)}",
        )
    cuts = [canonical_slice(*cut) for cut in zip(starts, stops, steps, shape, strict=True)]
    starts, stops, steps = (tuple(cut[k] for cut in cuts) for k in range(3))
    return {**attrs, "starts": starts, "stops": stops, "steps": steps}


def axis_slice(start: int, stop: int | None, step: int) -> slice:
    """A canonical slice as Python's, which would count negative bounds from the end."""
    if step > 0:
        return slice(start, stop, step)
    if start < 0:
        return slice(0, 0, step)
    return slice(start, None if stop is None or stop < 0 else stop, step)


def _slice_axes_type(x: TensorType, *, starts: Any, stops: Any, steps: Any) -> TensorType:
    cuts = list(zip(starts, stops, steps, strict=True))
    return TensorType(sliced_shape("slice_axes", x.shape, cuts), x.dtype)


def _unslice_type(ct: TensorType, *, shape: Any, starts: Any, stops: Any, steps: Any) -> TensorType:
    cuts = list(zip(starts, stops, steps, strict=True))
    fits("unslice", ct.shape, sliced_shape("unslice", shape, cuts))
    return TensorType(shape, ct.dtype)


def fits(where: str, shape: Sequence[Size], wanted: Sequence[Size]) -> None:
    """Require that an operand has the shape of the place it is written to."""
    if len(shape) != len(wanted):
        raise ShapeError(where, "shapes differ", expected=tuple(wanted), got=tuple(shape))
    for axis, (have, want) in enumerate(zip(shape, wanted, strict=True)):
        require_equal(want, have, where, f"sizes of axis {axis}")


def _slice_axes_normalize(types: Sequence[TensorType], attrs: dict[str, Any]) -> dict[str, Any]:
    return _canonical_slices("slice_axes", types[0].shape, attrs)


def _unslice_normalize(types: Sequence[TensorType], attrs: dict[str, Any]) -> dict[str, Any]:
    return _canonical_slices("unslice", attrs["shape"], attrs)


def _slice_axes_transpose(ct: Any, x: Any, *, starts: Any, stops: Any, steps: Any) -> Any:
    return unslice(ct, shape=x.shape, starts=starts, stops=stops, steps=steps)


def _unslice_transpose(ct: Any, x: Any, *, shape: Any, starts: Any, stops: Any, steps: Any) -> Any:
    return slice_axes(ct, starts=starts, stops=stops, steps=steps)


@linear(
    type=_slice_axes_type,
    transpose=_slice_axes_transpose,
    normalize=_slice_axes_normalize,
    warns=False,
    view=True,
    namespace=None,
)
def slice_axes(
    x: Array, /, *, starts: tuple[Any, ...], stops: tuple[Any, ...], steps: tuple[int, ...]
) -> Array:
    """Cut every axis, as ``x[start:stop:step, ...]`` does.

    Args:
        x: an array of any element type.
        starts, stops, steps: one entry per axis. Ints and None mean what they mean in a Python
            slice; a ``Dim`` is an absolute position with 0 <= start <= stop <= size.
    Raises:
        ShapeError: not one entry per axis. ArgumentError: a step is 0.

    >>> import symgrad as sg
    >>> slice_axes(sg.asarray([1.0, 2.0, 3.0, 4.0]), starts=(1,), stops=(None,), steps=(2,))
    Tensor([2., 4.])
    """
    return x[(*map(axis_slice, starts, stops, steps), ...)]


@linear(
    type=_unslice_type,
    transpose=_unslice_transpose,
    normalize=_unslice_normalize,
    warns=False,
    namespace=None,
)
def unslice(
    ct: Array,
    /,
    *,
    shape: tuple[Any, ...],
    starts: tuple[Any, ...],
    stops: tuple[Any, ...],
    steps: tuple[int, ...],
) -> Array:
    """Zeros of ``shape`` with ``ct`` written at a slice of it: the transpose of `slice_axes`.

    Args:
        ct: an array of the slice's shape.
        shape: the shape of the result.
        starts, stops, steps: as for `slice_axes`, on an array of ``shape``.
    Raises:
        ShapeError: ``ct`` does not have the slice's shape.

    >>> import symgrad as sg
    >>> unslice(sg.asarray([2.0, 4.0]), shape=(4,), starts=(1,), stops=(None,), steps=(2,))
    Tensor([0., 2., 0., 4.])
    """
    whole = np.zeros(shape, ct.dtype)
    whole[(*map(axis_slice, starts, stops, steps), ...)] = ct
    return whole


# --- single positions -----------------------------------------------------------------------------


def _picked_shape(where: str, shape: Sequence[Size], positions: Any) -> tuple[Size, ...]:
    if len(positions) != len(shape):
        raise ShapeError(
            where, "one position or None per axis", expected=len(shape), got=len(positions)
        )
    return tuple(size for size, position in zip(shape, positions, strict=True) if position is None)


def _canonical_positions(
    where: str, shape: Sequence[Size], attrs: dict[str, Any]
) -> dict[str, Any]:
    positions = tuple(
        position if position is None else in_range(where, position, size, axis)
        for axis, (position, size) in enumerate(zip(attrs["positions"], shape, strict=False))
    )
    rest = attrs["positions"][len(shape) :]
    return {**attrs, "positions": (*positions, *rest)}


def in_range(where: str, position: Any, size: Size, axis: int) -> Any:
    """A position counted from the front, where the size is known.

    Raises:
        OutOfRange: it lies outside the axis.
    """
    if not isinstance(position, int) or not isinstance(size, int):
        return position
    if not -size <= position < size:
        raise OutOfRange(
            where,
            f"index out of range on axis {axis}",
            expected=f"-{size} to {size - 1}" if size else "none, for an axis of size 0",
            got=position,
        )
    return position + size if position < 0 else position


def _pick_normalize(types: Sequence[TensorType], attrs: dict[str, Any]) -> dict[str, Any]:
    return _canonical_positions("pick", types[0].shape, attrs)


def _unpick_normalize(types: Sequence[TensorType], attrs: dict[str, Any]) -> dict[str, Any]:
    return _canonical_positions("unpick", attrs["shape"], attrs)


def _pick_transpose(ct: Any, x: Any, *, positions: Any) -> Any:
    return unpick(ct, shape=x.shape, positions=positions)


def _unpick_transpose(ct: Any, x: Any, *, shape: Any, positions: Any) -> Any:
    return pick(ct, positions=positions)


def _pick_type(x: TensorType, *, positions: Any) -> TensorType:
    return TensorType(_picked_shape("pick", x.shape, positions), x.dtype)


def _unpick_type(ct: TensorType, *, shape: Any, positions: Any) -> TensorType:
    fits("unpick", ct.shape, _picked_shape("unpick", shape, positions))
    return TensorType(shape, ct.dtype)


@linear(
    type=_pick_type,
    transpose=_pick_transpose,
    normalize=_pick_normalize,
    warns=False,
    view=True,
    namespace=None,
)
def pick(x: Array, /, *, positions: tuple[Any, ...]) -> Array:
    """One position of some axes, which disappear, as ``x[2, :]`` does.

    Args:
        x: an array of any element type.
        positions: per axis a position (negative ones count from the end), or None for all of it.
    Raises:
        OutOfRange: a position lies outside its axis; at once where the size is known.

    >>> import symgrad as sg
    >>> pick(sg.asarray([[1.0, 2.0], [3.0, 4.0]]), positions=(None, -1))
    Tensor([2., 4.])
    """
    return x[(*[slice(None) if p is None else p for p in positions], ...)]


@linear(
    type=_unpick_type,
    transpose=_unpick_transpose,
    normalize=_unpick_normalize,
    warns=False,
    namespace=None,
)
def unpick(ct: Array, /, *, shape: tuple[Any, ...], positions: tuple[Any, ...]) -> Array:
    """Zeros of ``shape`` with ``ct`` written at one position: the transpose of `pick`.

    >>> import symgrad as sg
    >>> unpick(sg.asarray([2.0, 4.0]), shape=(2, 2), positions=(None, 1))
    Tensor([[0., 2.],
            [0., 4.]])
    """
    whole = np.zeros(shape, ct.dtype)
    whole[(*[slice(None) if p is None else p for p in positions], ...)] = ct
    return whole
