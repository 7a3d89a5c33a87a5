"""Tables up to a hundred wavelengths, by surface waves and branch cuts, against Sommerfeld integrals."""

import numpy as np
import pytest
from test_tables import BOARD, GROUND, TWO, envelope

import calderon as cal
from calderon.layers.limits.distant import distant_greens
from calderon.layers.radiation import surface_waves
from calderon.layers.sommerfeld import horizontal_greens
from calderon.layers.tables import table_of

THIN = cal.Stack([cal.Layer(0.2e-3, 2.2)], below="pec")
THICK = cal.Stack([cal.Layer(10e-3, 4.0)], below="pec")
CASES = {
    "one pole": (BOARD, 12e9, 1.575e-3, 1.575e-3, 5),
    "two poles, losses": (TWO, 30e9, 1e-3, 1.5e-3, 5),
    "five poles, leaky ones": (THICK, 20e9, 10e-3, 10e-3, 20),
    "a pole 7e-5 from k0": (THIN, 5e9, 0.2e-3, 0.2e-3, 5),
    "a lossy half-space": (GROUND, 14e6, 0.0, 0.0, 5),
}
USUAL = "five poles, leaky ones"


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.variant] * (name != USUAL)) for name in CASES])
def test_tables_give_the_integrals_up_to_a_hundred_wavelengths(name):
    stack, frequency, z, source, start = CASES[name]
    sections = stack.at(frequency)
    wavelength = 2 * np.pi / sections.k0
    rho = wavelength * np.geomspace(9, 100, 30)
    found = table_of(sections, z, source, 100.1 * wavelength)(rho)
    expected = horizontal_greens(sections, rho, z, source)
    for one, other in zip(found, expected, strict=True):
        assert (np.abs(one - other) / envelope(other, rho)).max() < 1e-6
    sums = distant_greens(sections, z, source, 100 * wavelength)
    assert sums.start == pytest.approx(start * wavelength)


@pytest.mark.parametrize(("height", "eps", "waves"), [(1e-5, 1.00001, 0), (1e-5, 1.0001, 0), (1e-5, 1.001, 1)])
def test_poles_that_rounding_moves_to_the_branch_point_are_left_out(height, eps, waves):
    """Poles are 2e-16, 2e-14 and 2e-12 of k0 beyond k0."""
    sections = cal.Stack([cal.Layer(height, eps)], below="pec").at(10e9)
    rho = np.geomspace(0.1, 12, 8) * 2 * np.pi / sections.k0
    assert len(surface_waves(sections, height)) == waves
    found = table_of(sections, height, height, 1.1 * rho.max())(rho)
    expected = horizontal_greens(sections, rho, height, height)
    for one, other in zip(found, expected, strict=True):
        assert (np.abs(one - other) / envelope(other, rho)).max() < 1e-5  # images at such a height nearly cancel


def test_waves_in_vacuum_and_between_walls():
    """exp(ikr) / (4 pi r) without a pole; none where walls keep the field."""
    sections = cal.Stack([cal.Layer(3e-3)]).at(10e9)
    rho = np.array([0.2, 1.0, 3.0])
    r = np.hypot(rho, 3e-3)
    found = distant_greens(sections, 3e-3, 0.0, 3.0)(rho)
    assert np.allclose(found, np.exp(1j * sections.k0 * r) / (4 * np.pi * r), rtol=1e-9, atol=0)
    closed = cal.Stack([cal.Layer(3e-3, 2.2), cal.Layer(3e-3)], below="pec", above="pec").at(10e9)
    assert distant_greens(closed, 3e-3, 3e-3, 3.0) is None
    assert distant_greens(sections, 3e-3, 0.0, 0.2) is None
