"""Potentials of flat triangles at points next to them: against graded rules, and one-sided however near."""

import numpy as np
import pytest

import calderon as cal
from calderon.potentials.sources import point_triangle
from calderon.potentials.sources.point_triangle import Plane, point_triangle_integrals
from calderon.quadrature.graded import graded

CORNERS = np.array([[0.1, 0.2, -0.1], [1.1, 0.1, 0.2], [0.5, 0.9, 0.4]])
NORMAL = np.cross(CORNERS[1] - CORNERS[0], CORNERS[2] - CORNERS[0])
NORMAL /= np.linalg.norm(NORMAL)
CENTRE = CORNERS.mean(axis=0)
DENSITIES = np.array(
    [[[1, 0, 0, 0, 0, 0], [0.3, 0.7, -0.4, 0, 0, 0], [0.2, 1, -0.5, 0.8, -1.1, 0.4 + 0.6j]]], dtype=complex
)
PLANE = Plane.of(CORNERS[None], NORMAL[None], DENSITIES)
KINDS = [(False, False), (True, False), (False, True), (True, True)]
"""(double layer, gradient)."""
FEET = {
    "inside": CENTRE + 0.05 * (CORNERS[0] - CORNERS[1]),
    "next to an edge": (CORNERS[0] + CORNERS[1]) / 2 + 0.003 * (CORNERS[2] - CENTRE),
    "outside": CORNERS[0] - 0.2 * (CENTRE - CORNERS[0]),
    "at a vertex": CORNERS[1],
}


def graded_integrals(x, k):
    """The four kinds (3, 1 or 3): over six triangles about the foot of the point, points graded toward it."""
    foot = x - ((x - CORNERS[0]) @ NORMAL) * NORMAL
    rule = graded(60, 12)
    s, t = np.meshgrid(rule.points, rule.points, indexing="ij")
    inverse = np.linalg.pinv(np.stack([CORNERS[1] - CORNERS[0], CORNERS[2] - CORNERS[0]], axis=1))
    totals = [0, 0, 0, 0]
    for i in range(3):
        a, b = CORNERS[i], CORNERS[(i + 1) % 3]
        q = a + np.clip((foot - a) @ (b - a) / ((b - a) @ (b - a)), 0, 1) * (b - a)
        for end, sign in ((a, -1), (b, 1)):
            y = foot + t[..., None] * (q - foot + s[..., None] * (end - q))
            weights = np.outer(rule.weights, rule.weights) * t * (sign * np.cross(q - foot, end - q) @ NORMAL)
            d = x - y
            r = np.linalg.norm(d, axis=-1)
            g = np.exp(1j * k * r) / r
            h = g * (1j * k * r - 1) / r**2
            slope = -(k * k * g + 3 * h) / r**2
            u, v = np.moveaxis((y - CORNERS[0]) @ inverse.T, -1, 0)
            f = np.einsum("dm,mst->dst", DENSITIES[0], np.stack([np.ones_like(u), u, v, u * u, u * v, v * v])) * weights
            height = (d @ NORMAL)[..., None]
            kernels = [g[..., None], -h[..., None] * height, h[..., None] * d]
            kernels.append(-h[..., None] * NORMAL - slope[..., None] * height * d)
            totals = [each + np.einsum("stc,dst->dc", values, f) for each, values in zip(totals, kernels, strict=True)]
    return totals


def integrals(x, k, kind):
    return point_triangle_integrals(x[None], PLANE, np.zeros(1, np.int64), k, *kind)[0]


@pytest.mark.parametrize("foot", FEET)
@pytest.mark.parametrize("k", [0.0, 0.3, 1.5, 2j, 1 + 0.5j])
def test_closed_forms_and_rest_are_the_integrals(foot, k):
    for height in (2.0, -1.0, 0.3, -0.1):
        x = FEET[foot] + height * NORMAL
        for kind, expected in zip(KINDS, graded_integrals(x, k), strict=True):
            error = np.abs(integrals(x, k, kind) - expected).max() / np.abs(expected).max()
            assert error < (1e-9 if k == 0 else 1e-8), (height, kind)


@pytest.mark.parametrize("k", [0.0, 1.5, 2j])
@pytest.mark.parametrize("kind", KINDS)
def test_limits_on_the_triangle_are_one_sided_and_their_mean(k, kind):
    """In a frame in which the height of the point is exact, next to the centroid."""
    flat = Plane(np.stack([np.zeros((1, 3)), *np.eye(3)[:, None]], axis=1), PLANE.corners, PLANE.densities)

    def at(height, side):
        x = np.array([[0.03, -0.02, height]])
        return point_triangle_integrals(x, flat, np.zeros(1, np.int64), k, *kind, side)[0]

    above, below, mean = at(0.0, 1.0), at(0.0, -1.0), at(0.0, 0.0)
    for height in (1e-8, 1e-10, 1e-12):
        assert np.abs(at(height, 0.0) - above).max() < 1e-6 * np.abs(above).max()
        assert np.abs(at(-height, 0.0) - below).max() < 1e-6 * np.abs(above).max()
    assert (above + below) / 2 == pytest.approx(mean, abs=1e-12)
    f = np.array([1, 0.03, -0.02, 0.03**2, -0.03 * 0.02, 0.02**2]) @ (PLANE.densities[0] @ [1, 1j]).T
    sign = {(True, False): 4, (False, True): -4}.get(kind, 0)
    assert (above - below)[:, -1] == pytest.approx(sign * np.pi * f, abs=1e-11)


@pytest.mark.parametrize("kind", KINDS)
def test_pairs_do_not_depend_on_their_neighbours(kind):
    """Runs of 1, 8, 9 and 3 pairs of a triangle, in vectors that they fill and do not fill."""
    mesh = cal.mesh.sphere(1.0, 0.9)
    corners = mesh.vertices[mesh.triangles]
    densities = np.random.default_rng(1).normal(size=(len(corners), 2, 6)) * (1 + 0.5j)
    plane = Plane.of(corners, mesh.normals, densities)
    numbers = np.repeat([3, 0, 5, 3], [1, 8, 9, 3])
    x = corners[numbers].mean(axis=1) + np.random.default_rng(2).normal(size=(len(numbers), 3))
    together = point_triangle_integrals(x, plane, numbers, 1.2, *kind)
    for n, number in enumerate(numbers):
        alone = point_triangle_integrals(x[n : n + 1], plane, np.array([number]), 1.2, *kind)[0]
        assert np.abs(together[n] - alone).max() < 1e-14 * np.abs(alone).max()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [1.5, 1 + 0.5j])
def test_the_rest_is_the_same_by_its_series_and_beyond(monkeypatch, k, kind):
    x = FEET["outside"] + 1.7 * NORMAL
    expected = integrals(x, k, kind)
    monkeypatch.setattr(point_triangle, "LARGEST", 0.5)
    found = integrals(x, k, kind)
    assert np.abs(found - expected).max() < 1e-11 * np.abs(expected).max()
    assert np.abs(found - expected).max() > 0  # by the other way


@pytest.mark.parametrize("exponent", [1, 3, 6, 9, 12])
def test_layers_are_one_sided_at_every_distance(exponent):
    """D 1 has the values -1 and 0; grad S f jumps by -f along the normal, grad D f by grad f."""
    mesh = cal.mesh.sphere(1.0, 0.6)
    many = cal.Quadrature(regular=12)  # of triangles that are not near
    step = 10.0**-exponent * mesh.diameters[:, None] * mesh.normals
    one = cal.Function(cal.P1(mesh), np.ones(mesh.number_of_vertices))
    inside, outside = mesh.centroids - step, mesh.centroids + step
    values = cal.double_layer_potential(cal.Laplace(), one, quadrature=many).evaluate(np.concatenate([inside, outside]))
    assert np.abs(values - np.repeat([-1.0, 0.0], len(step))).max() < 1e-9
    if exponent < 9:
        return
    f = cal.Function.interpolate(cal.P2(mesh), lambda x: x[:, 0] + x[:, 1] * x[:, 2])
    at = f.values(np.array([[1 / 3, 1 / 3]]))[:, 0]
    single = cal.single_layer_potential(cal.Helmholtz(1.3), f)
    jump = single.gradient(outside) - single.gradient(inside)
    assert np.abs(jump + at[:, None] * mesh.normals).max() < 1e-6
    double = cal.double_layer_potential(cal.Helmholtz(1.3), f)
    assert np.abs(double.evaluate(outside) - double.evaluate(inside) - at).max() < 1e-6
    jump = double.gradient(outside) - double.gradient(inside)
    assert np.abs(jump - f.surface_gradient(np.array([[1 / 3, 1 / 3]]))[:, 0]).max() < 1e-6
