"""Data that is computed: digits drawn with a pen, in the shape of MNIST."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgrad.data.dataset import Seed, TensorDataset, generator_of
from symgrad.eager.tensor import as_tensor
from symgrad.errors import ArgumentError
from symgrad.types import as_dtype, default_float

# Each digit as lines between points of a grid, 2 wide and 4 high.
_LINES = {
    0: ["00 20", "20 24", "24 04", "04 00"],
    1: ["01 10", "10 14"],
    2: ["00 20", "20 22", "22 02", "02 04", "04 24"],
    3: ["00 20", "20 12", "12 24", "24 04"],
    4: ["10 02", "02 22", "20 24"],
    5: ["20 00", "00 02", "02 22", "22 24", "24 04"],
    6: ["20 02", "02 04", "04 24", "24 22", "22 02"],
    7: ["00 20", "20 14"],
    8: ["00 20", "20 24", "24 04", "04 00", "02 22"],
    9: ["22 02", "02 00", "00 20", "20 22", "22 14"],
}
_AT_ONCE = 500


def synthetic_digits(
    count: int = 1000, *, size: int = 28, seed: Seed = 0, dtype: Any = None
) -> TensorDataset:
    """Digits drawn with a pen: images (count, 1, size, size) from 0 to 1, and their classes.

    Each one is moved, turned, slanted and stretched a little, its lines are thick or thin, and
    there is some noise. The same seed gives the same images.

    Args:
        count: how many.
        size: height and width, in pixels.
        seed: a seed, a generator, or None: what `manual_seed` sets.
        dtype: the element type; the default float if None.

    Raises:
        ArgumentError: ``count`` or ``size`` is below 1.

    >>> import symgrad as sg
    >>> sg.data.synthetic_digits(6)
    TensorDataset(f64[6, 1, 28, 28], i64[6])
    """
    for name, value in (("count", count), ("size", size)):
        if value < 1:
            raise ArgumentError("synthetic_digits", name, expected="an integer >= 1", got=value)
    draw = generator_of(seed)
    labels = draw.randint((count,), 0, 10).numpy()
    shapes = draw.uniform((count, 7), low=-1.0, high=1.0, dtype="float64").numpy()
    kind = default_float() if dtype is None else as_dtype(dtype)
    images = np.empty((count, 1, size, size), kind)
    for begin in range(0, count, _AT_ONCE):
        part = slice(begin, begin + _AT_ONCE)
        drawn = _drawn(labels[part], shapes[part], size)
        noise = draw.normal(drawn.shape, dtype="float64").numpy()
        images[part, 0] = np.clip(drawn + 0.05 * noise, 0.0, 1.0)
    return TensorDataset(as_tensor(images), as_tensor(np.array(labels, np.int64)))


def _drawn(labels: NDArray[Any], shapes: NDArray[Any], size: int) -> NDArray[Any]:
    """Images of the lines of digits, of which seven numbers each say the shape."""
    lines = np.stack([_padded(int(label)) for label in labels])  # (digits, lines, ends, 2)
    dx, dy, turn, slant, wide, high, thick = (shapes[:, k, None, None] for k in range(7))
    x, y = 0.22 * lines[..., 0] * (1 + 0.25 * wide), 0.16 * lines[..., 1] * (1 + 0.15 * high)
    x = x + 0.3 * slant * y
    angle = 0.25 * turn
    ends = np.stack(
        [
            0.5 + 0.08 * dx + np.cos(angle) * x - np.sin(angle) * y,
            0.5 + 0.08 * dy + np.sin(angle) * x + np.cos(angle) * y,
        ],
        axis=-1,
    )
    grid = (np.arange(size) + 0.5) / size
    pixels = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(1, -1, 2)
    nearest = np.full((len(labels), size * size), np.inf)
    for k in range(ends.shape[1]):
        nearest = np.minimum(nearest, _distance(pixels, ends[:, k, 0], ends[:, k, 1]))
    width = 0.045 + 0.015 * thick[:, 0]
    ink = np.clip(1.0 - (nearest - width) * size / 1.5, 0.0, 1.0)
    return ink.reshape(-1, size, size)


def _padded(label: int) -> NDArray[Any]:
    """The lines of a digit around its middle, as many for each: the last is repeated."""
    lines = _LINES[label]
    lines = lines + [lines[-1]] * (5 - len(lines))
    points = [[[int(point[0]) - 1, int(point[1]) - 2] for point in line.split()] for line in lines]
    return np.array(points, np.float64)


def _distance(pixels: NDArray[Any], start: NDArray[Any], end: NDArray[Any]) -> NDArray[Any]:
    """How far each pixel is from a line between two points, one line per image."""
    along = (end - start)[:, None]
    length = np.sum(along * along, axis=-1)
    part = np.clip(np.sum((pixels - start[:, None]) * along, axis=-1) / length, 0.0, 1.0)
    away = pixels - start[:, None] - part[..., None] * along
    return np.sqrt(np.sum(away * away, axis=-1))
