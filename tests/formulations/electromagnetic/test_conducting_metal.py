"""Metal with a surface impedance, alone and coated, against Mie's series with a complex permittivity; lossy sheets."""

import numpy as np
import pytest

import calderon as cal
from calderon.exact.vacuum import VACUUM_IMPEDANCE

THETA = np.linspace(0, np.pi, 37)
AIR = cal.Material()
DEPTH = 0.05
"""Skin depth over the radius."""


def wave(k):
    return cal.PlaneWave([0, 0, 1], polarization=[1, 0, 0], wavenumber=k)


def metal(k, outside="air"):
    """Z = (1 - i) k eta depth / 2."""
    return cal.Metal(outside, impedance=cal.planar.SurfaceImpedance((1 - 1j) * k * VACUUM_IMPEDANCE * DEPTH / 2))


def inside(k):
    """Its permittivity, 1 + i sigma / (omega eps0)."""
    return 1 + 2j / (k * DEPTH) ** 2


def decibels(solution, exact):
    return abs(10 * np.log10(solution.rcs(THETA, 0.0) / exact.rcs(THETA, 0.0))).max()


def test_a_good_conductor_scatters_and_absorbs_as_the_series(tmp_path):
    k = 1.5
    mesh = cal.mesh.sphere(1.0, 0.35)
    problem = cal.MaxwellProblem(mesh, regions={"air": AIR}, surfaces={0: metal(k)}, wavenumber=k)
    solution = problem.solve(wave(k), solver="lu")
    exact = cal.exact.mie_dielectric_sphere(k, 1.0, inside(k))
    assert decibels(solution, exact) < 0.05
    assert solution.absorption_cross_section() == pytest.approx(exact.absorption_cross_section(), rel=0.01)
    extinction = solution.scattering_cross_section() + solution.absorption_cross_section()
    assert solution.extinction_cross_section() == pytest.approx(extinction, rel=0.01)
    # E = Z n x H on the metal: of the field next to it
    x = np.array([[0.0, 0.7, 0.75]]) * 1.02
    n = x / np.linalg.norm(x)
    e, h = solution.electric(x), solution.magnetic(x)
    assert np.linalg.norm(np.cross(n, e)) < 0.2 * np.linalg.norm(np.cross(n, h))
    product = problem.system.operator.assemble("hmatrix", rtol=1e-6) @ solution.electric_currents[0].coefficients
    array = problem.system.matrix.to_array() @ solution.electric_currents[0].coefficients
    assert np.linalg.norm(product - array) < 1e-5 * np.linalg.norm(array)
    solution.save(tmp_path / "metal.h5")
    assert cal.load(tmp_path / "metal.h5").metal_power == solution.metal_power > 0


def test_a_coated_conductor_is_that_of_the_series():
    k, ball = 1.0, cal.mesh.sphere(1.0, 0.4)
    mesh = cal.mesh.merge([ball, ball.scaled(1.3)])
    tags = np.repeat([0, 1], ball.number_of_triangles)
    mesh = cal.TriangleMesh(mesh.vertices, mesh.triangles, tags, {"core": 0, "coat": 1})
    surfaces = {"core": metal(k, "coat"), "coat": cal.Interface("air", "coat")}
    media = {"air": AIR, "coat": cal.Material(2.25)}
    solution = cal.MaxwellProblem(mesh, regions=media, surfaces=surfaces, wavenumber=k).solve(wave(k), solver="lu")
    exact = cal.exact.mie_layered_sphere(k, [1.0, 1.3], [inside(k), 2.25])
    assert decibels(solution, exact) < 0.1
    assert solution.absorption_cross_section() == pytest.approx(exact.absorption_cross_section(), rel=0.02)


def test_sheets_of_conductors_lose_half_of_what_a_face_would():
    sigma, f = 1e4, 3e8
    mesh = cal.mesh.plate([0.5, 0.1], 0.05)
    gap = cal.DeltaGap(line=[[0, -0.05, 0], [0, 0.05, 0]])
    given = {"regions": {"air": AIR}, "ports": gap, "frequency": f}
    conductor = cal.planar.Conductor(sigma)
    fed = cal.MaxwellProblem(mesh, surfaces={0: cal.Sheet("air", conductor)}, **given).solve()
    ohms = cal.planar.SurfaceImpedance(conductor.impedance(f) / 2)
    again = cal.MaxwellProblem(mesh, surfaces={0: cal.Sheet("air", ohms)}, **given).solve()
    assert fed.input_impedance == again.input_impedance
    assert fed.metal_power + fed.radiated_power() == pytest.approx(fed.input_power, rel=1e-3)
    assert fed.metal_power > 0.002 * fed.input_power


def test_impedances_between_regions_and_at_junctions_are_refused():
    with pytest.raises(ValueError, match="metal between two regions is a perfect conductor"):
        cal.Metal("air", "board", cal.planar.Conductor(5.8e7))
    with pytest.raises(TypeError, match="impedance of metal"):
        cal.Metal("air", None, 50.0)
    mesh = cal.mesh.layered_cuboid((0.8, 0.5), (0.3, 0.2), 0.25)
    surfaces = {"layer 1": cal.Metal("air", impedance=cal.planar.Conductor(1e3)), "joint 1": cal.Metal("high"),
                "layer 2": cal.Interface("air", "high")}  # fmt: skip
    with pytest.raises(ValueError, match="meets other surfaces at edges"):
        cal.MaxwellProblem(mesh, regions={"air": AIR, "high": AIR}, surfaces=surfaces, wavenumber=2.0)
