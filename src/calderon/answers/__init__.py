"""Commands for programs: exit codes, answers in JSON with their schema, and a server of tools (MCP)."""

from calderon.answers.answer import VERSION, Answer, PlanAnswer, RunAnswer, ValidationAnswer, schema
from calderon.answers.cases import planned, ran, refused, validated
from calderon.answers.exit_codes import (
    EXISTS,
    INCOMPLETE,
    MEANINGS,
    NOT_SHOWN,
    NOT_SOLVED,
    OK,
    UNEXPECTED,
    WRONG_INPUT,
    explained,
)

__all__ = [
    "EXISTS",
    "INCOMPLETE",
    "MEANINGS",
    "NOT_SHOWN",
    "NOT_SOLVED",
    "OK",
    "UNEXPECTED",
    "VERSION",
    "WRONG_INPUT",
    "Answer",
    "PlanAnswer",
    "RunAnswer",
    "ValidationAnswer",
    "explained",
    "planned",
    "ran",
    "refused",
    "schema",
    "validated",
]
