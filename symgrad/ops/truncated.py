"""Draws of the normal distribution between two bounds, also far out in a tail.

A draw is the quantile of an even number, and so has derivatives by the bounds. The share below a
point is used by its logarithm, from the side on which the point lies, so that bounds of 30 or 300
standard deviations are as good as any.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, ShapeError
from symgrad.ir.op import no_derivative
from symgrad.ops.blocks import in_blocks_together
from symgrad.ops.draws import (
    CONSTANT_IN_KEY,
    DRAW,
    draw_attrs,
    require_key,
    strictly_between,
    words,
)
from symgrad.ops.families import Array, composite, opaque, require_kind
from symgrad.ops.normal import erfcx_values, log_ndtr_values
from symgrad.ops.parameters import (
    array_parameter,
    as_operand,
    draws_dtype,
    draws_shape,
    evenly,
    is_number,
)
from symgrad.ops.scalar import exp, isfinite, where
from symgrad.types import TensorType, broadcast_shapes

# --- quantiles ------------------------------------------------------------------------------------

LOG_2, LOG_4 = math.log(2.0), math.log(4.0)
ROOT_HALF, ROOT_TWO_OVER_PI = math.sqrt(0.5), math.sqrt(2 / math.pi)
CORRECTION = 0.147
"""Of Winitzki's formula for the inverse error function, which is good to 0.002 everywhere."""


def point_of_log_share(w: Array) -> Array:
    """Where the logarithm of the share of the normal distribution below is ``w``, at most log(1/2).

    Winitzki's formula, and Halley's method three times.
    """
    spread = LOG_4 + w + np.log1p(-np.exp(np.minimum(w, -LOG_2)))
    middle = 2 / (math.pi * CORRECTION) + spread / 2
    x = -np.sqrt(2 * (np.sqrt(middle * middle - spread / CORRECTION) - middle))
    for _ in range(3):
        slope = ROOT_TWO_OVER_PI / erfcx_values(-ROOT_HALF * x)
        step = (log_ndtr_values(x) - w) / slope
        x = x - step / (1 + step * (x + slope) / 2)
    return x


def log_share(low: Array, high: Array, u: Array) -> Array:
    """The logarithm of the share below the point that has the share ``u`` of what is between."""
    top = log_ndtr_values(high)
    rest = log_ndtr_values(low) - top
    near = np.log1p((1 - u) * np.expm1(np.maximum(rest, -1)))
    return top + np.where(rest > -1, near, np.log(u + (1 - u) * np.exp(np.minimum(rest, 0))))


def truncated_values(u: Array, low: Array, high: Array) -> Array:
    """The points with the share ``u`` of what is between two bounds, in double precision."""
    mirrored = low > 0
    a, b = np.where(mirrored, -high, low), np.where(mirrored, -low, high)
    v = np.where(mirrored, 1 - u, u)
    w = log_share(a, b, v)
    above = w > -LOG_2
    w = np.where(above, log_share(-b, -a, 1 - v), w)
    x = point_of_log_share(w)
    return np.where(mirrored != above, -x, x)


# --- the op ---------------------------------------------------------------------------------------


def _truncated_type(
    key: TensorType, low: TensorType, high: TensorType, *, shape: Any, dtype: Any
) -> TensorType:
    name = "random.truncated_normal"
    require_key(name, key)
    for argument, kind in (("lower", low), ("upper", high)):
        require_kind(name, kind.dtype, "floating", argument)
    if broadcast_shapes(name, shape, low.shape, high.shape) != shape:
        raise ShapeError(name, "the bounds broadcast to more than shape", expected=shape)
    return TensorType(shape, dtype)


def _slope_by_bound(share: Any, x: Any, bound: Any) -> Any:
    """The quotient of the densities at the bound and at the draw, times a share."""
    inside = where(isfinite(bound), bound, 0)
    return where(isfinite(bound), share * exp((x - inside) * (x + inside) / 2), 0)


@opaque(
    type=_truncated_type,
    vjp=(
        no_derivative(CONSTANT_IN_KEY),
        lambda ct, x, key, a, b, **_: ct * _slope_by_bound(1 - evenly(key, x.shape), x, a),
        lambda ct, x, key, a, b, **_: ct * _slope_by_bound(evenly(key, x.shape), x, b),
    ),
    normalize=draw_attrs,
    promotes=(1, 2),
    namespace=None,
)
def standard_truncated(key: Array, low: Array, high: Array, /, *, shape: Any, dtype: Any) -> Array:
    """Draws of the standard normal distribution between two bounds.

    >>> import symgrad as sg
    >>> x = standard_truncated(sg.random.key(0), 1.0, 2.0, shape=(100,), dtype=sg.float64)
    >>> bool(sg.all((x >= 1) & (x <= 2)))
    True
    """
    u = strictly_between(words(key, DRAW, math.prod(shape))).reshape(shape)
    bounds = np.asarray(low, np.float64), np.asarray(high, np.float64)
    x = in_blocks_together(truncated_values, (u, *bounds)).astype(dtype)
    x = np.clip(x, low, high).astype(dtype)
    return np.where(low <= high, x, np.asarray(np.nan, dtype))


@composite(namespace="random")
def truncated_normal(
    key: Array, lower: Array, upper: Array, shape: Any = None, *, dtype: Any = None
) -> Any:
    """Numbers of the standard normal distribution in [lower, upper].

    They have derivatives by the bounds. One bound may be infinite; both may lie far out.

    Args:
        key: (2,) words.
        lower, upper: numbers, or arrays that broadcast to ``shape``. Where arrays hold a lower
            bound above the upper one, the draw is NaN.
        shape: the shape of the result; if None, that to which the bounds broadcast.
        dtype: a real floating type; if None, that of the bounds, or the default float.
    Raises:
        ArgumentError: lower and upper are numbers, and lower is not below upper.
        DTypeError: dtype is no real floating type, or the key no key.
        ShapeError: a bound does not broadcast to ``shape``.

    >>> import symgrad as sg
    >>> x = sg.random.truncated_normal(sg.random.key(0), 30.0, float("inf"), (10_000,))
    >>> abs(float(sg.mean(x)) - 30.0333) < 0.001
    True
    """
    name = "random.truncated_normal"
    if is_number(lower) and is_number(upper) and not lower < upper:
        raise ArgumentError(
            name, "lower is not below upper", expected=f"less than {upper}", got=lower
        )
    lower, upper = as_operand(lower), as_operand(upper)
    shape, dtype = draws_shape(name, shape, lower, upper), draws_dtype(dtype, lower, upper)
    bounds = array_parameter(lower, dtype), array_parameter(upper, dtype)
    return standard_truncated(key, *bounds, shape=shape, dtype=dtype)
