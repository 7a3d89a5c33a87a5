"""[element]: metal shapes of `cal.planar` by name, with their lengths."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, model_validator

from calderon.case.quantities import Size
from calderon.case.table import OneOf, Table, chosen, key
from calderon.mesh import TriangleMesh, planar


@dataclass(frozen=True)
class Shape:
    """How an element is made, and the keys that it needs and accepts."""

    build: Callable[..., TriangleMesh]
    needed: tuple[str, ...]
    optional: tuple[str, ...] = ()


SHAPES = {
    "jerusalem-cross": Shape(planar.jerusalem_cross, ("length", "width", "ends"), ("cells",)),
    "patch": Shape(planar.patch, ("length", "width", "h")),
    "ring": Shape(planar.ring, ("radius", "inner_radius", "h")),
    "strip": Shape(planar.strip_dipole, ("length", "width", "h"), ("cells",)),
}


def given(table: Table, shape: Shape) -> dict[str, float | int]:
    """The keys of a shape that a table has."""
    values = {name: getattr(table, name) for name in (*shape.needed, *shape.optional)}
    return {name: value for name, value in values.items() if value is not None}


def _shape(name: str) -> str:
    return chosen(name, SHAPES)


class Element(Table):
    """[element]: a shape of `cal.planar` by name, and its lengths.

    interface: on top of how many layers it lies, default all of them.
    """

    SELECTORS: ClassVar = ("shape", "interface")
    shape: Annotated[str, BeforeValidator(_shape), OneOf(lambda: SHAPES)] = key(
        "of the metal; it decides which lengths are accepted", ...
    )
    length: Size | None = key("along x; of a cross, of its arms")
    width: Size | None = key("along y; of a cross, of its arms")
    ends: Size | None = key("length of the bars at the ends of the arms")
    radius: Size | None = key("outer radius of the ring")
    inner_radius: Size | None = key("of the ring")
    h: Size | None = key("edge length of the triangles")
    cells: int | None = key("across the width", ge=1)
    interface: int | None = key("number of layers below the metal; all unless given", ge=0)

    @model_validator(mode="after")
    def _complete(self) -> "Element":
        self.require_keys(f"the shape {self.shape!r}", SHAPES[self.shape].needed, SHAPES[self.shape].optional)
        return self

    def mesh(self, z: float) -> TriangleMesh:
        """At the height z in m. MeshError for lengths that do not fit together."""
        return SHAPES[self.shape].build(**self.parameters, z=z)

    @property
    def parameters(self) -> dict[str, float | int]:
        """Arguments of the shape's function that are given."""
        return given(self, SHAPES[self.shape])
