"""Newton's method for logistic regression, with a symbolic Hessian-vector product.

The Hessian H of a loss is never written down here. Its product with a vector v is the gradient of
the number `grad(loss) . v`, which is one more gradient of symbols. Conjugate gradients need no more
than such products to solve H d = -grad(loss) for Newton's step d.

The data are the 569 breast tumours, 30 measurements each, that come with scikit-learn.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer

import symgrad as sg

PENALTY = 1e-2  # of large weights: makes the minimum unique
TOLERANCE = 1e-10

data = load_breast_cancer()
measurements = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)
inputs = np.column_stack([measurements, np.ones(len(measurements))])  # the last weight: an offset
benign = data.target.astype(float)
features = inputs.shape[1]

# --- the loss, its gradient, and the product with its Hessian -------------------------------------

x = sg.placeholder("x", ("patients", features))
y = sg.placeholder("y", ("patients",))
v = sg.placeholder("v", (features,))
w = sg.variable(np.zeros(features), name="w")

odds = x @ w  # the logarithm of the odds of "benign"
misfit = sg.log(1 + sg.exp(odds)) - y * odds
loss = sg.mean(misfit) + 0.5 * PENALTY * sg.sum(w**2)

(gradient,) = sg.grad(loss, w)
(product,) = sg.grad(sg.sum(gradient * v), w)

value_and_gradient = sg.function([x, y], [loss, gradient])
hessian_times = sg.function([x, y, v], product)

# log(1 + exp(odds)) as it stands overflows at odds of 710. `grad` and `function` see the pattern
# and take softplus instead, so large odds do no harm:
extreme = sg.function([x, y, w], [loss, gradient])
assert np.isfinite(extreme(inputs, benign, np.full(features, 1e3))[1]).all()
assert "softplus" in {symbol.op.name for symbol in value_and_gradient.optimized.symbols}

# Neither y nor the loss has a part in the Hessian: what is not needed is not in the graph.
print("the Hessian-vector product, as one graph of x, y, v and the variable w\n")
print(hessian_times.optimized)


# --- conjugate gradients --------------------------------------------------------------------------


def newton_step(slope: np.ndarray) -> tuple[np.ndarray, int]:
    """Solve H d = -slope, as closely as is worthwhile; also the number of products it took."""
    step, residual = np.zeros(features), -slope
    direction = residual
    size = residual @ residual
    enough = min(0.1, np.sqrt(size)) ** 2 * size
    for count in range(1, 10 * features):
        curved = hessian_times(inputs, benign, direction)
        length = size / (direction @ curved)
        step = step + length * direction
        residual = residual - length * curved
        size, previous = residual @ residual, size
        if size <= enough:
            return step, count
        direction = residual + size / previous * direction
    raise AssertionError("conjugate gradients did not converge")


# --- Newton ---------------------------------------------------------------------------------------

print("\niteration        loss   |gradient|   products with the Hessian")
products = 0
for iteration in range(50):
    value, slope = value_and_gradient(inputs, benign)
    norm = np.linalg.norm(slope)
    print(f"{iteration:9d}  {value:.8f}    {norm:.2e}   {products}")
    if norm < TOLERANCE:
        break
    step, count = newton_step(slope)
    products += count
    # Halve the step until the loss falls by a fair part of what the slope promises.
    start, fraction = w.value, 1.0
    w.value = start + step
    while value_and_gradient(inputs, benign)[0] > value + 1e-4 * fraction * (slope @ step) + 1e-15:
        fraction /= 2
        w.value = start + fraction * step
newton_gradient, newton_loss = norm, value
assert newton_gradient < TOLERANCE
assert iteration <= 12

# --- the checks -----------------------------------------------------------------------------------

# The product against a difference of gradients, in a random direction.
direction = np.random.default_rng(0).normal(size=features)
gradient_at = sg.function([x, y, w], gradient)
nearby = [gradient_at(inputs, benign, w.value + sign * 1e-5 * direction) for sign in (1, -1)]
np.testing.assert_allclose(
    hessian_times(inputs, benign, direction), (nearby[0] - nearby[1]) / 2e-5, rtol=1e-6, atol=1e-9
)

# Gradient descent, allowed many more passes over the data, with a step as long as is safe: the
# reciprocal of the largest curvature that the loss can have.
curvature = np.linalg.norm(inputs, 2) ** 2 / (4 * len(inputs)) + PENALTY
descend = sg.function([x, y], loss, {w: w - gradient / curvature})
fitted = w.value
w.value = np.zeros(features)
for _ in range(1000):
    descend(inputs, benign)
value, slope = value_and_gradient(inputs, benign)
descent_gradient = np.linalg.norm(slope)
assert newton_loss <= value

print(f"\nNewton:           {iteration:4d} steps, |gradient| {newton_gradient:.1e}")
print(f"gradient descent: 1000 steps, |gradient| {descent_gradient:.1e}")
right = np.mean((inputs @ fitted > 0) == (benign > 0))
print(f"{100 * right:.1f} % of the tumours it was fitted to are on the right side")
assert right > 0.97
