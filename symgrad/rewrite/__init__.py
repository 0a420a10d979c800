"""Rewriting: graph to graph, by named rules."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from symgrad.errors import ArgumentError
from symgrad.ir.symbol import Symbol, building, constructing
from symgrad.ir.walk import FoundSizes, reachable, remake
from symgrad.rewrite import algebra, moving, simplify, stable
from symgrad.rewrite.builder import Builder, Trace, rewriting
from symgrad.rewrite.rule import RULES, Rule

__all__ = ["RULES", "Builder", "Rule", "Trace", "builder_for", "rewrite", "rewriting", "stabilize"]

_FILLED_BY = (simplify, moving, stable, algebra)
"""The tables of rules; importing them fills `RULES`."""

_LEVELS: dict[str, tuple[str, ...]] = {
    "none": (),
    "exact": ("exact",),
    "derivative": ("exact", "stabilize", "derivative"),
    "fast": ("exact", "fast"),
}


def _rule_levels(level: str) -> tuple[str, ...]:
    if level not in _LEVELS:
        raise ArgumentError("level", "unknown", expected=", ".join(_LEVELS), got=repr(level))
    return _LEVELS[level]


def builder_for(level: str, keep: Collection[Symbol] = ()) -> Builder | None:
    """The constructor that simplifies while building; None for level "none".

    Args:
        level: "none", "exact", "derivative" (what the differentiator builds) or "fast".
        keep: symbols that are neither looked into nor taken for their values: what will be fed or
            differentiated by.
    """
    levels = _rule_levels(level)
    return Builder(levels, keep) if levels else None


def stabilize(outputs: Sequence[Symbol], keep: Collection[Symbol] = ()) -> list[Symbol]:
    """Replace expressions that overflow or cancel on the way to a harmless value.

    Where no rule fires, the very same symbols come back.
    """
    return _applied(outputs, Builder(("stabilize",), keep), keep)


def rewrite(outputs: Sequence[Symbol], level: str, keep: Collection[Symbol] = ()) -> list[Symbol]:
    """Simplify what lies below ``outputs``; what they no longer need is gone.

    Args:
        outputs: the symbols wanted.
        level: "none", "exact" or "fast".
        keep: symbols that stay as they are: what is fed.
    """
    levels = _rule_levels(level)
    if not levels:
        return list(outputs)
    # Stabilising comes first: it must see the user's formula before any part of it is folded.
    stable_outputs = stabilize(outputs, keep)
    return _applied(stable_outputs, Builder((*levels, "stabilize"), keep, whole=True), keep)


def _applied(outputs: Sequence[Symbol], builder: Builder, keep: Collection[Symbol]) -> list[Symbol]:
    """Rebuild bottom-up; new symbols take the site and the origin of those that they replace."""
    new: dict[Symbol, Symbol] = {}
    stop, sizes = set(keep), FoundSizes()
    with constructing(builder=builder):
        for symbol in reachable(outputs, stop=stop):
            new[symbol] = symbol
            if symbol in stop or symbol.op.family == "leaf":
                continue
            args = tuple([new[a] for a in symbol.args])
            building.site, building.origin = symbol.site, symbol.origin
            attrs = sizes.attrs(symbol)
            found = builder.simplified(symbol.op, args, attrs)
            if found is None:
                found = remake(symbol, builder.ordered(symbol.op, args), attrs)
            new[symbol] = found
            sizes.note(symbol, found)
    return [new[output] for output in outputs]
