"""Bessel functions and Dawson's integral where scipy's are not enough, on numpy arrays.

scipy's are accurate near 0; far out they lose the digits of the phase. Their derivatives come from
functions of higher order, whose values at 0 and whose small differences are right.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.ops.blocks import replaced

Array = Any

# --- far from 0 -----------------------------------------------------------------------------------

FAR = 25.0
TERMS = 22


def hankel_sums(x: Array, order: int) -> tuple[Array, Array]:
    """The two sums of Hankel's expansion (NIST DLMF 10.17.3), for x from `FAR` on."""
    inverse = 1 / x
    sums = [np.zeros_like(x), np.zeros_like(x)]
    term = np.ones_like(x)
    for k in range(TERMS):
        sums[k % 2] = sums[k % 2] + (-1) ** (k // 2) * term
        term = term * ((4 * order**2 - (2 * k + 1) ** 2) / (8 * (k + 1))) * inverse
    return sums[0], sums[1]


def far_waves(x: Array, order: int) -> tuple[Array, Array]:
    """The functions of the first and the second kind of order 0 or 1, for x from `FAR` on.

    The phase ``x - pi/4`` stays exact through the formulas of sums of angles.
    """
    even, odd = hankel_sums(x, order)
    cosine, sine = np.cos(x), np.sin(x)
    along, across = cosine + sine, sine - cosine
    if order == 1:
        along, across = across, -along
    size = 1 / np.sqrt(np.pi * x)
    return size * (even * along - odd * across), size * (even * across + odd * along)


def with_far_waves(x: Array, order: int, kind: int, near: Any) -> Array:
    """One of them: ``near(x)`` up to `FAR`, 0 at infinity."""
    size = np.abs(x)
    values = near(np.where(size <= FAR, x, FAR))
    is_far = (size > FAR) & (size < np.inf)
    values = replaced(values, is_far, lambda v: far_waves(v, order)[kind - 1], size)
    if order == 1 and kind == 1:
        values = np.where(is_far & (x < 0), -values, values)
    values = np.where(size == np.inf, 0, values)
    return np.where((x < 0) & (kind == 2) | np.isnan(x), np.nan, values)


# --- higher orders --------------------------------------------------------------------------------


def power_series(x: Array, order: int) -> Array:
    """``(x/2)**order`` times the sum of ``(-x*x/4)**k / (k! * (order + k)!)``: NIST DLMF 10.2.2."""
    quarter = -0.25 * (x * x)
    total = np.zeros_like(x)
    for k in range(40 + 2 * order, 0, -1):
        total = (total + 1) * (quarter / (k * (order + k)))
    return (total + 1) * ((0.5 * x) ** order / math.factorial(order))


def bessel_j_values(x: Array, order: int, j0: Array, j1: Array) -> Array:
    """The function of the first kind of an order from 2 on, given those of orders 0 and 1."""
    is_near = np.abs(x) <= order + 1
    near = power_series(np.where(is_near, x, 0), order)
    far = np.where(is_near, 1, x)
    before, now = j0, j1
    for n in range(1, order):
        before, now = now, (2 * n / far) * now - before
    return np.where(is_near, near, now)


def bessel_i_values(x: Array, order: int, i0: Array, i1: Array) -> Array:
    """The modified function of the first kind of an order from 2 on, from orders 0 and 1.

    By ratios of neighbouring orders (NIST DLMF 10.33.1) from a large order downwards; far out by
    the recurrence upwards, which does not cancel there.
    """
    size = np.minimum(np.abs(x), FAR)
    ratio, product = np.zeros_like(size), np.ones_like(size)
    for n in range(order + 60, 0, -1):
        ratio = size / (2 * n + size * ratio)
        if n <= order:
            product = product * ratio
    before, now, far = i0, np.abs(i1), np.maximum(np.abs(x), FAR)
    for n in range(1, order):
        before, now = now, before - (2 * n / far) * now
    value = np.where(np.abs(x) <= FAR, product * i0, np.where(i0 == np.inf, i0, now))
    return np.where(x < 0, (-1) ** order, 1) * value


def moment_ratios(x: Array, order: int) -> Array:
    """The mean of ``(1 - cos(t))**order`` with the weight ``exp(x * cos(t))``, for x from 0 on.

    Ratios of neighbouring orders follow from the differential equation of ``exp(-x) * i0(x)``,
    whose derivatives these means are but for signs.
    """
    ratio, product = np.full_like(x, 2), np.ones_like(x)
    for n in range(order + 60, -1, -1):
        ratio = (2 * n + 1) / (n + 1 + x * (2 - ratio))
        if n < order:
            product = product * ratio
    return product


# --- Dawson's integral ----------------------------------------------------------------------------

DAWSON_FAR = 7.0


def dawson_by_series(x: Array) -> Array:
    """Dawson's integral up to 1, by its power series (NIST DLMF 7.6.3)."""
    square = x * x
    total = np.ones_like(x)
    for k in range(24, 0, -1):
        total = 1 - total * (2 * square / (2 * k + 1))
    return x * total


def dawson_far(x: Array, order: int) -> Array:
    """A derivative of Dawson's integral from `DAWSON_FAR` on, by its asymptotic series (7.12.1)."""
    inverse = 1 / (x * x)
    total = np.zeros_like(x)
    for k in range(28, -1, -1):
        factor = math.prod(range(1, 2 * k, 2)) / 2.0 ** (k + 1)
        total = total * inverse + factor * math.prod(range(2 * k + 1, 2 * k + 1 + order))
    return (-1) ** order * total / x ** (order + 1)


def dawson_values(x: Array, order: int, dawsn: Any) -> Array:
    """A derivative of Dawson's integral; of order 0, itself."""
    size = np.abs(x)
    before, now = np.full_like(x, 0.5), dawsn(np.where(size < DAWSON_FAR, x, 0))
    now = replaced(now, size < 1, dawson_by_series, x)
    for n in range(order):
        # The slope of the integral d is 1 - 2*x*d; of order n + 1: -2*x*d[n] - 2*n*d[n-1].
        before, now = now, (1 - 2 * x * now) if n == 0 else -2 * (x * now + n * before)
    values = replaced(now, size >= DAWSON_FAR, lambda v: dawson_far(v, order), size)
    is_mirrored = (size >= DAWSON_FAR) & (x < 0) & (order % 2 == 0)
    return np.where(np.isnan(x), x, np.where(is_mirrored, -values, values))
