"""Random numbers: what they are a function of, how they are spread, and that modes agree."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import symgrad as sg
from symgrad.errors import ArgumentError, DTypeError, ShapeError
from symgrad.ops.draws import random_bits, split_key, standard_normal, standard_uniform
from tests.ops.finite_differences import check_derivatives

random = sg.random
KEY = random.key(20)
MANY = 200_000


def chance(statistic: float) -> float:
    """The probability that a standard normal number is further from zero than this."""
    return math.erfc(abs(statistic) / math.sqrt(2))


def evenness(counts: NDArray[Any], probabilities: Any) -> float:
    """Pearson's statistic for counts, as about a standard normal number (Wilson and Hilferty)."""
    expected = counts.sum() * np.broadcast_to(probabilities, counts.shape)
    free = counts.size - 1
    ratio = float(((counts - expected) ** 2 / expected).sum()) / free
    return (ratio ** (1 / 3) - (1 - 2 / (9 * free))) / math.sqrt(2 / (9 * free))


def correlation(a: NDArray[Any], b: NDArray[Any]) -> float:
    """The correlation of two streams, scaled to a standard normal number."""
    return float(np.corrcoef(a.ravel(), b.ravel())[0, 1]) * math.sqrt(a.size)


STREAM: dict[str, Any] = {
    "key": [5512269402585950393, 15885006099936863467],
    "fold_in": [3077222143093653340, 12348925830390052336],
    "split": [
        [3128349012662001097, 14484620185035851518],
        [9829455913857360077, 8277416485717752574],
    ],
    "bits": [792885717459847569, 9238718304134548787],
    "uniform": [0.04298242087013471, 0.5008319228162136, 0.24561171430128736],
    "randint": [69, 87, 69, 74, 65],
    "normal": [0.0691640829917232, -0.8544162113862009, 2.5078166713946946],
}
"""What seed 0 gives. May never change: saved keys must give the same numbers in every version."""


# --- keys ---------------------------------------------------------------------------------------


def test_the_stream_is_fixed() -> None:
    assert random.key(0).numpy().tolist() == STREAM["key"]
    assert random.fold_in(random.key(0), 7).numpy().tolist() == STREAM["fold_in"]
    assert random.split(random.key(0)).numpy().tolist() == STREAM["split"]
    assert random_bits(random.key(0), shape=(2,)).numpy().tolist() == STREAM["bits"]
    assert random.uniform(random.key(0), (3,)).numpy().tolist() == STREAM["uniform"]
    assert random.randint(random.key(0), (5,), 0, 100).numpy().tolist() == STREAM["randint"]
    # Logarithm, sine and cosine may differ in the last bits from machine to machine.
    np.testing.assert_allclose(random.normal(random.key(0), (3,)), STREAM["normal"], rtol=1e-14)


def test_words_are_those_of_the_published_cipher() -> None:
    # The authors' first vector, for the counter 0; numpy counts on before it encrypts.
    source = np.random.Philox(key=0, counter=2**256 - 1)
    vector = [0x16554D9ECA36314C, 0xDB20FE9D672D0FDC, 0xD7E772CEE186176B, 0x7E68B68AEC7BA23B]
    assert source.random_raw(4).tolist() == vector
    pair = random.key(3).numpy()
    source = np.random.Philox(key=pair, counter=[0, 0, 0, 0])
    assert np.array_equal(random_bits(pair, shape=(10,)).numpy(), source.random_raw(10))


def test_equal_seeds_give_equal_keys_and_others_do_not() -> None:
    keys = [random.key(seed).numpy() for seed in (0, 1, 2, -1, 2**62, np.uint64(2**64 - 2))]
    assert np.array_equal(random.key(1).numpy(), keys[1])
    assert len({key.tobytes() for key in keys}) == len(keys)
    assert np.array_equal(random.key(-1).numpy(), random.key(np.uint64(2**64 - 1)).numpy())


def test_keys_of_near_seeds_and_folds_share_no_bits() -> None:
    """A changed bit in seed or data changes half of the key's bits."""
    seeds = [random.key(seed).numpy() for seed in range(500)]
    folds = [random.fold_in(KEY, data).numpy() for data in range(500)]
    splits = list(split_key(KEY, count=500).numpy())
    for keys in (seeds, folds, splits):
        bits = np.unpackbits(np.array(keys).view(np.uint8), axis=1).astype(int)
        changed = (bits[1:] != bits[:-1]).sum(axis=1)
        assert abs(changed.mean() - 64) < 1.5
        assert abs(bits.mean() - 0.5) < 0.01
    assert len({key.tobytes() for key in (*seeds, *folds, *splits)}) == 1500


def test_streams_of_related_keys_are_unrelated() -> None:
    first, second = random.split(KEY)
    keys = [
        KEY,
        first,
        second,
        random.fold_in(KEY, 0),
        random.fold_in(KEY, 1),
        random.split(first)[0],
    ]
    streams = [random.normal(key, (20_000,)).numpy() for key in keys]
    for k, a in enumerate(streams):
        for b in streams[:k]:
            assert chance(correlation(a, b)) > 1e-5
            # Nor is one a shifted copy of the other.
            assert not np.isin(a[:100], b).any()


def test_split_gives_as_many_keys_as_asked_for() -> None:
    keys = random.split(KEY, 5)
    assert (keys.shape, keys.dtype) == ((5, 2), np.uint64)
    assert np.array_equal(random.split(KEY, 3).numpy(), keys.numpy()[:3])
    a, b = random.split(KEY)
    assert not np.array_equal(a.numpy(), b.numpy())


def test_a_key_may_have_any_layout() -> None:
    pair = np.array(KEY.numpy())
    apart = np.zeros(4, np.uint64)
    apart[::2] = pair
    swapped = pair.astype(pair.dtype.newbyteorder())
    for key in (apart[::2], pair[::-1].copy()[::-1], swapped.astype(np.uint64)):
        assert np.array_equal(random.uniform(key, (3,)), random.uniform(KEY, (3,)))


# --- uniform ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_uniform_is_even(dtype: str) -> None:
    u = random.uniform(KEY, (MANY,), dtype=dtype).numpy()
    assert u.dtype == dtype
    assert u.min() >= 0
    assert u.max() < 1
    digits = np.finfo(dtype).nmant + 1
    steps = u.astype(np.float64) * 2.0**digits
    assert np.array_equal(steps, np.floor(steps))
    # In bins that hold whole steps, so that half precision is judged fairly.
    counts, _ = np.histogram(u.astype(np.float64), 256, (0, 1))
    assert chance(evenness(counts, 1 / 256)) > 1e-4
    last = (steps % 2).mean()
    assert chance((last - 0.5) * 2 * math.sqrt(MANY)) > 1e-4


def test_uniform_between_two_numbers() -> None:
    u = random.uniform(KEY, (1000,)).numpy()
    assert np.array_equal(random.uniform(KEY, (1000,), low=2.0, high=5.0), 2.0 + u * 3.0)
    assert np.array_equal(random.uniform(KEY, (1000,), high=2.0), u * 2.0)
    assert np.array_equal(random.uniform(KEY, (1000,), low=0, high=1), u)


def test_successive_uniform_numbers_are_unrelated() -> None:
    u = random.uniform(KEY, (MANY,)).numpy()
    for lag in (1, 2, 3, 4, 5, MANY // 2):
        assert chance(correlation(u[:-lag], u[lag:])) > 1e-4
    pairs, _, _ = np.histogram2d(u[::2], u[1::2], 16, ((0, 1), (0, 1)))
    assert chance(evenness(pairs, 1 / 256)) > 1e-4


# --- normal -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_normal_has_the_normal_distribution(dtype: str) -> None:
    z = random.normal(KEY, (MANY,), dtype=dtype).numpy()
    assert z.dtype == dtype
    z = z.astype(np.float64)
    assert np.isfinite(z).all()
    for power, mean, variance in [(1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)]:
        moment = (z**power).mean()
        assert chance((moment - mean) / math.sqrt(variance / MANY)) > 1e-4
    edges = np.linspace(-3, 3, 41)
    below = np.array([0, *(0.5 * math.erfc(-edge / math.sqrt(2)) for edge in edges), 1])
    counts, _ = np.histogram(z, [-np.inf, *edges, np.inf])
    assert chance(evenness(counts, np.diff(below))) > 1e-4


def test_the_two_halves_of_normal_numbers_are_unrelated() -> None:
    """One radius makes two numbers: neither they nor their squares are related."""
    z = random.normal(KEY, (MANY,)).numpy()
    a, b = z[: MANY // 2], z[MANY // 2 :]
    assert chance(correlation(a, b)) > 1e-4
    assert chance(correlation(a * a, b * b)) > 1e-4


@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_odd_and_even_counts(count: int) -> None:
    z = random.normal(KEY, (count,)).numpy()
    assert z.shape == (count,)
    assert len(set(z.tolist())) == count


def test_normal_with_mean_and_standard_deviation() -> None:
    z = random.normal(KEY, (10,)).numpy()
    assert np.array_equal(random.normal(KEY, (10,), mean=3.0, std=0.5), 3.0 + z * 0.5)
    mean = np.arange(10.0, dtype=np.float32)
    z = random.normal(KEY, (10,), dtype=np.float32).numpy()
    shifted = random.normal(KEY, (10,), mean=mean)
    assert shifted.dtype == np.float32
    assert np.array_equal(shifted, mean + z)
    assert random.normal(KEY, (10,), mean=mean, dtype=np.float64).dtype == np.float64


def test_parameters_have_derivatives() -> None:
    def draws(low: Any, high: Any, mean: Any, std: Any) -> Any:
        u = random.uniform(KEY, (4,), low=low, high=high)
        return u * u + sg.sin(random.normal(KEY, (4,), mean=mean, std=std))

    check_derivatives(draws, 0.5, 2.0, np.array([0.1, 0.2, 0.3, 0.4]), 1.5)


# --- booleans and integers ------------------------------------------------------------------------


@pytest.mark.parametrize("p", [0.001, 0.3, 0.5, 0.99])
@pytest.mark.parametrize("dtype", [None, "float16", "float32"])
def test_bernoulli_is_true_as_often_as_asked_for(p: float, dtype: str | None) -> None:
    given = p if dtype is None else np.array(p, dtype)
    draws = random.bernoulli(KEY, given, (MANY,)).numpy()
    assert draws.dtype == bool
    exact = float(given)
    assert chance((draws.mean() - exact) / math.sqrt(exact * (1 - exact) / MANY)) > 1e-4


def test_bernoulli_at_the_ends_and_per_element() -> None:
    assert not random.bernoulli(KEY, 0.0, (1000,)).numpy().any()
    assert random.bernoulli(KEY, 1.0, (1000,)).numpy().all()
    draws = random.bernoulli(KEY, np.array([0.0, 1.0, 0.0])).numpy()
    assert draws.tolist() == [False, True, False]
    assert random.bernoulli(KEY).shape == ()


def test_randint_is_even() -> None:
    draws = random.randint(KEY, (MANY,), -3, 4).numpy()
    values, counts = np.unique(draws, return_counts=True)
    assert values.tolist() == list(range(-3, 4))
    assert chance(evenness(counts, 1 / 7)) > 1e-4


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint64", "int64"])
def test_randint_of_every_type(dtype: str) -> None:
    info = np.iinfo(dtype)
    draws = random.randint(KEY, (1000,), 0, 100, dtype=dtype)
    assert draws.dtype == dtype
    assert np.array_equal(draws, random.randint(KEY, (1000,), 0, 100).numpy())
    if info.bits < 64:
        draws = random.randint(KEY, (5000,), int(info.min), int(info.max) + 1, dtype=dtype).numpy()
        assert len(np.unique(draws)) > 250
    low, high = np.array(info.min, dtype), np.array(info.max, dtype)
    draws = random.randint(KEY, (1000,), low, high, dtype=dtype).numpy()
    assert draws.max() < info.max
    assert draws.astype(float).std() > 0.2 * (float(info.max) - float(info.min))


def test_randint_between_arrays() -> None:
    low = np.array([0, 10, 20])
    draws = random.randint(KEY, (1000, 3), low, low + np.array([1, 2, 0])).numpy()
    assert set(draws[:, 0].tolist()) == {0}
    assert set(draws[:, 1].tolist()) == {10, 11}
    assert set(draws[:, 2].tolist()) == {20}


def test_permutations_are_even() -> None:
    counts = np.zeros((4, 4), int)
    for k in range(2000):
        order = random.permutation(random.fold_in(KEY, k), 4).numpy()
        assert sorted(order.tolist()) == [0, 1, 2, 3]
        counts[np.arange(4), order] += 1
    assert chance(evenness(counts, 1 / 16)) > 1e-4
    assert sorted(random.permutation(KEY, 1000).numpy().tolist()) == list(range(1000))


# --- graphs ---------------------------------------------------------------------------------------

DRAWS: dict[str, Callable[[Any, Any], Any]] = {
    "uniform": lambda key, n: random.uniform(key, (n, 3), low=-1.0),
    "normal": lambda key, n: random.normal(key, (n, 3), dtype=sg.float32, std=2.0),
    "bernoulli": lambda key, n: random.bernoulli(key, 0.3, (n, 3)),
    "randint": lambda key, n: random.randint(key, (n, 3), 0, 1000),
    "permutation": random.permutation,
    "split": random.split,
    "fold_in": lambda key, n: random.fold_in(key, 5),
}


@pytest.mark.parametrize("name", DRAWS)
def test_all_modes_draw_the_same(name: str) -> None:
    draw = DRAWS[name]
    eager = draw(KEY, 4).numpy()
    key, x = sg.placeholder("key", (2,), sg.uint64), sg.placeholder("x", ("n",))
    concrete, named = draw(key, 4), draw(key, x.shape[0])
    interpreted = sg.evaluate(concrete, {key: KEY.numpy()})
    run = sg.function([key, x], [concrete, named, sg.sum(x)])
    compiled = run(KEY.numpy(), np.zeros(4))
    scope: dict[str, Any] = {}
    exec(run.source, scope)
    alone = scope["call"](KEY.numpy(), np.zeros(4))
    for values in (interpreted, compiled[0], compiled[1], alone[0], alone[1]):
        assert values.dtype == eager.dtype
        assert np.array_equal(values, eager)


def test_equal_draws_are_one_symbol_and_others_are_not() -> None:
    key = sg.placeholder("key", (2,), sg.uint64)
    assert random.normal(key, (3,)) is random.normal(key, [3])
    assert random.normal(key, 3) is random.normal(key, (3,), dtype=sg.float64)
    assert random.normal(key, (3,)) is not random.normal(key, (4,))
    assert random.normal(key, (3,)) is not random.normal(random.fold_in(key, 1), (3,))


def test_seeds_and_data_may_be_symbols() -> None:
    seed, step = sg.placeholder("seed", (), sg.int64), sg.placeholder("step", (), sg.int32)
    run = sg.function([seed, step], random.fold_in(random.key(seed), step))
    want = random.fold_in(random.key(5), 9).numpy()
    assert np.array_equal(run(np.int64(5), np.int32(9)), want)


def test_a_compiled_step_advances_its_key() -> None:
    key = sg.variable(random.key(1), name="key")
    following, now = random.split(key)
    run = sg.function([], random.normal(now, (1000,)), updates={key: following})
    draws = [run() for _ in range(3)]
    assert chance(correlation(draws[0], draws[1])) > 1e-5
    key.value = random.key(1).numpy()
    assert np.array_equal(run(), draws[0])


def test_a_key_has_no_derivative_but_does_not_stop_one() -> None:
    key, x = sg.placeholder("key", (2,), sg.uint64), sg.placeholder("x", (3,))
    noise = random.normal(key, (3,))
    (dx,) = sg.grad(sg.sum(x * noise), x)
    found = sg.evaluate(dx, {key: KEY.numpy(), x: np.ones(3)})
    assert np.array_equal(found, random.normal(KEY, (3,)).numpy())
    with pytest.raises(DTypeError):
        sg.grad(sg.sum(x * noise), key)


def test_the_default_float_type_counts() -> None:
    assert random.uniform(KEY, ()).dtype == sg.float64
    sg.set_default_dtype(sg.float32)
    try:
        assert random.uniform(KEY, ()).dtype == sg.float32
        assert standard_normal(KEY, shape=()).dtype == sg.float32
        assert random.bernoulli(KEY, 0.5, ()).dtype == sg.bool
    finally:
        sg.set_default_dtype(sg.float64)


# --- the generator --------------------------------------------------------------------------------


def test_a_generator_draws_with_a_new_key_each_time() -> None:
    rng, again = random.Generator(7), random.Generator(7)
    draws = [rng.normal((4000,)).numpy() for _ in range(3)]
    assert chance(correlation(draws[0], draws[1])) > 1e-5
    for draw in draws:
        assert np.array_equal(again.normal((4000,)), draw)
    assert not np.array_equal(random.Generator(8).normal((4000,)), draws[0])
    assert np.array_equal(random.Generator(random.key(7)).normal((4000,)), draws[0])


def test_a_generator_of_a_symbol_draws_symbols() -> None:
    rng = random.Generator(sg.variable(random.key(7), name="key"))
    draws = [
        rng.normal((3,)),
        rng.uniform((3,), high=2.0),
        rng.bernoulli(0.5, (3,)),
        rng.randint((3,), 0, 10),
        rng.permutation(3),
    ]
    run = sg.function([], draws, updates={rng.key: rng.next_key()})
    wanted = random.Generator(7)
    values = run()
    assert np.array_equal(values[0], wanted.normal((3,)))
    assert np.array_equal(values[1], wanted.uniform((3,), high=2.0))
    assert np.array_equal(values[2], wanted.bernoulli(0.5, (3,)))
    assert np.array_equal(values[3], wanted.randint((3,), 0, 10))
    assert np.array_equal(values[4], wanted.permutation(3))
    assert not np.array_equal(run()[0], values[0])


# --- errors ---------------------------------------------------------------------------------------


def test_errors_of_keys() -> None:
    with pytest.raises(
        DTypeError, match=r"the key: expected uint64, got .*hint: sg.random.key\(se"
    ):
        random.uniform(np.zeros(2), (3,))
    with pytest.raises(ShapeError, match=r"a key has two words: expected \(2,\), got \(2, 2\)"):
        random.normal(random.split(KEY), (3,))
    with pytest.raises(DTypeError, match=r"random.key: element type of seed: expected integer"):
        random.key(1.5)
    with pytest.raises(ShapeError, match=r"random.fold_in: data must be one integer"):
        random.fold_in(KEY, np.array([1, 2]))
    for n in (0, -1, 2.0, True):
        with pytest.raises(ArgumentError, match=r"random.split: n is no count: expected an int"):
            random.split(KEY, n)  # type: ignore[arg-type]


def test_errors_of_shapes() -> None:
    with pytest.raises(ShapeError, match=r"random.normal: a size is negative: .*got -1"):
        random.normal(KEY, (2, -1))
    with pytest.raises(ShapeError, match=r"random.uniform: not a shape: expected ints and dim"):
        random.uniform(KEY, ("n",))
    with pytest.raises(ShapeError):
        random.uniform(KEY, (2,), low=np.zeros(3))
    with pytest.raises(ShapeError):
        random.bernoulli(KEY, np.full(3, 0.5), (2,))
    with pytest.raises(ShapeError, match=r"random.randint: low and high broadcast to more than"):
        random.randint(KEY, (2,), np.zeros((3, 2), int), 5)


def test_errors_of_parameters() -> None:
    with pytest.raises(DTypeError, match=r"random: element type of the result: expected floating"):
        random.normal(KEY, (2,), dtype=sg.complex64)
    with pytest.raises(DTypeError, match=r"random: element type of the result: expected floating"):
        random.uniform(KEY, (2,), dtype=sg.int32)
    for p in (-0.1, 1.5, math.nan):
        with pytest.raises(ArgumentError, match=r"random.bernoulli: p is no probability"):
            random.bernoulli(KEY, p, (2,))
    with pytest.raises(ArgumentError, match=r"random.randint: high is not above low: .*4, got 4"):
        random.randint(KEY, (2,), 4, 4)
    with pytest.raises(ArgumentError, match=r"random.randint: the integers do not fit int8: got 0"):
        random.randint(KEY, (2,), 0, 129, dtype=sg.int8)
    with pytest.raises(DTypeError, match=r"random.randint: element type of low: expected integer"):
        random.randint(KEY, (2,), 0.5, 4)


def test_draws_do_not_change_the_key() -> None:
    pair = np.array(KEY.numpy())
    standard_uniform(pair, shape=(3,))
    assert np.array_equal(pair, KEY.numpy())
