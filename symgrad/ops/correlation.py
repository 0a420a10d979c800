"""Products of a sequence and another one that slides along it: convolve, correlate.

Two forms, `slid_apart` (all places where the two meet) and `slid_within` (those where one lies
inside the other), are closed under differentiation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, ShapeError
from symgrad.ir.op import ops
from symgrad.ops.families import Array, composite, multilinear, require_kind
from symgrad.ops.joining import cut
from symgrad.types import Size, TensorType, is_complex, max_size, min_size, promote

# --- the two forms --------------------------------------------------------------------------------


def _slid_type(where: str, x: TensorType, w: TensorType) -> np.dtype[Any]:
    for name, kind in (("x1", x), ("x2", w)):
        require_kind(where, kind.dtype, "numeric", name)
        if kind.ndim != 1:
            raise ShapeError(where, f"axes of {name}", expected="1 axis", got=kind)
        if kind.shape[0] == 0:
            raise ShapeError(where, f"{name} is empty", expected="at least 1 element", got=kind)
    return promote(x.dtype, w.dtype)


def _apart_type(x: TensorType, w: TensorType) -> TensorType:
    dtype = _slid_type("convolve", x, w)
    return TensorType((x.shape[0] + w.shape[0] - 1,), dtype)


def _within_type(x: TensorType, w: TensorType) -> TensorType:
    dtype = _slid_type("correlate", x, w)
    return TensorType((x.shape[0] - w.shape[0] + 1,), dtype)


@multilinear(
    type=_apart_type,
    transpose=(lambda ct, x, w: ops.slid_within(ct, w), lambda ct, x, w: ops.slid_within(ct, x)),
    namespace=None,
)
def slid_apart(x: Array, w: Array, /) -> Array:
    """``y[k] = sum(x[i] * w[k - i])``, from the first to the last ``k`` with any product.

    >>> slid_apart(np.array([1.0, 2.0]), np.array([1.0, 10.0]))
    Tensor([ 1., 12., 20.])
    """
    return np.convolve(x, w).astype(np.result_type(x, w), copy=False)


@multilinear(
    type=_within_type,
    transpose=(lambda ct, x, w: ops.slid_apart(ct, w), lambda ct, x, w: ops.slid_within(x, ct)),
    namespace=None,
)
def slid_within(x: Array, w: Array, /) -> Array:
    """``y[k] = sum(x[k + i] * w[i])``, from the first to the last ``k`` with all products.

    >>> slid_within(np.array([1.0, 2.0, 3.0]), np.array([1.0, 10.0]))
    Tensor([21., 32.])
    """
    # numpy conjugates the second.
    return np.correlate(x, np.conj(w), "valid").astype(np.result_type(x, w), copy=False)


# --- their public faces ---------------------------------------------------------------------------


def _vectors(where: str, mode: str, x1: Any, x2: Any) -> tuple[Any, Any]:
    if mode not in ("full", "same", "valid"):
        raise ArgumentError(where, "mode", expected="'full', 'same' or 'valid'", got=repr(mode))
    x1, x2 = ops.asarray(x1), ops.asarray(x2)
    _slid_type(where, x1.type, x2.type)
    return x1, x2


def _known(*arrays: Any) -> bool:
    return all(isinstance(x.shape[0], int) for x in arrays)


def _middle(x: Any, start: Size, size: Size) -> Any:
    return cut(x, 0, start, start + size)


@composite
def convolve(x1: Array, x2: Array, /, mode: str = "full") -> Any:
    """``y[k] = sum(x1[i] * x2[k - i])``: the coefficients of a product of polynomials, say.

    Args:
        x1, x2: vectors of at least one element, which may change places.
        mode: "full": all ``n + m - 1`` places where the two meet; "same": of these as many as the
            longer one has, in the middle; "valid": those where the shorter lies within the longer.
    Raises:
        ShapeError: not vectors, or empty ones. DTypeError: booleans. ArgumentError: another mode.

    >>> import symgrad as sg
    >>> sg.convolve(sg.asarray([1, 2]), sg.asarray([1, 10, 100]))
    Tensor([  1,  12, 120, 200])
    """
    x1, x2 = _vectors("convolve", mode, x1, x2)
    sizes = x1.shape[0], x2.shape[0]
    if mode == "valid" and _known(x1, x2):
        long, short = (x1, x2) if sizes[0] >= sizes[1] else (x2, x1)
        return slid_within(long, ops.flip(short))
    full = slid_apart(x1, x2)
    if mode == "full":
        return full
    long, short = max_size(*sizes), min_size(*sizes)
    if mode == "valid":
        return _middle(full, short - 1, long - short + 1)
    return _middle(full, (short - 1) // 2, long)


@composite
def correlate(x1: Array, x2: Array, /, mode: str = "valid") -> Any:
    """``y[k] = sum(x1[i + k] * conj(x2[i]))``: how alike two sequences are, one being slid.

    Args:
        x1, x2: vectors of at least one element.
        mode: as for `convolve`. If ``x2`` is the longer one, ``k`` is never positive in "valid".
    Raises:
        As `convolve`.

    >>> import symgrad as sg
    >>> sg.correlate(sg.asarray([1, 2, 3]), sg.asarray([1, 10]))
    Tensor([21, 32])
    """
    x1, x2 = _vectors("correlate", mode, x1, x2)
    sizes = x1.shape[0], x2.shape[0]
    if is_complex(x2.dtype):
        x2 = ops.conj(x2)
    if mode == "valid" and _known(x1, x2):
        if sizes[0] >= sizes[1]:
            return slid_within(x1, x2)
        return ops.flip(slid_within(x2, x1))
    full = slid_apart(x1, ops.flip(x2))
    if mode == "full":
        return full
    long, short = max_size(*sizes), min_size(*sizes)
    if mode == "valid":
        return _middle(full, short - 1, long - short + 1)
    # With an even number of places too many, the middle lies nearer to the end of the longer one.
    swapped = min_size(max_size(sizes[1] - sizes[0], 0), 1)
    return _middle(full, (short - 1 + swapped) // 2, long)
