"""The normal distribution's functions and products with logarithms, on numpy alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.ir.op import ops
from symgrad.ops.blocks import in_blocks
from symgrad.ops.erf_kernels import (
    LARGE,
    MIDDLE_END,
    erfc_values,
    normal_cdf_values,
    rational,
    scaled_tail,
)
from symgrad.ops.families import Array, elementwise
from symgrad.ops.scalar import exp, log, log1p, square, where

_ROOT_HALF = math.sqrt(0.5)
_DENSITY = 1 / math.sqrt(2 * math.pi)
TWO_OVER_ROOT_PI = 2 / math.sqrt(math.pi)


# --- the error function, scaled -------------------------------------------------------------------


def erfcx_values(x: Array) -> Array:
    """`erfcx` of double-precision numbers."""
    result = np.empty_like(x)
    far = x >= 0.5
    result[far] = scaled_tail(x[far])
    near = x[~far]
    result[~far] = np.exp(near * near) * erfc_values(near)
    return result


def erfcx_slope_values(x: Array) -> Array:
    """``2*x*erfcx(x) - 2/sqrt(pi)``, from the asymptotic form where the two nearly cancel."""
    far = x > MIDDLE_END
    near = np.where(far, 0, x)
    inverse = 1 / np.square(np.where(far, x, MIDDLE_END))
    tail = -2 * inverse * rational(inverse, LARGE)
    return np.where(far, tail, 2 * near * erfcx_values(near) - TWO_OVER_ROOT_PI)


@elementwise(partials=lambda y, x: ops.erfcx_slope(x), takes="floating")
def erfcx(x: Array, /) -> Array:
    """``exp(x**2) * erfc(x)``, without underflow for large ``x``.

    Source: W. J. Cody, Rational Chebyshev approximations for the error function (1969).

    >>> import symgrad as sg
    >>> float(sg.erfcx(0.0))
    1.0
    """
    return in_blocks(erfcx_values, x)


@elementwise(partials=lambda y, x: 2 * (erfcx(x) + x * y), takes="floating", namespace=None)
def erfcx_slope(x: Array, /) -> Array:
    """The derivative of `erfcx`.

    >>> round(erfcx_slope(np.asarray(0.0)).item(), 12)
    -1.128379167096
    """
    return in_blocks(erfcx_slope_values, x)


# --- the normal distribution ----------------------------------------------------------------------


@elementwise(partials=lambda y, x: _DENSITY * exp(-0.5 * square(x)), takes="floating", warns=False)
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
    low = (2 * _DENSITY) / erfcx(-_ROOT_HALF * x)
    return where(x < 0, low, _DENSITY * exp(-0.5 * square(x)) / ndtr(x))


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
