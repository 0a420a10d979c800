"""What the array API tells about element types: kinds, casts, limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from symgrad.dtypes import DType, as_dtype, is_inexact, is_integer, real_dtype
from symgrad.errors import ArgumentError, DTypeError

_KINDS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether ``dtype`` is of a kind.

    Args:
        dtype: the type that is asked about.
        kind: a dtype, one of the array API's words ("bool", "signed integer", "unsigned integer",
            "integral", "real floating", "complex floating", "numeric"), or a tuple of these.

    >>> isdtype("float32", "real floating"), isdtype("int8", ("bool", "unsigned integer"))
    (True, False)
    """
    asked = as_dtype(dtype)
    if isinstance(kind, tuple):
        return any(isdtype(asked, one) for one in kind)  # pyright: ignore[reportUnknownVariableType]
    if isinstance(kind, str):
        if kind not in _KINDS:
            raise ArgumentError(
                "isdtype", "unknown kind", expected=", ".join(_KINDS), got=repr(kind)
            )
        return asked.kind in _KINDS[kind]
    return asked == as_dtype(kind)


def can_cast(from_: Any, to: Any, /) -> bool:
    """Whether every value of ``from_`` (a dtype or an array) is kept by promotion to ``to``.

    >>> can_cast("int8", "int16"), can_cast("float64", "float32"), can_cast("int32", "float32")
    (True, False, False)
    """
    return bool(np.can_cast(_dtype_of(from_), as_dtype(to)))


def _dtype_of(array_or_dtype: Any) -> DType:
    if isinstance(array_or_dtype, (np.dtype, type, str)):
        return as_dtype(array_or_dtype)
    return as_dtype(getattr(array_or_dtype, "dtype", array_or_dtype))


@dataclass(frozen=True, slots=True)
class FloatInfo:
    """The limits of a floating type, as the array API's ``finfo`` gives them."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


@dataclass(frozen=True, slots=True)
class IntInfo:
    """The limits of an integer type, as the array API's ``iinfo`` gives them."""

    bits: int
    max: int
    min: int
    dtype: DType


def finfo(type: Any, /) -> FloatInfo:
    """The limits of a floating type, in Python floats; of the real part, if it is complex.

    Args:
        type: a dtype, or an array.

    >>> finfo("float32").bits, finfo("float32").eps, finfo("complex128").dtype
    (32, 1.1920928955078125e-07, dtype('float64'))
    """
    dtype = _dtype_of(type)
    if not is_inexact(dtype):
        raise DTypeError(
            "finfo", "not a floating type", expected="a real or complex float", got=dtype
        )
    real = real_dtype(dtype)
    found = np.finfo(real)
    limits = (float(found.eps), float(found.max), float(found.min), float(found.smallest_normal))
    return FloatInfo(8 * real.itemsize, *limits, dtype=real)


def iinfo(type: Any, /) -> IntInfo:
    """The limits of an integer type.

    Args:
        type: a dtype, or an array.

    >>> iinfo("int8").min, iinfo("uint16").max
    (-128, 65535)
    """
    dtype = _dtype_of(type)
    if not is_integer(dtype):
        raise DTypeError("iinfo", "not an integer type", expected="an integer", got=dtype)
    found = np.iinfo(dtype)
    return IntInfo(8 * dtype.itemsize, int(found.max), int(found.min), dtype)
