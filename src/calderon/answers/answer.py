"""Answers of commands as JSON: what was asked, a verdict with its reasons, and numbers.

`schema()` describes them. VERSION is `major.minor`: the minor number grows with each new entry, the major one where an
entry goes or changes its meaning.
"""

from typing import Any, Literal

from pydantic import BaseModel, Field, TypeAdapter

from calderon.processes import package_version

VERSION = "1.0"
Verdict = Literal["ok", "refused", "accuracy not shown"]


class Quantity(BaseModel):
    """A number or a text as in a report, with its unit."""

    name: str
    value: str
    unit: str


class StatedError(BaseModel):
    """A relative error, estimated or against a known solution."""

    of: str
    relative: float


class Answer(BaseModel):
    """The entries that all answers have."""

    version: str = Field(default=VERSION, description="of this schema, major.minor")
    command: Literal["plan", "run", "validate"]
    calderon: str = Field(default_factory=package_version, description="the release")
    verdict: Verdict = Field(
        description="ok: done, and the accuracy is shown where a command computes; refused: there is no result; "
        "accuracy not shown: the result is there, but no error is stated, one is too large, or a warning doubts it"
    )
    reasons: list[str] = Field(default_factory=list, description="of a verdict other than ok, in sentences")
    exit_code: int = Field(description="of the process")


class PlanAnswer(Answer):
    """The plan of a case: nothing was computed on its mesh."""

    command: Literal["plan"] = "plan"
    case: str
    title: str = ""
    kind: str = Field(default="", description="of case, as in the reference of case files")
    plan: list[Quantity] = Field(default_factory=list)
    warnings: list[str] = Field(default_factory=list)


class RunAnswer(Answer):
    """The result of a case: its folder and files, first numbers, and errors."""

    command: Literal["run"] = "run"
    case: str
    title: str = ""
    kind: str = ""
    folder: str = Field(default="", description="of the result, empty without one; numbers are in its summary.json")
    files: list[str] = Field(default_factory=list)
    headlines: list[Quantity] = Field(default_factory=list)
    errors: list[StatedError] = Field(default_factory=list)
    largest_error_allowed: float = Field(description="relative; of the verdict")
    warnings: list[str] = Field(default_factory=list)
    seconds: dict[str, float] = Field(default_factory=dict, description="by stage")


class Validation(BaseModel):
    """A published or independent reference and the error against it."""

    name: str
    what: str
    source: str
    verdict: Verdict
    reason: str = ""
    error: float | None = Field(default=None, description="relative, unless `what` says otherwise")
    bound: float
    cpu_seconds: float


class ValidationAnswer(Answer):
    """References and the errors against them."""

    command: Literal["validate"] = "validate"
    validations: list[Validation] = Field(default_factory=list)


def schema() -> dict[str, Any]:
    """The JSON schema of all answers, of which one is printed."""
    answers: Any = PlanAnswer | RunAnswer | ValidationAnswer
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Answers of calderon plan | run | validate --json, version {VERSION}",
        **TypeAdapter(answers).json_schema(mode="serialization"),
    }
