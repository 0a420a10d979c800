"""Whether a static graph and an eager data flow are one and the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.function import evaluate
from symgrad.ir.interning import attribute_key
from symgrad.ir.symbol import CONSTANT, PLACEHOLDER, Symbol
from symgrad.ir.walk import reachable
from symgrad.types import Dim, TensorType, TupleType
from tests.modes.observing import Node
from tests.registry.running import same_bits


class Isomorphism:
    """A one-to-one relation between symbols and nodes, grown from the outputs.

    A constant of the graph stands for whatever needs no input: calls without a symbol were computed
    while the graph was built. It is compared by value, as symbols of one value are one symbol. The
    projections of a tuple are not told apart, since a pack has each of its outputs once.

    Args:
        known: gives the value of a symbol. It is asked where an eager call took integers from
            nowhere: the positions of a mask's true elements, which need no call to be found.
    """

    def __init__(self, known: Callable[[Symbol], Any]) -> None:
        self.calls = 0
        self._known = known
        self._nodes: dict[Symbol, Node] = {}
        self._symbols: dict[Node, Symbol] = {}
        self._sizes: list[tuple[Any, Any]] = []
        self._bindings: dict[str, int] = {}

    def outputs(self, symbols: Sequence[Symbol], nodes: Sequence[Node]) -> None:
        """Relate outputs, and all that they need.

        Raises:
            AssertionError: they are not the same data flow; the message names the first difference.
        """
        pending = list(zip(symbols, nodes, strict=True))
        while pending:
            symbol, node = pending.pop()
            if self._is_related(symbol, node):
                continue
            if symbol.op is CONSTANT:
                _expect(_is_closed(node), symbol, node)
                _expect(same_bits(symbol.payload, node.value), symbol, node)
            elif symbol.op is PLACEHOLDER:
                _expect(node.label == symbol.name, symbol, node)
                self._typed(symbol, symbol.type, node.value, node)
            elif node.op is None and node.label is None and _counts(symbol):
                _expect(same_bits(self._known(symbol), node.value), symbol, node)
            else:
                self._applied(symbol, node)
                pending += zip(symbol.args, node.operands, strict=True)
        for size, value in self._sizes:
            assert size.evaluate(self._bindings) == value, (size, value)

    def _is_related(self, symbol: Symbol, node: Node) -> bool:
        if symbol in self._nodes and self._nodes[symbol] is node:
            return True
        if symbol.op is CONSTANT or symbol.op.name == "item":
            return False
        _expect(symbol not in self._nodes, symbol, node)
        _expect(node not in self._symbols, symbol, node)
        self._nodes[symbol], self._symbols[node] = node, symbol
        return False

    def _applied(self, symbol: Symbol, node: Node) -> None:
        self.calls += 1
        _expect(node.op is symbol.op, symbol, node)
        _expect(len(node.operands) == len(symbol.args), symbol, node)
        self._typed(symbol, symbol.type, node.value, node)
        for name, value in node.attrs.items():
            _expect(self._same(symbol.attrs[name], value), symbol, node)
        implicit = symbol.op.name == "astype" and node.attrs.keys() == {"dtype"}
        _expect(implicit or node.attrs.keys() == symbol.attrs.keys(), symbol, node)

    def _typed(self, symbol: Symbol, kind: Any, value: Any, node: Node) -> None:
        if isinstance(kind, TupleType):
            for item, part in zip(kind.items, value, strict=True):
                self._typed(symbol, item, part, node)
            return
        assert isinstance(kind, TensorType)
        _expect(kind.dtype == value.dtype and len(kind.shape) == value.ndim, symbol, node)
        for size, number in zip(kind.shape, value.shape, strict=True):
            _expect(self._same(size, number), symbol, node)

    def _same(self, ours: Any, theirs: Any) -> bool:
        """Equal attributes; a size that only running tells is bound by the first value it meets."""
        if isinstance(ours, tuple) and isinstance(theirs, tuple):
            return len(ours) == len(theirs) and all(map(self._same, ours, theirs))
        if isinstance(ours, Dim) and isinstance(theirs, int):
            if ours.name is not None:
                return self._bindings.setdefault(ours.name, theirs) == theirs
            self._sizes.append((ours, theirs))
            return True
        return attribute_key(ours) == attribute_key(theirs)


def _counts(symbol: Symbol) -> bool:
    kind: Any = symbol.type
    return isinstance(kind, TensorType) and kind.dtype == np.int64


def _is_closed(node: Node) -> bool:
    """Whether no input is needed for a node."""
    pending, seen = [node], {node}
    while pending:
        above = pending.pop()
        if above.label is not None:
            return False
        new = [operand for operand in above.operands if operand not in seen]
        seen.update(new)
        pending += new
    return True


def _expect(holds: bool, symbol: Symbol, node: Node) -> None:
    if not holds:
        made = node.label or (f"{node.op.name} {node.attrs}" if node.op else "no call")
        shape = [np.shape(o.value) for o in node.operands]
        raise AssertionError(
            f"{symbol!r} {dict(symbol.attrs)} of {list(symbol.args)} is not {made} of {shape}"
        )


def same_zeros(symbol: Symbol, node: Node) -> bool:
    """Whether both are what stands for a gradient that is nothing: zeros that depend on nothing."""
    if node.op is not None or np.any(node.value):
        return False
    if any(s.op is PLACEHOLDER for s in reachable([symbol])):
        return False
    return same_bits(evaluate(symbol, level="none"), node.value)
