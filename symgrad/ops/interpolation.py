"""Between two numbers, and between the points of a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, DTypeError, ShapeError
from symgrad.ir.op import ops
from symgrad.ops.families import Array, composite, elementwise
from symgrad.ops.sorting import searchsorted
from symgrad.types import (
    Size,
    default_float,
    float64,
    is_complex,
    is_inexact,
    require_equal,
)


def as_floating(where: str, argument: str, value: Any, *, real: bool = True) -> Any:
    """An array or number as an array of floating numbers.

    Raises:
        DTypeError: complex numbers, where real ones are asked for.
    """
    array = ops.asarray(value)
    if real and is_complex(array.dtype):
        raise DTypeError(where, f"element type of {argument}", expected="real", got=array.dtype)
    return array if is_inexact(array.dtype) else ops.astype(array, default_float())


def count_of(size: Size, dtype: Any = float64) -> Any:
    """A size as a number to compute with."""
    return size if isinstance(size, int) else ops.size(dim=size, dtype=dtype)


@elementwise(
    partials=(
        lambda y, a, b, t: 1 - t,
        lambda y, a, b, t: t,
        lambda y, a, b, t: ops.where(a == b, 0, b - a),
    ),
    namespace=None,
)
def blend(a: Array, b: Array, t: Array, /) -> Array:
    """``a + t * (b - a)`` for ``t`` from 0 to 1, and beyond these as there.

    Steady in ``t``, never beyond ``a`` and ``b``, and exact at both; an infinite end that has no
    weight does not count.

    >>> blend(np.array(1.0), np.array([3.0, np.inf]), np.array([0.25, 0.0]))
    Tensor([1.5, 1. ])
    """
    step = b - a
    # From the nearer end: so it never falls while t grows. Where the step is no number, and halfway
    # (the mean, rounded once), by weights.
    steady = np.where(t < 0.5, a + step * t, b - step * (1 - t))
    mixed = np.where(np.isfinite(step) & (t != 0.5), steady, a * (1 - t) + b * t)
    if mixed.dtype.kind == "f":
        mixed = np.minimum(np.maximum(mixed, np.minimum(a, b)), np.maximum(a, b))
    mixed = np.where((a == b) & (t == t), a, mixed)
    return np.where(t == 0, a, np.where(t == 1, b, mixed)).astype(mixed.dtype, copy=False)


# --- tables ---------------------------------------------------------------------------------------


def _table(xp: Any, fp: Any) -> tuple[Any, Any]:
    """The points of a table and their values."""
    xp, fp = as_floating("interp", "xp", xp), as_floating("interp", "fp", fp, real=False)
    for name, value in (("xp", xp), ("fp", fp)):
        if value.ndim != 1:
            raise ShapeError("interp", f"axes of {name}", expected="1 axis", got=value.type)
    if require_equal(xp.shape[0], fp.shape[0], "interp", "sizes of xp and fp") == 0:
        raise ShapeError("interp", "a table without points", expected="at least one point", got=0)
    return xp, fp


def _repeated(x: Any, xp: Any, fp: Any, period: Any) -> tuple[Any, Any, Any]:
    """A table of one period, with a point added at either end."""
    if isinstance(period, bool) or not isinstance(period, (int, float)) or not period:
        raise ArgumentError("interp", "period", expected="a number, not 0", got=repr(period))
    period = abs(float(period))
    x, xp = ops.remainder(x, period), ops.remainder(xp, period)
    order = ops.argsort(xp)
    xp, fp = ops.take(xp, order), ops.take(fp, order)
    xp = ops.concat([xp[-1:] - period, xp, xp[:1] + period])
    return x, xp, ops.concat([fp[-1:], fp, fp[:1]])


@composite
def interp(
    x: Array,
    xp: Array,
    fp: Array,
    /,
    *,
    left: Array | None = None,
    right: Array | None = None,
    period: Any = None,
) -> Any:
    """The function through the points ``(xp, fp)``, straight between them, at ``x``.

    It is differentiable in ``x``, ``xp`` and ``fp``. At a point of the table its slope in ``x`` is
    that to the right of it; at the last one, that to the left. Outside of the table it is 0.

    Args:
        x: real numbers, of any shape.
        xp: the places of the points, in ascending order unless there is a period; one axis.
        fp: the values there, which may be complex.
        left, right: what the function is below ``xp[0]`` and above ``xp[-1]``; the value at that
            end if None. Numbers, or arrays that broadcast with ``x``.
        period: repeats the table; ``left`` and ``right`` are then not used.
    Raises:
        ShapeError: ``xp`` and ``fp`` are not of one axis and one size, or empty.
        DTypeError: complex ``x`` or ``xp``. ArgumentError: a period of 0.

    >>> import symgrad as sg
    >>> sg.interp(sg.asarray([0.5, 2.5, 9.0]), sg.asarray([0.0, 1.0, 3.0]), sg.asarray([0, 10, 50]))
    Tensor([ 5., 40., 50.])
    """
    xp, fp = _table(xp, fp)
    x = as_floating("interp", "x", x)
    if period is not None:
        x, xp, fp = _repeated(x, xp, fp, period)
    inside = _between_points(x, xp, fp)
    if period is not None:
        return inside
    below = ops.where(x < xp[0], fp[0] if left is None else left, inside)
    return ops.where(x > xp[-1], fp[-1] if right is None else right, below)


def _between_points(x: Any, xp: Any, fp: Any) -> Any:
    last = count_of(xp.shape[0] - 1, "int64")
    upper = ops.minimum(ops.maximum(searchsorted(xp, x, side="right"), 1), last)
    lower = ops.maximum(upper - 1, 0)
    start, end = ops.take(xp, lower), ops.take(xp, upper)
    # Only at the end of a table can both points be in one place.
    t = ops.where(end == start, 1, (x - start) / (end - start))
    return blend(ops.take(fp, lower), ops.take(fp, upper), t)
