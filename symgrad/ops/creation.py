"""Arrays from nothing, from numbers and from other libraries' arrays.

A shape that holds a symbolic dimension gives a symbol, any other a tensor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from symgrad.errors import ArgumentError, TraceError
from symgrad.ir.late import late
from symgrad.ir.lifting import apply_symbolic, lift
from symgrad.ir.op import Attrs, ops
from symgrad.ir.symbol import Symbol
from symgrad.ops.conversion import fitting, is_weak, number, require_cpu, values_of
from symgrad.ops.families import Array, composite, nondifferentiable
from symgrad.types import (
    Dim,
    TensorType,
    as_dtype,
    as_shape,
    default_float,
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
    """The array that has the same number everywhere. `full` is its public face.

    >>> filled(shape=(2,), fill_value=7)
    Tensor([7, 7])
    """
    return np.full(shape, fill_value, dtype)


@composite
def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """An array that has the same value everywhere.

    Args:
        shape: one size or a tuple of sizes, which may be symbolic.
        fill_value: a number; an array, tensor or symbol is broadcast, and differentiated.
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
    if isinstance(fill_value, (list, tuple, Dim)) or np.ndim(fill_value) > 0:
        fill_value = asarray(fill_value)
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
    sizes = as_shape(shape, "zeros")
    return full(sizes, 0, dtype=default_float() if dtype is None else dtype, device=device)


@composite
def ones(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """An array of ones, of the default float type if none is named.

    >>> import symgrad as sg
    >>> sg.ones(2, dtype="int32")
    Tensor([1, 1], dtype=int32)
    """
    sizes = as_shape(shape, "ones")
    return full(sizes, 1, dtype=default_float() if dtype is None else dtype, device=device)


@composite
def full_like(x: Array, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """An array of the shape and element type of ``x`` that has the same value everywhere.

    It does not depend on the values of ``x``, but is a symbol where ``x`` is one.

    Args:
        x: an array of any element type.
        fill_value: as for `full`.
        dtype: the element type; that of ``x`` if None.
        device: None or "cpu".
    Raises:
        DTypeError: the value does not fit the type.

    >>> import symgrad as sg
    >>> sg.full_like(sg.asarray([1.0, 2.0]), 5)
    Tensor([5., 5.])
    """
    like = asarray(x)
    dtype = like.dtype if dtype is None else dtype
    if not isinstance(like, Symbol):
        return full(like.shape, fill_value, dtype=dtype, device=device)
    require_cpu("full_like", device)
    value = fill_value
    if not is_weak(value) or isinstance(value, Dim):
        value = asarray(value)
        if isinstance(value, Symbol) or value.ndim:
            return full(like.shape, lift(value), dtype=dtype)
        value = value.item()
    attrs = {"shape": like.shape, "fill_value": value, "dtype": as_dtype(dtype)}
    return apply_symbolic(filled, (), attrs)


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


@composite(reads_values=True)
def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Any:
    """A tensor of anything array-like; a symbol stays a symbol.

    Args:
        obj: a number, an array, a tensor, a symbol, a dimension, or nested lists of these, which
            are stacked: a symbol if one is among them.
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
    if isinstance(obj, Dim):
        return lift(obj, wanted)
    if hasattr(obj, "__front_rank__"):
        return _as_type(obj, wanted, copy)
    if _holds_values(obj):
        joined = ops.stack([item if is_weak(item) else asarray(item) for item in obj])
        return _as_type(joined, wanted, None)
    return late.as_tensor(values_of("asarray", obj, wanted, copy=copy))


def _as_type(value: Any, dtype: np.dtype[Any] | None, copy: bool | None) -> Any:
    """A tensor or symbol in an element type."""
    if dtype is not None and dtype != value.dtype:
        if copy is False:
            raise ArgumentError("asarray", "the element type changes, so copy=False cannot be kept")
        return ops.astype(value, dtype)
    return ops.clone(value) if copy and not isinstance(value, Symbol) else value


def _holds_values(obj: Any) -> bool:
    """Whether nested lists hold a tensor, symbol or dimension."""
    if not isinstance(obj, (list, tuple)):
        return False
    items = cast("Sequence[Any]", obj)
    return any(
        hasattr(type(item), "__front_rank__") or isinstance(item, Dim) or _holds_values(item)
        for item in items
    )


@composite(reads_values=True)
def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Any:
    """A tensor on the memory of an array of any library that speaks DLPack.

    Args:
        x: an array with ``__dlpack__``.
        device: None or "cpu".
        copy: True copies; otherwise the tensor follows later changes of the array.
    Raises:
        ArgumentError: ``x`` is no such array. TraceError: it is a symbol.

    >>> import numpy as np
    >>> import symgrad as sg
    >>> sg.from_dlpack(np.asarray([1.0, 2.0]))
    Tensor([1., 2.])
    """
    require_cpu("from_dlpack", device)
    if isinstance(x, Symbol):
        raise TraceError("from_dlpack", "a symbol has no memory", got=x, hint="use it as it is")
    if not hasattr(x, "__dlpack__"):
        raise ArgumentError(
            "from_dlpack", "no array that speaks DLPack", got=repr(x), hint="use sg.asarray"
        )
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
