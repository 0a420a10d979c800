"""The simplifying constructor: what `constructing(builder=...)` installs.

It folds constants, then tries the rules that could match the op at hand and the ops of its
operands. Operands are simplified already when their user is built, so one step at the root is
enough; what a rule builds goes through the same constructor again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from contextlib import contextmanager
from functools import lru_cache
from threading import local
from typing import TypeAlias

from symgrad.errors import ArgumentError, SymgradError
from symgrad.ir.interning import exists
from symgrad.ir.op import OPS, Attrs, Op
from symgrad.ir.symbol import Symbol, make
from symgrad.rewrite.fold import fold
from symgrad.rewrite.match import Match, Variant, instantiate, variants
from symgrad.rewrite.rule import RULES, Rule
from symgrad.types import Constraint, Dim, Size, TensorType, take_constraints

Trace: TypeAlias = Callable[[str, Symbol, Symbol], None]
"""Called with a rule's name, the symbol before and the symbol after."""

DEEPEST = 24
"""So many rules may follow from one another before a symbol is built as it stands.

The rules' cost falls, so this ends no loop; it keeps the recursion flat on long chains that were
built literally.
"""

_STRICTEST_FIRST = ("exact", "stabilize", "derivative", "fast")


class _Settings(local):
    """How rules are applied in this thread."""

    disabled: frozenset[str] = frozenset()
    trace: Trace | None = None


_settings = _Settings()


@contextmanager
def rewriting(*, disabled: Collection[str] = (), trace: Trace | None = None) -> Generator[None]:
    """Switch rules off, or watch them, inside the block.

    Args:
        disabled: names of rules.
        trace: called with each rule that fires: its name, the symbol before, the symbol after.

    Raises:
        ArgumentError: there is no rule of a name in ``disabled``.
    """
    unknown = set(disabled) - {rule.name for rule in RULES} - {"fold"}
    if unknown:
        raise ArgumentError("rewriting", "no such rule", got=", ".join(sorted(unknown)))
    saved = _settings.disabled, _settings.trace
    _settings.disabled = _settings.disabled | set(disabled)
    _settings.trace = trace or _settings.trace
    try:
        yield
    finally:
        _settings.disabled, _settings.trace = saved


class RuleSet:
    """Rules indexed by the ops that they could match."""

    __slots__ = ("_by_ops", "_variants", "folds")

    def __init__(self, levels: Collection[str], disabled: Collection[str]) -> None:
        chosen = [r for r in RULES if r.level in levels and r.name not in disabled and r.is_ready]
        self._variants = sorted((v for r in chosen for v in variants(r)), key=_precedence)
        self._by_ops: dict[tuple[Op, ...], tuple[Variant, ...]] = {}
        self.folds = "exact" in levels and "fold" not in disabled

    def candidates(self, op: Op, args: Sequence[Symbol]) -> tuple[Variant, ...]:
        """The rules worth trying on ``op(*args)``, the most specific first."""
        key = (op, *[a.op for a in args])
        found = self._by_ops.get(key)
        if found is None:
            found = tuple(v for v in self._variants if v.may_match(op, key[1:]))
            if len(args) <= 3:  # longer keys seldom come again
                self._by_ops[key] = found
        return found


def _precedence(variant: Variant) -> tuple[int, int]:
    """The most specific pattern first; among equals the stricter level."""
    return -variant.specificity, _STRICTEST_FIRST.index(variant.rule.level)


@lru_cache(maxsize=64)
def rule_set(
    levels: frozenset[str], disabled: frozenset[str], registered: tuple[int, int]
) -> RuleSet:
    """The rules of some levels; made anew once there are more rules, or more ops to name."""
    return RuleSet(levels, disabled)


class Builder:
    """Constructs symbols, simplified by the rules of some levels.

    Args:
        levels: the levels of the rules.
        keep: symbols that are neither looked into nor taken for their values. At level
            "derivative" that holds of all applications but the differentiator's own: so a gradient
            stands on the user's symbols, whatever will be fed or differentiated by next.
        whole: whether this builder makes the whole graph. Operands that may be exchanged then take
            the order in which it met them first; otherwise the one in which there is such a symbol.
    """

    __slots__ = ("_depth", "_keep", "_met", "_own", "_rules", "_trace")

    def __init__(
        self, levels: Collection[str], keep: Collection[Symbol] = (), *, whole: bool = False
    ) -> None:
        self._rules = rule_set(frozenset(levels), _settings.disabled, (len(OPS), len(RULES)))
        self._keep = frozenset(keep)
        self._own = "derivative" in levels
        self._met: dict[tuple[int, ...], tuple[Symbol, Symbol]] | None = {} if whole else None
        self._trace = _settings.trace
        self._depth = 0

    def __call__(self, op: Op, args: tuple[Symbol, ...], attrs: Attrs) -> Symbol:
        if op.normalize is not None:
            try:
                attrs = op.normalize([a.type for a in args], attrs)
            except SymgradError:
                return make(op, args, attrs)  # it meets the same error, and says where
        found = self.simplified(op, args, attrs)
        return make(op, self.ordered(op, args), attrs) if found is None else found

    def ordered(self, op: Op, args: tuple[Symbol, ...]) -> tuple[Symbol, ...]:
        """The operands of an application in the order in which it is built."""
        if not op.commutative or len(args) != 2 or not _exchangeable(*args):
            return args
        a, b = args
        if self._met is None:
            return (b, a) if not exists(op, args) and exists(op, (b, a)) else args
        here, there = (id(op), id(a), id(b)), (id(op), id(b), id(a))
        if there in self._met:
            return b, a
        self._met[here] = a, b  # keeps both alive, so that their ids stay theirs
        return args

    def simplified(self, op: Op, args: tuple[Symbol, ...], attrs: Attrs) -> Symbol | None:
        """What ``op(*args, **attrs)`` becomes by a rule, or None if it stays."""
        if self._rules.folds and not (args and args[-1].args):
            folded = fold(op, args, attrs, self._keep)
            if folded is not None:
                self._report("fold", op, args, attrs, folded)
                return folded
        candidates = self._rules.candidates(op, args)
        if not candidates or self._depth >= DEEPEST:
            return None
        self._depth += 1
        try:
            return self._first(candidates, op, args, attrs)
        finally:
            self._depth -= 1

    def _first(
        self, candidates: Sequence[Variant], op: Op, args: tuple[Symbol, ...], attrs: Attrs
    ) -> Symbol | None:
        kind: TensorType | None = None
        equalities: set[Equality] = set()
        for variant in candidates:
            if variant.cannot_match(args):
                continue
            match = Match(self._keep, self._own)
            if not match.root(variant.left, op, args, attrs):
                continue
            if kind is None:
                kind = _type_of(op, args, attrs, equalities)
            if kind is None:
                return None
            if match.satisfies(variant.rule, kind):
                result = _right_side(variant.rule, match, kind, equalities)
                if result is not None:
                    self._report(variant.rule.name, op, args, attrs, result)
                    return result
        return None

    def _report(
        self, name: str, op: Op, args: tuple[Symbol, ...], attrs: Attrs, result: Symbol
    ) -> None:
        if self._trace is not None:
            self._trace(name, make(op, args, attrs), result)


Equality: TypeAlias = tuple[Size, Size]
"""Two sizes that must be equal when the graph runs."""


def _equalities(constraints: Iterable[Constraint]) -> set[Equality]:
    return {(c.left, c.right) for c in constraints}


def _type_of(
    op: Op, args: Sequence[Symbol], attrs: Attrs, equalities: set[Equality]
) -> TensorType | None:
    """The type of an application, or None; adds the equalities that it needs."""
    try:
        kind = op.infer([a.type for a in args], attrs)
    except SymgradError:
        take_constraints()
        return None  # `make` meets the same error, and says where
    equalities |= _equalities(take_constraints())
    return kind


def _right_side(
    rule: Rule, match: Match, kind: TensorType, equalities: set[Equality]
) -> Symbol | None:
    """The right side, unless it has another type or needs other equalities than the left."""
    try:
        result = instantiate(rule.right, match.values, kind.dtype)
    except SymgradError:
        return None
    needed = equalities.union(*(_equalities(s.constraints) for s in match.inner if s.constraints))
    if result.type != kind or _equalities(result.constraints) != needed:
        return None
    return result


def _exchangeable(a: Symbol, b: Symbol) -> bool:
    """Whether the result's shape is the same in either order: unequal dimensions keep a name."""
    if a.shape == b.shape:
        return True
    return not any(type(size) is Dim for size in a.shape + b.shape)
