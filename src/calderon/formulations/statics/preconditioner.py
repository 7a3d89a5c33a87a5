"""An approximate inverse of the equation of single traces, whose steps hardly depend on meshes and materials.

In scaled unknowns (`equation.StaticEquation.scales`) it is the block diagonal matrix of

    I + sum over bodies g g^T / c     of potentials,       U U^T near V^-1     of fluxes.

V of all regions has few large eigenvalues, of smooth fluxes, and many of order h: `factorised_inverse` takes both.
D has eigenvalues down to those of smooth potentials, h / size, and the constant on a body without electrodes, g, is
annulled by the D of all regions: it is fixed by fluxes alone, through c = SPHERE sqrt(area) / sum over sides of 1 / a,
the capacitance of a sphere of that area.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.linalg import LinearOperator

from calderon.formulations.preconditioners import Media, layer_inverse, with_details
from calderon.formulations.statics.equation import SPHERE, StaticEquation


def static_inverse(equation: StaticEquation) -> LinearOperator:
    """The approximate inverse (n, n), in scaled unknowns."""
    unknowns = equation.unknowns
    count, bodies, inverse = unknowns.number_of_potentials, _bodies(equation), _inverse_of_fluxes(equation)

    def product(x: NDArray[np.float64]) -> NDArray[np.float64]:
        columns = x.reshape(len(x), -1)
        potentials = columns[:count] + bodies @ (bodies.T @ columns[:count])
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
