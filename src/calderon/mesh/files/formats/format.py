"""Description of a mesh format, and the parts that formats share.

Tags and their names travel in the way each format has: physical groups (.msh), element sets (.inp), groups (.obj), a
face property (.ply), cell data (.vtu); where a format numbers nothing, a comment line "calderon tags: {...}" keeps
the numbers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.mesh.errors import MeshError
from calderon.mesh.files.file_mesh import FileMesh

COMMENT, PARTS, BOUNDARIES = "calderon tags: ", "calderon parts: ", "calderon boundaries: "
"""Begin the comments with the names of surfaces, and of the tetrahedra and faces of volumes."""
COUNT = "calderon triangles: "
"""Begins the comment with the number of triangles in text formats, which otherwise do not show that lines are
missing."""
LARGEST_TAG = int(np.iinfo(np.int32).max)
"""Largest tag that 32 bits hold."""


class Tagged(NamedTuple):
    """Elements of one kind (meshio's name) with their tags.

    elements (n, corners): numbers of vertices; tags (n,); names: tags by name; comment: the words that begin the
    comment with the names in formats that have no place for them.
    """

    kind: str
    elements: NDArray[np.int64]
    tags: NDArray[np.int64]
    names: Mapping[str, int]
    comment: str

    @property
    def used_names(self) -> dict[int, str]:
        """A name for each tag that occurs: its own, or one such as "tag 5" that no other tag has."""
        names = {tag: name for name, tag in self.names.items()}
        for tag in np.unique(self.tags).tolist():
            name = f"tag {tag}"
            while tag not in names and name in self.names:
                name += " (unnamed)"
            names.setdefault(tag, name)
        return {tag: names[tag] for tag in np.unique(self.tags).tolist()}

    def commented(self, made: Mapping[int, str] | None = None) -> str:
        """The comment line of the names; made: names of tags without one."""
        return self.comment + json.dumps({**self.names, **{name: tag for tag, name in (made or {}).items()}})


class Written(NamedTuple):
    """A mesh to be written: vertices (n, 3), and blocks of elements: one of triangles, or tetrahedra and faces."""

    vertices: NDArray[np.float64]
    blocks: list[Tagged]


Reader = Callable[[Path], FileMesh]
Writer = Callable[[Written, Path], None]


@dataclass(frozen=True)
class Format:
    """A mesh format.

    suffixes: endings of its files, in lower case. read(path): its content as a `FileMesh` or a `meshio.Mesh`, with
    tags as cell data or sets, and messages for the user in `info`; MeshError for what is wrong, and any other error is
    reported as a damaged file. write(mesh, path): writes a surface; None of a format that is read only. versions:
    writers by version, among them the usual one. write_volume(mesh, path): writes tetrahedra and faces; None of a
    format from which no tetrahedra are read. is_text(head): whether a file
    with these first bytes is a text without an end mark, of which a last line may be missing. last_line:
    with which files of this package end, as their first lines say. is_soup: each triangle
    has vertices of its own, which are joined silently. refuses(mesh): raises MeshError for a mesh that the format
    cannot hold, and warns of what is lost.
    """

    suffixes: tuple[str, ...]
    read: Reader | None = None
    write: Writer | None = None
    versions: Mapping[str, Writer] = field(default_factory=dict)
    write_volume: Writer | None = None
    is_text: Callable[[bytes], bool] = lambda head: False
    last_line: str = ""
    is_soup: bool = False
    refuses: Callable[[Written], None] = lambda mesh: None


def refuse_large_tags(suffix: str, mesh: Written) -> None:
    """MeshError for tags beyond 32 bits."""
    largest = max(int(np.abs(block.tags).max(initial=0)) for block in mesh.blocks)
    if largest > LARGEST_TAG:
        raise MeshError(f"{suffix} files hold tags up to {LARGEST_TAG}, got {largest}: use .vtu or other tags")


def refuse_names(suffix: str, mesh: Written, spoilt: str, what: str) -> None:
    """MeshError for names that a format would cut or break; spoilt: a pattern of characters that programs, also this
    one, do not read as part of a name; what: these as text."""
    for name in (name for block in mesh.blocks for name in block.names):
        if not name or name != name.strip() or '"' in name or len(name.splitlines()) > 1 or re.search(spoilt, name):
            raise MeshError(
                f"{suffix} files cannot hold the name {name!r} of a tag: use one without quotes, line breaks, {what} "
                "and blanks at its ends, or .vtu"
            )


def rows_text(array: NDArray, form: str) -> str:
    """The rows of an array (n, columns) as lines of text."""
    text = StringIO()
    np.savetxt(text, array, fmt=form)
    return text.getvalue()
