"""Derivatives 1 to 8 of tanh(sin(x) * exp(-x**2)): as formulas, counted, and checked.

The derivative of a symbol is a symbol, so it can be differentiated again. Written out in full, the
formulas would grow by a factor per order. Here equal terms are one symbol, and an order is made of
terms of the orders before it, so the growth is that of a polynomial. The formulas that this prints
show it: a term used more than once is written once, under a name, and later orders use the name.
"""

from __future__ import annotations

import math
from collections import Counter
from time import perf_counter
from typing import TypeAlias

import mpmath

import symgrad as sg

ORDERS = 8
POINTS = (-1.3, -0.25, 0.1, 0.7, 1.9)

# --- symbols as formulas ------------------------------------------------------------------------
# A symbol has `op`, `args` and `attrs`; it takes no more to write one down. Each formula comes with
# the strength of its outermost operator, which tells its user whether to put it in parentheses.

Formula: TypeAlias = tuple[str, int]

INFIX = {"add": (" + ", 1), "subtract": (" - ", 1), "multiply": ("*", 2), "divide": ("/", 2)}
SIGN, POWER, ATOM = 2, 3, 4


def enclosed(formula: Formula, least: int) -> str:
    text, strength = formula
    return text if strength >= least else f"({text})"


def formula_of(symbol: sg.Symbol, operands: list[Formula]) -> Formula:
    """The formula of a symbol, given those of its operands."""
    name = symbol.op.name
    if symbol.is_leaf:
        text = symbol.name or f"{symbol.value:g}"
        return text, SIGN if text.startswith("-") else ATOM
    if name in INFIX:
        sign, strength = INFIX[name]
        # a - (b - c) needs its parentheses, a + (b + c) and a*(b*c) do not.
        right = strength + 1 if name in ("subtract", "divide") else strength
        return enclosed(operands[0], strength) + sign + enclosed(operands[1], right), strength
    if name == "negative":
        return f"-{enclosed(operands[0], SIGN)}", SIGN
    if name == "square":
        return f"{enclosed(operands[0], ATOM)}**2", POWER
    if name == "pow":
        return f"{enclosed(operands[0], ATOM)}**{enclosed(operands[1], ATOM)}", POWER
    return f"{name}({', '.join(text for text, _ in operands)})", ATOM


class FormulaWriter:
    """Writes symbols as formulas, and gives shared terms names as they come up."""

    def __init__(self, graph: sg.Graph) -> None:
        self.uses = Counter(arg for symbol in graph.symbols for arg in symbol.args)
        self.names: dict[sg.Symbol, str] = {}

    def write(self, output: sg.Symbol) -> tuple[dict[str, str], str]:
        """The shared terms that are new, by name, and the formula itself."""
        terms: dict[str, str] = {}
        written: dict[sg.Symbol, Formula] = {}
        for symbol in sg.Graph([x], output).symbols:  # operands come before their users
            if symbol not in self.names:
                written[symbol] = formula_of(symbol, [written[arg] for arg in symbol.args])
                if symbol.is_leaf or self.uses[symbol] < 2:
                    continue
                self.names[symbol] = f"t{len(self.names) + 1}"
                terms[self.names[symbol]] = written[symbol][0]
            written[symbol] = (self.names[symbol], ATOM)
        return terms, written[output][0]


# --- the derivatives ----------------------------------------------------------------------------

x = sg.placeholder("x")
f = sg.tanh(sg.sin(x) * sg.exp(-(x**2)))

derivatives = [f]
rows = []
for order in range(1, ORDERS + 1):
    start = perf_counter()
    # The first derivative of the one before. `sg.nth_derivative(f, x, order)` is the same symbol.
    derivatives.append(sg.nth_derivative(derivatives[-1], x, 1))
    compiled = sg.function(x, derivatives[-1])
    seconds = perf_counter() - start
    rows.append((order, len(compiled.graph.symbols), len(compiled.optimized.symbols), seconds))
assert derivatives[ORDERS] is sg.nth_derivative(f, x, ORDERS)

writer = FormulaWriter(sg.Graph([x], derivatives))
written = [writer.write(derivative) for derivative in derivatives]
print("sech2(x) is 1/cosh(x)**2\n")
for order, (terms, formula) in enumerate(written):
    for name, term in terms.items():
        print(f"    {name} = {term}")
    print(f"f{chr(39) * order if order < 4 else f'({order})'} = {formula}\n")

print("order  symbols  after rewrites  differentiated and compiled in")
for order, symbols, rewritten, seconds in rows:
    print(f"{order:5d}  {symbols:7d}  {rewritten:14d}  {1000 * seconds:7.1f} ms")
assert rows[ORDERS - 1][1] <= 400, "the growth is polynomial"

# --- the checks ---------------------------------------------------------------------------------
# mpmath differentiates numerically, in 60 digits: an oracle that knows nothing of our rules.

mpmath.mp.dps = 60


def reference(at: mpmath.mpf) -> mpmath.mpf:
    return mpmath.tanh(mpmath.sin(at) * mpmath.exp(-(at**2)))


def as_printed(at: float) -> list[float]:
    """The values of the printed formulas, which are Python as they stand."""
    known = {"x": at, "sech2": lambda u: 1 / math.cosh(u) ** 2} | vars(math)
    values = []
    for terms, formula in written:
        for name, term in terms.items():
            known[name] = eval(term, known)
        values.append(eval(formula, known))
    return values


evaluate = sg.function(x, derivatives)
worst = 0.0
for point in POINTS:
    for order, (value, printed) in enumerate(zip(evaluate(point), as_printed(point), strict=True)):
        expected = mpmath.diff(reference, mpmath.mpf(point), order)
        error = float(abs(mpmath.mpf(float(value)) - expected) / abs(expected))
        worst = max(worst, error)
        assert error < 1e-12, f"order {order} at {point}: {value} is not {float(expected)}"
        assert math.isclose(printed, value, rel_tol=1e-12), f"order {order} is printed wrongly"
print(f"\nall orders agree with mpmath at {len(POINTS)} points; largest relative error {worst:.1e}")
