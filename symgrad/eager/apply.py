"""The front end of calls without a symbol: compute at once, and record what wants a gradient."""

# pyright: reportPrivateUsage=false  # the constructor of tensors, taken apart for speed
from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import Any

import numpy as np

from symgrad.eager.plans import WEAK, OtherFrontEnd, Pack, Plan, find_plan, foreign
from symgrad.eager.records import Record, Saved, orders
from symgrad.eager.tensor import Tensor
from symgrad.eager.views import EXTRA, mark_view
from symgrad.errors import AnomalyError, SymgradError
from symgrad.ir.late import late
from symgrad.ir.modes import MODE, RECORDING, WATCHING
from symgrad.ir.op import FRONT_ENDS, SYMBOL_RANK, TENSOR_RANK, Attrs, Op
from symgrad.ir.site import here, place
from symgrad.ir.storage import Storage, Window
from symgrad.types import is_inexact, take_constraints


def apply_eager(op: Op, operands: Sequence[Any], attrs: Attrs) -> Any:
    """Carry out a call without a symbol among its operands."""
    try:
        values: list[Any] = []
        name: list[Any] = [op]
        wanted = False  # whether an operand may require a gradient
        for operand in operands:
            kind = type(operand)
            if kind is Tensor:
                value = operand.storage.array
                name += value.dtype, value.shape
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
            values = plan.admit(values)
        result = plan.run(*values)
    except OtherFrontEnd:
        return FRONT_ENDS.by_rank[SYMBOL_RANK](op, operands, attrs)
    except SymgradError as error:
        raise _placed(error) from None
    if plan.several:
        return _packed(plan, operands, values, result)
    return _wrapped(plan, operands, values, result, wanted)


_new = object.__new__  # constructors in Python would double the time of a small call


def _wrapped(
    plan: Plan, operands: Sequence[Any], values: Sequence[Any], result: Any, wanted: bool
) -> Tensor:
    """The result as a tensor; recorded, where a gradient is wanted."""
    tensor = _new(Tensor)
    tensor._edge = None
    if plan.shows:
        tensor.storage = storage = _shown(plan, operands, values, np.asarray(result), tensor)
    else:
        tensor.storage = storage = _new(Storage)
        storage.array = result if type(result) is np.ndarray else np.asarray(result)
        storage.version, storage.shared = 0, None
    mode = MODE.get()
    if wanted and mode & RECORDING and plan.records:
        record = _record(plan, operands, values, (storage.array, storage, storage.version))
        if record is not None:
            tensor.edge = record
    if mode & WATCHING:
        watch(plan, values, (result,))
    return tensor


def _packed(plan: Plan, operands: Sequence[Any], values: Sequence[Any], results: Any) -> Pack:
    """The results of an op that has several; recorded, where a gradient is wanted."""
    pack = Pack.of(results)
    mode = MODE.get()
    if mode & RECORDING and plan.records:
        pack.edge = _record(plan, operands, values, (pack, None, 0))
    if mode & WATCHING:
        watch(plan, values, results)
    return pack


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
    plan: Plan, operands: Sequence[Any], values: Sequence[Any], result: Saved
) -> Record | None:
    """The record of a call, as its constructor would make it; None if nothing wants a gradient."""
    edges: list[Any] = []
    mask, bit, fragile = 0, 1, plan.fragile
    for operand in operands:
        edge = getattr(operand, "_edge", None)
        edges.append(edge)
        if edge is not None:
            mask |= bit
            fragile |= edge.fragile
        bit += bit
    if not mask:
        return None
    if fragile & EXTRA:
        edges = [getattr(operand, "edge", None) for operand in operands]
        mask = sum(1 << i for i, edge in enumerate(edges) if edge is not None)
        if not mask:
            return None
        fragile = plan.fragile | reduce(or_, [e.fragile for e in edges if e is not None])
    record = _new(Record)
    record.plan, record.edges, record.mask, record.fragile = plan, edges, mask, fragile
    record.guarded = guarded = 0 if plan.live is None else plan.guarded(edges)
    pullback = None if guarded else plan.pullbacks.get(mask)
    record.pullback = pullback = pullback or plan.pullback(mask, guarded)
    saved: list[Saved] = []
    for k in pullback.reads:
        saved.append(_saved(operands[k], values[k]) if k >= 0 else result)  # noqa: PERF401  # faster
    record.saved = saved
    record.watchers = None
    record.order = next(orders)
    record.place = place(5)
    return record


def _saved(operand: Any, value: Any) -> Saved:
    storage = getattr(operand, "storage", None)
    if storage is None or storage.array is not value:  # it was cast, or nobody else has it
        return value, None, 0
    return value, storage, storage.version


def _shown(
    plan: Plan, operands: Sequence[Any], values: Sequence[Any], result: Any, tensor: Tensor
) -> Storage:
    """The storage of a result that may lie in the memory of the first operand."""
    source: Any = operands[0]
    if type(source) is Pack:
        return next(s for s in source.storages if s.array is result)
    if not isinstance(source, Tensor) or not np.may_share_memory(result, source.storage.array):
        return Storage(result)
    if plan.op.family == "linear":
        recorded = bool(MODE.get() & RECORDING)
        mark_view(tensor, source, plan, tuple(values[1:]), recorded=recorded)
    return Window(result, source.storage)


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


FRONT_ENDS.by_rank[TENSOR_RANK] = apply_eager
late.apply_eager = apply_eager
