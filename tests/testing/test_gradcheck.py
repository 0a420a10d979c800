"""gradcheck and gradgradcheck: they pass what is right, and find each kind of what is wrong."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError
from symgrad.ir.op import OPS
from symgrad.testing import GradcheckError, gradcheck, gradgradcheck
from tests.testing.wrong import (
    cut,
    not_conjugated,
    offset,
    only_once,
    too_large,
    with_rule,
    wrong_sign,
)


def leaf(*values: Any, **options: Any) -> sg.Tensor:
    return sg.Tensor(np.array(values), requires_grad=True, **options)


RIGHT: dict[str, tuple[Callable[..., Any], Callable[[], tuple[Any, ...]]]] = {
    "one": (lambda x: sg.sin(x) * x, lambda: (leaf(0.3, 1.2),)),
    "without axes": (sg.exp, lambda: (sg.Tensor(0.3, requires_grad=True),)),
    "without elements": (sg.exp, lambda: (leaf(),)),
    "broadcast": (lambda x, y: x * y, lambda: (leaf([1.0], [2.0]), leaf(3.0, 4.0, 5.0))),
    "several outputs": (lambda x: (x**2, [sg.sum(x), x.detach()]), lambda: (leaf(0.3, 1.2),)),
    "unused": (lambda x, y: x * x, lambda: (leaf(1.0, 2.0), leaf(3.0))),
    "not checked": (lambda x, y, n: x**n * y, lambda: (leaf(1.5), sg.Tensor([2.0]), 3)),
    "nothing depends": (lambda x: sg.ones(2), lambda: (leaf(1.5),)),
    "integers come out": (lambda x: (x > 0, sg.argmax(x)), lambda: (leaf(1.5, 2.0),)),
    "complex": (lambda z: z * sg.exp(z), lambda: (leaf(0.3 + 0.4j, -1.0j),)),
    "complex to real": (lambda z: sg.abs(z) ** 2, lambda: (leaf(0.3 + 0.4j),)),
    "conjugate": (lambda z: sg.conj(z) * z * z, lambda: (leaf(0.3 + 0.4j),)),
    "real to complex": (lambda x: x * (1 + 2j), lambda: (leaf(0.3, 0.7),)),
}


@pytest.mark.parametrize(("f", "inputs"), RIGHT.values(), ids=RIGHT)
def test_right_derivatives_pass(f: Any, inputs: Any):
    assert gradcheck(f, inputs()) is True


@pytest.mark.parametrize("name", ["one", "broadcast", "complex", "conjugate", "real to complex"])
def test_right_second_derivatives_pass(name: str):
    f, inputs = RIGHT[name]
    assert gradgradcheck(f, inputs()) is True


WRONG: dict[str, tuple[Callable[..., Any], Callable[[], tuple[Any, ...]], str]] = {
    "a little": (
        lambda x: too_large(x)[1:],
        lambda: (leaf(0.3, 0.0),),
        r"^gradcheck: the derivative of output 0\[0\] by input 0\[1\] is off: "
        r"expected 1 by differences, got 1\.01$",
    ),
    "sign": (
        lambda x, y: (x, x * wrong_sign(y)),
        lambda: (leaf(2.0), sg.Tensor(0.0, requires_grad=True)),
        r"of output 1\[0\] by input 1 is off: expected 2 by differences, got -2",
    ),
    "missing": (lambda x: x + cut(x), lambda: (leaf(0.0),), "expected 2 by differences, got 1"),
    "conjugate": (
        not_conjugated,
        lambda: (leaf(0.3 + 1j),),
        r"the real part of output 0\[0\] by input 0\[0\] is off",
    ),
    "conjugate of what is imaginary": (
        lambda z: sg.imag(not_conjugated(z)) * 1j,
        lambda: (leaf(0.3 + 1j),),
        r"the imaginary part of output 0\[0\] by input 0\[0\] is off",
    ),
    "detached": (
        lambda x: x.detach() * 2.0,
        lambda: (leaf(1.0),),
        "output 0 requires no gradient, and depends on input 0: expected .*; hint: .* detached",
    ),
    "NaN": (lambda x: sg.sqrt(x * 0.0), lambda: (leaf(1.0),), "got nan"),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("f", "inputs", "message"), WRONG.values(), ids=WRONG)
def test_wrong_derivatives_are_found(f: Any, inputs: Any, message: str):
    with pytest.raises(GradcheckError, match=message):
        gradcheck(f, inputs())
    assert gradcheck(f, inputs(), raise_exception=False) is False


def test_the_error_is_one_of_gradients_and_of_assertions():
    assert issubclass(GradcheckError, RuntimeError)
    assert issubclass(GradcheckError, AssertionError)


def test_a_missing_second_derivative_is_found():
    x = leaf(0.3, 1.2)
    assert gradcheck(only_once, x)
    message = r"^gradgradcheck: the derivative of output 0\[0\] by input 0\[0\] is off"
    with pytest.raises(GradcheckError, match=message):
        gradgradcheck(only_once, x)
    assert gradgradcheck(only_once, x, raise_exception=False) is False


def test_cotangents_are_differentiated_as_well():
    doubled = with_rule("doubled", lambda ct, y, x: sg.stop_gradient(ct) * sg.cos(x))
    with pytest.raises(GradcheckError, match=r"by input 1\[0\] is off"):
        gradgradcheck(doubled, leaf(0.3))
    ct = sg.Tensor([1.0])
    assert gradgradcheck(sg.sin, leaf(0.3), ct)
    assert not ct.requires_grad


def test_a_pass_that_differs_from_the_one_before_is_found():
    count = itertools.count()
    drifting = with_rule("drifting", lambda ct, y, x: ct * sg.cos(x) + next(count) * 1e-9)
    message = r"two passes through one graph give input 0 .*: expected .* at most 0\.0, got 1e-09"
    with pytest.raises(GradcheckError, match=message):
        gradcheck(drifting, leaf(0.3))
    assert gradcheck(
        with_rule("drifting", lambda ct, y, x: ct * sg.cos(x) + next(count) * 1e-12),
        leaf(0.3),
        nondet_tol=1e-6,
        check_undefined_grad=False,
    )


def test_a_gradient_without_cotangent_is_found():
    x = leaf(0.3)
    with pytest.raises(GradcheckError, match="a cotangent of zero at output 0 gives input 0"):
        gradcheck(offset, x)
    assert gradcheck(offset, x, check_undefined_grad=False)


def test_tolerances_and_distance():
    x = leaf(1.0)
    assert gradcheck(too_large, x, rtol=0.02)
    assert gradcheck(too_large, x, atol=0.02)
    cube = with_rule("cube", lambda ct, y, x: ct * 3 * x * x, of="square")
    assert not gradcheck(cube, x, raise_exception=False)
    assert gradcheck(lambda x: x**3, x, eps=1e-3)
    assert not gradcheck(lambda x: x**3, x, eps=0.5, raise_exception=False)  # differences give 3.25


def test_inputs_may_be_used_without_being_given():
    weight = leaf(2.0, 3.0)
    assert gradcheck(lambda w: sg.sum(weight * weight), weight)
    with pytest.raises(
        GradcheckError, match=r"by input 0\[1\] is off: expected 6 by differences, got 3"
    ):
        gradcheck(lambda w: sg.sum(weight * weight.detach()), weight)


def test_values_are_as_before():
    x = leaf(0.1, 0.2)
    before = x.numpy().copy(), x._version
    gradcheck(sg.sin, x)
    gradcheck(wrong_sign, x, raise_exception=False)

    def fails(x: Any) -> Any:
        if x.numpy()[1] != before[0][1]:
            raise ZeroDivisionError
        return sg.sin(x)

    with pytest.raises(ZeroDivisionError):
        gradcheck(fails, x)
    assert np.array_equal(x.numpy(), before[0])
    assert x._version == before[1]
    assert x.grad is None


def test_read_only_memory_and_views():
    array = np.array([0.3, 0.4])
    array.flags.writeable = False
    x = sg.asarray(array).requires_grad_()
    assert gradcheck(sg.sin, x)
    assert x.storage.array is array
    base = sg.Tensor([[0.1, 0.2], [0.3, 0.4]])
    assert gradcheck(sg.exp, base[:, 1].detach().requires_grad_())


def test_what_cannot_be_checked_is_refused():
    with pytest.raises(ArgumentError, match="gradcheck: no input requires a gradient; hint: sg"):
        gradcheck(sg.sin, sg.Tensor([1.0]))
    with pytest.raises(ArgumentError, match="gradgradcheck: no input requires a gradient"):
        gradgradcheck(sg.sin, sg.Tensor([1.0]))
    stretched = sg.broadcast_to(sg.Tensor([1.0]), (3,)).detach().requires_grad_()
    with pytest.raises(ArgumentError, match="elements of input 0 share one place in memory"):
        gradcheck(sg.sin, stretched)
    with pytest.raises(ArgumentError, match="gave no tensor: expected tensors, got float"):
        gradcheck(lambda x: 1.0, leaf(1.0))
    with pytest.warns(UserWarning, match=r"input 0 is of type f32\[1\].* use float64"):
        gradcheck(sg.sin, leaf(1.0, dtype="float32"), eps=1e-2, atol=1e-3)


def test_inside_no_grad_too():
    with sg.no_grad():
        assert gradcheck(sg.sin, leaf(0.3))
        assert not gradcheck(wrong_sign, leaf(0.3), raise_exception=False)


def test_wrong_ops_are_no_ops_of_the_registry():
    assert {"too_large", "wrong_sign", "cut"}.isdisjoint(OPS)
