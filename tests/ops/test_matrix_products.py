"""Products of several matrices, matrices of matrices, positions of triangles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg

import symgrad as sg
from symgrad.errors import ArgumentError, ShapeError, TraceError
from symgrad.ops.matrix_products import cheapest
from tests.ops.finite_differences import check_derivatives

la = sg.linalg
RNG = np.random.default_rng(17)


def test_multi_dot_values() -> None:
    for shapes in (
        [(2, 3), (3, 4)],
        [(3,), (3, 4), (4, 5)],
        [(2, 3), (3, 4), (4, 5), (5,)],
        [(3,), (3, 4), (4,)],
        [(3,), (3,)],
        [(4, 10), (10, 2), (2, 9), (9, 3)],
        [(2, 0), (0, 3), (3, 1)],
    ):
        arrays = [RNG.normal(size=shape) for shape in shapes]
        np.testing.assert_allclose(la.multi_dot(arrays).numpy(), np.linalg.multi_dot(arrays))
    batch = [RNG.normal(size=(2, 3, 4)), RNG.normal(size=(4, 5)), RNG.normal(size=(2, 5, 2))]
    np.testing.assert_allclose(la.multi_dot(batch).numpy(), batch[0] @ batch[1] @ batch[2])


def cost(sides: list[int], division: dict[tuple[int, int], int], i: int, j: int) -> int:
    if i == j:
        return 0
    k = division[i, j]
    here = sides[i] * sides[k + 1] * sides[j + 1]
    return here + cost(sides, division, i, k) + cost(sides, division, k + 1, j)


def least_cost(sides: list[int]) -> int:
    """By trying every first division."""
    if len(sides) <= 2:
        return 0
    return min(
        sides[0] * sides[k] * sides[-1] + least_cost(sides[: k + 1]) + least_cost(sides[k:])
        for k in range(1, len(sides) - 1)
    )


def test_multi_dot_takes_the_cheapest_order() -> None:
    for _ in range(20):
        sides = [int(n) for n in RNG.integers(1, 30, size=RNG.integers(3, 8))]
        assert cost(sides, cheapest(sides), 0, len(sides) - 2) == least_cost(sides)
    # Ten million products against two million.
    x = [
        sg.placeholder(f"x{k}", shape) for k, shape in enumerate(((1000, 10), (10, 1000), (1000,)))
    ]
    assert la.multi_dot(x).args[1].shape == (10,)


def test_multi_dot_of_sizes_that_are_not_known() -> None:
    x, y = sg.placeholder("x", ("n", "m")), sg.placeholder("y", ("m", "n"))
    z = la.multi_dot([x, y, x])
    assert str(z.type) == "f64[n, m]"
    a, b = RNG.normal(size=(2, 3)), RNG.normal(size=(3, 2))
    np.testing.assert_allclose(sg.evaluate(z, {x: a, y: b}), a @ b @ a)
    check_derivatives(lambda p, q: la.multi_dot([p, q, p]), a, b)


def test_multi_dot_errors() -> None:
    with pytest.raises(ArgumentError, match="multi_dot: too few arrays"):
        la.multi_dot([sg.ones((2, 2))])
    with pytest.raises(ShapeError, match=r"multi_dot: arrays\[1\] is no matrix"):
        la.multi_dot([sg.ones((2, 2)), sg.ones(2), sg.ones((2, 2))])
    with pytest.raises(ShapeError, match="matmul"):
        la.multi_dot([sg.ones((2, 3)), sg.ones((2, 3))])


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64", "complex128"])
def test_kron(dtype: str) -> None:
    for first, second in (
        ((2,), (3,)),
        ((2, 3), (4, 5)),
        ((), (2, 3)),
        ((2, 3), ()),
        ((2,), (3, 4)),
        ((2, 3, 4), (5, 2)),
        ((2, 3), (2, 2, 2)),
        ((0, 3), (2, 2)),
        ((), ()),
    ):
        a, b = ((4 * RNG.normal(size=s)).astype(dtype) for s in (first, second))
        found, wanted = sg.kron(a, b).numpy(), np.kron(a, b)
        assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
        if dtype in ("float64", "complex128"):
            check_derivatives(sg.kron, a, b)
    x = sg.placeholder("x", ("n", 2))
    assert str(sg.kron(x, x).type) == "f64[n**2, 4]"


def test_kron_and_vec() -> None:
    a, x, b = (RNG.normal(size=s) for s in ((2, 3), (3, 4), (4, 2)))
    np.testing.assert_allclose(
        sg.kron(a, b.T).numpy() @ x.reshape(-1), (a @ x @ b).reshape(-1), rtol=1e-12
    )


def test_block_diag() -> None:
    a, b, c = RNG.normal(size=(2, 3)), RNG.normal(size=3), RNG.normal()
    for arrays in ((a,), (a, b), (a, b, c), (c, a), (a, np.zeros((0, 2)), a), (a.astype("f4"), 2)):
        found = sg.block_diag(*arrays).numpy()
        np.testing.assert_allclose(found, scipy.linalg.block_diag(*arrays))
    check_derivatives(sg.block_diag, a, b, np.asarray(c))
    batch = RNG.normal(size=(4, 2, 2))
    found = sg.block_diag(batch, a).numpy()
    for mine, matrix in zip(found, batch, strict=True):
        assert np.array_equal(mine, scipy.linalg.block_diag(matrix, a))
    assert sg.block_diag(np.ones((2, 2), np.int8), np.ones(1, np.int16)).dtype == np.int16
    x = sg.placeholder("x", ("n", "m"))
    assert str(sg.block_diag(x, sg.eye(2)).type) == "f64[n + 2, m + 2]"
    with pytest.raises(ArgumentError, match="block_diag: nothing to join"):
        sg.block_diag()


@pytest.mark.parametrize("name", ["tril_indices", "triu_indices"])
def test_positions_of_triangles(name: str) -> None:
    mine, theirs = getattr(sg, name), getattr(np, name)
    for args in ((3,), (3, 1), (3, -1), (2, 0, 4), (4, 1, 2), (0,), (3, -5), (3, 5), (2, 0, 0)):
        for found, wanted in zip(mine(*args), theirs(*args), strict=True):
            assert found.dtype == np.int64
            assert np.array_equal(found.numpy(), wanted)
    assert np.array_equal(mine(2, m=3, k=1)[0].numpy(), theirs(2, 1, 3)[0])
    a = np.arange(9.0).reshape(3, 3)
    assert np.array_equal(sg.asarray(a)[mine(3)].numpy(), a[theirs(3)])
    with pytest.raises(ArgumentError, match=f"{name}: n is no int: got 2.5"):
        mine(2.5)
    with pytest.raises(ArgumentError, match=f"{name}: m is negative"):
        mine(2, m=-1)
    with pytest.raises(TraceError, match=f"{name}: n is symbolic"):
        mine(sg.Dim.named("n"))


def test_diagonals() -> None:
    a = RNG.normal(size=(2, 3, 4))
    assert sg.diagonal is la.diagonal
    for k in (-4, -1, 0, 1, 5):
        assert np.array_equal(sg.diagonal(a, offset=k).numpy(), np.diagonal(a, k, -2, -1))
        embedded = sg.diag_embed(a, offset=k).numpy()
        for place in np.ndindex(2, 3):
            assert np.array_equal(embedded[place], np.diag(a[place], k))
    x = sg.placeholder("x", ("n",))
    assert str(sg.diag_embed(x, offset=-2).type) == "f64[n + 2, n + 2]"
    check_derivatives(lambda v: sg.diag_embed(v, offset=1) ** 2, a)
    with pytest.raises(ShapeError, match="diag_embed: x is no vector"):
        sg.diag_embed(sg.asarray(1.0))


def test_powers() -> None:
    a = RNG.normal(size=(3, 3))
    assert np.array_equal(la.matrix_power(sg.zeros((2, 2)), 0).numpy(), np.eye(2))
    for n in (np.int64(3), -1, -3, 0, 7):
        found = la.matrix_power(a, n).numpy()
        np.testing.assert_allclose(found, np.linalg.matrix_power(a, n), rtol=1e-9, atol=1e-9)
        check_derivatives(lambda x, n=n: la.matrix_power(x, n), a + 3 * np.eye(3))
    bad: Any
    for bad in (0.5, True, "2"):
        with pytest.raises(ArgumentError, match="the exponent is an int"):
            la.matrix_power(a, bad)
