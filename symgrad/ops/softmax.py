"""Logarithms of sums of exponentials, and what is left when they are divided out.

Nodes of their own, not formulas: the kernels do not overflow, and the rules keep the relative
accuracy of small components, which the textbook's ``p * (ct - sum(ct * p))`` loses where one ``p``
is almost 1.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.ir.op import ZERO, Attrs, ops
from symgrad.ops.families import Array, linear, opaque, reduction, require_kind
from symgrad.ops.moments import any_guard, wide, widened
from symgrad.ops.reduce import (
    Axes,
    axes_in_one_form,
    kept,
    kept_shape,
    reduced_type,
    spread_guard,
)
from symgrad.ops.scalar import exp, expm1
from symgrad.ops.slicing import fits
from symgrad.types import TensorType, float16, normalize_axis

# --- for the kernels ------------------------------------------------------------------------------


def log_total(shifted: Array, axis: tuple[int, ...] | int) -> Array:
    """``log(sum(exp(shifted)))`` with kept axes, where the largest of ``shifted`` is 0.

    The terms that are exactly 1 are counted apart, so that what the others add is not rounded away.
    """
    ones = shifted == 0
    rest = np.add.reduce(np.exp(shifted) - ones, axis=axis, keepdims=True)
    number = np.add.reduce(ones, axis=axis, dtype=rest.dtype, keepdims=True)
    return np.log1p(rest + (number - 1))


def peak_of(x: Array, axis: tuple[int, ...] | int) -> Array:
    """The largest element with kept axes; -inf of nothing."""
    return np.maximum.reduce(x, axis=axis, keepdims=True, initial=-np.inf)


def in_lines(x: Array, axis: tuple[int, ...]) -> Array:
    """The axes as one, behind all others."""
    others = [k for k in range(x.ndim) if k not in axis]
    moved = x.transpose(*others, *axis)
    return moved.reshape(*moved.shape[: len(others)], math.prod(moved.shape[len(others) :]))


# --- for the rules --------------------------------------------------------------------------------


def _at_peak_type(t: TensorType, p: TensorType, *, axis: Axes) -> TensorType:
    require_kind("at_peak", p.dtype, "real")
    fits("at_peak", t.shape, p.shape)
    return TensorType(kept_shape(t.shape, axis), t.dtype)


@linear(
    type=_at_peak_type,
    transpose=lambda ct, t, p, *, axis: ops.onto_peak(ct, p, axis=axis),
    warns=False,
    namespace=None,
)
def at_peak(t: Array, p: Array, /, *, axis: tuple[int, ...]) -> Array:
    """What ``t`` is where ``p`` is largest, with kept axes; of nothing: 0.

    >>> at_peak(np.array([3.0, 4.0]), np.array([0.2, 0.8]), axis=(0,))
    Tensor([4.])
    """
    kept = tuple(1 if k in axis else size for k, size in enumerate(t.shape))
    values, sizes = in_lines(t, axis), in_lines(p, axis)
    if sizes.shape[-1] == 0:
        return np.zeros(kept, t.dtype)
    places = np.argmax(sizes, axis=-1, keepdims=True)
    return np.take_along_axis(values, places, -1).reshape(kept)


def _onto_peak_type(ct: TensorType, p: TensorType, *, axis: Axes) -> TensorType:
    require_kind("onto_peak", p.dtype, "real")
    fits("onto_peak", ct.shape, kept_shape(p.shape, axis))
    return TensorType(p.shape, ct.dtype)


@linear(
    type=_onto_peak_type,
    transpose=lambda ct, v, p, *, axis: at_peak(ct, p, axis=axis),
    warns=False,
    namespace=None,
)
def onto_peak(v: Array, p: Array, /, *, axis: tuple[int, ...]) -> Array:
    """Zeros with ``v`` where ``p`` is largest: the transpose of `at_peak`.

    >>> onto_peak(np.array([4.0]), np.array([0.2, 0.8]), axis=(0,))
    Tensor([0., 4.])
    """
    sizes = in_lines(p, axis)
    whole = np.zeros(sizes.shape, v.dtype)
    if sizes.shape[-1] > 0:
        places = np.argmax(sizes, axis=-1, keepdims=True)
        np.put_along_axis(whole, places, v.reshape(places.shape), -1)
    order = [k for k in range(p.ndim) if k not in axis] + list(axis)
    moved = whole.reshape([p.shape[k] for k in order])
    return moved.transpose(np.argsort(order).tolist())


def _centred(t: Any, p: Any, axes: Axes) -> Any:
    """``t - sum(t * p)``, for shares ``p`` that sum to 1.

    Only differences to the entry of the largest share enter: its own coefficient ``1 - p`` is then
    a sum of the other shares, and not rounded away.
    """
    if 0 in [p.shape[axis] for axis in axes]:
        return t
    differences = t - at_peak(t, p, axis=axes)
    return differences - ops.sum(differences * p, axis=axes, keepdims=True)


# --- logsumexp ------------------------------------------------------------------------------------


def _logsumexp_type(x: TensorType, *, axis: Axes, keepdims: bool) -> TensorType:
    require_kind("logsumexp", x.dtype, "floating")
    return reduced_type(x, axis, keepdims, x.dtype)


def _logsumexp_vjp(ct: Any, y: Any, x: Any, *, axis: Axes, keepdims: bool) -> Any:
    return kept(ct, x.shape, axis) * share(x, axis=axis)


def _logsumexp_jvp(tangents: Any, y: Any, args: Any, attrs: Attrs) -> Any:
    if tangents[0] is ZERO:
        return ZERO
    (x,), axis = args, attrs["axis"]
    return ops.sum(tangents[0] * share(x, axis=axis), **attrs)


@reduction(
    type=_logsumexp_type,
    vjp=(_logsumexp_vjp,),
    jvp=_logsumexp_jvp,
    normalize=axes_in_one_form("logsumexp"),
    guard=spread_guard,
    integers="float",
)
def logsumexp(x: Array, /, axis: Any = None, keepdims: bool = False) -> Array:
    """``log(sum(exp(x)))`` along axes, without overflow; of nothing: -inf.

    Its slope is 0 where all elements are -inf, and NaN at an element that is +inf.

    Args:
        x: array of real floating numbers; integers and booleans are cast to the default float type.
        axis: an axis, a tuple of axes, or None for all.
        keepdims: keep the reduced axes, with size 1.
    Raises:
        ShapeError: an axis does not exist or is given twice. DTypeError: complex numbers.

    >>> import symgrad as sg
    >>> float(sg.logsumexp(sg.asarray([1000.0, -float("inf")])))
    1000.0
    """
    wide = widened(x)
    peak = peak_of(wide, axis)
    peak = np.where(np.isfinite(peak), peak, 0)
    total = log_total(wide - peak, axis) + peak
    return (total if keepdims else np.squeeze(total, axis=axis)).astype(x.dtype, copy=False)


def _share_type(x: TensorType, *, axis: Axes) -> TensorType:
    require_kind("share", x.dtype, "floating")
    return x


def _share_jvp(tangents: Any, p: Any, args: Any, attrs: Attrs) -> Any:
    return ZERO if tangents[0] is ZERO else p * _centred(tangents[0], p, attrs["axis"])


@opaque(
    type=_share_type,
    vjp=(lambda ct, p, x, *, axis: p * _centred(ct, p, axis),),
    jvp=_share_jvp,
    guard=any_guard,
    namespace=None,
)
def share(x: Array, /, *, axis: tuple[int, ...]) -> Array:
    """The share of each element in its sum of exponentials: the slope of `logsumexp`.

    It is `softmax` over several axes; where all elements are -inf, the shares are 0. From ``x``
    itself, since ``exp(x - logsumexp(x))`` keeps the rounding of a large result.

    >>> share(np.zeros(2), axis=(0,))
    Tensor([0.5, 0.5])
    """
    wide = widened(x)
    peak = peak_of(wide, axis)
    powers = np.exp(wide - np.where(np.isfinite(peak), peak, 0))
    total = np.add.reduce(powers, axis=axis, keepdims=True)
    return np.divide(powers, np.where(total == 0, 1, total)).astype(x.dtype, copy=False)


# --- softmax --------------------------------------------------------------------------------------


def _axis_in_one_form(name: str) -> Any:
    def normalize(types: list[TensorType], attrs: Attrs) -> Attrs:
        return {"axis": normalize_axis(attrs["axis"], types[0].ndim, name)}

    return normalize


def _softmax_type(name: str) -> Any:
    def infer(x: TensorType, *, axis: int) -> TensorType:
        require_kind(name, x.dtype, "floating")
        return x

    return infer


def _softmax_jvp(tangents: Any, y: Any, args: Any, attrs: Attrs) -> Any:
    return ZERO if tangents[0] is ZERO else y * _centred(tangents[0], y, (attrs["axis"],))


@opaque(
    type=_softmax_type("softmax"),
    vjp=(lambda ct, y, x, *, axis: y * _centred(ct, y, (axis,)),),
    jvp=_softmax_jvp,
    normalize=_axis_in_one_form("softmax"),
    guard=any_guard,
    integers="float",
)
def softmax(x: Array, /, axis: int = -1) -> Array:
    """``exp(x) / sum(exp(x))`` along an axis, without overflow.

    NaN where all elements are -inf, and at an element that is +inf.

    Args:
        x: array of real floating numbers, of at least one axis; half precision is computed in
            single.
        axis: the axis along which the results sum to 1.
    Raises:
        ShapeError: the axis does not exist. DTypeError: complex numbers.

    >>> import symgrad as sg
    >>> sg.softmax(sg.asarray([1000.0, 1000.0]))
    Tensor([0.5, 0.5])
    """
    wide = widened(x)
    peak = peak_of(wide, axis)
    # An infinite one is not subtracted: next to it finite elements have the share 0, not NaN.
    powers = np.exp(wide - np.where(np.isfinite(peak), peak, 0))
    return np.divide(powers, np.add.reduce(powers, axis=axis, keepdims=True)).astype(
        x.dtype, copy=False
    )


def _log_softmax_vjp(ct: Any, y: Any, x: Any, *, axis: int) -> Any:
    # ct - p * sum(ct), arranged so that 1 - p is never a difference of numbers close to 1.
    ct = wide(ct)
    logs = log_softmax(wide(x), axis=axis) if x.dtype == float16 else y
    total = ops.sum(ct, axis=axis, keepdims=True)
    return exp(logs) * (ct - total) - ct * expm1(logs)


def _log_softmax_jvp(tangents: Any, y: Any, args: Any, attrs: Attrs) -> Any:
    if tangents[0] is ZERO:
        return ZERO
    (x,), axis = args, attrs["axis"]
    logs = log_softmax(wide(x), axis=axis) if x.dtype == float16 else y
    return _centred(wide(tangents[0]), exp(logs), (axis,))


@opaque(
    type=_softmax_type("log_softmax"),
    vjp=(_log_softmax_vjp,),
    jvp=_log_softmax_jvp,
    normalize=_axis_in_one_form("log_softmax"),
    guard=any_guard,
    integers="float",
)
def log_softmax(x: Array, /, axis: int = -1) -> Array:
    """``log(softmax(x))`` along an axis: ``x - logsumexp(x)``, without overflow.

    Arguments and errors are those of ``softmax``.

    >>> import symgrad as sg
    >>> sg.log_softmax(sg.asarray([0.0, 1000.0]))
    Tensor([-1000.,     0.])
    """
    wide = widened(x)
    shifted = wide - peak_of(wide, axis)
    return (shifted - log_total(shifted, axis)).astype(x.dtype, copy=False)
