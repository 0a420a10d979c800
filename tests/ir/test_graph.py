"""Graph: what it contains, in which order, and what it refuses."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, FeedError
from symgrad.ir.graph import Graph
from symgrad.ir.symbol import Origin, Symbol, building
from symgrad.ir.verify import verify


def derived(primal: Symbol, make: object) -> Symbol:
    """What ``make`` builds, as if the differentiator had built it from ``primal``."""
    building.origin = Origin(primal, primal.op.name)
    try:
        return make()  # type: ignore[operator]
    finally:
        building.origin = None


def test_inputs_outputs_symbols() -> None:
    x, y = sg.placeholder("x", ("n",)), sg.placeholder("y", ("n",))
    unused = sg.placeholder("unused")
    s = sg.sin(x)
    z = s * y + s
    graph = Graph([unused, y, x], [z, s])
    assert graph.inputs == (unused, y, x)
    assert [id(o) for o in graph.outputs] == [id(z), id(s)]
    assert [id(s) for s in graph.symbols] == [id(q) for q in (y, x, s, z.args[0], z)]
    assert graph.dims == ("n",)
    assert [graph.name_of(q) for q in (unused, y, x, s)] == ["%0", "%1", "%2", "%3"]
    verify(graph)


def test_one_symbol_is_enough() -> None:
    x = sg.placeholder("x")
    assert Graph(x, x * x).inputs == (x,)


def test_order_follows_from_structure_alone() -> None:
    two = sg.constant(2.0)  # in one graph older than the placeholder, in the other younger
    x = sg.placeholder("x")
    before = str(Graph([x], [x * two]))
    del two, x
    gc.collect()
    x = sg.placeholder("x")
    assert str(Graph([x], [x * sg.constant(2.0)])) == before


def test_interior_input_cuts() -> None:
    x, y = sg.placeholder("x"), sg.placeholder("y")
    h = sg.sin(x)
    graph = Graph([h, y], [h * y])
    assert [s.op.name for s in graph.symbols] == ["sin", "placeholder", "multiply"]
    assert str(graph).splitlines()[0] == '%0 = placeholder "sin" : f64[]'
    verify(graph)
    assert Graph([h], [h]).symbols == (h,)


def test_free_placeholder() -> None:
    x, y, z = (sg.placeholder(name) for name in "xyz")
    with pytest.raises(FeedError) as caught:
        Graph([x], [x * y + z])
    text = str(caught.value)
    assert text.startswith("graph: the outputs need what is not among the inputs: placeholder 'y' ")
    assert text.count("(created at test_graph.py:") == 2
    assert text.endswith("hint: list every placeholder among the inputs")


def test_many_free_placeholders_are_cut_short() -> None:
    total = sg.placeholder("p0")
    for k in range(1, 30):
        total = total + sg.placeholder(f"p{k}")
    with pytest.raises(FeedError, match=r"'p9' \(created at [^)]*\) and 20 more"):
        Graph([], [total])


@pytest.mark.parametrize(
    ("inputs", "outputs", "message"),
    [
        ([1.0], [], r"inputs\[0\] is no symbol: expected a symbol, got float"),
        ([], [np.zeros(2)], r"outputs\[0\] is no symbol: .* hint: sg.constant makes a symbol"),
        (3, [], "inputs is no sequence of symbols: got int"),
    ],
)
def test_no_symbols(inputs: object, outputs: object, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        Graph(inputs, outputs)


def test_input_twice() -> None:
    x, y = sg.placeholder("x"), sg.placeholder("y")
    with pytest.raises(ArgumentError, match="the input <placeholder 'x': f64"):
        Graph([x, y, x], [x])


def test_immutable_and_equal_by_identity() -> None:
    x = sg.placeholder("x")
    one, other = Graph([x], [x]), Graph([x], [x])
    assert one == one
    assert one != other
    assert len({one, other}) == 2
    with pytest.raises(AttributeError):
        one.outputs = ()  # type: ignore[misc]
    with pytest.raises(AttributeError):
        one.extra = 1  # type: ignore[attr-defined]


def test_variables() -> None:
    w, b = sg.variable([1.0], name="w"), sg.variable([2.0])
    x = sg.placeholder("x", (1,))
    assert Graph([x], [w * x + b]).variables == (w, b)
    assert Graph([x, w], [w * x]).variables == (w,)


def test_constraints_name_their_site() -> None:
    x, y = sg.placeholder("x", ("n",)), sg.placeholder("y", ("m",))
    total = x + y
    graph = Graph([x, y], [sg.sin(total) * (x + y)])
    (constraint,) = graph.constraints
    assert {str(constraint.left), str(constraint.right)} == {"n", "m"}
    assert constraint.site is not None
    assert constraint.site.startswith("test_graph.py:")
    assert Graph([total], [total]).constraints == ()
    assert graph.dims == ("n", "m")


def test_differentiate_appends() -> None:
    x, y = sg.placeholder("x"), sg.placeholder("y")
    graph = Graph([x, y], [sg.sin(x) * y])
    both = graph.differentiate([x, y])
    assert both.inputs == graph.inputs
    assert both.outputs[0] is graph.outputs[0]
    assert len(both.outputs) == 3
    assert set(graph.symbols) < set(both.symbols)
    assert both.outputs[2] is graph.outputs[0].args[0]  # dz/dy is sin(x), which was there
    assert both.primal_outputs == 1
    assert not set(both.derivative_symbols) & set(graph.symbols)
    assert set(both.derivative_symbols) | set(graph.symbols) == set(both.symbols)
    verify(both)


def test_differentiate_twice_keeps_the_primal_half() -> None:
    x = sg.placeholder("x")
    graph = Graph([x], [sg.sin(x)])
    second = graph.differentiate(x).differentiate(x, [0.0, 1.0])
    assert len(second.outputs) == 3
    assert second.primal_outputs == 1
    assert "sin" not in [s.op.name for s in second.derivative_symbols[:1]]


def test_derivative_symbols_by_origin() -> None:
    x = sg.placeholder("x")
    y = sg.sin(x)
    slope = derived(y, lambda: sg.cos(x) * sg.constant(3.25))
    graph = Graph([x], [slope, y])
    assert [s.op.name for s in graph.derivative_symbols] == ["cos", "multiply"]
    both = Graph([x], [y, slope], primal_outputs=1)
    assert [s.op.name for s in both.derivative_symbols] == ["cos", "constant", "multiply"]


def test_a_long_chain() -> None:
    x = y = sg.placeholder("x")
    for _ in range(50_000):
        y = sg.sin(y)
    graph = Graph([x], [y])
    assert len(graph.symbols) == 50_001
    assert str(graph).endswith("%50000 = sin(%49999) : f64[]\nreturn %50000")
    dead = weakref.ref(y)
    del x, y, graph
    gc.collect()
    assert dead() is None


def test_a_wide_sum() -> None:
    x = sg.placeholder("x")
    terms = [sg.sin(x * float(k)) for k in range(2, 1000)]
    total = terms[0]
    for term in terms[1:]:
        total = term + total
    assert len(Graph([x], [total]).symbols) == 1 + 998 * 3 + 997
