"""Tables of functions in files, which no mesh alone gives: edge functions of metal between layers and in periodic
cells, and functions on parts of a surface."""

from __future__ import annotations

import numpy as np

from calderon.files import SavedGroup, put
from calderon.files.formats import h5py
from calderon.mesh import TriangleMesh
from calderon.spaces import RWG, EdgeSpace, Space
from calderon.spaces.element import Element

NAMES = "triangles", "dofs", "signs", "sides"


def whole_space(space: EdgeSpace) -> bool:
    """Whether the space is that of all edges of its mesh, `RWG`."""
    if space.boundary or space.rotated or not (space.sides >= 0).all():
        return False
    whole = RWG(space.mesh)
    return space is whole or all(np.array_equal(getattr(space, name), getattr(whole, name)) for name in NAMES)


def put_nodal_table(group: h5py.Group, space: Space) -> None:
    """Write the triangles of a nodal space and the functions on each of them."""
    put(group, "triangles", space.triangles)
    put(group, "dofs", space.dofs)
    group.attrs["element"] = space.name


def read_nodal_table(group: SavedGroup, mesh: TriangleMesh, degrees: dict[str, int]) -> Space:
    """The nodal space; DamagedFile for triangles that there are not, and for functions on none. degrees: of elements
    by name."""
    name = group.text("element")
    group.require(name in degrees, f"an element {name!r}")
    element = Element(degrees[name])
    triangles = group.array("triangles", np.int64, (None,))
    dofs = group.array("dofs", np.int64, (len(triangles), element.size))
    dimension = int(dofs.max(initial=-1)) + 1
    fits = _within(triangles, 0, mesh.number_of_triangles) and _within(dofs, -1, dimension)
    every = dimension > 0 and len(np.unique(dofs[dofs >= 0])) == dimension
    group.require(
        fits and every, f"a table of functions that does not fit a mesh of {mesh.number_of_triangles} triangles"
    )
    return Space(name, mesh, element, triangles, dofs, dimension)


def put_table(group: h5py.Group, space: EdgeSpace) -> None:
    """Write the triangles, functions, signs and sides of a space of edge functions."""
    for name in NAMES:
        put(group, name, getattr(space, name))
    group.attrs["boundary"] = space.boundary


def read_table(group: SavedGroup, mesh: TriangleMesh) -> EdgeSpace:
    """The space of edge functions; DamagedFile for numbers of triangles, functions or edges that there are not."""
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
