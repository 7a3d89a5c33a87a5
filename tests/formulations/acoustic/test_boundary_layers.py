"""Walls with boundary layers: narrow ducts, spheres by series, and what is refused."""

import numpy as np
import pytest
from scipy.special import spherical_jn, spherical_yn

import calderon as cal
from calderon.mesh.errors import AccuracyWarning

AIR = cal.Fluid(1.2, 343.0, kinematic_viscosity=1.5e-5, heat_capacity_ratio=1.4, prandtl=0.71)
OMEGA = 8000 * np.pi
X = np.array([[-0.008, 0, 0], [0, 0, 0], [0.006, 0, 0], [0.009, 2e-4, 0]])


def tube(h, width=2e-3):
    """A square duct along x from -10 to 10 mm: a piston, the walls and the end."""
    box = cal.mesh.cuboid([0.02, width, width], h=h)
    along = np.rint(box.normals[:, 0]).astype(int)
    return cal.TriangleMesh(box.vertices, box.triangles, along + 1, {"piston": 0, "walls": 1, "end": 2})


def slender(x, length=0.02, width=2e-3):
    """The pressure in a slender duct with a piston and a rigid end, and its wavenumber."""
    k, viscous = OMEGA / 343.0, np.sqrt(2 * 1.5e-5 / OMEGA)
    A, B = -(1 + 1j) / 2 * viscous, (1 + 1j) / 2 * 0.4 * viscous / np.sqrt(0.71)
    over = 4 / width  # perimeter over area
    kz = k * np.sqrt((1 + B * over) / (1 + A * over))
    return 1j * OMEGA * 1.2 * np.cos(kz * (length / 2 - x[:, 0])) / (kz * np.sin(kz * length) * (1 + A * over)), kz


def narrow(mesh, wall, **more):
    conditions = {"piston": cal.Velocity(1.0), "walls": wall}
    return cal.AcousticProblem(mesh, frequency=4000.0, fluid=AIR, side="interior", conditions=conditions, **more)


def largest(found, exact):
    return np.abs(found - exact).max() / np.abs(exact).max()


def test_a_narrow_duct_loses_sound_at_its_walls():
    """The closed form of a slender duct has Kirchhoff's wavenumber; without losses the sound is off by 4.5 %."""
    exact, kz = slender(X)
    viscous = np.sqrt(2 * 1.5e-5 / OMEGA)
    kirchhoff = OMEGA / 343.0 * (1 + (1 + 1j) * (viscous + 0.4 * viscous / np.sqrt(0.71)) / 2e-3)
    assert kz == pytest.approx(kirchhoff, rel=2e-3)  # to the first order in the thickness
    solution = narrow(tube(1e-3), cal.ViscothermalWall()).solve(rtol=1e-8)
    assert np.abs(solution.field(X) / exact - 1).max() < 2e-3
    assert largest(narrow(tube(1e-3), cal.Rigid()).solve(rtol=1e-8).field(X), exact) > 0.04
    assert solution.absorbed_power("walls") == pytest.approx(solution.sound_power, rel=2e-3)
    assert solution.absorbed_power("end") == 0


def test_numbers_of_a_wall_stand_before_those_of_the_fluid_and_tags_may_share_a_layer():
    """Walls by two tags, one of which has its own equal numbers, are the walls by one: flow crosses their edge."""
    mesh = tube(1e-3)
    low = (mesh.tags == 1) & (mesh.normals[:, 2] < -0.5)
    names = {**mesh.names, "floor": 3}
    two = cal.TriangleMesh(mesh.vertices, mesh.triangles, np.where(low, 3, mesh.tags), names)
    conditions = {
        "piston": cal.Velocity(1.0), "walls": cal.ViscothermalWall(), "floor": cal.ViscothermalWall(1.5e-5, 1.4, 0.71),
    }  # fmt: skip
    parts = cal.AcousticProblem(two, frequency=4000.0, fluid=AIR, side="interior", conditions=conditions)
    whole = narrow(mesh, cal.ViscothermalWall())
    assert largest(parts.solve(rtol=1e-10).field(X), whole.solve(rtol=1e-10).field(X)) < 1e-8


METHODS = ["hmatrix", "mlfmm"]


@pytest.mark.variant
@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_the_dense_solution(method):
    """Next to walls with an impedance, and with a given pressure, whose losses are known ones."""
    mesh = cal.mesh.sphere(1.0, 0.34)
    z = mesh.centroids[:, 2]
    mesh = cal.TriangleMesh(mesh.vertices, mesh.triangles, np.where(z > 0.3, 2, np.where(z < -0.3, 1, 0)))
    layers = cal.ViscothermalWall(1.0, 1.4, 0.71)
    conditions = {0: [cal.Velocity(1e-3), layers], 1: cal.Impedance.relative(2.0), 2: cal.SoundPressure(1.0)}
    problem = cal.AcousticProblem(mesh, 1.0, fluid=AIR, conditions=conditions)
    outside = np.array([[0, 0, 3.0], [2.0, 1.0, 0]])
    dense = problem.solve(rtol=1e-8)
    assert largest(problem.solve(method=method, rtol=1e-5).field(outside), dense.field(outside)) < 1e-4
    assert dense.power_error < 0.02
    assert dense.absorbed_power() == pytest.approx(dense.absorbed_power(0) + dense.absorbed_power(1))


def bessel(side, n, z):
    """h_n or j_n and its derivative."""
    outside = 1j if side == "exterior" else 0
    values = [spherical_jn(n, z, each) + outside * spherical_yn(n, z, each) for each in (False, True)]
    return values[0], values[1]


@pytest.mark.parametrize("side", ["exterior", "interior"])
def test_spheres_that_move_along_their_layers(side):
    """p = c h_n(kr) with dp/dnu = i omega rho v - (1 + i)/2 (d_v n (n + 1) / a^2 + (gamma - 1) d_t k^2) p, of order 2
    in h; nu = r outside and -r inside."""
    k, n, sign = 2.0, 1, 1.0 if side == "exterior" else -1.0
    wall = cal.ViscothermalWall(1.0, 1.4, 0.71)
    layers = wall.thickness(686.0, AIR)
    assert layers.viscous == pytest.approx(np.sqrt(2 / 686.0))
    loss = (1 + 1j) / 2 * (layers.viscous * n * (n + 1) + layers.heat * k**2)
    value, slope = bessel(side, n, k)
    expected = 1j * k * AIR.impedance * 1e-3 / (sign * k * slope + loss * value)  # v = 1e-3 cos(theta) along nu
    errors, sizes = [], []
    for h in (0.34, 0.2):
        mesh = cal.mesh.sphere(1.0, h)
        conditions = [cal.Velocity([0, 0, 1e-3 * sign]), wall]
        problem = cal.AcousticProblem(mesh, k, fluid=AIR, side=side, conditions=conditions)
        solution = problem.solve(rtol=1e-8)
        exact = expected * value * mesh.vertices[:, 2]
        errors.append(np.linalg.norm(solution.surface.coefficients - exact) / np.linalg.norm(exact))
        sizes.append(mesh.mean_edge_length)
    assert errors[1] < 0.01
    assert np.log(errors[0] / errors[1]) / np.log(sizes[0] / sizes[1]) == pytest.approx(2, abs=0.5), errors
    rigid = 1j * k * AIR.impedance * 1e-3 / (sign * k * slope)
    assert abs(rigid / expected - 1) > 0.03


@pytest.mark.variant
def test_half_a_duct_with_a_mirror_is_the_whole():
    mesh = tube(1e-3)
    whole = narrow(mesh, cal.ViscothermalWall()).solve(rtol=1e-10)
    kept = mesh.centroids[:, 1] > 0
    half = cal.TriangleMesh(mesh.vertices, mesh.triangles[kept], mesh.tags[kept], mesh.names)
    part = narrow(half, cal.ViscothermalWall(), mirrors={"y": "even"}).solve(rtol=1e-10)
    assert largest(part.field(X), whole.field(X)) < 1e-2  # diagonals of the other half differ
    again = narrow(half.mirrored("y"), cal.ViscothermalWall()).solve(rtol=1e-10)
    assert largest(part.field(X), again.field(X)) < 1e-6


def test_fluids_have_viscosities_and_prandtl_numbers():
    """Air at 20 degrees, water at 0, 20 and 95: CRC Handbook, gamma 1.007 and Prandtl's number 7.0 at 20."""
    air, water = cal.Fluid.air(20.0), cal.Fluid.water(20.0)
    assert air.kinematic_viscosity == pytest.approx(1.506e-5, rel=2e-3)
    assert water.kinematic_viscosity == pytest.approx(1.0038e-6, rel=1e-3)
    assert cal.Fluid.water(0.0).kinematic_viscosity == pytest.approx(1.792e-6, rel=1e-2)
    assert cal.Fluid.water(95.0).kinematic_viscosity == pytest.approx(3.09e-7, rel=1e-2)
    assert (water.heat_capacity_ratio, water.prandtl) == pytest.approx((1.0066, 7.0), rel=5e-3)
    assert AIR != cal.Fluid(1.2, 343.0)


def test_layers_that_are_unknown_or_not_thin_are_refused():
    unknown = cal.Fluid(1.2, 343.0, prandtl=0.71)
    with pytest.raises(ValueError, match="need kinematic_viscosity, heat_capacity_ratio of the fluid"):
        cal.ViscothermalWall().thickness(1.0, unknown)
    with pytest.raises(ValueError, match="1 or more"):
        cal.Fluid(1.2, 343.0, heat_capacity_ratio=0.9)
    with pytest.raises(ValueError, match="kinematic_viscosity must be a positive number"):
        cal.ViscothermalWall(-1.0)
    mesh, both = tube(1e-3), [cal.Impedance(400.0), cal.ViscothermalWall()]
    with pytest.raises(ValueError, match="an Impedance and a ViscothermalWall"):
        narrow(mesh, both)
    with pytest.raises(ValueError, match="stands alone"):
        narrow(mesh, [cal.SoundPressure(1.0), cal.ViscothermalWall()])


def test_layers_above_a_third_of_the_width_are_refused_or_warned_of():
    """Layers of 0.041 mm at 4 kHz: of all of a gap of 0.1 mm, or where a wedge is narrow; of bodies next to each other
    outside, too."""
    with pytest.raises(ValueError, match=r"0.041 mm thick, and 100 % of it .* nearer than three times that, 0.1 mm"):
        narrow(tube(1e-3, 1e-4), cal.ViscothermalWall())
    mesh = tube(1e-3)
    wedge = mesh.vertices * np.stack([np.ones(len(mesh.vertices))] * 2 + [0.52 - 48 * mesh.vertices[:, 0]], axis=1)
    with pytest.warns(AccuracyWarning, match="ViscothermalWall is for layers up to a third of the width"):
        narrow(cal.TriangleMesh(wedge, mesh.triangles, mesh.tags, mesh.names), cal.ViscothermalWall())
    bodies = cal.mesh.merge(
        [cal.TriangleMesh(mesh.vertices + [0, shift, 0], mesh.triangles, mesh.tags) for shift in (0, 2.1e-3)]
    )
    with pytest.warns(AccuracyWarning, match="the surface"):
        cal.AcousticProblem(bodies, frequency=4000.0, fluid=AIR, conditions=cal.ViscothermalWall())


@pytest.mark.variant
def test_the_mode_of_a_narrow_closed_pipe_has_kirchhoffs_frequency_and_quality():
    """k l = pi with k of the pipe: lower by the layers, and damped; layers of the ends take some percent more."""
    box, air = cal.mesh.cuboid([0.05, 0.004, 0.004], h=0.002), cal.Fluid.air()
    wall = cal.ViscothermalWall()
    room = cal.AcousticProblem(box, frequency=3000.0, fluid=air, side="interior", conditions=wall)
    (mode,) = cal.resonances(room, 2800.0, 3900.0)
    free = air.speed_of_sound / 0.1
    layers = wall.thickness(2 * np.pi * free, air)
    loss = (layers.viscous + layers.heat).real / 0.004
    assert mode.frequency.real == pytest.approx(free / (1 + loss), rel=3e-3)
    assert mode.quality == pytest.approx(1 / (2 * loss), rel=0.08)
