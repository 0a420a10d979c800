"""Rows of quantiles and of tables with straight lines between their points."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import symgrad as sg
from tests.registry.formulas import Row, rows
from tests.registry.sampling import S, Sample, between, called, kink, normal, on, rigid, spaced

NAN = math.nan
_TIES = np.array([[1.0, 2.0, 2.0], [2.0, 0.0, 2.0], [2.0, 2.0, 1.0]])
_HOLES = np.where(np.arange(35).reshape(5, 7) % 4 == 1, NAN, spaced(5, 7))
_METHODS = (
    "lower higher midpoint nearest inverted_cdf averaged_inverted_cdf closest_observation "
    "interpolated_inverted_cdf hazen weibull median_unbiased normal_unbiased"
).split()

DOMAINS: dict[str, tuple[tuple[float, float], ...]] = {
    "blend": ((-1.0, 1.0), (1.5, 2.0), (0.2, 0.8)),
}

_ENDS = [(0.3, 7.0), (-2.0, -1.9), (1e-200, 1e200), (5.0, 5.0), (1e300, 1.5e308), (4.0, 0.5)]

FORMULAS: dict[str, list[Row]] = {
    "blend": [
        rows(
            lambda a, b, t: a * (1 - t) + b * t,
            (lambda a, b, t: 1 - t, lambda a, b, t: t, lambda a, b, t: b - a),
            [(a, b, t) for a, b in _ENDS for t in (0.0, 1e-9, 0.3, 0.5, 0.9, 1.0)],
        )
    ]
}

NUMPY: dict[str, Callable[..., Any]] = {
    # Compared at t = 2, which is as 1.
    "blend": lambda a, b, t: np.where(np.isnan(a), a, b),
}

SAMPLES: dict[str, list[Sample]] = {
    "fractions": [rigid(S(between(0.1, 0.9, 5))), rigid(S(np.array(0.5)))],
}


def _with(q: Any) -> Callable[..., Any]:
    return lambda op, x, **attrs: op(x, q, **attrs)


def _quantiles() -> list[Sample]:
    return [
        called(_with(0.3), spaced(5)),
        called(_with(0.3), np.array(0.7)),
        called(_with([0.1, 0.55, 0.9]), spaced(5, 7), attrs={"axis": 1}),
        called(_with(0.4), spaced(5, 7, 6), attrs={"axis": (2, 0), "keepdims": True}),
        called(_with(0.4), spaced(5, 7), attrs={"axis": ()}),
        called(_with(np.array([[0.1, 0.9]])), spaced(5, 7), attrs={"axis": 0}),
        rigid(S(spaced(5, 7), np.array(0.37), axis=0)),
        rigid(S(spaced(5, 7), np.array([0.61, 0.12]), axis=1, keepdims=True)),
        *(
            rigid(called(_with([0.2, 0.71]), spaced(5, 7), attrs={"axis": 1, "method": method}))
            for method in _METHODS
        ),
        kink(called(_with([0.25, 0.5, 1.0]), _TIES, attrs={"axis": 1})),
    ]


COMPOSITE_SAMPLES: dict[str, list[Sample]] = {
    "quantile": _quantiles(),
    "nanquantile": [
        *_quantiles(),
        rigid(called(_with([0.2, 0.71]), _HOLES, attrs={"axis": 0}), smooth=False),
    ],
    "median": [
        S(spaced(5)),
        S(spaced(6)),
        S(np.array(0.7)),
        S(spaced(5, 7), axis=1),
        S(spaced(5, 7, 6), axis=(-1, 0), keepdims=True),
        kink(S(_TIES, axis=0)),
    ],
    "nanmedian": [
        S(spaced(5, 7)),
        S(spaced(5, 7), axis=1, keepdims=True),
        rigid(S(_HOLES, axis=1), smooth=False),
        kink(S(_TIES, axis=0)),
    ],
    "interp": [
        rigid(S(between(-1, 4, 5, 7), np.array([0.0, 0.5, 1.75, 3.0]), normal(4))),
        rigid(
            called(
                on("left", "right"),
                between(-1, 4, 5),
                np.array([0.0, 0.5, 1.75, 3.0]),
                normal(4),
                normal(),
                normal(5),
            )
        ),
        rigid(S(between(-5, 9, 5), np.array([2.0, 0.4, 3.1]), normal(3), period=2.5)),
        rigid(S(np.array(0.3), np.array([0.0]), np.array([2.0]))),
        rigid(kink(S(np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 2.0]), normal(3)))),
        rigid(S(normal(0), np.array([0.0, 1.0]), normal(2))),
    ],
}


def _quantile(x: Any, q: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return np.quantile(x, q, axis=axis, keepdims=keepdims)


REFERENCES: dict[str, Callable[..., Any]] = {
    "fractions": lambda q: q,
    "quantile": _quantile,
    "nanquantile": _quantile,
    "median": np.median,
    "nanmedian": np.nanmedian,
    "interp": lambda x, xp, fp, period=None: np.interp(x, xp, fp, period=period),
}

ROWS: list[tuple[str, Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]] = [
    ("median of ties", sg.median, ([2.0, 1.0, 2.0, 3.0],), ([0.5, 0.0, 0.5, 0.0],)),
    ("median with a NaN", sg.median, ([2.0, NAN, 1.0],), ([0.0, 1.0, 0.0],)),
    ("nanmedian with a NaN", sg.nanmedian, ([2.0, NAN, 1.0],), ([0.5, 0.0, 0.5],)),
    (
        "median leaves what it passes over",
        lambda x: sg.median(sg.sqrt(x)),
        ([0.0, 4.0, 9.0],),
        ([0.0, 0.25, 0.0],),
    ),
    ("quantile at an element", lambda q: sg.quantile(np.array([1.0, 5.0]), q), (1.0,), (0.0,)),
    (
        "interp at a point of its table",
        lambda x: sg.sum(sg.interp(x, np.array([0.0, 1.0, 3.0]), np.array([0.0, 1.0, 7.0]))),
        ([-1.0, 0.0, 1.0, 3.0, 4.0],),
        ([0.0, 1.0, 3.0, 3.0, 0.0],),
    ),
]
