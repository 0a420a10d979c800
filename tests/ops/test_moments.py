"""Spread and sums of exponentials at their edges: equal numbers, few numbers, none, infinities."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg

INF, NAN = math.inf, math.nan


def orders(f: Callable[[Any], Any], point: Any, count: int = 2) -> list[Any]:
    """The first derivatives of the sum of ``f``, each the gradient of the weighted one before."""
    value = np.asarray(point, np.float64)
    x = sg.placeholder("x", value.shape)
    weights = np.arange(1.0, value.size + 1).reshape(value.shape)
    found, y = [], sg.sum(f(x))
    for _ in range(count):
        (g,) = sg.grad(y, x, materialize_grads=True)
        found.append(g)
        y = sg.sum(g * weights)
    return [np.asarray(v) for v in sg.evaluate(found, {x: value})]


@pytest.mark.parametrize("level", [0.1, -1e300, 1 / 3, 7e-320])
@pytest.mark.parametrize("count", [1, 2, 3, 10, 49])
def test_spread_of_equal_numbers_is_exactly_zero(level: float, count: int) -> None:
    x = np.full(count, level)
    assert float(sg.var(x)) == float(sg.std(x)) == 0.0
    for order in orders(sg.std, x, 3):
        np.testing.assert_array_equal(order, np.zeros(count))
    np.testing.assert_array_equal(orders(sg.var, x, 1)[0], np.zeros(count))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("axis", [0, 1, None])
def test_spread_of_many_equal_numbers_is_exactly_zero(dtype: str, axis: int | None) -> None:
    # Sums along the first axis are rounded once per addition.
    x = np.full((3001, 7), 0.1, dtype)
    np.testing.assert_array_equal(np.asarray(sg.var(x, axis=axis)), 0)
    np.testing.assert_array_equal(np.asarray(sg.std(x, axis=axis, keepdims=True)), 0)
    x[5] = 0.0  # the others are further away than the roundings reach
    spread = np.sqrt(x.astype(np.longdouble).var(axis=axis))
    tolerance = {"float16": 1e-3, "float32": 3e-4, "float64": 1e-10}[dtype]
    np.testing.assert_allclose(np.asarray(sg.std(x, axis=axis)), spread.astype(float), tolerance)


def test_rows_of_equal_numbers_among_others() -> None:
    x = np.array([[0.1, 0.1, 0.1], [1.0, 2.0, 6.0]])
    first, second = orders(lambda v: sg.std(v, axis=1), x)
    np.testing.assert_array_equal(first[0], np.zeros(3))
    np.testing.assert_array_equal(second[0], np.zeros(3))
    deviation = x[1] - 3.0
    np.testing.assert_allclose(first[1], deviation / (3 * np.std(x[1])), rtol=1e-15)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "uint64", "bool"])
def test_integers_do_not_overflow(dtype: str) -> None:
    x = np.array([0, 1 if dtype == "bool" else np.iinfo(dtype).max], dtype)
    wide = x.astype(np.float64)
    for ours, numpys in ((sg.mean, np.mean), (sg.var, np.var), (sg.std, np.std)):
        found = ours(x)
        assert found.dtype == np.float64
        assert float(found) == pytest.approx(numpys(wide), rel=1e-15)


@pytest.mark.parametrize(
    ("correction", "variance"), [(0, 1.0), (1, 2.0), (0.5, 4 / 3), (2, INF), (3, INF)]
)
def test_what_is_left_after_the_correction(correction: float, variance: float) -> None:
    x = np.array([1.0, 3.0])
    with np.errstate(all="ignore"):
        assert float(sg.var(x, correction=correction)) == variance
        assert float(sg.std(x, correction=correction)) == math.sqrt(variance)


@pytest.mark.parametrize("function", [sg.mean, sg.var, sg.std])
@pytest.mark.parametrize("shape", [(0,), (3, 0)])
def test_gradients_of_nothing_are_empty(function: Any, shape: tuple[int, ...]) -> None:
    with np.errstate(all="ignore"):
        assert math.isnan(float(function(np.zeros(shape))))
        assert orders(function, np.zeros(shape), 1)[0].shape == shape


def test_large_half_precision_numbers() -> None:
    x = np.array([60000, 60000, -60000], np.float16)
    assert sg.softmax(x).numpy().tolist() == [0.5, 0.5, 0.0]
    assert sg.log_softmax(x[1:]).numpy().tolist() == [0.0, -INF]
    assert float(sg.logsumexp(x[1:])) == 60000.0
    assert float(sg.var(np.full(5, 60000, np.float16))) == 0.0


@pytest.mark.parametrize(
    "function",
    [
        lambda x: sg.softmax(x, axis=-1),
        lambda x: sg.log_softmax(x, axis=0),
        lambda x: sg.logsumexp(x, axis=1),
        sg.logsumexp,
        lambda x: sg.std(x, axis=0),
    ],
)
@pytest.mark.parametrize("sizes", [(0, 3), (2, 0), (0, 0)])
def test_named_axes_may_turn_out_empty(function: Any, sizes: tuple[int, int]) -> None:
    x = sg.placeholder("x", ("m", "n"))
    (first,) = sg.grad(sg.sum(function(x) ** 2), x)
    (second,) = sg.grad(sg.sum(first**2), x)
    (pushed,) = sg.jvp(sg.sum(first), x, sg.ones_like(x))[:1]
    with np.errstate(all="ignore"):
        found = sg.evaluate([first, second, pushed], {x: np.zeros(sizes)})
    assert [v.shape for v in found] == [sizes, sizes, ()]


def test_infinities_in_sums_of_exponentials() -> None:
    assert orders(sg.logsumexp, [-INF, -INF])[0].tolist() == [0.0, 0.0]
    np.testing.assert_array_equal(orders(sg.logsumexp, [INF, 0.0])[0], [NAN, 0.0])
    for all_gone in (sg.softmax, sg.log_softmax):
        with np.errstate(all="ignore"):
            assert np.all(np.isnan(all_gone(np.full(2, -INF)).numpy()))
