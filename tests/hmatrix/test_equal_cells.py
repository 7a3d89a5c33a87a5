"""Slender bodies of equal cells, on whose mirror planes crosses once converged while half of a block was wrong; and the
check of finished matrices at some rows."""

import numpy as np
import pytest

import calderon as cal
from calderon.hmatrix import cluster_tree
from calderon.hmatrix.tolerances import FINER, Sample, checked
from calderon.hmatrix.tree.places import Places
from calderon.mesh.errors import AccuracyWarning
from calderon.spaces.supports import supports_of


def tube(around, rows, length, radius, taper=0.0):
    """A closed tube along z of regular polygons, with a point at either end; taper: of an ellipse's outline."""
    turns, z = 2 * np.pi * (np.arange(around) + 0.5) / around, np.linspace(0, length, rows + 1)
    radii = radius * np.sqrt(np.maximum(1 - taper * (2 * z / length - 1) ** 2, 0.0))
    circle = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    walls = np.concatenate([(radii[:, None, None] * circle).reshape(-1, 2), np.repeat(z, around)[:, None]], axis=1)
    i, k = (each.ravel() for each in np.meshgrid(np.arange(rows), np.arange(around), indexing="ij"))
    a, b = i * around + k, i * around + (k + 1) % around
    n, last, k = len(walls), rows * around, np.arange(around)
    triangles = [
        np.stack([a, b, b + around], 1), np.stack([a, b + around, a + around], 1),
        np.stack([0 * k + n, (k + 1) % around, k], 1),
        np.stack([0 * k + n + 1, last + k, last + (k + 1) % around], 1),
    ]  # fmt: skip
    return cal.TriangleMesh(np.concatenate([walls, [[0, 0, 0], [0, 0, length]]]), np.concatenate(triangles))


BODIES = {
    "bar": lambda: cal.mesh.cuboid((10.0, 0.05, 0.05), 0.05),
    "rod": lambda: tube(6, 200, 5.0, 0.02),
    "needle": lambda: tube(6, 200, 5.0, 0.02, 0.99),
    "strip": lambda: cal.mesh.plate((10.0, 0.06), 0.025),
}
GREEN = cal.Helmholtz(30.0)


def largest_errors(operator, rtols):
    """Errors of products with a random vector, by the tolerance."""
    dense = operator.assemble("dense")
    x = np.random.default_rng(3).standard_normal(operator.shape[1])
    exact = dense @ x
    found = [operator.assemble("hmatrix", rtol=rtol) for rtol in rtols]
    assert all(each.error is not None and each.error <= rtol for each, rtol in zip(found, rtols, strict=True))
    return [np.linalg.norm(each @ x - exact) / np.linalg.norm(exact) for each in found]


@pytest.mark.parametrize(("body", "layer"), [("bar", "single_layer"), ("rod", "double_layer")])
def test_layers_of_slender_bodies_hold_the_tolerance(body, layer):
    rtols = 1e-3, 1e-6
    errors = largest_errors(getattr(cal, layer)(GREEN, cal.P1(BODIES[body]())), rtols)
    assert (np.array(errors) < rtols).all()


@pytest.mark.variant
@pytest.mark.parametrize(("body", "layer"), [("needle", "double_layer"), ("strip", "single_layer")])
def test_layers_of_needles_and_strips_hold_the_tolerance(body, layer):
    rtols = 1e-3, 1e-5, 1e-6, 1e-7
    errors = largest_errors(getattr(cal, layer)(GREEN, cal.P1(BODIES[body]())), rtols)
    assert (np.array(errors) < rtols).all()


@pytest.mark.variant
@pytest.mark.parametrize("body", ["bar", "strip"])
def test_electric_fields_of_slender_bodies_hold_the_tolerance(body):
    rtols = 1e-3, 1e-7
    errors = largest_errors(cal.electric_field(30.0, cal.RWG(BODIES[body]())), rtols)
    assert (np.array(errors) < rtols).all()


def test_middles_of_supports_tell_the_edges_of_a_bar_apart():
    """Functions on its edges lie on two faces each, and boxes around them have one middle."""
    space = cal.P1(tube(4, 40, 2.0, 0.035))
    inner = np.abs(space.mesh.vertices[:, 2] - 1) < 0.9
    middles, boxes = supports_of(space).middles[inner, :2], supports_of(space).boxes.mean(axis=1)[inner, :2]
    assert len(np.unique(np.round(boxes, 6), axis=0)) == 1
    assert len(np.unique(np.sign(np.round(middles, 6)), axis=0)) == 4


def test_places_have_the_extents_of_their_clusters():
    points = np.random.default_rng(1).random((300, 3)) * [1.0, 0.1, 0.0]
    tree = cluster_tree(points)
    places = Places.of(tree, points, np.dtype(float))
    for cluster, (start, stop) in enumerate(zip(tree.start, tree.stop, strict=True)):
        extents = np.ptp(places.points[:, start:stop], axis=1) * places.scales[cluster]
        assert extents == pytest.approx([1, 1, 0])


class Found:
    """A matrix with an error."""

    dtype, rtol, error = np.dtype(float), 0.0, None

    def __init__(self, error):
        self.size = error

    def products_of(self, rows, x):
        return (1 + self.size) * np.ones((len(rows), x.shape[1]))


def test_a_matrix_above_the_tolerance_is_made_again():
    """And is warned of where a finer tolerance does not help."""
    sample = Sample(np.arange(3), np.ones((9, 2)), np.ones(3), np.ones((3, 2), complex))
    asked = []

    def made(rtol, floor=0.0):
        asked.append(rtol)
        return Found(max(floor, 3 * rtol))

    matrix = checked(made, sample, 1e-4, "the layer")
    assert asked == pytest.approx([1e-4, FINER[0] * 1e-4])
    assert matrix.error == pytest.approx(3e-5) and matrix.rtol == 1e-4
    with pytest.warns(AccuracyWarning, match="the H-matrix of the layer has an error of 1.0e-03 on 3 rows"):
        matrix = checked(lambda rtol: made(rtol, 1e-3), sample, 1e-4, "the layer")
    assert matrix.error == pytest.approx(1e-3)
