"""Bessel functions and exponential integrals, by scipy: they need the extra ``special``.

Formulas: NIST Digital Library of Mathematical Functions, chapters 6, 7 and 10.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.ir.op import ops
from symgrad.ops.families import Array
from symgrad.ops.scalar import exp, sign, where
from symgrad.ops.special import in_double, special

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

    return in_double(lambda v: np.where(np.isinf(v), np.inf, scipy.special.i0(v)), x)


@special(lambda y, x: i0(x) - _over(y, x))
def i1(x: Array, /) -> Array:
    """The modified Bessel function of the first kind of order 1.

    >>> import symgrad as sg
    >>> float(sg.i1(0.0))
    0.0
    """
    import scipy.special

    return in_double(lambda v: np.where(np.isinf(v), v, scipy.special.i1(v)), x)


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

    return in_double(lambda v: np.where(np.isinf(v), 0, scipy.special.j0(v)), x)


@special(lambda y, x: j0(x) - _over(y, x), warns=False)
def j1(x: Array, /) -> Array:
    """The Bessel function of the first kind of order 1.

    >>> import symgrad as sg
    >>> float(sg.j1(0.0))
    0.0
    """
    import scipy.special

    return in_double(lambda v: np.where(np.isinf(v), 0, scipy.special.j1(v)), x)


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
