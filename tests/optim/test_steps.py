"""What a step does to parameters, gradients and state; groups; checkpoints; clipping."""

from __future__ import annotations

import copy
import math
import re
import threading

import numpy as np
import pytest

import symgrad as sg
from symgrad.optim import SGD, Adam


def leaf(*values, **options):
    return sg.tensor(values, requires_grad=True, **options)


# --- a step -----------------------------------------------------------------------------------


def test_a_step_changes_the_storage_and_counts():
    w = leaf(1.0, 2.0)
    storage, view = w.storage, w.detach()[1:]
    (w * w).sum().backward()
    SGD([w], lr=0.5).step()
    assert w.storage is storage
    assert w._version == 1
    assert w.is_leaf
    assert w.requires_grad
    assert view.tolist() == [0.0]  # a view shows the change


def test_a_graph_that_needs_the_old_value_refuses_and_names_the_step():
    w = leaf(1.0)
    loss = (w * w).sum()
    loss.backward(retain_graph=True)
    SGD([w], lr=0.5).step()
    with pytest.raises(RuntimeError, match=r"changed at test_steps\.py:\d+"):
        loss.backward()


def test_parameters_without_a_gradient_are_skipped():
    used, unused = leaf(1.0), leaf(1.0)
    optimizer = SGD([used, unused], lr=0.1, momentum=0.9, weight_decay=0.5)
    (used * used).sum().backward()
    optimizer.step()
    assert unused.tolist() == [1.0]
    assert unused._version == 0
    assert list(optimizer.state) == [used]


def test_a_stale_gradient_is_applied_after_freezing():  # row S49
    w = leaf(1.0)
    (w * w).sum().backward()
    w.requires_grad = False
    SGD([w], lr=0.1).step()
    assert w.tolist() == [0.8]


def test_the_first_step_is_the_gradient_times_the_rate():  # row S53
    bias = sg.zeros(10, requires_grad=True)
    optimizer = SGD([bias], lr=1e-2, momentum=0.9)
    bias.sum().backward()
    optimizer.step()
    np.testing.assert_allclose(bias.numpy(), -0.01)
    assert optimizer.state[bias]["momentum_buffer"].tolist() == [1.0] * 10


def test_worked_example():  # row S35
    weight, bias = sg.tensor([[2.0]], requires_grad=True), leaf(0.0)
    x, y = sg.tensor([[1.0], [2.0]]), sg.tensor([[1.0], [1.0]])
    optimizer = SGD([weight, bias], lr=0.1, momentum=0.9)
    rows = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = ((x @ weight.T + bias - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        rows.append([loss.item(), weight.item(), bias.item()])
    wanted = [[5.0, 1.3, -0.4], [0.725, 0.44, -0.87], [1.5125, 0.007, -1.051]]
    np.testing.assert_allclose(rows, wanted, atol=1e-12)


def test_a_closure_is_called_with_recording_and_its_loss_returned():
    w = leaf(1.0)
    optimizer = SGD([w], lr=0.1)

    def closure():
        optimizer.zero_grad()
        loss = (w * w).sum()
        loss.backward()
        return loss

    with sg.no_grad():
        assert optimizer.step(closure).item() == 1.0
    assert w.tolist() == [0.8]
    assert optimizer.step() is None


def test_zero_grad():
    w = leaf(1.0)
    optimizer = SGD([w])
    (w * w).sum().backward()
    kept = w.grad
    optimizer.zero_grad(set_to_none=False)
    assert w.grad is kept
    assert w.grad.tolist() == [0.0]
    (w * w).sum().backward(create_graph=True)
    optimizer.zero_grad(set_to_none=False)
    assert w.grad.tolist() == [0.0]
    assert not w.grad.requires_grad
    optimizer.zero_grad()
    assert w.grad is None


def test_nothing_is_recorded_by_a_step():
    w = leaf(1.0)
    optimizer = Adam([w])
    (w * w).sum().backward(create_graph=True)
    optimizer.step()
    assert w.is_leaf
    assert all(not value.requires_grad for value in optimizer.state[w].values())


def test_a_step_inside_a_trace_is_refused():
    w = leaf(1.0)
    optimizer = SGD([w])

    @sg.jit
    def train(x):
        optimizer.step()
        return x

    with pytest.raises(sg.TraceError, match=re.escape("SGD.step: changes values while a function")):
        train(sg.ones(1))


def test_steps_in_many_threads_lose_nothing():
    w = sg.zeros(3, requires_grad=True)
    optimizer = SGD([w], lr=1.0)
    loss = sg.sum(w.__as_symbol__())
    compiled = sg.function([], loss, updates=optimizer.updates(loss))
    w.grad = sg.ones(3)

    def work(step):
        for _ in range(200):
            step()

    threads = [threading.Thread(target=work, args=(s,)) for s in (optimizer.step, compiled) * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert w.tolist() == [-800.0] * 3


def test_momentum_may_be_switched_on_later():
    w = leaf(1.0)
    optimizer = SGD([w], lr=0.1)
    values = []
    for _ in range(3):
        optimizer.zero_grad()
        (w * w).sum().backward()
        optimizer.step()
        optimizer.param_groups[0]["momentum"] = 0.9
        values.append(w.item())
    np.testing.assert_allclose(values, [0.8, 0.64, 0.368])


def test_the_state_may_be_exchanged():
    w = leaf(1.0)
    optimizer = SGD([w], lr=0.1, momentum=0.5)
    w.grad = sg.ones(1)
    optimizer.step()
    optimizer.state[w]["momentum_buffer"] = sg.tensor([10.0])
    optimizer.step()
    assert w.item() == pytest.approx(0.9 - 0.1 * 6)


# --- groups -----------------------------------------------------------------------------------


def test_groups_have_their_own_options():
    a, b = leaf(1.0), leaf(1.0)
    optimizer = SGD([{"params": [a]}, {"params": b, "lr": 0.5, "note": "head"}], lr=0.1)
    assert [g["lr"] for g in optimizer.param_groups] == [0.1, 0.5]
    assert optimizer.param_groups[1]["note"] == "head"
    ((a * a) + (b * b)).sum().backward()
    optimizer.step()
    assert (a.item(), b.item()) == (0.8, 0.0)


def test_a_group_can_be_added():
    a, b = leaf(1.0), leaf(1.0)
    optimizer = SGD([a], lr=0.1)
    optimizer.add_param_group({"params": [b], "lr": 0.2})
    assert [id(p) for p in optimizer.parameters()] == [id(a), id(b)]


def test_a_group_may_be_empty():
    w = leaf(1.0)
    optimizer = SGD([{"params": []}, {"params": [w]}], lr=0.1)
    w.grad = sg.ones(1)
    optimizer.step()
    assert w.tolist() == [0.9]
    optimizer.load_state_dict(optimizer.state_dict())


def test_named_parameters():
    a, b = leaf(1.0), leaf(1.0)
    group = SGD([("a", a), ("b", b)]).param_groups[0]
    assert group["param_names"] == ["a", "b"]
    assert [id(p) for p in group["params"]] == [id(a), id(b)]


def test_a_generator_of_parameters():
    assert len(SGD(leaf(1.0) for _ in range(3)).param_groups[0]["params"]) == 3


def test_a_group_is_a_mapping():
    group = SGD([leaf(1.0)], lr=0.5).param_groups[0]
    assert {**group}["lr"] == dict(group)["lr"] == group.get("lr") == 0.5
    group.update(lr=0.25)
    assert group.setdefault("lr", 3.0) == 0.25
    assert group.setdefault("initial_lr", 1.0) == 1.0
    assert "lr" in group
    del group["initial_lr"]
    assert "initial_lr" not in group
    assert "'lr': 0.25" in repr(group)
    with pytest.raises(ValueError, match="SGD: 'lr' cannot be taken out of a group"):
        del group["lr"]
    with pytest.raises(ValueError, match="Adam: betas: expected 2 numbers, got"):
        Adam([leaf(1.0)]).param_groups[0]["betas"] = (0.1, 0.2, 0.3)


def test_representation():
    text = repr(SGD([leaf(1.0)], lr=0.5))
    assert text.splitlines()[:2] == ["SGD (", "group 0: 1 parameters"]
    assert "    lr: 0.5" in text


def call(what, *args, **options):
    return lambda: what(*args, **options)


REFUSALS = [
    (
        lambda: SGD(leaf(1.0)),
        (TypeError, ValueError),
        "SGD: no sequence of parameters: expected a list of tensors, or of dicts with 'params',"
        " got f64[1]; hint: put it into a list",
    ),
    (lambda: SGD({"params": [leaf(1.0)]}), TypeError, "got dict; hint: put it into a list"),
    (lambda: SGD(3), TypeError, "SGD: no sequence of parameters"),
    (lambda: SGD({leaf(1.0)}), TypeError, "a set has no order: expected a list, got a set"),
    (
        lambda: SGD([]),
        ValueError,
        "SGD: there are no parameters; hint: an iterator can be gone through only once",
    ),
    (lambda: SGD([1.0]), TypeError, "parameter 0 is no tensor: expected a leaf tensor, got float"),
    (
        lambda: SGD([sg.variable(1.0)]),
        TypeError,
        "hint: sg.tensor(value, requires_grad=True) is a variable, where it is used with symbols",
    ),
    (
        lambda: SGD([leaf(1.0) * 2]),
        (ValueError, RuntimeError),
        "SGD: parameter 0 is the result of multiply, no leaf: got f64[1];"
        " hint: x.detach().requires_grad_() makes a leaf; created at ",
    ),
    (lambda: SGD([{"lr": 0.1}]), ValueError, "SGD: the group has no 'params': got ['lr']"),
    (
        lambda: SGD([("a", leaf(1.0)), leaf(1.0)]),
        ValueError,
        "SGD: some parameters have names, others have none",
    ),
    (
        lambda: SGD([{"params": [leaf(1.0)], "lr": -1}]),
        ValueError,
        "SGD: lr: expected a number >= 0, got -1.0",
    ),
    (
        lambda: SGD([leaf(1.0)]).add_param_group([leaf(1.0)]),
        TypeError,
        "SGD: no group: expected {'params': [...]}, got list",
    ),
    (
        lambda: sg.optim.Optimizer([leaf(1.0)], {"lr": 1.0}).updates(sg.placeholder("x")),
        sg.GradientError,
        "Optimizer.updates: the loss uses no parameter that requires a gradient",
    ),
]


@pytest.mark.parametrize(("refused", "kinds", "text"), REFUSALS)
def test_refusals(refused, kinds, text):
    for kind in kinds if isinstance(kinds, tuple) else (kinds,):
        with pytest.raises(kind, match=re.escape(text)):
            refused()


def test_a_parameter_given_twice():
    w = leaf(1.0)
    text = "SGD: a parameter is given twice: got f64[1]; hint: only one group may have it"
    for params in ([w, w], [{"params": [w]}, {"params": [w]}], [w, w.detach().requires_grad_()]):
        with pytest.raises(ValueError, match=re.escape(text)):
            SGD(params)
    optimizer = SGD([w])
    with pytest.raises(ValueError, match=re.escape(text)):
        optimizer.add_param_group({"params": [w]})
    assert len(optimizer.param_groups) == 1


# --- checkpoints ------------------------------------------------------------------------------

KINDS = [
    (SGD, {"lr": 0.05, "momentum": 0.9, "dampening": 0.5}),
    (Adam, {"lr": 0.05, "amsgrad": True}),
    (sg.optim.NAdam, {}),
    (sg.optim.Rprop, {}),
    (sg.optim.ASGD, {"t0": 2}),
    (sg.optim.LBFGS, {"max_iter": 2}),
]


def trained(optimizer, w, count):
    def closure():
        optimizer.zero_grad()
        loss = sg.sum(sg.sin(w) * w)
        loss.backward()
        return loss

    for _ in range(count):
        optimizer.step(closure)


@pytest.mark.parametrize(("kind", "options"), KINDS)
def test_a_checkpoint_goes_on_bit_exactly(kind, options):
    w = leaf(1.0, 2.0)
    optimizer = kind([w], **options)
    trained(optimizer, w, 3)
    saved, values = optimizer.state_dict(), w.numpy().copy()
    kept = copy.deepcopy(saved)
    trained(optimizer, w, 3)
    again = leaf(*values)
    new = kind([again], **{**options, "lr": 7.0})
    trained(new, again, 1)
    with sg.no_grad():
        again.copy_(values)
    new.load_state_dict(kept)
    trained(new, again, 3)
    assert again.tolist() == w.tolist()
    assert new.param_groups[0]["lr"] == optimizer.param_groups[0]["lr"]
    # What was saved did not change with the run.
    for name, value in kept["state"][0].items():
        np.testing.assert_equal(np.asarray(saved["state"][0][name]), np.asarray(value))


def test_the_form_of_a_checkpoint():
    a, b, c = leaf(1.0), leaf(1.0), leaf(1.0)
    optimizer = SGD([{"params": [a, b]}, {"params": [c], "lr": 0.5}], lr=0.1, momentum=0.9)
    (a * c).sum().backward()
    optimizer.step()
    saved = optimizer.state_dict()
    assert [group["params"] for group in saved["param_groups"]] == [[0, 1], [2]]
    assert [group["lr"] for group in saved["param_groups"]] == [0.1, 0.5]
    assert {n: sorted(s) for n, s in saved["state"].items()} == {
        0: ["momentum_buffer", "step"],
        2: ["momentum_buffer", "step"],
    }


def test_the_count_of_steps_keeps_its_precision():
    w = sg.tensor(1.0, dtype=sg.float16, requires_grad=True)
    optimizer = Adam([w])
    w.grad = sg.ones((), dtype=sg.float16)
    optimizer.step()
    saved = optimizer.state_dict()
    saved["state"][0]["step"] = 123457.0
    optimizer.load_state_dict(saved)
    assert optimizer.state[w]["step"].item() == 123457.0


def test_compiled_steps_see_a_loaded_state():
    w = leaf(1.0)
    optimizer = SGD([w], lr=0.1, momentum=0.9)
    loss = sg.sum(w.__as_symbol__() ** 2)
    step = sg.function([], loss, updates=optimizer.updates(loss))
    start = optimizer.state_dict()
    step(), step(), step()
    end = w.item()
    optimizer.load_state_dict(start)
    with sg.no_grad():
        w.fill_(1.0)
    step(), step(), step()
    assert w.item() == end


@pytest.mark.parametrize(
    ("change", "kind", "text"),
    [
        (lambda d: d.pop("state"), ValueError, "SGD.load_state_dict: no 'state': got param_groups"),
        (
            lambda d: d["param_groups"].append(d["param_groups"][0]),
            ValueError,
            "SGD.load_state_dict: number of groups: expected 1, got 2",
        ),
        (
            lambda d: d["param_groups"][0].update(params=[0]),
            ValueError,
            "SGD.load_state_dict: number of parameters in group 0: expected 2, got 1",
        ),
        (
            lambda d: d["state"].update({7: {}}),
            ValueError,
            "SGD.load_state_dict: state of parameter 7, which is in no group",
        ),
        (
            lambda d: d["state"][0].update(momentum_buffer=sg.ones(5)),
            sg.ShapeError,
            "SGD.load_state_dict: momentum_buffer does not fit its parameter: expected f64[1],"
            " got (5,)",
        ),
    ],
)
def test_checkpoints_that_do_not_fit(change, kind, text):
    a, b = leaf(1.0), leaf(1.0)
    optimizer = SGD([a, b], momentum=0.9)
    (a * b).sum().backward()
    optimizer.step()
    saved = optimizer.state_dict()
    saved["param_groups"][0]["lr"] = 5.0
    change(saved)
    with pytest.raises(kind, match=re.escape(text)):
        optimizer.load_state_dict(saved)
    assert optimizer.param_groups[0]["lr"] == 1e-3


# --- clipping ---------------------------------------------------------------------------------


def test_clipping_by_norm():
    w = leaf(3.0, 4.0)
    (w * w / 2).sum().backward()
    kept = w.grad
    assert sg.optim.clip_grad_norm_(w, 1.0).item() == 5.0
    assert w.grad is kept
    np.testing.assert_allclose(w.grad.numpy(), [0.6, 0.8], rtol=1e-6)
    assert sg.optim.clip_grad_norm_([w], 7.0).item() == pytest.approx(1.0, rel=1e-6)
    np.testing.assert_allclose(w.grad.numpy(), [0.6, 0.8], rtol=1e-6)


def test_clipping_nothing():
    assert sg.optim.clip_grad_norm_([leaf(1.0)], 1.0).item() == 0.0
    sg.optim.clip_grad_value_([leaf(1.0)], 1.0)


def test_norms():
    grads = [sg.tensor([3.0, -4.0]), None, sg.tensor(12.0), sg.tensor([3 + 4j])]
    assert sg.optim.total_norm(grads, math.inf).item() == 12.0
    assert sg.optim.total_norm(grads, 1.0).item() == 24.0
    assert sg.optim.total_norm(grads).item() == pytest.approx(math.sqrt(9 + 16 + 144 + 25))


def test_a_norm_that_is_not_finite():
    w = leaf(1.0, 2.0)
    w.grad = sg.tensor([math.nan, 1.0])
    text = "clip_grad_norm_: the norm of the gradients is not finite: got nan; hint: sg.detect"
    with pytest.raises(RuntimeError, match=re.escape(text)):
        sg.optim.clip_grad_norm_([w], 1.0, error_if_nonfinite=True)
    assert w.grad.tolist()[1] == 1.0
    sg.optim.clip_grad_norm_([w], 1.0)
    assert math.isnan(w.grad.tolist()[1])


def test_clipping_by_value():
    w = leaf(3.0, -4.0, 0.5)
    w.grad = sg.tensor([3.0, -4.0, 0.5])
    sg.optim.clip_grad_value_([w], 1.0)
    assert w.grad.tolist() == [1.0, -1.0, 0.5]


@pytest.mark.parametrize(
    ("refused", "kind", "text"),
    [
        (
            lambda: sg.optim.clip_grad_norm_([1.0], 1.0),
            TypeError,
            "clip_grad_norm_: parameter 0 is no tensor: got float",
        ),
        (
            lambda: sg.optim.clip_by_norm([sg.ones(1)], -1.0),
            ValueError,
            "clip_by_norm: max_norm: expected a number >= 0, got -1.0",
        ),
        (
            lambda: sg.optim.clip_by_value([sg.ones(1)], math.nan),
            ValueError,
            "clip_by_value: clip_value: expected a number >= 0, got nan",
        ),
    ],
)
def test_clipping_refused(refused, kind, text):
    with pytest.raises(kind, match=re.escape(text)):
        refused()


# --- LBFGS ------------------------------------------------------------------------------------


def test_rosenbrock_in_five_steps():
    x = leaf(-1.0, 1.0)
    optimizer = sg.optim.LBFGS([x], line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2
        loss.backward()
        return loss

    for _ in range(5):
        optimizer.step(closure)
    np.testing.assert_allclose(x.numpy(), [1, 1], atol=1e-4)


def test_lbfgs_stops_at_once_where_it_is_flat():
    x = leaf(0.0)
    optimizer, calls = sg.optim.LBFGS([x]), []

    def closure():
        optimizer.zero_grad()
        calls.append(1)
        loss = (x * x).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    assert len(calls) == 1


def test_lbfgs_refuses():
    optimizer = sg.optim.LBFGS([leaf(1.0)])
    with pytest.raises(NotImplementedError, match=r"LBFGS\.updates: its steps are deci"):
        optimizer.updates(sg.placeholder("x"))
    with pytest.raises(ValueError, match=re.escape("LBFGS.step: needs a closure: expected a")):
        optimizer.step()
    with pytest.raises(ValueError, match="LBFGS: works on all parameters at once: expected one"):
        optimizer.add_param_group({"params": [leaf(1.0)]})
