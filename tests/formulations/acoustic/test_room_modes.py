"""Resonances of rooms against those of boxes in closed form."""

import numpy as np
import pytest

import calderon as cal

pytestmark = pytest.mark.filterwarnings("ignore:.*elements per wavelength")
AIR = cal.Fluid(1.2, 343.0)
SIZE = np.array([1.0, 0.7, 0.5])
RIGID = [3.14159, 4.48799, 5.47829, 6.28319, 6.28319, 7.02481, 7.72142, 7.72142]
HERTZ = AIR.speed_of_sound / (2 * np.pi)


def box(h):
    """The box with its corner in the origin and the tag 1 at x = 1, 0 elsewhere."""
    mesh = cal.mesh.cuboid(SIZE, h)
    mesh = cal.TriangleMesh(mesh.vertices - mesh.bounds[0], mesh.triangles)
    return cal.TriangleMesh(mesh.vertices, mesh.triangles, (mesh.centroids[:, 0] > 1 - 1e-9).astype(int))


def wavenumbers(modes):
    return np.array([each.wavenumber for each in modes])


def room(h, conditions=None):
    return cal.AcousticProblem(box(h), 3.0, fluid=AIR, side="interior", conditions=conditions)


def checked(h, high, bound, imaginary):
    """The modes up to a wavenumber within relative bounds of real and imaginary parts."""
    exact = np.array([k for k in RIGID if k < high])
    modes = cal.resonances(room(h), 2.5 * HERTZ, high * HERTZ)
    k = wavenumbers(modes)
    assert k.shape == exact.shape, k
    assert np.abs(k.real / exact - 1).max() < bound, k
    assert np.abs(k.imag / k.real).max() < imaginary, k
    return modes


def test_a_rigid_box_has_its_modes_with_their_multiplicities():
    modes = checked(0.25, 6.6, 6e-3, 1e-2)
    along = modes[0]  # cos(pi x)
    points = np.array([[0.1, 0.2, 0.3], [0.6, 0.3, 0.2], [0.85, 0.5, 0.25]])
    found = along.field(points)
    assert np.abs(found / found[0] - np.cos(np.pi * points[:, 0]) / np.cos(0.1 * np.pi)).max() < 0.02
    assert np.abs(along.field([[1.5, 0.3, 0.3], [0.5, 1.4, 0.2]])).max() < 0.02
    assert along.frequency == pytest.approx(along.wavenumber * HERTZ)
    assert np.abs(along.surface.coefficients).max() == pytest.approx(1)


@pytest.mark.variant
@pytest.mark.parametrize(
    "conditions",
    [None, pytest.param({1: cal.Impedance.relative(5.0)}, marks=pytest.mark.variant)],
    ids=["rigid", "lined"],
)
def test_even_and_odd_modes_of_half_a_room_are_those_of_the_room(conditions):
    """Half of a box on one side of z = 0, with a wall at x = 1 that may absorb: its even and its odd modes together
    are those of the whole, and their fields are even and odd."""
    slab = cal.mesh.cuboid(SIZE * [1, 1, 0.5], 0.35)
    slab = cal.TriangleMesh(slab.vertices - slab.bounds[0], slab.triangles[slab.centroids[:, 2] > slab.bounds[0, 2]])
    part = cal.TriangleMesh(slab.vertices, slab.triangles, (slab.centroids[:, 0] > 1 - 1e-9).astype(int))
    shared = {"fluid": AIR, "side": "interior", "conditions": conditions}
    band, points = (2.5 * HERTZ, 6.6 * HERTZ), np.array([[0.15, 0.2, 0.1], [0.7, 0.5, 0.2]])
    families, found = dict[str, list](), []
    for parity, sign in (("even", 1), ("odd", -1)):
        families[parity] = cal.resonances(cal.AcousticProblem(part, 3.0, mirrors={"z": parity}, **shared), *band)
        for mode in families[parity]:
            there = mode.field(points)
            assert np.abs(mode.field(points * [1, 1, -1]) - sign * there).max() < 1e-9 * np.abs(there).max()
            found.append(mode.wavenumber)
    assert [len(each) for each in families.values()] == [4, 1]  # the odd one is cos(2 pi z) as seen from a corner
    together = wavenumbers(cal.resonances(cal.AcousticProblem(part.mirrored("z"), 3.0, **shared), *band))
    assert np.abs(np.sort_complex(found) - np.sort_complex(together)).max() < 1e-6


@pytest.mark.variant
def test_modes_of_a_rigid_box_to_a_thousandth():
    checked(0.1, 8.0, 1e-3, 1e-3)


@pytest.mark.variant
def test_resonances_of_the_outside_are_left_out():
    """An ellipse so tall that it holds those of the soft body as seen from outside, Im k about -1 / size."""
    flat = wavenumbers(cal.resonances(room(0.25), 2.5 * HERTZ, 5.0 * HERTZ))
    tall = wavenumbers(cal.resonances(room(0.25), 2.5 * HERTZ, 5.0 * HERTZ, height=1.5))
    assert tall.shape == flat.shape and np.abs(tall - flat).max() < 1e-5


def test_walls_that_absorb_shift_resonances_into_the_complex_plane():
    """b = 0.2 at x = 1: k = n pi - i atanh b along x."""
    lined = room(0.25, {1: cal.Impedance.relative(5.0)})
    modes = cal.resonances(lined, 2.5 * HERTZ, 5.7 * HERTZ)
    exact = np.array([np.pi - 0.20273j, 4.51623 - 0.09399j, 5.48727 - 0.20655j])
    assert np.abs(wavenumbers(modes) / exact - 1).max() < 5e-3
    assert modes[0].quality == pytest.approx(np.pi / (2 * 0.20273), rel=0.03)


@pytest.mark.variant
def test_resonances_of_a_room_that_absorbs_to_two_thousandths():
    lined = room(0.125, {1: cal.Impedance.relative(5.0)})
    k = wavenumbers(cal.resonances(lined, 2.5 * HERTZ, 6.6 * HERTZ))
    exact = np.array([np.pi - 0.20273j, 4.51623 - 0.09399j, 5.48727 - 0.20655j, 2 * np.pi - 0.20273j])
    assert all(np.abs(k / each - 1).min() < 2e-3 for each in exact), k


@pytest.mark.parametrize(
    "method, backend", [pytest.param("hmatrix", "numba", marks=pytest.mark.variant), ("dense", "opencl")]
)
def test_modes_by_h_matrices_and_devices_are_those_of_dense_matrices(method, backend):
    """Waves that grow, too: half of the contour has Im k < 0."""
    band = 2.5 * HERTZ, 5.0 * HERTZ
    dense = wavenumbers(cal.resonances(room(0.35), *band))
    found = wavenumbers(cal.resonances(room(0.35), *band, method=method, backend=backend))
    assert found.shape == dense.shape == (2,) and np.abs(found - dense).max() < 1e-7


def test_what_has_no_resonances_is_refused():
    mesh = box(0.5)
    outside = cal.AcousticProblem(mesh, 3.0, fluid=AIR)
    with pytest.raises(ValueError, match="resonances are those of rooms, side='interior'"):
        cal.resonances(outside, 100.0, 200.0)
    inside = cal.AcousticProblem(mesh, 3.0, fluid=AIR, side="interior")
    with pytest.raises(ValueError, match="between a lower and a higher frequency in Hz"):
        cal.resonances(inside, 200.0, 100.0)
    with pytest.raises(ValueError, match="reaches 0 Hz: divide the band"):
        cal.resonances(inside, 1.0, 200.0)
    with pytest.raises(ValueError, match="less than 2 elements per wavelength"):
        cal.resonances(inside, 500.0, 2000.0)
    with pytest.raises(ValueError, match="height is that of an ellipse"):
        cal.resonances(inside, 100.0, 200.0, height=5)
    with pytest.raises(ValueError, match="has no growing waves"):
        cal.resonances(inside, 100.0, 200.0, method="mlfmm")
    with pytest.raises(
        TypeError, match="resonances are those of an AcousticProblem, a PECScattering or an ElasticScattering"
    ):
        cal.resonances(cal.SoundHardScattering(mesh, 1.0), 100.0, 200.0)
    tabled = cal.Impedance.table([50.0, 500.0], [800.0, 900.0])
    lined = cal.AcousticProblem(mesh, 3.0, fluid=AIR, side="interior", conditions=tabled)
    with pytest.raises(ValueError, match="says nothing of complex frequencies"):
        cal.resonances(lined, 100.0, 200.0)
