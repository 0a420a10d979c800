"""Classes and counts: one_hot, bincount, histogram."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from symgrad.errors import ArgumentError, DTypeError, ShapeError
from symgrad.ir.op import ops
from symgrad.ir.symbol import Symbol
from symgrad.ops.conversion import number
from symgrad.ops.families import Array, composite, require_kind
from symgrad.ops.grouping import grouped_sum, number_of_groups, occurrences, slots
from symgrad.ops.interpolation import as_floating
from symgrad.ops.running import summed_dtype
from symgrad.ops.sorting import searchsorted
from symgrad.types import (
    Size,
    as_dtype,
    default_float,
    float64,
    int64,
    is_complex,
    is_inexact,
    normalize_axis,
    require_equal,
)

# --- classes --------------------------------------------------------------------------------------


@composite
def one_hot(indices: Array, /, num_classes: Any, *, axis: int = -1, dtype: Any = None) -> Any:
    """Ones at ``indices`` along a new axis of ``num_classes``, zeros elsewhere.

    An index outside of 0 to ``num_classes - 1`` gives zeros only.

    Args:
        indices: integers of any shape.
        num_classes: the size of the new axis; it may be symbolic.
        axis: where the new axis stands in the result.
        dtype: the element type; the default float type if None.
    Raises:
        DTypeError: indices are not integers. ArgumentError: ``num_classes`` is no count.
        ShapeError: no such axis.

    >>> import symgrad as sg
    >>> sg.one_hot(sg.asarray([1, 0, 7]), 3)
    Tensor([[0., 1., 0.],
            [1., 0., 0.],
            [0., 0., 0.]])
    """
    indices = ops.asarray(indices)
    require_kind("one_hot", indices.dtype, "integer", "indices")
    if num_classes is None:
        raise ArgumentError("one_hot", "num_classes", expected="an int, 0 or more", got=None)
    count = number_of_groups("one_hot", "num_classes", num_classes, indices)
    place = normalize_axis(axis, indices.ndim + 1, "one_hot")
    found = ops.expand_dims(slots(indices, count=count, where="one_hot"), axis=place)
    stretched = [count if k == place else 1 for k in range(indices.ndim + 1)]
    hits = found == ops.reshape(ops.arange(count), stretched)
    return ops.astype(hits, default_float() if dtype is None else as_dtype(dtype))


# --- counts ---------------------------------------------------------------------------------------


def _totals(where: str, places: Any, weights: Any, count: Size) -> Any:
    """How many elements are at each place, or the sum of their weights; the last place is left out.

    Raises:
        ShapeError: not one weight per element.
    """
    if weights is None:
        return occurrences(places, count=count + 1)[:count]
    weights = ops.asarray(weights)
    if weights.ndim != places.ndim:
        raise ShapeError(where, "one weight per element", expected=places.shape, got=weights.shape)
    for k, (size, given) in enumerate(zip(places.shape, weights.shape, strict=True)):
        require_equal(size, given, where, f"sizes of axis {k} of x and weights")
    wide = summed_dtype(where, weights.dtype, None)
    weights = weights if weights.dtype == wide else ops.astype(weights, wide)
    places, weights = ops.reshape(places, (-1,)), ops.reshape(weights, (-1,))
    return grouped_sum(weights, places, count + 1)[:count]


@composite(reads_values=True)
def bincount(x: Array, /, *, weights: Array | None = None, length: Any = None) -> Any:
    """How often each of the numbers 0, 1, 2, … occurs, or the sum of the weights where it does.

    It is differentiable in ``weights``.

    Args:
        x: integers or booleans, of one axis, none negative.
        weights: one number per element; small integers widen, as in `sum`.
        length: how many numbers are counted, from 0; larger ones are not. Needed if ``x`` is a
            symbol, otherwise one more than the largest number.
    Returns:
        int64 counts, or sums in the type of the weights.
    Raises:
        ArgumentError: a negative number (ValueError where only running tells), or no length.
        ShapeError: not one axis, or not one weight per element. DTypeError: not integers.
        TraceError: ``length`` is needed.

    >>> import symgrad as sg
    >>> sg.bincount(sg.asarray([3, 1, 1]))
    Tensor([0, 2, 0, 1])
    """
    x = ops.asarray(x)
    require_kind("bincount", x.dtype, "integer or bool")
    if x.ndim != 1:
        raise ShapeError("bincount", "axes of x", expected="1 axis", got=x.type)
    if not isinstance(x, Symbol) and np.any(np.asarray(x) < 0):
        raise ArgumentError("bincount", "a negative number", expected="0 or more", got=x)
    count = number_of_groups("bincount", "length", length, x)
    places = slots(x, count=count, where="bincount", refuses=True)
    return _totals("bincount", places, weights, count)


class HistogramResult(NamedTuple):
    """What `histogram` gives."""

    counts: Any
    edges: Any


def _number_of_bins(bins: Any) -> int:
    if isinstance(bins, bool) or bins < 1:
        raise ArgumentError("histogram", "bins", expected="an int, 1 or more", got=bins)
    return int(bins)


def _ends(x: Any, within: Any) -> tuple[Any, Any]:
    """The outer edges; those of equal numbers lie half a unit to either side."""
    if within is not None:
        low, high = (float(number("histogram", "range", end)) for end in within)
        if not (math.isfinite(low) and math.isfinite(high) and low <= high):
            expected = "two finite numbers in ascending order"
            raise ArgumentError("histogram", "range", expected=expected, got=(low, high))
        return (low - 0.5, high + 0.5) if low == high else (low, high)
    if 0 in x.shape:
        return 0.0, 1.0
    low, high = ops.astype(ops.min(x), float64), ops.astype(ops.max(x), float64)
    if not isinstance(x, Symbol) and not np.all(np.isfinite([float(low), float(high)])):
        hint = "give a range"
        raise ArgumentError("histogram", "elements are not finite", got=(low, high), hint=hint)
    wide = low == high
    return ops.where(wide, low - 0.5, low), ops.where(wide, high + 0.5, high)


def _even_edges(x: Any, bins: int, within: Any) -> Any:
    low, high = _ends(x, within)
    steps = ops.arange(bins + 1, dtype=float64)
    edges = ops.where(steps == bins, high, steps * ((high - low) / bins) + low)
    return ops.astype(edges, x.dtype)


def _given_edges(bins: Any) -> Any:
    edges = as_floating("histogram", "bins", bins)
    if edges.ndim != 1:
        raise ShapeError("histogram", "axes of bins", expected="1 axis", got=edges.type)
    if edges.shape[0] == 0:
        raise ShapeError("histogram", "edges of bins", expected="at least one", got=edges.type)
    values = None if isinstance(edges, Symbol) else np.asarray(edges)
    if values is not None and np.any(values[1:] < values[:-1]):
        raise ArgumentError("histogram", "bins", expected="edges in ascending order", got=edges)
    return edges


@composite(reads_values=True)
def histogram(
    x: Array,
    /,
    bins: Any = 10,
    *,
    range: Any = None,
    weights: Array | None = None,
    density: bool = False,
) -> HistogramResult:
    """How many elements fall between neighbouring edges, or the sum of their weights.

    A bin holds its lower edge, the last one both. What lies outside, and NaN, is not counted.
    Counts have no slope in ``x``; sums have one in ``weights``, and edges that follow the extremes
    of ``x`` one in these.

    Args:
        x: real numbers of any shape.
        bins: how many bins of equal width, or their edges in ascending order.
        range: the outer edges of bins of equal width; the extremes of ``x`` if None.
        weights: one number per element; small integers widen, as in `sum`.
        density: divide by the total and the widths, so that the integral is 1.
    Returns:
        a named tuple: ``counts`` (int64, or in the type of the weights, or floating if a density),
        ``edges`` (one more).
    Raises:
        ArgumentError: no bins, or edges or a range that do not ascend; elements that are not
            finite, if they are to give the range. ShapeError: not one weight per element.
        DTypeError: complex ``x``.

    >>> import symgrad as sg
    >>> sg.histogram(sg.asarray([1.0, 2.0, 2.5, 4.0]), 3)
    HistogramResult(counts=Tensor([1, 2, 1]), edges=Tensor([1., 2., 3., 4.]))
    """
    x = as_floating("histogram", "x", x)
    is_number = isinstance(bins, (int, np.integer))
    edges = _even_edges(x, _number_of_bins(bins), range) if is_number else _given_edges(bins)
    size = edges.shape[0] - 1
    # The edge at or below; the last bin holds the last edge as well.
    places = searchsorted(edges, x, side="right") - 1
    places = places - ops.astype(x == edges[-1], int64)
    counts = _totals("histogram", slots(places, count=size, where="histogram"), weights, size)
    if density:
        if is_complex(counts.dtype):
            raise DTypeError("histogram", "density of complex weights", expected="real weights")
        counts = counts if is_inexact(counts.dtype) else ops.astype(counts, edges.dtype)
        counts = counts / ops.sum(counts) / (edges[1:] - edges[:-1])
    return HistogramResult(counts, edges)
