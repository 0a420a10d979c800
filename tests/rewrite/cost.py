"""The measure that every rule lowers."""

from __future__ import annotations

from typing import NamedTuple

from symgrad.ir.symbol import CONSTANT, Symbol

WEIGHTS = {
    "negative": 5,
    "filled": 11,
    "divide": 40,
    "reciprocal": 40,
    "pow": 80,
    "bitwise_invert": 11,
}
OTHERS = 10
LIGHT = {"constant": 1, "negative": 1, "filled": 1, "broadcast_to": 2}


class Cost(NamedTuple):
    """Costs compare in this order.

    Attributes:
        work: the weights of all ops, and the number of uses of variables.
        depth: how far below the root constants, signs and broadcasts stand, added up.
        constants: the elements of all constants, those below zero twice.
    """

    work: int
    depth: int
    constants: int


def cost(symbol: Symbol, depth: int = 0) -> Cost:
    """The cost of an expression as a tree; for the small trees that rules are made of."""
    own = depth * LIGHT.get(symbol.op.name, 0)
    if symbol.op is CONSTANT:
        value = symbol.value
        return Cost(0, own, value.size + int((value < 0).sum()) if value.dtype.kind != "c" else 1)
    parts = [cost(arg, depth + 1) for arg in symbol.args]
    if parts and all(arg.op is CONSTANT for arg in symbol.args):
        return Cost(0, own, sum(p.constants for p in parts))
    work = 1 if symbol.is_leaf else WEIGHTS.get(symbol.op.name, OTHERS)
    return Cost(
        work + sum(p.work for p in parts),
        own + sum(p.depth for p in parts),
        sum(p.constants for p in parts),
    )
