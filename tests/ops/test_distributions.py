"""Draws of continuous distributions: their spread, ends, derivatives, and what they refuse."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.stats as st

import symgrad as sg
from symgrad.errors import ArgumentError, DTypeError, ShapeError
from symgrad.ops.draws import strictly_between
from symgrad.ops.gamma_draws import standard_gamma
from symgrad.ops.truncated import truncated_values
from tests.ops.finite_differences import check_derivatives

random = sg.random
KEY = random.key(2024)
MANY = 40_000
inf, nan = math.inf, math.nan

STREAM: list[tuple[str, tuple[Any, ...], list[float]]] = [
    ("exponential", (), [3.1469640638506275, 0.6914847175851889, 1.40400338718012]),
    ("gumbel", (), [-1.1464381988402759, 0.3689142285044929, -0.3393277181221623]),
    ("cauchy", (), [-7.36051712419624, 0.002613568558615561, -1.0279596409529197]),
    ("truncated_normal", (-1.0, 2.0), [-0.863830765796, 0.172896398067, -0.359229565269]),
    ("gamma", (0.5,), [0.002808065220416779, 0.4821609257501603, 0.08265939824979834]),
    ("loggamma", (3.0,), [1.1583775164961472, 1.3202450276672741, 1.088167616140493]),
    ("beta", (2.0, 3.0), [0.6120308648621485, 0.25059995481908226, 0.5744820909637977]),
    ("student_t", (3.0,), [0.05742014221632287, 0.2629688589697111, 2.508684379534765]),
]
"""What seed 0 gives. May never change: saved keys must give the same numbers in every version."""


@pytest.mark.parametrize(("name", "parameters", "numbers"), STREAM)
def test_the_stream_is_fixed(name: str, parameters: tuple[Any, ...], numbers: list[float]) -> None:
    found = getattr(random, name)(random.key(0), *parameters, (3,))
    # Logarithms and powers may differ in the last bits from machine to machine.
    np.testing.assert_allclose(found, numbers, rtol=1e-11)


# --- spread ---------------------------------------------------------------------------------------

SPREAD: list[tuple[str, Callable[..., Any], Any]] = [
    ("exponential", lambda k, **o: random.exponential(k, scale=2.0, **o), st.expon(scale=2)),
    ("laplace", lambda k, **o: random.laplace(k, loc=1.0, scale=2.0, **o), st.laplace(1, 2)),
    ("logistic", lambda k, **o: random.logistic(k, loc=1.0, scale=2.0, **o), st.logistic(1, 2)),
    ("gumbel", lambda k, **o: random.gumbel(k, loc=1.0, scale=2.0, **o), st.gumbel_r(1, 2)),
    ("cauchy", lambda k, **o: random.cauchy(k, loc=1.0, scale=2.0, **o), st.cauchy(1, 2)),
    ("rayleigh", lambda k, **o: random.rayleigh(k, scale=2.0, **o), st.rayleigh(scale=2)),
    ("maxwell", lambda k, **o: random.maxwell(k, scale=2.0, **o), st.maxwell(scale=2)),
    (
        "lognormal",
        lambda k, **o: random.lognormal(k, mean=0.5, sigma=0.3, **o),
        st.lognorm(0.3, scale=math.exp(0.5)),
    ),
    (
        "weibull",
        lambda k, **o: random.weibull(k, 1.5, scale=2.0, **o),
        st.weibull_min(1.5, scale=2),
    ),
    ("pareto", lambda k, **o: random.pareto(k, 2.5, scale=2.0, **o), st.pareto(2.5, scale=2)),
    *(
        (f"gamma {a}", lambda k, a=a, **o: random.gamma(k, a, scale=2.0, **o), st.gamma(a, scale=2))
        for a in (0.03, 0.5, 1.0, 1.7, 30.0, 1e6)
    ),
    *(
        (f"loggamma {a}", lambda k, a=a, **o: random.loggamma(k, a, **o), st.loggamma(a))
        for a in (0.03, 1.7)
    ),
    ("beta", lambda k, **o: random.beta(k, 0.4, 2.5, **o), st.beta(0.4, 2.5)),
    ("chisquare", lambda k, **o: random.chisquare(k, 3.0, **o), st.chi2(3)),
    (
        "student_t",
        lambda k, **o: random.student_t(k, 2.5, loc=1.0, scale=2.0, **o),
        st.t(2.5, 1, 2),
    ),
    *(
        (
            f"truncated {a} {b}",
            lambda k, a=a, b=b, **o: random.truncated_normal(k, a, b, **o),
            st.truncnorm(a, b),
        )
        for a, b in ((-1.0, 2.0), (-inf, 0.5), (3.0, inf), (8.0, 8.5), (-inf, inf), (-6.0, -5.0))
    ),
]
NARROW = ("gamma 0.03",)
"""Too small for single precision: one number in twenty underflows."""


@pytest.mark.parametrize(("name", "draw", "law"), SPREAD, ids=[row[0] for row in SPREAD])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_spread(name: str, draw: Callable[..., Any], law: Any, dtype: str) -> None:
    x = draw(KEY, shape=(MANY,), dtype=dtype)
    assert x.dtype == dtype
    if dtype == "float32" and name in NARROW:
        return
    assert st.kstest(x.numpy().astype(np.float64), law.cdf).pvalue > 1e-3


@pytest.mark.parametrize(("name", "draw", "law"), SPREAD, ids=[row[0] for row in SPREAD])
def test_another_key_gives_unrelated_draws(name: str, draw: Callable[..., Any], law: Any) -> None:
    keys = random.split(KEY, 2)
    a, b = (law.cdf(draw(key, shape=(MANY,)).numpy()) for key in keys)
    assert abs(np.corrcoef(a, b)[0, 1]) * math.sqrt(MANY) < 4
    assert abs(np.corrcoef(a[1:], a[:-1])[0, 1]) * math.sqrt(MANY) < 4


def test_tails_of_the_truncated_normal_distribution() -> None:
    """Far out, the distance to the bound is exponential, of mean 1/bound."""
    x = random.truncated_normal(KEY, 300.0, inf, (MANY,)).numpy()
    assert st.kstest((x - 300) * 300, st.expon.cdf).pvalue > 1e-3
    mirrored = random.truncated_normal(KEY, -inf, -300.0, (MANY,)).numpy()
    assert st.kstest((-300 - mirrored) * 300, st.expon.cdf).pvalue > 1e-3


def test_truncated_draws_are_quantiles() -> None:
    u = np.array([0.1, 0.5, 0.9])
    for a, b in ((-1.0, 2.0), (0.5, 3.0), (-8.0, 8.0)):
        found = truncated_values(u, np.full(3, a), np.full(3, b))
        np.testing.assert_allclose(found, st.truncnorm(a, b).ppf(u), rtol=1e-12)


# --- ends -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_draws_are_finite_and_on_their_side(dtype: str) -> None:
    for name in ("gumbel", "logistic", "laplace", "exponential", "rayleigh", "maxwell"):
        x = getattr(random, name)(KEY, (MANY,), dtype=dtype).numpy()
        assert np.isfinite(x).all()
        assert name in ("gumbel", "logistic", "laplace") or (x >= 0).all()
    x = random.truncated_normal(KEY, -0.3, 0.4, (MANY,), dtype=dtype).numpy()
    low, high = np.asarray([-0.3, 0.4], dtype)
    assert (x >= low).all()
    assert (x <= high).all()
    x = random.pareto(KEY, 3.0, (MANY,), dtype=dtype).numpy()
    assert (x >= 1).all()
    x = random.beta(KEY, 0.01, 0.02, (MANY,), dtype=dtype).numpy()
    assert ((x >= 0) & (x <= 1)).all()


def test_extreme_bits_give_finite_quantiles() -> None:
    """The least and the greatest even number go through every quantile function."""
    u = strictly_between(np.array([0, 2**64 - 1], np.uint64))
    assert u.tolist() == [2.0**-53, 1 - 2.0**-53]
    assert np.isfinite(np.log(-np.log(u))).all()
    assert np.isfinite(np.tan(np.pi * (u - 0.5))).all()


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_uniform_stays_below_its_upper_bound(dtype: str) -> None:
    eps = float(np.finfo(dtype).eps)
    high = 1 + 2 * eps
    for low, top in ((1.0, high), (np.array(1.0, dtype), np.array(high, dtype))):
        x = random.uniform(KEY, (MANY,), low=low, high=top, dtype=dtype).numpy()
        assert sorted({*x.tolist()}) == [1.0, 1 + eps]
    assert random.uniform(KEY, low=np.array([2.0]), high=np.array([2.0])).numpy().tolist() == [2.0]
    x = random.uniform(KEY, (9,), low=np.array(3.0), high=np.array(-1.0)).numpy()
    assert ((x > -1) & (x <= 3)).all()


def test_small_shapes_of_gamma() -> None:
    """With shape 1e-4, half of all numbers are below 1e-3000."""
    logs = random.loggamma(KEY, 1e-4, (MANY,)).numpy()
    assert np.isfinite(logs).all()
    assert abs((logs < math.log(0.5) / 1e-4).mean() - 0.5) < 0.02
    x = random.gamma(KEY, 1e-4, (MANY,)).numpy()
    np.testing.assert_allclose(x, np.exp(logs), rtol=1e-11, atol=1e-310)
    shares = random.dirichlet(KEY, np.full(3, 1e-4), (1000,)).numpy()
    np.testing.assert_allclose(shares.sum(axis=-1), 1)
    assert (shares.max(axis=-1) > 0.999).mean() > 0.99
    assert np.isfinite(random.beta(KEY, 1e-4, 1e-4, (1000,)).numpy()).all()


def test_parameters_out_of_range_give_nan() -> None:
    bad = np.array([-1.0, nan, 2.0])
    for name in ("gamma", "loggamma", "chisquare", "student_t"):
        found = getattr(random, name)(KEY, bad).numpy()
        assert np.isnan(found).tolist() == [True, True, False]
    assert np.isnan(random.beta(KEY, bad, 1.0).numpy()).tolist() == [True, True, False]
    assert np.isnan(random.beta(KEY, 1.0, bad).numpy()).tolist() == [True, True, False]
    assert np.isnan(random.dirichlet(KEY, bad).numpy()).all()
    low = np.array([1.0, nan, 0.0, 2.0])
    found = random.truncated_normal(KEY, low, np.array([0.0, 1.0, 1.0, 2.0])).numpy()
    assert np.isnan(found).tolist() == [True, True, False, False]
    assert found[3] == 2
    ends = random.gamma(KEY, np.array([0.0, inf])).numpy()
    assert ends.tolist() == [0.0, inf]
    assert random.loggamma(KEY, np.array([0.0, inf])).numpy().tolist() == [-inf, inf]


# --- one element and the others -------------------------------------------------------------------


def test_an_element_does_not_depend_on_what_others_reject() -> None:
    a = np.full(1000, 0.7)
    x = random.gamma(KEY, a).numpy()
    other = np.where(np.arange(1000) % 3 == 0, a, 55.0)
    y = random.gamma(KEY, other).numpy()
    assert np.array_equal(x[::3], y[::3])
    rates = np.where(np.arange(1000) % 3 == 0, 20.0, 3.0)
    assert np.array_equal(
        random.poisson(KEY, rates).numpy()[::3], random.poisson(KEY, 20.0, (1000,)).numpy()[::3]
    )


def test_long_arrays_are_drawn_in_pieces_that_fit() -> None:
    x = random.gamma(KEY, 0.7, (40_000,)).numpy()
    assert np.array_equal(x[:100], random.gamma(KEY, 0.7, (100,)).numpy())
    assert len(np.unique(x)) == 40_000


def test_parameters_broadcast_to_the_shape() -> None:
    a, scale = np.array([[0.5], [2.0]]), np.array([1.0, 10.0, 100.0])
    x = random.gamma(KEY, a, scale=scale)
    assert x.shape == (2, 3)
    assert np.array_equal(x, random.gamma(KEY, a, (2, 3)) * scale)
    assert random.normal(KEY, mean=np.zeros((2, 1)), std=scale).shape == (2, 3)
    assert random.uniform(KEY, low=[0.0, 1.0]).shape == (2,)
    assert random.gamma(KEY, [1, 2]).dtype == np.float64
    assert random.gamma(KEY, np.float32(2.0)).dtype == np.float32
    assert random.gamma(KEY, a.astype(np.float32), dtype="float64").dtype == np.float64
    n, m = sg.placeholder("a", ("n", 1)), sg.placeholder("s", ("m",))
    assert random.gamma(KEY, n, scale=m).shape == (n.shape[0], m.shape[0])


# --- derivatives ----------------------------------------------------------------------------------


def moved_quantile(a: float, x: float, h: Any) -> Any:
    """The number that has the share below it for the shape ``a + h`` that ``x`` has for ``a``."""
    share = mpmath.gammainc(a, 0, x, regularized=True)
    return mpmath.findroot(
        lambda z: mpmath.gammainc(mpmath.mpf(a) + h, 0, z, regularized=True) / share - 1,
        (mpmath.mpf(x), mpmath.mpf(x) * (1 + h)),
        tol=1e-80,
    )


@pytest.mark.parametrize("a", [0.02, 0.4, 1.0, 3.5, 80.0])
def test_gamma_moves_as_the_quantile_that_it_is(a: float) -> None:
    shape = sg.placeholder("a", (4,))
    x = standard_gamma(KEY.numpy(), shape, shape=(4,), dtype="float64", is_log=False)
    (first,) = sg.grad(sg.sum(x), shape)
    (second,) = sg.grad(sg.sum(first), shape)
    values, slopes, bends = sg.evaluate([x, first, second], {shape: np.full(4, a)})
    with mpmath.workdps(60):
        for value, slope, bend in zip(values, slopes, bends, strict=True):
            h = mpmath.mpf(10) ** -15
            up, down = moved_quantile(a, float(value), h), moved_quantile(a, float(value), -h)
            assert abs(slope / ((up - down) / (2 * h)) - 1) < 1e-10
            assert abs(bend / ((up - 2 * value + down) / h**2) - 1) < 1e-8


def test_log_and_number_move_together() -> None:
    a = sg.placeholder("a", (50,))
    x, log = random.gamma(KEY, a), random.loggamma(KEY, a)
    (dx,), (dlog,) = sg.grad(sg.sum(x), a), sg.grad(sg.sum(log), a)
    found = sg.evaluate([x, dx, dlog], {a: np.linspace(0.05, 20, 50)})
    np.testing.assert_allclose(found[1], found[0] * found[2], rtol=1e-11)


def test_draws_that_underflow_have_no_slope() -> None:
    a = sg.placeholder("a", (200,))
    x = random.gamma(KEY, a)
    (dx,) = sg.grad(sg.sum(x), a)
    value, slope = sg.evaluate([x, dx], {a: np.full(200, 1e-4)})
    assert (value == 0).sum() > 50
    assert np.isfinite(slope).all()
    assert np.array_equal(slope == 0, value == 0)


def mean_slope(draw: Callable[..., Any], statistic: Callable[[Any], Any], *point: float) -> Any:
    """Mean and standard error of the slopes of a statistic of draws, by each parameter."""
    xs = [sg.placeholder(f"x{k}", (MANY,)) for k in range(len(point))]
    slopes = sg.grad(sg.sum(statistic(draw(*xs))), xs)
    values = sg.evaluate(slopes, {x: np.full(MANY, p) for x, p in zip(xs, point, strict=True)})
    return [(v.mean(), v.std() / math.sqrt(MANY)) for v in values]


EXPECTED_SLOPES: list[tuple[str, Any, Any, tuple[float, ...], tuple[float, ...]]] = [
    ("mean of gamma", lambda a: random.gamma(KEY, a), lambda x: x, (0.6,), (1.0,)),
    ("square of gamma", lambda a: random.gamma(KEY, a), lambda x: x * x, (2.0,), (5.0,)),
    ("mean of beta", lambda a, b: random.beta(KEY, a, b), lambda x: x, (0.5, 1.5), (0.375, -0.125)),
    ("square of chisquare", lambda d: random.chisquare(KEY, d), lambda x: x * x, (3.0,), (8.0,)),
    # The mean square is d/(d-2).
    ("square of t", lambda d: random.student_t(KEY, d), lambda x: x * x, (9.0,), (-2 / 49,)),
    # The mean of log(x) of Dirichlet's first share with parameters (a, b) is psi(a) - psi(a+b).
    (
        "logarithm of a share",
        lambda a, b: random.dirichlet(KEY, sg.stack([a, b], axis=-1))[:, 0],
        sg.log,
        (1.0, 1.0),
        (1.0, -(math.pi**2 / 6 - 1)),
    ),
]


@pytest.mark.parametrize(
    ("name", "draw", "statistic", "point", "wanted"),
    EXPECTED_SLOPES,
    ids=[row[0] for row in EXPECTED_SLOPES],
)
def test_slopes_of_draws_average_to_slopes_of_expectations(
    name: str, draw: Any, statistic: Any, point: tuple[float, ...], wanted: tuple[float, ...]
) -> None:
    for (mean, error), exact in zip(mean_slope(draw, statistic, *point), wanted, strict=True):
        assert abs(mean - exact) < 4 * error
        assert error < 0.05 * max(abs(exact), 1)


def test_moved_and_scaled_draws_have_derivatives() -> None:
    def draws(loc: Any, scale: Any) -> Any:
        total = random.exponential(KEY, (4,), scale=scale)
        for name in ("laplace", "logistic", "gumbel", "cauchy"):
            total = total + sg.sin(getattr(random, name)(KEY, (4,), loc=loc, scale=scale))
        return total

    check_derivatives(draws, 0.5, np.array([1.0, 2.0, 0.5, 0.25]))


def test_bounds_have_derivatives() -> None:
    def draws(low: Any, high: Any) -> Any:
        return random.truncated_normal(KEY, low, high)

    check_derivatives(draws, np.array([-1.0, 2.0, 30.0]), np.array([0.5, 3.0, 31.0]))
    low, high = sg.placeholder("low"), sg.placeholder("high")
    (first,) = sg.grad(random.truncated_normal(KEY, low, high), low)
    (second,) = sg.grad(first, low)
    found = sg.evaluate([first, second], {low: np.array(-inf), high: np.array(1.0)})
    assert [float(v) for v in found] == [0.0, 0.0]


def test_vectors_have_derivatives_by_mean_and_covariance() -> None:
    def draws(mean: Any, factor: Any) -> Any:
        return random.multivariate_normal(KEY, mean, factor @ sg.matrix_transpose(factor), (3,))

    check_derivatives(draws, np.array([0.5, 1.0]), np.array([[1.0, 0.2], [0.3, 2.0]]))


# --- vectors --------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["cholesky", "eigh"])
def test_vectors_have_the_covariance(method: str) -> None:
    mean, cov = (
        np.array([1.0, -2.0, 0.0]),
        np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0, 0.5, 1]]),
    )
    x = random.multivariate_normal(KEY, mean, cov, (MANY,), method=method).numpy()
    assert abs(x.mean(axis=0) - mean).max() < 4 * math.sqrt(3 / MANY)
    assert abs(np.cov(x.T) - cov).max() < 0.1
    distance = np.einsum("ni,ij,nj->n", x - mean, np.linalg.inv(cov), x - mean)
    assert st.kstest(distance, st.chi2(3).cdf).pvalue > 1e-3


def test_a_singular_covariance() -> None:
    cov = np.array([[1.0, 1.0], [1.0, 1.0]])
    x = random.multivariate_normal(KEY, np.zeros(2), cov, (100,), method="eigh").numpy()
    np.testing.assert_allclose(x[:, 0], x[:, 1], atol=1e-7)
    assert x.std() > 0.5
    with pytest.raises(np.linalg.LinAlgError):
        random.multivariate_normal(KEY, np.zeros(2), -np.eye(2))


def test_shapes_of_vectors() -> None:
    cov = np.broadcast_to(np.eye(3), (4, 1, 3, 3))
    assert random.multivariate_normal(KEY, np.zeros((5, 3)), cov).shape == (4, 5, 3)
    assert random.multivariate_normal(KEY, np.zeros(3), np.eye(3), (0,)).shape == (0, 3)
    assert random.dirichlet(KEY, np.ones((5, 1, 3)), (2, 5, 4)).shape == (2, 5, 4, 3)
    assert random.orthogonal(KEY, 3, (2, 0)).shape == (2, 0, 3, 3)
    n = sg.placeholder("x", ("n",)).shape[0]
    assert random.ball(KEY, n, (2,)).shape == (2, n)


def test_orthogonal_matrices_prefer_no_direction() -> None:
    q = random.orthogonal(KEY, 3, (4000,)).numpy()
    np.testing.assert_allclose(q @ q.mT, np.broadcast_to(np.eye(3), q.shape), atol=1e-12)
    # Each entry is a coordinate of a vector spread evenly over the sphere: even in [-1, 1].
    for entry in q.reshape(-1, 9).T:
        assert st.kstest(entry, st.uniform(-1, 2).cdf).pvalue > 1e-3
    assert abs((np.linalg.det(q) > 0).mean() - 0.5) < 0.04


@pytest.mark.parametrize("d", [1, 2, 5])
def test_balls_are_filled_evenly(d: int) -> None:
    x = random.ball(KEY, d, (MANY,)).numpy()
    radius = np.linalg.norm(x, axis=-1)
    assert st.kstest(radius**d, st.uniform.cdf).pvalue > 1e-3
    assert st.kstest(x[:, 0] / radius, (x[:, -1] / radius)).pvalue > 1e-3


def test_shares_have_the_distribution_of_dirichlet() -> None:
    alpha = np.array([0.5, 1.0, 3.0])
    x = random.dirichlet(KEY, alpha, (MANY,)).numpy()
    for k in range(3):
        assert st.kstest(x[:, k], st.beta(alpha[k], 4.5 - alpha[k]).cdf).pvalue > 1e-3
    np.testing.assert_allclose(x.sum(axis=-1), 1, rtol=1e-14)


# --- errors ---------------------------------------------------------------------------------------


def test_numbers_out_of_range_are_refused() -> None:
    for name in ("gamma", "loggamma", "chisquare", "student_t", "weibull", "pareto"):
        for bad in (0.0, -1.0, nan):
            with pytest.raises(ArgumentError, match=rf"random.{name}: \w+ is out of range: expect"):
                getattr(random, name)(KEY, bad)
    for name in ("exponential", "laplace", "gumbel", "logistic", "cauchy", "rayleigh", "maxwell"):
        with pytest.raises(ArgumentError, match=rf"random.{name}: scale is out of range: .*got -1"):
            getattr(random, name)(KEY, (2,), scale=-1.0)
    with pytest.raises(ArgumentError, match=r"random.beta: b is out of range: expected a positive"):
        random.beta(KEY, 1.0, 0)
    with pytest.raises(ArgumentError, match=r"truncated_normal: lower is not below upper"):
        random.truncated_normal(KEY, 2.0, 1.0)
    with pytest.raises(ArgumentError, match=r"unknown method: expected 'cholesky' or 'eigh', got"):
        random.multivariate_normal(KEY, np.zeros(2), np.eye(2), method="svd")
    with pytest.raises(ArgumentError, match=r"random.ball: d is no count"):
        random.ball(KEY, 0)


def test_element_types_that_are_refused() -> None:
    for name, parameters in (
        ("gamma", (2.0,)),
        ("exponential", ()),
        ("truncated_normal", (0.0, 1.0)),
    ):
        for dtype in ("int32", "complex64", "bool"):
            with pytest.raises(
                DTypeError, match=r"random: element type of the result: expected fl"
            ):
                getattr(random, name)(KEY, *parameters, dtype=dtype)
    with pytest.raises(DTypeError, match=r"the key: expected uint64"):
        random.gamma(np.zeros(2), 1.0)


def test_shapes_that_do_not_fit() -> None:
    with pytest.raises(ShapeError, match=r"random.gamma: a broadcasts to more than shape"):
        random.gamma(KEY, np.ones((3, 2)), (2,))
    with pytest.raises(ShapeError, match=r"truncated_normal: the bounds broadcast to more than"):
        random.truncated_normal(KEY, np.zeros((3, 2)), 1.0, (2,))
    with pytest.raises(ShapeError):
        random.exponential(KEY, (2,), scale=np.ones(3))
    with pytest.raises(ShapeError, match=r"random.dirichlet: alpha has no axis of shares"):
        random.dirichlet(KEY, 1.0)
    with pytest.raises(ShapeError, match=r"multivariate_normal: sizes of cov's last axes differ"):
        random.multivariate_normal(KEY, np.zeros(2), np.ones((2, 3)))
    with pytest.raises(ShapeError, match=r"multivariate_normal: sizes of mean and cov differ"):
        random.multivariate_normal(KEY, np.zeros(3), np.eye(2))
    with pytest.raises(ShapeError, match=r"multivariate_normal: axes are missing"):
        random.multivariate_normal(KEY, 0.0, np.eye(2))
    with pytest.raises(ShapeError, match=r"mean and cov broadcast to more than shape"):
        random.multivariate_normal(KEY, np.zeros((4, 2)), np.eye(2), ())
