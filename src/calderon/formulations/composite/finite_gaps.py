"""Currents of generators in gaps of finite width, which are one more unknown each.

On the cells of a gap J_1 + J_2 = j I, the currents n x H at both of its sides, with a density j of 1 A that is given to
the side of the normals. There E is continuous, and -<g, n x j> I / 2 is what j adds to the rows of -H, tested with
the functions g of M, besides -<g, K j> I. With <j, E> = -U, which is 2 <j, z T J - K M> and <j, n x M>, the mean of
both in the row of I has the transposed entry, so that the matrix stays symmetric: ports are reciprocal, and what is
accepted is radiated but for the field that the currents of the other side have where it should be zero.
"""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.formulations.composite.skeleton import Skeleton
from calderon.formulations.ports.finite_gap import FiniteGap
from calderon.formulations.preconditioners import weighted_gram
from calderon.mesh import TriangleMesh
from calderon.spaces import EdgeSpace

Floats = NDArray[np.float64]
SMALL, CORRECTIONS = 1e-9, 3
"""A number instead of zero among conditions, over the square of their entries by products of functions, and how often
its effect is corrected."""


def cells_of(gap: FiniteGap, mesh: TriangleMesh) -> NDArray[np.bool_]:
    """(nt,) which triangles are those of a gap."""
    found = np.isin(mesh.tags, mesh.tag_numbers(gap.cells))
    if not found.any():
        raise ValueError(f"no triangle has the tag {gap.cells!r} of a gap")
    return np.asarray(found)


def region_of(gap: FiniteGap, skeleton: Skeleton) -> int:
    """The number of the region that j of a gap is given to; ValueError where the cells are no interface of two."""
    cells = cells_of(gap, skeleton.mesh)
    if skeleton.is_metal[cells].any():
        raise ValueError(f"the cells {gap.cells!r} of a gap are metal: a gap lies in an interface, between metal")
    regions = np.unique(skeleton.sides[cells], axis=0)
    if len(regions) > 1:
        raise ValueError(f"the cells {gap.cells!r} of a gap lie between several pairs of regions: one is possible")
    return int(regions[0, 0])


def flow(gap: FiniteGap, skeleton: Skeleton, region: int, space: EdgeSpace) -> Floats:
    """(dimension,) coefficients of j of 1 A in the functions of a region: without divergence in the cells, through no
    other of their edges than those on the metal, into which halves of functions reach, and of least int |j|^2."""
    mesh, chosen = space.mesh, skeleton.triangles_of(region)
    cells = cells_of(gap, skeleton.mesh)[chosen]
    ends = [np.isin(mesh.tags, mesh.tag_numbers(tags)) for tags in gap.between]
    metal = skeleton.is_metal[chosen]
    if (ends[0] & ends[1]).any() or not (metal[ends[0]].all() and metal[ends[1]].all()):
        raise ValueError(f"between={gap.between!r}: a gap lies between two pieces of metal with different tags")
    pairs, inside = space.pairs, cells[space.pairs]
    within = inside.all(axis=1)
    first, second = ((inside[:, 0] & end[pairs[:, 1]]) | (inside[:, 1] & end[pairs[:, 0]]) for end in ends)
    for tags, at in zip(gap.between, (first, second), strict=True):
        if not at.any():
            raise ValueError(f"no edge joins the cells {gap.cells!r} of a gap to the metal {tags!r}")
    used = np.flatnonzero(within | first | second)
    if (mesh.edge_triangle_counts[space.edges[used]] > 2).any():
        raise ValueError(f"more than two surfaces meet at an edge of the gap {gap.cells!r}: metal that stands on the "
                         "ends of a gap is possible one cell away from it")  # fmt: skip
    # least squares under the conditions of flow
    outward = space.divergence_matrix()[np.flatnonzero(cells)][:, used]
    into = np.where(inside[used, 1], 1.0, -1.0) * mesh.edge_lengths[space.edges[used]] * first[used]
    conditions = sp.vstack([outward, sp.csr_array(into[None])]).tocsr()
    mass = weighted_gram(space, space, cells.astype(float))[used][:, used]
    side = np.zeros(len(used) + conditions.shape[0])
    side[-1] = 1.0
    found, error = _least(mass, conditions, side)
    if not error < 1e-8:
        raise ValueError(f"no current flows through all cells {gap.cells!r} from {gap.between[0]!r} to "
                         f"{gap.between[1]!r}: the cells of a gap are one piece that reaches both")  # fmt: skip
    total = np.zeros(space.dimension)
    total[used] = found[: len(used)]
    return total


def _least(mass: sp.csr_array, conditions: sp.csr_array, side: Floats) -> tuple[Floats, float]:
    """The solution of [[mass, C'], [C, 0]] x = side and its largest error over the largest side. Conditions C that
    depend on each other, of cells that no metal meets, leave multipliers open: with a small -d instead of 0 there are
    factors, and corrections bring what d changes to zero, unless no current meets the conditions. These count by the
    norms of their rows."""
    norms = np.sqrt(np.asarray(conditions.multiply(conditions).sum(axis=1))).ravel()
    conditions = sp.csr_array(sp.diags_array(1 / norms) @ conditions)
    side = np.concatenate([side[: mass.shape[0]], side[mass.shape[0] :] / norms])
    system = sp.block_array([[mass, conditions.T], [conditions, None]]).tocsr()
    small = SMALL * float(abs(conditions).max()) ** 2 / float(abs(mass).max())
    shift = sp.diags_array(np.repeat([0.0, -small], [mass.shape[0], conditions.shape[0]]))
    factors = sp.linalg.splu((system + shift).tocsc())
    found = np.zeros(len(side))
    for _ in range(CORRECTIONS):
        found += factors.solve(side - system @ found)
    return found, float(np.abs(system @ found - side).max() / np.abs(side).max())


def jump(space: EdgeSpace, leaving: NDArray[np.int64], magnetic: sp.csr_array, electric: sp.csr_array) -> sp.csr_array:
    """(N, N) -<g, n x j> / 2 and its transpose, n into a region. magnetic, electric: (dimension, N) coefficients of
    g, and of j alone."""
    half = -0.5 * (magnetic.T @ weighted_gram(space, space.perpendicular(), -leaving.astype(float)) @ electric)
    return sp.csr_array(half + half.T)


def driven_currents(
    gaps: Sequence[FiniteGap], skeleton: Skeleton, region: int, space: EdgeSpace, unknowns: int
) -> sp.csr_array:
    """(dimension, unknowns) the j of gaps that are given to a region, whose currents are the last unknowns."""
    found = sp.lil_array((space.dimension, unknowns))
    for number, gap in enumerate(gaps, start=unknowns - len(gaps)):
        if region_of(gap, skeleton) == region:
            found[:, [number]] = flow(gap, skeleton, region, space)[:, None]
    return found.tocsr()
