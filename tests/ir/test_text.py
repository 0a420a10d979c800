"""The text form: exact round trips, and mistakes refused by line."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import symgrad as sg
from symgrad.errors import FormatError
from symgrad.ir.graph import Graph
from symgrad.ir.interning import attribute_key
from symgrad.ir.op import OPS, Op
from symgrad.ir.symbol import Origin, Symbol, building, constructing, make
from symgrad.ir.text import arrays_of, parse, print_graph
from symgrad.ir.verify import verify
from symgrad.ops.families import Array, nondifferentiable
from symgrad.types import Dim, TensorType, TupleType, fresh_dim, require_equal


def survives(graph: Graph) -> Graph:
    """The graph read from the text, which prints the same."""
    text = print_graph(graph)
    again = parse(text, arrays_of(graph))
    assert print_graph(again) == text
    verify(again)
    assert [s.type for s in again.symbols] == [s.type for s in graph.symbols]
    assert again.constraints == tuple(c.at(a.site) for c, a in pairs(graph, again))
    return again


def pairs(graph: Graph, again: Graph) -> Iterator[tuple[Any, Any]]:
    return zip(graph.constraints, again.constraints, strict=True)


@pytest.fixture
def declare() -> Iterator[Callable[..., Op]]:
    """Declares an op for one test."""
    declared: list[str] = []

    def declaration(kernel: Any, type: Any, **facets: Any) -> Op:
        op = nondifferentiable(type=type, reason="a test", namespace=None, **facets)(kernel)
        declared.append(op.name)
        return op

    yield declaration
    for name in declared:
        del OPS[name]


def sample_tagged(x: Array, /, *, value: Any = None) -> Array:
    return x


def test_the_form() -> None:
    x = sg.placeholder("x", ("batch", 3))
    w = sg.variable(np.ones((3,)), name="w")
    big = sg.constant(np.arange(300.0).reshape(100, 3))
    y = sg.astype(sg.sin(x * w) + sg.constant([1.0, np.inf, np.nan]), "float32")
    assert (
        print_graph(Graph([x], [y, big]))
        == """\
%0 = placeholder "x" : f64[batch, 3]
%1 = variable "w" @v0 : f64[3]
%2 = multiply(%0, %1) : f64[batch, 3]
%3 = sin(%2) : f64[batch, 3]
%4 = constant [1.0, inf, nan] : f64[3]
%5 = add(%3, %4) : f64[batch, 3]
%6 = astype(%5, dtype=float32) : f32[batch, 3]
%7 = constant @c0 : f64[100, 3]
return %6, %7"""
    )


def test_round_trip_of_all_kinds_of_leaves() -> None:
    a, b = (
        sg.placeholder("a", (2, None)),
        sg.placeholder('b "quoted" θ\n', ("2*n + 1",), "complex64"),
    )
    w, anonymous = sg.variable(1.5, name="w"), sg.variable(np.zeros((0, 3), "float16"))
    big = sg.constant(np.arange(65))
    small = [
        sg.constant(np.array([0.1, -0.0], "float32")),
        sg.constant(np.array(1 - 2j, "complex64")),
        sg.constant(np.array([[True]])),
        sg.constant(np.zeros((0, 2))),
        sg.constant(np.array([0x7FA00001], "uint32").view("float32")),
        sg.constant(np.arange(64, dtype="uint8")),
    ]
    again = survives(Graph([a, b], [a, b, w, anonymous, big, *small]))
    assert again.variables == (w, anonymous)
    assert all(new is old for new, old in zip(again.outputs[4:], [big, *small], strict=True))


def test_the_same_leaves_give_the_same_symbols() -> None:
    w = sg.variable([1.0, 2.0])
    y = sg.sin(w * 2.0) + w
    assert survives(Graph([], [y])).outputs == (y,)
    fresh = parse(str(Graph([], [y])), {"v0": np.array([3.0, 4.0])})
    assert fresh.variables[0] is not w
    assert fresh.variables[0].value.tolist() == [3.0, 4.0]


def test_constants_older_than_placeholders() -> None:
    text = """\
%0 = placeholder "x" : f64[]
%1 = constant 7.25 : f64[]
%2 = multiply(%0, %1) : f64[]
return %2"""
    first = parse(text)  # its constant stays alive: older than the next placeholder
    assert print_graph(parse(text)) == print_graph(first) == text


def test_cut_graphs_begin_with_placeholders() -> None:
    x, y = sg.placeholder("x"), sg.placeholder("sin")
    h, k = sg.sin(x), sg.sin(sg.cos(x))
    again = survives(Graph([h, k, y], [h * k * y]))
    assert [s.name for s in again.inputs] == ["sin_2", "sin_3", "sin"]
    assert all(s.op.name == "placeholder" for s in again.inputs)


def test_inputs_that_are_no_placeholders_are_listed() -> None:
    w, x, c = sg.variable(2.0), sg.placeholder("x"), sg.constant(2.5)
    again = survives(Graph([w, x, c], [x * w]))
    assert str(again).splitlines()[-2:] == ["inputs %0, %1, %2", "return %3"]
    assert survives(Graph([], [])).outputs == ()
    assert str(Graph([], [])) == "return"


def test_graphs_built_without_sharing_stay_so() -> None:
    x = sg.placeholder("x")
    with constructing(share=False):
        y = sg.sin(x) + sg.sin(x) * sg.sin(x)
    graph = Graph([x], [y])
    assert len(graph.symbols) == 6
    assert len(survives(graph).symbols) == 6


def test_origins() -> None:
    x = sg.placeholder("x")
    y = sg.sin(x)
    lost = sg.tanh(x)
    building.origin = Origin(y, "sin")
    slope = sg.cos(x)
    building.origin = Origin(lost, "odd (rule)\n")
    other = sg.cosh(x)
    building.origin = None
    graph = Graph([x], [slope * other, y])  # the primal is printed after its derivative
    assert "cos(%0) : f64[]  # d %4 (rule sin)" in str(graph)
    assert "cosh(%0) : f64[]  # d tanh (rule odd _rule__)" in str(graph)
    again = survives(graph)
    assert [s.op.name for s in again.derivative_symbols] == ["cos", "cosh"]
    assert again.derivative_symbols[0].origin == (again.outputs[1], "sin")


def test_what_is_made_of_constants_alone_has_no_origin() -> None:
    # It is shared: which graph's differentiation made it first is no property of this one.
    x = sg.placeholder("x")
    kept = sg.cos(x)
    building.origin = Origin(kept, "cos")
    shared = sg.cosh(sg.constant(0.75))
    building.origin = None
    again = survives(Graph([x], [x * shared]))
    assert again.derivative_symbols == ()
    assert "#" not in str(again)


def test_differentiated_graphs() -> None:
    x, y = sg.placeholder("x"), sg.placeholder("y")
    graph = Graph([x, y], [sg.sin(x) * sg.exp(y / x)])
    first = graph.differentiate([x, y])
    again = survives(first)
    assert "(rule sin)" in str(first)
    assert len(again.derivative_symbols) == len([s for s in first.derivative_symbols if s.args])
    survives(Graph([x, y], first.outputs[1:]))
    survives(first.differentiate([x], [0.0, 1.0, 0.0]))


def test_sites_and_comments_are_ignored() -> None:
    x = sg.placeholder("x")
    graph = Graph([x], [sg.sin(x)])
    text = print_graph(graph, sites=True)
    assert all("  # test_text.py:" in line for line in text.splitlines()[:2])
    assert str(parse(text)) == str(graph)
    noisy = "# head\n\n  " + text.replace("%0", "%x_1") + "  # end\n\n#\r\n"
    assert str(parse(noisy)) == str(graph)


VALUES = [
    None,
    True,
    1,
    1.0,
    -0.0,
    float("nan"),
    float("inf"),
    1j,
    "a, b) # c",
    np.dtype("int8"),
    (),
    (1, (2.0, None)),
    Dim.named("n") + 1,
    (Dim.named("n"), Dim.named("inf")),
    10**30,
]


def test_attributes(declare: Callable[..., Op]) -> None:
    op = declare(sample_tagged, lambda x, *, value: x)
    x = sg.placeholder("x", ("n",))
    y = x
    for value in VALUES:
        y = op(y, value=value)
    again = survives(Graph([x], [y]))
    found = [attribute_key(s.attrs["value"]) for s in again.symbols[1:]]
    assert found == [attribute_key(value) for value in VALUES]
    assert (
        str(again).splitlines()[1] == "%1 = sample_tagged(%0) : f64[n]"
    )  # the default is left out


def test_values_without_a_form_print_but_do_not_parse(declare: Callable[..., Op]) -> None:
    op = declare(sample_tagged, lambda x, *, value: x)
    x = sg.placeholder("x")
    text = str(Graph([x], [op(x, value=print)]))
    assert "sample_tagged(%0, value=<builtin_function_or_method>)" in text
    with pytest.raises(FormatError, match="line 2: not a value"):
        parse(text)


def sample_parted(x: Array, /) -> Any:
    return x, x


def test_tuples(declare: Callable[..., Op]) -> None:
    op = declare(sample_parted, lambda x: TupleType([x, TensorType((*x.shape, 3), x.dtype)]))
    x = sg.placeholder("x", ("n",))
    pack = op(x)
    graph = Graph([x], [OPS["item"](pack, index=1), OPS["item"](pack, index=0)])
    assert (
        "%1 = sample_parted(%0) : (f64[n], f64[n, 3])\n%2 = item(%1, index=1) : f64[n, 3]"
        in str(graph)
    )
    survives(graph)
    survives(Graph([pack], [OPS["item"](pack, index=1)]))


def sample_counted(x: Array, /) -> Array:
    return np.flatnonzero(x)


def test_sizes_found_by_running(declare: Callable[..., Op]) -> None:
    op = declare(sample_counted, lambda x: TensorType((fresh_dim(),), "int64"))
    x, y = sg.placeholder("x", ("n",)), sg.placeholder("y", ("n",))
    survives(Graph([x, y], [op(x), op(y), op(op(x))]))
    text = str(Graph([x], [op(x)])).replace("i64[", "i32[")
    with pytest.raises(FormatError, match="line 2: the type is another: expected i64"):
        parse(text)


def sample_pinned(x: Array, y: Array, /) -> Array:
    return x


def test_constraints_come_back(declare: Callable[..., Op]) -> None:
    def same(x: TensorType, y: TensorType) -> TensorType:
        require_equal(x.shape[0], y.shape[0], "sample_pinned", "sizes")
        return x

    op = declare(sample_pinned, same)
    x, y = sg.placeholder("x", ("n",)), sg.placeholder("y", ("m",))
    graph = survives(Graph([x, y], [op(x, y)]))
    assert [str(c) for c in graph.constraints] == ["n == m (sample_pinned: sizes)"]


def test_names_of_fresh_dimensions_are_kept_and_reserved() -> None:
    number = int(str(fresh_dim())[1:]) + 50
    graph = parse(f'%0 = placeholder "x" : f64[_{number}]\nreturn %0')
    assert graph.dims == (f"_{number}",)
    assert int(str(fresh_dim())[1:]) > number


# --- mistakes ----------------------------------------------------------------------------------

X = '%0 = placeholder "x" : f64[n]\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: the text ends early: expected 'return …'"),
        (X, "line 2: the text ends early: expected 'return …'"),
        ("hello", "line 1: not a line of a graph: expected '%name = op(…) : type', 'inputs …' or "
         "'return …', got 'hello'"),
        (X + "%0 = sin(%0) : f64[n]", "line 2: the name is taken: expected a new one, got '%0'"),
        (X + "%1 = sin(%2) : f64[n]", "line 2: unknown symbol: expected the name of a line above"),
        (X + "%1 = sin(%1) : f64[n]", "line 2: unknown symbol"),
        (X + "%1 = sinn(%0) : f64[n]", "line 2: unknown op: got 'sinn'"),
        (X + "%1 = sin(%0) : f64[m]", "line 2: the type is another: expected f64[n], got f64[m]"),
        (X + "%1 = sin(%0) : f32[n]", "line 2: the type is another: expected f64[n], got f32[n]"),
        (X + "%1 = sin(%0) : f64", "line 2: not a type: expected as in f32[batch, 784], got 'f64'"),
        (X + "%1 = sin(%0)", "line 2: no type: expected ':' and a type, got 'the end of the line'"),
        (X + "%1 = sin %0 : f64[n]", "line 2: no operands: expected '(' and operands, got '%0 : f"),
        (X + "%1 = sin(%0 : f64[n]", "line 2: not closed: expected a closing bracket, got '(%0"),
        (X + "%1 = sin(0) : f64[n]", "line 2: not an argument: expected operands such as %0, then "
         "attributes as name=value, got '0'"),
        (X + "%1 = sin(%0, %0) : f64[n]", "line 2: sin has other operands: expected 1, got 2"),
        (X + "%1 = add(%0) : f64[n]", "line 2: add has other operands: expected 2, got 1"),
        (X + "%1 = sin(%0, axis=1) : f64[n]", "line 2: sin has no attribute 'axis': expected none"),
        (X + "%1 = astype(%0) : f64[n]", "line 2: astype needs the attribute 'dtype'"),
        (X + "%1 = astype(%0, dtype=float31) : f64[n]", "line 2: astype refuses its operands"),
        (X + "%1 = astype(%0, dtype=1, dtype=2) : f64[n]", "line 2: not an argument"),
        (X + "%1 = astype(dtype=float32, %0) : f32[n]", "line 2: not an argument"),
        (X + "%1 = logical_not(%0) : f64[n]", "line 2: logical_not refuses its operands"),
        (X + "%1 = item(%0, index=9) : f64[n]", "line 2: item refuses its operands"),
        (X + "return %0\n" + X, "line 3: more after the return: expected the end, got '%0 = place"),
        (X + "inputs %0\ninputs %0\nreturn", "line 3: a second list of inputs"),
        (X + "inputs\nreturn %0", "line 3: the outputs need what is not among the inputs"),
        (X + "inputs %0, %0\nreturn %0", "line 3: the input <placeholder 'x': f64[n]> is given tw"),
        (X + "return %1", "line 2: unknown symbol: expected the name of a line above, got '%1'"),
        (X + "return %0 %0", "line 2: unknown symbol"),
        ("%0 = placeholder : f64[]", "line 1: a placeholder needs a label: expected a string"),
        ('%0 = placeholder "x" y : f64[]', "line 1: no type: expected ':' and a type, got 'y"),
        ('%0 = placeholder "\\x" : f64[]', "line 1: not a string"),
        ("%0 = variable : f64[]", "line 1: a variable needs a value: expected the name of"),
        ("%0 = variable @v0 : f64[]", "line 1: the array 'v0' is missing; hint: pass arrays={"),
        ("%0 = constant : f64[]", "line 1: a constant needs a value: expected a number, "),
        ("%0 = constant [1.0, 2.0] : f64[3]", "line 1: not a constant"),
        ("%0 = constant 1.0 : (f64[], f64[])", "line 1: a constant is no tuple"),
        ("%0 = constant 1.0 : f64[n]", "line 1: not a constant"),
        ("%0 = constant 1.0 : f64[] 3", "line 1: not a type"),
    ],
)  # fmt: skip
def test_mistakes(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        parse(text)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("kind", "array", "got"),
    [
        ("variable", np.zeros(2), "float64[2]"),
        ("constant", np.zeros(3, "float32"), "float32[3]"),
        ("variable", np.zeros(3, object), "object[3]"),
        ("constant", [0.0, 0.0, 0.0], "list"),
        ("variable", sg.variable(1.0), "float64[]"),
        ("constant", sg.variable(1.0), "Symbol"),
        ("constant", sg.constant(1.0), "float64[]"),
        ("variable", sg.placeholder("x", (3,)), "Symbol"),
    ],
)
def test_arrays_of_another_type(kind: str, array: object, got: str) -> None:
    with pytest.raises(FormatError) as caught:
        parse(f"%0 = {kind} @a : f64[3]\nreturn %0", {"a": array})
    expected = f"line 1: array 'a' has another type: expected f64[3], got {got}"
    assert str(caught.value) == expected


# --- whatever comes -----------------------------------------------------------------------------

SHAPES = st.sampled_from([(), ("n",), (2, "n"), (1, 1), (2, 3)])
ONE = ["sin", "negative", "abs", "sigmoid", "square", "sign"]
TWO = ["add", "multiply", "maximum", "divide", "subtract"]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    shape = draw(SHAPES)
    inputs = [
        sg.placeholder(f"x{k}", shape, draw(st.sampled_from(["float32", "float64"])))
        for k in range(3)
    ]
    made: list[Symbol] = [*inputs, sg.variable(2.0), sg.constant(draw(st.floats(width=32)))]
    for _ in range(draw(st.integers(0, 12))):
        if draw(st.booleans()):
            made.append(OPS[draw(st.sampled_from(ONE))](draw(st.sampled_from(made))))
        else:
            a, b = draw(st.sampled_from(made)), draw(st.sampled_from(made))
            with constructing(share=draw(st.booleans())):
                made.append(OPS[draw(st.sampled_from(TWO))](a, b))
    outputs = draw(st.lists(st.sampled_from(made), max_size=3))
    return Graph(inputs, outputs)


@given(graphs())
def test_random_graphs_survive(graph: Graph) -> None:
    verify(graph)
    survives(graph)


SAMPLE = """\
%0 = placeholder "x" : f64[2*n + 1, 3]
%1 = variable "w" @v0 : f64[3]
%2 = multiply(%0, %1) : f64[2*n + 1, 3]
%3 = astype(%2, dtype=float32) : f32[2*n + 1, 3]  # d %2 (rule multiply)
%4 = constant [1.0, nan, inf] : f32[3]
%5 = add(%3, %4) : f32[2*n + 1, 3]
%6 = equal(%5, %3) : b1[2*n + 1, 3]
inputs %0, %1
return %5, %6"""
PIECES = st.sampled_from(
    [*'%()[]:=,"#@*/+-\n\\ 019neE.\x00\u2028é', "%1", "f64[n]", "(1,"]
) | st.text(max_size=3)


@given(st.lists(st.tuples(st.integers(0, len(SAMPLE)), st.integers(0, 4), PIECES), max_size=4))
@example([])
def test_only_format_errors_come_out(edits: list[tuple[int, int, str]]) -> None:
    text = SAMPLE
    for place, length, piece in edits:
        text = text[:place] + piece + text[place + length :]
    arrays = {"v0": np.ones(3)}
    try:
        graph = parse(text, arrays)
    except FormatError:
        return
    verify(graph)
    assert str(parse(str(graph), arrays_of(graph))) == str(graph)


def test_a_long_text() -> None:
    lines = ['%0 = placeholder "x" : f64[n]']
    lines += [f"%{k + 1} = sin(%{k}) : f64[n]" for k in range(20_000)]
    text = "\n".join([*lines, "return %20000"])
    assert str(parse(text)) == text
    gc.collect()


def test_deep_nests_do_not_recurse() -> None:
    for text in ("(" * 100_000, "[" * 100_000, '"' * 99_999, "-" * 100_000):
        with pytest.raises(FormatError):
            parse(X + f"%1 = astype(%0, dtype={text}) : f32[n]\nreturn %1")
        with pytest.raises(FormatError):
            parse(X + f"%1 = sin(%0) : f64[{text}]\nreturn %1")


def test_make_is_what_parse_uses() -> None:
    """A symbol that exists is found, whatever the spelling of its text."""
    w = sg.variable(1.0)
    y = make(OPS["sin"], (w,), {})
    assert (
        parse("%w=variable@w:f64[]\n %y = sin( %w ) :f64[ ]\nreturn %y", {"w": w}).outputs[0] is y
    )
