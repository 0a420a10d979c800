"""Selections, intervals, grids, distances of points: element types, named sizes, refusals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.spatial import distance

import symgrad as sg
from symgrad.errors import ArgumentError, DTypeError, ShapeError
from tests.ops.finite_differences import check_derivatives
from tests.ops.front_ends import check_everywhere

INF, NAN = math.inf, math.nan
RNG = np.random.default_rng(11)

# --- by conditions --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("bool", True),
        ("int8", -3),
        ("int64", np.int8(5)),
        ("float16", -INF),
        ("float32", np.float64(0.1)),
        ("complex64", 1j),
    ],
)
def test_what_is_filled_keeps_its_type(dtype: str, value: Any) -> None:
    x, mask = np.array([0, 1, 1], dtype), np.array([True, False, True])
    found = sg.masked_fill(x, mask, value)
    assert found.dtype == dtype
    assert found.numpy().tolist() == np.where(mask, np.array(value, dtype), x).tolist()


def test_choices() -> None:
    x = np.array([[-2.0, 0.5, 3.0], [1.0, -0.1, NAN]])
    conditions, choices = [x < 0, x < 1, x < 2], [np.array([7.0, 8.0, 9.0]), x**2, np.array(-1.0)]
    wanted = np.select(conditions, choices, 4.0)
    np.testing.assert_array_equal(sg.select(conditions, choices, 4.0).numpy(), wanted)
    a = sg.placeholder("a", (2, 3))
    found = sg.select([a < 0, a < 1, a < 2], [np.array([7.0, 8.0, 9.0]), a**2, -1.0], 4.0)
    np.testing.assert_array_equal(found.eval({a: x}), wanted)
    assert np.select([a < 0], [a]) is sg.select([a < 0], [a])


def test_choices_promote() -> None:
    mask = np.array([True])
    assert sg.select([mask, mask], [np.ones(1, "int8"), np.ones(1, "float32")]).dtype == np.float32
    assert sg.select([mask], [np.ones(1, "int8")]).dtype == np.int8
    assert sg.select([mask], [np.ones(1, "int8")], 0.5).dtype == np.float64


# --- intervals ------------------------------------------------------------------------------------


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize(
    "bins", [[0.0, 1.0, 2.0], [2.0, 1.0, 0.0], [], [1.0], [1.0, 1.0], [2.0, 1.0, 1.0], [0, 1, 5]]
)
def test_intervals_are_those_of_numpy(bins: list[Any], right: bool) -> None:
    x, edges = np.array([-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, NAN, INF]), np.array(bins)
    wanted = np.digitize(x, edges, right=right)
    check_everywhere(lambda v, b: sg.digitize(v, b, right=right), wanted, x, edges)


# --- grids ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize(
    "ends", [(1, 1000), (-1.0, -8.0), (1e-300, 1e300), (1, 1j), (-2 + 1j, 3j), (5.0, 0.1)]
)
def test_equal_ratios(ends: Any, endpoint: bool) -> None:
    for num in (0, 1, 2, 7):
        wanted = np.geomspace(*ends, num, endpoint=endpoint)
        found = sg.geomspace(*ends, num, endpoint=endpoint)
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-12, atol=1e-15)
    if endpoint and not isinstance(ends[1], complex):
        assert sg.geomspace(*ends, 7).numpy()[[0, -1]].tolist() == list(ends)


@pytest.mark.parametrize("base", [10.0, 2, 0.5])
def test_powers_at_equal_steps(base: float) -> None:
    for more in ({}, {"endpoint": False}):
        wanted = np.logspace(-1, 2.5, 6, base=base, **more)
        np.testing.assert_allclose(sg.logspace(-1, 2.5, 6, base=base, **more).numpy(), wanted)
    assert sg.logspace(0, 3, 4, base=2, dtype="int16").numpy().tolist() == [1, 2, 4, 8]
    assert sg.logspace(0, 3, 4, dtype="int16").dtype == np.int16


def test_symbolic_ends() -> None:
    a, b = np.array(0.7), np.array(3.2)
    check_everywhere(lambda x, y: sg.geomspace(x, y, 5), np.geomspace(a, b, 5), a, b)
    check_everywhere(lambda x, y: sg.logspace(x, y, 5), np.logspace(a, b, 5), a, b)
    check_derivatives(lambda x, y: sg.geomspace(x, y, 5), a, b)
    check_derivatives(lambda x, y: sg.geomspace(-x, -y, 4), a, b)


def test_named_grids() -> None:
    x = sg.placeholder("x", ("n",))
    (n,) = x.shape
    assert str(sg.indices((n, 3)).type) == "i64[2, n, 3]"
    assert [str(i.type) for i in sg.indices((n, 3), sparse=True)] == ["i64[n, 1]", "i64[1, 3]"]
    assert str(sg.tri(n, k=1).type) == "f64[n, n]"
    assert str(sg.geomspace(1.0, 2.0, n).type) == "f64[n]"
    found = sg.evaluate([sg.tri(n, k=1) + x, sg.indices((n, 2))[0] + 0 * x[0]], {x: np.zeros(3)})
    np.testing.assert_array_equal(found[0], np.tri(3, k=1))
    np.testing.assert_array_equal(found[1], np.indices((3, 2))[0])


@pytest.mark.parametrize("k", [-2, -1, 0, 1, 3])
@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (4, 2), (0, 2)])
def test_triangles(shape: tuple[int, int], k: int) -> None:
    np.testing.assert_array_equal(sg.tri(*shape, k=k).numpy(), np.tri(*shape, k))
    np.testing.assert_array_equal(sg.indices(shape).numpy(), np.indices(shape))


# --- distances of points --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("p", "metric"), [(1, "cityblock"), (2, "euclidean"), (INF, "chebyshev"), (0, "hamming")]
)
def test_distances_are_those_of_scipy(p: float, metric: str) -> None:
    x, y = RNG.integers(0, 3, size=(2, 5, 4)).astype(float)
    wanted = distance.cdist(x, y, metric) * (4 if p == 0 else 1)
    check_everywhere(lambda a, b: sg.cdist(a, b, p=p), wanted, x, y, named=False)


def test_distances_of_named_sizes() -> None:
    x, y = sg.placeholder("x", ("b", "n", "d")), sg.placeholder("y", ("m", "d"))
    assert str(sg.cdist(x, y).type) == "f64[b, n, m]"
    assert sg.cdist(np.ones((2, 3), "float16"), np.ones((2, 3), "float16")).dtype == np.float16
    assert sg.cdist(np.ones((2, 3), "int8"), np.ones((0, 3))).shape == (2, 0)


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0, INF])
def test_equal_points_among_others(p: float) -> None:
    x = sg.placeholder("x", (3, 2))
    points = np.array([[0.0, 1.0], [0.0, 1.0], [3.0, -2.5]])
    (first,) = sg.grad(sg.sum(sg.cdist(x, x, p=p)), x)
    (second,) = sg.grad(sg.sum(first * RNG.normal(size=(3, 2))), x, materialize_grads=True)
    (pushed,) = sg.jvp(first, x, sg.ones_like(x))
    found = sg.evaluate([first, second, pushed], {x: points})
    assert all(np.all(np.isfinite(v)) for v in found)
    np.testing.assert_allclose(found[0][0], found[0][1])
    np.testing.assert_allclose(found[0].sum(axis=0), 0, atol=1e-14)


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: sg.masked_fill(x, x, 1.0), DTypeError, "condition"),
        (lambda x: sg.masked_fill(x, x > 0, 1j), DTypeError, "masked_fill: x cannot hold"),
        (lambda x: sg.masked_fill(x > 0, x > 0, 1), DTypeError, "masked_fill: x cannot hold"),
        (lambda x: sg.select([], []), ArgumentError, "select: one choice for each condition"),
        (lambda x: sg.select([x > 0], [x, x]), ArgumentError, "expected 1, got 2"),
        (lambda x: sg.select([x], [x]), DTypeError, "condition"),
        (lambda x: sg.digitize(x, x[None]), ShapeError, "digitize: bins is no vector"),
        (lambda x: sg.digitize(x * 1j, x), DTypeError, "digitize: element type of x"),
        (lambda x: sg.digitize(x, np.array([0.0, 2.0, 1.0])), ArgumentError, "digitize: bins"),
        (lambda x: sg.geomspace(0, 1, 3), ArgumentError, "geomspace: no ratio leads to or from 0"),
        (lambda x: sg.geomspace(1, 2, -1), ArgumentError, "num counts"),
        (lambda x: sg.logspace(1, 2, 2.5), ArgumentError, "num counts"),
        (lambda x: sg.indices((2, -1)), ShapeError, "indices"),
        (lambda x: sg.tri(-1), ShapeError, "tri"),
        (lambda x: sg.tri(2, device="gpu"), ArgumentError, "tri: unknown device"),
        (lambda x: sg.cdist(x, x[None]), ShapeError, "cdist: x1 has no rows"),
        (lambda x: sg.cdist(x[None], x[None, :1]), ShapeError, "cdist: sizes of points"),
        (lambda x: sg.cdist(x[None], x[None, :2]), ShapeError, "shapes do not broadcast"),
        (lambda x: sg.cdist(x[None] * 1j, x[None]), DTypeError, "cdist: element type of x1"),
    ],
)
def test_refusals(call: Any, error: Any, message: str) -> None:
    for x in (sg.ones(4), sg.placeholder("x", (4,))):
        with pytest.raises(error, match=message):
            call(x)
