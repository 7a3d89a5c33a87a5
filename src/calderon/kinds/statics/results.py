"""Results of a case of static fields."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.data import Samples
from calderon.formulations import StaticProblem
from calderon.formulations.statics.solution import StaticSolution
from calderon.kinds.statics.model import StaticCase
from calderon.mesh import TriangleMesh
from calderon.report import Result
from calderon.report.second_mesh import SecondMesh

VANISHING = 1e-3
"""Forces over their scale below which they cancel."""


@dataclass(frozen=True)
class StaticForces:
    """Forces and torques about the origin (3,) in N and N m by the name of a tag, or of a point charge. scale: half the
    integral of a |grad u|^2 over all surfaces in N, which forces that cancel are small against."""

    forces: dict[str, NDArray[np.float64]]
    torques: dict[str, NDArray[np.float64]]
    scale: float

    @property
    def missing(self) -> float:
        """The size of the sum of all forces in N, which is 0 but for the error."""
        return float(np.linalg.norm(np.sum([*self.forces.values()], axis=0)))

    @property
    def imbalance(self) -> float | None:
        """`missing` over the sum of the sizes of forces; None for a single one, and where forces vanish by symmetry."""
        sizes = float(sum(np.linalg.norm(each) for each in self.forces.values()))
        return self.missing / sizes if len(self.forces) > 1 and sizes > VANISHING * self.scale else None


@dataclass(frozen=True)
class StaticResults(Result[StaticCase]):
    """All requested results of a case.

    solution: None where nothing excites a field. matrix: of capacitances in F or conductances in S. plane: the
    potential and the field strength there. leads (electrodes, places, 3): the lead field.
    """

    problem: StaticProblem
    solution: StaticSolution | None = None
    matrix: Any = None
    forces: StaticForces | None = None
    plane: Samples | None = None
    near_fields: dict[str, Samples] = field(default_factory=dict)
    leads: NDArray[np.float64] | None = None
    second_mesh: SecondMesh | None = None

    @property
    def mesh(self) -> TriangleMesh:
        return self.problem.mesh

    @property
    def unknowns(self) -> int:
        return self.problem.unknowns

    @property
    def equation(self) -> str:
        return self.problem.system.equation

    @property
    def solver_record(self) -> str:
        return str(self.solution.info) if self.solution is not None else ""

    @property
    def is_unestimated(self) -> bool:
        return self.second_mesh is None and (self.solution is not None or self.matrix is not None)
