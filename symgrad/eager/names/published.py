"""What is published at top level beside the registry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symgrad.eager.names import factories, pieces, values
from symgrad.eager.names.table import CASTS, ROWS
from symgrad.eager.names.written import WRITTEN
from symgrad.ir.modes import no_grad
from symgrad.ir.op import COMPOSITES, OPS, public
from symgrad.types import as_dtype, default_float, result_type

_FACTORIES = (
    "bernoulli",
    "device",
    "manual_seed",
    "multinomial",
    "normal",
    "rand",
    "rand_like",
    "randint",
    "randn",
    "randn_like",
    "randperm",
    "tensor",
)


def _functions() -> dict[str, Callable[..., Any]]:
    written = {name: function for name, function in WRITTEN.items() if name not in _TAKEN}
    found = {**{name: public(meant) for name, meant in ROWS.items()}, **written}
    found |= {name: getattr(factories, name) for name in _FACTORIES}
    return found | _FUNCTIONS_ALONE


_FUNCTIONS_ALONE: dict[str, Callable[..., Any]] = {
    "cat": pieces.cat,
    "get_default_dtype": default_float,
    "inference_mode": no_grad,
    "is_tensor": values.is_tensor,
    "promote_types": result_type,
}
_TAKEN = frozenset(name for name, op in {**OPS, **COMPOSITES}.items() if op.namespace == "")

FUNCTIONS = _functions()
"""PyTorch's functions, by name."""

ELEMENT_TYPES = {name: as_dtype(dtype) for name, dtype in CASTS.items() if name != "bool"}
"""PyTorch's short names of element types."""
