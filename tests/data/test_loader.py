"""DataLoader: orders, lengths, batches prepared ahead, and threads that end."""

from __future__ import annotations

import gc
import re
import threading
import time
from itertools import chain

import numpy as np
import pytest

import symgrad as sg
from symgrad.data import ConcatDataset, DataLoader, MappedDataset, Subset, TensorDataset
from tests.data.test_datasets import Squares, numbers


def values(loader):
    return [batch[0].tolist() for batch in loader]


def threads():
    return [t for t in threading.enumerate() if t.name == "symgrad prefetch"]


@pytest.fixture(params=[0, 1, 3], ids=lambda count: f"prefetch {count}")
def prefetch(request):
    yield request.param
    gc.collect()
    assert not threads()


def test_in_order(prefetch):
    loader = DataLoader(numbers(5), 2, prefetch=prefetch)
    assert values(loader) == values(loader) == [[0, 1], [2, 3], [4]]
    assert len(loader) == 3
    loader = DataLoader(numbers(5), 2, drop_last=True, prefetch=prefetch)
    assert values(loader) == [[0, 1], [2, 3]]
    assert len(loader) == 2
    assert values(DataLoader(numbers(0), 2, shuffle=True, prefetch=prefetch)) == []
    assert values(DataLoader(numbers(2), prefetch=prefetch)) == [[0], [1]]


def test_shuffled(prefetch):
    loader = DataLoader(numbers(20), 6, shuffle=True, generator=0, prefetch=prefetch)
    first, second = values(loader), values(loader)
    assert sorted(chain(*first)) == sorted(chain(*second)) == list(range(20))
    assert first != second
    again = DataLoader(numbers(20), 6, shuffle=True, generator=0, prefetch=prefetch)
    again.epoch = 1
    assert values(again) == second
    assert again.epoch == 2
    assert DataLoader(numbers(3)).epoch == 0
    sg.manual_seed(7)
    once = values(DataLoader(numbers(20), 20, shuffle=True))
    sg.manual_seed(7)
    assert values(DataLoader(numbers(20), 20, shuffle=True)) == once


def test_any_data_set(prefetch):
    assert [b.tolist() for b in DataLoader(Squares(3), 2, prefetch=prefetch)] == [[0, 1], [4]]
    parts = Subset(numbers(9), [8, 2, 5])
    assert values(DataLoader(parts, 2, prefetch=prefetch)) == [[8, 2], [5]]
    both = ConcatDataset([numbers(2), numbers(1)])
    assert values(DataLoader(both, 3, prefetch=prefetch)) == [[0, 1, 0]]
    mapped = MappedDataset(numbers(3), lambda x: (x, -x))
    ((_, y),) = DataLoader(mapped, 3, prefetch=prefetch)
    assert y.tolist() == [0, -1, -2]
    listed = DataLoader([1, 2, 3], 2, collate_fn=list, prefetch=prefetch)
    assert list(listed) == [[1, 2], [3]]


def test_samplers(prefetch):
    assert values(DataLoader(numbers(9), 2, sampler=[5, 1, 3], prefetch=prefetch)) == [[5, 1], [3]]
    batches = DataLoader(numbers(9), batch_sampler=[[1], [2, 3]], prefetch=prefetch)
    assert values(batches) == [[1], [2, 3]]
    assert len(batches) == 2
    plain = DataLoader(Squares(3), batch_size=None, prefetch=prefetch)
    assert list(plain) == [0.0, 1.0, 4.0]
    assert len(plain) == 3


class Stream:
    def __iter__(self):
        return iter(range(5))


def test_streams(prefetch):
    loader = DataLoader(Stream(), 2, prefetch=prefetch)
    assert [b.tolist() for b in loader] == [[0, 1], [2, 3], [4]]
    assert list(DataLoader(Stream(), None, prefetch=prefetch)) == [0, 1, 2, 3, 4]
    with pytest.raises(TypeError, match="DataLoader: a stream has no length"):
        len(loader)


class Broken(Squares):
    def __getitem__(self, index):
        if index == 3:
            raise KeyError("sample 3 is broken")
        return super().__getitem__(index)


def test_what_a_data_set_raises_is_passed_on(prefetch):
    seen = []
    with pytest.raises(KeyError, match="sample 3 is broken") as caught:
        seen.extend(batch.tolist() for batch in DataLoader(Broken(6), 2, prefetch=prefetch))
    assert seen == [[0.0, 1.0]]
    notes = getattr(caught.value, "__notes__", [])
    assert bool(notes) is bool(prefetch)


def test_a_loop_that_is_left_ends_the_thread(prefetch):
    for batch in DataLoader(numbers(1000), 2, prefetch=prefetch):
        assert batch[0].tolist() == [0, 1]
        break
    iterator = iter(DataLoader(numbers(1000), 2, prefetch=prefetch))
    next(iterator)
    assert bool(threads()) is bool(prefetch)
    del iterator


def test_no_more_is_prepared_than_asked_for():
    asked = []

    class Counted(Squares):
        def __getitem__(self, index):
            asked.append(index)
            return super().__getitem__(index)

    iterator = iter(DataLoader(Counted(100), 1, prefetch=3))
    next(iterator)
    deadline = time.monotonic() + 5
    while len(asked) < 4 and time.monotonic() < deadline:
        time.sleep(0.001)
    time.sleep(0.02)
    assert asked == [0, 1, 2, 3]
    iterator.close()
    assert not threads()


def test_two_epochs_at_once():
    loader = DataLoader(numbers(6), 2, shuffle=True, generator=0, prefetch=2)
    one, two = iter(loader), iter(loader)
    first, second = [], []
    for a, b in zip(one, two, strict=True):
        first += a[0].tolist()
        second += b[0].tolist()
    assert sorted(first) == sorted(second) == list(range(6))
    assert first != second


def test_the_thread_has_the_settings_of_who_asks():
    weight = sg.ones(2, requires_grad=True)
    dataset = MappedDataset(TensorDataset(np.ones((2, 2))), lambda x: x * weight)
    with sg.no_grad():
        (batch,) = DataLoader(dataset, 2, prefetch=1)
    assert not batch.requires_grad
    (batch,) = DataLoader(dataset, 2, prefetch=1)
    assert batch.requires_grad


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"batch_size": 0}, "DataLoader: batch_size: expected an integer >= 1, got 0"),
        ({"batch_size": True}, "DataLoader: batch_size: expected an integer >= 1, got True"),
        ({"prefetch": -1}, "DataLoader: prefetch: expected an integer >= 0, got -1"),
        ({"shuffle": True, "sampler": [0]}, "DataLoader: sampler excludes shuffle"),
        (
            {"batch_sampler": [[0]], "batch_size": 2},
            "DataLoader: batch_sampler excludes batch_size, shuffle, sampler and drop_last",
        ),
        (
            {"batch_size": None, "drop_last": True},
            "DataLoader: without batches there is none to drop",
        ),
        ({"dataset": Stream(), "shuffle": True}, "DataLoader: a stream has its own order"),
    ],
)
def test_refusals(options, text):
    with pytest.raises(ValueError, match=re.escape(text)):
        DataLoader(**{"dataset": numbers(3), **options})
