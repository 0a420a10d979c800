"""Identifiers for generated code: readable, valid and unique."""

from __future__ import annotations

import builtins
import keyword
import re

RESERVED = (
    frozenset(dir(builtins)) | frozenset(keyword.kwlist) | {"np", "math", "call", "variables"}
)
"""Names with a meaning in generated code. A placeholder called ``max`` must not hide Python's."""

_NO_IDENTIFIER = re.compile(r"\W", re.ASCII)


def identifier(wish: str) -> str:
    """An identifier that resembles ``wish``.

    >>> identifier("layer 1/weight"), identifier("2x"), identifier("λ")
    ('layer_1_weight', '_2x', '_')
    """
    name = _NO_IDENTIFIER.sub("_", wish) or "_"
    return f"_{name}" if name[0].isdigit() else name


class Names:
    """The names in use in one piece of code."""

    def __init__(self) -> None:
        self._taken = set(RESERVED)

    def unique(self, wish: str) -> str:
        """A name like ``wish`` that nothing else has; it is taken from now on."""
        name = identifier(wish)
        if name in self._taken and f"{name}_" not in self._taken:
            name = f"{name}_"
        number, stem = 2, name
        while name in self._taken:
            name = f"{stem.rstrip('_')}_{number}"
            number += 1
        self._taken.add(name)
        return name


class Series:
    """Names ``t0``, ``t1``, …, without those in use."""

    def __init__(self, names: Names, stem: str) -> None:
        self._names, self._stem, self._next = names, stem, 0

    def fresh(self) -> str:
        """The next one."""
        wish = f"{self._stem}{self._next}"
        self._next += 1
        return self._names.unique(wish)
