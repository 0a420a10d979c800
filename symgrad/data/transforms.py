"""Transforms: plain functions of tensors or symbols; those that draw take a key.

Images have the axes (..., channels, height, width).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from symgrad.errors import ArgumentError, ShapeError
from symgrad.ir.op import ops
from symgrad.types import default_float, is_inexact


def compose(*functions: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """One function after the other.

    >>> import symgrad as sg
    >>> sg.data.compose(lambda x: x + 1, lambda x: x * 10)(2)
    30
    """

    def composed(x: Any) -> Any:
        for function in functions:
            x = function(x)
        return x

    return composed


def to_float(x: Any, scale: float | None = None, *, dtype: Any = None) -> Any:
    """Floating-point numbers, divided by ``scale``: by 255, if None and x holds bytes.

    >>> import symgrad as sg
    >>> sg.data.to_float(sg.tensor([0, 51, 255], dtype=sg.uint8))
    Tensor([0. , 0.2, 1. ])
    """
    x = ops.asarray(x)
    if scale is None:
        scale = 255.0 if x.dtype.name == "uint8" else 1.0
    kind = dtype if dtype is not None else x.dtype if is_inexact(x.dtype) else default_float()
    return ops.astype(x, kind) if scale == 1.0 else ops.astype(x, kind) / scale


def normalize(x: Any, mean: float | Sequence[float], std: float | Sequence[float]) -> Any:
    """``(x - mean) / std``, with one number for all channels or one per channel.

    Raises:
        ShapeError: their number is not that of the channels. ArgumentError: a deviation is 0.

    >>> import symgrad as sg
    >>> sg.data.normalize(sg.ones(2, 1, 2), [1.0, 0.0], [1.0, 0.5])
    Tensor([[[0., 0.]],
            [[2., 2.]]])
    """
    x = to_float(x, 1.0)
    if (isinstance(std, Sequence) and not all(std)) or not std:
        raise ArgumentError("normalize", "a standard deviation is 0", got=std)
    return (x - _per_channel(x, "mean", mean)) / _per_channel(x, "std", std)


def _per_channel(x: Any, name: str, value: float | Sequence[float]) -> Any:
    if not isinstance(value, Sequence):
        return value
    if x.ndim < 3 or x.shape[-3] != len(value):
        raise ShapeError(
            "normalize", f"{name} has {len(value)} numbers", expected="one per channel", got=x.type
        )
    return ops.reshape(ops.asarray(list(value), dtype=x.dtype), (len(value), 1, 1))


def standardize(x: Any, *, like: Any = None, axis: int = 0, eps: float = 1e-12) -> Any:
    """Mean 0 and variance 1 along an axis; with the statistics of ``like``, if it is given.

    What is constant becomes 0.

    >>> import symgrad as sg
    >>> train, test = sg.tensor([[0.0], [2.0]]), sg.tensor([[4.0]])
    >>> sg.data.standardize(train), sg.data.standardize(test, like=train)
    (Tensor([[-1.],
            [ 1.]]), Tensor([[3.]]))
    """
    source = to_float(x if like is None else like, 1.0)
    mean = ops.mean(source, axis=axis, keepdims=True)
    std = ops.std(source, axis=axis, keepdims=True)
    return (to_float(x, 1.0) - mean) / ops.where(std <= eps * ops.abs(mean), 1.0, std)


def center_crop(x: Any, size: int | tuple[int, int]) -> Any:
    """The middle of images.

    >>> import symgrad as sg
    >>> sg.data.center_crop(sg.reshape(sg.arange(9), (1, 3, 3)), 1)
    Tensor([[[4]]])
    """
    x = ops.asarray(x)
    height, width = _size("center_crop", x, size, 0)
    top, left = (x.shape[-2] - height) // 2, (x.shape[-1] - width) // 2
    return x[..., top : top + height, left : left + width]


def _size(where: str, x: Any, size: int | tuple[int, int], padding: int) -> tuple[int, int]:
    height, width = size if isinstance(size, tuple) else (size, size)
    if x.ndim < 3:
        raise ShapeError(where, "no images", expected="(..., channels, height, width)", got=x.type)
    room = x.shape[-2] + 2 * padding, x.shape[-1] + 2 * padding
    if not (0 < height <= room[0] and 0 < width <= room[1]):
        raise ShapeError(where, "size", expected=f"at most {room}", got=(height, width))
    return height, width


def random_crop(x: Any, size: int | tuple[int, int], key: Any, padding: int = 0) -> Any:
    """A part of each image of a batch (images, channels, height, width), drawn for each by itself.

    Args:
        x: the images.
        size: of the parts.
        key: what the draws depend on.
        padding: zeros around the images first.

    Raises:
        ShapeError: x is no batch of images, or the size is larger than they are.

    >>> import symgrad as sg
    >>> images = sg.ones(5, 1, 8, 8)
    >>> sg.data.random_crop(images, 6, sg.random.key(0)).shape
    (5, 1, 6, 6)
    """
    x = ops.asarray(x)
    if x.ndim != 4:
        raise ShapeError("random_crop", "no batch of images", expected="4 axes", got=x.type)
    height, width = _size("random_crop", x, size, padding)
    if padding:
        x = ops.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    count = (x.shape[0], 1)
    for_rows, for_columns = ops.fold_in(key, 0), ops.fold_in(key, 1)
    top = ops.randint(for_rows, count, 0, x.shape[-2] - height + 1)
    left = ops.randint(for_columns, count, 0, x.shape[-1] - width + 1)
    rows, columns = top + ops.arange(height), left + ops.arange(width)
    image = ops.reshape(ops.arange(x.shape[0]), (-1, 1, 1))
    parts = x[image, :, rows[:, :, None], columns[:, None, :]]
    return ops.permute_dims(parts, (0, 3, 1, 2))


def random_flip(x: Any, key: Any, p: float = 0.5) -> Any:
    """Each image of a batch mirrored left to right with probability p.

    >>> import symgrad as sg
    >>> sg.data.random_flip(sg.tensor([[[[1, 2]]]]), sg.random.key(0), p=1.0)
    Tensor([[[[2, 1]]]])
    """
    x = ops.asarray(x)
    if x.ndim != 4:
        raise ShapeError("random_flip", "no batch of images", expected="4 axes", got=x.type)
    mirrored = ops.bernoulli(key, p, (x.shape[0], 1, 1, 1))
    return ops.where(mirrored, ops.flip(x, axis=-1), x)


def add_noise(x: Any, key: Any, std: float = 0.1) -> Any:
    """Normal noise of this deviation on top.

    >>> import symgrad as sg
    >>> sg.data.add_noise(sg.zeros(2), sg.random.key(0), std=0.0)
    Tensor([0., 0.])
    """
    x = to_float(x, 1.0)
    return x + std * ops.normal(key, x.shape, dtype=x.dtype)
