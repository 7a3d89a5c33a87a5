"""The [mesh] table of a transient case: the source of the tetrahedra."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from calderon.case.quantities import Length, Size
from calderon.case.table import Table
from calderon.mesh import metres_per

Place = tuple[Length, Length, Length]


def _cells(value: Any) -> int | tuple[int, ...]:
    """One number for all directions, or three of them; the shape refuses those below 1."""
    given = value if isinstance(value, list) else [value] * 3
    if len(given) != 3 or any(isinstance(each, bool) or not isinstance(each, int) for each in given):
        raise ValueError("a whole number of cells along each side, or a list of three, is needed")
    return tuple(value) if isinstance(value, list) else value


Cells = Annotated[int | tuple[int, int, int], BeforeValidator(_cells)]
Three = tuple[Size, Size, Size]
# the keys that a shape needs, and those it may have; the names are those of calderon.mesh
SHAPES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "box": (("low", "high", "cells"), ()),
    "layered_ball": (("radii", "names", "air_radius", "h"), ()),
    "phantom": ((), ("h", "semi_axes", "thicknesses", "box", "distance", "width", "air_radius")),
}


class Mesh(Table):
    """[mesh]: a file of tetrahedra (.msh, .vtu), or a shape with its parameters.

    h: edge lengths, of a layered ball one or one for each layer and the air, of the phantom a table by part.
    """

    file: str | None = None
    unit: Literal["m", "cm", "mm", "um", "km", "in", "ft"] | None = None
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
    def _one_source(self) -> "Mesh":
        if (self.file is None) == (self.shape is None):
            raise ValueError("give either file or shape")
        needed, optional = ((), ("unit",)) if self.shape is None else SHAPES[self.shape]
        missing = [name for name in needed if getattr(self, name) is None]
        if missing:
            raise ValueError(f"the shape {self.shape!r} also needs {' and '.join(missing)}")
        source = "file" if self.shape is None else "shape"
        strange = sorted(self.model_fields_set - {source, *needed, *optional})
        if strange:
            takes, given = ", ".join([*needed, *optional]), f"{source} = {getattr(self, source)!r}"
            raise ValueError(f"{', '.join(strange)} is not supported by {given}: it accepts {takes}")
        if isinstance(self.h, dict) != (self.shape == "phantom") and self.h is not None:
            raise ValueError("h is a table by part for the shape 'phantom', one length or a list for 'layered_ball'")
        return self

    @property
    def scale(self) -> float:
        """Metres per unit of the file."""
        return metres_per(self.unit or "m")

    @property
    def parameters(self) -> dict[str, Any]:
        """Arguments of the shape's function, except the phantom's frequency."""
        needed, optional = SHAPES[self.shape or ""]
        return {name: value for name in (*needed, *optional) if (value := getattr(self, name)) is not None}
