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
        shows: whether the result may lie in the memory of operand 0.
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
        "shows",
        "type",
        "types",
        "weak",
    )

    def __init__(
        self,
        op: Op,
        attrs: Attrs,
        types: tuple[Any, ...],
        casts: tuple[np.dtype[Any] | None, ...] | None,
        weak: np.dtype[Any] | None,
    ) -> None:
        self.op, self.attrs, self.types = op, attrs, types
        self.casts, self.weak = casts, weak
        self.changes = casts is not None or weak is not None
        self.type: Any = op.infer(types, attrs)
        self.several = isinstance(self.type, TupleType)
        inexact = any(is_inexact(item.dtype) for item in items_of(self.type))
        self.records = inexact and op.family != "nondifferentiable"
        self.live, self.shows = op.live, op.view
        bends = op.partials is not None and any(map(callable, op.partials))
        self.fragile = (PARTIAL if bends else 0) | (DOMAIN if op.restricts_domain else 0)
        self.run = _runner(op, attrs)
        self.pullbacks: dict[Any, Pullback] = {}

    def admit(self, values: list[Any]) -> list[Any]:
        """The operands as the kernel takes them: Python numbers in arrays, integers as floats."""
        if self.weak is not None:
            where, weak = self.op.name, self.weak
            values = [number(where, v, weak) if type(v) in WEAK else v for v in values]
        if self.casts is not None:
            pairs = zip(values, self.casts, strict=True)
            values = [v if cast is None else v.astype(cast) for v, cast in pairs]
        return values

    def guarded(self, edges: Sequence[Any]) -> int:
        """The operands, as bits, behind whose edges something asks for a guard."""
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


def _runner(op: Op, attrs: Attrs) -> Callable[..., Any]:
    """The kernel with its attributes, to be called on arrays."""
    kernel: Any = op.kernel
    if op.needs is not None:  # asked anew at each call, for its error
        kernel = lambda *values: op.run(values, attrs)  # noqa: E731
    elif op.variadic:
        kernel = lambda *values: op.kernel(list(values), **attrs)  # noqa: E731
    elif op.ufunc is not None and not attrs:
        kernel = op.ufunc
    elif attrs:
        kernel = partial(kernel, **attrs)
    return partial(quietly, kernel) if op.warns or op.restricts_domain else kernel


class OtherFrontEnd(Exception):
    """A name in a shape became a dimension while the call was looked at: it builds a symbol."""


# --- the table ------------------------------------------------------------------------------------

_KEPT = 20_000
_plans: dict[Any, Plan] = {}
when_default_changes(_plans.clear)
_known = frozenset(DTYPES.values())
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
        return _plans[key]
    except KeyError:
        plan = _new_plan(op, values, attrs)
        if len(_plans) >= _KEPT:
            _plans.clear()
        _plans[key] = plan
        return plan
    except TypeError:  # an attribute that cannot be looked up
        return _new_plan(op, values, attrs)


def foreign(op: Op, operand: Any) -> Any:
    """The value of what is no tensor."""
    kind = type(operand)
    if kind is Pack or (kind is np.ndarray and operand.dtype in _known):
        return operand
    if kind is Dim:
        raise OtherFrontEnd
    return values_of(op.name, operand)


def _new_plan(op: Op, values: list[Any], attrs: Attrs) -> Plan:
    weak = weak_dtype(op, values)
    arrays: list[Any] = [number(op.name, v, weak) if type(v) in WEAK else v for v in values]
    casts = None
    if op.integers == "float" and not all(is_inexact(v.dtype) for v in arrays):
        dtype = float_of(v.dtype for v in arrays)
        casts = tuple(None if is_inexact(v.dtype) else dtype for v in arrays)
    types = tuple(type_of(v) for v in arrays)
    if casts is not None:
        types = tuple(
            kind if cast is None else TensorType(kind.shape, cast)
            for kind, cast in zip(types, casts, strict=True)
        )
    if op.normalize is not None:
        attrs = op.normalize(list(types), attrs)
        front = FRONT_ENDS.choose((), attrs)
        if front is FRONT_ENDS.by_rank[SYMBOL_RANK]:
            raise OtherFrontEnd
    try:
        return Plan(op, attrs, types, casts, weak)
    except SymgradError:
        take_constraints()
        raise


def type_of(value: Any) -> Any:
    """The type of an array, or of a pack."""
    return value.type if isinstance(value, Pack) else TensorType(value.shape, value.dtype)


def number(where: str, value: Any, dtype: np.dtype[Any] | None) -> Array:
    """A Python number as an array in an element type that the other operands gave it."""
    if dtype is not None and type(value) is float and dtype.char == "d":
        return np.array(value)
    return values_of(where, value, dtype)
