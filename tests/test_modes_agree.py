"""Eager runs do exactly the calculations that static graphs describe, for every op."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings

import symgrad as sg
from symgrad.eager.pullbacks import COMPILED_AT
from tests.modes import agreement, running
from tests.modes.agreement import (
    require_near,
    require_one_data_flow,
    require_same_bits,
    require_same_bits_again,
)
from tests.modes.programs import COLUMNS, ROWS, Recipe, recipes, steps
from tests.modes.running import Program
from tests.registry.samples import Sample, composite_names, named, op_names, samples_of

ALL = [*op_names(), *composite_names()]
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def program_of(name: str, sample: Sample) -> Program:
    """One call of an op."""

    def program(*operands: Any) -> list[Any]:
        return sample.apply(named(name), operands)

    return program


def cases(name: str) -> Iterator[tuple[Program, list[np.ndarray], Sample]]:
    """The samples of an op that take something."""
    for sample in samples_of(name):
        if sample.operands:
            yield program_of(name, sample), [np.asarray(v) for v in sample.operands], sample


@pytest.mark.parametrize("name", ALL)
def test_one_data_flow(name: str):
    for program, values, _ in cases(name):
        require_one_data_flow(program, values)


@pytest.mark.parametrize("name", ALL)
def test_same_bits(name: str):
    for program, values, _ in cases(name):
        require_same_bits(program, values)


@pytest.mark.parametrize("name", ALL)
def test_compiled_rules_give_the_same_bits(name: str):
    for program, values, _ in cases(name):
        require_same_bits_again(program, values, times=COMPILED_AT + 1)


@pytest.mark.parametrize("name", ALL)
def test_rewritten_graphs_are_as_near(name: str):
    for program, values, sample in cases(name):
        require_near(program, values, narrow=sample.narrow and not sample.structured)


# --- random programs ------------------------------------------------------------------------------


def matrices(recipe: Recipe) -> list[np.ndarray]:
    """Random numbers for the inputs of a program."""
    rng = np.random.default_rng(3)
    return list(rng.normal(size=(recipe.inputs, ROWS, COLUMNS)))


def is_defined(recipe: Recipe) -> bool:
    """Whether the program runs: a factorisation may refuse a matrix."""
    try:
        with sg.no_grad():
            recipe(*map(sg.Tensor, matrices(recipe)))
    except (np.linalg.LinAlgError, ValueError, OverflowError):
        return False
    return True


def test_programs_use_most_of_the_registry():
    assert len({step.name for step in steps()}) > 250
    assert {step.count for step in steps()} == {1, 2}


@settings(max_examples=200, suppress_health_check=[HealthCheck.filter_too_much])
@given(recipes())
def test_random_programs(recipe: Recipe):
    assume(recipe.steps and is_defined(recipe))
    values = matrices(recipe)
    require_one_data_flow(recipe, values)
    require_same_bits(recipe, values)
    require_same_bits_again(recipe, values, times=COMPILED_AT + 1)


# --- the tests themselves -------------------------------------------------------------------------


def test_compiled_rules_are_what_runs():
    compiled = require_same_bits_again(
        lambda x: [sg.sin(x) * sg.exp(x)], [np.array([0.3, 0.7])], times=COMPILED_AT + 1
    )
    assert {record.name() for record in compiled} == {"multiply", "sin", "exp"}


def test_every_call_is_compared():
    program: Program = lambda x: [sg.sum(sg.sin(x) * x)]  # noqa: E731
    # sin, multiply, sum; and back: a broadcast, two products, a cosine with its product, a sum.
    assert require_one_data_flow(program, [np.array([0.3, 0.7])]) == 9


DIFFERENT: dict[str, tuple[Program, Program]] = {
    "op": (lambda x: [sg.sin(x)], lambda x: [sg.cos(x)]),
    "attribute": (lambda x: [sg.roll(x, 1)], lambda x: [sg.roll(x, 2)]),
    "operands": (lambda x: [sg.exp(x) - x], lambda x: [x - sg.exp(x)]),
    "constant": (lambda x: [x * 2.0], lambda x: [x * 3.0]),
    "order of a sum": (
        lambda x: [sg.sin(x) + sg.exp(x)],
        lambda x: [(lambda e: sg.sin(x) + e)(sg.exp(x))],
    ),
    "sharing": (lambda x: [(lambda s: s * s)(sg.sin(x))], lambda x: [sg.sin(x) * sg.sin(x)]),
}


@pytest.mark.parametrize(("one", "other"), DIFFERENT.values(), ids=DIFFERENT)
def test_a_difference_is_found(one: Program, other: Program, monkeypatch: pytest.MonkeyPatch):
    """Programs of unlike data flows are told apart, even where their values are the same."""
    values = [np.array([0.3, 0.7])]
    monkeypatch.setattr(agreement, "literal", lambda _, values: running.literal(other, values))
    with pytest.raises(AssertionError, match="is not"):
        require_one_data_flow(one, values)
