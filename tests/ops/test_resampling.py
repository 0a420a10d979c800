"""Images of another size and images read by a grid: values, slopes, sizes, types, errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, DTypeError, ShapeError
from symgrad.ir.verify import verify
from tests.ops.finite_differences import check_derivatives
from tests.ops.front_ends import check_everywhere
from tests.ops.linear_maps import check_linear

RNG = np.random.default_rng(9)
POWERS = np.array([[[[1.0, 2.0, 4.0, 8.0, 16.0]]]])


def line(*numbers: float, dtype: Any = "float64") -> np.ndarray:
    """One image of one channel and one axis."""
    return np.array([[numbers]], dtype)


# --- interpolate ----------------------------------------------------------------------------------

# Computed once with PyTorch's interpolate.
CUBIC: list[tuple[dict[str, Any], list[float]]] = [
    ({"mode": "bicubic"}, [1.2037037037037028, 4.0, 13.703703703703706]),
    ({"mode": "bicubic", "align_corners": True}, [1.0, 4.0, 16.0]),
    (
        {"mode": "bilinear", "antialias": True},
        [1.4285714285714286, 4.444444444444445, 12.571428571428573],
    ),
    (
        {"mode": "bicubic", "antialias": True},
        [1.2307692307692315, 4.15813953488372, 12.861538461538466],
    ),
]


@pytest.mark.parametrize(("attrs", "wanted"), CUBIC, ids=str)
def test_wide_kernels(attrs: dict[str, Any], wanted: list[float]) -> None:
    found = sg.interpolate(POWERS, (1, 3), **attrs).numpy()
    np.testing.assert_allclose(found, [[[wanted]]], rtol=1e-14)


@pytest.mark.parametrize(
    ("mode", "align_corners", "wanted"),
    [
        ("linear", False, [1, 1.25, 1.75, 2.25, 2.75, 3.25, 3.75, 4]),
        ("linear", True, [1, 10 / 7, 13 / 7, 16 / 7, 19 / 7, 22 / 7, 25 / 7, 4]),
        ("nearest", False, [1, 1, 2, 2, 3, 3, 4, 4]),
    ],
)
def test_twice_as_many_cells(mode: str, align_corners: bool, wanted: list[float]) -> None:
    found = sg.interpolate(line(1, 2, 3, 4), 8, mode=mode, align_corners=align_corners)
    np.testing.assert_allclose(found.numpy(), [[wanted]], rtol=1e-15)
    scaled = sg.interpolate(
        line(1, 2, 3, 4), scale_factor=2, mode=mode, align_corners=align_corners
    )
    assert np.array_equal(scaled.numpy(), found.numpy())


def test_the_nearest_cell_is_found_in_whole_numbers() -> None:
    x = line(*range(49))
    for size in range(1, 120):
        i = np.arange(size)
        assert np.array_equal(sg.interpolate(x, size).numpy()[0, 0], i * 49 // size)
        exact = sg.interpolate(x, size, mode="nearest-exact").numpy()
        assert np.array_equal(exact[0, 0], (2 * i + 1) * 49 // (2 * size))


@pytest.mark.parametrize(
    ("size", "factor", "scaled"), [(10, 0.7, 7), (10, 0.1, 1), (3, 1.1, 3), (7, 0.5, 3), (5, 2, 10)]
)
def test_a_scale_means_the_decimal_number(size: int, factor: float, scaled: int) -> None:
    x = sg.placeholder("x", (1, 1, "n"))
    y = sg.interpolate(x, scale_factor=factor, mode="linear")
    assert sg.interpolate(np.ones((1, 1, size)), scale_factor=factor).shape == (1, 1, scaled)
    assert sg.evaluate(y, {x: np.ones((1, 1, size))}).shape == (1, 1, scaled)


def test_cells_are_as_large_as_the_scale_says() -> None:
    x = line(0, 1, 2, 3, 4)
    by_size = sg.interpolate(x, 7, mode="linear").numpy()
    by_scale = sg.interpolate(x, scale_factor=1.5, mode="linear").numpy()
    np.testing.assert_allclose(by_size[0, 0, 1], 1.5 * 5 / 7 - 0.5)
    np.testing.assert_allclose(by_scale[0, 0, 1], 0.5)


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "linear", "cubic", "area"])
def test_the_same_size_changes_nothing(mode: str) -> None:
    x = RNG.normal(size=(2, 1, 4, 3))
    x[0, 0, 1, 1] = np.inf
    y = sg.interpolate(x, x.shape[2:], mode=mode).numpy()
    assert np.array_equal(y, x)
    assert not np.shares_memory(y, x)


@pytest.mark.parametrize(
    ("mode", "antialias"),
    [("nearest", False), ("linear", False), ("linear", True), ("cubic", False), ("cubic", True)],
)
@pytest.mark.parametrize("sizes", [(3, 9), (8, 2), (1, 1)], ids=str)
def test_it_is_linear_and_keeps_constants(
    mode: str, antialias: bool, sizes: tuple[int, int]
) -> None:
    def resized(x: Any) -> Any:
        return sg.interpolate(x, sizes, mode=mode, antialias=antialias)

    check_linear(resized, np.ones((2, 1, 5, 4)))
    np.testing.assert_allclose(resized(np.ones((1, 1, 5, 4))).numpy(), 1, rtol=1e-14)


def test_named_sizes() -> None:
    x = sg.placeholder("x", ("n", 1, "h", "w"))
    y = sg.interpolate(x, scale_factor=(0.5, 1.5), mode="bilinear")
    assert str(y.type) == "f64[n, 1, h//2, w + w//2]"
    z = sg.interpolate(x, (x.shape[3], None), mode="cubic")
    assert str(z.type) == "f64[n, 1, w, w]"
    (dx,) = sg.grad(sg.sum(y * y) + sg.sum(z), x)
    assert dx.shape == x.shape
    a = RNG.normal(size=(2, 1, 4, 3))
    found = sg.evaluate([y, z], {x: a})
    fixed = sg.interpolate(a, scale_factor=(0.5, 1.5), mode="bilinear").numpy()
    assert np.array_equal(found[0], fixed)
    assert np.array_equal(found[1], sg.interpolate(a, (3, None), mode="cubic").numpy())


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "complex64"])
def test_the_nearest_cell_of_any_type(dtype: str) -> None:
    x = np.array([[[0, 1, 3]]]).astype(dtype)
    check_everywhere(lambda x: sg.interpolate(x, 6), np.repeat(x, 2, axis=2), x)


@pytest.mark.parametrize("dtype", ["float16", "float32", "complex128"])
def test_element_types_stay(dtype: str) -> None:
    x = np.array([[[0, 4]]], dtype)
    y = sg.interpolate(x, 4, mode="linear")
    assert y.dtype == dtype
    assert y.numpy().tolist() == [[[0, 1, 3, 4]]]


def test_an_empty_batch() -> None:
    x = sg.placeholder("x", (0, 2, 4))
    for mode in ("nearest", "linear", "cubic", "area"):
        y = sg.interpolate(x, 3, mode=mode)
        values = sg.function(x, [y, *sg.grad(sg.sum(y), x)])(np.ones((0, 2, 4)))
        assert [v.shape for v in values] == [(0, 2, 3), (0, 2, 4)]


def test_what_no_cell_reads_is_guarded() -> None:
    x = sg.placeholder("x", (1, 1, 6))
    for mode in ("nearest", "linear", "cubic"):
        y = sg.interpolate(sg.sqrt(x), 2, mode=mode)
        chosen = sg.where(np.array([[[True, False]]]), y, 0.0)
        (dx,) = sg.grad(sg.sum(chosen), x)
        found = sg.evaluate(dx, {x: line(4, 4, 4, 4, 0, 0)})
        assert found[0, 0, 4:].tolist() == [0.0, 0.0]
        assert np.sum(found) == pytest.approx(0.25)


# --- grid_sample ----------------------------------------------------------------------------------

AT = [-1.3, -0.85, 0.1, 0.95, 1.7]

# Values and slopes along the grid, computed once with PyTorch's grid_sample.
READ: list[tuple[str, str, list[float], list[float]]] = [
    ("bilinear", "zeros", [0, 0.875, 5, 10, 0], [0, 2.5, 10, -40, 0]),
    ("bilinear", "border", [1, 1, 5, 16, 16], [0, 0, 10, 0, 0]),
    ("bilinear", "reflection", [1.25, 1, 5, 16, 7], [-2.5, 0, 10, 0, -10]),
    (
        "bicubic",
        "zeros",
        [-0.10546875, 0.82373046875, 4.8359375, 11.11328125, 0],
        [0.3515625, 3.310546875, 6.328125, -45.234375, 0],
    ),
    (
        "bicubic",
        "border",
        [1, 0.92822265625, 4.8359375, 16.87890625, 16],
        [0, 1.025390625, 6.328125, -1.171875, 0],
    ),
    (
        "bicubic",
        "reflection",
        [1.15625, 0.91796875, 4.8359375, 17.40625, 6.3203125],
        [-1.40625, 1.40625, 6.328125, 3.75, -11.953125],
    ),
    ("nearest", "zeros", [0, 1, 4, 16, 0], [0] * 5),
    ("nearest", "border", [1, 1, 4, 16, 16], [0] * 5),
    ("nearest", "reflection", [1, 1, 4, 16, 8], [0] * 5),
]


@pytest.mark.parametrize(("mode", "padding_mode", "values", "slopes"), READ)
def test_reading_beyond_the_edges(
    mode: str, padding_mode: str, values: list[float], slopes: list[float]
) -> None:
    grid = sg.placeholder("grid", (1, 1, 5, 2))
    y = sg.grid_sample(POWERS, grid, mode=mode, padding_mode=padding_mode)
    (slope,) = sg.grad(sg.sum(y), grid, materialize_grads=True, allow_unused=True)
    at = np.stack([AT, np.zeros(5)], axis=-1)[None, None]
    found = sg.evaluate([y, slope[..., 0]], {grid: at})
    np.testing.assert_allclose(found[0][0, 0, 0], values, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found[1][0, 0], slopes, rtol=1e-12, atol=1e-12)


def test_on_a_cell_the_slope_is_that_to_the_next() -> None:
    grid = sg.placeholder("grid", (1, 3, 1))
    y = sg.grid_sample(line(1, 2, 5, 4), grid, align_corners=True, padding_mode="border")
    (slope,) = sg.grad(sg.sum(y), grid)
    at = np.array([[[-1.0], [-1 / 3], [1.0]]])
    found = sg.evaluate([y, slope], {grid: at})
    np.testing.assert_allclose(found[0], [[[1, 2, 4]]], rtol=1e-14)
    np.testing.assert_allclose(found[1][0, :, 0], [0, 4.5, 0], rtol=1e-12)


@pytest.mark.parametrize("padding_mode", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
def test_places_that_are_none(mode: str, padding_mode: str) -> None:
    x, grid = sg.placeholder("x", (1, 1, 4)), sg.placeholder("grid", (1, 5, 1))
    y = sg.grid_sample(x, grid, mode=mode, padding_mode=padding_mode)
    run = sg.function([x, grid], [y, *sg.grad(sg.sum(y), [x, grid], materialize_grads=True)])
    far = np.array([[[np.nan], [np.inf], [-np.inf], [1e300], [-1e300]]])
    with np.errstate(all="ignore"):
        values, dx, slope = run(line(2, 3, 5, 7), far)
        (edge, *_) = run(line(2, 3, 5, 7), np.full((1, 5, 1), -1.0))
    assert np.all(np.isfinite(values))
    assert np.all(np.isfinite(dx))
    assert values[0, 0, 0] == pytest.approx(edge[0, 0, 0])
    assert slope[0, 0, 0] == 0
    if padding_mode == "zeros":
        assert values[0, 0, 1:].tolist() == [0, 0, 0, 0]
    if padding_mode == "border":
        assert values[0, 0, 1:].tolist() == [7, 2, 7, 2]


def test_the_identity_grid_reads_every_cell() -> None:
    x = RNG.normal(size=(2, 3, 4, 5))
    for align_corners in (False, True):
        theta = np.broadcast_to(np.eye(2, 3), (2, 2, 3))
        grid = sg.affine_grid(theta, x.shape, align_corners=align_corners)
        y = sg.grid_sample(x, grid, align_corners=align_corners).numpy()
        np.testing.assert_allclose(y, x, rtol=1e-12, atol=1e-12)


def test_derivatives_through_an_affine_map() -> None:
    x, theta = RNG.normal(size=(2, 2, 4, 3)), RNG.normal(size=(2, 2, 3)) / 3

    def turned(x: Any, theta: Any) -> Any:
        grid = sg.affine_grid(theta, (2, 2, 3, 3))
        return sg.grid_sample(x, grid, mode="bicubic", padding_mode="reflection")

    check_derivatives(turned, x, theta, step=1e-6, tolerance=1e-5)


def test_grids_of_named_sizes() -> None:
    x, grid = sg.placeholder("x", ("n", 2, "h", "w")), sg.placeholder("grid", ("n", "q", 2))
    y = sg.grid_sample(x, grid, padding_mode="reflection")
    assert str(y.type) == "f64[n, 2, q]"
    theta = sg.placeholder("theta", ("n", 2, 3))
    assert str(sg.affine_grid(theta, x.shape).type) == "f64[n, h, w, 2]"
    other = sg.placeholder("theta", ("m", 2, 3))
    verify(sg.Graph([x, other], sg.affine_grid(other, x.shape)))
    a, g = RNG.normal(size=(2, 2, 3, 4)), RNG.normal(size=(2, 5, 2))
    want = sg.grid_sample(a, g, padding_mode="reflection").numpy()
    np.testing.assert_allclose(sg.evaluate(y, {x: a, grid: g}), want, rtol=1e-14)
    batches = sg.function([x, grid], y)
    with pytest.raises(ShapeError, match="n"):
        batches(a, g[:1])


def test_half_precision_finds_its_place_in_single() -> None:
    # Cell 1000 of 2048 lies between two half-precision numbers.
    x = np.arange(2048, dtype=np.float16).reshape(1, 1, 2048)
    grid = np.array([[[0.25]]], np.float16)
    y = sg.grid_sample(x, grid, align_corners=True)
    assert y.dtype == np.float16
    assert y.numpy() == np.float16(1.25 / 2 * 2047)


def test_one_cell_may_be_reflected() -> None:
    for align_corners in (False, True):
        y = sg.grid_sample(
            line(3), np.array([[[5.3], [0.0]]]),
            padding_mode="reflection", align_corners=align_corners,
        )  # fmt: skip
        assert y.numpy().tolist() == [[[3.0, 3.0]]]


def test_affine_grid_of_one_cell_stands_in_the_middle() -> None:
    theta = np.array([[[2.0, 0.5]]])
    for align_corners in (False, True):
        grid = sg.affine_grid(theta, (1, 1, 1), align_corners=align_corners)
        assert grid.numpy().tolist() == [[[0.5]]]


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: sg.interpolate(line(1), 2, mode="quadratic"),
            ArgumentError,
            "interpolate: unknown mode: expected nearest, nearest-exact, linear, bilinear, "
            "trilinear, cubic, bicubic, area, got 'quadratic'",
        ),
        (
            lambda: sg.interpolate(line(1), 2, mode="bilinear"),
            ShapeError,
            "interpolate: mode 'bilinear': expected 2 spatial axes, got 1",
        ),
        (
            lambda: sg.interpolate(line(1)),
            ArgumentError,
            "interpolate: either size or scale_factor is needed, and not both",
        ),
        (
            lambda: sg.interpolate(line(1), 2, scale_factor=2),
            ArgumentError,
            "interpolate: either size or scale_factor is needed, and not both",
        ),
        (
            lambda: sg.interpolate(line(1), scale_factor=0.5),
            ShapeError,
            "interpolate: size is out of range: expected at least 1, got (0,)",
        ),
        (
            lambda: sg.interpolate(line(1), scale_factor=-1),
            ArgumentError,
            "interpolate: scale_factor: expected a number above 0, got -1",
        ),
        (
            lambda: sg.interpolate(line(1), scale_factor=(1, 2)),
            ShapeError,
            "interpolate: scale_factor: expected 1 numbers, got (1, 2)",
        ),
        (
            lambda: sg.interpolate(line(1), 2, align_corners=True),
            ArgumentError,
            "interpolate: align_corners is for linear and cubic modes: got 'nearest'",
        ),
        (
            lambda: sg.interpolate(line(1, dtype=int), 2, mode="linear"),
            DTypeError,
            "interpolate: element type of x: expected inexact, got int64",
        ),
        (
            lambda: sg.grid_sample(line(1), np.zeros((1, 1, 2))),
            ShapeError,
            "grid_sample: shape of grid: expected (N, ..., 1), got f64[1, 1, 2]",
        ),
        (
            lambda: sg.grid_sample(line(1), np.zeros((2, 1, 1))),
            ShapeError,
            "grid_sample: batch sizes of x and grid differ: expected 1, got 2",
        ),
        (
            lambda: sg.grid_sample(line(1), np.zeros((1, 1, 1)), padding_mode="wrap"),
            ArgumentError,
            "grid_sample: padding_mode: expected zeros, border, reflection, got 'wrap'",
        ),
        (
            lambda: sg.grid_sample(line(1), np.zeros((1, 1, 1), int)),
            DTypeError,
            "grid_sample: element type of grid: expected floating, got int64",
        ),
        (
            lambda: sg.affine_grid(np.zeros((1, 2, 3)), (1, 1, 4)),
            ShapeError,
            "affine_grid: shape of theta: expected (N, 1, 2) for the size (1, 1, 4), "
            "got f64[1, 2, 3]",
        ),
    ],
)
def test_errors(call: Callable[[], Any], error: Any, message: str) -> None:
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value).split("; created at")[0] == message
