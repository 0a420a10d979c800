"""Other spellings of a call: parameters' names and places as PyTorch and numpy have them.

What an op's own signature says always comes first; only what it does not know is looked up here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, cast

PARAMETERS: dict[str, tuple[str, ...]] = {
    "dim": ("axis", "axes"),
    "dims": ("axis", "axes"),
    "dim0": ("axis1", "axes"),
    "dim1": ("axis2",),
    "axes": ("axis",),
    "keepdim": ("keepdims",),
    "other": ("x2",),
    "exponent": ("x2",),
    "size": ("shape",),
    "index": ("indices",),
    "src": ("values",),
    "shifts": ("shift",),
    "diagonal": ("k",),
    "value": ("values",),
    "sections": ("indices_or_sections",),
    "end": ("stop",),
    "steps": ("num",),
}
"""What else a parameter is called: a call may use the name for the first of these that there is."""

VARIANTS: dict[tuple[str, str], Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]] = {}
"""Keywords that stand for more than one op, by (keyword, name of the op).

``variant(op, args, kwargs)`` carries the call out: ``add(x, y, alpha=2)`` is two ops.
"""

SPREAD = ("shape", "axes", "repetitions")
"""Last parameters whose sizes may follow one by one: ``ones(2, 3)``, ``permute_dims(x, 1, 0)``."""

_FOLLOWING = ("keepdims", "descending")
_AMBIGUOUS = ("n", "ord", "discont")
"""With one of these, a further positional argument means that one elsewhere: ``diff(x, 2)``."""


def renamed(given: str, known: Sequence[str]) -> str:
    """The parameter that is meant by a name."""
    return next((name for name in PARAMETERS.get(given, ()) if name in known), given)


def trailing(keyword_only: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """The keyword-only parameters that may also follow by position: an axis, and one flag."""
    if list(keyword_only) == ["k"]:  # that of `tril`
        return ("k",)
    if not keyword_only or keyword_only[0] != "axis" or any(name in known for name in _AMBIGUOUS):
        return ()
    flags = [name for name in keyword_only if name in _FOLLOWING]
    return ("axis", *flags[:1])


def placed(
    names: Sequence[str], positional: Sequence[str], args: Sequence[Any]
) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """A call with more arguments than positional parameters: what is positional, what has a name.

    Args:
        names: the op's `trailing` parameters.
        positional: its positional ones.
        args: what was given.

    Returns:
        None if the call has no such meaning.
    """
    if positional and positional[-1] in SPREAD:
        first = len(positional) - 1
        if any(isinstance(size, (tuple, list)) for size in args[first:]):
            return None
        return (*args[:first], tuple(args[first:])), {}
    surplus = args[len(positional) :]
    fits = len(surplus) <= len(names) and _is_axis(surplus[0])
    if not fits or not all(type(flag) is bool for flag in surplus[1:]):
        return None
    return tuple(args[: len(positional)]), dict(zip(names, surplus, strict=False))


def has_axis_first(
    names: Sequence[str], positional: Sequence[str], args: Sequence[Any], named: Collection[str]
) -> bool:
    """Whether the axis stands before the indices, as in PyTorch: ``gather(x, 1, index)``."""
    if names[:1] != ("axis",) or positional[1:2] != ("indices",):
        return False
    if len(args) < 2 or type(args[1]) is not int:
        return False
    return hasattr(args[2], "shape") if len(args) > 2 else "index" in named


def _is_axis(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return all(type(item) is int for item in cast("Sequence[Any]", value))
    return value is None or type(value) is int
