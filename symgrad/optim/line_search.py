"""How far to go along a direction: a step that fulfils the strong Wolfe conditions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from numpy.typing import NDArray

ENOUGH_DECREASE, FLAT_ENOUGH = 1e-4, 0.9


class Point(NamedTuple):
    """What is known at a step: its length, the loss, the gradient, the slope along the way."""

    length: float
    loss: float
    grad: NDArray[Any]
    slope: float


def strong_wolfe(
    visit: Callable[[float], Point],
    start: Point,
    first: float,
    *,
    scale: float,
    tolerance: float,
    most: int,
) -> tuple[Point, int]:
    """A point where the loss is lower by enough and the slope flat enough, and how many were seen.

    First steps grow until an interval is known that holds such points; then it shrinks (Nocedal and
    Wright, "Numerical optimization", algorithms 3.5 and 3.6), by cubic interpolation.

    Args:
        visit: gives the point at a length.
        start: the point at length 0.
        first: the length to try first.
        scale: the largest element of the direction.
        tolerance: an interval that moves no element by more is not divided further.
        most: how many points may be visited after the first.
    """
    search = _Search(visit, start, scale, tolerance, most)
    ends = search.grow(first)
    best = ends[0] if len(ends) == 1 else search.shrink(*ends)
    return best, search.seen


class _Search:
    def __init__(
        self,
        visit: Callable[[float], Point],
        start: Point,
        scale: float,
        tolerance: float,
        most: int,
    ) -> None:
        self._visit, self._start, self._most = visit, start, most
        self._scale, self._tolerance = scale, tolerance
        self.seen = 0

    def _at(self, length: float) -> Point:
        self.seen += 1
        return self._visit(length)

    def _is_too_high(self, point: Point) -> bool:
        start = self._start
        return point.loss > start.loss + ENOUGH_DECREASE * point.length * start.slope

    def _is_flat(self, point: Point) -> bool:
        return abs(point.slope) <= -FLAT_ENOUGH * self._start.slope

    def grow(self, length: float) -> list[Point]:
        """The ends of an interval with a point as wanted inside, or that point alone."""
        before, point = self._start, self._at(length)
        for count in range(self._most):
            if self._is_too_high(point) or (count > 1 and point.loss >= before.loss):
                return [before, point]
            if self._is_flat(point):
                return [point]
            if point.slope >= 0:
                return [before, point]
            least = point.length + 0.01 * (point.length - before.length)
            further = lowest(before, point, least, 10 * point.length)
            before, point = point, self._at(further)
        return [self._start, point]

    def shrink(self, low: Point, high: Point) -> Point:
        """The lower end of the interval, when it is as wanted, or there is no going on."""
        low, high = _by_loss(low, high)
        stuck = False
        while self.seen <= self._most:
            if abs(high.length - low.length) * self._scale < self._tolerance:
                break
            length, stuck = _inside(low, high, stuck)
            point = self._at(length)
            if self._is_too_high(point) or point.loss >= low.loss:
                low, high = _by_loss(low, point)
                continue
            if self._is_flat(point):
                return point
            if point.slope * (high.length - low.length) >= 0:
                high = low
            low = point
        return low


def _by_loss(one: Point, other: Point) -> tuple[Point, Point]:
    return (one, other) if one.loss <= other.loss else (other, one)


def _inside(low: Point, high: Point, stuck: bool) -> tuple[float, bool]:
    """A length between two, and whether it is so near to one that the next must not be."""
    least, most = sorted((low.length, high.length))
    length = lowest(low, high, least, most)
    margin = 0.1 * (most - least)
    if min(most - length, length - least) >= margin:
        return length, False
    if not stuck and least < length < most:
        return length, True
    return (most - margin if most - length < length - least else least + margin), False


def lowest(one: Point, other: Point, least: float, most: float) -> float:
    """Where the cubic with these values and slopes is lowest, kept between two bounds."""
    left, right = (one, other) if one.length <= other.length else (other, one)
    width = right.length - left.length
    if width == 0:
        return (least + most) / 2
    mean = left.slope + right.slope - 3 * (right.loss - left.loss) / width
    square = mean * mean - left.slope * right.slope
    if not square >= 0:
        return (least + most) / 2
    root = math.sqrt(square)
    divisor = right.slope - left.slope + 2 * root
    if divisor == 0:
        return (least + most) / 2
    length = right.length - width * (right.slope + root - mean) / divisor
    return min(max(length, least), most)
