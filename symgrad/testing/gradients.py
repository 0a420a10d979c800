"""An oracle for derivatives: central differences along one random direction.

Nothing here knows the rules of calculus. A function of symbols is run at points on both sides of
the given one, in double precision whatever its own is; two distances remove the leading error
(Richardson).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from symgrad.errors import ArgumentError
from symgrad.function import function
from symgrad.ir.symbol import Symbol, constant, placeholder
from symgrad.transform import grad, jvp
from symgrad.types import is_complex, is_inexact, real_dtype

Array: TypeAlias = NDArray[Any]
Direction: TypeAlias = Callable[[np.random.Generator, Array], Array]

MODES = ("forward", "reverse")
STEP = 1e-3
TOLERANCES = {"float16": 2e-2, "float32": 2e-4, "float64": 1e-6}
"""How far derivatives may be off, by the narrowest element type."""


def normal_direction(rng: np.random.Generator, point: Array) -> Array:
    """A direction of independent normal numbers, complex where the point is."""
    direction = rng.normal(size=point.shape)
    if is_complex(point.dtype):
        direction = direction + 1j * rng.normal(size=point.shape)
    return direction.astype(point.dtype)


def check_grads(
    f: Callable[..., Any],
    args: Any,
    order: int = 2,
    modes: Sequence[str] = MODES,
    *,
    level: str | None = None,
    tolerance: float | None = None,
    step: float = STEP,
    direction: Direction = normal_direction,
    seed: int = 0,
) -> None:
    """Compare derivatives of a function of symbols with differences of its values.

    The derivatives of each order are taken in every mode of those of the order before, and compared
    along one random direction: tangents element by element, cotangents as the sum that they give.

    Args:
        f: takes one symbol per argument, gives a symbol or a sequence of them. Only outputs of
            floating-point type are compared.
        args: the point: an array, or a tuple or list of one array per argument. Those of
            floating-point type are differentiated, the others are constants.
        order: up to which order.
        modes: which of "forward" and "reverse".
        level: that of `symgrad.grad`.
        tolerance: how much they may differ, relative to the size of the derivative, and absolutely
            where that is below 1; by the narrowest element type if None.
        step: half the distance of the points, in units of the direction.
        direction: draws a direction for an argument, ``direction(rng, point)``, where not every one
            is allowed: a symmetric matrix for a function of those, say.
        seed: of the random numbers.

    Raises:
        AssertionError: a derivative is off, or of another type than its input; with the numbers.
        ArgumentError: an unknown mode, or nothing to differentiate.

    >>> import symgrad as sg
    >>> sg.testing.check_grads(lambda x, y: sg.sin(x) * y, (0.5, [1.0, 2.0]))
    >>> sg.testing.check_grads(lambda x: sg.stop_gradient(x) * x, 3.0, modes=["forward"])
    Traceback (most recent call last):
        ...
    AssertionError: forward: output 0: expected 0.754381 by differences, got 0.377191
    """
    for mode in modes:
        if mode not in MODES:
            raise ArgumentError(
                "check_grads", "unknown mode", expected="forward, reverse", got=repr(mode)
            )
    points = _points(args)
    graph = _Pair.of(f, points)
    allowed = _tolerance(graph.narrow.types) if tolerance is None else tolerance
    settings = _Settings(tuple(modes), level, allowed, step, direction)
    rng = np.random.default_rng(seed)
    _check(graph, points, order, settings, rng, ())


def numeric_derivative(
    f: Callable[..., Any], args: Any, tangents: Any, *, step: float = STEP
) -> tuple[Array, ...]:
    """The derivative of a function of symbols along a direction, by central differences.

    Args:
        f, args, step: as for `check_grads`.
        tangents: the direction: one array per argument, or one array for one argument.
    Returns:
        per output of floating-point type an array of its shape, in double precision.

    >>> import symgrad as sg
    >>> (slope,) = numeric_derivative(sg.sin, 0.0, 1.0)
    >>> round(float(slope), 9)
    1.0
    """
    points = _points(args)
    directions = [
        np.asarray(t) for t in (tangents if isinstance(args, (tuple, list)) else [tangents])
    ]
    return _differences(_Pair.of(f, points).wide, points, directions, step)


# --- one graph, in its own precision and in double ------------------------------------------------


@dataclass(frozen=True)
class _Problem:
    """Outputs of floating-point type, as a function of inputs."""

    inputs: tuple[Symbol, ...]
    active: tuple[Symbol, ...]
    outputs: tuple[Symbol, ...]

    @property
    def types(self) -> list[np.dtype[Any]]:
        return [s.dtype for s in (*self.active, *self.outputs)]

    def replaced(self, outputs: Sequence[Symbol]) -> _Problem:
        return _Problem(self.inputs, self.active, tuple(outputs))


def _problem(f: Callable[..., Any], points: Sequence[Array], wide: bool) -> _Problem:
    inputs = tuple(
        placeholder(f"x{k}", p.shape, _widened(p.dtype) if wide else p.dtype)
        for k, p in enumerate(points)
    )
    outputs = _flat(f(*inputs))
    active = tuple(s for s in inputs if is_inexact(s.dtype))
    kept = tuple(y for y in outputs if is_inexact(y.dtype))
    if not active or not kept:
        missing = "argument" if not active else "output"
        raise ArgumentError(
            "check_grads", f"there is nothing to compare: no {missing} of floating-point type"
        )
    return _Problem(inputs, active, kept)


def _widened(dtype: np.dtype[Any]) -> np.dtype[Any]:
    if not is_inexact(dtype):
        return dtype
    return np.dtype("complex128" if is_complex(dtype) else "float64")


@dataclass(frozen=True)
class _Pair:
    """The same problem as it is given, and in double precision."""

    narrow: _Problem
    wide: _Problem

    @classmethod
    def of(cls, f: Callable[..., Any], points: Sequence[Array]) -> _Pair:
        narrow = _problem(f, points, wide=False)
        if all(_widened(p.dtype) == p.dtype for p in points):
            return cls(narrow, narrow)
        return cls(narrow, _problem(f, points, wide=True))

    def derived(self, derive: Callable[[_Problem], Sequence[Symbol]]) -> _Pair:
        narrow = self.narrow.replaced(derive(self.narrow))
        if self.wide is self.narrow:
            return _Pair(narrow, narrow)
        return _Pair(narrow, self.wide.replaced(derive(self.wide)))


def _points(args: Any) -> list[Array]:
    listed: Sequence[Any] = cast("Any", args) if isinstance(args, (tuple, list)) else (args,)
    return [np.asarray(a) for a in listed]


def _flat(outputs: Any) -> list[Symbol]:
    """The symbols of a nested sequence of them."""
    if isinstance(outputs, (tuple, list)):
        items = cast("Sequence[Any]", outputs)
        return [symbol for item in items for symbol in _flat(item)]
    return [outputs]


# --- the comparison -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Settings:
    modes: tuple[str, ...]
    level: str | None
    tolerance: float
    step: float
    direction: Direction


def _tolerance(types: Sequence[np.dtype[Any]]) -> float:
    return max(TOLERANCES[real_dtype(dtype).name] for dtype in types)


def _check(
    graph: _Pair,
    points: Sequence[Array],
    order: int,
    settings: _Settings,
    rng: np.random.Generator,
    path: tuple[str, ...],
) -> None:
    """Compare the first derivatives of ``graph``, then go on with each of them."""
    problem = graph.narrow
    active_points = [p for p in points if is_inexact(p.dtype)]
    tangents = [settings.direction(rng, p) for p in active_points]
    weights = [normal_direction(rng, _zeros(y)) for y in problem.outputs]
    aligned = iter(tangents)
    directions = [
        next(aligned) if is_inexact(p.dtype) else np.zeros(p.shape, np.int64) for p in points
    ]
    expected = _differences(graph.wide, points, directions, settings.step)

    def forward(p: _Problem) -> Sequence[Symbol]:
        seeds = _constants(tangents, p.active)
        return jvp(p.outputs, p.active, seeds, level=settings.level)

    def reverse(p: _Problem) -> Sequence[Symbol]:
        seeds = _constants(weights, p.outputs)
        options: dict[str, Any] = {"mode": "reverse", "level": settings.level}
        return grad(p.outputs, p.active, seeds, materialize_grads=True, **options)

    for mode in settings.modes:
        derived = graph.derived(forward if mode == "forward" else reverse)
        models = problem.outputs if mode == "forward" else problem.active
        found = _values(derived.narrow, points)
        label = " of ".join((mode, *reversed(path)))
        _compare_types(label, found, derived.narrow.outputs, models)
        if mode == "forward":
            _compare_tangents(label, found, expected, settings.tolerance)
        else:
            _compare_sums(label, found, tangents, weights, expected, settings.tolerance)
        if order > 1:
            _check(derived, points, order - 1, settings, rng, (*path, mode))


def _zeros(symbol: Symbol) -> Array:
    shape: Any = symbol.shape
    return np.zeros(shape, symbol.dtype)  # pyright: ignore[reportUnknownVariableType]


def _constants(values: Sequence[Array], models: Sequence[Symbol]) -> list[Symbol]:
    return [constant(v.astype(m.dtype)) for v, m in zip(values, models, strict=True)]


def _values(problem: _Problem, points: Sequence[Array]) -> list[Array]:
    run = function(problem.inputs, problem.outputs, level="none")
    return run(*points)


def _differences(
    problem: _Problem, points: Sequence[Array], directions: Sequence[Array], step: float
) -> tuple[Array, ...]:
    run = function(problem.inputs, problem.outputs, level="none")
    wide = [p.astype(_widened(p.dtype)) for p in points]
    directions = [t.astype(_widened(t.dtype)) for t in directions]

    def central(h: float) -> list[Array]:
        ends = [
            run(*[_moved(p, sign * h, t) for p, t in zip(wide, directions, strict=True)])
            for sign in (1, -1)
        ]
        return [
            (np.asarray(a, _widened(a.dtype)) - b) / (2 * h) for a, b in zip(*ends, strict=True)
        ]

    with np.errstate(all="ignore"):
        far, near = central(step), central(step / 2)
        return tuple((4 * b - a) / 3 for a, b in zip(far, near, strict=True))


def _moved(point: Array, distance: float, direction: Array) -> Array:
    return point + distance * direction if is_inexact(point.dtype) else point


def _compare_types(
    label: str, found: Sequence[Array], symbols: Sequence[Symbol], models: Sequence[Symbol]
) -> None:
    for k, (value, symbol, model) in enumerate(zip(found, symbols, models, strict=True)):
        if symbol.type != model.type or (value.dtype, value.shape) != (model.dtype, model.shape):
            raise AssertionError(
                f"{label}: derivative {k} has another type: expected {model.type}, "
                f"got {symbol.type}, when it ran {value.dtype}{list(value.shape)}"
            )


def _compare_tangents(
    label: str, found: Sequence[Array], expected: Sequence[Array], tolerance: float
) -> None:
    for k, (value, wanted) in enumerate(zip(found, expected, strict=True)):
        worst = _worst(value, wanted, tolerance)
        if worst is not None:
            place = f" {list(worst)}" if worst else ""
            raise AssertionError(
                f"{label}: output {k}{place}: expected {wanted[worst]:.6g} by differences, "
                f"got {value[worst]:.6g}"
            )


def _compare_sums(
    label: str,
    found: Sequence[Array],
    tangents: Sequence[Array],
    weights: Sequence[Array],
    expected: Sequence[Array],
    tolerance: float,
) -> None:
    """``sum(ct * (J @ t))`` is ``sum((J.T @ ct) * t)``."""
    with np.errstate(all="ignore"):
        got = sum(paired(g, t) for g, t in zip(found, tangents, strict=True))
        wanted = sum(paired(w, e) for w, e in zip(weights, expected, strict=True))
        terms = [float(np.sum(np.abs(e))) for e in expected]
    scale = max(1.0, *terms)
    if not abs(got - wanted) <= tolerance * scale:
        raise AssertionError(
            f"{label}: sum over all gradients: expected {wanted:.6g} by differences, got {got:.6g}"
        )


def paired(a: Array, b: Array) -> float:
    """The real inner product of two arrays, complex numbers as pairs of real ones."""
    wide = np.asarray(a, _widened(a.dtype))
    return float(np.sum(np.real(np.conj(wide) * b)))


def _worst(value: Array, wanted: Array, tolerance: float) -> tuple[int, ...] | None:
    """Where a value is off by most, if it is off at all. NaN is off, but from NaN."""
    if not value.size:
        return None
    with np.errstate(all="ignore"):
        error = np.abs(np.asarray(value, _widened(value.dtype)) - wanted)
        scale = max(1.0, float(np.max(np.abs(wanted))) if np.all(np.isfinite(wanted)) else 1.0)
    error = np.where(np.isnan(error), np.inf, error)
    error = np.where(np.isnan(value) & np.isnan(wanted), 0.0, error)
    error = np.where(value == wanted, 0.0, error)
    if np.all(error <= tolerance * scale):
        return None
    return tuple(int(k) for k in np.unravel_index(int(np.argmax(error)), error.shape))
