"""Integrals of functions against those of a space, and the functions of the space nearest to them in L2."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import splu

from calderon.mesh import TriangleMesh
from calderon.mesh.geometry import FlatTriangles
from calderon.quadrature import triangle_rule
from calderon.spaces.coefficients import function_in
from calderon.spaces.element import Element
from calderon.spaces.supports import supports_of


@dataclass(frozen=True, eq=False)
class Loads:
    """A quadrature on the surface for many functions or fields, with points and test functions tabulated once.

    points, normals (n, 3); tested: weights times the test functions (dimension, n), or for tangential fields times
    their x, y and z components. shapes (3, q): where test functions are linear on flat triangles of q points each,
    weights of the rule times the three linear functions of a triangle; `tested` then has the values at the corners.
    """

    points: NDArray[np.float64]
    normals: NDArray[np.float64]
    tested: tuple[sp.csr_array, ...]
    shapes: NDArray[np.float64] | None = None

    def __matmul__(self, values: NDArray[Any]) -> NDArray[Any]:
        """The integrals (dimension,) of values (n,), or of a field (n, 3), at the points against the test functions."""
        components = values.reshape(len(values), -1)
        bad = np.count_nonzero(~np.isfinite(components).all(axis=1))
        if bad:
            raise ValueError(
                f"{bad} of {len(values)} values on the surface are NaN or infinite: does a source lie on it?"
            )
        components = self._moments(components).T
        return sum(part @ each for part, each in zip(self.tested, components, strict=True))

    def _moments(self, values: NDArray[Any]) -> NDArray[Any]:
        """(triangles * 3, m) integrals of values (n, m) against the linear functions of each triangle over twice its
        area; the values where functions are not linear."""
        if self.shapes is None:
            return values
        split = values.reshape(-1, self.shapes.shape[1], values.shape[1])
        return np.asarray(self.shapes @ split).reshape(-1, values.shape[1])

    def plane_waves(self, phases: NDArray[Any], vectors: NDArray[np.float64]) -> NDArray[Any]:
        """(dimension, m) integrals of vectors (m, 3) times phases (n, m), complex numbers one after the other."""
        numbers = self._moments(phases.view(np.float64))
        parts = ((part @ numbers).view(np.complex128) * vectors[:, c] for c, part in enumerate(self.tested))
        return sum(parts)

    def phases(self, wavevectors: NDArray[np.float64]) -> NDArray[np.complex128]:
        """(n, m) values of exp(i k . x) for wavevectors k (m, 3) at the points; twice as fast as a complex exp."""
        angles = self.points @ wavevectors.T
        found = np.empty(angles.shape, np.complex128)
        np.cos(angles, out=found.real)
        np.sin(angles, out=found.imag)
        return found

    @cached_property
    def rotated(self) -> "Loads":
        """Loads whose integrals of a field v are those of n x v here: t . (n x v) = (t x n) . v."""
        normals = self.normals if self.shapes is None else np.repeat(self.normals[:: self.shapes.shape[1]], 3, axis=0)
        (x, y, z), (a, b, c) = self.tested, map(sp.diags_array, normals.T)
        tested = tuple(each.tocsr() for each in (y @ c - z @ b, z @ a - x @ c, x @ b - y @ a))
        return Loads(self.points, self.normals, tested, self.shapes)


def tabulated_loads(
    mesh: TriangleMesh,
    triangles: NDArray[np.int64],
    degree: int,
    expansion: Callable[[Any], list[sp.csr_array]],
    linear: bool = False,
) -> Loads:
    """By a rule of that degree on triangles (m,), with the expansion of a space on these triangles. linear: whether its
    functions are linear on each triangle, so that those that are flat take three numbers of a function instead of one
    at each point."""
    rule, geometry = triangle_rule(degree), mesh.geometry(triangles)
    points, normals = geometry.points(rule.points).reshape(-1, 3), geometry.normals_at(rule.points).reshape(-1, 3)
    shapes, places, weights = None, rule.points, geometry.weights(rule).ravel()
    if linear and isinstance(geometry, FlatTriangles):
        (u, v), places, weights = rule.points.T, Element(1).nodes, np.repeat(geometry.jacobian, 3)
        shapes = rule.weights * np.stack([1 - u - v, u, v])
    scale = sp.diags_array(weights)
    tested = tuple((scale @ part).T.tocsr() for part in expansion(places))
    for each in tested:  # indices of 32 bits, where they are enough
        if max(each.nnz, *each.shape) < np.iinfo(np.int32).max:
            each.indices, each.indptr = each.indices.astype(np.int32), each.indptr.astype(np.int32)
    return Loads(points, normals, tested, shapes)


class ProjectionSpace(ABC):
    """A space on which functions are projected in L2."""

    @cached_property
    def boxes(self) -> NDArray[np.float64]:
        """(dimension, 2, 3) boxes around the triangles of each function, as `supports_of` gives them."""
        return supports_of(self).boxes

    @abstractmethod
    def mass_matrix(self, test: Any = None) -> sp.csr_array:
        """(test.dimension, dimension) sparse matrix int phi_i psi_j."""

    @abstractmethod
    def load_vector(self, data: Any, degree: int | None = None) -> NDArray[Any]:
        """(dimension,) integrals int data phi_i."""

    def projection(self, data: Any, degree: int | None = None) -> Any:
        """The `Function` or `VectorFunction` of the space nearest to `data` in L2; arguments as in `load_vector`."""
        return function_in(self, self.solve_mass(self.load_vector(data, degree)))

    def solve_mass(self, right_hand_side: NDArray[Any]) -> NDArray[Any]:
        """Apply the inverse mass matrix to (dimension,) or (dimension, m), real or complex."""
        if np.iscomplexobj(right_hand_side):
            return self._mass_solver(right_hand_side.real.copy()) + 1j * self._mass_solver(right_hand_side.imag.copy())
        return self._mass_solver(np.asarray(right_hand_side, dtype=float))

    def __getstate__(self) -> dict[str, Any]:
        """Values for copies and other processes, without factors of the mass matrix, which are made again there."""
        return {name: value for name, value in vars(self).items() if name != "_mass_solver"}

    @cached_property
    def _mass_solver(self) -> Callable[[NDArray[Any]], NDArray[Any]]:
        return splu(self.mass_matrix().tocsc(), permc_spec="MMD_AT_PLUS_A").solve
