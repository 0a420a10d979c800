"""What an optimiser holds as plain dictionaries, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from symgrad.eager.tensor import Tensor, tensor_on
from symgrad.errors import ArgumentError, ShapeError
from symgrad.ir.storage import Storage, owned_array
from symgrad.optim.groups import Group

if TYPE_CHECKING:
    from symgrad.optim.optimizer import Optimizer


def state_dict(optimizer: Optimizer) -> dict[str, Any]:
    """See `Optimizer.state_dict`."""
    groups: list[dict[str, Any]] = []
    count = 0
    for group in optimizer.param_groups:
        size = len(group["params"])
        options = {name: group[name] for name in group if name != "params"}
        groups.append({**options, "params": list(range(count, count + size))})
        count += size
    state = {
        number: {name: _copied(value) for name, value in optimizer.state[p].items()}
        for number, p in enumerate(optimizer.parameters())
        if p in optimizer.state
    }
    return {"state": state, "param_groups": groups}


def _copied(value: Any) -> Any:
    if isinstance(value, (Tensor, np.ndarray)):
        return tensor_on(Storage(np.array(cast("Any", value))))
    if isinstance(value, list):
        return [_copied(item) for item in cast("list[Any]", value)]
    return value


def arrays_of(value: Any) -> Any:
    """A value of a state with arrays, which are copied, in place of tensors."""
    if isinstance(value, list):
        return [arrays_of(item) for item in cast("list[Any]", value)]
    if isinstance(value, (bool, int, float, str)) or value is None:
        return value
    return _array("load_state_dict", value)


def _array(where: str, value: Any) -> NDArray[Any]:
    # Tensors of other libraries give their array; numpy would ask them in a newer way.
    given = value.numpy() if hasattr(value, "numpy") else value
    return owned_array(where, given, None)


def load_state_dict(optimizer: Optimizer, given: Mapping[str, Any]) -> None:
    """See `Optimizer.load_state_dict`."""
    where = f"{optimizer.where}.load_state_dict"
    for key in ("state", "param_groups"):
        if key not in given:
            raise ArgumentError(where, f"no {key!r}", got=", ".join(map(str, given)))
    groups: Sequence[Mapping[str, Any]] = given["param_groups"]
    _require_same_groups(where, optimizer.param_groups, groups)
    numbers = [number for group in groups for number in group["params"]]
    parameters = dict(zip(numbers, optimizer.parameters(), strict=True))
    state = {int(number): value for number, value in given["state"].items()}
    for number in state:
        if number not in parameters:
            raise ArgumentError(where, f"state of parameter {number}, which is in no group")
    new = {
        p: {name: _fitting(where, p, name, value) for name, value in state.get(number, {}).items()}
        for number, p in parameters.items()
    }
    for mine, group in zip(optimizer.param_groups, groups, strict=True):
        for name, value in group.items():
            if name != "params":
                mine[name] = tuple(value) if isinstance(value, list) and name in mine else value  # pyright: ignore[reportUnknownArgumentType]
        for p in mine["params"]:
            _take_over(optimizer, mine, p, new[p])


def _require_same_groups(
    where: str, mine: Sequence[Group], groups: Sequence[Mapping[str, Any]]
) -> None:
    if len(groups) != len(mine):
        raise ArgumentError(where, "number of groups", expected=len(mine), got=len(groups))
    for number, (own, group) in enumerate(zip(mine, groups, strict=True)):
        if len(group["params"]) != len(own["params"]):
            raise ArgumentError(
                where,
                f"number of parameters in group {number}",
                expected=len(own["params"]),
                got=len(group["params"]),
            )


def _fitting(where: str, p: Tensor, name: str, value: Any) -> Any:
    """A value of the state, as an array of a shape that goes with the parameter, if it is one."""
    if value is None or isinstance(value, (bool, str, list)):
        return cast("Any", value)
    array = _array(where, value)
    if array.shape not in ((), p.shape):
        raise ShapeError(
            where, f"{name} does not fit its parameter", expected=p.type, got=array.shape
        )
    return array


def _take_over(optimizer: Optimizer, group: Group, p: Tensor, new: Mapping[str, Any]) -> None:
    """Make ``new`` the state of a parameter, in the storages that compiled steps know."""
    present = optimizer.state.get(p, {})
    if not present and not new:
        return
    first = optimizer.begin(p.storage.array, group.options(optimizer.switches, optimizer.flags))
    for name in {**present, **new}:
        given = new.get(name)
        value: Any = first.get(name) if given is None else given
        if value is None:
            present.pop(name, None)
        elif isinstance(value, np.ndarray):
            _assign(present, name, cast("NDArray[Any]", value), first.get(name), p.dtype)
        else:
            present[name] = value
    optimizer.state[p] = present


def _assign(
    state: dict[str, Any],
    name: str,
    array: NDArray[Any],
    model: NDArray[Any] | None,
    dtype: Any,
) -> None:
    if model is not None and array.shape == model.shape:
        array = array.astype(model.dtype)
    elif array.shape:
        array = array.astype(dtype)
    old = state.get(name)
    if isinstance(old, Tensor) and (old.shape, old.dtype) == (array.shape, array.dtype):
        old.storage.assign(array)
    else:
        state[name] = tensor_on(Storage(array))
