"""All laws of `checks`, for every op and composite of the registry."""

from __future__ import annotations

import pytest

from symgrad.ir.op import COMPOSITES, OPS
from tests.registry.checks import CHECKS, FOR_ELEMENTWISE
from tests.registry.derivatives import FREE_OF_DERIVATIVE, unwritten_rules
from tests.registry.families import gathered
from tests.registry.known import KNOWN, TODO, known
from tests.registry.samples import (
    ATTRIBUTES,
    COMPOSITE_SAMPLES,
    DOMAINS,
    OTHER_SIDE,
    SAMPLES,
    composite_names,
    is_elementwise,
    named,
    op_names,
    samples_of,
)

ALL = [*op_names(), *composite_names()]
CASES = [
    (check, name)
    for check in CHECKS
    for name in ALL
    if check not in FOR_ELEMENTWISE or is_elementwise(name)
]


@pytest.mark.parametrize("name", ALL)
def test_has_samples(name: str):
    assert samples_of(name)


def test_no_sample_of_an_op_that_does_not_exist():
    rows = {*SAMPLES, *DOMAINS, *ATTRIBUTES, *OTHER_SIDE, *FREE_OF_DERIVATIVE}
    assert rows - set(OPS) == set()
    assert set(COMPOSITE_SAMPLES) - set(COMPOSITES) == set()
    assert {*DOMAINS, *ATTRIBUTES, *OTHER_SIDE} - set(filter(is_elementwise, OPS)) == set()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("check", "name"), CASES)
def test_law(check: str, name: str, request: pytest.FixtureRequest):
    known(request, check, name)
    CHECKS[check](name)


def test_derivatives_not_yet_written_are_listed():
    found = {
        (op, i) for name in op_names() for op, i, kind in unwritten_rules(name) if kind == "todo"
    }
    assert found == TODO


CUT = {
    ("stop_gradient", 0),
    *((step, 0) for step in ("floor", "ceil", "trunc", "round")),
    *(("floor_divide", i) for i in (0, 1)),
    ("copysign", 1), ("nextafter", 1), ("clip_to", 1), ("clip_to", 2),
    *gathered("CUT"),
}  # fmt: skip
"""Operands of floating-point ops through which nothing passes back: steps and bounds. Differences
confirm each."""


def test_operands_without_derivative_are_listed():
    found = {
        (op, i) for name in op_names() for op, i, kind in unwritten_rules(name) if kind != "todo"
    }
    assert found == CUT


def test_known_defects_name_ops():
    assert {name for check, name in KNOWN if check in CHECKS} <= set(ALL)
    assert all(named(name) for check, name in KNOWN if check in CHECKS)
