"""Losses that ask for a distance: nothing beyond a margin. The conventions are PyTorch's.

At the margin itself the slope is 0, as that of `relu`.
"""

from __future__ import annotations

from typing import Any

from symgrad.errors import ArgumentError, DTypeError, ShapeError
from symgrad.ir.op import ops
from symgrad.ops.elementwise import log_sigmoid, relu, softplus
from symgrad.ops.families import Array, composite
from symgrad.ops.loss_reduction import (
    alike,
    as_floats,
    reduced,
    require_number,
    require_reduction,
    require_shape,
)
from symgrad.ops.scalar import minimum, sqrt, square, where
from symgrad.ops.similarity import pairwise_distance
from symgrad.types import is_integer

# --- signs as targets -----------------------------------------------------------------------------


@composite
def soft_margin_loss(logits: Array, target: Array, /, *, reduction: str = "mean") -> Any:
    """``log(1 + exp(-target * logits))``, for targets 1 and -1.

    Args:
        logits: array of any shape.
        target: 1 or -1, in the same shape.
        reduction: "mean" or "sum" of all elements, or "none".
    Raises:
        ShapeError: the shapes differ. ArgumentError: another reduction.

    >>> import symgrad as sg
    >>> round(float(sg.soft_margin_loss(sg.asarray([1.0]), sg.asarray([-1.0]))), 6)
    1.313262
    """
    logits, target = alike("soft_margin_loss", reduction, logits=logits, target=target)
    return reduced(softplus(-target * logits), reduction)


@composite
def hinge_embedding_loss(
    distance: Array, target: Array, /, *, margin: float = 1.0, reduction: str = "mean"
) -> Any:
    """The distance where the target is 1, what it lacks of a margin where the target is -1.

    Args:
        distance: array of any shape.
        target: 1 or -1, in the same shape.
        margin: a number.
        reduction: "mean" or "sum" of all elements, or "none".
    Raises:
        ShapeError: the shapes differ. ArgumentError: another reduction.

    >>> import symgrad as sg
    >>> x, t = sg.asarray([0.5, 0.25, 3.0]), sg.asarray([1, -1, -1])
    >>> sg.hinge_embedding_loss(x, t, reduction="none")
    Tensor([0.5 , 0.75, 0.  ])
    """
    name = "hinge_embedding_loss"
    distance, target = alike(name, reduction, distance=distance, target=target)
    near = where(target != -1, distance, 0)
    return reduced(near + where(target != 1, relu(margin - distance), 0), reduction)


@composite
def margin_ranking_loss(
    x1: Array, x2: Array, target: Array, /, *, margin: float = 0.0, reduction: str = "mean"
) -> Any:
    """``max(0, margin - target * (x1 - x2))``: with target 1, ``x1`` should be the larger.

    Args:
        x1, x2: arrays of one shape.
        target: 1 or -1, in the same shape.
        margin: by how much.
        reduction: "mean" or "sum" of all elements, or "none".
    Raises:
        ShapeError: the shapes differ. ArgumentError: another reduction.

    >>> import symgrad as sg
    >>> x, y = sg.asarray([1.0, 2.0]), sg.asarray([2.0, 1.0])
    >>> float(sg.margin_ranking_loss(x, y, sg.asarray([1, 1]), reduction="sum"))
    1.0
    """
    x1, x2, target = alike("margin_ranking_loss", reduction, x1=x1, x2=x2, target=target)
    return reduced(relu(margin - target * (x1 - x2)), reduction)


# --- vectors --------------------------------------------------------------------------------------

_COSINE_EPS = 1e-12


@composite
def cosine_embedding_loss(
    x1: Array, x2: Array, target: Array, /, *, margin: float = 0.0, reduction: str = "mean"
) -> Any:
    """``1 - cos`` where the target is 1, ``max(0, cos - margin)`` where it is -1.

    The cosine is ``x1@x2 / (sqrt(x1@x1 + 1e-12) * sqrt(x2@x2 + 1e-12))``, along the last axis.

    Args:
        x1, x2: (…, n) arrays of one shape.
        target: (…) 1 or -1.
        margin: a number from -1 to 1.
        reduction: "mean" or "sum" of all elements, or "none".
    Raises:
        ShapeError: shapes do not fit. ArgumentError: another reduction.

    >>> import symgrad as sg
    >>> x, y = sg.asarray([[1.0, 0.0]]), sg.asarray([[1.0, 1.0]])
    >>> round(float(sg.cosine_embedding_loss(x, y, sg.asarray([1]))), 6)
    0.292893
    """
    name = "cosine_embedding_loss"
    x1, x2 = alike(name, reduction, x1=x1, x2=x2)
    if x1.ndim == 0:
        raise ShapeError(name, "there is no axis of vectors", expected="1 axis or more", got=x1)
    target = ops.asarray(target)
    require_shape(name, "target", target.shape, x1.shape[:-1], "x1 without the last axis")
    squares = [ops.sum(square(x), axis=-1) + _COSINE_EPS for x in (x1, x2)]
    cosine = ops.sum(x1 * x2, axis=-1) / (sqrt(squares[0]) * sqrt(squares[1]))
    near = where(target == 1, 1 - cosine, 0)
    return reduced(near + where(target == -1, relu(cosine - margin), 0), reduction)


@composite
def triplet_margin_loss(
    anchor: Array,
    positive: Array,
    negative: Array,
    /,
    *,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    """``max(0, margin + d(anchor, positive) - d(anchor, negative))``, with `pairwise_distance`.

    Args:
        anchor, positive, negative: (…, n) arrays of one shape.
        margin: a positive number.
        p: the order of the norm.
        eps: added to each difference.
        swap: take ``d(positive, negative)`` where it is less than ``d(anchor, negative)``.
        reduction: "mean" or "sum" of all elements, or "none".
    Raises:
        ShapeError: the shapes differ. ArgumentError: another reduction, or margin not positive.

    >>> import symgrad as sg
    >>> a, p, n = (sg.asarray([[x, 0.0]]) for x in (0.0, 3.0, 1.0))
    >>> round(float(sg.triplet_margin_loss(a, p, n)), 4)
    3.0
    """
    name = "triplet_margin_loss"
    require_number(name, "margin", margin, margin > 0, "a positive number")
    given = alike(name, reduction, anchor=anchor, positive=positive, negative=negative)
    anchor, positive, negative = given
    near = pairwise_distance(anchor, positive, p=p, eps=eps)
    far = pairwise_distance(anchor, negative, p=p, eps=eps)
    if swap:
        far = minimum(far, pairwise_distance(positive, negative, p=p, eps=eps))
    return reduced(relu(margin + near - far), reduction)


# --- classes --------------------------------------------------------------------------------------


def _require_scores(name: str, scores: Any) -> None:
    if scores.ndim == 0:
        raise ShapeError(
            name, "there is no axis of classes", expected="1 axis or more", got=scores.type
        )


@composite
def multi_margin_loss(
    scores: Array,
    targets: Array,
    /,
    weight: Array | None = None,
    *,
    p: int = 1,
    margin: float = 1.0,
    reduction: str = "mean",
) -> Any:
    """By how much the scores of other classes come within a margin of the target's.

    The sum of ``max(0, margin - scores[target] + scores[i])**p`` over all other classes i, divided
    by the number of classes.

    Args:
        scores: (…, classes) numbers.
        targets: (…) integers, the classes.
        weight: a factor per class, that of the target.
        p: 1 or 2.
        margin: a number.
        reduction: "mean" or "sum" of all elements, or "none".
    Raises:
        ShapeError: shapes do not fit. DTypeError: targets are no integers.
        ArgumentError: another reduction, or another p. IndexError: a target is no class, when it
            runs.

    >>> import symgrad as sg
    >>> x = sg.asarray([[0.1, 0.2, 0.4, 0.8]])
    >>> round(float(sg.multi_margin_loss(x, sg.asarray([3]))), 6)
    0.325
    """
    name = "multi_margin_loss"
    require_reduction(name, reduction)
    if p not in (1, 2):
        raise ArgumentError(name, "p is neither 1 nor 2", expected="1 or 2", got=repr(p))
    scores, targets = as_floats(name, "scores", scores), ops.asarray(targets)
    _require_scores(name, scores)
    _require_integers(name, targets)
    require_shape(name, "targets", targets.shape, scores.shape[:-1], "scores without the last axis")
    index = ops.expand_dims(targets, axis=-1)
    lack = relu(margin - ops.take_along_axis(scores, index, axis=-1) + scores)
    others = ops.arange(scores.shape[-1]) != index
    terms = where(others, square(lack) if p == 2 else lack, 0)
    if weight is not None:
        terms = terms * ops.take(ops.asarray(weight), index, axis=0)
    return reduced(ops.sum(terms, axis=-1) / scores.shape[-1], reduction)


def _require_integers(name: str, targets: Any) -> None:
    if not is_integer(targets.dtype):
        raise DTypeError(name, "element type of targets", expected="integer", got=targets.dtype)


@composite
def multilabel_margin_loss(scores: Array, targets: Array, /, *, reduction: str = "mean") -> Any:
    """By how much the scores of other classes come within 1 of those of the target classes.

    The sum of ``max(0, 1 - scores[t] + scores[i])`` over all target classes t and all others i,
    divided by the number of classes.

    Args:
        scores: (…, classes) numbers.
        targets: integers in the same shape: the target classes, each once, up to the first -1.
        reduction: "mean" or "sum" of all elements, or "none".
    Raises:
        ShapeError: the shapes differ, or there is no axis. DTypeError: targets are no integers.
        ArgumentError: another reduction. IndexError: a target is no class, when it runs.

    >>> import symgrad as sg
    >>> x, t = sg.asarray([[0.1, 0.2, 0.4, 0.8]]), sg.asarray([[3, 0, -1, 1]])
    >>> round(float(sg.multilabel_margin_loss(x, t)), 6)
    0.85
    """
    name = "multilabel_margin_loss"
    require_reduction(name, reduction)
    scores, targets = as_floats(name, "scores", scores), ops.asarray(targets)
    _require_scores(name, scores)
    _require_integers(name, targets)
    require_shape(name, "targets", targets.shape, scores.shape, "scores")
    valid = ops.cumulative_sum(targets < 0, axis=-1) == 0
    index = where(valid, targets, 0)
    lack = 1 - ops.take_along_axis(scores, index, axis=-1)
    classes = ops.arange(scores.shape[-1])
    chosen = ops.expand_dims(valid, axis=-1) & (ops.expand_dims(index, axis=-1) == classes)
    others = ~ops.any(chosen, axis=-2)
    counted = ops.expand_dims(valid, axis=-1) & ops.expand_dims(others, axis=-2)
    pairs = relu(ops.expand_dims(lack, axis=-1) + ops.expand_dims(scores, axis=-2))
    total = ops.sum(where(counted, pairs, 0), axis=(-2, -1))
    return reduced(total / scores.shape[-1], reduction)


@composite
def multilabel_soft_margin_loss(
    logits: Array,
    targets: Array,
    /,
    weight: Array | None = None,
    *,
    reduction: str = "mean",
) -> Any:
    """The cross-entropy of several yes-or-no outcomes, averaged over the last axis.

    Args:
        logits: (…, classes) logarithms of odds.
        targets: probabilities of yes, in the same shape.
        weight: a factor per class.
        reduction: "mean" or "sum" of all averages, or "none".
    Raises:
        ShapeError: the shapes differ, or there is no axis. ArgumentError: another reduction.

    >>> import symgrad as sg
    >>> x, t = sg.asarray([[0.0, 1000.0]]), sg.asarray([[1.0, 1.0]])
    >>> round(float(sg.multilabel_soft_margin_loss(x, t)), 6)  # log(2) / 2
    0.346574
    """
    name = "multilabel_soft_margin_loss"
    logits, targets = alike(name, reduction, logits=logits, targets=targets)
    _require_scores(name, logits)
    loss = -(targets * log_sigmoid(logits) + (1 - targets) * log_sigmoid(-logits))
    if weight is not None:
        loss = loss * weight
    return reduced(ops.mean(loss, axis=-1), reduction)
