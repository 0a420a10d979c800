"""Frames around arrays: of one value, or of copies of what is inside."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, DTypeError, ShapeError, TraceError
from symgrad.ir.op import ZERO, Attrs, ops
from symgrad.ir.symbol import Symbol
from symgrad.ops.conversion import fitting
from symgrad.ops.families import Array, composite, linear
from symgrad.types import Dim, DType, Size, TensorType, max_size

Widths = tuple[tuple[Size, Size], ...]
"""How many elements stand before and after, per axis."""

MODES = ("constant", "edge", "reflect", "symmetric", "wrap")


# --- one value ------------------------------------------------------------------------------------


def _pad_attrs(types: list[TensorType], attrs: Attrs) -> Attrs:
    return {"widths": attrs["widths"], "value": _cast("pad", attrs["value"], types[0].dtype)}


def _cast(where: str, value: Any, dtype: DType) -> Any:
    """A Python number in an element type, by numpy's rule: a float is cut off to an integer."""
    kind = {"b": bool, "f": float, "c": complex}.get(dtype.kind, int)
    try:
        number = kind(value)
    except (TypeError, ValueError, OverflowError):
        raise DTypeError(where, "the value of the frame", expected=dtype, got=repr(value)) from None
    return fitting(where, number, dtype)


def _padded_type(x: TensorType, *, widths: Widths, value: Any) -> TensorType:
    shape = [before + size + after for size, (before, after) in zip(x.shape, widths, strict=True)]
    return TensorType(shape, x.dtype)


def _inside(ct: Any, x: Any, *, widths: Widths, value: Any) -> Any:
    starts = tuple(before for before, _ in widths)
    stops = tuple(before + size for size, (before, _) in zip(x.shape, widths, strict=True))
    return ops.slice_axes(ct, starts=starts, stops=stops, steps=(1,) * len(widths))


def _padded_tangent(tangents: Any, y: Any, args: Any, attrs: Attrs) -> Any:
    if tangents[0] is ZERO:
        return ZERO
    return pad_constant(tangents[0], widths=attrs["widths"], value=0)


@linear(
    type=_padded_type,
    transpose=_inside,
    jvp=_padded_tangent,
    normalize=_pad_attrs,
    warns=False,
    namespace=None,
)
def pad_constant(x: Array, /, *, widths: Any, value: Any) -> Array:
    """``x`` in a frame of one value. `pad` is its public face.

    >>> pad_constant(np.asarray([1, 2]), widths=((1, 0),), value=9)
    Tensor([9, 1, 2])
    """
    return np.pad(x, widths, constant_values=value)


# --- what pad takes -------------------------------------------------------------------------------


def _is_sequence(value: Any) -> bool:
    return isinstance(value, (list, tuple))


def _pairs(argument: str, given: Any, rank: int) -> tuple[tuple[Any, Any], ...]:
    """One (before, after) per axis: ``numpy.broadcast_to(given, (rank, 2))``."""
    kept = argument == "constant_values" and hasattr(given, "__front_rank__") and given.ndim == 0
    value = given.tolist() if hasattr(given, "tolist") and not kept else given
    if not _is_sequence(value):
        return ((value, value),) * rank
    rows: list[Any] = list(value) if any(map(_is_sequence, value)) else [value]
    fits = len(rows) in (1, rank) and all(_is_sequence(row) and 0 < len(row) < 3 for row in rows)
    if not fits:
        raise ShapeError("pad", f"{argument} does not fit", expected=f"{rank} pairs", got=given)
    pairs = tuple((row[0], row[-1]) for row in rows)
    return pairs if len(pairs) == rank else pairs * rank


def _width(value: Any) -> Size:
    if isinstance(value, Dim):
        return value
    if isinstance(value, Symbol):
        raise TraceError(
            "pad",
            "a width is a symbol, so the size of the result is unknown",
            got=repr(value),
            hint="take a named dimension, as in x.shape[0]",
        )
    if not isinstance(value, (int, np.integer)):
        raise DTypeError("pad", "a width is no number", expected="an int", got=repr(value))
    return int(value)


@composite
def pad(x: Array, pad_width: Any, /, mode: str = "constant", *, constant_values: Any = 0) -> Any:
    """``x`` with a frame around it.

    Args:
        x: an array of any element type, which the result has too.
        pad_width: (before, after) per axis, ints or dimensions; shorter forms as in numpy: one pair
            or number for all axes. Negative ones cut off so many elements.
        mode: "constant", or what the frame copies: "edge" the nearest element, "reflect" mirrors at
            the last element, "symmetric" behind it, "wrap" starts again at the other end.
        constant_values: the value of a constant frame, or pairs as for ``pad_width``; numbers, cast
            to the element type as numpy does, or symbols or tensors without axes, which are
            differentiated.
    Raises:
        ArgumentError: an unknown mode. ShapeError: widths do not fit the axes, or cut off more than
            there is; an empty axis has nothing to copy. DTypeError: a value that the type cannot
            hold.

    >>> import symgrad as sg
    >>> sg.pad(sg.asarray([1, 2, 3]), ((2, 1),), mode="reflect")
    Tensor([3, 2, 1, 2, 3, 2])
    >>> sg.pad(sg.asarray([1, 2, 3]), (1, -2))
    Tensor([0, 1])
    """
    if mode not in MODES:
        raise ArgumentError("pad", "unknown mode", expected=", ".join(MODES), got=repr(mode))
    x = ops.asarray(x)
    if x.ndim == 0:
        return x
    pairs = _pairs("pad_width", pad_width, x.ndim)
    widths = tuple((_width(before), _width(after)) for before, after in pairs)
    for axis, pair in enumerate(widths):
        _require_enough(x.shape[axis], *pair, axis)
    if mode == "constant":
        x, widths = _cropped(x, widths)
        return _framed(x, widths, _pairs("constant_values", constant_values, x.ndim))
    for axis, (before, after) in enumerate(widths):
        if before != 0 or after != 0:
            positions = _positions(x.shape[axis], before, after, mode, axis)
            x = ops.take(x, positions, axis=axis)
    return x


def _require_enough(size: Size, before: Size, after: Size, axis: int) -> None:
    """Refuse to cut off more than an axis has."""
    if not isinstance(size, int):
        return
    cut = [-width for width in (before, after) if isinstance(width, int) and width < 0]
    if sum(cut) > size:
        raise ShapeError(
            "pad", f"more is cut off axis {axis} than it has", expected=f"at most {size}", got=cut
        )


def _cropped(x: Any, widths: Widths) -> tuple[Any, Widths]:
    """``x`` without what negative widths cut off, and the other widths."""

    def cut(width: Size) -> bool:
        return isinstance(width, int) and width < 0

    if not any(cut(width) for pair in widths for width in pair):
        return x, widths
    sizes = zip(x.shape, widths, strict=True)
    key = [
        slice(-before if cut(before) else 0, size + after if cut(after) else None)
        for size, (before, after) in sizes
    ]
    kept = tuple((0 if cut(b) else b, 0 if cut(a) else a) for b, a in widths)
    return x[tuple(key)], kept


def _framed(x: Any, widths: Widths, values: tuple[tuple[Any, Any], ...]) -> Any:
    """A frame of one value at once, else one axis and side after the other."""
    flat = [value for pair in values for value in pair]
    if _same(flat):
        return _framed_by(x, widths, flat[0])
    for axis, (pair, sides) in enumerate(zip(values, widths, strict=True)):
        for value, width in ((pair[0], (sides[0], 0)), (pair[1], (0, sides[1]))):
            only = tuple(width if k == axis else (0, 0) for k in range(x.ndim))
            x = _framed_by(x, only, value)
    return x


def _same(values: list[Any]) -> bool:
    """Whether all are one object, or equal numbers."""
    numbers = all(isinstance(value, (bool, int, float, complex)) for value in values)
    return all(v is values[0] or (numbers and v == values[0]) for v in values)


def _framed_by(x: Any, widths: Widths, value: Any) -> Any:
    if not hasattr(value, "__front_rank__"):
        number = value.item() if hasattr(value, "item") else value
        return pad_constant(x, widths=widths, value=number)
    inside = pad_constant(ops.ones_like(x, dtype=bool), widths=widths, value=False)
    frame = value if value.dtype == x.dtype else ops.astype(value, x.dtype)
    return ops.where(inside, pad_constant(x, widths=widths, value=0), frame)


# --- copies ---------------------------------------------------------------------------------------


def _positions(size: Size, before: Size, after: Size, mode: str, axis: int) -> Any:
    """Where in an axis each element of the padded axis comes from.

    Beyond the end of a mirrored axis it goes on from mirror to mirror, with a period of twice the
    size, or two less if the elements at the mirrors are not repeated.
    """
    if size == 0:
        raise ShapeError("pad", f"axis {axis} is empty", expected="something to copy", got=size)
    k = ops.arange(-before, size + after)
    if mode == "edge":
        return ops.clip(k, 0, size - 1)
    if mode == "wrap":
        return k % size
    if mode == "symmetric":
        period, turn = 2 * size, 2 * size - 1
    else:
        period, turn = max_size(2 * size - 2, 1), 2 * size - 2
    k = k % period
    return ops.minimum(k, turn - k)
