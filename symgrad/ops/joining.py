"""Ops that join, take apart, repeat and pad."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, ShapeError
from symgrad.ir.op import ZERO, Attrs, ops
from symgrad.ops.families import Array, composite, linear, variadic_linear
from symgrad.ops.movement import broadcast_to, reshape
from symgrad.types import Dim, Size, TensorType, normalize_axis, promote, require_equal


def _joined_type(types: list[TensorType], *, axis: int) -> TensorType:
    first = types[0]
    shape = list(first.shape)
    for k, kind in enumerate(types[1:], 1):
        if kind.ndim != first.ndim:
            raise ShapeError("concat", f"arrays[{k}] has another rank", expected=first, got=kind)
        for a, size in enumerate(kind.shape):
            if a == axis:
                shape[a] = shape[a] + size
            else:
                shape[a] = require_equal(shape[a], size, "concat", f"sizes of axis {a}")
    return TensorType(shape, promote(*(t.dtype for t in types)))


def _part(i: int, ct: Any, args: Sequence[Any], *, axis: int) -> Any:
    start: Size = 0
    for arg in args[:i]:
        start = start + arg.shape[axis]
    return _cut(ct, axis, start, start + args[i].shape[axis])


def _cut(x: Any, axis: int, start: Size, stop: Size) -> Any:
    """``x[start:stop]`` along one axis; the bounds are absolute and may be symbolic."""
    rank = x.ndim
    pick: Any = lambda value, default: (*[default] * axis, value, *[default] * (rank - axis - 1))  # noqa: E731
    return ops.slice_axes(x, starts=pick(start, 0), stops=pick(stop, None), steps=(1,) * rank)


@variadic_linear(type=_joined_type, transpose=_part, warns=False, namespace=None)
def join(arrays: Sequence[Array], /, *, axis: int) -> Array:
    """Arrays one after the other along an axis that counts from the front. `concat` is its face."""
    return np.concatenate(arrays, axis=axis)


@composite
def concat(arrays: Sequence[Array], /, *, axis: Any = 0) -> Any:
    """Arrays one after the other along an axis.

    Args:
        arrays: at least one; equal sizes but along ``axis``; types are promoted.
        axis: None joins the flattened arrays.
    Raises:
        ShapeError: other sizes differ.

    >>> import symgrad as sg
    >>> sg.concat([sg.asarray([1]), sg.asarray([2, 3])])
    Tensor([1, 2, 3])
    """
    given = [ops.asarray(a) for a in arrays]
    if not given:
        raise ArgumentError("concat", "nothing to join", expected="at least one array")
    if axis is None:
        given, axis = [reshape(a, (-1,)) for a in given], 0
    if given[0].ndim == 0:
        raise ShapeError("concat", "0-d arrays have no axis to join along", hint="use sg.stack")
    return join(given, axis=normalize_axis(axis, given[0].ndim, "concat"))


@composite
def stack(arrays: Sequence[Array], /, *, axis: int = 0) -> Any:
    """Arrays of equal shapes along a new axis.

    Raises:
        ShapeError: shapes differ.

    >>> import symgrad as sg
    >>> sg.stack([sg.asarray([1, 2]), sg.asarray([3, 4])], axis=1)
    Tensor([[1, 3],
            [2, 4]])
    """
    given = [ops.asarray(a) for a in arrays]
    if not given:
        raise ArgumentError("stack", "nothing to join", expected="at least one array")
    axis = normalize_axis(axis, given[0].ndim + 1, "stack")
    for k, array in enumerate(given):
        if array.ndim != given[0].ndim:
            raise ShapeError(
                "stack", f"arrays[{k}] has another rank", expected=given[0].shape, got=array.shape
            )
        for a, (left, right) in enumerate(zip(given[0].shape, array.shape, strict=True)):
            require_equal(left, right, "stack", f"sizes of axis {a}")
    return join([ops.expand_dims(a, axis=axis) for a in given], axis=axis)


@composite
def unstack(x: Array, /, *, axis: int = 0) -> Any:
    """The slices along an axis, as a tuple; the axis must have a known size.

    >>> import symgrad as sg
    >>> sg.unstack(sg.asarray([[1, 2], [3, 4]]))[1]
    Tensor([3, 4])
    """
    x = ops.asarray(x)
    axis = normalize_axis(axis, x.ndim, "unstack")
    size = x.shape[axis]
    if isinstance(size, Dim):
        raise ShapeError("unstack", "the number of slices is unknown", expected="an int", got=size)
    return tuple(x[(*[slice(None)] * axis, k)] for k in range(size))


@composite
def split(x: Array, indices_or_sections: Any, /, *, axis: int = 0) -> Any:
    """Pieces along an axis, as a list.

    Args:
        indices_or_sections: an int gives that many equal pieces; a sequence the positions of the cuts.
    Raises:
        ShapeError: the size is no multiple of the number of pieces.

    >>> import symgrad as sg
    >>> sg.split(sg.asarray([1, 2, 3, 4]), 2)
    [Tensor([1, 2]), Tensor([3, 4])]
    """
    x = ops.asarray(x)
    axis = normalize_axis(axis, x.ndim, "split")
    size = x.shape[axis]
    if isinstance(indices_or_sections, int):
        sections = indices_or_sections
        if isinstance(size, int) and (sections < 1 or size % sections):
            raise ShapeError(
                "split", "no equal pieces", expected=f"a divisor of {size}", got=sections
            )
        piece = size // sections
        require_equal(piece * sections, size, "split", f"{sections} equal pieces and axis {axis}")
        return [_cut(x, axis, piece * k, piece * (k + 1)) for k in range(sections)]
    cuts = [None, *indices_or_sections, None]
    front = [slice(None)] * axis
    return [x[(*front, slice(a, b))] for a, b in zip(cuts, cuts[1:], strict=False)]


@composite
def tile(x: Array, repetitions: Any, /) -> Any:
    """``x`` laid out several times along each axis.

    Args:
        repetitions: how often, one per axis; the shorter of it and the shape is filled with ones.

    >>> import symgrad as sg
    >>> sg.tile(sg.asarray([1, 2]), (2,))
    Tensor([1, 2, 1, 2])
    """
    x = ops.asarray(x)
    counts: tuple[Any, ...] = (repetitions,) if isinstance(repetitions, int) else tuple(repetitions)
    rank = max(len(counts), x.ndim)
    counts = (*(1,) * (rank - len(counts)), *counts)
    shape = (*(1,) * (rank - x.ndim), *x.shape)
    if all(count == 1 for count in counts):
        return reshape(x, shape)
    pairs = [part for size in shape for part in (1, size)]
    spread = [part for count, size in zip(counts, shape, strict=True) for part in (count, size)]
    result = tuple(count * size for count, size in zip(counts, shape, strict=True))
    return reshape(broadcast_to(reshape(x, tuple(pairs)), tuple(spread)), result)


@composite
def repeat(x: Array, repeats: Any, /, *, axis: Any = None) -> Any:
    """Each element several times in a row.

    Args:
        repeats: an int, or one known count per position along the axis.
        axis: None repeats the flattened array.
    Raises:
        ShapeError: not one count per position.

    >>> import symgrad as sg
    >>> sg.repeat(sg.asarray([1, 2]), 2)
    Tensor([1, 1, 2, 2])
    """
    x = ops.asarray(x)
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    axis = normalize_axis(axis, x.ndim, "repeat")
    before, size, after = x.shape[:axis], x.shape[axis], x.shape[axis + 1 :]
    if isinstance(repeats, int):
        if repeats < 0:
            raise ArgumentError("repeat", "a count is negative", expected="0 or more", got=repeats)
        each = broadcast_to(
            reshape(x, (*before, size, 1, *after)), (*before, size, repeats, *after)
        )
        return reshape(each, (*before, size * repeats, *after))
    counts = np.asarray(ops.asarray(repeats).numpy())
    if counts.size == 1 and counts.ndim <= 1:
        return repeat(x, int(counts.reshape(())), axis=axis)
    if isinstance(size, Dim) or counts.shape != (size,):
        raise ShapeError("repeat", "one count per position", expected=(size,), got=counts.shape)
    return ops.take(x, np.repeat(np.arange(size), counts), axis=axis)


# --- padding --------------------------------------------------------------------------------------

Widths = tuple[tuple[int, int], ...]


def _padded_type(x: TensorType, *, widths: Widths, value: Any) -> TensorType:
    shape = [size + before + after for size, (before, after) in zip(x.shape, widths, strict=True)]
    return TensorType(shape, x.dtype)


def _inside(ct: Any, x: Any, *, widths: Widths, value: Any) -> Any:
    starts = tuple(before for before, _ in widths)
    stops = tuple(before + size for size, (before, _) in zip(x.shape, widths, strict=True))
    return ops.slice_axes(ct, starts=starts, stops=stops, steps=(1,) * len(widths))


def _padded_tangent(tangents: Any, y: Any, args: Any, attrs: Attrs) -> Any:
    return (
        ZERO if tangents[0] is ZERO else pad_constant(tangents[0], widths=attrs["widths"], value=0)
    )


@linear(type=_padded_type, transpose=_inside, jvp=_padded_tangent, warns=False, namespace=None)
def pad_constant(x: Array, /, *, widths: Any, value: Any) -> Array:
    """``x`` in a frame of one value. `pad` is its public face."""
    return np.pad(x, widths, constant_values=value)


def _widths(x: Any, pad_width: Any) -> Widths:
    """One (before, after) per axis, by numpy's rules for shorter forms."""
    try:
        table = np.broadcast_to(np.asarray(pad_width, dtype=np.int64), (x.ndim, 2))
    except (ValueError, TypeError):
        raise ShapeError(
            "pad", "pad_width does not fit", expected=f"{x.ndim} pairs", got=repr(pad_width)
        ) from None
    if table.min(initial=0) < 0:
        raise ArgumentError("pad", "a width is negative", expected="0 or more", got=repr(pad_width))
    return tuple((int(before), int(after)) for before, after in table)


@composite
def pad(x: Array, pad_width: Any, /, mode: str = "constant", *, constant_values: Any = 0) -> Any:
    """``x`` with a frame around it; modes and shorter forms of ``pad_width`` as in numpy.

    Args:
        pad_width: (before, after) per axis.
        mode: "constant", or copies of the content: "edge", "reflect" (without the edge), "wrap".
        constant_values: the value of a constant frame.
    Raises:
        ArgumentError: an unknown mode, or a negative width. ShapeError: nothing to copy.

    >>> import symgrad as sg
    >>> sg.pad(sg.asarray([1, 2, 3]), ((2, 1),), mode="reflect")
    Tensor([3, 2, 1, 2, 3, 2])
    """
    x = ops.asarray(x)
    widths = _widths(x, pad_width)
    if mode == "constant":
        if hasattr(constant_values, "__front_rank__"):
            inside = pad_constant(ops.ones_like(x, dtype=bool), widths=widths, value=False)
            return ops.where(inside, pad_constant(x, widths=widths, value=0), constant_values)
        return pad_constant(x, widths=widths, value=constant_values)
    if mode not in ("edge", "reflect", "wrap"):
        raise ArgumentError(
            "pad", "unknown mode", expected="constant, edge, reflect or wrap", got=repr(mode)
        )
    for axis, (before, after) in enumerate(widths):
        if before or after:
            x = _padded_by_copies(x, axis, before, after, mode)
    return x


def _padded_by_copies(x: Any, axis: int, before: int, after: int, mode: str) -> Any:
    size = x.shape[axis]
    if isinstance(size, int):
        if size == 0:
            raise ShapeError(
                "pad", f"axis {axis} is empty", expected="something to copy", got=x.shape
            )
        positions = np.pad(np.arange(size), (before, after), mode=mode)  # pyright: ignore[reportCallIssue, reportArgumentType]
        return ops.take(x, positions, axis=axis)
    front, back = _copies(x, axis, size, before, after, mode)
    return join([part for part in (front, x, back) if part is not None], axis=axis)


def _copies(x: Any, axis: int, size: Size, before: int, after: int, mode: str) -> tuple[Any, Any]:
    """What stands before and after an axis of unknown size, which must hold what is copied."""

    def cut(start: Size, stop: Size, count: int) -> Any:
        if not count:
            return None
        piece = _cut(x, axis, start, stop)
        if mode == "edge":
            return broadcast_to(piece, (*x.shape[:axis], count, *x.shape[axis + 1 :]))
        return ops.flip(piece, axis=axis) if mode == "reflect" else piece

    if mode == "edge":
        return cut(0, 1, before), cut(size - 1, size, after)
    if mode == "reflect":
        return cut(1, before + 1, before), cut(size - 1 - after, size - 1, after)
    return cut(size - before, size, before), cut(0, after, after)
