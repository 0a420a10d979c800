"""How long things live: deep graphs, what a dropped graph frees, what a failure leaves behind."""

from __future__ import annotations

import gc
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import AnomalyError, GradientError, InPlaceError, ShapeError
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


# --- what a failure leaves ------------------------------------------------------------------------


def gradient(tensor: sg.Tensor) -> Any:
    """The gradient as a list, of what is no leaf as well."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return None if tensor.grad is None else tensor.grad.tolist()


def state(*tensors: sg.Tensor) -> list[Any]:
    """Values, versions, gradients."""
    return [(t.tolist(), t._version, gradient(t)) for t in tensors]


@pytest.fixture
def problem() -> tuple[sg.Tensor, sg.Tensor, sg.Tensor]:
    """Two leaves that have gradients, and a result of them."""
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    sg.sum(x * w).backward()
    return x, w, sg.sum(sg.exp(x) * w)


OPS: dict[str, tuple[Callable[[sg.Tensor, sg.Tensor], Any], type[Exception]]] = {
    "shape": (lambda t, x: t.add_(sg.ones(3)), ShapeError),
    "enlarged": (lambda t, x: t.mul_(sg.ones((2, 2))), InPlaceError),
    "no kind": (lambda t, x: t.mul_(1j), InPlaceError),
    "leaf": (lambda t, x: x.add_(1.0), InPlaceError),
    "item": (lambda t, x: t.__setitem__(5, 1.0), IndexError),
    "anomaly": (lambda t, x: sg.detect_anomaly()(lambda: t.copy_(sg.log(-x)))(), AnomalyError),
    "out of place": (lambda t, x: sg.matmul(t, sg.ones((3, 3))), ShapeError),
    "kernel": (lambda t, x: sg.linalg.inv(sg.zeros((2, 2)) * t), np.linalg.LinAlgError),
}


@pytest.mark.parametrize(("call", "error"), OPS.values(), ids=OPS)
def test_an_op_that_raises_changes_nothing(
    call: Any, error: type[Exception], problem: tuple[sg.Tensor, sg.Tensor, sg.Tensor]
):
    x, w, y = problem
    t = x * 2.0
    record, before = t.grad_fn, state(x, w, y, t)
    with pytest.raises(error):
        call(t, x)
    assert state(x, w, y, t) == before
    assert t.grad_fn is record
    assert sg.is_grad_enabled()
    sg.sum(t).backward()
    assert x.grad is not None
    assert x.grad.tolist() == [3.0 + 2.0, 4.0 + 2.0]


def retained(x: sg.Tensor, w: sg.Tensor) -> tuple[sg.Tensor, sg.Tensor]:
    h = sg.exp(x)
    h.retain_grad()
    return h, sg.sum(h * w)


HOOKS: dict[str, Callable[[sg.Tensor, sg.Tensor, sg.Tensor], Any]] = {
    "of a leaf": lambda x, h, y: x.register_hook(_fail),
    "of a result": lambda x, h, y: h.register_hook(_fail),
    "of the root": lambda x, h, y: y.register_hook(_fail),
    "of a node": lambda x, h, y: h.grad_fn.register_hook(_fail),
    "before a node": lambda x, h, y: h.grad_fn.register_prehook(_fail),
}


@pytest.mark.parametrize("register", HOOKS.values(), ids=HOOKS)
@pytest.mark.parametrize("create", [False, True])
def test_a_hook_that_raises_changes_no_gradient(
    register: Any, create: bool, problem: tuple[sg.Tensor, sg.Tensor, sg.Tensor]
):
    x, w, _ = problem
    h, y = retained(x, w)
    before = state(x, w, h, y)
    with register(x, h, y), pytest.raises(ZeroDivisionError):
        y.backward(retain_graph=True, create_graph=create)
    assert state(x, w, h, y) == before
    assert sg.is_grad_enabled()
    y.backward()  # the graph was to be kept, and was
    assert h.grad is not None
    assert h.grad.tolist() == w.tolist()


def test_after_a_hook_that_raised_used_values_are_freed(
    problem: tuple[sg.Tensor, sg.Tensor, sg.Tensor],
):
    x, w, y = problem
    before = state(x, w)
    with x.register_hook(_fail), pytest.raises(ZeroDivisionError):
        y.backward()
    assert state(x, w) == before
    with pytest.raises(GradientError, match="freed by an earlier pass"):
        y.backward()
    assert state(x, w) == before


def test_a_hook_after_accumulation_that_raises_comes_too_late(
    problem: tuple[sg.Tensor, sg.Tensor, sg.Tensor],
):
    x, w, y = problem
    with x.register_post_accumulate_grad_hook(_fail), pytest.raises(ZeroDivisionError):
        y.backward()
    assert x.grad is not None
    assert w.grad is not None
    np.testing.assert_allclose(x.grad, np.array([3.0, 4.0]) * (1 + np.exp([1.0, 2.0])))
    np.testing.assert_allclose(w.grad, np.array([1.0, 2.0]) + np.exp([1.0, 2.0]))


PASSES: dict[str, tuple[Callable[..., Any], type[Exception]]] = {
    "no seed": (lambda x, w, y: sg.autograd.backward(x * w), GradientError),
    "seed's shape": (lambda x, w, y: y.backward(sg.ones(3)), ShapeError),
    "inputs": (lambda x, w, y: y.backward(inputs=[sg.ones(2)]), GradientError),
    "unused": (lambda x, w, y: sg.grad(y, leaf(1.0)), GradientError),
    "second output": (
        lambda x, w, y: sg.autograd.backward([y, sg.ones(())]),
        GradientError,
    ),
}


@pytest.mark.parametrize(("call", "error"), PASSES.values(), ids=PASSES)
def test_a_pass_that_is_refused_changes_nothing_at_all(
    call: Any, error: type[Exception], problem: tuple[sg.Tensor, sg.Tensor, sg.Tensor]
):
    x, w, y = problem
    before = state(x, w, y)
    with pytest.raises(error):
        call(x, w, y)
    assert state(x, w, y) == before
    y.backward()  # nothing was freed


def test_a_change_that_is_found_in_the_pass_changes_no_gradient(
    problem: tuple[sg.Tensor, sg.Tensor, sg.Tensor],
):
    x, w, _ = problem
    h = sg.exp(x)
    y = sg.sum(sg.sin(x) * w + h * h)
    h.add_(1.0)
    before = state(x, w, h, y)
    with pytest.raises(InPlaceError, match="changed in place since"):
        y.backward()
    assert state(x, w, h, y) == before


def test_an_anomaly_in_a_pass_changes_no_gradient():
    x = leaf(0.0, 1.0)
    sg.sum(x).backward()
    before = state(x)
    y = sg.sum(sg.sqrt(x) * sg.Tensor([0.0, 1.0]))
    with sg.detect_anomaly(), pytest.raises(AnomalyError):
        y.backward()
    assert state(x) == before
