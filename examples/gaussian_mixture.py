"""The log-likelihood of a Gaussian mixture with a Wishart prior, and its gradient (ADBench's GMM).

The problem is one with which ADBench compares tools for automatic differentiation. Points x_i in d
dimensions come from K Gaussians. Component k has

    a weight                 softmax(alpha)_k
    a mean                   mu_k
    an inverse covariance    Q_k^T Q_k, where Q_k is lower triangular: exp(q_k) on the diagonal,
                             l_k below it, column by column

and the objective is, up to its last term, the logarithm of a posterior density:

    sum_i (logsumexp_k (alpha_k + sum(q_k) - |Q_k (x_i - mu_k)|^2 / 2)   how well the points fit
           - logsumexp(alpha) - d log(2 pi) / 2)
    + sum_k (gamma^2 (|exp(q_k)|^2 + |l_k|^2) / 2 - m sum(q_k))          the prior of the Q_k
    - K (p d (log(gamma) - log(2) / 2) - log Gamma_d(p / 2))             with p = d + m + 1

Sources: F. Srajer, Z. Kukelova, A. Fitzgibbon, A benchmark of selected algorithmic differentiation
tools on some problems in computer vision and machine learning (2018); the test instance and its
value are those of ADBench (github.com/microsoft/ADBench, MIT licence, data/gmm/test.txt).
"""

from __future__ import annotations

import math
from time import perf_counter

import numpy as np

import symgrad as sg

# --- the objective --------------------------------------------------------------------------------


def placed(d: int) -> np.ndarray:
    """Where the numbers below the diagonal go: [p, i, j] is 1 if the p-th is in row i, column j."""
    below = [(row, column) for column in range(d) for row in range(column + 1, d)]
    place = np.zeros((len(below), d, d))
    for p, (row, column) in enumerate(below):
        place[p, row, column] = 1
    return place


def log_multigamma(a: float, d: int) -> float:
    """The logarithm of the d-dimensional gamma function."""
    terms = [math.lgamma(a - j / 2) for j in range(d)]
    return d * (d - 1) / 4 * math.log(math.pi) + math.fsum(terms)


def objective(parameters: list[sg.Symbol], x: sg.Symbol, gamma: float, m: int) -> sg.Symbol:
    """The formula above; the number of points may be a name."""
    alpha, mu, q, low = parameters
    k, d = mu.shape
    root = sg.exp(q)[:, :, None] * np.eye(d) + sg.einsum("kp,pij->kij", low, placed(d))
    spread = x[:, None, :] - mu  # (n, K, d)
    distance = sg.sum(sg.einsum("kij,nkj->nki", root, spread) ** 2, axis=2)
    fit = sg.logsumexp(alpha + sg.sum(q, axis=1) - 0.5 * distance, axis=1)
    fit = sg.sum(fit - sg.logsumexp(alpha) - 0.5 * d * math.log(2 * math.pi))
    prior = 0.5 * gamma**2 * (sg.sum(sg.exp(2 * q)) + sg.sum(low**2)) - m * sg.sum(q)
    p = d + m + 1
    norm = k * (p * d * math.log(gamma / math.sqrt(2)) - log_multigamma(p / 2, d))
    return fit + prior - norm


def compiled(d: int, k: int, gamma: float, m: int) -> sg.Function:
    """Objective and gradient, for any number of points."""
    parameters = [
        sg.placeholder("alpha", (k,)),
        sg.placeholder("mu", (k, d)),
        sg.placeholder("q", (k, d)),
        sg.placeholder("low", (k, d * (d - 1) // 2)),
    ]
    x = sg.placeholder("x", ("n", d))
    value, gradient = sg.value_and_grad(objective(parameters, x, gamma, m), parameters)
    return sg.function([*parameters, x], [value, *gradient])


# --- ADBench's test instance ----------------------------------------------------------------------
# d = 2, K = 3, one point. The expected gradient is in ADBench's order: alpha, mu, and for each
# component q and l, one after the other.

ALPHA = [-0.649014, 1.181166, -0.758453]
MU = [[0.092339, 0.186260], [0.345561, 0.396767], [0.538817, 0.419195]]
Q = [[0.586443, -0.851887], [-1.509405, 0.875874], [0.166813, -1.965419]]
LOW = [[0.800321], [-0.242790], [-1.270071]]
X = [[1.175171, 2.029160]]

EXPECTED = 8.07380408004975791
EXPECTED_GRADIENT = """
    1.08662855508652456e-01 -7.41270039523898472e-01 6.32607184015246071e-01
    1.11692576532787013e+00 1.63333013551455269e-01 -2.19989824071193142e-02
    2.27778292254236098e-01 1.20963025612832187e+00 -6.06375920733956339e-02
    2.58529994051162237e+00 1.12632694524213789e-01 3.85744309849611777e-01
    7.35180573182305508e-02 5.41836362715595232e+00 -3.21494409677446469e-01
    1.71892309775004937e+00 8.60091090790866875e-01 -9.94640930466322848e-01
"""

small = compiled(d=2, k=3, gamma=1.0, m=0)
value, d_alpha, d_mu, d_q, d_low = small(ALPHA, MU, Q, LOW, X)
gradient = np.concatenate([d_alpha, d_mu.ravel(), np.hstack([d_q, d_low]).ravel()])
expected = np.array(EXPECTED_GRADIENT.split(), dtype=float)
print("ADBench's test instance (d = 2, K = 3, one point)")
print(f"  objective {value:.12f}, published {EXPECTED:.12f}")
print(
    f"  gradient: largest difference to the published one {np.abs(gradient - expected).max():.1e}"
)
assert abs(value - EXPECTED) < 1e-13 * EXPECTED
np.testing.assert_allclose(gradient, expected, rtol=1e-12)

# --- a larger instance ----------------------------------------------------------------------------
# No published value here, but two checks: the gradient against a difference of objectives, along a
# random direction; and the objective against the formula, point by point, in plain numpy.

D, K, N = 10, 25, 1000
rng = np.random.default_rng(0)
parameters = [rng.normal(size=s) for s in ((K,), (K, D), (K, D), (K, D * (D - 1) // 2))]
points = rng.normal(size=(N, D))

start = perf_counter()
large = compiled(D, K, gamma=1.0, m=0)
built = perf_counter()
value, *gradients = large(*parameters, points)
done = perf_counter()
print(f"\nd = {D}, K = {K}, {N} points")
print(f"  built, differentiated and compiled in {built - start:.3f} s, run in {done - built:.3f} s")

direction = [rng.normal(size=p.shape) for p in parameters]
slope = sum(np.vdot(g, v) for g, v in zip(gradients, direction, strict=True))


def along(t: float) -> float:
    moved = (p + t * v for p, v in zip(parameters, direction, strict=True))
    return float(large(*moved, points)[0])


# Four points instead of two: the error falls with the fourth power of the step.
h = 1e-4
difference = (8 * (along(h) - along(-h)) - (along(2 * h) - along(-2 * h))) / (12 * h)
print(f"  slope in a random direction {slope:.9e}")
print(f"  the same by differences     {difference:.9e}")
np.testing.assert_allclose(slope, difference, rtol=1e-7)


def by_the_formula() -> float:
    alpha, mu, q, low = parameters
    total = 0.0
    densities = np.empty((N, K))
    for k in range(K):
        root = np.diag(np.exp(q[k]))
        root[np.triu_indices(D, 1)[::-1]] = low[k]  # rows and columns swapped: below, by columns
        away = (points - mu[k]) @ root.T
        densities[:, k] = alpha[k] + q[k].sum() - 0.5 * (away**2).sum(axis=1)
        total += 0.5 * ((np.exp(q[k]) ** 2).sum() + (low[k] ** 2).sum())
        total -= (D + 1) * D * math.log(math.sqrt(0.5)) - log_multigamma((D + 1) / 2, D)
    total += np.logaddexp.reduce(densities, axis=1).sum() - N * np.logaddexp.reduce(alpha)
    return total - 0.5 * N * D * math.log(2 * math.pi)


np.testing.assert_allclose(value, by_the_formula(), rtol=1e-12)
print(f"  objective {value:.6f}, by loops in numpy {by_the_formula():.6f}")
