"""Walks over graphs. All are iterative, and linear in the number of symbols."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, cast

from symgrad.errors import ArgumentError, DTypeError, ShapeError
from symgrad.ir.lifting import lift
from symgrad.ir.signature import Attrs
from symgrad.ir.symbol import Symbol, array_like, constant_of, make
from symgrad.types import Dim, Size, items_of

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


class FoundSizes:
    """The names of sizes that only running tells, in a graph that is being built anew.

    An op whose result has such a size makes up a name for it each time it is applied, so where it
    is applied to new operands, the attributes of what follows must take the new name.
    """

    __slots__ = ("_names",)

    def __init__(self) -> None:
        self._names: dict[str, Size] = {}

    def note(self, old: Symbol, new: Symbol) -> None:
        """Learn new names from a symbol and what stands for it."""
        if new is old or new.type == old.type:
            return
        for before, after in zip(items_of(old.type), items_of(new.type), strict=True):
            for left, right in zip(before.shape, after.shape, strict=True):
                if left != right and isinstance(left, Dim) and left.name is not None:
                    self._names[left.name] = right

    def attrs(self, symbol: Symbol) -> Attrs:
        """The attributes of ``symbol`` in the new names."""
        if not self._names or not symbol.attrs:
            return symbol.attrs
        return {name: self._renamed(value) for name, value in symbol.attrs.items()}

    def _renamed(self, value: Any) -> Any:
        if isinstance(value, Dim):
            return value.substitute(self._names)
        if type(value) is tuple:
            return tuple([self._renamed(item) for item in cast("tuple[Any, ...]", value)])
        return value


def rebuild(
    outputs: Sequence[Symbol],
    construct: Callable[[Symbol, tuple[Symbol, ...], Attrs], Symbol],
    mapping: Mapping[Symbol, Symbol] | None = None,
) -> list[Symbol]:
    """Build ``outputs`` anew from the leaves up.

    Args:
        outputs: what to rebuild.
        construct: gives the new symbol for an old one, its new operands and attributes.
        mapping: symbols that are replaced as they stand, their operands not visited.
    """
    new: dict[Symbol, Symbol] = dict(mapping or {})
    sizes = FoundSizes()
    for symbol in reachable(outputs, stop=new):
        if symbol not in new:
            args = tuple([new[a] for a in symbol.args])
            new[symbol] = symbol if symbol.is_leaf else construct(symbol, args, sizes.attrs(symbol))
        sizes.note(symbol, new[symbol])
    return [new[output] for output in outputs]


def remake(symbol: Symbol, args: tuple[Symbol, ...], attrs: Attrs) -> Symbol:
    """The same application on other operands; the same object if nothing is new."""
    if attrs is symbol.attrs and all(
        new is old for new, old in zip(args, symbol.args, strict=True)
    ):
        return symbol
    return make(symbol.op, args, attrs)


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
