"""Walls behind a surface, filled with tetrahedra."""

import numpy as np
from numpy.typing import NDArray

from calderon.backends import require_memory
from calderon.mesh.checks.crossings import crossing_pairs
from calderon.mesh.errors import MeshError
from calderon.mesh.orientation import signed_volumes
from calderon.mesh.shapes.round import sphere
from calderon.mesh.sizes import PEAK_BYTES, positive
from calderon.mesh.tetrahedra import TetrahedralMesh
from calderon.mesh.triangles import TriangleMesh
from calderon.validation import instance, whole_number

STEEPEST = 0.1
"""Least eigenvalue over the largest, of the matrix of normals around a vertex, for a direction that these determine:
normals 35 degrees apart. Below it they are those of a curved face, and the mean direction is taken."""


def thickened(surface: TriangleMesh, thickness: float, layers: int = 1) -> TetrahedralMesh:
    """The wall behind a surface, on the side that its normals point away from: prisms in `layers` layers, each cut into
    three tetrahedra.

    thickness: measured at right angles to the triangles, in the unit of the mesh; at an edge of a body the wall keeps
    it on both sides. The diagonals of a side of a prism start at its smallest vertex number, so that neighbours meet
    face to face. The faces on the surface keep its tags and names ("outer" where there are no names), those behind have
    the name "inner", those along an open boundary "wall".

    MeshError where the wall folds or passes through itself: a smaller thickness, or a surface with a larger radius, is
    needed there.
    """
    instance(surface, TriangleMesh, "a wall stands behind a TriangleMesh")
    depth, count = positive("thickness", thickness), whole_number(layers, "layers")
    surface.flat_triangles(surface.triangles[:0, 0], "thickened")
    return _wall(surface, depth, depth * _directions(surface), count)


def spherical_shell(radius: float, thickness: float, h: float, layers: int = 1) -> TetrahedralMesh:
    """The wall between two concentric spheres about the origin: triangles with edges of about h on the outer one, and
    `layers` layers of tetrahedra as of `thickened`, with its names of faces.

    radius: of the outer sphere. Both polyhedra have the volumes of their balls, so that the wall has the mass of the
    shell. `thickened(sphere(radius, h), thickness)` has the same thickness behind an area that is too large, by 0.7 %
    at h = 0.4 radius. ValueError where the wall is as thick as the ball.
    """
    size, depth, count = positive("radius", radius), positive("thickness", thickness), whole_number(layers, "layers")
    if depth >= size:
        raise ValueError(f"thickness={depth:g}: it is smaller than the radius {size:g}; cal.mesh.ball makes the whole")
    surface = sphere(size, h)
    return _wall(surface, depth, depth / size * surface.vertices, count)


def _wall(surface: TriangleMesh, depth: float, steps: NDArray[np.float64], count: int) -> TetrahedralMesh:
    """The wall from a surface to its vertices less `steps` (nv, 3), in `count` layers."""
    number = surface.number_of_vertices
    require_memory(
        PEAK_BYTES.tetrahedron * 3 * count * surface.number_of_triangles,
        f"a wall of {count} layers behind {surface.number_of_triangles} triangles",
        "take fewer layers",
    )
    vertices = np.concatenate([surface.vertices - n / count * steps for n in range(count + 1)])
    # prisms, their corners in ascending order: the lower corner of each side starts its diagonal
    order = np.argsort(surface.triangles, axis=1)
    corners = np.take_along_axis(surface.triangles, order, axis=1)
    turned = np.linalg.det(np.eye(3)[order]) < 0
    tetrahedra = []
    for n in range(count):
        a, b = corners + n * number, corners + (n + 1) * number
        tetrahedra += [
            np.stack([a[:, 0], a[:, 1], a[:, 2], b[:, 2]], axis=1),
            np.stack([a[:, 0], a[:, 1], b[:, 2], b[:, 1]], axis=1),
            np.stack([a[:, 0], b[:, 0], b[:, 1], b[:, 2]], axis=1),
        ]
    cells = np.concatenate(tetrahedra)
    folded = (signed_volumes(vertices, cells) < 0) != np.tile(~turned, 3 * count)
    if folded.any():
        bad = int(np.flatnonzero(folded)[0]) % surface.number_of_triangles
        raise MeshError(
            f"a wall {depth:g} thick folds behind {len(np.unique(np.flatnonzero(folded) % len(corners)))} triangles, "
            f"the first is number {bad} at {surface.centroids[bad]}: choose a smaller thickness or a smoother surface"
        )
    names = dict(surface.names) or {"outer": int(surface.tags[0])}
    inner = max([*names.values(), *surface.tags.tolist()]) + 1
    faces = np.concatenate([surface.triangles, surface.triangles + count * number])
    tags = np.concatenate([surface.tags, np.full(len(corners), inner)])
    wall = TetrahedralMesh(vertices, cells, None, None, faces, tags, {**names, "inner": inner})
    _refuse_crossings(wall, depth)
    return wall


def _directions(surface: TriangleMesh) -> NDArray[np.float64]:
    """(nv, 3) steps d with n . d = 1 for the normals n of the triangles around each vertex, in the mean square by their
    angles, in the directions that the normals determine."""
    corners = surface.vertices[surface.triangles]
    sides = np.roll(corners, -1, axis=1) - corners
    sides /= np.linalg.norm(sides, axis=2, keepdims=True)
    angles = np.arccos(np.clip(-np.einsum("nij,nij->ni", sides, np.roll(sides, 1, axis=1)), -1, 1))
    matrices, loads = np.zeros((surface.number_of_vertices, 3, 3)), np.zeros((surface.number_of_vertices, 3))
    squares = surface.normals[:, :, None] * surface.normals[:, None, :]
    np.add.at(matrices, surface.triangles, angles[:, :, None, None] * squares[:, None])
    np.add.at(loads, surface.triangles, angles[:, :, None] * surface.normals[:, None])
    values, vectors = np.linalg.eigh(matrices)
    along = np.einsum("nji,nj->ni", vectors, loads)
    kept = values > STEEPEST * np.maximum(values[:, -1:], 1e-300)
    return np.asarray(np.einsum("nij,nj->ni", vectors, np.where(kept, along / np.where(kept, values, 1.0), 0.0)))


def _refuse_crossings(wall: TetrahedralMesh, depth: float) -> None:
    """MeshError where the boundary of the wall passes through itself."""
    boundary = wall.surface()
    crossing = crossing_pairs(boundary.vertices[boundary.triangles], boundary.triangles)
    if len(crossing):
        where = boundary.centroids[crossing[0, 0]]
        raise MeshError(
            f"a wall {depth:g} thick passes through itself at {len(crossing)} pairs of triangles, the first at "
            f"{where}: choose a smaller thickness, half of the body's at most"
        )
