"""Regions, electrodes and what surrounds them, checked: all that a solution has to know of its problem."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.checks import surface_mesh
from calderon.formulations.statics.loads import Source
from calderon.formulations.statics.region import Kind, Region, tags_of
from calderon.formulations.statics.skeleton import OUTSIDE, Skeleton
from calderon.formulations.statics.unknowns import SPACES, Unknowns
from calderon.mesh import TriangleMesh
from calderon.mesh.errors import warn, warn_of_accuracy
from calderon.spaces.space import Tags
from calderon.validation import describe, instance, one_of

UNUSUAL = 1e6
"""Diameter of a mesh over a Debye length, or the inverse, from which one of them is probably in another unit."""

CONTRAST = 1e7
"""Ratio of constants from which fields in the region of the larger one are off by two thousandths: by 1.8e-10 of the
ratio in balls between 1e6 and 1e12."""


@dataclass(frozen=True, eq=False)
class Excitation:
    """The values that a static field is solved for. voltages, charges: by electrode, in units of the problem; sources:
    in regions; densities (triangles,): of charge, or of current that enters, on surfaces."""

    voltages: Mapping[str, float]
    charges: Mapping[str, float]
    sources: tuple[Source, ...]
    densities: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Posed:
    """The data of a `StaticProblem`, whose errors it raises."""

    mesh: TriangleMesh
    regions: Mapping[str, Region]
    electrodes: Mapping[str, Tags]
    outside: Region | None
    space: str

    def __post_init__(self) -> None:
        surface_mesh(self.mesh)
        one_of(self.space, SPACES, "space")
        for name, given in (("regions", self.regions), ("electrodes", self.electrodes)):
            if not isinstance(given, Mapping) or not all(isinstance(each, str) for each in given):
                raise TypeError(f"{name} are given by name, such as {{'a': ...}}, got {describe(given)}")
        if OUTSIDE in self.regions:
            raise ValueError("the region 'outside' is given by outside=, in regions choose another name")
        for name, each in self.regions.items():
            instance(each, Region, f"regions are Region(tags, permittivity=...); {name!r}")
            if each.tags is None:
                raise ValueError(f"region {name!r} has no tags: name all surfaces that bound it")
        if self.outside is not None:
            instance(self.outside, Region, "outside is a Region, or None where nothing is there; it")
        if not self.regions and self.outside is None:
            raise ValueError("a problem has at least one region: give regions=, or outside=Region()")
        self.kind  # noqa: B018 - constants of one kind, before they are compared

    @property
    def materials(self) -> tuple[Region, ...]:
        """All regions, the outside last."""
        return (*self.regions.values(), *(() if self.outside is None else (self.outside,)))

    @property
    def contrast(self) -> float:
        """The largest constant over the smallest."""
        constants = [each.constant for each in self.materials]
        return max(constants) / min(constants)

    def warn(self) -> None:
        """AccuracyWarning for contrasts beyond what fields hold, MeshWarning for lengths in two units."""
        warn_of_contrast(self.contrast)
        for each in self.materials:
            if each.decay and not 1 / UNUSUAL < each.decay * self.mesh.diameter < UNUSUAL:
                warn(
                    f"the mesh has a diameter of {self.mesh.diameter:.3g} m and salt water a Debye length of "
                    f"{each.debye_length:.3g} m: check the units, mesh.scaled(1e-10) of Angstrom is in m"
                )

    @cached_property
    def skeleton(self) -> Skeleton:
        """The mesh with the regions, the outside last, and the electrodes."""
        regions = dict(self.regions) | ({} if self.outside is None else {OUTSIDE: self.outside})
        electrodes = {
            name: tags_of(() if each is None else each, f"electrode {name!r}") or ()
            for name, each in self.electrodes.items()
        }
        return Skeleton(self.mesh, {name: each.in_kind(self.kind) for name, each in regions.items()}, electrodes)

    @cached_property
    def functions(self) -> Unknowns:
        """The unknowns."""
        return Unknowns(self.skeleton, self.space)

    @cached_property
    def kind(self) -> Kind:
        """The kind of the materials."""
        kinds = {each.kind.name: each.kind for each in self.materials if not each.is_vacuum}
        if len(kinds) > 1:
            raise ValueError(f"regions have one kind of material, got {' and '.join(sorted(kinds))}")
        return next(iter(kinds.values()), Region().kind)

    @property
    def title(self) -> str:
        """The problem in a few words."""
        count = len(self.skeleton.regions)
        return f"static field of {count} region{'s' if count > 1 else ''} with {self.kind.name}"


def warn_of_contrast(contrast: float) -> None:
    """AccuracyWarning beyond CONTRAST."""
    if contrast > CONTRAST:
        warn_of_accuracy(
            f"constants of regions differ by a factor of {contrast:.0e}: fields in the region of the larger one are "
            f"small differences of large numbers, off by about {min(2e-10 * contrast, 1):.1g} of them; what is around "
            "it hardly changes beyond 1e4, and metal (electrodes=) is the limit"
        )
