"""Arrays side by side, one below the other, one behind the other: by the way that rows lie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symgrad.errors import ShapeError
from symgrad.ir.op import ops
from symgrad.ops.families import Array, composite
from symgrad.ops.joining import concat, several
from symgrad.ops.shaping import atleast_1d, atleast_2d, atleast_3d


@composite
def hstack(arrays: Sequence[Array], /) -> Any:
    """Arrays side by side: joined along the second axis, vectors along their only one.

    Args:
        arrays: at least one, of any element types, which are promoted; a number counts as a vector.
    Raises:
        ShapeError: other sizes, or numbers of axes, differ. ArgumentError: no array.

    >>> import symgrad as sg
    >>> sg.hstack([sg.asarray([1, 2]), sg.asarray([3])])
    Tensor([1, 2, 3])
    """
    given = [atleast_1d(x) for x in several("hstack", arrays)]
    return concat(given, axis=0 if given[0].ndim == 1 else 1)


@composite
def vstack(arrays: Sequence[Array], /) -> Any:
    """Arrays one below the other: joined along the first axis, where a vector is a row.

    Args:
        arrays: at least one, of any element types, which are promoted.
    Raises:
        ShapeError: other sizes, or numbers of axes, differ. ArgumentError: no array.

    >>> import symgrad as sg
    >>> sg.vstack([sg.asarray([1, 2]), sg.asarray([3, 4])])
    Tensor([[1, 2],
            [3, 4]])
    """
    return concat([atleast_2d(x) for x in several("vstack", arrays)], axis=0)


@composite
def dstack(arrays: Sequence[Array], /) -> Any:
    """Arrays one behind the other: joined along the third axis, as `atleast_3d` makes one.

    Args:
        arrays: at least one, of any element types, which are promoted.
    Raises:
        ShapeError: other sizes, or numbers of axes, differ. ArgumentError: no array.

    >>> import symgrad as sg
    >>> sg.dstack([sg.asarray([1, 2]), sg.asarray([3, 4])])
    Tensor([[[1, 3],
             [2, 4]]])
    """
    return concat([atleast_3d(x) for x in several("dstack", arrays)], axis=2)


@composite
def column_stack(arrays: Sequence[Array], /) -> Any:
    """Vectors as the columns of a matrix; a matrix stands for its columns.

    Args:
        arrays: at least one vector or matrix, of any element types, which are promoted.
    Raises:
        ShapeError: numbers of rows differ, or more than two axes. ArgumentError: no array.

    >>> import symgrad as sg
    >>> sg.column_stack([sg.asarray([1, 2]), sg.asarray([3, 4])])
    Tensor([[1, 3],
            [2, 4]])
    """
    columns: list[Any] = []
    for k, x in enumerate(several("column_stack", arrays)):
        if x.ndim > 2:
            problem = f"arrays[{k}] is neither a vector nor a matrix"
            raise ShapeError("column_stack", problem, expected="1 or 2 axes", got=x.type)
        columns.append(x if x.ndim == 2 else ops.expand_dims(atleast_1d(x), axis=-1))
    return concat(columns, axis=1)
