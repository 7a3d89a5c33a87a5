"""Kinds of surfaces of composite bodies: interfaces of two materials, metal, and sheets."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from calderon.layers.stack import Conductor, SurfaceImpedance
from calderon.mesh import Material
from calderon.validation import describe, instance, real_number, unit_vector, whole_number


@dataclass(frozen=True)
class Interface:
    """The common surface of two materials.

    outside, inside: names of the regions on the side of the normals of the mesh and on the other one. Raises ValueError
    for the same region twice, TypeError for anything but names.
    """

    outside: str
    inside: str

    def __post_init__(self) -> None:
        for name in ("outside", "inside"):
            _named(getattr(self, name), f"Interface {name}")
        if self.outside == self.inside:
            raise ValueError(
                f"an interface has two regions, got {self.outside!r} on both sides: leave the surface out with "
                "mesh.restricted(tags), or give its material a region of its own"
            )

    @property
    def sides(self) -> tuple[str | None, str | None]:
        """The regions outside and inside."""
        return self.outside, self.inside


@dataclass(frozen=True)
class Metal:
    """A conductor between two regions, or the surface of a solid one.

    outside, inside: names of the regions on the side of the normals of the mesh and on the other one; None is the
    inside of the metal, in which there is no field. impedance: E along solid metal is impedance times n x H, by a
    `Conductor` that is thick against its skin depth or a `SurfaceImpedance`; None for a perfect conductor. Raises
    ValueError for None twice and for an impedance between two regions, TypeError for anything but names.
    """

    outside: str | None
    inside: str | None = None
    impedance: Conductor | SurfaceImpedance | None = None

    def __post_init__(self) -> None:
        for name in ("outside", "inside"):
            if getattr(self, name) is not None:
                _named(getattr(self, name), f"Metal {name}")
        if self.outside is None and self.inside is None:
            raise ValueError("Metal needs a region on one side at least, got None on both")
        instance(self.impedance, Conductor | SurfaceImpedance | None, "the impedance of metal is one of these, or None")
        if self.impedance is not None and self.outside is not None and self.inside is not None:
            raise ValueError(
                "metal between two regions is a perfect conductor: an impedance is that of solid metal, Metal('air', "
                "impedance=...), or of a thin Sheet within one region"
            )

    def loss(self, frequency: float) -> complex:
        """Its impedance in ohm at a frequency in Hz."""
        return 0.0 if self.impedance is None else self.impedance.impedance(frequency)

    @property
    def sides(self) -> tuple[str | None, str | None]:
        """The regions outside and inside."""
        return self.outside, self.inside


@dataclass(frozen=True)
class Sheet:
    """A thin sheet of metal with one region on both sides.

    region: its name. ohms: the resistance of a square of the sheet in ohm, 0 of a perfect conductor, or a
    `SurfaceImpedance`, or the `Conductor` of both faces: the tangential field is E = ohms J with the current J of both
    faces together. Raises ValueError for a negative resistance, TypeError for anything but a name.
    """

    region: str
    ohms: float | Conductor | SurfaceImpedance = 0.0

    def loss(self, frequency: float) -> complex:
        """Its impedance in ohm at a frequency in Hz, of a conductor half of that of a face: both carry current."""
        if isinstance(self.ohms, Conductor):
            return self.ohms.sheet_impedance(frequency)
        return self.ohms.impedance(frequency) if isinstance(self.ohms, SurfaceImpedance) else complex(self.ohms)

    def __post_init__(self) -> None:
        _named(self.region, "Sheet region")
        if isinstance(self.ohms, Conductor | SurfaceImpedance):
            return
        if real_number(self.ohms, "the resistance of a sheet in ohm") < 0:
            raise ValueError(f"the resistance of a sheet must not be negative, got ohms={self.ohms!r}")

    @property
    def sides(self) -> tuple[str | None, str | None]:
        """The region, twice."""
        return self.region, self.region


@dataclass(frozen=True)
class WaveguidePort:
    """A plane that cuts a waveguide, which goes on behind it without end and is matched.

    region: the name of the one that fills the guide. behind: the region on the other side, in which the plane is metal;
    None where there is none. into (3,): a direction from the plane into the guide, needed where both regions are the
    same one, as of a horn of thin walls. waves: how many modes are fed, from the one of the lowest cutoff on, each a
    port; others are absorbed. polarization (3,): the direction of the field of the first mode, of guides of which two
    modes have one cutoff, and its sign; by default the axis of coordinates that fits. The cross-section is what the
    triangles are: rectangular, circular, coaxial or any other, with metal around it.
    """

    region: str
    behind: str | None = None
    into: tuple[float, float, float] | None = None
    waves: int = 1
    polarization: tuple[float, float, float] | None = None

    def __post_init__(self) -> None:
        _named(self.region, "WaveguidePort region")
        if self.behind is not None:
            _named(self.behind, "WaveguidePort behind")
        object.__setattr__(self, "waves", whole_number(self.waves, "waves", 1))
        for name in ("into", "polarization"):
            if (given := getattr(self, name)) is not None:
                vector = unit_vector(given, f"{name} of a waveguide port")
                object.__setattr__(self, name, tuple(float(each) for each in vector))
        if (self.region == self.behind) != (self.into is not None):
            raise ValueError(
                "into=, a direction such as (0, 0, 1) into the guide, is for a waveguide port with one region on both "
                "sides, which needs it"
            )

    def loss(self, frequency: float) -> complex:
        """0."""
        return 0.0

    @property
    def sides(self) -> tuple[str | None, str | None]:
        """The regions of the guide and behind."""
        return self.region, self.behind


SurfaceKind = Interface | Metal | Sheet | WaveguidePort
EXAMPLES = {
    "regions": '{"air": Material(), "board": Material(4.0)}',
    "surfaces": '{"walls": Interface("air", "board"), "patch": Metal("air", "board")}',
}


def check_tables(regions: Any, surfaces: Any) -> None:
    """TypeError unless these are tables, the first one of materials by name."""
    for name, given in (("regions", regions), ("surfaces", surfaces)):
        if not isinstance(given, Mapping) or not given:
            came = "an empty one" if isinstance(given, Mapping) else describe(given)
            raise TypeError(f"{name} is a table such as {EXAMPLES[name]}, got {came}: give {name}=")
    for key, value in regions.items():
        if not (isinstance(key, str) and isinstance(value, Material)):
            raise TypeError(f"regions[{key!r}] is a Material with a name, got {describe(value)}")


def _named(value: Any, what: str) -> None:
    if not isinstance(value, str) or not value:
        raise TypeError(f"{what} is the name of a region, such as 'air', got {describe(value)}")
