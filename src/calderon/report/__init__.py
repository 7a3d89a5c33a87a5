"""Results on disk: a case is run, and its numbers, files, pictures and one self-contained page are written together."""

from calderon.report.computing import run
from calderon.report.examples import example, examples
from calderon.report.folder import ResultExists, refuse_existing, result_folder
from calderon.report.headlines import headlines
from calderon.report.results import Results, Step
from calderon.report.stages import Stages
from calderon.report.writing import write

__all__ = [
    "ResultExists",
    "Results",
    "Stages",
    "Step",
    "example",
    "examples",
    "headlines",
    "refuse_existing",
    "result_folder",
    "run",
    "write",
]
