"""The families of ops: decorators that fill an `Op` record from what cannot be derived.

The decorated function is the reference kernel on numpy arrays. Parameters annotated ``Array``,
``Array | None`` or ``Sequence[Array]`` are operands, all others attributes.

| family | written | derived |
|---|---|---|
| scalar, elementwise | kernel, one partial per operand | type, vjp, jvp, guard |
| linear | type, transpose | vjp is the transpose, jvp the op itself |
| multilinear | type, one transpose per operand | vjp, jvp by the product rule |
| reduction, selection, opaque | type, vjp | jvp, where not given, by transposing the vjp |
| composite | a body in ops | everything, by expansion |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from symgrad.ir.op import (
    OPS,
    ZERO,
    Attrs,
    Composite,
    Nothing,
    Op,
    no_derivative,
    ops,
    register_composite,
)
from symgrad.ir.signature import Signature
from symgrad.ops.declaring import Array, Kernel, Rule, declared, require_kind
from symgrad.ops.pointwise import elementwise, scalar
from symgrad.types import TensorType

__all__ = [
    "Array",
    "composite",
    "elementwise",
    "item",
    "linear",
    "multi",
    "multilinear",
    "nondifferentiable",
    "opaque",
    "reduction",
    "require_kind",
    "scalar",
    "selection",
    "unpack",
    "variadic_linear",
]


# --- linear and multilinear -------------------------------------------------------------------


def _with_operand(op: Op, i: int, value: Any, args: Sequence[Any], attrs: Attrs) -> Any:
    """The op applied with operand ``i`` replaced."""
    operands = [value if k == i else a for k, a in enumerate(args)]
    return op(operands, **attrs) if op.variadic else op(*operands, **attrs)


def linear(*, type: Rule, transpose: Rule, **facets: Any) -> Callable[[Kernel], Op]:
    """An op linear in operand 0; further operands (indices, say) are not differentiated.

    Args:
        type: ``type(*operand_types, **attrs)``.
        transpose: ``transpose(ct, *operands, **attrs)``, the adjoint map. It is written in ops that
            also work on booleans, since it carries guards too.
    """

    def declare(kernel: Kernel) -> Op:
        name = facets.get("name", kernel.__name__)

        def vjp(i: int, ct: Any, y: Any, args: Sequence[Any], attrs: Attrs) -> Any:
            if i > 0:
                return no_derivative("not an argument of differentiation")
            return transpose(ct, *args, **attrs)

        def jvp(tangents: Sequence[Any], y: Any, args: Sequence[Any], attrs: Attrs) -> Any:
            return (
                ZERO
                if tangents[0] is ZERO
                else _with_operand(OPS[name], 0, tangents[0], args, attrs)
            )

        def guard(i: int, predicate: Any, y: Any, args: Sequence[Any], attrs: Attrs) -> Any:
            return transpose(predicate, *args, **attrs)

        facets.setdefault("guard", guard)
        facets.setdefault("promotes", (0,))
        facets.setdefault("jvp", jvp)
        return declared(kernel, "linear", Signature(kernel), type=type, vjp=vjp, **facets)

    return declare


def variadic_linear(*, type: Rule, transpose: Rule, **facets: Any) -> Callable[[Kernel], Op]:
    """An op on a sequence of operands, linear in all of them together (concat, stack).

    Args:
        type: ``type(operand_types, **attrs)``.
        transpose: ``transpose(i, ct, operands, **attrs)``, the part of ``ct`` that is operand
        ``i``'s.
    """

    def declare(kernel: Kernel) -> Op:
        name = facets.get("name", kernel.__name__)

        def vjp(i: int, ct: Any, y: Any, args: Sequence[Any], attrs: Attrs) -> Any:
            return transpose(i, ct, args, **attrs)

        def jvp(tangents: Sequence[Any], y: Any, args: Sequence[Any], attrs: Attrs) -> Any:
            if all(t is ZERO for t in tangents):
                return ZERO
            dense = [
                ops.zeros_like(a) if t is ZERO else t for t, a in zip(tangents, args, strict=True)
            ]
            return OPS[name](dense, **attrs)

        def guard(i: int, predicate: Any, y: Any, args: Sequence[Any], attrs: Attrs) -> Any:
            return transpose(i, predicate, args, **attrs)

        facets.setdefault("guard", guard)
        return declared(kernel, "linear", Signature(kernel), type=type, vjp=vjp, jvp=jvp, **facets)

    return declare


def multilinear(*, type: Rule, transpose: Rule, **facets: Any) -> Callable[[Kernel], Op]:
    """An op linear in each operand by itself (matmul, einsum, conv).

    Args:
        type: ``type(*operand_types, **attrs)``; a variadic op gets one list.
        transpose: per operand ``t_i(ct, *operands, **attrs)``; for a variadic op one function
            ``t(i, ct, operands, **attrs)``.
    """

    def declare(kernel: Kernel) -> Op:
        name = facets.get("name", kernel.__name__)

        def vjp(i: int, ct: Any, y: Any, args: Sequence[Any], attrs: Attrs) -> Any:
            if isinstance(transpose, tuple):
                return transpose[i](ct, *args, **attrs)
            return transpose(i, ct, args, **attrs)

        def jvp(tangents: Sequence[Any], y: Any, args: Sequence[Any], attrs: Attrs) -> Any:
            total: Any = ZERO
            for i, tangent in enumerate(tangents):
                if tangent is not ZERO:
                    term = _with_operand(OPS[name], i, tangent, args, attrs)
                    total = term if total is ZERO else total + term
            return total

        return declared(
            kernel, "multilinear", Signature(kernel), type=type, vjp=vjp, jvp=jvp, **facets
        )

    return declare


# --- the rest -----------------------------------------------------------------------------------


def _by_operand(vjp: Any) -> Rule:
    """A tuple of rules ``v_i(ct, y, *args, **attrs)`` as one rule that takes ``i``."""
    if not isinstance(vjp, tuple):
        return vjp
    rules: tuple[Any, ...] = vjp

    def chosen(i: int, ct: Any, y: Any, args: Sequence[Any], attrs: Attrs) -> Any:
        rule = rules[i] if i < len(rules) else no_derivative("not an argument of differentiation")
        return rule if isinstance(rule, Nothing) else rule(ct, y, *args, **attrs)

    return chosen


def _general(family: str) -> Callable[..., Callable[[Kernel], Op]]:
    def family_decorator(
        *, type: Rule, vjp: Any, jvp: Rule | None = None, **facets: Any
    ) -> Callable[[Kernel], Op]:
        def declare(kernel: Kernel) -> Op:
            return declared(
                kernel,
                family,
                Signature(kernel),
                type=type,
                vjp=_by_operand(vjp),
                jvp=jvp,
                **facets,
            )

        return declare

    family_decorator.__doc__ = f"""An op of the {family} family.

    Args:
        type: ``type(*operand_types, **attrs)``.
        vjp: per operand ``v_i(ct, y, *operands, **attrs)`` or ``no_derivative(...)``; or one rule
            ``v(i, ct, y, operands, attrs)``.
        jvp: ``j(tangents, y, operands, attrs)``; None derives it by transposing the vjp.
    """
    return family_decorator


reduction = _general("reduction")
selection = _general("selection")
opaque = _general("opaque")


def _always(nothing: Nothing) -> Rule:
    def rule(*_: Any) -> Nothing:
        return nothing

    return rule


def nondifferentiable(*, type: Rule, reason: str, **facets: Any) -> Callable[[Kernel], Op]:
    """An op without a derivative in mathematics: integer or boolean results, creation."""

    def declare(kernel: Kernel) -> Op:
        nothing = no_derivative(reason)
        return declared(
            kernel,
            "nondifferentiable",
            Signature(kernel),
            type=type,
            vjp=_always(nothing),
            jvp=_always(ZERO),
            **facets,
        )

    return declare


def composite(
    body: Kernel | None = None,
    *,
    namespace: str | None = "",
    name: str | None = None,
    reads_values: bool = False,
) -> Any:
    """A function written in ops; everything about it follows by expansion.

    ``name`` is needed where the body's own is taken by a function of another namespace,
    ``reads_values`` where the body looks at the values of tensors: see `symgrad.ir.op.Composite`.
    """

    def declare(body: Kernel) -> Composite:
        return register_composite(Composite(body, namespace, name, reads_values=reads_values))

    return declare if body is None else declare(body)


# --- several outputs ------------------------------------------------------------------------------


def _item_type(pack: Any, *, index: int) -> TensorType:
    return pack.items[index]


@linear(
    type=_item_type,
    transpose=lambda ct, pack, *, index: (index, ct),
    jvp=lambda tangents, y, args, attrs: tangents[0][attrs["index"]],
    guard="drop",
    holomorphic=False,  # what is picked needs no conjugate, and so none of that
    warns=False,
    namespace=None,
    view=True,
)
def item(pack: Array, /, *, index: int) -> Array:
    """One output of an op that has several.

    >>> import symgrad as sg
    >>> sg.linalg.slogdet(2 * sg.eye(1))[0]  # one of two items
    Tensor(1.)
    """
    return pack[index]


def multi(
    *, type: Rule, vjp: Any, jvp: Rule | None = None, **facets: Any
) -> Callable[[Kernel], Op]:
    """An op with several outputs: its symbol is a tuple, taken apart by `item`.

    Args:
        type: ``type(*operand_types, **attrs)`` gives a ``TupleType``.
        vjp: per operand ``v_i(cts, ys, *operands, **attrs)``; ``cts`` and ``ys`` hold one item
            per output, and a ct may be ZERO.
        jvp: ``j(tangents, ys, operands, attrs)`` gives a tuple of tangents; None derives it.

    The declared op gives the packed tuple; a composite takes it apart for the public function:
    ``unpack(op(x), n)``.
    """

    def declare(kernel: Kernel) -> Op:
        facets.setdefault("namespace", None)
        return declared(
            kernel, "multi", Signature(kernel), type=type, vjp=_by_operand(vjp), jvp=jvp, **facets
        )

    return declare


def unpack(pack: Any, count: int) -> tuple[Any, ...]:
    """The outputs of an op of several, as a tuple."""
    return tuple(item(pack, index=k) for k in range(count))
