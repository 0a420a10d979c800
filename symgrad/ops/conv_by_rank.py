"""Convolutions under the names that state the number of spatial axes, with a number per channel."""

from __future__ import annotations

from typing import Any

from symgrad.errors import ShapeError
from symgrad.ir.op import ops
from symgrad.ops.by_rank import by_rank
from symgrad.ops.conv import conv, conv_transpose
from symgrad.ops.families import Array
from symgrad.types import require_equal, take_constraints


def _shifted(where: str, y: Any, bias: Any) -> Any:
    """``y`` plus a number per channel."""
    if bias is None:
        return y
    bias, channels = ops.asarray(bias), y.shape[1]
    if bias.ndim != 1:
        raise ShapeError(where, "axes of bias", expected="1 axis", got=bias.type)
    require_equal(channels, bias.shape[0], where, "channels of the result and numbers in bias")
    take_constraints()  # `reshape` states it
    return y + ops.reshape(bias, (channels, *(1,) * (y.ndim - 2)))


@by_rank("conv")
def _conv(
    x: Array,
    w: Array,
    bias: Array | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """`conv` over {axes}, plus a number per output channel.

    Args:
        x: images (N, C, *sizes), or one image (C, *sizes).
        w: kernels (O, C/groups, *kernel); with groups=C, each channel has its own (depthwise).
        bias: (O,), or None for nothing.
        stride, padding, dilation, groups: those of `conv`.
    Raises:
        ShapeError: numbers of axes differ, bias is not (O,), or as `conv`.

    >>> import symgrad as sg
    >>> y = sg.{name}({ones}, sg.ones((1, 1{fours})), sg.asarray([0.5]))
    >>> float(y.item()) - 4.0 ** (len(y.shape) - 2)
    0.5
    """
    y = conv(x, w, stride=stride, padding=padding, dilation=dilation, groups=groups)
    return _shifted("conv", y, bias)


@by_rank("conv_transpose")
def _conv_transpose(
    x: Array,
    w: Array,
    bias: Array | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Any:
    """`conv_transpose` over {axes}, plus a number per output channel.

    Args:
        x: responses (N, C, *sizes), or those of one image (C, *sizes).
        w: kernels (C, O/groups, *kernel).
        bias: (O,), or None for nothing.
        stride, padding, output_padding, groups, dilation: those of `conv_transpose`.
    Raises:
        ShapeError: numbers of axes differ, bias is not (O,), or as `conv_transpose`.

    >>> import symgrad as sg
    >>> sg.{name}({ones}, sg.ones((1, 1{twos})), sg.asarray([0.5]), stride=2).shape
    (1, 1{eights})
    """
    y = conv_transpose(
        x,
        w,
        stride=stride,
        padding=padding,
        output_padding=output_padding,
        dilation=dilation,
        groups=groups,
    )
    return _shifted("conv_transpose", y, bias)


conv1d, conv2d, conv3d = _conv
conv_transpose1d, conv_transpose2d, conv_transpose3d = _conv_transpose
