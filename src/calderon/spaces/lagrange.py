"""The nodal spaces P0, DP1, DP2, P1 and P2, of numbers or, with components=, of vectors."""

from typing import Literal, overload

import numpy as np
from numpy.typing import NDArray

from calderon.mesh import TriangleMesh
from calderon.spaces.element import Element
from calderon.spaces.interning import interned, support_key
from calderon.spaces.nodal_vector_space import NodalVectorSpace, with_components
from calderon.spaces.space import Space, Tags, supported_triangles


@overload
def P0(mesh: TriangleMesh, tags: Tags = None, components: Literal[1] = 1) -> Space: ...
@overload
def P0(mesh: TriangleMesh, tags: Tags = None, *, components: int) -> Space | NodalVectorSpace: ...
def P0(mesh: TriangleMesh, tags: Tags = None, components: int = 1) -> Space | NodalVectorSpace:
    """Piecewise constant functions, one per triangle (of the tags given, default all).

    components: 1 for functions with numbers as values, 3 for vectors such as displacements (`NodalVectorSpace`).
    """
    return with_components(_discontinuous(mesh, supported_triangles(mesh, tags), 0), components)


@overload
def DP1(mesh: TriangleMesh, tags: Tags = None, components: Literal[1] = 1) -> Space: ...
@overload
def DP1(mesh: TriangleMesh, tags: Tags = None, *, components: int) -> Space | NodalVectorSpace: ...
def DP1(mesh: TriangleMesh, tags: Tags = None, components: int = 1) -> Space | NodalVectorSpace:
    """Piecewise linear functions that jump across edges, three per triangle (of the tags given, default all).

    components: as for `P0`.
    """
    return with_components(_discontinuous(mesh, supported_triangles(mesh, tags), 1), components)


@overload
def DP2(mesh: TriangleMesh, tags: Tags = None, components: Literal[1] = 1) -> Space: ...
@overload
def DP2(mesh: TriangleMesh, tags: Tags = None, *, components: int) -> Space | NodalVectorSpace: ...
def DP2(mesh: TriangleMesh, tags: Tags = None, components: int = 1) -> Space | NodalVectorSpace:
    """Piecewise quadratic functions that jump across edges, six per triangle (of the tags given, default all): the
    normal component of quadratic vectors on flat triangles.

    components: as for `P0`.
    """
    return with_components(_discontinuous(mesh, supported_triangles(mesh, tags), 2), components)


@overload
def P1(mesh: TriangleMesh, tags: Tags = None, boundary: bool = True, components: Literal[1] = 1) -> Space: ...
@overload
def P1(
    mesh: TriangleMesh, tags: Tags = None, boundary: bool = True, *, components: int
) -> Space | NodalVectorSpace: ...
def P1(mesh: TriangleMesh, tags: Tags = None, boundary: bool = True, components: int = 1) -> Space | NodalVectorSpace:
    """Continuous piecewise linear functions, one per vertex.

    tags: restrict to triangles with these tags (numbers or names). boundary: whether vertices on the boundary of
    the support carry a function; False gives the functions that vanish there, as the hypersingular operator on an open
    surface needs. components: as for `P0`.
    """
    triangles = supported_triangles(mesh, tags)
    left_out = _left_out(mesh, triangles, boundary)[0]

    def build() -> Space:
        dofs, dimension = _numbered(mesh.triangles[triangles], left_out, mesh.number_of_vertices)
        return Space("P1", mesh, Element(1), triangles, dofs, dimension)

    return with_components(interned(mesh, ("P1", support_key(mesh, triangles), len(left_out) == 0), build), components)


@overload
def P2(mesh: TriangleMesh, tags: Tags = None, boundary: bool = True, components: Literal[1] = 1) -> Space: ...
@overload
def P2(
    mesh: TriangleMesh, tags: Tags = None, boundary: bool = True, *, components: int
) -> Space | NodalVectorSpace: ...
def P2(mesh: TriangleMesh, tags: Tags = None, boundary: bool = True, components: int = 1) -> Space | NodalVectorSpace:
    """Continuous piecewise quadratic functions, one per vertex and one per edge; arguments as for `P1`."""
    triangles = supported_triangles(mesh, tags)
    vertices, edges = _left_out(mesh, triangles, boundary)

    def build() -> Space:
        entities = np.concatenate(
            [mesh.triangles[triangles], mesh.number_of_vertices + mesh.triangle_edges[triangles]], axis=1
        )
        left_out = np.concatenate([vertices, mesh.number_of_vertices + edges])
        dofs, dimension = _numbered(entities, left_out, mesh.number_of_vertices + len(mesh.edges))
        return Space("P2", mesh, Element(2), triangles, dofs, dimension)

    return with_components(interned(mesh, ("P2", support_key(mesh, triangles), len(edges) == 0), build), components)


def discontinuous(space: Space, degree: int) -> Space:
    """Piecewise polynomials of that degree that jump across edges, on the support of `space`; functions of a triangle
    follow each other."""
    return _discontinuous(space.mesh, space.triangles, degree)


def _discontinuous(mesh: TriangleMesh, triangles: NDArray[np.int64], degree: int) -> Space:
    name = f"DP{degree}" if degree else "P0"

    def build() -> Space:
        element = Element(degree)
        dofs = np.arange(element.size * len(triangles)).reshape(-1, element.size)
        return Space(name, mesh, element, triangles, dofs, dofs.size)

    return interned(mesh, (name, support_key(mesh, triangles)), build)


def _left_out(
    mesh: TriangleMesh, triangles: NDArray[np.int64], boundary: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Vertices and edges without a function: none with `boundary`, else those on the edge of the support, whose edges
    only one of its triangles has."""
    if not isinstance(boundary, bool | np.bool_):
        raise TypeError(f"boundary={boundary!r}: choose True, functions on the boundary too, or False, none there")
    if boundary:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    counts = np.bincount(mesh.triangle_edges[triangles].ravel(), minlength=len(mesh.edges))
    edges = np.flatnonzero(counts == 1)
    return np.unique(mesh.edges[edges]), edges


def _numbered(entities: NDArray[np.int64], left_out: NDArray[np.int64], total: int) -> tuple[NDArray[np.int64], int]:
    """Consecutive numbers for the entities in use, -1 for those left out, and how many there are."""
    used = np.zeros(total, dtype=bool)
    used[entities] = True
    used[left_out] = False
    numbers = np.where(used, np.cumsum(used) - 1, -1)
    dimension = int(used.sum())
    if dimension == 0:
        raise ValueError(
            "the space has no functions: every node lies on the boundary; refine the mesh or keep boundary=True"
        )
    return numbers[entities], dimension
