"""Forward mode: appends tangent symbols, from the inputs to the outputs.

Over interned symbols the tangents of shared symbols are shared, so repeated derivatives by one
scalar grow polynomially, where reverse mode (and every tape) grows by a factor per order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symgrad.errors import RuleMissing
from symgrad.ir.late import late
from symgrad.ir.op import ZERO, Nothing, ops
from symgrad.ir.symbol import Origin, Symbol, building, placeholder
from symgrad.ir.walk import substitute
from symgrad.transform.activity import active_symbols
from symgrad.transform.vjp import contribution_of, pull_back
from symgrad.types import TensorType, TupleType


def push_forward(
    outputs: Sequence[Symbol], inputs: Sequence[Symbol], tangents: Sequence[Any]
) -> list[Any]:
    """The tangents of ``outputs``, given those of ``inputs``.

    Args:
        outputs: symbols anywhere above the inputs.
        inputs: where the tangents start.
        tangents: one symbol of the input's type each, or ZERO.

    Returns:
        per output a symbol of its type, or ZERO where it does not depend.

    Raises:
        RuleMissing: an op on the way has no forward rule and its vjp is not linear.
    """
    known: dict[Symbol, Any] = {
        x: t for x, t in zip(inputs, tangents, strict=True) if t is not ZERO
    }
    seeds = set(known)
    for symbol in active_symbols(outputs, list(known)):
        if symbol in seeds:
            continue
        building.origin = Origin(symbol, symbol.op.name)
        tangent = _tangent_of(symbol, [known.get(a, ZERO) for a in symbol.args])
        if tangent is not ZERO:
            known[symbol] = tangent
    building.origin = None
    return [known.get(output, ZERO) for output in outputs]


def _tangent_of(symbol: Symbol, tangents: list[Any]) -> Any:
    if all(t is ZERO for t in tangents):
        return ZERO
    op, args, attrs = symbol.op, symbol.args, symbol.attrs
    kind: Any = symbol.type
    y: Any = symbol
    if isinstance(kind, TupleType):
        y = tuple(ops.item(symbol, index=k) for k in range(len(kind.items)))
    if op.jvp is not None:
        tangent = op.jvp(tangents, y, args, attrs)
    else:
        tangent = transpose_twice(symbol, y, tangents)
    if isinstance(tangent, Nothing):
        if tangent.kind == "todo":
            raise RuleMissing(
                op.name, f"jvp not written yet: {tangent.reason}", site=str(symbol.site)
            )
        return ZERO
    if isinstance(kind, TupleType):
        return tuple(
            t if isinstance(t, Nothing) else _fit(t, k)
            for t, k in zip(tangent, kind.items, strict=True)
        )
    return _fit(tangent, kind)


def _fit(tangent: Symbol, kind: TensorType) -> Symbol:
    """A tangent in the result's type: broadcast, and cast."""
    if tangent.shape != kind.shape:
        tangent = ops.broadcast_to(tangent, kind.shape)
    return tangent if tangent.dtype == kind.dtype else ops.astype(tangent, kind.dtype)


def transpose_twice(symbol: Symbol, y: Any, tangents: Sequence[Any]) -> Any:
    """The jvp of an op that has only a vjp: the vjp is linear in its cotangent, so its transpose is
    the jvp, and transposing is what reverse mode does."""
    op = symbol.op
    if not op.linear_vjp:
        raise RuleMissing(
            op.name,
            "forward mode needs a vjp that is linear in its cotangent",
            hint='differentiate with mode="reverse"',
            site=str(symbol.site),
        )
    kind: Any = symbol.type
    kinds: tuple[TensorType, ...] = kind.items if isinstance(kind, TupleType) else (kind,)
    probes = [placeholder("ct", k.shape, k.dtype) for k in kinds]
    ct: Any = tuple(probes) if isinstance(kind, TupleType) else probes[0]
    pulled: list[Symbol] = []
    seeds: list[Any] = []
    for i, tangent in enumerate(tangents):
        if tangent is ZERO:
            continue
        contribution = contribution_of(symbol, i, ct, y)
        if isinstance(contribution, Nothing):
            if contribution.kind == "todo":
                return contribution
            continue
        pulled.append(contribution)
        seeds.append(tangent)
    origin = building.origin
    result = pull_back(pulled, seeds, probes)
    building.origin = origin
    # A rule linear in its cotangent leaves no probe behind; zeros stand in for one that cancelled.
    result = [
        r if r is ZERO else substitute([r], {p: ops.zeros_like(p) for p in probes})[0]
        for r in result
    ]
    return tuple(result) if isinstance(kind, TupleType) else result[0]


late.push_forward = push_forward
