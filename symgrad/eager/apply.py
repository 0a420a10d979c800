"""The front end of calls without a symbol: compute at once, and record what wants a gradient."""

# The constructor of tensors is taken apart here, for speed.
# pyright: reportPrivateUsage=false
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.eager.plans import WEAK, OtherFrontEnd, Pack, Plan, find_plan, foreign
from symgrad.eager.records import Record, Saved, orders
from symgrad.eager.tensor import Tensor, tensor_on
from symgrad.eager.views import EXTRA, mark_view
from symgrad.errors import AnomalyError, SymgradError
from symgrad.ir.late import late
from symgrad.ir.modes import MODE, RECORDING, TRACING, WATCHING
from symgrad.ir.op import FRONT_ENDS, OPS, SYMBOL_RANK, TENSOR_RANK, Attrs, Nothing, Op
from symgrad.ir.site import here, place
from symgrad.ir.storage import Storage, Window
from symgrad.types import is_inexact, take_constraints

tensors = FRONT_ENDS.tensors


def apply_eager(op: Op, operands: Sequence[Any], attrs: Attrs) -> Any:
    """Carry out a call without a symbol among its operands."""
    values: list[Any] = []
    name: list[Any] = [op]  # and what tells the types of the values
    wanted = False  # whether an operand may require a gradient
    try:
        for operand in operands:
            kind = type(operand)  # pyright: ignore[reportUnknownVariableType]
            if kind in tensors:
                value = operand.storage.array
                name.append(value.dtype)
                name.append(value.shape)
                if operand._edge is not None:
                    wanted = True
            elif kind in WEAK:
                value = operand
                name.append(kind)
            else:
                value = _value_of(op, operand, name)
                wanted = True
            values.append(value)
        plan = find_plan(op, values, name, attrs)
        if plan.changes:
            plan.admit(values)
        result = plan.run(*values)
    except OtherFrontEnd:
        return FRONT_ENDS.choose(operands, attrs, least=SYMBOL_RANK)(op, operands, attrs)
    except SymgradError as error:
        raise _placed(error) from None
    if MODE.get() != RECORDING or plan.special:
        return _wrapped(plan, operands, values, result, wanted)
    tensor = _new(Tensor)
    tensor.storage = storage = _new(Storage)
    if type(result) is not np.ndarray:
        result = np.asarray(result)
    storage.array, storage.version, storage.shared = result, 0, None
    tensor._edge = (wanted and _record(plan, operands, values, result, storage)) or None
    return tensor


_new = object.__new__  # constructors in Python would double the time of a small call


def carry_out(plan: Plan, operands: Sequence[Any]) -> Any:
    """A call of a known plan, on tensors and packs of its types."""
    values = [o.storage.array if type(o) is not Pack else o for o in operands]
    try:
        result = plan.run(*values)
    except SymgradError as error:
        raise _placed(error) from None
    wanted = any(o._edge is not None for o in operands)
    if MODE.get() != RECORDING or plan.special:
        return _wrapped(plan, operands, values, result, wanted)
    storage = Storage(result if type(result) is np.ndarray else np.asarray(result))
    edge = _record(plan, operands, values, storage.array, storage) if wanted else None
    return tensor_on(storage, edge)


def _wrapped(
    plan: Plan, operands: Sequence[Any], values: Sequence[Any], result: Any, wanted: bool
) -> Any:
    """The result of any call as a tensor or pack."""
    mode = MODE.get()
    if mode & TRACING and any(getattr(o, "edge", None) is not None for o in operands):
        # A leaf met while tracing is a variable of the graph.
        return FRONT_ENDS.by_rank[SYMBOL_RANK](plan.op, operands, plan.attrs)
    if mode & WATCHING:
        watch(plan, values, result if plan.several else (result,))
    recorded = wanted and mode & RECORDING and plan.records
    if plan.several:
        pack = Pack.of(result)
        if recorded:  # what is saved must not know the record: that would be a cycle
            saved = Pack(pack.storages)
            pack.edge = _record(plan, operands, values, saved, saved)
        return pack
    tensor = tensor_on(None)
    array = np.asarray(result)
    if plan.op.view:
        tensor.storage = _shown(plan, operands, values, array, tensor)
    else:
        tensor.storage = Storage(array)
    if recorded:
        record = _record(plan, operands, values, array, tensor.storage)
        if record is not None:
            tensor.edge = record
    return tensor


def _value_of(op: Op, operand: Any, name: list[Any]) -> Any:
    """The value of an operand of another class, and into ``name`` what tells its type."""
    value = operand.storage.array if isinstance(operand, Tensor) else foreign(op, operand)
    if type(operand) is Pack:
        name.append(operand.type)
    else:
        name += value.dtype, value.shape
    return value


def _placed(error: SymgradError) -> SymgradError:
    take_constraints()
    site = here()
    if error.site is None and site is not None:
        error.site = str(site)
    return error


def _record(
    plan: Plan, operands: Sequence[Any], values: Sequence[Any], result: Any, storage: Any
) -> Record | None:
    """The record of a call, as its constructor would make it; None if nothing wants a gradient."""
    edges: list[Any] = []
    mask, bit, fragile = 0, 1, plan.fragile
    for operand in operands:
        edge = operand._edge if type(operand) in tensors else getattr(operand, "_edge", None)
        edges.append(edge)
        if edge is not None:
            mask |= bit
            fragile |= edge.fragile
        bit += bit
    if fragile & EXTRA:
        edges = [getattr(operand, "edge", None) for operand in operands]
        mask = sum(1 << i for i, edge in enumerate(edges) if edge is not None)
        fragile = plan.inherited(edges)
    if not mask:
        return None
    guarded = 0 if plan.live is None else plan.guarded(edges)
    pullback = None if guarded else plan.pullbacks.get(mask)
    if pullback is None:
        pullback = plan.pullback(mask, guarded)
    saved: list[Saved] = []
    for k in pullback.reads:
        if k < 0:
            saved.append((result, storage, 0 if storage is None else storage.version))
        elif type(operands[k]) in tensors and not plan.changes:
            source = operands[k].storage
            saved.append((values[k], source, source.version))
        else:
            saved.append(_saved(operands[k], values[k]))
    record = _new(Record)
    record.pullback, record.edges, record.fragile, record.saved = pullback, edges, fragile, saved
    record.order, record.place, record.watchers = next(orders), place(4), None
    return record


def _saved(operand: Any, value: Any) -> Saved:
    source = getattr(operand, "storage", None)
    if source is None or source.array is not value:  # nobody else has it
        return value, None, 0
    return value, source, source.version


def _shown(
    plan: Plan, operands: Sequence[Any], values: Sequence[Any], result: Any, tensor: Tensor
) -> Storage:
    """The storage of a result that may lie in the memory of the first operand."""
    source: Any = operands[0]
    if type(source) is Pack:
        return next(s for s in source.storages if s.array is result)
    if not isinstance(source, Tensor) or not np.may_share_memory(result, source.storage.array):
        return Storage(result)
    if not _forgets(plan.op):
        recorded = bool(MODE.get() & RECORDING)
        mark_view(tensor, source, plan, tuple(values[1:]), recorded=recorded)
    return Window(result, source.storage)


def _forgets(op: Op) -> bool:
    """Whether no derivative passes: then a view has no part in its operand's history."""
    return op.partials is not None and all(isinstance(p, Nothing) for p in op.partials)


def watch(plan: Plan, values: Sequence[Any], results: Sequence[Any]) -> None:
    """Raise if a call made a NaN.

    Raises:
        AnomalyError: the result holds a NaN, the operands do not.
    """
    if any(map(_has_nan, results)) and not any(map(_has_nan, values)):
        raise AnomalyError(
            plan.op.name,
            "the result is NaN, the operands are not",
            got=", ".join(map(str, plan.types)),
            site=str(here()),
        )


def _has_nan(value: Any) -> bool:
    if isinstance(value, Pack):
        return any(_has_nan(s.array) for s in value.storages)
    return is_inexact(value.dtype) and bool(np.any(np.isnan(value)))


def _operator(name: str, *, swapped: bool = False) -> Any:
    """The method of an arithmetic operator: it calls the front end without a detour."""
    op = OPS[name]
    attrs = op.signature.defaults

    def method(self: Tensor, other: Any) -> Any:
        return apply_eager(op, (other, self) if swapped else (self, other), attrs)

    return method


_ARITHMETIC = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "pow": "pow",
    "matmul": "matmul",
}
for _short, _name in _ARITHMETIC.items():
    if _name in OPS:  # what is composed of others goes the usual way
        setattr(Tensor, f"__{_short}__", _operator(_name))
        setattr(Tensor, f"__r{_short}__", _operator(_name, swapped=True))

FRONT_ENDS.by_rank[TENSOR_RANK] = apply_eager
late.apply_eager = apply_eager
