"""Classes and counts against numpy, and where numbers lie outside."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, DTypeError, ShapeError, TraceError
from tests.ops.finite_differences import check_derivatives
from tests.ops.front_ends import check_everywhere

NAN, INF = math.nan, math.inf


# --- one_hot --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64"])
def test_classes_of_every_type(dtype: str) -> None:
    low = np.iinfo(dtype).min
    i = np.array([[2, 0], [np.iinfo(dtype).max, 1]], dtype)
    expected = np.zeros((2, 2, 3))
    expected[0, 0, 2] = expected[0, 1, 0] = expected[1, 1, 1] = 1
    check_everywhere(lambda v: sg.one_hot(v, 3), expected, i)
    check_everywhere(lambda v: sg.one_hot(v, 3, axis=0), np.moveaxis(expected, -1, 0), i)
    check_everywhere(lambda v: sg.one_hot(v, 3, axis=-2), np.moveaxis(expected, -1, 1), i)
    wide = sg.one_hot(np.array([low, 255], dtype if dtype != "int8" else "int16"), 300).numpy()
    assert wide[1].argmax() == 255
    assert wide[0].sum() == (low == 0)


def test_types_and_sizes_of_classes() -> None:
    assert sg.one_hot(np.array(1), 2).numpy().tolist() == [0.0, 1.0]
    assert sg.one_hot(np.array([-1, 2]), 2, dtype="bool").numpy().tolist() == [[False] * 2] * 2
    assert sg.one_hot(np.array([0, 1]), 0).shape == (2, 0)
    assert sg.one_hot(np.zeros((0, 2), int), 3).shape == (0, 2, 3)
    i, x = sg.placeholder("i", ("n",), "int64"), sg.placeholder("x", ("k",))
    y = sg.one_hot(i, x.shape[0], dtype=sg.int32)
    assert y.shape == (i.shape[0], x.shape[0])
    assert sg.evaluate(y, {i: np.array([1]), x: np.zeros(2)}).tolist() == [[0, 1]]


def test_arguments_of_classes() -> None:
    with pytest.raises(DTypeError, match="one_hot: element type of indices: expected integer"):
        sg.one_hot(np.array([1.0]), 2)
    for wrong in (-1, None, 1.5):
        with pytest.raises(ArgumentError, match="one_hot: num_classes: expected an int, 0 or more"):
            sg.one_hot(np.array([1]), wrong)
    with pytest.raises(ShapeError, match="one_hot: axis out of range"):
        sg.one_hot(np.array([1]), 2, axis=2)


# --- bincount -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "uint64"])
def test_counts_of_every_type(dtype: str) -> None:
    x = np.array([1, 0, 1, 1], dtype)
    check_everywhere(lambda v: sg.bincount(v, length=4), np.array([1, 3, 0, 0]), x)
    assert sg.bincount(x).numpy().tolist() == [1, 3]
    assert sg.bincount(x).dtype == np.int64
    assert sg.bincount(x[:0]).shape == (0,)


def test_numbers_beyond_the_length_are_not_counted() -> None:
    x = np.array([0, 5, 2, 2**64 - 1], np.uint64)
    weights = np.array([1.0, NAN, 3.0, NAN])
    assert sg.bincount(x, length=3).numpy().tolist() == [1, 0, 1]
    assert sg.bincount(x, weights=weights, length=3).numpy().tolist() == [1.0, 0.0, 3.0]
    assert sg.bincount(x, length=0).shape == (0,)


def test_weights_of_every_type() -> None:
    x = np.array([1, 1, 0])
    for dtype, wide in (("int8", "int64"), ("uint8", "uint64"), ("bool", "int64")):
        found = sg.bincount(x, weights=np.array([1, 1, 0], dtype))
        assert (found.dtype, found.numpy().tolist()) == (np.dtype(wide), [0, 2])
    assert sg.bincount(x, weights=np.full(3, 100, np.int8)).numpy().tolist() == [100, 200]
    for dtype in ("float16", "float32", "complex64"):
        assert sg.bincount(x, weights=np.ones(3, dtype)).dtype == dtype
    many = sg.bincount(np.zeros(5000, int), weights=np.ones(5000, np.float16))
    assert many.numpy().tolist() == [5000.0]


def test_sums_have_a_slope_in_the_weights() -> None:
    x = np.array([2, 0, 2, 9])
    check_derivatives(lambda w: sg.bincount(x, weights=w, length=4) ** 3, np.arange(1.0, 5.0))


def test_arguments_of_counts() -> None:
    s = sg.placeholder("x", ("n",), "int64")
    with pytest.raises(ArgumentError, match="bincount: a negative number: expected 0 or more"):
        sg.bincount(np.array([1, -1]))
    with pytest.raises(ValueError, match="bincount: a negative number"):
        sg.evaluate(sg.bincount(s, length=3), {s: np.array([1, -1])})
    with pytest.raises(TraceError, match="bincount: length cannot be read off a symbol"):
        sg.bincount(s)
    with pytest.raises(DTypeError, match="bincount: element type of x: expected integer or bool"):
        sg.bincount(np.array([1.0]))
    with pytest.raises(ShapeError, match="bincount: axes of x: expected 1 axis"):
        sg.bincount(np.zeros((2, 2), int))
    with pytest.raises(ShapeError, match="bincount: sizes of axis 0 of x and weights differ"):
        sg.bincount(np.array([1, 2]), weights=np.ones(3))
    with pytest.raises(ShapeError, match="bincount: one weight per element"):
        sg.bincount(np.array([1, 2]), weights=1.0)


# --- histogram ------------------------------------------------------------------------------------


@pytest.mark.parametrize("bins", [1, 3, 10, [0.0, 1.0, 1.5, 4.0], [1.0], [0.0, 2.0, 2.0, 3.0]])
@pytest.mark.parametrize("within", [None, (0.0, 3.0), (2, 2)])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "uint8", "bool"])
def test_histograms_are_numpys(bins: Any, within: Any, dtype: str) -> None:
    x = np.array([[0, 1, 2, 2], [3, 4, 1, 100]], dtype)
    if dtype == "bool":
        counts, edges = np.histogram(x.astype(float), bins, range=within)
    else:
        counts, edges = np.histogram(x, bins, range=within)
    found = sg.histogram(x, bins, range=within)
    assert found.counts.numpy().tolist() == counts.tolist()
    assert found.counts.dtype == np.int64
    np.testing.assert_allclose(found.edges.numpy(), edges, rtol=1e-6, atol=1e-12)
    s = sg.placeholder("x", ("n", 4), dtype)
    symbolic = sg.evaluate(list(sg.histogram(s, bins, range=within)), {s: x})
    assert symbolic[0].tolist() == counts.tolist()
    assert np.array_equal(symbolic[1], found.edges.numpy())


def test_numbers_on_the_edges() -> None:
    """Tenths are on no grid of binary fractions; whoever compares with edges counts them right."""
    x = np.arange(11) / 10
    for bins in (10, 5, 3, 7):
        counts, edges = np.histogram(x, bins)
        found = sg.histogram(x, bins)
        assert found.counts.numpy().tolist() == counts.tolist()
        assert found.edges.numpy().tolist() == edges.tolist()


def test_numbers_outside_of_the_bins() -> None:
    x = np.array([NAN, -INF, INF, -1.0, 0.0, 1.0, 1.5, 2.0])
    assert sg.histogram(x, [0.0, 1.0, 2.0]).counts.numpy().tolist() == [1, 3]
    assert sg.histogram(x, 2, range=(0, 2)).counts.numpy().tolist() == [1, 3]
    weights = np.array([NAN, NAN, NAN, NAN, 1.0, 2.0, 4.0, 8.0])
    found = sg.histogram(x, [0.0, 1.0, 2.0], weights=weights)
    assert found.counts.numpy().tolist() == [1.0, 14.0]


def test_of_nothing_and_of_equal_numbers() -> None:
    found = sg.histogram(np.zeros(0), 2)
    assert found.counts.numpy().tolist() == [0, 0]
    assert found.edges.numpy().tolist() == [0.0, 0.5, 1.0]
    found = sg.histogram(np.full(3, 7, np.uint8), 2)
    assert found.counts.numpy().tolist() == [0, 3]
    assert found.edges.numpy().tolist() == [6.5, 7.0, 7.5]


def test_densities() -> None:
    x, weights = np.array([0.0, 1.0, 1.5, 4.0]), np.array([1.0, 2.0, 3.0, 4.0])
    for w in (None, weights):
        expected, _ = np.histogram(x, [0.0, 1.0, 4.0], weights=w, density=True)
        found = sg.histogram(x, [0.0, 1.0, 4.0], weights=w, density=True).counts
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-15)


def test_slopes_of_histograms() -> None:
    x, weights = np.array([0.5, 1.0, 1.5, 4.0]), np.array([1.0, 2.0, 3.0, 4.0])
    check_derivatives(lambda w: sg.histogram(x, 3, weights=w, density=True).counts ** 2, weights)
    v = sg.placeholder("v", (4,))
    (g,) = sg.grad(sg.sum(sg.histogram(v, 2, weights=weights).counts), v, materialize_grads=True)
    (e,) = sg.grad(sg.histogram(v, 2).edges[1], v)
    found = sg.evaluate([g, e], {v: x})
    assert [f.tolist() for f in found] == [[0.0] * 4, [0.5, 0.0, 0.0, 0.5]]


def test_arguments_of_histograms() -> None:
    x = np.arange(3.0)
    for wrong in (0, -2, True):
        with pytest.raises(ArgumentError, match="histogram: bins: expected an int, 1 or more"):
            sg.histogram(x, wrong)
    with pytest.raises(ArgumentError, match="histogram: bins: expected edges in ascending order"):
        sg.histogram(x, [0.0, 2.0, 1.0])
    with pytest.raises(ShapeError, match="histogram: axes of bins: expected 1 axis"):
        sg.histogram(x, np.zeros((2, 2)))
    for within in ((1.0, 0.0), (0.0, INF), (NAN, 1.0)):
        with pytest.raises(ArgumentError, match="histogram: range: expected two finite numbers"):
            sg.histogram(x, 2, range=within)
    with pytest.raises(ArgumentError, match="histogram: elements are not finite"):
        sg.histogram(np.array([1.0, NAN]))
    with pytest.raises(DTypeError, match="histogram: element type of x: expected real"):
        sg.histogram(x + 1j)
    with pytest.raises(ShapeError, match="histogram: sizes of axis 0 of x and weights"):
        sg.histogram(x, weights=np.ones(2))
