"""How times are taken: alternatives in turn, many rounds, CPU time of the process, medians.

Other work on the machine then falls on every alternative alike. Only ratios of one run are
compared.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Call = Callable[[], Any]


@dataclass(frozen=True)
class Row:
    """One line of the report.

    Attributes:
        name: what was measured.
        value: the figure, with its unit.
        goal: what it should not exceed, in the same unit, or None.
    """

    name: str
    value: float
    unit: str
    goal: float | None = None

    @property
    def met(self) -> bool:
        return self.goal is None or self.value <= self.goal


def seconds(call: Call, number: int) -> float:
    """CPU seconds of one call, averaged over ``number`` in a row."""
    start = time.process_time()
    for _ in range(number):
        call()
    return (time.process_time() - start) / number


def interleaved(
    calls: dict[str, Call], *, rounds: int = 15, least: float = 0.02
) -> dict[str, float]:
    """The median time of each call, in seconds, taken in turn.

    Args:
        calls: the alternatives by name.
        rounds: how often each has its turn.
        least: the CPU time of one turn, at least; short calls are repeated.
    """
    for call in calls.values():
        call()  # a first call may import something
    numbers = {
        name: max(1, int(least / max(seconds(call, 3), 1e-9))) for name, call in calls.items()
    }
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            taken[name].append(seconds(call, numbers[name]))
    return {name: statistics.median(times) for name, times in taken.items()}


def ratio(calls: dict[str, Call], of: str, to: str, **options: Any) -> float:
    """The median over rounds of one call's time over another's."""
    times = interleaved(calls, **options)
    return times[of] / times[to]
