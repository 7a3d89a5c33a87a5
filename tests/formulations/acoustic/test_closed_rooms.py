"""Rooms much smaller than the wavelength, where the air is a spring."""

import warnings

import numpy as np
import pytest

import calderon as cal
from calderon.formulations.acoustic.closed_rooms import warn_of_small_room
from calderon.mesh.errors import AccuracyWarning

AIR = cal.Fluid(1.2, 343.0)
POINTS = np.array([[-0.05, 0.0, 0.0], [0.05, 0.03, 0.0]])


def box():
    """A cube of 0.2 m; tag 3 is its face at x = -0.1."""
    mesh = cal.mesh.cuboid([0.2, 0.2, 0.2], h=0.1)
    return cal.TriangleMesh(mesh.vertices, mesh.triangles, np.rint(mesh.normals @ [1, 2, 3]).astype(int) + 4)


def problem(frequency, mesh=None):
    mesh = box() if mesh is None else mesh
    piston = {3: cal.Velocity(1e-3)}
    return cal.AcousticProblem(mesh, frequency=frequency, fluid=AIR, side="interior", conditions=piston, space="P2")


def exact(frequency):
    k = 2 * np.pi * frequency / 343.0
    return 1j * AIR.impedance * 1e-3 * np.cos(k * (0.1 - POINTS[:, 0])) / np.sin(k * 0.2)


@pytest.mark.parametrize("frequency", [0.5, 1.0, 20.0])
def test_a_small_box_is_a_spring(frequency):
    """Without the error of constants taken off, 1 Hz is wrong by 100 %."""
    solution = problem(frequency).solve(rtol=1e-9)
    assert np.abs(solution.field(POINTS) / exact(frequency) - 1).max() < 2e-5
    stiffness = 1.2 * 343.0**2 * 0.04 / 0.008  # Pa/m of the mean pressure over the displacement of the piston
    spring = 1j * stiffness / (2 * np.pi * frequency)
    assert solution.radiation_impedance(3) == pytest.approx(spring, rel=1e-2 if frequency == 20 else 1e-4)
    assert abs(solution.complex_power.real) < 1e-4 * abs(solution.complex_power.imag)


def test_rooms_next_to_each_other_are_springs_of_their_own():
    one = box()
    far = cal.TriangleMesh(one.vertices + [0.5, 0, 0], one.triangles, one.tags + 10)
    both = problem(1.0, cal.mesh.merge([one, far])).solve(rtol=1e-9)
    assert np.abs(both.field(POINTS) / exact(1.0) - 1).max() < 2e-5
    assert np.abs(both.field(POINTS + [0.5, 0, 0])).max() < 1e-4 * np.abs(exact(1.0)).max()


def test_compressed_entries_of_a_small_room_are_warned_of():
    """1e-6 is 0.2 % of (I/2 + K) 1 at 20 Hz, and more than all of it at 0.5 Hz; dense entries have no such error."""
    mesh = box()
    with pytest.warns(
        AccuracyWarning, match="uncertain by 1, since entries are accurate to 1e-06: take method='dense'"
    ):
        warn_of_small_room(mesh, np.pi / 343.0, 1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_small_room(mesh, 40 * np.pi / 343.0, 1e-6)
        warn_of_small_room(mesh, 2 * np.pi / 343.0, 0.0)


def test_the_condition_of_the_equation_tells_resonances():
    """By GMRES from below, by LU; near k = pi the rigid box of 1 x 0.7 x 0.5 m resonates. Outside there are none."""
    mesh = cal.mesh.cuboid([1.0, 0.7, 0.5], h=0.25)
    source, conditions = cal.PointSource([0.2, 0.1, 0.0]), []
    for k in (2.5, 3.1416):
        room = cal.AcousticProblem(mesh, k, fluid=AIR, side="interior")
        steps, factors = room.solve(source, rtol=1e-8), room.solve(source, solver="lu")
        assert steps.info.condition < factors.info.condition  # preconditioned, and without
        conditions.append([steps.info.condition, factors.info.condition])
        assert "condition number of the equation" in str(steps)
    away, near = np.array(conditions)
    assert (near > 10 * away).all()
    outside = cal.AcousticProblem(mesh, 3.0, fluid=AIR).solve(cal.PointSource([1.0, 0, 0]), solver="lu")
    assert outside.info.condition is None


def test_a_room_at_a_resonance_is_warned_of_by_its_mode():
    """At 0.005 Hz a box is a spring, so soft that constants are nearly free: condition 1e8."""
    with pytest.warns(AccuracyWarning, match="the constant pressure of a closed room, 0 Hz"):
        problem(0.005).solve(solver="lu")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        problem(20.0).solve(solver="lu")


@pytest.mark.parametrize("given", [cal.SoundPressure(1.0), cal.SoundPressure(lambda x: np.exp(1j * 8.336 * x[:, 0]))])
def test_pressures_on_all_walls_at_a_resonance_are_warned_of(given):
    """The box with p = 0 has k = pi sqrt(1 + 1/0.49 + 4) = 8.336; waves that fit do not raise the slope."""
    mesh = cal.mesh.cuboid([1.0, 0.7, 0.5], h=0.1)
    at = cal.AcousticProblem(mesh, 8.336, fluid=AIR, side="interior", conditions=given)
    with pytest.warns(AccuracyWarning, match="455.0.* Hz is near a resonance of a room with p = 0"):
        at.solve()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        at.at(7.0).solve()


@pytest.mark.parametrize(
    "options", [{"solver": "lu"}, pytest.param({"preconditioner": "mass"}, marks=pytest.mark.variant)]
)
def test_pressures_that_fit_a_mode_are_warned_of(options):
    """Neither factors nor an equation of the first kind, a variant, tell a resonance by their condition."""
    mesh = cal.mesh.cuboid([1.0, 0.7, 0.5], h=0.1)
    wave = cal.SoundPressure(lambda x: np.exp(1j * 8.3 * x[:, 0]))
    at = cal.AcousticProblem(mesh, 8.3, fluid=AIR, side="interior", conditions=wave)
    with pytest.warns(AccuracyWarning, match="Hz is near a resonance of a room with p = 0"):
        at.solve(**options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        at.at(7.0).solve(**options)
