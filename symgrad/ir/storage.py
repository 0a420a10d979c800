"""Storage: where a value that can change lives, and the arrays that it owns."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from symgrad.errors import DTypeError, ShapeError, SymgradError, TraceError
from symgrad.ir.op import SYMBOL_RANK
from symgrad.ir.site import here
from symgrad.types import DTYPES, as_dtype, default_float

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
        lock: held while the value is read or replaced together with others; for a moment only.
        turn: held by whoever works out a new value from the old one, until it is stored.
        symbol: weak reference to the variable on this storage, if one was made.
    """

    __slots__ = ("__weakref__", "array", "lock", "symbol", "turn", "version")

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array
        self.version = 0
        self.lock = threading.Lock()
        self.turn = threading.RLock()
        self.symbol: weakref.ref[Symbol] | None = None

    def replace(self, array: NDArray[Any]) -> None:
        """Make ``array`` the value. The caller holds the lock and gives the array away."""
        self.array = array
        self.version += 1

    def assign(self, array: NDArray[Any]) -> None:
        """Make ``array``, which is given away, the value; wait for a computed one to be stored."""
        with self.turn, self.lock:
            self.replace(array)

    def read(self) -> NDArray[Any]:
        """A read-only view of the present value."""
        view = self.array.view()
        view.flags.writeable = False
        return np.asarray(view)


def owned_array(where: str, value: Any, dtype: Any) -> NDArray[Any]:
    """A fresh array that holds ``value``, of a known element type.

    Raises:
        TraceError: a symbol. ShapeError: ragged lists. DTypeError: no numbers of a known type.
    """
    if getattr(value, "__front_rank__", 0) >= SYMBOL_RANK:
        raise TraceError(where, "a symbol has no value to copy", hint="use it as it is")
    if hasattr(value, "__array_namespace__") and hasattr(value, "numpy"):
        value = value.numpy()
    if dtype is None and not isinstance(value, (np.ndarray, np.generic)):
        try:
            guess = np.asarray(value)
        except ValueError:
            raise ShapeError(
                where, "the rows of nested lists differ in length", site=str(here())
            ) from None
        # A Python float in a list is as weak as one alone: it takes the default element type.
        if guess.dtype == np.float64:
            dtype = default_float()
    wanted = None if dtype is None else as_dtype(dtype)
    try:
        array = np.array(value, dtype=wanted, copy=True, order="C")
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, SymgradError):
            raise
        raise DTypeError(
            where, f"the value does not fit: {error}", expected=wanted, site=str(here())
        ) from None
    native = array.dtype.newbyteorder("=")
    if native.name not in DTYPES:
        raise DTypeError(
            where,
            "no such element type",
            expected=", ".join(DTYPES),
            got=array.dtype,
            site=str(here()),
        )
    return np.array(array, dtype=native, order="C") if array.dtype != native else array
