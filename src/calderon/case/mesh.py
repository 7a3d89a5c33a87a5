"""The [mesh] table: the source of a surface, and the mesh of a checked case."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

from pydantic import Field, model_validator

import calderon.mesh as meshes
from calderon.case.quantities import Place, Size
from calderon.case.reading import CaseFile
from calderon.case.table import Table, key
from calderon.mesh import CAD_FORMATS, TriangleMesh, metres_per

Unit = Literal["m", "cm", "mm", "um", "km", "in", "ft"]

Keys = tuple[tuple[str, ...], tuple[str, ...]]
"""Keys that are needed, and those that may be given in addition."""
CURVED = ("volume",)
Shape = Literal[
    "sphere",
    "hemisphere",
    "disc",
    "hollow_sphere",
    "ellipsoid",
    "cube",
    "cuboid",
    "layered_cuboid",
    "cylinder",
    "tube",
    "torus",
    "plate",
    "almond",
    "ogive",
]
# keys of each shape; the names are those of calderon.mesh
SHAPES: dict[str, Keys] = {
    "sphere": (("h", "radius"), CURVED),
    "hemisphere": (("h", "radius"), CURVED),
    "disc": (("h", "radius"), ()),
    "ellipsoid": (("h", "semi_axes"), CURVED),
    "cube": (("h", "size"), ()),
    "cuboid": (("h", "lengths"), ("grading",)),
    "layered_cuboid": (("h", "lengths", "thicknesses"), ()),
    "cylinder": (("h", "radius", "length"), ()),
    "tube": (("h", "radius", "inner_radius", "length"), ()),
    "hollow_sphere": (("h", "radius", "inner_radius"), CURVED),
    "torus": (("h", "major_radius", "minor_radius"), CURVED),
    "plate": (("h", "lengths"), ()),
    "almond": (("h", "length"), CURVED),
    "ogive": (("h", "length"), CURVED),
}


class AnyMesh(Table):
    """Rules of the [mesh] tables of surfaces and of tetrahedra: one of SELECTORS is given, and the keys of a shape."""

    SHAPES: ClassVar[dict[str, Keys]]
    ALWAYS: ClassVar[tuple[str, ...]] = ()
    """Keys that go with every source."""

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        sources = [name for name in self.SELECTORS if getattr(self, name) is not None]
        if len(sources) != 1:
            choices = f"{', '.join(self.SELECTORS[:-1])} or {self.SELECTORS[-1]}"
            raise ValueError(f"give exactly one of {choices}: got {' and '.join(sources) or 'none of them'}")
        source, chosen, (needed, optional) = self._source
        self.require_keys(f"the {source} {chosen!r}", needed, (*optional, *self.ALWAYS), f"{source} = {chosen!r}")
        return self

    @property
    def parameters(self) -> dict[str, Any]:
        """Arguments of the shape's function."""
        needed, optional = self._source[2]
        return {name: value for name in (*needed, *optional) if (value := getattr(self, name)) is not None}

    @property
    def _source(self) -> tuple[str, Any, Keys]:
        """Which of SELECTORS is given, its value, and its keys."""
        source, chosen = next((name, value) for name in self.SELECTORS if (value := getattr(self, name)) is not None)
        cad = source == "file" and Path(chosen).suffix.lower() in CAD_FORMATS
        others: dict[str, Keys] = {
            "file": (("h",), ()) if cad else ((), ("unit", "divisions")), "sample": ((), ("resolution", "divisions"))
        }  # fmt: skip
        return source, chosen, self.SHAPES[chosen] if source == "shape" else others[source]


class Mesh(AnyMesh):
    """[mesh]: a file (of a CAD model with the edge length h), a sample that ships with the package, or a shape with its
    parameters and edge length h. volume: whether a curved shape encloses the volume of the body (as by default) or has
    its vertices on the surface. grading: exponent from 1 to 6 by which the elements of a cuboid become smaller toward
    its edges. divisions: how often each triangle of a file or a sample is cut into four.
    """

    SELECTORS: ClassVar = ("file", "sample", "shape")
    SHAPES: ClassVar = SHAPES
    ALWAYS: ClassVar[tuple[str, ...]] = ("translation",)
    file: str | None = key("a surface mesh, or a CAD model with h, in the folder of the case")
    sample: Literal["submarine", "bracket", "machine-tool"] | None = key("a mesh that ships with the package")
    shape: Shape | None = key("a body that is meshed; it decides which lengths are accepted")
    unit: Unit | None = key("of the lengths in the file; that of the format unless given")
    resolution: Literal["coarse", "fine"] | None = key('of a sample; "coarse" unless given')
    h: Size | None = key("edge length of the triangles")
    radius: Size | None = key("outer radius")
    inner_radius: Size | None = key("of the bore or the cavity")
    size: Size | None = key("edge of the cube")
    length: Size | None = key("along the axis")
    lengths: tuple[Size, ...] | None = key("sides along x, y and z")
    thicknesses: tuple[Size, ...] | None = key("of the layers, from below")
    semi_axes: tuple[Size, Size, Size] | None = key("of the ellipsoid along x, y and z")
    major_radius: Size | None = key("from the middle of the torus to that of the tube")
    minor_radius: Size | None = key("of the tube of the torus")
    volume: bool | None = key("whether a curved shape encloses the volume of the body; true unless given")
    grading: Annotated[float, Field(ge=1, le=6)] | None = key(
        "exponent by which elements of a cuboid shrink toward its edges"
    )
    divisions: Annotated[int, Field(ge=0, le=6)] | None = key(
        "how often each triangle of a file or a sample is cut into four"
    )
    translation: Place | None = key("by which the mesh is moved; none unless given")


class NamedSurface(Mesh):
    """[[surface]]: one of several surfaces, instead of [mesh]: its triangles have the name as their tag. Surfaces that
    touch have the same vertices there, and one wall of triangles that two have in common keeps the name of the first.
    """

    ALWAYS: ClassVar[tuple[str, ...]] = ("translation", "name")
    name: str = key("by which other tables mean it", ..., min_length=1)


M = TypeVar("M")
LINKING = (".xdmf",)
"""Endings of mesh files that may name files anywhere."""


def require_inside(path: Path, folder: Path) -> None:
    """ValueError for a mesh file outside of a folder, also through links, or of a format that may lead out of it."""
    if not path.resolve().is_relative_to(folder.resolve()):
        raise ValueError("it leads out of the folder that this run is restricted to: copy the file there")
    if path.suffix.lower() in LINKING:
        raise ValueError(f"{path.suffix} files name other files, which may be anywhere: save it as .vtu")


def mesh_of(
    file: CaseFile[Any], read: Callable[..., M], make: Callable[[], M], metres: float = 1.0, unit: str = "m",
    number: int | None = None,
) -> M:  # fmt: skip
    """The mesh that `read(path, scale=)` gives for the file in [mesh], or `make()` without one; CaseError for a file
    or a shape that cannot be used. metres: the unit of the mesh; unit: that of a file without another. number: of the
    table [[surface]] that is meant instead of [mesh]."""
    (name, table), key, produce = _table(file, number), "shape", make
    if table.file is not None:
        path = file.folder / table.file
        if file.within is not None:
            with file.blamed(name, "file", number=number):
                require_inside(path, file.within)
        if not path.is_file():
            text = f"no such file in {file.folder.resolve()}, the folder of the case"
            raise file.mistake(name, "file", text, number=number)
        key, produce = "file", lambda: read(path, scale=metres_per(table.unit or unit) / metres)
    with file.blamed(name, key, number=number):
        return produce()


def _table(file: CaseFile[Any], number: int | None) -> tuple[str, Any]:
    """The name and the table [mesh], or [[surface]] of that number."""
    return ("mesh", file.case.mesh) if number is None else ("surface", file.case.surface[number])


def surface_mesh(file: CaseFile[Any], metres: float = 1.0, unit: str = "m", number: int | None = None) -> TriangleMesh:
    """The mesh of a case, in metres, or in a unit of so many; CaseError for a file or a shape that cannot be used.
    unit: of a file without another; number: as for `mesh_of`."""
    name, table = _table(file, number)

    def made() -> TriangleMesh:
        if table.sample is not None:
            found = meshes.sample(table.sample, table.resolution or "coarse")
            return found if metres == 1 else found.scaled(1 / metres)
        assert table.shape is not None
        return getattr(meshes, table.shape)(**table.parameters)

    def read(path: Path, scale: float) -> TriangleMesh:
        if path.suffix.lower() not in meshes.CAD_FORMATS:
            return meshes.read(path, scale=scale)
        assert table.h is not None
        found = meshes.read_cad(path, table.h * metres)
        return found if metres == 1 else found.scaled(1 / metres)

    mesh = mesh_of(file, read, made, metres, unit, number)
    if table.divisions is not None:
        with file.blamed(name, "divisions", number=number):
            mesh = mesh.divided(table.divisions)
    return mesh if table.translation is None else mesh.translated(table.translation)
