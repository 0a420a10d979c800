"""Mean pooling, and its transpose, which spreads every mean over its window."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.errors import ArgumentError
from symgrad.ir.op import Attrs, ops
from symgrad.ops.families import Array, linear, require_kind
from symgrad.ops.half import working_dtype
from symgrad.ops.windows import (
    cells_of,
    covered,
    fitted,
    padded,
    pooled_sizes,
    pooling_attrs,
    spatial_axes,
    starts,
)
from symgrad.types import TensorType, require_equal


def _canonical(where: str, axes: int, attrs: Attrs) -> Attrs:
    divisor = attrs["divisor_override"]
    if divisor is not None and (type(divisor) not in (int, float) or divisor == 0):
        raise ArgumentError(
            where, "divisor_override", expected="a number other than 0", got=repr(divisor)
        )
    return pooling_attrs(where, axes, attrs)


def _avg_pool_attrs(types: list[TensorType], attrs: Attrs) -> Attrs:
    return _canonical("avg_pool", spatial_axes("avg_pool", types[0]), attrs)


def _transpose_attrs(types: list[TensorType], attrs: Attrs) -> Attrs:
    return _canonical("avg_pool_transpose", len(attrs["shape"]), attrs)


def _avg_pool_type(x: TensorType, **attrs: Any) -> TensorType:
    require_kind("avg_pool", x.dtype, "inexact", "x")
    return TensorType((*x.shape[:2], *pooled_sizes("avg_pool", x, attrs)), x.dtype)


def _avg_pool_transpose_type(ct: TensorType, *, shape: Any, **attrs: Any) -> TensorType:
    x = TensorType((*ct.shape[:2], *shape), ct.dtype)
    for axis, count in enumerate(_avg_pool_type(x, **attrs).shape[2:]):
        where = "avg_pool_transpose"
        require_equal(count, ct.shape[2 + axis], where, f"sizes of ct on spatial axis {axis}")
    return x


def _avg_pool_to_x(ct: Any, x: Any, *, kernel: Any, **attrs: Any) -> Any:
    return avg_pool_transpose(ct, kernel, shape=x.shape[2:], **attrs)


def _avg_pool_guard(i: int, predicate: Any, y: Any, args: Any, attrs: Attrs) -> Any:
    """Nonzero where some window with the predicate sees the cell."""
    return _avg_pool_to_x(ops.astype(predicate, np.dtype(np.float32)), *args, **attrs)


def _transpose_guard(i: int, predicate: Any, y: Any, args: Any, attrs: Attrs) -> Any:
    return _back_to_ct(ops.astype(predicate, np.dtype(np.float32)), *args, **attrs)


def _back_to_ct(ct: Any, x: Any, *, kernel: Any, shape: Any, **attrs: Any) -> Any:
    return avg_pool(ct, kernel, **attrs)


def _divisors(
    sizes: Any, counts: Any, kernel: Any, stride: Any, padding: Any, whole: bool, override: Any
) -> Array:
    """The number of cells of each window that count: those inside the padded image, or inside the
    image alone; or the number that is to stand for it."""
    product: Any = np.ones(())
    if override is not None:
        return product * override
    for size, count, k, s, pad in zip(sizes, counts, kernel, stride, padding, strict=True):
        start = starts(count, s, -pad[0])
        stop = np.minimum(start + k, size + pad[1])
        if not whole:
            start, stop = np.maximum(start, 0), np.minimum(stop, size)
        product = product[..., None] * (stop - start)
    return product


@linear(
    type=_avg_pool_type,
    transpose=_avg_pool_to_x,
    normalize=_avg_pool_attrs,
    guard=_avg_pool_guard,
)
def avg_pool(
    x: Array,
    /,
    kernel: Any,
    *,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: Any = None,
) -> Array:
    """The mean over windows that slide over the spatial axes.

    A size becomes ``(size + before + after - k)//stride + 1``; ceil mode rounds the quotient up.

    Args:
        x: images (N, C, *sizes), floating-point or complex.
        kernel: the size of the window: an int, or one per spatial axis.
        stride: from window to window, in the same form; the kernel's sizes if None.
        padding: how many zeros there are, at most half the kernel: an int, one per axis, or a pair
            (before, after) per axis.
        ceil_mode: whether a last window may hang over the end.
        count_include_pad: whether padding counts as cells of the mean. What hangs over in ceil mode
            never does.
        divisor_override: a number to divide sums by, instead of the number of cells.
    Raises:
        ShapeError: the window is larger than the padded image, or an attribute is out of range.
        ArgumentError: divisor_override is 0. DTypeError: integers or booleans.

    >>> import symgrad as sg
    >>> sg.avg_pool(sg.asarray([[[1.0, 3.0, 2.0, 5.0, 4.0]]]), 2, ceil_mode=True)
    Tensor([[[2. , 3.5, 4. ]]])
    """
    dtype, sizes = x.dtype, x.shape[2:]
    counts, exact = fitted(sizes, kernel, stride, padding, (1,) * len(kernel), ceil_mode)
    x = padded(x.astype(working_dtype(dtype), copy=False), exact)
    divisors = _divisors(
        sizes, counts, kernel, stride, padding, count_include_pad, divisor_override
    )
    for axis, (count, k, s) in enumerate(zip(counts, kernel, stride, strict=True)):
        lead = (slice(None),) * (2 + axis)
        y = x[(*lead, cells_of(count, s, 0))].copy()
        for cell in range(1, k):
            y += x[(*lead, cells_of(count, s, cell))]
        x = y
    return (x / divisors.astype(x.real.dtype)).astype(dtype, copy=False)


@linear(
    type=_avg_pool_transpose_type,
    transpose=_back_to_ct,
    normalize=_transpose_attrs,
    guard=_transpose_guard,
    namespace=None,
)
def avg_pool_transpose(
    ct: Array,
    /,
    kernel: Any,
    *,
    shape: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: Any = None,
) -> Array:
    """The transpose of `avg_pool` on images of sizes ``shape``: every mean, spread over its window.

    >>> import symgrad as sg
    >>> avg_pool_transpose(sg.asarray([[[2.0, 4.0]]]), 2, shape=(5,))
    Tensor([[[1., 1., 2., 2., 0.]]])
    """
    dtype, axes = ct.dtype, len(kernel)
    counts, exact = fitted(shape, kernel, stride, padding, (1,) * axes, ceil_mode)
    x = ct.astype(working_dtype(dtype), copy=False)
    divisors = _divisors(
        shape, counts, kernel, stride, padding, count_include_pad, divisor_override
    )
    x = x / divisors.astype(x.real.dtype)
    for axis in range(axes - 1, -1, -1):
        lead, count, s = (slice(None),) * (2 + axis), counts[axis], stride[axis]
        size = covered(count, kernel[axis], s, 1)
        whole = np.zeros((*x.shape[: 2 + axis], size, *x.shape[3 + axis :]), x.dtype)
        for cell in range(kernel[axis]):
            whole[(*lead, cells_of(count, s, cell))] += x
        x = whole
    crop = tuple([(-before, -after) for before, after in exact])
    return padded(x, crop).astype(dtype, copy=False)
