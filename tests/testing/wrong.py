"""Ops whose rules are wrong on purpose, to see that checks find it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import symgrad as sg
from symgrad.ir.op import OPS, ZERO, Op


def with_rule(name: str, rule: Callable[..., Any], *, of: str = "sin") -> Op:
    """A copy of an op of one operand whose contribution is ``rule(ct, y, x)``."""
    vjp = lambda i, ct, y, args, attrs: rule(ct, y, *args)  # noqa: E731
    return replace(OPS[of], name=name, vjp=vjp, partials=None, ufunc=None)


too_large = with_rule("too_large", lambda ct, y, x: ct * sg.cos(x) * 1.01)
"""Its derivative is off by one per cent."""

wrong_sign = with_rule("wrong_sign", lambda ct, y, x: -ct * sg.cos(x))

cut = with_rule("cut", lambda ct, y, x: ZERO)
"""Its derivative is missing."""

not_conjugated = replace(OPS["sin"], name="not_conjugated", holomorphic=False)
"""For complex operands, its derivative is the conjugate of what it should be."""

only_once = with_rule("only_once", lambda ct, y, x: ct * sg.stop_gradient(sg.cos(x)))
"""Its first derivative is right, its second is missing."""

offset = with_rule("offset", lambda ct, y, x: ct * sg.cos(x) + 1e-9)
"""Where no cotangent arrives it gives one: too small for the tolerances."""
