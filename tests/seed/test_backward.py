"""Rows S14 to S35: backward and grad, their seeds, accumulation."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, DTypeError, GradientError, SeedError
from tests.seed.formulas import cubic, holds, leaf, plain, product


def test_s14_the_value() -> None:
    _, _, q = cubic()
    assert holds(q, [-12, 65])
    assert q.requires_grad


def test_s15_an_integer_seed_is_cast() -> None:
    a, b, q = cubic()
    q.backward(gradient=sg.tensor([1, 1]))
    assert holds(a.grad, [36, 81])
    assert holds(b.grad, [-12, -8])
    assert (9 * a**2 == a.grad).tolist() == [True, True]
    assert (-2 * b == b.grad).tolist() == [True, True]


def test_s16_a_second_pass_needs_the_graph() -> None:
    a, _, q = cubic()
    q.backward(gradient=sg.tensor([1, 1]))
    with pytest.raises(RuntimeError, match="freed by an earlier pass; hint: retain_graph=True"):
        q.sum().backward()
    assert holds(a.grad, [36, 81])


def test_s16_a_kept_graph_doubles() -> None:
    a, b, q = cubic()
    q.backward(gradient=sg.tensor([1, 1]), retain_graph=True)
    q.sum().backward()
    assert holds(a.grad, [72, 162])
    assert holds(b.grad, [-24, -16])
    assert (9 * a**2 == a.grad).tolist() == [False, False]


def test_s16_instead_it_says_the_same() -> None:
    a, b, q = cubic()
    q.sum().backward()
    assert holds(a.grad, [36, 81])
    assert holds(b.grad, [-12, -8])


def test_s17_only_one_element_has_an_implied_seed() -> None:
    _, _, q = cubic()
    with pytest.raises(RuntimeError, match=r"output is f32\[2\]: expected a scalar; hint"):
        q.backward()


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_s17_of_whatever_shape(shape: tuple[int, ...]) -> None:
    x = sg.full(shape, 3.0, requires_grad=True)
    (x * x).backward()
    assert holds(x.grad, np.full(shape, 6))


def test_s18_rows_of_the_jacobian_are_weighted() -> None:
    a, b, q = cubic()
    rows = [sg.autograd.grad(q, (a, b), row, retain_graph=True) for row in sg.eye(2)]
    assert holds(sg.stack([row[0] for row in rows]), [[36, 0], [0, 81]])
    assert holds(sg.stack([row[1] for row in rows]), [[-12, 0], [0, -8]])
    both = sg.autograd.grad(q, (a, b), sg.ones(2), retain_graph=True)
    assert holds(both[0], [36, 81])
    weighted = sg.autograd.grad(q, (a, b), sg.tensor([1.0, 2.0]))
    assert holds(weighted[0], [36, 162])
    assert holds(weighted[1], [-12, -16])


@pytest.mark.parametrize("shape", [(3,), (1,), (), (2, 1)])
def test_s19_a_seed_of_another_shape(shape: tuple[int, ...]) -> None:
    a, _, q = cubic()
    with pytest.raises(RuntimeError, match=r"another shape: expected f32\[2\]"):
        q.backward(sg.ones(shape))
    assert a.grad is None
    with pytest.raises(SeedError, match="another shape"):
        sg.autograd.grad(q, a, sg.ones(shape))


def test_s19_no_axes_are_not_one_axis() -> None:
    x = leaf(3)
    with pytest.raises(RuntimeError, match="another shape"):
        (x * x).backward(sg.tensor(1.0))


def test_s19_seeds_of_other_types() -> None:
    a, _, q = cubic()
    q.backward(sg.ones(2, dtype=sg.float64), retain_graph=True)
    assert holds(a.grad, [36, 81])
    with pytest.raises(RuntimeError, match="complex"):
        q.backward(sg.tensor([1j, 1j]))
    for seed in (1.0, [1.0, 1.0], (1.0, 1.0)):
        with pytest.raises((DTypeError, GradientError)) as caught:
            q.backward(seed)
        assert isinstance(caught.value, TypeError)
    assert holds(a.grad, [36, 81])


def test_s20_signatures() -> None:
    def names(function: Any) -> list[str]:
        return list(inspect.signature(function).parameters)

    assert names(sg.Tensor.backward)[1:] == ["gradient", "retain_graph", "create_graph", "inputs"]
    function = names(sg.autograd.backward)
    assert function == ["tensors", "grad_tensors", "retain_graph", "create_graph", "inputs"]


def test_s20_retaining_is_creating_if_nothing_is_said() -> None:
    x = leaf(3)
    y = x * x
    y.backward(create_graph=True)
    y.backward()
    with pytest.raises(GradientError, match="freed"):
        y.backward()


def test_s20_a_seed_for_each_output_and_no_more() -> None:
    a, _, q = cubic()
    one = sg.ones(2)
    for outputs, seeds in (([q, q], [one]), ([q], [one, one])):
        with pytest.raises(RuntimeError, match="one cotangent per output is needed"):
            sg.autograd.backward(outputs, seeds)
        with pytest.raises(RuntimeError, match="one cotangent per output is needed"):
            sg.autograd.grad(outputs, a, seeds)
    assert a.grad is None


def test_s20_inputs_bound_the_pass() -> None:
    a, b, q = cubic()
    q.backward(sg.ones(2), inputs=[b])
    assert a.grad is None
    assert holds(b.grad, [-12, -8])


def test_s21_grad_gives_a_tuple_and_touches_nothing() -> None:
    x = leaf(3)
    h = 2 * x
    found = sg.autograd.grad(h * h, h)
    assert type(found) is tuple
    assert holds(found[0], [12])
    assert x.grad is None
    assert list(inspect.signature(sg.autograd.grad).parameters)[:6] == [
        *("outputs", "inputs", "grad_outputs", "retain_graph", "create_graph", "allow_unused")
    ]


def test_s22_a_kept_graph_is_run_twice() -> None:
    w, x, *_, y = product()
    y.backward(retain_graph=True)
    assert holds(w.grad, [5])
    assert holds(x.grad, [2])
    y.backward()
    assert holds(w.grad, [10])
    assert holds(x.grad, [4])
    with pytest.raises(RuntimeError, match="freed by an earlier pass"):
        y.backward()
    assert holds(w.grad, [10])


def test_s23_a_second_pass_raises_where_values_are_needed() -> None:
    w, *_, y = product()
    y.backward()
    with pytest.raises(RuntimeError, match="backward through multiply: the values that it needs"):
        y.backward()
    assert holds(w.grad, [5])
    w = leaf(1)
    sums = w + 1 + 0
    sums.backward()
    sums.backward()
    assert holds(w.grad, [2]), "additions need no value"


def test_s24_seeds_are_weights() -> None:
    w, x, a, b, y0 = product()
    y1 = sg.add(a, b)
    loss = sg.cat([y0, y1], dim=0)
    assert holds(loss, [6, 5])
    with pytest.raises(RuntimeError, match="expected a scalar"):
        loss.backward()
    loss.backward(gradient=sg.tensor([1.0, 2.0]))
    assert holds(w.grad, [9])
    assert holds(x.grad, [4])


def test_s24_also_of_several_outputs() -> None:
    w, x, a, b, y0 = product()
    sg.autograd.backward([y0, sg.add(a, b)], grad_tensors=[plain(1), plain(2)])
    assert holds(w.grad, [9])
    assert holds(x.grad, [4])


def test_s25_a_gradient_with_a_record() -> None:
    x = leaf(3)
    found = sg.autograd.grad(sg.pow(x, 2), x, create_graph=True)
    assert len(found) == 1
    assert holds(found[0], [6])
    assert found[0].grad_fn is not None


def test_s26_is_differentiated_again() -> None:
    x = leaf(3)
    (first,) = sg.autograd.grad(sg.pow(x, 2), x, create_graph=True)
    (second,) = sg.autograd.grad(first, x, create_graph=True)
    assert holds(second, [2])
    (third,) = sg.autograd.grad(second, x)
    assert holds(third, [0])
    y = x**3
    for value in (27, 18, 6, 0):
        (y,) = sg.autograd.grad(y, x, create_graph=True)
        assert holds(y, [value])


def test_s26_without_a_record_it_is_not() -> None:
    x = leaf(3)
    (first,) = sg.autograd.grad(sg.pow(x, 2), x)
    assert not first.requires_grad
    with pytest.raises(RuntimeError, match="does not require a gradient"):
        sg.autograd.grad(first, x)


def test_s27_s28_gradients_add_up_unless_they_are_zeroed() -> None:
    for zeroing, expected in ((True, [5, 5, 5, 5]), (False, [5, 10, 15, 20])):
        w, x = leaf(1), leaf(2)
        seen: list[tuple[float, float]] = []
        for _ in range(4):
            y = sg.mul(sg.add(w, x), sg.add(w, 1))
            y.backward()
            assert w.grad is not None
            assert x.grad is not None
            seen.append((w.grad.item(), x.grad.item()))
            if zeroing:
                w.grad.zero_()
        assert seen == list(zip(expected, [2, 4, 6, 8], strict=True))
        assert holds(w.grad, [0 if zeroing else 20])


def test_s29_zeroing_is_in_place() -> None:
    w = leaf(1)
    assert w.grad is None
    with pytest.raises(AttributeError):
        w.grad.zero_()
    (w * 2).backward()
    kept = w.grad
    assert kept is not None
    assert kept.zero_() is kept
    assert w.grad is kept
    assert holds(kept, [0])


def test_s30_what_adds_up_is_the_gradient_itself() -> None:
    w = leaf(1)
    for expected in (2, 4):
        (w * 2).backward()
        assert holds(w.grad, [expected])
    w.grad = None
    (w * 2).backward()
    assert holds(w.grad, [2])


def test_s31_which_object_the_gradient_is() -> None:
    w = leaf(1)
    (w * 2).backward()
    first = w.grad
    (w * 3).backward()
    assert w.grad is first
    assert holds(first, [5])
    (w * w).backward(create_graph=True)
    assert w.grad is not first
    assert holds(w.grad, [7])
    assert holds(first, [5])


def test_s31_it_is_not_the_seed() -> None:
    w, seed = leaf(1, 2), sg.ones(2)
    (w + 0).backward(seed)
    assert w.grad is not None
    w.grad.zero_()
    assert holds(seed, [1, 1])


def test_s32_results_keep_no_gradient_unless_told_to() -> None:
    w, _, a, b, y = product()
    a.retain_grad()
    y.backward()
    assert a.retains_grad
    assert holds(a.grad, [2])
    for result in (b, y):
        with pytest.warns(UserWarning, match="only leaves keep a gradient"):
            assert result.grad is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _ = w.grad, sg.ones(1).grad
    w.retain_grad()
    assert not w.retains_grad
    with pytest.raises(RuntimeError, match="requires no gradient"):
        sg.ones(1).retain_grad()


@pytest.mark.parametrize("shape", [(), (2,)])
def test_s33_nothing_requires_a_gradient(shape: tuple[int, ...]) -> None:
    text = "output 0 does not require a gradient, and no recorded call made it"
    with pytest.raises(RuntimeError, match=text):
        sg.ones(shape).backward()
    with pytest.raises(RuntimeError, match=text):
        sg.ones(shape).backward(sg.ones(shape))


def test_s34_inputs_that_are_not_used() -> None:
    x, other = leaf(1), leaf(1)
    y = x * 2
    with pytest.raises(RuntimeError, match=r"inputs\[1\] is not used by the outputs"):
        sg.autograd.grad(y, [x, other], retain_graph=True)
    used, unused = sg.autograd.grad(y, [x, other], allow_unused=True, retain_graph=True)
    assert holds(used, [2])
    assert unused is None
    zeros = sg.autograd.grad(y, [x, other], materialize_grads=True, retain_graph=True)[1]
    assert holds(zeros, [0])
    with pytest.raises(ValueError, match="leave allow_unused out"):
        sg.autograd.grad(y, [x, other], materialize_grads=True, allow_unused=False)
    for options in ({}, {"allow_unused": True}, {"materialize_grads": True}):
        with pytest.raises(RuntimeError, match=r"inputs\[0\] does not require a gradient"):
            sg.autograd.grad(y, [plain(1)], **options)
    assert issubclass(ArgumentError, ValueError)


@pytest.mark.parametrize(
    ("momentum", "zeroing", "steps"),
    [
        # The third weight of the row is rounded: by hand it is 0.44 - 0.1*4.33.
        (0.9, True, [(5.0, 1.3, -0.4), (0.725, 0.44, -0.87), (1.5125, 0.007, -1.051)]),
        (0.0, False, [(5.0, 1.3, -0.4), (0.725, 0.37, -0.91), (1.87025, -0.172, -1.149)]),
    ],
)
def test_s35_a_training_loop(
    momentum: float, zeroing: bool, steps: list[tuple[float, float, float]]
) -> None:
    w, b = sg.tensor([[2.0]], requires_grad=True), leaf(0)
    x, target = sg.tensor([[1.0], [2.0]]), sg.tensor([[1.0], [1.0]])
    speeds = [sg.zeros_like(p) for p in (w, b)]
    found: list[tuple[float, float, float]] = []
    for _ in range(3):
        if zeroing:
            w.grad = b.grad = None
        loss = sg.mse_loss(x @ w.t() + b, target)
        loss.backward()
        with sg.no_grad():
            for p, speed in zip((w, b), speeds, strict=True):
                speed.mul_(momentum).add_(p.grad)
                p.sub_(speed, alpha=0.1)
        found.append((loss.item(), w.item(), b.item()))
    np.testing.assert_allclose(found, steps, rtol=0, atol=1e-6)


def test_s35_gradients_that_add_up_in_that_loop() -> None:
    w, b = leaf(2), leaf(0)
    grads: list[float] = []
    for _ in range(3):
        loss = ((plain(1, 2) * w + b - 1) ** 2).mean()
        loss.backward()
        assert w.grad is not None
        grads.append(w.grad.item())
        with sg.no_grad():
            w -= 0.1 * w.grad
            b -= 0.1 * b.grad
    np.testing.assert_allclose(grads, [7.0, 9.3, 5.42], rtol=1e-6)
