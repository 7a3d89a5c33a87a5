"""Parts of a surface by name: tags, and the [[face]] tables that name triangles of a mesh without tags."""

from typing import Annotated, Any

from pydantic import BeforeValidator, model_validator

from calderon.case.quantities import Length, Place, Size
from calderon.case.reading import CaseFile
from calderon.case.table import Table, key
from calderon.case.waves import Direction
from calderon.mesh import MeshError, Selection, TriangleMesh


def _tag(value: Any) -> int | str:
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise ValueError("the tag of a face is its name, or its number in the mesh")
    return value


Tag = Annotated[int | str, BeforeValidator(_tag)]


class OnCylinder(Table):
    """[face.cylinder]: a cylinder without ends, such as that of a bore."""

    point: Place = key("on the axis", ...)
    axis: Direction = key("direction of the axis", ...)
    radius: Size = key("of the cylinder; corners of triangles are within a thousandth of it", ...)


class OnPlane(Table):
    """[face.plane]: a plane."""

    point: Place = key("on the plane", ...)
    normal: Direction = key("direction across the plane", ...)


class Face(Table):
    """[[face]]: a name for triangles: those on a cylinder or a plane, those of the face next to a point, of a tag of
    the mesh, those within a box, low to high, and those whose normals are within 10 degrees of a direction. All that is
    given holds. A message says which faces of the mesh are cut by a box or a direction."""

    name: str = key("by which other tables mean it", ..., min_length=1)
    cylinder: OnCylinder | None = key("on which the triangles lie: point, axis, radius")
    plane: OnPlane | None = key("in which the triangles lie: point, normal")
    near: Place | None = key("a point next to the face, which is taken whole")
    tag: Tag | None = key("name or number that the triangles have in the mesh, or the name of a solid of a CAD model")
    low: tuple[Length, Length, Length] | None = key("lower corner of a box that holds the triangles")
    high: tuple[Length, Length, Length] | None = key("upper corner of the box")
    normal: Direction | None = key("direction within 10 degrees of that of the triangles")

    @model_validator(mode="after")
    def _chooses(self) -> "Face":
        keys = "cylinder", "plane", "near", "tag", "low", "high", "normal"
        if all(getattr(self, key) is None for key in keys):
            raise ValueError(
                "a face needs low = [x, y, z], high = [x, y, z] or normal = [x, y, z], "
                "cylinder = {point, axis, radius}, plane = {point, normal}, near = [x, y, z] or tag"
            )
        if self.normal is not None and not any(self.normal):
            raise ValueError("normal = [0, 0, 0] is not a direction")
        return self

    def selection(self, mesh: TriangleMesh) -> Selection:
        """The triangles of a mesh, as by its `select`."""
        box = None if self.low is None and self.high is None else (self.low, self.high)
        cylinder = None if self.cylinder is None else (self.cylinder.point, self.cylinder.axis, self.cylinder.radius)
        plane = None if self.plane is None else (self.plane.point, self.plane.normal)
        return mesh.select(cylinder=cylinder, plane=plane, near=self.near, box=box, normal=self.normal, name=self.tag)


def with_faces(file: CaseFile[Any], mesh: TriangleMesh) -> TriangleMesh:
    """The mesh of a case with the names of its [[face]] tables; CaseError for names that it has, and for faces without
    triangles."""
    named: dict[str, Selection] = {}
    for number, face in enumerate(file.case.face):
        with file.blamed("face", "name", number=number):
            if face.name in mesh.names or face.name in named:
                raise MeshError(
                    f"the mesh has this name already: its names are {', '.join(map(repr, [*mesh.names, *named]))}"
                )
            named[face.name] = face.selection(mesh)
    return mesh.named(named) if named else mesh
