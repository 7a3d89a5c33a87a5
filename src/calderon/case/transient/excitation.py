"""The [[source]] and [initial] tables of a transient case: the excitation of the fields."""

from typing import Literal

from pydantic import Field, model_validator

from calderon.case.incident import Incident
from calderon.case.quantities import Angle, Current, FieldStrength
from calderon.case.table import Table

Direction = tuple[float, float, float]
# the keys that each kind of source accepts
KINDS: dict[str, tuple[str, ...]] = {
    "plane-wave": ("direction", "azimuth", "elevation", "polarization", "electric_field"),
    "current": ("part", "direction", "current", "name"),
}


class Source(Table):
    """[[source]]: a plane wave that enters through the absorbing faces, or a current that flows through a part of the
    mesh along a direction. Both oscillate with the frequency of [physics].

    current: peak value, 1 A if not given; electric_field: of a wave, 1 V/m. name: of the feed in results, by default
    the part's.
    """

    kind: Literal["plane-wave", "current"]
    direction: Direction | None = None
    azimuth: Angle | None = None
    elevation: Angle | None = None
    polarization: Literal["V", "H"] | Direction | None = None
    electric_field: FieldStrength | None = None
    part: str | None = None
    current: Current | None = None
    name: str | None = Field(default=None, min_length=1)

    @model_validator(mode="after")
    def _of_one_kind(self) -> "Source":
        strange = sorted(self.model_fields_set - {"kind", *KINDS[self.kind]})
        if strange:
            takes = ", ".join(KINDS[self.kind])
            raise ValueError(f"{', '.join(strange)} is not supported by kind = {self.kind!r}: it accepts {takes}")
        if self.kind == "plane-wave":
            if self.polarization is None:
                raise ValueError('a plane wave needs polarization = "V", "H" or [x, y, z]')
            assert self.incident is not None
        elif self.part is None or self.direction is None or not any(self.direction):
            raise ValueError('a current needs part = "name" and direction = [x, y, z], not all zero')
        return self

    @property
    def incident(self) -> Incident:
        """The plane wave in the form of other problems."""
        given = {name: getattr(self, name) for name in KINDS["plane-wave"] if name in self.model_fields_set}
        for name in ("azimuth", "elevation"):
            if name in given:
                given[name] = f"{given[name]!r} rad"  # angles have no default unit
        return Incident.model_validate(given)


class Initial(Table):
    """[initial]: a standing wave (l, m, n) of the cube that the mesh is, with the largest component of E given."""

    mode: tuple[int, int, int]
    electric_field: FieldStrength = Field(default=1.0)
