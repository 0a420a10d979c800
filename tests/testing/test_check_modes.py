"""check_modes passes functions that do the same in both modes, and names what does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import TraceError
from symgrad.ir.symbol import building
from symgrad.testing import check_modes
from tests.testing.wrong import with_rule

X = np.array([0.5, 1.0, 2.0])

RIGHT: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "one": (lambda x: sg.sum(sg.sin(x) * x), (X,)),
    "several": (lambda x, y: (x @ y, [sg.exp(x), sg.argmax(y)]), (X, X[::-1])),
    "numbers and tensors": (lambda x, y: x * y, (2.0, sg.Tensor(X, requires_grad=True))),
    "integers": (lambda x, n: x**n, (X, 3)),
    "complex": (lambda z: sg.abs(z) ** 2, (X + 1j,)),
    "no input is used": (lambda x: sg.ones(3), (X,)),
    "branches": (lambda x: sg.where(x > 1, sg.log(x), x / 3), (X,)),
    "NaN": (lambda x: sg.log(x - 1), (X,)),
    "factors": (lambda x: sg.linalg.eigh(x), (np.diag(X),)),
}


@pytest.mark.parametrize(("f", "args"), RIGHT.values(), ids=RIGHT)
def test_what_agrees_passes(f: Any, args: Any):
    check_modes(f, *args)


def by_mode(symbols: Callable[..., Any], tensors: Callable[..., Any]) -> Callable[..., Any]:
    """A function that does not the same in both modes."""
    return lambda x: (symbols if isinstance(x, sg.Symbol) else tensors)(x)


half = with_rule(
    "half", lambda ct, y, x: ct * sg.cos(x) * (0.5 if isinstance(ct, sg.Symbol) else 1.0)
)

WRONG: dict[str, tuple[Callable[..., Any], str]] = {
    "value": (
        lambda x: sg.exp(by_mode(lambda x: x / 3.0, lambda x: x / 2.0)(x - 0.0) + 1.0),
        r"output 0 differs in its bits: the graph gives 3\.21\S*, eager 3\.49\S* at \[0\]; the "
        r"first symbol that differs: %\d+ = divide\(%\d+, %\d+\) : f64\[3\], "
        r"created at test_check_modes\.py:\d+",
    ),
    "shape": (
        by_mode(lambda x: x[:2], lambda x: x[:1]),
        r"output 0 is of another type: the graph gives f64\[2\], eager f64\[1\]",
    ),
    "element type": (
        by_mode(lambda x: x > 1, lambda x: x),
        r"output 0 is of another type: the graph gives b1\[3\], eager f64\[3\]",
    ),
    "number of outputs": (
        by_mode(lambda x: [x, x], lambda x: x),
        "the graph has 2 outputs, eager 1",
    ),
    "gradient": (
        lambda x: sg.sum(half(x)),
        r"gradient 0 differs in its bits: .* = multiply\(.*\) : f64\[3\], in the derivative of "
        r"half, created at test_check_modes\.py:\d+",
    ),
    "rewritten": (
        lambda x: x * (1.0 + 1e-9 * (building.share and isinstance(x, sg.Symbol))),
        r"output 0 differs by more than 16 ulps: the rewritten graph gives 0\.5\S*, eager 0\.5",
    ),
}


@pytest.mark.parametrize(("f", "message"), WRONG.values(), ids=WRONG)
def test_what_differs_is_named(f: Any, message: str):
    with pytest.raises(AssertionError, match=message):
        check_modes(f, X)


def test_a_pass_that_depends_on_being_recorded_is_found():
    forgetful = with_rule(
        "forgetful", lambda ct, y, x: ct * sg.cos(x) * (2.0 - sg.is_grad_enabled())
    )
    with pytest.raises(AssertionError, match="gradient 0 differs between a pass that is recorded"):
        check_modes(forgetful, X)


def test_ulps_may_be_allowed():
    f, _ = WRONG["rewritten"]
    check_modes(f, X, ulps=1e8)


def test_what_branches_on_values_cannot_be_a_graph():
    with pytest.raises(TraceError):
        check_modes(lambda x: x if x[0] > 0 else -x, X)


def test_front_end_is_as_before():
    with pytest.raises(AssertionError):
        check_modes(WRONG["value"][0], X)
    x = sg.Tensor(X, requires_grad=True)
    assert sg.sin(x).grad_fn.name() == "sin"
    with sg.no_grad():
        check_modes(sg.sin, X)
        assert not sg.is_grad_enabled()
