"""Constant folding, bounded: what depends on nothing but constants is computed while building.

The reference kernel computes, so a folded value is bit for bit the one that the run would give. A
kernel that raises is left alone: the error belongs to the run.
"""

from __future__ import annotations

import weakref
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgrad.errors import SymgradError
from symgrad.ir.op import Attrs, Op
from symgrad.ir.symbol import CONSTANT, INTERNED_CONSTANT, Symbol, constant_of
from symgrad.types import TensorType, take_constraints

SMALL = INTERNED_CONSTANT
"""Results of up to so many elements are always folded."""

LARGEST = 1024
"""Larger results are never folded; between the bounds, only where they shrink the operands."""

_large: weakref.WeakValueDictionary[Any, Symbol] = weakref.WeakValueDictionary()
"""Folded constants beyond the size that interning compares by value, by type and bytes."""


def fold(op: Op, args: Sequence[Symbol], attrs: Attrs, keep: Collection[Symbol]) -> Symbol | None:
    """The constant that ``op(*args, **attrs)`` is, or None.

    Args:
        keep: symbols that are not to be taken for their values.
    """
    values = _values(op, args, keep)
    if values is None:
        return None
    kind = _bounded_type(op, args, attrs)
    if kind is None:
        return None
    try:
        with np.errstate(all="ignore"):
            # A copy: the kernel may return a view, and a constant owns its array.
            result = np.array(op.run(values, attrs), order="C")
    except Exception:  # whatever a kernel raises, it raises again when it runs
        return None
    if result.dtype != kind.dtype or result.shape != kind.shape:
        return None
    return _constant(kind, result)


def _values(op: Op, args: Sequence[Symbol], keep: Collection[Symbol]) -> list[NDArray[Any]] | None:
    """The operands' values, if all are known."""
    if not args and op.family == "leaf":
        return None
    values: list[NDArray[Any]] = []
    for arg in args:
        if arg.op is CONSTANT and arg not in keep:
            values.append(arg.payload)
        elif arg.op.name == "filled" and _is_small(arg.type, SMALL):
            values.append(arg.op.run((), arg.attrs))
        else:
            return None
    return values


def _bounded_type(op: Op, args: Sequence[Symbol], attrs: Attrs) -> TensorType | None:
    """The result's type, if the result is small enough to keep."""
    try:
        kind = op.infer([a.type for a in args], attrs)
    except SymgradError:
        take_constraints()
        return None
    # An op of several outputs has another kind of type.
    if type(kind) is not TensorType or take_constraints():
        return None
    if _is_small(kind, 1 if op.name == "filled" else SMALL):
        return kind
    shrinks = _is_small(kind, LARGEST) and kind.size <= sum(
        a.payload.size for a in args if a.op is CONSTANT
    )
    return kind if shrinks else None


def _is_small(kind: TensorType, bound: int) -> bool:
    size = kind.size
    return type(size) is int and size <= bound


def _constant(kind: TensorType, array: NDArray[Any]) -> Symbol:
    if array.size <= INTERNED_CONSTANT:
        return constant_of(array)
    key = (kind, array.tobytes())
    known = _large.get(key)
    if known is None:
        known = _large[key] = constant_of(array)
    return known
