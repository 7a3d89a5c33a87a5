"""Materials of case files of bodies in a fluid: elastic solids and fluids by name, constants, and graded fluids."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from calderon.case.fluids import KNOWN, FluidMedium, medium_of
from calderon.case.media import NAMED
from calderon.case.quantities import Density, Length, Place, Speed, Stress
from calderon.case.table import AT_MOST, Table, choices, key
from calderon.formulations import ElasticMaterial

SOLIDS = {
    "steel": ElasticMaterial.from_wave_speeds(7850.0, 5960.0, 3235.0),
    "aluminium": ElasticMaterial.from_wave_speeds(2700.0, 6420.0, 3040.0),
    "titanium": ElasticMaterial.from_wave_speeds(4500.0, 6070.0, 3125.0),
    "GRP": ElasticMaterial(8e9, 0.33, 1500.0),
    "rubber": ElasticMaterial.from_wave_speeds(950.0, 1550.0, (0.45e6 / 950.0) ** 0.5),
}
"""Density and speeds of longitudinal and shear waves of metals (mild steel, rolled aluminium) and of gum rubber: CRC
Handbook of Chemistry and Physics, Speed of sound in various media. Shear modulus of gum rubber, hardness 40: P. B.
Lindley, Engineering Design with Natural Rubber (1978). Glass mat in polyester, alike in all directions of its plane:
C. S. Smith, Design of Marine Structures in Composite Materials (1990). Without loss."""
FLUIDS = (*KNOWN, "rubber")
"""Materials without shear waves that need no table; those of rubber are left out."""
MATERIAL = {"anyOf": [{"enum": [*SOLIDS]}, NAMED]}
"""The name of an elastic material in a JSON schema."""


class SolidMaterial(Table):
    """[materials.NAME]: an elastic material, which structure.material names: a known one with a loss factor, or its
    constants, E and nu, or the speeds of longitudinal and shear waves.

    loss_factor: eta, the moduli are those times 1 - i eta. Known ones: steel, aluminium, titanium, GRP (glass mat in
    polyester) and rubber (gum, 40 degrees), without loss.
    """

    kind: Literal["steel", "aluminium", "titanium", "GRP", "rubber"] | None = key("a known one, instead of constants")
    density: Density | None = key("of the material")
    youngs_modulus: Stress | None = key("E, stress over strain in tension")
    poissons_ratio: float | None = key("nu, contraction over extension", gt=-1, lt=0.5)
    longitudinal: Speed | None = key("speed of longitudinal waves, instead of E and nu")
    shear: Speed | None = key("speed of shear waves")
    loss_factor: float = key("eta of vibrations", 0.0, ge=0, lt=1)

    @model_validator(mode="after")
    def _complete(self) -> "SolidMaterial":
        if self.kind is not None:
            self.require_keys(f"kind = {self.kind!r}", (), ("kind", "loss_factor"))
        elif self.longitudinal is not None or self.shear is not None:
            self.require_keys("a material by wave speeds", ("density", "longitudinal", "shear"), ("loss_factor",))
        else:
            self.require_keys(
                "a material by its constants", ("density", "youngs_modulus", "poissons_ratio"), ("loss_factor",)
            )
        _ = self.material
        return self

    @property
    def material(self) -> ElasticMaterial:
        """The material; ValueError for constants of none."""
        if self.kind is not None:
            known = SOLIDS[self.kind]
            return ElasticMaterial(
                known.youngs_modulus, known.poissons_ratio, known.density, loss_factor=self.loss_factor
            )
        given: Any = self.model_dump(exclude={"kind"}, exclude_none=True)
        return ElasticMaterial.from_wave_speeds(**given) if "shear" in given else ElasticMaterial(**given)


def solid_of(name: str, materials: dict[str, SolidMaterial]) -> ElasticMaterial:
    """The elastic material of a name; ValueError for others, with the nearest name."""
    if name in materials:
        return materials[name].material
    if name not in SOLIDS:
        fluid = " (a fluid: that in holes is structure.inside)" if name in KNOWN else ""
        raise ValueError(f"no elastic material has the name {name!r}{fluid}: {choices(name, (*materials, *SOLIDS))}")
    return SOLIDS[name]


class Graded(Table):
    """[graded.NAME]: a fluid whose constants vary from place to place, which inhomogeneous.material names: along a
    direction, or with the distance from a centre, linear between rows, beyond the first and last row as there."""

    along: Literal["radius", "x", "y", "z"] = key("the coordinate, of which at has the values", ...)
    centre: Place = key("from which the radius is counted", (0.0, 0.0, 0.0))
    at: tuple[Length, ...] = key("values of the coordinate, rising", ..., min_length=2, max_length=AT_MOST.rows)
    density: tuple[Density, ...] = key("of each row", ..., min_length=2, max_length=AT_MOST.rows)
    speed_of_sound: tuple[Speed, ...] = key("of each row", ..., min_length=2, max_length=AT_MOST.rows)
    loss: float = Field(0.0, ge=0, lt=1, description="of sound, without unit")

    @model_validator(mode="after")
    def _rows(self) -> "Graded":
        if not len(self.at) == len(self.density) == len(self.speed_of_sound):
            raise ValueError(
                f"at, density and speed_of_sound are lists of one length, got {len(self.at)}, {len(self.density)} and "
                f"{len(self.speed_of_sound)}"
            )
        if not np.all(np.diff(self.at) > 0):
            raise ValueError("at: the coordinate rises from row to row")
        return self

    def rows(self, points: NDArray[np.float64], values: tuple[float, ...]) -> NDArray[np.float64]:
        """(n,) a constant at points (n, 3)."""
        if self.along == "radius":
            x = np.linalg.norm(points - np.array(self.centre), axis=1)
        else:
            x = points[:, "xyz".index(self.along)]
        return np.interp(x, self.at, values)


def inner_fluid(name: str, media: dict[str, FluidMedium], graded: dict[str, Graded]) -> FluidMedium | Graded:
    """The fluid of a body by its name; ValueError for others, with the nearest name."""
    if name in graded:
        return graded[name]
    if name == "rubber" and name not in media:
        rubber = SOLIDS["rubber"]
        assert rubber.density is not None
        return FluidMedium(density=rubber.density, speed_of_sound=(rubber.longitudinal_modulus / rubber.density) ** 0.5)
    if name in media or name in KNOWN:
        return medium_of(name, media)
    solid = " (an elastic solid, which a case with [structure] has)" if name in SOLIDS else ""
    raise ValueError(f"no fluid has the name {name!r}{solid}: {choices(name, (*media, *graded, *FLUIDS))}")
