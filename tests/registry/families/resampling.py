"""Rows of images of another size, read between their cells, and shuffled."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from tests.registry.families.windows import adaptive_mean, each
from tests.registry.sampling import S, Sample, normal, rigid

# --- samples --------------------------------------------------------------------------------------


def _resized(mode: str, ratios: Any = None, align: bool = False, smooth: bool = False) -> Any:
    return {"mode": mode, "ratios": ratios, "align_corners": align, "antialias": smooth}


_RESIZINGS: list[dict[str, Any]] = [
    _resized("nearest"),
    _resized("nearest-exact"),
    _resized("linear"),
    _resized("linear", align=True),
    _resized("cubic"),
    _resized("cubic", align=True),
    _resized("linear", smooth=True),
    _resized("cubic", smooth=True),
]

SAMPLES: dict[str, list[Sample]] = {
    "resample": [
        *[S(normal(2, 3, 7), size=(5,), **attrs) for attrs in _RESIZINGS],
        *[S(normal(1, 2, 4, 7), size=(9, 3), **attrs) for attrs in _RESIZINGS],
        S(normal(1, 2, 3, 4, 5), size=(4, 4, 1), **_resized("linear")),
        S(normal(2, 3, 7), size=(10,), **_resized("linear", ((3, 2),))),
        S(normal(2, 3, 7), size=(15,), **_resized("nearest", ((11, 5),))),
    ],
    "resample_transpose": [
        *[S(normal(2, 3, 5), shape=(7,), **attrs) for attrs in _RESIZINGS],
        *[S(normal(1, 2, 9, 3), shape=(4, 7), **attrs) for attrs in _RESIZINGS],
        S(normal(2, 3, 10), shape=(7,), **_resized("cubic", ((3, 2),))),
    ],
}

# Positions in cells, clear of whole numbers and halves, as coordinates over so many cells.
_CELLS = np.array([0.3, 1.7, 2.2, 3.8, -0.4, 0.9, 5.3, -3.2, 7.7, 2.6, 1.1, -1.3])


def _coordinates(*shape: int, cells: int) -> Any:
    return np.resize((2 * _CELLS + 1) / cells - 1, shape)


def _grids(mode: str, padding_mode: str) -> list[Sample]:
    def places(axes: int) -> dict[int, str]:
        return {axes: "one coordinate per axis"}

    attrs = {"mode": mode, "padding_mode": padding_mode}
    aligned = {**attrs, "align_corners": True}
    plane, line = normal(3, 5, 4, 4), normal(4, 2, 5)
    return [
        rigid(S(plane, _coordinates(3, 5, 2, cells=4), **attrs), fixed=places(2)),
        rigid(S(plane, _coordinates(3, 6, 2, cells=3), **aligned), fixed=places(2)),
        rigid(S(line, _coordinates(4, 6, 1, cells=5), **attrs)),
    ]


_AFFINE = {2: "as many as axes", 3: "as many as axes, and one"}

COMPOSITE_SAMPLES: dict[str, list[Sample]] = {
    "grid_sample": [
        *_grids("bilinear", "zeros"),
        *_grids("bilinear", "border"),
        *_grids("bilinear", "reflection"),
        *_grids("nearest", "zeros"),
        *_grids("bicubic", "zeros"),
        *_grids("bicubic", "reflection"),
        rigid(
            S(normal(2, 2, 4, 4, 4), _coordinates(2, 4, 3, cells=4)),
            fixed={3: "one coordinate per axis"},
        ),
    ],
    "affine_grid": [
        rigid(S(normal(4, 2, 3), size=(4, 1, 3, 5)), fixed={**_AFFINE, 4: "in size"}),
        rigid(
            S(normal(4, 1, 2), size=(4, 1, 3), align_corners=True),
            fixed={**_AFFINE, 4: "in size"},
        ),
        rigid(S(normal(1, 3, 4), size=(1, 1, 2, 1, 3)), fixed={**_AFFINE, 4: "axes, and one"}),
    ],
    "pixel_shuffle": [
        S(normal(2, 8, 3, 5), upscale_factor=2),
        S(normal(9, 4, 1), upscale_factor=3),
    ],
    "pixel_unshuffle": [
        S(normal(2, 3, 6, 4), downscale_factor=2),
        S(normal(3, 6, 9), downscale_factor=3),
    ],
    "channel_shuffle": [S(normal(2, 6, 5), groups=3), S(normal(2, 4, 3, 5), groups=2)],
    "interpolate": [
        S(normal(2, 3, 7), size=5),
        S(normal(2, 3, 5, 7), size=(None, 4), mode="nearest-exact"),
        S(normal(2, 3, 7), scale_factor=1.5, mode="linear"),
        S(normal(2, 3, 5, 7), scale_factor=(0.5, 2), mode="bilinear", align_corners=True),
        S(normal(2, 3, 5, 7), size=(3, 9), mode="bicubic"),
        S(normal(2, 3, 5, 7), size=(3, 2), mode="bicubic", antialias=True),
        S(normal(1, 2, 3, 4, 5), size=2, mode="trilinear"),
        S(normal(2, 3, 5, 7), size=(3, 4), mode="area"),
    ],
}

# --- by definition --------------------------------------------------------------------------------


def _keys(distance: float, a: float) -> float:
    """The cubic kernel, piece by piece."""
    d = abs(distance)
    if d < 1:
        return (a + 2) * d**3 - (a + 3) * d**2 + 1
    return a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a if d < 2 else 0.0


def _line(
    x: Any, count: int, ratio: Any, mode: str, align_corners: bool, antialias: bool
) -> list[Any]:
    """One line of an image of another size, cell by cell; ``ratio`` is an exact fraction."""
    n = len(x)
    step = 1 / Fraction(*ratio) if ratio else Fraction(n, count)
    if mode.startswith("nearest"):
        half = Fraction(int(mode == "nearest-exact"), 2)
        return [x[min(math.floor((i + half) * step), n - 1)] for i in range(count)]
    if align_corners:
        step = Fraction(n - 1, count - 1) if count > 1 else Fraction(0)
    if antialias:
        wide, line = max(step, Fraction(1)), []
        for i in range(count):
            distances = [float((j + 0.5 - (i + 0.5) * step) / wide) for j in range(n)]
            linear = [max(0.0, 1 - abs(d)) for d in distances]
            weights = linear if mode == "linear" else [_keys(d, -0.5) for d in distances]
            line.append(np.dot(weights, x) / sum(weights))
        return line
    half = Fraction(0 if align_corners else 1, 2)
    places = [float((i + half) * step - half) for i in range(count)]
    if mode == "linear":
        return list(np.interp(places, range(n), x))
    return [
        sum(_keys(at - j, -0.75) * x[min(max(j, 0), n - 1)] for j in range(-3, n + 4))
        for at in places
    ]


def _resample(x: Any, size: Any, ratios: Any, **attrs: Any) -> Any:
    for axis, count in enumerate(size):
        ratio = None if ratios is None else ratios[axis]
        x = np.apply_along_axis(_line, 2 + axis, x, count, ratio, **attrs)
    return x


def _resample_transpose(ct: Any, shape: Any, **attrs: Any) -> Any:
    """By the images of all unit images."""
    x = np.zeros((*ct.shape[:2], *shape))
    for cell in np.ndindex(*shape):
        unit = np.zeros((1, 1, *shape))
        unit[(0, 0, *cell)] = 1
        seen = _resample(unit, ct.shape[2:], **attrs)
        x[(..., *cell)] = np.sum(ct * seen, axis=tuple(range(2, ct.ndim)))
    return x


_PLAIN = {"bilinear": "linear", "trilinear": "linear", "bicubic": "cubic"}


def _interpolate(
    x: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
    align_corners: bool = False, antialias: bool = False,
) -> Any:  # fmt: skip
    ratios = None
    if scale_factor is not None:
        fractions = [Fraction(f) for f in each(scale_factor, x.ndim - 2)]
        ratios = [f.as_integer_ratio() for f in fractions]
        size = tuple(math.floor(n * f) for n, f in zip(x.shape[2:], fractions, strict=True))
    size = each(size, x.ndim - 2)
    size = tuple(n if o is None else o for o, n in zip(size, x.shape[2:], strict=True))
    if mode == "area":
        return adaptive_mean(x, size)
    kind = _PLAIN.get(mode, mode)
    return _resample(x, size, ratios, mode=kind, align_corners=align_corners, antialias=antialias)


def _mirrored(at: float, low: float, high: float) -> float:
    """Reflected at either end, one after the other."""
    while high > low and not low <= at <= high:
        at = 2 * low - at if at < low else 2 * high - at
    return at if high > low else low


def _weights(
    at: float, size: int, edges: tuple[float, float], mode: str, padding_mode: str
) -> dict[int, float]:
    """What the cells along an axis weigh at a position; those outside read as zeros."""

    def inside(at: float) -> float:
        if padding_mode == "reflection":
            at = _mirrored(at, *edges)
        return at if padding_mode == "zeros" else min(max(at, 0), size - 1)

    if mode == "nearest":
        return {round(inside(at)): 1.0}
    if mode == "bilinear":
        at = inside(at)
        return {j: 1 - abs(at - j) for j in range(-9, 19) if abs(at - j) < 1}
    found: dict[int, float] = {}
    for j in range(math.floor(at) - 1, math.floor(at) + 3):
        cell = round(inside(j))
        found[cell] = found.get(cell, 0) + _keys(at - j, -0.75)
    return found


def _grid_sample(
    x: Any, grid: Any, mode: str = "bilinear", padding_mode: str = "zeros",
    align_corners: bool = False,
) -> Any:  # fmt: skip
    sizes = x.shape[2:]
    y = np.zeros((*x.shape[:2], *grid.shape[1:-1]))
    for n, *place in np.ndindex(*grid.shape[:-1]):
        along = []
        for size, coordinate in zip(sizes, reversed(grid[(n, *place)]), strict=True):
            low, high = (0, size - 1) if align_corners else (-0.5, size - 0.5)
            at = low + (coordinate + 1) / 2 * (high - low)
            along.append(_weights(at, size, (low, high), mode, padding_mode))
        for cell in itertools.product(*along):
            if all(0 <= j < size for j, size in zip(cell, sizes, strict=True)):
                weight = math.prod(line[j] for line, j in zip(along, cell, strict=True))
                y[(n, slice(None), *place)] += weight * x[(n, slice(None), *cell)]
    return y


def _affine_grid(theta: Any, size: Any, align_corners: bool = False) -> Any:
    n, _, *sizes = size
    grid = np.zeros((n, *sizes, len(sizes)))
    for place in np.ndindex(*sizes):
        if align_corners:
            at = [2 * i / (m - 1) - 1 if m > 1 else 0 for i, m in zip(place, sizes, strict=True)]
        else:
            at = [(2 * i + 1) / m - 1 for i, m in zip(place, sizes, strict=True)]
        grid[(slice(None), *place)] = theta @ [*reversed(at), 1]
    return grid


def _pixel_shuffle(x: Any, upscale_factor: int) -> Any:
    r = upscale_factor
    *lead, c, h, w = x.shape
    y = np.zeros((*lead, c // r**2, h * r, w * r))
    for k, i, j in np.ndindex(*y.shape[-3:]):
        y[..., k, i, j] = x[..., k * r * r + i % r * r + j % r, i // r, j // r]
    return y


def _pixel_unshuffle(x: Any, downscale_factor: int) -> Any:
    r = downscale_factor
    *lead, c, h, w = x.shape
    y = np.zeros((*lead, c * r * r, h // r, w // r))
    for k, i, j in np.ndindex(c, h, w):
        y[..., k * r * r + i % r * r + j % r, i // r, j // r] = x[..., k, i, j]
    return y


REFERENCES: dict[str, Callable[..., Any]] = {
    "grid_sample": _grid_sample,
    "affine_grid": _affine_grid,
    "pixel_shuffle": _pixel_shuffle,
    "pixel_unshuffle": _pixel_unshuffle,
    "channel_shuffle": lambda x, groups: np.concatenate(
        [x[:, k :: x.shape[1] // groups] for k in range(x.shape[1] // groups)], axis=1
    ),
    "resample": _resample,
    "resample_transpose": _resample_transpose,
    "interpolate": _interpolate,
}
