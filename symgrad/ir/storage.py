"""Storage: where a value that can change lives."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import weakref

    from symgrad.ir.symbol import Symbol


class Storage:
    """An array, a version that counts its changes, and a lock.

    Owned by variables and by eager tensors alike. A change *replaces* the array, so whoever read
    the old one keeps a consistent snapshot.

    Attributes:
        array: the present value; treat it as read-only.
        version: how often the value was replaced.
        lock: held while the value is replaced together with others.
        symbol: weak reference to the variable on this storage, if one was made.
    """

    __slots__ = ("__weakref__", "array", "lock", "symbol", "version")

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array
        self.version = 0
        self.lock = threading.Lock()
        self.symbol: weakref.ref[Symbol] | None = None

    def replace(self, array: NDArray[Any]) -> None:
        """Make ``array`` the value. The caller holds the lock and gives the array away."""
        self.array = array
        self.version += 1

    def read(self) -> NDArray[Any]:
        """A read-only view of the present value."""
        view = self.array.view()
        view.flags.writeable = False
        return np.asarray(view)
