"""The incomplete gamma and beta functions, with derivatives by all operands, to any order.

They need the extra ``special``. Formulas: NIST Digital Library of Mathematical Functions, 8.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.ir.op import ops
from symgrad.ops.families import Array
from symgrad.ops.gamma_kernels import (
    from_cumulants,
    gamma_ratio_values,
    polygamma_of_positive,
)
from symgrad.ops.incomplete_kernels import (
    beta_density_values,
    gamma_density_values,
    joint_moment,
    share_by_shapes,
)
from symgrad.ops.scalar import log, log1p, where
from symgrad.ops.special import (
    digamma,
    digamma_difference,
    digamma_falls,
    in_double,
    special,
)
from symgrad.ops.zeta import polygamma_of

# --- gamma ----------------------------------------------------------------------------------------


TINY = 1e-290


def _nothing_times(y: Any, factor: Any) -> Any:
    """``y * factor``, and 0 where ``y`` is: at the ends, where the factor is infinite."""
    return where(y == 0, 0, y * factor)


@special(
    (
        lambda y, a, x: _nothing_times(y, log(x) - digamma(a)),
        lambda y, a, x: _nothing_times(y, (a - 1 - x) / x),
    ),
    restricts_domain=True,
    namespace=None,
)
def gamma_density(a: Array, x: Array, /) -> Array:
    """``x**(a-1) * exp(-x) / gamma(a)``, the slope of `gammainc`.

    >>> round(gamma_density(np.asarray(2.0), np.asarray(1.0)).item(), 12)  # 1/e
    0.367879441171
    """
    import scipy.special

    def values(a: Array, x: Array) -> Array:
        inside = (a > 0) & (a < np.inf) & (x >= 0)
        a, x = np.where(inside, a, 1), np.abs(np.where(inside, x, 1))
        return np.where(inside, gamma_density_values(a, x, scipy.special.rgamma), np.nan)

    return in_double(values, a, x)


def _gamma_moment(a: Any, x: Any, order: int) -> Any:
    """A derivative of the density by the shape, divided by the density."""
    higher = [-polygamma_of(a, order=k) for k in range(1, order)]
    return from_cumulants([log(x) - digamma(a), *higher], order)


@special(
    (
        lambda y, a, x, *, order: ops.gammainc_by_shape(a, x, order=order + 1),
        lambda y, a, x, *, order: _nothing_times(gamma_density(a, x), _gamma_moment(a, x, order)),
    ),
    restricts_domain=True,
    namespace=None,
)
def gammainc_by_shape(a: Array, x: Array, /, *, order: int) -> Array:
    """The derivative of `gammainc` by its first operand, of some order from 1 on.

    >>> round(gammainc_by_shape(np.asarray(1.0), np.asarray(1.0), order=1).item(), 12)
    -0.431729710635
    """
    import scipy.special

    def values(a: Array, x: Array) -> Array:
        inside = (a > 0) & (a < np.inf) & (x > 0) & (x < np.inf)
        # Where 1/a overflows, the derivative is that at 0.
        shape, point = np.where(inside, np.maximum(a, TINY), 1), np.where(inside, x, 1)
        density = point * gamma_density_values(shape, point, scipy.special.rgamma)
        ratio = gamma_ratio_values(shape, np.log(point), point, order)
        at_end = (a > 0) & (a < np.inf) & ((x == 0) | (x == np.inf))
        return np.where(inside, density * ratio, np.where(at_end, 0, np.nan))

    return in_double(values, *np.broadcast_arrays(a, x))


@special(
    (
        lambda y, a, x: gammainc_by_shape(a, x, order=1),
        lambda y, a, x: gamma_density(a, x),
    ),
    restricts_domain=True,
)
def gammainc(a: Array, x: Array, /) -> Array:
    """The share of the gamma distribution of shape ``a`` below ``x``: P(a, x).

    Args:
        a: positive numbers.
        x: non-negative numbers; the shapes broadcast.

    >>> import symgrad as sg
    >>> round(float(sg.gammainc(1.0, 1.0)), 12)  # 1 - 1/e
    0.632120558829
    """
    import scipy.special

    return in_double(scipy.special.gammainc, a, x)


@special(
    (
        lambda y, a, x: -gammainc_by_shape(a, x, order=1),
        lambda y, a, x: -gamma_density(a, x),
    ),
    restricts_domain=True,
)
def gammaincc(a: Array, x: Array, /) -> Array:
    """The share of the gamma distribution of shape ``a`` above ``x``: Q(a, x) = 1 - P(a, x).

    Args:
        a: positive numbers.
        x: non-negative numbers; the shapes broadcast.

    >>> import symgrad as sg
    >>> round(float(sg.gammaincc(1.0, 1.0)), 12)  # 1/e
    0.367879441171
    """
    import scipy.special

    return in_double(scipy.special.gammaincc, a, x)


# --- beta -----------------------------------------------------------------------------------------


def _beta_slope(a: Any, b: Any, x: Any) -> Any:
    return ((a - 1) * (1 - x) - (b - 1) * x) / (x * (1 - x))


@special(
    (
        lambda y, a, b, x: _nothing_times(y, log(x) - digamma_difference(a, b)),
        lambda y, a, b, x: _nothing_times(y, log1p(-x) - digamma_difference(b, a)),
        lambda y, a, b, x: _nothing_times(y, _beta_slope(a, b, x)),
    ),
    restricts_domain=True,
    namespace=None,
)
def beta_density(a: Array, b: Array, x: Array, /) -> Array:
    """``x**(a-1) * (1-x)**(b-1) / beta(a, b)``, the slope of `betainc`.

    >>> round(beta_density(np.asarray(2.0), np.asarray(2.0), np.asarray(0.5)).item(), 12)
    1.5
    """
    import scipy.special

    def values(a: Array, b: Array, x: Array) -> Array:
        inside = (a > 0) & (a < np.inf) & (b > 0) & (b < np.inf)
        a, b = np.where(inside, a, 1), np.where(inside, b, 1)
        found = beta_density_values(a, b, x, scipy.special.gammaln, of_odds=False)
        return np.where(inside, found, np.nan)

    return in_double(values, a, b, x)


def _beta_moment(a: Any, b: Any, x: Any, order: tuple[int, int]) -> Any:
    """A derivative of the density by the shapes, divided by the density."""
    zero = ops.zeros_like(a)

    def entry(i: int, j: int) -> Any:
        if i + j < 2:
            return (
                (log1p(-x) - digamma_difference(b, a)) if j else (log(x) - digamma_difference(a, b))
            )
        own = polygamma_of(a, order=i - 1) if j == 0 else zero
        own = polygamma_of(b, order=j - 1) if i == 0 else own
        return polygamma_of(a + b, order=i + j - 1) - own

    size = sum(order) + 1
    return joint_moment([[entry(i, j) for j in range(size - i)] for i in range(size)], *order)


def _raised(order: tuple[int, int], side: int) -> tuple[int, int]:
    return order[0] + (side == 0), order[1] + (side == 1)


@special(
    (
        lambda y, a, b, x, *, order: ops.betainc_by_shapes(a, b, x, order=_raised(order, 0)),
        lambda y, a, b, x, *, order: ops.betainc_by_shapes(a, b, x, order=_raised(order, 1)),
        lambda y, a, b, x, *, order: _nothing_times(
            beta_density(a, b, x), _beta_moment(a, b, x, order)
        ),
    ),
    restricts_domain=True,
    namespace=None,
)
def betainc_by_shapes(a: Array, b: Array, x: Array, /, *, order: tuple[int, int]) -> Array:
    """A derivative of `betainc` by its first two operands, of some orders, not both 0.

    >>> one = np.asarray(1.0)
    >>> round(betainc_by_shapes(one, one, one / 2, order=(1, 0)).item(), 12)  # -log(2)/2
    -0.34657359028
    """
    import scipy.special

    def values(a: Array, b: Array, x: Array) -> Array:
        valid = (a > 0) & (a < np.inf) & (b > 0) & (b < np.inf)
        inside = valid & (x > 0) & (x < 1)
        one, two, point = (np.where(inside, v, w) for v, w in ((a, 1), (b, 1), (x, 0.5)))
        falls = tuple(
            digamma_falls(p, q, scipy.special.digamma) for p, q in ((one, two), (two, one))
        )
        ratio = share_by_shapes(one, two, point, falls, polygamma_of_positive, order)
        density = beta_density_values(one, two, point, scipy.special.gammaln, of_odds=True)
        at_end = valid & ((x == 0) | (x == 1))
        return np.where(inside, ratio * density, np.where(at_end, 0, np.nan))

    return in_double(values, *np.broadcast_arrays(a, b, x))


@special(
    (
        lambda y, a, b, x: betainc_by_shapes(a, b, x, order=(1, 0)),
        lambda y, a, b, x: betainc_by_shapes(a, b, x, order=(0, 1)),
        lambda y, a, b, x: beta_density(a, b, x),
    ),
    restricts_domain=True,
)
def betainc(a: Array, b: Array, x: Array, /) -> Array:
    """The share of the beta distribution of shapes ``a`` and ``b`` below ``x``.

    Args:
        a, b: positive numbers.
        x: numbers between 0 and 1; the shapes broadcast.

    >>> import symgrad as sg
    >>> float(sg.betainc(2.0, 2.0, 0.5))
    0.5
    """
    import scipy.special

    return in_double(scipy.special.betainc, a, b, x)
