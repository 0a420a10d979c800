"""How the gamma distribution changes with its shape, on numpy alone.

Let ``F(a, w)`` be the share of the gamma distribution of shape ``a`` below ``exp(w)``, and ``f``
its slope in ``w``, the density of the logarithm. The ratio ``r[n]`` of the n-th derivative of ``F``
by ``a`` to ``f`` says how quantiles move: a quantile's logarithm has the slope ``-r[1]``.

Up to ``exp(w) = 1`` it is taken from the power series of ``F`` (NIST DLMF 8.7.1). Beyond, ``f`` is
differentiated under the integral that ``F`` is, which is then taken from ``w`` to the side where
the density falls, by Gauss and Legendre's rule: with the integrand relative to its value at ``w``,
neither over- nor underflow, and no cancellation between the two sides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.ops.zeta_kernels import BERNOULLI

Array = Any

# --- derivatives of the logarithm of the gamma function -------------------------------------------

SHIFT, ORDERS = 20, 8
"""From where on the asymptotic series are used, and so many of their terms."""


def polygamma_of_positive(a: Array, order: int) -> Array:
    """The derivative of digamma of some order, for positive numbers.

    The recurrence (DLMF 5.15.5) up to `SHIFT`, for high orders beyond, then the asymptotic series
    (5.15.8, 5.11.2).
    """
    far = max(SHIFT, 12 + 2 * order)
    near = a < far
    below = a[near]
    steps = np.zeros_like(below)
    for k in reversed(range(far)):
        steps += (below + k) ** (-order - 1.0)
    z = np.where(near, a + far, a)
    inverse = 1 / z
    tail = np.zeros_like(z)
    for k in range(ORDERS, 0, -1):
        weight = math.factorial(2 * k + order - 1) / math.factorial(2 * k)
        tail = (tail + BERNOULLI[k - 1] * weight) * inverse**2
    if order == 0:
        result = np.log(z) - 0.5 * inverse - tail
        result[near] -= steps
        return result
    first = math.factorial(order - 1)
    result = (tail + first * order * 0.5 * inverse + first) * inverse**order
    result[near] += math.factorial(order) * steps
    return result if order % 2 else -result


def log_above_digamma(a: Array) -> Array:
    """``log(a) - digamma(a)``, without cancellation for large ``a``: NIST DLMF 5.11.2."""
    far = np.maximum(a, SHIFT)
    tail = np.zeros_like(far)
    for k in range(ORDERS, 0, -1):
        tail = (tail + BERNOULLI[k - 1] / (2 * k)) / far**2
    return np.where(a < SHIFT, np.log(a) - polygamma_of_positive(a, 0), 0.5 / far + tail)


def log_ratio(w: Array, x: Array, a: Array) -> Array:
    """``log(x / a)`` for ``x = exp(w)``."""
    change = (x - a) / a
    is_near = np.abs(change) < 0.5
    return np.where(is_near, np.log1p(np.where(is_near, change, 0)), w - np.log(a))


# --- the ratio ------------------------------------------------------------------------------------


def from_cumulants(cumulants: Sequence[Any], order: int) -> Any:
    """The derivative of ``exp(g)`` divided by ``exp(g)``, from the derivatives of ``g``.

    The complete Bell polynomial, by its recurrence.
    """
    moments: list[Any] = [1.0]
    for m in range(order):
        terms = [math.comb(m, k) * cumulants[k] * moments[m - k] for k in range(m + 1)]
        moments.append(sum(terms[1:], terms[0]))
    return moments[order]


TERMS = 20


def ratio_by_series(a: Array, w: Array, x: Array, order: int) -> Array:
    """The ratio where ``w <= 0``; x is ``exp(w)``."""
    b = a + 1
    cumulants = [w - polygamma_of_positive(b, 0)]
    cumulants += [-polygamma_of_positive(b, k) for k in range(1, order)]
    # Taylor coefficients in a of x**k / (b * (b+1) * ...), and of their sum over k.
    term = [np.ones_like(a)] + [np.zeros_like(a) for _ in range(order)]
    total = [part.copy() for part in term]
    for k in range(TERMS):
        for j in range(order + 1):
            carried = term[j - 1] if j else 0.0
            term[j] = (x * term[j] - carried) / (b + k)
            total[j] += term[j]
    result = np.zeros_like(a)
    for j in range(order + 1):
        choices = math.comb(order, j) * math.factorial(j)
        result += choices * total[j] * from_cumulants(cumulants, order - j)
    return result / a


NODES, WEIGHTS = (tuple(part.tolist()) for part in np.polynomial.legendre.leggauss(32))
DEPTH = 40.0
"""Where the integrand is below ``exp(-DEPTH)``, it is left out."""


VAST = 1e4
"""From here on, the rounding of ``exp(m) - 1 - m`` would show in a multiple of it."""


def exp_excess(m: Array, x: Array) -> Array:
    """``exp(m) - 1 - m``; by its series where m is small and its factor ``x`` is vast."""
    excess = np.expm1(m) - m
    if not np.any(x > VAST):
        return excess
    series = np.zeros_like(m)
    small = np.where(np.abs(m) < 0.5, m, 0)
    for k in range(16, 2, -1):
        series = (series + 1) * (small / k)
    return np.where(np.abs(m) < 0.5, (series + 1) * (0.5 * small * small), excess)


def reach(gap: Array, x: Array, side: Array) -> Array:
    """How far from ``w`` the density has fallen to ``exp(-DEPTH)``, by Newton's method."""
    far = 2 * DEPTH / (gap + np.hypot(gap, np.sqrt(2 * DEPTH * x)))
    for _ in range(6):
        depth = gap * far + x * exp_excess(side * far, x)
        slope = gap + x * side * np.expm1(side * far)
        far = np.maximum(far - (depth - DEPTH) / slope, 0.3 * far)
    return far


def ratio_by_quadrature(a: Array, w: Array, x: Array, order: int) -> Array:
    """The ratio where ``w >= 0``; x is ``exp(w)``."""
    side = np.where(x < a, -1.0, 1.0)
    gap = np.abs(x - a)
    far = reach(gap, x, side)
    middle = log_ratio(w, x, a) + log_above_digamma(a)
    higher = [-polygamma_of_positive(a, k) for k in range(1, order)]
    total = np.zeros_like(a)
    for node, weight in zip(NODES, WEIGHTS, strict=True):
        step = far * (0.5 * node + 0.5)
        moved = side * step
        density = np.exp(-gap * step - x * exp_excess(moved, x))
        total += weight * density * from_cumulants([middle + moved, *higher], order)
    return -0.5 * side * far * total


def gamma_ratio_values(a: Array, w: Array, x: Array, order: int) -> Array:
    """The ratio of double-precision numbers; NaN where ``a`` is not positive.

    One of ``w`` and ``x = exp(w)`` is given, the other computed from it, with a loss of digits.
    """
    positive = (a > 0) & (a < np.inf) & ~np.isnan(w)
    usual = positive & np.isfinite(w)
    shape, inside = np.where(usual, a, 1.0), np.where(usual, w, 0.0)
    point = np.where(usual, x, 1.0)
    result = np.empty_like(shape)
    low = inside <= 0
    result[low] = ratio_by_series(shape[low], inside[low], point[low], order)
    result[~low] = ratio_by_quadrature(shape[~low], inside[~low], point[~low], order)
    start = -np.inf if order % 2 else np.inf
    result = np.where(w == -np.inf, start, np.where(w == np.inf, 0.0, result))
    return np.where(positive, result, np.nan)
