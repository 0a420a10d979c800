"""Element-wise functions of arithmetic that numpy has beside the array API's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.ir.op import ZERO, ops
from symgrad.ops.families import Array, composite, elementwise
from symgrad.ops.interpolation import as_floating
from symgrad.ops.running import delayed
from symgrad.ops.scalar import FLAT, astype, greater, isnan, less, pow, where
from symgrad.types import complex128, float64, is_complex, normalize_axis

# --- powers ---------------------------------------------------------------------------------------

LN2 = math.log(2.0)


@elementwise(partials=lambda y, x: y * LN2, takes="floating", ufunc=np.exp2)
def exp2(x: Array, /) -> Array:
    """``2**x``.

    >>> import symgrad as sg
    >>> float(sg.exp2(3.0))
    8.0
    """
    return np.exp2(x)


@composite
def float_power(x1: Array, x2: Array, /) -> Any:
    """``x1 ** x2`` in double precision at least, also of integers and of single precision.

    Args:
        x1, x2: numbers whose shapes broadcast.
    Raises:
        ShapeError: shapes do not broadcast.

    >>> import symgrad as sg
    >>> sg.float_power(sg.asarray([2, 3]), -1)
    Tensor([0.5       , 0.33333333])
    """

    def double(x: Any) -> Any:
        x = ops.asarray(x)
        wanted = complex128 if is_complex(x.dtype) else float64
        return x if x.dtype == wanted else astype(x, wanted)

    return pow(double(x1), double(x2))


# --- extremes and steps ---------------------------------------------------------------------------


def _tie(a: Any, b: Any) -> Any:
    return (a == b) | (isnan(a) & isnan(b))


def _share(a: Any, b: Any, beats: Any, dtype: Any) -> Any:
    return where(_tie(a, b), 0.5, astype(beats(a, b) | isnan(b), dtype))


def _chosen_tangent(beats: Any) -> Any:
    """The tangent of the operand that wins: selected, since that of the other may be infinite."""

    def jvp(tangents: Any, y: Any, args: Any, attrs: Any) -> Any:
        if tangents[0] is ZERO and tangents[1] is ZERO:
            return ZERO
        (a, b), (t1, t2) = args, (0 if t is ZERO else t for t in tangents)
        chosen = where(beats(a, b) | isnan(b), t1, t2)
        return where(_tie(a, b), 0.5 * (t1 + t2), chosen)

    return jvp


@elementwise(
    partials=(
        lambda y, a, b: _share(a, b, greater, y.dtype),
        lambda y, a, b: _share(b, a, greater, y.dtype),
    ),
    jvp=_chosen_tangent(greater),
    takes="real or bool",
    integers="keep",
    commutative=True,
    warns=False,
    ufunc=np.fmax,
    live=(lambda y, a, b: (a >= b) | isnan(b), lambda y, a, b: (b >= a) | isnan(a)),
)
def fmax(x1: Array, x2: Array, /) -> Array:
    """The larger of ``x1`` and ``x2``; of a number and NaN the number. A tie shares the slope.

    >>> import symgrad as sg
    >>> float(sg.fmax(1.0, float("nan")))
    1.0
    """
    return np.fmax(x1, x2)


@elementwise(
    partials=(
        lambda y, a, b: _share(a, b, less, y.dtype),
        lambda y, a, b: _share(b, a, less, y.dtype),
    ),
    jvp=_chosen_tangent(less),
    takes="real or bool",
    integers="keep",
    commutative=True,
    warns=False,
    ufunc=np.fmin,
    live=(lambda y, a, b: (a <= b) | isnan(b), lambda y, a, b: (b <= a) | isnan(a)),
)
def fmin(x1: Array, x2: Array, /) -> Array:
    """The smaller of ``x1`` and ``x2``; of a number and NaN the number. A tie shares the slope.

    >>> import symgrad as sg
    >>> float(sg.fmin(1.0, float("nan")))
    1.0
    """
    return np.fmin(x1, x2)


def _step_jvp(tangents: Any, y: Any, args: Any, attrs: Any) -> Any:
    return ZERO if tangents[1] is ZERO else where(args[0] == 0, tangents[1], 0)


@elementwise(
    partials=(FLAT, lambda y, a, b: astype(a == 0, y.dtype)),
    jvp=_step_jvp,
    takes="floating",
    warns=False,
    ufunc=np.heaviside,
    live=(None, lambda y, a, b: a == 0),
)
def heaviside(x1: Array, x2: Array, /) -> Array:
    """The step function: 0 where ``x1`` is negative, ``x2`` where it is 0, 1 where it is positive.

    Its slope in ``x1`` is 0.

    >>> import symgrad as sg
    >>> sg.heaviside(sg.asarray([-1.0, 0.0, 2.0]), 0.5)
    Tensor([0. , 0.5, 1. ])
    """
    return np.heaviside(x1, x2)


# --- between two numbers --------------------------------------------------------------------------


@elementwise(
    partials=(
        lambda y, a, b, t: 1 - t,
        lambda y, a, b, t: t,
        lambda y, a, b, t: where(a == b, 0, b - a),
    ),
)
def lerp(x1: Array, x2: Array, weight: Array, /) -> Array:
    """``x1 + weight * (x2 - x1)``: from ``x1`` at weight 0 to ``x2`` at 1, exact at both; beyond
    them on the same line.

    Args:
        x1, x2, weight: numbers whose shapes broadcast.
    Raises:
        ShapeError: shapes do not broadcast.

    >>> import symgrad as sg
    >>> sg.lerp(sg.asarray(10.0), 20.0, sg.asarray([0.0, 0.25, 1.0]))
    Tensor([10. , 12.5, 20. ])
    """
    step = x2 - x1
    # From the nearer end; by weights where the step overflows or is no number.
    near = np.where(np.abs(weight) < 0.5, x1 + weight * step, x2 - step * (1 - weight))
    mixed = np.where(np.isfinite(step), near, x1 * (1 - weight) + x2 * weight)
    mixed = np.where(weight == 0, x1, np.where(weight == 1, x2, mixed))
    return np.where((x1 == x2) & (weight == weight), x1, mixed)


# --- angles ---------------------------------------------------------------------------------------


@composite
def deg2rad(x: Array, /) -> Any:
    """Degrees as radians: ``x * pi / 180``.

    >>> import symgrad as sg
    >>> float(sg.deg2rad(180.0)) == sg.pi
    True
    """
    return as_floating("deg2rad", "x", x) * (math.pi / 180)


@composite
def rad2deg(x: Array, /) -> Any:
    """Radians as degrees: ``x * 180 / pi``.

    >>> import symgrad as sg
    >>> float(sg.rad2deg(sg.pi))
    180.0
    """
    return as_floating("rad2deg", "x", x) * (180 / math.pi)


@composite
def angle(x: Array, /, *, deg: bool = False) -> Any:
    """The angle of complex numbers, from -pi to pi; of 0 it is 0, with slope 0.

    Args:
        x: complex or real numbers; of negative ones the angle is pi.
        deg: in degrees.

    >>> import symgrad as sg
    >>> sg.angle(sg.asarray([1j, -2.0]), deg=True)
    Tensor([ 90., 180.])
    """
    x = as_floating("angle", "x", x, real=False)
    turn = ops.atan2(ops.imag(x), ops.real(x))
    return rad2deg(turn) if deg else turn


@composite
def unwrap(
    x: Array, /, *, axis: int = -1, discont: float | None = None, period: float = 2 * math.pi
) -> Any:
    """Whole periods added so that neighbours along an axis are never more than half of one apart.

    The derivative is the identity: what is added is constant.

    Args:
        x: real numbers, of at least one axis.
        axis: which axis.
        discont: a jump of at least this much is mended; no less than half a period.
        period: what the numbers are known up to.
    Raises:
        ShapeError: no such axis. DTypeError: complex numbers.

    >>> import symgrad as sg
    >>> sg.unwrap(sg.asarray([0.0, 5.0, 6.0]), period=6.0)
    Tensor([ 0., -1.,  0.])
    """
    x = as_floating("unwrap", "x", x)
    axis = normalize_axis(axis, x.ndim, "unwrap")
    half = period / 2
    known = ops.stop_gradient(x)
    step = known - delayed(known, axis)
    within = ops.remainder(step + half, period) - half
    within = where((within == -half) & (step > 0), half, within)
    small = ops.abs(step) < (half if discont is None else discont)
    place = ops.reshape(ops.arange(x.shape[axis]), (-1, *(1,) * (x.ndim - axis - 1)))
    return x + ops.cumulative_sum(where(small | (place == 0), 0, within - step), axis=axis)
