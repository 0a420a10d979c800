"""What a symbol's value looks like: element type and shape, and the rules that combine them.

This module is the front of ``dtypes`` and ``dtype_info`` (element types), ``dims`` (symbolic sizes)
and ``shapes`` (constraints, broadcasting, binding), and adds ``TensorType`` and the text forms.

    >>> n = Dim.named("n")
    >>> broadcast_shapes("add", (n, 1), (3,))
    (n, 3)
    >>> str(TensorType((n, 784), float32))
    'f32[n, 784]'
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

from symgrad.dims import (
    Dim,
    Size,
    ceil_div,
    fresh_dim,
    is_made_up,
    is_nonnegative,
    max_size,
    min_size,
)
from symgrad.dtype_info import FloatInfo, IntInfo, can_cast, finfo, iinfo, isdtype
from symgrad.dtypes import (
    DTYPES,
    DType,
    as_dtype,
    bool_,
    code,
    complex64,
    complex128,
    complex_dtype,
    default_complex,
    default_float,
    default_int,
    dtype_of_code,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    is_bool,
    is_complex,
    is_floating,
    is_inexact,
    is_integer,
    promote,
    real_dtype,
    result_type,
    set_default_dtype,
    uint8,
    uint16,
    uint32,
    uint64,
    when_default_changes,
)
from symgrad.errors import FormatError, ShapeError
from symgrad.shapes import (
    Constraint,
    Shape,
    broadcast_shapes,
    check,
    normalize_axes,
    normalize_axis,
    require_equal,
    solve_dims,
    take_constraints,
)
from symgrad.syntax import expression_of

__all__ = [
    "DTYPES",
    "Constraint",
    "DType",
    "Dim",
    "FloatInfo",
    "IntInfo",
    "Shape",
    "Size",
    "TensorType",
    "TupleType",
    "as_dtype",
    "as_shape",
    "as_size",
    "bool_",
    "broadcast_shapes",
    "can_cast",
    "ceil_div",
    "check",
    "code",
    "complex64",
    "complex128",
    "complex_dtype",
    "default_complex",
    "default_float",
    "default_int",
    "dtype_of_code",
    "finfo",
    "float16",
    "float32",
    "float64",
    "fresh_dim",
    "iinfo",
    "int8",
    "int16",
    "int32",
    "int64",
    "is_bool",
    "is_complex",
    "is_floating",
    "is_inexact",
    "is_integer",
    "is_made_up",
    "is_nonnegative",
    "isdtype",
    "items_of",
    "max_size",
    "min_size",
    "normalize_axes",
    "normalize_axis",
    "parse_shape",
    "parse_size",
    "parse_type",
    "promote",
    "real_dtype",
    "require_equal",
    "result_type",
    "set_default_dtype",
    "solve_dims",
    "take_constraints",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "when_default_changes",
]

# --------------------------------------------------------------------------- shapes and types


def as_size(size: Any, where: str = "shape") -> Size:
    """One size of a declared shape.

    Args:
        size: an int, a ``Dim``, an expression in names, or None for a fresh name.
        where: who is named in an error.

    >>> as_size("2*n + 1"), as_size(3)
    (2*n + 1, 3)
    """
    if isinstance(size, Dim):
        return size
    if isinstance(size, str):
        return parse_size(size)
    if size is None:
        return fresh_dim()
    try:
        known = operator.index(size)
    except TypeError:
        raise ShapeError(
            where, "not a size", expected="an int, a Dim or a name", got=repr(size)
        ) from None
    if known < 0:
        raise ShapeError(where, "a size is negative", expected="0 or more", got=known)
    return known


def as_shape(shape: Any, where: str = "shape") -> Shape:
    """A declared shape: one size or a sequence of them.

    >>> as_shape(("batch", 784)), as_shape(3), as_shape(())
    ((batch, 784), (3,), ())
    """
    if isinstance(shape, (int, str, Dim)) or not isinstance(shape, Iterable):
        return (as_size(shape, where),)
    return tuple([as_size(size, where) for size in shape])  # pyright: ignore[reportUnknownVariableType]


class TensorType:
    """Element type and shape of an array. Immutable, and equal by value.

    >>> TensorType(("batch", 784), "float32")
    f32[batch, 784]
    """

    __slots__ = ("_hash", "dtype", "shape")

    shape: Final[Shape]
    dtype: Final[DType]
    _hash: Final[int]

    def __init__(self, shape: Iterable[Any], dtype: Any) -> None:
        self.shape = tuple(
            [n if (type(n) is int and n >= 0) or type(n) is Dim else as_size(n) for n in shape]
        )
        self.dtype = as_dtype(dtype)
        self._hash = hash((self.shape, self.dtype))

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> Size:
        """The number of elements.

        >>> TensorType(("n", 3), "float32").size
        3*n
        """
        count: Size = 1
        for size in self.shape:
            count = count * size
        return count

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, TensorType) and (self.dtype, self.shape) == (
            other.dtype,
            other.shape,
        )

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        return f"{code(self.dtype)}[{', '.join(map(str, self.shape))}]"

    __repr__ = __str__

    def __reduce__(self) -> tuple[Any, ...]:
        return TensorType, (self.shape, self.dtype)


class TupleType:
    """The types of the outputs of an op that has several. Immutable, and equal by value.

    >>> TupleType((TensorType((3,), "float64"), TensorType((3, 3), "float64")))
    (f64[3], f64[3, 3])
    """

    __slots__ = ("items",)

    items: Final[tuple[TensorType, ...]]

    def __init__(self, items: Iterable[TensorType]) -> None:
        self.items = tuple(items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TupleType) and self.items == other.items

    def __hash__(self) -> int:
        return hash(self.items)

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.items))})"

    __repr__ = __str__


def items_of(kind: TensorType | TupleType) -> tuple[TensorType, ...]:
    """The types of all outputs.

    >>> items_of(TensorType((3,), "float64"))
    (f64[3],)
    """
    return kind.items if isinstance(kind, TupleType) else (kind,)


# --------------------------------------------------------------------------- parsing

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
}

# No size that symgrad writes comes near these; they keep a hostile text from costing much.
_LONGEST_TEXT = 10_000
_MOST_TERMS = 1_000
_GREATEST_POWER = 64


def parse_size(text: str) -> Size:
    """The size that ``text`` describes: the inverse of ``str``.

    >>> parse_size("2*n + 1"), parse_size("max(n, 3)//2"), parse_size("784")
    (2*n + 1, max(n, 3)//2, 784)
    """
    return _parsed(text.strip(), _size_of)


def parse_shape(text: str) -> Shape:
    """The sizes that ``text`` lists, with commas between.

    >>> parse_shape("batch, max(n, 3), 784"), parse_shape("")
    ((batch, max(n, 3), 784), ())
    """
    return _parsed(f"[{text}]", _sizes_of)


_TYPE = re.compile(r"\s*(\w+)\s*\[(.*)\]\s*", re.DOTALL)


def parse_type(text: str) -> TensorType:
    """The type that ``text`` describes: the inverse of ``str``.

    >>> parse_type("f32[batch, max(n, 3)]")
    f32[batch, max(n, 3)]
    """
    match = _TYPE.fullmatch(text)
    if not match:
        raise FormatError("type", "not a type", expected="as in f32[batch, 784]", got=_shown(text))
    return TensorType(parse_shape(match[2]), dtype_of_code(match[1]))


def _shown(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:79] + "…")


_Result = TypeVar("_Result")


def _parsed(text: str, read: Callable[[ast.expr], _Result]) -> _Result:
    """Python's parser reads the text; nothing in it is evaluated."""
    try:
        if len(text) > _LONGEST_TEXT:
            raise ValueError("too long")
        return read(expression_of(text))
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
        raise FormatError(
            "size", "not a size", expected="integers, names, + - * // % and max", got=_shown(text)
        ) from None


def _sizes_of(node: ast.expr) -> Shape:
    if not isinstance(node, ast.List):
        raise ValueError("not a list of sizes")
    return tuple([_size_of(element) for element in node.elts])


def _size_of(node: ast.expr) -> Size:
    """The size of a parsed expression; ValueError for anything else."""
    match node:
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            return value
        case ast.Name(id=name):
            return Dim.named(name)
        case ast.UnaryOp(op=ast.USub(), operand=negated):
            return -_size_of(negated)
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int() as power)):
            return _power(_size_of(left), power)
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _BINARY:
            return _combined(_BINARY[type(sign)], _size_of(left), _size_of(right))
        case ast.Call(func=ast.Name(id="max"), args=[left, right], keywords=[]):
            return _combined(max_size, _size_of(left), _size_of(right))
        case _:
            raise ValueError("not a size")


def _combined(combine: Callable[[Any, Any], Size], left: Size, right: Size) -> Size:
    if _terms(left) * _terms(right) > _MOST_TERMS:
        raise ValueError("too many terms")
    return combine(left, right)


def _power(base: Size, power: int) -> Size:
    if not 0 <= power <= _GREATEST_POWER or _terms(base) != 1:
        raise ValueError("no power that symgrad writes")
    return base**power


def _terms(size: Size) -> int:
    return len(size.terms) if isinstance(size, Dim) else 1
