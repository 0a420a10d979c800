"""`compare`: one function in every mode and backend, held against each other."""

from __future__ import annotations

from symgrad.compare.comparing import compare
from symgrad.compare.report import Comparison, Refusal, Row

__all__ = ["Comparison", "Refusal", "Row", "compare"]
