"""Reading the values of several variables at one moment, and storing several at one moment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgrad.ir.storage import Storage


def row_major(array: NDArray[Any]) -> NDArray[Any]:
    """The array with its axes in row-major order: itself, if they are.

    Sums and products depend in their last bits on how an array lies in memory. Programs see one
    order only, so that equal values give equal results.
    """
    return array if array.flags.c_contiguous or array.ndim < 2 else np.ascontiguousarray(array)


class State:
    """The storages that a program reads and those that it writes.

    Inside a ``with`` block it is this program's turn to change those that it writes, so no change
    between its reading and its storing is lost. Readers do not wait for that.

    Locks are always taken in one order, so that two programs never wait for each other.
    """

    __slots__ = ("_locks", "_reads", "_turns", "_writes")

    def __init__(self, reads: Iterable[Storage], writes: Iterable[Storage] = ()) -> None:
        self._reads, self._writes = tuple(reads), tuple(writes)
        storages = sorted({*self._reads, *self._writes}, key=id)
        self._locks = [storage.lock for storage in storages]
        self._turns = [storage.turn for storage in storages if storage in self._writes]

    def __bool__(self) -> bool:
        return bool(self._locks)

    def __enter__(self) -> None:
        for turn in self._turns:
            turn.acquire()

    def __exit__(self, *_: object) -> None:
        for turn in self._turns:
            turn.release()

    def _acquire(self) -> None:
        for lock in self._locks:
            lock.acquire()

    def _release(self) -> None:
        for lock in self._locks:
            lock.release()

    def read(self) -> list[NDArray[Any]]:
        """The values: all from after a commit of others, or all from before it.

        An array once stored is never written to, so these stay as they are.
        """
        if len(self._reads) == 1:
            return [row_major(self._reads[0].array)]
        self._acquire()
        try:
            arrays = [storage.array for storage in self._reads]
        finally:
            self._release()
        return [row_major(array) for array in arrays]

    def commit(self, arrays: Sequence[NDArray[Any]]) -> None:
        """Store new values, all at once. The arrays are given away."""
        if not self._writes:
            return
        new = [row_major(array) for array in arrays]
        self._acquire()
        try:
            for storage, array in zip(self._writes, new, strict=True):
                storage.replace(array)
        finally:
            self._release()
