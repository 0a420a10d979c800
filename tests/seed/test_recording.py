"""Rows S1 to S13: flags, and the graph that calls leave behind."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import GradientError, NotDifferentiable
from tests.seed.formulas import cubic, holds, leaf, nodes, product


def test_s01_any_input_that_requires_makes_the_output_require() -> None:
    x, y = sg.randn(5, 5), sg.randn(5, 5)
    z = sg.randn((5, 5), requires_grad=True)
    a = x + z
    assert a.requires_grad is True
    assert (x + y).requires_grad is False
    assert x.requires_grad is False
    assert a.is_leaf is False
    assert a.grad_fn is not None
    assert a.grad_fn.name() == "add"
    assert (x + y).is_leaf is True
    assert (x + y).grad_fn is None
    assert z.is_leaf is True
    assert z.grad_fn is None


FACTORIES: list[Callable[..., sg.Tensor]] = [
    lambda **flag: sg.randn(2, 3, **flag),
    lambda **flag: sg.randn((2, 3), **flag),
    lambda **flag: sg.rand(2, 3, **flag),
    lambda **flag: sg.rand((2, 3), **flag),
    lambda **flag: sg.ones(2, 3, **flag),
    lambda **flag: sg.ones((2, 3), **flag),
    lambda **flag: sg.zeros(2, 3, **flag),
    lambda **flag: sg.empty(2, 3, **flag),
    lambda **flag: sg.full((2, 3), 7.0, **flag),
    lambda **flag: sg.tensor([[1.0, 2.0, 3.0]] * 2, **flag),
    lambda **flag: sg.asarray([[1.0, 2.0, 3.0]] * 2, **flag),
    lambda **flag: sg.as_tensor(np.ones((2, 3), "float32"), **flag),
    lambda **flag: sg.ones_like(sg.ones(2, 3), **flag),
    lambda **flag: sg.zeros_like(sg.ones(2, 3), **flag),
    lambda **flag: sg.empty_like(sg.ones(2, 3), **flag),
    lambda **flag: sg.full_like(sg.ones(2, 3), 7.0, **flag),
    lambda **flag: sg.rand_like(sg.ones(2, 3), **flag),
    lambda **flag: sg.randn_like(sg.ones(2, 3), **flag),
    lambda **flag: sg.ones(1).new_zeros(2, 3, **flag),
    lambda **flag: sg.ones(1).new_ones((2, 3), **flag),
    lambda **flag: sg.ones(1).new_full((2, 3), 7.0, **flag),
    lambda **flag: sg.eye(2, 3, **flag),
    lambda **flag: sg.random.normal(sg.random.key(0), (2, 3), **flag),
]


@pytest.mark.parametrize("make", FACTORIES)
def test_s02_every_factory_takes_the_flag_and_sizes_one_by_one(
    make: Callable[..., sg.Tensor],
) -> None:
    for flag in (True, False):
        made = make(requires_grad=flag)
        assert made.requires_grad is flag
        assert made.is_leaf
        assert made.shape == (2, 3)
        assert made.dtype == sg.float32
    assert make().requires_grad is False


@pytest.mark.parametrize("make", [sg.arange, lambda n, **flag: sg.linspace(0, 1, 3, **flag)])
def test_s02_so_do_ranges(make: Callable[..., sg.Tensor]) -> None:
    made = make(3.0, requires_grad=True)
    assert (made.requires_grad, made.is_leaf, made.shape) == (True, True, (3,))


def test_s03_results_of_leaves_that_require() -> None:
    w, _, a, b, y = product()
    assert [t.requires_grad for t in (a, b, y)] == [True, True, True]
    assert [t.is_leaf for t in (a, b, y)] == [False, False, False]
    assert w.is_leaf


def test_s04_only_if_the_leaf_requires_and_the_result_is_of_floats() -> None:
    x = sg.randn(4)
    assert not (x * 2).requires_grad
    x.requires_grad_()
    assert (x * 2).requires_grad
    assert not (x > 0).requires_grad
    assert not sg.argmax(x).requires_grad
    assert not x.long().requires_grad
    rounded = sg.round(x)
    assert rounded.requires_grad
    rounded.sum().backward()
    assert holds(x.grad, np.zeros(4))


def test_s05_the_flag_is_assigned_on_leaves_alone() -> None:
    x = leaf(1)
    x.requires_grad = False
    assert not (x * 2).requires_grad
    x.requires_grad = True
    y = x * 2
    assert y.requires_grad
    with pytest.raises(GradientError, match=r"multiply is no leaf; hint: x\.detach\(\)"):
        y.requires_grad = False
    plain_result = x.detach() * 2
    plain_result.requires_grad = True
    assert plain_result.is_leaf
    assert plain_result.requires_grad


def test_s06_only_floats_and_complex_numbers_require() -> None:
    with pytest.raises(RuntimeError, match="only floating-point and complex tensors"):
        sg.tensor([1, 2], requires_grad=True)
    whole = sg.tensor([1, 2])
    with pytest.raises(NotDifferentiable):
        whole.requires_grad_()
    assert not whole.requires_grad
    assert sg.tensor([1j], requires_grad=True).requires_grad


def test_s07_the_graph_is_walked_from_the_root_to_the_leaves() -> None:
    w = leaf(1, 2)
    loss = (w * 2).sum()
    root = loss.grad_fn
    assert root is not None
    assert root.name() == "sum"
    ((product_node, output),) = root.next_functions
    assert (product_node.name(), output) == ("multiply", 0)
    (end, _), nothing = product_node.next_functions
    assert nothing == (None, 0)
    assert end.variable is w
    assert end.next_functions == ()
    other = (w + 1).grad_fn
    assert other is not None
    assert other.next_functions[0][0] is end, "one node per leaf, whoever uses it"


def test_s08_values_and_records_are_there_when_the_op_returns() -> None:
    x = leaf(3)
    y = x * x
    assert y.grad_fn is not None
    assert y.item() == 9.0


@pytest.mark.parametrize(("times", "count"), [(1, 2), (3, 4), (7, 8)])
def test_s09_the_graph_is_built_anew_each_time(times: int, count: int) -> None:
    def repeated(x: sg.Tensor) -> sg.Tensor:
        for _ in range(times):
            x = sg.sin(x)
        return x

    x = leaf(1)
    assert len(nodes(repeated(x))) == count
    assert repeated(x).grad_fn is not repeated(x).grad_fn


@pytest.mark.parametrize(("at", "gradient"), [(3, 6), (-3, -1)])
def test_s09_and_may_branch(at: float, gradient: float) -> None:
    x = leaf(at)
    y = x**2 if x > 0 else -x
    y.backward()
    assert holds(x.grad, [gradient])


def test_s10_nodes_carry_the_parameters_of_their_op() -> None:
    image, kernel = sg.rand(1, 4, 8, 8), sg.rand(6, 2, 3, 3, requires_grad=True)
    y = sg.conv2d(image, kernel, stride=2, padding=1, groups=2)
    conv = y.grad_fn
    assert conv is not None
    assert (conv.name(), conv.stride, conv.dilation, conv.groups) == ("conv", (2, 2), (1, 1), 2)
    assert conv.padding == ((1, 1), (1, 1))
    back = sg.conv_transpose2d(y, kernel, stride=2, groups=2).grad_fn
    assert back is not None
    assert (back.name(), back.output_padding) == ("conv_transpose", (0, 0))
    pool = sg.max_pool2d(y, 2).grad_fn
    assert pool is not None
    assert (pool.kernel, pool.stride, pool.ceil_mode) == ((2, 2), (2, 2), False)
    assert (pool.padding, pool.dilation) == (((0, 0), (0, 0)), (1, 1))
    joined = sg.cat([kernel, kernel], dim=1).grad_fn
    assert joined is not None
    assert joined.axis == 1
    with pytest.raises(AttributeError, match="'join' has no attribute 'stride'"):
        _ = joined.stride
    drawn = sg.draw(y).dot
    assert "stride" in drawn
    assert "groups" in drawn


def test_s11_an_edge_names_one_of_several_outputs() -> None:
    x = sg.tensor([[2.0, 1.0], [1.0, 3.0]], requires_grad=True)
    q, r = sg.linalg.qr(x)
    for output, part in enumerate((q, r)):
        node = (part * 1).grad_fn
        assert node is not None
        factorised, index = node.next_functions[0]
        assert index == output
        assert factorised.next_functions[0][0].variable is x


def test_s12_the_figure_has_two_leaves_and_four_ops() -> None:
    a, b, q = cubic()
    found = nodes(q)
    ends = {node.variable for node in found if node.name() == "accumulate"}
    assert ends == {a, b}
    assert all(end.shape == (2,) for end in ends)
    named = sorted(node.name() for node in found)
    assert named == ["accumulate", "accumulate", "multiply", "pow", "pow", "subtract"]
    root = q.grad_fn
    assert root is not None
    (times, _), (square, _) = root.next_functions
    assert [n and n.name() for n, _ in times.next_functions] == [None, "pow"]
    assert square.next_functions[0][0].variable is b
    drawn = sg.draw(q, names={"a": a, "b": b}).dot
    assert r'label="a\n(2)"' in drawn
    assert r'label="b\n(2)"' in drawn
    assert drawn.count("label=") - drawn.count("headlabel=") == 6
    assert drawn.count("->") == 5


def test_s13_building_and_running_are_one_or_two_steps() -> None:
    def f(x: sg.Tensor | sg.Symbol) -> sg.Tensor | sg.Symbol:
        return x * x + 1

    assert f(leaf(3)).item() == 10.0
    x = sg.placeholder("x")
    assert f(x).eval({x: 3.0}) == 10.0
