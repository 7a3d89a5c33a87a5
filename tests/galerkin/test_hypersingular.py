"""The hypersingular operator in both forms, in P1 and P2."""

import numpy as np
import pytest

import calderon as cal
from catalogue import GREENS, cases


def embedding(coarse, fine):
    """(fine.dimension, coarse.dimension): P1 functions in P2."""
    matrix = np.zeros((fine.dimension, coarse.dimension))
    values = coarse.expansion(fine.element.nodes).toarray()
    matrix[fine.dofs.ravel()] = values
    return matrix


@pytest.mark.parametrize("name", cases(["laplace", "helmholtz"], ["laplace"]))
def test_forms_agree(name):
    green = GREENS[name]
    mesh = cal.mesh.sphere(1.0, 0.4)
    linear, quadratic = cal.P1(mesh), cal.P2(mesh)
    direct = cal.hypersingular(green, linear).assemble().to_array()
    transformed = cal.hypersingular(green, linear, form="transformed").assemble().to_array()
    size = np.abs(direct).max()
    assert np.abs(direct - transformed).max() < 1e-7 * size
    operator = cal.hypersingular(green, quadratic)
    matrix, inside = operator.assemble().to_array(), embedding(linear, quadratic)
    assert np.abs(inside.T @ matrix @ inside - direct).max() < 1e-6 * size
    rows, columns = [3, 50, 7], [1, 2, 99, 40]
    assert np.abs(operator.entries(rows, columns) - matrix[np.ix_(rows, columns)]).max() < 1e-12 * size
    if green.wavenumber == 0:
        assert np.abs(matrix.sum(axis=1)).max() < 1e-12 * size


def test_spherical_harmonic_at_the_rate_of_the_geometry():
    """D Y_1 = 2/3 Y_1 for Laplace on the unit sphere; flat triangles give second order, whatever the space."""
    errors = []
    for h in (0.8, 0.4, 0.2):
        space = cal.P2(cal.mesh.sphere(1.0, h))
        matrix, z = cal.hypersingular(cal.Laplace(), space).assemble().to_array(), space.nodes[:, 2]
        errors.append(abs(z @ matrix @ z / (z @ (space.mass_matrix() @ z)) - 2 / 3))
    rates = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (abs(rates - 2) < 0.4).all(), rates


def test_refusals():
    mesh = cal.mesh.sphere(1.0, 0.8)
    with pytest.raises(ValueError, match="unknown form"):
        cal.hypersingular(cal.Laplace(), cal.P1(mesh), form="other")
    with pytest.raises(ValueError, match="transformed"):
        cal.hypersingular(cal.Laplace(), cal.P2(mesh), form="direct")
    with pytest.raises(ValueError, match="jumps"):
        cal.hypersingular(cal.Laplace(), cal.DP1(mesh))
