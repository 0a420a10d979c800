"""Three tutorials on PyTorch's autograd, run with only their import line changed.

A: what makes a graph, and what in-place operations do; B: an introduction to `backward`; C: the
dynamic graph and the options of `backward` and `grad`. What a tutorial prints is asserted after it.

    python examples/seed_walkthrough.py
"""

from __future__ import annotations

import warnings

import symgrad as torch

torch.set_default_dtype(torch.float32)  # the tutorials' numbers have single precision


def tutorial_a() -> None:
    """Symbol to symbol, symbol to value: the recorded graph, and changes in place."""
    x = torch.randn(5, 5)
    y = torch.randn(5, 5)
    z = torch.randn((5, 5), requires_grad=True)
    a = x + z
    print("A: a.requires_grad", a.requires_grad)
    assert a.requires_grad is True
    assert (x + y).requires_grad is False

    # add_ changes x without a copy.
    x = torch.tensor([0.8284, 0.5539])
    y = torch.tensor([0.3326, 0.8250])
    address = x.data_ptr()
    x.add_(y)
    print("A: x.add_(y)", x)
    assert torch.allclose(x, torch.tensor([1.1610, 1.3789]))
    assert x.data_ptr() == address

    # scatter_ writes along an axis, at positions that are data.
    src = torch.arange(1, 11, dtype=torch.float32).reshape((2, 5))
    target = torch.zeros(3, 5).scatter_(0, torch.tensor([[0, 1, 2, 0]]), src)
    print("A: scatter_", target, sep="\n")
    assert target.tolist() == [[1, 0, 0, 4, 0], [0, 2, 0, 0, 0], [0, 0, 3, 0, 0]]

    # Freezing: what does not require a gradient is not recorded.
    weights = [torch.randn(2, 2, requires_grad=True) for _ in range(3)]
    for parameter in weights[:2]:
        parameter.requires_grad = False
    hidden = torch.ones(1, 2) @ weights[0] @ weights[1]
    assert hidden.requires_grad is False
    (hidden @ weights[2]).sum().backward()
    assert [w.grad is None for w in weights] == [True, True, False]


def tutorial_b() -> None:
    """An introduction to autograd."""
    a = torch.tensor([2.0, 3.0], requires_grad=True)
    b = torch.tensor([6.0, 4.0], requires_grad=True)
    Q = 3 * a**3 - b**2
    assert Q.tolist() == [-12, 65]

    external_grad = torch.tensor([1, 1])
    Q.backward(gradient=external_grad)
    print("B:", 9 * a**2 == a.grad, -2 * b == b.grad)
    assert (9 * a**2 == a.grad).tolist() == [True, True]
    assert (-2 * b == b.grad).tolist() == [True, True]
    assert a.grad.tolist() == [36, 81]
    assert b.grad.tolist() == [-12, -8]

    # The other way to write it needs a new Q: the first pass has freed the graph.
    try:
        Q.sum().backward()
    except RuntimeError as error:
        print("B: refused:", error)
    else:
        raise AssertionError("a second pass through a freed graph")
    a.grad = b.grad = None
    (3 * a**3 - b**2).sum().backward()
    assert a.grad.tolist() == [36, 81]


def tutorial_c() -> None:
    """The dynamic graph, and the options of backward and grad."""
    torch.manual_seed(10)

    def built() -> tuple[torch.Tensor, ...]:
        w = torch.tensor([1.0], requires_grad=True)
        x = torch.tensor([2.0], requires_grad=True)
        a = torch.add(w, x)
        b = torch.add(w, 1)
        return w, x, a, b, torch.mul(a, b)

    w, x, a, b, y = built()
    print("C:", a.requires_grad, b.requires_grad, y.requires_grad)
    assert (a.requires_grad, b.requires_grad, y.requires_grad) == (True, True, True)
    print("C:", w.is_leaf, x.is_leaf, a.is_leaf, b.is_leaf, y.is_leaf)
    assert [t.is_leaf for t in (w, x, a, b, y)] == [True, True, False, False, False]
    print("C:", w.grad_fn, x.grad_fn, a.grad_fn, b.grad_fn, y.grad_fn)

    # retain_graph
    y.backward(retain_graph=True)
    print("C:", w.grad)
    assert w.grad.tolist() == [5]
    y.backward()
    print("C:", w.grad)
    assert w.grad.tolist() == [10]

    # retain_grad: gradients of what is no leaf are dropped, unless they are asked for.
    w, x, a, b, y = built()
    a.retain_grad()
    y.backward()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        print("C:", w.grad, x.grad, a.grad, b.grad, y.grad)
        assert (a.grad.tolist(), b.grad, y.grad) == ([2], None, None)

    # grad_tensors: the weights of several outputs
    w, x, a, b, y0 = built()
    y1 = torch.add(a, b)
    loss = torch.cat([y0, y1], dim=0)
    grad_tensors = torch.tensor([1.0, 2.0])
    loss.backward(gradient=grad_tensors)
    print("C:", w.grad)
    assert w.grad.tolist() == [9]

    # autograd.grad, twice
    x = torch.tensor([3.0], requires_grad=True)
    y = torch.pow(x, 2)
    grad_1 = torch.autograd.grad(y, x, create_graph=True)
    print("C:", grad_1)
    assert grad_1[0].tolist() == [6]
    grad_2 = torch.autograd.grad(grad_1[0], x)
    print("C:", grad_2)
    assert grad_2[0].tolist() == [2]

    # Gradients add up, unless they are zeroed.
    w = torch.tensor([1.0], requires_grad=True)
    x = torch.tensor([2.0], requires_grad=True)
    seen = []
    for _ in range(4):
        a = torch.add(w, x)
        b = torch.add(w, 1)
        y = torch.mul(a, b)
        y.backward()
        seen.append(w.grad.item())
        w.grad.zero_()
    print("C:", seen)
    assert seen == [5, 5, 5, 5]

    # a = a + 1 makes a tensor, a += 1 changes it.
    a = torch.ones((1,))
    first = id(a)
    b = a + torch.ones((1,))
    a += torch.ones((1,))
    print("C:", id(a) == first, id(b) == first, a)
    assert (id(a) == first, id(b) == first, a.tolist()) == (True, False, [2])

    # A leaf that requires a gradient is not changed in place.
    w, x, a, b, y = built()
    try:
        w.add_(1)
    except RuntimeError as error:
        print("C: refused:", error)
    else:
        raise AssertionError("a leaf was changed")
    y.backward()
    assert w.grad.tolist() == [5]


if __name__ == "__main__":
    tutorial_a()
    tutorial_b()
    tutorial_c()
