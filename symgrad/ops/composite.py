"""Functions written in other ops: clip and closeness. All about them follows by expansion."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.errors import DTypeError
from symgrad.ir.op import ops
from symgrad.ops.families import Array, composite
from symgrad.ops.scalar import abs, clip_to, isfinite, isnan, maximum, minimum
from symgrad.types import Dim, DType, is_bool, is_integer

# --- clip -----------------------------------------------------------------------------------------


def _is_number(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, Dim))


def _binding(value: Any, dtype: DType, side: str) -> Any:
    """A bound, or None where it holds no value of an integer type back."""
    if type(value) is int and is_integer(dtype):
        info = np.iinfo(dtype)
        idle = value <= info.min if side == "min" else value >= info.max
        return None if idle else value
    return value


@composite
def clip(x: Array, /, min: Any = None, max: Any = None) -> Any:
    """``x`` held between two bounds; where ``min > max``, ``max`` wins. NaN stays NaN.

    On a bound that is a number, the slope is 0 (the least subgradient); at a tie with a bound that
    is an array, it is shared evenly, as `maximum` and `minimum` do.

    Args:
        x: real numbers.
        min, max: numbers, or arrays that broadcast with ``x``; None is no bound. A float bound
            turns integers into floats.
    Raises:
        DTypeError: complex or boolean ``x``. ShapeError: shapes do not broadcast.

    >>> import symgrad as sg
    >>> sg.clip(sg.asarray([-1.0, 0.5, 2.0]), 0.0, 1.0)
    Tensor([0. , 0.5, 1. ])
    """
    x = ops.asarray(x)
    if is_bool(x.dtype):
        raise DTypeError("clip", "element type of x", expected="real", got=x.dtype)
    low, high = _binding(min, x.dtype, "min"), _binding(max, x.dtype, "max")
    if _is_number(low) and _is_number(high):
        return _between_numbers(x, low, high)
    x = _between_numbers(x, low, None) if _is_number(low) else maximum(x, low)
    return _between_numbers(x, None, high) if _is_number(high) else minimum(x, high)


def _between_numbers(x: Any, low: Any, high: Any) -> Any:
    if low is None and high is None:
        return x
    if is_integer(x.dtype) and not isinstance(low, float) and not isinstance(high, float):
        x = x if low is None else maximum(x, low)
        return x if high is None else minimum(x, high)
    infinity = float("inf")
    return clip_to(x, -infinity if low is None else low, infinity if high is None else high)


# --- closeness ------------------------------------------------------------------------------------


@composite
def isclose(
    x1: Array, x2: Array, /, rtol: float = 1e-5, atol: float = 1e-8, *, equal_nan: bool = False
) -> Any:
    """Whether ``abs(x1 - x2) <= atol + rtol * abs(x2)``; infinities are close to themselves.

    Args:
        x1, x2: arrays whose shapes broadcast.
        rtol, atol: relative and absolute tolerance.
        equal_nan: whether NaN is close to NaN.

    >>> import symgrad as sg
    >>> sg.isclose(sg.asarray([1.0, 2.0]), sg.asarray([1.0, 2.1]))
    Tensor([ True, False])
    """
    x1, x2 = ops.asarray(x1), ops.asarray(x2)
    if is_bool(x1.dtype) and is_bool(x2.dtype):
        return x1 == x2
    near = (abs(x1 - x2) <= atol + rtol * abs(x2)) & isfinite(x2)
    close = near | (x1 == x2)
    return close | (isnan(x1) & isnan(x2)) if equal_nan else close


@composite
def allclose(
    x1: Array, x2: Array, /, rtol: float = 1e-5, atol: float = 1e-8, *, equal_nan: bool = False
) -> Any:
    """Whether `isclose` holds for all elements.

    >>> import symgrad as sg
    >>> bool(sg.allclose(sg.asarray([1.0, 2.0]), sg.asarray([1.0, 2.0 + 1e-9])))
    True
    """
    return ops.all(isclose(x1, x2, rtol, atol, equal_nan=equal_nan))
