"""LBFGS: quasi-Newton steps, from the last steps and changes of the gradient."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgrad.eager.tensor import Tensor
from symgrad.errors import ArgumentError, RuleMissing
from symgrad.ir.modes import enable_grad
from symgrad.optim.groups import require
from symgrad.optim.line_search import Point, strong_wolfe
from symgrad.optim.optimizer import Optimizer
from symgrad.optim.saving import arrays_of
from symgrad.types import real_dtype

Vector = NDArray[Any]
Closure = Callable[[], Any]


class LBFGS(Optimizer):
    """Steps along an estimate of Newton's direction (Liu and Nocedal, 1989).

    For smooth functions of which loss and gradient are exact. `step` needs a closure that computes
    both anew, for it asks for them several times. There is no compiled form: how often is decided
    by values.

    Args:
        params: tensors; one group.
        lr: the length of steps, or of the first one that a line search tries.
        max_iter: steps per call of `step`.
        max_eval: calls of the closure per call of `step`; 1.25 times ``max_iter`` if None.
        tolerance_grad: stop when no element of the gradient is larger.
        tolerance_change: stop when loss or parameters change by less.
        history_size: how many steps the estimate is made from.
        line_search_fn: None, or "strong_wolfe".

    Raises:
        ArgumentError: several groups, or an unknown line search.

    >>> import symgrad as sg
    >>> x = sg.tensor([-1.0, 1.0], requires_grad=True)
    >>> optimizer = sg.optim.LBFGS([x], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2
    ...     loss.backward()
    ...     return loss
    >>> for _ in range(5):
    ...     loss = optimizer.step(closure)
    >>> sg.round(x.detach(), decimals=3)
    Tensor([1., 1.])
    """

    numbers = ("lr",)

    def __init__(
        self,
        params: Any,
        lr: Any = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, defaults)

    def add_param_group(self, param_group: Mapping[str, Any]) -> None:
        if self.param_groups:
            raise ArgumentError(self.where, "works on all parameters at once", expected="one group")
        super().add_param_group(param_group)

    def check(self, options: Mapping[str, Any]) -> None:
        super().check(options)
        search = options["line_search_fn"]
        known = "None or 'strong_wolfe'"
        require(self.where, "line_search_fn", search, search in (None, "strong_wolfe"), known)

    def updates(self, loss: Any, grads: Any = None) -> Any:
        """Refused: how often the loss is computed depends on its values.

        Raises:
            RuleMissing: always.
        """
        raise RuleMissing(
            "LBFGS.updates",
            "its steps are decided by values, so there is no compiled form",
            hint="step(closure), where the closure may call a compiled loss and gradient",
        )

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        super().load_state_dict({**state_dict, "state": {}})
        first = self.parameters()[0]
        self.state.clear()
        for memory in state_dict["state"].values():
            self.state[first] = {name: arrays_of(value) for name, value in memory.items()}

    def step(self, closure: Closure | None = None) -> Any:
        """Take up to ``max_iter`` steps.

        Args:
            closure: forgets the gradients, computes the loss, calls `backward`, gives the loss.

        Returns:
            the loss before the first step.

        Raises:
            ArgumentError: there is no closure.
        """
        self._refuse_in_trace()
        if closure is None:
            raise ArgumentError(
                "LBFGS.step", "needs a closure", expected="a function that gives the loss"
            )
        self.steps_taken += 1
        with enable_grad():
            return _Descent(self, closure).run()


class _Descent:
    """One call of `LBFGS.step`."""

    def __init__(self, optimizer: LBFGS, closure: Closure) -> None:
        self._closure = closure
        self._options = optimizer.param_groups[0]
        self._params: list[Tensor] = self._options["params"]
        self._memory = optimizer.state.setdefault(self._params[0], {})
        if not self._memory:
            self._memory.update(func_evals=0, n_iter=0)
        self._calls = 0

    def run(self) -> Any:
        options, memory = self._options, self._memory
        first = self._closure()
        self._calls = 1
        point = Point(0.0, float(first), self._gradient(), 0.0)
        if _largest(point.grad) > options["tolerance_grad"]:
            for count in range(1, options["max_iter"] + 1):
                after = self._advance(point, is_last=count == options["max_iter"])
                if after is None:
                    break
                moved = _largest(memory["d"]) * abs(memory["t"])
                gain = abs(after.loss - point.loss)
                point = after
                if self._is_done(point, moved, gain):
                    break
        memory["func_evals"] += self._calls
        return first

    def _is_done(self, point: Point, moved: float, gain: float) -> bool:
        options = self._options
        return (
            self._calls >= options["max_eval"]
            or _largest(point.grad) <= options["tolerance_grad"]
            or moved <= options["tolerance_change"]
            or gain < options["tolerance_change"]
        )

    def _advance(self, point: Point, *, is_last: bool) -> Point | None:
        """The point after one step, or None where the direction does not lead down."""
        options, memory = self._options, self._memory
        memory["n_iter"] += 1
        direction = memory["d"] = self._direction(point.grad)
        memory["prev_flat_grad"], memory["prev_loss"] = point.grad, point.loss
        length = options["lr"]
        if memory["n_iter"] == 1:
            length *= min(1.0, 1.0 / float(np.abs(point.grad).sum()))
        memory["t"] = length
        slope = float(point.grad @ direction)
        if slope > -options["tolerance_change"]:
            return None
        origin = self._values()
        start = point._replace(length=0.0, slope=slope)

        def visit(length: float) -> Point:
            self._write(origin + length * direction)
            loss = float(self._closure())
            grad = self._gradient()
            return Point(length, loss, grad, float(grad @ direction))

        if options["line_search_fn"] is not None:
            after, seen = strong_wolfe(
                visit,
                start,
                length,
                scale=_largest(direction),
                tolerance=1e-9,
                most=options["max_eval"] - self._calls,
            )
            self._calls += seen
            memory["t"] = after.length
            self._write(origin + after.length * direction)
            return after
        if is_last:  # nobody asks for the loss there
            self._write(origin + length * direction)
            return point
        self._calls += 1
        return visit(length)

    def _direction(self, grad: Vector) -> Vector:
        """Minus the gradient, times an estimate of the inverse Hessian; it learns from the past."""
        memory = self._memory
        if memory["n_iter"] == 1:
            memory.update(old_dirs=[], old_stps=[], ro=[], H_diag=1.0)
            return -grad
        change, step = grad - memory["prev_flat_grad"], memory["d"] * memory["t"]
        product = float(change @ step)
        if product > 1e-10:
            for name, value in (("old_dirs", change), ("old_stps", step), ("ro", 1.0 / product)):
                memory[name] = [*memory[name], value][-self._options["history_size"] :]
            memory["H_diag"] = product / float(change @ change)
        past = list(zip(memory["old_dirs"], memory["old_stps"], memory["ro"], strict=True))
        direction = -grad
        weights: list[float] = []
        for change, step, inverse in reversed(past):
            weights.append(float(step @ direction) * inverse)
            direction = direction - weights[-1] * change
        direction = direction * memory["H_diag"]
        for (change, step, inverse), weight in zip(past, reversed(weights), strict=True):
            direction = direction + step * (weight - float(change @ direction) * inverse)
        return direction

    # all parameters as one vector of real numbers ----------------------------------------------
    def _values(self) -> Vector:
        return np.concatenate([_flat(p.storage.array) for p in self._params])

    def _gradient(self) -> Vector:
        grads = (p.extra.grad for p in self._params)
        return np.concatenate(
            [
                _flat(np.zeros_like(p.storage.array) if grad is None else grad.storage.array)
                for p, grad in zip(self._params, grads, strict=True)
            ]
        )

    def _write(self, values: Vector) -> None:
        begin = 0
        for p in self._params:
            old = p.storage.array
            count = old.size * (2 if old.dtype.kind == "c" else 1)
            part = np.array(values[begin : begin + count], dtype=real_dtype(old.dtype))
            p.storage.assign(part.view(old.dtype).reshape(old.shape))
            begin += count


def _flat(array: NDArray[Any]) -> Vector:
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(real_dtype(flat.dtype))


def _largest(vector: Vector) -> float:
    return float(np.abs(vector).max(initial=0.0))
