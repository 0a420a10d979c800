"""Generated code gives what the reference kernels give, bit for bit, and owns what it writes to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symgrad as sg
from symgrad.backends.numpy import buffers
from symgrad.backends.numpy.emit import Listing
from symgrad.errors import DTypeError
from symgrad.function import evaluate, function
from symgrad.ir.graph import Graph

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # inf - inf, as in numpy

ROWS, COLUMNS = 18, 17  # more elements than `buffers.SMALL`, so that arrays are reused

UNARY: tuple[Callable[[Any], Any], ...] = (
    sg.tanh,
    sg.exp,
    sg.negative,
    sg.square,
    sg.abs,
    sg.sigmoid,
    sg.positive,
    lambda a: a * 2.0,
    lambda a: 1.0 - a,
    lambda a: sg.astype(a > 0, a.dtype),
    lambda a: sg.permute_dims(sg.exp(sg.permute_dims(a, (1, 0))), (1, 0)),
    lambda a: a + sg.sum(a, axis=0),
    lambda a: a * sg.max(a, axis=1, keepdims=True),
    lambda a: sg.broadcast_to(sg.sum(a, axis=0), a.shape),
    lambda a: sg.matmul(sg.matmul(a, sg.permute_dims(a, (1, 0))), a),
    lambda a: a[::-1, :],
    lambda a: sg.reshape(sg.exp(sg.reshape(a, (a.shape[1], a.shape[0]))), a.shape),
    lambda a: sg.softmax(a, axis=0),
    lambda a: sg.expand_dims(a, axis=0)[0],
    lambda a: sg.real(a) * 0.5,
)
BINARY: tuple[Callable[[Any, Any], Any], ...] = (
    sg.add,
    sg.subtract,
    sg.multiply,
    sg.divide,
    sg.maximum,
    sg.atan2,
    lambda a, b: sg.where(a > b, a, b),
    lambda a, b: sg.matmul(a, sg.permute_dims(b, (1, 0)))[:, :COLUMNS],
    lambda a, b: sg.permute_dims(sg.permute_dims(a, (1, 0)) + sg.permute_dims(b, (1, 0)), (1, 0)),
)


@st.composite
def programs(draw: st.DrawFn) -> tuple[list[Any], list[Any]]:
    """Inputs of one shape, and some of the results of random ops on them."""
    shape = draw(st.sampled_from([(ROWS, COLUMNS), ("n", COLUMNS)]))
    dtype = draw(st.sampled_from(["float32", "float64", "complex64", "int16"]))
    inputs = [sg.placeholder(name, shape, dtype) for name in ("x", "y")]
    pool: list[Any] = [
        *inputs,
        sg.constant(np.linspace(-1, 1, ROWS * COLUMNS).reshape(ROWS, COLUMNS), dtype),
    ]
    for _ in range(draw(st.integers(1, 14))):
        recent = st.integers(max(0, len(pool) - 4), len(pool) - 1)
        op = draw(st.sampled_from((*UNARY, *BINARY)))
        count = 1 if op in UNARY else 2
        try:
            pool.append(op(*[pool[draw(recent)] for _ in range(count)]))
        except DTypeError:
            continue  # not every op takes complex numbers
    outputs = [pool[-1], *draw(st.lists(st.sampled_from(pool), max_size=3))]
    if draw(st.booleans()):
        outputs.append(sg.sum(pool[-1]))
    return inputs, outputs


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    """Equal in type and in every bit, but for what kind of NaN it is."""
    alike = a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b, equal_nan=True)
    parts = [(a.real, b.real), (a.imag, b.imag)] if a.dtype.kind == "c" else [(a, b)]
    return alike and all(
        bool(np.all((np.copysign(1, p) == np.copysign(1, q)) | np.isnan(p))) for p, q in parts
    )


def samples(dtype: Any) -> list[np.ndarray]:
    generator = np.random.default_rng(0)
    x, y = generator.normal(size=(2, ROWS, COLUMNS)).astype(dtype)
    if np.dtype(dtype).kind == "f":
        y[0, :4] = [0.0, -0.0, np.inf, np.nan]
    return [x, np.asfortranarray(y)]


@settings(max_examples=150)
@given(programs())
def test_compiled_is_interpreted(program: tuple[list[Any], list[Any]]) -> None:
    inputs, outputs = program
    feeds = samples(inputs[0].dtype)
    before = [feed.copy() for feed in feeds]
    compiled = function(inputs, outputs, level="none")
    results = compiled(*feeds)
    expected = evaluate(outputs, dict(zip(inputs, feeds, strict=True)), level="none")
    for got, wanted in zip(results, expected, strict=True):
        assert same_bits(got, wanted), compiled.source
    assert all(same_bits(a, b) for a, b in zip(feeds, before, strict=True))
    for k, result in enumerate(results):
        assert type(result) is np.ndarray
        assert result.flags.writeable
        assert not any(np.shares_memory(result, other) for other in [*feeds, *results[:k]])
    again = compiled(*feeds)
    assert all(same_bits(a, b) for a, b in zip(again, results, strict=True))


@settings(max_examples=60)
@given(programs())
def test_standalone_text_is_the_program(program: tuple[list[Any], list[Any]]) -> None:
    inputs, outputs = program
    feeds = samples(inputs[0].dtype)
    compiled = function(inputs, outputs, level="none")
    scope: dict[str, Any] = {}
    source = compiled.source
    if "..." in source:  # a large constant is left out
        return
    exec(source, scope)
    for got, wanted in zip(scope["call"](*feeds), compiled(*feeds), strict=True):
        assert same_bits(got, wanted)


@settings(max_examples=60)
@given(programs())
def test_reuse_on_small_arrays_too(program: tuple[list[Any], list[Any]]) -> None:
    """With every array worth reusing, more is written in place, and the results stay."""
    inputs, outputs = program
    feeds = samples(inputs[0].dtype)
    expected = function(inputs, outputs, level="none")(*feeds)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(buffers, "SMALL", 0)
        buffers.is_small.cache_clear()
        results = function(inputs, outputs, level="none")(*feeds)
    buffers.is_small.cache_clear()
    for got, wanted in zip(results, expected, strict=True):
        assert same_bits(got, wanted)


def test_programs_do_reuse_arrays() -> None:
    """The tests above would prove nothing if no array were written to twice."""
    x = sg.placeholder("x", (ROWS, COLUMNS))
    y = sg.tanh(sg.exp(x) + 1.0)
    z = sg.matmul(x, sg.permute_dims(y, (1, 0)))
    statements = [text for text, _ in Listing(Graph([x], [z * 2.0])).statements]
    assert statements == [
        "t0 = np.exp(x)",
        "np.add(t0, 1.0, out=t0)",
        "np.tanh(t0, out=t0)",
        "t0 = np.transpose(t0, (1, 0))",
        "t0 = np.matmul(x, t0)",
        "np.multiply(t0, 2.0, out=t0)",
    ]
