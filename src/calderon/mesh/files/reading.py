"""Surface meshes from files, cleaned with a warning, or refused with advice; and those that ship with the package."""

import os
import re
from importlib import resources
from pathlib import Path

import meshio
import numpy as np
from numpy.typing import NDArray

from calderon.mesh.coincident import compacted, joining_tolerance, sound_triangles, torn_vertices
from calderon.mesh.errors import MeshError, warn
from calderon.mesh.files.content import (
    HEAD,
    Elements,
    commented_names,
    elements,
    file_content,
    held,
    named_tags,
    refuse_mixed_volumes,
)
from calderon.mesh.files.path import mesh_path
from calderon.mesh.files.writing import COMMENT, COUNT, LAST_LINE
from calderon.mesh.sizes import scale_factor
from calderon.mesh.topology import row_numbers
from calderon.mesh.triangles import TriangleMesh

CORNERS = {"triangle": 3, "VTK_LAGRANGE_TRIANGLE": 3, "quad": 4, "VTK_LAGRANGE_QUADRILATERAL": 4, "polygon": 0}
"""Numbers of corners of surface elements, by the beginning of meshio's names: triangle6, quad9, ..."""
OUTWARD_FACES = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]]
"""Of a positively oriented tetrahedron."""
SAMPLES = {
    (name, resolution): f"{name.replace('-', '_')}_{resolution}.npz"
    for name in ("submarine", "bracket", "machine-tool")
    for resolution in ("coarse", "fine")
}


def read(path: str | Path, scale: float = 1.0, tolerance: float | None = None) -> TriangleMesh:
    """Read the triangles of a .msh (2.2 or 4.1), .vtu, .stl, .obj, .ply or .inp file, times scale (1e-3: mm to m).

    Tags: physical groups, element sets, groups or cell data "tags"; names with them. Vertices of open edges that
    coincide within a tolerance (default 1e-7 of the diameter, in the file's unit) are joined, which heals STL and
    torn exports. Each of these gives a MeshWarning: vertices joined (not in STL, where it is the rule), triangles
    without area or repeated dropped, quadrilaterals split, curved triangles flattened, the boundary of tetrahedra
    taken, triangles in several groups or sets, of which the smallest is used. Unused vertices are dropped.

    Raises MeshError for a missing, empty, unreadable or unknown file, an incomplete one, and if it holds no
    surface or elements that are not supported.
    """
    path, scale = mesh_path(path), scale_factor(scale)
    joining_tolerance(tolerance, 1.0)
    content = file_content(path)
    names = {**named_tags(content, 2), **commented_names(path, COMMENT)}
    triangles, tags = _triangles_and_tags(path, _surface(content, path), names)
    _refuse_cut_text(path, len(triangles))
    vertices = content.points
    numbered = len(triangles) == 0 or (triangles.min() >= 0 and triangles.max() < len(vertices))
    if not numbered or not np.isfinite(vertices[triangles]).all():
        return _checked(path, vertices, triangles, tags, names)  # the mesh reports what is wrong
    vertices, triangles, tags = _cleaned(path, vertices, triangles, tags, tolerance)
    return _checked(path, vertices * scale, triangles, tags, names)


def _checked(path: Path, vertices: NDArray, triangles: NDArray, tags: NDArray, names: dict[str, int]) -> TriangleMesh:
    """The mesh; errors name the file."""
    try:
        return TriangleMesh(vertices, triangles, tags, names)
    except MeshError as error:
        raise MeshError(f"{path}: {error}") from None


def _refuse_cut_text(path: Path, number: int) -> None:
    """MeshError for fewer triangles than were written, if a comment says how many, and without the last line that one
    promises; a notice where a text that has no end mark ends within a line."""
    with path.open("rb") as file:
        head = file.read(HEAD)
        file.seek(-1, os.SEEK_END)
        last = file.read()
    if LAST_LINE.encode() in head and b"\n" + LAST_LINE.encode() not in path.read_bytes():
        raise MeshError(f"{path}: incomplete, its last line {LAST_LINE!r} is missing; export it again")
    counted = re.search(re.escape(COUNT.encode()) + rb"(\d+)", head)
    if counted and number < int(counted[1]):
        raise MeshError(f"{path}: incomplete, it holds {number} of {int(counted[1])} triangles; export it again")
    is_text = path.suffix.lower() in (".obj", ".inp") or head.startswith(b"ply") and b"format ascii" in head
    if is_text and last not in b"\r\n":
        warn(f"{path}: the last line does not end; if the file is incomplete, its last triangle is wrong")


def _surface(content: meshio.Mesh, path: Path) -> list[Elements]:
    """Blocks of triangles; the boundary of the tetrahedra if there are no surface elements."""
    blocks = elements(content, path, CORNERS)
    polygons = sum(len(block.corners) for block in blocks if block.corners.shape[1] > 4)
    if polygons:
        raise MeshError(f"{path}: holds {polygons} polygons with more than four corners; triangulate the surface first")
    quads = sum(len(block.corners) for block in blocks if block.corners.shape[1] == 4)
    if quads:
        warn(f"{path}: {quads} quadrilaterals split along their shorter diagonal, concave ones along the inner")
    if blocks:
        return [_split(block, content.points) if block.corners.shape[1] == 4 else block for block in blocks]
    refuse_mixed_volumes(content, path)
    tetrahedra = [np.asarray(each.data)[:, :4].astype(np.int64) for each in content.cells if each.type[:5] == "tetra"]
    if not sum(map(len, tetrahedra)):
        raise MeshError(f"{path}: no triangles (the file holds {held(content)}): mesh the surface, save all elements")
    boundary = _boundary_faces(np.concatenate(tetrahedra))
    warn(f"{path}: no triangles but {held(content)}; their {len(boundary)} boundary faces are used")
    return [Elements(boundary, None, {})]


def _boundary_faces(tetrahedra: NDArray) -> NDArray:
    """Faces (n, 3) that belong to one tetrahedron only, outward for positively oriented tetrahedra."""
    faces = np.concatenate([tetrahedra[:, face] for face in OUTWARD_FACES])
    number = row_numbers(np.sort(faces, axis=1))[1]
    return faces[np.bincount(number)[number] == 1]


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
    path: Path, vertices: NDArray, triangles: NDArray, tags: NDArray, tolerance: float | None
) -> tuple[NDArray, NDArray, NDArray]:
    """Torn vertices joined, useless triangles and unused vertices dropped, each with a warning."""
    used = vertices[triangles.ravel()]
    size = float(np.linalg.norm(used.max(axis=0) - used.min(axis=0)))
    joined = torn_vertices(vertices, triangles, joining_tolerance(tolerance, size))
    moved = np.count_nonzero(joined != np.arange(len(joined)))
    if moved and path.suffix.lower() != ".stl":
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


def sample(name: str, resolution: str = "coarse") -> TriangleMesh:
    """A mesh that ships with the package, in metres.

    "submarine": closed hull of 62 m from the bow at x = -31 m to the stern at x = 31 m, radius 3.5 m, with sail (up to
    z = 7.2 m), sail planes and a cruciform tail; parts are named "hull", "sail", "sail planes", "rudders". Resolution
    "coarse" has edges of about 1 m (for wavelengths above 6 m), "fine" of about 0.5 m (above 3 m). "bracket": two
    plates with a rib and a boss, 120 mm long; faces "base" (underneath), "bolts" (walls of four holes), "bore", "body".
    "machine-tool": bed, column and head, 1.9 m high; faces "floor" (underneath), "table", "spindle" (its nose), "body".

    Raises MeshError for an unknown name or resolution.
    """
    names, resolutions = sorted({key[0] for key in SAMPLES}), sorted({key[1] for key in SAMPLES})
    if name not in names or resolution not in resolutions:
        raise MeshError(
            f"unknown sample {name!r} with resolution {resolution!r}: "
            f"choose the name from {', '.join(map(repr, names))} and resolution {', '.join(map(repr, resolutions))}"
        )
    file = resources.files("calderon.mesh") / "data" / SAMPLES[name, resolution]
    with file.open("rb") as stream, np.load(stream) as data:
        tags = dict(zip(data["names"].tolist(), data["values"].tolist(), strict=True))
        return TriangleMesh(data["vertices"], data["triangles"].astype(np.int64), data["tags"], tags)
