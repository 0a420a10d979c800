"""Why a gradient is what it is: by which paths it comes, and which op cut the others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from symgrad.errors import GradientError
from symgrad.ir.op import Nothing
from symgrad.ir.symbol import Symbol, constructing, placeholder
from symgrad.ir.walk import reachable
from symgrad.transform.activity import carries
from symgrad.types import TupleType

SHOWN_PATHS = 4

_Trail: TypeAlias = "tuple[Symbol, _Trail | None]"


@dataclass(frozen=True, slots=True)
class Cut:
    """An edge through which no derivative passes.

    Attributes:
        symbol: the application that cuts.
        position: which of its operands is cut off.
        reason: why.
    """

    symbol: Symbol
    position: int
    reason: str

    def __str__(self) -> str:
        return f"{_label(self.symbol)} cuts operand {self.position}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Explanation:
    """How a derivative of ``output`` by ``input`` comes about.

    Attributes:
        output, input: what was asked.
        connected: whether the output uses the input at all.
        count: the number of paths along which derivative flows.
        paths: some of them, from the input to the output.
        cuts: the edges where flow ends, those nearest the output first.
    """

    output: Symbol
    input: Symbol
    connected: bool
    count: int
    paths: tuple[tuple[Symbol, ...], ...]
    cuts: tuple[Cut, ...]

    def __str__(self) -> str:
        lines = [f"d {_label(self.output)} / d {_label(self.input)}"]
        if not self.connected:
            return lines[0] + "\n  zero: the output does not use the input"
        if not self.count:
            lines.append("  zero: every path is cut")
        else:
            lines.append(f"  {self.count} path{'s' if self.count > 1 else ''}")
            lines += ["    " + " -> ".join(map(_label, path)) for path in self.paths]
            if self.count > len(self.paths):
                lines.append("    ...")
        return "\n".join(lines + [f"  {cut}" for cut in self.cuts])

    __repr__ = __str__


def _label(symbol: Symbol) -> str:
    name = repr(symbol.name) if symbol.name else symbol.op.name
    return name if symbol.site is None or symbol.is_leaf else f"{name} ({symbol.site})"


def explain(output: Symbol, input: Symbol) -> Explanation:
    """Say by which paths a gradient comes and, where it is zero, which op cut it.

    Raises:
        GradientError: an argument is no symbol.

    >>> import symgrad as sg
    >>> x = sg.placeholder("x")
    >>> print(sg.explain(sg.floor(x), x))  # doctest: +ELLIPSIS
    d floor (...) / d 'x'
      zero: every path is cut
      floor (...) cuts operand 0: its derivative is zero
    """
    for name, symbol in (("output", output), ("input", input)):
        if not isinstance(symbol, Symbol):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise GradientError("explain", f"{name} is no symbol", got=type(symbol).__name__)
    between, flows, cuts = _survey(output, input)
    if output not in between:
        return Explanation(output, input, False, 0, (), ())
    counts: dict[Symbol, int] = {input: 1}
    for symbol in between:
        if symbol is not input:
            counts[symbol] = sum(counts.get(a, 0) for a in flows.get(symbol, ()))
    # A cut matters where flow reached it and the output uses it.
    relevant = [cut for cut in cuts if counts.get(cut.symbol.args[cut.position], 0)]
    relevant.sort(key=lambda cut: -cut.symbol.serial)
    return Explanation(
        output,
        input,
        True,
        counts[output],
        _some_paths(output, input, flows, counts),
        tuple(relevant),
    )


def _survey(
    output: Symbol, input: Symbol
) -> tuple[dict[Symbol, None], dict[Symbol, list[Symbol]], list[Cut]]:
    """The symbols between the two, the operands through which derivative flows, and the cuts."""
    between: dict[Symbol, None] = {}
    flows: dict[Symbol, list[Symbol]] = {}
    cuts: list[Cut] = []
    for symbol in reachable([output]):
        if symbol is input:
            between[symbol] = None
            continue
        for position, arg in enumerate(symbol.args):
            if arg not in between:
                continue
            between[symbol] = None
            reason = _obstacle(symbol, position)
            if reason is None:
                flows.setdefault(symbol, []).append(arg)
            else:
                cuts.append(Cut(symbol, position, reason))
    return between, flows, cuts


def _obstacle(symbol: Symbol, position: int) -> str | None:
    """Why no derivative passes from ``symbol`` to an operand, or None if it passes."""
    arg = symbol.args[position]
    if not carries(arg):
        return f"{arg.type} has no derivative"
    if not carries(symbol):
        return f"its result {symbol.type} has no derivative"
    kind: Any = symbol.type
    if isinstance(kind, TupleType):
        return None
    with constructing():
        ct = placeholder("ct", symbol.shape, symbol.dtype)
        contribution = symbol.op.vjp(position, ct, symbol, symbol.args, symbol.attrs)
    if not isinstance(contribution, Nothing):
        return None
    return contribution.reason or "its derivative is zero"


def _some_paths(
    output: Symbol, input: Symbol, flows: dict[Symbol, list[Symbol]], counts: dict[Symbol, int]
) -> tuple[tuple[Symbol, ...], ...]:
    """A few live paths, found from the output down; iterative, so depth does not matter."""
    found: list[tuple[Symbol, ...]] = []
    # A trail is a linked list from the present symbol up to the output.
    trails: list[_Trail] = [(output, None)]
    while trails and len(found) < SHOWN_PATHS:
        trail = trails.pop()
        if trail[0] is input:
            found.append(tuple(_unwind(trail)))
            continue
        below = flows.get(trail[0], [])
        trails.extend((a, trail) for a in reversed(below) if counts.get(a, 0))
    return tuple(found)


def _unwind(trail: _Trail | None) -> Iterator[Symbol]:
    while trail is not None:
        symbol, trail = trail
        yield symbol
