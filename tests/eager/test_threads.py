"""Threads and tasks: each has its own modes, and passes that meet at one leaf lose nothing."""

from __future__ import annotations

import asyncio
import contextvars
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import symgrad as sg

COUNT = 8


@pytest.fixture(autouse=True)
def switching() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(work: Callable[[int], Any], count: int = COUNT) -> list[Any]:
    """What ``work(k)`` gives in each of some threads that start at one moment."""
    results: list[Any] = [None] * count
    failures: list[BaseException] = []
    start = threading.Barrier(count)

    def run(k: int) -> None:
        try:
            start.wait(30)
            results[k] = work(k)
        except BaseException as error:  # raised again below
            failures.append(error)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    if failures:
        raise failures[0]
    assert not any(thread.is_alive() for thread in threads)
    return results


# --- modes ----------------------------------------------------------------------------------------


def test_each_thread_has_its_own_mode():
    """All threads stand in blocks of different kinds at the same time."""
    x = sg.Tensor([1.0, 2.0], requires_grad=True)
    inside = threading.Barrier(COUNT)

    def work(k: int) -> list[bool]:
        seen: list[bool] = []
        with sg.set_grad_enabled(k % 2 == 0):
            for _ in range(20):
                inside.wait(30)
                seen.append((x * 2).requires_grad)
                with sg.enable_grad() if k % 4 > 1 else sg.no_grad():
                    inside.wait(30)
                    seen.append(sg.exp(x).requires_grad)
        seen.append(sg.is_grad_enabled())
        return seen

    for k, seen in enumerate(together(work)):
        assert seen == [k % 2 == 0, k % 4 > 1] * 20 + [True]
    assert sg.is_grad_enabled()


def test_a_new_thread_starts_with_the_defaults():
    x = sg.Tensor([1.0], requires_grad=True)
    with sg.no_grad(), sg.detect_anomaly():
        assert (
            together(lambda _: (sg.is_grad_enabled(), sg.is_anomaly_enabled()), 2)
            == [(True, False)] * 2
        )
        assert together(lambda _: (x * 2).requires_grad, 2) == [True, True]
        context = contextvars.copy_context()
    assert context.run(sg.is_grad_enabled) is False  # who copies a context takes its mode along


def test_each_task_has_its_own_mode():
    x = sg.Tensor([1.0], requires_grad=True)

    async def task(enabled: bool) -> list[bool]:
        seen: list[bool] = []
        with sg.set_grad_enabled(enabled):
            for _ in range(10):
                await asyncio.sleep(0)
                seen.append((x * 2).requires_grad)
                with sg.no_grad():
                    await asyncio.sleep(0)
                    seen.append((x * 2).requires_grad)
        return seen

    async def tasks() -> list[list[bool]]:
        with sg.no_grad():  # tasks start with the mode of where they are made
            inherited = asyncio.create_task(plain())
        found = await asyncio.gather(*(task(k % 2 == 0) for k in range(COUNT)))
        assert await inherited is False
        assert sg.is_grad_enabled()
        return found

    async def plain() -> bool:
        await asyncio.sleep(0)
        return (x * 2).requires_grad

    for k, seen in enumerate(asyncio.run(tasks())):
        assert seen == [k % 2 == 0, False] * 10


def test_a_decorated_function_in_several_threads():
    x = sg.Tensor([1.0], requires_grad=True)

    @sg.no_grad()
    def quiet() -> bool:
        return (x * 2).requires_grad

    def work(_: int) -> set[tuple[bool, bool]]:
        return {(quiet(), (x * 2).requires_grad) for _ in range(200)}

    assert together(work) == [{(False, True)}] * COUNT


# --- gradients ------------------------------------------------------------------------------------


def test_passes_that_meet_at_one_leaf_add_up():
    x = sg.Tensor(np.arange(10.0), requires_grad=True)

    def work(k: int) -> None:
        for step in range(500):
            sg.sum(x * float(k + step % 3)).backward()

    together(work, 4)
    # Whole numbers, so the sum is exact in every order.
    total = sum(k + step % 3 for k in range(4) for step in range(500))
    assert x.grad is not None
    assert x.grad.tolist() == [float(total)] * 10
    assert x.grad._version == 4 * 500 - 1  # the first one was put there


def test_recorded_passes_that_meet_add_up():
    x = sg.Tensor([1.0, 2.0], requires_grad=True)

    def work(_: int) -> None:
        for _ in range(50):
            sg.sum(x * x).backward(create_graph=True)

    together(work, 4)
    assert x.grad is not None
    assert x.grad.tolist() == [400.0, 800.0]
    assert x.grad.requires_grad
    x.grad = None


def test_one_graph_that_is_kept_serves_several_threads():
    x = sg.Tensor([1.0, 2.0], requires_grad=True)
    h = sg.exp(x)
    h.retain_grad()
    y = sg.sum(sg.sin(h) * x)
    (expected,) = sg.grad(y, x, retain_graph=True)
    assert h.grad is not None
    once = np.asarray(h.grad).copy()
    h.grad = None

    def work(_: int) -> list[Any]:
        return [sg.grad(y, x, retain_graph=True)[0].tolist() for _ in range(100)]

    for found in together(work, 4):
        assert found == [expected.tolist()] * 100
    np.testing.assert_allclose(np.asarray(h.grad), 400 * once, rtol=1e-12)


def test_ops_that_were_never_called_before():
    """Plans and rules are found for the first time in all threads at once, and compiled."""

    def work(k: int) -> list[Any]:
        found: list[Any] = []
        for n in range(2, 22):
            x = sg.Tensor(np.linspace(0.1, 0.9, n) + 0.0, requires_grad=True)
            for _ in range(5):
                y = sg.sum(sg.atan2(sg.tanh(x), sg.cosh(x)) ** 3 + sg.max(x))
                (g,) = sg.grad(y, x)
                found.append((float(y), g.tolist()))
        return found

    one, *others = together(work)
    assert all(other == one for other in others)
    for n in range(20):
        assert one[5 * n : 5 * n + 5] == [one[5 * n]] * 5


def test_hooks_may_come_and_go_meanwhile():
    x = sg.Tensor([1.0], requires_grad=True)
    y = x * 3.0
    calls: list[int] = []

    def work(k: int) -> None:
        for _ in range(100):
            with x.register_hook(lambda g: calls.append(k)):
                sg.grad(y, x, retain_graph=True)

    together(work, 4)
    assert set(calls) == {0, 1, 2, 3}
    assert len(calls) >= 400  # each saw its own at least
    sg.grad(y, x, retain_graph=True)
    before = len(calls)
    y.backward()
    assert len(calls) == before


def test_changes_in_place_are_counted_in_all_threads():
    t = sg.zeros(4)

    def work(_: int) -> None:
        for _ in range(200):
            t.add_(0.0)

    together(work, 4)
    assert t._version == 800
