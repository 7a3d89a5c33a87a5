"""The layers of a layout of a chip or a board: their heights and materials, from Python or a .toml file."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import combinations
from pathlib import Path
from typing import Any

from calderon.formulations.statics.files.text_lines import given_path
from calderon.mesh import metres_per
from calderon.validation import list_of, positive_length, real_number, text, truth, whole_number

BYTES, LAYERS = 1_000_000, 1000
"""Largest size of a file, and largest number of its layers."""
LARGEST = 65535
"""The largest number of a layer or a datatype in a GDS file."""
COMMON = 1e-9
"""Part of the height of a layer by which others may overlap it, of rounding."""


@dataclass(frozen=True)
class LayoutLayer:
    """A layer of a layout between the heights bottom and bottom + height in m: metal, or a dielectric of a relative
    permittivity.

    number: of the layer in the file, whose polygons it has, of the given datatype if it is not None. Without a number
    the layer fills the whole area: a dielectric, or a plane of metal, whose net has the name of the layer.
    ValueError for a layer that is neither metal nor a dielectric, or both, and without a height.
    """

    name: str
    bottom: float
    height: float
    number: int | None = None
    permittivity: float | None = None
    metal: bool = False
    datatype: int | None = None

    def __post_init__(self) -> None:
        name = text(self.name, "name of a layer")
        what = f"of the layer {name!r}"
        object.__setattr__(self, "bottom", real_number(self.bottom, f"bottom {what}"))
        object.__setattr__(self, "height", positive_length(self.height, f"height {what}"))
        if truth(self.metal, f"metal {what}") == (self.permittivity is not None):
            raise ValueError(f"the layer {name!r} is either metal=True, or a dielectric with permittivity=; choose one")
        if self.permittivity is not None:
            object.__setattr__(self, "permittivity", positive_length(self.permittivity, f"permittivity {what}"))
        for key in ("number", "datatype"):
            if getattr(self, key) is not None:
                object.__setattr__(self, key, whole_number(getattr(self, key), f"{key} {what}", 0, LARGEST))
        if self.number is None and self.datatype is not None:
            raise ValueError(f"the layer {name!r} has a datatype, but no number of a layer in the file")

    @property
    def top(self) -> float:
        """The height in m at which it ends."""
        return self.bottom + self.height

    def overlaps(self, other: "LayoutLayer", touching: bool = False) -> bool:
        """Whether both have heights in common, or one common height if touching."""
        slack = COMMON * min(self.height, other.height) * (1 if touching else -1)
        return min(self.top, other.top) - max(self.bottom, other.bottom) > -slack

    @property
    def called(self) -> str:
        """Its name with its heights, for messages."""
        return f"{self.name!r} from {self.bottom:g} to {self.top:g} m"


@dataclass(frozen=True)
class LayoutStack:
    """All layers of a layout, in any order. margin: by how much in m layers without a number reach over all polygons,
    twice the height of the stack unless given. permittivity: relative, of what is around all layers. ignored: numbers
    of layers of the file that are left out.

        metal = cal.LayoutLayer("metal 1", 1e-6, 0.5e-6, number=10, metal=True)
        oxide = cal.LayoutLayer("oxide", 0.0, 2e-6, permittivity=3.9)
        cal.LayoutStack([oxide, metal])

    Metal lies within dielectrics, dielectrics with a number within those without one. ValueError for names or numbers
    that two layers have, for two dielectrics without numbers, or two with numbers, whose heights overlap, and for a
    stack without metal.
    """

    layers: Sequence[LayoutLayer]
    margin: float | None = None
    permittivity: float = 1.0
    ignored: Sequence[int] = ()

    def __post_init__(self) -> None:
        layers = list_of(self.layers, LayoutLayer, "the layers of a layout are a list of LayoutLayer")
        object.__setattr__(self, "layers", layers)
        object.__setattr__(self, "permittivity", positive_length(self.permittivity, "permittivity around all layers"))
        if self.margin is not None:
            object.__setattr__(self, "margin", positive_length(self.margin, "margin"))
        ignored = list_of(self.ignored, int, "ignored layers are a list of numbers")
        object.__setattr__(self, "ignored", tuple(whole_number(n, "ignored", 0, LARGEST) for n in ignored))
        if not any(each.metal for each in layers):
            raise ValueError("a layout has at least one layer with metal=True")
        for one, other in combinations(layers, 2):
            if one.name == other.name:
                raise ValueError(f"two layers are called {one.name!r}: give each a name of its own")
            same = one.number is not None and one.number == other.number
            if same and (one.datatype is None or other.datatype is None or one.datatype == other.datatype):
                raise ValueError(
                    f"the layers {one.name!r} and {other.name!r} have the same number {one.number}: tell them apart by "
                    "datatype="
                )
            alike = not one.metal and not other.metal and (one.number is None) == (other.number is None)
            if alike and one.overlaps(other):
                raise ValueError(f"the dielectrics {one.called} and {other.called} overlap: change bottom or height")
        if shown := [each.name for each in layers if each.number in self.ignored]:
            raise ValueError(f"the layer {shown[0]!r} is ignored and used: take its number out of one of them")

    @classmethod
    def read(cls, path: str | Path) -> "LayoutStack":
        """The stack of a .toml file with a table [[layer]] for each layer, whose keys are those of `LayoutLayer`, and
        before them unit ("um": of all lengths in the file, m unless given), margin, permittivity, ignored. ValueError,
        naming file and layer, for anything else."""
        place = given_path(path, "a stack of layers")
        data = _tables(place)
        unit = data.pop("unit", "m")
        try:
            factor = metres_per(unit)
            tables = data.pop("layer", [])
            if not isinstance(tables, list) or not 0 < len(tables) <= LAYERS:
                raise ValueError(f"from 1 to {LAYERS} tables [[layer]] are needed, one for each layer")
            layers = [_layer(each, number, factor) for number, each in enumerate(tables, 1)]
            _require_keys(data, ("margin", "permittivity", "ignored"), "the file")
            if "margin" in data:
                data["margin"] = factor * real_number(data["margin"], "margin")
            return cls(layers, **data)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{place}: {error}") from None

    @property
    def bottom(self) -> float:
        """The lowest height in m."""
        return min(each.bottom for each in self.layers)

    @property
    def top(self) -> float:
        """The largest height in m."""
        return max(each.top for each in self.layers)


def _tables(place: Path) -> dict[str, Any]:
    """The contents of a .toml file."""
    if not place.is_file():
        raise ValueError(f"{place}: no such file")
    if place.stat().st_size > BYTES:
        raise ValueError(f"{place}: more than {BYTES} bytes")
    try:
        return tomllib.loads(place.read_text(encoding="utf-8-sig"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise ValueError(f"{place}: no TOML file: {error}") from None


def _layer(table: object, number: int, factor: float) -> LayoutLayer:
    """A layer of a table; lengths times factor."""
    if not isinstance(table, dict):
        raise ValueError(f"layer {number} is no table: write [[layer]], and its keys below it")
    keys = tuple(each.name for each in fields(LayoutLayer))
    _require_keys(table, keys, f"layer {number}")
    if missing := [each for each in keys[:3] if each not in table]:
        raise ValueError(f"layer {number} needs {' and '.join(missing)}")
    given = dict(table)
    for key in ("bottom", "height"):
        given[key] = factor * real_number(given[key], f"{key} of layer {number}")
    return LayoutLayer(**given)


def _require_keys(table: dict[str, Any], allowed: Sequence[str], what: str) -> None:
    if strange := [each for each in table if each not in allowed]:
        raise ValueError(f"{what} has the key {strange[0][:60]!r}: choose {', '.join(allowed)}")
