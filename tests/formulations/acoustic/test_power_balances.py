"""Energy, reciprocity and units: what holds for sound of any bodies."""

import numpy as np
import pytest

import calderon as cal
from calderon.quadrature.sphere import far_field_square

AIR, WATER = cal.Fluid(1.2, 343.0), cal.Fluid(1000.0, 1500.0)
BALL = cal.mesh.sphere(1.0, 0.3)
TOWARD = np.array([[0, 0.6, 0.8]])
LINING = cal.Impedance.relative(1 - 0.5j)


@pytest.mark.parametrize("fluid", [AIR, WATER])
def test_what_a_wave_loses_is_absorbed_or_scattered(fluid):
    """The optical theorem, extinction 4 pi / k Im F(forward) / A, and the work of a point source on the sound."""
    k, amplitude = 2.0, 2.0 - 1j
    problem = cal.AcousticProblem(BALL, k, fluid=fluid, conditions=LINING)
    solution = problem.solve(amplitude * cal.PlaneWave(TOWARD[0], k), rtol=1e-9)
    intensity = abs(amplitude) ** 2 / (2 * fluid.impedance)
    extinction = 4 * np.pi / k * np.imag(solution.far_field(TOWARD)[0] / amplitude) * intensity
    assert solution.absorbed_power() + solution.radiated_power == pytest.approx(extinction, rel=5e-4)
    place = np.array([0, 0, 1.5])
    source = cal.PointSource(place, k, amplitude=3.0)
    solution = problem.solve(source, rtol=1e-9)
    near = place + 1e-7
    reflected = (solution.field(near) - source(near[None])).item()
    flow = 3.0 / (-1j * k * fluid.impedance)  # of volume
    work = 0.5 * np.real((reflected + 3j * k / (4 * np.pi)) * np.conj(flow))
    away = far_field_square(lambda d: solution.far_field(d) + source.far_field(d), 1.5 * np.eye(3), k)
    assert solution.absorbed_power() + away / (2 * fluid.impedance) == pytest.approx(work, rel=5e-4)


def two_bodies(h):
    """A sphere with a cap (tag 1) and a cube next to it with one face (tag 3) toward it."""
    sphere, cube = cal.mesh.sphere(1.0, h), cal.mesh.cube(1.0, h).translated([2.0, 0.5, 0.3])
    cap, face = (sphere.centroids[:, 2] > 0.5).astype(int), 2 + (cube.normals[:, 0] < -0.5)
    parts = [cal.TriangleMesh(each.vertices, each.triangles, tags) for each, tags in ((sphere, cap), (cube, face))]
    return cal.mesh.merge(parts).translated([0, 0, 1.5])


@pytest.mark.parametrize("mirrors", [None, cal.HalfSpace("z"), cal.HalfSpace("z", rigid=False)])
def test_two_pistons_hear_each_other_alike(mirrors):
    """int p1 v2 over the second is int p2 v1 over the first, with walls that absorb, and a plane; of order two in h."""
    errors, sizes = [], []
    for h in (0.4, 0.25):
        mesh, works = two_bodies(h), []
        walls = {0: cal.Impedance.relative(2 - 1j), 2: cal.Impedance.relative(1.0)}
        first, second = (
            cal.AcousticProblem(mesh, 1.5, fluid=AIR, conditions={**walls, tag: cal.Velocity(1.0)}, mirrors=mirrors)
            .solve(rtol=1e-8) for tag in (1, 3)
        )  # fmt: skip
        for received, moving in ((first, second.moving), (second, first.moving)):
            works.append(
                moving.coefficients @ (received.surface.space.mass_matrix(moving.space) @ received.surface.coefficients)
            )
        errors.append(abs(works[0] / works[1] - 1))
        sizes.append(mesh.mean_edge_length)
    assert errors[1] < 4e-3
    assert np.log(errors[0] / errors[1]) / np.log(sizes[0] / sizes[1]) > 1.5, errors


def test_a_mesh_a_thousand_times_smaller_sounds_alike_a_thousand_times_higher():
    found = []
    for size in (1.0, 1e-3):
        mesh = cal.TriangleMesh(size * BALL.vertices, BALL.triangles, (BALL.centroids[:, 2] > 0.5).astype(int))
        walls = {1: cal.Velocity(1.0), 0: LINING}
        solution = cal.AcousticProblem(mesh, 2.0 / size, fluid=AIR, conditions=walls).solve(rtol=1e-9)
        point = [[0, 0, 3.0 * size]]
        found.append([
            solution.sound_power / size**2, abs(solution.radiation_impedance()), *solution.spl(point),
            solution.directivity_index([0, 0, 1.0]), solution.beamwidth([0, 0, 1.0], [1.0, 0, 0]),
            *np.abs(solution.transfer(1, point)), solution.power_error,
        ])  # fmt: skip
    assert found[1] == pytest.approx(found[0], rel=1e-9)


@pytest.mark.parametrize("k", [0.1, 1e-2, 1e-3])
def test_small_bodies_have_the_power_of_their_far_field(k):
    """To the accuracy of the area of facets, though the surface gives any number."""
    for order, velocity in ((0, cal.Velocity(1e-3)), (1, cal.Velocity([0, 0, 1e-3]))):
        exact = cal.exact.radiating_sphere(k, 1.0, slopes=[0] * order + [1j * k * WATER.impedance * 1e-3])
        solution = cal.AcousticProblem(BALL, k, fluid=WATER, conditions=velocity).solve(rtol=1e-9)
        assert solution.sound_power == pytest.approx(exact.radiated_power(1000.0, 1500.0), rel=0.01)
        if order:
            assert "by far field and absorption" in str(solution)
            assert solution.power_error > 0.05
        elif k == 0.1:
            assert f"differ by {solution.power_error:.1e}" in str(solution)


def test_a_net_flow_that_facets_leave_over_is_warned_of():
    """A quadrupole, whose power falls with the sixth power of the frequency, that of the flow with the second."""

    def quadrupole(x):
        return 1.5 * (x[:, 2] / np.linalg.norm(x, axis=1)) ** 2 - 0.5

    def error(k, velocity):
        exact = cal.exact.radiating_sphere(k, 1.0, slopes=[0, 0, 1j * k * WATER.impedance])
        solution = cal.AcousticProblem(BALL, k, fluid=WATER, conditions=cal.Velocity(velocity)).solve(rtol=1e-9)
        return abs(solution.sound_power / exact.radiated_power(1000.0, 1500.0) - 1)

    assert error(0.3, quadrupole) < 0.1
    with pytest.warns(cal.AccuracyWarning, match="a net flow of"):
        assert error(0.01, quadrupole) > 1
    values = quadrupole(BALL.centroids)
    assert error(0.01, values - values @ BALL.areas / BALL.area) < 0.1  # as the warning says


def test_the_power_in_a_room_is_given_and_absorbed():
    """Two integrals over other parts of the surface; at a wall that absorbs little, the work of the piston is a
    difference of large numbers."""
    box = cal.mesh.cuboid([1.0, 0.5, 0.4], h=0.13)
    room = cal.TriangleMesh(box.vertices, box.triangles, np.rint(box.normals @ [1, 2, 3]).astype(int) + 4)
    powers = []
    for ratio in (3.0, 1e3, None):
        walls = {3: cal.Velocity(1e-3), 5: cal.Impedance.relative(ratio) if ratio else cal.Rigid()}
        problem = cal.AcousticProblem(room, frequency=400.0, fluid=AIR, side="interior", conditions=walls)
        solution = problem.solve(rtol=1e-9)
        given, absorbed = solution.complex_power.real, solution.absorbed_power()
        assert absorbed == solution.absorbed_power(5)
        assert solution.sound_power == (given if ratio == 3.0 else absorbed)
        kl = 2 * np.pi * 400.0 / 343.0
        exact = 0.5 * 0.2 * np.real(tube_impedance(kl, ratio)) * 1e-6 if ratio else 0.0
        assert solution.sound_power == pytest.approx(exact, rel=0.1)
        powers.append((given, exact))
        if ratio == 3.0:
            assert solution.power_error == pytest.approx(abs(given / absorbed - 1)) and 0 < solution.power_error < 0.1
            assert f"that they absorb differ by {solution.power_error:.1e}" in str(solution)
            assert float(solution.to_xarray().power_error) == solution.power_error
        else:
            assert "by absorption: at the surface it is" in str(solution)
    assert solution.sound_power_level == -np.inf
    assert powers[1][0] < 0 < powers[1][1]  # by the surface a wall would give energy


def tube_impedance(kl, ratio):
    """p / v at the left end of a tube of the length l with an impedance ratio * rho c at its right one."""
    return AIR.impedance * (ratio - 1j * np.tan(kl)) / (1 - 1j * ratio * np.tan(kl))


def test_levels_of_gases_and_liquids_have_their_references():
    for fluid, reference in ((AIR, 20e-6), (WATER, 1e-6), (cal.Fluid.sea_water(), 1e-6), (cal.Fluid.air(), 20e-6)):
        ball = cal.mesh.sphere(1.0, 0.6)
        solution = cal.AcousticProblem(ball, 1.0, fluid=fluid, conditions=cal.Velocity(1e-3)).solve()
        pressure = np.abs(solution.field([[0, 0, 3.0]]))
        assert solution.spl([[0, 0, 3.0]]) == pytest.approx(20 * np.log10(pressure / np.sqrt(2) / reference))
        assert solution.sound_power_level == pytest.approx(10 * np.log10(solution.sound_power) + 120)
