"""The stress on the surface of a solid, from tangential strains and tractions by Hooke's law.

In the frame (e_1, e_2, n) of a triangle the strains e_11, e_22, e_12 come from the displacement on it, and the stresses
s_13, s_23, s_33 are the traction; with k = E / (1 - nu^2)

    s_11 = k (e_11 + nu e_22) + nu / (1 - nu) s_33,   s_22 likewise,   s_12 = 2 mu e_12.

Values at a vertex are means, weighted by areas, over the triangles of one tag around it between which no edge is sharp.

Errors of a solution are estimated from the jumps of its stress between triangles. With the stress s of the triangles,
its means s* at vertices, and the means s** at vertices of the means of s* over triangles,

    e_u = 0.2 (|s - s*| / |s*|)^2,    e_s = 0.4 |s** - s*| / |s*|,

in the norm of L^2 of the surface. The first is the jump that O. C. Zienkiewicz, J. Z. Zhu (1987) take for the error of
the energy, to which errors of displacements are similar; the second is what one more mean would change. Factors are
measured: docs/guides/solids.md has the ratios to errors that are known. Errors of the solver and of the matrix, which
small triangles amplify, jump from triangle to triangle: the largest |s** - s*| over the largest |s*| is a bound of
them, and NOISE times their estimate (`accuracy.FinerMatrices`) another one. The smaller bound replaces e_s where it is
larger.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends.threads import in_parts
from calderon.formulations.elastic.material import ElasticMaterial
from calderon.mesh import TriangleMesh
from calderon.mesh.topology import connected
from calderon.spaces import Function
from calderon.spaces.element import Element

Array = NDArray[np.float64]
DISPLACEMENT, STRESS, NOISE = 0.2, 0.4, 3.0
"""Factors of the estimated errors."""


def strain_matrix(space: Any, fields: sp.csr_array, displacements: int) -> sp.csr_array:
    """The matrix (k, unknowns) from unknowns with E = 1 to the strains e_11, e_22, 2 e_12 in the plane of triangles, at
    their corners, and to the unknown tractions. space: of displacements. fields (3 n + l, unknowns): displacements and
    below them tractions of unknowns, the first `displacements` of which are those of displacement. Triangles all of
    whose nodes move freely are taken, if there are any."""
    free, bound = fields[: space.dimension, :displacements], fields[space.dimension :, displacements:]
    scalar, mesh = space.scalar, space.mesh
    corners = Element(1).nodes
    corners = corners if scalar.element.degree > 1 else corners.mean(axis=0, keepdims=True)
    moving = np.asarray(abs(free).sum(axis=1)).ravel().reshape(-1, 3) > 0
    chosen = np.asarray(moving.all(axis=1))[scalar.dofs].all(axis=1)
    points = np.repeat(chosen if chosen.any() else ~chosen, len(corners))
    first = mesh.vertices[mesh.triangles[:, 1]] - mesh.vertices[mesh.triangles[:, 0]]
    first = first / np.linalg.norm(first, axis=1, keepdims=True)
    axes = [np.repeat(each, len(corners), axis=0)[points] for each in (first, np.cross(mesh.normals, first))]
    slopes = [each[points] for each in scalar.surface_gradient(corners)]

    def along(one: Array, other: Array) -> Any:
        """one . (other . grad) u."""
        slope = sum(sp.diags_array(other[:, c]) @ slopes[c] for c in range(3))
        return sum(sp.kron(sp.diags_array(one[:, c]) @ slope, np.eye(3)[c : c + 1]) for c in range(3))

    one, two = axes
    strains = sp.vstack([along(one, one), along(two, two), along(one, two) + along(two, one)])
    return sp.block_diag([strains @ free, bound[np.diff(bound.indptr) > 0]], format="csr")


def corner_stresses(material: ElasticMaterial, displacement: Function, traction: Function, free: Array) -> Array:
    """The stress (m, 3, 3, 3) of each triangle at its vertices, not averaged, of a displacement and a traction on the
    surface. free (m, 3): strain without stress there."""
    mesh = displacement.space.mesh
    first = mesh.vertices[mesh.triangles[:, 1]] - mesh.vertices[mesh.triangles[:, 0]]
    first = first / np.linalg.norm(first, axis=1, keepdims=True)
    frames = np.stack([first, np.cross(mesh.normals, first), mesh.normals], axis=1)
    corners = Element(1).nodes
    gradients, tractions = displacement.surface_gradient(corners), traction.values(corners)
    found = np.empty_like(gradients)

    def work(low: int, high: int) -> None:
        """Write the stresses of the triangles low .. high."""
        own = slice(low, high)
        found[own] = _stresses(material, frames[own], gradients[own], tractions[own], free[own])

    in_parts(work, len(found))
    return found


def _stresses(material: ElasticMaterial, frames: Array, gradients: Array, tractions: Array, free: Array) -> Array:
    """The stresses (m, 3, 3, 3) of some triangles at their vertices, from frames (m, 3, 3), gradients of displacements
    (m, 3, 3, 3), tractions (m, 3, 3) and strains without stress, free (m, 3)."""
    local = frames[:, None] @ gradients @ frames[:, None].swapaxes(2, 3)
    force = tractions @ frames.swapaxes(1, 2)
    nu, mu = material.poissons_ratio, material.shear_modulus
    stiffness, coupled = material.youngs_modulus / (1 - nu**2), nu / (1 - nu)
    stress = np.zeros_like(local)
    e11, e22 = local[..., 0, 0] - free, local[..., 1, 1] - free
    stress[..., 0, 0] = stiffness * (e11 + nu * e22) + coupled * force[..., 2]
    stress[..., 1, 1] = stiffness * (e22 + nu * e11) + coupled * force[..., 2]
    stress[..., 0, 1] = stress[..., 1, 0] = mu * (local[..., 0, 1] + local[..., 1, 0])
    stress[..., 2, :] = stress[..., :, 2] = force
    return np.asarray(frames[:, None].swapaxes(2, 3) @ stress @ frames[:, None])


def averaged(mesh: TriangleMesh, stresses: Array, patch: NDArray[np.int64] | None = None) -> Array:
    """(m, 3, 3, 3) means at the vertices of smooth patches; patch: `smooth_corners`, where they are known."""
    patch = smooth_corners(mesh) if patch is None else patch
    weights = np.repeat(mesh.areas, 3)
    gather = sp.csr_array((weights, patch, np.arange(len(patch) + 1)))
    means = (gather.T @ stresses.reshape(len(patch), 9)) / np.bincount(patch, weights)[:, None]
    return np.asarray(means[patch].reshape(stresses.shape))


def smooth_corners(mesh: TriangleMesh) -> NDArray[np.int64]:
    """(3 m,) number of the patch of each corner of a triangle: around a vertex, of one tag, without a sharp edge."""
    one, two = mesh.paired_sides
    smooth = ~np.isin(mesh.triangle_edges.ravel()[one], mesh.sharp_edges())
    smooth &= mesh.tags[one // 3] == mesh.tags[two // 3]
    (a, b), (i, j) = np.divmod([one[smooth], two[smooth]], 3)
    left = [3 * a + (i + 1) % 3, 3 * a + (i + 2) % 3]
    right = [3 * b + (j + 2) % 3, 3 * b + (j + 1) % 3]  # neighbours run along their edge in opposite directions
    return np.asarray(connected(np.concatenate(left), np.concatenate(right), 3 * len(mesh.triangles)), np.int64)


def estimated_errors(mesh: TriangleMesh, stresses: Array, free: Array, noise: float) -> tuple[float, float]:
    """Relative errors of displacements and of averaged stresses on the surface, from stresses (m, 3, 3, 3) of triangles
    at their vertices. free (m, 3): stress of the strain that is free, where a body expands without stress. noise: the
    relative error of the largest stress by solver and matrix, about."""

    def size(tensors: Array) -> float:
        """The norm of tensors (m, 3, 3, 3) in L^2 of the surface."""
        return float(np.sqrt(mesh.areas @ (tensors.reshape(len(tensors), -1) ** 2).sum(axis=1) / 3))

    patch = smooth_corners(mesh)
    means = averaged(mesh, stresses, patch)
    again = averaged(mesh, np.repeat(means.mean(axis=1)[:, None], 3, axis=1), patch)
    scale = max(size(means), size(free))
    if scale == 0:
        return 0.0, 0.0
    largest = max(_largest(means), float(np.abs(free).max(initial=0.0)))
    stress = max(STRESS * size(again - means) / scale, min(_largest(again - means) / largest, NOISE * noise))
    return DISPLACEMENT * (size(stresses - means) / scale) ** 2, stress


def _largest(tensors: Array) -> float:
    """The largest norm of tensors (..., 3, 3)."""
    return float(np.sqrt((tensors**2).sum(axis=(-2, -1)).max(initial=0.0)))
