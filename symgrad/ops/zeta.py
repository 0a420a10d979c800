"""The zeta function and the derivatives of digamma, on numpy alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError
from symgrad.ir.op import ops
from symgrad.ops.blocks import in_blocks, in_blocks_together
from symgrad.ops.families import Array, composite, elementwise
from symgrad.ops.gamma_kernels import polygamma_of_positive
from symgrad.ops.sinc_kernels import cos_pi, sin_pi
from symgrad.ops.zeta_kernels import hurwitz_falls, zeta_values

# --- zeta -----------------------------------------------------------------------------------------


def _slope_by_start(y: Any, s: Any, q: Any, *, order: int) -> Any:
    # The n-th derivative by s of -s * zeta(s + 1, q).
    below = ops.zeta(s + 1, q) if order == 1 else ops.zeta_by_exponent(s + 1, q, order=order - 1)
    return -(s * ops.zeta_by_exponent(s + 1, q, order=order) + order * below)


@elementwise(
    partials=(
        lambda y, s, q, *, order: ops.zeta_by_exponent(s, q, order=order + 1),
        _slope_by_start,
    ),
    takes="floating",
    restricts_domain=True,
    namespace=None,
)
def zeta_by_exponent(s: Array, q: Array, /, *, order: int) -> Array:
    """The derivative of `zeta` by its first operand, of some order from 1 on.

    >>> round(zeta_by_exponent(np.asarray(2.0), np.asarray(1.0), order=1).item(), 12)
    -0.937548254316
    """
    return in_blocks_together(zeta_values, (s, q), order)


@elementwise(
    partials=(
        lambda y, s, q: zeta_by_exponent(s, q, order=1),
        lambda y, s, q: -s * ops.zeta(s + 1, q),
    ),
    takes="floating",
    restricts_domain=True,
)
def zeta(s: Array, q: Array, /) -> Array:
    """Hurwitz's zeta function, the sum of ``(q + k)**-s`` for k = 0, 1, …; with q = 1 Riemann's.

    Source: NIST DLMF, 25.11.

    Args:
        s: numbers above 1; the value at 1 is infinite, and NaN below.
        q: positive numbers; the value is infinite at 0, -1, -2, …, and NaN between them.

    >>> import symgrad as sg
    >>> round(float(sg.zeta(2.0, 1.0)), 12)  # pi**2/6
    1.644934066848
    """
    return in_blocks_together(zeta_values, (s, q), 0)


# --- the derivatives of digamma -------------------------------------------------------------------


def cotangent_slope(x: Array, order: int) -> Array:
    """The derivative of ``pi * cot(pi*x)`` of some order."""
    sine = sin_pi(x)
    cotangent = cos_pi(x) / np.where(sine == 0, 1, sine)
    coefficients = [0, 1]  # of a polynomial in the cotangent c, whose own slope is -(1 + c**2)
    for _ in range(order):
        slopes = [k * c for k, c in enumerate(coefficients)][1:]
        coefficients = [-a - b for a, b in zip([*slopes, 0, 0], [0, 0, *slopes], strict=True)]
    value = np.full_like(x, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        value = value * cotangent + coefficient
    pole = np.inf if order % 2 == 0 else -np.inf
    return np.where(sine == 0, pole, value * np.pi ** (order + 1))


def polygamma_values(x: Array, order: int) -> Array:
    """The derivative of digamma of some order; below 0 reflected (NIST DLMF 5.15.6)."""
    is_low = (x <= 0) & (x > -np.inf)
    given = np.where(x == -np.inf, np.nan, np.where(is_low, 1 - x, x))
    found = polygamma_of_positive(given, order)
    if not is_low.any():
        return found
    reflected = (-1) ** order * found - cotangent_slope(np.where(is_low, x, 0.25), order)
    return np.where(is_low, reflected, found)


@elementwise(
    partials=lambda y, x, *, order: ops.polygamma_of(x, order=order + 1),
    takes="floating",
    restricts_domain=True,
    namespace=None,
)
def polygamma_of(x: Array, /, *, order: int) -> Array:
    """The derivative of `digamma` of some order; of order 0 that itself, without scipy.

    >>> round(polygamma_of(np.asarray(1.0), order=1).item(), 12)  # pi**2/6
    1.644934066848
    """
    return in_blocks(polygamma_values, x, order)


def polygamma_falls(a: Array, b: Array, order: int) -> Array:
    """`polygamma_difference` of double-precision numbers."""
    regular = (a > 0) & (b > 0) & (a < np.inf) & (b < np.inf)
    one, two = np.where(regular, a, 1), np.where(regular, b, 1)
    factor = (-1) ** (order + 1) * math.factorial(order)
    found = factor * hurwitz_falls(order + 1, one, two)
    return np.where(regular, found, polygamma_values(a, order) - polygamma_values(a + b, order))


@elementwise(
    partials=(
        lambda y, a, b, *, order: ops.polygamma_difference(a, b, order=order + 1),
        lambda y, a, b, *, order: -polygamma_of(a + b, order=order + 1),
    ),
    takes="floating",
    restricts_domain=True,
    namespace=None,
)
def polygamma_difference(a: Array, b: Array, /, *, order: int) -> Array:
    """``polygamma(order, a) - polygamma(order, a + b)``, for positive numbers without cancellation.

    >>> round(polygamma_difference(np.asarray(1.0), np.asarray(1.0), order=1).item(), 12)
    1.0
    """
    return in_blocks_together(polygamma_falls, (a, b), order)


@composite
def polygamma(n: int, x: Array, /) -> Any:
    """The derivative of `digamma` of order ``n``; `digamma` itself for 0.

    Args:
        n: the order, a non-negative int.
        x: real numbers.
    Raises:
        ArgumentError: another order.

    >>> import symgrad as sg
    >>> round(float(sg.polygamma(1, 1.0)), 12)  # pi**2/6
    1.644934066848
    """
    if type(n) is not int or n < 0:
        raise ArgumentError("polygamma", "no such order", expected="an int from 0 on", got=repr(n))
    return polygamma_of(x, order=n) if n else ops.digamma(x)
