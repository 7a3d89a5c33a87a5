"""Words of [solver] that several kinds of cases share: where and how equations are solved."""

from typing import Annotated, Literal

from pydantic import AfterValidator

from calderon.case.table import OneOf, backend_name
from calderon.operators.methods import AUTO, candidates

Backend = Annotated[str, AfterValidator(backend_name)]
Precision = Literal["double", "single"]


def method_name(name: str) -> str:
    """The name of a method; ValueError naming the choices for another."""
    candidates(name)
    return name


MethodName = Annotated[
    str, AfterValidator(method_name), OneOf(lambda: [AUTO, *(each.name for each in candidates(AUTO))])
]
