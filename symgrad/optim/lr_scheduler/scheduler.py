"""LRScheduler: learning rates that change from epoch to epoch."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar

from symgrad.errors import ArgumentError, DTypeError
from symgrad.optim.groups import Group
from symgrad.optim.optimizer import Optimizer


class NoOptimizer(ArgumentError, DTypeError):
    """A schedule was to be made for something else than an optimiser."""


class LRScheduler:
    """Sets ``group["lr"]`` of an optimiser: once when it is made, then at each `step`.

    Since compiled steps read that number as a variable, schedules act on them as well.

    A subclass gives `rate`, or `get_lr` for all groups at once.

    Args:
        optimizer: whose rates are set.
        last_epoch: the epoch that was reached before, to go on; -1 to begin.

    Raises:
        NoOptimizer: the first argument is none (a TypeError).
        ArgumentError: ``last_epoch`` is given, but groups have no ``initial_lr``.

    Attributes:
        base_lrs: the rate of each group at the beginning.
        last_epoch: how many steps were taken.
    """

    computes_anew: ClassVar[bool] = False
    """Whether rates do not follow from the last ones, so that they are right at any epoch."""

    def __init__(self, optimizer: Any, last_epoch: int = -1) -> None:
        where = type(self).__name__
        if not isinstance(optimizer, Optimizer):
            got = type(optimizer).__name__
            raise NoOptimizer(where, "no optimiser", expected="an Optimizer", got=got)
        self.optimizer = optimizer
        self.base_lrs = [_initial(where, g, last_epoch) for g in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._steps = 0
        self._last_lr: list[float] = [group["lr"] for group in optimizer.param_groups]
        self._advance()

    def rate(self, lr: float, epoch: int, group: int) -> float:
        """The rate of an epoch.

        Args:
            lr: the rate of the epoch before, or the first one at epoch 0.
            epoch: which, from 0.
            group: the number of the group.
        """
        return lr

    def get_lr(self) -> list[float]:
        """The rate of each group at ``last_epoch``."""
        groups = self.optimizer.param_groups
        if self._steps == 0 and self.last_epoch > 0 and not self.computes_anew:
            return [group["lr"] for group in groups]  # gone on with: the rates are there
        return [self.rate(group["lr"], self.last_epoch, k) for k, group in enumerate(groups)]

    def get_last_lr(self) -> list[float]:
        """The rates that were set last."""
        return self._last_lr

    def step(self) -> None:
        """Go to the next epoch, and set its rates.

        The optimiser steps first; the other order warns, for it skips the first rate.
        """
        if self._steps == 1 and not (self.optimizer.steps_taken or self.optimizer.is_compiled):
            warnings.warn(
                f"{type(self).__name__}.step() was called before the optimizer's: the first"
                " learning rate is skipped; call optimizer.step() first",
                UserWarning,
                stacklevel=2,
            )
        self._advance()

    def restart(self) -> None:
        """Begin again, from the rates at the beginning."""
        for group, lr in zip(self.optimizer.param_groups, self.base_lrs, strict=True):
            group["lr"] = lr
        self.last_epoch = -1
        self._advance()

    def _advance(self) -> None:
        for group in self.optimizer.param_groups[len(self.base_lrs) :]:  # were added since
            self.base_lrs.append(group.setdefault("initial_lr", group["lr"]))
        self.last_epoch += 1
        self._set(self.get_lr())
        self._steps += 1

    def _set(self, rates: list[float]) -> None:
        for group, lr in zip(self.optimizer.param_groups, rates, strict=False):
            group["lr"] = lr
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """All that is needed to go on, but for the optimiser and functions."""
        return {
            name: value
            for name, value in vars(self).items()
            if name != "optimizer" and not _holds_function(value)
        }

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over what `state_dict` gave, and set the rates of then."""
        vars(self).update(state_dict)
        self._set(self._last_lr)


def _holds_function(value: Any) -> bool:
    return callable(value) or (isinstance(value, list) and any(map(callable, value)))  # pyright: ignore[reportUnknownArgumentType]


def _initial(where: str, group: Group, last_epoch: int) -> float:
    if last_epoch == -1:
        return group.setdefault("initial_lr", group["lr"])
    if "initial_lr" not in group:
        raise ArgumentError(
            where,
            f"a group has no 'initial_lr' to go on from at epoch {last_epoch}",
            hint="load the optimiser's state_dict first",
        )
    return group["initial_lr"]


def value_for(where: str, name: str, values: list[Any], group: int) -> Any:
    """The value for a group; one that was added since has the value that is everybody's.

    Raises:
        ArgumentError: it was added since, and the others differ.
    """
    if group < len(values):
        return values[group]
    if any(value != values[0] for value in values):
        problem = f"{name}: group {group} was added since, and has none"
        raise ArgumentError(where, problem, hint="make the schedule after the groups")
    return values[0]


def per_group(where: str, name: str, value: Any, count: int) -> list[Any]:
    """One value per group, given one for all or a list.

    Raises:
        ArgumentError: the list has another length.
    """
    if not isinstance(value, (list, tuple)):
        return [value] * count
    values: list[Any] = list(value)  # pyright: ignore[reportUnknownArgumentType]
    if len(values) != count:
        raise ArgumentError(where, name, expected=f"{count} values, one per group", got=len(values))
    return values
