"""Maximum and mean pooling against plain loops, and the transposes against the ops."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import symgrad as sg
from symgrad.errors import ArgumentError, DTypeError, ShapeError
from symgrad.ir.walk import reachable
from symgrad.ops.avg_pool import avg_pool_transpose
from symgrad.ops.max_pool import max_pool_indices
from symgrad.ops.pool_cells import pool_gather, pool_scatter
from tests.ops.finite_differences import check_derivatives

Index = tuple[int, ...]


def distinct(shape: Index, seed: int = 0) -> NDArray[Any]:
    """Repeatable numbers at least 0.1 apart, so that a small step changes no maximum."""
    count = int(np.prod(shape))
    numbers = np.random.default_rng(seed).permutation(count) - count / 2
    return (numbers / 10).reshape(shape)


def few_values(shape: Index, seed: int = 0) -> NDArray[Any]:
    """Repeatable numbers with many ties."""
    return np.random.default_rng(seed).integers(-2, 3, size=shape).astype(float)


# --- the reference --------------------------------------------------------------------------------


class Case(NamedTuple):
    """The shape of an image, and how windows slide over it."""

    x: Index
    kernel: Index
    stride: Index
    padding: tuple[Index, ...]
    dilation: Index
    ceil_mode: bool

    @property
    def of_max(self) -> dict[str, Any]:
        names = ("kernel", "stride", "padding", "dilation", "ceil_mode")
        return {name: getattr(self, name) for name in names}

    @property
    def of_mean(self) -> dict[str, Any]:
        return {name: value for name, value in self.of_max.items() if name != "dilation"}

    def starts(self, axis: int) -> list[int]:
        """Where the windows on an axis start, tried one after the other."""
        size, (before, after) = self.x[2 + axis], self.padding[axis]
        extent = self.dilation[axis] * (self.kernel[axis] - 1) + 1
        found: list[int] = []
        start = -before
        while start + extent <= size + after:
            found.append(start)
            start += self.stride[axis]
        # In ceil mode one more, unless it only starts in the padding at the end, or the one before
        # it ended at the end already.
        last = start - self.stride[axis]
        if self.ceil_mode and start < size and last + extent < size + after:
            found.append(start)
        return found

    def windows(self) -> Iterator[tuple[Index, list[Index], int]]:
        """Each window's place, its cells inside the image, and its size inside the padding."""
        axes = range(len(self.kernel))
        for place in itertools.product(*(enumerate(self.starts(axis)) for axis in axes)):
            lines: list[list[int]] = []
            size = 1
            for axis, (_, start) in enumerate(place):
                line = [start + k * self.dilation[axis] for k in range(self.kernel[axis])]
                lines.append([at for at in line if 0 <= at < self.x[2 + axis]])
                size *= sum(at < self.x[2 + axis] + self.padding[axis][1] for at in line)
            yield tuple(k for k, _ in place), list(itertools.product(*lines)), size

    @property
    def y(self) -> Index:
        return (*self.x[:2], *(len(self.starts(axis)) for axis in range(len(self.kernel))))


def maxima(case: Case, x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Maxima and their flat positions by loops: the first NaN, or else the first of the largest."""
    y, at = np.full(case.y, -np.inf), np.full(case.y, -1)
    for n, c in np.ndindex(x.shape[:2]):
        plane = x[n, c]
        for place, cells, _ in case.windows():
            if not cells:
                continue
            best = cells[0]
            for cell in cells[1:]:
                if not np.isnan(plane[best]) and not plane[cell] <= plane[best]:
                    best = cell
            y[(n, c, *place)] = plane[best]
            at[(n, c, *place)] = np.ravel_multi_index(best, plane.shape)
    return y, at


def means(case: Case, x: NDArray[Any], count_include_pad: bool) -> NDArray[Any]:
    y = np.zeros(case.y, x.dtype)
    for place, cells, size in case.windows():
        total = sum(x[(..., *cell)] for cell in cells)
        y[(..., *place)] = total / (size if count_include_pad else len(cells))
    return y


@st.composite
def cases(draw: Any, dilated: bool = True) -> Case:
    axes = draw(st.integers(1, 3))
    kernel = [draw(st.integers(1, 3)) for _ in range(axes)]
    dilation = [draw(st.integers(1, 2 if dilated else 1)) for _ in range(axes)]
    halves = [(d * (k - 1) + 1) // 2 for k, d in zip(kernel, dilation, strict=True)]
    case = Case(
        x=(draw(st.integers(0, 2)), 2, *(draw(st.integers(1, 7 - axes)) for _ in range(axes))),
        kernel=tuple(kernel),
        stride=tuple(draw(st.integers(1, 3)) for _ in range(axes)),
        padding=tuple((draw(st.integers(0, h)), draw(st.integers(0, h))) for h in halves),
        dilation=tuple(dilation),
        ceil_mode=draw(st.booleans()),
    )
    assume(min(case.y[2:]) > 0)
    return case


# --- maximum --------------------------------------------------------------------------------------


@settings(max_examples=150)
@given(cases(), st.sampled_from([0.0, 0.3]), st.sampled_from([0.0, 0.5]))
def test_max_pool_and_its_indices(case: Case, unordered: float, infinite: float) -> None:
    x = few_values(case.x)
    holes = np.random.default_rng(1).random(x.shape)
    x[holes < infinite] = -np.inf
    x[holes > 1 - unordered] = np.nan
    y, at = maxima(case, x)
    np.testing.assert_array_equal(sg.max_pool(x, **case.of_max).numpy(), y)
    np.testing.assert_array_equal(max_pool_indices(x, **case.of_max).numpy(), at)


@settings(max_examples=60)
@given(cases())
def test_the_cotangent_goes_to_the_first_of_the_largest(case: Case) -> None:
    a = few_values(case.x)
    x, ct = sg.placeholder("x", case.x), sg.placeholder("ct", case.y)
    weights = few_values(case.y, 1)
    (dx,) = sg.vjp(sg.max_pool(x, **case.of_max), x, ct)
    want = np.zeros((*case.x[:2], math.prod(case.x[2:])))
    for place, at in np.ndenumerate(maxima(case, a)[1]):
        if at >= 0:
            want[(*place[:2], at)] += weights[place]
    found = sg.evaluate(dx, {x: a, ct: weights})
    np.testing.assert_array_equal(found, want.reshape(case.x))


@settings(max_examples=40)
@given(cases())
def test_gather_and_scatter_are_transposes(case: Case) -> None:
    indices = maxima(case, few_values(case.x))[1]
    x, y = distinct(case.x, 1), distinct(case.y, 2)
    there = float(sg.sum(pool_gather(x, indices) * y))
    back = float(sg.sum(pool_scatter(y, indices, shape=case.x[2:]) * x))
    assert there == pytest.approx(back)


PADDED = Case((2, 2, 5, 4), (3, 2), (2, 2), ((1, 1), (1, 0)), (1, 1), True)
DILATED = Case((1, 2, 7), (2,), (2,), ((1, 1),), (2,), False)
SOLID = Case((1, 1, 3, 4, 3), (2, 2, 2), (1, 2, 1), ((0, 0), (1, 1), (0, 0)), (1, 1, 1), False)


@pytest.mark.parametrize("case", [PADDED, DILATED, SOLID], ids=["padded", "dilated", "three_axes"])
def test_derivatives_of_max_pool(case: Case) -> None:
    check_derivatives(lambda x: sg.sin(sg.max_pool(x, **case.of_max)), distinct(case.x))


def test_derivatives_of_every_order_stay_in_the_family() -> None:
    x = sg.placeholder("x", (1, 1, 6))
    y = sg.sum(sg.max_pool(x, 2) ** 4)
    for _ in range(3):
        (y,) = sg.grad(y, x)
        y = sg.sum(y)
    names = {s.op.name for s in reachable([y]) if "pool" in s.op.name}
    assert names <= {"max_pool", "max_pool_indices", "pool_gather", "pool_scatter"}
    assert sg.evaluate(y, {x: np.array([[[1.0, 2, 3, 0, -1, -2]]])}) == 24 * (2 + 3 - 1)


def test_the_issue_with_padding_above_the_corner() -> None:
    """Negative images keep their values: padding never wins."""
    y = sg.max_pool(-np.ones((1, 1, 3, 3)), 2, stride=2, padding=1)
    assert np.array_equal(y.numpy(), -np.ones((1, 1, 2, 2)))


def test_ties_over_zeros_go_to_the_first_cell() -> None:
    x = sg.placeholder("x", (1, 1, 4, 4))
    (dx,) = sg.grad(sg.sum(sg.max_pool(x, 3, stride=1, padding=1)), x)
    counts = sg.evaluate(dx, {x: np.zeros((1, 1, 4, 4))})[0, 0]
    assert counts[0, 0] == 4
    assert counts.sum() == 16
    assert not counts[3].any()


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint8", "int64", "float16", "float32", "float64"]
)
def test_max_pool_keeps_the_element_type(dtype: str) -> None:
    least: Any = False if dtype == "bool" else -np.inf
    if dtype not in ("bool", "float16", "float32", "float64"):
        least = np.iinfo(dtype).min
    x = np.array([[[least, least, 1, 0]]], dtype)
    y = sg.max_pool(x, 2, padding=1, stride=1)
    assert y.dtype == dtype
    assert y.numpy().tolist() == [[[least, least, 1, 1, 0]]]
    assert max_pool_indices(x, 2).numpy().tolist() == [[[0, 2]]]


def test_a_branch_not_pooled_is_guarded() -> None:
    """The root of a cell that no window picks has an infinite slope, which must not matter."""
    x = sg.placeholder("x", (1, 1, 4))
    y = sg.sum(sg.max_pool(sg.sqrt(x), 2))
    (dx,) = sg.grad(y, x)
    (ddx,) = sg.grad(sg.sum(dx), x)
    at = {x: np.array([[[0.0, 4.0, 1.0, 0.0]]])}
    assert sg.evaluate(dx, at).tolist() == [[[0.0, 0.25, 0.5, 0.0]]]
    assert sg.evaluate(ddx, at).tolist() == [[[0.0, -1 / 32, -0.25, 0.0]]]


def test_a_guard_passes_through_pooling() -> None:
    x = sg.placeholder("x", (1, 1, 4))
    inner = sg.sqrt(x)
    for pool in (sg.max_pool, sg.avg_pool):
        chosen = sg.where(sg.asarray([[[True, False]]]), pool(inner, 2), 0.0)
        (dx,) = sg.grad(sg.sum(chosen), x)
        value = sg.evaluate(dx, {x: np.array([[[4.0, 1.0, 0.0, 0.0]]])})
        assert np.all(np.isfinite(value))
        assert not value[0, 0, 2:].any()


# --- mean -----------------------------------------------------------------------------------------


@settings(max_examples=150)
@given(cases(dilated=False), st.booleans())
def test_avg_pool_and_its_transpose(case: Case, count_include_pad: bool) -> None:
    x, y = distinct(case.x), distinct(case.y, 1)
    attrs = {**case.of_mean, "count_include_pad": count_include_pad}
    mean = sg.avg_pool(x, **attrs).numpy()
    np.testing.assert_allclose(mean, means(case, x, count_include_pad), rtol=1e-12, atol=1e-12)
    back = avg_pool_transpose(y, shape=case.x[2:], **attrs)
    assert back.shape == x.shape
    assert float(np.sum(mean * y)) == pytest.approx(float(sg.sum(back * x)))


@pytest.mark.parametrize("count_include_pad", [True, False])
@pytest.mark.parametrize("case", [PADDED, SOLID], ids=["padded", "three_axes"])
def test_derivatives_of_avg_pool(case: Case, count_include_pad: bool) -> None:
    attrs = {**case.of_mean, "count_include_pad": count_include_pad}
    check_derivatives(lambda x: sg.sin(sg.avg_pool(x, **attrs)), distinct(case.x))
    check_derivatives(
        lambda y: sg.sin(avg_pool_transpose(y, shape=case.x[2:], **attrs)), distinct(case.y)
    )


def test_what_hangs_over_does_not_count() -> None:
    x = np.array([[[1.0, 2.0, 3.0, 4.0, 9.0]]])
    assert sg.avg_pool(x, 3, ceil_mode=True).numpy().tolist() == [[[2.0, 6.5]]]


def test_padding_counts_if_asked_to() -> None:
    x = np.array([[[2.0, 4.0, 6.0, 7.0]]])
    y = sg.avg_pool(x, 2, padding=1)
    assert y.numpy().tolist() == [[[1.0, 5.0, 3.5]]]
    y = sg.avg_pool(x, 2, padding=1, count_include_pad=False)
    assert y.numpy().tolist() == [[[2.0, 5.0, 7.0]]]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_avg_pool_keeps_the_element_type(dtype: str) -> None:
    y = sg.avg_pool(np.array([[[1, 2, 3, 6]]], dtype), 2)
    assert y.dtype == dtype
    assert y.numpy().tolist() == [[[1.5, 4.5]]]
    back = avg_pool_transpose(y, 2, shape=(4,))
    assert back.dtype == dtype
    assert back.numpy().tolist() == [[[0.75, 0.75, 2.25, 2.25]]]


def test_half_precision_sums_in_single() -> None:
    y = sg.avg_pool(np.ones((1, 1, 4096), np.float16), 4096)
    assert y.numpy().tolist() == [[[1.0]]]


def test_derivatives_of_complex_means() -> None:
    x = distinct((1, 1, 6)) + 1j * distinct((1, 1, 6), 1)
    check_derivatives(lambda x: sg.sin(sg.avg_pool(x, 3, stride=2, padding=1)), x)


# --- sizes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("ceil_mode", [False, True])
@pytest.mark.parametrize("padding", [0, 1])
@pytest.mark.parametrize("name", ["max_pool", "avg_pool"])
def test_named_dimensions_give_the_values_of_concrete_ones(
    name: str, padding: int, ceil_mode: bool, stride: int
) -> None:
    def outputs(x: Any) -> list[Any]:
        pool = getattr(sg, name)
        y = pool(x, 2, stride=stride, padding=padding, ceil_mode=ceil_mode)
        (dx,) = sg.grad(sg.sum(y * y), x)
        (ddx,) = sg.grad(sg.sum(dx * dx), x)
        assert dx.shape == ddx.shape == x.shape
        return [y, dx, ddx]

    x = sg.placeholder("x", ("n", 1, "h", "v"))
    run = sg.function(x, outputs(x))
    for h, v in itertools.product(range(2, 6), (3, 6)):
        a = distinct((2, 1, h, v), h)
        x0 = sg.placeholder("x", a.shape)
        wanted = sg.function(x0, outputs(x0))(a)
        for have, want in zip(run(a), wanted, strict=True):
            assert np.array_equal(have, want)


def test_a_named_size_too_small_for_the_window_fails_when_it_runs() -> None:
    x = sg.placeholder("x", (1, 1, "n"))
    for pool in (sg.max_pool, sg.avg_pool):
        run = sg.function(x, pool(x, 3))
        with pytest.raises(ValueError, match="larger than the padded input"):
            run(np.ones((1, 1, 2)))


@pytest.mark.parametrize("pool", [sg.max_pool, sg.avg_pool])
def test_an_empty_batch(pool: Callable[..., Any]) -> None:
    x = sg.placeholder("x", (0, 2, 4))
    y = pool(x, 2)
    values = sg.function(x, [y, *sg.grad(sg.sum(y), x)])(np.ones((0, 2, 4)))
    assert [v.shape for v in values] == [(0, 2, 2), (0, 2, 4)]


@pytest.mark.parametrize("pool", [sg.max_pool, sg.avg_pool])
def test_a_window_of_one_cell_copies(pool: Callable[..., Any]) -> None:
    x = distinct((2, 1, 3))
    y = pool(x, 1).numpy()
    assert np.array_equal(y, x)
    assert not np.shares_memory(y, x)


def test_equal_attributes_in_other_forms_are_the_same_symbol() -> None:
    x = sg.placeholder("x", (1, 2, 4, 4))
    assert sg.max_pool(x, 2) is sg.max_pool(x, (2, 2), stride=[2, 2], padding=((0, 0), (0, 0)))
    assert sg.avg_pool(x, 2, stride=1) is not sg.avg_pool(x, 2)
    assert sg.max_pool2d(x, 2, 1, 1) is sg.max_pool(x, 2, stride=1, padding=1)
    assert sg.avg_pool2d(x, 2, 1, 1, True, False) is sg.avg_pool(
        x, 2, stride=1, padding=1, ceil_mode=True, count_include_pad=False
    )


# --- errors ---------------------------------------------------------------------------------------

ERRORS: list[tuple[Index, dict[str, Any], str]] = [
    (
        (3, 4),
        {"kernel": 2},
        "x needs a batch, a channel and one or more spatial axes: "
        "expected 3 or more axes, got f64[3, 4]",
    ),
    ((1, 1, 4), {"kernel": 0}, "kernel is out of range: expected at least 1, got 0"),
    (
        (1, 1, 4),
        {"kernel": (2, 2)},
        "kernel must be an int, or one int per spatial axis: expected 1 ints, got (2, 2)",
    ),
    ((1, 1, 4), {"kernel": 2, "stride": 0}, "stride is out of range: expected at least 1, got 0"),
    (
        (1, 1, 4),
        {"kernel": 2, "padding": 2},
        "padding is out of range on spatial axis 0: expected 0 to 1, half the kernel, got (2, 2)",
    ),
    (
        (1, 1, 4),
        {"kernel": 2, "padding": ((0, -1),)},
        "padding is out of range on spatial axis 0: expected 0 to 1, half the kernel, got (0, -1)",
    ),
    (
        (1, 1, 4),
        {"kernel": 2, "padding": -1},
        "padding is negative: expected 0 or more, got -1; "
        "hint: only a pair (before, after) may be negative: it crops",
    ),
    (
        (1, 1, 4, 2),
        {"kernel": (2, 3)},
        "the kernel is larger than the padded input on spatial axis 1: "
        "expected at most 2 + 0 + 0 = 2, got 3",
    ),
    (
        (1, 1, 0),
        {"kernel": 2},
        "x has an empty spatial axis: expected at least 1, got f64[1, 1, 0]",
    ),
]


@pytest.mark.parametrize(("shape", "attrs", "message"), ERRORS)
@pytest.mark.parametrize("name", ["max_pool", "avg_pool"])
def test_errors(name: str, shape: Index, attrs: dict[str, Any], message: str) -> None:
    for x in (np.ones(shape), sg.placeholder("x", shape)):
        with pytest.raises(ShapeError) as error:
            getattr(sg, name)(x, **attrs)
        assert str(error.value).split("; created at")[0] == f"{name}: {message}"


def test_errors_of_element_types() -> None:
    with pytest.raises(DTypeError, match="max_pool: element type of x: expected real or bool"):
        sg.max_pool(np.ones((1, 1, 4), complex), 2)
    with pytest.raises(DTypeError, match="avg_pool: element type of x: expected inexact"):
        sg.avg_pool(np.ones((1, 1, 4), int), 2)


# --- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("name", ["max_pool", "avg_pool"])
def test_the_batch_may_be_left_out(name: str, axes: int) -> None:
    x = distinct((3, 2, *(5,) * axes))
    want = getattr(sg, name)(x, 2, padding=1).numpy()
    pool = getattr(sg, f"{name}{axes}d")
    assert np.array_equal(pool(x, 2, padding=1).numpy(), want)
    assert np.array_equal(pool(x[1], 2, padding=1).numpy(), want[1])
    symbol = sg.placeholder("x", ("c", *(5,) * axes))
    assert pool(symbol, 2).type.shape == (symbol.shape[0], *(2,) * axes)


@pytest.mark.parametrize("shape", [(4, 4), (1, 1, 1, 4, 4)])
def test_names_state_the_number_of_axes(shape: Index) -> None:
    for name in ("max_pool2d", "avg_pool2d", "lp_pool2d"):
        arguments = (2, 2) if name == "lp_pool2d" else (2,)
        with pytest.raises(ShapeError) as error:
            getattr(sg, name)(np.ones(shape), *arguments)
        sizes = ", ".join(map(str, shape))
        assert str(error.value).split("; created at")[0] == (
            f"{name}: x needs a channel and 2 spatial axes: "
            f"expected 4 axes, or 3 without a batch, got f64[{sizes}]"
        )


def test_errors_name_the_function_that_was_called() -> None:
    with pytest.raises(ShapeError, match=r"^avg_pool3d: kernel is out of range"):
        sg.avg_pool3d(np.ones((1, 4, 4, 4)), 0)
    with pytest.raises(ArgumentError, match=r"^max_pool1d: missing a required argument: 'kernel'"):
        sg.max_pool1d(np.ones((1, 1, 4)))


def test_divisor_override_divides_every_sum() -> None:
    x = np.array([[[1.0, 2.0, 3.0, 4.0, 5.0]]])
    y = sg.avg_pool(x, 2, padding=1, ceil_mode=True, divisor_override=4)
    assert y.numpy().tolist() == [[[0.25, 1.25, 2.25]]]
    with pytest.raises(ArgumentError, match="divisor_override: expected a number other than 0"):
        sg.avg_pool(x, 2, divisor_override=0)


# --- the same in every mode -----------------------------------------------------------------------


def test_generated_code_needs_numpy_alone() -> None:
    x = sg.placeholder("x", ("n", 2, "h"))
    y = sg.max_pool(x, 3, stride=2, padding=1, ceil_mode=True)
    z = sg.avg_pool(x, 3, stride=2, padding=1, ceil_mode=True)
    run = sg.function(x, [y, z, *sg.grad(sg.sum(y * y) + sg.sum(z * z), x)])
    scope: dict[str, Any] = {}
    exec(run.source, scope)
    a = distinct((2, 2, 6))
    for have, want in zip(scope["call"](a), run(a), strict=True):
        assert np.array_equal(have, want)
    assert np.array_equal(run(a)[0], sg.max_pool(a, 3, stride=2, padding=1, ceil_mode=True).numpy())
