"""Data sets: what has a length, and a sample at each index."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np

from symgrad.eager.names.factories import drawing
from symgrad.eager.tensor import Tensor, as_tensor
from symgrad.errors import ArgumentError, OutOfRange, ShapeError
from symgrad.ops.generator import Generator

Seed = Generator | int | None
"""What draws: a generator, a seed of one, or None for the one that `manual_seed` sets."""


def generator_of(seed: Seed) -> Generator:
    """The generator that is meant."""
    return Generator(seed) if isinstance(seed, int) else drawing(seed)


@runtime_checkable
class Dataset(Protocol):
    """What a `DataLoader` takes: an object with these two methods.

    A third one, ``batch(indices)``, may give all samples of a batch at once, put together.
    """

    def __len__(self) -> int: ...

    def __getitem__(self, index: Any, /) -> Any: ...


def _position(where: str, index: Any, length: int) -> int:
    """An index counted from the beginning."""
    position = int(index)
    if not -length <= position < length:
        raise OutOfRange(where, "no such sample", expected=f"below {length}", got=index)
    return position % length


class TensorDataset:
    """Tensors whose first axes run over the samples.

    Args:
        tensors: tensors, arrays or lists of one length.

    Raises:
        ShapeError: lengths differ, or there is no axis.

    >>> import symgrad as sg
    >>> data = sg.data.TensorDataset(sg.ones(3, 2), sg.arange(3))
    >>> len(data), data[1]
    (3, (Tensor([1., 1.]), Tensor(1)))

    Attributes:
        tensors: the tensors.
    """

    def __init__(self, *tensors: Any) -> None:
        if not tensors:
            raise ArgumentError("TensorDataset", "no tensors", expected="at least one")
        made = (t if isinstance(t, Tensor) else as_tensor(np.asarray(t)) for t in tensors)
        self.tensors: tuple[Tensor, ...] = tuple(made)
        lengths = [tensor.shape[0] if tensor.shape else None for tensor in self.tensors]
        if None in lengths or len(set(lengths)) > 1:
            raise ShapeError(
                "TensorDataset",
                "the first axes run over the samples",
                expected="one length",
                got=", ".join(str(tensor.type) for tensor in self.tensors),
            )

    def __len__(self) -> int:
        return self.tensors[0].shape[0]

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        if isinstance(index, (int, np.integer)):
            index = _position("TensorDataset", index, len(self))
        return tuple(cast("Any", tensor)[index] for tensor in self.tensors)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return (self[k] for k in range(len(self)))

    def batch(self, indices: Sequence[int]) -> tuple[Tensor, ...]:
        """The samples at these indices, put together."""
        chosen = np.asarray(indices, np.int64)
        if chosen.size and not (-len(self) <= chosen.min() and chosen.max() < len(self)):
            _position("TensorDataset", chosen[np.argmax(np.abs(chosen))], len(self))
        return tuple(
            cast("Any", tensor)[chosen]
            if tensor.requires_grad
            else as_tensor(tensor.storage.array[chosen])
            for tensor in self.tensors
        )

    def __repr__(self) -> str:
        return f"TensorDataset({', '.join(str(tensor.type) for tensor in self.tensors)})"


class Subset:
    """Some samples of a data set, in a given order.

    >>> import symgrad as sg
    >>> part = sg.data.Subset(sg.data.TensorDataset(sg.arange(10)), [7, 3])
    >>> part[0]
    (Tensor(7),)
    """

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = [int(index) for index in indices]
        if hasattr(dataset, "batch"):
            self.batch = self._batch

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return Subset(self.dataset, self.indices[index])
        return self.dataset[self.indices[_position("Subset", index, len(self))]]

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def _batch(self, indices: Sequence[int]) -> Any:
        return self.dataset.batch([self.indices[k] for k in indices])


class ConcatDataset:
    """Several data sets, one after the other.

    >>> import symgrad as sg
    >>> one, two = (sg.data.TensorDataset(sg.arange(n)) for n in (2, 3))
    >>> both = sg.data.ConcatDataset([one, two])
    >>> len(both), both[3]
    (5, (Tensor(1),))
    """

    def __init__(self, datasets: Sequence[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise ArgumentError("ConcatDataset", "no data sets", expected="at least one")
        self.ends = list(accumulate(map(len, self.datasets)))

    def __len__(self) -> int:
        return self.ends[-1]

    def __getitem__(self, index: Any) -> Any:
        position = _position("ConcatDataset", index, len(self))
        which = bisect_right(self.ends, position)
        return self.datasets[which][position - (self.ends[which - 1] if which else 0)]

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))


class MappedDataset:
    """A data set whose samples a function changes when they are asked for.

    Args:
        dataset: the samples.
        function: takes what a sample holds, ``function(*sample)`` for a tuple.

    >>> import symgrad as sg
    >>> data = sg.data.TensorDataset([[0.0, 4.0]], [1])
    >>> sg.data.MappedDataset(data, lambda x, y: (x / 4, y))[0]
    (Tensor([0., 1.]), Tensor(1))
    """

    def __init__(self, dataset: Any, function: Callable[..., Any]) -> None:
        self.dataset, self.function = dataset, function

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, index: Any) -> Any:
        sample = self.dataset[_position("MappedDataset", index, len(self))]
        return self.function(*sample) if type(sample) is tuple else self.function(sample)

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))


def random_split(
    dataset: Any, lengths: Sequence[int | float], generator: Seed = None
) -> list[Subset]:
    """A data set in disjoint parts, drawn at random.

    Args:
        dataset: what is split.
        lengths: of the parts; or the shares that they have, which add up to 1.
        generator: a generator, a seed, or None: what `manual_seed` sets.

    Raises:
        ArgumentError: lengths do not add up to that of the data set.

    >>> import symgrad as sg
    >>> data = sg.data.TensorDataset(sg.arange(10))
    >>> [len(part) for part in sg.data.random_split(data, [0.75, 0.25], generator=0)]
    [8, 2]
    """
    sizes = _sizes(len(dataset), lengths)
    order = generator_of(generator).permutation(len(dataset)).tolist()
    ends = list(accumulate(sizes))
    return [Subset(dataset, order[end - size : end]) for size, end in zip(sizes, ends, strict=True)]


def _sizes(count: int, lengths: Sequence[int | float]) -> list[int]:
    if any(length < 0 for length in lengths):
        raise ArgumentError("random_split", "a length is below 0", got=list(lengths))
    if math.isclose(sum(lengths), 1) and any(isinstance(length, float) for length in lengths):
        sizes = [math.floor(count * length + 1e-9) for length in lengths]
        for k in range(count - sum(sizes)):  # what rounding left over, one by one
            sizes[k % len(sizes)] += 1
        return sizes
    if sum(lengths) != count:
        raise ArgumentError(
            "random_split",
            "the lengths do not add up",
            expected=f"{count}, or shares that add up to 1",
            got=sum(lengths),
        )
    return [int(length) for length in lengths]
