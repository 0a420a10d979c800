"""The front end of calls without a symbol: compute at once, and record where a gradient is wanted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from symgrad.eager.plans import OtherFrontEnd, Pack, Plan, plan_for
from symgrad.eager.records import Record, Saved
from symgrad.eager.tensor import Tensor, tensor_on
from symgrad.eager.views import mark_view
from symgrad.errors import AnomalyError, SymgradError
from symgrad.ir.late import late
from symgrad.ir.modes import MODE, RECORDING, WATCHING
from symgrad.ir.op import FRONT_ENDS, SYMBOL_RANK, TENSOR_RANK, Attrs, Op
from symgrad.ir.site import here
from symgrad.ir.storage import Storage, Window
from symgrad.types import is_inexact, take_constraints


def apply_eager(op: Op, operands: Sequence[Any], attrs: Attrs) -> Any:
    """Carry out a call without a symbol among its operands."""
    try:
        plan, values = plan_for(op, operands, attrs)
        result = plan.run(values)
    except OtherFrontEnd:
        return FRONT_ENDS.by_rank[SYMBOL_RANK](op, operands, attrs)
    except SymgradError as error:
        take_constraints()
        site = here()
        if error.site is None and site is not None:
            error.site = str(site)
        raise
    mode = MODE.get()
    if mode & WATCHING:
        watch(plan, values, result)
    if plan.several:
        return _packed(plan, operands, values, result, mode)
    if type(result) is not np.ndarray:
        result = np.asarray(result)
    if op.view:
        return _shown(plan, operands, values, result, mode)
    storage = Storage(result)
    tensor = tensor_on(storage)
    if mode & RECORDING and plan.carries:
        tensor._edge = _recorded(plan, operands, values, (result, storage, 0))  # pyright: ignore[reportPrivateUsage]
    return tensor


def _recorded(
    plan: Plan, operands: Sequence[Any], values: Sequence[Any], result: Saved
) -> Record | None:
    """The record of a call, if one of its operands requires a gradient."""
    edges: list[Any] = []
    mask, bit = 0, 1
    for operand, active in zip(operands, plan.active, strict=True):
        edge = operand.edge if active and isinstance(operand, (Tensor, Pack)) else None
        edges.append(edge)
        if edge is not None:
            mask |= bit
        bit <<= 1
    if not mask or plan.op.family == "nondifferentiable":
        return None
    saved = [_saved(operand, value) for operand, value in zip(operands, values, strict=True)]
    return Record(plan, edges, mask, saved, result, here())


def _saved(operand: Any, value: Any) -> Saved:
    storage = getattr(operand, "storage", None)
    if storage is None or storage.array is not value:  # it was cast, or nobody else has it
        return value, None, 0
    return value, storage, storage.version


def _packed(
    plan: Plan, operands: Sequence[Any], values: Sequence[Any], results: Any, mode: int
) -> Pack:
    pack = Pack.of(cast("tuple[Any, ...]", results))
    if mode & RECORDING and plan.carries:
        pack.edge = _recorded(plan, operands, values, (pack, None, 0))
    return pack


def _shown(
    plan: Plan, operands: Sequence[Any], values: Sequence[Any], result: Any, mode: int
) -> Tensor:
    """A result that may lie in the memory of the first operand."""
    source: Any = operands[0]
    if type(source) is Pack:
        storage = next(s for s in source.storages if s.array is result)
        tensor = tensor_on(storage)
    elif isinstance(source, Tensor) and np.may_share_memory(result, source.storage.array):
        storage = Window(result, source.storage)
        tensor = tensor_on(storage)
        if plan.op.family == "linear":
            recorded = bool(mode & RECORDING)
            mark_view(tensor, source, plan, tuple(values[1:]), recorded=recorded)
    else:
        storage = Storage(result)
        tensor = tensor_on(storage)
    if mode & RECORDING and plan.carries:
        saved = result, storage, storage.version
        tensor._edge = _recorded(plan, operands, values, saved)  # pyright: ignore[reportPrivateUsage]
    return tensor


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
