"""Distant pairs of triangles have cheaper rules, whose errors stay below what a matrix or a tolerance permits."""

import functools

import numpy as np
import pytest
from scipy.special import spherical_jn

import calderon as cal
from calderon.galerkin.regular.centroid_distances import wave_weights
from calderon.operators.tree import integrals_of, with_integrals
from calderon.pairs.zones import SHARE, STATIC, tolerant
from calderon.quadrature import triangle_rule

CONVERGED = cal.Quadrature(regular=8, accuracy=0)
USUAL = cal.Quadrature(accuracy=0)
"""One rule for all pairs that are neither touching nor near, with errors of waves below 1e-6."""
ROTATION = np.linalg.qr(np.random.default_rng(5).standard_normal((3, 3)))[0]


def renumbered(mesh):
    """A surface turned, twice as large and elsewhere, with its triangles in another order."""
    order = np.random.default_rng(1).permutation(mesh.number_of_triangles)
    turned = ROTATION * np.linalg.det(ROTATION)  # without a reflection
    return cal.TriangleMesh(2.0 * mesh.vertices @ turned.T + [30.0, -7.0, 2.0], mesh.triangles[order])


MESHES = {
    "sphere": lambda: cal.mesh.sphere(1.0, 0.14),
    "cube": lambda: cal.mesh.cube(1.0, 0.09),
    "ellipsoid": lambda: cal.mesh.ellipsoid((2.0, 1.0, 0.7), 0.2),
    "graded cube": lambda: cal.mesh.cuboid((1.0, 1.0, 1.0), 0.16, grading=2),
    "slender bar": lambda: cal.mesh.cuboid((6.0, 0.4, 0.4), 0.16),
    "elsewhere": lambda: renumbered(cal.mesh.sphere(1.0, 0.14)),
}
LAYERS = {
    "constants": (cal.single_layer, cal.P0, MESHES),
    "linear": (cal.single_layer, cal.P1, MESHES),
    "double": (cal.double_layer, cal.P1, ("ellipsoid", "graded cube", "slender bar")),  # others have few distant pairs
    "by parts": (cal.hypersingular, cal.P1, MESHES),
}


@functools.cache
def mesh_of(name):
    """One of the meshes, made once."""
    return MESHES[name]()


def errors_of(layer, green, space, exact, qualities):
    """(qualities, 4) errors of some rows for each quadrature against that of `exact`, over the largest numbers of more
    rows: of entries, and of products with a constant, a smooth and a random vector."""
    more = np.random.default_rng(2).choice(space.dimension, 72, replace=False)
    rows, large = more[:12], layer(green, space).entries(more, slice(None))
    exact, *found = (layer(green, space, quadrature=each).entries(rows, slice(None)) for each in (exact, *qualities))
    places = space.mesh.centroids if space.element.degree == 0 else space.mesh.vertices
    places = (places - places.mean(axis=0)) / np.ptp(places, axis=0).max()
    smooth = np.cos(3 * places @ [0.5, 0.6, 0.4]) + places[:, 0]
    vectors = np.stack([np.ones(len(places)), smooth, np.random.default_rng(0).standard_normal(len(places))], axis=1)
    scale = np.abs(large @ vectors).max(axis=0)
    if layer is cal.hypersingular:  # its products with constants cancel: they are k^2 times a small number
        scale[0] = max(scale[0], 0.1 * np.abs(large).sum(axis=1).max())
    errors = [each - exact for each in found]
    return np.array([
        [np.abs(each).max() / np.abs(large).max(), *(np.abs(each @ vectors).max(axis=0) / scale)] for each in errors
    ])  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_static_kernels_keep_six_digits(name):
    """Or those of the usual rule at any distance, where it has fewer."""
    (layer, space, meshes), changed = LAYERS[name], False
    for mesh in map(mesh_of, meshes):
        usual, found = errors_of(layer, cal.Laplace(), space(mesh), CONVERGED, (USUAL, cal.Quadrature()))
        assert np.all(found <= np.maximum(1.1 * usual, 1e-6))
        changed = changed or np.any(found != usual)
    assert changed  # there are distant pairs


@pytest.mark.parametrize("name", LAYERS)
def test_waves_keep_their_accuracy(name):
    """At ten of the longest edges a wavelength, also in products with a constant, which cancel."""
    layer, space, meshes = LAYERS[name]
    for mesh in map(mesh_of, meshes):
        green = cal.Helmholtz(2 * np.pi / (10 * np.median(mesh.diameters)))
        errors = errors_of(layer, green, space(mesh), USUAL, [cal.Quadrature(accuracy=1e-4)])
        assert np.max(errors) <= 1e-4
        assert np.max(errors) > 1e-6


@pytest.mark.parametrize(("corners", "order"), [(np.random.default_rng(0).standard_normal((3, 3)), 0), (np.eye(3), 1)])
def test_weights_of_waves_gain_two_orders(corners, order):
    """Integrals of linear functions times j_0 on any triangle, and times j_1 Y_1 on an equilateral one."""
    points, fine, errors = triangle_rule(2), triangle_rule(12), []
    for size in (0.2, 0.1):
        offsets = size * (corners - corners.mean(axis=0))

        def wave(barycentric, offsets=offsets):
            x = barycentric @ offsets
            r = np.linalg.norm(x, axis=1)
            return spherical_jn(order, r) * (x[:, 0] / r) ** order

        exact = 2 * fine.weights * wave(fine.barycentric) @ fine.barycentric
        for square in (0.0, 1.0):  # those of the rule, those of waves
            rho, *shares = wave_weights((offsets**2).sum(axis=1)[None], square)[0]
            weights = rho / 6 * (np.eye(3) + np.array(shares)[:, None])
            assert np.allclose(weights.sum(axis=0), 1 / 3)
            errors.append(np.abs(weights @ wave(points.barycentric) - exact).max())
    usual, found = np.log2(np.array(errors[:2]) / errors[2:])
    assert usual == pytest.approx(2 + order, abs=0.1) and found == pytest.approx(4 + order, abs=0.1)


def test_series_of_double_layers_miss_the_fourth_order_of_constants():
    """Two distant triangles: terms of the third order are missing only between linear functions of both sides."""
    shapes, rule, errors = np.random.default_rng(3).standard_normal((2, 3, 3)), triangle_rule(12), []
    for size in (0.03, 0.015):
        corners = size * shapes + [[[0, 0, 0]], [[0.8, 0.5, 0.3]]]
        mesh = cal.TriangleMesh(corners.reshape(6, 3), [[0, 1, 2], [3, 4, 5]])
        operator = cal.double_layer(cal.Laplace(), cal.P1(mesh), quadrature=cal.Quadrature(accuracy=1e-2))
        x, y = rule.barycentric @ corners
        d, weights = x[:, None] - y, rule.barycentric * rule.weights[:, None]
        normal = np.cross(corners[1, 1] - corners[1, 0], corners[1, 2] - corners[1, 0])
        area = np.linalg.norm(np.cross(corners[0, 1] - corners[0, 0], corners[0, 2] - corners[0, 0]))
        kernel = d @ normal / (4 * np.pi * np.linalg.norm(d, axis=2) ** 3)
        exact = area * weights.T @ kernel @ weights
        error = ((operator.assemble() @ np.eye(6))[:3, 3:] - exact) / np.abs(exact).max()
        errors.append([np.abs(each).max() for each in (error, error.sum(axis=1), error.sum(axis=0))])
    orders = np.log2(errors[0]) - np.log2(errors[1])
    assert orders[0] == pytest.approx(3, abs=0.4) and orders[1:] == pytest.approx(4, abs=0.4)


def test_compressed_methods_take_what_their_tolerance_permits():
    """A tolerance above the usual accuracy loosens, one below it tightens, also what products are compared with."""
    surface = cal.P1(cal.mesh.sphere(1.0, 0.9))
    static, waves = cal.single_layer(cal.Laplace(), surface), cal.single_layer(cal.Helmholtz(1.0), surface)
    for rtol in (1e-2, 1e-4, 1e-8):
        assert tolerant(waves, rtol).quadrature.accuracy == pytest.approx(SHARE * rtol)
        assert tolerant(static, rtol).quadrature.accuracy == pytest.approx(min(0.1, SHARE * rtol / STATIC))
        assert tolerant(static, rtol, loosened=False).quadrature.accuracy <= static.quadrature.accuracy
    for chosen in (0.0, 1e-7, 1e-3):
        operator = cal.single_layer(cal.Laplace(), surface, quadrature=cal.Quadrature(accuracy=chosen))
        assert tolerant(operator, 1e-2) is operator and tolerant(operator, 1e-9) is operator


def test_all_integral_operators_of_an_expression_are_changed():
    """In sums, products, transposed ones, blocks and between sparse matrices; without a change nothing is copied."""
    surface, k = cal.P1(cal.mesh.sphere(1.0, 0.9)), cal.Helmholtz(1.0)
    V, K, W = cal.single_layer(k, surface), cal.double_layer(k, surface), cal.hypersingular(k, surface)
    expression = cal.blocks([[V + 2.0 * (K @ V), K.T], [None, W - cal.identity(surface)]])
    assert with_integrals(expression, lambda each: each) is expression
    changed = with_integrals(expression, lambda each: tolerant(each, 1e-8))
    assert len(integrals_of(changed)) == len(integrals_of(expression)) == 3  # each once, transposed or not
    assert {each.quadrature.accuracy for each in integrals_of(changed)} == {SHARE * 1e-8}
    x = np.random.default_rng(0).standard_normal(expression.shape[1])
    assert np.allclose(changed.assemble() @ x, expression.assemble() @ x, rtol=1e-12)  # no pair of it is distant


@pytest.mark.parametrize("method", ["fmm", "hmatrix"])
def test_small_tolerances_are_those_of_one_rule(method):
    """A dense matrix, whose distant pairs are accurate to 1e-6 or so, would spoil them."""
    operator = cal.single_layer(cal.Laplace(), cal.P1(mesh_of("slender bar")))
    x = np.random.default_rng(0).standard_normal((operator.shape[1], 2))
    one_rule = cal.single_layer(cal.Laplace(), operator.trial, quadrature=cal.Quadrature(accuracy=0)).assemble() @ x
    error = np.linalg.norm(operator.assemble(method, rtol=1e-8) @ x - one_rule) / np.linalg.norm(one_rule)
    assert error <= 1e-8
    assert np.linalg.norm(operator.assemble() @ x - one_rule) > 1e-8 * np.linalg.norm(one_rule)
