"""Extremes with their positions, running ones, the k largest; running sums of exponentials."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, DTypeError, ShapeError
from tests.ops.finite_differences import check_derivatives
from tests.ops.front_ends import check_everywhere

INF, NAN = math.inf, math.nan


def arrays(pair: Any) -> tuple[Any, Any]:
    return np.asarray(pair.values), np.asarray(pair.indices)


# --- one ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int8", "uint64", "float16", "float32", "float64"])
def test_extremes_of_every_type(dtype: str) -> None:
    x = np.array([[3, 1, 3, 0], [0, 2, 1, 2]], dtype)
    values, indices = arrays(sg.max_with_indices(x, axis=1))
    assert (values.tolist(), indices.tolist()) == ([3, 2], [0, 1])
    assert (values.dtype, indices.dtype) == (np.dtype(dtype), np.int64)
    values, indices = arrays(sg.min_with_indices(x, axis=0, keepdims=True))
    assert (values.tolist(), indices.tolist()) == ([[0, 1, 1, 0]], [[1, 0, 1, 0]])


def test_extremes_of_all_elements() -> None:
    x = np.array([[1.0, 7.0], [9.0, -2.0]])
    values, indices = arrays(sg.max_with_indices(x))
    assert (values.shape, float(values), int(indices)) == ((), 9.0, 2)
    values, indices = arrays(sg.min_with_indices(x, keepdims=True))
    assert (values.tolist(), indices.tolist()) == ([[-2.0]], [[3]])
    assert arrays(sg.max_with_indices(np.array(5.0))) == (5.0, 0)


@pytest.mark.parametrize("function", [sg.max_with_indices, sg.min_with_indices])
def test_not_a_number_wins(function: Any) -> None:
    values, indices = arrays(function(np.array([1.0, NAN, INF, NAN])))
    assert math.isnan(values)
    assert indices == 1


@pytest.mark.parametrize("name", ["max_with_indices", "min_with_indices"])
def test_no_extreme_of_nothing(name: str) -> None:
    with pytest.raises(ShapeError, match=rf"{name}: axis 1 is empty"):
        getattr(sg, name)(np.zeros((3, 0)), axis=1)
    assert getattr(sg, name)(np.zeros((3, 0)), axis=0).values.shape == (0,)
    with pytest.raises(ShapeError, match=rf"{name}: axis out of range"):
        getattr(sg, name)(np.zeros(3), axis=1)
    with pytest.raises(DTypeError, match=name):
        getattr(sg, name)(np.zeros(3, complex))


# --- running --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "float16", "float64"])
def test_running_extremes_of_every_type(dtype: str) -> None:
    x = np.array([[1, 0, 1, 1, 0], [0, 0, 1, 0, 1]], dtype)
    for axis in (0, 1, -1):
        expected = np.maximum.accumulate(x, axis)
        check_everywhere(lambda v, a=axis: sg.cumulative_max(v, axis=a), expected, x)
        expected = np.minimum.accumulate(x, axis)
        check_everywhere(lambda v, a=axis: sg.cumulative_min(v, axis=a), expected, x)


def test_running_extremes_remember_a_nan() -> None:
    x = np.array([-INF, 1.0, NAN, INF, NAN, 0.0])
    values, indices = arrays(sg.cumulative_max_with_indices(x))
    np.testing.assert_array_equal(values, [-INF, 1.0, NAN, NAN, NAN, NAN])
    assert indices.tolist() == [0, 1, 2, 2, 2, 2]
    values, indices = arrays(sg.cumulative_min_with_indices(x[1:]))
    np.testing.assert_array_equal(values, [1.0, NAN, NAN, NAN, NAN])
    assert indices.tolist() == [0, 1, 1, 1, 1]


def test_running_extremes_need_an_axis() -> None:
    for name in ("cumulative_max", "cumulative_min_with_indices", "cumulative_logsumexp"):
        with pytest.raises(ShapeError, match=rf"{name}: axis is needed"):
            getattr(sg, name)(np.zeros((2, 2)))
        with pytest.raises(ShapeError, match=rf"{name}: axis is needed"):
            getattr(sg, name)(np.array(1.0))
        with pytest.raises(DTypeError, match=name):
            getattr(sg, name)(np.zeros(2, complex))
        assert np.shape(getattr(sg, name)(np.zeros((0, 3)), axis=0))[-2:] == (0, 3)


# --- some -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "float16", "float64"])
@pytest.mark.parametrize("k", [0, 1, 3, 5])
def test_the_k_largest(dtype: str, k: int) -> None:
    low = 0 if dtype[0] == "u" else -2
    x = np.array([[1, 4, 4, low, 1], [0, low, 3, 3, 3]], dtype)
    for axis, size in ((1, 5), (0, 2)):
        count = min(k, size)
        order = np.argsort(-x.astype(float), axis=axis, kind="stable")
        order = np.take(order, range(count), axis)
        values, indices = arrays(sg.top_k(x, count, axis=axis))
        assert np.array_equal(indices, order)
        assert np.array_equal(values, np.take_along_axis(x, order, axis))
        assert (values.dtype, indices.dtype) == (x.dtype, np.int64)
        order = np.take(np.argsort(x, axis=axis, kind="stable"), range(count), axis)
        assert np.array_equal(sg.top_k(x, count, axis=axis, mode="smallest").indices, order)


def test_least_integers_among_the_largest() -> None:
    x = np.array([-128, 127, -127], np.int8)
    assert sg.top_k(x, 3).values.numpy().tolist() == [127, -127, -128]
    assert sg.top_k(x, 3, mode="smallest").values.numpy().tolist() == [-128, -127, 127]


def test_not_a_number_is_larger_than_all() -> None:
    x = np.array([1.0, NAN, INF, NAN, -INF])
    assert sg.top_k(x, 4).indices.numpy().tolist() == [1, 3, 2, 0]
    assert sg.top_k(x, 4, mode="smallest").indices.numpy().tolist() == [4, 0, 2, 1]


@pytest.mark.parametrize("k", [-1, 4, 1.5, None])
def test_k_counts_elements_of_the_axis(k: Any) -> None:
    assert sg.top_k(np.arange(3.0), np.int8(1)).values.shape == (1,)
    with pytest.raises(ArgumentError, match="top_k: k"):
        sg.top_k(np.arange(3.0), k)


def test_k_is_compared_with_a_named_size_when_it_runs() -> None:
    x = sg.placeholder("x", ("n",))
    values = sg.top_k(x, 3).values
    assert values.shape == (3,)
    assert sg.evaluate(values, {x: np.array([1.0, 2.0, 0.0, 5.0])}).tolist() == [5.0, 2.0, 1.0]
    with pytest.raises(ValueError, match="top_k: 3 of 2 elements"):
        sg.evaluate(values, {x: np.zeros(2)})
    everything = sg.top_k(x, x.shape[0], mode="smallest").values
    assert everything.shape == x.shape
    assert sg.evaluate(everything, {x: np.array([3.0, 1.0])}).tolist() == [1.0, 3.0]


def test_arguments_of_top_k() -> None:
    with pytest.raises(ArgumentError, match="top_k: mode: expected 'largest' or 'smallest'"):
        sg.top_k(np.zeros(3), 1, mode="greatest")
    with pytest.raises(ShapeError, match="top_k: axis out of range"):
        sg.top_k(np.array(1.0), 1)
    with pytest.raises(DTypeError, match="top_k"):
        sg.top_k(np.zeros(3, complex), 1)


def test_second_derivatives_of_selections() -> None:
    x = np.array([0.3, 2.0, -1.0, 1.5])
    check_derivatives(lambda v: sg.top_k(v, 2).values ** 3, x)
    check_derivatives(lambda v: sg.cumulative_max(v) ** 3, x)
    check_derivatives(lambda v: sg.max_with_indices(v).values ** 3, x)


# --- sums of exponentials -------------------------------------------------------------------------


def test_running_logsumexp_of_infinities() -> None:
    x = np.array([-INF, -INF, 0.0, -INF, INF, 1.0])
    expected = [-INF, -INF, 0.0, 0.0, INF, INF]
    check_everywhere(sg.cumulative_logsumexp, np.array(expected), x)
    assert np.isnan(sg.cumulative_logsumexp(np.array([0.0, NAN, 1.0])).numpy()).tolist() == [
        False,
        True,
        True,
    ]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_running_logsumexp_of_many(dtype: str) -> None:
    x = np.zeros(20000, dtype)
    found = sg.cumulative_logsumexp(x)
    assert found.dtype == dtype
    wanted = np.log(np.arange(1.0, 20001.0)).astype(dtype)
    precision = 1e-14 if dtype == "float64" else float(np.finfo(dtype).eps)
    np.testing.assert_allclose(found.numpy(), wanted, rtol=2 * precision)


def test_running_logsumexp_keeps_small_shares() -> None:
    """Its last result has the slopes of logsumexp, however small, and their slopes."""
    value = np.array([0.0, -40.0, 5.0, -80.0, 3.0])
    x = sg.placeholder("x", (5,))
    ways = []
    for y in (sg.cumulative_logsumexp(x)[-1], sg.logsumexp(x)):
        (first,) = sg.grad(y, x)
        rows = [sg.grad(first[k], x)[0] for k in range(5)]
        ways.append([np.asarray(v) for v in sg.evaluate([first, *rows], {x: value})])
    for found, wanted in zip(*ways, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_running_logsumexp_in_half_precision() -> None:
    value = np.array([200.0, 200.5, 199.0, 201.0])
    x, wide = sg.placeholder("x", (4,), "float16"), sg.placeholder("w", (4,))
    (narrow,) = sg.grad(sg.sum(sg.cumulative_logsumexp(x)), x)
    (exact,) = sg.grad(sg.sum(sg.cumulative_logsumexp(wide)), wide)
    found = sg.evaluate(narrow, {x: value.astype(np.float16)})
    assert found.dtype == np.float16
    np.testing.assert_allclose(found, sg.evaluate(exact, {wide: value}), rtol=1e-3)


# --- running sums ---------------------------------------------------------------------------------


def test_half_precision_is_added_up_in_single() -> None:
    sums = sg.cumulative_sum(np.ones(5000, np.float16))
    assert sums.dtype == np.float16
    assert float(sums[-1]) == 5000.0
    products = sg.cumulative_prod(np.full(3000, 1.001, np.float16))
    assert float(products[-1]) == pytest.approx(float(np.float16(1.001)) ** 3000, rel=2e-3)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("zeros", [(), (0,), (2,), (4,), (1, 3), (0, 4), (0, 1, 2)])
def test_products_with_zeros_by_their_definition(dtype: str, zeros: tuple[int, ...]) -> None:
    value = np.array([2.0, 3.0, 0.5, -4.0, 1.5])
    value[list(zeros)] = 0
    weights = np.array([1.0, -2.0, 3.0, 0.5, -1.0])

    def without(*dropped: int, upto: int = 5) -> float:
        if max(dropped) >= upto:
            return 0.0
        return math.prod(value[k] for k in range(upto) if k not in dropped)

    x = sg.placeholder("x", (5,), dtype)
    running = sg.sum(sg.cumulative_prod(x) * weights.astype(dtype))
    places = range(5)
    for y, part in (
        (sg.prod(x), without),
        (
            running,
            lambda *dropped: sum(weights[k] * without(*dropped, upto=k + 1) for k in places),
        ),
    ):
        for mode in ("reverse", "forward"):
            (first,) = sg.grad(y, x, mode="reverse")
            slopes = [part(i) for i in places]
            rows = [[0.0 if i == j else part(i, j) for j in places] for i in places]
            if mode == "reverse":
                second = [sg.grad(first[i], x, materialize_grads=True)[0] for i in places]
            else:
                units = np.eye(5, dtype=dtype)
                second = [sg.jvp(first, x, sg.constant(units[j]))[0] for j in places]
            found, *curvature = sg.evaluate([first, *second], {x: value.astype(dtype)})
            np.testing.assert_allclose(found, slopes, rtol=1e-5)
            np.testing.assert_allclose(np.stack(curvature), rows, rtol=1e-5)
