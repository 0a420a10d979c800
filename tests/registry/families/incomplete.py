"""The incomplete gamma and beta functions, in 60 digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import scipy.special
from mpmath import mpf

import symgrad as sg
from tests.registry.formulas import rows

inf, nan = float("inf"), float("nan")

_SHAPES = (0.6, 4.0)
DOMAINS = {
    **dict.fromkeys(("gammainc", "gammaincc", "gamma_density"), (_SHAPES, (0.4, 4.0))),
    "gammainc_by_shape": (_SHAPES, (0.4, 4.0)),
    **dict.fromkeys(("betainc", "beta_density"), (_SHAPES, _SHAPES, (0.2, 0.8))),
    "betainc_by_shapes": (_SHAPES, _SHAPES, (0.2, 0.8)),
}
ATTRIBUTES = {
    "gammainc_by_shape": [{"order": 1}, {"order": 2}],
    "betainc_by_shapes": [{"order": (1, 0)}, {"order": (0, 1)}, {"order": (1, 1)}],
}


def _by(f: Callable[..., Any], *orders: int) -> Callable[..., Any]:
    """A mixed derivative of a function by its first operands, by differences in 90 digits."""

    def derivative(*point: Any) -> Any:
        with mpmath.workdps(90):
            moved, fixed = point[: len(orders)], point[len(orders) :]
            step = min(moved) * mpf(10) ** -15
            return mpmath.diff(lambda *z: f(*z, *fixed), moved, orders, h=step)

    return derivative


def _p(a: Any, x: Any) -> Any:
    with mpmath.workdps(90):
        return mpmath.gammainc(a, 0, x, regularized=True)


def _q(a: Any, x: Any) -> Any:
    with mpmath.workdps(90):
        return mpmath.gammainc(a, x, mpmath.inf, regularized=True)


def _gamma_density(a: Any, x: Any) -> Any:
    return mpmath.exp((a - 1) * mpmath.log(x) - x - mpmath.loggamma(a))


def _i(a: Any, b: Any, x: Any) -> Any:
    with mpmath.workdps(90):
        return mpmath.betainc(a, b, 0, x, regularized=True)


def _beta_density(a: Any, b: Any, x: Any) -> Any:
    log_beta = mpmath.loggamma(a) + mpmath.loggamma(b) - mpmath.loggamma(a + b)
    return mpmath.exp((a - 1) * mpmath.log(x) + (b - 1) * mpmath.log1p(-x) - log_beta)


def _times(f: Callable[..., Any], factor: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *point: f(*point) * factor(*point)


_GAMMA = [(a, x) for a in (0.3, 1.0, 2.5, 60.0) for x in (1e-5, 0.3, 1.7, 9.0, 50.0, 75.0)]
_BETA = [(a, b, x) for a in (0.3, 2.5, 60.0) for b in (0.5, 3.0, 20.0) for x in (0.01, 0.4, 0.9)]
_VAST = [(1e5, 1e5), (1e5, 1.005e5), (1e10, 1e10 + 1e5), (1e-5, 1e-20), (5.0, 1e-40)]

FORMULAS = {
    "gammainc": [
        rows(
            _p, (_by(_p, 1), _gamma_density), [p for p in _GAMMA if p[1] <= p[0] + 9],
            ulps=400, slope_ulps=1000,
        )
    ],
    "gammaincc": [
        rows(
            _q, (_by(_q, 1), lambda a, x: -_gamma_density(a, x)),
            [p for p in _GAMMA if p[0] < p[1] + 20], ulps=400, slope_ulps=1000,
        )
    ],
    "gammainc_by_shape": [
        rows(
            _by(_p, n), (_by(_p, n + 1), _by(_gamma_density, n)),
            [(0.3, 0.01), (0.3, 1.7), (2.5, 1.1), (2.5, 9.0), (60.0, 50.0), (60.0, 75.0)],
            attrs={"order": n}, ulps=4e4, slope_ulps=4e5,
        )
        for n in (1, 2)
    ],
    "gamma_density": [
        rows(
            _gamma_density,
            (
                _times(_gamma_density, lambda a, x: mpmath.log(x) - mpmath.digamma(a)),
                _times(_gamma_density, lambda a, x: (a - 1 - x) / x),
            ),
            [*_GAMMA, *_VAST], ulps=1000, slope_ulps=2e6,
        )
    ],
    "betainc": [
        rows(
            _i, (_by(_i, 1), lambda a, b, x: _by(lambda b: _i(a, b, x), 1)(b), _beta_density),
            _BETA, ulps=200, slope_ulps=1e4,
        )
    ],
    "betainc_by_shapes": [
        rows(
            _by(_i, i, j), (_by(_i, i + 1, j), _by(_i, i, j + 1), _by(_beta_density, i, j)),
            [(0.3, 0.5, 0.4), (2.5, 3.0, 0.4), (2.5, 0.5, 0.9), (60.0, 20.0, 0.7)],
            attrs={"order": (i, j)}, ulps=4e4, slope_ulps=4e5,
        )
        for i, j in ((1, 0), (0, 1), (1, 1), (0, 2))
    ],
    "beta_density": [
        rows(
            _beta_density,
            (
                _times(_beta_density, lambda a, b, x: mpmath.log(x) - mpmath.digamma(a)
                       + mpmath.digamma(a + b)),
                _times(_beta_density, lambda a, b, x: mpmath.log1p(-x) - mpmath.digamma(b)
                       + mpmath.digamma(a + b)),
                _times(_beta_density, lambda a, b, x: (a - 1) / x - (b - 1) / (1 - x)),
            ),
            [*_BETA, (1e5, 2e5, 0.333), (1e-5, 2.0, 1e-20), (1.5, 1.0, 1e-100)],
            ulps=400, slope_ulps=1e5,
        )
    ],
}  # fmt: skip


def _at_ends(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """`gamma_density` by its definition, one number at a time."""
    found: list[float] = []
    for shape, point in zip(a.tolist(), x.tolist(), strict=True):
        if not (0 < shape < inf and point >= 0):
            found.append(nan)
        elif point in (0, inf):
            found.append(0.0 if point or shape > 1 else 1.0 if shape == 1 else inf)
        else:
            with mpmath.workdps(400):
                found.append(float(_gamma_density(mpf(shape), mpf(point))))
    return np.array(found)


def _by_shape_at_ends(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The first derivative by the shape: 0 where the share is 0 or 1 whatever the shape."""
    return np.array([_slope_by_shape(*p) for p in zip(a.tolist(), x.tolist(), strict=True)])


def _slope_by_shape(shape: float, point: float) -> float:
    if not (0 < shape < inf and point >= 0):
        return nan
    if shape > 1e200 and shape == point:
        return -1 / (2 * np.pi * shape) ** 0.5
    if point in (0, inf) or shape > 1e200 or point > 1e200:
        return 0.0
    if shape < 1e-200:
        return float(-mpmath.e1(mpf(point)))
    return float(_by(_p, 1)(mpf(shape), mpf(point)))


NUMPY = {
    "gammainc": scipy.special.gammainc,
    "gammaincc": scipy.special.gammaincc,
    "gamma_density": _at_ends,
    "gammainc_by_shape": _by_shape_at_ends,
    "betainc": scipy.special.betainc,
    "beta_density": lambda a, b, x: a * nan,
    "betainc_by_shapes": lambda a, b, x: a * nan,
}
APPROXIMATE = ("gamma_density", "gammainc_by_shape")

ROWS = [
    ("gammainc at 0", sg.gammainc, (1.0, 0.0), (0.0, 1.0)),
    ("gammainc at 0, large shape", sg.gammainc, (20.0, 0.0), (0.0, 0.0)),
    ("gammainc at inf", sg.gammainc, (2.0, inf), (0.0, 0.0)),
    ("gammaincc at 0", sg.gammaincc, (1.0, 0.0), (0.0, -1.0)),
    ("betainc at 0", sg.betainc, (1.0, 3.0, 0.0), (0.0, 0.0, 3.0)),
    ("betainc at 1", sg.betainc, (2.0, 1.0, 1.0), (0.0, 0.0, 2.0)),
    ("betainc at 1, flat", sg.betainc, (2.0, 2.5, 1.0), (0.0, 0.0, 0.0)),
]
