"""The vectorised elementary functions against NumPy, and the refusals of Green's functions."""

import numba
import numpy as np
import pytest

import calderon as cal
from calderon.backends.vectors import lanes, load, store
from calderon.greens.elementary import (
    cube_factor,
    decaying_exponential,
    inverse_cube,
    inverse_cube_multiple,
    inverse_square_root,
    inverse_square_root_multiple,
    root_factor,
    short_exponential,
    short_sine_cosine,
    sine_cosine,
)


@numba.njit
def _full(x, out):
    for v in range(0, x.size, lanes(x)):
        a = load(x, v)
        s, c = sine_cosine(a)
        store(out[0], v, s)
        store(out[1], v, c)
        store(out[2], v, inverse_square_root(a))
        store(out[3], v, decaying_exponential(a))
        store(out[4], v, inverse_cube(a))
        store(out[5], v, inverse_square_root_multiple(a))
        store(out[6], v, inverse_cube_multiple(a))


@numba.njit
def _short(x, out):
    for v in range(0, x.size, lanes(x)):
        a = load(x, v)
        s, c = short_sine_cosine(a)
        store(out[0], v, s)
        store(out[1], v, c)
        store(out[2], v, short_exponential(a))


@pytest.mark.parametrize(
    "real, bound, root, cube, top", [(np.float64, 2e-15, 6e-13, 4e-12, 1e5), (np.float32, 1e-6, 1e-6, 1e-6, 1e3)]
)
def test_elementary_functions(real, bound, root, cube, top):
    x = np.concatenate([np.linspace(1e-6, 20, 5120), np.linspace(20, top, 5120)]).astype(real)
    out = np.zeros((7, x.size), real)
    _full(x, out)
    exact = x.astype(np.longdouble)
    assert np.abs(out[0] - np.sin(exact)).max() < bound
    assert np.abs(out[1] - np.cos(exact)).max() < bound
    assert np.abs(out[2] * np.sqrt(exact) - 1).max() < root
    assert np.abs(out[3] - np.exp(-exact)).max() < bound
    range_of_exponential = 600 if real == np.float64 else 60
    near = exact < range_of_exponential
    relative = np.abs(out[3][near] / np.exp(-exact[near]) - 1) / (1 + exact[near])  # with the rounding of x
    assert relative.max() < bound / 4
    assert np.abs(out[3] * np.exp(range_of_exponential) - 1)[~near].max() < range_of_exponential * bound
    assert np.all(out[3] > 0)
    assert np.abs(out[4] * exact**1.5 + 1).max() < cube
    bits = 8 * x.itemsize
    assert np.abs(root_factor(bits) * out[5] * np.sqrt(exact) - 1).max() < root
    assert np.abs(cube_factor(bits) * out[6] * exact**1.5 + 1).max() < cube


@pytest.mark.parametrize("real, bound", [(np.float64, 2e-13), (np.float32, 1e-6)])
def test_short_forms(real, bound):
    x = np.linspace(-1.6, 1.6, 4096).astype(real)
    out = np.zeros((3, x.size), real)
    _short(x, out)
    exact = x.astype(np.longdouble)
    assert np.abs(out[0] - np.sin(exact)).max() < bound
    assert np.abs(out[1] - np.cos(exact)).max() < bound
    assert np.abs(out[2] / np.exp(-exact) - 1).max() < bound


def test_green_functions_refuse_growth_and_nonsense():
    with pytest.raises(ValueError, match="finite"):
        cal.Helmholtz(float("nan"))
    with pytest.raises(ValueError, match="decay"):
        cal.ModifiedHelmholtz(-1.0)
    assert cal.ModifiedHelmholtz(2).wavenumber == 2j
