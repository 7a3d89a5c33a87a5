"""Exit codes of commands, and those of errors."""

import traceback

from calderon.processes import InUse
from calderon.report import ResultExists
from calderon.solvers import ConvergenceError

OK, UNEXPECTED, WRONG_INPUT, NOT_SOLVED, EXISTS, INCOMPLETE, NOT_SHOWN = range(7)
MEANINGS = {
    OK: "the result is there",
    UNEXPECTED: "an error of calderon itself, with its traceback; of `calderon mesh`: the mesh has problems",
    WRONG_INPUT: "invalid input, too little memory, an error of the system, or a reference that is missing",
    NOT_SOLVED: "the iteration or the direct solution did not reach its tolerance",
    EXISTS: "the place of the result is occupied or in use",
    INCOMPLETE: "the result is there, but files that could not be written are missing, as warnings say",
    NOT_SHOWN: "the result is there, but its accuracy is not shown (`--json`, `--error`, `validate`)",
}
IN_CASE_FILES = 'in a case file: [solver] max_iterations, rtol, precision = "double", or solver = "lu"'


def explained(error: BaseException) -> tuple[int, str]:
    """Exit code and message of an error; UNEXPECTED with the traceback of one that a user cannot correct."""
    match error:
        case ResultExists() | InUse():
            return EXISTS, str(error)
        case ConvergenceError():
            return NOT_SOLVED, f"{error}\n{IN_CASE_FILES}"
        case BrokenPipeError():  # the reader of the output has ended: a message would reach no one
            return UNEXPECTED, ""
        case OSError():
            return WRONG_INPUT, _of_the_system(error)
        case ValueError() | MemoryError() | RuntimeError() | FloatingPointError():
            return WRONG_INPUT, str(error)
    return UNEXPECTED, "".join(traceback.format_exception(error))


def _of_the_system(error: OSError) -> str:
    """A full disk, a name that is too long: the file first, without the number of the error."""
    if error.strerror is None:
        return str(error)
    return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
