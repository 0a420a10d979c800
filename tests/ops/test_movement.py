"""Reshape, permute, broadcast: numpy is the oracle for values, inner products for transposes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ShapeError
from symgrad.types import take_constraints
from tests.ops.front_ends import check_everywhere
from tests.ops.linear_maps import check_linear

RNG = np.random.default_rng(1)
DTYPES = ["bool", "int8", "uint64", "float16", "float32", "complex64", "complex128"]


def sample(*shape: int, dtype: Any = "float64") -> np.ndarray:
    return (10 * RNG.normal(size=shape)).astype(dtype)


# --- reshape --------------------------------------------------------------------------------------

RESHAPES = [
    ((2, 3), (6,)),
    ((2, 3), (3, 2)),
    ((2, 3), -1),
    ((2, 3), (-1, 1, 2)),
    ((2, 3), [3, -1]),
    ((2, 3), (np.int64(6),)),
    ((), ()),
    ((), (1, 1)),
    ((1,), ()),
    ((1, 1), (-1,)),
    ((0, 3), (3, 0)),
    ((0, 3), (-1, 3)),
    ((0,), (0, 5)),
]


@pytest.mark.parametrize(("old", "new"), RESHAPES, ids=str)
def test_reshape(old: tuple[int, ...], new: Any) -> None:
    x = sample(*old)
    # A named size fits where the elements of the axis stay together, not elsewhere.
    check_everywhere(lambda x: sg.reshape(x, new), np.reshape(x, new), x, named=False)
    check_linear(lambda x: sg.reshape(x, new), x, named=False)


@pytest.mark.parametrize("dtype", DTYPES)
def test_types_stay(dtype: str) -> None:
    x = sample(2, 1, dtype=dtype)
    check_everywhere(lambda x: sg.reshape(x, (-1,)), x.reshape(-1), x)
    check_everywhere(lambda x: sg.permute_dims(x, (1, 0)), x.T, x)
    check_everywhere(lambda x: sg.broadcast_to(x, (4, 2, 3)), np.broadcast_to(x, (4, 2, 3)), x)


def test_reshape_named_sizes() -> None:
    x = sg.placeholder("x", ("n", 3))
    n = x.shape[0]
    assert sg.reshape(x, (-1,)).shape == (3 * n,)
    assert sg.reshape(x, (3, -1)).shape == (3, n)
    assert sg.reshape(x, ("n", 1, 3)).shape == (n, 1, 3)
    assert sg.reshape(x, (n * 3,)) is sg.reshape(x, (-1,))
    halves = sg.reshape(x, (2, -1))
    values = sample(4, 3)
    np.testing.assert_array_equal(halves.eval({x: values}), values.reshape(2, 6))
    with pytest.raises(ShapeError, match="numbers of elements differ"):
        halves.eval({x: sample(3, 3)})


def test_reshape_named_gradient() -> None:
    check_linear(lambda x: sg.reshape(x, (-1,)), sample(4, 3))
    check_linear(lambda x: sg.reshape(x, (3, -1)), sample(2, 3, 5))


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((4,), r"reshape: the number of elements changes: expected 6 elements, got \(4,\)"),
        ((-1, -1), r"reshape: only one size can be -1: got \(-1, -1\)"),
        ((4, -1), r"reshape: the number of elements changes"),
        ((-2, 3), r"reshape: a size is negative: expected 0 or more, got -2"),
        (2.5, r"reshape: not a size: expected an int, a Dim or a name, got 2\.5"),
    ],
)
def test_reshape_refuses(shape: Any, message: str) -> None:
    for x in (sample(6), sg.placeholder("x", (6,))):
        with pytest.raises(ShapeError, match=message):
            sg.reshape(x, shape)


def test_reshape_of_nothing_does_not_tell_a_size() -> None:
    with pytest.raises(ShapeError, match=r"reshape: no size at -1 follows: expected no size 0"):
        sg.reshape(np.ones((0, 3)), (0, -1))


def test_a_second_reshape_needs_the_first_no_more() -> None:
    x = sg.placeholder("x", (2, 6))
    y = sg.reshape(sg.reshape(x, (3, 4)), (2, 6))
    fn = sg.function([x], y)
    assert len(fn.optimized.symbols) <= 2


# --- permute_dims ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((2, 3, 4), (2, 0, 1)),
        ((2, 3, 4), (0, -1, 1)),
        ((2, 3), [1, 0]),
        ((), ()),
        ((5,), (0,)),
        ((0, 3), (1, 0)),
        ((1, 3, 1), (2, 1, 0)),
    ],
    ids=str,
)
def test_permute_dims(shape: tuple[int, ...], axes: Any) -> None:
    x = sample(*shape)
    check_everywhere(lambda x: sg.permute_dims(x, axes), np.transpose(x, axes), x)
    check_linear(lambda x: sg.permute_dims(x, axes), x)


def test_negative_strides() -> None:
    x = sample(4, 6)[::-1, ::-2]
    check_everywhere(lambda x: sg.permute_dims(x, (1, 0)), x.T, x)
    check_everywhere(lambda x: sg.reshape(x, (-1,)), x.reshape(-1), x)
    check_everywhere(lambda x: sg.broadcast_to(x, (2, 4, 3)), np.broadcast_to(x, (2, 4, 3)), x)


def test_permute_dims_refuses() -> None:
    x = sg.placeholder("x", ("n", 3))
    with pytest.raises(ShapeError, match=r"permute_dims: axes is not a permutation: expected 2 a"):
        sg.permute_dims(x, (0,))
    with pytest.raises(ShapeError, match=r"permute_dims: an axis is given twice: got \(0, 0\)"):
        sg.permute_dims(x, (0, 0))
    with pytest.raises(ShapeError, match=r"permute_dims: axis out of range: expected -2 to 1, got"):
        sg.permute_dims(x, (0, 2))


# --- broadcasting ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ((3,), (2, 3)),
        ((1, 3), (2, 3)),
        ((2, 1), (4, 2, 3)),
        ((1, 1), (5, 2, 3)),
        ((), (2, 2)),
        ((), ()),
        ((2,), (2,)),
        ((1,), (0,)),
        ((1, 0), (3, 0)),
        ((3, 1), (3, 1)),
    ],
    ids=str,
)
def test_broadcast_to(old: tuple[int, ...], new: tuple[int, ...]) -> None:
    x = sample(*old)
    check_everywhere(lambda x: sg.broadcast_to(x, new), np.broadcast_to(x, new), x)
    check_linear(lambda x: sg.broadcast_to(x, new), x)
    check_linear(lambda x: sg.broadcast_to(x, new), x.astype("complex128"))


def test_broadcast_to_new_names() -> None:
    v, w = sg.placeholder("v", ("n",)), sg.placeholder("w", ("m", "n"))
    y = sg.broadcast_to(v, w.shape)
    assert y.shape == w.shape
    values = {v: sample(3), w: sample(2, 3)}
    np.testing.assert_array_equal(y.eval({v: values[v], w: values[w]}), [values[v]] * 2)
    (g,) = sg.grad(sg.sum(y * w), v)
    np.testing.assert_allclose(sg.evaluate(g, values), values[w].sum(0), rtol=1e-15)


def test_broadcast_to_keeps_the_promise_of_names() -> None:
    v = sg.placeholder("v", ("n",))
    w = sg.placeholder("w", ("m",))
    y = sg.broadcast_to(v, w.shape) + w
    with pytest.raises(ShapeError, match=r"broadcast_to: sizes of axis -1 differ: expected n = 3"):
        sg.evaluate(y, {v: sample(3), w: sample(4)})


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((4,), "broadcast_to: sizes of axis -1 differ: expected 3, got 4"),
        ((1,), "broadcast_to: sizes of axis -1 differ: expected 3, got 1"),
        ((), r"broadcast_to: too few axes: expected at least 1, got \(\)"),
        ((-1,), "broadcast_to: a size is negative: expected 0 or more, got -1"),
    ],
)
def test_broadcast_to_refuses(shape: Any, message: str) -> None:
    for x in (sample(3), sg.placeholder("x", (3,))):
        with pytest.raises(ShapeError, match=message):
            sg.broadcast_to(x, shape)


def test_broadcast_shapes() -> None:
    n, m = sg.Dim.named("n"), sg.Dim.named("m")
    assert sg.broadcast_shapes() == ()
    assert sg.broadcast_shapes((3, 1), (2,), ()) == (3, 2)
    assert sg.broadcast_shapes((n, 1), (3,)) == (n, 3)
    assert sg.broadcast_shapes((n,), (m,)) == (n,)
    assert take_constraints() == ()
    with pytest.raises(ShapeError, match="broadcast_shapes: shapes do not broadcast"):
        sg.broadcast_shapes((3,), (2,))
