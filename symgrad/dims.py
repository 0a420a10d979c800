"""Symbolic sizes: ``Dim``, its text form, and the maximum and minimum of sizes.

A ``Size`` is an ``int`` or a ``Dim``; a result that is constant is always a plain ``int``.

    >>> n, m = Dim.named("n"), Dim.named("m")
    >>> (n + 1) * 2, (6 * n) // 3, (n * m) // n, (n + 1) // 2
    (2*n + 2, 2*n, m, (n + 1)//2)
    >>> n - n, max_size(n, n + 1)
    (0, n + 1)
"""

from __future__ import annotations

import keyword
import re
import threading
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NoReturn, cast

import numpy as np

from symgrad import polynomials
from symgrad.errors import ShapeError, TraceError
from symgrad.polynomials import Poly


class Dim:
    """A size that is not known yet: an immutable polynomial over named sizes.

    Its atoms are names, floor divisions and maxima. ``==`` is structural; asking for a value, a
    truth or an order raises ``TraceError``.

        >>> n = Dim.named("n")
        >>> (n + 1) * (n - 1) == n * n - 1
        True
        >>> (2 * n + 1).evaluate({"n": 3})
        7
    """

    __slots__ = ("_hash", "_name", "_names", "_terms", "_text")

    # numpy's scalars then leave arithmetic to the reflected operators below.
    __array_ufunc__ = None

    _terms: Poly
    _hash: int
    _name: str | None
    _names: frozenset[str] | None
    _text: str | None

    def __init__(self, terms: Poly) -> None:
        # For this module only: the terms must be canonical and not constant.
        self._terms = terms
        self._hash = hash(terms)
        self._name = _sole_name(terms)
        self._names = None
        self._text = None

    @staticmethod
    def named(name: str) -> Dim:
        """The dimension called ``name``.

        >>> Dim.named("batch")
        batch
        """
        if not name.isidentifier() or keyword.iskeyword(name) or name == "max":
            raise ShapeError(
                "dimension", "not a usable name", expected="an identifier", got=repr(name)
            )
        _reserve(name)
        return Dim(polynomials.of_atom(name))

    @property
    def terms(self) -> Poly:
        """``((monomial, coefficient), …)``, where a monomial is ``((atom, power), …)``."""
        return self._terms

    @property
    def name(self) -> str | None:
        """The name, if this is one named dimension and nothing else."""
        return self._name

    @property
    def names(self) -> frozenset[str]:
        """All names in it. Sort them where their order shows."""
        if self._names is None:
            self._names = polynomials.names(self._terms)
        return self._names

    def evaluate(self, bindings: Mapping[str, int]) -> int:
        """The value, with every name bound to an int."""
        try:
            return polynomials.evaluate(self._terms, bindings)
        except KeyError:
            missing = ", ".join(sorted(self.names - bindings.keys()))
            raise ShapeError(
                "size", f"{self} has no value", expected=f"a binding of {missing}"
            ) from None

    def substitute(self, bindings: Mapping[str, Size]) -> Size:
        """The size with some names replaced.

        >>> (Dim.named("n") * Dim.named("m") + 1).substitute({"n": 2})
        2*m + 1
        """
        relevant = {name: _poly(bindings[name]) for name in self.names if name in bindings}
        return _size(polynomials.substitute(self._terms, relevant)) if relevant else self

    def __add__(self, other: int | Dim) -> int | Dim:
        size = _operand(other)
        return NotImplemented if size is None else _sum(self, size)

    __radd__ = __add__

    def __sub__(self, other: int | Dim) -> int | Dim:
        size = _operand(other)
        return NotImplemented if size is None else _sum(self, -size)

    def __rsub__(self, other: int | Dim) -> int | Dim:
        size = _operand(other)
        return NotImplemented if size is None else _sum(-self, size)

    def __mul__(self, other: int | Dim) -> int | Dim:
        size = _operand(other)
        return NotImplemented if size is None else _product(self, size)

    __rmul__ = __mul__

    def __floordiv__(self, other: int | Dim) -> int | Dim:
        size = _operand(other)
        return NotImplemented if size is None else _quotient(self, size)

    def __rfloordiv__(self, other: int | Dim) -> int | Dim:
        size = _operand(other)
        return NotImplemented if size is None else _quotient(size, self)

    def __mod__(self, other: int | Dim) -> int | Dim:
        size = _operand(other)
        return NotImplemented if size is None else self - _quotient(self, size) * size

    def __rmod__(self, other: int | Dim) -> int | Dim:
        size = _operand(other)
        return NotImplemented if size is None else size - _quotient(size, self) * self

    def __pow__(self, power: int) -> int | Dim:
        if type(power) is not int or power < 0:
            return NotImplemented
        result: Size = 1
        for _ in range(power):
            result = _product(self, result)
        return result

    def __truediv__(self, other: int | Dim) -> int | Dim:
        if _operand(other) is None:
            return NotImplemented
        return self._refuse("true division", "use // for a size, or sg.size(dim) / … for a value")

    def __rtruediv__(self, other: int | Dim) -> int | Dim:
        if _operand(other) is None:
            return NotImplemented
        return self._refuse("true division", "use // for a size, or … / sg.size(dim) for a value")

    def __neg__(self) -> Dim:
        return Dim(polynomials.scale(self._terms, -1))

    def __pos__(self) -> Dim:
        return self

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Dim):
            return NotImplemented
        return self._hash == other._hash and self._terms == other._terms

    def __hash__(self) -> int:
        return self._hash

    def _refuse(self, what: str, hint: str) -> NoReturn:
        raise TraceError(f"dimension {self}", f"{what} needs a size that is known", hint=hint)

    def __bool__(self) -> bool:
        self._refuse("bool()", "compare sizes with ==, or declare the dimension as an int")

    def __int__(self) -> int:
        self._refuse("int()", "use sg.size(dim) for its value, or declare the dimension as an int")

    def __index__(self) -> int:
        self._refuse("an index or range", "declare the dimension as an int")

    def __float__(self) -> float:
        self._refuse(
            "float()", "use sg.size(dim) for its value, or declare the dimension as an int"
        )

    def __lt__(self, other: int | Dim) -> bool:
        if _operand(other) is None:
            return NotImplemented
        hint = "use max_size or min_size, or declare the dimension as an int"
        return self._refuse("an order comparison", hint)

    __le__ = __gt__ = __ge__ = __lt__

    def __str__(self) -> str:
        if self._text is None:
            self._text = polynomials.text(self._terms)
        return self._text

    __repr__ = __str__

    def __copy__(self) -> Dim:
        return self

    def __deepcopy__(self, memo: object) -> Dim:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # Hashes of strings differ between processes, so the cached one must not travel.
        return Dim, (self._terms,)


Size = int | Dim


# --------------------------------------------------------------------------- names

_FRESH = re.compile(r"_(\d+)")
_fresh_lock = threading.Lock()
_next_fresh = 0


def fresh_dim() -> Dim:
    """A dimension with a name that no other one has, like ``_3``."""
    global _next_fresh
    with _fresh_lock:
        number = _next_fresh
        _next_fresh += 1
    return Dim(polynomials.of_atom(f"_{number}"))


def is_made_up(name: str) -> bool:
    """Whether a name is of the form that `fresh_dim` gives."""
    return _FRESH.fullmatch(name) is not None


def _reserve(name: str) -> None:
    """Keep ``fresh_dim`` away from a name that was given (read from a text, say)."""
    global _next_fresh
    match = _FRESH.fullmatch(name)
    if match:
        with _fresh_lock:
            _next_fresh = max(_next_fresh, int(match[1]) + 1)


# --------------------------------------------------------------------------- sizes


def _operand(value: object) -> Size | None:
    """``value`` as a size, or None: whoever it is then takes over with its reflected operator."""
    if isinstance(value, (int, Dim)):
        return value
    if isinstance(value, np.integer):
        return int(cast("np.integer[Any]", value))
    if isinstance(value, (float, complex)):
        raise TraceError(
            "dimension", "a size in float arithmetic", got=value, hint="sg.size(dim) is its value"
        )
    return None


def _sole_name(terms: Poly) -> str | None:
    monomial, coefficient = terms[0]
    if len(terms) == 1 and coefficient == 1 and len(monomial) == 1 and monomial[0][1] == 1:
        atom = monomial[0][0]
        return atom if isinstance(atom, str) else None
    return None


def _poly(size: Size) -> Poly:
    return size.terms if isinstance(size, Dim) else polynomials.constant(int(size))


def _size(poly: Poly) -> Size:
    return polynomials.constant_value(poly) if polynomials.is_constant(poly) else Dim(poly)


@lru_cache(polynomials.CACHED)
def _sum(a: Size, b: Size) -> Size:
    return _size(polynomials.add(_poly(a), _poly(b)))


@lru_cache(polynomials.CACHED)
def _product(a: Size, b: Size) -> Size:
    return _size(polynomials.multiply(_poly(a), _poly(b)))


@lru_cache(polynomials.CACHED)
def _quotient(a: Size, b: Size) -> Size:
    return _size(polynomials.floor_divide(_poly(a), _poly(b)))


@lru_cache(polynomials.CACHED)
def _maximum(a: Size, b: Size) -> Size:
    return _size(polynomials.largest((_poly(a), _poly(b))))


def max_size(a: Size, b: Size) -> Size:
    """The larger of two sizes.

    >>> n = Dim.named("n")
    >>> max_size(n, 3), max_size(3, n), max_size(n, 2 * n), max_size(n - 3, 0)
    (max(n, 3), max(n, 3), 2*n, max(n, 3) - 3)
    """
    if isinstance(a, int) and isinstance(b, int):
        return max(a, b)
    return _maximum(a, b)


def min_size(a: Size, b: Size) -> Size:
    """The smaller of two sizes, ``a + b - max(a, b)``.

    >>> n = Dim.named("n")
    >>> min_size(n, n + 2), min_size(n, 4)
    (n, -max(n, 4) + n + 4)
    """
    return a + b - max_size(a, b)


def ceil_div(a: Size, b: Size) -> Size:
    """``a / b`` rounded up, for a positive ``b``.

    >>> ceil_div(7, 2), ceil_div(Dim.named("n"), 2)
    (4, (n + 1)//2)
    """
    return (a + b - 1) // b


def is_nonnegative(size: Size) -> bool:
    """Whether ``size`` is certainly >= 0. False says nothing.

    >>> is_nonnegative(Dim.named("n") + 1), is_nonnegative(Dim.named("n") - 1)
    (True, False)
    """
    return polynomials.is_nonnegative(size.terms) if isinstance(size, Dim) else size >= 0
