"""Guards: under which predicate a cotangent is live.

The cotangent of a branch that was not taken is zero, but zero times an infinite partial is NaN.
So a cotangent carries the predicate under which it can be anything but zero, and an element-wise
rule multiplies inside and selects outside: ``where(guard, ct * partial, 0)``.

A *strong* guard comes from an explicit ``where`` and protects every op before it. A *weak* one
comes from maximum, relu, clip and pooling and protects only ops that restrict their domain, so
that an ordinary network pays nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from symgrad.ir.op import Nothing, Op, ops
from symgrad.ir.symbol import CONSTANT, Symbol, building
from symgrad.types import is_bool


class Guard(NamedTuple):
    """The strong and the weak predicate, of the cotangent's shape; None is true everywhere."""

    strong: Symbol | None = None
    weak: Symbol | None = None


FREE = Guard()


def _and(a: Symbol | None, b: Symbol | None) -> Symbol | None:
    if a is None or b is None:
        return b if a is None else a
    return a if a is b else ops.logical_and(a, b)


def _or(a: Symbol | None, b: Symbol | None) -> Symbol | None:
    if a is None or b is None:
        return None
    return a if a is b else ops.logical_or(a, b)


def either(guards: Sequence[Guard]) -> Guard:
    """The guard of a sum of cotangents."""
    result = guards[0]
    for guard in guards[1:]:
        result = Guard(_or(result.strong, guard.strong), _or(result.weak, guard.weak))
    return result


def bends(op: Op) -> bool:
    """Whether the op has a partial that depends on values, so that a guard may select there."""
    return op.partials is not None and any(map(callable, op.partials))


def differ(guards: Sequence[Guard]) -> bool:
    """Whether cotangents with these guards are to be told apart before they are summed."""
    return any(guard.strong is not guards[0].strong for guard in guards)


def apart(cts: Sequence[Any], guards: Sequence[Guard]) -> list[Any]:
    """Cotangents that are to be summed, each zero where its own strong guard does not hold.

    The guard of the sum holds where any of them does: a NaN of a part that is dead there would
    spoil one that is live.
    """
    return [
        ct if guard.strong is None else ops.where(guard.strong, ct, 0)
        for ct, guard in zip(cts, guards, strict=True)
    ]


def as_predicate(value: Any) -> Symbol:
    """A transposed predicate as booleans again: it may have been summed to counts."""
    return value if is_bool(value.dtype) else ops.not_equal(value, 0)


def _through(
    op: Op, i: int, predicate: Symbol | None, y: Any, args: Any, attrs: Any
) -> Symbol | None:
    if predicate is None or op.guard == "drop":
        return None
    if op.guard == "keep":
        return predicate
    assert callable(op.guard)
    passed = op.guard(i, predicate, y, args, attrs)
    return None if isinstance(passed, Nothing) or passed is None else as_predicate(passed)


def before(op: Op, i: int, guard: Guard, y: Any, args: Any, attrs: Any) -> Guard:
    """The guard of operand ``i``, given that of the result."""
    strong, weak = (
        guard
        if guard is FREE
        else (_through(op, i, predicate, y, args, attrs) for predicate in guard)
    )
    live = op.live[i] if op.live is not None else None
    if live is not None:
        predicate = live(y, *args, **attrs)
        if op.guard == "keep" and predicate.shape != y.shape:
            # A condition may be smaller than what it selects; other ops state the operand's shape.
            predicate = ops.broadcast_to(predicate, y.shape)
        if op.strong_guard:
            strong = _and(strong, predicate)
        else:
            weak = _and(weak, predicate)
    return FREE if strong is None and weak is None else Guard(strong, weak)


def select(op: Op, i: int, guard: Guard, factor: Any, contribution: Any) -> Any:
    """The contribution of an element-wise rule where the guard holds, zero elsewhere."""
    if guard is FREE or not callable(op.partials[i] if op.partials else None):
        return contribution
    if building.builder is not None and _is_finite(factor):  # nothing to protect from
        return contribution
    predicate = guard.strong
    if op.restricts_domain:
        predicate = _and(guard.strong, guard.weak)
    return contribution if predicate is None else ops.where(predicate, contribution, 0)


def _is_finite(factor: Any) -> bool:
    constant = isinstance(factor, Symbol) and factor.op is CONSTANT
    return constant and bool(np.all(np.isfinite(factor.payload)))
