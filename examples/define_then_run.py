"""Define, then run: a graph is built, printed, differentiated, changed, saved, and only then run.

Nothing is computed while the formulas below are written. Each line makes symbols; `sg.Graph` is the
view of all symbols between some inputs and some outputs, and `sg.function` compiles one.
"""

from __future__ import annotations

import runpy

import numpy as np

import symgrad as sg


def section(title: str) -> None:
    print(f"\n=== {title}\n")


# --- define -------------------------------------------------------------------------------------
# A placeholder has a name, a shape and an element type, and no value. A dimension may be a name
# instead of a number: "n" is bound when the function is called, and equal names mean equal sizes.

x = sg.placeholder("x", ("n",))
target = sg.placeholder("target", ("n",))

# A variable has a value, which calls may advance. Here: height and rate of a decaying pulse.
height = sg.variable(1.0, name="height")
rate = sg.variable(0.5, name="rate")

pulse = height * sg.exp(-rate * x)
loss = sg.mean((pulse - target) ** 2)

section("the graph: one line per symbol, operands first")
graph = sg.Graph([x, target], loss)
print(graph)

# --- differentiate ------------------------------------------------------------------------------
# The derivative is more of the same: new symbols in the same graph. Its half begins where lines end
# in "# d %k": "made by the derivative rule for %k". The forward half is not copied; the rule of exp
# simply uses the symbol of exp that is already there.

section("the same graph, with its gradient appended")
differentiated = graph.differentiate([height, rate])
print(differentiated)

assert set(graph.symbols) <= set(differentiated.symbols)
more = len(differentiated.derivative_symbols)
print(f"\n{len(graph.symbols)} symbols, and {more} more for the gradient")

# `sg.grad` gives the gradient's symbols themselves: always a tuple, one per input.
d_height, d_rate = sg.grad(loss, [height, rate])

# --- run ----------------------------------------------------------------------------------------
# A function has inputs, outputs, and updates: new values of variables, stored once all is computed.

section("run: least squares by gradient descent")
step = sg.function([x, target], loss, updates={height: height - d_height, rate: rate - d_rate})
print(step)

xs = np.linspace(0.0, 4.0, 50)
pulses = 2.0 * np.exp(-1.3 * xs)
for k in range(201):
    value = step(xs, pulses)
    if k % 40 == 0:
        print(f"step {k:3d}  loss {value:.3e}  height {height.value:.6f}  rate {rate.value:.6f}")
np.testing.assert_allclose([height.value, rate.value], [2.0, 1.3], rtol=1e-6)

# --- second order -------------------------------------------------------------------------------
# A gradient is a symbol, so it has gradients of its own.

section("second order: the Hessian at the minimum")
hessian = [sg.grad(first, [height, rate]) for first in (d_height, d_rate)]
entries = sg.function([x, target], [entry for row in hessian for entry in row])
matrix = np.reshape(entries(xs, pulses), (2, 2))
print(matrix)
assert np.all(np.linalg.eigvalsh(matrix) > 0), "a minimum curves upwards"
np.testing.assert_allclose(matrix, matrix.T, rtol=1e-12)

# --- change the graph ---------------------------------------------------------------------------
# Graphs are values. `substitute` gives new outputs in which some symbols are replaced by others.
# Here absolute differences take the place of squares. (`difference` is the very symbol that the
# loss is made of, not a look-alike: equal formulas are one symbol.)

section("substitute: another loss from the same graph")
difference = pulse - target
robust = sg.substitute(loss, {difference**2: sg.abs(difference)})
print(sg.Graph([x, target], robust))
# `eval` runs a symbol once. The fitted pulse is 1/4 too high for these targets.
np.testing.assert_allclose(loss.eval({x: xs, target: pulses - 0.25}), 1 / 16, rtol=1e-6)
np.testing.assert_allclose(robust.eval({x: xs, target: pulses - 0.25}), 1 / 4, rtol=1e-6)

# --- keep it ------------------------------------------------------------------------------------
# A file holds the graph and the values of its variables: JSON and arrays, never a pickle.

section("save, load, and go on")
sg.save("pulse.sg", differentiated)
loaded = sg.load("pulse.sg")
again = sg.function(loaded.inputs, loaded.outputs)
before = sg.function(differentiated.inputs, differentiated.outputs)(xs, pulses)
for mine, theirs in zip(again(xs, pulses), before, strict=True):
    np.testing.assert_array_equal(mine, theirs)
assert str(loaded) == str(differentiated)
print("pulse.sg holds", ", ".join(f"{v.name} = {v.value:.6f}" for v in loaded.variables))

# --- what runs ----------------------------------------------------------------------------------
# A function is one straight-line piece of numpy. It needs no symgrad: `export_python` writes it as
# a file of its own.

section("the code of loss and gradient")
value_and_gradient = sg.function(differentiated.inputs, differentiated.outputs)
print(value_and_gradient.source, end="")

value_and_gradient.export_python("pulse.py")
alone = runpy.run_path("pulse.py")["call"](xs, pulses)
for mine, theirs in zip(alone, before, strict=True):
    np.testing.assert_array_equal(mine, theirs)
print("\npulse.py, run by itself, gives the same numbers")
