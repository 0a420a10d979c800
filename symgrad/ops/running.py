"""Running sums and products along an axis, and the linear recurrence that differentiates them."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.errors import ShapeError
from symgrad.ir.op import ZERO, Attrs, ops
from symgrad.ops.families import Array, linear, opaque, reduction, require_kind
from symgrad.ops.half import working_dtype
from symgrad.types import DType, Size, TensorType, as_dtype, normalize_axis, promote, require_equal

_WIDE = {"b": np.dtype("int64"), "i": np.dtype("int64"), "u": np.dtype("uint64")}


def summed_dtype(name: str, x: DType, dtype: Any) -> DType:
    """The element type of a sum or product: small integers and booleans widen, floats stay."""
    if dtype is None:
        return _WIDE.get(x.kind, x)
    require_kind(name, as_dtype(dtype), "complex" if x.kind == "c" else "any", "the result")
    return as_dtype(dtype)


# --- one step along an axis -----------------------------------------------------------------------


def along_axis(axis: int, cut: slice) -> tuple[slice, ...]:
    """The key that cuts one axis."""
    return (*[slice(None)] * axis, cut)


def delayed(x: Any, axis: int, fill: float = 0) -> Any:
    """Each element replaced by the one before it along the axis, the first by ``fill``."""
    width = [(1, 0) if k == axis else (0, 0) for k in range(x.ndim)]
    return ops.pad(x, width, constant_values=fill)[along_axis(axis, slice(None, -1))]


def _advanced(x: Any, axis: int) -> Any:
    """Each element replaced by the one after it along the axis, the last by 0."""
    width = [(0, 1) if k == axis else (0, 0) for k in range(x.ndim)]
    return ops.pad(x, width)[along_axis(axis, slice(1, None))]


def _without_initial(x: Any, axis: int, include_initial: bool) -> Any:
    return x[along_axis(axis, slice(1, None))] if include_initial else x


# --- sums and products ----------------------------------------------------------------------------


def axis_to_run_along(name: str, axis: Any, kind: TensorType) -> int:
    """The axis counted from the front; it may be left out if there is only one."""
    if axis is None and kind.ndim != 1:
        raise ShapeError(name, "axis is needed unless there is one axis", got=kind)
    return normalize_axis(0 if axis is None else axis, kind.ndim, name)


def _running_attrs(name: str) -> Any:
    def normalize(types: list[TensorType], attrs: Attrs) -> Attrs:
        return {
            "axis": axis_to_run_along(name, attrs["axis"], types[0]),
            "dtype": summed_dtype(name, types[0].dtype, attrs["dtype"]),
            "include_initial": bool(attrs["include_initial"]),
        }

    return normalize


def _running_type(x: TensorType, *, axis: int, dtype: DType, include_initial: bool) -> TensorType:
    shape: list[Size] = list(x.shape)
    shape[axis] = shape[axis] + 1 if include_initial else shape[axis]
    return TensorType(shape, dtype)


def _running(accumulated: Array, axis: int, dtype: Any, initial: int | None) -> Array:
    accumulated = accumulated.astype(dtype, copy=False)
    if initial is None:
        return accumulated
    shape = list(accumulated.shape)
    shape[axis] = 1
    first = np.full(shape, initial, accumulated.dtype)
    return np.concatenate((first, accumulated), axis=axis)


def from_the_end(x: Any, axis: int) -> Any:
    """The running sum that starts at the last element; for booleans, the count."""
    return ops.flip(ops.cumulative_sum(ops.flip(x, axis=axis), axis=axis), axis=axis)


def _cumulative_sum_transpose(
    ct: Any, x: Any, *, axis: int, dtype: DType, include_initial: bool
) -> Any:
    return from_the_end(_without_initial(ct, axis, include_initial), axis)


def _later_guard(i: int, predicate: Any, y: Any, args: Any, attrs: Attrs) -> Any:
    """An element matters where any later result does."""
    axis = attrs["axis"]
    return from_the_end(_without_initial(predicate, axis, attrs["include_initial"]), axis) > 0


@linear(
    type=_running_type,
    transpose=_cumulative_sum_transpose,
    normalize=_running_attrs("cumulative_sum"),
    guard=_later_guard,
)
def cumulative_sum(
    x: Array, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False
) -> Array:
    """The running sum along an axis; half precision is added up in single.

    Args:
        x: array of at least one axis, of any element type.
        axis: the axis; it may be left out if there is only one.
        dtype: the element type of the result; None as for ``sum``.
        include_initial: start with the sum of nothing; the axis is then one longer.
    Raises:
        ShapeError: the axis does not exist, or is left out.

    >>> import symgrad as sg
    >>> sg.cumulative_sum(sg.asarray([1.0, 2.0, 3.0]))
    Tensor([1., 3., 6.])
    """
    sums = np.add.accumulate(x, axis=axis, dtype=working_dtype(dtype))
    return _running(sums, axis, dtype, 0 if include_initial else None)


def _cumulative_prod_vjp(
    ct: Any, y: Any, x: Any, *, axis: int, dtype: DType, include_initial: bool
) -> Any:
    # Element i is a factor of every later result k: the product of what stands before i, times the
    # products of what stands between i and k. Nothing is divided, so zeros are safe.
    before = y[along_axis(axis, slice(None, -1))] if include_initial else delayed(y, axis, 1)
    return before * recurrence(
        x, _without_initial(ct, axis, include_initial), axis=axis, reverse=True
    )


def _cumulative_prod_jvp(tangents: Any, y: Any, args: Any, attrs: Attrs) -> Any:
    if tangents[0] is ZERO:
        return ZERO
    (x,), axis = args, attrs["axis"]
    if not attrs["include_initial"]:
        return recurrence(x, tangents[0] * delayed(y, axis, 1), axis=axis, reverse=False)
    before = y[along_axis(axis, slice(None, -1))]
    rest = recurrence(x, tangents[0] * before, axis=axis, reverse=False)
    width = [(1, 0) if k == axis else (0, 0) for k in range(x.ndim)]
    return ops.pad(rest, width)


@reduction(
    type=_running_type,
    vjp=(_cumulative_prod_vjp,),
    jvp=_cumulative_prod_jvp,
    normalize=_running_attrs("cumulative_prod"),
    guard=_later_guard,
)
def cumulative_prod(
    x: Array, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False
) -> Array:
    """The running product along an axis.

    Its derivatives of every order are right where elements are zero. Arguments and errors are those
    of ``cumulative_sum``; the product of nothing is 1.

    >>> import symgrad as sg
    >>> sg.cumulative_prod(sg.asarray([1.0, 2.0, 3.0]))
    Tensor([1., 2., 6.])
    """
    products = np.multiply.accumulate(x, axis=axis, dtype=working_dtype(dtype))
    return _running(products, axis, dtype, 1 if include_initial else None)


# --- the linear recurrence ------------------------------------------------------------------------


def _recurrence_type(x: TensorType, b: TensorType, *, axis: int, reverse: bool) -> TensorType:
    for k, (m, n) in enumerate(zip(x.shape, b.shape, strict=True)):
        require_equal(m, n, "recurrence", f"sizes of axis {k}")
    return TensorType(b.shape, promote(x.dtype, b.dtype))


def _factor_vjp(ct: Any, s: Any, x: Any, b: Any, *, axis: int, reverse: bool) -> Any:
    adjoint = recurrence(x, ct, axis=axis, reverse=not reverse)
    return s * delayed(adjoint, axis) if reverse else adjoint * delayed(s, axis)


def _recurrence_jvp(tangents: Any, s: Any, args: Any, attrs: Attrs) -> Any:
    (dx, db), axis = tangents, attrs["axis"]
    if dx is ZERO:
        return ZERO if db is ZERO else recurrence(args[0], db, **attrs)
    push = _advanced(dx * s, axis) if attrs["reverse"] else dx * delayed(s, axis)
    return recurrence(args[0], push if db is ZERO else db + push, **attrs)


@opaque(
    type=_recurrence_type,
    vjp=(
        _factor_vjp,
        lambda ct, s, x, b, *, axis, reverse: ops.recurrence(x, ct, axis=axis, reverse=not reverse),
    ),
    jvp=_recurrence_jvp,
    namespace=None,
)
def recurrence(x: Array, b: Array, /, *, axis: int, reverse: bool) -> Array:
    """The solution of ``s[i] = b[i] + x[i] * s[i-1]``.

    Reversed, that of ``s[i] = b[i] + x[i+1] * s[i+1]``. Beyond the ends, ``s`` is 0. Each is the
    other's transpose in ``b``.

    Args:
        x, b: arrays of one shape.
        axis: along which axis ``i`` counts.
        reverse: from the end to the front.

    >>> recurrence(np.full(3, 2.0), np.ones(3), axis=0, reverse=False)
    Tensor([1., 3., 7.])
    """
    factor = np.moveaxis(x, axis, 0)
    dtype = np.result_type(x, b)
    state = np.moveaxis(b, axis, 0).astype(working_dtype(dtype))
    for i in range(1, len(state)):
        if reverse:
            state[-1 - i] += factor[-i] * state[-i]
        else:
            state[i] += factor[i] * state[i - 1]
    return np.moveaxis(state, 0, axis).astype(dtype, copy=False)
