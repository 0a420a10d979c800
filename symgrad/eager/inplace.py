"""Changes in place: a call computed aside, then written into the tensor's memory.

The version of the storage counts the changes; a backward pass that needs a value of an earlier
version refuses. A change is refused before anything is written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.eager.records import Leaf, Record
from symgrad.eager.tensor import Tensor
from symgrad.eager.views import base_and_path, positions_in_base, retain
from symgrad.errors import ChangeRefused, DTypeError, InPlaceError
from symgrad.ir.modes import MODE, RECORDING, TRACING
from symgrad.ir.op import ops
from symgrad.ir.site import Site, here
from symgrad.ir.storage import Window


def change(target: Tensor, where: str, compute: Callable[[], Any]) -> Tensor:
    """Write what ``compute`` gives into ``target``, and let its history follow.

    Args:
        target: what is changed.
        where: the method or operator, for errors.
        compute: gives the new value, a tensor of the target's shape.

    Returns:
        ``target`` itself.

    Raises:
        InPlaceError: the target is a leaf that requires a gradient, or a view of one, while calls
            are recorded; its memory may not be written; the new value has another shape, or a kind
            of numbers that does not fit.
    """
    site = here()
    _require_changeable(target, where, site)
    new = compute()
    if not isinstance(new, Tensor):
        raise _no_value_to_write(target, where, new, site)
    if new.shape != target.shape:
        raise InPlaceError(
            where,
            "a change in place keeps the shape",
            expected=target.type,
            got=new.type,
            site=str(site),
        )
    if new.dtype != target.dtype:
        if not np.can_cast(new.dtype, target.dtype, "same_kind"):
            raise MisfitInPlace(
                where,
                "the new value does not fit the element type",
                expected=target.type,
                got=new.type,
                hint="write x = x + y, or cast with sg.astype",
                site=str(site),
            )
        new = ops.astype(new, target.dtype)
    recorded = MODE.get() & RECORDING and (new.edge is not None or target.edge is not None)
    rewrite = None
    if recorded:
        if isinstance(new.edge, Record):
            new.edge.keep_own(target.storage)
        rewrite = _rewritten_base(target, new, where, site)
    target.storage.overwrite(new.storage.array, site)
    if rewrite is not None:
        rewrite()
    return target


def _no_value_to_write(target: Tensor, where: str, new: Any, site: Site | None) -> ChangeRefused:
    instead = "x = sg.set_at(x, key, value)" if where == "item assignment" else "x = x + y"
    return ChangeRefused(
        where,
        "the new value is no tensor",
        expected=target.type,
        got=repr(new),
        hint=f"write {instead}: a symbol has no value to write",
        site=str(site),
    )


class MisfitInPlace(InPlaceError, DTypeError):
    """A new value of another kind of numbers than the tensor that it was to be written into."""


def _require_changeable(target: Tensor, where: str, site: Site | None) -> None:
    problem = hint = None
    array = target.storage.array
    if any(s == 0 and n > 1 for s, n in zip(array.strides, array.shape, strict=True)):
        problem, hint = "several elements share one place in memory", "change a clone"
    elif not array.flags.writeable:
        problem, hint = "the memory is read-only", "change a clone"
    elif MODE.get() & RECORDING:
        problem, hint = _recorded_problem(target)
    if problem is not None:
        raise InPlaceError(where, problem, got=target.type, hint=hint, site=str(site))


def _recorded_problem(target: Tensor) -> tuple[str | None, str | None]:
    """What forbids a change while calls are recorded."""
    if isinstance(target.edge, Leaf):
        return "a leaf that requires a gradient was to be changed", _LEAF
    if not isinstance(target.storage, Window):
        return None, None
    base, path = base_and_path(target)
    if isinstance(base.edge, Leaf):
        return "a view of a leaf that requires a gradient was to be changed", _LEAF
    requires = base.edge is not None or target.edge is not None
    if requires and any(not step.extra.recorded for step in path):
        return "the view was made under no_grad, so its base cannot follow", "take it again"
    if requires and any(step.extra.several for step in path):
        return "the view is one of several that one call gave", "change a clone"
    return None, None


_LEAF = "with sg.no_grad(): allows it; or change a clone"


def _rewritten_base(
    target: Tensor, new: Tensor, where: str, site: Site | None
) -> Callable[[], None]:
    """How histories change once ``new`` stands in the target's memory."""
    if target.extra.source is None:
        return lambda: _take_history(target, new)
    base, positions = positions_in_base(target, where)
    flat = ops.reshape(base, (-1,))
    replaced = ops.set_at(flat, positions.reshape(-1), ops.reshape(new, (-1,)))
    whole = ops.reshape(replaced, base.shape)
    return lambda: _take_history(base, whole)


def _take_history(base: Tensor, new: Tensor) -> None:
    old, edge = base.edge, new.edge
    if isinstance(edge, Leaf):  # the value of a leaf was copied: its gradient passes through
        edge = ops.clone(new).edge
    if isinstance(edge, Record):
        # What the rule reads of its result is now read where the result lies.
        edge.moved(new.storage, base.storage)
    base.edge = edge
    extra = base.extra
    if extra.retains and isinstance(old, Record):
        watchers = old.watched()
        watchers.retained = tuple(kept for kept in watchers.retained if kept is not extra)
        extra.retains = False
        if isinstance(edge, Record):
            retain(edge, extra)
    if extra.aliases is not None:
        extra.aliases.history += 1


# --- what Tensor gets -----------------------------------------------------------------------------


def set_item(target: Tensor, key: Any, value: Any) -> None:
    """``target[key] = value``."""
    if getattr(value, "__front_rank__", 0) > 1:
        compute: Callable[[], Any] = lambda: value  # noqa: E731  # refused there, with the cure
    else:
        compute = lambda: ops.set_at(target, key, value)  # noqa: E731
    change(target, "item assignment", compute)


def _operator(name: str, symbol: str) -> Callable[[Tensor, Any], Any]:
    def changed(self: Tensor, other: Any) -> Any:
        if getattr(other, "__front_rank__", 0) > 1:
            if MODE.get() & TRACING and self.edge is not None:  # what it is bound to would leak
                raise _no_value_to_write(self, symbol, other, here())
            return getattr(ops, name)(self, other)  # a symbol comes out: the name is bound anew
        return change(self, symbol, lambda: getattr(ops, name)(self, other))

    return changed


_OPERATORS = {
    "iadd": ("add", "+="),
    "isub": ("subtract", "-="),
    "imul": ("multiply", "*="),
    "itruediv": ("divide", "/="),
    "ifloordiv": ("floor_divide", "//="),
    "imod": ("remainder", "%="),
    "ipow": ("pow", "**="),
    "imatmul": ("matmul", "@="),
    "iand": ("bitwise_and", "&="),
    "ior": ("bitwise_or", "|="),
    "ixor": ("bitwise_xor", "^="),
    "ilshift": ("bitwise_left_shift", "<<="),
    "irshift": ("bitwise_right_shift", ">>="),
}
for _method, (_name, _symbol) in _OPERATORS.items():
    setattr(Tensor, f"__{_method}__", _operator(_name, _symbol))
setattr(Tensor, "__setitem__", set_item)  # noqa: B010  # as the operators above
