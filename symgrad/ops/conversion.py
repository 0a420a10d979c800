"""Numbers and arrays of Python and of other libraries, in the element types of this one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgrad.errors import ArgumentError, DTypeError, ShapeError, TraceError
from symgrad.ir.symbol import Symbol
from symgrad.types import DTYPES, Dim, default_complex, default_float, is_complex, is_integer


def is_known(value: Any) -> bool:
    """Whether it is an array of numpy's, in an element type and byte order of ours."""
    return (
        isinstance(value, (np.ndarray, np.generic)) and DTYPES.get(value.dtype.name) == value.dtype
    )


def is_weak(value: Any) -> bool:
    """Whether it is a Python number or a dimension, which take the element type of others."""
    return type(value) in (bool, int, float, complex, Dim)


def strength(value: Any) -> Any:
    """What a value counts as in promotion: a Python number, or an element type."""
    if type(value) is Dim:
        return 0
    return value if is_weak(value) else value.dtype


def values_of(
    where: str, value: Any, dtype: np.dtype[Any] | None = None, *, copy: bool | None = None
) -> NDArray[Any]:
    """The numpy array of anything that numpy takes, in a known element type.

    Python floats, alone or in lists, take the default float type.

    Args:
        where: who is named in an error.
        value: a number, nested lists of numbers, an array, a tensor.
        dtype: the element type; that of the value if None.
        copy: True copies always, False never, None where it must.

    Raises:
        DTypeError: the elements are no numbers, complex ones are to become real, or a Python
            integer does not fit. ShapeError: lists of different lengths.
            ArgumentError: it cannot do without a copy.
    """
    array = _gathered(where, value, copy)
    native = array.dtype.newbyteorder("=")
    if native.name not in DTYPES:
        raise DTypeError(
            where, "not numbers of a known type", expected=", ".join(DTYPES), got=native
        )
    written = isinstance(value, (list, tuple, bool, int, float, complex))
    if dtype is None:
        dtype = _of_written(native) if written and not isinstance(value, np.generic) else native
    elif is_complex(native) and not is_complex(dtype):
        raise DTypeError(
            where, "complex numbers do not fit", expected=dtype, got=native, hint="take sg.real"
        )
    elif written and is_integer(native) and is_integer(dtype):
        _require_range(where, array, dtype)
    if array.dtype == dtype:
        return array
    if copy is False:
        raise ArgumentError(where, "the element type changes, so copy=False cannot be kept")
    with np.errstate(all="ignore"):
        return array.astype(dtype)


def _gathered(where: str, value: Any, copy: bool | None) -> NDArray[Any]:
    try:
        return np.array(value, copy=copy, order="K")
    except ValueError as error:
        if "inhomogeneous" in str(error):
            problem = "nested lists of different lengths have no shape"
            raise ShapeError(where, problem) from None
        if copy is False:
            problem = "copy=False cannot be kept: the values are in no array"
            raise ArgumentError(where, problem) from None
        raise


def _of_written(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type of numbers that were written in Python."""
    if dtype == np.float64:
        return default_float()
    return default_complex() if dtype == np.complex128 else dtype


def _require_range(where: str, array: NDArray[Any], dtype: np.dtype[Any]) -> None:
    limits = np.iinfo(dtype)
    for extreme in (array.min(initial=0), array.max(initial=0)):
        if not limits.min <= int(extreme) <= limits.max:
            raise _misfit(where, int(extreme), dtype)


def _misfit(where: str, value: Any, dtype: np.dtype[Any]) -> DTypeError:
    expected = None
    if is_integer(dtype):
        expected = f"an integer from {np.iinfo(dtype).min} to {np.iinfo(dtype).max}"
    return DTypeError(where, f"{value} does not fit {dtype.name}", expected=expected)


def require_cpu(where: str, device: Any) -> None:
    """Refuse a device other than the only one."""
    if device is not None and device != "cpu":
        raise ArgumentError(where, "unknown device", expected="'cpu'", got=repr(device))


def fitting(where: str, value: Any, dtype: np.dtype[Any]) -> Any:
    """A Python number as the Python number that ``dtype`` holds.

    Raises:
        DTypeError: the type cannot hold the value: 1.5 in an integer type, say.
    """
    kind = {"b": bool, "f": float, "c": complex}.get(dtype.kind, int)
    try:
        # A complex number becomes no other, NaN and the infinities no integers.
        fitted = kind(value)
    except (TypeError, ValueError, OverflowError):
        raise _misfit(where, value, dtype) from None
    inexact = kind in (float, complex)
    fits = inexact or (fitted == value and (kind is bool or _in_range(fitted, dtype)))
    if not fits:
        raise _misfit(where, value, dtype)
    return fitted


def _in_range(value: Any, dtype: np.dtype[Any]) -> bool:
    return bool(np.iinfo(dtype).min <= value <= np.iinfo(dtype).max)


def number(where: str, argument: str, value: Any) -> Any:
    """A Python number for a number of any library.

    Raises:
        ArgumentError: it is no number. TraceError: a symbol, whose value is not known.
    """
    if isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic):
        return value
    if hasattr(value, "item") and not isinstance(value, Symbol):
        return value.item()
    if isinstance(value, Symbol):
        hint = "make it of ops: sg.arange counts to a symbolic size"
        raise TraceError(where, f"{argument} is a symbol, which has no value yet", hint=hint)
    raise ArgumentError(where, f"{argument} is no number", got=repr(value))
