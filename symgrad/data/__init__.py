"""Data sets, batches of them, and transforms.

>>> import symgrad as sg
>>> digits = sg.data.load_digits()
>>> train, test = sg.data.random_split(digits, [0.8, 0.2], generator=0)
>>> loader = sg.data.DataLoader(train, batch_size=64, shuffle=True, generator=0, prefetch=2)
>>> images, labels = next(iter(loader))
>>> images.shape, labels.shape, len(loader)
((64, 64), (64,), 23)
"""

from __future__ import annotations

from symgrad.data.bundled import (
    BundledDataset,
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_linnerud,
    load_wine,
)
from symgrad.data.collating import collate
from symgrad.data.dataset import (
    ConcatDataset,
    Dataset,
    MappedDataset,
    Subset,
    TensorDataset,
    random_split,
)
from symgrad.data.loader import DataLoader
from symgrad.data.samplers import (
    BatchSampler,
    RandomSampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from symgrad.data.synthetic import synthetic_digits
from symgrad.data.transforms import (
    add_noise,
    center_crop,
    compose,
    normalize,
    random_crop,
    random_flip,
    standardize,
    to_float,
)

__all__ = [
    "BatchSampler",
    "BundledDataset",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "MappedDataset",
    "RandomSampler",
    "SequentialSampler",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "add_noise",
    "center_crop",
    "collate",
    "compose",
    "load_breast_cancer",
    "load_diabetes",
    "load_digits",
    "load_iris",
    "load_linnerud",
    "load_wine",
    "normalize",
    "random_crop",
    "random_flip",
    "random_split",
    "standardize",
    "synthetic_digits",
    "to_float",
]
