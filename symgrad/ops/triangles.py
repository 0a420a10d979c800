"""Where the elements of a triangle are, and matrices with given diagonals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, ShapeError, TraceError
from symgrad.ir.op import ops
from symgrad.ops.families import Array, composite
from symgrad.types import Dim


def _sizes(where: str, n: Any, m: Any, k: Any) -> tuple[int, int, int]:
    """Rows, columns and diagonal as ints."""
    sizes = {"n": n, "m": n if m is None else m, "k": k}
    for name, size in sizes.items():
        if isinstance(size, Dim):
            hint = "the number of elements of a triangle must be known"
            raise TraceError(where, f"{name} is symbolic", got=size, hint=hint)
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)):
            raise ArgumentError(where, f"{name} is no int", got=repr(size))
        if size < 0 and name != "k":
            raise ArgumentError(where, f"{name} is negative", expected="0 or more", got=size)
    return int(n), int(sizes["m"]), int(k)


def _positions(where: str, find: Callable[..., Any], n: Any, m: Any, k: Any) -> Any:
    rows, columns, k = _sizes(where, n, m, k)
    return tuple(ops.asarray(i.astype(np.int64)) for i in find(rows, k, columns))


@composite
def tril_indices(n: int, k: int = 0, m: int | None = None) -> Any:
    """The positions of a lower triangle, row by row: rows and columns.

    Args:
        n: how many rows.
        k: the last diagonal that belongs to it; below the main one if negative.
        m: how many columns; ``n`` if None.
    Returns:
        two int64 arrays.
    Raises:
        ArgumentError: no int, or a negative size. TraceError: a symbolic size.

    >>> import symgrad as sg
    >>> sg.tril_indices(2)
    (Tensor([0, 1, 1]), Tensor([0, 0, 1]))
    """
    return _positions("tril_indices", np.tril_indices, n, m, k)


@composite
def triu_indices(n: int, k: int = 0, m: int | None = None) -> Any:
    """The positions of an upper triangle, row by row: rows and columns.

    ``k`` is the first diagonal that belongs to it, above the main one if positive. Other arguments,
    results and errors are those of `tril_indices`.

    >>> import symgrad as sg
    >>> sg.triu_indices(2)
    (Tensor([0, 0, 1]), Tensor([0, 1, 1]))
    """
    return _positions("triu_indices", np.triu_indices, n, m, k)


@composite
def diag_embed(x: Array, /, *, offset: int = 0) -> Any:
    """Square matrices that have the vectors of the last axis on a diagonal, zeros elsewhere.

    Args:
        x: an array of at least one axis.
        offset: which diagonal; above the main one if positive, below if negative.
    Raises:
        ShapeError: no axis.

    >>> import symgrad as sg
    >>> sg.diag_embed(sg.asarray([1.0, 2.0]))
    Tensor([[1., 0.],
            [0., 2.]])
    """
    x = ops.asarray(x)
    if x.ndim == 0:
        raise ShapeError("diag_embed", "x is no vector", expected="1 or more axes", got=x.type)
    order = x.shape[-1] + abs(offset)
    return ops.diagonal_matrix(x, shape=(order, order), offset=offset)
