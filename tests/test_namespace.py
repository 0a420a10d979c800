"""The public namespace: what is in it, where it comes from, and what importing it costs."""

from __future__ import annotations

import builtins
import importlib
import math
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError
from symgrad.ir.op import COMPOSITES, OPS
from symgrad.types import DTYPES

REGISTRY = {**OPS, **COMPOSITES}

# https://data-apis.org/array-api/2025.12: the parts that need neither sets nor a size that depends
# on values.
STANDARD = """
abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_invert bitwise_left_shift
bitwise_or bitwise_right_shift bitwise_xor ceil clip conj copysign cos cosh divide equal exp expm1
floor floor_divide greater greater_equal hypot imag isfinite isinf isnan less less_equal log log1p
log2 log10 logaddexp logical_and logical_not logical_or logical_xor maximum minimum multiply
negative nextafter not_equal positive pow real reciprocal remainder round sign signbit sin
sinh sqrt square subtract tan tanh trunc
arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid ones ones_like tril
triu zeros zeros_like
astype broadcast_arrays broadcast_shapes broadcast_to can_cast finfo iinfo isdtype result_type
concat expand_dims flip moveaxis permute_dims repeat reshape roll squeeze stack tile unstack
argmax argmin count_nonzero searchsorted where argsort sort take take_along_axis
cumulative_prod cumulative_sum max mean min prod std sum var all any diff
matmul matrix_transpose tensordot vecdot
bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128
e inf nan newaxis pi __array_namespace_info__ __array_api_version__
""".split()
LINALG = """
cholesky cross det diagonal eig eigh eigvals eigvalsh inv matmul matrix_norm matrix_power
matrix_rank matrix_transpose outer pinv qr slogdet solve svd svdvals tensordot trace vecdot
vector_norm
""".split()
OWN = """
placeholder variable constant substitute Graph function evaluate grad vjp jvp value_and_grad
nth_derivative explain save load set_default_dtype stop_gradient Tensor Symbol Dim
ShapeError DTypeError GradientError InPlaceError TraceError RuleMissing FeedError
""".split()


@pytest.mark.parametrize("name", [*STANDARD, *OWN])
def test_the_namespace_has(name: str) -> None:
    assert hasattr(sg, name)
    assert name in dir(sg)
    assert name in sg.__all__


@pytest.mark.parametrize("name", LINALG)
def test_linalg_has(name: str) -> None:
    assert name in sg.linalg.__all__
    assert getattr(sg.linalg, name) in REGISTRY.values()


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_every_op_is_where_its_declaration_says(name: str) -> None:
    op = REGISTRY[name]
    spaces = {n: m for n, m in vars(sg).items() if type(m) is ModuleType and n in sg.__all__}
    last = name.rpartition(".")[2]
    homes = [path for path, space in spaces.items() if vars(space).get(last) is op]
    if op.namespace == "":
        assert getattr(sg, name) is op
    elif op.namespace is None:
        assert getattr(sg, name, None) is not op
        assert not homes
    else:
        assert op.namespace in homes
        assert getattr(sg, name, None) is not op


def test_namespaces_can_be_imported() -> None:
    assert importlib.import_module("symgrad.linalg") is sg.linalg
    assert importlib.import_module("symgrad.random") is sg.random
    assert "linalg" in repr(sg.linalg)


def test_a_star_import_takes_what_is_public() -> None:
    names: dict[str, object] = {}
    exec("from symgrad import *", names)
    assert names["sin"] is sg.sin
    assert names["linalg"] is sg.linalg
    assert not {"np", "math", "importlib", "Any", "annotations"} & names.keys()
    assert len(set(sg.__all__)) == len(sg.__all__)


def test_nothing_else_is_public() -> None:
    """What is neither listed nor private is a module of the package."""
    others = {n: v for n, v in vars(sg).items() if n not in sg.__all__ and not n.startswith("_")}
    others.pop("annotations")
    assert all(isinstance(value, ModuleType) for value in others.values()), others
    assert all(value.__name__.startswith("symgrad.") for value in others.values())


def test_unknown_names() -> None:
    with pytest.raises(AttributeError, match=r"module 'symgrad' has no attribute 'sine'"):
        _ = sg.sine
    with pytest.raises(ImportError, match="cannot import name 'sine'"):
        exec("from symgrad import sine")


def test_constants_and_element_types() -> None:
    assert (sg.e, sg.pi, sg.inf, sg.newaxis) == (math.e, math.pi, math.inf, None)
    assert math.isnan(sg.nan)
    for name, dtype in DTYPES.items():
        assert getattr(sg, name) is dtype
    assert sg.bool == np.dtype(builtins.bool)


def test_the_array_api_protocol() -> None:
    t = sg.asarray([1.0])
    assert t.__array_namespace__() is sg
    assert t.__array_namespace__(api_version=sg.__array_api_version__) is sg
    assert re.fullmatch(r"20\d\d\.12", sg.__array_api_version__)
    with pytest.raises(ArgumentError, match="__array_namespace__: unknown version"):
        t.__array_namespace__(api_version="1999.12")


def test_what_the_namespace_says_of_itself() -> None:
    info = sg.__array_namespace_info__()
    assert info.devices() == (info.default_device(),) == (sg.zeros(1).device,)
    assert info.capabilities()["max dimensions"] >= 32
    defaults = info.default_dtypes()
    assert defaults["real floating"] == sg.asarray(1.0).dtype
    assert defaults["complex floating"] == sg.asarray(1j).dtype
    assert defaults["integral"] == defaults["indexing"] == sg.asarray(1).dtype
    assert info.dtypes() == {n: d for n, d in DTYPES.items() if n != "float16"}
    assert info.dtypes(kind=("bool", "complex floating")).keys() == {
        "bool",
        "complex64",
        "complex128",
    }
    with pytest.raises(ArgumentError, match="unknown device"):
        info.dtypes(device="gpu")


# --- what an import costs -------------------------------------------------------------------------


def in_fresh_python(code: str, bytecode: Path) -> str:
    """The output of a program in a process of its own, whose imports are compiled already."""
    environment = {
        **os.environ,
        "PYTHONPYCACHEPREFIX": str(bytecode),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    ).stdout


def test_an_import_loads_nothing_that_it_does_not_need(tmp_path: Path) -> None:
    modules = in_fresh_python("import sys, symgrad; print(*sys.modules)", tmp_path).split()
    extras = {
        "networkx",
        "scipy",
        "sklearn",
        "matplotlib",
        "rich",
        "mpmath",
        "llvmlite",
        "jax",
        "onnx",
    }
    assert not extras & {name.partition(".")[0] for name in modules}
    assert "symgrad.testing" not in modules


def test_parts_are_loaded_when_asked_for(tmp_path: Path) -> None:
    code = "import sys, symgrad; symgrad.testing; print('symgrad.testing' in sys.modules)"
    assert in_fresh_python(code, tmp_path).strip() == "True"
