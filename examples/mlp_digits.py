"""Train one network twice from the same seed, eagerly and compiled: the same losses come out.

The images are the 1797 handwritten digits, 8 by 8 pixels, that come with scikit-learn. The eager
run is the loop that users of PyTorch write: `backward`, `step`. The compiled run builds loss,
gradient and the optimiser's step once, as one graph. Optimiser, schedule and data loader are the
same in both, because each rule of an optimiser is written once and serves both modes.

Writes mlp_digits.png into the current directory.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np
from rich.progress import track

import symgrad as sg

EPOCHS, BATCH, HIDDEN = 15, 64, 128
started = perf_counter()

digits = sg.data.load_digits()
pixels = sg.data.TensorDataset(digits.inputs / 16, digits.targets)
train, test = sg.data.random_split(pixels, [0.8, 0.2], generator=0)
test_images, test_labels = test.batch(range(len(test)))


class Network:
    """Two layers, by hand: leaf tensors that require a gradient."""

    def __init__(self, seed: int) -> None:
        draw = sg.random.Generator(seed)
        self.parameters = [
            (draw.normal((rows, columns)) * (2 / rows) ** 0.5).requires_grad_()
            for rows, columns in ((64, HIDDEN), (HIDDEN, 10))
        ]
        self.parameters += [sg.zeros(n, requires_grad=True) for n in (HIDDEN, 10)]

    def __call__(self, images):
        """Scores of the digits; tensors give a tensor, symbols give a symbol."""
        w1, w2, b1, b2 = self.parameters
        return sg.relu(images @ w1 + b1) @ w2 + b2

    def accuracy(self) -> float:
        with sg.no_grad():
            right = sg.argmax(self(test_images), axis=1) == test_labels
            return float(sg.mean(sg.astype(right, sg.float64)))


def fit(name: str, make_step: Callable) -> tuple[list[float], Network, float]:
    """The losses of all steps, the trained network, and the seconds that its steps took."""
    network = Network(seed=1)
    optimizer = sg.optim.AdamW(network.parameters, lr=1e-3, weight_decay=0.01)
    loader = sg.data.DataLoader(train, BATCH, shuffle=True, generator=2, drop_last=True, prefetch=2)
    schedule = sg.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=5e-3, epochs=EPOCHS, steps_per_epoch=len(loader)
    )
    step = make_step(network, optimizer)
    losses, seconds = [], 0.0
    for _epoch in track(range(EPOCHS), description=f"{name:9}"):
        for images, labels in loader:
            before = perf_counter()
            losses.append(float(step(images, labels)))
            seconds += perf_counter() - before
            schedule.step()
    return losses, network, seconds


def eager(network: Network, optimizer: sg.optim.Optimizer) -> Callable:
    def step(images, labels):
        optimizer.zero_grad()
        loss = sg.cross_entropy(network(images), labels)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


def compiled(network: Network, optimizer: sg.optim.Optimizer) -> Callable:
    images = sg.placeholder("images", ("batch", 64))
    labels = sg.placeholder("labels", ("batch",), "int64")
    loss = sg.cross_entropy(network(images), labels)
    return sg.function([images, labels], loss, updates=optimizer.updates(loss))


eager_losses, eager_network, eager_seconds = fit("eager", eager)
static_losses, static_network, static_seconds = fit("compiled", compiled)

steps = len(eager_losses)
apart = np.abs(np.array(eager_losses) - static_losses).max()
print(f"\n{'step':>6}{'eager':>14}{'compiled':>14}")
for k in [0, 1, 10, 100, steps - 1]:
    print(f"{k:6}{eager_losses[k]:14.9f}{static_losses[k]:14.9f}")
each = [1e3 * seconds / steps for seconds in (eager_seconds, static_seconds)]
print(f"\n{steps} steps each; the losses differ by {apart:.1e} at most")
print(f"a step: {each[0]:.2f} ms eager, {each[1]:.2f} ms compiled")

figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
axes.plot(eager_losses, color="#2f6db5", lw=3, alpha=0.5, label="eager")
axes.plot(static_losses, color="#d9730d", lw=0.8, label="compiled")
axes.set(title="One network, trained in two modes", xlabel="step", ylabel="loss", yscale="log")
axes.legend(frameon=False)
figure.savefig("mlp_digits.png", dpi=150)

accuracies = eager_network.accuracy(), static_network.accuracy()
print(f"test accuracy: {100 * accuracies[0]:.1f} % and {100 * accuracies[1]:.1f} %; mlp_digits.png")
print(f"everything took {perf_counter() - started:.1f} s")
assert apart < 1e-6
assert min(accuracies) > 0.96
