"""Dual functions of Buffa and Christiansen: one for each edge, across it, on the barycentric refinement."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.mesh import BarycentricRefinement, TriangleMesh
from calderon.mesh.fans import Fans, fans
from calderon.spaces.edge.edge_space import RWG, EdgeSpace, edge_space
from calderon.spaces.interning import interned
from calderon.spaces.vector_space import CombinedSpace

Index = NDArray[np.int64]
Values = NDArray[np.float64]


def BC(mesh: TriangleMesh) -> CombinedSpace:
    """Functions of Buffa and Christiansen: div-conforming, one for each inner edge, numbered like `RWG(mesh)`.

    The dual cell of a vertex is the union of the fine triangles around it. The function of an edge carries the flow l
    (the length of the edge; no unit) from the dual cell of one end into that of the other, one half through each fine
    edge between the middle of the edge and a centroid, in the sense in which the second triangle of the RWG function
    runs along the edge, so that <n x g_e, f_e> > 0. In a cell of 2 N fine triangles each takes the same share
    1 / (2 N) of the charge: the flow from the fine triangle i - 1 into the fine triangle i around the vertex, counted
    from the edge, is (N - i) / (2 N) of the whole. Hence the divergences span one field per cell: the one of equal
    charge on its fine triangles.

    At a vertex on the boundary of an open surface the charge of the cell is zero and the flow leaves through the
    boundary, n - k and k parts of n = 2 N through the ends of the fan of which the edge is number k (half functions on
    the boundary of the refined mesh): n x g then pairs with RWG functions, which do not flow through the boundary,
    without a common null space, as the spaces of traces require.

    They test and precondition: on irregular meshes no combination of them is locally constant, so fields are not
    approximated to the order h in L2 as by RWG.

    Raises MeshError where three or more triangles meet at an edge. Sources: A. Buffa, S. H. Christiansen, Math. Comp.
    76 (2007) 1743; F. P. Andriulli, K. Cools, H. Bagci, F. Olyslager, A. Buffa, S. Christiansen, E. Michielssen, IEEE
    Trans. Antennas Propag. 56 (2008) 2398, whose coefficients these are, times l.
    """
    coarse, refinement = RWG(mesh), mesh.barycentric_refinement
    fine = edge_space(refinement.mesh, np.arange(refinement.mesh.number_of_triangles), boundary=True)
    return interned(mesh, ("combined", "BC", id(fine)), lambda: _combined(coarse, fine))


def _combined(coarse: EdgeSpace, fine: EdgeSpace) -> CombinedSpace:
    mesh, refinement = coarse.mesh, coarse.mesh.barycentric_refinement
    around = fans(mesh)
    ports, flow = _ports(coarse, fine, refinement)
    numbers = np.arange(coarse.dimension)
    parts = [(ports.ravel().astype(np.int32), np.repeat(numbers, 2).astype(np.int32), flow.ravel())]
    # flows within the cells of both ends of an edge, some edges at a time, which bounds the memory
    triangle, local = np.divmod(coarse.sides[:, 0], 3)
    head = 3 * triangle + (local + 1) % 3  # the flow runs against the + triangle, into the cell of its first vertex
    tail = 3 * triangle + (local + 2) % 3
    for some in np.split(numbers, range(16_384, len(numbers), 16_384)):
        for corner, after, sign in ((head, 0, 1.0), (tail, 1, -1.0)):
            parts.append(_cell(around, fine, refinement, _Ends(some, corner[some], after), sign))
    rows, columns, flows = (np.concatenate(each) for each in zip(*parts, strict=True))
    # coefficients of fine edge functions are flows over lengths, for coarse functions of flow 1
    lengths = fine.mesh.edge_lengths[fine.edges]
    matrix_values = flows * mesh.edge_lengths[coarse.edges[columns]] / lengths[rows]
    matrix = sp.coo_array((matrix_values, (rows, columns)), (fine.dimension, coarse.dimension)).tocsr()
    matrix.eliminate_zeros()  # of the edge itself and the one opposite to it
    back = 2 * flow * lengths[ports] / mesh.edge_lengths[coarse.edges][:, None]  # no other function flows there
    moments = sp.coo_array((back.ravel(), (np.repeat(numbers, 2), ports.ravel())), matrix.shape[::-1]).tocsr()
    return CombinedSpace("BC", mesh, fine, matrix, moments, coarse.edges)


def RBC(mesh: TriangleMesh) -> CombinedSpace:
    """The rotated dual functions n x g of `BC`: curl-conforming; errors, numbering and sources as there."""
    return BC(mesh).perpendicular()


class _Ends(NamedTuple):
    """One end of each edge: numbers of the functions (n,), a corner (n,) of its fan, and whether the edge comes after
    that corner (1) or before it (0) counter-clockwise."""

    functions: Index
    corners: Index
    after: int


def _ports(coarse: EdgeSpace, fine: EdgeSpace, refinement: BarycentricRefinement) -> tuple[Index, Values]:
    """Fine functions (n, 2) of the edges between the middle of each edge and the centroids of its two triangles, and
    the flow +-1/2 of each in the direction of the fine function.

    In the + triangle the flow enters the first child at vertex a + 1, in the - triangle the second child at a + 2.
    """
    numbers, flows = [], []
    for side, step, child in ((0, 1, 0), (1, 2, 1)):
        triangle, local = np.divmod(coarse.sides[:, side], 3)
        row = refinement.children[triangle, (local + step) % 3, child]
        numbers.append(fine.dofs[row, 0])
        flows.append(-0.5 * fine.signs[row, 0])
    return np.stack(numbers, axis=1), np.stack(flows, axis=1)


def _cell(
    around: Fans, fine: EdgeSpace, refinement: BarycentricRefinement, ends: _Ends, sign: float
) -> tuple[NDArray[np.int32], NDArray[np.int32], Values]:
    """Fine functions, functions and flows on the edges around one end of each edge.

    Fine triangles of a fan: 0 ... n - 1, fine edge i between i - 1 and i; the fine edge 2 p comes before corner p.
    """
    fan = around.fan[ends.corners]
    corners = around.start[fan + 1] - around.start[fan]
    closed = around.closed[fan]
    n = 2 * corners
    k = 2 * (around.place[ends.corners] + ends.after)
    count = n + ~closed  # fine edges around the vertex, both ends of an open fan
    each = np.repeat(np.arange(len(fan)), count)
    i = np.arange(len(each)) - np.repeat(np.cumsum(count) - count, count)
    flow = np.where(closed[each], _closed_flow(i, k[each], n[each]), _open_flow(i, k[each], n[each]))
    last = i == n[each]  # the far boundary is local edge 1 of the last fine triangle, all others local edge 2
    t = i - last
    triangle, local = np.divmod(around.corners[around.start[fan][each] + t // 2], 3)
    row, edge = refinement.children[triangle, local, t % 2], np.where(last, 1, 2)
    into = np.where(last, 1.0, -1.0) * fine.signs[row, edge]  # fine functions flow out where their sign is +
    return fine.dofs[row, edge].astype(np.int32), ends.functions[each].astype(np.int32), sign * into * flow


def _closed_flow(i: Index, k: Index, n: Index) -> Values:
    """Flow from fine triangle i - 1 into i when 1/2 enters on each side of fine edge k and each triangle takes 1/n."""
    steps = np.mod(i - k, n)
    return np.where(steps == 0, 0.0, 0.5 - steps / n)


def _open_flow(i: Index, k: Index, n: Index) -> Values:
    """Flow through the edges of an open fan without charge: all of it leaves at the ends, the more the nearer they are.
    Arguments as in `_closed_flow`."""
    return k / n - 1 + 0.5 * (i >= k) + 0.5 * (i > k)
