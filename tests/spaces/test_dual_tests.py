"""Dual tests: what they pair with as dual functions do, and their size."""

import numpy as np
import pytest

import calderon as cal
from calderon.spaces import RBC, RWG, DualTests, dual_tests

MESHES = {"sphere": cal.mesh.sphere(1.0, 0.5), "cylinder": cal.mesh.cylinder(0.3, 1.0, 0.25)}


@pytest.mark.parametrize("name", MESHES)
def test_affine_fields_are_tested_as_by_the_dual_functions(name):
    mesh = MESHES[name]
    space = RWG(mesh)
    tests, dual = dual_tests(space), RBC(mesh)
    pairing = space.mass_matrix(dual)
    factors = space.mass_matrix().diagonal() / pairing.diagonal()
    assert abs(tests.pairing - factors[:, None] * pairing.toarray()).max() < 1e-14
    assert np.allclose(tests.pairing.diagonal(), space.mass_matrix().diagonal(), rtol=1e-13)
    slope = np.random.default_rng(0).normal(size=(3, 3))
    for field in (slope[0], lambda x: x @ slope + slope[1]):
        assert np.allclose(tests.load_vector(field), factors * dual.load_vector(field), rtol=0, atol=1e-13)


def test_the_pairing_is_well_conditioned_where_triangles_are_stretched():
    """Scaled by the diagonal; the height of the triangles is a tenth of their longest edge."""
    vertices = cal.mesh.cube(1.0, 0.25)
    mesh = cal.TriangleMesh(vertices.vertices * [1.0, 1.0, 0.1], vertices.triangles)
    for each, bound in ((mesh, 10), (MESHES["sphere"], 4)):
        pairing = dual_tests(RWG(each)).pairing.toarray()
        size = np.sqrt(pairing.diagonal())
        assert np.linalg.cond(pairing / size / size[:, None]) < bound


def test_other_spaces_are_refused():
    mesh = MESHES["sphere"]
    part = cal.TriangleMesh(mesh.vertices, mesh.triangles, tags=(mesh.centroids[:, 2] > 0).astype(int))
    with pytest.raises(ValueError, match=r"whole mesh, got SNC.*take RWG\(mesh\)"):
        dual_tests(cal.SNC(mesh))
    with pytest.raises(ValueError, match="restricted"):
        dual_tests(RWG(part, tags=1))
    with pytest.raises(TypeError, match="edge functions"):
        dual_tests(cal.P1(mesh))
    half = part.restricted(1)  # open surfaces have dual functions, too
    assert np.linalg.cond(dual_tests(RWG(half)).pairing.toarray()) < 100


def test_what_they_have_not():
    tests = dual_tests(RWG(MESHES["sphere"]))
    for ask in (tests.refined, tests.perpendicular, tests.divergence_matrix, lambda: tests.interpolation([1.0, 0, 0])):
        with pytest.raises(ValueError, match="take RBC"):
            ask()


def test_parts_of_the_surface_make_no_difference(monkeypatch):
    whole = dual_tests(RWG(cal.mesh.sphere(1.0, 0.5)))
    monkeypatch.setattr(DualTests, "share", 30)
    parts = dual_tests(RWG(cal.mesh.sphere(1.0, 0.5)))
    assert np.array_equal(parts.dofs, whole.dofs)
    assert np.allclose(parts.corner_values, whole.corner_values, rtol=0, atol=1e-13)
    assert abs(parts.pairing - whole.pairing).max() < 1e-14
