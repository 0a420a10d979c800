"""The op library: one declaration per op; importing it fills the registry."""

from __future__ import annotations

from symgrad.ops import (
    axes,
    composite,
    contract,
    conv,
    creation,
    elementwise,
    indexing,
    joining,
    linalg,
    movement,
    padding,
    pool,
    random,
    ranges,
    reduce,
    scalar,
    searching,
    sets,
    sorting,
)

__all__ = [
    "axes",
    "composite",
    "contract",
    "conv",
    "creation",
    "elementwise",
    "indexing",
    "joining",
    "linalg",
    "movement",
    "padding",
    "pool",
    "random",
    "ranges",
    "reduce",
    "scalar",
    "searching",
    "sets",
    "sorting",
]
