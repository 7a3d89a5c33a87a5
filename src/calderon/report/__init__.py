"""Results on disk: a case is run, and its numbers, files, pictures and one self-contained page are written together."""

from calderon.report.examples import example, examples
from calderon.report.folder import (
    OtherCase,
    claimed,
    has_checkpoint,
    refuse_existing,
    result_folder,
    scratch_folder,
    tidy,
)
from calderon.report.kinds import headlines, kind_of, plan, run
from calderon.report.placing import ResultExists
from calderon.report.stages import Stages
from calderon.report.surface.results import Results, Step
from calderon.report.writing import write

__all__ = [
    "OtherCase",
    "ResultExists",
    "Results",
    "Stages",
    "Step",
    "claimed",
    "example",
    "examples",
    "has_checkpoint",
    "headlines",
    "kind_of",
    "plan",
    "refuse_existing",
    "result_folder",
    "run",
    "scratch_folder",
    "tidy",
    "write",
]
