"""Which arrays of a program are its own to write to, and which lie free.

Reuse must not change a bit of any result. Sums and products depend on how arrays lie in memory, so
a result is written into an old array only where both have the same layout: the one numpy would have
chosen. ``ROW_MAJOR`` is known; another number stands for a layout that is not, equal numbers for
equal layouts.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from symgrad.ir.symbol import Symbol
from symgrad.types import TensorType

ROW_MAJOR = 0

SMALL = 256
"""Arrays of up to so many elements cost nothing to allocate."""

PATIENCE = 8
"""For how many statements a free array is kept, if one of its type is wanted by then."""

FRESH_ROW_MAJOR = frozenset(
    {
        *("np.where", "np.zeros", "np.ones", "np.full", "np.eye", "np.arange", "np.take"),
        *("np.sum", "np.prod", "np.max", "np.min", "np.any", "np.all", "np.mean", "np.matmul"),
        *("np.add.reduce", "np.multiply.reduce", "np.maximum.reduce", "np.minimum.reduce"),
        *(".astype", ".sum", ".prod", ".max", ".min", ".mean", ".any", ".all"),
    }
)
"""Functions and methods of numpy whose result is a new array, row-major if all operands are."""

KEEPS_ORDER = frozenset({"np.reshape", "np.expand_dims", "np.squeeze", ".reshape"})
"""Functions and methods of numpy that give a view or a copy, row-major if the operand is."""


class Buffer:
    """An array in memory, which several values may show.

    Attributes:
        own: the program made it, and may write to it.
        foreign: somebody else's: an input, a variable, a constant.
        live: how many values on it are still needed.
    """

    __slots__ = ("foreign", "live", "own")

    def __init__(self, own: bool = False, foreign: bool = False) -> None:
        self.own, self.foreign, self.live = own, foreign, 0


class Value:
    """What a symbol is in the code: an expression, and the array it shows.

    Attributes:
        text: a name or a literal.
        kind: its type.
        buffer: the memory it shows.
        layout: the order of its elements there.
        is_view: it may show a part of the memory only, or show it transposed.
    """

    __slots__ = ("buffer", "is_view", "kind", "layout", "text")

    def __init__(
        self,
        text: str,
        kind: Any,
        buffer: Buffer,
        layout: int = ROW_MAJOR,
        *,
        is_view: bool = False,
    ) -> None:
        self.text, self.kind, self.buffer, self.layout = text, kind, buffer, layout
        self.is_view = is_view
        buffer.live += 1

    @property
    def is_whole(self) -> bool:
        """Whether it is an array of the program's own that no other value shows."""
        buffer = self.buffer
        return buffer.own and buffer.live == 1 and not self.is_view


class Layouts:
    """Layouts that are not known, by number."""

    def __init__(self) -> None:
        self._count = ROW_MAJOR
        self._dense: dict[int, int] = {ROW_MAJOR: ROW_MAJOR}

    def unknown(self) -> int:
        """A layout that nothing is known of."""
        self._count += 1
        return self._count

    def elementwise(self, operands: Sequence[Value], kind: TensorType) -> int:
        """The layout of what a ufunc makes of these operands."""
        if has_one_order(kind):
            return ROW_MAJOR
        layouts = {value.layout for value in operands if value.kind.shape}
        if len(layouts) != 1 or (layouts != {ROW_MAJOR} and not _alike(operands, kind)):
            return ROW_MAJOR if not layouts else self.unknown()
        # numpy keeps the order of the axes and leaves no gaps.
        (layout,) = layouts
        if layout not in self._dense:
            dense = self.unknown()
            self._dense[layout] = self._dense[dense] = dense
        return self._dense[layout]

    def made_by(self, callee: str, operands: Sequence[Value], kind: Any) -> int:
        """The layout of what a kernel makes that is not a ufunc."""
        if not isinstance(kind, TensorType):
            return self.unknown()
        if has_one_order(kind) or (callee == "np.matmul" and kind.ndim == 2):
            return ROW_MAJOR
        is_plain = all(value.layout == ROW_MAJOR for value in operands)
        is_known = callee in FRESH_ROW_MAJOR or callee in KEEPS_ORDER
        return ROW_MAJOR if is_known and is_plain else self.unknown()


def has_one_order(kind: Any) -> bool:
    """Whether arrays of this type have their elements in the same order however they lie."""
    return isinstance(kind, TensorType) and sum(size != 1 for size in kind.shape) <= 1


def _alike(operands: Sequence[Value], kind: TensorType) -> bool:
    return all(value.kind.shape in ((), kind.shape) for value in operands)


@lru_cache(4096)
def is_small(kind: Any) -> bool:
    """Whether memory for it is not worth a thought."""
    return isinstance(kind, TensorType) and isinstance(kind.size, int) and kind.size <= SMALL


class FreeArrays:
    """Arrays that nobody needs any more, kept for a short while for a result of their type."""

    def __init__(self, symbols: Sequence[Symbol]) -> None:
        self._wanted: dict[TensorType, list[int]] = defaultdict(list)
        for position, symbol in enumerate(symbols):
            if symbol.op.ufunc is not None and symbol.type.shape and not is_small(symbol.type):
                self._wanted[symbol.type].append(position)
        self._free: list[tuple[int, Value]] = []

    def put(self, value: Value, position: int) -> bool:
        """Keep the array, if a result after ``position`` will soon want one like it."""
        if value.kind not in self._wanted:
            return False
        wanted = self._wanted[value.kind]
        following = bisect_right(wanted, position)
        if following == len(wanted) or wanted[following] > position + PATIENCE:
            return False
        self._free.append((wanted[following], value))
        return True

    def take(self, kind: TensorType, layout: int) -> Value | None:
        """A free array of this type and layout."""
        for entry in self._free:
            if entry[1].kind == kind and entry[1].layout == layout:
                self._free.remove(entry)
                return entry[1]
        return None

    def overdue(self, position: int) -> list[Value]:
        """The arrays that were not taken in time; they are no longer kept."""
        if not self._free:
            return []
        late = [entry for entry in self._free if entry[0] < position]
        for entry in late:
            self._free.remove(entry)
        return [value for _, value in late]
