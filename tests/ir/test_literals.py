"""Attribute values, types and small constants: exact round trips, and what is refused."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symgrad.errors import FormatError
from symgrad.ir.interning import attribute_key
from symgrad.ir.literals import (
    read_elements,
    read_literal,
    read_type,
    split,
    write_elements,
    write_literal,
)
from symgrad.types import DTYPES, Dim, TensorType, TupleType, max_size

n, m = Dim.named("n"), Dim.named("m")
NAMES = st.sampled_from(["n", "batch", "inf", "nan", "float32", "dim", "complex", "_7", "θ"])
DIMS = st.builds(
    lambda a, b, k, j: [a, k * a + j, a * b + 1, (a + j) // 2, max_size(a, j), -a][k % 6],
    NAMES.map(Dim.named),
    NAMES.map(Dim.named),
    st.integers(1, 9),
    st.integers(0, 9),
)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.complex_numbers()
    | st.text(st.characters())
    | st.sampled_from(list(DTYPES.values()))
    | DIMS
    | st.just(...)
)
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=4).map(tuple), max_leaves=8)


@given(VALUES)
def test_every_value_survives(value: object) -> None:
    text = write_literal(value)
    assert "\n" not in text
    assert attribute_key(read_literal(text)) == attribute_key(value)
    assert write_literal(read_literal(text)) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-0.0, "-0.0"),
        (1e300, "1e+300"),
        (math.inf, "inf"),
        (-math.nan, "-nan"),
        (struct.unpack(">d", bytes.fromhex("7ff8000000000001"))[0], "nan(7ff8000000000001)"),
        (complex(0.0, -0.0), "complex(0.0, -0.0)"),
        (complex(math.nan, math.inf), "complex(nan, inf)"),
        ((), "()"),
        ((1,), "(1,)"),
        ((1, (2.0, True)), "(1, (2.0, True))"),
        ('a "b"\n(', '"a \\"b\\"\\n("'),
        ("θ", '"θ"'),
        ("\ud800", '"\\ud800"'),
        (np.dtype("float32"), "float32"),
        ((n + 1) // 2, "(n + 1)//2"),
        (((n + 1) // 2, 3), "((n + 1)//2, 3)"),
        (((n * m + 1) // (n + 2),), "((m*n + 1)//(n + 2),)"),
        (Dim.named("inf"), "dim(inf)"),
        (-Dim.named("nan"), "dim(-nan)"),
        (Dim.named("float32"), "dim(float32)"),
    ],
)
def test_texts(value: object, text: str) -> None:
    assert write_literal(value) == text
    assert attribute_key(read_literal(text)) == attribute_key(value)


@pytest.mark.parametrize("value", [print, object(), [1], {"a": 1}, np.zeros(2), slice(1), b"x"])
def test_no_literal(value: object) -> None:
    with pytest.raises(FormatError, match="a value has no text form: got a "):
        write_literal(value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "(",
        ")",
        "(1",
        "1)",
        "(1)",
        "(,)",
        "(1,,2)",
        '"',
        '"a',
        '"\\q"',
        '"a" "b"',
        "1 2",
        "1or 2",
        "0x10",
        "1_000",
        "n.m",
        "f(n)",
        "max(n)",
        "__import__('os')",
        "lambda: 0",
        "[1]",
        "n if n else n",
        "n/2",
        "n//0",
        "2**n",
        "n**99999",
        "complex(1, 2)",
        "complex(1.0)",
        "nan(0000000000000000)",
        "nan(1)",
        "dim()",
        "True + 1",
        "9" * 5000,
        "(" * 50 + ")" * 50,
        "(" * 100_000,
        "-" * 100_000 + "n",
        "\x00",
        "1; 2",
        "n\u2028m",
    ],
)
def test_refused(text: str) -> None:
    with pytest.raises(FormatError):
        read_literal(text)


@given(st.sampled_from(list(DTYPES.values())), st.binary(max_size=64), st.booleans())
def test_every_constant_survives(dtype: np.dtype, data: bytes, column: bool) -> None:
    if dtype.kind == "b":
        data = bytes(byte & 1 for byte in data)
    array = np.frombuffer(data[: len(data) // dtype.itemsize * dtype.itemsize], dtype)
    if column:
        array = array.reshape(-1, 1)
    again = read_elements(write_elements(array), dtype, array.shape)
    assert (again.dtype, again.shape) == (array.dtype, array.shape)
    assert again.tobytes() == array.tobytes()


def test_constants_read_well() -> None:
    assert write_elements(np.array([0.1, 1 / 3], "float32")) == "[0.1, 0.33333334]"
    assert write_elements(np.array(0.1, "float16")) == "0.1"
    assert write_elements(np.array([[True], [False]])) == "[True, False]"
    assert write_elements(np.array([1 - 2j, -0j], "complex64")) == (
        "[complex(1.0, -2.0), complex(-0.0, -0.0)]"
    )
    assert write_elements(np.zeros((0, 3))) == "[]"
    odd = np.array([0x7FA00001], "uint32").view("float32")
    assert write_elements(odd) == 'bytes "0100a07f"'


@pytest.mark.parametrize(
    ("text", "dtype", "shape"),
    [
        ("[1.0, 2.0]", "float64", (3,)),
        ("1.0", "float64", (n,)),
        ("1.0", "float64", (10**30,)),
        ("1.5", "int64", ()),
        ("1", "bool", ()),
        ("True", "float64", ()),
        ("300", "uint8", ()),
        ("-1", "uint64", ()),
        ("1e300", "float32", ()),
        ("9" * 400, "float64", ()),
        ('"a"', "float64", ()),
        ("n", "int64", ()),
        ('bytes "00"', "float64", ()),
        ('bytes "zz"', "bool", ()),
        ("bytes 00", "bool", ()),
        ("[1.0", "float64", (1,)),
    ],
)
def test_constants_refused(text: str, dtype: str, shape: tuple[int, ...]) -> None:
    with pytest.raises(FormatError):
        read_elements(text, np.dtype(dtype), shape)


@pytest.mark.parametrize("dtype", DTYPES)
def test_types_survive(dtype: str) -> None:
    one = TensorType((n, max_size(m, 3), (n + 1) // 2, 0), dtype)
    for kind in (
        one,
        TensorType((), dtype),
        TupleType([one, one]),
        TupleType([one]),
        TupleType([]),
    ):
        assert read_type(str(kind)) == kind


@pytest.mark.parametrize(
    "text",
    ["", "f64", "f64[", "f64]", "f65[3]", "f64[-1]", "f64[3,,4]", "f64[(3]", "(f64[3]", "[3]",
     "f64[1.5]", "f64[3] f64[3]", "f64[print(1)]", "(f64[3]),", "f64[1or 2]", "f64['a']",
     "f64[" + "n," * 10_000],
)  # fmt: skip
def test_types_refused(text: str) -> None:
    with pytest.raises(FormatError):
        read_type(text)


def test_split() -> None:
    assert split('a, (b, "),"), c=[1, 2],') == ["a", '(b, "),")', "c=[1, 2]", ""]
    with pytest.raises(FormatError, match="brackets in pairs"):
        split("(a), b)")
