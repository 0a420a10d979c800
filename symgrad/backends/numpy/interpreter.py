"""Run a graph op by op with the reference kernels: the meaning that generated code must have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from symgrad.backends.dimensions import in_binding_order, unbound
from symgrad.backends.state import State
from symgrad.ir.graph import Graph
from symgrad.ir.op import Attrs
from symgrad.ir.symbol import CONSTANT, Symbol
from symgrad.types import Dim, TensorType, solve_dims


def warns(symbols: Iterable[Symbol]) -> bool:
    """Whether running these may raise floating-point warnings that must not reach the user."""
    ops = {symbol.op for symbol in symbols}
    return any((op.warns or op.restricts_domain) and op.family != "leaf" for op in ops)


def concrete(value: Any, bindings: Mapping[str, int]) -> Any:
    """An attribute with its dimensions replaced by their sizes."""
    if type(value) is Dim:
        return value.evaluate(bindings)
    if type(value) is tuple:
        return tuple(concrete(item, bindings) for item in value)  # pyright: ignore[reportUnknownVariableType]
    return value


def concrete_attrs(attrs: Attrs, bindings: Mapping[str, int]) -> Attrs:
    """Attributes with their dimensions replaced by their sizes."""
    return {name: concrete(value, bindings) for name, value in attrs.items()} if attrs else attrs


def bind_result(kind: Any, value: Any, bindings: dict[str, int]) -> None:
    """Bind dimensions that only this value tells: the count of what a mask selects, say."""
    if isinstance(kind, TensorType):
        if any(type(size) is Dim and not size.names <= bindings.keys() for size in kind.shape):
            solve_dims(kind.shape, np.shape(value), bindings)
        return
    for item, part in zip(kind.items, value, strict=True):
        bind_result(item, part, bindings)


Watch: TypeAlias = Callable[[Symbol, Sequence[Any], Any], None]
"""Called with each symbol that was computed, the values of its operands and its own."""


def _run(
    graph: Graph, values: dict[Symbol, Any], bindings: dict[str, int], watch: Watch | None
) -> None:
    """Fill in the values of all symbols, dropping each after its last use."""
    uses = Counter(arg for symbol in graph.symbols for arg in symbol.args)
    uses.update(graph.outputs)
    for symbol in in_binding_order(graph.symbols, bindings):
        if symbol in values:
            continue
        if symbol.op is CONSTANT:
            values[symbol] = symbol.payload
            continue
        missing = unbound(symbol, bindings) if symbol.attrs else None
        if missing is not None:
            raise missing
        operands = [values[arg] for arg in symbol.args]
        value = values[symbol] = symbol.op.run(operands, concrete_attrs(symbol.attrs, bindings))
        bind_result(symbol.type, value, bindings)
        if watch is not None:
            watch(symbol, operands, value)
        for arg in symbol.args:
            uses[arg] -= 1
            if not uses[arg]:
                del values[arg]


def interpret(
    graph: Graph,
    arrays: Sequence[NDArray[Any]],
    bindings: Mapping[str, int],
    watch: Watch | None = None,
) -> list[NDArray[Any]]:
    """The outputs of ``graph``, as fresh arrays.

    Args:
        graph: what to run.
        arrays: the values of its inputs, of exactly their types.
        bindings: the sizes of its dimensions.
        watch: looks at each value.
    """
    values: dict[Symbol, Any] = dict(zip(graph.inputs, arrays, strict=True))
    variables = [symbol for symbol in graph.variables if symbol not in values]
    values.update(zip(variables, State([v.payload for v in variables]).read(), strict=True))
    if warns(graph.symbols):
        with np.errstate(all="ignore"):
            _run(graph, values, dict(bindings), watch)
    else:
        _run(graph, values, dict(bindings), watch)
    return [np.array(values[output], order="C") for output in graph.outputs]
