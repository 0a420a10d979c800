"""Plans: how a call on values is carried out, worked out once per op, types and attributes.

The first call checks what a symbol's construction would check. The plan that it leaves behind holds
all that depends on types alone, so that further calls look it up and run the kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

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
"""What a guard may have to protect: ops that restrict their domain, partials that may be infinite."""


class Pack:
    """The outputs of an op that has several; `item` takes it apart.

    Attributes:
        storages: one per output.
        edge: the record of the call, or None.
    """

    __slots__ = ("edge", "storages")
    __front_rank__ = TENSOR_RANK

    def __init__(self, storages: Sequence[Storage]) -> None:
        self.storages, self.edge = storages, cast("Any", None)

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
        carries: whether a derivative can pass through the result.
        active: per operand, whether one can pass through it.
        fragile: what a guard may have to protect here, as bits.
        several: whether the result is a pack.
        run: ``run(arrays)`` gives the result: an array, or a tuple of arrays.
    """

    __slots__ = (
        "_pullbacks",
        "active",
        "attrs",
        "carries",
        "casts",
        "fragile",
        "op",
        "run",
        "several",
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
        self.type: Any = op.infer(types, attrs)
        self.several = isinstance(self.type, TupleType)
        self.carries = any(is_inexact(item.dtype) for item in items_of(self.type))
        self.active = tuple(any(is_inexact(i.dtype) for i in items_of(kind)) for kind in types)
        bends = op.partials is not None and any(map(callable, op.partials))
        self.fragile = (PARTIAL if bends else 0) | (DOMAIN if op.restricts_domain else 0)
        self.run = _runner(op, attrs)
        self._pullbacks: dict[tuple[int, int], Pullback] = {}

    def pullback(self, mask: int, guarded: int) -> Pullback:
        """How cotangents pass to the operands of ``mask``.

        Args:
            mask: bit ``i`` is set where operand ``i`` wants a cotangent.
            guarded: the same for operands whose guard will be asked for.
        """
        key = mask, guarded
        found = self._pullbacks.get(key)
        if found is None:
            found = self._pullbacks[key] = Pullback(self, mask, guarded)
        return found


def _runner(op: Op, attrs: Attrs) -> Callable[[list[Any]], Any]:
    if op.needs is not None:  # asked anew at each call, for its error
        return lambda values: quietly(op.run, values, attrs)
    kernel, quiet = op.kernel, op.warns or op.restricts_domain
    if op.ufunc is not None and not attrs:
        kernel = op.ufunc
    if op.variadic:
        if quiet:
            return lambda values: quietly(lambda: kernel(list(values), **attrs))
        return lambda values: kernel(list(values), **attrs)
    if attrs:
        if quiet:
            return lambda values: quietly(lambda: kernel(*values, **attrs))
        return lambda values: kernel(*values, **attrs)
    if quiet:
        return lambda values: quietly(kernel, *values)
    return lambda values: kernel(*values)


class OtherFrontEnd(Exception):
    """A name in a shape became a dimension while the call was looked at: it builds a symbol."""


# --- the table ------------------------------------------------------------------------------------

_KEPT = 20_000
_plans: dict[Any, Plan] = {}
when_default_changes(_plans.clear)
_known = frozenset(DTYPES.values())
WEAK = (bool, int, float, complex)


def plan_for(op: Op, operands: Sequence[Any], attrs: Attrs) -> tuple[Plan, list[Any]]:
    """The plan of a call, and the arrays of its operands as the kernel takes them.

    Args:
        operands: tensors, packs, arrays and numbers.

    Raises:
        what the construction of a symbol would raise, and OtherFrontEnd.
    """
    key: list[Any] = [op]
    values: list[Any] = []
    for operand in operands:
        kind = type(operand)
        if kind in WEAK:
            key.append(kind)
            values.append(operand)
            continue
        if kind is np.ndarray:
            array = operand if operand.dtype in _known else values_of(op.name, operand)
        elif kind is Pack:
            key.append(tuple([(s.array.dtype, s.array.shape) for s in operand.storages]))
            values.append(operand)
            continue
        elif kind is Dim:
            raise OtherFrontEnd
        else:
            storage = getattr(operand, "storage", None)
            array = values_of(op.name, operand) if storage is None else storage.array
        key.append(array.dtype)
        key.append(array.shape)
        values.append(array)
    if attrs and attrs is not op.signature.defaults:
        key.extend(map(attribute_key, attrs.values()))
    name: Any = tuple(key)
    try:
        plan = _plans.get(name)
    except TypeError:  # an attribute that cannot be looked up
        name, plan = None, None
    if plan is None:
        plan = _new_plan(op, values, attrs)
        if name is not None:
            if len(_plans) >= _KEPT:
                _plans.clear()
            _plans[name] = plan
    if plan.weak is not None:
        weak, where = plan.weak, op.name
        values = [number(where, v, weak) if type(v) in WEAK else v for v in values]
    if plan.casts is not None:
        values = [
            v if cast is None else v.astype(cast)
            for v, cast in zip(values, plan.casts, strict=True)
        ]
    return plan, values


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
