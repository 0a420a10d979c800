"""What users call on tensors: `backward`, which adds to ``.grad``, and `grad`, which gives them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np

from symgrad.eager.backward import Pass, adding
from symgrad.eager.records import Leaf, Record
from symgrad.eager.tensor import Tensor, tensor_on
from symgrad.errors import ArgumentError, DTypeError, GradientError, SeedError
from symgrad.ir.late import late
from symgrad.ir.modes import MODE, RECORDING
from symgrad.ir.op import OPS
from symgrad.ir.site import here
from symgrad.ir.storage import Storage
from symgrad.types import is_complex


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Add the gradients of ``tensors`` to ``.grad`` of the leaves that they depend on.

    Args:
        tensors: a tensor or several.
        grad_tensors: one cotangent per tensor, of its shape; None for a tensor of one element.
        retain_graph: keep the saved values, for another pass; None means ``create_graph``.
        create_graph: record the pass itself, so that gradients can be differentiated again.
        inputs: only to these tensors, which may be results as well.

    Raises:
        GradientError, InPlaceError, ShapeError: as `Tensor.backward`.

    >>> import symgrad as sg
    >>> x = sg.tensor([1.0, 2.0], requires_grad=True)
    >>> sg.autograd.backward(x * x, sg.ones(2))
    >>> x.grad
    Tensor([2., 4.])
    """
    outputs = _tensors("backward", "tensors", tensors)
    seeds = _seeds("backward", "grad_tensors", outputs, grad_tensors)
    wanted = None
    if inputs is not None:
        wanted = _inputs("backward", _tensors("backward", "inputs", inputs))
    walk = Pass(
        keep=create_graph if retain_graph is None else bool(retain_graph),
        create=create_graph,
        wanted=wanted,
    )
    if wanted is not None:
        walk.active = _leading_to(outputs, walk.wanted or set())[0]
    with_mode = MODE.set(_mode(create_graph))
    try:
        _start(walk, outputs, seeds)
        totals = walk.totals()
        _store(walk, totals, wanted or (), inputs)
    finally:
        MODE.reset(with_mode)
    for leaf, _ in totals:
        for hook in list(leaf.after.values()):
            hook(leaf.variable)


def gradients(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    *,
    allow_unused: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """`symgrad.grad` of tensors."""
    ys, xs = _tensors("grad", "outputs", outputs), _tensors("grad", "inputs", inputs)
    seeds = _seeds("grad", "grad_outputs", ys, grad_outputs)
    wanted = _inputs("grad", xs)
    walk = Pass(
        keep=create_graph if retain_graph is None else bool(retain_graph),
        create=create_graph,
        wanted=wanted,
    )
    walk.active, reached = _leading_to(ys, set(wanted))
    if not (allow_unused or materialize_grads):
        for position, edge in enumerate(wanted):
            if edge not in reached:
                raise GradientError(
                    "grad",
                    f"inputs[{position}] is not used by the outputs",
                    got=xs[position].type,
                    hint="allow_unused=True gives None, materialize_grads=True zeros",
                    site=str(here()),
                )
    with_mode = MODE.set(_mode(create_graph))
    try:
        _start(walk, ys, seeds)
        found: dict[Any, Any] = {**walk.found, **dict(walk.totals())}
        _store_kept(walk)
    finally:
        MODE.reset(with_mode)
    taken = {id(s.storage.array if isinstance(s, Tensor) else s) for s in seeds}
    results: list[Tensor | None] = []
    for x, edge in zip(xs, wanted, strict=True):
        total: Any = found.get(edge)
        if not _is_value(total):
            used = edge in reached or materialize_grads
            results.append(tensor_on(Storage(np.zeros(x.shape, x.dtype))) if used else None)
            continue
        result = total if isinstance(total, Tensor) else tensor_on(Storage(total))
        array = result.storage.array
        if array.base is not None or id(array) in taken:  # no two results share memory
            result = _copied(result, create_graph)
        taken.add(id(array))
        results.append(result)
    return tuple(results)


def _is_value(total: Any) -> bool:
    return isinstance(total, (Tensor, np.ndarray))


def _copied(tensor: Tensor, recorded: bool) -> Tensor:
    return OPS["clone"](tensor) if recorded else tensor_on(Storage(tensor.storage.array.copy()))


# --- what is given --------------------------------------------------------------------------------


def _tensors(where: str, name: str, given: Any) -> list[Tensor]:
    if type(given) is Tensor:
        return [given]
    single = isinstance(given, (Tensor, np.ndarray, dict, set))
    several = not single and isinstance(given, (list, tuple, Iterable))
    listed: list[Any] = list(cast("Any", given)) if several else [given]
    for position, item in enumerate(listed):
        if not isinstance(item, Tensor):
            raise ArgumentError(
                where,
                f"{name}[{position}] is no tensor",
                expected="a tensor",
                got=type(item).__name__,
                hint=None if not hasattr(item, "__front_rank__") else "sg.grad takes symbols",
            )
    if not listed:
        raise ArgumentError(where, f"{name} is empty", expected="at least one tensor")
    return cast("list[Tensor]", listed)


def _inputs(where: str, tensors: Sequence[Tensor]) -> list[Record | Leaf]:
    edges: list[Record | Leaf] = []
    for position, x in enumerate(tensors):
        edge = x.edge
        if edge is None:
            raise GradientError(
                where,
                f"inputs[{position}] does not require a gradient",
                got=x.type,
                hint="x.requires_grad_() before it is used",
                site=str(here()),
            )
        edges.append(edge)
    return edges


def _seeds(where: str, name: str, outputs: Sequence[Tensor], given: Any) -> list[Any]:
    for position, y in enumerate(outputs):
        if y.edge is None:
            raise GradientError(
                where,
                f"output {position} does not require a gradient, and no recorded call made it",
                got=y.type,
                hint="x.requires_grad_() on a leaf before it is used",
                site=str(here()),
            )
    if given is None:
        return [_implied(where, y) for y in outputs]
    several = isinstance(given, (list, tuple))
    if not several and not hasattr(given, "__array__"):
        raise DTypeError(
            where, f"{name} is no tensor", expected="a tensor or None", got=type(given).__name__
        )
    seeds: list[Any] = list(cast("Any", given)) if several else [given]
    if len(seeds) != len(outputs):
        raise GradientError(
            where, "one cotangent per output is needed", expected=len(outputs), got=len(seeds)
        )
    return [
        _implied(where, y) if seed is None else checked_seed(where, f"{name}[{k}]", seed, y)
        for k, (seed, y) in enumerate(zip(seeds, outputs, strict=True))
    ]


def _implied(where: str, y: Tensor) -> Any:
    array = y.storage.array
    if array.size != 1 or is_complex(array.dtype):
        raise GradientError(
            where,
            f"output is {y.type}",
            expected="a scalar",
            hint="pass a cotangent (gradient=, grad_outputs=), or sum first",
            site=str(here()),
        )
    return np.array(1, array.dtype).reshape(array.shape)


def checked_seed(where: str, name: str, seed: Any, y: Tensor) -> Any:
    """A cotangent that was given, in the output's type.

    Raises:
        DTypeError: it is no tensor or array, or complex for a real output.
        SeedError: another shape.
    """
    if not isinstance(seed, (Tensor, np.ndarray, np.generic)):
        got = type(seed).__name__
        raise DTypeError(where, f"{name} is no tensor", expected=y.type, got=got)
    seed = cast("Any", seed)
    if seed.shape != y.shape:
        got = f"{seed.dtype}{list(seed.shape)}"
        raise SeedError(where, f"{name} has another shape", expected=y.type, got=got)
    if is_complex(seed.dtype) and not is_complex(y.dtype):
        raise SeedError(where, f"{name} is complex", expected=y.type, got=str(seed.dtype))
    if isinstance(seed, Tensor):
        return seed if seed.dtype == y.dtype else OPS["astype"](seed, y.dtype)
    return np.asarray(seed, y.dtype)


# --- the pass -------------------------------------------------------------------------------------


def _mode(create: bool) -> int:
    present = MODE.get()
    return present | RECORDING if create else present & ~RECORDING


def _start(walk: Pass, outputs: Sequence[Tensor], seeds: Sequence[Any]) -> None:
    for y, seed in zip(outputs, seeds, strict=True):
        if walk.create:
            start = seed if isinstance(seed, Tensor) else tensor_on(Storage(seed))
        else:
            start = seed.storage.array if isinstance(seed, Tensor) else seed
        walk.add(y.edge, start)
    with np.errstate(all="ignore"):
        walk.run()


def _leading_to(outputs: Sequence[Tensor], wanted: set[Any]) -> tuple[set[Any], set[Any]]:
    """The records that lead to wanted ones (and those themselves), and all that is reached."""
    reached: set[Any] = {y.edge for y in outputs}
    pending = list(reached)
    while pending:
        node = pending.pop()
        if isinstance(node, Record):
            for edge in node.edges:
                if edge is not None and edge not in reached:
                    reached.add(edge)
                    pending.append(edge)
    active: set[Any] = wanted & reached
    records = [node for node in reached if isinstance(node, Record)]
    for record in sorted(records, key=lambda record: -record.order):
        if any(edge in active for edge in record.edges):
            active.add(record)
    return active, reached


def _store(walk: Pass, totals: Sequence[Any], wanted: Sequence[Any], inputs: Any) -> None:
    """Add all gradients to ``.grad``."""
    for leaf, total in totals:
        if leaf.accepts:
            _accumulate(leaf.extra, total, walk.create)
    _store_kept(walk)
    if inputs is None:
        return
    for x, edge in zip(_tensors("backward", "inputs", inputs), wanted, strict=True):
        if isinstance(edge, Record) and not x.retains_grad and _is_value(walk.found.get(edge)):
            _accumulate(x.extra, walk.found[edge], walk.create)


def _store_kept(walk: Pass) -> None:
    """Add the gradients that results retain; every pass adds, as for a leaf."""
    for extra, ct in walk.kept:
        _accumulate(extra, ct, walk.create)


_MINE = 4
"""References to an array that only this module holds: two names, an argument, a list's item."""


def _accumulate(extra: Any, total: Any, create: bool) -> None:
    with adding:
        grad = extra.grad
        if create:
            extra.grad = OPS["clone"](total) if grad is None else grad + total
            return
        if grad is None:
            owned = total.base is None and sys.getrefcount(total) <= _MINE
            extra.grad = tensor_on(Storage(total if owned else total.copy()))
            return
        array = grad.storage.array
        if array.flags.writeable and array.dtype == total.dtype:
            np.add(array, total, out=array)
            grad.storage.version += 1
        else:
            extra.grad = tensor_on(Storage(array + total))


late.backward = backward
late.tensor_gradients = gradients
