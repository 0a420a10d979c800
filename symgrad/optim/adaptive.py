"""RMSprop, Adagrad and Adadelta: steps divided by the size of the gradients so far."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgrad.ir.op import ops
from symgrad.optim.groups import require
from symgrad.optim.optimizer import Optimizer
from symgrad.optim.rules import State, decayed, like, moving, moving_square


def _require_not_negative(where: str, options: Mapping[str, Any], *names: str) -> None:
    for name in names:
        require(where, name, options[name], options[name] >= 0, "a number >= 0")


class RMSprop(Optimizer):
    """Steps along the gradient divided by the root of its average square.

    ``p = p - lr * g / (sqrt(v) + eps)`` with ``v = alpha * v + (1 - alpha) * g**2`` (Hinton,
    lecture notes, 2012).

    Args:
        params: tensors, pairs of names and tensors, or dicts as for `add_param_group`.
        lr: the learning rate.
        alpha: how much of the average stays from step to step.
        eps: keeps the divisor away from 0.
        weight_decay: a multiple of the parameter that is added to the gradient.
        momentum: how much of the last step is added to the next.
        centered: take the square of the average gradient off v, which is then the variance.
        maximize: go uphill.

    Raises:
        ArgumentError: a number is below 0.

    >>> import symgrad as sg
    >>> x = sg.tensor([1.0, 100.0], requires_grad=True)
    >>> optimizer = sg.optim.RMSprop([x], lr=0.01)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> sg.round(x.detach(), decimals=3)
    Tensor([ 0.9, 99.9])
    """

    numbers = ("lr", "alpha", "eps", "weight_decay", "momentum")
    switches = ("weight_decay", "momentum")
    flags = ("centered", "maximize")

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "alpha": alpha,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "centered": centered,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def check(self, options: Mapping[str, Any]) -> None:
        super().check(options)
        _require_not_negative(self.where, options, "eps", "momentum", "weight_decay", "alpha")

    @staticmethod
    def begin(p: NDArray[Any], o: Any) -> dict[str, NDArray[Any]]:
        names = ["square_avg"]
        names += ["momentum_buffer"] if o.momentum is not None else []
        names += ["grad_avg"] if o.centered else []
        return {"step": np.zeros(()), **{name: np.zeros_like(p, order="C") for name in names}}

    @staticmethod
    def rule(p: Any, g: Any, state: State, o: Any) -> tuple[Any, State]:
        g = decayed(p, g, o)
        lr, eps = like(p, o.lr, o.eps)
        square = moving_square(p, state["square_avg"], g, o.alpha)
        new = {"step": state["step"] + 1, "square_avg": square}
        if o.centered:
            average = new["grad_avg"] = moving(p, state["grad_avg"], g, o.alpha)
            square = ops.maximum(square - average * average, 0.0)  # rounding may go below
        along = g / (ops.sqrt(square) + eps)
        if o.momentum is not None:
            along = like(p, o.momentum) * state["momentum_buffer"] + along
            new["momentum_buffer"] = along
        return p - lr * along, new


class Adagrad(Optimizer):
    """Steps along the gradient divided by the root of the sum of all squares so far.

    The learning rate of step t is ``lr / (1 + (t - 1) * lr_decay)`` (Duchi, Hazan and Singer,
    "Adaptive subgradient methods", 2011).

    Args:
        params: tensors, pairs of names and tensors, or dicts as for `add_param_group`.
        lr, lr_decay: as above.
        weight_decay: a multiple of the parameter that is added to the gradient.
        initial_accumulator_value: what the sum of squares begins with.
        eps: keeps the divisor away from 0.
        maximize: go uphill.

    Raises:
        ArgumentError: a number is below 0.

    >>> import symgrad as sg
    >>> x = sg.tensor(1.0, requires_grad=True)
    >>> optimizer = sg.optim.Adagrad([x], lr=0.1)
    >>> (x * x).backward()
    >>> optimizer.step()
    >>> round(x.item(), 6)
    0.9
    """

    numbers = ("lr", "lr_decay", "weight_decay", "initial_accumulator_value", "eps")
    switches = ("lr_decay", "weight_decay")
    flags = ("maximize",)

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        *,
        maximize: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "eps": eps,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def check(self, options: Mapping[str, Any]) -> None:
        super().check(options)
        _require_not_negative(
            self.where, options, "lr_decay", "weight_decay", "initial_accumulator_value", "eps"
        )

    def add_param_group(self, param_group: Mapping[str, Any]) -> None:
        super().add_param_group(param_group)
        group = self.param_groups[-1]
        for p in group["params"]:
            self.state_of(p, group)

    @staticmethod
    def begin(p: NDArray[Any], o: Any) -> dict[str, NDArray[Any]]:
        value = o.initial_accumulator_value or 0.0
        whole = value * (1 + 1j) if p.dtype.kind == "c" else value
        return {"step": np.zeros(()), "sum": np.full_like(p, whole, order="C")}

    @staticmethod
    def rule(p: Any, g: Any, state: State, o: Any) -> tuple[Any, State]:
        g = decayed(p, g, o)
        rate = o.lr if o.lr_decay is None else o.lr / (1 + state["step"] * o.lr_decay)
        lr, eps = like(p, rate, o.eps)
        total = state["sum"] + g * g
        return p - lr * g / (ops.sqrt(total) + eps), {"step": state["step"] + 1, "sum": total}


class Adadelta(Optimizer):
    """Steps as large as recent ones were, against the size of recent gradients.

    ``d = sqrt(u + eps) / sqrt(v + eps) * g``, ``p = p - lr * d``, where u and v are moving averages
    of d**2 and g**2 (Zeiler, "ADADELTA", 2012).

    Args:
        params: tensors, pairs of names and tensors, or dicts as for `add_param_group`.
        lr: the learning rate.
        rho: how much of the averages stays from step to step.
        eps: what the first steps come from.
        weight_decay: a multiple of the parameter that is added to the gradient.
        maximize: go uphill.

    Raises:
        ArgumentError: a number is below 0, or ``rho`` is above 1.

    >>> import symgrad as sg
    >>> x = sg.tensor(1.0, requires_grad=True)
    >>> optimizer = sg.optim.Adadelta([x])
    >>> (x * x).backward()
    >>> optimizer.step()
    >>> round(x.item(), 6)
    0.996838
    """

    numbers = ("lr", "rho", "eps", "weight_decay")
    switches = ("weight_decay",)
    flags = ("maximize",)

    def __init__(
        self,
        params: Any,
        lr: Any = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        *,
        maximize: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def check(self, options: Mapping[str, Any]) -> None:
        super().check(options)
        _require_not_negative(self.where, options, "eps", "weight_decay")
        rho = options["rho"]
        require(self.where, "rho", rho, 0 <= rho <= 1, "a number in [0, 1]")

    @staticmethod
    def begin(p: NDArray[Any], o: Any) -> dict[str, NDArray[Any]]:
        zeros = np.zeros_like(p, order="C")
        return {"step": np.zeros(()), "square_avg": zeros, "acc_delta": zeros.copy()}

    @staticmethod
    def rule(p: Any, g: Any, state: State, o: Any) -> tuple[Any, State]:
        g = decayed(p, g, o)
        lr, eps = like(p, o.lr, o.eps)
        square = moving_square(p, state["square_avg"], g, o.rho)
        along = ops.sqrt(state["acc_delta"] + eps) / ops.sqrt(square + eps) * g
        moved = moving_square(p, state["acc_delta"], along, o.rho)
        new = {"step": state["step"] + 1, "square_avg": square, "acc_delta": moved}
        return p - lr * along, new
