"""The data flow of eager calls, as an observer sees it: which kernel took which array.

Every kernel that runs is noted, those of a recorded backward pass among them, and values are told
apart by the arrays that hold them. What the records say is checked against that: the op, the
attributes, and where each edge leads.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import symgrad as sg
from symgrad.eager import apply as front_end
from symgrad.eager.kernels import Kernel, watching_kernels
from symgrad.eager.plans import Pack, Plan
from symgrad.eager.records import Leaf, Record
from symgrad.ir.op import OPS, Op
from symgrad.testing.runs import Eager, Program, leaves, run_on


@dataclass(eq=False)
class Node:
    """A value: what a call gave, an input, or an array that came from nowhere.

    Attributes:
        op, attrs, operands: the call; None and nothing, if no call was seen.
        value: the array, or for a pack, the arrays.
        label: the name of an input.
    """

    value: Any
    op: Op | None = None
    attrs: dict[str, Any] = field(default_factory=dict)
    operands: tuple[Node, ...] = ()
    label: str | None = None


class Flow:
    """All calls that were seen, by the arrays that they gave."""

    def __init__(self) -> None:
        self.calls: list[Node] = []
        self._nodes: dict[Any, Node] = {}
        self._alive: list[Any] = []  # an id names one object as long as that lives

    def input(self, label: str, array: Any) -> None:
        """Let an array be known under a name."""
        self._know(array, Node(array, label=label))

    def node(self, value: Any) -> Node:
        """The node of a tensor, or of what a kernel took: an array, a pack, a number."""
        array = value.storage.array if isinstance(value, sg.Tensor) else value
        found = self._nodes.get(_identity(array))
        if found is None:
            found = Node(_arrays(array) if isinstance(array, Pack) else np.asarray(array))
            self._know(array, found)
        return found

    def note(self, plan: Plan, given: Sequence[Any], taken: Sequence[Any], result: Any) -> None:
        """Enter a call.

        Args:
            given: its operands; ``taken``: as the kernel took them: numbers as arrays, integers
                cast to floats.
        """
        casts = dict(plan.casts)
        for i, (before, after) in enumerate(zip(given, taken, strict=True)):
            if i in casts and before is not after:
                cast = Node(after, sg.astype, {"dtype": casts[i]}, (self.node(before),))
                self._know(after, cast)
        node = Node(result, plan.op, dict(plan.attrs), tuple(map(self.node, taken)))
        self.calls.append(node)
        self._know(result, node)

    def _know(self, value: Any, node: Node) -> None:
        self._alive.append(value)
        self._nodes[_identity(value)] = node

    def require_same_records(self, tensors: Sequence[Any]) -> int:
        """What records say is what was seen; gives their number."""
        pending = [(t.grad_fn, self.node(t)) for t in tensors if t.grad_fn is not None]
        seen = {record for record, _ in pending}
        while pending:
            record, node = pending.pop()
            assert record.plan.op is node.op
            assert record.attrs == node.attrs
            assert record.site is not None
            for edge, operand in zip(record.edges, node.operands, strict=True):
                if isinstance(edge, Leaf):
                    assert operand.label is not None
                    assert edge.variable.storage.array is operand.value
                elif isinstance(edge, Record):
                    assert edge.order > record.order  # orders fall
                    if edge not in seen:
                        seen.add(edge)
                        pending.append((edge, operand))
        return len(seen)


def _arrays(pack: Pack) -> tuple[np.ndarray, ...]:
    return tuple(s.array for s in pack.storages)


def _identity(value: Any) -> Any:
    if isinstance(value, Pack):
        value = _arrays(value)
    return tuple(map(id, value)) if isinstance(value, tuple) else id(value)


@contextmanager
def observing() -> Generator[Flow]:
    """Note all eager calls inside the block."""
    flow, find_plan = Flow(), front_end.find_plan
    found: list[tuple[Plan, list[Any]]] = []

    def finding(op: Op, values: list[Any], *others: Any) -> Plan:
        plan = find_plan(op, values, *others)
        found.append((plan, list(values)))
        return plan

    def running(plan: Plan, kernel: Kernel, taken: tuple[Any, ...]) -> Any:
        given: Sequence[Any] = taken
        if found and found[-1][0] is plan:  # what it was before it was made fit for the kernel
            _, given = found.pop()
        result = kernel(*taken)
        result = tuple(map(np.asarray, result)) if plan.several else np.asarray(result)
        if plan.op is not OPS["item"] and any(result is array for array in taken):
            result = result.view()  # another value, though in the same memory
        flow.note(plan, given, taken, result)
        return result

    front_end.find_plan = finding
    try:
        with watching_kernels(running):
            yield flow
    finally:
        front_end.find_plan = find_plan


def observed(
    program: Program, values: Sequence[np.ndarray], seeds: Sequence[np.ndarray]
) -> tuple[Eager, Flow]:
    """A program and its recorded backward pass, run under the eyes of an observer."""
    inputs, given = leaves(values), leaves(seeds)
    with observing() as flow:
        for k, x in enumerate(inputs):
            flow.input(f"x{k}", x.storage.array)
        for k, seed in enumerate(given):
            flow.input(f"ct{k}", seed.storage.array)
        eager = run_on(program, inputs, given, create_graph=True)
    return eager, flow
