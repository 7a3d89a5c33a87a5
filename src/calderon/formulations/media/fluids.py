"""Bodies of different fluids, and rigid ones, next to each other, and the equations of their surfaces."""

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
class Part:
    """Bodies of one kind: the space of functions on their surface, and the numbers of these among those of the whole
    surface."""

    space: Space
    places: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Fluid(Part):
    """A fluid and its bodies: wavenumber, density_ratio over that outside."""

    wavenumber: complex
    density_ratio: complex

    @property
    def scale(self) -> complex:
        """s = 2 / (1 + r)."""
        return 2 / (1 + self.density_ratio)


def parts_of(
    space: Space, wavenumber: Any, density_ratio: Any, rigid: tuple[int, ...] = ()
) -> tuple[tuple[Fluid, ...], Part | None]:
    """The fluids, one or one for each tag of tables, and the rigid bodies, those with the tags `rigid`. ValueError for
    tables that do not fit together, triangles that are left out or in several, and parts that touch."""
    mesh, tables = space.mesh, [each for each in (wavenumber, density_ratio) if isinstance(each, Mapping)]
    if not tables and not rigid:
        return (Fluid(space, np.arange(space.dimension), wavenumber, density_ratio),), None
    if any(set(each) != set(tables[0]) for each in tables):
        raise ValueError(f"tables of fluids have the same tags, got {[[*each] for each in tables]}")
    others = np.setdiff1d(mesh.tags, rigid).tolist()
    if not others:
        raise ValueError("every tag is in rigid=: a body without a fluid is one of SoundHardScattering")
    fluids = []
    for tag in tables[0] if tables else [others]:
        part = _part(space, tag)
        k, ratio = (each[tag] if isinstance(each, Mapping) else each for each in (wavenumber, density_ratio))
        fluids.append(Fluid(part.space, part.places, k, ratio))
    solid = _part(space, list(rigid)) if rigid else None
    _check_apart(space, [*fluids, *([solid] if solid else [])])
    return tuple(fluids), solid


def _part(space: Space, tags: Any) -> Part:
    part = {"P1": P1, "P2": P2}[space.name](space.mesh, tags)
    places = np.empty(part.dimension, np.int64)
    places[part.dofs] = space.dofs[part.triangles]
    return Part(part, places)


def _check_apart(space: Space, parts: list[Any]) -> None:
    """ValueError unless each triangle and each node belongs to one part."""
    mesh = space.mesh
    covered = np.bincount(np.concatenate([each.space.triangles for each in parts]), minlength=mesh.number_of_triangles)
    if wrong := np.unique(mesh.tags[covered != 1]).tolist():
        raise ValueError(
            f"each tag has one fluid or is rigid, and the tags {wrong} have none or several: names are {mesh.names}"
        )
    seen = np.bincount(np.concatenate([each.places for each in parts]), minlength=space.dimension)
    if shared := int(np.count_nonzero(seen != 1)):
        raise ValueError(
            f"bodies of different fluids, or a fluid and a rigid one, touch at {shared} nodes: they must be apart, and "
            "a tag, or all of rigid=, has all of a body; a fluid behind a wall of which a part is rigid is not covered"
        )


def mueller(outside: Helmholtz, fluids: tuple[Fluid, ...], rigid: Part | None, eta: complex) -> BoundaryOperator:
    """Equations of Mueller's kind, see `FluidTransmission`: rows of values, then of slopes, then of rigid bodies;
    columns of u, then of q, then of u on rigid bodies."""
    k = abs(outside.wavenumber)
    rows: list[list[Any]] = []
    solid = [] if rigid is None else [rigid]
    for a in fluids:
        walls = [-1 * double_layer(outside, b.space, a.space) for b in solid]
        rows.append([_values(outside, a, b) for b in fluids] + [_jumps(outside, k, a, b) for b in fluids] + walls)
    for a in fluids:
        walls = [(a.scale / k) * hypersingular(outside, b.space, a.space) for b in solid]
        rows.append([_slopes(outside, k, a, b) for b in fluids] + [_fluxes(outside, a, b) for b in fluids] + walls)
    for wall in solid:
        values = [_combined(outside, b.space, wall.space, eta) for b in fluids]
        fluxes = [_combined_flux(outside, k, b, wall, eta) for b in fluids]
        rows.append([*values, *fluxes, _burton_miller(outside, wall, eta)])
    return blocks(rows)


def _combined(outside: Helmholtz, trial: Space, test: Space, eta: complex) -> BoundaryOperator:
    """-K + eta D."""
    return eta * hypersingular(outside, trial, test) - double_layer(outside, trial, test)


def _combined_flux(outside: Helmholtz, k: float, b: Fluid, a: Part, eta: complex) -> BoundaryOperator:
    """|k| (V + eta K')."""
    return k * single_layer(outside, b.space, a.space) + (k * eta) * adjoint_double_layer(outside, b.space, a.space)


def _burton_miller(outside: Helmholtz, a: Part, eta: complex) -> BoundaryOperator:
    """See `SoundHardScattering`."""
    return 0.5 * identity(a.space) + _combined(outside, a.space, a.space, eta)


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
