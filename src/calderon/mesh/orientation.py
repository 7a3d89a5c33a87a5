"""One consistent orientation for a triangulated surface, outward on closed components.

Two triangles agree across their common edge if they run along it in opposite directions. Following these relations is
a two-colouring: on the double cover, whose nodes are (triangle, kept) and (triangle, flipped), one connected
component of a patch holds a consistent choice for the whole patch, and the patch cannot be oriented (Moebius strip)
exactly if both nodes of a triangle fall into one component. The sign of an oriented patch without boundary follows
from its volume, and so does that of a tetrahedron.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components, minimum_spanning_tree

from calderon.mesh.errors import MeshError
from calderon.mesh.tolerances import TOLERANCES
from calderon.mesh.topology import components_by_edges, connected, edge_pairs, edge_signs


def consistent_orientation(
    vertices: NDArray,
    triangles: NDArray,
    triangle_edges: NDArray,
    incidence: NDArray,
    counts: NDArray,
    area_vectors: NDArray,
) -> NDArray:
    """Mask (nt,) of the triangles to flip, so that normals agree within each component and point outward on closed
    ones. In closed components with inner walls, only the triangles that are seen from outside do.

    Open components keep the orientation of the majority of their triangles. At non-manifold edges (three triangles or
    more) the patches between them are aligned so that as few edges as possible are run along more often one way than
    the other. triangle_edges and incidence as from edge_table, counts (ne,): triangles at each edge, area_vectors
    (nt, 3): normal times area as given.

    Raises MeshError if a patch is one-sided.
    """
    # triangles agree with the majority of their patch, within which no edge has three triangles
    flip, patches = _within_patches(triangles, incidence, counts)
    number = int(patches.max()) + 1
    sizes = np.bincount(patches, minlength=number)
    flip ^= (np.bincount(patches, weights=flip, minlength=number) / sizes > 0.5)[patches]
    signs = edge_signs(triangles) * np.where(flip, -1, 1)[:, None]

    # patches are closed where each edge is run along as often one way as the other
    open_edges = np.flatnonzero(counts != 2)
    imbalance = _imbalance(signs, triangle_edges, patches, open_edges, len(counts), number)
    closed = np.asarray(abs(imbalance).sum(axis=0)).ravel() == 0
    groups = np.arange(number)
    if (counts > 2).any() and not closed.all():
        # patches meet at junctions: align them, and what stays open faces outward
        shared = counts[open_edges] > 2
        patch_flip = _aligned_patches(imbalance[np.flatnonzero(shared)], sizes)
        flip ^= patch_flip[patches]
        imbalance = csr_array(imbalance * np.where(patch_flip, -1, 1)[None, :])
        # groups are components, but each closed patch is one of its own
        component = components_by_edges(triangle_edges, len(counts))[np.unique(patches, return_index=True)[1]]
        groups = np.unique(np.where(closed, number + groups, component), return_inverse=True)[1]
        joined = coo_array((np.ones(number), (np.arange(number), groups))).tocsr()
        closed = (np.asarray(abs(imbalance @ joined).sum(axis=0)).ravel() == 0)[groups]
        unbalanced, open_triangles = np.unique(groups[~closed]), (counts[triangle_edges] == 1).any(axis=1)
        flip ^= _facing_inward(vertices[triangles], np.where(flip, -1, 1), groups[patches], unbalanced, open_triangles)
    if not closed.any():
        return flip
    # closed groups with a negative volume are turned inside out
    volumes, scales = _volumes(vertices, triangles, area_vectors, flip, groups[patches])
    inward = volumes < -1e-13 * scales
    flip ^= (closed & inward[groups])[patches]
    return flip


def _within_patches(triangles: NDArray, incidence: NDArray, counts: NDArray) -> tuple[NDArray, NDArray]:
    """Flips that make each patch (triangles joined by edges of exactly two triangles) consistent, and the patch
    labels."""
    number = len(triangles)
    first, second = edge_pairs(incidence, counts)
    signs = edge_signs(triangles).ravel()
    conflict = signs[first] == signs[second]
    first, second = (first // 3).astype(np.int32), (second // 3).astype(np.int32)
    patches = connected(first, second, number)
    if not conflict.any():
        return np.zeros(number, dtype=bool), patches
    rows = np.concatenate([2 * first, 2 * first + 1])
    columns = np.concatenate([2 * second + conflict, 2 * second + 1 - conflict])
    labels = connected(rows, columns, 2 * number).reshape(number, 2)
    one_sided = labels[:, 0] == labels[:, 1]
    if one_sided.any():
        ids = np.flatnonzero(one_sided)
        raise MeshError(
            f"one-sided surface: {len(ids)} triangles (first {ids[:5].tolist()}) form "
            f"{len(np.unique(patches[ids]))} patch(es) that cannot be oriented, like a Moebius strip; "
            "check it for wrongly joined faces, or cut the strip by doubling the vertices along a line"
        )
    seed = np.unique(patches, return_index=True)[1]
    return labels[:, 0] != labels[seed, 0][patches], patches


def _imbalance(
    signs: NDArray, triangle_edges: NDArray, patches: NDArray, open_edges: NDArray, number_of_edges: int, number: int
) -> csr_array:
    """How much more often a patch runs along an edge upward than downward, sparse (open edges, patches)."""
    position = np.full(number_of_edges, -1)
    position[open_edges] = np.arange(len(open_edges))
    rows = position[triangle_edges.ravel()]
    at = np.flatnonzero(rows >= 0)
    entries = (signs.ravel()[at].astype(np.int64), (rows[at], patches[at // 3]))
    return coo_array(entries, shape=(len(open_edges), number)).tocsr()


def _aligned_patches(imbalance: csr_array, sizes: NDArray) -> NDArray:
    """Patches to flip (number,), so that the sum of |imbalance| over the shared edges is small.

    Descent from the orientation given and from a spanning tree of the strongest couplings; the given one is preferred
    in a tie. Groups of coupled patches are flipped so that few triangles are.
    """
    given = _descent(imbalance, np.ones(imbalance.shape[1], dtype=np.int64))
    coupling = -(imbalance.T @ imbalance).tocoo()
    upper = coupling.row < coupling.col
    row, column, weight = coupling.row[upper], coupling.col[upper], coupling.data[upper]
    keep = weight != 0
    # SciPy before 1.17 finds spanning trees of 32-bit indices only
    row, column, weight = row[keep].astype(np.int32), column[keep].astype(np.int32), weight[keep]
    strength = csr_array((-np.abs(weight).astype(float), (row, column)), shape=coupling.shape)
    tree = minimum_spanning_tree(strength)
    sign_of = csr_array((np.sign(weight), (row, column)), shape=coupling.shape)
    sign_of = sign_of + sign_of.T
    signs = np.zeros(imbalance.shape[1], dtype=np.int64)
    for root in range(len(signs)):
        if signs[root]:
            continue
        signs[root] = 1
        order, before = breadth_first_order(tree, root, directed=False)
        for node in order[1:]:
            signs[node] = signs[before[node]] * int(sign_of[node, before[node]])
    tree_signs = _descent(imbalance, signs)
    better = np.abs(imbalance @ tree_signs).sum() < np.abs(imbalance @ given).sum()
    signs = tree_signs if better else given
    flip = signs < 0
    groups = connected_components(coupling, directed=False)[1]
    return flip ^ (np.bincount(groups, weights=np.where(flip, sizes, -sizes)) > 0)[groups]


def _descent(imbalance: csr_array, signs: NDArray) -> NDArray:
    """Flip single patches while that lowers the sum of |imbalance @ signs|."""
    columns = imbalance.tocsc()
    signs, total = signs.copy(), imbalance @ signs
    for _ in range(50):  # a few are used in practice
        changed = False
        for patch in range(len(signs)):
            part = slice(columns.indptr[patch], columns.indptr[patch + 1])
            rows, change = columns.indices[part], -2 * signs[patch] * columns.data[part]
            if np.abs(total[rows] + change).sum() < np.abs(total[rows]).sum():
                total[rows] += change
                signs[patch] *= -1
                changed = True
        if not changed:
            break
    return signs


def _facing_inward(
    corners: NDArray, signs: NDArray, groups: NDArray, chosen: NDArray, open_triangles: NDArray
) -> NDArray:
    """Mask (nt,) of the chosen groups without boundary whose outside (which exists although they are not the
    boundary of a volume) faces inward. corners (nt, 3, 3); signs (nt,): -1 where the normal is to be flipped;
    open_triangles (nt,): those with an edge of no other triangle."""
    inward = np.zeros(len(groups), dtype=bool)
    for group in np.setdiff1d(chosen, groups[open_triangles]):
        own = np.flatnonzero(groups == group)
        inward[own] = _last_faces_back(corners[own], signs[own])
    return inward


def _last_faces_back(corners: NDArray, signs: NDArray) -> bool:
    """Whether the last triangle of a surface on a line, which is seen from outside, faces back; False where each line
    that is tried meets an edge there. The lines are normals of the largest triangles."""
    u, v = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    normals = np.cross(u, v)
    areas = np.linalg.norm(normals, axis=1)
    for start in np.argsort(-areas)[:16]:
        origin, along = corners[start].mean(axis=0), normals[start] / areas[start]
        fall = normals @ along
        there = np.flatnonzero(np.abs(fall) > 1e-9 * areas)
        across = np.cross(along, origin - corners[there, 0])
        # barycentric coordinates of the points in which the line meets the planes (Moeller and Trumbore, 1997)
        b = np.einsum("ni,ni->n", v[there], across) / fall[there]
        c = -np.einsum("ni,ni->n", u[there], across) / fall[there]
        inside = np.minimum(np.minimum(b, c), 1 - b - c)
        way = np.einsum("ni,ni->n", corners[there, 0] - origin, normals[there]) / fall[there]
        last = np.argmax(np.where(inside > -TOLERANCES.near, way, -np.inf))
        if inside[last] > TOLERANCES.near:
            return bool(fall[there[last]] * signs[there[last]] < 0)
    return False


def _volumes(
    vertices: NDArray, triangles: NDArray, area_vectors: NDArray, flip: NDArray, groups: NDArray
) -> tuple[NDArray, NDArray]:
    """Signed volume of each group of triangles about a vertex of its own, and area^(3/2) as its scale."""
    seed = np.unique(groups, return_index=True)[1]
    corner = vertices[triangles[:, 0]]
    corner -= corner[seed][groups]
    parts = np.einsum("ij,ij->i", corner, area_vectors) / 3
    areas = np.bincount(groups, weights=np.sqrt(np.einsum("ij,ij->i", area_vectors, area_vectors)))
    return np.bincount(groups, weights=np.where(flip, -parts, parts)), areas**1.5


def signed_volumes(vertices: NDArray[np.float64], tetrahedra: NDArray[np.int64]) -> NDArray[np.float64]:
    """(nt,) volumes, positive where the fourth vertex lies on the right-handed side of the first three."""
    corners = vertices[tetrahedra]
    a, b, c = (corners[:, n] - corners[:, 0] for n in (1, 2, 3))
    return np.asarray(np.einsum("ni,ni->n", a, np.cross(b, c)) / 6)
