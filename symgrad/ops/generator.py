"""A sequence of keys: draws one after the other."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from symgrad.ir.op import COMPOSITES
from symgrad.ops.draws import fold_in, key

_NOT_DRAWS = ("split",)


def _draw_named(name: str) -> Callable[..., Any] | None:
    """The public function of this name that draws."""
    # A name that another namespace has as well is registered with its own's.
    for known in (f"random.{name}", name):
        found = COMPOSITES.get(known)
        if found is not None and found.namespace == "random" and name not in _NOT_DRAWS:
            return found
    return None


class Generator:
    """Draws one after the other, each with its own key: the generator's, with a count folded in.

    Every function of ``sg.random`` that takes a key is a method, which needs none.

    A seed gives tensors. A key that is a symbol gives symbols; if it is a variable, an update can
    advance it, so that every call of a compiled function draws anew.

    Args:
        seed: an integer, or a key.

    >>> import symgrad as sg
    >>> rng = sg.random.Generator(0)
    >>> rng.normal((2, 3)).shape
    (2, 3)
    >>> rng = sg.random.Generator(sg.variable(sg.random.key(0), name="key"))
    >>> roll = sg.function([], rng.randint((), 0, 1000), updates={rng.key: rng.next_key()})
    >>> int(roll()) == int(roll())
    False
    """

    __slots__ = ("_count", "key")

    def __init__(self, seed: Any) -> None:
        is_key = getattr(seed, "shape", ()) != ()
        self.key: Any = seed if is_key else key(seed)
        self._count = itertools.count()

    def next_key(self) -> Any:
        """A key that nothing else has."""
        return fold_in(self.key, next(self._count))

    def __getattr__(self, name: str) -> Callable[..., Any]:
        draw = _draw_named(name)
        if draw is None:
            raise AttributeError(f"no draw {name!r} in sg.random", name=name, obj=self)

        def draw_next(*args: Any, **options: Any) -> Any:
            return draw(self.next_key(), *args, **options)

        draw_next.__name__, draw_next.__doc__ = name, f"As `{name}`, with the next key."
        return draw_next

    def __dir__(self) -> list[str]:
        names = [one.rpartition(".")[2] for one in COMPOSITES]
        return [*super().__dir__(), *(name for name in names if _draw_named(name))]
