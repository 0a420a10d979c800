"""The Python array API standard, revision 2025.12, beside its strict reference implementation.

Each function is called on both, and on symbols, with arrays that Hypothesis chooses. Where the
reference refuses an element type the standard says nothing, so those are left out.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import array_api_strict as strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import symgrad as sg

SPACES = ("", "linalg", "fft")
SETTINGS = settings(max_examples=25, deadline=None, derandomize=True, database=None)
# The reference lets numpy warn of the special values that it is given.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


@contextmanager
def revision() -> Iterator[None]:
    flags = strict.get_array_api_strict_flags()
    strict.set_array_api_strict_flags(api_version="2025.12")
    try:
        yield
    finally:
        strict.set_array_api_strict_flags(api_version=flags["api_version"])


def functions(space: str) -> list[str]:
    module = getattr(strict, space) if space else strict
    names = module.__all__ if space else strict.__all__
    own = "array_api_strict_flags"
    return [n for n in names if callable(getattr(module, n)) and not n.endswith(own)]


def inside(module: Any, space: str) -> Any:
    return getattr(module, space) if space else module


ALL = [
    (space, name)
    for space in SPACES
    for name in functions(space)
    if name not in ("ArrayAPIStrictFlags", "Device")
    and not isinstance(getattr(inside(strict, space), name), type)
]


@pytest.mark.parametrize(("space", "name"), ALL, ids=["_".join(p).strip("_") for p in ALL])
def test_signature(space: str, name: str):
    ours = inspect.signature(getattr(inside(sg, space), name)).parameters.values()
    theirs = inspect.signature(getattr(inside(strict, space), name)).parameters.values()
    assert [p.name for p in ours] == [p.name for p in theirs]
    for a, b in zip(ours, theirs, strict=True):
        # What the standard takes by position alone may have a name as well.
        assert a.kind == b.kind or (b.kind, a.kind) == (b.POSITIONAL_ONLY, b.POSITIONAL_OR_KEYWORD)
        # A default where the standard has none is an extension.
        if "UNDEF" not in repr(b.default) and b.default is not b.empty:
            assert a.default == b.default


def test_constants_and_types():
    for name in ("e", "pi", "inf", "newaxis"):
        assert getattr(sg, name) == getattr(strict, name)
    assert np.isnan(sg.nan)
    names = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64"
    for name in (*names.split(), "complex128"):
        assert getattr(sg, name) == np.dtype(name)


def test_methods_and_attributes():
    theirs = type(strict.ones(1))
    in_place = {
        f"__i{op}__"
        for op in "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
    }
    wanted = {n for n in dir(theirs) if n not in dir(object) and not n.startswith("_")} | {
        n for n in dir(theirs) if n.startswith("__") and n not in dir(object)
    }
    internal = {"__buffer__", "__dict__", "__weakref__", "__module__", "__array_priority__"}
    missing = {n for n in wanted - in_place - internal if not hasattr(sg.Tensor, n)}
    assert not missing


# --- values ---------------------------------------------------------------------------------------

DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float32", "float64", "complex64", "complex128",
)  # fmt: skip


def values(dtype: str, shape: tuple[int, ...]) -> st.SearchStrategy[np.ndarray]:
    """Small numbers, zeros of both signs, infinities and NaN."""
    kind = np.dtype(dtype).kind
    floats = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, np.inf, -np.inf, np.nan]
    elements: Any = {
        "b": st.booleans(),
        "i": st.integers(-9, 9),
        "u": st.integers(0, 9),
        "f": st.sampled_from(floats),
        "c": st.builds(
            complex, st.sampled_from([0.0, 1.0, -2.5, 0.5]), st.sampled_from([0.0, -1.5])
        ),
    }[kind]
    return arrays.arrays(dtype, shape, elements=elements)


SHAPES = [(1,), (4,), (0,), (2, 3), (3, 1), (2, 0, 3), (2, 3, 4)]
PAIRS = [((), ()), ((2, 3), (3,)), ((3, 1), (1, 2)), ((4,), (4,)), ((0,), (1,))]


@st.composite
def one(draw: Any, dtypes: tuple[str, ...] = DTYPES, *, shapes: Any = SHAPES) -> np.ndarray:
    return draw(values(draw(st.sampled_from(dtypes)), draw(st.sampled_from(shapes))))


@st.composite
def two(draw: Any) -> tuple[np.ndarray, np.ndarray]:
    shapes = draw(
        st.sampled_from([((), ()), ((2, 3), (3,)), ((3, 1), (1, 2)), ((4,), (4,)), ((0,), (1,))])
    )
    first = draw(st.sampled_from(DTYPES))
    kinds = [d for d in DTYPES if d == first or np.dtype(d).kind == np.dtype(first).kind]
    return draw(values(first, shapes[0])), draw(values(draw(st.sampled_from(kinds)), shapes[1]))


def same(found: Any, wanted: Any) -> None:
    if isinstance(wanted, (tuple, list)):
        assert len(found) == len(wanted)
        for a, b in zip(found, wanted, strict=True):
            same(a, b)
        return
    expected = np.asarray(wanted)
    actual = np.asarray(found)
    assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
    single = expected.dtype in (np.float32, np.complex64)
    np.testing.assert_allclose(
        actual, expected, rtol=3e-5 if single else 1e-10, atol=1e-6 if single else 1e-12
    )


def agree(call: Callable[..., Any], *given: np.ndarray) -> None:
    """The reference, the eager call and a compiled graph say the same."""
    with revision():
        try:
            wanted = call(strict, *[strict.asarray(v) for v in given])
        except (TypeError, ValueError, IndexError):
            return
    same(call(sg, *[sg.asarray(v) for v in given]), wanted)
    xs = [sg.placeholder(f"x{k}", v.shape, v.dtype) for k, v in enumerate(given)]
    outputs = call(sg, *xs)
    many = isinstance(outputs, (tuple, list))
    same(sg.function(xs, list(outputs) if many else outputs)(*given), wanted)


UNARY = """abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1
floor imag isfinite isinf isnan log log1p log2 log10 logical_not negative positive real reciprocal
round sign signbit sin sinh square sqrt tan tanh trunc""".split()
BINARY = """add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor
copysign divide equal floor_divide greater greater_equal hypot less less_equal logaddexp logical_and
logical_or logical_xor maximum minimum multiply nextafter not_equal pow remainder subtract isin
""".split()


@pytest.mark.parametrize("name", UNARY)
def test_one_operand(name: str):
    @SETTINGS
    @given(one(shapes=[(), *SHAPES]))
    def check(x: np.ndarray) -> None:
        agree(lambda xp, a: getattr(xp, name)(a), x)

    check()


@pytest.mark.parametrize("name", BINARY)
def test_two_operands(name: str):
    @SETTINGS
    @given(two())
    def check(pair: tuple[np.ndarray, np.ndarray]) -> None:
        x, y = pair
        if "shift" in name:
            y = np.abs(y) % 7 if y.dtype.kind in "iu" else y
        if name == "pow" and y.dtype.kind in "iu":
            y = np.abs(y)
        if name in ("floor_divide", "remainder") and y.dtype.kind in "iu":
            y = np.where(y == 0, 1, y).astype(y.dtype)
        agree(lambda xp, a, b: getattr(xp, name)(a, b), x, y)

    check()


FINITE = ("int8", "uint8", "int32", "int64")
CALLS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "sum": (lambda xp, x: xp.sum(x), DTYPES),
    "sum, axis": (lambda xp, x: xp.sum(x, axis=-1, keepdims=True), DTYPES),
    "prod": (lambda xp, x: xp.prod(x, axis=0), FINITE),
    "mean": (lambda xp, x: xp.mean(x, axis=0), ("float32", "float64")),
    "var": (lambda xp, x: xp.var(x, correction=1), ("float64",)),
    "std": (lambda xp, x: xp.std(x, axis=0), ("float64",)),
    "max": (lambda xp, x: xp.max(x, axis=-1), ("int8", "uint16", "float32", "float64")),
    "min": (lambda xp, x: xp.min(x), ("int8", "uint16", "float32", "float64")),
    "argmax": (lambda xp, x: xp.argmax(x, axis=-1, keepdims=True), ("int8", "float64")),
    "argmin": (lambda xp, x: xp.argmin(x), ("int8", "float64")),
    "any": (lambda xp, x: xp.any(x, axis=0), DTYPES),
    "all": (lambda xp, x: xp.all(x), DTYPES),
    "count_nonzero": (lambda xp, x: xp.count_nonzero(x, axis=-1), DTYPES),
    "nonzero": (lambda xp, x: xp.nonzero(x), DTYPES),
    "where": (lambda xp, x: xp.where(x > 0, x, -x), ("int8", "float64")),
    "sort": (lambda xp, x: xp.sort(x, descending=True), ("int8", "uint8", "float64")),
    "argsort": (lambda xp, x: xp.argsort(x, axis=0), ("int8", "uint8")),
    "unique_values": (lambda xp, x: xp.unique_values(x), FINITE),
    "unique_counts": (lambda xp, x: xp.unique_counts(x), ("int8", "float64")),
    "unique_inverse": (lambda xp, x: xp.unique_inverse(x), FINITE),
    "unique_all": (lambda xp, x: xp.unique_all(x), FINITE),
    "cumulative_sum": (lambda xp, x: xp.cumulative_sum(x, axis=-1, include_initial=True), FINITE),
    "cumulative_prod": (lambda xp, x: xp.cumulative_prod(x, axis=0), FINITE),
    "diff": (lambda xp, x: xp.diff(x, axis=-1), FINITE),
    "astype": (lambda xp, x: xp.astype(x, xp.float64), FINITE),
    "clip": (lambda xp, x: xp.clip(x, 0, 3), FINITE),
    "reshape": (lambda xp, x: xp.reshape(x, (-1,)), DTYPES),
    "flip": (lambda xp, x: xp.flip(x), DTYPES),
    "roll": (lambda xp, x: xp.roll(x, 2, axis=-1), DTYPES),
    "permute_dims": (lambda xp, x: xp.permute_dims(x, tuple(reversed(range(x.ndim)))), DTYPES),
    "expand_dims": (lambda xp, x: xp.expand_dims(x, axis=0), DTYPES),
    "squeeze": (lambda xp, x: xp.squeeze(xp.expand_dims(x, axis=0), axis=0), DTYPES),
    "concat": (lambda xp, x: xp.concat([x, x], axis=0), DTYPES),
    "stack": (lambda xp, x: xp.stack([x, x], axis=-1), DTYPES),
    "unstack": (lambda xp, x: xp.unstack(x), DTYPES),
    "tile": (lambda xp, x: xp.tile(x, (2, 1)), DTYPES),
    "repeat": (lambda xp, x: xp.repeat(x, 2, axis=0), DTYPES),
    "moveaxis": (lambda xp, x: xp.moveaxis(x, 0, -1), DTYPES),
    "broadcast_to": (lambda xp, x: xp.broadcast_to(x, (2, *x.shape)), DTYPES),
    "tril": (lambda xp, x: xp.tril(x, k=1), DTYPES),
    "triu": (lambda xp, x: xp.triu(x, k=-1), DTYPES),
    "zeros_like": (lambda xp, x: xp.zeros_like(x), DTYPES),
    "ones_like": (lambda xp, x: xp.ones_like(x), DTYPES),
    "full_like": (lambda xp, x: xp.full_like(x, 3), FINITE),
    "take": (lambda xp, x: xp.take(x, xp.asarray([0, 0]), axis=0), DTYPES),
    "mask": (lambda xp, x: x[x > 0], ("int8", "float64")),
    "step": (lambda xp, x: x[::-2, ...], DTYPES),
    "new axis": (lambda xp, x: x[None, ..., 0], DTYPES),
    "matmul": (lambda xp, x: xp.matmul(x, xp.matrix_transpose(x)), FINITE),
    "tensordot": (lambda xp, x: xp.tensordot(x, x, axes=((0,), (0,))), FINITE),
    "vecdot": (lambda xp, x: xp.vecdot(x, x), FINITE),
    "outer": (lambda xp, x: xp.linalg.outer(x, x), FINITE),
    "trace": (lambda xp, x: xp.linalg.trace(x), FINITE),
    "diagonal": (lambda xp, x: xp.linalg.diagonal(x, offset=1), DTYPES),
    "vector_norm": (lambda xp, x: xp.linalg.vector_norm(xp.astype(x, xp.float64)), FINITE),
    "matrix_norm": (lambda xp, x: xp.linalg.matrix_norm(xp.astype(x, xp.float64)), FINITE),
    "fft": (lambda xp, x: xp.fft.fft(xp.astype(x, xp.complex128)), FINITE),
    "rfft": (lambda xp, x: xp.fft.rfft(xp.astype(x, xp.float64), axis=0), FINITE),
    "fftshift": (lambda xp, x: xp.fft.fftshift(xp.astype(x, xp.float64)), FINITE),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_call(name: str):
    call, dtypes = CALLS[name]

    @SETTINGS
    @given(one(dtypes))
    def check(x: np.ndarray) -> None:
        agree(call, x)

    check()


CREATED: dict[str, Callable[[Any], Any]] = {
    "zeros": lambda xp: xp.zeros((2, 0), dtype=xp.int8),
    "ones": lambda xp: xp.ones(3),
    "full": lambda xp: [xp.full((2,), v) for v in (True, 3, 2.5, 1j)],
    "arange": lambda xp: [xp.arange(5), xp.arange(1, 4, 0.5), xp.arange(5, 0, -2)],
    "linspace": lambda xp: [xp.linspace(0, 1, 5), xp.linspace(0, 1, 4, endpoint=False)],
    "eye": lambda xp: [xp.eye(3), xp.eye(2, 4, k=-1, dtype=xp.int16)],
    "asarray": lambda xp: [xp.asarray(v) for v in (True, 3, 2.5, 1j, [[1, 2], [3, 4]])],
    "meshgrid": lambda xp: xp.meshgrid(xp.arange(3), xp.arange(2)),
    "fftfreq": lambda xp: [xp.fft.fftfreq(5), xp.fft.rfftfreq(4, d=0.5)],
    "promoted": lambda xp: xp.asarray([1], dtype=xp.int8) + xp.asarray([1], dtype=xp.uint8),
}


@pytest.mark.parametrize("name", CREATED)
def test_created(name: str):
    with revision():
        wanted = CREATED[name](strict)
    same(CREATED[name](sg), wanted)


def test_inspection():
    info = sg.__array_namespace_info__()
    with revision():
        theirs = strict.__array_namespace_info__()
        assert info.default_dtypes().keys() == theirs.default_dtypes().keys()
        assert info.dtypes().keys() == theirs.dtypes().keys()
        assert info.dtypes(kind="integral").keys() == theirs.dtypes(kind="integral").keys()
        assert info.capabilities().keys() == theirs.capabilities().keys()
    assert info.default_device() in info.devices()
