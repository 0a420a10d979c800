"""Rows of running extremes and sums of exponentials, and of extremes with their positions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import symgrad as sg
from tests.registry.sampling import S, Sample, kink, normal, rigid, spaced

INF = math.inf
_TIES = np.array([[1.0, 2.0, 2.0], [2.0, 0.0, 2.0], [2.0, 2.0, 1.0]])
_COLUMNS = np.array([[2, 0, 0, 3], [1, 1, 3, 2]])
_DISTINCT = np.array([[2, 0, 1, 3], [1, 0, 3, 2]])

SAMPLES: dict[str, list[Sample]] = {
    "running_places": [
        S(spaced(5, 7), axis=0, smallest=False),
        S(spaced(5, 7), axis=1, smallest=True),
        kink(S(_TIES, axis=1, smallest=False)),
        S(np.zeros((0, 3)), axis=0, smallest=True),
    ],
    "outmost_places": [
        rigid(S(spaced(5, 7), k=3, axis=1, smallest=False)),
        rigid(S(spaced(5, 7), k=5, axis=0, smallest=True)),
        rigid(S(spaced(5), k=0, axis=0, smallest=True)),
        rigid(kink(S(_TIES, k=2, axis=1, smallest=False))),
    ],
    "chosen_along": [
        rigid(S(normal(2, 5), _COLUMNS, axis=1)),
        rigid(S(normal(2, 5), _DISTINCT, axis=1, unique=True)),
        rigid(S(normal(5, 4), _COLUMNS, axis=0)),
        rigid(S(normal(0, 4), np.zeros((0, 4), int), axis=0)),
    ],
    "cumulative_logsumexp": [
        S(3 * normal(5)),
        S(3 * normal(5, 7), axis=0),
        S(normal(5, 7, 6), axis=-2),
        S(np.array([[0.0, 40.0, 38.0, -60.0], [700.0, 699.0, -700.0, 701.0]]), axis=1),
        S(normal(0, 3), axis=0),
        S(normal(1)),
    ],
}

COMPOSITE_SAMPLES: dict[str, list[Sample]] = {
    name: [
        S(spaced(5)),
        S(spaced(5, 7), axis=0),
        S(spaced(5, 7, 6), axis=-2),
        kink(S(_TIES, axis=1)),
        S(normal(0, 3), axis=0),
    ]
    for name in (
        "cumulative_max",
        "cumulative_min",
        "cumulative_max_with_indices",
        "cumulative_min_with_indices",
    )
}
COMPOSITE_SAMPLES |= {
    name: [
        S(spaced(5)),
        S(np.array(0.7)),
        S(spaced(5, 7)),
        S(spaced(5, 7), axis=0),
        S(spaced(5, 7), keepdims=True),
        S(spaced(5, 7, 6), axis=-2, keepdims=True),
        kink(S(_TIES, axis=1)),
    ]
    for name in ("max_with_indices", "min_with_indices")
}
COMPOSITE_SAMPLES["top_k"] = [
    rigid(Sample((values,), attrs, lambda op, x, k, **more: op(x, k, **more), smooth=smooth))
    for values, attrs, smooth in (
        (spaced(5), {"k": 2}, True),
        (spaced(5, 7), {"k": 3, "axis": 0, "mode": "smallest"}, True),
        (spaced(5, 7, 6), {"k": 7, "axis": 1}, True),
        (spaced(5, 7), {"k": 0}, True),
        (_TIES, {"k": 2}, False),
    )
]


def _places(x: Any, axis: int, smallest: bool) -> Any:
    """By definition: the place of the extreme of each beginning."""
    find = np.argmin if smallest else np.argmax
    rows = [find(np.take(x, range(k + 1), axis), axis) for k in range(x.shape[axis])]
    return np.stack(rows, axis) if rows else np.zeros(x.shape, np.int64)


def _running(smallest: bool, with_indices: bool) -> Callable[..., Any]:
    def compute(x: Any, axis: int = 0) -> Any:
        places = _places(x, axis, smallest)
        values = np.take_along_axis(x, places, axis)
        return (values, places) if with_indices else values

    return compute


def _outmost(x: Any, k: int, axis: int, smallest: bool) -> Any:
    order = np.argsort(x if smallest else -x, axis=axis, kind="stable")
    return np.take(order, range(k), axis)


def _extreme(pick: Any, find: Any) -> Callable[..., Any]:
    return lambda x, axis=None, keepdims=False: (
        pick(x, axis=axis, keepdims=keepdims),
        find(x, axis=axis, keepdims=keepdims),
    )


def _logs(x: Any, axis: int = 0) -> Any:
    """By definition, about each beginning's own largest element."""
    result = np.empty_like(x)
    for place in np.ndindex(x.shape):
        before = (*place[:axis], slice(0, place[axis] + 1), *place[axis:][1:])
        peak = max(x[before])
        result[place] = peak + math.log(math.fsum(math.exp(v - peak) for v in x[before]))
    return result


REFERENCES: dict[str, Callable[..., Any]] = {
    "running_places": _places,
    "outmost_places": _outmost,
    "chosen_along": lambda x, i, axis, unique=False: np.take_along_axis(x, i, axis),
    "cumulative_max": lambda x, axis=0: np.maximum.accumulate(x, axis),
    "cumulative_min": lambda x, axis=0: np.minimum.accumulate(x, axis),
    "cumulative_max_with_indices": _running(False, True),
    "cumulative_min_with_indices": _running(True, True),
    "max_with_indices": _extreme(np.max, np.argmax),
    "min_with_indices": _extreme(np.min, np.argmin),
    "cumulative_logsumexp": lambda x, axis=0: _logs(x, axis % x.ndim),
}

INDEXED = ("outmost_places", "chosen_along", "top_k")

ROWS: list[tuple[str, Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]] = [
    (
        "cumulative_max of ties",
        lambda x: sg.sum(sg.cumulative_max(x)),
        ([1.0, 3.0, 3.0, 2.0],),
        ([1.0, 3.0, 0.0, 0.0],),
    ),
    (
        "cumulative_min of ties",
        lambda x: sg.sum(sg.cumulative_min(x)),
        ([3.0, 1.0, 1.0, 2.0],),
        ([1.0, 3.0, 0.0, 0.0],),
    ),
    (
        "cumulative_max from a NaN on",
        lambda x: sg.sum(sg.cumulative_max(x)),
        ([1.0, math.nan, 5.0],),
        ([1.0, 2.0, 0.0],),
    ),
    (
        "max_with_indices takes the first",
        lambda x: sg.max_with_indices(x).values,
        ([1.0, 3.0, 3.0],),
        ([0.0, 1.0, 0.0],),
    ),
    (
        "top_k of ties",
        lambda x: sg.sum(sg.top_k(x, 2).values * np.array([2.0, 1.0])),
        ([1.0, 3.0, 3.0, 3.0],),
        ([0.0, 2.0, 1.0, 0.0],),
    ),
    (
        "cumulative_max leaves what it passes over",
        lambda x: sg.sum(sg.cumulative_max(sg.sqrt(x))),
        ([4.0, 0.0, 1.0],),
        ([0.75, 0.0, 0.0],),
    ),
    (
        "top_k leaves what it passes over",
        lambda x: sg.sum(sg.top_k(sg.sqrt(x), 1).values),
        ([0.0, 4.0],),
        ([0.0, 0.25],),
    ),
    (
        "cumulative_logsumexp after -inf",
        lambda x: sg.sum(sg.where(sg.isfinite(x), sg.cumulative_logsumexp(x), 0.0)),
        ([-INF, 0.0, -INF, 0.0],),
        ([0.0, 1.5, 0.0, 0.5],),
    ),
    (
        "cumulative_logsumexp of nothing finite",
        lambda x: sg.cumulative_logsumexp(x)[1],
        ([-INF, -INF],),
        ([0.0, 0.0],),
    ),
]
