"""Rows of means, spreads and covariances, and of reductions that leave NaN out."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import symgrad as sg
from tests.registry.sampling import (
    S,
    Sample,
    between,
    called,
    cnormal,
    extremes,
    kink,
    normal,
    on,
    reductions,
    rigid,
    spaced,
)

INF, NAN = math.inf, math.nan
_HOLES = np.where(np.arange(35).reshape(5, 7) % 4 == 1, NAN, spaced(5, 7))
_ROWS = np.array([[1.0, NAN, 3.0, 5.5], [NAN, NAN, NAN, NAN], [2.0, 2.0, NAN, 2.0]])
_COUNTS = np.array([1, 0, 2, 1, 3, 1, 1])
_WILD = np.array([[NAN, 2.0, INF], [-INF, -0.5, NAN]])

_WILD_COMPLEX = np.array([complex(NAN, 2.0), complex(-0.5, INF), complex(-INF, NAN)])


def _with_weights(x: Any, w: Any, **attrs: Any) -> Sample:
    return called(on("weights"), x, w, attrs=attrs)


def _holed(*more: Sample) -> list[Sample]:
    """What a reduction that leaves NaN out is tried on."""
    return [
        *reductions(),
        rigid(S(_HOLES)),
        rigid(S(_HOLES, axis=1)),
        rigid(S(_HOLES, axis=0, keepdims=True)),
        *more,
    ]


def _holed_extremes() -> list[Sample]:
    return [
        *extremes(),
        rigid(S(_HOLES), smooth=False),
        rigid(S(_HOLES, axis=1), smooth=False),
        rigid(S(_ROWS, axis=-1, keepdims=True), smooth=False),
    ]


SAMPLES: dict[str, list[Sample]] = {"nanmax": _holed_extremes(), "nanmin": _holed_extremes()}

COMPOSITE_SAMPLES: dict[str, list[Sample]] = {
    "average": [
        *reductions(S(cnormal(5, 7), axis=0)),
        _with_weights(normal(5, 7), between(0.5, 2, 5, 7)),
        _with_weights(normal(5, 7), between(0.5, 2, 5, 7), axis=1),
        _with_weights(normal(5, 7), between(0.5, 2, 5), axis=0, keepdims=True),
        _with_weights(normal(5, 7, 6), between(0.5, 2, 6, 5), axis=(2, 0)),
        _with_weights(normal(5, 7, 6), between(0.5, 2, 5, 6), axis=(0, -1), keepdims=True),
        _with_weights(cnormal(5, 7), between(0.5, 2, 7), axis=-1),
        _with_weights(np.array(0.7), np.array(2.0)),
    ],
    "ptp": extremes(),
    "cov": [
        S(normal(5, 7)),
        S(normal(7)),
        S(normal(1, 7)),
        S(normal(5, 7), rowvar=False, correction=0),
        S(normal(5, 7), normal(6, 7), correction=2),
        S(normal(7), normal(7, seed=1), correction=0.5),
        S(cnormal(5, 7)),
        called(on("fweights"), normal(5, 7), _COUNTS, fixed={7: "one count each"}, structured=True),
        called(on("aweights"), normal(5, 7), between(0.5, 2, 7)),
        called(on("aweights"), cnormal(5, 7), between(0.5, 2, 7), attrs={"correction": 0}),
        called(
            on("fweights", "aweights"),
            normal(5, 7),
            _COUNTS,
            between(0.5, 2, 7),
            fixed={7: "one count each"},
            structured=True,
        ),
    ],
    "corrcoef": [
        S(normal(5, 7)),
        S(normal(5, 7), rowvar=False),
        S(normal(5, 7), normal(6, 7)),
        S(normal(7), normal(7, seed=1)),
        S(cnormal(5, 7)),
    ],
    "nan_to_num": [
        S(normal(5, 7)),
        S(cnormal(5)),
        rigid(S(_WILD, nan=0.25, posinf=9.0, neginf=-7.0), smooth=False),
        rigid(S(_WILD_COMPLEX, posinf=9.0, neginf=-7.0), smooth=False),
    ],
    "nansum": _holed(rigid(S(_ROWS, axis=1)), kink(rigid(S(_HOLES, axis=0, dtype="float32")))),
    "nanprod": [
        *reductions(),
        rigid(S(_HOLES, axis=0)),
        rigid(S(_HOLES, axis=1, keepdims=True)),
        rigid(S(_ROWS, axis=1)),
    ],
    "nanmean": _holed(rigid(S(_ROWS, axis=1), smooth=False), S(cnormal(5, 7), axis=0)),
    "nanvar": _holed(
        S(normal(5, 7), axis=1, correction=1.5),
        rigid(S(_HOLES, axis=1, correction=1)),
        rigid(S(_ROWS, axis=1), smooth=False),
    ),
    "nanstd": [
        S(normal(5, 7)),
        S(normal(5, 7), axis=1, correction=1),
        S(normal(5, 7, 6), axis=(2, 0), keepdims=True),
        kink(S(np.full((2, 3), 0.1), axis=1)),
        rigid(S(_HOLES, axis=1)),
        rigid(S(_ROWS, axis=1), smooth=False),
    ],
}


def _nan(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, axis=None, keepdims=False, **more: f(x, axis=axis, keepdims=keepdims, **more)


def _nan_moment(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, axis=None, correction=0, keepdims=False: f(
        x, axis=axis, ddof=correction, keepdims=keepdims
    )


def _cov(x: Any, y: Any = None, rowvar: bool = True, correction: float = 1) -> Any:
    """By definition: numpy takes no fractional correction."""
    rows = np.atleast_2d(x) if rowvar else np.atleast_2d(x).T
    rows = rows if y is None else np.concatenate([rows, np.atleast_2d(y)])
    far = rows - rows.mean(1, keepdims=True)
    return np.squeeze(far @ far.conj().T / (rows.shape[1] - correction))


REFERENCES: dict[str, Callable[..., Any]] = {
    "average": lambda x, axis=None, keepdims=False: np.average(x, axis=axis, keepdims=keepdims),
    "ptp": _nan(np.ptp),
    "cov": _cov,
    "corrcoef": lambda x, y=None, rowvar=True: np.corrcoef(x, y, rowvar=rowvar),
    "nan_to_num": lambda x, **more: np.nan_to_num(x, **more),
    "nansum": _nan(np.nansum),
    "nanprod": _nan(np.nanprod),
    "nanmean": _nan(np.nanmean),
    "nanvar": _nan_moment(np.nanvar),
    "nanstd": _nan_moment(np.nanstd),
    "nanmax": _nan(np.nanmax),
    "nanmin": _nan(np.nanmin),
}

ROWS: list[tuple[str, Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]] = [
    ("ptp shares ties", sg.ptp, ([1.0, 3.0, 3.0],), ([-1.0, 0.5, 0.5],)),
    ("ptp of equal numbers", sg.ptp, ([3.0, 3.0],), ([0.0, 0.0],)),
    ("nansum leaves NaN out", sg.nansum, ([1.0, NAN],), ([1.0, 0.0],)),
    ("nanprod leaves NaN out", sg.nanprod, ([2.0, NAN, 3.0],), ([3.0, 0.0, 2.0],)),
    ("nanprod beside a zero", sg.nanprod, ([0.0, NAN, 3.0],), ([3.0, 0.0, 0.0],)),
    ("nanmean leaves NaN out", sg.nanmean, ([1.0, NAN, 3.0],), ([0.5, 0.0, 0.5],)),
    ("nanmean of NaN alone", sg.nanmean, ([NAN, NAN],), ([0.0, 0.0],)),
    ("nanvar leaves NaN out", sg.nanvar, ([1.0, NAN, 3.0],), ([-1.0, 0.0, 1.0],)),
    ("nanvar of NaN alone", sg.nanvar, ([NAN, NAN],), ([0.0, 0.0],)),
    ("nanstd of equal numbers", sg.nanstd, ([2.0, NAN, 2.0],), ([0.0, 0.0, 0.0],)),
    ("nanstd leaves NaN out", sg.nanstd, ([1.0, NAN, 3.0],), ([-0.5, 0.0, 0.5],)),
    ("nanstd of NaN alone", sg.nanstd, ([NAN, NAN],), ([0.0, 0.0],)),
    ("nanmax shares ties", sg.nanmax, ([3.0, NAN, 3.0, 1.0],), ([0.5, 0.0, 0.5, 0.0],)),
    ("nanmin shares ties", sg.nanmin, ([1.0, NAN, 3.0, 1.0],), ([0.5, 0.0, 0.0, 0.5],)),
    ("nanmax of -inf", sg.nanmax, ([-INF, NAN],), ([1.0, 0.0],)),
    ("nanmin of inf", sg.nanmin, ([INF, NAN],), ([1.0, 0.0],)),
    ("nanmax of NaN alone", sg.nanmax, ([NAN, NAN],), ([0.0, 0.0],)),
    (
        "nansum leaves out where a slope is infinite",
        lambda x: sg.nansum(sg.sqrt(x)),
        ([-1.0, 4.0],),
        ([0.0, 0.25],),
    ),
    (
        "nanmax leaves what it passes over",
        lambda x: sg.nanmax(sg.sqrt(x)),
        ([-1.0, 0.0, 4.0],),
        ([0.0, 0.0, 0.25],),
    ),
    (
        "nan_to_num of what is not finite",
        lambda x: sg.sum(sg.nan_to_num(x)),
        ([NAN, INF, -INF, 2.0],),
        ([0.0, 0.0, 0.0, 1.0],),
    ),
    (
        "nan_to_num leaves out where a slope is infinite",
        lambda x: sg.sum(sg.nan_to_num(sg.log(x))),
        ([0.0, -1.0, 2.0],),
        ([0.0, 0.0, 0.5],),
    ),
]
