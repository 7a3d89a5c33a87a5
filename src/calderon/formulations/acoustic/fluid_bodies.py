"""Bodies of different fluids next to each other or one within another, rigid ones, and those of a fluid behind walls of
which a part is rigid: which parts of a surface they are. Their equations are in `fluid_equations.py`."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.acoustic.fluid_equations import SURROUNDINGS, Body, FluidBody, RigidBody, Vessel
from calderon.formulations.acoustic.scattering import usual_coupling
from calderon.formulations.checks import enclosing_surfaces
from calderon.mesh import TriangleMesh
from calderon.spaces import P1, P2, Space


def bodies_of(
    space: Space, outside: complex, wavenumber: Any, density_ratio: Any, rigid: tuple[int, ...]
) -> list[Body]:
    """One fluid, or one for each tag of tables, with the rigid parts of its walls; and the rigid bodies. outside: the
    wavenumber around all; density_ratio: over the density there. ValueError for tables that do not fit together,
    triangles that are left out or in several, bodies that touch, and nested ones with one number or one tag."""
    mesh, tables = space.mesh, [each for each in (wavenumber, density_ratio) if isinstance(each, Mapping)]
    if any(set(each) != set(tables[0]) for each in tables):
        raise ValueError(f"tables of fluids have the same tags, got {[[*each] for each in tables]}")
    others = np.setdiff1d(mesh.tags, rigid).tolist()
    if not others:
        raise ValueError("every tag is in rigid=: a body without a fluid is one of SoundHardScattering")
    found, walls = list[Body](), set[int]()
    for tag in tables[0] if tables else [others]:
        k, ratio = (each[tag] if isinstance(each, Mapping) else each for each in (wavenumber, density_ratio))
        hard = _walls(mesh, tag, rigid)
        walls |= {*hard}
        part = space if not tables and not rigid else _part(space, tag)
        found.append(_vessel(space, tag, hard, k, ratio) if hard else FluidBody(part, k, ratio))
    if alone := sorted({*rigid} - walls):
        found.append(RigidBody(_part(space, alone), usual_coupling(outside)))
    _check_apart(space, found)
    return found if mesh.number_of_components == 1 else _nested(mesh, found)


def _walls(mesh: TriangleMesh, own: Any, rigid: tuple[int, ...]) -> tuple[int, ...]:
    """The rigid tags of the bodies that have triangles with the tags `own`, those of a fluid; ValueError where such a
    tag is on bodies without a fluid, too."""
    numbers = mesh.tag_numbers(own)
    if both := np.intersect1d(numbers, rigid).tolist():
        raise ValueError(f"each tag has one fluid or is rigid, and the tags {both} are both: names are {mesh.names}")
    bodies = np.isin(mesh.components, mesh.components[np.isin(mesh.tags, numbers)])
    found = np.intersect1d(mesh.tags[bodies], rigid)
    if np.any(np.isin(mesh.tags, found) & ~bodies):
        raise ValueError(
            f"the rigid tags {found.tolist()} are on a body with the fluid {own!r} and on other bodies: give the walls "
            "of each body, and rigid bodies, tags of their own"
        )
    return tuple(found.tolist())


def _nested(mesh: TriangleMesh, given: list[Body]) -> list[Body]:
    """The bodies with what is directly around them; those of one tag that lie in different ones apart."""
    owner = np.zeros(mesh.number_of_components, np.int64)
    for number, body in enumerate(given):
        owner[mesh.components[body.surface.triangles]] = number
    parts = [TriangleMesh(mesh.vertices, mesh.triangles[mesh.components == c]) for c in range(len(owner))]
    names = [
        f"the closed part with the tags {np.unique(mesh.tags[mesh.components == c]).tolist()}"
        for c in range(len(owner))
    ]
    parents = enclosing_surfaces(parts, names)
    if (parents < 0).all():
        return given
    groups: dict[tuple[int, int], list[int]] = {}
    around = np.full(len(owner), SURROUNDINGS)

    def number_of(part: int) -> int:
        """Number of the body that a closed part belongs to, after those around it."""
        if part >= 0 and around[part] == SURROUNDINGS:
            _check_within(given, owner, parents[part], part, names)
            key = int(owner[part]), number_of(int(parents[part]))
            groups.setdefault(key, []).append(part)
            around[part] = [*groups].index(key)
        return int(around[part]) if part >= 0 else SURROUNDINGS

    for part in range(len(owner)):
        number_of(part)
    found = list[Body]()
    for (number, parent), own in groups.items():
        body = given[number]
        surface = body.surface
        chosen = np.isin(mesh.components[surface.triangles], own)
        surface = surface if chosen.all() else _kept(surface, chosen)
        if isinstance(body, FluidBody):
            ratio = body.density_ratio if parent < 0 else body.density_ratio / given[[*groups][parent][0]].density_ratio  # type: ignore[attr-defined]
            found.append(replace(body, surface=surface, density_ratio=ratio, parent=parent))
        elif isinstance(body, RigidBody):
            eta = body.eta if parent < 0 else usual_coupling(found[parent].wavenumber)  # type: ignore[attr-defined]
            found.append(replace(body, surface=surface, eta=eta, parent=parent))
        else:
            found.append(body)
    return found


def _check_within(given: list[Body], owner: NDArray[np.int64], outer: int, inner: int, names: list[str]) -> None:
    """ValueError for a closed part that does not lie within another one (a number below 0: within none) as computed."""
    if outer < 0:
        return
    around, body = given[owner[outer]], given[owner[inner]]
    where = f"{names[inner]} lies within {names[outer]}"
    if isinstance(around, RigidBody):
        raise ValueError(f"{where}, which is rigid, where no sound comes: leave it out")
    if isinstance(around, Vessel) or isinstance(body, Vessel):
        raise ValueError(f"{where}, and one of them has walls of which a part is rigid: such bodies are not nested")
    if around is body:
        raise ValueError(
            f"{where}, and both have one fluid: give each surface a tag of its own, and tables {{tag: number}} of the "
            "fluids directly inside of each"
        )


def _kept(space: Space, chosen: NDArray[np.bool_]) -> Space:
    """The functions on some closed parts of a space, in the same order."""
    numbers, dofs = np.unique(space.dofs[chosen], return_inverse=True)
    return replace(
        space, triangles=space.triangles[chosen], dofs=dofs.reshape(-1, space.dofs.shape[1]), dimension=len(numbers)
    )


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


def _numbers(part: Space, pieces: Space) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]:
    """Which local functions of the part are used, their numbers in the part, and those among the pieces."""
    used = part.dofs >= 0
    return used, part.dofs[used], pieces.dofs[part.triangles][used]


def summed(loads: NDArray[Any], part: Space, pieces: Space) -> NDArray[Any]:
    """Integrals (dimension,) against the functions of a part, from those against all pieces."""
    _, numbers, places = _numbers(part, pieces)
    real, imaginary = (np.bincount(numbers, each[places], part.dimension) for each in (loads.real, loads.imag))
    return real + 1j * imaginary


def spread(coefficients: NDArray[Any], part: Space, pieces: Space) -> NDArray[Any]:
    """Coefficients of the pieces, from those of the functions of a part; 0 elsewhere."""
    _, numbers, places = _numbers(part, pieces)
    found = np.zeros(pieces.dimension, coefficients.dtype)
    found[places] = coefficients[numbers]
    return found
