"""The equation of composite bodies: one matrix for all regions, from combinations of their currents.

In a region with the relative impedance z, J = n x H and M = -n x E, n into the region,

    E = E_inc + z T J - K M,        H = H_inc + K J + T M / z,

H times the impedance of the surroundings. Tested with the currents of the region, rows of E, then of -H,

    A = [[z T, -K], [-K, -T / z]],        sum over regions of C' A C x = C' [-<f, E_inc>, <f, H_inc>],

C = diag(C_J, C_M) the matrices of `junctions`. At interfaces the halves of principal values cancel, as n has two
directions; on metal E is tested alone. Along metal with the relative impedance Z, E = Z J and M = -Z n x J, whose
trace is Z J / 2: T J - K M - Z J / 2. On thin sheets, with one region on both sides, T J - Z J, without M. The matrix
is complex symmetric but for M on metal. A. J. Poggio, E. K. Miller (1973); of junctions P. Yla-Oijala, M. Taskinen,
J. Sarvas, PIER 52 (2005) 81.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.formulations.composite.finite_gaps import jump
from calderon.formulations.composite.junctions import RegionTraces
from calderon.formulations.electromagnetic.dielectric_regions import Region
from calderon.formulations.preconditioners import weighted_gram
from calderon.operators import BoundaryOperator, blocks, electric_field, identity, magnetic_field, transformed
from calderon.operators.tree import local_matrix
from calderon.solvers import sparse_inverse
from calderon.spaces import RBC


def combined_equation(
    traces: Sequence[RegionTraces],
    regions: Sequence[Region],
    losses: Sequence[NDArray[np.complex128]],
    leaving: Sequence[NDArray[np.int64]],
) -> BoundaryOperator:
    """The operator between all unknowns. losses: of each region the impedance of metal, relative to that of the
    surroundings, on each triangle, of which E = loss J. leaving: of each region, as of `RegionWalls`."""
    total: Any = None
    for own, medium, loss, sides in zip(traces, regions, losses, leaving, strict=True):
        part = transformed(_of_region(own, medium), left=_combinations(own), right=_combinations(own))
        total = part if total is None else total + part
        if loss.any():
            seen = np.where(sides == 0, loss, loss / 2)
            gram = own.electric.T @ weighted_gram(own.space, own.space, seen) @ own.electric
            total = total - blocks([[gram.tocsr()]])
        if own.driven.nnz:
            total = total + blocks([[jump(own.space, sides, own.magnetic, own.driven)]])
        if (magnetic := magnetic_factors(own, loss, sides)).nnz:
            total = total + _of_magnetic(own, medium, magnetic, np.where(sides == 0, 0.0, loss))
    return total


def magnetic_factors(traces: RegionTraces, loss: NDArray[np.complex128], leaving: NDArray[np.int64]) -> sp.csr_array:
    """(dimension, unknowns) coefficients of fields of which M on solid metal is -n x, n the normal of the mesh."""
    on_triangles = np.where(leaving == 0, 0.0, -leaving * loss)
    return sp.csr_array(sp.diags_array(on_triangles[traces.space.pairs[:, 0]]) @ traces.electric)


def magnetic_on_metal(traces: RegionTraces, factors: sp.csr_array, x: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """(dimension,) the coefficients of M on solid metal, by `magnetic_factors` and unknowns x (n,)."""
    tests = RBC(traces.space.mesh)
    inverse = sparse_inverse(traces.space.mass_matrix(tests))
    rotated = traces.space.perpendicular().mass_matrix(tests) @ (factors @ x)
    return np.asarray(-inverse.matmat(rotated[:, None].astype(complex))[:, 0])


def _of_magnetic(
    traces: RegionTraces, medium: Region, factors: sp.csr_array, on_metal: NDArray[np.complex128]
) -> BoundaryOperator:
    """The fields of M on solid metal, in the rows of E and of -H. n x of the functions f is found through the dual ones
    g: of v = n x u the products <n x g, v> = <n x g, n x u> are a pairing as well conditioned as the identity.
    on_metal: the impedance on each triangle, 0 where there is none."""
    space, green = traces.space, medium.green
    ends = on_metal[space.pairs]
    if (space.mesh.edge_triangle_counts != 2).any() or (ends[:, 0] != ends[:, 1]).any():
        raise ValueError(
            "metal with an impedance meets other surfaces at edges, or lies in a region in which others meet: M on it "
            "is found where closed surfaces stay apart; take a perfect conductor, or sheets within one region"
        )
    turned = identity(space.perpendicular(), RBC(space.mesh))
    magnetic = magnetic_field(green, space, space.perpendicular()) @ turned
    total = transformed(magnetic, left=traces.electric, right=factors)
    if traces.has_magnetic:
        electric = electric_field(green, space) @ turned
        total = total + (1 / medium.impedance) * transformed(electric, left=traces.magnetic, right=factors)
    return total


def _of_region(traces: RegionTraces, medium: Region) -> BoundaryOperator:
    """A of a region, between its own currents; without M where metal is all around."""
    space, green, z = traces.space, medium.green, medium.impedance
    electric = medium.operator(electric_field(green, space))
    if not traces.has_magnetic:
        return z * electric
    magnetic = medium.operator(magnetic_field(green, space, space.perpendicular()))
    return blocks([[z * electric, -magnetic], [-magnetic, (-1 / z) * electric]])


def _combinations(traces: RegionTraces) -> sp.csr_array:
    """C, the coefficients of J, then of M, of all unknowns."""
    parts = [traces.electric, traces.magnetic] if traces.has_magnetic else [traces.electric]
    return sp.vstack(parts).tocsr()


def local_equation(
    operator: BoundaryOperator, traces: Sequence[RegionTraces], regions: Sequence[Region]
) -> sp.csr_array:
    """A sparse matrix near that of `combined_equation`, `operator`, for its inverse: its sparse terms, and in each
    region T by `local_field`. K is left out, since functions on one plane have none."""
    total = local_matrix(operator)
    for own, medium in zip(traces, regions, strict=True):
        field = medium.local_field(own.space)
        total = total + medium.impedance * (own.electric.T @ field @ own.electric)
        total = total - (own.magnetic.T @ field @ own.magnetic) / medium.impedance
    return sp.csr_array(total)
