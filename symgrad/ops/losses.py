"""Losses of predictions of numbers, and of distributions. The conventions are PyTorch's."""

from __future__ import annotations

import math
from typing import Any

from symgrad.errors import ShapeError
from symgrad.ir.op import ops
from symgrad.ops.composite import clip
from symgrad.ops.elementwise import xlogy
from symgrad.ops.families import Array, composite
from symgrad.ops.loss_reduction import (
    alike,
    as_floats,
    reduced,
    require_number,
    require_reduction,
    require_shape,
)
from symgrad.ops.scalar import abs, exp, log, square, stop_gradient, where

_LOG_TWO_PI = math.log(2 * math.pi)

# --- distances ------------------------------------------------------------------------------------


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
    prediction, target = alike("mse_loss", reduction, prediction=prediction, target=target)
    return reduced(square(prediction - target), reduction)


@composite
def l1_loss(prediction: Array, target: Array, /, *, reduction: str = "mean") -> Any:
    """The absolute differences of ``prediction`` and ``target``; the slope at 0 is 0.

    Arguments and errors are those of ``mse_loss``.

    >>> import symgrad as sg
    >>> float(sg.l1_loss(sg.asarray([1.0, 2.0]), sg.asarray([1.0, 4.0])))
    1.0
    """
    prediction, target = alike("l1_loss", reduction, prediction=prediction, target=target)
    return reduced(abs(prediction - target), reduction)


def _rounded_corner(distance: Any, width: float) -> Any:
    """Half the square up to a width, and on from there with the slope that it has there."""
    near = clip(distance, None, width)
    return 0.5 * square(near) + width * (distance - near)


@composite
def huber_loss(
    prediction: Array, target: Array, /, *, delta: float = 1.0, reduction: str = "mean"
) -> Any:
    """Half the squared difference where that is up to ``delta``, and a straight line beyond.

    ``d*d/2`` for ``d <= delta``, else ``delta * (d - delta/2)``.

    Args:
        prediction, target: arrays of one shape.
        delta: a positive number.
        reduction: "mean" or "sum" of all elements, or "none".
    Raises:
        ShapeError: the shapes differ. ArgumentError: another reduction, or delta is not positive.

    >>> import symgrad as sg
    >>> sg.huber_loss(sg.asarray([0.5, 3.0]), sg.asarray([0.0, 0.0]), reduction="none")
    Tensor([0.125, 2.5  ])
    """
    name = "huber_loss"
    require_number(name, "delta", delta, delta > 0, "a positive number")
    prediction, target = alike(name, reduction, prediction=prediction, target=target)
    return reduced(_rounded_corner(abs(prediction - target), delta), reduction)


@composite
def smooth_l1_loss(
    prediction: Array, target: Array, /, *, beta: float = 1.0, reduction: str = "mean"
) -> Any:
    """The absolute difference, with a parabola for a corner: `huber_loss` divided by ``beta``.

    ``d*d / (2*beta)`` for ``d < beta``, else ``d - beta/2``; for ``beta = 0`` it is `l1_loss`.

    Args:
        prediction, target: arrays of one shape.
        beta: a number of at least 0.
        reduction: "mean" or "sum" of all elements, or "none".
    Raises:
        ShapeError: the shapes differ. ArgumentError: another reduction, or beta is negative.

    >>> import symgrad as sg
    >>> sg.smooth_l1_loss(sg.asarray([0.5, 3.0]), sg.asarray([0.0, 0.0]), reduction="none")
    Tensor([0.125, 2.5  ])
    """
    name = "smooth_l1_loss"
    require_number(name, "beta", beta, beta >= 0, "a number of at least 0")
    prediction, target = alike(name, reduction, prediction=prediction, target=target)
    distance = abs(prediction - target)
    if beta == 0:
        return reduced(distance, reduction)
    near = clip(distance, None, beta)
    return reduced(square(near) / (2 * beta) + (distance - near), reduction)


# --- likelihoods ----------------------------------------------------------------------------------


@composite
def poisson_nll_loss(
    rate: Array,
    target: Array,
    /,
    *,
    log_input: bool = True,
    full: bool = False,
    eps: float = 1e-8,
    reduction: str = "mean",
) -> Any:
    """The negative logarithm of the probability of Poisson counts.

    ``exp(rate) - target*rate``, or ``rate - target*log(rate + eps)`` without ``log_input``.

    Args:
        rate: the logarithms of the mean counts, or these themselves.
        target: the counts, in the same shape.
        log_input: whether ``rate`` holds logarithms.
        full: add Stirling's formula for ``log(target!)`` where the target is above 1.
        eps: keeps the logarithm of a rate of 0 finite.
        reduction: "mean" or "sum" of all elements, or "none".
    Raises:
        ShapeError: the shapes differ. ArgumentError: another reduction.

    >>> import symgrad as sg
    >>> round(float(sg.poisson_nll_loss(sg.asarray([1.0]), sg.asarray([2.0]))), 6)
    0.718282
    """
    rate, target = alike("poisson_nll_loss", reduction, rate=rate, target=target)
    loss = exp(rate) - target * rate if log_input else rate - target * log(rate + eps)
    if full:
        many = where(target > 1, target, 1)
        stirling = many * log(many) - many + 0.5 * (_LOG_TWO_PI + log(many))
        loss = loss + where(target > 1, stirling, 0)
    return reduced(loss, reduction)


@composite
def gaussian_nll_loss(
    prediction: Array,
    target: Array,
    var: Array,
    /,
    *,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Any:
    """The negative logarithm of the density of normal numbers of this mean and variance.

    ``(log(v) + (prediction - target)**2 / v) / 2`` with ``v = max(var, eps)``. Also where ``var``
    is below ``eps``, its derivative is that of the formula in ``v``, so that it can grow.

    Args:
        prediction, target: arrays of one shape.
        var: variances: of the same shape, or with 1 for the last size, or without the last axis.
        full: add the constant ``log(2*pi) / 2``.
        eps: the least variance, a positive number.
        reduction: "mean" or "sum" of all elements, or "none".
    Raises:
        ShapeError: the shapes do not fit. ArgumentError: another reduction, or eps not positive.

    >>> import symgrad as sg
    >>> x, t, v = sg.asarray([1.0]), sg.asarray([3.0]), sg.asarray([4.0])
    >>> round(float(sg.gaussian_nll_loss(x, t, v)), 6)  # (log(4) + 1) / 2
    1.193147
    """
    name = "gaussian_nll_loss"
    require_number(name, "eps", eps, eps > 0, "a positive number")
    prediction, target = alike(name, reduction, prediction=prediction, target=target)
    var = _variance(name, as_floats(name, "var", var), prediction.shape)
    held = where(var >= eps, var, var + stop_gradient(eps - var))
    loss = 0.5 * (log(held) + square(prediction - target) / held)
    return reduced(loss + 0.5 * _LOG_TWO_PI if full else loss, reduction)


def _variance(name: str, var: Any, shape: Any) -> Any:
    """Variances in a shape that broadcasts to that of the predictions."""
    if var.ndim == 0 or var.shape == shape:
        return var
    if var.ndim == len(shape) - 1:
        require_shape(name, "var", var.shape, shape[:-1], "the predictions without the last axis")
        return ops.expand_dims(var, axis=-1)
    if var.ndim != len(shape):
        raise ShapeError(name, "var has another shape than prediction", expected=shape, got=var)
    last = 1 if var.shape[-1] == 1 else shape[-1]
    require_shape(name, "var", var.shape, (*shape[:-1], last), "prediction")
    return var


@composite
def kl_div(
    log_probabilities: Array,
    target: Array,
    /,
    *,
    log_target: bool = False,
    reduction: str = "mean",
) -> Any:
    """Kullback and Leibler's divergence of the target distribution from the predicted one.

    ``target * (log(target) - log_probabilities)``, element by element, and 0 where the target is.

    Args:
        log_probabilities: the logarithms of the predicted probabilities.
        target: probabilities, in the same shape.
        log_target: whether ``target`` holds logarithms, too.
        reduction: "mean" or "sum" of all elements, "none", or "batchmean": the sum divided by the
            first size, which is the divergence as mathematics defines it.
    Raises:
        ShapeError: the shapes differ, or there is no batch. ArgumentError: another reduction.

    >>> import symgrad as sg
    >>> p, q = sg.asarray([[0.5, 0.5]]), sg.asarray([[0.25, 0.75]])
    >>> round(float(sg.kl_div(sg.log(q), p, reduction="batchmean")), 6)
    0.143841
    """
    name = "kl_div"
    require_reduction(name, reduction, "batchmean")
    logs, target = alike(name, "none", log_probabilities=log_probabilities, target=target)
    if log_target:
        loss = exp(target) * (target - logs)
    else:
        # Nothing of an impossible event is nothing, though the logarithm is infinite.
        missing = (target == 0) & (logs == -math.inf)
        loss = xlogy(target, target) - target * where(missing, 0, logs)
    if reduction != "batchmean":
        return reduced(loss, reduction)
    if loss.ndim == 0:
        raise ShapeError(name, "there is no axis of a batch", expected="1 axis or more", got=loss)
    return ops.sum(loss) / loss.shape[0]
