"""Gradients kept within bounds: as values or symbols, or those of parameters in place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from symgrad.eager.tensor import Tensor
from symgrad.errors import ArgumentError, DTypeError, GradientError
from symgrad.ir.modes import no_grad
from symgrad.ir.op import ops
from symgrad.types import real_dtype

Gradients = Sequence[Any]


def total_norm(grads: Gradients, norm_type: float = 2.0) -> Any:
    """The norm of all gradients as one vector; None counts for nothing.

    >>> import symgrad as sg
    >>> sg.optim.total_norm([sg.tensor([3.0]), None, sg.tensor([[4.0]])])
    Tensor(5.)
    """
    norms = [ops.vector_norm(g, ord=norm_type) for g in grads if g is not None]
    return ops.vector_norm(ops.stack(norms), ord=norm_type) if norms else ops.asarray(0.0)


def clip_by_norm(
    grads: Gradients, max_norm: float, norm_type: float = 2.0
) -> tuple[list[Any], Any]:
    """Gradients scaled so that their common norm is at most ``max_norm``, and the norm before.

    Args:
        grads: tensors or symbols; None stays None.
        max_norm: the bound.
        norm_type: which norm, ``math.inf`` for the largest element.

    >>> import symgrad as sg
    >>> w = sg.tensor([3.0, 4.0], requires_grad=True)
    >>> loss = sg.sum(w.__as_symbol__() ** 2) / 2
    >>> clipped, norm = sg.optim.clip_by_norm(sg.grad(loss, [w]), 1.0)
    >>> norm.eval(), sg.round(clipped[0], decimals=5).eval()
    (array(5.), array([0.6, 0.8]))
    >>> updates = sg.optim.SGD([w], lr=0.1).updates(loss, clipped)
    """
    bound = _positive("clip_by_norm", "max_norm", max_norm)
    norm = total_norm(grads, norm_type)
    scale = ops.minimum(bound / (norm + 1e-6), 1.0)
    scaled = [None if g is None else g * ops.astype(scale, real_dtype(g.dtype)) for g in grads]
    return scaled, norm


def clip_by_value(grads: Gradients, clip_value: float) -> list[Any]:
    """Gradients with each element brought into ``[-clip_value, clip_value]``; None stays None.

    >>> import symgrad as sg
    >>> sg.optim.clip_by_value([sg.tensor([-3.0, 0.5])], 1.0)
    [Tensor([-1. ,  0.5])]
    """
    bound = _positive("clip_by_value", "clip_value", clip_value)
    return [None if g is None else ops.clip(g, -bound, bound) for g in grads]


def clip_grad_norm_(
    parameters: Any,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
) -> Tensor:
    """Scale ``.grad`` of the parameters, in place, so that their common norm is at most a bound.

    Args:
        parameters: a tensor or several; those without a gradient are left out.
        max_norm: the bound.
        norm_type: which norm, ``math.inf`` for the largest element.
        error_if_nonfinite: refuse a norm that is infinite or NaN.

    Returns:
        the norm before.

    Raises:
        GradientError: the norm is not finite; no gradient has changed.

    >>> import symgrad as sg
    >>> w = sg.tensor([3.0, 4.0], requires_grad=True)
    >>> (w * w / 2).sum().backward()
    >>> sg.optim.clip_grad_norm_([w], 1.0)
    Tensor(5.)
    >>> sg.round(w.grad, decimals=4)
    Tensor([0.6, 0.8])
    """
    grads = _grads_of("clip_grad_norm_", parameters)
    with no_grad():
        clipped, norm = clip_by_norm(grads, max_norm, norm_type)
        if error_if_nonfinite and not bool(ops.isfinite(norm)):
            raise GradientError(
                "clip_grad_norm_",
                "the norm of the gradients is not finite",
                got=norm.item(),
                hint="sg.detect_anomaly() finds where a NaN comes from",
            )
        _write(grads, clipped)
    return norm


def clip_grad_value_(parameters: Any, clip_value: float) -> None:
    """Bring each element of ``.grad`` of the parameters, in place, within a bound.

    >>> import symgrad as sg
    >>> w = sg.tensor([3.0, 0.25], requires_grad=True)
    >>> (w * w).sum().backward()
    >>> sg.optim.clip_grad_value_(w, 1.0)
    >>> w.grad
    Tensor([1. , 0.5])
    """
    grads = _grads_of("clip_grad_value_", parameters)
    with no_grad():
        _write(grads, clip_by_value(grads, clip_value))


def _write(grads: list[Any], values: Iterable[Any]) -> None:
    for grad, value in zip(grads, values, strict=True):
        grad.copy_(value)


def _grads_of(where: str, parameters: Any) -> list[Any]:
    given: list[Any] = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    for position, parameter in enumerate(given):
        if not isinstance(parameter, Tensor):
            got = type(parameter).__name__
            raise DTypeError(where, f"parameter {position} is no tensor", got=got)
    return [p.extra.grad for p in given if p.extra.grad is not None]


def _positive(where: str, name: str, value: Any) -> float:
    number = float(value)
    if not number >= 0:
        raise ArgumentError(where, name, expected="a number >= 0", got=value)
    return number
