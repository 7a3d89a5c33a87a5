"""Edge functions of a mesh as combinations of edge functions of its barycentric refinement."""

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.mesh import BarycentricRefinement

if TYPE_CHECKING:  # an edge space embeds itself
    from calderon.spaces.edge_space import EdgeSpace


def embedding(
    coarse: "EdgeSpace", fine: "EdgeSpace", refinement: BarycentricRefinement
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


def _halves(coarse: "EdgeSpace", fine: "EdgeSpace", refinement: BarycentricRefinement) -> NDArray[np.int64]:
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
    coarse: "EdgeSpace", fine: "EdgeSpace", refinement: BarycentricRefinement
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Fine function, coarse function and normal component at the cuts: local edges 0 (middle to centroid) and 1
    (vertex to centroid) of the first children.
    """
    mesh = fine.mesh
    child = refinement.children[coarse.triangles][:, :, 0]  # (n, 3)
    row = np.searchsorted(fine.support, child)
    corners = mesh.vertices[mesh.triangles[child]]  # (n, 3, 3, 3)
    vertices = coarse.mesh.vertices[coarse.mesh.triangles[coarse.triangles]]
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
