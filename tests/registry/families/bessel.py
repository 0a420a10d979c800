"""Bessel functions and Dawson's integral, in 50 digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
from mpmath import mpf

import symgrad as sg
from tests.registry.formulas import LARGE, MIDDLE, SMALL, rows, signed

inf, nan = float("inf"), float("nan")
_POSITIVE = [x for x in (*MIDDLE, *SMALL, 8.0, 24.9, 25.1, 100.3, 1e5 + 0.3, 1e10) if x > 0]
_REALS = [*MIDDLE, *SMALL, *signed(8.0, 20.0, 24.9, 25.1, 100.3), 1e5 + 0.3, -1e10]
_GROWING = [*MIDDLE, *SMALL, 20.0, -24.9, 25.1, 350.0, 700.0]
_FLAT = [*MIDDLE, *LARGE, 1e5, 1e10]

DOMAINS = {
    **dict.fromkeys(("i0", "i1", "bessel_i", "j0", "j1", "bessel_j", "dawsn"), ((-2.0, 2.0),)),
    **dict.fromkeys(("i0e", "i1e", "i0e_moment"), ((0.2, 2.0),)),
    **dict.fromkeys(("y0", "y1"), ((0.5, 4.0),)),
    "dawsn_derivative": ((-2.0, 2.0),),
}
OTHER_SIDE = ("i0e", "i1e", "i0e_moment")
ATTRIBUTES = {
    "bessel_j": [{"order": 2}, {"order": 5}],
    "bessel_i": [{"order": 2}, {"order": 5}],
    "i0e_moment": [{"order": 1}, {"order": 4}],
    "dawsn_derivative": [{"order": 1}, {"order": 3}],
}


def _of(f: Callable[..., Any], order: int) -> Callable[[Any], Any]:
    return lambda x: f(order, x)


def _slope(f: Callable[..., Any], order: int, sign: int) -> Callable[[Any], Any]:
    """The derivative from the two neighbouring orders (NIST DLMF 10.6.1, 10.29.1)."""
    return lambda x: (f(order - 1, x) + sign * f(order + 1, x)) / 2


def _mean(order: int) -> Callable[[Any], Any]:
    """``exp(-|x|)`` times the mean of ``(1-cos(t))**order * exp(|x|*cos(t))``, by 1F1."""

    def value(x: Any) -> Any:
        half = mpf(1) / 2
        factor = 2**order * mpmath.gamma(order + half)
        factor /= mpmath.sqrt(mpmath.pi) * mpmath.factorial(order)
        with mpmath.workdps(80):
            return factor * mpmath.hyp1f1(order + half, order + 1, -2 * abs(x))

    return value


def _i1e(x: Any) -> Any:
    return mpf(0) if mpmath.isinf(x) else mpmath.exp(-abs(x)) * mpmath.besseli(1, x)


def _dawson(order: int) -> Callable[[Any], Any]:
    """By the recurrence, with digits to spare for what cancels."""

    def value(x: Any) -> Any:
        with mpmath.workdps(300):
            if abs(x) > 20:  # the rest of the asymptotic series is far below a double's last bit
                terms = [
                    mpmath.fac2(2 * k - 1) / mpf(2) ** (k + 1) * mpmath.rf(2 * k + 1, order)
                    / x ** (2 * k + 1 + order)
                    for k in range(30)
                ]  # fmt: skip
                return (-1) ** order * sum(terms)
            now = mpmath.sqrt(mpmath.pi) / 2 * mpmath.exp(-x * x) * mpmath.erfi(x)
            before = mpf(1) / 2
            for n in range(order):
                before, now = now, -2 * x * now + (1 if n == 0 else -2 * n * before)
            return now

    return value


def _wave(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda order, x: mpf(0) if mpmath.isinf(x) else f(order, x)


_J, _Y, _I = _wave(mpmath.besselj), _wave(mpmath.bessely), mpmath.besseli

FORMULAS = {
    "j0": [rows(_of(_J, 0), lambda x: -_J(1, x), _REALS, ulps=64, slope_ulps=64)],
    "j1": [rows(_of(_J, 1), _slope(_J, 1, -1), _REALS, ulps=64, slope_ulps=128)],
    "bessel_j": [
        rows(_of(_J, n), _slope(_J, n, -1), _REALS, attrs={"order": n}, ulps=64, slope_ulps=64)
        for n in (2, 3, 6)
    ],
    "y0": [rows(_of(_Y, 0), lambda x: -_Y(1, x), _POSITIVE, ulps=64, slope_ulps=64)],
    "y1": [rows(_of(_Y, 1), _slope(_Y, 1, -1), _POSITIVE, ulps=64, slope_ulps=256)],
    "i0": [rows(_of(_I, 0), lambda x: _I(1, x), _GROWING, ulps=8)],
    "i1": [rows(_of(_I, 1), _slope(_I, 1, 1), _GROWING, ulps=8)],
    "bessel_i": [
        rows(_of(_I, n), _slope(_I, n, 1), _GROWING, attrs={"order": n}, ulps=8)
        for n in (2, 3, 6)
    ],
    "i0e": [rows(_mean(0), lambda x: -mpmath.sign(x) * _mean(1)(x), [*_FLAT, *SMALL])],
    "i1e": [rows(_i1e, lambda x: _mean(2)(x) - _mean(1)(x), [*_FLAT, *SMALL], slope_ulps=32)],
    "i0e_moment": [
        rows(_mean(n), lambda x, n=n: -mpmath.sign(x) * _mean(n + 1)(x), _FLAT, attrs={"order": n})
        for n in (1, 2, 4)
    ],
    "dawsn": [rows(_dawson(0), _dawson(1), [*_FLAT, *SMALL, 5.0, 6.9, 7.1], slope_ulps=200)],
    "dawsn_derivative": [
        rows(
            _dawson(n), _dawson(n + 1), [*_FLAT, 2.0, 7.1],
            attrs={"order": n}, ulps=200, slope_ulps=2000,
        )
        for n in (1, 2)
    ],
}  # fmt: skip

LIMITS = {
    "j0": ({}, [1, 1, 0, 0, nan]),
    "j1": ({}, [0, 0, 0, 0, nan]),
    "bessel_j": ({"order": 2}, [0, 0, 0, 0, nan]),
    "y0": ({}, [-inf, -inf, 0, nan, nan]),
    "y1": ({}, [-inf, -inf, 0, nan, nan]),
    "i0": ({}, [1, 1, inf, inf, nan]),
    "i1": ({}, [0, 0, inf, -inf, nan]),
    "bessel_i": ({"order": 3}, [0, 0, inf, -inf, nan]),
    "i0e": ({}, [1, 1, 0, 0, nan]),
    "i1e": ({}, [0, 0, 0, 0, nan]),
    "i0e_moment": ({"order": 2}, [1.5, 1.5, 0, 0, nan]),
    "dawsn": ({}, [0, 0, 0, 0, nan]),
    "dawsn_derivative": ({"order": 1}, [1, 1, 0, 0, nan]),
}

ROWS = [
    ("i1 at 0", sg.i1, (0.0,), (0.5,)),
    ("j1 at 0", sg.j1, (0.0,), (0.5,)),
    ("y0 at 0", sg.y0, (0.0,), (inf,)),
    ("i0e at 0", sg.i0e, (0.0,), (0.0,)),
    ("i1e at 0", sg.i1e, (0.0,), (0.5,)),
    ("i0e at inf", sg.i0e, (inf,), (0.0,)),
    ("i1 far out", sg.i1, (1000.0,), (inf,)),
    ("dawsn at -inf", sg.dawsn, (-inf,), (0.0,)),
]

SECOND = [
    ("j0 at 0", sg.j0, 0.0, -0.5),
    ("j1 at 0", sg.j1, 0.0, 0.0),
    ("i0 at 0", sg.i0, 0.0, 0.5),
    ("dawsn at 0", sg.dawsn, 0.0, 0.0),
]
