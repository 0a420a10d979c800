"""Data sets, samplers, batches, transforms, and the sets that come ready."""

from __future__ import annotations

import re
import sys
from collections import Counter, OrderedDict
from typing import Any, NamedTuple

import numpy as np
import pytest

import symgrad as sg
from symgrad import data
from symgrad.ir import extras


class Squares:
    """The least that a data set must have."""

    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if not 0 <= index < self.count:
            raise IndexError(index)
        return float(index**2)


def numbers(count):
    return data.TensorDataset(np.arange(count))


def held(dataset):
    return [sample[0].item() for sample in dataset]


# --- data sets --------------------------------------------------------------------------------


def test_tensors_by_sample():
    dataset = data.TensorDataset(np.arange(6.0).reshape(3, 2), [1, 2, 3])
    x, y = dataset[-1]
    assert (x.tolist(), y.item()) == ([4.0, 5.0], 3)
    x, y = dataset[1:]
    assert (x.shape, y.tolist()) == ((2, 2), [2, 3])
    assert held(numbers(3)) == [0, 1, 2]
    x, y = dataset.batch([2, 0, 2])
    assert y.tolist() == [3, 1, 3]
    assert isinstance(dataset, data.Dataset)
    assert isinstance(Squares(2), data.Dataset)


def test_a_tensor_that_requires_a_gradient_is_recorded():
    table = sg.ones((3, 2), requires_grad=True)
    (rows,) = data.TensorDataset(table).batch([1, 1])
    rows.sum().backward()
    assert table.grad.tolist() == [[0, 0], [2, 2], [0, 0]]


def test_parts_and_sums():
    part = data.Subset(numbers(10), [7, 3, 3])
    assert held(part) == [7, 3, 3]
    assert held(part[1:]) == [3, 3]
    assert part.batch([0, 2])[0].tolist() == [7, 3]
    assert held(data.Subset(part, [0])) == [7]
    both = data.ConcatDataset([numbers(2), numbers(0), numbers(3)])
    assert held(both) == [0, 1, 0, 1, 2]
    assert both[-1][0].item() == 2
    assert not hasattr(data.Subset(Squares(2), [0]), "batch")
    mapped = data.MappedDataset(numbers(3), lambda x: (x * 10,))
    assert held(mapped) == [0, 10, 20]
    assert list(data.MappedDataset(Squares(3), lambda x: x + 1)) == [1, 2, 5]


def test_random_split():
    parts = data.random_split(numbers(10), [7, 3], generator=1)
    assert [len(part) for part in parts] == [7, 3]
    assert sorted(held(parts[0]) + held(parts[1])) == list(range(10))
    again = data.random_split(numbers(10), [7, 3], generator=sg.random.Generator(1))
    assert held(again[0]) == held(parts[0])
    assert [len(p) for p in data.random_split(numbers(10), [1 / 3] * 3)] == [4, 3, 3]
    assert [len(p) for p in data.random_split(numbers(10), [0.7, 0.2, 0.1])] == [7, 2, 1]
    sg.manual_seed(3)
    first = held(data.random_split(numbers(10), [5, 5])[0])
    sg.manual_seed(3)
    assert held(data.random_split(numbers(10), [5, 5])[0]) == first


# --- samplers ---------------------------------------------------------------------------------


def test_random_orders():
    sampler = data.RandomSampler(range(50), generator=3)
    first, second = list(sampler), list(sampler)
    assert sorted(first) == sorted(second) == list(range(50))
    assert first != second
    assert first != sorted(first)
    sampler.epoch = 1
    assert list(sampler) == second
    assert list(data.RandomSampler(range(50), generator=3)) == first
    assert list(data.RandomSampler(range(50), generator=4)) != first
    few = data.RandomSampler(range(50), num_samples=7, generator=0)
    assert len(few) == len(set(few)) == 7
    many = list(data.RandomSampler(range(3), replacement=True, num_samples=100, generator=0))
    assert Counter(many).keys() == {0, 1, 2}
    assert len(many) == 100


def test_given_indices_and_weights():
    sampler = data.SubsetRandomSampler([5, 7, 9], generator=0)
    assert sorted(sampler) == [5, 7, 9]
    assert len(sampler) == 3
    weighted = data.WeightedRandomSampler([1, 0, 3], 4000, generator=0)
    counts = Counter(weighted)
    assert counts[1] == 0
    assert counts[2] / counts[0] == pytest.approx(3, rel=0.15)
    assert sorted(data.WeightedRandomSampler([1, 0, 3], 2, replacement=False)) == [0, 2]


def test_batches_of_indices():
    sampler = data.BatchSampler(data.SequentialSampler("abcde"), 2, drop_last=True)
    assert list(sampler) == [[0, 1], [2, 3]]
    assert len(sampler) == 2
    assert len(data.BatchSampler(range(5), 2)) == 3


# --- batches ----------------------------------------------------------------------------------


class Pair(NamedTuple):
    x: Any
    y: Any


def test_nested_samples():
    def sample(k):
        return {
            "image": sg.full((2,), float(k)),
            "meta": (k, f"name {k}", [np.float32(k), k > 0]),
            "pair": Pair(1.5 * k, np.arange(3) + k),
        }

    batch = data.collate([sample(0), sample(1)])
    assert batch["image"].tolist() == [[0, 0], [1, 1]]
    number, names, (single, flag) = batch["meta"]
    assert (number.dtype, single.dtype, flag.dtype) == (np.int64, np.float32, np.bool_)
    assert names == ["name 0", "name 1"]
    assert isinstance(batch["pair"], Pair)
    assert batch["pair"].x.tolist() == [0.0, 1.5]
    assert batch["pair"].y.shape == (2, 3)
    assert type(data.collate([OrderedDict(a=1)])) is OrderedDict
    assert data.collate([{"a": 1, "b": 2}, {"b": 3, "a": 4}])["b"].tolist() == [2, 3]


def test_python_floats_take_the_default_type():
    before = sg.default_float()
    sg.set_default_dtype("float32")
    try:
        assert data.collate([1.0, 2.0]).dtype == np.float32
        assert data.collate([np.float64(1.0)]).dtype == np.float64
    finally:
        sg.set_default_dtype(before)


def test_gradients_pass_through_a_batch():
    leaves = [sg.tensor(1.0, requires_grad=True), sg.tensor(2.0)]
    (data.collate(leaves) * sg.tensor([3.0, 4.0])).sum().backward()
    assert leaves[0].grad.item() == 3.0


# --- refusals ---------------------------------------------------------------------------------

REFUSALS = [
    (lambda: data.TensorDataset(), ValueError, "TensorDataset: no tensors: expected at least one"),
    (
        lambda: data.TensorDataset(np.zeros((3, 2)), np.zeros(4)),
        sg.ShapeError,
        "TensorDataset: the first axes run over the samples: expected one length, got f64[3, 2],",
    ),
    (lambda: data.TensorDataset(1.0), sg.ShapeError, "expected one length, got f64[]"),
    (lambda: numbers(3)[3], IndexError, "TensorDataset: no such sample: expected below 3, got 3"),
    (lambda: numbers(3).batch([1, -4]), IndexError, "TensorDataset: no such sample"),
    (lambda: data.Subset(numbers(3), [1])[1], IndexError, "Subset: no such sample"),
    (lambda: data.ConcatDataset([]), ValueError, "ConcatDataset: no data sets: expected at least"),
    (lambda: data.ConcatDataset([numbers(1)])[-2], IndexError, "ConcatDataset: no such sample"),
    (
        lambda: data.random_split(numbers(3), [1, 1]),
        ValueError,
        "random_split: the lengths do not add up: expected 3, or shares that add up to 1, got 2",
    ),
    (
        lambda: data.random_split(numbers(3), [4, -1]),
        ValueError,
        "length is below 0: got [4, -1]",
    ),
    (
        lambda: data.RandomSampler("abc", num_samples=4),
        ValueError,
        "RandomSampler: num_samples: expected at most 3, without replacement, got 4",
    ),
    (lambda: data.RandomSampler("abc", num_samples=0), ValueError, "num_samples: expected >= 1"),
    (
        lambda: data.WeightedRandomSampler([0.0, -1.0], 1),
        ValueError,
        "WeightedRandomSampler: weights: expected a vector, not below 0, not all 0",
    ),
    (lambda: data.WeightedRandomSampler([0.0], 1), ValueError, "WeightedRandomSampler: weights"),
    (lambda: data.WeightedRandomSampler([1.0], 0), ValueError, "num_samples: expected >= 1, got 0"),
    (
        lambda: data.WeightedRandomSampler([1, 0], 2, replacement=False),
        ValueError,
        "num_samples: expected at most 1, without replacement, got 2",
    ),
    (lambda: data.BatchSampler([], 0), ValueError, "batch_size: expected an integer >= 1, got 0"),
    (lambda: data.BatchSampler([], 1.5), ValueError, "expected an integer >= 1, got 1.5"),
    (lambda: data.collate([]), ValueError, "collate: no samples: expected at least one"),
    (
        lambda: data.collate([{"a": [object()]}]),
        TypeError,
        "collate: sample['a'][0]: cannot be put into a batch: expected tensors, arrays, numbers,",
    ),
    (
        lambda: data.collate([(1, np.zeros(3)), (1, np.zeros(4))]),
        ValueError,
        "collate: sample[1]: sample 0 and sample 1 differ in shape: expected (3,), got (4,);"
        " hint: pad them, or DataLoader(..., collate_fn=...)",
    ),
    (
        lambda: data.collate([(1,), (1, 2)]),
        ValueError,
        "collate: sample: sample 0 and sample 1 hold different things: expected 1, got 2",
    ),
    (
        lambda: data.collate([{"a": 1}, {"b": 1}]),
        ValueError,
        "collate: sample: sample 0 and sample 1 hold different things: expected ['a'], got ['b']",
    ),
    (
        lambda: data.normalize(sg.ones(2, 4, 4), [0.0] * 3, 1.0),
        sg.ShapeError,
        "normalize: mean has 3 numbers: expected one per channel, got f64[2, 4, 4]",
    ),
    (
        lambda: data.normalize(sg.ones(1, 4, 4), 0.0, [0.0]),
        ValueError,
        "normalize: a standard deviation is 0: got [0.0]",
    ),
    (
        lambda: data.center_crop(sg.ones(1, 4, 4), 5),
        sg.ShapeError,
        "center_crop: size: expected at most (4, 4), got (5, 5)",
    ),
    (lambda: data.center_crop(sg.ones(4), 5), sg.ShapeError, "center_crop: no images: expected ("),
    (
        lambda: data.random_crop(sg.ones(1, 4, 4), 2, sg.random.key(0)),
        sg.ShapeError,
        "random_crop: no batch of images: expected 4 axes, got f64[1, 4, 4]",
    ),
    (lambda: data.random_flip(sg.ones(3), sg.random.key(0)), sg.ShapeError, "expected 4 axes"),
    (
        lambda: data.synthetic_digits(0),
        ValueError,
        "synthetic_digits: count: expected an integer >= 1, got 0",
    ),
]


@pytest.mark.parametrize(("refused", "kind", "text"), REFUSALS)
def test_refusals(refused, kind, text):
    with pytest.raises(kind, match=re.escape(text)):
        refused()


# --- transforms -------------------------------------------------------------------------------


def test_floats_and_statistics():
    assert data.to_float(np.array([1, 2])).dtype == np.float64
    assert data.to_float(sg.ones(2, dtype=sg.float32)).dtype == np.float32
    assert data.to_float(np.array([1, 2]), 2.0, dtype="float32").tolist() == [0.5, 1.0]
    x = np.random.default_rng(0).normal(3, 5, (100, 4))
    x[:, 2] = 7.0
    z = data.standardize(x).numpy()
    np.testing.assert_allclose(z.mean(0), 0, atol=1e-12)
    np.testing.assert_allclose(z.std(0), [1, 1, 0, 1])
    np.testing.assert_allclose(data.standardize(x[:3], like=x).numpy(), z[:3])


def test_random_parts():
    images = sg.reshape(sg.arange(2 * 3 * 25), (2, 3, 5, 5))
    parts = data.random_crop(images, (2, 3), sg.random.key(1)).numpy()
    assert parts.shape == (2, 3, 2, 3)
    whole = images.numpy()
    for image, part in zip(whole, parts, strict=True):
        found = [
            (r, c)
            for r in range(4)
            for c in range(3)
            if np.array_equal(image[:, r : r + 2, c : c + 3], part)
        ]
        assert len(found) == 1
    many = data.random_crop(sg.ones(200, 1, 4, 4), 4, sg.random.key(0), padding=1).numpy()
    assert {int(image.sum()) for image in many} == {16, 12, 9}


def test_mirrored_images():
    images = sg.reshape(sg.arange(200 * 3), (200, 1, 1, 3))
    found = data.random_flip(images, sg.random.key(0)).numpy()
    mirrored = (found[:, 0, 0, 0] > found[:, 0, 0, 2]).sum()
    assert 70 < mirrored < 130
    assert np.array_equal(np.sort(found, axis=-1), images.numpy())


def test_transforms_of_symbols():
    x, key = sg.placeholder("x", (4, 1, 6, 6)), sg.placeholder("key", (2,), "uint64")
    y = data.random_flip(data.random_crop(data.normalize(x, [0.5], [2.0]), 4, key), key)
    values = np.random.default_rng(0).normal(size=(4, 1, 6, 6))
    compiled = sg.function([x, key], y)(values, sg.random.key(5).numpy())
    key = sg.random.key(5)
    eager = data.random_flip(data.random_crop(data.normalize(values, [0.5], [2.0]), 4, key), key)
    np.testing.assert_array_equal(compiled, eager.numpy())


def test_noise():
    noisy = data.add_noise(sg.zeros(10000), sg.random.key(0), std=0.5).numpy()
    assert noisy.std() == pytest.approx(0.5, rel=0.05)


# --- ready-made -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "shape", "kind", "classes"),
    [
        ("digits", (1797, 64), "i", 10),
        ("iris", (150, 4), "i", 3),
        ("wine", (178, 13), "i", 3),
        ("breast_cancer", (569, 30), "i", 2),
        ("diabetes", (442, 10), "f", 0),
        ("linnerud", (20, 3), "f", 3),
    ],
)
def test_bundled(name, shape, kind, classes):
    pytest.importorskip("sklearn")
    made = getattr(data, f"load_{name}")(dtype="float32")
    assert made.inputs.shape == shape
    assert made.inputs.dtype == np.float32
    assert made.targets.dtype.kind == kind
    assert len(made.target_names) == classes
    assert len(made.feature_names) == shape[1]
    assert len(made) == shape[0]
    assert made.description
    assert made[0][0].shape == shape[1:]


def test_without_scikit_learn(monkeypatch):
    monkeypatch.setattr(extras, "_is_there", lambda package: package != "sklearn")
    text = "load_digits: sklearn is not installed; hint: pip install 'symgrad[data]'"
    with pytest.raises(sg.ExtraMissing, match=re.escape(text)):
        data.load_digits()


def test_digits_that_are_drawn():
    made = data.synthetic_digits(300, dtype="float32")
    images, labels = (tensor.numpy() for tensor in made.tensors)
    assert images.shape == (300, 1, 28, 28)
    assert images.dtype == np.float32
    assert images.min() == 0.0
    assert images.max() == 1.0
    assert set(labels) == set(range(10))
    again = data.synthetic_digits(300, dtype="float32").tensors[0]
    np.testing.assert_array_equal(images, again.numpy())
    assert not np.array_equal(images, data.synthetic_digits(300, seed=1).tensors[0].numpy())
    # Images of one class are nearer to their mean than to any other, for most.
    means = np.stack([images[labels == k].mean(0) for k in range(10)])
    away = ((images[:, None] - means[None]) ** 2).sum((2, 3, 4))
    assert (away.argmin(1) == labels).mean() > 0.7


def test_importing_loads_no_extra():
    assert "sklearn" not in extras.PACKAGES
    assert extras.PACKAGES["data"] == "sklearn"
    assert sys.modules["symgrad.data"] is data
