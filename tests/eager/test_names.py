"""PyTorch's spellings: numpy, or the function of the other name, is the oracle."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.eager.names import ELEMENT_TYPES, FUNCTIONS
from symgrad.eager.names.table import ALSO_IN_PLACE, CASTS, FROM_LINALG, ROWS
from symgrad.eager.names.written import WRITTEN
from symgrad.errors import (
    ArgumentError,
    DTypeError,
    InPlaceError,
    NotDifferentiable,
    ShapeError,
    TraceError,
)
from symgrad.ir.op import COMPOSITES, OPS, public
from symgrad.ir.operators import Operators
from tests.eager.spelled_calls import CALLS, M, V


def equal(found: Any, expected: Any) -> None:
    """The same values, of tensors or in structures of them."""
    if isinstance(expected, (tuple, list)) and not isinstance(found, sg.Tensor):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            equal(one, other)
        return
    assert isinstance(found, sg.Tensor)
    expected = np.asarray(expected)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-14)


# --- what is there --------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "meant"), ROWS.items())
def test_a_row_is_the_function_of_the_other_name(name: str, meant: str) -> None:
    assert getattr(sg, name) is public(meant)
    assert name in sg.__all__


def test_no_name_of_the_library_is_taken() -> None:
    registry = {name for name, op in {**OPS, **COMPOSITES}.items() if op.namespace == ""}
    assert not registry & FUNCTIONS.keys()
    for name in registry:
        assert getattr(sg, name) is public(name)


METHODS = sorted(
    [
        *(
            n
            for n, f in {**OPS, **COMPOSITES}.items()
            if f.namespace == "" and n in vars(Operators)
        ),
        *(name for name in ROWS if name in vars(Operators)),
        *FROM_LINALG,
        *WRITTEN,
        *CASTS,
    ]
)


def test_most_functions_are_methods() -> None:
    functions = {n for n, f in {**OPS, **COMPOSITES}.items() if f.namespace == ""}
    assert len(functions & set(METHODS)) > 300
    lists_first = {"concat", "stack", "hstack", "meshgrid", "einsum", "broadcast_arrays"}
    from_nothing = {"zeros", "ones", "full", "arange", "linspace", "eye", "asarray"}
    assert not (lists_first | from_nothing) & set(METHODS)


@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_there_for_tensors_and_symbols(name: str) -> None:
    method = inspect.getattr_static(sg.Tensor, name)
    assert method is inspect.getattr_static(sg.Symbol, name) or name in vars(sg.Tensor)
    assert method.__doc__
    assert name in dir(sg.Symbol)


def test_a_method_shows_the_signature_of_its_function() -> None:
    assert list(inspect.signature(sg.ones(1).sum).parameters) == ["axis", "dtype", "keepdims"]
    assert sg.Tensor.sum.__doc__ == sg.sum.__doc__


def test_what_is_no_method_is_named_as_a_function() -> None:
    with pytest.raises(AttributeError, match=r"it is a function, sg\.concat\(x\)"):
        _ = sg.ones(1).concat


def test_element_types() -> None:
    assert sg.float == sg.float32
    assert sg.int == sg.int32
    assert sg.long == sg.int64
    assert sg.double == sg.float64
    assert sg.half == sg.float16
    assert "float" not in sg.__all__, "a star import leaves Python's own alone"
    x = sg.ones(2)
    for name, dtype in ELEMENT_TYPES.items():
        assert getattr(x, name)().dtype == dtype
    assert x.bool().dtype == sg.bool
    assert x.double() is x


# --- what they give -------------------------------------------------------------------------------


@pytest.mark.parametrize(("call", "at", "expected"), CALLS)
def test_a_call_on_a_tensor(call: Callable[[Any], Any], at: Any, expected: Any) -> None:
    equal(call(sg.asarray(at)), expected)


@pytest.mark.parametrize(("call", "at", "expected"), CALLS)
def test_the_same_call_on_a_symbol(call: Callable[[Any], Any], at: Any, expected: Any) -> None:
    x = sg.placeholder("x", np.shape(at), np.asarray(at).dtype)
    found = call(x)
    several = isinstance(found, (tuple, list))
    values = sg.evaluate(list(found) if several else found, {x: at})
    equal([sg.asarray(v) for v in values] if several else sg.asarray(values), expected)


def test_a_named_size_passes_through_shapes() -> None:
    x = sg.placeholder("x", ("n", 2, 3))
    n = x.shape[0]
    assert x.flatten(1).shape == (n, 6)
    assert x.view(n, -1).shape == (n, 6)
    assert x.expand(4, -1, -1, -1).shape == (4, n, 2, 3)
    assert x.permute(2, 0, 1).shape == (3, n, 2)
    assert x.numel() == x.size


def test_gradients_pass_through_methods() -> None:
    x = sg.tensor(M, requires_grad=True)
    x.t().reshape(2, -1).narrow(1, 0, 3).unsqueeze(0).expand(2, -1, -1).sum(dim=0).sum().backward()
    flat = np.zeros((2, 6))
    flat[:, :3] = 2
    equal(x.grad, flat.reshape(4, 3).T)


# --- memory ---------------------------------------------------------------------------------------


def test_a_view_shares_memory_or_is_refused() -> None:
    x = sg.ones(2, 3)
    view = x.view(6)
    view.add_(1)
    assert x.tolist() == [[2, 2, 2]] * 2
    assert view.data_ptr() == x.data_ptr()
    with pytest.raises(ShapeError, match=r"view: the elements do not lie in order.*reshape"):
        x.t().view(6)
    assert x.t().reshape(6).shape == (6,)
    assert sg.ones(0, 3).t().view(0).shape == (0,)


def test_where_elements_lie() -> None:
    x = sg.ones(2, 3, dtype=sg.float32)
    assert (x.stride(), x.t().stride(), x.stride(-1)) == ((3, 1), (1, 3), 1)
    assert (x.is_contiguous(), x.t().is_contiguous()) == (True, False)
    assert x.contiguous() is x
    assert x.t().contiguous().is_contiguous()
    assert (x.dim(), x.ndimension(), x.numel(), x.nelement(), x.element_size()) == (2, 2, 6, 6, 4)
    with pytest.raises(ArgumentError, match="stride: no such axis"):
        x.stride(2)


def test_casts() -> None:
    x = sg.ones(2)
    assert x.to(sg.float32).dtype == x.to(dtype="float32").dtype == sg.float32
    assert x.to(sg.ones(1, dtype=sg.int64)).dtype == sg.int64
    assert x.to(sg.float64) is x.to("cpu") is x.to(device="cpu") is x.cpu() is x
    assert x.type_as(sg.ones(1, dtype=sg.int8)).dtype == sg.int8
    assert x.to("float16").dtype == sg.float16
    assert sg.is_floating_point(x)
    assert not x.is_complex()
    assert not x.long().is_floating_point()
    assert not sg.is_floating_point(x + 1j)


def test_a_symbol_is_detached_by_an_op() -> None:
    x = sg.placeholder("x")
    assert sg.grad(x.detach() * x, x)[0].eval({x: 3.0}) == 3.0


# --- changes in place -----------------------------------------------------------------------------

IN_PLACE: dict[str, tuple[Any, ...]] = {
    "add": (2,),
    "addcdiv": (sg.ones(3), sg.ones(3)),
    "addcmul": (sg.ones(3), sg.ones(3)),
    "atan2": (0.5,),
    "clamp": (-1, 1),
    "clamp_max": (1,),
    "clamp_min": (1,),
    "clip": (-1, 1),
    "copysign": (-1.0,),
    "cumprod": (0,),
    "cumsum": (0,),
    "div": (2,),
    "float_power": (2,),
    "fmod": (2,),
    "index_add": (0, sg.tensor([1]), sg.ones(1)),
    "index_copy": (0, sg.tensor([1]), sg.ones(1)),
    "index_fill": (0, sg.tensor([1]), 7.0),
    "index_put": ((sg.tensor([1]),), sg.ones(1)),
    "lerp": (1.0, 0.5),
    "masked_fill": (sg.tensor([True, False, True]), 7.0),
    "mul": (2,),
    "pow": (2,),
    "remainder": (2,),
    "scatter_add": (0, sg.tensor([1]), sg.ones(1)),
    "sub": (2,),
}
UNARY = """
abs absolute asinh atan ceil cos cosh deg2rad erf erfc exp exp2 expm1 fix floor frac gelu
hardsigmoid hardswish hardtanh leaky_relu mish nan_to_num neg negative rad2deg reciprocal relu
relu6 round sech2 selu sigmoid sign silu sin sinh softplus softsign square tan tanh trunc
""".split()


@pytest.mark.parametrize("name", [*IN_PLACE, *UNARY])
def test_a_change_in_place_writes_the_result(name: str) -> None:
    arguments = IN_PLACE.get(name, ())
    expected = getattr(sg.tensor(V), name)(*arguments)
    x = sg.tensor(V)
    address = x.data_ptr()
    assert getattr(x, f"{name}_")(*arguments) is x
    equal(x, expected)
    assert (x._version, x.data_ptr()) == (1, address)
    assert not hasattr(sg.Symbol, f"{name}_")


@pytest.mark.parametrize("name", [*IN_PLACE, *UNARY])
def test_a_change_in_place_has_the_gradient_of_its_function(name: str) -> None:
    arguments = IN_PLACE.get(name, ())
    x, y = (sg.tensor(V, requires_grad=True) for _ in range(2))
    getattr(x + 0, name)(*arguments).sum().backward()
    changed = y + 0
    getattr(changed, f"{name}_")(*arguments)
    changed.sum().backward()
    equal(y.grad, x.grad)


def test_every_listed_method_is_there_in_place() -> None:
    for name in ALSO_IN_PLACE:
        assert callable(getattr(sg.Tensor, f"{name}_"))
    for name in ("clone_", "stop_gradient_", "where_"):
        assert not hasattr(sg.Tensor, name)


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.zero_(),
        lambda x: x.fill_(3.0),
        lambda x: x.normal_(),
        lambda x: x.uniform_(-1, 1),
        lambda x: x.exponential_(2.0),
        lambda x: x.bernoulli_(0.5),
        lambda x: x.copy_(sg.ones(3)),
    ],
)
def test_a_result_that_is_written_anew_has_a_gradient_of_zeros(
    change: Callable[[sg.Tensor], sg.Tensor],
) -> None:
    x = sg.tensor(V, requires_grad=True)
    y = x * 2
    assert change(y) is y
    assert y.requires_grad
    y.sum().backward()
    equal(x.grad, np.zeros(3))


def test_copying_broadcasts_casts_and_passes_the_gradient() -> None:
    x = sg.tensor([1.5], requires_grad=True)
    y = sg.zeros(2, 3)
    y.copy_(x)
    equal(y, np.full((2, 3), 1.5))
    y.sum().backward()
    equal(x.grad, [6])
    assert sg.zeros(2, dtype=sg.int32).copy_(sg.tensor([1.7, -2.2])).tolist() == [1, -2]
    with pytest.raises(ShapeError):
        sg.zeros(2).copy_(sg.ones(3))


def test_a_symbol_is_not_written_into_a_tensor() -> None:
    x = sg.ones(1)
    with pytest.raises(InPlaceError, match="a symbol has no value to write"):
        x.add_(sg.placeholder("s", (1,)))
    equal(x, [1])


# --- chance ---------------------------------------------------------------------------------------


def test_draws_are_in_range_and_repeatable() -> None:
    def draws() -> list[Any]:
        made = [
            sg.rand(50),
            sg.randint(3, 9, (50,)),
            sg.randint(4, (50,)),
            sg.randperm(50),
            sg.bernoulli(sg.full((50,), 0.3)),
            sg.normal(2.0, 0.5, (50,)),
            sg.rand_like(sg.ones(50)),
            sg.zeros(50).uniform_(2, 3),
        ]
        return [one.numpy() for one in made]

    sg.manual_seed(1)
    first = draws()
    sg.manual_seed(1)
    np.testing.assert_equal(draws(), first)
    uniform, low, small, order, ones, normal, like, written = first
    assert 0 <= uniform.min() < uniform.max() < 1
    assert set(low) == set(range(3, 9))
    assert set(small) == set(range(4))
    assert sorted(order) == list(range(50))
    assert set(ones) == {0.0, 1.0}
    assert abs(normal.mean() - 2) < 0.5
    assert not np.array_equal(like, uniform)
    assert 2 <= written.min() < written.max() < 3


def test_positions_are_drawn_by_their_weights() -> None:
    sg.manual_seed(2)
    weights = sg.tensor([[0.0, 1.0, 3.0], [5.0, 0.0, 0.0]])
    drawn = sg.multinomial(weights, 2000, replacement=True).numpy()
    assert drawn.shape == (2, 2000)
    assert set(drawn[0]) == {1, 2}
    assert abs((drawn[0] == 2).mean() - 0.75) < 0.05
    assert set(drawn[1]) == {0}
    order = sg.multinomial(sg.ones(100, 4), 4).numpy()
    assert (np.sort(order) == np.arange(4)).all()
    assert set(order[:, 0]) == set(range(4))
    firsts = sg.multinomial(sg.ones(2000, 1) * sg.tensor([1.0, 3.0]), 1).numpy()
    assert abs(firsts.mean() - 0.75) < 0.05
    with pytest.raises(ArgumentError):
        sg.multinomial(sg.ones(2), 3)


def test_a_generator_of_ones_own() -> None:
    draws = [sg.randn(3, generator=sg.random.Generator(5)) for _ in range(2)]
    equal(draws[0], draws[1])
    inside = sg.zeros(3).normal_(generator=sg.random.Generator(5))
    equal(inside, draws[0])


def test_shapes_of_draws() -> None:
    for shape in (sg.rand(2, 3), sg.rand((2, 3)), sg.rand([2, 3]), sg.rand(size=(2, 3))):
        assert shape.shape == (2, 3)
    assert sg.rand().shape == sg.rand(()).shape == ()
    assert sg.randn(2, dtype=sg.float32).dtype == sg.float32


# --- refusals -------------------------------------------------------------------------------------

DIM = sg.placeholder("x", ("n",)).shape[0]
REFUSED: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: sg.tensor([1], requires_grad=True), NotDifferentiable, "only floating-point"),
    (lambda: sg.ones(2, dtype="int8", requires_grad=True), NotDifferentiable, "only floating"),
    (lambda: sg.zeros(DIM, requires_grad=True), TraceError, "zeros: a symbol does not require a"),
    (lambda: sg.sum(sg.ones(2), requires_grad=True), ArgumentError, "unknown argument 'requires_"),
    (lambda: sg.tensor([[1], [2, 3]]), ShapeError, "nested lists of different lengths"),
    (lambda: sg.tensor("text"), DTypeError, "not numbers of a known type"),
    (lambda: sg.tensor([1.0], device="cuda"), ArgumentError, "tensor: unknown device"),
    (lambda: sg.manual_seed("ten"), ArgumentError, "manual_seed: no seed: expected an integer"),
    (lambda: sg.ones(2, 2, 2).t(), ShapeError, "t: too many axes: expected at most 2"),
    (lambda: sg.ones(3).expand(2), ShapeError, "broadcast"),
    (lambda: sg.ones(3).expand(-1, 3), ShapeError, "expand: no such sizes"),
    (lambda: sg.ones(3).narrow(0, 2, 2), ShapeError, "narrow: the piece reaches too far"),
    (lambda: sg.ones(3).chunk(0), ArgumentError, "chunk: no such number of pieces"),
    (lambda: sg.ones(3).split_with_sizes([1, 1]), ShapeError, "another sum: expected 3, got 2"),
    (lambda: sg.ones(2, 3).flatten(1, 0), ArgumentError, "end_dim lies before start_dim"),
    (lambda: sg.ones(2).div(2, rounding_mode="up"), ArgumentError, "expected None, 'floor' or"),
    (lambda: sg.ones(2).add(alpha=2), ArgumentError, "add: argument 'x2' is missing"),
    (lambda: sg.ones(2).sum(0, dim=0), ArgumentError, "argument 'axis' was given twice"),
]


@pytest.mark.parametrize(("attempt", "error", "text"), REFUSED, ids=[r[2][:24] for r in REFUSED])
def test_refusals(attempt: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        attempt()


def test_the_flag_is_that_of_the_new_tensor() -> None:
    x = sg.ones(2)
    y = sg.asarray(x, requires_grad=True)
    assert y.requires_grad
    assert not x.requires_grad
    assert sg.full((2,), sg.tensor(1.0, requires_grad=True), requires_grad=True).requires_grad


def test_the_value_of_a_leaf_is_changed_through_data() -> None:
    w = sg.tensor([1.0, 2.0], requires_grad=True)
    (w * w).sum().backward()
    w.data -= 0.5 * w.grad
    equal(w, [0, 0])
    w.data = sg.tensor([3.0, 4.0])
    equal(w, [3, 4])
    assert (w.requires_grad, w.is_leaf, w._version) == (True, True, 2)
    w.grad.data.zero_()
    equal(w.grad, [0, 0])
    with pytest.raises(ShapeError, match="data: another shape"):
        w.data = sg.ones(3)


def test_ranges_take_pytorchs_names() -> None:
    equal(sg.linspace(0.0, 1.0, steps=3), [0, 0.5, 1])
    equal(sg.linspace(0.0, end=1.0, steps=3), [0, 0.5, 1])
    equal(sg.arange(1, end=3), [1, 2])


def test_a_reshaped_copy_has_memory_of_its_own() -> None:
    x = sg.ones(2, 3)
    x.reshape(6, copy=True).add_(1)
    equal(x, np.ones((2, 3)))
    x.reshape(6).add_(1)
    equal(x, np.full((2, 3), 2))
