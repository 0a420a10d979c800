"""Schedules that rise and fall: half a cosine, with restarts, one cycle, many cycles."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from symgrad.errors import ArgumentError
from symgrad.optim.groups import Group, require
from symgrad.optim.lr_scheduler.scheduler import LRScheduler, NoOptimizer, per_group, value_for
from symgrad.optim.optimizer import Optimizer


def _cosine(start: float, end: float, part: float) -> float:
    return end + (start - end) * (1 + math.cos(math.pi * part)) / 2


class CosineAnnealingLR(LRScheduler):
    """The rate falls to ``eta_min`` along half a cosine of ``T_max`` epochs, and rises again.

    >>> import symgrad as sg
    >>> optimizer = sg.optim.SGD([sg.ones(1, requires_grad=True)], lr=1.0)
    >>> schedule = sg.optim.lr_scheduler.CosineAnnealingLR(optimizer, 4)
    >>> for _ in range(2):
    ...     optimizer.step()
    ...     schedule.step()
    >>> round(optimizer.param_groups[0]["lr"], 6)
    0.5
    """

    def __init__(
        self, optimizer: Any, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        require("CosineAnnealingLR", "T_max", T_max, T_max >= 1, "a number of epochs >= 1")
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def rate(self, lr: float, epoch: int, group: int) -> float:
        if epoch == 0:
            return lr
        base, low, period = self.base_lrs[group], self.eta_min, self.T_max
        if (epoch - 1) % (2 * period) == period:  # at the bottom, where the ratio below is 0 / 0
            return lr + (base - low) * (1 - math.cos(math.pi / period)) / 2
        before, now = (1 + math.cos(math.pi * e / period) for e in (epoch - 1, epoch))
        return low + (lr - low) * now / before


class CosineAnnealingWarmRestarts(LRScheduler):
    """The rate falls along half a cosine, again and again, each time ``T_mult`` times as long.

    Args:
        optimizer, last_epoch: as for `LRScheduler`.
        T_0: the length of the first fall.
        T_mult: by what lengths grow, a whole number.
        eta_min: the lowest rate.
    """

    computes_anew = True

    def __init__(
        self,
        optimizer: Any,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        where = "CosineAnnealingWarmRestarts"
        require(where, "T_0", T_0, isinstance(T_0, int) and T_0 >= 1, "a whole number >= 1")  # pyright: ignore[reportUnnecessaryIsInstance]
        whole = isinstance(T_mult, int) and T_mult >= 1  # pyright: ignore[reportUnnecessaryIsInstance]
        require(where, "T_mult", T_mult, whole, "a whole number >= 1")
        self.T_0, self.T_mult, self.eta_min = T_0, T_mult, eta_min
        self._part = 0.0
        super().__init__(optimizer, last_epoch)

    def step(self, epoch: float | None = None) -> None:
        """Go to the next epoch, or to the one given, which may be a part of one."""
        if epoch is not None:
            require(type(self).__name__, "epoch", epoch, epoch >= 0, "a number >= 0")
            self.last_epoch = math.floor(epoch) - 1
            self._part = epoch - math.floor(epoch)
        super().step()

    def rate(self, lr: float, epoch: int, group: int) -> float:
        at, length = epoch + self._part, self.T_0
        if self.T_mult == 1:
            at = math.fmod(at, length)
        while at >= length:
            at, length = at - length, length * self.T_mult
        return _cosine(self.base_lrs[group], self.eta_min, at / length)


class _WithMomentum(LRScheduler):
    """A schedule that moves the momentum as well, against the rate."""

    cycle_momentum: bool
    computes_anew = True

    def _require_momentum(self, optimizer: Any) -> list[Group]:
        if not isinstance(optimizer, Optimizer):
            got = type(optimizer).__name__
            raise NoOptimizer(type(self).__name__, "no optimiser", got=got)
        known = optimizer.defaults
        if self.cycle_momentum and "momentum" not in known and "betas" not in known:
            raise ArgumentError(
                type(self).__name__,
                f"{optimizer.where} has no momentum to move",
                hint="cycle_momentum=False",
            )
        return optimizer.param_groups

    def _of(self, name: str, group: int) -> float:
        return value_for(type(self).__name__, name, getattr(self, name), group)

    def momentum(self, epoch: int, group: int) -> float:
        """The momentum of an epoch."""
        raise NotImplementedError

    def _set(self, rates: list[float]) -> None:
        super()._set(rates)
        if self.cycle_momentum:
            for number, group in enumerate(self.optimizer.param_groups):
                _set_momentum(group, self.momentum(self.last_epoch, number))


def _set_momentum(group: Group, value: float) -> None:
    if "betas" in group:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group["momentum"] = value


class OneCycleLR(_WithMomentum):
    """Up from ``max_lr / div_factor`` to ``max_lr``, and down to far below; one step per batch.

    Args:
        optimizer, last_epoch: as for `LRScheduler`.
        max_lr: the highest rate, or one per group.
        total_steps: the length; or ``epochs`` times ``steps_per_epoch``.
        epochs, steps_per_epoch: see above.
        pct_start: the part of it in which the rate rises.
        anneal_strategy: "cos" or "linear".
        cycle_momentum: let the momentum fall while the rate rises.
        base_momentum, max_momentum: its bounds, or one per group.
        div_factor: by what the first rate is below the highest.
        final_div_factor: by what the last rate is below the first.
        three_phase: come down to the first rate as slowly as it rose, then to the last.

    Raises:
        ArgumentError: no length is given, or an option makes no sense; at `step`: the cycle is
            over.
    """

    def __init__(
        self,
        optimizer: Any,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        where, self.cycle_momentum = "OneCycleLR", cycle_momentum
        groups = self._require_momentum(optimizer)
        self.total_steps = _length(total_steps, epochs, steps_per_epoch)
        require(where, "pct_start", pct_start, 0 <= pct_start <= 1, "a number in [0, 1]")
        known = anneal_strategy in ("cos", "linear")
        require(where, "anneal_strategy", anneal_strategy, known, "'cos' or 'linear'")
        self.anneal_strategy = anneal_strategy
        self.max_lrs = per_group(where, "max_lr", max_lr, len(groups))
        self.base_momentums = per_group(where, "base_momentum", base_momentum, len(groups))
        self.max_momentums = per_group(where, "max_momentum", max_momentum, len(groups))
        self.final_div_factor = final_div_factor
        top = pct_start * self.total_steps - 1
        middle = [2 * pct_start * self.total_steps - 2] if three_phase else []
        self.ends = [top, *middle, self.total_steps - 1.0]
        if last_epoch == -1:
            for group, highest in zip(groups, self.max_lrs, strict=True):
                group["initial_lr"] = highest / div_factor
        super().__init__(optimizer, last_epoch)

    def _between(self, epoch: int, low: float, high: float, final: float) -> float:
        """The value at an epoch of what goes from low to high, and back (to low and) to final."""
        if epoch > self.total_steps:
            raise ArgumentError(
                "OneCycleLR", "the cycle is over", expected=f"{self.total_steps} steps", got=epoch
            )
        turns = [low, high, *([low] if len(self.ends) == 3 else []), final]
        begin = 0.0
        for end, start, stop in zip(self.ends, turns, turns[1:], strict=False):
            if epoch <= end or end == self.ends[-1]:
                part = (epoch - begin) / (end - begin) if end != begin else 1.0
                cosine = self.anneal_strategy == "cos"
                return _cosine(start, stop, part) if cosine else start + (stop - start) * part
            begin = end
        raise AssertionError

    def rate(self, lr: float, epoch: int, group: int) -> float:
        low = self.base_lrs[group]
        return self._between(epoch, low, self._of("max_lrs", group), low / self.final_div_factor)

    def momentum(self, epoch: int, group: int) -> float:
        high, low = self._of("max_momentums", group), self._of("base_momentums", group)
        return self._between(epoch, high, low, high)


def _length(total_steps: int | None, epochs: int | None, steps_per_epoch: int | None) -> int:
    if total_steps is None:
        if epochs is None or steps_per_epoch is None:
            raise ArgumentError(
                "OneCycleLR",
                "no length",
                expected="total_steps, or epochs and steps_per_epoch",
            )
        total_steps = epochs * steps_per_epoch
    require("OneCycleLR", "the length", total_steps, total_steps >= 1, "a whole number >= 1")
    return total_steps


class CyclicLR(_WithMomentum):
    """Up and down between two rates, again and again; one step per batch.

    Args:
        optimizer, last_epoch: as for `LRScheduler`.
        base_lr, max_lr: the bounds, or one per group.
        step_size_up, step_size_down: the lengths of both halves; equal if the latter is None.
        mode: "triangular"; "triangular2" halves the height with each cycle; "exp_range" multiplies
            it by ``gamma`` at each step.
        gamma: see above.
        scale_fn: a factor of the height, of the number of the cycle or of the step; instead of
            ``mode``.
        scale_mode: what it is a function of: "cycle" or "iterations".
        cycle_momentum: let the momentum fall while the rate rises.
        base_momentum, max_momentum: its bounds, or one per group.
    """

    def __init__(
        self,
        optimizer: Any,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.8,
        max_momentum: float | list[float] = 0.9,
        last_epoch: int = -1,
    ) -> None:
        where, self.cycle_momentum = "CyclicLR", cycle_momentum
        groups = self._require_momentum(optimizer)
        known = mode in ("triangular", "triangular2", "exp_range") or scale_fn is not None
        require(where, "mode", mode, known, "'triangular', 'triangular2' or 'exp_range'")
        self.min_lrs = per_group(where, "base_lr", base_lr, len(groups))
        self.max_lrs = per_group(where, "max_lr", max_lr, len(groups))
        self.base_momentums = per_group(where, "base_momentum", base_momentum, len(groups))
        self.max_momentums = per_group(where, "max_momentum", max_momentum, len(groups))
        down = step_size_up if step_size_down is None else step_size_down
        self.total_size = float(step_size_up + down)
        self.part_up = step_size_up / self.total_size
        self.mode, self.gamma = mode, gamma
        self.scale_fn, self.scale_mode = scale_fn, scale_mode
        if last_epoch == -1:
            for group, low in zip(groups, self.min_lrs, strict=True):
                group["lr"] = low
        super().__init__(optimizer, last_epoch)
        self.base_lrs = list(self.min_lrs)

    def _height(self, epoch: int) -> float:
        """How far up between the bounds."""
        cycle = math.floor(1 + epoch / self.total_size)
        part = 1 + epoch / self.total_size - cycle
        up = part / self.part_up if part <= self.part_up else (part - 1) / (self.part_up - 1)
        return up * self._scale(cycle, epoch)

    def _scale(self, cycle: int, epoch: int) -> float:
        if self.scale_fn is not None:
            return self.scale_fn(cycle if self.scale_mode == "cycle" else epoch)
        if self.mode == "exp_range":
            return self.gamma**epoch
        return 1.0 if self.mode == "triangular" else 0.5 ** (cycle - 1)

    def rate(self, lr: float, epoch: int, group: int) -> float:
        low = self._of("min_lrs", group)
        return low + (self._of("max_lrs", group) - low) * self._height(epoch)

    def momentum(self, epoch: int, group: int) -> float:
        high, low = self._of("max_momentums", group), self._of("base_momentums", group)
        return high - (high - low) * self._height(epoch)
