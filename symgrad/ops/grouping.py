"""What functions of groups are made of: slices of an array, each with the number of its group."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, TraceError
from symgrad.ir.op import ZERO, Attrs, no_derivative, ops
from symgrad.ir.symbol import Symbol
from symgrad.ops.families import Array, nondifferentiable, opaque, reduction, require_kind
from symgrad.ops.moments import wide
from symgrad.ops.running import along_axis, delayed
from symgrad.types import Dim, Size, TensorType, float16, promote, require_equal

# --- numbers of groups ----------------------------------------------------------------------------


def _slots_type(ids: TensorType, *, count: Any, where: str, refuses: bool) -> TensorType:
    require_kind(where, ids.dtype, "integer or bool", "the numbers")
    return TensorType(ids.shape, "int64")


@nondifferentiable(type=_slots_type, reason="integer output", warns=False, namespace=None)
def slots(ids: Array, /, *, count: Any, where: str, refuses: bool = False) -> Array:
    """Numbers from 0 to below ``count``; all others become ``count``.

    Args:
        ids: integers.
        where: who is named in an error.
        refuses: whether a negative number is an error.

    >>> slots(np.array([0, 5, 2, -1]), count=3, where="segment_sum")
    Tensor([0, 3, 2, 3])
    """
    if refuses and np.any(ids < 0):
        raise ValueError(f"{where}: a negative number")
    fits = (ids >= 0) & (ids < count)
    return np.where(fits, ids, 0).astype(np.int64) + np.where(fits, 0, count)


@nondifferentiable(
    type=lambda ids, *, count: TensorType((count,), "int64"),
    reason="integer output",
    warns=False,
    namespace=None,
)
def occurrences(ids: Array, /, *, count: Any) -> Array:
    """How often each of the numbers from 0 to below ``count`` occurs.

    >>> occurrences(np.array([0, 2, 2]), count=4)
    Tensor([1, 0, 2, 0])
    """
    return np.bincount(ids.reshape(-1), minlength=count).astype(np.int64, copy=False)


def number_of_groups(where: str, argument: str, given: Any, ids: Any) -> Size:
    """How many groups there are; if not given, one more than the largest number.

    Raises:
        ArgumentError: no count. TraceError: it is not given, and the numbers are a symbol.
    """
    if isinstance(given, Dim):
        return given
    if given is None:
        if isinstance(ids, Symbol):
            problem = f"{argument} cannot be read off a symbol, which has no value yet"
            raise TraceError(where, problem, hint=f"give {argument}")
        values = np.asarray(ids)
        return max(int(values.max()) + 1, 0) if values.size else 0
    try:
        count = operator.index(given)
    except TypeError:
        count = -1
    if count < 0:
        raise ArgumentError(where, argument, expected="an int, 0 or more", got=repr(given))
    return count


# --- products within groups -----------------------------------------------------------------------


def _chained_type(x: TensorType, b: TensorType, starts: TensorType, *, reverse: bool) -> TensorType:
    for k, (m, n) in enumerate(zip(x.shape, b.shape, strict=True)):
        require_equal(m, n, "chained", f"sizes of axis {k}")
    return TensorType(b.shape, promote(x.dtype, b.dtype))


def _previous(s: Any, starts: Any) -> Any:
    """The one before in the same group, or 0."""
    return ops.where(per_row(starts, s.ndim), 0, delayed(s, 0))


def per_row(rows: Any, ndim: int) -> Any:
    """One value per row, stretched over the other axes of an array."""
    return ops.reshape(rows, (*rows.shape, *(1,) * (ndim - rows.ndim)))


def _link_vjp(ct: Any, s: Any, x: Any, b: Any, starts: Any, *, reverse: bool) -> Any:
    adjoint = chained(x, ct, starts, reverse=not reverse)
    return s * _previous(adjoint, starts) if reverse else adjoint * _previous(s, starts)


def _chained_jvp(tangents: Any, s: Any, args: Any, attrs: Attrs) -> Any:
    (dx, db, _), (x, _, starts) = tangents, args
    if dx is ZERO:
        return ZERO if db is ZERO else chained(x, db, starts, **attrs)
    if attrs["reverse"]:
        linked = ops.where(per_row(starts, s.ndim), 0, dx * s)
        width = [(0, 1)] + [(0, 0)] * (s.ndim - 1)
        push = ops.pad(linked, width)[along_axis(0, slice(1, None))]
    else:
        push = dx * _previous(s, starts)
    return chained(x, push if db is ZERO else db + push, starts, **attrs)


@opaque(
    type=_chained_type,
    vjp=(
        _link_vjp,
        lambda ct, s, x, b, starts, *, reverse: ops.chained(x, ct, starts, reverse=not reverse),
        no_derivative("boolean operand"),
    ),
    jvp=_chained_jvp,
    namespace=None,
)
def chained(x: Array, b: Array, starts: Array, /, *, reverse: bool) -> Array:
    """`recurrence` along the first axis that begins anew where ``starts`` is true.

    ``s[i] = b[i] + x[i] * s[i-1]``, or reversed ``s[i] = b[i] + x[i+1] * s[i+1]``; the product is
    left out where a chain begins, so nothing gets from one into the next, not even a NaN.

    Args:
        x, b: arrays of one shape.
        starts: booleans, one per row.

    >>> two = np.full(3, 2.0)
    >>> chained(two, np.ones(3), np.array([True, False, True]), reverse=False)
    Tensor([1., 3., 1.])
    """
    state = b.astype(np.result_type(x, b))
    for i in range(1, len(state)):
        to, source, link = (-1 - i, -i, -i) if reverse else (i, i - 1, i)
        if not starts[link]:
            state[to] += x[link] * state[source]
    return state


def _product_of_those_before(x: Any, starts: Any) -> Any:
    head = per_row(starts, x.ndim)
    running = chained(x, ops.where(head, x, 0), starts, reverse=False)
    return ops.where(head, 1, delayed(running, 0, 1))


def _product_of_others(x: Any, ids: Any) -> Any:
    """For each slice the product of all others of its group; no division: zeros are safe."""
    order = ops.argsort(ids)
    sorted_x, sorted_ids = ops.take(x, order, axis=0), ops.take(ids, order, axis=0)
    changes = sorted_ids != delayed(sorted_ids, 0, -1)
    before = _product_of_those_before(sorted_x, changes)
    backwards = ops.flip(sorted_ids, axis=0)
    ends = backwards != delayed(backwards, 0, -1)
    after = _product_of_those_before(ops.flip(sorted_x, axis=0), ends)
    return ops.take(before * ops.flip(after, axis=0), ops.argsort(order), axis=0)


def of_group(value: Any, ids: Any) -> Any:
    """For each slice what its group has."""
    return ops.take(value, ids, axis=0)


def grouped_type(x: TensorType, ids: TensorType, *, count: Any) -> TensorType:
    """A slice per group."""
    return TensorType((count, *x.shape[1:]), x.dtype)


def group_guard(i: int, predicate: Any, y: Any, args: Any, attrs: Attrs) -> Any:
    """A slice matters where its group does."""
    return of_group(predicate, args[1])


def _grouped_prod_jvp(tangents: Any, y: Any, args: Any, attrs: Attrs) -> Any:
    if tangents[0] is ZERO:
        return ZERO
    x, ids = args
    return grouped_sum(tangents[0] * _product_of_others(x, ids), ids, attrs["count"])


@reduction(
    type=grouped_type,
    vjp=(lambda ct, y, x, ids, *, count: of_group(ct, ids) * _product_of_others(x, ids),),
    jvp=_grouped_prod_jvp,
    guard=group_guard,
    namespace=None,
)
def grouped_prod(x: Array, ids: Array, /, *, count: Any) -> Array:
    """The product of the slices of each group; of none: 1.

    >>> grouped_prod(np.array([2.0, 3.0, 5.0]), np.array([0, 2, 0]), count=3)
    Tensor([10.,  1.,  3.])
    """
    whole = np.ones((count, *x.shape[1:]), x.dtype)
    np.multiply.at(whole, ids, x)
    return whole


def grouped_sum(x: Any, ids: Any, count: Size) -> Any:
    """The sum of the slices of each group; of none: 0."""
    layout = ("index", *((0, size, 1) for size in x.shape[1:]))
    total = ops.scatter_add_at([wide(x), ids], shape=(count, *x.shape[1:]), layout=layout)
    return ops.astype(total, float16) if x.dtype == float16 else total
