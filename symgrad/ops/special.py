"""Special functions whose kernels are scipy's: they need the extra ``special``.

Narrower types are computed in double precision and rounded once. Formulas: NIST Digital Library of
Mathematical Functions, chapters 5 and 7.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError
from symgrad.ir.op import ops
from symgrad.ops.blocks import replaced
from symgrad.ops.families import Array, composite, elementwise
from symgrad.ops.incomplete_kernels import stirling_series
from symgrad.ops.normal import erfcx
from symgrad.ops.scalar import exp, square, where
from symgrad.ops.zeta import polygamma_difference, polygamma_of
from symgrad.ops.zeta_kernels import BERNOULLI

_ROOT_PI = math.sqrt(math.pi)
_ROOT_TWO_PI = math.sqrt(2 * math.pi)
_ROOT_HALF_PI = math.sqrt(0.5 * math.pi)
_ROOT_HALF = math.sqrt(0.5)


def special(partials: Any, *, warns: bool = True, **facets: Any) -> Any:
    """An element-wise op of real numbers whose kernel imports scipy."""
    return elementwise(partials=partials, takes="floating", needs="special", warns=warns, **facets)


def in_double(function: Any, *operands: Array) -> Array:
    """A function of double-precision numbers, rounded to the operands' type."""
    dtype = np.result_type(*operands)
    wide = [operand.astype(np.float64, copy=False) for operand in operands]
    return np.asarray(function(*wide)).astype(dtype, copy=False)


# --- inverses of distributions --------------------------------------------------------------------


@special(lambda y, x: 0.5 * _ROOT_PI * exp(square(y)), restricts_domain=True)
def erfinv(x: Array, /) -> Array:
    """The inverse of `erf`, for x between -1 and 1.

    >>> import symgrad as sg
    >>> round(float(sg.erfinv(0.5)), 12)
    0.476936276204
    """
    import scipy.special

    return in_double(scipy.special.erfinv, x)


def _ndtri_partial(y: Any, x: Any) -> Any:
    # One over the density, which in the lower tail is known best from the share itself.
    low = _ROOT_HALF_PI * erfcx(-_ROOT_HALF * y) / x
    return where((y < 0) & (x > 0), low, _ROOT_TWO_PI * exp(0.5 * square(y)))


@special(_ndtri_partial, restricts_domain=True)
def ndtri(x: Array, /) -> Array:
    """The inverse of `ndtr`: the quantiles of the standard normal distribution.

    >>> import symgrad as sg
    >>> float(sg.ndtri(0.5))
    0.0
    """
    import scipy.special

    return in_double(scipy.special.ndtri, x)


# --- the gamma function ---------------------------------------------------------------------------


TINY = 1e-300
"""Below, gamma(x) is 1/x to the last bit."""


AT_TWO = (
    0.42278433509846713, 0.32246703342411326, -0.0673523010531981, 0.02058080842778455,
    -0.007385551028673986, 0.0028905103307415234, -0.001192753911703261, 0.0005096695247430425,
    -0.0002231547584535794, 9.945751278180853e-05, -4.492623673813314e-05,
    2.0507212775670688e-05, -9.439488275268395e-06, 4.374866789907487e-06,
    -2.039215753801366e-06, 9.55141213040742e-07, -4.492469198764566e-07,
    2.1207184805554667e-07, -1.00432248239681e-07, 4.76981016936398e-08,
    -2.2711094608943164e-08, 1.0838659214896955e-08, -5.183475041970047e-09,
    2.4836745438024785e-09, -1.1921401405860912e-09, 5.731367241678862e-10,
)  # fmt: skip
"""The Taylor coefficients of the logarithm of gamma at 2, from the linear one on: one less Euler's
constant, then ``(-1)**k * (zeta(k) - 1) / k``. Numbers, since an import should not compute them."""


def log_gamma_near_zeros(x: Array) -> Array:
    """The logarithm of gamma within 0.3 of its zeros 1 and 2: NIST DLMF 5.7.3."""
    e = np.where(x < 1.5, x - 1, x - 2)
    total = np.zeros_like(x)
    for coefficient in AT_TWO[::-1]:
        total = (total + coefficient) * e
    return np.where(x < 1.5, total - np.log1p(e), total)


def log_gamma(x: Array, gammaln: Any) -> Array:
    """scipy's ``gammaln``, which loses digits near the zeros 1 and 2, and is right neither for the
    smallest numbers nor for -inf."""
    size = np.abs(x)
    inside = (size >= TINY) & (size < np.inf)
    edge = np.where(size < TINY, -np.log(size), np.inf)
    found = np.where(inside | np.isnan(x), gammaln(x), edge)
    is_near = (np.abs(x - 1) < 0.3) | (np.abs(x - 2) < 0.3)
    return replaced(found, is_near, log_gamma_near_zeros, x)


@special(lambda y, x: digamma(x), restricts_domain=True)
def lgamma(x: Array, /) -> Array:
    """The logarithm of ``|gamma(x)|``; plus infinity at 0, -1, -2, ….

    >>> import symgrad as sg
    >>> round(float(sg.lgamma(5.0)), 12)  # log(24)
    3.178053830348
    """
    import scipy.special

    return in_double(lambda v: log_gamma(v, scipy.special.gammaln), x)


@special(lambda y, x: y * digamma(x), restricts_domain=True)
def gamma(x: Array, /) -> Array:
    """The gamma function; ``(n - 1)!`` at a positive integer n.

    >>> import symgrad as sg
    >>> float(sg.gamma(5.0))
    24.0
    """
    import scipy.special

    return in_double(scipy.special.gamma, x)


@special(lambda y, x: polygamma_of(x, order=1), restricts_domain=True)
def digamma(x: Array, /) -> Array:
    """The derivative of `lgamma`.

    >>> import symgrad as sg
    >>> round(float(sg.digamma(1.0)), 12)  # minus Euler's constant
    -0.577215664902
    """
    import scipy.special

    return in_double(scipy.special.digamma, x)


@composite
def multigammaln(x: Array, /, d: int) -> Any:
    """The logarithm of the multivariate gamma function of dimension ``d``.

    Args:
        x: real numbers above ``(d - 1) / 2``.
        d: the dimension, a positive int.
    Raises:
        ArgumentError: another dimension.

    >>> import symgrad as sg
    >>> round(float(sg.multigammaln(3.0, 1)), 12)  # log(2)
    0.69314718056
    """
    if type(d) is not int or d < 1:
        raise ArgumentError("multigammaln", "no such dimension", expected="an int from 1 on", got=d)
    x = ops.asarray(x)
    total = lgamma(x) + d * (d - 1) / 4 * math.log(math.pi)
    for k in range(1, d):
        total = total + lgamma(x - k / 2)
    return total


# --- the beta function ----------------------------------------------------------------------------

SHIFT, TERMS = 12, 7


def digamma_falls(a: Array, b: Array, digamma: Any) -> Array:
    """``digamma(a) - digamma(a + b)`` of positive numbers, without cancellation.

    Up to `SHIFT` the recurrence, term by term; from there the difference of the asymptotic series,
    DLMF 5.11.2.
    """
    regular = (a > 0) & (b > 0) & np.isfinite(a) & np.isfinite(b)
    given = a, b
    a, b = np.where(regular, a, 1), np.where(regular, b, 1)
    total = np.zeros(np.broadcast_shapes(a.shape, b.shape))
    for k in range(SHIFT):
        total -= b / ((a + k) * (a + k + b))
    a = a + SHIFT
    rise = np.log1p(b / a)
    total -= rise
    total -= 0.5 * (b / a) / (a + b)
    for k in range(1, TERMS + 1):
        total += BERNOULLI[k - 1] / (2 * k) * np.expm1(-2 * k * rise) * a ** (-2.0 * k)
    return np.where(regular, total, digamma(given[0]) - digamma(given[0] + given[1]))


@special(
    (
        lambda y, a, b: polygamma_difference(a, b, order=1),
        lambda y, a, b: -polygamma_of(a + b, order=1),
    ),
    restricts_domain=True,
    namespace=None,
)
def digamma_difference(a: Array, b: Array, /) -> Array:
    """``digamma(a) - digamma(a + b)`` for positive numbers.

    >>> round(digamma_difference(np.asarray(1.0), np.asarray(1.0)).item(), 12)
    -1.0
    """
    import scipy.special

    return in_double(lambda a, b: digamma_falls(a, b, scipy.special.digamma), a, b)


def rest_of_ratio(p: Array, q: Array) -> Array:
    """The logarithm of ``gamma(q) / gamma(p + q) * (p + q)**p``, for q from 10 on."""
    share = np.log1p(-p / (p + q))
    return stirling_series(q) - stirling_series(q + p) + (p + (q - 0.5) * share)


def betaln_of_both_large(p: Array, q: Array) -> Array:
    """`betaln` where both numbers are at least 10, as a sum without cancellation."""
    large_p, large_q = np.maximum(p, 10), np.maximum(q, 10)
    rest = stirling_series(large_p) + stirling_series(large_q) - stirling_series(large_p + large_q)
    share = np.log1p(-p / (p + q))
    return rest + (0.5 * np.log(2 * np.pi / q) + (p - 0.5) * np.log(p / (p + q)) + q * share)


def betaln_of_large(a: Array, b: Array, gammaln: Any) -> Array:
    """`betaln` where one number is at least 10, as sums without cancellation."""
    p, q = np.minimum(a, b), np.maximum(a, b)
    one = log_gamma(p, gammaln) + rest_of_ratio(p, np.maximum(q, 10)) - p * np.log(p + q)
    return np.where(p >= 10, betaln_of_both_large(p, q), one)


def beta_of_large(a: Array, b: Array, gamma: Any) -> Array:
    """`beta` where one number is at least 10; where the other is not, not by its logarithm."""
    p, q = np.minimum(a, b), np.maximum(a, b)
    large_q = np.maximum(q, 10)
    one = gamma(p) * (p + q) ** -p * np.exp(rest_of_ratio(p, large_q))
    return np.where(p >= 10, np.exp(betaln_of_both_large(p, q)), one)


def betaln_values(a: Array, b: Array, betaln: Any, gammaln: Any) -> Array:
    """`betaln` of double-precision numbers: scipy's where that does not cancel."""
    p, q = np.minimum(a, b), np.maximum(a, b)
    large = betaln_of_large(a, b, gammaln)
    values = np.where((p > 0) & (q >= 10) & np.isfinite(large), large, betaln(a, b))
    values = np.where((p > 0) & (p < TINY) & (q < np.inf), np.log1p(p / q) - np.log(p), values)
    return np.where(np.isnan(a) | np.isnan(b), np.nan, values)


@special(
    (lambda y, a, b: digamma_difference(a, b), lambda y, a, b: digamma_difference(b, a)),
    restricts_domain=True,
)
def betaln(x1: Array, x2: Array, /) -> Array:
    """The logarithm of ``|beta(x1, x2)|``; of positive numbers without cancellation.

    Source of the form for large ones: Didonato, Morris, Algorithm 708 (1992).

    >>> import symgrad as sg
    >>> round(float(sg.betaln(2.0, 3.0)), 12)  # -log(12)
    -2.484906649788
    """
    import scipy.special

    def values(a: Array, b: Array) -> Array:
        return betaln_values(a, b, scipy.special.betaln, scipy.special.gammaln)

    return in_double(values, x1, x2)


@special(
    (
        lambda y, a, b: y * digamma_difference(a, b),
        lambda y, a, b: y * digamma_difference(b, a),
    ),
    restricts_domain=True,
)
def beta(x1: Array, x2: Array, /) -> Array:
    """The beta function ``gamma(x1) * gamma(x2) / gamma(x1 + x2)``.

    >>> import symgrad as sg
    >>> round(float(sg.beta(2.0, 3.0)), 12)  # 1/12
    0.083333333333
    """
    import scipy.special

    def values(a: Array, b: Array) -> Array:
        is_large = (np.minimum(a, b) > 0) & (np.maximum(a, b) >= 10)
        is_large &= np.maximum(a, b) < np.inf
        large = beta_of_large(a, b, scipy.special.gamma)
        return np.where(is_large, large, scipy.special.beta(a, b))

    return in_double(values, x1, x2)
