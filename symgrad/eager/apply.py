"""The front end of calls without a symbol: compute at once, and record what wants a gradient."""

# pyright: reportPrivateUsage=false  # the constructor of tensors, taken apart for speed
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.eager.plans import WEAK, OtherFrontEnd, Pack, Plan, find_plan, foreign
from symgrad.eager.pullbacks import RESULT
from symgrad.eager.records import Leaf, Record, Saved, orders
from symgrad.eager.tensor import Tensor
from symgrad.eager.views import mark_view
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
        key: list[Any] = [op]
        values: list[Any] = []
        edges: list[Any] | None = None
        for operand in operands:
            kind = type(operand)
            if kind in WEAK:
                key.append(kind)
                values.append(operand)
                continue
            try:
                value = operand.storage.array
                key += value.dtype, value.shape
            except AttributeError:
                value, known = foreign(op, operand)
                key += known
            values.append(value)
            if kind is not Tensor or operand._edge is not None or operand._extra is not None:
                edges = _edges(operands)
        plan = find_plan(op, values, key, attrs)
        if plan.changes:
            values = plan.admit(values)
        result = plan.run(*values)
    except OtherFrontEnd:
        return FRONT_ENDS.by_rank[SYMBOL_RANK](op, operands, attrs)
    except SymgradError as error:
        raise _placed(error) from None
    return _wrapped(plan, operands, values, result, edges)


def _edges(operands: Sequence[Any]) -> list[Any] | None:
    """Where cotangents go, per operand; None if nowhere."""
    edges: list[Any] = []
    wanted = False
    for operand in operands:
        edge = getattr(operand, "_edge", None)
        if edge.__class__ is not Leaf:  # what is no leaf may be a view of something changed
            edge = getattr(operand, "edge", None)
        edges.append(edge)
        wanted = wanted or edge is not None
    return edges if wanted else None


def _placed(error: SymgradError) -> SymgradError:
    take_constraints()
    site = here()
    if error.site is None and site is not None:
        error.site = str(site)
    return error


def _wrapped(
    plan: Plan,
    operands: Sequence[Any],
    values: Sequence[Any],
    result: Any,
    edges: list[Any] | None,
) -> Any:
    """The result as a tensor or pack; recorded, where a gradient is wanted."""
    mode = MODE.get()
    if mode & WATCHING:
        watch(plan, values, result)
    recorded = edges is not None and mode & RECORDING and plan.records
    if plan.several:
        result = Pack.of(result)
        if recorded:
            result.edge = _record(plan, operands, values, (result, None, 0), edges)
        return result
    if type(result) is not np.ndarray:
        result = np.asarray(result)
    tensor = _new(Tensor)
    tensor._edge, tensor._extra = None, None
    if plan.op.view:
        tensor.storage = storage = _shown(plan, operands, values, result, tensor)
    else:
        tensor.storage = storage = _new(Storage)
        storage.array, storage.version, storage.shared = result, 0, None
    if recorded:
        tensor._edge = _record(plan, operands, values, (result, storage, storage.version), edges)
    return tensor


_new = object.__new__  # constructors in Python would double the time of a small call


def _record(
    plan: Plan, operands: Sequence[Any], values: Sequence[Any], result: Saved, edges: Any
) -> Record:
    """The record of a call, as its constructor would make it."""
    mask, bit, fragile = 0, 1, plan.fragile
    for edge in edges:
        if edge is not None:
            mask |= bit
            fragile |= edge.fragile
        bit <<= 1
    record = _new(Record)
    record.plan, record.edges, record.mask, record.fragile = plan, edges, mask, fragile
    record.guarded = guarded = 0 if plan.live is None else plan.guarded(edges)
    pullback = None if guarded else plan.pullbacks.get(mask)
    record.pullback = pullback = pullback or plan.pullback(mask, guarded)
    record.saved = [
        result if k == RESULT else _saved(operands[k], values[k]) for k in pullback.reads
    ]
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


def watch(plan: Plan, values: Sequence[Any], result: Any) -> None:
    """Raise if a call made a NaN.

    Raises:
        AnomalyError: the result holds a NaN, the operands do not.
    """
    results = result if plan.several else (result,)
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
