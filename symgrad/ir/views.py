"""Graphs for other eyes: a networkx graph, and a picture in Graphviz's language."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from symgrad.errors import ExtraMissing
from symgrad.ir import dot
from symgrad.ir.dot import Drawing
from symgrad.ir.literals import write_elements, write_string
from symgrad.ir.printing import attribute_texts
from symgrad.ir.records import derived_symbols
from symgrad.ir.symbol import CONSTANT, INTERNED_CONSTANT, PLACEHOLDER, VARIABLE, Symbol
from symgrad.types import Dim

if TYPE_CHECKING:
    import networkx

    from symgrad.ir.graph import Graph

    Network = networkx.MultiDiGraph[str]


def _label(symbol: Symbol) -> str:
    """A short word for a symbol: its own name, the value of a number, or the op."""
    if symbol.name:
        return symbol.name
    if symbol.op is CONSTANT and symbol.payload.ndim == 0:
        return write_elements(symbol.payload)
    return symbol.op.name


def _origin(graph: Graph, symbol: Symbol) -> str | None:
    if symbol.origin is None:
        return None
    primal = symbol.origin.primal
    return graph.name_of(primal) if primal in graph.positions else _label(primal)


# --------------------------------------------------------------------------- networkx


def to_networkx(graph: Graph, simple: bool) -> Network:
    """See `Graph.to_networkx`."""
    try:
        import networkx
    except ImportError:
        hint = "pip install networkx"
        raise ExtraMissing("to_networkx", "networkx is not installed", hint=hint) from None
    make: Any = networkx.DiGraph if simple else networkx.MultiDiGraph
    network = make()
    network.graph["inputs"] = [graph.name_of(symbol) for symbol in graph.inputs]
    network.graph["outputs"] = [graph.name_of(symbol) for symbol in graph.outputs]
    derived = set(derived_symbols(graph))
    for symbol in graph.positions:
        network.add_node(
            graph.name_of(symbol),
            op=symbol.op.name,
            attrs={name: _plain(value) for name, value in symbol.attrs.items()},
            type=str(symbol.type),
            label=_label(symbol),
            origin=_origin(graph, symbol) if symbol in derived else None,
            symbol=symbol,
        )
    border = set(graph.inputs)
    for symbol in graph.symbols:
        if symbol not in border:
            _add_edges(network, graph, symbol, simple)
    return network


def _add_edges(network: Any, graph: Graph, symbol: Symbol, simple: bool) -> None:
    user = graph.name_of(symbol)
    places: dict[str, list[int]] = {}
    for position, arg in enumerate(symbol.args):
        places.setdefault(graph.name_of(arg), []).append(position)
    for operand, positions in places.items():
        if simple:
            network.add_edge(operand, user, positions=tuple(positions))
        else:
            for position in positions:
                network.add_edge(operand, user, key=position, position=position)


def _plain(value: Any) -> Any:
    """An attribute's value in Python's own types, so that it can be written as JSON."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, tuple):
        return tuple([_plain(item) for item in cast("tuple[Any, ...]", value)])
    if isinstance(value, np.dtype):
        return value.name
    return str(value) if isinstance(value, (Dim, complex)) else repr(value)


# --------------------------------------------------------------------------- Graphviz


def to_dot(graph: Graph) -> str:
    """See `Graph.to_dot`."""
    derived, outputs = set(graph.derivative_symbols), set(graph.outputs)
    border = set(graph.inputs)
    drawing = Drawing()
    for symbol in graph.positions:
        is_input, is_derived = symbol in border, symbol in derived
        drawing.node(
            graph.name_of(symbol),
            _lines(graph, symbol, is_input),
            _style(symbol, is_input, is_derived),
            dot.DOUBLE if symbol in outputs else "",
            framed=is_derived,
        )
    for symbol in graph.symbols:
        if symbol not in border:
            places = dot.places(len(symbol.args), symbol.op.commutative)
            for arg, place in zip(symbol.args, places, strict=True):
                drawing.arrow(graph.name_of(arg), graph.name_of(symbol), place)
    return drawing.text()


_LEAVES = {PLACEHOLDER: dot.PLACEHOLDER, VARIABLE: dot.VARIABLE, CONSTANT: dot.CONSTANT}


def _style(symbol: Symbol, is_input: bool, is_derived: bool) -> str:
    if symbol.op in _LEAVES:
        return _LEAVES[symbol.op]
    if is_input:
        return dot.CUT
    return dot.DERIVED if is_derived else ""


def _lines(graph: Graph, symbol: Symbol, is_input: bool) -> list[str]:
    """What a node says: name and op or label, attributes, type."""
    lines = [f"{graph.name_of(symbol)} {symbol.op.name}"]
    if symbol.name is not None:
        lines[0] = f"{graph.name_of(symbol)} {write_string(symbol.name)}"
    elif symbol.op is CONSTANT and symbol.payload.size <= INTERNED_CONSTANT:
        lines.append(write_elements(symbol.payload))
    elif not is_input:
        lines += attribute_texts(symbol.op, symbol.attrs)
    return [*lines, str(symbol.type)]
