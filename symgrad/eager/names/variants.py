"""Keywords of PyTorch's that stand for more than one op."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symgrad.eager.tensor import Tensor
from symgrad.errors import ArgumentError, TraceError
from symgrad.ir.op import COMPOSITES, OPS, ops
from symgrad.ir.spellings import VARIANTS

Args = tuple[Any, ...]
Named = dict[str, Any]


def variant(keyword: str, *names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter a function for a keyword of the functions of these names."""

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            VARIANTS[keyword, name] = function
        return function

    return enter


def _without(named: Named, keyword: str) -> tuple[Any, Named]:
    return named[keyword], {k: v for k, v in named.items() if k != keyword}


@variant("alpha", "add", "subtract")
def _scaled(op: Any, args: Args, named: Named) -> Any:
    """``add(x, y, alpha=2)`` is ``x + 2*y``."""
    alpha, named = _without(named, "alpha")
    args, named = op.signature.adapted(op.name, args, named)
    if len(args) != 2:
        return op(*args, **named)  # which says what is missing
    return op(args[0], ops.multiply(args[1], alpha))


@variant("rounding_mode", "divide")
def _rounded_quotient(op: Any, args: Args, named: Named) -> Any:
    mode, named = _without(named, "rounding_mode")
    if mode == "floor":
        return ops.floor_divide(*args, **named)
    if mode == "trunc":
        return ops.trunc(op(*args, **named))
    if mode is None:
        return op(*args, **named)
    raise ArgumentError(
        "divide", "rounding_mode", expected="None, 'floor' or 'trunc'", got=repr(mode)
    )


@variant("unbiased", "std", "var")
def _corrected(op: Any, args: Args, named: Named) -> Any:
    unbiased, named = _without(named, "unbiased")
    return op(*args, **named, correction=float(bool(unbiased)))


@variant("decimals", "round")
def _rounded(op: Any, args: Args, named: Named) -> Any:
    decimals, named = _without(named, "decimals")
    scale = 10.0 ** abs(decimals)
    x = ops.multiply(*args, scale) if decimals > 0 else ops.divide(*args, scale)
    rounded = op(x, **named)
    return rounded / scale if decimals > 0 else rounded * scale


@variant("as_tuple", "nonzero")
def _places(op: Any, args: Args, named: Named) -> Any:
    as_tuple, named = _without(named, "as_tuple")
    return op(*args, **named) if as_tuple else ops.argwhere(*args, **named)


@variant("right", "searchsorted")
def _from_right(op: Any, args: Args, named: Named) -> Any:
    right, named = _without(named, "right")
    return op(*args, **named, side="right" if right else "left")


@variant("reduce", "scatter")
def _reduced(op: Any, args: Args, named: Named) -> Any:
    """``scatter(x, dim, index, src, reduce="add")``."""
    reduce, named = _without(named, "reduce")
    if reduce == "add":
        return ops.scatter_add(*args, **named)
    if reduce == "multiply":
        return ops.scatter_reduce(*args, **named, reduction="prod")
    if reduce is None:
        return op(*args, **named)
    raise ArgumentError("scatter", "reduce", expected="'add' or 'multiply'", got=repr(reduce))


# --- factories ------------------------------------------------------------------------------------


def requiring(where: str, made: Any, requires_grad: bool) -> Any:
    """What a factory made, as a leaf that requires a gradient if that is asked for.

    Raises:
        TraceError: it is a symbol. NotDifferentiable: it is not of floating-point type.
    """
    if not requires_grad:
        return made
    if not isinstance(made, Tensor):
        raise TraceError(
            where,
            "a symbol does not require a gradient",
            got=repr(made),
            hint="sg.grad differentiates by any symbol",
        )
    return made.requires_grad_()


def _factory(op: Any, args: Args, named: Named) -> Any:
    wanted, named = _without(named, "requires_grad")
    made = op(*args, **named)
    if wanted and any(made is arg for arg in (*args, *named.values())):
        made = made.detach()  # the flag is that of the new tensor alone
    return requiring(op.name, made, wanted)


def _is_factory(function: Any) -> bool:
    """Whether it makes an array of a type that is asked for: on a device, or from a key."""
    names = {p.name for p in function.signature.parameters if p.keyword_only}
    drawn = function.signature.names[:1] == ("key",)
    return "dtype" in names and ("device" in names or drawn)


for _name, _op in {**OPS, **COMPOSITES}.items():
    if _op.namespace is not None and _is_factory(_op):
        VARIANTS["requires_grad", _name] = _factory
