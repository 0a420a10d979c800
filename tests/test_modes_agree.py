"""Eager runs do exactly the calculations that static graphs describe, for every op."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, reject, settings

import symgrad as sg
from symgrad.eager.pullbacks import COMPILED_AT
from symgrad.testing.runs import Program, literal, run, seeds_of
from tests.modes import agreement
from tests.modes.agreement import (
    require_near,
    require_near_as_conditioned,
    require_one_data_flow,
    require_same_bits,
    require_same_bits_again,
)
from tests.modes.programs import COLUMNS, ROWS, Recipe, recipes, steps
from tests.registry.samples import Sample, composite_names, named, op_names, samples_of
from tests.registry.sampling import normal
from tests.registry.variants import in_dtype

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
    values = [normal(ROWS, COLUMNS, seed=k) for k in range(recipe.inputs)]
    return [in_dtype(v, recipe.dtype) for v in values]


REFUSALS = (np.linalg.LinAlgError, ValueError, OverflowError)
"""What a kernel raises that does not take every number: a singular matrix, say."""


def test_programs_are_made_of_hundreds_of_functions():
    assert len({step.name for step in steps()}) > 240
    assert {step.count for step in steps()} == {1, 2}


@settings(max_examples=200)
@given(recipes())
def test_random_programs(recipe: Recipe):
    require_agreement(recipe, matrices(recipe))


def require_agreement(program: Program, values: list[np.ndarray]) -> None:
    """All of the above; where one mode refuses the values, the other does, too."""
    seeds: list[np.ndarray] = []
    try:
        seeds = seeds_of(program(*map(sg.Tensor, values)))
        run(program, values, seeds)
    except REFUSALS as error:
        static = literal(program, values)
        seeds = seeds or [np.ones(s.shape, s.dtype) for s in static.seeds]
        with pytest.raises(type(error)):
            static.values([*values, *seeds], level="none")
        return
    require_one_data_flow(program, values)
    require_same_bits(program, values)
    require_same_bits_again(program, values, times=COMPILED_AT + 1)


@settings(max_examples=100)
@given(recipes())
def test_random_programs_are_as_near_when_rewritten(recipe: Recipe):
    # A cotangent that goes two ways through a cast is summed before it or behind it.
    assume(not any(step.name in ("astype", "asarray") for step, _ in recipe.steps))
    values = matrices(recipe)
    try:
        # A cotangent that is NaN where a branch was not taken meets others where values are shared.
        assume(all(np.all(np.isfinite(y)) for y in recipe(*map(sg.Tensor, values))))
        require_near_as_conditioned(recipe, values)
    except REFUSALS:
        reject()


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
    monkeypatch.setattr(agreement, "literal", lambda _, values: literal(other, values))
    with pytest.raises(AssertionError, match="is not"):
        require_one_data_flow(one, values)
