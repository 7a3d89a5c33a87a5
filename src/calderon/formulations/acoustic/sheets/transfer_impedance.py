"""Transfer impedances of sheets, z = pressure difference over the velocity through them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.acoustic.conditions.impedances import admitted
from calderon.formulations.acoustic.conditions.wall_conditions import Impedance
from calderon.formulations.acoustic.conditions.wall_values import Wall, checked_values, values_on
from calderon.formulations.acoustic.conditions.walls import numbers_of
from calderon.formulations.acoustic.fluid import Fluid
from calderon.mesh import TriangleMesh
from calderon.spaces.element import Element

SheetImpedance = Any
"""A number, an array, a function or an Impedance, or {tag or its name: one of them}."""


def checked_impedance(given: SheetImpedance) -> Any:
    """The impedances as `Impedance`; TypeError or ValueError for what is none, and for 0."""
    if isinstance(given, Mapping):
        return {key: checked_impedance(each) for key, each in given.items()}
    if isinstance(given, Impedance):
        return given
    values = checked_values(given, "a transfer impedance", infinite=True)
    if not callable(values) and (np.asarray(values) == 0).any():
        raise ValueError("a transfer impedance of 0 lets all sound through: leave that part of the sheet out")
    return Impedance(values)


def admittances(mesh: TriangleMesh, given: Any, omega: float, fluid: Fluid) -> NDArray[np.complex128]:
    """1 / z (triangles, 3) at the corners of triangles, 0 where the sheet is rigid; given: what `checked_impedance`
    returns."""
    table = given if isinstance(given, Mapping) else {None: given}
    found, owner = np.zeros((mesh.number_of_triangles, 3), np.complex128), dict[int, Any]()
    for key, each in table.items():
        name = "the sheet" if key is None else f"tag {key!r}"
        numbers = np.unique(mesh.tags).tolist() if key is None else numbers_of(mesh, key, "impedance")
        for number in numbers:
            if owner.setdefault(number, key) is not key:
                raise ValueError(f"tag {number} has impedances twice, under {owner[number]!r} and {key!r}: give one")
        own = Wall(mesh, np.flatnonzero(np.isin(mesh.tags, numbers)), 1.0, name)
        z = values_on(own, Element(1).nodes, each.at(omega, fluid), "a transfer impedance", infinite=True)
        found[own.triangles] = admitted(z, name, each.gain, "a sheet that lets all sound through is left out")
    return found
