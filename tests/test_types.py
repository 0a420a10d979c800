"""Types: dtypes and promotion, symbolic sizes, constraints, broadcasting, binding."""

from __future__ import annotations

import copy
import itertools
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from symgrad import types as t
from symgrad.errors import ArgumentError, DTypeError, FormatError, ShapeError, TraceError
from symgrad.types import Constraint, Dim, TensorType

n, m, k = Dim.named("n"), Dim.named("m"), Dim.named("k")
NAMES = ("n", "m", "k")


def given(*strategies: Any) -> Any:
    """hypothesis.given without its time limit: a loaded machine is no failure."""
    return lambda test: hypothesis.settings(deadline=None)(hypothesis.given(*strategies)(test))


@pytest.fixture(autouse=True)
def _clean():
    t.take_constraints()
    yield
    t.take_constraints()
    t.set_default_dtype("float64")


# --------------------------------------------------------------------------- sizes: strategies

# A tree of operations on sizes; the same tree is worked out symbolically and on ints.
_leaves = st.one_of(st.sampled_from(NAMES), st.integers(-6, 6))
_trees = st.recursive(
    _leaves,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["+", "-", "*", "max", "min"]), inner, inner),
        st.tuples(st.sampled_from(["//", "%"]), inner, st.integers(-5, 5).filter(bool)),
        st.tuples(st.just("//"), inner, st.sampled_from(NAMES)),
        st.tuples(st.just("neg"), inner),
    ),
    max_leaves=8,
)
_bindings = st.fixed_dictionaries({name: st.integers(1, 40) for name in NAMES})

_SIZES: dict[str, Any] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "neg": lambda a: -a,
    "max": t.max_size,
    "min": t.min_size,
}
_INTS = {**_SIZES, "max": max, "min": min}


def work_out(tree: Any, leaf: Any, operations: dict[str, Any]) -> Any:
    if isinstance(tree, tuple):
        sign, *parts = tree
        return operations[sign](*(work_out(part, leaf, operations) for part in parts))
    return leaf(tree) if isinstance(tree, str) else tree


def size_of(tree: Any) -> t.Size:
    return work_out(tree, Dim.named, _SIZES)


def value(size: t.Size, bindings: dict[str, int]) -> int:
    return size.evaluate(bindings) if isinstance(size, Dim) else size


sizes = _trees.map(size_of)


# --------------------------------------------------------------------------- sizes: laws


@given(_trees, _bindings)
def test_a_size_has_the_value_of_its_formula(tree: Any, bindings: dict[str, int]) -> None:
    assert value(size_of(tree), bindings) == work_out(tree, bindings.__getitem__, _INTS)


@given(sizes)
def test_text_and_back(size: t.Size) -> None:
    assert t.parse_size(str(size)) == size


@given(sizes, _bindings)
def test_the_text_is_python(size: t.Size, bindings: dict[str, int]) -> None:
    assert eval(str(size), {"max": max}, dict(bindings)) == value(size, bindings)


@given(sizes, sizes, sizes)
def test_ring_laws(a: t.Size, b: t.Size, c: t.Size) -> None:
    assert a + b == b + a
    assert a * b == b * a
    assert (a + b) + c == a + (b + c)
    assert (a * b) * c == a * (b * c)
    assert a * (b + c) == a * b + a * c
    assert a - a == 0
    assert a + 0 == a
    assert a * 1 == a
    assert a * 0 == 0
    assert 0 - (0 - a) == a
    assert hash((a + b) * c) == hash(a * c + b * c)


@given(sizes, sizes, st.integers(1, 6), st.integers(-9, 9))
def test_division_takes_out_what_divides(a: t.Size, b: t.Size, d: int, r: int) -> None:
    assert (a * d) // d == a
    assert (a * n) // n == a
    assert (a * (n + 1)) // (n + 1) == a
    assert (b * d + a) // d == b + a // d
    assert (a * d + r) // d == a + r // d


@given(sizes, sizes)
def test_maximum_laws(a: t.Size, b: t.Size) -> None:
    assert t.max_size(a, b) == t.max_size(b, a)
    assert t.max_size(a, a) == a
    assert t.max_size(a, a + 3) == a + 3
    assert t.max_size(a + 2, b + 2) == t.max_size(a, b) + 2
    assert t.min_size(a, b) + t.max_size(a, b) == a + b


@given(sizes, _bindings)
def test_substitution_agrees_with_evaluation(size: t.Size, bindings: dict[str, int]) -> None:
    if isinstance(size, Dim):
        assert size.substitute(bindings) == size.evaluate(bindings)
        assert size.substitute({}) is size
        half = size.substitute({"n": bindings["n"]})
        assert value(half, bindings) == size.evaluate(bindings)
        swapped = size.substitute({"n": m, "m": n})
        assert value(swapped, bindings | {"n": bindings["m"], "m": bindings["n"]}) == size.evaluate(
            bindings
        )


@given(sizes, _bindings)
def test_certain_signs_are_right(size: t.Size, bindings: dict[str, int]) -> None:
    if t.is_nonnegative(size):
        assert value(size, bindings) >= 0


@given(sizes)
def test_a_constant_is_an_int(size: t.Size) -> None:
    assert type(size) is (Dim if isinstance(size, Dim) and size.names else int)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (n + 1, "n + 1"),
        (1 + 2 * n, "2*n + 1"),
        (5 - n, "-n + 5"),
        (n - m, "-m + n"),
        ((n + 1) // 2, "(n + 1)//2"),
        (-((n + 1) // 2), "-((n + 1)//2)"),
        (2 * (n // 3) * k, "2*k*(n//3)"),
        (n * n, "n**2"),
        ((n // 2) * (n // 2), "(n//2)**2"),
        (t.max_size(n, 3), "max(n, 3)"),
        (t.max_size(3, n), "max(n, 3)"),
        (t.max_size(n, m) // 2, "max(m, n)//2"),
        (7 * n // 3, "2*n + n//3"),
        (n % 2, "n - 2*(n//2)"),
        (n // m, "n//m"),
        ((n + 1) // (m + 1), "(n + 1)//(m + 1)"),
    ],
)
def test_text(size: t.Size, text: str) -> None:
    assert str(size) == repr(size) == text
    assert t.parse_size(text) == size


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((6 * n) // 3, 2 * n),
        ((n * m) // n, m),
        ((n * m + n) // n, m + 1),
        ((n * n - 1) // (n - 1), n + 1),
        ((2 * n + 2) // 4, (n + 1) // 2),
        ((2 * n + 3) // 4, (n + 1) // 2),
        (((n + 1) // 2 + 1) // 2, (n + 3) // 4),
        ((n // 2 + m) // 3, (n + 2 * m) // 6),
        ((n - 1) // 2 + 1, (n + 1) // 2),
        ((2 * n + 1) // 2, n),
        ((3 * n * m) // (6 * m), n // 2),
        (n // (n + 1), 0),
        (n // (2 * n), 0),
        ((-n) // (-m), n // m),
        (n // n, 1),
        (n // 1, n),
        (n // -1, -n),
        (7 // (n * 0 + 2), 3),
        (t.ceil_div(n, 2), (n + 1) // 2),
        (t.ceil_div(n * m, m), n),
        (t.max_size(n, n + 1), n + 1),
        (t.max_size(n, 0), n),
        (t.max_size(2 * n, n), 2 * n),
        (t.max_size(2 * n, 4), 2 * t.max_size(n, 2)),
        (t.max_size(t.max_size(n, 3), 5), t.max_size(n, 5)),
        (t.max_size(t.max_size(n, m), n), t.max_size(m, n)),
        (t.max_size(t.max_size(n, m), k), t.max_size(n, t.max_size(m, k))),
        (t.max_size(n + 3 - t.max_size(n, 5), 0), 3 + t.max_size(n, 2) - t.max_size(n, 5)),
        (t.min_size(n, n + 2), n),
        (t.min_size(3, 4), 3),
        (t.max_size(3, 4), 4),
        (t.ceil_div(7, 2), 4),
        ((n + 1) ** 2, n * n + 2 * n + 1),
        (n**0, 1),
        (+n, n),
        (7 % (n * 0 + 4), 3),
        (5 % n, 5 - 5 // n * n),
    ],
)
def test_sizes_meet(left: t.Size, right: t.Size) -> None:
    assert left == right
    assert hash(left) == hash(right)
    assert type(left) is type(right)


def test_a_size_is_a_value() -> None:
    assert n == Dim.named("n")
    assert n != m
    assert n != 3
    assert n != "n"
    assert {n: 1}[Dim.named("n")] == 1
    assert (n + m).names == {"n", "m"}
    assert (n // m + t.max_size(k, 2)).names == {"n", "m", "k"}
    assert (n.name, (n + 1).name, (2 * n).name, (n * n).name, (n // 2).name) == ("n", *[None] * 4)
    assert n.terms == (((("n", 1),), 1),)
    assert copy.copy(n) is copy.deepcopy(n) is n


def test_numpy_integers_are_sizes() -> None:
    for three in (np.int64(3), np.uint8(3), True + 2):
        assert three + n == n + three == n + 3
        assert three * n == n * three == 3 * n
        assert three - n == 3 - n
        assert n - three == n - 3
        assert n // three == n // 3
        assert three // n == 3 // n
        assert type((n - n) + three) in (int, np.int64, np.uint8)
    assert t.as_size(np.int32(3)) == 3
    assert type(t.as_size(np.int32(3))) is int


def test_others_take_over() -> None:
    class Other:
        def __getattr__(self, name: str) -> Any:
            raise AttributeError(name)

        def answer(self, _: Any) -> str:
            return "taken"

        __radd__ = __rsub__ = __rmul__ = __rfloordiv__ = __rmod__ = __rtruediv__ = answer
        __add__ = __sub__ = __mul__ = __floordiv__ = __mod__ = __truediv__ = answer
        __eq__ = __lt__ = __le__ = __gt__ = __ge__ = answer  # type: ignore[assignment]
        __hash__ = None  # type: ignore[assignment]

    other: Any = Other()
    d: Any = n
    assert [d + other, d - other, d * other, d // other, d % other, d / other] == ["taken"] * 6
    assert [d == other, d < other, d <= other, d > other, d >= other] == ["taken"] * 5
    assert [other + d, other - d, other * d, other // d, other % d, other / d] == ["taken"] * 6
    for operation in (lambda: d + 1.5, lambda: 1.5 * d):
        with pytest.raises(
            TraceError, match=r"a size in float arithmetic: got 1\.5; hint: sg\.size"
        ):
            operation()
    for operation in (lambda: d - "a", lambda: d**-1):
        with pytest.raises(TypeError, match="unsupported operand"):
            operation()


ORDER_CURE = "use max_size or min_size, or declare the dimension as an int"
CURES = [
    (bool, "bool()", "compare sizes with ==, or declare the dimension as an int"),
    (int, "int()", "use sg.size(dim) for its value, or declare the dimension as an int"),
    (float, "float()", "use sg.size(dim) for its value, or declare the dimension as an int"),
    (range, "an index or range", "declare the dimension as an int"),
    (lambda d: d < 3, "an order comparison", ORDER_CURE),
    (lambda d: d <= 3, "an order comparison", ORDER_CURE),
    (lambda d: d > 3, "an order comparison", ORDER_CURE),
    (lambda d: d >= d, "an order comparison", ORDER_CURE),
    (lambda d: d / 2, "true division", "use // for a size, or sg.size(dim) / … for a value"),
    (lambda d: 2 / d, "true division", "use // for a size, or … / sg.size(dim) for a value"),
]  # fmt: skip


@pytest.mark.parametrize(("use", "what", "cure"), CURES)
def test_no_value_is_made_up(use: Any, what: str, cure: str) -> None:
    with pytest.raises(TraceError) as caught:
        use(n + 1)
    assert str(caught.value) == f"dimension n + 1: {what} needs a size that is known; hint: {cure}"


def test_size_errors() -> None:
    with pytest.raises(ShapeError) as caught:
        n // 0
    assert str(caught.value) == "size: division by zero: got n//0"
    with pytest.raises(ShapeError) as caught:
        (n // m).evaluate({"n": 1, "m": 0})
    assert str(caught.value) == "size: division by zero: got n//m with m = 0"
    with pytest.raises(ShapeError) as caught:
        (n + m + k).evaluate({"m": 1})
    assert str(caught.value) == "size: k + m + n has no value: expected a binding of k, n"


@pytest.mark.parametrize("name", ["", "1n", "a b", "max", "if", "n+1"])
def test_names_are_identifiers(name: str) -> None:
    with pytest.raises(ShapeError) as caught:
        Dim.named(name)
    assert str(caught.value) == (
        f"dimension: not a usable name: expected an identifier, got {name!r}"
    )


def test_fresh_names_stay_fresh() -> None:
    first, second = t.fresh_dim(), t.fresh_dim()
    assert first != second
    assert str(first).startswith("_")
    number = int(str(second)[1:])
    t.parse_size(f"_{number + 5} + 1")
    assert str(t.fresh_dim()) == f"_{number + 6}"


def test_fresh_names_from_many_threads() -> None:
    found: list[Dim] = []
    threads = [
        threading.Thread(target=lambda: found.extend(t.fresh_dim() for _ in range(200)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1600


def test_pickle_from_another_process() -> None:
    # Hashes of strings differ there; the size must be found in a dict all the same.
    program = (
        "import pickle, sys; from symgrad.types import *; n = Dim.named('n');"
        "sys.stdout.buffer.write(pickle.dumps((max_size(n, 3)//2, TensorType((n, 2), 'int8'))))"
    )
    here = {"PYTHONPATH": str(Path(t.__file__).parents[1])}
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, env=os.environ | here
    )
    size, kind = pickle.loads(answer.stdout)
    assert {t.max_size(n, 3) // 2: True}[size]
    assert {TensorType((n, 2), "int8"): True}[kind]


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "n +", "n n", "1.5", "True", "'n'", "n / 2", "f(n)", "max(n)", "max(n, m, k)",
        "n.x", "max(n, key=m)", "[n]", "(n, m)", "n if m else k", "n // 0", "1 // 0", "1 % 0",
        "lambda: n", "n ** m", "n ** -1", "n ** 1000", "(n + m)**9", "__import__('os')",
        "-" * 9000 + "n",
        "(" * 500 + "n" + ")" * 500, "n+" * 6000 + "n", "*".join(f"(a{i}+b{i})" for i in range(60)),
        "n\0", "n; m", "max", "if", "max(max, 1)", "9" * 6000,
    ],
    ids=lambda text: ascii(text[:16]),
)  # fmt: skip
def test_texts_that_are_no_sizes(text: str) -> None:
    with pytest.raises(FormatError, match=r"^size: not a size: expected integers, names, \+"):
        t.parse_size(text)


def test_message_of_a_text_that_is_no_size() -> None:
    with pytest.raises(FormatError) as caught:
        t.parse_size("n / 2")
    assert str(caught.value) == (
        "size: not a size: expected integers, names, + - * // % and max, got 'n / 2'"
    )
    with pytest.raises(FormatError) as caught:
        t.parse_size("?" * 500)
    assert str(caught.value).endswith("?…'")
    assert len(str(caught.value)) < 200


def test_parse_shape() -> None:
    assert t.parse_shape("") == ()
    assert t.parse_shape(" n , max(n, 3)//2,7 ") == (n, t.max_size(n, 3) // 2, 7)
    for text in ("n m", "n], [m", "n,,m", "x for x in n"):
        with pytest.raises(FormatError, match="not a size"):
            t.parse_shape(text)


# --------------------------------------------------------------------------- shapes and types


def test_declared_shapes() -> None:
    assert t.as_shape(("batch", "2*n + 1", 3, n)) == (Dim.named("batch"), 2 * n + 1, 3, n)
    assert t.as_shape(5) == (5,)
    assert t.as_shape("n") == (n,)
    assert t.as_shape(n) == (n,)
    assert t.as_shape([2, np.int64(3)]) == (2, 3)
    assert t.as_shape(np.array([2, 3])) == (2, 3)
    unknown = t.as_shape((None, None))
    assert unknown[0] != unknown[1]
    with pytest.raises(ShapeError) as caught:
        t.as_shape((2, -1), "zeros")
    assert str(caught.value) == "zeros: a size is negative: expected 0 or more, got -1"
    with pytest.raises(ShapeError) as caught:
        t.as_shape((2, 1.5), "zeros")
    assert str(caught.value) == "zeros: not a size: expected an int, a Dim or a name, got 1.5"
    with pytest.raises(ShapeError, match=r"^shape: not a size: .* got 2\.5$"):
        t.as_shape(2.5)


def test_tensor_type() -> None:
    x = TensorType(("batch", 784), "float32")
    assert (x.ndim, x.size, x.dtype) == (2, 784 * Dim.named("batch"), np.float32)
    assert str(x) == repr(x) == "f32[batch, 784]"
    assert x == TensorType([Dim.named("batch"), np.int64(784)], np.float32)
    assert hash(x) == hash(TensorType(("batch", 784), np.dtype(">f4")))
    assert x != TensorType(("batch", 784), "float64")
    assert x != TensorType(("batch", 785), "float32")
    assert x != "f32[batch, 784]"
    assert str(TensorType((), bool)) == "b1[]"
    assert TensorType((), bool).size == 1
    assert TensorType((2, 0, n), int).size == 0
    assert type(TensorType((True,), int).shape[0]) is int
    assert pickle.loads(pickle.dumps(x)) == copy.deepcopy(x) == x
    with pytest.raises(ShapeError, match="a size is negative"):
        TensorType((-1,), int)
    with pytest.raises(DTypeError, match="not an element type"):
        TensorType((1,), "float31")


@given(
    st.lists(sizes.filter(lambda s: isinstance(s, Dim) or s >= 0)), st.sampled_from(list(t.DTYPES))
)
def test_type_text_and_back(shape: list[t.Size], dtype: str) -> None:
    kind = TensorType(shape, dtype)
    assert t.parse_type(str(kind)) == kind


def test_tuple_type() -> None:
    x, y = TensorType((n,), "float32"), TensorType((n, n), "complex64")
    pair = t.TupleType([x, y])
    assert str(pair) == repr(pair) == "(f32[n], c64[n, n])"
    assert pair == t.TupleType((x, y))
    assert hash(pair) == hash(t.TupleType((x, y)))
    assert pair != t.TupleType((y, x))
    assert t.TupleType((x,)) != x
    assert copy.deepcopy(pair) == pair


def test_type_texts() -> None:
    assert t.parse_type(" f32 [ n,\n max(n, 3) ] ") == TensorType((n, t.max_size(n, 3)), "float32")
    for text in ("f32", "f32[", "[3]", "f32[3] x", ""):
        with pytest.raises(FormatError) as caught:
            t.parse_type(text)
        assert str(caught.value) == (
            f"type: not a type: expected as in f32[batch, 784], got {text!r}"
        )
    with pytest.raises(DTypeError) as unknown:
        t.parse_type("f31[3]")
    assert str(unknown.value) == (
        "dtype: not a type code: expected b1, i8, i16, i32, i64, u8, u16, u32, u64, f16, f32, f64, "
        "c64, c128, got 'f31'"
    )
    with pytest.raises(ShapeError, match="a size is negative"):
        t.parse_type("f32[-3]")


# --------------------------------------------------------------------------- constraints


def test_require_equal() -> None:
    assert t.require_equal(3, 3, "add", "sizes") == 3
    assert t.require_equal(n + 1, 1 + n, "add", "sizes") == n + 1
    assert t.take_constraints() == ()
    assert t.require_equal(n, 3, "add", "sizes") == 3
    assert t.require_equal(4, m, "matmul", "inner sizes") == 4
    assert t.require_equal(n, m, "add", "sizes") is n
    assert t.take_constraints() == (
        Constraint(n, 3, "add", "sizes"),
        Constraint(4, m, "matmul", "inner sizes"),
        Constraint(n, m, "add", "sizes"),
    )
    assert t.take_constraints() == ()


@pytest.mark.parametrize(
    ("a", "b", "expected", "got"),
    [
        (3, 4, "3", "4"),
        (n, n + 1, "n", "n + 1"),
        (n + 5, 3, "n + 5", "3"),
        (2 * n, n + m + n + 1, "2*n", "m + 2*n + 1"),
    ],
)
def test_sizes_that_never_agree(a: t.Size, b: t.Size, expected: str, got: str) -> None:
    with pytest.raises(ShapeError) as caught:
        t.require_equal(a, b, "matmul", "inner sizes")
    assert str(caught.value) == f"matmul: inner sizes differ: expected {expected}, got {got}"
    assert t.take_constraints() == ()


def test_collectors_are_per_thread() -> None:
    t.require_equal(n, 3, "here", "sizes")
    seen: list[Any] = []

    def elsewhere() -> None:
        seen.append(t.take_constraints())
        t.require_equal(n, 4, "there", "sizes")

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert seen == [()]
    assert [c.where for c in t.take_constraints()] == ["here"]


def test_constraint() -> None:
    constraint = Constraint(2 * n, 6, "matmul", "inner sizes")
    assert constraint.why == "matmul: inner sizes"
    assert str(constraint) == "2*n == 6 (matmul: inner sizes)"
    constraint.check({"n": 3})
    owned = constraint.at("model.py:12")
    assert owned.site == "model.py:12"
    assert constraint.site is None
    with pytest.raises(ShapeError) as caught:
        owned.check({"n": 4})
    assert str(caught.value) == (
        "matmul: inner sizes differ: expected 2*n = 8, got 6; created at model.py:12"
    )
    assert owned == constraint
    assert hash(owned) == hash(constraint)


# --------------------------------------------------------------------------- broadcasting, axes

_small = st.lists(st.sampled_from([0, 1, 1, 2, 3]), max_size=4).map(tuple)


@given(st.lists(_small, min_size=1, max_size=4))
def test_broadcasting_is_numpys(shapes: list[tuple[int, ...]]) -> None:
    try:
        expected = np.broadcast_shapes(*shapes)
    except ValueError:
        with pytest.raises(ShapeError, match="shapes do not broadcast"):
            t.broadcast_shapes("add", *shapes)
    else:
        assert t.broadcast_shapes("add", *shapes) == expected


def test_broadcasting_names() -> None:
    assert t.broadcast_shapes("add") == ()
    assert t.broadcast_shapes("add", (n, 1), (m,)) == (n, m)
    assert t.broadcast_shapes("add", (n, 3), (n, 1), (1, 1, 3)) == (1, n, 3)
    assert t.take_constraints() == ()
    assert t.broadcast_shapes("add", (n,), (3,)) == (3,)
    assert t.broadcast_shapes("add", (2, n), (m,)) == (2, n)
    assert t.take_constraints() == (
        Constraint(n, 3, "add", "sizes of axis -1"),
        Constraint(n, m, "add", "sizes of axis -1"),
    )


@pytest.mark.parametrize(
    ("shapes", "axis", "got"),
    [
        (((2, 3), (4, 3)), -2, "(2, 3) and (4, 3)"),
        (((n,), (n + 1,)), -1, "(n,) and (n + 1,)"),
        (((2,), (1,), (3,)), -1, "(2,) and (1,) and (3,)"),
    ],
)
def test_shapes_that_do_not_broadcast(shapes: Any, axis: int, got: str) -> None:
    with pytest.raises(ShapeError) as caught:
        t.broadcast_shapes("add", *shapes)
    assert str(caught.value) == (
        f"add: shapes do not broadcast: expected equal sizes or 1 on axis {axis}, got {got}"
    )


def test_axes() -> None:
    assert [t.normalize_axis(axis, 3, "sum") for axis in (-3, -1, 0, 2)] == [0, 2, 0, 2]
    assert type(t.normalize_axis(np.int64(1), 3, "sum")) is int
    assert t.normalize_axes(None, 3, "sum") == (0, 1, 2)
    assert t.normalize_axes(-1, 3, "sum") == (2,)
    assert t.normalize_axes([2, -3], 3, "sum") == (2, 0)
    assert t.normalize_axes((), 3, "sum") == ()


@pytest.mark.parametrize(
    ("axis", "ndim", "text"),
    [
        (3, 3, "sum: axis out of range: expected -3 to 2, got 3"),
        (-4, 3, "sum: axis out of range: expected -3 to 2, got -4"),
        (0, 0, "sum: axis out of range: expected none, for an array without axes, got 0"),
        (1.0, 3, "sum: axis is not an integer: got 1.0"),
        ("x", 3, "sum: axis is not an integer: got 'x'"),
        ((0, 1, -3), 3, "sum: an axis is given twice: got (0, 1, -3)"),
    ],
)
def test_axes_refused(axis: Any, ndim: int, text: str) -> None:
    with pytest.raises(ShapeError) as caught:
        t.normalize_axes(axis, ndim, "sum")
    assert str(caught.value) == text


# --------------------------------------------------------------------------- binding


def solved(declared: tuple[t.Size, ...], actual: tuple[int, ...], **known: int) -> dict[str, int]:
    bindings = dict(known)
    t.solve_dims(declared, actual, bindings)
    return bindings


def test_solving() -> None:
    assert solved((n, 3, m), (5, 3, 6)) == {"n": 5, "m": 6}
    assert solved((2 * n + 1,), (7,)) == {"n": 3}
    assert solved((5 - n,), (2,)) == {"n": 3}
    assert solved((n, n + m), (2, 6)) == {"n": 2, "m": 4}
    assert solved((n * m,), (12,), m=3) == {"m": 3, "n": 4}
    assert solved((n * m, m), (12, 3)) == {"m": 3}
    assert solved((n,), (5,), n=4) == {"n": 4}
    assert solved((n // m + k,), (5,), n=7, m=2) == {"n": 7, "m": 2, "k": 2}


@pytest.mark.parametrize(
    ("declared", "actual"),
    [
        ((2 * n,), 5),
        ((n + 5,), 3),
        ((n // 2,), 3),
        ((n * n,), 4),
        ((n + m,), 4),
        ((t.max_size(n, 3),), 5),
    ],
)
def test_what_cannot_be_solved_is_left(declared: tuple[t.Size, ...], actual: int) -> None:
    assert solved(declared, (actual,)) == {}


def test_solving_leaves_wrong_ranks_and_degenerate_products() -> None:
    assert solved((n, m), (5,)) == {}
    assert solved((n * m,), (0,), m=0) == {"m": 0}


@given(st.lists(_trees, min_size=1, max_size=3), _bindings)
def test_solving_never_contradicts(trees: list[Any], bindings: dict[str, int]) -> None:
    declared = (*(size_of(tree) for tree in trees), n, m, k)
    actual = tuple(value(size, bindings) for size in declared)
    found = solved(declared, actual)
    for _ in NAMES:
        t.solve_dims(declared, actual, found)
    if all(size >= 0 for size in actual):
        unique = {name for name in NAMES if found[name] == bindings[name]}
        assert unique == set(NAMES)
        t.check("x", declared, actual, found)


@pytest.mark.parametrize(
    ("declared", "actual", "bindings", "text"),
    [
        ((n, 3), (2,), {"n": 2}, "x: wrong number of axes: expected 2 axes, (n, 3), got (2,)"),
        ((), (2,), {}, "x: wrong number of axes: expected 0 axes, (), got (2,)"),
        ((n,), (), {}, "x: wrong number of axes: expected 1 axis, (n,), got ()"),
        ((2, 3), (2, 4), {}, "x: shape does not fit on axis 1: expected (2, 3), got (2, 4)"),
        ((n, m + 1), (2, 4), {"n": 2, "m": 2},
         "x: shape does not fit on axis 1: expected (n, m + 1) with m = 2, n = 2, got (2, 4)"),
        ((2 * n,), (5,), {},
         "x: shape does not fit on axis 0: expected (2*n,), got (5,); hint: no size n follows from "
         "the shapes; declare an axis that is just n"),
    ],
)  # fmt: skip
def test_shapes_that_do_not_fit(declared: Any, actual: Any, bindings: Any, text: str) -> None:
    with pytest.raises(ShapeError) as caught:
        t.check("x", declared, actual, bindings)
    assert str(caught.value) == text


# --------------------------------------------------------------------------- dtypes

ALL = list(t.DTYPES.values())
SCALARS: list[Any] = [True, 3, 1.5, 2j]


def test_names() -> None:
    assert list(t.DTYPES) == [
        "bool",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "float32",
        "float64",
        "complex64",
        "complex128",
    ]
    for name, dtype in t.DTYPES.items():
        assert getattr(t, "bool_" if name == "bool" else name) is dtype is t.as_dtype(name)
        assert isinstance(dtype, np.dtype)
        assert (
            t.as_dtype(dtype) is t.as_dtype(dtype.newbyteorder()) is t.as_dtype(dtype.type) is dtype
        )
        assert t.dtype_of_code(t.code(dtype)) is dtype
        assert t.code(dtype.newbyteorder()) == t.code(dtype)
    assert " ".join(map(t.code, ALL)) == "b1 i8 i16 i32 i64 u8 u16 u32 u64 f16 f32 f64 c64 c128"


def test_other_spellings() -> None:
    assert [t.as_dtype(x) for x in (bool, int, float, complex)] == [
        t.bool_, t.int64, t.float64, t.complex128,
    ]  # fmt: skip
    for c_name in ("q", "l", "i", "Q", "L"):
        assert t.as_dtype(np.dtype(c_name)) in ALL
        assert any(t.as_dtype(np.dtype(c_name)) is d for d in ALL)
        assert any(t.as_dtype(np.dtype(c_name).type) is d for d in ALL)


ONE_OF = "dtype: not an element type: expected one of bool, int8, … complex128, got "


@pytest.mark.parametrize(
    ("spelling", "got"),
    [
        ("float", "'float'"),
        (">f4", "'>f4'"),
        ("i8", "'i8'; hint: write 'int8'"),
        ("f32", "'f32'; hint: write 'float32'"),
        (None, "a NoneType"),
        (np.dtype(object), "object; hint: an array of objects cannot be differentiated; "
         "convert it with astype"),
        (np.dtype("U3"), "<U3"),
        (np.dtype("S3"), "|S3"),
        (np.dtype("datetime64[s]"), "datetime64[s]"),
        (np.dtype("timedelta64[s]"), "timedelta64[s]"),
        (np.dtype([("a", "i4")]), "[('a', '<i4')]"),
        (np.ones(3), "a ndarray"),
        ([1], "a list"),
        (str, "<class 'str'>"),
        (np.str_, "<class 'numpy.str_'>"),
    ],
)  # fmt: skip
def test_what_is_no_dtype(spelling: Any, got: str) -> None:
    with pytest.raises(DTypeError) as caught:
        t.as_dtype(spelling)
    assert str(caught.value) == ONE_OF + got


@pytest.mark.skipif(np.dtype("longdouble").itemsize == 8, reason="longdouble is float64 here")
def test_no_extended_precision() -> None:
    for kind in (np.longdouble, np.clongdouble, np.dtype("longdouble")):
        with pytest.raises(DTypeError, match="not an element type"):
            t.as_dtype(kind)


def test_kinds() -> None:
    words = {
        "bool": t.is_bool,
        "integral": t.is_integer,
        "real floating": t.is_floating,
        "complex floating": t.is_complex,
    }
    for dtype in ALL:
        assert sum(holds(dtype) for holds in words.values()) == 1
        assert t.is_inexact(dtype) == (t.is_floating(dtype) or t.is_complex(dtype))
        for word, holds in words.items():
            assert t.isdtype(dtype, word) == holds(dtype) == np.isdtype(dtype, word)
        for word in ("signed integer", "unsigned integer", "numeric"):
            assert t.isdtype(dtype, word) == np.isdtype(dtype, word)
        assert t.isdtype(dtype, dtype)
        assert t.isdtype(dtype, (t.int8, "real floating")) == np.isdtype(
            dtype, (np.int8, "real floating")
        )
    assert t.isdtype("float32", np.float32)
    with pytest.raises(ArgumentError) as caught:
        t.isdtype(t.int8, "whole")
    assert str(caught.value) == (
        "isdtype: unknown kind: expected bool, signed integer, unsigned integer, integral, "
        "real floating, complex floating, numeric, got 'whole'"
    )


def test_real_and_complex() -> None:
    for dtype in ALL:
        assert t.real_dtype(dtype) == np.zeros((), dtype).real.dtype
    assert [t.code(t.complex_dtype(d)) for d in ALL] == ["c128"] * 9 + [
        "c64",
        "c64",
        "c128",
        "c64",
        "c128",
    ]


# --------------------------------------------------------------------------- promotion


@pytest.mark.parametrize(("a", "b"), list(itertools.product(ALL, ALL)))
def test_two_dtypes_promote_as_in_numpy(a: t.DType, b: t.DType) -> None:
    assert t.promote(a, b) is t.promote(b, a) is t.result_type(a, b)
    assert t.promote(a, b) == np.result_type(a, b)
    assert t.can_cast(a, b) == np.can_cast(a, b)


@pytest.mark.parametrize(("dtype", "scalar"), list(itertools.product(ALL, SCALARS)))
def test_scalars_are_weak_as_in_numpy(dtype: t.DType, scalar: Any) -> None:
    assert t.promote(dtype, scalar) == t.promote(scalar, dtype) == np.result_type(dtype, scalar)


@given(st.lists(st.sampled_from([*ALL, *SCALARS]), min_size=1, max_size=5))
def test_many_operands_promote_as_in_numpy(operands: list[Any]) -> None:
    assert t.promote(*operands) == np.result_type(*operands)


def test_operands_of_other_kinds() -> None:
    assert t.promote(np.float32(1), 1.5) == t.float32
    assert t.promote(np.float64(1), t.float32) == t.float64
    assert t.promote(np.ones(2, ">i2"), 3) is t.int16
    assert t.promote(np.dtype(">f4")) is t.float32
    assert t.promote("float32", 1) is t.float32
    assert t.promote(float, t.float32) is t.float64

    class Level(int):
        pass

    assert t.promote(t.int8, Level(3)) is t.int8
    with pytest.raises(DTypeError, match="does not fit int8"):
        t.promote(t.int8, Level(300))


def test_integers_that_do_not_fit() -> None:
    for dtype in (d for d in ALL if t.is_integer(d)):
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        assert t.promote(dtype, int(low)) is t.promote(dtype, int(high)) is dtype
        for wrong in (int(low) - 1, int(high) + 1):
            with pytest.raises(DTypeError) as caught:
                t.promote(dtype, wrong)
            assert str(caught.value) == (
                f"promote: {wrong} does not fit {dtype.name}: expected a value from {low} to {high}"
            )
    assert t.promote(t.uint8, t.int16, 300) is t.int16
    assert t.promote(t.float32, 10**30) is t.float32
    with pytest.raises(DTypeError, match="does not fit int64"):
        t.promote(2**63)


def test_promotion_errors() -> None:
    with pytest.raises(DTypeError) as caught:
        t.promote()
    assert str(caught.value) == "promote: no operand: expected a dtype or a Python scalar"
    with pytest.raises(DTypeError, match="got object"):
        t.promote(np.array([None]), t.int8)


def test_default_dtype() -> None:
    assert (t.default_float(), t.default_complex(), t.default_int()) == (
        t.float64, t.complex128, t.int64,
    )  # fmt: skip
    assert t.promote(t.int8, 1.5) is t.float64
    t.set_default_dtype("float32")
    assert (t.default_float(), t.default_complex(), t.default_int()) == (
        t.float32, t.complex64, t.int64,
    )  # fmt: skip
    assert t.promote(t.int8, 1.5) is t.promote(1.5) is t.promote(t.bool_, 0.5) is t.float32
    assert t.promote(t.int8, 1j) is t.complex64
    assert t.promote(t.float64, 1.5) is t.float64
    assert t.promote(t.int64, t.float32) is t.float64
    assert t.as_dtype(float) is t.float32
    assert t.as_dtype(complex) is t.complex64
    t.set_default_dtype(np.float16)
    assert t.promote(1.5) is t.float16
    for wrong in (t.int8, t.complex64, bool):
        with pytest.raises(DTypeError) as caught:
            t.set_default_dtype(wrong)
        got = t.as_dtype(wrong)
        assert str(caught.value) == (
            f"set_default_dtype: not a real floating type: expected a float, got {got}"
        )
    assert t.default_float() is t.float16


# --------------------------------------------------------------------------- limits


def test_finfo() -> None:
    for dtype in (d for d in ALL if t.is_inexact(d)):
        ours, numpys = t.finfo(dtype), np.finfo(dtype)
        for field in ("bits", "eps", "max", "min", "smallest_normal"):
            assert getattr(ours, field) == getattr(numpys, field)
            assert type(getattr(ours, field)) in (int, float)
        assert ours.dtype is t.real_dtype(dtype)
    assert t.finfo(np.ones(2, np.float32)).bits == 32
    assert t.finfo(float).bits == 64
    with pytest.raises(DTypeError) as caught:
        t.finfo(t.int8)
    assert str(caught.value) == (
        "finfo: not a floating type: expected a real or complex float, got int8"
    )


def test_iinfo() -> None:
    for dtype in (d for d in ALL if t.is_integer(d)):
        ours, numpys = t.iinfo(dtype), np.iinfo(dtype)
        assert (ours.bits, ours.max, ours.min) == (numpys.bits, numpys.max, numpys.min)
        assert {type(ours.max), type(ours.min)} == {int}
        assert ours.dtype is dtype
    assert t.iinfo(np.ones(2, np.uint8)).max == 255
    with pytest.raises(DTypeError) as caught:
        t.iinfo(t.bool_)
    assert str(caught.value) == "iinfo: not an integer type: expected an integer, got bool"


def test_casts_of_arrays() -> None:
    assert t.can_cast(np.ones(2, np.int8), "int16")
    assert not t.can_cast(np.ones(2, np.int32), np.float32)
    assert t.result_type(np.ones(2, np.int8), 3, t.float32) is t.float32
