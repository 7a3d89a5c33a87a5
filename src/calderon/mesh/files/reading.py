"""Surface meshes from files, cleaned with a warning, or refused with advice."""

import contextlib
import json
import os
import re
import textwrap
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from io import StringIO
from pathlib import Path

import meshio
import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.mesh.coincident import compacted, joining_tolerance, sound_triangles, torn_vertices
from calderon.mesh.errors import MeshError, MeshWarning
from calderon.mesh.files.abaqus import read_abaqus
from calderon.mesh.files.gmsh import read_gmsh
from calderon.mesh.files.obj import read_obj
from calderon.mesh.files.ply import read_ply
from calderon.mesh.files.stl import read_stl
from calderon.mesh.files.vtu import read_vtu
from calderon.mesh.files.whole_file import mesh_path
from calderon.mesh.files.writing import COMMENT, COUNT, LAST_LINE
from calderon.mesh.sizes import scale_factor
from calderon.mesh.triangles import TriangleMesh

FORMATS = {".msh": "gmsh", ".vtu": "vtu", ".stl": "stl", ".obj": "obj", ".ply": "ply", ".inp": "abaqus"}
READERS = {
    ".msh": read_gmsh,
    ".vtu": read_vtu,
    ".stl": read_stl,
    ".obj": read_obj,
    ".ply": read_ply,
    ".inp": read_abaqus,
}
"""Readers that parse a format themselves, or check the result of meshio."""
HEAD = 65536
"""Bytes of a file in which comments are searched."""
TAG_KEYS = [
    "gmsh:physical",
    "tags",
    "tag",
    "medit:ref",
    "cell_tags",
    "CellEntityIds",
    "gmsh:geometrical",
]
CORNERS = {"triangle": 3, "VTK_LAGRANGE_TRIANGLE": 3, "quad": 4, "VTK_LAGRANGE_QUADRILATERAL": 4}
"""Numbers of corners of surface elements, by the beginning of meshio's names: triangle6, quad9, ..."""
FACES = {"tetra": [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]]}


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
    content, names = _content(path)
    blocks = _surface_blocks(content, path)
    triangles, tags = _triangles_and_tags(path, blocks, names)
    _refuse_cut_text(path, len(triangles))
    vertices = np.zeros((len(content.points), 3))
    vertices[:, : content.points.shape[1]] = content.points
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


def _content(path: Path) -> tuple[meshio.Mesh, dict[str, int]]:
    """What meshio reads from the file, and the names of tags from the file's comment line."""
    content = file_content(path, FORMATS)
    tell_of_reading(content, path)
    names = named_tags(content, 2)
    names.update(commented_names(path))
    return content, names


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
        _notice(f"{path}: the last line does not end; if the file is incomplete, its last triangle is wrong")


def tell_of_reading(content: meshio.Mesh, path: Path) -> None:
    """Issue the warnings of the format's reader; it cannot warn itself, since its output is kept for errors."""
    for sentence in content.info or ():
        _notice(f"{path}: {sentence}")


def named_tags(content: meshio.Mesh, dimension: int) -> dict[str, int]:
    """{name: tag} of the physical groups of a dimension."""
    fields = content.field_data.items()
    return {name: int(value[0]) for name, value in fields if np.shape(value) == (2,) and value[1] == dimension}


def file_content(path: Path, formats: dict[str, str]) -> meshio.Mesh:
    """What meshio reads from a file of one of the formats {ending: meshio's name}; MeshError reports what is wrong."""
    suffix = path.suffix.lower()
    if suffix not in formats:
        raise MeshError(f"{path}: unknown mesh format {suffix!r}; choose {', '.join(formats)}")
    try:
        is_file, is_folder = path.is_file(), path.is_dir()
    except OSError as error:  # a name that is too long, a folder that may not be entered
        raise MeshError(f"{path}: {(error.strerror or 'no file').lower()}; give the path of a mesh file") from None
    if not is_file:
        raise MeshError(f"{path}: {'a folder, not a file' if is_folder else 'no such file'}")
    if path.stat().st_size == 0:
        raise MeshError(f"{path}: the file is empty; export the mesh again")
    output = StringIO()
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output), np.errstate(all="ignore"):
            return READERS[suffix](path) if suffix in READERS else meshio.read(path, file_format=formats[suffix])
    except MeshError as error:
        raise MeshError(f"{path}: {error}") from None
    except (Exception, SystemExit) as error:  # meshio raises anything from KeyError to SystemExit for broken files
        cause = "" if isinstance(error, SystemExit) else f"{type(error).__name__}: {error}"  # an exit code says nothing
        reason = textwrap.shorten(f"{cause} {output.getvalue()}", 200, placeholder=" ...") or "no reason given"
        raise MeshError(
            f"{path}: cannot be read as a {suffix} file ({reason}); it may be incomplete, or of another format "
            "than its name indicates: export it again, or open it in gmsh and save it as .msh"
        ) from None


def commented_names(path: Path, comment: str = COMMENT) -> dict[str, int]:
    """The names {name: tag} that were left in a comment among the first lines when the file was written."""
    with path.open("rb") as file:
        begin = file.read(HEAD).find(comment.encode())
        if begin < 0:
            return {}
        file.seek(begin + len(comment.encode()))
        line = file.readline().decode("utf-8", errors="ignore")
    try:
        given = json.JSONDecoder().raw_decode(line)[0]  # the comment may end after it
        return {str(name): int(tag) for name, tag in given.items()}
    except (ValueError, TypeError, AttributeError):
        return {}


def _surface_blocks(content: meshio.Mesh, path: Path) -> list[tuple[NDArray, NDArray | None, dict[str, NDArray]]]:
    """(corners, tags or None, element sets) of each surface block; of the tetrahedra's boundary if there is none."""
    sets = {k: v for k, v in content.cell_sets.items() if not k.startswith("gmsh:")}
    blocks: list[tuple[NDArray, NDArray | None, dict[str, NDArray]]] = []
    curved: Counter[str] = Counter()
    for i, cells in enumerate(content.cells):
        number = _number_of_corners(cells, path)
        if not number:
            continue
        key = next((key for key in TAG_KEYS if key in content.cell_data), None)
        tags = None if key is None else whole_tags(content.cell_data[key][i], key, path)
        own = {name: np.asarray(ids[i], dtype=np.int64) for name, ids in sets.items() if ids[i] is not None}
        if number < cells.data.shape[1]:
            curved[cells.type] += len(cells.data)
        blocks.append((np.asarray(cells.data)[:, :number].astype(np.int64), tags, own))
    tell_of_curved(path, curved)
    if blocks:
        quads = sum(len(block[0]) for block in blocks if block[0].shape[1] == 4)
        if quads:
            _notice(f"{path}: {quads} quadrilaterals split along their shorter diagonal, concave ones along the inner")
        return [_split(block, content.points) if block[0].shape[1] == 4 else block for block in blocks]
    refuse_mixed_volumes(content, path)
    tetrahedra = [np.asarray(each.data)[:, :4].astype(np.int64) for each in content.cells if each.type[:5] == "tetra"]
    if not tetrahedra or not sum(map(len, tetrahedra)):
        raise MeshError(f"{path}: no triangles (the file holds {held(content)}): mesh the surface, save all elements")
    boundary = _boundary_faces(np.concatenate(tetrahedra))
    _notice(f"{path}: no triangles but {held(content)}; their {len(boundary)} boundary faces are used")
    return [(boundary, None, {})]


def _number_of_corners(cells: meshio.CellBlock, path: Path) -> int:
    """3 or 4 for surface elements, 0 for others."""
    if len(cells.data) == 0:
        return 0
    if cells.type.startswith("polygon"):
        number = np.shape(cells.data)[1]
        if number > 4:
            raise MeshError(
                f"{path}: holds {len(cells.data)} polygons with more than four corners; triangulate the surface first"
            )
    else:
        number = next((number for name, number in CORNERS.items() if cells.type.startswith(name)), 0)
    if number and (cells.data.ndim != 2 or cells.data.shape[1] < max(3, number)):
        raise MeshError(f"{path}: {len(cells.data)} elements without corners; it is incomplete: export it again")
    return number


def held(content: meshio.Mesh, kinds: Callable[[str], bool] = bool) -> str:
    """What a file holds, or elements of some kinds, as text: "8 line, 4 tetra"."""
    counts: Counter[str] = Counter()
    for cells in content.cells:
        counts[cells.type] += len(cells.data)
    return ", ".join(f"{counts[kind]} {kind}" for kind in sorted(counts) if kinds(kind)) or "nothing"


def refuse_mixed_volumes(content: meshio.Mesh, path: Path) -> None:
    """MeshError for hexahedra, wedges or pyramids in addition to tetrahedra: without them the volume would have holes,
    and a boundary where they meet the tetrahedra."""
    solid = {cells.type for cells in content.cells if cells.dim == 3 and len(cells.data)}
    tetrahedra = {kind for kind in solid if kind.startswith("tetra")}
    if tetrahedra and solid > tetrahedra:
        raise MeshError(
            f"{path}: holds {held(content, (solid - tetrahedra).__contains__)} and "
            f"{held(content, tetrahedra.__contains__)}, but volumes are read from tetrahedra only: mesh the volume "
            "with these alone, or its surface with triangles"
        )


def whole_tags(values: ArrayLike, key: str, path: Path) -> NDArray[np.int64]:
    """Tags (n,) of the elements of a block, or MeshError for invalid values."""
    given = np.asarray(values)
    given = given.reshape(len(given), -1)
    if given.shape[1] > 1:
        raise MeshError(
            f"{path}: the cell data {key!r} hold {given.shape[1]} numbers for each element, but a tag is one number; "
            "rename them, or write one integer"
        )
    with np.errstate(invalid="ignore"):  # NaN, which the comparison detects
        tags = given.astype(np.int64)
    if (tags != given).any():
        raise MeshError(
            f"{path}: the cell data {key!r} hold {np.count_nonzero(tags != given)} tags that are not integers, such as "
            f"{given[tags != given][0]:g}; round them, or rename the data if they are not tags"
        )
    return tags.ravel()


def tell_of_curved(path: Path, curved: Mapping[str, int]) -> None:
    """Report once for each kind of element how many are flattened, even if a file has a block of them for each face."""
    for kind, count in curved.items():
        _notice(f"{path}: {count} curved elements ({kind}) replaced by flat ones through the corners")


def _boundary_faces(tetrahedra: NDArray) -> NDArray:
    """Faces (n, 3) that belong to one tetrahedron only, outward for positively oriented tetrahedra."""
    faces = np.concatenate([tetrahedra[:, face] for face in FACES["tetra"]])
    ordered = np.sort(faces, axis=1)
    order = np.lexsort(ordered.T)
    ordered = ordered[order]
    same = (ordered[1:] == ordered[:-1]).all(axis=1)
    single = np.ones(len(faces), dtype=bool)
    single[order[1:][same]] = False
    single[order[:-1][same]] = False
    return faces[single]


def _split(block: tuple, points: NDArray) -> tuple[NDArray, NDArray | None, dict[str, NDArray]]:
    """Split a block of quadrilaterals into triangles."""
    quads, tags, sets = block
    return (
        split_quadrilaterals(quads, points),
        None if tags is None else np.repeat(tags, 2),
        {name: np.concatenate([2 * ids, 2 * ids + 1]) for name, ids in sets.items()},
    )


def _triangles_and_tags(path: Path, blocks: list, names: dict[str, int]) -> tuple[NDArray, NDArray]:
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
        _notice(f"{path}: {several} elements are in several sets ({', '.join(sizes)}): the smallest of them is used")
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
        _notice(f"{path}: {moved} vertices on open edges coincide with others and are joined to them")
    triangles = joined[triangles]
    with_area, once = sound_triangles(vertices, triangles)
    if not with_area.all():
        _notice(f"{path}: {np.count_nonzero(~with_area)} triangles without area dropped")
    if not once.all():
        _notice(f"{path}: {np.count_nonzero(~once)} triangles that repeat others dropped")
    keep = with_area & once
    if not keep.any():
        raise MeshError(f"{path}: all {len(keep)} triangles are degenerate; check the file's precision and units")
    vertices, triangles = compacted(vertices, triangles[keep])
    return vertices, triangles, tags[keep]


def _notice(text: str) -> None:
    warnings.warn(text, MeshWarning, stacklevel=2)


def split_quadrilaterals(quads: NDArray, points: NDArray) -> NDArray[np.int64]:
    """Triangles (2 n, 3), two after each other for each of the quads (n, 4) with corners among the points (np, 2 or 3).

    They are cut along the shorter diagonal, or along the inner one where the other lies outside or on an edge: its two
    triangles do not face the same side.
    """
    cuts = np.array([[[0, 1, 2], [0, 2, 3]], [[0, 1, 3], [1, 2, 3]]])
    corners = np.zeros((*quads.shape, 3))
    corners[..., : points.shape[1]] = points[quads]
    lengths = [np.linalg.norm(corners[:, i] - corners[:, i + 2], axis=1) for i in (0, 1)]
    inner = []
    for cut in cuts:
        a, b, c = np.moveaxis(corners[:, cut], 2, 0)
        normals = np.cross(b - a, c - a)
        inner.append(np.einsum("ni,ni->n", normals[:, 0], normals[:, 1]) > 0)
    shorter = lengths[0] <= lengths[1] * (1 + 1e-12)
    first = np.where(inner[0] == inner[1], shorter, inner[0])
    return np.asarray(np.where(first[:, None, None], quads[:, cuts[0]], quads[:, cuts[1]]).reshape(-1, 3))
