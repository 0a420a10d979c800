"""Stochastic gradient descent, with momentum."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgrad.ir.op import ops
from symgrad.optim.groups import require
from symgrad.optim.optimizer import Optimizer
from symgrad.optim.rules import State, decayed, like


class SGD(Optimizer):
    """Steps of ``lr`` along the gradient, or along its running sum.

    With ``momentum`` the sum is ``b = momentum * b + (1 - dampening) * g``, and ``b = g`` at first;
    the step is ``lr * b``, or with ``nesterov`` ``lr * (g + momentum * b)``.

    Args:
        params: tensors, pairs of names and tensors, or dicts as for `add_param_group`.
        lr: the learning rate.
        momentum, dampening, nesterov: as above.
        weight_decay: a multiple of the parameter that is added to the gradient.
        maximize: go uphill.

    Raises:
        ArgumentError: ``lr``, ``momentum`` or ``weight_decay`` is below 0; ``nesterov`` without
            momentum, or with dampening.

    >>> import symgrad as sg
    >>> x = sg.tensor(1.0, requires_grad=True)
    >>> optimizer = sg.optim.SGD([x], lr=0.1, momentum=0.9)
    >>> for _ in range(3):
    ...     optimizer.zero_grad()
    ...     (x * x).backward()
    ...     optimizer.step()
    ...     print(round(x.item(), 3))
    0.8
    0.46
    0.062
    """

    numbers = ("lr", "momentum", "dampening", "weight_decay")
    switches = ("momentum", "dampening", "weight_decay")
    flags = ("nesterov", "maximize")

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def check(self, options: Mapping[str, Any]) -> None:
        super().check(options)
        for name in ("momentum", "weight_decay"):
            require(self.where, name, options[name], options[name] >= 0, "a number >= 0")
        if options["nesterov"]:
            momentum, dampening = options["momentum"], options["dampening"]
            right = "momentum > 0 and dampening 0"
            got = f"momentum {momentum}, dampening {dampening}"
            require(self.where, "nesterov", got, momentum > 0 and dampening == 0, right)

    @staticmethod
    def begin(p: NDArray[Any], o: Any) -> dict[str, NDArray[Any]]:
        if o.momentum is None:
            return {}
        return {"step": np.zeros(()), "momentum_buffer": np.zeros_like(p, order="C")}

    @staticmethod
    def rule(p: Any, g: Any, state: State, o: Any) -> tuple[Any, State]:
        g = decayed(p, g, o)
        if o.momentum is None:
            return p - like(p, o.lr) * g, {}
        lr, momentum = like(p, o.lr, o.momentum)
        # The first sum is the gradient itself, not dampened; the buffer is 0 before.
        share = None if o.dampening is None else ops.where(state["step"] == 0, 1.0, 1 - o.dampening)
        b = momentum * state["momentum_buffer"] + (g if share is None else like(p, share) * g)
        along = g + momentum * b if o.nesterov else b
        return p - lr * along, {"step": state["step"] + 1, "momentum_buffer": b}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        # Other libraries count no steps: where there is a buffer, the first step is over.
        state = {
            number: {"step": 1.0, **kept} if kept.get("momentum_buffer") is not None else kept
            for number, kept in state_dict.get("state", {}).items()
        }
        super().load_state_dict(
            {**state_dict, "state": state} if "state" in state_dict else state_dict
        )
