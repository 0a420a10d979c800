"""What the namespace can do, as the array API asks for it."""

from __future__ import annotations

from typing import Any

from symgrad.dtype_info import isdtype
from symgrad.ops.conversion import require_cpu
from symgrad.types import DTYPES, DType, default_complex, default_float, default_int


class NamespaceInfo:
    """The answer to ``__array_namespace_info__()``.

    >>> import symgrad as sg
    >>> sg.__array_namespace_info__().default_device()
    'cpu'
    """

    __slots__ = ()

    def capabilities(self) -> dict[str, Any]:
        """Which optional parts of the standard there are.

        In a graph, a size that depends on values is a dimension of a made-up name, which is bound
        when the graph runs.
        """
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        """The device of a new tensor."""
        return "cpu"

    def devices(self) -> tuple[str, ...]:
        """All devices."""
        return ("cpu",)

    def default_dtypes(self, *, device: Any = None) -> dict[str, DType]:
        """The element types of Python numbers, and of indices."""
        require_cpu("default_dtypes", device)
        return {
            "real floating": default_float(),
            "complex floating": default_complex(),
            "integral": default_int(),
            "indexing": default_int(),
        }

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, DType]:
        """The standard's element types by name; float16, which it does not know, is left out.

        Args:
            device: None or "cpu".
            kind: as for `isdtype`; None means all.
        """
        require_cpu("dtypes", device)
        standard = {name: d for name, d in DTYPES.items() if name != "float16"}
        return {name: d for name, d in standard.items() if kind is None or isdtype(d, kind)}
