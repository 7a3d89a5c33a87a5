"""Media of case files whose constants depend on the frequency: [media.NAME], and their names in other keys."""

import csv
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from calderon.case.quantities import Density, Frequency, Speed, quantity
from calderon.case.table import AT_MOST, Table, choices, key

NAME = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)
KINDS = {"frequency": "frequency", "density": "density", "speed_of_sound": "speed"}
COLUMNS = ("frequency", "permittivity", "tan_delta", "density", "speed_of_sound")
NAMED_KEY = "x-name"
"""In a JSON schema: what a text names."""
NAMED = {"type": "string", "pattern": r"^[A-Za-z_][A-Za-z0-9_-]*$", NAMED_KEY: "name of a medium"}
"""The name of a medium in a JSON schema."""
Relative = Annotated[float, Field(gt=0)]
Tangent = Annotated[float, Field(ge=0)]


def is_name(value: Any) -> bool:
    """Whether a value is the name of a medium, and no number with a unit."""
    return isinstance(value, str) and NAME.fullmatch(value) is not None


def _relative(value: Any) -> Any:
    if is_name(value):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
        raise ValueError("it should be a positive number, or the name of a medium of [media]")
    return float(value)


RelativeOrMedium = Annotated[
    float | str,
    BeforeValidator(_relative),
    WithJsonSchema({"anyOf": [{"type": "number", "exclusiveMinimum": 0}, NAMED]}),
]


class Dispersive(Table):
    """[media.NAME]: a medium by its constants at several frequencies, linear between them; other keys name it.

    The columns are lists of equal length, or those of a CSV file whose first line names them, with numbers in Hz,
    kg/m^3 and m/s; further columns are left aside, and lines that begin with # are skipped. Dielectrics and boards use
    permittivity and tan_delta, sound uses density and speed_of_sound. No frequency of the case may lie outside.
    """

    frequency: tuple[Frequency, ...] | None = key("of each row, rising", max_length=AT_MOST.rows)
    permittivity: tuple[Relative, ...] | None = key("relative, its real part", max_length=AT_MOST.rows)
    tan_delta: tuple[Tangent, ...] | None = key("loss tangent; 0 unless given", max_length=AT_MOST.rows)
    density: tuple[Density, ...] | None = key("of a fluid", max_length=AT_MOST.rows)
    speed_of_sound: tuple[Speed, ...] | None = key("of a fluid", max_length=AT_MOST.rows)
    file: str | None = key("a CSV file in the folder of the case with these columns, instead of lists")

    @model_validator(mode="after")
    def _complete(self) -> "Dispersive":
        given = self.columns
        if self.file is None:
            require_rows(given)
        elif given:
            raise ValueError(f"give lists or a file, got file and {', '.join(given)}")
        return self

    @property
    def columns(self) -> dict[str, tuple[float, ...]]:
        """The columns that are given, by name."""
        return {name: values for name in COLUMNS if (values := getattr(self, name)) is not None}

    def at(self, column: str, frequency: float) -> complex | float:
        """A constant at a frequency in Hz, complex with loss; that of the first or last row beyond them."""
        value = float(np.interp(frequency, self.frequency, self.columns[column]))  # type: ignore[arg-type]
        if column != "permittivity" or self.tan_delta is None:
            return value
        return value * (1 + 1j * float(np.interp(frequency, self.frequency, self.tan_delta)))  # type: ignore[arg-type]

    def require(self, column: str, frequencies: Iterable[float]) -> None:
        """ValueError without that column, and for frequencies beyond the rows."""
        if column not in self.columns:
            raise ValueError(f"this medium has no {column}: it has {', '.join(self.columns)}")
        assert self.frequency is not None
        low, high, rounding = self.frequency[0], self.frequency[-1], 1e-9
        for each in frequencies:
            if not low * (1 - rounding) <= each <= high * (1 + rounding):
                raise ValueError(
                    f"this medium is known from {low:g} to {high:g} Hz, and the case has {each:g} Hz: add rows, "
                    "nothing is extrapolated"
                )


@dataclass(frozen=True)
class Permittivity:
    """The permittivity of a medium as a function of the frequency in Hz."""

    name: str
    medium: Dispersive

    def __call__(self, frequency: float) -> complex | float:
        return self.medium.at("permittivity", frequency)


def require_rows(columns: dict[str, tuple[float, ...]]) -> None:
    """ValueError unless these are rows of rising frequencies with a permittivity, or constants of a fluid."""
    frequencies = columns.get("frequency", ())
    if len(frequencies) < 2:
        raise ValueError(f"a medium needs two rows at least, got {len(frequencies)} frequencies")
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"columns of one length are needed, got {lengths}")
    if not np.all(np.diff(frequencies) > 0):
        raise ValueError("frequencies of a medium rise from row to row")
    if "tan_delta" in columns and "permittivity" not in columns:
        raise ValueError("tan_delta goes with a permittivity")
    if len(columns) == 1:
        raise ValueError(f"a medium needs one at least of {', '.join(COLUMNS[1:])}")


def read_columns(path: Path) -> dict[str, tuple[float, ...]]:
    """The columns of a CSV file that a medium has; ValueError for any other file, whose text is not quoted."""
    if not path.is_file():
        raise ValueError(f"no such file in {path.parent.resolve()}, the folder of the case")
    if path.stat().st_size > AT_MOST.table:
        raise ValueError(f"the file has more than {AT_MOST.table} bytes")
    try:
        lines = [line for line in path.read_text("utf-8-sig").splitlines() if line.strip() and line[0] != "#"]
        rows = list(csv.reader(lines, skipinitialspace=True))
    except (UnicodeDecodeError, csv.Error):
        raise ValueError("not a CSV file in UTF-8") from None
    names = [name.strip() for name in rows[0]] if rows else []
    known = [name for name in COLUMNS if names.count(name) == 1]
    if "frequency" not in known or len(rows) - 1 > AT_MOST.rows:
        raise ValueError(f"its first line names columns, once each: frequency and of {', '.join(COLUMNS[1:])}; then up "
                         f"to {AT_MOST.rows} rows follow")  # fmt: skip
    if any(len(row) != len(names) for row in rows):
        raise ValueError(f"not every line has {len(names)} values")
    found = {name: tuple(_number(row[names.index(name)], name) for row in rows[1:]) for name in known}
    require_rows(found)
    return found


def _number(text: str, column: str) -> float:
    try:
        value = float(text)
    except ValueError:  # its text quotes the file
        raise ValueError(f"not every {column} is a number") from None
    if column in KINDS:
        return quantity(value, KINDS[column])
    if not (0 if column == "tan_delta" else 5e-324) <= value < float("inf"):
        raise ValueError(f"not every {column} is {'0 or more' if column == 'tan_delta' else 'positive'}, and finite")
    return value


Use = tuple[str, str, int | None, str, str]
"""Where a medium is named: the table, the key, the number of the table in a list, the name, the column."""


def checked_media(file: Any, uses: Iterable[Use], frequencies: Sequence[float]) -> dict[str, Dispersive]:
    """The media of a case by name, with the columns of their files; CaseError for files that cannot be used, for names
    of no medium, and for media without a column or a frequency that is needed."""
    media = {}
    for name, medium in file.case.media.items():
        if medium.file is not None:
            with file.blamed("media", f"{name}.file", medium.file):
                medium = medium.model_copy(update=read_columns(file.path_of(medium.file)))
        media[name] = medium
    for table, key_, number, name, column in uses:
        with file.blamed(table, key_, name, number):
            if name not in media:
                known = choices(name, media) if media else "the case has no table [media.NAME]"
                raise ValueError(f"no medium has that name: {known}")
            media[name].require(column, frequencies)
    return media


def check_names(media: dict[str, Dispersive]) -> dict[str, Dispersive]:
    """ValueError for names that could be numbers or keys of other kinds."""
    for name in media:
        if not is_name(name):
            raise ValueError(
                f"the name of a medium has letters, digits, _ and -, and begins with a letter, got {name!r}"
            )
    return media


Media = Annotated[dict[str, Dispersive], BeforeValidator(check_names)]
