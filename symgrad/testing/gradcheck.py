"""Gradients of functions of tensors against differences of their values, element by element.

The semantics are PyTorch's: the whole Jacobian is compared, a row at a time, and what is around it
is checked as well: that a second pass gives the same, and that cotangents of zero give zeros.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from symgrad.eager.autograd import gradients
from symgrad.eager.tensor import Tensor
from symgrad.errors import ArgumentError, GradientError
from symgrad.ir.modes import enable_grad
from symgrad.testing.gradients import normal_direction
from symgrad.types import is_complex, is_inexact

Array: TypeAlias = NDArray[Any]
Function: TypeAlias = Callable[..., Any]
Part: TypeAlias = tuple[int, str]
"""An output, and which part of it: "real" or "imaginary", or "" where it is real."""
Jacobians: TypeAlias = dict[Part, Array]


class GradcheckError(GradientError, AssertionError):
    """A gradient is not what differences of values say."""


@dataclass(frozen=True)
class _Settings:
    where: str
    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    check_undefined_grad: bool


def gradcheck(
    func: Function,
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
) -> bool:
    """Compare the gradients of a function of tensors with central differences.

    Args:
        func: takes the inputs, gives a tensor or a sequence of them.
        inputs: a tensor or a tuple; those that require a gradient are checked. They should be of
            double precision. Their elements are changed for a moment, so a function may also use
            them without being given them.
        eps: the distance of the points.
        atol, rtol: derivatives may be off by ``atol + rtol * abs(difference)``.
        raise_exception: False gives False instead of an error.
        nondet_tol: how much two passes through one graph may differ.
        check_undefined_grad: check that outputs whose cotangent is zero contribute nothing.

    Returns:
        True; False, if something is off and nothing should be raised.

    Raises:
        GradcheckError: a gradient is off, or differs from pass to pass; the message names output,
            input and element.
        ArgumentError: no input requires a gradient, or elements of one share their memory.

    >>> import symgrad as sg
    >>> x = sg.Tensor([0.5, 1.0], requires_grad=True)
    >>> sg.testing.gradcheck(sg.sin, x)
    True
    >>> sg.testing.gradcheck(lambda x: sg.stop_gradient(x) * x, x)
    Traceback (most recent call last):
        ...
    symgrad.testing.gradcheck.GradcheckError: gradcheck: the derivative of output 0[0] by input
    0[0] is off: expected 1 by differences, got 0.5
    """
    settings = _Settings("gradcheck", eps, atol, rtol, nondet_tol, check_undefined_grad)
    return _reported(lambda: _check(func, _tuple(inputs), settings), raise_exception)


def gradgradcheck(
    func: Function,
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
) -> bool:
    """Compare second derivatives with central differences of first ones.

    Args:
        func, inputs: as for `gradcheck`.
        grad_outputs: a cotangent per output, by which gradients are differentiated as well; random
            ones if None.
        eps, atol, rtol, raise_exception, nondet_tol, check_undefined_grad: as for `gradcheck`.

    Returns, raises:
        As `gradcheck`, whose messages count the inputs and then the cotangents as inputs, and the
        gradients as outputs.

    >>> import symgrad as sg
    >>> x = sg.Tensor([0.5, 1.0], requires_grad=True)
    >>> sg.testing.gradgradcheck(lambda x: x**3, x)
    True
    """
    settings = _Settings("gradgradcheck", eps, atol, rtol, nondet_tol, check_undefined_grad)
    points = _tuple(inputs)

    def gradients_of(*given: Any) -> list[Any]:
        xs, cts = given[: len(points)], given[len(points) :]
        outputs = _differentiable(func(*xs))
        wanted = [x for x in xs if _is_checked(x)]
        found = gradients(outputs, wanted, list(cts), create_graph=True, allow_unused=True)
        return [g for g in found if g is not None]

    def check() -> None:
        _check(gradients_of, (*points, *_cotangents(func, points, grad_outputs)), settings)

    return _reported(check, raise_exception)


def _reported(check: Callable[[], None], raise_exception: bool) -> bool:
    try:
        with enable_grad():
            check()
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


# --- what is given --------------------------------------------------------------------------------


def _tuple(inputs: Any) -> tuple[Any, ...]:
    return tuple(cast("Sequence[Any]", inputs)) if isinstance(inputs, (tuple, list)) else (inputs,)


def _is_checked(x: Any) -> bool:
    return isinstance(x, Tensor) and x.requires_grad


def _flat(outputs: Any) -> list[Tensor]:
    if isinstance(outputs, Tensor):
        return [outputs]
    if isinstance(outputs, (tuple, list)):
        return [t for item in cast("Sequence[Any]", outputs) for t in _flat(item)]
    got = type(outputs).__name__
    raise ArgumentError("gradcheck", "the function gave no tensor", expected="tensors", got=got)


def _differentiable(outputs: Any) -> list[Tensor]:
    return [y for y in _flat(outputs) if y.requires_grad]


def _cotangents(func: Function, points: Sequence[Any], given: Any) -> list[Tensor]:
    if given is not None:
        cts = list(_tuple(given))
    else:
        rng = np.random.default_rng(0)
        outputs = _differentiable(func(*points))
        cts = [Tensor(normal_direction(rng, y.storage.array)) for y in outputs]
    return [ct if ct.requires_grad else ct.detach().requires_grad_() for ct in cts]


def _checked_inputs(inputs: Sequence[Any], settings: _Settings) -> list[tuple[int, Tensor]]:
    found = [(k, x) for k, x in enumerate(inputs) if _is_checked(x)]
    if not found:
        raise ArgumentError(
            settings.where,
            "no input requires a gradient",
            hint="sg.Tensor(value, requires_grad=True)",
        )
    for k, x in found:
        array = x.storage.array
        if any(s == 0 and n > 1 for s, n in zip(array.strides, array.shape, strict=True)):
            raise ArgumentError(
                settings.where,
                f"several elements of input {k} share one place in memory",
                got=x.type,
                hint="check at x.clone()",
            )
        if array.dtype not in (np.float64, np.complex128):
            warnings.warn(
                f"{settings.where}: input {k} is of type {x.type}: differences of its values are "
                "too coarse for these tolerances; use float64",
                UserWarning,
                stacklevel=6,
            )
    return found


# --- the checks -----------------------------------------------------------------------------------


def _check(func: Function, inputs: Sequence[Any], settings: _Settings) -> None:
    checked = _checked_inputs(inputs, settings)
    every = _flat(func(*inputs))
    differentiable = [(k, y) for k, y in enumerate(every) if y.requires_grad]
    outputs = differentiable or [(k, y) for k, y in enumerate(every) if is_inexact(y.dtype)]
    wanted = [(k, part) for k, y in outputs for part, _ in _parts(y)]
    expected = [_numeric(func, inputs, x, wanted, settings) for _, x in checked]
    if not differentiable:
        _check_constant(expected, checked, settings)
        return
    for k, y in outputs:
        for part, unit in _parts(y):
            for place in np.ndindex(y.shape):
                found = _row(y, place, unit, checked, settings)
                rows = [jacobians[k, part][place] for jacobians in expected]
                _compare(found, rows, (k, place, part), checked, settings)
        if settings.check_undefined_grad:
            _check_zero(k, y, checked, settings)


def _parts(y: Tensor) -> list[tuple[str, complex]]:
    """The real functions that an output consists of, and the cotangents that pick them."""
    return [("real", 1.0), ("imaginary", 1j)] if is_complex(y.dtype) else [("", 1.0)]


def _row(
    y: Tensor,
    place: tuple[int, ...],
    unit: complex,
    checked: Sequence[tuple[int, Tensor]],
    settings: _Settings,
) -> list[Array]:
    """The gradients of one element of an output, found twice."""
    seed = np.zeros(y.shape, y.dtype)
    seed[place] = unit if is_complex(y.dtype) else 1
    rows = [_gradients(y, seed, checked) for _ in range(2)]
    for (k, _), first, second in zip(checked, *rows, strict=True):
        off = np.max(np.abs(first - second), initial=0.0)
        if not (off <= settings.nondet_tol or np.array_equal(first, second, equal_nan=True)):
            raise GradcheckError(
                settings.where,
                f"two passes through one graph give input {k} different gradients",
                expected=f"a difference of at most {settings.nondet_tol}",
                got=f"{off:.6g}",
                hint="the backward pass must not depend on anything but its operands",
            )
    return rows[0]


def _gradients(y: Tensor, seed: Array, checked: Sequence[tuple[int, Tensor]]) -> list[Array]:
    xs = [x for _, x in checked]
    found = gradients([y], xs, [Tensor(seed)], retain_graph=True, allow_unused=True)
    return [
        np.zeros(x.shape, x.dtype) if g is None else np.array(g.storage.array)
        for x, g in zip(xs, found, strict=True)
    ]


def _check_zero(
    k: int, y: Tensor, checked: Sequence[tuple[int, Tensor]], settings: _Settings
) -> None:
    """What has no cotangent contributes nothing: no NaN either."""
    found = _gradients(y, np.zeros(y.shape, y.dtype), checked)
    for (position, _), gradient in zip(checked, found, strict=True):
        if np.any(gradient != 0):
            raise GradcheckError(
                settings.where,
                f"a cotangent of zero at output {k} gives input {position} a gradient",
                expected="zeros",
                got=f"{_first(gradient[gradient != 0]):.6g}",
            )


def _check_constant(
    expected: Sequence[Jacobians], checked: Sequence[tuple[int, Tensor]], settings: _Settings
) -> None:
    """What requires no gradient must not depend on the inputs."""
    for (position, _), jacobians in zip(checked, expected, strict=True):
        for (k, _), jacobian in jacobians.items():
            if np.any(np.abs(jacobian) > settings.atol):
                raise GradcheckError(
                    settings.where,
                    f"output {k} requires no gradient, and depends on input {position}",
                    expected="a result that requires a gradient",
                    hint="something on the way is detached",
                )


# --- differences ----------------------------------------------------------------------------------


def _numeric(
    func: Function, inputs: Sequence[Any], x: Tensor, wanted: Sequence[Part], settings: _Settings
) -> Jacobians:
    """The Jacobians of real parts of outputs by one input: axes of the output, then the input's."""
    units = (1.0, 1j) if is_complex(x.dtype) else (1.0,)
    present = _values(func, inputs, wanted)
    dtype = np.result_type(x.dtype, np.float64)
    found = {part: np.zeros((*present[part].shape, *x.shape), dtype) for part in wanted}
    for place in np.ndindex(x.shape):
        for unit in units:
            with _moved(x, place, settings.eps * unit):
                above = _values(func, inputs, wanted)
            with _moved(x, place, -settings.eps * unit):
                below = _values(func, inputs, wanted)
            for part in wanted:
                with np.errstate(all="ignore"):
                    slope = (above[part] - below[part]) / (2 * settings.eps)
                # The gradient by z = u + iv is df/du + i df/dv.
                found[part][..., *place] += unit * slope
    return found


@contextmanager
def _moved(x: Tensor, place: tuple[int, ...], distance: complex) -> Generator[None]:
    """One element changed inside the block, without anybody's noticing."""
    storage, kept = x.storage, x.storage.array
    if not kept.flags.writeable:
        storage.array = kept.copy()
    array, value = storage.array, kept[place]
    try:
        array[place] = value + distance
        yield
    finally:
        array[place] = value
        storage.array = kept


def _values(func: Function, inputs: Sequence[Any], wanted: Sequence[Part]) -> dict[Part, Array]:
    """The values of outputs, or of their real or imaginary parts, in double precision."""
    outputs = _flat(func(*inputs))
    found: dict[Part, Array] = {}
    for position, part in wanted:
        array: Any = outputs[position].storage.array
        if part:
            array = array.real if part == "real" else array.imag
        found[position, part] = np.array(array, np.float64)
    return found


def _compare(
    found: Sequence[Array],
    wanted: Sequence[Array],
    output: tuple[int, tuple[int, ...], str],
    checked: Sequence[tuple[int, Tensor]],
    settings: _Settings,
) -> None:
    k, place, part = output
    for (position, _), ours, theirs in zip(checked, found, wanted, strict=True):
        with np.errstate(all="ignore"):
            error = np.abs(ours - theirs)
            excess = error - (settings.atol + settings.rtol * np.abs(theirs))
        if np.all(excess <= 0):
            continue
        excess = np.where(np.isnan(excess), np.inf, excess)
        worst = tuple(int(i) for i in np.unravel_index(int(np.argmax(excess)), excess.shape))
        of_part = f"the {part} part of " if part else ""
        raise GradcheckError(
            settings.where,
            f"the derivative of {of_part}output {_named(k, place)} by input "
            f"{_named(position, worst)} is off",
            expected=f"{theirs[worst]:.6g} by differences",
            got=f"{ours[worst]:.6g}",
        )


def _named(position: int, place: tuple[int, ...]) -> str:
    return f"{position}{list(place)}" if place else str(position)


def _first(array: Array) -> Any:
    return array.reshape(-1)[0]
