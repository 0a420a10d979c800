"""Pooling by the maximum.

The derivative of a maximum reads one cell per window. So `max_pool` comes with the positions of
these cells (`max_pool_indices`); `symgrad.ops.pool_cells` reads and adds there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from symgrad.ir.op import Attrs, ops
from symgrad.ops.families import Array, composite, nondifferentiable, require_kind, selection
from symgrad.ops.pool_cells import selecting
from symgrad.ops.windows import (
    cells_of,
    fitted,
    padded,
    pooled_sizes,
    pooling_attrs,
    spatial_axes,
    starts,
)
from symgrad.types import TensorType

# --- attributes and types -------------------------------------------------------------------------


def _max_pool_attrs(types: list[TensorType], attrs: Attrs) -> Attrs:
    return pooling_attrs("max_pool", spatial_axes("max_pool", types[0]), attrs)


def _max_pool_type(x: TensorType, **attrs: Any) -> TensorType:
    require_kind("max_pool", x.dtype, "real or bool", "x")
    return TensorType((*x.shape[:2], *pooled_sizes("max_pool", x, attrs)), x.dtype)


def _indices_type(x: TensorType, **attrs: Any) -> TensorType:
    return TensorType(_max_pool_type(x, **attrs).shape, np.int64)


# --- maximum --------------------------------------------------------------------------------------


def _least(dtype: np.dtype[Any]) -> Any:
    """What never is larger than another value of the type."""
    if dtype.kind in "iu":
        return np.iinfo(dtype).min
    return False if dtype.kind == "b" else -np.inf


def _window_maxima(x: Array, counts: Any, kernel: Any, stride: Any, dilation: Any) -> Array:
    """The maximum along each axis in turn, which is the maximum over the window."""
    for axis, (count, k, s, d) in enumerate(zip(counts, kernel, stride, dilation, strict=True)):
        lead = (slice(None),) * (2 + axis)
        y = x[(*lead, cells_of(count, s, 0))].copy()
        for cell in range(1, k):
            np.maximum(y, x[(*lead, cells_of(count, s, cell * d))], out=y)
        x = y
    return x


def _inside(sizes: Any, counts: Any, stride: Any, exact: Any, firsts: Any) -> Array:
    """For each window, whether its cell at ``firsts`` is one of the image."""
    inside: Any = True
    for size, count, s, pad, first in zip(sizes, counts, stride, exact, firsts, strict=True):
        along = starts(count, s, first - pad[0])
        inside = np.expand_dims(inside, -1) & (along >= 0) & (along < size)
    return inside


def _flat(sizes: Any, positions: Any) -> Array:
    """Positions along each axis as positions in the flattened plane."""
    flat: Any = np.int64(0)
    for size, along in zip(sizes, positions, strict=True):
        flat = np.expand_dims(flat * size, -1) + along
    return flat


def _ranks(
    x: Array, sizes: Any, counts: Any, exact: Any, kernel: Any, stride: Any, dilation: Any
) -> Array:
    """For each window of padded ``x``, which cell holds its maximum, counted from the last: from 1,
    since 0 is none. So the first of equal cells has the highest rank."""
    y = _window_maxima(x, counts, kernel, stride, dilation)
    unordered: Any = np.isnan(y) if x.dtype.kind == "f" else np.False_
    has_padding = any(amount > 0 for pair in exact for amount in pair)
    cells = list(np.ndindex(*kernel))
    # Arithmetic in bytes has no branches, which a choice among random numbers would miss.
    kind: Any = np.uint8 if len(cells) < 256 else np.int64
    best = np.zeros(y.shape, kind)
    for number, cell in enumerate(cells):
        firsts = [k * d for k, d in zip(cell, dilation, strict=True)]
        part = x[(..., *map(cells_of, counts, stride, firsts))]
        hit = part == y
        if np.any(unordered):
            hit |= unordered & np.isnan(part)
        if has_padding:
            hit &= _inside(sizes, counts, stride, exact, firsts)
        np.maximum(best, np.multiply(hit, kind(len(cells) - number), dtype=kind), out=best)
    return best


@nondifferentiable(
    type=_indices_type,
    reason="integer output",
    normalize=_max_pool_attrs,
    warns=False,
    namespace=None,
)
def max_pool_indices(
    x: Array,
    /,
    kernel: Any,
    *,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> Array:
    """Where in its flattened plane each maximum of `max_pool` stands: the first of several.

    A NaN counts as largest. The index is -1 where a dilated window sees nothing but padding.

    >>> import symgrad as sg
    >>> max_pool_indices(sg.asarray([[[1.0, 3.0, 3.0, 2.0]]]), 2)
    Tensor([[[1, 2]]])
    """
    sizes = x.shape[2:]
    counts, exact = fitted(sizes, kernel, stride, padding, dilation, ceil_mode)
    x = padded(x, exact, _least(x.dtype))
    ranks = _ranks(x, sizes, counts, exact, kernel, stride, dilation)
    margins = [before for before, _ in exact]
    origins = [starts(m, s, -a) for m, s, a in zip(counts, stride, margins, strict=True)]
    offsets = _flat(sizes, [starts(k, d, 0) for k, d in zip(kernel, dilation, strict=True)])
    found = np.take(np.append(0, np.ravel(offsets)[::-1]), ranks) + _flat(sizes, origins)
    found[ranks == 0] = -1
    return found


@selection(
    type=_max_pool_type,
    normalize=_max_pool_attrs,
    warns=False,
    **selecting(max_pool_indices),
)
def max_pool(
    x: Array,
    /,
    kernel: Any,
    *,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> Array:
    """The maximum over windows that slide over the spatial axes.

    A size becomes ``(size + before + after - dilation*(k - 1) - 1)//stride + 1``; in ceil mode the
    quotient is rounded up. A NaN in the window is its maximum. The derivative goes to the first of
    equal cells.

    Args:
        x: images (N, C, *sizes), real numbers or booleans.
        kernel: the size of the window: an int, or one per spatial axis.
        stride: from window to window, in the same form; the kernel's sizes if None.
        padding: how many cells of minus infinity there are, at most half the kernel: an int, one
            per axis, or a pair (before, after) per axis.
        dilation: the distance of the window's cells.
        ceil_mode: whether a last window may hang over the end.
    Raises:
        ShapeError: the window is larger than the padded image, or an attribute is out of range.
        DTypeError: complex numbers.

    >>> import symgrad as sg
    >>> sg.max_pool(sg.asarray([[[1.0, 3.0, 2.0, 5.0, 4.0]]]), 2)
    Tensor([[[3., 5.]]])
    """
    counts, exact = fitted(x.shape[2:], kernel, stride, padding, dilation, ceil_mode)
    return _window_maxima(padded(x, exact, _least(x.dtype)), counts, kernel, stride, dilation)


class MaxPoolResult(NamedTuple):
    """Maxima of windows, and their flat positions in the planes."""

    values: Any
    indices: Any


@composite
def max_pool_with_indices(
    x: Array,
    /,
    kernel: Any,
    *,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> MaxPoolResult:
    """`max_pool`, and where in its flattened plane each maximum stands: the first of several.

    The index is -1 where a dilated window sees nothing but padding. Arguments and errors are those
    of `max_pool`; `max_unpool` puts the values back.

    >>> import symgrad as sg
    >>> sg.max_pool_with_indices(sg.asarray([[[1.0, 3.0, 2.0, 5.0, 4.0]]]), 2)
    MaxPoolResult(values=Tensor([[[3., 5.]]]), indices=Tensor([[[1, 3]]]))
    """
    x = ops.asarray(x)
    attrs: Attrs = {
        "stride": stride,
        "padding": padding,
        "dilation": dilation,
        "ceil_mode": ceil_mode,
    }
    return MaxPoolResult(max_pool(x, kernel, **attrs), max_pool_indices(x, kernel, **attrs))
