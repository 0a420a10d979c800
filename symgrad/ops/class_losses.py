"""Losses of classifiers. The conventions are PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, DTypeError, ShapeError
from symgrad.ir.op import ops
from symgrad.ops.elementwise import softplus
from symgrad.ops.families import Array, composite, elementwise
from symgrad.ops.loss_reduction import (
    alike,
    reduced,
    require_reduction,
    require_shape,
)
from symgrad.ops.moments import wide
from symgrad.ops.scalar import astype, maximum, where
from symgrad.ops.softmax import log_softmax
from symgrad.types import is_integer

# --- yes or no ------------------------------------------------------------------------------------

LEAST_LOG, STEEPEST = -100.0, 1e12


@elementwise(
    partials=lambda y, x: 1 / maximum(x, 1 / STEEPEST),
    takes="floating",
    namespace=None,
)
def bounded_log(x: Array, /) -> Array:
    """``log(x)``, at least -100; its slope is at most 1e12.

    >>> bounded_log(np.asarray([0.0, 1.0]))
    Tensor([-100.,    0.])
    """
    return np.maximum(np.log(x), np.asarray(LEAST_LOG, x.dtype))


@elementwise(
    partials=lambda y, x: 1 / maximum(1 + x, 1 / STEEPEST),
    takes="floating",
    namespace=None,
)
def bounded_log1p(x: Array, /) -> Array:
    """``log(1 + x)``, at least -100; its slope is at most 1e12.

    >>> bounded_log1p(np.asarray([-1.0, 0.0]))
    Tensor([-100.,    0.])
    """
    return np.maximum(np.log1p(x), np.asarray(LEAST_LOG, x.dtype))


@composite
def binary_cross_entropy(
    probabilities: Array,
    targets: Array,
    /,
    weight: Array | None = None,
    *,
    reduction: str = "mean",
) -> Any:
    """The cross-entropy of yes-or-no outcomes, given their probabilities.

    ``-targets * log(p) - (1 - targets) * log(1 - p)``, where logarithms are held at -100 and their
    slopes at 1e12. Given the logarithms of odds, `binary_cross_entropy_with_logits` is accurate in
    both tails.

    Args:
        probabilities: numbers from 0 to 1; NaN comes of others.
        targets: probabilities of yes, of the same shape.
        weight: factors of the losses, that broadcast with them.
        reduction: "mean" or "sum" of all elements, or "none".
    Raises:
        ShapeError: the shapes differ. ArgumentError: another reduction.

    >>> import symgrad as sg
    >>> p, t = sg.asarray([0.0, 0.5]), sg.asarray([1.0, 1.0])
    >>> sg.binary_cross_entropy(p, t, reduction="none")
    Tensor([100.        ,   0.69314718])
    """
    name = "binary_cross_entropy"
    p, targets = alike(name, reduction, probabilities=probabilities, targets=targets)
    loss = -(targets * bounded_log(p) + (1 - targets) * bounded_log1p(-p))
    return reduced(loss, reduction, weight)


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
    logits, targets = alike(name, reduction, logits=logits, targets=targets)
    yes = targets * softplus(-logits)
    loss = (yes if pos_weight is None else yes * pos_weight) + (1 - targets) * softplus(logits)
    return reduced(loss, reduction, weight)


# --- one of several classes -----------------------------------------------------------------------


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
        require_shape(name, "weight", weight.shape, (scores.shape[axis],), "the axis of classes")


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
    single = wide(loss)
    total = ops.sum(single) / astype(ops.sum(wide(counted)), single.dtype)
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
    require_shape(
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
    return reduced(loss, reduction)


def _of_probabilities(
    name: str, logs: Any, targets: Any, weight: Any, reduction: str, smoothing: float
) -> Any:
    """The loss for probabilities as targets."""
    axis = _class_axis(name, logs)
    require_shape(name, "targets", targets.shape, logs.shape, "the logits")
    _require_weight(name, weight, logs, axis)
    terms = targets * logs
    loss = -ops.sum(terms if weight is None else terms * _per_class(weight, logs, axis), axis=axis)
    if smoothing:
        loss = _smoothed(loss, logs, weight, axis, smoothing)
    return reduced(loss, reduction)


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
    require_reduction(name, reduction)
    if not 0 <= label_smoothing <= 1:
        raise ArgumentError(
            name, "label_smoothing is out of range", expected="0 to 1", got=label_smoothing
        )
    weight = None if weight is None else ops.asarray(weight)
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
    require_reduction(name, reduction)
    _require_classes(name, targets)
    weight = None if weight is None else ops.asarray(weight)
    return _of_classes(name, logs, targets, weight, ignore_index, reduction)
