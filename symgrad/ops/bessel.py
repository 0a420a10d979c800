"""Bessel functions and exponential integrals, by scipy: they need the extra ``special``.

Formulas: NIST Digital Library of Mathematical Functions, chapters 6, 7 and 10.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.ir.op import ops
from symgrad.ops.bessel_kernels import (
    bessel_i_values,
    bessel_j_values,
    dawson_values,
    moment_ratios,
    with_far_waves,
)
from symgrad.ops.families import Array, elementwise
from symgrad.ops.scalar import sign
from symgrad.ops.special import in_double, special

# --- of the first kind ----------------------------------------------------------------------------


def _j(x: Any, order: int) -> Any:
    return (ops.j0(x), ops.j1(x))[order] if order < 2 else ops.bessel_j(x, order=order)


@special(
    lambda y, x, *, order: 0.5 * (_j(x, order - 1) - _j(x, order + 1)),
    warns=False,
    namespace=None,
)
def bessel_j(x: Array, /, *, order: int) -> Array:
    """The Bessel function of the first kind of an order from 2 on.

    >>> bessel_j(np.asarray(0.0), order=2).item()
    0.0
    """
    import scipy.special

    def values(v: Array) -> Array:
        first = with_far_waves(v, 0, 1, scipy.special.j0)
        return bessel_j_values(v, order, first, with_far_waves(v, 1, 1, scipy.special.j1))

    return in_double(values, x)


@special(lambda y, x: -ops.j1(x), warns=False)
def j0(x: Array, /) -> Array:
    """The Bessel function of the first kind of order 0.

    >>> import symgrad as sg
    >>> float(sg.j0(0.0))
    1.0
    """
    import scipy.special

    return in_double(lambda v: with_far_waves(v, 0, 1, scipy.special.j0), x)


@special(lambda y, x: 0.5 * (j0(x) - bessel_j(x, order=2)), warns=False)
def j1(x: Array, /) -> Array:
    """The Bessel function of the first kind of order 1.

    >>> import symgrad as sg
    >>> float(sg.j1(0.0))
    0.0
    """
    import scipy.special

    return in_double(lambda v: with_far_waves(v, 1, 1, scipy.special.j1), x)


# --- of the second kind ---------------------------------------------------------------------------


@special(lambda y, x: -ops.y1(x), restricts_domain=True)
def y0(x: Array, /) -> Array:
    """The Bessel function of the second kind of order 0, for positive x; minus infinity at 0.

    >>> import symgrad as sg
    >>> round(float(sg.y0(1.0)), 12)
    0.088256964216
    """
    import scipy.special

    return in_double(lambda v: with_far_waves(v, 0, 2, scipy.special.y0), x)


@special(lambda y, x: y0(x) - y / x, restricts_domain=True)
def y1(x: Array, /) -> Array:
    """The Bessel function of the second kind of order 1, for positive x; minus infinity at 0.

    >>> import symgrad as sg
    >>> round(float(sg.y1(1.0)), 12)
    -0.7812128213
    """
    import scipy.special

    return in_double(lambda v: with_far_waves(v, 1, 2, scipy.special.y1), x)


# --- modified -------------------------------------------------------------------------------------


def _i(x: Any, order: int) -> Any:
    return (ops.i0(x), ops.i1(x))[order] if order < 2 else ops.bessel_i(x, order=order)


@special(lambda y, x, *, order: 0.5 * (_i(x, order - 1) + _i(x, order + 1)), namespace=None)
def bessel_i(x: Array, /, *, order: int) -> Array:
    """The modified Bessel function of the first kind of an order from 2 on.

    >>> bessel_i(np.asarray(0.0), order=2).item()
    0.0
    """
    import scipy.special

    def values(v: Array) -> Array:
        first, second = scipy.special.i0(v), scipy.special.i1(v)
        first = np.where(np.isinf(v), np.inf, first)
        return bessel_i_values(v, order, first, second)

    return in_double(values, x)


@special(lambda y, x: ops.i1(x))
def i0(x: Array, /) -> Array:
    """The modified Bessel function of the first kind of order 0.

    >>> import symgrad as sg
    >>> float(sg.i0(0.0))
    1.0
    """
    import scipy.special

    return in_double(lambda v: np.where(np.isinf(v), np.inf, scipy.special.i0(v)), x)


@special(lambda y, x: 0.5 * (i0(x) + bessel_i(x, order=2)))
def i1(x: Array, /) -> Array:
    """The modified Bessel function of the first kind of order 1.

    >>> import symgrad as sg
    >>> float(sg.i1(0.0))
    0.0
    """
    import scipy.special

    return in_double(lambda v: np.where(np.isinf(v), v, scipy.special.i1(v)), x)


@special(
    lambda y, x, *, order: -sign(x) * ops.i0e_moment(x, order=order + 1),
    namespace=None,
)
def i0e_moment(x: Array, /, *, order: int) -> Array:
    """The derivative of `i0e` of some order at ``|x|``, without its sign: all are positive there.

    >>> i0e_moment(np.asarray(0.0), order=2).item()
    1.5
    """
    import scipy.special

    def values(v: Array) -> Array:
        size = np.minimum(np.abs(v), 1e300)
        return moment_ratios(size, order) * scipy.special.i0e(size)

    return in_double(values, x)


@special(lambda y, x: -sign(x) * i0e_moment(x, order=1))
def i0e(x: Array, /) -> Array:
    """``exp(-|x|) * i0(x)``, without overflow; its slope at 0, where it has a kink, is 0.

    >>> import symgrad as sg
    >>> float(sg.i0e(0.0))
    1.0
    """
    import scipy.special

    return in_double(scipy.special.i0e, x)


@special(lambda y, x: i0e_moment(x, order=2) - i0e_moment(x, order=1))
def i1e(x: Array, /) -> Array:
    """``exp(-|x|) * i1(x)``, without overflow.

    >>> import symgrad as sg
    >>> float(sg.i1e(0.0))
    0.0
    """
    import scipy.special

    return in_double(scipy.special.i1e, x)


# --- integrals ------------------------------------------------------------------------------------


@special(lambda y, x, *, order: ops.dawsn_derivative(x, order=order + 1), namespace=None)
def dawsn_derivative(x: Array, /, *, order: int) -> Array:
    """The derivative of `dawsn` of some order from 1 on.

    >>> dawsn_derivative(np.asarray(0.0), order=1).item()
    1.0
    """
    import scipy.special

    return in_double(lambda v: dawson_values(v, order, scipy.special.dawsn), x)


@special(lambda y, x: dawsn_derivative(x, order=1))
def dawsn(x: Array, /) -> Array:
    """Dawson's integral, ``exp(-x**2)`` times the integral of ``exp(t**2)`` from 0 to x.

    >>> import symgrad as sg
    >>> float(sg.dawsn(0.0))
    0.0
    """
    import scipy.special

    return in_double(lambda v: dawson_values(v, 0, scipy.special.dawsn), x)


@elementwise(
    partials=lambda y, x: y * (1 - 1 / x), takes="floating", restricts_domain=True, namespace=None
)
def exp_over(x: Array, /) -> Array:
    """``exp(x) / x``.

    >>> exp_over(np.asarray(1000.0)).item()
    inf
    """
    return np.exp(x) / np.where(x == np.inf, 1, x)


@special(lambda y, x: exp_over(x), restricts_domain=True)
def expi(x: Array, /) -> Array:
    """The exponential integral: that of ``exp(t)/t`` from minus infinity to x.

    >>> import symgrad as sg
    >>> round(float(sg.expi(1.0)), 12)
    1.895117816356
    """
    import scipy.special

    return in_double(scipy.special.expi, x)


@special(lambda y, x: exp_over(-x), restricts_domain=True)
def exp1(x: Array, /) -> Array:
    """The exponential integral of ``exp(-t)/t`` from x to infinity, for positive x.

    >>> import symgrad as sg
    >>> round(float(sg.exp1(1.0)), 12)
    0.219383934396
    """
    import scipy.special

    return in_double(scipy.special.exp1, x)
