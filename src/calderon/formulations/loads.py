"""Right-hand sides of many functions on one space: points and test functions are tabulated once."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.quadrature import triangle_rule
from calderon.spaces import Space
from calderon.spaces.geometry import reference_to_surface

EXTRA_DEGREE = 4  # above that of the test functions, as Space.load_vector


@dataclass(frozen=True, eq=False)
class Loads:
    """points, normals (n, 3) of a quadrature on the surface; tested (dimension, n): weights times test functions."""

    points: NDArray[np.float64]
    normals: NDArray[np.float64]
    tested: sp.csr_array

    def __matmul__(self, values: NDArray[Any]) -> NDArray[Any]:
        """The integrals (dimension,) of values (n,) at the points against the test functions."""
        bad = len(values) - np.count_nonzero(np.isfinite(values))
        if bad:
            raise ValueError(
                f"{bad} of {len(values)} values on the surface are NaN or infinite: does a source lie on it?"
            )
        return self.tested @ values


def tabulated_loads(space: Space) -> Loads:
    """The quadrature of `space.load_vector`, ready for many functions."""
    rule = triangle_rule(EXTRA_DEGREE + space.element.degree)
    mesh, triangles = space.mesh, space.triangles
    weights = 2 * mesh.areas[triangles, None] * rule.weights
    points = reference_to_surface(mesh, triangles, rule.points).reshape(-1, 3)
    normals = np.repeat(mesh.normals[triangles], rule.number_of_points, axis=0)
    tested = (sp.diags_array(weights.ravel()) @ space.expansion(rule.points)).T.tocsr()
    return Loads(points, normals, tested)
