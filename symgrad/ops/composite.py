"""Functions written in other ops: clip, closeness, losses. All about them follows by expansion."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, DTypeError, ShapeError
from symgrad.ir.op import ops
from symgrad.ops.elementwise import softplus
from symgrad.ops.families import Array, composite
from symgrad.ops.moments import mean
from symgrad.ops.scalar import (
    abs,
    astype,
    clip_to,
    isfinite,
    isnan,
    maximum,
    minimum,
    square,
    where,
)
from symgrad.ops.softmax import log_softmax
from symgrad.types import Dim, DType, Shape, float16, float32, is_bool, is_integer

# --- clip -----------------------------------------------------------------------------------------


def _is_number(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, Dim))


def _binding(value: Any, dtype: DType, side: str) -> Any:
    """A bound, or None where it holds no value of an integer type back."""
    if type(value) is int and is_integer(dtype):
        info = np.iinfo(dtype)
        idle = value <= info.min if side == "min" else value >= info.max
        return None if idle else value
    return value


@composite
def clip(x: Array, /, min: Any = None, max: Any = None) -> Any:
    """``x`` held between two bounds; where ``min > max``, ``max`` wins. NaN stays NaN.

    On a bound that is a number, the slope is 0 (the least subgradient); at a tie with a bound that
    is an array, it is shared evenly, as `maximum` and `minimum` do.

    Args:
        x: real numbers.
        min, max: numbers, or arrays that broadcast with ``x``; None is no bound. A float bound
            turns integers into floats.
    Raises:
        DTypeError: complex or boolean ``x``. ShapeError: shapes do not broadcast.

    >>> import symgrad as sg
    >>> sg.clip(sg.asarray([-1.0, 0.5, 2.0]), 0.0, 1.0)
    Tensor([0. , 0.5, 1. ])
    """
    x = ops.asarray(x)
    if is_bool(x.dtype):
        raise DTypeError("clip", "element type of x", expected="real", got=x.dtype)
    low, high = _binding(min, x.dtype, "min"), _binding(max, x.dtype, "max")
    if _is_number(low) and _is_number(high):
        return _between_numbers(x, low, high)
    x = _between_numbers(x, low, None) if _is_number(low) else maximum(x, low)
    return _between_numbers(x, None, high) if _is_number(high) else minimum(x, high)


def _between_numbers(x: Any, low: Any, high: Any) -> Any:
    if low is None and high is None:
        return x
    if is_integer(x.dtype) and not isinstance(low, float) and not isinstance(high, float):
        x = x if low is None else maximum(x, low)
        return x if high is None else minimum(x, high)
    infinity = float("inf")
    return clip_to(x, -infinity if low is None else low, infinity if high is None else high)


# --- closeness ------------------------------------------------------------------------------------


@composite
def isclose(
    x1: Array, x2: Array, /, rtol: float = 1e-5, atol: float = 1e-8, *, equal_nan: bool = False
) -> Any:
    """Whether ``abs(x1 - x2) <= atol + rtol * abs(x2)``; infinities are close to themselves.

    Args:
        x1, x2: arrays whose shapes broadcast.
        rtol, atol: relative and absolute tolerance.
        equal_nan: whether NaN is close to NaN.

    >>> import symgrad as sg
    >>> sg.isclose(sg.asarray([1.0, 2.0]), sg.asarray([1.0, 2.1]))
    Tensor([ True, False])
    """
    x1, x2 = ops.asarray(x1), ops.asarray(x2)
    if is_bool(x1.dtype) and is_bool(x2.dtype):
        return x1 == x2
    near = (abs(x1 - x2) <= atol + rtol * abs(x2)) & isfinite(x2)
    close = near | (x1 == x2)
    return close | (isnan(x1) & isnan(x2)) if equal_nan else close


@composite
def allclose(
    x1: Array, x2: Array, /, rtol: float = 1e-5, atol: float = 1e-8, *, equal_nan: bool = False
) -> Any:
    """Whether `isclose` holds for all elements.

    >>> import symgrad as sg
    >>> bool(sg.allclose(sg.asarray([1.0, 2.0]), sg.asarray([1.0, 2.0 + 1e-9])))
    True
    """
    return ops.all(isclose(x1, x2, rtol, atol, equal_nan=equal_nan))


# --- what losses share ----------------------------------------------------------------------------


def _require_reduction(name: str, reduction: str) -> None:
    if reduction not in ("mean", "sum", "none"):
        raise ArgumentError(
            name, "unknown reduction", expected="'mean', 'sum' or 'none'", got=repr(reduction)
        )


def _require_shape(name: str, argument: str, shape: Shape, expected: Shape, of: str) -> None:
    """Refuse shapes that differ, also those that would broadcast: a loss of the wrong pairs."""
    differs = len(shape) != len(expected)
    for size, wanted in zip(shape, expected, strict=False):
        known = isinstance(size, int) and isinstance(wanted, int)
        differs = differs or (size != wanted and (known or 1 in (size, wanted)))
    if differs:
        raise ShapeError(
            name, f"{argument} has another shape than {of}", expected=expected, got=shape
        )


def _reduced(loss: Any, reduction: str) -> Any:
    if reduction == "mean":
        return mean(loss)
    return ops.sum(loss) if reduction == "sum" else loss


def _wide(x: Any) -> Any:
    return astype(x, float32) if x.dtype == float16 else x


# --- regression -----------------------------------------------------------------------------------


@composite
def mse_loss(prediction: Array, target: Array, /, *, reduction: str = "mean") -> Any:
    """The squared differences of ``prediction`` and ``target``.

    Args:
        prediction, target: arrays of one shape; they do not broadcast.
        reduction: "mean" or "sum" of all elements, or "none".
    Raises:
        ShapeError: the shapes differ. ArgumentError: another reduction.

    >>> import symgrad as sg
    >>> float(sg.mse_loss(sg.asarray([1.0, 2.0]), sg.asarray([1.0, 4.0])))
    2.0
    """
    prediction, target = ops.asarray(prediction), ops.asarray(target)
    _require_reduction("mse_loss", reduction)
    _require_shape("mse_loss", "target", target.shape, prediction.shape, "prediction")
    return _reduced(square(prediction - target), reduction)


# --- classification -------------------------------------------------------------------------------


@composite
def binary_cross_entropy_with_logits(
    logits: Array,
    targets: Array,
    /,
    weight: Array | None = None,
    *,
    pos_weight: Array | None = None,
    reduction: str = "mean",
) -> Any:
    """The cross-entropy of yes-or-no outcomes, given the logarithms of their odds.

    ``targets * softplus(-logits) + (1 - targets) * softplus(logits)``, accurate in both tails.

    Args:
        logits: array of any shape.
        targets: probabilities of yes, of the same shape.
        weight: factors of the losses, that broadcast with them.
        pos_weight: factors of the first term.
        reduction: "mean" or "sum" of all elements, or "none".
    Raises:
        ShapeError: the shapes differ. ArgumentError: another reduction.

    >>> import symgrad as sg
    >>> x, t = sg.asarray([1000.0, -1000.0]), sg.asarray([1.0, 1.0])
    >>> sg.binary_cross_entropy_with_logits(x, t, reduction="none")
    Tensor([   0., 1000.])
    """
    name = "binary_cross_entropy_with_logits"
    logits, targets = ops.asarray(logits), ops.asarray(targets)
    _require_reduction(name, reduction)
    _require_shape(name, "targets", targets.shape, logits.shape, "logits")
    yes = targets * softplus(-logits)
    loss = (yes if pos_weight is None else yes * pos_weight) + (1 - targets) * softplus(logits)
    return _reduced(loss if weight is None else loss * weight, reduction)


def _class_axis(name: str, scores: Any) -> int:
    if scores.ndim == 0:
        raise ShapeError(
            name, "there is no axis of classes", expected="1 axis or more", got=scores.type
        )
    return 0 if scores.ndim == 1 else 1


def _per_class(weight: Any, scores: Any, axis: int) -> Any:
    """Class weights in a shape that broadcasts with the scores."""
    shape = [1] * scores.ndim
    shape[axis] = weight.shape[0]
    return ops.reshape(weight, shape)


def _require_weight(name: str, weight: Any, scores: Any, axis: int) -> None:
    if weight is not None:
        _require_shape(name, "weight", weight.shape, (scores.shape[axis],), "the axis of classes")


def _picked(scores: Any, classes: Any, axis: int) -> Any:
    index = ops.expand_dims(classes, axis=axis)
    return ops.squeeze(ops.take_along_axis(scores, index, axis=axis), axis=axis)


def _smoothed(loss: Any, logs: Any, weight: Any, axis: int, smoothing: float) -> Any:
    """Part of the loss as if every class were the target equally often."""
    weighted = logs if weight is None else logs * _per_class(weight, logs, axis)
    flat = -ops.sum(weighted, axis=axis) / logs.shape[axis]
    return (1 - smoothing) * loss + smoothing * flat


def _weighted_mean(loss: Any, counted: Any) -> Any:
    """The sum of losses by the sum of their weights (or the number of those that count)."""
    wide = _wide(loss)
    total = ops.sum(wide) / astype(ops.sum(_wide(counted)), wide.dtype)
    return total if total.dtype == loss.dtype else astype(total, loss.dtype)


def _of_classes(
    name: str,
    logs: Any,
    targets: Any,
    weight: Any,
    ignore_index: int | None,
    reduction: str,
    smoothing: float = 0.0,
) -> Any:
    """The loss for integer targets, given the logarithms of probabilities."""
    axis = _class_axis(name, logs)
    expected = (*logs.shape[:axis], *logs.shape[axis + 1 :])
    _require_shape(
        name, "targets", targets.shape, expected, "the scores without the axis of classes"
    )
    _require_weight(name, weight, logs, axis)
    valid = None if ignore_index is None else targets != ignore_index
    classes = targets if valid is None else where(valid, targets, 0)
    loss = -_picked(logs, classes, axis)
    counted = valid
    if weight is not None:
        factor = ops.take(weight, classes, axis=0)
        loss = loss * factor
        counted = factor if valid is None else where(valid, factor, 0)
    if smoothing:
        loss = _smoothed(loss, logs, weight, axis, smoothing)
    if valid is not None:
        loss = where(valid, loss, 0)
    if reduction == "mean" and counted is not None:
        return _weighted_mean(loss, counted)
    return _reduced(loss, reduction)


def _of_probabilities(
    name: str, logs: Any, targets: Any, weight: Any, reduction: str, smoothing: float
) -> Any:
    """The loss for probabilities as targets."""
    axis = _class_axis(name, logs)
    _require_shape(name, "targets", targets.shape, logs.shape, "the logits")
    _require_weight(name, weight, logs, axis)
    terms = targets * logs
    loss = -ops.sum(terms if weight is None else terms * _per_class(weight, logs, axis), axis=axis)
    if smoothing:
        loss = _smoothed(loss, logs, weight, axis, smoothing)
    return _reduced(loss, reduction)


@composite
def cross_entropy(
    logits: Array,
    targets: Array,
    /,
    weight: Array | None = None,
    *,
    ignore_index: int | None = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """The negative logarithm of the probability of the target class, given unnormalised scores.

    The conventions are PyTorch's.

    Args:
        logits: scores ``(classes,)`` or ``(batch, classes, …)``.
        targets: integers, the classes, in the shape of ``logits`` without the axis of classes; or
            floating probabilities of all classes, in the shape of ``logits``.
        weight: a factor per class. The mean then divides by the sum of the targets' factors (for
            probabilities by the number of targets, always).
        ignore_index: a target that does not count, neither in the sum nor for the mean; None: all
            count. If none is left, the mean is NaN.
        reduction: "mean", "sum", or "none".
        label_smoothing: the share of the target's probability that is spread over all classes.
    Raises:
        ShapeError: shapes do not fit. DTypeError: boolean or complex targets.
        ArgumentError: another reduction, or a smoothing outside 0 to 1.
        OutOfRange: a target is no class, when it runs.

    >>> import symgrad as sg
    >>> loss = sg.cross_entropy(sg.asarray([[0.0, 0.0], [1000.0, 0.0]]), sg.asarray([0, 0]))
    >>> round(float(loss), 6)
    0.346574
    """
    name = "cross_entropy"
    logits, targets = ops.asarray(logits), ops.asarray(targets)
    _require_reduction(name, reduction)
    if not 0 <= label_smoothing <= 1:
        raise ArgumentError(
            name, "label_smoothing is out of range", expected="0 to 1", got=label_smoothing
        )
    logs = log_softmax(logits, axis=_class_axis(name, logits))
    if targets.dtype.kind == "f":
        return _of_probabilities(name, logs, targets, weight, reduction, label_smoothing)
    _require_classes(name, targets)
    return _of_classes(name, logs, targets, weight, ignore_index, reduction, label_smoothing)


def _require_classes(name: str, targets: Any) -> None:
    if not is_integer(targets.dtype):
        raise DTypeError(name, "element type of targets", expected="integer", got=targets.dtype)


@composite
def nll_loss(
    log_probabilities: Array,
    targets: Array,
    /,
    weight: Array | None = None,
    *,
    ignore_index: int | None = -100,
    reduction: str = "mean",
) -> Any:
    """The negative logarithm of the probability of the target class, given all logarithms.

    Arguments and errors are those of ``cross_entropy``, but targets are integers.

    >>> import symgrad as sg
    >>> logs = sg.log_softmax(sg.asarray([[0.0, 0.0], [1000.0, 0.0]]), axis=1)
    >>> sg.nll_loss(logs, sg.asarray([0, 0]), reduction="sum") == -logs[0, 0]
    Tensor(True)
    """
    name = "nll_loss"
    logs, targets = ops.asarray(log_probabilities), ops.asarray(targets)
    _require_reduction(name, reduction)
    _require_classes(name, targets)
    return _of_classes(name, logs, targets, weight, ignore_index, reduction)
