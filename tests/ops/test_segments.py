"""Segments: which slices count, what an empty one has, element types, derivatives at zeros."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, DTypeError, ShapeError, TraceError
from tests.ops.finite_differences import check_derivatives
from tests.ops.front_ends import check_everywhere

INF, NAN = math.inf, math.nan
IDS = np.array([1, 3, 1, 0, 3])
FUNCTIONS = [sg.segment_sum, sg.segment_prod, sg.segment_mean, sg.segment_max, sg.segment_min]


@pytest.mark.parametrize(
    ("function", "nothing"), list(zip(FUNCTIONS, [0.0, 1.0, 0.0, -INF, INF], strict=True))
)
def test_segments_without_slices(function: Any, nothing: float) -> None:
    x = np.array([2.0, 4.0, 8.0])
    expected = np.array([2.0, nothing, 8.0, nothing])
    check_everywhere(lambda v: function(v, np.array([0, 7, 2]), 4), expected, x)
    expected = np.full((2, 3), nothing)
    check_everywhere(lambda v: function(v, np.zeros(0, int), 2), expected, np.zeros((0, 3)))
    assert function(x, np.array([0, 1, 2]), 0).shape == (0,)


@pytest.mark.parametrize(
    ("dtype", "low", "high"),
    [("int8", -128, 127), ("uint16", 0, 65535), ("bool", False, True), ("float32", -INF, INF)],
)
def test_extremes_of_no_slices_in_each_type(dtype: str, low: Any, high: Any) -> None:
    x, ids = np.zeros(1, dtype), np.array([1])
    for function, nothing in ((sg.segment_max, low), (sg.segment_min, high)):
        found = function(x, ids, 2)
        assert found.dtype == dtype
        assert found.numpy().tolist() == [nothing, 0]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64"])
def test_numbers_outside_of_the_segments_drop_their_slices(dtype: str) -> None:
    ids = np.array([0, np.iinfo(dtype).max, 1, np.iinfo(dtype).min], dtype)
    x = np.array([1.0, NAN, 4.0, 2.0])
    least = [1.0, 4.0] if dtype[0] == "i" else [3.0, 4.0]
    check_everywhere(lambda v, i: sg.segment_sum(v, i, 2), np.array(least), x, ids)
    for function in FUNCTIONS:
        v = sg.placeholder("v", (4,))
        (g,) = sg.grad(sg.sum(function(sg.sqrt(v), ids, 2)), v)
        found = sg.evaluate(g, {v: np.array([1.0, 0.0, 4.0, 1.0])})
        assert found[1] == 0


def test_small_integers_widen() -> None:
    x = np.full(3, 100, np.int8)
    ids = np.zeros(3, np.uint8)
    assert sg.segment_sum(x, ids, 1).numpy().tolist() == [300]
    assert sg.segment_prod(x, ids, 1).numpy().tolist() == [10**6]
    assert sg.segment_sum(x.astype(np.uint8), ids, 1).dtype == np.uint64
    assert sg.segment_sum(np.ones(300, bool), np.zeros(300, int), 1).numpy().tolist() == [300]
    assert sg.segment_mean(np.array([1, 2]), np.zeros(2, int), 1).numpy().tolist() == [1.5]


def test_half_precision_is_added_up_in_single() -> None:
    x, ids = np.ones(5000, np.float16), np.zeros(5000, int)
    for function, expected in ((sg.segment_sum, 5000.0), (sg.segment_mean, 1.0)):
        found = function(x, ids, 1)
        assert found.dtype == np.float16
        assert found.numpy().tolist() == [expected]


def test_segments_of_several_axes() -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    ids = np.array([[0, 1, 0], [2, 1, 5]])
    expected = np.zeros((3, 4))
    for place in np.ndindex(2, 3):
        if ids[place] < 3:
            expected[ids[place]] += x[place]
    check_everywhere(lambda v, i: sg.segment_sum(v, i, 3), expected, x, ids)
    total = sg.segment_sum(x, np.zeros(x.shape, int), 1)
    assert total.numpy().tolist() == [276.0]


def test_the_number_of_segments() -> None:
    x = np.ones(3)
    assert sg.segment_sum(x, np.array([0, 4, 0])).shape == (5,)
    assert sg.segment_sum(x, np.array([0, 4, 0], np.uint8)).shape == (5,)
    assert sg.segment_sum(x[:0], np.zeros(0, int)).shape == (0,)
    assert sg.segment_sum(x, np.array([-1, -2, -1])).shape == (0,)
    ids = sg.placeholder("ids", (3,), "int64")
    with pytest.raises(TraceError, match="segment_sum: num_segments cannot be read off a symbol"):
        sg.segment_sum(x, ids)
    for wrong in (-1, 2.5, "two"):
        with pytest.raises(ArgumentError, match="segment_mean: num_segments: expected an int"):
            sg.segment_mean(x, IDS[:3], wrong)


def test_arguments_of_segments() -> None:
    with pytest.raises(ShapeError, match="segment_sum: sizes of axis 0 of data and segment_ids"):
        sg.segment_sum(np.ones(3), IDS, 2)
    with pytest.raises(ShapeError, match="segment_ids has more axes than data"):
        sg.segment_sum(np.ones(3), np.zeros((3, 1), int), 2)
    with pytest.raises(DTypeError, match="segment_sum: element type of segment_ids"):
        sg.segment_sum(np.ones(3), np.ones(3), 2)
    with pytest.raises(DTypeError, match="segment_max: element type of data"):
        sg.segment_max(np.ones(3, complex), IDS[:3], 2)


def test_named_sizes_of_segments() -> None:
    x, ids = sg.placeholder("x", ("n", 2)), sg.placeholder("ids", ("n",), "int64")
    other = sg.placeholder("other", ("k",))
    value = np.arange(10.0).reshape(5, 2)
    for function in FUNCTIONS:
        y = function(x, ids, other.shape[0])
        assert y.shape == (other.shape[0], 2)
        (g,) = sg.grad(sg.sum(sg.where(sg.isfinite(y), y * other[:, None], 0.0)), x)
        feeds = {x: value, ids: IDS, other: np.arange(4.0)}
        found, gradient = sg.evaluate([y, g], feeds)
        np.testing.assert_array_equal(found, function(value, IDS, 4).numpy())
        assert gradient.shape == value.shape


def test_a_nan_stays_in_its_segment() -> None:
    x = np.array([2.0, NAN, 3.0, 5.0, 1.0])
    assert np.isnan(sg.segment_max(x, IDS, 4).numpy()).tolist() == [False, False, False, True]
    v = sg.placeholder("v", (5,))
    (first,) = sg.grad(sg.sum(sg.segment_prod(v, IDS, 4)), v)
    (second,) = sg.grad(first[0], v)
    (pushed,) = sg.jvp(first, v, sg.constant(np.array([1.0, 1.0, 1.0, 1.0, 0.0])))
    found = sg.evaluate([first, second, pushed], {v: x})
    np.testing.assert_array_equal(found[0], [3.0, 1.0, 2.0, 1.0, NAN])
    np.testing.assert_array_equal(found[1][[0, 2, 3]], [0.0, 1.0, 0.0])
    np.testing.assert_array_equal(found[2][[0, 2, 3]], [1.0, 1.0, 0.0])


@pytest.mark.parametrize("zeros", [(), (0,), (0, 2), (0, 1, 2), (0, 1, 2, 4)])
def test_products_of_segments_with_zeros(zeros: tuple[int, ...]) -> None:
    ids = np.array([1, 0, 1, 0, 1, 1])
    value = np.array([2.0, 3.0, 0.5, -4.0, 1.5, 3.0])
    value[list(zeros)] = 0

    def without(*dropped: int) -> float:
        group = ids[dropped[0]]
        rest = [value[k] for k in range(6) if ids[k] == group and k not in dropped]
        return math.prod(rest) if all(ids[k] == group for k in dropped) else 0.0

    x = sg.placeholder("x", (6,))
    (first,) = sg.grad(sg.sum(sg.segment_prod(x, ids, 2)), x)
    rows = [sg.grad(first[k], x, materialize_grads=True)[0] for k in range(6)]
    found, *second = sg.evaluate([first, *rows], {x: value})
    assert found.tolist() == [without(k) for k in range(6)]
    for i, row in enumerate(second):
        assert row.tolist() == [0.0 if i == j else without(i, j) for j in range(6)]


def test_derivatives_of_segments() -> None:
    x = np.array([[0.3, 2.0], [-1.0, 1.5], [0.9, -0.4], [1.1, 0.2], [2.2, 1.7]])
    for function in FUNCTIONS:
        check_derivatives(lambda v, f=function: f(v, IDS // 2, 2) ** 3, x)
    check_derivatives(lambda v: sg.segment_prod(v, IDS // 2, 2), x, order=3, tolerance=1e-5)
