"""The matrix exponential: series in many digits are the oracle."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.linalg

import symgrad as sg
from symgrad.errors import DTypeError, ShapeError
from tests.ops.finite_differences import check_derivatives

la = sg.linalg
RNG = np.random.default_rng(16)
NORMAL = RNG.normal(size=(4, 4))


def exact(a: np.ndarray) -> np.ndarray:
    """Scaled far down, the series, squared up again: in 100 digits."""
    with mpmath.workdps(100):
        e = mpmath.expm(mpmath.matrix(a.tolist()) / 2**40, method="taylor")
        for _ in range(40):
            e = e * e
        return np.array(e.tolist(), dtype=complex)


CASES = {
    "small": 1e-9 * NORMAL,
    "normal": NORMAL,
    "large": 20 * NORMAL,
    "complex": 3j * NORMAL,
    "nilpotent": np.array([[0.0, 1e8], [0.0, 0.0]]),
    "far from normal": np.array([[1.0, 1e6], [0.0, -1.0]]),
    "strict triangle": 100 * np.triu(NORMAL, 1),
    "negative": NORMAL - 50 * np.eye(4),
    "rotation": np.array([[0.0, -100.0], [100.0, 0.0]]),
    "cancelling": np.array([[-49.0, 24.0], [-64.0, 31.0]]),
    "badly scaled": np.array(
        [[-0.06, -1.37e9, -1.17e19, 1e-12], [1e-12, 0, 0, 0], [0, 1e-12, 0, 0], [0, 0, 0, 0]]
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_values(name: str) -> None:
    a = CASES[name]
    wanted = exact(a)
    found = la.expm(sg.asarray(a)).numpy()
    assert found.dtype == a.dtype
    assert np.max(np.abs(found - wanted)) < 2e-13 * np.max(np.abs(wanted))


def test_of_huge_negative_matrices_nothing_is_left() -> None:
    a = -1e6 * NORMAL @ NORMAL.T
    assert np.max(np.abs(la.expm(sg.asarray(a)).numpy())) < 1e-10
    tree = np.array([[1.0, -0.5, -0.5], [0, 1, 0], [0, 0, 0]])
    np.testing.assert_allclose(
        la.expm(sg.asarray(-2000 * tree)).numpy(), [[0, 0, 0.5], [0, 0, 0], [0, 0, 1]], atol=1e-15
    )


def test_exact_values() -> None:
    assert np.array_equal(la.expm(sg.zeros((3, 3))).numpy(), np.eye(3))
    assert la.expm(sg.zeros((0, 0))).shape == (0, 0)
    assert la.expm(sg.zeros((0, 2, 2))).shape == (0, 2, 2)
    np.testing.assert_allclose(la.expm(sg.asarray([[2.0]])).numpy(), [[np.exp(2)]], rtol=1e-15)
    assert la.expm(sg.asarray([[1, 0], [0, 1]])).dtype == np.float64


def test_batches_are_scaled_one_by_one() -> None:
    a = np.stack([0.01 * NORMAL, 50 * NORMAL, np.zeros((4, 4)), NORMAL])
    found = la.expm(sg.asarray(a)).numpy()
    for mine, matrix in zip(found, a, strict=True):
        assert np.array_equal(mine, la.expm(sg.asarray(matrix)).numpy())
    single = la.expm(sg.asarray(a[[0, 3]].astype("float32"))).numpy()
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, found[[0, 3]], rtol=1e-5, atol=1e-6)


def test_what_is_not_finite() -> None:
    for bad in (np.nan, np.inf):
        assert np.all(np.isnan(la.expm(sg.asarray([[bad, 1.0], [0.0, 1.0]])).numpy()[0]))
    assert float(la.expm(sg.asarray([[1000.0]]))[0, 0]) == np.inf


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("shape", [(3, 3), (2, 2, 2), (1, 1), (0, 0)], ids=str)
def test_derivatives(shape: tuple[int, ...], dtype: str) -> None:
    a = RNG.normal(size=shape).astype(dtype)
    a = a + 1j * RNG.normal(size=shape) if dtype[0] == "c" else a
    check_derivatives(la.expm, a, order=3 if len(shape) < 3 else 2, tolerance=1e-5)


@pytest.mark.parametrize("size", [1e-300, 1e-8, 1.0, 1e12, 1e300])
def test_the_size_of_a_cotangent_does_not_matter(size: float) -> None:
    x = sg.placeholder("x", (4, 4))
    weights = RNG.normal(size=(4, 4))
    (g,) = sg.grad(sg.sum(la.expm(x) * (size * weights)), x)
    wanted = scipy.linalg.expm_frechet(NORMAL.T, weights, compute_expm=False)
    found = sg.evaluate(g, {x: NORMAL}) / size
    assert np.max(np.abs(found - wanted)) < 1e-12 * np.max(np.abs(wanted))


def test_at_repeated_and_missing_eigenvalues() -> None:
    def trace(x: Any) -> Any:
        return la.trace(la.expm(x))

    for a in (np.zeros((2, 2)), np.eye(2), np.array([[0.0, 1.0], [0.0, 0.0]])):
        x = sg.placeholder("x", (2, 2))
        (g,) = sg.grad(trace(x), x)
        np.testing.assert_allclose(sg.evaluate(g, {x: a}), scipy.linalg.expm(a.T), atol=1e-15)
        check_derivatives(trace, a, order=3, step=1e-3, tolerance=1e-5)


def test_determinant_of_the_exponential() -> None:
    x = sg.placeholder("x", ("n", "n"))
    y = la.det(la.expm(x))
    (g,) = sg.grad(y, x)
    value, gradient = sg.evaluate([y, g], {x: NORMAL})
    assert np.isclose(value, np.exp(np.trace(NORMAL)), rtol=1e-12)
    np.testing.assert_allclose(gradient, value * np.eye(4), rtol=1e-10, atol=1e-10 * value)


def test_errors() -> None:
    with pytest.raises(ShapeError, match="expm: rows and columns of x differ"):
        la.expm(sg.ones((2, 3)))
    with pytest.raises(DTypeError, match="expm: element type of x: expected float32 or wider"):
        la.expm(sg.ones((2, 2), dtype="float16"))
