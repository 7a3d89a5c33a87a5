"""Results on disk: a case is run, and its numbers, files, pictures and one self-contained page are written together."""

from calderon.report.examples import example, examples
from calderon.report.folder import (
    OtherCase,
    ResultExists,
    claimed,
    has_checkpoint,
    refuse_existing,
    result_folder,
    scratch_folder,
    tidy,
)
from calderon.report.kind import Kind, Result, headlines, kind_of, plan, run, sheet_of
from calderon.report.sheet import Panel, Sheet, panel
from calderon.report.stages import Stages
from calderon.report.writing import write

__all__ = [
    "Kind",
    "OtherCase",
    "Panel",
    "Result",
    "ResultExists",
    "Sheet",
    "Stages",
    "claimed",
    "example",
    "examples",
    "has_checkpoint",
    "headlines",
    "kind_of",
    "panel",
    "plan",
    "refuse_existing",
    "result_folder",
    "run",
    "scratch_folder",
    "sheet_of",
    "tidy",
    "write",
]
