"""The exception classes, and the one place where messages are put together.

A message reads ``where: problem: expected …, got …; hint: …; created at file:line``: lower case, no
final full stop. Each class also derives from the standard class a caller would expect to catch.
"""

from __future__ import annotations

from typing import Any


class SymgradError(Exception):
    """Base of all errors that a user of symgrad can meet.

    Args:
        where: the op, function or argument that refuses.
        problem: what is wrong.
        expected: what would have been right.
        got: what came instead.
        hint: the likely cure.
        site: where the offending symbol or call was written, ``file:line``.
    """

    def __init__(
        self,
        where: str,
        problem: str,
        *,
        expected: Any = None,
        got: Any = None,
        hint: str | None = None,
        site: str | None = None,
    ) -> None:
        super().__init__(where, problem)
        self.where, self.problem, self.hint, self.site = where, problem, hint, site
        self.expected = None if expected is None else str(expected)
        self.got = None if got is None else str(got)

    def __str__(self) -> str:
        text = f"{self.where}: {self.problem}"
        sides = [("expected", self.expected), ("got", self.got)]
        comparison = ", ".join(f"{word} {side}" for word, side in sides if side is not None)
        if comparison:
            text += f": {comparison}"
        if self.hint:
            text += f"; hint: {self.hint}"
        if self.site:
            text += f"; created at {self.site}"
        return text

    def __reduce__(self) -> tuple[Any, ...]:
        # The default would call the class with `args` alone and lose the keywords.
        return _restore, (type(self), self.__dict__)


def _restore(cls: type[SymgradError], state: dict[str, Any]) -> SymgradError:
    error = cls(state["where"], state["problem"])
    error.__dict__.update(state)
    return error


class ShapeError(SymgradError, ValueError):
    """Shapes, axes or sizes do not fit."""


class DTypeError(SymgradError, TypeError):
    """An element type is not allowed here."""


class GradientError(SymgradError, RuntimeError):
    """A derivative was asked for that does not exist as asked."""


class SeedError(ShapeError, GradientError):
    """A cotangent is not of the type of what it belongs to."""


class NotDifferentiable(GradientError, DTypeError):
    """A gradient was asked for of what is no floating-point number."""


class AnomalyError(SymgradError, ArithmeticError):
    """A NaN came out of operands that hold none, while `detect_anomaly` was on."""


class InPlaceError(SymgradError, RuntimeError):
    """A value was changed that must not change."""


class TraceError(SymgradError, TypeError):
    """A symbol was used where Python needs a value."""


class ChangeRefused(InPlaceError, TraceError):
    """A symbol was to be changed in place, or to be written into a tensor."""


class RuleMissing(SymgradError, NotImplementedError):
    """A facet of an op (its derivative, say) is not written."""


class FeedError(SymgradError, ValueError):
    """The values handed to a call do not match what it needs."""


class ArgumentError(SymgradError, ValueError):
    """An attribute has a value that the op does not know."""


class OutOfRange(SymgradError, IndexError):
    """An index lies outside its axis."""


class AxisError(ShapeError, OutOfRange):
    """There is no such axis."""


class FormatError(SymgradError, ValueError):
    """A text or file is not what it should be."""


class ExtraMissing(SymgradError, ImportError):
    """An optional dependency is not installed."""


class InternalError(SymgradError):
    """A defect of symgrad itself; please report it with the graph's text."""
