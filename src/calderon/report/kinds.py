"""The kinds of problems: a new physics is an entry here; a new problem of a known physics one of `case.physics`."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import calderon.backends as backends
import calderon.report.periodic as periodic
import calderon.report.planar as planar
import calderon.report.reflectarray as reflectarray
import calderon.report.solid as solid
import calderon.report.surface as surface
import calderon.report.transient as transient
from calderon.case import AnyCaseFile
from calderon.parallel import world
from calderon.report.formatting import Row
from calderon.report.periodic.computing import compute_periodic
from calderon.report.periodic.results import PeriodicResults
from calderon.report.planar.computing import compute_planar
from calderon.report.planar.results import PlanarResults
from calderon.report.planning import (
    plan_in_time,
    plan_periodic,
    plan_planar,
    plan_reflectarray,
    plan_solid,
    plan_surface,
)
from calderon.report.reflectarray.computing import compute_reflectarray
from calderon.report.reflectarray.results import ReflectarrayResults
from calderon.report.solid.computing import compute_solid
from calderon.report.solid.results import SolidResults
from calderon.report.stages import Stages
from calderon.report.surface.acoustics import Acoustics
from calderon.report.surface.computing import Statics
from calderon.report.surface.electromagnetics import Antennas, Radar
from calderon.report.surface.results import Results
from calderon.report.transient.computing import compute_in_time
from calderon.report.transient.results import TransientResults

AnyResults = Results | SolidResults | TransientResults | PeriodicResults | PlanarResults | ReflectarrayResults


@dataclass(frozen=True)
class ProblemKind:
    """What is done with a case file of one physics, and with its results.

    compute: the results, from the file, the stages and the folder of an interrupted run. package: with the modules
    files (numbers: the entries of summary.json, keys with units; write_tables: all files but pictures, page and
    summary), pictures (draw: the requested ones, as far as they can be drawn) and page (headlines: name, value, unit;
    subtitle: one sentence; tables: HTML, from results and summary). plan: what its matrix will take, from the file and
    the stages. in_time: whether runs continue from checkpoints and are shared among ranks.
    """

    compute: Callable[[Any, Stages, Path | None], Any]
    package: ModuleType = surface
    plan: Callable[[Any, Stages], list[Row]] = plan_surface
    in_time: bool = False


KINDS = {
    "acoustic": ProblemKind(Acoustics().compute),
    "electromagnetic": ProblemKind(Radar().compute),
    "antenna": ProblemKind(Antennas().compute),
    "static": ProblemKind(Statics().compute),
    "periodic": ProblemKind(compute_periodic, periodic, plan_periodic),
    "reflectarray": ProblemKind(compute_reflectarray, reflectarray, plan_reflectarray),
    "planar": ProblemKind(compute_planar, planar, plan_planar),
    "solid": ProblemKind(compute_solid, solid, plan_solid),
    "transient": ProblemKind(compute_in_time, transient, plan_in_time, in_time=True),
}
"""By the family of the problem in [physics], of [solid], [periodic], [reflectarray] and [planar]."""


def kind_of(file: AnyCaseFile) -> ProblemKind:
    return KINDS[file.case.physics.family]


def headlines(results: AnyResults, seconds: dict[str, float]) -> list[Row]:
    """The few numbers that a reader needs first: name, value, unit."""
    return kind_of(results.file).package.page.headlines(results, seconds)  # type: ignore[no-any-return]


def run(file: AnyCaseFile, stages: Stages | None = None, scratch: Path | None = None) -> AnyResults:
    """Compute everything that a case requests; warnings are collected for the report.

    scratch: a folder for the data from which an interrupted run in time continues. Ranks share problems in time only:
    ValueError for other problems on several ranks.

    CaseError reports what in the case cannot be used; errors of the problem and the solver pass through (ValueError,
    MemoryError, ConvergenceError).
    """
    stages, kind = stages or Stages(), kind_of(file)
    _require_backend(file)
    if world().size > 1 and not kind.in_time:
        raise ValueError(
            f"the problem {file.case.physics.problem!r} is not shared among ranks: start it without mpiexec"
        )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        results: AnyResults = kind.compute(file, stages, scratch)
    texts = dict.fromkeys(str(one.message) for one in caught if issubclass(one.category, UserWarning))
    return replace(results, seconds=stages.seconds, warnings=tuple(texts))


def plan(file: AnyCaseFile, stages: Stages | None = None) -> list[Row]:
    """What the matrix of a case will take: name, value, unit. The mesh is made, and nothing computed on it. CaseError
    as for `run`, ValueError for a problem without a matrix, MemoryError where no method has room."""
    _require_backend(file)
    return kind_of(file).plan(file, stages or Stages())


def _require_backend(file: AnyCaseFile) -> None:
    try:
        backends.Execution.of(file.case.solver.backend, file.case.solver.precision)
    except RuntimeError as error:
        raise file.mistake("solver", "backend", str(error).removeprefix("backend ")) from error
