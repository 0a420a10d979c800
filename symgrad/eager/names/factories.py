"""Tensors from values and from chance, as PyTorch spells them."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any, cast

from symgrad.eager.names.variants import requiring
from symgrad.eager.tensor import Tensor
from symgrad.errors import ArgumentError
from symgrad.ir.op import ops
from symgrad.ops.conversion import require_cpu
from symgrad.ops.generator import Generator


def tensor(
    data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A tensor that holds a copy of a number, of nested lists of numbers, or of an array.

    Args:
        data: the value; Python floats take the default float type.
        dtype: the element type; that of the value if None.
        device: None or "cpu".
        requires_grad: whether calls on it are recorded for `backward`.
    Raises:
        DTypeError: the value is no number, or does not fit the type. ShapeError: ragged lists.
        NotDifferentiable: integers cannot require a gradient.

    >>> import symgrad as sg
    >>> sg.tensor([1.0, 2.0], requires_grad=True)
    Tensor([1., 2.], requires_grad=True)
    """
    require_cpu("tensor", device)
    return Tensor(data, dtype=dtype, requires_grad=requires_grad)


# --- chance ---------------------------------------------------------------------------------------


class _Present:
    """The generator that draws where none is named."""

    generator: Generator | None = None


def drawing(given: Generator | None) -> Generator:
    """The generator that is named, or the one that draws where none is."""
    if given is not None:
        return given
    if _Present.generator is None:
        _Present.generator = Generator(secrets.randbits(63))
    return _Present.generator


def manual_seed(seed: int) -> Generator:
    """Let all draws that name no generator start anew from ``seed``, and give their generator.

    The same seed gives the same numbers, in every run; without one, every run has its own.

    >>> import symgrad as sg
    >>> generator = sg.manual_seed(10)
    >>> first = sg.randn(2)
    >>> generator = sg.manual_seed(10)
    >>> bool(sg.all(sg.randn(2) == first))
    True
    """
    if isinstance(seed, bool) or not hasattr(seed, "__index__"):
        raise ArgumentError("manual_seed", "no seed", expected="an integer", got=repr(seed))
    _Present.generator = Generator(int(seed))
    return _Present.generator


def _sizes(size: Sequence[Any], named: Any) -> Any:
    """The shape that is given size by size, as one argument, or by name."""
    if named is not None:
        return named
    if len(size) == 1 and isinstance(size[0], (tuple, list)):
        return tuple(cast("Sequence[Any]", size[0]))
    return tuple(size)


def rand(
    *sizes: Any,
    size: Any = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    generator: Generator | None = None,
) -> Any:
    """Numbers spread evenly over [0, 1), of the shape ``rand(2, 3)`` or ``rand((2, 3))``.

    >>> import symgrad as sg
    >>> sg.rand(2, 3).shape, sg.rand((2, 3)).shape
    ((2, 3), (2, 3))
    """
    require_cpu("rand", device)
    made = drawing(generator).uniform(_sizes(sizes, size), dtype=dtype)
    return requiring("rand", made, requires_grad)


def randn(
    *sizes: Any,
    size: Any = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    generator: Generator | None = None,
) -> Any:
    """Numbers of the standard normal distribution; the shape is given as to `rand`.

    >>> import symgrad as sg
    >>> sg.randn(2, 3, requires_grad=True).requires_grad
    True
    """
    require_cpu("randn", device)
    made = drawing(generator).normal(_sizes(sizes, size), dtype=dtype)
    return requiring("randn", made, requires_grad)


def rand_like(x: Any, *, dtype: Any = None, requires_grad: bool = False) -> Any:
    """As `rand`, of the shape and element type of ``x``.

    >>> import symgrad as sg
    >>> sg.rand_like(sg.zeros(3)).shape
    (3,)
    """
    x = ops.asarray(x)
    return rand(x.shape, dtype=dtype or x.dtype, requires_grad=requires_grad)


def randn_like(x: Any, *, dtype: Any = None, requires_grad: bool = False) -> Any:
    """As `randn`, of the shape and element type of ``x``.

    >>> import symgrad as sg
    >>> sg.randn_like(sg.zeros(3)).shape
    (3,)
    """
    x = ops.asarray(x)
    return randn(x.shape, dtype=dtype or x.dtype, requires_grad=requires_grad)


def randint(
    low: Any,
    high: Any,
    size: Any = None,
    *,
    dtype: Any = None,
    device: Any = None,
    generator: Generator | None = None,
) -> Any:
    """Integers from ``low`` to ``high - 1``: ``randint(low, high, size)``, ``randint(high, size)``.

    >>> import symgrad as sg
    >>> sg.randint(0, 10, (4,)).dtype
    dtype('int64')
    """
    require_cpu("randint", device)
    if size is None:
        low, high, size = 0, low, high
    return drawing(generator).randint(size, low, high, dtype=dtype)


def randperm(n: int, *, generator: Generator | None = None) -> Any:
    """The integers from 0 to ``n - 1`` in random order.

    >>> import symgrad as sg
    >>> sg.sort(sg.randperm(4))
    Tensor([0, 1, 2, 3])
    """
    return drawing(generator).permutation(n)


def normal(
    mean: Any = 0.0,
    std: Any = 1.0,
    size: Any = None,
    *,
    dtype: Any = None,
    generator: Generator | None = None,
) -> Any:
    """Normal numbers of this mean and deviation, which may be arrays.

    >>> import symgrad as sg
    >>> sg.normal(0.0, 2.0, (3,)).shape
    (3,)
    """
    return drawing(generator).normal(size, mean=mean, std=std, dtype=dtype)


def multinomial(
    x: Any, num_samples: int, replacement: bool = False, *, generator: Generator | None = None
) -> Any:
    """Positions along the last axis, with probabilities in proportion to ``x``.

    Without replacement, all of a row are different: the largest of ``log(x)`` with noise.

    Raises:
        ArgumentError: more are asked for than there are, without replacement.

    >>> import symgrad as sg
    >>> sg.multinomial(sg.asarray([0.0, 1.0]), 3, replacement=True)
    Tensor([1, 1, 1])
    """
    logits = ops.log(x)
    random = drawing(generator)
    if replacement:
        shape = (*logits.shape[:-1], num_samples)
        return random.categorical(ops.expand_dims(logits, axis=-2), shape=shape)
    noise = random.gumbel(logits.shape, dtype=logits.dtype)
    return ops.top_k(logits + noise, num_samples).indices


def device(name: str) -> str:
    """The name of a device: "cpu" is the only one.

    >>> import symgrad as sg
    >>> sg.ones(1).to(sg.device("cpu")).device
    'cpu'
    """
    require_cpu("device", name)
    return name


def bernoulli(x: Any, *, generator: Generator | None = None) -> Any:
    """Ones with the probabilities in ``x``, zeros else, in the element type of ``x``.

    >>> import symgrad as sg
    >>> sg.bernoulli(sg.ones(2))
    Tensor([1., 1.])
    """
    x = ops.asarray(x)
    return ops.astype(drawing(generator).bernoulli(x), x.dtype)
