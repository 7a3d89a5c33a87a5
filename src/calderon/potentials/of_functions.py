"""Potentials of every function of a space at points, from which those of all densities follow.

They are also the integrals of fields of point sources against the functions, since G(x, y) = G(y, x): however near
a source lies to the surface, these are integrated as potentials near a surface are.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.greens import RadialGreen
from calderon.potentials.sources.point_triangle import Plane, point_triangle_integrals
from calderon.spaces import Space
from calderon.validation import one_or_more_points

AT_ONCE = 200_000
"""Pairs of a point and a triangle that are held at a time."""


def potentials_of_functions(
    green: RadialGreen, space: Space, points: ArrayLike, *, double: bool, gradient: bool = False
) -> NDArray[np.float64]:
    """(n, dimension) int k(x, y) phi_j(y) dS(y) at points x (n, 3) off the surface, k = G or, `double`, dG/dn_y; with
    `gradient` their gradients (n, dimension, 3) by x. In closed form for Laplace; real Green's functions."""
    x = one_or_more_points(points)
    mesh, triangles = space.mesh, space.triangles
    origin, scale = mesh.vertices.mean(axis=0), 1 / mesh.diameter
    values, size = 3 if gradient else 1, space.element.size
    total = np.zeros((len(x), space.dimension + 1, values))  # the last column is that of nodes left out
    surface = mesh.flat_triangles(triangles, "potentials of functions")
    corners, inside = (surface.corners - origin) * scale, (x - origin) * scale
    step = max(1, AT_ONCE // len(x))
    for low in range(0, len(triangles), step):
        some = slice(low, low + step)
        count = len(triangles[some])
        densities = np.broadcast_to(
            space.element.monomials.astype(complex), (count, size, space.element.monomials.shape[1])
        )
        plane = Plane.of(corners[some], surface.normals[some], densities)
        numbers = np.repeat(np.arange(count), len(x))
        given = np.tile(inside, (count, 1)), plane, numbers, green.wavenumber / scale, double, gradient
        found = point_triangle_integrals(*given).real.reshape(count, len(x), size, values)
        for local in range(size):
            np.add.at(total.swapaxes(0, 1), space.dofs[some, local], found[:, :, local])
    power = 1 - double - gradient  # of the length in the unit
    total = total[:, : space.dimension] * (scale**-power / (4 * np.pi))
    return total if gradient else total[:, :, 0]
