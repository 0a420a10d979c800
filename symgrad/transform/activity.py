"""Which symbols lie on a path from the wanted inputs to the outputs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from symgrad.ir.symbol import Symbol
from symgrad.ir.walk import reachable
from symgrad.types import TensorType, is_inexact


def carries(symbol: Symbol) -> bool:
    """Whether a derivative can pass through: floating-point values, or a tuple that holds some."""
    kind: Any = symbol.type
    if isinstance(kind, TensorType):
        return is_inexact(kind.dtype)
    return any(is_inexact(item.dtype) for item in kind.items)


def active_symbols(outputs: Sequence[Symbol], inputs: Iterable[Symbol]) -> list[Symbol]:
    """The symbols through which derivatives pass, in topological order."""
    wanted = set(inputs)
    active: set[Symbol] = set()
    order: list[Symbol] = []
    for symbol in reachable(outputs):
        if symbol in wanted or (carries(symbol) and any(a in active for a in symbol.args)):
            active.add(symbol)
            order.append(symbol)
    return order
