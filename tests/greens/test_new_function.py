"""A Green's function from outside of the package, with five parameters: one file in Python and one in C."""

from dataclasses import dataclass

import numpy as np
import pytest

import calderon as cal
from calderon.backends.vectors import jitable
from calderon.greens import Radial
from calderon.greens.elementary import decaying_exponential, inverse_square_root
from calderon.greens.green import no_phase


@jitable
def value(r2, parameters, reference):
    """The mean of five decaying waves, and the slope."""
    i = inverse_square_root(r2)
    r = r2 * i
    g, h = r2 * 0.0, r2 * 0.0
    for decay in parameters:
        part = 0.2 * i * decaying_exponential(decay * r)
        g, h = g + part, h - (part + decay * r * part) * (i * i)
    return g, g, h, h


TWIN = """/* The twin of test_new_function.py. */
#include "backends/prelude.h"
#define PARAMETERS 5

DEVICE void green(real_type r2, const real_type *p, real_type *g, real_type *gi, real_type *h, real_type *hi)
{
    real_type i = inverse_square_root(r2), r = r2 * i;
    *g = *gi = *h = *hi = R(0.0);
    for (int n = 0; n < PARAMETERS; n++) {
        real_type part = R(0.2) * i * exponential(-p[n] * r);
        *g += part;
        *h -= (part + p[n] * r * part) * (i * i);
    }
}
"""
RADIAL = Radial(value, no_phase, False, 5)
DECAYS = (0.3, 0.5, 0.7, 1.0, 1.5)


@dataclass(frozen=True)
class FiveDecays:
    """G = sum of exp(-w r) / (4 pi r) / 5 for five decays w."""

    source: str
    parameters: tuple[float, ...] = DECAYS
    is_complex = False
    wavenumber = 1.5j  # the largest, for rules

    def radial(self, spread):
        return RADIAL


@pytest.fixture(scope="module")
def green(tmp_path_factory):
    file = tmp_path_factory.mktemp("twin") / "five_decays.h"
    file.write_text(TWIN, encoding="utf-8")
    return FiveDecays(str(file))


@pytest.fixture(scope="module")
def mesh():
    return cal.mesh.sphere(1.3, h=0.45)


def test_every_method_has_it(green, mesh):
    """Each method gives the mean of five functions of the package."""
    space = cal.P1(mesh)
    exact = sum(cal.double_layer(cal.Helmholtz(1j * each), space).assemble().to_array() for each in DECAYS) / 5
    for method in ("dense", "hmatrix"):
        found = cal.double_layer(green, space).assemble(method).to_array()
        assert np.abs(found - exact).max() < 2e-6 * np.abs(exact).max()


@pytest.mark.variant
def test_equivalent_sources_of_the_function_itself(green):
    """Boxes of all sizes have them, on two cubes: on one, whose potentials say nothing of those farther out for a
    function that solves no Helmholtz equation, errors stay above 1e-3. Next to another function of the same
    wavenumber, whose equivalent sources are its own."""
    space = cal.P1(cal.mesh.sphere(1.0, 0.09))
    rows, x = np.arange(0, space.dimension, 100), np.random.default_rng(0).standard_normal(space.dimension)
    rtol, operator = 1e-3, cal.single_layer(green, space) + 0.5 * cal.single_layer(cal.ModifiedHelmholtz(1.5), space)
    fast = operator.assemble("mlfmm", rtol=rtol)
    assert len(fast.media) == 2 and fast.dtype == float
    assert all(levels and all(level.points for level in levels) for levels in fast.levels)
    exact = operator.entries(rows, slice(None)) @ x
    assert np.linalg.norm((fast @ x)[rows] - exact) < rtol * np.linalg.norm(exact)


def test_what_waves_alone_have_is_refused(green, mesh, opencl):
    operator = cal.single_layer(green, cal.P1(mesh))
    with pytest.raises(ValueError, match="which is no wave, on the CPU"):
        operator.assemble("mlfmm", backend="opencl")
    with pytest.raises(ValueError, match="for Laplace's equation 'fmm'"):
        cal.single_layer(cal.Laplace(), cal.P1(mesh)).assemble("mlfmm")


def test_what_needs_a_helmholtz_equation_is_refused(green, mesh):
    with pytest.raises(NotImplementedError, match="single-layer potential needs a solution of .*solves_helmholtz"):
        cal.single_layer_potential(green, cal.P1(mesh).interpolation(1.0))
    with pytest.raises(NotImplementedError, match="hypersingular"):
        cal.hypersingular(green, cal.P1(mesh))


def test_devices_build_its_twin(green, mesh, opencl):
    operator = cal.double_layer(green, cal.P1(mesh))
    exact = operator.assemble().to_array()
    assert np.abs(operator.assemble(backend="opencl").to_array() - exact).max() < 1e-10 * np.abs(exact).max()
