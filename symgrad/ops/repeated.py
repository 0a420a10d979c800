"""Quotients by differences of eigenvalues or singular values, which may be equal.

A function of values w and vectors v that does not depend on how the vectors of a repeated value are
chosen has a cotangent whose part [i, j], in the frame of the vectors, is ``w[j] - w[i]`` times a
smooth function of w: the derivative that is sought. Where the difference vanishes, it follows from
how fast that part grows: with v held and each w[k] moving at its own speed ``steps[k]``, the
difference grows by ``steps[j] - steps[i]``, and nothing else counts (de l'Hopital's rule). The
cotangent's dependence on w is read off the graph; where there is none to be read, as in forward
mode, the quotient is taken as 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symgrad.errors import RuleMissing
from symgrad.ir.late import late
from symgrad.ir.op import ZERO, ops
from symgrad.ir.symbol import Symbol, building
from symgrad.ops.matrices import column, inverse_of_some, negligible, row


def steps_of(values: Any) -> Any:
    """The speed of each value: 1, 2, 3, ..."""
    return ops.arange(1, values.shape[-1] + 1, dtype=values.dtype)


def slopes(parts: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    """How fast parts of a cotangent grow when the values move at their speeds.

    Args:
        parts: symbols, or ZERO.
        values: all symbols that stand for the values.
    """
    live = [part for part in parts if isinstance(part, Symbol)]
    if not live:
        return [ZERO] * len(parts)
    tangents = [ops.broadcast_to(steps_of(w), w.shape) for w in values]
    origin = building.origin
    try:
        found = iter(late.push_forward(live, list(values), tangents))
    except RuleMissing:  # an op on the way has no forward mode
        return [ZERO] * len(parts)
    finally:
        building.origin = origin
    return [next(found) if isinstance(part, Symbol) else ZERO for part in parts]


def quotient(part: Any, slope: Any, difference: Any, steps: Any, values: Any) -> Any:
    """``part / difference``, and the quotient of their slopes where the difference is negligible.

    Args:
        part: what is divided.
        slope: how fast it grows, or ZERO.
        difference: of values, or their sum.
        steps: how fast that grows; where it does not, the quotient is 0.
        values: the values themselves, which say what is negligible.
    """
    small = negligible(difference, values)
    result = part * inverse_of_some(difference, small)
    if slope is ZERO:
        return result
    return ops.where(small, slope * inverse_of_some(steps, steps == 0), result)


def by_differences(part: Any, slope: Any, values: Any) -> Any:
    """``part[i, j] / (w[j] - w[i])``, 0 on the diagonal."""
    steps = steps_of(values)
    return quotient(part, slope, _gaps(values), _gaps(steps), values)


def by_sums(part: Any, slope: Any, values: Any) -> Any:
    """``part[i, j] / (w[j] + w[i])``."""
    steps = steps_of(values)
    return quotient(part, slope, row(values) + column(values), row(steps) + column(steps), values)


def by_values(part: Any, slope: Any, values: Any) -> Any:
    """``part[i, j] / w[j]``."""
    return quotient(part, slope, row(values), row(steps_of(values)), values)


def _gaps(values: Any) -> Any:
    return row(values) - column(values)
