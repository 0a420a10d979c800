"""Rows of convolution, pooling and what else slides windows over images."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import symgrad as sg
from tests.registry.sampling import S, Sample, called, kink, normal, rigid, spaced

INF, NAN = math.inf, math.nan

# --- samples --------------------------------------------------------------------------------------

_PLACES = np.array([[[0, 3, 3], [1, -1, 4]], [[2, 2, 0], [4, 4, -1]]])
_PLANES = np.array([[[[0, 11], [4, 4]]], [[[5, 2], [5, -1]]]])
_TIES = np.array([[[1.0, 2.0, 2.0, 2.0, 0.0, 2.0, 1.0]]])


def _adaptive(data: Callable[..., Any], *more: Sample) -> list[Sample]:
    return [
        S(data(2, 3, 7), output_size=3),
        S(data(2, 3, 4), output_size=6),
        S(data(2, 3, 5, 7), output_size=(2, None)),
        S(data(1, 2, 5, 6, 7), output_size=(1, 3, 5)),
        *more,
    ]


def _patches(**more: Any) -> list[dict[str, Any]]:
    one: dict[str, Any] = {"stride": (1,), "padding": ((0, 0),), "dilation": (1,)}
    two = {"stride": (2, 1), "padding": ((1, 0), (0, 2)), "dilation": (1, 2)}
    return [{"kernel": (3,), **one, **more}, {"kernel": (3, 2), **two, **more}]


SAMPLES: dict[str, list[Sample]] = {
    "conv": [
        S(normal(2, 3, 6), normal(4, 3, 1), stride=4),
        S(normal(2, 6, 7), normal(6, 1, 2), padding="same", groups=6),
        S(normal(1, 2, 4, 5, 6), normal(3, 2, 2, 1, 3), padding=((1, 0), (0, 0), (-1, 2))),
    ],
    "conv_transpose": [
        S(normal(1, 2, 2, 3, 4), normal(2, 3, 2, 1, 3), stride=(1, 3, 2)),
        S(normal(2, 6, 3), normal(6, 1, 2), groups=6, dilation=2, output_padding=1),
    ],
    "avg_pool": [
        S(normal(2, 3, 8), kernel=3, stride=5, divisor_override=2),
        S(normal(2, 3, 7, 5), kernel=2, padding=((1, 0), (0, 1)), ceil_mode=True),
    ],
    "avg_pool_transpose": [S(normal(2, 3, 2), kernel=3, shape=(8,), stride=5, divisor_override=2)],
    "last_in_plane": [rigid(S(_PLACES, shape=(5,))), rigid(S(_PLANES, shape=(3, 4)))],
    "adaptive_avg_pool": _adaptive(normal),
    "adaptive_avg_pool_transpose": [
        S(normal(2, 3, 4), shape=(7,)),
        S(normal(2, 3, 6, 5), shape=(4, 8)),
    ],
    "adaptive_max_pool": _adaptive(spaced, kink(S(_TIES, output_size=2))),
    "adaptive_max_pool_indices": _adaptive(spaced, S(_TIES, output_size=2)),
    "window_cells": [
        S(normal(2, 3, 7), **_patches()[0]),
        S(normal(2, 3, 6, 7), **_patches()[1]),
    ],
    "window_sum": [
        S(normal(2, 4, 3, 5), **_patches(shape=(7,))[0]),
        S(normal(2, 4, 3, 2, 3, 7), **_patches(shape=(6, 7))[1]),
    ],
}


_FOUND = np.array([[[1, 3, 3], [0, 4, -1]], [[5, 0, 2], [2, 2, 2]]])

COMPOSITE_SAMPLES: dict[str, list[Sample]] = {
    "max_pool_with_indices": [
        S(spaced(2, 3, 7), kernel=3),
        S(spaced(1, 2, 5, 4), kernel=2, stride=(2, 1), padding=1, ceil_mode=True),
        kink(S(_TIES, kernel=3, stride=1)),
    ],
    "adaptive_max_pool_with_indices": _adaptive(spaced)[:2],
    "max_unpool": [
        rigid(S(normal(2, 2, 3), _FOUND, kernel=2)),
        rigid(S(normal(2, 2, 3), _FOUND, kernel=3, stride=2, padding=1, output_size=6)),
        rigid(S(normal(2, 1, 2, 2), _PLANES, kernel=2, output_size=(3, 4))),
    ],
    "lp_pool": [
        S(spaced(2, 3, 7), p=2, kernel=3),
        S(spaced(2, 3, 5, 7), p=3, kernel=(2, 3), stride=(1, 2), ceil_mode=True),
        S(spaced(2, 3, 7), p=1.5, kernel=2, stride=3, padding=1),
        S(spaced(1, 2, 7), p=INF, kernel=3),
        kink(S(np.array([[[0.0, 0.0, 0.0, -2.0]]]), p=2, kernel=2)),
    ],
    "unfold": [
        S(normal(2, 3, 7), kernel=3),
        S(normal(2, 3, 6, 7), kernel=(3, 2), stride=(2, 1), padding=1, dilation=(1, 2)),
        S(normal(1, 2, 3, 4, 5), kernel=2, padding=((1, 0), (0, 0), (0, 0))),
    ],
    "fold": [
        S(normal(2, 9, 5), output_size=(7,), kernel=3),
        S(normal(2, 6, 9), output_size=(5, 4), kernel=(3, 2), stride=(2, 1), dilation=(1, 2),
          padding=((1, 1), (0, 1))),
    ],
    "sliding_window_view": [
        S(normal(7), window_shape=3),
        S(normal(5, 7), window_shape=(2, 3)),
        S(normal(4, 5, 7), window_shape=(2, 3), axis=(2, 0)),
    ],
    "conv1d": [S(normal(2, 3, 8), normal(4, 3, 3), normal(4), stride=2, padding=1)],
    "conv2d": [S(normal(3, 6, 7), normal(4, 3, 3, 2), normal(4), padding="same")],
    "conv3d": [S(normal(1, 2, 3, 4, 5), normal(4, 1, 2, 2, 3), normal(4), groups=2)],
    "conv_transpose1d": [
        S(normal(2, 4, 5), normal(4, 3, 3), normal(6), stride=2, output_padding=1, groups=2)
    ],
    "conv_transpose2d": [S(normal(3, 5, 6), normal(3, 2, 3, 2), normal(2), padding=1, dilation=2)],
    "conv_transpose3d": [S(normal(1, 2, 3, 2, 3), normal(2, 3, 2, 2, 1), stride=2)],
    "max_pool1d": [S(spaced(2, 3, 7), kernel=2, padding=1), S(spaced(3, 7), kernel=2)],
    "max_pool2d": [S(spaced(3, 5, 7), kernel=2, return_indices=True)],
    "max_pool3d": [S(spaced(1, 2, 4, 5, 6), kernel=(2, 1, 3), ceil_mode=True)],
    "max_unpool1d": [rigid(S(normal(2, 2, 3), _FOUND, kernel=2))],
    "max_unpool2d": [rigid(S(normal(1, 2, 2), _PLANES[0], kernel=2, output_size=(3, 4)))],
    "max_unpool3d": [
        rigid(S(normal(2, 1, 2, 2, 1), _PLANES[..., None], kernel=2, output_size=(3, 2, 2)))
    ],
    "avg_pool1d": [S(normal(2, 3, 7), kernel=3, stride=2), S(normal(3, 7), kernel=3)],
    "avg_pool2d": [S(normal(3, 6, 7), kernel=2, padding=1, count_include_pad=False)],
    "avg_pool3d": [S(normal(1, 2, 4, 5, 6), kernel=2, divisor_override=3)],
    "lp_pool1d": [S(spaced(2, 3, 7), p=2, kernel=3)],
    "lp_pool2d": [S(spaced(3, 5, 7), p=3, kernel=2, stride=3)],
    "lp_pool3d": [S(spaced(1, 2, 3, 4, 5), p=2, kernel=2)],
    "adaptive_avg_pool1d": [S(normal(2, 3, 7), output_size=3), S(normal(3, 7), output_size=3)],
    "adaptive_avg_pool2d": [S(normal(3, 6, 7), output_size=(4, None))],
    "adaptive_avg_pool3d": [S(normal(1, 2, 4, 5, 6), output_size=3)],
    "adaptive_max_pool1d": [S(spaced(2, 3, 7), output_size=3), S(spaced(3, 7), output_size=3)],
    "adaptive_max_pool2d": [S(spaced(3, 6, 7), output_size=(4, None), return_indices=True)],
    "adaptive_max_pool3d": [S(spaced(1, 2, 4, 5, 6), output_size=3)],
    "pad": [called(lambda op, x: op(x, ((2, 1), (0, 9)), mode="symmetric"), normal(5, 7))],
}  # fmt: skip

# --- by definition --------------------------------------------------------------------------------


def each(value: Any, axes: int) -> tuple[Any, ...]:
    """One entry per axis."""
    return value if isinstance(value, tuple) else (value,) * axes


def _pairs(padding: Any, kernel: Any, dilation: Any) -> list[tuple[int, int]]:
    if padding == "same":
        spans = [d * (k - 1) for k, d in zip(kernel, dilation, strict=True)]
        return [(span // 2, span - span // 2) for span in spans]
    entries = each(padding, len(kernel))
    return [pair if isinstance(pair, tuple) else (pair, pair) for pair in entries]


class Windows:
    """Where the windows of a call stand, tried one place after the other."""

    def __init__(
        self,
        sizes: Any,
        kernel: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
    ) -> None:
        axes = len(sizes)
        self.sizes, self.kernel, self.dilation = sizes, each(kernel, axes), each(dilation, axes)
        self.pads = _pairs(padding, self.kernel, self.dilation)
        self.starts: list[list[int]] = []
        for axis, step in enumerate(each(stride, axes)):
            before, after = self.pads[axis]
            extent = self.dilation[axis] * (self.kernel[axis] - 1) + 1
            starts = list(range(-before, sizes[axis] + after - extent + 1, step))
            following = starts[-1] + step
            reached = starts[-1] + extent >= sizes[axis] + after
            # In ceil mode one more, if something is left and it starts in what is no padding after.
            if ceil_mode and not reached and following < sizes[axis]:
                starts.append(following)
            self.starts.append(starts)
        self.counts = tuple(map(len, self.starts))

    def __iter__(self) -> Iterator[tuple[Any, dict[Any, Any], int]]:
        """Each window's place, its cells as {offset: position} where they are inside, and how many
        are inside the padding."""
        for place in np.ndindex(*self.counts):
            cells: dict[Any, Any] = {}
            framed = 0
            for offset in np.ndindex(*self.kernel):
                at = tuple(
                    starts[p] + k * d
                    for starts, p, k, d in zip(
                        self.starts, place, offset, self.dilation, strict=True
                    )
                )
                if all(0 <= a < n for a, n in zip(at, self.sizes, strict=True)):
                    cells[offset] = at
                ends = zip(at, self.sizes, self.pads, strict=True)
                framed += all(a < n + after for a, n, (_, after) in ends)
            yield place, cells, framed


def _pool(
    x: Any, kernel: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
    ceil_mode: bool = False,
) -> Windows:  # fmt: skip
    stride = kernel if stride is None else stride
    return Windows(x.shape[2:], kernel, stride, padding, dilation, ceil_mode)


def _first_maximum(plane: Any, cells: Any) -> Any:
    """The first NaN, or else the first of the largest."""
    best = None
    for cell in cells:
        if best is None or (not np.isnan(plane[best]) and not plane[cell] <= plane[best]):
            best = cell
    return best


def _maxima(x: Any, windows: Any, counts: Any) -> tuple[Any, Any]:
    y = np.full((*x.shape[:2], *counts), -np.inf)
    at = np.full(y.shape, -1)
    for n, c in np.ndindex(*x.shape[:2]):
        for place, cells in windows:
            best = _first_maximum(x[n, c], cells)
            if best is not None:
                y[(n, c, *place)] = x[n, c][best]
                at[(n, c, *place)] = np.ravel_multi_index(best, x.shape[2:])
    return y, at


def _max_pool(x: Any, kernel: Any, **attrs: Any) -> tuple[Any, Any]:
    found = _pool(x, kernel, **attrs)
    return _maxima(x, [(place, cells.values()) for place, cells, _ in found], found.counts)


def _avg_pool(
    x: Any, kernel: Any, count_include_pad: bool = True, divisor_override: Any = None, **attrs: Any
) -> Any:
    found = _pool(x, kernel, **attrs)
    y = np.zeros((*x.shape[:2], *found.counts))
    for place, cells, framed in found:
        divisor = divisor_override or (framed if count_include_pad else len(cells))
        y[(..., *place)] = sum(x[(..., *cell)] for cell in cells.values()) / divisor
    return y


def _lp_pool(x: Any, p: float, kernel: Any, **attrs: Any) -> Any:
    found = _pool(x, kernel, **attrs)
    y = np.zeros((*x.shape[:2], *found.counts))
    for place, cells, _ in found:
        seen = np.stack([np.abs(x[(..., *cell)]) for cell in cells.values()])
        y[(..., *place)] = np.max(seen, axis=0) if p == INF else np.sum(seen**p, axis=0) ** (1 / p)
    return y


def _adaptive_windows(sizes: Any, output_size: Any) -> tuple[list[Any], tuple[int, ...]]:
    counts = tuple(
        n if o is None else o for o, n in zip(each(output_size, len(sizes)), sizes, strict=True)
    )
    lines = [
        [range(math.floor(i * n / o), math.ceil((i + 1) * n / o)) for i in range(o)]
        for n, o in zip(sizes, counts, strict=True)
    ]
    found = []
    for place in np.ndindex(*counts):
        window = [line[i] for line, i in zip(lines, place, strict=True)]
        found.append((place, list(itertools.product(*window))))
    return found, counts


def adaptive_mean(x: Any, output_size: Any) -> Any:
    """Means over so many windows."""
    windows, counts = _adaptive_windows(x.shape[2:], output_size)
    y = np.zeros((*x.shape[:2], *counts))
    for place, cells in windows:
        y[(..., *place)] = np.mean([x[(..., *cell)] for cell in cells], axis=0)
    return y


def _adaptive_max(x: Any, output_size: Any) -> tuple[Any, Any]:
    return _maxima(x, *_adaptive_windows(x.shape[2:], output_size))


def _cells(x: Any, **attrs: Any) -> Any:
    found = Windows(x.shape[2:], **attrs)
    y = np.zeros((*x.shape[:2], *found.kernel, *found.counts))
    for place, cells, _ in found:
        for offset, cell in cells.items():
            y[(..., *offset, *place)] = x[(..., *cell)]
    return y


def _sum(cells_of_windows: Any, shape: Any, **attrs: Any) -> Any:
    found = Windows(shape, **attrs)
    x = np.zeros((*cells_of_windows.shape[:2], *shape))
    for place, cells, _ in found:
        for offset, cell in cells.items():
            x[(..., *cell)] += cells_of_windows[(..., *offset, *place)]
    return x


def _unfold(x: Any, kernel: Any, **attrs: Any) -> Any:
    cells = _cells(x, kernel=kernel, **attrs)
    size = math.prod(each(kernel, x.ndim - 2))
    return cells.reshape(len(x), x.shape[1] * size, -1)


def _fold(x: Any, output_size: Any, kernel: Any, **attrs: Any) -> Any:
    found = Windows(output_size, kernel, **attrs)
    cells = x.reshape(len(x), -1, *found.kernel, *found.counts)
    return _sum(cells, output_size, kernel=kernel, **attrs)


def _unpool(
    x: Any, indices: Any, kernel: int, stride: Any = None, padding: int = 0, output_size: Any = None
) -> Any:
    stride = kernel if stride is None else stride
    if output_size is None:
        output_size = tuple((n - 1) * stride + kernel - 2 * padding for n in x.shape[2:])
    output_size = each(output_size, x.ndim - 2)
    y = np.zeros((*x.shape[:2], math.prod(output_size)))
    for place in np.ndindex(*x.shape):
        if indices[place] >= 0:
            y[(*place[:2], indices[place])] = x[place]
    return y.reshape(*x.shape[:2], *output_size)


def _last(indices: Any, shape: Any) -> Any:
    """A cell is written by counting up, and then read."""
    order = np.arange(1.0, indices.size + 1).reshape(indices.shape)
    written = _unpool(order, indices, 1, output_size=shape)
    result = np.zeros(indices.shape, bool)
    for place in np.ndindex(*indices.shape):
        cell = indices[place]
        plane = written[place[:2]].reshape(-1)
        result[place] = cell >= 0 and plane[cell] == order[place]
    return result


def _conv(
    x: Any, w: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
    groups: int = 1,
) -> Any:  # fmt: skip
    found = Windows(x.shape[2:], w.shape[2:], stride, padding, dilation)
    y = np.zeros((len(x), len(w), *found.counts), np.result_type(x, w))
    for o in range(len(w)):
        first = o // (len(w) // groups) * w.shape[1]
        for place, cells, _ in found:
            for offset, cell in cells.items():
                seen = x[(slice(None), slice(first, first + w.shape[1]), *cell)]
                y[(slice(None), o, *place)] += seen @ w[(o, slice(None), *offset)]
        y[:, o] += 0 if bias is None else bias[o]
    return y


def _conv_transpose(
    x: Any, w: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
    groups: int = 1, dilation: Any = 1,
) -> Any:  # fmt: skip
    axes, share = x.ndim - 2, w.shape[1]
    steps, gaps, extra = (each(v, axes) for v in (stride, dilation, output_padding))
    pads = _pairs(padding, w.shape[2:], gaps)
    sizes = [
        (n - 1) * s + d * (k - 1) + 1 - sum(pair) + e
        for n, k, s, d, e, pair in zip(
            x.shape[2:], w.shape[2:], steps, gaps, extra, pads, strict=True
        )
    ]
    y = np.zeros((len(x), share * groups, *sizes), np.result_type(x, w))
    for c in range(x.shape[1]):
        first = c // (x.shape[1] // groups) * share
        for place in np.ndindex(*x.shape[2:]):
            for offset in np.ndindex(*w.shape[2:]):
                at = [
                    p * s + k * d - before
                    for p, s, k, d, (before, _) in zip(
                        place, steps, offset, gaps, pads, strict=True
                    )
                ]
                if all(0 <= a < n for a, n in zip(at, sizes, strict=True)):
                    part = np.outer(x[(slice(None), c, *place)], w[(c, slice(None), *offset)])
                    y[(slice(None), slice(first, first + share), *at)] += part
    return y if bias is None else y + bias.reshape(-1, *(1,) * axes)


def _sliding(x: Any, window_shape: Any, axis: Any = None) -> Any:
    return np.lib.stride_tricks.sliding_window_view(x, window_shape, axis)


def _of_rank(reference: Callable[..., Any], axes: int, images: int = 1) -> Callable[..., Any]:
    """The same with an optional batch."""

    def compute(*operands: Any, return_indices: bool = False, **attrs: Any) -> Any:
        alone = operands[0].ndim == axes + 1
        batched = [v[None] if alone and k < images else v for k, v in enumerate(operands)]
        found = reference(*batched, **attrs)
        if isinstance(found, tuple) and not return_indices:
            found = found[0]
        if not alone:
            return found
        return tuple(v[0] for v in found) if isinstance(found, tuple) else found[0]

    return compute


REFERENCES: dict[str, Callable[..., Any]] = {
    "conv": _conv,
    "conv_transpose": _conv_transpose,
    "max_pool": lambda x, kernel, **attrs: _max_pool(x, kernel, **attrs)[0],
    "max_pool_indices": lambda x, kernel, **attrs: _max_pool(x, kernel, **attrs)[1],
    "max_pool_with_indices": _max_pool,
    "avg_pool": _avg_pool,
    "lp_pool": _lp_pool,
    "adaptive_avg_pool": adaptive_mean,
    "adaptive_max_pool": lambda x, output_size: _adaptive_max(x, output_size)[0],
    "adaptive_max_pool_indices": lambda x, output_size: _adaptive_max(x, output_size)[1],
    "adaptive_max_pool_with_indices": _adaptive_max,
    "last_in_plane": _last,
    "max_unpool": _unpool,
    "window_cells": _cells,
    "window_sum": _sum,
    "unfold": _unfold,
    "fold": _fold,
    "sliding_window_view": _sliding,
    **{
        f"{name}{axes}d": _of_rank(reference, axes, images)
        for axes in (1, 2, 3)
        for name, reference, images in (
            ("conv", _conv, 1),
            ("conv_transpose", _conv_transpose, 1),
            ("max_pool", _max_pool, 1),
            ("max_unpool", _unpool, 2),
            ("avg_pool", _avg_pool, 1),
            ("lp_pool", _lp_pool, 1),
            ("adaptive_avg_pool", adaptive_mean, 1),
            ("adaptive_max_pool", _adaptive_max, 1),
        )
    },
}

INDEXED = ("last_in_plane", "max_unpool", "max_unpool1d", "max_unpool2d", "max_unpool3d")

# --- conventions ----------------------------------------------------------------------------------

ROWS: list[tuple[str, Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]] = [
    (
        "adaptive max-pool takes the first",
        lambda x: sg.sum(sg.adaptive_max_pool(x, 2)),
        ([[[1.0, 1.0, 3.0, 3.0]]],),
        ([[[1.0, 0.0, 1.0, 0.0]]],),
    ),
    (
        "max-pool with a NaN",
        lambda x: sg.sum(sg.max_pool(x, 2)),
        ([[[1.0, NAN, NAN, NAN]]],),
        ([[[0.0, 1.0, 1.0, 0.0]]],),
    ),
    (
        "max-pool of nothing finite",
        lambda x: sg.sum(sg.max_pool(x, 2, padding=1, stride=2)),
        ([[[-INF, -INF, -INF]]],),
        ([[[1.0, 1.0, 0.0]]],),
    ),
    (
        "lp-pool of zeros",
        lambda x: sg.sum(sg.lp_pool(x, 2, 2)),
        ([[[0.0, 0.0, 0.0, -2.0]]],),
        ([[[0.0, 0.0, 0.0, -1.0]]],),
    ),
    (
        "max-unpool keeps the last value",
        lambda x: sg.sum(sg.max_unpool(x, np.array([[[1, 1, -1]]]), 2)),
        ([[[3.0, 4.0, 5.0]]],),
        ([[[0.0, 1.0, 0.0]]],),
    ),
]
