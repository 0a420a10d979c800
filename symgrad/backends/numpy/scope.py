"""What generated code can name: dimensions, inputs, variables, constants, functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.backends.dimensions import needed, rename, solve, unbound
from symgrad.backends.numpy.buffers import Buffer, Value
from symgrad.backends.numpy.literals import attribute_text, scalar_text
from symgrad.backends.numpy.names import Names, Series
from symgrad.backends.numpy.templates import Template, Writer, operator_of
from symgrad.ir.extras import require_extra
from symgrad.ir.graph import Graph
from symgrad.ir.symbol import CONSTANT, VARIABLE, Symbol
from symgrad.types import Constraint, Dim, Shape, TensorType


class Scope:
    """The names of one program.

    Attributes:
        inputs: the names of the graph's inputs, in order.
        variables: the variables that are read, with their names.
        constants: arrays and numpy numbers by name.
        references: functions and other objects by name.
        temporaries: the supply of names for results.
        leaves: the values of inputs, variables and named constants.
        bound: the dimensions whose sizes are known so far.
    """

    def __init__(self, graph: Graph) -> None:
        self._names = Names()
        self._dims: dict[str, str] = {}
        self._used_dims: set[str] = set()
        self._reference_names: dict[int, str] = {}
        self._templates: dict[Any, tuple[Template, str | None]] = {}
        self.inputs: list[str] = []
        self.variables: dict[Symbol, str] = {}
        self.constants: dict[str, Any] = {}
        self.references: dict[str, Any] = {}
        self.leaves: dict[Symbol, Value] = {}
        self._name_dimensions(graph)
        self._name_leaves(graph)
        self.temporaries = Series(self._names, "t")
        self._constant_names = Series(self._names, "c")

    def _name_dimensions(self, graph: Graph) -> None:
        # First of all: a dimension keeps its name even where a placeholder has the same.
        for name in graph.dims:
            self._dims[name] = self._names.unique(name)
        self._solutions = solve([s.shape for s in graph.inputs])
        self.bound = {solution.name for solution in self._solutions}

    def _name_leaves(self, graph: Graph) -> None:
        for symbol in graph.inputs:
            self.inputs.append(self._leaf(symbol, "input"))
        for symbol in graph.symbols:
            if symbol.op is VARIABLE and symbol not in self.leaves:
                self.variables[symbol] = self._leaf(symbol, "variable")

    def _leaf(self, symbol: Symbol, wish: str) -> str:
        name = self._names.unique(symbol.name or wish)
        self.leaves[symbol] = _foreign(name, symbol)
        return name

    # --- constants, attributes, functions -----------------------------------------------------

    def constant(self, symbol: Symbol) -> Value:
        """The named value of a constant; those without axes are numpy's numbers."""
        if symbol not in self.leaves:
            name = self._constant_names.fresh()
            self.constants[name] = symbol.payload if symbol.shape else symbol.payload[()]
            self.leaves[symbol] = _foreign(name, symbol)
        return self.leaves[symbol]

    def operand(self, user: Symbol, symbol: Symbol) -> Value:
        """The value of a leaf as an operand of ``user``: a literal where that means the same."""
        is_free = symbol.op is CONSTANT and symbol not in self.leaves
        if is_free and symbol.shape == () and _is_weak(user, symbol):
            return _foreign(scalar_text(symbol.payload[()]), symbol)
        return self.constant(symbol) if symbol.op is CONSTANT else self.leaves[symbol]

    def template(self, symbol: Symbol) -> tuple[Template, str | None]:
        """How to write the application ``symbol``, and its operator, if it has one."""
        op, attrs, count = symbol.op, symbol.attrs, len(symbol.args)
        key: Any = (op, count)
        if attrs:
            key = (op, count, tuple([(name, _key(value)) for name, value in attrs.items()]))
        found = self._templates.get(key)
        if found is None:
            missing = unbound(symbol, self.bound)
            if missing is not None:
                raise missing
            if op.needs is not None:
                require_extra(op.name, op.needs)
            # Not kept: it refers to this scope, and a cycle would keep the graph alive.
            writer = Writer(self._attribute, self._refer)
            found = self._templates[key] = writer.write(op, attrs, count), operator_of(op)
        return found

    def _attribute(self, value: Any) -> str:
        self._note_dims(value)
        return attribute_text(value, self._dims, lambda thing: self._refer(thing, "attribute"))

    def _note_dims(self, value: Any) -> None:
        if isinstance(value, Dim):
            for name in sorted(value.names - self._dims.keys()):
                self._dims[name] = self._names.unique(name)
            self._used_dims |= value.names
        elif isinstance(value, tuple):
            for item in value:  # pyright: ignore[reportUnknownVariableType]
                self._note_dims(item)

    def _refer(self, thing: Any, wish: str) -> str:
        if thing is np:
            return "np"
        if id(thing) not in self._reference_names:
            name = self._reference_names[id(thing)] = self._names.unique(wish)
            self.references[name] = thing
        return self._reference_names[id(thing)]

    # --- dimensions ---------------------------------------------------------------------------

    def bind_inputs(self) -> list[str]:
        """The statements that bind the dimensions in use to sizes of inputs."""
        lines: list[str] = []
        for solution in needed(self._solutions, self._used_dims):
            array = self.inputs[solution.argument]
            size = solution.text(array, rename(solution.offset, self._dims))
            lines.append(f"{self._dims[solution.name]} = {size}")
        return lines

    def is_bound(self, kind: TensorType) -> bool:
        """Whether all sizes of the type are known where it is computed."""
        return all(not isinstance(n, Dim) or n.names <= self.bound for n in kind.shape)

    def bind_result(
        self, shape: Shape, text: str, constraints: tuple[Constraint, ...]
    ) -> list[str]:
        """The statements that bind the dimensions that only this value tells, and check them."""
        before, lines = set(self.bound), list[str]()
        for solution in solve([shape], before):
            self.bound.add(solution.name)
            size = solution.text(text, rename(solution.offset, self._dims))
            lines.append(f"{self._dims[solution.name]} = {size}")
        for c in constraints:
            names = {n for size in (c.left, c.right) if isinstance(size, Dim) for n in size.names}
            if names <= self.bound and not names <= before:
                self._used_dims |= names
                left, right = rename(c.left, self._dims), rename(c.right, self._dims)
                problem = f"{c.where}: {c.what} differ: {c.left} and {c.right}"
                lines += [f"if {left} != {right}:", f"    raise ValueError({problem!r})"]
        return lines


def is_array(symbol: Symbol) -> bool:
    """Whether it is one array, not the pack of outputs of an op that has several."""
    return isinstance(symbol.type, TensorType)  # pyright: ignore[reportUnnecessaryIsInstance]


def _foreign(text: str, symbol: Symbol) -> Value:
    return Value(text, symbol.type, Buffer(foreign=True))


def _is_weak(user: Symbol, constant: Symbol) -> bool:
    """Whether a Python number means the same as ``constant``: numpy gives it the other's type."""
    if not isinstance(user.op.ufunc, np.ufunc):
        return False
    return any(a.op is not CONSTANT and a.dtype == constant.dtype for a in user.args)


def _key(value: Any) -> Any:
    """A key that keeps apart what is equal and prints differently: 1 and True, 0.0 and -0.0."""
    if type(value) is tuple:
        return tuple([_key(item) for item in value])  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, (float, complex)):
        return type(value), repr(value)
    is_plain = isinstance(value, (int, str, Dim, np.dtype))
    return type(value), value if is_plain else id(value)
