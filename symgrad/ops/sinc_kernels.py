"""sinc and its derivatives on numpy arrays, right at 0 and near it.

With ``t = pi*x`` and ``s(t) = sin(t)/t``, Leibniz's rule on ``t*s(t) = sin(t)`` gives
``t*s_n(t) + n*s_(n-1)(t) = sin(t + n*pi/2)`` for the n-th derivatives. Upwards in n, the
recurrence is stable for ``t > n``; downwards, from any value at a large n, for ``t < n``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any


def sin_pi(x: Array) -> Array:
    """``sin(pi*x)``, exactly 0 at integers."""
    size = np.fmod(np.abs(x), 2)
    folded = np.where(size > 1.5, size - 2, np.where(size > 0.5, 1 - size, size))
    return np.where(x < 0, -1, 1) * np.sin(np.pi * folded)


def cos_pi(x: Array) -> Array:
    """``cos(pi*x)``, exactly 0 halfway between integers."""
    size = np.fmod(np.abs(x), 2)
    return np.sin(np.pi * (0.5 - np.where(size > 1, 2 - size, size)))


def downwards(x: Array, order: int) -> Array:
    """The derivative by ``t``, for ``abs(t) <= order + 1``."""
    t, sine, cosine = np.pi * x, sin_pi(x), cos_pi(x)
    waves = (sine, cosine, -sine, -cosine)
    value = np.zeros_like(x)
    for n in range(2 * order + 40, order, -1):
        value = (waves[n % 4] - t * value) / n
    return value


def upwards(x: Array, order: int) -> Array:
    """The derivative by ``t``, for ``abs(t) >= order``."""
    t, sine, cosine = np.pi * x, sin_pi(x), cos_pi(x)
    waves = (sine, cosine, -sine, -cosine)
    value = sine / t
    for n in range(1, order + 1):
        value = (waves[n % 4] - n * value) / t
    return value


def sinc_values(x: Array, order: int) -> Array:
    """The derivative of this order of ``sin(pi*x) / (pi*x)``, of double-precision numbers."""
    x = np.clip(x, -1e300, 1e300)  # the limit at infinity
    near = np.abs(np.pi * x) <= (order + 1 if order else 1e-8)
    value = np.empty_like(x)
    value[near] = downwards(x[near], order)
    value[~near] = upwards(x[~near], order)
    return value * np.pi**order
