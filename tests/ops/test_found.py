"""Sizes that only running tells: masks, nonzero, unique; and the graphs they are part of."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, OutOfRange, ShapeError

A = np.array([[1.0, -2.0, 3.0], [4.0, -5.0, 6.0]])


def matrix():
    return sg.placeholder("x", ("n", "m"))


def test_a_mask_gives_an_axis_of_a_made_up_size():
    x = matrix()
    taken = x[x > 0]
    (size,) = taken.shape
    assert size not in x.shape
    assert taken is x[x > 0], "one mask, one size"
    np.testing.assert_array_equal(taken.eval({x: A}), A[A > 0])
    np.testing.assert_array_equal(taken.eval({x: -np.ones((2, 2))}), np.zeros(0))


def test_mean_of_what_a_mask_takes_has_a_derivative():
    x = matrix()
    mean = sg.mean(x[x > 0] ** 2)
    first = sg.grad(mean, x)[0]
    np.testing.assert_array_equal(first.eval({x: A}), np.where(A > 0, 2 * A / 4, 0))
    second = sg.grad(sg.sum(first), x)[0]
    np.testing.assert_array_equal(second.eval({x: A}), np.where(A > 0, 2 / 4, 0))


@pytest.mark.parametrize("level", ["none", "exact", "fast"])
def test_replaced_operands_take_the_size_along(level: str):
    x = matrix()
    mean = sg.mean(x[x > 0])
    half = sg.substitute(mean, {x: x * 0.5 - 2})
    run = sg.function([x], [mean, half], level=level)
    kept = A * 0.5 - 2
    np.testing.assert_allclose(run(A), [A[A > 0].mean(), kept[kept > 0].mean()])


def test_both_sizes_live_in_one_graph_as_text():
    x = matrix()
    graph = sg.Graph([x], [sg.sum(x[x > 0]) / x[x > 0].shape[0], sg.unique_counts(x).counts])
    again = sg.parse(sg.print_graph(graph))
    run = sg.function(list(again.inputs), list(again.outputs))
    total, counts = run(A)
    assert total == 3.5
    np.testing.assert_array_equal(counts, np.ones(6))


def test_a_size_without_its_array_names_the_cure():
    x = matrix()
    with pytest.raises(ShapeError, match=r"tells the size _\d+: .*sg.count_nonzero\(mask\)"):
        sg.function([x], sg.sum(x) / x[x < 0].shape[0])


def test_mask_beside_other_entries():
    x = sg.placeholder("x", (4, "m"))
    mask = sg.placeholder("mask", ("k",), dtype="bool")
    run = sg.function([x, mask], x[mask, ::-1])
    values = np.arange(8.0).reshape(4, 2)
    chosen = np.array([True, False, True, True])
    np.testing.assert_array_equal(run(values, chosen), values[chosen, ::-1])
    with pytest.raises(ShapeError, match="differ: expected k = 3"):
        run(values, chosen[:3])


def test_mask_of_another_size_is_refused_at_once():
    x, mask = sg.placeholder("x", (4,)), sg.placeholder("mask", (3,), dtype="bool")
    with pytest.raises(OutOfRange, match=r"mask does not fit axis 0: expected size 4, got \(3,\)"):
        x[mask]
    with pytest.raises(OutOfRange, match="too many indices"):
        sg.placeholder("y", (3,))[sg.placeholder("mask", (3, 2), dtype="bool")]


def test_mask_without_axes_is_refused():
    x = matrix()
    with pytest.raises(ArgumentError, match="a mask has at least one axis"):
        x[sg.sum(x) > 0]


def test_writing_as_many_values_as_a_mask_takes():
    x = matrix()
    written = sg.set_at(x, x > 0, 2 * x[x > 0])
    added = sg.add_at(x, x > 0, x[x > 0])
    for result in (written, added):
        np.testing.assert_array_equal(result.eval({x: A}), np.where(A > 0, 2 * A, A))
        slope = sg.grad(sg.sum(result), x)[0]
        np.testing.assert_array_equal(slope.eval({x: A}), np.where(A > 0, 2.0, 1.0))


def test_nonzero_needs_an_axis():
    for scalar in (sg.asarray(3.0), sg.placeholder("x")):
        with pytest.raises(ShapeError, match="positions need an axis: expected at least one axis"):
            sg.nonzero(scalar)


def test_positions_read_back_what_is_not_zero():
    x = matrix()
    np.testing.assert_array_equal(x[sg.nonzero(x > 3)].eval({x: A}), A[A > 3])


def test_unique_has_one_size_and_the_derivative_of_first_occurrences():
    x = sg.placeholder("x", ("n",))
    found = sg.unique_all(x)
    assert found.values.shape == found.indices.shape == found.counts.shape
    assert found.inverse_indices.shape == x.shape
    given = np.array([2.0, 1.0, 2.0, 5.0])
    np.testing.assert_array_equal(found.values[found.inverse_indices].eval({x: given}), given)
    slope = sg.grad(sg.sum(found.values**2), x)[0]
    np.testing.assert_array_equal(slope.eval({x: given}), [4.0, 2.0, 0.0, 10.0])


def test_every_nan_is_a_value_and_zeros_are_one():
    values, counts = sg.unique_counts(sg.asarray([np.nan, 0.0, -0.0, np.nan, 1.0]))
    np.testing.assert_array_equal(values.numpy(), [0.0, 1.0, np.nan, np.nan])
    np.testing.assert_array_equal(counts.numpy(), [2, 1, 1, 1])


def test_unique_of_nothing_and_of_one():
    assert sg.unique_values(sg.zeros((0, 3))).shape == (0,)
    values, inverse = sg.unique_inverse(sg.asarray(7))
    assert (values.tolist(), inverse.tolist()) == ([7], 0)


@pytest.mark.parametrize("invert", [False, True])
def test_membership(invert: bool):
    x = sg.placeholder("x", ("n",), dtype="int64")
    run = sg.function([x], [sg.isin(x, 3, invert=invert), sg.isin(3, x, invert=invert)])
    inside, whole = run(np.array([1, 3]))
    np.testing.assert_array_equal(inside, np.array([False, True]) != invert)
    assert whole.shape == ()
    assert bool(whole) != invert
    assert not sg.isin(sg.asarray(np.nan), sg.asarray([np.nan]))
    assert sg.isin(sg.zeros((2, 0)), sg.asarray([1.0])).shape == (2, 0)
