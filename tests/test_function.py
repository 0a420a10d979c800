"""Compiled functions: what they take, what they give, and what a failing call leaves behind."""

from __future__ import annotations

import gc
import re
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.backends import find_backend
from symgrad.errors import ArgumentError, DTypeError, FeedError, ShapeError, SymgradError
from symgrad.function import evaluate, function
from symgrad.ir.graph import Graph
from symgrad.ir.op import OPS, Op
from symgrad.ops.families import Array, nondifferentiable
from symgrad.types import TensorType, fresh_dim
from tests.counting import calls_of

HERE = re.escape("test_function.py:") + r"\d+"


def refusal(kind: type[SymgradError], call: Callable[[], Any]) -> str:
    """The message of an error of exactly this kind, with line numbers as ``N``."""
    with pytest.raises(kind) as caught:
        call()
    assert type(caught.value) is kind
    return re.sub(HERE, "test_function.py:N", str(caught.value))


class TestCalling:
    def test_one_output_is_an_array_and_several_a_list(self) -> None:
        x = sg.placeholder("x")
        assert type(function(x, x)(1.0)) is np.ndarray
        assert function(x, [x])(1.0) == [np.array(1.0)]
        assert function([x], (x, x + 1.0))(1.0) == [1.0, 2.0]
        assert function([], [])() == []

    def test_in_order_or_by_name(self) -> None:
        x, y = sg.placeholder("x"), sg.placeholder("y")
        f = function([x, y], x - y)
        assert f(3.0, 1.0) == f(3.0, y=1.0) == f(y=1.0, x=3.0) == 2.0

    def test_a_placeholder_called_self(self) -> None:
        x = sg.placeholder("self")
        assert function(x, x)(self=2.0) == 2.0

    def test_unused_inputs(self) -> None:
        x, y = sg.placeholder("x"), sg.placeholder("y", ("n",))
        assert function([x, y], x)(1.0, [1.0, 2.0]) == 1.0

    def test_any_symbol_is_an_input(self) -> None:
        x = sg.placeholder("x", (2,))
        y = sg.exp(x)
        assert function(y, y * y)([1.0, 2.0]).tolist() == [1.0, 4.0]
        assert function([x, y], x + y)([1.0, 2.0], [10.0, 20.0]).tolist() == [11.0, 22.0]

    def test_a_variable_as_an_input(self) -> None:
        w = sg.variable(3.0)
        assert function(w, w * w)(2.0) == 4.0
        assert function([], w * w)() == 9.0

    def test_an_output_that_is_an_input_or_a_leaf(self) -> None:
        x, w, c = sg.placeholder("x", (2,)), sg.variable([1.0]), sg.constant([2.0])
        feed = np.ones(2)
        results = function(x, [x, w, c])(feed)
        assert [r.tolist() for r in results] == [[1.0, 1.0], [1.0], [2.0]]
        for result in results:
            result[...] = 7.0
        assert feed.tolist() == [1.0, 1.0]
        assert w.value.tolist() == [1.0]
        assert c.value.tolist() == [2.0]

    def test_levels(self) -> None:
        x = sg.placeholder("x")
        y = sg.log(sg.exp(x) + 1.0)
        assert np.isinf(function(x, y, level="none")(1000.0))
        assert function(x, y)(1000.0) == 1000.0
        assert function(x, y, level="none").optimized.symbols == Graph(x, y).symbols

    def test_views_on_the_function(self) -> None:
        x, w = (
            sg.placeholder("x", ("n", 3), "float32"),
            sg.variable(np.ones(3, np.float32), name="w"),
        )
        f = function(x, [x * w * 1.0], {w: w + 1.0})
        assert repr(f) == "<function (x: f32[n, 3]) -> [f32[n, 3]], updates w>"
        assert f.inputs == (x,)
        assert len(f.outputs) == 1
        assert list(f.updates) == [w]
        assert len(f.graph.outputs) == 2
        assert len(f.optimized.symbols) < len(f.graph.symbols)
        assert "def call(x):" in f.source

    def test_an_error_while_running_names_the_symbol(self) -> None:
        x = sg.placeholder("x", ("n", "n"))
        f = function(x, sg.linalg.cholesky(x))
        with pytest.raises(np.linalg.LinAlgError) as caught:
            f([[-1.0]])
        (note,) = caught.value.__notes__
        assert re.fullmatch(rf"while computing cholesky: f64\[n, n\], created at {HERE}", note)


class TestFeeds:
    def test_casts_within_a_kind_and_upwards(self) -> None:
        x = sg.placeholder("x", (2,), "float32")
        f = function(x, x)
        for feed in ([1, 2], (1.0, 2.0), np.array([1.0, 2.0]), np.array([1, 2], np.uint8)):
            result = f(feed)
            assert result.dtype == np.float32
            assert result.tolist() == [1.0, 2.0]
        assert f(np.array([True, False])).tolist() == [1.0, 0.0]
        assert f(np.array([1.0, 2.0], ">f4")).tolist() == [1.0, 2.0]
        z = sg.placeholder("z", (), "complex64")
        assert function(z, z)(2) == 2.0
        k = sg.placeholder("k", (), "uint8")
        assert function(k, k)(np.int64(255)) == 255
        assert function(x, x)([1e300, 1.0]).tolist() == [np.inf, 1.0]

    def test_tensors_are_values(self) -> None:
        x = sg.placeholder("x", (2,))
        assert function(x, x + x)(sg.asarray([1.0, 2.0])).tolist() == [2.0, 4.0]
        assert function(x, x + x)(x=sg.asarray([1.0, 2.0])).tolist() == [2.0, 4.0]

    @pytest.mark.parametrize("order", ["C", "F", "strided", "reversed"])
    def test_any_layout(self, order: str) -> None:
        x = sg.placeholder("x", (3, 4))
        values = np.arange(12.0).reshape(3, 4)
        feed = {
            "C": values,
            "F": np.asfortranarray(values),
            "strided": np.repeat(values, 2, axis=1)[:, ::2],
            "reversed": values[::-1][::-1],
        }[order]
        f = function(x, [x, sg.exp(x), sg.sum(sg.tanh(x), axis=0)])
        for got, wanted in zip(f(feed), f(values.copy()), strict=True):
            assert got.tobytes() == wanted.tobytes()
            assert got.flags.c_contiguous

    def test_read_only_feeds(self) -> None:
        x = sg.placeholder("x", (2,))
        feed = np.ones(2)
        feed.flags.writeable = False
        result = function(x, x)(feed)
        assert result.flags.writeable

    def test_empty(self) -> None:
        x = sg.placeholder("x", ("n", 2))
        f = function(x, [x * 2.0, sg.sum(x)])
        result, total = f(np.ones((0, 2)))
        assert result.shape == (0, 2)
        assert total == 0.0

    def test_missing_unknown_and_too_many(self) -> None:
        x, y = sg.placeholder("x", ("n",)), sg.placeholder("y", (), "int32")
        f = function([x, y], [x * 1.5, y])
        assert refusal(FeedError, f) == (
            "function: a value is missing: expected 'x': f64[n], 'y': i32[]"
        )
        assert refusal(FeedError, lambda: f([1.0])) == (
            "function: a value is missing: expected 'y': i32[]"
        )
        assert refusal(FeedError, lambda: f(1, 2, 3)) == (
            "function: too many values: expected 'x', 'y', got 3"
        )
        assert refusal(FeedError, lambda: f([1.0], z=1)) == (
            "function: no input is called 'z': expected 'x', 'y'"
        )
        assert refusal(FeedError, lambda: f([1.0], 1, x=[1.0])) == (
            "function: input 'x' is given twice"
        )
        twins = [sg.placeholder("t"), sg.placeholder("t")]
        assert refusal(FeedError, lambda: function(twins, twins[0] + twins[1])(t=1.0)) == (
            "function: 2 inputs are called 't'; hint: give them in order"
        )
        assert function(twins, twins[0] - twins[1])(3.0, 1.0) == 2.0
        unnamed = sg.exp(x)
        assert refusal(FeedError, lambda: function(unnamed, unnamed * 2.0)()) == (
            "function: a value is missing: expected number 0: f64[n]"
        )

    def test_element_types(self) -> None:
        k, x = sg.placeholder("k", (), "uint8"), sg.placeholder("x", (2,))
        f, g = function(k, k), function(x, x)
        cure = "; hint: a value is cast within its kind only; convert it with astype; "
        cure += "created at test_function.py:N"
        assert refusal(DTypeError, lambda: f(1.5)) == (
            f"input 'k': another kind of element type: expected uint8, got float64{cure}"
        )
        assert refusal(DTypeError, lambda: g([1j, 0.0])) == (
            f"input 'x': another kind of element type: expected float64, got complex128{cure}"
        )
        assert refusal(DTypeError, lambda: f(300)) == (
            "input 'k': 300 does not fit: expected uint8, got int64; created at test_function.py:N"
        )
        assert refusal(DTypeError, lambda: f(-1)) == (
            "input 'k': -1 does not fit: expected uint8, got int64; created at test_function.py:N"
        )
        assert refusal(DTypeError, lambda: g(["a", "b"])) == (
            "input 'x': not an array of numbers: expected f64[2], got <U1; "
            "created at test_function.py:N"
        )
        assert refusal(DTypeError, lambda: g(None)) == (
            "input 'x': not an array of numbers: expected f64[2], got object; "
            "created at test_function.py:N"
        )
        assert refusal(ShapeError, lambda: g([[1.0], [1.0, 2.0]])).startswith(
            "input 'x': not an array: got "
        )
        assert refusal(FeedError, lambda: g(x)) == (
            "input 'x': a symbol has no value: got <placeholder 'x': f64[2]>; "
            "hint: build one graph with sg.substitute"
        )

    def test_shapes(self) -> None:
        x = sg.placeholder("x", ("batch", 3), "float32")
        y = sg.placeholder("y", ("batch",))
        f = function([x, y], [x, y])
        assert refusal(ShapeError, lambda: f(np.ones(3), [1.0])) == (
            "input 'x': wrong number of axes: expected f32[batch, 3], got shape (3,); "
            "created at test_function.py:N"
        )
        assert refusal(ShapeError, lambda: f(np.ones((2, 4)), [1.0])) == (
            "input 'x': shape does not fit on axis 1: expected f32[batch, 3] with batch = 2 "
            "(axis 0 of 'x'), got shape (2, 4); created at test_function.py:N"
        )
        assert refusal(ShapeError, lambda: f(np.ones((2, 3)), [1.0])) == (
            "input 'y': shape does not fit on axis 0: expected f64[batch] with batch = 2 "
            "(axis 0 of 'x'), got shape (1,); created at test_function.py:N"
        )
        z = sg.placeholder("z", (3,))
        assert refusal(ShapeError, lambda: function(z, z)(1.0)) == (
            "input 'z': wrong number of axes: expected f64[3], got shape (); "
            "created at test_function.py:N"
        )

    def test_sizes_that_are_expressions(self) -> None:
        x, y = sg.placeholder("x", ("2*n + 1",)), sg.placeholder("y", ("n*m", "m"))
        f = function([x, y], [x, y])
        assert f(np.ones(7), np.ones((6, 2)))[0].shape == (7,)
        assert refusal(ShapeError, lambda: f(np.ones(6), np.ones((6, 2)))) == (
            "input 'x': shape does not fit on axis 0: expected f64[2*n + 1], got shape (6,); "
            "created at test_function.py:N"
        )
        assert refusal(ShapeError, lambda: f(np.ones(7), np.ones((5, 2)))) == (
            "input 'y': shape does not fit on axis 0: expected f64[m*n, m] with m = 2 "
            "(axis 1 of 'y'), n = 3 (axis 0 of 'x'), got shape (5, 2); "
            "created at test_function.py:N"
        )
        z = sg.placeholder("z", ("a*b",))
        assert "the size of axis 0 does not follow" in refusal(
            ShapeError, lambda: function(z, z)(np.ones(4))
        )

    def test_constraints_are_checked_before_anything_is_computed(self) -> None:
        x, y = sg.placeholder("x", ("a",)), sg.placeholder("y", ("b",))
        w = sg.variable(0.0)
        f = function([x, y], x + y, {w: w + 1.0})
        assert f([1.0, 2.0], [3.0, 4.0]).tolist() == [4.0, 6.0]
        message = (
            "add: sizes of axis -1 differ: "
            "expected a = 2 (axis 0 of 'x', created at test_function.py:N), "
            "got b = 1 (axis 0 of 'y', created at test_function.py:N); "
            "created at test_function.py:N"
        )
        assert refusal(ShapeError, lambda: f([1.0, 2.0], [3.0])) == message
        assert refusal(ShapeError, lambda: evaluate(x + y, {x: [1.0, 2.0], y: [3.0]})) == message
        assert w.value == 1.0

    def test_a_size_that_nothing_tells(self) -> None:
        x = sg.placeholder("x", ("n",))
        total = sg.sum(x)
        n = x.shape[0]
        assert refusal(ShapeError, lambda: function(total, total * n)) == (
            "size: no size n follows from the inputs: "
            "expected an input with an axis that is just n, or sizes of inputs instead; "
            "created at test_function.py:N"
        )

    def test_a_new_name_in_a_shape(self) -> None:
        x = sg.placeholder("x", ("n",))
        pairs = sg.reshape(x, ("half", 2))
        message = (
            "reshape: no size half follows from the inputs: "
            "expected an input with an axis that is just half, or sizes of inputs instead; "
            "created at test_function.py:N"
        )
        assert refusal(ShapeError, lambda: function(x, pairs)) == message
        assert refusal(ShapeError, lambda: evaluate(pairs, {x: [1.0, 2.0]})) == message
        half = x.shape[0] // 2
        assert evaluate(sg.reshape(x, (half, 2)), {x: [1.0, 2.0]}).tolist() == [[1.0, 2.0]]


@pytest.fixture
def nonzero() -> Iterator[Op]:
    """An op whose result's size only its value tells."""

    def places(x: Array) -> Any:
        return np.flatnonzero(x)

    places.__annotations__ = {"x": "Array"}
    op = nondifferentiable(
        type=lambda x: TensorType((fresh_dim(),), np.int64), reason="a test", name="places"
    )(places)
    yield op
    del OPS["places"]


class TestSizesThatAreComputed:
    def test_a_size_is_bound_where_it_is_computed(self, nonzero: Op) -> None:
        x = sg.placeholder("x", ("n",))
        found = nonzero(x)
        outputs = [found, found.shape[0] * sg.sum(x), sg.zeros((found.shape[0], 2))]
        feed = np.array([0.0, 2.0, 0.0, 3.0])
        for results in (function(x, outputs)(feed), evaluate(outputs, {x: feed})):
            assert results[0].tolist() == [1, 3]
            assert results[1] == 10.0
            assert results[2].shape == (2, 2)

    def test_its_constraints_are_checked_then(self, nonzero: Op) -> None:
        x, y = sg.placeholder("x", ("n",)), sg.placeholder("y", ("m",), "int64")
        f = function([x, y], nonzero(x) + y, level="none")
        assert f([1.0, 0.0], [5]).tolist() == [5]
        with pytest.raises(ValueError, match=r"add: sizes of axis -1 differ: _\d+ and m"):
            f([1.0, 0.0], [5, 6])


class TestSeveralOutputs:
    def test_parts_are_arrays_of_their_own(self) -> None:
        x = sg.placeholder("x", (3, 3))
        parts = sg.linalg.qr(x)
        feed = np.arange(9.0).reshape(3, 3) + np.eye(3)
        q, r, again = function(x, [*parts, parts[0]])(feed)
        np.testing.assert_allclose(q @ r, feed, atol=1e-12)
        assert not np.shares_memory(q, again)
        assert np.array_equal(q, evaluate(parts[0], {x: feed}))

    def test_a_pack_is_no_output(self) -> None:
        x = sg.placeholder("x", (3, 3))
        (pack,) = sg.linalg.qr(x)[0].args
        name = pack.op.name
        assert refusal(ArgumentError, lambda: function(x, pack)) == (
            f"function: {name} has several outputs: expected one array, got {pack.type}; "
            "hint: take one of them; created at test_function.py:N"
        )


class TestBuilding:
    def test_free_placeholders(self) -> None:
        x, y = sg.placeholder("x"), sg.placeholder("y")
        assert refusal(FeedError, lambda: function(x, x + y)) == (
            "function: the outputs need what is not among the inputs: placeholder 'y' "
            "(created at test_function.py:N); hint: list every placeholder among the inputs"
        )

    def test_an_input_twice(self) -> None:
        x = sg.placeholder("x")
        assert refusal(ArgumentError, lambda: function([x, x], x)) == (
            "function: the input <placeholder 'x': f64[]> is given twice"
        )

    def test_no_symbols(self) -> None:
        x = sg.placeholder("x")
        assert refusal(ArgumentError, lambda: function([x], [3.0])) == (
            "function: outputs[0] is no symbol: expected a symbol, got float; "
            "hint: sg.constant makes a symbol of a value"
        )
        assert refusal(ArgumentError, lambda: function(3, x)) == (
            "function: inputs is no symbol: expected a symbol or a sequence of them, got int"
        )
        assert refusal(ArgumentError, lambda: function(x, None)) == (
            "function: outputs is no symbol: expected a symbol or a sequence of them, "
            "got NoneType; hint: sg.constant makes a symbol of a value"
        )
        assert refusal(ArgumentError, lambda: function(x, x, [(x, x)])) == (  # pyright: ignore[reportArgumentType]
            "function: updates is no mapping: expected {symbol: value}, got list"
        )

    def test_levels_and_backends(self) -> None:
        x = sg.placeholder("x")
        assert refusal(ArgumentError, lambda: function(x, x, level="best")) == (
            "function: no such level: expected none, exact, fast, got 'best'"
        )
        assert refusal(ArgumentError, lambda: function(x, x, backend="cuda")) == (
            "function: no such backend: expected numpy, got 'cuda'"
        )
        assert refusal(ArgumentError, lambda: function(x, x, backend=3)) == (  # pyright: ignore[reportArgumentType]
            "function: no such backend: expected numpy, got 3"
        )
        assert function(x, x, backend=find_backend("numpy"))(1.0) == 1.0
        assert function(x, x, backend="numpy")(1.0) == 1.0

    def test_updates_of_another_type(self) -> None:
        w = sg.variable(np.ones(2, np.float32), name="w")
        assert refusal(DTypeError, lambda: function([], [], {w: sg.astype(w, "float64")})) == (
            "updates: the new value of variable 'w' has another element type: "
            "expected f32[2], got f64[2]; hint: cast it: sg.astype(value, sg.float32); "
            "created at test_function.py:N"
        )
        assert refusal(ShapeError, lambda: function([], [], {w: sg.sum(w)})) == (
            "updates: the new value of variable 'w' has another shape: expected f32[2], got f32[]; "
            "created at test_function.py:N"
        )
        x = sg.placeholder("x")
        assert refusal(ArgumentError, lambda: function(x, x, {x: x})) == (
            "updates: only a variable can be updated: got <placeholder 'x': f64[]>"
        )
        assert refusal(ArgumentError, lambda: function([], [], {w: 1.0})) == (
            "updates: the new value of <variable 'w': f32[2]> is no symbol: got 1.0; "
            "hint: sg.constant makes a symbol of a value"
        )


class TestUpdates:
    def test_outputs_see_the_old_values(self) -> None:
        count = sg.variable(0)
        step = function([], count, {count: count + 1})
        assert [int(step()) for _ in range(3)] == [0, 1, 2]
        assert int(count.value) == 3

    def test_all_updates_see_the_old_values(self) -> None:
        a, b = sg.variable([1.0]), sg.variable([2.0])
        swap = function([], [], {a: b, b: a})
        assert swap() == []
        assert (a.value.tolist(), b.value.tolist()) == ([2.0], [1.0])
        swap()
        assert (a.value.tolist(), b.value.tolist()) == ([1.0], [2.0])

    def test_the_version_rises(self) -> None:
        w = sg.variable(1.0)
        step = function([], [], {w: w * 2.0})
        before = w.payload.version
        step()
        assert w.payload.version == before + 1

    def test_new_values_belong_to_nobody_else(self) -> None:
        x, w, u = sg.placeholder("x", (3,)), sg.variable(np.zeros(3)), sg.variable(np.zeros(3))
        y = x * 2.0
        feed = np.ones(3)
        (shown,) = function(x, [y], {w: y, u: y})(feed)
        kept = function(x, [], {w: x})
        shown[...] = 9.0
        assert w.value.tolist() == u.value.tolist() == [2.0, 2.0, 2.0]
        assert not np.shares_memory(w.payload.array, u.payload.array)
        kept(feed)
        feed[...] = 5.0
        assert w.value.tolist() == [1.0, 1.0, 1.0]

    def test_who_read_a_value_keeps_it(self) -> None:
        w = sg.variable(np.zeros(500))
        step = function([], [], {w: w + 1.0})
        before = w.value
        step()
        step()
        assert before.max() == 0.0
        assert w.value.min() == 2.0

    def test_a_failing_call_changes_nothing(self) -> None:
        a, b = sg.variable(1.0), sg.variable(2.0)
        m = sg.placeholder("m", (2, 2))
        step = function(m, [], {a: a + 1.0, b: sg.sum(sg.linalg.cholesky(m)) + b})
        versions = a.payload.version, b.payload.version
        with pytest.raises(np.linalg.LinAlgError):
            step(-np.eye(2))
        assert (float(a.value), float(b.value)) == (1.0, 2.0)
        assert (a.payload.version, b.payload.version) == versions
        step(np.eye(2))
        assert (float(a.value), float(b.value)) == (2.0, 4.0)

    def test_a_variable_that_is_only_written(self) -> None:
        x, w = sg.placeholder("x"), sg.variable(0.0, name="x")
        function(x, [], {w: x})(4.0)
        assert w.value == 4.0

    def test_a_transposed_new_value(self) -> None:
        w = sg.variable(np.arange(4.0).reshape(2, 2))
        step = function([], [], {w: sg.permute_dims(w, (1, 0))})
        step()
        assert w.value.tolist() == [[0.0, 2.0], [1.0, 3.0]]
        assert w.payload.array.flags.c_contiguous


class TestEvaluate:
    def test_feeds_by_symbol_and_by_name(self) -> None:
        x, y = sg.placeholder("x"), sg.placeholder("y")
        assert evaluate(x - y, {x: 3.0, "y": 1.0}) == 2.0
        assert evaluate([x, x - y], {"x": 3.0, "y": 1.0}) == [3.0, 2.0]
        assert (x - y).eval({x: 3.0, y: 1.0}) == 2.0

    def test_feeding_what_lies_between(self) -> None:
        x = sg.placeholder("x")
        y = sg.exp(x)
        assert evaluate(y * y, {y: 3.0}) == 9.0
        w = sg.variable(2.0)
        assert evaluate(w * w) == 4.0
        assert evaluate(w * w, {w: 3.0}) == 9.0

    def test_results_are_fresh(self) -> None:
        w = sg.variable([1.0, 2.0])
        value = evaluate(w)
        value[...] = 0.0
        assert w.value.tolist() == [1.0, 2.0]
        assert type(evaluate(sg.sum(w))) is np.ndarray

    def test_refusals(self) -> None:
        x, y = sg.placeholder("x"), sg.placeholder("y")
        assert refusal(FeedError, lambda: evaluate(x + y, {x: 1.0})) == (
            "evaluate: the outputs need what is not fed: placeholder 'y' "
            "(created at test_function.py:N); hint: feed it: {symbol: value}"
        )
        assert refusal(FeedError, lambda: evaluate(x, {"z": 1.0})) == (
            "evaluate: no placeholder is called 'z': expected 'x'"
        )
        assert refusal(FeedError, lambda: evaluate(x, {"x": 1.0, x: 1.0})) == (
            "evaluate: placeholder 'x' is given twice"
        )
        twins = [sg.placeholder("t"), sg.placeholder("t")]
        assert refusal(FeedError, lambda: evaluate(twins[0] + twins[1], {"t": 1.0})) == (
            "evaluate: 2 placeholders are called 't': expected 't', 't'"
        )
        assert refusal(ArgumentError, lambda: evaluate(x, 3.0)) == (  # pyright: ignore[reportArgumentType]
            "evaluate: feeds is no mapping: expected {symbol: value}, got float"
        )
        assert refusal(ArgumentError, lambda: evaluate(None)) == (
            "evaluate: outputs is no symbol: expected a symbol or a sequence of them, "
            "got NoneType; hint: sg.constant makes a symbol of a value"
        )
        assert refusal(ArgumentError, lambda: evaluate([x, 1.0], {"x": 1.0})) == (
            "evaluate: outputs[1] is no symbol: expected a symbol, got float; "
            "hint: sg.constant makes a symbol of a value"
        )


class TestThreads:
    def in_threads(self, work: Callable[[int], None], count: int = 8) -> None:
        failures: list[BaseException] = []

        def guarded(k: int) -> None:
            try:
                work(k)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=guarded, args=(k,)) for k in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []

    def test_one_function_in_many_threads(self) -> None:
        x = sg.placeholder("x", (400,))
        y = sg.exp(sg.sin(x)) * sg.log(x + 2.0)
        f = function(x, [y, sg.sum(y)])

        def work(k: int) -> None:
            feed = np.linspace(-1.0, 1.0, 400) * (k + 1) / 8
            expected = np.exp(np.sin(feed)) * np.log(feed + 2.0)
            for _ in range(50):
                np.testing.assert_allclose(f(feed)[0], expected, rtol=1e-12)

        self.in_threads(work)

    def test_readers_see_all_of_a_commit_or_none(self) -> None:
        a, b = sg.variable(np.zeros(50)), sg.variable(np.zeros(50))
        step = function([], [], {a: a + 1.0, b: b - 1.0})
        total = function([], sg.max(sg.abs(a + b)))

        def work(k: int) -> None:
            for _ in range(200):
                if k % 2:
                    step()
                else:
                    assert total() == 0.0

        self.in_hasty_threads(work)

    def in_hasty_threads(self, work: Callable[[int], None]) -> None:
        """In threads that take turns as often as they can."""
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-5)
        try:
            self.in_threads(work, 4)
        finally:
            sys.setswitchinterval(interval)

    def test_no_update_is_lost(self) -> None:
        count, twice = sg.variable(0), sg.variable(0)
        step = function([], count, {count: count + 1, twice: twice + 2})
        other = function([], [], {twice: twice - 1, count: count + 1})

        def work(k: int) -> None:
            for _ in range(200):
                (step if k % 2 else other)()

        self.in_hasty_threads(work)
        assert (int(count.value), int(twice.value)) == (800, 400)

    def test_equal_construction_gives_one_symbol_in_all_threads(self) -> None:
        x = sg.placeholder("x")

        def work(k: int) -> None:
            for _ in range(500):
                first, second = sg.sin(x), sg.sin(x)
                assert first is second
                del first, second  # others make it anew at this moment

        self.in_hasty_threads(work)


class TestMemory:
    def test_all_dies_with_its_last_user(self) -> None:
        gc.collect()
        gc.disable()
        try:
            x, w = sg.placeholder("x", ("n", 3)), sg.variable(np.ones((3, 4)))
            loss = sg.mean(sg.square(sg.tanh(x @ w)) + sg.constant(np.ones((100, 4))))
            (slope,) = sg.grad(loss, w)
            f = function(x, [loss], {w: w - 0.1 * slope})
            f(np.ones((100, 3)))
            assert len(f.source) > 0
            refs = [weakref.ref(one) for one in (x, w, loss, slope, f, f.graph, f.optimized)]
            del x, w, loss, slope, f
            assert [ref() for ref in refs] == [None] * len(refs)
        finally:
            gc.enable()


class TestSize:
    def chain(self, length: int) -> tuple[Any, Any]:
        x = sg.placeholder("x")
        y = x
        for _ in range(length // 2):
            y = sg.sin(y) * 0.5
        return x, y

    def test_two_hundred_thousand_ops(self) -> None:
        x, y = self.chain(200_000)
        compiled = function(x, y, level="none")
        assert float(compiled(0.5)) == float(evaluate(y, {x: 0.5}, level="none"))

    def test_compiling_takes_linear_time(self) -> None:
        def cost(length: int) -> int:
            x, y = self.chain(length)
            return calls_of(lambda: function(x, y).source)

        assert cost(4_000) <= 2.1 * cost(2_000)

    def test_differentiating_takes_linear_time(self) -> None:
        def cost(length: int) -> int:
            x, y = self.chain(length)
            return calls_of(lambda: sg.grad(y, x, mode="reverse"))

        assert cost(4_000) <= 2.1 * cost(2_000)

    def test_many_inputs_and_outputs(self) -> None:
        inputs = [sg.placeholder(f"x{k}") for k in range(500)]
        f = function(inputs, [inputs[0] * symbol for symbol in inputs])
        assert [float(r) for r in f(*range(500))][:3] == [0.0, 0.0, 0.0]
        assert float(f(*range(1, 501))[-1]) == 500.0

    def test_a_small_function_is_called_directly(self) -> None:
        x = sg.placeholder("x", (10,))
        f = function(x, [sg.sum(x * x), 2.0 * x])
        feed = np.arange(10.0)
        # This call, the function's, its check of the feed, and the generated code.
        assert calls_of(lambda: f(feed)) <= 4
