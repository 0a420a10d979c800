"""Schedules that multiply the rate: at steps, at milestones, by a function, along a line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from symgrad.optim.groups import require
from symgrad.optim.lr_scheduler.scheduler import LRScheduler, per_group, value_for


class _ByFunction(LRScheduler):
    lr_lambdas: list[Callable[[int], float]]

    def __init__(
        self,
        optimizer: Any,
        lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        groups = getattr(optimizer, "param_groups", [])
        self.lr_lambdas = per_group(type(self).__name__, "lr_lambda", lr_lambda, len(groups))
        super().__init__(optimizer, last_epoch)

    def _function(self, group: int) -> Callable[[int], float]:
        return value_for(type(self).__name__, "lr_lambda", self.lr_lambdas, group)


class LambdaLR(_ByFunction):
    """The first rate, times a function of the epoch.

    Args:
        optimizer, last_epoch: as for `LRScheduler`.
        lr_lambda: the function, or one per group.

    >>> import symgrad as sg
    >>> optimizer = sg.optim.SGD([sg.ones(1, requires_grad=True)], lr=1.0)
    >>> schedule = sg.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 / (1 + epoch))
    >>> for _ in range(3):
    ...     optimizer.step()
    ...     schedule.step()
    >>> schedule.get_last_lr()
    [0.25]
    """

    computes_anew = True

    def rate(self, lr: float, epoch: int, group: int) -> float:
        return self.base_lrs[group] * self._function(group)(epoch)


class MultiplicativeLR(_ByFunction):
    """The last rate, times a function of the epoch.

    Args:
        As for `LambdaLR`.
    """

    def rate(self, lr: float, epoch: int, group: int) -> float:
        return lr * self._function(group)(epoch) if epoch > 0 else lr


class StepLR(LRScheduler):
    """The rate falls by ``gamma`` every ``step_size`` epochs.

    >>> import symgrad as sg
    >>> optimizer = sg.optim.SGD([sg.ones(1, requires_grad=True)], lr=1.0)
    >>> schedule = sg.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.5)
    >>> for _ in range(4):
    ...     optimizer.step()
    ...     schedule.step()
    >>> optimizer.param_groups[0]["lr"]
    0.25
    """

    def __init__(
        self, optimizer: Any, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        require("StepLR", "step_size", step_size, step_size >= 1, "a number of epochs >= 1")
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def rate(self, lr: float, epoch: int, group: int) -> float:
        return lr * self.gamma if epoch > 0 and epoch % self.step_size == 0 else lr


class MultiStepLR(LRScheduler):
    """The rate falls by ``gamma`` at each of the ``milestones``; twice at one named twice."""

    def __init__(
        self, optimizer: Any, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def rate(self, lr: float, epoch: int, group: int) -> float:
        return lr * self.gamma ** self.milestones[epoch] if epoch > 0 else lr


class ConstantLR(LRScheduler):
    """The rate times ``factor``, until epoch ``total_iters``; then as it was."""

    def __init__(
        self, optimizer: Any, factor: float = 1 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        require("ConstantLR", "factor", factor, 0 <= factor <= 1, "a number in [0, 1]")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def rate(self, lr: float, epoch: int, group: int) -> float:
        if epoch == 0:
            return lr * self.factor
        if epoch != self.total_iters:
            return lr
        return lr / self.factor if self.factor else self.base_lrs[group]


class LinearLR(LRScheduler):
    """The rate times a factor that goes along a line, for ``total_iters`` epochs.

    Args:
        optimizer, last_epoch: as for `LRScheduler`.
        start_factor, end_factor: the ends of the line.
        total_iters: its length.
    """

    def __init__(
        self,
        optimizer: Any,
        start_factor: float = 1 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        name = "start_factor"
        require("LinearLR", name, start_factor, 0 < start_factor <= 1, "a number in (0, 1]")
        require("LinearLR", "end_factor", end_factor, 0 <= end_factor <= 1, "a number in [0, 1]")
        self.start_factor, self.end_factor = start_factor, end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        slope = (self.end_factor - self.start_factor) / self.total_iters
        return self.start_factor + slope * epoch

    def rate(self, lr: float, epoch: int, group: int) -> float:
        if epoch == 0:
            return lr * self.start_factor
        return (
            lr if epoch > self.total_iters else lr * self._factor(epoch) / self._factor(epoch - 1)
        )


class ExponentialLR(LRScheduler):
    """The rate falls by ``gamma`` every epoch."""

    def __init__(self, optimizer: Any, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def rate(self, lr: float, epoch: int, group: int) -> float:
        return lr * self.gamma if epoch > 0 else lr


class PolynomialLR(LRScheduler):
    """The rate times ``(1 - epoch / total_iters)**power``, until it is 0."""

    def __init__(
        self, optimizer: Any, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1
    ) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def rate(self, lr: float, epoch: int, group: int) -> float:
        if epoch == 0 or epoch > self.total_iters:
            return lr
        left = (self.total_iters - epoch) / (self.total_iters - epoch + 1)
        return lr * left**self.power
