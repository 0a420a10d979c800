"""Interning: equal construction gives the same object.

A table from keys to weak references. Keys hold the ids of operands: a symbol keeps its operands
alive, and leaves the table when it dies, so no key outlives the ids in it.
"""

from __future__ import annotations

import struct
import threading
import weakref
from typing import TYPE_CHECKING, Any, cast

from symgrad.ir.op import Attrs, Op

if TYPE_CHECKING:
    from symgrad.ir.symbol import Symbol


class _Entry(weakref.ref["Symbol"]):
    """A weak reference that knows its key, so that its death can clear the table."""

    __slots__ = ("key",)
    key: Any


_table: dict[Any, _Entry] = {}
_lock = threading.RLock()


def _forget(
    entry: weakref.ref[Symbol], table: dict[Any, _Entry] = _table, lock: Any = _lock
) -> None:
    # The default arguments keep both reachable while the interpreter shuts down.
    key = entry.key  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]
    with lock:  # another thread may be entering the next symbol of this key
        if table.get(key) is entry:
            del table[key]


def attribute_key(value: Any) -> Any:
    """A hashable form that tells True, 1, 1.0 and -0.0 apart, and knows NaN as equal to itself."""
    kind = cast("Any", type(value))
    if kind is int or kind is str or value is None:
        return value
    if kind is tuple:
        return (tuple, *map(attribute_key, value))
    if kind is float:
        return (float, struct.pack("<d", value))
    if kind is complex:
        return (complex, struct.pack("<dd", value.real, value.imag))
    return (kind, value)


def application_key(op: Op, args: tuple[Symbol, ...], attrs: Attrs) -> Any:
    if not attrs:
        return (id(op), *map(id, args))
    return (id(op), *map(id, args), *map(attribute_key, attrs.values()))


def find(key: Any) -> Symbol | None:
    """The living symbol under ``key``."""
    entry = _table.get(key)
    return None if entry is None else entry()


def exists(op: Op, args: tuple[Symbol, ...]) -> bool:
    """Whether somebody holds this application, of an op without attributes, at the moment."""
    return application_key(op, args, {}) in _table


def intern(key: Any, symbol: Symbol) -> Symbol:
    """Enter ``symbol`` under ``key``; another thread may have been first, then its symbol."""
    if key is None:
        return symbol
    entry = _Entry(symbol, _forget)
    entry.key = key
    with _lock:
        present = _table.get(key)
        winner = None if present is None else present()
        if winner is not None:
            return winner
        _table[key] = entry
    return symbol
