"""What all families of ops share: operands, kinds of element types, registering."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from symgrad.errors import DTypeError
from symgrad.ir.op import Op, register
from symgrad.ir.signature import Signature
from symgrad.types import is_bool, is_complex, is_inexact, is_integer

if TYPE_CHECKING:
    # To a type checker anything: an op may be called on symbols, tensors, arrays and numbers alike.
    Array: TypeAlias = Any
else:

    class Array:
        """The annotation of an operand: what a kernel computes on."""


Kernel: TypeAlias = Callable[..., Any]
Rule: TypeAlias = Any
"""A rule written in ops, as its decorator documents it; or one of the kinds of nothing."""

_KINDS: dict[str, Callable[[np.dtype[Any]], bool]] = {
    "any": lambda d: True,
    "numeric": lambda d: not is_bool(d),
    "real": lambda d: not is_bool(d) and not is_complex(d),
    "real or bool": lambda d: not is_complex(d),
    "inexact": is_inexact,
    "floating": lambda d: is_inexact(d) and not is_complex(d),
    "complex": is_complex,
    "integer": is_integer,
    "integer or bool": lambda d: is_integer(d) or is_bool(d),
    "bool": is_bool,
}


def require_kind(where: str, dtype: np.dtype[Any], kind: str, argument: str = "x") -> None:
    """Refuse an element type that an op does not take."""
    if not _KINDS[kind](dtype):
        raise DTypeError(where, f"element type of {argument}", expected=kind, got=dtype)


def declared(kernel: Kernel, family: str, signature: Signature, **facets: Any) -> Op:
    """The op of this kernel, entered into the registry."""
    facets.setdefault("name", kernel.__name__)
    return register(
        Op(family=family, kernel=kernel, signature=signature, doc=kernel.__doc__ or "", **facets)
    )
