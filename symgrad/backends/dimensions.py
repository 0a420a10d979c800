"""Where the sizes of named dimensions come from: which axis of which array tells which name."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from symgrad.errors import ShapeError
from symgrad.ir.records import names_of
from symgrad.ir.symbol import Symbol
from symgrad.types import Dim, Shape, Size, is_made_up


class Solution(NamedTuple):
    """``name = (size of the axis - offset) // slope``."""

    name: str
    argument: int
    axis: int
    slope: int
    offset: Size

    def text(self, array: str, offset: Size) -> str:
        """The solution as a Python expression.

        Args:
            array: an expression for the array.
            offset: the offset, in the names that the code uses.
        """
        size = f"{array}.shape[{self.axis}]"
        if offset != 0:
            size = f"({size} - ({offset}))"
        return size if self.slope == 1 else f"{size} // {self.slope}"


def _solve(size: Size, known: set[str]) -> tuple[str, int, Size] | None:
    """``size`` as ``slope*name + offset`` in the only name that is not known."""
    if isinstance(size, int):
        return None
    unknown = size.names - known
    if len(unknown) != 1:
        return None
    (name,) = unknown
    slope = next((c for atoms, c in size.terms if atoms == ((name, 1),)), 0)
    offset = size - slope * Dim.named(name) if slope else size
    if slope == 0 or (isinstance(offset, Dim) and name in offset.names):
        return None
    return name, slope, offset


def solve(shapes: Sequence[Shape], known: Iterable[str] = ()) -> list[Solution]:
    """How names follow from the shapes of arguments, each from names before it.

    >>> n, m = Dim.named("n"), Dim.named("m")
    >>> [s.text("xy"[s.argument], s.offset) for s in solve([(2 * n + m, 3), (m,)])]
    ['y.shape[0]', '(x.shape[0] - (m)) // 2']
    """
    bound, solutions = set(known), list[Solution]()
    axes = [(i, k, size) for i, shape in enumerate(shapes) for k, size in enumerate(shape)]
    axes = [axis for axis in axes if not isinstance(axis[2], int)]
    # Axes that are just a name come first: they read best, and every size is right for them.
    axes.sort(key=lambda axis: not isinstance(axis[2], Dim) or axis[2].name is None)
    progress = True
    while progress:
        progress = False
        for argument, axis, size in axes:
            found = _solve(size, bound)
            if found is not None:
                name, slope, offset = found
                bound.add(name)
                solutions.append(Solution(name, argument, axis, slope, offset))
                progress = True
    return solutions


def rename(size: Size, names: Mapping[str, str]) -> Size:
    """The size with dimensions called as the generated code calls them."""
    if isinstance(size, int) or all(names.get(name, name) == name for name in size.names):
        return size
    return size.substitute({name: Dim.named(names.get(name, name)) for name in size.names})


def needed(solutions: Sequence[Solution], names: Iterable[str]) -> list[Solution]:
    """Those of the solutions that these names depend on, in order."""
    wanted, chosen = set(names), list[Solution]()
    for solution in reversed(solutions):
        if solution.name in wanted:
            chosen.append(solution)
            wanted |= solution.offset.names if isinstance(solution.offset, Dim) else set()
    return chosen[::-1]


def unbound(symbol: Symbol, known: Collection[str]) -> ShapeError | None:
    """The error about a size in the attributes of ``symbol`` that nothing before it tells."""
    missing = [n for n in names_of(tuple(symbol.attrs.values())) if n not in known]
    if not missing:
        return None
    (name, *_) = missing
    site = None if symbol.site is None else str(symbol.site)
    if is_made_up(name):
        return ShapeError(
            symbol.op.name,
            f"nothing that is computed tells the size {name}",
            expected="a graph that holds an array with this axis",
            hint="the count of what a mask takes is sg.count_nonzero(mask)",
            site=site,
        )
    return ShapeError(
        symbol.op.name,
        f"no size {name} follows from the inputs",
        expected=f"an input with an axis that is just {name}, or sizes of inputs instead",
        site=site,
    )


def in_binding_order(symbols: Sequence[Symbol], known: Iterable[str]) -> Sequence[Symbol]:
    """The symbols, so that a size that only a computed value tells is known before it is used.

    Args:
        symbols: in topological order.
        known: the dimensions that the inputs tell.
    """
    bound = set(known)
    if all(bound.issuperset(names_of(tuple(s.attrs.values()))) for s in symbols if s.attrs):
        return symbols
    order: list[Symbol] = []
    waiting, progress = list(symbols), True
    while waiting and progress:
        late: list[Symbol] = []
        blocked: set[Symbol] = set()
        for symbol in waiting:
            used = names_of(tuple(symbol.attrs.values()))
            if bound.issuperset(used) and blocked.isdisjoint(symbol.args):
                order.append(symbol)
                bound.update(names_of(symbol.type))
            else:
                blocked.add(symbol)
                late.append(symbol)
        progress = len(late) < len(waiting)
        waiting = late
    return [*order, *waiting]
