"""The families of element-wise ops: a kernel and one partial derivative per operand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.ir.op import OPS, ZERO, Attrs, Nothing, Op, register
from symgrad.ir.signature import Signature
from symgrad.ops.declaring import Array, Kernel, Rule, declared, require_kind
from symgrad.types import TensorType, broadcast_shapes, promote, real_dtype


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
        return declared(
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
