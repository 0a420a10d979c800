"""Pooling to a given number of windows per axis.

Of ``count`` windows over an axis of ``size`` cells, window i reaches from ``i*size // count`` to
``(i + 1)*size / count``, rounded up: windows cover the axis, and neighbours share at most one cell.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from symgrad.ir.op import Attrs, ops
from symgrad.ops.families import (
    Array,
    composite,
    linear,
    nondifferentiable,
    require_kind,
    selection,
)
from symgrad.ops.half import working_dtype
from symgrad.ops.max_pool import MaxPoolResult
from symgrad.ops.pool_cells import selecting
from symgrad.ops.windows import require_spatial, sizes_per_axis, spatial_axes
from symgrad.types import TensorType

# --- attributes and types -------------------------------------------------------------------------


def _output_attrs(where: str) -> Any:
    """The number of windows on each axis; None is one per cell."""

    def normalize(types: list[TensorType], attrs: Attrs) -> Attrs:
        spatial_axes(where, types[0])
        given = attrs["output_size"]
        return {"output_size": sizes_per_axis(where, "output_size", given, types[0].shape[2:])}

    return normalize


def _mean_type(x: TensorType, *, output_size: Any) -> TensorType:
    require_kind("adaptive_avg_pool", x.dtype, "inexact")
    require_spatial("adaptive_avg_pool", x)
    return TensorType((*x.shape[:2], *output_size), x.dtype)


def _transpose_type(ct: TensorType, *, shape: Any) -> TensorType:
    require_kind("adaptive_avg_pool_transpose", ct.dtype, "inexact")
    return TensorType((*ct.shape[:2], *shape), ct.dtype)


def _max_type(x: TensorType, *, output_size: Any) -> TensorType:
    require_kind("adaptive_max_pool", x.dtype, "real or bool")
    require_spatial("adaptive_max_pool", x)
    return TensorType((*x.shape[:2], *output_size), x.dtype)


def _indices_type(x: TensorType, *, output_size: Any) -> TensorType:
    return TensorType(_max_type(x, output_size=output_size).shape, np.int64)


def _bounds(size: int, count: int) -> list[slice]:
    """The cells of each of ``count`` windows."""
    return [slice(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]


# --- mean -----------------------------------------------------------------------------------------


def _mean_to_x(ct: Any, x: Any, *, output_size: Any) -> Any:
    return adaptive_avg_pool_transpose(ct, shape=x.shape[2:])


def _mean_guard(i: int, predicate: Any, y: Any, args: Any, attrs: Attrs) -> Any:
    return _mean_to_x(ops.astype(predicate, np.dtype(np.float32)), *args, **attrs) != 0


def _back_to_ct(ct: Any, y: Any, *, shape: Any) -> Any:
    return adaptive_avg_pool(ct, y.shape[2:])


def _transpose_guard(i: int, predicate: Any, y: Any, args: Any, attrs: Attrs) -> Any:
    return _back_to_ct(ops.astype(predicate, np.dtype(np.float32)), *args, **attrs) != 0


@linear(
    type=_mean_type,
    transpose=_mean_to_x,
    normalize=_output_attrs("adaptive_avg_pool"),
    guard=_mean_guard,
)
def adaptive_avg_pool(x: Array, /, output_size: Any) -> Array:
    """The means over so many windows per spatial axis that the result has the sizes asked for.

    Window i of n over an axis reaches from ``i*size // n`` to ``(i + 1)*size / n``, rounded up.
    One window per axis gives global pooling.

    Args:
        x: images (N, C, *sizes), floating-point or complex.
        output_size: a size for all spatial axes, or one per axis; None keeps that of ``x``.
    Raises:
        ShapeError: output_size does not fit, or a spatial axis is empty. DTypeError: integers or
        booleans.

    >>> import symgrad as sg
    >>> sg.adaptive_avg_pool(sg.asarray([[[1.0, 2.0, 3.0, 4.0, 6.0]]]), 2)
    Tensor([[[2.        , 4.33333333]]])
    """
    y = x.astype(working_dtype(x.dtype), copy=False)
    for axis, count in enumerate(output_size):
        lead, size = (slice(None),) * (2 + axis), y.shape[2 + axis]
        whole = np.zeros((*y.shape[: 2 + axis], count, *y.shape[3 + axis :]), y.dtype)
        for i, window in enumerate(_bounds(size, count)):
            whole[(*lead, i)] = np.mean(y[(*lead, window)], axis=2 + axis)
        y = whole
    return y.astype(x.dtype, copy=False)


@linear(
    type=_transpose_type,
    transpose=_back_to_ct,
    guard=_transpose_guard,
    namespace=None,
)
def adaptive_avg_pool_transpose(ct: Array, /, *, shape: Any) -> Array:
    """The transpose of `adaptive_avg_pool` on images of sizes ``shape``.

    >>> import symgrad as sg
    >>> adaptive_avg_pool_transpose(sg.asarray([[[3.0, 6.0]]]), shape=(5,))
    Tensor([[[1., 1., 3., 2., 2.]]])
    """
    x = ct.astype(working_dtype(ct.dtype), copy=False)
    for axis, size in enumerate(shape):
        lead, count = (slice(None),) * (2 + axis), x.shape[2 + axis]
        whole = np.zeros((*x.shape[: 2 + axis], size, *x.shape[3 + axis :]), x.dtype)
        for i, window in enumerate(_bounds(size, count)):
            share = x[(*lead, slice(i, i + 1))] / x.real.dtype.type(window.stop - window.start)
            whole[(*lead, window)] += share
        x = whole
    return x.astype(ct.dtype, copy=False)


# --- maximum --------------------------------------------------------------------------------------


@nondifferentiable(
    type=_indices_type,
    reason="integer output",
    normalize=_output_attrs("adaptive_max_pool"),
    warns=False,
    namespace=None,
)
def adaptive_max_pool_indices(x: Array, /, output_size: Any) -> Array:
    """Where in its flattened plane each maximum of `adaptive_max_pool` stands.

    >>> import symgrad as sg
    >>> adaptive_max_pool_indices(sg.asarray([[[1.0, 2.0, 3.0, 4.0, 6.0]]]), 2)
    Tensor([[[2, 4]]])
    """
    sizes = x.shape[2:]
    found = np.zeros((*x.shape[:2], *output_size), np.int64)
    bounds = [_bounds(size, count) for size, count in zip(sizes, output_size, strict=True)]
    for place in itertools.product(*map(range, output_size)):
        window = tuple(lines[i] for lines, i in zip(bounds, place, strict=True))
        seen = x[(slice(None), slice(None), *window)]
        # The first of the largest, or of the NaNs.
        best = np.argmax(seen.reshape(*x.shape[:2], math.prod(seen.shape[2:])), axis=2)
        cell = np.unravel_index(best, seen.shape[2:])
        at = [along + cut.start for along, cut in zip(cell, window, strict=True)]
        found[(slice(None), slice(None), *place)] = np.ravel_multi_index(at, sizes)
    return found


@selection(
    type=_max_type,
    normalize=_output_attrs("adaptive_max_pool"),
    warns=False,
    **selecting(adaptive_max_pool_indices),
)
def adaptive_max_pool(x: Array, /, output_size: Any) -> Array:
    """The maxima over the windows of `adaptive_avg_pool`; NaN wins.

    The derivative goes to the first of equal cells.

    Args:
        x: images (N, C, *sizes), real numbers or booleans.
        output_size: as for `adaptive_avg_pool`.
    Raises:
        ShapeError: output_size does not fit, or a spatial axis is empty. DTypeError: complex
        numbers.

    >>> import symgrad as sg
    >>> sg.adaptive_max_pool(sg.asarray([[[1.0, 2.0, 3.0, 4.0, 6.0]]]), 2)
    Tensor([[[3., 6.]]])
    """
    for axis, count in enumerate(output_size):
        lead, size = (slice(None),) * (2 + axis), x.shape[2 + axis]
        whole = np.zeros((*x.shape[: 2 + axis], count, *x.shape[3 + axis :]), x.dtype)
        for i, window in enumerate(_bounds(size, count)):
            whole[(*lead, i)] = np.max(x[(*lead, window)], axis=2 + axis)
        x = whole
    return x


@composite
def adaptive_max_pool_with_indices(x: Array, /, output_size: Any) -> MaxPoolResult:
    """`adaptive_max_pool`, and where in its flattened plane each maximum stands: the first of
    several.

    >>> import symgrad as sg
    >>> sg.adaptive_max_pool_with_indices(sg.asarray([[[1.0, 2.0, 3.0, 4.0, 6.0]]]), 2)
    MaxPoolResult(values=Tensor([[[3., 6.]]]), indices=Tensor([[[2, 4]]]))
    """
    x = ops.asarray(x)
    values = adaptive_max_pool(x, output_size)
    return MaxPoolResult(values, adaptive_max_pool_indices(x, output_size))
