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
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from symgrad.errors import DTypeError
from symgrad.ir.op import (
    OPS,
    ZERO,
    Attrs,
    Composite,
    Nothing,
    Op,
    Signature,
    no_derivative,
    ops,
    register,
    register_composite,
)
from symgrad.types import (
    TensorType,
    broadcast_shapes,
    is_bool,
    is_complex,
    is_inexact,
    is_integer,
    promote,
    real_dtype,
)

if TYPE_CHECKING:
    # To a type checker anything: an op may be called on symbols, tensors, arrays and numbers alike.
    Array: TypeAlias = Any
else:

    class Array:
        """The annotation of an operand: what a kernel computes on."""


Kernel: TypeAlias = Callable[..., Any]
Rule: TypeAlias = Any
"""A rule written in ops, as its decorator documents it; or one of the kinds of nothing."""

_KINDS: dict[str, Callable[[np.dtype[Any]], bool]] = {
    "any": lambda d: True,
    "numeric": lambda d: not is_bool(d),
    "real": lambda d: not is_bool(d) and not is_complex(d),
    "real or bool": lambda d: not is_complex(d),
    "inexact": is_inexact,
    "floating": lambda d: is_inexact(d) and not is_complex(d),
    "complex": is_complex,
    "integer": is_integer,
    "integer or bool": lambda d: is_integer(d) or is_bool(d),
    "bool": is_bool,
}


def require_kind(where: str, dtype: np.dtype[Any], kind: str, argument: str = "x") -> None:
    """Refuse an element type that an op does not take."""
    if not _KINDS[kind](dtype):
        raise DTypeError(where, f"element type of {argument}", expected=kind, got=dtype)


# --- element-wise -----------------------------------------------------------------------------


def _elementwise_type(name: str, takes: str, gives: str) -> Callable[..., TensorType]:
    admitted: set[np.dtype[Any]] = set()  # element types that passed; a set look-up is quick

    def admit(types: Sequence[TensorType]) -> None:
        for position, kind in enumerate(types):
            if kind.dtype not in admitted:
                require_kind(name, kind.dtype, takes, f"operand {position}")
                admitted.add(kind.dtype)

    def result_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
        if gives == "bool":
            return np.dtype(bool)
        return real_dtype(dtype) if gives == "real" else dtype

    def infer(*types: TensorType, **_attrs: Any) -> TensorType:
        admit(types)
        first = types[0]
        if all(kind is first or kind == first for kind in types):
            return first if gives == "same" else TensorType(first.shape, result_dtype(first.dtype))
        dtype = promote(*(t.dtype for t in types))
        # Integers of different signs may have no common integer type, but a float.
        require_kind(name, dtype, takes, "the promoted operands")
        return TensorType(broadcast_shapes(name, *(t.shape for t in types)), result_dtype(dtype))

    return infer


def scaled(ct: Any, factor: Any) -> Any:
    """``ct * factor``, where a factor may be a plain number."""
    if isinstance(factor, (int, float)):
        if factor == 1:
            return ct
        return -ct if factor == -1 else ct * factor
    return factor if isinstance(factor, Nothing) else ct * factor


def partial_of(op: Op, i: int, y: Any, args: Sequence[Any], attrs: Attrs) -> Any:
    """The factor of operand ``i``: a number, a value, or ZERO and its kin."""
    assert op.partials is not None
    partial = op.partials[i]
    return partial(y, *args, **attrs) if callable(partial) else partial


def _per_operand(partials: Any, arity: int) -> tuple[Any, ...]:
    return tuple(partials) if isinstance(partials, tuple) else (partials,) * arity


def _elementwise_rules(name: str) -> tuple[Rule, Rule]:
    def vjp(i: int, ct: Any, y: Any, args: Sequence[Any], attrs: Attrs) -> Any:
        return scaled(ct, partial_of(OPS[name], i, y, args, attrs))

    def jvp(tangents: Sequence[Any], y: Any, args: Sequence[Any], attrs: Attrs) -> Any:
        total: Any = ZERO
        for i, tangent in enumerate(tangents):
            if tangent is ZERO:
                continue
            term = scaled(tangent, partial_of(OPS[name], i, y, args, attrs))
            if not isinstance(term, Nothing):
                total = term if total is ZERO else total + term
        return total

    return vjp, jvp


def elementwise(
    *,
    partials: Any,
    takes: str = "inexact",
    gives: str = "same",
    integers: str = "float",
    **facets: Any,
) -> Callable[[Kernel], Op]:
    """An element-wise op, with a kernel in numpy and a partial derivative per operand.

    Args:
        partials: one entry per operand (a bare entry for one operand): a number, a function
            ``p(y, *operands, **attrs)`` written in ops, or ``no_derivative(...)``.
        takes: the kind of element types that it takes.
        gives: the result's element type: "same" (promoted), "real" or "bool".
        integers: "float" casts integer operands to the float type of the computation first.
    """

    def declare(kernel: Kernel) -> Op:
        name = facets.get("name", kernel.__name__)
        signature = Signature(kernel)
        rows = _per_operand(partials, signature.arity)
        vjp, jvp = _elementwise_rules(name)
        return _register(
            kernel,
            "elementwise",
            signature,
            type=_elementwise_type(name, takes, gives),
            vjp=facets.pop("vjp", vjp),
            jvp=facets.pop("jvp", jvp),
            partials=rows,
            integers=integers,
            guard="keep",
            **facets,
        )

    return declare


def _scalar_signature(arity: int) -> Signature:
    def one(x: Array, /) -> Any: ...

    def two(x1: Array, x2: Array, /) -> Any: ...

    return Signature(one if arity == 1 else two)


def scalar(
    name: str,
    ufunc: Any,
    partials: Any,
    summary: str,
    example: str,
    *,
    takes: str = "inexact",
    gives: str = "same",
    integers: str = "float",
    restricts_domain: bool = False,
    **facets: Any,
) -> Op:
    """One row of the textbook table: a scalar instruction of the closed set.

    Args:
        name: the op's public name.
        ufunc: its kernel, a numpy ufunc or a function of arrays.
        partials: as for `elementwise`.
        summary: one line for the documentation.
        example: a doctest, ``call -> result``, the call without its ``sg.``.
        restricts_domain: whether a partial is infinite or NaN at some finite point.
    """
    is_ufunc = isinstance(ufunc, np.ufunc)
    arity = ufunc.nin if is_ufunc else Signature(ufunc).arity
    rows = _per_operand(partials, arity)
    call, _, result = example.partition(" -> ")
    call = f"sg.{call}.item()" if call.endswith(")") else f"(sg.{call}).item()"
    operands = "x: array of any shape" if arity == 1 else "x1, x2: arrays whose shapes broadcast"
    doc = (
        f"{summary}\n\nElement-wise. Args: {operands}; element type: {takes}"
        f"{' (integers are cast to the float type)' if integers == 'float' else ''}.\n"
        f"Raises: DTypeError for another element type"
        f"{'' if arity == 1 else ', ShapeError where shapes do not broadcast'}.\n\n"
        f">>> import symgrad as sg\n>>> {call}\n{result}\n"
    )
    vjp, jvp = _elementwise_rules(name)
    return register(
        Op(
            name=name,
            family="scalar",
            kernel=ufunc,
            signature=_scalar_signature(arity),
            type=_elementwise_type(name, takes, gives),
            vjp=facets.pop("vjp", vjp),
            jvp=facets.pop("jvp", jvp),
            partials=rows,
            integers=integers,
            guard="keep",
            restricts_domain=restricts_domain,
            ufunc=ufunc if is_ufunc else None,
            doc=doc,
            **facets,
        )
    )


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
        return _register(kernel, "linear", Signature(kernel), type=type, vjp=vjp, **facets)

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
        return _register(kernel, "linear", Signature(kernel), type=type, vjp=vjp, jvp=jvp, **facets)

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

        return _register(
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
            return _register(
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
        return _register(
            kernel,
            "nondifferentiable",
            Signature(kernel),
            type=type,
            vjp=_always(nothing),
            jvp=_always(ZERO),
            **facets,
        )

    return declare


def composite(body: Kernel | None = None, *, namespace: str | None = "") -> Any:
    """A function written in ops; everything about it follows by expansion."""

    def declare(body: Kernel) -> Composite:
        return register_composite(Composite(body, namespace))

    return declare if body is None else declare(body)


def _register(kernel: Kernel, family: str, signature: Signature, **facets: Any) -> Op:
    facets.setdefault("name", kernel.__name__)
    return register(
        Op(family=family, kernel=kernel, signature=signature, doc=kernel.__doc__ or "", **facets)
    )


# --- several outputs ------------------------------------------------------------------------------


def _item_type(pack: Any, *, index: int) -> TensorType:
    return pack.items[index]


@linear(
    type=_item_type,
    transpose=lambda ct, pack, *, index: (index, ct),
    jvp=lambda tangents, y, args, attrs: tangents[0][attrs["index"]],
    guard="drop",
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
        return _register(
            kernel, "multi", Signature(kernel), type=type, vjp=_by_operand(vjp), jvp=jvp, **facets
        )

    return declare


def unpack(pack: Any, count: int) -> tuple[Any, ...]:
    """The outputs of an op of several, as a tuple."""
    return tuple(item(pack, index=k) for k in range(count))
