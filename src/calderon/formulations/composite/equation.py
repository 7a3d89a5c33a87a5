"""The equation of composite bodies: one matrix for all regions, from combinations of their currents.

In a region with the relative impedance z, J = n x H and M = -n x E, n into the region,

    E = E_inc + z T J - K M,        H = H_inc + K J + T M / z,

H times the impedance of the surroundings. Tested with the currents of the region, rows of E, then of -H,

    A = [[z T, -K], [-K, -T / z]],        sum over regions of C' A C x = C' [-<f, E_inc>, <f, H_inc>],

C = diag(C_J, C_M) the matrices of `junctions`. At interfaces the halves of principal values cancel, as n has two
directions; on metal E is tested alone. A. J. Poggio, E. K. Miller (1973); P. Yla-Oijala, M. Taskinen, J. Sarvas,
PIER 52 (2005) 81 for junctions. The matrix is complex symmetric.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.formulations.composite.junctions import RegionTraces
from calderon.formulations.electromagnetic.dielectric_regions import Region
from calderon.operators import BoundaryOperator, blocks, electric_field, magnetic_field, transformed
from calderon.spaces import EdgeSpace


def combined_equation(
    traces: Sequence[RegionTraces], regions: Sequence[Region], losses: Sequence[NDArray[np.complex128]]
) -> BoundaryOperator:
    """The operator between all unknowns. losses: of each region the impedance of sheets, relative to that of the
    surroundings, on each triangle, of which E = loss J."""
    total: Any = None
    for own, medium, loss in zip(traces, regions, losses, strict=True):
        part = transformed(_of_region(own, medium), left=_combinations(own), right=_combinations(own))
        total = part if total is None else total + part
        if loss.any():
            gram = own.electric.T @ weighted_gram(own.space, loss) @ own.electric
            total = total - blocks([[gram.tocsr()]])
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


def gram_of(traces: Sequence[RegionTraces]) -> sp.csr_array:
    """Sum over regions of C' G C, G the products of functions: positive definite, of the pattern of neighbours."""
    total: Any = 0
    for own in traces:
        mass = own.space.mass_matrix()
        total = total + own.electric.T @ mass @ own.electric + own.magnetic.T @ mass @ own.magnetic
    return total.tocsr()


def weighted_gram(space: EdgeSpace, weights: NDArray[np.complex128]) -> sp.csr_array:
    """(dimension, dimension) int w f_i . f_j with numbers w on the triangles (nt,)."""
    points = np.array([[1 / 6, 1 / 6], [2 / 3, 1 / 6], [1 / 6, 2 / 3]])  # exact for products of linear functions
    scale = sp.diags_array(np.repeat((weights * space.mesh.areas)[space.support] / 3, 3))
    return sum(part.T @ scale @ part for part in space.expansion(points)).tocsr()
