"""The listed values of every schedule, warnings and refusals."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

import symgrad as sg
from symgrad.optim import lr_scheduler as s


def optimizer(lr=1.0, **options):
    return sg.optim.SGD([sg.ones(1, requires_grad=True)], lr=lr, **options)


# Base rate 1: shared/spec row 3.4.
VALUES = {
    "step": (lambda o: s.StepLR(o, 2, 0.1), [1, 1, 0.1, 0.1, 0.01]),
    "milestones": (lambda o: s.MultiStepLR(o, [1, 4], 0.1), [1, 0.1, 0.1, 0.1, 0.01]),
    "exponential": (lambda o: s.ExponentialLR(o, 0.5), [1, 0.5, 0.25]),
    "cosine": (
        lambda o: s.CosineAnnealingLR(o, 4),
        [1, 0.8536, 0.5, 0.1464, 0, 0.1464, 0.5],
    ),
    "restarts": (
        lambda o: s.CosineAnnealingWarmRestarts(o, 2, 2),
        [1, 0.5, 1, 0.8536, 0.5, 0.1464, 1],
    ),
    "linear": (lambda o: s.LinearLR(o, 0.5, 1, 4), [0.5, 0.625, 0.75, 0.875, 1, 1]),
    "constant": (lambda o: s.ConstantLR(o, 0.5, 2), [0.5, 0.5, 1, 1]),
    "constant 0": (lambda o: s.ConstantLR(o, 0.0, 2), [0, 0, 1, 1]),
    "polynomial": (lambda o: s.PolynomialLR(o, 4, 2), [1, 0.5625, 0.25, 0.0625, 0, 0]),
    "lambda": (lambda o: s.LambdaLR(o, lambda e: 1 / (1 + e)), [1, 0.5, 1 / 3]),
    "multiplicative": (lambda o: s.MultiplicativeLR(o, lambda e: 0.5), [1, 0.5, 0.25]),
    "one cycle": (
        lambda o: s.OneCycleLR(o, 2, 6, cycle_momentum=False),
        [0.08, 1.9888, 1.6235, 0.9253, 0.2670, 8e-6],
    ),
    "cyclic": (
        lambda o: s.CyclicLR(o, 0.1, 0.5, 2, cycle_momentum=False),
        [0.1, 0.3, 0.5, 0.3, 0.1, 0.3],
    ),
    "sequence": (
        lambda o: s.SequentialLR(o, [s.ConstantLR(o, 0.5, 2), s.ExponentialLR(o, 0.5)], [3]),
        [0.5, 0.5, 1, 1, 0.5, 0.25],
    ),
    "chain": (
        lambda o: s.ChainedScheduler([s.ConstantLR(o, 0.5, 2), s.ExponentialLR(o, 0.5)]),
        [0.5, 0.25, 0.25, 0.125],
    ),
    "nested": (
        lambda o: s.SequentialLR(
            o,
            [
                s.ConstantLR(o, 0.5, 9),
                s.ChainedScheduler([s.ConstantLR(o, 0.5, 2), s.ExponentialLR(o, 0.5)]),
                s.SequentialLR(o, [s.ConstantLR(o, 0.1, 9), s.ConstantLR(o, 0.2, 9)], [1]),
            ],
            [2, 5],
        ),
        [0.5, 0.5, 0.5, 0.25, 0.25, 0.1, 0.2, 0.2],
    ),
}


@pytest.mark.parametrize("name", VALUES)
def test_values(name):
    make, wanted = VALUES[name]
    made = optimizer()
    schedule = make(made)
    found = []
    for _ in wanted:
        found.append(made.param_groups[0]["lr"])
        assert schedule.get_last_lr() == [found[-1]]
        made.step()
        schedule.step()
        if name == "one cycle" and schedule.last_epoch == 6:
            break
    np.testing.assert_allclose(found, wanted, atol=5e-5)


@pytest.mark.parametrize("name", VALUES)
def test_a_schedule_goes_on_from_its_state(name):
    make, _ = VALUES[name]
    found = []
    for stop in (None, 2):
        made = optimizer()
        schedule, rates = make(made), []
        for k in range(6):
            if k == stop:
                saved = made.state_dict(), schedule.state_dict()
                made = optimizer()
                schedule = make(made)
                made.load_state_dict(saved[0])
                schedule.load_state_dict(saved[1])
            made.step()
            schedule.step()
            rates.append(made.param_groups[0]["lr"])
        found.append(rates)
    assert found[0] == found[1]


@pytest.mark.parametrize("name", VALUES)
def test_the_order_of_loading_does_not_matter(name):
    make, _ = VALUES[name]
    made = optimizer()
    schedule = make(made)
    for _ in range(3):
        made.step()
        schedule.step()
    new = optimizer()
    new.load_state_dict(made.state_dict())
    again = make(new)  # sets the first rate
    again.load_state_dict(schedule.state_dict())
    assert new.param_groups[0]["lr"] == made.param_groups[0]["lr"]


def test_a_sequence_goes_on_at_an_epoch():
    make = lambda o, at: s.SequentialLR(  # noqa: E731
        o, [s.ConstantLR(o, 0.1, 20), s.ExponentialLR(o, 0.9)], [3], last_epoch=at
    )
    made = optimizer()
    schedule, rates = make(made, -1), []
    for _ in range(8):
        rates += schedule.get_last_lr()
        made.step()
        schedule.step()
    for epoch in range(7):
        assert make(optimizer_begun(), epoch).get_last_lr() == [rates[epoch + 1]]


def optimizer_begun():
    group = {"params": [sg.ones(1, requires_grad=True)], "lr": 0.7, "initial_lr": 1.0}
    return sg.optim.SGD([group])


def test_plateau():
    made = optimizer()
    schedule = s.ReduceLROnPlateau(made, factor=0.5, patience=1)
    found = [schedule.get_last_lr()[0]]
    for value in (1, 1, 1, 1, 1, sg.tensor(0.5)):
        schedule.step(value)
        found += schedule.get_last_lr()
    assert found == [1, 1, 1, 0.5, 0.5, 0.25, 0.25]
    other = s.ReduceLROnPlateau(made)
    other.load_state_dict(schedule.state_dict())
    assert (other.best, other.patience, other.factor) == (0.5, 1, 0.5)


def test_momentum_goes_against_the_rate():
    made = optimizer(momentum=0.9)
    schedule = s.OneCycleLR(made, 2, 10, base_momentum=0.8, max_momentum=0.9)
    found = []
    for _ in range(10):
        found.append(made.param_groups[0]["momentum"])
        made.step()
        schedule.step()
    assert found[0] == pytest.approx(0.9)
    assert min(found) == found[2] == pytest.approx(0.8)
    assert found[-1] == pytest.approx(0.9)


def test_a_schedule_written_like_pytorchs():
    class Halved(s.LRScheduler):
        def get_lr(self):
            return [base / 2**self.last_epoch for base in self.base_lrs]

    made = optimizer()
    schedule = Halved(made)
    made.step()
    schedule.step()
    assert made.param_groups[0]["lr"] == 0.5


def test_the_wrong_order_warns():
    made = optimizer()
    schedule = s.StepLR(made, 1)
    with pytest.warns(UserWarning, match=r"StepLR\.step\(\) was called before the"):
        schedule.step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        schedule.step()
        right = optimizer()
        schedule = s.StepLR(right, 1)
        right.step()
        schedule.step()


REFUSALS = [
    (lambda o: s.StepLR(3, 3), TypeError, "StepLR: no optimiser: expected an Optimizer, got int"),
    (lambda o: s.OneCycleLR(3, 3, 3), TypeError, "OneCycleLR: no optimiser: got int"),
    (lambda o: s.ReduceLROnPlateau(3), TypeError, "ReduceLROnPlateau: no optimiser: got int"),
    (
        lambda o: s.StepLR(o, 3, last_epoch=4),
        ValueError,
        "StepLR: a group has no 'initial_lr' to go on from at epoch 4; hint: load the optimiser's",
    ),
    (
        lambda o: s.StepLR(o, 0),
        ValueError,
        "StepLR: step_size: expected a number of epochs >= 1, got 0",
    ),
    (lambda o: s.ConstantLR(o, 2.0), ValueError, "factor: expected a number in [0, 1], got 2.0"),
    (lambda o: s.LinearLR(o, 0), ValueError, "start_factor: expected a number in (0, 1], got 0"),
    (
        lambda o: s.LambdaLR(o, [abs, abs]),
        ValueError,
        "LambdaLR: lr_lambda: expected 1 values, one per group, got 2",
    ),
    (
        lambda o: s.CosineAnnealingWarmRestarts(o, 0),
        ValueError,
        "T_0: expected a whole number >= 1, got 0",
    ),
    (
        lambda o: s.CosineAnnealingWarmRestarts(o, 1, 1.5),
        ValueError,
        "T_mult: expected a whole number >= 1, got 1.5",
    ),
    (
        lambda o: s.OneCycleLR(o, 1.0),
        ValueError,
        "OneCycleLR: no length: expected total_steps, or epochs and steps_per_epoch",
    ),
    (
        lambda o: s.OneCycleLR(o, 1.0, 5, anneal_strategy="x"),
        ValueError,
        "anneal_strategy: expected 'cos' or 'linear', got x",
    ),
    (
        lambda o: s.OneCycleLR(sg.optim.Adagrad([sg.ones(1, requires_grad=True)]), 1.0, 5),
        ValueError,
        "OneCycleLR: Adagrad has no momentum to move; hint: cycle_momentum=False",
    ),
    (
        lambda o: s.CyclicLR(o, 0.1, 1.0, mode="x"),
        ValueError,
        "CyclicLR: mode: expected 'triangular', 'triangular2' or 'exp_range', got x",
    ),
    (
        lambda o: s.ReduceLROnPlateau(o, factor=1.0),
        ValueError,
        "ReduceLROnPlateau: factor: expected a number < 1, got 1.0",
    ),
    (
        lambda o: s.ReduceLROnPlateau(o, mode="x"),
        ValueError,
        "mode: expected 'min' or 'max', got x",
    ),
    (
        lambda o: s.SequentialLR(o, [s.StepLR(o, 2)], [1]),
        ValueError,
        "SequentialLR: number of milestones: expected 0, one fewer than schedulers, got 1",
    ),
    (
        lambda o: s.SequentialLR(o, [], []),
        ValueError,
        "SequentialLR: there are no schedulers: expected at least one",
    ),
    (
        lambda o: s.SequentialLR(o, [s.StepLR(optimizer(), 2)], []),
        ValueError,
        "SequentialLR: schedulers[0] has another optimiser",
    ),
    (
        lambda o: s.ChainedScheduler([s.StepLR(o, 2), s.ReduceLROnPlateau(o)]),
        ValueError,
        "schedulers[1] is none that goes on without a value: expected an LRScheduler, got ReduceLR",
    ),
]


@pytest.mark.parametrize(("refused", "kind", "text"), REFUSALS)
def test_refusals(refused, kind, text):
    with pytest.raises(kind, match=re.escape(text)):
        refused(optimizer(momentum=0.9))


@pytest.mark.parametrize("name", [*VALUES, "plateau"])
def test_a_group_may_be_added_later(name):
    make = VALUES[name][0] if name in VALUES else s.ReduceLROnPlateau
    made = optimizer()
    schedule = make(made)
    made.add_param_group({"params": [sg.ones(1, requires_grad=True)], "lr": 0.5})
    made.step()
    schedule.step(*[1.0] if name == "plateau" else [])
    assert len(schedule.get_last_lr()) == 2


def test_a_group_that_was_added_may_lack_a_value():
    made = optimizer()
    made.add_param_group({"params": [sg.ones(1, requires_grad=True)]})
    schedule = s.LambdaLR(made, [lambda e: 1.0, lambda e: 0.5])
    made.add_param_group({"params": [sg.ones(1, requires_grad=True)]})
    made.step()
    text = "LambdaLR: lr_lambda: group 2 was added since, and has none; hint: make the schedule"
    with pytest.raises(ValueError, match=re.escape(text)):
        schedule.step()


def test_a_cycle_ends():
    made = optimizer()
    schedule = s.OneCycleLR(made, 1.0, 2, cycle_momentum=False)
    made.step()
    schedule.step()
    schedule.step()
    with pytest.raises(ValueError, match="OneCycleLR: the cycle is over: expected 2 steps, got 3"):
        schedule.step()
