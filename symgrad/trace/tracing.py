"""Tracing: a Python function, run once on symbols, leaves a graph."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from symgrad.eager.tensor import Tensor, tensor_on
from symgrad.errors import ArgumentError
from symgrad.ir.graph import Graph
from symgrad.ir.modes import MET, MODE, RECORDING, TRACING
from symgrad.ir.symbol import Symbol, constructing
from symgrad.trace.arguments import Parameters
from symgrad.trace.refusals import refusal
from symgrad.trace.results import Build, taken_apart


class TracedGraph(Graph):
    """The graph of a Python function.

    Its inputs are the arrays among the arguments, in order, named after the parameters; its outputs
    are the arrays in the result, in order.
    """

    __slots__ = ("_build", "_leaves")

    _build: Build
    _leaves: tuple[Tensor, ...]

    def __init__(
        self,
        inputs: Sequence[Symbol],
        outputs: Sequence[Symbol],
        build: Build,
        met: dict[Symbol, Tensor],
    ) -> None:
        super().__init__(inputs, outputs)
        self._build = build
        # A variable that no leaf stands for has its storage in common with a tensor made here.
        self._leaves = tuple(met[v] if v in met else tensor_on(v.payload) for v in self.variables)

    @property
    def leaves(self) -> tuple[Tensor, ...]:
        """Per variable the tensor that it stands for; a leaf, if it was met while tracing."""
        return self._leaves

    def structured(self, values: Sequence[Any]) -> Any:
        """The function's result with these values in place of its arrays.

        >>> import symgrad as sg
        >>> graph = sg.trace(lambda x: {"double": 2 * x, "name": "x"})(sg.TensorType((), "float64"))
        >>> graph.structured([4.0])
        {'double': 4.0, 'name': 'x'}
        """
        return self._build(iter(values))


def trace(
    function: Callable[..., Any], *, static_argnames: str | Collection[str] = ()
) -> Callable[..., TracedGraph]:
    """What makes graphs of a Python function: ``sg.trace(f)(*arguments)``.

    The function runs once, on symbols. Its arguments say what they stand for:

    - a type (``sg.TensorType(("n", 3), "float32")``), an array or a tensor: an input of this type;
    - a symbol: itself;
    - a number, a text, None, a function: a constant of the graph, whose value counts;
    - a list, tuple or dict of these: the same, item by item. The result may be nested likewise.

    Inside, a leaf tensor that requires a gradient becomes a variable on the same storage: whoever
    runs the graph sees its present value. Any other tensor or array is a constant, as it is now.
    Everything else that the function does (printing, counting, drawing random numbers from a
    generator, changing tensors from outside) happens once, now, and not when the graph runs.

    Args:
        function: what to trace.
        static_argnames: parameters that are taken as they are, whatever they hold.

    Returns:
        a function that takes the arguments and gives a `Graph`.

    Raises (when called):
        TraceError: Python needs a value of what has none yet (``if x > 0``, ``float(x)``); or a
            tensor that a recorded call made is used, whose history cannot be part of a graph.

    >>> import symgrad as sg
    >>> sg.trace(lambda x, n: x**n)(sg.TensorType(("m",), "float64"), 2)
    %0 = placeholder "x" : f64[m]
    %1 = constant 2.0 : f64[]
    %2 = pow(%0, %1) : f64[m]
    return %2
    """
    require_function("trace", function)
    names = (static_argnames,) if isinstance(static_argnames, str) else static_argnames
    parameters = Parameters("trace", function, names)

    def traced(*args: Any, **kwargs: Any) -> TracedGraph:
        ordered, options = parameters.ordered(args, kwargs)
        return graph_of(function, parameters, ordered, options)

    return traced


def graph_of(
    function: Callable[..., Any],
    parameters: Parameters,
    args: Sequence[Any],
    kwargs: dict[str, Any],
) -> TracedGraph:
    """The graph of a call whose arguments are in order."""
    given, options, inputs = parameters.stand_ins(args, kwargs)
    name = name_of(function)
    met: dict[Symbol, Tensor] = {}
    # What is recorded where the call stands has no part in what the function computes.
    mode, leaves = MODE.set(RECORDING | TRACING), MET.set(met)
    try:
        with constructing() as building:
            building.builder = building.origin = None
            outputs, build = taken_apart(name, function(*given, **options))
    except Exception as error:
        shown = refusal(name, error)
        if shown is error:
            raise
        raise shown from error
    finally:
        MET.reset(leaves)
        MODE.reset(mode)
    return TracedGraph(inputs, outputs, build, met)


def require_function(where: str, function: Any) -> None:
    """Refuse what cannot be called.

    Raises:
        ArgumentError: it is no function; of a matrix, `symgrad.linalg.trace` was meant.
    """
    if not callable(function):
        matrix = where == "trace" and hasattr(function, "shape")
        raise ArgumentError(
            where,
            "no function",
            expected="a function of tensors",
            got=type(function).__name__,
            hint="sg.linalg.trace sums a matrix's diagonal" if matrix else None,
        )


def name_of(function: Callable[..., Any]) -> str:
    """What a function is called in messages."""
    for attribute in ("__name__", "name"):  # an op has the latter
        name = getattr(function, attribute, None)
        if isinstance(name, str):
            return name
    return type(function).__name__
