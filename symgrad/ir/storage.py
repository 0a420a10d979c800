"""Storage: where a value that can change lives, and the arrays that it owns."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from symgrad.errors import DTypeError, ShapeError, SymgradError, TraceError
from symgrad.ir.op import SYMBOL_RANK
from symgrad.ir.site import Site, here
from symgrad.types import DTYPES, as_dtype, default_float

if TYPE_CHECKING:
    import weakref

    from symgrad.ir.symbol import Symbol


class Storage:
    """An array, a version that counts its changes, and a lock.

    Owned by variables and by eager tensors alike. A new value *replaces* the array, so whoever read
    the old one keeps a consistent snapshot; only what is changed in place by an eager tensor, or is
    shown by a window, is written into the array itself.

    Attributes:
        array: the present value; treat it as read-only.
        version: how often the value was changed.
    """

    __slots__ = ("__weakref__", "array", "shared", "version")

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array
        self.version = 0
        self.shared: Shared | None = None  # made when it is asked for: most storages need none

    def ties(self) -> Shared:
        """What variables, windows and threads keep here."""
        with _making:
            if self.shared is None:
                self.shared = Shared()
            return self.shared

    @property
    def lock(self) -> threading.Lock:
        """Held while the value is read or replaced together with others; for a moment only."""
        return (self.shared or self.ties()).lock

    @property
    def turn(self) -> threading.RLock:
        """Held by whoever works out a new value from the old one, until it is stored."""
        return (self.shared or self.ties()).turn

    @property
    def symbol(self) -> weakref.ref[Symbol] | None:
        """Weak reference to the variable on this storage, if one was made."""
        return None if self.shared is None else self.shared.symbol

    @symbol.setter
    def symbol(self, reference: weakref.ref[Symbol]) -> None:
        self.ties().symbol = reference

    @property
    def changed_at(self) -> Site | None:
        """The line of the last change in place, if there was one."""
        return None if self.shared is None else self.shared.changed_at

    def replace(self, array: NDArray[Any]) -> None:
        """Make ``array`` the value. The caller holds the lock and gives the array away."""
        if self.ties().shown:
            np.copyto(self.array, array)
        else:
            self.array = array
        self.version += 1

    def assign(self, array: NDArray[Any]) -> None:
        """Make ``array``, which is given away, the value; wait for a computed one to be stored."""
        with self.turn, self.lock:
            self.replace(array)

    def overwrite(self, array: NDArray[Any], site: Site | None) -> None:
        """Write ``array`` into the memory of the value, which others may show as well."""
        with self.turn, self.lock:
            np.copyto(self.array, array, casting="unsafe")
            self.version += 1
            self.ties().changed_at = site

    def read(self) -> NDArray[Any]:
        """A read-only view of the present value."""
        view = self.array.view()
        view.flags.writeable = False
        return np.asarray(view)


class Shared:
    """What a storage keeps for those who share it.

    Attributes:
        lock, turn: see `Storage`.
        symbol: the variable on the storage, if one was made.
        shown: whether windows show parts of the array, so that it cannot be replaced.
        changed_at: the line of the last change in place, or None.
    """

    __slots__ = ("changed_at", "lock", "shown", "symbol", "turn")

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.turn = threading.RLock()
        self.symbol: weakref.ref[Symbol] | None = None
        self.shown = False
        self.changed_at: Site | None = None


_making = threading.Lock()


class Window(Storage):
    """A part of another storage: it shows the same memory and counts the same changes.

    Attributes:
        base: the storage that owns the memory.
    """

    __slots__ = ("_symbol", "base")

    def __init__(self, array: NDArray[Any], base: Storage) -> None:
        self.array, self.base = array, base.base if isinstance(base, Window) else base
        self._symbol: weakref.ref[Symbol] | None = None
        self.base.ties().shown = True

    @property
    def symbol(self) -> weakref.ref[Symbol] | None:
        return self._symbol

    @symbol.setter
    def symbol(self, reference: weakref.ref[Symbol]) -> None:
        self._symbol = reference

    @property
    def version(self) -> int:
        return self.base.version

    @version.setter
    def version(self, value: int) -> None:
        self.base.version = value

    @property
    def shared(self) -> Shared | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.base.shared

    def ties(self) -> Shared:
        return self.base.ties()

    def replace(self, array: NDArray[Any]) -> None:
        np.copyto(self.array, array)
        self.base.version += 1


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
