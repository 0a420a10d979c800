"""Channels turned into space, space into channels, and channels mixed across groups."""

from __future__ import annotations

from typing import Any

from symgrad.errors import ArgumentError, ShapeError
from symgrad.ir.op import ops
from symgrad.ops.families import Array, composite
from symgrad.types import Size


def _require_factor(where: str, name: str, factor: Any) -> int:
    if type(factor) is not int or factor < 1:
        raise ArgumentError(where, name, expected="a whole number above 0", got=repr(factor))
    return factor


def _require_axes(where: str, x: Any, least: int) -> None:
    if x.ndim < least:
        raise ShapeError(where, "number of axes", expected=f"at least {least}", got=x.type)


def _divided(where: str, what: str, size: Size, factor: int) -> Size:
    """``size / factor``; a ShapeError, if that is no whole number."""
    if isinstance(size, int) and size % factor:
        raise ShapeError(where, what, expected=f"a multiple of {factor}", got=size)
    return size // factor


@composite
def pixel_shuffle(x: Array, /, upscale_factor: int) -> Any:
    """Images r times as high and wide, made of r*r channels each.

    ``y[..., c, r*i + a, r*j + b] = x[..., c*r*r + r*a + b, i, j]``.

    Args:
        x: an array (..., C*r*r, height, width) of any element type.
        upscale_factor: r.
    Raises:
        ShapeError: too few axes, or channels that r*r does not divide. ArgumentError: r is below 1.

    >>> import symgrad as sg
    >>> sg.pixel_shuffle(sg.reshape(sg.arange(8), (4, 1, 2)), 2)
    Tensor([[[0, 2, 1, 3],
             [4, 6, 5, 7]]])
    """
    where, x = "pixel_shuffle", ops.asarray(x)
    _require_axes(where, x, 3)
    r = _require_factor(where, "upscale_factor", upscale_factor)
    *lead, channels, height, width = x.shape
    c, k = _divided(where, "channels", channels, r * r), len(lead)
    x = ops.reshape(x, (*lead, c, r, r, height, width))
    x = ops.permute_dims(x, (*range(k + 1), k + 3, k + 1, k + 4, k + 2))
    return ops.reshape(x, (*lead, c, height * r, width * r))


@composite
def pixel_unshuffle(x: Array, /, downscale_factor: int) -> Any:
    """The inverse of `pixel_shuffle`: each cell of r by r pixels becomes r*r channels.

    Args:
        x: an array (..., C, r*height, r*width) of any element type.
        downscale_factor: r.
    Raises:
        ShapeError: too few axes, or sizes that r does not divide. ArgumentError: r is below 1.

    >>> import symgrad as sg
    >>> sg.pixel_unshuffle(sg.asarray([[[0, 1], [2, 3]]]), 2)[:, 0, 0]
    Tensor([0, 1, 2, 3])
    """
    where, x = "pixel_unshuffle", ops.asarray(x)
    _require_axes(where, x, 3)
    r = _require_factor(where, "downscale_factor", downscale_factor)
    *lead, channels, height, width = x.shape
    h, w = (_divided(where, "a spatial size", size, r) for size in (height, width))
    k = len(lead)
    x = ops.reshape(x, (*lead, channels, h, r, w, r))
    x = ops.permute_dims(x, (*range(k + 1), k + 2, k + 4, k + 1, k + 3))
    return ops.reshape(x, (*lead, channels * r * r, h, w))


@composite
def channel_shuffle(x: Array, /, groups: int) -> Any:
    """The channels of groups taken in turn: the first of each, then the second of each.

    Args:
        x: an array (N, C, ...) of any element type.
        groups: how many groups of neighbouring channels there are.
    Raises:
        ShapeError: fewer than two axes, or channels that groups does not divide. ArgumentError:
        groups is below 1.

    >>> import symgrad as sg
    >>> sg.channel_shuffle(sg.asarray([[0, 1, 2, 3, 4, 5]]), 2)
    Tensor([[0, 3, 1, 4, 2, 5]])
    """
    where, x = "channel_shuffle", ops.asarray(x)
    _require_axes(where, x, 2)
    count = _require_factor(where, "groups", groups)
    n, channels, *sizes = x.shape
    each = _divided(where, "channels", channels, count)
    parts = ops.reshape(x, (n, count, each, *sizes))
    parts = ops.permute_dims(parts, (0, 2, 1, *range(3, 3 + len(sizes))))
    return ops.reshape(parts, x.shape)
