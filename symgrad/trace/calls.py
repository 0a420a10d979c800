"""A graph as one application: what a call of a compiled function records, and its derivative.

The record of a call holds the arguments that its derivative reads, and values from inside the graph
(its *residuals*), which the compiled function gives beside its results. The derivative is again the
call of a graph, made by `symgrad.grad` of this one's and cut at the residuals; so it is compiled,
records one application itself, and has derivatives of its own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, TypeAlias, cast

from numpy.typing import NDArray

from symgrad.backends.base import Backend
from symgrad.eager.apply import carry_out
from symgrad.eager.plans import Pack, new_plan
from symgrad.eager.pullbacks import positions
from symgrad.eager.tensor import Tensor, tensor_on
from symgrad.errors import RuleMissing
from symgrad.function import Function, function
from symgrad.ir.modes import MODE, RECORDING
from symgrad.ir.op import ZERO, Attrs, Op, ops
from symgrad.ir.signature import Signature
from symgrad.ir.storage import Storage
from symgrad.ir.symbol import PLACEHOLDER, Symbol, make, new_symbol
from symgrad.ir.walk import reachable, rebuild, remake
from symgrad.rewrite import stabilize
from symgrad.transform import grad
from symgrad.transform.activity import active_symbols
from symgrad.types import Dim, TensorType, TupleType, is_inexact

Array: TypeAlias = NDArray[Any]


class Callee:
    """A graph that can be called on tensors.

    Args:
        name: what its calls are named in records.
        inputs: what is given; variables among them, so that their values are of one moment.
        outputs: what is computed.
        level: which rewrites are allowed.
        backend: what compiles it.
    """

    def __init__(
        self,
        name: str,
        inputs: Sequence[Symbol],
        outputs: Sequence[Symbol],
        *,
        level: str,
        backend: str | Backend | None,
    ) -> None:
        self.name, self.inputs, self.outputs = name, tuple(inputs), tuple(outputs)
        self.level, self.backend = level, backend
        self._applications: dict[int, Application] = {}
        self._function: Function | None = None
        self._making = threading.RLock()
        self._differentiable = any(is_inexact(y.dtype) for y in self.outputs)

    @property
    def function(self) -> Function:
        """The compiled graph."""
        if self._function is None:
            with self._making:
                if self._function is None:
                    self._function = self.compiled(self.outputs)
        return self._function

    def compiled(self, outputs: Sequence[Symbol]) -> Function:
        """A function of the inputs, compiled as all others of this graph."""
        return function(self.inputs, list(outputs), level=self.level, backend=self.backend)

    def application(self, mask: int) -> Application:
        """How calls are recorded when a gradient is wanted by the inputs of ``mask``."""
        found = self._applications.get(mask)
        if found is None:
            with self._making:
                found = self._applications.get(mask)
                if found is None:
                    found = self._applications[mask] = Application(self, mask)
        return found

    def call(self, operands: Sequence[Tensor]) -> list[Tensor]:
        """Run it on tensors, and record the call if a gradient is wanted."""
        mask = 0
        if MODE.get() & RECORDING:
            for i, operand in enumerate(operands):
                if operand.edge is not None:
                    mask |= 1 << i
        if not mask or not self._differentiable:
            results = self.function(*[operand.storage.array for operand in operands])
            return [tensor_on(Storage(array)) for array in results]
        application = self.application(mask)
        pack = carry_out(application.plan, operands)
        # The record reads no output, so they may be changed: their changes are counted elsewhere.
        pack = Pack([Storage(s.array) for s in pack.storages], pack.edge)
        return [
            tensor_on(pack.storages[k]) if plan is None else carry_out(plan, (pack,))
            for k, plan in enumerate(application.items)
        ]


class Application:
    """A graph as an op, for calls in which a gradient is wanted by some of the inputs.

    Attributes:
        op, plan: as which calls are recorded. The outputs of the op are those of the graph, then
            the residuals.
        items: the plans that take the graph's outputs out of the op's; None for those that depend
            on no input by which a gradient is wanted.
        residuals: symbols inside the graph whose values the derivative needs.
    """

    def __init__(self, callee: Callee, mask: int) -> None:
        self._callee = callee
        self._wanted = tuple(positions(mask))
        self._derivatives: dict[Any, Derivative] = {}
        self._making = threading.RLock()
        stable = callee.level != "none"
        outputs = list(callee.outputs)
        self._outputs = stabilize(outputs, callee.inputs) if stable else outputs
        self.residuals, self._guarded = self._cut()
        self._results = [*self._outputs, *self.residuals]
        self._function: Function | None = None
        kind = TupleType(_known(s.type) for s in self._results)
        self.op = Op(
            name=callee.name,
            family="multi",
            kernel=self._run,
            signature=_SIGNATURE,
            type=_always(kind),
            vjp=self._one,
            joint=self._pull,
            holomorphic=False,
            warns=False,
            namespace=None,
        )
        self.plan = new_plan(self.op, [_known(s.type) for s in callee.inputs], {})
        active = set(active_symbols(self._outputs, [callee.inputs[i] for i in self._wanted]))
        self.items = [
            new_plan(_ITEM, [self.plan.type], {"index": k}) if y in active else None
            for k, y in enumerate(self._outputs)
        ]

    def _run(self, arrays: Sequence[Array]) -> tuple[Array, ...]:
        if self._function is None:
            with self._making:
                if self._function is None:
                    self._function = self._callee.compiled(self._results)
        return tuple(self._function(*arrays))

    # --- the derivative -----------------------------------------------------------------------

    def _gradients(
        self, results: Sequence[Symbol], wanted: Iterable[int]
    ) -> tuple[Any, list[Symbol]]:
        """Gradients of some results by inputs, or None; and the results' cotangents."""
        cts = [_placeholder(f"ct_{k}", y.type) for k, y in enumerate(results)]
        found = grad(
            results,
            [self._callee.inputs[i] for i in wanted],
            cts,
            allow_unused=True,
            mode="reverse",
            level="none" if self._callee.level == "none" else None,
        )
        return found, cts

    def _cut(self) -> tuple[list[Symbol], bool]:
        """The residuals, and whether cotangents inside carry guards."""
        ys = [self._outputs[k] for k in _inexact(self._outputs)]
        found = [g for g in self._gradients(ys, self._wanted)[0] if g is not None]
        guarded = any(s.op.live is not None for s in reachable([*self._outputs, *found]))
        return _border(self._outputs, found, self._callee.inputs), guarded

    def derivative(
        self, given: tuple[int, ...], wanted: tuple[int, ...], *, whole: bool = False
    ) -> Derivative:
        """The graph of the gradients by ``wanted``, given cotangents of the results ``given``.

        Args:
            whole: not cut at the residuals, but computed from the arguments.
        """
        key = given, wanted, whole
        found = self._derivatives.get(key)
        if found is None:
            with self._making:
                found = self._derivatives.get(key)
                if found is None:
                    gradients, cts = self._gradients([self._results[k] for k in given], wanted)
                    found = self._derivatives[key] = Derivative(
                        self._callee,
                        [] if whole else self.residuals,
                        dict(zip(wanted, gradients, strict=True)),
                        dict(zip(given, cts, strict=True)),
                    )
        return found

    def _pull(
        self, wanted: Sequence[int], cts: Any, ys: Any, args: Sequence[Any], attrs: Attrs
    ) -> list[Any]:
        """The rule of the op: contributions to all operands in ``wanted``."""
        given = tuple(k for k, ct in enumerate(cts) if ct is not ZERO)
        saved = ys[len(self._outputs) :]
        if isinstance(cts[given[0]], Symbol):  # the rule is asked what it reads
            read = [args[i] for i in sorted(self._reads) if i >= 0]
            read += [saved[-1 - i] for i in self._reads if i < 0]
            kinds = [args[i].type for i in wanted]
            return _opaque(self._callee.name, kinds, [cts[given[0]], *read])
        # A guard cannot follow the cotangent of a residual. So where there are guards, and this
        # pass is to be differentiated, the derivative takes nothing but arguments.
        whole = self._guarded and bool(MODE.get() & RECORDING)
        found = self.derivative(given, tuple(wanted), whole=whole)
        if not found.reads <= self._reads:  # rewritten otherwise, it reads what was not saved
            found = self.derivative(self._sources, self._wanted, whole=whole)
        operands = [
            *(ops.zeros_like(ys[k]) if cts[k] is ZERO else cts[k] for k in found.given),
            *(saved[k] for k in found.residuals),
            *(args[i] for i in found.args),
        ]
        parts = dict(zip(found.there, found.callee.call(operands), strict=True))
        return [parts.get(i, ZERO) for i in wanted]

    @cached_property
    def _reads(self) -> set[int]:
        """What is to be saved: positions of arguments; residuals count down from -1."""
        found = self.derivative(self._sources, self._wanted).reads
        if self._guarded:
            found = found | self.derivative(self._sources, self._wanted, whole=True).reads
        return found

    @cached_property
    def _sources(self) -> tuple[int, ...]:
        """The results that cotangents may come from: residuals, if a pass is differentiated."""
        every = _inexact(self._results)
        if not self._guarded:
            try:
                self.derivative(every, self._wanted)
            except RuleMissing:  # there is no second derivative
                return _inexact(self._outputs)
            return every
        return _inexact(self._outputs)

    def _one(self, i: int, ct: Any, y: Any, args: Sequence[Any], attrs: Attrs) -> Any:
        return self._pull([i], ct, y, args, attrs)[0]


class Derivative:
    """The gradients of a graph as another one, which begins at cotangents and residuals.

    Args:
        primal: the graph.
        residuals: where it may be cut.
        gradients: by the position of the input; None where the results do not depend on it.
        cts: placeholders by the position of the result.

    Attributes:
        callee: the graph of the gradients; it takes cotangents, residuals, arguments.
        given, residuals, args: which of them it takes.
        there: the positions of the inputs whose gradients it gives.
        reads: what it takes of what was saved.
    """

    def __init__(
        self,
        primal: Callee,
        residuals: Sequence[Symbol],
        gradients: dict[int, Symbol | None],
        cts: dict[int, Symbol],
    ) -> None:
        found = {i: g for i, g in gradients.items() if g is not None}
        self.there, self.given = list(found), list(cts)
        saved = {r: _placeholder(f"saved_{k}", r.type) for k, r in enumerate(residuals)}
        outputs = rebuild(list(found.values()), remake, saved)
        used = set(reachable(outputs))
        self.residuals = [k for k, r in enumerate(residuals) if saved[r] in used]
        self.args = [i for i, x in enumerate(primal.inputs) if x in used]
        self.reads = {*self.args, *(-1 - k for k in self.residuals)}
        taken = [saved[residuals[k]] for k in self.residuals]
        inputs = [*cts.values(), *taken, *(primal.inputs[i] for i in self.args)]
        name = f"gradient of {primal.name}"
        self.callee = Callee(name, inputs, outputs, level=primal.level, backend=primal.backend)


def _kernel(arrays: Sequence[Array], /) -> Any:
    raise NotImplementedError  # it only shows what operands such an op has


_SIGNATURE = Signature(_kernel)


def _always(kind: TupleType) -> Callable[..., Any]:
    """The type rule of an op that is made for operands of one type each."""

    def rule(kinds: Any) -> TupleType:
        return kind

    return rule


def _placeholder(name: str, kind: TensorType) -> Symbol:
    return new_symbol(PLACEHOLDER, (), {}, kind, name=name)


def _known(kind: TensorType) -> TensorType:
    """A type without sizes that only running tells; nobody reads those of a record."""
    return TensorType([0 if isinstance(size, Dim) else size for size in kind.shape], kind.dtype)


def _inexact(symbols: Sequence[Symbol]) -> tuple[int, ...]:
    return tuple(k for k, s in enumerate(symbols) if is_inexact(s.dtype))


def _opaque(name: str, kinds: Sequence[TensorType], operands: Sequence[Symbol]) -> list[Symbol]:
    """Symbols of some types of which nothing is known but that they depend on all operands."""
    op = Op(
        name=name,
        family="multi",
        kernel=_kernel,
        signature=_SIGNATURE,
        type=_always(TupleType(kinds)),
        vjp=_kernel,
        namespace=None,
    )
    pack = make(op, tuple(operands), {})
    return [ops.item(pack, index=k) for k in range(len(kinds))]


# --- where a graph is cut -------------------------------------------------------------------------


def _border(
    outputs: Sequence[Symbol], gradients: Sequence[Symbol], inputs: Sequence[Symbol]
) -> list[Symbol]:
    """The symbols of the graph's own half whose values the derivative half takes.

    What can be had for nothing from another one (a view) is not among them, nor what depends on no
    input.
    """
    symbols = reachable([*outputs, *gradients])
    border = set(inputs)
    varying = _users_of(border, symbols)
    primal = border | set(reachable(outputs))
    taken: list[Symbol] = []
    for symbol in symbols:
        if symbol.op is _ITEM and symbol.args[0] in primal:
            primal.add(symbol)
        elif symbol not in primal:
            taken.extend(arg for arg in symbol.args if arg in primal)
    taken.extend(gradient for gradient in gradients if gradient in primal)
    seen = dict.fromkeys(map(_seen, taken))
    return [s for s in seen if s in varying and s not in border and _is_array(s)]


def _users_of(inputs: set[Symbol], symbols: Iterable[Symbol]) -> set[Symbol]:
    """The symbols that depend on an input."""
    found = set(inputs)
    for symbol in symbols:
        if any(arg in found for arg in symbol.args):
            found.add(symbol)
    return found


def _is_array(symbol: Symbol) -> bool:
    return not isinstance(cast("Any", symbol.type), TupleType)


def _seen(symbol: Symbol) -> Symbol:
    """What a view shows."""
    while symbol.op.view and symbol.op is not _ITEM and symbol.args:
        symbol = symbol.args[0]
    return symbol


_ITEM: Op = ops.item
