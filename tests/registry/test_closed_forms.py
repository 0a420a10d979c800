"""Every element-wise function and its first derivatives against 50 digits."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.ir.op import OPS
from symgrad.types import TensorType, is_inexact
from tests.registry.closed_forms import (
    COMPLEX_FORMULAS,
    COMPLEX_POINTS,
    FORMULAS,
    WITHOUT_FORMULA,
    exact,
    slopes_are_exact,
    value_is_exact,
)
from tests.registry.known import known
from tests.registry.running import run
from tests.registry.samples import is_elementwise, samples_of

ROWS = [(name, k) for name, rows in FORMULAS.items() for k in range(len(rows))]


def floating_elementwise() -> set[str]:
    names: set[str] = set()
    for name, op in OPS.items():
        if is_elementwise(name):
            sample = samples_of(name)[0]
            kind = op.infer([TensorType(v.shape, v.dtype) for v in sample.operands], sample.attrs)
            if is_inexact(kind.dtype):
                names.add(name)
    return names


def test_every_floating_function_has_a_closed_form():
    wanted = floating_elementwise()
    assert wanted - set(FORMULAS) - set(WITHOUT_FORMULA) == set()
    assert (set(FORMULAS) | set(WITHOUT_FORMULA)) - wanted == set(), "rows of ops that do not exist"


@pytest.mark.parametrize(("name", "k"), ROWS)
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_value(name: str, k: int, dtype: str, request: pytest.FixtureRequest):
    known(request, f"value_{dtype}", name)
    value_is_exact(name, k, dtype)


@pytest.mark.parametrize(("name", "k"), ROWS)
@pytest.mark.parametrize("level", ["none", None])
def test_partial_derivatives(name: str, k: int, level: str | None, request: pytest.FixtureRequest):
    known(request, "slope", name)
    slopes_are_exact(name, k, level)


@pytest.mark.parametrize("name", COMPLEX_FORMULAS)
def test_complex_value_and_derivative(name: str, request: pytest.FixtureRequest):
    known(request, "complex", name)
    row = FORMULAS[name][0]
    given = [np.roll(np.array(COMPLEX_POINTS), j) for j in range(len(row.partials))]
    xs = [sg.placeholder(f"x{j}", c.shape, c.dtype) for j, c in enumerate(given)]
    y = OPS[name](*xs)
    slopes = sg.grad([y], xs, [sg.ones_like(y)], mode="reverse", level="none")
    value, *found = run([y, *slopes], dict(zip(xs, given, strict=True)))
    np.testing.assert_allclose(value, np.array(exact(row.value, given), complex), rtol=1e-13)
    for j, partial in enumerate(row.partials):
        # The convention: a holomorphic function's cotangent is the conjugate of its derivative.
        wanted = np.conj(np.array(exact(partial, given), complex))
        np.testing.assert_allclose(found[j], wanted, rtol=1e-13)
