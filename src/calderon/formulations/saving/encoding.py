"""Numbers, texts, small arrays, tables, objects of known classes and functions on surfaces as JSON, and back without a
changed bit."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from numbers import Complex, Integral, Real
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from calderon.spaces import Function, VectorFunction
from calderon.validation import describe

Surface = Function | VectorFunction
KINDS = {"float64", "complex128", "int64"}
"""Types of the numbers of arrays."""


def encoded(value: Any, classes: Sequence[type]) -> tuple[str, list[Surface]]:
    """JSON of a value, and the functions on surfaces in it, which the text names by their places in the list.
    ValueError for what it may not hold: functions of points, and objects of other classes."""
    functions: list[Surface] = []
    return json.dumps(_encoded(value, classes, functions)), functions


def decoded(text: str, classes: Sequence[type], functions: Sequence[Surface]) -> Any:
    """The value of a JSON text with these functions. The checks of the classes are made; ValueError, TypeError,
    KeyError or IndexError for a text that `encoded` has not written."""
    return _decoded(json.loads(text), {each.__name__: each for each in classes}, functions)


def _encoded(value: Any, classes: Sequence[type], functions: list[Surface]) -> Any:
    if value is None or isinstance(value, bool | str | int | float):
        return value
    if isinstance(value, np.generic):
        return _encoded(value.item(), classes, functions)
    if isinstance(value, Surface):
        if not any(each is value for each in functions):
            functions.append(value)
        return {"function": next(n for n, each in enumerate(functions) if each is value)}
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if isinstance(value, np.ndarray) and str(value.dtype) in KINDS:
        flat = value.ravel()
        numbers = flat.view(np.float64) if np.iscomplexobj(flat) else flat
        return {"array": numbers.tolist(), "shape": list(value.shape), "kind": str(value.dtype)}
    if isinstance(value, list | tuple):
        return {type(value).__name__: [_encoded(each, classes, functions) for each in value]}
    if isinstance(value, Mapping):
        return {"table": [[_encoded(one, classes, functions) for one in item] for item in value.items()]}
    if is_dataclass(value) and type(value) in classes:
        given = {each.name: getattr(value, each.name) for each in fields(value) if each.init}
        return {"class": type(value).__name__, "fields": {k: _encoded(v, classes, functions) for k, v in given.items()}}
    if callable(value) and not is_dataclass(value):
        raise ValueError(
            f"a solution with values given by a function ({getattr(value, '__name__', value)!r}) cannot be saved, "
            "since a file holds numbers only: give numbers, or save what you need of it (on_plane(...).write)"
        )
    known = ", ".join(sorted(each.__name__ for each in classes))
    raise ValueError(f"a solution with a {describe(value)} cannot be saved: files hold numbers, texts, {known}")


def _decoded(value: Any, classes: Mapping[str, type], functions: Sequence[Surface]) -> Any:
    if not isinstance(value, dict):
        if isinstance(value, list):
            raise ValueError("a list without a name")
        return value
    if "class" in value:
        given = {name: _decoded(each, classes, functions) for name, each in value["fields"].items()}
        return _object(classes[value["class"]], given)
    if "array" in value:
        if value["kind"] not in KINDS:
            raise ValueError(f"an array of {value['kind']!r}")
        numbers = np.array(value["array"], np.int64 if value["kind"] == "int64" else np.float64)
        return numbers.view(value["kind"]).reshape(value["shape"])
    (name, content), *others = value.items()
    if others or name not in ("complex", "function", "list", "tuple", "table"):
        raise ValueError(f"an unknown kind of value {name!r}")
    if name == "complex":
        return complex(float(content[0]), float(content[1]))
    if name == "function":
        if type(content) is not int or not 0 <= content < len(functions):
            raise ValueError(f"function {content!r} of {len(functions)}")
        return functions[content]
    if name == "table":
        return {_decoded(key, classes, functions): _decoded(each, classes, functions) for key, each in content}
    values = [_decoded(each, classes, functions) for each in content]
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
    if not hasattr(kind, "__post_init__"):  # others check themselves
        require_types(found)
    return found


def require_types(value: Any) -> None:
    """TypeError for a dataclass of which a field is of another type than its annotation says."""
    hints = get_type_hints(type(value))
    for each in fields(value):
        given = getattr(value, each.name)
        if not _fits(given, hints[each.name]):
            raise TypeError(f"{each.name} of {type(value).__name__} is {describe(given)}")


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value is of the type of an annotation."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, each) for each in inner)
    if origin in (tuple, list):
        kinds = inner * len(value) if origin is list else inner[:1] * len(value) if inner[-1] is ... else inner
        return isinstance(value, origin) and len(kinds) == len(value) and all(map(_fits, value, kinds))
    if origin is Mapping:
        return isinstance(value, Mapping) and all(_fits(k, inner[0]) and _fits(v, inner[1]) for k, v in value.items())
    if origin is np.ndarray:
        return isinstance(value, np.ndarray) and value.dtype == get_args(inner[1])[0]
    if hint is Any or getattr(hint, "_is_protocol", False):
        return True
    return isinstance(value, {int: Integral, float: Real, complex: Complex}.get(hint, hint))
