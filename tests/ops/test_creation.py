"""Creation: numpy is the oracle; named sizes give symbols that are the same arrays when run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import symgrad as sg
from symgrad.errors import ArgumentError, DTypeError, ShapeError, TraceError
from symgrad.types import DTYPES, set_default_dtype

NAMES = sorted(DTYPES)
SHAPES = st.lists(st.integers(0, 4), max_size=3).map(tuple)


def same(got: Any, want: np.ndarray) -> None:
    array = np.asarray(got)
    assert isinstance(got, sg.Tensor)
    assert array.dtype == want.dtype
    assert array.shape == want.shape
    assert np.array_equal(array, want, equal_nan=want.dtype.kind in "fc")


def named_size(extent: int, *, axis: int = 0) -> tuple[Any, dict[Any, np.ndarray]]:
    """A symbolic size, and the feed that binds it."""
    x = sg.placeholder("x", (*(1,) * axis, "n"), "int8")
    return x.shape[-1], {x: np.zeros((*(1,) * axis, extent), np.int8)}


def run_bound(symbol: Any, feeds: dict[Any, np.ndarray]) -> np.ndarray:
    """Evaluate a symbol whose sizes are those of the fed placeholder."""
    (x,) = feeds
    return sg.function([x], [symbol, x])(feeds[x])[0]


# --- full and its kin -----------------------------------------------------------------------------


@given(SHAPES, st.sampled_from(NAMES))
def test_constant_arrays(shape: tuple[int, ...], dtype: str) -> None:
    same(sg.zeros(shape, dtype=dtype), np.zeros(shape, dtype))
    same(sg.ones(shape, dtype=dtype), np.ones(shape, dtype))
    same(sg.full(shape, 1, dtype=dtype), np.full(shape, 1, dtype))
    like = np.zeros(shape, dtype)
    same(sg.zeros_like(like), np.zeros_like(like))
    same(sg.ones_like(like), np.ones_like(like))
    same(sg.full_like(like, True), np.full_like(like, True))
    same(sg.full_like(like, 1, dtype="float32"), np.full_like(like, 1, dtype="float32"))
    assert sg.empty(shape, dtype=dtype).shape == sg.empty_like(like).shape == shape
    assert sg.empty_like(like).dtype == dtype


@pytest.mark.parametrize(
    ("value", "dtype"), [(True, "bool"), (2, "int64"), (2.5, "float64"), (2j, "complex128")]
)
def test_the_value_names_the_type(value: Any, dtype: str) -> None:
    same(sg.full(2, value), np.full(2, value, dtype))


def test_a_number_of_numpy_keeps_its_type() -> None:
    same(sg.full(2, np.float32(1.5)), np.full(2, 1.5, np.float32))


def test_default_types_follow_the_setting() -> None:
    set_default_dtype("float32")
    try:
        assert sg.zeros(2).dtype == sg.full(2, 1.0).dtype == sg.eye(2).dtype == "float32"
        assert sg.linspace(0, 1, 3).dtype == sg.arange(1.0).dtype == "float32"
        assert sg.asarray([1.0]).dtype == sg.asarray(1.0).dtype == "float32"
        assert sg.asarray(1j).dtype == sg.linspace(0, 1j, 3).dtype == "complex64"
        assert sg.asarray(np.ones(1)).dtype == "float64"
        assert sg.arange(3).dtype == "int64"
    finally:
        set_default_dtype("float64")


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(300, "uint8"), (-1, "uint64"), (2**63, "int64"), (1.5, "int32"), (np.nan, "int8"),
     (np.inf, "int8"), (1j, "float32"), (2, "bool"), (1 + 0j, "int8")],
)  # fmt: skip
def test_a_value_that_does_not_fit(value: Any, dtype: str) -> None:
    with pytest.raises(DTypeError, match=rf"full: .* does not fit {dtype}"):
        sg.full((2,), value, dtype=dtype)


@pytest.mark.parametrize(
    ("value", "dtype"), [(2.0, "int8"), (1.0, "bool"), (255, "uint8"), (1, "complex64")]
)
def test_a_value_that_fits_in_another_kind(value: Any, dtype: str) -> None:
    same(sg.full((2,), value, dtype=dtype), np.full((2,), value, dtype))


def test_named_sizes_give_symbols() -> None:
    n, feeds = named_size(3)
    for create in (sg.zeros, sg.ones, sg.empty):
        symbol = create((2, n), dtype="float32")
        assert symbol.shape == (2, n)
        want = np.ones if create is sg.ones else np.zeros
        assert np.array_equal(run_bound(symbol, feeds), want((2, 3), np.float32))
    assert str(sg.zeros(("batch", 3)).type) == "f64[batch, 3]"
    assert str(sg.eye("m", 3).type) == "f64[m, 3]"


def test_like_a_symbol_is_a_symbol_that_does_not_depend_on_it() -> None:
    x = sg.placeholder("x", (2, 3), "float32")
    for symbol in (sg.zeros_like(x), sg.ones_like(x), sg.full_like(x, 2.5)):
        assert str(symbol.type) == "f32[2, 3]"
        assert symbol.args == ()
    assert sg.zeros_like(x, dtype="int8").dtype == "int8"
    with pytest.raises(ArgumentError, match="unknown device"):
        sg.zeros_like(x, device="gpu")


def test_equal_constants_are_one_symbol() -> None:
    n, _ = named_size(3)
    assert sg.zeros(n) is sg.full((n,), 0.0) is sg.full(n, False, dtype="float64")
    assert sg.full(n, 0.0) is not sg.full(n, -0.0)
    assert sg.full(n, 1) is not sg.full(n, 1.0)


def test_a_symbolic_value_is_differentiated() -> None:
    s = sg.placeholder("s")
    filled = sg.full((2, 3), s)
    assert filled.shape == (2, 3)
    (slope,) = sg.grad(sg.sum(filled), [s])
    assert float(slope.eval({s: 1.0})) == 6.0
    assert sg.full((2,), s, dtype="float32").dtype == "float32"
    like = sg.full_like(np.ones(2, np.float32), s)
    assert str(like.type) == "f32[2]"


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: sg.full(-1, 1), ShapeError, "full: a size is negative"),
        (lambda: sg.full((2, 1.5), 1), ShapeError, "full: not a size"),
        (lambda: sg.full(2, "a"), ArgumentError, "full: fill_value is no number"),
        (lambda: sg.zeros(2, device="gpu"), ArgumentError, "unknown device: expected 'cpu'"),
        (lambda: sg.zeros(2, dtype="int9"), DTypeError, "not an element type"),
        (lambda: sg.eye(-2), ShapeError, "eye: a size is negative"),
        (lambda: sg.eye(2, device=0), ArgumentError, "eye: unknown device"),
    ],
)
def test_refusals(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text) as caught:
        call()
    assert "created at test_creation.py:" in str(caught.value)


# --- ranges and matrices --------------------------------------------------------------------------

INTS = st.integers(-20, 20)
STEPS = INTS.filter(bool)


@given(INTS, INTS, STEPS, st.sampled_from([None, "int8", "int64", "float32", "complex64"]))
def test_ranges_of_ints(start: int, stop: int, step: int, dtype: str | None) -> None:
    want = np.arange(start, stop, step)
    same(sg.arange(start, stop, step, dtype=dtype), want.astype(dtype or "int64"))
    same(sg.arange(stop), np.arange(stop))


@given(st.floats(-5, 5), st.floats(-5, 5), st.floats(0.1, 2) | st.floats(-2, -0.1))
def test_ranges_of_floats(start: float, stop: float, step: float) -> None:
    same(sg.arange(start, stop, step), np.arange(start, stop, step))
    same(sg.arange(start, stop, step, dtype="float32"), np.arange(start, stop, step).astype("f4"))


@given(st.integers(0, 9), st.integers(-3, 5), st.integers(1, 4), st.booleans())
def test_ranges_to_a_named_size(extent: int, other: int, step: int, down: bool) -> None:
    n, feeds = named_size(extent)
    bounds = (n, other, -step) if down else (other, n, step)
    symbol = sg.arange(*bounds)
    concrete = (extent, other, -step) if down else (other, extent, step)
    assert np.array_equal(run_bound(symbol, feeds), np.arange(*concrete))
    assert symbol.dtype == "int64"


def test_bounds_of_other_libraries() -> None:
    same(sg.arange(np.int8(3)), np.arange(3))
    same(sg.arange(sg.asarray(1), np.asarray(7), 2), np.arange(1, 7, 2))
    same(sg.arange(True, 3), np.arange(1, 3))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: sg.arange(0, 3, 0), ArgumentError, "arange: the step is no step"),
        (lambda: sg.arange(np.inf), ArgumentError, "arange: stop is no finite real number"),
        (lambda: sg.arange(1j, 3), ArgumentError, "arange: start is no finite real number"),
        (lambda: sg.arange("a"), ArgumentError, "arange: stop is no number"),
        (lambda: sg.arange(3, dtype="bool"), DTypeError, "expected a numeric type, got bool"),
        (lambda: sg.arange(300, dtype="int8"), DTypeError, "arange: 299 does not fit int8"),
        (lambda: sg.arange(-1, 3, dtype="uint8"), DTypeError, "arange: -1 does not fit uint8"),
        (lambda: sg.arange(sg.placeholder("x")), TraceError, "arange: stop is a symbol"),
        (lambda: sg.arange(0.5, sg.Dim.named("n")), TraceError, "needs a range of ints"),
        (lambda: sg.arange(0, 3, sg.Dim.named("n")), ArgumentError, "the step is no step"),
        (lambda: sg.linspace(0, 1, -1), ArgumentError, "linspace: num counts"),
        (lambda: sg.linspace(0, 1, 2.0), ArgumentError, "linspace: num counts"),
        (lambda: sg.linspace(0, "a", 2), ArgumentError, "linspace: stop is no number"),
        (lambda: sg.linspace(0, 1j, 2, dtype="float32"), DTypeError, "complex numbers do not fit"),
    ],
)  # fmt: skip
def test_refusals_of_ranges(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


@given(st.floats(-5, 5), st.floats(-5, 5), st.integers(0, 7), st.booleans())
def test_linspace(start: float, stop: float, num: int, endpoint: bool) -> None:
    want = np.linspace(start, stop, num, endpoint=endpoint)
    same(sg.linspace(start, stop, num, endpoint=endpoint), want)
    x, y = sg.placeholder("x"), sg.placeholder("y")
    symbol = sg.linspace(x, y, num, endpoint=endpoint)
    got = sg.evaluate(symbol, {x: start, y: stop})
    np.testing.assert_allclose(got, want, rtol=1e-14, atol=1e-15)


def test_linspace_of_other_types() -> None:
    same(sg.linspace(0, 10, 4, dtype="int64"), np.linspace(0, 10, 4, dtype="int64"))
    same(sg.linspace(-3, 3, 4, dtype="int8"), np.linspace(-3, 3, 4, dtype="int8"))
    same(sg.linspace(0, 1 + 2j, 5), np.linspace(0, 1 + 2j, 5))
    same(sg.linspace(np.float32(0), sg.asarray(1), 5), np.linspace(0, 1, 5))


def test_the_ends_of_a_symbolic_linspace_are_exact_and_differentiable() -> None:
    x = sg.placeholder("x")
    values = sg.linspace(x, 0.7, 4)
    got = sg.evaluate(values, {x: 0.1})
    assert (got[0], got[-1]) == (0.1, 0.7)
    (slope,) = sg.grad(sg.sum(values), [x])
    assert float(slope.eval({x: 0.1})) == pytest.approx(2.0)
    assert sg.linspace(x, 1.0, 3, dtype="float32").dtype == "float32"


@given(st.integers(0, 4), st.none() | st.integers(0, 4), st.integers(-5, 5), st.sampled_from(NAMES))
def test_eye(rows: int, columns: int | None, k: int, dtype: str) -> None:
    want = np.eye(rows, columns, k, dtype)
    same(sg.eye(rows, columns, k=k, dtype=dtype), want)
    n, feeds = named_size(rows)
    symbol = sg.eye(n, columns, k=k, dtype=dtype)
    assert np.array_equal(run_bound(symbol, feeds), want)


# --- asarray --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [True, 1, 1.5, 1j, [1, 2], [[1.0], [2.0]], (1, 2.5), [], [[]], np.float32(1), np.ones((2, 0)),
     np.arange(6, dtype=">i4").reshape(2, 3), np.arange(6.0)[::-2], [np.float32(1)], range(3)],
)  # fmt: skip
def test_values_of_every_origin(value: Any) -> None:
    want = np.asarray(value)
    same(sg.asarray(value), want.astype(want.dtype.newbyteorder("=")))


@pytest.mark.parametrize("dtype", NAMES)
@pytest.mark.parametrize("value", [True, 1, [0, 1], np.int8(1), np.ones(2, bool), [1.0, 0.0]])
def test_values_cast(value: Any, dtype: str) -> None:
    same(sg.asarray(value, dtype=dtype), np.asarray(value).astype(dtype))


def test_a_symbol_stays_itself() -> None:
    x = sg.placeholder("x", (2,))
    assert sg.asarray(x) is x
    assert sg.asarray(x, dtype="float64") is x
    assert sg.asarray(x, dtype="float32").dtype == "float32"


def test_what_is_copied() -> None:
    array = np.zeros(2)
    shared, copied = sg.asarray(array), sg.asarray(array, copy=True)
    kept = sg.asarray(array, copy=False)
    of_shared = sg.asarray(shared, copy=True)
    array[0] = 5
    assert shared.tolist() == kept.tolist() == [5.0, 0.0]
    assert copied.tolist() == of_shared.tolist() == [0.0, 0.0]
    assert sg.asarray(shared) is shared
    with pytest.raises(ArgumentError, match="the element type changes, so copy=False"):
        sg.asarray(array, dtype="float32", copy=False)
    with pytest.raises(ArgumentError, match="copy=False cannot be kept"):
        sg.asarray([1.0], copy=False)


def test_lists_of_tensors_and_symbols() -> None:
    x = sg.placeholder("x", (), "float32")
    same(sg.asarray([sg.asarray(1), sg.asarray(2.5)]), np.array([1, 2.5]))
    same(sg.asarray([[sg.asarray(1.0), 2], [3, 4]]), np.array([[1.0, 2], [3, 4]]))
    rows = sg.asarray([[x, 2], [0.5, x * x]])
    assert str(rows.type) == "f32[2, 2]"
    assert rows.eval({x: 3.0}).tolist() == [[3.0, 2.0], [0.5, 9.0]]
    assert sg.asarray([x, 1], dtype="float64").dtype == "float64"
    with pytest.raises(ShapeError, match="stack"):
        sg.asarray([x, [1.0, 2.0]])


@pytest.mark.parametrize(
    ("value", "dtype", "error", "text"),
    [
        (300, "uint8", DTypeError, "300 does not fit uint8: expected an integer from 0 to 255"),
        ([1, -1], "uint8", DTypeError, "-1 does not fit uint8"),
        ([2**63], "int64", DTypeError, ".* does not fit int64"),
        (2**64, None, DTypeError, "not numbers of a known type"),
        (["a"], None, DTypeError, "not numbers of a known type: expected bool, int8"),
        (None, None, DTypeError, "not numbers of a known type"),
        (np.longdouble(1), None, DTypeError, "not numbers of a known type"),
        (np.array(["2020"], "M8"), None, DTypeError, "not numbers of a known type"),
        ([1j], "float64", DTypeError, "complex numbers do not fit: .*hint: take sg.real"),
        (1j, "int64", DTypeError, "complex numbers do not fit"),
        ([[1], [1, 2]], None, ShapeError, "nested lists of different lengths have no shape"),
    ],
)
def test_values_refused(value: Any, dtype: str | None, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=f"asarray: {text}"):
        sg.asarray(value, dtype=dtype)


def test_dlpack_both_ways() -> None:
    array = np.arange(3.0)
    shared, copied = sg.from_dlpack(array), sg.from_dlpack(array, copy=True)
    array[0] = 7
    assert (shared.tolist(), copied.tolist()) == ([7.0, 1.0, 2.0], [0.0, 1.0, 2.0])
    assert np.from_dlpack(sg.asarray([1, 2])).tolist() == [1, 2]
    # A broadcast array shares elements, and a neighbour must not write to them.
    assert np.from_dlpack(sg.broadcast_to(1.0, (2,))).tolist() == [1.0, 1.0]
    with pytest.raises(ArgumentError, match="from_dlpack: unknown device"):
        sg.from_dlpack(array, device="gpu")
