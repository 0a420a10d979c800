"""From a graph to the statements of one straight-line Python function over numpy.

One statement per symbol, in topological order. An element-wise ufunc writes into an array that is
no longer needed where there is one of its type (see ``buffers``). Names of values that are no
longer needed are used again, and large arrays dropped with ``del``: the peak of memory stays low.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from symgrad.backends.dimensions import in_binding_order
from symgrad.backends.numpy.buffers import (
    FRESH_ROW_MAJOR,
    Buffer,
    FreeArrays,
    Layouts,
    Value,
    is_small,
)
from symgrad.backends.numpy.interpreter import warns
from symgrad.backends.numpy.scope import Scope, is_array
from symgrad.backends.numpy.templates import Template
from symgrad.ir.graph import Graph
from symgrad.ir.symbol import CONSTANT, Symbol
from symgrad.types import TensorType

ELEMENTWISE = frozenset({"scalar", "elementwise"})
"""Families whose kernels keep the order of elements in memory."""


class Listing:
    """The statements of a program, and what they refer to.

    Attributes:
        inputs: the names of the graph's inputs, in order.
        variables: the variables that are read, with their names.
        dimensions: the statements that bind dimensions to sizes of inputs.
        statements: the statements, each with the symbol it computes.
        results: an expression for each output: a fresh array that nothing else shows.
        constants: arrays and numpy numbers by name.
        references: functions and other objects by name.
        quiet: whether floating-point warnings must be off.

    Args:
        graph: what is to be computed.
        fresh: whether each result must be an array of its own; otherwise it may be an input, or be
            shown by another result.
    """

    def __init__(self, graph: Graph, *, fresh: bool = True) -> None:
        emitter = _Emitter(graph)
        scope = emitter.scope
        self.inputs: list[str] = scope.inputs
        self.variables: dict[Symbol, str] = scope.variables
        self.statements: list[tuple[str, Symbol]] = emitter.statements
        self.results: list[str] = emitter.results(fresh=fresh)
        self.dimensions: list[str] = scope.bind_inputs()
        self.constants: dict[str, Any] = scope.constants
        self.references: dict[str, Any] = scope.references
        self.quiet: bool = warns(emitter.steps)


class _Emitter:
    def __init__(self, graph: Graph) -> None:
        self.graph, self.scope = graph, Scope(graph)
        self.statements: list[tuple[str, Symbol]] = []
        given = set(graph.inputs)
        steps = [s for s in graph.symbols if s not in given and not s.is_leaf]
        self.steps = in_binding_order(steps, self.scope.bound)
        self._values: dict[Symbol, Value] = {}
        self._layouts = Layouts()
        self._free = FreeArrays(self.steps)
        self._idle: list[str] = []
        self._uses = Counter(arg for symbol in self.steps for arg in symbol.args)
        self._uses.update(graph.outputs)
        for position, symbol in enumerate(self.steps):
            self._step(position, symbol)

    def _value(self, user: Symbol, symbol: Symbol) -> Value:
        value = self._values.get(symbol)
        return self.scope.operand(user, symbol) if value is None else value

    # --- one statement per symbol -------------------------------------------------------------

    def _step(self, position: int, symbol: Symbol) -> None:
        template, operator = self.scope.template(symbol)
        operands = [self._value(symbol, arg) for arg in symbol.args]
        dying = self._dying(symbol)
        overdue = self._free.overdue(position)
        if overdue:
            self._drop([value.text for value in overdue])
        buffer, layout = self._memory(symbol, template, operands)
        target = self._target(symbol, layout, dying) if template.is_ufunc else None
        if target is not None:
            out = f", out={target.text})"
            self._state(template.fill([o.text for o in operands])[:-1] + out, symbol)
            dying = [value for value in dying if value is not target]
        kept = {id(v) for v in dying if v.buffer is not buffer and self._keep(v, position)}
        ended = [value for value in dying if id(value) not in kept]
        name = self._name(ended) if target is None else target.text
        if target is None:
            text = _expression(symbol, template, operator, operands)
            self._state(f"{name} = {text}", symbol)
        self._values[symbol] = Value(name, symbol.type, buffer, layout, is_view=symbol.op.view)
        for value in dying:
            value.buffer.live -= 1
        self._end([value for value in ended if value.text != name])
        self._bind(symbol, name)

    def _state(self, text: str, symbol: Symbol) -> None:
        self.statements.append((text, symbol))

    def _memory(
        self, symbol: Symbol, template: Template, operands: Sequence[Value]
    ) -> tuple[Buffer, int]:
        """The memory that a result shows, and its layout there."""
        if template.is_ufunc:
            layout = self._layouts.elementwise(operands, symbol.type)
            return Buffer(own=bool(symbol.shape)), layout
        if symbol.op.family in ELEMENTWISE:
            layout = self._layouts.elementwise(operands, symbol.type)
            buffer = operands[0].buffer if symbol.op.view else Buffer(own=bool(symbol.shape))
            return buffer, layout
        layout = self._layouts.made_by(template.callee, operands, symbol.type)
        if symbol.op.view and operands and isinstance(operands[0].kind, TensorType):
            return operands[0].buffer, layout
        return Buffer(own=template.callee in FRESH_ROW_MAJOR), layout

    def _target(self, symbol: Symbol, layout: int, dying: Sequence[Value]) -> Value | None:
        """An array that the result may be written to."""
        kind = symbol.type
        if is_small(kind):
            return None
        for value in dying:
            if value.is_whole and value.layout == layout and value.kind == kind:
                return value
        return self._free.take(kind, layout)

    def _bind(self, symbol: Symbol, name: str) -> None:
        if is_array(symbol) and not self.scope.is_bound(symbol.type):
            for line in self.scope.bind_result(symbol.shape, name, self.graph.constraints):
                self._state(line, symbol)

    # --- the end of a value -------------------------------------------------------------------

    def _dying(self, symbol: Symbol) -> list[Value]:
        """The temporaries that nobody needs after this symbol."""
        dying: list[Value] = []
        for arg in symbol.args:
            self._uses[arg] -= 1
            if not self._uses[arg] and arg in self._values:
                dying.append(self._values.pop(arg))
        return dying

    def _keep(self, value: Value, position: int) -> bool:
        """Keep an array that ends for a later result, if one like it comes soon."""
        reusable = value.is_whole and not is_small(value.kind)
        return reusable and self._free.put(value, position)

    def _name(self, ended: Sequence[Value]) -> str:
        """A name for a result: that of an operand that ends here, an idle one, a new one."""
        if ended:
            return next((v for v in ended if not is_small(v.kind)), ended[0]).text
        return self._idle.pop() if self._idle else self.scope.temporaries.fresh()

    def _end(self, values: Sequence[Value]) -> None:
        """Free names; for what is large, the memory as well."""
        self._idle.extend([value.text for value in values if is_small(value.kind)])
        self._drop([value.text for value in values if not is_small(value.kind)])

    def _drop(self, names: list[str]) -> None:
        if not names:
            return
        self._idle.extend(names)
        text, symbol = self.statements[-1]
        if text.startswith("del "):
            self.statements[-1] = f"{text}, {', '.join(names)}", symbol
        else:
            self._state(f"del {', '.join(names)}", symbol)

    # --- outputs ------------------------------------------------------------------------------

    def results(self, *, fresh: bool) -> list[str]:
        """An expression for each output: an array, if ``fresh`` one that nothing else shows."""
        leaves = self.scope.leaves
        values = [
            self._values[s]
            if s in self._values
            else (self.scope.constant(s) if s.op is CONSTANT else leaves[s])
            for s in self.graph.outputs
        ]
        if not fresh:
            return [v.text if v.kind.shape else f"np.asarray({v.text})" for v in values]
        shown = Counter(id(value.buffer) for value in values)
        given: set[int] = set()
        return [_result(value, shown[id(value.buffer)] > 1, given) for value in values]


def _expression(
    symbol: Symbol, template: Template, operator: str | None, operands: Sequence[Value]
) -> str:
    """The right side of a statement; an operator on arrays and floats, where it is exact."""
    texts = [operand.text for operand in operands]
    if operator and (symbol.shape or all(o.kind.dtype.kind == "f" for o in operands)):
        return operator % tuple(texts)
    return template.fill(texts)


def _result(value: Value, shared: bool, given: set[int]) -> str:
    text, buffer = value.text, value.buffer
    again = buffer.foreign or id(buffer) in given
    if not value.kind.shape:
        given.add(id(buffer))
        return f"np.array({text})" if again or value.is_view else f"np.asarray({text})"
    if again or (value.is_view and shared):
        return f"{text}.copy()"
    given.add(id(buffer))
    # A view that repeats elements can not be written to, and is no array of its own.
    return f"{text} if {text}.flags.writeable else {text}.copy()" if value.is_view else text
