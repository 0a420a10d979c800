"""`trace` and `jit`: Python functions as graphs, compiled once per signature, differentiable."""

from __future__ import annotations

import copy
import gc
import math
import pickle
import sys
import threading
import weakref
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

import symgrad as sg
from symgrad.ir.modes import MET, MODE
from symgrad.trace.calls import Callee

F64 = "float64"


def leaf(*values: float) -> Any:
    return sg.tensor([float(v) for v in values], requires_grad=True)


def equal(a: Any, b: Any) -> None:
    np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


def reasons(f: Any) -> tuple[str, ...]:
    return f.cache_info().reasons


# --- trace ----------------------------------------------------------------------------------------


class Pair(NamedTuple):
    first: Any
    second: Any


def test_inputs_are_named_after_parameters_and_places() -> None:
    def f(x: Any, pair: Any, *rest: Any, table: Any) -> Any:
        return x + pair.second + rest[0] + table["a"][1]

    graph = sg.trace(f)(
        sg.TensorType(("n",), F64), Pair(1, sg.ones(())), np.ones(()), table={"a": [0, sg.ones(())]}
    )
    names = ["x", "pair[1]", "rest[0]", "table['a'][1]"]
    assert [s.name for s in graph.inputs] == names
    assert str(graph.outputs[0].type) == "f64[n]"


def test_results_keep_their_structure() -> None:
    graph = sg.trace(lambda x: {"p": Pair(x, (x * 2, 7)), "q": [None, "text", np.ones(2)]})(
        sg.TensorType((), F64)
    )
    assert len(graph.outputs) == 3
    built = graph.structured([1, 2, 3])
    assert built == {"p": Pair(1, (2, 7)), "q": [None, "text", 3]}
    assert type(built["p"]) is Pair


def test_a_symbol_stands_for_itself() -> None:
    x = sg.placeholder("mine", (3,))
    graph = sg.trace(lambda a: a * 2)(x)
    assert graph.inputs == (x,)
    assert graph.outputs[0] is x * 2


def test_numbers_are_constants_and_defaults_are_filled_in() -> None:
    graph = sg.trace(lambda x, n=3: x**n)(sg.TensorType((), F64))
    assert graph.outputs[0] is graph.inputs[0] ** 3


def test_static_arguments_are_taken_as_they_are() -> None:
    config = SimpleNamespace(scale=2)  # it cannot be hashed, which only `jit` needs
    graph = sg.trace(lambda x, config: x * config.scale, static_argnames="config")(
        np.ones(2), config
    )
    assert graph.outputs[0] is graph.inputs[0] * 2


def test_a_leaf_is_a_variable_on_its_storage_even_where_no_symbol_meets_it() -> None:
    w = leaf(1, 2)
    graph = sg.trace(lambda x: x + sg.sum(sg.softmax(w * 2)) + w)(sg.TensorType((2,), F64))
    (variable,) = graph.variables
    assert variable.payload is w.storage
    assert graph.leaves == (w,) or graph.leaves[0] is w
    assert {"softmax", "sum"} <= {s.op.name for s in graph.symbols}


def test_other_tensors_are_constants() -> None:
    c = sg.ones(2)
    graph = sg.trace(lambda x: x * c)(np.ones(2))
    assert graph.variables == ()
    c.add_(1)
    equal(graph.outputs[0].eval({graph.inputs[0]: [1.0, 1.0]}), [1, 1])


def test_no_grad_inside_stops_gradients() -> None:
    def f(x: Any) -> Any:
        with sg.no_grad():
            held = x * x
        return sg.sum(held * x)

    x = leaf(2, 3)
    for run in (f, sg.jit(f)):
        equal(sg.grad(run(x), x)[0], [4, 9])


def test_detach_of_a_leaf_follows_it() -> None:
    w = leaf(1, 2)
    f = sg.jit(lambda x: sg.sum(w.detach() * w * x))
    f(sg.ones(2)).backward()
    equal(w.grad, [1, 2])
    with sg.no_grad():
        w.mul_(2)
    assert f(sg.ones(2)).item() == 20


def test_trace_leaves_the_mode_as_it_was() -> None:
    def f(x: Any) -> Any:
        raise KeyError("mine")

    for bad in (f, lambda x: float(x)):
        with pytest.raises((KeyError, sg.TraceError)):
            sg.trace(bad)(np.ones(()))
    assert (MODE.get(), MET.get()) == (1, None)
    assert (leaf(1) * 2).requires_grad


# --- what is refused ------------------------------------------------------------------------------


def branch(x: Any) -> Any:
    return x if x > 0 else -x


def loop(x: Any) -> Any:
    return [row for row in x]  # noqa: C416


def count(x: Any) -> Any:
    return list(range(x.shape[0]))


def stored(x: Any) -> Any:
    x[0] = 1.0
    return x


def into_tensor(x: Any) -> Any:
    made = sg.zeros(2)
    made[0] = x
    return made


def recorded(x: Any) -> Any:
    return x * DEPENDENT


DEPENDENT = leaf(1, 2) * 2
WEIGHT = leaf(1, 2)


def grown(x: Any) -> Any:
    global WEIGHT
    WEIGHT += x
    return WEIGHT


REFUSED: list[tuple[Callable[[Any], Any], str, str]] = [
    (branch, r"bool: <greater: b1\[\]> has no value while branch is traced", r"sg\.where\("),
    (lambda x: float(x), "float: <placeholder 'x': f64.*> has no value", "functions of sg, not of"),
    (lambda x: math.sin(x), "float: <placeholder 'x': f64.*> has no value", "not of math"),
    (lambda x: int(x), "int: .* has no value", "a static argument"),
    (lambda x: complex(x), "complex: .* has no value", "not of cmath"),
    (lambda x: [1, 2][sg.argmax(x)], "index: .* has no value", "a static argument"),
    (lambda x: np.asarray(x), r"numpy\.asarray: .* has no value", r"sg\.stack joins several"),
    (lambda x: np.array([x, x]), r"numpy\.asarray: .* has no value", "not of numpy"),
    (lambda x: x.item(), r"\.item: .* has no value", "return it, and read it outside"),
    (lambda x: x.numpy(), r"\.numpy: .* has no value", "return it, and read it outside"),
    (lambda x: x.backward(), r"\.backward: .* keeps no gradient", r"sg\.grad\(loss, \[x\]\)"),
    (lambda x: x.requires_grad, r"\.requires_grad: .* has no such attribute", "runs eagerly"),
    (lambda x: x.add_(1), r"\.add_: .* does not change", r"x = x\.add\(\.\.\.\) gives a new one"),
    (stored, "item assignment: symbols do not change", r"x = sg\.set_at\(x, key, value\)"),
    (into_tensor, "item assignment: the new value is no tensor", r"sg\.set_at\(x, key, value\)"),
    (grown, r"\+=: the new value is no tensor: .*", "write x = x"),
    (recorded, "tensor in a graph: it was computed eagerly, by multiply", r"x\.detach\(\)"),
]


@pytest.mark.parametrize(("f", "problem", "cure"), REFUSED)
def test_what_needs_a_value_is_refused_with_line_and_cure(
    f: Callable[[Any], Any], problem: str, cure: str
) -> None:
    for run in (sg.trace(f), sg.jit(f)):
        with pytest.raises(sg.TraceError, match=f"{problem}.*hint: .*{cure}") as caught:
            run(np.ones(()))
        code = f.__code__
        lines = {line for _, _, line in code.co_lines() if line is not None}
        file, _, line = str(caught.value).rpartition("created at ")[2].rpartition(":")
        assert file == "test_trace.py"
        assert int(line) in lines
    assert isinstance(WEIGHT, sg.Tensor)


@pytest.mark.parametrize(
    ("f", "problem"),
    [
        (loop, r"iter: <placeholder 'x': f64\[n\]> has no value.*hint: what acts on whole axes"),
        (
            lambda x: len(x),
            r"len: <placeholder 'x': f64\[n\]> has no value.*hint: x\.shape\[0\] is the size",
        ),
        (count, "dimension n: an index or range needs a size that is known.*declare the dimension"),
    ],
)
def test_a_loop_over_a_symbolic_size_is_refused(f: Any, problem: str) -> None:
    with pytest.raises(sg.TraceError, match=f"{problem}.*created at test_trace.py:"):
        sg.trace(f)(sg.TensorType(("n",), F64))


def test_changes_are_refused_as_changes_too() -> None:
    with pytest.raises(sg.InPlaceError, match="does not change"):
        sg.jit(lambda x: x.add_(1))(np.ones(2))


def test_other_errors_stay_as_they_are() -> None:
    with pytest.raises(AttributeError, match="'list' object has no attribute 'missing'"):
        sg.trace(lambda x: [x].missing)(1.0)  # type: ignore[attr-defined]
    with pytest.raises(sg.ShapeError, match="add"):
        sg.trace(lambda x: x + sg.ones(3))(sg.ones(2))


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (
            lambda: sg.trace(3),
            "trace: no function: expected a function of tensors, got int$",
        ),
        (
            lambda: sg.trace(sg.ones((2, 2))),
            r"trace: no function: .* got Tensor; hint: sg\.linalg\.trace sums a matrix's diagonal",
        ),
        (lambda: sg.jit(3), "jit: no function: expected a function of tensors, got int$"),
        (
            lambda: sg.jit(abs, level="faster"),
            "jit: no such level: expected none, exact, fast, got 'faster'",
        ),
        (lambda: sg.jit(abs, backend="cuda"), "no such backend: expected .*, got 'cuda'"),
        (
            lambda: sg.jit(branch, static_argnames="y"),
            "jit: there is no parameter 'y': expected x, got 'y'",
        ),
        (
            lambda: sg.jit(branch)(object()),
            "jit: argument 'x' holds what is neither array nor number: expected tensors.*, "
            "got object; hint: static_argnames='x' takes it as it is",
        ),
        (
            lambda: sg.trace(branch)({"a": [object()]}),
            r"trace: argument \"x\['a'\]\[0\]\" holds what is neither array nor number",
        ),
        (
            lambda: sg.jit(lambda x, c: x, static_argnames="c")(1, [2]),
            "jit: argument 'c' cannot be hashed, so calls cannot be told apart by it: got list; "
            "hint: give a tuple for a list",
        ),
        (
            lambda: sg.jit(lambda x: [x, {1}])(np.ones(1)),
            r"<lambda>: the result\[1\] is nothing that a compiled function can give: expected "
            "tensors, and lists, tuples, dicts of these, got set",
        ),
        (
            lambda: sg.jit(branch).graph(sg.placeholder("x")),
            "jit: a symbol has no signature; hint: give its type",
        ),
        (
            lambda: sg.jit(lambda x: x)(sg.TensorType((2,), F64)),
            r"jit: a type has no value: got f64\[2\]; hint: f\.graph\(\.\.\.\) and f\.source",
        ),
        (lambda: Slotted().method(1), "jit: an instance of Slotted cannot be referenced weakly"),
    ],
)
def test_misuse(call: Callable[[], Any], problem: str) -> None:
    with pytest.raises(sg.SymgradError, match=problem):
        call()


def test_missing_arguments_are_pythons_error() -> None:
    with pytest.raises(TypeError, match="missing a required argument: 'b'"):
        sg.jit(lambda a, b: a)(1)


# --- jit: the cache -------------------------------------------------------------------------------


def test_a_signature_is_traced_once() -> None:
    calls: list[Any] = []

    @sg.jit
    def f(x: Any) -> Any:
        """Twice."""
        calls.append(x)
        return 2 * x

    for _ in range(3):
        equal(f(sg.ones(3)), [2, 2, 2])
        equal(f(np.ones(2)), [2, 2])
    assert len(calls) == 2
    assert f.cache_info()[:3] == (4, 2, 2)
    assert (f.__name__, f.__doc__, repr(f)) == ("f", "Twice.", "<jit of f>")


def test_each_miss_says_which_argument_differed() -> None:
    f = sg.jit(lambda x, n=2, *, mode="a", rest=(): x)
    f(sg.ones(4))
    f(sg.ones(3))
    f(sg.ones(3, dtype=sg.float32))
    f(sg.ones(3), 5)
    f(sg.ones(3), mode="b")
    f(sg.ones(3), 2.0, mode="b")
    f(sg.ones(3), rest=(1, sg.ones(1)))
    f(sg.ones(3), rest=(1,))
    assert reasons(f) == (
        "first call",
        "x: f64[3] was f64[4]",
        "x: f32[3] was f64[3]",
        "n: 5 was 2",
        "mode: 'b' was 'a'",
        "n: 2.0 was 2",
        "rest: tuple of 2 was tuple of 0, rest[0]: 1 was not there, rest[1]: f64[1] was not there",
        "rest: tuple of 1 was tuple of 2, rest[1]: gone, was f64[1]",
    )


def test_however_a_call_is_written_it_is_one_signature() -> None:
    f = sg.jit(lambda x, n=2, *, k=1: x**n * k)
    for call in (
        lambda: f(sg.ones(2)),
        lambda: f(x=sg.ones(2)),
        lambda: f(n=2, x=sg.ones(2)),
        lambda: f(sg.ones(2), 2, k=1),
    ):
        call()
    assert f.cache_info()[:2] == (3, 1)


def test_values_that_compare_equal_are_told_apart() -> None:
    f = sg.jit(lambda x, n: x * n)
    kinds = {f(sg.ones(1, dtype=sg.int64), n).dtype.name for n in (1, 1.0, True, 1j)}
    assert kinds == {"int64", "float64", "complex128"}
    assert f.cache_info().misses == 4
    f(sg.ones(1), math.nan)
    f(sg.ones(1), math.nan)
    assert f.cache_info()[:2] == (1, 5)


def test_the_default_element_type_is_part_of_the_signature() -> None:
    f = sg.jit(lambda x: x + sg.ones(2))
    x = sg.ones(2, dtype=sg.float32)
    assert f(x).dtype == np.float64
    sg.set_default_dtype(sg.float32)
    try:
        assert f(x).dtype == np.float32
    finally:
        sg.set_default_dtype(sg.float64)
    assert reasons(f)[1] == "default dtype: f32 was f64"


def test_the_cache_is_bounded_and_drops_what_was_used_longest_ago(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys.modules["symgrad.trace.jitted"], "LIMIT", 2)
    f = sg.jit(lambda x: x)
    for size in (1, 2, 1, 3, 1, 2):
        f(sg.ones(size))
    assert f.cache_info()[:4] == (2, 4, 2, 2)


def test_clearing_the_cache() -> None:
    f = sg.jit(lambda x: x)
    f(sg.ones(1))
    f.clear_cache()
    assert f.cache_info().size == 0
    f(sg.ones(1))
    assert reasons(f) == ("first call", "the cache was cleared")


def test_a_graph_that_is_dropped_frees_what_it_holds() -> None:
    big = np.ones(1000)
    f = sg.jit(lambda x: x * big)
    x = leaf(*range(1000))
    f(x).sum().backward()
    held = weakref.ref(f.graph(x).outputs[0])
    f.clear_cache()
    del x
    gc.collect()
    assert held() is None


def test_an_exception_leaves_nothing_behind() -> None:
    attempts: list[int] = []

    @sg.jit
    def f(x: Any) -> Any:
        attempts.append(1)
        if len(attempts) == 1:
            raise KeyError("boom")
        return x * 2

    with pytest.raises(KeyError, match="boom"):
        f(sg.ones(2))
    assert f.cache_info()[:3] == (0, 0, 0)
    equal(f(sg.ones(2)), [2, 2])
    assert reasons(f) == ("first call",)


def test_graph_and_source_show_what_is_compiled() -> None:
    f = sg.jit(lambda x: sg.exp(x) * 2)
    graph = f.graph(sg.TensorType((3,), F64))
    assert isinstance(graph, sg.Graph)
    assert [s.op.name for s in graph.symbols if s.args] == ["exp", "multiply"]
    assert "np.exp(x)" in f.source(sg.ones(3))
    f(sg.ones(3))
    assert f.cache_info()[:2] == (1, 1)


def test_options() -> None:
    f: Any = sg.jit(level="none", backend="numpy", static_argnames=["n"])(lambda x, n: x * n[0])
    equal(f(sg.ones(2), (3,)), [3, 3])
    x = leaf(1, 2)
    f(x, (3,)).sum().backward()
    equal(x.grad, [3, 3])


def test_methods_have_a_cache_per_object() -> None:
    class Model:
        def __init__(self, scale: float) -> None:
            self.weight = leaf(scale)

        @sg.jit
        def forward(self, x: Any) -> Any:
            return sg.sum(self.weight * x)

    one, two = Model(1), Model(2)
    assert [m.forward(sg.ones(1)).item() for m in (one, two, one)] == [1, 2, 1]
    assert one.forward.cache_info()[:2] == (1, 1)
    assert two.forward.graph(sg.ones(1)).leaves[0] is two.weight
    bound = Model.__dict__["forward"]._bound
    assert len(bound) == 2
    gone = weakref.ref(one)
    del one
    gc.collect()
    assert gone() is None
    assert len(bound) == 1
    assert Model.forward is Model.__dict__["forward"]
    assert sg.jit(two.forward)(sg.ones(1)).item() == 2


class Slotted:
    __slots__ = ()

    @sg.jit
    def method(self, x: Any) -> Any:
        return x


def test_copies_begin_anew() -> None:
    f = sg.jit(math.sqrt, static_argnames=())
    assert copy.deepcopy(f).cache_info().misses == 0
    assert pickle.loads(pickle.dumps(f))(4.0) == 2.0


def test_threads_trace_once_and_agree() -> None:
    traced: list[int] = []

    @sg.jit
    def f(x: Any) -> Any:
        traced.append(1)
        return sg.sum(x**2)

    wrong: list[Any] = []

    def run() -> None:
        for k in range(100):
            x = sg.tensor(np.arange(1.0 + k % 5), requires_grad=True)
            f(x).backward()
            if not np.array_equal(x.grad.numpy(), 2 * x.numpy()):
                wrong.append(x)

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(traced) == 5
    assert f.cache_info()[:3] == (795, 5, 5)


# --- jit: what it computes ------------------------------------------------------------------------


def test_results_are_tensors_in_the_functions_structure() -> None:
    f = sg.jit(lambda x: [x, x, sg.argmax(x), 2, None, np.ones(2), {"a": (x.sum(),)}])
    x = leaf(1, -2, 3)
    a, b, c, two, none, ones, nest = f(x)
    assert all(isinstance(t, sg.Tensor) for t in (a, b, c, ones, nest["a"][0]))
    assert (two, none, c.item()) == (2, None, 2)
    assert [t.requires_grad for t in (a, b, c, ones, nest["a"][0])] == [1, 1, 0, 0, 1]
    (a + 2 * b).sum().backward()
    equal(x.grad, [3, 3, 3])
    assert sg.jit(lambda x: 3)(x) == 3


def test_a_leaf_that_changes_is_seen_without_tracing_again() -> None:
    w = leaf(1, 2)
    f = sg.jit(lambda x: sg.sum(w * x))
    assert f(sg.ones(2)).item() == 3
    with sg.no_grad():
        w.mul_(10)
    y = f(sg.ones(2))
    assert (y.item(), f.cache_info().misses) == (30, 1)
    y.backward()
    equal(w.grad, [1, 1])
    w.requires_grad = False
    assert not f(sg.ones(2)).requires_grad
    w.requires_grad = True
    f(3 * sg.ones(2)).backward()
    equal(w.grad, [4, 4])


def test_a_variable_has_its_present_value_and_is_watched() -> None:
    v = sg.variable([1.0, 2.0])
    f = sg.jit(lambda x: sg.sum(v * x * x))
    x = leaf(1, 2)
    y = f(x)
    v.value = [5.0, 5.0]
    assert f(x).item() == 25
    with pytest.raises(sg.InPlaceError, match=r"operand 1 of type .* was changed in place"):
        sg.grad(y, x)


def test_a_call_in_a_graph_is_a_part_of_it() -> None:
    double = sg.jit(lambda x: 2 * x)
    x = sg.placeholder("x")
    assert double(x) is 2 * x
    w = leaf(1, 2)
    outer = sg.jit(lambda x: sg.sum(double(w) * double(x)))
    x = leaf(3, 4)
    outer(x).backward()
    equal(w.grad, [12, 16])
    assert double.cache_info().misses == 0


def test_gradients_inside() -> None:
    w = leaf(1, 2)

    def step(x: Any) -> Any:
        loss = sg.sum(w * w * x)
        return loss, sg.grad(loss, w)[0]

    loss, gradient = sg.jit(step)(sg.ones(2))
    assert loss.item() == 5
    equal(gradient, [2, 4])


def test_anomalies_are_found_inside() -> None:
    f = sg.jit(lambda x: sg.log(x))
    with sg.detect_anomaly(), pytest.raises(sg.AnomalyError, match="log: the value is NaN"):
        f(-sg.ones(2))


# --- jit: the derivative --------------------------------------------------------------------------

rng = np.random.default_rng(7)
PARAMETERS = [
    sg.tensor(rng.normal(size=shape), requires_grad=True) for shape in ((3, 4), (4,), (4, 2))
]
INPUT = sg.tensor(rng.normal(size=(5, 3)), requires_grad=True)


def network(x: Any) -> Any:
    w1, b1, w2 = PARAMETERS
    hidden = sg.tanh(x @ w1 + b1)
    predicted = sg.softmax(hidden @ w2)
    return sg.sum(predicted**3) + 0.01 * sg.sum(w1**2), predicted


def test_derivatives_of_every_order_are_the_eager_ones() -> None:
    inputs = [INPUT, *PARAMETERS]
    values: list[list[Any]] = []
    for run in (network, sg.jit(network)):
        loss, predicted = run(INPUT)
        found: list[Any] = [loss, predicted]
        total = loss + predicted[0, 0]
        for _ in range(3):
            gradients = sg.grad(total, inputs, create_graph=True)
            found += gradients
            total = sum((g**2).sum() for g in gradients)
        values.append([t.numpy() for t in found])
    for ours, eager in zip(*values, strict=True):
        np.testing.assert_allclose(ours, eager, rtol=1e-12, atol=1e-12)


def test_a_call_is_one_record() -> None:
    loss, predicted = sg.jit(network)(INPUT)
    ((record, output),) = loss.grad_fn.next_functions
    assert (record.name(), output) == ("network", 0)
    assert predicted.grad_fn.next_functions == ((record, 0),)
    assert (loss.grad_fn.index, predicted.grad_fn.index) == (0, 1)
    assert [type(edge).__name__ for edge, _ in record.next_functions] == ["Leaf"] * 4
    assert record.site.file == __file__


def test_it_is_recorded_only_where_calls_are() -> None:
    f = sg.jit(network)
    with sg.no_grad():
        assert not f(INPUT)[0].requires_grad
    assert f(INPUT)[0].requires_grad


def test_backward_adds_up_and_frees() -> None:
    x = leaf(1, 2)

    @sg.jit
    def cubes(x: Any) -> Any:
        return sg.sum(x**3)

    y = cubes(x)
    y.backward(retain_graph=True)
    y.backward()
    equal(x.grad, [6, 24])
    with pytest.raises(
        sg.GradientError, match="backward through cubes: the values that it needs were freed"
    ):
        y.backward()


def test_it_saves_what_its_derivative_reads() -> None:
    w, b = leaf(1, 2), leaf(3, 4)
    f = sg.jit(lambda x: sg.sum(w * x + b))
    y = f(2 * sg.ones(2))
    with sg.no_grad():
        b.mul_(5)
    y.backward()
    equal(w.grad, [2, 2])

    y = sg.jit(lambda x: sg.sum(w * w * x))(sg.ones(2))
    with sg.no_grad():
        w.mul_(5)
    with pytest.raises(
        sg.InPlaceError, match=r"operand 1 of type .*, was changed in place since, changed at test_"
    ):
        y.backward()


def test_what_it_gave_may_be_changed() -> None:
    x = leaf(0, 1)
    y = sg.jit(sg.exp)(x)
    y.mul_(2)
    y.sum().backward()
    equal(x.grad, 2 * np.exp([0.0, 1.0]))


def test_only_what_is_wanted_gets_a_gradient() -> None:
    f = sg.jit(lambda x, z: (sg.sum(x**3 * z), sg.sum(z)))
    x, z = leaf(1, 2), leaf(3, 4)
    equal(sg.grad(f(x, z)[0], z)[0], [1, 8])
    equal(sg.grad(f(x, z)[1], [x, z], materialize_grads=True)[0], [0, 0])
    first, second = f(x, z)
    equal(sg.grad([first, second], [x, z], [sg.tensor(1.0), sg.tensor(2.0)])[1], [3, 10])
    first, _ = f(x, sg.tensor([3.0, 4.0]))
    equal(sg.grad(first, x)[0], [9, 48])


def test_sizes_that_depend_on_values() -> None:
    f = sg.jit(lambda x: (x[x > 0] ** 2, sg.sum(x[x > 0] ** 3)))
    x = leaf(1, -2, 3)
    chosen, cubes = f(x)
    equal(chosen, [1, 9])
    (chosen.sum() + cubes).backward()
    equal(x.grad, [5, 0, 33])
    (first,) = sg.grad(f(x)[1], x, create_graph=True)
    equal(sg.grad(first.sum(), x)[0], [6, 0, 18])
    assert f.cache_info().misses == 1


def test_a_branch_that_is_not_taken_is_silent_in_every_order() -> None:
    f = sg.jit(lambda x: sg.sum(sg.where(x > 0, sg.sqrt(x) * x, 0.0)))
    x = leaf(0, 4)
    (first,) = sg.grad(f(x), x, create_graph=True)
    equal(first, [0, 3])
    (second,) = sg.grad(first.sum(), x, create_graph=True)
    equal(second, [0, 0.375])
    equal(sg.grad(second.sum(), x)[0], [0, -0.046875])


def test_complex_numbers() -> None:
    x = sg.tensor([1 + 2j, 3 - 1j], requires_grad=True)

    def f(x: Any) -> Any:
        return sg.sum(sg.real(sg.exp(x) * sg.conj(x) * x))

    np.testing.assert_allclose(sg.grad(sg.jit(f)(x), x)[0], sg.grad(f(x), x)[0], rtol=1e-14)


def test_hooks_and_checks_work_on_it() -> None:
    x = leaf(0.5, 1.5)
    seen: list[Any] = []
    y = sg.jit(lambda x: sg.sin(x))(x)
    y.register_hook(seen.append)
    y.sum().backward()
    equal(seen[0], [1, 1])
    sg.testing.gradgradcheck(sg.jit(lambda x: sg.sin(x) * x[0]), x)


def test_pictures_and_anomalies_of_the_backward_pass() -> None:
    x = leaf(0, 1)
    y = sg.jit(sg.sqrt)(x)
    assert "sqrt" in sg.draw(y).dot
    with sg.detect_anomaly(), pytest.raises(sg.AnomalyError, match="backward through sqrt"):
        (y * 0.0).sum().backward()


def test_a_loss_goes_down() -> None:
    w = leaf(0, 0)
    loss_of = sg.jit(lambda x, y: sg.mean((x @ w - y) ** 2))
    x = rng.normal(size=(20, 2))
    y = x @ np.array([1.0, -2.0])
    for _ in range(100):
        w.grad = None
        loss_of(x, y).backward()
        with sg.no_grad():
            w -= 0.3 * w.grad
    np.testing.assert_allclose(w, [1, -2], atol=1e-8)
    assert loss_of.cache_info()[:2] == (99, 1)


def test_a_derivative_that_reads_what_was_not_saved_gives_way_to_the_complete_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x = sg.placeholder("x", (2,))
    callee = Callee("f", [x], [sg.exp(x), sg.sin(x)], level="exact", backend=None)
    t = leaf(0, 1)
    first, _ = callee.call([t])
    application = callee.application(1)
    monkeypatch.setattr(application, "_reads", set())
    equal(sg.grad(first.sum(), t)[0], np.exp([0.0, 1.0]))
