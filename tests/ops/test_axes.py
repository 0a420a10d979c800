"""Ops on whole axes: numpy is the oracle for values, inner products for transposes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, ShapeError
from symgrad.types import take_constraints
from tests.ops.front_ends import check_everywhere
from tests.ops.linear_maps import check_linear

RNG = np.random.default_rng(2)


def sample(*shape: int, dtype: Any = "float64") -> np.ndarray:
    return (10 * RNG.normal(size=shape)).astype(dtype)


MAPS: list[tuple[str, Callable[..., Any], Callable[..., Any], tuple[int, ...]]] = [
    ("expand 0", lambda x: sg.expand_dims(x, 0), lambda x: np.expand_dims(x, 0), (2, 3)),
    ("expand -1", lambda x: sg.expand_dims(x, -1), lambda x: np.expand_dims(x, -1), (2, 3)),
    ("expand 2", lambda x: sg.expand_dims(x, (0, -1)), lambda x: x[None, :, None], (3,)),
    ("expand 0-d", lambda x: sg.expand_dims(x, axis=[0, 1]), lambda x: x[None, None], ()),
    ("expand none", lambda x: sg.expand_dims(x, ()), lambda x: x, (2, 3)),
    ("squeeze", lambda x: sg.squeeze(x, 1), lambda x: np.squeeze(x, 1), (2, 1, 3)),
    ("squeeze two", lambda x: sg.squeeze(x, (0, -1)), lambda x: x[0, :, 0], (1, 3, 1)),
    ("squeeze empty", lambda x: sg.squeeze(x, -1), lambda x: x[..., 0], (0, 1)),
    ("transpose", lambda x: sg.matrix_transpose(x), lambda x: x.swapaxes(-1, -2), (2, 3, 4)),
    ("mT", lambda x: x.mT if hasattr(x, "mT") else np.swapaxes(x, 0, 1), lambda x: x.T, (2, 3)),
    ("moveaxis", lambda x: sg.moveaxis(x, 0, -1), lambda x: np.moveaxis(x, 0, -1), (2, 3, 4)),
    (
        "moveaxis two",
        lambda x: sg.moveaxis(x, (0, -1), (-1, 0)),
        lambda x: np.moveaxis(x, (0, -1), (-1, 0)),
        (2, 3, 4),
    ),
    ("flip", lambda x: sg.flip(x), lambda x: np.flip(x), (2, 3)),
    ("flip 1", lambda x: sg.flip(x, axis=-1), lambda x: np.flip(x, -1), (2, 3)),
    ("flip two", lambda x: sg.flip(x, axis=(1, 0)), lambda x: np.flip(x, (0, 1)), (2, 3, 2)),
    ("flip none", lambda x: sg.flip(x, axis=()), lambda x: x, (2, 3)),
    ("flip 0-d", lambda x: sg.flip(x), lambda x: x, ()),
    ("flip empty", lambda x: sg.flip(x, axis=0), lambda x: x, (0, 3)),
    ("roll", lambda x: sg.roll(x, 1), lambda x: np.roll(x, 1), (2, 3)),
    ("roll far", lambda x: sg.roll(x, -8, axis=1), lambda x: np.roll(x, -8, 1), (2, 3)),
    (
        "roll two",
        lambda x: sg.roll(x, (1, 2), axis=(0, -1)),
        lambda x: np.roll(x, (1, 2), (0, 1)),
        (3, 4),
    ),
    (
        "roll twice",
        lambda x: sg.roll(x, (1, 1), axis=(0, 0)),
        lambda x: np.roll(x, 2, 0),
        (5, 1),
    ),
    ("roll both", lambda x: sg.roll(x, 1, axis=(0, 1)), lambda x: np.roll(x, 1, (0, 1)), (3, 4)),
    ("roll 0-d", lambda x: sg.roll(x, 3), lambda x: x, ()),
    ("roll empty", lambda x: sg.roll(x, 3, axis=0), lambda x: x, (0, 2)),
    ("tril", lambda x: sg.tril(x), np.tril, (3, 4)),
    ("tril -1", lambda x: sg.tril(x, k=-1), lambda x: np.tril(x, -1), (2, 3, 3)),
    ("tril far", lambda x: sg.tril(x, k=9), lambda x: x, (3, 2)),
    ("triu", lambda x: sg.triu(x), np.triu, (3, 4)),
    ("triu 1", lambda x: sg.triu(x, k=1), lambda x: np.triu(x, 1), (2, 3, 3)),
    ("triu empty", lambda x: sg.triu(x), np.triu, (0, 3)),
    ("diag vector", lambda x: sg.diag(x), np.diag, (3,)),
    ("diag above", lambda x: sg.diag(x, k=2), lambda x: np.diag(x, 2), (3,)),
    ("diag below", lambda x: sg.diag(x, k=-1), lambda x: np.diag(x, -1), (3,)),
    ("diag one", lambda x: sg.diag(x), np.diag, (1,)),
    ("diag of", lambda x: sg.diag(x), np.diag, (3, 4)),
    ("diag of above", lambda x: sg.diag(x, k=1), lambda x: np.diag(x, 1), (3, 4)),
    ("diag of below", lambda x: sg.diag(x, k=-2), lambda x: np.diag(x, -2), (3, 4)),
    ("diff", lambda x: sg.diff(x), np.diff, (3, 4)),
    ("diff 0", lambda x: sg.diff(x, axis=0), lambda x: np.diff(x, axis=0), (3, 4)),
    ("diff twice", lambda x: sg.diff(x, n=2), lambda x: np.diff(x, n=2), (5,)),
    ("diff of one", lambda x: sg.diff(x), np.diff, (1,)),
    ("diff of none", lambda x: sg.diff(x, n=0), lambda x: x, (3,)),
]


@pytest.mark.parametrize(
    ("ours", "numpys", "shape"), [m[1:] for m in MAPS], ids=[m[0] for m in MAPS]
)
def test_maps(ours: Any, numpys: Any, shape: tuple[int, ...]) -> None:
    x = sample(*shape)
    check_everywhere(ours, numpys(x), x)
    check_linear(ours, x)
    check_linear(ours, x.astype("complex128"))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float32", "complex64"])
def test_types_stay(dtype: str) -> None:
    x = sample(3, 3, dtype=dtype)
    for name, ours, numpys, shape in MAPS:
        if shape == (2, 3) and (dtype != "bool" or not name.startswith("diff")):
            check_everywhere(ours, numpys(x), x)
    for ours, numpys in ((sg.tril, np.tril), (sg.triu, np.triu), (sg.diag, np.diag)):
        check_everywhere(ours, numpys(x), x)


def test_negative_strides() -> None:
    x = sample(4, 6)[::-1, ::-2]
    for ours, numpys in (
        (sg.flip, np.flip),
        (sg.tril, np.tril),
        (sg.diag, np.diag),
        (sg.diff, np.diff),
        (lambda x: sg.roll(x, 2), lambda x: np.roll(x, 2)),
        (lambda x: sg.moveaxis(x, 0, 1), np.transpose),
    ):
        check_everywhere(ours, numpys(x), x)


def test_triangles_keep_no_nan() -> None:
    x = np.full((2, 2), np.nan)
    np.testing.assert_array_equal(np.asarray(sg.tril(x))[0, 1], 0.0)
    np.testing.assert_array_equal(np.asarray(sg.triu(x))[1, 0], 0.0)


def test_roll_by_a_dimension() -> None:
    x = sg.placeholder("x", (5,))
    k = sg.placeholder("k", ("n",))
    y = sg.roll(x, k.shape[0])
    values = sample(5)
    np.testing.assert_array_equal(
        sg.evaluate(sg.concat([y, k]), {x: values, k: np.zeros(3)})[:5], np.roll(values, 3)
    )


def test_equal_calls_are_one_symbol() -> None:
    x = sg.placeholder("x", (2, 3))
    assert sg.flip(x) is sg.flip(x, axis=(1, -2))
    assert sg.roll(x, (1, 1), axis=(0, 0)) is sg.roll(x, 2, axis=-2)
    assert sg.expand_dims(x, 1) is sg.expand_dims(x, (-2,))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: sg.expand_dims(x, 5), ShapeError, "expand_dims: axis out of range: expected -4"),
        (lambda x: sg.expand_dims(x, (0, 0)), ShapeError, "expand_dims: an axis is given twice"),
        (lambda x: sg.squeeze(x, 0), ShapeError, "squeeze: axis 0 cannot go: expected size 1, got"),
        (lambda x: sg.squeeze(x, 7), ShapeError, "squeeze: axis out of range"),
        (lambda x: sg.matrix_transpose(x[0, :, 0]), ShapeError, "matrix_transpose: x has no matr"),
        (
            lambda x: sg.moveaxis(x, 0, (1, 0)),
            ShapeError,
            "moveaxis: source and destination differ in number",
        ),
        (lambda x: sg.flip(x, axis=3), ShapeError, "flip: axis out of range: expected -3 to 2"),
        (lambda x: sg.roll(x, (1, 2)), ArgumentError, "roll: several shifts need as many axes"),
        (lambda x: sg.roll(x, 1.5), ArgumentError, "roll: a shift is no number: expected an int"),
        (
            lambda x: sg.roll(x, (1, 2), axis=0),
            ArgumentError,
            "roll: one shift per axis: expected 1, got 2",
        ),
        (lambda x: sg.tril(x[0, 0]), ShapeError, "tril: x has no matrices: expected 2 or more ax"),
        (
            lambda x: sg.diag(x),
            ShapeError,
            "diag: x is neither a vector nor a matrix: expected 1 or 2 axes, got f64.*linalg.diag",
        ),
        (lambda x: sg.diff(x, n=-1), ArgumentError, "diff: n is negative: expected 0 or more, got"),
        (lambda x: sg.diff(x[0, 0, 0]), ShapeError, "diff: axis out of range"),
        (lambda x: sg.diff(x, prepend=x[0]), ShapeError, r"concat: arrays\[1\] has another rank"),
    ],
)
def test_refusals(call: Any, error: type[Exception], message: str) -> None:
    for x in (sg.zeros((3, 3, 2)), sg.placeholder("x", ("n", 3, 2))):
        with pytest.raises(error, match=message) as caught:
            call(x)
        assert "test_axes.py" in str(caught.value)


# --- diff with ends -------------------------------------------------------------------------------


def test_diff_with_ends() -> None:
    x, first, last = sample(3, 4), sample(3, 2), sample(3, 1)
    expected = np.diff(x, prepend=first, append=last)
    check_everywhere(lambda x, a, b: sg.diff(x, prepend=a, append=b), expected, x, first, last)
    check_linear(lambda x, a, b: sg.diff(x, prepend=a, append=b), x, first, last, named=False)
    # One element stands in every place.
    expected = np.diff(x, prepend=2.5, axis=0)
    check_everywhere(lambda x: sg.diff(x, prepend=2.5, axis=0), expected, x)
    s = sg.placeholder("s")
    (g,) = sg.grad(sg.sum(sg.diff(sg.constant(x), prepend=s)), s)
    assert float(sg.evaluate(g, {s: 1.0})) == -3.0


def test_diff_numbers_are_weak() -> None:
    x = sample(3, dtype="float32")
    assert sg.diff(x, prepend=0, append=1.5).dtype == sg.float32


def test_diff_of_booleans() -> None:
    x = np.array([True, False, False])
    check_everywhere(sg.diff, np.diff(x), x)


# --- several arrays -------------------------------------------------------------------------------


def test_broadcast_arrays() -> None:
    a, b = sample(3, 1), sample(2, dtype="float32")
    expected = np.broadcast_arrays(a, b)
    for k in range(2):
        check_everywhere(lambda a, b, k=k: sg.broadcast_arrays(a, b)[k], expected[k], a, b)
    assert sg.broadcast_arrays() == ()
    assert [t.dtype.name for t in sg.broadcast_arrays(b, 1.0, 2)] == ["float32"] * 3


def test_one_symbol_makes_all_symbols() -> None:
    x = sg.placeholder("x", ("n",))
    both = sg.broadcast_arrays(np.ones((2, 1)), x)
    assert all(isinstance(y, sg.Symbol) for y in both)
    assert [y.shape for y in both] == [(2, *x.shape)] * 2
    grids = sg.meshgrid(np.arange(2), x)
    assert all(isinstance(y, sg.Symbol) for y in grids)


def test_broadcast_arrays_demands_equal_names() -> None:
    x, y = sg.placeholder("x", ("n",)), sg.placeholder("y", ("m",))
    a, b = sg.broadcast_arrays(x, y)
    assert take_constraints() == ()
    with pytest.raises(ShapeError, match="sizes of axis -1 differ"):
        sg.evaluate([a, b], {x: np.ones(2), y: np.ones(3)})
    with pytest.raises(ShapeError, match="broadcast_arrays: shapes do not broadcast"):
        sg.broadcast_arrays(np.ones(2), np.ones(3))


@pytest.mark.parametrize("indexing", ["xy", "ij"])
@pytest.mark.parametrize("sizes", [(2,), (2, 3), (2, 3, 4), (2, 0), (1, 1, 3)])
def test_meshgrid(indexing: Any, sizes: tuple[int, ...]) -> None:
    vectors = [sample(n) for n in sizes]
    expected = np.meshgrid(*vectors, indexing=indexing)
    for k in range(len(sizes)):
        check_everywhere(
            lambda *v, k=k: sg.meshgrid(*v, indexing=indexing)[k], expected[k], *vectors
        )


def test_meshgrid_of_anything() -> None:
    assert sg.meshgrid() == ()
    a, b = sg.meshgrid([1, 2], np.float64(3))
    np.testing.assert_array_equal(a, [[1, 2]])
    np.testing.assert_array_equal(b, [[3.0, 3.0]])
    x = sg.placeholder("x", ("n",))
    (g,) = sg.grad(sg.sum(sg.meshgrid(x, np.ones(4))[0]), x)
    np.testing.assert_array_equal(g.eval({x: np.ones(3)}), [4.0, 4.0, 4.0])
    with pytest.raises(ShapeError, match=r"meshgrid: arrays\[1\] is no vector: expected 1 axis"):
        sg.meshgrid(x, np.ones((2, 2)))
    with pytest.raises(ArgumentError, match="meshgrid: unknown indexing: expected xy or ij, got"):
        sg.meshgrid(x, indexing="ji")
