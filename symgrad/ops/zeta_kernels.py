"""The Hurwitz zeta function and its derivatives by the exponent, on numpy alone.

Euler and Maclaurin's formula (NIST DLMF 25.11.5 ff.): some terms of the series, the integral over
the rest, and corrections by derivatives at its start. Each part is kept as a Taylor polynomial in
the exponent, so that one formula serves all orders of derivative.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

Array = Any
Jet = list[Array]
"""Taylor coefficients in the exponent, from the constant one on."""

BERNOULLI = (
    1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798,
    -174611 / 330, 854513 / 138, -236364091 / 2730,
)  # fmt: skip
TERMS, FAR = 12, 1000.0


def times(one: Sequence[Array], two: Sequence[Array]) -> Jet:
    """The product of two Taylor polynomials, cut to the length of the first."""
    return [
        sum((one[k] * two[n - k] for k in range(n + 1) if n - k < len(two)), np.zeros(()))
        for n in range(len(one))
    ]


def power(base: Array, s: Array, order: int) -> Jet:
    """``base**-s`` around ``s``."""
    value, fall = base**-s, -np.log(base)
    return [value * fall**n / math.factorial(n) for n in range(order + 1)]


def hurwitz_values(s: Array, q: Array, order: int) -> Array:
    """The derivative by ``s`` of the sum of ``(q + k)**-s`` over k, for s > 1 and q > 0."""
    total: Jet = [np.zeros(np.broadcast_shapes(s.shape, q.shape)) for _ in range(order + 1)]
    for k in reversed(range(TERMS)):
        total = [t + p for t, p in zip(total, power(q + k, s, order), strict=True)]
    # Beyond, either the rest does not matter or all of it underflows.
    rest = rest_of_series(np.minimum(s, FAR), q + TERMS, order)
    return math.factorial(order) * np.where(s < FAR, total[order] + rest, total[order])


def rest_of_series(s: Array, start: Array, order: int) -> Array:
    """A Taylor coefficient of the sum of ``(start + k)**-s`` over k, for start from `TERMS` on."""
    above = power(start, s - 1, order)
    first = [part / start for part in above]
    inverse = [(-1) ** n / (s - 1) ** (n + 1) for n in range(order + 1)]
    rest = [a + 0.5 * f for a, f in zip(times(inverse, above), first, strict=True)]
    # The k-th correction: B(2k)/(2k)! * s*(s+1)*...*(s+2k-2) * start**(-s-2k+1).
    rising = [part / start for part in times(first, [s, np.ones(())])]
    for k, number in enumerate(BERNOULLI, 1):
        rest = [r + number / math.factorial(2 * k) * p for r, p in zip(rest, rising, strict=True)]
        for factor in (s + 2 * k - 1, s + 2 * k):
            rising = [part / start for part in times(rising, [factor, np.ones(())])]
    return rest[order]


def zeta_values(s: Array, q: Array, order: int) -> Array:
    """`hurwitz_values`, and what is right at the ends of the domain: NaN outside."""
    inside = (s > 1) & (q > 0) & (q < np.inf)
    found = hurwitz_values(np.where(inside, s, 2), np.where(inside, q, 1), order)
    edge = np.where((s > 1) & (q == np.inf), 0, np.nan)
    edge = np.where((s > 1) & (q <= 0) & (q == np.floor(q)), np.inf, edge)
    edge = np.where((s == 1) & (q > 0), (-1.0) ** order * np.inf, edge)
    return np.where(inside, found, edge)


def hurwitz_falls(s: int, a: Array, b: Array) -> Array:
    """The sum of ``(a + k)**-s - (a + b + k)**-s`` over k, for positive numbers: term by term, so
    that a small ``b`` costs no digits."""

    def fall(base: Array, exponent: int) -> Array:
        return -(base ** -float(exponent)) * np.expm1(-exponent * np.log1p(b / base))

    start = a + TERMS
    total = fall(start, s - 1) / (s - 1) + 0.5 * fall(start, s)
    for k, number in enumerate(BERNOULLI, 1):
        rising = math.prod(range(s, s + 2 * k - 1)) / math.factorial(2 * k)
        total = total + number * rising * fall(start, s + 2 * k - 1)
    for k in reversed(range(TERMS)):
        total = total + fall(a + k, s)
    return total
