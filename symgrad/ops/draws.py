"""Keys, and the draws that all random numbers are made of.

The source of bits is Philox 4x64-10, a counter-based generator (Salmon, Moraes, Dror and Shaw,
"Parallel random numbers: as easy as 1, 2, 3", 2011): a block of four words is a cipher of a counter
under a key. The highest word of the counter says what the block is for, so that draws, splits and
folds of one key never read the same block. Floats are made from the words here, not by numpy's
distributions, whose streams may change from version to version.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.errors import DTypeError, ShapeError
from symgrad.ir.op import Attrs
from symgrad.ops.families import Array, nondifferentiable, require_kind
from symgrad.types import TensorType, as_shape, broadcast_shapes, default_float

CONSTANT_IN_KEY = "random numbers are constant in the key"

# --- types ----------------------------------------------------------------------------------------


def require_key(where: str, kind: TensorType) -> None:
    """Refuse what is no key."""
    if kind.dtype != np.uint64:
        raise DTypeError(
            where,
            "element type of the key",
            expected="uint64",
            got=kind.dtype,
            hint="sg.random.key(seed) makes one",
        )
    if kind.shape != (2,):
        raise ShapeError(where, "a key has two words", expected=(2,), got=kind.shape)


def _require_word(where: str, name: str, kind: TensorType) -> None:
    require_kind(where, kind.dtype, "integer", name)
    if kind.shape != ():
        raise ShapeError(where, f"{name} must be one integer", expected="no axes", got=kind)


def _seed_type(seed: TensorType) -> TensorType:
    _require_word("random.key", "seed", seed)
    return TensorType((2,), np.uint64)


def _fold_type(key: TensorType, data: TensorType) -> TensorType:
    require_key("random.fold_in", key)
    _require_word("random.fold_in", "data", data)
    return TensorType((2,), np.uint64)


def _split_type(key: TensorType, *, count: Any) -> TensorType:
    require_key("random.split", key)
    return TensorType((count, 2), np.uint64)


def _bits_type(key: TensorType, *, shape: Any) -> TensorType:
    require_key("random", key)
    return TensorType(shape, np.uint64)


def _open_type(key: TensorType, *, shape: Any) -> TensorType:
    require_key("random", key)
    return TensorType(shape, np.float64)


def _float_type(key: TensorType, *, shape: Any, dtype: Any) -> TensorType:
    require_key("random", key)
    require_kind("random", dtype, "floating", "the result")
    return TensorType(shape, dtype)


def _integers_type(
    key: TensorType, low: TensorType, high: TensorType, *, shape: Any, dtype: Any
) -> TensorType:
    require_key("random.randint", key)
    for name, kind in (("low", low), ("high", high)):
        require_kind("random.randint", kind.dtype, "integer", name)
    require_kind("random.randint", dtype, "integer", "the result")
    if broadcast_shapes("random.randint", shape, low.shape, high.shape) != shape:
        raise ShapeError(
            "random.randint", "low and high broadcast to more than shape", expected=shape
        )
    return TensorType(shape, dtype)


def sizes_of(where: str, shape: Any) -> tuple[Any, ...]:
    """A shape as a tuple. Names stay out: they would not make the call a symbol."""
    sizes: list[Any] = list(shape) if isinstance(shape, (tuple, list)) else [shape]
    if any(isinstance(size, str) or size is None for size in sizes):
        raise ShapeError(where, "not a shape", expected="ints and dimensions", got=sizes)
    return as_shape(tuple(sizes), where)


def draw_attrs(types: list[TensorType], attrs: Attrs) -> Attrs:
    """The `normalize` facet of a draw: its shape as a tuple, its element type filled in."""
    attrs = {**attrs, "shape": sizes_of("random", attrs["shape"])}
    if "dtype" in attrs and attrs["dtype"] is None:
        attrs["dtype"] = default_float()
    return attrs


# --- bits -----------------------------------------------------------------------------------------

DRAW, _SPLIT, _FOLD, _SEED, TRY = 0, 1, 2, 3, 4


def words(key: Array, purpose: int, count: int, start: Any = 0, row: int = 0) -> Array:
    """So many words of 64 bits, from the blocks that a key has for a purpose.

    The blocks stand in rows without an end; ``start`` counts blocks of four words.
    """
    counter = np.array([start, row, 0, purpose], np.uint64)
    return np.random.Philox(key=np.asarray(key), counter=counter).random_raw(count)


def word_of(integer: Array) -> Any:
    """An integer's 64 bits, as a word; negative ones in two's complement."""
    return np.asarray(integer).astype(np.uint64)[()]


@nondifferentiable(type=_seed_type, reason=CONSTANT_IN_KEY, warns=False, namespace="random")
def key(seed: Array, /) -> Array:
    """A key from a seed: equal seeds give equal keys, unequal ones unrelated keys.

    Args:
        seed: an integer without axes; it may be a symbol.
    Raises:
        DTypeError: the seed is no integer. ShapeError: it has axes.

    >>> import symgrad as sg
    >>> sg.random.key(0).shape
    (2,)
    """
    return words(np.zeros(2, np.uint64), _SEED, 2, word_of(seed))


@nondifferentiable(type=_fold_type, reason=CONSTANT_IN_KEY, warns=False, namespace="random")
def fold_in(key: Array, data: Array, /) -> Array:
    """A new key from a key and an integer: one for each step, layer or row, say.

    Args:
        key: (2,) words.
        data: an integer without axes; it may be a symbol.
    Raises:
        DTypeError, ShapeError: the key is no key, or data not one integer.

    >>> import symgrad as sg
    >>> key = sg.random.key(0)
    >>> bool(sg.all(sg.random.fold_in(key, 1) == sg.random.fold_in(key, 2)))
    False
    """
    return words(key, _FOLD, 2, word_of(data))


@nondifferentiable(type=_split_type, reason=CONSTANT_IN_KEY, warns=False, namespace=None)
def split_key(key: Array, /, *, count: Any) -> Array:
    """New keys (count, 2) from one; `split` is its public face.

    >>> import symgrad as sg
    >>> split_key(sg.random.key(0), count=3).shape
    (3, 2)
    """
    return words(key, _SPLIT, 2 * count).reshape(count, 2)


@nondifferentiable(
    type=_bits_type, reason=CONSTANT_IN_KEY, normalize=draw_attrs, warns=False, namespace=None
)
def random_bits(key: Array, /, *, shape: Any) -> Array:
    """Words of 64 random bits.

    >>> import symgrad as sg
    >>> random_bits(sg.random.key(0), shape=(2, 3)).dtype
    dtype('uint64')
    """
    return words(key, DRAW, math.prod(shape)).reshape(shape)


# --- floats ---------------------------------------------------------------------------------------


@nondifferentiable(
    type=_float_type, reason=CONSTANT_IN_KEY, normalize=draw_attrs, warns=False, namespace=None
)
def standard_uniform(key: Array, /, *, shape: Any, dtype: Any = None) -> Array:
    """Multiples of the element type's epsilon in [0, 1), all equally likely.

    >>> import symgrad as sg
    >>> u = standard_uniform(sg.random.key(0), shape=(1000,))
    >>> bool(sg.all((u >= 0) & (u < 1)))
    True
    """
    digits = np.finfo(dtype).nmant + 1
    bits = words(key, DRAW, math.prod(shape)) >> np.uint64(64 - digits)
    u: Array = bits.astype(dtype) * np.asarray(2.0**-digits, dtype)
    return u.reshape(shape)


def strictly_between(bits: Array) -> Array:
    """Odd multiples of 2**-53, which are neither 0 nor 1, from the words' first 52 bits."""
    return ((bits >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52


@nondifferentiable(
    type=_open_type, reason=CONSTANT_IN_KEY, normalize=draw_attrs, warns=False, namespace=None
)
def open_uniform(key: Array, /, *, shape: Any) -> Array:
    """Odd multiples of 2**-53 in (0, 1), in double precision: what quantiles are taken of.

    >>> import symgrad as sg
    >>> u = open_uniform(sg.random.key(0), shape=(1000,))
    >>> bool(sg.all((u > 0) & (u < 1)))
    True
    """
    return strictly_between(words(key, DRAW, math.prod(shape))).reshape(shape)


@nondifferentiable(
    type=_float_type, reason=CONSTANT_IN_KEY, normalize=draw_attrs, warns=False, namespace=None
)
def standard_normal(key: Array, /, *, shape: Any, dtype: Any = None) -> Array:
    """Numbers of the standard normal distribution, by Box and Muller's transform.

    A radius and an angle give two of them. A float64 pair takes 53 bits of a word for each, any
    other 32 bits, and so lies within 8.6 or 6.7 standard deviations.

    >>> import symgrad as sg
    >>> z = standard_normal(sg.random.key(0), shape=(10_000,))
    >>> abs(float(sg.mean(z))) < 0.05, abs(float(sg.std(z)) - 1) < 0.05
    (True, True)
    """
    count = math.prod(shape)
    half = (count + 1) // 2
    if dtype == np.float64:
        bits = words(key, DRAW, 2 * half) >> np.uint64(11)
        radius, angle, digits, work = bits[:half], bits[half:], 53, np.float64
    else:
        bits = words(key, DRAW, half)
        radius, angle, digits = bits >> np.uint64(32), bits & np.uint64(0xFFFFFFFF), 32
        work = np.float32
    # Not 0, whose logarithm is infinite: from (0, 1].
    radius = (radius + np.uint64(1)).astype(work) * work(2.0**-digits)
    radius = np.sqrt(work(-2) * np.log(radius))
    angle = angle.astype(work) * work(2 * math.pi * 2.0**-digits)
    z = np.empty(count, dtype)
    z[:half] = radius * np.cos(angle)
    z[half:] = (radius * np.sin(angle))[: count - half]
    return z.reshape(shape)


@nondifferentiable(
    type=_integers_type,
    reason="integer output",
    normalize=draw_attrs,
    promotes=(1, 2),
    warns=False,
    namespace=None,
)
def random_integers(key: Array, low: Array, high: Array, /, *, shape: Any, dtype: Any) -> Array:
    """Integers from low to high - 1; low where that is nothing. `randint` is its public face.

    A word modulo the width: an integer's probability is off by less than width/2**64 of itself.

    >>> import symgrad as sg
    >>> random_integers(sg.random.key(0), 5, 6, shape=(2,), dtype=sg.int8)
    Tensor([5, 5], dtype=int8)
    """
    first = np.asarray(low).astype(np.uint64)
    width = np.asarray(np.subtract(np.asarray(high).astype(np.uint64), first))
    width = np.where(np.greater(high, low), width, np.uint64(1))
    bits = words(key, DRAW, math.prod(shape)).reshape(shape)
    return np.asarray(np.add(first, np.remainder(bits, width))).astype(dtype)
