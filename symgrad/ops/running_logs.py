"""Running sums of exponentials, as logarithms.

With ``y[i] = log(exp(y[i-1]) + exp(x[i]))``, the share of the newest term is
``sigmoid(x[i] - y[i-1])`` and that of all before it ``sigmoid(y[i-1] - x[i])``. Neither is computed
as one less the other, so both keep their relative accuracy.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.ir.op import ZERO, Attrs, ops
from symgrad.ops.families import Array, reduction, require_kind
from symgrad.ops.running import axis_to_run_along, delayed, from_the_end, recurrence
from symgrad.types import TensorType, float16, float32


def _normalize(types: list[TensorType], attrs: Attrs) -> Attrs:
    return {"axis": axis_to_run_along("cumulative_logsumexp", attrs["axis"], types[0])}


def _type(x: TensorType, *, axis: int) -> TensorType:
    require_kind("cumulative_logsumexp", x.dtype, "floating")
    return x


def _later_guard(i: int, predicate: Any, y: Any, args: Any, attrs: Attrs) -> Any:
    return from_the_end(predicate, attrs["axis"]) > 0


def _shares(y: Any, x: Any, axis: int) -> tuple[Any, Any]:
    """The shares of the newest term, and of all before it; 0 where all are -inf."""
    if x.dtype == float16:
        x = ops.astype(x, float32)
        y = cumulative_logsumexp(x, axis=axis)
    nothing, before = y == -math.inf, delayed(y, axis, -math.inf)
    newest = ops.where(nothing, 0, ops.sigmoid(x - before))
    return newest, ops.where(nothing, 0, ops.sigmoid(before - x))


def _vjp(ct: Any, y: Any, x: Any, *, axis: int) -> Any:
    newest, rest = _shares(y, x, axis)
    return newest * recurrence(rest, ct, axis=axis, reverse=True)


def _jvp(tangents: Any, y: Any, args: Any, attrs: Attrs) -> Any:
    if tangents[0] is ZERO:
        return ZERO
    newest, rest = _shares(y, args[0], attrs["axis"])
    pushed = recurrence(rest, newest * tangents[0], axis=attrs["axis"], reverse=False)
    return pushed if pushed.dtype == y.dtype else ops.astype(pushed, y.dtype)


@reduction(
    type=_type, vjp=(_vjp,), jvp=_jvp, normalize=_normalize, guard=_later_guard, integers="float"
)
def cumulative_logsumexp(x: Array, /, *, axis: Any = None) -> Array:
    """The running ``log(sum(exp(x)))`` along an axis, without overflow.

    The slope of a result that is -inf is 0. Types narrower than float64 are added up in float64.

    Args:
        x: array of real floating numbers, of at least one axis; integers and booleans are cast to
            the default float type.
        axis: the axis; it may be left out if there is only one.
    Raises:
        ShapeError: the axis does not exist, or is left out. DTypeError: complex numbers.

    >>> import symgrad as sg
    >>> sg.cumulative_logsumexp(sg.asarray([1000.0, 1000.0, -1000.0]))
    Tensor([1000.        , 1000.69314718, 1000.69314718])
    """
    logs = np.logaddexp.accumulate(x, axis=axis, dtype=np.float64)
    return logs.astype(x.dtype, copy=False)
