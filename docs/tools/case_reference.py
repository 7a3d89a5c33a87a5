"""Pages that list every table and key of case files, from their models; conf.py calls `write` when pages are built."""

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from calderon.case.board import SHAPES as ELEMENTS
from calderon.case.media import NAMED_KEY
from calderon.case.mesh import SHAPES as BODIES
from calderon.case.quantities import UNITS, UNITS_KEY
from calderon.case.registry import models
from calderon.case.sound import SOURCES as SOUND_SOURCES
from calderon.kinds.bodies.model import SHAPES as VOLUMES
from calderon.kinds.planar.model import CIRCUITS, PORTS, SLOTS
from calderon.kinds.solid.model import LOADS, SUPPORTS
from calderon.kinds.surface.physics import PROBLEMS
from calderon.kinds.transient.model import SOLIDS, SOURCES

Schema = dict[str, Any]
LIMITS = {
    "minimum": "≥ {}",
    "exclusiveMinimum": "> {}",
    "maximum": "≤ {}",
    "exclusiveMaximum": "< {}",
}
CLOCK = "frequency or wavenumber"


def wave(name: str) -> tuple[str, ...]:
    """The keys of a problem, with those that give its frequency."""
    problem = PROBLEMS[name]
    if problem.family == "static":
        return problem.needed
    clock = "frequency" if name == "transmission" else CLOCK
    sound = (
        "speed_of_sound (with frequency)"
        if problem.family == "acoustic" and name != "transmission"
        else ""
    )
    return tuple(filter(None, (clock, sound, *problem.needed)))


CHOICES: dict[str, tuple[str, dict[str, tuple[tuple[str, ...], tuple[str, ...]]]]] = {
    "Mesh": ("shape", BODIES),
    "NamedSurface": ("shape", BODIES),
    "VolumeMesh": ("shape", SOLIDS),
    "BodyMesh": ("shape", VOLUMES),
    "Physics": (
        "problem",
        {name: (wave(name), problem.optional) for name, problem in PROBLEMS.items()},
    ),
    "Source": ("kind", {kind: ((), keys) for kind, keys in SOURCES.items()}),
    "SoundSource": ("kind", SOUND_SOURCES),
    "Support": (
        "kind",
        {name: (one.needed, one.optional) for name, one in SUPPORTS.items()},
    ),
    "Load": ("kind", {name: (one.needed, one.optional) for name, one in LOADS.items()}),
    "Element": (
        "shape",
        {name: (one.needed, one.optional) for name, one in ELEMENTS.items()},
    ),
    "Metal": (
        "shape",
        {name: (one.needed, one.optional) for name, one in CIRCUITS.items()},
    ),
    "Port": ("kind", PORTS),
    "LumpedLoad": ("kind", SLOTS),
}
"""By the model of a table: the key that chooses, and the keys that each choice needs and accepts."""


def nested(one: Schema) -> tuple[str, str] | None:
    """The model of a table within a table, and how it is written: "[{}]", "[[{}]]" or "[{}.NAME]"; else None."""
    for each in (one, *one.get("anyOf", ()), *one.get("allOf", ())):
        if "$ref" in each:
            return each["$ref"].rsplit("/")[-1], "[{}]"
        if "$ref" in (each.get("items") or {}):
            return each["items"]["$ref"].rsplit("/")[-1], "[[{}]]"
        extra = each.get("additionalProperties")
        if isinstance(extra, dict) and "$ref" in extra:
            return extra["$ref"].rsplit("/")[-1], "[{}.NAME]"
    return None


def kind_of(one: Schema) -> str:
    """The kind of a value, with its units and limits."""
    if quantity := one.get(UNITS_KEY):
        text = f"{quantity} ({next(iter(UNITS[quantity]))})"
        rest = [
            each
            for each in one["anyOf"]
            if each.get("type") in ("array", "object")
            or "const" in each
            or NAMED_KEY in each
        ]
        return " or ".join(
            [text, *(kind_of(each) for each in rest if each != {"const": 0})]
        )
    if NAMED_KEY in one:
        return str(one[NAMED_KEY])
    if "const" in one:
        return f"`{json.dumps(one['const'])}`"
    if "enum" in one:
        return ", ".join(f"`{json.dumps(each)}`" for each in one["enum"])
    if "anyOf" in one:
        return " or ".join(
            dict.fromkeys(
                kind_of(each) for each in one["anyOf"] if each.get("type") != "null"
            )
        )
    if one.get("type") == "array":
        items = one.get("prefixItems")
        if items:
            inner = (
                kind_of(items[0])
                if all(each == items[0] for each in items)
                else "; ".join(map(kind_of, items))
            )
            return f"[{len(items)}: {inner}]"
        return f"list of {kind_of(one.get('items', {}))}"
    if one.get("type") == "object":
        if "properties" in one:
            return "{ " + ", ".join(one["properties"]) + " }"
        return f"table NAME = {kind_of(one['additionalProperties'])}"
    limits = [text.format(one[name]) for name, text in LIMITS.items() if name in one]
    words = {
        "string": "text",
        "integer": "whole number",
        "number": "number",
        "boolean": "true, false",
    }
    return " ".join([words.get(one.get("type", ""), "any"), ", ".join(limits)]).strip()


def default_of(name: str, one: Schema, needed: set[str]) -> str:
    if name in needed:
        return "required"
    value = one.get("default")
    if value in (None, "", [], {}):
        return ""
    if one.get(UNITS_KEY) == "angle":
        return f'`"{value * 180 / math.pi:g} deg"`'
    units = f" {next(iter(UNITS[one[UNITS_KEY]]))}" if UNITS_KEY in one else ""
    return f"`{json.dumps(value)}`{units}"


def tables(model: type[BaseModel]) -> Iterator[tuple[str, str, Schema]]:
    """Header, name of the model and schema of each table of a case; the first one is the case itself."""
    whole = model.model_json_schema()

    def walk(
        path: str, name: str, table: Schema, header: str
    ) -> Iterator[tuple[str, str, Schema]]:
        yield header, name, table
        for key, one in table["properties"].items():
            if inner := nested(one):
                inside = f"{path}.{key}" if path else key
                yield from walk(
                    inside, inner[0], whole["$defs"][inner[0]], inner[1].format(inside)
                )

    yield from walk("", model.__name__, whole, "")


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def rows(table: Schema) -> Iterator[str]:
    """One for each key, of tables within the table a line that names them."""
    needed = set(table.get("required", ()))
    for key, one in table["properties"].items():
        if inner := nested(one):
            text = (
                "`" + inner[1].format("…" + key) + "`, below",
                "required" if key in needed else "",
                "a table",
            )
        else:
            text = (kind_of(one), default_of(key, one, needed), one["description"])
        yield f"| `{key}` | " + " | ".join(map(cell, text)) + " |"


def page(title: str, model: type[BaseModel]) -> str:
    """Every table of one kind of case."""
    lines = [f"# {title}: keys\n"]
    for header, name, table in tables(model):
        lines.append(f"## `{header}`\n" if header else "## At the top of the file\n")
        prose = re.sub(
            r"^(\[+[\w.]+\]+|[\w.]+)( of [^:]*)?: ", "", table.get("description", "")
        ).strip()
        lines += [prose[:1].upper() + prose[1:] + "\n"] if header else []
        lines += [
            "| key | value | default | meaning |",
            "|---|---|---|---|",
            *rows(table),
            "",
        ]
        if name in CHOICES:
            key, choices = CHOICES[name]
            lines += [f"| `{key}` | needs | accepts |", "|---|---|---|"]
            for choice, keys in choices.items():
                lines.append(
                    f'| `"{choice}"` | '
                    + " | ".join(", ".join(each) for each in keys)
                    + " |"
                )
            lines.append("")
    return "\n".join(lines)


def units() -> str:
    """The units of all quantities; numbers without one are in the first."""
    lines = ["# Units\n", "| quantity | units |", "|---|---|"]
    lines += [
        f"| {quantity} | {', '.join(f'`{each}`' for each in given)} |"
        for quantity, given in UNITS.items()
    ]
    return "\n".join(lines) + "\n"


def write(folder: Path) -> None:
    """A page for each kind of case, and one of units."""
    folder.mkdir(exist_ok=True)
    (folder / "units.md").write_text(units(), encoding="utf-8")
    for title, model in models().items():
        name = re.sub(r"\W+", "_", title.lower())
        (folder / f"{name}.md").write_text(page(title, model), encoding="utf-8")
