"""Pooling by the maximum.

The derivative of a maximum reads one cell per window. So `max_pool` comes with the positions of
these cells (`max_pool_indices`), a gather there (`pool_gather`) and its transpose (`pool_scatter`),
which are linear: together they are closed under differentiation.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.errors import ShapeError
from symgrad.ir.op import ZERO, Attrs, ops
from symgrad.ops.families import (
    Array,
    linear,
    nondifferentiable,
    require_kind,
    selection,
)
from symgrad.ops.windows import (
    cells_of,
    fitted,
    padded,
    pooled_sizes,
    pooling_attrs,
    spatial_axes,
    starts,
)
from symgrad.types import TensorType, is_integer, require_equal

# --- attributes and types -------------------------------------------------------------------------


def _max_pool_attrs(types: list[TensorType], attrs: Attrs) -> Attrs:
    return pooling_attrs("max_pool", spatial_axes("max_pool", types[0]), attrs)


def _max_pool_type(x: TensorType, **attrs: Any) -> TensorType:
    require_kind("max_pool", x.dtype, "real or bool", "x")
    return TensorType((*x.shape[:2], *pooled_sizes("max_pool", x, attrs)), x.dtype)


def _indices_type(x: TensorType, **attrs: Any) -> TensorType:
    return TensorType(_max_pool_type(x, **attrs).shape, np.int64)


def _require_same_planes(where: str, a: TensorType, b: TensorType) -> None:
    if a.ndim != b.ndim:
        raise ShapeError(where, "numbers of axes differ", expected=a.ndim, got=b)
    require_equal(a.shape[0], b.shape[0], where, "batch sizes of values and indices")
    require_equal(a.shape[1], b.shape[1], where, "channels of values and indices")
    if not is_integer(b.dtype):
        require_kind(where, b.dtype, "integer", "indices")


def _gather_type(x: TensorType, indices: TensorType) -> TensorType:
    _require_same_planes("pool_gather", x, indices)
    return TensorType(indices.shape, x.dtype)


def _scatter_type(values: TensorType, indices: TensorType, *, shape: Any) -> TensorType:
    _require_same_planes("pool_scatter", values, indices)
    for axis, (a, b) in enumerate(zip(values.shape, indices.shape, strict=True)):
        require_equal(a, b, "pool_scatter", f"sizes of values and indices on axis {axis}")
    return TensorType((*values.shape[:2], *shape), values.dtype)


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


def _max_pool_indices_of(x: Any, attrs: Attrs) -> Any:
    return max_pool_indices(x, attrs["kernel"], **{k: v for k, v in attrs.items() if k != "kernel"})


def _max_pool_vjp(ct: Any, y: Any, x: Any, **attrs: Any) -> Any:
    return pool_scatter(ct, _max_pool_indices_of(x, attrs), shape=x.shape[2:])


def _max_pool_jvp(tangents: Any, y: Any, args: Any, attrs: Attrs) -> Any:
    return (
        ZERO
        if tangents[0] is ZERO
        else pool_gather(tangents[0], _max_pool_indices_of(args[0], attrs))
    )


def _max_pool_guard(i: int, predicate: Any, y: Any, args: Any, attrs: Attrs) -> Any:
    return pool_scatter(predicate, _max_pool_indices_of(args[0], attrs), shape=args[0].shape[2:])


def _max_pool_live(y: Any, x: Any, **attrs: Any) -> Any:
    return _max_pool_guard(0, ops.ones_like(y, dtype=np.dtype(bool)), y, (x,), attrs)


@selection(
    type=_max_pool_type,
    vjp=(_max_pool_vjp,),
    jvp=_max_pool_jvp,
    normalize=_max_pool_attrs,
    guard=_max_pool_guard,
    live=(_max_pool_live,),
    warns=False,
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
    """The maximum over windows that slide over 1 to 3 spatial axes.

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
    # The planes one after another, and a last cell for what goes nowhere.
    whole = np.zeros(n * c * cells + 1, values.dtype)
    planes = starts(n * c, cells, 0).reshape(n, c, *(1,) * len(shape))
    flat = indices.astype(np.int64) + planes
    flat[indices < 0] = n * c * cells
    np.add.at(whole, flat.reshape(-1), np.reshape(values, -1))
    return whole[:-1].reshape(n, c, *shape)
