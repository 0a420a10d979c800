"""Stabilising rules: real-number identities that go round an overflow or a cancellation.

Each holds wherever the left side has a real value, so what is replaced is at most an infinity, a
NaN or a loss of digits that an *intermediate* result made. At infinite arguments, where a formula
such as e**x / (1 + e**x) is NaN, the right side may be its limit. Complex logarithms have branches:
all rules here are for real numbers.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

from symgrad.ir.op import ops
from symgrad.ir.symbol import Symbol
from symgrad.rewrite.constants import holds, number
from symgrad.rewrite.rule import Attribute, Const, Expr, applied, computed, rule
from symgrad.types import Dim, Size

Axes = tuple[int, ...]

# --- logarithms of sums ---------------------------------------------------------------------------


@rule("stabilize")
def log_of_one_plus(x: Expr):
    """log(1 + x) is log1p(x), which keeps the digits of a small x."""
    return ops.log(1 + x), ops.log1p(x)


@rule("stabilize")
def log_of_one_minus(x: Expr):
    """log(1 - x) is log1p(-x), which keeps the digits of a small x."""
    return ops.log(1 - x), ops.log1p(-x)


@rule("stabilize")
def log_of_one_plus_exp(x: Expr):
    """log(1 + e**x) is softplus(x), which does not overflow."""
    return ops.log(1 + ops.exp(x)), ops.softplus(x)


@rule("stabilize")
def log1p_of_exp(x: Expr):
    """log(1 + e**x) is softplus(x), which does not overflow."""
    return ops.log1p(ops.exp(x)), ops.softplus(x)


@rule("stabilize")
def log_of_two_exps(x: Expr, y: Expr):
    """log(e**x + e**y) is logaddexp(x, y), which does not overflow."""
    return ops.log(ops.exp(x) + ops.exp(y)), ops.logaddexp(x, y)


LONGEST_SUM = 16
"""Sums written out with so many exponentials are still taken for one."""


def _exponentials(sum_: Symbol, keep: Collection[Symbol]) -> int:
    """How many exponentials add up to a symbol; 0 if it is another sum, or too long a one.

    Python's ``sum`` starts from a zero.
    """
    count, pending = 0, [sum_]
    while pending:
        symbol = pending.pop()
        if symbol in keep:
            return 0
        if symbol.op.name == "add":
            pending += symbol.args
        elif symbol.op.name == "exp":
            count += 1
        elif not holds(symbol, 0, keep):
            return 0
        if count + len(pending) > LONGEST_SUM:
            return 0
    return count


def _all_exponentials(s: Symbol, keep: Collection[Symbol]) -> bool:
    return _exponentials(s, keep) > 0


def _both_all_exponentials(s: Symbol, t: Symbol, keep: Collection[Symbol]) -> bool:
    return _exponentials(s, keep) > 0 and _exponentials(t, keep) > 0


@rule("stabilize", when=_all_exponentials)
def log_of_exps(s: Expr, x: Expr):
    """log(s + e**x) is logaddexp(log(s), x), where s is a sum of exponentials as well."""
    return ops.log(s + ops.exp(x)), ops.logaddexp(ops.log(s), x)


@rule("stabilize", when=_both_all_exponentials)
def log_of_sums_of_exps(s: Expr, t: Expr):
    """log(s + t) is logaddexp(log(s), log(t)), where both are sums of exponentials."""
    return ops.log(s + t), ops.logaddexp(ops.log(s), ops.log(t))


@rule("stabilize")
def log_of_summed_exp(x: Expr, axis: Attribute, dtype: Attribute, keepdims: Attribute):
    """The log of a sum of exponentials, which does not overflow."""
    summed = applied("sum", ops.exp(x), axis=axis, dtype=dtype, keepdims=keepdims)
    return ops.log(summed), applied("logsumexp", x, axis=axis, keepdims=keepdims)


def _log_mean_exp(x: Symbol, axis: Axes, keepdims: bool) -> Symbol:
    count: Size = 1
    for one in axis:
        count = count * x.shape[one]
    known = not isinstance(count, Dim)
    log_count = math.log(count) if known else ops.log(ops.size(dim=count, dtype=x.dtype))
    return ops.logsumexp(x, axis=axis, keepdims=keepdims) - log_count


def _nonempty(x: Symbol, axis: Axes) -> bool:
    return all(x.shape[one] != 0 for one in axis)


@rule("stabilize", when=_nonempty)
def log_of_mean_exp(x: Expr, axis: Attribute, keepdims: Attribute):
    """The log of a mean of exponentials is that of their sum, less the log of their number."""
    averaged = applied("mean", ops.exp(x), axis=axis, keepdims=keepdims)
    return ops.log(averaged), computed(_log_mean_exp)(x, axis, keepdims)


# --- exponentials and logarithms undone -----------------------------------------------------------


@rule("stabilize")
def log_of_exp(x: Expr):
    """log(e**x) is x."""
    return ops.log(ops.exp(x)), x


@rule("stabilize")
def log_of_zero_plus_exp(x: Expr):
    """log(0 + e**x) is x."""
    return ops.log(0 + ops.exp(x)), x


def _is_positive(c: Symbol) -> bool:
    return 0 < number(c) < math.inf


@rule("stabilize", when=_is_positive)
def log_of_scaled_exp(c: Const, x: Expr):
    """log(c * e**x) is x + log(c)."""
    return ops.log(c * ops.exp(x)), x + ops.log(c)


@rule("stabilize", when=_is_positive)
def log_of_divided_exp(c: Const, x: Expr):
    """log(e**x / c) is x - log(c)."""
    return ops.log(ops.exp(x) / c), x - ops.log(c)


@rule("stabilize")
def log1p_of_expm1(x: Expr):
    """log(1 + (e**x - 1)) is x."""
    return ops.log1p(ops.expm1(x)), x


@rule("stabilize")
def exp_minus_one(x: Expr):
    """e**x - 1 is expm1(x), which keeps the digits of a small x."""
    return ops.exp(x) - 1, ops.expm1(x)


@rule("stabilize")
def exp_plus_minus_one(x: Expr):
    """e**x + -1 is expm1(x), which keeps the digits of a small x."""
    return ops.exp(x) + -1, ops.expm1(x)


@rule("stabilize")
def one_minus_exp(x: Expr):
    """1 - e**x is -expm1(x), which keeps the digits of a small x."""
    return 1 - ops.exp(x), -ops.expm1(x)


# --- the logistic function ------------------------------------------------------------------------


@rule("stabilize")
def logistic(x: Expr):
    """1 / (1 + e**-x) is sigmoid(x), whose derivative does not overflow."""
    return 1 / (1 + ops.exp(-x)), ops.sigmoid(x)


@rule("stabilize")
def logistic_of_negative(x: Expr):
    """1 / (1 + e**x) is sigmoid(-x), whose derivative does not overflow."""
    return 1 / (1 + ops.exp(x)), ops.sigmoid(-x)


@rule("stabilize")
def over_logistic(y: Expr, x: Expr):
    """y / (1 + e**-x) is y * sigmoid(x), whose derivative does not overflow."""
    return y / (1 + ops.exp(-x)), y * ops.sigmoid(x)


@rule("stabilize")
def over_logistic_of_negative(y: Expr, x: Expr):
    """y / (1 + e**x) is y * sigmoid(-x), whose derivative does not overflow."""
    return y / (1 + ops.exp(x)), y * ops.sigmoid(-x)


@rule("stabilize")
def exp_over_one_plus_exp(x: Expr):
    """e**x / (1 + e**x) is sigmoid(x), which does not overflow."""
    return ops.exp(x) / (1 + ops.exp(x)), ops.sigmoid(x)


@rule("stabilize")
def one_minus_sigmoid(x: Expr):
    """1 - sigmoid(x) is sigmoid(-x), which keeps its digits where sigmoid(x) is almost 1."""
    return 1 - ops.sigmoid(x), ops.sigmoid(-x)


@rule("stabilize")
def log_of_sigmoid(x: Expr):
    """log(sigmoid(x)), which does not underflow."""
    return ops.log(ops.sigmoid(x)), ops.log_sigmoid(x)


@rule("stabilize")
def log1p_of_negative_sigmoid(x: Expr):
    """log(1 - sigmoid(x)) is log(sigmoid(-x)), which does not underflow."""
    return ops.log1p(-ops.sigmoid(x)), ops.log_sigmoid(-x)


# --- softmax --------------------------------------------------------------------------------------


def _along_one_axis(x: Symbol, axis: Axes, keepdims: bool) -> bool:
    """The reduced axis is one, and broadcasts back to where it was."""
    return len(axis) == 1 and (keepdims or x.ndim == 1)


def _first(axis: Axes) -> int:
    return axis[0]


def _softmax(name: str, x: Any, axis: Any) -> Any:
    return applied(name, x, axis=computed(_first)(axis))


@rule("stabilize", when=_along_one_axis)
def normalised_exp(x: Expr, axis: Attribute, dtype: Attribute, keepdims: Attribute):
    """Exponentials over their sum, which do not overflow."""
    summed = applied("sum", ops.exp(x), axis=axis, dtype=dtype, keepdims=keepdims)
    return ops.exp(x) / summed, _softmax("softmax", x, axis)


@rule("stabilize", when=_along_one_axis)
def minus_logsumexp(x: Expr, axis: Attribute, keepdims: Attribute):
    """x - logsumexp(x) is log_softmax(x), which keeps the digits of large x."""
    total = applied("logsumexp", x, axis=axis, keepdims=keepdims)
    return x - total, _softmax("log_softmax", x, axis)


def _axis_put_back(x: Symbol, axis: Axes, keepdims: bool, shape: tuple[Size, ...]) -> bool:
    kept = tuple(1 if k in axis else size for k, size in enumerate(x.shape))
    return len(axis) == 1 and not keepdims and shape == kept


@rule("stabilize", when=_axis_put_back)
def normalised_exp_by_hand(
    x: Expr,
    axis: Attribute,
    dtype: Attribute,
    keepdims: Attribute,
    shape: Attribute,
    copy: Attribute,
):
    """Exponentials over their sum, which do not overflow."""
    summed = applied("sum", ops.exp(x), axis=axis, dtype=dtype, keepdims=keepdims)
    total = applied("reshape", summed, shape=shape, copy=copy)
    return ops.exp(x) / total, _softmax("softmax", x, axis)


@rule("stabilize", when=_axis_put_back)
def minus_logsumexp_by_hand(
    x: Expr, axis: Attribute, keepdims: Attribute, shape: Attribute, copy: Attribute
):
    """x - logsumexp(x) is log_softmax(x), which keeps the digits of large x."""
    summed = applied("logsumexp", x, axis=axis, keepdims=keepdims)
    total = applied("reshape", summed, shape=shape, copy=copy)
    return x - total, _softmax("log_softmax", x, axis)


@rule("stabilize")
def log_of_softmax(x: Expr, axis: Attribute):
    """log(softmax(x)), which does not underflow."""
    return ops.log(ops.softmax(x, axis)), ops.log_softmax(x, axis)


# The probabilities of some classes, picked out before their logarithm is taken.


@rule("stabilize")
def log_of_picked_softmax(x: Expr, axis: Attribute, positions: Attribute):
    """The log passes through a choice of elements."""
    softmax, log_softmax = ops.softmax(x, axis), ops.log_softmax(x, axis)
    return ops.log(ops.pick(softmax, positions=positions)), ops.pick(
        log_softmax, positions=positions
    )


@rule("stabilize")
def log_of_sliced_softmax(
    x: Expr, axis: Attribute, starts: Attribute, stops: Attribute, steps: Attribute
):
    """The log passes through a choice of elements."""
    cut: dict[str, Any] = {"starts": starts, "stops": stops, "steps": steps}
    softmax, log_softmax = ops.softmax(x, axis), ops.log_softmax(x, axis)
    return ops.log(ops.slice_axes(softmax, **cut)), ops.slice_axes(log_softmax, **cut)


@rule("stabilize")
def log_of_taken_softmax(x: Expr, axis: Attribute, indices: Expr, along: Attribute):
    """The log passes through a choice of elements."""
    softmax, log_softmax = ops.softmax(x, axis), ops.log_softmax(x, axis)
    return ops.log(ops.take(softmax, indices, axis=along)), ops.take(
        log_softmax, indices, axis=along
    )


@rule("stabilize")
def log_of_softmax_taken_along(x: Expr, axis: Attribute, indices: Expr, along: Attribute):
    """The log passes through a choice of elements."""
    softmax, log_softmax = ops.softmax(x, axis), ops.log_softmax(x, axis)
    return (
        ops.log(ops.take_along_axis(softmax, indices, axis=along)),
        ops.take_along_axis(log_softmax, indices, axis=along),
    )


@rule("stabilize")
def log_of_gathered_softmax(
    x: Expr, axis: Attribute, i: Expr, layout: Attribute, unique: Attribute
):
    """The log passes through a choice of elements."""
    at: dict[str, Any] = {"layout": layout, "unique": unique}
    softmax, log_softmax = ops.softmax(x, axis), ops.log_softmax(x, axis)
    return ops.log(ops.gather_at([softmax, i], **at)), ops.gather_at([log_softmax, i], **at)


@rule("stabilize")
def log_of_softmax_gathered_by_two(
    x: Expr, axis: Attribute, i: Expr, j: Expr, layout: Attribute, unique: Attribute
):
    """The log passes through a choice of elements."""
    at: dict[str, Any] = {"layout": layout, "unique": unique}
    softmax, log_softmax = ops.softmax(x, axis), ops.log_softmax(x, axis)
    return ops.log(ops.gather_at([softmax, i, j], **at)), ops.gather_at([log_softmax, i, j], **at)


@rule("stabilize")
def log_of_reshaped_softmax(x: Expr, axis: Attribute, shape: Attribute, copy: Attribute):
    """The log passes through a change of shape."""
    softmax, log_softmax = ops.softmax(x, axis), ops.log_softmax(x, axis)
    return (
        ops.log(applied("reshape", softmax, shape=shape, copy=copy)),
        applied("reshape", log_softmax, shape=shape, copy=copy),
    )
