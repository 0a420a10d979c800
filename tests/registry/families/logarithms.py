"""Logarithms of sums and differences of exponentials, in 50 digits."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
from mpmath import mpf

import symgrad as sg
from tests.registry.formulas import LARGE, MIDDLE, REALS, SMALL, near, rows

inf, nan = float("inf"), float("nan")
_LN2 = mpmath.log(2)
_POSITIVE = [x for x in (*MIDDLE, *SMALL, *LARGE, 1e300) if x > 0]

DOMAINS = {
    "log1mexp": ((0.2, 2.0),),
    "logexpm1": ((0.3, 2.0),),
    "inverse_expm1": ((0.3, 2.0),),
    "logistic2": ((-3.0, 3.0),),
    "logaddexp2": ((-2.0, 2.0), (-2.0, 2.0)),
}
OTHER_SIDE = ("log1mexp", "inverse_expm1")


def _log1mexp(x: Any) -> Any:
    e = mpmath.exp(-abs(x))
    return mpmath.log1p(-e) if abs(x) > 1 else mpmath.log(-mpmath.expm1(-abs(x)))


def _logistic2(x: Any) -> Any:
    return 1 / (1 + mpf(2) ** -x)


def _lae2(a: Any, b: Any) -> Any:
    return max(a, b) + mpmath.log1p(mpf(2) ** -abs(a - b)) / _LN2


FORMULAS = {
    "log1mexp": [
        rows(
            _log1mexp,
            lambda x: mpmath.sign(x) / mpmath.expm1(abs(x)),
            [x for x in REALS if x != 0],
        )
    ],
    "logexpm1": [
        rows(
            lambda x: x + _log1mexp(x),
            lambda x: 1 / -mpmath.expm1(-x),
            [*_POSITIVE, *near(0.6931471805599453), *near(0.4), *near(1.2)],
        )
    ],
    "inverse_expm1": [
        rows(
            lambda x: 1 / mpmath.expm1(x),
            lambda x: -1 / (4 * mpmath.sinh(x / 2) ** 2),
            [*MIDDLE, *SMALL, *LARGE],
        )
    ],
    "logistic2": [
        rows(
            _logistic2,
            lambda x: _LN2 * _logistic2(x) * _logistic2(-x),
            [*MIDDLE, *SMALL, *LARGE, 1000.25, -1000.25],
        )
    ],
    "logaddexp2": [
        rows(
            _lae2,
            (lambda a, b: _logistic2(a - b), lambda a, b: _logistic2(b - a)),
            [(a, b) for a in (-1000.0, -3.0, 0.0, 2.0, 999.5) for b in (-1e4, -0.5, 0.0, 1000.0)],
        )
    ],
}

NUMPY = {"logaddexp2": np.logaddexp2}

LIMITS = {
    "log1mexp": ({}, [-inf, -inf, 0, 0, nan]),
    "logexpm1": ({}, [-inf, -inf, inf, nan, nan]),
    "inverse_expm1": ({}, [inf, -inf, 0, -1, nan]),
    "logistic2": ({}, [0.5, 0.5, 1, 0, nan]),
}

ROWS = [
    ("log1mexp at 0", sg.log1mexp, (0.0,), (inf,)),
    ("log1mexp at -0", sg.log1mexp, (-0.0,), (-inf,)),
    ("log1mexp at inf", sg.log1mexp, (inf,), (0.0,)),
    ("log1mexp at -inf", sg.log1mexp, (-inf,), (0.0,)),
    ("logexpm1 at 0", sg.logexpm1, (0.0,), (inf,)),
    ("logexpm1 at inf", sg.logexpm1, (inf,), (1.0,)),
    ("logaddexp2 with -inf", sg.logaddexp2, (-inf, 0.0), (0.0, 1.0)),
    ("logaddexp2 of nothing", sg.logaddexp2, (-inf, -inf), (0.0, 0.0)),
]

SECOND = [
    ("log1mexp far out", sg.log1mexp, 1000.0, 0.0),
    ("log1mexp far below", sg.log1mexp, -1000.0, 0.0),
    ("logexpm1 far out", sg.logexpm1, 1000.0, 0.0),
]
