"""Schedules made of schedules: one after the other, or all at once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

from symgrad.errors import ArgumentError
from symgrad.optim.lr_scheduler.scheduler import LRScheduler


def _require_one_optimizer(where: str, schedulers: Sequence[Any], optimizer: Any) -> None:
    for number, scheduler in enumerate(schedulers):
        if not isinstance(scheduler, LRScheduler):
            raise ArgumentError(
                where,
                f"schedulers[{number}] is none that goes on without a value",
                expected="an LRScheduler",
                got=type(scheduler).__name__,
            )
        if scheduler.optimizer is not optimizer:
            raise ArgumentError(where, f"schedulers[{number}] has another optimiser")


class _Combined(LRScheduler):
    def __init__(self, optimizer: Any, schedulers: Sequence[LRScheduler], epoch: int) -> None:
        where = type(self).__name__
        if not schedulers:
            raise ArgumentError(where, "there are no schedulers", expected="at least one")
        present = schedulers[0].optimizer if optimizer is None else optimizer
        _require_one_optimizer(where, schedulers, present)
        self.schedulers = list(schedulers)
        super().__init__(present, epoch)
        self._read()

    def _read(self) -> None:
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        own = {n: v for n, v in vars(self).items() if n not in ("optimizer", "schedulers")}
        return {**own, "schedulers": [scheduler.state_dict() for scheduler in self.schedulers]}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        vars(self).update((n, v) for n, v in state_dict.items() if n != "schedulers")
        for scheduler, state in zip(self.schedulers, state_dict["schedulers"], strict=True):
            scheduler.load_state_dict(state)
        self._set(self._last_lr)


class SequentialLR(_Combined):
    """One schedule after the other; each begins anew at its milestone.

    Args:
        optimizer, last_epoch: as for `LRScheduler`.
        schedulers: the schedules.
        milestones: the epochs at which the second, third … one begins.

    >>> import symgrad as sg
    >>> optimizer = sg.optim.SGD([sg.ones(1, requires_grad=True)], lr=1.0)
    >>> warm = sg.optim.lr_scheduler.LinearLR(optimizer, 0.25, total_iters=3)
    >>> fall = sg.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    >>> schedule = sg.optim.lr_scheduler.SequentialLR(optimizer, [warm, fall], [3])
    >>> rates = schedule.get_last_lr()
    >>> for _ in range(5):
    ...     optimizer.step()
    ...     schedule.step()
    ...     rates += schedule.get_last_lr()
    >>> [round(rate, 3) for rate in rates]
    [0.25, 0.5, 0.75, 1.0, 0.5, 0.25]
    """

    def __init__(
        self,
        optimizer: Any,
        schedulers: Sequence[LRScheduler],
        milestones: Sequence[int],
        last_epoch: int = -1,
    ) -> None:
        if len(milestones) != len(schedulers) - 1 and schedulers:
            raise ArgumentError(
                "SequentialLR",
                "number of milestones",
                expected=f"{len(schedulers) - 1}, one fewer than schedulers",
                got=len(milestones),
            )
        self.milestones = list(milestones)
        super().__init__(optimizer, schedulers, last_epoch)

    def _advance(self) -> None:
        if self._steps == 0 and self.last_epoch > -1:  # gone on with: through all that was
            reached, self.last_epoch = self.last_epoch, -1
            for _ in range(reached + 1):
                self._advance()
        self.last_epoch += 1
        number = bisect_right(self.milestones, self.last_epoch)
        begins = self.last_epoch == (self.milestones[number - 1] if number else 0)
        if begins:
            self.schedulers[number].restart()
        else:
            self.schedulers[number]._advance()
        self._steps += 1
        self._read()

    def restart(self) -> None:
        self.last_epoch = -1
        self._advance()


class ChainedScheduler(_Combined):
    """Several schedules at once: their factors multiply.

    Args:
        schedulers: the schedules.
        optimizer: theirs, if None.
    """

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Any = None) -> None:
        super().__init__(optimizer, schedulers, -1)

    def _advance(self) -> None:
        if self._steps:
            for scheduler in self.schedulers:
                scheduler._advance()
        self.last_epoch += 1
        self._steps += 1
        self._read()

    def restart(self) -> None:
        for group, lr in zip(self.optimizer.param_groups, self.base_lrs, strict=True):
            group["lr"] = lr
        for scheduler in self.schedulers:
            scheduler.last_epoch = -1
            scheduler._advance()
        self.last_epoch = 0
        self._read()
