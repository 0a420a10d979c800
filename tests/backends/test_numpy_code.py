"""The text that the numpy backend writes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.backends.numpy.emit import Listing
from symgrad.backends.numpy.literals import attribute_text, number_text
from symgrad.backends.numpy.names import Names, Series, identifier
from symgrad.errors import RuleMissing
from symgrad.function import function
from symgrad.ir.graph import Graph
from symgrad.ir.op import OPS
from symgrad.ops.families import Array, nondifferentiable
from symgrad.types import Dim


def statements(inputs: Any, outputs: Any) -> list[str]:
    return [text for text, _ in Listing(Graph(inputs, outputs)).statements]


def results(inputs: Any, outputs: Any) -> list[str]:
    return Listing(Graph(inputs, outputs)).results


class TestNames:
    def test_placeholders_keep_their_names(self) -> None:
        x = sg.placeholder("learning rate")
        assert statements(x, x * x) == ["t0 = learning_rate * learning_rate"]

    def test_names_of_python_and_of_the_code_are_not_hidden(self) -> None:
        inputs = [sg.placeholder(name) for name in ("max", "np", "lambda", "t0", "call", "λ", "2")]
        compiled = function(inputs, inputs[0] * inputs[1] + sum(inputs[2:]), level="none")
        assert float(compiled(*range(7))) == 20.0
        listing = Listing(Graph(inputs, inputs[0] * inputs[1]))
        assert listing.inputs == ["max_", "np_", "lambda_", "t0", "call_", "_", "_2"]
        assert listing.statements[0][0] == "t0_ = max_ * np_"

    def test_equal_names(self) -> None:
        x, y = sg.placeholder("x"), sg.placeholder("x")
        assert statements([x, y], x - y) == ["t0 = x - x_"]

    def test_dimension_and_placeholder_of_one_name(self) -> None:
        n, x = sg.placeholder("n"), sg.placeholder("x", ("n",))
        listing = Listing(Graph([n, x], n * x.shape[0]))
        assert listing.inputs == ["n_", "x"]
        assert listing.dimensions == ["n = x.shape[0]"]

    def test_unique(self) -> None:
        names = Names()
        assert [names.unique("a") for _ in range(4)] == ["a", "a_", "a_2", "a_3"]
        assert Series(names, "a").fresh() == "a0"
        assert identifier("") == "_"


class TestLiterals:
    def test_weak_numbers_where_the_type_follows(self) -> None:
        x = sg.placeholder("x", (3,), "float32")
        assert statements(x, x * 2.5) == ["t0 = x * 2.5"]

    def test_typed_numbers_where_it_does_not(self) -> None:
        x = sg.placeholder("x", (3,), "float32")
        listing = Listing(Graph(x, sg.add(x, sg.constant(0.1, "float64"))))
        assert listing.statements[0][0] == "t0 = x + c0"
        assert listing.constants["c0"].dtype == np.float64
        compiled = function(x, sg.add(x, sg.constant(0.1, "float64")), level="none")
        assert compiled(np.ones(3)).dtype == np.float64

    def test_two_constants_keep_their_types(self) -> None:
        two = sg.constant(2.0, "float32")
        result = function([], sg.exp(two) * sg.constant(3.0, "float32"), level="none")()
        assert result.dtype == np.float32

    @pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, -0.0, 1e-320, 0.1])
    def test_special_values(self, value: float) -> None:
        x = sg.placeholder("x", (1,))
        result = function(x, sg.copysign(x, value) * sg.abs(sg.constant(value)), level="none")(
            [1.0]
        )
        expected = np.copysign([1.0], value) * abs(value)
        assert result.tobytes() == expected.tobytes()

    def test_texts(self) -> None:
        assert number_text(complex(-0.0, float("nan"))) == "complex(-0.0, np.nan)"
        dims = {"n": "n", "len": "len_"}
        value = (1, True, None, -0.5, "same", np.dtype("int8"), 2 * Dim.named("len") + 1, (...,))
        text = attribute_text(value, dims, repr)
        assert text == "(1, True, None, -0.5, 'same', np.dtype(\"int8\"), 2*len_ + 1, (...,))"

    def test_equal_attributes_that_print_differently(self) -> None:
        x = sg.placeholder("x", (2, 2))
        keep, drop = sg.sum(x, axis=0, keepdims=True), sg.sum(x, axis=0, keepdims=False)
        first, second = statements(x, [keep, drop])
        assert "True" in first
        assert "False" in second


class TestKernels:
    def test_operators_only_where_they_are_exact(self) -> None:
        i, z = sg.placeholder("i", (), "int8"), sg.placeholder("z", (), "complex64")
        assert statements(i, i + i) == ["t0 = np.add(i, i)"]
        assert statements(z, z / z) == ["t0 = np.divide(z, z)"]
        many = sg.placeholder("many", (3,), "int8")
        assert statements(many, many + many) == ["t0 = many + many"]

    def test_integers_wrap_silently(self) -> None:
        i = sg.placeholder("i", (), "int8")
        assert int(function(i, i + i, level="none")(100)) == -56

    def test_one_expression_is_written_in_place(self) -> None:
        x = sg.placeholder("x", (3,))
        assert statements(x, sg.reshape(x, (3, 1))) == ["t0 = np.reshape(x, (3, 1))"]
        assert statements(x, sg.astype(x, "float32")) == ["t0 = x.astype(np.float32)"]

    def test_longer_kernels_are_called(self) -> None:
        x = sg.placeholder("x", (3,))
        assert statements(x, sg.sigmoid(x)) == ["t0 = _sigmoid(x)"]
        source = function(x, sg.sigmoid(x)).source
        assert "def _sigmoid(x):\n    e = np.exp(-np.abs(x))\n" in source

    def test_dimensions_in_attributes(self) -> None:
        x = sg.placeholder("x", ("n", "m"))
        listing = Listing(Graph(x, sg.reshape(x, (x.shape[0] * x.shape[1],))))
        assert listing.dimensions == ["n = x.shape[0]", "m = x.shape[1]"]
        assert "(m * n,)" in listing.statements[0][0]

    def test_size_of_a_dimension(self) -> None:
        x = sg.placeholder("x", ("2*n + 1",))
        n = sg.sum(x) * Dim.named("n")
        listing = Listing(Graph(x, n))
        assert listing.dimensions == ["n = (x.shape[0] - (1)) // 2"]
        assert float(function(x, n)(np.ones(7))) == 21.0

    def test_errstate_only_where_needed(self) -> None:
        x = sg.placeholder("x")
        assert "errstate" not in function(x, x * x).source
        assert "errstate" in function(x, sg.log(x)).source
        assert float(function(x, sg.log(x))(0.0)) == -np.inf


class TestMemory:
    def test_names_of_dead_values_are_used_again(self) -> None:
        x = sg.placeholder("x")
        assert statements(x, sg.sin(sg.cos(sg.exp(x)))) == [
            "t0 = np.exp(x)",
            "t0 = np.cos(t0)",
            "t0 = np.sin(t0)",
        ]

    def test_large_arrays_are_dropped(self) -> None:
        x, y = sg.placeholder("x", (40, 10)), sg.placeholder("y", (10, 50))
        product = sg.matmul(sg.exp(x), sg.exp(y))
        assert "del t1" in statements([x, y], product)

    def test_inputs_and_variables_are_never_written_to(self) -> None:
        x = sg.placeholder("x", (400,))
        w = sg.variable(np.ones(400))
        lines = statements(x, sg.exp(w * x))
        assert lines == ["t0 = variable * x", "np.exp(t0, out=t0)"]

    def test_an_array_that_a_view_shows_stays(self) -> None:
        x = sg.placeholder("x", (20, 20))
        y = sg.exp(x)
        turned = sg.permute_dims(y, (1, 0))
        lines = statements(x, [turned, sg.tanh(y)])
        assert not any("out=" in line for line in lines)

    def test_an_array_that_a_view_outlives_is_not_free(self) -> None:
        x = sg.placeholder("x", (20, 20))
        turned = sg.permute_dims(sg.tanh(x), (1, 0))
        lines = statements(x, turned + sg.permute_dims(x + x, (1, 0)))
        assert not any("out=" in line for line in lines)

    def test_an_output_is_not_written_to(self) -> None:
        x = sg.placeholder("x", (400,))
        y = sg.exp(x)
        assert statements(x, [y, sg.tanh(y)]) == ["t0 = np.exp(x)", "t1 = np.tanh(t0)"]

    def test_a_free_array_of_the_type_is_taken(self) -> None:
        x = sg.placeholder("x", (400,))
        s = sg.sum(sg.exp(x))
        lines = statements(x, s + sg.sin(x))
        assert "np.sin(x, out=t0)" in lines

    def test_unlike_layouts_are_not_mixed(self) -> None:
        x = sg.placeholder("x", (20, 20))
        turned = sg.exp(sg.permute_dims(x, (1, 0)))  # numpy gives it column-major order
        assert not any("out=" in line for line in statements(x, sg.sum(turned * x, axis=0)))

    def test_results_are_fresh(self) -> None:
        x = sg.placeholder("x", (2, 2))
        y = sg.exp(x)
        z = sg.permute_dims(y, (1, 0))
        assert results(x, [x]) == ["x.copy()"]
        assert results(x, [y, y]) == ["t0", "t0.copy()"]
        assert results(x, [z]) == ["t0 if t0.flags.writeable else t0.copy()"]
        assert results(x, [z, y]) == ["t1.copy()", "t0"]
        assert results(x, [sg.sum(x)]) == ["np.asarray(t0)"]
        wide = sg.broadcast_to(sg.sum(x, axis=0), (2, 2))
        assert function(x, wide)(np.ones((2, 2))).flags.writeable

    @pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
    def test_no_kernel_gives_its_operand_back_unless_it_says_so(self) -> None:
        values = {
            dtype: np.linspace(0.25, 0.75, 6).astype(dtype) for dtype in ("float64", "complex128")
        }
        values |= {dtype: np.arange(6).astype(dtype) for dtype in ("int64", "bool")}
        checked = 0
        for op in OPS.values():
            if op.family not in ("scalar", "elementwise") or op.view or op.signature.attrs:
                continue
            for array in values.values():
                operands = [array.copy() for _ in op.signature.operands]
                try:
                    with np.errstate(all="ignore"):
                        result = op.kernel(*operands)
                except (TypeError, ValueError):
                    continue
                checked += 1
                assert not any(np.shares_memory(result, operand) for operand in operands), op.name
        assert checked > 100


class TestStandalone:
    def test_source(self) -> None:
        x = sg.placeholder("x", ("n", 2), "float32")
        w = sg.variable(np.ones(2, np.float32), name="w")
        compiled = function(x, sg.sum(x * w, axis=1), {w: w + 1.0}, level="none")
        lines = compiled.source.splitlines()
        assert lines[:8] == [
            "import numpy as np",
            "",
            "variables = {",
            '    "w": np.array([1.0, 1.0], np.float32),',
            "}",
            "",
            "",
            "def call(x):",
        ]
        assert lines[8] == '    """Takes (x: f32[n, 2]). Gives f32[n]."""'
        assert lines[10] == '    w = variables["w"]'
        body = [line.strip() for line in lines]
        assert any(line.startswith("t0 = x * w  # test_numpy_code.py:") for line in body)
        assert body[-3:] == ["result = t0", "variables.update(w=t1)", "return result"]

    def test_the_derivative_half_is_marked(self) -> None:
        x = sg.placeholder("x", (3,))
        y = sg.sum(sg.sin(x))
        source = function(x, [y, *sg.grad(y, x)]).source
        before, after = source.split("# derivatives")
        assert "np.sin(x)" in before
        assert "np.cos(x)" in after

    def run(self, path: Path, code: str, cwd: Path) -> str:
        """Run code in a fresh interpreter that cannot see this package, after loading ``path``."""
        load = f"import runpy; scope = runpy.run_path({str(path)!r}); call = scope['call']\n"
        guard = "import sys; assert not any(m.startswith('symgrad') for m in sys.modules)\n"
        done = subprocess.run(
            [sys.executable, "-I", "-c", load + guard + code],
            cwd=cwd,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def test_an_exported_file_runs_alone(self, tmp_path: Path) -> None:
        x = sg.placeholder("x", ("n", 30), "float32")
        big = np.random.default_rng(1).normal(size=(30, 2)).astype(np.float32)
        small = sg.constant([[np.inf, -0.0]], "float32")
        y = sg.softmax(sg.matmul(sg.sigmoid(x), sg.constant(big)), axis=-1)
        compiled = function(x, [y, sg.mean(y, axis=0) + small])
        compiled.export_python(tmp_path / "model.py")
        feed = np.linspace(-2, 2, 60, dtype=np.float32).reshape(2, 30)
        np.save(tmp_path / "feed.npy", feed)
        code = "import numpy; print(*[r.tobytes().hex() for r in call(numpy.load('feed.npy'))])"
        printed = self.run(tmp_path / "model.py", code, tmp_path).split()
        assert printed == [result.tobytes().hex() for result in compiled(feed)]

    def test_an_exported_training_step_trains(self, tmp_path: Path) -> None:
        w = sg.variable(np.arange(20.0), name="my w")
        step = function([], sg.sum(w), {w: w * 0.5})
        step.export_python(tmp_path / "step.py")
        code = "print(type(call()).__name__, float(call()), scope['variables']['my_w'][4])"
        assert self.run(tmp_path / "step.py", code, tmp_path) == "ndarray 95.0 1.0\n"
        assert float(w.value[4]) == 4.0

    def test_no_source_no_export(self, tmp_path: Path) -> None:
        scope: dict[str, Any] = {"np": np}
        exec("def without_source(x):\n    y = x + 1\n    return y", scope)
        kernel = scope["without_source"]
        kernel.__annotations__ = {"x": "Array", "return": "Array"}
        kernel.__module__ = "elsewhere"
        op = nondifferentiable(type=lambda x: x, reason="a test")(kernel)
        try:
            x = sg.placeholder("x")
            compiled = function(x, op(x))
            assert float(compiled(1.0)) == 2.0
            assert "has no source" in compiled.source
            with pytest.raises(RuleMissing, match="export_python: no Python source can be written"):
                compiled.export_python(tmp_path / "never.py")
            assert not (tmp_path / "never.py").exists()
        finally:
            del OPS[op.name]


_LENGTH = 2


def _twice(x: Array) -> Array:
    return _LENGTH * x


class TestSources:
    def test_what_a_kernel_uses_comes_along(self, tmp_path: Path) -> None:
        def declare() -> Any:
            return nondifferentiable(type=lambda x: x, reason="a test")(_doubled_twice)

        op = declare()
        try:
            x = sg.placeholder("x", (2,))
            compiled = function(x, op(x))
            source = compiled.source
            assert "_LENGTH = 2\n" in source
            assert "def _twice(x):\n    return _LENGTH * x\n" in source
            scope: dict[str, Any] = {}
            exec(source, scope)
            assert scope["call"]([1.0, 2.0]).tolist() == compiled([1.0, 2.0]).tolist() == [4.0, 8.0]
        finally:
            del OPS[op.name]


def _doubled_twice(x: Array) -> Array:
    once = _twice(x)
    return _twice(once)
