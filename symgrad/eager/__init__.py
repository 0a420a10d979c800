"""Values that are computed at once."""

from __future__ import annotations

from symgrad.eager.apply import apply_eager
from symgrad.eager.autograd import backward
from symgrad.eager.expansions import expand
from symgrad.eager.inplace import change
from symgrad.eager.inspection import NamespaceInfo
from symgrad.eager.tensor import Tensor

__all__ = ["NamespaceInfo", "Tensor", "apply_eager", "backward", "change", "expand"]
