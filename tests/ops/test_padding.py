"""Frames: numpy is the oracle for values, inner products for transposes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, DTypeError, ShapeError, TraceError
from tests.ops.finite_differences import check_derivatives
from tests.ops.front_ends import check_everywhere
from tests.ops.linear_maps import check_linear

RNG = np.random.default_rng(4)
COPIES: list[Any] = ["edge", "reflect", "symmetric", "wrap"]


def sample(*shape: int, dtype: Any = "float64") -> np.ndarray:
    return (10 * RNG.normal(size=shape)).astype(dtype)


WIDTHS = [
    ((3,), 2),
    ((3,), (1, 2)),
    ((3,), ((0, 2),)),
    ((3,), ((0, 0),)),
    ((2, 3), ((1, 0), (2, 3))),
    ((2, 3), (1,)),
    ((2, 3), ((1, 2),)),
    ((2, 3), ((1,), (2,))),
    ((2, 3), np.array([[1, 0], [0, 1]])),
    ((1, 2), 3),
    ((4,), (11, 13)),
]


@pytest.mark.parametrize(("shape", "widths"), WIDTHS, ids=str)
@pytest.mark.parametrize("mode", ["constant", *COPIES])
def test_pad(shape: tuple[int, ...], widths: Any, mode: Any) -> None:
    x = sample(*shape)
    check_everywhere(lambda x: sg.pad(x, widths, mode), np.pad(x, widths, mode), x)
    check_linear(lambda x: sg.pad(x, widths, mode=mode), x)


@pytest.mark.parametrize("mode", COPIES)
@pytest.mark.parametrize("size", [1, 2, 3])
def test_frames_wider_than_the_axis(mode: Any, size: int) -> None:
    x = np.arange(size)
    fn = None
    for before in range(8):
        for after in (0, 1, 7):
            expected = np.pad(x, (before, after), mode)
            np.testing.assert_array_equal(sg.pad(x, (before, after), mode), expected)
            # A graph with a named size does as well for every size.
            named = sg.placeholder("x", ("n",), "int64")
            fn = sg.function([named], sg.pad(named, (before, after), mode))
            np.testing.assert_array_equal(fn(x), expected)


@pytest.mark.parametrize("mode", ["constant", *COPIES])
@pytest.mark.parametrize("before", [-4, -3, -1, 0, 2])
@pytest.mark.parametrize("after", [-2, -1, 0, 3])
def test_negative_widths_cut_off(mode: Any, before: int, after: int) -> None:
    x = sample(2, 7)
    # The frame is made around the whole, then what is too much is taken away.
    framed = np.pad(x, ((0, 0), (max(before, 0), max(after, 0))), mode)
    expected = framed[:, max(-before, 0) : framed.shape[1] + min(after, 0)]
    widths = ((0, 0), (before, after))
    check_everywhere(lambda x: sg.pad(x, widths, mode), expected, x)
    check_linear(lambda x: sg.pad(x, widths, mode=mode), x)
    named = sg.placeholder("x", (2, "n"))
    found = sg.evaluate(sg.pad(named, widths, mode), {named: x})
    np.testing.assert_array_equal(found, expected)


def test_negative_widths_beside_values_of_two_kinds() -> None:
    found = sg.pad(sg.asarray([1.0, 2.0, 3.0]), (-1, 2), constant_values=(8.0, 9.0))
    np.testing.assert_array_equal(found, [2, 3, 9, 9])


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "float16", "float32", "complex64"])
@pytest.mark.parametrize("mode", ["constant", *COPIES])
def test_types_stay(dtype: str, mode: Any) -> None:
    x = sample(2, 3, dtype=dtype)[:, ::-1]
    check_everywhere(lambda x: sg.pad(x, 2, mode), np.pad(x, 2, mode), x)


def test_shapes_without_elements_or_axes() -> None:
    x = sample(0, 2)
    check_everywhere(lambda x: sg.pad(x, 1), np.pad(x, 1), x)
    check_linear(lambda x: sg.pad(x, 1), x)
    check_everywhere(lambda x: sg.pad(x, ((0, 0), (1, 1)), "edge"), np.ones((0, 4)), x)
    check_everywhere(lambda x: sg.pad(x, 3), np.float64(2.0), 2.0)


# --- the value of a frame -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("float32", 2.5),
        ("float32", 7),
        ("float64", np.inf),
        ("float64", np.float32(0.5)),
        ("complex64", 1 + 2j),
        ("int8", 3),
        ("int8", 3.9),  # numpy cuts a float off
        ("int8", -3.9),
        ("bool", True),
        ("bool", 1),
        ("uint8", np.array(200)),
    ],
)
def test_values(dtype: str, value: Any) -> None:
    x = sample(2, 3, dtype=dtype)
    expected = np.pad(x, 1, constant_values=value)
    check_everywhere(lambda x: sg.pad(x, 1, constant_values=value), expected, x)


@pytest.mark.parametrize("values", [(1, 2), ((1, 2), (3, 4)), ((1,), (2,)), ((5, 5), (5, 5))])
def test_values_per_side(values: Any) -> None:
    x = sample(2, 3)
    widths = ((1, 2), (2, 1))
    expected = np.pad(x, widths, constant_values=values)
    check_everywhere(lambda x: sg.pad(x, widths, constant_values=values), expected, x)
    check_linear(lambda x: sg.pad(x, widths, constant_values=values), x)


def test_equal_frames_are_one_symbol() -> None:
    x = sg.placeholder("x", (2, 3))
    framed = sg.pad(x, 1)
    assert framed is sg.pad(x, ((1, 1), (1, 1)), constant_values=0.0)
    assert framed is sg.pad(x, 1, constant_values=((0, 0), (False, 0.0)))
    assert framed is not sg.pad(x, 1, constant_values=-0.0)


def test_a_symbol_as_value_is_differentiated() -> None:
    x = sample(2, 3)
    check_derivatives(lambda x, s: sg.pad(x, 1, constant_values=s) ** 2, x, np.float64(1.5))
    s = sg.placeholder("s")
    y = sg.pad(np.arange(3), 1, constant_values=s)
    assert y.dtype == sg.int64
    np.testing.assert_array_equal(y.eval({s: 7.9}), [7, 0, 1, 2, 7])


def test_frames_of_named_widths() -> None:
    x = sg.placeholder("x", ("n",))
    n = x.shape[0]
    values = sample(3)
    y = sg.pad(x, ((n, 1),))
    assert y.shape == (2 * n + 1,)
    np.testing.assert_array_equal(y.eval({x: values}), np.pad(values, (3, 1)))
    (g,) = sg.grad(sg.sum(y**2), x)
    np.testing.assert_allclose(g.eval({x: values}), 2 * values)
    for mode in COPIES:
        z = sg.pad(x, ((n, 2),), mode)
        np.testing.assert_array_equal(z.eval({x: values}), np.pad(values, (3, 2), mode))


def test_second_derivatives() -> None:
    for mode in ["constant", *COPIES]:
        check_derivatives(lambda x, mode=mode: sg.pad(x, 2, mode=mode) ** 3, sample(3) / 10)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda x: sg.pad(x, 1, "mean"),
            ArgumentError,
            "pad: unknown mode: expected constant, edge, reflect, symmetric, wrap, got 'mean'",
        ),
        (
            lambda x: sg.pad(x, ((0, 0), (-2, -2))),
            ShapeError,
            r"pad: more is cut off axis 1 than it has: expected at most 3, got \[2, 2\]",
        ),
        (
            lambda x: sg.pad(x, 1.5),
            DTypeError,
            "pad: a width is no number: expected an int, got 1.5",
        ),
        (
            lambda x: sg.pad(x, ((1, 2),) * 3),
            ShapeError,
            "pad: pad_width does not fit: expected 2 p",
        ),
        (
            lambda x: sg.pad(x, (1, 2, 3)),
            ShapeError,
            "pad: pad_width does not fit: expected 2 pair",
        ),
        (
            lambda x: sg.pad(x, sg.placeholder("k", (), int)),
            TraceError,
            "pad: a width is a symbol, so the size of the result is unknown: .* named dimension",
        ),
        (
            lambda x: sg.pad(x, 1, constant_values="a"),
            DTypeError,
            "pad: the value of the frame: exp",
        ),
        (
            lambda x: sg.pad(x, 1, constant_values=1j),
            DTypeError,
            "pad: the value of the frame: expe",
        ),
        (
            lambda x: sg.pad(sg.astype(x, "uint8"), 1, constant_values=300),
            DTypeError,
            "pad: 300 does not fit uint8: expected an integer from 0 to 255",
        ),
        (
            lambda x: sg.pad(sg.astype(x, "int8"), 1, constant_values=float("nan")),
            DTypeError,
            "pad: the value of the frame: expected int8, got nan",
        ),
        (
            lambda x: sg.pad(x[:, :0], 1, "edge"),
            ShapeError,
            "pad: axis 1 is empty: expected someth",
        ),
    ],
)
def test_refusals(call: Any, error: type[Exception], message: str) -> None:
    for x in (sg.zeros((4, 3)), sg.placeholder("x", ("n", 3))):
        with pytest.raises(error, match=message) as caught:
            call(x)
        assert "test_padding.py" in str(caught.value)
