"""Rows of the functions of a key, and of what the gamma distribution's derivative is made of.

A draw by rejection does not move continuously with its parameter in differences; the derivative of
those is compared with that of quantiles in `tests/ops/test_distributions.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np

from tests.registry.formulas import rows
from tests.registry.sampling import KEY, S, Sample, between, called, keyed, kink, normal, regular


def drawn(call: Callable[..., Any], *operands: Any, **facets: Any) -> Sample:
    """A sample that draws with `KEY`."""
    return keyed(called(call, KEY, *operands, **facets))


def jumping(call: Callable[..., Any], *operands: Any, **facets: Any) -> Sample:
    """The same by rejection."""
    return kink(drawn(call, *operands, **facets))


_DRAW = [
    lambda op, key: op(key, (5, 7)),
    lambda op, key: op(key, (), dtype="float32"),
    lambda op, key: op(key, (0, 5), dtype="float16"),
]
_SHAPES, _POSITIVE = between(0.4, 3.0, 5, 1), between(0.5, 2.0, 7)


def _moved(**names: str) -> list[Sample]:
    """Samples of a distribution that is moved and scaled."""
    by_scale = [
        drawn(lambda op, key, s: op(key, (5, 7), scale=s), _POSITIVE),
        drawn(lambda op, key, s: op(key, scale=s), _POSITIVE),
    ]
    by_loc = [drawn(lambda op, key, m, s: op(key, (5, 7), loc=m, scale=s), normal(5, 1), _POSITIVE)]
    return [*map(drawn, _DRAW), *by_scale, *(by_loc if names else [])]


def _of_shape() -> list[Sample]:
    """Samples of a distribution with a parameter of shape, which is drawn by rejection."""
    return [
        jumping(lambda op, key, a: op(key, a, (5, 7)), _SHAPES),
        jumping(lambda op, key, a: op(key, a), between(0.1, 20.0, 5)),
        jumping(lambda op, key: op(key, 0.5, (0, 5), dtype="float32")),
    ]


_COUNTS = np.array([[0.0, 0.3, 5.0], [12.0, 100.0, 1e6]])

SAMPLES: dict[str, list[Sample]] = {
    "open_uniform": [keyed(S(KEY, shape=(5, 7))), keyed(S(KEY, shape=()))],
    "standard_gamma": [
        kink(keyed(S(KEY, _SHAPES, shape=(5, 7), dtype="float64", is_log=False))),
        kink(keyed(S(KEY, _SHAPES, shape=(5, 7), dtype="float64", is_log=True))),
        kink(keyed(S(KEY, np.array([0.0, 1e-300]), shape=(2,), dtype="float32", is_log=False))),
    ],
    "standard_truncated": [
        keyed(S(KEY, normal(5, 1) - 2, _POSITIVE, shape=(5, 7), dtype="float64")),
        keyed(S(KEY, np.array([-np.inf, 3.0]), np.array(9.0), shape=(2,), dtype="float64")),
        keyed(S(KEY, np.array(30.0), np.array(30.5), shape=(0, 3), dtype="float32")),
    ],
    "poisson_counts": [
        keyed(S(KEY, _COUNTS, shape=(4, 2, 3), dtype="int64")),
        keyed(S(KEY, np.array(2.5), shape=(), dtype="float32")),
    ],
    "binomial_counts": [
        kink(keyed(S(KEY, np.rint(_COUNTS), np.array(0.3), shape=(4, 2, 3), dtype="float64"))),
        keyed(S(KEY, np.array(5.0), between(0, 1, 3), shape=(5, 3), dtype="int32")),
    ],
    "geometric_counts": [
        keyed(S(KEY, between(0, 1, 3), shape=(5, 3), dtype="int64")),
        kink(keyed(S(KEY, np.array([1.0, 1e-300]), shape=(2,), dtype="float64"))),
    ],
}  # fmt: skip

COMPOSITE_SAMPLES: dict[str, list[Sample]] = {
    "random.split": [drawn(lambda op, key: op(key, 3))],
    "uniform": [drawn(lambda op, key, low: op(key, low=low, high=9.0), normal(7))],
    "normal": [drawn(lambda op, key, mean: op(key, mean=mean), normal(7))],
    "bits": [
        drawn(lambda op, key: op(key, (5, 7))),
        drawn(lambda op, key: op(key, (5, 7), dtype="uint8")),
    ],
    "rademacher": [
        drawn(lambda op, key: op(key, (5, 7))),
        drawn(lambda op, key: op(key, (5, 7), dtype="float32")),
    ],
    "permutation": [
        drawn(lambda op, key, x: op(key, x), normal(5, 7)),
        drawn(lambda op, key, x: op(key, x, axis=-1), normal(5, 7)),
        drawn(lambda op, key, x: op(key, x, 1, independent=True), normal(5, 7)),
    ],
    "categorical": [
        drawn(lambda op, key, x: op(key, x), normal(5, 7)),
        drawn(lambda op, key, x: op(key, x, axis=0, shape=(6, 7)), normal(5, 7)),
    ],
    "choice": [
        drawn(lambda op, key: op(key, 5, (3, 4))),
        drawn(lambda op, key, x: op(key, x, (3, 4)), normal(5, 7)),
        drawn(lambda op, key, x: op(key, x, (3,), replace=False, axis=1), normal(5, 7)),
        drawn(lambda op, key, x, p: op(key, x, (4,), p=p), normal(5, 7), between(0, 1, 5)),
        drawn(
            lambda op, key, p: op(key, 5, (3,), replace=False, p=p),
            between(0, 1, 5),
            fixed={5: "how many there are"},
        ),
    ],
    "truncated_normal": [
        drawn(lambda op, key: op(key, -1.0, 2.0, (5, 7), dtype="float32")),
        drawn(lambda op, key, a: op(key, a, float("inf")), normal(7)),
    ],
    "exponential": _moved(),
    "rayleigh": _moved(),
    "maxwell": _moved(),
    "laplace": _moved(loc="loc"),
    "logistic": _moved(loc="loc"),
    "gumbel": _moved(loc="loc"),
    "cauchy": _moved(loc="loc"),
    "lognormal": [
        *map(drawn, _DRAW),
        drawn(lambda op, key, m, s: op(key, (5, 7), mean=m, sigma=s), normal(5, 1), _POSITIVE),
    ],
    "weibull": [drawn(lambda op, key, a, s: op(key, a, scale=s), _SHAPES, _POSITIVE)],
    "pareto": [drawn(lambda op, key, a, s: op(key, a, scale=s), _SHAPES + 1, _POSITIVE)],
    "random.gamma": [
        *_of_shape(),
        jumping(lambda op, key, a, s: op(key, a, scale=s), _SHAPES, _POSITIVE),
    ],
    "loggamma": _of_shape(),
    "chisquare": _of_shape(),
    "student_t": [
        *_of_shape(),
        jumping(lambda op, key, a, m: op(key, a, loc=m, scale=2.0), _SHAPES, normal(7)),
    ],
    "random.beta": [jumping(lambda op, key, a, b: op(key, a, b), _SHAPES, _POSITIVE)],
    "dirichlet": [
        jumping(lambda op, key, a: op(key, a), _SHAPES + np.zeros(7)),
        jumping(lambda op, key, a: op(key, a, (5, 4)), _POSITIVE),
    ],
    "poisson": [
        drawn(lambda op, key, rate: op(key, rate, (5, 7)), _SHAPES),
        drawn(lambda op, key: op(key, 30, (5,), dtype="float32")),
    ],
    "binomial": [
        drawn(lambda op, key, p: op(key, 50, p), between(0, 1, 5)),
        drawn(lambda op, key, n, p: op(key, n, p, (5, 7)), np.array([[3]]), between(0, 1, 7)),
    ],
    "geometric": [drawn(lambda op, key, p: op(key, p, (5, 7)), between(0.1, 1, 7))],
    "multivariate_normal": [
        drawn(lambda op, key, m, c: op(key, m, c @ c.mT, (5,)), normal(4, 1, 3)[0], regular(3)),
        drawn(lambda op, key, c: op(key, [0.0, 1.0, 2.0], c @ c.mT, method="eigh"), regular(3)),
    ],
    "orthogonal": [
        drawn(lambda op, key: op(key, 3)),
        drawn(lambda op, key: op(key, 4, (5,), dtype="float32")),
    ],
    "ball": [
        drawn(lambda op, key: op(key, 3)),
        drawn(lambda op, key: op(key, 4, (5,), dtype="float32")),
    ],
}

CUT = [
    ("poisson_counts", 1),
    ("binomial_counts", 1),
    ("binomial_counts", 2),
    ("geometric_counts", 1),
]
"""Counts step where their parameters move continuously; also where they are held as floats."""

# --- the gamma distribution's derivative by its shape ---------------------------------------------

DOMAINS = {"gamma_ratio": ((0.6, 4.0), (0.3, 3.0))}
ATTRIBUTES = {
    "gamma_ratio": [
        {"order": 1, "is_log": False},
        {"order": 2, "is_log": False},
        {"order": 1, "is_log": True},
        {"order": 3, "is_log": True},
    ],
}


def _ratio(order: int, is_log: bool) -> Callable[..., Any]:
    """By definition, from the incomplete gamma function."""

    def value(a: Any, x: Any) -> Any:
        x = mpmath.exp(x) if is_log else x
        moved = mpmath.diff(lambda b: mpmath.gammainc(b, 0, x, regularized=True), a, order)
        return moved / mpmath.exp(a * mpmath.log(x) - x - mpmath.loggamma(a))

    return value


def _slopes(f: Callable[..., Any], is_log: bool) -> tuple[Callable[..., Any], ...]:
    def by_point(a: Any, x: Any) -> Any:
        if is_log:
            return mpmath.diff(lambda z: f(a, z), x)
        return mpmath.diff(lambda s: f(a, x * mpmath.exp(s)), 0) / x

    return lambda a, x: mpmath.diff(lambda b: f(b, x), a), by_point


_POINTS = [
    (1e-3, 1e-300), (1e-3, 0.7), (1e-3, 2.0), (0.3, 1e-9), (0.3, 0.9), (0.3, 5.0), (1.0, 0.25),
    (1.0, 1.0), (1.0, 30.0), (2.5, 1e-3), (2.5, 1.1), (2.5, 2.2), (2.5, 17.0), (40.0, 0.5),
    (40.0, 25.0), (40.0, 41.0), (40.0, 90.0), (1000.0, 900.0), (1000.0, 1010.0), (1000.0, 1100.0),
]  # fmt: skip

FORMULAS = {
    "gamma_ratio": [
        rows(
            _ratio(order, is_log),
            _slopes(_ratio(order, is_log), is_log),
            [(a, float(np.log(x)) if is_log else x) for a, x in _POINTS],
            attrs={"order": order, "is_log": is_log},
            ulps=4000,
            slope_ulps=1e5,
        )
        for order, is_log in ((1, False), (1, True), (2, True))
    ],
}

inf, nan = float("inf"), float("nan")


def _ratio_at(a: float, x: float) -> float:
    """The first ratio at the ends of its domain; by its limiting forms where one number is vast."""
    if not (0 < a < inf and x >= 0):
        return nan
    if x in (0, inf):
        return -inf if x == 0 else 0.0
    if a < 1e-200:
        return -inf  # beyond all floats, as 1 / a is
    if a > 1e200 and a == x:
        return -1 / a
    with mpmath.workdps(30):
        if x > 1e200:
            return float((mpmath.digamma(a) - mpmath.log(x)) / x)
        if a > 1e200 or x < 1e-200:
            return float((mpmath.log(x) - mpmath.digamma(mpmath.mpf(a) + 1)) / a)
        return float(_ratio(1, False)(mpmath.mpf(a), mpmath.mpf(x)))


NUMPY = {"gamma_ratio": np.vectorize(_ratio_at, otypes=[float])}
APPROXIMATE = ("gamma_ratio",)
