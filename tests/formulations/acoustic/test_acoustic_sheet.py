"""Thin sheets: a rigid disc at low frequency, screens that let sound through, and what is refused."""

import numpy as np
import pytest

import calderon as cal

AIR = cal.Fluid(1.2, 343.0)
DOWN = cal.PlaneWave([0, 0, -1.0])


def sheet(mesh, k, z=np.inf, **more):
    return cal.AcousticSheet(mesh, k, fluid=AIR, impedance=z, **more)


def extinction(solution, direction):
    """4 pi Im F / k toward the direction of a plane wave of 1 Pa."""
    return 4 * np.pi * solution.far_field([direction])[0].imag / np.real(solution.wavenumber)


def test_a_small_rigid_disc_is_a_dipole():
    """F = 2 k^2 a^3 (d . n) cos(theta) / (3 pi) at ka = 0.05, within 1 % with elements cut at the edge."""
    k, theta = 0.05, np.array([0.0, 0.5, 1.0, 2.0])
    exact = -2 * k**2 * np.cos(theta) / (3 * np.pi)
    coarse, fine = (
        sheet(mesh, k).solve(DOWN).far_field(theta, 0 * theta) / exact
        for mesh in (cal.mesh.disc(1.0, 0.15), cal.mesh.disc(1.0, 0.15).refine_edges(0.1))
    )
    assert np.abs(fine - 1).max() < 0.01 < np.abs(coarse - 1).max() < 0.06
    tilted = sheet(cal.mesh.disc(1.0, 0.15).refine_edges(0.1), k).solve(cal.PlaneWave([0.8, 0, -0.6]))
    assert tilted.far_field([[0, 0, 1.0]])[0] == pytest.approx(0.6 * exact[0], rel=0.01)


@pytest.mark.parametrize("z", [AIR.impedance, 100 + 300j, {0: 500.0, 1: np.inf}, lambda x: 300.0 * (2 + x[:, 0])])
def test_extinction_is_what_is_scattered_and_absorbed(z):
    mesh, d = cal.mesh.disc(1.0, 0.2), [0, 0.6, -0.8]
    mesh = cal.TriangleMesh(mesh.vertices, mesh.triangles, (mesh.centroids[:, 0] > 0).astype(int))
    solution = sheet(mesh, 2.0, z).solve(cal.PlaneWave(d), rtol=1e-8)
    total = solution.scattering_cross_section() + solution.absorption_cross_section()
    assert solution.absorption_cross_section() > 0.05 * total
    assert extinction(solution, d) == pytest.approx(total, rel=1e-5)


def test_a_wide_screen_lets_plane_waves_through():
    """p_+ = T p_inc, T = 2 / (2 + z / rho c), so that [p] = -1 Pa for z = 2 rho c; a soft screen has [p] = -z v."""
    mesh = cal.mesh.disc(1.0, 0.08)
    wide = sheet(mesh, 12.0, 2 * AIR.impedance).solve(cal.PlaneWave([0, 0, 1.0]))
    x = wide.surface.space.nodes
    inner = wide.surface.coefficients[np.hypot(x[:, 0], x[:, 1]) < 0.5]
    assert inner.mean() == pytest.approx(-1, abs=0.05)
    soft = sheet(cal.mesh.disc(1.0, 0.2), 1.0, 0.01 * AIR.impedance).solve(cal.PlaneWave([0, 0, 1.0]))
    x = soft.surface.space.nodes
    inner = soft.surface.coefficients[np.hypot(x[:, 0], x[:, 1]) < 0.7]
    assert inner.mean() == pytest.approx(-0.01, rel=0.03)


def test_methods_and_spaces_agree():
    mesh, k, z = cal.mesh.disc(1.0, 0.2), 2.0, 300.0 + 200j
    wave, points = cal.PlaneWave([0.6, 0, -0.8]), np.array([[0, 0, 1.0], [0.5, 0.2, -1.0]])
    dense = sheet(mesh, k, z).solve(wave, rtol=1e-8)
    found = sheet(mesh, k, z).solve(wave, method="hmatrix", rtol=1e-5)
    assert np.abs(found.field(points) - dense.field(points)).max() < 1e-4
    quadratic = sheet(mesh, k, z, space="P2").solve(wave, rtol=1e-8)
    assert np.abs(quadratic.field(points) - dense.field(points)).max() < 0.02


def test_half_a_sheet_with_a_mirror_is_the_whole():
    """Functions of the edge in the mirror are no edge of the whole; impedances are those of the part."""
    plate = cal.mesh.plate([1.0, 0.5], 0.2)
    half, wave = cal.TriangleMesh(plate.vertices + [0, 0.25, 0], plate.triangles), cal.PlaneWave([0.6, 0, -0.8])
    z, points = 300.0 * (1 + (half.centroids[:, 1] > 0.2)), np.array([[0, 0, 1.0], [0.5, 0.2, -1.0]])
    part = sheet(half, 2.0, z, mirrors={"y": "even"}).solve(wave, rtol=1e-10)
    whole = sheet(half.mirrored("y"), 2.0, np.tile(z, 2)).solve(wave, rtol=1e-10)
    assert np.abs(part.field(points) - whole.field(points)).max() < 1e-7
    assert part.absorption_cross_section() == pytest.approx(whole.absorption_cross_section())
    floor = sheet(half, 2.0, z, mirrors=cal.HalfSpace("y")).solve(cal.PointSource([0, 1.0, 1.0]), rtol=1e-10)
    source = cal.PointSource([0, 1.0, 1.0], 2.0) + cal.PointSource([0, -1.0, 1.0], 2.0)
    both = sheet(half.mirrored("y"), 2.0, np.tile(z, 2)).solve(source, rtol=1e-10)
    assert np.abs(floor.field(points) - both.field(points)).max() < 1e-7 * np.abs(both.field(points)).max()
    assert floor.field([[0, -1e-12, 1.0]])[0] != 0 and floor.field([[0, -0.1, 1.0]])[0] == 0  # in the plane, beyond it


def test_sweeps_files_and_directions(tmp_path):
    mesh = cal.mesh.plate([1.0, 0.6], 0.2)
    panel = cal.Impedance.perforated(hole=1e-3, thickness=1e-3, porosity=0.02, cavity=None)
    problem = cal.AcousticSheet(mesh, frequency=100.0, fluid=AIR, impedance=panel)
    sweep = problem.sweep([100.0, 200.0], DOWN, rtol=1e-8)
    other = cal.AcousticSheet(mesh, frequency=200.0, fluid=AIR, impedance=panel).solve(DOWN, rtol=1e-8)
    x = np.array([[0, 0, 0.5], [0.2, 0.1, -0.5]])
    assert np.abs(sweep[1].field(x) - other.field(x)).max() < 1e-9
    assert np.abs(problem.at(other.wavenumber).solve(DOWN, rtol=1e-8).field(x) - other.field(x)).max() < 1e-9
    other.save(tmp_path / "sheet.h5")
    again = cal.load(tmp_path / "sheet.h5")
    assert np.array_equal(again.field(x), other.field(x))
    assert again.absorption_cross_section() == other.absorption_cross_section() > 0
    below = np.isfinite(other.at_points(x).arrays["pressure"])
    assert below.all() and "jump of the pressure" in str(other) and other.scene().layers
    strength = problem.monostatic_target_strength([[0, 0, 1.0]])
    assert strength == pytest.approx(problem.solve(DOWN).target_strength([[0, 0, 1.0]]), abs=1e-3)
    assert problem.plan(method="dense").nbytes > 0 and len(problem.solve_all([DOWN, cal.PointSource([0, 0, 1.0])])) == 2


def test_sheets_without_meaning_are_refused():
    plate, box = cal.mesh.plate([1.0, 1.0], 0.25), cal.mesh.cube(0.5, h=0.25)
    aside = cal.TriangleMesh(plate.vertices @ np.diag([1.0, 1.0, 0]) + [1.0, 0, 0], plate.triangles)
    torn = cal.TriangleMesh(
        np.concatenate([plate.vertices, aside.vertices]),
        np.concatenate([plate.triangles, plate.triangles + len(plate.vertices)]),
    )
    upright = plate.vertices[:, [2, 1, 0]] + [0, 0, 0.5]
    crossing = cal.TriangleMesh(
        np.concatenate([plate.vertices, upright]),
        np.concatenate([plate.triangles, plate.triangles + len(plate.vertices)]),
    ).merged_vertices()
    for call, text in [
        (lambda: sheet(box, 1.0), "1 of 1 parts of this one are closed"),
        (
            lambda: sheet(cal.mesh.merge([plate, cal.TriangleMesh(box.vertices + 2, box.triangles)]), 1.0),
            "1 of 2 parts",
        ),
        (lambda: sheet(crossing, 1.0), "touch neither a body nor each other"),
        (lambda: sheet(torn, 1.0), "10 vertices of the edge of the sheet lie on other"),
        (lambda: sheet(cal.mesh.plate([1.0, 1.0], 1.0), 1.0), "refine the mesh"),
        (lambda: sheet(plate, 1.0, 0.0), "lets all sound through"),
        (lambda: sheet(plate, 1.0, -5.0), "passive wall has Re Z >= 0"),
        (lambda: sheet(plate, 1.0, lambda x: -1 + 0 * x[:, 0]), "negative real part"),
        (lambda: sheet(plate, 1.0, {"screen": 5.0}), "impedance: unknown tag|impedance: "),
        (lambda: sheet(plate, 1.0, speed_of_sound=340.0), "leave it out"),
        (lambda: sheet(plate, 1.0).solve(cal.PointSource([0.01, 0.02, 0.0])), "lies on triangle"),
    ]:
        with pytest.raises(ValueError, match=text):
            call()
    with pytest.raises(TypeError, match="needs fluid="):
        cal.AcousticSheet(plate, 1.0)
