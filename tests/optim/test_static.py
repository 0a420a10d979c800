"""Compiled steps: what `updates` gives, what changes them afterwards, and what they cost."""

from __future__ import annotations

import re

import numpy as np
import pytest

import symgrad as sg
from symgrad.optim import SGD, Adam
from symgrad.optim.lr_scheduler import StepLR


def leaf(*values):
    return sg.tensor(values, requires_grad=True)


def compiled(optimizer, loss, grads=None):
    return sg.function([], loss, updates=optimizer.updates(loss, grads))


def squares(*params):
    return sum(sg.sum(p.__as_symbol__() ** 2) for p in params)


def test_numbers_act_on_compiled_steps():
    w = leaf(1.0)
    optimizer = SGD([w], lr=0.1)
    step = compiled(optimizer, squares(w))
    step()
    assert w.item() == pytest.approx(0.8)
    optimizer.param_groups[0]["lr"] = 0.5
    step()
    assert w.item() == pytest.approx(0.0)


def test_pairs_of_numbers_act_as_well():
    values = []
    for early in (True, False):
        w = leaf(1.0)
        optimizer = Adam([w], lr=0.1, betas=(0.5, 0.5) if early else (0.9, 0.999))
        step = compiled(optimizer, squares(w))
        optimizer.param_groups[0]["betas"] = (0.5, 0.5)
        step(), step()
        values.append(w.item())
    assert values[0] == values[1]


def test_schedules_act_on_compiled_steps():
    w = leaf(1.0)
    optimizer = SGD([w], lr=0.1)
    schedule = StepLR(optimizer, 1, gamma=5.0)
    step = compiled(optimizer, squares(w))
    step()
    schedule.step()  # without a warning: compiled steps go unseen
    step()
    assert w.item() == pytest.approx(0.0)


def test_a_number_that_was_left_out_warns():
    w = leaf(1.0)
    optimizer = SGD([w], lr=0.1)
    optimizer.param_groups[0]["weight_decay"] = 0.0
    step = compiled(optimizer, squares(w))
    with pytest.warns(UserWarning, match="SGD: weight_decay was 0 when a step was compiled"):
        optimizer.param_groups[0]["weight_decay"] = 0.5
    step()
    assert w.item() == pytest.approx(0.8)
    step = compiled(optimizer, squares(w))
    step()
    assert w.item() == pytest.approx(0.8 - 0.1 * (1.6 + 0.4))


def test_a_number_that_counts_may_become_0():
    w = leaf(1.0)
    optimizer = SGD([w], lr=0.1, weight_decay=0.5, momentum=0.9)
    step = compiled(optimizer, squares(w))
    optimizer.param_groups[0].update(weight_decay=0.0, momentum=0.0)
    step(), step()
    assert w.item() == pytest.approx(0.64)


def test_the_mapping_holds_parameters_and_state():
    a, b = leaf(1.0), leaf(2.0)
    optimizer = SGD([a, b], lr=0.1, momentum=0.9)
    new = optimizer.updates(squares(a, b))
    storages = {variable.payload for variable in new}
    kept = [v.storage for p in (a, b) for v in optimizer.state[p].values()]
    assert storages == {a.storage, b.storage, *kept}


def test_frozen_parameters_cost_nothing():
    frozen, w = leaf(1.0), leaf(1.0)
    frozen.requires_grad = False
    optimizer = SGD([frozen, w], lr=0.1)
    x = sg.placeholder("x", (1,))
    loss = sg.sum((w * x) ** 2) + sg.sum((frozen * x) ** 2)
    new = optimizer.updates(loss)
    assert [variable.payload for variable in new] == [w.storage]
    alone = SGD([w], lr=0.1).updates(loss)
    count = lambda u: len(sg.Graph([x], list(u.values())).symbols)  # noqa: E731
    assert count(new) == count(alone)
    assert frozen not in optimizer.state


def test_unused_parameters_are_left_out():
    used, unused = leaf(1.0), leaf(1.0)
    optimizer = SGD([used, unused], lr=0.1, momentum=0.9)
    assert {v.payload for v in optimizer.updates(squares(used))}.isdisjoint({unused.storage})
    assert list(optimizer.state) == [used]


def test_gradients_may_be_given():
    a, b = leaf(3.0), leaf(4.0)
    optimizer = SGD([a, b], lr=1.0)
    loss = squares(a, b) / 2
    clipped, norm = sg.optim.clip_by_norm(sg.grad(loss, [a, b]), 1.0)
    step = sg.function([], norm, updates=optimizer.updates(loss, clipped))
    assert step() == 5.0
    np.testing.assert_allclose([a.item(), b.item()], [2.4, 3.2], rtol=1e-6)
    for grads in ({a: clipped[0]}, {a.__as_symbol__(): clipped[0]}, [clipped[0], None]):
        assert [v.payload for v in optimizer.updates(loss, grads)] == [a.storage]


@pytest.mark.parametrize(
    ("grads", "kind", "text"),
    [
        (
            lambda a: [],
            ValueError,
            "SGD.updates: grads: expected 1, one per parameter that requires a gradient, got 0",
        ),
        (
            lambda a: {sg.variable(1.0): None},
            ValueError,
            "SGD.updates: grads: no parameter that requires a gradient: got <variable: f64[]>",
        ),
        (
            lambda a: [sg.constant([1.0, 2.0])],
            sg.ShapeError,
            "SGD.updates: grads: not of its parameter's shape: expected f64[1], got <constant",
        ),
        (lambda a: [a], sg.ShapeError, "SGD.updates: grads: not of its parameter's shape"),
    ],
)
def test_gradients_that_do_not_fit(grads, kind, text):
    a = leaf(1.0)
    with pytest.raises(kind, match=re.escape(text)):
        SGD([a]).updates(squares(a), grads(a))


def test_losses_that_do_not_fit():
    w = leaf(1.0)
    optimizer = SGD([w])
    text = "SGD.updates: the loss is no symbol: got Tensor; hint: a loss with a value: loss.back"
    with pytest.raises(sg.TraceError, match=re.escape(text)):
        optimizer.updates((w * w).sum())
    with pytest.raises(sg.GradientError, match=r"SGD\.updates: output is f64\[1\]: expected"):
        optimizer.updates(w.__as_symbol__() ** 2)
    text = "SGD.updates: the loss uses no parameter that requires a gradient: got f64[]"
    with pytest.raises(sg.GradientError, match=re.escape(text)):
        optimizer.updates(sg.placeholder("x"))
    w.requires_grad = False
    with pytest.raises(sg.GradientError, match=r"SGD\.updates: no parameter requires a gradient"):
        optimizer.updates(squares(leaf(1.0)))


def test_a_model_trained_compiled_is_the_same_model_eagerly():
    rng = np.random.default_rng(0)
    inputs, targets = rng.normal(size=(40, 5)), rng.normal(size=(40, 1))
    ends = []
    for mode in ("eager", "static", "alternating"):
        start = np.random.default_rng(1)
        params = [
            sg.tensor(start.normal(size=s), requires_grad=True) for s in ((5, 8), (8,), (8, 1))
        ]
        optimizer = Adam(params, lr=0.01, weight_decay=0.01)

        def loss_of(x, t, params=params):
            return sg.mean((sg.tanh(x @ params[0] + params[1]) @ params[2] - t) ** 2)

        x, t = sg.placeholder("x", ("n", 5)), sg.placeholder("t", ("n", 1))
        loss = loss_of(x, t)
        step = sg.function([x, t], loss, updates=optimizer.updates(loss))
        losses = []
        for k in range(30):
            rows = slice(k % 4 * 10, k % 4 * 10 + 10)
            batch = inputs[rows], targets[rows]
            if mode == "static" or (mode == "alternating" and k % 2):
                losses.append(float(step(*batch)))
                continue
            optimizer.zero_grad()
            value = loss_of(*map(sg.asarray, batch))
            value.backward()
            optimizer.step()
            losses.append(value.item())
        ends.append(losses)
    np.testing.assert_allclose(ends[1], ends[0], rtol=1e-10)
    np.testing.assert_allclose(ends[2], ends[0], rtol=1e-10)
    assert ends[0][-1] < ends[0][0]
