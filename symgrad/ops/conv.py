"""Convolutions: one trilinear form and its three readings.

With stride s, dilation d and padding (a, b) on every spatial axis, the form

    T(x, w, y) = sum over n, o, c, p, k of  y[n, o, p] * w[o, c, k] * x[n, c', s*p + d*k - a],

where c' is channel c of the group that o belongs to, is linear in the image x, the kernel w and
the response y. `conv` is its derivative by y, `conv_transpose` by x, `conv_kernel_gradient` by w.
So the derivatives of each are the other two, and the three are closed under differentiation.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.errors import ShapeError
from symgrad.ir.op import Attrs
from symgrad.ops.families import Array, multilinear, require_kind
from symgrad.ops.half import working_dtype
from symgrad.ops.windows import (
    exact_padding,
    extents,
    overlaid,
    padded,
    per_axis,
    spatial_axes,
    window_attrs,
    window_counts,
    windows,
)
from symgrad.types import Size, TensorType, promote, require_equal

# --- attributes -----------------------------------------------------------------------------------


def _canonical(where: str, types: list[TensorType], kernel: Any, attrs: Attrs) -> Attrs:
    """Stride, padding, dilation and groups in one form each."""
    axes = spatial_axes(where, types[0])
    if type(attrs["groups"]) is not int or attrs["groups"] < 1:
        raise ShapeError(where, "groups must be at least 1", got=repr(attrs["groups"]))
    stride, padding, dilation = attrs["stride"], attrs["padding"], attrs["dilation"]
    return {**attrs, **window_attrs(where, axes, kernel, stride, padding, dilation)}


def _kernel_sizes(where: str, x: TensorType, w: TensorType) -> tuple[Size, ...]:
    spatial_axes(where, x)
    if w.ndim != x.ndim:
        raise ShapeError(where, "w needs as many axes as x", expected=f"{x.ndim} axes", got=w)
    if any(size == 0 for size in w.shape[2:]):
        raise ShapeError(where, "w has an empty spatial axis", expected="at least 1", got=w)
    return w.shape[2:]


def _conv_attrs(types: list[TensorType], attrs: Attrs) -> Attrs:
    return _canonical("conv", types, _kernel_sizes("conv", *types), attrs)


def _conv_transpose_attrs(types: list[TensorType], attrs: Attrs) -> Attrs:
    """Output padding becomes what it is: less padding after the end."""
    where = "conv_transpose"
    attrs = _canonical(where, types, _kernel_sizes(where, *types), attrs)
    axes = len(attrs["stride"])
    extra = per_axis(where, "output_padding", attrs["output_padding"], axes, 0)
    for amount, stride, dilation in zip(extra, attrs["stride"], attrs["dilation"], strict=True):
        if amount and amount >= max(stride, dilation):
            raise ShapeError(
                where,
                "output_padding is out of range",
                expected=f"less than the stride or dilation, {max(stride, dilation)}",
                got=extra,
            )
    padding = zip(attrs["padding"], extra, strict=True)
    padding = tuple((before, after - amount) for (before, after), amount in padding)
    return {**attrs, "padding": padding, "output_padding": (0,) * axes}


# --- types ----------------------------------------------------------------------------------------


def _require_channels(where: str, name: str, channels: Size, wanted: Size, source: str) -> None:
    if isinstance(channels, int) and isinstance(wanted, int) and channels != wanted:
        raise ShapeError(
            where, f"channels of {name} do not fit", expected=f"{source} = {wanted}", got=channels
        )
    require_equal(channels, wanted, where, f"channels of {name} and {source}")


def _require_groups(where: str, what: str, channels: Size, groups: int) -> None:
    if isinstance(channels, int) and channels % groups:
        raise ShapeError(
            where,
            f"groups does not divide the channels of {what}",
            expected=f"a multiple of groups = {groups}",
            got=channels,
        )


def _numeric(where: str, **kinds: TensorType) -> np.dtype[Any]:
    for name, kind in kinds.items():
        require_kind(where, kind.dtype, "numeric", name)
    return promote(*(kind.dtype for kind in kinds.values()))


def _window_counts(where: str, sizes: Any, kernel: Any, attrs: Attrs) -> tuple[Size, ...]:
    return window_counts(where, sizes, kernel, attrs["stride"], attrs["padding"], attrs["dilation"])


def _conv_type(x: TensorType, w: TensorType, **attrs: Any) -> TensorType:
    dtype, groups = _numeric("conv", x=x, w=w), attrs["groups"]
    _require_groups("conv", "x", x.shape[1], groups)
    _require_channels("conv", "x", x.shape[1], w.shape[1] * groups, "w.shape[1] * groups")
    _require_groups("conv", "the result, w.shape[0]", w.shape[0], groups)
    counts = _window_counts("conv", x.shape[2:], w.shape[2:], attrs)
    return TensorType((x.shape[0], w.shape[0], *counts), dtype)


def _conv_transpose_type(x: TensorType, w: TensorType, **attrs: Any) -> TensorType:
    where, groups = "conv_transpose", attrs["groups"]
    dtype = _numeric(where, x=x, w=w)
    _require_groups(where, "x", x.shape[1], groups)
    _require_channels(where, "x", x.shape[1], w.shape[0], "w.shape[0]")
    if any(size == 0 for size in x.shape[2:]):
        raise ShapeError(where, "x has an empty spatial axis", expected="at least 1", got=x)
    sizes: list[Size] = []
    for axis, extent in enumerate(extents(x.shape[2:], w.shape[2:], attrs)):
        before, after = attrs["padding"][axis]
        sizes.append(extent - before - after)
        if isinstance(sizes[-1], int) and sizes[-1] < 0:
            raise ShapeError(
                where,
                f"padding takes away more than there is on spatial axis {axis}",
                expected=f"at most {extent} together",
                got=f"{before} and {after}",
            )
    return TensorType((x.shape[0], w.shape[1] * groups, *sizes), dtype)


def _kernel_gradient_type(x: TensorType, y: TensorType, **attrs: Any) -> TensorType:
    where, groups, kernel = "conv_kernel_gradient", attrs["groups"], attrs["kernel"]
    dtype = _numeric(where, x=x, y=y)
    require_equal(x.shape[0], y.shape[0], where, "batch sizes of x and y")
    _require_groups(where, "x", x.shape[1], groups)
    _require_groups(where, "y", y.shape[1], groups)
    counts = _window_counts(where, x.shape[2:], kernel, attrs)
    for axis, count in enumerate(counts):
        require_equal(count, y.shape[axis + 2], where, f"sizes of y on spatial axis {axis}")
    return TensorType((y.shape[1], x.shape[1] // groups, *kernel), dtype)


# --- transposes -----------------------------------------------------------------------------------


def _conv_to_x(ct: Any, x: Any, w: Any, **attrs: Any) -> Any:
    padding = exact_padding(x.shape[2:], ct.shape[2:], w.shape[2:], attrs)
    return conv_transpose(ct, w, **{**attrs, "padding": padding})


def _conv_to_w(ct: Any, x: Any, w: Any, **attrs: Any) -> Any:
    return conv_kernel_gradient(x, ct, kernel=w.shape[2:], **attrs)


def _conv_transpose_to_x(ct: Any, x: Any, w: Any, *, output_padding: Any, **attrs: Any) -> Any:
    return conv(ct, w, **attrs)


def _conv_transpose_to_w(ct: Any, x: Any, w: Any, *, output_padding: Any, **attrs: Any) -> Any:
    return conv_kernel_gradient(ct, x, kernel=w.shape[2:], **attrs)


def _kernel_gradient_to_x(ct: Any, x: Any, y: Any, *, kernel: Any, **attrs: Any) -> Any:
    padding = exact_padding(x.shape[2:], y.shape[2:], kernel, attrs)
    return conv_transpose(y, ct, **{**attrs, "padding": padding})


def _kernel_gradient_to_y(ct: Any, x: Any, y: Any, *, kernel: Any, **attrs: Any) -> Any:
    return conv(x, ct, **attrs)


# --- kernels --------------------------------------------------------------------------------------

_FEW_POINTS = 128
"""With fewer places per image, a product per image is too small to be fast: the batch joins in."""


@multilinear(type=_conv_type, transpose=(_conv_to_x, _conv_to_w), normalize=_conv_attrs)
def conv(
    x: Array,
    w: Array,
    /,
    *,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Array:
    """The cross-correlation of images with kernels, over the spatial axes.

    ``y[n, o, p] = sum over c, k of w[o, c, k] * x[n, c', stride*p + dilation*k - before]``, where
    c' is channel c of the group of o, and x is zero outside. A size becomes
    ``(size + before + after - dilation*(k - 1) - 1)//stride + 1``.

    Args:
        x: images (N, C, *sizes), numbers of any type; the result has the promoted type.
        w: kernels (O, C/groups, *kernel).
        stride, dilation: an int, or one per spatial axis; at least 1.
        padding: an int, one per axis, or a pair (before, after) per axis, which crops where it is
            negative; ``"valid"`` for none; ``"same"`` keeps the sizes, with stride 1 (an odd cell
            goes after).
        groups: how many groups the channels are divided into, each with its own kernels.
    Raises:
        ShapeError: ranks or channels do not fit, groups does not divide them, the kernel is larger
            than the padded image, or an attribute is out of range.
        ArgumentError: unknown padding. DTypeError: booleans.

    >>> import symgrad as sg
    >>> x = sg.asarray([[[1.0, 2.0, 4.0, 8.0]]])
    >>> sg.conv(x, sg.asarray([[[1.0, 10.0]]]), stride=2)
    Tensor([[[21., 84.]]])
    """
    dtype = np.result_type(x.dtype, w.dtype)
    x = padded(x.astype(working_dtype(dtype), copy=False), padding)
    seen = windows(x, w.shape[2:], stride, dilation)
    n, o, places = len(x), len(w), seen.shape[w.ndim :]
    inner, points = math.prod(w.shape[1:]), math.prod(places)
    w = w.astype(x.dtype, copy=False).reshape(groups, o // groups, inner)
    if n == 1 or points >= _FEW_POINTS:
        y = np.matmul(w, seen.reshape(n, groups, inner, points)).reshape(n, o, *places)
    else:
        rows = np.moveaxis(seen, 0, len(places) + 1).reshape(groups, inner, n * points)
        y = np.ascontiguousarray(np.matmul(w, rows).reshape(o, n, *places).swapaxes(0, 1))
    return y.astype(dtype, copy=False)


@multilinear(
    type=_conv_transpose_type,
    transpose=(_conv_transpose_to_x, _conv_transpose_to_w),
    normalize=_conv_transpose_attrs,
)
def conv_transpose(
    x: Array,
    w: Array,
    /,
    *,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Array:
    """The adjoint of `conv` with the same attributes: each input cell adds a scaled kernel.

    A size becomes
    ``(size - 1)*stride + dilation*(k - 1) + 1 - before - after + output_padding``.

    Args:
        x: responses (N, C, *sizes), numbers of any type; the result has the promoted type.
        w: kernels (C, O/groups, *kernel).
        stride, dilation: an int, or one per spatial axis; at least 1.
        padding: what `conv` would add, and this takes away; in the same forms.
        output_padding: how many cells more there are after the end, less than stride or dilation:
            of the sizes that `conv` maps to the same size, it picks one.
        groups: how many groups the channels are divided into, each with its own kernels.
    Raises:
        ShapeError: ranks or channels do not fit, groups does not divide them, padding takes away
            more than there is, or an attribute is out of range.
        ArgumentError: unknown padding. DTypeError: booleans.

    >>> import symgrad as sg
    >>> x = sg.asarray([[[1.0, 2.0, 3.0]]])
    >>> sg.conv_transpose(x, sg.asarray([[[1.0, 10.0]]]), stride=2)
    Tensor([[[ 1., 10.,  2., 20.,  3., 30.]]])
    """
    dtype = np.result_type(x.dtype, w.dtype)
    work = working_dtype(dtype)
    n, c, *places = x.shape
    shape, inner = w.shape[1:], math.prod(w.shape[1:])
    x = x.astype(work, copy=False)
    w = w.astype(work, copy=False).reshape(groups, c // groups, inner).swapaxes(1, 2)
    if n == 1 or math.prod(places) >= _FEW_POINTS:
        parts = np.matmul(w, x.reshape(n, groups, c // groups, math.prod(places)))
        parts = parts.reshape(n, groups * shape[0], *shape[1:], *places)
    else:
        rows = x.swapaxes(0, 1).reshape(groups, c // groups, n * math.prod(places))
        parts = np.matmul(w, rows).reshape(groups * shape[0], *shape[1:], n, *places)
        parts = np.moveaxis(parts, len(shape), 0)
    crop = tuple([(-before, -after) for before, after in padding])
    return padded(overlaid(parts, stride, dilation), crop).astype(dtype, copy=False)


def _kernel_gradient_attrs(types: list[TensorType], attrs: Attrs) -> Attrs:
    return _canonical("conv_kernel_gradient", types, attrs["kernel"], attrs)


@multilinear(
    type=_kernel_gradient_type,
    transpose=(_kernel_gradient_to_x, _kernel_gradient_to_y),
    normalize=_kernel_gradient_attrs,
    namespace=None,
)
def conv_kernel_gradient(
    x: Array,
    y: Array,
    /,
    *,
    kernel: tuple[Any, ...],
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Array:
    """The derivative of ``sum(conv(x, w) * y)`` by ``w``: images correlated with responses.

    Args:
        x: images (N, C, *sizes).
        y: responses (N, O, *sizes), of the shape that `conv` gives.
        kernel: the sizes of the kernel; with a stride, they do not follow from the others.
        stride, padding, dilation, groups: those of `conv`.
    Returns:
        kernels (O, C/groups, *kernel).

    >>> import symgrad as sg
    >>> x, y = sg.asarray([[[1.0, 2.0, 4.0, 8.0]]]), sg.asarray([[[1.0, 10.0]]])
    >>> conv_kernel_gradient(x, y, kernel=(2,), stride=2)
    Tensor([[[41., 82.]]])
    """
    dtype = np.result_type(x.dtype, y.dtype)
    work = working_dtype(dtype)
    seen = windows(padded(x.astype(work, copy=False), padding), kernel, stride, dilation)
    (n, c), o, places = x.shape[:2], y.shape[1], y.shape[2:]
    inner, terms = c // groups * math.prod(kernel), n * math.prod(places)
    rows = np.moveaxis(seen, 0, len(kernel) + 1).reshape(groups, inner, terms)
    y = y.astype(work, copy=False).swapaxes(0, 1).reshape(groups, o // groups, terms)
    w = np.matmul(y, rows.swapaxes(1, 2))
    return w.reshape(o, c // groups, *kernel).astype(dtype, copy=False)
