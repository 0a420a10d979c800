"""Special functions whose kernels are scipy's: they need the extra ``special``.

Narrower types are computed in double precision and rounded once. Formulas: NIST Digital Library of
Mathematical Functions, chapters 5, 6, 7 and 10.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError
from symgrad.ir.op import ops
from symgrad.ops.families import Array, composite, elementwise
from symgrad.ops.scalar import exp, sign, square, where

_ROOT_PI = math.sqrt(math.pi)
_ROOT_TWO_PI = math.sqrt(2 * math.pi)


def special(partials: Any, *, warns: bool = True, **facets: Any) -> Any:
    """An element-wise op of real numbers whose kernel imports scipy."""
    return elementwise(partials=partials, takes="floating", needs="special", warns=warns, **facets)


def in_double(function: Any, *operands: Array) -> Array:
    """A function of double-precision numbers, rounded to the operands' type."""
    dtype = np.result_type(*operands)
    wide = [operand.astype(np.float64) for operand in operands]
    return np.asarray(function(*wide)).astype(dtype)


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


@special(lambda y, x: _ROOT_TWO_PI * exp(0.5 * square(y)), restricts_domain=True)
def ndtri(x: Array, /) -> Array:
    """The inverse of `ndtr`: the quantiles of the standard normal distribution.

    >>> import symgrad as sg
    >>> float(sg.ndtri(0.5))
    0.0
    """
    import scipy.special

    return in_double(scipy.special.ndtri, x)


# --- the gamma function ---------------------------------------------------------------------------


@special(lambda y, x: digamma(x), restricts_domain=True)
def lgamma(x: Array, /) -> Array:
    """The logarithm of ``|gamma(x)|``; plus infinity at 0, -1, -2, ….

    >>> import symgrad as sg
    >>> round(float(sg.lgamma(5.0)), 12)  # log(24)
    3.178053830348
    """
    import scipy.special

    return in_double(scipy.special.gammaln, x)


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


@special(
    lambda y, x, *, order: ops.polygamma_of(x, order=order + 1),
    restricts_domain=True,
    namespace=None,
)
def polygamma_of(x: Array, /, *, order: int) -> Array:
    """The derivative of `digamma` of some order, at least 1.

    >>> round(polygamma_of(np.asarray(1.0), order=1).item(), 12)  # pi**2/6
    1.644934066848
    """
    import scipy.special

    return in_double(lambda v: scipy.special.polygamma(order, v), x)


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
    if not isinstance(n, int) or isinstance(n, bool) or n < 0:
        raise ArgumentError("polygamma", "no such order", expected="an int from 0 on", got=repr(n))
    return polygamma_of(x, order=n) if n else digamma(x)


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
    if not isinstance(d, int) or isinstance(d, bool) or d < 1:
        raise ArgumentError("multigammaln", "no such dimension", expected="an int from 1 on", got=d)
    x = ops.asarray(x)
    total = lgamma(x) + d * (d - 1) / 4 * math.log(math.pi)
    for k in range(1, d):
        total = total + lgamma(x - k / 2)
    return total


# --- the beta function ----------------------------------------------------------------------------

BERNOULLI = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)
"""B(2k) / (2k) for k = 1, 2, …: DLMF 5.11.2."""

SHIFT = 12


def digamma_falls(a: Array, b: Array) -> Array:
    """``digamma(a) - digamma(a + b)`` of positive numbers, without cancellation.

    Up to `SHIFT` the recurrence, term by term; from there the difference of the asymptotic series.
    """
    total = np.zeros(np.broadcast_shapes(a.shape, b.shape))
    for k in range(SHIFT):
        total -= b / ((a + k) * (a + k + b))
    a = a + SHIFT
    rise = np.log1p(b / a)
    total -= rise
    total -= 0.5 * (b / a) / (a + b)
    for k, coefficient in enumerate(BERNOULLI, 1):
        total += coefficient * np.expm1(-2 * k * rise) * a ** (-2.0 * k)
    return total


@elementwise(
    partials=(
        lambda y, a, b: polygamma_of(a, order=1) - polygamma_of(a + b, order=1),
        lambda y, a, b: -polygamma_of(a + b, order=1),
    ),
    takes="floating",
    restricts_domain=True,
    namespace=None,
)
def digamma_difference(a: Array, b: Array, /) -> Array:
    """``digamma(a) - digamma(a + b)`` for positive numbers.

    >>> round(digamma_difference(np.asarray(1.0), np.asarray(1.0)).item(), 12)
    -1.0
    """
    return in_double(digamma_falls, a, b)


def stirling_rest(x: Array) -> Array:
    """What Stirling's formula lacks of the logarithm of gamma, for x from 10 on: DLMF 5.11.1."""
    inverse = 1 / np.square(x)
    total = np.zeros_like(x)
    for k in range(len(BERNOULLI), 0, -1):
        total = total * inverse + BERNOULLI[k - 1] / (2 * k - 1)
    return total / x


def betaln_values(a: Array, b: Array, gammaln: Any) -> Array:
    """`betaln` of double-precision numbers; large ones as sums without cancellation."""
    p, q = np.minimum(a, b), np.maximum(a, b)
    large_p, large_q = np.maximum(p, 10), np.maximum(q, 10)
    share = np.log1p(-p / (p + q))
    both = stirling_rest(large_p) + stirling_rest(large_q) - stirling_rest(large_p + large_q)
    both += 0.5 * np.log(2 * np.pi / q) + (p - 0.5) * np.log(p / (p + q)) + q * share
    one = gammaln(p) + stirling_rest(large_q) - stirling_rest(large_q + p)
    one += p - p * np.log(p + q) + (q - 0.5) * share
    none = gammaln(p) + (gammaln(q) - gammaln(p + q))
    return np.where(p >= 10, both, np.where(q >= 10, one, none))


@special(
    (lambda y, a, b: digamma_difference(a, b), lambda y, a, b: digamma_difference(b, a)),
    restricts_domain=True,
)
def betaln(x1: Array, x2: Array, /) -> Array:
    """The logarithm of the beta function, for positive numbers.

    Source of the form for large ones: Didonato, Morris, Algorithm 708 (1992).

    >>> import symgrad as sg
    >>> round(float(sg.betaln(2.0, 3.0)), 12)  # -log(12)
    -2.484906649788
    """
    import scipy.special

    return in_double(lambda a, b: betaln_values(a, b, scipy.special.gammaln), x1, x2)


@composite
def beta(x1: Array, x2: Array, /) -> Any:
    """The beta function ``gamma(a) * gamma(b) / gamma(a + b)``, for positive numbers.

    >>> import symgrad as sg
    >>> round(float(sg.beta(2.0, 3.0)), 12)  # 1/12
    0.083333333333
    """
    return exp(betaln(x1, x2))


# --- Bessel functions -----------------------------------------------------------------------------


def _over(y: Any, x: Any) -> Any:
    """``y / x`` for an odd function, which has slope 1/2 at 0."""
    return where(x == 0, 0.5, y / x)


@special(lambda y, x: ops.i1(x))
def i0(x: Array, /) -> Array:
    """The modified Bessel function of the first kind of order 0.

    >>> import symgrad as sg
    >>> float(sg.i0(0.0))
    1.0
    """
    import scipy.special

    return in_double(scipy.special.i0, x)


@special(lambda y, x: i0(x) - _over(y, x))
def i1(x: Array, /) -> Array:
    """The modified Bessel function of the first kind of order 1.

    >>> import symgrad as sg
    >>> float(sg.i1(0.0))
    0.0
    """
    import scipy.special

    return in_double(scipy.special.i1, x)


@special(lambda y, x: ops.i1e(x) - sign(x) * y)
def i0e(x: Array, /) -> Array:
    """``exp(-|x|) * i0(x)``, without overflow.

    >>> import symgrad as sg
    >>> float(sg.i0e(0.0))
    1.0
    """
    import scipy.special

    return in_double(scipy.special.i0e, x)


@special(lambda y, x: i0e(x) - _over(y, x) - sign(x) * y)
def i1e(x: Array, /) -> Array:
    """``exp(-|x|) * i1(x)``, without overflow.

    >>> import symgrad as sg
    >>> float(sg.i1e(0.0))
    0.0
    """
    import scipy.special

    return in_double(scipy.special.i1e, x)


@special(lambda y, x: -ops.j1(x), warns=False)
def j0(x: Array, /) -> Array:
    """The Bessel function of the first kind of order 0.

    >>> import symgrad as sg
    >>> float(sg.j0(0.0))
    1.0
    """
    import scipy.special

    return in_double(scipy.special.j0, x)


@special(lambda y, x: j0(x) - _over(y, x), warns=False)
def j1(x: Array, /) -> Array:
    """The Bessel function of the first kind of order 1.

    >>> import symgrad as sg
    >>> float(sg.j1(0.0))
    0.0
    """
    import scipy.special

    return in_double(scipy.special.j1, x)


# --- integrals ------------------------------------------------------------------------------------


@special(lambda y, x: 1 - 2 * (x * y), warns=False)
def dawsn(x: Array, /) -> Array:
    """Dawson's integral, ``exp(-x**2)`` times the integral of ``exp(t**2)`` from 0 to x.

    >>> import symgrad as sg
    >>> float(sg.dawsn(0.0))
    0.0
    """
    import scipy.special

    return in_double(scipy.special.dawsn, x)


@special(lambda y, x: exp(x) / x, restricts_domain=True)
def expi(x: Array, /) -> Array:
    """The exponential integral: that of ``exp(t)/t`` from minus infinity to x.

    >>> import symgrad as sg
    >>> round(float(sg.expi(1.0)), 12)
    1.895117816356
    """
    import scipy.special

    return in_double(scipy.special.expi, x)


@special(lambda y, x: -exp(-x) / x, restricts_domain=True)
def exp1(x: Array, /) -> Array:
    """The exponential integral of ``exp(-t)/t`` from x to infinity, for positive x.

    >>> import symgrad as sg
    >>> round(float(sg.exp1(1.0)), 12)
    0.219383934396
    """
    import scipy.special

    return in_double(scipy.special.exp1, x)
