"""Rows S36 to S44: changes in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, DTypeError, InPlaceError
from tests.seed.formulas import holds, leaf, plain, product


def test_s36_add_changes_the_tensor_itself() -> None:
    x, y = sg.tensor([0.8284, 0.5539]), sg.tensor([0.3326, 0.8250])
    assert x._version == 0
    assert x.add_(y) is x
    assert x._version == 1
    assert holds(x, [1.1610, 1.3789], rtol=1e-6)


def test_s37_augmented_assignment_keeps_the_object_and_its_memory() -> None:
    a = sg.ones(1)
    same, address = a, a.data_ptr()
    a += sg.ones(1)
    a *= 3
    assert a is same
    assert a.data_ptr() == address
    assert a._version == 2
    assert holds(a, [6])
    a = a + sg.ones(1)
    assert a is not same


LEAF_CHANGES: list[Callable[[sg.Tensor], Any]] = [
    lambda w: w.add_(1),
    lambda w: w.__iadd__(1),
    lambda w: w.__setitem__(0, 3.0),
    lambda w: w.view(-1).add_(1),
    lambda w: w.zero_(),
    lambda w: w.copy_(plain(3)),
]


@pytest.mark.parametrize("attempt", LEAF_CHANGES)
def test_s38_a_leaf_that_requires_is_not_changed(attempt: Callable[[sg.Tensor], Any]) -> None:
    w, *_, y = product()
    with pytest.raises(RuntimeError, match="a leaf that requires a gradient was to be changed"):
        attempt(w)
    assert holds(w, [1])
    assert w._version == 0
    y.backward()
    assert holds(w.grad, [5])


@pytest.mark.parametrize("attempt", LEAF_CHANGES)
def test_s38_but_under_no_grad_and_where_it_does_not_require(
    attempt: Callable[[sg.Tensor], Any],
) -> None:
    w = leaf(1)
    with sg.no_grad():
        attempt(w)
    assert w._version == 1
    assert w.is_leaf
    assert w.requires_grad
    free = plain(1)
    attempt(free)
    assert free._version == 1


def test_s39_a_version_counts_not_an_address() -> None:
    w, *_, y = product()
    with sg.no_grad():
        w.add_(1)
    y.backward()
    assert holds(w.grad, [5]), "sums have saved nothing"
    w, x = leaf(1), leaf(2)
    y = w * x
    with sg.no_grad():
        w.add_(1)
    with pytest.raises(RuntimeError, match="was changed in place since"):
        y.backward()


def test_s40_a_saved_value_was_changed() -> None:
    w, _, a, _, y = product()
    a.add_(1)
    with pytest.raises(RuntimeError, match="was changed in place since") as caught:
        y.backward()
    text = str(caught.value)
    for part in ("multiply", "f32[1]", "expected version 0", "got version 1"):
        assert part in text
    assert "saved at formulas.py:" in text
    assert "changed at test_in_place.py:" in text
    assert w.grad is None


def test_s40_the_root_may_be_changed() -> None:
    w, *_, y = product()
    y.add_(1)
    y.backward()
    assert holds(w.grad, [5])


def test_s40_what_is_saved_is_the_result_or_the_operand() -> None:
    x = leaf(1)
    y = sg.exp(x)
    y.add_(1)
    with pytest.raises(RuntimeError, match="exp: the result of type"):
        y.backward()
    y = sg.sin(x)
    y.add_(1)
    y.backward()
    assert holds(x.grad, [0.5403023], rtol=1e-6)


def test_s40_a_rectifier_reads_its_result() -> None:
    x = leaf(1, -2)
    y = (x * x).relu_()
    y.sum().backward()
    assert holds(x.grad, [2, -4])
    y = sg.exp(x).relu_()
    with pytest.raises(RuntimeError, match="backward through exp"):
        y.sum().backward()


@pytest.mark.parametrize("share", [lambda x: x.detach(), lambda x: x.data])
def test_s41_whatever_shares_memory_shares_the_version(
    share: Callable[[sg.Tensor], sg.Tensor],
) -> None:
    x = leaf(1, 2)
    y = x * x
    share(x).add_(1)
    assert holds(x, [2, 3])
    assert x._version == 1
    with pytest.raises(RuntimeError, match="was changed in place since"):
        y.sum().backward()


# --- scatter --------------------------------------------------------------------------------------

SRC = np.arange(1, 11, dtype="float32").reshape(2, 5)


def test_s42_scatter_along_an_axis() -> None:
    src = sg.asarray(SRC)
    target = sg.zeros(3, 5)
    assert target.scatter_(0, sg.tensor([[0, 1, 2, 0]]), src) is target
    expected = np.zeros((3, 5))
    expected[[0, 1, 2, 0], [0, 1, 2, 3]] = [1, 2, 3, 4]
    assert holds(target, expected)
    across = sg.zeros(3, 5).scatter_(1, sg.tensor([[0, 1, 2], [0, 1, 4]]), src)
    assert holds(across, [[1, 2, 3, 0, 0], [6, 7, 0, 0, 8], [0, 0, 0, 0, 0]])


@pytest.mark.parametrize(
    ("options", "value"), [({}, 1.5), ({"reduce": "add"}, 3.5), ({"reduce": "multiply"}, 3)]
)
def test_s42_one_value_and_reductions(options: dict[str, str], value: float) -> None:
    found = sg.full((2, 4), 2.0).scatter_(1, sg.tensor([[2], [3]]), 1.5, **options)
    assert holds(found, [[2, 2, value, 2], [2, 2, 2, value]])
    named = sg.full((2, 4), 2.0).scatter_(1, sg.tensor([[2], [3]]), value=1.5, **options)
    assert holds(named, found.numpy())


def test_s42_refusals() -> None:
    target, src = sg.zeros(3, 5), sg.asarray(SRC)
    with pytest.raises(IndexError, match="out of bounds"):
        target.scatter_(0, sg.tensor([[0, 1, 3, 0]]), src)
    with pytest.raises(DTypeError, match="element type of an index: expected integer"):
        target.scatter_(0, sg.tensor([[0.0, 1.0, 2.0, 0.0]]), src)
    with pytest.raises(DTypeError, match="src has another element type"):
        target.scatter_(0, sg.tensor([[0, 1, 2, 0]]), src.double())
    with pytest.raises(ArgumentError, match="nothing to write"):
        target.scatter_(0, sg.tensor([[0, 1, 2, 0]]))
    with pytest.raises(ArgumentError, match="expected 'add' or 'multiply', got 'mean'"):
        target.scatter_(0, sg.tensor([[0, 1, 2, 0]]), src, reduce="mean")
    assert holds(target, np.zeros((3, 5)))
    assert target._version == 0


@pytest.mark.parametrize("in_place", [False, True])
def test_s42_its_gradient(in_place: bool) -> None:
    x, src = sg.rand(3, 5, requires_grad=True), sg.rand(2, 5, requires_grad=True)
    index = sg.tensor([[0, 1, 2, 0]])
    y = x.clone().scatter_(0, index, src) if in_place else sg.scatter(x, 0, index, src)
    g = np.arange(15, dtype="float32").reshape(3, 5)
    y.backward(sg.asarray(g))
    gathered, masked = np.zeros((2, 5)), g.copy()
    gathered[0, :4] = g[[0, 1, 2, 0], [0, 1, 2, 3]]
    masked[[0, 1, 2, 0], [0, 1, 2, 3]] = 0
    assert holds(src.grad, gathered)
    assert holds(x.grad, masked)


# --- views ----------------------------------------------------------------------------------------


def test_s43_a_change_of_a_view_rewrites_the_history_of_its_base() -> None:
    x = leaf(1, 2, 3, 4)
    y = x * 1
    y[1:3].mul_(10)
    assert holds(y, [1, 20, 30, 4])
    y.sum().backward()
    assert holds(x.grad, [1, 10, 10, 1])


@pytest.mark.parametrize(
    "taken", [lambda y: sg.chunk(y, 2)[0], lambda y: y.unbind()[0], lambda y: sg.unbind(y)[1]]
)
def test_s43_one_of_several_views_is_not_changed(taken: Callable[[sg.Tensor], sg.Tensor]) -> None:
    y = leaf(1, 2, 3, 4) * 1
    part = taken(y)
    with pytest.raises(RuntimeError, match="one of several that one call gave"):
        part.add_(1)
    assert holds(y, [1, 2, 3, 4])
    free = plain(1, 2, 3, 4)
    taken(free).add_(1)
    assert free._version == 1


def test_s43_a_view_without_a_record_is_not_changed_with_one() -> None:
    y = leaf(1, 2) * 1
    with sg.no_grad():
        view = y[0:1]
    with pytest.raises(RuntimeError, match="made under no_grad"):
        view.add_(1)


@pytest.mark.parametrize(
    ("attempt", "error", "text"),
    [
        (lambda: sg.ones(3, 1).expand(3, 4).add_(1), InPlaceError, "several elements share one"),
        (lambda: sg.ones(3).add_(sg.ones(2, 3)), InPlaceError, "keeps the shape: expected f32"),
        (lambda: sg.ones(3, dtype="int32").add_(1.5), DTypeError, "does not fit the element type"),
        (lambda: sg.ones(3, dtype="int32").div_(2), InPlaceError, "does not fit the element type"),
    ],
)
def test_s43_refusals(attempt: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text) as caught:
        attempt()
    assert isinstance(caught.value, RuntimeError)


def test_s43_an_operand_that_requires_makes_a_result_of_a_plain_leaf() -> None:
    x, target = leaf(1, 2), sg.ones(2)
    target.add_(x)
    assert not target.is_leaf
    assert target.requires_grad
    target.sum().backward()
    assert holds(x.grad, [1, 1])


def test_s44_item_assignment() -> None:
    x = leaf(1, 2, 3)
    y = x.clone()
    y[1] = 10
    y.sum().backward()
    assert holds(x.grad, [1, 0, 1])
    x = leaf(1, 2, 3)
    y = sg.zeros(3)
    y[1] = 2 * x[2]
    assert holds(y, [0, 6, 0])
    y.sum().backward()
    assert holds(x.grad, [0, 0, 2])
