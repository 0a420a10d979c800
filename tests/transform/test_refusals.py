"""What the differentiator refuses, and what it says."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg

X = sg.placeholder("x")
Y = sg.placeholder("y")
V = sg.placeholder("v", (3,))
K = sg.placeholder("k", (3,), "int64")
Z = sg.placeholder("z", (), "complex128")
Q = sg.sum(V * V)
HERE = re.compile(r"test_refusals\.py:\d+")

REFUSED: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (
        lambda: sg.grad(1.0, X),
        sg.ArgumentError,
        "grad: outputs[0] is no symbol: expected a symbol, got float",
    ),
    (
        lambda: sg.grad(Q, {"v": V}),
        sg.ArgumentError,
        "grad: inputs[0] is no symbol: expected a symbol, got dict; "
        "hint: pass a list of the symbols",
    ),
    (
        lambda: sg.grad(Q, {V}),
        sg.ArgumentError,
        "grad: inputs[0] is no symbol: expected a symbol, got set; "
        "hint: pass a list of the symbols",
    ),
    (
        lambda: sg.grad(sg.sin, X),
        sg.ArgumentError,
        "grad: outputs[0] is no symbol: expected a symbol, got Op; "
        "hint: sg.func.grad differentiates functions; or call it on symbols or tensors first",
    ),
    (
        lambda: sg.grad([], X),
        sg.ArgumentError,
        "grad: outputs is empty: expected at least one symbol",
    ),
    (
        lambda: sg.grad(V, V),
        sg.GradientError,
        "grad: output is f64[3]: expected a scalar; hint: pass grad_outputs, or sum first; "
        "created at HERE",
    ),
    (
        lambda: sg.grad(Z * Z, Z),
        sg.GradientError,
        "grad: output is c128[]: expected a real scalar; "
        "hint: take sg.real or sg.abs, or pass grad_outputs; created at HERE",
    ),
    (
        lambda: sg.grad(Q, Y),
        sg.GradientError,
        "grad: inputs[0] 'y' is not used by the outputs; "
        "hint: allow_unused=True gives None, materialize_grads=True zeros; created at HERE",
    ),
    (
        lambda: sg.grad(Q, K),
        sg.DTypeError,
        "grad: inputs[0] 'k' has no derivative: expected a floating-point type, got i64[3]; "
        "created at HERE",
    ),
    (
        lambda: sg.grad(Q, V, mode="sideways"),
        sg.ArgumentError,
        "grad: unknown mode: expected auto, reverse, forward, got 'sideways'",
    ),
    (
        lambda: sg.grad(Q, V, level="best"),
        sg.ArgumentError,
        "grad: no such level: expected none, exact, got 'best'",
    ),
    (
        lambda: sg.grad(Q, V, mode="forward"),
        sg.GradientError,
        'grad: mode="forward" needs real scalar inputs, got f64[3]; hint: use sg.jvp',
    ),
    (
        lambda: sg.grad(sg.abs(Z), Z, mode="forward"),
        sg.GradientError,
        'grad: mode="forward" needs real scalar inputs, got c128[]; hint: use sg.jvp',
    ),
    (
        lambda: sg.grad(V * 2.0, V, ["abc"]),
        sg.DTypeError,
        "grad: grad_outputs[0]: no such element type: expected f64[3], got <U3; created at HERE",
    ),
    (
        lambda: sg.grad(V * 2.0, V, [1j * np.ones(3)]),
        sg.DTypeError,
        "grad: grad_outputs[0] is complex: expected f64[3], got c128[3]",
    ),
    (
        lambda: sg.vjp(V * 2.0, V, 1.0),
        sg.ShapeError,
        "vjp: cts[0] has another shape: expected f64[3], got f64[]",
    ),
    (
        lambda: sg.vjp([V, V * 2.0], V, [np.ones(3)]),
        sg.GradientError,
        "vjp: one cotangent per output is needed: expected 2, got 1",
    ),
    (
        lambda: sg.jvp(V * 2.0, V, 1.0),
        sg.ShapeError,
        "jvp: tangents[0] has another shape: expected f64[3], got f64[]",
    ),
    (
        lambda: sg.jvp(V * 2.0, [V, X], [np.ones(3)]),
        sg.GradientError,
        "jvp: one tangent per input is needed: expected 2, got 1",
    ),
    (
        lambda: sg.nth_derivative(X, X, 1.0),  # pyright: ignore[reportArgumentType]
        sg.ArgumentError,
        "nth_derivative: the order is no count: expected an int >= 0, got 1.0",
    ),
    (
        lambda: sg.nth_derivative([X], X, 1),  # pyright: ignore[reportArgumentType]
        sg.ArgumentError,
        "nth_derivative: y is no symbol: got list",
    ),
    (
        lambda: sg.explain(X, 3),  # pyright: ignore[reportArgumentType]
        sg.GradientError,
        "explain: input is no symbol: got int",
    ),
    (
        lambda: sg.Graph([X], X).differentiate(Y),
        sg.GradientError,
        "differentiate: 'y' is no symbol of the graph; created at HERE",
    ),
]


@pytest.mark.parametrize(
    ("attempt", "error", "message"), REFUSED, ids=[message[:40] for _, _, message in REFUSED]
)
def test_refusals(attempt: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        attempt()
    assert type(caught.value) is error
    assert HERE.sub("HERE", str(caught.value)) == message


def test_any_sequence_of_symbols_will_do() -> None:
    assert sg.grad(Q, (s for s in [V])) == sg.grad(Q, V)
    assert sg.grad(Q, {"v": V}.values()) == sg.grad(Q, V)


def test_an_order_may_be_numpys() -> None:
    assert sg.nth_derivative(X**3, X, np.int64(2)) is sg.nth_derivative(X**3, X, 2)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_complex_outputs_of_a_real_input(mode: str) -> None:
    """The gradient is the real part of conj(cotangent) times the derivative."""
    y = sg.exp(sg.astype(X, "complex128") * (1 + 2j))
    (slope,) = sg.grad(y, X, [3.0 + 0.5j], mode=mode)
    wanted = np.conj(3.0 + 0.5j) * (1 + 2j) * np.exp(0.3 * (1 + 2j))
    np.testing.assert_allclose(slope.eval({X: 0.3}), wanted.real, rtol=1e-14)
