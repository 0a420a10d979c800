"""How long things live: deep graphs, and what a dropped graph frees."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from tests.counting import calls_of

DEEP = 200_000


@pytest.fixture
def uncollected() -> Iterator[None]:
    """Nothing but reference counts frees anything."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def leaf(*values: float) -> sg.Tensor:
    return sg.Tensor([float(v) for v in values], requires_grad=True)


# --- deep graphs ----------------------------------------------------------------------------------


def chain(x: Any, length: int) -> Any:
    """Sums and products, so that some values are saved."""
    y = x
    for k in range(length):
        y = y * 1.0 if k % 4 == 0 else y + 1.0
    return y


def test_a_deep_chain_runs_back_and_dies_without_recursion(uncollected: None):
    x = leaf(1.0)
    y = chain(x, DEEP)
    record = weakref.ref(y.grad_fn)
    saved = weakref.ref(x.storage)
    y.backward(retain_graph=True)
    assert x.grad is not None
    assert x.grad.tolist() == [1.0]
    assert record() is not None
    (g,) = sg.grad(y, x, create_graph=True)  # the recorded pass is as deep
    assert g.tolist() == [1.0]
    del g
    del y
    assert record() is None
    del x
    assert saved() is None


def test_a_deep_chain_that_a_pass_has_freed_dies(uncollected: None):
    x = leaf(1.0)
    y = chain(x, DEEP)
    record = weakref.ref(y.grad_fn)
    y.backward()
    del y
    assert record() is None


def test_a_deep_chain_of_changes_in_place(uncollected: None):
    x = leaf(1.0)
    y = x * 1.0
    for _ in range(DEEP // 10):
        y += 1.0
    record = weakref.ref(y.grad_fn)
    y.backward()
    assert x.grad is not None
    assert x.grad.tolist() == [1.0]
    del y
    assert record() is None


def test_a_deep_chain_of_views(uncollected: None):
    x = leaf(1.0, 2.0)
    y = x * 1.0
    for _ in range(5_000):
        y = sg.flip(y)
    y.backward(sg.asarray([1.0, 3.0]))
    assert x.grad is not None
    assert x.grad.tolist() == [1.0, 3.0]


WORK: dict[str, Callable[[Any, Any], Any]] = {
    "forward": lambda x, y: chain(x, y.length),
    "backward": lambda x, y: y.value.backward(retain_graph=True),
    "gradient": lambda x, y: sg.grad(y.value, x, retain_graph=True),
    "recorded": lambda x, y: sg.grad(y.value, x, create_graph=True),
}


class _Chain:
    def __init__(self, x: Any, length: int) -> None:
        self.length, self.value = length, chain(x, length)


@pytest.mark.parametrize("work", WORK.values(), ids=WORK)
def test_the_work_is_linear(work: Callable[[Any, Any], Any]):
    """Twice the chain takes twice the calls, and a little for the start."""
    x = leaf(1.0)
    counts: list[int] = []
    for length in (2_000, 4_000, 8_000):
        y = _Chain(x, length)
        work(x, y)  # plans and rules are found, and compiled
        for _ in range(3):
            work(x, y)
        counts.append(calls_of(lambda y=y: work(x, y)))
    small, middle, large = counts
    assert small > 2_000
    assert large - middle == pytest.approx(2 * (middle - small), rel=1e-3)


def test_many_users_of_one_value_are_linear():
    x = leaf(1.0)
    counts: list[int] = []
    for width in (1_000, 2_000, 4_000):
        total: Any = sg.add(x * 1.0, 0.0)
        for _ in range(width):
            total = total + x
        for _ in range(3):
            sg.grad(total, x, retain_graph=True)
        counts.append(calls_of(lambda t=total: sg.grad(t, x, retain_graph=True)))
    assert counts[2] - counts[1] == pytest.approx(2 * (counts[1] - counts[0]), rel=1e-3)


def test_shared_values_are_gone_through_once():
    """Doubling a value 60 times has 2**60 ways back."""
    x = leaf(1.0)
    y: Any = x
    for _ in range(60):
        y = y + y
    y.backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2.0**60]


# --- what is dropped ------------------------------------------------------------------------------


def watched(tensor: Any) -> weakref.ref[Any]:
    """A weak reference to the array of a tensor."""
    return weakref.ref(tensor.storage.array)


def build(x: sg.Tensor, found: list[weakref.ref[Any]]) -> sg.Tensor:
    """A few ops of all kinds; the arrays between are watched."""
    h = sg.exp(x)
    m = sg.reshape(h, (1, -1)) @ sg.reshape(sg.sin(h), (-1, 1))
    w, v = sg.linalg.eigh(m @ m)
    y = sg.sum(sg.where(h > 1, h * h, h)) + sg.sum(w) + sg.sum(v * v) + sg.max(h)
    found += map(watched, (h, m, w, v, y))
    return y


def gone(found: list[weakref.ref[Any]]) -> bool:
    assert found
    return all(reference() is None for reference in found)


USES: dict[str, Callable[[sg.Tensor, sg.Tensor], Any]] = {
    "nothing": lambda x, y: None,
    "backward": lambda x, y: y.backward(),
    "kept": lambda x, y: y.backward(retain_graph=True),
    "grad": lambda x, y: sg.grad(y, x),
    "recorded": lambda x, y: sg.grad(y, x, create_graph=True),
    "twice": lambda x, y: sg.grad(sg.sum(sg.grad(y, x, create_graph=True)[0]), x),
    "hooks": lambda x, y: (y.register_hook(lambda g: g * 2), y.backward()),
    "retained": lambda x, y: (y.retain_grad(), y.backward()),
    "anomalies": lambda x, y: sg.detect_anomaly()(y.backward)(),
    "leaf hooks": lambda x, y: (x.register_hook(lambda g: None), y.backward()),
    "printed": lambda x, y: (repr(y), repr(y.grad_fn), y.grad_fn.next_functions),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
@pytest.mark.parametrize("times", [1, 5])
def test_a_dropped_graph_frees_its_arrays_at_once(use: Any, times: int, uncollected: None):
    for _ in range(times):  # first by the rules, then by compiled code
        x = leaf(0.5, 1.5)
        found: list[weakref.ref[Any]] = []
        y = build(x, found)
        use(x, y)
        del y
        assert gone(found)


def test_a_pass_frees_what_it_has_used(uncollected: None):
    x = leaf(0.5, 1.5)
    h = sg.exp(x)
    y = sg.sum(sg.sin(h))
    found = [watched(h)]
    del h
    assert not gone(found)
    y.backward()
    assert gone(found)
    assert y.grad_fn is not None


def test_results_that_nobody_reads_are_not_kept(uncollected: None):
    x = leaf(0.5, 1.5)
    h = x + 1.0
    found = [watched(h)]
    y = h * 2.0  # the product with a number reads no operand
    del h
    assert gone(found)
    assert y.requires_grad


def test_nothing_is_kept_under_no_grad(uncollected: None):
    x = leaf(0.5, 1.5)
    found: list[weakref.ref[Any]] = []
    with sg.no_grad():
        y = build(x, found)
    kept = found.pop()
    assert gone(found)
    assert kept() is y.storage.array


def test_a_graph_lives_as_long_as_its_root(uncollected: None):
    x = leaf(0.5)
    y = sg.exp(x)
    z, found = y * y, [watched(y)]
    record = y.grad_fn
    del y, x
    assert not gone(found)
    del z
    assert not gone(found)  # the record of exp saved its result
    del record
    assert gone(found)


def test_views_and_their_base(uncollected: None):
    base = sg.Tensor(np.zeros((3, 3)))
    found = [watched(base), weakref.ref(base.storage)]
    view = base[0]
    del base
    assert found[1]() is not None  # the view shows its memory
    view += leaf(1.0, 2.0, 3.0)
    del view
    assert gone(found)


def test_an_error_leaves_nothing_behind(uncollected: None):
    x = leaf(0.5, 1.5)
    found: list[weakref.ref[Any]] = []
    y = build(x, found)
    handle = x.register_hook(_fail)
    with pytest.raises(ZeroDivisionError):
        y.backward()
    handle.remove()
    del y
    assert gone(found)


def _fail(*_: Any) -> Any:
    raise ZeroDivisionError
