"""Small problems, solved eagerly, compiled, or by turns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import symgrad as sg

MODES = ("eager", "static", "alternating")


def steps(mode: str, optimizer: Any, loss_of: Callable[[Any], Any], x: Any) -> Callable[[], None]:
    """What takes one step down ``loss_of(x)``, in this mode."""
    turn = iter(range(10**9))
    loss = loss_of(x.__as_symbol__())
    compiled = None if mode == "eager" else sg.function([], loss, updates=optimizer.updates(loss))

    def step() -> None:
        if mode == "static" or (mode == "alternating" and next(turn) % 2):
            assert compiled is not None
            compiled()
            return
        optimizer.zero_grad()
        loss_of(x).backward()
        optimizer.step()

    return step


def iterates(mode: str, make: Callable[[Any], Any], count: int) -> list[float]:
    """The first iterates on x**2, from 1."""
    x = sg.tensor(1.0, requires_grad=True)
    step = steps(mode, make([x]), lambda x: x * x, x)
    found: list[float] = []
    for _ in range(count):
        step()
        found.append(x.item())
    return found
