"""Far fields through a closed surface of element faces."""

import numpy as np
import pytest

import calderon as cal
from calderon.dg.results.far_field import enclosed, equivalent_currents

IMPEDANCE = cal.exact.VACUUM_IMPEDANCE
FREQUENCY = 3e8
LENGTH = cal.exact.SPEED_OF_LIGHT / FREQUENCY
WAVENUMBER = 2 * np.pi / LENGTH
WAVE = cal.TransientPlaneWave([0, 0, 1], [1, 0, 0], FREQUENCY, amplitude=2.0)


def directions(number=12):
    points = np.random.default_rng(0).standard_normal((number, 3))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def relative_error(found, exact):
    """Root of the mean square."""
    return np.linalg.norm(found - exact) / np.linalg.norm(exact)


def open_box(half, cells, order, sources=(WAVE,)):
    mesh = cal.mesh.box([-half] * 3, [half] * 3, cells=cells)
    return cal.MaxwellDG(mesh, order, materials={}, boundaries={"wall": "absorbing"}, sources=sources)


def test_dipole_inside_and_plane_wave_from_outside():
    """The dipole's far field from interpolated exact fields; a wave that passes adds nothing."""
    dipole = cal.exact.hertz_dipole(WAVENUMBER, [1, 2j, -1], [0.02, -0.01, 0.03], impedance=IMPEDANCE)
    domain = open_box(0.4, 6, 4)._domain
    points = domain.element_blocks.points()
    inside = np.abs(domain.part.mesh.centroids).max(axis=1) < 0.27
    center = np.linalg.norm(points, axis=2).min(axis=1) < 0.1  # the field at the dipole is not looked at
    fields = []
    for name in ("electric", "magnetic"):
        moved = np.where(center[:, None, None], 1.0, points).reshape(-1, 3)
        values = getattr(dipole, name)(moved) + getattr(WAVE.amplitudes, name)(moved)
        fields.append(values.reshape(points.shape))
    currents = equivalent_currents(domain, WAVENUMBER, inside, *fields)
    exact = dipole.far_field(directions())
    assert np.abs(currents.far_field(3 * directions()) - exact).max() < 2e-3 * np.abs(exact).max()
    assert currents.radiated_power() == pytest.approx(dipole.radiated_power(), rel=2e-3)


def driven_dipole(order, radius, materials, speed):
    """A dipole of 0.01 A m in a box of a wavelength."""
    mesh = cal.mesh.box([-LENGTH / 2] * 3, [LENGTH / 2] * 3, cells=6)
    source = cal.CurrentDipole([0.01, 0.02, -0.01], [0, 0, 0.01], cal.RampedSine(speed / LENGTH), radius=radius)
    options = {"materials": materials, "boundaries": {"wall": "absorbing"}, "sources": [source]}
    return cal.MaxwellDG(mesh, order, **options).run_until_periodic(speed / LENGTH, periods=4)


def test_units_of_fields_and_powers():
    """Without materials eta = 1: E, F and powers of a current are those in SI units over eta, and H is the same. The
    far field carries the power of the dipole."""
    found, point, own = [], [[0.25, 0, 0.16]], {"radius": 0.35 * LENGTH, "center": [0, 0, 0]}
    for materials, speed in (({}, cal.exact.SPEED_OF_LIGHT), (None, 1.0)):
        result = driven_dipole(2, LENGTH / 6, materials, speed)
        powers = [result.ports["dipole"].power, result.outward_power(), result.radiated_power(**own)]
        fields = result.electric(point), result.far_field(1.0, 0.3, **own), np.array(powers)
        found.append([result.magnetic(point), *fields])
    for one, other, ratio in zip(*found, [1.0] + 3 * [IMPEDANCE], strict=True):
        assert relative_error(one, ratio * other) < 1e-6
    exact = cal.exact.hertz_dipole(WAVENUMBER, [0, 0, 0.01], impedance=IMPEDANCE).radiated_power()
    assert powers[2] * IMPEDANCE == pytest.approx(exact, rel=0.01)


def test_what_is_fed_leaves_through_the_walls():
    result = driven_dipole(3, 0.3 * LENGTH, {}, cal.exact.SPEED_OF_LIGHT)
    assert result.outward_power() == pytest.approx(result.ports["dipole"].power, rel=0.01)


def sphere_in_a_wave(body, radius, room):
    """A simulation of a sphere of one material in air up to `room`, and its series."""
    mesh = cal.mesh.layered_ball([radius], ["body"], room, [LENGTH / 10, LENGTH / 4])
    boundaries, materials = {"outer": "absorbing"}, {}
    if body == "conductor":
        mesh = cal.mesh.without_part(mesh, "body", "metal")
        exact = cal.exact.mie_pec_sphere(WAVENUMBER, radius, amplitude=2.0, impedance=IMPEDANCE)
        boundaries["metal"] = "pec"
    else:
        materials["body"] = cal.Material(permittivity=2.0)
        exact = cal.exact.mie_dielectric_sphere(WAVENUMBER, radius, 2.0, amplitude=2.0, impedance=IMPEDANCE)
    simulation = cal.MaxwellDG(mesh, 2, "upwind", materials=materials, boundaries=boundaries, sources=[WAVE])
    return simulation, exact


@pytest.mark.parametrize("body", ["conductor", pytest.param("dielectric", marks=pytest.mark.variant)])
def test_sphere_against_the_series(body):
    """Near field at 12 points, far field, cross-section and scattered power within 3 %."""
    pytest.importorskip("gmsh")
    radius = LENGTH / 4
    simulation, exact = sphere_in_a_wave(body, radius, 1.1 * LENGTH)
    result = simulation.run_until_periodic(FREQUENCY, periods=5)
    near = relative_error(result.electric(1.4 * radius * directions()), exact.electric(1.4 * radius * directions()))
    far = [relative_error(result.far_field(directions(), radius=surface), exact.far_field(directions()))
           for surface in (None, 1.6 * radius)]  # fmt: skip
    power = exact.scattering_cross_section() * 2.0**2 / (2 * IMPEDANCE)
    assert max(near, *far) < 0.03
    assert result.radiated_power() == pytest.approx(power, rel=0.03)
    angles = np.linspace(0, np.pi, 7)
    assert relative_error(result.scaled(3.0).rcs(angles, 0.0), exact.rcs(angles, 0.0)) < 0.06  # squares of the field


def test_mistakes_are_named():
    domain = open_box(0.4, 4, 1)._domain
    mesh = domain.part.mesh
    with pytest.raises(ValueError, match="meets absorbing faces: choose another radius than 0.6 m"):
        enclosed(domain, mesh, 0.6, None)
    with pytest.raises(ValueError, match="no tetrahedron"):
        enclosed(domain, mesh, 1e-3, [0.05, 0.0, 0.0])
    closed = cal.MaxwellDG(cal.mesh.box([0, 0, 0], [1, 1, 1], cells=2), 1)
    with pytest.raises(ValueError, match="no faces absorb"):
        enclosed(closed._domain, closed.mesh, None, None)
    source = cal.CurrentDipole([0, 0, 0.1], [0, 0, 1], cal.RampedSine(FREQUENCY), radius=0.2)
    driven = open_box(0.4, 8, 1, [source])
    with pytest.raises(ValueError, match="tetrahedra at a body or a current lie outside the surface"):
        enclosed(driven._domain, driven.mesh, 0.1, None)
    with pytest.raises(ValueError, match="one plane wave"):
        driven.run_until_periodic(FREQUENCY, periods=2).rcs(0.0, 0.0)


def test_without_a_part():
    mesh = cal.mesh.box([0, 0, 0], [1, 1, 1], cells=4)
    tags = (np.abs(mesh.centroids - 0.5).max(axis=1) < 0.25).astype(int)
    mesh = cal.TetrahedralMesh(mesh.vertices, mesh.tetrahedra, tags, {"air": 0, "metal": 1}, None, None, {"wall": 0})
    hollow = cal.mesh.without_part(mesh, "metal", "conductor")
    assert hollow.volumes.sum() == pytest.approx(1 - 1 / 8)
    assert (hollow.face_tags == hollow.face_names["conductor"]).sum() == 6 * 2 * 4
    assert (hollow.face_tags == hollow.face_names["wall"]).sum() == 6 * 2 * 16
    with pytest.raises(ValueError, match="no part 'brain': choose 'air', 'metal'"):
        cal.mesh.without_part(mesh, "brain")
