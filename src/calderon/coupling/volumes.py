"""Volumes for finite elements: tetrahedra of this package, of scikit-fem, or arrays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.mesh import TetrahedralMesh, TriangleMesh
from calderon.mesh.errors import MeshError, warn
from calderon.mesh.orientation import signed_volumes
from calderon.mesh.shapes.mirror_images import checked_planes
from calderon.mesh.tetrahedra import extracted
from calderon.mesh.tolerances import TOLERANCES


def scikit_fem() -> Any:
    """The package scikit-fem, which makes the matrices of finite elements; ImportError that names the extra."""
    try:
        import skfem
    except ImportError:
        raise ImportError(
            'finite elements need scikit-fem, which is not installed: pip install "calderon[fem]"'
        ) from None
    return skfem


def tetrahedral_mesh(volume: Any) -> TetrahedralMesh:
    """A volume as a mesh of this package: a `TetrahedralMesh` itself, a `MeshTet` of scikit-fem with its subdomains and
    boundaries as materials and faces, or a pair (points (nv, 3), tetrahedra (nt, 4)). The vertices keep their numbers.

    Curved tetrahedra (`MeshTet2`) become straight ones with a MeshWarning: the surface outside consists of flat
    triangles, and a curved volume inside of it would be another body. TypeError for anything else.
    """
    if isinstance(volume, TetrahedralMesh):
        return volume
    if isinstance(volume, tuple | list) and len(volume) == 2:
        return TetrahedralMesh(*volume)
    if not (hasattr(volume, "doflocs") and hasattr(volume, "t") and np.shape(volume.doflocs)[0] == 3):
        raise TypeError(
            f"a volume is a TetrahedralMesh, a MeshTet of scikit-fem or (points, tetrahedra), got {volume!r}"
        )
    if len(volume.t) != 4:
        raise TypeError(f"the elements have {len(volume.t)} corners: tetrahedra are needed, split others first")
    points = np.asarray(volume.doflocs).T
    if is_curved(volume):
        warn("the tetrahedra of MeshTet2 are replaced by straight ones with the same corners")
        points = points[: int(np.max(volume.t)) + 1]
    tags, names = _parts(volume)
    faces, face_tags, face_names = _faces(volume)
    return TetrahedralMesh(points, volume.t.T, tags, names, faces, face_tags, face_names)


def used_volume(volume: Any) -> TetrahedralMesh:
    """A volume as by `tetrahedral_mesh`, without vertices that no tetrahedron has."""
    mesh = tetrahedral_mesh(volume)
    if len(np.unique(mesh.tetrahedra)) == mesh.number_of_vertices:
        return mesh
    return extracted(mesh, np.arange(mesh.number_of_tetrahedra), mesh.names, np.zeros((0, 3), np.int64), "wall")


def snapped_volume(mesh: TetrahedralMesh, planes: tuple[str, ...]) -> TetrahedralMesh:
    """The volume with vertices next to mirrors moved into them. MeshError for one on both sides of a mirror."""
    planes, points = checked_planes(planes), np.array(mesh.vertices)
    for plane in planes:
        x = points[:, "xyz".index(plane)]
        x[np.abs(x) <= TOLERANCES.near * np.linalg.norm(np.ptp(points, axis=0))] = 0.0
        if x.min() < 0 < x.max():
            raise MeshError(
                f"the volume lies on both sides of the mirror {plane} = 0, from {x.min():g} to {x.max():g}: give the "
                "tetrahedra on one side"
            )
    if np.array_equal(points, mesh.vertices):
        return mesh
    return TetrahedralMesh(points, mesh.tetrahedra, mesh.tags, mesh.names, mesh.faces, mesh.face_tags, mesh.face_names)


def is_curved(mesh: Any) -> bool:
    """Whether tetrahedra of scikit-fem have nodes of geometry besides their corners."""
    return type(mesh).__name__ == "MeshTet2"


def _parts(mesh: Any) -> tuple[NDArray[np.int64], dict[str, int]]:
    """Tags of the elements and names, from the subdomains of a mesh of scikit-fem."""
    tags, names = np.zeros(mesh.t.shape[1], np.int64), {}
    for number, (name, elements) in enumerate((mesh.subdomains or {}).items(), 1):
        tags[elements], names[name] = number, number
    return tags, names


def _faces(mesh: Any) -> tuple[NDArray[np.int64], NDArray[np.int64], dict[str, int]]:
    """Faces, tags and names, from the boundaries of a mesh of scikit-fem; the first of two that share a face."""
    groups = list((mesh.boundaries or {}).items())
    if not groups:
        return np.zeros((0, 3), np.int64), np.zeros(0, np.int64), {}
    numbers = np.concatenate([np.asarray(facets, np.int64) for _, facets in groups])
    tags = np.repeat(np.arange(1, len(groups) + 1), [len(facets) for _, facets in groups])
    numbers, first = np.unique(numbers, return_index=True)
    return mesh.facets.T[numbers].astype(np.int64), tags[first], {name: n for n, (name, _) in enumerate(groups, 1)}


def skfem_mesh(volume: Any) -> Any:
    """The volume as a `MeshTet` of scikit-fem, its tetrahedra right-handed, with the vertex and tetrahedron numbers of
    this package and its materials as subdomains. volume: as for `boundary`."""
    mesh = tetrahedral_mesh(volume)
    cells = oriented(mesh)
    parts = {name: np.flatnonzero(mesh.tags == tag) for name, tag in mesh.names.items()}
    points, elements = np.ascontiguousarray(mesh.vertices.T), np.ascontiguousarray(cells.T)
    return scikit_fem().MeshTet(points, elements, _subdomains=parts or None)


def oriented(mesh: TetrahedralMesh) -> NDArray[np.int64]:
    """(nt, 4) the vertices of the tetrahedra in right-handed order; those of a `TetrahedralMesh` ascend, so that about
    half of them are left-handed."""
    negative = signed_volumes(mesh.vertices, mesh.tetrahedra) < 0
    return np.where(negative[:, None], mesh.tetrahedra[:, [0, 1, 3, 2]], mesh.tetrahedra)


def boundary(volume: Any) -> TriangleMesh:
    """The boundary of a volume as a closed surface, its normals out of the tetrahedra, with tags and names of faces.

    volume: a `TetrahedralMesh` (whose `boundary` has the maps into it), a `MeshTet` of scikit-fem, or (points (nv, 3),
    tetrahedra (nt, 4)). A `MeshTet2` is straightened, with a MeshWarning.
    """
    return tetrahedral_mesh(volume).surface()
