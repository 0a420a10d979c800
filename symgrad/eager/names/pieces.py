"""PyTorch's functions that read or write parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symgrad.eager.names.written import spelling
from symgrad.eager.tensor import Tensor
from symgrad.errors import ArgumentError, ShapeError
from symgrad.ir.op import ops
from symgrad.ir.storage import Window
from symgrad.types import normalize_axis


def _at(place: int, entry: Any) -> tuple[Any, ...]:
    """The key that means ``entry`` on one axis."""
    return (*(slice(None),) * place, entry)


def cat(tensors: Sequence[Any], dim: int = 0, *, axis: int | None = None) -> Any:
    """Several arrays as one, along an axis, as `concat`; a vector without elements adds nothing.

    >>> import symgrad as sg
    >>> sg.cat([sg.tensor([]), sg.ones(1, 2), sg.zeros(1, 2)])
    Tensor([[1., 1.],
            [0., 0.]])
    """
    full = [one for one in tensors if getattr(one, "shape", None) != (0,)]
    alike = all(getattr(one, "ndim", 1) == 1 for one in full)
    return ops.concat(tensors if alike else full, axis=dim if axis is None else axis)


@spelling
def narrow(x: Any, dim: int, start: int, length: int) -> Any:
    """``length`` elements along an axis, from ``start`` on.

    >>> import symgrad as sg
    >>> sg.narrow(sg.arange(5), 0, 1, 3)
    Tensor([1, 2, 3])
    """
    x = ops.asarray(x)
    place = normalize_axis(dim, x.ndim, "narrow")
    size = x.shape[place]
    first = start + size if start < 0 else start
    if first < 0 or length < 0 or first + length > size:
        raise ShapeError(
            "narrow", "the piece reaches too far", expected=f"within {size}", got=length
        )
    return x[_at(place, slice(first, first + length))]


def _of_one_call(pieces: Sequence[Any]) -> tuple[Any, ...]:
    """Pieces that, as PyTorch has it, are not changed in place where a gradient is wanted."""
    for piece in pieces:
        if isinstance(piece, Tensor) and isinstance(piece.storage, Window):
            piece.extra.several = True
    return tuple(pieces)


@spelling
def unbind(x: Any, dim: int = 0) -> tuple[Any, ...]:
    """The slices along an axis, as `unstack`.

    >>> import symgrad as sg
    >>> sg.unbind(sg.asarray([[1, 2], [3, 4]]), 1)
    (Tensor([1, 3]), Tensor([2, 4]))
    """
    return _of_one_call(ops.unstack(x, axis=dim))


@spelling
def chunk(x: Any, chunks: int, dim: int = 0) -> tuple[Any, ...]:
    """At most so many pieces along an axis, all equally long but perhaps the last.

    >>> import symgrad as sg
    >>> [piece.shape for piece in sg.chunk(sg.ones(5), 2)]
    [(3,), (2,)]
    """
    x = ops.asarray(x)
    if chunks < 1:
        raise ArgumentError("chunk", "no such number of pieces", expected="1 or more", got=chunks)
    size = x.shape[normalize_axis(dim, x.ndim, "chunk")]
    length = max(-(-size // chunks), 1)
    cuts = list(range(length, size, length))
    return _of_one_call(ops.split(x, cuts, axis=dim))


@spelling
def tensor_split(x: Any, indices_or_sections: Any, dim: int = 0) -> tuple[Any, ...]:
    """Pieces along an axis: cut at positions, or so many whose sizes differ by at most one.

    >>> import symgrad as sg
    >>> [piece.shape for piece in sg.tensor_split(sg.ones(5), 3)]
    [(2,), (2,), (1,)]
    """
    x = ops.asarray(x)
    if isinstance(indices_or_sections, int):
        count = indices_or_sections
        if count < 1:
            raise ArgumentError("tensor_split", "no pieces", expected="1 or more", got=count)
        length, longer = divmod(x.shape[normalize_axis(dim, x.ndim, "tensor_split")], count)
        cuts = [k * length + min(k, longer) for k in range(1, count)]
    else:
        cuts = indices_or_sections
    return _of_one_call(ops.split(x, cuts, axis=dim))


@spelling
def split_with_sizes(x: Any, sizes: Sequence[int], dim: int = 0) -> tuple[Any, ...]:
    """Pieces of these sizes along an axis.

    >>> import symgrad as sg
    >>> [piece.shape for piece in sg.split_with_sizes(sg.ones(5), [1, 4])]
    [(1,), (4,)]
    """
    x = ops.asarray(x)
    place = normalize_axis(dim, x.ndim, "split_with_sizes")
    if sum(sizes) != x.shape[place]:
        raise ShapeError("split_with_sizes", "another sum", expected=x.shape[place], got=sum(sizes))
    ends = [sum(sizes[: k + 1]) for k in range(len(sizes) - 1)]
    return _of_one_call(ops.split(x, ends, axis=place))


@spelling
def index_select(x: Any, dim: int, index: Any) -> Any:
    """The slices at positions along an axis.

    >>> import symgrad as sg
    >>> sg.index_select(sg.asarray([5.0, 6.0, 7.0]), 0, sg.asarray([2, 0]))
    Tensor([7., 5.])
    """
    return ops.take(x, index, axis=dim)


@spelling
def masked_select(x: Any, mask: Any) -> Any:
    """The elements where a mask is true, on one axis.

    >>> import symgrad as sg
    >>> x = sg.asarray([5.0, 6.0, 7.0])
    >>> sg.masked_select(x, x > 5)
    Tensor([6., 7.])
    """
    x, mask = ops.broadcast_arrays(x, mask)
    return x[mask]


@spelling
def index_put(x: Any, indices: Sequence[Any], values: Any, accumulate: bool = False) -> Any:
    """A copy with ``values`` at ``x[indices]``, written or added.

    >>> import symgrad as sg
    >>> sg.index_put(sg.zeros(3), (sg.asarray([0, 2]),), sg.asarray([5.0, 6.0]))
    Tensor([5., 0., 6.])
    """
    return (ops.add_at if accumulate else ops.set_at)(x, tuple(indices), values)


@spelling
def index_fill(x: Any, dim: int, index: Any, value: Any) -> Any:
    """A copy with one value at positions along an axis.

    >>> import symgrad as sg
    >>> sg.index_fill(sg.zeros(3), 0, sg.asarray([0, 2]), 5.0)
    Tensor([5., 0., 5.])
    """
    return ops.set_at(x, _at(normalize_axis(dim, x.ndim, "index_fill"), index), value)


@spelling
def index_copy(x: Any, dim: int, index: Any, source: Any) -> Any:
    """A copy with the slices of ``source`` at positions along an axis.

    >>> import symgrad as sg
    >>> sg.index_copy(sg.zeros(3), 0, sg.asarray([2]), sg.asarray([5.0]))
    Tensor([0., 0., 5.])
    """
    return ops.set_at(x, _at(normalize_axis(dim, x.ndim, "index_copy"), index), source)


@spelling
def index_add(x: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Any:
    """A copy with the slices of ``source`` added at positions along an axis.

    >>> import symgrad as sg
    >>> sg.index_add(sg.zeros(2), 0, sg.asarray([1, 1]), sg.asarray([5.0, 6.0]))
    Tensor([ 0., 11.])
    """
    added = source if alpha == 1 else ops.multiply(source, alpha)
    return ops.add_at(x, _at(normalize_axis(dim, x.ndim, "index_add"), index), added)
