"""Functions of edges: the div-conforming functions of Rao, Wilton and Glisson and their rotations."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from calderon.mesh import BarycentricRefinement, MeshError, TriangleMesh
from calderon.mesh.topology import edge_signs
from calderon.quadrature import gauss
from calderon.spaces.coefficients import function_in
from calderon.spaces.edge.field_table import FieldTable
from calderon.spaces.interning import interned, support_key
from calderon.spaces.space import Tags, evaluate_data, supported_triangles
from calderon.spaces.vector_space import CombinedSpace, VectorData
from calderon.validation import unmasked

EDGE_FUNCTIONS = "the edge functions of RWG, SNC, BC and RBC"


@dataclass(frozen=True, eq=False)
class EdgeSpace(FieldTable):
    """One function for each edge, f or n x f, as a table of local functions.

    Row r of the table is the triangle triangles[r] of the mesh; its local function a, of the edge opposite to vertex
    a, is

        f(x) = signs[r, a] l_a / (2 A) (x - v_a) = scale[r, a] (x - v_a),    div f = 2 scale[r, a],

    with the length l_a of the edge and the area A: its normal component on the edge is signs[r, a], on the others 0.
    dofs (n, 3): the global function that a local one belongs to, -1 (sign 0) where there is none. rotated: the space
    holds n x f. The rows are the triangles of the support in order; where three or more meet at an edge, a triangle
    with two functions of that edge has a second row after all others (its remaining entries are -1), so that a
    double loop over rows needs to know nothing of junctions.

    sides (dimension, 2): the local edge 3 t + a on which the function is +, then the one on which it is -; -1 for none
    (a half function at the boundary). boundary: whether edges with one triangle carry half functions.
    """

    name: str
    mesh: TriangleMesh
    triangles: NDArray[np.int64]
    dofs: NDArray[np.int64]
    signs: NDArray[np.float64]
    sides: NDArray[np.int64]
    boundary: bool = False
    rotated: bool = False

    row_arrays = ("triangles", "dofs", "signs")

    def __repr__(self) -> str:
        return f"{self.name}({self.dimension} functions on {len(self.support)} triangles)"

    @property
    def dimension(self) -> int:  # type: ignore[override]
        return len(self.sides)

    @property
    def pairs(self) -> NDArray[np.int64]:
        """(dimension, 2) triangles on which each function is + and -; -1 for none."""
        return self.sides // 3

    @cached_property
    def edges(self) -> NDArray[np.int64]:
        """(dimension,) the edge of the mesh that each function belongs to, not decreasing."""
        return self.mesh.triangle_edges.ravel()[self.sides[:, 0]]

    @cached_property
    def scale(self) -> NDArray[np.float64]:
        """(n, 3) sign times length of the edge over twice the area, 1/m: f = scale (x - v), div f = 2 scale."""
        lengths = self.mesh.edge_lengths[self.mesh.triangle_edges[self.triangles]]
        return self.signs * lengths / (2 * self.mesh.areas[self.triangles, None])

    @cached_property
    def corner_values(self) -> NDArray[np.float64]:  # type: ignore[override]
        """(n, 3, 3, 3): [r, a, b] is the value (n x included if rotated) of local function a at vertex b of row r; in
        between it is linear, sum_b l_b [r, a, b] with the barycentric coordinates l_b.
        """
        corners = self.mesh.flat_triangles(self.triangles, EDGE_FUNCTIONS).corners
        values = self.scale[:, :, None, None] * (corners[:, None] - corners[:, :, None])
        return np.cross(self.mesh.normals[self.triangles][:, None, None], values) if self.rotated else values

    def of_functions(self, numbers: NDArray[np.int64]) -> "EdgeSpace":
        """The space of some functions alone, in ascending order of their numbers."""
        if len(numbers) == self.dimension:
            return self
        sides = self.sides[numbers]
        triangles = np.unique(sides[sides >= 0] // 3)
        rows, dofs, signs = table_of_sides(triangles, sides, self.mesh.number_of_triangles)
        return replace(self, triangles=rows, dofs=dofs, signs=signs, sides=sides)

    def divergence_matrix(self) -> sp.csr_array:
        if self.rotated:
            raise ValueError(f"{self.name} has no divergence but a surface curl: ask its perpendicular() space for it")
        kept = self.dofs >= 0
        rows = np.repeat(np.searchsorted(self.support, self.triangles)[:, None], 3, axis=1)
        shape = (len(self.support), self.dimension)
        return sp.coo_array((2 * self.scale[kept], (rows[kept], self.dofs[kept])), shape).tocsr()

    def interpolation(self, data: VectorData, points: int = 4) -> Any:
        """Each coefficient is the mean over the edge of the component across it, from the + to the - triangle (along
        it if rotated); where the two triangles differ in plane and normal, the mean of both sides.
        """
        rule, mesh = gauss(points), self.mesh
        total: Any = 0.0
        for side, sign in zip(self.sides.T, (1.0, -1.0), strict=True):
            at = np.flatnonzero(side >= 0)
            triangle, local = np.divmod(side[at], 3)
            corners = mesh.triangles[triangle, (local + 1) % 3], mesh.triangles[triangle, (local + 2) % 3]
            start, end = mesh.vertices[corners[0]], mesh.vertices[corners[1]]
            normals = mesh.normals[triangle]
            along = (end - start) / np.linalg.norm(end - start, axis=1, keepdims=True)
            direction = along if self.rotated else np.cross(along, normals)
            x = start[:, None] + rule.points[:, None] * (end - start)[:, None]
            values = evaluate_data(data, x.reshape(-1, 3), np.repeat(normals, points, axis=0), (3,))
            moments = np.einsum("eqc,q,ec->e", values.reshape(x.shape), rule.weights, sign * direction)
            total = total + np.bincount(at, moments.real, self.dimension)
            if np.iscomplexobj(moments):
                total = total + 1j * np.bincount(at, moments.imag, self.dimension)
        return function_in(self, total / (self.sides >= 0).sum(axis=1))

    def perpendicular(self) -> "EdgeSpace":
        name = "RWG" if self.rotated else "SNC"
        key = name, support_key(self.mesh, self.support), self.boundary
        return interned(self.mesh, key, lambda: replace(self, name=name, rotated=not self.rotated))

    def refined(self) -> CombinedSpace:
        """The functions on the barycentric refinement, by their normal components on its edges."""
        refinement = self.mesh.barycentric_refinement
        triangles = np.sort(refinement.children[self.support].ravel())
        fine = edge_space(refinement.mesh, triangles, self.boundary)
        base = fine.perpendicular() if self.rotated else fine

        def build() -> CombinedSpace:
            matrix, moments = embedding(replace(self, rotated=False), fine, refinement)
            return CombinedSpace(self.name, self.mesh, base, matrix, moments, self.edges)

        return interned(self.mesh, ("combined", self.name, id(base)), build)


def RWG(mesh: TriangleMesh, tags: Tags = None) -> EdgeSpace:
    """Functions of Rao, Wilton and Glisson, scaled by edge length: f = +-l / (2 A) (x - v) on the two triangles of an
    edge, with v the vertex opposite to it; no unit.

    The component normal to the edge is 1 from the first triangle into the second, continuous, and the divergence
    +-l / A. One function for each inner edge: none on the boundary of an open surface or of the triangles with the tags
    given. At an edge with m > 2 triangles m - 1 functions join consecutive ones (in the order of their numbers);
    their span, all fields without net flow out of the edge, does not depend on that order.

    Raises MeshError for neighbours of opposite orientation, which a part by tags of a surface with junctions may have,
    ValueError if there is no inner edge. Source: S. M. Rao, D. R. Wilton, A. W. Glisson, IEEE Trans. Antennas
    Propag. 30 (1982) 409.
    """
    space = edge_space(mesh, supported_triangles(mesh, tags), boundary=False)
    if space.dimension == 0:
        raise ValueError("the space has no functions: no edge has two triangles; refine the mesh")
    return space


def SNC(mesh: TriangleMesh, tags: Tags = None) -> EdgeSpace:
    """The rotated functions n x f of `RWG`, scaled Nedelec functions: the component along an edge is continuous, the
    surface curl is that of the divergence of f. Arguments, errors and numbering as for `RWG`.
    """
    return RWG(mesh, tags).perpendicular()


def edge_space(mesh: TriangleMesh, triangles: NDArray[np.int64], boundary: bool) -> EdgeSpace:
    """RWG functions on the triangles (increasing numbers); boundary: with half functions on edges of a single one."""
    boundary = boundary and bool((np.bincount(mesh.triangle_edges[triangles].ravel()) == 1).any())
    mesh.flat_triangles(triangles[:0], EDGE_FUNCTIONS)  # refused here, before anything is built
    key = "RWG", support_key(mesh, triangles), boundary
    return interned(mesh, key, lambda: _edge_space(mesh, triangles, boundary))


def _edge_space(mesh: TriangleMesh, triangles: NDArray[np.int64], boundary: bool) -> EdgeSpace:
    positions = (3 * triangles[:, None] + np.arange(3)).ravel()
    edges = mesh.triangle_edges.ravel()[positions]
    order = np.argsort(edges, kind="stable")
    positions, edges = positions[order], edges[order]
    _refuse_opposite(mesh, positions, edges)
    same = np.append(edges[1:] == edges[:-1], False)
    first = np.flatnonzero(same)
    sides = np.stack([positions[first], positions[first + 1]], axis=1)
    if boundary:
        alone = np.flatnonzero(~same & ~np.append(False, same[:-1]))
        sides = np.concatenate([sides, np.stack([positions[alone], np.full(len(alone), -1)], axis=1)])
        sides = sides[np.argsort(mesh.triangle_edges.ravel()[sides[:, 0]], kind="stable")]
    return EdgeSpace("RWG", mesh, *table_of_sides(triangles, sides, mesh.number_of_triangles), sides, boundary)


def table_of_sides(
    triangles: NDArray[np.int64], sides: NDArray[np.int64], total: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """triangles, dofs and signs of an EdgeSpace: local edges that are both + and - get a second row for the -."""
    numbers = np.arange(len(sides))
    plus, minus = np.full((2, 3 * total), -1)
    plus[sides[:, 0]] = numbers
    minus[sides[sides[:, 1] >= 0, 1]] = numbers[sides[:, 1] >= 0]
    both = (plus >= 0) & (minus >= 0)
    main = np.where(plus >= 0, plus, minus).reshape(-1, 3)[triangles]
    main_signs = ((plus >= 0) * 1.0 - ((minus >= 0) & ~both)).reshape(-1, 3)[triangles]
    again = np.unique(np.flatnonzero(both) // 3)
    extra = np.where(both, minus, -1).reshape(-1, 3)[again]
    rows = np.concatenate([triangles, again]), np.concatenate([main, extra])
    return *rows, np.concatenate([main_signs, np.where(extra >= 0, -1.0, 0.0)])


def half_functions(mesh: TriangleMesh, edges: ArrayLike) -> EdgeSpace:
    """The functions of `RWG` and, for each of these edges, half a function: +, out of the last of its triangles.

    edges: numbers of edges of the mesh. At an edge with m triangles m functions are all fields whose flow out of the
    edge is any. ValueError for numbers that no edge has.
    """
    numbers = np.unique(unmasked(edges, "edges").astype(np.int64))
    if len(numbers) and not 0 <= numbers[0] <= numbers[-1] < mesh.number_of_edges:
        raise ValueError(f"edges of half functions are numbers below {mesh.number_of_edges}, got {numbers.tolist()}")
    triangles = np.arange(mesh.number_of_triangles)
    space = edge_space(mesh, triangles, False)
    last = np.zeros(mesh.number_of_edges, np.int64)
    np.maximum.at(last, mesh.triangle_edges.ravel(), np.arange(3 * len(triangles)))
    halves = np.stack([last[numbers], np.full(len(numbers), -1)], axis=1)
    sides = np.concatenate([space.sides, halves])
    sides = sides[np.argsort(mesh.triangle_edges.ravel()[sides[:, 0]], kind="stable")]
    rows, dofs, signs = table_of_sides(triangles, sides, mesh.number_of_triangles)
    return replace(space, triangles=rows, dofs=dofs, signs=signs, sides=sides)


def _refuse_opposite(mesh: TriangleMesh, positions: NDArray[np.int64], edges: NDArray[np.int64]) -> None:
    """MeshError where exactly two triangles meet and run along their edge the same way."""
    count = np.bincount(edges, minlength=mesh.number_of_edges)
    total = np.bincount(edges, edge_signs(mesh.triangles).ravel()[positions], mesh.number_of_edges)
    wrong = np.flatnonzero((count == 2) & (total != 0))
    if len(wrong):
        raise MeshError(
            f"{len(wrong)} edges (first {wrong[:5].tolist()}) join two triangles of opposite orientation, across "
            "which n x f would jump: make a mesh of these triangles alone, mesh.restricted(tags), which orients them"
        )


def embedding(
    coarse: EdgeSpace, fine: EdgeSpace, refinement: BarycentricRefinement
) -> tuple[sp.csr_array, sp.csr_array]:
    """matrix (fine.dimension, coarse.dimension) and its left inverse `moments`.

    A fine function has the normal component 1 on its edge, so the coefficients of a coarse function are its normal
    components on the fine edges: 1 on the two halves of its own edge, and constant along each of the six cuts of a
    triangle. The moments are the means over the two halves.
    """
    halves = _halves(coarse, fine, refinement)
    number = np.arange(coarse.dimension)
    shape = (fine.dimension, coarse.dimension)
    cuts, columns, values = _cuts(coarse, fine, refinement)
    rows = np.concatenate([halves.ravel(), cuts])
    columns = np.concatenate([np.repeat(number, 2), columns])
    matrix = sp.coo_array((np.concatenate([np.ones(halves.size), values]), (rows, columns)), shape).tocsr()
    moments = sp.coo_array((np.full(halves.size, 0.5), (np.repeat(number, 2), halves.ravel())), shape[::-1]).tocsr()
    return matrix, moments


def _halves(coarse: EdgeSpace, fine: EdgeSpace, refinement: BarycentricRefinement) -> NDArray[np.int64]:
    """(coarse.dimension, 2) the fine functions of the two halves of each edge, + on children of its + triangle.

    At the vertices a + 1 and a + 2 of the triangle, the half belongs to the first child (local edge 2) and the second
    (local edge 1). Junctions number their functions alike on both meshes, for children are numbered as their parents.
    """
    triangle, local = np.divmod(coarse.sides[:, 0], 3)
    first = refinement.children[triangle, (local + 1) % 3, 0]
    second = refinement.children[triangle, (local + 2) % 3, 1]
    plus = np.full(3 * fine.mesh.number_of_triangles, -1)
    plus[fine.sides[:, 0]] = np.arange(fine.dimension)
    return np.stack([plus[3 * first + 2], plus[3 * second + 1]], axis=1)


def _cuts(
    coarse: EdgeSpace, fine: EdgeSpace, refinement: BarycentricRefinement
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Fine function, coarse function and normal component at the cuts: local edges 0 (middle to centroid) and 1
    (vertex to centroid) of the first children.
    """
    mesh = fine.mesh
    child = refinement.children[coarse.triangles][:, :, 0]  # (n, 3)
    row = np.searchsorted(fine.support, child)
    corners = mesh.vertices[mesh.triangles[child]]  # (n, 3, 3, 3)
    vertices = coarse.mesh.flat_triangles(coarse.triangles, EDGE_FUNCTIONS).corners
    number, column, value = [], [], []
    for edge in (0, 1):
        start, end = corners[:, :, (edge + 1) % 3], corners[:, :, (edge + 2) % 3]
        along = (end - start) / np.linalg.norm(end - start, axis=2, keepdims=True)
        outward = np.cross(along, coarse.mesh.normals[coarse.triangles][:, None])
        offset = (start + end)[:, :, None] / 2 - vertices[:, None]  # (n, child, local function, 3)
        component = np.einsum("nkac,nkc,na->nka", offset, outward, coarse.scale)
        component *= fine.signs[row, edge][:, :, None]
        kept = np.broadcast_to((coarse.dofs >= 0)[:, None], component.shape)
        number.append(np.broadcast_to(fine.dofs[row, edge][:, :, None], component.shape)[kept])
        column.append(np.broadcast_to(coarse.dofs[:, None], component.shape)[kept])
        value.append(component[kept])
    return np.concatenate(number), np.concatenate(column), np.concatenate(value)
