"""Union, difference and intersection of bodies that are given by closed triangle meshes, by manifold3d."""

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.mesh.coincident import compacted
from calderon.mesh.containment import nested_components
from calderon.mesh.errors import MeshError, MeshWarning, warn
from calderon.mesh.tolerances import TOLERANCES
from calderon.mesh.triangles import TriangleMesh, merge
from calderon.validation import describe


def union(meshes: Sequence[TriangleMesh]) -> TriangleMesh:
    """The surface of all that is inside of at least one of some closed meshes.

    Where surfaces cross, triangles are cut along the line on which they do; others stay. A component within another one
    of its mesh is a cavity. Tags and names stay as in `merge`. Triangles along the cuts may be thin, which a
    MeshWarning reports; `solids` makes even ones of bodies by numbers and of CAD files.

    Raises MeshError for open meshes, for edges with more than two triangles, where nothing is left, and if manifold3d
    is not installed. Source: E. Lalish, Manifold library, https://github.com/elalish/manifold.

        two = cal.mesh.union([cal.mesh.cube(1.0, 0.3), cal.mesh.sphere(0.7, 0.2)])
    """
    return _combined(meshes, "union", "Add")


def difference(mesh: TriangleMesh, cutters: TriangleMesh | Sequence[TriangleMesh]) -> TriangleMesh:
    """The surface of what is inside of a closed mesh, and of none of the cutters; otherwise as `union`. Walls of what
    was cut out have the tags of the cutters."""
    given = [cutters] if isinstance(cutters, TriangleMesh) else cutters
    if not isinstance(given, Iterable):
        raise MeshError(f"difference accepts triangle meshes, got {describe(cutters)}")
    return _combined([mesh, *given], "difference", "Subtract")


def intersection(meshes: Sequence[TriangleMesh]) -> TriangleMesh:
    """The surface of what is inside of all of some closed meshes; otherwise as `union`."""
    return _combined(meshes, "intersection", "Intersect")


def _combined(meshes: Sequence[TriangleMesh], what: str, operation: str) -> TriangleMesh:
    """The result of an operation of manifold3d, with tags and names as of `merge`."""
    try:
        import manifold3d
    except ImportError:
        raise MeshError(f"{what} is made by manifold3d, which is not installed: pip install 'calderon[cad]'") from None
    together = merge(meshes)
    given = [meshes] if isinstance(meshes, TriangleMesh) else list(meshes)
    if len(given) < 2:
        raise MeshError(f"{what} needs at least two meshes, got one")
    ends = np.cumsum([each.number_of_triangles for each in given])
    tags, first = np.unique(together.tags), {}
    bodies = []
    for each, end in zip(given, ends, strict=True):
        own = together.tags[end - each.number_of_triangles : end]
        start = manifold3d.Manifold.reserve_ids(len(tags))
        first.update({start + place: tag for place, tag in enumerate(tags.tolist())})
        bodies.append(_body(manifold3d, each, start + np.searchsorted(tags, own)))
    found = manifold3d.Manifold.batch_boolean(bodies, getattr(manifold3d.OpType, operation))
    if found.is_empty():
        raise MeshError(f"nothing is left of the {what}: do the meshes overlap, and in which unit is each?")
    made = found.to_mesh64()
    starts = np.asarray(made.run_index, np.int64)
    lengths = (starts[1:] - starts[:-1]) // 3
    numbers = np.repeat([first[int(each)] for each in made.run_original_id], lengths)
    vertices = np.array(made.vert_properties)[:, :3]
    place = np.arange(len(vertices))
    place[np.asarray(made.merge_from_vert, np.int64)] = np.asarray(made.merge_to_vert, np.int64)
    vertices, triangles = compacted(vertices, place[np.asarray(made.tri_verts, np.int64)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MeshWarning)  # of cavities, whose normals a mesh turns
        result = TriangleMesh(vertices, triangles, numbers, together.names)
    if thin := np.count_nonzero(result.angles.min(axis=1) < TOLERANCES.sliver_angle):
        warn(
            f"{what}: {thin} of {len(triangles)} triangles along the cuts have an angle below 1 degree, which lowers "
            "the accuracy: mesh the surface anew, or build the bodies by cal.mesh.solids, which meshes the walls itself"
        )
    return result


def _body(manifold3d: Any, mesh: TriangleMesh, numbers: NDArray[np.int64]) -> Any:
    """A mesh as a body of manifold3d, normals out of the material, with a number (nt,) for each triangle."""
    wrong = np.flatnonzero(mesh.edge_triangle_counts != 2)
    if len(wrong):
        raise MeshError(
            f"only closed surfaces bound bodies, and {len(wrong)} of {mesh.number_of_edges} edges of this mesh have "
            "not two triangles: check() lists them"
        )
    cavities = np.isin(mesh.components, nested_components(mesh.vertices, mesh.triangles, mesh.components))
    volumes = np.bincount(mesh.components, np.einsum("ni,ni->n", mesh.centroids - mesh.centroids[0], mesh.area_vectors))
    turned = (volumes > 0)[mesh.components] == cavities
    triangles = np.where(turned[:, None], mesh.triangles[:, [0, 2, 1]], mesh.triangles)
    vertices, triangles = compacted(mesh.vertices, triangles)
    order = np.argsort(numbers, kind="stable")
    runs, counts = np.unique(numbers, return_counts=True)
    body = manifold3d.Manifold(
        manifold3d.Mesh64(
            np.ascontiguousarray(vertices), np.ascontiguousarray(triangles[order].astype(np.uint64)),
            run_index=np.concatenate([[0], 3 * np.cumsum(counts)]).astype(np.uint64),
            run_original_id=runs.astype(np.uint32),
        )
    )  # fmt: skip
    if body.status() != manifold3d.Error.NoError:
        raise MeshError(f"a mesh bounds no body: {body.status().name}; check() lists what is wrong with it")
    return body
