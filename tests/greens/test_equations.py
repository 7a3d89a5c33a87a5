"""Green's functions solve their equation: Laplacian G + k^2 G = -delta, as the compiled kernels evaluate them."""

import functools

import numpy as np
import pytest

from calderon.backends.numba import kernel
from calderon.backends.vectors import lanes, load, store
from catalogue import GREENS

SPREADS = [0.0, np.inf]
"""Bounds of k (r - reference): the compiled form that is shifted in phase, and the one that is not. Distances up to 3
stay within the range of the former, and of the digits of exponentials that decay (their error is an absolute one)."""
STENCIL = np.array([-1 / 560, 8 / 315, -1 / 5, 8 / 5, -205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560])
"""Second derivative by central differences of eighth order (Fornberg 1988), of first derivatives: SLOPES."""
SLOPES = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280])
STEPS = np.arange(-4, 5)

every_form = pytest.mark.parametrize(("name", "spread"), [(name, spread) for name in GREENS for spread in SPREADS])


@functools.cache
def evaluator(value):
    @kernel
    def run(r2, parameters, reference, out):
        for v in range(0, r2.size, lanes(r2)):
            parts = value(load(r2, v), parameters, load(reference, v))
            for part in range(4):
                store(out[part], v, parts[part])

    return run


@functools.cache
def phases(phase):
    @kernel
    def run(parameters, reference, out):
        for v in range(0, reference.size, lanes(reference)):
            re, im = phase(load(reference, v), parameters)
            store(out[0], v, re)
            store(out[1], v, im)

    return run


def compiled(green, r, spread=np.inf, real=np.float64, multiple=False):
    """G and G'/r at distances r, of any shape; shifted forms take reference distances of 0.8 r.

    multiple: by the form with fewer operations, where there is one.
    """
    radial = green.radial(spread)
    distances = np.zeros(-(-r.size // 16) * 16, real) + real(1)
    distances[: r.size] = r.ravel()
    reference, out, turn = (
        real(0.8) * distances,
        np.zeros((4, distances.size), real),
        np.ones((2, distances.size), real),
    )
    parameters = tuple(real(each) for each in green.parameters)
    evaluator(radial.multiple if multiple else radial.value)(distances**2, parameters, reference, out)
    phases(radial.phase)(parameters, reference, turn)
    values, slopes = out[0] + 1j * out[1], out[2] + 1j * out[3]
    if not green.is_complex:
        values, slopes, turn[1] = out[0] + 0j, out[2] + 0j, 0
    if multiple:
        bits = 8 * np.dtype(real).itemsize
        values, slopes = values * radial.lacking(False, bits), slopes * radial.lacking(True, bits)
    shape = (turn[0] + 1j * turn[1]) / (4 * np.pi)
    return tuple((shape * each)[: r.size].reshape(r.shape) for each in (values, slopes))


def wavenumber(name):
    return complex(GREENS[name].wavenumber)


@every_form
def test_the_equation_holds_away_from_the_source(name, spread):
    random = np.random.default_rng(0)
    x, r = random.standard_normal((100, 3)), np.geomspace(0.1, 2.5, 100)
    x *= (r / np.linalg.norm(x, axis=1))[:, None]
    steps = 0.03 * r[:, None, None, None] * STEPS[:, None] * np.eye(3)[:, None, :]
    values, _ = compiled(GREENS[name], np.linalg.norm(x[:, None, None] + steps, axis=3), spread)
    laplacian = (values @ STENCIL).sum(axis=1) / (0.03 * r) ** 2
    middle, k = values[:, 0, 4], wavenumber(name)
    assert (np.abs(laplacian + k**2 * middle) < 1e-6 * np.abs(middle) * (r**-2 + abs(k) ** 2)).all()


@every_form
def test_slopes_are_derivatives_of_values(name, spread):
    r = np.geomspace(0.01, 2.7, 200)
    values, _ = compiled(GREENS[name], r[:, None] * (1 + 0.02 * STEPS), spread)
    _, slopes = compiled(GREENS[name], r, spread)
    found = values @ SLOPES / (0.02 * r)
    assert (np.abs(found - slopes * r) < 1e-6 * np.abs(slopes * r)).all()


@every_form
@pytest.mark.parametrize("radius", [1e-3, 0.5, 2.0])
def test_the_source_has_strength_one(name, spread, radius):
    """By Gauss's theorem: the flux through a sphere and k^2 times the integral over the ball make -1."""
    nodes, weights = np.polynomial.legendre.leggauss(30)
    r = radius * (nodes + 1) / 2
    values, _ = compiled(GREENS[name], r, spread)
    _, slope = compiled(GREENS[name], np.array([radius]), spread)
    content = 4 * np.pi * (values * r**2) @ weights * radius / 2
    flux = 4 * np.pi * radius**3 * slope[0]
    assert abs(flux + wavenumber(name) ** 2 * content + 1) < 1e-9


@pytest.mark.parametrize("name", GREENS)
def test_waves_leave_and_others_decay(name):
    """Sommerfeld's condition: G' - i k G = O(1 / r^2), under the time factor exp(-i omega t)."""
    r = np.linspace(1.0, 8.0, 60)
    values, slopes = compiled(GREENS[name], r)
    assert (np.abs(slopes * r - 1j * wavenumber(name) * values) < 1.001 * np.abs(values) / r).all()


@every_form
@pytest.mark.parametrize(("real", "bound"), [(np.float64, 1e-11), (np.float32, 1e-5)])
def test_all_compiled_forms_agree(name, spread, real, bound):
    """Shifted in phase or not, in either precision, and the form with fewer operations."""
    r = np.linspace(0.05, 2.5, 160).astype(real)
    exact = compiled(GREENS[name], r.astype(np.float64))
    found = [compiled(GREENS[name], r, spread, real)]
    if GREENS[name].radial(spread).multiple is not None:
        found.append(compiled(GREENS[name], r, spread, real, multiple=True))
    for quantities in found:
        for one, other in zip(quantities, exact, strict=True):
            assert (np.abs(one - other) < bound * np.abs(other)).all()
