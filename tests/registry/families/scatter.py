"""Rows of reading and writing along an axis at positions that are data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import symgrad as sg
from tests.registry.sampling import S, Sample, kink, normal, rigid, spaced

_LINE = np.array([2, 0, -1, 0])
_WHOLE = np.array([[2, 0, 1, 1, -1], [0, 0, 3, -4, 2]])
_PART = np.array([[3, 0, 1], [0, 0, -1]])
_CUBE = np.array([[[4, 0], [1, 1]], [[0, 2], [-1, -5]], [[3, 3], [3, 0]]])


def _written(data: Callable[..., Any], **more: Any) -> list[Sample]:
    return [
        rigid(S(data(5), data(4, seed=1), axis=0, **more)),
        rigid(S(data(4, 5), data(2, 5, seed=1), axis=0, **more)),
        rigid(S(data(5, 4), data(2, 3, seed=1), axis=-1, **more)),
        rigid(S(data(5, 4), data(3, 4, seed=1), axis=1, **more)),
        rigid(S(data(3, 5, 2), data(3, 2, 2, seed=1), axis=1, **more)),
        rigid(S(data(5), np.array(2.0), axis=0, **more)),
    ]


def _with_indices(samples: list[Sample]) -> list[Sample]:
    """The indices between the array and the values."""
    places = [_LINE, _WHOLE, _PART, _PART, _CUBE, _LINE]
    found = [
        rigid(Sample((s.operands[0], i, *s.operands[1:]), s.attrs, smooth=s.smooth))
        for s, i in zip(samples, places, strict=True)
    ]
    cut = dict.fromkeys((2, 3, 4), "values that reach beyond the indices need sizes")
    return [*found[:3], rigid(found[3], fixed=cut), *found[4:]]


COMPOSITE_SAMPLES: dict[str, list[Sample]] = {
    "gather": [
        rigid(S(normal(5), _LINE, axis=0)),
        rigid(S(normal(4, 5), _WHOLE, axis=0)),
        rigid(S(normal(2, 4), _PART, axis=1)),
        rigid(S(normal(5, 4), _PART, axis=-1)),
        rigid(S(normal(3, 5, 2), _CUBE, axis=1)),
        rigid(S(normal(5, 4), _PART[:0], axis=0)),
    ],
    "scatter": _with_indices(_written(normal)),
    "scatter_add": _with_indices(_written(normal)),
    "scatter_reduce": [
        *_with_indices(_written(normal, reduction="sum")),
        *_with_indices(_written(normal, reduction="mean")),
        *_with_indices(_written(normal, reduction="prod", include_self=False)),
        *_with_indices(_written(spaced, reduction="max"))[1:4],
        *_with_indices(_written(spaced, reduction="min", include_self=False))[1:4],
        rigid(kink(S(np.ones(3), np.array([0, 0, 2]), np.ones(3), axis=0, reduction="max"))),
    ],
}


def _places(indices: Any, axis: int, size: int) -> Any:
    """By definition: where each index points."""
    for place in np.ndindex(indices.shape):
        axis %= indices.ndim
        yield place, (*place[:axis], int(indices[place]) % size, *place[axis + 1 :])


def _gather(x: Any, indices: Any, axis: int) -> Any:
    result = np.zeros(indices.shape)
    for place, source in _places(indices, axis, x.shape[axis]):
        result[place] = x[source]
    return result


def _scatter(x: Any, indices: Any, values: Any, axis: int) -> Any:
    result = x.copy()
    for place, target in _places(indices, axis, x.shape[axis]):
        result[target] = values[place] if values.ndim else values
    return result


_COMBINE = {"sum": np.sum, "prod": np.prod, "mean": np.mean, "max": np.max, "min": np.min}


def _reduce(
    x: Any, indices: Any, values: Any, axis: int, reduction: str = "sum", include_self: bool = True
) -> Any:
    gone: dict[Any, list[float]] = {}
    for place, target in _places(indices, axis, x.shape[axis]):
        own = [x[target]] if include_self else []
        gone.setdefault(target, own).append(values[place] if values.ndim else values)
    result = x.copy()
    for target, together in gone.items():
        result[target] = _COMBINE[reduction](together)
    return result


REFERENCES: dict[str, Callable[..., Any]] = {
    "gather": _gather,
    "scatter": _scatter,
    "scatter_add": _reduce,
    "scatter_reduce": _reduce,
}

_TWICE = np.array([1, 1, 0])

ROWS: list[tuple[str, Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]] = [
    (
        "scatter keeps the last value",
        lambda x, v: sg.sum(sg.scatter(x, _TWICE, v, axis=0)),
        ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]),
        ([0.0, 0.0, 1.0], [0.0, 1.0, 1.0]),
    ),
    (
        "scatter_add adds both values",
        lambda x, v: sg.sum(sg.scatter_add(x, _TWICE, v, axis=0)),
        ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]),
        ([1.0, 1.0, 1.0], [1.0, 1.0, 1.0]),
    ),
    (
        "scatter_reduce shares ties",
        lambda x, v: sg.sum(sg.scatter_reduce(x, _TWICE, v, axis=0, reduction="max")),
        ([1.0, 5.0, 3.0], [4.0, 5.0, 0.0]),
        ([1.0, 0.5, 1.0], [0.0, 0.5, 0.0]),
    ),
    (
        "scatter_reduce without the own element",
        lambda x, v: sg.sum(
            sg.scatter_reduce(x, _TWICE, v, axis=0, reduction="prod", include_self=False)
        ),
        ([1.0, 5.0, 3.0], [4.0, 0.0, 7.0]),
        ([0.0, 0.0, 1.0], [0.0, 4.0, 1.0]),
    ),
]
