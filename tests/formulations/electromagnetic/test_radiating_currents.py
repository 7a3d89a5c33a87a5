"""The field of a dipole represented by its currents on a closed surface (Stratton and Chu), at second order."""

import numpy as np
import pytest

import calderon as cal
from calderon.formulations import RadiatingCurrents

K, ETA = 3.0, 2.0
OUTSIDE = np.array([[1.0, 0.2, 0.3], [-0.8, 0.9, 0.1], [0.1, -0.7, 0.9], [0, 0, -0.6]])
INSIDE = np.array([[0.2, 0.2, 0.2], [-0.3, 0.1, -0.2], [0.0, -0.25, 0.3]])


def huygens(dipole, h, sign=1, **options):
    """J = n x H and M = -n x E of the dipole on a cube of side 1, or with the other sign."""
    space = cal.RWG(cal.mesh.cube(1.0, h))
    electric = cal.VectorFunction.interpolate(space, lambda x, n: sign * np.cross(n, dipole.magnetic(x)))
    magnetic = cal.VectorFunction.interpolate(space, lambda x, n: -sign * np.cross(n, dipole.electric(x)))
    return RadiatingCurrents(K, ETA, (electric,), (magnetic,), **options)


def errors(currents, dipole, points, exact):
    """Relative errors of E and H at points where the fields are `exact` times those of the dipole."""
    found = (currents.electric(points), currents.magnetic(points))
    fields = (dipole.electric(points), dipole.magnetic(points))
    return np.array([np.linalg.norm(a - exact * b) / np.linalg.norm(b) for a, b in zip(found, fields, strict=True)])


@pytest.mark.parametrize("kind", [cal.ElectricDipole, cal.MagneticDipole])
def test_dipole_inside_is_represented_outside_and_vanishes_inside(kind):
    dipole = kind(position=[0.1, -0.05, 0.08], moment=[0.3, 1.0, -0.5], wavenumber=K, impedance=ETA)
    pair = [huygens(dipole, h) for h in (0.2, 0.1)]
    for points, exact in ((OUTSIDE, 1), (INSIDE, 0)):
        coarse, fine = (errors(currents, dipole, points, exact) for currents in pair)
        assert np.all(fine < 1e-2) and np.all(np.abs(np.log2(coarse / fine) - 2) < 0.3), (coarse, fine)
    far = dipole.far_field(OUTSIDE / np.linalg.norm(OUTSIDE, axis=1)[:, None])
    coarse, fine = (np.linalg.norm(c.far_field(OUTSIDE) - far) for c in pair)
    assert fine < 1e-2 * np.linalg.norm(far) and abs(np.log2(coarse / fine) - 2) < 0.3
    power = pair[1].far_field_square() / (2 * ETA)
    assert power == pytest.approx(dipole.radiated_power(), rel=1e-2)


def test_dipole_outside_is_represented_inside_and_vanishes_outside():
    dipole = cal.ElectricDipole(position=[1.1, 0.4, 0.3], moment=[0.3, 1.0, -0.5], wavenumber=K, impedance=ETA)
    pair = [huygens(dipole, h, sign=-1) for h in (0.2, 0.1)]
    for points, exact in ((INSIDE, 1), (OUTSIDE[1:], 0)):
        coarse, fine = (errors(currents, dipole, points, exact) for currents in pair)
        assert np.all(fine < 1e-2) and np.all(np.abs(np.log2(coarse / fine) - 2) < 0.4), (coarse, fine)


def test_power_that_currents_give_is_what_they_radiate():
    """In a medium without loss; of both kinds of current, also on two surfaces."""
    dipole = cal.ElectricDipole(position=[0.1, -0.05, 0.08], moment=[0.3, 1.0, -0.5], wavenumber=K, impedance=ETA)
    both = huygens(dipole, 0.25)
    (j,), (m,) = both.electric_currents, both.magnetic_currents
    space = cal.RWG(cal.mesh.sphere(0.4, 0.3).translated([1.2, 0.1, 0.0]))
    other = [cal.VectorFunction.interpolate(space, lambda x, n, f=f: np.cross(n, f(x))) for f in (np.cos, np.sin)]
    alone, two = RadiatingCurrents(K, ETA, (j,)), RadiatingCurrents(K, ETA, (j, other[0]), (m, other[1]))
    for currents in (alone, both, two):
        assert currents.delivered_power() == pytest.approx(currents.far_field_square() / (2 * ETA), rel=1e-5)


def test_quadrature_is_far_below_the_interpolation():
    """The rest of the error at two mesh sizes is the h^2 of the currents: extrapolated, little remains, and a
    higher degree of the rules changes nothing that counts."""
    dipole = cal.ElectricDipole(position=[0.1, -0.05, 0.08], moment=[0.3, 1.0, -0.5], wavenumber=K, impedance=ETA)
    coarse, fine = huygens(dipole, 0.2), huygens(dipole, 0.1)
    extrapolated = (4 * fine.electric(OUTSIDE) - coarse.electric(OUTSIDE)) / 3
    exact = dipole.electric(OUTSIDE)
    assert np.linalg.norm(extrapolated - exact) < 1e-3 * np.linalg.norm(exact)
    higher = huygens(dipole, 0.1, quadrature=cal.Quadrature(regular=12))
    difference = np.linalg.norm(higher.electric(OUTSIDE) - fine.electric(OUTSIDE))
    assert difference < 1e-6 * np.linalg.norm(exact), difference / np.linalg.norm(exact)
