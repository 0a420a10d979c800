"""Pooling over windows: `max_pool` and `avg_pool`, and their names for two axes."""

from __future__ import annotations

from typing import Any

from symgrad.errors import ShapeError
from symgrad.ops.avg_pool import avg_pool
from symgrad.ops.families import Array, composite
from symgrad.ops.max_pool import max_pool

__all__ = ["avg_pool", "avg_pool2d", "max_pool", "max_pool2d"]


def _require_images(where: str, x: Any) -> None:
    """Refuse what is not a batch of images with channels."""
    if len(x.shape) != 4:
        raise ShapeError(
            where, "x needs batch, channel, height and width", expected="4 axes", got=x.shape
        )


@composite
def max_pool2d(
    x: Array,
    kernel: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> Any:
    """`max_pool` over two spatial axes.

    >>> import symgrad as sg
    >>> sg.max_pool2d(sg.asarray([[[[1.0, 2.0], [4.0, 3.0]]]]), 2)
    Tensor([[[[4.]]]])
    """
    _require_images("max_pool2d", x)
    return max_pool(
        x, kernel, stride=stride, padding=padding, dilation=dilation, ceil_mode=ceil_mode
    )


@composite
def avg_pool2d(
    x: Array,
    kernel: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Any:
    """`avg_pool` over two spatial axes.

    >>> import symgrad as sg
    >>> sg.avg_pool2d(sg.asarray([[[[1.0, 2.0], [4.0, 3.0]]]]), 2)
    Tensor([[[[2.5]]]])
    """
    _require_images("avg_pool2d", x)
    return avg_pool(
        x,
        kernel,
        stride=stride,
        padding=padding,
        count_include_pad=count_include_pad,
        ceil_mode=ceil_mode,
    )
