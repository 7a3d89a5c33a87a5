"""Arrows of ports lie at the gaps, along positive currents, with the names of the feeds of solutions."""

from types import SimpleNamespace

import numpy as np
import pytest

import calderon as cal
from calderon.formulations.ports.port_arrows import port_arrows


def annulus(rows):
    """A flat ring of 2 x 12 cells, whose inner triangles have the tag 0 and outer ones the tag 1, or of 3 rows."""
    angles = np.arange(12) * np.pi / 6
    circle = np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    vertices = np.concatenate([radius * circle for radius in range(1, rows + 2)])
    triangles, tags = [], []
    for row in range(rows):
        for n in range(12):
            a, b = 12 * row + n, 12 * row + (n + 1) % 12
            triangles += [[a, a + 12, b + 12], [a, b + 12, b]]
            tags += [row, row]
    return cal.TriangleMesh(vertices, np.array(triangles), np.array(tags))


@pytest.mark.parametrize(
    ("rows", "gap", "radius"),
    [(2, cal.DeltaGap(between=(0, 1)), 2.0), (3, cal.FiniteGap(cells=1, between=(0, 2)), 2.5)],
)
def test_arrows_of_rings_lie_at_one_place_along_its_current(rows, gap, radius):
    """The mean of all directions is zero."""
    problem = SimpleNamespace(mesh=annulus(rows), ports=[gap])
    arrows = port_arrows(problem, ["ring"])
    middle, along = (arrows.places + arrows.vectors / 2)[0], arrows.vectors[0] / np.linalg.norm(arrows.vectors[0])
    assert np.linalg.norm(middle) == pytest.approx(radius, rel=0.06)
    assert along @ middle / np.linalg.norm(middle) > 0.9


def test_arrows_of_rings_around_an_axis_lie_on_it():
    mesh = cal.mesh.cylinder(0.1, 0.4, 0.06)
    upper = (mesh.centroids[:, 2] > 0).astype(int)
    tube = cal.TriangleMesh(mesh.vertices, mesh.triangles, upper)
    arrows = port_arrows(SimpleNamespace(mesh=tube, ports=[cal.DeltaGap(between=(1, 0))]), ["axial"])
    middle, along = (arrows.places + arrows.vectors / 2)[0], arrows.vectors[0] / np.linalg.norm(arrows.vectors[0])
    assert np.linalg.norm(middle[:2]) < 0.02 and along @ [0, 0, -1] > 0.99


def test_feeds_in_mirrors_have_arrows_with_their_names():
    """Above a ground the gap between strip and ground lies in its plane."""
    upper = (
        cal.mesh.plate(lengths=[0.02, 0.24], h=0.06)
        .rotated([[1, 0, 0], [0, 0, -1], [0, 1, 0]])
        .translated([0, 0, 0.12])
    )
    gap = cal.DeltaGap(line=[[-0.01, 0, 0], [0.01, 0, 0]], toward=[0, 0, 1.0], name="foot")
    arrows = {}
    for name, mirrors in (("ground", cal.HalfSpace("z")), ("symmetry", {"z": "odd"})):
        antenna = cal.PECAntenna(upper, frequency=3e8, feed=gap, mirrors=mirrors)
        arrows[name] = port_arrows(antenna, antenna._names)
    for each in arrows.values():
        assert each.texts == ("foot",) and np.allclose(each.places + each.vectors / 2, 0, atol=1e-12)
        assert each.vectors[0, 2] > 0 and np.allclose(each.vectors[0, :2], 0)


@pytest.mark.filterwarnings("ignore::calderon.mesh.errors.CoarseMeshWarning")
def test_a_guide_with_several_modes_has_one_arrow_with_all_their_names():
    mesh = cal.mesh.cuboid([0.02, 0.02, 0.03], 0.01)
    low = np.isclose(mesh.centroids[:, 2], -0.015)
    tagged = cal.TriangleMesh(mesh.vertices, mesh.triangles, low.astype(int), {"walls": 0, "left": 1})
    surfaces = {"walls": cal.Metal("air", "guide"), "left": cal.WaveguidePort("guide", "air", waves=2)}
    regions = {"air": cal.Material(), "guide": cal.Material()}
    problem = cal.MaxwellProblem(tagged, regions=regions, surfaces=surfaces, frequency=9e9)
    names = problem._waveguides.names
    arrows = port_arrows(problem, names)
    assert len(names) == 2 and arrows.texts == ("; ".join(names),)
    assert np.allclose(arrows.places + arrows.vectors, [[0, 0, -0.015]]) and arrows.vectors[0, 2] > 0
