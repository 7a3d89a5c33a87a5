"""Regions between surfaces are found from the meshes."""

import numpy as np
import pytest

import calderon as cal
from calderon.formulations.checks import enclosing_surfaces
from calderon.formulations.electromagnetic.dielectric_regions import (
    innermost,
    region,
    regions_between,
)


@pytest.fixture(scope="module")
def ball():
    return cal.mesh.sphere(radius=1.0, h=0.4)


def test_nesting_does_not_depend_on_order(ball):
    meshes = [ball.scaled(0.3).translated([0.4, 0, 0]), ball, ball.scaled(0.1).translated([0.4, 0, 0]),
              ball.scaled(0.2).translated([-0.5, 0, 0]), ball.translated([3, 0, 0])]  # fmt: skip
    parents = enclosing_surfaces(meshes)
    assert parents.tolist() == [1, -1, 0, 1, -1]
    points = np.array([[0.4, 0, 0], [0.4, 0.2, 0], [0, 0, 0.5], [-0.5, 0, 0], [3, 0, 0], [1.5, 0, 0]])
    assert innermost(meshes, points).tolist() == [3, 1, 2, 4, 5, 0]
    regions = regions_between(parents, 1.0, [2.0, 3.0, 4.0, 5.0, 6.0], [1.0] * 5)
    assert regions[0].surfaces == ((1, 1), (4, 1))
    assert regions[2].surfaces == ((1, -1), (0, 1), (3, 1))
    assert [each.permittivity for each in regions] == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


def test_surfaces_that_touch_or_cross_are_refused(ball):
    with pytest.raises(ValueError, match="must not cross"):
        enclosing_surfaces([ball, ball.translated([0.9, 0, 0])])
    with pytest.raises(ValueError, match="touch"):
        enclosing_surfaces([ball, ball])
    cube = cal.mesh.cube(size=1.0, h=0.25)
    with pytest.raises(ValueError, match="touch"):
        enclosing_surfaces([cube, cube.translated([1.0, 0, 0])])
    shell = cal.mesh.merge([ball, ball.scaled(0.5)])
    with pytest.raises(ValueError, match="separate meshes"):
        enclosing_surfaces([shell])
    with pytest.raises(ValueError, match="a mesh of its own"):
        enclosing_surfaces([ball, cal.mesh.merge([ball.scaled(0.3), ball.scaled(0.3).translated([3, 0, 0])])])


@pytest.mark.parametrize(("e", "m"), [(4 + 0.1j, 1.0), (-10 + 1j, 1.0), (2.0, 3 + 0.1j), (2.5 - 0.2j, 1.0)])
def test_wavenumber_and_impedance_satisfy_maxwell(e, m):
    """k z = k0 mu and k / z = k0 eps, with the wavenumber -k where the operators are conjugated."""
    medium = region([], 2.0, e, m)
    k = -medium.wavenumber.conjugate() if medium.conjugated else medium.wavenumber
    assert medium.wavenumber.imag >= 0 and medium.wavenumber.real > 0
    assert medium.conjugated == (np.imag(e) < 0)
    assert k * medium.impedance == pytest.approx(2.0 * m)
    assert k / medium.impedance == pytest.approx(2.0 * e)


@pytest.mark.parametrize(("e", "m"), [(-1.5 + 0.2j, -1.2 + 0.1j), (-1.0, -1.0), (-4.0, 1 + 0.1j)])
def test_negative_refractive_indices_are_refused(ball, e, m):
    for made in (lambda: region([], 1.0, e, m), lambda: cal.DielectricScattering(ball, 1.0, e, m)):
        with pytest.raises(ValueError, match=r"a negative refractive index \(-.* is not computed"):
            made()
    assert region([], 1.0, -4.0, 1.0).wavenumber == 2j


def test_media_by_frequency(ball):
    """Constants at the frequency of the problem, also of a sweep; salt water conducts."""
    water = cal.Material(permittivity=80.0, conductivity=4.0)
    shell = cal.mesh.sphere(0.1, h=0.1)
    ball = ball.scaled(0.5 * shell.diameter / ball.diameter)
    media = [water, lambda f: 2 + 1e-10j * f]
    problem = cal.DielectricScattering([shell, ball], frequency=3e6, permittivity=media)
    for each, f in ((problem, 3e6), (problem.at(2 * problem.wavenumber), 6e6)):
        found = [region.permittivity for region in each.regions[1:]]
        assert found == pytest.approx([cal.exact.conducting_permittivity(80.0, 4.0, f), 2 + 1e-10j * f])
    with pytest.raises(ValueError, match="a Material has a permeability of its own"):
        cal.DielectricScattering(shell, 1.0, water, 2.0)
