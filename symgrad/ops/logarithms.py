"""Logarithms of sums and differences of exponentials, element by element."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.ir.op import ops
from symgrad.ops.blocks import in_blocks
from symgrad.ops.families import Array, elementwise
from symgrad.ops.scalar import abs, copysign, where

LN2, LN2_REST = math.log(2.0), 2.3190468138462996e-17
"""The logarithm of 2, and what its rounding left off."""


# --- differences of exponentials ------------------------------------------------------------------


@elementwise(
    partials=lambda y, x: y * ops.inverse_expm1(-x),
    takes="floating",
    restricts_domain=True,
    namespace=None,
)
def inverse_expm1(x: Array, /) -> Array:
    """``1 / (e**x - 1)``, whose slope ``-e**x / (e**x - 1)**2`` is the product of its values at
    ``x`` and ``-x``: so no order of derivative overflows.

    >>> inverse_expm1(np.asarray(1000.0)).item()
    0.0
    """
    return 1 / np.expm1(x)


def _log1mexp_partial(y: Any, x: Any) -> Any:
    return copysign(1, x) * inverse_expm1(abs(x))


@elementwise(partials=_log1mexp_partial, takes="floating", restricts_domain=True)
def log1mexp(x: Array, /) -> Array:
    """``log(1 - e**-|x|)``, accurate for small and for large ``x``.

    The sign of ``x`` does not matter: it is ``log(1 - e**x)`` for negative and ``log(1 - e**-x)``
    for positive numbers, which is what libraries mean by this name. At 0, the value is minus
    infinity and the slope infinite, with the sign of the zero.

    Source: Maechler, Accurately computing log(1 - exp(-|a|)) (2012).

    >>> import symgrad as sg
    >>> round(float(sg.log1mexp(1.0)), 12)
    -0.458675145387
    """
    size = np.abs(x)
    near = np.log(-np.expm1(-np.minimum(size, 1)))
    return np.where(size < LN2, near, np.log1p(-np.exp(-np.maximum(size, 0.5))))


def logexpm1_values(x: Array) -> Array:
    """`logexpm1` of double-precision numbers."""
    # Around its zero, log(2): e**x - 2 = 2 * (e**(x - log(2)) - 1).
    middle = np.log1p(2 * np.expm1((np.clip(x, 0.4, 1.2) - LN2) - LN2_REST))
    low = np.log(np.expm1(np.minimum(x, 0.4)))
    high = x + np.log1p(-np.exp(-np.maximum(x, 1.2)))
    return np.where(x < 0.4, low, np.where(x < 1.2, middle, high))


@elementwise(partials=lambda y, x: -inverse_expm1(-x), takes="floating", restricts_domain=True)
def logexpm1(x: Array, /) -> Array:
    """``log(e**x - 1)`` for positive ``x``, the inverse of `softplus`, without overflow.

    >>> import symgrad as sg
    >>> sg.logexpm1(sg.softplus(sg.asarray([-30.0, 1000.0])))
    Tensor([ -30., 1000.])
    """
    return in_blocks(logexpm1_values, x)


# --- sums of powers of two ------------------------------------------------------------------------


@elementwise(
    partials=lambda y, x: LN2 * (y * ops.logistic2(-x)),
    takes="floating",
    warns=False,
    namespace=None,
)
def logistic2(x: Array, /) -> Array:
    """``1 / (1 + 2**-x)``, accurate in its lower tail.

    >>> logistic2(np.asarray(-1.0)).item() * 3
    1.0
    """
    e = np.exp2(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + e), e / (1 + e))


@elementwise(
    partials=(
        lambda y, a, b: where(y == -math.inf, 0, logistic2(a - b)),
        lambda y, a, b: where(y == -math.inf, 0, logistic2(b - a)),
    ),
    takes="floating",
    commutative=True,
    ufunc=np.logaddexp2,
)
def logaddexp2(x1: Array, x2: Array, /) -> Array:
    """``log2(2**x1 + 2**x2)``, without overflow.

    >>> import symgrad as sg
    >>> float(sg.logaddexp2(1000.0, 1000.0))
    1001.0
    """
    return np.logaddexp2(x1, x2)
