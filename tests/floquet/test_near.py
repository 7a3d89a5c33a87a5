"""The part of the spectra that is summed in space: what is left decays with the fifth power of the wavenumber."""

import numpy as np
import pytest

import calderon as cal
from calderon.floquet.near import tails
from calderon.floquet.voltages import admittances, voltages

STACKS = {
    "vacuum": cal.Stack([]),
    "interface": cal.Stack([], below=cal.Layer(eps_r=9.0, mu_r=2.0)),
    "board": cal.Stack([cal.Layer(2e-3, eps_r=2.2 + 0.1j)], below="pec"),
    "magnetic board": cal.Stack([cal.Layer(2e-3, eps_r=3.0, mu_r=4.0)], below="pmc"),
}


@pytest.mark.parametrize("name", STACKS)
def test_tails_match_two_terms_of_the_spectra(name):
    stack = STACKS[name]
    sections, decays, k = stack.at(12e9), np.array([1000.0, 2000.0]), np.array([2e4, 4e4])
    line = voltages(sections, k, stack.top, stack.top)
    vector, charge = (each.spectrum(decays, k) for each in tails(sections, stack.top))
    k0 = sections.k0
    rest = line[1] + 1j * k0 * vector, line[0] - line[1] - 1j * k**2 * charge / k0
    for each, whole in zip(rest, (k0 * vector, k**2 * charge / k0), strict=True):
        relative = np.abs(each / whole)
        assert relative[1] < 1e-5
        assert np.log2(relative[0] / relative[1]) == pytest.approx(4, abs=0.15)


def test_voltages_are_impedances_of_half_spaces_in_parallel():
    stack = STACKS["interface"]
    sections, k = stack.at(12e9), np.array([0.0, 100.0, 700.0, 5000.0])
    total = admittances(sections, k, 0) + admittances(sections, k, 1)
    assert np.allclose(voltages(sections, k, 0.0, 0.0), 1 / total, rtol=1e-12)
