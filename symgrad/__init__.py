"""symgrad: declare each op once, build its derivative as a graph, run it fast.

This module is the public namespace, and the array API's: every op of the library appears here under its
name, entered from the registry, so that declaring an op is all there is to adding one.
"""

from __future__ import annotations

import importlib
import math
import types as _types
from typing import Any

import symgrad.ops  # noqa: F401  # declares the ops
from symgrad.eager import Tensor
from symgrad.errors import (
    ArgumentError,
    DTypeError,
    ExtraMissing,
    FeedError,
    FormatError,
    GradientError,
    InPlaceError,
    InternalError,
    OutOfRange,
    RuleMissing,
    ShapeError,
    SymgradError,
    TraceError,
)
from symgrad.function import Function, evaluate, function
from symgrad.io import load, save
from symgrad.ir.graph import Graph
from symgrad.ir.op import COMPOSITES, OPS, Op
from symgrad.ir.symbol import Symbol, constant, placeholder, variable
from symgrad.ir.text import parse, print_graph
from symgrad.ir.walk import substitute
from symgrad.transform import explain, grad, jvp, nth_derivative, value_and_grad, vjp
from symgrad.types import DTYPES, Dim, TensorType, default_float, finfo, iinfo, isdtype
from symgrad.types import can_cast, result_type, set_default_dtype

__version__ = "0.1.0"
__array_api_version__ = "2025.12"

e, pi, inf, nan, newaxis = math.e, math.pi, math.inf, math.nan, None


def _publish() -> None:
    """Enter the registry into this module, by namespace."""
    for name, op in (OPS | COMPOSITES).items():
        if op.namespace is None:
            continue
        target = globals()
        if op.namespace:
            space = target.setdefault(op.namespace, _types.SimpleNamespace())
            target = vars(space)
        target[name] = op
    globals().update(DTYPES)


_publish()

_LAZY = {"testing": "symgrad.testing", "io": "symgrad.io"}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return importlib.import_module(_LAZY[name])
    raise AttributeError(f"module 'symgrad' has no attribute {name!r}")
