"""Fourier transforms: element types, named sizes, refusals, and identities of the transform."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, DTypeError, ShapeError

RNG = np.random.default_rng(3)


@pytest.mark.parametrize(
    ("given", "spectrum"),
    [
        ("float16", "complex64"),
        ("float32", "complex64"),
        ("float64", "complex128"),
        ("complex64", "complex64"),
        ("complex128", "complex128"),
        ("int32", "complex128"),
    ],
)
def test_precision_is_kept(given: str, spectrum: str):
    x = sg.ones(4, dtype=given)
    assert sg.fft.fft(x).dtype == spectrum
    assert sg.fft.ifft(sg.placeholder("x", (4,), given)).dtype == spectrum
    if not given.startswith("complex"):
        assert sg.fft.rfft(x).dtype == spectrum
    back = "float32" if spectrum == "complex64" else "float64"
    assert sg.fft.irfft(x).dtype == sg.fft.hfft(x).dtype == back


def test_named_sizes():
    x = sg.placeholder("x", ("batch", "n"))
    half = sg.fft.rfft(x)
    assert str(half.type) == "c128[batch, n//2 + 1]"
    back = sg.fft.irfft(half, n=x.shape[1])
    energy = sg.sum(sg.abs(half) ** 2)
    run = sg.function([x], [back, sg.grad(energy, x)[0]])
    for n in (1, 2, 5, 6):
        given = RNG.normal(size=(3, n))
        returned, slope = run(given)
        np.testing.assert_allclose(returned, given, atol=1e-14)
        # Parseval: the energy of the half spectrum is n times that of the signal, but for the
        # points that a half one lacks.
        spectrum = np.fft.fft(given)
        spectrum[:, n // 2 + 1 :] = 0
        np.testing.assert_allclose(slope, 2 * n * np.fft.ifft(spectrum).real, atol=1e-12)


def test_a_named_size_can_be_cut_and_padded():
    x = sg.placeholder("x", ("n",))
    run = sg.function([x], sg.fft.fft(x, n=4))
    for n in (2, 4, 7):
        given = RNG.normal(size=n)
        np.testing.assert_allclose(run(given), np.fft.fft(given, 4), atol=1e-14)


def test_named_frequencies():
    x = sg.placeholder("x", ("n",))
    (n,) = x.shape
    run = sg.function([x], [sg.fft.fftfreq(n, d=0.5) + 0 * x, sg.fft.fftshift(x)])
    for size in (1, 4, 5):
        given = np.arange(float(size))
        found, shifted = run(given)
        np.testing.assert_allclose(found, np.fft.fftfreq(size, 0.5))
        np.testing.assert_array_equal(shifted, np.fft.fftshift(given))


@pytest.mark.parametrize("n", [1, 2, 3, 8, 9])
def test_frequencies_are_those_of_numpy(n: int):
    np.testing.assert_array_equal(sg.fft.fftfreq(n, d=0.3).numpy(), np.fft.fftfreq(n, 0.3))
    np.testing.assert_array_equal(sg.fft.rfftfreq(n, d=0.3).numpy(), np.fft.rfftfreq(n, 0.3))
    assert sg.fft.fftfreq(n, dtype=sg.float32).dtype == sg.float32


@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
def test_inverses(norm: str):
    x = RNG.normal(size=(4, 5)) + 1j * RNG.normal(size=(4, 5))
    for there, back in ((sg.fft.fft, sg.fft.ifft), (sg.fft.fftn, sg.fft.ifftn)):
        np.testing.assert_allclose(back(there(x, norm=norm), norm=norm).numpy(), x, atol=1e-14)
    real = x.real.copy()
    back = sg.fft.irfftn(sg.fft.rfftn(real, norm=norm), s=(4, 5), norm=norm)
    np.testing.assert_allclose(back.numpy(), real, atol=1e-14)
    back = sg.fft.hfft(sg.fft.ihfft(real, norm=norm), n=5, norm=norm)
    np.testing.assert_allclose(back.numpy(), real, atol=1e-14)


def test_ends_of_a_half_spectrum_are_taken_as_real():
    x = np.array([1 + 5j, 2 + 1j, 3 - 7j])
    np.testing.assert_allclose(sg.fft.irfft(x).numpy(), np.fft.irfft(x))
    z = sg.placeholder("z", (3,), "complex128")
    slope = sg.grad(sg.sum(sg.fft.irfft(z) ** 2), z)[0].eval({z: x})
    assert slope.imag[[0, 2]].tolist() == [0.0, 0.0]


def test_strides_and_emptiness():
    x = RNG.normal(size=(4, 6))
    np.testing.assert_allclose(sg.fft.fft(x[::-1, ::2]).numpy(), np.fft.fft(x[::-1, ::2]))
    assert sg.fft.fft(np.zeros((0, 3))).shape == (0, 3)
    assert sg.fft.rfft(np.zeros((0, 3))).shape == (0, 2)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: sg.fft.fft(x, n=0), ShapeError, "needs points: .* at least 1, got 0"),
        (lambda x: sg.fft.fft(x[:0]), ShapeError, "needs points"),
        (lambda x: sg.fft.irfft(x[:1]), ShapeError, "needs points"),
        (lambda x: sg.fft.fft(x, norm="none"), ArgumentError, "no such norm: .*'none'"),
        (lambda x: sg.fft.hfft(x, norm=None), ArgumentError, "no such norm"),
        (lambda x: sg.fft.fft(x, axis=1), ShapeError, "axis"),
        (lambda x: sg.fft.fftn(x, s=(2, 2)), ShapeError, "axis"),
        (lambda x: sg.fft.fftn(x, s=(2,), axes=(0, 0)), ShapeError, "given twice"),
        (lambda x: sg.fft.fftn(x, s=(2, 2), axes=(0,)), ShapeError, "one size per axis"),
        (lambda x: sg.fft.rfftn(x, axes=()), ShapeError, "no axis to transform"),
        (lambda x: sg.fft.fft(x, n=2.5), ArgumentError, "number of points"),
        (lambda x: sg.fft.rfft(x + 1j), DTypeError, "expected floating"),
        (lambda x: sg.fft.fftfreq(3, dtype="int64"), DTypeError, "frequencies are real"),
        (lambda x: sg.fft.fftfreq(0), ShapeError, "needs points"),
    ],
)
def test_refusals(call, error, message):
    for x in (sg.ones(4), sg.placeholder("x", (4,))):
        with pytest.raises(error, match=message):
            call(x)
