"""Squares of functions that are constant on triangles, and solutions of equations of the first kind, to higher order.

A wave of wavenumber k on a mesh of edges h has the mean sinc(k h) q in a triangle, with sinc(x) = 1 - x^2 / 48 + ...
for triangles of equal edges. Where V q = f is tested with constants, q_h is q / sinc(k h) up to higher orders, since
the mean acts on both sides of the left-hand side and on one of the right-hand side; grad u_h of D u = g alike. The
integral of q^2 is therefore that of q_h times the mean of q, not of q_h^2. The mean is q_h + h^2 / 24 lap q, a quarter
of the way from q_h to its mean over neighbours, by corners, which is q_h + h^2 / 6 lap q.
"""

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.formulations.statics.skeleton import Skeleton

SMOOTH = np.cos(np.pi / 6)
"""Cosine of the angle between triangles up to which a wall is smooth."""


def neighbour_means(skeleton: Skeleton) -> sp.csr_array:
    """(nt, nt) means of constants over corners of triangles, of those over the triangles at each corner by area, that
    have the same regions on their sides and the same metal, and normals that differ by 30 degrees at most."""
    mesh = skeleton.mesh
    count = mesh.number_of_triangles
    at = sp.coo_array((np.ones(3 * count), (np.arange(3 * count), mesh.triangles.ravel()))).tocsr()
    own = sp.coo_array((np.ones(3 * count), (mesh.triangles.ravel(), np.repeat(np.arange(count), 3)))).tocsr()
    corner, other = (at @ own).tocoo().coords
    kinds = np.unique(np.column_stack([skeleton.sides, skeleton.electrode_of]), axis=0, return_inverse=True)[1].ravel()
    same = kinds[corner // 3] == kinds[other]
    same &= np.abs(np.einsum("ni,ni->n", mesh.normals[corner // 3], mesh.normals[other])) >= SMOOTH
    weights = sp.coo_array((mesh.areas[other[same]], (corner[same], other[same])), (3 * count, count)).tocsr()
    means = sp.diags_array(1 / weights.sum(axis=1)) @ weights
    return sp.csr_array(sp.kron(sp.eye_array(count), np.full((1, 3), 1 / 3)) @ means)


def squares(means: sp.csr_array, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(nt,) the means of squares, or of scalar products with itself, of values (nt,) or (nt, 3)."""
    other = 0.75 * values + 0.25 * (means @ values)
    return np.asarray((values * other).reshape(len(values), -1).sum(axis=1), np.float64)
