"""Rules compiled for `Optimizer.step`: once per rule, options, element type and number of axes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from symgrad.backends.state import State
from symgrad.eager.tensor import Tensor
from symgrad.function import Function, function
from symgrad.ir.site import Site
from symgrad.ir.symbol import constructing, placeholder
from symgrad.optim.groups import options_of
from symgrad.optim.rules import Rule, apply_rule

Structure = tuple[tuple[str, Any], ...]
"""The options that decide how a rule is built."""


@lru_cache(maxsize=512)
def compiled(
    rule: Rule,
    dtype: Any,
    axes: int,
    state: tuple[tuple[str, Any, int], ...],
    numbers: tuple[str, ...],
    structure: Structure,
) -> Function:
    """From parameter, gradient, state and numbers to the new parameter and state.

    Args:
        rule: what is compiled.
        dtype, axes: of the parameter; its sizes may vary.
        state: name, element type and number of axes of what is kept beside it.
        numbers: the options that are variable.
        structure: the others.
    """
    # Whatever is being built where the step stands has no part in this.
    with constructing() as building:
        building.builder = building.origin = None
        p = placeholder("p", (None,) * axes, dtype)
        g = placeholder("grad", p.shape, dtype)
        kept = {
            name: placeholder(name, p.shape if rank else (), kind) for name, kind, rank in state
        }
        scalars = [placeholder(name, (), "float64") for name in numbers]
        options = options_of(zip(numbers, scalars, strict=True), structure)
        new_p, new = apply_rule(rule, p, g, kept, options)
        return function([p, g, *kept.values(), *scalars], [new_p, *(new[n] for n in kept)])


class Slot:
    """A parameter with its state, and the compiled rule that advances both.

    Attributes:
        key: the options that it was built for.
        tensors: the parameter, and what is kept beside it.
    """

    __slots__ = ("_call", "_names", "_state", "_storages", "key", "tensors")

    def __init__(
        self,
        rule: Rule,
        parameter: Tensor,
        state: dict[str, Tensor],
        numbers: tuple[str, ...],
        structure: Structure,
    ) -> None:
        self._names = tuple(state)
        self.key, self.tensors = (numbers, structure), (parameter, *state.values())
        kinds = tuple((n, t.dtype, len(t.shape)) for n, t in state.items())
        axes = len(parameter.shape)
        self._call = compiled(rule, parameter.dtype, axes, kinds, numbers, structure)
        self._storages = tuple(tensor.storage for tensor in self.tensors)
        self._state = State(self._storages, self._storages)

    def fits(
        self,
        parameter: Tensor,
        state: Mapping[str, Any],
        key: tuple[tuple[str, ...], Structure],
    ) -> bool:
        """Whether it is still right: nothing was exchanged."""
        present = (parameter, *map(state.get, self._names))
        return self.key == key and all(
            mine is tensor and mine.storage is storage
            for mine, tensor, storage in zip(self.tensors, present, self._storages, strict=True)
        )

    def advance(self, grad: Any, numbers: list[Any], site: Site | None) -> None:
        """Compute and store the new values, all at once."""
        with self._state:
            p, *state = self._state.read()
            self._state.commit(self._call(p, grad, *state, *numbers))
        self._storages[0].ties().changed_at = site
