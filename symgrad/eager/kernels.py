"""Watching the kernels of eager calls."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeAlias

from symgrad.eager.plans import Plan

Kernel: TypeAlias = Callable[..., Any]
Watch: TypeAlias = Callable[[Plan, Kernel, tuple[Any, ...]], Any]
"""``watch(plan, kernel, operands)`` runs ``kernel(*operands)`` and gives the result."""


@contextmanager
def watching_kernels(watch: Watch) -> Generator[None]:
    """Have ``watch`` called for each kernel that an eager call of this thread runs in the block.

    It stands where no call can go past it: before whatever a plan runs.
    """
    slot: Any = vars(Plan)["run"]
    thread = threading.get_ident()

    def kernel_of(plan: Plan) -> Kernel:
        kernel = slot.__get__(plan)
        return partial(_watched, plan, kernel) if threading.get_ident() == thread else kernel

    def _watched(plan: Plan, kernel: Kernel, *operands: Any) -> Any:
        return watch(plan, kernel, operands)

    setattr(Plan, "run", property(kernel_of, slot.__set__))  # noqa: B010  # to pyright no slot
    try:
        yield
    finally:
        setattr(Plan, "run", slot)  # noqa: B010
