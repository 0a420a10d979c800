"""Python text for values: attributes of ops, and constants without axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgrad.backends.dimensions import rename
from symgrad.types import Dim


def float_text(value: float) -> str:
    """A Python expression for a float.

    >>> float_text(0.5), float_text(-0.0), float_text(float("-inf")), float_text(float("nan"))
    ('0.5', '-0.0', '-np.inf', 'np.nan')
    """
    if math.isfinite(value):
        return repr(value)
    if math.isnan(value):
        return "np.nan"
    return "np.inf" if value > 0 else "-np.inf"


def number_text(value: complex) -> str:
    """A Python expression for a number; complex ones keep the signs of their zeros.

    >>> number_text(3), number_text(True), number_text(complex(-0.0, 1.0))
    ('3', 'True', 'complex(-0.0, 1.0)')
    """
    if isinstance(value, float):
        return float_text(value)
    if isinstance(value, complex):
        return f"complex({float_text(value.real)}, {float_text(value.imag)})"
    return repr(value)


def scalar_text(value: Any) -> str:
    """A Python number that numpy converts to just this number of its own, as short as can be.

    >>> scalar_text(np.float32(0.1)), scalar_text(np.float64(0.1)), scalar_text(np.int8(3))
    ('0.1', '0.1', '3')
    """
    short = str(value)
    if value.dtype.kind == "f" and np.isfinite(value) and value.dtype.type(float(short)) == value:
        return repr(float(short))
    return number_text(value.item())


def dtype_text(dtype: np.dtype[Any]) -> str:
    """A Python expression for the scalar class of an element type."""
    return "np.bool_" if dtype.kind == "b" else f"np.{dtype.name}"


def attribute_text(value: Any, names: Mapping[str, str], refer: Callable[[Any], str]) -> str:
    """A Python expression for an attribute of an op.

    Args:
        value: the attribute.
        names: how dimensions are called in the code.
        refer: gives a name to a value that has no text.
    """
    if value is None or value is ... or isinstance(value, (bool, int, str)):
        return "..." if value is ... else repr(value)
    if isinstance(value, (float, complex)):
        return number_text(value)
    if isinstance(value, Dim):
        return str(rename(value, names))
    if isinstance(value, np.dtype):
        return f'np.dtype("{value.name}")'
    if isinstance(value, tuple):
        items = [attribute_text(item, names, refer) for item in value]  # pyright: ignore[reportUnknownVariableType]
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
    return refer(value)


def array_text(array: NDArray[Any]) -> str:
    """A Python expression for an array, for reading and for running."""
    if array.ndim == 0:
        return f"{dtype_text(array.dtype)}({scalar_text(array[()])})"
    items = ", ".join([scalar_text(item) for item in array.ravel()])
    text = f"np.array([{items}], {dtype_text(array.dtype)})"
    return text if array.ndim == 1 else f"{text}.reshape({array.shape})"
