"""Sums, products, means and extremes of segments: of slices with the same number.

Numbers outside of the segments drop their slices, whatever these hold; a segment without slices has
the result of nothing. Of equal extremes each has an even share of the slope, as in `max`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.errors import ShapeError
from symgrad.ir.op import ZERO, Attrs, ops
from symgrad.ops.families import Array, composite, reduction, require_kind
from symgrad.ops.grouping import (
    group_guard,
    grouped_prod,
    grouped_sum,
    grouped_type,
    number_of_groups,
    occurrences,
    of_group,
    per_row,
    slots,
)
from symgrad.ops.interpolation import count_of
from symgrad.ops.movement import count
from symgrad.ops.running import summed_dtype
from symgrad.types import (
    Size,
    TensorType,
    default_float,
    float16,
    float32,
    is_inexact,
    require_equal,
)

# --- extremes -------------------------------------------------------------------------------------


def _reached(y: Any, x: Any, ids: Any) -> Any:
    at = x == of_group(y, ids)
    return at | ops.isnan(x) if is_inexact(x.dtype) else at


def _extreme_vjp(ct: Any, y: Any, x: Any, ids: Any, *, count: Any, smallest: bool) -> Any:
    at = _reached(y, x, ids)
    ties = grouped_sum(ops.astype(at, ct.dtype), ids, count)
    return ops.where(at, of_group(ct, ids) / of_group(ties, ids), 0)


def _extreme_jvp(tangents: Any, y: Any, args: Any, attrs: Attrs) -> Any:
    if tangents[0] is ZERO:
        return ZERO
    (x, ids), count = args, attrs["count"]
    at = _reached(y, x, ids)
    ties = grouped_sum(ops.astype(at, y.dtype), ids, count)
    total = grouped_sum(ops.where(at, tangents[0], 0), ids, count)
    return total / ops.where(ties == 0, 1, ties)


def _is_live(y: Any, x: Any, ids: Any, *, count: Any, smallest: bool) -> Any:
    return _reached(y, x, ids)


def _extreme_type(x: TensorType, ids: TensorType, *, count: Any, smallest: bool) -> TensorType:
    require_kind("grouped_extreme", x.dtype, "real or bool")
    return grouped_type(x, ids, count=count)


@reduction(
    type=_extreme_type,
    vjp=(_extreme_vjp,),
    jvp=_extreme_jvp,
    guard=group_guard,
    live=(_is_live, None),
    namespace=None,
)
def grouped_extreme(x: Array, ids: Array, /, *, count: Any, smallest: bool) -> Array:
    """The largest (or smallest) slices of each group, element by element; NaN wins.

    Of none it is the least (or largest) number of the type, infinite if there is an infinity.

    >>> x, ids = np.array([2.0, 3.0, 5.0]), np.array([0, 2, 0])
    >>> grouped_extreme(x, ids, count=3, smallest=False)
    Tensor([  5., -inf,   3.])
    """
    if x.dtype.kind == "f":
        nothing = np.inf if smallest else -np.inf
    elif x.dtype.kind == "b":
        nothing = smallest
    else:
        nothing = np.iinfo(x.dtype).max if smallest else np.iinfo(x.dtype).min
    whole = np.full((count, *x.shape[1:]), nothing, x.dtype)
    extreme = np.minimum if smallest else np.maximum
    extreme.at(whole, ids, x)
    return whole


# --- the public functions -------------------------------------------------------------------------


def _rows(
    where: str, data: Any, segment_ids: Any, num_segments: Any, nothing: bool = False
) -> tuple[Any, Any, Size]:
    """Slices, their groups (one more than there are, for what is dropped), and that number."""
    ids = ops.asarray(segment_ids)
    require_kind(where, ids.dtype, "integer", "segment_ids")
    if ids.ndim > data.ndim:
        problem = "segment_ids has more axes than data"
        raise ShapeError(where, problem, expected=f"at most {data.ndim}", got=ids.ndim)
    for k, size in enumerate(ids.shape):
        require_equal(data.shape[k], size, where, f"sizes of axis {k} of data and segment_ids")
    count = number_of_groups(where, "num_segments", num_segments, ids)
    if ids.ndim != 1:
        data = ops.reshape(data, (*_flat(ids.shape), *data.shape[ids.ndim :]))
        ids = ops.reshape(ids, _flat(ids.shape))
    ids = slots(ids, count=count, where=where)
    # Not only left out below: what is dropped has no influence, even if its own slope is infinite.
    dropped = per_row(ids == count_of(count, "int64"), data.ndim)
    return ops.where(dropped, nothing, data), ids, count


def _flat(shape: Sequence[Size]) -> tuple[Size]:
    return (count(tuple(shape)),)


def _widened(where: str, data: Any) -> Any:
    data = ops.asarray(data)
    wide = summed_dtype(where, data.dtype, None)
    return data if data.dtype == wide else ops.astype(data, wide)


def _without_dropped(grouped: Any, count: Size) -> Any:
    return grouped[:count]


@composite
def segment_sum(data: Array, segment_ids: Array, /, num_segments: Any = None) -> Any:
    """The sum of the slices of each segment; of none: 0.

    Args:
        data: an array of any element type; small integers widen, as in `sum`.
        segment_ids: integers, whose shape is that of ``data`` or of its first axes: which segment
            each slice belongs to, in any order. Negative numbers, and numbers beyond the last
            segment, drop their slice.
        num_segments: how many segments; needed if ``segment_ids`` is a symbol, otherwise one more
            than its largest number.
    Returns:
        an array of the shape ``(num_segments, *rest)``.
    Raises:
        ShapeError: sizes differ. DTypeError: segments are not numbered by integers.
        TraceError: ``num_segments`` is needed. ArgumentError: it is no count.

    >>> import symgrad as sg
    >>> sg.segment_sum(sg.asarray([1.0, 2.0, 4.0]), sg.asarray([0, 2, 0]), 3)
    Tensor([5., 0., 2.])
    """
    data = _widened("segment_sum", data)
    data, ids, count = _rows("segment_sum", data, segment_ids, num_segments)
    return _without_dropped(grouped_sum(data, ids, count + 1), count)


@composite
def segment_prod(data: Array, segment_ids: Array, /, num_segments: Any = None) -> Any:
    """The product of the slices of each segment; of none: 1.

    Its derivatives of every order are right where elements are zero. Arguments and errors are those
    of `segment_sum`.

    >>> import symgrad as sg
    >>> sg.segment_prod(sg.asarray([3.0, 2.0, 4.0]), sg.asarray([0, 2, 0]), 3)
    Tensor([12.,  1.,  2.])
    """
    data = _widened("segment_prod", data)
    data, ids, count = _rows("segment_prod", data, segment_ids, num_segments, nothing=True)
    return _without_dropped(grouped_prod(data, ids, count=count + 1), count)


def _extreme(where: str, data: Any, segment_ids: Any, num_segments: Any, smallest: bool) -> Any:
    data = ops.asarray(data)
    require_kind(where, data.dtype, "real or bool", "data")
    data, ids, count = _rows(where, data, segment_ids, num_segments)
    grouped = grouped_extreme(data, ids, count=count + 1, smallest=smallest)
    return _without_dropped(grouped, count)


@composite
def segment_max(data: Array, segment_ids: Array, /, num_segments: Any = None) -> Any:
    """The largest elements of each segment; of none: -inf, or the least integer. NaN wins.

    Ties share the slope evenly. Arguments and errors are those of `segment_sum`; complex numbers
    have no order.

    >>> import symgrad as sg
    >>> sg.segment_max(sg.asarray([1.0, 2.0, 4.0]), sg.asarray([0, 1, 0]), 2)
    Tensor([4., 2.])
    """
    return _extreme("segment_max", data, segment_ids, num_segments, smallest=False)


@composite
def segment_min(data: Array, segment_ids: Array, /, num_segments: Any = None) -> Any:
    """The smallest elements of each segment; of none: inf, or the largest integer. NaN wins.

    Ties share the slope evenly. Arguments and errors are those of `segment_max`.

    >>> import symgrad as sg
    >>> sg.segment_min(sg.asarray([1.0, 2.0, 4.0]), sg.asarray([0, 1, 0]), 2)
    Tensor([1., 2.])
    """
    return _extreme("segment_min", data, segment_ids, num_segments, smallest=True)


@composite
def segment_mean(data: Array, segment_ids: Array, /, num_segments: Any = None) -> Any:
    """The mean of the slices of each segment; of none: 0.

    Arguments and errors are those of `segment_sum`; integers and booleans are cast to the default
    float type.

    >>> import symgrad as sg
    >>> sg.segment_mean(sg.asarray([1.0, 2.0, 4.0]), sg.asarray([0, 2, 0]), 3)
    Tensor([2.5, 0. , 2. ])
    """
    data = ops.asarray(data)
    narrow = data.dtype if is_inexact(data.dtype) else default_float()
    wide = float32 if narrow == float16 else narrow
    data = data if data.dtype == wide else ops.astype(data, wide)
    data, ids, count = _rows("segment_mean", data, segment_ids, num_segments)
    total = _without_dropped(grouped_sum(data, ids, count + 1), count)
    number = _without_dropped(occurrences(ids, count=count + 1), count)
    divisor = ops.astype(ops.maximum(number, 1), wide)
    mean = total / per_row(divisor, total.ndim)
    return mean if narrow == wide else ops.astype(mean, narrow)
