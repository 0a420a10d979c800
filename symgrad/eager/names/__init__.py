"""PyTorch's spellings: names beside the array API's, published as functions and as methods."""

from __future__ import annotations

from symgrad.eager.names import changes, methods
from symgrad.eager.names.published import ELEMENT_TYPES, FUNCTIONS

__all__ = ["ELEMENT_TYPES", "FUNCTIONS"]

methods.install()
changes.install()
