"""The simplifying constructor: what `constructing(builder=...)` installs.

It folds constants, then tries the rules that could match the op at hand and the ops of its
operands. Operands are simplified already when their user is built, so one step at the root is
enough; what a rule builds goes through the same constructor again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from threading import local
from typing import TypeAlias

from symgrad.errors import ArgumentError, SymgradError
from symgrad.ir.op import OPS, Attrs, Op
from symgrad.ir.symbol import CONSTANT, Symbol, _table, make  # pyright: ignore[reportPrivateUsage]
from symgrad.rewrite.fold import fold
from symgrad.rewrite.match import Match, Variant, instantiate, variants
from symgrad.rewrite.rule import RULES, Rule
from symgrad.types import TensorType, take_constraints

Trace: TypeAlias = Callable[[str, Symbol, Symbol], None]
"""Called with a rule's name, the symbol before and the symbol after."""

DEEPEST = 24
"""So many rules may follow from one another before a symbol is built as it stands."""


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

    __slots__ = ("_by_ops", "_variants", "folds", "sorts")

    def __init__(self, levels: Collection[str], disabled: Collection[str]) -> None:
        chosen = [r for r in RULES if r.level in levels and r.name not in disabled and r.is_ready]
        self._variants = sorted((v for r in chosen for v in variants(r)), key=_precedence)
        self._by_ops: dict[tuple[Op, ...], tuple[Variant, ...]] = {}
        self.sorts = "exact" in levels
        self.folds = self.sorts and "fold" not in disabled

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
def _rule_set(
    levels: frozenset[str], disabled: frozenset[str], registered: tuple[int, int]
) -> RuleSet:
    # `registered` makes a new index once there are more rules, or ops for them to name.
    return RuleSet(levels, disabled)


class Builder:
    """Constructs symbols, simplified by the rules of some levels.

    Args:
        levels: the levels of the rules.
        keep: symbols that are neither looked into nor taken for their values.
    """

    __slots__ = ("_depth", "_keep", "_rules", "_trace")

    def __init__(self, levels: Collection[str], keep: Collection[Symbol] = ()) -> None:
        self._rules = _rule_set(frozenset(levels), _settings.disabled, (len(OPS), len(RULES)))
        self._keep = frozenset(keep)
        self._trace = _settings.trace
        self._depth = 0

    def __call__(self, op: Op, args: tuple[Symbol, ...], attrs: Attrs) -> Symbol:
        if op.normalize is not None:
            try:
                attrs = op.normalize([a.type for a in args], attrs)
            except SymgradError:
                return make(op, args, attrs)  # it meets the same error, and says where
        found = self.simplified(op, args, attrs)
        if found is not None:
            return found
        if op.commutative and self._rules.sorts and len(args) == 2:
            args = _present_order(op, args)
        return make(op, args, attrs)

    def simplified(self, op: Op, args: tuple[Symbol, ...], attrs: Attrs) -> Symbol | None:
        """What ``op(*args, **attrs)`` becomes by a rule, or None if it stays."""
        if self._rules.folds and all(a.op is CONSTANT or a.op.name == "filled" for a in args):
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
        for variant in candidates:
            match = Match(self._keep)
            if not match.root(variant.left, op, args, attrs):
                continue
            kind = kind or _type_of(op, args, attrs)
            if kind is None:
                return None
            if match.satisfies(variant.rule, kind):
                result = _right_side(variant.rule, match, kind)
                if result is not None:
                    self._report(variant.rule.name, op, args, attrs, result)
                    return result
        return None

    def _report(
        self, name: str, op: Op, args: tuple[Symbol, ...], attrs: Attrs, result: Symbol
    ) -> None:
        if self._trace is not None:
            self._trace(name, make(op, args, attrs), result)


def _type_of(op: Op, args: Sequence[Symbol], attrs: Attrs) -> TensorType | None:
    """The type of an application; None if there is none, or if it rests on unequal dimensions."""
    try:
        kind = op.infer([a.type for a in args], attrs)
    except SymgradError:
        take_constraints()
        return None  # `make` meets the same error, and says where
    return None if take_constraints() else kind


def _right_side(rule: Rule, match: Match, kind: TensorType) -> Symbol | None:
    """The right side, unless it has another type than the left."""
    try:
        result = instantiate(rule.right, match.values, kind.dtype)
    except SymgradError:
        return None
    return result if result.type == kind and not result.constraints else None


def _present_order(op: Op, args: tuple[Symbol, ...]) -> tuple[Symbol, ...]:
    """The order of two exchangeable operands in which the application is there already, if any."""
    a, b = args
    if (id(op), id(a), id(b)) not in _table and (id(op), id(b), id(a)) in _table:
        return b, a
    return args
