"""Numbers at equal steps, and ones on a diagonal: arrays that their sizes and ends determine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, DTypeError, ShapeError, TraceError
from symgrad.ir.op import Attrs, ops
from symgrad.ops.conversion import fitting, is_weak, number, require_cpu, strength
from symgrad.ops.creation import asarray
from symgrad.ops.families import Array, composite, nondifferentiable
from symgrad.types import (
    Dim,
    TensorType,
    as_dtype,
    as_shape,
    ceil_div,
    default_float,
    is_bool,
    is_inexact,
    is_integer,
    max_size,
    promote,
    real_dtype,
)


def _range_size(start: Any, stop: Any, step: Any) -> Any:
    """How many numbers a range holds; exact for ints, which may be symbolic."""
    if any(isinstance(bound, float) for bound in (start, stop, step)):
        return max(0, math.ceil((stop - start) / step))
    return max_size(0, ceil_div(stop - start, step) if step > 0 else ceil_div(start - stop, -step))


def _range_attrs(types: Any, attrs: Attrs) -> Attrs:
    bounds = {name: attrs[name] for name in ("start", "stop", "step")}
    dtype = attrs["dtype"]
    if dtype is None:
        dtype = promote(*(0 if isinstance(bound, Dim) else bound for bound in bounds.values()))
    return {**bounds, "dtype": dtype}


@nondifferentiable(
    type=lambda *, start, stop, step, dtype: TensorType((_range_size(start, stop, step),), dtype),
    reason="an array of constants has no operand",
    normalize=_range_attrs,
    warns=False,
    namespace=None,
)
def counted(*, start: Any, stop: Any, step: Any, dtype: Any = None) -> Array:
    """Numbers at equal steps. `arange` is its public face.

    >>> counted(start=0, stop=6, step=2)
    Tensor([0, 2, 4])
    """
    return np.arange(start, stop, step).astype(dtype)


@composite
def arange(
    start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None
) -> Any:
    """Numbers from ``start`` to below ``stop``, ``step`` apart; ``arange(n)`` counts from 0.

    Args:
        start, stop, step: numbers; with ints, start and stop may be symbolic sizes.
        dtype: the element type; int64, or the default float where a bound is a float.
    Raises:
        ArgumentError: the step is 0, or a bound is no finite real number.
        DTypeError: a boolean element type, or integers of which one does not fit.
        TraceError: a symbol, or a symbolic size together with floats.

    >>> import symgrad as sg
    >>> sg.arange(2, 8, 3)
    Tensor([2, 5])
    """
    require_cpu("arange", device)
    if stop is None:
        start, stop = 0, start
    bounds = [_bound(name, b) for name, b in (("start", start), ("stop", stop), ("step", step))]
    if isinstance(bounds[2], Dim) or bounds[2] == 0:
        raise ArgumentError("arange", "the step is no step", expected="a number, not 0", got=step)
    wanted = None if dtype is None else as_dtype(dtype)
    _require_countable(bounds, wanted)
    return counted(start=bounds[0], stop=bounds[1], step=bounds[2], dtype=wanted)


def _bound(argument: str, value: Any) -> Any:
    """A bound of a range: an int, a float or a dimension."""
    if isinstance(value, Dim):
        return value
    bound = number("arange", argument, value)
    if isinstance(bound, complex) or not math.isfinite(bound):
        raise ArgumentError("arange", f"{argument} is no finite real number", got=bound)
    return int(bound) if isinstance(bound, bool) else bound


def _require_countable(bounds: Sequence[Any], dtype: np.dtype[Any] | None) -> None:
    floats = [bound for bound in bounds if isinstance(bound, float)]
    if floats and any(isinstance(bound, Dim) for bound in bounds):
        hint = "count in ints, then scale: step * sg.arange(n)"
        raise TraceError("arange", "a symbolic size needs a range of ints", hint=hint)
    if dtype is None or is_inexact(dtype):
        return
    if is_bool(dtype):
        raise DTypeError("arange", "numbers are counted", expected="a numeric type", got=dtype)
    if not floats and all(isinstance(bound, int) for bound in bounds):
        counts = range(*bounds)
        for end in (counts[0], counts[-1]) if counts else ():
            fitting("arange", end, dtype)


@composite
def linspace(
    start: Any,
    stop: Any,
    /,
    num: int,
    *,
    dtype: Any = None,
    device: Any = None,
    endpoint: bool = True,
) -> Any:
    """``num`` numbers from ``start`` to ``stop`` at equal distances.

    Args:
        start, stop: numbers; symbols or tensors without axes, which are differentiated.
        num: how many; a symbolic size gives a symbol.
        dtype: the element type; the default float (or complex) if None.
        endpoint: whether ``stop`` is the last of them.
    Raises:
        ArgumentError: ``num`` is no int, or negative.

    >>> import symgrad as sg
    >>> sg.linspace(0.0, 1.0, 5)
    Tensor([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    require_cpu("linspace", device)
    _require_number_of(num)
    given = [start, stop]
    if isinstance(num, Dim) or any(hasattr(end, "__front_rank__") for end in given):
        return _spread(given, num, dtype, endpoint)
    ends = number("linspace", "start", start), number("linspace", "stop", stop)
    values = np.linspace(*ends, num, endpoint=endpoint)
    wanted = promote(*ends, 0.0) if dtype is None else as_dtype(dtype)
    return asarray(np.floor(values) if is_integer(wanted) else values, dtype=wanted)


def _require_number_of(num: Any) -> None:
    if isinstance(num, Dim):
        return
    if isinstance(num, bool) or not isinstance(num, (int, np.integer)) or num < 0:
        raise ArgumentError("linspace", "num counts", expected="an int, 0 or more", got=repr(num))


def _spread(ends: list[Any], num: Any, dtype: Any, endpoint: bool) -> Any:
    """A range of ops: each end is exact, since its weight is 1 and the other's 0."""
    start, stop = (end if is_weak(end) else asarray(end) for end in ends)
    for name, end in (("start", start), ("stop", stop)):
        if np.ndim(end) > 0:
            raise ShapeError("linspace", f"{name} has axes", expected="none", got=end.type)
    found = promote(strength(start), strength(stop), 0.0)
    wanted = found if dtype is None else as_dtype(dtype)
    parts = num if not endpoint else max_size(num - 1, 1)
    weights = ops.astype(arange(num), real_dtype(found)) / parts
    values = start * (1 - weights) + stop * weights
    if is_integer(wanted):
        values = ops.floor(values)
    return values if values.dtype == wanted else ops.astype(values, wanted)


@nondifferentiable(
    type=lambda *, n_rows, n_cols, k, dtype: TensorType((n_rows, n_cols), dtype),
    reason="an array of constants has no operand",
    warns=False,
    namespace=None,
)
def identity_like(*, n_rows: Any, n_cols: Any, k: int, dtype: Any) -> Array:
    """Ones on a diagonal. `eye` is its public face.

    >>> identity_like(n_rows=1, n_cols=2, k=1, dtype="int64")
    Tensor([[0, 1]])
    """
    return np.eye(n_rows, n_cols, k, dtype)


@composite
def eye(
    n_rows: Any,
    n_cols: Any = None,
    /,
    *,
    k: int = 0,
    dtype: Any = None,
    device: Any = None,
) -> Any:
    """A matrix of zeros with ones on its ``k``-th diagonal.

    Args:
        n_rows, n_cols: its sizes, which may be symbolic; square if the second is None.
        k: which diagonal: above the main one if positive, below if negative.
        dtype: the element type; the default float if None.
    Raises:
        ShapeError: a size is negative.

    >>> import symgrad as sg
    >>> sg.eye(2)
    Tensor([[1., 0.],
            [0., 1.]])
    """
    require_cpu("eye", device)
    rows, columns = as_shape((n_rows, n_rows if n_cols is None else n_cols), "eye")
    wanted = default_float() if dtype is None else as_dtype(dtype)
    return identity_like(n_rows=rows, n_cols=columns, k=k, dtype=wanted)
