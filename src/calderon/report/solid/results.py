"""Results of an elastic solid, in the units of its case, ready to be written."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from calderon.case import CaseFile, SolidCase
from calderon.formulations import ElasticSolution
from calderon.formulations.elastic.material import von_mises
from calderon.mesh import TriangleMesh
from calderon.report.solid.units import Units

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Inside:
    """Displacements (n, 3) and stresses (n, 3, 3) at points (n, 3) inside the solid."""

    points: Array
    displacement: Array
    stress: Array

    @property
    def von_mises(self) -> Array:
        return von_mises(self.stress)

    @property
    def principal(self) -> Array:
        """(n, 3), the largest first."""
        return np.asarray(np.linalg.eigvalsh(self.stress)[:, ::-1])


@dataclass(frozen=True)
class Largest:
    """The largest von Mises stress on the surface and its vertex (3,); edge: that it lies on where the exact stress has
    no limit, else empty. away: the largest at vertices that are not next to such edges, and its place."""

    value: float
    place: Array
    edge: str
    away: tuple[float, Array]


@dataclass(frozen=True)
class SolidResults:
    """All requested results of a case; cut: von Mises stresses or magnitudes of displacement (rows, columns) at points
    (rows, columns, 3), NaN outside of the material."""

    file: CaseFile[SolidCase]
    mesh: TriangleMesh
    solution: ElasticSolution
    largest: Largest
    points: Inside | None = None
    lines: tuple[Inside, ...] = ()
    cut: tuple[Array, Array] | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def units(self) -> Units:
        return Units(self.file.case.solid.units)

    @property
    def sizes(self) -> Array:
        """(vertices,) magnitudes of the displacement."""
        return np.asarray(np.linalg.norm(self.solution.displacement.on_mesh()[1], axis=1))

    @property
    def imbalance(self) -> float:
        """The force that loads and reactions leave, over the sum of the magnitudes of the loads; of a solid that is
        only moved, and of one without supports, over that of all tractions."""
        solution = self.solution
        applied, size = solution.solid.applied
        if not size or not solution.reactions:
            return solution.equilibrium
        left = applied.force + sum(each.force for each in solution.reactions.values())
        return float(np.linalg.norm(left)) / size

    @property
    def furthest(self) -> tuple[float, Array]:
        """The largest displacement of a vertex, and the vertex (3,)."""
        number = int(np.argmax(self.sizes))
        return float(self.sizes[number]), self.mesh.vertices[number]

    @property
    def factor(self) -> float:
        """By which displacements are enlarged in pictures: as the case says, else a round number that makes the largest
        about a fifteenth of the diameter."""
        chosen = self.file.case.output.deformation
        if chosen is not None:
            return chosen
        wanted = self.mesh.diameter / 15 / max(self.furthest[0], 1e-300)
        decade = 10.0 ** np.floor(np.log10(wanted))
        return float(max(step * decade for step in (1, 2, 5) if step * decade <= wanted * (1 + 1e-9)))
