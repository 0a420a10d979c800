"""Rprop and ASGD: steps by the sign of the gradient, and averages of parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgrad.ir.op import ops
from symgrad.optim.groups import require
from symgrad.optim.optimizer import Optimizer
from symgrad.optim.rules import State, decayed, like


class Rprop(Optimizer):
    """Steps by the sign of the gradient, each element with a size of its own.

    The size grows while the sign stays, and shrinks when it changes; then the element waits for one
    step (Riedmiller and Braun, 1993). For gradients of the whole data, not of batches.

    Args:
        params: tensors, pairs of names and tensors, or dicts as for `add_param_group`.
        lr: the first size.
        etas: by what sizes shrink and grow.
        step_sizes: the smallest and the largest size.
        maximize: go uphill.

    Raises:
        ArgumentError: ``lr`` is below 0, or not ``0 < etas[0] < 1 < etas[1]``.

    >>> import symgrad as sg
    >>> x = sg.tensor([1.0, 100.0], requires_grad=True)
    >>> optimizer = sg.optim.Rprop([x], lr=0.1)
    >>> (x * x).sum().backward()
    >>> optimizer.step()
    >>> x.detach()
    Tensor([ 0.9, 99.9])
    """

    numbers = ("lr", "etas", "step_sizes")
    flags = ("maximize",)

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        maximize: bool = False,
    ) -> None:
        defaults = {"lr": lr, "etas": etas, "step_sizes": step_sizes, "maximize": maximize}
        super().__init__(params, defaults)

    def check(self, options: Mapping[str, Any]) -> None:
        super().check(options)
        less, more = options["etas"]
        require(self.where, "etas", (less, more), 0 < less < 1 < more, "0 < etas[0] < 1 < etas[1]")

    @staticmethod
    def begin(p: NDArray[Any], o: Any) -> dict[str, NDArray[Any]]:
        size = o.lr * (1 + 1j) if p.dtype.kind == "c" else o.lr
        return {
            "step": np.zeros(()),
            "prev": np.zeros_like(p, order="C"),
            "step_size": np.full_like(p, size, order="C"),
        }

    @staticmethod
    def rule(p: Any, g: Any, state: State, o: Any) -> tuple[Any, State]:
        less, more, smallest, largest = like(p, *o.etas, *o.step_sizes)
        same = ops.sign(g * state["prev"])
        factor = ops.where(same > 0, more, ops.where(same < 0, less, like(p, 1.0)))
        size = ops.minimum(ops.maximum(state["step_size"] * factor, smallest), largest)
        g = ops.where(same < 0, like(p, 0.0), g)
        new = {"step": state["step"] + 1, "prev": g, "step_size": size}
        return p - ops.sign(g) * size, new


class ASGD(Optimizer):
    """Gradient descent with falling steps, and the average of the parameters beside it.

    The size after step t is ``lr / (1 + lambd * lr * t)**alpha``. The average ``state[p]["ax"]``
    begins after ``t0`` steps (Polyak and Juditsky, "Acceleration of stochastic approximation by
    averaging", 1992).

    Args:
        params: tensors, pairs of names and tensors, or dicts as for `add_param_group`.
        lr, lambd, alpha, t0: as above; ``lambd`` shrinks parameters as well.
        weight_decay: a multiple of the parameter that is added to the gradient.
        maximize: go uphill.

    Raises:
        ArgumentError: ``lr`` or ``weight_decay`` is below 0.

    >>> import symgrad as sg
    >>> x = sg.tensor(1.0, requires_grad=True)
    >>> optimizer = sg.optim.ASGD([x], lr=0.1)
    >>> (x * x).backward()
    >>> optimizer.step()
    >>> round(x.item(), 6)
    0.79999
    """

    numbers = ("lr", "lambd", "alpha", "t0", "weight_decay")
    switches = ("weight_decay",)
    flags = ("maximize",)

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        *,
        maximize: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
            "weight_decay": weight_decay,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def check(self, options: Mapping[str, Any]) -> None:
        super().check(options)
        decay = options["weight_decay"]
        require(self.where, "weight_decay", decay, decay >= 0, "a number >= 0")

    @staticmethod
    def begin(p: NDArray[Any], o: Any) -> dict[str, NDArray[Any]]:
        return {
            "step": np.zeros(()),
            "eta": np.array(o.lr),
            "mu": np.ones(()),
            "ax": np.zeros_like(p, order="C"),
        }

    @staticmethod
    def rule(p: Any, g: Any, state: State, o: Any) -> tuple[Any, State]:
        g = decayed(p, g, o)
        eta, mu, step = state["eta"], state["mu"], state["step"] + 1
        size, kept, share = like(p, eta, 1 - o.lambd * eta, mu)
        p = p * kept - size * g
        average = state["ax"] + (p - state["ax"]) * share
        new = {
            "step": step,
            "eta": o.lr / (1 + o.lambd * o.lr * step) ** o.alpha,
            "mu": 1 / ops.maximum(step - o.t0, 1.0),
            "ax": ops.where(mu == 1, p, average),
        }
        return p, new
