"""Images read between their cells, at places that are data: grid_sample and affine_grid.

A place is given in coordinates from -1 to 1 along each axis, the last axis first.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

from symgrad.errors import ArgumentError, ShapeError
from symgrad.ir.op import ops
from symgrad.ir.signature import canonical
from symgrad.ops.families import Array, composite, require_kind
from symgrad.ops.interpolation import count_of
from symgrad.ops.movement import count
from symgrad.ops.windows import require_spatial, spatial_axes
from symgrad.types import (
    Size,
    as_shape,
    float16,
    float32,
    max_size,
    promote,
    require_equal,
    take_constraints,
)

MODES = ("bilinear", "nearest", "bicubic")
PADDING_MODES = ("zeros", "border", "reflection")


class _Tap(NamedTuple):
    """A cell along one axis: its position (a whole number) and its weight."""

    at: Any
    weight: Any


# --- one axis -------------------------------------------------------------------------------------


def _in_cells(coordinate: Any, size: Size, align_corners: bool) -> Any:
    """A coordinate from -1 to 1, in cells: these are the middles of the first and last cell, or
    their outer edges."""
    if align_corners:
        return (coordinate + 1) / 2 * count_of(size - 1)
    return ((coordinate + 1) * count_of(size) - 1) / 2


def _reflected(at: Any, size: Size, align_corners: bool) -> Any:
    """A position mirrored at both ends until it is inside."""
    low = 0.0 if align_corners else -0.5
    span = count_of(max_size(size - 1, 1) if align_corners else size)
    distance = ops.abs(at - low)
    turns = ops.floor(distance / span)
    rest = distance - turns * span
    inside = ops.where(turns == 2 * ops.floor(turns / 2), rest, span - rest) + low
    return ops.where(ops.isfinite(at), inside, 0)


def _brought_inside(at: Any, size: Size, padding_mode: str, align_corners: bool) -> Any:
    """A position in the image; where zeros surround it, at least one not far away."""
    if padding_mode == "zeros":
        return ops.clip(at, -3, size + 2)
    if padding_mode == "reflection":
        at = _reflected(at, size, align_corners)
    return ops.clip(at, 0, size - 1)


def _cubic_weights(t: Any) -> list[Any]:
    """Keys' kernel with a = -3/4 at the distances t + 1, t, 1 - t and 2 - t, for t from 0 to 1."""
    near = [((1.25 * d - 2.25) * d) * d + 1 for d in (t, 1 - t)]
    far = [((-0.75 * d + 3.75) * d - 6) * d + 3 for d in (t + 1, 2 - t)]
    return [far[0], near[0], near[1], far[1]]


def _taps(
    coordinate: Any, size: Size, mode: str, padding_mode: str, align_corners: bool
) -> list[_Tap]:
    at = _in_cells(coordinate, size, align_corners)
    if mode == "bicubic":
        # Here the taps are brought inside, not the place.
        if padding_mode == "reflection":
            at = ops.where(ops.isfinite(at), at, 0)
        else:
            at = ops.clip(at, -3, size + 2)
        first = ops.floor(at)
        weights = _cubic_weights(at - first)
        places = [
            _brought_inside(first + k, size, padding_mode, align_corners) for k in range(-1, 3)
        ]
        return [_Tap(place, weight) for place, weight in zip(places, weights, strict=True)]
    at = _brought_inside(at, size, padding_mode, align_corners)
    if mode == "nearest":
        return [_Tap(ops.round(at), None)]
    first = ops.floor(at)
    return [_Tap(first, 1 - (at - first)), _Tap(first + 1, at - first)]


# --- all axes -------------------------------------------------------------------------------------


def _read(x: Any, taps: tuple[_Tap, ...], sizes: tuple[Size, ...]) -> Any:
    """The cells of planes (N, C, cells) at one tap per axis, weighed; 0 outside."""
    flat: Any = 0
    inside: Any = True
    weight: Any = None
    for tap, size in zip(taps, sizes, strict=True):
        index = ops.astype(tap.at, "int64")
        inside = ops.logical_and(
            inside, ops.logical_and(index >= 0, index < count_of(size, "int64"))
        )
        flat = flat * count_of(size, "int64") + ops.clip(index, 0, size - 1)
        if tap.weight is not None:
            weight = tap.weight if weight is None else weight * tap.weight
    flat, inside = ops.expand_dims(flat, axis=1), ops.expand_dims(inside, axis=1)
    seen = ops.where(inside, ops.take_along_axis(x, flat, axis=2), 0)
    return seen if weight is None else seen * ops.expand_dims(weight, axis=1)


def _require_fitting(x: Any, grid: Any, mode: str, padding_mode: str) -> int:
    where = "grid_sample"
    axes = spatial_axes(where, x.type)
    require_spatial(where, x.type)
    require_kind(where, x.dtype, "inexact")
    require_kind(where, grid.dtype, "floating", "grid")
    for name, given, known in (
        ("mode", mode, MODES),
        ("padding_mode", padding_mode, PADDING_MODES),
    ):
        if given not in known:
            raise ArgumentError(where, name, expected=", ".join(known), got=repr(given))
    if grid.ndim < 2 or grid.shape[-1] != axes:
        expected = f"(N, ..., {axes})"
        raise ShapeError(where, "shape of grid", expected=expected, got=grid.type)
    require_equal(x.shape[0], grid.shape[0], where, "batch sizes of x and grid")
    take_constraints()  # `take_along_axis` states it
    return axes


@composite
def grid_sample(
    x: Array,
    grid: Array,
    /,
    *,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = False,
) -> Any:
    """Images read at the places of a grid, between their cells.

    On a cell, the slope along the grid is that towards the next cell; at the border and where the
    image is mirrored, it is 0.

    Args:
        x: images (N, C, *sizes), floating-point or complex.
        grid: coordinates (N, *places, axes) of any number of places, real: the first is that along
            the last axis of ``x``. -1 and 1 are the outer edges of the first and last cell, or with
            ``align_corners`` their middles. NaN counts as -1.
        mode: "bilinear" (linear along each of any number of axes), "nearest" (halves to even),
            "bicubic" (Keys' kernel with a = -3/4 along each axis).
        padding_mode: what is outside: "zeros", the nearest cell of the "border", or the image by
            "reflection", at its edges, with ``align_corners`` at the middles of the cells there.
    Returns:
        an array (N, C, *places), of the promoted type.
    Raises:
        ShapeError: shapes do not fit, or a spatial axis is empty. ArgumentError: an unknown mode.
        DTypeError: integers or booleans, or a complex grid.

    >>> import symgrad as sg
    >>> x, grid = sg.asarray([[[1.0, 2.0, 4.0]]]), sg.asarray([[[-1.0], [0.0], [0.5]]])
    >>> sg.grid_sample(x, grid, align_corners=True)
    Tensor([[[1., 2., 3.]]])
    """
    x, grid = ops.asarray(x), ops.asarray(grid)
    axes = _require_fitting(x, grid, mode, padding_mode)
    dtype, (n, c, *sizes), places = promote(x.dtype, grid.dtype), x.shape, grid.shape[1:-1]
    if grid.dtype == float16:
        grid = ops.astype(grid, float32)
    flat = ops.reshape(x, (n, c, count(tuple(sizes))))
    grid = ops.where(ops.isnan(grid), -1, grid)
    grid = ops.reshape(grid, (n, count(places), axes))
    along = [
        _taps(grid[..., axes - 1 - axis], size, mode, padding_mode, align_corners)
        for axis, size in enumerate(sizes)
    ]
    total: Any = None
    for taps in itertools.product(*along):
        part = _read(flat, taps, tuple(sizes))
        total = part if total is None else total + part
    return ops.reshape(ops.astype(total, dtype), (n, c, *places))


@composite
def affine_grid(theta: Array, /, size: Any, *, align_corners: bool = False) -> Any:
    """The grid with which `grid_sample` maps images by affine maps.

    Args:
        theta: matrices (N, axes, axes + 1), floating-point: each maps the coordinates of the result
            to those of the image, and its last column is added.
        size: the shape (N, C, *sizes) of the result of `grid_sample`.
        align_corners: that of `grid_sample`.
    Returns:
        coordinates (N, *sizes, axes), the first along the last axis.
    Raises:
        ShapeError: theta does not fit the size. DTypeError: theta is not floating-point.

    >>> import symgrad as sg
    >>> sg.affine_grid(sg.asarray([[[2.0, 1.0]]]), (1, 1, 3), align_corners=True)
    Tensor([[[-1.],
             [ 1.],
             [ 3.]]])
    """
    where, theta = "affine_grid", ops.asarray(theta)
    require_kind(where, theta.dtype, "floating", "theta")
    shape = as_shape(canonical("size", size), where)
    sizes = shape[2:]
    axes = len(sizes)
    if axes < 1 or theta.ndim != 3 or theta.shape[1:] != (axes, axes + 1):
        expected = f"(N, {axes}, {axes + 1}) for the size {shape}"
        raise ShapeError(where, "shape of theta", expected=expected, got=theta.type)
    require_equal(shape[0], theta.shape[0], where, "batch sizes of theta and size")
    take_constraints()  # `reshape` states it
    n = shape[0]
    ones = (1,) * axes
    grid = ops.reshape(theta[:, :, axes], (n, *ones, axes))
    for axis, cells in enumerate(sizes):
        # Twice the distance of each middle from the middle of all, in cells.
        twice = ops.astype(2 * ops.arange(cells), theta.dtype) - count_of(cells - 1, theta.dtype)
        across = max_size(cells - 1, 1) if align_corners else cells
        along: list[Size] = [1] * (axes + 2)
        along[1 + axis] = cells
        place = ops.reshape(twice / count_of(across, theta.dtype), along)
        grid = grid + place * ops.reshape(theta[:, :, axes - 1 - axis], (n, *ones, axes))
    return ops.broadcast_to(grid, (n, *sizes, axes))
