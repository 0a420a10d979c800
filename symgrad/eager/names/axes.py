"""PyTorch's functions of axes and shapes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

from symgrad.eager.names.written import spelling
from symgrad.errors import ArgumentError, ShapeError
from symgrad.ir.op import ops
from symgrad.types import Dim, normalize_axis


@spelling
def t(x: Any) -> Any:
    """The transpose of a matrix; of fewer axes, ``x`` itself.

    Raises:
        ShapeError: more than two axes.

    >>> import symgrad as sg
    >>> sg.t(sg.ones(2, 3)).shape
    (3, 2)
    """
    x = ops.asarray(x)
    if x.ndim > 2:
        raise ShapeError("t", "too many axes", expected="at most 2", got=x.type, hint="use x.mT")
    return ops.permute_dims(x, (1, 0)) if x.ndim == 2 else x


@spelling
def flatten(x: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """Some axes as one, all if none are named.

    >>> import symgrad as sg
    >>> sg.flatten(sg.ones(2, 3, 4), 1).shape
    (2, 12)
    """
    x = ops.asarray(x)
    if x.ndim == 0:
        return ops.reshape(x, (1,))
    first = normalize_axis(start_dim, x.ndim, "flatten")
    last = normalize_axis(end_dim, x.ndim, "flatten")
    if first > last:
        raise ArgumentError("flatten", "end_dim lies before start_dim", got=(start_dim, end_dim))
    joined: Any = math.prod(x.shape[first : last + 1])
    return ops.reshape(x, (*x.shape[:first], joined, *x.shape[last + 1 :]))


@spelling
def unflatten(x: Any, dim: int, sizes: Sequence[Any]) -> Any:
    """One axis as several of these sizes; one of them may be -1: what is left.

    >>> import symgrad as sg
    >>> sg.unflatten(sg.ones(2, 12), 1, (3, -1)).shape
    (2, 3, 4)
    """
    x = ops.asarray(x)
    place = normalize_axis(dim, x.ndim, "unflatten")
    return ops.reshape(x, (*x.shape[:place], *sizes, *x.shape[place + 1 :]))


@spelling
def expand(x: Any, *sizes: Any) -> Any:
    """Broadcast to these sizes; -1 leaves a size as it is. New axes come first.

    >>> import symgrad as sg
    >>> sg.ones(3, 1).expand(2, -1, 4).shape
    (2, 3, 4)
    """
    x = ops.asarray(x)
    wanted = listed(sizes)
    new = len(wanted) - x.ndim
    if new < 0 or any(is_minus_one(size) for size in wanted[:new]):
        raise ShapeError("expand", "no such sizes", expected=f"sizes for {x.type}", got=wanted)
    kept = zip(wanted[new:], x.shape, strict=True)
    sizes_now = [size if is_minus_one(wish) else wish for wish, size in kept]
    return ops.broadcast_to(x, (*wanted[:new], *sizes_now))


@spelling
def expand_as(x: Any, other: Any) -> Any:
    """Broadcast to the shape of another.

    >>> import symgrad as sg
    >>> sg.ones(1, 2).expand_as(sg.zeros(3, 2)).shape
    (3, 2)
    """
    return ops.broadcast_to(x, ops.asarray(other).shape)


@spelling
def reshape_as(x: Any, other: Any) -> Any:
    """In the shape of another.

    >>> import symgrad as sg
    >>> sg.ones(6).reshape_as(sg.zeros(3, 2)).shape
    (3, 2)
    """
    return ops.reshape(x, ops.asarray(other).shape)


def listed(sizes: Sequence[Any]) -> tuple[Any, ...]:
    """Sizes that are given one by one, or as one sequence."""
    if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
        return tuple(cast("Sequence[Any]", sizes[0]))
    return tuple(sizes)


def is_minus_one(size: Any) -> bool:
    """Whether a size is the number -1; a dimension is never."""
    return not isinstance(size, Dim) and size == -1
