"""Some functions of a space are a space: their rows and columns of matrices, on the triangles where they live."""

import numpy as np
import pytest

import calderon as cal


@pytest.mark.parametrize("make", [cal.P1, cal.P2, cal.DP1])
def test_selected_functions_have_their_rows_and_columns(make):
    space = make(cal.mesh.sphere(1.0, 0.8))
    chosen = np.random.default_rng(0).random(space.dimension) < 0.3
    part = space.selected(chosen)
    assert part.dimension == np.count_nonzero(chosen)
    assert (part.dofs >= 0).any(axis=1).all() and len(part.triangles) < len(space.triangles)
    whole = space.mass_matrix().toarray()
    assert np.allclose(part.mass_matrix().toarray(), whole[np.ix_(chosen, chosen)], rtol=1e-13, atol=1e-16)
    assert np.allclose(part.mass_matrix(space).toarray(), whole[:, chosen], rtol=1e-13, atol=1e-16)
    assert np.array_equal(part.nodes, space.nodes[chosen])
    assert part.is_continuous == space.is_continuous and not (space.is_continuous and part.reaches_boundary)
    assert space.selected(np.ones(space.dimension, bool)) is space


def test_layers_of_selected_functions_are_columns_of_the_whole():
    """To the error of quadrature: rules of touching pairs depend on which triangle comes first."""
    space = cal.P1(cal.mesh.sphere(1.0, 0.8))
    chosen = np.arange(space.dimension) % 3 == 0
    for layer in (cal.double_layer, cal.hypersingular):
        whole = layer(cal.Helmholtz(1.2), space).assemble().to_array()
        part = layer(cal.Helmholtz(1.2), space.selected(chosen), space).assemble().to_array()
        assert np.abs(part - whole[:, chosen]).max() < 1e-7 * np.abs(whole).max()
