"""Element-wise functions beyond the scalar table: activations, the error function, sinc, roots.

Each has its own kernel, stable over the whole range, and partials that keep their relative accuracy
in the tails.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError
from symgrad.ir.op import Attrs, ops
from symgrad.ops.blocks import in_blocks
from symgrad.ops.erf_kernels import bell_values, erf_values, erfc_values, normal_cdf_values
from symgrad.ops.families import Array, elementwise
from symgrad.ops.scalar import astype, exp, log, sigmoid, square, tangent_where, where
from symgrad.ops.sinc_kernels import sinc_values
from symgrad.types import TensorType

# --- rectifiers -----------------------------------------------------------------------------------


# All read the result, not the operand: that is what a network keeps anyway, and the operand may
# be overwritten by it.
@elementwise(
    partials=lambda y, x: astype(y > 0, y.dtype),
    vjp=lambda i, ct, y, args, attrs: where(y > 0, ct, 0),
    jvp=tangent_where(lambda y, x: y > 0),
    takes="real",
    integers="keep",
    warns=False,
    live=(lambda y, x: y > 0,),
)
def relu(x: Array, /) -> Array:
    """The positive part ``max(x, 0)``; its slope at 0 is 0, and NaN stays NaN.

    Element-wise, for real numbers of any type; the result has the type of ``x``.

    >>> import symgrad as sg
    >>> sg.relu(sg.asarray([-1.0, 0.0, 2.0]))
    Tensor([0., 0., 2.])
    """
    return np.maximum(x, 0)


@elementwise(
    partials=lambda y, x, *, negative_slope: where(x > 0, ops.ones_like(y), negative_slope),
    takes="floating",
    warns=False,
)
def leaky_relu(x: Array, /, negative_slope: float = 0.01) -> Array:
    """``x`` where it is positive, ``negative_slope * x`` elsewhere, 0 included.

    >>> import symgrad as sg
    >>> sg.leaky_relu(sg.asarray([-1.0, 2.0]))
    Tensor([-0.01,  2.  ])
    """
    return np.where(x > 0, x, x * negative_slope)


@elementwise(
    partials=lambda y, x, *, alpha: where(x > 0, ops.ones_like(y), alpha * exp(x)),
    takes="floating",
)
def elu(x: Array, /, alpha: float = 1.0) -> Array:
    """``x`` where it is positive, ``alpha * (e**x - 1)`` elsewhere.

    Source: Clevert, Unterthiner, Hochreiter, Fast and accurate deep network learning by exponential
    linear units (2016).

    >>> import symgrad as sg
    >>> sg.elu(sg.asarray([-1000.0, 2.0]))
    Tensor([-1.,  2.])
    """
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


# --- around the logistic function -----------------------------------------------------------------


@elementwise(partials=lambda y, x: sigmoid(x), takes="floating")
def softplus(x: Array, /) -> Array:
    """``log(1 + e**x)``, a smooth ``relu``, without overflow and accurate in both tails.

    >>> import symgrad as sg
    >>> float(sg.softplus(1000.0))
    1000.0
    """
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


@elementwise(partials=lambda y, x: sigmoid(-x), takes="floating")
def log_sigmoid(x: Array, /) -> Array:
    """``log(sigmoid(x)) = -softplus(-x)``, without overflow and accurate in both tails.

    >>> import symgrad as sg
    >>> float(sg.log_sigmoid(-1000.0))
    -1000.0
    """
    return np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))


def bounded(x: Any, limit: float = 1e4) -> Any:
    """``x``, but finite: as a factor beside one that vanishes faster than it grows."""
    return ops.clip_to(x, -limit, limit)


def _silu_partial(y: Any, x: Any) -> Any:
    return sigmoid(x) * (1 + bounded(x) * sigmoid(-x))


def gated(x: Array, gate: Array) -> Array:
    """``x * sigmoid(gate)``, for a gate that falls as fast as ``x`` or faster: 0 at -inf."""
    e = np.exp(-np.abs(gate))
    return np.where(gate >= 0, x, np.maximum(x, -800) * e) / (1 + e)


@elementwise(partials=_silu_partial, takes="floating")
def silu(x: Array, /) -> Array:
    """``x * sigmoid(x)``, also called swish.

    Source: Elfwing, Uchibe, Doya, Sigmoid-weighted linear units (2018).

    >>> import symgrad as sg
    >>> sg.silu(sg.asarray([-1000.0, 0.0]))
    Tensor([-0.,  0.])
    """
    return gated(x, x)


@elementwise(partials=lambda y, x: 1 / (x * (1 - x)), takes="floating", restricts_domain=True)
def logit(x: Array, /) -> Array:
    """``log(x / (1 - x))``, the inverse of the logistic function, for x between 0 and 1.

    >>> import symgrad as sg
    >>> float(sg.logit(0.5))
    0.0
    """
    return np.log(x) - np.log1p(-x)


# --- around the normal distribution ---------------------------------------------------------------

_ERF_SLOPE = 2 / math.sqrt(math.pi)
_ROOT_HALF = math.sqrt(0.5)
_DENSITY = 1 / math.sqrt(2 * math.pi)
TANH_SCALE, TANH_CUBE = 2 * math.sqrt(2 / math.pi), 0.044715


@elementwise(
    partials=lambda y, x, *, rate: (-2 * rate) * (bounded(x) * y),
    takes="floating",
    warns=False,
    namespace=None,
)
def bell(x: Array, /, *, rate: float) -> Array:
    """``exp(-rate * x**2)`` for a rate of 1 or 1/2, accurate in the tails, where the rounding of
    the square would cost digits.

    >>> round(bell(np.asarray(30.0), rate=0.5).item() * 1e196, 10)  # e**-450
    3.6938830685
    """
    return in_blocks(bell_values, x, rate)


@elementwise(partials=lambda y, x: _ERF_SLOPE * bell(x, rate=1.0), takes="floating", warns=False)
def erf(x: Array, /) -> Array:
    """The error function, ``2/sqrt(pi)`` times the integral of ``exp(-t**2)`` from 0 to x.

    Accurate to a few units in the last place. Source: NIST DLMF, section 7.2.

    >>> import symgrad as sg
    >>> round(float(sg.erf(0.5)), 12)
    0.520499877813
    """
    return in_blocks(erf_values, x)


@elementwise(partials=lambda y, x: -_ERF_SLOPE * bell(x, rate=1.0), takes="floating", warns=False)
def erfc(x: Array, /) -> Array:
    """``1 - erf(x)``, with its relative accuracy where it is small.

    >>> import symgrad as sg
    >>> round(float(sg.erfc(10.0)) * 1e45, 9)
    2.088487584
    """
    return in_blocks(erfc_values, x)


def _gelu_partial(y: Any, x: Any, *, approximate: str) -> Any:
    x = bounded(x, 60.0)
    if approximate == "none":
        return 0.5 * erfc(-_ROOT_HALF * x) + x * (_DENSITY * exp(-0.5 * square(x)))
    gate = TANH_SCALE * (x + TANH_CUBE * (x * square(x)))
    slope = TANH_SCALE * (1 + 3 * TANH_CUBE * square(x))
    return sigmoid(gate) * (1 + x * slope * sigmoid(-gate))


def _gelu_attrs(types: list[TensorType], attrs: Attrs) -> Attrs:
    if attrs["approximate"] not in ("none", "tanh"):
        raise ArgumentError(
            "gelu",
            "unknown approximation",
            expected="'none' or 'tanh'",
            got=repr(attrs["approximate"]),
        )
    return attrs


def gelu_values(x: Array, approximate: str) -> Array:
    """`gelu` of double-precision numbers."""
    if approximate == "none":
        return np.maximum(x, -40) * normal_cdf_values(x)
    x = np.maximum(x, -60)  # the limit at minus infinity
    return gated(x, TANH_SCALE * (x + TANH_CUBE * x * x * x))


@elementwise(partials=_gelu_partial, normalize=_gelu_attrs, takes="floating")
def gelu(x: Array, /, approximate: str = "none") -> Array:
    """``x`` times the share of the standard normal distribution below ``x``.

    Source: Hendrycks, Gimpel, Gaussian error linear units (2016).

    Args:
        x: array of real floating numbers; integers are cast to the default float type.
        approximate: "none": exact, also in relative terms in the lower tail; "tanh": the usual
            formula by tanh.
    Raises:
        ArgumentError: another ``approximate``.

    >>> import symgrad as sg
    >>> sg.gelu(sg.asarray([-1000.0, 0.0, 1000.0]))
    Tensor([  -0.,    0., 1000.])
    """
    return in_blocks(gelu_values, x, approximate)


# --- sinc -----------------------------------------------------------------------------------------


@elementwise(partials=lambda y, x: sinc_derivative(x, order=1), takes="floating", warns=False)
def sinc(x: Array, /) -> Array:
    """``sin(pi*x) / (pi*x)``, and 1 at 0; all its derivatives are right there as well.

    >>> import symgrad as sg
    >>> sg.sinc(sg.asarray([0.0, 0.5, 1.0]))
    Tensor([1.        , 0.63661977, 0.        ])
    """
    return in_blocks(sinc_values, x, 0)


@elementwise(
    partials=lambda y, x, *, order: ops.sinc_derivative(x, order=order + 1),
    takes="floating",
    warns=False,
    namespace=None,
)
def sinc_derivative(x: Array, /, *, order: int) -> Array:
    """The derivative of `sinc` of some order.

    >>> sinc_derivative(np.asarray(0.0), order=1).item()
    0.0
    """
    return in_blocks(sinc_values, x, order)


# --- roots and logarithms -------------------------------------------------------------------------


@elementwise(partials=lambda y, x: -0.5 * (y / x), restricts_domain=True)
def rsqrt(x: Array, /) -> Array:
    """``1 / sqrt(x)``.

    >>> import symgrad as sg
    >>> float(sg.rsqrt(4.0))
    0.5
    """
    return 1 / np.sqrt(x)


@elementwise(
    partials=lambda y, x: 1 / (3 * square(y)),
    takes="floating",
    restricts_domain=True,
    ufunc=np.cbrt,
)
def cbrt(x: Array, /) -> Array:
    """The real cube root, of negative numbers too.

    >>> import symgrad as sg
    >>> float(sg.cbrt(-8.0))
    -2.0
    """
    return np.cbrt(x)


@elementwise(
    partials=(
        lambda y, a, b: where((a == 0) & (b == 0), 0, log(b)),
        lambda y, a, b: where(a == 0, 0, a / b),
    ),
    takes="floating",
    restricts_domain=True,
)
def xlogy(x1: Array, x2: Array, /) -> Array:
    """``x1 * log(x2)``, and 0 where ``x1`` is 0 (unless ``x2`` is NaN). Its slopes at (0, 0) are 0.

    >>> import symgrad as sg
    >>> sg.xlogy(sg.asarray([0.0, 2.0]), sg.asarray([0.0, 1.0]))
    Tensor([0., 0.])
    """
    return np.where((x1 == 0) & ~np.isnan(x2), 0, x1 * np.log(x2))
