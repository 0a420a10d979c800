"""Arrays from nothing, from numbers, from other libraries: numpy is the oracle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, DTypeError, FormatError, ShapeError, TraceError
from symgrad.types import DTYPES

N = sg.Dim.named("n")
X = sg.placeholder("x", ("n", 3))
V = sg.placeholder("v", ("n",))
S = sg.placeholder("s")


def same(ours: Any, numpys: Any) -> None:
    """A tensor that holds exactly an array."""
    assert isinstance(ours, sg.Tensor)
    assert ours.dtype == numpys.dtype
    assert ours.shape == numpys.shape
    np.testing.assert_array_equal(ours, numpys)


def run(symbol: Any, size: int = 2) -> np.ndarray:
    """The value of a symbol in which ``n`` is ``size``."""
    return sg.evaluate(sg.stack([symbol, symbol * 0 + V[0]]), {V: np.ones(size)})[0]


@pytest.fixture
def single() -> Any:
    sg.set_default_dtype("float32")
    yield
    sg.set_default_dtype("float64")


# --- constant arrays ------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [None, *DTYPES])
@pytest.mark.parametrize("shape", [3, (), (0,), (2, 1), [2, 3], np.int64(2)])
def test_zeros_ones_full(shape: Any, dtype: Any) -> None:
    same(sg.zeros(shape, dtype=dtype), np.zeros(shape, dtype))
    same(sg.ones(shape, dtype=dtype), np.ones(shape, dtype))
    same(sg.full(shape, 1, dtype=dtype), np.full(shape, 1, dtype))
    same(sg.empty(shape, dtype=dtype), np.zeros(shape, dtype))
    if dtype is not None:
        same(sg.zeros(shape, dtype=np.dtype(dtype)), np.zeros(shape, dtype))


def test_full_takes_the_type_of_the_value(single: Any) -> None:
    assert sg.full(2, 1.5).dtype == sg.float32
    assert sg.full(2, 1j).dtype == sg.complex64
    assert sg.full(2, True).dtype == sg.bool
    assert sg.full(2, 3).dtype == sg.int64
    assert sg.full(2, np.float64(3)).dtype == sg.float64
    assert sg.full(2, np.int8(3)).dtype == sg.int8
    assert sg.zeros(2).dtype == sg.ones(2).dtype == sg.eye(2).dtype == sg.float32
    assert (
        sg.linspace(0, 1, 3).dtype == sg.arange(2.0).dtype == sg.asarray([0.5]).dtype == "float32"
    )


def test_full_of_arrays_and_symbols() -> None:
    same(sg.full((2, 2), np.array([1, 2])), np.full((2, 2), [1, 2]))
    same(sg.full((2, 2), [0.5, 2]), np.full((2, 2), [0.5, 2]))
    same(sg.full(2, sg.asarray(3.0), dtype="float32"), np.full(2, 3, "float32"))
    y = sg.full((2, "n"), S)
    assert y.shape == (2, N)
    (g,) = sg.grad(sg.sum(y), S)
    assert float(run(g, 5)) == 10.0
    assert run(sg.full((), N), 4) == 4


def test_named_shapes_give_symbols() -> None:
    for make in (sg.zeros, sg.ones, sg.empty, lambda shape: sg.full(shape, 7)):
        y = make(("n", 2 * N))
        assert isinstance(y, sg.Symbol)
        assert y.shape == (N, 2 * N)
        assert y is make((N, N + N))
        assert run(sg.sum(y)) == np.sum(np.asarray(make((2, 4))))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: sg.zeros((2, -1)),
            ShapeError,
            "zeros: a size is negative: expected 0 or more, go",
        ),
        (lambda: sg.ones(-1), ShapeError, "ones: a size is negative"),
        (lambda: sg.full(2.5, 1), ShapeError, "full: not a size: expected an int, a Dim or a name"),
        (lambda: sg.zeros("a b"), FormatError, "not a size"),
        (lambda: sg.full(2, 1.5, dtype=int), DTypeError, "full: 1.5 does not fit int64"),
        (
            lambda: sg.full(2, 300, dtype="int8"),
            DTypeError,
            "full: 300 does not fit int8: expected",
        ),
        (lambda: sg.full(2, 1j, dtype=float), DTypeError, "full: 1j does not fit float64"),
        (lambda: sg.full(2, 2, dtype=bool), DTypeError, "full: 2 does not fit bool"),
        (lambda: sg.full(2, np.nan, dtype=int), DTypeError, "full: nan does not fit int64"),
        (lambda: sg.full(2, None), ArgumentError, "full: fill_value is no number: got None"),
        (lambda: sg.full_like(X, 1j), DTypeError, "1j does not fit float64"),
        (lambda: sg.zeros(2, device="gpu"), ArgumentError, "unknown device: expected 'cpu', got"),
        (lambda: sg.zeros(2, dtype="f4"), DTypeError, "dtype: not an element type.*got 'f4'"),
    ],
)
def test_refusals(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        call()
    assert "test_creation.py" in str(caught.value)


# --- like another ---------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_like_an_array(dtype: str) -> None:
    x = np.ones((2, 0, 3), dtype)
    same(sg.zeros_like(x), np.zeros_like(x))
    same(sg.ones_like(sg.asarray(x)), np.ones_like(x))
    same(sg.full_like(x, 1), np.full_like(x, 1))
    same(sg.empty_like(x, dtype="int8"), np.zeros_like(x, "int8"))
    same(sg.ones_like(x, dtype=np.dtype("float16"), device="cpu"), np.ones_like(x, "float16"))


def test_like_a_symbol_is_a_symbol() -> None:
    c = sg.placeholder("c", (3,), "float32")
    for value in (2, 2.0, np.float32(2), np.array(2), sg.asarray(2.0), S, [2.0, 2.0, 2.0]):
        y = sg.full_like(c, value)
        assert isinstance(y, sg.Symbol)
        assert y.type == c.type
        np.testing.assert_array_equal(sg.evaluate(y * 1 + 0 * S, {S: 2.0}), [2.0, 2.0, 2.0])
    assert sg.full_like(c, 2) is sg.full_like(c, 2.0)
    assert sg.full_like(c, 0) is not sg.full_like(c, -0.0)
    for like in (sg.zeros_like, sg.ones_like, sg.empty_like):
        assert isinstance(like(c), sg.Symbol)
        assert like(X).type == X.type
        assert like(X, dtype=int).dtype == sg.int64
    # It does not depend on the values.
    assert sg.grad(sg.sum(sg.ones_like(X)), X, allow_unused=True) == (None,)


def test_graphs_of_constants_print_and_parse() -> None:
    ys = [
        sg.zeros_like(X),
        sg.full_like(X, -0.0),
        sg.full((N,), np.inf),
        sg.full((N,), np.nan),
        sg.full((N, 2), 1 + 2j),
        sg.ones((N,), dtype=bool),
        sg.arange(1, 2 * N, 3, dtype="float32"),
        sg.eye(N, 2, k=-1),
        sg.linspace(0.0, 1.0, N),
    ]
    text = sg.print_graph(sg.Graph([X], ys))
    again = sg.parse(text)
    assert sg.print_graph(again) == text
    for a, b in zip(again.outputs, ys, strict=True):
        assert a is b or a.type == b.type


# --- asarray --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        1,
        2.5,
        1j,
        True,
        [],
        [1, 2],
        (1, 2.5),
        [[True], [False]],
        range(3),
        np.float16(1),
        np.uint8([1, 2]),
        np.arange(6).reshape(2, 3)[::-1, ::2],
        np.ones((0, 2), "complex64"),
        memoryview(b"ab"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, memoryview) else repr(value),
)
def test_asarray(value: Any) -> None:
    same(sg.asarray(value), np.asarray(value))
    same(sg.asarray(value, dtype="complex128"), np.asarray(value, "complex128"))


def test_asarray_in_foreign_byte_order() -> None:
    same(sg.asarray(np.array([1, 2], ">i4")), np.array([1, 2], "int32"))
    same(sg.add(np.array([1.5], ">f8"), 1), np.array([2.5]))


def test_asarray_shares_or_copies() -> None:
    a = np.ones(3)
    shared, copied = sg.asarray(a), sg.asarray(a, copy=True)
    a[0] = 7.0
    assert float(shared[0]) == 7.0
    assert float(copied[0]) == 1.0
    assert sg.asarray(shared) is shared
    assert sg.asarray(shared, copy=False) is shared
    assert not np.shares_memory(sg.asarray(shared, copy=True), a)
    assert np.shares_memory(sg.asarray(a, copy=False), a)
    assert sg.asarray(X) is sg.asarray(X, copy=True) is X
    assert sg.asarray(X, dtype="float32").dtype == sg.float32
    problem = "copy=False cannot be kept"
    for value, options in (([1.0], {}), (a, {"dtype": "int8"}), (shared, {"dtype": "int8"})):
        with pytest.raises(ArgumentError, match=problem):
            sg.asarray(value, copy=False, **options)


def test_asarray_of_lists_of_values() -> None:
    t = sg.asarray([1.0, 2.0])
    same(sg.asarray([t, t]), np.array([[1.0, 2.0]] * 2))
    same(sg.asarray([[t[0], 3], [4, 5]]), np.array([[1.0, 3.0], [4.0, 5.0]]))
    same(sg.asarray([t, t], dtype="float32"), np.array([[1, 2]] * 2, "float32"))
    y = sg.asarray([S, 1.0, 2])
    assert y is sg.stack([S, 1.0, 2])
    np.testing.assert_array_equal(y.eval({S: 5.0}), [5.0, 1.0, 2.0])
    np.testing.assert_array_equal(run(sg.asarray([[N, 2], [3, 4]])[0], 6), [6.0, 2.0])
    assert sg.asarray(N).dtype == sg.int64
    # A constant has a value, so no symbol can be in it.
    np.testing.assert_array_equal(sg.constant([t, t]).value, [[1.0, 2.0]] * 2)
    with pytest.raises(TraceError, match="has no value"):
        sg.constant([S, 1.0])


@pytest.mark.parametrize(
    ("value", "options", "error", "message"),
    [
        ("a", {}, DTypeError, "asarray: not numbers of a known type: .* got <U1"),
        (None, {}, DTypeError, "asarray: not numbers of a known type: .* got object"),
        (2**70, {}, DTypeError, "asarray: not numbers of a known type"),
        (np.array(["2020"], "M8[D]"), {}, DTypeError, "asarray: not numbers .* got datetime64"),
        ([1, [2]], {}, ShapeError, "asarray: nested lists of different lengths have no shape"),
        (300, {"dtype": "int8"}, DTypeError, "asarray: 300 does not fit int8"),
        (1j, {"dtype": float}, DTypeError, "asarray: complex numbers do not fit: .* sg.real"),
        (1, {"device": "gpu"}, ArgumentError, "asarray: unknown device: expected 'cpu', got 'gpu'"),
    ],
)
def test_asarray_refuses(value: Any, options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        sg.asarray(value, **options)
    assert "test_creation.py" in str(caught.value)


def test_from_dlpack() -> None:
    a = np.arange(3.0)
    t = sg.from_dlpack(a)
    same(t, a)
    assert np.shares_memory(t, a)
    assert not np.shares_memory(sg.from_dlpack(a, copy=True), a)
    same(sg.from_dlpack(sg.asarray(a)), a)
    np.testing.assert_array_equal(np.from_dlpack(sg.asarray(a)), a)
    assert sg.asarray(a).__dlpack_device__() == a.__dlpack_device__()
    with pytest.raises(
        TraceError, match="from_dlpack: a symbol has no memory: got <placeholder 's'"
    ):
        sg.from_dlpack(S)
    with pytest.raises(ArgumentError, match=r"from_dlpack: no array that speaks DLPack: got \[1\]"):
        sg.from_dlpack([1])


# --- ranges and matrices --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "bounds",
    [
        (5,),
        (0,),
        (2, 8, 3),
        (8, 2, -3),
        (5, 1),
        (1, 5, -1),
        (-3, 4),
        (0.0, 1.0, 0.25),
        (2.5,),
        (3, 0, -0.5),
    ],
)
def test_arange(bounds: tuple[Any, ...]) -> None:
    same(sg.arange(*bounds), np.arange(*bounds))
    same(sg.arange(*bounds, dtype="float32"), np.arange(*bounds).astype("float32"))
    same(sg.arange(*map(np.asarray, bounds)), np.arange(*bounds))
    if all(isinstance(b, int) for b in bounds):
        same(sg.arange(*bounds, dtype="int8"), np.arange(*bounds, dtype="int8"))


@pytest.mark.parametrize(
    ("call", "bounds"),
    [
        (lambda n: sg.arange(n), lambda n: (n,)),
        (lambda n: sg.arange(1, n), lambda n: (1, n)),
        (lambda n: sg.arange(n, 0, -2), lambda n: (n, 0, -2)),
        (lambda n: sg.arange(-n, 2 * n + 1, 3), lambda n: (-n, 2 * n + 1, 3)),
        (lambda n: sg.arange(n - 3, dtype="float64"), lambda n: (n - 3.0,)),
    ],
)
def test_arange_of_dimensions(call: Any, bounds: Any) -> None:
    y = call(N)
    assert isinstance(y, sg.Symbol)
    for n in (1, 2, 5, 8):
        got = sg.evaluate([y, V + 0], {V: np.ones(n)})[0]
        np.testing.assert_array_equal(got, np.arange(*bounds(n)))
        assert got.dtype == y.dtype


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: sg.arange(3, step=0),
            ArgumentError,
            "arange: the step is no step: expected a num",
        ),
        (lambda: sg.arange(0, 3, N), ArgumentError, "arange: the step is no step"),
        (
            lambda: sg.arange(0, N, 0.5),
            TraceError,
            r"arange: a symbolic size needs a range of ints",
        ),
        (lambda: sg.arange(S), TraceError, "arange: stop is a symbol, which has no value yet"),
        (lambda: sg.arange(float("inf")), ArgumentError, "arange: stop is no finite real number"),
        (lambda: sg.arange(0, 300, dtype="int8"), DTypeError, "arange: 299 does not fit int8"),
        (
            lambda: sg.arange(2, dtype=bool),
            DTypeError,
            "arange: numbers are counted: expected a nu",
        ),
        (
            lambda: sg.linspace(0, 1, -1),
            ArgumentError,
            "linspace: num counts: expected an int, 0 o",
        ),
        (lambda: sg.linspace(0, 1, 2.5), ArgumentError, "linspace: num counts: expected an int"),
        (
            lambda: sg.linspace(V, 1, 3),
            ShapeError,
            "linspace: start has axes: expected none, got f",
        ),
        (lambda: sg.eye(-1), ShapeError, "eye: a size is negative"),
    ],
)
def test_ranges_refuse(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize("num", [0, 1, 2, 7])
def test_linspace(num: int, endpoint: bool) -> None:
    for ends in ((0.0, 1.0), (5, -3), (2, 2), (0, 1j)):
        expected = np.linspace(*ends, num, endpoint=endpoint)
        same(sg.linspace(*ends, num, endpoint=endpoint), expected)
    for dtype in ("float32", "int64"):
        expected = np.linspace(-3.5, 9, num, endpoint=endpoint, dtype=dtype)
        same(sg.linspace(-3.5, 9, num, endpoint=endpoint, dtype=dtype), expected)


@pytest.mark.parametrize("endpoint", [True, False])
def test_linspace_of_symbols_and_dimensions(endpoint: bool) -> None:
    for n in (1, 2, 7):
        y = sg.linspace(S, 2.0, N, endpoint=endpoint)
        assert y.shape == (N,)
        got, slope = sg.evaluate([y, sg.grad(sg.sum(y), S)[0]], {S: -1.5, V: np.ones(n)})
        expected = np.linspace(-1.5, 2.0, n, endpoint=endpoint)
        np.testing.assert_allclose(got, expected, rtol=1e-14, atol=1e-15)
        weights = np.linspace(1.0, 0.0, n, endpoint=endpoint)
        np.testing.assert_allclose(slope, weights.sum(), rtol=1e-14)
        if endpoint and n > 1:
            assert (got[0], got[-1]) == (-1.5, 2.0)
        whole = sg.linspace(0, 9, N, endpoint=endpoint, dtype="int64")
        assert whole.dtype == sg.int64
        single = sg.placeholder("f", (), "float32")
        assert sg.linspace(single, 1, 3).dtype == sg.float32


@pytest.mark.parametrize("k", [-4, -1, 0, 2])
@pytest.mark.parametrize("shape", [(3,), (2, 3), (3, 0), (0,)])
def test_eye(shape: tuple[int, ...], k: int) -> None:
    same(sg.eye(*shape, k=k), np.eye(*shape, k=k))
    same(sg.eye(*shape, k=k, dtype="bool"), np.eye(*shape, k=k, dtype="bool"))


def test_eye_of_dimensions() -> None:
    y = sg.eye(N, 2 * N, k=1)
    assert y.shape == (N, 2 * N)
    np.testing.assert_array_equal(run(sg.sum(y, axis=0), 2), np.eye(2, 4, 1).sum(0))
