"""Dense matrices are filled by tiles of triangles: any rule, any space, functions that some triangles lack."""

import numpy as np
import pytest

import calderon as cal
from calderon.galerkin.block import STRIP


@pytest.mark.variant
def test_rules_agree():
    """Rules with and without points in threes, of higher degree, have one limit."""
    mesh = cal.mesh.sphere(1.0, 0.6)
    far = cal.TriangleMesh(mesh.vertices + [20.0, 0, 0], mesh.triangles)
    test, trial = cal.P1(mesh), cal.P1(far)
    matrices = [
        cal.single_layer(cal.Laplace(), trial, test, quadrature=cal.Quadrature(regular=degree)).assemble().to_array()
        for degree in (4, 5, 8)
    ]
    for matrix in matrices[:2]:
        assert np.abs(matrix - matrices[2]).max() < 1e-7 * np.abs(matrices[2]).max()


PLATE, SPHERE = cal.mesh.plate((1.0, 1.0), 0.09), cal.mesh.sphere(1.0, 0.3)
IN_STRIPS = {
    "P0": cal.single_layer(cal.Laplace(), cal.P0(PLATE)),
    "without the boundary": cal.single_layer(cal.Laplace(), cal.P1(PLATE, boundary=False)),
    "curls": cal.hypersingular(cal.Helmholtz(2.0), cal.P1(PLATE, boundary=False)),
    "other spaces": cal.double_layer(cal.Laplace(), cal.P1(SPHERE), cal.P0(PLATE)),
    "open currents": cal.electric_field(2.0, cal.RWG(PLATE)),
    "magnetic": cal.magnetic_field(2.0, cal.RWG(SPHERE)),
}


@pytest.mark.parametrize("name", IN_STRIPS)
def test_entries_are_those_of_matrices_of_several_strips(name):
    """Also of functions that some triangles lack."""
    operator, random = IN_STRIPS[name], np.random.default_rng(0)
    assert min(operator.test.mesh.number_of_triangles, operator.trial.mesh.number_of_triangles) > 2 * STRIP
    matrix = operator.assemble().to_array()
    rows, columns = (random.integers(0, size, 60) for size in matrix.shape)
    found = operator.entries(rows, columns)
    assert np.abs(found - matrix[np.ix_(rows, columns)]).max() < 1e-12 * np.abs(matrix).max()
