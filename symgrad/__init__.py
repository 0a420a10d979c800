"""symgrad: declare each op once, build its derivative as a graph, run it fast.

This module is the public namespace, and the array API's: every op of the library appears here under
its name, entered from the registry, so that declaring an op is all there is to adding one.
"""

from __future__ import annotations

import importlib as _importlib
import math as _math
import sys as _sys
import types as _types
from importlib.util import find_spec as _find_spec
from typing import Any as _Any

from symgrad.compare import compare
from symgrad.eager import NamespaceInfo as __array_namespace_info__
from symgrad.eager import Tensor
from symgrad.eager import backward as _backward
from symgrad.eager.names import ELEMENT_TYPES as _ELEMENT_TYPES
from symgrad.eager.names import FUNCTIONS as _FUNCTIONS
from symgrad.errors import (
    AnomalyError,
    ArgumentError,
    AxisError,
    DTypeError,
    ExtraMissing,
    FeedError,
    FormatError,
    GradientError,
    InPlaceError,
    InternalError,
    NotDifferentiable,
    OutOfRange,
    RuleMissing,
    SeedError,
    ShapeError,
    SymgradError,
    TraceError,
)
from symgrad.function import Function, evaluate, function
from symgrad.io import load, save
from symgrad.ir.graph import Graph
from symgrad.ir.modes import (
    detect_anomaly,
    enable_grad,
    is_anomaly_enabled,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)
from symgrad.ir.op import COMPOSITES as _COMPOSITES
from symgrad.ir.op import OPS as _OPS
from symgrad.ir.op import Op
from symgrad.ir.symbol import Symbol, constant, placeholder, variable
from symgrad.ir.text import parse, print_graph
from symgrad.ir.walk import substitute
from symgrad.ops.generator import Generator as _Generator
from symgrad.trace import jit, trace
from symgrad.transform import explain, grad, jvp, nth_derivative, value_and_grad, vjp
from symgrad.types import DTYPES as _DTYPES
from symgrad.types import (
    Dim,
    TensorType,
    can_cast,
    default_float,
    finfo,
    iinfo,
    isdtype,
    result_type,
    set_default_dtype,
)

__version__ = "0.1.0"
__array_api_version__ = "2025.12"

e, pi, inf, nan, newaxis = _math.e, _math.pi, _math.inf, _math.nan, None

# What is written in this file; `_publish` adds what the registry holds.
__all__ = [
    "AnomalyError",
    "ArgumentError",
    "AxisError",
    "DTypeError",
    "Dim",
    "ExtraMissing",
    "FeedError",
    "FormatError",
    "Function",
    "GradientError",
    "Graph",
    "InPlaceError",
    "InternalError",
    "NotDifferentiable",
    "Op",
    "OutOfRange",
    "RuleMissing",
    "SeedError",
    "ShapeError",
    "Symbol",
    "SymgradError",
    "Tensor",
    "TensorType",
    "TraceError",
    "__array_api_version__",
    "__array_namespace_info__",
    "__version__",
    "can_cast",
    "compare",
    "constant",
    "default_float",
    "detect_anomaly",
    "e",
    "enable_grad",
    "evaluate",
    "explain",
    "finfo",
    "function",
    "grad",
    "iinfo",
    "inf",
    "is_anomaly_enabled",
    "is_grad_enabled",
    "isdtype",
    "jit",
    "jvp",
    "load",
    "nan",
    "newaxis",
    "no_grad",
    "nth_derivative",
    "parse",
    "pi",
    "placeholder",
    "print_graph",
    "result_type",
    "save",
    "set_default_dtype",
    "set_grad_enabled",
    "substitute",
    "trace",
    "value_and_grad",
    "variable",
    "vjp",
]

# Element types that are there, but not listed: a star import leaves Python's own alone.
_PYTHONS = ("float", "int")

# The array API names these in `linalg` as well.
_ALSO_IN = {"linalg": ("diagonal", "matmul", "matrix_transpose", "outer", "tensordot", "vecdot")}


def _space(name: str) -> dict[str, _Any]:
    """The names of a namespace below this one; it can be imported like a module."""
    path = f"{__name__}.{name}"
    if path not in _sys.modules:
        module = _types.ModuleType(path, f"The ops of ``{path}``.")
        globals()[name] = _sys.modules[path] = module
    return vars(_sys.modules[path])


# Functions of sub-packages that are loaded when they are first asked for.
_LATER = {"draw": "inspect"}


def _publish() -> None:
    """Enter the registry into this module and its namespaces."""
    registry: dict[str, _Any] = {**_OPS, **_COMPOSITES}
    public: dict[str, _Any] = dict(_DTYPES)
    spaces: dict[str, dict[str, _Any]] = {}
    for name, op in registry.items():
        if op.namespace is not None:
            target = spaces.setdefault(op.namespace, {}) if op.namespace else public
            target[name.rpartition(".")[2]] = op
    public.update(_FUNCTIONS)
    public.update((n, d) for n, d in _ELEMENT_TYPES.items() if n not in _PYTHONS)
    spaces["random"]["Generator"] = _Generator
    spaces["autograd"] = {"backward": _backward, "grad": grad}
    for space, names in _ALSO_IN.items():
        spaces.setdefault(space, {}).update((n, public[n]) for n in names if n in public)
    for space, entries in spaces.items():
        _space(space).update(entries, __all__=[*entries])
    globals().update(public, __all__=[*__all__, *public, *spaces, *_LATER])


_publish()

# Sub-packages that are loaded when they are first asked for, and what they hold.
_LAZY = {
    "data": "data sets, and batches of them",
    "func": "transformations of Python functions; sg.grad differentiates symbols",
    "inspect": "pictures of graphs and records",
    "optim": "optimisers, and schedules of their learning rates",
    "testing": "checks of derivatives, and samples of arrays",
}


def _is_there(name: str) -> bool:
    return _find_spec(f"{__name__}.{name}") is not None


def __getattr__(name: str) -> _Any:
    if name in _PYTHONS:
        return _ELEMENT_TYPES[name]
    if name in _LATER:
        return getattr(_importlib.import_module(f"{__name__}.{_LATER[name]}"), name)
    problem = f"module {__name__!r} has no attribute {name!r}"
    if name in _LAZY:
        if _is_there(name):
            return _importlib.import_module(f"{__name__}.{name}")
        problem += f": this version lacks it ({_LAZY[name]})"
    # With name and object, Python suggests a similar name.
    raise AttributeError(problem, name=name, obj=_sys.modules[__name__])


def __dir__() -> list[str]:
    return [*globals()["__all__"], *filter(_is_there, _LAZY)]
