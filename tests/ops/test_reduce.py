"""Reductions and running ones: numpy is the oracle for values, finite differences for slopes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, DTypeError, ShapeError
from symgrad.ops.running import recurrence
from tests.ops.finite_differences import check_derivatives
from tests.ops.front_ends import check_everywhere
from tests.ops.gradients import gradient

RNG = np.random.default_rng(3)
INF, NAN = math.inf, math.nan

AXES = [None, 0, 1, -1, (0, 2), (-1, 0), (2, 1, 0), ()]
FLOATS = ["float16", "float32", "float64"]
NUMBERS = [*FLOATS, "int8", "int64", "uint8", "uint64", "bool", "complex64", "complex128"]


def sample(shape: tuple[int, ...], dtype: str = "float64") -> np.ndarray:
    values = 2 * RNG.normal(size=shape)
    if dtype[0] == "c":
        values = values + 1j * RNG.normal(size=shape)
    return np.abs(values).astype(dtype) if dtype[0] == "u" else values.astype(dtype)


def second(function: Callable[..., Any], array: Any) -> np.ndarray:
    """The matrix of second derivatives of a scalar function of a vector."""
    x = sg.placeholder("x", np.shape(array))
    (slope,) = sg.grad(function(x), x)
    rows = [sg.grad(slope[k], x)[0] for k in range(len(array))]
    return np.stack(sg.evaluate(rows, {x: array}))


# --- values ---------------------------------------------------------------------------------------

PEERS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "sum": (sg.sum, np.sum),
    "prod": (sg.prod, np.prod),
    "any": (sg.any, np.any),
    "all": (sg.all, np.all),
    "count_nonzero": (sg.count_nonzero, np.count_nonzero),
    "max": (sg.max, np.max),
    "min": (sg.min, np.min),
    "mean": (sg.mean, np.mean),
    "var": (sg.var, np.var),
    "std": (sg.std, np.std),
    "logsumexp": (
        sg.logsumexp,
        lambda x, **kw: np.log(np.sum(np.exp(x), **kw)).astype(x.dtype),
    ),
}


def refused_kinds(name: str) -> str:
    """The kinds of element types that an op does not take, or that numpy computes otherwise."""
    kinds = "c" if name in ("max", "min", "var", "std", "logsumexp") else ""
    return kinds + ("iub" if name in ("mean", "var", "std", "logsumexp") else "")


@pytest.mark.parametrize("name", PEERS)
@pytest.mark.parametrize("axis", AXES, ids=str)
@pytest.mark.parametrize("keepdims", [False, True])
def test_values_along_axes(name: str, axis: Any, keepdims: bool) -> None:
    ours, numpys = PEERS[name]
    x = sample((2, 3, 4))
    expected = numpys(x, axis=axis, keepdims=keepdims)
    check_everywhere(lambda x: ours(x, axis=axis, keepdims=keepdims), expected, x, rtol=1e-12)


@pytest.mark.parametrize("name", PEERS)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_values_of_types(name: str, dtype: str) -> None:
    if dtype[0] in refused_kinds(name):
        return
    ours, numpys = PEERS[name]
    x = sample((3, 4), dtype)
    expected = numpys(x, axis=1)
    precision = np.finfo(dtype).eps if dtype[0] in ("f", "c") else 0
    check_everywhere(lambda x: ours(x, axis=1), expected, x, rtol=20 * precision)


@pytest.mark.parametrize("name", PEERS)
@pytest.mark.parametrize("shape", [(), (1,), (1, 1), (1, 3)])
def test_small_shapes(name: str, shape: tuple[int, ...]) -> None:
    ours, numpys = PEERS[name]
    x = sample(shape)
    check_everywhere(ours, numpys(x), x, rtol=1e-12, atol=1e-16)


def test_views_with_negative_strides() -> None:
    x = sample((4, 6))[::-1, ::-2]
    for ours, numpys in PEERS.values():
        check_everywhere(lambda x, ours=ours: ours(x, axis=0), numpys(x, axis=0), x, rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "nothing"),
    [
        ("sum", 0.0),
        ("prod", 1.0),
        ("any", False),
        ("all", True),
        ("logsumexp", -INF),
        ("mean", NAN),
        ("var", NAN),
        ("std", NAN),
    ],
)
def test_reductions_of_nothing(name: str, nothing: Any) -> None:
    ours, _ = PEERS[name]
    empty = np.zeros((3, 0))
    with np.errstate(all="ignore"):
        check_everywhere(lambda x: ours(x, axis=1), np.full(3, nothing), empty)
        check_everywhere(
            lambda x: ours(x, axis=0), np.zeros((0,), np.asarray(nothing).dtype), empty
        )


@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
def test_extremes_of_nothing_are_refused(name: str) -> None:
    op = getattr(sg, name)
    with pytest.raises(ShapeError, match=rf"{name}: axis 1 is empty"):
        op(np.zeros((3, 0)), axis=1)
    with pytest.raises(ShapeError, match="is empty"):
        op(sg.placeholder("x", (0,)))
    assert np.asarray(op(np.zeros((0, 3)), axis=1)).shape == (0,)


@pytest.mark.parametrize("name", [*PEERS, "argmax", "argmin"])
def test_axes_out_of_range(name: str) -> None:
    with pytest.raises(ShapeError, match=rf"{name}: axis out of range"):
        getattr(sg, name)(np.zeros((2, 3)), axis=2)


@pytest.mark.parametrize("name", PEERS)
def test_axes_given_twice(name: str) -> None:
    with pytest.raises(ShapeError, match="an axis is given twice"):
        getattr(sg, name)(np.zeros((2, 3)), axis=(0, -2))


@pytest.mark.parametrize("name", ["max", "min", "argmax", "var", "std", "logsumexp"])
def test_complex_numbers_have_no_order(name: str) -> None:
    with pytest.raises(DTypeError, match=name):
        getattr(sg, name)(np.zeros(2, complex))


def test_sums_of_small_types_do_not_wrap() -> None:
    assert int(sg.sum(np.ones(300, bool))) == 300
    assert int(sg.sum(np.full(300, 100, np.int8))) == 30000
    assert int(sg.prod(np.full(3, 100, np.int8))) == 10**6
    assert np.asarray(sg.sum(np.full(300, 200, np.uint8))).dtype == np.uint64
    assert np.asarray(sg.sum(np.ones(3, np.int32))).dtype == np.int64


def test_the_type_of_a_sum_may_be_asked_for() -> None:
    x = sample((3, 4), "float32")
    check_everywhere(lambda x: sg.sum(x, dtype="float64"), np.sum(x, dtype="float64"), x)
    check_everywhere(
        lambda x: sg.prod(x, axis=0, dtype=sg.float64), np.prod(x, axis=0, dtype="float64"), x
    )
    assert gradient(lambda x: sg.sum(x, dtype="float64"), x).dtype == np.float32
    with pytest.raises(DTypeError, match="sum"):
        sg.sum(np.ones(2, complex), dtype="float64")


def test_equal_reductions_are_one_symbol() -> None:
    x = sg.placeholder("x", (2, 3))
    assert sg.sum(x) is sg.sum(x, axis=(1, 0)) is sg.sum(x, axis=(-2, -1), dtype="float64")
    assert sg.var(x, correction=1) is sg.var(x, correction=1.0)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_positions(name: str) -> None:
    ours, numpys = getattr(sg, name), getattr(np, name)
    x = np.array([[3.0, 1.0, 3.0, 1.0], [NAN, 9.0, -9.0, NAN]])
    for axis in (None, 0, 1, -1):
        for keepdims in (False, True):
            check_everywhere(
                lambda x, axis=axis, keepdims=keepdims: ours(x, axis=axis, keepdims=keepdims),
                numpys(x, axis=axis, keepdims=keepdims),
                x,
            )
    check_everywhere(ours, 0, np.array(3.0))
    check_everywhere(ours, numpys(np.array([True, False])), np.array([True, False]))


def test_not_a_number_wins() -> None:
    x = np.array([1.0, NAN, INF])
    assert math.isnan(float(sg.max(x)))
    assert math.isnan(float(sg.min(x)))
    assert math.isnan(float(sg.logsumexp(x)))


# --- half precision -------------------------------------------------------------------------------


def test_half_precision_is_averaged_in_single() -> None:
    x = np.full(6, 30000.0, np.float16)
    assert float(sg.mean(x)) == 30000.0
    assert float(sg.var(np.array([0, 600], np.float16))) == INF  # 90000 does not fit
    assert float(sg.std(np.array([0, 600], np.float16))) == 300.0
    g = gradient(sg.mean, np.zeros(70000, np.float16))
    np.testing.assert_allclose(g, np.full(70000, 1 / 70000), rtol=1e-2)
    assert g.dtype == np.float16
    for op in (sg.var, sg.std):
        g = gradient(op, np.array([1, 2, 4], np.float16))
        np.testing.assert_allclose(g, gradient(op, np.array([1.0, 2.0, 4.0])), rtol=2e-3)


# --- spread ---------------------------------------------------------------------------------------


def test_variance_far_from_zero() -> None:
    x = np.array([[1e8 + 1, 1e8 + 2, 1e8 + 3], [0.0, 0.0, 6.0]])
    expected = np.var(x, axis=1, ddof=1, keepdims=True)
    check_everywhere(lambda x: sg.var(x, axis=1, correction=1, keepdims=True), expected, x)
    g = gradient(lambda x: sg.sum(sg.var(x, axis=1, correction=1)), x)
    np.testing.assert_allclose(g, [[-1.0, 0.0, 1.0], [-2.0, -2.0, 4.0]], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("correction", [0, 1, 0.5, 2])
def test_corrections(correction: float) -> None:
    x = sample((5, 3))
    for ours, numpys in ((sg.var, np.var), (sg.std, np.std)):
        expected = numpys(x, axis=0, ddof=correction)
        check_everywhere(lambda x, ours=ours: ours(x, axis=0, correction=correction), expected, x)
        check_derivatives(lambda x, ours=ours: ours(x, axis=0, correction=correction), x)


def test_named_sizes_divide() -> None:
    n = sg.placeholder("x", ("n", 3))
    for correction in (0, 1, 0.5):
        y = sg.mean(n) + sg.sum(sg.std(n, axis=0, correction=correction))
        (g,) = sg.grad(y, n)
        value = sample((4, 3))
        fixed = gradient(
            lambda x, c=correction: sg.mean(x) + sg.sum(sg.std(x, axis=0, correction=c)), value
        )
        np.testing.assert_allclose(sg.evaluate(g, {n: value}), fixed, rtol=1e-13)


def test_too_few_elements_for_the_correction() -> None:
    with np.errstate(all="ignore"):
        assert math.isnan(float(sg.var(np.array([2.0]), correction=1)))
        assert float(sg.std(np.array([1.0, 3.0]), correction=2)) == INF


def test_slope_of_equal_elements_is_zero() -> None:
    x = np.array([2.5, 2.5, 2.5])
    np.testing.assert_array_equal(gradient(sg.var, x), np.zeros(3))
    np.testing.assert_array_equal(gradient(sg.std, x), np.zeros(3))
    np.testing.assert_array_equal(second(sg.std, x), np.zeros((3, 3)))
    np.testing.assert_allclose(gradient(sg.std, np.array([1.0, 3.0])), [-0.5, 0.5])


def test_correction_must_be_a_number() -> None:
    with pytest.raises(ArgumentError, match="var: correction is not a number"):
        sg.var(np.ones(3), correction="one")


# --- derivatives ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "var", "std", "max", "min", "logsumexp"])
@pytest.mark.parametrize("axis", [None, 1, (0, -1), ()], ids=str)
def test_derivatives(name: str, axis: Any) -> None:
    if name == "std" and axis == ():
        return  # the root of zero
    op = getattr(sg, name)
    for keepdims in (False, True):
        check_derivatives(lambda x, k=keepdims: op(x, axis=axis, keepdims=k), sample((2, 3, 2)))


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "cumulative_sum", "cumulative_prod"])
def test_derivatives_by_complex_numbers(name: str) -> None:
    check_derivatives(lambda x: getattr(sg, name)(x, axis=1), sample((2, 3), "complex128"))


@pytest.mark.parametrize(
    "name",
    ["sum", "prod", "mean", "var", "std", "max", "min", "logsumexp", "softmax", "log_softmax"],
)
def test_slopes_with_named_sizes(name: str) -> None:
    op = getattr(sg, name)
    x = sg.placeholder("x", ("n", "m"))
    for axis in (1,) if "softmax" in name else (None, 0, (0, 1)):
        f = lambda x, axis=axis: sg.sum(sg.sin(op(x, axis=axis)))  # noqa: E731
        (g,) = sg.grad(f(x), x)
        (h,) = sg.grad(sg.sum(g * g), x)
        assert g.shape == h.shape == x.shape
        value = sample((3, 2))
        wanted = gradient(f, value)
        got, _ = sg.evaluate([g, h], {x: value})
        np.testing.assert_allclose(got, wanted, rtol=1e-12)


def test_kernels_take_the_numbers_that_reductions_give() -> None:
    for name in [*PEERS, "argmax", "argmin"]:
        op = getattr(sg, name)
        attrs = op.normalize([sg.placeholder("x").type], dict(op.signature.defaults))
        for dtype in ("float32", "float64"):
            number = np.dtype(dtype).type(0.5)
            wanted = op.infer([sg.placeholder("x", (), dtype).type], attrs)
            got = op.kernel(number, **attrs)
            assert np.shape(got) == ()
            if name in ("sum", "prod"):
                continue  # the attribute names float64
            assert np.asarray(got).dtype == wanted.dtype, name


def test_a_sum_is_the_transpose_of_its_rule() -> None:
    x, ct = sample((2, 3, 4)), sample((3,))
    back = gradient(lambda x: sg.sum(x, axis=(0, 2)), x, ct=ct)
    forward = np.asarray(sg.sum(x, axis=(0, 2)))
    assert np.vdot(back, x) == pytest.approx(np.vdot(ct, forward))


def test_ties_share_evenly() -> None:
    for op, sign in ((sg.max, 1), (sg.min, -1)):
        x = sign * np.array([[1.0, 1.0, 0.0], [2.0, 1.0, 0.0]])
        np.testing.assert_array_equal(gradient(op, x[0]), [0.5, 0.5, 0.0])
        rows = gradient(lambda x, op=op: sg.sum(op(x, axis=1)), x)
        np.testing.assert_array_equal(rows, [[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]])
        flat = np.ones((2, 3))
        np.testing.assert_allclose(gradient(op, flat), np.full((2, 3), 1 / 6))


def test_slope_goes_to_not_a_number() -> None:
    np.testing.assert_array_equal(gradient(sg.max, np.array([1.0, NAN, 5.0])), [0.0, 1.0, 0.0])


def test_extremes_guard_what_they_did_not_choose() -> None:
    g = gradient(lambda x: sg.max(sg.sqrt(x)), np.array([0.0, 4.0]))
    np.testing.assert_array_equal(g, [0.0, 0.25])


def test_product_with_zeros() -> None:
    np.testing.assert_array_equal(gradient(sg.prod, np.array([2.0, 0.0, 3.0, 5.0])), [0, 30, 0, 0])
    np.testing.assert_array_equal(gradient(sg.prod, np.array([0.0, 7.0, 0.0])), [0, 0, 0])
    x = np.array([[2.0, 0.0], [0.0, 3.0]])
    np.testing.assert_array_equal(gradient(sg.prod, x), np.zeros((2, 2)))
    x[1, 0] = 5.0
    np.testing.assert_array_equal(gradient(sg.prod, x), [[0, 30], [0, 0]])


def test_second_derivative_of_a_product_with_zeros() -> None:
    x = np.array([2.0, 0.0, 3.0, 0.0])
    expected = np.zeros((4, 4))
    expected[1, 3] = expected[3, 1] = 6.0
    np.testing.assert_array_equal(second(sg.prod, x), expected)
    x = np.array([2.0, 0.0, 3.0])
    np.testing.assert_array_equal(second(sg.prod, x), [[0, 3, 0], [3, 0, 2], [0, 2, 0]])


def test_third_derivative_of_a_product_with_zeros() -> None:
    x = sg.placeholder("x", (3,))
    y = sg.prod(x)
    for k in range(3):
        y = sg.grad(y, x)[0][k]
    assert float(sg.evaluate(y, {x: np.zeros(3)})) == 1.0


def test_products_of_nothing_have_slopes() -> None:
    empty = np.zeros((3, 0))
    assert gradient(lambda x: sg.sum(x) + sg.sum(sg.prod(x, axis=1)), empty).shape == (3, 0)


# --- running --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sum", "prod"])
@pytest.mark.parametrize("dtype", NUMBERS)
def test_running_values(name: str, dtype: str) -> None:
    ours, numpys = getattr(sg, f"cumulative_{name}"), getattr(np, f"cum{name}")
    x = sample((2, 3), dtype)
    precision = np.finfo(dtype).eps if dtype[0] in ("f", "c") else 0
    for axis in (0, 1, -1):
        expected = numpys(x, axis=axis)
        check_everywhere(lambda x, a=axis: ours(x, axis=a), expected, x, rtol=4 * precision)


@pytest.mark.parametrize("name", ["sum", "prod"])
def test_running_with_the_initial_value(name: str) -> None:
    ours, numpys = getattr(sg, f"cumulative_{name}"), getattr(np, f"cum{name}")
    x = sample((2, 3))
    start = np.full((2, 1), 0.0 if name == "sum" else 1.0)
    expected = np.concatenate([start, numpys(x, axis=1)], axis=1)
    check_everywhere(lambda x: ours(x, axis=1, include_initial=True), expected, x)
    check_everywhere(lambda x: ours(x, include_initial=True), start[0], np.zeros(0))
    check_derivatives(lambda x: ours(x, axis=1, include_initial=True), x)


@pytest.mark.parametrize("name", ["sum", "prod"])
def test_running_derivatives(name: str) -> None:
    op = getattr(sg, f"cumulative_{name}")
    check_derivatives(op, sample((5,)), order=3, tolerance=1e-5)
    check_derivatives(lambda x: op(x, axis=0), sample((3, 2)))
    check_derivatives(op, sample((1,)))
    assert gradient(lambda x: sg.sum(op(x)), np.zeros(0)).shape == (0,)


def test_running_along_a_named_axis() -> None:
    x = sg.placeholder("x", ("n",))
    for op in (sg.cumulative_sum, sg.cumulative_prod):
        (g,) = sg.grad(sg.sum(op(x, include_initial=True)) + sg.sum(op(x)), x)
        assert g.shape == x.shape
        for n in (0, 1, 4):
            value = sample((n,))
            fixed = gradient(
                lambda x, op=op: sg.sum(op(x, include_initial=True)) + sg.sum(op(x)), value
            )
            np.testing.assert_allclose(sg.evaluate(g, {x: value}), fixed, rtol=1e-13)


def test_running_product_with_zeros() -> None:
    g = gradient(lambda x: sg.sum(sg.cumulative_prod(x)), np.array([2.0, 0.0, 3.0]))
    np.testing.assert_array_equal(g, [1.0, 8.0, 0.0])
    np.testing.assert_array_equal(
        second(lambda x: sg.sum(sg.cumulative_prod(x)), np.array([2.0, 0.0, 3.0])),
        [[0, 4, 0], [4, 0, 2], [0, 2, 0]],
    )


def test_running_needs_an_axis() -> None:
    for op in (sg.cumulative_sum, sg.cumulative_prod):
        with pytest.raises(ShapeError, match="axis is needed"):
            op(np.ones((2, 2)))
        with pytest.raises(ShapeError, match="axis is needed"):
            op(np.ones(()))


@pytest.mark.parametrize("reverse", [False, True])
def test_recurrence(reverse: bool) -> None:
    x, b = sample((4, 2)), sample((4, 2))
    expected = b.copy()
    steps = range(2, -1, -1) if reverse else range(1, 4)
    for i in steps:
        expected[i] += x[i + 1] * expected[i + 1] if reverse else x[i] * expected[i - 1]
    check_everywhere(lambda x, b: recurrence(x, b, axis=0, reverse=reverse), expected, x, b)
    check_derivatives(lambda x, b: recurrence(x, b, axis=0, reverse=reverse), x, b)
    check_derivatives(lambda x, b: recurrence(x, b, axis=1, reverse=reverse), x, b)


# --- logsumexp ------------------------------------------------------------------------------------


def test_logsumexp_far_out() -> None:
    x = np.array([1e4, 1e4 + 1.0, -1e4])
    share = 1 / (1 + math.e)
    assert float(sg.logsumexp(x)) == pytest.approx(1e4 + 1 + math.log1p(math.exp(-1)), rel=1e-15)
    np.testing.assert_allclose(gradient(sg.logsumexp, x), [share, 1 - share, 0.0], rtol=1e-12)
    small = sg.logsumexp(np.array([0.0, -40.0, -50.0]))
    assert float(small) == pytest.approx(math.exp(-40) + math.exp(-50), rel=1e-14)


def test_logsumexp_of_infinities() -> None:
    masked = np.full(3, -INF)
    assert float(sg.logsumexp(masked)) == -INF
    assert float(sg.logsumexp(np.array([INF, 0.0]))) == INF
    np.testing.assert_array_equal(gradient(sg.logsumexp, masked), np.zeros(3))
    np.testing.assert_array_equal(second(sg.logsumexp, masked), np.zeros((3, 3)))
    x = np.array([-INF, 2.0, 3.0])
    share = 1 / (1 + math.e)
    np.testing.assert_allclose(gradient(sg.logsumexp, x), [0.0, share, 1 - share], rtol=1e-14)
    rows = np.array([[-INF, -INF], [0.0, -INF]])
    g = gradient(
        lambda x: sg.sum(
            sg.where(sg.isfinite(sg.logsumexp(x, axis=1)), sg.logsumexp(x, axis=1), 0.0)
        ),
        rows,
    )
    np.testing.assert_array_equal(g, [[0.0, 0.0], [1.0, 0.0]])
    np.testing.assert_array_equal(gradient(sg.logsumexp, rows), [[0.0, 0.0], [1.0, 0.0]])


def test_curvature_of_logsumexp_survives() -> None:
    s = math.exp(-38.0) / (1 + math.exp(-38.0)) ** 2
    expected = [[s, -s], [-s, s]]
    np.testing.assert_allclose(second(sg.logsumexp, np.array([38.0, 0.0])), expected, rtol=1e-12)
    axes = lambda x: sg.logsumexp(sg.reshape(x, (1, 2)), axis=(0, 1))  # noqa: E731
    np.testing.assert_allclose(second(axes, np.array([38.0, 0.0])), expected, rtol=1e-12)


# --- half precision -------------------------------------------------------------------------------

MANY = np.ones((5000, 2), np.float16)
NEAR_ONE = np.full((5000, 2), 1 + 2.0**-10, np.float16)
POWER = np.float16((1 + 2.0**-10) ** 5000)
ONE_PLACE = np.zeros(5000, np.int64)


@pytest.mark.parametrize(
    ("f", "x", "wanted"),
    [
        (lambda x: sg.sum(x, axis=0), MANY, 5000),
        (lambda x: sg.sum(x.T, axis=1, keepdims=True), MANY, 5000),
        (lambda x: sg.sum(sg.astype(x, "int8"), axis=0, dtype=sg.float16), MANY, 5000),
        (lambda x: sg.nansum(x, axis=0), MANY, 5000),
        (lambda x: sg.mean(x, axis=0), MANY, 1),
        (lambda x: sg.prod(x, axis=0), NEAR_ONE, POWER),
        (lambda x: sg.cumulative_sum(x, axis=0)[-1], MANY, 5000),
        (lambda x: sg.cumulative_prod(x, axis=0)[-1], NEAR_ONE, POWER),
        (lambda x: sg.vecdot(x, x, axis=0), MANY, 5000),
        (lambda x: sg.vecdot(x[:, 0], x[:, 0]), MANY, 5000),
        (lambda x: sg.einsum("ij,ij,ij->j", x, x, x), MANY, 5000),
        (lambda x: sg.einsum("ij->j", x), MANY, 5000),
        (lambda x: x.T @ x, MANY, 5000),
        (lambda x: sg.add_at(sg.zeros(1, dtype="float16"), ONE_PLACE, x[:, 0]), MANY, 5000),
        (lambda x: sg.segment_sum(x, ONE_PLACE, num_segments=1), MANY, 5000),
    ],
)
def test_half_precision_is_added_up_in_single(f: Any, x: Any, wanted: float) -> None:
    symbol = sg.placeholder("x", x.shape, x.dtype)
    for found in (np.asarray(f(sg.asarray(x))), sg.evaluate(f(symbol), {symbol: x})):
        assert found.dtype == np.float16
        np.testing.assert_array_equal(found, np.full(found.shape, wanted, np.float16))


@pytest.mark.parametrize(
    "f",
    [
        lambda v: v[ONE_PLACE],
        lambda v: sg.take(v, ONE_PLACE),
        lambda v: sg.take_along_axis(v, ONE_PLACE, axis=0),
        lambda v: v * MANY[:, 0],
        lambda v: sg.broadcast_to(v, (5000,)),
    ],
)
def test_half_precision_cotangents_are_added_up_in_single(f: Any) -> None:
    v = sg.placeholder("v", (1,), "float16")
    (g,) = sg.grad(sg.sum(f(v)), v)
    assert sg.evaluate(g, {v: np.ones(1, np.float16)}) == 5000
    t = sg.Tensor(np.ones(1, np.float16), requires_grad=True)
    (g,) = sg.grad(sg.sum(f(t)), t)
    assert float(g) == 5000


def test_recurrence_in_half_precision() -> None:
    x = sg.placeholder("x", (5000,), "float16")
    (g,) = sg.grad(sg.sum(sg.cumulative_prod(x)), x)
    assert sg.evaluate(g, {x: np.ones(5000, np.float16)})[0] == 5000
