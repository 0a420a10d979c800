"""Backends: what turns a graph into something that runs.

A backend is a folder here and one row in the table below.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import cast

from symgrad.backends.base import Backend
from symgrad.errors import ArgumentError

BACKENDS = {"numpy": "symgrad.backends.numpy"}
"""The module of each backend; its ``BACKEND`` is loaded when first asked for."""

DEFAULT = "numpy"


@cache
def _load(name: str) -> Backend:
    return importlib.import_module(BACKENDS[name]).BACKEND


def find_backend(backend: str | Backend | None) -> Backend:
    """The backend that is meant: by name, itself, or the default.

    >>> find_backend(None).name
    'numpy'
    """
    if backend is None:
        return _load(DEFAULT)
    if isinstance(backend, str) and backend in BACKENDS:
        return _load(backend)
    if not hasattr(backend, "compile"):
        raise ArgumentError(
            "function", "no such backend", expected=", ".join(BACKENDS), got=repr(backend)
        )
    return cast("Backend", backend)
