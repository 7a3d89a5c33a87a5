"""An approximate inverse of the equation of single traces, whose steps hardly depend on meshes and materials.

In scaled unknowns (`equation.StaticEquation.scales`) it is the block diagonal matrix of

    4 A^-1 (sum a G) A^-1 + sum over bodies g g^T / c   of potentials,     U U^T near V^-1   of fluxes.

V of all regions has few large eigenvalues, of smooth fluxes, and many of order h: `factorised_inverse` takes both.
On smooth surfaces V D is 1/4 but for a compact operator, by Calderon's identity V D = 1/4 - K^2. So the inverse of the
sum of a D over regions is near 4 A^-1 (sum over regions of a G) A^-1, with the kernel G = 1 / (4 pi r) between nodes of
each region, and A the sum of the constants on both sides of a node. Faces of a thin layer are coupled by its constant.
The constant on a body without electrodes, g, is annulled by the D of all regions: it is fixed by fluxes alone, through
c = SPHERE sqrt(area) / sum over sides of 1 / a, the capacitance of a sphere of that area.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.linalg import LinearOperator

from calderon.formulations.preconditioners import Media, layer_inverse, softened, with_details
from calderon.formulations.statics.equation import SPHERE, StaticEquation
from calderon.formulations.statics.unknowns import Unknowns
from calderon.solvers import factorised_matrix

NODE_SOFTENING = 0.15
"""d of `softened` between nodes over the root of a node's area. From .1 to .3 a ball, a coat, a head and a plate take
at most 5 of 9 to 21 steps more."""


def static_inverse(equation: StaticEquation) -> LinearOperator:
    """The approximate inverse (n, n), in scaled unknowns."""
    unknowns = equation.unknowns
    count, bodies, inverse = unknowns.number_of_potentials, _bodies(equation), _inverse_of_fluxes(equation)
    electrodes, smooth = len(unknowns.skeleton.electrodes), _inverse_of_potentials(equation)

    def product(x: NDArray[np.float64]) -> NDArray[np.float64]:
        columns = x.reshape(len(x), -1)
        potentials = bodies @ (bodies.T @ columns[:count])
        potentials[:electrodes] += columns[:electrodes]
        potentials[electrodes:] += smooth.matmat(columns[electrodes:count])
        return np.concatenate([potentials, inverse.matmat(columns[count:])]).reshape(x.shape)

    shape = (unknowns.dimension, unknowns.dimension)
    return LinearOperator(shape, matvec=product, rmatvec=product, matmat=product, dtype=np.float64)


def _inverse_of_fluxes(equation: StaticEquation) -> LinearOperator:
    """U U^T of fluxes, scaled, each in the regions that it bounds."""
    unknowns = equation.unknowns
    skeleton, size = unknowns.skeleton, unknowns.fluxes.element.size
    numbers, signs, _ = unknowns.flux_numbers
    triangle, side = np.nonzero(numbers >= 0)
    first = np.unique(numbers[triangle, side], return_index=True)[1]
    triangle, side = triangle[first], side[first]
    own = np.arange(2) == side[:, None]
    own |= (numbers[triangle, 0] == numbers[triangle, 1])[:, None]  # one flux on both sides of an interface
    areas = skeleton.mesh.areas[triangle]
    scales = equation.scales[unknowns.number_of_potentials :: size] / size
    present = skeleton.regions.values()
    media = Media(
        np.where(own, skeleton.sides[triangle], -1),
        signs[triangle],
        [each.constant for each in present],
        [each.decay for each in present],
    )
    means = layer_inverse(skeleton.mesh, triangle, areas * scales, media)
    return means if size == 1 else with_details(means, np.ones(len(areas)))


def _inverse_of_potentials(equation: StaticEquation) -> LinearOperator:
    """4 A^-1 (sum over regions of a G) A^-1 between free nodes, scaled."""
    unknowns = equation.unknowns
    skeleton, nodes = unknowns.skeleton, unknowns.potentials.nodes[unknowns.node_electrodes < 0]
    regions = list(skeleton.regions.values())
    areas, shares = _regions_of_nodes(unknowns)
    total = shares @ np.array([each.constant for each in regions])
    scales = equation.scales[len(skeleton.electrodes) : unknowns.number_of_potentials]
    # rows of the sparse shares, padded
    place = np.arange(shares.nnz) - np.repeat(shares.indptr[:-1], np.diff(shares.indptr))
    row, shape = np.repeat(np.arange(len(nodes)), np.diff(shares.indptr)), (len(nodes), place.max(initial=0) + 1)
    own, signs = np.full(shape, -1), np.zeros(shape)
    own[row, place], signs[row, place] = shares.indices, shares.data
    media = Media(own, signs, [1 / each.constant for each in regions], [each.decay for each in regions])
    lengths = NODE_SOFTENING * np.sqrt(areas)
    return factorised_matrix(nodes, softened(nodes[:, None], lengths, 2 / (total * scales), media))


def _regions_of_nodes(unknowns: Unknowns) -> tuple[NDArray[np.float64], csr_array]:
    """(free nodes,) the area of each, and (free nodes, regions) the part of it at each region: 1 of the regions at both
    sides away from junctions."""
    skeleton, space = unknowns.skeleton, unknowns.potentials
    size, sides = space.element.size, skeleton.sides[space.triangles]
    areas = np.repeat(skeleton.mesh.areas[space.triangles] / size, 2 * size)
    rows, columns = np.repeat(space.dofs.ravel(), 2), np.repeat(sides[:, None], size, axis=1).ravel()
    area = np.bincount(rows, areas, space.dimension) / 2
    known, free = columns >= 0, unknowns.node_electrodes < 0
    shape = space.dimension, len(skeleton.regions)
    found = csr_array(coo_array(((areas / area[rows])[known], (rows[known], columns[known])), shape))
    return area[free], found[np.flatnonzero(free)]


def _bodies(equation: StaticEquation) -> csr_array:
    """(potentials, bodies) g / sqrt(c) of each connected part of the skeleton without electrodes, scaled."""
    unknowns = equation.unknowns
    skeleton, mesh = unknowns.skeleton, unknowns.skeleton.mesh
    part = mesh.components
    number = int(part.max()) + 1
    total = np.zeros(number)
    for each, region in enumerate(skeleton.regions.values()):
        sides = np.count_nonzero(skeleton.sides == each, axis=1)
        total += np.bincount(part, mesh.areas * sides / region.constant, number)
    area = np.bincount(part, mesh.areas, number)
    capacitances = SPHERE * area**1.5 / total
    space = unknowns.potentials
    node_part = np.empty(space.dimension, np.int64)
    node_part[space.dofs] = part[space.triangles][:, None]
    free = np.ones(number, bool)
    free[part[skeleton.electrode_of >= 0]] = False
    nodes = np.flatnonzero(free[node_part])
    rows, columns = unknowns.node_numbers[nodes], node_part[nodes]
    values = 1 / (equation.scales[rows] * np.sqrt(capacitances[columns]))
    return csr_array(coo_array((values, (rows, columns)), (unknowns.number_of_potentials, number)))
