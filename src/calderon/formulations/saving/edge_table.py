"""Tables of edge functions in files: those of metal between layers and in periodic cells, which no mesh alone gives."""

from __future__ import annotations

import numpy as np

from calderon.files import SavedGroup, put
from calderon.files.formats import h5py
from calderon.mesh import TriangleMesh
from calderon.spaces import RWG, EdgeSpace

NAMES = "triangles", "dofs", "signs", "sides"


def whole_space(space: EdgeSpace) -> bool:
    """Whether the space is that of all edges of its mesh, `RWG`."""
    if space.boundary or space.rotated or not (space.sides >= 0).all():
        return False
    whole = RWG(space.mesh)
    return space is whole or all(np.array_equal(getattr(space, name), getattr(whole, name)) for name in NAMES)


def put_table(group: h5py.Group, space: EdgeSpace) -> None:
    """The arrays of a space."""
    for name in NAMES:
        put(group, name, getattr(space, name))
    group.attrs["boundary"] = space.boundary


def read_table(group: SavedGroup, mesh: TriangleMesh) -> EdgeSpace:
    """The space; DamagedFile for numbers of triangles, functions or edges that there are not."""
    triangles = group.array("triangles", np.int64, (None,))
    dofs = group.array("dofs", np.int64, (len(triangles), 3))
    signs = group.array("signs", np.float64, (len(triangles), 3))
    sides = group.array("sides", np.int64, (None, 2))
    total = mesh.number_of_triangles
    fits = len(sides) and _within(triangles, 0, total) and _within(dofs, -1, len(sides))
    fits = fits and _within(sides[:, 0], 0, 3 * total) and _within(sides[:, 1], -1, 3 * total)
    group.require(fits, f"a table of edge functions that does not fit a mesh of {total} triangles")
    return EdgeSpace("RWG", mesh, triangles, dofs, signs, sides, boundary=group.flag("boundary"))


def _within(numbers: np.ndarray, low: int, end: int) -> bool:
    return bool(np.all((numbers >= low) & (numbers < end)))
