"""Rules that reassociate products: for what the differentiator lays out, and for level "fast".

The differentiator chooses the order of its own products, so it may choose one in which constants
and signs stand in front, where they meet and merge, and in which products that come again are the
same symbol. Sums are never reassociated.
"""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.ir.op import ops
from symgrad.ir.symbol import Symbol, building
from symgrad.rewrite.constants import is_number, moderate, number
from symgrad.rewrite.rule import Attribute, Const, Expr, applied, computed, rule
from symgrad.types import TensorType

# --- constants and signs to the front -------------------------------------------------------------


def _may_move(kind: TensorType, c: Symbol, x: Symbol) -> bool:
    """The constant is moderate, and does not move to a larger array."""
    return x.shape == kind.shape and moderate(kind, c)


def _may_merge(kind: TensorType, c1: Symbol, c2: Symbol) -> bool:
    return moderate(kind, c1, c2)


@rule("derivative", when=_may_move)
def factor_to_front(y: Expr, c: Const, x: Expr):
    """Constants go to the front of products."""
    return y * (c * x), c * (y * x)


@rule("derivative", when=_may_merge)
def factors_to_front(c1: Const, x: Expr, c2: Const, y: Expr):
    """Constants go to the front of products, and merge."""
    return (c1 * x) * (c2 * y), (c1 * c2) * (x * y)


@rule("derivative", when=_may_merge)
def merge_rounded_factors(c1: Const, c2: Const, x: Expr):
    """Two factors are one, also where their product is rounded."""
    return c1 * (c2 * x), (c1 * c2) * x


@rule("derivative", when=_may_move)
def factor_of_numerator_to_front(c: Const, x: Expr, y: Expr):
    """Constants go to the front of quotients."""
    return (c * x) / y, c * (x / y)


@rule("derivative")
def negative_of_difference(x: Expr, y: Expr):
    """-(x - y) is y - x, but for the sign of a zero."""
    return -(x - y), y - x


@rule("derivative")
def negative_minus(x: Expr, y: Expr):
    """(-x) - y is -(x + y), but for the sign of a zero."""
    return (-x) - y, -(x + y)


def _is_negative(c: Symbol) -> bool:
    return number(c) < 0


@rule("derivative", when=_is_negative)
def plus_negative_multiple(y: Expr, c: Const, x: Expr):
    """Adding a negative multiple is subtracting a positive one."""
    return y + c * x, y - (-c) * x


@rule("derivative", when=_is_negative)
def minus_negative_multiple(y: Expr, c: Const, x: Expr):
    """Subtracting a negative multiple is adding a positive one."""
    return y - c * x, y + (-c) * x


@rule("derivative")
def plus_zero(x: Expr):
    """x + 0 is x, but for the sign of a zero."""
    return x + 0, x


@rule("derivative")
def zero_minus(x: Expr):
    """0 - x is -x, but for the sign of a zero."""
    return 0 - x, -x


@rule("derivative")
def sum_of_negative(x: Expr, axis: Attribute, dtype: Attribute, keepdims: Attribute):
    """The sign goes to the smaller array; a sum that is zero may change its sign."""
    summed = applied("sum", x, axis=axis, dtype=dtype, keepdims=keepdims)
    return applied("sum", -x, axis=axis, dtype=dtype, keepdims=keepdims), -summed


@rule("derivative", takes="any")
def sum_over_no_axis(x: Expr, dtype: Attribute, keepdims: Attribute):
    """A sum over no axis is what it sums, but for the sign of a zero."""
    return applied("sum", x, axis=(), dtype=dtype, keepdims=keepdims), x


# --- what comes again -----------------------------------------------------------------------------

BOUNDED = frozenset({"sech2", "sigmoid", "tanh", "sin", "cos"})


def _hold_output(args: Sequence[Symbol]) -> bool:
    """Whether a factor holds the output that is being differentiated."""
    origin = building.origin
    if origin is None or origin.primal.op.name not in BOUNDED:
        return False
    return any(factor is origin.primal for arg in args for factor in arg.args)


def _is_slope(t: Symbol, y: Symbol, z: Symbol) -> bool:
    """The op of ``y`` is differentiated, ``t`` is the tangent and ``z`` is of the slope."""
    origin = building.origin
    if origin is None or origin.primal is not y or is_number(t):
        return False
    (x,) = y.args
    return _is_function_of(z, x) and not _is_function_of(t, x)


def _is_function_of(z: Symbol, x: Symbol) -> bool:
    """``z`` is an op of ``x`` or ``-x`` alone."""
    if len(z.args) != 1:
        return False
    (argument,) = z.args
    return argument is x or (argument.op.name == "negative" and argument.args[0] is x)


@rule("derivative", gate=_hold_output, when=_is_slope)
def slope_with_output(t: Expr, y: Expr, z: Expr):
    """A slope that holds the output ``y``: tangent times output often is the tangent of another.

    So the tangent of ``sech2(x)`` is ``-2 * (t*sech2(x)) * tanh(x)``, where ``t*sech2(x)`` is the
    tangent of ``tanh(x)``. For outputs of at most 1, so that no product overflows on the way.
    """
    return t * (y * z), (t * y) * z


# --- real-number identities -----------------------------------------------------------------------


@rule("fast")
def self_quotient(x: Expr):
    """x / x is 1, except at zero, infinity and NaN."""
    return x / x, computed(ops.ones_like)(x)


@rule("fast")
def self_difference(x: Expr):
    """x - x is 0, except at infinity and NaN."""
    return x - x, computed(ops.zeros_like)(x)


@rule("fast")
def times_zero(x: Expr):
    """x * 0 is 0, except at infinity and NaN, and but for the sign of the zero."""
    return x * 0, computed(ops.zeros_like)(x)


@rule("fast")
def plus_any_zero(x: Expr):
    """x + 0 is x, but for the sign of a zero."""
    return x + 0, x


@rule("fast")
def root_of_square(x: Expr):
    """sqrt(x**2) is abs(x), where the square does not overflow."""
    return ops.sqrt(ops.square(x)), abs(x)


@rule("fast")
def exp_of_log(x: Expr):
    """e**log(x) is x where there is a logarithm."""
    return ops.exp(ops.log(x)), x


@rule("fast")
def power_half(x: Expr):
    """x ** 0.5 is sqrt(x), but for -0.0 and -infinity."""
    return x**0.5, ops.sqrt(x)


@rule("fast")
def power_three(x: Expr):
    """x ** 3 as two products."""
    return x**3, x * ops.square(x)
