"""DataLoader: the batches of a data set, in order or shuffled, prepared ahead if wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from symgrad.data.collating import collate
from symgrad.data.dataset import Seed
from symgrad.data.prefetching import ahead
from symgrad.data.samplers import (
    BatchSampler,
    RandomSampler,
    SequentialSampler,
    require_batch_size,
)
from symgrad.errors import ArgumentError, TraceError


class DataLoader:
    """Goes through a data set in batches; each ``for`` loop is an epoch.

    The order of an epoch follows from the seed and the epoch's number: set `epoch` to go on where a
    run was left.

    Args:
        dataset: has a length and samples by index; or only an iterator, for a stream.
        batch_size: how many samples make a batch; None gives the samples themselves.
        shuffle: whether each epoch has another order.
        sampler: indices, instead of ``shuffle``.
        batch_sampler: lists of indices, instead of ``batch_size``, ``shuffle``, ``sampler``,
            ``drop_last``.
        collate_fn: makes a batch of a list of samples; `collate` if None.
        drop_last: whether a last batch that is shorter is left out.
        generator: what shuffles: a generator, a seed, or None: what `manual_seed` sets.
        prefetch: how many batches a thread prepares ahead; 0 for none.

    Raises:
        ArgumentError: arguments exclude each other, or a number makes no sense.

    >>> import symgrad as sg
    >>> data = sg.data.TensorDataset(sg.arange(5) * 10)
    >>> for (batch,) in sg.data.DataLoader(data, batch_size=2):
    ...     print(batch)
    Tensor([ 0, 10])
    Tensor([20, 30])
    Tensor([40])
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool = False,
        sampler: Iterable[int] | None = None,
        batch_sampler: Iterable[Sequence[int]] | None = None,
        *,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        drop_last: bool = False,
        generator: Seed = None,
        prefetch: int = 0,
    ) -> None:
        if isinstance(prefetch, bool) or prefetch < 0:
            raise ArgumentError("DataLoader", "prefetch", expected="an integer >= 0", got=prefetch)
        self.dataset, self.batch_size, self.prefetch = dataset, batch_size, prefetch
        self.drop_last, self.collate_fn = drop_last, collate if collate_fn is None else collate_fn
        self.is_stream = not hasattr(dataset, "__getitem__")
        self.sampler: Any = sampler
        if batch_sampler is not None:
            alone = batch_size == 1 and not shuffle and sampler is None and not drop_last
            _require(alone, "batch_sampler excludes batch_size, shuffle, sampler and drop_last")
            self.batch_size, self.batch_sampler = None, batch_sampler
            return
        _require(not (shuffle and sampler is not None), "sampler excludes shuffle")
        if self.is_stream:
            _require(not shuffle and sampler is None, "a stream has its own order")
            self.sampler = dataset
        elif sampler is None:
            self.sampler = (
                RandomSampler(dataset, generator=generator)
                if shuffle and len(dataset)
                else SequentialSampler(dataset)
            )
        self.batch_sampler: Any = None
        if batch_size is None:
            _require(not drop_last, "without batches there is none to drop")
        else:
            require_batch_size("DataLoader", batch_size)
            self.batch_sampler = BatchSampler(self.sampler, batch_size, drop_last)

    @property
    def epoch(self) -> int:
        """The number of the next epoch; 0 where nothing is shuffled."""
        return getattr(self.sampler, "epoch", 0)

    @epoch.setter
    def epoch(self, number: int) -> None:
        if hasattr(self.sampler, "epoch"):
            self.sampler.epoch = number

    def __len__(self) -> int:
        if self.is_stream and not hasattr(self.dataset, "__len__"):
            raise TraceError("DataLoader", "a stream has no length")
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)

    def __iter__(self) -> Iterator[Any]:
        batches = self._batches()
        return ahead(batches, self.prefetch) if self.prefetch else batches

    def _batches(self) -> Iterator[Any]:
        chosen = iter(self.sampler if self.batch_sampler is None else self.batch_sampler)
        return map(self._made, chosen)

    def _made(self, indices: Any) -> Any:
        if self.is_stream:
            return indices if self.batch_sampler is None else self.collate_fn(indices)
        if self.batch_sampler is None:
            return self.dataset[indices]
        if self.collate_fn is collate and hasattr(self.dataset, "batch"):
            return self.dataset.batch(indices)
        return self.collate_fn([self.dataset[index] for index in indices])


def _require(fits: bool, problem: str) -> None:
    if not fits:
        raise ArgumentError("DataLoader", problem)
