"""Windows side by side and put together; channels and space exchanged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, ShapeError
from tests.ops.front_ends import check_everywhere
from tests.ops.linear_maps import check_linear

RNG = np.random.default_rng(6)
ATTRS: list[dict[str, Any]] = [
    {"kernel": 2},
    {"kernel": (2, 3), "stride": (2, 1), "padding": 1},
    {"kernel": 2, "padding": ((0, 1), (2, 0)), "dilation": (1, 2)},
    {"kernel": (3, 1), "stride": 4},
]


@pytest.mark.parametrize("attrs", ATTRS, ids=str)
def test_convolution_is_a_product_with_the_columns(attrs: dict[str, Any]) -> None:
    x = RNG.normal(size=(2, 3, 5, 4))
    kernel = attrs["kernel"] if isinstance(attrs["kernel"], tuple) else (attrs["kernel"],) * 2
    w = RNG.normal(size=(4, 3, *kernel))
    more = {name: value for name, value in attrs.items() if name != "kernel"}
    want = sg.conv(x, w, **more).numpy()
    found = w.reshape(4, -1) @ sg.unfold(x, **attrs).numpy()
    np.testing.assert_allclose(found, want.reshape(found.shape), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("attrs", ATTRS, ids=str)
def test_unfold_and_fold_are_transposes(attrs: dict[str, Any]) -> None:
    x = RNG.normal(size=(2, 3, 5, 4))
    columns = sg.unfold(x, **attrs)
    y = RNG.normal(size=columns.shape)
    images = sg.fold(y, x.shape[2:], **attrs)
    assert images.shape == x.shape
    assert np.sum(columns.numpy() * y) == pytest.approx(np.sum(images.numpy() * x))
    check_linear(lambda x: sg.unfold(x, **attrs), x)
    check_linear(lambda y: sg.fold(y, x.shape[2:], **attrs), y, named=False)


def test_folding_counts_how_often_a_cell_was_seen() -> None:
    seen = sg.fold(sg.unfold(np.ones((1, 1, 5), np.int8), 3), (5,), 3)
    assert seen.dtype == np.int8
    assert seen.numpy().tolist() == [[[1, 2, 3, 2, 1]]]


def test_half_precision_is_folded_in_single() -> None:
    # In half precision 2048 + 1 is 2048.
    columns = np.ones((1, 3000, 1), np.float16)
    assert sg.fold(columns, (1,), 1).numpy().shape == (1, 3000, 1)
    y = sg.fold(np.ones((1, 3000, 3000), np.float16), (5999,), 3000)
    assert y.numpy()[0, 0, 2999] == 3000


def test_named_sizes() -> None:
    x = sg.placeholder("x", ("n", "c", "h", "w"))
    columns = sg.unfold(x, 2, padding=1)
    assert str(columns.type) == "f64[n, 4*c, h*w + h + w + 1]"
    back = sg.fold(columns, x.shape[2:], 2, padding=1)
    assert back.shape == x.shape
    (dx,) = sg.grad(sg.sum(back * back), x)
    a = RNG.normal(size=(1, 2, 3, 4))
    # Every cell is in four windows, the padding included.
    np.testing.assert_allclose(sg.evaluate(dx, {x: a}), 32 * a)


def test_shapes_without_elements() -> None:
    x = np.ones((0, 2, 4))
    check_everywhere(lambda x: sg.unfold(x, 2), np.ones((0, 4, 3)), x, named=False)
    check_everywhere(lambda y: sg.fold(y, (4,), 2), x, np.ones((0, 4, 3)), named=False)


@pytest.mark.parametrize(
    ("shape", "window", "axis"),
    [
        ((5,), 2, None),
        ((5,), 5, 0),
        ((4, 5), (2, 3), None),
        ((4, 5), 3, -1),
        ((4, 5, 3), [2, 2], (2, 0)),
        ((4, 5, 3), (), ()),
    ],
)
def test_sliding_window_view(shape: tuple[int, ...], window: Any, axis: Any) -> None:
    x = RNG.integers(-9, 9, size=shape)
    want = np.lib.stride_tricks.sliding_window_view(x, window, axis)
    check_everywhere(lambda x: sg.sliding_window_view(x, window, axis), want, x)
    if window:
        check_linear(lambda x: sg.sliding_window_view(x, window, axis), x.astype(float))


def test_shuffles_undo_each_other() -> None:
    x = RNG.normal(size=(2, 12, 3, 5))
    up = sg.pixel_shuffle(x, 2)
    assert up.shape == (2, 3, 6, 10)
    assert np.array_equal(sg.pixel_unshuffle(up, 2).numpy(), x)
    assert np.array_equal(sg.channel_shuffle(sg.channel_shuffle(x, 3), 4).numpy(), x)
    named = sg.placeholder("x", ("n", 12, "h", "w"))
    assert str(sg.pixel_shuffle(named, 2).type) == "f64[n, 3, 2*h, 2*w]"


def test_an_odd_named_size_cannot_be_unshuffled() -> None:
    x = sg.placeholder("x", (1, 1, "h", 2))
    run = sg.function(x, sg.pixel_unshuffle(x, 2))
    assert run(np.ones((1, 1, 4, 2))).shape == (1, 4, 2, 1)
    with pytest.raises(ShapeError, match="numbers of elements"):
        run(np.ones((1, 1, 3, 2)))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: sg.unfold(np.ones((1, 1, 2)), 3),
            ShapeError,
            "unfold: the kernel is larger than the padded input on spatial axis 0: "
            "expected at most 2 + 0 + 0 = 2, got 3",
        ),
        (
            lambda: sg.fold(np.ones((1, 1, 4, 4)), (4, 4), 2),
            ShapeError,
            "fold: x needs batch, cells and places: expected 3 axes, got f64[1, 1, 4, 4]",
        ),
        (
            lambda: sg.fold(np.ones((1, 4, 9)), 4, 2),
            ShapeError,
            "fold: output_size: expected one size per spatial axis, got 4",
        ),
        (
            lambda: sg.fold(np.ones((1, 3, 9)), (4, 4), 2),
            ShapeError,
            "fold: rows of x: expected a multiple of the kernel's 4 cells, got 3",
        ),
        (
            lambda: sg.fold(np.ones((1, 4, 8)), (4, 4), 2),
            ShapeError,
            "fold: columns of x and numbers of windows differ: expected 8, got 9",
        ),
        (
            lambda: sg.sliding_window_view(np.ones(3), 4),
            ShapeError,
            "sliding_window_view: the window is larger than axis 0: expected at most 3, got 4",
        ),
        (
            lambda: sg.sliding_window_view(np.ones((3, 3)), (2,)),
            ShapeError,
            "sliding_window_view: window_shape must be an int, or one int per spatial axis: "
            "expected 2 ints, got (2,)",
        ),
        (
            lambda: sg.pixel_shuffle(np.ones((3, 1, 1)), 2),
            ShapeError,
            "pixel_shuffle: channels: expected a multiple of 4, got 3",
        ),
        (
            lambda: sg.pixel_unshuffle(np.ones((1, 2, 3)), 2),
            ShapeError,
            "pixel_unshuffle: a spatial size: expected a multiple of 2, got 3",
        ),
        (
            lambda: sg.pixel_shuffle(np.ones((1, 1)), 1),
            ShapeError,
            "pixel_shuffle: number of axes: expected at least 3, got f64[1, 1]",
        ),
        (
            lambda: sg.channel_shuffle(np.ones((1, 4)), 0),
            ArgumentError,
            "channel_shuffle: groups: expected a whole number above 0, got 0",
        ),
    ],
)
def test_errors(call: Callable[[], Any], error: Any, message: str) -> None:
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value).split("; created at")[0] == message
