"""The op library: one declaration per op; importing it fills the registry."""

from __future__ import annotations

from symgrad.ops import (  # noqa: F401  # each fills the registry
    scalar,
    elementwise,
    movement,
    axes,
    joining,
    creation,
    reduce,
    contract,
    conv,
    pool,
    indexing,
    sorting,
    linalg,
    random,
    composite,
)
