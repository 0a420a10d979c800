"""Functions of numpy on tensors: they record; where they cannot, no gradient is lost in silence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg

ARRAY = np.array([3.0, 4.0])

CALLS: dict[str, Any] = {
    "sin": lambda t: np.sin(t),
    "array times tensor": lambda t: ARRAY * t,
    "array minus tensor": lambda t: ARRAY - t,
    "array by tensor": lambda t: ARRAY / t,
    "array to the tensor": lambda t: ARRAY**t,
    "array at tensor": lambda t: ARRAY @ t,
    "numpy number": lambda t: np.float64(2) * t,
    "add": lambda t: np.add(ARRAY, t),
    "maximum": lambda t: np.maximum(t, 1.5),
    "concatenate": lambda t: np.concatenate([t, ARRAY]),
    "stack": lambda t: np.stack([ARRAY, t]),
    "where": lambda t: np.where(ARRAY > 3, t, ARRAY),
    "sum": lambda t: np.sum(t),
    "mean": lambda t: np.mean(t, axis=0),
    "dot": lambda t: np.dot(ARRAY, t),
    "norm": lambda t: np.linalg.norm(t),
    "fft": lambda t: np.fft.rfft(t),
}


@pytest.mark.parametrize("name", CALLS)
def test_numpy_records(name: str) -> None:
    t = sg.tensor([1.0, 2.0], requires_grad=True)
    found, expected = CALLS[name](t), CALLS[name](t.numpy())
    assert isinstance(found, sg.Tensor)
    assert found.requires_grad
    np.testing.assert_allclose(found, expected)


def test_what_numpy_alone_knows_is_refused_where_a_gradient_is_wanted() -> None:
    t = sg.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(
        sg.GradientError,
        match=r"numpy.percentile: no function of symgrad means the same, and the gradient would be "
        r"lost: got f64\[2\]; hint: x.detach\(\) is taken as plain values",
    ):
        np.percentile(t, 30)
    assert np.percentile(t.detach(), 50) == 1.5
    assert np.array_equal(t, t)  # no number comes of it


def test_numpy_writes_into_its_own_arrays() -> None:
    t, array = sg.tensor([1.0, 2.0]), ARRAY.copy()
    array += t
    assert type(array) is np.ndarray
    assert array.tolist() == [4.0, 6.0]
    np.multiply(t, array, out=array)
    assert array.tolist() == [4.0, 12.0]
    assert np.add.reduce(t) == 3.0


def test_a_gradient_is_not_written_away() -> None:
    t, array = sg.tensor([1.0, 2.0], requires_grad=True), ARRAY.copy()
    with pytest.raises(sg.GradientError, match=r"numpy.add: .* the gradient would be lost"):
        array += t
    assert array.tolist() == ARRAY.tolist()
    with pytest.raises(sg.GradientError, match=r"numpy.multiply: .* the gradient would be lost"):
        np.multiply.outer(ARRAY, t)


def test_tensors_are_no_place_for_numpy_to_write() -> None:
    with pytest.raises(TypeError, match="returned NotImplemented"):
        np.add(ARRAY, ARRAY, out=sg.zeros(2))
