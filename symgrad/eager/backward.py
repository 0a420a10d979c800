"""The backward pass: the walk of reverse mode over records, on values.

It does what `symgrad.transform.vjp` builds: the latest record first, cotangents of one value summed
in the order in which they arrive, the same rules, the same guards. Rules that are used again run as
compiled code on arrays; where the pass itself is recorded (``create_graph``), they run on tensors.

Gradients are added to leaves at the very end, so a pass that fails has changed no ``.grad``.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from typing import Any, cast

import numpy as np

from symgrad.eager.plans import DOMAIN, PARTIAL, Pack
from symgrad.eager.pullbacks import RESULT, Applied, positions
from symgrad.eager.records import Edge, Hooks, Leaf, Record, Watchers, ghost
from symgrad.eager.tensor import Tensor, tensor_on
from symgrad.errors import AnomalyError, DTypeError, SeedError, SymgradError
from symgrad.ir.modes import MODE, WATCHING
from symgrad.ir.op import ZERO, ops
from symgrad.ir.storage import Storage
from symgrad.transform.guards import FREE, Guard, apart, differ, either
from symgrad.transform.vjp import contributions
from symgrad.types import TupleType, is_inexact

adding = threading.Lock()
"""Held while a gradient is added to ``.grad``: passes in several threads may meet at one leaf."""


class Pass:
    """One backward pass.

    Args:
        keep: whether saved values stay.
        create: whether the pass is recorded: cotangents are tensors then, arrays otherwise.
        wanted: the records and leaves whose cotangents are asked for; None means all leaves.

    Attributes:
        kept: what results keep as their ``.grad`` once the pass is through: where, and what.
    """

    def __init__(self, *, keep: bool, create: bool, wanted: Iterable[Any] | None) -> None:
        self.keep, self.create = keep, create
        self.wanted = None if wanted is None else set(wanted)
        self.active: set[Any] | None = None
        self.found: dict[Any, Any] = {}
        self.leaves: dict[Leaf, list[Any]] = {}
        self.kept: list[tuple[Any, Any]] = []
        self._parts: dict[Any, list[Any]] = {}
        self._guards: dict[Any, list[Guard]] = {}
        self._pending: list[tuple[int, Any]] = []
        self._by_rules = create or bool(MODE.get() & WATCHING)
        # Whether a record may need more than its compiled rule and the sum of what has arrived.
        self._slow = self._by_rules or wanted is not None

    # --- what has arrived ---------------------------------------------------------------------

    def add(self, edge: Any, part: Any, guard: Guard = FREE) -> None:
        """Let a cotangent arrive; ZERO marks the way without one."""
        parts = self._parts.get(edge)
        if parts is None:
            self._parts[edge] = parts = []
            heappush(self._pending, (edge.order, edge))
        if part is ZERO:
            self._slow = True
            return
        if guard is not FREE:
            self._slow = True
            guards = self._guards.setdefault(edge, [])
            guards.extend([FREE] * (len(parts) - len(guards)))
            guards.append(guard)
        parts.append(part)

    def _total(self, parts: Sequence[Any]) -> Any:
        if not parts:
            return ZERO
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        # The sum of arrays without axes is a number to numpy.
        return total if self.create or type(total) is np.ndarray else np.asarray(total)

    def _packed(self, record: Record, parts: Sequence[Any]) -> Any:
        sums: list[Any] = [ZERO] * len(record.plan.type.items)
        for index, part in parts:
            sums[index] = part if sums[index] is ZERO else self._total([sums[index], part])
        return ZERO if all(s is ZERO for s in sums) else tuple(sums)

    def _guarded(self, record: Record, parts: list[Any]) -> tuple[list[Any], Guard]:
        """The parts of a sum, those apart that have different guards, and the guard of the sum."""
        guards = self._guards.pop(record, None) if self._guards else None
        if guards is None:
            return parts, FREE
        guards.extend([FREE] * (len(parts) - len(guards)))
        if differ(guards) and record.fragile & PARTIAL:
            parts = apart([_lifted(part) for part in parts], guards)
            if not self.create:
                parts = [part.storage.array for part in parts]
        return parts, either(guards)

    # --- the walk -----------------------------------------------------------------------------

    def run(self) -> None:
        """Walk until only leaves are left."""
        pending, parts_of = self._pending, self._parts
        while pending:
            order, record = heappop(pending)
            parts = parts_of.pop(record)
            if order > 0:
                self.leaves[record] = parts
                continue
            pullback = record.pullback
            straight = pullback.straight
            if straight is None or self._slow or record.watchers is not None:
                self._step(record, parts)
                continue
            ct = parts[0] if len(parts) == 1 else self._total(parts)
            values = record.read() if pullback.reads else ()
            edges = record.edges
            for i, part in zip(pullback.targets, straight(ct, *values)):  # noqa: B905  # equally long
                edge = edges[i]
                parts = parts_of.get(edge)
                if parts is None:  # as `add` does
                    parts_of[edge] = [part]
                    heappush(pending, (edge.order, edge))
                else:
                    parts.append(part)
            if pullback.idle:
                self._mark(edges, pullback.idle)
            if not self.keep:
                record.saved = None

    def _step(self, record: Record, parts: list[Any]) -> None:
        """Go through one record in whatever way it needs."""
        pullback = record.pullback
        several = pullback.plan.several
        parts, guard = self._guarded(record, parts)
        ct = self._packed(record, parts) if several else self._total(parts)
        if record.watchers is not None:
            ct = self._hooked(record, ct)
        wanted = pullback.mask
        if self.active is not None:
            if record in (self.wanted or ()):
                self.found[record] = ct
            wanted = sum(1 << i for i, e in enumerate(record.edges) if e in self.active)
        if not wanted:
            return
        if ct is ZERO:
            self._mark(record.edges, positions(wanted))
            return
        if not (self._by_rules or pullback.guarded or record.watchers) and guard is FREE:
            # A guarded one is never compiled, so that `run` need not ask.
            if wanted != pullback.mask:
                pullback = pullback.plan.pullback(wanted, 0)
            straight = pullback.compiled()
            if straight is not None:
                found = straight(ct, *record.read(pullback.reads))
                for i, part in zip(pullback.targets, found, strict=True):
                    self.add(record.edges[i], part)
                self._mark(record.edges, pullback.idle)
                self._free(record)
                return
        self._onward(record, ct, guard, wanted)
        self._free(record)

    def _free(self, record: Record) -> None:
        if not self.keep:
            record.saved = None

    def _mark(self, edges: Sequence[Edge], where: Iterable[int]) -> None:
        for i in where:
            self.add(edges[i], ZERO)

    def _onward(self, record: Record, ct: Any, guard: Guard, wanted: int) -> None:
        """Through an op that takes one output of several, or by the rule."""
        if record.watchers is None and isinstance(record.plan.types[0], TupleType):
            self.add(record.edges[0], (record.plan.attrs["index"], ct))
        else:
            self._by_rule(record, ct, guard, wanted)

    def _by_rule(self, record: Record, ct: Any, guard: Guard, wanted: int) -> None:
        """Run the op's rule on tensors."""
        edges = record.edges
        args, y = self._values(record)
        cts = _lifted(ct)
        watchers = record.watchers
        if watchers is not None and watchers.before:
            cts = _prehooked(watchers.before, cts)
        applied = Applied(record.plan.op, args, record.plan.attrs, record.plan.type, record.site)
        found: dict[int, Any] = {}
        watching = MODE.get() & WATCHING
        mode = MODE.set(MODE.get() & ~WATCHING)  # what a guard hides may be NaN on the way
        try:
            for i, part, passed, index in contributions(applied, y, cts, guard, positions(wanted)):
                several = isinstance(record.plan.types[i], TupleType)
                found[i] = part, _needed(edges[i], passed), index if several else None
        except SymgradError as error:
            if record.site is not None:
                error.add_note(f"in the backward pass of {record.name()}, called at {record.site}")
            raise
        finally:
            MODE.reset(mode)
        if watchers is not None and watchers.after:
            _posthooked(watchers.after, len(edges), found, cts)
        if watching:
            _watch(record, [*args, y, cts], [part for part, _, _ in found.values()])
        for i in positions(wanted):
            part, passed, index = found.get(i, (ZERO, FREE, None))
            if part is not ZERO and not self.create:
                part = part.storage.array
            if index is not None:
                part = index, part
            self.add(edges[i], part, passed)

    def _values(self, record: Record) -> tuple[list[Any], Any]:
        """The operands and the result as the rule takes them; ghosts for what it does not read."""
        plan, reads = record.plan, record.pullback.reads
        read = dict(zip(reads, record.read(), strict=True))
        storages: dict[int, Any] = {
            k: s for k, (_, s, _) in zip(reads, record.saved or (), strict=False)
        }
        args: list[Any] = []
        for i, kind in enumerate(plan.types):
            value = read[i] if i in read else ghost(kind)
            edge = record.edges[i] if self.create and i in read else None
            args.append(_operand(value, storages.get(i), edge))
        value = read[RESULT] if RESULT in read else ghost(plan.type)
        edge = record if self.create and RESULT in read else None
        y: Any = _operand(value, storages.get(RESULT), edge)
        if plan.several:
            if edge is None:
                y = tuple(map(tensor_on, y.storages))
            else:
                y = tuple(ops.item(y, index=k) for k in range(len(plan.type.items)))
        return args, y

    # --- hooks --------------------------------------------------------------------------------

    def _hooked(self, record: Record, ct: Any) -> Any:
        if ct is ZERO or record.plan.several:
            return ct
        watchers = cast("Watchers", record.watchers)
        ct = self._through(watchers.hooks, ct)
        self.kept += [(extra, ct) for extra in watchers.retained]
        return ct

    def _through(self, hooks: Hooks, ct: Any) -> Any:
        """A cotangent after hooks that may replace it."""
        for hook in list(hooks.values()):
            given = _lifted(ct)
            new = hook(given)
            if new is not None:
                new = _replacement(new, given)
                ct = new if self.create else new.storage.array
        return ct

    # --- the end ------------------------------------------------------------------------------

    def totals(self) -> list[tuple[Leaf, Any]]:
        """The gradients of all leaves that were reached, after their hooks."""
        totals: list[tuple[Leaf, Any]] = []
        for leaf, parts in self.leaves.items():
            if self.wanted is not None and leaf not in self.wanted:
                continue
            total = parts[0] if len(parts) == 1 else self._total(parts)
            if total is ZERO:
                array = leaf.storage.array
                total = np.zeros(array.shape, array.dtype)
                total = _lifted(total) if self.create else total
            totals.append((leaf, self._through(leaf.hooks, total) if leaf.hooks else total))
        return totals


def _lifted(ct: Any) -> Any:
    """A cotangent as a tensor; of several results, a tuple of tensors or ZERO."""
    if isinstance(ct, tuple):
        return tuple(map(_lifted, cast("tuple[Any, ...]", ct)))
    if ct is ZERO or isinstance(ct, Tensor):
        return ct
    return tensor_on(Storage(ct if type(ct) is np.ndarray else np.asarray(ct)))


def _operand(value: Any, storage: Any, edge: Edge) -> Any:
    if isinstance(value, Pack):
        if edge is not None:
            return Pack(value.storages, edge)
        return value
    if type(edge) is Leaf:
        return edge.variable
    return tensor_on(Storage(value) if storage is None else storage, edge)


def _replacement(new: Any, given: Tensor) -> Tensor:
    """What a hook gave for a cotangent."""
    if not isinstance(new, Tensor):
        got = type(new).__name__
        raise DTypeError("hook", "its result is no tensor", expected=given.type, got=got)
    if new.type != given.type:
        raise SeedError("hook", "its result has another type", expected=given.type, got=new.type)
    return new


def _needed(edge: Edge, guard: Guard) -> Guard:
    """The guard without what nothing further back asks for."""
    if guard is FREE or edge is None:
        return FREE
    strong = guard.strong if edge.fragile & PARTIAL else None
    weak = guard.weak if edge.fragile & DOMAIN else None
    return FREE if strong is None and weak is None else Guard(strong, weak)


def _prehooked(hooks: Hooks, cts: Any) -> Any:
    given: tuple[Any, ...] = cast("Any", cts) if isinstance(cts, tuple) else (cts,)
    for hook in list(hooks.values()):
        new = hook(given)
        if new is not None:
            given = _as_tuple(new)
    return given if isinstance(cts, tuple) else given[0]


def _as_tuple(given: Any) -> tuple[Any, ...]:
    return tuple(cast("Any", given)) if isinstance(given, (tuple, list)) else (given,)


def _posthooked(hooks: Hooks, count: int, found: dict[int, Any], cts: Any) -> None:
    outputs = _as_tuple(cts)
    for hook in list(hooks.values()):
        inputs = tuple(found[i][0] if i in found else None for i in range(count))
        new = hook(inputs, outputs)
        if new is not None:
            for i, part in enumerate(_as_tuple(new)):
                if part is not None and i in found:
                    found[i] = (part, *found[i][1:])


def _watch(record: Record, given: Iterable[Any], parts: Iterable[Any]) -> None:
    """Raise if a rule made a NaN of operands, a result and cotangents that hold none."""
    if any(map(_is_nan, parts)) and not any(map(_is_nan, given)):
        raise AnomalyError(
            f"backward through {record.name()}",
            "the derivative is NaN, the operands are not",
            got=", ".join(map(str, record.plan.types)),
            site=str(record.site),
        )


def _is_nan(value: Any) -> bool:
    if isinstance(value, tuple):
        return any(map(_is_nan, cast("tuple[Any, ...]", value)))
    if value is ZERO or isinstance(value, Pack):  # a pack is read through its items
        return False
    return is_inexact(value.dtype) and bool(np.any(np.isnan(value.storage.array)))
