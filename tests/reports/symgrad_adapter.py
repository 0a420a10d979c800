"""What the reported cases call, in terms of symgrad.

A case hands over a function of arrays. Here it is called with placeholders of the arrays' types,
which gives a graph; the graph is differentiated and run.

Variants:
    "eager": tensors, computed at once, with their backward pass.
    None: a static graph, with all rewrites, compiled by `sg.function`.
    "plain": a static graph without any rewrite, computed op by op by `sg.evaluate`.
"""

from __future__ import annotations

import io
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import symgrad as sg
from symgrad.ops.generator import Generator

FEATURES = frozenset(
    """forward linalg boolmask negstep putmask conv pool complex float16 random threads unknown_dims
    pickle eager""".split()
)

_VARIANTS = (None, "plain", "eager")


def _namespace() -> types.SimpleNamespace:
    """symgrad's own names; what is no array API name differs in nothing but the way to call it."""
    xp = types.SimpleNamespace(**{name: getattr(sg, name) for name in sg.__all__})

    def asarray(value: Any, dtype: Any = None) -> Any:
        # A constant of the graph, so that rewriting sees it.
        if isinstance(value, (sg.Symbol, sg.Tensor)):
            return sg.asarray(value, dtype=dtype)
        return sg.constant(value, dtype)

    def reduction(op: Any) -> Any:
        # The cases give the axis by position, the array API by name.
        def called(x: Any, axis: Any = None, keepdims: bool = False, **options: Any) -> Any:
            return op(x, axis=axis, keepdims=keepdims, **options)

        return called

    for name in "sum prod mean max min argmax argmin std var".split():
        setattr(xp, name, reduction(getattr(sg, name)))
    xp.asarray = asarray
    return xp


def _types(arrays: Sequence[Any]) -> list[Any]:
    return [
        sg.placeholder(f"x{k}", np.shape(array), np.asarray(array).dtype)
        for k, array in enumerate(arrays)
    ]


def _symbols(result: Any) -> Any:
    """A function's result as symbols: it may hold tensors, if it ignores its arguments."""
    if isinstance(result, (tuple, list)):
        return [_symbols(item) for item in result]
    return result if isinstance(result, sg.Symbol) else sg.constant(result)


class _Draws:
    """A generator on a key that is a symbol."""

    def __init__(self, key: Any) -> None:
        self._generator = Generator(key)

    def normal(self, shape: Any) -> Any:
        return self._generator.normal(tuple(shape), dtype=sg.float64)


class _Eager:
    """The eager mode under PyTorch's names, which are symgrad's too."""

    def __getattr__(self, name: str) -> Any:
        return getattr(sg, name)

    @staticmethod
    def numpy(tensor: sg.Tensor) -> np.ndarray:
        return np.array(tensor.numpy())


class SymgradAdapter:
    """The members are described in the README of the cases' adapters."""

    features = FEATURES
    eager = _Eager()

    def __init__(self, variant: str | None) -> None:
        if variant not in _VARIANTS:
            raise ValueError(f"no variant {variant!r}: {_VARIANTS}")
        self.name = "symgrad" if variant is None else f"symgrad:{variant}"
        self.plain = variant == "plain"
        self.xp = _namespace()
        # None lets the differentiator choose, as for a user who says nothing.
        self.level: str | None = "none" if self.plain else None

    # running ---------------------------------------------------------------------------------

    def _run(self, inputs: Sequence[Any], outputs: Any, arrays: Sequence[Any]) -> Any:
        bare = isinstance(outputs, sg.Symbol)
        wanted = [outputs] if bare else list(outputs)
        if self.plain:
            results = sg.evaluate(wanted, dict(zip(inputs, arrays, strict=True)), level="none")
        else:
            results = sg.function(inputs, wanted)(*arrays)
        return results[0] if bare else tuple(results)

    def value(self, f: Callable[..., Any], *arrays: Any) -> Any:
        inputs = _types(arrays)
        return self._run(inputs, _symbols(f(*inputs)), arrays)

    def compiled(self, f: Callable[..., Any], *arrays: Any) -> Any:
        inputs = _types(arrays)
        result = sg.function(inputs, _symbols(f(*inputs)))(*arrays)
        return tuple(result) if isinstance(result, list) else result

    # differentiating -------------------------------------------------------------------------

    def _gradients(self, output: Any, inputs: Sequence[Any]) -> tuple[Any, ...]:
        return sg.grad(output, list(inputs), materialize_grads=True, level=self.level)

    def grad(self, f: Callable[..., Any], *arrays: Any, wrt: Any = 0) -> Any:
        inputs = _types(arrays)
        positions = wrt if isinstance(wrt, tuple) else (wrt,)
        gradients = self._gradients(_symbols(f(*inputs)), [inputs[k] for k in positions])
        results = self._run(inputs, gradients, arrays)
        return results if isinstance(wrt, tuple) else results[0]

    def vjp(self, f: Callable[..., Any], arrays: Sequence[Any], cotangent: Any) -> tuple[Any, ...]:
        inputs = _types(arrays)
        (ct,) = _types([cotangent])
        gradients = sg.vjp(_symbols(f(*inputs)), inputs, ct, level=self.level)
        return self._run([*inputs, ct], gradients, [*arrays, cotangent])

    def jvp(
        self, f: Callable[..., Any], arrays: Sequence[Any], tangents: Sequence[Any]
    ) -> tuple[Any, ...]:
        inputs, directions = _types(arrays), _types(tangents)
        y = _symbols(f(*inputs))
        (dy,) = sg.jvp(y, inputs, directions, level=self.level)
        return self._run([*inputs, *directions], (y, dy), [*arrays, *tangents])

    def hessian(self, f: Callable[..., Any], x: Any) -> Any:
        """One row per element of the gradient: its pullback of a unit vector."""
        inputs = _types([x])
        (gradient,) = self._gradients(_symbols(f(*inputs)), inputs)
        unit = sg.placeholder("unit", np.shape(x), np.asarray(x).dtype)
        rows = sg.vjp(gradient, inputs, unit, level=self.level)
        shape, size = np.shape(x), np.size(x)
        units = np.eye(size, dtype=np.asarray(x).dtype).reshape((size, *shape))
        computed = [self._run([*inputs, unit], rows, [x, one])[0] for one in units]
        return np.reshape(np.array(computed), shape + shape)

    def nth(self, f: Callable[..., Any], x: Any, n: int) -> Any:
        inputs = _types([x])
        y = sg.nth_derivative(_symbols(f(*inputs)), inputs[0], n, level=self.level)
        return self._run(inputs, y, [x])

    def D(self, f: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def derivative(x: Any) -> Any:
            # By a placeholder of its own: x may occur in f for another reason.
            at = sg.placeholder("at", x.shape, x.dtype)
            (gradient,) = self._gradients(_symbols(f(at)), [at])
            return sg.substitute([gradient], {at: _symbols(x)})[0]

        return derivative

    # the rest --------------------------------------------------------------------------------

    def random(self, seed: int, f: Callable[[Any], Any]) -> Any:
        key = sg.placeholder("key", (2,), sg.uint64)
        return self._run([key], _symbols(f(_Draws(key))), [sg.random.key(seed)])

    def poly(self, f: Callable[..., Any], specs: Sequence[Any], calls: Sequence[Any]) -> list[Any]:
        inputs = [sg.placeholder(f"x{k}", shape) for k, shape in enumerate(specs)]
        run = sg.function(inputs, _symbols(f(*inputs)), level="none" if self.plain else "exact")
        return [run(*arrays) for arrays in calls]

    def pickle(self, f: Callable[..., Any], *arrays: Any) -> Any:
        inputs = _types(arrays)
        file = io.BytesIO()
        sg.save(file, sg.function(inputs, _symbols(f(*inputs))).optimized)
        graph = sg.load(io.BytesIO(file.getvalue()))
        return self._run(graph.inputs, graph.outputs[0], arrays)

    def classify(self, error: BaseException) -> set[str]:
        kinds: set[str] = set()
        text = str(error)
        if isinstance(error, sg.DTypeError):
            kinds.add("dtype")
        if isinstance(error, sg.ShapeError):
            kinds.add("empty" if "empty" in text else "shape")
        if isinstance(error, IndexError):
            kinds.add("index")
        if isinstance(error, sg.GradientError):
            kinds.add("nonscalar" if "a scalar" in text else "unused")
        if isinstance(error, sg.RuleMissing):
            kinds.add("notdiff")
        if isinstance(error, sg.InPlaceError):
            kinds.add("inplace")
        if "freed" in text:
            kinds.add("freed")
        return kinds


class EagerAdapter(SymgradAdapter):
    """The same on tensors: a function runs as it is called, derivatives walk over its record."""

    def __init__(self) -> None:
        super().__init__(None)
        self.name = "symgrad:eager"
        self.xp.asarray = sg.asarray

    @staticmethod
    def _plain(result: Any) -> Any:
        if isinstance(result, (tuple, list)):
            return tuple(map(EagerAdapter._plain, result))
        return np.array(result)

    @staticmethod
    def _leaves(arrays: Sequence[Any], wrt: Sequence[int]) -> tuple[list[Any], list[Any]]:
        tensors = [sg.Tensor(array) for array in arrays]
        for k in wrt:
            tensors[k].requires_grad = True
        return tensors, [tensors[k] for k in wrt]

    @staticmethod
    def _pulled(y: Any, leaves: Sequence[Any], *cts: Any, **options: Any) -> tuple[Any, ...]:
        y = y if isinstance(y, sg.Tensor) else sg.asarray(y)
        if not y.requires_grad:
            return tuple(sg.zeros_like(x) for x in leaves)
        return sg.grad(y, leaves, *cts, materialize_grads=True, **options)

    def value(self, f: Callable[..., Any], *arrays: Any) -> Any:
        return self._plain(f(*map(sg.Tensor, arrays)))

    def grad(self, f: Callable[..., Any], *arrays: Any, wrt: Any = 0) -> Any:
        positions = wrt if isinstance(wrt, tuple) else (wrt,)
        tensors, leaves = self._leaves(arrays, positions)
        found = self._plain(self._pulled(f(*tensors), leaves))
        return found if isinstance(wrt, tuple) else found[0]

    def vjp(self, f: Callable[..., Any], arrays: Sequence[Any], cotangent: Any) -> tuple[Any, ...]:
        tensors, leaves = self._leaves(arrays, range(len(arrays)))
        return self._plain(self._pulled(f(*tensors), leaves, np.asarray(cotangent)))

    def jvp(
        self, f: Callable[..., Any], arrays: Sequence[Any], tangents: Sequence[Any]
    ) -> tuple[Any, ...]:
        # Reverse mode twice: the pullback is linear in its cotangent.
        tensors, leaves = self._leaves(arrays, range(len(arrays)))
        y = f(*tensors)
        ct = sg.zeros_like(y.detach()).requires_grad_()
        pulled = self._pulled(y, leaves, ct, create_graph=True)
        total = sum(sg.sum(g * np.asarray(t)) for g, t in zip(pulled, tangents, strict=True))
        return self._plain((y.detach(), self._pulled(total, [ct])[0]))

    def hessian(self, f: Callable[..., Any], x: Any) -> Any:
        _, (leaf,) = tensors = self._leaves([x], [0])
        (gradient,) = self._pulled(f(*tensors[0]), [leaf], create_graph=True)
        size, shape = np.size(x), np.shape(x)
        units = np.eye(size, dtype=np.asarray(x).dtype).reshape((size, *shape))
        rows = [self._pulled(gradient, [leaf], u, retain_graph=True)[0] for u in units]
        return np.reshape(np.array([np.array(row) for row in rows]), shape + shape)

    def nth(self, f: Callable[..., Any], x: Any, n: int) -> Any:
        (leaf,), _ = self._leaves([x], [0])
        y = f(leaf)
        for _ in range(n):
            (y,) = self._pulled(y, [leaf], create_graph=True)
        return np.array(y)

    def D(self, f: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def derivative(x: Any) -> Any:
            if isinstance(x, sg.Symbol):
                return super(EagerAdapter, self).D(f)(x)
            at = sg.clone(x)  # x may occur in f for another reason
            if not at.requires_grad:
                at.requires_grad = True
            return self._pulled(f(at), [at], create_graph=True)[0]

        return derivative

    def random(self, seed: int, f: Callable[[Any], Any]) -> Any:
        return self._plain(f(_Draws(sg.random.key(seed))))

    def poly(self, f: Callable[..., Any], specs: Sequence[Any], calls: Sequence[Any]) -> list[Any]:
        return [self.value(f, *arrays) for arrays in calls]


def make(variant: str | None = None) -> SymgradAdapter:
    """The adapter, for ``run.py --adapter …/symgrad_adapter.py:VARIANT``."""
    return EagerAdapter() if variant == "eager" else SymgradAdapter(variant)
