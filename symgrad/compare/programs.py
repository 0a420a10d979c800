"""One function and its derivatives, as programs of each mode."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from symgrad.eager.autograd import gradients
from symgrad.eager.records import Leaf, Record
from symgrad.eager.tensor import Tensor, tensor_on
from symgrad.function import Function, function
from symgrad.ir.graph import Graph
from symgrad.ir.lifting import lift
from symgrad.ir.op import ops
from symgrad.ir.storage import Storage
from symgrad.ir.symbol import Symbol
from symgrad.trace.arguments import Parameters, rebuilt, type_of
from symgrad.trace.jitted import jit
from symgrad.trace.tracing import TracedGraph, graph_of
from symgrad.transform import grad
from symgrad.types import is_inexact

Array: TypeAlias = NDArray[Any]


class Call:
    """A function and its arguments, which stay as they are.

    Attributes:
        function: what is compared.
        parameters: its parameters.
        args: the arguments, in order.
        names, types: of the arrays among them.
        wanted: the positions, among these, of those that are differentiated.
    """

    def __init__(self, function: Callable[..., Any], args: Sequence[Any]) -> None:
        self.function = function
        self.parameters = Parameters("compare", function, ())
        self.args, self.options = self.parameters.ordered(tuple(args), {})
        _, leaves = self.parameters.key(self.args, self.options)
        _, _, inputs = self.parameters.stand_ins(self.args, self.options)
        self.names = [symbol.name or "" for symbol in inputs]
        self.types = [type_of(leaf) for leaf in leaves]
        self.wanted = [k for k, kind in enumerate(self.types) if is_inexact(kind.dtype)]

    def copied(self) -> tuple[list[Any], dict[str, Any], list[Tensor]]:
        """The arguments with tensors for arrays, that hold copies; and these, in order."""
        made: list[Tensor] = []

        def copy(value: Any) -> Any:
            if isinstance(value, (Tensor, np.ndarray, np.generic)):
                array = cast("Any", value.numpy() if isinstance(value, Tensor) else value)
                made.append(Tensor(array, requires_grad=is_inexact(array.dtype)))
                return made[-1]
            if isinstance(value, (list, tuple)):
                items = cast("Sequence[Any]", value)
                return rebuilt(items, [copy(item) for item in items])
            if isinstance(value, dict):
                entries = cast("dict[Any, Any]", value)
                return rebuilt(entries, [copy(item) for item in entries.values()])
            return value

        args = [copy(value) for value in self.args]
        return args, {name: copy(value) for name, value in self.options.items()}, made


# --- computed at once -----------------------------------------------------------------------------


class Recorded:
    """The function on tensors; derivatives by walks over what was recorded.

    Attributes:
        leaves: tensors from outside that require a gradient, and were met in a first run.
        names: what the values of a run are called.
        builds: how often the function's graph is built.
    """

    def __init__(self, call: Call, order: int, run: Callable[..., Any], *, builds: str) -> None:
        self._call, self._order, self._run, self.builds = call, order, run, builds
        args, options, tensors = call.copied()
        outputs = tensors_of(run(*args, **options))
        own = {id(t) for t in tensors}
        self.leaves = [leaf for leaf in _leaves_below(outputs) if id(leaf) not in own]
        self.names = named(call, len(outputs), len(self.leaves), order)

    def prepared(self, *, watched: bool = False) -> Callable[[], list[Any]]:
        """A run on fresh copies of the arguments; it gives values, then derivatives by order.

        Args:
            watched: derivatives are recorded in any case, so that every op's kernel runs.
        """
        args, options, tensors = self._call.copied()
        inputs = [tensors[k] for k in self._call.wanted]

        def run() -> list[Any]:
            outputs = tensors_of(self._run(*args, **options))
            found, current = list(outputs), outputs
            for k in range(self._order):
                current = _gradients(
                    current, [*inputs, *self.leaves], watched or k + 1 < self._order
                )
                found += current
            return found

        return run


def named(call: Call, outputs: int, leaves: int, order: int) -> list[str]:
    """What the values of a run are called."""
    names = ["the result"] if outputs == 1 else [f"result {k}" for k in range(outputs)]
    inputs = [call.names[k] for k in call.wanted] + [f"leaf {k}" for k in range(leaves)]
    for k in range(1, order + 1):
        names += [f"the derivative by {x}" if k == 1 else f"derivative {k} by {x}" for x in inputs]
    return names


def tensors_of(result: Any) -> list[Tensor]:
    """The arrays in a result, as tensors, in order."""
    if isinstance(result, Tensor):
        return [result]
    if isinstance(result, (np.ndarray, np.generic)):
        return [Tensor(result)]
    if isinstance(result, (list, tuple)):
        return [t for item in cast("Sequence[Any]", result) for t in tensors_of(item)]
    if isinstance(result, dict):
        return [t for item in cast("dict[Any, Any]", result).values() for t in tensors_of(item)]
    return []


def _gradients(outputs: Sequence[Tensor], inputs: Sequence[Tensor], create: bool) -> list[Tensor]:
    """The sum of all outputs' products of ones with their Jacobians."""
    ys = [y for y in outputs if y.requires_grad]
    if not ys or not inputs:
        return [tensor_on(Storage(np.zeros(x.shape, x.dtype))) for x in inputs]
    seeds = [tensor_on(Storage(np.ones(y.shape, y.dtype))) for y in ys]
    found = gradients(ys, inputs, seeds, create_graph=create, materialize_grads=True)
    return cast("list[Tensor]", list(found))


def _leaves_below(outputs: Sequence[Tensor]) -> list[Tensor]:
    seen: set[Any] = {y.edge for y in outputs if y.edge is not None}
    pending = list(seen)
    leaves: list[Leaf] = []
    while pending:
        edge = pending.pop()
        if isinstance(edge, Record):
            fresh = [e for e in edge.edges if e is not None and e not in seen]
            seen.update(fresh)
            pending += fresh
        else:
            leaves.append(edge)
    return [leaf.variable for leaf in sorted(leaves, key=lambda leaf: leaf.order)]


def compiled_calls(call: Call, level: str, backend: str) -> Callable[..., Any]:
    """The function, compiled by `jit`, for `Recorded`."""
    return jit(call.function, level=level, backend=backend)


# --- as a graph -----------------------------------------------------------------------------------


class Compiled:
    """The function's graph with its derivatives, compiled.

    Attributes:
        compiled: the function.
        leaves: tensors from outside by which it is differentiated as well.
        seconds: what tracing, differentiating and compiling took, of processor time.
        before, after: how many symbols the graph has, as built and as it runs.
    """

    builds = "once"

    def __init__(
        self, call: Call, order: int, leaves: list[Tensor] | None, *, level: str, backend: str
    ) -> None:
        self._call = call
        clock = time.process_time
        start = clock()
        graph = graph_of(call.function, call.parameters, call.args, call.options)
        traced = clock()
        self.leaves = _met(graph) if leaves is None else leaves
        symbols = _with_derivatives(graph, call, order, self.leaves, level)
        derived = clock()
        self.compiled: Function = function(graph.inputs, symbols, level=level, backend=backend)
        compiled = clock()
        self.seconds = {
            "trace": traced - start,
            "differentiate": derived - traced,
            "compile": compiled - derived,
        }
        self.before = len(Graph(graph.inputs, symbols).symbols)
        self.after = len(self.compiled.optimized.symbols)
        self.names = named(call, len(graph.outputs), len(self.leaves), order)

    def prepared(self) -> Callable[[], list[Any]]:
        """A run on fresh copies of the arguments."""
        arrays = [t.storage.array for t in self._call.copied()[2]]
        return lambda: self.compiled(*arrays)

    @property
    def arrays(self) -> list[Array]:
        """The values of the inputs."""
        return [t.storage.array for t in self._call.copied()[2]]


def _met(graph: TracedGraph) -> list[Tensor]:
    return [leaf for leaf in graph.leaves if leaf.requires_grad]


def _with_derivatives(
    graph: TracedGraph, call: Call, order: int, leaves: Sequence[Tensor], level: str
) -> list[Symbol]:
    """The outputs, then derivatives by order."""
    inputs = [graph.inputs[k] for k in call.wanted] + [lift(leaf) for leaf in leaves]
    found, current = list(graph.outputs), [y for y in graph.outputs if is_inexact(y.dtype)]
    for _ in range(order):
        if current and inputs:
            seeds = [ops.ones_like(y) for y in current]
            strict = "none" if level == "none" else None
            current = list(grad(current, inputs, seeds, materialize_grads=True, level=strict))
        else:
            current = [ops.zeros_like(x) for x in inputs]
        found += current
    return found
