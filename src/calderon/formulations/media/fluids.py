"""Bodies of different fluids next to each other, and the equations of their surfaces."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.greens import Helmholtz
from calderon.operators import (
    BoundaryOperator,
    adjoint_double_layer,
    blocks,
    double_layer,
    hypersingular,
    identity,
    single_layer,
)
from calderon.spaces import P1, P2, Space


@dataclass(frozen=True, eq=False)
class Fluid:
    """A fluid and its bodies: wavenumber, density_ratio over that outside, the space of functions on their surface, and
    the numbers of these among those of the whole surface."""

    wavenumber: complex
    density_ratio: complex
    space: Space
    places: NDArray[np.int64]

    @property
    def scale(self) -> complex:
        """s = 2 / (1 + r)."""
        return 2 / (1 + self.density_ratio)


def fluids_of(space: Space, wavenumber: Any, density_ratio: Any) -> tuple[Fluid, ...]:
    """One fluid, or one for each tag of tables. ValueError for tables that do not fit together or leave triangles out,
    and for bodies of different fluids that touch."""
    tables = [each for each in (wavenumber, density_ratio) if isinstance(each, Mapping)]
    if not tables:
        return (Fluid(wavenumber, density_ratio, space, np.arange(space.dimension)),)
    mesh, found, seen = space.mesh, [], np.zeros(space.dimension, dtype=np.int64)
    covered = np.zeros(mesh.number_of_triangles, dtype=np.int64)
    for tag in tables[0]:
        own = np.isin(mesh.tags, mesh.tag_numbers(tag))
        if any(tag not in each for each in tables):
            raise ValueError(f"tables of fluids have the same tags, got {[[*each] for each in tables]}")
        part = {"P1": P1, "P2": P2}[space.name](mesh, tag)
        places = np.empty(part.dimension, np.int64)
        places[part.dofs] = space.dofs[part.triangles]
        covered[own] += 1
        seen[places] += 1
        k, ratio = (each[tag] if isinstance(each, Mapping) else each for each in (wavenumber, density_ratio))
        found.append(Fluid(k, ratio, part, places))
    if wrong := np.unique(mesh.tags[covered != 1]).tolist():
        raise ValueError(f"each tag has one fluid, and the tags {wrong} have none or several: names are {mesh.names}")
    if shared := int(np.count_nonzero(seen != 1)):
        raise ValueError(
            f"bodies of different fluids touch at {shared} nodes: they must be apart, and a tag has all of a body"
        )
    return tuple(found)


def mueller(outside: Helmholtz, fluids: tuple[Fluid, ...]) -> BoundaryOperator:
    """Equations of Mueller's kind, see `FluidTransmission`: rows of values, then of slopes; columns of u, then of q."""
    k = abs(outside.wavenumber)
    rows: list[list[Any]] = []
    for a in fluids:
        rows.append([_values(outside, a, b) for b in fluids] + [_jumps(outside, k, a, b) for b in fluids])
    for a in fluids:
        rows.append([_slopes(outside, k, a, b) for b in fluids] + [_fluxes(outside, a, b) for b in fluids])
    return blocks(rows)


def _values(outside: Helmholtz, a: Fluid, b: Fluid) -> BoundaryOperator:
    if a is not b:
        return -1 * double_layer(outside, b.space, a.space)
    inside = Helmholtz(a.wavenumber)
    return identity(a.space) - double_layer(outside, a.space) + double_layer(inside, a.space)


def _jumps(outside: Helmholtz, k: float, a: Fluid, b: Fluid) -> BoundaryOperator:
    if a is not b:
        return k * single_layer(outside, b.space, a.space)
    return k * single_layer(outside, a.space) - (k * a.density_ratio) * single_layer(Helmholtz(a.wavenumber), a.space)


def _slopes(outside: Helmholtz, k: float, a: Fluid, b: Fluid) -> BoundaryOperator:
    if a is not b:
        return (a.scale / k) * hypersingular(outside, b.space, a.space)
    inside = Helmholtz(a.wavenumber)
    return (a.scale / k) * hypersingular(outside, a.space) - (a.scale / k) * hypersingular(inside, a.space)


def _fluxes(outside: Helmholtz, a: Fluid, b: Fluid) -> BoundaryOperator:
    if a is not b:
        return a.scale * adjoint_double_layer(outside, b.space, a.space)
    inner = a.scale * a.density_ratio
    outer = identity(a.space) + a.scale * adjoint_double_layer(outside, a.space)
    return outer - inner * adjoint_double_layer(Helmholtz(a.wavenumber), a.space)
