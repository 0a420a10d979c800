"""What calls on tensors leave behind: records, each of one call, and the leaves that they end at.

A record holds no tensor: it holds the records of its operands, and of values exactly those that the
op's rule reads, each with the version it had. So nothing here forms a cycle, and a result that is
dropped frees all at once.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Sequence
from types import CodeType
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from symgrad.eager.plans import Pack, Plan
from symgrad.eager.pullbacks import RESULT, Pullback
from symgrad.errors import GradientError, InPlaceError
from symgrad.ir.late import late
from symgrad.ir.site import Site
from symgrad.ir.storage import Storage
from symgrad.types import TensorType, TupleType, items_of

if TYPE_CHECKING:
    from symgrad.eager.tensor import Tensor

Array: TypeAlias = NDArray[Any]
Saved: TypeAlias = tuple[Any, Storage | None, int]
"""A value that a rule reads, the storage it lies in (if that can change), and its version then."""

orders = itertools.count(0, -1)
"""The numbers of records: they fall, so that the latest record comes first."""
_leaf_orders = itertools.count(1)


class Hooks(dict[int, Any]):
    """Functions in the order of their registration."""

    _keys = itertools.count()

    def add(self, function: Callable[..., Any]) -> HookHandle:
        """Register a function; the handle takes it out again."""
        key = next(self._keys)
        self[key] = function
        return HookHandle(self, key)


class HookHandle:
    """What registering a hook gives: ``remove()`` takes the hook out; so does leaving a block."""

    __slots__ = ("_hooks", "_key")

    def __init__(self, hooks: Hooks, key: int) -> None:
        self._hooks, self._key = hooks, key

    def remove(self) -> None:
        """Take the hook out; a second time does nothing."""
        self._hooks.pop(self._key, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


class Leaf:
    """Where gradients arrive: the end of the graph at a tensor that requires them.

    Attributes:
        storage: the tensor's.
        extra: what the tensor keeps beside its value: ``extra.grad`` among it.
        accepts: whether the tensor still requires a gradient.
        order: greater than that of any record.
        hooks: called with the gradient before it is added.
        after: called with the tensor once it was added.
    """

    __slots__ = ("__weakref__", "_tensor", "accepts", "after", "extra", "hooks", "order", "storage")
    fragile = 0

    def __init__(self, tensor: Tensor, extra: Any) -> None:
        self.storage, self.extra = tensor.storage, extra
        self._tensor = weakref.ref(tensor)
        self.accepts = True
        self.order = next(_leaf_orders)
        self.hooks, self.after = Hooks(), Hooks()

    @property
    def variable(self) -> Tensor:
        """The tensor; where it was dropped meanwhile, another one on the same storage."""
        tensor = self._tensor()
        if tensor is None:
            tensor = late.revive(self)
            self._tensor = weakref.ref(tensor)
        return tensor

    next_functions: tuple[Any, ...] = ()

    def name(self) -> str:
        """What the node is called."""
        return "accumulate"

    def register_hook(self, function: Callable[..., Any]) -> HookHandle:
        """Call ``function(grad_inputs, grad_outputs)`` once a gradient was added."""

        def after(tensor: Tensor) -> Any:
            return function((), (tensor.grad,))

        return self.after.add(after)

    def __repr__(self) -> str:
        kind = TensorType(self.storage.array.shape, self.storage.array.dtype)
        return f"<accumulate {kind}>"


Edge: TypeAlias = "Record | Leaf | None"


class Watchers:
    """What is called while a pass goes through a record.

    Attributes:
        hooks: called with the result's cotangent; they may replace it.
        retained: where the cotangent is kept, after the hooks.
        before, after: called around the rule with all cotangents.
    """

    __slots__ = ("after", "before", "hooks", "retained")

    def __init__(self) -> None:
        self.hooks, self.before, self.after = Hooks(), Hooks(), Hooks()
        self.retained: tuple[Any, ...] = ()


class Record:
    """One call, as ``backward`` walks over it: the ``grad_fn`` of its result.

    Attributes:
        pullback: how cotangents pass through: the plan, which operands have an edge, what is read.
        edges: per operand where its cotangent goes: a record, a leaf, or None.
        fragile: what a guard may have to protect here or further back, as bits.
        saved: what the pullback reads; None once it was freed.
        order: falls with every record, so that the latest comes first.
        place: the line of the call, as `symgrad.ir.site.place` gives it.
        watchers: hooks, if there are any.
    """

    __slots__ = (
        "__weakref__",
        "edges",
        "fragile",
        "order",
        "place",
        "pullback",
        "saved",
        "watchers",
    )

    def __init__(
        self, plan: Plan, edges: Sequence[Edge], operands: Sequence[Saved], result: Saved
    ) -> None:
        mask = sum(1 << i for i, edge in enumerate(edges) if edge is not None)
        self.edges, self.fragile = edges, plan.inherited(edges)
        self.pullback: Pullback = plan.pullback(mask, plan.guarded(edges))
        self.saved: Sequence[Saved] | None = [
            result if k == RESULT else operands[k] for k in self.pullback.reads
        ]
        self.order = next(orders)
        self.place: tuple[CodeType, int] | None = None
        self.watchers: Watchers | None = None

    @property
    def plan(self) -> Plan:
        """The op, its attributes, the types."""
        return self.pullback.plan

    @property
    def site(self) -> Site | None:
        """The line of the call."""
        return None if self.place is None else Site(*self.place)

    def watched(self) -> Watchers:
        """Where hooks are registered."""
        if self.watchers is None:
            self.watchers = Watchers()
        return self.watchers

    # --- what it saved ------------------------------------------------------------------------

    def read(self, wanted: Sequence[int] | None = None) -> list[Any]:
        """The saved values, those of ``wanted`` if not all.

        Raises:
            GradientError: they were freed by a backward pass.
            InPlaceError: one of them was changed since.
        """
        saved = self.saved
        if saved is None:
            if not self.pullback.reads:
                return []
            raise self._freed()
        values: list[Any] = []
        for value, storage, version in saved:
            if storage is not None and storage.version != version:
                self._require_unchanged(wanted)
            values.append(value)
        if wanted is not None and wanted != self.pullback.reads:
            reads = self.pullback.reads
            values = [values[reads.index(k)] for k in wanted]
        return values

    def _freed(self) -> GradientError:
        return GradientError(
            f"backward through {self.plan.op.name}",
            "the values that it needs were freed by an earlier pass",
            hint="retain_graph=True in the earlier call keeps them",
            site=str(self.site),
        )

    def _require_unchanged(self, wanted: Sequence[int] | None) -> None:
        for k, (_, storage, version) in zip(self.pullback.reads, self.saved or (), strict=True):
            asked = wanted is None or k in wanted
            if asked and storage is not None and storage.version != version:
                raise self._changed(k, storage, version)

    def _changed(self, k: int, storage: Storage, version: int) -> InPlaceError:
        kind = self.plan.type if k == RESULT else self.plan.types[k]
        what = "the result" if k == RESULT else f"operand {k}"
        where = "" if storage.changed_at is None else f", changed at {storage.changed_at}"
        return InPlaceError(
            f"backward through {self.plan.op.name}",
            f"{what} of type {kind}, saved at {self.site}, was changed in place since{where}",
            expected=f"version {version}",
            got=f"version {storage.version}",
            hint="change a clone, or write x = x + y instead of x += y",
            site=str(self.site),
        )

    def free(self) -> None:
        """Drop the saved values."""
        self.saved = None

    def keep_own(self, storage: Storage) -> None:
        """Save copies of what lies in a storage that this call itself is about to overwrite."""
        self.saved = [
            (value.copy(), None, 0) if lies is storage else (value, lies, version)
            for value, lies, version in self.saved or ()
        ]

    def moved(self, old: Storage, new: Storage) -> None:
        """The result now lies in another storage, by a change in place."""
        if self.saved:
            self.saved = [
                (new.array, new, new.version) if storage is old else (array, storage, version)
                for array, storage, version in self.saved
            ]

    # --- what a user sees -----------------------------------------------------------------------

    def name(self) -> str:
        """The op's name."""
        return self.plan.op.name

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """Per operand the node that its cotangent goes to and which of its outputs is meant.

        None stands for operands without a gradient.
        """
        return tuple(map(_output_of, self.edges))

    @property
    def attrs(self) -> dict[str, Any]:
        """The op's attributes."""
        return dict(self.plan.attrs)

    def __getattr__(self, name: str) -> Any:
        # A convolution's node shows stride, padding, dilation, groups.
        if not name.startswith("_"):
            attrs = self.plan.attrs
            if name in attrs:
                return attrs[name]
        raise AttributeError(f"the record of {self.plan.op.name!r} has no attribute {name!r}")

    def register_hook(self, function: Callable[..., Any]) -> HookHandle:
        """Call ``function(grad_inputs, grad_outputs)`` after the rule; it may replace inputs."""
        return self.watched().after.add(function)

    def register_prehook(self, function: Callable[..., Any]) -> HookHandle:
        """Call ``function(grad_outputs)`` before the rule; it may replace them."""
        return self.watched().before.add(function)

    def __repr__(self) -> str:
        return f"<{self.plan.op.name}>"


def _output_of(edge: Edge) -> tuple[Any, int]:
    """A node and an output: what takes an output of a pack is not shown as a node."""
    if isinstance(edge, Record) and isinstance(edge.plan.types[0], TupleType):
        return edge.edges[0], edge.plan.attrs["index"]
    return edge, 0


def ghost(kind: Any) -> Any:
    """A value of a type, for a rule that does not read it: it takes no memory."""
    arrays: list[Any] = []
    for item in items_of(kind):
        shape: Any = item.shape
        arrays.append(np.broadcast_to(np.zeros((), item.dtype), shape))
    return Pack.of(arrays) if isinstance(kind, TupleType) else arrays[0]
