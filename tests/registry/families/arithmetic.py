"""Rows of element-wise arithmetic beside the array API's."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
from mpmath import mpf

import symgrad as sg
from tests.registry.formulas import LARGE, MIDDLE, REALS, SMALL, Row, rows, signed
from tests.registry.sampling import S, Sample, between, cnormal, kink, normal, rigid

INF, NAN = math.inf, math.nan
_LN2 = mpmath.log(2)

DOMAINS: dict[str, tuple[tuple[float, float], ...]] = {
    "exp2": ((-3.0, 3.0),),
    "fmax": ((0.6, 0.9), (0.1, 0.4)),
    "fmin": ((0.6, 0.9), (0.1, 0.4)),
    "heaviside": ((0.1, 0.9), (0.2, 0.8)),
    "lerp": ((-1.0, 1.0), (1.5, 2.0), (-0.4, 1.4)),
}
OTHER_SIDE = ("fmax", "fmin", "heaviside")

_ENDS = [(0.3, 7.0), (-2.0, -1.9), (5.0, 5.0), (4.0, 0.5), (1e-200, 1e200), (-1e300, 1.5e308)]
_PAIRS = [(a, b) for a in (-3.0, 0.0, 2.0, 1e300) for b in (-1e4, -0.5, 1.0, 1e-300)]

FORMULAS: dict[str, list[Row]] = {
    "exp2": [
        rows(
            lambda x: mpf(2) ** x,
            lambda x: _LN2 * mpf(2) ** x,
            [*MIDDLE, *SMALL, *LARGE, *signed(1000.25)],
        )
    ],
    "fmax": [
        rows(max, (lambda a, b: mpf(a > b), lambda a, b: mpf(b > a)), _PAIRS),
    ],
    "fmin": [
        rows(min, (lambda a, b: mpf(a < b), lambda a, b: mpf(b < a)), _PAIRS),
    ],
    "heaviside": [
        rows(
            lambda a, b: b if a == 0 else mpf(a > 0),
            (lambda a, b: mpf(0), lambda a, b: mpf(a == 0)),
            [(a, b) for a in (0.0, *REALS) for b in (0.5, -3.0)],
        )
    ],
    "lerp": [
        rows(
            lambda a, b, t: a + t * (b - a),
            (lambda a, b, t: 1 - t, lambda a, b, t: t, lambda a, b, t: b - a),
            [(a, b, t) for a, b in _ENDS for t in (0.0, 1e-9, 0.3, 0.5, 0.9, 1.0)],
        )
    ],
}

NUMPY: dict[str, Callable[..., Any]] = {
    "exp2": np.exp2,
    "fmax": np.fmax,
    "fmin": np.fmin,
    "heaviside": np.heaviside,
    # Compared from x1 to -1 at weight 2.
    "lerp": lambda a, b, t: np.where(a == b, a, b - (b - a) * (1 - t)),
}

CUT = [("heaviside", 0)]
"""A step."""

COMPOSITE_SAMPLES: dict[str, list[Sample]] = {
    "float_power": [
        S(between(0.3, 2, 5, 7), normal(7)),
        S(between(0.3, 2, 5), 2.5),
        rigid(S(np.array([2, 3, 5]), np.array([-1, 0, 2]))),
    ],
    "deg2rad": [S(normal(5, 7)), S(0.7), S(normal(0))],
    "rad2deg": [S(normal(5, 7)), S(0.7), S(normal(0))],
    "angle": [
        S(cnormal(5, 7)),
        S(cnormal(5), deg=True),
        S(normal(5)),
        kink(S(np.zeros(2, complex))),
    ],
    "unwrap": [
        S(5 * normal(5)),
        S(5 * normal(5, 7), axis=0),
        S(5 * normal(5, 7), period=2.5, discont=2.0),
        S(normal(0)),
        S(normal(1)),
        kink(S(np.array([0.0, 3.0, 0.0, -3.0, 3.0]), period=6.0)),
    ],
}

REFERENCES: dict[str, Callable[..., Any]] = {
    "float_power": np.float_power,
    "deg2rad": np.deg2rad,
    "rad2deg": np.rad2deg,
    "angle": lambda x, deg=False: np.angle(x, deg),
    "unwrap": np.unwrap,
}


def _of(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *xs: sg.sum(function(*xs))


ROWS: list[tuple[str, Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]] = [
    ("fmax shares ties", sg.fmax, (1.0, 1.0), (0.5, 0.5)),
    ("fmin shares ties", sg.fmin, (1.0, 1.0), (0.5, 0.5)),
    ("fmax leaves NaN", _of(sg.fmax), ([NAN, 1.0], [1.0, NAN]), ([0.0, 1.0], [1.0, 0.0])),
    ("fmin leaves NaN", _of(sg.fmin), ([NAN, 1.0], [1.0, NAN]), ([0.0, 1.0], [1.0, 0.0])),
    ("fmax of NaN alone", sg.fmax, (NAN, NAN), (0.5, 0.5)),
    ("fmax of infinities", sg.fmax, (INF, -INF), (1.0, 0.0)),
    ("fmax leaves what loses", lambda x: sg.fmax(sg.sqrt(x), 1.0), (0.0,), (0.0,)),
    ("fmax leaves what is NaN", lambda x: sg.fmax(sg.log(x), 1.0), (-1.0,), (0.0,)),
    ("fmin leaves what loses", lambda x: sg.fmin(sg.cbrt(x), -1.0), (0.0,), (0.0,)),
    ("maximum leaves what loses", lambda x: sg.maximum(sg.sqrt(x), 1.0 + x), (0.0,), (1.0,)),
    ("minimum leaves what loses", lambda x: sg.minimum(1.0 + x, 1 / x), (0.0,), (1.0,)),
    ("maximum of NaN", sg.maximum, (NAN, 1.0), (0.0, 0.0)),
    ("clip leaves what is cut", lambda x: sg.clip(sg.sqrt(x), 0.5, 1.0), (0.0,), (0.0,)),
    ("heaviside away from 0", lambda x: sg.heaviside(x + 1, sg.sqrt(x)), (0.0,), (0.0,)),
    ("heaviside at 0", sg.heaviside, (0.0, 0.5), (0.0, 1.0)),
    ("heaviside at NaN", sg.heaviside, (NAN, 0.5), (0.0, 0.0)),
    ("exp2 far below", sg.exp2, (-INF,), (0.0,)),
    ("lerp at an end", sg.lerp, (1.0, 3.0, 1.0), (0.0, 1.0, 2.0)),
    ("angle of 0", lambda x: sg.angle(x + 0j), (0.0,), (0.0,)),
    ("unwrap", _of(sg.unwrap), ([0.0, 9.0, -9.0],), ([1.0, 1.0, 1.0],)),
]
