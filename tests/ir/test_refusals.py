"""What symbols (and tensors) refuse, and what the message says."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg

ROW = sg.placeholder("row", ("n",))
NUMBER = sg.placeholder("number")

REFUSED: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: bool(NUMBER > 0), sg.TraceError, "bool: .* has no value while the graph is built"),
    (lambda: NUMBER and 1, sg.TraceError, "hint: use sg.where or sg.logical_and"),
    (lambda: float(NUMBER), sg.TraceError, r"hint: use sg.astype, or evaluate it first"),
    (lambda: math.sin(NUMBER), sg.TraceError, "float: "),
    (lambda: int(NUMBER), sg.TraceError, "int: "),
    (lambda: range(NUMBER), sg.TraceError, "index: "),
    (lambda: len(ROW), sg.TraceError, "the size n is known only at run time"),
    (lambda: list(ROW), sg.TraceError, "iter: "),
    (lambda: len(NUMBER), sg.TraceError, "a 0-d array has no length"),
    (lambda: 1.0 in ROW, sg.TraceError, r"hint: use sg.any\(x == value\)"),
    (lambda: ROW.__setitem__(0, 1), sg.InPlaceError, r"hint: x = sg.set_at\(x, key, value\)"),
    (lambda: f"{NUMBER:.3f}", sg.TraceError, r"format '.3f': "),
    (lambda: np.asarray(ROW), sg.TraceError, r"evaluate it first with .eval\(\{...\}\)"),
    (lambda: np.percentile(ROW, 3), sg.TraceError, "numpy.percentile: no function of symgrad"),
    (lambda: np.array([NUMBER, NUMBER]), sg.TraceError, "become one with sg.stack"),
    (lambda: np.spacing(ROW), sg.TraceError, "numpy.spacing: no function of symgrad"),
    (lambda: np.add.reduce(ROW), sg.TraceError, "numpy.add.reduce: no function of symgrad"),
    (lambda: np.add(ROW, 1, out=np.ones(3)), sg.TraceError, "numpy.add: an array holds no symbols"),
    (lambda: ROW.__delitem__(0), sg.InPlaceError, "item deletion: symbols do not change"),
    (lambda: ROW.item, AttributeError, "^'Symbol' has no attribute 'item'$"),
    (lambda: pickle.dumps(sg.Graph([ROW], ROW)), sg.TraceError, "graphs are not pickled"),
    (lambda: pickle.dumps(sg.function(ROW, ROW)), sg.TraceError, "functions are not pickled"),
    (lambda: NUMBER + None, sg.DTypeError, "^add: no such element type: .* got object; created at"),
    (lambda: sg.variable(-1, dtype="uint8"), sg.DTypeError, "variable: the value does not fit: "),
    (lambda: sg.constant(1j, "float64"), sg.DTypeError, "constant: the value does not fit: "),
    (lambda: sg.constant(np.nan, "int64"), sg.DTypeError, "expected int64; created at"),
    (
        lambda: sg.placeholder("x", ("1n",)),
        sg.FormatError,
        r"^placeholder 'x': not a size: .* got '1n'; created at test_refusals.py:\d+$",
    ),
    (lambda: sg.placeholder("x", (-1,)), sg.ShapeError, r"a size is negative.*created at test_ref"),
    (lambda: sg.substitute(NUMBER, [NUMBER]), sg.ArgumentError, "substitute: no mapping: expected"),  # pyright: ignore[reportArgumentType]
    (lambda: sg.substitute(3, {}), sg.ArgumentError, "no symbol in outputs: expected a symbol"),
    (lambda: sg.substitute(NUMBER, {"number": 1}), sg.ArgumentError, "no symbol in mapping"),  # pyright: ignore[reportArgumentType]
    (lambda: sg.substitute(NUMBER, {NUMBER: 1j}), sg.DTypeError, "^substitute 'number': the new"),
    (lambda: sg.substitute(NUMBER, {NUMBER: ROW}), sg.ShapeError, "^substitute 'number': the new"),
    (lambda: sg.parse(3), sg.ArgumentError, "parse: no text: expected a str, got int"),  # pyright: ignore[reportArgumentType]
    (lambda: sg.save(3, NUMBER), sg.ArgumentError, "save: no file: expected a path or an open"),  # pyright: ignore[reportArgumentType]
    (lambda: sg.load(3), sg.ArgumentError, "load: no file: expected a path or an open binary"),  # pyright: ignore[reportArgumentType]
    (lambda: sg.save("x.sg", None), sg.ArgumentError, r"graph: outputs\[0\] is no symbol"),
    (lambda: sg.save("no/such/x.sg", NUMBER), FileNotFoundError, "'no/such/x.sg'$"),
    (lambda: ROW.stack, AttributeError, r"hint: it is a function, sg.stack\(x\)"),
    (lambda: ROW.size_of, AttributeError, "^'Symbol' has no attribute 'size_of'$"),
    (lambda: NUMBER.value, sg.TraceError, "a symbol has no value; hint: run it"),
    (lambda: pickle.dumps(ROW), sg.TraceError, "symbols are not pickled; hint: sg.save writes"),
    (lambda: sg.placeholder((3,)), sg.ArgumentError, "placeholder: the name comes first"),
    (lambda: sg.constant(NUMBER), sg.TraceError, "constant: a symbol has no value to copy"),
    (lambda: sg.variable([[1], [2, 3]]), sg.ShapeError, "nested lists differ in length"),
    (lambda: ROW.shape[0] * 1.5, sg.TraceError, r"got 1.5; hint: sg.size\(dim\) is its value"),
    (lambda: sg.evaluate(NUMBER), sg.FeedError, "need what is not fed: placeholder 'number'"),
    (lambda: sg.mean(ROW, axs=0), sg.ArgumentError, "hint: it is called 'axis' here"),
    (
        lambda: sg.mean(ROW, dim=0, axis=0),
        sg.ArgumentError,
        "'axis' was given twice, once as 'dim'",
    ),
    (lambda: sg.mean(ROW, 0, axis=0), sg.ArgumentError, "mean: argument 'axis' was given twice"),
    (lambda: sg.sum(ROW, 0, 1), sg.ArgumentError, "sum: too many arguments"),
    (lambda: sg.diff(ROW, 2), sg.ArgumentError, "diff: too many positional arguments"),
    (lambda: sg.ones((2,), 3), sg.ArgumentError, "ones: too many positional arguments"),
    (lambda: sg.concat(ROW, ROW), sg.ArgumentError, "concat: too many positional arguments"),
]


@pytest.mark.parametrize(
    ("attempt", "error", "text"), REFUSED, ids=[text[:30] for _, _, text in REFUSED]
)
def test_refusals(attempt: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        attempt()


@pytest.mark.parametrize("value", [0.5, [1.0, 2.0, 3.0], [1, 2.5], np.inf, 2**40])
def test_a_refused_value_changes_no_variable(value: Any) -> None:
    w = sg.variable(np.array([1, 2], "int32"), name="w")
    with pytest.raises((sg.ShapeError, sg.DTypeError), match="variable 'w': the new value"):
        w.value = value
    assert w.value.tolist() == [1, 2]


def test_numpy_functions_build_symbols() -> None:
    x = sg.placeholder("x", (3,))
    assert np.sum(x) is sg.sum(x)
    assert np.concatenate([x, x]).shape == (6,)
    assert np.mean(x, axis=0) is sg.mean(x, axis=0)
    assert np.exp(x) is sg.exp(x)
    assert np.sum(x, 0) is sg.sum(x, axis=0)
    assert np.tensordot(x, x, 1) is sg.tensordot(x, x, axes=1)
    assert (np.size(x), np.shape(x), np.ndim(x)) == (3, (3,), 1)
    assert (np.ones((2, 3)) @ x).shape == (2,)
    assert np.float64(2.0) * x is 2.0 * x
    assert round(x[0]) is sg.round(x[0])


def test_substituted_values_are_cast_within_their_kind() -> None:
    x = sg.placeholder("x", (3,))
    assert sg.substitute(x * x, {x: [1, 2, 3]}).eval().tolist() == [1.0, 4.0, 9.0]


def test_copies_are_the_symbol_itself() -> None:
    assert copy.copy(ROW) is ROW
    assert copy.deepcopy([ROW])[0] is ROW
    graph, function = sg.Graph([ROW], ROW), sg.function(ROW, ROW)
    assert copy.deepcopy(graph) is graph
    assert copy.deepcopy([function])[0] is function
    assert pickle.loads(pickle.dumps(sg.sin)) is sg.sin
    assert {ROW: 1}[ROW] == 1
    assert ROW in {ROW}
