"""Walks over graphs. All are iterative, and linear in the number of symbols."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from symgrad.errors import ArgumentError, DTypeError, ShapeError
from symgrad.ir.lifting import lift
from symgrad.ir.symbol import Symbol, array_like, constant_of, make

_serial = attrgetter("serial")


def reachable(outputs: Iterable[Symbol], stop: Iterable[Symbol] = ()) -> list[Symbol]:
    """All symbols that ``outputs`` need, in topological order.

    Args:
        outputs: where the walk starts.
        stop: symbols whose operands are not followed.
    """
    border = set(stop)
    seen: set[Symbol] = set(outputs)
    pending = list(seen)
    while pending:
        symbol = pending.pop()
        if symbol in border:
            continue
        for arg in symbol.args:
            if arg not in seen:
                seen.add(arg)
                pending.append(arg)
    return sorted(seen, key=_serial)


def users(symbols: Iterable[Symbol]) -> dict[Symbol, list[Symbol]]:
    """For each symbol, those among ``symbols`` that have it as an operand."""
    table: dict[Symbol, list[Symbol]] = {symbol: [] for symbol in symbols}
    for symbol in list(table):
        for arg in symbol.args:
            if arg in table:
                table[arg].append(symbol)
    return table


def rebuild(
    outputs: Sequence[Symbol],
    construct: Callable[[Symbol, tuple[Symbol, ...]], Symbol],
    mapping: Mapping[Symbol, Symbol] | None = None,
) -> list[Symbol]:
    """Build ``outputs`` anew from the leaves up.

    Args:
        outputs: what to rebuild.
        construct: gives the new symbol for an old one and its new operands.
        mapping: symbols that are replaced as they stand, their operands not visited.
    """
    new: dict[Symbol, Symbol] = dict(mapping or {})
    for symbol in reachable(outputs, stop=new):
        if symbol not in new:
            new[symbol] = (
                construct(symbol, tuple(new[a] for a in symbol.args)) if symbol.args else symbol
            )
    return [new[output] for output in outputs]


def remake(symbol: Symbol, args: tuple[Symbol, ...]) -> Symbol:
    """The same application on other operands; the same object if they are the same."""
    if all(new is old for new, old in zip(args, symbol.args, strict=True)):
        return symbol
    return make(symbol.op, args, symbol.attrs)


def substitute(outputs: Any, mapping: Mapping[Symbol, Any]) -> Any:
    """Replace symbols in expressions.

    All replacements happen at once: what a replacement contains is not replaced again.

    Args:
        outputs: a symbol, or a sequence of them.
        mapping: what stands for what; a new value may be a symbol, an array or a number.

    Returns:
        a symbol for a symbol, a list for a sequence.

    Raises:
        ShapeError, DTypeError: a new value's type is not the old symbol's.

    >>> import symgrad as sg
    >>> x, y = sg.placeholder("x"), sg.placeholder("y")
    >>> sg.substitute(x * x, {x: y + 1}).eval({y: 2.0})
    array(9.)
    """
    if not isinstance(mapping, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        got = type(mapping).__name__
        raise ArgumentError("substitute", "no mapping", expected="{old: new}", got=got)
    single = isinstance(outputs, Symbol) or not isinstance(outputs, Iterable)
    wanted = [_known("outputs", s) for s in ([outputs] if single else outputs)]  # pyright: ignore[reportUnknownVariableType]
    new = {_known("mapping", old): _stand_in(old, value) for old, value in mapping.items()}
    results = rebuild(wanted, remake, new)
    return results[0] if single else results


def _known(role: str, symbol: Any) -> Symbol:
    if isinstance(symbol, Symbol):
        return symbol
    got = type(symbol).__name__
    raise ArgumentError("substitute", f"no symbol in {role}", expected="a symbol", got=got)


def _stand_in(old: Symbol, value: Any) -> Symbol:
    where = f"substitute {old.name!r}" if old.name else f"substitute {old!r}"
    if not isinstance(value, Symbol) and not hasattr(value, "__as_symbol__"):
        return constant_of(array_like(where, old, value))
    new = lift(value)
    if new.type == old.type:
        return new
    error = ShapeError if new.dtype == old.dtype else DTypeError
    raise error(where, "the new value has another type", expected=old.type, got=new.type)
