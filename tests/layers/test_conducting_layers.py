"""Layers that conduct, from soil to copper and from 10 nm to half-spaces, and their Green's functions."""

import warnings
from dataclasses import fields

import numpy as np
import pytest

import calderon as cal
from calderon.layers.sections import Sections
from calderon.layers.sommerfeld import horizontal_greens, spatial_greens
from calderon.layers.tables import table_of

BOARD = cal.Layer(1.6e-3, eps_r=4.0)


def copper(thickness=None, conductivity=5.8e7):
    return cal.Layer(thickness, conductivity=conductivity)


class Longer(Sections):
    """Takes the path of integrals below the axis to twelve times the end."""

    @property
    def densest(self):
        return 12 * super().densest


def stacks(conductivity):
    for thickness in (1e-8, 1e-6, 35e-6, 1e-3, 1.0):
        yield cal.Stack([copper(thickness, conductivity), BOARD])
        yield cal.Stack([BOARD, copper(thickness, conductivity), cal.Layer(0.8e-3, eps_r=2.2)], below="pec")
    yield cal.Stack([BOARD], below=copper(None, conductivity))


@pytest.mark.parametrize(("frequency", "chosen"), [(1e6, (0.01, 100.0, 5.8e7)), (5e9, (1.0, 20.0, 1e3))])
def test_integrals_do_not_depend_on_their_path(frequency, chosen):
    """Which meets the branch points of conductors far from the axis, or between panels that are short."""
    distances = np.array([1e-4, 1e-3, 1e-2, 0.5 * cal.exact.SPEED_OF_LIGHT / frequency])
    for conductivity in chosen:
        for stack in stacks(conductivity):
            sections, z = stack.at(frequency), stack.top
            layer = sections.layer_of(z, "below")
            longer = Longer(*(getattr(sections, each.name) for each in fields(Sections)))
            found = spatial_greens(sections, distances, z, z, layer, layer)
            wanted = spatial_greens(longer, distances, z, z, layer, layer)
            for one, other in zip(found, wanted, strict=True):
                assert (np.abs(one - other) < 1e-6 * (np.abs(other) + 1e-3 / (4 * np.pi * distances))).all(), stack


def test_tables_are_exact():
    for conductivity in (1.0, 100.0, 5.8e7):
        for stack in (
            cal.Stack([copper(35e-6, conductivity), BOARD]),
            cal.Stack([BOARD], below=copper(None, conductivity)),
        ):
            sections, distances = stack.at(5e9), np.geomspace(1e-5, 0.03, 12)
            table = table_of(sections, stack.top, stack.top, 0.03)
            for one, other in zip(
                table(distances), horizontal_greens(sections, distances, stack.top, stack.top), strict=True
            ):
                assert (np.abs(one - other) < 1e-6 * np.abs(other).max()).all()


@pytest.mark.parametrize("conductivity", [1.0, 20.0, 1e3])
def test_direct_parts_next_to_conductors(conductivity):
    """The wavenumber of a direct part may be the largest on the axis: on an interface with a conductor."""
    stack = cal.Stack([cal.Layer(0.8e-3, eps_r=4.0)], below=copper(None, conductivity))
    sections, distances = stack.at(1e9), np.geomspace(1e-5, 0.1, 12)
    table = table_of(sections, 0.0, 0.0, 0.1)
    for one, other in zip(table(distances), horizontal_greens(sections, distances, 0.0, 0.0), strict=True):
        assert np.abs(one - other) == pytest.approx(0, abs=1e-7 * np.abs(other).max())


def strip(stack, frequency=5e9):
    """The solution of a strip of 15 mm on the top with a gap."""
    z, half = stack.top, 0.5e-3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cal.MeshWarning)
        mesh = cal.planar.strip_dipole(15e-3, 1e-3, 1.5e-3, 2, z=z)
    gap = cal.DeltaGap(line=[[0, -half, z], [0, half, z]])
    problem = cal.PlanarProblem(stack, mesh, ports=[gap])
    return problem.solve(frequency)


def test_a_thick_layer_of_copper_is_a_conductor():
    """Impedance and powers, of a layer, one on a wall, and a half-space."""
    wall = strip(cal.Stack([BOARD], below=cal.planar.Conductor(5.8e7)))
    for stack in (
        cal.Stack([copper(35e-6), BOARD]),
        cal.Stack([copper(35e-6), BOARD], below="pmc"),
        cal.Stack([BOARD], below=copper()),
    ):
        found = strip(stack)
        assert found.input_impedances[0] == pytest.approx(wall.input_impedances[0], rel=1e-6)
        for name in ("accepted", "radiated", "surface_waves"):
            assert getattr(found.power, name) == pytest.approx(getattr(wall.power, name), rel=1e-5)
        assert found.power.lost == pytest.approx(wall.power.lost, rel=1e-3)


@pytest.mark.parametrize("sheet", [0.3, 30.0, 3000.0])
def test_a_thin_layer_is_a_sheet(sheet):
    """On a magnetic wall its impedance is 1 / (sigma t), to t / delta, at all angles."""
    layer = copper(1e-8, 1 / (1e-8 * sheet))
    wanted = strip(cal.Stack([BOARD], below=cal.planar.SurfaceImpedance(sheet)))
    found = strip(cal.Stack([layer, BOARD], below="pmc"))
    assert found.input_impedances[0] == pytest.approx(wanted.input_impedances[0], rel=1e-3)


def test_surface_waves_of_any_conductor_carry_no_negative_power():
    """Waves that decay faster than they travel are part of the losses."""
    for conductivity in (0.1, 3.0, 5.0, 20.0, 1e4):
        found = strip(cal.Stack([BOARD], below=copper(None, conductivity)))
        power = found.power
        assert power.surface_waves >= 0
        assert power.accepted == pytest.approx(power.radiated + power.surface_waves + power.lost)
        assert 0 < power.radiated < power.accepted


@pytest.mark.filterwarnings("ignore:edges of up to")
def test_metal_on_copper_is_refused_and_a_film_vanishes_with_its_thickness():
    """Copper short-circuits what lies on it; what a film of 1 S/m changes is proportional to its thickness."""
    with pytest.raises(ValueError, match="skin depth of 0.000935 mm, which short-circuits .* of at most 0.0026 mm"):
        strip(cal.Stack([cal.Layer(1e-3), copper(35e-6)]))

    def impedance(*film):
        return np.ravel(strip(cal.Stack([BOARD, *film], below="pec")).input_impedances)[0]

    thick, thin, none = impedance(copper(1e-7, 1.0)), impedance(copper(1e-8, 1.0)), impedance()
    assert abs((thick - none) / (thin - none) - 10) < 0.8 > 30 * abs(thin / none - 1)
