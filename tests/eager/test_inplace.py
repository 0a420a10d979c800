"""Changes in place: versions, views, refusals; and compiled functions on the same storage."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg


def leaf(*values: Any) -> sg.Tensor:
    return sg.Tensor(np.array(values, float), requires_grad=True)


def add_to(x: Any, y: Any) -> None:
    x += y


# --- what is refused -----------------------------------------------------------------------------


def _made_without_recording(x: sg.Tensor) -> None:
    y = x * 1.0
    with sg.no_grad():
        view = y[0:1]
    view += 1.0


@pytest.mark.parametrize(
    ("attempt", "text"),
    [
        (lambda x: add_to(x, 1.0), r"\+=: a leaf that requires a gradient was to be changed"),
        (lambda x: add_to(x[:1], 1.0), r"\+=: a view of a leaf that requires a gradient"),
        (lambda x: x.__setitem__(0, 1.0), "item assignment: a leaf that requires a gradient"),
        (lambda x: add_to(x * 1.0, np.ones((2, 2))), "a change in place keeps the shape"),
        (lambda x: add_to(sg.asarray([1, 2]), 0.5), "does not fit the element type"),
        (
            lambda x: add_to(sg.broadcast_to(sg.asarray(1.0), (2,)), 1.0),
            "the memory is read-only|share one place",
        ),
        (_made_without_recording, "the view was made under no_grad"),
        (
            lambda x: add_to(sg.real(sg.asarray([1j]) * x[:1]), 1.0),
            "the result of real shows its operand in another way",
        ),
    ],
)
def test_refusals_change_nothing(attempt: Any, text: str) -> None:
    x = leaf(1.0, 2.0)
    with pytest.raises(sg.InPlaceError, match=text):
        attempt(x)
    assert x.tolist() == [1.0, 2.0]
    assert x._version == 0


def test_what_was_saved_must_not_change() -> None:
    x = leaf(0.5)
    y = sg.exp(x)
    y += 1.0
    with pytest.raises(
        sg.InPlaceError,
        match=r"backward through exp: the result of type f64\[1\], saved at test_inplace.py:\d+, "
        r"was changed in place since, changed at test_inplace.py:\d+: expected version 0, got ve",
    ):
        y.backward()
    assert x.grad is None


def test_one_of_several_results_that_was_saved_must_not_change() -> None:
    x = leaf([2.0, 1.0], [1.0, 3.0])
    _, vectors = sg.linalg.eigh(x)
    loss = sg.sum(vectors * sg.ones(2, 2))
    with sg.no_grad():
        vectors.mul_(2.0)
    with pytest.raises(
        sg.InPlaceError,
        match=r"eigh_pack: the result of type .*, was changed in place since, changed at test_inp",
    ):
        loss.backward()


def test_what_no_rule_reads_may_change() -> None:
    x = leaf(1.0)
    y = sg.sin(x)  # reads x
    y += 1.0
    z = x + 1.0  # reads nothing
    w = z * 2.0
    z *= 5.0
    (y + w).backward()
    np.testing.assert_allclose(x.grad, [np.cos(1.0) + 2.0])


def test_a_change_keeps_what_its_own_rule_reads() -> None:
    x = leaf(3.0)
    y = x.clone()
    y *= y
    y.backward()
    assert x.grad.tolist() == [6.0]


def test_under_no_grad_a_leaf_may_change() -> None:
    x = leaf(1.0, 2.0)
    with sg.no_grad():
        x -= 0.5
        x[0] = 7.0
    assert x._version == 2
    assert x.is_leaf
    assert x.requires_grad
    sg.sum(x * x).backward()
    assert x.grad.tolist() == [14.0, 3.0]


def test_a_plain_leaf_becomes_a_result() -> None:
    x, y = leaf(3.0), sg.zeros((2,)).clone()
    y[1] = 2.0 * x[0]
    assert y.requires_grad
    assert not y.is_leaf
    sg.sum(y * y).backward()
    assert x.grad.tolist() == [24.0]


# --- views ---------------------------------------------------------------------------------------


def test_detached_tensors_count_the_same_changes() -> None:
    x = leaf(1.0)
    y = x * 1.0
    z = y * y
    d = y.detach()
    d += 1.0
    assert y.tolist() == [2.0]
    with pytest.raises(sg.InPlaceError, match="was changed in place since"):
        z.backward()


def test_a_view_of_a_view_writes_to_the_base() -> None:
    x = leaf(*range(6))
    y = sg.reshape(x * 1.0, (2, 3))
    column = y.T[1]
    column *= 10.0
    assert y.tolist() == [[0.0, 10.0, 2.0], [3.0, 40.0, 5.0]]
    sg.sum(y).backward()
    assert x.grad.tolist() == [1.0, 10.0, 1.0, 1.0, 10.0, 1.0]


def test_a_view_taken_before_the_change_follows() -> None:
    x = leaf(1.0, 2.0)
    y = x * 1.0
    first, second = y[0], y[1]
    first *= 3.0
    second *= 5.0
    (first * second).backward()
    assert x.grad.tolist() == [30.0, 15.0]


def test_detach_in_place() -> None:
    x = leaf(1.0)
    y = x * 2.0
    assert y.detach_() is y
    assert y.is_leaf
    assert not y.requires_grad
    with pytest.raises(sg.InPlaceError, match="detach_: a view has its base's history"):
        sg.reshape(x * 2.0, (1, 1)).detach_()


# --- compiled functions on the same storage ------------------------------------------------------


def _step(x: sg.Tensor) -> sg.Function:
    fed = sg.placeholder("fed", (2,))
    (v,) = sg.Graph([fed], fed * x).variables
    return sg.function(fed, sg.sum(fed * v), updates={v: v + fed})


def test_a_leaf_is_a_variable_of_graphs() -> None:
    x = leaf(1.0, 2.0)
    step = _step(x)
    assert float(step([1.0, 1.0])) == 3.0
    assert x.tolist() == [2.0, 3.0]
    assert x._version == 1
    fed = sg.placeholder("fed", (2,))
    (g,) = sg.grad(sg.sum(fed * x), x)
    np.testing.assert_array_equal(g.eval({fed: [3.0, 4.0]}), [3.0, 4.0])


def test_a_compiled_update_is_noticed_by_a_pass() -> None:
    x = leaf(1.0, 2.0)
    y = sg.sum(x * x)
    _step(x)([1.0, 1.0])
    with pytest.raises(sg.InPlaceError, match="was changed in place since: expected version 0"):
        y.backward()


def test_a_compiled_update_is_seen_by_views() -> None:
    x = leaf(1.0, 2.0)
    view = x.detach()[1:]
    _step(x)([1.0, 1.0])
    assert view.tolist() == [3.0]


def test_a_change_in_place_is_seen_by_compiled_functions() -> None:
    x = leaf(1.0, 2.0)
    step = _step(x)
    with sg.no_grad():
        x *= 10.0
    assert float(step([1.0, 1.0])) == 30.0


def test_a_recorded_result_is_no_part_of_a_graph() -> None:
    x = leaf(1.0, 2.0)
    with pytest.raises(
        sg.TraceError, match=r"it was computed eagerly, by multiply, .*; hint: x.detach\(\) makes"
    ):
        sg.placeholder("p", (2,)) + x * 2.0
