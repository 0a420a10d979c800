"""Optimisers and schedules against PyTorch's: the same numbers, eager and compiled."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import symgrad as sg

torch = pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def double_precision():
    """PyTorch keeps ASGD's step sizes in its default element type."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


STEPS, TOLERANCE = 20, 1e-10

SETTINGS = [
    ("SGD", {"lr": 0.05}),
    ("SGD", {"lr": 0.05, "weight_decay": 0.1, "maximize": True}),
    ("SGD", {"lr": 0.02, "momentum": 0.9}),
    ("SGD", {"lr": 0.02, "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.1}),
    ("SGD", {"lr": 0.02, "momentum": 0.9, "nesterov": True}),
    ("Adam", {"lr": 0.05}),
    ("Adam", {"lr": 0.05, "betas": (0.8, 0.95), "eps": 1e-3, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.05, "amsgrad": True, "betas": (0.5, 0.6)}),
    ("Adam", {"lr": 0.05, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("AdamW", {"lr": 0.05}),
    ("AdamW", {"lr": 0.05, "weight_decay": 0.3, "amsgrad": True, "maximize": True}),
    ("NAdam", {"lr": 0.05}),
    ("NAdam", {"lr": 0.05, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("RAdam", {"lr": 0.05}),
    ("RAdam", {"lr": 0.05, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("RAdam", {"lr": 0.05, "betas": (0.5, 0.6), "weight_decay": 0.1}),
    ("Adamax", {"lr": 0.05}),
    ("Adamax", {"lr": 0.05, "weight_decay": 0.1, "betas": (0.5, 0.6), "maximize": True}),
    ("RMSprop", {"lr": 0.01}),
    ("RMSprop", {"lr": 0.01, "alpha": 0.9, "momentum": 0.8, "centered": True, "weight_decay": 0.1}),
    ("Adagrad", {"lr": 0.1}),
    (
        "Adagrad",
        {"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.1, "initial_accumulator_value": 0.5},
    ),
    ("Adadelta", {}),
    ("Adadelta", {"lr": 0.5, "rho": 0.8, "eps": 1e-3, "weight_decay": 0.1, "maximize": True}),
    ("Rprop", {}),
    ("Rprop", {"lr": 0.3, "etas": (0.4, 1.6), "step_sizes": (0.01, 0.5)}),
    ("ASGD", {}),
    ("ASGD", {"lr": 0.05, "lambd": 0.1, "alpha": 0.6, "t0": 5, "weight_decay": 0.1}),
]
NAMES = [f"{name}-{'-'.join(options)}" for name, options in SETTINGS]

RNG = np.random.default_rng(3)
START = [RNG.normal(size=(3, 4)), RNG.normal(size=(4,)), RNG.normal(size=())]
DATA = RNG.normal(size=(STEPS, 3))


def loss_of(lib, w, b, c, x):
    """Neither quadratic nor convex, with gradients of changing sign."""
    hidden = lib.tanh(lib.matmul(x, w) + b)
    shift = c * x
    return (hidden * hidden).sum() + lib.sin(3 * shift).sum() * hidden.sum() + (shift**2).sum()


def run_torch(name, options, start=START, steps=STEPS):
    params = [torch.tensor(s, requires_grad=True) for s in start]
    optimizer = getattr(torch.optim, name)(params, **options)
    for x in DATA[:steps]:
        optimizer.zero_grad()
        loss_of(torch, *params, torch.tensor(x)).backward()
        optimizer.step()
    return [p.detach().numpy() for p in params], optimizer


def tensors(start=START):
    return [sg.tensor(s, requires_grad=True) for s in start]


def eager_step(optimizer, params, x):
    optimizer.zero_grad()
    loss_of(sg, *params, sg.asarray(x)).backward()
    optimizer.step()


def compiled_step(optimizer, params):
    x = sg.placeholder("x", (3,))
    loss = loss_of(sg, *params, x)
    return sg.function([x], loss, updates=optimizer.updates(loss))


@pytest.mark.parametrize(("name", "options"), SETTINGS, ids=NAMES)
@pytest.mark.parametrize("mode", ["eager", "static", "alternating"])
def test_iterates(name, options, mode):
    wanted, _ = run_torch(name, options)
    params = tensors()
    optimizer = getattr(sg.optim, name)(params, **options)
    compiled = compiled_step(optimizer, params)
    for k, x in enumerate(DATA):
        if mode == "static" or (mode == "alternating" and k % 2):
            compiled(x)
        else:
            eager_step(optimizer, params, x)
    for p, w in zip(params, wanted, strict=True):
        np.testing.assert_allclose(p.numpy(), w, rtol=TOLERANCE, atol=TOLERANCE)


@pytest.mark.parametrize(("name", "options"), SETTINGS, ids=NAMES)
def test_a_checkpoint_of_pytorch_goes_on_here(name, options):
    _, theirs = run_torch(name, options, steps=10)
    half = [p.detach().numpy() for group in theirs.param_groups for p in group["params"]]
    params = tensors(half)
    optimizer = getattr(sg.optim, name)(params, **options)
    compiled = compiled_step(optimizer, params)
    optimizer.load_state_dict(theirs.state_dict())
    for x in DATA[10:15]:
        eager_step(optimizer, params, x)
    for x in DATA[15:]:
        compiled(x)
    wanted, _ = run_torch(name, options)
    for p, w in zip(params, wanted, strict=True):
        np.testing.assert_allclose(p.numpy(), w, rtol=TOLERANCE, atol=TOLERANCE)


@pytest.mark.parametrize(("name", "options"), SETTINGS, ids=NAMES)
def test_complex_parameters(name, options):
    start = RNG.normal(size=3) + 1j * RNG.normal(size=3)
    theirs, ours = torch.tensor(start, requires_grad=True), sg.tensor(start, requires_grad=True)
    their_optimizer = getattr(torch.optim, name)([theirs], **options)
    optimizer = getattr(sg.optim, name)([ours], **options)
    for _ in range(8):
        for z, step in ((theirs, their_optimizer), (ours, optimizer)):
            step.zero_grad()
            ((z * z - 1).abs() ** 2).sum().backward()
            step.step()
    np.testing.assert_allclose(ours.numpy(), theirs.detach().numpy(), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["SGD", "Adam", "RAdam", "Adagrad", "Rprop"])
def test_single_precision(name):
    options = {"momentum": 0.9} if name == "SGD" else {}
    wanted, _ = run_torch(name, {"lr": 0.01, **options}, [s.astype(np.float32) for s in START], 0)
    params = tensors([s.astype(np.float32) for s in START])
    theirs = [torch.tensor(w, requires_grad=True) for w in wanted]
    first = getattr(torch.optim, name)(theirs, lr=0.01, **options)
    second = getattr(sg.optim, name)(params, lr=0.01, **options)
    for x in DATA.astype(np.float32):
        first.zero_grad()
        loss_of(torch, *theirs, torch.tensor(x)).backward()
        first.step()
        eager_step(second, params, x)
    for p, w in zip(params, theirs, strict=True):
        assert p.dtype == np.float32
        np.testing.assert_allclose(p.numpy(), w.detach().numpy(), rtol=2e-4, atol=2e-5)


def rosenbrock(x):
    return (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2


@pytest.mark.parametrize(
    "options",
    [
        {"line_search_fn": "strong_wolfe"},
        {"line_search_fn": "strong_wolfe", "max_iter": 3, "history_size": 2},
        {"lr": 0.01},
        {"lr": 0.001, "max_iter": 1},
        {"line_search_fn": "strong_wolfe", "max_eval": 6},
    ],
)
def test_lbfgs(options):
    ends, calls = [], []
    for lib in (torch, sg):
        x = lib.tensor([-1.2, 1.0], dtype=lib.float64, requires_grad=True)
        optimizer = lib.optim.LBFGS([x], **options)
        seen = []

        def closure(x=x, optimizer=optimizer, seen=seen):
            optimizer.zero_grad()
            loss = rosenbrock(x)
            loss.backward()
            seen.append(float(loss.detach()))
            return loss

        for _ in range(6):
            optimizer.step(closure)
        ends.append(np.array(x.detach().numpy()))
        calls.append(len(seen))
    np.testing.assert_allclose(ends[0], ends[1], rtol=TOLERANCE, atol=TOLERANCE)
    assert calls[0] == calls[1]


@pytest.mark.parametrize("norm_type", [1.0, 2.0, 3.0, float("inf")])
@pytest.mark.parametrize("bound", [0.5, 100.0])
def test_clipping_by_norm(norm_type, bound):
    norms = []
    clipped = []
    for lib in (torch, sg):
        params = [lib.tensor(s, requires_grad=True) for s in START]
        loss_of(lib, *params, lib.asarray(DATA[0])).backward()
        clip = torch.nn.utils.clip_grad_norm_ if lib is torch else sg.optim.clip_grad_norm_
        norms.append(float(clip(params, bound, norm_type)))
        clipped.append([np.array(p.grad.numpy()) for p in params])
    assert norms[0] == pytest.approx(norms[1], rel=1e-12)
    for a, b in zip(*clipped, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


# --- schedules ------------------------------------------------------------------------------------

SCHEDULES = {
    "step": lambda s, o: s.StepLR(o, 3, 0.5),
    "milestones": lambda s, o: s.MultiStepLR(o, [2, 5, 5, 9], 0.5),
    "constant": lambda s, o: s.ConstantLR(o, 0.25, 4),
    "linear": lambda s, o: s.LinearLR(o, 0.2, 0.9, 6),
    "exponential": lambda s, o: s.ExponentialLR(o, 0.9),
    "cosine": lambda s, o: s.CosineAnnealingLR(o, 4, 0.01),
    "cosine to 0": lambda s, o: s.CosineAnnealingLR(o, 7),
    "restarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 2, 2, 0.01),
    "equal restarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 3),
    "polynomial": lambda s, o: s.PolynomialLR(o, 8, 2.0),
    "lambda": lambda s, o: s.LambdaLR(o, [lambda e: 0.9**e, lambda e: 1 / (1 + e)]),
    "multiplicative": lambda s, o: s.MultiplicativeLR(o, lambda e: 0.95 if e % 2 else 0.5),
    "one cycle": lambda s, o: s.OneCycleLR(o, 2.0, 20),
    "one cycle, lines": lambda s, o: s.OneCycleLR(
        o, [2.0, 1.0], epochs=4, steps_per_epoch=5, anneal_strategy="linear", pct_start=0.4
    ),
    "one cycle, three phases": lambda s, o: s.OneCycleLR(
        o, 2.0, 20, three_phase=True, div_factor=10, final_div_factor=100, cycle_momentum=False
    ),
    "cyclic": lambda s, o: s.CyclicLR(o, 0.1, [1.0, 2.0], 3, 5),
    "cyclic 2": lambda s, o: s.CyclicLR(o, 0.1, 1.0, 3, mode="triangular2"),
    "cyclic exp": lambda s, o: s.CyclicLR(o, 0.1, 1.0, 3, mode="exp_range", gamma=0.9),
    "cyclic fn": lambda s, o: s.CyclicLR(o, 0.1, 1.0, 3, scale_fn=lambda n: 1 / n),
    "sequence": lambda s, o: s.SequentialLR(
        o, [s.LinearLR(o, 0.1, 1, 4), s.CosineAnnealingLR(o, 4), s.StepLR(o, 2)], [3, 8]
    ),
    "sequence of two": lambda s, o: s.SequentialLR(
        o, [s.ConstantLR(o, 0.5, 2), s.ExponentialLR(o, 0.5)], [3]
    ),
    "chain": lambda s, o: s.ChainedScheduler(
        [s.ConstantLR(o, 0.5, 3), s.ExponentialLR(o, 0.9), s.CosineAnnealingLR(o, 5)]
    ),
}


def trajectory(lib, make, optimizer="SGD", steps=19, resume_at=None):
    """Rates and momenta of two groups, step by step."""
    a, b = (lib.ones(1, requires_grad=True) for _ in range(2))
    options = {"momentum": 0.9} if optimizer == "SGD" else {}
    kind = getattr(lib.optim, optimizer)

    def build():
        made = kind([{"params": [a]}, {"params": [b], "lr": 0.3}], lr=1.0, **options)
        return made, make(lib.optim.lr_scheduler, made)

    optimizer, scheduler = build()
    rows = []
    for k in range(steps):
        rows.append([g["lr"] for g in optimizer.param_groups])
        rows.append([g.get("momentum") or g["betas"][0] for g in optimizer.param_groups])
        optimizer.step()
        scheduler.step()
        if k == resume_at:
            saved = optimizer.state_dict(), scheduler.state_dict()
            optimizer, scheduler = build()
            optimizer.load_state_dict(saved[0])
            scheduler.load_state_dict(saved[1])
    np.testing.assert_allclose(scheduler.get_last_lr(), [g["lr"] for g in optimizer.param_groups])
    return np.array(rows)


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("optimizer", ["SGD", "Adam"])
def test_rates(name, optimizer):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = trajectory(torch, SCHEDULES[name], optimizer)
    found = trajectory(sg, SCHEDULES[name], optimizer)
    np.testing.assert_allclose(found, wanted, rtol=TOLERANCE, atol=TOLERANCE)


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules_go_on_from_their_state(name):
    whole = trajectory(sg, SCHEDULES[name])
    np.testing.assert_array_equal(trajectory(sg, SCHEDULES[name], resume_at=6), whole)


@pytest.mark.parametrize("name", ["cosine", "lambda", "polynomial", "linear"])
def test_going_on_at_an_epoch(name):
    makers = {
        "cosine": lambda s, o: s.CosineAnnealingLR(o, 4, 0.01, last_epoch=5),
        "lambda": lambda s, o: s.LambdaLR(o, lambda e: 0.9**e, last_epoch=5),
        "polynomial": lambda s, o: s.PolynomialLR(o, 12, last_epoch=5),
        "linear": lambda s, o: s.LinearLR(o, 0.5, 1, 12, last_epoch=5),
    }
    rows = []
    for lib in (torch, sg):
        group = {"params": [lib.ones(1, requires_grad=True)], "lr": 0.4, "initial_lr": 1.0}
        optimizer = lib.optim.SGD([group])
        scheduler = makers[name](lib.optim.lr_scheduler, optimizer)
        rates = [optimizer.param_groups[0]["lr"]]
        for _ in range(8):
            optimizer.step()
            scheduler.step()
            rates.append(optimizer.param_groups[0]["lr"])
        rows.append(rates)
    np.testing.assert_allclose(rows[1], rows[0], rtol=TOLERANCE)


def test_parts_of_epochs():
    rows = []
    for lib in (torch, sg):
        optimizer = lib.optim.SGD([lib.ones(1, requires_grad=True)], lr=1.0)
        scheduler = lib.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 2, 3)
        rates = []
        optimizer.step()
        for epoch in [0.25, 0.5, None, None, 3.75, 8.0, 9.5, None]:
            scheduler.step(epoch)
            rates.append(optimizer.param_groups[0]["lr"])
        rows.append(rates)
    np.testing.assert_allclose(rows[1], rows[0], rtol=TOLERANCE)


@pytest.mark.parametrize(
    "options",
    [
        {"factor": 0.5, "patience": 1},
        {"mode": "max", "patience": 0, "cooldown": 2, "threshold": 0.1},
        {"threshold_mode": "abs", "threshold": 0.3, "patience": 0, "min_lr": 0.05},
        {"mode": "max", "threshold_mode": "abs", "patience": 1, "eps": 0.05},
    ],
)
def test_plateau(options):
    values = [1.0, 1.0, 1.2, float("nan"), 0.9, 0.9, 0.85, 0.6, 0.6, 0.6, 2.0, -1.0, -1.0, -0.9, 0]
    rows = []
    for lib in (torch, sg):
        optimizer = lib.optim.SGD([lib.ones(1, requires_grad=True)], lr=1.0)
        scheduler = lib.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **options)
        rates = []
        for value in values:
            scheduler.step(value)
            rates.append(optimizer.param_groups[0]["lr"])
        rows.append(rates)
    np.testing.assert_allclose(rows[1], rows[0], rtol=TOLERANCE)
