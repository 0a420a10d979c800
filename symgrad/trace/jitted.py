"""`jit`: functions that are compiled when they are called, once per types of the arguments."""

from __future__ import annotations

import functools
import threading
import weakref
from collections import deque
from collections.abc import Callable, Collection
from typing import Any, NamedTuple, TypeVar, overload

from symgrad.backends import find_backend
from symgrad.backends.base import Backend
from symgrad.eager.tensor import Tensor, tensor_on
from symgrad.errors import ArgumentError, TraceError
from symgrad.ir.modes import MODE, TRACING
from symgrad.ir.storage import Storage
from symgrad.pipeline import PASSES
from symgrad.trace.arguments import Parameters, SymbolMet, difference
from symgrad.trace.calls import Callee
from symgrad.trace.tracing import TracedGraph, graph_of, name_of, require_function
from symgrad.types import TensorType, code, default_float

LIMIT = 256
"""How many signatures of one function are kept; the one used longest ago goes first."""

_REASONS = 100


class CacheInfo(NamedTuple):
    """What a compiled function has done so far.

    Attributes:
        hits: calls for which a graph was there.
        misses: calls for which one was built.
        size, limit: how many graphs there are, and may be.
        reasons: for each miss, the latest last, what differed from the call that was most like it.
    """

    hits: int
    misses: int
    size: int
    limit: int
    reasons: tuple[str, ...]


class Compiled:
    """A function for arguments of certain types.

    Attributes:
        graph: what was traced.
        words: what the arguments were.
        used: when it was used last.
    """

    __slots__ = ("_callee", "graph", "used", "words")

    def __init__(
        self, graph: TracedGraph, name: str, words: dict[str, str], options: _Options
    ) -> None:
        self.graph, self.words, self.used = graph, words, 0
        inputs = [*graph.inputs, *graph.variables]
        self._callee = Callee(
            name, inputs, graph.outputs, level=options.level, backend=options.backend
        )

    @property
    def source(self) -> str:
        """The code of the function's own results."""
        return self._callee.function.source

    def run(self, leaves: list[Any]) -> Any:
        """The result for arguments of these types."""
        operands = [leaf if isinstance(leaf, Tensor) else _tensor(leaf) for leaf in leaves]
        return self.graph.structured(self._callee.call([*operands, *self.graph.leaves]))


def _tensor(array: Any) -> Tensor:
    if isinstance(array, TensorType):
        hint = "f.graph(...) and f.source(...) take types; or give an array"
        raise TraceError("jit", "a type has no value", got=array, hint=hint)
    return tensor_on(Storage(array))


class _Options(NamedTuple):
    level: str
    backend: str | Backend | None


class Cache:
    """The compiled graphs of one function. Several threads may use it at once."""

    def __init__(self) -> None:
        self._entries: dict[Any, Compiled] = {}
        self._lock = threading.Lock()
        self._tracing = threading.RLock()
        self._reasons: deque[str] = deque(maxlen=_REASONS)
        self._hits = self._misses = self._clock = 0

    def find(self, key: Any) -> Compiled | None:
        """What was compiled under a key."""
        with self._lock:
            found = self._entries.get(key)
            if found is not None:
                self._hits += 1
                self._clock += 1
                found.used = self._clock
            return found

    def fill(self, key: Any, words: dict[str, str], make: Callable[[], Compiled]) -> Compiled:
        """What is compiled under a key, made now if no other thread was first."""
        with self._tracing:
            found = self.find(key)
            if found is not None:
                return found
            made = make()  # if it raises, nothing has happened
            with self._lock:
                self._note_miss(words)
                if len(self._entries) >= LIMIT:
                    del self._entries[min(self._entries, key=lambda k: self._entries[k].used)]
                self._clock += 1
                made.used = self._clock
                self._entries[key] = made
            return made

    def peek(self, key: Any) -> Compiled | None:
        """What was compiled under a key, without counting it as a use."""
        return self._entries.get(key)

    def _note_miss(self, words: dict[str, str]) -> None:
        self._misses += 1
        nearest: list[str] | None = None
        for entry in sorted(self._entries.values(), key=lambda e: -e.used):
            differs = difference(words, entry.words)
            if nearest is None or len(differs) < len(nearest):
                nearest = differs
        if nearest is None:
            self._reasons.append("first call" if self._misses == 1 else "the cache was cleared")
        else:
            self._reasons.append(", ".join(nearest) or "an object of the same text")

    def info(self) -> CacheInfo:
        with self._lock:
            reasons = tuple(self._reasons)
            return CacheInfo(self._hits, self._misses, len(self._entries), LIMIT, reasons)

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()


class Jitted:
    """A function that `jit` compiles; see there."""

    def __init__(
        self,
        function: Callable[..., Any],
        options: _Options,
        static: Collection[str],
        cache: Cache | None = None,
    ) -> None:
        self._function, self._options, self._static = function, options, tuple(static)
        self._parameters = Parameters("jit", function, self._static)
        self._cache = Cache() if cache is None else cache
        self._bound: dict[int, tuple[weakref.ref[Any], Cache]] = {}
        functools.update_wrapper(self, function)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if MODE.get() & TRACING:  # a part of the function around it
            return self._function(*args, **kwargs)
        try:
            args, kwargs = self._parameters.ordered(args, kwargs)
            key, leaves = self._parameters.key(args, kwargs)
        except SymbolMet:  # a part of the graph that is being built
            return self._function(*args, **kwargs)
        key = (default_float(), key)
        found = self._cache.find(key) or self._made(key, args, kwargs)
        return found.run(leaves)

    def _made(self, key: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Compiled:
        words = self._parameters.described(args, kwargs)
        words["default dtype"] = code(default_float())

        def make() -> Compiled:
            graph = graph_of(self._function, self._parameters, args, kwargs)
            return Compiled(graph, name_of(self._function), words, self._options)

        return self._cache.fill(key, words, make)

    def _compiled(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Compiled:
        """What stands behind a call, made if it is not there."""
        args, kwargs = self._parameters.ordered(args, kwargs)
        try:
            key, _ = self._parameters.key(args, kwargs)
        except SymbolMet:
            raise TraceError("jit", "a symbol has no signature", hint="give its type") from None
        key = (default_float(), key)
        return self._cache.peek(key) or self._made(key, args, kwargs)

    def graph(self, /, *args: Any, **kwargs: Any) -> TracedGraph:
        """The graph behind a call with these arguments, or types in their places."""
        return self._compiled(args, kwargs).graph

    def source(self, /, *args: Any, **kwargs: Any) -> str:
        """The code behind a call with these arguments, or types in their places."""
        return self._compiled(args, kwargs).source

    def cache_info(self) -> CacheInfo:
        """How often it was called and compiled, and why.

        >>> import symgrad as sg
        >>> double = sg.jit(lambda x: 2 * x)
        >>> _ = double(sg.ones(3)), double(sg.ones(3)), double(sg.ones(4))
        >>> double.cache_info().reasons
        ('first call', 'x: f64[4] was f64[3]')
        """
        return self._cache.info()

    def clear_cache(self) -> None:
        """Forget all graphs."""
        self._cache.clear()

    def __get__(self, instance: Any, owner: type | None = None) -> Jitted:
        if instance is None or not hasattr(self._function, "__get__"):
            return self
        found = self._bound.get(id(instance))
        if found is None or found[0]() is not instance:
            found = self._bound[id(instance)] = self._watched(instance), Cache()
        return Jitted(
            self._function.__get__(instance, owner), self._options, self._static, found[1]
        )

    def _watched(self, instance: Any) -> weakref.ref[Any]:
        """A reference to an instance, with whose end its graphs go."""
        bound, number = self._bound, id(instance)

        def forget(reference: weakref.ref[Any]) -> None:
            present = bound.get(number)
            if present is not None and present[0] is reference:
                del bound[number]

        try:
            return weakref.ref(instance, forget)
        except TypeError:
            raise TraceError(
                "jit",
                f"an instance of {type(instance).__name__} cannot be referenced weakly, so its "
                "graphs would outlive it",
                hint='add "__weakref__" to its __slots__',
            ) from None

    def __reduce__(self) -> Any:  # graphs are not copied: they are made again
        return Jitted, (self._function, self._options, self._static)

    def __repr__(self) -> str:
        return f"<jit of {name_of(self._function)}>"


Function = TypeVar("Function", bound=Callable[..., Any])


@overload
def jit(
    function: Callable[..., Any],
    *,
    level: str = ...,
    backend: str | Backend | None = ...,
    static_argnames: str | Collection[str] = ...,
) -> Jitted: ...
@overload
def jit(
    function: None = None,
    *,
    level: str = ...,
    backend: str | Backend | None = ...,
    static_argnames: str | Collection[str] = ...,
) -> Callable[[Callable[..., Any]], Jitted]: ...
def jit(
    function: Callable[..., Any] | None = None,
    *,
    level: str = "exact",
    backend: str | Backend | None = None,
    static_argnames: str | Collection[str] = (),
) -> Any:
    """Compile a function of tensors when it is called: once per signature.

    A signature is the element types and shapes of the arrays among the arguments, how lists, tuples
    and dicts nest them, and the values of everything else. The first call of each traces the
    function (see `trace`: what holds there holds here, side effects included), compiles the graph
    and keeps it. Results are tensors in the function's own structure.

    The call is differentiable: it records one application, whose derivative is compiled too, when
    it is first asked for. Leaves that require a gradient and were met while tracing take part.
    A guard (`symgrad.where` around the call) does not reach inside.

    Called while a graph is built, it is a part of that graph.

    Args:
        function: what to compile; without it, the result is a decorator. Methods too: each object
            has graphs of its own, in which its attributes are as they were when it was traced.
        level: which rewrites are allowed: "none", "exact" or "fast".
        backend: what runs it; see `symgrad.function`.
        static_argnames: parameters that are taken as they are, whatever they hold; their values
            must be hashable.

    Returns:
        a function with ``cache_info()``, ``clear_cache()``, ``graph(*args)``, ``source(*args)``.

    Raises (when called):
        TraceError: Python needs a value of what has none while tracing.
        What the function raises; then nothing is kept.

    >>> import symgrad as sg
    >>> @sg.jit
    ... def loss(w, x):
    ...     return sg.sum((w * x) ** 2)
    >>> w = sg.tensor([1.0, 2.0], requires_grad=True)
    >>> loss(w, sg.ones(2)).backward()
    >>> w.grad
    Tensor([2., 4.])
    """
    if level not in PASSES:
        raise ArgumentError("jit", "no such level", expected=", ".join(PASSES), got=repr(level))
    if backend is not None:
        find_backend(backend)
    static = (static_argnames,) if isinstance(static_argnames, str) else tuple(static_argnames)
    options = _Options(level, backend)
    if function is None:

        def decorate(given: Callable[..., Any]) -> Jitted:
            return jit(given, level=level, backend=backend, static_argnames=static)

        return decorate
    require_function("jit", function)
    return Jitted(function, options, static)
