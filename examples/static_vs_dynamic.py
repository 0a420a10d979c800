"""One model in both modes: values as they come, or a graph that is built once and run often.

A small network learns a sine. The same Python function is called on tensors, where each op runs at
once and is recorded; traced into a graph, whose gradient is appended and compiled; and compiled
call by call with `sg.jit`. All three take the same steps. Then come the table of `sg.compare`, and
a loop that only the first way can run, since Python decides on its values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import symgrad as sg

STEPS, RATE = 400, 0.2


def section(title: str) -> None:
    print(f"\n=== {title}\n")


# --- one model ----------------------------------------------------------------------------------
# Nothing here knows a mode. The parameters are leaves that require a gradient.

rng = np.random.default_rng(1)
inputs = np.linspace(-1.0, 1.0, 64)[:, None]
targets = np.sin(3 * inputs)
STARTS = (rng.normal(size=(1, 16)), rng.normal(size=16), 0.2 * rng.normal(size=(16, 1)))


def parameters() -> list[sg.Tensor]:
    return [sg.tensor(start, requires_grad=True) for start in STARTS]


def loss_of(weights: list[Any], x: Any, y: Any) -> Any:
    w1, b1, w2 = weights
    return sg.mean((sg.tanh(x @ w1 + b1) @ w2 - y) ** 2)


# --- dynamic: the graph is built at every call ---------------------------------------------------
# `backward` walks over what the call has recorded, and then it is gone. Changes of the leaves stand
# outside of what is recorded.


def train(weights: list[sg.Tensor], loss: Callable[[Any, Any], Any]) -> list[float]:
    losses: list[float] = []
    for _ in range(STEPS):
        value = loss(inputs, targets)
        value.backward()
        losses.append(value.item())
        with sg.no_grad():
            for w in weights:
                w -= RATE * w.grad
                w.grad = None
    return losses


section("dynamic: every step builds a graph, walks over it, and drops it")
eager = parameters()
eager_losses = train(eager, lambda x, y: loss_of(eager, x, y))
print(f"loss {eager_losses[0]:.6f} at first, {eager_losses[-1]:.6f} after {STEPS} steps")

# --- compiled calls: the same loop, with one decorator --------------------------------------------
# The first call traces the function: the leaves that it meets become variables on their own
# storage. A call is one node of the record, and its gradient is compiled, too.

section("compiled calls: the same loop around sg.jit")
jitted = parameters()
compiled = sg.jit(lambda x, y: loss_of(jitted, x, y))
jitted_losses = train(jitted, compiled)
print(f"loss {jitted_losses[-1]:.6f}; {compiled.cache_info()}")
assert compiled.cache_info().misses == 1
np.testing.assert_allclose(jitted_losses, eager_losses, rtol=1e-9)

# --- static: the whole step is one graph ----------------------------------------------------------
# `sg.trace` gives the graph of the function, `sg.grad` appends gradients, `sg.function` compiles it
# all, together with the new values of the variables.

section("static: one graph of loss, gradient and step, compiled once")
static = parameters()
graph = sg.trace(lambda x, y: loss_of(static, x, y))(inputs, targets)
(loss,) = graph.outputs
new = [w - RATE * g for w, g in zip(static, sg.grad(loss, static), strict=True)]
step = sg.function(graph.inputs, loss, updates=dict(zip(static, new, strict=True)))
static_losses = [float(step(inputs, targets)) for _ in range(STEPS)]
print(f"loss {static_losses[-1]:.6f}; {len(graph.symbols)} symbols without the gradient,")
print(f"{len(step.optimized.symbols)} with it and the step. The tensors have learned it as well:")
print(f"loss in eager mode {loss_of(static, inputs, targets).item():.6f}")
np.testing.assert_allclose(static_losses, eager_losses, rtol=1e-9)
for ours, theirs in zip(static, eager, strict=True):
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)

# --- the comparison -------------------------------------------------------------------------------

section("sg.compare: value, gradient and second derivative in every mode")
network = parameters()


def loss_at(x: Any, y: Any) -> Any:
    return loss_of(network, x, y)


comparison = sg.compare(loss_at, inputs, targets, modes=("eager", "static", "jit"), order=2)
print(comparison)
assert comparison.agrees

# --- what only the dynamic mode can do ------------------------------------------------------------
# How often this loop turns depends on the values: Python must have them. In a graph there are none
# yet, so tracing refuses the line, and says what to do.


def settled(x: Any) -> Any:
    """Newton's iteration for the root of x, until it stands still."""
    root = sg.ones_like(x)
    while sg.max(sg.abs(root * root - x)) > 1e-12:
        root = (root + x / root) / 2
    return sg.sum(root)


section(
    "a loop that depends on values: plain Python in the dynamic mode, refused by the static one"
)
squares = np.array([1.0, 2.0, 9.0])
x = sg.tensor(squares, requires_grad=True)
settled(x).backward()
print("the gradient through the loop:", x.grad)
np.testing.assert_allclose(x.grad, 0.5 / np.sqrt(squares), rtol=1e-9)

comparison = sg.compare(settled, squares)
print(f"\n{comparison}")
refusal = comparison.rows[1].refusal
assert refusal is not None
assert str(refusal.line).startswith("static_vs_dynamic.py:")


# With a fixed number of turns it is a graph.
def fixed(x: Any, turns: int = 8) -> Any:
    root = sg.ones_like(x)
    for _ in range(turns):
        root = (root + x / root) / 2
    return sg.sum(root)


comparison = sg.compare(fixed, squares)
print(f"\n{comparison}")
assert comparison.agrees
