"""Contents of mesh files, of surfaces and volumes alike: elements with tags and names, or an error with advice."""

from __future__ import annotations

import contextlib
import json
import textwrap
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.mesh.errors import MeshError, warn
from calderon.mesh.files.file_mesh import FileMesh
from calderon.mesh.files.formats.catalogue import format_of, suffixes

SCRIPTS = (".geo", ".geo_unrolled")
"""Endings of gmsh's programs, which are not run."""
FIRST_BYTES = 65536
"""Bytes of a file in which comments are searched."""
TAG_KEYS = [
    "gmsh:physical", "tags", "tag", "medit:ref", "nastran:ref", "cell_tags", "CellEntityIds", "gmsh:geometrical",
]  # fmt: skip
"""Cell data that hold tags, the first of them that occurs."""


def mesh_path(path: str | Path) -> Path:
    """The path of a mesh file; MeshError if it is not a path."""
    try:
        return Path(path)
    except TypeError:
        raise MeshError(f"a mesh is stored in a file, got {path!r}: give a path such as 'hull.msh'") from None


class Elements(NamedTuple):
    """A block of elements of one kind: corners (n, 3 or 4), tags (n,) unless the file has none, and by the names of
    element sets the numbers of their elements."""

    corners: NDArray[np.int64]
    tags: NDArray[np.int64] | None
    sets: Mapping[str, NDArray[np.int64]]


def file_content(path: Path, volumes: bool = False) -> FileMesh:
    """The content of a file, its points with three coordinates; volumes: in a format that holds tetrahedra.

    The messages of the format's reader are issued as warnings. Raises MeshError that reports what is wrong.
    """
    suffix = path.suffix.lower()
    if suffix in SCRIPTS:
        raise MeshError(
            f"{path}: {suffix} files are programs of gmsh, which may run others: mesh it by gmsh -2 {path.name}, and "
            "read the .msh file"
        )
    # a format that can be read
    form = format_of(suffix)
    if form is None or form.read is None or (volumes and form.write_volume is None):
        known = ", ".join(suffixes(read=True, volumes=volumes))
        raise MeshError(f"{path}: unknown mesh format {suffix!r}; choose {known}")
    try:
        # a file with content
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            path.stat()
    except OSError as error:  # a name that is too long, a folder that may not be entered: exists() does not raise it
        raise MeshError(f"{path}: {(error.strerror or 'no file').lower()}; give the path of a mesh file") from None
    if not path.is_file():
        raise MeshError(f"{path}: {'a folder, not a file' if path.is_dir() else 'no such file'}")
    if path.stat().st_size == 0:
        raise MeshError(f"{path}: the file is empty; export the mesh again")
    # the reader: what it prints and raises becomes part of the message
    output = StringIO()
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output), np.errstate(all="ignore"):
            content = form.read(path)
            points = np.zeros((len(content.points), 3))
            points[:, : content.points.shape[1]] = content.points
    except (MeshError, ModuleNotFoundError) as error:
        _let_go(error)
        raise MeshError(f"{path}: {error}") from None
    except (Exception, SystemExit) as error:  # meshio raises anything from KeyError to SystemExit for broken files
        cause = "" if isinstance(error, SystemExit) else f"{type(error).__name__}: {error}"  # an exit code says nothing
        _let_go(error)
        reason = textwrap.shorten(f"{cause} {output.getvalue()}", 200, placeholder=" ...") or "no reason given"
        raise MeshError(
            f"{path}: cannot be read as a {suffix} file ({reason}); it may be incomplete, or of another format "
            "than its name indicates: export it again, or open it in gmsh and save it as .msh"
        ) from None
    content.points = points
    for sentence in content.info or ():
        warn(f"{path}: {sentence}")
    return content


def _let_go(error: BaseException) -> None:
    """Close what readers left open: as long as an error is kept, its frames keep files, and HDF5 takes the old content
    of one that is open for that of a mended file of its name."""
    seen: BaseException | None = error
    while seen is not None:
        traceback.clear_frames(seen.__traceback__)
        seen = seen.__context__


def elements(content: FileMesh, path: Path, kinds: Mapping[str, int]) -> list[Elements]:
    """The blocks of elements whose kind begins with one of these names, each with its number of corners (0: all nodes
    are corners). A warning reports curved elements once for each kind, even if a file has a block for each face."""
    sets = {name: ids for name, ids in content.cell_sets.items() if not name.startswith("gmsh:")}
    key = next((key for key in TAG_KEYS if key in content.cell_data), None)
    blocks: list[Elements] = []
    curved: Counter[str] = Counter()
    for i, cells in enumerate(content.cells):
        kind = next((kind for kind in kinds if cells.type.startswith(kind)), None)
        if kind is None or len(cells.data) == 0:
            continue
        nodes = np.asarray(cells.data)
        number = kinds[kind] or nodes.shape[1]
        if nodes.ndim != 2 or nodes.shape[1] < max(3, number):
            raise MeshError(f"{path}: {len(nodes)} elements without corners; it is incomplete: export it again")
        if number < nodes.shape[1]:
            curved[cells.type] += len(nodes)
        tags = None if key is None else _whole_tags(content.cell_data[key][i], key, path)
        own = {name: np.asarray(ids[i], np.int64) for name, ids in sets.items() if ids[i] is not None}
        blocks.append(Elements(nodes[:, :number].astype(np.int64), tags, own))
    for kind, count in curved.items():
        warn(f"{path}: {count} curved elements ({kind}) replaced by flat ones through the corners")
    return blocks


def _whole_tags(values: ArrayLike, key: str, path: Path) -> NDArray[np.int64]:
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


def named_tags(content: FileMesh, dimension: int) -> dict[str, int]:
    """{name: tag} of the physical groups of a dimension."""
    fields = content.field_data.items()
    return {name: int(value[0]) for name, value in fields if np.shape(value) == (2,) and value[1] == dimension}


def commented_names(path: Path, comment: str) -> dict[str, int]:
    """The names {name: tag} that were left in a comment among the first lines when the file was written."""
    with path.open("rb") as file:
        begin = file.read(FIRST_BYTES).find(comment.encode())
        if begin < 0:
            return {}
        file.seek(begin + len(comment.encode()))
        line = file.readline().decode("utf-8", errors="ignore")
    try:
        given = json.JSONDecoder().raw_decode(line)[0]  # the comment may end after it
        return {str(name): int(tag) for name, tag in given.items()}
    except (ValueError, TypeError, AttributeError):
        return {}


def held(content: FileMesh, kinds: Callable[[str], bool] = bool) -> str:
    """The elements of a file, or those of some kinds, counted as text: "8 line, 4 tetra"."""
    counts: Counter[str] = Counter()
    for cells in content.cells:
        counts[cells.type] += len(cells.data)
    return ", ".join(f"{counts[kind]} {kind}" for kind in sorted(counts) if kinds(kind)) or "nothing"


def refuse_mixed_volumes(content: FileMesh, path: Path) -> None:
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
