"""Shapes together: which sizes must agree, what broadcasts, and how a call binds names to sizes."""

from __future__ import annotations

import operator
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from symgrad.dims import Dim, Size, is_nonnegative
from symgrad.errors import AxisError, ShapeError

Shape = tuple[Size, ...]


# --------------------------------------------------------------------------- constraints


@dataclass(frozen=True, slots=True)
class Constraint:
    """Two sizes that must be equal when the graph is called, and who says so.

    Args:
        left: one size.
        right: the other one.
        where: the op that needs it.
        what: what the two sizes are.
        site: where the symbol that owns the constraint was written; anything with a ``str``.
    """

    left: Size
    right: Size
    where: str
    what: str = "sizes"
    site: object = field(default=None, compare=False)

    @property
    def why(self) -> str:
        """Who needs the equality, and of what."""
        return f"{self.where}: {self.what}"

    def at(self, site: object) -> Constraint:
        """The same constraint, owned by a symbol that was written at ``site``."""
        return replace(self, site=site)

    def check(self, bindings: Mapping[str, int]) -> None:
        """Refuse bindings under which the two sizes differ."""
        left, right = _value(self.left, bindings), _value(self.right, bindings)
        if left == right:
            return
        raise ShapeError(
            self.where,
            f"{self.what} differ",
            expected=_equation(self.left, left),
            got=_equation(self.right, right),
            site=None if self.site is None else str(self.site),
        )

    def __str__(self) -> str:
        return f"{self.left} == {self.right} ({self.why})"


def _value(size: Size, bindings: Mapping[str, int]) -> int:
    return size.evaluate(bindings) if isinstance(size, Dim) else size


def _equation(size: Size, value: int) -> str:
    return f"{size} = {value}" if isinstance(size, Dim) else str(value)


class _Collector(threading.local):
    def __init__(self) -> None:
        self.pending: list[Constraint] = []


_collector = _Collector()


def require_equal(a: Size, b: Size, where: str, what: str) -> Size:
    """Two sizes that must agree: refused at once if they cannot, else recorded as a constraint.

    Returns:
        The more concrete of the two.

    >>> require_equal(3, 4, "matmul", "inner sizes")
    Traceback (most recent call last):
        ...
    symgrad.errors.ShapeError: matmul: inner sizes differ: expected 3, got 4
    >>> require_equal(Dim.named("n"), 4, "matmul", "inner sizes"), take_constraints()[0].right
    (4, 4)
    """
    if a == b:
        return a
    if _never_equal(a, b):
        raise ShapeError(where, f"{what} differ", expected=a, got=b)
    _collector.pending.append(Constraint(a, b, where, what))
    return b if isinstance(b, int) else a


def _never_equal(a: Size, b: Size) -> bool:
    """Whether two sizes differ whatever the names are; names are not negative."""
    difference = a - b
    if isinstance(difference, int):
        return difference != 0
    return is_nonnegative(difference - 1) or is_nonnegative(-difference - 1)


def take_constraints() -> tuple[Constraint, ...]:
    """The constraints that this thread recorded since the last call; the collector is then empty.

    Whoever calls an op's type function takes them, also if that raises: they belong to its symbol.
    """
    if not _collector.pending:
        return ()
    taken = tuple(_collector.pending)
    _collector.pending.clear()
    return taken


# --------------------------------------------------------------------------- broadcasting, axes


def broadcast_shapes(where: str, *shapes: Shape) -> Shape:
    """The shape that these broadcast to. Only the int 1 stretches: a name is never 1 by surprise.

    >>> broadcast_shapes("add", (2, 1), (3,)), broadcast_shapes("add")
    ((2, 3), ())
    >>> broadcast_shapes("add", (2, 3), (2,))
    Traceback (most recent call last):
        ...
    symgrad.errors.ShapeError: add: shapes do not broadcast: expected equal sizes
    or 1 on axis -1, got (2, 3) and (2,)
    """
    if not shapes:
        return ()
    result = list(shapes[0])
    for shape in shapes[1:]:
        if len(shape) > len(result):
            result = [1] * (len(shape) - len(result)) + result
        for axis in range(-len(shape), 0):
            a, b = result[axis], shape[axis]
            if a == 1:
                result[axis] = b
            elif b != 1 and a != b:
                if _never_equal(a, b):
                    raise _no_broadcast(where, axis, shapes)
                result[axis] = require_equal(a, b, where, f"sizes of axis {axis}")
    return tuple(result)


def _no_broadcast(where: str, axis: int, shapes: Sequence[Shape]) -> ShapeError:
    return ShapeError(
        where,
        "shapes do not broadcast",
        expected=f"equal sizes or 1 on axis {axis}",
        got=" and ".join(map(str, shapes)),
    )


def normalize_axis(axis: Any, ndim: int, where: str) -> int:
    """An axis counted from the front.

    >>> normalize_axis(-1, 3, "sum")
    2
    """
    try:
        position = operator.index(axis)
    except TypeError:
        raise ShapeError(where, "axis is not an integer", got=repr(axis)) from None
    if not -ndim <= position < ndim:
        expected = f"-{ndim} to {ndim - 1}" if ndim else "none, for an array without axes"
        raise AxisError(where, "axis out of range", expected=expected, got=position)
    return position + ndim if position < 0 else position


def normalize_axes(axis: Any, ndim: int, where: str) -> tuple[int, ...]:
    """Axes counted from the front, in the order given; None means all of them.

    >>> normalize_axes((-1, 0), 3, "sum"), normalize_axes(None, 2, "sum")
    ((2, 0), (0, 1))
    """
    if axis is None:
        return tuple(range(ndim))
    given = cast("Sequence[Any]", axis) if isinstance(axis, (tuple, list)) else (axis,)
    axes = tuple([normalize_axis(one, ndim, where) for one in given])
    if len(set(axes)) != len(axes):
        raise ShapeError(where, "an axis is given twice", got=tuple(given))
    return axes


# --------------------------------------------------------------------------- binding


def solve_dims(
    declared_shape: Shape, actual_shape: Sequence[int], bindings: dict[str, int]
) -> None:
    """Bind names of a declared shape to the sizes of an actual one.

    A size binds a name if it is that name, or linear in the only name that has no binding yet. What
    cannot be solved is left: solve all shapes, repeat while names are missing, then ``check`` each.

    >>> bindings = {}
    >>> solve_dims((2 * Dim.named("n") + 1, 3), (7, 3), bindings)
    >>> bindings
    {'n': 3}
    """
    if len(declared_shape) != len(actual_shape):
        return
    for declared, actual in zip(declared_shape, actual_shape, strict=True):
        if isinstance(declared, Dim):
            if declared.name is not None:
                bindings.setdefault(declared.name, actual)
            elif not bindings.keys() >= declared.names:
                _solve(declared.substitute(bindings), actual, bindings)


def _solve(size: Size, actual: int, bindings: dict[str, int]) -> None:
    """Bind the name in ``c*name + k == actual``, if the size has that form."""
    if isinstance(size, int) or len(size.names) != 1:
        return
    (name,) = size.names
    slope = size.terms[0][1]
    offset = size - slope * Dim.named(name)
    if (
        isinstance(offset, int)
        and (actual - offset) % slope == 0
        and (actual - offset) // slope >= 0
    ):
        bindings[name] = (actual - offset) // slope


def check(
    where: str, declared_shape: Shape, actual_shape: Sequence[int], bindings: Mapping[str, int]
) -> None:
    """Refuse an actual shape that is not the declared one under these bindings.

    >>> check("x", (Dim.named("n"), 3), (5, 3), {"n": 2})
    Traceback (most recent call last):
        ...
    symgrad.errors.ShapeError: x: shape does not fit on axis 0: expected (n, 3)
    with n = 2, got (5, 3)
    """
    actual_shape = tuple(actual_shape)
    if len(declared_shape) != len(actual_shape):
        axes = f"{len(declared_shape)} axes" if len(declared_shape) != 1 else "1 axis"
        raise ShapeError(
            where, "wrong number of axes", expected=f"{axes}, {declared_shape}", got=actual_shape
        )
    for axis, (declared, actual) in enumerate(zip(declared_shape, actual_shape, strict=True)):
        if not _fits(declared, actual, bindings):
            raise ShapeError(
                where,
                f"shape does not fit on axis {axis}",
                expected=f"{declared_shape}{_with_values(declared_shape, bindings)}",
                got=actual_shape,
                hint=_undetermined(declared, bindings),
            )


def _fits(declared: Size, actual: int, bindings: Mapping[str, int]) -> bool:
    if isinstance(declared, int):
        return declared == actual
    return bindings.keys() >= declared.names and declared.evaluate(bindings) == actual


def _with_values(shape: Shape, bindings: Mapping[str, int]) -> str:
    names = sorted({name for size in shape if isinstance(size, Dim) for name in size.names})
    known = ", ".join(f"{name} = {bindings[name]}" for name in names if name in bindings)
    return f" with {known}" if known else ""


def _undetermined(size: Size, bindings: Mapping[str, int]) -> str | None:
    if isinstance(size, int) or bindings.keys() >= size.names:
        return None
    missing = ", ".join(sorted(size.names - bindings.keys()))
    return f"no size {missing} follows from the shapes; declare an axis that is just {missing}"
