"""Surface meshes from files, cleaned with notice, or refused with advice."""

import contextlib
import json
import re
import textwrap
import warnings
from io import StringIO
from pathlib import Path

import meshio
import numpy as np
from numpy.typing import NDArray

from calderon.mesh.coincident import compacted, joining_tolerance, sound_triangles, torn_vertices
from calderon.mesh.errors import MeshError, MeshWarning
from calderon.mesh.sizes import scale_factor
from calderon.mesh.triangles import TriangleMesh
from calderon.mesh.writing import COMMENT

FORMATS = {".msh": "gmsh", ".vtu": "vtu", ".stl": "stl", ".obj": "obj", ".ply": "ply", ".inp": "abaqus"}
TAG_KEYS = [
    "gmsh:physical",
    "tags",
    "tag",
    "medit:ref",
    "cell_tags",
    "CellEntityIds",
    "obj:group_ids",
    "gmsh:geometrical",
]
CORNERS = {"triangle": 3, "triangle6": 3, "triangle7": 3, "quad": 4, "quad8": 4, "quad9": 4}
FACES = {"tetra": [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]]}


def read(path: str | Path, scale: float = 1.0, tolerance: float | None = None) -> TriangleMesh:
    """Read the triangles of a .msh (2.2 or 4.1), .vtu, .stl, .obj, .ply or .inp file, times scale (1e-3: mm to m).

    Tags: physical groups, element sets, groups or cell data "tags"; names with them. Vertices of open edges that
    coincide within a tolerance (default 1e-7 of the diameter, in the file's unit) are joined, which heals STL and
    torn exports. Each of these gives a MeshWarning: vertices joined (not in STL, where it is the rule), triangles
    without area or repeated dropped, quadrilaterals split, curved triangles flattened, the boundary of tetrahedra
    taken. Unused vertices are dropped.

    Raises MeshError for a missing, empty, unreadable or unknown file, and if it holds no surface.
    """
    path, scale = mesh_path(path), scale_factor(scale)
    joining_tolerance(tolerance, 1.0)
    content, names = _content(path)
    blocks = _surface_blocks(content, path)
    triangles, tags = _triangles_and_tags(blocks, names)
    vertices = np.zeros((len(content.points), 3))
    vertices[:, : content.points.shape[1]] = content.points
    if len(triangles) and (triangles.min() < 0 or triangles.max() >= len(vertices) or not np.isfinite(vertices).all()):
        return _checked(path, vertices, triangles, tags, names)
    vertices, triangles, tags = _cleaned(path, vertices, triangles, tags, tolerance)
    return _checked(path, vertices * scale, triangles, tags, names)


def mesh_path(path: str | Path) -> Path:
    """The path of a mesh file; MeshError for what is none."""
    try:
        return Path(path)
    except TypeError:
        raise MeshError(f"meshes are read from files, got {path!r}: give a path such as 'hull.msh'") from None


def _checked(path: Path, vertices: NDArray, triangles: NDArray, tags: NDArray, names: dict[str, int]) -> TriangleMesh:
    """The mesh; errors name the file."""
    try:
        return TriangleMesh(vertices, triangles, tags, names)
    except MeshError as error:
        raise MeshError(f"{path}: {error}") from None


def _content(path: Path) -> tuple[meshio.Mesh, dict[str, int]]:
    """What meshio reads from the file, and the names of tags from the file's comment line."""
    content = file_content(path, FORMATS)
    names = named_tags(content, 2)
    names.update(commented_names(path))
    if path.suffix.lower() == ".obj" and "obj:group_ids" in content.cell_data:
        _name_groups(path, content, names)
    return content, names


def named_tags(content: meshio.Mesh, dimension: int) -> dict[str, int]:
    """{name: tag} of the physical groups of a dimension."""
    fields = content.field_data.items()
    return {name: int(value[0]) for name, value in fields if np.shape(value) == (2,) and value[1] == dimension}


def file_content(path: Path, formats: dict[str, str]) -> meshio.Mesh:
    """What meshio reads from a file of one of the formats {ending: meshio's name}; MeshError says what is wrong."""
    suffix = path.suffix.lower()
    if suffix not in formats:
        raise MeshError(f"{path}: unknown mesh format {suffix!r}; choose {', '.join(formats)}")
    if not path.is_file():
        raise MeshError(f"{path}: no such file")
    if path.stat().st_size == 0:
        raise MeshError(f"{path}: the file is empty; export the mesh again")
    if suffix == ".ply" and b"\nend_header" not in path.read_bytes():  # meshio would look for it for ever
        raise MeshError(f"{path}: cut short, its header does not end: export it again")
    output = StringIO()
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output), np.errstate(all="ignore"):
            return meshio.read(path, file_format=formats[suffix])
    except (Exception, SystemExit) as error:  # meshio meets broken files with anything from KeyError to SystemExit
        told = "" if isinstance(error, SystemExit) else f"{type(error).__name__}: {error}"  # an exit code says nothing
        reason = textwrap.shorten(f"{told} {output.getvalue()}", 200, placeholder=" ...") or "no reason given"
        raise MeshError(
            f"{path}: cannot be read as a {suffix} file ({reason}); it may be cut short, or of another format than its "
            "name says: export it again, or open it in gmsh and save it as .msh"
        ) from None


def _name_groups(path: Path, content: meshio.Mesh, names: dict[str, int]) -> None:
    """Turn meshio's running numbers of the "g" lines into tags: those of the comment line, or 1, 2, ... by name."""
    with path.open(errors="ignore") as file:
        groups = [line[1:].strip() or "default" for line in file if line.split()[:1] == ["g"]]
    for name in groups:
        if name not in names:
            names[name] = max([0, *names.values()]) + 1
    tag_of = np.array([*(names[name] for name in groups), 0])
    content.cell_data["obj:group_ids"] = [tag_of[np.asarray(ids)] for ids in content.cell_data["obj:group_ids"]]


def commented_names(path: Path, comment: str = COMMENT) -> dict[str, int]:
    """The names {name: tag} that were left in a comment among the first lines when the file was written."""
    with path.open("rb") as file:
        head = file.read(65536).decode("utf-8", errors="ignore")
    found = re.search(re.escape(comment) + r"(\{.*?\})", head)
    if not found:
        return {}
    try:
        return {str(name): int(tag) for name, tag in json.loads(found.group(1)).items()}
    except (ValueError, TypeError):
        return {}


def _surface_blocks(content: meshio.Mesh, path: Path) -> list[tuple[NDArray, NDArray | None, dict[str, NDArray]]]:
    """(corners, tags or None, element sets) of each surface block; of the tetrahedra's boundary if there is none."""
    sets = {k: v for k, v in content.cell_sets.items() if not k.startswith("gmsh:")}
    blocks = []
    for i, cells in enumerate(content.cells):
        if cells.type not in CORNERS or len(cells.data) == 0:
            continue
        key = next((key for key in TAG_KEYS if key in content.cell_data), None)
        tags = None if key is None else np.asarray(content.cell_data[key][i]).reshape(len(cells.data), -1)[:, 0]
        own = {name: np.asarray(ids[i], dtype=np.int64) for name, ids in sets.items() if ids[i] is not None}
        if CORNERS[cells.type] < cells.data.shape[1]:
            _notice(
                f"{path}: {len(cells.data)} curved elements ({cells.type}) replaced by flat ones through the corners"
            )
        blocks.append((np.asarray(cells.data)[:, : CORNERS[cells.type]].astype(np.int64), tags, own))
    held = ", ".join(sorted({f"{len(cells.data)} {cells.type}" for cells in content.cells})) or "nothing"
    polygons = sum(len(cells.data) for cells in content.cells if cells.type.startswith("polygon"))
    if polygons:
        raise MeshError(f"{path}: holds {polygons} polygons of more than four corners; triangulate the surface first")
    if blocks:
        quads = [i for i, block in enumerate(blocks) if block[0].shape[1] == 4]
        if quads:
            _notice(
                f"{path}: {sum(len(blocks[i][0]) for i in quads)} quadrilaterals split along their shorter diagonal"
            )
        return [_split(block, content.points) if i in quads else block for i, block in enumerate(blocks)]
    tetrahedra = [
        np.asarray(cells.data)[:, :4].astype(np.int64) for cells in content.cells if cells.type in ("tetra", "tetra10")
    ]
    if not tetrahedra or not sum(map(len, tetrahedra)):
        raise MeshError(f"{path}: no triangles (the file holds {held}); mesh the surface, save all")
    boundary = _boundary_faces(np.concatenate(tetrahedra))
    _notice(f"{path}: no triangles but {held}; their {len(boundary)} boundary faces are taken")
    return [(boundary, None, {})]


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
    """A block of quadrilaterals as triangles, cut along the shorter diagonal."""
    quads, tags, sets = block
    diagonals = [np.linalg.norm(points[quads[:, i]] - points[quads[:, i + 2]], axis=1) for i in (0, 1)]
    first = (diagonals[0] <= diagonals[1] * (1 + 1e-12))[:, None, None]
    triangles = np.where(first, quads[:, [[0, 1, 2], [0, 2, 3]]], quads[:, [[0, 1, 3], [1, 2, 3]]]).reshape(-1, 3)
    return (
        triangles,
        None if tags is None else np.repeat(tags, 2),
        {name: np.concatenate([2 * ids, 2 * ids + 1]) for name, ids in sets.items()},
    )


def _triangles_and_tags(blocks: list, names: dict[str, int]) -> tuple[NDArray, NDArray]:
    """All triangles with their tags; element sets become tags, numbered as the comment says or in their order."""
    tags = []
    for corners, given, sets in blocks:
        own = np.zeros(len(corners), dtype=np.int64) if given is None else np.asarray(given, dtype=np.int64)
        for name, ids in sets.items() if given is None else ():
            if name not in names:
                names[name] = max(names.values(), default=0) + 1
            own[ids] = names[name]
        tags.append(own)
    return np.concatenate([block[0] for block in blocks]), np.concatenate(tags)


def _cleaned(
    path: Path, vertices: NDArray, triangles: NDArray, tags: NDArray, tolerance: float | None
) -> tuple[NDArray, NDArray, NDArray]:
    """Torn vertices joined, useless triangles and unused vertices dropped, each with a notice."""
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
