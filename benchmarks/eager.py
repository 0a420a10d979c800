"""What eager recording costs: beside PyTorch and HIPS autograd, where they are installed."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

import symgrad as sg
from benchmarks.measure import Row, interleaved

SIZE = 10
LENGTH = 200_000

GOALS = {"PyTorch": 1.0, "autograd": 0.5}
"""Symgrad's time over theirs, at most."""


def small_ops(x: Any, namespace: Any) -> Any:
    """Twenty small ops and a sum."""
    y = x
    for _ in range(5):
        y = namespace.sin(y) * x + 0.5 * y
    return namespace.sum(y)


def _symgrad(start: np.ndarray) -> Callable[[], Any]:
    x = sg.Tensor(start, requires_grad=True)

    def call() -> Any:
        x.grad = None
        small_ops(x, sg).backward()
        return x.grad

    return call


def _torch(start: np.ndarray) -> Callable[[], Any]:
    import torch

    torch.set_num_threads(1)
    x = torch.tensor(start, requires_grad=True)

    def call() -> Any:
        x.grad = None
        small_ops(x, torch).backward()
        return x.grad

    return call


def _autograd(start: np.ndarray) -> Callable[[], Any]:
    import autograd
    import autograd.numpy

    gradient = autograd.grad(lambda x: small_ops(x, autograd.numpy))
    return lambda: gradient(start)


PEERS = {"PyTorch": ("torch", _torch), "autograd": ("autograd", _autograd)}


def recording() -> list[Row]:
    """Forward and gradient of small ops, as ratios in one run."""
    start = np.linspace(0.1, 1.0, SIZE)
    calls = {"symgrad": _symgrad(start), "numpy": lambda: small_ops(start, np)}
    for name, (module, make) in PEERS.items():
        if find_spec(module) is not None:
            calls[name] = make(start)
    expected = np.asarray(calls["symgrad"]())
    for name in calls.keys() & PEERS.keys():
        np.testing.assert_allclose(np.asarray(calls[name]()), expected, rtol=1e-12)
    times = interleaved(calls, rounds=41, least=0.01)
    what = f"eager, 20 ops of {SIZE} elements and a sum, forward and gradient"
    rows = [
        Row(what, times["symgrad"] * 1e6, "us"),
        Row(f"{what}, over the forward pass in numpy", times["symgrad"] / times["numpy"], "x"),
    ]
    for name, goal in GOALS.items():
        if name in times:
            rows.append(Row(f"{what}, over {name}", times["symgrad"] / times[name], "x", goal))
    return rows


def chain(length: int) -> float:
    """CPU seconds of a chain of ops: forward, backward, deletion."""
    x = sg.Tensor(np.ones(2), requires_grad=True)
    start = time.process_time()
    y = x
    for _ in range(length):
        y = y + 1e-5
    y.backward(np.ones(2))
    del y
    return time.process_time() - start


def deep_chain() -> list[Row]:
    """A long chain costs in proportion to its length."""
    chain(1000)
    # The least of three: a garbage collection that falls into one of them is not its length's.
    half, whole = (min(chain(length) for _ in range(3)) for length in (LENGTH // 2, LENGTH))
    return [Row(f"eager, chain of {LENGTH} ops, time over half of it", whole / half, "x", 2.6)]


def eager() -> list[Row]:
    """All figures of the eager mode."""
    return [*recording(), *deep_chain()]
