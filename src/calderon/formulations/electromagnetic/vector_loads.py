"""Integrals of vector fields against edge functions: points and functions are tabulated once for many fields."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.quadrature import triangle_rule
from calderon.spaces import VectorSpace
from calderon.spaces.geometry import reference_to_surface

DEGREE = 5


@dataclass(frozen=True, eq=False)
class VectorLoads:
    """points, normals (n, 3) of a quadrature on the surface; tested: for each of x, y, z (dimension, n) weights times
    that component of the test functions."""

    points: NDArray[np.float64]
    normals: NDArray[np.float64]
    tested: tuple[sp.csr_array, sp.csr_array, sp.csr_array]

    def __matmul__(self, values: NDArray[Any]) -> NDArray[Any]:
        """The integrals (dimension,) of a field (n, 3) at the points against the test functions."""
        bad = np.count_nonzero(~np.isfinite(values).all(axis=1))
        if bad:
            raise ValueError(
                f"{bad} of {len(values)} values on the surface are NaN or infinite: does a source lie on it?"
            )
        return sum(part @ values[:, c] for c, part in enumerate(self.tested))  # type: ignore[return-value]

    def plane_waves(self, phases: NDArray[Any], vectors: NDArray[np.float64]) -> NDArray[Any]:
        """(dimension, m) integrals of vectors (m, 3) times phases (n, m)."""
        return sum((part @ phases) * vectors[:, c] for c, part in enumerate(self.tested))  # type: ignore[return-value]


def vector_loads(space: VectorSpace) -> VectorLoads:
    """The quadrature of `space.load_vector`, ready for many fields."""
    rule = triangle_rule(DEGREE)
    mesh, triangles = space.mesh, space.support
    weights = 2 * mesh.areas[triangles, None] * rule.weights
    points = reference_to_surface(mesh, triangles, rule.points).reshape(-1, 3)
    normals = np.repeat(mesh.normals[triangles], rule.number_of_points, axis=0)
    diagonal = sp.diags_array(weights.ravel())
    x, y, z = ((diagonal @ part).T.tocsr() for part in space.expansion(rule.points))
    return VectorLoads(points, normals, (x, y, z))
