"""The [mesh] table: the source of the surface, or of the tetrahedra of a transient case."""

from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from calderon.case.quantities import Place, Size
from calderon.case.table import Table
from calderon.mesh import CAD_FORMATS

Unit = Literal["m", "cm", "mm", "um", "km", "in", "ft"]

Keys = tuple[tuple[str, ...], tuple[str, ...]]
"""Keys that are needed, and those that may be given in addition."""
CURVED = ("volume",)
Shape = Literal[
    "sphere",
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
SOLIDS: dict[str, Keys] = {
    "box": (("low", "high", "cells"), ()),
    "layered_ball": (("radii", "names", "air_radius", "h"), ()),
    "phantom": ((), ("h", "semi_axes", "thicknesses", "box", "distance", "width", "air_radius")),
}


class AnyMesh(Table):
    """What the [mesh] tables of surfaces and of tetrahedra share: one of SELECTORS, a shape with its keys."""

    SHAPES: ClassVar[dict[str, Keys]]

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        sources = [name for name in self.SELECTORS if getattr(self, name) is not None]
        if len(sources) != 1:
            choices = f"{', '.join(self.SELECTORS[:-1])} or {self.SELECTORS[-1]}"
            raise ValueError(f"give exactly one of {choices}: got {' and '.join(sources) or 'none of them'}")
        source, chosen, (needed, optional) = self._source
        self.require_keys(f"the {source} {chosen!r}", needed, optional, f"{source} = {chosen!r}")
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
    file: str | None = None
    sample: Literal["submarine", "bracket", "machine-tool"] | None = None
    shape: Shape | None = None
    unit: Unit | None = None
    resolution: Literal["coarse", "fine"] | None = None
    h: Size | None = None
    radius: Size | None = None
    inner_radius: Size | None = None
    size: Size | None = None
    length: Size | None = None
    lengths: tuple[Size, ...] | None = None
    thicknesses: tuple[Size, ...] | None = None
    semi_axes: tuple[Size, Size, Size] | None = None
    major_radius: Size | None = None
    minor_radius: Size | None = None
    volume: bool | None = None
    grading: Annotated[float, Field(ge=1, le=6)] | None = None
    divisions: Annotated[int, Field(ge=0, le=6)] | None = None


def _cells(value: Any) -> int | tuple[int, ...]:
    """One number for all directions, or three of them; the shape refuses those below 1."""
    given = value if isinstance(value, list) else [value] * 3
    if len(given) != 3 or any(isinstance(each, bool) or not isinstance(each, int) for each in given):
        raise ValueError("a whole number of cells along each side, or a list of three, is needed")
    return tuple(value) if isinstance(value, list) else value


Cells = Annotated[int | tuple[int, int, int], BeforeValidator(_cells)]
Three = tuple[Size, Size, Size]


class VolumeMesh(AnyMesh):
    """[mesh]: a file of tetrahedra (.msh, .vtu), or a shape with its parameters.

    h: edge lengths, of a layered ball one or one for each layer and the air, of the phantom a table by part.
    """

    SELECTORS: ClassVar = ("file", "shape")
    SHAPES: ClassVar = SOLIDS
    file: str | None = None
    unit: Unit | None = None
    shape: Literal["box", "layered_ball", "phantom"] | None = None
    low: Place | None = None
    high: Place | None = None
    cells: Cells | None = None
    radii: tuple[Size, ...] | None = Field(default=None, min_length=1)
    names: tuple[str, ...] | None = None
    air_radius: Size | None = None
    h: dict[str, Size] | tuple[Size, ...] | Size | None = None
    semi_axes: Three | None = None
    thicknesses: Three | None = None
    box: Three | None = None
    distance: Size | None = None
    width: Size | None = None

    @model_validator(mode="after")
    def _lengths_fit(self) -> Self:
        if isinstance(self.h, dict) != (self.shape == "phantom") and self.h is not None:
            raise ValueError("h is a table by part for the shape 'phantom', one length or a list for 'layered_ball'")
        return self
