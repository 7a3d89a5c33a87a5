"""Specific absorption rates of bodies at one frequency, against the field in a lossy sphere and balances of power."""

from dataclasses import replace

import numpy as np
import pytest

import calderon as cal
from calderon.data.sar import averaged_sar

FREQUENCY, RADIUS, VOXEL, MASS = 5e8, 0.05, 0.01, 0.1
TISSUE = cal.Material(4.0, conductivity=0.2, density=1000.0)
PLACES = np.array([[0, 0, 0], [0, 0, -0.03], [0.02, 0.01, 0.01]])
K = 2 * np.pi * FREQUENCY / 299792458.0
WAVE = cal.ElectromagneticPlaneWave([0, 0, 1], [1, 0, 0], K)


def rate(points):
    """W/m^3 in the sphere by Mie's series."""
    exact = cal.exact.layered_sphere([RADIUS], {"ball": TISSUE}, FREQUENCY)
    return TISSUE.conductivity / 2 * (np.abs(exact.electric(points)) ** 2).sum(axis=1)


@pytest.fixture(scope="module")
def ball():
    return cal.mesh.sphere(RADIUS, 0.02)


@pytest.fixture(scope="module")
def solution(ball):
    return cal.DielectricScattering(ball, frequency=FREQUENCY, permittivity=TISSUE).solve(WAVE)


def test_rates_in_a_lossy_sphere(solution):
    """Local rates and averages over cubes are those of Mie's series, and the integral over voxels is what the body
    takes from the wave and does not scatter."""

    def sample(points):
        inside = np.linalg.norm(points, axis=1) < RADIUS
        return 1000.0 * inside, rate(points) * inside

    np.testing.assert_allclose(solution.local_sar(PLACES), rate(PLACES) / 1000, rtol=0.02)
    assert np.isnan(solution.local_sar([[0, 0, 2 * RADIUS]])).all()
    found = solution.averaged_sar(MASS, VOXEL)
    assert len(repr(found)) < 120 and "kg" in repr(found)
    absorbed = solution.extinction_cross_section() - solution.scattering_cross_section()
    assert found.power == pytest.approx(absorbed / (2 * cal.exact.VACUUM_IMPEDANCE), rel=0.01)
    expected = averaged_sar(sample, found.corner, found.local.shape, VOXEL, MASS)
    assert found.maximum == pytest.approx(expected.maximum, rel=0.02)
    assert found.whole_body == pytest.approx(expected.whole_body, rel=0.02)
    assert found.local_maximum > found.maximum > found.whole_body


def test_regions_of_touching_bodies_have_the_same_rates(ball, solution):
    regions = {"air": cal.Material(), "ball": TISSUE}
    surfaces = {int(ball.tags[0]): cal.Interface("air", "ball")}
    found = cal.MaxwellProblem(ball, regions=regions, surfaces=surfaces, frequency=FREQUENCY).solve(WAVE)
    np.testing.assert_allclose(found.local_sar(PLACES), solution.local_sar(PLACES), rtol=1e-3)


def test_magnetic_loss_counts(solution):
    """|H|^2 of the same field with an imaginary permeability instead of the permittivity's."""
    around, inside = solution.regions
    magnetic = replace(inside, permittivity=inside.permittivity.real, permeability=1 + 0.5j)
    found = replace(solution, regions=(around, magnetic)).local_sar(PLACES)
    field = replace(solution, regions=(around, magnetic)).magnetic(PLACES)
    loss = K * cal.exact.VACUUM_IMPEDANCE * 0.5 / 2 * (np.abs(field) ** 2).sum(axis=1)
    np.testing.assert_allclose(found, loss / 1000, rtol=1e-12)


def test_rates_in_tetrahedra(solution):
    """Local rates are those of Mie's series, averages those by the surface, and all of them together what enters."""
    pytest.importorskip("skfem")
    pytest.importorskip("gmsh")
    constant, volume = solution.regions[1].permittivity, cal.mesh.ball(RADIUS, 0.02)
    given = {"frequency": FREQUENCY, "permittivity": constant}
    found = cal.InhomogeneousDielectric(volume, density=1000.0, **given).solve(WAVE)
    np.testing.assert_allclose(found.local_sar(PLACES), rate(PLACES) / 1000, rtol=0.02)
    assert np.isnan(found.local_sar([[0, 0, 2 * RADIUS]])).all()
    average, other = found.averaged_sar(MASS, VOXEL), solution.averaged_sar(MASS, VOXEL)
    assert average.power == pytest.approx(found.absorbed_power(), rel=0.01)
    assert average.maximum == pytest.approx(other.maximum, rel=0.03)
    assert average.whole_body == pytest.approx(other.whole_body, rel=0.01)
    # tensors, and a permeability instead of the permittivity, of the same field
    tensors = replace(found, permittivity=found.permittivity[:, None, None] * np.eye(3))
    np.testing.assert_allclose(tensors.local_sar(PLACES), found.local_sar(PLACES), rtol=1e-12)
    magnetic = replace(
        found, permittivity=tensors.permittivity.real, inverse_permeability=np.full(len(volume.tags), 1 / (1 + 0.5j))
    )
    loss = K * cal.exact.VACUUM_IMPEDANCE * 0.5 / 2 * (np.abs(magnetic.magnetic(PLACES)) ** 2).sum(axis=1)
    np.testing.assert_allclose(magnetic.local_sar(PLACES), loss / 1000, rtol=1e-12)
    # half of the body is no tissue
    half = replace(found, density=np.where(volume.centroids[:, 2] < 0, found.density, 0.0))
    assert (
        np.isnan(half.local_sar([[0, 0, 0.03]])).all() and half.averaged_sar(MASS, VOXEL).weight < 0.6 * average.weight
    )
    with pytest.raises(ValueError, match=r"need InhomogeneousDielectric\(..., density=\)"):
        replace(found, density=None).local_sar(PLACES)
    with pytest.raises(ValueError, match="density=-1.0 has negative or complex values"):
        cal.InhomogeneousDielectric(volume, density=-1.0, **given)


def test_refusals(ball, solution):
    bare = cal.DielectricScattering(ball, frequency=FREQUENCY, permittivity=4 + 7j)
    with pytest.raises(ValueError, match=r"need a density: give the medium of a body as Material"):
        replace(solution, regions=bare.regions).local_sar(PLACES)
    with pytest.raises(ValueError, match="less than one cube of 1 kg"):
        solution.averaged_sar(1.0, VOXEL)
    currents = replace(solution.currents, impedance=1.0)
    with pytest.raises(ValueError, match="need fields in SI units: give the problem frequency="):
        replace(solution, currents=currents).averaged_sar(MASS, VOXEL)
    with pytest.raises(ValueError, match="would count the image of the body"):
        replace(solution, currents=replace(solution.currents, share=0.5)).averaged_sar(MASS, VOXEL)
