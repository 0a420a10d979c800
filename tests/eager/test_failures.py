"""What a failure leaves behind: values, versions and gradients are as documented."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import AnomalyError, GradientError, InPlaceError, ShapeError


def leaf(*values: float) -> sg.Tensor:
    return sg.Tensor([float(v) for v in values], requires_grad=True)


def _fail(*_: Any) -> Any:
    raise ZeroDivisionError


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
