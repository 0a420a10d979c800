"""Branch safety: the derivative of a branch that was not taken is zero, whatever it would be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import symgrad as sg
from symgrad.ir.op import OPS, Op
from symgrad.ir.symbol import Symbol, constant
from symgrad.testing.gradients import normal_direction
from symgrad.types import is_complex, is_inexact
from tests.registry.running import run
from tests.registry.samples import INDEXED, Sample, samples_of
from tests.registry.variants import close, inexact, placeholders

WILD = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e308, -2.0, 5e-324])
ORDINARY = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 1e-300, 30.0])
LIVE = np.arange(10) % 2 == 0


def branch_not_taken_is_silent(name: str) -> None:
    """``where(c, g(x), 0)`` has derivative 0 where c is false, whatever g's partial is there.

    Where c is true, it is g's own derivative. Both of first and second order.
    """
    op = OPS[name]
    for sample in samples_of(name):
        y = sample.apply(op, placeholders(list(sample.operands)))[0]
        kinds = {v.dtype.kind for v in sample.operands}
        if sample.note or kinds != {"f"} or not is_inexact(y.dtype) or is_complex(y.dtype):
            continue
        good = [np.resize(v, 10) for v in sample.operands]
        wild = [np.where(LIVE, v, np.roll(WILD, k)) for k, v in enumerate(good)]
        for level in ("none", None):
            plain = two_orders(sample, op, good, None, level)
            for negated in (False, True):
                guarded = two_orders(sample, op, wild, negated, level)
                for k, (found, wanted) in enumerate(zip(guarded, plain, strict=True)):
                    where = f"{name}, derivative {k}, level {level}"
                    at = [v[~LIVE] for v in wild]
                    assert np.all(found[~LIVE] == 0), f"{where}: {found[~LIVE]} at {at}"
                    close(found[LIVE], wanted[LIVE], 1e-9)


def two_orders(
    sample: Sample, op: Op, values: Sequence[np.ndarray], negated: bool | None, level: Any
) -> list[Any]:
    """First and second derivatives, behind a selection unless ``negated`` is None."""
    xs = placeholders(values)
    y = sample.apply(op, xs)[0]
    condition = constant(LIVE)
    if negated is not None:
        y = sg.where(~condition, 0, y) if negated else sg.where(condition, y, 0)
    first = sg.grad(sg.sum(y), xs, mode="reverse", level=level)
    second = sg.grad(weighted(first), xs, materialize_grads=True, mode="reverse", level=level)
    return run([*first, *second], dict(zip(xs, values, strict=True)))


def weighted(symbols: Sequence[Symbol]) -> Symbol:
    """A number that depends on every element of every symbol."""
    total: Any = 0
    for k, symbol in enumerate(symbols):
        weights = normal_direction(np.random.default_rng(k), np.zeros(symbol.shape))
        total = total + sg.sum(symbol * constant(weights))
    return total


OPTIONS: Any = {"materialize_grads": True, "mode": "reverse", "level": "none"}


def guard_passes_through(name: str) -> None:
    """Where a selection behind an op leaves an element of an operand without influence, an infinite
    slope before the op meets a zero that stays zero."""
    if name not in OPS or OPS[name].guard == "drop":
        return
    for sample in samples_of(name):
        if sample.smooth and (name in INDEXED or not sample.structured):
            for k, value in enumerate(sample.operands):
                if np.asarray(value).dtype.kind == "f":
                    _passes_to(OPS[name], sample, k)


def _passes_to(op: Op, sample: Sample, k: int) -> None:
    values = [np.asarray(v) for v in sample.operands]
    xs = placeholders(values)
    outputs = inexact(sample.apply(op, xs))
    if not outputs or is_complex(outputs[0].dtype):
        return
    keep = constant(np.random.default_rng(3).uniform(size=outputs[0].shape) < 0.3)
    feeds = dict(zip(xs, values, strict=True))
    chosen = sg.grad(sg.sum(sg.where(keep, outputs[0], 0)), xs[k], **OPTIONS)
    free = sg.grad(sg.sum(outputs[0]), xs[k], **OPTIONS)
    # What the selection, and nothing else, cuts off; there the operand is set to 0.
    dead = np.asarray((run(chosen, feeds)[0] == 0) & (run(free, feeds)[0] != 0))
    base = np.where(dead, 0.0, values[k])
    dead &= run(chosen, {**feeds, xs[k]: base})[0] == 0
    # The operand is cbrt(u), whose slope is infinite at 0 and nowhere else.
    inner = sample.apply(op, [sg.cbrt(x) if j == k else x for j, x in enumerate(xs)])[0]
    gradient = sg.grad(sg.sum(sg.where(keep, inner, 0)), xs[k], **OPTIONS)
    (found,) = run(gradient, {**feeds, xs[k]: base**3})
    assert np.all(found[dead] == 0), (
        f"{op.name}{[v.shape for v in values]}{sample.attrs}, operand {k}: "
        f"the derivative where nothing depends is {found[dead]}"
    )


def losing_side_is_silent(name: str) -> None:
    """``maximum(g(x), c)`` has derivative 0 where c is larger, whatever g's partial is there.

    An op that does not say that it restricts its domain has finite partials at all ordinary points.
    """
    op = OPS[name]
    for sample in samples_of(name):
        y = sample.apply(op, placeholders(list(sample.operands)))[0]
        if {v.dtype.kind for v in sample.operands} != {"f"} or not is_inexact(y.dtype):
            continue
        count = len(sample.operands)
        points = WILD if op.restricts_domain else ORDINARY
        pairs = np.stack(np.meshgrid(*[points] * count), axis=-1).reshape(-1, count)
        values = [np.ascontiguousarray(column) for column in pairs.T]
        xs = placeholders(values)
        y = sample.apply(op, xs)[0]
        (reached,) = run([y], dict(zip(xs, values, strict=True)))
        ones = [constant(np.ones_like(v)) for v in values]
        with np.errstate(all="ignore"):
            above = np.where(np.isfinite(reached), reached + 1 + abs(reached), 0.0)
            below = np.where(np.isfinite(reached), reached - 1 - abs(reached), 0.0)
        for chosen, loses in (
            (sg.maximum(y, constant(above)), reached < above),
            (sg.minimum(y, constant(below)), reached > below),
            (sg.relu(y - constant(above)), reached < above),
            (sg.clip(y, constant(above), None), reached < above),
        ):
            for level in ("none", None):
                gradient = sg.grad(sg.sum(chosen), xs, mode="reverse", level=level)
                for found in run(gradient, dict(zip(xs, values, strict=True))):
                    at = pairs[loses][found[loses] != 0]
                    assert not len(at), f"{name}: {chosen!r} has slopes {found[loses]} at {at}"
                pushed = sg.jvp(chosen, xs, ones, level=level)
                (found,) = run(pushed, dict(zip(xs, values, strict=True)))
                at = pairs[loses][found[loses] != 0]
                assert not len(at), f"{name}: {chosen!r} has tangents {found[loses]} at {at}"


def dead_tangent_is_silent(name: str) -> None:
    """Where an op says that an element of an operand does not matter, its tangent does not either,
    be it infinite or NaN."""
    op = OPS.get(name)
    if op is None or op.live is None:
        return
    for sample in samples_of(name):
        values = [np.asarray(v) for v in sample.operands]
        xs = placeholders(values)
        y = sample.apply(op, xs)[0]
        feeds = dict(zip(xs, values, strict=True))
        for x, live in zip(y.args, op.live, strict=True):
            if live is None or x not in feeds or not is_inexact(x.dtype):
                continue
            alive = live(y, *y.args, **y.attrs)
            if alive.shape != x.shape:
                continue
            (matters,) = run([alive], feeds)
            seeds = [
                constant(np.where(matters, 1.0, w).astype(x.dtype)) for w in (0.0, np.inf, np.nan)
            ]
            pushed = [sg.jvp(y, [x], [seed], level="none")[0] for seed in seeds]
            wanted, *found = run(pushed, feeds)
            for tangent in found:
                np.testing.assert_array_equal(tangent, wanted)
