"""Compiled calls give what eager calls give, for every op: the first two derivatives as well."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import symgrad as sg
from symgrad.testing.runs import Program, run, seeds_of
from symgrad.types import is_inexact
from tests.modes.programs import COLUMNS, ROWS, Recipe, recipes
from tests.registry.samples import composite_names, op_names
from tests.registry.sampling import normal
from tests.registry.variants import in_dtype
from tests.test_modes_agree import cases

ALL = [*op_names(), *composite_names()]
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def require_agreement(program: Program, values: list[np.ndarray], rtol: float = 1e-12) -> None:
    """The same values and gradients, and the same derivative of the gradients' sum."""
    with np.errstate(all="ignore"):
        outputs = program(*map(sg.Tensor, values))
        seeds = seeds_of([np.asarray(y) for y in outputs])
        found = [
            derivatives(one, values, seeds) for one in (program, sg.jit(program, level="none"))
        ]
    for eager, ours in zip(*found, strict=True):
        assert (eager.dtype, eager.shape) == (ours.dtype, ours.shape)
        np.testing.assert_allclose(ours, eager, rtol=rtol, atol=rtol)


def derivatives(program: Program, values: list[np.ndarray], seeds: list[np.ndarray]) -> list[Any]:
    once = run(program, values, seeds, create_graph=True)
    found = once.values()
    floating = [g for g in once.gradients if is_inexact(g.dtype) and g.requires_grad]
    inputs = [x for x in (*once.inputs, *once.seeds) if x.requires_grad]
    if floating and inputs:
        cts = [sg.ones_like(g) for g in floating]
        found += [np.asarray(t) for t in sg.grad(floating, inputs, cts, materialize_grads=True)]
    return found


@pytest.mark.parametrize("name", ALL)
def test_an_op(name: str) -> None:
    for program, values, _ in cases(name):
        require_agreement(program, values)


@given(recipe=recipes())
@settings(max_examples=40, deadline=None)
def test_a_random_program(recipe: Recipe) -> None:
    values = [normal(ROWS, COLUMNS, seed=k) for k in range(recipe.inputs)]
    require_agreement(recipe, [in_dtype(v, recipe.dtype) for v in values], rtol=1e-4)
