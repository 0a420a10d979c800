"""Optimizer: parameters in groups, what is kept beside each, and the steps that change them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from symgrad.eager.tensor import Tensor, tensor_on
from symgrad.errors import ArgumentError, RuleMissing, TraceError
from symgrad.ir.modes import MODE, TRACING, enable_grad, no_grad
from symgrad.ir.site import here
from symgrad.ir.storage import Storage
from symgrad.ir.symbol import Symbol
from symgrad.optim import saving, static
from symgrad.optim.groups import Group, NoParameters, listed, refuse_twice, require, tensors_of
from symgrad.optim.kernels import Slot, Structure
from symgrad.optim.rules import State


class Optimizer:
    """Changes parameters along their gradients.

    `step` does it at once, with what `Tensor.backward` left in ``.grad``; `updates` gives the same
    change as symbols, for `symgrad.function`. Both act on the same parameters and the same state,
    so they may alternate.

    A subclass gives a rule, written once in public ops, and what it starts from:

    >>> import symgrad as sg
    >>> class Descent(sg.optim.Optimizer):
    ...     def __init__(self, params, lr=0.1):
    ...         super().__init__(params, {"lr": lr})
    ...     @staticmethod
    ...     def rule(p, g, state, o):
    ...         return p - sg.astype(o.lr, p.dtype) * g, state
    >>> w = sg.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = Descent([w])
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    Tensor([0.8, 1.6])

    Attributes:
        param_groups: the groups; ``param_groups[0]["lr"] = 0.01`` acts on compiled steps, too.
        state: per parameter what is kept beside it, as tensors by name.
        defaults: the options of groups that do not say otherwise.
        numbers: names of the options that are numbers, and may change from step to step.
        switches: those of them that the rule does without while they are 0.
        flags: names of the options that decide how the rule is built.
    """

    numbers: ClassVar[tuple[str, ...]] = ("lr",)
    switches: ClassVar[tuple[str, ...]] = ()
    flags: ClassVar[tuple[str, ...]] = ()

    def __init__(self, params: Any, defaults: Mapping[str, Any]) -> None:
        self.where = type(self).__name__
        self.defaults = dict(defaults)
        self.param_groups: list[Group] = []
        self.state: dict[Tensor, dict[str, Any]] = {}
        self.is_compiled = False  # whether `updates` was called, so that steps may go unseen
        self.steps_taken = 0
        self._slots: dict[int, Slot] = {}
        items = listed(self.where, params)
        if isinstance(items[0], Mapping):
            for group in items:
                self.add_param_group(group)
        else:
            self.add_param_group({"params": items})

    # what a subclass gives ----------------------------------------------------------------------
    @staticmethod
    def rule(p: Any, g: Any, state: State, o: Any) -> tuple[Any, State]:
        """The new parameter and state; see `symgrad.optim.rules`.

        Args:
            p, g: the parameter and its gradient, real and of one type.
            state: what `begin` named.
            o: the options, as attributes.
        """
        raise RuleMissing("rule", "this optimiser has none")

    @staticmethod
    def begin(p: NDArray[Any], o: Any) -> dict[str, NDArray[Any]]:
        """What is kept beside the parameter at first: arrays of its shape, or without axes."""
        return {}

    def check(self, options: Mapping[str, Any]) -> None:
        """Refuse options that make no sense; by default a learning rate below 0."""
        require(self.where, "lr", options["lr"], float(options["lr"]) >= 0, "a number >= 0")

    # groups -------------------------------------------------------------------------------------
    def add_param_group(self, param_group: Mapping[str, Any]) -> None:
        """Add parameters with options of their own: ``{"params": [...], "lr": 0.1}``.

        Raises:
            NoParameters: what is no group, or no tensor (a TypeError). ArgumentError: there are no
                parameters, one is in a group already, or an option makes no sense (a ValueError).
        """
        if not isinstance(param_group, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            got = type(param_group).__name__
            raise NoParameters(self.where, "no group", expected="{'params': [...]}", got=got)
        if "params" not in param_group:
            raise ArgumentError(self.where, "the group has no 'params'", got=list(param_group))
        tensors, names = tensors_of(self.where, param_group["params"])
        options: dict[str, Any] = {"params": tensors}
        if names is not None:
            options["param_names"] = names
        for name, default in self.defaults.items():
            options[name] = param_group.get(name, default)
        options.update((n, v) for n, v in param_group.items() if n not in options)
        group = Group(self.where, options, self.numbers)
        self.check(group)
        refuse_twice(
            self.where, [p for known in (*self.param_groups, group) for p in known["params"]]
        )
        self.param_groups.append(group)

    def parameters(self) -> list[Tensor]:
        """All parameters, group by group."""
        return [p for group in self.param_groups for p in group["params"]]

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or write zeros into them."""
        for p in self.parameters():
            grad = p.extra.grad
            if set_to_none or grad is None:
                p.extra.grad = None
            elif grad.requires_grad:
                p.extra.grad = tensor_on(Storage(np.zeros_like(grad.storage.array)))
            else:
                with no_grad():
                    cast("Any", grad).zero_()

    # steps --------------------------------------------------------------------------------------
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change each parameter that has a gradient, in its own storage.

        Args:
            closure: computes the loss anew, with its gradients; called first.

        Returns:
            what the closure gave.

        Raises:
            TraceError: called while a function is traced.
        """
        self._refuse_in_trace()
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        site = here()
        for group in self.param_groups:
            left_out = group.left_out(self.switches)
            numbers = group.numbers(left_out)
            structure = group.structure(self.flags)
            names = tuple(name for name, _ in numbers)
            values = [storage.array for _, storage in numbers]
            for p in group["params"]:
                grad = p.extra.grad
                if grad is not None:
                    slot = self._slot(p, group, names, structure)
                    slot.advance(grad.storage.array, values, site)
        self.steps_taken += 1
        return loss

    def _refuse_in_trace(self) -> None:
        if MODE.get() & TRACING:
            raise TraceError(
                f"{self.where}.step",
                "changes values while a function is traced, which would happen once only",
                hint="sg.function(inputs, loss, updates=optimizer.updates(loss))",
                site=str(here()),
            )

    def _slot(self, p: Tensor, group: Group, names: tuple[str, ...], structure: Structure) -> Slot:
        slot = self._slots.get(id(p))
        if slot is None or not slot.fits(p, self.state.get(p, {}), (names, structure)):
            state = self.state_of(p, group)
            self._slots[id(p)] = slot = Slot(self.rule, p, state, names, structure)
        return slot

    def state_of(self, p: Tensor, group: Group) -> dict[str, Tensor]:
        """What the rule keeps beside a parameter, given its group's options; made if missing."""
        needed = self.begin(p.storage.array, group.options(self.switches, self.flags))
        if not needed:
            return {}
        present = self.state.setdefault(p, {})
        for name, array in needed.items():
            if name not in present:
                present[name] = tensor_on(Storage(array))
        return {name: present[name] for name in needed}

    def updates(self, loss: Any, grads: Any = None) -> dict[Symbol, Symbol]:
        """The new values of parameters and state, for ``sg.function(..., updates=...)``.

        Args:
            loss: a symbol without axes.
            grads: gradients to use instead of those of ``loss``: a mapping from parameters (or
                their variables) to symbols, or one symbol or None per parameter that requires a
                gradient, in the order of the groups. So gradients can be clipped.

        Returns:
            a mapping from variables. Parameters that require no gradient, or that the loss does not
            use, are not in it, and cost nothing. What layers want to have updated is.

        Raises:
            TraceError: the loss is no symbol. GradientError: no parameter is used by it.

        >>> import symgrad as sg
        >>> w = sg.tensor(1.0, requires_grad=True)
        >>> x = sg.placeholder("x")
        >>> loss = (w * x) ** 2
        >>> optimizer = sg.optim.SGD([w], lr=0.1)
        >>> step = sg.function([x], loss, updates=optimizer.updates(loss))
        >>> float(step(1.0)), float(step(1.0)), w.item()
        (1.0, 0.6400000000000001, 0.64)
        """
        self.is_compiled = True
        return static.updates(self, loss, grads)

    # saved and shown ----------------------------------------------------------------------------
    def state_dict(self) -> dict[str, Any]:
        """A copy of all that a run needs to go on: ``{"state": {...}, "param_groups": [...]}``.

        Parameters are numbered through all groups; values of the state are tensors, options are
        Python numbers.
        """
        return saving.state_dict(self)

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over what `state_dict` of an optimiser with as many parameters gave.

        Compiled steps see the new state. Arrays may stand for tensors.

        Raises:
            ArgumentError: the groups do not match. ShapeError: a value of the state has no shape
                that fits. Nothing has changed then.
        """
        saving.load_state_dict(self, state_dict)

    def __repr__(self) -> str:
        lines = [f"{self.where} ("]
        for number, group in enumerate(self.param_groups):
            lines.append(f"group {number}: {len(group['params'])} parameters")
            lines += [f"    {n}: {group[n]}" for n in sorted(group) if not n.startswith("param")]
        return "\n".join([*lines, ")"])
