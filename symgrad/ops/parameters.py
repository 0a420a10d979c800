"""What functions of a key make of their arguments: element types, shapes, parameters in range."""

from __future__ import annotations

from typing import Any

from symgrad.errors import ArgumentError, DTypeError
from symgrad.ir.op import ops
from symgrad.ops.declaring import require_kind
from symgrad.ops.draws import open_uniform, sizes_of
from symgrad.types import (
    Shape,
    as_dtype,
    broadcast_shapes,
    default_float,
    default_int,
    is_inexact,
    promote,
    require_equal,
    take_constraints,
)


def is_number(value: Any) -> bool:
    """Whether a parameter is a number of Python's, known when the graph is built."""
    return isinstance(value, (int, float))


def equals(value: Any, number: float) -> bool:
    """Whether a parameter is this number; an array is not."""
    return is_number(value) and value == number


def require_range(where: str, name: str, value: Any, within: bool, expected: str) -> None:
    """Refuse a number out of range; what arrays hold is only known when the graph runs."""
    if is_number(value) and not within:
        raise ArgumentError(where, f"{name} is out of range", expected=expected, got=value)


def require_positive(where: str, **parameters: Any) -> None:
    """Refuse numbers that are not positive."""
    for name, value in parameters.items():
        require_range(where, name, value, is_number(value) and value > 0, "a positive number")


def require_probability(where: str, p: Any) -> None:
    """Refuse a number outside [0, 1]."""
    if is_number(p) and not 0 <= p <= 1:
        raise ArgumentError(where, "p is no probability", expected="0 to 1", got=p)


def draws_dtype(dtype: Any, *parameters: Any) -> Any:
    """The element type asked for; or else the parameters', if they have one."""
    if dtype is not None:
        chosen = as_dtype(dtype)
    else:
        given = [p.dtype for p in parameters if hasattr(p, "dtype") and is_inexact(p.dtype)]
        chosen = promote(*given) if given else default_float()
    require_kind("random", chosen, "floating", "the result")
    return chosen


def counts_dtype(dtype: Any) -> Any:
    """The element type of random integers that may be negative; floats hold them as well."""
    chosen = default_int() if dtype is None else as_dtype(dtype)
    if chosen.kind not in "if":
        expected = "signed integers or floating"
        raise DTypeError("random", "element type of the result", expected=expected, got=chosen)
    return chosen


def together(where: str, *shapes: Any) -> Shape:
    """The shape that these broadcast to.

    What it requires of named dimensions is left to the ops that will use them: here is no symbol
    to carry it.
    """
    try:
        return broadcast_shapes(where, *shapes)
    finally:
        take_constraints()


def require_same(where: str, first: Any, second: Any, what: str) -> None:
    """Refuse sizes that differ; what that requires of names is left to the ops, too."""
    try:
        require_equal(first, second, where, what)
    finally:
        take_constraints()


def draws_shape(where: str, shape: Any, *parameters: Any) -> Shape:
    """The shape asked for; or else that to which the parameters broadcast."""
    if shape is not None:
        return sizes_of(where, shape)
    return together(where, *(p.shape for p in parameters if hasattr(p, "shape")))


def as_operand(value: Any) -> Any:
    """A list as a tensor; what has a shape, and a number, as it is."""
    return ops.asarray(value) if isinstance(value, (list, tuple)) else value


def parameter(value: Any, shape: Shape, dtype: Any) -> Any:
    """A parameter of a distribution, in its element type and of the shape of the draws."""
    value = as_operand(value)
    if not hasattr(value, "dtype"):
        return value
    if value.dtype != dtype:
        value = ops.astype(value, dtype)
    return value if value.shape in ((), shape) else ops.broadcast_to(value, shape)


def array_parameter(value: Any, dtype: Any) -> Any:
    """A parameter as an operand in this element type, also where it is a number."""
    value = ops.asarray(value) if not hasattr(value, "dtype") else value
    return value if value.dtype == dtype else ops.astype(value, dtype)


def moved(z: Any, loc: Any, scale: Any) -> Any:
    """``loc + scale * z``, for parameters that may do nothing."""
    shape, dtype = z.shape, z.dtype
    if not equals(scale, 1):
        z = z * parameter(scale, shape, dtype)
    return z if equals(loc, 0) else parameter(loc, shape, dtype) + z


def evenly(key: Any, shape: Shape) -> Any:
    """Numbers spread evenly over (0, 1), in double precision: other distributions' quantiles
    follow from them and are rounded once."""
    return open_uniform(key, shape=shape)


def rounded(z: Any, dtype: Any) -> Any:
    """Double precision in the element type of the draws."""
    return z if z.dtype == dtype else ops.astype(z, dtype)
