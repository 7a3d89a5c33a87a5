"""Integrals of many functions or fields against those of one space: points and test functions are tabulated once."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.quadrature import triangle_rule
from calderon.spaces import Space, VectorSpace
from calderon.spaces.geometry import reference_to_surface

EXTRA_DEGREE = 4  # above that of scalar test functions, as Space.load_vector
VECTOR_DEGREE = 5  # as VectorSpace.load_vector


@dataclass(frozen=True, eq=False)
class Loads:
    """points, normals (n, 3) of a quadrature on the surface; tested: weights times the test functions (dimension, n),
    or for tangential fields times their x, y and z components."""

    points: NDArray[np.float64]
    normals: NDArray[np.float64]
    tested: tuple[sp.csr_array, ...]

    def __matmul__(self, values: NDArray[Any]) -> NDArray[Any]:
        """The integrals (dimension,) of values (n,), or of a field (n, 3), at the points against the test functions."""
        components = values.reshape(len(values), -1).T
        bad = np.count_nonzero(~np.isfinite(components).all(axis=0))
        if bad:
            raise ValueError(
                f"{bad} of {len(values)} values on the surface are NaN or infinite: does a source lie on it?"
            )
        return sum(part @ each for part, each in zip(self.tested, components, strict=True))  # type: ignore[return-value]

    def plane_waves(self, phases: NDArray[Any], vectors: NDArray[np.float64]) -> NDArray[Any]:
        """(dimension, m) integrals of vectors (m, 3) times phases (n, m)."""
        return sum((part @ phases) * vectors[:, c] for c, part in enumerate(self.tested))  # type: ignore[return-value]


def tabulated_loads(space: Space | VectorSpace) -> Loads:
    """The quadrature of `space.load_vector`, ready for many functions."""
    if isinstance(space, Space):
        degree, triangles = EXTRA_DEGREE + space.element.degree, space.triangles
    else:
        degree, triangles = VECTOR_DEGREE, space.support
    rule, mesh = triangle_rule(degree), space.mesh
    weights = sp.diags_array((2 * mesh.areas[triangles, None] * rule.weights).ravel())
    points = reference_to_surface(mesh, triangles, rule.points).reshape(-1, 3)
    normals = np.repeat(mesh.normals[triangles], rule.number_of_points, axis=0)
    expansion = space.expansion(rule.points)
    parts = expansion if isinstance(expansion, list) else [expansion]
    return Loads(points, normals, tuple((weights @ part).T.tocsr() for part in parts))
