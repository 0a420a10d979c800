"""Compile a graph and call it; or evaluate one once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from symgrad.backends import find_backend
from symgrad.backends.anomalies import watch_for_nan
from symgrad.backends.base import Backend, Program
from symgrad.backends.feeds import Feeds
from symgrad.backends.numpy.interpreter import interpret
from symgrad.backends.state import State
from symgrad.errors import (
    ArgumentError,
    DTypeError,
    FeedError,
    ShapeError,
    SymgradError,
    TraceError,
)
from symgrad.ir.graph import Graph
from symgrad.ir.late import late
from symgrad.ir.modes import MODE, WATCHING
from symgrad.ir.symbol import PLACEHOLDER, VARIABLE, Symbol
from symgrad.ir.walk import reachable
from symgrad.pipeline import optimize
from symgrad.types import TensorType


class Function:
    """A compiled graph: call it with values for its inputs, in order or by name.

    It is immutable, so any number of threads may call it at once; calls that change the same
    variable take turns. Outputs are fresh arrays that nothing else shows. A call that fails changes
    nothing.
    """

    __slots__ = (
        "__weakref__",
        "_bare",
        "_count",
        "_feeds",
        "_graph",
        "_inputs",
        "_optimized",
        "_outputs",
        "_program",
        "_run",
        "_state",
        "_stateful",
        "_updates",
    )

    def __init__(
        self,
        graph: Graph,
        updates: Mapping[Symbol, Symbol],
        *,
        bare: bool,
        backend: Backend,
        level: str,
    ) -> None:
        self._graph = graph
        self._optimized = optimize(graph, level)
        self._count = len(graph.outputs) - len(updates)
        self._bare, self._updates = bare, dict(updates)
        self._inputs, self._outputs = graph.inputs, graph.outputs[: self._count]
        positions = {variable: self._count + k for k, variable in enumerate(updates)}
        self._program: Program = backend.compile(self._optimized, positions, bare=bare)
        self._run: Callable[..., tuple[Any, ...]] = self._program.run
        self._feeds = Feeds(graph.inputs, graph.constraints)
        self._state = State(
            [variable.payload for variable in self._program.variables],
            [variable.payload for variable in updates],
        )
        self._stateful = bool(self._state)

    @property
    def inputs(self) -> tuple[Symbol, ...]:
        """What a call is given, in order."""
        return self._inputs

    @property
    def outputs(self) -> tuple[Symbol, ...]:
        """What a call gives."""
        return self._outputs

    @property
    def updates(self) -> dict[Symbol, Symbol]:
        """The new value of each variable that a call advances."""
        return dict(self._updates)

    @property
    def graph(self) -> Graph:
        """The graph as given. New values of variables follow the outputs."""
        return self._graph

    @property
    def optimized(self) -> Graph:
        """The graph after rewriting: what runs."""
        return self._optimized

    @property
    def source(self) -> str:
        """The code, for reading."""
        return self._program.source

    def export_python(self, path: str | os.PathLike[str]) -> None:
        """Write a Python file that imports only numpy.

        Its function ``call`` takes the inputs, in order, and gives what this function gives. The
        dictionary ``variables`` holds the present values of variables; a call with updates changes
        those, not the ones here. ``call`` casts its arguments; it does not check their shapes.
        """
        self._program.export(path)

    def __call__(self, /, *arrays: Any, **by_name: Any) -> Any:
        """Run it.

        Args:
            arrays: values of the inputs, in order: arrays, numbers, lists.
            by_name: values of placeholders by their names.

        Raises:
            FeedError: a value is missing, unknown or given twice.
            DTypeError: a value is not of the input's kind (a float for an int, say).
            ShapeError: a value's shape does not fit, or sizes that must be equal are not.
        """
        if by_name or not self._feeds.fits(arrays):
            arrays = self._feeds.admit(arrays, by_name)
        run = self._watched if MODE.get() & WATCHING else self._run
        try:
            results = self._advance(arrays, run) if self._stateful else run(*arrays)
        except Exception as error:
            self._annotate(error)
            raise
        return results[0] if self._bare else list(results[: self._count])

    def _advance(
        self, arrays: tuple[Any, ...], run: Callable[..., tuple[Any, ...]]
    ) -> tuple[Any, ...]:
        """Run with the variables' values, then store the new ones, all or none."""
        with self._state:
            results = run(*arrays, *self._state.read())
            self._state.commit(results[self._count :])
        return results

    def _watched(self, *arrays: Any) -> tuple[Any, ...]:
        """Run op by op, with an eye on what becomes NaN."""
        graph, feeds = self._optimized, arrays[: len(self._inputs)]
        return tuple(interpret(graph, feeds, self._feeds.bindings(feeds), watch_for_nan(graph)))

    def _annotate(self, error: Exception) -> None:
        """Say which symbol was being computed."""
        find = getattr(self._program, "symbol_at", None)
        symbol = None if find is None else find(error.__traceback__)
        if symbol is not None:
            error.add_note(
                f"while computing {symbol.op.name}: {symbol.type}, created at {symbol.site}"
            )

    def __copy__(self) -> Function:
        return self  # immutable: what changes are its variables

    def __deepcopy__(self, memo: Any) -> Function:
        return self

    def __reduce__(self) -> Any:
        raise TraceError(
            "function",
            "compiled functions are not pickled",
            hint="sg.save writes their graphs, export_python their code",
        )

    def __repr__(self) -> str:
        takes = ", ".join(f"{s.name or s.op.name}: {s.type}" for s in self._inputs)
        gives = ", ".join(str(s.type) for s in self._outputs)
        changes = ", ".join(v.name or "variable" for v in self._updates)
        gives = gives if self._bare else f"[{gives}]"
        return f"<function ({takes}) -> {gives}{f', updates {changes}' if changes else ''}>"


# --- building ---------------------------------------------------------------------------------


def function(
    inputs: Any,
    outputs: Any,
    updates: Mapping[Any, Any] | None = None,
    *,
    backend: str | Backend | None = None,
    level: str = "exact",
) -> Function:
    """Compile the computation of ``outputs`` from ``inputs``.

    Args:
        inputs: a symbol or a sequence of them; any symbols, the graph is cut where they stand.
            Variables need not be listed: their present values are read at each call.
        outputs: one symbol, for a function that gives one array, or a sequence, for a list.
        updates: the new value of each variable that a call advances, once all is computed.
        backend: what runs it: a name, or a backend; the numpy backend if None.
        level: which rewrites are allowed: "none", "exact" or "fast".

    Raises:
        FeedError: a placeholder is needed that is not among the inputs.
        ShapeError, DTypeError: an update is not of its variable's type.
        ArgumentError: an input is given twice, an output has several parts, no such level.

    >>> import symgrad as sg
    >>> x = sg.placeholder("x", (3,))
    >>> f = sg.function(x, [sg.sin(x), x * x])
    >>> f([0.0, 1.0, 2.0])[1]
    array([0., 1., 4.])
    >>> count = sg.variable(0, name="count")
    >>> step = sg.function([], count, {count: count + 1})
    >>> int(step()), int(step()), int(count.value)
    (0, 1, 2)
    """
    bare = _is_symbol(outputs)
    shown = _listed("function", "outputs", outputs)
    given = _listed("function", "inputs", inputs)
    _refuse_packs(given, shown)
    new_values = _checked_updates(_mapping("function", "updates", updates))
    graph = _graph("function", given, [*shown, *new_values.values()])
    return Function(graph, new_values, bare=bare, backend=find_backend(backend), level=level)


def _is_symbol(value: Any) -> bool:
    return isinstance(value, Symbol) or hasattr(value, "__as_symbol__")


def _as_symbol(value: Any) -> Any:
    return value.__as_symbol__() if hasattr(value, "__as_symbol__") else value


def _listed(where: str, role: str, given: Any) -> list[Any]:
    """One symbol or several as a list."""
    if _is_symbol(given):
        return [_as_symbol(given)]
    if not isinstance(given, Iterable):
        raise ArgumentError(
            where,
            f"{role} is no symbol",
            expected="a symbol or a sequence of them",
            got=type(given).__name__,
            hint=_CONSTANT if role == "outputs" else None,
        )
    return [_as_symbol(item) for item in given]  # pyright: ignore[reportUnknownVariableType]


def _mapping(where: str, role: str, given: Any) -> Mapping[Any, Any]:
    """A mapping from symbols, or an empty one for None."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ArgumentError(
            where,
            f"{role} is no mapping",
            expected="{symbol: value}",
            got=type(given).__name__,
        )
    return given  # pyright: ignore[reportUnknownVariableType]


_CONSTANT = "sg.constant makes a symbol of a value"


def _graph(where: str, inputs: Sequence[Symbol], outputs: Sequence[Symbol]) -> Graph:
    try:
        return Graph(inputs, outputs)
    except SymgradError as error:
        error.where = where
        if where == "evaluate" and isinstance(error, FeedError):
            error.problem = error.problem.replace("among the inputs", "fed")
            error.hint = "feed it: {symbol: value}"
        raise


def _refuse_packs(inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
    for symbol in (*inputs, *outputs):
        if isinstance(symbol, Symbol) and not isinstance(symbol.type, TensorType):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ArgumentError(
                "function",
                f"{symbol.op.name} has several outputs",
                expected="one array",
                got=symbol.type,
                hint="take one of them",
                site=str(symbol.site),
            )


def _checked_updates(updates: Mapping[Any, Any]) -> dict[Symbol, Symbol]:
    checked: dict[Symbol, Symbol] = {}
    for target, value in updates.items():
        variable, new = _as_symbol(target), _as_symbol(value)
        if not isinstance(variable, Symbol) or variable.op is not VARIABLE:
            raise ArgumentError("updates", "only a variable can be updated", got=repr(target))
        if not isinstance(new, Symbol):
            raise ArgumentError(
                "updates",
                f"the new value of {variable!r} is no symbol",
                got=repr(value),
                hint=_CONSTANT,
            )
        if variable in checked:
            raise ArgumentError("updates", f"{variable!r} is updated twice")
        _check_update(variable, new)
        checked[variable] = new
    return checked


def _check_update(variable: Symbol, new: Symbol) -> None:
    site = None if new.site is None else str(new.site)
    label = f"variable {variable.name!r}" if variable.name else "a variable"
    if new.dtype != variable.dtype:
        raise DTypeError(
            "updates",
            f"the new value of {label} has another element type",
            expected=variable.type,
            got=new.type,
            hint=f"cast it: sg.astype(value, sg.{variable.dtype.name})",
            site=site,
        )
    if new.shape != variable.shape:
        raise ShapeError(
            "updates",
            f"the new value of {label} has another shape",
            expected=variable.type,
            got=new.type,
            site=site,
        )


# --- once -------------------------------------------------------------------------------------


def evaluate(outputs: Any, feeds: Mapping[Any, Any] | None = None, *, level: str = "exact") -> Any:
    """The values of ``outputs``, computed once, op by op.

    Args:
        outputs: one symbol, for one array, or a sequence, for a list.
        feeds: values of symbols: of placeholders (which may be named by a string), or of any
            others, which are then not computed. Variables have their present values.
        level: which rewrites are allowed: "none", "exact" or "fast".

    Raises:
        As for calls of a `Function`.

    >>> import symgrad as sg
    >>> x = sg.placeholder("x")
    >>> y = sg.exp(x)
    >>> float(sg.evaluate(y * y, {y: 3.0}))
    9.0
    """
    bare = _is_symbol(outputs)
    wanted = _listed("evaluate", "outputs", outputs)
    given = _resolved(wanted, _mapping("evaluate", "feeds", feeds))
    _refuse_packs(list(given), wanted)
    graph = _graph("evaluate", list(given), wanted)
    checked = Feeds(graph.inputs, graph.constraints)
    arrays = checked.admit(list(given.values()), {})
    graph = optimize(graph, level)
    watch = watch_for_nan(graph) if MODE.get() & WATCHING else None
    results = interpret(graph, arrays, checked.bindings(arrays), watch)
    return results[0] if bare else results


def _resolved(outputs: Sequence[Any], feeds: Mapping[Any, Any]) -> dict[Symbol, Any]:
    """The feeds by symbol."""
    if not any(isinstance(key, str) for key in feeds):
        return {_as_symbol(key): value for key, value in feeds.items()}
    symbols = {_as_symbol(key) for key in feeds if not isinstance(key, str)}
    known = [s for s in outputs if isinstance(s, Symbol)]  # the others are refused later
    placeholders = [s for s in reachable(known, stop=symbols) if s.op is PLACEHOLDER]
    given: dict[Symbol, Any] = {}
    for key, value in feeds.items():
        symbol = _named(key, placeholders) if isinstance(key, str) else _as_symbol(key)
        if symbol in given:
            raise FeedError("evaluate", f"placeholder {symbol.name!r} is given twice")
        given[symbol] = value
    return given


def _named(name: str, placeholders: Sequence[Symbol]) -> Symbol:
    found = [s for s in placeholders if s.name == name]
    if len(found) == 1:
        return found[0]
    listed = ", ".join(repr(s.name) for s in placeholders) or "none"
    problem = "no placeholder is" if not found else f"{len(found)} placeholders are"
    raise FeedError("evaluate", f"{problem} called {name!r}", expected=listed)


late.evaluate = evaluate
