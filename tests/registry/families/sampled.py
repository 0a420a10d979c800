"""Rows of slopes and areas of sampled functions, of sliding products, and of polynomials."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import symgrad as sg
from tests.registry.sampling import S, Sample, called, cnormal, normal, rigid

_STEPS = np.array([0.0, 0.5, 0.7, 1.9, 2.0, 3.5, 4.0])


SAMPLES: dict[str, list[Sample]] = {
    "slid_apart": [
        S(normal(5), normal(7)),
        S(normal(7), normal(5)),
        S(cnormal(5), cnormal(5, seed=1)),
        S(normal(1), normal(1, seed=1)),
    ],
    "slid_within": [
        rigid(S(normal(7), normal(5))),
        rigid(S(cnormal(5), cnormal(5, seed=1))),
        rigid(S(normal(5), normal(1))),
    ],
    "polyval": [
        S(normal(5), normal(6, 7)),
        S(normal(5), np.array(0.7)),
        S(normal(1), normal(6)),
        S(normal(0), normal(6)),
        S(cnormal(5), cnormal(7)),
        S(normal(5), np.zeros(7)),
    ],
}


def _gradient(f: Any, *spacing: Any, **attrs: Any) -> Sample:
    return called(lambda op, x, **given: op(x, *spacing, **given), f, attrs=attrs)


COMPOSITE_SAMPLES: dict[str, list[Sample]] = {
    "gradient": [
        S(normal(5)),
        S(normal(5, 7)),
        S(normal(5, 7), axis=-1, edge_order=2),
        S(normal(2)),
        S(cnormal(5, 7), axis=0),
        rigid(S(normal(7), _STEPS)),
        rigid(S(normal(3, 7), _STEPS, axis=1, edge_order=2)),
        rigid(S(normal(7, 3), _STEPS, np.array([0.0, -1.0, -1.5]))),
        rigid(S(normal(7, 3), _STEPS, np.array(0.3), edge_order=2)),
        S(normal(5, 7), np.array(0.3)),
        _gradient(normal(5, 7), 0.5, 2.0),
        _gradient(normal(5, 7, 6), 0.5, axis=(2, 0)),
    ],
    "trapezoid": [
        S(normal(5)),
        S(normal(5, 7), axis=0, dx=0.5),
        S(normal(5, 7), normal(7)),
        S(normal(5, 7), normal(5), axis=0),
        S(normal(5, 7), normal(5, 7, seed=1), axis=0),
        S(cnormal(5, 7), normal(7)),
        S(normal(1)),
        called(lambda op, y, dx: op(y, dx=dx), normal(5, 7), np.array(0.3)),
    ],
    "cumulative_trapezoid": [
        S(normal(5)),
        S(normal(5, 7), axis=0, dx=0.5, include_initial=True),
        S(normal(5, 7), normal(7), include_initial=True),
        S(normal(5, 7), normal(5), axis=0),
        S(normal(5, 7), normal(5, 7, seed=1), axis=0),
        S(cnormal(5, 7), normal(7)),
        S(normal(1)),
    ],
    **{
        name: [
            S(normal(5), normal(7)),
            *(S(cnormal(7), cnormal(4), mode=mode) for mode in ("full", "same", "valid")),
            *(S(normal(4), normal(7), mode=mode) for mode in ("full", "same", "valid")),
            *(S(normal(6), normal(3), mode=mode) for mode in ("same", "valid")),
            S(normal(5), normal(5, seed=1), mode="valid"),
            S(normal(1), normal(1, seed=1), mode="same"),
        ]
        for name in ("convolve", "correlate")
    },
    "vander": [
        S(normal(5)),
        S(normal(5), n=3),
        S(normal(5), n=7, increasing=True),
        S(normal(5), n=0),
        S(cnormal(5), n=4),
        S(np.zeros(5), n=4),
    ],
}


def _cumulative(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1, **more: Any) -> Any:
    """By definition: the areas of all beginnings."""
    first = 0 if more.get("include_initial") else 1
    places = range(1 + first, y.shape[axis] + 1)
    if x is not None and x.ndim > 1:
        x = np.moveaxis(x, axis, -1)
    parts = [
        np.trapezoid(np.moveaxis(y, axis, -1)[..., :k], None if x is None else x[..., :k], dx)
        for k in places
    ]
    shape = (0, *np.moveaxis(y, axis, 0).shape[1:])
    return np.moveaxis(np.stack(parts) if parts else np.zeros(shape), 0, axis)


def _apart_by_definition(x: Any, w: Any) -> Any:
    y = np.zeros(len(x) + len(w) - 1, np.result_type(x, w))
    for i, j in np.ndindex(len(x), len(w)):
        y[i + j] += x[i] * w[j]
    return y


def _within_by_definition(x: Any, w: Any) -> Any:
    return np.array([np.sum(x[k : k + len(w)] * w) for k in range(len(x) - len(w) + 1)])


REFERENCES: dict[str, Callable[..., Any]] = {
    "slid_apart": _apart_by_definition,
    "slid_within": _within_by_definition,
    "polyval": np.polyval,
    "gradient": lambda f, *spacing, **more: np.gradient(f, *spacing, **more),
    "trapezoid": np.trapezoid,
    "cumulative_trapezoid": _cumulative,
    "convolve": np.convolve,
    "correlate": np.correlate,
    "vander": lambda x, n=None, increasing=False: np.vander(x, n, increasing),
}

INDEXED = ("slid_within",)

ROWS: list[tuple[str, Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]] = [
    ("polyval at 0", lambda x: sg.polyval([3.0, 2.0, 1.0], x), (0.0,), (2.0,)),
    ("polyval of a constant", lambda x: sg.polyval([3.0], x), (5.0,), (0.0,)),
    ("vander at 0", lambda x: sg.sum(sg.vander(x, 4)), ([0.0, 2.0],), ([1.0, 17.0],)),
]

SECOND = [
    ("polyval at 0", lambda x: sg.polyval([5.0, 3.0, 2.0, 1.0], x), 0.0, 6.0),
    ("vander at 0", lambda x: sg.sum(sg.vander(sg.reshape(x, (1,)), 4)), 0.0, 2.0),
]
