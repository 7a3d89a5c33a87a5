"""New physics as a form: the operator of elastostatics (kelvin.py, kelvin.h) in every method and on every backend."""

import math

import numpy as np
import pytest
from kelvin import POISSON, WEAKLY_SINGULAR, ElasticBlock, ElasticOperator, kelvin

import calderon as cal
from calderon.galerkin.block import Block


def point_kernel(x, y):
    """U at pairs of points (n, 3), (n, 3)."""
    d = x - y
    r = np.linalg.norm(d, axis=1)[:, None, None]
    outer = d[:, :, None] * d[:, None, :] / r**2
    return ((3 - 4 * POISSON) * np.eye(3) + outer) / (16 * math.pi * (1 - POISSON) * r)


@pytest.fixture(scope="module")
def sphere():
    return cal.mesh.sphere(1.0, h=0.4)


@pytest.fixture(scope="module")
def dense(sphere):
    return kelvin(cal.P0(sphere, components=3)).assemble().to_array()


def test_the_matrix_is_symmetric_and_positive(dense):
    assert np.abs(dense - dense.T).max() < 1e-13 * np.abs(dense).max()
    assert np.linalg.eigvalsh((dense + dense.T) / 2).min() > 0


def test_distant_triangles_interact_like_points(sphere, dense):
    """At a distance of d triangle sizes the relative difference is of order 1 / d^2."""
    centroids, areas = sphere.centroids, sphere.areas
    i = np.zeros(len(areas), int)
    j = np.flatnonzero(np.linalg.norm(centroids - centroids[0], axis=1) > 1.7)
    block = dense.reshape(len(areas), 3, len(areas), 3)[0][:, j].transpose(1, 0, 2)
    points = point_kernel(centroids[i[: len(j)]], centroids[j]) * (areas[0] * areas[j])[:, None, None]
    assert np.abs(block - points).max() < 0.02 * np.abs(points).max()


def test_constant_tractions_move_a_sphere_rigidly(sphere, dense):
    """The displacement of constant tractions t on the unit sphere is u = t (5 - 6 nu) / (6 mu (1 - nu)) everywhere on
    it, by integration of U over the sphere."""
    areas = np.repeat(sphere.areas, 3)
    for axis in range(3):
        traction = np.tile(np.eye(3)[axis], len(sphere.areas))
        displacement = (dense @ traction / areas).reshape(-1, 3)
        exact = np.eye(3)[axis] * (5 - 6 * POISSON) / (6 * (1 - POISSON))
        assert np.abs(displacement.mean(axis=0) - exact).max() < 0.03 * np.abs(exact).max()


@pytest.mark.variant
def test_touching_and_near_pairs_converge(sphere, dense):
    """Against a finer rule for all pairs."""
    space = cal.P0(sphere, components=3)
    fine = ElasticOperator(cal.Laplace(), WEAKLY_SINGULAR, space, space, cal.Quadrature(regular=8, singular=12))
    reference = fine.assemble().to_array()
    assert np.abs(dense - reference).max() < 2e-6 * np.abs(reference).max()


@pytest.mark.variant
def test_the_compressed_matrix_is_the_dense_one():
    space = cal.P0(cal.mesh.sphere(1.0, h=0.25), components=3)
    compressed, dense = kelvin(space).assemble("hmatrix", rtol=1e-5), kelvin(space).assemble()
    x = np.random.default_rng(0).standard_normal(space.dimension)
    assert np.linalg.norm(compressed @ x - dense @ x) < 3e-5 * np.linalg.norm(dense @ x)


def test_the_trace_of_close_pairs_is_a_multiple_of_the_single_layer():
    """The trace of U is (10 - 12 nu) / (16 pi mu (1 - nu) r), between two plates at 1/50 of an edge."""
    lower = cal.mesh.plate([1.0, 1.0], h=0.5)
    upper = lower.translated([0.05, 0.03, 0.01])
    count = lower.number_of_triangles
    finer = cal.mesh.plate([1.0, 1.0], h=0.25).translated([0.05, 0.03, 0.01])
    for one, two in ((lower, upper), (lower, finer)):  # the smaller triangle is the outer one
        matrix = kelvin(cal.P0(two, components=3), cal.P0(one, components=3)).assemble().to_array()
        blocks = matrix.reshape(count, 3, two.number_of_triangles, 3)
        layer = cal.single_layer(cal.Laplace(), cal.P0(two), cal.P0(one)).assemble().to_array()
        expected = layer * (10 - 12 * POISSON) / (4 * (1 - POISSON))
        assert np.abs(np.einsum("icjc->ij", blocks) - expected).max() < 1e-6 * expected.max()
        assert np.abs(blocks - blocks.transpose(0, 3, 2, 1)).max() < 1e-13 * expected.max()


@pytest.mark.parametrize("precision, tolerance", [("double", 1e-12), ("single", 1e-5)])
def test_devices_have_the_numbers_of_the_processor(sphere, dense, opencl, precision, tolerance):
    found = kelvin(cal.P0(sphere, components=3)).assemble(backend="opencl", precision=precision).to_array()
    assert np.abs(found - dense).max() < tolerance * np.abs(dense).max()


def test_compressed_matrices_on_devices(opencl):
    operator = kelvin(cal.P0(cal.mesh.sphere(1.0, h=0.25), components=3))
    x = np.random.default_rng(0).standard_normal(operator.shape[1])
    expected = operator.assemble("hmatrix", rtol=1e-5) @ x
    found = operator.assemble("hmatrix", rtol=1e-5, backend="opencl") @ x
    assert np.linalg.norm(found - expected) < 1e-5 * np.linalg.norm(expected)


def test_cuda_builds_the_form(sphere, cuda_builds):
    def assemble():
        for precision in ("double", "single"):
            kelvin(cal.P0(sphere, components=3)).assemble(backend="cuda", precision=precision)

    found = cuda_builds(assemble, "kelvin.h")
    assert len(found) == 5
    for source, used in found:
        assert all((each.spilled, each.stack) == (0, 0) for each in used.values()), f"{source}: {used}"


class WithoutHeader(ElasticBlock):
    device_form_of = classmethod(Block.device_form_of.__func__)


def test_a_form_without_a_header_is_refused_on_devices(sphere, opencl, monkeypatch):
    monkeypatch.setattr(ElasticOperator, "block", WithoutHeader)
    operator = kelvin(cal.P0(sphere, components=3))
    for method in ("dense", "hmatrix"):
        with pytest.raises(NotImplementedError, match="kelvin has no form for devices: choose backend='numba'"):
            operator.assemble(method, backend="opencl")
