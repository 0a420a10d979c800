"""Arrangements, stacks and products of vectors: named sizes, element types, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, ShapeError
from tests.ops.front_ends import check_everywhere

X = np.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (sg.transpose, "c, b, a"),
        (lambda x: sg.transpose(x, (1, 2, 0)), "b, c, a"),
        (lambda x: sg.swapaxes(x, -1, 0), "c, b, a"),
        (sg.ravel, "a*b*c"),
        (sg.flipud, "a, b, c"),
        (lambda x: sg.rot90(x, axes=(1, 2)), "a, c, b"),
        (lambda x: sg.rot90(x, -2), "a, b, c"),
        (lambda x: sg.hstack([x, x]), "a, 2*b, c"),
        (lambda x: sg.vstack([x, x]), "2*a, b, c"),
        (lambda x: sg.dstack([x, x]), "a, b, 2*c"),
        (lambda x: sg.column_stack([x[:, 0, 0], x[:, 0]]), "a, c + 1"),
        (lambda x: sg.atleast_2d(x[0, 0]), "1, c"),
        (lambda x: sg.atleast_3d(x[0, 0]), "1, c, 1"),
        (lambda x: sg.atleast_3d(x[0]), "b, c, 1"),
        (lambda x: sg.dot(x, x[0, 0]), "a, b"),
        (lambda x: sg.dot(x, sg.swapaxes(x, 1, 2)), "a, b, a, b"),
        (lambda x: sg.inner(x[0], x), "b, a, b"),
        (lambda x: sg.vdot(x, x), ""),
        (lambda x: sg.outer(x[0, 0], x[:, 0, 0]), "c, a"),
    ],
)
def test_shapes_of_named_sizes(function: Any, shape: str) -> None:
    x = sg.placeholder("x", ("a", "b", "c"))
    assert str(function(x).type) == f"f64[{shape}]"


@pytest.mark.parametrize("k", range(-5, 6))
def test_quarter_turns(k: int) -> None:
    check_everywhere(lambda x: sg.rot90(x, k, axes=(2, 0)), np.rot90(X, k, (2, 0)), X)


def test_four_quarter_turns_are_none() -> None:
    x = sg.placeholder("x", (2, 3))
    assert sg.rot90(x, 4) is x


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "complex64"])
def test_element_types_stay(dtype: str) -> None:
    x = X[0].astype(dtype)
    for f in (sg.transpose, sg.ravel, sg.flipud, sg.fliplr, sg.rot90, sg.atleast_3d):
        assert f(x).dtype == dtype
    for f in (sg.hstack, sg.vstack, sg.dstack, sg.column_stack):
        assert f([x, x]).dtype == dtype


def test_stacks_promote() -> None:
    mixed = [np.ones(2, "int32"), np.ones(2, "float32"), sg.ones(2, dtype="float16")]
    for f in (sg.hstack, sg.vstack, sg.dstack, sg.column_stack):
        assert f(mixed).dtype == np.float64
    assert sg.hstack([np.float32([1.5]), 2]).dtype == np.float32


def test_several_arrays_give_a_tuple() -> None:
    found = sg.atleast_1d(sg.placeholder("x", ()), 2.0, np.ones((2, 3)))
    assert [type(x) for x in found] == [sg.Symbol] * 3
    assert [x.shape for x in found] == [(1,), (1,), (2, 3)]


def test_complex_vectors() -> None:
    x, y = np.array([1 + 2j, 3j]), np.array([2 - 1j, 1 + 1j])
    assert complex(sg.vdot(x, y)) == np.vdot(x, y) == 3 - 8j
    assert complex(sg.dot(x, y)) == complex(sg.inner(x, y)) == np.dot(x, y) == 1 + 6j


def test_outer_is_one_function() -> None:
    assert sg.outer is sg.linalg.outer


def test_numpy_functions_find_these() -> None:
    x = sg.placeholder("x", (2, 3))
    assert np.transpose(x) is sg.transpose(x)
    assert np.transpose(x, (1, 0)) is sg.permute_dims(x, (1, 0))
    assert np.rot90(x, 3) is sg.rot90(x, 3)
    assert np.hstack([x, x]) is sg.hstack([x, x])
    assert np.linalg.outer(x[0], x[1]) is sg.outer(x[0], x[1])
    assert np.fft.rfft(x, axis=0) is sg.fft.rfft(x, axis=0)
    assert np.fft.fft(x, 4) is sg.fft.fft(x, n=4)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: sg.transpose(x, (0,)), ShapeError, "permute_dims: axes is not a permutation"),
        (lambda x: sg.swapaxes(x, 0, 2), ShapeError, "swapaxes: axis out of range"),
        (lambda x: sg.flipud(x[0, 0]), ShapeError, "flipud: too few axes"),
        (lambda x: sg.fliplr(x[0]), ShapeError, "fliplr: too few axes: expected at least 2"),
        (lambda x: sg.rot90(x, axes=(0,)), ShapeError, "rot90: a plane has two axes"),
        (lambda x: sg.rot90(x, axes=(0, -2)), ShapeError, "rot90: an axis is given twice"),
        (lambda x: sg.rot90(x, 0.5), ArgumentError, "rot90: k counts quarter turns"),
        (lambda x: sg.rot90(x[0]), ShapeError, "rot90: axis out of range"),
        (lambda x: sg.hstack([]), ArgumentError, "hstack: nothing to join"),
        (lambda x: sg.hstack(3), ArgumentError, "hstack: arrays is no sequence"),
        (lambda x: sg.hstack([x, x[0]]), ShapeError, r"arrays\[1\] has another rank"),
        (lambda x: sg.vstack([x, x[:, :2]]), ShapeError, "sizes of axis 1 differ"),
        (lambda x: sg.column_stack([x[None]]), ShapeError, r"column_stack: arrays\[0\] is neither"),
        (lambda x: sg.dot(x[0], x), ShapeError, "matmul: inner sizes"),
        (lambda x: sg.dot(x[None], x[None]), ShapeError, "dot: sizes of the summed axes differ"),
        (lambda x: sg.inner(x, x[:, :2]), ShapeError, "inner: sizes of the summed axes differ"),
        (lambda x: sg.vdot(x, x[0]), ShapeError, "vdot: sizes of the summed axes differ"),
        (lambda x: sg.outer(x, x), ShapeError, "outer: x1 is not a vector"),
        (lambda x: sg.ravel(x, 1), ArgumentError, "ravel"),
    ],
)
def test_refusals(call: Any, error: Any, message: str) -> None:
    for x in (sg.ones((2, 3)), sg.placeholder("x", (2, 3))):
        with pytest.raises(error, match=message):
            call(x)
