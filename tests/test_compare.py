"""`compare`: one function in every mode, how far they agree and what they cost."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tracemalloc
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.compare import Comparison, Refusal, Row
from symgrad.compare.agreement import distance, is_same

rng = np.random.default_rng(3)
WEIGHT = sg.tensor(rng.normal(size=(3, 4)), requires_grad=True)
X, Y = rng.normal(size=(5, 3)), rng.normal(size=(5, 4))
QUICK: dict[str, Any] = {"repeats": 1}


def model(x: Any, y: Any) -> Any:
    return sg.mean((sg.tanh(x @ WEIGHT) - y) ** 2)


def halved(x: Any) -> Any:
    while sg.sum(x) > 1:
        x = x / 2
    return sg.sum(x)


def overflowing(x: Any) -> Any:
    return sg.sum(sg.log(1 + sg.exp(x)))


def row_of(found: Comparison, mode: str) -> Row:
    (row,) = [row for row in found.rows if row.mode == mode]
    return row


# --- agreement ------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_all_modes_agree(order: int) -> None:
    found = sg.compare(model, X, Y, modes=("eager", "static", "jit"), order=order, **QUICK)
    assert found.agrees
    assert [row.label for row in found.rows] == ["eager", "static, numpy", "jit, numpy"]
    assert [row.builds for row in found.rows] == ["every call", "once", "once"]
    assert found.rows[0].verdict == "reference"
    assert [row.refusal for row in found.rows] == [None] * 3


def test_literal_graphs_are_bit_equal() -> None:
    found = sg.compare(lambda x: sg.sum(sg.sin(x) * x), X, level="none", order=2, **QUICK)
    assert row_of(found, "static").verdict == "bit-equal"
    assert row_of(found, "static").remarks() == []


def test_a_rewrite_that_differs_is_named() -> None:
    x = np.array([1.0, -1.0, 800.0])
    found = sg.compare(overflowing, x, **QUICK)
    row = row_of(found, "static")
    assert not found.agrees
    assert (row.verdict, row.ulps, row.bit_equal) == ("differs", math.inf, False)
    assert row.worst == "the result differs most"
    assert row.first is not None
    assert row.first.startswith("%1 = softplus(%0) : f64[3], created at test_compare.py:")
    assert found.to_dict()["rows"][1]["ulps"] is None


def test_small_differences_are_counted() -> None:
    found = sg.compare(lambda x: sg.log(1 + x), np.array([1e-10, 1.0]), order=0, **QUICK)
    row = row_of(found, "static")
    assert row.agrees
    assert not row.bit_equal
    assert 0 < row.ulps < 1
    assert "%1 = log1p(%0)" in str(row.first)
    strict = sg.compare(lambda x: sg.log(1 + x), np.array([1e-10, 1.0]), ulps=1e-9, **QUICK)
    assert not strict.agrees
    assert row_of(strict, "static").verdict.startswith("differs, 0.")


def test_without_an_eager_run_no_symbol_is_named() -> None:
    found = sg.compare(overflowing, np.array([1.0]), modes=("static", "jit"), **QUICK)
    assert found.agrees
    assert found.rows[0].verdict == "reference"
    assert all(row.first is None for row in found.rows)


def test_leaves_from_outside_are_differentiated_too() -> None:
    weight = sg.tensor([800.0], requires_grad=True)
    found = sg.compare(lambda x: sg.sum(x * 0) + overflowing(weight), np.ones(2), **QUICK)
    assert not found.agrees
    assert WEIGHT.grad is None
    assert weight.grad is None


def test_structures_and_constants() -> None:
    def f(pair: Any, *, scale: float = 2.0) -> Any:
        return {"a": pair[0] * scale, "b": [pair[1]["c"] ** 2, 3]}

    found = sg.compare(f, (np.ones(2), {"c": sg.ones(1), "n": 4}), **QUICK)
    assert found.agrees
    assert found.function == "f(pair[0]: f64[2], pair[1]['c']: f64[1])"


def test_nothing_to_differentiate() -> None:
    found = sg.compare(lambda n: n + 1, np.array([1, 2]), order=2, **QUICK)
    assert found.agrees
    assert sg.compare(lambda x: sg.argmax(x), X, **QUICK).agrees


def test_arguments_stay_as_they_are() -> None:
    def f(x: Any, counts: Any) -> Any:
        if isinstance(counts, sg.Tensor):
            counts.add_(1)
        return sg.sum(x * 2)

    x, counts = sg.tensor([1.0, 2.0], requires_grad=True), np.array([1, 2])
    assert sg.compare(f, x, counts, **QUICK).agrees
    assert counts.tolist() == [1, 2]
    assert (x.grad, x._version) == (None, 0)


@pytest.mark.parametrize(
    ("a", "b", "apart"),
    [
        ([1.0, 2.0], [1.0, 2.0], 0),
        ([1.0, np.nextafter(2.0, 3)], [1.0, 2.0], 1),
        ([math.nan, math.inf], [math.nan, math.inf], 0),
        ([math.nan], [1.0], math.inf),
        ([math.inf], [1.0], math.inf),
        ([1.0], [1.0, 1.0], math.inf),
        ([1], [2], math.inf),
        ([1], [1.0], math.inf),
        ([1 + 1j], [1 + 1j], 0),
        ([], [], 0),
    ],
)
def test_distances(a: Any, b: Any, apart: float) -> None:
    assert distance(np.array(a), np.array(b)) == apart


def test_the_sign_of_zero_is_a_bit() -> None:
    assert distance(np.array(0.0), np.array(-0.0)) == 0
    assert not is_same(np.array(0.0), np.array(-0.0))
    assert is_same(np.array(math.nan), np.array(-math.nan))


# --- what only eager runs -------------------------------------------------------------------------


def test_a_function_that_decides_by_values_is_refused_by_the_graph_alone() -> None:
    found = sg.compare(halved, X, **QUICK)
    assert not found.agrees
    assert row_of(found, "eager").agrees
    row = row_of(found, "static")
    line = halved.__code__.co_firstlineno + 1
    assert row.refusal is not None
    assert row.refusal.problem == "bool: <greater: b1[]> has no value while halved is traced"
    assert row.refusal.line == f"test_compare.py:{line}"
    assert "sg.where(condition, a, b) selects" in str(row.refusal.cure)
    remark = (
        f"static, numpy: refused, {row.refusal.problem}, at {row.refusal.line}; cure: if, while"
    )
    assert remark in str(found)
    assert row.seconds is row.peak is row.symbols is None


def test_other_failures_of_one_mode_are_rows_too() -> None:
    def picky(x: Any) -> Any:
        if isinstance(x, sg.Symbol):
            raise KeyError("symbols")
        return x

    row = row_of(sg.compare(picky, X, **QUICK), "static")
    assert row.refusal == Refusal(
        "KeyError: 'symbols'", f"test_compare.py:{picky.__code__.co_firstlineno + 2}", None
    )
    assert str(row.refusal).startswith("refused, KeyError: 'symbols', at test_compare.py:")


def test_what_fails_everywhere_raises() -> None:
    with pytest.raises(sg.ShapeError, match="add"):
        sg.compare(lambda x: x + sg.ones(7), X)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"modes": ("lazy",)}, "compare: no such mode: expected eager, static, jit, got 'lazy'"),
        ({"modes": "eager"}, "compare: modes is no sequence of modes: expected .*, got 'eager'"),
        ({"modes": ()}, r"compare: modes is no sequence of modes: expected .*, got \(\)"),
        ({"order": -1}, "compare: the order is no count: expected an int >= 0, got -1"),
        ({"order": 1.5}, "compare: the order is no count: expected an int >= 0, got 1.5"),
    ],
)
def test_misuse(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(sg.ArgumentError, match=problem):
        sg.compare(model, X, Y, **options)


def test_what_is_no_function_or_no_array() -> None:
    with pytest.raises(sg.ArgumentError, match=r"compare: no function: .* got int"):
        sg.compare(3)
    with pytest.raises(sg.TraceError, match="compare: argument 'x' holds what is neither array"):
        sg.compare(halved, object())


# --- cost -----------------------------------------------------------------------------------------


def test_what_is_measured() -> None:
    found = sg.compare(model, X, Y, modes=("eager", "static", "jit"), **QUICK)
    eager, static, jit = found.rows
    assert set(static.building) == {"trace", "differentiate", "compile"}
    assert set(jit.building) == {"first call"}
    assert eager.building == {}
    assert static.symbols is not None
    assert static.rewritten is not None
    assert static.symbols >= static.rewritten > 5
    for row in found.rows:
        assert row.seconds is not None
        assert row.seconds > 0
        # At least the gradient by the weight is held.
        assert row.peak is not None
        assert row.peak >= WEIGHT.numpy().nbytes


def test_a_trace_of_memory_goes_on() -> None:
    tracemalloc.start()
    try:
        sg.compare(model, X, Y, **QUICK)
        assert tracemalloc.is_tracing()
    finally:
        tracemalloc.stop()
    sg.compare(model, X, Y, **QUICK)
    assert not tracemalloc.is_tracing()


# --- the report -----------------------------------------------------------------------------------

REPORT = Comparison(
    "<f>(x: f64[3])",
    1,
    (
        Row("eager", None, "every call", True, True, 0, seconds=4.2e-5, peak=900, reference=True),
        Row(
            "static",
            "numpy",
            "once",
            True,
            False,
            1.5,
            "the result differs most",
            "%1 = log1p(%0) : f64[3], created at <b>.py:3",
            20,
            10,
            {"trace": 0.5e-3, "compile": 1.5e-3},
            5e-7,
            3 * 2**20,
        ),
        Row("jit", "numpy", refusal=Refusal("bool: no value", "f.py:1", "sg.where")),
    ),
)


def test_the_table() -> None:
    assert str(REPORT) == (
        "<f>(x: f64[3]): value and gradient\n"
        "\n"
        "mode           agrees     symbols  build  is built      call   peak\n"
        "-------------  ---------  -------  -----  ----------  ------  -----\n"
        "eager          reference                  every call   42 µs  900 B\n"
        "static, numpy  1.5 ulps   20 > 10   2 ms  once        0.5 µs  3 MiB\n"
        "jit, numpy     refused\n"
        "\n"
        "static, numpy: the result differs most; the first symbol that differs: "
        "%1 = log1p(%0) : f64[3], created at <b>.py:3\n"
        "jit, numpy: refused, bool: no value, at f.py:1; cure: sg.where"
    )
    assert repr(REPORT) == str(REPORT)


def test_notebooks_get_it_escaped() -> None:
    shown = REPORT._repr_html_()
    assert shown.startswith("<table><caption>&lt;f&gt;(x: f64[3]): value and gradient</caption>")
    assert "<td>20 &gt; 10</td>" in shown
    assert "created at &lt;b&gt;.py:3</p>" in shown
    assert "<b>" not in shown


def test_plain_data() -> None:
    data = json.loads(json.dumps(REPORT.to_dict(), allow_nan=False))
    assert data == REPORT.to_dict()
    assert (data["function"], data["order"], data["agrees"]) == ("<f>(x: f64[3])", 1, False)
    assert data["rows"][2]["refusal"] == {
        "problem": "bool: no value",
        "line": "f.py:1",
        "cure": "sg.where",
    }


def test_the_public_name_is_the_function_however_it_is_imported() -> None:
    check = "import symgrad.compare, symgrad as sg; assert callable(sg.compare), sg.compare"
    subprocess.run([sys.executable, "-c", check], check=True)
