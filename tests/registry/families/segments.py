"""Rows of functions of groups of slices."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import symgrad as sg
from tests.registry.sampling import S, Sample, kink, normal, rigid, spaced

NAN = math.nan
_IDS = np.array([2, 0, 2, 3, 0, 2])
_FULL = np.array([2, 0, 2, 1, 0, 2])
_WILD = np.array([2, 0, 9, 3, -1, 2])
_TABLE = np.array([[1, 0, 4], [0, 1, 1]])
_STARTS = np.array([True, False, False, True, True, False])
_ZEROS = np.array([[2.0, 0.0], [0.0, 3.0], [5.0, 0.0], [1.0, 0.0], [0.0, 2.0], [4.0, 7.0]])
_TIES = np.array([3.0, 1.0, 3.0, 2.0, 1.0, 0.0])

SAMPLES: dict[str, list[Sample]] = {
    "slots": [
        rigid(S(_WILD, count=4, where="slots")),
        rigid(S(_IDS, count=3, where="slots", refuses=True)),
        rigid(S(_TABLE, count=0, where="slots")),
    ],
    "occurrences": [rigid(S(_IDS, count=5)), rigid(S(np.zeros(0, int), count=2))],
    "chained": [
        rigid(S(normal(6), normal(6, seed=1), _STARTS, reverse=False)),
        rigid(S(normal(6), normal(6, seed=1), _STARTS, reverse=True)),
        rigid(S(normal(6, 2), normal(6, 2, seed=1), _STARTS, reverse=False)),
        rigid(S(normal(6, 2), normal(6, 2, seed=1), ~_STARTS, reverse=True)),
        rigid(S(normal(0, 2), normal(0, 2), _STARTS[:0], reverse=True)),
    ],
    "grouped_prod": [
        rigid(S(normal(6), _IDS, count=5)),
        rigid(S(normal(6, 2), _IDS, count=4)),
        rigid(S(_ZEROS, _IDS, count=4)),
        rigid(S(normal(0), _IDS[:0], count=2)),
    ],
    "grouped_extreme": [
        rigid(S(spaced(6), _FULL, count=3, smallest=False)),
        rigid(kink(S(spaced(6), _IDS, count=5, smallest=False))),
        rigid(S(spaced(6, 2), _FULL, count=3, smallest=True)),
        rigid(kink(S(_TIES, _IDS, count=4, smallest=False))),
        rigid(kink(S(normal(0), _IDS[:0], count=2, smallest=True))),
    ],
}


def _segments(data: Callable[..., Any], *more: Sample) -> list[Sample]:
    return [
        rigid(S(data(6), _FULL, num_segments=3)),
        rigid(S(data(6, 2), np.where(_FULL == 1, -1, _FULL // 2), num_segments=2)),
        rigid(S(data(2, 3, 4), _TABLE % 3, num_segments=2)),
        # Differences of infinities say nothing, where there is an extreme of nothing.
        rigid(kink(S(data(6, 2), _WILD, num_segments=5))),
        rigid(kink(S(data(0), _IDS[:0], num_segments=2))),
        *more,
    ]


COMPOSITE_SAMPLES: dict[str, list[Sample]] = {
    "segment_sum": _segments(normal),
    "segment_mean": _segments(normal),
    "segment_prod": _segments(normal, rigid(S(_ZEROS, _IDS, num_segments=4))),
    "segment_max": _segments(spaced, rigid(kink(S(_TIES, _IDS, num_segments=4)))),
    "segment_min": _segments(spaced, rigid(kink(S(_TIES, _IDS, num_segments=4)))),
}


def _grouped(reduce: Callable[..., Any], nothing: Any) -> Callable[..., Any]:
    """By definition: each group gathered, then reduced."""

    def compute(x: Any, ids: Any, num_segments: int) -> Any:
        rest = x.shape[ids.ndim :]
        rows, ids = x.reshape((ids.size, *rest)), ids.reshape(-1)
        result = np.full((num_segments, *rest), nothing, np.float64)
        for k in range(num_segments):
            if np.any(ids == k):
                result[k] = reduce(rows[ids == k], axis=0)
        return result

    return compute


def _chained(x: Any, b: Any, starts: Any, reverse: bool) -> Any:
    s = np.zeros_like(b)
    for i in reversed(range(len(b))) if reverse else range(len(b)):
        link, source = (i + 1, i + 1) if reverse else (i, i - 1)
        s[i] = b[i]
        if 0 <= source < len(b) and not starts[link]:
            s[i] += x[link] * s[source]
    return s


def _slots(ids: Any, count: int, where: str, refuses: bool = False) -> Any:
    return np.array([i if 0 <= i < count else count for i in ids.flat]).reshape(ids.shape)


def _extreme(x: Any, ids: Any, count: int, smallest: bool) -> Any:
    find, nothing = (np.min, np.inf) if smallest else (np.max, -np.inf)
    return _grouped(find, nothing)(x, ids, count)


REFERENCES: dict[str, Callable[..., Any]] = {
    "slots": _slots,
    "occurrences": lambda ids, count: np.array([np.sum(ids == k) for k in range(count)]),
    "chained": _chained,
    "grouped_prod": lambda x, ids, count: _grouped(np.prod, 1)(x, ids, count),
    "grouped_extreme": _extreme,
    "segment_sum": _grouped(np.sum, 0),
    "segment_mean": _grouped(np.mean, 0),
    "segment_prod": _grouped(np.prod, 1),
    "segment_max": _grouped(np.max, -np.inf),
    "segment_min": _grouped(np.min, np.inf),
}

INDEXED = ("slots", "occurrences")

_TWO = np.array([0, 1, 0])

ROWS: list[tuple[str, Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]] = [
    (
        "segment_max shares ties",
        lambda x: sg.sum(sg.segment_max(x, np.array([0, 0, 1, 0]), 2)),
        ([2.0, 2.0, 2.0, 1.0],),
        ([0.5, 0.5, 1.0, 0.0],),
    ),
    (
        "segment_min with a NaN",
        lambda x: sg.sum(sg.segment_min(x, _TWO, 2)),
        ([NAN, 2.0, 1.0],),
        ([1.0, 1.0, 0.0],),
    ),
    (
        "segment_prod with a zero",
        lambda x: sg.sum(sg.segment_prod(x, _TWO, 3)),
        ([0.0, 2.0, 3.0],),
        ([3.0, 1.0, 0.0],),
    ),
    (
        "segment_prod beside a NaN",
        lambda x: sg.sum(sg.segment_prod(x, _TWO, 2)),
        ([4.0, NAN, 3.0],),
        ([3.0, 1.0, 4.0],),
    ),
    (
        "segment_sum drops what it does not know",
        lambda x: sg.sum(sg.segment_sum(sg.sqrt(x), np.array([0, -1, 7]), 2)),
        ([4.0, 0.0, 0.0],),
        ([0.25, 0.0, 0.0],),
    ),
    (
        "segment_max leaves what it passes over",
        lambda x: sg.sum(sg.segment_max(sg.sqrt(x), _TWO, 2)),
        ([0.0, 4.0, 9.0],),
        ([0.0, 0.25, 1 / 6],),
    ),
]
