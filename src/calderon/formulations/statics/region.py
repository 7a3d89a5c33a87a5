"""Materials of regions, and the units that follow from their kind."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from calderon.exact.vacuum import VACUUM_PERMEABILITY, VACUUM_PERMITTIVITY
from calderon.spaces.space import Tags
from calderon.validation import describe, positive_length


@dataclass(frozen=True)
class Kind:
    """A kind of materials. factor: of their constants, that a = factor * constant is the number of
    D = -a grad u. potential, field, charge, density: units of u, grad u, of the flux that leaves a body, and of that
    through an area. field_name, flux_name: symbols of -grad u and of -a grad u."""

    name: str
    factor: float
    potential: str
    field: str
    charge: str
    density: str
    field_name: str
    flux_name: str


KINDS = {
    each.name: each
    for each in (
        Kind("permittivity", VACUUM_PERMITTIVITY, "V", "V/m", "C", "C/m^2", "E", "D"),
        Kind("conductivity", 1.0, "V", "V/m", "A", "A/m^2", "E", "J"),
        Kind("permeability", VACUUM_PERMEABILITY, "A", "A/m", "Wb", "T", "H", "B"),
    )
}


@dataclass(frozen=True)
class Region:
    """A region and its material: relative permittivity, conductivity in S/m, or relative permeability, one of them;
    without any it is vacuum.

    tags: the numbers or names, one or several, of all surfaces that bound the region, "all" for those of the whole
    mesh; None of what is outside of the other regions. debye_length: 1 / kappa in m, of a permittivity with ions, as of
    salt water: there div grad u = kappa^2 u (linearised Poisson-Boltzmann equation).
    ValueError for constants that are not positive, and for several of them.
    """

    tags: Tags = None
    permittivity: float | None = None
    conductivity: float | None = None
    permeability: float | None = None
    debye_length: float | None = None

    def __post_init__(self) -> None:
        given = {name: getattr(self, name) for name in KINDS if getattr(self, name) is not None}
        if len(given) > 1:
            raise ValueError(f"a region has one material, got {' and '.join(given)}")
        for name, value in given.items():
            object.__setattr__(self, name, float(positive_length(value, name)))
        if self.debye_length is not None:
            if self.permittivity is None:
                other = " ".join(given) or "no material"
                raise ValueError(
                    f"debye_length= is that of a permittivity with ions, got it with {other}: give permittivity="
                )
            object.__setattr__(self, "debye_length", float(positive_length(self.debye_length, "debye_length")))
        object.__setattr__(self, "tags", tags_of(self.tags, "a region"))

    @property
    def bounds(self) -> tuple[int | str, ...] | None:
        """The tags."""
        return tags_of(self.tags, "a region")

    @property
    def kind(self) -> Kind:
        """That of the material, of vacuum permittivity."""
        return KINDS[next((name for name in KINDS if getattr(self, name) is not None), "permittivity")]

    @property
    def is_vacuum(self) -> bool:
        """Whether no material is given."""
        return all(getattr(self, name) is None for name in KINDS)

    def in_kind(self, kind: Kind) -> "Region":
        """Itself, or vacuum with the constant 1 of that kind; ValueError for conductivities, of which vacuum has
        none."""
        if not self.is_vacuum:
            return self
        if kind.name == "conductivity":
            raise ValueError(
                "no current flows in vacuum: of conductors of current, outside=None lets none leave, and every region "
                "has conductivity="
            )
        return replace(self, **{kind.name: 1.0})  # type: ignore[arg-type]

    @property
    def constant(self) -> float:
        """The relative permittivity, the conductivity in S/m, or the relative permeability."""
        return 1.0 if self.is_vacuum else float(getattr(self, self.kind.name))

    @property
    def decay(self) -> float:
        """kappa in 1/m, 0 without ions."""
        return 0.0 if self.debye_length is None else 1 / self.debye_length


def tags_of(given: object, what: str) -> tuple[int | str, ...] | None:
    """Tags as a tuple, None as it is; TypeError for what are no tags."""
    if given is None:
        return None
    listed = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (given,)
    if not listed or not all(
        isinstance(each, str | int | np.integer) and not isinstance(each, bool) for each in listed
    ):
        got = describe(given) if listed else "none"
        raise TypeError(f"the tags of {what} are numbers or names, one or several, got {got}")
    return tuple(each if isinstance(each, str) else int(each) for each in listed)
