"""Quantiles: elements at a fraction of the way through the sorted ones, or between two of them.

Positions among the sorted elements are computed in double precision whatever the elements are. The
two elements next to a position are gathered from the operand itself, so a derivative goes to them,
by their weights, and nowhere else.

The methods are those of R. J. Hyndman and Y. Fan, "Sample Quantiles in Statistical Packages",
The American Statistician 50 (1996), and five simpler ones, under numpy's names.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, DTypeError
from symgrad.ir.op import ops
from symgrad.ir.symbol import Symbol
from symgrad.ops.families import Array, composite, linear, require_kind
from symgrad.ops.interpolation import as_floating, blend, count_of
from symgrad.ops.movement import count
from symgrad.ops.reduce import kept_shape
from symgrad.ops.take import chosen_along
from symgrad.types import Size, TensorType, float64, int64, is_complex, normalize_axes

Position = tuple[Any, Any, Any]
"""Two indices among the sorted elements, and the weight of the second."""

# --- methods --------------------------------------------------------------------------------------


def _continuous(alpha: float, beta: float) -> Callable[[Any, Any], Position]:
    """The methods that move steadily: position ``n*q + alpha + q*(1 - alpha - beta)``, from 1."""

    def position(n: Any, q: Any) -> Position:
        shift = alpha + q * (1 - alpha - beta)
        # For "linear", the shorter form rounds less.
        at = (n - 1) * q if alpha == beta == 1 else n * q + shift - 1
        at = ops.where(at < 0, 0, ops.where(at > n - 1, n - 1, at))
        low = ops.floor(at)
        return low, ops.ceil(at), at - low

    return position


def _at(rounded: Callable[[Any], Any]) -> Callable[[Any, Any], Position]:
    """The methods that take one element, near that of "linear"."""

    def position(n: Any, q: Any) -> Position:
        at = rounded((n - 1) * q)
        return at, at, None

    return position


def _midpoint(n: Any, q: Any) -> Position:
    at = (n - 1) * q
    return ops.floor(at), ops.ceil(at), 0.5


def _inverted_cdf(n: Any, q: Any) -> Position:
    at = ops.ceil(n * q - 1)
    return at, at, None


def _averaged_inverted_cdf(n: Any, q: Any) -> Position:
    at = n * q - 1
    low = ops.floor(at)
    return low, low + 1, ops.where(at == low, 0.5, 1.0)


def _closest_observation(n: Any, q: Any) -> Position:
    # Halfway, the one that is even when counted from 1.
    at = n * q - 1.5
    low = ops.floor(at)
    chosen = ops.where((at == low) & (ops.remainder(low, 2) == 1), low, low + 1)
    return chosen, chosen, None


_METHODS: dict[str, Callable[[Any, Any], Position]] = {
    "linear": _continuous(1, 1),
    "lower": _at(lambda at: ops.floor(at)),
    "higher": _at(lambda at: ops.ceil(at)),
    "midpoint": _midpoint,
    "nearest": _at(lambda at: ops.round(at)),
    "inverted_cdf": _inverted_cdf,
    "averaged_inverted_cdf": _averaged_inverted_cdf,
    "closest_observation": _closest_observation,
    "interpolated_inverted_cdf": _continuous(0, 1),
    "hazen": _continuous(0.5, 0.5),
    "weibull": _continuous(0, 0),
    "median_unbiased": _continuous(1 / 3, 1 / 3),
    "normal_unbiased": _continuous(3 / 8, 3 / 8),
}

# --- arguments ------------------------------------------------------------------------------------


def _fractions_type(q: TensorType) -> TensorType:
    require_kind("quantile", q.dtype, "floating", "q")
    return q


@linear(
    type=_fractions_type,
    transpose=lambda ct, q: ct,
    jvp=lambda tangents, y, args, attrs: tangents[0],
    warns=False,
    namespace=None,
)
def fractions(q: Array, /) -> Array:
    """Numbers that must lie between 0 and 1.

    >>> fractions(np.array([0.25, 1.0]))
    Tensor([0.25, 1.  ])
    """
    if not np.all((q >= 0) & (q <= 1)):
        raise ValueError("quantile: q lies outside of 0 to 1")
    return np.array(q)


def _fractions(where: str, q: Any) -> Any:
    """The fractions in double precision."""
    if not hasattr(q, "dtype"):
        q = np.asarray(q)
        if q.dtype.kind not in "biuf":
            raise DTypeError(where, "element type of q", expected="real numbers", got=q.dtype)
        q = q.astype(np.float64)
    if is_complex(q.dtype):
        raise DTypeError(where, "element type of q", expected="real", got=q.dtype)
    q = ops.astype(ops.asarray(q), float64)
    if not isinstance(q, Symbol):
        values = np.asarray(q)
        if not np.all((values >= 0) & (values <= 1)):
            raise ArgumentError(where, "q lies outside of its range", expected="0 to 1", got=values)
    return fractions(q)


def _method(where: str, method: Any) -> Callable[[Any, Any], Position]:
    if method not in _METHODS:
        raise ArgumentError(where, "method", expected=", ".join(_METHODS), got=repr(method))
    return _METHODS[method]


def _in_lines(x: Any, axes: tuple[int, ...]) -> tuple[Any, Size]:
    """The axes as one, behind all others, and its size."""
    others = [k for k in range(x.ndim) if k not in axes]
    size = count(tuple(x.shape[axis] for axis in axes))
    moved = ops.permute_dims(x, (*others, *axes))
    return ops.reshape(moved, (*(x.shape[k] for k in others), size)), size


# --- quantiles ------------------------------------------------------------------------------------


def _places(lines: Any, padded: Any, q: Any, method: Any, skip_nan: bool) -> Position:
    """Per line and fraction two indices into a line, and the weight of the second."""
    n = lines.shape[-1]
    missing = ops.isnan(lines)
    if skip_nan:
        count = ops.astype(ops.sum(~missing, axis=-1, keepdims=True), float64)
    else:
        count = count_of(n)
    low, high, weight = method(count, q)
    order = ops.argsort(padded, axis=-1)
    spoilt = ops.any(missing, axis=-1, keepdims=True)
    spoiler = ops.argmax(ops.isnan(padded), axis=-1, keepdims=True)

    def place(at: Any) -> Any:
        at = ops.maximum(ops.minimum(at, count - 1), 0)
        at = ops.reshape(ops.astype(at, int64), (*(1,) * (lines.ndim - at.ndim), *at.shape))
        found = ops.take_along_axis(order, at, axis=-1)
        return found if skip_nan else ops.where(spoilt, spoiler, found)

    first = place(low)
    return first, first if high is low else place(high), weight


def _quantile(
    where: str, x: Any, q: Any, axis: Any, keepdims: bool, method: Any, *, skip_nan: bool
) -> Any:
    position = _method(where, method)
    x, q = as_floating(where, "x", x), _fractions(where, q)
    axes = tuple(sorted(normalize_axes(axis, x.ndim, where)))
    lines, size = _in_lines(x, axes)
    padded = lines
    if not isinstance(size, int) or size == 0:
        # The quantile of nothing is that NaN.
        widths = [(0, 0)] * (lines.ndim - 1) + [(0, 1)]
        padded = ops.pad(lines, widths, constant_values=math.nan)
    low, high, weight = _places(lines, padded, ops.reshape(q, (-1,)), position, skip_nan)
    last = lines.ndim - 1
    values = chosen_along(padded, low, axis=last)
    if weight is not None:
        weight = ops.astype(ops.asarray(weight), x.dtype)
        values = blend(values, chosen_along(padded, high, axis=last), weight)
    kept = kept_shape(x.shape, axes)
    others = kept if keepdims else tuple(n for k, n in enumerate(x.shape) if k not in axes)
    return ops.reshape(ops.moveaxis(values, -1, 0), (*q.shape, *others))


@composite(reads_values=True)
def quantile(
    x: Array,
    /,
    q: Any,
    *,
    axis: Any = None,
    keepdims: bool = False,
    method: str = "linear",
) -> Any:
    """What a fraction ``q`` of the elements along axes lies below.

    A NaN among them is the result. Equal elements keep their own derivatives, in the order of
    `argsort`; the slope in ``q`` is that between two elements, and 0 on an element.

    Args:
        x: array of real numbers; integers and booleans are cast to the default float type.
        q: fractions from 0 to 1: a number or an array, whose axes come first in the result.
        axis: an axis, a tuple of axes, or None for all.
        keepdims: keep the reduced axes, with size 1.
        method: what to take between two elements: "linear" (the default), "lower", "higher",
            "midpoint", "nearest" (halfway, to the even position), "inverted_cdf",
            "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen",
            "weibull", "median_unbiased" or "normal_unbiased".
    Returns:
        an array of the float type of ``x``; of nothing: NaN.
    Raises:
        ArgumentError: ``q`` lies outside of 0 to 1 (ValueError where only running tells), or an
            unknown method. ShapeError: an axis does not exist or is given twice.
        DTypeError: complex numbers.

    >>> import symgrad as sg
    >>> sg.quantile(sg.asarray([4.0, 1.0, 3.0, 2.0]), [0.0, 0.5, 0.9])
    Tensor([1. , 2.5, 3.7])
    """
    return _quantile("quantile", x, q, axis, keepdims, method, skip_nan=False)


@composite(reads_values=True)
def nanquantile(
    x: Array,
    /,
    q: Any,
    *,
    axis: Any = None,
    keepdims: bool = False,
    method: str = "linear",
) -> Any:
    """`quantile` of the elements that are not NaN; NaN where there are none.

    >>> import symgrad as sg
    >>> sg.nanquantile(sg.asarray([4.0, float("nan"), 3.0]), 0.5)
    Tensor(3.5)
    """
    return _quantile("nanquantile", x, q, axis, keepdims, method, skip_nan=True)


@composite
def median(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The middle one of the elements along axes; of an even number, the mean of the middle two.

    A NaN among them is the result. Arguments and errors are those of `quantile`.

    >>> import symgrad as sg
    >>> sg.median(sg.asarray([[4, 1, 3], [9, 5, 7]]), axis=1)
    Tensor([3., 7.])
    """
    return _quantile("median", x, 0.5, axis, keepdims, "linear", skip_nan=False)


@composite
def nanmedian(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """`median` of the elements that are not NaN; NaN where there are none.

    >>> import symgrad as sg
    >>> sg.nanmedian(sg.asarray([4.0, float("nan"), 3.0, 8.0]))
    Tensor(4.)
    """
    return _quantile("nanmedian", x, 0.5, axis, keepdims, "linear", skip_nan=True)
