"""Arrays from nothing, from numbers and from other libraries' arrays.

A shape that holds a symbolic dimension gives a symbol, any other a tensor.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgrad.errors import ArgumentError, DTypeError, ShapeError
from symgrad.ir.late import late
from symgrad.ir.op import SYMBOL_RANK, Attrs, ops
from symgrad.ir.symbol import Symbol, apply_symbolic
from symgrad.ops.families import Array, composite, nondifferentiable
from symgrad.types import (
    DTYPES,
    Dim,
    TensorType,
    as_dtype,
    as_shape,
    ceil_div,
    default_complex,
    default_float,
    is_complex,
    max_size,
    promote,
)

_KIND_RANK = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}
_PYTHON_KINDS = (bool, int, float, complex)


# --- values of other libraries ------------------------------------------------------------------


def values_of(
    where: str, value: Any, dtype: np.dtype[Any] | None = None, *, copy: bool | None = None
) -> NDArray[Any]:
    """The numpy array of anything that numpy takes, in a known element type.

    Python floats, alone or in lists, take the default float type.

    Args:
        where: who is named in an error.
        value: a number, nested lists of numbers, an array, a tensor.
        dtype: the element type; that of the value if None.
        copy: as numpy means it.

    Raises:
        DTypeError: the elements are no numbers. ShapeError: the lists are ragged.
    """
    try:
        array = np.array(value, copy=copy)
    except ValueError as error:
        if "inhomogeneous" not in str(error):
            raise
        raise ShapeError(where, "nested lists of different lengths have no shape") from None
    if dtype is None:
        dtype = _natural_dtype(where, value, array)
    elif is_complex(array.dtype) and not is_complex(dtype):
        raise DTypeError(where, "complex numbers do not fit", expected=dtype, got=array.dtype)
    return array if array.dtype == dtype else array.astype(dtype)


def _natural_dtype(where: str, value: Any, array: NDArray[Any]) -> np.dtype[Any]:
    native = array.dtype.newbyteorder("=")
    if native.name not in DTYPES:
        raise DTypeError(where, "no such element type", expected=", ".join(DTYPES), got=array.dtype)
    if isinstance(value, (list, tuple, float, complex)) and not isinstance(value, np.generic):
        if native == np.float64:
            return default_float()
        if native == np.complex128:
            return default_complex()
    return native


# --- constant arrays ----------------------------------------------------------------------------


def require_cpu(where: str, device: Any) -> None:
    """Refuse a device other than the only one."""
    if device is not None and device != "cpu":
        raise ArgumentError(where, "unknown device", expected="'cpu'", got=repr(device))


def fitting(where: str, value: Any, dtype: np.dtype[Any]) -> Any:
    """A Python number as the Python number that ``dtype`` holds.

    Raises:
        DTypeError: the type cannot hold the value: 1.5 in an integer type, say.
    """
    if not isinstance(value, _PYTHON_KINDS):
        raise ArgumentError(where, "the value is not a number", got=repr(value))
    kind = _PYTHON_KINDS[_KIND_RANK[dtype.kind]]
    narrows = _PYTHON_KINDS.index(type(value)) > _KIND_RANK[dtype.kind]
    whole = not narrows or (not isinstance(value, complex) and math.isfinite(value))
    if not whole or (kind(value) != value and narrows):  # pyright: ignore[reportArgumentType]
        raise DTypeError(where, f"{value} does not fit {dtype.name}")
    if kind is int:
        promote(dtype, int(value))  # pyright: ignore[reportArgumentType]
    return kind(value)  # pyright: ignore[reportArgumentType]


def _filled_attrs(types: Any, attrs: Attrs) -> Attrs:
    dtype = promote(attrs["fill_value"]) if attrs["dtype"] is None else as_dtype(attrs["dtype"])
    return {
        "shape": as_shape(attrs["shape"], "full"),
        "fill_value": fitting("full", attrs["fill_value"], dtype),
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
        fill_value: a number; a symbol or tensor without axes is broadcast, and differentiated.
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
    if isinstance(fill_value, (np.ndarray, np.generic)):
        fill_value = fill_value.item()
    if hasattr(fill_value, "__front_rank__"):
        value = fill_value if dtype is None else ops.astype(fill_value, dtype)
        return ops.broadcast_to(value, sizes)
    return filled(shape=sizes, fill_value=fill_value, dtype=dtype)


@composite
def zeros(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """An array of zeros, of the default float type if none is named.

    >>> import symgrad as sg
    >>> sg.zeros((3,))
    Tensor([0., 0., 0.])
    """
    return full(shape, 0, dtype=dtype or default_float(), device=device)


@composite
def ones(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """An array of ones, of the default float type if none is named.

    >>> import symgrad as sg
    >>> sg.ones(2, dtype="int32")
    Tensor([1, 1], dtype=int32)
    """
    return full(shape, 1, dtype=dtype or default_float(), device=device)


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
        obj: a number, nested lists of numbers, an array, a tensor, a symbol.
        dtype: the element type; that of the values if None (Python floats: the default float).
        device: None or "cpu".
        copy: True copies always, False never, None where the element type changes.

    >>> import symgrad as sg
    >>> sg.asarray([[1, 2], [3, 4]])
    Tensor([[1, 2],
            [3, 4]])
    """
    require_cpu("asarray", device)
    wanted = None if dtype is None else as_dtype(dtype)
    if getattr(type(obj), "__front_rank__", 0) >= SYMBOL_RANK:
        return obj if wanted is None or wanted == obj.dtype else ops.astype(obj, wanted)
    return late.as_tensor(values_of("asarray", obj, wanted, copy=copy))


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


def _range_size(start: Any, stop: Any, step: Any) -> Any:
    """How many numbers a range holds; exact for ints, which may be symbolic."""
    if any(isinstance(bound, float) for bound in (start, stop, step)):
        return max(0, math.ceil((stop - start) / step))
    return max_size(0, ceil_div(stop - start, step) if step > 0 else ceil_div(start - stop, -step))


def _range_attrs(types: Any, attrs: Attrs) -> Attrs:
    start, stop, step = attrs["start"], attrs["stop"], attrs["step"]
    bounds = [0 if isinstance(bound, Dim) else bound for bound in (start, stop, step)]
    dtype = promote(*bounds) if attrs["dtype"] is None else as_dtype(attrs["dtype"])
    return {"start": start, "stop": stop, "step": step, "dtype": dtype}


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
        start, stop, step: numbers; ints may be symbolic sizes, the step may not.
        dtype: the element type; int64, or the default float where a bound is a float.
    Raises:
        ArgumentError: the step is 0.

    >>> import symgrad as sg
    >>> sg.arange(2, 8, 3)
    Tensor([2, 5])
    """
    require_cpu("arange", device)
    if stop is None:
        start, stop = 0, start
    if isinstance(step, Dim) or step == 0:
        raise ArgumentError("arange", "the step is no step", expected="a number, not 0", got=step)
    return counted(start=start, stop=stop, step=step, dtype=dtype)


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
        endpoint: whether ``stop`` is the last of them.

    >>> import symgrad as sg
    >>> sg.linspace(0.0, 1.0, 5)
    Tensor([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    require_cpu("linspace", device)
    values = np.linspace(start, stop, num, endpoint=endpoint)
    wanted = dtype or (default_complex() if np.iscomplexobj(values) else default_float())
    return asarray(values, dtype=wanted)


def _eye_attrs(types: Any, attrs: Attrs) -> Attrs:
    rows, columns = as_shape((attrs["n_rows"], attrs["n_cols"]), "eye")
    return {"n_rows": rows, "n_cols": columns, "k": attrs["k"], "dtype": attrs["dtype"]}


@nondifferentiable(
    type=lambda *, n_rows, n_cols, k, dtype: TensorType((n_rows, n_cols), dtype),
    reason="an array of constants has no operand",
    normalize=_eye_attrs,
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

    >>> import symgrad as sg
    >>> sg.eye(2)
    Tensor([[1., 0.],
            [0., 1.]])
    """
    require_cpu("eye", device)
    columns = n_rows if n_cols is None else n_cols
    return identity_like(
        n_rows=n_rows, n_cols=columns, k=k, dtype=as_dtype(dtype or default_float())
    )
