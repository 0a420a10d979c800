"""Convolution and its two transposes against plain loops, and against each other."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import symgrad as sg
from symgrad.errors import ArgumentError, DTypeError, ShapeError
from symgrad.ir.walk import reachable
from symgrad.ops.conv import conv_kernel_gradient
from tests.ops.finite_differences import check_derivatives

Index = tuple[int, ...]
FAMILY = {"conv", "conv_transpose", "conv_kernel_gradient"}


def sample(shape: Index, seed: int = 0, dtype: Any = np.float64) -> NDArray[Any]:
    """Repeatable numbers around zero, complex ones if the type is."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=shape)
    if np.dtype(dtype).kind == "c":
        numbers = numbers + 1j * rng.normal(size=shape)
    return np.asarray(numbers, dtype)


def assert_derivatives(f: Callable[..., Any], *arrays: NDArray[Any]) -> None:
    """Differences confirm the first and second derivatives of a nonlinear function of ``f``."""
    check_derivatives(lambda *xs: sg.sin(f(*xs)), *arrays)


# --- the reference --------------------------------------------------------------------------------


class Case(NamedTuple):
    """Shapes and attributes of one convolution."""

    x: Index
    w: Index
    stride: Index
    padding: tuple[Index, ...]
    dilation: Index
    groups: int

    @property
    def attrs(self) -> dict[str, Any]:
        return {k: getattr(self, k) for k in ("stride", "padding", "dilation", "groups")}

    @property
    def y(self) -> Index:
        sizes = zip(self.x[2:], self.w[2:], self.padding, self.stride, self.dilation, strict=True)
        counts = [(n + sum(p) - d * (k - 1) - 1) // s + 1 for n, k, p, s, d in sizes]
        return (self.x[0], self.w[0], *counts)

    def terms(self) -> Iterator[tuple[Index, Index, Index]]:
        """The positions in image, kernel and response of every product in the trilinear form."""
        per_group = self.w[0] // self.groups
        for n, o, c in itertools.product(range(self.x[0]), range(self.w[0]), range(self.w[1])):
            channel = o // per_group * self.w[1] + c
            for place in itertools.product(*map(range, self.y[2:])):
                for cell in itertools.product(*map(range, self.w[2:])):
                    at = tuple(
                        p * s + k * d - before
                        for p, s, k, d, (before, _) in zip(
                            place, self.stride, cell, self.dilation, self.padding, strict=True
                        )
                    )
                    if all(0 <= a < size for a, size in zip(at, self.x[2:], strict=True)):
                        yield (n, channel, *at), (o, c, *cell), (n, o, *place)


def by_loops(
    case: Case, x: NDArray[Any] | None, w: NDArray[Any] | None, y: NDArray[Any] | None
) -> NDArray[Any]:
    """The derivative of the trilinear form by the operand that is None."""
    missing = next(name for name, a in zip("xwy", (x, w, y), strict=True) if a is None)
    result = np.zeros(
        getattr(case, missing), np.result_type(*(a for a in (x, w, y) if a is not None))
    )
    for at_x, at_w, at_y in case.terms():
        if x is None:
            result[at_x] += w[at_w] * y[at_y]  # type: ignore[index]
        elif w is None:
            result[at_w] += x[at_x] * y[at_y]  # type: ignore[index]
        elif y is None:
            result[at_y] += x[at_x] * w[at_w]
    return result


@st.composite
def cases(draw: Any) -> Case:
    axes = draw(st.integers(1, 3))
    groups = draw(st.integers(1, 3))
    n, c, o = (draw(st.integers(low, 2)) for low in (0, 1, 1))
    most = 6 if axes < 3 else 4
    kernel = [draw(st.integers(1, 3)) for _ in range(axes)]
    dilation = [draw(st.integers(1, 2)) for _ in range(axes)]
    padding = [(draw(st.integers(-1, 2)), draw(st.integers(-1, 2))) for _ in range(axes)]
    sizes = [
        max(draw(st.integers(1, most)), d * (k - 1) + 1 - sum(p))
        for k, d, p in zip(kernel, dilation, padding, strict=True)
    ]
    return Case(
        x=(n, c * groups, *sizes),
        w=(o * groups, c, *kernel),
        stride=tuple(draw(st.integers(1, 3)) for _ in range(axes)),
        padding=tuple(padding),
        dilation=tuple(dilation),
        groups=groups,
    )


def exact_transpose(case: Case) -> dict[str, Any]:
    """The attributes under which conv_transpose gives the image's sizes."""
    padding = []
    for size, count, k, (before, _), s, d in zip(
        case.x[2:], case.y[2:], case.w[2:], case.padding, case.stride, case.dilation, strict=True
    ):
        padding.append((before, (count - 1) * s + d * (k - 1) + 1 - before - size))
    return {**case.attrs, "padding": tuple(padding)}


@settings(max_examples=150)
@given(cases())
def test_each_is_the_derivative_of_the_trilinear_form(case: Case) -> None:
    x, w, y = (sample(shape, seed) for seed, shape in enumerate((case.x, case.w, case.y)))
    found = [
        sg.conv(x, w, **case.attrs),
        sg.conv_transpose(y, w, **exact_transpose(case)),
        conv_kernel_gradient(x, y, kernel=case.w[2:], **case.attrs),
    ]
    wanted = [by_loops(case, x, w, None), by_loops(case, None, w, y), by_loops(case, x, None, y)]
    for have, want in zip(found, wanted, strict=True):
        np.testing.assert_allclose(have.numpy(), want, rtol=1e-12, atol=1e-12)


@settings(max_examples=40)
@given(cases(), st.sampled_from([np.float64, np.complex128]))
def test_gradients_are_the_other_two(case: Case, dtype: Any) -> None:
    x, w = sg.placeholder("x", case.x, dtype), sg.placeholder("w", case.w, dtype)
    ct = sg.placeholder("ct", case.y, dtype)
    gradients = sg.vjp(sg.conv(x, w, **case.attrs), [x, w], ct)
    assert {s.op.name for s in reachable(gradients) if s.args} <= FAMILY | {"conj"}
    values = [sample(shape, seed, dtype) for seed, shape in enumerate((case.x, case.w, case.y))]
    to_x, to_w = sg.function([x, w, ct], list(gradients))(*values)
    np.testing.assert_allclose(
        to_x, by_loops(case, None, values[1].conj(), values[2]), rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(
        to_w, by_loops(case, values[0].conj(), None, values[2]), rtol=1e-12, atol=1e-12
    )


# --- derivatives ----------------------------------------------------------------------------------

HARD = Case((2, 4, 6, 5), (6, 2, 2, 3), (2, 1), ((0, 1), (2, 0)), (2, 1), 2)
UNREAD = Case((2, 2, 8), (3, 2, 2), (3,), ((1, 0),), (1,), 1)
SOLID = Case((1, 2, 3, 4, 3), (2, 1, 2, 1, 2), (1, 2, 1), ((0, 0),) * 3, (1, 1, 2), 2)


@pytest.mark.parametrize("case", [HARD, UNREAD, SOLID], ids=["groups", "unread_end", "three_axes"])
def test_derivatives_of_each(case: Case) -> None:
    x, w, y = sample(case.x, 1), sample(case.w, 2), sample(case.y, 3)
    assert_derivatives(lambda x, w: sg.conv(x, w, **case.attrs), x, w)
    assert_derivatives(lambda y, w: sg.conv_transpose(y, w, **exact_transpose(case)), y, w)
    assert_derivatives(
        lambda x, y: conv_kernel_gradient(x, y, kernel=case.w[2:], **case.attrs), x, y
    )


def test_derivatives_of_complex_convolutions() -> None:
    x, w = sample((1, 2, 5), 1, np.complex128), sample((2, 2, 2), 2, np.complex128)
    assert_derivatives(lambda x, w: sg.conv(x, w, stride=2, padding=1), x, w)
    assert_derivatives(lambda x, w: sg.conv_transpose(x, w, stride=2), x, w)


def test_a_real_kernel_on_complex_images_gets_a_real_gradient() -> None:
    x, w = sample((1, 1, 4), 1, np.complex128), sample((1, 1, 2), 2)
    assert_derivatives(sg.conv, x, w)


@pytest.mark.parametrize(("dilation", "output_padding"), [(1, 1), (3, 2)])
def test_output_padding_is_differentiated(dilation: int, output_padding: int) -> None:
    x, w = sample((1, 2, 4), 1), sample((2, 1, 2), 2)
    assert_derivatives(
        lambda x, w: sg.conv_transpose(
            x, w, stride=2, padding=1, output_padding=output_padding, dilation=dilation
        ),
        x,
        w,
    )


def test_derivatives_of_every_order_stay_in_the_family() -> None:
    x, w = sg.placeholder("x", (2, 2, 5)), sg.placeholder("w", (3, 2, 2))
    y = sg.sum(sg.conv(x, w, stride=2) ** 3)
    for _ in range(3):
        dx, dw = sg.grad(y, [x, w])
        y = sg.sum(dx) + sg.sum(dw)
    with_kernels = {s.op.name for s in reachable([y]) if s.op.name.startswith("conv")}
    assert with_kernels <= FAMILY


# --- sizes ----------------------------------------------------------------------------------------


def test_named_dimensions_give_the_values_of_concrete_ones() -> None:
    attrs: dict[str, Any] = {"stride": 2, "padding": 1, "dilation": (1, 2), "groups": 2}
    x, w = sg.placeholder("x", ("n", 4, "h", "v")), sg.placeholder("w", (2, 2, 3, 2))
    y = sg.conv(x, w, **attrs)
    dx, dw = sg.grad(sg.sum(sg.sin(y)), [x, w])
    (ddx,) = sg.grad(sg.sum(dx * dx), x)
    assert str(y.type) == "f64[n, 2, (h + 1)//2, (v + 1)//2]"
    assert (dx.shape, dw.shape, ddx.shape) == (x.shape, w.shape, x.shape)
    run = sg.function([x, w], [y, dx, dw, ddx])
    for n, h, v in [(2, 5, 6), (1, 4, 3), (3, 7, 7)]:
        a, b = sample((n, 4, h, v), n), sample(w.shape, 9)
        x0 = sg.placeholder("x", a.shape)
        y0 = sg.conv(x0, w, **attrs)
        dx0, dw0 = sg.grad(sg.sum(sg.sin(y0)), [x0, w])
        (ddx0,) = sg.grad(sg.sum(dx0 * dx0), x0)
        wanted = sg.function([x0, w], [y0, dx0, dw0, ddx0])(a, b)
        for have, want in zip(run(a, b), wanted, strict=True):
            assert np.array_equal(have, want)


def test_a_named_channel_is_the_number_of_channels_of_the_kernel() -> None:
    x, w = sg.placeholder("x", (1, "c", 5)), sg.placeholder("w", ("o", 2, 2))
    y = sg.conv(x, w)
    assert [str(c.left) + "=" + str(c.right) for c in y.constraints] == ["c=2"]
    assert str(y.type) == "f64[1, o, 4]"


def test_a_named_size_too_small_for_the_kernel_fails_when_it_runs() -> None:
    x = sg.placeholder("x", (1, 1, "n"))
    run = sg.function(x, sg.conv(x, np.ones((1, 1, 4))))
    assert run(np.ones((1, 1, 4))).shape == (1, 1, 1)
    with pytest.raises(ValueError, match="larger than the padded input"):
        run(np.ones((1, 1, 3)))


def test_transposing_restores_every_size() -> None:
    size = sg.placeholder("x", (1, 1, "n")).shape[2]
    x, w = sg.placeholder("x", (1, 1, size)), sg.placeholder("w", (1, 1, 3))
    for stride, padding, dilation in itertools.product((1, 2, 3), (0, 1), (1, 2)):
        y = sg.conv(x, w, stride=stride, padding=padding, dilation=dilation)
        (dx,) = sg.vjp(y, x, sg.ones_like(y))
        assert dx.shape == x.shape
        (back,) = sg.vjp(dx, w, sg.ones_like(dx))
        assert back.shape == w.shape


# --- attributes -----------------------------------------------------------------------------------


def test_same_padding_puts_the_odd_cell_after() -> None:
    x = np.arange(1.0, 6.0).reshape(1, 1, 5)
    y = sg.conv(x, np.ones((1, 1, 2)), padding="same").numpy()
    assert y.tolist() == [[[3.0, 5.0, 7.0, 9.0, 5.0]]]
    y = sg.conv(x, np.ones((1, 1, 3)), padding="same", dilation=2)
    assert y.shape == x.shape
    assert sg.conv(x, np.ones((1, 1, 2)), padding="valid").shape == (1, 1, 4)


def test_equal_attributes_in_other_forms_are_the_same_symbol() -> None:
    x, w = sg.placeholder("x", (1, 2, 5, 5)), sg.placeholder("w", (2, 2, 3, 3))
    y = sg.conv(x, w, stride=2, padding=1)
    assert y is sg.conv(x, w, stride=[2, 2], padding=((1, 1), (1, 1)), dilation=(1, 1))
    assert sg.conv(x, w, padding="same") is sg.conv(x, w, padding=1)
    z = sg.conv_transpose(x, w, stride=2, padding=1, output_padding=1)
    assert z is sg.conv_transpose(x, w, stride=2, padding=((1, 0), (1, 0)))


def test_a_kernel_of_one_cell_mixes_channels() -> None:
    x, w = sample((2, 3, 4, 4)), sample((5, 3, 1, 1), 1)
    want = np.einsum("oc,nchw->nohw", w[:, :, 0, 0], x)
    np.testing.assert_allclose(sg.conv(x, w).numpy(), want, rtol=1e-12)


def test_the_operands_are_neither_changed_nor_shown() -> None:
    x, w = sample((2, 1, 3, 3)), np.ones((1, 1, 1, 1))
    kept = x.copy(), w.copy()
    for y in (sg.conv(x, w), sg.conv_transpose(x, w)):
        assert not np.shares_memory(y.numpy(), x)
        assert np.array_equal(y.numpy(), x)
    assert np.array_equal(x, kept[0])
    assert np.array_equal(w, kept[1])


def test_any_layout_in_memory_will_do() -> None:
    x, w = sample((2, 3, 6, 5)), sample((4, 3, 2, 3), 1)
    want = sg.conv(x, w, padding=1).numpy()
    for layout in (np.asfortranarray, lambda a: a[:, :, ::-1, ::-1].copy()[:, :, ::-1, ::-1]):
        have = sg.conv(layout(x), layout(w), padding=1).numpy()
        np.testing.assert_allclose(have, want, rtol=1e-12, atol=1e-12)


def test_an_empty_batch() -> None:
    x, w = sg.placeholder("x", (0, 2, 4)), sg.placeholder("w", (3, 2, 2))
    y = sg.conv(x, w)
    gradients = sg.grad(sg.sum(y), [x, w])
    values = sg.function([x, w], [y, *gradients])(np.ones((0, 2, 4)), np.ones((3, 2, 2)))
    assert [v.shape for v in values] == [(0, 3, 3), (0, 2, 4), (3, 2, 2)]
    assert not values[2].any()


# --- element types --------------------------------------------------------------------------------

TYPES = ["int8", "uint16", "int64", "float16", "float32", "float64", "complex64", "complex128"]


@pytest.mark.parametrize("first", TYPES)
@pytest.mark.parametrize("second", TYPES)
def test_the_result_has_the_promoted_type(first: str, second: str) -> None:
    x, w = np.ones((1, 1, 4), first), np.ones((1, 1, 2), second)
    dtype = np.result_type(first, second)
    results = [
        sg.conv(x, w),
        sg.conv_transpose(x, w),
        conv_kernel_gradient(x, np.ones((1, 1, 3), second), kernel=(2,)),
    ]
    for result, value in zip(results, (2, None, 3), strict=True):
        assert result.dtype == dtype
        assert value is None or np.all(result.numpy() == value)


def test_half_precision_sums_in_single() -> None:
    # In half precision 2048 + 1 is 2048, so a sum of 3000 ones would stop there.
    y = sg.conv(np.ones((1, 1, 3000), np.float16), np.ones((1, 1, 3000), np.float16))
    assert y.numpy().tolist() == [[[3000.0]]]
    assert y.dtype == np.float16


def test_gradients_have_the_types_of_their_operands() -> None:
    x = sg.placeholder("x", (1, 1, 4), sg.float32)
    w = sg.placeholder("w", (1, 1, 2), sg.float64)
    dx, dw = sg.grad(sg.sum(sg.conv(x, w)), [x, w])
    assert (dx.dtype, dw.dtype) == (np.float32, np.float64)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [4, 16])
def test_few_and_many_places_agree(dtype: str, size: int) -> None:
    """A batch of small images is one product, one of large images a product each."""
    x, w = sample((3, 4, size, size), 1, dtype), sample((6, 2, 3, 3), 2, dtype)
    together = sg.conv(x, w, groups=2, padding=1).numpy()
    back = sg.conv_transpose(together, w, groups=2, padding=1).numpy()
    for n in range(3):
        alone = sg.conv(x[n : n + 1], w, groups=2, padding=1).numpy()
        np.testing.assert_allclose(together[n : n + 1], alone, rtol=1e-5, atol=1e-5)
        alone = sg.conv_transpose(alone, w, groups=2, padding=1).numpy()
        np.testing.assert_allclose(back[n : n + 1], alone, rtol=1e-5, atol=1e-4)


# --- errors ---------------------------------------------------------------------------------------


def ones(*shape: int) -> NDArray[Any]:
    return np.ones(shape)


CONV_ERRORS: list[tuple[NDArray[Any], NDArray[Any], dict[str, Any], str]] = [
    (
        ones(3, 4),
        ones(1, 1, 2),
        {},
        "conv: x needs a batch, a channel and one or more spatial axes: "
        "expected 3 or more axes, got f64[3, 4]",
    ),
    (
        ones(1, 1, 4),
        ones(1, 1, 2, 2),
        {},
        "conv: w needs as many axes as x: expected 3 axes, got f64[1, 1, 2, 2]",
    ),
    (
        ones(1, 1, 4),
        ones(1, 1, 0),
        {},
        "conv: w has an empty spatial axis: expected at least 1, got f64[1, 1, 0]",
    ),
    (
        ones(1, 3, 4),
        ones(1, 2, 2),
        {},
        "conv: channels of x do not fit: expected w.shape[1] * groups = 2, got 3",
    ),
    (
        ones(1, 3, 4),
        ones(2, 1, 2),
        {"groups": 2},
        "conv: groups does not divide the channels of x: expected a multiple of groups = 2, got 3",
    ),
    (
        ones(1, 4, 4),
        ones(3, 2, 2),
        {"groups": 2},
        "conv: groups does not divide the channels of the result, w.shape[0]: "
        "expected a multiple of groups = 2, got 3",
    ),
    (
        ones(1, 1, 8, 2),
        ones(1, 1, 3, 5),
        {"padding": 1},
        "conv: the kernel is larger than the padded input on spatial axis 1: "
        "expected at most 2 + 1 + 1 = 4, got 5",
    ),
    (
        ones(1, 1, 4),
        ones(1, 1, 3),
        {"dilation": 2},
        "conv: the kernel is larger than the padded input on spatial axis 0: "
        "expected at most 4 + 0 + 0 = 4, got 3 (with dilation 2: 5)",
    ),
    (
        ones(1, 1, 4),
        ones(1, 1, 2),
        {"padding": -1},
        "conv: padding is negative: expected 0 or more, got -1; "
        "hint: only a pair (before, after) may be negative: it crops",
    ),
    (
        ones(1, 1, 4),
        ones(1, 1, 2),
        {"padding": 0.5},
        "conv: padding of an axis must be an int or a pair (before, after): got 0.5",
    ),
    (
        ones(1, 1, 4),
        ones(1, 1, 2),
        {"padding": (1, 1)},
        "conv: padding must be an int, or one entry per spatial axis: "
        "expected 1 entries, got (1, 1)",
    ),
    (
        ones(1, 1, 4),
        ones(1, 1, 2),
        {"stride": 0},
        "conv: stride is out of range: expected at least 1, got 0",
    ),
    (
        ones(1, 1, 4),
        ones(1, 1, 2),
        {"stride": (1, 2)},
        "conv: stride must be an int, or one int per spatial axis: expected 1 ints, got (1, 2)",
    ),
    (
        ones(1, 1, 4),
        ones(1, 1, 2),
        {"dilation": 1.0},
        "conv: dilation must be an int, or one int per spatial axis: expected 1 ints, got 1.0",
    ),
    (ones(1, 1, 4), ones(1, 1, 2), {"groups": 0}, "conv: groups must be at least 1: got 0"),
]


@pytest.mark.parametrize(("x", "w", "attrs", "message"), CONV_ERRORS)
def test_errors_of_conv(
    x: NDArray[Any], w: NDArray[Any], attrs: dict[str, Any], message: str
) -> None:
    with pytest.raises(ShapeError) as eager:
        sg.conv(x, w, **attrs)
    assert str(eager.value).split("; created at")[0] == message
    with pytest.raises(ShapeError) as static:
        sg.conv(sg.constant(x), w, **attrs)
    assert str(static.value).split("; created at")[0] == message


TRANSPOSE_ERRORS: list[tuple[NDArray[Any], NDArray[Any], dict[str, Any], str]] = [
    (
        ones(1, 3, 4),
        ones(2, 1, 2),
        {},
        "conv_transpose: channels of x do not fit: expected w.shape[0] = 2, got 3",
    ),
    (
        ones(1, 3, 4),
        ones(3, 1, 2),
        {"groups": 2},
        "conv_transpose: groups does not divide the channels of x: "
        "expected a multiple of groups = 2, got 3",
    ),
    (
        ones(1, 1, 4),
        ones(1, 1, 2),
        {"padding": 3},
        "conv_transpose: padding takes away more than there is on spatial axis 0: "
        "expected at most 5 together, got 3 and 3",
    ),
    (
        ones(1, 1, 4),
        ones(1, 1, 2),
        {"stride": 2, "output_padding": 2},
        "conv_transpose: output_padding is out of range: "
        "expected less than the stride or dilation, 2, got (2,)",
    ),
    (
        ones(1, 1, 0),
        ones(1, 1, 2),
        {},
        "conv_transpose: x has an empty spatial axis: expected at least 1, got f64[1, 1, 0]",
    ),
]


@pytest.mark.parametrize(("x", "w", "attrs", "message"), TRANSPOSE_ERRORS)
def test_errors_of_conv_transpose(
    x: NDArray[Any], w: NDArray[Any], attrs: dict[str, Any], message: str
) -> None:
    with pytest.raises(ShapeError) as error:
        sg.conv_transpose(x, w, **attrs)
    assert str(error.value).split("; created at")[0] == message


def test_unknown_padding_and_same_with_a_stride() -> None:
    x, w = ones(1, 1, 4), ones(1, 1, 2)
    with pytest.raises(
        ArgumentError, match=r"conv: unknown padding: .*'same', 'valid'.*got 'full'"
    ):
        sg.conv(x, w, padding="full")
    with pytest.raises(ArgumentError, match=r"padding='same' needs stride 1: got stride \(2,\)"):
        sg.conv(x, w, padding="same", stride=2)


def test_booleans_are_no_numbers() -> None:
    with pytest.raises(DTypeError, match="conv: element type of w: expected numeric, got bool"):
        sg.conv(ones(1, 1, 4), np.ones((1, 1, 2), bool))


# --- names ----------------------------------------------------------------------------------------


def test_conv2d_adds_a_number_per_kernel() -> None:
    x, w, b = sample((2, 3, 5, 4), 1), sample((4, 3, 2, 2), 2), sample((4,), 3)
    y = sg.conv2d(x, w, b, 2, 1).numpy()
    want = sg.conv(x, w, stride=2, padding=1).numpy() + b[:, None, None]
    assert np.array_equal(y, want)
    assert np.array_equal(sg.conv2d(x, w, padding=1).numpy(), sg.conv(x, w, padding=1).numpy())
    assert_derivatives(lambda x, w, b: sg.conv2d(x, w, b, padding=1), x, w, b)


def test_conv_transpose2d_adds_a_number_per_channel() -> None:
    x, w, b = sample((2, 4, 3, 3), 1), sample((4, 2, 2, 3), 2), sample((4,), 3)
    y = sg.conv_transpose2d(x, w, b, 2, 1, 1, 2).numpy()
    attrs: dict[str, Any] = {"stride": 2, "padding": 1, "output_padding": 1, "groups": 2}
    want = sg.conv_transpose(x, w, **attrs).numpy() + b[:, None, None]
    assert np.array_equal(y, want)
    assert_derivatives(lambda x, w, b: sg.conv_transpose2d(x, w, b, groups=2), x, w, b)


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("name", ["conv", "conv_transpose"])
def test_the_batch_may_be_left_out(name: str, axes: int) -> None:
    x, w = sample((3, 2, *(4,) * axes), 1), sample((2, 2, *(2,) * axes), 2)
    named = getattr(sg, f"{name}{axes}d")
    want = getattr(sg, name)(x, w, padding=1).numpy()
    assert np.array_equal(named(x, w, padding=1).numpy(), want)
    np.testing.assert_allclose(named(x[1], w, padding=1).numpy(), want[1], rtol=1e-12, atol=1e-12)


def test_a_named_channel_takes_a_bias_of_as_many_numbers() -> None:
    x, w = sg.placeholder("x", (1, 2, 5)), sg.placeholder("w", ("o", 2, 2))
    b = sg.placeholder("b", ("p",))
    y = sg.conv1d(x, w, b)
    run = sg.function([x, w, b], y)
    assert run(np.ones((1, 2, 5)), np.ones((3, 2, 2)), np.ones(3)).shape == (1, 3, 4)
    with pytest.raises(ShapeError, match="numbers of elements"):
        run(np.ones((1, 2, 5)), np.ones((3, 2, 2)), np.ones(2))


def test_errors_of_names() -> None:
    with pytest.raises(ShapeError, match="conv2d: x needs a channel and 2 spatial axes"):
        sg.conv2d(ones(1, 4), ones(1, 1, 2))
    with pytest.raises(
        ShapeError, match=r"conv2d: channels of the result and numbers in bias differ.*2, got 3"
    ):
        sg.conv2d(ones(1, 1, 4, 4), ones(2, 1, 2, 2), ones(3))
    with pytest.raises(ShapeError, match=r"conv_transpose1d: axes of bias: expected 1 axis"):
        sg.conv_transpose1d(ones(1, 1, 4), ones(1, 1, 2), ones(1, 1))


def test_four_spatial_axes() -> None:
    x, w = sample((2, 2, 3, 3, 2, 3), 1), sample((3, 2, 2, 1, 2, 2), 2)
    case = Case(x.shape, w.shape, (1,) * 4, ((0, 0),) * 4, (1,) * 4, 1)
    np.testing.assert_allclose(sg.conv(x, w).numpy(), by_loops(case, x, w, None), rtol=1e-12)


# --- the same in every mode -----------------------------------------------------------------------


def test_generated_code_needs_numpy_alone() -> None:
    x, w = sg.placeholder("x", ("n", 2, 6)), sg.placeholder("w", (3, 2, 2))
    y = sg.conv(x, w, stride=2, padding=1)
    run = sg.function([x, w], [y, *sg.grad(sg.sum(y * y), [x, w])])
    scope: dict[str, Any] = {}
    exec(run.source, scope)
    values = sample((2, 2, 6), 1), sample((3, 2, 2), 2)
    for have, want in zip(scope["call"](*values), run(*values), strict=True):
        assert np.array_equal(have, want)


def test_eager_and_compiled_values_are_the_same_bits() -> None:
    a, b = sample((2, 2, 7), 1), sample((3, 2, 2), 2)
    x, w = sg.placeholder("x", a.shape), sg.placeholder("w", b.shape)
    compiled = sg.function([x, w], sg.conv(x, w, padding=1))(a, b)
    assert np.array_equal(compiled, sg.conv(a, b, padding=1).numpy())


def test_a_convolution_of_ones_counts_cells() -> None:
    """One value that needs no reference: the number of cells under the kernel."""
    y = sg.conv(ones(1, 2, 4, 4), ones(3, 2, 2, 2)).numpy()
    assert np.all(y == 2 * math.prod((2, 2)))
