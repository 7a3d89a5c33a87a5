"""The record of a solution of elastic solids."""

import math
from dataclasses import dataclass

from calderon.formulations.linear_system import SolutionInfo


@dataclass(frozen=True, eq=False)
class ElasticInfo(SolutionInfo):
    """The record of the solution of one body: that of every problem, and how accurate it is.

    rotation_error: what the discrete equation makes of rigid rotations, which have no traction: a measure of the error
    of the matrix. free_motions: rigid motions that no support holds; their mean over the surface is zero. free_tags:
    tags without a condition. displacement_error, stress_error: estimates of relative errors on the surface, in the
    mean (see `estimated_errors`); the latter at least of the largest stress by what solver and matrix leave on small
    triangles. amplification: by how much, at most, bending of slender parts makes errors of the matrix larger in
    displacements.
    """

    rotation_error: float = 0.0
    free_motions: int = 0
    free_tags: tuple[str, ...] = ()
    displacement_error: float = 0.0
    stress_error: float = 0.0
    amplification: float = math.nan

    @property
    def brief(self) -> str:
        """Size, iterations, residual and error."""
        return f"{super().brief}, error of displacement {100 * self.displacement_error:.2g} %"

    def __str__(self) -> str:
        lines = [super().__str__()]
        lines.append(f"error of rotations {self.rotation_error:.1e}, amplified by bending up to "
                     f"{self.amplification:,.0f} times")  # fmt: skip
        about = f"{100 * self.displacement_error:.2g} %", f"{100 * self.stress_error:.2g} %"
        lines.append(f"estimated errors: displacement {about[0]}, stress on the surface {about[1]}, in the mean")
        if self.free_motions:
            lines.append(f"{self.free_motions} free rigid motions were removed")
        if self.free_tags:
            lines.append(f"tags without a condition are free: {', '.join(self.free_tags)}")
        return "\n  ".join(lines)
