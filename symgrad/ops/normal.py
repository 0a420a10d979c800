"""The normal distribution's functions and products with logarithms, on numpy alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.ir.op import ops
from symgrad.ops.blocks import in_blocks
from symgrad.ops.elementwise import bell
from symgrad.ops.erf_kernels import (
    SMALL,
    SMALL_END,
    exp_of_square,
    normal_cdf_values,
    rational,
    scaled_tail,
)
from symgrad.ops.families import Array, elementwise
from symgrad.ops.scalar import log, log1p, where

_ROOT_HALF = math.sqrt(0.5)
_DENSITY = 1 / math.sqrt(2 * math.pi)
TWO_OVER_ROOT_PI = 2 / math.sqrt(math.pi)
NEAR, STEPS = 1.25, 150


# --- the error function, scaled -------------------------------------------------------------------


def erfcx_values(x: Array) -> Array:
    """`erfcx` of double-precision numbers."""
    size = np.abs(x)
    small = size <= SMALL_END
    inner, outer = x[small], size[~small]
    result = np.empty_like(x)
    square_of_x = inner * inner
    result[small] = np.exp(square_of_x) * (1 - inner * rational(square_of_x, SMALL))
    # erfc(-x) = 2 - erfc(x); the clip keeps an infinite square out of the factors.
    grown = 2 * exp_of_square(np.minimum(outer, 30.0), 1.0)
    tail = scaled_tail(outer)
    result[~small] = np.where(x[~small] < 0, grown - tail, tail)
    return result


def erfcx_derivative_values(x: Array, order: int) -> Array:
    """The derivative of `erfcx` of some order, at least 1.

    From the repeated integrals of erfc (NIST DLMF 7.18.7): upwards in the order for small x, by
    ratios from a large order downwards where that would cancel.
    """
    low = np.where(x < NEAR, x, 0.0)
    before, now = erfcx_values(low), 2 * low * erfcx_values(low) - TWO_OVER_ROOT_PI
    for n in range(1, order):
        before, now = now, 2 * low * now + 2 * n * before
    high, ratio = np.maximum(x, NEAR), np.zeros_like(x)
    product = erfcx_values(high)
    for n in range(order + STEPS, 0, -1):
        ratio = 2 * n / (2 * high + ratio)
        if n <= order:
            product = product * -ratio
    result = np.where(x < NEAR, now, product)
    return np.where(x == -np.inf, (-1.0) ** order * np.inf, result)


@elementwise(partials=lambda y, x: erfcx_derivative(x, order=1), takes="floating")
def erfcx(x: Array, /) -> Array:
    """``exp(x**2) * erfc(x)``, without underflow for large ``x``.

    Source: W. J. Cody, Rational Chebyshev approximations for the error function (1969).

    >>> import symgrad as sg
    >>> float(sg.erfcx(0.0))
    1.0
    """
    return in_blocks(erfcx_values, x)


@elementwise(
    partials=lambda y, x, *, order: ops.erfcx_derivative(x, order=order + 1),
    takes="floating",
    namespace=None,
)
def erfcx_derivative(x: Array, /, *, order: int) -> Array:
    """The derivative of `erfcx` of some order, at least 1.

    >>> round(erfcx_derivative(np.asarray(0.0), order=1).item(), 12)
    -1.128379167096
    """
    return in_blocks(erfcx_derivative_values, x, order)


def erfcx_ratio_values(x: Array, order: int) -> Array:
    """`erfcx_ratio` of double-precision numbers."""
    low = np.minimum(x, NEAR)
    high, ratio, product = np.maximum(x, NEAR), np.zeros_like(x), np.ones_like(x)
    for n in range(order + STEPS, 0, -1):
        ratio = 2 * n / (2 * high + ratio)
        if n <= order:
            product = product * -ratio
    near = erfcx_derivative_values(np.maximum(low, -25.0), order)
    near = near / erfcx_values(np.maximum(low, -25.0))
    # Below, the function is 2 * exp(x**2) to the last bit.
    grown, before = np.ones_like(x), np.zeros_like(x)
    for n in range(order):
        before, grown = grown, 2 * low * grown + 2 * n * before
    return np.where(x < NEAR, np.where(x < -25, grown, near), product)


def _ratio_partial(y: Any, x: Any, *, order: int) -> Any:
    return ops.erfcx_ratio(x, order=order + 1) - y * ops.erfcx_ratio(x, order=1)


@elementwise(partials=_ratio_partial, takes="floating", namespace=None)
def erfcx_ratio(x: Array, /, *, order: int) -> Array:
    """The derivative of `erfcx` of some order, divided by `erfcx`.

    >>> round(erfcx_ratio(np.asarray(0.0), order=1).item(), 12)
    -1.128379167096
    """
    return in_blocks(erfcx_ratio_values, x, order)


def inverse_erfcx_values(x: Array) -> Array:
    """`inverse_erfcx` of double-precision numbers."""
    return 1 / erfcx_values(x)


@elementwise(partials=lambda y, x: -y * erfcx_ratio(x, order=1), takes="floating", namespace=None)
def inverse_erfcx(x: Array, /) -> Array:
    """``1 / erfcx(x)``, whose derivatives are finite as far out as it is itself.

    >>> inverse_erfcx(np.asarray(0.0)).item()
    1.0
    """
    return in_blocks(inverse_erfcx_values, x)


# --- the normal distribution ----------------------------------------------------------------------


@elementwise(partials=lambda y, x: _DENSITY * bell(x, rate=0.5), takes="floating", warns=False)
def ndtr(x: Array, /) -> Array:
    """The share of the standard normal distribution below ``x``, accurate in the lower tail.

    >>> import symgrad as sg
    >>> float(sg.ndtr(0.0))
    0.5
    """
    return in_blocks(normal_cdf_values, x)


def log_ndtr_values(x: Array) -> Array:
    """`log_ndtr` of double-precision numbers."""
    low = np.minimum(x, -1.0)
    below = np.log(0.5 * erfcx_values(-_ROOT_HALF * low)) - 0.5 * low * low
    above = np.log1p(-normal_cdf_values(-np.maximum(x, -1.0)))
    return np.where(x < -1, below, above)


def _log_ndtr_partial(y: Any, x: Any) -> Any:
    # The density over the distribution, each in the form that neither over- nor underflows.
    low = (2 * _DENSITY) * inverse_erfcx(-_ROOT_HALF * x)
    return where(x < 0, low, _DENSITY * bell(x, rate=0.5) / ndtr(x))


@elementwise(partials=_log_ndtr_partial, takes="floating")
def log_ndtr(x: Array, /) -> Array:
    """``log(ndtr(x))``, accurate in both tails.

    >>> import symgrad as sg
    >>> round(float(sg.log_ndtr(-100.0)), 6)
    -5005.524209
    """
    return in_blocks(log_ndtr_values, x)


# --- logarithms -----------------------------------------------------------------------------------


@elementwise(
    partials=(
        lambda y, a, b: where((a == 0) & (b == -1), 0, log1p(b)),
        lambda y, a, b: where(a == 0, 0, a / (1 + b)),
    ),
    takes="floating",
    restricts_domain=True,
)
def xlog1py(x1: Array, x2: Array, /) -> Array:
    """``x1 * log(1 + x2)``, and 0 where ``x1`` is 0 (unless ``x2`` is NaN).

    Its slopes at (0, -1) are 0.

    >>> import symgrad as sg
    >>> sg.xlog1py(sg.asarray([0.0, 2.0]), sg.asarray([-1.0, 0.0]))
    Tensor([0., 0.])
    """
    return np.where((x1 == 0) & ~np.isnan(x2), 0, x1 * np.log1p(x2))


@elementwise(partials=lambda y, x: -log(x) - 1, takes="floating", restricts_domain=True)
def entr(x: Array, /) -> Array:
    """``-x * log(x)``, a term of the entropy: 0 at 0, minus infinity for negative ``x``.

    >>> import symgrad as sg
    >>> sg.entr(sg.asarray([0.0, 1.0]))
    Tensor([0., 0.])
    """
    inside = 0 - x * np.log(np.where(x > 0, x, 1))
    return np.where(x > 0, inside, np.where(x == 0, 0, np.where(np.isnan(x), x, -np.inf)))
