"""Ops that join, take apart and repeat arrays. `padding` puts frames around them."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, DTypeError, ShapeError, TraceError
from symgrad.ir.op import ops
from symgrad.ir.symbol import CONSTANT, Symbol
from symgrad.ops.families import Array, composite, variadic_linear
from symgrad.ops.movement import broadcast_to, reshape, together
from symgrad.types import (
    Dim,
    Size,
    TensorType,
    is_integer,
    normalize_axis,
    promote,
    require_equal,
)

# --- join -----------------------------------------------------------------------------------------


def _joined_type(types: list[TensorType], *, axis: int) -> TensorType:
    _require_equal_ranks(types)
    shape = list(types[0].shape)
    for kind in types[1:]:
        for a, size in enumerate(kind.shape):
            if a == axis:
                shape[a] = shape[a] + size
            else:
                shape[a] = require_equal(shape[a], size, "concat", f"sizes of axis {a}")
    return TensorType(shape, promote(*(t.dtype for t in types)))


def _require_equal_ranks(types: Sequence[TensorType]) -> None:
    for k, kind in enumerate(types):
        if kind.ndim != types[0].ndim:
            raise ShapeError("concat", f"arrays[{k}] has another rank", expected=types[0], got=kind)


def _part(i: int, ct: Any, args: Sequence[Any], *, axis: int) -> Any:
    start: Size = 0
    for arg in args[:i]:
        start = start + arg.shape[axis]
    return cut(ct, axis, start, start + args[i].shape[axis])


def cut(x: Any, axis: int, start: Size, stop: Size) -> Any:
    """``x[start:stop]`` along one axis; the bounds are absolute and may be symbolic."""
    rank = x.ndim
    starts: list[Any] = [0] * rank
    stops: list[Any] = [None] * rank
    starts[axis], stops[axis] = start, stop
    return ops.slice_axes(x, starts=tuple(starts), stops=tuple(stops), steps=(1,) * rank)


@variadic_linear(type=_joined_type, transpose=_part, warns=False, namespace=None)
def join(arrays: Sequence[Array], /, *, axis: int) -> Array:
    """Arrays one after the other along an axis that counts from the front. `concat` is its face.

    >>> join([np.asarray([1]), np.asarray([2, 3])], axis=0)
    Tensor([1, 2, 3])
    """
    return np.concatenate(arrays, axis=axis)


def several(where: str, arrays: Any) -> list[Any]:
    """The operands of a call that joins; Python numbers take the others' element type."""
    if not isinstance(arrays, (list, tuple)) and not hasattr(type(arrays), "__front_rank__"):
        raise ArgumentError(where, "arrays is no sequence", expected="arrays in a list", got=arrays)
    given = together(arrays)
    if not given:
        raise ArgumentError(where, "nothing to join", expected="at least one array")
    return given


@composite
def concat(arrays: Sequence[Array], /, *, axis: Any = 0) -> Any:
    """Arrays one after the other along an axis.

    Args:
        arrays: at least one; equal sizes but along ``axis``; types are promoted.
        axis: which axis; None joins the flattened arrays.
    Raises:
        ShapeError: other sizes or numbers of axes differ. ArgumentError: no array.

    >>> import symgrad as sg
    >>> sg.concat([sg.asarray([1]), sg.asarray([2, 3])])
    Tensor([1, 2, 3])
    """
    given = several("concat", arrays)
    if axis is None:
        given, axis = [reshape(a, (-1,)) for a in given], 0
    if given[0].ndim == 0:
        raise ShapeError("concat", "0-d arrays have no axis to join along", hint="use sg.stack")
    _require_equal_ranks([a.type for a in given])
    return join(given, axis=normalize_axis(axis, given[0].ndim, "concat"))


@composite
def stack(arrays: Sequence[Array], /, *, axis: int = 0) -> Any:
    """Arrays of equal shapes along a new axis.

    Args:
        arrays: at least one; numbers, tensors and symbols may be mixed; types are promoted.
        axis: the place of the new axis in the result.
    Raises:
        ShapeError: shapes differ. ArgumentError: no array.

    >>> import symgrad as sg
    >>> sg.stack([sg.asarray([1, 2]), sg.asarray([3, 4])], axis=1)
    Tensor([[1, 3],
            [2, 4]])
    """
    given = several("stack", arrays)
    first = given[0]
    axis = normalize_axis(axis, first.ndim + 1, "stack")
    for k, array in enumerate(given):
        # Sizes that may be equal are left to the op that joins: it owns the constraint.
        known = zip(first.shape, array.shape, strict=False)
        if array.ndim != first.ndim or any(
            a != b for a, b in known if isinstance(a, int) and isinstance(b, int)
        ):
            raise ShapeError(
                "stack", f"arrays[{k}] has another shape", expected=first.shape, got=array.shape
            )
    return join([ops.expand_dims(a, axis=axis) for a in given], axis=axis)


# --- take apart -----------------------------------------------------------------------------------


@composite
def unstack(x: Array, /, *, axis: int = 0) -> Any:
    """The slices along an axis, as a tuple; the axis must have a known size.

    Args:
        x: an array of at least one axis.
        axis: which axis.
    Raises:
        ShapeError: no such axis, or its size is not known.

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
        x: an array of at least one axis.
        indices_or_sections: an int gives that many equal pieces; a sequence the positions of the
            cuts, which are ints or dimensions.
        axis: which axis.
    Raises:
        ShapeError: the size is no multiple of the number of pieces; for a named size, when it runs.
        ArgumentError: fewer than one piece.

    >>> import symgrad as sg
    >>> sg.split(sg.asarray([1, 2, 3, 4]), 2)
    [Tensor([1, 2]), Tensor([3, 4])]
    """
    x = ops.asarray(x)
    axis = normalize_axis(axis, x.ndim, "split")
    if isinstance(indices_or_sections, Dim):
        raise ArgumentError("split", "the number of pieces is unknown", got=indices_or_sections)
    if isinstance(indices_or_sections, Symbol):
        raise _unknown("split", "indices_or_sections", indices_or_sections)
    if isinstance(indices_or_sections, (int, np.integer)):
        return _equal_pieces(x, int(indices_or_sections), axis)
    bounds = [k if isinstance(k, Dim) else operator.index(k) for k in indices_or_sections]
    ends: list[Any] = [None, *bounds, None]
    front = [slice(None)] * axis
    return [x[(*front, slice(a, b))] for a, b in itertools.pairwise(ends)]


def _equal_pieces(x: Any, count: int, axis: int) -> list[Any]:
    size = x.shape[axis]
    if count < 1:
        raise ArgumentError("split", "no pieces", expected="at least one", got=count)
    if isinstance(size, int):
        if size % count:
            raise ShapeError("split", "no equal pieces", expected=f"a divisor of {size}", got=count)
        piece = size // count
        return [cut(x, axis, piece * k, piece * (k + 1)) for k in range(count)]
    # A new axis of so many pieces: the op that makes it owns the constraint on the size.
    before, after = x.shape[:axis], x.shape[axis + 1 :]
    pieces = reshape(x, (*before, count, size // count, *after))
    return [pieces[(*[slice(None)] * axis, k)] for k in range(count)]


# --- repeat ---------------------------------------------------------------------------------------


def _unknown(where: str, argument: str, value: Symbol) -> TraceError:
    return TraceError(
        where,
        f"{argument} is a symbol, so the size of the result is unknown",
        expected="numbers, or a dimension",
        got=repr(value),
        hint="take a named dimension, as in x.shape[0]",
    )


def _count(where: str, argument: str, value: Any) -> Size:
    """A number of repetitions: an int that is not negative, or a dimension."""
    if isinstance(value, Dim):
        return value
    if isinstance(value, Symbol):
        raise _unknown(where, argument, value)
    try:
        count = operator.index(value)
    except TypeError:
        raise DTypeError(
            where, f"{argument} is no count", expected="an int", got=repr(value)
        ) from None
    if count < 0:
        raise ArgumentError(where, f"{argument} is negative", expected="0 or more", got=count)
    return count


@composite
def tile(x: Array, repetitions: Any, /) -> Any:
    """``x`` laid out several times along each axis.

    Args:
        x: an array of any element type.
        repetitions: how often, one int or dimension per axis; the shorter of it and the shape is
            filled with ones in front.
    Raises:
        ArgumentError: a count is negative. DTypeError: it is no int. TraceError: it is a symbol.

    >>> import symgrad as sg
    >>> sg.tile(sg.asarray([1, 2]), (2,))
    Tensor([1, 2, 1, 2])
    """
    x = ops.asarray(x)
    if isinstance(repetitions, Symbol):
        raise _unknown("tile", "repetitions", repetitions)
    given: list[Any] = list(repetitions) if np.iterable(repetitions) else [repetitions]
    counts = [_count("tile", f"repetitions[{k}]", count) for k, count in enumerate(given)]
    rank = max(len(counts), x.ndim)
    counts = [1] * (rank - len(counts)) + counts
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
        x: an array of any element type.
        repeats: an int or a dimension, or one int per position along the axis, whose values must be
            known: they make the shape.
        axis: which axis; None repeats the flattened array.
    Raises:
        ShapeError: not one count per position. ArgumentError: a count is negative.
        DTypeError: a count is no int. TraceError: the counts are a symbol.

    >>> import symgrad as sg
    >>> sg.repeat(sg.asarray([1, 2]), 2)
    Tensor([1, 1, 2, 2])
    """
    x = ops.asarray(x)
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    axis = normalize_axis(axis, x.ndim, "repeat")
    before, size, after = x.shape[:axis], x.shape[axis], x.shape[axis + 1 :]
    counts = _counts(repeats)
    if not isinstance(counts, np.ndarray):
        each = reshape(x, (*before, size, 1, *after))
        each = broadcast_to(each, (*before, size, counts, *after))
        return reshape(each, (*before, size * counts, *after))
    if isinstance(size, Dim):
        raise ShapeError(
            "repeat", "one count per position of an axis of unknown size", expected=size, got=counts
        )
    if counts.shape != (size,):
        raise ShapeError("repeat", "one count per position", expected=(size,), got=counts.shape)
    return ops.take(x, np.repeat(np.arange(size), counts), axis=axis)


def _counts(repeats: Any) -> Any:
    """One number of repetitions, or an array of them."""
    if isinstance(repeats, Symbol) and repeats.op is CONSTANT:
        repeats = repeats.value
    if isinstance(repeats, (int, Dim, Symbol)):
        return _count("repeat", "repeats", repeats)
    counts = np.asarray(ops.asarray(repeats))
    if counts.size == 0:
        return counts.astype(np.int64)
    if not is_integer(counts.dtype):
        raise DTypeError("repeat", "repeats are no counts", expected="integers", got=counts.dtype)
    if counts.min() < 0:
        raise ArgumentError("repeat", "a count is negative", expected="0 or more", got=counts.min())
    # One count stands for all positions.
    return int(counts.item()) if counts.size == 1 and counts.ndim <= 1 else counts
