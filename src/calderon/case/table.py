"""Tables of case files: their keys, and the rules that all of them share."""

import difflib
import typing
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    ValidationInfo,
    field_validator,
)
from pydantic_core.core_schema import CoreSchema

from calderon.case.quantities import Quantity


class AtMost(NamedTuple):
    """Largest sizes of what a case file holds.

    case: its bytes. mistakes: that are explained; text: characters that are shown of a value that is wrong. rows and
    table: the rows of a medium, and bytes of the file that has them. points: of one request of near fields. waves:
    incident ones besides the first.
    """

    case: int = 1_000_000
    mistakes: int = 100
    text: int = 200
    rows: int = 10_000
    table: int = 2_000_000
    points: int = 4_000_000
    waves: int = 64


AT_MOST = AtMost()


def key(meaning: str, default: Any = None, **rules: Any) -> Any:
    """A key of a table: what it means, for the reference and the schema, its default (... for none), and limits."""
    return Field(default, description=meaning, **rules)


@dataclass(frozen=True)
class OneOf:
    """The names that a text may be, in the schema; they may be known only later."""

    names: Callable[[], Iterable[str]]

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {**handler(core), "enum": list(self.names())}


class Table(BaseModel):
    """A table of a case file."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
    SELECTORS: ClassVar[tuple[str, ...]] = ()
    """Keys that select which other keys are accepted."""

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
        elif any(isinstance(each, BeforeValidator | Quantity) for each in rules):
            pass  # quantities report their format themselves
        elif any(isinstance(each, str) for kind in (field.annotation, *kinds) for each in typing.get_args(kind)):
            pass  # names that may be chosen: the message for a wrong one lists them
        elif any(isinstance(one, bool) for one in (value if isinstance(value, list) else [value])):
            raise ValueError("a boolean is not allowed here")
        return value

    def require_keys(self, subject: str, needed: Sequence[str], optional: Sequence[str], given: str = "") -> None:
        """ValueError for needed keys that are missing, and for keys that the subject does not accept; given: the
        subject in the second case."""
        missing = [name for name in needed if getattr(self, name) is None]
        if missing:
            raise ValueError(f"{subject} also needs {' and '.join(missing)}")
        strange = sorted(
            name
            for name in self.model_fields_set - {*needed, *optional, *self.SELECTORS}
            if getattr(self, name) is not None
        )
        if strange:
            accepted = ", ".join([*needed, *optional]) or "nothing else"
            raise ValueError(f"{', '.join(strange)} is not supported by {given or subject}: it accepts {accepted}")


class CaseModel(Table):
    """A whole case file: its tables, and what reading, running and reporting ask of each kind of case."""

    title: str = key("of the report; the name of the file unless given", "")

    @property
    def family(self) -> str:
        """The problems whose kernels this one shares, empty for none."""
        return ""

    @classmethod
    def context(cls, data: dict[str, Any]) -> dict[str, Any] | None:
        """Settings on which all values of a file depend, such as its units, from its unchecked tables."""
        return None

    def completed(self, file: Any) -> Self:
        """The case with the contents of other files that it names; CaseError for those that cannot be used. file: the
        CaseFile."""
        return self

    def estimated(self) -> Self | None:
        """The case with an estimate of its error by a second solution; None for kinds without one."""
        return None


def choices(value: Any, allowed: Iterable[str]) -> str:
    """The names that may be chosen, and the one that is nearest to the value."""
    names = list(allowed)
    near = difflib.get_close_matches(str(value), names, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"choose {', '.join(map(repr, names))}{hint}"


def chosen(value: Any, allowed: Iterable[str]) -> str:
    """The value, if it is one of the names; ValueError with what may be chosen otherwise."""
    names = list(allowed)
    if not isinstance(value, str) or value not in names:
        raise ValueError(choices(value, names))
    return value


def backend_name(value: str) -> str:
    """The name of a backend, of one of its devices, or "auto"."""
    name, _, number = value.partition(":")
    if value not in ("numba", "auto") and not (name in ("opencl", "cuda") and (not number or number.isdecimal())):
        raise ValueError("choose 'numba', 'opencl', 'cuda', a device of one such as 'cuda:1', or 'auto'")
    return value
