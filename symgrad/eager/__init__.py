"""Values that are computed at once."""

from __future__ import annotations

from symgrad.eager.inspection import NamespaceInfo
from symgrad.eager.tensor import Tensor

__all__ = ["NamespaceInfo", "Tensor"]
