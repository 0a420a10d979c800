"""Pullbacks: how cotangents pass through one plan, found by running the op's rule on placeholders.

Run once, the rule tells what it reads: exactly that is saved for the backward pass. A rule that is
used again is compiled to straight code on arrays, which does what the rule does, call by call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from symgrad.backends.numpy import NumpyProgram
from symgrad.ir.graph import Graph
from symgrad.ir.interning import attribute_key
from symgrad.ir.op import ZERO, Attrs, Op
from symgrad.ir.site import Site
from symgrad.ir.symbol import PLACEHOLDER, Symbol, constructing, new_symbol
from symgrad.ir.walk import reachable
from symgrad.transform.guards import FREE
from symgrad.transform.vjp import contributions
from symgrad.types import TensorType, TupleType, is_inexact, items_of

if TYPE_CHECKING:
    from symgrad.eager.plans import Plan

RESULT = -1
"""The place of the result among what a rule reads; operands have their positions."""

COMPILED_AT = 3
"""The use at which a rule is compiled: earlier, running it costs less than compiling."""


@dataclass(frozen=True, slots=True)
class Applied:
    """An application as the rules take it."""

    op: Op
    args: Sequence[Any]
    attrs: Attrs
    type: Any
    site: Site | None = None


def positions(mask: int) -> list[int]:
    """The positions of the bits that are set."""
    return [i for i in range(mask.bit_length()) if mask >> i & 1]


class Pullback:
    """How cotangents pass to some operands of a plan.

    Attributes:
        plan: the plan.
        mask: the operands that want a cotangent, as bits; ``wanted``: their positions.
        guarded: those of them whose guard will be asked for, as bits.
        reads: what the rule needs: positions of operands, and RESULT.
        straight: ``straight(ct, *read)`` gives the contributions to ``targets``, once compiled; who
            calls it switches warnings off.
        targets: the positions of the operands that get one from ``straight``.
        idle: those of the operands that get none.
    """

    __slots__ = (
        "_uses",
        "guarded",
        "idle",
        "mask",
        "plan",
        "reads",
        "straight",
        "targets",
        "wanted",
    )

    def __init__(self, plan: Plan, mask: int, guarded: int) -> None:
        self.plan, self._uses = plan, 0
        self.mask, self.guarded = mask, guarded
        self.wanted = positions(mask)
        self.reads = _reads(plan, mask, guarded)
        self.straight: Callable[..., tuple[Any, ...]] | None = None
        self.targets: list[int] = []
        self.idle: list[int] = []

    def compiled(self) -> Callable[..., tuple[Any, ...]] | None:
        """The compiled rule; None as long as it was hardly used, and for packs."""
        self._uses += 1
        if self._uses == COMPILED_AT and not self.plan.several:
            self._compile()
        return self.straight

    def _compile(self) -> None:
        trace = _Trace(self.plan, self.wanted)
        if any(isinstance(kind, TupleType) for kind in self.plan.types):
            return
        given = [trace.y if k == RESULT else trace.args[k] for k in self.reads]
        outputs = [contribution for _, contribution, _ in trace.found]
        graph = Graph([trace.ct, *given], outputs)
        self.targets = [i for i, _, _ in trace.found]
        self.idle = [i for i in self.wanted if i not in self.targets]
        self.straight = NumpyProgram(graph, {}, bare=False, fresh=False).call


class _Trace:
    """An op's rule run on placeholders.

    Attributes:
        args, y, ct: the placeholders; of several results, tuples.
        found: per operand that gets a contribution: its position, the contribution, its guard.
    """

    def __init__(self, plan: Plan, wanted: Sequence[int]) -> None:
        with constructing(builder=None, share=False) as building:
            building.origin = None
            self.args = [_placeholder(kind) for kind in plan.types]
            items = items_of(plan.type)
            cts = tuple(_placeholder(item) if is_inexact(item.dtype) else ZERO for item in items)
            ys = tuple(map(_placeholder, items))
            self.ct: Any = cts if plan.several else cts[0]
            self.y: Any = ys if plan.several else ys[0]
            applied = Applied(plan.op, self.args, plan.attrs, plan.type)
            self.found = [
                (i, contribution, guard)
                for i, contribution, guard, _ in contributions(
                    applied, self.y, self.ct, FREE, wanted
                )
            ]

    def reads(self, guarded: int) -> tuple[int, ...]:
        """What contributions depend on, and the guards of the operands in ``guarded``."""
        needed: list[Symbol] = []
        for i, contribution, guard in self.found:
            needed.append(contribution)
            if guarded >> i & 1:
                needed.extend(predicate for predicate in guard if predicate is not None)
        reached = set(reachable(needed))
        y: Any = self.y
        ys = cast("tuple[Any, ...]", y) if isinstance(y, tuple) else (y,)
        read = [i for i, arg in enumerate(self.args) if arg in reached]
        return (*read, RESULT) if any(item in reached for item in ys) else tuple(read)


def _placeholder(kind: TensorType) -> Symbol:
    return new_symbol(PLACEHOLDER, (), {}, kind, name="")


# --- what is read -----------------------------------------------------------------------------

_KEPT = 20_000
_known_reads: dict[Any, tuple[int, ...]] = {}


def _reads(plan: Plan, mask: int, guarded: int) -> tuple[int, ...]:
    """What the rule reads. An element-wise one branches on no size: a trace holds for all."""
    if plan.op.family == "linear" and len(plan.types) == 1:
        return ()  # the transpose of a linear map does not depend on where it is taken
    if plan.op.joint is not None:  # made for one graph, and gone with it
        return _Trace(plan, positions(mask)).reads(guarded)
    anyhow = plan.op.partials is not None  # the rule of a factorisation asks: tall or wide?
    outline = tuple(
        (item.dtype, tuple([size == 1 for size in item.shape]) if anyhow else item.shape)
        for kind in plan.types
        for item in items_of(kind)
    )
    key = (plan.op, mask, guarded, outline, *map(attribute_key, plan.attrs.values()))
    found = _known_reads.get(key)
    if found is None:
        found = _Trace(plan, positions(mask)).reads(guarded)
        if len(_known_reads) >= _KEPT:
            _known_reads.clear()
        _known_reads[key] = found
    return found
