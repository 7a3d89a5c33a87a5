"""The triangles of a mesh from elsewhere: joined, cleaned with a warning, or refused with advice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.mesh.coincident import compacted, joining_tolerance, sound_triangles, torn_vertices
from calderon.mesh.errors import MeshError, warn
from calderon.mesh.files.content import Elements, elements, held, named_tags, refuse_mixed_volumes
from calderon.mesh.files.file_mesh import FileMesh
from calderon.mesh.files.skins import skin

SURFACE_CORNERS = {"triangle": 3, "VTK_LAGRANGE_TRIANGLE": 3, "quad": 4, "VTK_LAGRANGE_QUADRILATERAL": 4, "polygon": 0}
"""Numbers of corners of surface elements, by the beginning of meshio's names: triangle6, quad9, ..."""


class Surface(NamedTuple):
    """The arguments of a `TriangleMesh`."""

    vertices: NDArray[np.float64]
    triangles: NDArray[np.int64]
    tags: NDArray[np.int64]
    names: dict[str, int]


def surface_of(
    content: FileMesh,
    path: Path,
    scale: float,
    tolerance: float | None = None,
    names: dict[str, int] | None = None,
    count: Callable[[int], None] = lambda number: None,
    is_soup: bool = False,
) -> Surface:
    """The surface of the content of a file, or of a mesh of another package, whose name is the path.

    names: of tags that comments of a file give; others without triangles are left out with a warning, but kept if there
    is no file. count: a check of the number of triangles before they are cleaned. is_soup: as of `Format`. What
    is wrong beyond repair is left to the checks of the mesh.
    """
    given, commented = named_tags(content, 2), names
    names = {**given, **(commented or {})}
    triangles, tags = _triangles_and_tags(path, _surface(content, path), names)
    if commented is not None:
        for name in (unused := sorted(set(given) - set(commented) - {n for n, tag in names.items() if tag in tags})):
            del names[name]
        if unused:
            warn(f"{path}: groups without triangles, whose names are left out: {', '.join(unused)}")
    count(len(triangles))
    vertices = content.points
    numbered = len(triangles) == 0 or (triangles.min() >= 0 and triangles.max() < len(vertices))
    if not numbered or not np.isfinite(vertices[triangles]).all():
        return Surface(vertices, triangles, tags, names)
    vertices, triangles, tags = _cleaned(path, vertices, triangles, tags, tolerance, is_soup)
    return Surface(vertices * scale, triangles, tags, names)


def _surface(content: FileMesh, path: Path) -> list[Elements]:
    """Blocks of triangles; the boundary of the tetrahedra if there are no surface elements."""
    blocks = elements(content, path, SURFACE_CORNERS)
    polygons = sum(len(block.corners) for block in blocks if block.corners.shape[1] > 4)
    if polygons:
        raise MeshError(f"{path}: holds {polygons} polygons with more than four corners; triangulate the surface first")
    # quadrilaterals are split
    quads = sum(len(block.corners) for block in blocks if block.corners.shape[1] == 4)
    if quads:
        warn(f"{path}: {quads} quadrilaterals split along their shorter diagonal, concave ones along the inner")
    if blocks:
        return [_split(block, content.points) if block.corners.shape[1] == 4 else block for block in blocks]
    # without surface elements: the boundary of the tetrahedra
    refuse_mixed_volumes(content, path)
    tetrahedra = [np.asarray(each.data)[:, :4].astype(np.int64) for each in content.cells if each.type[:5] == "tetra"]
    if not sum(map(len, tetrahedra)):
        raise MeshError(
            f"{path}: no triangles (the file holds {held(content)}): mesh the surface, in gmsh for example, and save "
            "all elements"
        )
    try:
        boundary = skin([("tetra", np.concatenate(tetrahedra))])[0][0]
    except MeshError as error:
        raise MeshError(f"{path}: {error}") from None
    warn(f"{path}: no triangles but {held(content)}; their {len(boundary)} boundary faces are used")
    return [Elements(boundary, None, {})]


def _split(block: Elements, points: NDArray) -> Elements:
    """Quadrilaterals as triangles."""
    return Elements(
        split_quadrilaterals(block.corners, points),
        None if block.tags is None else np.repeat(block.tags, 2),
        {name: np.concatenate([2 * ids, 2 * ids + 1]) for name, ids in block.sets.items()},
    )


def _triangles_and_tags(path: Path, blocks: list[Elements], names: dict[str, int]) -> tuple[NDArray, NDArray]:
    """All triangles with their tags. Element sets become tags, numbered as the comment says or in their order; where
    several hold a triangle the smallest is used, and of equal ones the later."""
    sizes: dict[str, int] = {}
    for _, given, sets in blocks:
        for name, ids in sets.items() if given is None else ():
            sizes[name] = sizes.get(name, 0) + len(ids)
    numbers = dict(names)
    for name in sizes:
        numbers.setdefault(name, max(numbers.values(), default=0) + 1)
    tags, several = [], 0
    for corners, given, sets in blocks:
        own = np.zeros(len(corners), dtype=np.int64) if given is None else np.asarray(given, dtype=np.int64)
        held = np.zeros(len(corners), dtype=np.int64)
        for name in sorted(sets if given is None else (), key=lambda name: -sizes[name]):
            own[sets[name]] = numbers[name]
            held[sets[name]] += 1
        several += int(np.count_nonzero(held > 1))
        tags.append(own)
    all_tags = np.concatenate(tags)
    names.update({name: numbers[name] for name in sizes if numbers[name] in all_tags})
    if several:
        warn(f"{path}: {several} elements are in several sets ({', '.join(sizes)}): the smallest of them is used")
    return np.concatenate([block[0] for block in blocks]), all_tags


def _cleaned(
    path: Path, vertices: NDArray, triangles: NDArray, tags: NDArray, tolerance: float | None, is_soup: bool
) -> tuple[NDArray, NDArray, NDArray]:
    """Torn vertices joined, useless triangles and unused vertices dropped, each with a warning."""
    used = vertices[triangles.ravel()]
    size = float(np.linalg.norm(used.max(axis=0) - used.min(axis=0)))
    joined = torn_vertices(vertices, triangles, joining_tolerance(tolerance, size))
    moved = np.count_nonzero(joined != np.arange(len(joined)))
    if moved and not is_soup:
        warn(f"{path}: {moved} vertices on open edges coincide with others and are joined to them")
    triangles = joined[triangles]
    with_area, once = sound_triangles(vertices, triangles)
    if not with_area.all():
        warn(f"{path}: {np.count_nonzero(~with_area)} triangles without area dropped")
    if not once.all():
        warn(f"{path}: {np.count_nonzero(~once)} triangles that repeat others dropped")
    keep = with_area & once
    if not keep.any():
        raise MeshError(f"{path}: all {len(keep)} triangles are degenerate; check the file's precision and units")
    vertices, triangles = compacted(vertices, triangles[keep])
    return vertices, triangles, tags[keep]


def split_quadrilaterals(quads: NDArray, points: NDArray) -> NDArray[np.int64]:
    """Triangles (2 n, 3), two after each other for each of the quads (n, 4) with corners among the points (np, 3).

    They are cut along the shorter diagonal, or along the inner one where the other lies outside or on an edge: its two
    triangles do not face the same side.
    """
    cuts = np.array([[[0, 1, 2], [0, 2, 3]], [[0, 1, 3], [1, 2, 3]]])
    corners = points[quads]
    lengths = [np.linalg.norm(corners[:, i] - corners[:, i + 2], axis=1) for i in (0, 1)]
    inner = []
    for cut in cuts:
        a, b, c = np.moveaxis(corners[:, cut], 2, 0)
        normals = np.cross(b - a, c - a)
        inner.append(np.einsum("ni,ni->n", normals[:, 0], normals[:, 1]) > 0)
    shorter = lengths[0] <= lengths[1] * (1 + 1e-12)
    first = np.where(inner[0] == inner[1], shorter, inner[0])
    return np.asarray(np.where(first[:, None, None], quads[:, cuts[0]], quads[:, cuts[1]]).reshape(-1, 3))
