"""What each rule's variables stand for while it is tested, and the left sides that they make."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from symgrad.ir.op import OPS, Op, ops
from symgrad.ir.symbol import Origin, Symbol, building, constant, constructing, placeholder
from symgrad.rewrite import RULES, Builder, rewriting
from symgrad.rewrite.match import Variant, instantiate, variants
from symgrad.rewrite.rule import Application, OpVariable, Rule

LENGTH = 240
"""Elements of the vectors that stand for expressions."""


class Left(NamedTuple):
    """A left side, built as it stands, and the holes that it was made from."""

    root: Symbol
    values: dict[str, Any]
    feeds: list[Symbol]
    variant: Variant


@dataclass(frozen=True)
class Setting:
    """How a rule's variables are filled, where the defaults below will not do.

    Attributes:
        shapes: of the expressions, by name.
        dtypes: of the expressions, where they differ from the one under test.
        attributes: the attributes, by name.
        constants: candidates for the constants, by name.
        made_of: expressions that must be applications, by name: a function of a placeholder and of
            the values before.
        primal: the expression that is said to be differentiated.
    """

    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    dtypes: dict[str, str] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)
    constants: dict[str, list[float]] = field(default_factory=dict)
    made_of: dict[str, Any] = field(default_factory=dict)
    primal: str | None = None


_MATRIX = {"x": (4, 6)}
_REDUCED = {"axis": (1,), "keepdims": True, "dtype": "same"}
_PROBABILITIES = {"axis": 1}
_BROADCAST = {"shape": (3, LENGTH)}
_FILLED = {"shape": (3, LENGTH), "value": 3, "dtype": "same"}

SETTINGS: dict[str, Setting] = {
    "cast_to_own_type": Setting(attributes={"dtype": "same", "copy": True, "device": None}),
    "reshape_to_own_shape": Setting(attributes={"shape": (LENGTH,), "copy": None}),
    "reshape_twice": Setting(
        attributes={"before": (4, 60), "shape": (LENGTH, 1), "copy1": None, "copy2": None}
    ),
    "broadcast_to_own_shape": Setting(attributes={"shape": (LENGTH,)}),
    "broadcast_twice": Setting(attributes={"before": (3, LENGTH), "shape": (2, 3, LENGTH)}),
    "permute_to_own_order": Setting(_MATRIX, attributes={"axes": (0, 1)}),
    "permute_twice": Setting(
        {"x": (2, 3, 4)}, attributes={"first": (2, 0, 1), "second": (1, 0, 2)}
    ),
    "sum_over_no_axis": Setting(attributes={"dtype": "same", "keepdims": False}),
    "sum_of_negative": Setting(_MATRIX, attributes=_REDUCED),
    "broadcast_after": Setting(attributes=_BROADCAST),
    "broadcast_first_operand": Setting(attributes=_BROADCAST),
    "broadcast_second_operand": Setting(attributes=_BROADCAST),
    "broadcast_condition": Setting(dtypes={"c": "bool"}, attributes=_BROADCAST),
    "broadcast_first_branch": Setting(dtypes={"c": "bool"}, attributes=_BROADCAST),
    "broadcast_second_branch": Setting(dtypes={"c": "bool"}, attributes=_BROADCAST),
    "filled_first_operand": Setting(attributes=_FILLED),
    "filled_second_operand": Setting(attributes=_FILLED),
    "filled_first_branch": Setting(dtypes={"c": "bool"}, attributes=_FILLED),
    "filled_second_branch": Setting(dtypes={"c": "bool"}, attributes=_FILLED),
    "broadcast_filled": Setting(attributes={**_FILLED, "before": (LENGTH,)}),
    "where_same": Setting(dtypes={"c": "bool"}),
    "where_not": Setting(dtypes={"c": "bool"}),
    "where_within_first": Setting(dtypes={"c": "bool"}),
    "where_within_second": Setting(dtypes={"c": "bool"}),
    "power_zero": Setting({"x": ()}),
    "uniform_first_operand": Setting({"x": (6,)}),
    "uniform_second_operand": Setting({"x": (6,)}),
    "slope_with_output": Setting(
        made_of={"y": lambda p, _: ops.sech2(p), "z": lambda p, v: ops.tanh(v["y"].args[0])},
        primal="y",
    ),
    "log_of_exps": Setting(made_of={"s": lambda p, _: ops.exp(p) + ops.exp(1 - p)}),
    "log_of_sums_of_exps": Setting(
        made_of={
            "s": lambda p, _: ops.exp(p) + ops.exp(1 - p),
            "t": lambda p, _: ops.exp(3 - p) + ops.exp(p + 1),
        }
    ),
    "log_of_summed_exp": Setting(_MATRIX, attributes=_REDUCED),
    "log_of_mean_exp": Setting(_MATRIX, attributes=_REDUCED),
    "normalised_exp": Setting(_MATRIX, attributes=_REDUCED),
    "minus_logsumexp": Setting(_MATRIX, attributes=_REDUCED),
    "normalised_exp_by_hand": Setting(
        _MATRIX, attributes={**_REDUCED, "keepdims": False, "shape": (4, 1), "copy": None}
    ),
    "minus_logsumexp_by_hand": Setting(
        _MATRIX, attributes={**_REDUCED, "keepdims": False, "shape": (4, 1), "copy": None}
    ),
    "log_of_softmax": Setting(_MATRIX, attributes=_PROBABILITIES),
    "log_of_picked_softmax": Setting(
        _MATRIX, attributes={**_PROBABILITIES, "positions": (None, 2)}
    ),
    "log_of_sliced_softmax": Setting(
        _MATRIX,
        attributes={**_PROBABILITIES, "starts": (0, 1), "stops": (4, 6), "steps": (1, 2)},
    ),
    "log_of_taken_softmax": Setting(
        {**_MATRIX, "indices": (3,)}, {"indices": "int64"}, {**_PROBABILITIES, "along": 1}
    ),
    "log_of_softmax_taken_along": Setting(
        {**_MATRIX, "indices": (4, 1)}, {"indices": "int64"}, {**_PROBABILITIES, "along": 1}
    ),
    "log_of_gathered_softmax": Setting(
        {**_MATRIX, "i": (3,)},
        {"i": "int64"},
        {**_PROBABILITIES, "layout": ("index", (0, 6, 1)), "unique": False},
    ),
    "log_of_softmax_gathered_by_two": Setting(
        {**_MATRIX, "i": (3,), "j": (3,)},
        {"i": "int64", "j": "int64"},
        {**_PROBABILITIES, "layout": ("index", "index"), "unique": False},
    ),
    "log_of_reshaped_softmax": Setting(
        _MATRIX, attributes={**_PROBABILITIES, "shape": (24,), "copy": None}
    ),
}

CONSTANTS: list[float] = [2, 0.5, 3, -2, -4, 7, 0.1, 1e300, 5, 2**24, -(2**60), 1e-300]
"""What stands for constants where a setting names none: exact and inexact, large and small."""


def left_sides(rule: Rule, dtype: Any) -> Iterator[Left]:
    """Left sides of a rule in every order of commutative operands, that ``dtype`` allows."""
    dtype = np.dtype(dtype)
    setting = SETTINGS.get(rule.name, Setting())
    for variant in variants(rule):
        for op in _ops_for(rule, variant):
            for constants in _constants_for(rule, setting, dtype):
                left = _left_side(rule, variant, setting, dtype, {**constants, **op})
                if left is not None:
                    yield left


def _ops_for(rule: Rule, variant: Variant) -> list[dict[str, Op]]:
    names = [n for n, kind in rule.variables.items() if kind == "Elementwise"]
    if not names:
        return [{}]
    (name,) = names
    arity = _arity(variant.left)
    return [
        {name: op}
        for op in OPS.values()
        if OpVariable(name, rule.only, rule.barring).admits(op)
        and op.signature.arity == arity
        and not op.signature.attrs
    ]


def _arity(pattern: Any) -> int:
    if type(pattern) is not Application:
        return 0
    if type(pattern.op) is OpVariable:
        return len(pattern.operands)
    return max(map(_arity, pattern.operands), default=0)


def _constants_for(rule: Rule, setting: Setting, dtype: Any) -> Iterator[dict[str, Symbol]]:
    names = [n for n, kind in rule.variables.items() if kind in ("Const", "Uniform")]
    choices = [[v for v in setting.constants.get(n, CONSTANTS) if _fits(v, dtype)] for n in names]
    for picked in itertools.product(*choices):
        shapes = [() if rule.variables[n] == "Const" else (6,) for n in names]
        filled = [constant(np.full(s, v, dtype)) for s, v in zip(shapes, picked, strict=True)]
        yield dict(zip(names, filled, strict=True))


def _fits(value: float, dtype: Any) -> bool:
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return float(value).is_integer() and info.min <= value <= info.max
    if dtype.kind == "b":
        return False
    info = np.finfo(dtype)
    return float(info.tiny) <= abs(value) <= float(info.max)


def _left_side(
    rule: Rule, variant: Variant, setting: Setting, dtype: Any, values: dict[str, Any]
) -> Left | None:
    feeds: list[Symbol] = []
    for name, kind in rule.variables.items():
        if kind == "Attribute":
            value = setting.attributes[name]
            values[name] = dtype if value == "same" else value
        elif kind == "Expr":
            own = np.dtype(setting.dtypes.get(name, dtype))
            feeds.append(placeholder(name, setting.shapes.get(name, (LENGTH,)), own))
            made = setting.made_of.get(name, lambda p, _: p)
            values[name] = made(feeds[-1], values)
    # Rules of the differentiator look into its own symbols: these must have an origin.
    with differentiating(values[setting.primal] if setting.primal else constant(0.0)):
        try:
            return Left(instantiate(variant.left, values, dtype), values, feeds, variant)
        except (TypeError, ValueError):
            return None


@contextmanager
def differentiating(primal: Symbol) -> Iterator[None]:
    """Inside, new symbols come from the derivative of ``primal``."""
    saved, building.origin = building.origin, Origin(primal, "test")
    try:
        yield
    finally:
        building.origin = saved


def applied(left: Left) -> Symbol | None:
    """What its rule, all others switched off, makes of a left side."""
    rule = left.variant.rule
    with rewriting(disabled={r.name for r in RULES} - {rule.name}):
        builder = Builder((rule.level, "exact"))  # "exact" switches folding on
    with constructing(builder=builder), differentiating(_primal_of(left)):
        return builder.simplified(left.root.op, left.root.args, left.root.attrs)


def simplified(left: Left, symbol: Symbol, levels: tuple[str, ...]) -> Symbol:
    """What all rules of some levels make of a symbol."""
    builder = Builder(levels)
    with constructing(builder=builder), differentiating(_primal_of(left)):
        found = builder.simplified(symbol.op, symbol.args, symbol.attrs)
        return symbol if found is None else found


def _primal_of(left: Left) -> Symbol:
    setting = SETTINGS.get(left.variant.rule.name, Setting())
    return left.values[setting.primal] if setting.primal else constant(0.0)
