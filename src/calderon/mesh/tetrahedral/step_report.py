"""Effect of the shapes of tetrahedra on the time step of an explicit method."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.constants import speed_of_light

from calderon.mesh.tetrahedra import TetrahedralMesh
from calderon.mesh.tetrahedral.material import Material
from calderon.mesh.tolerances import TOLERANCES
from calderon.validation import instance


@dataclass(frozen=True)
class PartShape:
    """Statistics of the tetrahedra of one part: their number, edges in m (shortest of the longest, longest), least
    quality, number of slivers, and the least delay in s (see `StepReport`)."""

    name: str
    tetrahedra: int
    edges: tuple[float, float]
    quality: float
    slivers: int
    delay: float


@dataclass(frozen=True)
class StepReport:
    """Shapes of a mesh and their effect on the time step.

    delay: (tetrahedra,) time in s that light takes to cross the inscribed radius, to which the largest stable step of
    an explicit method is about proportional: the least one determines the step. slivers: tetrahedra with a quality
    below 0.1. gain: how many times larger the least delay would be without the slivers. worst: number of the
    tetrahedron with the least delay. spread: of longest edges, longest over shortest.
    """

    parts: tuple[PartShape, ...]
    delay: NDArray[np.float64]
    slivers: int
    gain: float
    worst: int
    spread: float

    def __str__(self) -> str:
        lines = [
            f"{part.name}: {part.tetrahedra} tetrahedra, longest edges {1e3 * part.edges[0]:.3g} to "
            f"{1e3 * part.edges[1]:.3g} mm, "
            f"quality from {part.quality:.2f}, least delay {1e12 * part.delay:.3g} ps"
            for part in self.parts
        ]
        return "\n".join([*lines, self.verdict])

    @property
    def verdict(self) -> str:
        """The effect of slivers on the step, as a sentence."""
        slivers = f"slivers (quality below {TOLERANCES.sliver_quality:g})"
        if not self.slivers:
            return f"no {slivers}; longest edges differ by a factor of {self.spread:.1f}"
        return f"{self.slivers} {slivers}; without them the step would be {self.gain:.2f} times larger"


def step_report(mesh: TetrahedralMesh, materials: Mapping[str, Material] | None = None) -> StepReport:
    """The shapes of a mesh's tetrahedra, part by part; parts without a material count as vacuum."""
    instance(mesh, TetrahedralMesh, "steps are those on a mesh of tetrahedra")
    instance(materials, Mapping | None, "materials are {name of a part: Material}")
    # refractive indices by part, and the time that waves take through each tetrahedron
    names = mesh.material_names()
    known, number = np.unique(names, return_inverse=True)
    index = np.ones(len(known))
    for place, name in enumerate(known):
        if (material := (materials or {}).get(str(name))) is not None:
            instance(material, Material, f"the part {name!r} has a Material")
            epsilon, mu, _ = material.at_one_frequency(f"the part {name!r}")
            index[place] = np.sqrt(epsilon * mu)
    delay = mesh.inradii * index[number] / speed_of_light
    sliver = mesh.quality < TOLERANCES.sliver_quality
    # shapes by part, and the gain of a mesh without slivers
    parts = [
        PartShape(
            str(name),
            int(own.sum()),
            (float(mesh.longest_edges[own].min()), float(mesh.longest_edges[own].max())),
            float(mesh.quality[own].min()),
            int(sliver[own].sum()),
            float(delay[own].min()),
        )
        for name, own in ((name, number == place) for place, name in enumerate(known))
    ]
    gain = float(delay[~sliver].min() / delay.min()) if sliver.any() and not sliver.all() else 1.0
    spread = float(mesh.longest_edges.max() / mesh.longest_edges.min())
    return StepReport(tuple(parts), delay, int(sliver.sum()), gain, int(delay.argmin()), spread)
