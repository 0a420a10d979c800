"""The densities behind the incomplete gamma and beta functions, on numpy arrays.

Both are written as Stirling's formula times the exponential of a sum of terms that vanish at the
peak, so that large parameters cost no digits. Source of the form: C. Loader, Fast and accurate
computation of binomial probabilities (2000).

The share of the beta distribution below ``x`` changes with its shapes as
`symgrad.ops.gamma_kernels` describes it for the gamma distribution: its derivatives by the shapes
are those of the density, under the integral, from ``x`` to the side where the density falls.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from symgrad.ops.gamma_kernels import DEPTH, NODES, WEIGHTS
from symgrad.ops.zeta_kernels import BERNOULLI

Array = Any

LARGE, TERMS = 10.0, 7
"""From where on Stirling's series is used, and so many of its terms."""
HALF_LOG_TWO_PI = 0.5 * math.log(2 * math.pi)


# --- densities ------------------------------------------------------------------------------------


def log_excess(e: Array, ratio: Array) -> Array:
    """``e - log(1 + e)``, from its series in ``e / (2 + e)`` where the two nearly cancel.

    ``ratio`` is ``1 + e``, of which a small ``e`` says too little and a small ratio enough.
    """
    small = np.where(np.abs(e) < 0.3, e, 0)
    r = small / (2 + small)
    series = np.zeros_like(r)
    for k in range(21, 1, -2):
        series = series * (r * r) + 2 / k
    return np.where(np.abs(e) < 0.3, r * small - r * r * r * series, e - np.log(ratio))


def stirling_series(z: Array) -> Array:
    """What Stirling's formula lacks of the logarithm of gamma for large z: NIST DLMF 5.11.1."""
    total = np.zeros_like(z)
    for k in range(TERMS, 0, -1):
        total = total / (z * z) + BERNOULLI[k - 1] / (2 * k * (2 * k - 1))
    return total / z


def stirling_rest(z: Array, gammaln: Any) -> Array:
    """The same for all positive z."""
    near = np.minimum(z, LARGE)
    lack = gammaln(near) - ((near - 0.5) * np.log(near) - near + HALF_LOG_TWO_PI)
    return np.where(z < LARGE, lack, stirling_series(np.maximum(z, LARGE)))


def gamma_density_values(a: Array, x: Array, rgamma: Any) -> Array:
    """``x**(a-1) * exp(-x) / gamma(a)``, for positive ``a`` and ``x``; ``rgamma`` is 1 / gamma."""
    small, near = np.where(a < LARGE, a, 1), np.minimum(x, 2000)
    half = np.exp(-0.5 * near)
    direct = half * np.power(near, small) * rgamma(small) / near * half
    direct = np.where(x == 0, np.power(x, small - 1) * rgamma(small), direct)
    large = np.where(a < LARGE, LARGE, a)
    depth = large * log_excess((x - large) / large, x / large) + stirling_series(large)
    peak = np.sqrt(large / (2 * np.pi)) * np.exp(-depth) / x
    found = np.where(a < LARGE, direct, np.where(x == 0, 0, peak))
    return np.where(x == np.inf, 0, found)


def beta_density_values(a: Array, b: Array, x: Array, gammaln: Any, *, of_odds: bool) -> Array:
    """``x**(a-1) * (1-x)**(b-1) / beta(a, b)``, for positive ``a`` and ``b``, x between 0 and 1.

    With ``of_odds``, the density of the logarithm of ``x / (1-x)``: the same times ``x * (1-x)``.
    """
    total, inside = a + b, np.where((x > 0) & (x < 1), x, 0.5)
    off = b * inside - a * (1 - inside)
    depth = a * log_excess(off / a, total / a * inside)
    depth += b * log_excess(-off / b, total / b * (1 - inside))
    depth += stirling_rest(a, gammaln) + stirling_rest(b, gammaln) - stirling_rest(total, gammaln)
    if not of_odds:
        depth += np.log(inside) + np.log1p(-inside)
    peak = np.sqrt(a / total / (2 * np.pi) * b) * np.exp(-depth)
    end, other = np.where(x == 0, a, b), np.where(x == 0, b, a)
    at_end = np.where(end < 1, np.inf, np.where(end == 1, other, 0)) * (not of_odds)
    is_end = (x == 0) | (x == 1)
    return np.where(is_end, at_end, np.where((x > 0) & (x < 1), peak, np.nan))


# --- how shares of the beta distribution move -----------------------------------------------------

PANELS = (2.0, 6.0, 14.0, 30.0, 62.0)
"""Ends of the panels of the integration, as far as it goes; the last panel is the rest."""


def decline(x: Array, y: Array, step: Array) -> Array:
    """``log(y + x * exp(-step))`` where ``x + y = 1``."""
    change = x * np.expm1(-step)
    return np.where(change > -0.5, np.log1p(change), np.log(y + x * np.exp(-step)))


def reach(a: Array, b: Array, x: Array, y: Array) -> Array:
    """The step of log odds after which the density is `DEPTH` lower, by Newton's method."""
    total, gap = a + b, np.maximum(a * y - b * x, 0)
    far = 2 * DEPTH / (gap + np.sqrt(gap * gap + 2 * DEPTH * total * x * y) + a / DEPTH)
    for _ in range(12):
        left = x * np.exp(-far)
        slope = a - total * left / (y + left)
        change = (a * far + total * decline(x, y, far) - DEPTH) / np.maximum(slope, 0.01 * a)
        far = np.clip(far - change, 0.3 * far, 10 * far)
    return far


def joint_moment(cumulants: Sequence[Sequence[Any]], i: int, j: int) -> Any:
    """A mixed derivative of ``exp(g)`` divided by ``exp(g)``, from those of ``g``.

    The complete Bell polynomial of two variables, by its recurrence.
    """
    if i == 0 and j == 0:
        return 1.0
    if i == 0:
        return joint_moment([[entry] for entry in cumulants[0]], j, 0)
    total: Any = 0.0
    for k in range(i):
        for m in range(j + 1):
            factor = math.comb(i - 1, k) * math.comb(j, m)
            rest = joint_moment(cumulants, i - 1 - k, j - m)
            total = total + factor * (cumulants[k + 1][m] * rest)
    return total


def beta_cumulants(a: Array, b: Array, order: int, psi: Any) -> list[list[Array]]:
    """The derivatives of ``-log(beta(a, b))`` by the shapes, from the second order on."""
    joint = {n: psi(a + b, n - 1) for n in range(2, order + 1)}
    own_a = {n: psi(a, n - 1) for n in range(2, order + 1)}
    own_b = {n: psi(b, n - 1) for n in range(2, order + 1)}
    zero = np.zeros_like(a)

    def entry(i: int, j: int) -> Array:
        if i + j < 2:
            return zero
        own = own_a[i] if j == 0 else own_b[j] if i == 0 else zero
        return joint[i + j] - own

    return [[entry(i, j) for j in range(order + 1 - i)] for i in range(order + 1)]


def below_by_shapes(
    a: Array, b: Array, x: Array, y: Array, cumulants: list[list[Any]], order: tuple[int, int]
) -> Array:
    """A derivative of the share below ``x``, divided by the density of the log odds there.

    For ``x`` below the peak; ``y`` is ``1 - x``, and ``cumulants[i][j]`` the derivative of the
    logarithm of the density at ``x``.
    """
    result, far = np.zeros_like(x), reach(a, b, x, y)
    by_a, by_b = cumulants[1][0], cumulants[0][1]
    ends = [np.zeros_like(far), *(np.minimum(end, far) for end in PANELS), far]
    for start, end in pairwise(ends):
        for node, weight in zip(NODES, WEIGHTS, strict=True):
            step = start + (end - start) * (0.5 * node + 0.5)
            change = decline(x, y, step)
            density = np.exp(-a * step - (a + b) * change)
            cumulants[1][0], cumulants[0][1] = by_a - step - change, by_b - change
            result += weight * (end - start) * density * joint_moment(cumulants, *order)
    return 0.5 * result


def share_by_shapes(
    a: Array, b: Array, x: Array, falls: tuple[Array, Array], psi: Any, order: tuple[int, int]
) -> Array:
    """A derivative of the share below ``x``, divided by the density of the log odds there.

    For positive shapes and x between 0 and 1; ``falls`` are the derivatives of
    ``log(beta(a, b))``, ``psi(z, n)`` is the derivative of digamma of order n.
    """
    low = b * x <= a * (1 - x)
    slopes = np.log(x) - falls[0], np.log1p(-x) - falls[1]
    result = np.empty_like(x)
    for side, swapped in ((low, False), (~low, True)):
        one, two = (b[side], a[side]) if swapped else (a[side], b[side])
        near, far = (1 - x[side], x[side]) if swapped else (x[side], 1 - x[side])
        wanted = (order[1], order[0]) if swapped else order
        cumulants = beta_cumulants(one, two, sum(order), psi)
        cumulants[1][0], cumulants[0][1] = slopes[swapped][side], slopes[not swapped][side]
        ratio = below_by_shapes(one, two, near, far, cumulants, wanted)
        result[side] = -ratio if swapped else ratio
    return result
