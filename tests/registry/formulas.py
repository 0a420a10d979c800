"""What a closed form of an element-wise op is, and the points where it is tried."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from mpmath import mp

mp.dps = 50


@dataclass(frozen=True)
class Row:
    """One function of a point: its value, its partial derivatives, and where to try it.

    Attributes:
        value, partials: functions of mpmath numbers.
        points: tuples of doubles.
        attrs: the op's attributes.
        ulps, slope_ulps: how many units in the last place the value and the derivatives may be off.
    """

    value: Callable[..., Any]
    partials: Sequence[Callable[..., Any]]
    points: Sequence[tuple[float, ...]]
    attrs: dict[str, Any]
    ulps: float = 4
    slope_ulps: float = 8


def signed(*values: float) -> list[float]:
    """Both signs of each value."""
    return [s * v for v in values for s in (1, -1)]


def near(point: float, *more: float) -> list[float]:
    """A singular point's neighbours, from both sides, as near as doubles come."""
    below, above = np.nextafter(point, -np.inf), np.nextafter(point, np.inf)
    return [float(below), float(above), point * (1 - 1e-10), point * (1 + 1e-10), *more]


MIDDLE = signed(0.013, 0.3, 0.46, 0.5, 0.7, 1.0, 1.3, 2.5, 3.7)
SMALL = signed(1e-300, 1e-20, 1e-9, 1e-4)
LARGE = signed(8.0, 20.0, 36.5, 45.0, 100.0, 350.0, 700.0)
VAST = signed(1e5, 1e10, 1e20, 1e100, 1e154, 1e155, 1e200, 1e300)
REALS = [*MIDDLE, *SMALL, *LARGE, *VAST]
POSITIVE = [x for x in REALS if x > 0]
TURNS = [*MIDDLE, *SMALL, 10.0, 100.0, 1e5, -1e10, 1e22, *near(np.pi / 2), *near(np.pi)]


def rows(
    value: Callable[..., Any],
    slopes: Any,
    points: Sequence[Any],
    *,
    attrs: dict[str, Any] | None = None,
    **limits: float,
) -> Row:
    """One row; a function of one number may be given bare slopes and points."""
    partials = slopes if isinstance(slopes, tuple) else (slopes,)
    listed = [p if isinstance(p, tuple) else (p,) for p in points]
    return Row(value, partials, listed, attrs or {}, **limits)
