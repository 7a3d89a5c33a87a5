"""A vector physics of two wavenumbers as forms (elastodynamics.py): components alone generate all loops of it."""

import numpy as np
import pytest
from elastodynamics import Elastodynamic, dislocation, displacement

import calderon as cal

POISSON, SHEAR, TRANSVERSE = 0.3, 1.7, 2.0
RATIO = np.sqrt((1 - 2 * POISSON) / (2 * (1 - POISSON)))
"""k_L / k_T."""
GREEN = Elastodynamic(SHEAR, TRANSVERSE, RATIO * TRANSVERSE)
STATIC = cal.Elastostatic(2 * SHEAR * (1 + POISSON), POISSON)


def point_kernel(d):
    """U (n, 3, 3) at differences d (n, 3), by [k_T^2 G_T I + grad grad (G_T - G_L)] / (mu k_T^2)."""
    r = np.linalg.norm(d, axis=1)[:, None, None]
    outer, unit = d[:, :, None] * d[:, None, :], np.eye(3)
    waves = []
    for k in (TRANSVERSE, RATIO * TRANSVERSE):
        wave = np.exp(1j * k * r) / (4 * np.pi * r)
        slope, curvature = wave * (1j * k * r - 1) / r**2, wave * (3 - 3j * k * r - (k * r) ** 2) / r**4
        waves.append((wave, slope * unit + curvature * outer))
    (wave, one), (_, other) = waves
    return (wave * unit + (one - other) / TRANSVERSE**2) / SHEAR


@pytest.fixture(scope="module")
def sphere():
    return cal.mesh.sphere(1.0, h=0.6)


@pytest.fixture(scope="module")
def dense(sphere):
    return displacement(GREEN, cal.P0(sphere, components=3)).assemble().to_array()


def test_the_kernel_solves_naviers_equation():
    """(lambda + 2 mu) grad div u - mu curl curl u + rho omega^2 u = 0, by differences of fourth order."""
    x, h = np.array([0.7, -0.4, 0.5]), 0.01
    weights = {
        1: {-2: 1 / 12, -1: -2 / 3, 1: 2 / 3, 2: -1 / 12},
        2: {-2: -1 / 12, -1: 4 / 3, 0: -5 / 2, 1: 4 / 3, 2: -1 / 12},
    }

    def derivative(i, j):
        """d^2 U / dx_i dx_j."""
        one = weights[2] if i == j else weights[1]
        if i == j:
            return sum(w * point_kernel((x + n * h * np.eye(3)[i])[None])[0] for n, w in one.items()) / h**2
        steps = [(n, m, w * v) for n, w in one.items() for m, v in one.items()]
        return (
            sum(w * point_kernel((x + h * (n * np.eye(3)[i] + m * np.eye(3)[j]))[None])[0] for n, m, w in steps) / h**2
        )

    second = np.array([[derivative(i, j) for j in range(3)] for i in range(3)])  # d_i d_j U_kl
    grad_div, laplacian = np.einsum("ikkl->il", second), np.einsum("iikl->kl", second)
    residual = (1 / RATIO**2 - 1) * grad_div + laplacian + TRANSVERSE**2 * point_kernel(x[None])[0]
    assert np.abs(residual).max() < 1e-5 * np.abs(laplacian).max()


def test_distant_triangles_interact_like_points(sphere, dense):
    """At a distance of d triangle sizes the relative difference is of order 1 / d^2."""
    centroids, areas = sphere.centroids, sphere.areas
    far = np.flatnonzero(np.linalg.norm(centroids - centroids[0], axis=1) > 1.5)
    block = dense.reshape(len(areas), 3, len(areas), 3)[0][:, far].transpose(1, 0, 2)
    points = point_kernel(centroids[:1] - centroids[far]) * (areas[0] * areas[far])[:, None, None]
    assert np.abs(block - points).max() < 0.05 * np.abs(points).max()


def test_the_displacement_is_symmetric(dense):
    assert np.abs(dense - dense.T).max() < 1e-13 * np.abs(dense).max()
    assert np.abs(dense.imag).max() > 0.1 * np.abs(dense.real).max()


@pytest.mark.variant
@pytest.mark.parametrize("wave", ["transverse", "longitudinal"])
def test_plane_waves_in_a_ball_satisfy_somiglianas_identity(wave):
    """u / 2 + T u = U t with displacements u and tractions t of a plane wave; residuals fall with the mesh."""
    along, across = np.array([0.6, 0.0, 0.8]), np.array([0.8, 0.0, -0.6])
    k, p = (TRANSVERSE, across) if wave == "transverse" else (RATIO * TRANSVERSE, along)
    lame, residuals = SHEAR * (1 / RATIO**2 - 2), []
    for h in (0.6, 0.35):
        mesh = cal.mesh.sphere(1.0, h)
        space = cal.P1(mesh, components=3)
        x = mesh.vertices
        n = x / np.linalg.norm(x, axis=1)[:, None]
        phase = np.exp(1j * k * x @ along)[:, None]
        strain = (n @ along)[:, None] * p + (n @ p)[:, None] * along
        u, t = phase * p, 1j * k * phase * (lame * (p @ along) * n + SHEAR * strain)
        mass = cal.identity(space).assemble().to_array()
        left = mass @ u.ravel() / 2 + dislocation(GREEN, space).assemble().to_array() @ u.ravel()
        right = displacement(GREEN, space).assemble().to_array() @ t.ravel()
        residuals.append(np.linalg.norm(left - right) / np.linalg.norm(mass @ u.ravel()))
    assert residuals[0] < 0.06
    assert residuals[1] < 0.5 * residuals[0]


@pytest.mark.variant
def test_slow_waves_have_the_matrices_of_kelvin():
    """To the digits of rules, which have more points for waves; the imaginary part is of the first order. Two plates at
    1/50 of an edge have touching, near and close pairs, whose outer triangle is once the test and once the trial
    triangle."""
    lower = cal.mesh.plate([1.0, 1.0], h=0.5)
    upper = cal.mesh.plate([1.0, 1.0], h=0.34).translated([0.05, 0.03, 0.01])
    slow = Elastodynamic(SHEAR, 1e-4, 1e-4 * RATIO)
    for trial, test in ((lower, lower), (lower, upper), (upper, lower)):
        spaces = cal.P0(trial, components=3), cal.P0(test, components=3)
        for found, exact in ((displacement, cal.single_layer), (dislocation, cal.double_layer)):
            wanted = exact(STATIC, *spaces).assemble().to_array()
            matrix = found(slow, *spaces).assemble().to_array()
            assert np.abs(matrix.real - wanted).max() < 2e-6 * np.abs(wanted).max()
            assert np.abs(matrix.imag).max() < 2e-4 * np.abs(wanted).max()


@pytest.mark.variant
def test_the_compressed_matrix_is_the_dense_one():
    space = cal.P0(cal.mesh.sphere(1.0, h=0.25), components=3)
    compressed, exact = dislocation(GREEN, space).assemble("hmatrix", rtol=1e-5), dislocation(GREEN, space).assemble()
    x = np.random.default_rng(0).standard_normal(space.dimension)
    assert np.linalg.norm(compressed @ x - exact @ x) < 3e-5 * np.linalg.norm(exact @ x)


@pytest.mark.parametrize(
    "layer, precision, tolerance", [(displacement, "single", 1e-5), (dislocation, "double", 1e-12)]
)
def test_devices_have_the_numbers_of_the_processor(sphere, opencl, layer, precision, tolerance):
    operator = layer(GREEN, cal.P0(sphere, components=3))
    exact = operator.assemble().to_array()
    found = operator.assemble(backend="opencl", precision=precision).to_array()
    assert np.abs(found - exact).max() < tolerance * np.abs(exact).max()


@pytest.mark.variant
def test_compressed_matrices_on_devices(opencl):
    operator = dislocation(GREEN, cal.P0(cal.mesh.sphere(1.0, h=0.25), components=3))
    x = np.random.default_rng(0).standard_normal(operator.shape[1])
    expected = operator.assemble("hmatrix", rtol=1e-5) @ x
    found = operator.assemble("hmatrix", rtol=1e-5, backend="opencl") @ x
    assert np.linalg.norm(found - expected) < 1e-5 * np.linalg.norm(expected)
