"""Graph: inputs, outputs and everything between."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

from symgrad.errors import ArgumentError, FeedError, GradientError, TraceError
from symgrad.ir import printing, views
from symgrad.ir.late import late
from symgrad.ir.records import derived_symbols, names_of
from symgrad.ir.symbol import PLACEHOLDER, VARIABLE, Symbol
from symgrad.ir.walk import reachable
from symgrad.types import Constraint

if TYPE_CHECKING:
    import networkx


class Graph:
    """Outputs, and all that they need of the inputs. Immutable; equal only to itself.

    Args:
        inputs: what is given from outside, in this order: placeholders, or any other symbols. At a
            symbol that has operands the graph is cut: it begins there.
        outputs: what is computed.
        primal_outputs: how many of the outputs are the function's own; the others are derivatives.

    Raises:
        ArgumentError: an input or output is no symbol, or an input is given twice.
        FeedError: the outputs need a placeholder that is not among the inputs.

    >>> import symgrad as sg
    >>> x = sg.placeholder("x", ("n",))
    >>> Graph([x], [x * 2.0])
    %0 = placeholder "x" : f64[n]
    %1 = constant 2.0 : f64[]
    %2 = multiply(%0, %1) : f64[n]
    return %2
    """

    __slots__ = (
        "__weakref__",
        "_constraints",
        "_dims",
        "_inputs",
        "_outputs",
        "_positions",
        "_primal_outputs",
        "_symbols",
    )

    _inputs: tuple[Symbol, ...]
    _outputs: tuple[Symbol, ...]
    _symbols: tuple[Symbol, ...]
    _primal_outputs: int | None
    _positions: dict[Symbol, int] | None
    _constraints: tuple[Constraint, ...] | None
    _dims: tuple[str, ...] | None

    def __init__(self, inputs: Any, outputs: Any, *, primal_outputs: int | None = None) -> None:
        self._inputs = _symbols_of("inputs", inputs)
        self._outputs = _symbols_of("outputs", outputs)
        border = set(self._inputs)
        if len(border) != len(self._inputs):
            twice = next(s for k, s in enumerate(self._inputs) if _holds(self._inputs[:k], s))
            raise ArgumentError("graph", f"the input {twice!r} is given twice")
        used, between = _ordered(border, self._outputs)
        _refuse_free([s for s in between if s.op is PLACEHOLDER])
        self._symbols = (*[s for s in self._inputs if s in used], *between)
        self._primal_outputs = primal_outputs
        self._positions = self._constraints = self._dims = None

    @property
    def inputs(self) -> tuple[Symbol, ...]:
        """What is given from outside."""
        return self._inputs

    @property
    def outputs(self) -> tuple[Symbol, ...]:
        """What is computed."""
        return self._outputs

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        """All that the outputs need, operands before their users.

        The order follows from the structure alone, not from when a symbol was made: first the
        inputs, then each output's operands, from left to right, and the output itself.
        """
        return self._symbols

    @property
    def positions(self) -> dict[Symbol, int]:
        """The number of each symbol: that of its printed name. Inputs come first, used or not."""
        if self._positions is None:
            listed = dict.fromkeys((*self._inputs, *self._symbols))
            self._positions = {symbol: number for number, symbol in enumerate(listed)}
        return self._positions

    def name_of(self, symbol: Symbol) -> str:
        """The name under which a symbol of the graph is printed, such as ``%12``."""
        return f"%{self.positions[symbol]}"

    @property
    def variables(self) -> tuple[Symbol, ...]:
        """The variables whose values the outputs need."""
        return tuple([symbol for symbol in self._symbols if symbol.op is VARIABLE])

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """The equalities between dimensions that a call must fulfil, with their creation sites."""
        if self._constraints is None:
            border = set(self._inputs)
            found: dict[tuple[Any, ...], Constraint] = {}
            for symbol in self._symbols:
                if symbol.constraints and symbol not in border:
                    for c in symbol.constraints:
                        owned = c if c.site or symbol.site is None else c.at(str(symbol.site))
                        found.setdefault((c.left, c.right, c.where, c.what), owned)
            self._constraints = tuple(found.values())
        return self._constraints

    @property
    def dims(self) -> tuple[str, ...]:
        """The names of all dimensions, in order of appearance."""
        if self._dims is None:
            names: dict[str, None] = {}
            border = set(self._inputs)
            for symbol in self.positions:
                names.update(dict.fromkeys(names_of(symbol.type)))
                if symbol.attrs and symbol not in border:
                    names.update(dict.fromkeys(names_of(tuple(symbol.attrs.values()))))
            self._dims = tuple(names)
        return self._dims

    @property
    def primal_outputs(self) -> int | None:
        """How many of the outputs are the function's own, if the graph was differentiated."""
        return self._primal_outputs

    @property
    def derivative_symbols(self) -> tuple[Symbol, ...]:
        """The derivative half: what the gradients need and the function's own outputs do not.

        For a graph that `differentiate` did not make: what the differentiator made.
        """
        if self._primal_outputs is None:
            return tuple(derived_symbols(self))
        primal = set(reachable(self._outputs[: self._primal_outputs], stop=self._inputs))
        border = set(self._inputs)
        return tuple([s for s in self._symbols if s not in primal and s not in border])

    def differentiate(self, wrt: Any, grad_outputs: Any = None) -> Graph:
        """The graph with the gradients of its outputs appended.

        Args:
            wrt: by which symbols: one or several, of the inputs or between.
            grad_outputs: one cotangent per output; a scalar needs none.

        Returns:
            a graph of the same inputs. Its outputs are those of this graph, then one gradient per
            symbol of ``wrt``; symbols of this graph are the same objects.

        Raises:
            GradientError: a symbol of ``wrt`` is not in the graph.

        >>> import symgrad as sg
        >>> x = sg.placeholder("x")
        >>> graph = Graph([x], [sg.sin(x)]).differentiate(x)
        >>> [symbol.op.name for symbol in graph.derivative_symbols]
        ['cos']
        """
        targets = _symbols_of("wrt", wrt)
        for target in targets:
            if target not in self.positions:
                name = repr(target.name) if target.name else repr(target)
                raise GradientError(
                    "differentiate", f"{name} is no symbol of the graph", site=str(target.site)
                )
        gradients = late.differentiate(self._outputs, targets, grad_outputs)
        own = len(self._outputs) if self._primal_outputs is None else self._primal_outputs
        return Graph(self._inputs, (*self._outputs, *gradients), primal_outputs=own)

    def __copy__(self) -> Graph:
        return self  # immutable, and equal only to itself

    def __deepcopy__(self, memo: Any) -> Graph:
        return self

    def __reduce__(self) -> Any:
        raise TraceError("graph", "graphs are not pickled", hint="sg.save writes graphs to files")

    def __str__(self) -> str:
        return printing.print_graph(self)

    __repr__ = __str__

    def to_networkx(self, *, simple: bool = False) -> networkx.MultiDiGraph[str]:
        """The graph for networkx: nodes are the printed names, edges lead from operand to user.

        Nodes carry ``op``, ``attrs`` (plain values: types and sizes as text), ``type``, ``label``,
        ``origin`` (what it is the derivative of, or None) and ``symbol``; edges ``position``, the
        operand's place. With ``simple`` it is a ``DiGraph``, whose edges carry ``positions``.

        Raises:
            ExtraMissing: networkx is not installed.

        >>> import symgrad as sg
        >>> x = sg.placeholder("x")
        >>> list(Graph([x], [x * x]).to_networkx().edges(data=True))
        [('%0', '%1', {'position': 0}), ('%0', '%1', {'position': 1})]
        """
        return views.to_networkx(self, simple)

    def to_dot(self) -> str:
        """The graph as a picture in Graphviz's language: text for ``dot -Tsvg``.

        Leaves differ in shape and colour; outputs have a double border; the derivative half stands
        in a dashed frame.
        """
        return views.to_dot(self)


def _symbols_of(role: str, given: Any) -> tuple[Symbol, ...]:
    alone = isinstance(given, Symbol) or hasattr(given, "__as_symbol__")
    try:
        items = cast("Iterable[Any]", (given,) if alone else tuple(given))
    except TypeError:
        raise ArgumentError(
            "graph", f"{role} is no sequence of symbols", got=type(given).__name__
        ) from None
    return tuple([_as_symbol(role, k, item) for k, item in enumerate(items)])


def _as_symbol(role: str, position: int, item: Any) -> Symbol:
    if isinstance(item, Symbol):
        return item
    if hasattr(item, "__as_symbol__"):
        return item.__as_symbol__()
    hint = "sg.constant makes a symbol of a value" if role == "outputs" else None
    raise ArgumentError(
        "graph",
        f"{role}[{position}] is no symbol",
        expected="a symbol",
        got=type(item).__name__,
        hint=hint,
    )


def _holds(symbols: Iterable[Symbol], wanted: Symbol) -> bool:
    return any(symbol is wanted for symbol in symbols)


def _ordered(border: set[Symbol], outputs: Sequence[Symbol]) -> tuple[set[Symbol], list[Symbol]]:
    """The inputs that are needed, and all other symbols, operands before users."""
    used = {output for output in outputs if output in border}
    done = set(border)
    order: list[Symbol] = []
    for output in outputs:
        stack = [output]
        while stack:
            symbol = stack[-1]
            if symbol in done:
                stack.pop()
                continue
            waiting = [arg for arg in symbol.args if arg not in done]
            if waiting:
                stack.extend(reversed(waiting))
                continue
            used.update(border.intersection(symbol.args))
            done.add(symbol)
            order.append(stack.pop())
    return used, order


_MOST_LISTED = 10


def _refuse_free(free: list[Symbol]) -> None:
    if not free:
        return
    listed = ", ".join(f"{s.name!r} (created at {s.site})" for s in free[:_MOST_LISTED])
    more = f" and {len(free) - _MOST_LISTED} more" if len(free) > _MOST_LISTED else ""
    raise FeedError(
        "graph",
        f"the outputs need what is not among the inputs: placeholder {listed}{more}",
        hint="list every placeholder among the inputs",
    )
