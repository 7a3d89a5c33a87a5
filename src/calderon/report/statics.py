"""Laplace problems with constant data on the surface."""

import numpy as np

from calderon.case import Case, static_problem
from calderon.mesh import TriangleMesh
from calderon.report.plane import field_in_plane
from calderon.report.results import Step
from calderon.report.solving import announcement, options, record
from calderon.report.stages import Stages


def solve_statics(case: Case, mesh: TriangleMesh, stages: Stages) -> Step:
    """Solve and evaluate. The total charge is told of exterior problems with a given potential; of the inside the
    density is the jump between both sides, whose total says nothing of the field there.
    """
    posed = static_problem(case, mesh)
    data = case.physics.potential if case.physics.potential is not None else case.physics.flux
    with stages.stage("assemble and solve", announcement(case, posed.unknowns, "")):
        solution = posed.solve(data, **options(case))
    cut = None
    if case.output.slice is not None:
        with stages.stage("field in a plane"):
            cut = field_in_plane(case, mesh, solution.field)
    charged = case.physics.potential is not None and case.physics.side != "interior"
    return Step(
        wavenumber=None,
        frequency=None,
        surface=solution.surface,
        slice=cut,
        total_flux=float(np.real(solution.surface.integral())) if charged else None,
        **record(solution.info),
    )
