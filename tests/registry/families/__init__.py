"""Rows of the tables of tests.registry, a module per family of ops.

A module holds any of the tables under their names: SAMPLES, COMPOSITE_SAMPLES, DOMAINS, ATTRIBUTES
(see `tests.registry.samples`), FORMULAS (`closed_forms`), ROWS, SECOND (`conventions`), REFERENCES
(`references`), NUMPY, LIMITS (`test_special_values`).
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any


def gathered(table: str) -> list[Any]:
    """The rows of this table from all modules here: entries of dictionaries as pairs."""
    rows: list[Any] = []
    for module in sorted(info.name for info in pkgutil.iter_modules(__path__)):
        found = getattr(importlib.import_module(f"{__name__}.{module}"), table, [])
        rows += found.items() if isinstance(found, dict) else found
    return rows


def extend(table: dict[str, list[Any]], name: str) -> None:
    """Add the rows of all modules here to a table; a name may have rows in several."""
    for key, rows in gathered(name):
        table[key] = [*table.get(key, []), *rows]
