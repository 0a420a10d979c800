"""Attribute values, types and small constants as text, and back: a closed grammar.

Nothing in a text is evaluated.

value    = "None" | "True" | "False" | "..." | integer | float | complex | string
             | dtype | size | tuple
float    = Python's repr of it | "inf" | "-inf" | "nan" | "-nan" | "nan(16 hexadecimal digits)"
complex  = "complex(" float ", " float ")"
string   = as in JSON
dtype    = "float32", …                         the array API's names
size     = "2*n + 1", …                         as sizes are printed
         | "dim(" size ")"                      if it reads like one of the words above
tuple    = "()" | "(" value ",)" | "(" value ", " value … ")"
type     = "f64[batch, 784]" | "(" type ", " type … ")"
constant = value | "[" value ", " … "]"         all elements, the last axis fastest
         | 'bytes "' hexadecimal digits '"'     where a NaN has bits of its own
"""

from __future__ import annotations

import json
import math
import re
import struct
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from symgrad.errors import FormatError, SymgradError
from symgrad.types import DTYPES, Dim, DType, Size, TensorType, TupleType, parse_size, parse_type

_WORDS: dict[str, Any] = {
    **DTYPES,
    "None": None,
    "True": True,
    "False": False,
    "...": ...,
    "inf": math.inf,
    "-inf": -math.inf,
    "nan": math.nan,
    "-nan": -math.nan,
}
_SPELLINGS = {math.inf: "inf", -math.inf: "-inf"}
_DEEPEST = 20

STRING = r'"(?:[^"\\]|\\.)*"'
_STRING = re.compile(STRING)
_INTEGER = re.compile(r"-?[0-9]+")
_FLOAT = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?")
_NAN_BITS = re.compile(r"nan\(([0-9a-f]{16})\)")
_STRUCTURE = re.compile(r'["(\[\])]|,')


# --------------------------------------------------------------------------- writing


def write_literal(value: Any) -> str:
    """The text of an attribute's value.

    Raises:
        FormatError: the grammar has no form for such a value (a function, say).

    >>> write_literal((1, -0.0, "a b", None, np.dtype("float32"), 2 * Dim.named("n")))
    '(1, -0.0, "a b", None, float32, 2*n)'
    """
    text = _simple_text(value)
    if text is not None:
        return text
    if type(value) is tuple:
        items = [write_literal(item) for item in cast("tuple[Any, ...]", value)]
        return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"
    raise FormatError("attribute", "a value has no text form", got=f"a {type(value).__name__}")


def _simple_text(value: Any) -> str | None:
    kind = cast("Any", type(value))
    if value is None or kind is bool or kind is int:
        return str(value)
    if kind is float:
        return _float_text(value)
    if kind is str:
        return write_string(value)
    if kind is complex:
        return f"complex({_float_text(value.real)}, {_float_text(value.imag)})"
    if kind is Dim:
        text = str(value)
        return f"dim({text})" if text.lstrip("-") in _WORDS else text
    if isinstance(value, np.dtype):
        return value.name if DTYPES.get(value.name) == value else None
    return "..." if value is Ellipsis else None


def _float_text(value: float) -> str:
    if value == value:
        return repr(value)
    bits = struct.pack(">d", value).hex()
    quiet = {"7ff8000000000000": "nan", "fff8000000000000": "-nan"}
    return quiet.get(bits, f"nan({bits})")


def write_string(text: str) -> str:
    """A string in quotes, on one line, as in JSON.

    >>> print(write_string('say "θ"'), write_string("two\\nlines"))
    "say \\"θ\\"" "two\\nlines"
    """
    return json.dumps(text, ensure_ascii=not text.isprintable())


def write_elements(array: NDArray[Any]) -> str:
    """The text of a small constant, exact to the bit.

    >>> write_elements(np.array([0.1, np.inf], "float32")), write_elements(np.array(2))
    ('[0.1, inf]', '2')
    """
    kind = array.dtype.kind
    if kind == "c":
        flat = [f"complex({_real_text(z.real)}, {_real_text(z.imag)})" for z in array.flat]
    elif kind == "f":
        flat = [_real_text(x) for x in array.flat]
    else:
        flat = [str(x) for x in array.flat]
    text = f"[{', '.join(flat)}]" if array.ndim else flat[0]
    again = read_elements(text, array.dtype, array.shape)
    if again.tobytes() == array.tobytes():
        return text
    return f'bytes "{array.astype(array.dtype.newbyteorder("<")).tobytes().hex()}"'


def _real_text(x: Any) -> str:
    # numpy's str has the digits that tell the number apart within its own element type.
    return str(x) if x == x else _float_text(float(x))


# --------------------------------------------------------------------------- reading


def _refuse(what: str, text: str, expected: str) -> FormatError:
    got = text if len(text) <= 60 else text[:59] + "…"
    return FormatError("text", f"not {what}", expected=expected, got=repr(got))


def closing(text: str, start: int) -> int:
    """The position of the bracket that closes the one at ``start``.

    >>> closing("f(a, (b), c) : t", 1)
    11
    """
    depth, position = 0, start
    while (match := _STRUCTURE.search(text, position)) is not None:
        position = match.end()
        if match[0] == '"':
            position = _end_of_string(text, match.start())
        elif match[0] in "([":
            depth += 1
        elif match[0] in ")]":
            depth -= 1
            if depth == 0:
                return match.start()
    raise _refuse("closed", text[start:], "a closing bracket")


def _end_of_string(text: str, start: int) -> int:
    match = _STRING.match(text, start)
    if match is None:
        raise _refuse("closed", text[start:], "a closing quotation mark")
    return match.end()


def split(text: str) -> list[str]:
    """The parts between the commas that stand in no bracket or string, without outer spaces.

    >>> split('1, (2, 3), "a, b"'), split("")
    (['1', '(2, 3)', '"a, b"'], [])
    """
    if not text.strip():
        return []
    if not any(bracket in text for bracket in '("['):
        return [part.strip() for part in text.split(",")]
    parts: list[str] = []
    begin = position = 0
    while (match := _STRUCTURE.search(text, position)) is not None:
        position = match.end()
        if match[0] == ",":
            parts.append(text[begin : match.start()].strip())
            begin = position
        elif match[0] == '"':
            position = _end_of_string(text, match.start())
        elif match[0] in "([":
            position = closing(text, match.start()) + 1
        else:
            raise _refuse("closed", text, "brackets in pairs")
    return [*parts, text[begin:].strip()]


_FORMS = "a number, string, tuple, dtype, size, True, False or None"


def read_literal(text: str, depth: int = 0) -> Any:
    """The value that ``text`` describes: the inverse of `write_literal`.

    >>> read_literal('(1, -0.0, "a b", None, float32, 2*n)')
    (1, -0.0, 'a b', None, dtype('float32'), 2*n)
    """
    text = text.strip()
    if text in _WORDS:
        return _WORDS[text]
    if not text or depth > _DEEPEST:
        raise _refuse("a value", text, _FORMS)
    if text[0] == '"':
        return read_string(text)
    if text[0] == "(" and closing(text, 0) == len(text) - 1:
        return _read_tuple(text[1:-1], depth)
    return _read_number(text) if text[0] in "-0123456789" else _read_call(text)


def read_string(text: str) -> str:
    """The string that is written in quotes."""
    try:
        if _STRING.fullmatch(text):
            return json.loads(text)
    except ValueError:
        pass
    raise _refuse("a string", text, "quotation marks around it, as in JSON")


def _read_tuple(inside: str, depth: int) -> tuple[Any, ...]:
    parts = split(inside)
    if parts and not parts[-1]:
        parts.pop()  # the comma of (x,)
    elif len(parts) == 1:
        raise _refuse("a tuple", f"({inside})", "a comma, as in (1,)")
    return tuple(read_literal(part, depth + 1) for part in parts)


def _read_number(text: str) -> Any:
    try:
        if _INTEGER.fullmatch(text):
            return int(text)
        if _FLOAT.fullmatch(text):
            return float(text)
    except ValueError:
        raise _refuse("a number", text, "fewer digits") from None
    return read_size(text)


def _read_call(text: str) -> Any:
    """complex(…), nan(…) and dim(…), whose names are no functions of sizes; else a size."""
    if match := _NAN_BITS.fullmatch(text):
        value = struct.unpack(">d", bytes.fromhex(match[1]))[0]
        if value == value:
            raise _refuse("a NaN", text, "the bits of a NaN")
        return value
    if text.startswith("complex(") and text.endswith(")"):
        parts = [read_literal(part, _DEEPEST) for part in split(text[8:-1])]
        if [type(part) for part in parts] != [float, float]:
            raise _refuse("a complex number", text, "as in complex(1.0, -0.5)")
        return complex(*parts)
    if text.startswith("dim(") and text.endswith(")"):
        return read_size(text[4:-1])
    return read_size(text)


_SIZE = re.compile(r"[\w\s+\-*/%(),]+")
_ODD_NUMBER = re.compile(r"(?<!\w)[0-9]+[^\W0-9]")


def read_size(text: str) -> Size:
    """The size that ``text`` describes."""
    # The second test: Python's parser would warn of a number that runs into a word.
    if not _SIZE.fullmatch(text) or _ODD_NUMBER.search(text):
        raise _refuse("a value", text, _FORMS)
    try:
        return parse_size(text)
    except SymgradError:
        raise _refuse("a value", text, _FORMS) from None


def read_type(text: str) -> TensorType | TupleType:
    """The type that ``text`` describes.

    >>> read_type("f64[batch, 784]"), read_type("(f64[3], f64[3, 3])")
    (f64[batch, 784], (f64[3], f64[3, 3]))
    """
    text = text.strip()
    if text[:1] == "(" and closing(text, 0) == len(text) - 1:
        return TupleType([_tensor_type(part) for part in split(text[1:-1])])
    return _tensor_type(text)


def _tensor_type(text: str) -> TensorType:
    sizes = text.partition("[")[2].rpartition("]")[0]
    if (sizes and not _SIZE.fullmatch(sizes)) or _ODD_NUMBER.search(sizes):
        raise _refuse("a type", text, "as in f32[batch, 784]")
    try:
        return parse_type(text)
    except SymgradError:
        raise _refuse("a type", text, "as in f32[batch, 784]") from None


_ELEMENTS: dict[str, tuple[type, ...]] = {
    "b": (bool,),
    "i": (int,),
    "u": (int,),
    "f": (float, int),
    "c": (complex, float, int),
}


def read_elements(text: str, dtype: DType, shape: tuple[Size, ...]) -> NDArray[Any]:
    """The constant that ``text`` describes: the inverse of `write_elements`."""
    text = text.strip()
    if text.startswith("bytes "):
        return _shaped(_from_bytes(text, dtype), shape, text)
    listed = text.startswith("[") and closing(text, 0) == len(text) - 1
    values = [read_literal(part) for part in (split(text[1:-1]) if listed else [text])]
    if any(type(value) not in _ELEMENTS[dtype.kind] for value in values):
        raise _refuse(f"a constant of {dtype}", text, f"elements that are {dtype}")
    try:
        with np.errstate(all="ignore"):
            array = np.array(values, dtype)
    except OverflowError:
        array = None
    if array is None or _overflows(array, values):
        raise _refuse(f"a constant of {dtype}", text, f"elements that fit {dtype}")
    return _shaped(array, shape, text)


def _overflows(array: NDArray[Any], values: list[Any]) -> bool:
    """Whether an infinity arose that is not in the text."""
    if array.dtype.kind not in "fc" or not np.isinf(array).any():
        return False
    return bool((np.isinf(array) & ~np.isinf(np.array(values, complex))).any())


def _from_bytes(text: str, dtype: DType) -> NDArray[Any]:
    try:
        data = bytes.fromhex(read_string(text[6:].strip()))
        return np.frombuffer(data, dtype.newbyteorder("<")).astype(dtype)
    except ValueError:
        raise _refuse("bytes", text, f"hexadecimal digits of whole {dtype} elements") from None


def _shaped(array: NDArray[Any], shape: tuple[Size, ...], text: str) -> NDArray[Any]:
    sizes = cast("tuple[int, ...]", shape)
    if not all(isinstance(size, int) for size in shape) or math.prod(sizes) != array.size:
        expected = f"as many elements as the shape {shape} has"
        raise _refuse("a constant", text, expected)
    return array.reshape(sizes)
