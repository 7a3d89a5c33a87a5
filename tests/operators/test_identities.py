"""Identities that the continuous operators satisfy, to the accuracy of the quadrature."""

import numpy as np
import pytest

import calderon as cal
from catalogue import GREENS, cases

K = 2.0
FINE = cal.Quadrature(singular=10)


@pytest.fixture(scope="module")
def mesh():
    return cal.mesh.sphere(radius=1.0, h=0.45)


@pytest.fixture(scope="module")
def cube():
    return cal.mesh.cube(size=1.0, h=0.34)


def assembled(operator):
    return operator.assemble("dense").to_array()


def largest(matrix):
    return np.abs(matrix).max()


@pytest.mark.parametrize("space", [cal.P0, cal.P1])
def test_double_layer_of_one_is_minus_one_half_on_a_polyhedron(cube, space):
    functions = space(cube)
    one = np.ones(functions.dimension)
    mass = functions.mass_matrix() @ one
    operator = cal.double_layer(cal.Laplace(), functions)
    assert largest(assembled(operator) @ one + 0.5 * mass) < 1e-6 * largest(mass)


def test_hypersingular_of_one_vanishes_and_the_form_is_symmetric(cube):
    space = cal.P1(cube)
    matrix = assembled(cal.hypersingular(cal.Laplace(), space))
    assert largest(matrix @ np.ones(space.dimension)) < 1e-12 * largest(matrix)
    assert largest(matrix - matrix.T) < 1e-6 * largest(matrix)
    assert np.linalg.eigvalsh((matrix + matrix.T) / 2)[0] > -1e-10


def test_single_layer_is_symmetric_positive_definite(mesh):
    matrix = assembled(cal.single_layer(cal.Laplace(), cal.P0(mesh)))
    assert largest(matrix - matrix.T) < 1e-6 * largest(matrix)
    assert np.linalg.eigvalsh((matrix + matrix.T) / 2)[0] > 0


def test_calderon_projector_on_a_polyhedron():
    """(1/2 + K) u = V du/dn for a linear function, which the discrete spaces hold: only quadrature is left."""
    green = cal.Laplace()
    residuals = []
    for h in (0.5, 0.25):
        mesh = cal.mesh.cube(size=1.0, h=h)
        p1, p0 = cal.P1(mesh), cal.P0(mesh)
        u = p1.interpolation(lambda x: x[:, 0])
        flux = p0.interpolation(lambda x, n: n[:, 0])
        V, K_ = cal.single_layer(green, p0, quadrature=FINE), cal.double_layer(green, p1, p0, quadrature=FINE)
        trace = 0.5 * cal.identity(p1, p0) + K_  # interior: (1/2 + K) u = V du/dn
        left, right = trace.assemble() @ u, V.assemble() @ flux
        residuals.append(np.linalg.norm(left - right) / np.linalg.norm(right))
    assert max(residuals) < 1e-6


def test_adjoint_double_layer_is_the_transposed(cube):
    space = cal.P1(cube)
    direct = assembled(cal.double_layer(cal.Laplace(), space, quadrature=FINE))
    adjoint = assembled(cal.adjoint_double_layer(cal.Laplace(), space, quadrature=FINE))
    assert largest(adjoint - direct.T) < 2e-6 * largest(direct)


def test_helmholtz_at_a_small_wavenumber_is_laplace(mesh):
    space = cal.P1(mesh)
    still = assembled(cal.single_layer(cal.Laplace(), space))
    slow = assembled(cal.single_layer(cal.Helmholtz(1e-9), space))
    assert largest(slow - still) < 1e-9 * largest(still)


@pytest.mark.variant
def test_modified_helmholtz_is_helmholtz_at_an_imaginary_wavenumber(mesh):
    space = cal.P1(mesh)
    real = assembled(cal.single_layer(cal.ModifiedHelmholtz(K), space))
    other = assembled(cal.single_layer(cal.Helmholtz(1j * K), space))
    assert real.dtype == np.float64
    assert largest(other - real) < 1e-12 * largest(real)


@pytest.mark.parametrize("name", cases([each for each in GREENS if each != "laplace"], ["helmholtz"]))
def test_operators_reproduce_a_radiating_field(name):
    """(1/2 - K) u + V du/dn = 0 and D u + (1/2 + K') du/dn = 0 for the traces of a source inside (exterior normals).

    The first residual falls like the error of the traces in L2, h^2. D loses one order and the second is measured in
    the norm of V, half an order weaker: h^(3/2). A third of the mesh size, since meshes of a sphere are not nested.
    """
    green, errors = GREENS[name], []
    k, place = complex(green.wavenumber), np.array([0.1, 0.2, 0.0])

    def source(x):
        r = np.linalg.norm(x - place, axis=1)
        return np.exp(1j * k * r) / (4 * np.pi * r)

    def slope(x, n):
        r = np.linalg.norm(x - place, axis=1)
        return source(x) * (1j * k - 1 / r) * np.einsum("nc,nc->n", x - place, n) / r

    for h in (0.45, 0.15):
        space = cal.P1(cal.mesh.sphere(radius=1.0, h=h))
        u = space.projection(lambda x, n: source(x))
        flux = space.projection(lambda x, n: slope(x, n))
        mass = cal.identity(space)
        first = (0.5 * mass - cal.double_layer(green, space)).assemble() @ u
        first = space.solve_mass(first + cal.single_layer(green, space).assemble() @ flux)
        second = cal.hypersingular(green, space).assemble() @ u
        second = space.solve_mass(second + (0.5 * mass + cal.adjoint_double_layer(green, space)).assemble() @ flux)
        weak = assembled(cal.single_layer(cal.Laplace(), space))
        squares = [(each.conj() @ (m @ each)).real for each, m in ((first, mass.matrix), (second, weak))]
        errors.append(np.sqrt(squares))
    rates = np.log(errors[0] / errors[1]) / np.log(3)
    assert rates[0] > 2 - 0.3, rates
    assert rates[1] > 1.5 - 0.3, rates
    assert max(errors[1]) < 1.6e-3


def test_single_precision_agrees_with_double(mesh):
    operator = cal.double_layer(cal.Helmholtz(K), cal.P1(mesh))
    double = operator.assemble(precision="double").to_array()
    single = operator.assemble(precision="single").to_array()
    assert single.dtype.itemsize * 2 == double.dtype.itemsize
    assert largest(single - double) < 1e-5 * largest(double)


def test_spaces_agree_where_they_overlap(mesh):
    """P1 is a combination of DP1 functions, and of P2 functions; P0 is a sum of DP1 functions."""
    green = cal.Laplace()
    dp1 = cal.DP1(mesh)
    fine = assembled(cal.single_layer(green, dp1))
    p1, p0, p2 = cal.P1(mesh), cal.P0(mesh), cal.P2(mesh)
    to_p1 = dp1_combination(dp1, p1)
    assert largest(to_p1.T @ fine @ to_p1 - assembled(cal.single_layer(green, p1))) < 1e-6 * largest(fine)
    to_p0 = dp1_combination(dp1, p0)
    assert largest(to_p0.T @ fine @ to_p0 - assembled(cal.single_layer(green, p0))) < 1e-6 * largest(fine)
    quadratic = assembled(cal.single_layer(green, p2))
    x = p1.interpolation(lambda x: x[:, 0])
    y = p2.interpolation(lambda x: x[:, 0])
    assert y @ quadratic @ y == pytest.approx(x @ assembled(cal.single_layer(green, p1)) @ x, rel=1e-6)


def dp1_combination(dp1, space):
    """Coefficients of the functions of `space` in discontinuous P1."""
    return space.expansion(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])).toarray()


@pytest.mark.parametrize("aspect", [15, 30])
def test_double_layer_of_one_on_a_rod_of_needles(aspect):
    """K 1 = -1/2 on a rod of square cross-section, whose triangles are so many times longer than wide."""
    cube = cal.mesh.cube(1.0, 1.0)
    ends = cube.vertices - cube.vertices.min(axis=0)
    rod = cal.TriangleMesh(ends * [aspect, 1.0, 1.0], cube.triangles)
    space = cal.P0(rod)
    double = cal.double_layer(cal.Laplace(), space).assemble() @ np.ones(space.dimension)
    assert np.abs(double / rod.areas + 0.5).max() < 5e-5
