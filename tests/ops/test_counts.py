"""Draws of counts, bits, orders and choices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.stats as st

import symgrad as sg
from symgrad.errors import ArgumentError, DTypeError, ShapeError
from tests.ops.finite_differences import check_derivatives

random = sg.random
KEY = random.key(77)
MANY = 100_000
inf, nan = math.inf, math.nan


def evenness(x: Any, law: Any) -> float:
    """The chance that counts of this law are spread less evenly, by the chi-square test."""
    values, counts = np.unique(x, return_counts=True)
    observed = dict(zip(values.tolist(), counts.tolist(), strict=True))
    low, high = law.ppf(1e-9), law.ppf(1 - 1e-9)
    grid = np.arange(low, high + 1)
    expected = law.pmf(grid) * len(x)
    often = expected > 10
    found = np.array([observed.get(k, 0) for k in grid[often]])
    rest = len(x) - found.sum(), len(x) - expected[often].sum()
    statistic = ((found - expected[often]) ** 2 / expected[often]).sum()
    if rest[1] > 5:
        statistic += (rest[0] - rest[1]) ** 2 / rest[1]
    return float(st.chi2.sf(statistic, max(often.sum() - 1, 1)))


def test_the_stream_is_fixed() -> None:
    """What seed 0 gives. May never change: saved keys must give the same numbers."""
    key = random.key(0)
    assert random.poisson(key, 4.0, (3,)).numpy().tolist() == [1, 4, 3]
    assert random.poisson(key, 1000.0, (3,)).numpy().tolist() == [1043, 938, 1037]
    assert random.binomial(key, 40, 0.4, (3,)).numpy().tolist() == [19, 10, 20]
    assert random.geometric(key, 0.2, (3,)).numpy().tolist() == [15, 4, 7]
    assert random.rademacher(key, (3,)).numpy().tolist() == [1, -1, 1]
    assert random.bits(key, (3,), dtype="uint16").numpy().tolist() == [2816, 32822, 16096]
    assert random.permutation(key, 6).numpy().tolist() == [0, 5, 2, 4, 1, 3]
    classes = random.categorical(key, [0.0, 1.0, 2.0], shape=(6,))
    assert classes.numpy().tolist() == [2, 1, 2, 2, 2, 0]
    assert random.choice(key, 100, (3,)).numpy().tolist() == [69, 87, 69]
    drawn = random.choice(key, 9, (4,), replace=False, p=[0.1] * 8 + [0.2])
    assert drawn.numpy().tolist() == [6, 8, 3, 1]


# --- counts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [1e-3, 0.5, 3.0, 9.99, 10.0, 12.5, 100.0, 2000.0])
def test_poisson(rate: float) -> None:
    x = random.poisson(KEY, rate, (MANY,)).numpy()
    assert x.dtype == np.int64
    assert evenness(x, st.poisson(rate)) > 1e-3


@pytest.mark.parametrize("rate", [1e8, 1e14])
def test_poisson_of_vast_rates(rate: float) -> None:
    x = random.poisson(KEY, rate, (MANY,)).numpy()
    assert st.kstest((x - rate) / math.sqrt(rate), st.norm.cdf).pvalue > 1e-3


@pytest.mark.parametrize(
    ("n", "p"),
    [
        (1, 0.3), (5, 0.5), (20, 0.4), (25, 0.4), (30, 0.5), (1000, 0.001), (1000, 0.02),
        (1000, 0.5), (40, 0.9), (1000, 0.97),
    ],
)  # fmt: skip
def test_binomial(n: int, p: float) -> None:
    x = random.binomial(KEY, n, p, (MANY,)).numpy()
    assert ((x >= 0) & (x <= n)).all()
    assert evenness(x, st.binom(n, p)) > 1e-3


@pytest.mark.parametrize("p", [0.9, 0.25, 0.01])
def test_geometric(p: float) -> None:
    x = random.geometric(KEY, p, (MANY,)).numpy()
    assert x.min() >= 1
    assert evenness(x, st.geom(p)) > 1e-3


def test_counts_are_independent_of_those_of_another_key() -> None:
    keys = random.split(KEY)
    for rate in (3.0, 300.0):
        a, b = (random.poisson(key, rate, (MANY,)).numpy() for key in keys)
        assert abs(np.corrcoef(a, b)[0, 1]) * math.sqrt(MANY) < 4
        assert abs(np.corrcoef(a[1:], a[:-1])[0, 1]) * math.sqrt(MANY) < 4


def test_counts_at_the_ends() -> None:
    assert random.poisson(KEY, 0.0, (3,)).numpy().tolist() == [0, 0, 0]
    assert random.binomial(KEY, 0, 0.5, (3,)).numpy().tolist() == [0, 0, 0]
    n = np.array([7, 10**9])
    assert random.binomial(KEY, n, 0.0).numpy().tolist() == [0, 0]
    assert random.binomial(KEY, n, 1.0).numpy().tolist() == n.tolist()
    assert random.geometric(KEY, 1.0, (3,)).numpy().tolist() == [1, 1, 1]
    assert random.geometric(KEY, np.array([1e-300])).numpy().tolist() == [2**63 - 1]
    assert random.poisson(KEY, 1000.0, (3,), dtype="int8").numpy().tolist() == [127] * 3


def test_parameters_out_of_range_give_minus_one_or_nan() -> None:
    rates = np.array([-1.0, nan, inf, 1.0])
    assert (random.poisson(KEY, rates).numpy() == -1).tolist() == [True, True, True, False]
    for dtype in ("float32", "float64"):
        found = random.poisson(KEY, rates, dtype=dtype).numpy()
        assert found.dtype == dtype
        assert np.isnan(found).tolist() == [True, True, True, False]
    p = np.array([-0.1, 1.1, nan, 0.5])
    assert (random.binomial(KEY, 9, p).numpy() == -1).tolist() == [True, True, True, False]
    n = np.array([-1.0, 2.5, inf, 3.0])
    assert (random.binomial(KEY, n, 0.5).numpy() == -1).tolist() == [True, True, True, False]
    p = np.array([0.0, -0.1, nan, 0.5])
    assert (random.geometric(KEY, p).numpy() == -1).tolist() == [True, True, True, False]


def test_counts_have_no_derivative() -> None:
    rate = sg.placeholder("rate", (3,))
    x = random.poisson(KEY, rate, dtype="float64")
    (slope,) = sg.grad(sg.sum(x * rate), rate)
    found = sg.evaluate([x, slope], {rate: np.array([3.0, 30.0, 300.0])})
    assert np.array_equal(found[0], found[1])


# --- bits and signs -------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64"])
def test_every_bit_is_even(dtype: str) -> None:
    x = random.bits(KEY, (MANY,), dtype=dtype).numpy()
    assert x.dtype == dtype
    shares = np.unpackbits(x.view(np.uint8)).reshape(MANY, -1).mean(axis=0)
    assert len(shares) == 8 * x.itemsize
    assert abs(shares - 0.5).max() < 4.5 * 0.5 / math.sqrt(MANY)


@pytest.mark.parametrize("dtype", [None, "int8", "float16"])
def test_signs(dtype: str | None) -> None:
    x = random.rademacher(KEY, (MANY,), dtype=dtype).numpy()
    assert x.dtype == (dtype or "int64")
    assert {*x.tolist()} == {-1, 1}
    assert abs(x.astype(float).mean()) * math.sqrt(MANY) < 4


# --- orders and choices ---------------------------------------------------------------------------


def test_permutation_of_an_array() -> None:
    x = np.arange(20.0).reshape(4, 5)
    order = random.permutation(KEY, 5).numpy()
    assert np.array_equal(random.permutation(KEY, x, axis=1), x[:, order])
    assert np.array_equal(random.permutation(KEY, x, 1), random.permutation(KEY, x, -1))
    assert np.array_equal(np.sort(random.permutation(KEY, x), axis=0), x)
    each = random.permutation(KEY, x, 1, independent=True).numpy()
    assert np.array_equal(np.sort(each, axis=1), x)
    assert len({tuple(row) for row in (each - x[:, :1]).tolist()}) > 1
    assert random.permutation(KEY, np.zeros((0, 3))).shape == (0, 3)
    assert random.permutation(KEY, [3.0]).numpy().tolist() == [3.0]
    check_derivatives(lambda x: random.permutation(KEY, x, 1) ** 2, x)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_categorical_has_the_probabilities_of_softmax(axis: int) -> None:
    weights = np.array([0.1, 0.2, 0.3, 0.4])
    logits = np.log(weights) + 300
    shaped = np.broadcast_to(logits, (3, 4)) if axis else np.broadcast_to(logits[:, None], (4, 3))
    x = random.categorical(KEY, shaped, axis=axis, shape=(MANY, 3)).numpy()
    for column in x.T:
        assert st.chisquare(np.bincount(column), weights * MANY).pvalue > 1e-3
    assert random.categorical(KEY, shaped, axis).shape == (3,)


def test_categorical_at_the_ends() -> None:
    x = random.categorical(KEY, [-inf, 0.0, -inf, 0.0], shape=(1000,)).numpy()
    assert {*x.tolist()} == {1, 3}
    assert random.categorical(KEY, [-inf, -inf]).item() == 0
    assert random.categorical(KEY, [0.0, nan, 0.0]).item() == 1
    assert random.categorical(KEY, [0, 1000]).item() == 1
    small = random.categorical(KEY, np.array([0.0, -12.0], np.float16), shape=(MANY * 10,)).numpy()
    assert 0 < small.sum() < 20  # 6.1 of a million


@pytest.mark.parametrize("p", [None, [0.5, 0.0, 0.2, 0.3, 0.0]])
def test_choice_with_replacement(p: list[float] | None) -> None:
    x = random.choice(KEY, 5, (MANY,), p=p).numpy()
    shares = np.array(p or [0.2] * 5)
    counts = np.bincount(x, minlength=5)
    assert not counts[shares == 0].any()
    kept = shares > 0
    assert st.chisquare(counts[kept], shares[kept] * MANY).pvalue > 1e-3


def test_choice_without_replacement() -> None:
    p = np.array([0.5, 0.3, 0.2])
    pairs = np.zeros((3, 3))
    for k in range(3000):
        first, second = random.choice(random.fold_in(KEY, k), 3, (2,), False, p).numpy()
        pairs[first, second] += 1
    expected = p[:, None] * p[None, :] / (1 - p[:, None]) * 3000
    others = ~np.eye(3, dtype=bool)
    assert not pairs.diagonal().any()
    assert st.chisquare(pairs[others], expected[others]).pvalue > 1e-3
    every = random.choice(KEY, 6, (2, 3), replace=False).numpy()
    assert sorted(every.ravel().tolist()) == list(range(6))


def test_choice_from_an_array() -> None:
    x = np.arange(12.0).reshape(3, 4)
    index = random.choice(KEY, 4, (2, 5)).numpy()
    found = random.choice(KEY, x, (2, 5), axis=1)
    assert found.shape == (3, 2, 5)
    assert np.array_equal(found, x[:, index])
    assert random.choice(KEY, x, (0,)).shape == (0, 4)
    assert random.choice(KEY, 0, (0,)).shape == (0,)
    assert random.choice(KEY, ["a"].index("a") + 1).item() == 0
    check_derivatives(lambda x: random.choice(KEY, x, (5,), p=[0.2, 0.3, 0.5]) ** 2, x)


def test_named_dimensions() -> None:
    x = sg.placeholder("x", ("n", 3))
    n = x.shape[0]
    drawn = [
        random.choice(KEY, x, (4,)),
        random.permutation(KEY, x),
        random.categorical(KEY, x),
        random.choice(KEY, n, (2,)),
    ]
    assert [y.shape for y in drawn] == [(4, 3), (n, 3), (n,), (2,)]
    found = sg.evaluate(drawn, {x: np.zeros((5, 3))})
    assert [v.shape for v in found] == [(4, 3), (5, 3), (5,), (2,)]


# --- the generator --------------------------------------------------------------------------------


def test_a_generator_has_all_draws() -> None:
    rng = random.Generator(5)
    key = random.fold_in(random.key(5), 0)
    assert np.array_equal(rng.gamma(2.0, (3,)), random.gamma(key, 2.0, (3,)))
    assert rng.poisson(3.0, (2,)).shape == (2,)
    assert {"gamma", "choice", "normal", "next_key"} <= {*dir(rng)}
    for name in ("split", "key_of", "fold_in"):
        with pytest.raises(AttributeError, match=f"no draw '{name}' in sg.random"):
            getattr(rng, name)


# --- errors ---------------------------------------------------------------------------------------


def test_numbers_out_of_range_are_refused() -> None:
    for rate in (-1.0, inf, nan):
        with pytest.raises(
            ArgumentError, match=r"random.poisson: rate is out of range: expected a"
        ):
            random.poisson(KEY, rate)
    for n in (-1, 2.5, inf):
        with pytest.raises(
            ArgumentError, match=r"random.binomial: n is out of range: expected a w"
        ):
            random.binomial(KEY, n, 0.5)
    with pytest.raises(
        ArgumentError, match=r"random.binomial: p is no probability: expected 0 to 1"
    ):
        random.binomial(KEY, 3, 1.5)
    for p in (0.0, 1.5):
        with pytest.raises(
            ArgumentError, match=r"random.geometric: p is out of range: expected a p"
        ):
            random.geometric(KEY, p)


def test_choices_that_are_refused() -> None:
    with pytest.raises(
        ArgumentError, match=r"more are drawn than there are: expected at most 3, go"
    ):
        random.choice(KEY, 3, (2, 2), replace=False)
    with pytest.raises(
        ArgumentError, match=r"more are drawn than there are: expected at most 0, go"
    ):
        random.choice(KEY, 0, (1,))
    for p in ([0.5, 0.2], [1.5, -0.5]):
        with pytest.raises(
            ArgumentError, match=r"p are no probabilities: expected 0 or more, of sum"
        ):
            random.choice(KEY, 2, (1,), p=p)
    with pytest.raises(
        ShapeError, match=r"random.choice: sizes of p and the axis differ: expected 2"
    ):
        random.choice(KEY, 3, (1,), p=[0.5, 0.5])
    with pytest.raises(ShapeError, match=r"random.choice: p has another number of axes"):
        random.choice(KEY, 3, (1,), p=np.ones((3, 1)))
    with pytest.raises(DTypeError, match=r"random.choice: element type of p: expected real"):
        random.choice(KEY, 3, (1,), p=np.ones(3, complex))


def test_other_arguments_that_are_refused() -> None:
    for n in (2.5, True, np.array(1.5)):
        with pytest.raises(ShapeError, match=r"a number without axes is no count"):
            random.permutation(KEY, n)
    with pytest.raises(ShapeError, match=r"random.permutation: axis out of range"):
        random.permutation(KEY, np.zeros(3), 1)
    with pytest.raises(
        ShapeError, match=r"random.categorical: logits broadcast to more than shape"
    ):
        random.categorical(KEY, np.zeros((2, 3)), shape=())
    with pytest.raises(
        DTypeError, match=r"random.categorical: element type of logits: expected rea"
    ):
        random.categorical(KEY, np.zeros(2, complex))
    with pytest.raises(ArgumentError, match=r"random.bits: no unsigned integers"):
        random.bits(KEY, dtype="int8")
    for name, parameters in (("rademacher", ()), ("poisson", (1.0,))):
        with pytest.raises(DTypeError, match=r"expected signed integers or floating, got uint8"):
            getattr(random, name)(KEY, *parameters, dtype="uint8")
    with pytest.raises(
        ShapeError, match=r"random.poisson: the parameters broadcast to more than sh"
    ):
        random.poisson(KEY, np.ones((3, 2)), (2,))
