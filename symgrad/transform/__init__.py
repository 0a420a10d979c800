"""Graph to graph: reverse and forward mode, and what users call. None of it names an op."""

from __future__ import annotations

from symgrad.transform.explain import explain
from symgrad.transform.functional import grad, jvp, nth_derivative, value_and_grad, vjp

__all__ = ["explain", "grad", "jvp", "nth_derivative", "value_and_grad", "vjp"]
