"""What must hold between the two modes, of any program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import symgrad as sg
from symgrad.eager.records import Record
from symgrad.ir.op import OPS
from symgrad.testing.modes import far
from symgrad.testing.runs import Program, literal, rewritten, run, seeds_of
from symgrad.types import is_inexact
from tests.modes.comparing import Isomorphism, same_zeros
from tests.modes.observing import Node, observed
from tests.registry.running import same_bits

ULPS = 16
"""How far a rewritten graph may be from the eager run, where it is not nearer to the truth."""


def _seeds(program: Program, values: Sequence[np.ndarray]) -> list[np.ndarray]:
    with sg.no_grad():
        return seeds_of(program(*map(sg.Tensor, values)))


def require_one_data_flow(program: Program, values: Sequence[np.ndarray]) -> int:
    """Names, types, attributes, edges and the order of sums are the same.

    Returns:
        how many calls were compared.
    """
    static, seeds = literal(program, values), _seeds(program, values)
    eager, flow = observed(program, values, seeds)
    same = Isomorphism(lambda symbol: static.values_of([symbol], [*values, *seeds])[0])
    same.outputs(static.outputs, [flow.node(y) for y in eager.outputs])
    for symbol, tensor in zip(static.gradients, eager.gradients, strict=True):
        node = _shared(flow.node(tensor))
        if not same_zeros(symbol, node):
            same.outputs([symbol], [node])
    flow.require_same_records([*eager.outputs, *eager.gradients])
    return same.calls


def _shared(node: Node) -> Node:
    """What was copied at the very end, since no two gradients may share memory."""
    return node.operands[0] if node.op is OPS["clone"] else node


def require_same_bits(program: Program, values: Sequence[np.ndarray]) -> None:
    """The graph's values are those of the eager run and of its recorded pass."""
    seeds = _seeds(program, values)
    eager = run(program, values, seeds, create_graph=True)
    expected = literal(program, values).values([*values, *seeds], level="none")
    _require_equal(eager.values(), expected)


def require_same_bits_again(
    program: Program, values: Sequence[np.ndarray], times: int
) -> list[Record]:
    """A pass that is not recorded gives what a recorded one gives, however often it is run.

    Returns:
        the records of the last run whose rules ran as compiled code.
    """
    seeds = _seeds(program, values)
    expected = run(program, values, seeds, create_graph=True).values()
    records: list[Record] = []
    for _ in range(times):
        eager = run(program, values, seeds, retain_graph=True)
        _require_equal(eager.values(), expected)
        records = _records(eager.outputs)
    compiled = [record for record in records if record.pullback.straight is not None]
    _require_accumulated(program, values, seeds, expected)
    return compiled


def _require_accumulated(
    program: Program, values: Sequence[Any], seeds: Sequence[Any], expected: Sequence[np.ndarray]
) -> None:
    """`backward` puts into ``.grad`` what `grad` gives."""
    inputs = [sg.Tensor(v, requires_grad=is_inexact(v.dtype)) for v in values]
    outputs = program(*inputs)
    floating = [y for y in outputs if is_inexact(y.dtype)]
    pairs = [(y, s) for y, s in zip(floating, seeds, strict=True) if y.requires_grad]
    if pairs:
        sg.autograd.backward(*map(list, zip(*pairs, strict=True)))
    found = [x.grad for x in inputs if x.requires_grad]
    for grad, wanted in zip(found, expected[len(outputs) :], strict=False):
        assert same_bits(wanted if grad is None else grad, wanted)
        assert grad is not None or not np.any(wanted)


def _records(outputs: Sequence[Any]) -> list[Record]:
    seen: dict[Any, None] = dict.fromkeys(y.grad_fn for y in outputs)
    pending = list(seen)
    while pending:
        node = pending.pop()
        for edge in node.edges if isinstance(node, Record) else ():
            if edge not in seen:
                seen[edge] = None
                pending.append(edge)
    return [node for node in seen if isinstance(node, Record)]


def _require_equal(found: Sequence[Any], expected: Sequence[Any]) -> None:
    for k, (a, b) in enumerate(zip(found, expected, strict=True)):
        assert same_bits(a, b), f"value {k}: {a} is not {b}"


# --- shared and rewritten -------------------------------------------------------------------------


def require_near(program: Program, values: Sequence[np.ndarray], *, narrow: bool) -> None:
    """A rewritten graph gives what the eager run gives, but for some ulps, or is nearer the truth.

    Args:
        narrow: whether single precision will do: the truth is then known from double precision.
    """
    truth: Sequence[Any] | None = None
    if narrow:
        values = [_single(v) for v in values]
        seeds = _seeds(program, values)
        wide = [_double(v) for v in (*values, *seeds)]
        truth = literal(program, wide[: len(values)]).values(wide, level="none")
    else:
        seeds = _seeds(program, values)
    eager = run(program, values, seeds).values()
    static = rewritten(program, values).values([*values, *seeds], level="exact")
    for k, (ours, theirs) in enumerate(zip(static, eager, strict=True)):
        off = far(ours, theirs, ULPS)
        if truth is not None:
            off &= ~_nearer(ours, theirs, truth[k])
        assert not np.any(off), f"value {k}: {ours[off]} is not {theirs[off]}"


def require_near_as_conditioned(program: Program, values: Sequence[np.ndarray]) -> None:
    """The same for any program: some are more sensitive to their inputs than others.

    What the result moves by when the inputs move by an ulp is no difference; nor are the last
    digits of terms that cancel, some hundred times larger than the largest result, or than 1.
    """
    seeds = _seeds(program, values)
    eager = run(program, values, seeds).values()
    moved = [_moved(v) for v in values]
    shaken = run(program, moved, seeds).values()
    static = rewritten(program, values).values([*values, *seeds], level="exact")
    size = 1e3 * max([1.0, *map(_largest, eager)])
    for k, (ours, theirs, other) in enumerate(zip(static, eager, shaken, strict=True)):
        with np.errstate(all="ignore"):
            spread = _largest(theirs - other) if theirs.dtype.kind in "fc" else 0.0
        off = far(ours, theirs, ULPS, size + spread / np.finfo(np.float64).eps)
        assert not np.any(off), f"value {k}: {ours[off]} is not {theirs[off]}"


def _moved(value: np.ndarray) -> np.ndarray:
    """Each element moved by an ulp."""
    return value * value.dtype.type(1 + 2 * np.finfo(value.dtype).eps)


def _largest(value: np.ndarray) -> float:
    if value.dtype.kind not in "fc":
        return 0.0
    sizes = np.abs(value)
    return float(np.max(sizes[np.isfinite(sizes)], initial=0.0))


def _single(value: np.ndarray) -> np.ndarray:
    kinds = {"f": np.float32, "c": np.complex64}
    return value.astype(kinds.get(value.dtype.kind, value.dtype))


def _double(value: np.ndarray) -> np.ndarray:
    kinds = {"f": np.float64, "c": np.complex128}
    return value.astype(kinds.get(value.dtype.kind, value.dtype))


def _nearer(a: np.ndarray, b: np.ndarray, true: np.ndarray) -> Any:
    """Where ``a`` is as near to the truth as ``b``; no number is farther than any."""
    if a.dtype.kind not in "fc":
        return np.asarray(a == b)
    ours, theirs = (np.nan_to_num(np.abs(v - true), nan=np.inf) for v in (a, b))
    return np.asarray(ours <= theirs)
