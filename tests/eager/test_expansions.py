"""Calls that are expanded once: they give what running the function each time gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.eager import expansions


@pytest.fixture(autouse=True)
def _empty_table() -> None:
    expansions._known.clear()


def twice(call: Any) -> tuple[Any, Any]:
    """A call that finds its expansion, and one that uses it."""
    return call(), call()


def test_an_expansion_is_found_once_per_types_and_options() -> None:
    x = sg.asarray([[1.0, 2.0], [3.0, 4.0]])
    for _ in range(3):
        sg.softmax(x, axis=0)
        sg.softmax(x + 1.0, axis=0)
    first = len(expansions._known)
    sg.softmax(x, axis=1)
    sg.softmax(sg.astype(x, sg.float32), axis=0)
    assert len(expansions._known) > first


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda x: x[1], [3.0, 4.0]),
        (lambda x: x[..., ::-1], [[2.0, 1.0], [4.0, 3.0]]),
        (lambda x: x[None, 0, 1:], [[2.0]]),
        (lambda x: sg.stack([x, x])[1], [[1.0, 2.0], [3.0, 4.0]]),
        (lambda x: sg.concat([x, np.ones((1, 2))]), [[1.0, 2.0], [3.0, 4.0], [1.0, 1.0]]),
        (lambda x: sg.sum(x, axis=0, keepdims=True), [[4.0, 6.0]]),
        (lambda x: sg.repeat(x[0], sg.asarray([2, 1])), [1.0, 1.0, 2.0]),
        (lambda x: x[x > 1.5], [2.0, 3.0, 4.0]),
        (lambda x: sg.linalg.slogdet(x).logabsdet, np.log(2.0)),
        (lambda x: sg.clip(x, 1.5, np.float64(3.5)), [[1.5, 2.0], [3.0, 3.5]]),
    ],
)
def test_both_calls_give_the_same(call: Any, expected: Any) -> None:
    x = sg.asarray([[1.0, 2.0], [3.0, 4.0]])
    first, second = twice(lambda: call(x))
    np.testing.assert_allclose(first, expected)
    np.testing.assert_array_equal(first, second)
    assert first.dtype == second.dtype


def test_named_results_keep_their_names() -> None:
    for result in twice(lambda: sg.linalg.slogdet(sg.eye(2))):
        assert result._fields == ("sign", "logabsdet")


def test_results_never_share_memory() -> None:
    x = sg.asarray([1.0, 2.0])
    for call in (sg.zeros_like, sg.ones_like, lambda x: sg.full_like(x, 3.0), sg.tril, sg.eye):
        operand: Any = 2 if call is sg.eye else sg.stack([x, x]) if call is sg.tril else x
        first, second = twice(lambda call=call, operand=operand: call(operand))
        before = second.tolist()
        first += 1.0
        assert second.tolist() == before
        assert call(operand).tolist() == before


def test_numbers_are_told_apart() -> None:
    x = sg.asarray([1.0, -1.0])
    assert str(sg.copysign(x, -0.0)) == str(sg.asarray([-1.0, -1.0]))
    assert str(sg.clip(x, 0.0, None)) == "Tensor([1., 0.])"
    assert sg.clip(x, max=0.0).tolist() == [0.0, -1.0]
    assert sg.clip(sg.asarray([1, 5]), 2).dtype == sg.int64
    assert sg.clip(sg.asarray([1, 5]), 2.0).dtype == sg.float64


def test_refusals_come_back_each_time() -> None:
    x = sg.asarray([1.0, 2.0])
    for _ in range(2):
        with pytest.raises(sg.OutOfRange, match=r"created at test_expansions.py:\d+"):
            x[5]
        with pytest.raises(sg.ShapeError, match="reshape"):
            sg.reshape(x, (3,))
    assert x[1].tolist() == 2.0


def test_another_default_type_gives_other_expansions() -> None:
    x = sg.asarray([1, 2])
    try:
        found = [sg.mean(x).dtype]
        sg.set_default_dtype(sg.float32)
        found.append(sg.mean(x).dtype)
    finally:
        sg.set_default_dtype(sg.float64)
    assert found == [sg.float64, sg.float32]


def test_records_name_the_users_line() -> None:
    x = sg.Tensor([[1.0, 2.0]], requires_grad=True)
    for _ in range(2):
        y = sg.softmax(x, axis=1)
        assert str(y.grad_fn.site).startswith("test_expansions.py:")
