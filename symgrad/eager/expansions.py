"""Expansions: what a call on tensors comes down to, found once per types and options.

The function is called on placeholders; the ops of what it gives are then carried out on tensors,
with plans that stay. So a composite costs what its ops cost, not what its body does to find them,
and an op with options costs as much as one without.

Where values are asked for (a count in a tensor, say), or the result is no symbol, calls go on as
they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import EllipsisType
from typing import Any, cast

import numpy as np

from symgrad.eager.apply import carry_out
from symgrad.eager.plans import Plan, new_plan
from symgrad.eager.tensor import Tensor, tensor_on
from symgrad.ir.interning import attribute_key
from symgrad.ir.late import late
from symgrad.ir.modes import MODE, TRACING
from symgrad.ir.op import Composite, Op
from symgrad.ir.storage import Storage
from symgrad.ir.symbol import CONSTANT, PLACEHOLDER, VARIABLE, Symbol, constructing, new_symbol
from symgrad.ir.walk import reachable
from symgrad.types import Dim, items_of, take_constraints, when_default_changes

_KEPT = 10_000
_known: dict[Any, Expansion | None] = {}
when_default_changes(_known.clear)


class _Unsuited(Exception):
    """A call that runs its body each time."""


def expand(function: Op | Composite, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Carry out a call on tensors."""
    if MODE.get() & TRACING:  # a leaf among them makes symbols on the way
        return function.directly(args, kwargs)
    key: list[Any] = [function]
    tensors: list[Tensor] = []
    try:
        for value in args:
            _note(value, key, tensors)
        for name, value in kwargs.items():
            key.append(name)
            _note(value, key, tensors)
        found = _known[tuple(key)]
    except (_Unsuited, TypeError):
        return function.directly(args, kwargs)
    except KeyError:
        found = _expansion(function, args, kwargs)
        if len(_known) >= _KEPT:
            _known.clear()
        _known[tuple(key)] = found
    if found is None:
        return function.directly(args, kwargs)
    return found.run(tensors)


_PLAIN = (bool, int, float, complex, str, type(None), EllipsisType, np.dtype, type)


def _note(value: Any, key: list[Any], tensors: list[Tensor]) -> None:
    """Into ``key`` what tells an argument's type, or its value where it is an option."""
    if isinstance(value, Tensor):
        array = value.storage.array
        key.append(array.dtype)
        key.append(array.shape)
        tensors.append(value)
    elif isinstance(value, (list, tuple)):
        items = cast("Sequence[Any]", value)
        key.append((cast("Any", type(items)), len(items)))
        for item in items:
            _note(item, key, tensors)
    elif isinstance(value, slice):
        key.append(slice)
        cut = cast("Any", value)
        for bound in (cut.start, cut.stop, cut.step):
            if not (bound is None or type(bound) is int):
                raise _Unsuited
            key.append(bound)
    elif isinstance(value, _PLAIN):
        key.append(attribute_key(value))
    else:
        raise _Unsuited


# --- found once -----------------------------------------------------------------------------------


class Expansion:
    """The ops of a call, in order.

    Args:
        inputs: the placeholders that stand for the tensors.
        results: the symbols that the call gave.
        rebuild: makes the call's result of theirs.
    """

    __slots__ = ("_constants", "_places", "_rebuild", "_steps")

    def __init__(
        self, inputs: Sequence[Symbol], results: Sequence[Symbol], rebuild: Callable[..., Any]
    ) -> None:
        place = {symbol: k for k, symbol in enumerate(inputs)}
        self._constants: list[Any] = []
        self._steps: list[tuple[Plan, tuple[int, ...]]] = []
        symbols = reachable(results)
        for symbol in symbols:
            if symbol.op is CONSTANT:
                place[symbol] = len(place)
                self._constants.append(tensor_on(Storage(symbol.payload)))
        for symbol in symbols:
            if symbol not in place:
                types = [arg.type for arg in symbol.args]
                self._steps.append(
                    (new_plan(symbol.op, types, symbol.attrs), tuple(place[a] for a in symbol.args))
                )
                place[symbol] = len(place)
        self._places = [place[symbol] for symbol in results]
        self._rebuild = rebuild

    def run(self, tensors: Sequence[Tensor]) -> Any:
        """Carry out the ops on tensors of the types that the expansion was found for."""
        values: list[Any] = [*tensors, *self._constants]
        for plan, places in self._steps:
            values.append(carry_out(plan, [values[k] for k in places]))
        return self._rebuild([values[k] for k in self._places])


def _expansion(
    function: Op | Composite, args: Sequence[Any], kwargs: dict[str, Any]
) -> Expansion | None:
    """The expansion of a call, or None where each call has to go its own way."""
    inputs: list[Symbol] = []

    def stand_in(value: Any) -> Any:
        if isinstance(value, Tensor):
            inputs.append(new_symbol(PLACEHOLDER, (), {}, value.type, name=""))
            return inputs[-1]
        if type(value) in (list, tuple):
            return type(value)(map(stand_in, value))
        return value

    try:
        with constructing(builder=None, share=False) as building:
            building.origin = None
            given = [stand_in(value) for value in args]
            options = {name: stand_in(value) for name, value in kwargs.items()}
            result = function.directly(given, options)
        results, rebuild = _taken_apart(result)
        settled = all(_is_settled(symbol) for symbol in reachable(results))
        if settled and not any(map(_shows_constant, results)):
            return Expansion(inputs, results, rebuild)
    except Exception:  # what is not done with symbols is done with tensors, or refused there
        take_constraints()
    return None


def _taken_apart(result: Any) -> tuple[list[Symbol], Callable[[list[Any]], Any]]:
    """A result as symbols, and how to make one like it of other values."""
    if isinstance(result, Symbol):
        return [result], _first
    if not isinstance(result, (tuple, list)):
        raise _Unsuited
    kind: Any = cast("Any", result).__class__
    items = list(cast("Sequence[Any]", result))
    if not items or not all(isinstance(item, Symbol) for item in items):
        raise _Unsuited
    return items, getattr(kind, "_make", kind)  # of a named tuple, or of any other


def _first(values: list[Any]) -> Any:
    return values[0]


def _is_settled(symbol: Symbol) -> bool:
    """Whether neither its type nor its options hold a size that only running tells."""
    sizes = [size for item in items_of(symbol.type) for size in item.shape]
    known = not symbol.constraints and not any(isinstance(size, Dim) for size in sizes)
    return known and symbol.op is not VARIABLE


def _shows_constant(symbol: Symbol) -> bool:
    """Whether a result lies in memory that all calls would share."""
    while symbol.op.view and symbol.args:
        symbol = symbol.args[0]
    return symbol.op is CONSTANT


late.expand = expand
