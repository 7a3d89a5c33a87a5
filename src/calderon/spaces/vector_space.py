"""Spaces of tangential vector fields: what functions of edges and combinations of them have in common."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from calderon.mesh import TriangleMesh
from calderon.quadrature import triangle_rule
from calderon.spaces.coefficients import function_in
from calderon.spaces.interning import interned
from calderon.spaces.projection import Loads, ProjectionSpace, tabulated_loads
from calderon.spaces.space import evaluate_data

VectorData = ArrayLike | Callable[..., Any]
"""A tangential field: three numbers, f(x) or f(x, n) with points and normals (n, 3) and values (n, 3)."""
DEGREE = 5
"""Default degree of the quadrature of fields on the surface."""


class VectorSpace(ProjectionSpace):
    """Tangential vector fields  g_j = sum_i matrix[i, j] f_i  of edge functions f_i.

    base: the space of the f_i (see `EdgeSpace`, which is its own base); matrix (base.dimension, dimension) sparse. A
    Galerkin matrix of this space is  test.matrix.T @ A @ trial.matrix  with the matrix A of the bases. mesh: the
    surface that was given for the space, on which it can be paired with others; base.mesh may be a refinement of it.
    rotated: whether the f_i are n x f, with curl instead of divergence. support (m,): increasing numbers of the
    triangles of base.mesh on which functions live.
    """

    name: str
    mesh: TriangleMesh
    base: "VectorSpace"
    matrix: sp.csr_array
    rotated: bool
    dimension: int
    support: NDArray[np.int64]

    @abstractmethod
    def refined(self) -> "VectorSpace":
        """The functions as combinations of edge functions of the barycentric refinement of `mesh`."""

    @abstractmethod
    def perpendicular(self) -> "VectorSpace":
        """The space of the same functions without n x if they have it, else with it."""

    @abstractmethod
    def expansion(self, points: NDArray[np.float64]) -> list[sp.csr_array]:
        """Three (m * q, dimension) sparse matrices: coefficients to the x, y, z parts of the field at reference points
        (q, 2) of each triangle of the support in turn.
        """

    @abstractmethod
    def divergence_matrix(self) -> sp.csr_array:
        """(m, dimension) sparse: coefficients to the surface divergence (1/m), constant on each triangle of the
        support. ValueError for rotated functions, which have a surface curl instead.
        """

    @abstractmethod
    def interpolation(self, data: VectorData, points: int = 4) -> Any:
        """The `VectorFunction` with the mean normal component of `data` over edges (tangential if rotated), by `points`
        Gauss points an edge: exact for fields of the space.
        """

    @property
    def charge_kinds(self) -> tuple[str, ...]:
        """The kinds of `Charges` that the functions have."""
        return ("current", "rotated") if self.rotated else ("current", "rotated", "divergence")

    def mass_matrix(self, test: "VectorSpace | None" = None) -> sp.csr_array:
        """(test.dimension, dimension) sparse matrix int g_i . g_j of test functions g_i and functions g_j of this
        space, exact.

        Any two spaces on one mesh can be paired: int (n x f_i) . f_j for SNC and RWG, or BC with RWG, which is brought
        to the refined mesh. Raises ValueError for spaces on different mesh objects.
        """
        test = self if test is None else test
        if not isinstance(test, VectorSpace):
            raise ValueError(f"{self.name} pairs with spaces of vector fields, got {test!r}: try RWG, SNC, BC or RBC")
        if test.mesh is not self.mesh:
            raise ValueError("a mass matrix couples two spaces on the same mesh object: build both from one mesh")
        trial: VectorSpace = self
        if trial.base.mesh is not test.base.mesh:
            trial = trial if trial.base.mesh is not trial.mesh else trial.refined()
            test = test if test.base.mesh is not test.mesh else test.refined()
        weights, trial_parts, test_parts = _common_expansions(trial.base, test.base)
        scale = sp.diags_array(weights)
        pairing = sum(left.T @ scale @ right for left, right in zip(test_parts, trial_parts, strict=True))
        return (test.matrix.T @ pairing @ trial.matrix).tocsr()

    def load_vector(self, data: VectorData, degree: int | None = None) -> NDArray[Any]:
        """(dimension,) integrals int g_i . data over the triangles of `base`.

        data: three numbers, f(x) or f(x, n) with points and normals (n, 3) and values (n, 3); nothing is conjugated.
        degree: of the quadrature rule, 1 to 20, default 5. Raises ValueError for values of a wrong shape or not finite.
        """
        loads = self.loads(degree)
        return loads @ evaluate_data(data, loads.points, loads.normals, (3,))

    def loads(self, degree: int | None = None) -> Loads:
        """The quadrature of `load_vector`, for many fields."""
        degree = DEGREE if degree is None else degree
        return tabulated_loads(self.base.mesh, self.support, degree, self.expansion, linear=True)


def _common_expansions(
    trial: VectorSpace, test: VectorSpace
) -> tuple[NDArray[np.float64], list[sp.csr_array], list[sp.csr_array]]:
    """Weights of a rule that integrates products exactly on the triangles of both supports, and both expansions
    there.
    """
    rule = triangle_rule(2)
    common = np.intersect1d(trial.support, test.support, assume_unique=True)
    weights = trial.mesh.geometry(common).weights(rule).ravel()
    parts = []
    for space in (trial, test):
        rows = np.searchsorted(space.support, common)[:, None] * rule.number_of_points
        chosen = (rows + np.arange(rule.number_of_points)).ravel()
        whole = len(common) == len(space.support)
        parts.append([part if whole else part[chosen] for part in space.expansion(rule.points)])
    return weights, parts[0], parts[1]


@dataclass(frozen=True, eq=False)
class CombinedSpace(VectorSpace):
    """Combinations of edge functions of a refined mesh, such as the dual functions BC and RBC.

    moments (dimension, base.dimension) sparse: a left inverse of `matrix`, coefficients in `base` to those here.
    edges (dimension,): the edge of `mesh` that each function belongs to.
    """

    name: str
    mesh: TriangleMesh
    base: VectorSpace
    matrix: sp.csr_array
    moments: sp.csr_array
    edges: NDArray[np.int64]

    def __repr__(self) -> str:
        return f"{self.name}({self.dimension} functions on {len(self.support)} refined triangles)"

    @property
    def rotated(self) -> bool:  # type: ignore[override]
        return self.base.rotated

    @property
    def dimension(self) -> int:  # type: ignore[override]
        return int(self.matrix.shape[1])

    @property
    def support(self) -> NDArray[np.int64]:  # type: ignore[override]
        return self.base.support

    def refined(self) -> "CombinedSpace":
        return self

    def perpendicular(self) -> "CombinedSpace":
        name = {"BC": "RBC", "RBC": "BC", "RWG": "SNC", "SNC": "RWG"}[self.name]
        base = self.base.perpendicular()

        def build() -> CombinedSpace:
            return CombinedSpace(name, self.mesh, base, self.matrix, self.moments, self.edges)

        return interned(self.mesh, ("combined", name, id(base)), build)

    def expansion(self, points: NDArray[np.float64]) -> list[sp.csr_array]:
        return [(part @ self.matrix).tocsr() for part in self.base.expansion(points)]

    def divergence_matrix(self) -> sp.csr_array:
        return (self.base.divergence_matrix() @ self.matrix).tocsr()

    def interpolation(self, data: VectorData, points: int = 4) -> Any:
        return function_in(self, self.moments @ self.base.interpolation(data, points).coefficients)
