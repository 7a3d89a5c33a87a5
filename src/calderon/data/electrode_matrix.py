"""Matrices of electrodes: what flows into each for potentials of all of them, with names and a unit."""

import os
import re
from typing import Self

import numpy as np
import xarray

from calderon.files import whole_file
from calderon.files.spice import spice_file

ROUNDING = 1e-9
"""Part of the largest entry up to which others are rounding errors."""
ELEMENTS = {"F": ("C", 1), "S": ("R", -1)}
"""The letter of a SPICE element and the power of its value by the unit of a matrix."""
GROUND = {"0", "gnd"}
"""Names of the node at 0 V in SPICE, in lower case."""


class ElectrodeMatrix(xarray.DataArray):
    """A matrix (electrodes, electrodes) in Maxwell's form, of capacitances in F or conductances in S: a labelled array
    with the names of electrodes along row and column, symmetric, and negative off its diagonal."""

    __slots__ = ()

    def mutual(self) -> Self:
        """The capacitances or conductances of single elements in the same unit: between each two electrodes minus the
        entry, on the diagonal the sum of the row, between an electrode and what is far away (0 where nothing is)."""
        values = -self.values
        np.fill_diagonal(values, self.values.sum(axis=1))
        return self.copy(data=values)

    def spice(self, path: str | os.PathLike[str], name: str = "calderon") -> None:
        """Write a SPICE subcircuit of that name (.sp or .cir) with a pin for each electrode, of `mutual` as capacitors
        or resistors; far away is node 0. Values below 1e-9 of the largest entry, and negative ones, which are errors of
        the mesh, are left out. ValueError for another ending, for a name of other characters than letters, digits and
        underscores, and for electrodes that SPICE takes for one pin, or for node 0 (0, gnd)."""
        place = spice_file(path, name, "electrodes.sp")
        names = [str(each) for each in self.row.values]
        pins = [re.sub(r"[^A-Za-z0-9_]", "_", each) for each in names]
        lower = {each.lower() for each in pins}
        if len(lower) < len(pins) or "" in lower or lower & GROUND:
            raise ValueError(
                "electrodes have names that SPICE takes for one pin, for none, or for node 0 (0, gnd): "
                f"{', '.join(names)}; rename electrodes"
            )
        letter, power = ELEMENTS[self.attrs["units"]]
        values, lines = self.mutual().values, [f".subckt {name} {' '.join(pins)}"]
        for one, other in zip(*np.triu_indices(len(pins)), strict=True):
            if values[one, other] > ROUNDING * np.abs(self.values).max():
                end = "0" if one == other else pins[other]
                value = f"{values[one, other] ** power:.9g}"
                lines.append(f"{letter}{len(lines)} {pins[one]} {end} {value}")
        with whole_file(place) as scratch:
            scratch.write_text(
                "\n".join([f"* {self.name} of electrodes", *lines, f".ends {name}"]) + "\n", encoding="utf-8"
            )
