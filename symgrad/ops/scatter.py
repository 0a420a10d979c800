"""Reading and writing along one axis at positions that are data, elsewhere in place.

With an axis of 1, ``indices[i, j, k]`` stands for the position ``[i, indices[i, j, k], k]``. Unlike
in `take_along_axis` nothing broadcasts: on the other axes, the indices reach as far as they go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symgrad.errors import ArgumentError, ShapeError
from symgrad.ir.op import ops
from symgrad.ops.families import Array, composite
from symgrad.ops.gather import Layout, gather_at, require_integers, scatter_add_at, scatter_set_at
from symgrad.ops.grouping import occurrences, slots
from symgrad.ops.indexing import in_type_of
from symgrad.ops.interpolation import count_of
from symgrad.ops.movement import count
from symgrad.ops.segments import (
    segment_max,
    segment_mean,
    segment_min,
    segment_prod,
    segment_sum,
)
from symgrad.types import normalize_axis, require_equal


def _prepared(where: str, x: Any, indices: Any, axis: Any) -> tuple[Any, Any, int]:
    """The arrays and the axis, if they fit."""
    x, indices = ops.asarray(x), ops.asarray(indices)
    require_integers(where, [indices.type])
    if x.ndim != indices.ndim:
        raise ShapeError(where, "numbers of axes differ", expected=x.type, got=indices.type)
    place = normalize_axis(axis, x.ndim, where)
    for k, (size, length) in enumerate(zip(x.shape, indices.shape, strict=True)):
        beyond = isinstance(size, int) and isinstance(length, int) and length > size
        if k != place and beyond:
            problem = f"indices reach beyond axis {k}"
            raise ShapeError(where, problem, expected=f"at most {size}", got=length)
    return x, indices, place


def _positions(indices: Any, axis: int) -> list[Any]:
    """One index array per axis."""
    found: list[Any] = []
    for k, size in enumerate(indices.shape):
        stretched = [size if j == k else 1 for j in range(indices.ndim)]
        found.append(indices if k == axis else ops.reshape(ops.arange(size), stretched))
    return found


def _layout(ndim: int) -> Layout:
    return ("index",) * ndim


def _written(where: str, x: Any, indices: Any, values: Any) -> Any:
    """One value per index, in the element type of ``x``."""
    values = in_type_of(where, x, values)
    if values.ndim == 0:
        return ops.broadcast_to(values, indices.shape)
    if values.ndim != indices.ndim:
        raise ShapeError(where, "numbers of axes differ", expected=indices.type, got=values.type)
    cut: list[slice] = []
    for k, (size, length) in enumerate(zip(values.shape, indices.shape, strict=True)):
        larger = isinstance(size, int) and isinstance(length, int) and size > length
        if not larger:
            require_equal(length, size, where, f"sizes of axis {k} of indices and values")
        cut.append(slice(length) if larger else slice(None))
    return values[tuple(cut)]


@composite
def gather(x: Array, indices: Array, /, *, axis: int) -> Any:
    """The elements of ``x`` at ``indices`` along one axis.

    With ``axis=0`` on two axes, ``result[i, j] = x[indices[i, j], j]``.

    Args:
        x: an array of at least one axis.
        indices: integers, with as many axes as ``x``, and on all axes but this one no larger.
            Negative ones count from the end.
        axis: which axis.
    Returns:
        an array of the shape of ``indices``.
    Raises:
        ShapeError: shapes do not fit. DTypeError: indices are not integers.
        IndexError: an index is out of range, when it runs.

    >>> import symgrad as sg
    >>> x = sg.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> sg.gather(x, sg.asarray([[1, 0], [0, 0]]), axis=1)
    Tensor([[2., 1.],
            [3., 3.]])
    """
    x, indices, place = _prepared("gather", x, indices, axis)
    others = zip(x.shape, indices.shape, strict=True)
    if all(k == place or m == n for k, (m, n) in enumerate(others)):
        return ops.take_along_axis(x, indices, axis=place)
    return gather_at([x, *_positions(indices, place)], layout=_layout(x.ndim))


@composite
def scatter(x: Array, indices: Array, values: Array, /, *, axis: int) -> Any:
    """A copy of ``x`` with ``values`` written at ``indices`` along one axis.

    With ``axis=0`` on two axes, ``result[indices[i, j], j] = values[i, j]``. Where a position is
    written twice, the last value stays, and it alone has a derivative.

    Args:
        x, indices, axis: as for `gather`.
        values: a number, or an array with as many axes as ``indices`` and no axis smaller; what
            lies beyond is not written. Cast to the element type of ``x``.
    Raises:
        As `gather`; DTypeError: values of a wider kind than ``x``.

    >>> import symgrad as sg
    >>> sg.scatter(sg.zeros((4,)), sg.asarray([3, 0]), sg.asarray([5.0, 6.0]), axis=0)
    Tensor([6., 0., 0., 5.])
    """
    x, indices, place = _prepared("scatter", x, indices, axis)
    values = _written("scatter", x, indices, values)
    return scatter_set_at([x, values, *_positions(indices, place)], layout=_layout(x.ndim))


@composite
def scatter_add(x: Array, indices: Array, values: Array, /, *, axis: int) -> Any:
    """A copy of ``x`` with ``values`` added at ``indices`` along one axis.

    Where a position is given twice, both values are added. Arguments and errors are those of
    `scatter`.

    >>> import symgrad as sg
    >>> sg.scatter_add(sg.ones((3,)), sg.asarray([2, 2]), sg.asarray([5.0, 6.0]), axis=0)
    Tensor([ 1.,  1., 12.])
    """
    x, indices, place = _prepared("scatter_add", x, indices, axis)
    values = _written("scatter_add", x, indices, values)
    return x + scatter_add_at(
        [values, *_positions(indices, place)], shape=x.shape, layout=_layout(x.ndim)
    )


_REDUCTIONS: dict[str, Callable[..., Any]] = {
    "sum": segment_sum,
    "prod": segment_prod,
    "mean": segment_mean,
    "max": segment_max,
    "min": segment_min,
}


@composite
def scatter_reduce(
    x: Array,
    indices: Array,
    values: Array,
    /,
    *,
    axis: int,
    reduction: str,
    include_self: bool = True,
) -> Any:
    """A copy of ``x`` with elements combined with the ``values`` that go to their position.

    Args:
        x, indices, values, axis: as for `scatter`.
        reduction: "sum", "prod", "mean", "max" or "min". Of equal extremes each has an even share
            of the slope, the element of ``x`` included.
        include_self: whether an element of ``x`` is combined with the values; if not, they replace
            it.
    Raises:
        As `scatter`; ArgumentError: an unknown reduction. DTypeError: the mean of integers.

    >>> import symgrad as sg
    >>> x, i = sg.asarray([1.0, 2.0, 3.0]), sg.asarray([0, 0, 2])
    >>> sg.scatter_reduce(x, i, sg.asarray([5.0, 6.0, 0.0]), axis=0, reduction="max")
    Tensor([6., 2., 3.])
    """
    x, indices, place = _prepared("scatter_reduce", x, indices, axis)
    if reduction not in _REDUCTIONS:
        known = ", ".join(_REDUCTIONS)
        raise ArgumentError("scatter_reduce", "reduction", expected=known, got=repr(reduction))
    values = ops.reshape(_written("scatter_reduce", x, indices, values), (-1,))
    size = count(x.shape)
    own = ops.arange(size)
    cells = ops.reshape(own, x.shape)
    cells = gather_at([cells, *_positions(indices, place)], layout=_layout(x.ndim))
    cells = ops.reshape(cells, (-1,))
    if not include_self:
        # The elements that values replace go to no segment.
        touched = occurrences(slots(cells, count=size, where="scatter_reduce"), count=size) > 0
        own = ops.where(touched, count_of(size, "int64"), own)
    together = ops.concat([ops.reshape(x, (-1,)), values])
    combined = _REDUCTIONS[reduction](together, ops.concat([own, cells]), size)
    combined = ops.reshape(combined, x.shape)
    return combined if combined.dtype == x.dtype else in_type_of("scatter_reduce", x, combined)
