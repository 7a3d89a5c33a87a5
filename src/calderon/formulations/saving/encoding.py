"""Numbers, texts, small arrays, tables and objects of known classes as JSON, and back without a changed bit."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from calderon.validation import describe

KINDS = {"float64", "complex128", "int64"}
"""Types of the numbers of arrays."""


def encoded(value: Any, classes: Sequence[type]) -> str:
    """JSON of a value. ValueError for what it may not hold: functions, and objects of other classes."""
    return json.dumps(_encoded(value, classes))


def decoded(text: str, classes: Sequence[type]) -> Any:
    """The value of a JSON text. The checks of the classes are made; ValueError, TypeError, KeyError or IndexError for a
    text that `encoded` has not written."""
    return _decoded(json.loads(text), {each.__name__: each for each in classes})


def _encoded(value: Any, classes: Sequence[type]) -> Any:
    if value is None or isinstance(value, bool | str | int | float):
        return value
    if isinstance(value, np.generic):
        return _encoded(value.item(), classes)
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if isinstance(value, np.ndarray) and str(value.dtype) in KINDS:
        flat = value.ravel()
        numbers = flat.view(np.float64) if np.iscomplexobj(flat) else flat
        return {"array": numbers.tolist(), "shape": list(value.shape), "kind": str(value.dtype)}
    if isinstance(value, list | tuple):
        return {type(value).__name__: [_encoded(each, classes) for each in value]}
    if isinstance(value, Mapping):
        return {"table": [[_encoded(key, classes), _encoded(each, classes)] for key, each in value.items()]}
    if is_dataclass(value) and type(value) in classes:
        given = {each.name: getattr(value, each.name) for each in fields(value) if each.init}
        return {"class": type(value).__name__, "fields": {k: _encoded(v, classes) for k, v in given.items()}}
    if callable(value) and not is_dataclass(value):
        raise ValueError(
            f"a solution with values given by a function ({getattr(value, '__name__', value)!r}) cannot be saved, "
            "since a file holds numbers only: give numbers, or save what you need of it (on_plane(...).write)"
        )
    known = ", ".join(sorted(each.__name__ for each in classes))
    raise ValueError(f"a solution with a {describe(value)} cannot be saved: files hold numbers, texts, {known}")


def _decoded(value: Any, classes: Mapping[str, type]) -> Any:
    if not isinstance(value, dict):
        if isinstance(value, list):
            raise ValueError("a list without a name")
        return value
    if "class" in value:
        return _object(classes[value["class"]], {k: _decoded(v, classes) for k, v in value["fields"].items()})
    if "array" in value:
        if value["kind"] not in KINDS:
            raise ValueError(f"an array of {value['kind']!r}")
        numbers = np.array(value["array"], np.int64 if value["kind"] == "int64" else np.float64)
        return numbers.view(value["kind"]).reshape(value["shape"])
    (name, content), *others = value.items()
    if others or name not in ("complex", "list", "tuple", "table"):
        raise ValueError(f"an unknown kind of value {name!r}")
    if name == "complex":
        return complex(float(content[0]), float(content[1]))
    if name == "table":
        return {_decoded(key, classes): _decoded(each, classes) for key, each in content}
    values = [_decoded(each, classes) for each in content]
    return tuple(values) if name == "tuple" else values


def _object(kind: type, given: dict[str, Any]) -> Any:
    """The object, whose arrays are those given to the last bit: constructors normalise directions."""
    found = kind(**given)
    for name, value in given.items():
        if isinstance(value, np.ndarray):
            made = np.asarray(getattr(found, name))
            if made.shape != value.shape or not np.allclose(made, value, rtol=1e-12, atol=1e-300):
                raise ValueError(f"{name} of {kind.__name__} is {value.tolist()}")
            value.flags.writeable = False
            object.__setattr__(found, name, value)
    return found
