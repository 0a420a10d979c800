"""Exact rules about shapes: casts and movements that do nothing, broadcasts that come too early.

They move elements and compute nothing, so no bit changes.
"""

from __future__ import annotations

from typing import Any

from symgrad.ir.op import ops
from symgrad.ir.symbol import constant
from symgrad.rewrite.constants import fills, first_element
from symgrad.rewrite.rule import (
    Attribute,
    Elementwise,
    Expr,
    Uniform,
    applied,
    computed,
    rule,
)

# --- casting and moving ---------------------------------------------------------------------------


@rule("exact", takes="any")
def cast_to_own_type(x: Expr, dtype: Attribute, copy: Attribute, device: Attribute):
    """A cast to the type that it has already."""
    return applied("astype", x, dtype=dtype, copy=copy, device=device), x


@rule("exact", takes="any")
def reshape_to_own_shape(x: Expr, shape: Attribute, copy: Attribute):
    """A reshape to the shape that it has already."""
    return applied("reshape", x, shape=shape, copy=copy), x


@rule("exact", takes="any")
def reshape_twice(x: Expr, before: Attribute, shape: Attribute, copy1: Attribute, copy2: Attribute):
    """Only the last shape matters."""
    inner = applied("reshape", x, shape=before, copy=copy1)
    return applied("reshape", inner, shape=shape, copy=copy2), applied(
        "reshape", x, shape=shape, copy=copy2
    )


@rule("exact", takes="any")
def broadcast_to_own_shape(x: Expr, shape: Attribute):
    """A broadcast to the shape that it has already."""
    return ops.broadcast_to(x, shape), x


@rule("exact", takes="any")
def broadcast_twice(x: Expr, before: Attribute, shape: Attribute):
    """Only the last shape matters."""
    return ops.broadcast_to(ops.broadcast_to(x, before), shape), ops.broadcast_to(x, shape)


def _in_order(axes: tuple[int, ...]) -> bool:
    return axes == tuple(range(len(axes)))


@rule("exact", takes="any", when=_in_order)
def permute_to_own_order(x: Expr, axes: Attribute):
    """A permutation that moves nothing."""
    return ops.permute_dims(x, axes), x


def _composed(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(first[axis] for axis in second)


@rule("exact", takes="any")
def permute_twice(x: Expr, first: Attribute, second: Attribute):
    """Two permutations are one."""
    twice_permuted = ops.permute_dims(ops.permute_dims(x, first), second)
    return twice_permuted, ops.permute_dims(x, computed(_composed)(first, second))


# --- broadcasting by itself -----------------------------------------------------------------------
#
# An element-wise op broadcasts its operands, so a broadcast before it moves behind it, where it is
# dropped if the other operands fill the shape.


BY_EXPONENT = frozenset({"pow"})
"""Where a kernel computes otherwise, in the last bit, if one number stands for a whole operand."""


@rule("exact", takes="any", mixed=True)
def broadcast_after(f: Elementwise, x: Expr, shape: Attribute):
    """Compute first, on the smaller array."""
    return f(ops.broadcast_to(x, shape)), ops.broadcast_to(f(x), shape)


@rule("exact", takes="any", mixed=True)
def broadcast_first_operand(f: Elementwise, x: Expr, y: Expr, shape: Attribute):
    """Compute first, on the smaller array."""
    return f(ops.broadcast_to(x, shape), y), ops.broadcast_to(f(x, y), shape)


@rule("exact", takes="any", mixed=True)
def broadcast_second_operand(f: Elementwise, x: Expr, y: Expr, shape: Attribute):
    """Compute first, on the smaller array."""
    return f(x, ops.broadcast_to(y, shape)), ops.broadcast_to(f(x, y), shape)


@rule("exact", takes="any", mixed=True)
def broadcast_condition(c: Expr, x: Expr, y: Expr, shape: Attribute):
    """Select first, on the smaller array."""
    return ops.where(ops.broadcast_to(c, shape), x, y), ops.broadcast_to(ops.where(c, x, y), shape)


@rule("exact", takes="any", mixed=True)
def broadcast_first_branch(c: Expr, x: Expr, y: Expr, shape: Attribute):
    """Select first, on the smaller array."""
    return ops.where(c, ops.broadcast_to(x, shape), y), ops.broadcast_to(ops.where(c, x, y), shape)


@rule("exact", takes="any", mixed=True)
def broadcast_second_branch(c: Expr, x: Expr, y: Expr, shape: Attribute):
    """Select first, on the smaller array."""
    return ops.where(c, x, ops.broadcast_to(y, shape)), ops.broadcast_to(ops.where(c, x, y), shape)


@rule("exact", takes="any", mixed=True, barring=BY_EXPONENT, when=fills)
def uniform_first_operand(f: Elementwise, c: Uniform, x: Expr):
    """An array of one value is that value, broadcast."""
    return f(c, x), f(computed(first_element)(c), x)


@rule("exact", takes="any", mixed=True, barring=BY_EXPONENT, when=fills)
def uniform_second_operand(f: Elementwise, x: Expr, c: Uniform):
    """An array of one value is that value, broadcast."""
    return f(x, c), f(x, computed(first_element)(c))


def _filled(value: Attribute, shape: Attribute, dtype: Attribute) -> Any:
    return applied("filled", shape=shape, fill_value=value, dtype=dtype)


@rule("exact", takes="any", mixed=True, barring=BY_EXPONENT)
def filled_first_operand(
    f: Elementwise, x: Expr, value: Attribute, shape: Attribute, dtype: Attribute
):
    """An array of one value is that value, broadcast."""
    number = computed(constant)(value, dtype)
    return f(_filled(value, shape, dtype), x), ops.broadcast_to(f(number, x), shape)


@rule("exact", takes="any", mixed=True, barring=BY_EXPONENT)
def filled_second_operand(
    f: Elementwise, x: Expr, value: Attribute, shape: Attribute, dtype: Attribute
):
    """An array of one value is that value, broadcast."""
    number = computed(constant)(value, dtype)
    return f(x, _filled(value, shape, dtype)), ops.broadcast_to(f(x, number), shape)


@rule("exact", takes="any", mixed=True)
def filled_first_branch(c: Expr, x: Expr, value: Attribute, shape: Attribute, dtype: Attribute):
    """An array of one value is that value, broadcast."""
    number = computed(constant)(value, dtype)
    left = ops.where(c, _filled(value, shape, dtype), x)
    return left, ops.broadcast_to(ops.where(c, number, x), shape)


@rule("exact", takes="any", mixed=True)
def filled_second_branch(c: Expr, x: Expr, value: Attribute, shape: Attribute, dtype: Attribute):
    """An array of one value is that value, broadcast."""
    number = computed(constant)(value, dtype)
    left = ops.where(c, x, _filled(value, shape, dtype))
    return left, ops.broadcast_to(ops.where(c, x, number), shape)


@rule("exact", takes="any", mixed=True)
def broadcast_filled(value: Attribute, before: Attribute, shape: Attribute, dtype: Attribute):
    """An array of one value, in another shape."""
    return ops.broadcast_to(_filled(value, before, dtype), shape), _filled(value, shape, dtype)
