"""The listed iterates of every optimiser, options that make no sense, and rules as functions."""

from __future__ import annotations

import re

import numpy as np
import pytest

import symgrad as sg
from symgrad.optim.groups import options_of
from symgrad.optim.rules import apply_rule
from tests.optim.problems import MODES, iterates

# Iterates of x**2 from 1, at lr 0.1 unless another is named: shared/spec row 3.3.
ITERATES = [
    ("SGD", {}, [0.8, 0.64, 0.512]),
    ("SGD", {"weight_decay": 0.5}, [0.75, 0.5625, 0.421875]),
    ("SGD", {"maximize": True}, [1.2, 1.44, 1.728]),
    ("SGD", {"momentum": 0.9}, [0.8, 0.46, 0.062]),
    ("SGD", {"momentum": 0.9, "dampening": 0.5}, [0.8, 0.54, 0.252]),
    ("SGD", {"momentum": 0.9, "nesterov": True}, [0.62, 0.2224, -0.108352]),
    ("Adam", {}, [0.9, 0.8004122, 0.7015863]),
    ("AdamW", {}, [0.899, 0.798519, 0.698911]),
    ("NAdam", {}, [0.89435, 0.81997, 0.75273]),
    ("RAdam", {}, [0.8, 0.62105, 0.4623]),
    ("Adamax", {}, [0.9, 0.80517, 0.7155]),
    ("RMSprop", {}, [5e-8, 0, 0]),
    ("RMSprop", {"centered": True, "momentum": 0.9}, [-0.00504, -0.90448, -1.03948]),
    ("Adagrad", {}, [0.9, 0.8331, 0.78046]),
    ("Adadelta", {"lr": 1.0}, [0.996838, 0.993598, 0.990309]),
    ("Rprop", {}, [0.9, 0.78, 0.636]),
    ("ASGD", {}, [0.79999, 0.639985, 0.511984]),
]
DEFAULTS = {
    "SGD": {"lr": 1e-3, "momentum": 0, "dampening": 0, "weight_decay": 0, "nesterov": False},
    "Adam": {"lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0, "amsgrad": False},
    "AdamW": {"lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 1e-2},
    "NAdam": {"lr": 2e-3, "betas": (0.9, 0.999), "eps": 1e-8, "momentum_decay": 4e-3},
    "RAdam": {"lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8, "decoupled_weight_decay": False},
    "Adamax": {"lr": 2e-3, "betas": (0.9, 0.999), "eps": 1e-8},
    "RMSprop": {"lr": 1e-2, "alpha": 0.99, "eps": 1e-8, "momentum": 0, "centered": False},
    "Adagrad": {"lr": 1e-2, "lr_decay": 0, "initial_accumulator_value": 0, "eps": 1e-10},
    "Adadelta": {"lr": 1.0, "rho": 0.9, "eps": 1e-6},
    "Rprop": {"lr": 1e-2, "etas": (0.5, 1.2), "step_sizes": (1e-6, 50)},
    "ASGD": {"lr": 1e-2, "lambd": 1e-4, "alpha": 0.75, "t0": 1e6, "weight_decay": 0},
    "LBFGS": {"lr": 1, "max_iter": 20, "max_eval": 25, "history_size": 100},
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("name", "options", "wanted"), ITERATES)
def test_iterates(name, options, wanted, mode):
    make = lambda params: getattr(sg.optim, name)(params, **{"lr": 0.1, **options})  # noqa: E731
    np.testing.assert_allclose(iterates(mode, make, 3), wanted, rtol=5e-6, atol=5e-6)


@pytest.mark.parametrize("mode", ["static", "alternating"])
@pytest.mark.parametrize(("name", "options", "wanted"), ITERATES)
def test_modes_agree_to_the_last_bits(name, options, wanted, mode):
    make = lambda params: getattr(sg.optim, name)(params, **{"lr": 0.1, **options})  # noqa: E731
    eager, other = iterates("eager", make, 25), iterates(mode, make, 25)
    np.testing.assert_allclose(other, eager, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", DEFAULTS)
def test_defaults(name):
    made = getattr(sg.optim, name)([sg.ones(1, requires_grad=True)])
    group = made.param_groups[0]
    assert {option: group[option] for option in DEFAULTS[name]} == DEFAULTS[name]
    assert not group.get("maximize")


@pytest.mark.parametrize(("name", "options", "wanted"), ITERATES)
def test_a_rule_serves_tensors_as_well(name, options, wanted):
    """The same function, called on tensors and recorded: it can even be differentiated."""
    optimizer = getattr(sg.optim, name)([sg.tensor(1.0, requires_grad=True)], **options)
    group = optimizer.param_groups[0]
    group["lr"] = options.get("lr", 0.1)
    o = group.options(optimizer.switches, optimizer.flags)
    p = sg.tensor(1.0)
    state = {name: sg.asarray(array) for name, array in optimizer.begin(p.numpy(), o).items()}
    found = []
    for _ in range(3):
        p, state = apply_rule(optimizer.rule, p, 2 * p, state, o)
        found.append(p.item())
    np.testing.assert_allclose(found, wanted, rtol=5e-6, atol=5e-6)


def test_steps_of_a_rule_can_be_differentiated():
    lr = sg.tensor(0.1, requires_grad=True)
    o = options_of([("lr", lr)], [("maximize", False)])
    p = sg.tensor(1.0)
    for _ in range(3):
        p, _ = apply_rule(sg.optim.SGD.rule, p, 2 * p, {}, o)
    p.backward()
    assert lr.grad.item() == pytest.approx(3 * (1 - 0.2) ** 2 * -2)


@pytest.mark.parametrize(
    ("name", "options", "text"),
    [
        ("SGD", {"lr": -1}, "SGD: lr: expected a number >= 0, got -1.0"),
        ("SGD", {"momentum": -0.5}, "SGD: momentum: expected a number >= 0, got -0.5"),
        ("SGD", {"weight_decay": -0.5}, "SGD: weight_decay: expected a number >= 0, got -0.5"),
        (
            "SGD",
            {"nesterov": True},
            "SGD: nesterov: expected momentum > 0 and dampening 0, got momentum 0.0, dampening 0.0",
        ),
        (
            "SGD",
            {"nesterov": True, "momentum": 0.9, "dampening": 0.1},
            "SGD: nesterov: expected momentum > 0 and dampening 0, got momentum 0.9, dampening 0.1",
        ),
        ("Adam", {"betas": (1.0, 0.9)}, "betas: expected two numbers in [0, 1), got (1.0, 0.9)"),
        ("AdamW", {"eps": -1e-8}, "AdamW: eps: expected a number >= 0, got -1e-08"),
        ("NAdam", {"momentum_decay": -1}, "momentum_decay: expected a number >= 0, got -1.0"),
        ("RAdam", {"betas": (0.9, 2)}, "betas: expected two numbers in [0, 1), got (0.9, 2.0)"),
        ("Adamax", {"weight_decay": -1}, "weight_decay: expected a number >= 0, got -1.0"),
        ("RMSprop", {"alpha": -1}, "RMSprop: alpha: expected a number >= 0, got -1.0"),
        ("Adagrad", {"lr_decay": -1}, "Adagrad: lr_decay: expected a number >= 0, got -1.0"),
        ("Adadelta", {"rho": 1.5}, "Adadelta: rho: expected a number in [0, 1], got 1.5"),
        ("Rprop", {"etas": (1.5, 2)}, "expected 0 < etas[0] < 1 < etas[1], got (1.5, 2.0)"),
        ("ASGD", {"weight_decay": -1}, "ASGD: weight_decay: expected a number >= 0, got -1.0"),
        (
            "LBFGS",
            {"line_search_fn": "x"},
            "expected None or 'strong_wolfe', got x",
        ),
        ("Adam", {"lr": "fast"}, "Adam: lr is no number: got 'fast'"),
        ("Adam", {"lr": sg.ones(2)}, "Adam: lr is no number: got f64[2]"),
    ],
)
def test_options_that_make_no_sense(name, options, text):
    with pytest.raises(ValueError, match=re.escape(text)):
        getattr(sg.optim, name)([sg.ones(1, requires_grad=True)], **options)


def test_a_symbol_is_no_learning_rate():
    with pytest.raises(sg.TraceError, match="SGD: lr is a symbol; hint: give a number, and assign"):
        sg.optim.SGD([sg.ones(1, requires_grad=True)], lr=sg.placeholder("lr"))


def test_a_learning_rate_may_be_a_tensor_of_one_element():
    optimizer = sg.optim.SGD([sg.ones(1, requires_grad=True)], lr=sg.tensor(0.25))
    assert optimizer.param_groups[0]["lr"] == 0.25


def test_the_variance_of_centered_rmsprop_does_not_go_below_zero():
    x = sg.tensor([1e-3, 1.0], requires_grad=True)
    optimizer = sg.optim.RMSprop([x], alpha=0.5, centered=True, lr=1e-9)
    for _ in range(200):
        x.grad = sg.tensor([0.1, 0.3])
        optimizer.step()
    assert np.all(np.isfinite(x.numpy()))


@pytest.mark.parametrize("name", [name for name in DEFAULTS if name != "LBFGS"])
def test_element_types_stay(name):
    x = sg.tensor([1.0, 2.0], dtype=sg.float32, requires_grad=True)
    optimizer = getattr(sg.optim, name)([x])
    loss = sg.sum(x.__as_symbol__() ** 2)
    step = sg.function([], loss, updates=optimizer.updates(loss))
    (x * x).sum().backward()
    optimizer.step()
    step()
    assert x.dtype == np.float32
    kinds = {value.dtype.name for value in optimizer.state.get(x, {}).values() if value.shape}
    assert kinds <= {"float32"}


@pytest.mark.parametrize("name", [name for name in DEFAULTS if name != "LBFGS"])
def test_shapes_of_every_kind(name):
    shapes = [(), (0,), (1,), (3, 1, 2), (2, 0)]
    params = [sg.ones(shape, requires_grad=True) for shape in shapes]
    optimizer = getattr(sg.optim, name)(params)
    for _ in range(2):
        optimizer.zero_grad()
        sum((p * p).sum() for p in params).backward()
        optimizer.step()
    for p, shape in zip(params, shapes, strict=True):
        assert p.shape == shape
        assert np.all(p.numpy() < 1)
