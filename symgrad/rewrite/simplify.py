"""Exact rules: bit-equal to what they replace, or one rounding closer to the real-number value.

What is *not* here is as much part of the level: ``x/x``, ``0*x``, ``x - x``, ``sqrt(x**2)``,
``x + 0.0`` (which turns -0.0 into 0.0) and ``not (a < b)`` stay as they are, and no sum is
reassociated. NaNs count as equal, whatever their bits.
"""

from __future__ import annotations

from symgrad.ir.op import ops
from symgrad.rewrite.constants import (
    exact_product,
    fills,
    integer_from_one,
    integers_of_one_sign,
    power_of_two,
    second_fills,
)
from symgrad.rewrite.rule import Const, Elementwise, Expr, computed, rule
from symgrad.types import TensorType, is_bool, is_floating, is_integer

# --- one and zero ---------------------------------------------------------------------------------


@rule("exact", takes="any")
def times_one(x: Expr):
    """x * 1 is x."""
    return x * 1, x


@rule("exact")
def times_minus_one(x: Expr):
    """x * -1 is -x."""
    return x * -1, -x


@rule("exact", takes="any")
def over_one(x: Expr):
    """x / 1 is x."""
    return x / 1, x


@rule("exact")
def over_minus_one(x: Expr):
    """x / -1 is -x."""
    return x / -1, -x


@rule("exact")
def minus_zero(x: Expr):
    """x - 0 is x, also where x is -0.0."""
    return x - 0, x


@rule("exact")
def plus_negative_zero(x: Expr):
    """x + -0.0 is x, also where x is -0.0."""
    return x + -0.0, x


def _integer(kind: TensorType) -> bool:
    return is_integer(kind.dtype)


@rule("exact", when=_integer)
def plus_integer_zero(x: Expr):
    """x + 0 is x among integers; among floats it turns -0.0 into 0.0."""
    return x + 0, x


@rule("exact")
def power_one(x: Expr):
    """x ** 1 is x."""
    return x**1, x


@rule("exact")
def power_zero(x: Expr):
    """x ** 0 is 1, also where x is NaN."""
    return x**0, computed(ops.ones_like)(x)


@rule("exact", rounding=True)
def power_two(x: Expr):
    """x ** 2 is a product, rounded once."""
    return x**2, ops.square(x)


@rule("exact", rounding=True)
def power_minus_one(x: Expr):
    """x ** -1 is a quotient, rounded once."""
    return x**-1, 1 / x


@rule("exact")
def times_itself(x: Expr):
    """One way to write a square."""
    return x * x, ops.square(x)


@rule("exact", takes="any")
def plus_sign(x: Expr):
    """+x is x."""
    return ops.positive(x), x


@rule("exact")
def real_of_real(x: Expr):
    """A real number is its own real part."""
    return ops.real(x), x


@rule("exact")
def conjugate_of_real(x: Expr):
    """A real number is its own conjugate."""
    return ops.conj(x), x


@rule("exact", takes="any")
def conjugate_twice(x: Expr):
    """The conjugate of the conjugate."""
    return ops.conj(ops.conj(x)), x


# --- signs ----------------------------------------------------------------------------------------


@rule("exact", takes="any")
def negative_twice(x: Expr):
    """-(-x) is x."""
    return ops.negative(-x), x


@rule("exact", takes="any")
def minus_negative(x: Expr, y: Expr):
    """x - (-y) is x + y."""
    return x - (-y), x + y


@rule("exact", takes="any")
def plus_negative(x: Expr, y: Expr):
    """x + (-y) is x - y."""
    return x + (-y), x - y


@rule("exact", when=fills)
def negative_times(x: Expr, y: Expr):
    """Signs go to the front of products, where they meet others."""
    return (-x) * y, -(x * y)


@rule("exact")
def negative_times_negative(x: Expr, y: Expr):
    """Two signs cancel."""
    return (-x) * (-y), x * y


@rule("exact", when=fills)
def negative_over(x: Expr, y: Expr):
    """Signs go to the front of quotients."""
    return (-x) / y, -(x / y)


@rule("exact", when=second_fills)
def over_negative(x: Expr, y: Expr):
    """Signs go to the front of quotients."""
    return x / (-y), -(x / y)


@rule("exact")
def negative_over_negative(x: Expr, y: Expr):
    """Two signs cancel."""
    return (-x) / (-y), x / y


@rule("exact")
def constant_times_negative(c: Const, x: Expr):
    """A constant takes the sign."""
    return c * (-x), (-c) * x


@rule("exact")
def negative_of_multiple(c: Const, x: Expr):
    """A constant takes the sign."""
    return -(c * x), (-c) * x


@rule("exact")
def constant_over_negative(c: Const, x: Expr):
    """A constant takes the sign."""
    return c / (-x), (-c) / x


@rule("exact")
def negative_of_constant_over(c: Const, x: Expr):
    """A constant takes the sign."""
    return -(c / x), (-c) / x


@rule("exact")
def negative_over_constant(c: Const, x: Expr):
    """A constant takes the sign."""
    return (-x) / c, x / (-c)


@rule("exact")
def negative_of_over_constant(c: Const, x: Expr):
    """A constant takes the sign."""
    return -(x / c), x / (-c)


EVEN = frozenset({"abs", "square", "cos", "cosh", "sech2"})
ODD = frozenset({"sin", "tan", "sinh", "tanh", "asin", "atan", "asinh", "atanh"})
NOT_NEGATIVE = frozenset({"abs", "square", "exp", "cosh", "sech2", "sigmoid", "softplus"})


def _signed(kind: TensorType) -> bool:
    return kind.dtype.kind != "u"  # the negative of an unsigned integer is positive


def _floating(kind: TensorType) -> bool:
    return is_floating(kind.dtype)  # integers wrap, to negative numbers too


@rule("exact", only=EVEN, when=_signed)
def even(f: Elementwise, x: Expr):
    """An even function does not see the sign."""
    return f(-x), f(x)


@rule("exact", only=ODD, when=_signed)
def odd(f: Elementwise, x: Expr):
    """An odd function passes the sign on."""
    return f(-x), -f(x)


@rule("exact", only=EVEN, when=_signed)
def even_of_abs(f: Elementwise, x: Expr):
    """An even function does not see the sign."""
    return f(abs(x)), f(x)


@rule("exact", only=NOT_NEGATIVE, when=_floating)
def abs_of_positive(f: Elementwise, x: Expr):
    """What is never negative is its own absolute value."""
    return abs(f(x)), f(x)


# --- constants ------------------------------------------------------------------------------------


@rule("exact", rounding=True, when=exact_product)
def merge_factors(c1: Const, c2: Const, x: Expr):
    """One product, and one rounding, less, where the factors' product is not rounded itself."""
    return c1 * (c2 * x), (c1 * c2) * x


@rule("exact", rounding=True, when=exact_product)
def merge_factor_of_quotient(c1: Const, c2: Const, x: Expr):
    """One product, and one rounding, less, where the factors' product is not rounded itself."""
    return c1 * (c2 / x), (c1 * c2) / x


@rule("exact", when=power_of_two)
def over_power_of_two(c: Const, x: Expr):
    """Dividing by a power of two is multiplying by its reciprocal, which is cheaper."""
    return x / c, (1 / c) * x


@rule("exact")
def twice(x: Expr):
    """x + x is 2 * x."""
    return x + x, 2 * x


@rule("exact", rounding=True, when=integers_of_one_sign)
def like_terms(c1: Const, c2: Const, x: Expr):
    """Integer multiples of the same add up, with two roundings less."""
    return c1 * x + c2 * x, (c1 + c2) * x


@rule("exact", rounding=True, when=integer_from_one)
def one_more(c: Const, x: Expr):
    """Integer multiples of the same add up, with one rounding less."""
    return x + c * x, (1 + c) * x


@rule("exact", rounding=True, when=second_fills)
def times_reciprocal(x: Expr, y: Expr):
    """x * (1 / y) is x / y, with one rounding less."""
    return x * (1 / y), x / y


@rule("exact", rounding=True, when=second_fills)
def times_reciprocal_op(x: Expr, y: Expr):
    """x * (1 / y) is x / y, with one rounding less."""
    return x * ops.reciprocal(y), x / y


# --- selection and logic --------------------------------------------------------------------------


def _boolean(kind: TensorType) -> bool:
    return is_bool(kind.dtype)


@rule("exact", takes="any")
def where_true(x: Expr, y: Expr):
    """A selection whose condition is known."""
    return ops.where(True, x, y), x


@rule("exact", takes="any")
def where_false(x: Expr, y: Expr):
    """A selection whose condition is known."""
    return ops.where(False, x, y), y


@rule("exact", takes="any")
def where_same(c: Expr, x: Expr):
    """A selection between equals."""
    return ops.where(c, x, x), x


@rule("exact", takes="any", mixed=True)
def where_not(c: Expr, x: Expr, y: Expr):
    """A condition's negation exchanges the branches."""
    return ops.where(ops.logical_not(c), x, y), ops.where(c, y, x)


@rule("exact", takes="any")
def where_within_first(c: Expr, x: Expr, y: Expr, z: Expr):
    """Inside a branch its condition is known."""
    return ops.where(c, ops.where(c, x, y), z), ops.where(c, x, z)


@rule("exact", takes="any")
def where_within_second(c: Expr, x: Expr, y: Expr, z: Expr):
    """Inside a branch its condition is known."""
    return ops.where(c, x, ops.where(c, y, z)), ops.where(c, x, z)


@rule("exact", when=_boolean)
def invert_truth(c: Expr):
    """One way to write a negation."""
    return ops.bitwise_invert(c), ops.logical_not(c)


@rule("exact")
def not_not(c: Expr):
    """A double negation."""
    return ops.logical_not(ops.logical_not(c)), c


@rule("exact")
def not_equal_for_equal(x: Expr, y: Expr):
    """The one comparison whose negation holds for NaN as well."""
    return ops.logical_not(ops.equal(x, y)), ops.not_equal(x, y)


@rule("exact")
def equal_for_not_equal(x: Expr, y: Expr):
    """The one comparison whose negation holds for NaN as well."""
    return ops.logical_not(ops.not_equal(x, y)), ops.equal(x, y)


IDEMPOTENT = frozenset(
    {"logical_and", "logical_or", "bitwise_and", "bitwise_or", "maximum", "minimum"}
)
CONJUNCTIONS = frozenset({"logical_and", "bitwise_and"})
DISJUNCTIONS = frozenset({"logical_or", "bitwise_or"})


@rule("exact", only=IDEMPOTENT)
def idempotent(f: Elementwise, x: Expr):
    """The same twice is the same once."""
    return f(x, x), x


@rule("exact", only=CONJUNCTIONS, when=_boolean)
def and_true(f: Elementwise, x: Expr):
    """True is the unit of conjunction."""
    return f(x, True), x


@rule("exact", only=CONJUNCTIONS, when=_boolean)
def true_and(f: Elementwise, x: Expr):
    """True is the unit of conjunction."""
    return f(True, x), x


@rule("exact", only=DISJUNCTIONS, when=_boolean)
def or_false(f: Elementwise, x: Expr):
    """False is the unit of disjunction."""
    return f(x, False), x


@rule("exact", only=DISJUNCTIONS, when=_boolean)
def false_or(f: Elementwise, x: Expr):
    """False is the unit of disjunction."""
    return f(False, x), x
