"""Case files of periodic surfaces: [periodic], [element], and the [[layer]] tables of a board, from below."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, PrivateAttr, model_validator

from calderon.case.media import Dispersive, Media, Permittivity, RelativeOrMedium, Use
from calderon.case.physics import Frequencies
from calderon.case.quantities import Angle, Conductivity, Size
from calderon.case.table import OneOf, Table, chosen, key
from calderon.layers import Layer, Stack
from calderon.mesh import TriangleMesh, planar

VACUUM = "vacuum"
PERIODIC = "periodic"  # the table that says so


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


class Boarded(Table):
    """A case with a board."""

    title: str = key("of the report; the name of the file unless given", "")
    layer: tuple[BoardLayer, ...] = ()
    media: Media = {}

    @property
    def named_media(self) -> Iterator[Use]:
        """Where media are named."""
        for number, one in enumerate(self.layer):
            if isinstance(one.permittivity, str):
                yield "layer", "permittivity", number, one.permittivity, "permittivity"

    def with_media(self, media: dict[str, Dispersive]) -> Self:
        """The same, with what its names of media stand for."""
        layers = tuple(one.model_copy() for one in self.layer)
        for one in layers:
            one._media = media
        return self.model_copy(update={"media": media, "layer": layers})


Wall = Literal["pec", "pmc", "vacuum"]


def board(layers: tuple[BoardLayer, ...], below: str, above: str) -> Stack:
    """The stack of [[layer]] tables between two ends."""
    ends = [Layer() if each == VACUUM else each for each in (below, above)]
    return Stack([each.layer for each in layers], below=ends[0], above=ends[1])


def lies_at(interface: int | None, layers: tuple[BoardLayer, ...], below: str, above: str, key: str) -> int:
    """The number of layers below metal, all unless given; ValueError naming the key for metal on a wall or above."""
    count = len(layers)
    at = count if interface is None else interface
    table = key.split(".")[0]
    if at > count:
        raise ValueError(f"{key} = {at}: the board has {count} [[layer]] tables")
    if (at == 0 and below != VACUUM) or (at == count and above != VACUUM):
        raise ValueError(f"the {table} lies on a wall: give {key} another number, or another [[layer]]")
    return at


class Periodic(Table):
    """[periodic]: the period (one length, or two along x and y), one or several frequencies, the direction from which
    the wave comes, and what is below and above the layers."""

    period: Size | tuple[Size, Size] = key("one length, or two along x and y", ...)
    frequency: Frequencies = key("one, a list, or { start, stop, count } with both ends", ...)
    theta: Angle = key("of the direction from which the wave comes, from the normal", 0.0)
    phi: Angle = key("of this direction, from x", 0.0)
    side: Literal["above", "below"] = key("from which the wave comes", "above")
    below: Wall = key("what is below the layers", "pec")
    above: Wall = key("what is above the layers", "vacuum")

    @property
    def frequencies(self) -> Sequence[float]:
        """In Hz."""
        return self.frequency

    title: ClassVar = "Plane waves at a periodic surface"
    family: ClassVar = PERIODIC
    problem: ClassVar = PERIODIC


class PeriodicSolver(Table):
    """[solver]: rtol of the spectra of Floquet waves that are left out."""

    rtol: float = key("relative size of Floquet waves that are left out", 1e-4, gt=0, lt=1)
    backend: Literal["numba"] = key("where kernels run", "numba")
    precision: Literal["double"] = key("of matrices", "double")


class PeriodicCase(Boarded):
    """A whole case file of a periodic surface."""

    periodic: Periodic
    element: Element
    solver: PeriodicSolver = PeriodicSolver()

    @property
    def physics(self) -> Periodic:
        """What says which kind of problem this is."""
        return self.periodic

    @property
    def stack(self) -> Stack:
        """The board."""
        return board(self.layer, self.periodic.below, self.periodic.above)

    @model_validator(mode="after")
    def _fits_together(self) -> "PeriodicCase":
        if getattr(self.periodic, self.periodic.side) != VACUUM:
            raise ValueError(f"periodic.side = {self.periodic.side!r}: no wave comes from there, through a wall")
        self._interface()
        return self

    def _interface(self) -> int:
        ends = self.periodic.below, self.periodic.above
        return lies_at(self.element.interface, self.layer, *ends, "element.interface")

    @property
    def height(self) -> float:
        """z of the element in m."""
        return float(self.stack.interfaces[self._interface()])
