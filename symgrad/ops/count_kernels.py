"""Random counts on numpy alone: Poisson and binomial, exact for small and large means.

Small means by searching the sums of probabilities, large ones by transformed rejection (Hörmann,
"The transformed rejection method for generating Poisson random variables", 1993, and "The
generation of binomial random variates", 1993). Probabilities as in Loader, "Fast and accurate
computation of binomial probabilities" (2000): they do not cancel where counts are large.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.ops.draws import DRAW, strictly_between, words
from symgrad.ops.rejection import by_rejection

Array = Any

SMALL_MEAN = 10.0
STEPS = 120
"""A count of a small mean exceeds this with a probability of less than 1e-80."""

# --- probabilities --------------------------------------------------------------------------------

TABLE = (
    math.inf,
    *(
        math.lgamma(k + 1) - ((k + 0.5) * math.log(k) - k + 0.5 * math.log(2 * math.pi))
        for k in range(1, 16)
    ),
)
"""What Stirling's formula for log(k!) lacks."""


def stirling_error(k: Array) -> Array:
    """What Stirling's formula for log(k!) lacks, for counts of at least 1."""
    inverse = 1 / np.maximum(k, 15)
    square = inverse * inverse
    series = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680)))
    near = np.asarray(TABLE)[np.minimum(k, 15).astype(np.int64)]
    return np.where(k < 16, near, series)


def deviance(k: Array, mean: Array) -> Array:
    """``k*log(k/mean) + mean - k`` for positive numbers."""
    excess = (k - mean) / mean
    return mean * ((1 + excess) * np.log1p(excess) - excess)


def log_poisson(k: Array, mean: Array) -> Array:
    """The logarithm of the probability of a count."""
    some = np.maximum(k, 1)
    found = -stirling_error(some) - deviance(some, mean) - 0.5 * np.log(2 * math.pi * some)
    return np.where(k > 0, found, -mean)


def log_binomial(k: Array, n: Array, p: Array) -> Array:
    """The logarithm of the probability of a count out of ``n``, for probabilities up to 1/2."""
    k_in = np.clip(k, 1, n - 1)
    rest = n - k_in
    found = stirling_error(n) - stirling_error(k_in) - stirling_error(rest)
    found -= deviance(k_in, n * p) + deviance(rest, n * (1 - p))
    found += 0.5 * (np.log(n / k_in) - np.log(2 * math.pi * rest))
    return np.where(k <= 0, n * np.log1p(-p), np.where(k >= n, n * np.log(p), found))


# --- small means ----------------------------------------------------------------------------------


def by_search(u: Array, first: Array, ratio: Callable[[Array, int], Array]) -> Array:
    """The counts whose probabilities, summed from 0, first reach ``u``.

    Args:
        u: numbers in (0, 1).
        first: the probabilities of 0.
        ratio: ``ratio(positions, k)``, the probability of k divided by that of k - 1.
    """
    counts = np.zeros(u.size)
    waiting = np.flatnonzero(u > first)
    probability, total = first[waiting], first[waiting]
    for k in range(1, STEPS):
        if waiting.size == 0:
            break
        counts[waiting] = k
        probability = probability * ratio(waiting, k)
        total = total + probability
        beyond = (u[waiting] > total) & (probability > 0)
        waiting, probability, total = waiting[beyond], probability[beyond], total[beyond]
    return counts


# --- transformed rejection ------------------------------------------------------------------------


def by_transformation(
    key: Array, count: int, hat: Callable[[Array, Array, Array], tuple[Array, Array]]
) -> Array:
    """Counts by rejection, from two even numbers per try.

    Args:
        hat: ``hat(positions, u, side)`` for u in (-1/2, 1/2) and ``side`` its distance to the ends
            gives counts, and logarithms up to which a second number's is accepted.
    """

    def attempt(positions: Array, blocks: Array) -> tuple[Array, Array]:
        found = np.zeros(len(positions))
        accepted = np.zeros(len(positions), bool)
        for k in (0, 2):
            u = strictly_between(blocks[:, k]) - 0.5
            counts, limit = hat(positions, u, 0.5 - np.abs(u))
            found = np.where(accepted, found, counts)
            accepted |= np.log(strictly_between(blocks[:, k + 1])) <= limit
        return found, accepted

    return by_rejection(key, count, attempt)


def large_poisson(key: Array, means: Array) -> Array:
    """Counts of means from `SMALL_MEAN` on."""
    b = 0.931 + 2.53 * np.sqrt(means)
    a = -0.059 + 0.02483 * b
    height = np.log(1.1239 + 1.1328 / (b - 3.4))

    def hat(at: Array, u: Array, side: Array) -> tuple[Array, Array]:
        counts = np.floor((2 * a[at] / side + b[at]) * u + means[at] + 0.43)
        inside = np.maximum(counts, 0)
        limit = log_poisson(inside, means[at]) + np.log(a[at] / (side * side) + b[at]) - height[at]
        return inside, np.where(counts < 0, -np.inf, limit)

    return by_transformation(key, means.size, hat)


def large_binomial(key: Array, n: Array, p: Array) -> Array:
    """Counts out of ``n``, for probabilities up to 1/2 and means from `SMALL_MEAN` on."""
    deviation = np.sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    height = np.log((2.83 + 5.1 / b) * deviation) + log_binomial(np.floor((n + 1) * p), n, p)

    def hat(at: Array, u: Array, side: Array) -> tuple[Array, Array]:
        counts = np.floor((2 * a[at] / side + b[at]) * u + n[at] * p[at] + 0.5)
        inside = np.clip(counts, 0, n[at])
        limit = log_binomial(inside, n[at], p[at]) - height[at]
        limit += np.log(a[at] / (side * side) + b[at])
        return inside, np.where(counts == inside, limit, -np.inf)

    return by_transformation(key, n.size, hat)


# --- all means ------------------------------------------------------------------------------------


def poisson_values(key: Array, means: Array) -> Array:
    """Counts of finite means (n,) of at least 0."""
    small = means < SMALL_MEAN
    little = np.where(small, means, 0)
    u = strictly_between(words(key, DRAW, means.size))
    counts = by_search(u, np.exp(-little), lambda at, k: little[at] / k)
    if small.all():
        return counts
    return np.where(small, counts, large_poisson(key, np.where(small, SMALL_MEAN, means)))


def binomial_values(key: Array, n: Array, p: Array) -> Array:
    """Counts out of ``n`` (m,) for probabilities in [0, 1]."""
    rare = np.minimum(p, 1 - p)
    small = n * rare < SMALL_MEAN
    number, share = np.where(small, n, 0), np.where(small, rare, 0)
    odds = share / (1 - share)
    u = strictly_between(words(key, DRAW, n.size))
    first = np.exp(number * np.log1p(-share))
    counts = by_search(u, first, lambda at, k: np.maximum(number[at] - (k - 1), 0) / k * odds[at])
    if not small.all():
        many, often = np.where(small, 100, n), np.where(small, 0.5, rare)
        counts = np.where(small, counts, large_binomial(key, many, often))
    return np.where(p > 0.5, n - counts, counts)
