"""Graphs as text, one line per symbol. `symgrad.ir.text` describes the text, and reads it."""

from __future__ import annotations

import inspect
from functools import cache
from typing import TYPE_CHECKING, Any

from symgrad.errors import FormatError
from symgrad.ir.interning import attribute_key
from symgrad.ir.literals import write_elements, write_literal, write_string
from symgrad.ir.op import Attrs, Op
from symgrad.ir.records import Record, records_of
from symgrad.ir.signature import canonical
from symgrad.ir.symbol import PLACEHOLDER, Symbol

if TYPE_CHECKING:
    from symgrad.ir.graph import Graph


def print_graph(graph: Graph, *, sites: bool = False) -> str:
    """The text of a graph.

    Args:
        graph: what to print.
        sites: append where each symbol was made.

    >>> import symgrad as sg
    >>> from symgrad.ir.graph import Graph
    >>> x = sg.placeholder("x", ("n", 3))
    >>> print(print_graph(Graph([x], [sg.sin(x) + 0.5])))
    %0 = placeholder "x" : f64[n, 3]
    %1 = sin(%0) : f64[n, 3]
    %2 = constant 0.5 : f64[]
    %3 = add(%1, %2) : f64[n, 3]
    return %3
    """
    records, _ = records_of(graph)
    types: dict[Any, str] = {}
    lines: list[str] = []
    for position, record in enumerate(records):
        kind = types.get(record.type)
        if kind is None:
            kind = types.setdefault(record.type, str(record.type))
        comment = _comment(record, sites)
        lines.append(f"%{position} = {_expression(record)} : {kind}{comment}")
    placeholders = [s for s in graph.inputs if s.op is PLACEHOLDER or s.args]
    if len(placeholders) != len(graph.inputs):
        lines.append(f"inputs {_names(graph, graph.inputs)}")
    lines.append(f"return {_names(graph, graph.outputs)}".rstrip())
    return "\n".join(lines)


def _names(graph: Graph, symbols: tuple[Symbol, ...]) -> str:
    return ", ".join([graph.name_of(symbol) for symbol in symbols])


def _expression(record: Record) -> str:
    if record.symbol is not None and record.op in ("placeholder", "variable", "constant"):
        words = [record.op]
        if record.name is not None:
            words.append(write_string(record.name))
        if record.array is not None:
            words.append(f"@{record.array}")
        elif record.value is not None:
            words.append(write_elements(record.value))
        return " ".join(words)
    operands = [f"%{position}" for position in record.args]
    if record.attrs and record.symbol is not None:
        operands += attribute_texts(record.symbol.op, record.attrs)
    return f"{record.op}({', '.join(operands)})"


def attribute_texts(op: Op, attrs: Attrs) -> list[str]:
    """The attributes that differ from their defaults, as ``name=value``.

    A value without a text form, a function say, is shown in angle brackets; it cannot be read.
    """
    defaults = _default_keys(op)
    return [
        attribute_text(name, value)
        for name, value in attrs.items()
        if name not in defaults or attribute_key(value) != defaults[name]
    ]


def attribute_text(name: str, value: Any) -> str:
    """One attribute as ``name=value``."""
    return f"{name}={_shown(value)}"


@cache
def _default_keys(op: Op) -> dict[str, Any]:
    return {
        p.name: attribute_key(canonical(p.name, p.default))
        for p in op.signature.parameters
        if not p.is_operand and p.default is not inspect.Parameter.empty
    }


def _shown(value: Any) -> str:
    try:
        return write_literal(value)
    except FormatError:
        return f"<{type(value).__name__}>"


def _comment(record: Record, sites: bool) -> str:
    parts: list[str] = []
    if record.origin is not None:
        primal, rule = record.origin
        name = f"%{primal}" if isinstance(primal, int) else primal
        parts.append(f"d {name} (rule {rule})")
    if sites and record.symbol is not None and record.symbol.site is not None:
        site = str(record.symbol.site)
        parts.append(site if site.isprintable() else ascii(site))
    return f"  # {', '.join(parts)}" if parts else ""
