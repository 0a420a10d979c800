"""Rules, and the patterns that they are written in.

A rule is a function whose parameters are the pattern's variables and whose body returns the left
and the right side, in ordinary operators. The body runs once, on patterns, when the rule is first
used; so a rule may name ops that are registered after it.

>>> import symgrad
>>> print(next(rule for rule in RULES if rule.name == "times_one"))
times_one: multiply(x, 1) -> x
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeAlias

from symgrad.ir.op import FRONT_ENDS, OPS, PATTERN_RANK, Attrs, Op
from symgrad.ir.operators import Operators
from symgrad.ir.symbol import Symbol

Expr: TypeAlias = Any
"""Annotates a rule's parameter that stands for any expression."""

Const: TypeAlias = Any
"""Annotates a rule's parameter that stands for a constant of one element."""

Uniform: TypeAlias = Any
"""Annotates a rule's parameter that stands for a small constant of several equal elements."""

Attribute: TypeAlias = Any
"""Annotates a rule's parameter that stands for an attribute: an axis, a shape."""

Elementwise: TypeAlias = Any
"""Annotates a rule's parameter that stands for an element-wise op."""


# --- patterns -----------------------------------------------------------------------------------


class Pattern(Operators):
    """An expression with holes. Calls of ops on it give larger patterns."""

    __slots__ = ()
    __front_rank__ = PATTERN_RANK


class Variable(Pattern):
    """A hole; equal names stand for the same symbol.

    Attributes:
        kind: what may fill it: "Expr", "Const" or "Uniform".
    """

    __slots__ = ("kind", "name")

    def __init__(self, name: str, kind: str) -> None:
        self.name, self.kind = name, kind

    def __repr__(self) -> str:
        return self.name


class AttributeVariable:
    """A hole among the attributes."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


class OpVariable:
    """A hole for an element-wise op, or for one of those named."""

    __slots__ = ("barring", "name", "only")
    commutative = False

    def __init__(self, name: str, only: Collection[str] | None, barring: Collection[str]) -> None:
        self.name, self.only, self.barring = name, only, barring

    def admits(self, op: Op) -> bool:
        """Whether ``op`` may fill the hole."""
        if self.only is not None:
            return op.name in self.only
        return op.family in ("scalar", "elementwise") and op.name not in self.barring

    def __call__(self, *operands: Any) -> Application:
        return Application(self, operands, {})

    def __repr__(self) -> str:
        return self.name


class Application(Pattern):
    """An op applied to patterns and numbers."""

    __slots__ = ("attrs", "op", "operands")

    def __init__(self, op: Op | OpVariable, operands: Sequence[Any], attrs: Attrs) -> None:
        self.op, self.operands, self.attrs = op, tuple(operands), attrs

    def __repr__(self) -> str:
        shown = [f"{key}={value!r}" for key, value in self.attrs.items() if value is not None]
        return f"{self.op.name}({', '.join([*map(repr, self.operands), *shown])})"


class Computed(Pattern):
    """A part of a right side that a function works out from what was matched."""

    __slots__ = ("arguments", "function", "options")

    def __init__(
        self, function: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]
    ) -> None:
        self.function, self.arguments, self.options = function, arguments, options

    def __repr__(self) -> str:
        shown = [*map(repr, self.arguments), *(f"{k}={v!r}" for k, v in self.options.items())]
        return f"{self.function.__name__.lstrip('_')}({', '.join(shown)})"


def computed(function: Any) -> Callable[..., Any]:
    """Let ``function`` wait, in the right side of a rule, for the values of its arguments.

    Composites must be called so: they look at their operands' shapes.
    """
    return lambda *arguments, **options: Computed(function, arguments, options)


def applied(name: str, *operands: Any, **attrs: Any) -> Application:
    """An op applied to patterns, all of its attributes given as they are after normalising."""
    return Application(OPS[name], operands, attrs)


def _apply_pattern(op: Op, operands: Sequence[Any], attrs: Attrs) -> Application:
    return Application(op, operands, attrs)


FRONT_ENDS.by_rank[PATTERN_RANK] = _apply_pattern


# --- rules --------------------------------------------------------------------------------------


def _parameters(function: Any) -> tuple[str, ...]:
    # `inspect.signature` would take half of the time of importing this package.
    code = function.__code__
    return code.co_varnames[: code.co_argcount]


class Rule:
    """A named rewrite.

    Attributes:
        name: the rule's name, in traces and in lists of rules that are switched off.
        level: "exact", "stabilize", "derivative" or "fast".
        doc: the identity, and why it is allowed.
        variables: the pattern's variables, each with its annotation.
        takes: the element types of the whole: "real", or "any", which includes complex ones.
        rounding: whether the right side rounds less often than the left, so that last bits change.
        mixed: inner symbols of the left side may have another element type than the whole; without
            it they must not, since arithmetic that wraps or rounds differs from type to type.
        only, barring: names of the ops that an `Elementwise` variable stands for (None for all),
            and of those that it does not.
        gate: a cheap condition on the operands, asked before anything is matched.
        when: a condition on what was matched; its parameters are named like the variables;
            ``kind`` is the type of the whole, ``keep`` the symbols that it may not look into.
    """

    __slots__ = (
        "_sides",
        "barring",
        "body",
        "doc",
        "gate",
        "level",
        "mixed",
        "name",
        "only",
        "rounding",
        "takes",
        "variables",
        "when",
        "when_names",
    )

    def __init__(
        self,
        body: Callable[..., tuple[Any, Any]],
        level: str,
        *,
        takes: str = "real",
        rounding: bool = False,
        mixed: bool = False,
        only: Collection[str] | None = None,
        barring: Collection[str] = (),
        gate: Callable[[Sequence[Symbol]], bool] | None = None,
        when: Callable[..., bool] | None = None,
    ) -> None:
        self.name, self.level, self.body = body.__name__, level, body
        self.doc = body.__doc__ or ""
        self.takes, self.rounding, self.mixed = takes, rounding, mixed
        self.only, self.barring, self.gate, self.when = only, barring, gate, when
        self.when_names = _parameters(when) if when else ()
        self.variables = {name: body.__annotations__[name] for name in _parameters(body)}
        self._sides: tuple[Any, Any] | None = None

    def _written(self) -> tuple[Any, Any]:
        if self._sides is None:
            self._sides = self.body(*map(self._hole, self.variables, self.variables.values()))
        return self._sides

    def _hole(self, name: str, annotation: str) -> Any:
        if annotation == "Attribute":
            return AttributeVariable(name)
        if annotation == "Elementwise":
            return OpVariable(name, self.only, self.barring)
        return Variable(name, annotation)

    @property
    def left(self) -> Application:
        """What is replaced."""
        return self._written()[0]

    @property
    def right(self) -> Any:
        """What it is replaced by: a pattern, or a number."""
        return self._written()[1]

    @property
    def is_ready(self) -> bool:
        """Whether all ops that it names are registered."""
        try:
            self._written()
        except (AttributeError, KeyError):
            return False
        return True

    def __repr__(self) -> str:
        return f"{self.name}: {self.left!r} -> {self.right!r}"


RULES: list[Rule] = []


def rule(level: str, **facets: Any) -> Callable[[Callable[..., tuple[Any, Any]]], Rule]:
    """Declare a rule; for levels and facets see `Rule`."""

    def declare(body: Callable[..., tuple[Any, Any]]) -> Rule:
        RULES.append(Rule(body, level, **facets))
        return RULES[-1]

    return declare
