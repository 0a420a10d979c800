"""The algebra behind ``Dim``: integer polynomials over names, floor divisions and maxima.

A polynomial is a canonical tuple ``((monomial, coefficient), …)``, highest degree first; a monomial
is ``((atom, power), …)``; an atom is a name, ``("//", a, b)`` or ``("max", a, b)`` with polynomials
a and b. Equal values are equal tuples wherever the rules of this module can show it. Names stand
for sizes, so they are never negative, and what divides is not zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TypeAlias

from symgrad.errors import ShapeError

Atom: TypeAlias = "str | tuple[str, Poly, Poly]"
Monomial: TypeAlias = "tuple[tuple[Atom, int], ...]"
Poly: TypeAlias = "tuple[tuple[Monomial, int], ...]"

NOTHING: Poly = ()
CACHED = 4096


# --------------------------------------------------------------------------- sums and products


def constant(value: int) -> Poly:
    """The polynomial that is ``value`` everywhere."""
    return (((), value),) if value else NOTHING


def of_atom(atom: Atom) -> Poly:
    """The polynomial that is one atom."""
    return ((((atom, 1),), 1),)


def is_constant(a: Poly) -> bool:
    """Whether no atom is in it."""
    return not a or not a[0][0]


def constant_value(a: Poly) -> int:
    """The value of a constant polynomial."""
    return a[0][1] if a else 0


def collect(coefficients: Mapping[Monomial, int]) -> Poly:
    """The canonical polynomial with these terms."""
    terms = [(monomial, c) for monomial, c in coefficients.items() if c]
    if len(terms) > 1:
        terms.sort(key=lambda term: _order(term[0]))
    return tuple(terms)


@lru_cache(CACHED)
def _order(monomial: Monomial) -> tuple[int, tuple[str, ...]]:
    """Graded lexicographic order, largest first: products keep it, so long division ends."""
    word = [atom_text(atom) for atom, power in monomial for _ in range(power)]
    return -len(word), tuple(word)


def add(a: Poly, b: Poly, factor: int = 1) -> Poly:
    """``a + factor * b``."""
    total = dict(a)
    for monomial, coefficient in b:
        total[monomial] = total.get(monomial, 0) + factor * coefficient
    return collect(total)


def scale(a: Poly, factor: int) -> Poly:
    """``factor * a``."""
    return tuple([(monomial, c * factor) for monomial, c in a]) if factor else NOTHING


def multiply(a: Poly, b: Poly) -> Poly:
    """``a * b``."""
    total: dict[Monomial, int] = {}
    for left, c in a:
        for right, d in b:
            monomial = _product(left, right)
            total[monomial] = total.get(monomial, 0) + c * d
    return collect(total)


def _product(left: Monomial, right: Monomial) -> Monomial:
    if not left or not right:
        return left or right
    powers = dict(left)
    for atom, power in right:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted(powers.items(), key=lambda item: atom_text(item[0])))


def _quotient(monomial: Monomial, divisor: Monomial) -> Monomial | None:
    """``monomial / divisor``, or None if it does not divide."""
    powers = dict(monomial)
    for atom, power in divisor:
        left = powers.get(atom, 0) - power
        if left < 0:
            return None
        powers[atom] = left
    return tuple([(atom, power) for atom, power in powers.items() if power])


# --------------------------------------------------------------------------- division


def floor_divide(a: Poly, b: Poly) -> Poly:
    """``a // b``: what divides is taken out, the rest is kept as an atom in lowest terms."""
    if not b:
        raise ShapeError("size", "division by zero", got=f"{_wrapped(a)}//0")
    if not a:
        return NOTHING
    if b[0][1] < 0:
        return floor_divide(scale(a, -1), scale(b, -1))
    if is_constant(a) and is_constant(b):
        return constant(constant_value(a) // constant_value(b))
    whole, rest = _long_division(a, b)
    if whole and (not rest or len(b) == 1):
        return add(whole, floor_divide(rest, b))
    small = _small_quotient(a, b)
    return _lowest_terms(a, b) if small is None else constant(small)


def _small_quotient(a: Poly, b: Poly) -> int | None:
    """``a // b`` if ``a`` is certainly from 0 to b - 1 (0), or from -b to -1 (-1)."""
    if is_nonnegative(a) and is_nonnegative(add(add(b, a, -1), constant(-1))):
        return 0
    minus_one = constant(-1)
    if is_nonnegative(add(minus_one, a, -1)) and is_nonnegative(b if a == minus_one else add(a, b)):
        return -1
    return None


def _long_division(a: Poly, b: Poly) -> tuple[Poly, Poly]:
    """``(q, r)`` with ``a == q * b + r``."""
    lead, lead_coefficient = b[0]
    whole = rest = NOTHING
    while a:
        monomial, coefficient = a[0]
        ratio = _quotient(monomial, lead)
        count = 0 if ratio is None else coefficient // lead_coefficient
        if ratio is None or count == 0:
            rest, a = add(rest, a[:1]), a[1:]
        else:
            step: Poly = ((ratio, count),)
            whole, a = add(whole, step), add(a, multiply(step, b), -1)
    return whole, rest


def _lowest_terms(a: Poly, b: Poly) -> Poly:
    factor = _content((*a, *b))
    if factor != ((), 1):
        return floor_divide(_exact(a, factor), _exact(b, factor))
    if is_constant(b):
        # floor((g*p + r) / (g*d)) = floor((p + floor(r / g)) / d)
        divisor = constant_value(b)
        common = math.gcd(divisor, *[c for monomial, c in a if monomial])
        if common > 1:
            return floor_divide(floor_divide(a, constant(common)), constant(divisor // common))
        inner = _sole_division(a)
        if inner is not None:
            # floor((floor(p / q) + r) / d) = floor((p + q*r) / (q*d))
            p, q = inner
            rest = add(a, of_atom(("//", p, constant(q))), -1)
            return floor_divide(add(p, rest, q), constant(divisor * q))
    return of_atom(("//", a, b))


def _content(terms: Iterable[tuple[Monomial, int]]) -> tuple[Monomial, int]:
    """The largest term that divides every one of these."""
    terms = list(terms)
    powers = dict(terms[0][0])
    for monomial, _ in terms[1:]:
        other = dict(monomial)
        powers = {atom: min(p, other[atom]) for atom, p in powers.items() if atom in other}
    return tuple(powers.items()), math.gcd(*[c for _, c in terms])


def _exact(a: Poly, factor: tuple[Monomial, int]) -> Poly:
    """``a / factor`` for a term that divides every term of ``a``."""
    divisor, count = factor
    return collect({_quotient(monomial, divisor) or (): c // count for monomial, c in a})


def _sole_division(a: Poly) -> tuple[Poly, int] | None:
    """``(p, q)`` if the only division in ``a`` is a summand ``p//q`` with a constant q."""
    found: list[tuple[Poly, int]] = []
    for monomial, coefficient in a:
        for atom, power in monomial:
            if isinstance(atom, str) or atom[0] != "//":
                continue
            if coefficient != 1 or power != 1 or len(monomial) != 1 or not is_constant(atom[2]):
                return None
            found.append((atom[1], constant_value(atom[2])))
    return found[0] if len(found) == 1 else None


# --------------------------------------------------------------------------- order


def is_nonnegative(a: Poly) -> bool:
    """Whether ``a`` is certainly >= 0. False says nothing."""
    for monomial, coefficient in a:
        if coefficient < 0:
            return False
        for atom, _ in monomial:
            if not isinstance(atom, str) and not _atom_is_nonnegative(atom):
                return False
    return True


def _atom_is_nonnegative(atom: tuple[str, Poly, Poly]) -> bool:
    kind, a, b = atom
    if kind == "max":
        return is_nonnegative(a) or is_nonnegative(b)
    return is_nonnegative(a) and is_nonnegative(b)


def largest(polys: Iterable[Poly]) -> Poly:
    """The maximum: nested ones are flattened, and what all have in common is taken out."""
    parts = _undominated([part for poly in polys for part in _alternatives(poly)])
    if len(parts) == 1:
        return parts[0]
    shared = _shared_part(parts)
    if shared:
        return add(shared, largest([add(part, shared, -1) for part in parts]))
    factor = math.gcd(*[c for part in parts for _, c in part])
    if factor > 1:
        return scale(largest([_exact(part, ((), factor)) for part in parts]), factor)
    parts.sort(key=lambda part: (is_constant(part), text(part)))
    result = parts[0]
    for part in parts[1:]:
        result = of_atom(("max", result, part))
    return result


def _alternatives(a: Poly) -> list[Poly]:
    """The sums that ``a`` is the maximum of: rest + c*max(p, q) is max(rest + c*p, rest + c*q)."""
    found: list[Poly] = []
    unseen = [a]
    while unseen:
        current = unseen.pop()
        maxima = [
            term
            for term in current
            if any(not isinstance(t, str) and t[0] == "max" for t, _ in term[0])
        ]
        if len(maxima) == 1:
            monomial, c = maxima[0]
            atom, power = monomial[0]
            if len(monomial) == 1 and power == 1 and c > 0 and not isinstance(atom, str):
                rest = add(current, ((monomial, c),), -1)
                unseen += [add(rest, atom[1], c), add(rest, atom[2], c)]
                continue
        found.append(current)
    return found


def _undominated(parts: Iterable[Poly]) -> list[Poly]:
    """The parts that none of the others is certain to reach."""
    kept: list[Poly] = []
    for part in dict.fromkeys(parts):
        if not any(is_nonnegative(add(other, part, -1)) for other in kept):
            kept = [other for other in kept if not is_nonnegative(add(part, other, -1))]
            kept.append(part)
    return kept


def _shared_part(parts: list[Poly]) -> Poly:
    """Per monomial the least coefficient of all parts: without it, none is negative."""
    tables = [dict(part) for part in parts]
    monomials = dict.fromkeys(monomial for table in tables for monomial in table)
    return collect({m: min(table.get(m, 0) for table in tables) for m in monomials})


# --------------------------------------------------------------------------- values


def names(a: Poly) -> frozenset[str]:
    """All names in it."""
    found: set[str] = set()
    for monomial, _ in a:
        for atom, _ in monomial:
            if isinstance(atom, str):
                found.add(atom)
            else:
                found |= names(atom[1]) | names(atom[2])
    return frozenset(found)


def substitute(a: Poly, bindings: Mapping[str, Poly]) -> Poly:
    """The polynomial with some names replaced."""
    total = NOTHING
    for monomial, coefficient in a:
        product = constant(coefficient)
        for atom, power in monomial:
            factor = _substitute_atom(atom, bindings)
            for _ in range(power):
                product = multiply(product, factor)
        total = add(total, product)
    return total


def _substitute_atom(atom: Atom, bindings: Mapping[str, Poly]) -> Poly:
    if isinstance(atom, str):
        return bindings[atom] if atom in bindings else of_atom(atom)
    kind, a, b = atom
    left, right = substitute(a, bindings), substitute(b, bindings)
    return floor_divide(left, right) if kind == "//" else largest((left, right))


def evaluate(a: Poly, bindings: Mapping[str, int]) -> int:
    """The value; raises KeyError for a name without one."""
    total = 0
    for monomial, product in a:
        for atom, power in monomial:
            value = bindings[atom] if isinstance(atom, str) else _evaluate_atom(atom, bindings)
            product *= value**power
        total += product
    return total


def _evaluate_atom(atom: tuple[str, Poly, Poly], bindings: Mapping[str, int]) -> int:
    kind, a, b = atom
    left, right = evaluate(a, bindings), evaluate(b, bindings)
    if kind == "max":
        return max(left, right)
    if right == 0:
        raise ShapeError("size", "division by zero", got=f"{atom_text(atom)} with {text(b)} = 0")
    return left // right


# --------------------------------------------------------------------------- text


def text(a: Poly) -> str:
    """A Python expression in the names."""
    written = ""
    for monomial, coefficient in a:
        negative = coefficient < 0
        term = _term_text(monomial, abs(coefficient), bare=bool(written) or not negative)
        if written:
            written += f" - {term}" if negative else f" + {term}"
        else:
            written = f"-{term}" if negative else term
    return written or "0"


def _term_text(monomial: Monomial, count: int, bare: bool) -> str:
    if len(monomial) == 1 and monomial[0][1] == 1 and count == 1 and bare:
        return atom_text(monomial[0][0])
    factors = [] if count == 1 and monomial else [str(count)]
    for atom, power in monomial:
        factor = atom_text(atom)
        if not isinstance(atom, str) and atom[0] == "//":
            factor = f"({factor})"
        factors.append(factor if power == 1 else f"{factor}**{power}")
    return "*".join(factors)


@lru_cache(CACHED)
def atom_text(atom: Atom) -> str:
    """A Python expression for one atom, and its place in the order of atoms."""
    if isinstance(atom, str):
        return atom
    kind, a, b = atom
    return f"{_wrapped(a)}//{_wrapped(b)}" if kind == "//" else f"max({text(a)}, {text(b)})"


def _wrapped(a: Poly) -> str:
    written = text(a)
    bare = written.isidentifier() or written.isdigit() or _is_maximum(a)
    return written if bare else f"({written})"


def _is_maximum(a: Poly) -> bool:
    if len(a) != 1 or a[0][1] != 1 or len(a[0][0]) != 1:
        return False
    atom, power = a[0][0][0]
    return power == 1 and not isinstance(atom, str) and atom[0] == "max"
