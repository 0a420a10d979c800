"""Reductions along axes, and running ones.

``axis`` is an int, a tuple of ints or None for all axes; negative ones count from the end. What a
rule needs of the reduced axes it takes with size 1, so that it broadcasts back.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.errors import ShapeError
from symgrad.ir.op import ZERO, Attrs, ops
from symgrad.ops.families import Array, linear, nondifferentiable, reduction, require_kind
from symgrad.ops.running import delayed, summed_dtype
from symgrad.types import (
    DType,
    Shape,
    TensorType,
    float16,
    is_inexact,
    normalize_axes,
    normalize_axis,
)

Axes = tuple[int, ...]


def kept_shape(shape: Shape, axes: Axes) -> Shape:
    """``shape`` with the reduced axes at size 1."""
    return tuple(1 if axis in axes else size for axis, size in enumerate(shape))


def kept(value: Any, shape: Shape, axes: Axes) -> Any:
    """A reduced value with its axes back at size 1; ``shape`` is that before the reduction."""
    return value if value.ndim == len(shape) else ops.reshape(value, kept_shape(shape, axes))


def spread(value: Any, shape: Shape, axes: Axes) -> Any:
    """A reduced value repeated along the reduced axes: the transpose of a sum, also for guards."""
    if value.ndim == 0:
        return ops.broadcast_to(value, shape)
    return ops.broadcast_to(kept(value, shape, axes), shape)


def reduced_type(x: TensorType, axes: Axes, keepdims: bool, dtype: DType) -> TensorType:
    """The type of a reduction's result."""
    if keepdims:
        return TensorType(kept_shape(x.shape, axes), dtype)
    return TensorType([n for axis, n in enumerate(x.shape) if axis not in axes], dtype)


def axes_in_one_form(name: str) -> Any:
    """The `normalize` facet of a reduction: axes as a sorted tuple counted from the front."""

    def normalize(types: list[TensorType], attrs: Attrs) -> Attrs:
        axes = tuple(sorted(normalize_axes(attrs["axis"], types[0].ndim, name)))
        return {**attrs, "axis": axes, "keepdims": bool(attrs["keepdims"])}

    return normalize


def spread_guard(i: int, predicate: Any, y: Any, args: Any, attrs: Attrs) -> Any:
    """How a predicate passes back through a reduction: to every element that was reduced."""
    return spread(predicate, args[0].shape, attrs["axis"])


# --- sums -----------------------------------------------------------------------------------------


def _sum_attrs(name: str) -> Any:
    axes = axes_in_one_form(name)

    def normalize(types: list[TensorType], attrs: Attrs) -> Attrs:
        x = types[0].dtype
        wide = summed_dtype(name, x, attrs["dtype"])
        # None where it says nothing new: so it need not be printed. Of half precision the kernel
        # must know.
        says = wide != summed_dtype(name, x, None) or wide == float16
        return {**axes(types, attrs), "dtype": wide if says else None}

    return normalize


def _sum_type(name: str) -> Any:
    def infer(x: TensorType, *, axis: Axes, dtype: Any, keepdims: bool) -> TensorType:
        return reduced_type(x, axis, keepdims, summed_dtype(name, x.dtype, dtype))

    return infer


@linear(
    type=_sum_type("sum"),
    transpose=lambda ct, x, *, axis, **_: spread(ct, x.shape, axis),
    normalize=_sum_attrs("sum"),
    warns=False,
)
def sum(x: Array, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """The sum of the elements along axes; half precision is added up in single.

    Args:
        x: array of any shape and element type.
        axis: an axis, a tuple of axes, or None for all; the sum of nothing is 0.
        dtype: the element type of the sum; None: int64 for booleans and smaller signed integers,
            uint64 for smaller unsigned ones, that of ``x`` otherwise.
        keepdims: keep the reduced axes, with size 1.
    Raises:
        ShapeError: an axis does not exist or is given twice. DTypeError: complex into a real type.

    >>> import symgrad as sg
    >>> sg.sum(sg.asarray([[1.0, 2.0], [3.0, 4.0]]), axis=0)
    Tensor([4., 6.])
    """
    return (
        np.add.reduce(x, axis=axis, dtype=np.float32, keepdims=keepdims).astype(dtype)
        if dtype == np.float16
        else np.add.reduce(x, axis=axis, dtype=dtype, keepdims=keepdims)
    )


def _others(x: Any, axis: int) -> Any:
    """For each element the product of all others along the axis; no division: zeros are safe."""
    before = delayed(ops.cumulative_prod(x, axis=axis), axis, 1)
    reverse = ops.flip(x, axis=axis)
    after = ops.flip(delayed(ops.cumulative_prod(reverse, axis=axis), axis, 1), axis=axis)
    return before * after


def _prod_slope(x: Any, axes: Axes, dtype: DType | None) -> Any:
    """The product of all other elements, one axis after the other; 1 where no axis is reduced."""
    slope: Any = 1
    rest = x if dtype is None or x.dtype == dtype else ops.astype(x, dtype)
    for axis in axes:
        slope = _others(rest, axis) * slope
        rest = ops.prod(rest, axis=axis, keepdims=True)
    return slope


def _prod_vjp(ct: Any, y: Any, x: Any, *, axis: Axes, dtype: DType | None, keepdims: bool) -> Any:
    return kept(ct, x.shape, axis) * _prod_slope(x, axis, dtype)


def _prod_jvp(tangents: Any, y: Any, args: Any, attrs: Attrs) -> Any:
    if tangents[0] is ZERO:
        return ZERO
    return ops.sum(tangents[0] * _prod_slope(args[0], attrs["axis"], attrs["dtype"]), **attrs)


@reduction(
    type=_sum_type("prod"),
    vjp=(_prod_vjp,),
    jvp=_prod_jvp,
    normalize=_sum_attrs("prod"),
    guard=spread_guard,
)
def prod(x: Array, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """The product of the elements along axes; of nothing: 1.

    Its derivatives of every order are right where elements are zero. Arguments, element type of the
    result and errors are those of ``sum``.

    >>> import symgrad as sg
    >>> sg.prod(sg.asarray([[1.0, 2.0], [3.0, 4.0]]), axis=1)
    Tensor([ 2., 12.])
    """
    return (
        np.multiply.reduce(x, axis=axis, dtype=np.float32, keepdims=keepdims).astype(dtype)
        if dtype == np.float16
        else np.multiply.reduce(x, axis=axis, dtype=dtype, keepdims=keepdims)
    )


# --- largest and smallest -------------------------------------------------------------------------


def _extreme_type(name: str) -> Any:
    def infer(x: TensorType, *, axis: Axes, keepdims: bool) -> TensorType:
        require_kind(name, x.dtype, "real or bool")
        require_nonempty(name, x.shape, axis)
        return reduced_type(x, axis, keepdims, x.dtype)

    return infer


def require_nonempty(name: str, shape: Shape, axes: Axes) -> None:
    """Refuse to pick an element out of none."""
    for axis in axes:
        if shape[axis] == 0:
            raise ShapeError(
                name,
                f"axis {axis} is empty, and nothing has no {name}",
                expected="a size of at least 1",
                got=shape,
            )


def _attained(y: Any, x: Any, *, axis: Axes, keepdims: bool) -> Any:
    """Where an extreme value is attained. A NaN is attained where the NaNs are."""
    at = x == kept(y, x.shape, axis)
    return at | ops.isnan(x) if is_inexact(x.dtype) else at


def _extreme_vjp(ct: Any, y: Any, x: Any, *, axis: Axes, keepdims: bool) -> Any:
    at = _attained(y, x, axis=axis, keepdims=keepdims)
    ties = ops.sum(at, axis=axis, keepdims=True)
    return ops.where(at, kept(ct, x.shape, axis) / ops.astype(ties, ct.dtype), 0)


def _extreme_jvp(tangents: Any, y: Any, args: Any, attrs: Attrs) -> Any:
    if tangents[0] is ZERO:
        return ZERO
    at = _attained(y, args[0], **attrs)
    ties = ops.sum(at, axis=attrs["axis"], keepdims=attrs["keepdims"])
    return ops.sum(ops.where(at, tangents[0], 0), **attrs) / ops.astype(ties, y.dtype)


@reduction(
    type=_extreme_type("max"),
    vjp=(_extreme_vjp,),
    jvp=_extreme_jvp,
    normalize=axes_in_one_form("max"),
    guard=spread_guard,
    live=(_attained,),
    warns=False,
)
def max(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """The largest element along axes; NaN wins.

    Ties share the slope evenly.

    Args:
        x: array of real numbers or booleans, of any shape.
        axis: an axis, a tuple of axes, or None for all.
        keepdims: keep the reduced axes, with size 1.
    Raises:
        ShapeError: a reduced axis is empty, does not exist or is given twice.
        DTypeError: complex numbers have no order.

    >>> import symgrad as sg
    >>> sg.max(sg.asarray([[1.0, 5.0], [3.0, 4.0]]), axis=1)
    Tensor([5., 4.])
    """
    return np.maximum.reduce(x, axis=axis, keepdims=keepdims)


@reduction(
    type=_extreme_type("min"),
    vjp=(_extreme_vjp,),
    jvp=_extreme_jvp,
    normalize=axes_in_one_form("min"),
    guard=spread_guard,
    live=(_attained,),
    warns=False,
)
def min(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """The smallest element along axes; NaN wins.

    Ties share the slope evenly. Arguments and errors are those of ``max``.

    >>> import symgrad as sg
    >>> sg.min(sg.asarray([[1.0, 5.0], [3.0, 4.0]]), axis=1)
    Tensor([1., 3.])
    """
    return np.minimum.reduce(x, axis=axis, keepdims=keepdims)


def _position_attrs(name: str) -> Any:
    def normalize(types: list[TensorType], attrs: Attrs) -> Attrs:
        axis, ndim = attrs["axis"], types[0].ndim
        if axis is None and ndim == 1:
            axis = 0
        place = None if axis is None else normalize_axis(axis, ndim, name)
        return {"axis": place, "keepdims": bool(attrs["keepdims"])}

    return normalize


def _position_type(name: str) -> Any:
    def infer(x: TensorType, *, axis: int | None, keepdims: bool) -> TensorType:
        require_kind(name, x.dtype, "real or bool")
        axes = tuple(range(x.ndim)) if axis is None else (axis,)
        require_nonempty(name, x.shape, axes)
        return reduced_type(x, axes, keepdims, np.dtype("int64"))

    return infer


@nondifferentiable(
    type=_position_type("argmax"),
    reason="integer output",
    normalize=_position_attrs("argmax"),
    warns=False,
)
def argmax(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """The position of the largest element, the first of several; a NaN counts as the largest.

    Args:
        x: array of real numbers or booleans.
        axis: the axis to search; None searches all, and counts positions in row-major order.
        keepdims: keep the reduced axes, with size 1.
    Raises:
        ShapeError: a searched axis is empty or does not exist. DTypeError: complex numbers.

    >>> import symgrad as sg
    >>> sg.argmax(sg.asarray([[1.0, 5.0], [4.0, 3.0]]), axis=1)
    Tensor([1, 0])
    """
    return np.argmax(x, axis=axis, keepdims=keepdims)


@nondifferentiable(
    type=_position_type("argmin"),
    reason="integer output",
    normalize=_position_attrs("argmin"),
    warns=False,
)
def argmin(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """The position of the smallest element, the first of several; a NaN counts as the smallest.

    Arguments and errors are those of ``argmax``.

    >>> import symgrad as sg
    >>> sg.argmin(sg.asarray([[1.0, 5.0], [4.0, 3.0]]), axis=1)
    Tensor([0, 1])
    """
    return np.argmin(x, axis=axis, keepdims=keepdims)


# --- yes or no ------------------------------------------------------------------------------------


def _truth_type(x: TensorType, *, axis: Axes, keepdims: bool) -> TensorType:
    return reduced_type(x, axis, keepdims, np.dtype(bool))


@nondifferentiable(
    type=_truth_type, reason="boolean output", normalize=axes_in_one_form("any"), warns=False
)
def any(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """Whether some element along the axes is not zero; of nothing: False.

    Args:
        x: array of any shape and element type.
        axis: an axis, a tuple of axes, or None for all.
        keepdims: keep the reduced axes, with size 1.
    Raises:
        ShapeError: an axis does not exist or is given twice.

    >>> import symgrad as sg
    >>> sg.any(sg.asarray([[True, False], [False, False]]), axis=1)
    Tensor([ True, False])
    """
    return np.logical_or.reduce(x, axis=axis, keepdims=keepdims)


@nondifferentiable(
    type=_truth_type, reason="boolean output", normalize=axes_in_one_form("all"), warns=False
)
def all(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """Whether every element along the axes is not zero; of nothing: True.

    Arguments and errors are those of ``any``.

    >>> import symgrad as sg
    >>> sg.all(sg.asarray([[True, False], [True, True]]), axis=1)
    Tensor([False,  True])
    """
    return np.logical_and.reduce(x, axis=axis, keepdims=keepdims)


@nondifferentiable(
    type=lambda x, *, axis, keepdims: reduced_type(x, axis, keepdims, np.dtype("int64")),
    reason="integer output",
    normalize=axes_in_one_form("count_nonzero"),
    warns=False,
)
def count_nonzero(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """How many elements along the axes are not zero.

    Arguments and errors are those of ``any``.

    >>> import symgrad as sg
    >>> int(sg.count_nonzero(sg.asarray([0.0, 1.0, 2.0])))
    2
    """
    if len(axis) == x.ndim and not keepdims:
        return np.asarray(np.count_nonzero(x), np.int64)
    return np.add.reduce(x != 0, axis=axis, dtype=np.int64, keepdims=keepdims)
