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
from calderon.solvers import factorised_matrix

NODE_SOFTENING = 0.15
"""d of `softened` between nodes over the root of a node's area: with .1, .2 as many steps on balls, with .07 a third
more."""


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
    skeleton, space = unknowns.skeleton, unknowns.potentials
    free, regions = np.flatnonzero(unknowns.node_electrodes < 0), list(skeleton.regions.values())
    # share of each region at a node: its area over that of the node, 1 of both regions away from junctions
    size, sides = space.element.size, skeleton.sides[space.triangles]
    areas = np.repeat(skeleton.mesh.areas[space.triangles] / size, 2 * size)
    rows, columns = np.repeat(space.dofs.ravel(), 2), np.repeat(sides[:, None], size, axis=1).ravel()
    area = np.bincount(rows, areas, space.dimension) / 2
    known = columns >= 0
    table = coo_array((areas[known], (rows[known], columns[known])), (space.dimension, len(regions))).tocsr()[free]
    table.sum_duplicates()
    place = np.arange(table.nnz) - np.repeat(table.indptr[:-1], np.diff(table.indptr))
    row = np.repeat(np.arange(len(free)), np.diff(table.indptr))
    shape = len(free), int(place.max(initial=0)) + 1
    own, shares = np.full(shape, -1), np.zeros(shape)
    own[row, place], shares[row, place] = table.indices, table.data / area[free][row]
    constants = np.array([each.constant for each in regions])
    total = (shares * np.where(own >= 0, constants[own], 0.0)).sum(axis=1)
    scales = equation.scales[len(skeleton.electrodes) : unknowns.number_of_potentials]
    media = Media(own, shares, [1 / each.constant for each in regions], [each.decay for each in regions])
    lengths = NODE_SOFTENING * np.sqrt(area[free])
    return factorised_matrix(space.nodes[free], softened(space.nodes[free, None], lengths, 2 / (total * scales), media))


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
