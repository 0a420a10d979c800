"""verify: legal graphs pass, each broken law is named."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import InternalError
from symgrad.ir.graph import Graph
from symgrad.ir.op import OPS
from symgrad.ir.symbol import CONSTANT, PLACEHOLDER, VARIABLE, Symbol, new_symbol
from symgrad.ir.verify import verify
from symgrad.types import Constraint, Dim, TensorType

F64, VECTOR = TensorType((), "float64"), TensorType((3,), "float64")


def symbol(op: str, *args: Symbol, kind: TensorType = F64, **attrs: object) -> Symbol:
    """A symbol that no constructor would build."""
    return new_symbol(OPS[op], args, attrs, kind)


def test_legal() -> None:
    x, y, w = sg.placeholder("x", ("n",)), sg.placeholder("y", ("m",)), sg.variable(2.0)
    verify(Graph([x, y], [sg.astype(x + y, "float32"), sg.sin(w) * sg.constant([1.0])]))
    verify(Graph([], []))
    h = sg.sin(x)
    verify(Graph([h], [h * h]))


def younger(x: Symbol) -> Symbol:
    y = symbol("sin", x)
    x.serial, y.serial = y.serial, x.serial
    return y


def writable(_: Symbol) -> Symbol:
    return new_symbol(CONSTANT, (), {}, F64, payload=np.zeros(()))


def unregistered(x: Symbol) -> Symbol:
    import dataclasses

    return new_symbol(dataclasses.replace(OPS["sin"], name="sine"), (x,), {}, F64)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (younger, "%1: an operand is younger"),
        (writable, "%1: a constant can be written to"),
        (unregistered, "%1: the op sine is not registered"),
        (lambda x: symbol("sin", x, x), "%1: verify: sin has other operands: expected 1, got 2"),
        (lambda x: symbol("sin", x, axis=1), "%1: its attributes are ['axis'], not []"),
        (lambda x: symbol("sin", x, kind=VECTOR), "%1: its op infers the type f64"),
        (lambda x: symbol("logical_not", x), "%1: its op refuses its operands: logical_not: "),
        (
            lambda x: symbol("astype", x, dtype="float64", copy=True, device=None),
            "%1: an attribute is not in its canonical form",
        ),
        (
            lambda x: symbol("astype", x, dtype=np.dtype("f8"), copy=[], device=None),
            "%1: an attribute cannot be hashed",
        ),
        (
            lambda x: new_symbol(
                OPS["sin"], (x,), {}, F64, (Constraint(Dim.named("n"), 3, "sin", "sizes"),)
            ),
            "%1: its op needs no constraint",
        ),
        (lambda _: new_symbol(CONSTANT, (), {}, F64, payload=3.0), "%1: its value is no array"),
        (
            lambda _: new_symbol(CONSTANT, (), {}, F64, payload=np.zeros(2)),
            "%1: its value is float64[2]",
        ),
        (
            lambda _: new_symbol(VARIABLE, (), {}, F64, payload=np.zeros(())),
            "%1: a variable is not the one on its storage",
        ),
        (
            lambda x: new_symbol(CONSTANT, (x,), {}, F64, payload=np.zeros(())),
            "%1: a leaf has operands, attributes or constraints",
        ),
    ],
)  # fmt: skip
def test_broken(broken: Callable[[Symbol], Symbol], message: str) -> None:
    x = sg.placeholder("x")
    graph = Graph([x], [broken(x)])
    with pytest.raises(InternalError) as caught:
        verify(graph)
    assert str(caught.value).startswith(f"verify: {message}")


def test_the_graph_is_shown() -> None:
    x = sg.placeholder("x")
    with pytest.raises(InternalError, match=r'\n%0 = placeholder "x" : f64\[\]  # test_verify.py:'):
        verify(Graph([x], [symbol("sin", x, x)]))


def test_of_a_large_graph_the_neighbourhood_is_shown() -> None:
    x = y = sg.placeholder("x")
    for _ in range(1000):
        y = sg.sin(y)
    with pytest.raises(InternalError) as caught:
        verify(Graph([x], [sg.cos(symbol("sin", y, x))]))
    assert len(str(caught.value).splitlines()) == 201
    assert "%1001 = sin(%1000, %0) : f64[]" in str(caught.value).splitlines()[-1]


def test_a_placeholder_without_a_name() -> None:
    x = new_symbol(PLACEHOLDER, (), {}, F64)
    with pytest.raises(InternalError, match="%0: a placeholder has a name and no value"):
        verify(Graph([x], [x]))
