"""What a legal graph is: for tests, and for hunting defects. No check here costs a run anything."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from symgrad.errors import FormatError, InternalError, SymgradError
from symgrad.ir.interning import attribute_key
from symgrad.ir.op import OPS, Attrs
from symgrad.ir.printing import print_graph
from symgrad.ir.records import fresh_names, require_arity
from symgrad.ir.signature import canonical
from symgrad.ir.storage import Storage
from symgrad.ir.symbol import CONSTANT, PLACEHOLDER, VARIABLE, Symbol
from symgrad.types import Constraint, take_constraints

if TYPE_CHECKING:
    from symgrad.ir.graph import Graph

_LONGEST_TEXT = 200


def verify(graph: Graph) -> None:
    """Check every law that a graph obeys.

    Operands are older than their users and listed before them; ops are registered and have the
    operands and attributes of their signature, in canonical form; types and constraints are those
    that the op infers; constants are read-only and, like variables, hold what their type says.

    Raises:
        InternalError: a law is broken; the message holds the graph's text.
    """
    border = set(graph.inputs)
    seen = set(border)
    for symbol in graph.symbols:
        problem = next(_problems(symbol, seen, cut=symbol in border), None)
        if problem is not None:
            raise InternalError(
                "verify", f"{graph.name_of(symbol)}: {problem}\n{_text(graph, symbol)}"
            )
        seen.add(symbol)
    if any(output not in seen for output in graph.outputs):
        raise InternalError("verify", "an output is not among the symbols")


def _text(graph: Graph, symbol: Symbol) -> str:
    """The graph's text; of a large graph, the lines up to the symbol's."""
    try:
        lines = print_graph(graph, sites=True).split("\n")
    except Exception as error:  # it is broken, who knows in which way
        return f"(it does not print: {error})"
    if len(lines) > _LONGEST_TEXT:
        number = graph.positions[symbol]
        lines = lines[max(0, number - _LONGEST_TEXT + 1) : number + 1]
    return "\n".join(lines)


def _problems(symbol: Symbol, seen: set[Symbol], *, cut: bool) -> Iterator[str]:
    if OPS.get(symbol.op.name) is not symbol.op:
        yield f"the op {symbol.op.name} is not registered"
    if symbol.op.family == "leaf":
        yield from _leaf_problems(symbol)
    elif not cut:
        yield from _order_problems(symbol, seen)
        yield from _attribute_problems(symbol)
        yield from _type_problems(symbol)


def _order_problems(symbol: Symbol, seen: set[Symbol]) -> Iterator[str]:
    if any(arg not in seen for arg in symbol.args):
        yield "an operand is not listed before it"
    if any(arg.serial >= symbol.serial for arg in symbol.args):
        yield "an operand is younger"
    try:
        require_arity(symbol.op, len(symbol.args), "verify")
    except FormatError as error:
        yield str(error)


def _leaf_problems(symbol: Symbol) -> Iterator[str]:
    if symbol.args or symbol.attrs or symbol.constraints:
        yield "a leaf has operands, attributes or constraints"
    array: Any = symbol.payload
    if symbol.op is PLACEHOLDER:
        if array is not None or symbol.name is None:
            yield "a placeholder has a name and no value"
        return
    if symbol.op is VARIABLE:
        if not isinstance(array, Storage) or array.symbol is None or array.symbol() is not symbol:
            yield "a variable is not the one on its storage"
            return
        array = array.array
    if not isinstance(array, np.ndarray):
        yield "its value is no array"
        return
    array = cast("Any", array)
    if (array.dtype, array.shape) != (symbol.type.dtype, symbol.type.shape):
        yield f"its value is {array.dtype}{list(array.shape)}"
    elif symbol.op is CONSTANT and array.flags.writeable:
        yield "a constant can be written to"


def _keys(attrs: Attrs) -> dict[str, Any]:
    return {name: attribute_key(value) for name, value in attrs.items()}


def _attribute_problems(symbol: Symbol) -> Iterator[str]:
    op, attrs = symbol.op, symbol.attrs
    if sorted(attrs) != sorted(op.signature.attrs):
        yield f"its attributes are {sorted(attrs)}, not {sorted(op.signature.attrs)}"
        return
    keys = _keys(attrs)
    try:
        hash(tuple(keys.values()))
    except TypeError:
        yield "an attribute cannot be hashed"
    if keys != _keys({name: canonical(name, value) for name, value in attrs.items()}):
        yield "an attribute is not in its canonical form"
    if op.normalize is not None:
        normal = op.normalize([arg.type for arg in symbol.args], attrs)
        if keys != _keys(normal):
            yield f"normalised again, its attributes are {normal}"


def _type_problems(symbol: Symbol) -> Iterator[str]:
    operands = [arg.type for arg in symbol.args]
    take_constraints()
    try:
        inferred = symbol.op.infer(operands, symbol.attrs)
    except SymgradError as error:
        take_constraints()
        yield f"its op refuses its operands: {error}"
        return
    constraints = take_constraints()
    names = fresh_names(inferred, symbol.type, operands)
    if names is None:
        yield f"its op infers the type {inferred}"
    elif not names and _equalities(constraints) != _equalities(symbol.constraints):
        yield f"its op needs {', '.join(map(str, constraints)) or 'no constraint'}"


def _equalities(constraints: tuple[Constraint, ...]) -> list[Any]:
    return [(c.left, c.right, c.where, c.what) for c in cast("Any", constraints)]
