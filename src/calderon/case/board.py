"""The [[layer]] tables of a board, from below, and [element], a metal shape of `cal.planar` with its lengths."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, PrivateAttr, model_validator

from calderon.case.media import Dispersive, Media, Permittivity, RelativeOrMedium, Use, checked_media
from calderon.case.quantities import Conductivity, Size
from calderon.case.table import CaseModel, OneOf, Table, chosen, key
from calderon.formulations.options import DEFAULTS
from calderon.layers import Layer, Stack
from calderon.mesh import TriangleMesh, planar

VACUUM = "vacuum"


class BoardLayer(Table):
    """[[layer]]: a layer of the board, the lowest first; permittivity relative."""

    thickness: Size = key("of the layer", ...)
    permittivity: RelativeOrMedium = key("relative, or the name of a medium of [media]", 1.0)
    tan_delta: float = key("loss tangent", 0.0, ge=0)
    conductivity: Conductivity = key("of the layer", 0.0)
    _media: dict[str, Dispersive] = PrivateAttr(default_factory=dict)

    @model_validator(mode="after")
    def _loss_once(self) -> "BoardLayer":
        if isinstance(self.permittivity, str) and self.tan_delta:
            raise ValueError("tan_delta is one of the columns of a medium: give it there")
        return self

    @property
    def layer(self) -> Layer:
        given: Any = self.permittivity
        if (medium := self._media.get(given)) is not None:
            given = Permittivity(given, medium)
        return Layer(self.thickness, given, tan_delta=self.tan_delta, conductivity=self.conductivity)


class Boarded(CaseModel):
    """A case with a board. METAL: the table of the metal, which has the key interface."""

    METAL: ClassVar = "element"
    layer: tuple[BoardLayer, ...] = ()
    media: Media = {}

    @property
    def frequencies(self) -> Sequence[float]:
        """Frequencies in Hz at which the layers are used."""
        raise NotImplementedError

    @property
    def ends(self) -> tuple[str, str]:
        """Names of the walls or half-spaces below and above the layers."""
        raise NotImplementedError

    @property
    def stack(self) -> Stack:
        """The board."""
        below, above = (Layer() if each == VACUUM else each for each in self.ends)
        return Stack([each.layer for each in self.layer], below=below, above=above)

    @property
    def interface(self) -> int:
        """The number of layers below the metal, all unless given; ValueError for metal on a wall or above the board."""
        count, (below, above) = len(self.layer), self.ends
        given, key = getattr(self, self.METAL).interface, f"{self.METAL}.interface"
        at = count if given is None else given
        if at > count:
            raise ValueError(f"{key} = {at}: the board has {count} [[layer]] tables")
        if (at == 0 and below != VACUUM) or (at == count and above != VACUUM):
            raise ValueError(f"the {self.METAL} lies on a wall: give {key} another number, or another [[layer]]")
        return at

    def completed(self, file: Any) -> Self:
        media = checked_media(file, self._named_media(), self.frequencies)
        layers = tuple(one.model_copy() for one in self.layer)
        for one in layers:
            one._media = media
        return self.model_copy(update={"media": media, "layer": layers})

    def _named_media(self) -> Iterator[Use]:
        for number, one in enumerate(self.layer):
            if isinstance(one.permittivity, str):
                yield "layer", "permittivity", number, one.permittivity, "permittivity"


Wall = Literal["pec", "pmc", "vacuum"]


class BoardSolver(Table):
    """Keys that the [solver] tables of cases with a board share."""

    rtol: float = key("relative residual", DEFAULTS["rtol"], gt=0, lt=1)
    backend: Literal["numba"] = key("where kernels run", "numba")
    precision: Literal["double"] = key("of matrices", "double")


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


class Element(Table):
    """[element]: a shape of `cal.planar` by name, and its lengths.

    interface: on top of how many layers it lies, default all of them.
    """

    SELECTORS: ClassVar = ("shape", "interface")
    shape: Annotated[str, BeforeValidator(lambda name: chosen(name, SHAPES)), OneOf(lambda: SHAPES)] = key(
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
