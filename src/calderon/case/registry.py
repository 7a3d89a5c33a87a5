"""Kinds of cases by name: those of the package, and those that other packages add by entry points.

A kind is an object in a package of its own and is imported when a case file is of it; reading a case needs its model
only, the rest is in `report/kind.py`.
"""

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from importlib import import_module
from operator import or_
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter

from calderon.case.table import CaseModel
from calderon.processes import lasting_imports
from calderon.processes.extensions import extension, extension_names

C = TypeVar("C", bound=CaseModel)
GROUP = "calderon.problems"
OWN = (
    "surface", "transient", "solid", "planar", "reflectarray", "periodic", "acoustics", "inhomogeneous", "structure",
    "statics", "antennas",
)  # fmt: skip
"""Packages of `calderon.kinds`: a kind is called like the table, or the problem in [physics], by which a file is of it,
and "surface" is that of all other files."""


@dataclass(frozen=True)
class ModelledKind(Generic[C]):
    """A kind of case as far as reading it goes: its name, its title in the reference, and the model of its files."""

    name: str
    title: str
    model: type[C]


def kinds() -> Iterator[ModelledKind[Any]]:
    """All kinds, first those of the package."""
    yield from map(_own, OWN)
    for name in extension_names(GROUP):
        if isinstance(found := extension(GROUP, name, object), ModelledKind):
            yield found


def kind_of_tables(data: dict[str, Any]) -> ModelledKind[Any]:
    """The kind of a case by its tables; ExtensionError where another package adds one that cannot be used."""
    for name in reversed(OWN):
        if name in data:
            return _own(name)
    physics = data.get("physics")
    if isinstance(physics, dict) and (problem := physics.get("problem")) in OWN[1:]:
        return _own(problem)
    surface = _own(OWN[0])
    unknown = data.keys() - surface.model.model_fields.keys()
    added = sorted(unknown.intersection(extension_names(GROUP))) if unknown else []
    if added:
        return extension(GROUP, added[0], ModelledKind) or surface
    near = (name for key in sorted(unknown) for name in difflib.get_close_matches(key, OWN[1:], n=1, cutoff=0.75))
    return _own(next(near, OWN[0]))  # whose model reports the misspelt name


def _own(name: str) -> ModelledKind[Any]:
    with lasting_imports():
        found: ModelledKind[Any] = import_module(f"calderon.kinds.{name}").KIND
    return found


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
