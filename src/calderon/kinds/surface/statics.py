"""Potentials between bodies."""

from typing import Any

import numpy as np

import calderon.exact as exact
from calderon.kinds.surface.computing import ALL_AROUND, Measured, SurfacePhysics
from calderon.kinds.surface.model import Case
from calderon.kinds.surface.null_field import left_inside, points_inside
from calderon.kinds.surface.results import Moment, Words
from calderon.mesh import TriangleMesh
from calderon.report.formatting import TARGET_STRENGTH
from calderon.report.stages import Stages


class Statics(SurfacePhysics):
    """Laplace problems: the potential between bodies."""

    words = Words(TARGET_STRENGTH, "potential", "V", "potential")

    def excitation(self, case: Case, wavenumber: float) -> float | None:
        return case.physics.potential if case.physics.potential is not None else case.physics.flux

    def evaluate(self, case: Case, posed: Any, solution: Any, moment: Moment, stages: Stages) -> dict[str, Any]:
        """The total charge of exterior problems with a given potential; inside, the density is the jump between both
        sides, whose total does not describe the field there."""
        charged = case.physics.potential is not None and case.physics.side != "interior"
        return {"total_flux": float(np.real(solution.surface.integral()))} if charged else {}

    def measured(self, case: Case, mesh: TriangleMesh, *solutions: Any) -> Measured:
        """The charge of bodies at a given potential, else the potential, inside or about the body."""
        if case.physics.potential is not None and case.physics.side != "interior":
            first, second = (np.array([each.surface.integral()]) for each in solutions)
            return "charge", first, second
        if case.physics.side == "interior":
            x = points_inside(mesh)
        else:
            angles = (each.ravel() for each in np.meshgrid(*ALL_AROUND, indexing="ij"))
            x = mesh.bounds.mean(axis=0) + mesh.diameter * exact.unit_directions(*angles)
        first, second = (np.asarray(each.field(x)) for each in solutions)
        return "potential", first, second

    def left_inside(self, case: Case, mesh: TriangleMesh, solution: Any) -> float | None:
        """The deviation inside of a body from its given potential."""
        given = case.physics.potential
        if not given or case.physics.side == "interior":
            return None
        return left_inside(mesh, lambda x: solution.field(x) - given, lambda x: np.full(len(x), given))
