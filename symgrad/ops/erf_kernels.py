"""The error function and its relatives on numpy arrays, without scipy.

Rational approximations in three ranges, from W. J. Cody, Rational Chebyshev approximations for the
error function, Mathematics of Computation 23 (1969), 631-637: relative accuracy about 1e-16 in all
of the range, tails included. Narrower types are computed in double precision and rounded once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any

# Numerator and denominator, highest power first: erf(x)/x in x**2 for |x| <= 0.46875,
# exp(x**2)*erfc(x) in x up to 4, and (1/sqrt(pi) - x*exp(x**2)*erfc(x)) * x**2 in 1/x**2 beyond.
# fmt: off
SMALL = (
    (1.85777706184603153e-1, 3.16112374387056560, 1.13864154151050156e2,
     3.77485237685302021e2, 3.20937758913846947e3),
    (1.0, 2.36012909523441209e1, 2.44024637934444173e2,
     1.28261652607737228e3, 2.84423683343917062e3),
)
MIDDLE = (
    (2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594,
     6.61191906371416295e1, 2.98635138197400131e2, 8.81952221241769090e2,
     1.71204761263407058e3, 2.05107837782607147e3, 1.23033935479799725e3),
    (1.0, 1.57449261107098347e1, 1.17693950891312499e2,
     5.37181101862009858e2, 1.62138957456669019e3, 3.29079923573345963e3,
     4.36261909014324716e3, 3.43936767414372164e3, 1.23033935480374942e3),
)
LARGE = (
    (1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1,
     1.25781726111229246e-1, 1.60837851487422766e-2, 6.58749161529837803e-4),
    (1.0, 2.56852019228982242, 1.87295284992346725,
     5.27905102951428412e-1, 6.05183413124413191e-2, 2.33520497626869185e-3),
)
# fmt: on
INVERSE_ROOT_PI, ROOT_HALF = 0.56418958354775628695, 0.70710678118654752440
SMALL_END, MIDDLE_END = 0.46875, 4.0


def rational(x: Array, pair: tuple[tuple[float, ...], tuple[float, ...]]) -> Array:
    """The quotient of two polynomials, by Horner's rule."""
    numerator, denominator = np.full_like(x, pair[0][0]), np.full_like(x, pair[1][0])
    for a, b in zip(pair[0][1:], pair[1][1:], strict=True):
        numerator *= x
        numerator += a
        denominator *= x
        denominator += b
    return numerator / denominator


def scaled_tail(x: Array) -> Array:
    """``exp(x**2) * erfc(x)`` for x >= 0.46875."""
    tail = np.empty_like(x)
    middle = x <= MIDDLE_END
    tail[middle] = rational(x[middle], MIDDLE)
    far = x[~middle]
    inverse = 1 / (far * far)
    tail[~middle] = (INVERSE_ROOT_PI - inverse * rational(inverse, LARGE)) / far
    return tail


def exp_of_square(x: Array, factor: float) -> Array:
    """``exp(factor * x**2)``: the square is split, so that its rounding error is not blown up."""
    short = np.trunc(x * 16) / 16
    return np.exp(factor * (short * short)) * np.exp(factor * ((x - short) * (x + short)))


def bell_values(x: Array, rate: float) -> Array:
    """``exp(-rate * x**2)``, for a rate of 1 or 1/2."""
    return exp_of_square(np.minimum(np.abs(x), 40.0), -rate)


def erf_values(x: Array) -> Array:
    """The error function of double-precision numbers."""
    size = np.abs(x)
    small = size <= SMALL_END
    inner, outer = x[small], np.minimum(size[~small], 30.0)
    result = np.empty_like(x)
    result[small] = inner * rational(inner * inner, SMALL)
    result[~small] = np.copysign(1 - bell_values(outer, 1.0) * scaled_tail(outer), x[~small])
    return result


def erfc_values(x: Array) -> Array:
    """``1 - erf(x)`` of double-precision numbers, not rounded away where it is small."""
    size = np.abs(x)
    small = size <= SMALL_END
    inner, outer = x[small], np.minimum(size[~small], 30.0)
    result = np.empty_like(x)
    result[small] = 1 - inner * rational(inner * inner, SMALL)
    tail = bell_values(outer, 1.0) * scaled_tail(outer)
    result[~small] = np.where(x[~small] < 0, 2 - tail, tail)
    return result


def normal_cdf_values(x: Array) -> Array:
    """The share of the standard normal distribution below ``x``, ``erfc(-x / sqrt(2)) / 2``."""
    size = np.minimum(np.abs(x), 40.0)
    scaled = size * ROOT_HALF
    small = scaled <= SMALL_END
    inner, outer = x[small] * ROOT_HALF, size[~small]
    result = np.empty_like(x)
    result[small] = 0.5 + 0.5 * inner * rational(inner * inner, SMALL)
    # exp(-x**2 / 2) from x itself: the rounding of x / sqrt(2) would be blown up by the square.
    tail = 0.5 * bell_values(outer, 0.5) * scaled_tail(scaled[~small])
    result[~small] = np.where(x[~small] < 0, tail, 1 - tail)
    return result
