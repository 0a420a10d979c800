"""Products over shared axes: numpy is the oracle for values, finite differences for derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import symgrad as sg
from symgrad.errors import ArgumentError, ShapeError
from symgrad.ops.contract import contract
from tests.ops.finite_differences import check_derivatives
from tests.ops.front_ends import check_everywhere

RNG = np.random.default_rng(5)


def sample(shape: tuple[int, ...], dtype: str = "float64") -> np.ndarray:
    values = 2 * RNG.normal(size=shape)
    if dtype[0] == "c":
        values = values + 1j * RNG.normal(size=shape)
    return np.abs(values).astype(dtype) if dtype[0] == "u" else values.astype(dtype)


def pull(
    function: Callable[..., Any], arrays: list[np.ndarray], ct: np.ndarray
) -> list[np.ndarray]:
    inputs = [sg.placeholder(f"x{k}", a.shape, a.dtype) for k, a in enumerate(arrays)]
    gradients = sg.grad(function(*inputs), inputs, grad_outputs=ct)
    return sg.evaluate(list(gradients), dict(zip(inputs, arrays, strict=True)))


# --- matmul ---------------------------------------------------------------------------------------

RANKS = [
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 4)),
    ((2, 3), (3, 4)),
    ((5, 2, 3), (3, 4)),
    ((2, 3), (5, 3, 4)),
    ((5, 2, 3), (5, 3, 4)),
    ((1, 2, 3), (5, 3, 4)),
    ((6, 1, 2, 3), (5, 3, 4)),
    ((3,), (5, 3, 4)),
    ((5, 2, 3), (3,)),
    ((6, 5, 2, 3), (3, 4)),
    ((1, 3), (3, 1)),
    ((2, 1), (1, 4)),
    ((1,), (1,)),
]
EMPTY = [((0, 3), (3, 4)), ((2, 0), (0, 4)), ((0,), (0,)), ((0, 2, 3), (3, 4)), ((2, 3), (3, 0))]


@pytest.mark.parametrize(("a", "b"), [*RANKS, *EMPTY])
def test_matmul(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    x, y = sample(a), sample(b)
    check_everywhere(sg.matmul, np.matmul(x, y), x, y, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("a", "b"), RANKS)
def test_matmul_derivatives(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    check_derivatives(sg.matmul, sample(a), sample(b))


@pytest.mark.parametrize(("a", "b"), [*RANKS, *EMPTY])
def test_matmul_slopes_are_its_transposes(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    x, y = sample(a), sample(b)
    value = np.matmul(x, y)
    ct = sample(value.shape)
    by_x, by_y = pull(sg.matmul, [x, y], ct)
    assert (by_x.shape, by_y.shape) == (a, b)
    inner = np.sum(ct * value)
    assert np.sum(by_x * x) == pytest.approx(inner, rel=1e-11, abs=1e-12)
    assert np.sum(by_y * y) == pytest.approx(inner, rel=1e-11, abs=1e-12)


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "int8", "int64", "uint8", "bool", "complex64", "complex128"]
)
def test_matmul_of_types(dtype: str) -> None:
    x, y = sample((2, 3), dtype), sample((3, 2), dtype)
    precision = np.finfo(dtype).eps if dtype[0] in "fc" else 0
    check_everywhere(sg.matmul, np.matmul(x, y), x, y, rtol=10 * precision, atol=10 * precision)
    check_everywhere(
        lambda x, y: sg.einsum("ij,jk->ik", x, y),
        np.matmul(x, y),
        x,
        y,
        rtol=10 * precision,
        atol=10 * precision,
    )


def test_matmul_of_complex_numbers_has_slopes() -> None:
    check_derivatives(sg.matmul, sample((2, 3), "complex128"), sample((3, 2), "complex128"))
    check_derivatives(sg.matmul, sample((2, 3)), sample((3,), "complex128"))


def test_matmul_promotes_and_reads_any_strides() -> None:
    x, y = sample((3, 2), "float32").T, sample((6, 4))[::-2, ::-1]
    check_everywhere(sg.matmul, np.matmul(x, y), x, y, rtol=1e-12)


def test_matmul_refuses_numbers() -> None:
    with pytest.raises(
        ShapeError, match=r"matmul: x1 has no axes: expected at least 1 axis, got f64\[\]"
    ):
        sg.matmul(2.0, np.ones(3))
    with pytest.raises(ShapeError, match="matmul: x2 has no axes"):
        sg.placeholder("x", (3,)) @ 2.0


def test_matmul_names_both_operands_where_sizes_differ() -> None:
    x, w = sg.placeholder("x", ("batch", 784)), sg.placeholder("w", (10, 784))
    with pytest.raises(ShapeError) as caught:
        x @ w
    message = str(caught.value)
    assert "last axis of x1 f64[batch, 784]" in message
    assert "second-to-last axis of x2 f64[10, 784]" in message
    assert "expected 784, got 10" in message
    assert "test_contract.py" in message


def test_matmul_of_named_sizes_constrains_them() -> None:
    x, w = sg.placeholder("x", ("batch", "k")), sg.placeholder("w", (10, 3))
    y = x @ w
    assert y.shape == (sg.placeholder("b", ("batch",)).shape[0], 3)
    with pytest.raises(ShapeError, match="matmul"):
        sg.evaluate(y, {x: np.ones((2, 4)), w: np.ones((10, 3))})


def test_large_batches_meet_in_one_product() -> None:
    """The gradient of a weight is one matrix product: no batch is made only to be summed."""
    x, w = sg.placeholder("x", (50, 20, 3)), sg.placeholder("w", (3, 4))
    (g,) = sg.grad(sg.sum(sg.sin(x @ w)), w)
    graph = sg.Graph([x, w], [g])
    assert max(len(s.shape) for s in graph.symbols if s.shape[-2:] == (3, 4)) == 2


# --- einsum ---------------------------------------------------------------------------------------

EINSUMS: list[tuple[str, list[tuple[int, ...]]]] = [
    ("ij,jk->ik", [(2, 3), (3, 4)]),
    ("ij,jk", [(2, 3), (3, 4)]),
    ("ij,kj->ki", [(2, 3), (4, 3)]),
    ("ba", [(2, 3)]),
    ("ii->", [(3, 3)]),
    ("ii", [(3, 3)]),
    ("ii->i", [(3, 3)]),
    ("iij->j", [(2, 2, 3)]),
    ("iii->i", [(2, 2, 2)]),
    ("ijij->ji", [(2, 3, 2, 3)]),
    ("abcd->bd", [(2, 3, 4, 2)]),
    ("i->", [(3,)]),
    ("ij->ji", [(2, 3)]),
    ("ij->ij", [(2, 3)]),
    ("i,i->", [(3,), (3,)]),
    ("i,i->i", [(3,), (3,)]),
    ("i,j->ij", [(2,), (3,)]),
    ("i,j->", [(2,), (3,)]),
    ("bij,bjk->bik", [(4, 2, 3), (4, 3, 2)]),
    ("bnij,bnjc->bnic", [(1, 1, 2, 3), (1, 1, 3, 2)]),
    ("bij,bj->bi", [(4, 2, 3), (4, 3)]),
    ("bi,bi->b", [(4, 3), (4, 3)]),
    ("ijk,jil->kl", [(2, 3, 4), (3, 2, 5)]),
    ("i,ij,j->", [(2,), (2, 3), (3,)]),
    ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 2)]),
    ("ij,jk,kl,lm->im", [(2, 3), (3, 4), (4, 2), (2, 3)]),
    ("ii,ij->j", [(2, 2), (2, 3)]),
    ("ij,kk->ij", [(2, 3), (4, 4)]),
    ("ijj,jk->ik", [(2, 3, 3), (3, 2)]),
    ("...ij,...jk->...ik", [(5, 2, 3), (5, 3, 4)]),
    ("...ij,...jk", [(5, 2, 3), (3, 4)]),
    ("...ij,...jk->...ik", [(6, 1, 2, 3), (5, 3, 4)]),
    ("...ij,...jk->...ik", [(1, 2, 3), (1, 3, 4)]),
    ("i...->...", [(3, 2)]),
    ("...i,i->...", [(2, 3, 4), (4,)]),
    ("i...,i...->i...", [(3, 2), (3, 1)]),
    (",ij->ij", [(), (2, 3)]),
    (" i j , j -> i ", [(2, 3), (3,)]),
    ("ab,ab,ab->ab", [(2, 3)] * 3),
    ("a,b,c->abc", [(2,), (3,), (2,)]),
    ("ij,ij->", [(2, 3), (2, 3)]),
    ("ijk,k->ij", [(2, 3, 4), (4,)]),
    ("...", [(2, 3)]),
    ("Ab,bA->", [(2, 3), (3, 2)]),
]


@pytest.mark.parametrize(("subscripts", "shapes"), EINSUMS)
def test_einsum(subscripts: str, shapes: list[tuple[int, ...]]) -> None:
    arrays = [sample(shape) for shape in shapes]
    expected = np.einsum(subscripts, *arrays)
    check_everywhere(
        lambda *xs: sg.einsum(subscripts, *xs), expected, *arrays, rtol=1e-12, atol=1e-14
    )


@pytest.mark.parametrize(("subscripts", "shapes"), EINSUMS)
def test_einsum_derivatives(subscripts: str, shapes: list[tuple[int, ...]]) -> None:
    arrays = [sample(shape) for shape in shapes]
    check_derivatives(lambda *xs: sg.einsum(subscripts, *xs), *arrays)


@pytest.mark.parametrize(("subscripts", "shapes"), EINSUMS)
def test_einsum_slopes_are_its_transposes(subscripts: str, shapes: list[tuple[int, ...]]) -> None:
    arrays = [sample(shape) for shape in shapes]
    value = np.einsum(subscripts, *arrays)
    ct = sample(value.shape)
    slopes = pull(lambda *xs: sg.einsum(subscripts, *xs), arrays, ct)
    for slope, x in zip(slopes, arrays, strict=True):
        assert slope.shape == x.shape
        assert np.sum(slope * x) == pytest.approx(np.sum(ct * value), rel=1e-10, abs=1e-12)


@given(st.data())
def test_random_einsums(data: st.DataObject) -> None:
    sizes = {"a": 2, "b": 3, "c": 1, "d": 2}
    labels = st.text("abcd", max_size=3)
    inputs = data.draw(st.lists(labels, min_size=1, max_size=3))
    used = sorted(set("".join(inputs)))
    output = "".join(data.draw(st.lists(st.sampled_from(used), unique=True))) if used else ""
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=[sizes[a] for a in labels]) for labels in inputs]
    subscripts = f"{','.join(inputs)}->{output}"
    got = np.asarray(sg.einsum(subscripts, *arrays))
    np.testing.assert_allclose(got, np.einsum(subscripts, *arrays), rtol=1e-11, atol=1e-12)
    check_derivatives(lambda *xs: sg.einsum(subscripts, *xs), *arrays, order=1)


def test_einsum_of_complex_numbers() -> None:
    x, y = sample((2, 2), "complex128"), sample((2, 3), "complex128")
    check_derivatives(lambda x, y: sg.einsum("ii,ij->j", x, y), x, y)


def test_einsum_of_one_operand_is_a_plainer_op() -> None:
    x = sg.placeholder("x", (2, 3))
    assert sg.einsum("ij->ij", x) is x
    assert sg.einsum("ij->ji", x) is sg.permute_dims(x, (1, 0))
    assert sg.einsum("ij->j", x) is sg.sum(x, axis=0)
    small = sg.placeholder("x", (2, 3), "int8")
    assert sg.einsum("ij->j", small).dtype == np.int8


def test_einsum_results_do_not_share_memory() -> None:
    x = np.eye(3)
    for subscripts in ("ii->i", "iij->ij", "ij->ji"):
        operand = np.ones((3, 3, 2)) if subscripts == "iij->ij" else x
        y = contract.kernel([operand], subscripts=subscripts)
        assert not np.shares_memory(y, operand)


def test_einsum_takes_numbers() -> None:
    x = np.ones((2, 3), np.float32)
    check_everywhere(lambda x: sg.einsum(",ij->i", 2.0, x), np.full(2, 6.0, np.float32), x)
    assert float(sg.einsum("->", 2.0)) == 2.0


@pytest.mark.parametrize(
    ("subscripts", "operands", "message"),
    [
        (
            "ij,jk->ik",
            1,
            "the subscripts are for another number of operands: expected 1, got 2 in 'ij,jk->ik'",
        ),
        ("ij->ik", 1, "no operand has the label 'k' of the output"),
        ("ij->ii", 1, "the output has the label 'i' twice"),
        ("i1", 1, "malformed subscripts"),
        ("i..", 1, "malformed subscripts"),
        ("ij->i->j", 1, "malformed subscripts"),
        ("i...->i", 1, "the output drops the ellipsis"),
    ],
)
def test_malformed_subscripts(subscripts: str, operands: int, message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        sg.einsum(subscripts, *[np.ones((2, 2))] * operands)
    assert f"einsum: {message}" in str(caught.value)


def test_einsum_refuses_sizes_that_differ() -> None:
    with pytest.raises(ShapeError) as caught:
        sg.einsum("ij,jk->ik", np.ones((2, 3)), np.ones((4, 5)))
    assert (
        "einsum: sizes of label 'j' (axis 1 of operand 0 and axis 0 of operand 1) differ: "
        "expected 3, got 4" in str(caught.value)
    )
    with pytest.raises(
        ShapeError,
        match="operand 1 has another number of axes than its subscripts: expected 2 for 'jk', got",
    ):
        sg.einsum("ij,jk->ik", np.ones((2, 3)), np.ones(3))
    with pytest.raises(ArgumentError, match="there are no operands"):
        sg.einsum("->")


def test_einsum_of_named_sizes_constrains_them() -> None:
    x, y = sg.placeholder("x", ("n", "k")), sg.placeholder("y", ("m", 2))
    z = sg.einsum("ij,jk->ik", x, y)
    with pytest.raises(ShapeError, match="label 'j'"):
        sg.evaluate(z, {x: np.ones((2, 3)), y: np.ones((4, 2))})


# --- tensordot and its kin ------------------------------------------------------------------------

TENSORDOTS: list[tuple[tuple[int, ...], tuple[int, ...], Any]] = [
    ((2, 3, 4), (3, 4, 5), 2),
    ((2, 3, 5), (5, 4), ((-1,), (0,))),
    ((2,), (3,), 0),
    ((2, 3), (3, 2), ((0, 1), (1, 0))),
    ((2, 3, 4), (4, 3, 5), ((2, 1), (0, 1))),
    ((2, 3), (3,), 1),
    ((2, 3), (3, 4), (1, 0)),
    ((), (2,), 0),
    ((2, 0), (0, 3), 1),
]


@pytest.mark.parametrize(("a", "b", "axes"), TENSORDOTS)
def test_tensordot(a: tuple[int, ...], b: tuple[int, ...], axes: Any) -> None:
    x, y = sample(a), sample(b)
    expected = np.tensordot(x, y, axes=axes)
    check_everywhere(
        lambda x, y: sg.tensordot(x, y, axes=axes), expected, x, y, rtol=1e-12, atol=1e-14
    )
    if 0 not in (*a, *b):
        check_derivatives(lambda x, y: sg.tensordot(x, y, axes=axes), x, y)


def test_tensordot_refuses() -> None:
    x, y = np.ones((2, 3)), np.ones((3, 2))
    with pytest.raises(ShapeError, match="axes is out of range: expected 0 to 2, got 3"):
        sg.tensordot(x, y, axes=3)
    with pytest.raises(ShapeError, match="axes are not in pairs"):
        sg.tensordot(x, y, axes=((0, 1), (0,)))
    with pytest.raises(ShapeError, match="tensordot: axis out of range"):
        sg.tensordot(x, y, axes=((0,), (5,)))
    with pytest.raises(ShapeError, match="an axis is given twice"):
        sg.tensordot(x, y, axes=((0, 0), (0, 1)))
    with pytest.raises(ShapeError, match="differ"):
        sg.tensordot(x, y, axes=2)


def test_vecdot() -> None:
    x, y = sample((4, 3), "complex128"), sample((3,), "complex128")
    check_everywhere(sg.vecdot, np.sum(np.conj(x) * y, axis=-1), x, y, rtol=1e-12)
    a, b = sample((2, 3)), sample((2, 3))
    check_everywhere(lambda a, b: sg.vecdot(a, b, axis=0), np.sum(a * b, axis=0), a, b, rtol=1e-12)
    check_derivatives(lambda a, b: sg.vecdot(a, b, axis=0), a, b)
    check_derivatives(sg.vecdot, x, y)
    with pytest.raises(ShapeError):
        sg.vecdot(np.ones(3), np.ones(1))
    with pytest.raises(ShapeError, match="vecdot: axis out of range"):
        sg.vecdot(np.ones(3), np.ones(3), axis=1)


def test_outer() -> None:
    x, y = sample((2,)), sample((3,))
    check_everywhere(sg.linalg.outer, np.outer(x, y), x, y)
    check_derivatives(sg.linalg.outer, x, y)
    with pytest.raises(ShapeError, match="outer: x2 is not a vector"):
        sg.linalg.outer(x, np.ones((2, 2)))


def test_forgotten_subscripts() -> None:
    v = sg.placeholder("v", (2,))
    with pytest.raises(sg.ArgumentError, match="einsum: the subscripts come first"):
        sg.einsum(v, v)
