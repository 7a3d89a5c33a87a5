"""Matrices of the reference tetrahedron against what holds for polynomials."""

import math

import numpy as np
import pytest

from calderon.dg.operator.reference import OUTWARD, orthonormal_basis, reference_tetrahedron
from calderon.dg.stepping.runge_kutta import RADIUS, STAGES
from calderon.quadrature import tetrahedron_rule


@pytest.mark.parametrize("degree", [0, 1, 4, 7, 14])
def test_rule_integrates_every_monomial(degree):
    rule = tetrahedron_rule(degree)
    x, y, z = rule.points.T
    for a, b, c in np.ndindex(degree + 1, degree + 1, degree + 1):
        if a + b + c <= degree:
            exact = math.factorial(a) * math.factorial(b) * math.factorial(c) / math.factorial(a + b + c + 3)
            assert rule.weights @ (x**a * y**b * z**c) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("order", range(1, 7))
def test_polynomials_are_orthonormal_and_derivatives_exact(order):
    reference, rule = reference_tetrahedron(order), tetrahedron_rule(2 * order)
    values = orthonormal_basis(rule.points, order)[0]
    assert np.allclose(values.T @ (rule.weights[:, None] * values), np.eye(reference.size), atol=1e-12)
    x = reference.nodes
    for powers in ((order, 0, 0), (0, order, 0), (0, order - 1, 1), (1, 0, order - 1)):
        for axis in range(3):
            slope = powers[axis] * np.prod(x ** np.maximum(np.array(powers) - np.eye(3, dtype=int)[axis], 0), axis=1)
            assert np.allclose(reference.derivatives[axis] @ np.prod(x ** np.array(powers), axis=1), slope, atol=1e-11)


@pytest.mark.parametrize("order", range(1, 7))
def test_integration_by_parts(order):
    """M D_l + (M D_l)^T is the sum of the face masses times the outward normal."""
    reference = reference_tetrahedron(order)
    for axis in range(3):
        stiffness = reference.mass @ reference.derivatives[axis]
        faces = np.zeros_like(stiffness)
        for face, on in enumerate(reference.face_nodes):
            faces[np.ix_(on, on)] += OUTWARD[face, axis] * reference.face_mass
        assert np.allclose(stiffness + stiffness.T, faces, atol=1e-13)


@pytest.mark.parametrize("order", range(1, 7))
def test_faces_list_their_nodes_alike(order):
    """With respect to the vertices of the face in ascending order."""
    reference = reference_tetrahedron(order)
    corners = np.vstack([np.zeros(3), np.eye(3)])
    places = []
    for face, on in enumerate(reference.face_nodes):
        a, b, c = np.delete(corners, face, axis=0)
        local = np.linalg.lstsq(np.stack([b - a, c - a], axis=1), (reference.nodes[on] - a).T, rcond=None)[0]
        assert np.allclose(a + local.T @ [b - a, c - a], reference.nodes[on], atol=1e-13)
        places.append(local)
    assert np.allclose(places, places[0], atol=1e-13)


def test_interpolation_does_not_amplify():
    """Lebesgue constants of good nodes of degree 6 stay below 8 (equispaced ones reach 15)."""
    rng = np.random.default_rng(0)
    points = rng.dirichlet(np.ones(4), 4000)[:, 1:]
    assert np.abs(reference_tetrahedron(6).interpolation(points)).sum(axis=1).max() < 8


def amplification(z):
    """Growth of q in one step of q' = lambda q, z = lambda dt: stable where its modulus is at most 1."""
    q, r = 1.0 + 0j, 0j
    for a, b, _ in STAGES:
        r = a * r + z * q
        q += b * r
    return q


def test_runge_kutta_is_of_order_four_and_stable_in_the_half_disc():
    errors = [abs(amplification(1j * h) - np.exp(1j * h)) for h in (0.2, 0.1)]
    assert np.log2(errors[0] / errors[1]) > 4.9
    for angle in np.linspace(np.pi / 2 + 1e-3, np.pi, 90):
        radii = np.linspace(0.01, RADIUS, 200)
        assert max(abs(amplification(r * np.exp(1j * angle))) for r in radii) <= 1 + 1e-12


def test_orders_are_from_one_to_six():
    with pytest.raises(ValueError, match="order=7"):
        reference_tetrahedron(7)
