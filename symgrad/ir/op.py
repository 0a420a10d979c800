"""Op: a frozen record of facets, callable; and the registry of all ops.

An op is declared once, in ``symgrad.ops``, through one of the families there. Everything else reads
the record. Calling an op binds the arguments, picks the front end from the operands (a symbol
anywhere builds a symbol, otherwise the call computes at once) and hands over.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np

from symgrad.errors import ArgumentError, SymgradError
from symgrad.ir.extras import require_extra
from symgrad.ir.late import late
from symgrad.ir.signature import Attrs, Signature
from symgrad.ir.site import here
from symgrad.ir.spellings import VARIANTS
from symgrad.types import Dim, TensorType


class Nothing:
    """A derivative that is nothing, and why. Never ``None``: that would mean three things."""

    __slots__ = ("kind", "reason")

    def __init__(self, kind: str, reason: str) -> None:
        self.kind, self.reason = kind, reason

    def __repr__(self) -> str:
        return f"{self.kind}({self.reason!r})" if self.reason else self.kind


ZERO = Nothing("ZERO", "")
"""The structural zero: known to vanish, never materialised."""


def no_derivative(reason: str) -> Nothing:
    """The derivative does not exist in mathematics, for this reason."""
    return Nothing("no_derivative", reason)


def todo(what: str) -> Nothing:
    """The derivative exists and is not written yet."""
    return Nothing("todo", what)


class FrontEnd(Protocol):
    """What a class of operands brings: how a call on it is carried out."""

    def __call__(self, op: Op, operands: Sequence[Any], attrs: Attrs, /) -> Any: ...


def _holds_dim(value: Any) -> bool:
    if isinstance(value, tuple):
        return any(map(_holds_dim, cast("tuple[Any, ...]", value)))
    return isinstance(value, Dim)


class FrontEnds:
    """The front ends, by rank; the operand of the highest rank decides for the whole call.

    A class of operands names its rank in ``__front_rank__``: tensors 1, symbols 2, patterns 3.

    Attributes:
        by_rank: the front ends.
        tensors: the classes of tensors, whose calls are told apart at once.
    """

    def __init__(self) -> None:
        self.by_rank: dict[int, FrontEnd] = {}
        self.tensors: set[type] = set()

    def choose(self, operands: Sequence[Any], attrs: Attrs, least: int = 0) -> FrontEnd:
        rank = least
        for operand in operands:
            found = getattr(operand, "__front_rank__", 0)
            if found > rank:  # a call of max would double the time of the loop
                rank = found
        if rank > TENSOR_RANK:
            return self.by_rank[rank]
        if attrs and any(map(_holds_dim, attrs.values())):
            return self.by_rank[SYMBOL_RANK]
        return late.apply_eager


TENSOR_RANK, SYMBOL_RANK, PATTERN_RANK = 1, 2, 3
FRONT_ENDS = FrontEnds()


@dataclass(frozen=True, slots=True, eq=False)
class Op:
    """One operation: its kernel and every facet that a reader of the op library needs.

    Attributes:
        name: the op's name, which is also the kernel's.
        family: the family that filled the record.
        kernel: the reference meaning, on numpy arrays.
        signature: operands and attributes, read off the kernel.
        type: ``type(*operand_types, **attrs)``; a variadic op gets one list.
        vjp: ``vjp(i, ct, y, args, attrs)``, the cotangent's contribution to operand ``i``. Neither
            summed over broadcast axes nor cast back: the walker does that.
        joint: ``joint(wanted, ct, y, args, attrs)``, the contributions to all operands in
            ``wanted``, each in its operand's type or ZERO; instead of ``vjp``, for ops whose rule
            is not to be run operand by operand. It drops guards.
        jvp: ``jvp(tangents, y, args, attrs)``, the output's tangent; a tangent may be ZERO.
        normalize: brings attributes into one form once operand types are known.
        partials: for element-wise ops, a factor per operand: a number, or ``p(y, *args, **attrs)``.
        promotes: which operands share one element type, so that a Python number takes the others'.
        integers: what becomes of integer operands: "keep", or "float" (cast to the result's type).
        guard: how the predicate of a selection passes to operand ``i``: "keep" (element-wise),
            "drop", or ``guard(i, predicate, y, args, attrs)``.
        live: for selections, per operand ``p(y, *args, **attrs)``, the predicate under which the
            operand matters, or None.
        strong_guard: the selection guards every op before it, not only those that restrict.
        restricts_domain: its derivative may be infinite or NaN at finite points.
        warns: its kernel may raise floating-point warnings.
        holomorphic: its vjp is the plain transpose; the walker conjugates.
        view: its kernel may return a view of operand 0.
        ufunc: the numpy ufunc that the kernel is, if it is one: ``out=`` works.
        commutative: the two operands may be exchanged, bit for bit.
        linear_vjp: its vjp is linear in the cotangent, so that forward mode may be derived from it.
        needs: the extra without which its kernel cannot run, or None.
        namespace: the public namespace below ``symgrad``; ``""`` for the top, ``None`` for none.
    """

    name: str
    family: str
    kernel: Callable[..., Any]
    signature: Signature
    type: Callable[..., TensorType]
    vjp: Callable[..., Any]
    joint: Callable[..., Sequence[Any]] | None = None
    jvp: Callable[..., Any] | None = None
    partials: tuple[Any, ...] | None = None
    normalize: Callable[..., Attrs] | None = None
    promotes: tuple[int, ...] | None = None
    integers: str = "keep"
    guard: str | Callable[..., Any] = "drop"
    live: tuple[Callable[..., Any] | None, ...] | None = None
    strong_guard: bool = False
    restricts_domain: bool = False
    warns: bool = True
    holomorphic: bool = True
    view: bool = False
    ufunc: np.ufunc | None = None
    commutative: bool = False
    linear_vjp: bool = True
    needs: str | None = None
    namespace: str | None = ""
    doc: str = ""

    @property
    def variadic(self) -> bool:
        """Whether the op takes a sequence of operands."""
        return self.signature.variadic

    def infer(self, types: Sequence[TensorType], attrs: Attrs) -> TensorType:
        """The type of the result."""
        return self.type(list(types), **attrs) if self.variadic else self.type(*types, **attrs)

    def run(self, values: Sequence[Any], attrs: Attrs) -> Any:
        """Run the reference kernel on numpy arrays."""
        if self.needs is not None:
            require_extra(self.name, self.needs)
        return (
            self.kernel(list(values), **attrs) if self.variadic else self.kernel(*values, **attrs)
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            signature = self.signature
            if len(args) == signature.plain and not kwargs:
                # Operands alone, by position: attributes that are not given hold no dimension.
                attrs = signature.defaults
                if args and type(args[0]) in FRONT_ENDS.tensors:  # looks further itself
                    return late.apply_eager(self, args, attrs)
                return FRONT_ENDS.choose(args, {})(self, args, attrs)
            if kwargs and (variant := _variant(self.name, kwargs)) is not None:
                return variant(self, args, kwargs)
            if holds_tensors(args):
                return late.expand(self, args, kwargs)
            return self.directly(args, kwargs)
        except SymgradError as error:
            if error.site is None:
                error.site = str(here())
            raise

    def directly(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Carry out a call: tell operands from attributes, and hand over to the front end."""
        operands, attrs = self.signature.bind(self.name, tuple(args), kwargs)
        return FRONT_ENDS.choose(operands, attrs)(self, operands, attrs)

    def __repr__(self) -> str:
        return f"<op {self.name}{self.signature.text}>"

    def __reduce__(self) -> Any:
        return public, (self.name,)


def holds_tensors(args: Sequence[Any]) -> bool:
    """Whether the first operand is a tensor, or a list that begins with one."""
    first: Any = args[0] if args else None
    if isinstance(first, list) and first:
        first = cast("list[Any]", first)[0]
    return cast("Any", first).__class__ in FRONT_ENDS.tensors


class Composite:
    """A function written in ops: its call expands where it stands.

    It shares an op's calling convention, so that a call without any symbol still gives a tensor.

    Args:
        body: the function.
        namespace: its public namespace, as for an op.
        name: its name in the registry, if that is not the body's: "random.gamma", where another
            namespace has a gamma as well. It is published under what stands behind the last dot.
        reads_values: whether the body looks at the values of tensors, to refuse some, or at their
            memory: then it has to run at each call.
    """

    def __init__(
        self,
        body: Callable[..., Any],
        namespace: str | None,
        name: str | None = None,
        *,
        reads_values: bool = False,
    ) -> None:
        self.body, self.namespace, self.reads_values = body, namespace, reads_values
        self.__wrapped__ = body
        self.name = self.__name__ = self.__qualname__ = name or body.__name__
        self.__doc__ = body.__doc__
        self.signature = Signature(body)

    family = "composite"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.signature.accepts(len(args), kwargs):
            if kwargs and (variant := _variant(self.name, kwargs)) is not None:
                return variant(self, args, kwargs)
            args, kwargs = self._checked(args, kwargs)
        # An ndarray knows nothing of ops; as a tensor it does, and joins symbols as a constant.
        lifted = list(args)
        for k, parameter in zip(range(len(args)), self.signature.positional, strict=False):
            if parameter.is_operand and not hasattr(args[k], "__front_rank__"):
                lifted[k] = _as_tensor(args[k])
        for name in kwargs:
            if name in self.signature.operands:
                kwargs[name] = _as_tensor(kwargs[name])
        try:
            if holds_tensors(lifted) and not self.reads_values:
                return late.expand(self, lifted, kwargs)
            return self.body(*lifted, **kwargs)
        except SymgradError as error:
            if error.site is None:
                error.site = str(here())
            raise

    def directly(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Carry out a call: run the body."""
        return self.body(*args, **kwargs)

    def _checked(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The call as the body takes it; refuse what Python would refuse, with a better text."""
        try:
            args, kwargs = self.signature.adapted(self.name, args, kwargs)
            self.signature.called.bind(*args, **kwargs)
        except SymgradError as failure:
            failure.site = str(here())
            raise
        except TypeError as error:
            known = self.signature.called.parameters
            strange = kwargs.keys() - known.keys()
            if strange and not any(p.kind is p.VAR_KEYWORD for p in known.values()):
                failure = self.signature.unknown(self.name, sorted(strange))
            else:
                failure = ArgumentError(
                    self.name, str(error), expected=f"{self.name}{self.signature.text}"
                )
            failure.site = str(here())
            raise failure from None
        return args, kwargs

    def __repr__(self) -> str:
        return f"<composite {self.name}{self.signature.text}>"


def _variant(name: str, kwargs: dict[str, Any]) -> Callable[..., Any] | None:
    """What carries out a call with a keyword that the op itself does not have."""
    return next((VARIANTS[k, name] for k in kwargs if (k, name) in VARIANTS), None)


def _as_tensor(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        return late.as_tensor(value)
    if isinstance(value, (list, tuple)):
        return [_as_tensor(item) for item in cast("Sequence[Any]", value)]
    return value


class _Documentation:
    """``op.__doc__`` is the op's own documentation, ``Op.__doc__`` the class's."""

    def __init__(self, of_class: str) -> None:
        self.of_class = of_class

    def __get__(self, instance: Op | None, owner: Any) -> str:
        return self.of_class if instance is None else instance.doc


class _Signature:
    """What `inspect.signature` says: an op's own, of the class nothing special."""

    def __get__(self, instance: Op | None, owner: Any) -> inspect.Signature | None:
        return None if instance is None else instance.signature.called


setattr(Op, "__doc__", _Documentation(Op.__doc__ or ""))  # noqa: B010  # a descriptor, to pyright no str
setattr(Op, "__signature__", _Signature())  # noqa: B010  # likewise

OPS: dict[str, Op] = {}
COMPOSITES: dict[str, Composite] = {}


def register(op: Op) -> Op:
    """Enter an op into the registry; its name must be new."""
    if op.name in OPS or op.name in COMPOSITES:
        raise SymgradError(op.name, "an op of this name is registered already")
    for p in op.signature.parameters:
        if p.positional_only and not p.is_operand:
            raise SymgradError(
                op.name,
                f"attribute {p.name!r} is positional-only",
                hint="kernels get attributes by name: move it behind the slash",
            )
    OPS[op.name] = op
    return op


def register_composite(composite: Composite) -> Composite:
    """Enter a composite into the registry; its name must be new."""
    if composite.name in OPS or composite.name in COMPOSITES:
        raise SymgradError(composite.name, "an op of this name is registered already")
    COMPOSITES[composite.name] = composite
    return composite


def public(name: str) -> Any:
    """The public function of this name: an op or a composite."""
    return OPS[name] if name in OPS else COMPOSITES[name]


class _ByName:
    """The public functions as attributes, looked up when they are used.

    Rules in one module of the library may so name ops of another without an import cycle:
    ``ops.sum(ct)``.
    """

    def __getattr__(self, name: str) -> Any:
        try:
            return public(name)
        except KeyError:
            raise AttributeError(name) from None


ops = _ByName()
