"""Mean, variance and standard deviation.

Half-precision numbers are summed in single precision: their sums leave the range of the type long
before their means do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.errors import ArgumentError
from symgrad.ir.op import ZERO, Attrs, ops
from symgrad.ops.families import Array, linear, reduction, require_kind
from symgrad.ops.movement import count
from symgrad.ops.reduce import Axes, axes_in_one_form, kept, reduced_type, spread, spread_guard
from symgrad.ops.scalar import astype, where
from symgrad.types import DType, Shape, Size, TensorType, float16, float32

# --- for the kernels ------------------------------------------------------------------------------


def widened(x: Array) -> Array:
    """Half precision as single; anything else as it is."""
    return x.astype(np.float32) if x.dtype == np.float16 else x


def number_of(x: Array, axis: tuple[int, ...]) -> int:
    """How many elements one result is reduced from."""
    number = 1
    for one in axis:
        number *= x.shape[one]
    return number


def average(x: Array, axis: tuple[int, ...], keepdims: bool) -> Array:
    """The mean along axes."""
    total = np.add.reduce(widened(x), axis=axis, keepdims=keepdims)
    return np.divide(total, number_of(x, axis)).astype(x.dtype, copy=False)


def sum_of_squares(x: Array, axis: tuple[int, ...], keepdims: bool) -> Array:
    """The sum of squares along axes; what was in an array is lost."""
    squares = np.square(x, out=x if x.ndim else None)
    return np.add.reduce(squares, axis=axis, keepdims=keepdims)


def variance(x: Array, axis: tuple[int, ...], correction: float, keepdims: bool) -> Array:
    """The variance along axes, in the precision it is computed in; of equal elements exactly 0."""
    x, number = widened(x), number_of(x, axis)
    # A sum over all axes is a scalar, on which numpy is quicker than on an array of one element.
    middle = np.divide(np.add.reduce(x, axis=axis, keepdims=len(axis) < x.ndim), number)
    total = sum_of_squares(np.subtract(x, middle), axis, keepdims)
    # The mean of equal elements may be off by a rounding per addition. Where they are so close to
    # it, they are compared among themselves.
    error = middle * (4 * number * (2.0**-52 if x.dtype.itemsize == 8 else 2.0**-23))
    limit = number * error * error
    close = (total > 0) & (total <= limit.reshape(total.shape))
    if close if close.ndim == 0 else close.any():
        total = sum_of_squares(distances(x, axis), axis, keepdims)
    return np.divide(total, number - correction if number > correction else 0)


def distances(x: Array, axis: tuple[int, ...]) -> Array:
    """What each element has above the mean along axes; of equal elements exactly 0."""
    number = number_of(x, axis)
    middle = np.divide(np.add.reduce(x, axis=axis, keepdims=True), number)
    if number > 0:
        # A sum is rounded, and so the quotient may lie beyond all elements.
        middle = np.maximum(middle, np.minimum.reduce(x, axis=axis, keepdims=True))
        middle = np.minimum(middle, np.maximum.reduce(x, axis=axis, keepdims=True))
    return np.subtract(x, middle)


# --- for the rules --------------------------------------------------------------------------------


def wide(x: Any) -> Any:
    """Half precision as single; anything else as it is."""
    return astype(x, float32) if x.dtype == float16 else x


def _narrow(x: Any, dtype: DType) -> Any:
    return x if x.dtype == dtype else astype(x, dtype)


def _count(shape: Shape, axes: Axes) -> Size:
    return count(tuple(shape[axis] for axis in axes))


def _freedom(x: Any, axes: Axes, correction: float) -> Any:
    """The number of elements less the correction, never below 0 where it is known."""
    number = _count(x.shape, axes)
    if isinstance(number, int):
        return number - correction if number > correction else 0
    if isinstance(correction, int):
        return number - correction
    return ops.size(dim=number, dtype=wide(x).dtype) - correction


def _deviation(x: Any, axes: Axes) -> Any:
    return centred(wide(x), axis=axes)


def any_guard(i: int, predicate: Any, y: Any, args: Any, attrs: Attrs) -> Any:
    """An element matters if any result along the axes does."""
    shape: Shape = args[0].shape
    return ops.broadcast_to(ops.any(predicate, axis=attrs["axis"], keepdims=True), shape)


# --- the mean -------------------------------------------------------------------------------------


def _mean_type(x: TensorType, *, axis: Axes, keepdims: bool) -> TensorType:
    require_kind("mean", x.dtype, "inexact")
    return reduced_type(x, axis, keepdims, x.dtype)


def _mean_transpose(ct: Any, x: Any, *, axis: Axes, keepdims: bool) -> Any:
    shared = wide(ct) / _count(x.shape, axis)
    return spread(_narrow(shared, ct.dtype), x.shape, axis)


@linear(
    type=_mean_type,
    transpose=_mean_transpose,
    normalize=axes_in_one_form("mean"),
    guard=spread_guard,
    integers="float",
)
def mean(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """The arithmetic mean of the elements along axes; of nothing: NaN.

    Args:
        x: array of floating or complex numbers; integers and booleans are cast to the default
            float type.
        axis: an axis, a tuple of axes, or None for all. Named dimensions count with their size.
        keepdims: keep the reduced axes, with size 1.
    Raises:
        ShapeError: an axis does not exist or is given twice.

    >>> import symgrad as sg
    >>> sg.mean(sg.asarray([[1.0, 2.0], [3.0, 4.0]]), axis=0)
    Tensor([2., 3.])
    """
    return average(x, axis, keepdims)


# --- variance and standard deviation --------------------------------------------------------------


def _centred_type(x: TensorType, *, axis: Axes) -> TensorType:
    require_kind("centred", x.dtype, "floating")
    return x


@linear(
    type=_centred_type,
    transpose=lambda ct, x, *, axis: ops.centred(ct, axis=axis),
    guard=any_guard,
    namespace=None,
)
def centred(x: Array, /, *, axis: tuple[int, ...]) -> Array:
    """Elements less their mean along axes: a projection, and so its own transpose.

    >>> centred(np.array([1.0, 3.0]), axis=(0,))
    Tensor([-1.,  1.])
    """
    return distances(widened(x), axis).astype(x.dtype, copy=False)


def _spread_attrs(name: str) -> Any:
    axes = axes_in_one_form(name)

    def normalize(types: list[TensorType], attrs: Attrs) -> Attrs:
        correction = attrs["correction"]
        if not isinstance(correction, (int, float)):
            raise ArgumentError(name, "correction is not a number", got=repr(correction))
        whole = float(correction).is_integer()
        return {**axes(types, attrs), "correction": int(correction) if whole else correction}

    return normalize


def _spread_type(name: str) -> Any:
    def infer(x: TensorType, *, axis: Axes, correction: float, keepdims: bool) -> TensorType:
        require_kind(name, x.dtype, "floating")
        return reduced_type(x, axis, keepdims, x.dtype)

    return infer


def _var_vjp(ct: Any, y: Any, x: Any, *, axis: Axes, correction: float, keepdims: bool) -> Any:
    slope = 2 * kept(wide(ct), x.shape, axis) / _freedom(x, axis, correction)
    return slope * _deviation(x, axis)


def _var_jvp(tangents: Any, y: Any, args: Any, attrs: Attrs) -> Any:
    if tangents[0] is ZERO:
        return ZERO
    (x,), axis = args, attrs["axis"]
    along = ops.sum(_deviation(x, axis) * tangents[0], axis=axis, keepdims=attrs["keepdims"])
    return _narrow(2 * along / _freedom(x, axis, attrs["correction"]), y.dtype)


@reduction(
    type=_spread_type("var"),
    vjp=(_var_vjp,),
    jvp=_var_jvp,
    normalize=_spread_attrs("var"),
    guard=spread_guard,
    integers="float",
)
def var(x: Array, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """The variance of the elements along axes, from the squared distances to their mean.

    Args:
        x: array of real floating numbers; integers and booleans are cast to the default float type.
        axis: an axis, a tuple of axes, or None for all.
        correction: subtracted from the number of elements before dividing; 1 gives the unbiased
            estimate. If nothing is left, the result is NaN or infinite.
        keepdims: keep the reduced axes, with size 1.
    Raises:
        ShapeError: an axis does not exist or is given twice. DTypeError: complex numbers.

    >>> import symgrad as sg
    >>> float(sg.var(sg.asarray([1.0, 2.0, 3.0]), correction=1))
    1.0
    """
    return variance(x, axis, correction, keepdims).astype(x.dtype, copy=False)


def _std_slope(y: Any, x: Any, axis: Axes, correction: float) -> Any:
    """1 / (freedom * y), and 0 where all elements are equal: the least subgradient."""
    return where(y == 0, 0, 1 / (wide(y) * _freedom(x, axis, correction)))


def _std_vjp(ct: Any, y: Any, x: Any, *, axis: Axes, correction: float, keepdims: bool) -> Any:
    slope = wide(ct) * _std_slope(y, x, axis, correction)
    return kept(slope, x.shape, axis) * _deviation(x, axis)


def _std_jvp(tangents: Any, y: Any, args: Any, attrs: Attrs) -> Any:
    if tangents[0] is ZERO:
        return ZERO
    (x,), axis = args, attrs["axis"]
    along = ops.sum(_deviation(x, axis) * tangents[0], axis=axis, keepdims=attrs["keepdims"])
    return _narrow(along * _std_slope(y, x, axis, attrs["correction"]), y.dtype)


@reduction(
    type=_spread_type("std"),
    vjp=(_std_vjp,),
    jvp=_std_jvp,
    normalize=_spread_attrs("std"),
    guard=spread_guard,
    integers="float",
)
def std(x: Array, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """The standard deviation of the elements along axes, the root of `var`.

    Where all elements are equal, its derivatives of every order are 0. Arguments and errors are
    those of ``var``.

    >>> import symgrad as sg
    >>> float(sg.std(sg.asarray([1.0, 1.0, 3.0, 3.0])))
    1.0
    """
    return np.sqrt(variance(x, axis, correction, keepdims)).astype(x.dtype, copy=False)
