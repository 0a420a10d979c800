"""Windows laid out side by side, and put together again: unfold, fold, sliding_window_view.

`window_cells` copies what a window sees at each of its places, `window_sum` adds it where it was
seen. Both are linear and each other's transposes.
"""

from __future__ import annotations

from typing import Any

from symgrad.errors import ShapeError
from symgrad.ir.op import Attrs, ops
from symgrad.ir.signature import canonical
from symgrad.ops.families import Array, composite, linear
from symgrad.ops.half import working_dtype
from symgrad.ops.movement import count
from symgrad.ops.windows import (
    covered,
    overlaid,
    padded,
    per_axis,
    sizes_per_axis,
    spatial_axes,
    window_attrs,
    window_counts,
    windows,
)
from symgrad.types import TensorType, normalize_axes, require_equal, take_constraints


def _canonical(
    where: str, axes: int, kernel: Any, stride: Any, padding: Any, dilation: Any
) -> Attrs:
    """The attributes in one form each."""
    kernel = per_axis(where, "kernel", kernel, axes, 1)
    return {"kernel": kernel, **window_attrs(where, axes, kernel, stride, padding, dilation)}


# --- the two ops ----------------------------------------------------------------------------------


def _cells_type(x: TensorType, **attrs: Any) -> TensorType:
    counts = window_counts("window_cells", x.shape[2:], **attrs)
    return TensorType((*x.shape[:2], *attrs["kernel"], *counts), x.dtype)


def _sum_type(cells: TensorType, *, shape: Any, **attrs: Any) -> TensorType:
    counts = window_counts("window_sum", shape, **attrs)
    wanted = (*attrs["kernel"], *counts)
    for axis, (a, b) in enumerate(zip(wanted, cells.shape[2:], strict=True)):
        require_equal(a, b, "window_sum", f"cells and places of windows, axis {axis + 2}")
    return TensorType((*cells.shape[:2], *shape), cells.dtype)


@linear(
    type=_cells_type,
    transpose=lambda ct, x, **attrs: window_sum(ct, shape=x.shape[2:], **attrs),
    warns=False,
    namespace=None,
)
def window_cells(x: Array, /, *, kernel: Any, stride: Any, padding: Any, dilation: Any) -> Array:
    """What a window sees of images (N, C, *sizes) at each of its places: (N, C, *kernel, *places).

    >>> import symgrad as sg
    >>> x = sg.asarray([[[1, 2, 3]]])
    >>> window_cells(x, kernel=(2,), stride=(1,), padding=((0, 0),), dilation=(1,))
    Tensor([[[[1, 2],
              [2, 3]]]])
    """
    return windows(padded(x, padding), kernel, stride, dilation).copy()


def _sum_transpose(ct: Any, cells: Any, *, shape: Any, **attrs: Any) -> Any:
    return window_cells(ct, **attrs)


@linear(
    type=_sum_type,
    transpose=_sum_transpose,
    warns=False,
    namespace=None,
)
def window_sum(
    cells: Array, /, *, shape: Any, kernel: Any, stride: Any, padding: Any, dilation: Any
) -> Array:
    """Images of sizes ``shape`` with cells added where windows see them: the transpose of
    `window_cells`.

    >>> import symgrad as sg
    >>> cells, attrs = sg.asarray([[[[1, 2], [3, 4]]]]), {"stride": (1,), "dilation": (1,)}
    >>> window_sum(cells, shape=(3,), kernel=(2,), padding=((0, 0),), **attrs)
    Tensor([[[1, 5, 4]]])
    """
    places = cells.shape[2 + len(kernel) :]
    whole = overlaid(cells.astype(working_dtype(cells.dtype), copy=False), stride, dilation)
    frame: list[Any] = []
    columns = zip(shape, places, kernel, stride, padding, dilation, strict=True)
    for size, points, k, s, (before, _), d in columns:
        # What lies behind the last window was not seen, or is padding.
        frame.append((-before, size + before - covered(points, k, s, d)))
    return padded(whole, tuple(frame)).astype(cells.dtype, copy=False)


# --- columns --------------------------------------------------------------------------------------


@composite
def unfold(
    x: Array, /, kernel: Any, *, stride: Any = 1, padding: Any = 0, dilation: Any = 1
) -> Any:
    """Windows as columns: what a kernel of `conv` sees, so that `conv` is a product of matrices.

    Args:
        x: images (N, C, *sizes), of any element type.
        kernel: the size of the window: an int, or one per spatial axis.
        stride, padding, dilation: as for `conv`.
    Returns:
        an array (N, C*k, L) for windows of k cells at L places, both in row-major order.
    Raises:
        ShapeError: the window is larger than the padded image, or an attribute is out of range.

    >>> import symgrad as sg
    >>> sg.unfold(sg.asarray([[[1, 2, 3, 4]]]), 2)
    Tensor([[[1, 2, 3],
             [2, 3, 4]]])
    """
    x = ops.asarray(x)
    axes = spatial_axes("unfold", x.type)
    attrs = _canonical("unfold", axes, kernel, stride, padding, dilation)
    counts = window_counts("unfold", x.shape[2:], **attrs)
    cells = window_cells(x, **attrs)
    n, c = x.shape[:2]
    return ops.reshape(cells, (n, c * count(attrs["kernel"]), count(counts)))


@composite
def fold(
    x: Array,
    /,
    output_size: Any,
    kernel: Any,
    *,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
) -> Any:
    """Columns of windows put back and added: the transpose of `unfold`.

    Args:
        x: columns (N, C*k, L), of any element type.
        output_size: the sizes of the images, one per spatial axis.
        kernel, stride, padding, dilation: those of `unfold`.
    Returns:
        images (N, C, *output_size).
    Raises:
        ShapeError: numbers of cells or places do not fit, the window is larger than the padded
            image, or an attribute is out of range.

    >>> import symgrad as sg
    >>> sg.fold(sg.asarray([[[1, 2, 3], [10, 20, 30]]]), (4,), 2)
    Tensor([[[ 1, 12, 23, 30]]])
    """
    x = ops.asarray(x)
    if x.ndim != 3:
        raise ShapeError("fold", "x needs batch, cells and places", expected="3 axes", got=x.type)
    given = canonical("output_size", output_size)
    if not isinstance(given, tuple) or not given:
        raise ShapeError(
            "fold", "output_size", expected="one size per spatial axis", got=repr(output_size)
        )
    shape = sizes_per_axis("fold", "output_size", given, (0,) * len(given))
    attrs = _canonical("fold", len(shape), kernel, stride, padding, dilation)
    counts = window_counts("fold", shape, **attrs)
    (n, rows, places), cells = x.shape, count(attrs["kernel"])
    if isinstance(rows, int) and rows % cells:
        raise ShapeError(
            "fold", "rows of x", expected=f"a multiple of the kernel's {cells} cells", got=rows
        )
    require_equal(places, count(counts), "fold", "columns of x and numbers of windows")
    take_constraints()  # `reshape` states it
    x = ops.reshape(x, (n, rows // cells, *attrs["kernel"], *counts))
    return window_sum(x, shape=shape, **attrs)


@composite
def sliding_window_view(x: Array, /, window_shape: Any, axis: Any = None) -> Any:
    """Windows of neighbouring elements, as a copy: what they see stands on new axes at the end.

    Args:
        x: an array of any element type.
        window_shape: the size of the window along each of ``axis``: an int or a tuple.
        axis: along which axes the window slides; None for all.
    Raises:
        ShapeError: window_shape and axis do not fit, or the window is larger than ``x``.

    >>> import symgrad as sg
    >>> sg.sliding_window_view(sg.asarray([1, 2, 3, 4]), 2)
    Tensor([[1, 2],
            [2, 3],
            [3, 4]])
    """
    where, x = "sliding_window_view", ops.asarray(x)
    axes = normalize_axes(axis, x.ndim, where)
    if not axes:
        return x
    kernel = per_axis(where, "window_shape", window_shape, len(axes), 1)
    for k, cells in zip(axes, kernel, strict=True):
        size = x.shape[k]
        if isinstance(size, int) and cells > size:
            problem = f"the window is larger than axis {k}"
            raise ShapeError(where, problem, expected=f"at most {size}", got=cells)
    attrs = _canonical(where, len(axes), kernel, 1, 0, 1)
    rest = [k for k in range(x.ndim) if k not in axes]
    lead, sizes = tuple(x.shape[k] for k in rest), [x.shape[k] for k in axes]
    counts = window_counts(where, sizes, **attrs)
    x = ops.reshape(ops.permute_dims(x, (*rest, *axes)), (1, count(lead), *sizes))
    x = ops.reshape(window_cells(x, **attrs), (*lead, *attrs["kernel"], *counts))
    first, places = len(rest), len(rest) + len(axes)
    order = [
        rest.index(k) if k in rest else places + axes.index(k) for k in range(first + len(axes))
    ]
    return ops.permute_dims(x, (*order, *range(first, places)))
