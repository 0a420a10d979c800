"""Rows S70 to S80: graphs, and what tells them from runs."""

from __future__ import annotations

import gc
import weakref
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.eager.kernels import watching_kernels
from symgrad.errors import TraceError
from symgrad.ir.op import OPS, Op
from symgrad.ir.symbol import constructing
from symgrad.testing.runs import literal
from tests.modes.agreement import require_near, require_one_data_flow, require_same_bits
from tests.modes.observing import observed
from tests.seed.formulas import leaf


def symbols() -> tuple[sg.Symbol, sg.Symbol, sg.Symbol]:
    """``Q = 3*a**3 - b**2`` of symbols."""
    a, b = sg.placeholder("a", (2,)), sg.placeholder("b", (2,))
    return a, b, 3 * a**3 - b**2


def text_of(*outputs: sg.Symbol) -> str:
    """A graph as text, without the lines of its leaves."""
    inputs = sorted(
        {s for y in outputs for s in _below(y) if s.op.name == "placeholder"}, key=lambda s: s.name
    )
    return sg.print_graph(sg.Graph(inputs, outputs))


def _below(symbol: sg.Symbol) -> set[sg.Symbol]:
    found, pending = {symbol}, [symbol]
    while pending:
        new = set(pending.pop().args) - found
        found |= new
        pending += new
    return found


@pytest.fixture
def kernels(monkeypatch: pytest.MonkeyPatch) -> Any:
    """How often each op's kernel runs, in either mode."""
    counts: Counter[str] = Counter()
    run = Op.run

    def counting(op: Op, values: Any, attrs: Any) -> Any:
        counts[op.name] += 1
        return run(op, values, attrs)

    def watch(plan: Any, kernel: Callable[..., Any], operands: tuple[Any, ...]) -> Any:
        counts[plan.op.name] += 1
        return kernel(*operands)

    monkeypatch.setattr(Op, "run", counting)
    with watching_kernels(watch):
        yield counts


def test_s70_building_runs_no_kernel(kernels: Counter[str]) -> None:
    a, b, q = symbols()
    assert kernels == {}
    sg.evaluate(q, {a: [2.0, 3.0], b: [6.0, 4.0]}, level="none")
    assert kernels == {"pow": 2, "multiply": 1, "subtract": 1}


@pytest.mark.parametrize("convert", [bool, float, int, complex, np.asarray])
def test_s70_a_symbol_has_no_value(convert: Callable[[Any], Any]) -> None:
    _, _, q = symbols()
    with pytest.raises(TraceError, match=r"has no value while the graph is built.*; hint: "):
        convert(q)
    with pytest.raises(TraceError, match="has no value"):
        _ = q.value


def test_s71_the_gradient_is_built_once() -> None:
    x = sg.placeholder("x", (3,))
    count, w = sg.variable(0, name="count"), sg.variable([1.0, 2.0, 3.0], name="w")
    loss = sg.sum((w * x) ** 2)
    (gradient,) = sg.grad(loss, w)
    step = sg.function(x, loss, {w: w - 0.001 * gradient, count: count + 1})
    before = sg.placeholder("before").serial
    for k in range(100):
        step(np.full(3, k / 100))
    assert sg.placeholder("after").serial == before + 1  # no symbol was made
    assert count.value == 100  # and each call ran


def test_s72_a_run_gives_gradients_at_these_inputs_alone() -> None:
    x = leaf(2, 3)
    sg.sum(x**3).backward()
    assert isinstance(x.grad, sg.Tensor)
    assert x.grad.tolist() == [12.0, 27.0]
    assert x.grad.grad_fn is None
    assert not x.grad.requires_grad
    (again,) = sg.grad(sg.sum(x**3), x, create_graph=True)
    assert again.grad_fn is not None


def test_s73_the_gradient_extends_the_graph() -> None:
    a, b, q = symbols()
    half = sg.sum(sg.sin(q))
    graph = sg.Graph([a, b], [half, *sg.grad(half, [a, b])])
    assert q in graph.positions
    derived = set(graph.derivative_symbols)
    assert derived
    assert q not in derived
    assert any(q is arg for symbol in derived for arg in symbol.args)  # cos(Q) stands on the same Q


def test_s73_it_reads_as_an_expression() -> None:
    a, b, q = symbols()
    by_a, by_b = sg.grad(sg.sum(q), [a, b])
    assert text_of(by_a) == (
        '%0 = placeholder "a" : f32[2]\n'
        "%1 = constant 9.0 : f32[]\n"
        "%2 = square(%0) : f32[2]  # d pow (rule pow)\n"
        "%3 = multiply(%1, %2) : f32[2]  # d pow (rule pow)\n"
        "return %3"
    )
    assert text_of(by_b) == (
        '%0 = placeholder "b" : f32[2]\n'
        "%1 = constant -2.0 : f32[]\n"
        "%2 = multiply(%1, %0) : f32[2]  # d pow (rule pow)\n"
        "return %2"
    )


def test_s74_derivatives_are_in_the_same_language(tmp_path: Path) -> None:
    a, b, q = symbols()
    gradients = sg.grad(sg.sum(sg.exp(q) * sg.tanh(a)), [a, b])
    graph = sg.Graph([a, b], gradients)
    assert {s.op.name for s in graph.symbols} <= set(OPS)
    feeds = np.array([0.2, 0.3], "float32"), np.array([0.6, 0.4], "float32")
    compiled = sg.function([a, b], gradients)
    expected = compiled(*feeds)
    again = sg.parse(sg.print_graph(graph))
    assert sg.print_graph(again) == sg.print_graph(graph)
    sg.save(tmp_path / "graph", graph)
    assert sg.print_graph(sg.load(tmp_path / "graph")) == sg.print_graph(graph)
    compiled.export_python(tmp_path / "exported.py")
    scope: dict[str, Any] = {}
    exec((tmp_path / "exported.py").read_text(), scope)
    for one, other in zip(scope["call"](*feeds), expected, strict=True):
        np.testing.assert_array_equal(one, other)
    assert "multiply" in sg.draw(list(gradients)).dot
    assert len(compiled.optimized.symbols) <= len(graph.symbols)


def test_s75_orders_follow_on_one_another() -> None:
    x = sg.placeholder("x")
    derivatives = [x**2]
    for _ in range(3):
        derivatives += sg.grad(derivatives[-1], x, materialize_grads=True)
    assert [float(d.eval({x: 3.0})) for d in derivatives] == [9.0, 6.0, 2.0, 0.0]
    assert [sg.nth_derivative(sg.sin(x), x, n) is f for n, f in ((4, sg.sin(x)), (1, sg.cos(x)))]
    assert float(sg.nth_derivative(x**5, x, 5).eval({x: 0.3})) == 120.0


@pytest.mark.parametrize("order", [1, 2, 4, 5, 8])
def test_s75_the_sine_comes_again(order: int) -> None:
    x = sg.placeholder("x")
    y: Any = sg.sin(x)
    for _ in range(order):
        (y,) = sg.grad(y, x)
    names = {0: "sin", 1: "cos"}
    if order % 4 in names:
        assert y is getattr(sg, names[order % 4])(x)
    else:
        assert y.op is OPS["negative"]


FORMULAS: dict[str, tuple[Callable[..., Any], list[list[float]]]] = {
    "Q": (lambda a, b: [3 * a**3 - b**2], [[2, 3], [6, 4]]),
    "y": (lambda w, x: [(w + x) * (w + 1)], [[1], [2]]),
    "loss": (
        lambda w, x: [sg.cat([(x + w) * (w + 1), (x + w) + (w + 1)], dim=0)],
        [[1], [2]],
    ),
    "chain": (lambda x: [sg.sin(sg.sin(sg.sin(x)))], [[0.5, 0.7]]),
}


@pytest.mark.parametrize(("f", "inputs"), FORMULAS.values(), ids=FORMULAS)
def test_s76_the_flagship(f: Callable[..., Any], inputs: list[list[float]]) -> None:
    """A run does exactly the calculations that the graph describes."""
    values = [np.array(v, "float32") for v in inputs]
    assert require_one_data_flow(f, values) > 3
    require_same_bits(f, values)
    require_near(f, values, narrow=True)


def test_s76_in_the_same_order() -> None:
    a, b = np.array([2, 3], "float32"), np.array([6, 4], "float32")
    _, flow = observed(FORMULAS["Q"][0], [a, b], [np.array([1, 1], "float32")])
    run = [(call.op.name, call.value.shape, call.value.dtype) for call in flow.calls if call.op]
    static = literal(FORMULAS["Q"][0], [a, b])
    wanted = [*static.outputs, *static.gradients]
    graph = sorted((s for y in wanted for s in _below(y) if s.args), key=lambda s: s.serial)
    built = [(s.op.name, s.shape, s.dtype) for s in dict.fromkeys(graph)]
    at = iter(run)
    assert all(call in at for call in built)  # what is missing in the graph, nothing uses
    assert (
        built[:4]
        == run[:4]
        == [(name, (2,), np.dtype("float32")) for name in ("pow", "multiply", "pow", "subtract")]
    )


def test_s77_a_run_keeps_no_graph_and_a_graph_stays() -> None:
    gc.disable()
    try:
        x = leaf(2, 3)
        y = sg.exp(x)
        z = sg.sum(y * y)
        saved = weakref.ref(y.storage.array)
        record = weakref.ref(y.grad_fn)
        del y
        assert saved() is not None
        z.backward()
        assert saved() is None  # what was saved went, though z still lives
        assert record() is not None
        del z
        assert record() is None
    finally:
        gc.enable()
    a, b, q = symbols()
    f = sg.function([a, b], sg.grad(sg.sum(q), [a, b]))
    graph = f.graph
    f([2.0, 3.0], [6.0, 4.0])
    assert f.graph is graph
    assert a in graph.positions


def test_s79_one_graph_for_all_feeds() -> None:
    x = sg.placeholder("x", ("n",))
    f = sg.function(x, sg.grad(sg.sum(x**2), x))
    graph, source = f.graph, f.source
    for n in (1, 3, 5):
        (g,) = f(np.arange(n, dtype="float32"))
        assert g.tolist() == [2.0 * k for k in range(n)]
    assert f.graph is graph
    assert f.source == source


def test_s80_shared_expressions_run_once(kernels: Counter[str]) -> None:
    w = sg.placeholder("w")
    z = sg.sin(sg.sin(sg.sin(w)))
    (dz,) = sg.grad(z, w, mode="reverse")
    sg.evaluate(dz, {w: 0.5})
    # cos(w) * cos(f(w)) * cos(f(f(w))): f(w) is needed twice and computed once.
    assert kernels == {"sin": 2, "cos": 3, "multiply": 2}
    source = sg.function(w, [z, dz]).source
    assert (source.count("np.sin("), source.count("np.cos(")) == (3, 3)


@pytest.mark.parametrize(("share", "calls"), [(True, 2), (False, 3)])
def test_s80_that_is_what_sharing_saves(share: bool, calls: int, kernels: Counter[str]) -> None:
    w = sg.placeholder("w")
    with constructing(share=share):
        dz = sg.cos(w) * sg.cos(sg.sin(w)) * sg.cos(sg.sin(sg.sin(w)))
    sg.evaluate(dz, {w: 0.5}, level="none")
    assert kernels["sin"] == calls
