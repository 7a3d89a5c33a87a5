"""Rates averaged over cubes, against averages that are known exactly."""

import tracemalloc

import numpy as np
import pytest

import calderon as cal
from calderon.data.sar import BYTES_OF_A_VOXEL, Origin, averaged_sar, cube_averages, voxel_midpoints

VOXEL, DENSITY, MASS = 0.002, 1000.0, 0.010
SIDE = (MASS / DENSITY) ** (1 / 3)  # 21.5 mm, 10.8 voxels
COUNT = 24
X = (np.arange(COUNT) + 0.5) * VOXEL


def block(power):
    """Averages in a cube of tissue of 48 mm with the power density (W/m^3) at the midpoints (x, y, z)."""
    grid = np.meshgrid(X, X, X, indexing="ij")
    return cube_averages(np.full((COUNT,) * 3, DENSITY), power(*grid), VOXEL, MASS)


def test_an_even_rate_is_its_average_everywhere():
    found = block(lambda x, y, z: 2.0 * DENSITY + 0 * x)
    assert np.abs(found.values - 2.0).max() < 1e-9
    assert {Origin.OWN, Origin.WITHIN, Origin.AT_FACE} == set(found.origin.ravel())
    own = found.origin == Origin.OWN
    np.testing.assert_allclose(found.sides[own], SIDE, rtol=1e-9)  # those that reach beyond a face have it all in air


def test_a_linear_rate_is_that_in_the_middle():
    found = block(lambda x, y, z: DENSITY * (3 * x + 2 * y - z + 1))
    inside = slice(6, -6)
    exact = 3 * X[:, None, None] + 2 * X[:, None] - X + 1
    assert np.abs(found.values - exact)[inside, inside, inside].max() < 1e-8


def test_a_quadratic_rate_adds_its_moment():
    """The mean of x^2 over the cube is that in the middle and SIDE^2 / 12, but for the steps of the voxels."""
    found = block(lambda x, y, z: DENSITY * x**2)
    middle = COUNT // 2
    exact = X[middle] ** 2 + SIDE**2 / 12
    assert found.values[middle, middle, middle] == pytest.approx(exact, abs=VOXEL**2 / 12)
    assert abs(X[middle] ** 2 / exact - 1) > 0.03  # the local rate is another


def test_decay_from_the_surface_is_averaged_over_the_cube_at_the_surface():
    """exp(-2 x / d): the largest average is that of the cube with one face at x = 0."""
    depth = 0.02
    found = block(lambda x, y, z: DENSITY * np.exp(-2 * x / depth))
    exact = depth / 2 / SIDE * (1 - np.exp(-2 * SIDE / depth))
    middle = COUNT // 2
    assert found.values[0, middle, middle] == pytest.approx(exact, rel=0.01)
    assert found.origin[0, middle, middle] == Origin.AT_FACE
    assert (np.diff(found.values[:middle, middle, middle]) <= 1e-12).all()


def test_two_tissues_share_a_cube_by_mass():
    """Half of the block is twice as dense and takes no power: a cube in the middle of the interface."""
    density = np.full((COUNT,) * 3, 1000.0)
    density[COUNT // 2 :] = 2000.0
    power = np.where(density == 1000.0, 3000.0, 0.0)
    found = cube_averages(density, power, VOXEL, MASS)
    n = COUNT // 2
    # the voxel just below the interface: a cube of side L holds L/2 + 1 mm of light tissue
    side = found.sides[n - 1, n, n]
    light = side / 2 + VOXEL / 2
    assert (1000 * light + 2000 * (side - light)) * side**2 == pytest.approx(MASS, rel=1e-9)
    assert found.values[n - 1, n, n] == pytest.approx(3000 * light * side**2 / MASS, rel=1e-9)


@pytest.mark.parametrize(("width", "valid"), [(3, True), (4, False)])
def test_a_tenth_of_a_cube_may_be_air(width, valid):
    """A canal through the block, three or four voxels wide: 7 or 12 % of a cube around it."""
    density = np.full((COUNT,) * 3, DENSITY)
    first = COUNT // 2 - 1
    density[first : first + width, first : first + width] = 0
    found = cube_averages(density, 0 * density + 1.0, VOXEL, MASS)
    outside = first + width, first, COUNT // 2
    assert (found.origin[outside] == Origin.OWN) == valid
    if valid:
        side = found.sides[outside]
        assert (side**2 - (width * VOXEL) ** 2) * side * DENSITY == pytest.approx(MASS, rel=1e-9)


def test_a_thin_sheet_has_no_cube_of_its_own():
    """More than a tenth of a cube around it is air; cubes at the face count, and hold 10 g."""
    density = np.zeros((44, 44, 4))
    density[2:-2, 2:-2, 1:-1] = DENSITY
    found = cube_averages(density, np.where(density > 0, DENSITY, 0.0), VOXEL, MASS)
    tissue = density > 0
    assert set(found.origin[tissue]) == {Origin.AT_FACE} and set(found.origin[~tissue]) == {0}
    assert np.isnan(found.values[~tissue]).all() and np.abs(found.values[tissue] - 1).max() < 1e-9


def test_less_tissue_than_a_cube_is_refused():
    with pytest.raises(ValueError, match="weighs 0.001 kg, less than one cube of 0.01 kg"):
        cube_averages(np.full((5, 5, 5), 1000.0), np.ones((5, 5, 5)), VOXEL, MASS)


def test_voxels_filled_in_part_steady_the_average_at_a_curved_surface():
    """Rates that decay from the front of an ellipsoid; the grid moves by half a voxel. With voxels of all or nothing
    the largest average changes by 7 %."""
    semi_axes, voxel = np.array([0.05, 0.04, 0.0575]), 0.0025

    def sample(points):
        inside = np.linalg.norm(points / semi_axes, axis=1) <= 1
        return DENSITY * inside, DENSITY * inside * np.exp(-(semi_axes[1] - points[:, 1]) / 0.01)

    counts = tuple(map(int, np.ceil(2 * semi_axes / voxel) + 2))
    largest, whole = [], []
    for shift in (0.0, 0.5):
        corner = -semi_axes - voxel + shift * voxel
        found = averaged_sar(sample, corner, counts, voxel, MASS)
        assert found.weight == pytest.approx(4 / 3 * np.pi * semi_axes.prod() * DENSITY, rel=1e-3)
        largest.append(found.maximum)
        density, power = (each.reshape(counts) for each in sample(_grid(corner, counts, voxel)))
        whole.append(np.nanmax(cube_averages(density, power, voxel, MASS).values))
    assert abs(largest[1] / largest[0] - 1) < 0.03 < abs(whole[1] / whole[0] - 1)


def _grid(corner, counts, voxel):
    return corner + voxel * np.stack(np.meshgrid(*map(np.arange, counts), indexing="ij"), axis=-1).reshape(-1, 3)


def test_rates_of_a_simulation():
    """A lossy box: the grid holds the tissue's mass and, about, the power absorbed; what enters through the boundary is
    what is absorbed."""
    mesh = cal.mesh.box([0, 0, 0], [0.12, 0.04, 0.04], cells=[6, 2, 2])
    tags = ((mesh.centroids[:, 0] > 0.04) & (mesh.centroids[:, 0] < 0.08)).astype(int)
    mesh = cal.TetrahedralMesh(mesh.vertices, mesh.tetrahedra, tags, {"air": 0, "tissue": 1})
    tissue = {"tissue": cal.Material(permittivity=4.0, conductivity=0.1, density=1000.0)}
    wave = cal.TransientPlaneWave([1, 0, 0], [0, 0, 1], 1e9)
    simulation = cal.MaxwellDG(mesh, 2, materials=tissue, boundaries={"wall": "absorbing"}, sources=[wave], courant=0.5)
    result = simulation.run_until_periodic(1e9, 8)
    absorbed = result.absorbed_power()["tissue"]
    assert result.outward_power() == pytest.approx(-absorbed, rel=0.03)
    average = result.averaged_sar(mass=0.010, voxel=0.002)
    assert average.weight == pytest.approx(0.04**3 * 1000, rel=1e-12)
    assert average.power == pytest.approx(absorbed, rel=0.01)
    assert average.local_maximum > average.maximum > average.whole_body > 0
    assert average.at(average.place) == pytest.approx(average.maximum)
    points = average.corner + average.voxel * np.array([[3, 5, 7], [10, 6, 15]])
    assert result.local_sar(points) == pytest.approx([average.local[3, 5, 7], average.local[10, 6, 15]])
    assert np.isnan(result.local_sar([[0.01, 0.02, 0.02]])).all() and np.isnan(average.at([0.01, 0.02, 0.02]))
    double = result.scaled(2.0)
    assert double.absorbed_power()["tissue"] == pytest.approx(4 * absorbed)
    assert double.averaged_sar(0.010, 0.002).maximum == pytest.approx(4 * average.maximum)
    with pytest.raises(ValueError, match="voxel=0.1: a length below the tissue's extent"):
        result.averaged_sar(voxel=0.1)


def test_the_memory_of_a_grid_is_known(monkeypatch):
    """The memory in the message bounds what is used, and too little tissue is reported before the run."""
    tracemalloc.start()
    try:
        cube_averages(np.full((50,) * 3, DENSITY), np.ones((50,) * 3), 0.004, MASS)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 0.3 * BYTES_OF_A_VOXEL < peak / 50**3 < 1.2 * BYTES_OF_A_VOXEL
    mesh = cal.mesh.box([0, 0, 0], [0.1, 0.1, 0.1], cells=2)
    monkeypatch.setattr("calderon.backends.memory.free_memory", lambda: 10_000_000)
    with pytest.raises(MemoryError, match="use larger voxels"):
        voxel_midpoints(mesh.vertices, 0.001)
