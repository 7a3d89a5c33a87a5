"""Point charges in a ball in salt water against the series of Kirkwood."""

import numpy as np
import pytest
from scipy.special import eval_legendre

import calderon as cal

CHARGES = [([0, 0, 1.0], 1e-9), ([0, 0, -1.0], -2e-9), ([0.5, 0.8, 0], 1.5e-9)]


def kirkwood(kappa, radius=2.0, inner=4.0, outer=80.0, given=CHARGES):
    """1/2 sum q u of given charges in the field that the water reflects, by orders of Legendre functions; slope: r k_n'
    over k_n of modified spherical Bessel functions. J. G. Kirkwood, J. Chem. Phys. 2 (1934), 351."""
    x, ratio, total = kappa * radius, 1.0, 0.0
    places, charges = (np.array(each) for each in zip(*given, strict=True))
    sizes = np.linalg.norm(places, axis=1)
    cosines = np.clip(places @ places.T / np.outer(sizes, sizes), -1, 1)
    for n in range(60):
        slope = -(x * ratio + n + 1)
        factor = (outer * slope + inner * (n + 1)) / (inner * n - outer * slope)
        powers = np.outer(sizes, sizes) ** n / radius ** (2 * n + 1)
        total += factor * charges @ (powers * eval_legendre(n, cosines)) @ charges
        ratio = 1 / (ratio + (2 * n + 1) / x) if x else 0.0
    return total / (8 * np.pi * cal.exact.VACUUM_PERMITTIVITY * inner)


@pytest.mark.parametrize("kappa", [0.0, pytest.param(1e-4, marks=pytest.mark.variant), 0.125, 1.0])
def test_charges_in_a_ball_in_salt_water(kappa):
    water = cal.Region(permittivity=80.0, debye_length=1 / kappa if kappa else None)
    ball = {"molecule": cal.Region("all", permittivity=4.0)}
    problem = cal.StaticProblem(cal.mesh.sphere(2.0, 0.5), ball, outside=water)
    found = problem.solve(sources=[cal.PointCharge(*each) for each in CHARGES])
    assert found.solvation_energy == pytest.approx(kirkwood(kappa), rel=3e-4)


def test_energies_of_charges_to_four_digits():
    """A dipole, and three equal charges: edges of a fifth of the radius."""
    dipole = [([0, 0, 1.0], 1e-9), ([0, 0, -1.0], -1e-9)]
    equal = [(place, 1e-9) for place, _ in CHARGES]
    water = cal.Region(permittivity=80.0, debye_length=8.0)
    problem = cal.StaticProblem(cal.mesh.sphere(2.0, 0.4), {"m": cal.Region("all", permittivity=4.0)}, outside=water)
    found = problem.solve_all([{"sources": [cal.PointCharge(*one) for one in each]} for each in (dipole, equal)])
    for each, one in zip((dipole, equal), found, strict=True):
        assert one.solvation_energy == pytest.approx(kirkwood(0.125, given=each), rel=1e-4)


def test_forces_among_ions_are_those_of_energies():
    """A charged ball of metal next to a charge in a dielectric, in salt water, whose pressure counts."""

    def solve(distance):
        mesh = {"glass": cal.mesh.sphere(1.0, 0.4), "metal": cal.mesh.sphere(0.8, 0.32).translated([distance, 0, 0])}
        water = cal.Region(permittivity=80.0, debye_length=1.2)
        glass = {"glass": cal.Region("glass", permittivity=4.0)}
        problem = cal.StaticProblem(cal.mesh.joined(mesh), glass, {"metal": "metal"}, outside=water)
        return problem.solve(charges={"metal": 2e-9}, sources=[cal.PointCharge([0.2, 0, 0], 1e-9)])

    forces = solve(2.4).forces()
    by_energy = (solve(2.35).energy - solve(2.45).energy) / 0.1
    assert forces["metal"][0] == pytest.approx(by_energy, rel=0.02)
    assert np.abs(forces["metal"][1:]).max() < 0.02 * by_energy
