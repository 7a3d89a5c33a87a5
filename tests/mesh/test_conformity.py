"""Meshes that look whole and are not."""

import numpy as np
import pytest

import calderon as cal
from calderon.mesh.tetrahedral.conformity import covered_faces, require_unfolded

BOX = cal.mesh.box([0, 0, 0], [1, 1, 1], cells=3)


def joined(first, second):
    """Both in one mesh, no vertices shared."""
    tetrahedra = np.vstack([first.tetrahedra, second.tetrahedra + first.number_of_vertices])
    return cal.TetrahedralMesh(np.vstack([first.vertices, second.vertices]), tetrahedra)


def test_whole_meshes_have_nothing_behind_their_faces():
    hollow = BOX.centroids - 0.5
    tags = (np.abs(hollow).max(axis=1) < 0.17).astype(int)
    named = cal.TetrahedralMesh(BOX.vertices, BOX.tetrahedra, tags, {"air": 0, "metal": 1})
    apart = joined(BOX, cal.mesh.box([1.01, 0, 0], [2, 1, 1], cells=2))
    one = cal.TetrahedralMesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 1, 2, 3]])
    for mesh in (BOX, cal.mesh.without_part(named, "metal", "hole"), apart, one):
        require_unfolded(mesh)
        assert not len(covered_faces(mesh))


def test_seams_are_found():
    """Faces of tetrahedra that touch others but share no vertices, or none of the same size; overlaps."""
    pieces = cal.TetrahedralMesh(BOX.vertices[BOX.tetrahedra].reshape(-1, 3), np.arange(4 * 162).reshape(-1, 4))
    inside = len(pieces.faces) - len(BOX.faces)
    assert len(covered_faces(pieces)) == inside
    middle = 1.0
    for other in (cal.mesh.box([middle, 0, 0], [2, 1, 1], cells=cells) for cells in (3, 2)):
        mesh = joined(BOX, other)
        found = mesh.vertices[mesh.faces[covered_faces(mesh)]]
        assert len(found) and np.allclose(found[:, :, 0], middle)
    assert len(covered_faces(joined(BOX, cal.mesh.box([0.6, 0.1, 0.1], [1.6, 0.9, 0.9], cells=3))))


def test_a_sheet_with_two_sides_is_no_seam():
    flat = np.abs(BOX.vertices[BOX.tetrahedra][:, [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]], 2] - 1 / 3)
    element, side = np.nonzero(flat.max(axis=2) < 1e-9)
    triples = np.unique([np.delete(BOX.tetrahedra[n], s) for n, s in zip(element, side, strict=True)], axis=0)
    sheet = cal.TetrahedralMesh(
        BOX.vertices, BOX.tetrahedra, faces=triples, face_tags=np.zeros(len(triples), int), face_names={"sheet": 0}
    )
    assert len(triples) == 18 and not len(covered_faces(sheet))


def test_folds_are_refused():
    vertices = BOX.vertices.copy()
    inner = int(np.argmin(np.linalg.norm(vertices - 1 / 3, axis=1)))
    vertices[inner] = [0.9, 0.9, 0.9]
    with pytest.raises(
        cal.MeshError, match="pairs of tetrahedra overlap, the first are numbers .* inverted tetrahedra"
    ):
        require_unfolded(cal.TetrahedralMesh(vertices, BOX.tetrahedra))
