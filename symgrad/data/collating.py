"""Samples put together into a batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from symgrad.eager.tensor import Tensor, as_tensor
from symgrad.errors import ArgumentError, DTypeError, ShapeError
from symgrad.ir.op import ops
from symgrad.types import default_float


class NotStackable(ArgumentError, DTypeError):
    """Samples hold something that no batch can be made of."""


def collate(samples: Sequence[Any]) -> Any:
    """One batch of several samples: tensors, arrays and numbers are stacked on a new first axis.

    Tuples, named tuples, lists and mappings are gone into; texts are listed.

    Raises:
        ShapeError: shapes or lengths differ. NotStackable: what is neither of these (a TypeError).

    >>> import symgrad as sg
    >>> batch = sg.data.collate([{"x": sg.ones(2), "name": "a"}, {"x": sg.zeros(2), "name": "b"}])
    >>> batch["name"], batch["x"]
    (['a', 'b'], Tensor([[1., 1.],
            [0., 0.]]))
    """
    if not samples:
        raise ArgumentError("collate", "no samples", expected="at least one")
    return _collated(list(samples), "")


def _collated(items: list[Any], path: str) -> Any:
    first = items[0]
    if isinstance(first, (Tensor, np.ndarray, np.generic, int, float, complex)):
        return _stacked(items, path)
    if isinstance(first, (str, bytes)):
        return items
    if isinstance(first, Mapping):
        _require_same(items, path, _names)
        made = {
            n: _collated([item[n] for item in items], f"{path}[{n!r}]") for n in _names(first) or []
        }
        return made if type(first) is dict else _rebuilt(first, made)  # pyright: ignore[reportUnknownArgumentType]
    if isinstance(first, (tuple, list)):
        _require_same(items, path, _length)
        columns = zip(*items, strict=True)
        parts = [_collated(list(column), f"{path}[{k}]") for k, column in enumerate(columns)]
        if isinstance(first, list):
            return parts
        return first._make(parts) if hasattr(first, "_make") else tuple(parts)  # pyright: ignore
    raise NotStackable(
        f"collate: sample{path}",
        "cannot be put into a batch",
        expected="tensors, arrays, numbers, texts, or tuples, lists and dicts of them",
        got=type(first).__name__,
        hint="DataLoader(..., collate_fn=...)",
    )


def _names(item: Any) -> list[Any] | None:
    return list(item) if isinstance(item, Mapping) else None  # pyright: ignore[reportUnknownArgumentType]


def _length(item: Any) -> int | None:
    return len(item) if hasattr(item, "__len__") else None


def _rebuilt(model: Any, made: dict[Any, Any]) -> Any:
    try:
        return type(model)(made)
    except TypeError:
        return made


def _require_same(items: list[Any], path: str, of: Callable[[Any], Any]) -> None:
    """Refuse samples that differ in their names or their length."""
    first = of(items[0])
    for number, item in enumerate(items):
        found = of(item)
        if found != first and not _are_same_names(found, first):
            problem = f"sample 0 and sample {number} hold different things"
            raise ShapeError(f"collate: sample{path}", problem, expected=first, got=found)


def _are_same_names(one: Any, other: Any) -> bool:
    both = isinstance(one, list) and isinstance(other, list)
    return both and {*one} == {*other}


def _stacked(items: list[Any], path: str) -> Tensor:
    if any(isinstance(item, Tensor) and item.requires_grad for item in items):
        return ops.stack([ops.asarray(item) for item in items])
    arrays = [item.storage.array if isinstance(item, Tensor) else item for item in items]
    try:
        batch = np.stack([np.asarray(array) for array in arrays])
    except ValueError:
        shapes = [np.shape(array) for array in arrays]
        other = next(k for k, shape in enumerate(shapes) if shape != shapes[0])
        raise ShapeError(
            f"collate: sample{path}",
            f"sample 0 and sample {other} differ in shape",
            expected=shapes[0],
            got=shapes[other],
            hint="pad them, or DataLoader(..., collate_fn=...)",
        ) from None
    if batch.dtype == np.float64 and all(type(item) is float for item in items):
        batch = batch.astype(default_float())  # Python floats are as weak as elsewhere
    return as_tensor(batch)
