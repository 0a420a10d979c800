"""Draws of continuous distributions whose quantiles are formulas.

A number spread evenly over the open interval (0, 1), in double precision, goes through the quantile
function and is rounded once: so results are finite, and tails as good in every element type.
"""

from __future__ import annotations

import math
from typing import Any

from symgrad.ir.op import ops
from symgrad.ops.choices import standard_gumbel
from symgrad.ops.families import Array, composite
from symgrad.ops.parameters import (
    as_operand,
    draws_dtype,
    draws_shape,
    evenly,
    moved,
    parameter,
    require_positive,
    rounded,
)
from symgrad.ops.random import normal, split
from symgrad.ops.scalar import exp, log, log1p, sign, sqrt, square, tan


def _arguments(
    where: str, shape: Any, dtype: Any, *parameters: Any
) -> tuple[tuple[Any, ...], Any, list[Any]]:
    """The shape and element type of the draws, and the parameters as operands."""
    given = [as_operand(value) for value in parameters]
    return draws_shape(where, shape, *given), draws_dtype(dtype, *given), given


# --- scaled and moved -----------------------------------------------------------------------------


def _standard_exponential(key: Any, shape: Any) -> Any:
    return -log(evenly(key, shape))


@composite(namespace="random")
def exponential(key: Array, shape: Any = None, *, dtype: Any = None, scale: Array = 1.0) -> Any:
    """Positive numbers of the exponential distribution of mean ``scale``.

    They are ``scale * z``, so they have a derivative by scale.

    Args:
        key: (2,) words.
        shape: the shape of the result; if None, that of ``scale``.
        dtype: a real floating type; if None, that of scale, or the default float.
        scale: a positive number, or an array that broadcasts to ``shape``; arrays are not checked.
    Raises:
        ArgumentError: scale is a number that is not positive.
        DTypeError: dtype is no real floating type, or the key no key.
        ShapeError: scale does not broadcast to ``shape``.

    >>> import symgrad as sg
    >>> x = sg.random.exponential(sg.random.key(0), (10_000,), scale=2.0)
    >>> abs(float(sg.mean(x)) - 2) < 0.1
    True
    """
    require_positive("random.exponential", scale=scale)
    shape, dtype, (scale,) = _arguments("random.exponential", shape, dtype, scale)
    return moved(rounded(_standard_exponential(key, shape), dtype), 0, scale)


@composite(namespace="random")
def laplace(
    key: Array, shape: Any = None, *, dtype: Any = None, loc: Array = 0.0, scale: Array = 1.0
) -> Any:
    """Numbers of the Laplace distribution: its density is as ``exp(-|x - loc| / scale)``.

    They are ``loc + scale*z``, so they have derivatives by loc and scale.

    Args:
        key: (2,) words.
        shape: the shape of the result; if None, that to which loc and scale broadcast.
        dtype: a real floating type; if None, that of loc and scale, or the default float.
        loc, scale: numbers, or arrays that broadcast to ``shape``; arrays are not checked.
    Raises:
        ArgumentError: scale is a number that is not positive.
        DTypeError: dtype is no real floating type, or the key no key.
        ShapeError: loc or scale does not broadcast to ``shape``.

    >>> import symgrad as sg
    >>> x = sg.random.laplace(sg.random.key(0), (10_000,), loc=3.0)
    >>> abs(float(sg.mean(x)) - 3) < 0.05
    True
    """
    require_positive("random.laplace", scale=scale)
    shape, dtype, (loc, scale) = _arguments("random.laplace", shape, dtype, loc, scale)
    u = 2 * evenly(key, shape) - 1
    return moved(rounded(-sign(u) * log1p(-ops.abs(u)), dtype), loc, scale)


@composite(namespace="random")
def logistic(
    key: Array, shape: Any = None, *, dtype: Any = None, loc: Array = 0.0, scale: Array = 1.0
) -> Any:
    """Numbers of the logistic distribution: ``sigmoid((x - loc) / scale)`` of them is even.

    Arguments, derivatives and errors are those of ``laplace``.

    >>> import symgrad as sg
    >>> x = sg.random.logistic(sg.random.key(0), (10_000,))
    >>> abs(float(sg.mean(x > 1.0986)) - 0.25) < 0.02
    True
    """
    require_positive("random.logistic", scale=scale)
    shape, dtype, (loc, scale) = _arguments("random.logistic", shape, dtype, loc, scale)
    return moved(rounded(ops.logit(evenly(key, shape)), dtype), loc, scale)


@composite(namespace="random")
def gumbel(
    key: Array, shape: Any = None, *, dtype: Any = None, loc: Array = 0.0, scale: Array = 1.0
) -> Any:
    """Numbers of the Gumbel distribution, that of the largest of many.

    The index of the largest of ``logits + gumbel`` has the probabilities ``softmax(logits)``.
    Arguments, derivatives and errors are those of ``laplace``.

    >>> import symgrad as sg
    >>> x = sg.random.gumbel(sg.random.key(0), (10_000,))
    >>> abs(float(sg.mean(x)) - 0.5772) < 0.05
    True
    """
    require_positive("random.gumbel", scale=scale)
    shape, dtype, (loc, scale) = _arguments("random.gumbel", shape, dtype, loc, scale)
    return moved(rounded(standard_gumbel(key, shape), dtype), loc, scale)


@composite(namespace="random")
def cauchy(
    key: Array, shape: Any = None, *, dtype: Any = None, loc: Array = 0.0, scale: Array = 1.0
) -> Any:
    """Numbers of the Cauchy distribution, which has no mean: tangents of even angles.

    Half precision ends before its tails do; a draw may then be infinite. Arguments, derivatives and
    errors are those of ``laplace``.

    >>> import symgrad as sg
    >>> x = sg.random.cauchy(sg.random.key(0), (10_000,))
    >>> abs(float(sg.mean(abs(x) < 1)) - 0.5) < 0.02
    True
    """
    require_positive("random.cauchy", scale=scale)
    shape, dtype, (loc, scale) = _arguments("random.cauchy", shape, dtype, loc, scale)
    return moved(rounded(tan(math.pi * (evenly(key, shape) - 0.5)), dtype), loc, scale)


# --- positive -------------------------------------------------------------------------------------


@composite(namespace="random")
def rayleigh(key: Array, shape: Any = None, *, dtype: Any = None, scale: Array = 1.0) -> Any:
    """Lengths of vectors in the plane whose coordinates are normal, of deviation ``scale``.

    Arguments, derivatives and errors are those of ``exponential``.

    >>> import symgrad as sg
    >>> x = sg.random.rayleigh(sg.random.key(0), (10_000,))
    >>> abs(float(sg.mean(x * x)) - 2) < 0.1
    True
    """
    require_positive("random.rayleigh", scale=scale)
    shape, dtype, (scale,) = _arguments("random.rayleigh", shape, dtype, scale)
    return moved(rounded(sqrt(2 * _standard_exponential(key, shape)), dtype), 0, scale)


@composite(namespace="random")
def maxwell(key: Array, shape: Any = None, *, dtype: Any = None, scale: Array = 1.0) -> Any:
    """Lengths of vectors in space whose coordinates are normal, of deviation ``scale``.

    Arguments, derivatives and errors are those of ``exponential``.

    >>> import symgrad as sg
    >>> x = sg.random.maxwell(sg.random.key(0), (10_000,))
    >>> abs(float(sg.mean(x * x)) - 3) < 0.1
    True
    """
    require_positive("random.maxwell", scale=scale)
    shape, dtype, (scale,) = _arguments("random.maxwell", shape, dtype, scale)
    keys = split(key)
    z = normal(keys[0], shape, dtype="float64")
    return moved(
        rounded(sqrt(square(z) + 2 * _standard_exponential(keys[1], shape)), dtype), 0, scale
    )


@composite(namespace="random")
def lognormal(
    key: Array, shape: Any = None, *, dtype: Any = None, mean: Array = 0.0, sigma: Array = 1.0
) -> Any:
    """Numbers whose logarithms are normal, of this mean and this deviation ``sigma``.

    They have derivatives by mean and sigma. Arguments and errors are those of ``normal``.

    >>> import symgrad as sg
    >>> x = sg.random.lognormal(sg.random.key(0), (10_000,), mean=2.0)
    >>> abs(float(sg.mean(sg.log(x))) - 2) < 0.05
    True
    """
    return exp(normal(key, shape, dtype=dtype, mean=mean, std=sigma))


@composite(namespace="random")
def weibull(
    key: Array, a: Array, shape: Any = None, *, dtype: Any = None, scale: Array = 1.0
) -> Any:
    """Numbers of the Weibull distribution: ``(x/scale)**a`` of them is exponential.

    They have derivatives by ``a`` and ``scale``.

    Args:
        key: (2,) words.
        a: positive numbers, the shape of the distribution; arrays are not checked.
        shape: the shape of the result; if None, that to which the parameters broadcast.
        dtype: a real floating type; if None, that of the parameters, or the default float.
        scale: positive numbers.
    Raises:
        ArgumentError: a or scale is a number that is not positive.
        DTypeError: dtype is no real floating type, or the key no key.
        ShapeError: a parameter does not broadcast to ``shape``.

    >>> import symgrad as sg
    >>> x = sg.random.weibull(sg.random.key(0), 2.0, (10_000,))
    >>> abs(float(sg.mean(x**2)) - 1) < 0.05
    True
    """
    require_positive("random.weibull", a=a, scale=scale)
    shape, dtype, (a, scale) = _arguments("random.weibull", shape, dtype, a, scale)
    power = log(_standard_exponential(key, shape))
    return moved(exp(rounded(power, dtype) / parameter(a, shape, dtype)), 0, scale)


@composite(namespace="random")
def pareto(
    key: Array, a: Array, shape: Any = None, *, dtype: Any = None, scale: Array = 1.0
) -> Any:
    """Numbers from ``scale`` on, of the Pareto distribution: a share ``(scale/x)**a`` is above x.

    They have derivatives by ``a`` and ``scale``. Arguments and errors are those of ``weibull``.

    >>> import symgrad as sg
    >>> x = sg.random.pareto(sg.random.key(0), 1.0, (10_000,))
    >>> bool(sg.min(x) >= 1), abs(float(sg.mean(x > 2)) - 0.5) < 0.02
    (True, True)
    """
    require_positive("random.pareto", a=a, scale=scale)
    shape, dtype, (a, scale) = _arguments("random.pareto", shape, dtype, a, scale)
    power = rounded(_standard_exponential(key, shape), dtype)
    return moved(exp(power / parameter(a, shape, dtype)), 0, scale)
