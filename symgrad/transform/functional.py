"""What users call: gradients, products with Jacobians, derivatives of any order.

All of these append symbols to a graph and return symbols: the result is in the same language and
can be differentiated, printed, rewritten and run like any other.
"""

from __future__ import annotations

import operator
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

from symgrad.errors import ArgumentError, DTypeError, GradientError, ShapeError, SymgradError
from symgrad.ir.late import late
from symgrad.ir.lifting import lift
from symgrad.ir.op import TENSOR_RANK, ZERO, ops
from symgrad.ir.operators import Operators
from symgrad.ir.site import Site, here
from symgrad.ir.symbol import Symbol, building, constant, constructing
from symgrad.ir.walk import reachable
from symgrad.rewrite import builder_for, stabilize
from symgrad.transform.activity import active_symbols
from symgrad.transform.jvp import push_forward
from symgrad.transform.vjp import pull_back
from symgrad.types import is_complex, is_inexact

_MODES = ("auto", "reverse", "forward")
_LEVELS = ("none", "exact")


def _sequence(value: Any) -> list[Any]:
    """Several values as a list; an array is one value, and a set has no order."""
    single = hasattr(value, "__array__") or isinstance(value, (str, bytes, Mapping, set, frozenset))
    return list(value) if isinstance(value, Iterable) and not single else [value]  # pyright: ignore[reportUnknownArgumentType]


def _symbols(where: str, name: str, value: Any) -> list[Symbol]:
    symbols: list[Symbol] = []
    for position, item in enumerate(_sequence(value)):
        if isinstance(item, Operators) and not isinstance(item, Symbol) and name == "inputs":
            symbols.append(lift(item))  # a tensor that requires a gradient: its variable
            continue
        if not isinstance(item, Symbol):
            raise ArgumentError(
                where,
                f"{name}[{position}] is no symbol",
                expected="a symbol",
                got=type(item).__name__,
                hint=_instead_of(item),
            )
        symbols.append(item)
    if not symbols:
        raise ArgumentError(where, f"{name} is empty", expected="at least one symbol")
    return symbols


def _instead_of(value: Any) -> str | None:
    """What to do where something else was given for a symbol."""
    if hasattr(value, "__front_rank__"):
        return "a tensor holds a value and no graph: build with sg.placeholder or sg.variable"
    if callable(value):
        return "sg.func.grad differentiates functions; or call it on symbols or tensors first"
    return "pass a list of the symbols" if isinstance(value, (Mapping, set, frozenset)) else None


def _known_level(where: str, level: Any) -> str:
    if level is not None and level not in _LEVELS:
        raise ArgumentError(where, "no such level", expected=", ".join(_LEVELS), got=repr(level))
    return level or "exact"


@contextmanager
def _deriving(level: str, inputs: list[Symbol], site: Site | None) -> Generator[None]:
    """New symbols are simplified while they are built, and said to come from the caller's line.

    The inputs are kept as they are: a constant among them must not be folded away.
    """
    name = "derivative" if level != "none" else "none"
    with constructing(builder=builder_for(name, keep=inputs), site=site):
        yield


def _check_inputs(
    where: str, outputs: list[Symbol], inputs: list[Symbol], allow_unused: bool
) -> None:
    below = set(reachable(outputs))
    for position, x in enumerate(inputs):
        label = f"inputs[{position}]"
        if not is_inexact(x.dtype):
            raise DTypeError(
                where,
                f"{label} {_named(x)} has no derivative",
                expected="a floating-point type",
                got=x.type,
                site=str(x.site),
            )
        if x not in below and not allow_unused:
            raise GradientError(
                where,
                f"{label} {_named(x)} is not used by the outputs",
                hint="allow_unused=True gives None, materialize_grads=True zeros",
                site=str(x.site),
            )


def _named(symbol: Symbol) -> str:
    return repr(symbol.name) if symbol.name else f"<{symbol.op.name}: {symbol.type}>"


def _check_outputs(where: str, outputs: list[Symbol]) -> None:
    for position, y in enumerate(outputs):
        if not is_inexact(y.dtype):
            raise DTypeError(
                where,
                f"outputs[{position}] has no derivative",
                expected="a floating-point type",
                got=y.type,
                site=str(y.site),
            )


def _seeds(where: str, name: str, outputs: list[Symbol], given: Any) -> list[Symbol]:
    if given is None:
        for y in outputs:
            if y.shape != ():
                raise GradientError(
                    where,
                    f"output is {y.type}",
                    expected="a scalar",
                    hint="pass grad_outputs, or sum first",
                    site=str(y.site),
                )
            if is_complex(y.dtype):
                raise GradientError(
                    where,
                    f"output is {y.type}",
                    expected="a real scalar",
                    hint="take sg.real or sg.abs, or pass grad_outputs",
                    site=str(y.site),
                )
        return [constant(1, y.dtype) for y in outputs]
    values = _sequence(given)
    if len(values) != len(outputs):
        raise GradientError(
            where, "one cotangent per output is needed", expected=len(outputs), got=len(values)
        )
    return [
        constant(1, y.dtype) if v is None and y.shape == () else _like(where, f"{name}[{k}]", v, y)
        for k, (v, y) in enumerate(zip(values, outputs, strict=True))
    ]


def _like(where: str, name: str, value: Any, model: Symbol) -> Symbol:
    """``value`` as a symbol of the model's type; its shape must be the model's."""
    try:
        symbol = lift(value, model.dtype if isinstance(value, (int, float)) else None)
    except SymgradError as error:
        error.where, error.expected = f"{where}: {name}", str(model.type)
        raise
    if symbol.shape != model.shape:
        raise ShapeError(where, f"{name} has another shape", expected=model.type, got=symbol.type)
    if is_complex(symbol.dtype) and not is_complex(model.dtype):
        raise DTypeError(where, f"{name} is complex", expected=model.type, got=symbol.type)
    return symbol if symbol.dtype == model.dtype else ops.astype(symbol, model.dtype)


def _goes_forward(mode: str, outputs: list[Symbol], inputs: list[Symbol]) -> bool:
    """Forward mode costs one pass per input: take it for one real scalar input, whose repeated
    derivatives it shares."""
    if mode != "auto":
        return mode == "forward"
    if len(inputs) != 1 or inputs[0].shape != () or is_complex(inputs[0].dtype):
        return False
    active = active_symbols(outputs, inputs)
    return all(s.op.jvp is not None and not is_complex(s.dtype) for s in active if s.args)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    *,
    allow_unused: bool | None = None,
    materialize_grads: bool = False,
    mode: str = "auto",
    level: str | None = None,
) -> tuple[Any, ...]:
    """The gradients of ``outputs`` by ``inputs``: symbols of symbols, tensors of tensors.

    Args:
        outputs: a symbol or tensor, or several; scalars, unless ``grad_outputs`` is given.
        inputs: a symbol or tensor, or several, anywhere below the outputs, interior ones too. A
            tensor that requires a gradient may stand for its variable.
        grad_outputs: one cotangent per output, of its shape.
        retain_graph, create_graph: for tensors, as in `Tensor.backward`; a graph of symbols always
            stays.
        allow_unused: an input that the outputs do not use gives None instead of an error; that is
            refused by False, and left to ``materialize_grads`` by None.
        materialize_grads: such an input gives zeros.
        mode: "reverse", "forward", or "auto": forward where the input is one real scalar.
        level: None and "exact" stabilise the outputs first and simplify derivative symbols as they
            are built; "none" writes the rules down literally.

    Returns:
        a tuple, one symbol of the input's type per input. Several outputs are summed.

    Raises:
        GradientError: an output is no scalar, or an input is unused.
        ArgumentError: ``materialize_grads=True`` with ``allow_unused=False``.
        DTypeError: an input or output is not of floating-point type.

    The convention for complex inputs: the gradient of a real function by z = x + iy is
    df/dx + i df/dy, so that of ``abs(z)**2`` is ``2*z``.

    >>> import symgrad as sg
    >>> x = sg.placeholder("x")
    >>> (dy,) = sg.grad(x**3, x)
    >>> dy.eval({x: 2.0})
    array(12.)
    """
    if materialize_grads and allow_unused is False:
        raise ArgumentError(
            "grad",
            "allow_unused=False refuses what materialize_grads=True makes up for",
            hint="leave allow_unused out",
            site=str(here()),
        )
    allow_unused = bool(allow_unused)
    if any(getattr(y, "__front_rank__", 0) == TENSOR_RANK for y in _sequence(outputs)):
        return late.tensor_gradients(
            outputs,
            inputs,
            grad_outputs,
            retain_graph,
            create_graph,
            allow_unused=allow_unused,
            materialize_grads=materialize_grads,
        )
    if mode not in _MODES:
        raise ArgumentError("grad", "unknown mode", expected=", ".join(_MODES), got=repr(mode))
    ys, xs = _symbols("grad", "outputs", outputs), _symbols("grad", "inputs", inputs)
    level = _known_level("grad", level)
    _check_outputs("grad", ys)
    _check_inputs("grad", ys, xs, allow_unused or materialize_grads)
    below = set(reachable(ys))
    with _deriving(level, xs, building.site or here()):
        seeds = _seeds("grad", "grad_outputs", ys, grad_outputs)
        problem = ys if level == "none" else stabilize(ys, keep=xs)
        if _goes_forward(mode, problem, xs):
            found = [_forward_gradient(problem, seeds, x) for x in xs]
        else:
            found = pull_back(problem, seeds, xs)
        return tuple(
            (_dense(g, x) if x in below or materialize_grads else None)
            for g, x in zip(found, xs, strict=True)
        )


def _dense(g: Any, x: Symbol) -> Symbol:
    return ops.zeros_like(x) if g is ZERO else g


def _forward_gradient(outputs: list[Symbol], seeds: list[Symbol], x: Symbol) -> Any:
    if x.shape != () or is_complex(x.dtype):
        raise GradientError(
            "grad", f'mode="forward" needs real scalar inputs, got {x.type}', hint="use sg.jvp"
        )
    tangents = push_forward(outputs, [x], [constant(1, x.dtype)])
    total: Any = ZERO
    for tangent, seed in zip(tangents, seeds, strict=True):
        if tangent is ZERO:
            continue
        term = seed * tangent
        if is_complex(term.dtype):
            term = ops.real(ops.conj(seed) * tangent)
        term = ops.sum(term) if term.shape else term
        total = term if total is ZERO else total + term
    return total if total is ZERO or total.dtype == x.dtype else ops.astype(total, x.dtype)


def value_and_grad(outputs: Any, inputs: Any, **options: Any) -> tuple[Any, tuple[Any, ...]]:
    """The outputs as given, and their gradients: ready for one `function`.

    >>> import symgrad as sg
    >>> x = sg.placeholder("x", (3,))
    >>> y, (dx,) = sg.value_and_grad(sg.sum(x * x), x)
    >>> sg.function(x, [y, dx])([1.0, 2.0, 3.0])
    [array(14.), array([2., 4., 6.])]
    """
    return outputs, grad(outputs, inputs, **options)


def vjp(outputs: Any, inputs: Any, cts: Any, *, level: str | None = None) -> tuple[Symbol, ...]:
    """The product of cotangents with the Jacobian: one symbol per input.

    Args:
        outputs: a symbol or several, of any shapes.
        inputs: symbols below them; an input that they do not depend on gives zeros.
        cts: one cotangent per output, of its shape.

    >>> import symgrad as sg
    >>> x = sg.placeholder("x", (2,))
    >>> sg.vjp(x * x, x, [1.0, 10.0])[0].eval({x: [3.0, 4.0]})
    array([ 6., 80.])
    """
    ys, xs = _symbols("vjp", "outputs", outputs), _symbols("vjp", "inputs", inputs)
    level = _known_level("vjp", level)
    _check_outputs("vjp", ys)
    _check_inputs("vjp", ys, xs, allow_unused=True)
    values = [cts] if len(ys) == 1 and not _is_one_symbol_in_a_list(cts, ys[0]) else cts
    with _deriving(level, xs, building.site or here()):
        seeds = _seeds("vjp", "cts", ys, [None] if values is None else values)
        problem = ys if level == "none" else stabilize(ys, keep=xs)
        return tuple(map(_dense, pull_back(problem, seeds, xs), xs))


def _is_one_symbol_in_a_list(cts: Any, y: Symbol) -> bool:
    """Whether ``cts`` is a list holding the one cotangent, rather than the cotangent as a list."""
    if not isinstance(cts, (list, tuple)):
        return False
    values = cast("Sequence[Any]", cts)
    return len(values) == 1 and getattr(values[0], "ndim", -1) == y.ndim


def jvp(
    outputs: Any, inputs: Any, tangents: Any, *, level: str | None = None
) -> tuple[Symbol, ...]:
    """The product of the Jacobian with tangents, by forward mode: one symbol per output.

    Args:
        outputs: a symbol or several, of any shapes.
        inputs: symbols below them.
        tangents: one per input, of its shape.

    >>> import symgrad as sg
    >>> x = sg.placeholder("x", (2,))
    >>> sg.jvp(sg.sum(x * x), x, [1.0, 0.0])[0].eval({x: [3.0, 4.0]})
    array(6.)
    """
    ys, xs = _symbols("jvp", "outputs", outputs), _symbols("jvp", "inputs", inputs)
    _check_inputs("jvp", ys, xs, allow_unused=True)
    values = (
        [tangents]
        if len(xs) == 1 and not _is_one_symbol_in_a_list(tangents, xs[0])
        else _sequence(tangents)
    )
    if len(values) != len(xs):
        raise GradientError(
            "jvp", "one tangent per input is needed", expected=len(xs), got=len(values)
        )
    level = _known_level("jvp", level)
    with _deriving(level, xs, building.site or here()):
        seeds = [
            _like("jvp", f"tangents[{k}]", t, x)
            for k, (t, x) in enumerate(zip(values, xs, strict=True))
        ]
        problem = ys if level == "none" else stabilize(ys, keep=xs)
        found = push_forward(problem, xs, seeds)
        return tuple(_dense(t, y) for t, y in zip(found, ys, strict=True))


def nth_derivative(y: Symbol, x: Symbol, n: int, *, level: str | None = None) -> Symbol:
    """The n-th derivative of ``y`` by ``x``, by repeated forward mode.

    Args:
        y: any symbol.
        x: a real scalar; or of y's shape, if y depends on it element by element: the result then is
            the derivative at each element (in general, along the direction of ones).
        n: the order, at least 0.

    >>> import symgrad as sg
    >>> x = sg.placeholder("x")
    >>> sg.nth_derivative(sg.sin(x), x, 4) is sg.sin(x)
    True
    """
    order = operator.index(n) if hasattr(n, "__index__") and type(n) is not bool else -1
    if order < 0:
        raise ArgumentError(
            "nth_derivative", "the order is no count", expected="an int >= 0", got=repr(n)
        )
    for name, symbol in (("y", y), ("x", x)):
        if not isinstance(symbol, Symbol):  # pyright: ignore[reportUnnecessaryIsInstance]
            got, hint = type(symbol).__name__, _instead_of(symbol)
            raise ArgumentError("nth_derivative", f"{name} is no symbol", got=got, hint=hint)
    _check_inputs("nth_derivative", [y], [x], allow_unused=True)
    site = building.site or here()
    with constructing(site=site):
        ones = ops.ones_like(x) if x.shape else constant(1, x.dtype)
        for _ in range(order):
            (y,) = jvp(y, x, ones, level=level)
    return y


def _differentiate(
    outputs: Sequence[Symbol], wrt: Sequence[Symbol], grad_outputs: Any = None
) -> tuple[Symbol, ...]:
    return grad(list(outputs), list(wrt), grad_outputs, materialize_grads=True)


late.differentiate = _differentiate
