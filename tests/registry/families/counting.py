"""Rows of classes and counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.registry.sampling import Sample, called, kink, normal, on, rigid, spaced

_CLASSES = np.array([[2, 0, 1], [5, -1, 2]])
_NUMBERS = np.array([3, 0, 1, 3, 7, 1])
_EDGES = np.array([-1.0, -0.5, 0.25, 2.0])


def _hot(count: int) -> Callable[..., Any]:
    return lambda op, i, **attrs: op(i, count, **attrs)


COMPOSITE_SAMPLES: dict[str, list[Sample]] = {
    "one_hot": [
        rigid(called(_hot(3), _CLASSES)),
        rigid(called(_hot(4), _CLASSES, attrs={"axis": 0, "dtype": "int8"})),
        rigid(called(_hot(3), np.array(1), attrs={"axis": 0})),
        rigid(called(_hot(0), _CLASSES, attrs={"axis": 1})),
    ],
    "bincount": [
        rigid(called(lambda op, x, **attrs: op(x, **attrs), _NUMBERS, attrs={"length": 5})),
        rigid(called(on("weights", length=9), _NUMBERS, normal(6))),
        rigid(called(on("weights", length=2), _NUMBERS[:0], normal(0))),
    ],
    "histogram": [
        rigid(called(lambda op, x: op(x, _EDGES), normal(5, 7))),
        rigid(called(on("weights", bins=_EDGES), spaced(5, 2), normal(5, 2))),
        rigid(called(on("weights", bins=4, range=(-1, 2.5)), normal(5), normal(5, seed=1))),
        rigid(kink(called(lambda op, x: op(x, 5), normal(5, 7)))),
        rigid(called(on("weights", bins=_EDGES, density=True), spaced(5), 1 + normal(5) ** 2)),
    ],
}

INDEXED = ("one_hot", "bincount")
