"""What calling each op compiled costs over the bare numpy call, at 10 elements and at a million.

The bare call is the one that a numpy user writes for the same result. Where symgrad has a kernel of
its own, which numpy lacks, it is that kernel. Outputs never share memory with inputs, so where
numpy gives a view the bare call copies it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import symgrad as sg
from benchmarks.measure import Row, interleaved
from symgrad.errors import SymgradError
from symgrad.ir.op import OPS, Op
from symgrad.types import TensorType

SMALL, LARGE = 10, 10**6
Case = tuple[Callable[..., Any], Callable[..., Any], tuple[np.ndarray, ...]]
"""The call on symbols, the bare call, and the operands."""


def operands(op: Op, size: int) -> tuple[np.ndarray, ...] | None:
    """Vectors of a kind that the op takes: floats, else booleans, else integers."""
    rng = np.random.default_rng(0)
    floats = [rng.uniform(0.1, 0.9, size) for _ in op.signature.operands]
    for cast in (lambda v: v, lambda v: v > 0.5, lambda v: np.rint(v * 5).astype(np.int64)):
        given = tuple(cast(v) for v in floats)
        try:
            op.infer([TensorType(v.shape, v.dtype) for v in given], op.signature.defaults)
        except (SymgradError, TypeError):
            continue
        return given
    return None


def elementwise_cases(size: int) -> dict[str, Case]:
    """All element-wise ops: against their ufunc, or their kernel."""
    cases: dict[str, Case] = {}
    for name, op in OPS.items():
        plain = op.namespace == "" and len(op.signature.defaults) == len(op.signature.attrs)
        if op.family not in ("scalar", "elementwise") or not plain:
            continue
        given = operands(op, size)
        if given is None:
            continue
        attrs = op.signature.defaults
        if op.normalize is not None:
            attrs = op.normalize([TensorType(v.shape, v.dtype) for v in given], attrs)

        def bare(*arrays: Any, op: Op = op, attrs: dict[str, Any] = attrs) -> Any:
            result = op.kernel(*arrays, **attrs)
            return result.copy() if op.view else result

        direct = op.kernel if not attrs and not op.view else bare
        cases[name] = op, direct, given
    return cases


def array_cases(size: int) -> dict[str, Case]:
    """Ops on whole arrays, against what numpy calls them."""
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=size), rng.normal(size=size)
    side = int(size**0.5)
    m = rng.normal(size=(side, side))
    index = rng.integers(0, size, size)
    truth = x > 0
    ordered = np.sort(x)
    return {
        "sum": (sg.sum, np.sum, (x,)),
        "prod": (sg.prod, np.prod, (x,)),
        "mean": (sg.mean, np.mean, (x,)),
        "var": (sg.var, np.var, (x,)),
        "std": (sg.std, np.std, (x,)),
        "max": (sg.max, np.max, (x,)),
        "min": (sg.min, np.min, (x,)),
        "sum of rows": (lambda a: sg.sum(a, axis=1), lambda a: np.sum(a, axis=1), (m,)),
        "sum of columns": (lambda a: sg.sum(a, axis=0), lambda a: np.sum(a, axis=0), (m,)),
        "argmax": (sg.argmax, np.argmax, (x,)),
        "any": (sg.any, np.any, (truth,)),
        "all": (sg.all, np.all, (truth,)),
        "count_nonzero": (sg.count_nonzero, np.count_nonzero, (truth,)),
        "cumulative_sum": (sg.cumulative_sum, np.cumulative_sum, (x,)),
        "cumulative_prod": (sg.cumulative_prod, np.cumulative_prod, (x,)),
        "sort": (sg.sort, np.sort, (x,)),
        "argsort": (sg.argsort, lambda a: np.argsort(a, stable=True), (x,)),
        "searchsorted": (sg.searchsorted, np.searchsorted, (ordered, y)),
        "take": (sg.take, np.take, (x, index)),
        "where": (sg.where, np.where, (truth, x, y)),
        "matmul": (sg.matmul, np.matmul, (m, m)),
        "matrix times vector": (sg.matmul, np.matmul, (m, m[0].copy())),
        "vecdot": (sg.vecdot, np.vecdot, (x, y)),
        "reshape": (
            lambda a: sg.reshape(a, (-1,)), lambda a: np.reshape(a, (-1,)).copy(), (m,)
        ),
        "matrix_transpose": (sg.matrix_transpose, lambda a: a.T.copy(), (m,)),
        "flip": (sg.flip, lambda a: np.flip(a).copy(), (x,)),
        "roll": (lambda a: sg.roll(a, 3), lambda a: np.roll(a, 3), (x,)),
        "concat": (lambda a, b: sg.concat([a, b]), lambda a, b: np.concatenate([a, b]), (x, y)),
        "stack": (lambda a, b: sg.stack([a, b]), lambda a, b: np.stack([a, b]), (x, y)),
        "tril": (sg.tril, np.tril, (m,)),
        "astype": (
            lambda a: sg.astype(a, "float32"), lambda a: a.astype(np.float32), (x,)
        ),
        "slice": (lambda a: a[::2], lambda a: a[::2].copy(), (x,)),
        "nonzero": (lambda a: sg.nonzero(a)[0], lambda a: np.nonzero(a)[0], (truth,)),
        "isin": (sg.isin, np.isin, (x, y[:5].copy())),
    }  # fmt: skip


def overheads(
    size: int, excess: Callable[[float, float], float], goal: float, *, rounds: int, least: float
) -> dict[str, float]:
    """Per op what a compiled call costs over a bare one.

    An op that misses the goal is measured again, three times as long, and the second figure counts:
    of so many ops, other work on the machine disturbs some in every run.

    Args:
        size: of the operands.
        excess: of the seconds of both calls.
        goal: what it should not exceed.
        rounds, least: as for `interleaved`.
    """
    found: dict[str, float] = {}
    for name, (call, bare, given) in {**elementwise_cases(size), **array_cases(size)}.items():
        xs = [sg.placeholder(f"x{k}", v.shape, v.dtype) for k, v in enumerate(given)]
        fn = sg.function(xs, call(*xs))
        calls = {"fn": lambda f=fn, g=given: f(*g), "bare": lambda f=bare, g=given: f(*g)}
        for number in (rounds, 3 * rounds):
            with np.errstate(all="ignore"):
                times = interleaved(calls, rounds=number, least=least)
            found[name] = excess(times["fn"], times["bare"])
            if found[name] <= goal:
                break
    return found


def op_overheads() -> list[Row]:
    """How many ops keep to the goals, and by how much the others miss them."""
    rows: list[Row] = []
    extra = overheads(SMALL, lambda fn, bare: (fn - bare) * 1e6, 1.0, rounds=9, least=0.004)
    rows += summary("10 elements: a compiled call over the bare one", extra, "µs", 1.0)
    share = overheads(LARGE, lambda fn, bare: (fn / bare - 1) * 100, 3.0, rounds=7, least=0.02)
    return rows + summary("a million elements: the same", share, "%", 3.0)


def summary(what: str, figures: dict[str, float], unit: str, goal: float) -> list[Row]:
    """The median, the share within the goal, and each op beyond it."""
    ordered = sorted(figures, key=figures.__getitem__)
    median = figures[ordered[len(ordered) // 2]]
    within = [name for name in ordered if figures[name] <= goal]
    rows = [
        Row(f"{what}: median of {len(ordered)} ops", median, unit, goal),
        Row(f"{what}: ops within {goal:g} {unit}", 100 * len(within) / len(ordered), "%"),
    ]
    return rows + [
        Row(f"{what}: {name}", figures[name], unit, goal) for name in ordered[len(within) :]
    ]
