"""Normalisations of layers, as pure functions of their arguments. The conventions are PyTorch's.

What has a running state takes the mean and the variance as operands, or computes them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, ShapeError
from symgrad.ir.op import ZERO, Attrs, ops
from symgrad.ops.families import Array, composite, opaque, require_kind
from symgrad.ops.loss_reduction import as_floats, require_number, require_shape
from symgrad.ops.moments import any_guard, centred, distances, wide, widened
from symgrad.ops.scalar import astype, square
from symgrad.types import DType, Shape, TensorType, normalize_axes, normalize_axis, promote

Axes = tuple[int, ...]

# --- mean 0 and variance 1 ------------------------------------------------------------------------


def _standardized_type(x: TensorType, *, axis: Axes, eps: float) -> TensorType:
    require_kind("standardized", x.dtype, "floating")
    return x


def _turned(t: Any, y: Any, x: Any, axis: Axes, eps: float) -> Any:
    """The derivative applied to ``t``: a symmetric matrix, so this is both modes."""
    scale = ops.rsqrt(ops.var(wide(x), axis=axis, keepdims=True) + eps)
    t, y = wide(t), wide(y)
    return (centred(t, axis=axis) - y * ops.mean(t * y, axis=axis, keepdims=True)) * scale


def _standardized_jvp(tangents: Any, y: Any, args: Any, attrs: Attrs) -> Any:
    if tangents[0] is ZERO:
        return ZERO
    turned = _turned(tangents[0], y, args[0], **attrs)
    return turned if turned.dtype == y.dtype else astype(turned, y.dtype)


@opaque(
    type=_standardized_type,
    vjp=(lambda ct, y, x, *, axis, eps: _turned(ct, y, x, axis, eps),),
    jvp=_standardized_jvp,
    guard=any_guard,
    namespace=None,
)
def standardized(x: Array, /, *, axis: tuple[int, ...], eps: float) -> Array:
    """``(x - mean) / sqrt(var + eps)`` along axes; half precision is computed in single.

    >>> standardized(np.array([1.0, 3.0]), axis=(0,), eps=0.0)
    Tensor([-1.,  1.])
    """
    far = distances(widened(x), axis)
    spread = np.add.reduce(np.square(far), axis=axis, keepdims=True)
    spread = spread / math.prod([x.shape[k] for k in axis])
    return np.divide(far, np.sqrt(spread + np.asarray(eps, far.dtype))).astype(x.dtype, copy=False)


# --- weight and bias ------------------------------------------------------------------------------


def _require_eps(name: str, eps: Any) -> None:
    require_number(name, "eps", eps, isinstance(eps, (int, float)) and eps >= 0, "0 or more")


def _affine(name: str, y: Any, weight: Any, bias: Any, axes: Axes, dtype: DType) -> Any:
    """``y * weight + bias``, with one number per position of the axes."""
    sizes = tuple([y.shape[k] for k in axes])
    kept = [size if k in axes else 1 for k, size in enumerate(y.shape)]
    for argument, value in (("weight", weight), ("bias", bias)):
        if value is None:
            continue
        value = ops.asarray(value)
        require_shape(name, argument, value.shape, sizes, "the axes it belongs to")
        if sizes != y.shape:
            value = ops.reshape(value, kept)
        y = y * value if argument == "weight" else y + value
        dtype = promote(dtype, value.dtype)
    return y if y.dtype == dtype else astype(y, dtype)


def _channels(name: str, x: Any) -> Any:
    """The array as floats; its axis 1 holds channels."""
    x = as_floats(name, "x", x)
    if x.ndim < 2:
        raise ShapeError(
            name, "there is no axis of channels", expected="2 axes or more", got=x.type
        )
    return x


# --- normalisations -------------------------------------------------------------------------------


@composite
def layer_norm(
    x: Array,
    /,
    weight: Array | None = None,
    bias: Array | None = None,
    *,
    axis: Any = -1,
    eps: float = 1e-5,
) -> Any:
    """``(x - mean) / sqrt(var + eps) * weight + bias``, with mean and variance along axes.

    Source: Ba, Kiros and Hinton, Layer normalization (2016).

    Args:
        x: real numbers.
        weight, bias: a number per position of the axes, in their order; None: 1 and 0.
        axis: the axis, or a tuple of axes, along which is normalised.
        eps: a number of at least 0.
    Raises:
        ShapeError: an axis does not exist, or weight or bias has another shape.
        ArgumentError: eps is negative.

    >>> import symgrad as sg
    >>> sg.layer_norm(sg.asarray([[1.0, 3.0], [5.0, 5.0]]), eps=1e-12)
    Tensor([[-1.,  1.],
            [ 0.,  0.]])
    """
    name = "layer_norm"
    _require_eps(name, eps)
    x = as_floats(name, "x", x)
    axes = normalize_axes(axis, x.ndim, name)
    y = standardized(wide(x), axis=tuple(sorted(axes)), eps=eps)
    return _affine(name, y, weight, bias, _in_order(name, axes), x.dtype)


def _in_order(name: str, axes: Axes) -> Axes:
    if tuple(sorted(axes)) != axes:
        raise ShapeError(name, "axes are not in order", expected=tuple(sorted(axes)), got=axes)
    return axes


@composite
def rms_norm(
    x: Array, /, weight: Array | None = None, *, axis: Any = -1, eps: float | None = None
) -> Any:
    """``x / sqrt(mean(x**2) + eps) * weight``, with the mean along axes.

    Source: Zhang and Sennrich, Root mean square layer normalization (2019).

    Args:
        x: real numbers.
        weight: a number per position of the axes, in their order; None: 1.
        axis: the axis, or a tuple of axes, along which is normalised.
        eps: a number of at least 0; None: the epsilon of the element type.
    Raises:
        ShapeError: an axis does not exist, or weight has another shape.
        ArgumentError: eps is negative.

    >>> import symgrad as sg
    >>> sg.rms_norm(sg.asarray([3.0, -3.0]), eps=0.0)
    Tensor([ 1., -1.])
    """
    name = "rms_norm"
    x = as_floats(name, "x", x)
    eps = float(np.finfo(x.dtype).eps) if eps is None else eps
    _require_eps(name, eps)
    axes = _in_order(name, normalize_axes(axis, x.ndim, name))
    single = wide(x)
    y = single * ops.rsqrt(ops.mean(square(single), axis=axes, keepdims=True) + eps)
    return _affine(name, y, weight, None, axes, x.dtype)


@composite
def group_norm(
    x: Array,
    /,
    num_groups: int,
    weight: Array | None = None,
    bias: Array | None = None,
    *,
    eps: float = 1e-5,
) -> Any:
    """Normalises, for each element of the batch, the channels of a group together.

    Source: Wu and He, Group normalization (2018).

    Args:
        x: (batch, channels, …) real numbers.
        num_groups: how many groups of consecutive channels; it divides the number of channels.
        weight, bias: (channels,) numbers; None: 1 and 0.
        eps: a number of at least 0.
    Raises:
        ShapeError: x has fewer axes, its channels do not divide, or weight or bias has another
            shape. ArgumentError: num_groups is not positive, or eps is negative.

    >>> import symgrad as sg
    >>> sg.group_norm(sg.asarray([[1.0, 3.0, 5.0, 9.0]]), 2, eps=0.0)
    Tensor([[-1.,  1., -1.,  1.]])
    """
    name = "group_norm"
    _require_eps(name, eps)
    if type(num_groups) is not int or num_groups < 1:
        raise ArgumentError(name, "num_groups is no count", expected="an int >= 1", got=num_groups)
    x = _channels(name, x)
    channels = x.shape[1]
    if isinstance(channels, int) and channels % num_groups:
        expected = f"a multiple of {num_groups}"
        raise ShapeError(name, "channels do not divide", expected=expected, got=channels)
    grouped = (x.shape[0], num_groups, channels // num_groups, *x.shape[2:])
    y = ops.reshape(wide(x), grouped)
    y = ops.reshape(standardized(y, axis=tuple(range(2, len(grouped))), eps=eps), x.shape)
    return _affine(name, y, weight, bias, (1,), x.dtype)


@composite
def instance_norm(
    x: Array,
    /,
    weight: Array | None = None,
    bias: Array | None = None,
    *,
    eps: float = 1e-5,
) -> Any:
    """Normalises each channel of each element of the batch by itself.

    Source: Ulyanov, Vedaldi and Lempitsky, Instance normalization (2016).

    Args:
        x: (batch, channels, …) real numbers, with at least one axis more.
        weight, bias: (channels,) numbers; None: 1 and 0.
        eps: a number of at least 0.
    Raises:
        ShapeError: x has fewer axes, or weight or bias has another shape.
        ArgumentError: eps is negative.

    >>> import symgrad as sg
    >>> sg.instance_norm(sg.asarray([[[1.0, 3.0], [5.0, 9.0]]]), eps=0.0)
    Tensor([[[-1.,  1.],
             [-1.,  1.]]])
    """
    name = "instance_norm"
    _require_eps(name, eps)
    x = _channels(name, x)
    if x.ndim < 3:
        raise ShapeError(name, "a channel has no axis", expected="3 axes or more", got=x.type)
    y = standardized(wide(x), axis=tuple(range(2, x.ndim)), eps=eps)
    return _affine(name, y, weight, bias, (1,), x.dtype)


@composite
def batch_norm(
    x: Array,
    /,
    mean: Array | None = None,
    var: Array | None = None,
    weight: Array | None = None,
    bias: Array | None = None,
    *,
    axis: int = 1,
    eps: float = 1e-5,
) -> Any:
    """Normalises each channel over the batch: with its own mean and variance, or with given ones.

    Source: Ioffe and Szegedy, Batch normalization (2015).

    Args:
        x: (batch, channels, …) real numbers.
        mean, var: (channels,) numbers, such as running averages; None: those of ``x`` itself, the
            variance without correction, through which derivatives pass.
        weight, bias: (channels,) numbers; None: 1 and 0.
        axis: the axis of channels.
        eps: a number of at least 0.
    Raises:
        ShapeError: the axis does not exist, or an operand has another shape.
        ArgumentError: only one of mean and var is given, or eps is negative.

    >>> import symgrad as sg
    >>> sg.batch_norm(sg.asarray([[1.0, 5.0], [3.0, 9.0]]), eps=0.0)
    Tensor([[-1., -1.],
            [ 1.,  1.]])
    """
    name = "batch_norm"
    _require_eps(name, eps)
    if (mean is None) != (var is None):
        raise ArgumentError(name, "one of mean and var is missing", expected="both, or neither")
    x = as_floats(name, "x", x)
    channel = (normalize_axis(axis, x.ndim, name),)
    if mean is None:
        others = tuple([k for k in range(x.ndim) if k not in channel])
        return _affine(
            name, standardized(wide(x), axis=others, eps=eps), weight, bias, channel, x.dtype
        )
    centre, scale = _per_channel(name, x.shape, channel, mean=mean, var=var)
    y = (wide(x) - centre) * ops.rsqrt(wide(scale) + eps)
    return _affine(name, y, weight, bias, channel, x.dtype)


def _per_channel(name: str, shape: Shape, channel: Axes, **arrays: Any) -> list[Any]:
    """One number per channel, in shapes that broadcast with the array."""
    found: list[Any] = []
    for argument, value in arrays.items():
        value = ops.asarray(value)
        require_shape(name, argument, value.shape, (shape[channel[0]],), "the axis of channels")
        kept = [size if k in channel else 1 for k, size in enumerate(shape)]
        found.append(ops.reshape(value, kept))
    return found


@composite
def local_response_norm(
    x: Array, /, size: int, *, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Any:
    """``x / (k + alpha * mean(neighbours**2)) ** beta``, over neighbouring channels.

    The mean is over ``size`` channels, ``size // 2`` of them before; beyond the ends they are 0,
    and count. Source: Krizhevsky, Sutskever and Hinton, ImageNet classification (2012), 3.3.

    Args:
        x: (batch, channels, …) real numbers.
        size: how many channels, at least 1.
        alpha, beta, k: numbers.
    Raises:
        ShapeError: x has fewer axes. ArgumentError: size is no count.

    >>> import symgrad as sg
    >>> sg.local_response_norm(sg.asarray([[3.0, 0.0]]), 2, alpha=2.0, beta=1.0, k=0.0)
    Tensor([[0.33333333, 0.        ]])
    """
    name = "local_response_norm"
    if type(size) is not int or size < 1:
        raise ArgumentError(name, "size is no count", expected="an int >= 1", got=repr(size))
    x = _channels(name, x)
    single = wide(x)
    before = size // 2
    widths = [(before, size - 1 - before) if axis == 1 else (0, 0) for axis in range(x.ndim)]
    padded = ops.pad(square(single), widths)
    total: Any = None
    for first in range(size):
        after = first - size + 1
        part = padded[:, first : after if after < 0 else None]
        total = part if total is None else total + part
    y = single / (k + (alpha / size) * total) ** beta
    return y if y.dtype == x.dtype else astype(y, x.dtype)
