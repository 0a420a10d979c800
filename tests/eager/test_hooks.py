"""Hooks: when they run, in which order, what they may replace."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg


def leaf(*values: float) -> sg.Tensor:
    return sg.Tensor(np.array(values), requires_grad=True)


def test_hooks_run_in_order_and_replace() -> None:
    seen: list[Any] = []
    x = leaf(1.0, 2.0)
    y = x * 3.0
    y.retain_grad()
    y.register_hook(lambda g: (seen.append(("a", g.tolist())), g * 2.0)[1])
    never = y.register_hook(lambda g: seen.append(("never", None)))
    y.register_hook(lambda g: (seen.append(("b", g.tolist())), g + 1.0)[1])
    never.remove()
    never.remove()
    sg.sum(y * y).backward()
    assert seen == [("a", [6.0, 12.0]), ("b", [12.0, 24.0])]
    assert y.grad.tolist() == [13.0, 25.0]
    assert x.grad.tolist() == [39.0, 75.0]


def test_a_leafs_hook_sees_the_sum_of_a_pass() -> None:
    seen: list[Any] = []
    x = leaf(1.0)
    with x.register_hook(lambda g: seen.append(g.tolist())):
        sg.sum(x * 2.0 + x * 3.0).backward()
    sg.sum(x).backward()
    assert seen == [[5.0]]
    assert x.grad.tolist() == [6.0]


def test_after_accumulation() -> None:
    seen: list[Any] = []
    x = leaf(1.0)
    x.register_post_accumulate_grad_hook(lambda t: seen.append((t is x, t.grad.tolist())))
    sg.sum(x * 2.0).backward()
    sg.sum(x * 2.0).backward()
    assert seen == [(True, [2.0]), (True, [4.0])]


def test_node_hooks() -> None:
    seen: list[Any] = []
    x = leaf(2.0)
    y = x * x
    y.grad_fn.register_prehook(lambda outputs: (outputs[0] * 10.0,))
    y.grad_fn.register_hook(
        lambda inputs, outputs: seen.append(([g.tolist() for g in inputs], outputs[0].tolist()))
    )
    sg.sum(y).backward()
    assert seen == [([[20.0], [20.0]], [10.0])]
    assert x.grad.tolist() == [40.0]


def test_node_hooks_may_replace_what_goes_on() -> None:
    x = leaf(2.0)
    y = sg.sin(x)
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 0.0 + 7.0,))
    sg.sum(y).backward()
    assert x.grad.tolist() == [7.0]


def test_hooks_of_a_recorded_pass_are_differentiated() -> None:
    x = leaf(3.0)
    y = x * x
    y.register_hook(lambda g: g * x)
    (g,) = sg.grad(sg.sum(y), x, create_graph=True)
    assert g.tolist() == [18.0]  # 2 x * x
    assert sg.grad(g, x)[0].tolist() == [12.0]


def test_a_hook_belongs_to_the_value_it_was_set_on() -> None:
    seen: list[Any] = []
    a = leaf(1.0).clone()
    a.register_hook(lambda g: seen.append(g.tolist()))
    a.retain_grad()
    a *= 4.0
    sg.sum(a + 1.0).backward()
    assert seen == [[4.0]]
    assert a.grad.tolist() == [1.0]


@pytest.mark.parametrize(
    ("result", "error", "text"),
    [
        (lambda g: 1.0, sg.DTypeError, "hook: its result is no tensor"),
        (lambda g: sg.ones((3,)), sg.SeedError, "hook: its result has another type"),
    ],
)
def test_what_a_hook_must_not_give(result: Any, error: type[Exception], text: str) -> None:
    x = leaf(1.0)
    x.register_hook(result)
    with pytest.raises(error, match=text):
        sg.sum(x).backward()
    assert x.grad is None
