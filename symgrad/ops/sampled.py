"""Functions known at points: their slopes there, and the area below the lines between them."""

from __future__ import annotations

from typing import Any

from symgrad.errors import ArgumentError, ShapeError
from symgrad.ir.op import ops
from symgrad.ops.conversion import strength
from symgrad.ops.families import Array, composite
from symgrad.ops.interpolation import as_floating
from symgrad.ops.joining import cut
from symgrad.ops.loss_reduction import require_shape
from symgrad.ops.moments import wide
from symgrad.types import DType, max_size, normalize_axes, normalize_axis, promote

# --- slopes ---------------------------------------------------------------------------------------


def _along(x: Any, axis: int, rank: int) -> Any:
    """A vector as an array that broadcasts along an axis."""
    return ops.reshape(x, (x.shape[0], *(1,) * (rank - axis - 1)))


def _ends_cut(x: Any, axis: int) -> tuple[Any, Any]:
    """All but the last along an axis, and all but the first."""
    size = x.shape[axis]
    return cut(x, axis, 0, size - 1), cut(x, axis, 1, size)


def _steps(where: str, x: Any, size: Any) -> Any:
    """The distances of neighbours on an axis of ``size`` points."""
    if x.ndim != 1:
        raise ShapeError(where, "coordinates are a vector", expected="1 axis", got=x.type)
    require_shape(where, "coordinates", x.shape, (size,), "the axis")
    before, after = _ends_cut(x, 0)
    return after - before


def _with_size(x: Any, axis: int, size: Any) -> Any:
    """``x``, of which this is the size along an axis; for a named one it is seen when it runs."""
    shape = (*x.shape[:axis], size, *x.shape[axis + 1 :])
    return x if shape == x.shape else ops.broadcast_to(x, shape)


def _with_points(where: str, x: Any, axis: int, least: int) -> Any:
    """``x``, that has at least so many points along an axis."""
    size = x.shape[axis]
    if isinstance(size, int) and size < least:
        raise ShapeError(where, f"points on axis {axis}", expected=f"at least {least}", got=size)
    return _with_size(x, axis, max_size(size, least))


def _slopes(f: Any, axis: int, spacing: Any, edge_order: int) -> Any:
    """Means of the slopes to both sides, each weighted with the distance to the other side."""
    asked, f = f.shape[axis], _with_points("gradient", f, axis, edge_order + 1)
    size = f.shape[axis]
    if spacing.ndim == 0:
        steps, left, right = spacing, 1, 1
    else:
        steps = _along(_steps("gradient", spacing, size), axis, f.ndim)
        left, right = _ends_cut(steps, 0)
    low, high = _ends_cut(f, axis)
    secants = (high - low) / steps
    before, after = _ends_cut(secants, axis)
    middle = (right * before + left * after) / (left + right)
    first, last = cut(secants, axis, 0, 1), cut(secants, axis, size - 2, size - 1)
    if edge_order == 2:
        # A parabola through three points: beyond the middle one's slope by as much again.
        first = 2 * first - cut(middle, axis, 0, 1)
        last = 2 * last - cut(middle, axis, size - 3, size - 2)
    return _with_size(ops.concat([first, middle, last], axis=axis), axis, asked)


def _spacings(spacing: Any, count: int) -> list[Any]:
    """One distance, or the coordinates, per axis."""
    if not spacing:
        return [ops.asarray(1)] * count
    given = [ops.asarray(one) for one in spacing]
    if len(given) == 1 and given[0].ndim == 0:
        return given * count
    if len(given) != count:
        problem = "one distance, or one per axis"
        raise ArgumentError("gradient", problem, expected=count, got=len(given))
    return given


@composite
def gradient(f: Array, /, *spacing: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """The slopes of a function known at points, from differences of neighbours.

    Inside, they are exact for parabolas. For derivatives of programs see `grad`.

    Args:
        f: values on a grid; integers are cast to the default float type.
        spacing: the distance of neighbours (default 1), or for each of the axes its distance or the
            coordinates of its points.
        axis: an axis, a tuple of axes, or None for all.
        edge_order: 1: at the ends the slope to the neighbour; 2: that of the parabola through the
            last three points.
    Returns:
        an array in the shape of ``f``; for several axes a tuple of them.
    Raises:
        ShapeError: fewer than ``edge_order + 1`` points; an axis does not exist or is given twice;
            coordinates do not fit. ArgumentError: not one distance per axis, or another order.

    >>> import symgrad as sg
    >>> sg.gradient(sg.asarray([0.0, 1.0, 4.0, 9.0]))
    Tensor([1., 2., 4., 5.])
    >>> sg.gradient(sg.asarray([0.0, 1.0, 4.0, 9.0]), 0.5, edge_order=2)
    Tensor([ 0.,  4.,  8., 12.])
    """
    f = as_floating("gradient", "f", f, real=False)
    if edge_order not in (1, 2):
        raise ArgumentError("gradient", "edge_order", expected="1 or 2", got=repr(edge_order))
    axes = normalize_axes(axis, f.ndim, "gradient")
    spacings = _spacings(spacing, len(axes))
    found = [_slopes(f, k, one, edge_order) for k, one in zip(axes, spacings, strict=True)]
    return found[0] if len(found) == 1 else tuple(found)


# --- areas ----------------------------------------------------------------------------------------


def _widths(where: str, x: Any, y: Any, axis: int) -> Any:
    """The distances of neighbours, so that they broadcast with the areas between these."""
    if x.ndim == 1:
        return _along(_steps(where, x, y.shape[axis]), axis, y.ndim)
    before, after = _ends_cut(x, normalize_axis(axis - y.ndim, x.ndim, where))
    return after - before


def _areas(where: str, y: Any, x: Any, dx: Any, axis: int) -> tuple[Any, int, DType]:
    """The area between each point and the next, the axis, and the element type of their sums."""
    y = as_floating(where, "y", y, real=False)
    axis = normalize_axis(axis, y.ndim, where)
    asked, y = y.shape[axis], _with_points(where, y, axis, 1)
    low, high = _ends_cut(wide(y), axis)
    if x is None:
        width, dtype = dx, promote(y.dtype, strength(dx))
    else:
        x = as_floating(where, "x", x, real=False)
        width, dtype = _widths(where, wide(x), y, axis), promote(y.dtype, x.dtype)
    areas = (low + high) / 2 * width
    return _with_size(areas, areas.ndim - y.ndim + axis, asked - 1), axis - y.ndim, dtype


def _narrow(x: Any, dtype: DType) -> Any:
    return x if x.dtype == dtype else ops.astype(x, dtype)


@composite
def trapezoid(y: Array, /, x: Array | None = None, *, dx: Any = 1.0, axis: int = -1) -> Any:
    """The integral of a function known at points, by straight lines between these.

    Args:
        y: values; integers are cast to the default float type.
        x: where they are: one coordinate per point of the axis, or an array that broadcasts with
            ``y``; they need not ascend.
        dx: the distance of neighbours, if ``x`` is None.
        axis: along which axis.
    Returns:
        an array without that axis.
    Raises:
        ShapeError: no point; the axis does not exist; ``x`` does not fit.

    >>> import symgrad as sg
    >>> sg.trapezoid(sg.asarray([0.0, 1.0, 4.0]), sg.asarray([0.0, 1.0, 3.0]))
    Tensor(5.5)
    """
    areas, axis, dtype = _areas("trapezoid", y, x, dx, axis)
    return _narrow(ops.sum(areas, axis=axis), dtype)


@composite
def cumulative_trapezoid(
    y: Array,
    /,
    x: Array | None = None,
    *,
    dx: Any = 1.0,
    axis: int = -1,
    include_initial: bool = False,
) -> Any:
    """The integral of a function known at points, from the first to each of the others.

    Args:
        y, x, dx, axis: as for `trapezoid`.
        include_initial: start with the integral to the first point itself, which is 0.
    Returns:
        an array with one element less along the axis, or as many.
    Raises:
        ShapeError: as `trapezoid`.

    >>> import symgrad as sg
    >>> sg.cumulative_trapezoid(sg.asarray([0.0, 1.0, 4.0]), include_initial=True)
    Tensor([0. , 0.5, 3. ])
    """
    areas, axis, dtype = _areas("cumulative_trapezoid", y, x, dx, axis)
    sums = ops.cumulative_sum(areas, axis=axis, include_initial=include_initial)
    return _narrow(sums, dtype)
