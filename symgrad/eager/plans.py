"""Plans: how a call on values is carried out, worked out once per op, types and attributes.

The first call checks what a symbol's construction would check. The plan that it leaves behind holds
all that depends on types alone, so that further calls look it up and run the kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgrad.eager.pullbacks import Pullback
from symgrad.errors import SymgradError
from symgrad.ir.interning import attribute_key
from symgrad.ir.lifting import float_of, weak_dtype
from symgrad.ir.op import FRONT_ENDS, SYMBOL_RANK, TENSOR_RANK, Attrs, Op
from symgrad.ir.quiet import quietly
from symgrad.ir.storage import Storage
from symgrad.ops.conversion import values_of
from symgrad.transform.guards import bends
from symgrad.types import (
    DTYPES,
    Dim,
    TensorType,
    TupleType,
    is_inexact,
    items_of,
    take_constraints,
    when_default_changes,
)

Array = NDArray[Any]

DOMAIN, PARTIAL = 1, 2
"""What a guard may have to protect: restricted domains, partials that may be infinite."""


class Pack:
    """The outputs of an op that has several; `item` takes it apart.

    Attributes:
        storages: one per output.
    """

    __slots__ = ("_edge", "storages")
    __front_rank__ = TENSOR_RANK

    def __init__(self, storages: Sequence[Storage], edge: Any = None) -> None:
        self.storages, self._edge = storages, edge

    @property
    def edge(self) -> Any:
        """Where cotangents go: the record of the call, or nowhere."""
        return self._edge

    @edge.setter
    def edge(self, record: Any) -> None:
        self._edge = record

    @classmethod
    def of(cls, arrays: Sequence[Array]) -> Pack:
        return cls([Storage(np.asarray(array)) for array in arrays])

    def __getitem__(self, index: int) -> Array:
        return self.storages[index].array

    @property
    def version(self) -> int:
        """How often any of them was changed in place."""
        return sum(storage.version for storage in self.storages)

    @property
    def changed_at(self) -> Any:
        """The line of the last change of one of them, if there was one."""
        found = [s.changed_at for s in self.storages if s.changed_at is not None]
        return found[-1] if found else None

    @property
    def type(self) -> TupleType:
        """The types of all outputs."""
        return TupleType(TensorType(s.array.shape, s.array.dtype) for s in self.storages)


class Plan:
    """How calls of one op on operands of given types are carried out.

    Attributes:
        op, attrs: what is applied; the attributes in their normal form.
        types: of the operands, after casts.
        type: of the result.
        records: whether a derivative can pass through, so that calls are recorded.
        live: the op's selections: see `symgrad.ir.op.Op.live`.
        fragile: what a guard may have to protect here, as bits.
        several: whether the result is a pack.
        special: whether the result is more than a new array that may be recorded.
        pullbacks: those that were asked for, by their masks.
        changes: whether operands are changed before the kernel takes them: see `admit`.
        run: ``run(*arrays)`` gives the result: an array, or a tuple of arrays.
    """

    __slots__ = (
        "attrs",
        "carries",
        "casts",
        "changes",
        "fragile",
        "live",
        "op",
        "pullbacks",
        "records",
        "run",
        "several",
        "special",
        "type",
        "types",
        "weak",
        "weak_at",
    )

    def __init__(
        self,
        op: Op,
        attrs: Attrs,
        types: tuple[Any, ...],
        casts: tuple[tuple[int, np.dtype[Any]], ...],
        weak: np.dtype[Any] | None,
        weak_at: tuple[int, ...],
    ) -> None:
        self.op, self.attrs, self.types = op, attrs, types
        self.casts, self.weak, self.weak_at = casts, weak, weak_at
        self.changes = bool(casts or weak_at)
        self.type: Any = op.infer(types, attrs)
        self.several = isinstance(self.type, TupleType)
        inexact = any(is_inexact(item.dtype) for item in items_of(self.type))
        self.records = inexact and op.family != "nondifferentiable"
        self.live = op.live
        self.special = self.several or op.view or not self.records
        self.fragile = (PARTIAL if bends(op) else 0) | (DOMAIN if op.restricts_domain else 0)
        self.run = _runner(op, attrs)
        self.pullbacks: dict[Any, Pullback] = {}

    def admit(self, values: list[Any]) -> None:
        """Make the operands what the kernel takes: numbers arrays, integers floats."""
        for i in self.weak_at:
            values[i] = number(self.op.name, values[i], self.weak)
        for i, cast in self.casts:
            values[i] = values[i].astype(cast)

    def inherited(self, edges: Sequence[Any]) -> int:
        """What a guard may have to protect here or behind the edges, as bits."""
        fragile = self.fragile
        for edge in edges:
            if edge is not None:
                fragile |= edge.fragile
        return fragile

    def guarded(self, edges: Sequence[Any]) -> int:
        """The operands, as bits, behind whose edges something asks for a guard made here."""
        if self.live is None:
            return 0
        return sum(1 << i for i, edge in enumerate(edges) if edge is not None and edge.fragile)

    def pullback(self, mask: int, guarded: int) -> Pullback:
        """How cotangents pass to the operands of ``mask``.

        Args:
            mask: bit ``i`` is set where operand ``i`` wants a cotangent.
            guarded: the same for operands whose guard will be asked for.
        """
        key = (mask, guarded) if guarded else mask
        found = self.pullbacks.get(key)
        if found is None:
            found = self.pullbacks[key] = Pullback(self, mask, guarded)
        return found


def _run(op: Op, attrs: Attrs, *values: Any) -> Any:
    return op.run(values, attrs)


def _runner(op: Op, attrs: Attrs) -> Callable[..., Any]:
    """The kernel with its attributes, to be called on arrays."""
    kernel: Callable[..., Any] = op.kernel
    if op.needs is not None or op.variadic:
        # The extra is asked for anew at each call; several operands come as a list.
        kernel = partial(_run, op, attrs)
    elif op.ufunc is not None and not attrs:
        kernel = op.ufunc
    elif attrs:
        kernel = partial(kernel, **attrs)
    return partial(quietly, kernel) if op.warns or op.restricts_domain else kernel


class OtherFrontEnd(Exception):
    """A symbol or dimension was met while the call was looked at: it computes nothing."""


# --- the table ------------------------------------------------------------------------------------

_KEPT = 20_000
PLANS: dict[Any, Plan] = {}
when_default_changes(PLANS.clear)
_known = frozenset(DTYPES.values())
_double = np.dtype("float64")
WEAK = frozenset((bool, int, float, complex))


def find_plan(op: Op, values: list[Any], name: list[Any], attrs: Attrs) -> Plan:
    """The plan of a call.

    Args:
        values: arrays, packs and Python numbers.
        name: the op and what tells the types of the values.

    Raises:
        what the construction of a symbol would raise, and OtherFrontEnd.
    """
    if attrs and attrs is not op.signature.defaults:
        name += map(attribute_key, attrs.values())
    key = tuple(name)
    try:
        return PLANS[key]
    except KeyError:
        plan = _new_plan(op, values, attrs)
        if len(PLANS) >= _KEPT:
            PLANS.clear()
        PLANS[key] = plan
        return plan
    except TypeError:  # an attribute that cannot be looked up
        return _new_plan(op, values, attrs)


def foreign(op: Op, operand: Any) -> Any:
    """The value of what is no tensor."""
    kind = type(operand)  # pyright: ignore[reportUnknownVariableType]
    if kind is Pack or (kind is np.ndarray and operand.dtype in _known):
        return operand
    if kind is Dim or getattr(operand, "__front_rank__", 0) > TENSOR_RANK:
        raise OtherFrontEnd
    return values_of(op.name, operand)


def _new_plan(op: Op, values: list[Any], attrs: Attrs) -> Plan:
    weak = weak_dtype(op, values)
    weak_at = tuple(i for i, v in enumerate(values) if type(v) in WEAK)
    arrays: list[Any] = [number(op.name, v, weak) if type(v) in WEAK else v for v in values]
    types = [type_of(v) for v in arrays]
    casts: list[tuple[int, np.dtype[Any]]] = []
    if op.integers == "float" and not all(is_inexact(kind.dtype) for kind in types):
        dtype = float_of(kind.dtype for kind in types)
        casts = [(i, dtype) for i, kind in enumerate(types) if not is_inexact(kind.dtype)]
        for i, cast in casts:
            types[i] = TensorType(types[i].shape, cast)
    if op.normalize is not None:
        attrs = op.normalize(types, attrs)
        front = FRONT_ENDS.choose((), attrs)
        if front is FRONT_ENDS.by_rank[SYMBOL_RANK]:
            raise OtherFrontEnd
    try:
        return Plan(op, attrs, tuple(types), tuple(casts), weak, weak_at)
    except SymgradError:
        take_constraints()
        raise


def new_plan(op: Op, types: Sequence[Any], attrs: Attrs) -> Plan:
    """A plan for operands of exactly these types, with attributes in their normal form."""
    return Plan(op, attrs, tuple(types), (), None, ())


def type_of(value: Any) -> Any:
    """The type of an array, or of a pack."""
    return value.type if isinstance(value, Pack) else TensorType(value.shape, value.dtype)


def number(where: str, value: Any, dtype: np.dtype[Any] | None) -> Array:
    """A Python number as an array in an element type that the other operands gave it."""
    if type(value) is float and dtype is _double:
        return np.array(value)
    return values_of(where, value, dtype)
