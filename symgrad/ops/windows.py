"""Windows that slide over spatial axes: what convolution and pooling share.

A window of ``kernel`` cells, ``dilation`` apart, stands at every ``stride``-th cell of an axis that
is padded before and after.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from symgrad.errors import ArgumentError, ShapeError
from symgrad.ir.op import Attrs
from symgrad.ir.signature import canonical
from symgrad.ops.families import Array
from symgrad.types import Dim, Size, TensorType, min_size

Pair = tuple[Any, Any]

# --- attributes -----------------------------------------------------------------------------------


def spatial_axes(where: str, kind: TensorType, argument: str = "x") -> int:
    """How many axes follow batch and channel: one or more, or a ShapeError."""
    if kind.ndim < 3:
        raise ShapeError(
            where,
            f"{argument} needs a batch, a channel and one or more spatial axes",
            expected="3 or more axes",
            got=kind,
        )
    return kind.ndim - 2


def _entries(value: Any, axes: int) -> tuple[Any, ...]:
    """One entry per axis; a lone one stands for all of them."""
    value = canonical("", value)
    return cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (value,) * axes


def per_axis(where: str, name: str, value: Any, axes: int, least: int) -> tuple[int, ...]:
    """An attribute with one int per spatial axis; a lone int stands for all of them."""
    entries = _entries(value, axes)
    if len(entries) != axes or not all(type(entry) is int for entry in entries):
        raise ShapeError(
            where,
            f"{name} must be an int, or one int per spatial axis",
            expected=f"{axes} ints",
            got=repr(value),
        )
    if min(entries) < least:
        raise ShapeError(
            where, f"{name} is out of range", expected=f"at least {least}", got=repr(value)
        )
    return entries


def sizes_per_axis(
    where: str, name: str, value: Any, sizes: tuple[Size, ...], least: int = 0
) -> tuple[Size, ...]:
    """An attribute with one size per spatial axis; None keeps that of ``sizes``."""
    given = _entries(value, len(sizes))
    if len(given) != len(sizes) or not all(type(n) in (int, Dim, type(None)) for n in given):
        raise ShapeError(
            where,
            f"{name} must be a size, or one size per spatial axis",
            expected=f"{len(sizes)} sizes",
            got=repr(value),
        )
    if any(isinstance(n, int) and n < least for n in given):
        raise ShapeError(
            where, f"{name} is out of range", expected=f"at least {least}", got=repr(value)
        )
    return tuple(size if n is None else n for n, size in zip(given, sizes, strict=True))


def require_spatial(where: str, kind: TensorType) -> None:
    """Refuse an empty spatial axis."""
    if any(size == 0 for size in kind.shape[2:]):
        raise ShapeError(where, "x has an empty spatial axis", expected="at least 1", got=kind)


def padding_pairs(
    where: str,
    value: Any,
    kernel: tuple[Size, ...],
    stride: tuple[int, ...],
    dilation: tuple[int, ...],
) -> tuple[Pair, ...]:
    """Padding in its one form: ``(before, after)`` per spatial axis."""
    if isinstance(value, str):
        return _named_padding(where, value, kernel, stride, dilation)
    entries = _entries(value, len(kernel))
    if len(entries) != len(kernel):
        raise ShapeError(
            where,
            "padding must be an int, or one entry per spatial axis",
            expected=f"{len(kernel)} entries",
            got=repr(value),
        )
    return tuple(_padding_pair(where, entry) for entry in entries)


def _named_padding(
    where: str,
    name: str,
    kernel: tuple[Size, ...],
    stride: tuple[int, ...],
    dilation: tuple[int, ...],
) -> tuple[Pair, ...]:
    if name not in ("same", "valid"):
        raise ArgumentError(
            where, "unknown padding", expected="'same', 'valid', ints or pairs", got=repr(name)
        )
    if name == "valid":
        return ((0, 0),) * len(kernel)
    if any(step != 1 for step in stride):
        raise ArgumentError(
            where, "padding='same' needs stride 1", got=f"stride {stride}", hint="state the padding"
        )
    missing = [d * (k - 1) for k, d in zip(kernel, dilation, strict=True)]
    return tuple((total // 2, total - total // 2) for total in missing)


def _padding_pair(where: str, entry: Any) -> Pair:
    sizes = _entries(entry, 2)
    if len(sizes) != 2 or not all(type(size) in (int, Dim) for size in sizes):
        raise ShapeError(
            where, "padding of an axis must be an int or a pair (before, after)", got=repr(entry)
        )
    if type(entry) is int and entry < 0:
        raise ShapeError(
            where,
            "padding is negative",
            expected="0 or more",
            got=entry,
            hint="only a pair (before, after) may be negative: it crops",
        )
    return sizes[0], sizes[1]


def window_attrs(
    where: str, axes: int, kernel: tuple[Size, ...], stride: Any, padding: Any, dilation: Any
) -> Attrs:
    """How a kernel moves over an image: stride, padding and dilation in one form each."""
    stride = per_axis(where, "stride", stride, axes, 1)
    dilation = per_axis(where, "dilation", dilation, axes, 1)
    padding = padding_pairs(where, padding, kernel, stride, dilation)
    return {"stride": stride, "padding": padding, "dilation": dilation}


def pooling_attrs(where: str, axes: int, attrs: Attrs) -> Attrs:
    """Kernel, stride, padding and dilation in one form each."""
    kernel = per_axis(where, "kernel", attrs["kernel"], axes, 1)
    given = kernel if attrs["stride"] is None else attrs["stride"]
    moving = window_attrs(where, axes, kernel, given, attrs["padding"], attrs.get("dilation", 1))
    padding, dilation = moving["padding"], moving["dilation"]
    for axis, pair in enumerate(padding):
        half = (dilation[axis] * (kernel[axis] - 1) + 1) // 2
        if any(isinstance(amount, int) and not 0 <= amount <= half for amount in pair):
            raise ShapeError(
                where,
                f"padding is out of range on spatial axis {axis}",
                expected=f"0 to {half}, half the kernel",
                got=pair,
            )
    canonical = {"kernel": kernel, **moving}
    return {name: canonical.get(name, value) for name, value in attrs.items()}


# --- sizes ----------------------------------------------------------------------------------------


def window_count(
    where: str, axis: int, size: Size, kernel: Size, pad: Pair, stride: int, dilation: int
) -> Size:
    """How many places a dilated kernel has on a padded axis: at least one, or a ShapeError."""
    padded, extent = size + pad[0] + pad[1], dilation * (kernel - 1) + 1
    room = padded - extent
    if isinstance(room, int) and room < 0:
        raise ShapeError(
            where,
            f"the kernel is larger than the padded input on spatial axis {axis}",
            expected=f"at most {size} + {pad[0]} + {pad[1]} = {padded}",
            got=f"{kernel} (with dilation {dilation}: {extent})" if dilation > 1 else kernel,
        )
    return room // stride + 1


def window_counts(
    where: str, sizes: Any, kernel: Any, stride: Any, padding: Any, dilation: Any
) -> tuple[Size, ...]:
    """The same for every spatial axis."""
    columns = zip(sizes, kernel, padding, stride, dilation, strict=True)
    return tuple(window_count(where, axis, *column) for axis, column in enumerate(columns))


def covered(points: Size, kernel: Size, stride: int, dilation: int) -> Size:
    """The length that so many places of a kernel cover together."""
    return (points - 1) * stride + dilation * (kernel - 1) + 1


def extents(points: Any, kernel: Any, attrs: Attrs) -> tuple[Size, ...]:
    """The same for every spatial axis."""
    columns = zip(points, kernel, attrs["stride"], attrs["dilation"], strict=True)
    return tuple(covered(*column) for column in columns)


def exact_padding(sizes: Any, points: Any, kernel: Any, attrs: Attrs) -> tuple[Pair, ...]:
    """The padding with which the last place of the kernel ends where the padded axis ends.

    A stride may leave cells at the end unread; padding after the end is then less than was asked
    for, perhaps negative. With it, a convolution and its transpose give each other's sizes.
    """
    margins = [before for before, _ in attrs["padding"]]
    columns = zip(margins, extents(points, kernel, attrs), sizes, strict=True)
    return tuple((before, extent - before - size) for before, extent, size in columns)


def overhanging(size: Any, kernel: int, pad: Pair, stride: int, least: Any) -> Any:
    """How many windows there are if the last may hang over, as long as it starts before the end.

    Args:
        kernel: the extent of the window, dilation included.
        least: min, or its like for symbolic sizes.
    """
    count = -((kernel - size - pad[0] - pad[1]) // stride) + 1
    return count if stride <= kernel - pad[1] else least(count, -((-size - pad[0]) // stride))


def pooled_sizes(where: str, x: TensorType, attrs: Attrs) -> tuple[Size, ...]:
    """How many windows there are on each spatial axis: at least one, or a ShapeError."""
    require_spatial(where, x)
    counts: list[Size] = []
    dilations = attrs.get("dilation", (1,) * len(attrs["kernel"]))
    columns = zip(attrs["kernel"], attrs["padding"], attrs["stride"], dilations, strict=True)
    for axis, (kernel, pad, stride, dilation) in enumerate(columns):
        size, count = x.shape[2 + axis], 0
        if attrs["ceil_mode"]:
            count = overhanging(size, dilation * (kernel - 1) + 1, pad, stride, min_size)
        if isinstance(count, int) and count < 1:
            count = window_count(where, axis, size, kernel, pad, stride, dilation)
        counts.append(count)
    return tuple(counts)


# --- arrays ---------------------------------------------------------------------------------------


def padded(x: Array, padding: tuple[Pair, ...], value: Any = 0) -> Array:
    """``x`` with its last axes padded with ``value``; a negative amount crops."""
    if all(amount == 0 for pair in padding for amount in pair):
        return x
    lead = x.shape[: x.ndim - len(padding)]
    kept: list[slice] = [slice(None)] * len(lead)
    shape, place = list(lead), list(kept)
    for size, (before, after) in zip(x.shape[len(lead) :], padding, strict=True):
        start, stop = max(-before, 0), max(size - max(-after, 0), 0)
        kept.append(slice(start, stop))
        shape.append(size + before + after)
        place.append(slice(max(before, 0), max(before, 0) + max(stop - start, 0)))
    inner = x[tuple(kept)]
    if inner.shape == tuple(shape):
        return np.ascontiguousarray(inner)
    whole = np.full(shape, value, x.dtype)
    whole[tuple(place)] = inner
    return whole


def windows(
    x: Array, kernel: tuple[int, ...], stride: tuple[int, ...], dilation: tuple[int, ...]
) -> Array:
    """A view (N, C, *kernel, *places) of what the kernel sees at each of its places."""
    sizes = zip(x.shape[2:], kernel, stride, dilation, strict=True)
    places = [(size - d * (k - 1) - 1) // s + 1 for size, k, s, d in sizes]
    if min(places) < 1:
        raise ValueError("windows: the kernel is larger than the padded input")
    steps = [step * d for step, d in zip(x.strides[2:], dilation, strict=True)]
    jumps = [step * s for step, s in zip(x.strides[2:], stride, strict=True)]
    return np.lib.stride_tricks.as_strided(
        x, (*x.shape[:2], *kernel, *places), (*x.strides[:2], *steps, *jumps), writeable=False
    )


def overlaid(parts: Array, stride: tuple[int, ...], dilation: tuple[int, ...]) -> Array:
    """The adjoint of `windows`: what (N, C, *kernel, *places) holds, added where it was seen."""
    axes = len(stride)
    kernel, places = parts.shape[2 : 2 + axes], parts.shape[2 + axes :]
    reach = [(m - 1) * s + 1 for m, s in zip(places, stride, strict=True)]
    sizes = [r + d * (k - 1) for r, k, d in zip(reach, kernel, dilation, strict=True)]
    whole = np.zeros((*parts.shape[:2], *sizes), parts.dtype)
    for cell in np.ndindex(*kernel):
        firsts = [p * d for p, d in zip(cell, dilation, strict=True)]
        seen = [slice(a, a + r, s) for a, r, s in zip(firsts, reach, stride, strict=True)]
        whole[(..., *seen)] += parts[(slice(None), slice(None), *cell)]
    return whole


def fitted(
    sizes: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> Any:
    """Per axis the number of windows, and the padding with which they fit exactly."""
    counts: list[int] = []
    exact: list[Pair] = []
    for size, k, s, pad, d in zip(sizes, kernel, stride, padding, dilation, strict=True):
        extent = d * (k - 1) + 1
        if ceil_mode:
            count = overhanging(size, extent, pad, s, min)
        else:
            count = (size + pad[0] + pad[1] - extent) // s + 1
        if count < 1 or size < 1:
            raise ValueError("pooling: the kernel is larger than the padded input")
        counts.append(count)
        exact.append((pad[0], covered(count, k, s, d) - pad[0] - size))
    return counts, tuple(exact)


def cells_of(count: int, stride: int, first: int) -> slice:
    """Of an axis, the cell ``first`` of each of ``count`` windows."""
    return slice(first, first + (count - 1) * stride + 1, stride)


def starts(count: int, stride: int, first: int) -> Array:
    """The cell at which each of ``count`` windows starts."""
    return np.arange(count) * stride + first
