"""Pictures of what a tensor was computed from, and of graphs with their derivatives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from symgrad.eager.records import Leaf, Record
from symgrad.eager.tensor import Tensor
from symgrad.errors import ArgumentError
from symgrad.inspect.picture import Picture
from symgrad.ir import dot
from symgrad.ir.dot import Drawing
from symgrad.ir.graph import Graph
from symgrad.ir.printing import attribute_text
from symgrad.ir.symbol import PLACEHOLDER, Symbol
from symgrad.ir.walk import reachable
from symgrad.types import TupleType


def draw(x: Any, *, names: Mapping[str, Tensor] | None = None) -> Picture:
    """A picture of a tensor's record, or of a graph.

    A record shows leaves in blue, with their shapes, and each op with its attributes; arrows lead
    from operands to results. Of a graph, the derivative half stands in a frame.

    Args:
        x: a tensor, a symbol, or a sequence of one kind; or a graph.
        names: what to call the leaves of a record.

    Returns:
        a picture: ``.dot`` is its text, ``.svg()`` and ``.save(path)`` need Graphviz. A notebook
        shows it.

    Raises:
        ArgumentError: nothing that can be drawn.

    >>> import symgrad as sg
    >>> a = sg.Tensor([2.0, 3.0], requires_grad=True)
    >>> sg.draw(sg.sum(a * a), names={"a": a})
    <picture, 3 nodes>
    """
    if isinstance(x, Graph):
        return Picture(x.to_dot())
    several = isinstance(x, (tuple, list))
    listed = list(cast("Iterable[Any]", x)) if several else [x]
    if listed and all(isinstance(item, Symbol) for item in listed):
        symbols = cast("list[Symbol]", listed)
        inputs = [symbol for symbol in reachable(symbols) if symbol.op is PLACEHOLDER]
        return Picture(Graph(inputs, symbols).to_dot())
    if listed and all(isinstance(item, Tensor) for item in listed):
        return Picture(_drawn(cast("list[Tensor]", listed), names or {}))
    raise ArgumentError(
        "draw",
        "nothing that can be drawn",
        expected="a tensor, a symbol, several of them, or a graph",
        got=type(x).__name__,
    )


# --- records --------------------------------------------------------------------------------------


def _drawn(tensors: Sequence[Tensor], names: Mapping[str, Tensor]) -> str:
    drawing = Drawing()
    known = {tensor.edge: name for name, tensor in names.items() if tensor.edge is not None}
    roots: dict[Any, None] = {}
    for k, tensor in enumerate(tensors):
        if tensor.edge is None:
            drawing.node(f"plain{k}", [_shape(tensor.shape)], dot.CONSTANT, dot.DOUBLE)
        else:
            roots[tensor.edge] = None
    numbers = _numbered(roots)
    for node, number in numbers.items():
        double = dot.DOUBLE if node in roots else ""
        if isinstance(node, Leaf):
            lines = [*filter(None, [known.get(node)]), _shape(node.storage.array.shape)]
            drawing.node(f"leaf{number}", lines, dot.LEAF, double)
        else:
            drawing.node(f"op{number}", _lines(node, known.get(node)), double)
            _add_arrows(drawing, node, numbers)
    return drawing.text()


def _numbered(roots: Iterable[Any]) -> dict[Any, int]:
    """All nodes, operands before users, and their numbers."""
    found = list(roots)
    seen = set(found)
    for user in found:  # which grows meanwhile
        for node, _ in user.next_functions:
            if node is not None and node not in seen:
                seen.add(node)
                found.append(node)
    # In the order of the calls; each leaf where it is first used.
    records = sorted([n for n in found if isinstance(n, Record)], key=lambda n: -n.order)
    used = [node for record in records for node, _ in record.next_functions]
    leaves = dict.fromkeys([n for n in (*used, *found) if isinstance(n, Leaf)])
    return {node: number for number, node in enumerate((*leaves, *records))}


def _lines(record: Record, name: str | None) -> list[str]:
    """What a record says: its op, all its attributes, the type of the result."""
    title = record.name() if name is None else f"{name} = {record.name()}"
    attrs = [attribute_text(k, v) for k, v in record.attrs.items() if v is not None]
    return [title, *attrs, str(record.plan.type)]


def _add_arrows(drawing: Drawing, record: Record, numbers: Mapping[Any, int]) -> None:
    places = dot.places(len(record.edges), record.plan.op.commutative)
    takes_all = isinstance(record.plan.types[0], TupleType)
    for (node, output), place in zip(record.next_functions, places, strict=True):
        if node is None:
            continue
        several = isinstance(node, Record) and node.plan.several and not takes_all
        kind = "leaf" if isinstance(node, Leaf) else "op"
        start, end = f"{kind}{numbers[node]}", f"op{numbers[record]}"
        drawing.arrow(start, end, place, str(output) if several else "")


def _shape(shape: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, shape))})"
