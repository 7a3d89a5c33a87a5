"""A case is run: mesh, problem, solution, and the requested fields."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import cast

import numpy as np

import calderon.backends as backends
from calderon.case import AnyCaseFile, Case, CaseFile, require_posed, static_problem, surface_mesh, wavenumbers
from calderon.case.transient import TransientCase
from calderon.mesh import TriangleMesh
from calderon.parallel import world
from calderon.report.formatting import frequency_text
from calderon.report.results import Moment, Results, Step
from calderon.report.stages import Stages
from calderon.report.surface.acoustics import solve_acoustics
from calderon.report.surface.antennas import solve_antenna
from calderon.report.surface.plane import field_in_plane
from calderon.report.surface.preflight import require_outputs
from calderon.report.surface.radar import solve_radar
from calderon.report.surface.references import read_references
from calderon.report.surface.solving import announcement, options, record
from calderon.report.transient.computing import run_transient
from calderon.report.transient.results import TransientResults


def run(file: AnyCaseFile, stages: Stages | None = None, scratch: Path | None = None) -> Results | TransientResults:
    """Compute everything that a case requests; warnings are collected for the report.

    scratch: a folder for the data from which an interrupted run in time continues. Ranks share problems in time only:
    ValueError for other problems on several ranks.

    CaseError reports what in the case cannot be used; errors of the problem and the solver pass through (ValueError,
    MemoryError, ConvergenceError).
    """
    stages = stages or Stages()
    try:
        backends.Execution.of(file.case.solver.backend, file.case.solver.precision)
    except RuntimeError as error:
        raise file.mistake("solver", "backend", str(error).removeprefix("backend ")) from error
    if isinstance(file.case, TransientCase):
        return run_transient(cast(CaseFile[TransientCase], file), stages, scratch)
    if world().size > 1:
        raise ValueError(
            f"the problem {file.case.physics.problem!r} is not shared among ranks: start it without mpiexec"
        )
    return _run_on_surfaces(cast(CaseFile[Case], file), stages)


def _run_on_surfaces(file: CaseFile[Case], stages: Stages) -> Results:
    case = _located(file)
    references = read_references(file)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with stages.stage("make the mesh" if case.mesh.shape else "read the mesh"):
            mesh = surface_mesh(file)
            require_posed(file, mesh)
            require_outputs(file, mesh)
        if case.physics.wave:
            solve = _solver(case)
            steps = tuple(solve(case, mesh, moment, stages) for moment in _moments(case))
        else:
            steps = (solve_statics(case, mesh, stages),)
    texts = dict.fromkeys(str(one.message) for one in caught if issubclass(one.category, UserWarning))
    return Results(file, mesh, steps, stages.seconds, tuple(texts), references)


def _located(file: CaseFile[Case]) -> Case:
    """The case with the matrix file in the folder of the case."""
    solver = file.case.solver
    if solver.matrix_file is None:
        return file.case
    path = str(file.folder / solver.matrix_file)
    return file.case.model_copy(update={"solver": solver.model_copy(update={"matrix_file": path})})


def _solver(case: Case) -> Callable[[Case, TriangleMesh, Moment, Stages], Step]:
    if case.physics.acoustic:
        return solve_acoustics
    return solve_radar if case.physics.electromagnetic else solve_antenna


def _moments(case: Case) -> list[Moment]:
    """The frequencies of a case, or its one wavenumber."""
    numbers, frequencies = wavenumbers(case), case.physics.frequency
    return [
        Moment(
            wavenumber=float(wavenumber),
            frequency=None if frequencies is None else frequencies[n],
            at="" if frequencies is None or len(numbers) == 1 else frequency_text(frequencies[n]),
            last=n == len(numbers) - 1,
        )
        for n, wavenumber in enumerate(numbers)
    ]


def solve_statics(case: Case, mesh: TriangleMesh, stages: Stages) -> Step:
    """Solve and evaluate. The total charge is reported for exterior problems with a given potential; inside, the
    density is the jump between both sides, whose total does not describe the field there.
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
