"""Parts of a surface by name: tags, and the [[face]] tables that name triangles of a mesh without tags."""

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, model_validator

from calderon.case.quantities import Length
from calderon.case.reading import CaseFile
from calderon.case.table import Table, key
from calderon.case.waves import Direction
from calderon.mesh import MeshError, TriangleMesh

WITHIN = 1e-6
"""How far vertices may lie out of the box of a face, over the diameter."""
TILT = np.cos(np.radians(10))


def _tag(value: Any) -> int | str:
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise ValueError("the tag of a face is its name, or its number in the mesh")
    return value


Tag = Annotated[int | str, BeforeValidator(_tag)]


class Face(Table):
    """[[face]]: a name for the triangles within a box, low to high, whose normals are within 10 degrees of a direction,
    where that is given; for meshes without tags, such as .stl."""

    name: str = key("by which other tables mean it", ..., min_length=1)
    low: tuple[Length, Length, Length] | None = key("lower corner of a box that holds the triangles")
    high: tuple[Length, Length, Length] | None = key("upper corner of the box")
    normal: Direction | None = key("direction within 10 degrees of that of the triangles")

    @model_validator(mode="after")
    def _chooses(self) -> "Face":
        if self.low is None and self.high is None and self.normal is None:
            raise ValueError("a face needs low = [x, y, z], high = [x, y, z] or normal = [x, y, z]")
        if self.normal is not None and not any(self.normal):
            raise ValueError("normal = [0, 0, 0] is not a direction")
        return self


def with_faces(file: CaseFile[Any], mesh: TriangleMesh) -> TriangleMesh:
    """The mesh of a case with the names of its [[face]] tables; CaseError for names that it has, and for faces without
    triangles."""
    if not file.case.face:
        return mesh
    tags, names = mesh.tags.copy(), dict(mesh.names)
    for number, face in enumerate(file.case.face):
        with file.blamed("face", "name", number=number):
            chosen = _triangles(mesh, face)
            if face.name in names:
                raise MeshError(f"the mesh has this name already: its names are {', '.join(map(repr, names))}")
        names[face.name] = max([int(tags.max()), *names.values()]) + 1
        tags[chosen] = names[face.name]
    return TriangleMesh(mesh.vertices, mesh.triangles, tags, names, note=mesh.note)


def _triangles(mesh: TriangleMesh, face: Face) -> NDArray[np.bool_]:
    """(m,) which triangles belong to a face; MeshError for none."""
    corners, slack = mesh.vertices[mesh.triangles], WITHIN * mesh.diameter
    chosen = np.ones(len(corners), bool)
    if face.low is not None:
        chosen &= (corners >= np.array(face.low) - slack).all(axis=(1, 2))
    if face.high is not None:
        chosen &= (corners <= np.array(face.high) + slack).all(axis=(1, 2))
    if face.normal is not None:
        chosen &= mesh.normals @ (np.array(face.normal) / np.linalg.norm(face.normal)) > TILT
    if not chosen.any():
        low, high = mesh.bounds
        spans = (f"{axis} from {a:.6g} to {b:.6g}" for axis, a, b in zip("xyz", low, high, strict=True))
        raise MeshError(f"no triangle lies there with such a normal: the mesh has {', '.join(spans)}")
    return chosen
