"""Traces: the values on a surface of functions of finite elements in the volume, as sparse matrices."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.coupling.volumes import is_curved, tetrahedral_mesh
from calderon.mesh.errors import MeshError, warn
from calderon.mesh.tetrahedra import FACES
from calderon.mesh.tolerances import TOLERANCES
from calderon.mesh.topology import row_numbers
from calderon.spaces import EdgeSpace, Element, NodalVectorSpace, Space


def trace(volume_basis: Any, surface_space: Space | NodalVectorSpace | EdgeSpace) -> sp.csr_array:
    """Sparse matrix T (space.dimension, N) from coefficients in the volume to those of the values on a surface.

    volume_basis: a `Basis` of scikit-fem of `ElementTetP1`, `ElementTetP2` or `ElementVector` of one of them; or a
    volume as for `boundary`, whose functions are the linear ones, one for each vertex. surface_space: of the same
    degree or a higher one, P1, P2, DP1 or `DP2`, on faces of the volume: its boundary, a part of it
    or a surface inside.

    Scalar functions in a scalar space, and vectors in a space of three components, have their values u there: T u
    interpolates them at the nodes, which is exact, so that T' M T is the mass matrix of the faces. Vectors in a scalar
    space have the normal component n . u there, with the normals of the surface's mesh. It jumps between flat
    triangles, so the space must: DP1 for linear vectors, DP2 for quadratic ones.

    Edge functions E of `ElementTetN0` in RWG have M = E x n there, which is exact: div M = n . curl E.

    MeshError where the surface does not consist of faces of the volume, with the largest distance; ValueError for
    spaces that do not hold the values.
    """
    if isinstance(surface_space, EdgeSpace):
        return _edge_trace(volume_basis, surface_space)
    functions = volume_functions(volume_basis)
    components = surface_space.components if isinstance(surface_space, NodalVectorSpace) else 1
    space = surface_space.scalar
    _check(functions, space, components)
    vertices = matched_vertices(functions.points, functions.tetrahedra, space)
    triangles = vertices[space.mesh.triangles[space.triangles]]
    numbers = functions.on(triangles)  # (components, m, size): functions at the nodes of their own degree
    weights = Element(functions.degree).values(space.element.nodes)
    # the first triangle of each function of the space, and its local number there
    kept = np.flatnonzero(space.dofs.ravel() >= 0)
    dofs, first = np.unique(space.dofs.ravel()[kept], return_index=True)
    triangle, local = np.divmod(kept[first], space.element.size)
    values, columns = weights[:, local].T, numbers[:, triangle]  # (dimension, size), (components, dimension, size)
    rows = np.broadcast_to(dofs[:, None], values.shape)
    if functions.components == components:
        data = np.broadcast_to(values, columns.shape)
        at = np.stack([components * rows + c for c in range(components)])
    else:
        normals = space.mesh.normals[space.triangles[triangle]]
        data = normals.T[:, :, None] * values
        at = np.broadcast_to(rows, columns.shape)
    matrix = sp.coo_array((data.ravel(), (at.ravel(), columns.ravel())), (surface_space.dimension, functions.dimension))
    matrix = matrix.tocsr()
    matrix.data[np.abs(matrix.data) < TOLERANCES.determinant] = 0.0  # functions that vanish at a node
    matrix.eliminate_zeros()
    return matrix


@dataclass(frozen=True)
class VolumeFunctions:
    """Nodal functions on tetrahedra: numbers of those of each component at vertices (components, nv) and, for degree 2,
    at edges (components, ne), which are pairs of vertices (ne, 2)."""

    degree: int
    points: NDArray[np.float64]
    tetrahedra: NDArray[np.int64]
    at_vertices: NDArray[np.int64]
    edges: NDArray[np.int64]
    at_edges: NDArray[np.int64]
    dimension: int

    @property
    def components(self) -> int:
        """Number of components of a value."""
        return len(self.at_vertices)

    def on(self, triangles: NDArray[np.int64]) -> NDArray[np.int64]:
        """(components, m, size) functions at the nodes of triangles (m, 3) of vertices of the volume, in the order of
        `Element`: the vertices, then the edges opposite to them."""
        at = self.at_vertices[:, triangles]
        if self.degree == 1:
            return at
        ends = np.sort(np.stack([triangles[:, [1, 2, 0]], triangles[:, [2, 0, 1]]], axis=-1), axis=-1)
        return np.concatenate([at, self.at_edges[:, _places(ends, self.edges)]], axis=2)


def _places(pairs: NDArray[np.int64], edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """(...) where sorted pairs of vertices (..., 2) are among edges (ne, 2)."""
    base = [int(edges.max(initial=0)) + 1, 1]
    keys = np.sort(edges, axis=1) @ base
    order = np.argsort(keys)
    return order[np.searchsorted(keys[order], pairs @ base)]


def _edge_trace(volume_basis: Any, space: EdgeSpace) -> sp.csr_array:
    """E x n of edge functions: the coefficient of RWG is the mean of E along its edge, counterclockwise in the triangle
    on which it is +, and that of the volume the integral from the lower to the higher number of a vertex."""
    name = type(getattr(volume_basis, "elem", None)).__name__
    if name != "ElementTetN1" or space.name != "RWG":  # the class that scikit-fem exports as ElementTetN0
        raise TypeError(
            f"the trace of {name} in {space.name} is not known: edge functions, ElementTetN0, have theirs in RWG"
        )
    mesh = volume_basis.mesh
    vertices = matched_vertices(np.asarray(mesh.p).T, np.asarray(mesh.t, np.int64).T, space)
    triangle, local = np.divmod(space.sides[:, 0], 3)
    corners = vertices[space.mesh.triangles[triangle]]
    row = np.arange(space.dimension)
    start, end = corners[row, (local + 1) % 3], corners[row, (local + 2) % 3]
    edges = np.asarray(mesh.edges, np.int64).T
    place = _places(np.sort(np.stack([start, end], axis=1), axis=1), edges)
    values = np.where(start < end, 1.0, -1.0) / space.mesh.edge_lengths[space.edges]
    columns = np.asarray(volume_basis.edge_dofs[0], np.int64)[place]
    return sp.csr_array((values, (row, columns)), (space.dimension, int(volume_basis.N)))


def volume_functions(volume_basis: Any) -> VolumeFunctions:
    """The functions of a basis of scikit-fem, or the linear ones of a volume; TypeError for other elements."""
    if not hasattr(volume_basis, "elem") or not hasattr(volume_basis, "nodal_dofs"):
        mesh = tetrahedral_mesh(volume_basis)
        numbers = np.arange(mesh.number_of_vertices)[None]
        none = np.zeros((0, 2), np.int64), np.zeros((1, 0), np.int64)
        return VolumeFunctions(1, mesh.vertices, mesh.tetrahedra, numbers, *none, mesh.number_of_vertices)
    mesh, element = volume_basis.mesh, volume_basis.elem
    scalar = getattr(element, "elem", element)  # that of each component of ElementVector
    degree = {"ElementTetP1": 1, "ElementTetP2": 2}.get(type(scalar).__name__)
    if degree is None:
        raise TypeError(f"the trace of {type(scalar).__name__} is not known: choose ElementTetP1 or ElementTetP2")
    if is_curved(mesh):
        warn(
            "the matrices of a basis on MeshTet2 are those of curved tetrahedra and the surface is flat, which is "
            "another body: make the basis on skfem_mesh(volume), whose tetrahedra are straight"
        )
    tetrahedra = np.asarray(mesh.t, np.int64).T
    points = np.asarray(mesh.doflocs).T[: int(tetrahedra.max()) + 1]
    return VolumeFunctions(
        degree,
        points,
        tetrahedra,
        np.asarray(volume_basis.nodal_dofs, np.int64),
        np.asarray(mesh.edges, np.int64).T if degree == 2 else np.zeros((0, 2), np.int64),
        np.asarray(volume_basis.edge_dofs, np.int64),
        int(volume_basis.N),
    )


def matched_vertices(
    points: NDArray[np.float64], tetrahedra: NDArray[np.int64], space: Space | EdgeSpace
) -> NDArray[np.int64]:
    """(nv,) the vertex of the volume at each vertex of the surface; MeshError where one is missing or where a triangle
    of the space is no face of a tetrahedron."""
    mesh = space.mesh
    used = np.unique(tetrahedra)
    distance, place = scipy.spatial.cKDTree(points[used]).query(mesh.vertices)
    corners = mesh.triangles[space.triangles]
    worst = float(distance[corners].max())
    if worst > TOLERANCES.same * mesh.diameter:
        raise MeshError(
            f"the surface has vertices up to {worst:.3g} away from those of the volume: take the surface from "
            "coupling.boundary(volume), or mesh both together"
        )
    vertices = used[place]
    wanted = np.sort(vertices[corners], axis=1)
    faces = np.sort(tetrahedra, axis=1)[:, FACES].reshape(-1, 3)
    number = row_numbers(np.concatenate([faces, wanted]))[1]
    strange = ~np.isin(number[len(faces) :], number[: len(faces)])
    if strange.any():
        first = int(space.triangles[np.flatnonzero(strange)[0]])
        raise MeshError(
            f"{strange.sum()} triangles of the surface are no faces of tetrahedra, the first is number {first}: take "
            "the surface from coupling.boundary(volume)"
        )
    return vertices


def _check(functions: VolumeFunctions, space: Space, components: int) -> None:
    """ValueError where the space does not hold the values of the functions."""
    lacks = f"{space!r} does not hold the values of functions of degree {functions.degree} in the volume"
    if space.element.degree < functions.degree:
        names = ("P2", "DP2") if functions.degree == 2 else ("P1", "DP1")
        raise ValueError(f"{lacks}: choose {' or '.join(names)}")
    if functions.components == components:
        return
    if functions.components != 3 or components != 1:
        raise ValueError(
            f"functions of {functions.components} components have no trace of {components}: choose components="
            f"{functions.components}, or one component for the normal component of vectors"
        )
    if space.is_continuous:
        raise ValueError(
            f"{space!r} is continuous and the normal component jumps between flat triangles: choose "
            f"DP{functions.degree}(mesh)"
        )
