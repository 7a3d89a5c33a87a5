"""A steel shell in water against its series, and by its own modes."""

import warnings
from functools import cache

import numpy as np
import pytest

import calderon as cal
from calderon.coupling.elastic.thin_walls import bending_error, gaussian_curvature

pytest.importorskip("skfem")
STEEL = cal.ElasticMaterial.from_wave_speeds(7700.0, longitudinal=5950.0, shear=3240.0)
WATER = cal.Fluid(1000.0, 1500.0)
ANGLES = np.linspace(0, np.pi, 19)


def difference(one, other):
    far, exact = one.far_field(ANGLES, 0.0), other.far_field(ANGLES, 0.0)
    return np.abs(far - exact).max() / np.abs(exact).max()


def solved(body, ka):
    given = {} if isinstance(body, cal.Structure) else {"material": STEEL}
    return cal.ElasticScattering(body, ka, fluid=WATER, **given).solve(cal.PlaneWave([0, 0, 1]))


@pytest.mark.parametrize(("ka", "h", "bound"), [(0.5, 0.6, 2e-3), (2.0, 0.4, 3.5e-2)])
def test_a_shell_of_one_layer_has_the_mass_and_the_stiffness_of_the_series(ka, h, bound):
    """The mass counts at ka = 0.5: a wall behind a sphere whose area is too large is wrong by 1 to 2 %."""
    wall = cal.mesh.spherical_shell(1.0, 0.02, h=h)
    assert difference(solved(wall, ka), cal.exact.elastic_shell(ka, 1.0, 0.98, STEEL, WATER)) < bound


@cache
def coarse():
    """A shell of 5 % with 240 tetrahedra."""
    wall = cal.mesh.spherical_shell(1.0, 0.05, h=0.6)
    return cal.ElasticScattering(wall, 1.0, material=STEEL, fluid=WATER).body


@cache
def expected():
    """Its solutions."""
    return {ka: solved(coarse().structure, ka) for ka in (1.0, 2.0, 3.0)}


def test_a_shell_by_its_matrices():
    assert difference(solved(coarse().volume, 2.0), expected()[2.0]) < 1e-9


@pytest.mark.parametrize(("number", "bound"), [(40, 1e-2), (80, 1e-3)])
def test_a_shell_by_its_modes_and_their_static_rest(number, bound):
    """40 modes reach to ka = 4.8."""
    body, shift = coarse(), 750.0**2
    whole = body.structure
    frequencies, shapes = whole.modes(number, shift)
    nodes = cal.coupling.trace(body.basis, cal.P2(whole.surface))
    there = np.stack([nodes @ part for part in np.split(shapes, 3)], axis=1).transpose(2, 0, 1)
    modal = cal.Structure.from_modes(frequencies, there, whole.space, rest=whole.static_rest(shift))
    assert max(difference(solved(modal, ka), each) for ka, each in expected().items()) < bound


@pytest.mark.parametrize(
    ("ka", "given", "steps"),
    [
        (1.0, {}, (15, 8, 8)),
        pytest.param(3.0, {}, (60, 40, 16), marks=pytest.mark.variant),
        pytest.param(3.0, {"inside": cal.Fluid(870.0, 1380.0)}, (60, 40, 25), marks=pytest.mark.variant),
    ],
)
def test_modes_around_the_frequency_precondition(ka, given, steps):
    """A thin shell has many modes in vacuo, of which a rigid body knows nothing."""
    wall = cal.mesh.spherical_shell(1.0, 0.02, h=0.6)
    lossy = cal.ElasticMaterial.from_wave_speeds(7700.0, 5950.0, 3240.0, loss_factor=1e-3 if given else 0.0)
    problem, wave = cal.ElasticScattering(wall, ka, material=lossy, fluid=WATER, **given), cal.PlaneWave([0, 0, 1])
    direct, taken = problem.solve(wave, method="dense"), []
    for preconditioner in ("mass", "osrc", "modes"):
        options = {"solver": "gmres", "rtol": 1e-6, "preconditioner": preconditioner}
        found = problem.solve(wave, method="dense", **options)
        assert difference(found, direct) < 1e-4
        taken.append(found.info.iterations)
    assert taken[0] > steps[0] and taken[1] > steps[1] and taken[2] < steps[2], taken
    assert "80 modes in vacuo" in str(found.info)


def test_the_error_of_a_mode_of_bending():
    """It is of second order in the elements of a wavelength, for thin walls whatever their thickness."""
    coarse, fine = (bending_error(elements, 0.05, 0.3) for elements in (8, 16))
    assert fine < 0.01 and coarse / fine == pytest.approx(4.0, rel=0.1)
    assert bending_error(8, 0.02, 0.3) == pytest.approx(coarse, rel=0.05)
    assert gaussian_curvature(cal.mesh.sphere(2.0, h=0.7)) == pytest.approx(0.25, rel=0.05)
    assert gaussian_curvature(cal.mesh.cylinder(0.5, 2.0, h=0.3)) < 1e-6


def test_walls_that_bend_too_little():
    """A plate with 4.4 elements in a wavelength of 0.88; a shell at the same frequency is below that of its ring."""
    plate, frequency = cal.mesh.thickened(cal.mesh.plate((1.0, 1.0), 0.25), 0.04), 500.0
    given = {"frequency": frequency, "material": STEEL, "fluid": WATER}
    with pytest.warns(cal.AccuracyWarning, match=r"wavelength of 0\.8.*modes with it are 1\d % too high"):
        cal.ElasticScattering(plate, **given)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cal.ElasticScattering(coarse().volume, **given)
        cal.ElasticScattering(plate, **given | {"frequency": frequency / 9})
