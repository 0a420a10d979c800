"""The data flow of eager calls, as an observer sees it: which call took which value.

Every call that reaches the eager front end is noted, those of a recorded backward pass among them.
What the records say is checked against that: the op, the attributes, and where each edge leads.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import symgrad as sg
from symgrad.eager import apply as front_end
from symgrad.eager.plans import Pack, Plan
from symgrad.eager.pullbacks import RESULT
from symgrad.eager.records import Leaf, Record
from symgrad.ir.late import late
from symgrad.ir.op import Op
from symgrad.testing.runs import Eager, Program, leaves, run_on


@dataclass(eq=False)
class Node:
    """A value: what a call gave, an input, or an array that came from nowhere.

    Attributes:
        op, attrs, operands: the call; None and nothing, if no call was seen.
        value: the array, or for a pack, the arrays.
        label: the name of an input.
        record: what the call left behind.
    """

    value: Any
    op: Op | None = None
    attrs: dict[str, Any] = field(default_factory=dict)
    operands: tuple[Node, ...] = ()
    label: str | None = None
    record: Record | None = None


class Flow:
    """All calls that were seen, by the values that they gave."""

    def __init__(self) -> None:
        self.calls: list[Node] = []
        self._by_storage: dict[int, Node] = {}
        self._by_array: dict[int, Node] = {}
        self._alive: list[Any] = []  # an id names one object as long as that lives

    def input(self, label: str, tensor: Any) -> None:
        """Let a tensor be known under a name."""
        self._know(tensor.storage, tensor.storage.array, Node(tensor.storage.array, label=label))

    def node(self, value: Any) -> Node:
        """The node of a tensor, a pack, an array or a number."""
        if isinstance(value, Pack):
            return self._by_storage.get(id(value.storages)) or Node(_arrays(value))
        storage = getattr(value, "storage", None)
        if storage is not None and id(storage) in self._by_storage:
            return self._by_storage[id(storage)]
        array = value if storage is None else storage.array
        return self._by_array.get(id(array)) or Node(array)

    def note(self, plan: Plan, operands: Sequence[Any], values: Sequence[Any], result: Any) -> None:
        """Enter a call.

        Args:
            plan: what was carried out.
            operands: what the op was called on.
            values: the same as arrays, as the kernel took them.
            result: a tensor or a pack.
        """
        nodes = tuple(
            self._taken(plan, i, operand, value)
            for i, (operand, value) in enumerate(zip(operands, values, strict=True))
        )
        several = isinstance(result, Pack)
        record = result.edge if several else result.grad_fn
        value = _arrays(result) if several else result.storage.array
        node = Node(value, plan.op, dict(plan.attrs), nodes, record=record)
        self.calls.append(node)
        if several:
            self._know(result.storages, value, node)
        else:
            self._know(result.storage, value, node)
        if record is not None:
            self._read(record, plan, operands, nodes)

    def _taken(self, plan: Plan, i: int, operand: Any, value: Any) -> Node:
        """The node of an operand as the kernel takes it: cast, or a number in an array."""
        node = self.node(operand)
        cast = dict(plan.casts).get(i)
        if cast is not None:
            return Node(value, sg.astype, {"dtype": cast}, (node,))
        return Node(np.asarray(value)) if type(operand) in (bool, int, float, complex) else node

    def _read(
        self, record: Record, plan: Plan, operands: Sequence[Any], nodes: Sequence[Node]
    ) -> None:
        """What the record says is what was seen."""
        assert record.plan.op is plan.op
        assert record.site is not None
        for operand, node, edge in zip(operands, nodes, record.edges, strict=True):
            if isinstance(edge, Record):
                assert edge is node.record
                assert edge.order > record.order  # orders fall
            elif isinstance(edge, Leaf):
                assert edge.variable is operand
        for k, (array, storage, _) in zip(record.pullback.reads, record.saved or (), strict=True):
            if k != RESULT and not isinstance(array, Pack):
                self._know(storage, array, nodes[k], new=False)

    def _know(self, storage: Any, array: Any, node: Node, *, new: bool = True) -> None:
        self._alive += storage, array
        known = ((self._by_storage, storage), (self._by_array, array))
        for table, key in known:
            if key is not None:
                if new:
                    table[id(key)] = node
                else:
                    table.setdefault(id(key), node)


def _arrays(pack: Pack) -> tuple[np.ndarray, ...]:
    return tuple(s.array for s in pack.storages)


@contextmanager
def observing() -> Generator[Flow]:
    """Note all eager calls inside the block."""
    flow, apply, find_plan = Flow(), late.apply_eager, front_end.find_plan
    running: list[list[Any]] = []  # a rule that is looked at may make calls of its own

    def finding(op: Op, values: list[Any], *others: Any) -> Plan:
        call = running[-1]
        plan = find_plan(op, values, *others)
        call += plan, values
        return plan

    def applying(op: Op, operands: Sequence[Any], attrs: Any) -> Any:
        found: list[Any] = []
        running.append(found)
        try:
            result = apply(op, operands, attrs)
        finally:
            running.pop()
        if isinstance(result, (sg.Tensor, Pack)):
            plan, values = found  # the values as the kernel took them
            flow.note(plan, operands, values, result)
        return result

    late.apply_eager, front_end.find_plan = applying, finding
    try:
        yield flow
    finally:
        late.apply_eager, front_end.find_plan = apply, find_plan


def observed(
    program: Program, values: Sequence[np.ndarray], seeds: Sequence[np.ndarray]
) -> tuple[Eager, Flow]:
    """A program and its recorded backward pass, run under the eyes of an observer."""
    inputs, given = leaves(values), leaves(seeds)
    with observing() as flow:
        for k, x in enumerate(inputs):
            flow.input(f"x{k}", x)
        for k, seed in enumerate(given):
            flow.input(f"ct{k}", seed)
        eager = run_on(program, inputs, given, create_graph=True)
    return eager, flow
