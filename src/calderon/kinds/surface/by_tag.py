"""Constants of surfaces and bodies in case files: one number, or a table of them by tag."""

import math
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

from pydantic import BeforeValidator, TypeAdapter, WithJsonSchema

from calderon.case.media import NAMED, is_name
from calderon.case.quantities import Density, Speed, quantity


def _complex(value: Any) -> complex:
    """A real number or [real, imaginary]."""
    parts = value if isinstance(value, list) else [value, 0.0]
    if len(parts) != 2 or any(isinstance(part, bool) or not isinstance(part, (int, float)) for part in parts):
        raise ValueError("write a number or [real, imaginary]")
    if not all(math.isfinite(part) for part in parts):
        raise ValueError("both parts must be finite")
    return complex(*parts)


def _by_tag(value: Any, one: Callable[[Any], Any] = _complex) -> Any:
    """One number for the whole surface, or a table from tags, by number or name, to numbers; one: checks each."""
    if not isinstance(value, dict):
        return one(value)
    if not value:
        raise ValueError("the table by tag is empty: write { tag = number }, or one number for the whole surface")
    return {int(tag) if tag.lstrip("-").isdigit() else tag: one(each) for tag, each in value.items()}


def _media(value: Any, one: Callable[[Any], Any] = _complex) -> Any:
    """One number or name of a medium, or a table of these by tag; one: checks each number."""
    return _by_tag(value, lambda each: each if is_name(each) else one(each))


def _passive(value: Any) -> complex | dict[int | str, complex]:
    """One number with a real part that is not negative, or a table of these by tag."""
    given = _by_tag(value)
    for one in given.values() if isinstance(given, dict) else (given,):
        if one.real < 0:
            raise ValueError(f"the real part {one.real:g} is negative: the surface would create energy, give 0 or more")
    return given


def _quantities(kind: str, value: Any) -> Any:
    """One number with a unit or name of a medium, or a table of these by tag."""
    return _media(value, lambda one: quantity(one, kind))


def mapped(function: Callable[[Any], Any], given: Any) -> Any:
    """The function of one number, or of each in a table by tag."""
    return {tag: function(one) for tag, one in given.items()} if isinstance(given, dict) else function(given)


def _schema(one: dict[str, Any]) -> WithJsonSchema:
    """The JSON schema of one such number, or of a table of them."""
    return WithJsonSchema({**one, "anyOf": [*one["anyOf"], {"type": "object", "additionalProperties": one}]})


def _or_named(kind: Any) -> dict[str, Any]:
    """The JSON schema of a quantity or the name of a medium."""
    one = TypeAdapter(kind).json_schema()
    return {**one, "anyOf": [*one["anyOf"], NAMED]}


COMPLEX = {"anyOf": [{"type": "number"}, {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}]}
"""In a JSON schema."""
Table = dict[int | str, float | str]
Constants = Annotated[complex | dict[int | str, complex], BeforeValidator(_by_tag), _schema(COMPLEX)]
Permittivities = Annotated[
    complex | str | dict[int | str, complex | str],
    BeforeValidator(_media),
    _schema({"anyOf": [*COMPLEX["anyOf"], NAMED]}),
]
Admittance = Annotated[complex | dict[int | str, complex], BeforeValidator(_passive), _schema(COMPLEX)]
Speeds = Annotated[float | str | Table, BeforeValidator(partial(_quantities, "speed")), _schema(_or_named(Speed))]
Densities = Annotated[
    float | str | Table, BeforeValidator(partial(_quantities, "density")), _schema(_or_named(Density))
]
