"""Order: numpy is the oracle for ascending order, and reversal for descending."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, ShapeError
from tests.ops.finite_differences import check_derivatives

DTYPES = ["bool", "int8", "uint8", "int64", "uint64", "float16", "float32", "float64", "complex128"]


def sample(dtype: str, shape: tuple[int, ...]) -> Any:
    """Few distinct values, the extreme ones among them, so that there are ties."""
    rng = np.random.default_rng(3)
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if np.dtype(dtype).kind in "iu":
        info = np.iinfo(dtype)
        return rng.choice(np.array([info.min, info.max, 0, 1], dtype), shape)
    values = rng.choice([-np.inf, -1.5, -0.0, 0.0, 2.0, np.inf], shape)
    return (
        (values + 1j * rng.choice([0.0, 1.0], shape)).astype(dtype)
        if dtype[0] == "c"
        else values.astype(dtype)
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_order_of_every_element_type(dtype: str) -> None:
    a = sample(dtype, (4, 9))
    for axis in (0, 1, -1):
        x = sg.placeholder("x", ("n", 9), dtype)
        up, down = sg.sort(x, axis=axis), sg.sort(x, axis=axis, descending=True)
        order, reverse = sg.argsort(x, axis=axis), sg.argsort(x, axis=axis, descending=True)
        up, down, order, reverse = sg.evaluate([up, down, order, reverse], {x: a})
        assert np.array_equal(up, np.sort(a, axis=axis))
        assert np.array_equal(down, np.flip(up, axis))
        assert order.dtype == reverse.dtype == np.int64
        assert np.array_equal(order, np.argsort(a, axis=axis, kind="stable"))
        assert np.array_equal(np.take_along_axis(a, reverse, axis), down)
        down, reverse = np.moveaxis(down, axis, -1), np.moveaxis(reverse, axis, -1)
        ties = down[:, 1:] == down[:, :-1]
        assert np.all(reverse[:, 1:][ties] > reverse[:, :-1][ties])


def test_nans_come_last_in_both_directions() -> None:
    x = sg.asarray([2.0, np.nan, 3.0, 1.0])
    assert np.array_equal(sg.sort(x).numpy(), [1.0, 2.0, 3.0, np.nan], equal_nan=True)
    assert np.array_equal(
        sg.sort(x, descending=True).numpy(), [3.0, 2.0, 1.0, np.nan], equal_nan=True
    )
    assert np.array_equal(sg.argsort(x, descending=True).numpy(), [2, 0, 3, 1])


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_derivatives(axis: int, descending: bool) -> None:
    a = np.random.default_rng(4).normal(size=(3, 4))
    check_derivatives(lambda x: sg.sort(x, axis=axis, descending=descending) ** 3, a, order=3)


def test_equal_elements_keep_their_own_derivative() -> None:
    x = sg.placeholder("x", (3,))
    for descending in (False, True):
        (g,) = sg.vjp(sg.sort(x, descending=descending), x, sg.constant([1.0, 2.0, 4.0]))
        assert np.array_equal(sg.evaluate(g, {x: [5.0, 5.0, 5.0]}), [1.0, 2.0, 4.0])


def test_empty_arrays() -> None:
    for shape, axis in (((0,), 0), ((2, 0), 1), ((0, 3), 1), ((1,), 0)):
        assert sg.sort(sg.zeros(shape), axis=axis).shape == shape
        assert sg.argsort(sg.zeros(shape), axis=axis).shape == shape
        check_derivatives(lambda x, k=axis: sg.sort(x, axis=k), np.zeros(shape))


def test_a_branch_not_taken_stays_out_of_a_sort() -> None:
    x = sg.placeholder("x", (3,))
    y = sg.where(x > 0, sg.sort(sg.sqrt(x)), 0.0)
    (g,) = sg.vjp(y, x, sg.constant(np.ones(3)))
    assert np.all(np.isfinite(sg.evaluate(g, {x: [0.0, 1.0, 4.0]})[1:]))


def test_searchsorted() -> None:
    rng = np.random.default_rng(5)
    a, v = np.sort(rng.integers(0, 9, 12)).astype(float), rng.integers(-1, 10, (2, 3)).astype(float)
    x, y = sg.placeholder("x", ("n",)), sg.placeholder("y", (2, "m"))
    for side in ("left", "right"):
        found = sg.evaluate(sg.searchsorted(x, y, side=side), {x: a, y: v})
        assert found.dtype == np.int64
        assert np.array_equal(found, np.searchsorted(a, v, side=side))
    mixed = rng.permutation(a)
    found = sg.searchsorted(mixed, v, sorter=np.argsort(mixed)).numpy()
    assert np.array_equal(found, np.searchsorted(a, v))
    assert int(sg.searchsorted(sg.asarray([1, 2]), 1.5)) == 1
    with pytest.raises(ShapeError, match="searchsorted: axes of x1"):
        sg.searchsorted(y, y)
    with pytest.raises(ArgumentError, match="expected 'left' or 'right', got 'middle'"):
        sg.searchsorted(x, y, side="middle")


def test_errors() -> None:
    for op in (sg.sort, sg.argsort):
        with pytest.raises(ShapeError, match="sort: axis out of range"):
            op(sg.asarray([1.0]), axis=1)
        with pytest.raises(ShapeError, match="array without axes"):
            op(sg.asarray(1.0))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(300,), (20, 15)])
def test_zeros_of_both_signs_keep_their_order(dtype: str, shape: tuple[int, ...]) -> None:
    a = sample(dtype, shape)
    a.reshape(-1)[::50] = np.nan
    for keys, descending in ((a, False), (-a, True)):
        found = np.asarray(sg.sort(keys, descending=descending))
        wanted = np.sort(a, kind="stable")
        wanted = -wanted if descending else wanted
        np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(np.signbit(found[found == 0]), np.signbit(wanted[found == 0]))


def test_zeros_of_both_signs_are_equal() -> None:
    x = np.array([0.0, -0.0, np.nan, -1.0, 0.0])
    for descending, order in ((False, [3, 0, 1, 4, 2]), (True, [0, 1, 4, 3, 2])):
        assert sg.argsort(x, descending=descending).numpy().tolist() == order
        found = sg.sort(x, descending=descending).numpy()
        assert np.array_equal(np.signbit(found[:4]), np.signbit(x[order[:4]]))


def test_searchsorted_beside_ties_and_nan() -> None:
    x = np.array([1.0, 2.0, 2.0, np.inf, np.nan])
    v = np.array([2.0, np.inf, np.nan, -np.inf])
    assert sg.searchsorted(x, v).numpy().tolist() == [1, 3, 4, 0]
    assert sg.searchsorted(x, v, side="right").numpy().tolist() == [3, 4, 5, 0]
    assert sg.searchsorted(np.array([2**53, 2**53 + 1]), np.array([2**53 + 1])).numpy() == 1
    assert sg.searchsorted(x[:0], v).numpy().tolist() == [0, 0, 0, 0]
