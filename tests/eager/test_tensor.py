"""Tensor: numpy is the oracle for values; a symbol for the texts of errors."""

from __future__ import annotations

import copy
import operator
import pickle
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import (
    ArgumentError,
    DTypeError,
    InPlaceError,
    OutOfRange,
    ShapeError,
    SymgradError,
    TraceError,
)
from symgrad.types import DTYPES

T = sg.asarray([1.5, -2.0])
I = sg.asarray([5, 2])  # noqa: E741
B = sg.asarray([True, False])


def same(ours: Any, numpys: Any) -> None:
    assert isinstance(ours, sg.Tensor)
    assert ours.dtype == numpys.dtype
    assert ours.shape == numpys.shape
    np.testing.assert_array_equal(ours, numpys)


# --- operators ------------------------------------------------------------------------------------

ARITHMETIC = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow"]
COMPARISONS = ["eq", "ne", "lt", "le", "gt", "ge"]
BITS = ["and_", "or_", "xor"]
SHIFTS = ["lshift", "rshift"]

OPERANDS: list[tuple[list[str], list[Any], list[Any]]] = [
    (
        [*ARITHMETIC, *COMPARISONS],
        [np.array([1.5, 2.0]), np.array([1.5, 2.0], "float32"), np.array([5, 2])],
        [
            2,
            3.5,
            True,
            np.array([2.0, 4.0], "float32"),
            np.float32(2),
            np.int8(3),
            np.array([[2], [1]]),
        ],
    ),
    (
        [*BITS, *SHIFTS],
        [np.array([5, 2]), np.array([5, 2], "uint8")],
        [1, np.array([3, 1], "uint8")],
    ),
    (BITS, [np.array([True, False])], [True, np.array([True, True])]),
]
CASES = [
    (name, a, b)
    for names, lefts, rights in OPERANDS
    for name in names
    for a in lefts
    for b in rights
]


@pytest.mark.parametrize(("name", "a", "b"), CASES)
def test_operators_both_ways(name: str, a: np.ndarray, b: Any) -> None:
    compute = getattr(operator, name)
    tensor = sg.asarray(a)
    # Numpy divides two small integers in a small float, the array API leaves it open.
    with np.errstate(all="ignore"):
        forward, backward = compute(a, b), compute(b, a)
    if name == "truediv" and forward.dtype == np.float16:
        return
    same(compute(tensor, b), forward)
    same(compute(b, tensor), backward)
    if isinstance(b, np.ndarray):
        same(compute(tensor, sg.asarray(b)), forward)


def test_unary_operators() -> None:
    for name in ("neg", "pos", "abs"):
        same(getattr(operator, name)(T), getattr(operator, name)(np.asarray(T)))
    same(~I, ~np.asarray(I))
    same(~B, ~np.asarray(B))
    same(abs(sg.asarray([3 + 4j])), np.array([5.0]))


def test_matmul() -> None:
    m = np.arange(6.0).reshape(2, 3)
    t = sg.asarray(m)
    same(t @ t.T, m @ m.T)
    same(m @ t.mT, m @ m.T)
    same(t @ m.T, m @ m.T)
    same(t @ [1.0, 2.0, 3.0], m @ [1, 2, 3])
    same([1.0, 2.0] @ t, [1, 2] @ m)


IN_PLACE = "iadd isub imul itruediv ifloordiv imod ipow".split()


@pytest.mark.parametrize("name", IN_PLACE)
def test_augmented_assignment_changes_the_tensor(name: str) -> None:
    t = before = sg.asarray([5.0, 2.0])
    array = t.storage.array
    t = getattr(operator, name)(t, 2)
    assert t is before
    assert t.storage.array is array
    same(t, getattr(operator, name)(np.array([5.0, 2.0]), 2))


def test_augmented_assignment_of_bits() -> None:
    i = sg.asarray([5, 2])
    i &= 4
    i |= 1
    i ^= 2
    i <<= 1
    i >>= 1
    same(i, np.array([7, 3]))


def test_augmented_assignment_with_a_symbol_binds_the_name_anew() -> None:
    t = before = sg.asarray([1.0, 2.0])
    t += sg.placeholder("x", (2,))
    assert isinstance(t, sg.Symbol)
    same(before, np.array([1.0, 2.0]))


def test_item_assignment() -> None:
    t = sg.asarray([1.0, 2.0, 3.0])
    t[1:] = 7
    t[sg.asarray([True, False, False])] = sg.asarray(4.0)
    same(t, np.array([4.0, 7.0, 7.0]))


def test_item_assignment_to_a_symbol_names_the_cure() -> None:
    x = sg.placeholder("x", (2,))
    with pytest.raises(InPlaceError, match=r"item assignment: .* do not change; hint: .*set_at"):
        x[0] = 1.0


def test_what_is_no_number_is_not_equal() -> None:
    for owner in (T, sg.placeholder("x", (2,))):
        assert (owner == None) is False  # noqa: E711
        assert (owner != None) is True  # noqa: E711
        assert (owner == "x") is False
    with pytest.raises(DTypeError, match="add: not numbers of a known type"):
        T + None


def test_hash_goes_by_identity() -> None:
    twin = sg.asarray(np.asarray(T))
    assert len({T, twin, T}) == 2
    assert {T: 1}[T] == 1
    assert twin not in {T}


# --- numpy and symbols ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ufunc",
    [
        np.sin, np.exp, np.log1p, np.sqrt, np.abs, np.sign, np.negative, np.square, np.conjugate,
        np.isnan, np.floor, np.ceil, np.trunc, np.rint, np.reciprocal, np.tanh, np.arctan, np.expm1,
    ],
    ids=lambda u: u.__name__,
)  # fmt: skip
def test_ufuncs_of_one_operand(ufunc: Any) -> None:
    values = np.array([0.5, 2.0])
    result = ufunc(sg.asarray(values))
    assert isinstance(result, sg.Tensor)
    np.testing.assert_allclose(result, ufunc(values), rtol=1e-15)
    assert isinstance(ufunc(sg.placeholder("x", (2,))), sg.Symbol)


@pytest.mark.parametrize(
    "ufunc",
    [
        np.add, np.subtract, np.multiply, np.divide, np.power, np.floor_divide, np.remainder,
        np.less, np.maximum, np.minimum, np.hypot, np.arctan2, np.logaddexp, np.copysign, np.equal,
        np.matmul, np.vecdot, np.nextafter,
    ],
    ids=lambda u: u.__name__,
)  # fmt: skip
def test_ufuncs_of_two_operands(ufunc: Any) -> None:
    a, b = np.array([0.5, 2.0]), np.array([3.0, 1.5])
    for x, y in ((sg.asarray(a), b), (a, sg.asarray(b)), (sg.asarray(a), sg.asarray(b))):
        result = ufunc(x, y)
        assert isinstance(result, sg.Tensor)
        np.testing.assert_allclose(result, ufunc(a, b), rtol=1e-15)
    assert isinstance(ufunc(a, sg.placeholder("x", (2,))), sg.Symbol)


def test_ufuncs_that_are_no_ops_take_the_values() -> None:
    out = np.zeros(2)
    results = (
        (np.gcd(I, I), np.array([5, 2])),
        (np.add.reduce(T), np.float64(-0.5)),
        (np.sin(T, out=out), np.sin(np.asarray(T))),
        (np.add(T, 1, dtype="float32"), np.float32([2.5, -1.0])),
    )
    for found, expected in results:
        assert not isinstance(found, sg.Tensor)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


def test_symbols_with_tensors_give_symbols() -> None:
    x = sg.placeholder("x", ("n",), "float32")
    t = sg.asarray(np.ones(1, "float32"))
    for y in (t + x, x + t, np.ones(1, "float32") * x, sg.where(x > 0, t, x), sg.stack([x, x])):
        assert isinstance(y, sg.Symbol)
    assert (t * x).dtype == sg.float32
    np.testing.assert_array_equal((t * x + t).eval({x: [2.0, 3.0]}), [3.0, 4.0])
    # The value at the time of the call is what counts.
    assert (t + x) is (x.__radd__(t))


def test_as_numpy() -> None:
    a = np.asarray(T)
    assert a is not None
    assert np.shares_memory(a, T.numpy())
    with pytest.raises(ValueError, match="read-only"):
        a[0] = 0.0
    own = np.array(T)
    own[0] = 0.0
    assert float(T[0]) == 1.5
    assert np.array(T, dtype="float32").dtype == np.float32
    assert np.shares_memory(np.array(T, copy=False), T.numpy())
    np.testing.assert_array_equal(np.arange(9)[np.asarray(I)], [5, 2])
    with pytest.raises(TraceError, match="has no value while the graph is built"):
        np.asarray(sg.placeholder("x"))


# --- Python numbers, sequences --------------------------------------------------------------------


def test_numbers() -> None:
    one = sg.asarray(2.5)
    assert (float(one), int(one), complex(one), bool(one)) == (2.5, 2, 2.5 + 0j, True)
    assert [10, 20, 30][sg.asarray(2)] == 30
    assert complex(sg.asarray(1j)) == 1j
    assert one.item() == 2.5
    assert type(sg.asarray(True).item()) is bool
    assert T.tolist() == [1.5, -2.0]
    assert one.tolist() == 2.5
    assert f"{one:.2f}" == "2.50"
    assert f"{T}" == repr(T) == str(T)
    assert bool(sg.zeros((1, 1))) is False


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: bool(T),
            ShapeError,
            r"bool: only one element is a number: expected 1 element, go",
        ),
        (lambda: float(T), ShapeError, r"float: only one element is a number: .* got f64\[2\]"),
        (lambda: T.item(), ShapeError, "item: only one element is a number"),
        (lambda: int(sg.asarray(1j)), DTypeError, "int: a complex number: .*hint: take sg.real or"),
        (
            lambda: [1][sg.asarray(0.0)],
            DTypeError,
            r"index: an index is an integer: .* got f64\[\]",
        ),
        (lambda: [1][sg.asarray(False)], DTypeError, "index: an index is an integer"),
        (lambda: len(sg.asarray(1.0)), TraceError, "len: a tensor without axes has no length"),
        (lambda: iter(sg.asarray(1.0)), TraceError, "a tensor without axes has no length"),
        (lambda: f"{T:.2f}", ShapeError, "item: only one element is a number"),
        (lambda: T.T, TraceError, "T: only a matrix has a plain transpose: expected 2 axes, got 1"),
        (
            lambda: T.to_device("gpu"),
            ArgumentError,
            "to_device: unknown device: expected 'cpu', got",
        ),
        (lambda: T.to_device("cpu", stream=1), ArgumentError, "to_device: the cpu has no streams"),
        (
            lambda: T.__array_namespace__(api_version="1999"),
            ArgumentError,
            "__array_namespace__: unknown version: expected 2025.12, got 1999",
        ),
    ],
)
def test_refusals(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_sequences() -> None:
    m = sg.asarray([[1, 2], [3, 4]])
    assert len(m) == 2
    assert [row.tolist() for row in m] == [[1, 2], [3, 4]]
    assert list(sg.zeros((0, 2))) == []
    first, second = T
    assert (float(first), float(second)) == (1.5, -2.0)
    assert 3 in m
    assert 7 not in m
    assert float("nan") not in sg.asarray([float("nan")])


def test_attributes() -> None:
    t = sg.zeros((2, 0, 3), dtype="float32")
    assert (t.shape, t.ndim, t.size, t.dtype, t.device) == (
        (2, 0, 3),
        3,
        0,
        np.dtype("float32"),
        "cpu",
    )
    assert str(t.type) == "f32[2, 0, 3]"
    assert t.to_device("cpu") is t
    assert t.mT.shape == (2, 3, 0)
    assert t.__array_namespace__() is sg
    assert t.__array_namespace__(api_version="2025.12") is sg
    with pytest.raises(AttributeError):
        t.foo = 1  # type: ignore[attr-defined]


# --- making, copying, printing --------------------------------------------------------------------


def test_making_one() -> None:
    a = np.ones(2)
    t = sg.Tensor(a)
    a[0] = 7.0
    same(t, np.ones(2))
    same(sg.Tensor([1, 2], dtype="float32"), np.array([1, 2], "float32"))
    same(sg.Tensor(T), np.asarray(T))
    with pytest.raises(DTypeError, match="Tensor: not numbers of a known type"):
        sg.Tensor("a")


def test_copies_and_pickles() -> None:
    for again in (copy.copy(T), copy.deepcopy(T), pickle.loads(pickle.dumps(T))):
        assert again is not T
        same(again, np.asarray(T))
        assert not np.shares_memory(again, T)


@pytest.mark.parametrize("dtype", DTYPES)
def test_repr(dtype: str) -> None:
    for shape in ((), (2,), (2, 2), (2, 2, 2), (0, 3), (2000,)):
        array = np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
        text = repr(sg.asarray(array))
        # The same but for one letter more on every line.
        assert text.startswith("Tensor(")
        assert text.replace("Tensor(", "array(", 1).replace("\n  ", "\n ") == repr(array)
        if array.size < 1000:
            names = {"Tensor": sg.Tensor, "dtype": None, **{name: name for name in DTYPES}}
            if "shape=" not in text:
                same(eval(text, {**names, "True": True, "False": False}), array)


def test_repr_lines_up() -> None:
    assert repr(sg.asarray([[1.0, 2.0], [3.0, 4.0]])) == "Tensor([[1., 2.],\n        [3., 4.]])"
    lines = repr(sg.arange(40)).splitlines()
    assert max(map(len, lines)) <= np.get_printoptions()["linewidth"]


# --- errors are those of a symbol -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda x: x + np.ones(3), ShapeError),
        (lambda x: x @ np.ones(3), ShapeError),
        (lambda x: sg.sum(x, axis=3), ShapeError),
        (lambda x: sg.reshape(x, (3,)), ShapeError),
        (lambda x: sg.permute_dims(x, (0, 1)), ShapeError),
        (lambda x: sg.concat([x, np.ones((2, 2))]), ShapeError),
        (lambda x: sg.sum(x, axs=0), ArgumentError),
        (lambda x: sg.sin(), ArgumentError),
        (lambda x: sg.sin(x, x), ArgumentError),
        (lambda x: x & x, DTypeError),
        (lambda x: sg.logical_not(x), DTypeError),
        (lambda x: x[5], OutOfRange),
        (lambda x: x[0, 0], OutOfRange),
        (lambda x: sg.astype(x, "f4"), DTypeError),
        (lambda x: sg.linalg.solve(x, x), ShapeError),
        (lambda x: sg.where(x, x, x), DTypeError),
    ],
)
def test_errors_equal_the_symbolic_ones(call: Any, error: type[SymgradError]) -> None:
    texts: list[str] = []
    for x in (T, sg.placeholder("x", (2,))):
        with pytest.raises(error) as caught:
            call(x)
        texts.append(str(caught.value))
    assert texts[0] == texts[1]
    assert "created at test_tensor.py" in texts[0]
    # And the next call is none the wiser.
    same(T + 1, np.asarray(T) + 1)


def test_a_dimension_makes_a_symbol() -> None:
    x = sg.placeholder("x", ("n",))
    n = x.shape[0]
    y = T * n
    assert isinstance(y, sg.Symbol)
    assert y.dtype == sg.float64
    np.testing.assert_array_equal(sg.evaluate([y, x], {x: np.ones(3)})[0], [4.5, -6.0])
    assert isinstance(sg.broadcast_to(T[0], (n, 2)), sg.Symbol)


def test_quiet_where_numpy_warns() -> None:
    same(sg.asarray([1.0, -1.0, 0.0]) / 0, np.array([np.inf, -np.inf, np.nan]))
    same(sg.log(sg.asarray([0.0, -1.0])), np.array([-np.inf, np.nan]))
    same(sg.exp(sg.asarray([1e4])), np.array([np.inf]))
    same(sg.asarray(np.int8([127])) + 1, np.array([-128], "int8"))
    same(sg.asarray([1, 2]) // 0, np.array([0, 0]))
