"""Reading and writing at positions: numpy is the oracle for values, numpy.add.at for transposes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, DTypeError, OutOfRange, ShapeError, TraceError
from symgrad.ops.gather import last_writes, scatter_add_at, scatter_set_at
from symgrad.ops.slicing import axis_slice, canonical_slice, slice_length, unslice
from symgrad.types import Dim
from tests.ops.finite_differences import check_derivatives

N = Dim.named("n")
BOUNDS = (None, 0, 1, 2, 3, 7, -1, -2, -3, -9)


def at(size: Any, n: int) -> Any:
    return size.evaluate({"n": n}) if isinstance(size, Dim) else size


@pytest.mark.parametrize("step", [None, 1, 2, 3, -1, -2, -3])
def test_canonical_slices_mean_what_python_slices_mean(step: int | None) -> None:
    for start in BOUNDS:
        for stop in BOUNDS:
            named = canonical_slice(start, stop, step, N)
            assert canonical_slice(*named, N) == named
            for size in range(6):
                elements = np.arange(size)[start:stop:step]
                cut = canonical_slice(start, stop, step, size)
                assert canonical_slice(*cut, size) == cut
                assert slice_length(cut) == at(slice_length(named), size) == len(elements)
                assert np.array_equal(np.arange(size)[axis_slice(*cut)], elements)
                bound = [at(part, size) for part in named]
                assert np.array_equal(np.arange(size)[axis_slice(*bound)], elements)


def test_equal_slices_are_the_same_symbol() -> None:
    x = sg.placeholder("x", (10,))
    assert x[0:9:2] is x[:10:2]
    assert x[3:4] is x[3::-7]
    assert x[4:4] is x[9:2]
    assert x[:] is x
    assert x[...] is x


def test_named_sizes_of_slices() -> None:
    x = sg.placeholder("x", ("n", "m"))
    assert str(x[1:].shape[0]) == "max(n, 1) - 1"
    assert x[1:].shape == x[:-1].shape
    assert x[::-1].shape == x.shape
    assert str(x[::2].shape[0]) == "(n + 1)//2"
    assert x[: x.shape[0]].shape == x.shape
    for n in range(5):
        a = np.arange(2.0 * n).reshape(n, 2)
        for key in (
            np.s_[1:],
            np.s_[:-1],
            np.s_[-3:],
            np.s_[1:3],
            np.s_[::-1],
            np.s_[3::-2],
            np.s_[-3:-1],
        ):
            assert np.array_equal(sg.evaluate(x[key], {x: a}), a[key])
        assert np.array_equal(sg.evaluate(x[: x.shape[1]], {x: a}), a[:2])


# --- any key --------------------------------------------------------------------------------------


def random_key(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """A key of any kind that numpy may or may not accept."""
    key: list[Any] = []
    axis, ellipsis = 0, False
    common = [(), (2,), (3, 2), (1, 2), (0,)][rng.integers(5)]
    while axis < len(shape) and rng.random() > 0.1:
        size, kind = shape[axis], rng.random()
        if kind < 0.15:
            key.append(None)
            continue
        if kind < 0.3 and not ellipsis:
            ellipsis = True
            key.append(...)
            axis += int(rng.integers(0, len(shape) - axis + 1))
            continue
        if kind < 0.45 and size:
            key.append(int(rng.integers(-size, size)))
        elif kind < 0.7:
            start, stop = (
                None if rng.random() < 0.5 else int(rng.integers(-size - 2, size + 3)) for _ in "ab"
            )
            key.append(slice(start, stop, [None, 1, 2, -1, -2][rng.integers(5)]))
        elif kind < 0.9 and (size or common == (0,)):
            key.append(rng.integers(-size, size, size=common) if size else np.zeros(common, int))
        elif kind >= 0.9:
            key.append(rng.random(size) < 0.5)
        else:
            key.append(slice(None))
        axis += 1
    return key[0] if len(key) == 1 and rng.random() < 0.5 else tuple(key)


@pytest.mark.parametrize("seed", range(4))
def test_keys_mean_what_numpy_means(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(150):
        shape = tuple(
            int(s) for s in rng.choice(5, p=[0.05, 0.15, 0.2, 0.3, 0.3], size=rng.integers(5))
        )
        a, key = rng.normal(size=shape), random_key(rng, shape)
        try:
            expected = a[key]
        except IndexError:
            with pytest.raises((IndexError, ShapeError)):
                sg.asarray(a)[key]
            continue
        found = sg.asarray(a)[key]
        assert found.shape == expected.shape
        assert np.array_equal(found.numpy(), expected)
        names = tuple(f"n{k}" if rng.random() < 0.5 else size for k, size in enumerate(shape))
        check_symbolic(rng, sg.placeholder("x", names), a, key)


def check_symbolic(rng: np.random.Generator, x: Any, a: np.ndarray, key: Any) -> None:
    """The symbol's value, its transpose, set_at and add_at against numpy."""
    y = x[key]
    expected = a[key]
    assert np.array_equal(sg.evaluate(y, {x: a}), expected)
    ct = rng.normal(size=expected.shape)
    summed = np.zeros_like(a)
    np.add.at(summed, key, ct)
    if all(isinstance(size, int) for size in y.shape):
        (gradient,) = sg.vjp(y, x, sg.constant(ct))
        assert np.allclose(sg.evaluate(gradient, {x: a}), summed, rtol=1e-12, atol=1e-12)
    v = sg.placeholder("v", ct.shape)
    feeds = {x: a, v: ct}
    changed = a.copy()
    changed[key] = ct
    assert np.array_equal(sg.evaluate(sg.set_at(x, key, v), feeds), changed)
    assert np.allclose(sg.evaluate(sg.add_at(x, key, v), feeds), a + summed, rtol=1e-12, atol=1e-12)


KEYS = [
    np.s_[1],
    np.s_[-1, 1:],
    np.s_[:, None, ::-2],
    np.s_[[2, 0, 2]],
    np.s_[:, [3, 3, 1]],
    np.s_[[0, 2], [1, 1]],
    np.s_[[[0], [2]], [1, 1]],
    np.s_[1:, np.array([[0, 3], [3, 0]])],
    np.s_[np.array([True, False, True])],
    np.s_[..., np.array([True, False, True, True])],
]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_derivatives_of_reading_and_writing(key: Any) -> None:
    rng = np.random.default_rng(0)
    a, v = rng.normal(size=(3, 4)), rng.normal(size=np.zeros((3, 4))[key].shape)
    check_derivatives(lambda x: x[key] ** 3, a, order=3)
    check_derivatives(lambda x, v: sg.set_at(x, key, v * x[key]) ** 2 * x, a, v, order=2)
    check_derivatives(lambda x, v: sg.add_at(x, key, v * x[key]) ** 2, a, v, order=2)


def test_integer_symbols_as_indices() -> None:
    x, i, j = (
        sg.placeholder("x", ("n", 4)),
        sg.placeholder("i", (), "int32"),
        sg.placeholder("j", ("k",), "uint64"),
    )
    a = np.arange(12.0).reshape(3, 4)
    feeds = {x: a, i: -1, j: np.array([3, 0], "uint64")}
    for y, expected in (
        (x[i], a[-1]),
        (x[:, j], a[:, [3, 0]]),
        (x[i, j], a[-1, [3, 0]]),
        (x[1, None, j], a[1, None, [3, 0]]),
    ):
        assert np.array_equal(sg.evaluate(y, feeds), expected)
    with pytest.raises(IndexError, match=r"out of bounds|out-of-bounds|empty axes"):
        sg.evaluate(x[i], {x: a, i: 3})
    with pytest.raises(IndexError, match=r"out of bounds|out-of-bounds|empty axes"):
        sg.evaluate(x[:, j], {x: a, j: np.array([4], "uint64")})
    with pytest.raises(IndexError, match=r"out of bounds|out-of-bounds|empty axes"):
        sg.evaluate(sg.add_at(x, i, 1.0), {x: a, i: -4})


def test_positions_on_a_named_axis_are_checked_when_it_runs() -> None:
    x = sg.placeholder("x", ("n",))
    assert float(sg.evaluate(x[-1], {x: [1.0, 2.0]})) == 2.0
    assert float(sg.evaluate(x[x.shape[0] - 2], {x: [1.0, 2.0, 3.0]})) == 2.0
    with pytest.raises(IndexError, match=r"out of bounds|out-of-bounds|empty axes"):
        sg.evaluate(x[2], {x: [1.0, 2.0]})
    with pytest.raises(IndexError, match=r"out of bounds|out-of-bounds|empty axes"):
        sg.evaluate(x[[0, -3]], {x: [1.0, 2.0]})
    with pytest.raises(IndexError, match=r"out of bounds|out-of-bounds|empty axes"):
        sg.evaluate(x[-1], {x: np.zeros(0)})


def test_a_mask_fixes_a_named_size() -> None:
    x = sg.placeholder("x", ("n",))
    y = x[np.array([True, False, True])]
    assert y.shape == (2,)
    assert np.array_equal(sg.evaluate(y, {x: [1.0, 2.0, 3.0]}), [1.0, 3.0])
    with pytest.raises(ShapeError):
        sg.evaluate(y, {x: [1.0, 2.0]})


def test_known_masks_of_every_kind() -> None:
    a, mask = np.arange(3.0), np.array([True, False, True])
    x = sg.placeholder("x", (3,))
    for known in (
        mask,
        list(mask),
        sg.asarray(mask),
        sg.constant(mask),
        sg.logical_not(sg.constant(~mask)),
    ):
        assert np.array_equal(sg.evaluate(x[known], {x: a}), [0.0, 2.0])


def test_unknown_masks() -> None:
    x, m = sg.placeholder("x", (2, 3)), sg.placeholder("m", (2, 3), "bool")
    row = sg.placeholder("r", (2,), "bool")
    a, mask = np.arange(6.0).reshape(2, 3), np.array([[True, False, True], [False, True, False]])
    assert np.array_equal(sg.evaluate(x[m], {x: a, m: mask}), a[mask])
    assert np.array_equal(
        sg.evaluate(sg.set_at(x, m, 9.0), {x: a, m: mask}), np.where(mask, 9.0, a)
    )
    assert np.array_equal(
        sg.evaluate(sg.add_at(x, m, 9.0), {x: a, m: mask}), np.where(mask, 9.0 + a, a)
    )
    found = sg.evaluate(sg.set_at(x, row, np.array([7.0, 8.0, 9.0])), {x: a, row: [True, False]})
    assert np.array_equal(found, [[7.0, 8.0, 9.0], [3.0, 4.0, 5.0]])
    three = sg.set_at(x, m, np.array([7.0, 8.0, 9.0]))
    found = sg.evaluate(three, {x: a, m: mask})
    assert np.array_equal(found, [[7.0, 1.0, 8.0], [3.0, 9.0, 5.0]])
    with pytest.raises(ValueError, match="value array of shape"):
        sg.evaluate(three, {x: a, m: np.ones((2, 3), bool)})


def test_the_last_write_wins_and_has_the_derivative() -> None:
    x, v = sg.placeholder("x", (3,)), sg.placeholder("v", (4,))
    y = sg.set_at(x, [1, 1, -2, 0], v)
    feeds = {x: [1.0, 2.0, 3.0], v: [10.0, 20.0, 30.0, 40.0]}
    assert np.array_equal(sg.evaluate(y, feeds), [40.0, 30.0, 3.0])
    gx, gv = sg.vjp(y, [x, v], sg.constant([1.0, 2.0, 4.0]))
    assert np.array_equal(sg.evaluate(gx, feeds), [0.0, 0.0, 4.0])
    assert np.array_equal(sg.evaluate(gv, feeds), [0.0, 0.0, 2.0, 1.0])
    assert np.array_equal(
        last_writes([np.array([[1, 1], [0, 2]])], shape=(3,), layout=("index",)).numpy(),
        [[False, True], [True, True]],
    )


def test_written_values_take_the_type_of_the_array() -> None:
    x = sg.asarray(np.zeros(3, "float32"))
    assert sg.set_at(x, 0, 1).dtype == np.float32
    assert sg.set_at(x, 0, np.float64(2.0)).dtype == np.float32
    assert sg.add_at(x, [0, 0], np.ones(2)).dtype == np.float32
    with pytest.raises(DTypeError, match="wider kind"):
        sg.set_at(sg.asarray([1, 2]), 0, 1.5)
    with pytest.raises(DTypeError, match="wider kind"):
        sg.add_at(x, 0, 1j)
    with pytest.raises(ShapeError):
        sg.set_at(x, slice(0, 2), np.ones(3))


def test_booleans_are_or_ed() -> None:
    values = sg.asarray(np.array([True, False, False]))
    found = scatter_add_at([values, np.array([1, 1, 0])], shape=(3,), layout=("index",))
    assert found.dtype == np.bool_
    assert np.array_equal(found.numpy(), [False, True, False])
    found = unslice(sg.asarray(np.array([True])), shape=(2,), starts=(1,), stops=(2,), steps=(1,))
    assert np.array_equal(found.numpy(), [False, True])


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float32", "complex128"])
def test_every_element_type_passes_through(dtype: str) -> None:
    a = np.array([[1, 0, 1], [0, 1, 1]]).astype(dtype)
    x = sg.asarray(a)
    for y, expected in (
        (x[1], a[1]),
        (x[:, ::-1], a[:, ::-1]),
        (x[[1, 0]], a[[1, 0]]),
        (sg.take(x, np.array([2]), axis=1), a[:, [2]]),
    ):
        assert y.dtype == a.dtype
        assert np.array_equal(y.numpy(), expected)
    assert sg.set_at(x, 0, True if dtype == "bool" else 1).dtype == a.dtype


def test_operands_are_never_modified() -> None:
    a, v = np.arange(4.0), np.ones(2)
    scatter_set_at([sg.asarray(a), sg.asarray(v), np.array([0, 1])], layout=("index",))
    sg.add_at(sg.asarray(a), [0, 0], v)
    assert np.array_equal(a, np.arange(4.0))


# --- take -----------------------------------------------------------------------------------------


def test_take() -> None:
    rng = np.random.default_rng(1)
    a = rng.normal(size=(3, 4, 2))
    for axis in (0, 1, -1):
        for index in (
            np.array(1),
            np.array([0, -1, 0]),
            np.array([[1, 0], [1, 1]]),
            np.zeros((0,), int),
        ):
            x = sg.placeholder("x", ("a", 4, "c"))
            assert np.array_equal(
                sg.evaluate(sg.take(x, index, axis=axis), {x: a}), np.take(a, index, axis=axis)
            )
            check_derivatives(lambda x, i=index, k=axis: sg.take(x, i, axis=k) ** 2, a)
    assert float(sg.take(sg.asarray([1.0, 2.0]), np.array(1))) == 2.0
    with pytest.raises(ShapeError, match="axis may be left out only for one axis"):
        sg.take(sg.asarray(a), np.array([0]))
    with pytest.raises(DTypeError, match="expected integer"):
        sg.take(sg.asarray(a), np.array([0.0]), axis=0)
    with pytest.raises(IndexError, match=r"out of bounds|out-of-bounds|empty axes"):
        sg.take(sg.asarray(a), np.array([5]), axis=0)
    with pytest.raises(IndexError, match=r"out of bounds|out-of-bounds|empty axes"):
        sg.take(sg.zeros((0, 3)), np.array([0]), axis=0)


def test_take_along_axis() -> None:
    rng = np.random.default_rng(2)
    a = rng.normal(size=(3, 4))
    for axis, index in (
        (1, [[0, 0, -1], [1, 2, 3], [3, 3, 3]]),
        (0, [[2, 2, 0, 1]]),
        (-1, np.zeros((3, 0), int)),
        (1, [[0, 1]]),
    ):
        index = np.asarray(index)
        x = sg.placeholder("x", ("n", 4))
        y = sg.take_along_axis(x, index, axis=axis)
        assert np.array_equal(sg.evaluate(y, {x: a}), np.take_along_axis(a, index, axis))
        check_derivatives(lambda x, i=index, k=axis: sg.take_along_axis(x, i, axis=k) ** 2, a)
    one = rng.normal(size=(1, 4))
    check_derivatives(
        lambda x: sg.take_along_axis(x, np.array([[0, 1], [3, 1], [0, 0]]), axis=1) ** 2, one
    )
    with pytest.raises(ShapeError, match="numbers of axes differ"):
        sg.take_along_axis(sg.asarray(a), np.array([0]))
    with pytest.raises(IndexError, match=r"out of bounds|out-of-bounds|empty axes"):
        sg.take_along_axis(sg.asarray(a), np.array([[4]]), axis=1)


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "error", "message"),
    [
        (
            (0, 0, 0),
            OutOfRange,
            r"getitem: too many indices: expected at most 2, for f64\[2, 3\], got 3",
        ),
        (2, OutOfRange, "getitem: index out of range on axis 0: expected -2 to 1, got 2"),
        ((0, -4), OutOfRange, "getitem: index out of range on axis 1: expected -3 to 2, got -4"),
        ([0, 5], OutOfRange, "getitem: index out of range on axis 0: expected -2 to 1, got 5"),
        ((..., ...), OutOfRange, "more than one ellipsis"),
        (
            [1.0],
            DTypeError,
            "element type of an index array: expected integer or bool, got float64",
        ),
        (1.0, DTypeError, "no such index"),
        ("a", DTypeError, "no such index"),
        (True, ArgumentError, "a single bool is no index"),
        (np.array(True), ArgumentError, "a mask has at least one axis"),
        (np.array([True, False, True]), OutOfRange, "mask does not fit axis 0"),
        (slice(None, None, 0), ArgumentError, "a step is a non-zero int"),
        (slice(1.5), ArgumentError, "the bound of a slice is an int or None: got 1.5"),
    ],
    ids=str,
)
def test_errors(key: Any, error: type[Exception], message: str) -> None:
    x = sg.placeholder("x", (2, 3))
    for value in (x, sg.zeros((2, 3))):
        with pytest.raises(error, match=message):
            value[key]
    with pytest.raises(error):
        sg.set_at(x, key, 1.0)


def test_an_error_names_the_line() -> None:
    with pytest.raises(OutOfRange, match="test_indexing"):
        sg.placeholder("x", (2,))[5]


def test_slice_bounds_must_be_known() -> None:
    x, k = sg.placeholder("x", (5,)), sg.placeholder("k", (), "int64")
    with pytest.raises(TraceError, match="take positions by an integer array"):
        x[:k]
    assert np.array_equal(sg.evaluate(x[k + sg.arange(2)], {x: np.arange(5.0), k: 3}), [3.0, 4.0])
    assert x[: sg.asarray(2)] is x[:2]


# --- branches not taken ---------------------------------------------------------------------------


def test_a_branch_not_taken_stays_out() -> None:
    """A root has an infinite slope at 0, which is selected out whatever is read or written."""
    x = sg.placeholder("x", (3,))
    live = np.array([False, True, True])
    index = np.array([0, 1, 2])
    root = sg.sqrt(x)
    ways = {
        "slice": root[::-1][::-1],
        "pick": sg.stack([root[0], root[1], root[2]]),
        "gather": root[index],
        "mask": root[np.array([True, True, True])],
        "take": sg.take(root, index),
        "along": sg.take_along_axis(root, index, axis=0),
        "set": sg.set_at(x, slice(None), root),
        "set under": sg.set_at(root, [1], 5.0 * x[1]),
        "add": sg.add_at(root, [1, 1], x[:2]),
        "sort": sg.sort(root),
    }
    for name, y in ways.items():
        (g,) = sg.vjp(sg.where(sg.constant(live), y, 0.0), x, sg.constant(np.ones(3)))
        assert np.all(np.isfinite(sg.evaluate(g, {x: [0.0, 1.0, 4.0]}))), name
