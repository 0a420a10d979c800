"""Samplers: in which order, and in which batches, a data set is gone through."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any

import numpy as np

from symgrad.data.dataset import Seed, generator_of
from symgrad.errors import ArgumentError
from symgrad.ops.draws import fold_in
from symgrad.ops.generator import Generator


class SequentialSampler:
    """The indices in their order.

    >>> import symgrad as sg
    >>> list(sg.data.SequentialSampler("abc"))
    [0, 1, 2]
    """

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __len__(self) -> int:
        return len(self.data_source)

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self)))


class _Drawing:
    """Draws anew in each epoch, from a key that seed and epoch determine.

    Attributes:
        epoch: the number of the next epoch; set it to go on where a run was left.
    """

    def __init__(self, generator: Seed) -> None:
        self._key: Any = generator_of(generator).next_key()
        self.epoch = 0

    def _next(self) -> Generator:
        generator = Generator(fold_in(self._key, self.epoch))
        self.epoch += 1
        return generator


class RandomSampler(_Drawing):
    """The indices in random order, another one in each epoch.

    Args:
        data_source: what has a length.
        replacement: whether an index may come again before all others came.
        num_samples: how many indices; as many as there are, if None.
        generator: a generator, a seed, or None: what `manual_seed` sets.

    Raises:
        ArgumentError: more are asked for than there are, without replacement; or less than 1.

    >>> import symgrad as sg
    >>> sampler = sg.data.RandomSampler("abcd", generator=0)
    >>> first, second = list(sampler), list(sampler)
    >>> sorted(first), first == second
    ([0, 1, 2, 3], False)
    >>> sampler.epoch = 0
    >>> list(sampler) == first
    True
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Seed = None,
    ) -> None:
        self.data_source, self.replacement, self.num_samples = data_source, replacement, num_samples
        count = len(data_source)
        if num_samples is not None and not num_samples >= 1:
            raise ArgumentError("RandomSampler", "num_samples", expected=">= 1", got=num_samples)
        if not replacement and (num_samples or 0) > count:
            raise ArgumentError(
                "RandomSampler",
                "num_samples",
                expected=f"at most {count}, without replacement",
                got=num_samples,
            )
        super().__init__(generator)

    def __len__(self) -> int:
        return len(self.data_source) if self.num_samples is None else self.num_samples

    def __iter__(self) -> Iterator[int]:
        generator, count = self._next(), len(self.data_source)
        if self.replacement:
            return iter(generator.randint((len(self),), 0, count).tolist())
        return iter(generator.permutation(count).tolist()[: len(self)])


class SubsetRandomSampler(_Drawing):
    """Given indices in random order."""

    def __init__(self, indices: Sequence[int], generator: Seed = None) -> None:
        self.indices: list[int] = list(indices)
        super().__init__(generator)

    def __len__(self) -> int:
        return len(self.indices)

    def __iter__(self) -> Iterator[int]:
        order: list[int] = self._next().permutation(len(self.indices)).tolist()
        return (self.indices[k] for k in order)


class WeightedRandomSampler(_Drawing):
    """Indices drawn with given weights.

    Args:
        weights: one per index, none below 0; they need not add up to 1.
        num_samples: how many are drawn.
        replacement: whether an index may come again.
        generator: a generator, a seed, or None: what `manual_seed` sets.

    Raises:
        ArgumentError: weights are no vector, below 0, or all 0; too many are drawn.

    >>> import symgrad as sg
    >>> list(sg.data.WeightedRandomSampler([0.0, 1.0], 3))
    [1, 1, 1]
    """

    def __init__(
        self,
        weights: Any,
        num_samples: int,
        replacement: bool = True,
        generator: Seed = None,
    ) -> None:
        where = "WeightedRandomSampler"
        self.weights = np.asarray(weights, np.float64)
        right = self.weights.ndim == 1 and bool(np.all(self.weights >= 0) and self.weights.sum())
        if not right or not np.isfinite(self.weights.sum()):
            raise ArgumentError(where, "weights", expected="a vector, not below 0, not all 0")
        if num_samples < 1:
            raise ArgumentError(where, "num_samples", expected=">= 1", got=num_samples)
        possible = int(np.count_nonzero(self.weights))
        if not replacement and num_samples > possible:
            raise ArgumentError(
                where,
                "num_samples",
                expected=f"at most {possible}, without replacement",
                got=num_samples,
            )
        self.num_samples, self.replacement = num_samples, replacement
        super().__init__(generator)

    def __len__(self) -> int:
        return self.num_samples

    def __iter__(self) -> Iterator[int]:
        chosen = self._next().choice(
            len(self.weights), (self.num_samples,), replace=self.replacement, p=self.weights
        )
        return iter(chosen.tolist())


class BatchSampler:
    """The indices of a sampler in lists of one length; the last may be shorter.

    >>> import symgrad as sg
    >>> list(sg.data.BatchSampler(range(5), 2, drop_last=False))
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler: Iterable[Any], batch_size: int, drop_last: bool = False) -> None:
        require_batch_size("BatchSampler", batch_size)
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __len__(self) -> int:
        count, size = len(self.sampler), self.batch_size  # pyright: ignore[reportArgumentType]
        return count // size if self.drop_last else -(-count // size)

    def __iter__(self) -> Iterator[list[Any]]:
        return self._batches(iter(self.sampler))  # the order is settled now, not at the first batch

    def _batches(self, indices: Iterator[Any]) -> Iterator[list[Any]]:
        batch: list[Any] = []
        for index in indices:
            batch.append(index)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch


def require_batch_size(where: str, batch_size: Any) -> None:
    """Refuse what is no number of samples.

    Raises:
        ArgumentError: it is below 1, or no integer.
    """
    whole = isinstance(batch_size, (int, np.integer)) and not isinstance(batch_size, bool)
    if not whole or batch_size < 1:
        raise ArgumentError(where, "batch_size", expected="an integer >= 1", got=batch_size)
