"""What is known of values while a graph is built, and conditions that rules share."""

from __future__ import annotations

import math
from collections.abc import Collection
from fractions import Fraction
from typing import Any

import numpy as np

from symgrad.ir.symbol import CONSTANT, INTERNED_CONSTANT, Symbol, constant
from symgrad.types import TensorType, is_floating, is_integer


def is_number(symbol: Symbol) -> bool:
    """Whether it is a constant of one element."""
    return symbol.op is CONSTANT and symbol.payload.size == 1


def number(symbol: Symbol) -> Any:
    """The value of a constant of one element, as a Python number."""
    return symbol.payload.item()


def is_uniform(symbol: Symbol) -> bool:
    """Whether it is a small constant of several elements, all of them equal."""
    if symbol.op is not CONSTANT or not 1 < symbol.payload.size <= INTERNED_CONSTANT:
        return False
    return holds(symbol, symbol.payload.item(0))


def holds(symbol: Symbol, value: complex, keep: Collection[Symbol] = ()) -> bool:
    """Whether all elements are known to be ``value``, the sign of a zero included.

    Args:
        keep: symbols of which nothing is taken for known.
    """
    while symbol.op.name == "broadcast_to" and symbol not in keep:
        symbol = symbol.args[0]
    if symbol in keep:
        return False
    if symbol.op.name == "filled":
        return _is_same(symbol.attrs["fill_value"], value)
    if symbol.op is not CONSTANT or not 0 < symbol.payload.size <= INTERNED_CONSTANT:
        return False
    array = symbol.payload
    if array.size == 1 or not _is_same(array.item(0), value):
        return array.size == 1 and _is_same(array.item(), value)
    return all(_is_same(element, value) for element in array.ravel().tolist())


def first_element(symbol: Symbol) -> Symbol:
    """The first element of a constant, as a constant without axes."""
    return constant(symbol.payload.item(0), symbol.dtype)


def _is_same(found: Any, value: Any) -> bool:
    if found != value or found != 0 or isinstance(found, complex):
        return found == value
    return math.copysign(1, found) == math.copysign(1, value)


# --- conditions on shapes -------------------------------------------------------------------------


def fills(kind: TensorType, x: Symbol) -> bool:
    """What moves from ``x`` to the result does not move to a larger array."""
    return x.shape == kind.shape


def second_fills(kind: TensorType, y: Symbol) -> bool:
    """The same for the second operand."""
    return y.shape == kind.shape


# --- conditions on constants ----------------------------------------------------------------------


def _of_type(kind: TensorType, *constants: Symbol) -> bool:
    return all(c.dtype == kind.dtype for c in constants)


def _is_representable(dtype: np.dtype[Any], value: Fraction) -> bool:
    """Whether a float type holds the value exactly, as a normal number."""
    try:
        rounded = float(value)
    except OverflowError:
        return False
    with np.errstate(all="ignore"):
        stored = float(dtype.type(rounded))
    return is_normal(dtype, stored) and Fraction(stored) == value


def is_normal(dtype: np.dtype[Any], value: float) -> bool:
    """Neither zero, subnormal, infinite nor NaN."""
    info = np.finfo(dtype)
    return float(info.smallest_normal) <= abs(value) <= float(info.max)


def exact_product(kind: TensorType, c1: Symbol, c2: Symbol) -> bool:
    """The product of two constants needs no rounding.

    Subnormal products are left out: what is scaled by one in two steps may lose digits in between.
    """
    if not _of_type(kind, c1, c2):
        return False
    if is_integer(kind.dtype):
        return True  # integers wrap, so that products associate
    a, b = number(c1), number(c2)
    if not is_floating(kind.dtype) or not (math.isfinite(a) and math.isfinite(b)):
        return False
    return _is_representable(kind.dtype, Fraction(a) * Fraction(b))


def power_of_two(kind: TensorType, c: Symbol) -> bool:
    """A power of two whose reciprocal is a normal number: dividing by it is multiplying."""
    value = number(c)
    if not is_floating(kind.dtype) or not _of_type(kind, c) or not is_normal(kind.dtype, value):
        return False
    return abs(math.frexp(value)[0]) == 0.5 and is_normal(kind.dtype, 1 / value)


def integers_of_one_sign(kind: TensorType, c1: Symbol, c2: Symbol) -> bool:
    """Integers whose sum is one of the element type.

    Of one sign, since ``2*x - x`` is NaN at infinity where ``x`` is not.
    """
    if not _of_type(kind, c1, c2):
        return False
    if is_integer(kind.dtype):
        return True
    a, b = number(c1), number(c2)
    if not is_floating(kind.dtype) or not a * b > 0 or not (math.isfinite(a) and math.isfinite(b)):
        return False
    whole = float(a).is_integer() and float(b).is_integer()
    return whole and _is_representable(kind.dtype, Fraction(a) + Fraction(b))


def integer_from_one(kind: TensorType, c: Symbol) -> bool:
    """A positive integer, whose successor is one of the element type too."""
    if not _of_type(kind, c):
        return False
    if is_integer(kind.dtype):
        return True
    value = number(c)
    if not is_floating(kind.dtype) or not value >= 1 or not float(value).is_integer():
        return False
    return _is_representable(kind.dtype, Fraction(value) + 1)


def moderate(kind: TensorType, *constants: Symbol) -> bool:
    """So far from overflow and underflow that the order of a product does not matter for them."""
    if not is_floating(kind.dtype) or not _of_type(kind, *constants):
        return False
    bound = 2.0 ** (np.finfo(kind.dtype).maxexp // 16)
    return all(1 / bound <= abs(number(c)) <= bound for c in constants)
