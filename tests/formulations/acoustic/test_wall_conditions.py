"""Fluids and conditions of walls: values from the literature, what is refused."""

import numpy as np
import pytest

import calderon as cal
from calderon.formulations.acoustic.conditions.wall_values import Wall, checked_values, is_constant, values_on
from calderon.formulations.acoustic.conditions.walls import walls_of
from calderon.spaces.element import Element

AIR = cal.Fluid(1.2, 343.0)


def test_fluids_have_the_densities_and_speeds_of_their_sources():
    """Check values of Kell and Marczak at 20 degrees, of Mackenzie (1981) and of UNESCO's equation of state."""
    assert cal.Fluid.air(0.0).speed_of_sound == pytest.approx(331.3, abs=0.1)
    assert cal.Fluid.air(20.0).density == pytest.approx(1.204, abs=1e-3)
    water = cal.Fluid.water(20.0)
    assert (water.density, water.speed_of_sound) == pytest.approx((998.204, 1482.38), abs=5e-3)
    assert cal.Fluid.sea_water(25.0, 35.0, 1000.0).speed_of_sound == pytest.approx(1550.744, abs=1e-3)
    assert cal.Fluid.sea_water(5.0, 35.0).density == pytest.approx(1027.67547, abs=1e-5)
    assert cal.Fluid.sea_water(5.0, 35.0, 1000.0).density == pytest.approx(1032.3, abs=0.2)
    assert (water.reference_pressure, AIR.reference_pressure) == (1e-6, 20e-6)


def test_fluids_without_meaning_are_refused():
    for call, text in [
        (lambda: cal.Fluid(0.0, 343.0), "density"),
        (lambda: cal.Fluid(1.2, -1.0), "speed_of_sound"),
        (lambda: cal.Fluid(1.2, 343.0, -0.1), "loss is at least 0"),
        (lambda: cal.Fluid.water(120.0), "celsius = 120.0: the formulas hold from 0 to 95"),
    ]:
        with pytest.raises(ValueError, match=text):
            call()


def at(condition, frequency, fluid=AIR):
    return condition.at(2 * np.pi * frequency, fluid)


def test_impedances_of_layers_and_panels():
    """Miki's layer of 50 mm at 500 Hz; a panel without viscosity is a mass and a cavity, by Helmholtz."""
    miki = at(cal.Impedance.porous(10e3, 0.05), 500.0) / AIR.impedance
    assert miki == pytest.approx(0.5963 + 1.5379j, abs=5e-5)
    hole, thickness, porosity, cavity, omega = 1e-3, 2e-3, 0.02, 0.05, 2 * np.pi * 400.0
    wide = at(cal.Impedance.perforated(hole, thickness, porosity, cavity, viscosity=1e-12), 400.0)
    mass = AIR.density * (thickness + 0.85 * hole) / porosity
    expected = -1j * omega * mass + 1j * AIR.impedance / np.tan(omega * cavity / 343.0)
    assert wide == pytest.approx(expected, rel=1e-3)
    narrow = at(cal.Impedance.perforated(1e-5, thickness, porosity, 1e-6), 10.0).real  # Poiseuille's 32 eta t / d^2
    assert narrow == pytest.approx(32 * 1.81e-5 * thickness / 1e-10 / porosity, rel=1e-2)


@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
def test_absorption_is_that_of_a_plane_wave(alpha):
    z = at(cal.Impedance.from_absorption(alpha), 100.0) / AIR.impedance
    reflected = 1.0 if np.isinf(z) else (z - 1) / (z + 1)
    assert 1 - abs(reflected) ** 2 == pytest.approx(alpha, abs=1e-12)


def test_a_table_is_linear_between_its_frequencies_and_ends_there():
    table = cal.Impedance.table([100.0, 200.0], [400.0, 600.0 + 100j])
    assert at(table, 150.0) == pytest.approx(500.0 + 50j)
    with pytest.raises(ValueError, match="given from 100 to 200 Hz, and the problem is at 250 Hz"):
        at(table, 250.0)
    with pytest.raises(ValueError, match="ascend"):
        cal.Impedance.table([200.0, 100.0], [1.0, 2.0])


def cube():
    box = cal.mesh.cube(2.0, h=2.0)
    tags = np.rint(box.normals @ [1, 2, 3]).astype(int) + 4
    return cal.TriangleMesh(box.vertices, box.triangles, tags, {"right": 5, "left": 3})


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_values_are_along_the_normal_into_the_fluid(sign):
    """A constant vector, a rigid turn about z and their arrays give v . nu, with nu = sign n, on each triangle."""
    mesh, reference = cube(), Element(1).nodes
    wall = Wall(mesh, np.arange(mesh.number_of_triangles), sign, "the surface")
    normals = sign * mesh.normals
    along = np.repeat((normals @ [1.0, 2.0, 3.0])[:, None], 3, axis=1)
    vectors = np.tile([1.0, 2.0, 3.0], (mesh.number_of_vertices, 1))
    by_triangle = np.tile([1.0, 2.0, 3.0], (mesh.number_of_triangles, 1))
    for given in ([1.0, 2.0, 3.0], vectors, by_triangle, lambda x: np.tile([1.0, 2.0, 3.0], (len(x), 1))):
        assert np.allclose(values_on(wall, reference, checked_values(given, "v"), "v"), along)
    turning = cal.Velocity.rigid([1.0, 0, 0], rotation=[0, 0, 2.0], centre=[0.5, 0, 0]).value
    x = wall.points(reference)
    moved = np.stack([1 - 2 * x[..., 1], 2 * (x[..., 0] - 0.5), 0 * x[..., 0]], axis=-1)
    assert np.allclose(values_on(wall, reference, turning, "v"), np.einsum("mni,mi->mn", moved, normals))
    heights = values_on(wall, reference, checked_values(mesh.vertices[:, 2], "v"), "v")
    assert np.allclose(heights, x[..., 2])


def test_constants_are_recognised():
    mesh = cube()
    count, corners = mesh.number_of_triangles, mesh.number_of_vertices
    for given, constant in [(1.0, True), ([1, 0, 0], True), (np.ones(count), True), (np.ones(corners), False),
                            (np.ones((count, 3)), True), (np.ones((corners, 3)), False), (np.sin, False)]:  # fmt: skip
        assert is_constant(checked_values(given, "v"), mesh) == constant


@pytest.mark.parametrize(
    "conditions, text",
    [
        ({"rihgt": cal.Velocity(1.0)}, "did you mean 'right'"),
        ({"right": cal.Velocity(1.0), 5: cal.Impedance(1.0)}, "tag 5 has conditions twice, under 'right' and 5"),
        ([cal.Velocity(1.0), cal.Velocity(2.0)], "has 2 conditions Velocity"),
        ([cal.SoundPressure(1.0), cal.Velocity(2.0)], "SoundPressure stands alone"),
        ([cal.Rigid(), cal.Velocity(2.0)], "Rigid stands alone"),
    ],
)
def test_conditions_that_do_not_fit_are_refused(conditions, text):
    with pytest.raises(ValueError, match=text):
        walls_of(cube(), conditions, 1.0)


def test_what_is_no_condition_is_refused():
    with pytest.raises(TypeError, match=r"a velocity in m/s is Velocity\(v\)"):
        walls_of(cube(), {"right": 1e-3}, 1.0)
    for call, text in [
        (lambda: cal.Impedance(-1.0), "passive wall has Re Z >= 0"),
        (lambda: cal.Impedance(0.0), "SoundPressure"),
        (lambda: cal.Velocity(np.nan), "must be finite"),
        (lambda: cal.SoundPressure([1.0, 2.0, 3.0]), "not a vector"),
        (lambda: cal.Impedance.from_absorption(1.5), "between 0 and 1"),
    ]:
        with pytest.raises(ValueError, match=text):
            call()
    assert cal.Impedance(-1.0, gain=True).value == -1
    wall = Wall(cube(), np.arange(3), 1.0, "tag 3")
    with pytest.raises(ValueError, match="12 triangles or 8 vertices"):
        values_on(wall, Element(1).nodes, checked_values(np.ones(7), "v"), "a velocity")
