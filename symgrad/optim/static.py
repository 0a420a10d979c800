"""Updates: a step of an optimiser as symbols."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

from symgrad.eager.tensor import Tensor
from symgrad.errors import ArgumentError, GradientError, ShapeError, TraceError
from symgrad.ir.op import ops
from symgrad.ir.symbol import Symbol, variable_on
from symgrad.optim.groups import Group, options_of
from symgrad.optim.rules import apply_rule
from symgrad.transform import grad

if TYPE_CHECKING:
    from symgrad.optim.optimizer import Optimizer


def updates(optimizer: Optimizer, loss: Any, grads: Any) -> dict[Symbol, Symbol]:
    """See `Optimizer.updates`."""
    where = f"{optimizer.where}.updates"
    if not isinstance(loss, Symbol):
        hint = "a loss with a value: loss.backward(), then step()" if _is_tensor(loss) else None
        raise TraceError(where, "the loss is no symbol", got=type(loss).__name__, hint=hint)
    variables = [variable_on(p.storage) for p in optimizer.parameters() if p.requires_grad]
    if not variables:
        raise GradientError(where, "no parameter requires a gradient")
    found = _gradients(where, loss, variables) if grads is None else _given(where, variables, grads)
    new = dict(_pending(loss))
    for group in optimizer.param_groups:
        for p in group["params"]:
            g = found.get(variable_on(p.storage)) if p.requires_grad else None
            if g is not None:
                new.update(_advanced(optimizer, group, p, g))
        group.built |= group.left_out(optimizer.switches)
    return new


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor)


def _gradients(where: str, loss: Symbol, variables: list[Symbol]) -> dict[Symbol, Any]:
    try:
        found = grad(loss, variables, allow_unused=True)
    except (GradientError, TypeError) as error:
        if hasattr(error, "where"):
            error.where = where  # pyright: ignore[reportAttributeAccessIssue]
        raise
    if all(g is None for g in found):
        raise GradientError(
            where,
            "the loss uses no parameter that requires a gradient",
            got=loss.type,
            hint="was it built before requires_grad was set, or from detached tensors?",
            site=str(loss.site),
        )
    return dict(zip(variables, found, strict=True))


def _given(where: str, variables: list[Symbol], grads: Any) -> dict[Symbol, Any]:
    if isinstance(grads, Mapping):
        items = cast("Mapping[Any, Any]", grads).items()
        given = {_variable(key): g for key, g in items}
    else:
        listed: list[Any] = list(grads) if isinstance(grads, Iterable) else [grads]  # pyright: ignore[reportUnknownArgumentType]
        if len(listed) != len(variables):
            raise ArgumentError(
                where,
                "grads",
                expected=f"{len(variables)}, one per parameter that requires a gradient",
                got=len(listed),
            )
        given = dict(zip(variables, listed, strict=True))
    known = set(variables)
    for variable, g in given.items():
        if variable not in known:
            raise ArgumentError(where, "grads: no parameter that requires a gradient", got=variable)
        if g is not None and (not isinstance(g, Symbol) or g.shape != variable.shape):
            raise ShapeError(
                where, "grads: not of its parameter's shape", expected=variable.type, got=repr(g)
            )
    return given


def _variable(key: Any) -> Any:
    return variable_on(key.storage) if isinstance(key, Tensor) else key


def _pending(loss: Symbol) -> Mapping[Symbol, Symbol]:
    """What layers on the way to the loss want to have updated."""
    updates_of = getattr(sys.modules[__name__.partition(".")[0]], "updates_of", None)
    return {} if updates_of is None else updates_of(loss)


def _advanced(
    optimizer: Optimizer, group: Group, p: Tensor, g: Symbol
) -> Iterable[tuple[Symbol, Symbol]]:
    """The new values of one parameter and its state."""
    numbers = group.numbers(group.left_out(optimizer.switches))
    named = [(name, variable_on(storage, name=name)) for name, storage in numbers]
    options = options_of(named, group.structure(optimizer.flags))
    kept = optimizer.state_of(p, group)
    state = {name: variable_on(tensor.storage, name=name) for name, tensor in kept.items()}
    variable = variable_on(p.storage)
    if g.dtype != variable.dtype:
        g = ops.astype(g, variable.dtype)
    new_p, new = apply_rule(optimizer.rule, variable, g, state, options)
    return [(variable, new_p), *((state[name], new[name]) for name in state)]
