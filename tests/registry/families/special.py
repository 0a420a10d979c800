"""Special functions, in 50 digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import scipy.special
from mpmath import mpf

import symgrad as sg
from tests.registry.formulas import MIDDLE, SMALL, near, rows, signed
from tests.registry.sampling import S

inf, nan = float("inf"), float("nan")
_MIDDLE_POSITIVE = [x for x in MIDDLE if x > 0]
_POSITIVE = [1e-10, 1e-3, *_MIDDLE_POSITIVE, 10.0, 30.5, 170.0, 1e5, 1e10]
_NEGATIVE = [-0.3, -0.7, -1.3, -2.5, -3.7, -10.2]
_FAR = signed(5.5, 8.0, 20.0, 37.0)

_WIDE = [*MIDDLE, *SMALL, 1.25, 5.0, 30.0, 1e5, 1e10, -5.0, -20.3, 1e100]
_SLOPE_AT_0 = 2 / np.sqrt(np.pi)

DOMAINS = {
    "erfinv": ((-0.9, 0.9),),
    "ndtri": ((0.1, 0.9),),
    "log_ndtr": ((-3.0, 3.0),),
    "ndtr": ((-2.0, 2.0),),
    "erfcx": ((-1.5, 3.0),),
    **dict.fromkeys(("erfcx_derivative", "erfcx_ratio", "inverse_erfcx"), ((-1.5, 3.0),)),
    "exp_over": ((0.3, 2.0),),
    "beta": ((0.6, 4.0), (0.6, 4.0)),
    "bell": ((-2.0, 2.0),),
    "xlog1py": ((0.3, 2.0), (0.3, 2.0)),
    "entr": ((0.2, 2.0),),
    "lgamma": ((0.6, 4.0),),
    "gamma": ((0.6, 4.0),),
    "digamma": ((0.6, 4.0),),
    **dict.fromkeys(("digamma_difference", "polygamma_difference"), ((0.6, 4.0), (0.6, 4.0))),
    "betaln": ((0.6, 4.0), (0.6, 4.0)),
    "expi": ((0.3, 2.0),),
    "exp1": ((0.3, 2.0),),
}

ATTRIBUTES = {
    "erfcx_derivative": [{"order": 1}, {"order": 3}],
    "erfcx_ratio": [{"order": 1}, {"order": 2}],
    "bell": [{"rate": 0.5}, {"rate": 1.0}],
    "polygamma_difference": [{"order": 1}, {"order": 2}],
}


def _ncdf(x: Any) -> Any:
    return mpmath.erfc(-x / mpmath.sqrt(2)) / 2


def _npdf(x: Any) -> Any:
    return mpmath.exp(-x * x / 2) / mpmath.sqrt(2 * mpmath.pi)


def _erfcx(x: Any) -> Any:
    return mpmath.exp(x * x) * mpmath.erfc(x)


def _quantile(p: Any) -> Any:
    if p < 1e-50:  # where erfinv would need more digits: the root of the share's logarithm
        start = -mpmath.sqrt(-2 * mpmath.log(p))
        return mpmath.findroot(lambda x: mpmath.log(_ncdf(x)) - mpmath.log(p), start)
    with mpmath.workdps(120):
        return mpmath.sqrt(2) * mpmath.erfinv(2 * p - 1)


def _erfcx_derivative(order: int) -> Callable[[Any], Any]:
    """By the recurrence ``2*x*d[n] + 2*n*d[n-1]``, with digits to spare for what cancels."""

    def value(x: Any) -> Any:
        with mpmath.workdps(300):
            before, now = mpf(0), mpmath.erfc(x) * mpmath.exp(x * x)
            for n in range(order):
                after = 2 * x * now + 2 * n * before
                before, now = now, after - (2 / mpmath.sqrt(mpmath.pi) if n == 0 else 0)
            return now

    return value


def _ratio(order: int) -> Callable[[Any], Any]:
    return lambda x: _erfcx_derivative(order)(x) / _erfcx(x)


def _log_gamma(x: Any) -> Any:
    return mpmath.log(abs(mpmath.gamma(x))) if abs(x) < 1e4 else mpmath.loggamma(x)


def _log_beta(a: Any, b: Any) -> Any:
    with mpmath.workdps(400):
        return mpmath.loggamma(a) + mpmath.loggamma(b) - mpmath.loggamma(a + b)


def _falls(a: Any, b: Any) -> Any:
    with mpmath.workdps(400):
        return mpmath.digamma(a) - mpmath.digamma(a + b)


def _psi_falls(n: int) -> Callable[..., Any]:
    def value(a: Any, b: Any) -> Any:
        with mpmath.workdps(90):
            return mpmath.psi(n, a) - mpmath.psi(n, a + b)

    return value


def _psi(n: int) -> Any:
    return lambda x: mpmath.psi(n, x)


FORMULAS = {
    "erfcx": [rows(_erfcx, _erfcx_derivative(1), _WIDE)],
    "erfcx_derivative": [
        rows(_erfcx_derivative(n), _erfcx_derivative(n + 1), _WIDE[:-1], attrs={"order": n},
             ulps=8 * n, slope_ulps=12 * (n + 1))
        for n in (1, 2, 3)
    ],
    "erfcx_ratio": [
        rows(
            _ratio(n),
            lambda x, n=n: _ratio(n + 1)(x) - _ratio(n)(x) * _ratio(1)(x),
            [*_WIDE[:-1], -100.0],
            attrs={"order": n},
            ulps=16,
            slope_ulps=500,
        )
        for n in (1, 2)
    ],
    "inverse_erfcx": [
        rows(lambda x: 1 / _erfcx(x), lambda x: -_erfcx_derivative(1)(x) / _erfcx(x) ** 2, _WIDE)
    ],
    "bell": [
        rows(
            lambda x, r=r: mpmath.exp(-r * x * x),
            lambda x, r=r: -2 * r * x * mpmath.exp(-r * x * x),
            [*MIDDLE, *SMALL, *_FAR, 26.3, -35.77],
            attrs={"rate": r},
        )
        for r in (0.5, 1.0)
    ],
    "ndtr": [rows(_ncdf, _npdf, [*MIDDLE, *SMALL, *_FAR, -37.77])],
    "log_ndtr": [
        rows(
            lambda x: mpmath.log(_ncdf(x)) if x < 5 else mpmath.log1p(-_ncdf(-x)),
            lambda x: _npdf(x) / _ncdf(x),
            [*MIDDLE, *SMALL, *_FAR, -37.77, 25.3, -100.0, -1e5, -1e10],
        )
    ],
    "xlog1py": [
        rows(
            lambda a, b: a * mpmath.log1p(b),
            (lambda a, b: mpmath.log1p(b), lambda a, b: a / (1 + b)),
            [(a, b) for a in (-2.0, 1e-200, 0.7, 1e100) for b in (-0.9, 1e-9, 0.3, 5.0, 1e100)],
        )
    ],
    "entr": [
        rows(
            lambda x: -x * mpmath.log(x),
            lambda x: -mpmath.log(x) - 1,
            [1e-300, 1e-20, 0.013, 0.3, 0.7, 1.3, 3.7, 1e100],
            slope_ulps=16,
        )
    ],
    "erfinv": [
        rows(
            mpmath.erfinv,
            lambda x: mpmath.sqrt(mpmath.pi) / 2 * mpmath.exp(mpmath.erfinv(x) ** 2),
            [*signed(1e-20, 1e-9, 0.013, 0.3, 0.5, 0.7, 0.99, 0.9999)],
            slope_ulps=100,
        )
    ],
    "ndtri": [
        rows(
            _quantile,
            lambda p: mpmath.sqrt(2 * mpmath.pi) * mpmath.exp(_quantile(p) ** 2 / 2),
            [1e-300, 1e-100, 1e-12, 1e-5, 0.013, 0.3, 0.7, 0.99],
            slope_ulps=16,
        )
    ],
    "lgamma": [
        rows(
            _log_gamma,
            mpmath.digamma,
            [*_POSITIVE, *near(1.0), *near(2.0), 1.29, 1.31, 1.69, 1e100, *_NEGATIVE],
            ulps=30,
            slope_ulps=300,
        )
    ],
    "gamma": [
        rows(
            mpmath.gamma,
            lambda x: mpmath.gamma(x) * mpmath.digamma(x),
            [x for x in (*_POSITIVE, *_NEGATIVE) if x < 171],
            ulps=16,
            slope_ulps=100,
        )
    ],
    "digamma": [
        rows(mpmath.digamma, _psi(1), [*_POSITIVE, *_NEGATIVE], ulps=400, slope_ulps=100)
    ],
    "digamma_difference": [
        rows(
            _falls,
            (
                lambda a, b: _psi_falls(1)(a, b),
                lambda a, b: -mpmath.psi(1, a + b),
            ),
            [(a, b) for a in (1e-5, 0.3, 2.0, 40.0, 1e5) for b in (1e-9, 0.3, 2.0, 50.0, 1e4)],
            ulps=16,
            slope_ulps=16,
        ),
        rows(_falls, (), [(a, b) for a in (2.0, 40.0, 1e10) for b in (1e-10, 1e-3)], ulps=16),
    ],
    "polygamma_difference": [
        rows(
            _psi_falls(n),
            (_psi_falls(n + 1), lambda a, b, n=n: -mpmath.psi(n + 1, a + b)),
            [(a, b) for a in (1e-5, 0.3, 2.0, 40.0, 1e5) for b in (1e-9, 0.3, 2.0, 50.0, 1e4)],
            attrs={"order": n},
            slope_ulps=16,
        )
        for n in (1, 2)
    ],
    "betaln": [
        rows(
            _log_beta,
            (_falls, lambda a, b: _falls(b, a)),
            [(a, b) for a in (1e-5, 0.3, 2.0, 40.0, 1e10) for b in (0.3, 2.0, 50.0, 1e4)],
            ulps=200,  # at (40, 0.3), where it nearly vanishes
            slope_ulps=16,
        )
    ],
    "beta": [
        rows(
            lambda a, b: mpmath.exp(_log_beta(a, b)),
            (
                lambda a, b: mpmath.exp(_log_beta(a, b)) * _falls(a, b),
                lambda a, b: mpmath.exp(_log_beta(a, b)) * _falls(b, a),
            ),
            [(a, b) for a in (1e-5, 0.3, 2.0, 40.0) for b in (0.3, 2.0, 9.0, 50.0, 700.0, 1e5)]
            + [(0.3, 1e300), (9.5, 1e30), (1.0, 1e300)],
            ulps=500,
            slope_ulps=500,
        )
    ],
    "exp_over": [
        rows(
            lambda x: mpmath.exp(x) / x,
            lambda x: mpmath.exp(x) * (x - 1) / x**2,
            [x for x in (*MIDDLE, *SMALL, 20.0, -300.0, 700.0) if x != 1 and abs(x) > 1e-100],
            slope_ulps=16,
        )
    ],
    "expi": [rows(mpmath.ei, lambda x: mpmath.exp(x) / x,
                  [x for x in (*MIDDLE, 20.0, -30.0, 45.0) if x != 0.3], ulps=100)],
    "exp1": [rows(mpmath.e1, lambda x: -mpmath.exp(-x) / x,
                  [1e-10, *_MIDDLE_POSITIVE, 20.0, 300.0], ulps=32)],
}  # fmt: skip

COMPOSITE_SAMPLES = {
    "multigammaln": [S(np.array([2.7, 3.0]), d=3), S(np.array([0.7, 3.0]), d=1)],
}

REFERENCES = {
    "multigammaln": lambda x, d: np.array(
        [
            float(
                mpf(d * (d - 1)) / 4 * mpmath.log(mpmath.pi)
                + sum(mpmath.loggamma(mpf(v) - mpf(k) / 2) for k in range(d))
            )
            for v in x
        ]
    ),
}


def _anywhere(exact: Any, elsewhere: Any) -> Any:
    """A function of positive numbers in many digits; of others what scipy says."""

    def value(a: float, b: float) -> float:
        a, b = float(a), float(b)
        if a > 0 and b > 0 and max(a, b) < inf:
            with mpmath.workdps(700):
                return float(exact(mpf(a), mpf(b)))
        return float(elsewhere(a, b))

    return np.vectorize(value, otypes=[float])


def _trigamma(x: float) -> float:
    return 0.0 if x == inf else nan if x == -inf else float(scipy.special.polygamma(1, x))


NUMPY = {
    "xlog1py": lambda a, b: np.where((a == 0) & ~np.isnan(b), 0.0, a * np.log1p(b)),
    "betaln": _anywhere(
        lambda a, b: mpmath.loggamma(a) + mpmath.loggamma(b) - mpmath.loggamma(a + b),
        lambda a, b: nan if a != a or b != b else scipy.special.betaln(a, b),
    ),
    "beta": _anywhere(
        lambda a, b: mpmath.exp(mpmath.loggamma(a) + mpmath.loggamma(b) - mpmath.loggamma(a + b)),
        scipy.special.beta,
    ),
    "polygamma_difference": _anywhere(
        lambda a, b: mpmath.psi(1, a) - mpmath.psi(1, a + b),
        lambda a, b: _trigamma(a) - _trigamma(a + b),
    ),
    "digamma_difference": _anywhere(
        lambda a, b: mpmath.digamma(a) - mpmath.digamma(a + b),
        lambda a, b: scipy.special.digamma(a) - scipy.special.digamma(a + b),
    ),
}

APPROXIMATE = ("betaln", "beta", "digamma_difference", "polygamma_difference")

LIMITS = {
    "erfcx": ({}, [1, 1, 0, inf, nan]),
    "erfcx_derivative": ({"order": 1}, [-_SLOPE_AT_0, -_SLOPE_AT_0, 0, -inf, nan]),
    "bell": ({"rate": 0.5}, [1, 1, 0, 0, nan]),
    "ndtr": ({}, [0.5, 0.5, 1, 0, nan]),
    "log_ndtr": ({}, [-np.log(2), -np.log(2), 0, -inf, nan]),
    "entr": ({}, [0, 0, -inf, -inf, nan]),
    "erfinv": ({}, [0, 0, nan, nan, nan]),
    "ndtri": ({}, [-inf, -inf, nan, nan, nan]),
    "lgamma": ({}, [inf, inf, inf, inf, nan]),
    "gamma": ({}, [inf, -inf, inf, nan, nan]),
    "digamma": ({}, [-inf, inf, inf, nan, nan]),
    "erfcx_ratio": ({"order": 1}, [-_SLOPE_AT_0, -_SLOPE_AT_0, 0, -inf, nan]),
    "inverse_erfcx": ({}, [1, 1, inf, 0, nan]),
    "exp_over": ({}, [inf, -inf, inf, 0, nan]),
    "expi": ({}, [-inf, -inf, inf, 0, nan]),
    "exp1": ({}, [inf, inf, 0, nan, nan]),
}

ROWS = [
    ("erfinv at 0", sg.erfinv, (0.0,), (np.sqrt(np.pi) / 2,)),
    ("erfinv at 1", sg.erfinv, (1.0,), (inf,)),
    ("ndtri at 0", sg.ndtri, (0.0,), (inf,)),
    ("entr at 0", sg.entr, (0.0,), (inf,)),
    ("xlog1py at (0, -1)", sg.xlog1py, (0.0, -1.0), (0.0, 0.0)),
    ("log_ndtr at -inf", sg.log_ndtr, (-inf,), (inf,)),
    ("log_ndtr at inf", sg.log_ndtr, (inf,), (0.0,)),
    ("ndtr at inf", sg.ndtr, (inf,), (0.0,)),
    ("lgamma at inf", sg.lgamma, (inf,), (inf,)),
]
