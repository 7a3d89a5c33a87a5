"""Periodic metal next to layers much thinner than its triangles: exact stacks, limits and the balance of powers."""

import numpy as np
import pytest

import calderon as cal
from calderon import planar
from calderon.exact.vacuum import SPEED_OF_LIGHT
from calderon.floquet import ImageParts, PlaneParts, cell_matrix
from calderon.floquet import thin as images

PERIOD, HEIGHT, FREQUENCY, THETA, PHI = 10e-3, 1.6e-3, 8e9, 0.3, 0.2
BOARD = cal.Layer(HEIGHT, 2.2)
pytestmark = pytest.mark.filterwarnings("ignore::calderon.AccuracyWarning")


def solved(mesh, layers, below="pec", frequency=FREQUENCY):
    solution = cal.PeriodicCell(mesh, PERIOD, cal.Stack(layers, below=below)).solve(frequency, THETA, PHI)
    if all(layer.permittivity(frequency).imag == 0 for layer in layers):
        assert np.abs(solution.power - 1).max() < 1e-10
    return solution.reflection


def patch(z, h=1.75e-3):
    return planar.patch(7e-3, 5e-3, h, z=z)


@pytest.mark.parametrize("eps", [4.0, 10.0 + 1.0j])
def test_a_coated_sheet_without_gaps_is_a_coated_conductor(eps):
    """R is that of a line of the thickness t that is short-circuited."""
    sheet = cal.mesh.plate([PERIOD, PERIOD], PERIOD / 4).translated([0, 0, HEIGHT])
    k0 = 2 * np.pi * FREQUENCY / SPEED_OF_LIGHT
    kz = k0 * np.sqrt(eps - np.sin(THETA) ** 2 + 0j)
    outside = np.array([1 / np.cos(THETA), np.cos(THETA)])
    for thickness in (1e-4, 1e-6, 1e-8):
        seen = 1j / np.tan(kz * thickness) * np.array([k0 * eps / kz, kz / k0])
        found = solved(sheet, [BOARD, cal.Layer(thickness, eps)])
        assert np.abs(found - np.diag((outside - seen) / (outside + seen))).max() < 1e-4


@pytest.mark.variant
def test_coats_and_gaps_that_vanish():
    """The effect of a coat, and of a second equal patch above the first one, falls in proportion to thickness."""
    bare = solved(patch(HEIGHT), [BOARD])
    double = cal.mesh.merge
    for mesh, eps in (
        (lambda t: patch(HEIGHT), 4.0),
        (lambda t: double([patch(HEIGHT), patch(HEIGHT + t)]), 2.2),
    ):
        slopes = [np.abs(solved(mesh(t), [BOARD, cal.Layer(t, eps)]) - bare).max() / t for t in (1e-6, 1e-7)]
        assert slopes[1] * 1e-7 < 2e-4 and np.ptp(slopes) < 0.03 * slopes[1]


def test_patches_next_to_a_conductor_reflect_as_it_does():
    """(R + 1) / d has a limit with the thickness d, which is imaginary: nothing is lost."""
    found = [(solved(patch(d), [cal.Layer(d, 4.0)]) + np.eye(2)) / d for d in (1e-6, 1e-7)]
    assert np.abs(found[1] - found[0]).max() < 2e-3 * np.abs(found[1]).max()
    assert np.abs(found[1].real).max() < 1e-4 * np.abs(found[1].imag).max()


def test_images_and_waves_have_one_sum(monkeypatch):
    """Where layers are just thick enough for sums of waves: two planes, three layers, losses."""
    layers = [cal.Layer(0.5e-3, 5.0 + 0.1j), cal.Layer(0.6e-3, 3.0), cal.Layer(0.7e-3, 9.0)]
    mesh = cal.mesh.merge([patch(0.5e-3), planar.strip_dipole(6e-3, 2e-3, 2e-3, z=1.1e-3)])
    cell = cal.PeriodicCell(mesh, PERIOD, cal.Stack(layers, below=cal.Layer(eps_r=2.0)))
    found = []
    for share, kind in ((1e-9, PlaneParts), (0.2, ImageParts)):
        monkeypatch.setattr(images, "IMAGE_DISTANCE", share)
        assert type(cell._slow_part(cell.stack.at(FREQUENCY))) is kind
        found.append(cell.solve(FREQUENCY, THETA, PHI).reflection)
    assert np.abs(found[1] - found[0]).max() < 3e-5


def test_far_cells_do_not_see_each_other():
    """Next to a conductor at the distance d entries are those of a single cell, but for (d / period)^2."""
    d, mesh = 2e-6, patch(2e-6)
    stack = cal.Stack([cal.Layer(d, 4.0)], below="pec")
    cell = cal.PeriodicCell(mesh, 8 * PERIOD, stack)
    sections, transverse = stack.at(1e9), np.zeros(2)
    found = cell_matrix(cell.functions, cell._planes, sections, cell._slow_part(sections), transverse, 1e-4)
    wanted = -cal.layered_electric_field(stack, 1e9, cal.RWG(mesh)).assemble("dense") @ np.eye(len(found))
    assert np.abs(found - wanted).max() < 2e-4 * np.abs(wanted).max()


def test_what_is_too_thin_is_refused():
    with pytest.raises(ValueError, match="layers and gaps next to the metal thicker than 1e-09 m"):
        solved(patch(1e-12), [cal.Layer(1e-12, 4.0)])


def test_metal_on_conductors():
    """A film changes little, in proportion to its thickness; a layer thicker than its skin depth is refused."""
    bare = solved(patch(HEIGHT), [BOARD])
    changes = [solved(patch(HEIGHT), [BOARD, cal.Layer(t, conductivity=1e2)]) - bare for t in (1e-9, 1e-8)]
    assert np.abs(changes[1] - 10 * changes[0]).max() < 0.05 * np.abs(changes[1]).max()
    with pytest.raises(ValueError, match=r"metal at z = 0.035 mm lies on a layer that conducts, with a skin depth of"):
        solved(patch(3.5e-5), [cal.Layer(3.5e-5, conductivity=5.8e7)])
