"""The vectorised elementary functions against NumPy, and the refusals of Green's functions."""

import numba
import numpy as np
import pytest

import calderon as cal
from calderon.backends.numba import ARITHMETIC
from calderon.greens.elementary import decaying_exponential, inverse_square_root, sine_cosine


@pytest.mark.parametrize("real, bound, top", [(np.float64, 2e-15, 1e5), (np.float32, 1e-6, 1e3)])
def test_elementary_functions(real, bound, top):
    @numba.njit(fastmath=ARITHMETIC, error_model="numpy")
    def run(x, out):
        for i in range(x.size):
            out[0, i], out[1, i] = sine_cosine(x[i])
            out[2, i] = inverse_square_root(x[i])
            out[3, i] = decaying_exponential(x[i])

    x = np.concatenate([np.linspace(1e-6, 20, 5000), np.linspace(20, top, 5000)]).astype(real)
    out = np.zeros((4, x.size), real)
    run(x, out)
    exact = x.astype(np.longdouble)
    assert np.abs(out[0] - np.sin(exact)).max() < bound
    assert np.abs(out[1] - np.cos(exact)).max() < bound
    assert np.abs(out[2] * np.sqrt(exact) - 1).max() < max(bound, 1e-13)
    assert np.abs(out[3] - np.exp(-exact)).max() < bound


def test_green_functions_refuse_growth_and_nonsense():
    with pytest.raises(ValueError, match="finite"):
        cal.Helmholtz(float("nan"))
    with pytest.raises(ValueError, match="decay"):
        cal.ModifiedHelmholtz(-1.0)
    assert cal.ModifiedHelmholtz(2).wavenumber == 2j
