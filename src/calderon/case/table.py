"""What all tables of a case file share."""

import typing
from typing import Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationInfo, field_validator


class Table(BaseModel):
    """A table of a case file."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _true_and_false_are_no_numbers(cls, value: Any, info: ValidationInfo) -> Any:
        """pydantic reads "yes" and 1 as true, and true as 1."""
        field = cls.model_fields[info.field_name or ""]
        kinds = typing.get_args(field.annotation) or (field.annotation,)
        rules = [*field.metadata, *(each for kind in kinds for each in getattr(kind, "__metadata__", ()))]
        if bool in kinds:
            if not isinstance(value, bool):
                raise ValueError("choose true or false, without quotation marks")
        elif any(isinstance(each, BeforeValidator) for each in rules):
            pass  # quantities report their format themselves
        elif any(isinstance(one, bool) for one in (value if isinstance(value, list) else [value])):
            raise ValueError("a boolean is not allowed here")
        return value


def backend_name(value: str) -> str:
    """The name of a backend, of one of its devices, or "auto"."""
    name, _, number = value.partition(":")
    if value not in ("numba", "auto") and not (name in ("opencl", "cuda") and (not number or number.isdecimal())):
        raise ValueError("choose 'numba', 'opencl', 'cuda', a device of one such as 'cuda:1', or 'auto'")
    return value
