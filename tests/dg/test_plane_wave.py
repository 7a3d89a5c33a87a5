"""Waves that enter and leave through open faces, and lossy media."""

import numpy as np
import pytest

import calderon as cal

SPEED, IMPEDANCE = cal.exact.SPEED_OF_LIGHT, cal.exact.VACUUM_IMPEDANCE


@pytest.mark.parametrize(("flux", "order", "courant", "rate"), [("centred", 3, 0.3, 3), ("upwind", 2, 0.95, 3)])
def test_plane_wave_crosses_an_empty_box(flux, order, courant, rate):
    """The amplitude converges to that of the wave; oblique incidence, elliptic polarization."""
    frequency = 300e6
    wave = cal.TransientPlaneWave([1, 2, 2], [2, -1 + 1j, -1j], frequency, amplitude=3.0)
    points = np.random.default_rng(0).random((30, 3)) * [0.5, 0.4, 0.4]
    errors = []
    for cells in (2, 4):
        mesh = cal.mesh.box([0, 0, 0], [0.5, 0.4, 0.4], cells=cells)
        simulation = cal.MaxwellDG(
            mesh, order, flux=flux, materials={}, boundaries={"wall": "absorbing"}, sources=[wave], courant=courant
        )
        result = simulation.run_until_periodic(frequency, periods=4)
        assert result.change < 1e-2
        electric = np.abs(result.electric(points) - wave.amplitudes.electric(points)).max()
        magnetic = np.abs(result.magnetic(points) - wave.amplitudes.magnetic(points)).max()
        errors.append(max(electric, magnetic * IMPEDANCE))
    assert errors[1] < 1e-2
    assert np.log2(errors[0] / errors[1]) > rate - 0.3


def test_open_box_is_stable_up_to_the_limit():
    """Noise leaves through absorbing faces, also where two of them meet in one element."""
    mesh = cal.mesh.box([0, 0, 0], [1, 1, 1], cells=2)
    simulation = cal.MaxwellDG(mesh, 2, boundaries={"wall": "absorbing"}, courant=1.0)
    rng = np.random.default_rng(0)
    simulation.set_fields(lambda x, t: rng.standard_normal(x.shape), lambda x, t: rng.standard_normal(x.shape))
    before = simulation.energy()
    simulation.run(400 * simulation.time_step)
    assert simulation.energy() < 0.3 * before


@pytest.mark.parametrize("flux", ["centred", "upwind"])
def test_lossy_box_absorbs_what_poynting_says(flux):
    """A slab before a metal plate, between side walls that a plane wave does not see: E along x, magnetic walls across
    y, electric ones across x. Field and absorbed power are those of the one-dimensional problem."""
    frequency, depth = 1e9, 0.05
    slab = cal.Material(permittivity=4.0, conductivity=0.2, density=1000.0)
    mesh = _column(depth)
    wave = cal.TransientPlaneWave([0, 0, 1], [1, 0, 0], frequency)
    simulation = cal.MaxwellDG(
        mesh,
        3,
        flux=flux,
        materials={"slab": slab},
        boundaries={"open": "absorbing", "back": "pec", "x": "pec", "y": "pmc"},
        sources=[wave],
    )
    result = simulation.run_until_periodic(frequency, periods=6)
    k = 2 * np.pi * frequency / SPEED
    n = np.sqrt(cal.exact.conducting_permittivity(4.0, 0.2, frequency) + 0j)
    # E = exp(ikz) + r exp(-ikz) in front of z = 0, t sin(nk(depth - z)) behind: E and dE/dz are continuous
    matrix = np.array([[-1, np.sin(n * k * depth)], [-1j, n * np.cos(n * k * depth)]])
    r, t = np.linalg.solve(matrix, [1, -1j])
    z = np.array([-0.03, -0.01, 0.01, 0.03])
    points = np.stack([np.full(4, 0.004), np.full(4, 0.006), z], axis=1)
    exact = np.where(z < 0, np.exp(1j * k * z) + r * np.exp(-1j * k * z), t * np.sin(n * k * (depth - z)))
    got = result.electric(points)
    assert np.abs(got[:, 0] - exact).max() < 0.02
    assert np.abs(got[:, 1:]).max() < 0.02
    power = (1 - abs(r) ** 2) / (2 * IMPEDANCE) * 0.01**2
    assert result.absorbed_power() == pytest.approx({"vacuum": 0.0, "slab": power}, rel=0.02)
    rates = result.specific_absorption_rate()
    inside = mesh.tags == mesh.names["slab"]
    assert (rates[inside] * 1000.0) @ mesh.volumes[inside] == pytest.approx(power, rel=0.02)
    assert np.isnan(rates[~inside]).all()


def _column(depth):
    """A column of 0.01 m x 0.01 m from z = -0.05 to the depth, named parts and sides."""
    mesh = cal.mesh.box([0, 0, -0.05], [0.01, 0.01, depth], cells=[1, 1, 10])
    corners = mesh.vertices[mesh.faces]
    face_tags = np.zeros(len(mesh.faces), int)
    for tag, (axis, value) in enumerate([(2, -0.05), (2, depth), (0, 0), (0, 0.01), (1, 0), (1, 0.01)]):
        face_tags[np.isclose(corners[:, :, axis], value).all(axis=1)] = [0, 1, 2, 2, 3, 3][tag]
    tags = (mesh.centroids[:, 2] > 0).astype(int)
    names = {"open": 0, "back": 1, "x": 2, "y": 3}
    return cal.TetrahedralMesh(
        mesh.vertices, mesh.tetrahedra, tags, {"vacuum": 0, "slab": 1}, mesh.faces, face_tags, names
    )


def test_amplitudes_are_written_whole(tmp_path):
    wave = cal.TransientPlaneWave([0, 0, 1], [1, 0, 0], 1e9)
    materials = {"slab": cal.Material(permittivity=2.0, conductivity=0.1, density=900.0)}
    boundaries = {"open": "absorbing", "back": "pec", "x": "pec", "y": "pmc"}
    simulation = cal.MaxwellDG(_column(0.05), 1, materials=materials, boundaries=boundaries, sources=[wave])
    result = simulation.run_until_periodic(1e9, periods=2)
    assert len(repr(result)) < 150 and "1e+09 Hz" in repr(result)
    result.write(tmp_path / "column.vtu")
    text = (tmp_path / "column.vtu").read_text(errors="replace")
    assert "SAR (W/kg)" in text and "|E| (V/m)" in text
    assert [each.name for each in tmp_path.iterdir()] == ["column.vtu"]


def test_waves_in_units_of_their_own_are_refused():
    """Without materials the speed of light is 1, and the wave's is not."""
    wave = cal.TransientPlaneWave([0, 0, 1], [1, 0, 0], 1e9)
    with pytest.raises(ValueError, match="SI units"):
        cal.MaxwellDG(_column(0.05), 1, boundaries={"open": "absorbing"}, sources=[wave])


def test_a_surface_is_no_mesh_of_a_volume():
    with pytest.raises(TypeError, match="mesh of tetrahedra is needed, got TriangleMesh"):
        cal.MaxwellDG(cal.mesh.cube(1.0, 0.5), order=1)
