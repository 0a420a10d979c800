"""The backward pass: what it adds, keeps, frees, refuses; PyTorch's semantics."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import symgrad as sg


def leaf(*values: Any) -> sg.Tensor:
    return sg.Tensor(np.array(values, float), requires_grad=True)


def same(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-12)


# --- what is added -------------------------------------------------------------------------------


def test_gradients_add_up_in_place() -> None:
    x = leaf(1.0, 2.0)
    sg.sum(x * x).backward()
    first = x.grad
    sg.sum(x * 3.0).backward()
    assert x.grad is first
    same(x.grad, [5.0, 7.0])


def test_a_recorded_pass_gives_a_new_gradient() -> None:
    x = leaf(3.0)
    sg.sum(x**2).backward()
    first = x.grad
    sg.sum(x**2).backward(create_graph=True)
    assert x.grad is not first
    assert x.grad.requires_grad
    same(x.grad, [12.0])


def test_gradients_share_no_memory() -> None:
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    seed = sg.ones((2,))
    (x + y).backward(seed)
    arrays = [x.grad.storage.array, y.grad.storage.array, seed.storage.array]
    assert not any(np.may_share_memory(a, b) for k, a in enumerate(arrays) for b in arrays[k + 1 :])
    a, b = sg.grad(x + y, [x, y], seed)
    a += 1.0
    same(b, [1.0, 1.0])
    same(seed, [1.0, 1.0])


def test_only_the_inputs_get_a_gradient() -> None:
    x, y = leaf(1.0), leaf(2.0)
    h = x * y
    (h * h).backward(inputs=[x, h], retain_graph=True)
    same(x.grad, [8.0])
    same(h.grad, [4.0])
    assert y.grad is None


def test_an_input_that_retains_its_gradient_gets_it_once() -> None:
    x = sg.Tensor([3.0], requires_grad=True)
    y = x * 2.0
    y.retain_grad()
    sg.sum(y * y).backward(inputs=[y])
    assert y.grad is not None
    assert y.grad.tolist() == [12.0]
    assert x.grad is None


def test_a_step_function_gives_zeros() -> None:
    x = leaf(1.3)
    sg.sum(sg.round(sg.exp(x))).backward()
    same(x.grad, [0.0])
    same(sg.grad(sg.sum(sg.floor(x)), x)[0], [0.0])


def test_several_outputs_of_one_op() -> None:
    a = sg.Tensor([[2.0, 1.0], [0.0, 3.0]], requires_grad=True)
    sign, logdet = sg.linalg.slogdet(a)
    (sign * logdet).backward()
    same(a.grad, np.linalg.inv(a.numpy()).T)


def test_mixed_types_are_cast_back() -> None:
    x = sg.Tensor(np.float32([1.0, 2.0]), requires_grad=True)
    sg.sum(x * np.float64([3.0, 4.0])).backward()
    assert x.grad.dtype == sg.float32
    same(x.grad, [3.0, 4.0])


def test_complex_gradients() -> None:
    z = sg.Tensor([1.0 + 2.0j], requires_grad=True)
    sg.sum(sg.abs(z) ** 2).backward()
    same(z.grad, [2.0 + 4.0j])


# --- orders --------------------------------------------------------------------------------------


def test_derivatives_of_any_order() -> None:
    x = leaf(0.7)
    y, found = sg.sum(sg.sin(x)), []
    for _ in range(5):
        (y,) = sg.grad(sg.sum(y), x, create_graph=True)
        found.append(float(y[0]))
    s, c = np.sin(0.7), np.cos(0.7)
    same(found, [c, -s, -c, s, c])


def test_a_gradient_that_was_not_recorded_has_no_derivative() -> None:
    x = leaf(3.0)
    (g,) = sg.grad(sg.sum(x**2), x)
    assert not g.requires_grad
    with pytest.raises(sg.GradientError, match="grad: output 0 does not require a gradient"):
        sg.grad(g, x)


def test_gradients_by_results() -> None:
    x = leaf(3.0)
    h = x * 2.0
    (g,) = sg.grad(sg.sum(h * h), h)
    same(g, [12.0])
    assert x.grad is None


# --- what is kept and freed ----------------------------------------------------------------------


def test_a_second_pass_needs_the_graph_kept() -> None:
    x = leaf(2.0)
    y = sg.sum(x * x)
    y.backward(retain_graph=True)
    y.backward()
    same(x.grad, [8.0])
    with pytest.raises(
        sg.GradientError,
        match=r"backward through multiply: the values that it needs were freed by an earlier pass; "
        r"hint: retain_graph=True in the earlier call keeps them; created at test_backward.py:\d+",
    ):
        y.backward()
    same(x.grad, [8.0])


def test_sums_alone_need_nothing_kept() -> None:
    x = leaf(2.0)
    y = sg.sum(x + 1.0)
    y.backward()
    y.backward()
    same(x.grad, [2.0])


def test_only_what_rules_read_is_kept() -> None:
    gc.disable()
    try:
        x = leaf(1.0, 2.0)
        exponential, shifted = sg.exp(x), x + 1.0
        kept, dropped = weakref.ref(exponential.storage), weakref.ref(shifted.storage)
        y = sg.sum(exponential + shifted * 2.0)
        del exponential, shifted
        assert kept() is not None
        assert dropped() is None
        y.backward()
        assert kept() is None
    finally:
        gc.enable()


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("attempt", "error", "text"),
    [
        (lambda x: (x * x).backward(), sg.GradientError, r"output is f64\[2\]: expected a scalar"),
        (lambda x: x.detach().backward(), sg.GradientError, "does not require a gradient"),
        (lambda x: (x * x).backward(sg.ones((3,))), sg.SeedError, "another shape"),
        (lambda x: (x * x).backward(sg.ones((1,))), sg.SeedError, "another shape"),
        (lambda x: (x * x).backward(sg.asarray([1j, 1j])), sg.SeedError, "is complex"),
        (lambda x: (x * x).backward([1.0, 1.0]), sg.DTypeError, "is no tensor"),
        (lambda x: (x * x).backward(1.0), sg.DTypeError, "is no tensor"),
        (
            lambda x: sg.autograd.backward([sg.sum(x), sg.sum(x)], [None]),
            sg.GradientError,
            "one cotangent per output is needed: expected 2, got 1",
        ),
        (
            lambda x: sg.grad(sg.sum(x), x, [sg.ones(()), sg.ones(())]),
            sg.GradientError,
            "one cotangent per output is needed: expected 1, got 2",
        ),
        (lambda x: sg.grad(sg.sum(x), [sg.ones(2)]), sg.GradientError, r"inputs\[0\] does not req"),
        (lambda x: sg.grad(sg.sum(x), leaf(1.0)), sg.GradientError, r"inputs\[0\] is not used"),
        (lambda x: sg.grad(sg.sum(x), []), sg.ArgumentError, "inputs is empty"),
        (lambda x: sg.grad(sg.sum(x), "x"), sg.ArgumentError, r"inputs\[0\] is no tensor"),
        (lambda x: x.detach().retain_grad(), sg.GradientError, "requires no gradient"),
        (lambda x: x.detach().register_hook(print), sg.GradientError, "requires no gradient"),
        (
            lambda x: (x * 1).register_post_accumulate_grad_hook(print),
            sg.GradientError,
            "no leaf that requires a gradient",
        ),
    ],
)
def test_refusals(attempt: Any, error: type[Exception], text: str) -> None:
    x = leaf(1.0, 2.0)
    with pytest.raises(error, match=text):
        attempt(x)
    assert x.grad is None


def test_unused_inputs() -> None:
    x, y = leaf(1.0), leaf(2.0)
    assert sg.grad(sg.sum(x), [x, y], allow_unused=True)[1] is None
    same(sg.grad(sg.sum(x), [x, y], materialize_grads=True)[1], [0.0])


def test_a_seed_of_another_type_is_cast() -> None:
    x = leaf(1.0, 2.0)
    (x * x).backward(sg.asarray([1, 1]))
    same(x.grad, [2.0, 4.0])
    assert x.grad.dtype == sg.float64


# --- flags ---------------------------------------------------------------------------------------


def test_flags_of_results() -> None:
    x = leaf(1.0)
    assert (x.is_leaf, x.requires_grad, x.grad_fn) == (True, True, None)
    y = x * 2.0
    assert (y.is_leaf, y.requires_grad, y.grad_fn.name()) == (False, True, "multiply")
    assert not (x > 0).requires_grad
    assert not sg.argmax(x).requires_grad
    assert sg.round(x).requires_grad
    with pytest.raises(sg.GradientError, match="the result of multiply is no leaf"):
        y.requires_grad = False
    with pytest.raises(
        sg.NotDifferentiable, match=r"only floating-point and complex .* got i64\[\]"
    ):
        sg.asarray(1).requires_grad = True


def test_a_frozen_leaf_keeps_its_gradient_and_gets_no_more() -> None:
    x = leaf(1.0)
    y = x * 2.0
    y.backward(retain_graph=True)
    x.requires_grad = False
    y.backward()
    same(x.grad, [2.0])


def test_the_graph_holds_one_node_per_leaf() -> None:
    x = leaf(1.0)
    a, b = x * 2.0, sg.sin(x)
    node = a.grad_fn.next_functions[0][0]
    assert node is b.grad_fn.next_functions[0][0]
    assert node.variable is x
    assert a.grad_fn.next_functions[1] == (None, 0)


def test_a_dropped_leaf_is_found_again_in_the_graph() -> None:
    y = sg.sum(leaf(3.0) ** 2)
    power = y.grad_fn.next_functions[0][0]
    y.backward()
    same(power.next_functions[0][0].variable.grad, [6.0])


def test_reading_the_gradient_of_a_result_warns() -> None:
    y = leaf(1.0) * 2.0
    with pytest.warns(UserWarning, match="only leaves keep a gradient"):
        assert y.grad is None
    y.retain_grad()
    assert y.grad is None


def test_gradients_may_be_set() -> None:
    x = leaf(1.0, 2.0)
    x.grad = sg.ones((2,))
    sg.sum(x).backward()
    same(x.grad, [2.0, 2.0])
    x.grad = None
    assert x.grad is None
    with pytest.raises(sg.ShapeError, match="grad: another shape"):
        x.grad = sg.ones((3,))
    with pytest.raises(sg.DTypeError, match="grad: another type"):
        x.grad = sg.ones((2,), dtype=sg.float32)
    with pytest.raises(sg.DTypeError, match="grad: no tensor"):
        x.grad = 1.0


def test_printing() -> None:
    x = leaf(6.0)
    assert repr(x) == "Tensor([6.], requires_grad=True)"
    assert repr(x * 1.0) == "Tensor([6.], grad_fn=<multiply>)"
    assert repr(x.detach()) == "Tensor([6.])"
