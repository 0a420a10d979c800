"""Drawing by rejection, without a loop over elements, and so that each minds its own business.

An element's tries stand in blocks of four words, one block per round. They depend on the key, on
the element's position and on the round alone: what other elements reject changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.ops.draws import TRY, strictly_between, words

Array = Any

CHUNK = 1 << 14


def by_rejection(
    key: Array, count: int, attempt: Callable[[Array, Array], tuple[Array, Array]]
) -> Array:
    """Numbers, one per position, each from the first round in which it was accepted.

    Args:
        key: (2,) words.
        count: how many.
        attempt: ``attempt(positions, blocks)`` gives, for each of some positions and their blocks
            (n, 4) of words, a number and whether it is accepted.
    """
    result = np.empty(count)
    for first in range(0, count, CHUNK):
        waiting = np.arange(first, min(first + CHUNK, count))
        row = 0
        while waiting.size:
            low, high = int(waiting[0]), int(waiting[-1]) + 1
            blocks = words(key, TRY, 4 * (high - low), low, row).reshape(-1, 4)
            numbers, accepted = attempt(waiting, blocks[waiting - low])
            result[waiting[accepted]] = numbers[accepted]
            waiting = waiting[~accepted]
            row += 1
    return result


def normal_pairs(blocks: Array) -> tuple[Array, Array]:
    """Two normal numbers per block from its first two words, by Box and Muller's transform."""
    radius = np.sqrt(-2 * np.log(strictly_between(blocks[:, 0])))
    angle = 2 * np.pi * strictly_between(blocks[:, 1])
    return radius * np.cos(angle), radius * np.sin(angle)
