"""The zeta function and the derivatives of digamma, in 250 digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
from mpmath import mpf

import symgrad as sg
from tests.registry.formulas import MIDDLE, near, rows
from tests.registry.sampling import called

inf, nan = float("inf"), float("nan")

DOMAINS = {
    "zeta": ((1.5, 4.0), (0.6, 4.0)),
    "zeta_by_exponent": ((1.5, 4.0), (0.6, 4.0)),
    "polygamma_of": ((0.6, 4.0),),
}
ATTRIBUTES = {
    "zeta_by_exponent": [{"order": 1}, {"order": 3}],
    "polygamma_of": [{"order": 0}, {"order": 1}, {"order": 4}],
}


def _zeta(order: int) -> Callable[..., Any]:
    def value(s: Any, q: Any) -> Any:
        if mpmath.isinf(q):
            return mpf(0)
        with mpmath.workdps(250):
            return mpmath.zeta(s, q, order) if order else mpmath.zeta(s, q)

    return value


def _zeta_by_start(order: int) -> Callable[..., Any]:
    lower = _zeta(order - 1) if order else lambda s, q: mpf(0)
    return lambda s, q: -s * _zeta(order)(s + 1, q) - order * lower(s + 1, q)


def _psi(n: int) -> Callable[[Any], Any]:
    return lambda x: mpmath.psi(n, x)


_EXPONENTS = (1.001, 1.01, 2.0, 3.3, 20.0, 50.5, 300.0, 1500.0)
_ZETA = [(s, q) for s in _EXPONENTS for q in (1e-5, 0.3, 1.0, 1.5, 12.0, 77.7, 1e5)]
_ARGUMENTS = [1e-5, 0.1, *MIDDLE, 1.46, 8.0, 10.1, 30.5, 170.0, 1e5, 1e10, 1e100]
_ARGUMENTS += [-0.1, -0.504083, -1.5, -3.7001, -20.4, -36.5, -100.3, *near(0.5)]
_POSITIVE = [1e-9, 1e-3, 0.3, 0.7, 1.0, 1.3, 2.5, 7.9, 19.9, 20.1, 51.9, 52.1, 300.0, 1e6, 1e10]

FORMULAS = {
    "zeta": [rows(_zeta(0), (_zeta(1), _zeta_by_start(0)), [*_ZETA, (2.0, 1e9)], slope_ulps=32)],
    "zeta_by_exponent": [
        rows(_zeta(n), (_zeta(n + 1), _zeta_by_start(n)), _ZETA, attrs={"order": n}, slope_ulps=100)
        for n in (1, 2)
    ],
    "polygamma_of": [
        rows(
            _psi(n),
            _psi(n + 1),
            [x for x in _ARGUMENTS if x not in (-1.0, -0.5, -1.5)],
            attrs={"order": n},
            ulps=16,
            slope_ulps=24,
        )
        for n in (1, 2, 5)
    ]
    + [
        rows(_psi(n), _psi(n + 1), _POSITIVE, attrs={"order": n}, ulps=16, slope_ulps=24)
        for n in (0, 4, 11, 20)
    ],
}

COMPOSITE_SAMPLES = {
    "polygamma": [
        called(lambda op, x: op(0, x), np.array([0.7, 2.0])),
        called(lambda op, x: op(2, x), np.array([[0.7, 2.0, 3.5]])),
    ],
}

LIMITS = {"polygamma_of": ({"order": 1}, [inf, inf, 0, nan, nan])}


def _at_specials(order: int) -> Callable[..., Any]:
    """By the series where it converges at once, by definition elsewhere."""

    def one(s: float, q: float) -> float:
        if s > 1 and q <= 0 and q == np.floor(q):
            return inf
        if s == 1 and q > 0:
            return inf if order == 0 else -inf
        if not (s > 1 and q > 0):
            return nan
        if q == inf:
            return 0.0
        if s > 1e200:
            at_one = 1.0 if order == 0 else 0.0
            return at_one if q == 1 else inf if q < 1 else 0.0
        return float(_zeta(order)(mpf(s), mpf(q)))

    return lambda s, q: np.array([one(*p) for p in zip(s.tolist(), q.tolist(), strict=True)])


NUMPY = {"zeta": _at_specials(0), "zeta_by_exponent": _at_specials(1)}
APPROXIMATE = ("zeta", "zeta_by_exponent")

ROWS = [
    ("trigamma at 0", lambda x: sg.polygamma(1, x), (0.0,), (-inf,)),
    ("trigamma at inf", lambda x: sg.polygamma(1, x), (inf,), (0.0,)),
]
