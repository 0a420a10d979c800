"""Eager runs do exactly the calculations that static graphs describe, for every op."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.ir.op import OPS
from tests.modes.comparing import Isomorphism, same_zeros
from tests.modes.running import Program, literal, observed, run, seeds_of
from tests.registry.running import same_bits
from tests.registry.samples import Sample, composite_names, named, op_names, samples_of

ALL = [*op_names(), *composite_names()]


def program_of(name: str, sample: Sample) -> Program:
    """One call of an op."""

    def program(*operands: Any) -> list[Any]:
        op = named(name)
        if operands:
            return sample.apply(op, operands)
        return sample.computed(op)

    return program


def require_one_data_flow(program: Program, values: list[Any]) -> int:
    """The data flows are the same; gives the number of calls that were compared."""
    static = literal(program, values)
    seeds = seeds_of(program(*[sg.Tensor(v) for v in values]))
    eager, flow = observed(program, values, seeds)
    same = Isomorphism()
    same.outputs(static.outputs, [flow.node(y) for y in eager.outputs])
    for symbol, tensor in zip(static.gradients, eager.gradients, strict=True):
        node = flow.node(tensor)
        if node.op is OPS["clone"]:  # two gradients, or a gradient and a seed, share no memory
            (node,) = node.operands
        if not same_zeros(symbol, node):
            same.outputs([symbol], [node])
    return same.calls


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ALL)
def test_one_data_flow(name: str):
    for sample in samples_of(name):
        values = [np.asarray(v) for v in sample.operands]
        if values:
            require_one_data_flow(program_of(name, sample), values)
