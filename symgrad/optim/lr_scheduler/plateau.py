"""ReduceLROnPlateau: a rate that falls when there is no progress."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from symgrad.optim.groups import require
from symgrad.optim.lr_scheduler.scheduler import NoOptimizer, per_group, value_for
from symgrad.optim.optimizer import Optimizer


class ReduceLROnPlateau:
    """The rate falls by ``factor`` when a value has not become better for a while.

    Args:
        optimizer: whose rates are set.
        mode: whether "min" or "max" is better.
        factor: by what the rate falls, below 1.
        patience: how many epochs without progress are let pass.
        threshold: progress by less does not count.
        threshold_mode: a part of the best value ("rel"), or a difference ("abs").
        cooldown: how many epochs are let pass after a fall before counting begins again.
        min_lr: the lowest rate, or one per group.
        eps: a fall by less is left out.

    Raises:
        NoOptimizer: the first argument is none (a TypeError). ArgumentError: an option makes no
            sense.

    >>> import symgrad as sg
    >>> optimizer = sg.optim.SGD([sg.ones(1, requires_grad=True)], lr=1.0)
    >>> schedule = sg.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=1)
    >>> for loss in [1.0, 1.0, 1.0]:
    ...     schedule.step(loss)
    >>> optimizer.param_groups[0]["lr"]
    0.5
    """

    def __init__(
        self,
        optimizer: Any,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float | list[float] = 0,
        eps: float = 1e-8,
    ) -> None:
        where = "ReduceLROnPlateau"
        if not isinstance(optimizer, Optimizer):
            raise NoOptimizer(where, "no optimiser", got=type(optimizer).__name__)
        require(where, "factor", factor, factor < 1, "a number < 1")
        require(where, "mode", mode, mode in ("min", "max"), "'min' or 'max'")
        known = threshold_mode in ("rel", "abs")
        require(where, "threshold_mode", threshold_mode, known, "'rel' or 'abs'")
        self.optimizer, self.mode, self.factor = optimizer, mode, factor
        self.patience, self.cooldown = patience, cooldown
        self.threshold, self.threshold_mode = threshold, threshold_mode
        self.min_lrs = per_group(where, "min_lr", min_lr, len(optimizer.param_groups))
        self.eps = eps
        self.best = math.inf if mode == "min" else -math.inf
        self.last_epoch = self.num_bad_epochs = self.cooldown_counter = 0

    def step(self, metrics: Any) -> None:
        """Take account of the value of an epoch: a number, or a tensor of one element."""
        value = float(metrics)
        self.last_epoch += 1
        if self._is_better(value):
            self.best, self.num_bad_epochs = value, 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0

    def _is_better(self, value: float) -> bool:
        margin = self.threshold
        if self.threshold_mode == "rel":
            margin = margin * self.best if math.isfinite(self.best) else 0.0
        if self.mode == "min":
            return value < self.best - margin
        return value > self.best + margin

    def _reduce(self) -> None:
        for number, group in enumerate(self.optimizer.param_groups):
            lowest = value_for("ReduceLROnPlateau", "min_lr", self.min_lrs, number)
            old = group["lr"]
            new = max(old * self.factor, lowest)
            if old - new > self.eps:
                group["lr"] = new

    def get_last_lr(self) -> list[float]:
        """The present rates."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """All that is needed to go on, but for the optimiser."""
        return {name: value for name, value in vars(self).items() if name != "optimizer"}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over what `state_dict` gave."""
        vars(self).update(state_dict)
