"""A kind of case: how its files become problems, these become results, and results become reports."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import calderon.backends as backends
from calderon.case import CaseFile, CaseModel, ModelledKind
from calderon.mesh import AccuracyWarning
from calderon.operators.methods import Plan, rounded
from calderon.parallel import world
from calderon.processes.extensions import ExtensionError, extensions
from calderon.report.formatting import Row
from calderon.report.panels import SHARED
from calderon.report.sheet import Panel, Sheet, collected
from calderon.report.stages import Stages

C = TypeVar("C", bound=CaseModel)
P = TypeVar("P")
R = TypeVar("R", bound="Result[Any]")


@dataclass(frozen=True)
class Result(Generic[C]):
    """Results of a case: seconds by stage, warnings, and doubts, which are the warnings of lost accuracy. A report
    shows what else they have: see `needs` of the panels of the kind and of `report/panels.py`."""

    file: CaseFile[C]
    seconds: dict[str, float] = field(default_factory=dict, kw_only=True)
    warnings: tuple[str, ...] = field(default=(), kw_only=True)
    doubts: tuple[str, ...] = field(default=(), kw_only=True)


@dataclass(frozen=True)
class Kind(ModelledKind[C], ABC, Generic[C, P, R]):
    """A kind of case.

    name: the table by which a file is of this kind; title: in the reference of case files; model: of the files, with
    every key and its rules; panels: what a report shows of a result, in addition to the panels of all kinds; heading:
    above the report, the title unless given.
    """

    panels: tuple[Panel[R], ...]
    heading: str = ""
    in_time: ClassVar[bool] = False
    """Whether runs continue from checkpoints and are shared among ranks."""

    @abstractmethod
    def build(self, file: CaseFile[C], stages: Stages) -> P:
        """The mesh and the problem of a case; CaseError for what in the case cannot be used."""

    @abstractmethod
    def compute(self, file: CaseFile[C], posed: P, stages: Stages, scratch: Path | None) -> R:
        """Everything that a case requests of its problem. scratch: the folder of a run that can be continued. Errors of
        the problem and the solver pass through (ValueError, MemoryError, ConvergenceError)."""

    @abstractmethod
    def plan(self, file: CaseFile[C], stages: Stages) -> list[Row]:
        """The plan of the matrix of a case: name, value, unit. ValueError for problems without one."""

    def subject(self, case: C) -> str:
        """The kind of problem, as it stands above the report."""
        return self.heading or self.title

    @abstractmethod
    def subtitle(self, results: R) -> str:
        """One sentence on what was computed."""


def kind_of(file: CaseFile[Any]) -> Kind[Any, Any, Any]:
    """The kind of a case; ExtensionError where another package gives one without the steps of a `Kind`."""
    if not isinstance(file.kind, Kind):
        raise ExtensionError(
            f"the kind of case {file.kind.name!r} is a {type(file.kind).__name__}: derive it from Kind"
        )
    return file.kind


def run(file: CaseFile[Any], stages: Stages | None = None, scratch: Path | None = None) -> Any:
    """The results of everything that a case requests; warnings are collected for the report.

    scratch: a folder for the data from which an interrupted run in time continues. Ranks share problems in time only:
    ValueError for other problems on several ranks.

    CaseError reports what in the case cannot be used; errors of the problem and the solver pass through (ValueError,
    MemoryError, ConvergenceError).
    """
    stages, kind = stages or Stages(), kind_of(file)
    _require_backend(file)
    if world().size > 1 and not kind.in_time:
        problem = getattr(getattr(file.case, "physics", None), "problem", kind.name)
        raise ValueError(f"the problem {problem!r} is not shared among ranks: start it without mpiexec")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        results = kind.compute(file, kind.build(file, stages), stages, scratch)
    doubts = texts_of(caught, AccuracyWarning)
    return replace(results, seconds=stages.seconds, warnings=texts_of(caught), doubts=doubts)


def texts_of(caught: Iterable[warnings.WarningMessage], category: type[UserWarning] = UserWarning) -> tuple[str, ...]:
    """The texts of warnings that are for users, of a category, each once."""
    return tuple(dict.fromkeys(str(one.message) for one in caught if issubclass(one.category, category)))


def plan(file: CaseFile[Any], stages: Stages | None = None) -> list[Row]:
    """The plan of the matrix of a case: name, value, unit. The mesh is made, and nothing computed on it. CaseError
    as for `run`, ValueError for a problem without a matrix, MemoryError where no method has room."""
    _require_backend(file)
    return kind_of(file).plan(file, stages or Stages())


def sheet_of(results: Result[Any]) -> Sheet:
    """The sheet of a result: the panels of its kind, of all kinds, and of other packages, as far as the
    result has what they need."""
    failures, added = [], list[Panel[Any]]()
    try:
        added = [*extensions("calderon.panels", Panel).values()]
    except ExtensionError as error:
        failures.append(str(error))
    panels = tuple(dict.fromkeys((*kind_of(results.file).panels, *SHARED, *added)))  # a kind may place shared ones
    sheet = collected(results, panels)
    return replace(sheet, failures=[*sheet.failures, *failures])


def headlines(results: Result[Any], seconds: dict[str, float]) -> list[Row]:
    """The few numbers that a reader needs first: name, value, unit."""
    return timed_headlines(sheet_of(results), seconds)


def timed_headlines(sheet: Sheet, seconds: dict[str, float]) -> list[Row]:
    """The headlines of a sheet, its asides, and the time of all stages."""
    return [*sheet.headlines, *sheet.asides, ("computing and drawing", f"{sum(seconds.values()):.1f}", "s")]


def plan_rows(plan: Plan, triangles: int, what: str) -> list[Row]:
    """Rows of the plan of metal in layers, on so many triangles; what: takes its seconds."""
    unknowns = dict(plan.lines)["unknowns"]
    method = ", ".join(filter(None, [plan.method, plan.details]))
    rows: list[Row] = [("unknowns", f"{unknowns} on {triangles} triangles", ""), ("method", method, "")]
    return [*rows, *cost_rows(plan.nbytes, plan.seconds, what)]


def cost_rows(nbytes: int, seconds: float | None = None, what: str = "set-up") -> list[Row]:
    """Rows of a plan: memory in bytes, whether so much is free, and seconds of what is named, if they are known."""
    free = backends.free_memory()
    fits = f"{backends.format_bytes(free)} are free" + ("" if nbytes <= free else TOO_LARGE)
    rows = [("memory", f"{backends.format_bytes(nbytes)}, {fits}", "")]
    return rows if seconds is None else [*rows, (what, f"about {rounded(seconds)}", "s")]


TOO_LARGE = ": it does not fit"
"""The end of the row of memory in a plan that has no room."""


def _require_backend(file: CaseFile[Any]) -> None:
    solver = getattr(file.case, "solver", None)
    try:
        backends.Execution.of(getattr(solver, "backend", "numba"), getattr(solver, "precision", "double"))
    except RuntimeError as error:
        raise file.mistake("solver", "backend", str(error).removeprefix("backend ")) from error
