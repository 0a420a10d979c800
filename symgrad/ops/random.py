"""Random numbers as pure functions of a key.

A key is two words of 64 bits. The same key and shape give the same numbers, in every mode and in
every run; other numbers need another key, from `split` or `fold_in`. So sharing, rewriting and
running again stay sound, and a training step that is compiled once advances its key as it advances
its weights.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError
from symgrad.ir.op import ops
from symgrad.ops.draws import (
    fold_in,
    key,
    random_bits,
    random_integers,
    sizes_of,
    split_key,
    standard_normal,
    standard_uniform,
)
from symgrad.ops.families import Array, composite
from symgrad.types import (
    Dim,
    as_dtype,
    default_float,
    default_int,
    float32,
    is_inexact,
    is_integer,
    promote,
)

__all__ = [
    "Generator",
    "bernoulli",
    "fold_in",
    "key",
    "normal",
    "permutation",
    "randint",
    "split",
    "uniform",
]


def split(key: Any, n: int = 2) -> Any:
    """New keys from one, which is then used up: draw from the new ones alone.

    The streams of the new keys are unrelated to each other and to that of the old one.

    Args:
        key: (2,) words.
        n: how many: an int of at least 1, or a dimension.
    Returns:
        (n, 2) words: one key per row.
    Raises:
        ArgumentError: n is no count. DTypeError, ShapeError: the key is no key.

    >>> import symgrad as sg
    >>> key, spare = sg.random.split(sg.random.key(0))
    >>> sg.random.normal(key, (3,)).shape
    (3,)
    """
    if not isinstance(n, Dim) and (type(n) is not int or n < 1):
        raise ArgumentError("random.split", "n is no count", expected="an int >= 1", got=repr(n))
    return split_key(key, count=n)


def _result_dtype(dtype: Any, *parameters: Any) -> Any:
    """The element type asked for; or else the parameters', if they have one."""
    if dtype is not None:
        return as_dtype(dtype)
    given = [p.dtype for p in parameters if hasattr(p, "dtype") and is_inexact(p.dtype)]
    return promote(*given) if given else default_float()


def _parameter(value: Any, shape: tuple[Any, ...], dtype: Any) -> Any:
    """A parameter of a distribution, in its element type and of the shape of the draws."""
    if isinstance(value, (list, tuple)):
        value = ops.asarray(value)
    if not hasattr(value, "dtype"):
        return value
    if value.dtype != dtype:
        value = ops.astype(value, dtype)
    return value if value.shape in ((), shape) else ops.broadcast_to(value, shape)


def _is(value: Any, number: float) -> bool:
    return isinstance(value, (int, float)) and value == number


@composite(namespace="random")
def uniform(
    key: Array, shape: Any = (), *, dtype: Any = None, low: Array = 0.0, high: Array = 1.0
) -> Any:
    """Numbers spread evenly over [low, high).

    They are ``low + (high - low)*u`` with u from [0, 1), so they have derivatives by low and high,
    and rounding may give high itself.

    Args:
        key: (2,) words.
        shape: the shape of the result; dimensions may stand in it.
        dtype: a real floating type; if None, that of low and high, or the default float.
        low, high: numbers, or arrays that broadcast to ``shape``.
    Raises:
        DTypeError: dtype is no real floating type, or the key no key.
        ShapeError: low or high does not broadcast to ``shape``.

    >>> import symgrad as sg
    >>> x = sg.random.uniform(sg.random.key(0), (100,), low=-1.0)
    >>> bool(sg.all((x >= -1) & (x < 1)))
    True
    """
    shape, dtype = sizes_of("random.uniform", shape), _result_dtype(dtype, low, high)
    u = standard_uniform(key, shape=shape, dtype=dtype)
    if _is(low, 0) and _is(high, 1):
        return u
    low, high = _parameter(low, shape, dtype), _parameter(high, shape, dtype)
    return u * high if _is(low, 0) else low + u * (high - low)


@composite(namespace="random")
def normal(
    key: Array, shape: Any = (), *, dtype: Any = None, mean: Array = 0.0, std: Array = 1.0
) -> Any:
    """Numbers of the normal distribution.

    They are ``mean + std*z`` with z of the standard one, so they have derivatives by mean and std.

    Args:
        key: (2,) words.
        shape: the shape of the result; dimensions may stand in it.
        dtype: a real floating type; if None, that of mean and std, or the default float.
        mean, std: numbers, or arrays that broadcast to ``shape``.
    Raises:
        DTypeError: dtype is no real floating type, or the key no key.
        ShapeError: mean or std does not broadcast to ``shape``.

    >>> import symgrad as sg
    >>> x = sg.random.normal(sg.random.key(0), (10_000,), mean=3.0)
    >>> abs(float(sg.mean(x)) - 3) < 0.05
    True
    """
    shape, dtype = sizes_of("random.normal", shape), _result_dtype(dtype, mean, std)
    z = standard_normal(key, shape=shape, dtype=dtype)
    if not _is(std, 1):
        z = z * _parameter(std, shape, dtype)
    return z if _is(mean, 0) else _parameter(mean, shape, dtype) + z


@composite(namespace="random")
def bernoulli(key: Array, p: Array = 0.5, shape: Any = None) -> Any:
    """Booleans that are true with probability p.

    Args:
        key: (2,) words.
        p: a number in [0, 1], or an array that broadcasts to ``shape``.
        shape: the shape of the result; that of p if None.
    Raises:
        ArgumentError: p is a number outside [0, 1]. DTypeError: the key is no key.
        ShapeError: p does not broadcast to ``shape``.

    >>> import symgrad as sg
    >>> sg.random.bernoulli(sg.random.key(0), 1.0, (3,))
    Tensor([ True,  True,  True])
    """
    if isinstance(p, (int, float)) and not 0 <= p <= 1:
        raise ArgumentError("random.bernoulli", "p is no probability", expected="0 to 1", got=p)
    if isinstance(p, (list, tuple)):
        p = ops.asarray(p)
    shape = sizes_of("random.bernoulli", getattr(p, "shape", ()) if shape is None else shape)
    # Half precision would round small probabilities to multiples of 1/2048.
    dtype = promote(_result_dtype(None, p), float32)
    return ops.less(standard_uniform(key, shape=shape, dtype=dtype), _parameter(p, shape, dtype))


@composite(namespace="random")
def randint(key: Array, shape: Any, low: Array, high: Array, *, dtype: Any = None) -> Any:
    """Integers from low to high - 1, all equally likely.

    Args:
        key: (2,) words.
        shape: the shape of the result; dimensions may stand in it.
        low, high: integers, or arrays of them that broadcast to ``shape``. Arrays are not checked:
            where high is not above low, the result is low.
        dtype: an integer type; the default integer if None.
    Raises:
        ArgumentError: high is not above low, or the integers do not fit dtype.
        DTypeError: low, high or dtype is of another type. ShapeError: shapes do not broadcast.

    >>> import symgrad as sg
    >>> x = sg.random.randint(sg.random.key(0), (100,), 1, 7)
    >>> int(sg.min(x)), int(sg.max(x))
    (1, 6)
    """
    dtype = default_int() if dtype is None else as_dtype(dtype)
    if isinstance(low, int) and isinstance(high, int):
        if high <= low:
            raise ArgumentError(
                "random.randint", "high is not above low", expected=f"more than {low}", got=high
            )
        if is_integer(dtype) and not np.iinfo(dtype).min <= low < high <= np.iinfo(dtype).max + 1:
            raise ArgumentError(
                "random.randint", f"the integers do not fit {dtype}", got=f"{low} to {high - 1}"
            )
    return random_integers(key, low, high, shape=sizes_of("random.randint", shape), dtype=dtype)


@composite(namespace="random")
def permutation(key: Array, n: Any) -> Any:
    """The integers from 0 to n - 1, in random order: indices that shuffle an axis.

    Args:
        key: (2,) words.
        n: how many: an int, or a dimension.
    Raises:
        ShapeError: n is no count. DTypeError: the key is no key.

    >>> import symgrad as sg
    >>> sg.sort(sg.random.permutation(sg.random.key(0), 5))
    Tensor([0, 1, 2, 3, 4])
    """
    return ops.argsort(random_bits(key, shape=sizes_of("random.permutation", (n,))))


# --- a sequence of keys ---------------------------------------------------------------------------


class Generator:
    """Draws one after the other, each with its own key: the generator's, with a count folded in.

    A seed gives tensors. A key that is a symbol gives symbols; if it is a variable, an update can
    advance it, so that every call of a compiled function draws anew.

    Args:
        seed: an integer, or a key.

    >>> import symgrad as sg
    >>> rng = sg.random.Generator(0)
    >>> rng.normal((2, 3)).shape
    (2, 3)
    >>> rng = sg.random.Generator(sg.variable(sg.random.key(0), name="key"))
    >>> roll = sg.function([], rng.randint((), 0, 1000), updates={rng.key: rng.next_key()})
    >>> int(roll()) == int(roll())
    False
    """

    __slots__ = ("_count", "key")

    def __init__(self, seed: Any) -> None:
        is_key = getattr(seed, "shape", ()) != ()
        self.key: Any = seed if is_key else key(seed)
        self._count = itertools.count()

    def next_key(self) -> Any:
        """A key that nothing else has."""
        return fold_in(self.key, next(self._count))

    def uniform(self, shape: Any = (), **options: Any) -> Any:
        """As `uniform`, with the next key."""
        return uniform(self.next_key(), shape, **options)

    def normal(self, shape: Any = (), **options: Any) -> Any:
        """As `normal`, with the next key."""
        return normal(self.next_key(), shape, **options)

    def bernoulli(self, p: Any = 0.5, shape: Any = None) -> Any:
        """As `bernoulli`, with the next key."""
        return bernoulli(self.next_key(), p, shape)

    def randint(self, shape: Any, low: Any, high: Any, **options: Any) -> Any:
        """As `randint`, with the next key."""
        return randint(self.next_key(), shape, low, high, **options)

    def permutation(self, n: Any) -> Any:
        """As `permutation`, with the next key."""
        return permutation(self.next_key(), n)
