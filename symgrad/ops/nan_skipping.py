"""Reductions that leave NaN out, and numbers instead of what is not finite.

What was left out has no influence: its derivative is 0, also where its own slope would be NaN.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError
from symgrad.ir.op import ZERO, Attrs, ops
from symgrad.ops.families import Array, composite, reduction, require_kind
from symgrad.ops.interpolation import as_floating
from symgrad.ops.moments import wide
from symgrad.ops.reduce import (
    Axes,
    axes_in_one_form,
    kept,
    reduced_type,
    require_nonempty,
    spread_guard,
)
from symgrad.types import TensorType, finfo, is_complex, is_inexact, real_dtype

# --- other numbers instead ------------------------------------------------------------------------


@composite
def nan_to_num(
    x: Array, /, *, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Any:
    """Finite numbers instead of NaN and the infinities; the slope of what was replaced is 0.

    Args:
        x: an array of any element type; integers and booleans stay. Real and imaginary parts of
            complex numbers are replaced separately.
        nan: instead of NaN.
        posinf, neginf: instead of the infinities; None: the largest and the lowest number of the
            element type.

    >>> import symgrad as sg
    >>> sg.nan_to_num(sg.asarray([float("nan"), 2.0, float("inf")]), posinf=9.0)
    Tensor([0., 2., 9.])
    """
    x = ops.asarray(x)
    if not is_inexact(x.dtype):
        return x
    limits = finfo(real_dtype(x.dtype))
    high = float(limits.max) if posinf is None else posinf
    low = float(limits.min) if neginf is None else neginf

    def replaced(part: Any) -> Any:
        instead = [ops.asarray(number, dtype=part.dtype) for number in (high, nan, low)]
        other = ops.where(ops.isnan(part), instead[1], instead[2])
        return ops.where(ops.isfinite(part), part, ops.where(part > 0, instead[0], other))

    if is_complex(x.dtype):
        return replaced(ops.real(x)) + replaced(ops.imag(x)) * 1j
    return replaced(x)


# --- sums, means, spread --------------------------------------------------------------------------


def _without_nan(x: Any, instead: float) -> Any:
    return ops.where(ops.isnan(x), instead, x) if is_inexact(x.dtype) else x


@composite
def nansum(x: Array, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """`sum` of the elements that are not NaN; 0 where there are none.

    Arguments, element type of the result and errors are those of `sum`.

    >>> import symgrad as sg
    >>> sg.nansum(sg.asarray([1.0, float("nan"), 3.0]))
    Tensor(4.)
    """
    return ops.sum(_without_nan(ops.asarray(x), 0), axis=axis, dtype=dtype, keepdims=keepdims)


@composite
def nanprod(x: Array, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """`prod` of the elements that are not NaN; 1 where there are none.

    Arguments, element type of the result and errors are those of `prod`.

    >>> import symgrad as sg
    >>> sg.nanprod(sg.asarray([2.0, float("nan"), 3.0]))
    Tensor(6.)
    """
    return ops.prod(_without_nan(ops.asarray(x), 1), axis=axis, dtype=dtype, keepdims=keepdims)


def _total(x: Any, missing: Any, axis: Any, keepdims: bool) -> Any:
    return ops.sum(ops.where(missing, 0, x), axis=axis, keepdims=keepdims)


def _number_of(missing: Any, axis: Any, keepdims: bool, dtype: Any) -> Any:
    """How many elements are there."""
    count = ops.count_nonzero(ops.logical_not(missing), axis=axis, keepdims=keepdims)
    return ops.astype(count, real_dtype(dtype))


def _of_any(count: Any, x: Any) -> Any:
    """``x``, or a constant NaN where it is made of nothing."""
    return ops.where(count == 0, math.nan, x)


@composite
def nanmean(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """`mean` of the elements that are not NaN; NaN where there are none.

    Arguments and errors are those of `mean`.

    >>> import symgrad as sg
    >>> sg.nanmean(sg.asarray([1.0, float("nan"), 3.0]))
    Tensor(2.)
    """
    x = as_floating("nanmean", "x", x, real=False)
    missing, values = ops.isnan(x), wide(x)
    count = _number_of(missing, axis, keepdims, values.dtype)
    mean = _total(values, missing, axis, keepdims) / count
    return ops.astype(_of_any(count, mean), x.dtype)


def _variance(where: str, x: Any, axis: Any, correction: float, keepdims: bool) -> tuple[Any, Any]:
    """The variance, and the number of elements it is made of."""
    if not isinstance(correction, (int, float)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ArgumentError(where, "correction is no number", got=repr(correction))
    missing = ops.isnan(x)
    # Measured from one of the elements, equal ones are exactly 0 apart.
    if 0 not in x.shape:
        x = x - ops.stop_gradient(nanmax(x, axis=axis, keepdims=True))
    count = _number_of(missing, axis, True, x.dtype)
    distances = x - _total(x, missing, axis, True) / count
    total = _total(ops.square(distances), missing, axis, keepdims)
    count = _number_of(missing, axis, keepdims, x.dtype)
    return total / ops.maximum(count - correction, 0), count


@composite
def nanvar(
    x: Array, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False
) -> Any:
    """`var` of the elements that are not NaN; NaN where there are none.

    Arguments and errors are those of `var`.

    >>> import symgrad as sg
    >>> sg.nanvar(sg.asarray([1.0, float("nan"), 3.0]))
    Tensor(1.)
    """
    x = as_floating("nanvar", "x", x)
    variance, count = _variance("nanvar", wide(x), axis, correction, keepdims)
    return ops.astype(_of_any(count, variance), x.dtype)


@composite
def nanstd(
    x: Array, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False
) -> Any:
    """`std` of the elements that are not NaN; NaN where there are none.

    Where these are equal, its derivatives of every order are 0. Arguments and errors are those of
    `std`.

    >>> import symgrad as sg
    >>> sg.nanstd(sg.asarray([1.0, float("nan"), 3.0]))
    Tensor(1.)
    """
    x = as_floating("nanstd", "x", x)
    variance, count = _variance("nanstd", wide(x), axis, correction, keepdims)
    root = ops.where(variance == 0, 0, ops.sqrt(variance))
    return ops.astype(_of_any(count, root), x.dtype)


# --- largest and smallest -------------------------------------------------------------------------


def _extreme_type(name: str) -> Any:
    def infer(x: TensorType, *, axis: Axes, keepdims: bool) -> TensorType:
        require_kind(name, x.dtype, "real or bool")
        require_nonempty(name, x.shape, axis)
        return reduced_type(x, axis, keepdims, x.dtype)

    return infer


def _attained(y: Any, x: Any, *, axis: Axes, keepdims: bool) -> Any:
    """Where an extreme value is attained: nowhere, where all is NaN."""
    return x == kept(y, x.shape, axis)


def _ties(at: Any, axis: Axes, keepdims: bool, dtype: Any) -> Any:
    return ops.astype(ops.maximum(ops.count_nonzero(at, axis=axis, keepdims=keepdims), 1), dtype)


def _extreme_vjp(ct: Any, y: Any, x: Any, *, axis: Axes, keepdims: bool) -> Any:
    at = _attained(y, x, axis=axis, keepdims=keepdims)
    share = kept(ct, x.shape, axis) / _ties(at, axis, True, ct.dtype)
    return ops.where(at, share, 0)


def _extreme_jvp(tangents: Any, y: Any, args: Any, attrs: Attrs) -> Any:
    if tangents[0] is ZERO:
        return ZERO
    at = _attained(y, args[0], **attrs)
    along = ops.sum(ops.where(at, tangents[0], 0), **attrs)
    return along / _ties(at, attrs["axis"], attrs["keepdims"], y.dtype)


@reduction(
    type=_extreme_type("nanmax"),
    vjp=(_extreme_vjp,),
    jvp=_extreme_jvp,
    normalize=axes_in_one_form("nanmax"),
    guard=spread_guard,
    live=(_attained,),
    warns=False,
)
def nanmax(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """The largest element along axes that is not NaN; NaN where there is none.

    Ties share the slope evenly. Arguments and errors are those of `max`.

    >>> import symgrad as sg
    >>> sg.nanmax(sg.asarray([1.0, float("nan"), 3.0]))
    Tensor(3.)
    """
    return np.fmax.reduce(x, axis=axis, keepdims=keepdims)


@reduction(
    type=_extreme_type("nanmin"),
    vjp=(_extreme_vjp,),
    jvp=_extreme_jvp,
    normalize=axes_in_one_form("nanmin"),
    guard=spread_guard,
    live=(_attained,),
    warns=False,
)
def nanmin(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """The smallest element along axes that is not NaN; NaN where there is none.

    Ties share the slope evenly. Arguments and errors are those of `max`.

    >>> import symgrad as sg
    >>> sg.nanmin(sg.asarray([1.0, float("nan"), 3.0]))
    Tensor(1.)
    """
    return np.fmin.reduce(x, axis=axis, keepdims=keepdims)
