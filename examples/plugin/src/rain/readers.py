"""A mesh format: the nine coordinates of a triangle on each line."""

from pathlib import Path

import numpy as np

from calderon.mesh import MeshError
from calderon.mesh.files.file_mesh import FileMesh
from calderon.mesh.files.formats.format import Format, Written


def read(path: Path) -> FileMesh:
    numbers = np.loadtxt(path, ndmin=2)
    if numbers.shape[1] != 9:
        raise MeshError(f"nine coordinates a line are needed, got {numbers.shape[1]}")
    return FileMesh(numbers.reshape(-1, 3), [("triangle", np.arange(3 * len(numbers)).reshape(-1, 3))])


def write(mesh: Written, path: Path) -> None:
    (block,) = mesh.blocks
    np.savetxt(path, mesh.vertices[block.elements].reshape(-1, 9))


def refuse_tags(mesh: Written) -> None:
    if mesh.blocks[0].names:
        raise MeshError(".corners files hold no names of tags: use .vtu")


CORNERS = Format((".corners",), read, write, is_text=lambda head: True, is_soup=True, refuses=refuse_tags)
