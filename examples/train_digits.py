"""Train a classifier on real images: model, gradient and optimiser are one graph, compiled once.

The images are the 1797 handwritten digits, 8 by 8 pixels, that come with scikit-learn. The model is
a network of two layers, written by hand. All that a step does (loss, gradient, the optimiser's
running averages, the new weights) is made of symbols, and `sg.function` makes one call of it.

Writes digits_loss.png and digits_misclassified.png into the current directory.
"""

from __future__ import annotations

from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from sklearn.datasets import load_digits

import symgrad as sg

HIDDEN, EPOCHS, BATCH, RATE, DECAY, DOUBT = 256, 40, 32, 4e-3, 0.05, 0.1
started = perf_counter()
rng = np.random.default_rng(0)

# --- data ---------------------------------------------------------------------------------------
# A fifth of the images is put aside for the test.

digits = load_digits()
order = rng.permutation(len(digits.target))
pixels, labels = digits.data[order] / 16, digits.target[order]
held_out = len(labels) // 5
test_pixels, test_labels = pixels[:held_out], labels[:held_out]
train_pixels, train_labels = pixels[held_out:], labels[held_out:]

# What the network is to answer: the digit, with a little doubt. One that learns to be certain of
# all that it saw errs more often on what it did not see.
train_targets = (1 - DOUBT) * np.eye(10)[train_labels] + DOUBT / 10

# --- define -------------------------------------------------------------------------------------
# The size of a batch is a name, so the same graph serves for training and for the test.

images = sg.placeholder("images", ("batch", 64))
targets = sg.placeholder("targets", ("batch", 10))


def weights(name: str, rows: int, columns: int) -> sg.Symbol:
    """A matrix of random numbers, scaled so that a relu layer keeps the spread of its input."""
    return sg.variable(rng.normal(0, np.sqrt(2 / rows), (rows, columns)), name=name)


w1, b1 = weights("w1", 64, HIDDEN), sg.variable(np.zeros(HIDDEN), name="b1")
w2, b2 = weights("w2", HIDDEN, 10), sg.variable(np.zeros(10), name="b2")
parameters = [w1, b1, w2, b2]

hidden = sg.relu(images @ w1 + b1)
scores = hidden @ w2 + b2
loss = sg.cross_entropy(scores, targets)

# --- differentiate ------------------------------------------------------------------------------

graph = sg.Graph([images, targets], loss)
differentiated = graph.differentiate(parameters)
gradients = differentiated.outputs[1:]

print("the gradient, as a graph; lower numbers are symbols of the loss, which it shares\n")
derived = {differentiated.name_of(symbol) for symbol in differentiated.derivative_symbols}
for line in str(differentiated).splitlines():
    if line.split(" ")[0] in derived | {"return"}:
        print(f"  {line}")

# --- the optimiser ------------------------------------------------------------------------------
# AdamW, by hand: averages of the gradient and of its square, and a step whose length does not
# depend on the gradient's scale; weights decay on their own. The averages are variables, as the
# weights are, and `updates` says what each becomes. All change together, once all is computed.

updates: dict[sg.Symbol, sg.Symbol] = {}
count = sg.variable(0.0, name="count")
updates[count] = t = count + 1
rate = sg.placeholder("rate")
for parameter, gradient in zip(parameters, gradients, strict=True):
    mean = sg.variable(np.zeros(parameter.shape), name=f"mean of {parameter.name}")
    spread = sg.variable(np.zeros(parameter.shape), name=f"spread of {parameter.name}")
    updates[mean] = 0.9 * mean + 0.1 * gradient
    updates[spread] = 0.999 * spread + 0.001 * gradient**2
    direction = (updates[mean] / (1 - 0.9**t)) / (sg.sqrt(updates[spread] / (1 - 0.999**t)) + 1e-8)
    updates[parameter] = parameter - rate * (direction + DECAY * parameter)

step = sg.function([images, targets, rate], loss, updates)
predict = sg.function(images, sg.argmax(scores, axis=1))
probabilities = sg.function(images, sg.softmax(scores, axis=1))
print(f"\none step is one function of {len(step.optimized.symbols)} symbols\n")

# --- run ----------------------------------------------------------------------------------------

losses: list[float] = []
accuracies: list[float] = []
batches = len(train_labels) // BATCH
columns = [
    TextColumn("training"),
    BarColumn(),
    TextColumn("epoch {task.completed}/{task.total}  loss {task.fields[loss]:.4f}"),
    TimeElapsedColumn(),
]
with Progress(*columns) as progress:
    task = progress.add_task("training", total=EPOCHS, loss=float("nan"))
    for _epoch in range(EPOCHS):
        order = rng.permutation(len(train_labels))
        for k in range(batches):
            chosen = order[k * BATCH : (k + 1) * BATCH]
            # The rate falls along half a cosine.
            now = RATE * 0.5 * (1 + np.cos(np.pi * len(losses) / (EPOCHS * batches)))
            losses.append(float(step(train_pixels[chosen], train_targets[chosen], now)))
        accuracies.append(float(np.mean(predict(test_pixels) == test_labels)))
        progress.update(task, advance=1, loss=np.mean(losses[-batches:]))

predicted = predict(test_pixels)
wrong = np.flatnonzero(predicted != test_labels)
accuracy = 1 - len(wrong) / len(test_labels)

# --- look ---------------------------------------------------------------------------------------

BLUE, ORANGE, GREY = "#2f6db5", "#d9730d", "#8a94a0"
plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False})

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
per_epoch = np.reshape(losses, (EPOCHS, batches)).mean(axis=1)
epochs = np.arange(1, EPOCHS + 1)
least = -(train_targets[0] * np.log(train_targets[0])).sum()
left.plot(np.arange(1, len(losses) + 1) / batches, losses, color=BLUE, alpha=0.25, lw=0.6)
left.plot(epochs - 0.5, per_epoch, color=BLUE, lw=2)
left.axhline(least, color=GREY, ls="--", lw=1)
left.annotate(
    "least that the doubt in the targets allows",
    (EPOCHS, least),
    (0, -5),
    textcoords="offset points",
    ha="right",
    va="top",
    color=GREY,
)
left.set(title="Training loss (line: mean of an epoch)", xlabel="epoch", ylim=(0, None))
right.plot(epochs, 100 * np.array(accuracies), color=ORANGE, lw=2)
right.set(title="Test accuracy, %", xlabel="epoch")
right.annotate(
    f"{100 * accuracy:.1f}",
    (EPOCHS, 100 * accuracy),
    (0, -8),
    textcoords="offset points",
    ha="right",
    va="top",
    color=ORANGE,
    weight="bold",
)
for axes in (left, right):
    axes.grid(axis="y", color="#e6e9ec", lw=0.8)
    axes.set_axisbelow(True)
figure.savefig("digits_loss.png", dpi=150)

shown = wrong[:10]
figure, grid = plt.subplots(
    2,
    max(len(shown), 1),
    figsize=(1.5 * max(len(shown), 4), 3.1),
    height_ratios=(5, 2),
    squeeze=False,
    sharey="row",
    layout="constrained",
)
figure.suptitle(f"Misclassified: {len(wrong)} of {len(test_labels)} test images", weight="bold")
for axes in grid.flat:
    axes.set_axis_off()
for (image, bars), k, chances in zip(
    grid.T, shown, probabilities(test_pixels[shown]), strict=False
):
    image.imshow(test_pixels[k].reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
    image.set_title(f"{test_labels[k]}, taken for {predicted[k]}", fontsize=10)
    # The probability that the network gives each digit: blue the right one, orange its answer.
    colours = [GREY] * 10
    colours[predicted[k]], colours[test_labels[k]] = ORANGE, BLUE
    bars.bar(range(10), chances, color=colours)
    bars.set_axis_on()
    bars.set(xticks=range(10), yticks=[])
    bars.tick_params(length=0, labelsize=7)
    bars.spines["left"].set_visible(False)
figure.savefig("digits_misclassified.png", dpi=150)

# --- the result ---------------------------------------------------------------------------------

print(f"\n{len(losses)} steps; everything took {perf_counter() - started:.1f} s")
print("the loss, and the digits it gets wrong: digits_loss.png, digits_misclassified.png")
assert accuracy >= 0.97, f"a test accuracy of {accuracy:.3f} is too low"
print(f"test accuracy: {100 * accuracy:.1f} %")
