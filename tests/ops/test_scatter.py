"""Reading and writing along an axis: shapes that fit, indices that do not, values that meet."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, DTypeError, ShapeError
from tests.ops.finite_differences import check_derivatives

X = np.arange(20.0).reshape(4, 5)
PART = np.array([[3, 0, 1], [0, -1, 2]])
WRITING = [
    lambda x, i, v: sg.scatter(x, i, v, axis=0),
    lambda x, i, v: sg.scatter_add(x, i, v, axis=0),
    lambda x, i, v: sg.scatter_reduce(x, i, v, axis=0, reduction="max"),
]


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint8", "uint64"])
def test_indices_of_every_type(dtype: str) -> None:
    i = np.array([[3, 0, 1], [0, 1, 2]], dtype)
    assert sg.gather(X, i, axis=0).numpy().tolist() == [[15.0, 1.0, 7.0], [0.0, 6.0, 12.0]]
    found = sg.scatter(X, i, -1.0, axis=0).numpy()
    assert np.argwhere(found < 0).tolist() == [[0, 0], [0, 1], [1, 1], [1, 2], [2, 2], [3, 0]]


@pytest.mark.parametrize("index", [4, -5])
def test_indices_out_of_range(index: int) -> None:
    i = np.array([[0, index]])
    s = sg.placeholder("i", (1, 2), "int64")
    for call in (
        lambda j: sg.gather(X, j, axis=0),
        *(lambda j, f=f: f(X, j, 1.0) for f in WRITING),
    ):
        with pytest.raises(IndexError, match="out of bounds"):
            call(i)
        with pytest.raises(IndexError, match="out of bounds"):
            sg.evaluate(call(s), {s: i})


@pytest.mark.parametrize("name", ["gather", "scatter", "scatter_add", "scatter_reduce"])
def test_shapes_that_do_not_fit(name: str) -> None:
    more = [] if name == "gather" else [1.0]
    options: dict[str, Any] = {"reduction": "sum"} if name == "scatter_reduce" else {}
    function = getattr(sg, name)
    with pytest.raises(ShapeError, match=rf"{name}: numbers of axes differ"):
        function(X, np.zeros(3, int), *more, axis=0, **options)
    with pytest.raises(ShapeError, match=rf"{name}: indices reach beyond axis 1: expected at most"):
        function(X, np.zeros((2, 6), int), *more, axis=0, **options)
    with pytest.raises(ShapeError, match=rf"{name}: axis out of range"):
        function(X, PART, *more, axis=2, **options)
    with pytest.raises(DTypeError, match=rf"{name}: element type of an index"):
        function(X, PART.astype(float), *more, axis=0, **options)
    assert function(X, np.zeros((9, 2), int), *more, axis=0, **options).shape[1] in (2, 5)


@pytest.mark.parametrize("write", WRITING)
def test_values_reach_as_far_as_the_indices(write: Any) -> None:
    values = -np.arange(6.0).reshape(2, 3)
    larger = np.full((4, 5), 99.0)
    larger[:2, :3] = values
    found, wanted = write(X, PART, larger), write(X, PART, values)
    assert np.array_equal(found.numpy(), wanted.numpy())
    with pytest.raises(ShapeError, match="sizes of axis 1 of indices and values"):
        write(X, PART, values[:, :1])
    with pytest.raises(ShapeError, match="numbers of axes differ"):
        write(X, PART, values[0])
    with pytest.raises(DTypeError, match="values of a wider kind"):
        write(X.astype(np.int64), PART, values)


@pytest.mark.parametrize("write", WRITING)
def test_writing_does_not_change_the_operand(write: Any) -> None:
    x = X.copy()
    found = write(sg.asarray(x), PART, 50.0)
    assert np.array_equal(x, X)
    assert found.dtype == X.dtype
    assert write(X.astype(np.float32), PART, np.ones((2, 3))).dtype == np.float32


def test_the_last_value_stays() -> None:
    i = np.array([1, 1, -2, 1])
    v = sg.placeholder("v", (4,))
    y = sg.scatter(np.zeros(3), i, v, axis=0)
    (g,) = sg.grad(sg.sum(y**2), v)
    (second,) = sg.grad(sg.sum(g), v)
    found = sg.evaluate([y, g, second], {v: np.array([1.0, 2.0, 3.0, 4.0])})
    assert [f.tolist() for f in found] == [[0.0, 4.0, 0.0], [0.0, 0.0, 0.0, 8.0], [0, 0, 0, 2]]


def test_nothing_to_read_or_write() -> None:
    none = np.zeros((0, 5), int)
    assert sg.gather(X, none, axis=0).shape == (0, 5)
    for write in WRITING:
        assert np.array_equal(write(X, none, np.zeros((0, 5))).numpy(), X)
    assert sg.gather(X[:0], none, axis=0).shape == (0, 5)


@pytest.mark.parametrize("reduction", ["sum", "prod", "mean", "max", "min"])
@pytest.mark.parametrize("include_self", [True, False])
def test_reductions_with_and_without_the_element(reduction: str, include_self: bool) -> None:
    x, values = np.array([2.0, 3.0, 5.0]), np.array([7.0, 1.0, 4.0])
    i = np.array([2, 2, 0])
    combine = getattr(np, reduction)
    start = [[x[0]], [x[2]]] if include_self else [[], []]
    expected = [combine([*start[0], 4.0]), 3.0, combine([*start[1], 7.0, 1.0])]

    def reduced(a: Any, v: Any) -> Any:
        return sg.scatter_reduce(a, i, v, axis=0, reduction=reduction, include_self=include_self)

    np.testing.assert_allclose(reduced(x, values).numpy(), expected, rtol=1e-15)
    check_derivatives(lambda a, v: reduced(a, v) ** 2, x, values)


def test_arguments_of_reductions() -> None:
    i = np.array([0, 1])
    with pytest.raises(ArgumentError, match="scatter_reduce: reduction: expected sum, prod"):
        sg.scatter_reduce(X[0], i, 1.0, axis=0, reduction="amax")
    with pytest.raises(DTypeError, match="scatter_reduce"):
        sg.scatter_reduce(np.arange(3), i, 1, axis=0, reduction="mean")
    small = sg.scatter_reduce(np.array([100, 1], np.int8), i, 20, axis=0, reduction="sum")
    assert (small.dtype, small.numpy().tolist()) == (np.int8, [120, 21])


def test_named_sizes() -> None:
    x, v = sg.placeholder("x", ("n", "m")), sg.placeholder("v", ("k", "m"))
    i = sg.placeholder("i", ("k", "m"), "int64")
    y = sg.gather(x, i, axis=0)
    assert y.shape == i.shape
    places = np.array([[3, 0, 1, -1, 0]])
    feeds = {x: X, i: places, v: np.ones((1, 5))}
    assert sg.evaluate(y, {x: X, i: places}).tolist() == [[15.0, 1.0, 7.0, 18.0, 4.0]]
    for write in WRITING:
        z = write(x, i, v)
        assert z.shape == x.shape
        (g,) = sg.grad(sg.sum(z), v, materialize_grads=True)
        found, gradient = sg.evaluate([z, g], feeds)
        assert np.array_equal(found, write(X, places, feeds[v]).numpy())
        assert gradient.shape == (1, 5)
    narrow = sg.placeholder("j", ("k", 2), "int64")
    assert sg.gather(x, narrow, axis=0).shape == (narrow.shape[0], 2)
    with pytest.raises(IndexError, match="out of bounds"):
        sg.evaluate(sg.gather(x, narrow, axis=0), {x: X[:, :1], narrow: places[:, :2] * 0})


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("step", [1, -1])
def test_the_last_value_stays_in_any_layout(order: Any, step: int) -> None:
    """Of values for one position, the last in row-major order, however arrays lie in memory."""
    index = np.array([[0, 1, 1], [1, 0, 2]])[::step, ::step]
    index = np.array(index, order=order)[::step, ::step]
    values = np.array(np.arange(6.0).reshape(2, 3)[::step, ::step], order=order)[::step, ::step]
    assert sg.set_at(np.zeros(3), index, values).numpy().tolist() == [4.0, 3.0, 5.0]
    line = np.repeat(np.array([0, 1, 0, 1])[::step], 2)[::2][::step]
    assert sg.scatter(np.zeros(2), line, np.arange(4.0), axis=0).numpy().tolist() == [2.0, 3.0]
