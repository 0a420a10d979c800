"""Python functions into graphs: `trace`, and `jit`, which compiles and remembers them."""

from __future__ import annotations

from symgrad.trace.jitted import CacheInfo, Jitted, jit
from symgrad.trace.tracing import TracedGraph, trace

__all__ = ["CacheInfo", "Jitted", "TracedGraph", "jit", "trace"]
