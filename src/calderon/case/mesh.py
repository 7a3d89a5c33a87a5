"""The [mesh] table: the source of the surface."""

from typing import Any, Literal

from pydantic import model_validator

from calderon.case.quantities import Size
from calderon.case.table import Table
from calderon.mesh import metres_per

# parameters that each shape accepts in addition to h; the names are those of calderon.mesh
SHAPES: dict[str, tuple[str, ...]] = {
    "sphere": ("radius",),
    "ellipsoid": ("semi_axes",),
    "cube": ("size",),
    "cuboid": ("lengths",),
    "cylinder": ("radius", "length"),
    "torus": ("major_radius", "minor_radius"),
    "plate": ("lengths",),
    "almond": ("length",),
    "ogive": ("length",),
}
CURVED = ("sphere", "ellipsoid", "torus", "almond", "ogive")  # shapes that may keep the volume of the body


class Mesh(Table):
    """[mesh]: a file, a sample that ships with the package, or a shape with its parameters and edge length h. volume:
    whether a curved shape encloses the volume of the body (as by default) or has its vertices on the surface.
    """

    file: str | None = None
    sample: Literal["submarine"] | None = None
    shape: Literal["sphere", "ellipsoid", "cube", "cuboid", "cylinder", "torus", "plate", "almond", "ogive"] | None = (
        None
    )
    unit: Literal["m", "cm", "mm", "um", "km", "in", "ft"] | None = None
    resolution: Literal["coarse", "fine"] | None = None
    h: Size | None = None
    radius: Size | None = None
    size: Size | None = None
    length: Size | None = None
    lengths: tuple[Size, ...] | None = None
    semi_axes: tuple[Size, Size, Size] | None = None
    major_radius: Size | None = None
    minor_radius: Size | None = None
    volume: bool | None = None

    @model_validator(mode="after")
    def _one_source(self) -> "Mesh":
        sources = [name for name in ("file", "sample", "shape") if getattr(self, name) is not None]
        if len(sources) != 1:
            given = " and ".join(sources) or "none of them"
            raise ValueError(f"give exactly one of file, sample or shape: got {given}")
        needed = {"file": (), "sample": (), "shape": ("h", *SHAPES.get(self.shape or "", ()))}[sources[0]]
        own = ("volume",) if self.shape in CURVED else ()
        optional = {"file": ("unit",), "sample": ("resolution",), "shape": own}[sources[0]]
        missing = [name for name in needed if getattr(self, name) is None]
        if missing:
            raise ValueError(f"the shape {self.shape!r} also needs {' and '.join(missing)}")
        fitting = {*sources, *needed, *optional}
        strange = sorted(
            name for name in self.model_fields_set if getattr(self, name) is not None and name not in fitting
        )
        if strange:
            takes = ", ".join([*needed, *optional]) or "nothing else"
            raise ValueError(
                f"{', '.join(strange)} is not supported by {sources[0]} = {getattr(self, sources[0])!r}: "
                f"it accepts {takes}"
            )
        return self

    @property
    def scale(self) -> float:
        """Metres per unit of the file."""
        return metres_per(self.unit or "m")

    @property
    def parameters(self) -> dict[str, Any]:
        """Arguments of the shape's function."""
        given = {name: getattr(self, name) for name in ("h", *SHAPES[self.shape or ""])}
        return given if self.volume is None else {**given, "volume": self.volume}
