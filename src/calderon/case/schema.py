"""JSON schema of case files, by which editors complete keys and mark mistakes: `calderon schema`."""

from functools import reduce
from operator import or_
from typing import Any

from pydantic import TypeAdapter

from calderon.case.registry import kinds
from calderon.case.table import CaseModel


def models() -> dict[str, type[CaseModel]]:
    """The models of case files, by what they describe."""
    return {kind.title: kind.model for kind in kinds()}


def schema() -> dict[str, Any]:
    """The schema of all kinds of case files together, of which a file is one.

    It knows keys, types, limits and units, but not which keys go with which others: `calderon run` tells that.
    """
    case: Any = reduce(or_, models().values())
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Case file of calderon",
        **TypeAdapter(case).json_schema(),
    }
