"""Arrays whose axes have names, coordinates and units; the same as an xarray dataset, a pandas table or a tidy CSV."""

import csv
import os
import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.files import whole_file
from calderon.files.spreadsheets import cell_text
from calderon.view import Described

COMPONENTS = ("x", "y", "z")
COMPONENT = "component"


@dataclass(frozen=True, eq=False)
class Axis:
    """One axis of arrays: its name, the coordinates (n,) along it, numbers or texts, and their unit."""

    name: str
    values: NDArray[Any]
    unit: str = ""
    label: str = ""


@dataclass(frozen=True, eq=False)
class Quantity:
    """Values along all axes of its `LabelledArrays`, or along those named by `along`; a vector has one axis more, the
    last, with the components x, y, z."""

    name: str
    values: NDArray[Any]
    unit: str = ""
    label: str = ""
    along: tuple[str, ...] | None = None
    vector: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class LabelledArrays(Described):
    """Quantities along the same axes. places: further coordinates, such as x, y, z of points. attributes: of all."""

    axes: tuple[Axis, ...]
    quantities: tuple[Quantity, ...]
    places: tuple[Quantity, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def brief(self) -> str:
        """Quantities, and the lengths of the axes."""
        names = ", ".join(f"{each.name} [{each.unit}]" if each.unit else each.name for each in self.quantities)
        by = ", ".join(f"{len(each.values)} {each.name}" for each in self.axes)
        return f"{names} by {by}" if by else names

    def __getitem__(self, name: str) -> NDArray[Any]:
        """The values of a quantity; KeyError with the known names."""
        found = {each.name: each.values for each in self.quantities}
        if name not in found:
            raise KeyError(f"no quantity {name!r}: choose {' or '.join(map(repr, found))}")
        return found[name]

    def to_xarray(self) -> Any:
        """An `xarray.Dataset` with coordinates and units; needs the package xarray (the extra "data")."""
        import xarray

        vectors = [each for each in self.quantities if each.vector]
        coordinates: dict[str, Any] = {each.name: (each.name, each.values, _about(each)) for each in self.axes}
        coordinates |= {each.name: (self._along(each), each.values, _about(each)) for each in self.places}
        if vectors:
            coordinates[COMPONENT] = (COMPONENT, list(COMPONENTS))
        variables = {
            each.name: (self._along(each) + ((COMPONENT,) if each.vector else ()), each.values, _about(each))
            for each in self.quantities
        }
        return xarray.Dataset(variables, coordinates, dict(self.attributes))

    def columns(self) -> dict[str, NDArray[Any]]:
        """A tidy table, one row for each observation: columns (rows,) by name and unit, such as `pressure_real_Pa`;
        complex numbers are two columns, vectors three or six."""
        shape = tuple(len(each.values) for each in self.axes)
        found: dict[str, NDArray[Any]] = {}
        axes = [Quantity(each.name, each.values, each.unit, along=(each.name,)) for each in self.axes]
        for each in (*axes, *self.places, *self.quantities):
            parts = [(f"{each.name}_{c}", each.values[..., i]) for i, c in enumerate(COMPONENTS)] if each.vector else []
            for name, values in parts or [(each.name, each.values)]:
                rows = self._spread(values, each, shape).reshape(-1)
                found |= _real_columns(name, each.unit, rows)
        return found

    def to_pandas(self) -> Any:
        """The tidy table as a `pandas.DataFrame`; needs the package pandas (the extra "data")."""
        import pandas

        table = pandas.DataFrame(self.columns())
        table.attrs.update(self.attributes)
        return table

    def write_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the tidy table, with no text that spreadsheets run. Atomic: the file appears whole or not at all."""
        columns = self.columns()
        rows = zip(*(_texts(values) for values in columns.values()), strict=True)
        with whole_file(path) as scratch, scratch.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([cell_text(name) for name in columns])
            writer.writerows(rows)

    def _along(self, each: Quantity) -> tuple[str, ...]:
        return tuple(axis.name for axis in self.axes) if each.along is None else each.along

    def _spread(self, values: NDArray[Any], each: Quantity, shape: tuple[int, ...]) -> NDArray[Any]:
        """Values on all axes."""
        along = self._along(each)
        index = tuple(slice(None) if axis.name in along else None for axis in self.axes)
        return np.broadcast_to(np.asarray(values)[index], shape)


class Labelled(Described):
    """Numbers with labels: `arrays` gives them, its text is `brief`."""

    @abstractmethod
    def arrays(self) -> LabelledArrays:
        """The numbers, as `data.LabelledArrays`."""

    def to_xarray(self) -> Any:
        """`arrays` as an `xarray.Dataset`."""
        return self.arrays().to_xarray()

    def to_pandas(self) -> Any:
        """`arrays` as a tidy `pandas.DataFrame`."""
        return self.arrays().to_pandas()

    def __str__(self) -> str:
        return self.brief


def stacked(axis: Axis, parts: Sequence[LabelledArrays]) -> LabelledArrays:
    """Arrays of the same axes and quantities, one for each coordinate of a further axis, which becomes the first."""
    first = parts[0]
    quantities = tuple(
        replace(
            each,
            values=np.stack([part[each.name] for part in parts]),
            along=None if each.along is None else (axis.name, *each.along),
        )
        for each in first.quantities
    )
    places = tuple(each if each.along is not None else replace(each, along=_names(first)) for each in first.places)
    common = {key: value for key, value in first.attributes.items() if all(p.attributes[key] == value for p in parts)}
    return LabelledArrays((axis, *first.axes), quantities, places, common)


def _names(arrays: LabelledArrays) -> tuple[str, ...]:
    return tuple(each.name for each in arrays.axes)


def _about(each: Axis | Quantity) -> dict[str, str]:
    return {key: text for key, text in (("units", each.unit), ("long_name", each.label)) if text}


def column_name(name: str, unit: str) -> str:
    """A name with its unit in letters, digits and underscores: column_name("stress", "N/m^2") = "stress_N_per_m2"."""
    text = re.sub(r"[^0-9A-Za-z]+", "_", f"{name} {unit}".replace("/", "_per_").replace("^", ""))
    return text.strip("_")


def _real_columns(name: str, unit: str, values: NDArray[Any]) -> dict[str, NDArray[Any]]:
    if not np.iscomplexobj(values):
        return {column_name(name, unit): values}
    return {column_name(f"{name}_real", unit): values.real, column_name(f"{name}_imag", unit): values.imag}


def _texts(values: NDArray[Any]) -> list[str]:
    if values.dtype.kind in "fc":
        return [f"{value:.10g}" for value in values.tolist()]
    return [cell_text(str(value)) for value in values.tolist()]
