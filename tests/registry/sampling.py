"""What a sample of an op is, and the values that samples are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import symgrad as sg
from symgrad.ir.op import Composite, Op
from symgrad.ir.symbol import build
from symgrad.ops.families import unpack
from symgrad.testing.gradients import normal_direction
from symgrad.types import TupleType


@dataclass(frozen=True)
class Sample:
    """One call of an op.

    Attributes:
        operands: the values of its operands.
        attrs: its attributes.
        call: ``call(op, *operands, **attrs)``, for an op that is not called on operands first.
        through: a function of the result that is differentiated instead of it, where the result
            itself holds arbitrary choices (the sign of an eigenvector).
        direction: draws a direction of differentiation, where not every one is allowed.
        smooth: whether the op is differentiable there (it is not at a tie).
        structured: the values are of a kind that neither another size nor an imaginary part keeps.
        fixed: sizes of axes that must stay numbers, and why.
        order: how often it can be differentiated.
        narrow: whether the values in narrower types are those in double precision, rounded.
        note: what the sample is about.
    """

    operands: tuple[Any, ...] = ()
    attrs: dict[str, Any] = field(default_factory=dict)
    call: Callable[..., Any] | None = None
    through: Callable[..., Any] | None = None
    direction: Callable[..., Any] = normal_direction
    smooth: bool = True
    structured: bool = False
    fixed: dict[int, str] = field(default_factory=dict)
    order: int = 2
    narrow: bool = True
    note: str = ""

    def apply(self, op: Op | Composite, operands: Sequence[Any], **changed: Any) -> list[Any]:
        """The outputs of the op's public call on operands of any front end."""
        attrs = {**self.attrs, **changed}
        if isinstance(op, Op) and not op.signature.operands and self.call is None:
            # Without operands and symbolic sizes a call would compute at once.
            return [build(op, (), op.signature.bind(op.name, (), attrs)[1])]
        if self.call is not None:
            result = self.call(op, *operands, **attrs)
        elif op.signature.variadic:
            result = op(list(operands), **attrs)
        else:
            result = op(*operands, **attrs)
        if isinstance(getattr(result, "type", None), TupleType):
            result = unpack(result, len(result.type.items))
        elif type(result).__name__ == "Pack":
            result = tuple(sg.asarray(part) for part in result)
        return flat(result)

    def computed(self, op: Op | Composite) -> list[Any]:
        """The outputs of an eager call, on tensors."""
        if not self.operands and self.call is None:
            return flat(op(**self.attrs))
        return self.apply(op, [sg.asarray(v) for v in self.operands])

    def differentiated(self, op: Op | Composite, operands: Sequence[Any]) -> list[Any]:
        """What of the result is differentiated."""
        outputs = self.apply(op, operands)
        return outputs if self.through is None else flat(self.through(*outputs))


def flat(outputs: Any) -> list[Any]:
    """The arrays of a nested sequence of them."""
    if isinstance(outputs, (tuple, list)):
        return [array for item in outputs for array in flat(item)]
    return [outputs]


def S(*operands: Any, **attrs: Any) -> Sample:
    """A sample without anything special."""
    return Sample(tuple(np.asarray(o) for o in operands), attrs)


def called(call: Callable[..., Any], *operands: Any, **facets: Any) -> Sample:
    """A sample of a function whose operands do not come first."""
    return Sample(tuple(np.asarray(o) for o in operands), call=call, **facets)


def rigid(sample: Sample, **facets: Any) -> Sample:
    """A sample with values of a special kind."""
    return replace(sample, structured=True, **facets)


def keyed(sample: Sample) -> Sample:
    """A sample that draws random numbers: others for each element type."""
    return replace(sample, structured=True, narrow=False, fixed={2: "a key has two words"})


def kink(sample: Sample) -> Sample:
    """A sample where the op has no derivative, only one by convention."""
    return replace(sample, smooth=False)


# --- values ---------------------------------------------------------------------------------------


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    """Normal numbers, others for each shape and seed."""
    return np.random.default_rng([seed, 77, *shape]).normal(size=shape)


def between(low: float, high: float, *shape: int, seed: int = 0) -> np.ndarray:
    """Numbers between two bounds."""
    return np.random.default_rng([seed, 78, *shape]).uniform(low, high, size=shape)


def cnormal(*shape: int, seed: int = 0) -> np.ndarray:
    """Complex normal numbers."""
    return normal(*shape, seed=seed) + 1j * normal(*shape, seed=seed + 1000)


def definite(*shape: int, imaginary: bool = False) -> np.ndarray:
    """Positive definite matrices, well apart from singular ones."""
    n = shape[-1]
    a = cnormal(*shape, n) if imaginary else normal(*shape, n)
    return a @ np.swapaxes(a.conj(), -1, -2) / n + 2 * np.diag(np.arange(1.0, n + 1))


def regular(*shape: int, imaginary: bool = False) -> np.ndarray:
    """Square matrices well apart from singular ones."""
    n = shape[-1]
    a = cnormal(*shape, n) if imaginary else normal(*shape, n)
    return a + np.diag(3.0 * np.arange(1.0, n + 1))


def symmetric(rng: np.random.Generator, point: np.ndarray) -> np.ndarray:
    """A direction that keeps a matrix symmetric, or Hermitian."""
    t = normal_direction(rng, point)
    if point.ndim < 2 or point.shape[-1] != point.shape[-2]:
        return t
    return ((t + np.swapaxes(t.conj(), -1, -2)) / 2).astype(point.dtype)


def spaced(*shape: int, seed: int = 0) -> np.ndarray:
    """Numbers without ties, far apart."""
    count = int(np.prod(shape))
    order = np.random.default_rng([seed, 79, *shape]).permutation(count)
    return (order - count / 2 + 0.3).reshape(shape) * 0.25


KEY = np.array([123456789, 987654321], np.uint64)
TRUE_FALSE = np.array([True, False, True, True, False])


# --- shared by several ops ----------------------------------------------------------------------


def reductions(*more: Sample) -> list[Sample]:
    """What a reduction along axes is tried on."""
    return [
        S(normal(5, 7)),
        S(normal(5, 7), axis=1),
        S(normal(5, 7), axis=-2, keepdims=True),
        S(normal(5, 7, 6), axis=(2, 0)),
        S(normal(5, 7), axis=()),
        S(np.array(0.7)),
        S(normal(1, 6), axis=0),
        *more,
    ]


def extremes() -> list[Sample]:
    """The same with ties, for a selection."""
    ties = np.array([[1.0, 2.0, 2.0], [2.0, 0.0, 2.0]])
    return [
        S(spaced(5, 7)),
        S(spaced(5, 7), axis=1),
        S(spaced(5, 7), axis=-2, keepdims=True),
        S(spaced(5, 7, 6), axis=(2, 0)),
        S(spaced(5, 7), axis=()),
        S(np.array(0.7)),
        kink(S(ties)),
        kink(S(ties, axis=0)),
    ]


def pools(*more: Sample) -> list[Sample]:
    """Windows of several sizes, steps and paddings."""
    return [
        S(spaced(2, 3, 7), kernel=3),
        S(spaced(2, 3, 8, 7), kernel=(3, 2), stride=(2, 1), padding=1),
        S(spaced(1, 2, 7), kernel=3, stride=2, padding=((1, 0),), ceil_mode=True),
        S(spaced(1, 2, 5, 6, 7), kernel=2),
        *more,
    ]


def on(*names: str, **fixed: Any) -> Callable[..., Any]:
    """A call that hands further operands over by keyword."""

    def call(op: Any, *operands: Any, **attrs: Any) -> Any:
        positional = operands[: len(operands) - len(names)]
        named = dict(zip(names, operands[len(positional) :], strict=True))
        return op(*positional, **named, **fixed, **attrs)

    return call
