"""On-surface Dirichlet-to-Neumann maps against the exact ones of the sphere, and their rational functions."""

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.sparse.linalg import gmres as scipy_gmres

import calderon.mesh as meshes
from calderon.exact.bessel import spherical_hankel
from calderon.onsurface import osrc_dtn, osrc_ntd
from calderon.onsurface.osrc import square_root, square_root_error, usual_damping
from calderon.onsurface.surface_operator import PartialFractions
from calderon.spaces import DP1, P0, P1, P2


def damped(k, radius=1.0):
    return k + 0.4j * np.real(k) ** (1 / 3) * radius ** (-2 / 3)


def exact_dtn(k, last):
    """k h_n'(k) / h_n(k) on the unit sphere, n = 0 .. last."""
    h = spherical_hankel(last, np.array([k]))
    return k * (h.slopes / h.values)[:, 0]


def zonal(n):
    """Legendre polynomials of cos(theta)."""
    return lambda x: np.polynomial.legendre.legval(x[:, 2] / np.linalg.norm(x, axis=1), np.eye(n + 1)[n])


def image(operator, u):
    """The factor that takes u to operator @ u, by least squares in L2, and the rest."""
    mass = operator.space.mass_matrix()
    v = operator @ u
    factor = (u @ (mass @ v)) / (u @ (mass @ u))
    rest = v - factor * u
    return factor, np.sqrt(abs(rest.conj() @ (mass @ rest)) / abs(v.conj() @ (mass @ v)))


# -------------------------------------------------------------------------------------------- rational functions
@pytest.mark.parametrize("angle", [np.pi / 3, np.pi / 2])
def test_pade_converges_to_the_root_in_all_modes(angle):
    X = -np.concatenate([np.linspace(0, 2, 81), np.linspace(2, 100, 50)]) / (1 + 0.1j) ** 2
    last = np.inf
    for order in (4, 8, 16, 32):
        error = np.abs(square_root(order, angle)(X) / np.sqrt(1 + X) - 1)
        assert np.allclose(error, square_root_error(order, angle, X), atol=1e-12)
        assert error.max() < 0.8 * last
        last = error.max()
    assert last < 0.01


def test_pade_without_rotation_fails_for_evanescent_modes():
    X = np.array([-3.0, -10.0, -30.0])
    assert (np.abs(square_root(16, 0.0)(X) - 1j * np.sqrt(-1 - X)) > 1).all()
    assert np.allclose(square_root(16, np.pi / 2)(X), 1j * np.sqrt(-1 - X), rtol=0.01)


def test_pade_has_the_taylor_coefficients_of_the_root_about_its_centre():
    order, angle = 3, 1.0
    centre = np.exp(1j * angle) - 1  # where the rotated variable vanishes
    step = 0.02 * np.exp(2j * np.pi * np.arange(64) / 64)
    error = square_root(order, angle)(centre + step) - np.sqrt(1 + centre + step)
    coefficients = np.fft.fft(error) / 64
    assert np.abs(coefficients[: 2 * order + 1]).max() < 1e-15  # exact up to the power 2 order


@pytest.mark.parametrize("order", [1, 4, 16])
def test_reciprocals_are_reciprocals(order):
    X = -np.linspace(0, 50, 101) / (1 + 0.2j) ** 2
    root = square_root(order, np.pi / 2)
    for function in (root, root.raised(1).scaled(0.5), root.scaled(2j).raised(0.3)):
        assert np.allclose(function.reciprocal()(X) * function(X), 1, rtol=1e-12)
        assert len(function.reciprocal().shifts) == order
    simple = PartialFractions(1.0, np.array([-1.0 + 0j]), np.array([1.0 + 0j]))  # X / (1 + X)
    with pytest.raises(ValueError, match="vanishes at 0"):
        simple.reciprocal()


# ------------------------------------------------------------------------------------------------------ the sphere
@pytest.mark.parametrize(("k", "propagating", "evanescent", "grazing"),
                         [(5.0, 0.23, 0.21, 0.23), (10.0, 0.11, 0.14, 0.2), (50.0, 0.021, 0.053, 0.31)])  # fmt: skip
def test_symbol_against_the_exact_map_of_the_sphere(k, propagating, evanescent, grazing):
    n = np.arange(int(3 * k))
    operator = osrc_dtn(P1(meshes.sphere(1.0, 0.4)), k, 12, damping=damped(k).imag)
    exact = exact_dtn(k, n[-1])
    error = np.abs(operator.symbol(n * (n + 1)) / exact - 1)
    assert error[n < 0.7 * k].max() < propagating
    assert error[n > 1.5 * k].max() < evanescent
    assert error.max() < grazing
    undamped = osrc_dtn(P1(meshes.sphere(1.0, 0.4)), k, 12, damping=0.0)
    assert np.abs(undamped.symbol(n * (n + 1)) / exact - 1).max() > 1.5 * error.max()


@pytest.mark.parametrize("k", [4.0, 4.0 + 0.5j])
@pytest.mark.parametrize("space", [P1, P2])
def test_harmonics_are_multiplied_by_the_symbol(space, k):
    """With an error that falls as the square of h (the facets'), for either space."""
    errors = []
    for h in (0.3, 0.15):
        mesh = meshes.sphere(1.0, h)
        dtn = osrc_dtn(space(mesh), k, 6, damping=0.6)
        worst = 0.0
        for n in (0, 2, 7):
            u = dtn.space.interpolation(zonal(n)).coefficients
            factor, rest = image(dtn, u)
            expected = dtn.symbol(n * (n + 1.0))
            worst = max(worst, abs(factor / expected - 1), rest)
        errors.append(worst)
    assert errors[1] < errors[0] / 2.5 and errors[1] < 0.08, errors


def test_usual_damping_is_that_of_the_sphere():
    sphere, k = meshes.sphere(2.0, 0.4), 3.0
    assert usual_damping(P1(sphere), k) == pytest.approx(damped(k, 2.0).imag, rel=0.02)
    assert usual_damping(P1(meshes.plate((4.0, np.pi), 0.5)), k) == pytest.approx(damped(k, 1.0).imag, rel=1e-6)
    assert usual_damping(P1(sphere), 1e-3) == pytest.approx(0.4e-3, rel=1e-6)  # k is never damped out of its size


# ------------------------------------------------------------------------------------------------------ algebra
@pytest.mark.parametrize("mesh", [meshes.sphere(1.0, 0.4), meshes.plate((1.0, 0.6), 0.2), meshes.cube(1.0, 0.25)])
def test_maps_undo_each_other_and_numbers_are_multiples_of_the_identity(mesh):
    k = 3.0
    for space in (P1(mesh), P1(mesh, boundary=False) if not mesh.is_closed else P2(mesh)):
        dtn, ntd = osrc_dtn(space, k), osrc_ntd(space, k)
        x = np.random.default_rng(1).standard_normal((space.dimension, 2)) + 1j
        assert np.allclose(ntd @ (dtn @ x), x, rtol=1e-9, atol=1e-9)
        assert np.allclose(dtn @ (ntd @ x), x, rtol=1e-9, atol=1e-9)
        assert np.allclose((2 * dtn + 1) @ x, 2 * (dtn @ x) + x, rtol=1e-11)
        assert np.allclose((1 - dtn / 2) @ x[:, 0], x[:, 0] - 0.5 * (dtn @ x[:, 0]), rtol=1e-10)
        tested = space.mass_matrix() @ x
        assert np.allclose(dtn.tested @ tested, dtn @ x, rtol=1e-9, atol=1e-9)


def test_the_map_is_symmetric_and_its_adjoint_is_that_of_its_matrix():
    dtn = osrc_dtn(P1(meshes.cube(1.0, 0.5)), 4.0)
    matrix = dtn @ np.eye(dtn.shape[0])
    form = dtn.space.mass_matrix() @ matrix
    assert np.allclose(form, form.T, atol=1e-10 * np.abs(form).max())
    assert np.allclose(dtn.H @ np.eye(dtn.shape[0]), matrix.conj().T, atol=1e-10 * np.abs(matrix).max())
    tested = dtn.tested @ np.eye(dtn.shape[0])
    assert np.allclose(dtn.tested.H @ np.eye(dtn.shape[0]), tested.conj().T, atol=1e-10 * np.abs(tested).max())


def test_products_and_their_inverses_also_where_zeros_coincide():
    """(1 + r)(1 + 1/r) for the root r: as one function its zeros are double, and its fractions as large as 1e6."""
    space, k = P2(meshes.cube(1.0, 0.5)), 4.0
    root = osrc_dtn(space, k) / (1j * k)
    product, expanded = (1 + root) @ (1 + root.inverse()), root + root.inverse() + 2
    x = np.random.default_rng(2).standard_normal((space.dimension, 3)) + 1j
    image = product @ x
    assert np.allclose(image, expanded @ x, rtol=1e-9, atol=1e-9)
    assert np.allclose(product.inverse() @ image, x, rtol=1e-9, atol=1e-9)
    assert np.allclose(product.inverse().tested @ (space.mass_matrix() @ image), x, rtol=1e-9, atol=1e-9)
    assert np.abs(expanded.inverse() @ image - x).max() > 1e-4
    matrix = product @ np.eye(space.dimension)
    assert np.allclose(product.H @ np.eye(space.dimension), matrix.conj().T, atol=1e-10 * np.abs(matrix).max())
    assert np.allclose(product.symbol([0.0, 50.0]), expanded.symbol([0.0, 50.0]))
    other = osrc_dtn(space, 5.0)
    assert np.allclose((root @ other) @ x, root @ (other @ x))  # not functions of one X: one after the other


def test_functions_are_those_of_the_matrices():
    """Against the eigenvectors of stiffness and mass, so that every mode of the mesh is met."""
    space, k = P1(meshes.ellipsoid((1.0, 0.7, 0.5), 0.3)), 5.0
    mass, stiffness = space.mass_matrix().toarray(), space.laplace_beltrami_matrix().toarray()
    eigenvalues, modes = eigh(stiffness, mass)
    dtn = osrc_dtn(space, k)
    assert np.allclose(dtn @ modes, modes * dtn.symbol(eigenvalues), atol=1e-9 * np.abs(modes).max() * k)
    exact = 1j * k * np.sqrt(1 - eigenvalues / dtn.wavenumber**2)
    typical = eigenvalues < np.quantile(eigenvalues, 0.9)
    assert np.abs(dtn.symbol(eigenvalues) / exact - 1)[typical].max() < 0.01  # what order=None promises


def test_a_solver_of_scipy_takes_them():
    dtn = osrc_dtn(P1(meshes.sphere(1.0, 0.4)), 3.0)
    b = np.ones(dtn.shape[0], complex)
    x, info = scipy_gmres(dtn, b, M=osrc_ntd(dtn.space, 3.0))
    assert info == 0 and np.allclose(dtn @ x, b, atol=1e-4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((P0, 1.0), "continuous functions, got P0"),
        ((DP1, 1.0), "continuous functions, got DP1"),
        ((P1, -1.0), "positive real part"),
        ((P1, 1.0 - 0.1j), "no negative imaginary"),
        ((P1, 1.0, 0), "order must be at least 1"),
        ((P1, 1.0, 4, {"angle": 0.0}), "between 0 and pi"),
        ((P1, 1.0, 4, {"damping": -0.1}), "damping"),
    ],
)
def test_what_cannot_be_is_refused(arguments, message):
    space, *rest = arguments
    options = rest.pop() if isinstance(rest[-1], dict) else {}
    with pytest.raises(ValueError, match=message):
        osrc_dtn(space(meshes.cube(1.0, 1.0)), *rest, **options)


def test_factors_in_single_precision_are_good_enough_for_preconditioners(monkeypatch):
    space, asked = P1(meshes.sphere(radius=1.0, h=0.3)), []
    monkeypatch.setattr("calderon.onsurface.surface_operator.require_memory", lambda nbytes, *_: asked.append(nbytes))
    b = np.random.default_rng(0).standard_normal((space.dimension, 2)) + 0j
    double, single = (osrc_dtn(space, 4.0, precision=each).tested @ b for each in ("double", "single"))
    assert 0 < np.abs(single - double).max() <= 1e-5 * np.abs(double).max()
    assert asked[0] == 2 * asked[1] > 0
    with pytest.raises(ValueError, match="precision must be 'double' or 'single', got 'half'"):
        osrc_dtn(space, 4.0, precision="half")
