"""Views: tensors that show a part of another one's memory, and whose history follows it.

A change in place of a view is a change of its base: the base gets a new history, in which the part
is replaced, and every other view of it takes its own from there when it is next asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from symgrad.eager.records import Edge, Record
from symgrad.errors import InPlaceError

if TYPE_CHECKING:
    from symgrad.eager.plans import Plan
    from symgrad.eager.tensor import Tensor


EXTRA = 1 << 30
"""A bit of ``fragile`` that no record has: what stands there is no edge, but holds one."""


class Aliases:
    """A base and all its views.

    Attributes:
        history: how often a change in place gave them another history.
    """

    __slots__ = ("history",)

    def __init__(self) -> None:
        self.history = 0


class Extra:
    """What few tensors have beside a value and an edge. It stands in the edge's place.

    Attributes:
        edge: where a gradient that arrives at the tensor goes.
        grad: the gradient that has arrived, or None.
        retains: for what is no leaf: whether it keeps its gradient.
        aliases: for a base and its views.
        source: for a view: the tensor that it was taken of.
        plan, operands: for a view: the call that made it, and the values of further operands.
        recorded: for a view: whether it was made while calls were recorded.
        several: for a view: whether its maker gave several at once.
        seen: for a view: the history of its aliases that its edge belongs to.
    """

    __slots__ = (
        "aliases",
        "edge",
        "grad",
        "operands",
        "plan",
        "recorded",
        "retains",
        "seen",
        "several",
        "source",
    )

    fragile = EXTRA

    def __init__(self, edge: Edge) -> None:
        self.edge = edge
        self.grad: Tensor | None = None
        self.retains = False
        self.aliases: Aliases | None = None
        self.source: Tensor | None = None
        self.plan: Any = None
        self.operands: tuple[Any, ...] = ()
        self.recorded, self.several = True, False
        self.seen = 0

    @property
    def is_stale(self) -> bool:
        """Whether this is a view whose base got another history since."""
        return self.source is not None and self.aliases.history != self.seen  # pyright: ignore[reportOptionalMemberAccess]


def retain(record: Record, extra: Extra) -> None:
    """Have the cotangent of a record kept in ``extra.grad``, after all hooks."""
    extra.retains = True
    watchers = record.watched()
    watchers.retained = (*watchers.retained, extra)


def aliases_of(tensor: Tensor) -> Aliases:
    """The aliases of a tensor, which thereby becomes a base, if it is no view."""
    extra = tensor.extra
    if extra.aliases is None:
        extra.aliases = Aliases()
    return extra.aliases


def mark_view(view: Tensor, source: Tensor, plan: Plan, operands: Any, *, recorded: bool) -> None:
    """Note that ``view`` shows a part of ``source``, by a call of ``plan``."""
    extra = view.extra
    extra.aliases = aliases_of(source)
    extra.source, extra.plan, extra.operands = source, plan, operands
    extra.recorded, extra.seen = recorded, extra.aliases.history


def base_and_path(view: Tensor) -> tuple[Tensor, list[Tensor]]:
    """The tensor that owns the memory, and the views from it to this one."""
    path: list[Tensor] = []
    source = view
    while (next_source := source.extra.source) is not None:
        path.append(source)
        source = next_source
    return source, path[::-1]


def renew(view: Tensor) -> None:
    """Give a view the history that its base has now."""
    base, path = base_and_path(view)
    edge = base.edge
    for step in path:
        extra = step.extra
        if edge is not None:
            others = [(value, None, 0) for value in extra.operands]
            edges = [edge, *(None for _ in others)]
            saved = [(step.storage.array, None, 0), *others]
            edge = Record(extra.plan, edges, saved, saved[0])
        extra.edge = edge
        extra.seen = extra.aliases.history  # pyright: ignore[reportOptionalMemberAccess]


def positions_in_base(view: Tensor, where: str) -> tuple[Tensor, NDArray[Any]]:
    """The base of a view, and which of its elements, counted in row-major order, the view shows.

    Raises:
        InPlaceError: the view shows parts of elements, or elements in another type.
    """
    base, path = base_and_path(view)
    array = base.storage.array
    positions: Any = np.arange(array.size).reshape(array.shape)
    for step in path:
        extra = step.extra
        if extra.plan.op.family != "linear" or extra.plan.type.dtype != array.dtype:
            raise InPlaceError(
                where,
                f"the result of {extra.plan.op.name} shows its operand in another way",
                got=view.type,
                hint="change a clone",
            )
        positions = extra.plan.run(positions, *extra.operands)
    return base, np.asarray(positions)
