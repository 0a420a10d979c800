"""Rows of what the spread of numbers and the sums of exponentials are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.registry.sampling import S, Sample, kink, normal, spaced

_SIGNS = np.where(np.arange(35).reshape(5, 7) % 3 == 0, -1.0, 1.0)

SAMPLES: dict[str, list[Sample]] = {
    "centred": [
        S(normal(5, 7), axis=(0, 1)),
        S(normal(5, 7, 6), axis=(1,)),
        S(normal(5, 7), axis=()),
        S(np.array(0.7), axis=()),
        S(np.full(5, 0.1), axis=(0,)),
    ],
    "at_peak": [
        S(normal(5, 7), spaced(5, 7), axis=(1,)),
        S(normal(5, 7, 6), spaced(5, 7, 6), axis=(0, 2)),
        S(normal(5, 7), spaced(5, 7), axis=(0, 1)),
        S(np.array(0.7), np.array(2.0), axis=()),
        kink(S(normal(5, 7), _SIGNS, axis=(0,))),
    ],
    "onto_peak": [
        S(normal(5, 1), spaced(5, 7), axis=(1,)),
        S(normal(1, 7, 1), spaced(5, 7, 6), axis=(0, 2)),
        S(normal(1, 1), spaced(5, 7), axis=(0, 1)),
        S(np.array(0.7), np.array(2.0), axis=()),
        kink(S(normal(1, 7), _SIGNS, axis=(0,))),
    ],
}

CUT = [("at_peak", 1), ("onto_peak", 1)]
"""What only says where the peak is."""


def _places(p: Any, axis: tuple[int, ...]) -> dict[tuple[int, ...], tuple[int, ...]]:
    """By definition: per result the first position that no other one of its group exceeds."""
    found: dict[tuple[int, ...], tuple[int, ...]] = {}
    for place in np.ndindex(p.shape):
        kept = tuple(0 if k in axis else i for k, i in enumerate(place))
        if kept not in found or p[place] > p[found[kept]]:
            found[kept] = place
    return found


def _at_peak(t: Any, p: Any, axis: tuple[int, ...]) -> Any:
    result = np.zeros([1 if k in axis else n for k, n in enumerate(t.shape)])
    for kept, place in _places(p, axis).items():
        result[kept] = t[place]
    return result


def _onto_peak(v: Any, p: Any, axis: tuple[int, ...]) -> Any:
    result = np.zeros(p.shape)
    for kept, place in _places(p, axis).items():
        result[place] = v[kept]
    return result


REFERENCES: dict[str, Callable[..., Any]] = {
    "centred": lambda x, axis: x - np.mean(x, axis=axis, keepdims=True),
    "at_peak": _at_peak,
    "onto_peak": _onto_peak,
}
