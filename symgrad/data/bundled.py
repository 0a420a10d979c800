"""Small real data sets, those that come with scikit-learn (extra ``data``)."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from symgrad.data.dataset import TensorDataset
from symgrad.eager.tensor import as_tensor
from symgrad.ir.extras import require_extra
from symgrad.types import as_dtype, default_float


class BundledDataset(TensorDataset):
    """Inputs and targets, with names.

    >>> import symgrad as sg
    >>> sg.data.load_iris()
    BundledDataset(iris: f64[150, 4], i64[150])

    Attributes:
        inputs: one row per sample.
        targets: classes as integers, or values.
        target_names: of the classes, or of the values.
        feature_names: of the columns.
        name: of the data set.
        description: where it comes from.
    """

    def __init__(self, name: str, bunch: Any, dtype: Any) -> None:
        kind = default_float() if dtype is None else as_dtype(dtype)
        targets = np.asarray(bunch.target)
        if targets.dtype.kind == "f":
            targets = targets.astype(kind)
        super().__init__(as_tensor(np.asarray(bunch.data).astype(kind)), as_tensor(targets))
        self.inputs, self.targets = self.tensors
        self.name, self.description = name, str(bunch.DESCR)
        self.target_names = [str(one) for one in bunch.get("target_names", [])]
        self.feature_names = [str(one) for one in bunch.get("feature_names", [])]

    def __repr__(self) -> str:
        return f"BundledDataset({self.name}: {self.inputs.type}, {self.targets.type})"


def _load(name: str, dtype: Any) -> BundledDataset:
    require_extra(f"load_{name}", "data")
    bundled: Any = import_module("sklearn.datasets")
    return BundledDataset(name, getattr(bundled, f"load_{name}")(), dtype)


def load_digits(*, dtype: Any = None) -> BundledDataset:
    """1797 handwritten digits: 8 by 8 pixels from 0 to 16, in rows of 64; ten classes.

    Args:
        dtype: the element type of the inputs; the default float if None.

    Raises:
        ExtraMissing: scikit-learn is not installed.

    >>> import symgrad as sg
    >>> digits = sg.data.load_digits(dtype="float32")
    >>> digits.inputs.shape, digits.targets.shape
    ((1797, 64), (1797,))
    """
    return _load("digits", dtype)


def load_iris(*, dtype: Any = None) -> BundledDataset:
    """150 flowers, four measurements, three species; arguments as for `load_digits`."""
    return _load("iris", dtype)


def load_wine(*, dtype: Any = None) -> BundledDataset:
    """178 wines, 13 measurements, three growers; arguments as for `load_digits`."""
    return _load("wine", dtype)


def load_breast_cancer(*, dtype: Any = None) -> BundledDataset:
    """569 tumours, 30 measurements, two classes; arguments as for `load_digits`."""
    return _load("breast_cancer", dtype)


def load_diabetes(*, dtype: Any = None) -> BundledDataset:
    """442 patients, ten measurements, one value to predict; arguments as for `load_digits`."""
    return _load("diabetes", dtype)


def load_linnerud(*, dtype: Any = None) -> BundledDataset:
    """20 men, three exercises, three values to predict; arguments as for `load_digits`."""
    return _load("linnerud", dtype)
