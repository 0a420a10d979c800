"""Pooling with indices, to a given size, by the p-norm, and undone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, DTypeError, ShapeError
from symgrad.ir.walk import reachable
from tests.ops.finite_differences import check_derivatives
from tests.ops.linear_maps import check_linear

INF, NAN = np.inf, np.nan


def line(*numbers: float, dtype: Any = "float64") -> np.ndarray:
    """One image of one channel and one axis."""
    return np.array([[numbers]], dtype)


def image(*shape: int) -> np.ndarray:
    """Repeatable numbers without ties."""
    count = int(np.prod(shape))
    return np.random.default_rng(5).permutation(count).reshape(shape) / 4.0


# --- indices --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "values", "indices"),
    [
        (line(1, 2, 2, 0), [2, 2], [1, 2]),
        (line(NAN, 1, NAN, NAN), [NAN, NAN], [0, 2]),
        (line(-INF, -INF, -INF, 0), [-INF, 0], [0, 3]),
        (line(0.0, -0.0, INF, INF), [0, INF], [0, 2]),
    ],
)
def test_the_first_of_the_largest(x: Any, values: Any, indices: Any) -> None:
    for found in (sg.max_pool_with_indices(x, 2), sg.adaptive_max_pool_with_indices(x, 2)):
        np.testing.assert_array_equal(found.values.numpy(), [[values]])
        assert found.indices.numpy().tolist() == [[indices]]
        assert found.indices.dtype == np.int64


def test_indices_count_cells_of_the_plane_without_padding() -> None:
    x = np.arange(12.0).reshape(1, 1, 3, 4)
    found = sg.max_pool2d(x, 2, padding=1, return_indices=True)
    assert found.indices.numpy().tolist() == [[[[0, 2, 3], [8, 10, 11]]]]
    assert np.array_equal(found.values.numpy(), found.indices.numpy())


def test_a_window_of_padding_alone_has_no_index() -> None:
    found = sg.max_pool_with_indices(line(5.0), 2, padding=1, dilation=2)
    assert found.values.numpy().tolist() == [[[-INF]]]
    assert found.indices.numpy().tolist() == [[[-1]]]
    back = sg.max_unpool(*found, 1)
    assert back.numpy().tolist() == [[[0.0]]]


@pytest.mark.parametrize("name", ["max_pool_with_indices", "adaptive_max_pool_with_indices"])
def test_values_and_gradient_go_by_the_same_indices(name: str) -> None:
    x = sg.placeholder("x", (2, 1, 6))
    values, indices = getattr(sg, name)(x, 2)
    (dx,) = sg.grad(sg.sum(values), x)
    assert any(symbol is indices for symbol in reachable([dx]))


# --- adaptive -------------------------------------------------------------------------------------


def test_windows_of_adaptive_pooling_overlap_by_one_cell() -> None:
    x = np.arange(1.0, 8).reshape(1, 1, 7)
    assert sg.adaptive_avg_pool(x, 3).numpy().tolist() == [[[2.0, 4.0, 6.0]]]
    assert sg.adaptive_max_pool(x, 3).numpy().tolist() == [[[3.0, 5.0, 7.0]]]
    assert sg.adaptive_avg_pool(x[..., :2], 4).numpy().tolist() == [[[1.0, 1.0, 2.0, 2.0]]]


def test_one_window_is_global_pooling() -> None:
    x = image(2, 3, 5, 4)
    mean = x.mean(axis=(2, 3), keepdims=True)
    np.testing.assert_allclose(sg.adaptive_avg_pool2d(x, 1).numpy(), mean, rtol=1e-15)
    peak = x.max(axis=(2, 3), keepdims=True)
    assert np.array_equal(sg.adaptive_max_pool2d(x, 1).numpy(), peak)


def test_none_keeps_an_axis() -> None:
    x = image(1, 2, 4, 3)
    assert np.array_equal(sg.adaptive_avg_pool(x, None).numpy(), x)
    assert sg.adaptive_max_pool(x, (2, None)).shape == (1, 2, 2, 3)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
def test_adaptive_means_keep_the_element_type(dtype: str) -> None:
    # In half precision the sum of 4096 ones would stop at 2048.
    y = sg.adaptive_avg_pool(np.ones((1, 1, 4096), dtype), 1)
    assert y.dtype == dtype
    assert y.numpy().tolist() == [[[1.0]]]


def test_adaptive_mean_is_linear() -> None:
    check_linear(lambda x: sg.adaptive_avg_pool(x, (2, 5)), image(2, 2, 5, 4))


def test_derivatives_of_adaptive_pooling() -> None:
    check_derivatives(lambda x: sg.sin(sg.adaptive_max_pool(x, (2, 3))), image(2, 2, 5, 4))
    check_derivatives(lambda x: sg.sin(sg.adaptive_avg_pool(x, (2, 3))), image(2, 2, 5, 4))


@pytest.mark.parametrize("name", ["adaptive_avg_pool", "adaptive_max_pool"])
def test_named_sizes(name: str) -> None:
    x = sg.placeholder("x", ("n", 2, "h", "w"))
    y = getattr(sg, name)(x, (3, None))
    assert str(y.type) == "f64[n, 2, 3, w]"
    (dx,) = sg.grad(sg.sum(y * y), x)
    assert dx.shape == x.shape
    run = sg.function(x, y)
    for shape in ((1, 2, 3, 2), (2, 2, 7, 4), (0, 2, 1, 3)):
        a = image(*shape)
        want = getattr(sg, name)(a, (3, None)).numpy()
        assert np.array_equal(run(a), want)


@pytest.mark.parametrize(
    "pool",
    [
        lambda x: sg.adaptive_max_pool(x, 2),
        lambda x: sg.max_pool_with_indices(x, 2).values,
        lambda x: sg.max_unpool(x, np.array([[[0, 0, 1, 1]]]), 1),
    ],
    ids=["adaptive", "with_indices", "unpool"],
)
def test_what_was_not_chosen_is_guarded(pool: Callable[..., Any]) -> None:
    """The root of 0 has an infinite slope, which must not matter where it loses."""
    x = sg.placeholder("x", (1, 1, 4))
    (dx,) = sg.grad(sg.sum(pool(sg.sqrt(x))), x)
    (ddx,) = sg.grad(sg.sum(dx), x)
    at = {x: line(0, 4, 0, 1)}
    assert sg.evaluate(dx, at).tolist() == [[[0.0, 0.25, 0.0, 0.5]]]
    assert sg.evaluate(ddx, at).tolist() == [[[0.0, -1 / 32, 0.0, -0.25]]]


# --- unpooling ------------------------------------------------------------------------------------


def test_unpooling_puts_maxima_back() -> None:
    x = image(2, 3, 4, 6)
    values, indices = sg.max_pool_with_indices(x, 2)
    back = sg.max_unpool(values, indices, 2).numpy()
    assert back.shape == x.shape
    assert np.array_equal(back, np.where(np.isin(x, values.numpy()) & (back != 0), x, 0))
    again = sg.max_pool(np.where(back == 0, -INF, back), 2)
    kept = values.numpy() != 0
    assert np.array_equal(again.numpy()[kept], values.numpy()[kept])


def test_the_later_of_two_values_stays() -> None:
    x, indices = line(1, NAN, 3, 4), np.array([[[2, 0, 2, 0]]])
    assert sg.max_unpool(x, indices, 1).numpy().tolist() == [[[4.0, 0.0, 3.0, 0.0]]]
    s = sg.placeholder("s", x.shape)
    (ds,) = sg.grad(sg.sum(sg.max_unpool(s, indices, 1) ** 2), s)
    assert sg.evaluate(ds, {s: x}).tolist() == [[[0.0, 0.0, 6.0, 8.0]]]


@pytest.mark.parametrize(
    ("attrs", "size"),
    [
        ({"kernel": 2}, 6),
        ({"kernel": 3, "stride": 1}, 5),
        ({"kernel": 3, "stride": 2, "padding": 1}, 5),
        ({"kernel": 3, "stride": 2, "padding": ((1, 0),)}, 6),
        ({"kernel": 2, "output_size": 9}, 9),
        ({"kernel": 2, "output_size": [7]}, 7),
    ],
)
def test_sizes_of_unpooling(attrs: dict[str, Any], size: int) -> None:
    indices = np.array([[[0, 1, 4]]])
    assert sg.max_unpool(line(1, 2, 3), indices, **attrs).shape == (1, 1, size)


def test_unpooling_named_sizes() -> None:
    x = sg.placeholder("x", ("n", 1, "h"))
    values, indices = sg.max_pool_with_indices(x, 2)
    y = sg.max_unpool(values, indices, 2, output_size=x.shape[2])
    assert y.shape == x.shape
    run = sg.function(x, [y, *sg.grad(sg.sum(y * y), x)])
    back, gradient = run(line(1, 3, 2, 5, 4))
    assert back.tolist() == [[[0.0, 3.0, 0.0, 5.0, 0.0]]]
    assert gradient.tolist() == [[[0.0, 6.0, 0.0, 10.0, 0.0]]]


@pytest.mark.parametrize("index", [-2, 4])
def test_an_index_outside_the_plane(index: int) -> None:
    with pytest.raises(IndexError, match="max_unpool: an index is outside its plane of 4 cells"):
        sg.max_unpool(line(1, 2), np.array([[[0, index]]]), 2)


# --- the p-norm -----------------------------------------------------------------------------------


def test_norms_of_windows() -> None:
    x = line(3, -4, 0, 0, 1, 2, -2)
    assert sg.lp_pool(x, 1, 2).numpy().tolist() == [[[7.0, 0.0, 3.0]]]
    assert sg.lp_pool(x, 2, 2, stride=1).numpy()[0, 0, :2].tolist() == [5.0, 4.0]
    assert sg.lp_pool(x, INF, 2).numpy().tolist() == [[[4.0, 0.0, 2.0]]]
    np.testing.assert_allclose(
        sg.lp_pool(x, 3, 2, ceil_mode=True).numpy(), [[[91 ** (1 / 3), 0, 9 ** (1 / 3), 2]]]
    )


@pytest.mark.parametrize("p", [1.5, 2, 3, 4])
@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_norms_neither_overflow_nor_vanish(p: float, scale: float) -> None:
    x = sg.placeholder("x", (1, 1, 4))
    y = sg.lp_pool(x, p, 2)
    (dx,) = sg.grad(sg.sum(y), x)
    a = line(3, 4, -1, 2)
    want, slope = sg.evaluate([y, dx], {x: a})
    found, steep = sg.evaluate([y, dx], {x: a * scale})
    np.testing.assert_allclose(found, want * scale, rtol=1e-13)
    np.testing.assert_allclose(steep, slope, rtol=1e-13)


def test_derivatives_of_norms() -> None:
    x = image(2, 1, 4, 5) - 2.6
    check_derivatives(lambda x: sg.lp_pool(x, 3, 2, stride=1, padding=1), x)
    check_derivatives(lambda x: sg.lp_pool(x, 2, (1, 3), ceil_mode=True), x)


def test_integers_become_floats() -> None:
    y = sg.lp_pool(np.array([[[3, 4]]]), 2, 2)
    assert y.dtype == np.float64
    assert y.numpy().tolist() == [[[5.0]]]


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: sg.adaptive_avg_pool(np.ones((1, 1, 4)), (2, 2)),
            ShapeError,
            "adaptive_avg_pool: output_size must be a size, or one size per spatial axis: "
            "expected 1 sizes, got (2, 2)",
        ),
        (
            lambda: sg.adaptive_max_pool(np.ones((1, 1, 4)), -1),
            ShapeError,
            "adaptive_max_pool: output_size is out of range: expected at least 0, got -1",
        ),
        (
            lambda: sg.adaptive_avg_pool(np.ones((1, 1, 0)), 1),
            ShapeError,
            "adaptive_avg_pool: x has an empty spatial axis: expected at least 1, got f64[1, 1, 0]",
        ),
        (
            lambda: sg.adaptive_avg_pool(np.ones((1, 1, 4), int), 1),
            DTypeError,
            "adaptive_avg_pool: element type of x: expected inexact, got int64",
        ),
        (
            lambda: sg.adaptive_max_pool(np.ones((1, 1, 4), complex), 1),
            DTypeError,
            "adaptive_max_pool: element type of x: expected real or bool, got complex128",
        ),
        (
            lambda: sg.max_unpool(np.ones((1, 1, 2)), np.ones((1, 1, 2)), 2),
            DTypeError,
            "max_unpool: element type of indices: expected integer, got float64",
        ),
        (
            lambda: sg.max_unpool(np.ones((1, 1, 2)), np.ones((1, 1, 3), int), 2),
            ShapeError,
            "max_unpool: sizes of values and indices on axis 2 differ: expected 2, got 3",
        ),
        (
            lambda: sg.max_unpool1d(np.ones((1, 2)), np.ones((1, 2), int), 1, padding=2),
            ShapeError,
            "max_unpool1d: padding takes away more than there is: got 2",
        ),
        (
            lambda: sg.lp_pool(np.ones((1, 1, 2)), 0, 2),
            ArgumentError,
            "lp_pool: p: expected a number above 0, got 0",
        ),
        (
            lambda: sg.lp_pool(np.ones((1, 1, 2)), 2, 3),
            ShapeError,
            "lp_pool: the kernel is larger than the padded input on spatial axis 0: "
            "expected at most 2 + 0 + 0 = 2, got 3",
        ),
    ],
)
def test_errors(call: Callable[[], Any], error: Any, message: str) -> None:
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value).split("; created at")[0] == message
