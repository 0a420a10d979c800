"""What one call, one training step, one compilation and one derivative cost."""

from __future__ import annotations

import itertools
import subprocess
import sys
import time

import numpy as np

import symgrad as sg
from benchmarks.eager import eager
from benchmarks.measure import Row, interleaved
from benchmarks.ops import op_overheads
from symgrad.ir.walk import reachable


def call_overhead() -> list[Row]:
    """Value and gradient of sum(x*x), 10 elements, against the same in numpy."""
    x = sg.placeholder("x", (10,))
    loss, (dx,) = sg.value_and_grad(sg.sum(x * x), x)
    fn = sg.function(x, [loss, dx])
    at = np.random.default_rng(0).normal(size=10)

    def by_hand() -> tuple[np.ndarray, np.ndarray]:
        return (at * at).sum(), 2 * at

    times = interleaved({"symgrad": lambda: fn(at), "numpy": by_hand}, rounds=31)
    return [
        Row(
            "call: value and gradient of sum(x*x), n = 10, over numpy",
            times["symgrad"] / times["numpy"],
            "x",
            2.0,
        ),
        Row("the same call", times["symgrad"] * 1e6, "µs"),
    ]


WIDTHS, BATCH, RATE = (784, 512, 256, 10), 128, np.float32(1e-3)


def mlp_data() -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """Weights and biases in turn, a batch of inputs, and its classes."""
    rng = np.random.default_rng(0)
    state: list[np.ndarray] = []
    for wide, narrow in itertools.pairwise(WIDTHS):
        state.append((rng.standard_normal((wide, narrow)) * (2 / wide) ** 0.5).astype("float32"))
        state.append(np.zeros(narrow, "float32"))
    x = rng.standard_normal((BATCH, WIDTHS[0])).astype("float32")
    return state, x, rng.integers(0, WIDTHS[-1], BATCH)


def mlp_graph(state: list[np.ndarray]) -> tuple[list[sg.Symbol], sg.Symbol, list[sg.Symbol]]:
    """Inputs, loss and variables of the network."""
    x = sg.placeholder("x", (BATCH, WIDTHS[0]), "float32")
    y = sg.placeholder("y", (BATCH,), "int64")
    variables = [sg.variable(array) for array in state]
    h = x
    for k in range(0, len(variables), 2):
        h = h @ variables[k] + variables[k + 1]
        if k + 2 < len(variables):
            h = sg.relu(h)
    return [x, y], sg.cross_entropy(h, y), variables


def mlp_function(state: list[np.ndarray]) -> sg.Function:
    """The compiled training step."""
    inputs, loss, variables = mlp_graph(state)
    grads = sg.grad(loss, variables)
    updates = {v: v - RATE * g for v, g in zip(variables, grads, strict=True)}
    return sg.function(inputs, loss, updates=updates)


def mlp_by_hand(state: list[np.ndarray], x: np.ndarray, y: np.ndarray) -> np.float32:
    """One step as a careful numpy user writes it: in place wherever possible."""
    w1, b1, w2, b2, w3, b3 = state
    h1 = x @ w1
    h1 += b1
    np.maximum(h1, 0, out=h1)
    h2 = h1 @ w2
    h2 += b2
    np.maximum(h2, 0, out=h2)
    z = h2 @ w3
    z += b3
    z -= z.max(1, keepdims=True)
    e = np.exp(z)
    s = e.sum(1, keepdims=True)
    rows = np.arange(len(y))
    loss = np.mean(np.log(s[:, 0]) - z[rows, y])
    d = e / s
    d[rows, y] -= 1
    d /= len(y)
    grads = [None, None, None, None, h2.T @ d, d.sum(0)]
    d = d @ w3.T
    d *= h2 > 0
    grads[2:4] = h1.T @ d, d.sum(0)
    d = d @ w2.T
    d *= h1 > 0
    grads[0:2] = x.T @ d, d.sum(0)
    for value, gradient in zip(state, grads, strict=True):
        gradient *= RATE
        value -= gradient
    return loss


def mlp_step() -> list[Row]:
    """A training step of a 784-512-256-10 network, batch 128, float32."""
    state, x, y = mlp_data()
    fn = mlp_function(state)
    mine = [array.copy() for array in state]
    assert abs(float(fn(x, y)) - float(mlp_by_hand(mine, x, y))) < 1e-5
    times = interleaved({"symgrad": lambda: fn(x, y), "numpy": lambda: mlp_by_hand(mine, x, y)})
    return [
        Row(
            "MLP training step over hand-written numpy",
            times["symgrad"] / times["numpy"],
            "x",
            1.15,
        ),
        Row("the same step", times["symgrad"] * 1e3, "ms"),
    ]


def compile_time() -> list[Row]:
    """Building, differentiating and compiling that network's step, from nothing."""
    state, _, _ = mlp_data()
    taken = []
    for _ in range(5):
        start = time.process_time()
        mlp_function(state)
        taken.append(time.process_time() - start)
    first, rest = taken[0], sorted(taken[1:])[len(taken[1:]) // 2]
    return [
        Row("compile of the MLP loss with gradients, first", first, "s", 0.15),
        Row("compile of the MLP loss with gradients, later", rest, "s", 0.15),
    ]


GOALS = {5: 160.0, 6: 220.0, 8: 400.0}


def repeated_derivatives() -> list[Row]:
    """Symbols and time per order for tanh(sin(x) exp(-x**2))."""
    x = sg.placeholder("x")
    y = sg.tanh(sg.sin(x) * sg.exp(-(x**2)))
    rows = []
    for order in range(1, 9):
        start = time.process_time()
        (y,) = sg.grad(y, x)
        sg.function(x, y)
        taken = time.process_time() - start
        rows.append(Row(f"symbols at order {order}", len(reachable([y])), "", GOALS.get(order)))
        rows.append(Row(f"order {order}: differentiate and compile", taken, "s", 0.1))
    return rows


def deep_chain(count: int) -> dict[str, float]:
    """CPU seconds of each stage for a chain of ``count`` ops."""
    stages: dict[str, float] = {}
    start = time.process_time()

    def lap(name: str) -> None:
        nonlocal start
        now = time.process_time()
        stages[name], start = now - start, time.process_time()

    x = sg.placeholder("x")
    y = x
    for _ in range(count // 2):
        y = sg.sin(y) * 1.0001
    lap("build")
    (dx,) = sg.grad(y, x, mode="reverse")
    lap("differentiate")
    graph = sg.Graph([x], [y, dx])
    text = str(graph)
    lap("print")
    fn = sg.function(x, [y, dx])
    lap("compile")
    fn(0.5)
    lap("run")
    del x, y, dx, graph, text, fn
    lap("free")
    return stages


def chains() -> list[Row]:
    """A chain of 200,000 ops and one of half the length."""
    deep_chain(2_000)
    half, full = deep_chain(100_000), deep_chain(200_000)
    rows = [Row(f"chain of 200,000 ops: {name}", value, "s") for name, value in full.items()]
    total = sum(full.values()) / sum(half.values())
    return [*rows, Row("chain of 200,000 ops over one of 100,000", total, "x", 2.3)]


_IMPORT = (
    "import time, numpy; t = time.process_time(); import symgrad; print(time.process_time() - t)"
)


def import_time() -> list[Row]:
    """What ``import symgrad`` adds to numpy's, in fresh interpreters."""
    taken = []
    for _ in range(7):
        run = subprocess.run(
            [sys.executable, "-c", _IMPORT], capture_output=True, text=True, check=True
        )
        taken.append(float(run.stdout))
    return [Row("import symgrad, beyond numpy", sorted(taken)[len(taken) // 2], "s", 0.15)]


WORKLOADS = {
    "call": call_overhead,
    "mlp": mlp_step,
    "compile": compile_time,
    "orders": repeated_derivatives,
    "import": import_time,
    "chain": chains,
    "eager": eager,
    "ops": op_overheads,
}
