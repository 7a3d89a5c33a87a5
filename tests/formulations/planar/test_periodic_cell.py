"""Periodic cells against exact solutions, identities and values of other methods."""

import numpy as np
import pytest

import calderon as cal
from calderon import planar
from calderon.exact.vacuum import SPEED_OF_LIGHT, VACUUM_IMPEDANCE
from calderon.mesh.planar.grid import cells_within, strip_lines

BOARD = cal.Stack([cal.Layer(1.575e-3, eps_r=2.2)], below="pec")
FREE = cal.Stack([])
CROSS = cal.PeriodicCell(planar.jerusalem_cross(8e-3, width=1e-3, ends=3.2e-3, z=BOARD.top), 12.5e-3, BOARD)


def degrees(value):
    return np.degrees(np.angle(value))


def test_jerusalem_crosses_have_the_phase_of_two_other_methods():
    sweep = CROSS.sweep([9.51e9 * 0.995, 9.51e9 * 1.005, 12e9, 14e9])
    phase = degrees(sweep.reflection[:, 0, 0])
    assert np.abs(phase[2:] - [-156.1, -140.0]).max() < 1
    assert phase[0] < 0 < phase[1]  # zero phase at 9.51 GHz within 0.5 %
    assert np.allclose(sweep.reflection[:, 0, 0], sweep.reflection[:, 1, 1], atol=1e-7)
    assert np.abs(sweep.reflection[:, 0, 1]).max() < 1e-7
    assert np.abs(sweep.power - 1).max() < 1e-10 and sweep.transmission is None


@pytest.mark.variant
def test_squares_have_the_phase_of_two_other_methods():
    cell = cal.PeriodicCell(planar.patch(7e-3, 7e-3, 1e-3, z=BOARD.top), 12.5e-3, BOARD)
    phase = degrees(cell.sweep([11e9, 12e9, 13e9]).reflection[:, 0, 0])
    assert (np.abs(phase - [-69.1, 6.5, 93.0]) < [1, 3, 2]).all()


def test_a_sheet_without_gaps_reflects_all():
    """Current flows across all borders. In oblique waves it is no longer constant on triangles."""
    side = 0.02 * SPEED_OF_LIGHT / 1e9
    mesh = cal.mesh.plate([side, side], side / 3)
    solution = cal.PeriodicCell(mesh, side, FREE).solve(1e9, 0.5, 0.3)
    assert np.abs(solution.reflection + np.eye(2)).max() < 1e-5
    assert np.abs(solution.transmission).max() < 1e-5
    resistive = cal.PeriodicCell(mesh, side, FREE, sheet=100.0)
    expected = -1 / (1 + 2 * 100.0 / VACUUM_IMPEDANCE)
    solution = resistive.solve(1e9)
    assert np.abs(solution.reflection - expected * np.eye(2)).max() < 1e-7
    assert np.allclose(solution.power, expected**2 + (1 + expected) ** 2, atol=1e-7)


def test_strips_have_the_reactances_of_conformal_mapping():
    """Strips of half the period, for long waves: X = a/l ln csc(pi w / 2a) along, B = 4a/l ln sec(pi w / 2a) across.

    N. Marcuvitz, Waveguide Handbook (1951), sections 5.18 and 5.19. Extrapolated from 4 and 8 cells.
    """
    period = 0.01 * SPEED_OF_LIGHT / 1e9
    along = -1j * 0.01 * np.log(1 / np.sin(np.pi / 4))
    across = -1j * 0.04 * np.log(1 / np.cos(np.pi / 4))
    found = []
    for cells in (4, 8):
        x = strip_lines(-period / 4, period / 4, cells)
        mesh = cells_within([(-period, period, -period, period)], x, np.linspace(-period / 2, period / 2, 9), 0.0)
        solution = cal.PeriodicCell(mesh, period, FREE).solve(1e9)
        found.append([solution.transmission[1, 1], solution.reflection[0, 0]])
    limit = (4 * np.array(found[1]) - found[0]) / 3
    assert limit[0] == pytest.approx(2 * along / (1 + 2 * along), rel=5e-3)
    assert limit[1] == pytest.approx(-across / (2 + across), rel=5e-3)


def test_a_cell_of_two_elements_and_a_skewed_one_are_the_same_surface():
    stack = cal.Stack([cal.Layer(1e-3, eps_r=2.2)])
    element = planar.patch(8e-3, 3e-3, 4e-3)
    p = 12.5e-3
    one = cal.PeriodicCell(element, p, stack)
    two = cal.PeriodicCell(cal.mesh.merge([element, element.translated([p, 0, 0])]), [2 * p, p], stack)
    skewed = cal.PeriodicCell(element, [[p, p], [0, p]], stack)
    solutions = [each.solve(11e9, 0.4, 0.3) for each in (one, two, skewed)]
    for each in solutions[1:]:
        assert np.abs(each.reflection - solutions[0].reflection).max() < 1e-5
        assert np.abs(each.transmission - solutions[0].transmission).max() < 1e-5


@pytest.mark.parametrize("stack", [FREE, cal.Stack([cal.Layer(0.5e-3, eps_r=4.0)], below="pec")], ids=["free", "thin"])
@pytest.mark.filterwarnings("ignore::calderon.AccuracyWarning")
def test_an_element_may_be_given_in_any_cell(stack):
    """Moved by periods it extends the mesh over nearly two, and copies two periods on come as near as half a
    millimetre."""
    p, mesh = 10e-3, planar.patch(3e-3, 5e-3, 3e-3, z=stack.top)
    strip = planar.strip_dipole(4e-3, 1e-3, 2e-3, z=stack.top).translated([5e-3, 3e-3, 0])
    found = [
        cal.PeriodicCell(cal.mesh.merge([mesh, strip.translated([m * p, n * p, 0])]), p, stack).reflection(
            15e9, 0.4, 0.3
        )
        for m, n in ((0, 0), (1, 0), (0, -2))
    ]
    assert np.abs(np.array(found[1:]) - found[0]).max() < 1e-6


def two_planes():
    """Metal on both sides of a sheet between two media, without symmetry, some of it across the border."""
    stack = cal.Stack([cal.Layer(1e-3, eps_r=3.0)], below=cal.Layer(eps_r=2.0))
    p = 10e-3
    x, y = np.linspace(0.0, 2.5e-3, 4), np.linspace(-p / 2, p / 2, 9)
    bar = cells_within([(-1, 1, -1, 1)], x, y, stack.top)
    strip = planar.strip_dipole(6e-3, 1e-3, 2e-3, cells=3).translated([1e-3, 0.5e-3, 0.0])
    return cal.PeriodicCell(cal.mesh.merge([bar, strip]), [[p, 0.0], [0.3 * p, p]], stack)


@pytest.mark.filterwarnings("ignore::calderon.AccuracyWarning")
def test_orders_carry_the_power_away_and_are_reciprocal():
    cell = two_planes()
    assert len(cell.functions.pairs) == 0
    straight = cal.PeriodicCell(cell.mesh, 10e-3, cell.stack)
    assert len(straight.functions.pairs) == 3
    theta, phi, frequency = 0.4, 0.7, 28e9
    from_above = straight.solve(frequency, theta, phi)
    assert len(from_above.reflected.orders) == 3 < len(from_above.transmitted.orders)
    below = np.arcsin(np.sin(theta) / np.sqrt(2.0))
    from_below = straight.solve(frequency, below, phi + np.pi, side="below")
    for each in (from_above, from_below):
        assert np.abs(each.power - 1).max() < 1e-10
    assert np.abs(from_above.transmission - from_below.transmission.T).max() < 1e-10
    back = straight.reflection(frequency, theta, phi + np.pi)
    assert np.abs(from_above.reflection - back.T).max() < 1e-10
    specular = from_above.transmitted.theta[0], from_above.transmitted.phi[0]
    assert specular == pytest.approx((np.pi - below, phi - np.pi))


def test_without_metal_a_stack_alone_reflects():
    """A thin small patch has no effect: Fresnel's coefficients, by transverse fields."""
    stack = cal.Stack([], below=cal.Layer(eps_r=4.0))
    cell = cal.PeriodicCell(planar.patch(1e-6, 1e-6, 1e-6), 1e-3, stack)
    theta = 0.5
    found = cell.solve(1e9, theta, rtol=1e-3)
    inside = np.arcsin(np.sin(theta) / 2)
    above, under = [np.cos(theta), 1 / np.cos(theta)], [np.cos(inside) / 2, 0.5 / np.cos(inside)]
    expected = [(b - a) / (b + a) for a, b in zip(above, under, strict=True)]
    assert np.allclose(found.reflection, np.diag(expected), atol=1e-8)
    assert np.allclose(np.abs(np.diag(found.transmission)) ** 2, 1 - np.square(expected), atol=1e-8)


def test_options_are_those_of_every_problem_and_say_what_a_cell_does_not_take():
    cell = cal.PeriodicCell(planar.patch(6e-3, 6e-3, 3e-3), 12e-3, cal.Stack([], below=cal.Layer(eps_r=2.0)))
    one, other = cell.solve(1e10), cell.solve(1e10, method="dense", solver="lu", rtol=1e-6)
    assert np.abs(one.reflection - other.reflection).max() < 1e-6
    assert one.info.method == "LU" and one.info.residual < 1e-12 and one.info.unknowns == cell.functions.dimension
    plan = cell.plan(1e10)
    assert plan.method == "dense" and plan.nbytes > 16 * one.unknowns**2 and "unknowns" in str(plan)
    for option in ({"method": "fft"}, {"solver": "gmres"}, {"precision": "single"}, {"backend": "opencl"}):
        with pytest.raises(ValueError, match="a periodic cell is solved by dense matrices and LU factors.* leave it"):
            cell.solve(1e10, **option)


def test_what_is_printed_has_units_and_the_current_a_unit():
    solution = CROSS.solve(12e9)
    text = str(solution)
    assert repr(solution) == f"CellSolution({solution.brief})" and solution.brief in text
    assert "12 GHz" in text and "°" in text and "568 unknowns" in text
    assert "order" in str(solution.reflected) and "°" in str(solution.reflected)
    current = solution.current("TE")
    assert current.unit == "A/m"
    moment = np.sum(current.at_centroids() * CROSS.mesh.areas[:, None], axis=0)
    assert abs(moment[0]) < 1e-6 * abs(moment[1])


def test_bad_input_is_refused_with_advice():
    cross = planar.jerusalem_cross(8e-3, 1e-3, 3.2e-3)
    at = cross.translated([0, 0, BOARD.top])
    for build, error, text in (
        (lambda: cal.PeriodicCell(cross, 12.5e-3, BOARD), ValueError, "wall of the stack.*z=stack.top"),
        (lambda: cal.PeriodicCell(at.translated([0, 0, 1e-4]), 12.5e-3, BOARD), ValueError, "off every interface"),
        (lambda: cal.PeriodicCell(at, 7.5e-3, BOARD), cal.MeshError, "overlap those of the next cell"),
        (lambda: cal.PeriodicCell(at, 12.5, "FR4"), TypeError, "Stack"),
        (lambda: cal.PeriodicCell(at, 3e-3, BOARD), cal.MeshError, "periods"),
        (lambda: cal.PeriodicCell(cal.mesh.merge([at, at]), 12.5e-3, BOARD), cal.MeshError, "overlap"),
        (lambda: cal.PeriodicCell(cal.mesh.cube(1e-3, 1e-3), 12.5e-3, BOARD), cal.MeshError, "horizontal"),
        (lambda: cal.PeriodicCell(at, 12.5e-3, BOARD, sheet=-1.0), ValueError, "gain"),
        (lambda: cal.PeriodicCell(planar.patch(1, 1, 0.3), [[1, 0.5], [0, 1]], FREE), cal.MeshError, "divide opposite"),
        (lambda: CROSS.solve(0.0), ValueError, "frequency in Hz"),
        (lambda: CROSS.solve(12e9, np.pi / 2), ValueError, "90 degrees"),
        (lambda: CROSS.solve(12e9, -0.1), ValueError, "from 0"),
        (lambda: CROSS.solve(12e9, side="below"), ValueError, "wall"),
        (lambda: CROSS.solve(12e9, side="left"), ValueError, "unknown side"),
        (lambda: CROSS.solve(SPEED_OF_LIGHT / 12.5e-3), ValueError, "Wood's anomaly"),
        (lambda: CROSS.transmission(12e9), ValueError, "through a wall"),
    ):
        with pytest.raises(error, match=text):
            build()
    lossy = cal.PeriodicCell(cross, 12.5e-3, cal.Stack([], above=cal.Layer(eps_r=2 + 0.1j)))
    with pytest.raises(ValueError, match="absorbs"):
        lossy.solve(12e9)


def test_a_coarse_mesh_is_warned_of():
    cell = cal.PeriodicCell(cal.mesh.plate([4e-3, 4e-3], 2e-3), 8e-3, FREE)
    with pytest.warns(cal.AccuracyWarning, match="h of at most"):
        cell.solve(30e9)
