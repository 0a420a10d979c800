"""The front end that computes at once: Tensor, and its agreement with the one that builds."""

from __future__ import annotations

import copy
import operator
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import symgrad as sg
from symgrad.errors import ArgumentError, DTypeError, ShapeError, SymgradError, TraceError
from symgrad.types import DTYPES, Dim, take_constraints

# --- the value ------------------------------------------------------------------------------------


def test_what_a_tensor_looks_like() -> None:
    t = sg.asarray(np.ones((2, 3), np.float32))
    assert isinstance(t, sg.Tensor)
    assert (t.shape, t.ndim, t.size, t.dtype, t.device) == ((2, 3), 2, 6, np.float32, "cpu")
    assert str(t.type) == "f32[2, 3]"
    assert (t.T.shape, t.mT.shape, len(t)) == ((3, 2), (3, 2), 2)
    assert t.to_device("cpu") is t
    with pytest.raises(ArgumentError, match="to_device: unknown device"):
        t.to_device("gpu")
    with pytest.raises(ArgumentError, match="the cpu has no streams"):
        t.to_device("cpu", stream=1)
    with pytest.raises(TraceError, match="only a matrix"):
        _ = t[0].T


def test_access_to_the_value() -> None:
    t = sg.asarray([[1.0, 2.0]])
    view = t.numpy()
    assert type(view) is np.ndarray
    assert np.shares_memory(view, t.storage.array)
    for array in (view, np.asarray(t)):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 9
    own = np.array(t)
    own[0, 0] = 9
    assert t.tolist() == [[1.0, 2.0]]
    assert np.asarray(t, dtype=np.float32).dtype == np.float32
    assert sg.asarray(2).tolist() == 2


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_one_element_is_a_number(shape: tuple[int, ...]) -> None:
    t = sg.full(shape, 2.5)
    assert (float(t), int(t), complex(t), bool(t), t.item()) == (2.5, 2, 2.5 + 0j, True, 2.5)
    assert type(t.item()) is float
    assert [10, 20, 30][sg.full(shape, 1)] == 20
    assert f"{t:.3f} {sg.full(shape, 3):04d}" == "2.500 0003"


@pytest.mark.parametrize("convert", [float, int, complex, bool, operator.index, sg.Tensor.item])
def test_several_elements_are_no_number(convert: Any) -> None:
    for t in (sg.zeros(2), sg.zeros((0,))):
        with pytest.raises(ShapeError, match="only one element is a number: expected 1 element"):
            convert(t)


def test_numbers_of_other_kinds() -> None:
    z = sg.asarray(1 + 2j)
    assert complex(z) == 1 + 2j
    for convert in (float, int):
        with pytest.raises(DTypeError, match="a complex number: expected a real one"):
            convert(z)
    for t in (sg.asarray(1.0), sg.asarray(True)):
        with pytest.raises(DTypeError, match="an index is an integer"):
            operator.index(t)
    with pytest.raises(ValueError, match="NaN"):
        int(sg.asarray(np.nan))


def test_a_tensor_is_a_sequence_of_its_rows() -> None:
    t = sg.asarray([[1, 2], [3, 4]])
    assert [row.tolist() for row in t] == [[1, 2], [3, 4]]
    first, second = t
    assert isinstance(first, sg.Tensor)
    assert 3 in t
    assert 5 not in t
    assert second[0] in t
    for call in (len, iter):
        with pytest.raises(TraceError, match="a tensor without axes has no length"):
            call(sg.asarray(1))


def test_identity_and_equality() -> None:
    a, b = sg.asarray([1, 2]), sg.asarray([1, 3])
    assert (a == b).tolist() == [True, False]
    assert (a != b).tolist() == [False, True]
    assert len({a, b, a}) == 2
    assert hash(a) != hash(sg.asarray([1, 2]))


def test_copies_and_pickles_hold_the_value() -> None:
    t = sg.asarray(np.arange(3.0))
    for twin in (copy.copy(t), copy.deepcopy(t), pickle.loads(pickle.dumps(t))):
        assert isinstance(twin, sg.Tensor)
        assert twin.tolist() == t.tolist()
        assert not np.shares_memory(twin.numpy(), t.numpy())


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "Tensor(1.)"),
        ([1.0, 2.5], "Tensor([1. , 2.5])"),
        ([[1, 2], [3, 4]], "Tensor([[1, 2],\n        [3, 4]])"),
        ([True], "Tensor([ True])"),
        (1 + 2j, "Tensor(1.+2.j)"),
        (np.float32(2), "Tensor(2., dtype=float32)"),
        (np.zeros((0,)), "Tensor([], dtype=float64)"),
        (np.zeros((2, 1, 1), "int8"), "Tensor([[[0]],\n\n        [[0]]], dtype=int8)"),
    ],
)
def test_repr(value: Any, text: str) -> None:
    assert repr(sg.asarray(value)) == text
    assert str(sg.asarray(value)) == text


def test_repr_of_many_numbers() -> None:
    with np.printoptions(linewidth=40, threshold=50):
        lines = repr(sg.arange(30) * 1000).split("\n")
        assert all(len(line) <= 40 for line in lines)
        assert all(line.startswith(" " * len("Tensor([")) for line in lines[1:])
        assert "..." in repr(sg.zeros((20, 20)))


# --- operators ------------------------------------------------------------------------------------

BINARY = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
    operator.pow, operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
]  # fmt: skip
BITS = [operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift]


@pytest.mark.parametrize("op", BINARY + BITS)
def test_operators_in_both_orders_and_with_arrays(op: Any) -> None:
    a = np.array([5, 6, 7]) if op in BITS else np.array([5.0, 6.0, 7.0])
    t, other = sg.asarray(a), a[::-1] % 4
    for got, want in [
        (op(t, sg.asarray(other)), op(a, other)),
        (op(t, other), op(a, other)),
        (op(other, t), op(other, a)),
        (op(t, 2), op(a, 2)),
        (op(2, t), op(2, a)),
        (op(t, [1, 2, 3]), op(a, [1, 2, 3])),
        (op(a[0], t), op(a[0], a)),
    ]:
        assert isinstance(got, sg.Tensor)
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-15)


def test_the_other_operators() -> None:
    t = sg.asarray([-1.5, 2.0])
    assert ((-t).tolist(), (+t).tolist(), abs(t).tolist()) == ([1.5, -2], [-1.5, 2], [1.5, 2])
    assert (~sg.asarray([True, False])).tolist() == [False, True]
    assert (sg.eye(2) @ t).tolist() == t.tolist()
    assert (t @ np.eye(2)).tolist() == t.tolist()
    u = before = t
    u += 1
    assert (u.tolist(), before.tolist()) == ([-0.5, 3.0], [-1.5, 2.0])


def test_numpy_functions_of_elements_give_tensors() -> None:
    t = sg.asarray([0.0, 1.0])
    assert isinstance(np.sin(t), sg.Tensor)
    assert np.maximum(np.zeros(2), t).tolist() == [0.0, 1.0]
    with pytest.raises(TypeError, match="NotImplemented"):
        np.add(t, t, out=np.zeros(2))


def test_indexing() -> None:
    a = np.arange(24).reshape(2, 3, 4)
    t = sg.asarray(a)
    for key in (0, -1, slice(None, None, -1), (..., 0), (0, slice(1), None), [1, 0], (1, [0, 2])):
        assert np.array_equal(t[key], a[key])
    assert np.array_equal(t[sg.asarray([1, 0])], a[[1, 0]])


# --- the front end --------------------------------------------------------------------------------

SCALARS = [True, 3, 2.5, 1j]


@given(
    st.sampled_from(["add", "multiply", "divide", "maximum", "equal", "where", "pow"]),
    st.sampled_from(sorted(DTYPES)),
    st.sampled_from([*sorted(DTYPES), *SCALARS]),
)
def test_types_and_refusals_agree_with_symbols(name: str, dtype: str, other: Any) -> None:
    """One table of promotion, and one set of checks: both front ends agree, or refuse alike."""
    op = getattr(sg, name)
    left, right = np.ones(2, dtype), np.ones((), other) if isinstance(other, str) else other
    first = (np.ones(2, bool),) if name == "where" else ()

    def outcome(*operands: Any) -> str:
        try:
            result = op(*first, *operands)
        except SymgradError as error:
            error.site = None
            return f"{type(error).__name__} {error}"
        return str(result.type)

    x = sg.placeholder("x", (2,), dtype)
    y = sg.placeholder("y", (), other) if isinstance(other, str) else other
    assert outcome(sg.asarray(left), right) == outcome(x, y)
    assert outcome(right, left) == outcome(y, x)


def test_integers_become_floats_where_an_op_needs_them() -> None:
    assert sg.sin(1).dtype == sg.sin([1, 2]).dtype == sg.divide(1, 2).dtype == np.float64
    assert sg.sin(np.float32(1)).dtype == np.float32


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: sg.add(x, np.ones(3)), "add: shapes do not broadcast"),
        (lambda x: sg.matmul(x, np.ones(3)), "matmul"),
        (lambda x: sg.reshape(x, (5,)), "reshape: the number of elements changes"),
        (lambda x: sg.permute_dims(x, (0, 1)), "permute_dims: axis out of range"),
        (lambda x: sg.sum(x, axis=4), "sum: axis out of range"),
        (lambda x: sg.logical_and(x, x), "logical_and: element type"),
        (lambda x: sg.sin(x, 1), "sin: too many arguments"),
        (lambda x: sg.sin(x, y=1), "sin: unknown argument 'y'"),
        (lambda x: sg.add(x), "add: argument 'x2' is missing"),
        (lambda x: sg.bitwise_and(x, 1), "bitwise_and: element type"),
    ],
)
def test_refusals_are_those_of_symbols(call: Any, text: str) -> None:
    x = sg.placeholder("x", (2,))
    with pytest.raises(SymgradError) as symbolic:
        call(x)
    with pytest.raises(SymgradError) as eager:
        call(np.ones(2))
    assert type(eager.value) is type(symbolic.value)
    problems = [error.value.args for error in (symbolic, eager)]
    assert problems[0] == problems[1]
    assert text in str(eager.value)


def test_a_refusal_names_the_line_that_called() -> None:
    with pytest.raises(ShapeError, match=r"created at test_tensor\.py:\d+$"):
        sg.add(np.ones(2), np.ones(3))


def test_what_numpy_knows_and_we_do_not() -> None:
    for value in (np.array(["a"]), np.array([None]), np.longdouble(1), np.array(["2020"], "M8")):
        for call in (sg.sin, sg.softmax, sg.asarray):
            with pytest.raises(DTypeError, match="not numbers of a known type"):
                call(value)
    with pytest.raises(ShapeError, match="sin: nested lists of different lengths"):
        sg.sin([[1.0], [1.0, 2.0]])


def test_byte_orders_of_others_become_ours() -> None:
    for result in (
        sg.reshape(np.arange(3.0).astype(">f8"), (3, 1)),
        sg.tile(np.arange(3).astype(">i8"), 2),
        sg.asarray(np.arange(3).astype(">c16")),
    ):
        assert result.dtype.isnative


def test_any_symbol_or_symbolic_size_gives_a_symbol() -> None:
    x, n = sg.placeholder("x", ("n",)), Dim.named("n")
    t = sg.asarray([1.0, 2.0])
    for mixed in (
        t + x,
        x + t,
        np.ones(2) * x,
        sg.add(t, 1) * n,
        n * t,
        sg.broadcast_to(1.0, (n,)),
    ):
        assert isinstance(mixed, sg.Symbol)
    assert isinstance(sg.broadcast_to(1.0, ("m", 2)), sg.Symbol)
    assert isinstance(sg.concat([t, x]), sg.Symbol)
    got = sg.function([x], sg.sqrt(n) + sg.sum(x) * t)(np.ones(4))
    assert np.array_equal(got, [6.0, 10.0])


def test_a_tensor_joins_a_graph_as_its_value() -> None:
    x = sg.placeholder("x", (2,))
    t = sg.asarray([1.0, 2.0])
    (slope,) = sg.grad(sg.sum(x * t), [x])
    assert slope.eval({x: [5.0, 5.0]}).tolist() == [1.0, 2.0]
    assert sg.constant(t).value.tolist() == [1.0, 2.0]


def test_no_call_warns_or_changes_its_operands() -> None:
    a = np.array([-1.0, 0.0, np.inf])
    before = a.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for op in (sg.log, sg.sqrt, sg.exp, sg.sin, sg.tan, lambda x: x / 0, lambda x: x * np.inf):
            op(sg.asarray(a))
        assert sg.asarray(np.array([1e300, np.nan]), dtype="float32").dtype == np.float32
        assert sg.asarray(np.array([np.nan]), dtype="int8").dtype == np.int8
    assert np.array_equal(a, before)


def test_a_refused_call_leaves_no_constraint_behind() -> None:
    with pytest.raises(ShapeError):
        sg.add(np.ones(2), np.ones(3))
    assert take_constraints() == ()


def test_results_without_axes_are_tensors() -> None:
    for result in (sg.sum(np.ones(3)), sg.max([1, 2]), sg.asarray([1, 2])[0], sg.add(1, 2)):
        assert isinstance(result, sg.Tensor)
        assert result.shape == ()


def test_ops_of_several_outputs() -> None:
    q, r = sg.linalg.qr(np.eye(2) * 2)
    assert isinstance(q, sg.Tensor)
    np.testing.assert_allclose(q @ r, np.eye(2) * 2)
    vectors = sg.linalg.eigh(sg.asarray(np.diag([1.0, 2.0])))[1]
    assert vectors.shape == (2, 2)
