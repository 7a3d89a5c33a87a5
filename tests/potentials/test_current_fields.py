"""Electric and magnetic fields of surface currents: scalar layers, Maxwell's equations, representations, spheres."""

import numpy as np
import pytest
from scipy.special import spherical_jn, spherical_yn

import calderon as cal
from calderon.spaces.lagrange import discontinuous


@pytest.fixture(scope="module")
def points():
    x = np.random.default_rng(1).normal(size=(6, 3))
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def random_current(space):
    rng = np.random.default_rng(2)
    return cal.VectorFunction(space, rng.normal(size=space.dimension) + 1j * rng.normal(size=space.dimension))


@pytest.mark.parametrize(
    "k, make", [(2.0, cal.BC), (1.0 + 0.4j, cal.RWG), pytest.param(60.0, cal.RWG, marks=pytest.mark.variant)]
)
def test_fields_are_made_of_scalar_layers(make, k, points):
    """E = i k S J + (i / k) grad S div J,  H = curl S J,  far, near and a thousandth of a triangle from the surface."""
    mesh = cal.mesh.sphere(1.0, 0.8)
    current = random_current(make(mesh))
    base = current.space.base.mesh
    above = base.centroids[7] + 1e-3 * base.normals[7]
    x = np.concatenate([2 * points, 0.5 * points, 1.02 * points, [above]])
    fine = discontinuous(cal.P1(base), 1)
    parts = [part @ current.coefficients for part in current.space.expansion(fine.element.nodes)]
    layers = [cal.single_layer_potential(cal.Helmholtz(k), cal.Function(fine, part)) for part in parts]
    charge = cal.Function(cal.P0(base), current.space.divergence_matrix() @ current.coefficients)
    gradient = cal.single_layer_potential(cal.Helmholtz(k), charge).gradient(x)
    electric = 1j * k * np.stack([layer.evaluate(x) for layer in layers], axis=1) + 1j / k * gradient
    d = np.stack([layer.gradient(x) for layer in layers], axis=2)  # d[:, a, c] = d_a of component c
    magnetic = np.stack([d[:, 1, 2] - d[:, 2, 1], d[:, 2, 0] - d[:, 0, 2], d[:, 0, 1] - d[:, 1, 0]], axis=1)
    for potential, expected in ((cal.electric_field_potential, electric), (cal.magnetic_field_potential, magnetic)):
        computed = potential(k, current).evaluate(x)
        error = np.linalg.norm(computed - expected, axis=1)
        assert (error < 1e-9 * np.linalg.norm(expected, axis=1)).all()


def test_the_magnetic_field_of_rotated_currents(points):
    """n x f as a function of its own space and as coefficients of the perpendicular one."""
    mesh = cal.mesh.sphere(1.0, 0.8)
    current = random_current(cal.SNC(mesh))
    computed = cal.magnetic_field_potential(1.0, current).evaluate(2 * points)
    fine = current.space.refined()
    same = cal.VectorFunction(fine, fine.moments @ (fine.matrix @ current.coefficients))
    again = cal.magnetic_field_potential(1.0, same).evaluate(2 * points)
    assert np.abs(computed - again).max() < 1e-5 * np.abs(computed).max()
    with pytest.raises(ValueError, match="charge"):
        cal.electric_field_potential(1.0, current)


def test_maxwell_equations_by_differences(points):
    k, step = 1.3 + 0.2j, 1e-3
    current = random_current(cal.RWG(cal.mesh.sphere(1.0, 0.8)))
    rule = cal.Quadrature(regular=12)  # charge is conserved to the accuracy of the rule
    electric, magnetic = (
        cal.electric_field_potential(k, current, quadrature=rule),
        cal.magnetic_field_potential(k, current, quadrature=rule),
    )
    x = 1.8 * points

    def curl(field):
        ahead = [field.evaluate(x + step * e) - field.evaluate(x - step * e) for e in np.eye(3)]
        d = np.stack(ahead, axis=1) / (2 * step)
        return np.stack([d[:, 1, 2] - d[:, 2, 1], d[:, 2, 0] - d[:, 0, 2], d[:, 0, 1] - d[:, 1, 0]], axis=1)

    e, h = electric.evaluate(x), magnetic.evaluate(x)
    assert np.abs(curl(electric) - 1j * k * h).max() < 2e-5 * np.abs(k * h).max()
    assert np.abs(curl(magnetic) + 1j * k * e).max() < 2e-5 * np.abs(k * e).max()


def test_far_field_is_the_limit_of_the_field(points):
    k, distance = 2.5, 1e4
    current = random_current(cal.RWG(cal.mesh.sphere(1.0, 0.8).translated([0.3, 0.0, 0.1])))
    patterns, rule = [], cal.Quadrature(regular=12)
    for potential in (
        cal.electric_field_potential(k, current, quadrature=rule),
        cal.magnetic_field_potential(k, current, quadrature=rule),
    ):
        at = [potential.evaluate(r * points) * r * np.exp(-1j * k * r) for r in (distance, 2 * distance)]
        limit = 2 * at[1] - at[0]  # the next order is 1 / r
        pattern = potential.far_field(3 * points)
        assert np.abs(pattern - limit).max() < 1e-6 * np.abs(pattern).max()
        assert np.abs((pattern * points).sum(axis=1)).max() < 1e-14 * np.abs(pattern).max()
        patterns.append(pattern)
    assert np.abs(np.cross(points, patterns[0]) - patterns[1]).max() < 1e-13 * np.abs(patterns[1]).max()
    with pytest.raises(ValueError, match="real wavenumber"):
        cal.electric_field_potential(k + 0.1j, current).far_field(points)


@pytest.mark.parametrize("kind", [cal.ElectricDipole, cal.MagneticDipole])
def test_a_dipole_inside_is_represented_outside_and_not_inside(kind, points):
    """Stratton and Chu: E = E[n x H] - curl S[-n x E], the same with the roles exchanged for H; zero inside."""
    k = 1.7
    dipole = kind(position=[0.1, 0.2, -0.1], moment=[1, 0.5j, 0.3], wavenumber=k)
    x = np.concatenate([2 * points, 0.5 * points, 1.1 * points])
    outside = np.linalg.norm(x, axis=1, keepdims=True) > 1
    expected = [np.where(outside, field(x), 0) for field in (dipole.electric, dipole.magnetic)]
    errors = []
    for h in (0.4, 0.2):
        rwg = cal.RWG(cal.mesh.sphere(1.0, h))

        def surface(field, sign, rwg=rwg):
            return cal.VectorFunction(rwg, rwg.interpolation(lambda y, n: sign * np.cross(n, field(y))))

        j, m = surface(dipole.magnetic, 1), surface(dipole.electric, -1)
        electric = cal.electric_field_potential(k, j).evaluate(x) - cal.magnetic_field_potential(k, m).evaluate(x)
        magnetic = cal.magnetic_field_potential(k, j).evaluate(x) + cal.electric_field_potential(k, m).evaluate(x)
        far = cal.electric_field_potential(k, j).far_field(points) - cal.magnetic_field_potential(k, m).far_field(
            points
        )
        pairs = ((electric, expected[0]), (magnetic, expected[1]), (far, dipole.far_field(points)))
        errors.append([np.abs(a - b).max() / np.abs(b).max() for a, b in pairs])
    rates = np.log2(np.divide(*errors))
    assert np.max(errors[1]) < 0.04 and rates.min() > 1.5, (errors, rates)


def test_eigenvalues_on_the_sphere():
    """With psi = k j_n, zeta = k h_n of k (unit sphere) grad Y and n x grad Y are eigenfunctions:
    T has the eigenvalues -psi' zeta' and -psi zeta, K has +- i (psi zeta' + psi' zeta) / 2.
    G. C. Hsiao, R. E. Kleinman, IEEE Trans. Antennas Propag. 45 (1997) 316."""
    k, n = 1.4, 2
    j, y = spherical_jn(n, k), spherical_yn(n, k)
    dj, dy = spherical_jn(n, k, True), spherical_yn(n, k, True)
    psi, zeta, dpsi, dzeta = k * j, k * (j + 1j * y), j + k * dj, j + 1j * y + k * (dj + 1j * dy)
    mean = 0.5j * (psi * dzeta + dpsi * zeta)

    def gradient(x, n):
        """Gradient of x y along the surface."""
        along = np.stack([x[:, 1], x[:, 0], 0 * x[:, 0]], axis=1)
        return along - (2 * x[:, 0] * x[:, 1] / (x**2).sum(axis=1))[:, None] * x

    def rotated(x, n):
        return np.cross(x, gradient(x, n))

    errors = []
    for h in (0.4, 0.2):
        rwg = cal.RWG(cal.mesh.sphere(1.0, h))
        electric = cal.electric_field(k, rwg).assemble()
        magnetic = cal.magnetic_field(k, rwg).assemble()
        mass = rwg.mass_matrix()
        row = []
        for field, value, sign in ((gradient, -dpsi * dzeta, 1), (rotated, -psi * zeta, -1)):
            c = rwg.interpolation(field)
            row.append(abs(c @ (electric @ c) / (c @ (mass @ c)) - value) / abs(value))
            row.append(abs(c @ (magnetic @ c) / (c @ (mass @ c)) - sign * mean) / abs(mean))
        errors.append(row)
    rates = np.log2(np.divide(*errors))
    assert np.max(errors[1]) < 0.03 and rates.min() > 1.6, (errors, rates)


def test_warnings_and_refusals():
    mesh = cal.mesh.sphere(1.0, 0.8)
    current = random_current(cal.RWG(mesh))
    with pytest.warns(cal.AccuracyWarning, match="1 of 1 points lie on the surface") as caught:
        cal.magnetic_field_potential(1.0, current).evaluate(mesh.centroids[:1])
    assert caught[0].filename == __file__
    with pytest.raises(ValueError, match="k > 0"):
        cal.electric_field_potential(0.0, current)
    with pytest.raises(TypeError, match="VectorFunction"):
        cal.magnetic_field_potential(1.0, cal.Function(cal.P1(mesh), np.ones(mesh.number_of_vertices)))
    with pytest.raises(ValueError, match="shape"):
        cal.magnetic_field_potential(1.0, current).evaluate([1.0, 2.0])
