"""Points find their tetrahedron, or none."""

import numpy as np
import pytest

import calderon as cal
from calderon.mesh.tetrahedral.location import Search


def test_points_are_found_in_stretched_tetrahedra_and_not_outside():
    """A box 40 times longer than wide, in long tetrahedra: the nearest centroids are others'."""
    mesh = cal.mesh.box([0, 0, 0], [4, 0.1, 0.1], cells=[3, 6, 6])
    points = np.random.default_rng(0).random((5000, 3)) * [4.2, 0.1, 0.1]
    elements, local = Search(mesh).find(points)
    inside = points[:, 0] <= 4
    assert (elements[inside] >= 0).all() and (elements[~inside] == -1).all()
    corners = mesh.vertices[mesh.tetrahedra[elements[inside]]]
    weights = np.column_stack([1 - local[inside].sum(axis=1), local[inside]])
    assert weights.min() > -1e-8
    np.testing.assert_allclose(np.einsum("ni,nik->nk", weights, corners), points[inside], atol=1e-12)
    assert (local[~inside] == 0).all()


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (np.zeros(3), r"points must have shape \(n, 3\), got \(3,\)"),
        (np.full((2, 3), np.nan), "2 of 2 points are NaN"),
    ],
)
def test_what_is_no_point_is_refused(points, message):
    with pytest.raises(ValueError, match=message):
        Search(cal.mesh.box([0, 0, 0], [1, 1, 1], 1)).find(points)
