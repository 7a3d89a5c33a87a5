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


@dataclass(frozen=True)
class StaticForces:
    """Forces and torques about the origin (3,) by tag, in N and N m, and forces (sources, 3) on point charges."""

    forces: dict[str, NDArray[np.float64]]
    torques: dict[str, NDArray[np.float64]]
    on_charges: NDArray[np.float64]

    @property
    def imbalance(self) -> float | None:
        """The sum of all forces, which is 0 but for the error, over the sum of their sizes; None for a single one."""
        every = np.array([*self.forces.values(), *self.on_charges])
        sizes = float(np.linalg.norm(every, axis=1).sum())
        return float(np.linalg.norm(every.sum(axis=0))) / sizes if len(every) > 1 and sizes else None


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
