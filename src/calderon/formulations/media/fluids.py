"""Bodies next to each other of different fluids, rigid, or of a fluid behind walls of which a part is rigid: which
parts of a surface they are. Their equations are in `equations.py`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.media.equations import Body, Fluid, Rigid, Vessel
from calderon.spaces import P1, P2, Space


@dataclass(frozen=True, eq=False)
class _Tags:
    """The tags of a surface that are of fluids, in tables or not, and those that are rigid."""

    space: Space
    rigid: tuple[int, ...]

    def triangles(self, tags: Any) -> NDArray[np.bool_]:
        return np.isin(self.space.mesh.tags, tags)

    def walls(self, own: Any) -> tuple[int, ...]:
        """The rigid tags of the bodies that have triangles with the tags `own`; ValueError where such a tag is on
        bodies without a fluid, too."""
        mesh = self.space.mesh
        numbers = mesh.tag_numbers(own)
        if both := np.intersect1d(numbers, self.rigid).tolist():
            raise ValueError(
                f"each tag has one fluid or is rigid, and the tags {both} are both: names are {mesh.names}"
            )
        bodies = np.isin(mesh.components, mesh.components[self.triangles(numbers)])
        found = np.intersect1d(mesh.tags[bodies], self.rigid)
        if np.any(self.triangles(found) & ~bodies):
            raise ValueError(
                f"the rigid tags {found.tolist()} are on a body with the fluid {own!r} and on other bodies: give the "
                "walls of each body, and rigid bodies, tags of their own"
            )
        return tuple(found.tolist())


def bodies_of(space: Space, wavenumber: Any, density_ratio: Any, rigid: tuple[int, ...], eta: complex) -> list[Body]:
    """One fluid, or one for each tag of tables, with the rigid parts of its walls; and the rigid bodies. ValueError for
    tables that do not fit together, triangles that are left out or in several, and bodies that touch."""
    mesh, tables = space.mesh, [each for each in (wavenumber, density_ratio) if isinstance(each, Mapping)]
    if not tables and not rigid:
        return [Fluid(space, wavenumber, density_ratio)]
    if any(set(each) != set(tables[0]) for each in tables):
        raise ValueError(f"tables of fluids have the same tags, got {[[*each] for each in tables]}")
    others = np.setdiff1d(mesh.tags, rigid).tolist()
    if not others:
        raise ValueError("every tag is in rigid=: a body without a fluid is one of SoundHardScattering")
    tags, found, walls = _Tags(space, rigid), list[Body](), set[int]()
    for tag in tables[0] if tables else [others]:
        k, ratio = (each[tag] if isinstance(each, Mapping) else each for each in (wavenumber, density_ratio))
        hard = tags.walls(tag)
        walls |= {*hard}
        found.append(_vessel(space, tag, hard, k, ratio) if hard else Fluid(_part(space, tag), k, ratio))
    if alone := sorted({*rigid} - walls):
        found.append(Rigid(_part(space, alone), eta))
    _check_apart(space, found)
    return found


def _vessel(space: Space, tag: Any, walls: tuple[int, ...], k: Any, ratio: Any) -> Vessel:
    mesh = space.mesh
    if space.name != "P1":
        raise ValueError(f"a body of fluid with walls of which a part is rigid needs space='P1', got {space.name!r}")
    try:
        jumps = P1(mesh, walls, boundary=False)
    except ValueError as error:  # of a part without inner nodes
        raise ValueError(f"the rigid part of a wall, tags {[*walls]}, is too coarse: {error}") from None
    return Vessel(P1(mesh, [*mesh.tag_numbers(tag).tolist(), *walls]), jumps, P1(mesh, tag), k, ratio)


def _part(space: Space, tags: Any) -> Space:
    return {"P1": P1, "P2": P2}[space.name](space.mesh, tags)


def _check_apart(space: Space, bodies: list[Body]) -> None:
    """ValueError unless each triangle and each node belongs to one body."""
    mesh, spaces = space.mesh, [each.surface for each in bodies]
    covered = np.bincount(np.concatenate([each.triangles for each in spaces]), minlength=mesh.number_of_triangles)
    if wrong := np.unique(mesh.tags[covered != 1]).tolist():
        raise ValueError(
            f"each tag has one fluid or is rigid, and the tags {wrong} have none or several: names are {mesh.names}"
        )
    seen = np.bincount(np.concatenate([places_of(each, space) for each in spaces]), minlength=space.dimension)
    if shared := int(np.count_nonzero(seen != 1)):
        raise ValueError(f"bodies of different fluids touch at {shared} nodes: they must be apart")


def places_of(part: Space, space: Space) -> NDArray[np.int64]:
    """The numbers of the functions on a part among those of the whole surface."""
    places = np.empty(part.dimension, np.int64)
    kept = part.dofs >= 0
    places[part.dofs[kept]] = space.dofs[part.triangles][kept]
    return places
