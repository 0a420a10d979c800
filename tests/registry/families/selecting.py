"""Rows of selections by conditions and intervals, of grids, and of distances of points."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import symgrad as sg
from tests.registry.sampling import S, Sample, called, kink, normal, rigid, spaced

INF, NAN = math.inf, math.nan
_MASK = np.arange(35).reshape(5, 7) % 3 == 0
_EDGES = np.array([-1.0, -0.25, 0.3, 0.3, 2.0])


def _select(op: Any, c1: Any, c2: Any, x1: Any, x2: Any, default: Any) -> Any:
    return op([c1, c2], [x1, x2], default)


COMPOSITE_SAMPLES: dict[str, list[Sample]] = {
    "masked_fill": [
        S(normal(5, 7), _MASK, normal(5, 7, seed=1)),
        S(normal(5, 7), _MASK[0], np.array(2.5)),
        S(normal(7), _MASK, np.array(2.5)),
        called(lambda op, x, m: op(x, m, 2.5), normal(5, 7), _MASK),
        S(np.array(0.7), np.array(True), np.array(2.0)),
    ],
    "select": [
        called(_select, _MASK, _MASK[::-1].copy(), normal(5, 7), normal(7), normal(5, 1)),
        called(lambda op, c, x, y: op([c, x > 0], [2.0, x * y]), _MASK, spaced(5, 7), normal(5, 7)),
    ],
    "digitize": [
        rigid(S(normal(5, 7), _EDGES)),
        rigid(S(normal(5, 7), _EDGES, right=True)),
        rigid(S(normal(5), _EDGES[::-1].copy())),
        rigid(S(_EDGES, _EDGES, right=True)),
        rigid(S(_EDGES, _EDGES[::-1].copy(), right=True)),
        rigid(S(np.array(0.7), np.array([1.0]))),
        rigid(S(normal(5), np.zeros(0))),
    ],
    "logspace": [
        called(lambda op: op(0, 2, 5)),
        called(lambda op: op(0.0, 3.0, 4, base=2, endpoint=False, dtype="int32")),
        called(lambda op, a, b: op(a, b, 5), normal(), normal(seed=1)),
        called(lambda op, a, b, c: op(a, b, 5, base=c), normal(), normal(seed=1), np.array(2.5)),
    ],
    "geomspace": [
        called(lambda op: op(1, 256, 9)),
        called(lambda op: op(-1.0, -8.0, 3, endpoint=False, dtype="float32")),
        rigid(called(lambda op, a, b: op(a, b, 5), np.array(0.7), np.array(3.2))),
        rigid(called(lambda op, a, b: op(a, b, 4), np.array(-0.7), np.array(-3.2))),
    ],
    "indices": [
        called(lambda op: op((2, 3))),
        called(lambda op: op((2, 3, 4), dtype="float32", sparse=True)),
        called(lambda op: op(())),
        called(lambda op: op((0, 2))),
    ],
    "tri": [
        called(lambda op: op(3)),
        called(lambda op: op(3, 5, k=-1, dtype="int32")),
        called(lambda op: op(0, 2, k=1)),
    ],
    "cdist": [
        *(S(normal(5, 3), normal(7, 3), p=p) for p in (1.0, 2.0, 3.0, 2.5)),
        S(spaced(5, 3), spaced(7, 3, seed=1) * 1.1, p=INF),
        S(normal(2, 5, 3), normal(7, 3)),
        S(normal(1, 3), normal(1, 3, seed=1)),
        kink(S(np.ones((2, 3)), np.ones((4, 3)))),
    ],
}


def _cdist(x: Any, y: Any, p: float = 2.0) -> Any:
    apart = np.abs(x[..., :, None, :] - y[..., None, :, :])
    return apart.max(-1) if p == INF else (apart**p).sum(-1) ** (1 / p)


REFERENCES: dict[str, Callable[..., Any]] = {
    "masked_fill": lambda x, m, v: np.where(m, v, x),
    "digitize": np.digitize,
    "cdist": _cdist,
}


def _row(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *xs: sg.sum(function(*xs))


ROWS: list[tuple[str, Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]] = [
    (
        "masked_fill leaves what it covers",
        lambda x: sg.sum(sg.masked_fill(sg.sqrt(x), x <= 0, 7.0)),
        ([-1.0, 0.0, 4.0],),
        ([0.0, 0.0, 0.25],),
    ),
    (
        "select leaves what it does not choose",
        _row(lambda x: sg.select([x < 0, x > 1], [-x, sg.log(x)], sg.sqrt(x + 3))),
        ([-3.0, -4.0, 2.0, 1.0],),
        ([-1.0, -1.0, 0.5, 0.25],),
    ),
    (
        "select takes the first",
        _row(lambda x: sg.select([x > 0, x > 1], [2 * x, 5 * x])),
        ([2.0, -1.0],),
        ([2.0, 0.0],),
    ),
    *(
        (
            f"cdist of equal points, p={p}",
            _row(lambda x, y, p=p: sg.cdist(x, y, p=p)),
            ([[1.0, 2.0]], [[1.0, 2.0]]),
            ([[0.0, 0.0]], [[0.0, 0.0]]),
        )
        for p in (1.0, 1.5, 2.0, 3.0, INF)
    ),
]
