"""Coils and capacitors between layers at low frequency: as in free space, and with the losses of their metal."""

import functools

import numpy as np
import pytest

import calderon as cal
from calderon.exact import SPEED_OF_LIGHT, VACUUM_IMPEDANCE

INNER, OUTER = 0.010, 0.014
AIR = cal.Stack([cal.Layer(2e-3)])
pytestmark = pytest.mark.filterwarnings("ignore:wavenumber times diameter")


def ring() -> tuple[cal.mesh.TriangleMesh, cal.DeltaGap]:
    mesh = cal.planar.ring(OUTER, INNER, 3e-3, z=AIR.top)
    x, y, _ = mesh.vertices.T
    on = (abs(y) < 1e-9) & (x > 0)
    return mesh, cal.DeltaGap(edges=np.flatnonzero(on[mesh.edges].all(axis=1)), toward=[0, 1, 0])


MESH, GAP = ring()


@functools.cache
def in_free_space(frequency):
    return cal.PECAntenna(MESH, frequency=frequency, feed=GAP).solve().input_impedance


@pytest.mark.parametrize("method", ["dense", "hmatrix", "fft"])
def test_a_ring_in_air_is_that_of_free_space(method):
    for frequency in (1e3, 1e6):
        free = in_free_space(frequency)
        z = cal.PlanarProblem(AIR, MESH, ports=[GAP]).impedance_matrix(frequency, method=method)[0, 0]
        assert z.imag == pytest.approx(free.imag, rel=2e-5)
        assert z.real == pytest.approx(free.real, rel=0.2 if frequency < 1e4 else 1e-3) and z.real > 0
    k = 2 * np.pi * frequency / SPEED_OF_LIGHT
    assert free.real == pytest.approx(np.pi / 6 * VACUUM_IMPEDANCE * (k * 0.012) ** 4, rel=0.1)


@pytest.mark.parametrize("method", ["dense", "hmatrix"])
def test_a_resistive_ring_has_the_resistance_of_an_even_current(method):
    """2 pi R_s / log(r_2 / r_1), where the resistance is larger than the reactance by 1e5; polygons are a little
    shorter."""
    problem = cal.PlanarProblem(AIR, MESH, ports=[GAP], sheet=1.0)
    z = problem.impedance_matrix(1e3, method=method)[0, 0]
    assert z.real == pytest.approx(2 * np.pi / np.log(OUTER / INNER), rel=2e-2)
    small = cal.PlanarProblem(AIR, MESH, ports=[GAP], sheet=1e-9).impedance_matrix(1e6, method=method)[0, 0]
    assert 1e-9 * z.real < small.real < 3e-9 * z.real


def test_currents_and_charges_of_a_solution_are_consistent():
    solution = cal.PlanarProblem(AIR, MESH, ports=[GAP]).solve(1e3)
    assert solution.input_power == pytest.approx(solution.radiated_power(), rel=1e-6) and solution.input_power > 0
    assert "loops and charges apart" in solution.info.matrix
