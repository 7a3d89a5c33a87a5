"""Right-hand sides of the equation of single traces: potentials of sources, tested by reciprocity."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.statics.coils import tested_coil
from calderon.formulations.statics.equation import block_operator, green_of
from calderon.formulations.statics.skeleton import OUTSIDE, Skeleton
from calderon.formulations.statics.unknowns import Traces, Unknowns
from calderon.operators import identity
from calderon.potentials.near_evaluation import point_distances
from calderon.potentials.of_functions import potentials_of_functions
from calderon.waves import CurrentPath, PointCharge, StaticDipole, UniformField

Source = PointCharge | StaticDipole | UniformField | CurrentPath
ON_WALL = 1e-6
"""Distance from a wall, in diameters of the mesh, below which a source lies on it."""


def regions_of(sources: Sequence[Any], skeleton: Skeleton) -> list[int]:
    """The number of the region of each source; TypeError for what is none, ValueError for one on a wall, in metal, and
    for a uniform field without an outside, where it comes from."""
    for each in sources:
        kind = next(iter(skeleton.regions.values())).kind.name
        if isinstance(each, PointCharge) and kind == "permeability":
            raise ValueError("there are no magnetic charges: take a StaticDipole or a UniformField")
        if isinstance(each, CurrentPath) and kind != "permeability":
            raise ValueError("the field of a CurrentPath is magnetic: give regions with permeability=")
        if isinstance(each, UniformField) and (skeleton.outside is None or skeleton.regions[OUTSIDE].decay):
            raise ValueError("a uniform field comes from far away: it needs an outside, without ions")
    outer = -1 if skeleton.outside is None else skeleton.outside
    return [outer if isinstance(each, UniformField) else _region_of(each, skeleton) for each in sources]


def _region_of(source: Any, skeleton: Skeleton) -> int:
    """The number of the region of a source at a place, or of a coil; ValueError for a coil that meets walls."""
    if not isinstance(source, CurrentPath):
        return region_at(source.position, skeleton)
    wires = np.roll(source.points, -1, axis=0) - source.points
    lengths = np.linalg.norm(wires, axis=1)
    parts = np.clip(np.ceil(lengths / skeleton.mesh.mean_edge_length), 1, 200).astype(int)
    places = [a + np.arange(n)[:, None] / n * d for a, d, n in zip(source.points, wires, parts, strict=True)]
    found = skeleton.located(np.concatenate(places))
    if found.min() != found.max() or found[0] < 0:
        raise ValueError("a coil lies within one region: this one passes through walls, or lies in none")
    return int(found[0])


def region_at(place: NDArray[np.float64], skeleton: Skeleton) -> int:
    """The number of the region of a source at a place (3,); ValueError on a wall and in metal."""
    mesh = skeleton.mesh
    distances = point_distances(np.broadcast_to(place, (mesh.number_of_triangles, 3)), mesh.vertices[mesh.triangles])
    if distances.min() < ON_WALL * mesh.diameter:
        raise ValueError(f"the source at {place.tolist()} lies on triangle {distances.argmin()} of a wall: move it off")
    found = int(skeleton.located(place[None])[0])
    if found < 0:
        raise ValueError(f"the source at {place.tolist()} lies in metal, or where no region is: move it")
    return found


def source_loads(sources: Sequence[Source], unknowns: Unknowns) -> NDArray[np.float64]:
    """(n,) -<v, a ds/dn> in rows of potentials, -<p, s> in those of fluxes; s: the potential of the sources."""
    total = np.zeros(unknowns.dimension)
    where = regions_of(sources, unknowns.skeleton)
    for number, traces in enumerate(unknowns.traces):
        own = [each for each, region in zip(sources, where, strict=True) if region == number]
        if own:
            total -= traces.from_unknowns.T @ _tested(own, traces)
    return total


def density_loads(given: NDArray[np.float64], unknowns: Unknowns) -> NDArray[np.float64]:
    """(n,) of given fluxes (2, coefficients) t of both sides of the skeleton: -A t, and <v, t> / 2 in rows of
    potentials."""
    total = np.zeros(unknowns.dimension)
    for traces in unknowns.traces:
        own = given.ravel()[traces.places]
        if not own.any():
            continue
        space: Any = traces.potentials
        count = len(traces.nodes)
        region = traces.surface.region
        operator = block_operator(space, traces.fluxes, green_of(region)).assemble("matrix-free")
        load = -(operator @ np.concatenate([np.zeros(count), own / region.constant]))
        load[:count] *= region.constant
        load[:count] += identity(space, traces.fluxes).assemble().T @ own / 2
        total += traces.from_unknowns.T @ load
    return total


def _tested(sources: Sequence[Source], traces: Traces) -> NDArray[np.float64]:
    """(potentials + fluxes,) <v, a ds/dn> and <p, s> of sources in one region."""
    region, green = traces.surface.region, green_of(traces.surface.region)
    a, factor = region.constant, region.kind.factor
    spaces = [*((traces.potentials,) if traces.potentials is not None else ()), traces.fluxes]
    parts = [np.zeros(space.dimension) for space in spaces]
    for each in sources:
        if isinstance(each, CurrentPath):
            for part, load in zip(parts, tested_coil(each, traces), strict=True):
                part += load
            continue
        for part, space in zip(parts, spaces, strict=True):
            on_walls = space is traces.potentials
            if isinstance(each, UniformField):
                slope = -each.field
                part += space.load_vector((lambda x, n, g=slope: a * (n @ g)) if on_walls else each.potential)
                continue
            tested = potentials_of_functions(
                green, space, each.position, double=on_walls, gradient=isinstance(each, StaticDipole)
            )[0]
            load = tested @ each.moment if isinstance(each, StaticDipole) else each.charge * tested
            part += load / (factor if on_walls else factor * a)
    return np.concatenate(parts)
