"""Join, take apart, repeat: numpy is the oracle for values, inner products for transposes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, DTypeError, ShapeError, TraceError
from symgrad.types import take_constraints
from tests.ops.finite_differences import check_derivatives
from tests.ops.front_ends import check_everywhere
from tests.ops.linear_maps import check_linear

RNG = np.random.default_rng(3)
N, K = sg.Dim.named("n"), sg.placeholder("k", (), "int64")


def sample(*shape: int, dtype: Any = "float64") -> np.ndarray:
    return (10 * RNG.normal(size=shape)).astype(dtype)


# --- concat ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shapes", "axis"),
    [
        ([(2,), (3,)], 0),
        ([(2, 3), (4, 3), (1, 3)], 0),
        ([(2, 3), (2, 1)], 1),
        ([(2, 3), (2, 0)], -1),
        ([(2, 3), (4,), ()], None),
        ([(0,), (0,)], 0),
        ([(1, 1), (1, 1)], -2),
        ([(3,)], 0),
    ],
)
def test_concat(shapes: list[tuple[int, ...]], axis: int | None) -> None:
    arrays = [sample(*shape) for shape in shapes]
    expected = np.concatenate(arrays, axis)
    # Other axes have one name for all.
    named = axis is None or len(shapes[0]) == 1
    check_everywhere(lambda *a: sg.concat(a, axis=axis), expected, *arrays, named=named)
    check_linear(lambda *a: sg.concat(list(a), axis=axis), *arrays, named=named)


@pytest.mark.parametrize(
    "dtypes",
    [
        ("int8", "uint8"),
        ("int32", "float32"),
        ("bool", "int16"),
        ("float16", "complex64"),
        ("bool",),
    ],
)
def test_concat_promotes(dtypes: tuple[str, ...]) -> None:
    arrays = [sample(2, dtype=dtype) for dtype in dtypes]
    check_everywhere(lambda *a: sg.concat(a), np.concatenate(arrays), *arrays)


def test_concat_casts_cotangents_back() -> None:
    a, b = sample(2, dtype="float32"), sample(3)
    check_linear(lambda a, b: sg.concat([a, b]), a, b)


def test_concat_of_one_named_axis() -> None:
    x = sg.placeholder("x", ("n", 3))
    y = sg.placeholder("y", ("m", 3))
    joined = sg.concat([x, y, x])
    assert joined.shape == (2 * N + sg.Dim.named("m"), 3)
    gx, gy = sg.grad(sg.sum(joined**2), [x, y])
    values = {x: sample(2, 3), y: sample(4, 3)}
    np.testing.assert_allclose(sg.evaluate(gx, values), 4 * values[x], rtol=1e-15)
    np.testing.assert_allclose(sg.evaluate(gy, values), 2 * values[y], rtol=1e-15)
    side = sg.concat([x, y], axis=1)
    with pytest.raises(
        ShapeError, match=r"concat: sizes of axis 0 differ: expected n = 2.*, got m"
    ):
        sg.evaluate(side, values)


def test_concat_second_derivatives() -> None:
    check_derivatives(lambda a, b: sg.concat([a * b, a[1:] ** 2]), sample(3) / 10, sample(3) / 10)


def test_negative_strides() -> None:
    x = sample(4, 6)[::-1, ::-2]
    check_everywhere(lambda x: sg.concat([x, x], axis=1), np.hstack([x, x]), x)
    check_everywhere(lambda x: sg.tile(x, (2, 2)), np.tile(x, (2, 2)), x)
    check_everywhere(lambda x: sg.repeat(x, 2, axis=0), np.repeat(x, 2, 0), x)


# --- stack ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
@pytest.mark.parametrize("shape", [(3,), (1,), (0,)])
def test_stack(shape: tuple[int, ...], axis: int) -> None:
    a, b = sample(*shape), sample(*shape, dtype="float32")
    check_everywhere(
        lambda a, b: sg.stack([a, b], axis=axis), np.stack([a, b], axis), a, b, named=False
    )
    check_linear(lambda a, b: sg.stack([a, b], axis=axis), a, b, named=False)
    check_linear(lambda a: sg.stack([a, a * 2], axis=axis), a)


def test_numbers_stack_with_anything() -> None:
    s = sg.placeholder("s", (), "float32")
    y = sg.stack([s, 1, 2.5])
    assert y.dtype == sg.float32
    np.testing.assert_array_equal(y.eval({s: 3.0}), [3.0, 1.0, 2.5])
    assert sg.stack([np.float32(1), 2.0]).dtype == sg.float32
    assert sg.stack([1, 2.5]).dtype == sg.float64
    x = sg.placeholder("x", ("n",))
    n = x.shape[0]
    sizes = sg.stack([n, 2 * n, 7])
    assert sizes.dtype == sg.int64
    np.testing.assert_array_equal(
        sg.evaluate(sg.concat([sizes, x]), {x: np.zeros(2)})[:3], [2.0, 4.0, 7.0]
    )


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: sg.concat([]), ArgumentError, "concat: nothing to join: expected at least one"),
        (
            lambda x: sg.concat(3),
            ArgumentError,
            "concat: arrays is no sequence: expected arrays in",
        ),
        (lambda x: sg.concat([1.0, 2.0]), ShapeError, "concat: 0-d arrays .*hint: use sg.stack"),
        (
            lambda x: sg.concat([x, x[0]]),
            ShapeError,
            r"concat: arrays\[1\] has another rank: expected f64\[.*, 3\], got f64\[3\]",
        ),
        (
            lambda x: sg.concat([x, x[:, :2]]),
            ShapeError,
            "concat: sizes of axis 1 differ: expected 3, got 2",
        ),
        (lambda x: sg.concat([x], axis=2), ShapeError, "concat: axis out of range: expected -2 to"),
        (lambda x: sg.stack([]), ArgumentError, "stack: nothing to join"),
        (
            lambda x: sg.stack([x, x[:, :1]]),
            ShapeError,
            r"stack: arrays\[1\] has another shape: exp",
        ),
        (
            lambda x: sg.stack([x, 1.0]),
            ShapeError,
            r"stack: arrays\[1\] has another shape: expected",
        ),
        (lambda x: sg.stack([x], axis=3), ShapeError, "stack: axis out of range: expected -3 to 2"),
        (lambda x: sg.unstack(x, axis=2), ShapeError, "unstack: axis out of range"),
        (lambda x: sg.split(x, 0), ArgumentError, "split: no pieces: expected at least one, got 0"),
        (
            lambda x: sg.split(x, 2, axis=1),
            ShapeError,
            "split: no equal pieces: expected a divisor",
        ),
        (lambda x: sg.split(x, N), ArgumentError, "split: the number of pieces is unknown: got n"),
        (lambda x: sg.split(x, K), TraceError, "split: indices_or_sections is a symbol"),
        (
            lambda x: sg.tile(x, -1),
            ArgumentError,
            r"tile: repetitions\[0\] is negative: expected 0",
        ),
        (lambda x: sg.tile(x, 1.5), DTypeError, r"tile: repetitions\[0\] is no count: expected an"),
        (
            lambda x: sg.tile(x, (1, K)),
            TraceError,
            r"tile: repetitions\[1\] is a symbol, so the si",
        ),
        (lambda x: sg.tile(x, K), TraceError, "tile: repetitions is a symbol"),
        (
            lambda x: sg.repeat(x, K),
            TraceError,
            "repeat: repeats is a symbol, so the size of the result is unknown: expected numbers, "
            "or a dimension, .*hint: take a named dimension",
        ),
        (
            lambda x: sg.repeat(x, -1),
            ArgumentError,
            "repeat: repeats is negative: expected 0 or mo",
        ),
        (
            lambda x: sg.repeat(x, 1.5),
            DTypeError,
            "repeat: repeats are no counts: expected integers",
        ),
        (
            lambda x: sg.repeat(x, [1, 2], axis=1),
            ShapeError,
            r"repeat: one count per position: expected \(3,\), got \(2,\)",
        ),
        (
            lambda x: sg.repeat(x, [1, -2, 0], axis=1),
            ArgumentError,
            "repeat: a count is negative: expected 0 or more, got -2",
        ),
    ],
)
def test_refusals(call: Any, error: type[Exception], message: str) -> None:
    for x in (sg.zeros((4, 3)), sg.placeholder("x", ("n", 3))):
        with pytest.raises(error, match=message) as caught:
            call(x)
        assert "test_joining.py" in str(caught.value)
        assert take_constraints() == ()


def test_stack_demands_equal_names() -> None:
    x, y = sg.placeholder("x", ("n",)), sg.placeholder("y", ("m",))
    both = sg.stack([x, y])
    with pytest.raises(
        ShapeError, match=r"concat: sizes of axis 1 differ: expected n = 2.*, got m"
    ):
        sg.evaluate(both, {x: sample(2), y: sample(3)})


# --- unstack and split ----------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_unstack(axis: int) -> None:
    x = sample(2, 3)
    expected = list(np.moveaxis(x, axis, 0))
    assert len(sg.unstack(x, axis=axis)) == len(expected)
    for k, part in enumerate(expected):
        check_everywhere(lambda x, k=k: sg.unstack(x, axis=axis)[k], part, x, named=False)
        check_linear(lambda x, k=k: sg.unstack(x, axis=axis)[k], x, named=False)
    assert sg.unstack(np.ones((0, 2))) == ()
    first, _, third = sg.unstack(sg.placeholder("x", ("n", 3)), axis=1)
    assert first.shape == third.shape == (N,)


def test_unstack_of_unknown_size() -> None:
    with pytest.raises(
        ShapeError, match="unstack: the number of slices is unknown: expected an int"
    ):
        sg.unstack(sg.placeholder("x", ("n", 3)))


@pytest.mark.parametrize(
    ("cuts", "axis"),
    [
        (2, 0),
        (3, 1),
        (1, -1),
        (np.int64(2), 0),
        ([1, 3], 0),
        ((2,), -1),
        ([], 0),
        ([0, 0, 9], 1),
        ([-1], 1),
        (np.array([1, 2]), 1),
    ],
    ids=str,
)
def test_split(cuts: Any, axis: int) -> None:
    x = sample(4, 6)
    expected = np.split(x, cuts, axis)
    assert len(sg.split(x, cuts, axis=axis)) == len(expected)
    for k, part in enumerate(expected):
        check_everywhere(lambda x, k=k: sg.split(x, cuts, axis=axis)[k], part, x)
        check_linear(lambda x, k=k: sg.split(x, cuts, axis=axis)[k], x)


def test_split_of_a_named_size() -> None:
    x = sg.placeholder("x", ("n", 2))
    values = sample(6, 2)
    for _ in range(2):  # the second time all symbols are there already
        thirds = sg.split(x, 3)
        assert take_constraints() == ()
    for part, expected in zip(thirds, np.split(values, 3), strict=True):
        np.testing.assert_array_equal(part.eval({x: values}), expected)
    with pytest.raises(ShapeError, match="reshape: numbers of elements differ"):
        thirds[0].eval({x: sample(4, 2)})
    # Nobody else pays for what a split demands.
    np.testing.assert_array_equal((x * 7).eval({x: values[:4]}), values[:4] * 7)
    front, back = sg.split(x, [x.shape[0] // 2])
    np.testing.assert_array_equal(front.eval({x: values[:5]}), values[:2])
    np.testing.assert_array_equal(back.eval({x: values[:5]}), values[2:5])


# --- tile and repeat ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "counts"),
    [
        ((2,), 3),
        ((2,), (2, 2)),
        ((2, 3), (2,)),
        ((2, 3), (1, 1)),
        ((2, 3), [3, 1, 2]),
        ((), 4),
        ((), ()),
        ((2, 1), (1, 0)),
        ((0, 3), (2, 2)),
        ((2,), np.array([2])),
    ],
    ids=str,
)
def test_tile(shape: tuple[int, ...], counts: Any) -> None:
    x = sample(*shape)
    check_everywhere(lambda x: sg.tile(x, counts), np.tile(x, counts), x)
    check_linear(lambda x: sg.tile(x, counts), x)


@pytest.mark.parametrize(
    ("shape", "counts", "axis"),
    [
        ((3,), 2, None),
        ((2, 3), 2, None),
        ((2, 3), 2, 0),
        ((2, 3), 3, -1),
        ((2, 3), 0, 1),
        ((2, 1), 2, 1),
        ((0, 2), 2, 0),
        ((), 3, None),
        ((3,), np.int8(2), 0),
    ],
)
def test_repeat(shape: tuple[int, ...], counts: Any, axis: int | None) -> None:
    x = sample(*shape)
    check_everywhere(lambda x: sg.repeat(x, counts, axis=axis), np.repeat(x, counts, axis), x)
    check_linear(lambda x: sg.repeat(x, counts, axis=axis), x)


@pytest.mark.parametrize(
    ("shape", "counts", "axis"),
    [((3,), [2, 0, 1], None), ((2, 3), [1, 2], 0), ((2, 3), [3], 1), ((0,), [], 0)],
)
def test_repeat_each_by_its_count(shape: tuple[int, ...], counts: Any, axis: int | None) -> None:
    x = sample(*shape)
    expected = np.repeat(x, np.array(counts, int), axis)
    for given in (counts, np.array(counts, int), sg.asarray(np.array(counts, int))):
        check_everywhere(
            lambda x, given=given: sg.repeat(x, given, axis=axis), expected, x, named=False
        )
    check_linear(
        lambda x: sg.repeat(x, sg.constant(np.array(counts, int)), axis=axis), x, named=False
    )


def test_repeat_by_a_dimension() -> None:
    x = sg.placeholder("x", ("n",))
    n = x.shape[0]
    for call, peer in ((sg.repeat, np.repeat), (sg.tile, np.tile)):
        y = call(x, n)
        assert y.shape == (n * n,)
        values = sample(3)
        np.testing.assert_array_equal(y.eval({x: values}), peer(values, 3))
    with pytest.raises(
        ShapeError, match="repeat: one count per position of an axis of unknown size"
    ):
        sg.repeat(x, [1, 2])


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "complex64"])
def test_types_stay(dtype: str) -> None:
    x = sample(2, 3, dtype=dtype)
    check_everywhere(lambda x: sg.tile(x, 2), np.tile(x, 2), x)
    check_everywhere(lambda x: sg.repeat(x, 2), np.repeat(x, 2), x)
    check_everywhere(lambda x: sg.stack([x, x]), np.stack([x, x]), x)
    check_everywhere(lambda x: sg.unstack(x, axis=1)[0], x[:, 0], x, named=False)
