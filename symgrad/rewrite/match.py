"""The matcher: which rules fit an application, and what their variables then stand for.

Commutativity lives here: a rule is tried in every order of the operands of its commutative ops, so
no rule has a mirror image.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from symgrad.ir.lifting import apply_symbolic
from symgrad.ir.op import Attrs, Op
from symgrad.ir.symbol import CONSTANT, Symbol, constant
from symgrad.rewrite.constants import holds, is_number, is_uniform
from symgrad.rewrite.rule import (
    Application,
    AttributeVariable,
    Computed,
    OpVariable,
    Rule,
    Variable,
)
from symgrad.types import TensorType, is_complex

_KINDS = {"Const": is_number, "Uniform": is_uniform}


class Variant:
    """A rule with its left side in one order of the operands of its commutative ops."""

    __slots__ = ("inner", "left", "rule", "specificity", "wants_same")

    def __init__(self, rule: Rule, left: Application) -> None:
        self.rule, self.left, self.specificity = rule, left, _specificity(left)
        # Most applications fail most rules; these are the cheapest ways to see it.
        self.inner = tuple(_ops_of_operands(left))
        self.wants_same = len(left.operands) == 2 and left.operands[0] is left.operands[1]

    def cannot_match(self, args: Sequence[Symbol]) -> bool:
        """Whether a quick look at the operands, and at theirs, rules the variant out."""
        if self.wants_same and args[0] is not args[1]:
            return True
        for i, j, op in self.inner:
            operands = args[i].args
            if j >= len(operands) or operands[j].op is not op:
                return True
        return self.rule.gate is not None and not self.rule.gate(args)

    def may_match(self, op: Op, operand_ops: Sequence[Op]) -> bool:
        """Whether an application of ``op`` to results of ``operand_ops`` could match."""
        if not _admits(self.left.op, op) or len(self.left.operands) != len(operand_ops):
            return False
        return all(map(_may_come_from, self.left.operands, operand_ops))


def _ops_of_operands(left: Application) -> Iterator[tuple[int, int, Op]]:
    """Which operand of which operand must be of one certain op."""
    for i, part in enumerate(left.operands):
        if not isinstance(part, Application) or isinstance(part.op, OpVariable) or part.op.variadic:
            continue
        for j, inner in enumerate(part.operands):
            if isinstance(inner, Application) and isinstance(inner.op, Op):
                yield i, j, inner.op
            elif isinstance(inner, Variable) and inner.kind != "Expr":
                yield i, j, CONSTANT


def variants(rule: Rule) -> Iterator[Variant]:
    """The rule in every order of its commutative operands."""
    seen: set[str] = set()
    for left in _orders(rule.left):
        if repr(left) not in seen:
            seen.add(repr(left))
            yield Variant(rule, left)


def _orders(pattern: Any) -> list[Any]:
    if type(pattern) is not Application:
        return [pattern]
    choices = list(itertools.product(*map(_orders, pattern.operands)))
    if pattern.op.commutative:
        choices += [choice[::-1] for choice in choices]
    return [Application(pattern.op, choice, pattern.attrs) for choice in choices]


def _specificity(pattern: Any) -> int:
    if type(pattern) is Application:
        return 2 + sum(map(_specificity, pattern.operands))
    return 0 if type(pattern) is Variable and pattern.kind == "Expr" else 1


_CONSTANT_LIKE = ("constant", "filled", "broadcast_to")


def _may_come_from(pattern: Any, op: Op) -> bool:
    kind = pattern.__class__
    if kind is Application:
        return _admits(pattern.op, op)
    if kind is Variable:
        return pattern.kind == "Expr" or op is CONSTANT
    return op.name in _CONSTANT_LIKE


def _admits(wanted: Op | OpVariable, op: Op) -> bool:
    return wanted.admits(op) if type(wanted) is OpVariable else op is wanted


class Match:
    """What the holes of a pattern stand for.

    Attributes:
        values: by variable.
        inner: the symbols below the root that the pattern has swallowed.
        keep: symbols that only a variable may stand for.
        own: whether that holds of all applications that the differentiator did not make.
    """

    __slots__ = ("inner", "keep", "own", "values")

    def __init__(self, keep: Collection[Symbol], own: bool) -> None:
        self.values: dict[str, Any] = {}
        self.inner: list[Symbol] = []
        self.keep, self.own = keep, own

    def root(self, pattern: Application, op: Op, args: Sequence[Symbol], attrs: Attrs) -> bool:
        """Whether ``pattern`` matches ``op(*args, **attrs)``."""
        if type(pattern.op) is OpVariable:
            self.values[pattern.op.name] = op
        for part, symbol in zip(pattern.operands, args, strict=True):
            if not self.symbol(part, symbol):
                return False
        return not attrs or self._attributes(pattern.attrs, attrs)

    def symbol(self, pattern: Any, symbol: Symbol) -> bool:
        """Whether ``pattern`` matches ``symbol``."""
        kind = pattern.__class__
        if kind is Variable:
            return self._variable(pattern, symbol)
        if kind is not Application:
            return holds(symbol, pattern, self.keep)
        if symbol in self.keep or (self.own and symbol.origin is None):
            return False
        if not self._is_op(pattern.op, symbol.op) or len(symbol.args) != len(pattern.operands):
            return False
        self.inner.append(symbol)
        return self.root(pattern, symbol.op, symbol.args, symbol.attrs)

    def _variable(self, variable: Variable, symbol: Symbol) -> bool:
        known = self.values.get(variable.name)
        if known is not None:
            return known is symbol
        if variable.kind != "Expr" and (symbol in self.keep or not _KINDS[variable.kind](symbol)):
            return False
        self.values[variable.name] = symbol
        return True

    def _attributes(self, pattern: Attrs, attrs: Attrs) -> bool:
        for name, value in attrs.items():
            wanted = pattern.get(name)
            if type(wanted) is AttributeVariable:
                if self.values.setdefault(wanted.name, value) != value:
                    return False
            elif type(wanted) is not type(value) or wanted != value:
                return False
        return True

    def _is_op(self, wanted: Op | OpVariable, op: Op) -> bool:
        if type(wanted) is OpVariable:
            return wanted.admits(op) and self.values.setdefault(wanted.name, op) is op
        return op is wanted

    def satisfies(self, rule: Rule, kind: TensorType) -> bool:
        """Whether the rule's conditions hold for a left side of type ``kind``."""
        dtype = kind.dtype
        if rule.takes == "real" and is_complex(dtype):
            return False
        for symbol in self.inner:
            if not rule.mixed and symbol.dtype != dtype:
                return False
        if rule.when is None:
            return True
        known = {**self.values, "kind": kind, "keep": self.keep}
        return rule.when(*[known[name] for name in rule.when_names])


def instantiate(pattern: Any, values: dict[str, Any], dtype: np.dtype[Any]) -> Symbol:
    """A right side as a symbol, built through the active builder."""
    built = _instantiate(pattern, values)
    return built if isinstance(built, Symbol) else constant(built, dtype)


def _instantiate(pattern: Any, values: dict[str, Any]) -> Any:
    kind = pattern.__class__
    if kind is Variable or kind is AttributeVariable:
        return values[pattern.name]
    if kind is Computed:
        options = {key: _instantiate(v, values) for key, v in pattern.options.items()}
        return pattern.function(*[_instantiate(a, values) for a in pattern.arguments], **options)
    if kind is not Application:
        return pattern
    op = values[pattern.op.name] if type(pattern.op) is OpVariable else pattern.op
    operands = [_instantiate(operand, values) for operand in pattern.operands]
    return apply_symbolic(
        op, operands, {k: _instantiate(v, values) for k, v in pattern.attrs.items()}
    )
