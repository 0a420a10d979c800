"""Arrays from nothing, from numbers and from other libraries' arrays.

A shape that holds a symbolic dimension gives a symbol, any other a tensor.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from symgrad.errors import ArgumentError, DTypeError, TraceError
from symgrad.ir.late import late
from symgrad.ir.op import Attrs, ops
from symgrad.ir.symbol import Symbol, apply_symbolic
from symgrad.ops.conversion import fitting, number, require_cpu, values_of
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
)

# --- constant arrays ----------------------------------------------------------------------------


def _filled_attrs(types: Any, attrs: Attrs) -> Attrs:
    value = attrs["fill_value"]
    dtype = promote(value) if attrs["dtype"] is None else attrs["dtype"]
    return {
        "shape": as_shape(attrs["shape"], "full"),
        "fill_value": fitting("full", value, dtype),
        "dtype": dtype,
    }


@nondifferentiable(
    type=lambda *, shape, fill_value, dtype: TensorType(shape, dtype),
    reason="an array of constants has no operand",
    normalize=_filled_attrs,
    warns=False,
    namespace=None,
)
def filled(*, shape: Any, fill_value: Any, dtype: Any = None) -> Array:
    """The array that has the same number everywhere. `full` is its public face."""
    return np.full(shape, fill_value, dtype)


@composite
def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """An array that has the same value everywhere.

    Args:
        shape: one size or a tuple of sizes, which may be symbolic.
        fill_value: a number; a symbol or tensor is broadcast, and differentiated.
        dtype: the element type; that of the value if None.
        device: None or "cpu".
    Raises:
        DTypeError: the value does not fit the type. ShapeError: a size is negative.

    >>> import symgrad as sg
    >>> sg.full((2, 2), 7.0)
    Tensor([[7., 7.],
            [7., 7.]])
    """
    require_cpu("full", device)
    sizes = as_shape(shape, "full")
    if hasattr(fill_value, "__front_rank__"):
        value = fill_value if dtype is None else ops.astype(fill_value, dtype)
        return ops.broadcast_to(value, sizes)
    if dtype is None and hasattr(fill_value, "dtype"):
        dtype = fill_value.dtype
    value = number("full", "fill_value", fill_value)
    return filled(shape=sizes, fill_value=value, dtype=dtype)


@composite
def zeros(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """An array of zeros, of the default float type if none is named.

    >>> import symgrad as sg
    >>> sg.zeros((3,))
    Tensor([0., 0., 0.])
    """
    return full(shape, 0, dtype=default_float() if dtype is None else dtype, device=device)


@composite
def ones(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """An array of ones, of the default float type if none is named.

    >>> import symgrad as sg
    >>> sg.ones(2, dtype="int32")
    Tensor([1, 1], dtype=int32)
    """
    return full(shape, 1, dtype=default_float() if dtype is None else dtype, device=device)


@composite
def full_like(x: Array, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """An array of the shape and element type of ``x`` that has the same value everywhere.

    It does not depend on the values of ``x``, but is a symbol where ``x`` is one.

    >>> import symgrad as sg
    >>> sg.full_like(sg.asarray([1.0, 2.0]), 5)
    Tensor([5., 5.])
    """
    like = asarray(x)
    dtype = like.dtype if dtype is None else dtype
    if isinstance(like, Symbol) and isinstance(fill_value, (bool, int, float, complex)):
        require_cpu("full_like", device)
        return apply_symbolic(
            filled, (), {"shape": like.shape, "fill_value": fill_value, "dtype": as_dtype(dtype)}
        )
    return full(like.shape, fill_value, dtype=dtype, device=device)


@composite
def zeros_like(x: Array, /, *, dtype: Any = None, device: Any = None) -> Any:
    """Zeros of the shape and element type of ``x``.

    >>> import symgrad as sg
    >>> sg.zeros_like(sg.asarray([1.0, 2.0]))
    Tensor([0., 0.])
    """
    return full_like(x, 0, dtype=dtype, device=device)


@composite
def ones_like(x: Array, /, *, dtype: Any = None, device: Any = None) -> Any:
    """Ones of the shape and element type of ``x``.

    >>> import symgrad as sg
    >>> sg.ones_like(sg.asarray([1, 2]))
    Tensor([1, 1])
    """
    return full_like(x, 1, dtype=dtype, device=device)


@composite
def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Any:
    """A tensor of anything array-like; a symbol stays a symbol.

    Args:
        obj: a number, an array, a tensor, a symbol, or nested lists of these (of numbers and
            arrays only: a tensor; with tensors or symbols: they are stacked).
        dtype: the element type; that of the values if None (Python floats: the default float).
        device: None or "cpu".
        copy: True copies always, False never, None where the element type changes. What was not
            copied follows later changes of the array.
    Raises:
        DTypeError: not numbers, or numbers that do not fit. ShapeError: lists of different lengths.
        ArgumentError: ``copy=False`` cannot be kept.

    >>> import symgrad as sg
    >>> sg.asarray([[1, 2], [3, 4]])
    Tensor([[1, 2],
            [3, 4]])
    """
    require_cpu("asarray", device)
    wanted = None if dtype is None else as_dtype(dtype)
    if hasattr(obj, "__front_rank__"):
        if copy and not isinstance(obj, Symbol):
            obj = late.as_tensor(obj.numpy().copy())
        return obj if wanted is None or wanted == obj.dtype else ops.astype(obj, wanted)
    if _holds_values(obj):
        joined = _stacked(obj)
        return joined if wanted is None else ops.astype(joined, wanted)
    return late.as_tensor(values_of("asarray", obj, wanted, copy=copy))


def _holds_values(obj: Any) -> bool:
    """Whether nested lists hold a tensor or symbol."""
    if not isinstance(obj, (list, tuple)):
        return False
    items = cast("Sequence[Any]", obj)
    return any(hasattr(type(item), "__front_rank__") or _holds_values(item) for item in items)


def _stacked(items: Sequence[Any]) -> Any:
    """Values stacked; Python numbers among them take the others' element type."""
    weak = (bool, int, float, complex)
    known = [item if type(item) in weak else asarray(item) for item in items]
    dtype = promote(*(item if type(item) in weak else item.dtype for item in known))
    return ops.stack([asarray(item, dtype=dtype) for item in known])


@composite
def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Any:
    """A tensor on the memory of an array of any library that speaks DLPack.

    Args:
        x: an array with ``__dlpack__``.
        device: None or "cpu".
        copy: True copies; otherwise the tensor follows later changes of the array.

    >>> import numpy as np
    >>> import symgrad as sg
    >>> sg.from_dlpack(np.asarray([1.0, 2.0]))
    Tensor([1., 2.])
    """
    require_cpu("from_dlpack", device)
    return asarray(np.from_dlpack(x), copy=True if copy else None)


@composite
def empty(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """An array to be written later: zeros, since values here never change.

    >>> import symgrad as sg
    >>> sg.empty((2,)).shape
    (2,)
    """
    return zeros(shape, dtype=dtype, device=device)


@composite
def empty_like(x: Array, /, *, dtype: Any = None, device: Any = None) -> Any:
    """An array like ``x`` to be written later: zeros, since values here never change.

    >>> import symgrad as sg
    >>> sg.empty_like(sg.asarray([1, 2])).shape
    (2,)
    """
    return zeros_like(x, dtype=dtype, device=device)


# --- ranges and matrices --------------------------------------------------------------------------


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
    """Numbers at equal steps. `arange` is its public face."""
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
        start, stop: numbers; symbols without axes give a symbol.
        num: how many.
        dtype: the element type; the default float (or complex) if None.
        endpoint: whether ``stop`` is the last of them.
    Raises:
        ArgumentError: ``num`` is no int, or negative.

    >>> import symgrad as sg
    >>> sg.linspace(0.0, 1.0, 5)
    Tensor([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    require_cpu("linspace", device)
    if isinstance(num, bool) or not isinstance(num, (int, np.integer)) or num < 0:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ArgumentError("linspace", "num counts", expected="an int, 0 or more", got=repr(num))
    if isinstance(start, Symbol) or isinstance(stop, Symbol):
        weights = np.linspace(0.0, 1.0, num, endpoint=endpoint)
        # Each end is exact: its weight is 1, the other's 0.
        values = start * asarray(1.0 - weights) + stop * asarray(weights)
        return values if dtype is None else ops.astype(values, dtype)
    ends = number("linspace", "start", start), number("linspace", "stop", stop)
    values = np.linspace(*ends, num, endpoint=endpoint)
    wanted = promote(*ends, 0.0) if dtype is None else as_dtype(dtype)
    return asarray(np.floor(values) if is_integer(wanted) else values, dtype=wanted)


@nondifferentiable(
    type=lambda *, n_rows, n_cols, k, dtype: TensorType((n_rows, n_cols), dtype),
    reason="an array of constants has no operand",
    warns=False,
    namespace=None,
)
def identity_like(*, n_rows: Any, n_cols: Any, k: int, dtype: Any) -> Array:
    """Ones on a diagonal. `eye` is its public face."""
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
