"""Adam and AdamW."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgrad.ir.op import ops
from symgrad.optim.groups import require
from symgrad.optim.optimizer import Optimizer
from symgrad.optim.rules import State, decayed_or_shrunk, like, moving, moving_square


def check_adaptive(where: str, options: Mapping[str, Any]) -> None:
    """Refuse options of Adam's kind that make no sense."""
    for name in ("eps", "weight_decay"):
        require(where, name, options[name], options[name] >= 0, "a number >= 0")
    fits = all(0 <= beta < 1 for beta in options["betas"])
    require(where, "betas", options["betas"], fits, "two numbers in [0, 1)")


def moments(p: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """A count of steps and two averages, as Adam begins with."""
    return {
        "step": np.zeros(()),
        "exp_avg": np.zeros_like(p, order="C"),
        "exp_avg_sq": np.zeros_like(p, order="C"),
    }


def advanced_moments(p: Any, g: Any, state: State, o: Any) -> State:
    """One step more, and the averages of the gradient and its square."""
    beta1, beta2 = o.betas
    return {
        "step": state["step"] + 1,
        "exp_avg": moving(p, state["exp_avg"], g, beta1),
        "exp_avg_sq": moving_square(p, state["exp_avg_sq"], g, beta2),
    }


class Adam(Optimizer):
    """Steps along the average gradient, divided by the root of its average square.

    ``p = p - lr * m / (sqrt(v) + eps)``, where m and v are moving averages of the gradient and its
    square, each divided by ``1 - beta**step`` (Kingma and Ba, "Adam", 2014).

    Args:
        params: tensors, pairs of names and tensors, or dicts as for `add_param_group`.
        lr: the learning rate.
        betas: how much of the averages stays from step to step.
        eps: keeps the divisor away from 0.
        weight_decay: a multiple of the parameter that is added to the gradient.
        amsgrad: divide by the largest average square so far.
        maximize: go uphill.
        decoupled_weight_decay: shrink the parameter instead, as `AdamW` does.

    Raises:
        ArgumentError: a number is below 0, or a beta is not in [0, 1).

    >>> import symgrad as sg
    >>> x = sg.tensor(1.0, requires_grad=True)
    >>> optimizer = sg.optim.Adam([x], lr=0.1)
    >>> (x * x).backward()
    >>> optimizer.step()
    >>> round(x.item(), 6)
    0.9
    """

    numbers = ("lr", "betas", "eps", "weight_decay")
    switches = ("weight_decay",)
    flags = ("amsgrad", "maximize", "decoupled_weight_decay")

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        decoupled_weight_decay: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)

    def check(self, options: Mapping[str, Any]) -> None:
        super().check(options)
        check_adaptive(self.where, options)

    @staticmethod
    def begin(p: NDArray[Any], o: Any) -> dict[str, NDArray[Any]]:
        largest = {"max_exp_avg_sq": np.zeros_like(p, order="C")} if o.amsgrad else {}
        return {**moments(p), **largest}

    @staticmethod
    def rule(p: Any, g: Any, state: State, o: Any) -> tuple[Any, State]:
        p, g = decayed_or_shrunk(p, g, o)
        new = advanced_moments(p, g, state, o)
        beta1, beta2 = o.betas
        square = new["exp_avg_sq"]
        if o.amsgrad:
            new["max_exp_avg_sq"] = square = ops.maximum(state["max_exp_avg_sq"], square)
        size, root, eps = like(
            p, o.lr / (1 - beta1 ** new["step"]), ops.sqrt(1 - beta2 ** new["step"]), o.eps
        )
        return p - size * new["exp_avg"] / (ops.sqrt(square) / root + eps), new


class AdamW(Adam):
    """`Adam` that shrinks the parameter by ``1 - lr * weight_decay`` before the step.

    The decay has no part in the averages (Loshchilov and Hutter, "Decoupled weight decay
    regularization", 2017).

    Args:
        As for `Adam`.

    >>> import symgrad as sg
    >>> x = sg.tensor(1.0, requires_grad=True)
    >>> optimizer = sg.optim.AdamW([x], lr=0.1)
    >>> (x * x).backward()
    >>> optimizer.step()
    >>> round(x.item(), 6)
    0.899
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            maximize=maximize,
            decoupled_weight_decay=True,
        )
