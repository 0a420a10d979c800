"""Element types: which there are, how they are named, what two of them become together.

An element type *is* a numpy dtype. Promotion is the array API's table, and numpy 2's where the
standard is silent; Python scalars are weak.

    >>> promote(float32, 2.0), promote(int8, uint8), promote(int32, 1.5)
    (dtype('float32'), dtype('int16'), dtype('float64'))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, cast

import numpy as np

from symgrad.errors import DTypeError

DType: TypeAlias = "np.dtype[Any]"

bool_: DType = np.dtype("bool")
int8: DType = np.dtype("int8")
int16: DType = np.dtype("int16")
int32: DType = np.dtype("int32")
int64: DType = np.dtype("int64")
uint8: DType = np.dtype("uint8")
uint16: DType = np.dtype("uint16")
uint32: DType = np.dtype("uint32")
uint64: DType = np.dtype("uint64")
float16: DType = np.dtype("float16")
float32: DType = np.dtype("float32")
float64: DType = np.dtype("float64")
complex64: DType = np.dtype("complex64")
complex128: DType = np.dtype("complex128")

_INTEGERS = (int8, int16, int32, int64, uint8, uint16, uint32, uint64)
_ALL = (bool_, *_INTEGERS, float16, float32, float64, complex64, complex128)

DTYPES: dict[str, DType] = {dtype.name: dtype for dtype in _ALL}

# One instance per type, whatever its byte order or C name ("long", "longlong").
_CANONICAL: dict[tuple[str, int], DType] = {(d.kind, d.itemsize): d for d in _ALL}
_SPELLINGS: dict[Any, DType] = {**DTYPES, **{d: d for d in _ALL}, **{d.type: d for d in _ALL}}


# --------------------------------------------------------------------------- defaults


class _Defaults:
    """The default float type and the promotions found under it; replaced as a whole."""

    __slots__ = ("floating", "promotions")

    def __init__(self, floating: DType) -> None:
        self.floating = floating
        self.promotions: dict[tuple[Any, ...], DType] = {}


_defaults = _Defaults(float64)


def default_float() -> DType:
    """The type that a Python float becomes."""
    return _defaults.floating


def default_complex() -> DType:
    """The type that a Python complex becomes: it has the precision of the default float.

    >>> default_complex()
    dtype('complex128')
    """
    return complex_dtype(_defaults.floating)


def default_int() -> DType:
    """The type that a Python int becomes: always int64."""
    return int64


def set_default_dtype(dtype: Any) -> None:
    """Choose the default float type of the whole process.

    Args:
        dtype: float16, float32 or float64.

    >>> set_default_dtype(float32)
    >>> promote(int8, 0.5), promote(1j)
    (dtype('float32'), dtype('complex64'))
    >>> set_default_dtype(float64)
    """
    global _defaults
    chosen = as_dtype(dtype)
    if not is_floating(chosen):
        raise DTypeError(
            "set_default_dtype", "not a real floating type", expected="a float", got=chosen
        )
    _defaults = _Defaults(chosen)
    for forget in _listeners:
        forget()


_listeners: list[Callable[[], object]] = []


def when_default_changes(forget: Callable[[], object]) -> None:
    """Have ``forget`` called after each change of the default: of what was worked out under it."""
    _listeners.append(forget)


# --------------------------------------------------------------------------- spellings


def as_dtype(spelling: Any) -> DType:
    """The dtype that is meant, in native byte order.

    Args:
        spelling: a dtype, its name, a numpy scalar type, or bool, int, float, complex.

    >>> as_dtype("float32"), as_dtype(int), as_dtype(np.dtype(">f4"))
    (dtype('float32'), dtype('int64'), dtype('float32'))
    """
    try:
        known = _SPELLINGS.get(spelling)
    except TypeError:
        known = None
    if known is None:
        known = _python_type(spelling) if isinstance(spelling, type) else _canonical(spelling)
    if known is None:
        raise _refused(spelling)
    return known


def _python_type(spelling: type) -> DType | None:
    if spelling is float:
        return default_float()
    if spelling is complex:
        return default_complex()
    if spelling is int:
        return int64
    return bool_ if spelling is bool else _scalar_type(spelling)


def _scalar_type(spelling: type) -> DType | None:
    # numpy has several scalar classes of one size (intc, longlong).
    return _canonical(np.dtype(cast(Any, spelling))) if issubclass(spelling, np.number) else None


def _canonical(spelling: Any) -> DType | None:
    if not isinstance(spelling, np.dtype):
        return None
    return _CANONICAL.get((spelling.kind, spelling.itemsize))


def _refused(spelling: Any) -> DTypeError:
    got, hint = f"a {type(spelling).__name__}", None
    if isinstance(spelling, str):
        got = repr(spelling)
        if spelling in _CODES:
            hint = f"write {_CODES[spelling].name!r}"
    elif isinstance(spelling, (type, np.dtype)):
        got = str(cast(Any, spelling))
        if got == "object":
            hint = "an array of objects cannot be differentiated; convert it with astype"
    return DTypeError(
        "dtype",
        "not an element type",
        expected="one of bool, int8, … complex128",
        got=got,
        hint=hint,
    )


def code(dtype: DType) -> str:
    """The short code of a dtype.

    >>> code(float32), code(bool_), code(complex128)
    ('f32', 'b1', 'c128')
    """
    found = _CODE_OF.get(dtype)
    return _CODE_OF[as_dtype(dtype)] if found is None else found


def dtype_of_code(text: str) -> DType:
    """The dtype with this short code.

    >>> dtype_of_code("f32")
    dtype('float32')
    """
    if text not in _CODES:
        raise DTypeError("dtype", "not a type code", expected=", ".join(_CODES), got=repr(text))
    return _CODES[text]


_CODE_OF: dict[DType, str] = {d: f"{d.kind}{8 * d.itemsize}" for d in _ALL} | {bool_: "b1"}
_CODES: dict[str, DType] = {short: d for d, short in _CODE_OF.items()}


# --------------------------------------------------------------------------- kinds


def is_bool(dtype: DType) -> bool:
    """Whether it is bool."""
    return dtype.kind == "b"


def is_integer(dtype: DType) -> bool:
    """Whether it is a signed or unsigned integer; bool is not."""
    return dtype.kind in "iu"


def is_floating(dtype: DType) -> bool:
    """Whether it is a real floating type."""
    return dtype.kind == "f"


def is_complex(dtype: DType) -> bool:
    """Whether it is complex."""
    return dtype.kind == "c"


def is_inexact(dtype: DType) -> bool:
    """Whether it is real floating or complex: what can have a derivative."""
    return dtype.kind in "fc"


def real_dtype(dtype: DType) -> DType:
    """The type of the real part; a type that is not complex stays.

    >>> real_dtype(complex64), real_dtype(int8)
    (dtype('float32'), dtype('int8'))
    """
    if dtype.kind != "c":
        return dtype
    return float32 if dtype.itemsize == 8 else float64


def complex_dtype(dtype: DType) -> DType:
    """The complex type with at least the precision of ``dtype``; integers get the default.

    >>> complex_dtype(float32), complex_dtype(float16), complex_dtype(int8)
    (dtype('complex64'), dtype('complex64'), dtype('complex128'))
    """
    if dtype.kind == "c":
        return dtype
    floating = dtype if dtype.kind == "f" else default_float()
    return complex128 if floating.itemsize == 8 else complex64


# --------------------------------------------------------------------------- promotion

_WEAK: dict[Any, int] = {bool: 0, int: 1, float: 2, complex: 3}
_RANK = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}


def promote(*operands: Any) -> DType:
    """The type of a result whose operands are these dtypes and Python scalars.

    A scalar only decides if its kind is higher than that of all dtypes.

    >>> promote(float32, 1), promote(int8, True), promote(float32, 1j), promote(1)
    (dtype('float32'), dtype('int8'), dtype('complex64'), dtype('int64'))
    >>> promote(uint8, 300)
    Traceback (most recent call last):
        ...
    symgrad.errors.DTypeError: promote: 300 does not fit uint8: expected a value from 0 to 255
    """
    defaults = _defaults
    # numpy has one class per element type: the operands' classes tell all but the value of an int.
    classes = tuple(map(type, operands))
    result = defaults.promotions.get(classes)
    if result is None:
        result = _promotion([_strength(x) for x in operands], defaults.floating)
        if all(isinstance(x, np.dtype) or type(x) in _WEAK for x in operands):
            defaults.promotions[classes] = result
    if result.kind in "iu":
        _require_fit(operands, result)
    return result


def _strength(operand: Any) -> Any:
    """What an operand counts as: its dtype, or the weak type of a Python scalar."""
    if type(operand) in _WEAK:
        return cast(Any, type(operand))
    if hasattr(operand, "dtype") and not isinstance(operand, type):
        return as_dtype(operand.dtype)
    for weak in _WEAK:
        if isinstance(operand, weak):
            return weak
    return as_dtype(operand)


def _promotion(operands: list[Any], floating: DType) -> DType:
    if not operands:
        raise DTypeError("promote", "no operand", expected="a dtype or a Python scalar")
    strong: list[DType] = [x for x in operands if isinstance(x, np.dtype)]
    result = as_dtype(np.result_type(*strong)) if strong else bool_
    rank = max([_WEAK[x] for x in operands if not isinstance(x, np.dtype)], default=0)
    if rank <= _RANK[result.kind]:
        return result
    if rank == _WEAK[int]:
        return int64
    if result.kind != "f":
        result = floating
    return result if rank == _WEAK[float] else complex_dtype(result)


def _require_fit(operands: tuple[Any, ...], dtype: DType) -> None:
    for value in operands:
        if isinstance(value, int) and not _fits(value, dtype):
            low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
            problem = f"{value} does not fit {dtype.name}"
            raise DTypeError("promote", problem, expected=f"a value from {low} to {high}")


def _fits(value: int, dtype: DType) -> bool:
    bits = 8 * dtype.itemsize
    if dtype.kind == "u":
        return value >= 0 and value.bit_length() <= bits
    return (value if value >= 0 else ~value).bit_length() < bits


def result_type(*arrays_and_dtypes: Any) -> DType:
    """The type that these arrays, dtypes and Python scalars become together.

    Args:
        arrays_and_dtypes: anything with a ``dtype``, dtypes, and Python scalars.

    >>> result_type(np.ones(3, "float32"), float64), result_type(int8, 3, int16)
    (dtype('float64'), dtype('int16'))
    """
    return promote(*arrays_and_dtypes)
