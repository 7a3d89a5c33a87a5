"""Cases are planned, run and compared with references, and the outcome becomes an answer."""

import math
import warnings
from collections.abc import Iterable
from typing import Any

import calderon.report as report
from calderon.answers.answer import (
    Answer,
    PlanAnswer,
    Quantity,
    RunAnswer,
    StatedError,
    Validation,
    ValidationAnswer,
    Verdict,
)
from calderon.answers.exit_codes import INCOMPLETE, NOT_SHOWN, OK, WRONG_INPUT
from calderon.case import CaseFile
from calderon.references import Reference, Validated
from calderon.report.formatting import Row
from calderon.report.kind import TOO_LARGE, Result, texts_of
from calderon.report.writing import Written

LARGEST_ERROR = 0.1
"""The relative error up to which the accuracy of a result counts as shown, unless another one is given."""


def planned(file: CaseFile[Any]) -> PlanAnswer:
    """The plan of a case. Refused where it does not fit in memory; errors pass through, as for `report.plan`."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        rows = report.plan(file)
    reasons = [f"{name}: {value}" for name, value, _ in rows if value.endswith(TOO_LARGE)]
    return PlanAnswer(
        case=file.name, title=file.title, kind=file.kind.title, plan=_quantities(rows), warnings=[*texts_of(caught)],
        verdict="refused" if reasons else "ok", reasons=reasons, exit_code=WRONG_INPUT if reasons else OK,
    )  # fmt: skip


def ran(results: Result[Any], written: Written, caught: list[warnings.WarningMessage], allowed: float) -> RunAnswer:
    """The answer of a result that was written. caught: warnings of its writing; allowed: the largest relative error."""
    errors = {name: value for name, value in written.errors.items() if math.isfinite(value)}
    reasons = [f"{name}: {value:.2g} is above {allowed:g}" for name, value in errors.items() if value > allowed]
    if not errors:
        reasons = ["the result states no error: run with --estimate, or solve on a finer mesh and compare"]
    reasons += [*results.doubts, *written.failures]
    return RunAnswer(
        case=results.file.name, title=results.file.title, kind=results.file.kind.title, folder=str(written.folder),
        files=written.files, headlines=_quantities(written.headlines),
        errors=[StatedError(of=name, relative=value) for name, value in errors.items()], largest_error_allowed=allowed,
        warnings=[*dict.fromkeys([*results.warnings, *texts_of(caught)])], seconds=results.seconds,
        verdict="accuracy not shown" if reasons else "ok", reasons=reasons,
        exit_code=INCOMPLETE if written.failures else NOT_SHOWN if reasons else OK,
    )  # fmt: skip


def validated(references: Iterable[Reference]) -> ValidationAnswer:
    """All references, each computed and compared; exit code WRONG_INPUT where one is missing, NOT_SHOWN where an error
    is above its bound."""
    found = [(each, each.validated()) for each in references]
    rows = [_validation(*each) for each in found]
    reasons = [f"{row.name}: {row.reason}" for row in rows if row.verdict != "ok"]
    missing = any(row.verdict == "refused" for row in rows)
    return ValidationAnswer(
        validations=rows, verdict="ok" if not reasons else "accuracy not shown", reasons=reasons,
        exit_code=WRONG_INPUT if missing else NOT_SHOWN if reasons else OK,
    )  # fmt: skip


def _validation(reference: Reference, found: Validated) -> Validation:
    verdict: Verdict = "ok"
    reason, error = "", found.error
    if found.missing:
        verdict, reason = "refused", found.missing
    elif not (error is not None and error <= reference.bound):  # also of an error that is no number
        verdict, reason = "accuracy not shown", f"the error {error} is above {reference.bound:g}"
        error = error if error is not None and math.isfinite(error) else None
    return Validation(
        name=reference.name, what=reference.what, source=reference.source, bound=reference.bound, error=error,
        cpu_seconds=round(found.cpu_seconds, 3), verdict=verdict, reason=reason,
    )  # fmt: skip


def refused(command: str, case: str, reason: str, exit_code: int, allowed: float = LARGEST_ERROR) -> Answer:
    """The answer where there is no result, with the reason."""
    common: dict[str, Any] = {"verdict": "refused", "reasons": reason.splitlines(), "exit_code": exit_code}
    if command == "validate":
        return ValidationAnswer(**common)
    if command == "plan":
        return PlanAnswer(case=case, **common)
    return RunAnswer(case=case, largest_error_allowed=allowed, **common)


def _quantities(rows: Iterable[Row]) -> list[Quantity]:
    return [Quantity(name=name, value=value, unit=unit) for name, value, unit in rows]
