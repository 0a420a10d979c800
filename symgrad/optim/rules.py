"""How a rule is applied to a parameter, and what rules have in common.

A rule is a pure function ``rule(p, g, state, o) -> (p, state)`` in public ops: parameter, gradient
and state go in, their new values come out. It serves tensors and symbols alike. The numbers among
the options ``o`` (``o.lr``, ``o.betas``) have no axes and are of double precision; `like` brings
what is computed of them to the type of the parameter. A number that is 0 and among the optimiser's
``switches`` is None: the rule then does without it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from symgrad.ir.op import ops
from symgrad.types import is_complex

State = dict[str, Any]
Rule = Callable[[Any, Any, State, Any], tuple[Any, State]]


def like(p: Any, *numbers: Any) -> Any:
    """Numbers in the element type of ``p``, so that they do not widen what they are combined with.

    >>> import symgrad as sg
    >>> like(sg.ones(2, dtype="float32"), 0.5).dtype
    dtype('float32')
    """
    cast = [ops.astype(ops.asarray(number), p.dtype) for number in numbers]
    return cast[0] if len(cast) == 1 else cast


def moving(p: Any, average: Any, new: Any, decay: Any) -> Any:
    """The moving average ``decay * average + (1 - decay) * new``."""
    return average + (new - average) * like(p, 1 - decay)


def moving_square(p: Any, average: Any, g: Any, decay: Any) -> Any:
    """The moving average of ``g * g``."""
    kept, share = like(p, decay, 1 - decay)
    return kept * average + share * (g * g)


def decayed(p: Any, g: Any, o: Any) -> Any:
    """The gradient with that of ``weight_decay / 2 * p**2`` added."""
    return g if o.weight_decay is None else g + like(p, o.weight_decay) * p


def shrunk(p: Any, o: Any) -> Any:
    """The parameter after a decay that the gradient has no part in."""
    return p if o.weight_decay is None else p * like(p, 1 - o.lr * o.weight_decay)


def decayed_or_shrunk(p: Any, g: Any, o: Any) -> tuple[Any, Any]:
    """Parameter and gradient after weight decay of the kind that the options say."""
    return (shrunk(p, o), g) if o.decoupled_weight_decay else (p, decayed(p, g, o))


def apply_rule(rule: Rule, p: Any, g: Any, state: Mapping[str, Any], o: Any) -> tuple[Any, State]:
    """The new parameter and the new state. Complex numbers are pairs of real ones to a rule."""
    g = -g if o.maximize else g
    if not is_complex(p.dtype):
        return rule(p, g, dict(state), o)
    paired = {name: _pair(x) if is_complex(x.dtype) else x for name, x in state.items()}
    p, new = rule(_pair(p), _pair(g), paired, o)
    return _unpair(p), {
        name: _unpair(x) if is_complex(state[name].dtype) else x for name, x in new.items()
    }


def _pair(z: Any) -> Any:
    return ops.stack([ops.real(z), ops.imag(z)], axis=-1)


def _unpair(pair: Any) -> Any:
    return pair[..., 0] + 1j * pair[..., 1]
