"""Where a graph that runs op by op makes its first NaN."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from symgrad.errors import AnomalyError
from symgrad.ir.graph import Graph
from symgrad.ir.symbol import Symbol
from symgrad.ir.walk import users
from symgrad.types import is_inexact


def watch_for_nan(graph: Graph) -> Callable[[Symbol, Sequence[Any], Any], None]:
    """What looks at each symbol's value while the graph is interpreted.

    Its call raises:
        AnomalyError: the value holds a NaN, the operands do not. The message names the symbol and
            its line, and for a symbol of a derivative, what it is the derivative of.
    """
    hidden = _hidden(graph)

    def watch(symbol: Symbol, operands: Sequence[Any], value: Any) -> None:
        if symbol in hidden or not has_nan(value):
            return
        seen = [v for arg, v in zip(symbol.args, operands, strict=True) if arg not in hidden]
        if not any(map(has_nan, seen)):
            args = ", ".join(graph.name_of(arg) for arg in symbol.args)
            raise AnomalyError(
                symbol.op.name,
                f"the value is NaN, the operands are not{_derivative(symbol)}",
                got=f"{graph.name_of(symbol)} = {symbol.op.name}({args}) : {symbol.type}",
                site=None if symbol.site is None else str(symbol.site),
            )

    return watch


def _hidden(graph: Graph) -> set[Symbol]:
    """What a guarded derivative multiplies before it selects: there a NaN is no anomaly.

    It is one where the selection lets it through, so that is what is looked at.
    """
    outputs = set(graph.outputs)
    derived = [s for s in graph.symbols if s.origin is not None and s not in outputs]
    users_of = users(graph.symbols)
    return {
        symbol
        for symbol in derived
        if users_of[symbol]
        and all(u.op.strong_guard and u.args[0] is not symbol for u in users_of[symbol])
    }


def _derivative(symbol: Symbol) -> str:
    if symbol.origin is None:
        return ""
    primal = symbol.origin.primal
    return f", in the derivative of {primal.op.name} created at {primal.site}"


def has_nan(value: Any) -> bool:
    """Whether an array, or one of a tuple of them, holds a NaN."""
    if isinstance(value, tuple):
        return any(map(has_nan, cast("tuple[Any, ...]", value)))
    return is_inexact(value.dtype) and bool(np.any(np.isnan(value)))
