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


def sinc_values(x: Array, order: int) -> Array:
    """The derivative of this order of ``sin(pi*x) / (pi*x)``, of double-precision numbers."""
    x = np.clip(x, -1e300, 1e300)  # the limit at infinity
    sine, cosine = sin_pi(x), cos_pi(x)
    waves = (sine, cosine, -sine, -cosine)
    t = np.pi * x
    near = np.abs(t) <= order + 1
    divisor = np.where(near, 1, t)
    far_value = sine / divisor
    for n in range(1, order + 1):
        far_value = (waves[n % 4] - n * far_value) / divisor
    factor = np.where(near, t, 0)
    near_value = np.zeros_like(t)
    for n in range(2 * order + 40, order, -1):
        near_value = (waves[n % 4] - factor * near_value) / n
    return np.where(near, near_value, far_value) * np.pi**order
