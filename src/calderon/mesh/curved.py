"""Meshes of curved triangles."""

from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from calderon.mesh.geometry import CurvedTriangles
from calderon.mesh.triangles import TriangleMesh

Build = Callable[[NDArray[np.integer]], CurvedTriangles]


class CurvedMesh(TriangleMesh):
    """The vertices, numbers and tags of a mesh with triangles that are curved: build(numbers) gives those of these
    numbers.

    Sums over quadrature points see the curved triangles: spaces of nodal functions with their charges, load vectors,
    mass matrices, projections and errors, and far fields of layers. What reads flat triangles raises ValueError:
    integral operators, potentials at points, edge functions, refinement. The attributes areas, normals, centroids and
    diameters belong to the flat triangles between the vertices, which files and pictures show.
    """

    is_flat: ClassVar[bool] = False

    def __init__(self, mesh: TriangleMesh, build: Build) -> None:
        super().__init__(mesh.vertices, mesh.triangles, mesh.tags, mesh.names, mesh.note)
        self.__dict__["_build"] = build

    def geometry(self, triangles: NDArray[np.integer]) -> CurvedTriangles:
        return self.__dict__["_build"](triangles)

    def flat_triangles(self, triangles: NDArray[np.integer], what: str, *_: Any) -> NoReturn:
        raise ValueError(
            f"{what} supports flat triangles only, and those of this mesh are curved: use the mesh that it was made of"
        )

    def _refused(self, *_: Any) -> NoReturn:
        self.flat_triangles(self.triangles[:0, 0], "a mesh made of another one")

    scaled = translated = rotated = restricted = merged_vertices = contains = _refused  # type: ignore[assignment]
    barycentric_refinement = property(_refused)
