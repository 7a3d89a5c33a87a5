"""Curved triangles: a quadratic map onto a sphere, where points, normals and Jacobians at rule points are requested."""

from dataclasses import dataclass

import numpy as np
import pytest

import calderon as cal
from calderon.mesh.curved import CurvedMesh
from calderon.mesh.geometry import OUTLINE, CurvedTriangles
from calderon.spaces.charges import charges
from calderon.spaces.element import Element

K = 1.0
DEGREE = 8


@dataclass(frozen=True)
class Quadratic(CurvedTriangles):
    """Triangles through six points each: corners and middles of edges, numbered as the nodes of P2 are."""

    nodes: np.ndarray

    def take(self, numbers):
        return Quadratic(self.nodes[numbers])

    def points(self, reference):
        return Element(2).values(reference).T @ self.nodes

    def tangents(self, reference):
        return np.einsum("sqd,nsc->nqdc", Element(2).gradients(reference), self.nodes)


def bulged(h):
    """A unit sphere with the middles of all edges on it."""
    flat = cal.mesh.sphere(h=h)
    flat = cal.TriangleMesh(flat.vertices / np.linalg.norm(flat.vertices, axis=1, keepdims=True), flat.triangles)
    nodes = flat.geometry(np.arange(flat.number_of_triangles)).points(Element(2).nodes)
    nodes = nodes / np.linalg.norm(nodes, axis=2, keepdims=True)
    return flat, CurvedMesh(flat, lambda numbers: Quadratic(nodes[numbers]))


def potential(mesh, point):
    """The potential 1 / (4 pi r) of a unit charge density at a point, summed over charges."""
    found = charges(cal.P1(mesh), DEGREE, "value")
    strengths = found.strengths("value", np.ones(found.dimension))[:, 0]
    return (strengths / np.linalg.norm(point - found.points, axis=1)).sum() / (4 * np.pi)


def quantities(mesh):
    """Errors of the area, the volume, the potential of charges at distance 2, which is 1/2, and the uniform far field
    of a single layer."""
    found = charges(cal.P1(mesh), DEGREE, "value")
    volume = np.einsum("n,nc,nc->", found.weights, found.points, found.normals) / 3
    density = cal.P1(mesh).interpolation(1.0)
    layer = cal.single_layer_potential(cal.Helmholtz(K), density, quadrature=cal.Quadrature(regular=DEGREE))
    far = layer.far_field(np.array([[0.0, 0.0, 1.0], [0.6, 0.0, 0.8]]))
    projected = cal.P2(mesh).projection(lambda x: x[:, 0] * x[:, 1])
    return np.array([
        abs(found.weights.sum() / (4 * np.pi) - 1),
        abs(volume * 3 / (4 * np.pi) - 1),
        abs(potential(mesh, np.array([0.0, 1.2, 1.6])) * 2 - 1),
        np.abs(far / np.sinc(K / np.pi) - 1).max(),
        abs(projected.l2_error(0.0) ** 2 * 15 / (4 * np.pi) - 1),
    ])  # fmt: skip


def test_curved_triangles_converge_with_the_fourth_order_flat_ones_with_the_second():
    sizes = 0.5, 0.25
    flat, curved = np.array([[quantities(mesh) for mesh in bulged(h)] for h in sizes]).swapaxes(0, 1)
    steps = np.log([np.sqrt(bulged(h)[0].number_of_triangles) for h in sizes])
    rates = [np.log(each[0] / each[1]) / (steps[1] - steps[0]) for each in (flat, curved)]
    assert np.all(np.abs(rates[0] - 2) < 0.3), rates[0]
    assert np.all(rates[1] > 3.7), rates[1]
    assert np.all(curved[1] < flat[1] / 30), (flat, curved)


def test_surface_gradients_are_tangential_and_curls_are_those_of_the_curved_normal():
    _, mesh = bulged(0.3)
    space, point = cal.P2(mesh), np.array([[0.2, 0.3]])
    height = space.interpolation(lambda x: x[:, 2])
    x = space.geometry.points(point)[:, 0]
    exact = np.array([0.0, 0.0, 1.0]) - x[:, 2:] * x
    assert np.abs(height.surface_gradient(point)[:, 0] - exact).max() < 0.02
    assert np.abs(height.surface_curl(point)[:, 0] - np.cross(x, exact)).max() < 0.02
    found = charges(cal.P1(mesh), 4, "curl")
    spread = sum(part.T @ part for part in found.spread("curl"))
    assert np.abs(spread @ np.ones(found.dimension)).max() < 1e-12  # constants have no curl


def test_normals_of_data_are_those_of_the_curved_triangles():
    _, mesh = bulged(0.3)
    load = cal.P0(mesh).load_vector(lambda x, n: (x * n).sum(axis=1), degree=DEGREE)
    assert abs(load.sum() / (4 * np.pi) - 1) < 3e-4
    assert np.abs(cal.P1(mesh).node_normals - mesh.vertices).max() < 0.01
    assert (
        np.abs(mesh.geometry(np.array([3])).centroids - 1 / 3 * mesh.vertices[mesh.triangles[3]].sum(axis=0)).max() > 0
    )


def test_a_flat_map_gives_the_numbers_of_flat_triangles():
    flat = cal.mesh.sphere(h=0.5)
    every = np.arange(flat.number_of_triangles)
    plane = flat.geometry(every)
    curved = Quadratic(plane.points(Element(2).nodes))
    rule = cal.quadrature.triangle_rule(4)
    gradients = Element(2).gradients(rule.points)
    for verb, *given in (
        ("points", rule.points), ("weights", rule), ("normals_at", rule.points), ("area_vectors_at", rule.points),
        ("gradients", rule.points, gradients), ("centroids",), ("diameters",),
    ):  # fmt: skip
        one, other = (getattr(each, verb) for each in (plane, curved))
        one, other = (one(*given), other(*given)) if given else (one, other)
        assert np.allclose(one, other, rtol=1e-12, atol=1e-13), verb
    assert np.allclose(plane.diameters, flat.diameters, rtol=1e-15)
    assert np.array_equal(OUTLINE, Element(2).nodes[[0, 1, 2, 5, 3, 4]])


@pytest.mark.parametrize("method", ["dense", "hmatrix"])
@pytest.mark.parametrize("operator", [cal.single_layer, cal.hypersingular])
def test_integral_operators_refuse_curved_triangles(operator, method):
    _, mesh = bulged(0.8)
    with pytest.raises(ValueError, match="flat triangles only"):
        operator(cal.Laplace(), cal.P1(mesh)).assemble(method=method)


@pytest.mark.parametrize(
    "use",
    [
        lambda mesh: cal.RWG(mesh),
        lambda mesh: cal.BC(mesh),
        lambda mesh: mesh.scaled(2.0),
        lambda mesh: cal.mesh.merge([mesh, mesh]),
        lambda mesh: mesh.barycentric_refinement,
        lambda mesh: cal.single_layer_potential(cal.Laplace(), cal.P1(mesh).interpolation(1.0)).evaluate([0, 0, 3.0]),
    ],
    ids=["RWG", "BC", "scaled", "merge", "refinement", "potential"],
)
def test_what_reads_flat_triangles_refuses_curved_ones(use):
    with pytest.raises(ValueError, match="flat triangles only"):
        use(bulged(0.8)[1])
