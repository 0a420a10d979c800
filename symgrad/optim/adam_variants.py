"""NAdam, RAdam and Adamax: Adam with another momentum, another divisor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgrad.ir.op import ops
from symgrad.optim.adam import advanced_moments, check_adaptive, moments
from symgrad.optim.groups import require
from symgrad.optim.optimizer import Optimizer
from symgrad.optim.rules import State, decayed, decayed_or_shrunk, like, moving


class NAdam(Optimizer):
    """Adam with Nesterov's momentum (Dozat, "Incorporating Nesterov momentum into Adam", 2016).

    The momentum of step t is ``beta1 * (1 - 0.96**(t * momentum_decay) / 2)``.

    Args:
        params, lr, betas, eps, weight_decay, maximize, decoupled_weight_decay: as for `Adam`.
        momentum_decay: how fast the momentum grows to its limit.

    Raises:
        ArgumentError: a number is below 0, or a beta is not in [0, 1).

    >>> import symgrad as sg
    >>> x = sg.tensor(1.0, requires_grad=True)
    >>> optimizer = sg.optim.NAdam([x], lr=0.1)
    >>> (x * x).backward()
    >>> optimizer.step()
    >>> round(x.item(), 5)
    0.89435
    """

    numbers = ("lr", "betas", "eps", "weight_decay", "momentum_decay")
    switches = ("weight_decay",)
    flags = ("maximize", "decoupled_weight_decay")

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "maximize": maximize,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)

    def check(self, options: Mapping[str, Any]) -> None:
        super().check(options)
        check_adaptive(self.where, options)
        decay = options["momentum_decay"]
        require(self.where, "momentum_decay", decay, decay >= 0, "a number >= 0")

    @staticmethod
    def begin(p: NDArray[Any], o: Any) -> dict[str, NDArray[Any]]:
        return {**moments(p), "mu_product": np.ones(())}

    @staticmethod
    def rule(p: Any, g: Any, state: State, o: Any) -> tuple[Any, State]:
        p, g = decayed_or_shrunk(p, g, o)
        new = advanced_moments(p, g, state, o)
        beta1, beta2 = o.betas
        t = new["step"]
        mu, mu_next = (
            beta1 * (1 - 0.5 * ops.pow(0.96, step * o.momentum_decay)) for step in (t, t + 1)
        )
        product = new["mu_product"] = state["mu_product"] * mu
        root, eps = like(p, ops.sqrt(1 - beta2**t), o.eps)
        divisor = ops.sqrt(new["exp_avg_sq"]) / root + eps
        now, then = like(
            p, o.lr * (1 - mu) / (1 - product), o.lr * mu_next / (1 - product * mu_next)
        )
        return p - (now * g + then * new["exp_avg"]) / divisor, new


class RAdam(Optimizer):
    """Adam that leaves the divisor out until its variance is small enough.

    While it is not (the first five steps, with the default ``betas``), steps go along the average
    gradient alone (Liu and others, "On the variance of the adaptive learning rate", 2019).

    Args:
        params, lr, betas, eps, weight_decay, maximize, decoupled_weight_decay: as for `Adam`.

    Raises:
        ArgumentError: a number is below 0, or a beta is not in [0, 1).

    >>> import symgrad as sg
    >>> x = sg.tensor(1.0, requires_grad=True)
    >>> optimizer = sg.optim.RAdam([x], lr=0.1)
    >>> (x * x).backward()
    >>> optimizer.step()
    >>> round(x.item(), 6)
    0.8
    """

    numbers = ("lr", "betas", "eps", "weight_decay")
    switches = ("weight_decay",)
    flags = ("maximize", "decoupled_weight_decay")

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)

    def check(self, options: Mapping[str, Any]) -> None:
        super().check(options)
        check_adaptive(self.where, options)

    @staticmethod
    def begin(p: NDArray[Any], o: Any) -> dict[str, NDArray[Any]]:
        return moments(p)

    @staticmethod
    def rule(p: Any, g: Any, state: State, o: Any) -> tuple[Any, State]:
        p, g = decayed_or_shrunk(p, g, o)
        new = advanced_moments(p, g, state, o)
        beta1, beta2 = o.betas
        t = new["step"]
        left = 1 - beta2**t
        limit = 2 / (1 - beta2) - 1
        length = limit - 2 * t * beta2**t / left  # of the average, in steps
        is_long = length > 5
        length = ops.where(is_long, length, limit)
        ratio = (length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length)
        size, scale, eps = like(
            p, o.lr / (1 - beta1**t), ops.sqrt(ops.where(is_long, ratio * left, 1.0)), o.eps
        )
        scaled = scale / (ops.sqrt(new["exp_avg_sq"]) + eps)
        return p - size * new["exp_avg"] * ops.where(is_long, scaled, 1.0), new


class Adamax(Optimizer):
    """Adam that divides by the largest recent gradient, the limit of the p-norm for large p.

    ``u = max(beta2 * u, |g| + eps)``, ``p = p - lr / (1 - beta1**step) * m / u`` (Kingma and Ba,
    "Adam", 2014, section 7).

    Args:
        params, lr, betas, eps, weight_decay, maximize: as for `Adam`.

    Raises:
        ArgumentError: a number is below 0, or a beta is not in [0, 1).

    >>> import symgrad as sg
    >>> x = sg.tensor(1.0, requires_grad=True)
    >>> optimizer = sg.optim.Adamax([x], lr=0.1)
    >>> (x * x).backward()
    >>> optimizer.step()
    >>> round(x.item(), 6)
    0.9
    """

    numbers = ("lr", "betas", "eps", "weight_decay")
    switches = ("weight_decay",)
    flags = ("maximize",)

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        *,
        maximize: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def check(self, options: Mapping[str, Any]) -> None:
        super().check(options)
        check_adaptive(self.where, options)

    @staticmethod
    def begin(p: NDArray[Any], o: Any) -> dict[str, NDArray[Any]]:
        zeros = np.zeros_like(p, order="C")
        return {"step": np.zeros(()), "exp_avg": zeros, "exp_inf": zeros.copy()}

    @staticmethod
    def rule(p: Any, g: Any, state: State, o: Any) -> tuple[Any, State]:
        g = decayed(p, g, o)
        beta1, beta2 = o.betas
        step = state["step"] + 1
        average = moving(p, state["exp_avg"], g, beta1)
        kept, eps, size = like(p, beta2, o.eps, o.lr / (1 - beta1**step))
        largest = ops.maximum(kept * state["exp_inf"], ops.abs(g) + eps)
        new = {"step": step, "exp_avg": average, "exp_inf": largest}
        return p - size * average / largest, new
