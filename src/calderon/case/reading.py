"""From the text of a case file to a checked Case; a mistake is reported with its line, key, value and what is
allowed.
"""

import difflib
import json
import os
import re
import tomllib
import types
import typing
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from calderon.case.registry import ModelledKind, kind_of_tables
from calderon.case.table import AT_MOST, CaseModel, Table, choices

OTHER_SYNTAX = ".yaml", ".yml", ".json", ".ini", ".xml"
"""Endings of files in languages that others write cases in."""
TAGS = "function-", "tagged-", "tuple[", "dict[", "literal["
"""Names in pydantic of the ways in which a key may be given."""


class CaseError(ValueError):
    """A case file that cannot be used; .problems lists its mistakes, one line each."""

    def __init__(self, name: str, problems: list[str]) -> None:
        self.name = name
        self.problems = problems
        super().__init__("\n".join(f"{name}{', ' if _line(problem) else ': '}{problem}" for problem in problems))


C = TypeVar("C", bound=CaseModel)
Keys = tuple[str | int, ...]
"""Names of tables and a key; after that of a list of tables may follow the number of one, from 0."""


@dataclass(frozen=True)
class CaseFile(Generic[C]):
    """A case with its kind, its text and the folder in which its mesh file is searched; within: a folder that none of
    its files may leave, None for a mesh file anywhere."""

    name: str
    text: str
    folder: Path
    case: C
    kind: ModelledKind[Any]
    within: Path | None = None

    @property
    def title(self) -> str:
        return self.case.title or self.name.removesuffix(".toml")

    def path_of(self, name: str) -> Path:
        """A file by its name in a case; ValueError for one outside of the folder of the case, also through links."""
        path, home = self.folder / name, self.folder.resolve()
        if not path.resolve().is_relative_to(home):
            raise ValueError(f"it leads out of {home}, the folder of the case: keep the file there and name it alone")
        return path

    def mistake(self, table: str, key: str, message: str, value: Any = None, number: int | None = None) -> CaseError:
        """An error found only when a value was used, reported like those found on reading; key: may lie in a table
        within the table, "far_field.distance". value: of the key, unless it is that of the table. number: of a table
        of a list of tables, from 0.
        """
        one = [] if number is None else [number]
        where = _where((table, *one, *key.split(".")), line_numbers(self.text))
        if value is None:
            tables = getattr(self.case, table)
            value = reduce(getattr, key.split("."), tables if number is None else tables[number])
        return CaseError(self.name, [f"{where}{table}.{key} = {_toml(value)}: {message}"])

    @contextmanager
    def blamed(self, table: str, key: str, value: Any = None, number: int | None = None) -> Iterator[None]:
        """Report errors of the block (ValueError, FileNotFoundError, MemoryError) as a `mistake` in this key."""
        try:
            yield
        except CaseError:
            raise
        except (ValueError, FileNotFoundError, MemoryError) as error:
            raise self.mistake(table, key, str(error), value, number) from error


def read(path: str | Path, within: Path | None = None) -> CaseFile[Any]:
    """Read and check a case file, or a deck of NEC-2 (.nec), which is a case of [antennas]; CaseError lists every
    mistake found. within: as in `CaseFile`."""
    path = Path(path)
    if path.suffix.lower() == ".nec" and path.is_file():
        return parse(f"[antennas]\ndeck = {json.dumps(path.name)}\n", path.name, path.parent, within)
    try:
        size = path.stat().st_size
        if not (path.is_file() or path.is_dir()):  # it may never end
            raise CaseError(str(path), ["no file on a disk: name the .toml file"])
        if size > AT_MOST.case:
            raise CaseError(
                str(path), [f"it has {size} bytes, and a case has at most {AT_MOST.case}: is it another file?"]
            )
        text = path.read_text(encoding="utf-8-sig")  # editors of Windows begin a file with a byte order mark
    except FileNotFoundError:
        raise CaseError(str(path), ["no such file"]) from None
    except IsADirectoryError:
        raise CaseError(str(path), ["this is a folder: name the .toml file"]) from None
    except UnicodeDecodeError:
        raise CaseError(str(path), ["not a text file in UTF-8: a case is a .toml file"]) from None
    except OSError as error:
        raise CaseError(str(path), [f"cannot be read: {error.strerror or error}"]) from None
    return parse(text, os.fsencode(path.name).decode("utf-8", "backslashreplace"), path.parent, within)


def parse(text: str, name: str = "case", folder: Path = Path(), within: Path | None = None) -> CaseFile[Any]:
    """Check the text of a case file; mesh files are relative to the folder. within: as in `CaseFile`."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        other = Path(name).suffix.lower()
        hint = f"; a case is a .toml file, not {other}: calderon example submarine --show shows one"
        raise CaseError(name, [_syntax(str(error), text) + (hint if other in OTHER_SYNTAX else "")]) from None
    except RecursionError:
        raise CaseError(name, ["not valid TOML: lists or tables lie too deep within each other"]) from None
    kind = kind_of_tables(data)
    model = kind.model
    try:
        case = model.model_validate(data, context=model.context(data))
    except ValidationError as error:
        lines = line_numbers(text)
        found = error.errors()
        problems = [_explain(details, lines, model) for details in found[: AT_MOST.mistakes]]
        problems = sorted(dict.fromkeys(problems), key=_line)
        if len(found) > AT_MOST.mistakes:
            problems.append(f"and {len(found) - AT_MOST.mistakes} more mistakes")
        raise CaseError(name, problems) from None
    file = CaseFile(name, text, folder, case, kind, within)
    return replace(file, case=case.completed(file))


def _syntax(message: str, text: str) -> str:
    """A mistake against the rules of TOML, with its line."""
    place = re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", message, re.DOTALL)
    if place is None:
        return f"not valid TOML: {message}"
    line = text.split("\n")[int(place[2]) - 1].strip()
    twice = ": the key is given twice" if place[1] == "Cannot overwrite a value" else ""
    return f"line {place[2]}: not valid TOML: {place[1]}{twice}, at column {place[3]} of {_short(line)!r}"


def _line(problem: str) -> int:
    match = re.match(r"line (\d+)", problem)
    return int(match[1]) if match else 0


def _where(path: Keys, lines: dict[Keys, int]) -> str:
    """The line of a key, or of the table in which it would be; empty if neither is in the file."""
    known = (lines[path[:n]] for n in range(len(path), 0, -1) if path[:n] in lines)
    return next((f"line {number}: " for number in known), "")


def _explain(details: Any, lines: dict[Keys, int], model: type[Table]) -> str:
    """One mistake as a line of text: where, key, value, what is allowed."""
    place = tuple(part for part in details["loc"] if not (isinstance(part, str) and part.startswith(TAGS)))
    path = [part for part in place if isinstance(part, str)]
    where = _where(place, lines)
    key = ".".join(path) or "the file"
    kind, value = details["type"], details["input"]
    if kind == "extra_forbidden":
        return where + _unknown_key(path, model)
    if kind in ("missing", "too_short", "too_long") and not isinstance(value, dict):
        quantity = "many" if kind == "too_long" else "few"
        return f"{where}{key} = {_toml(value)}: the list has too {quantity} entries"
    if kind == "tuple_type" and isinstance(value, dict) and _is_table(path, model):
        return f"{where}{key} is one table, but a list of tables is needed: write [[{key}]]"
    if kind == "tuple_type":
        return f"{where}{key} = {_toml(value)}: a list such as [1, 2, 3] is needed"
    if kind in ("model_type", "dict_type") and _is_table(path, model):
        return f"{where}{key}{_is_no_table(value)}: write [{key}] once, and its keys below it"
    if kind == "missing":
        where = f"line {lines[place[:-1]]}: " if place[:-1] in lines else ""
        table = _table_name(path[:-1])
        what = f"[{path[-1]}] table" if path[:-1] == [] else f"key {path[-1]!r}"
        return f"{where}{table} needs the {what}"
    if kind == "literal_error":
        allowed = re.findall(r"'([^']*)'", details["ctx"]["expected"])
        return f"{where}{key} = {_toml(value)}: {choices(value, allowed)}"
    message = str(details["ctx"]["error"]) if kind == "value_error" else details["msg"].replace("Input", "it")
    message = re.sub(rf"\S{{{AT_MOST.text},}}", lambda word: _short(word[0]), message)
    if isinstance(value, (dict, BaseModel)):
        named = re.findall(r"[a-z]\w*(?:\.[a-z]\w*)+", message) if not path else []
        where = where or next((found for each in named if (found := _where(_dotted(each), lines))), "")
        return f"{where}{key if path else 'the case'}: {message}"
    return f"{where}{key} = {_toml(value)}: {message}"


def _unknown_key(path: list[str], model: type[Table]) -> str:
    allowed = _fields(path[:-1], model)
    near = difflib.get_close_matches(path[-1], allowed, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"{'.'.join(path)}: unknown key; {hint}{_table_name(path[:-1])} accepts {', '.join(allowed)}"


def _table_name(path: list[str]) -> str:
    return f"[{'.'.join(path)}]" if path else "the file"


def _fields(path: list[str], model: type[BaseModel]) -> list[str]:
    """Names of the keys that a table accepts."""
    for number, part in enumerate(path):
        if part not in model.model_fields:  # the name of an entry, such as a material
            return _fields(path[number + 1 :], model)
        annotation = model.model_fields[part].annotation
        nested = typing.get_origin(annotation) in (typing.Union, types.UnionType, tuple, dict)
        choices = typing.get_args(annotation) if nested else ()
        model = next(one for one in (annotation, *choices) if isinstance(one, type) and issubclass(one, BaseModel))
    return list(model.model_fields)


def _is_table(path: list[str], model: type[BaseModel]) -> bool:
    """Whether a table, or a list of tables, is accepted there."""
    try:
        return bool(_fields(path, model))
    except StopIteration:
        return False


def _is_no_table(value: Any) -> str:
    """How a key was given that is to be a table."""
    several = isinstance(value, list) and all(isinstance(one, dict) for one in value)
    return " is a list of tables" if several else f" = {_toml(value)} is no table"


def _short(text: str) -> str:
    """A text of at most AT_MOST.text characters, the rest counted."""
    return text if len(text) <= AT_MOST.text else f"{text[: AT_MOST.text]}... ({len(text)} characters)"


def _toml(value: Any) -> str:
    """A value as in a case file, of long ones the beginning."""
    return _short(_whole_toml(value))


def _whole_toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(map(_whole_toml, value))}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{name} = {_whole_toml(one)}' for name, one in value.items())} }}"
    if isinstance(value, complex):
        return f"{value.real:g}" if value.imag == 0 else f"[{value.real:g}, {value.imag:g}]"
    return f'"{value}"' if isinstance(value, str) else str(value)


def line_numbers(text: str) -> dict[Keys, int]:
    """Line of each table header and each key of a TOML text: {("mesh", "h"): 4}; of a list of tables also with the
    number of each, {("source", 1, "part"): 9}.

    Reads what case files contain: [table] headers, dotted keys and inline tables on one line; values inside multi-line
    strings are not searched, which only costs a line number.
    """
    lines: dict[Keys, int] = {}
    table: Keys = ()
    tables: Counter[Keys] = Counter()
    for number, line in enumerate(text.splitlines(), start=1):
        if header := re.match(r"\s*(\[{1,2})\s*([^\[\]]+?)\s*\]{1,2}\s*(#.*)?$", line):
            table = name = _dotted(header[2])
            lines.setdefault(name, number)
            if header[1] == "[[":
                table = (*name, tables[name])
                tables[name] += 1
                lines[table] = number
        elif entry := re.match(r"\s*([\w.\-\"' ]+?)\s*=(.*)", line):
            key = table + _dotted(entry[1])
            for n in range(len(table) + 1, len(key) + 1):
                lines.setdefault(key[:n], number)
            for inner in re.finditer(r"[{,]\s*([\w\-]+)\s*=", entry[2]) if "{" in entry[2] else ():
                lines.setdefault((*key, inner[1]), number)
    return lines


def _dotted(key: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in key.split("."))
