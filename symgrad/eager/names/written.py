"""The table of functions that are written here, not only named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

WRITTEN: dict[str, Callable[..., Any]] = {}
"""By name. Each serves tensors and symbols, and is a method with its first parameter as well."""


def spelling(function: Callable[..., Any]) -> Callable[..., Any]:
    """Publish a function, and as a method."""
    WRITTEN[function.__name__] = function
    return function
