"""Activations of neural networks, beside those of `symgrad.ops.elementwise`.

Each is right at infinity as well, where a product of its factors would be 0 * inf.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, ShapeError
from symgrad.ir.op import ZERO, Attrs, ops
from symgrad.ops.elementwise import bounded, softplus
from symgrad.ops.families import Array, composite, elementwise
from symgrad.ops.scalar import abs, astype, exp, sech2, sigmoid, square, tangent_where, tanh, where
from symgrad.types import TensorType, normalize_axis

# --- exponential tails ----------------------------------------------------------------------------

SELU_ALPHA, SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946


@elementwise(
    partials=lambda y, x: SELU_SCALE * where(x > 0, ops.ones_like(y), SELU_ALPHA * exp(x)),
    takes="floating",
)
def selu(x: Array, /) -> Array:
    """`elu` with a slope and a limit that keep mean 0 and variance 1 from layer to layer.

    Source: Klambauer, Unterthiner, Mayr, Hochreiter, Self-normalizing neural networks (2017).

    >>> import symgrad as sg
    >>> sg.selu(sg.asarray([-1000.0, 0.0, 1.0]))
    Tensor([-1.75809934,  0.        ,  1.05070099])
    """
    below = SELU_ALPHA * np.expm1(np.minimum(x, 0))
    return (SELU_SCALE * np.where(x > 0, x, below)).astype(x.dtype, copy=False)


def _celu_attrs(types: list[TensorType], attrs: Attrs) -> Attrs:
    if attrs["alpha"] == 0:
        raise ArgumentError("celu", "alpha must not be 0", got=attrs["alpha"])
    return attrs


@elementwise(
    partials=lambda y, x, *, alpha: where(x > 0, ops.ones_like(y), exp(x / alpha)),
    normalize=_celu_attrs,
    takes="floating",
)
def celu(x: Array, /, alpha: float = 1.0) -> Array:
    """``x`` where it is positive, ``alpha * (e**(x/alpha) - 1)`` elsewhere: an `elu` with slope 1.

    Source: Barron, Continuously differentiable exponential linear units (2017).

    Raises:
        ArgumentError: ``alpha`` is 0.

    >>> import symgrad as sg
    >>> sg.celu(sg.asarray([-1000.0, 2.0]), alpha=0.5)
    Tensor([-0.5,  2. ])
    """
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0) / alpha))


def _mish_partial(y: Any, x: Any) -> Any:
    soft = softplus(x)
    return tanh(soft) + bounded(x) * (sech2(soft) * sigmoid(x))


@elementwise(partials=_mish_partial, takes="floating")
def mish(x: Array, /) -> Array:
    """``x * tanh(softplus(x))``.

    Source: Misra, Mish: a self regularized non-monotonic activation function (2019).

    >>> import symgrad as sg
    >>> sg.mish(sg.asarray([-1000.0, 0.0, 1000.0]))
    Tensor([  -0.,    0., 1000.])
    """
    # tanh(log(1 + e)) = e*(2 + e) / (2 + e*(2 + e)); for positive x divided by e**2.
    e = np.exp(-np.abs(x))
    below = e * (2 + e)
    kept = np.maximum(x, -800)  # as good as minus infinity, times an e of 0
    return np.where(
        x > 0, x * ((1 + 2 * e) / (1 + 2 * e + 2 * e * e)), kept * (below / (2 + below))
    )


def _squareplus_partial(y: Any, x: Any, *, b: float) -> Any:
    # y / hypot(x, sqrt(b)), by the ratio r whose square is y / (hypot(x, sqrt(b)) - y).
    r = y * (2 / math.sqrt(b))
    return where(r < 1, square(r) / (1 + square(r)), 1 / (1 + square(1 / r)))


def _squareplus_attrs(types: list[TensorType], attrs: Attrs) -> Attrs:
    if not attrs["b"] > 0:
        raise ArgumentError("squareplus", "b must be positive", got=attrs["b"])
    return attrs


@elementwise(partials=_squareplus_partial, normalize=_squareplus_attrs, takes="floating")
def squareplus(x: Array, /, b: float = 4.0) -> Array:
    """``(x + sqrt(x**2 + b)) / 2``, a smooth `relu`, accurate in its lower tail.

    Source: Barron, Squareplus: a softplus-like algebraic rectifier (2021).

    Raises:
        ArgumentError: ``b`` is not positive.

    >>> import symgrad as sg
    >>> sg.squareplus(sg.asarray([-1e9, 0.0, 1e9]))
    Tensor([1.e-09, 1.e+00, 1.e+09])
    """
    length = np.hypot(x, np.asarray(b**0.5, x.dtype))
    above = 0.5 * np.maximum(x, 0) + 0.5 * length
    return np.where(x < 0, np.asarray(0.5 * b, x.dtype) / (length - np.minimum(x, 0)), above)


# --- piecewise polynomials ------------------------------------------------------------------------


@composite
def hardtanh(x: Array, /, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """``x`` between two bounds; its slope at the bounds is 0, as that of `clip`.

    >>> import symgrad as sg
    >>> sg.hardtanh(sg.asarray([-3.0, 0.5, 3.0]))
    Tensor([-1. ,  0.5,  1. ])
    """
    return ops.clip(x, min_val, max_val)


@composite
def relu6(x: Array, /) -> Any:
    """``x`` between 0 and 6; its slope at the bounds is 0.

    >>> import symgrad as sg
    >>> sg.relu6(sg.asarray([-1.0, 3.0, 9.0]))
    Tensor([0., 3., 6.])
    """
    return ops.clip(x, 0, 6)


@composite
def hardsigmoid(x: Array, /) -> Any:
    """``(x + 3) / 6`` between 0 and 1; its slope at the bounds is 0.

    >>> import symgrad as sg
    >>> sg.hardsigmoid(sg.asarray([-4.0, 0.0, 4.0]))
    Tensor([0. , 0.5, 1. ])
    """
    return ops.clip(ops.asarray(x) + 3, 0, 6) / 6


def _swish_slope(y: Any, x: Any) -> Any:
    return where(x >= 3, ops.ones_like(y), where(x > -3, x / 3 + 0.5, 0))


def _swish_jvp(tangents: Any, y: Any, args: Any, attrs: Attrs) -> Any:
    (t,), (x,) = tangents, args
    return ZERO if t is ZERO else where(x > -3, t * _swish_slope(y, x), 0)


@elementwise(
    partials=_swish_slope,
    jvp=_swish_jvp,
    live=(lambda y, x: x > -3,),
    takes="floating",
    warns=False,
)
def hardswish(x: Array, /) -> Array:
    """``x * (x + 3) / 6`` between -3 and 3, 0 below, ``x`` above; its slope at -3 is 0, at 3 is 1.

    Source: Howard and others, Searching for MobileNetV3 (2019).

    >>> import symgrad as sg
    >>> sg.hardswish(sg.asarray([-4.0, 1.5, 4.0]))
    Tensor([-0.   ,  1.125,  4.   ])
    """
    middle = np.clip(x, -3, 3)
    return np.where(x >= 3, x, middle * ((middle + 3) / 6))


@elementwise(
    partials=lambda y, x: square(1 / (1 + abs(x))),
    takes="floating",
    warns=False,
)
def softsign(x: Array, /) -> Array:
    """``x / (1 + |x|)``.

    >>> import symgrad as sg
    >>> sg.softsign(sg.asarray([-1.0, 0.0, 3.0]))
    Tensor([-0.5 ,  0.  ,  0.75])
    """
    size = np.abs(x)
    return np.where(np.isinf(x), np.sign(x), x / (1 + np.where(np.isinf(x), 0, size)))


@elementwise(partials=lambda y, x: square(tanh(x)), takes="floating")
def tanhshrink(x: Array, /) -> Array:
    """``x - tanh(x)``, with its relative accuracy near 0.

    Source of the continued fraction: NIST DLMF, 4.39.1.

    >>> import symgrad as sg
    >>> float(sg.tanhshrink(0.0))
    0.0
    """
    near = np.clip(x, -1, 1)
    fraction = np.zeros_like(near)  # tanh(x) is x / (1 + x*x / (3 + x*x / (5 + ...)))
    for k in range(23, 1, -2):
        fraction = near * near / (k + fraction)
    return np.where(np.abs(x) < 1, near * (fraction / (1 + fraction)), x - np.tanh(x))


def _require_width(types: list[TensorType], attrs: Attrs) -> Attrs:
    if not attrs["lambd"] >= 0:
        raise ArgumentError(
            "softshrink", "lambd is negative", expected="0 or more", got=attrs["lambd"]
        )
    return attrs


def _outside(y: Any, x: Any, *, lambd: float) -> Any:
    return abs(x) > lambd


@elementwise(
    partials=lambda y, x, *, lambd: astype(abs(x) > lambd, y.dtype),
    jvp=tangent_where(_outside),
    live=(_outside,),
    normalize=_require_width,
    takes="floating",
    warns=False,
)
def softshrink(x: Array, /, lambd: float = 0.5) -> Array:
    """``x`` drawn towards 0 by ``lambd``: 0 where ``|x| <= lambd``.

    Raises:
        ArgumentError: ``lambd`` is negative.

    >>> import symgrad as sg
    >>> sg.softshrink(sg.asarray([-2.0, 0.3, 2.0]))
    Tensor([-1.5,  0. ,  1.5])
    """
    # NaN stays: it is not inside.
    return np.where(np.abs(x) <= lambd, 0, x - np.copysign(np.asarray(lambd, x.dtype), x))


@elementwise(
    partials=lambda y, x, *, lambd: astype(abs(x) > lambd, y.dtype),
    jvp=tangent_where(_outside),
    live=(_outside,),
    takes="floating",
    warns=False,
)
def hardshrink(x: Array, /, lambd: float = 0.5) -> Array:
    """``x``, and 0 where ``|x| <= lambd``.

    >>> import symgrad as sg
    >>> sg.hardshrink(sg.asarray([-2.0, 0.3, 2.0]))
    Tensor([-2.,  0.,  2.])
    """
    return np.where(np.abs(x) <= lambd, 0, x).astype(x.dtype, copy=False)


def _above(y: Any, x: Any, *, threshold: float, value: float) -> Any:
    return x > threshold


@elementwise(
    partials=lambda y, x, *, threshold, value: astype(x > threshold, y.dtype),
    jvp=tangent_where(_above),
    live=(_above,),
    takes="floating",
    warns=False,
)
def threshold(x: Array, /, threshold: float, value: float) -> Array:
    """``x`` where it lies above a threshold, ``value`` elsewhere.

    >>> import symgrad as sg
    >>> sg.threshold(sg.asarray([0.5, 2.0]), 1.0, -7.0)
    Tensor([-7.,  2.])
    """
    return np.where(x <= threshold, np.asarray(value, x.dtype), x)


@elementwise(
    partials=(
        lambda y, x, weight: where(x > 0, ops.ones_like(y), weight),
        lambda y, x, weight: where(x > 0, 0, x),
    ),
    takes="floating",
)
def prelu(x: Array, weight: Array, /) -> Array:
    """``x`` where it is positive, ``weight * x`` elsewhere: a `leaky_relu` that learns its slope.

    Args:
        x: the input.
        weight: slopes, whose shape broadcasts with that of ``x``: (channels, 1, 1) for images.

    >>> import symgrad as sg
    >>> sg.prelu(sg.asarray([-2.0, 2.0]), 0.25)
    Tensor([-0.5,  2. ])
    """
    return np.where(x > 0, x, weight * x)


# --- along an axis --------------------------------------------------------------------------------


@composite
def glu(x: Array, /, *, axis: int = -1) -> Any:
    """The first half along an axis, times `sigmoid` of the second half.

    Source: Dauphin and others, Language modeling with gated convolutional networks (2017).

    Args:
        x: an array with an even number of elements along the axis.
        axis: the axis.
    Raises:
        ShapeError: an odd number of them.

    >>> import symgrad as sg
    >>> sg.glu(sg.asarray([2.0, 3.0, 0.0, 0.0]))
    Tensor([1. , 1.5])
    """
    x = ops.asarray(x)
    axis = normalize_axis(axis, x.ndim, "glu")
    size = x.shape[axis]
    if size % 2 != 0:
        raise ShapeError("glu", "two halves along the axis", expected="an even size", got=size)
    value, gate = ops.split(x, 2, axis=axis)
    return value * sigmoid(gate)


@composite
def softmin(x: Array, /, *, axis: Any = -1) -> Any:
    """`softmax` of ``-x``.

    >>> import symgrad as sg
    >>> sg.softmin(sg.asarray([0.0, 1000.0]))
    Tensor([1., 0.])
    """
    return ops.softmax(-ops.asarray(x), axis=axis)
