"""The change of volume of cavities: one equation for each, which holds however incompressible a solid is.

With the normals n of the surface S_k of a cavity, V n = 0 and <n, (1/2 + K) u> = 0 for all u where Poisson's ratio is
1/2: the rows of (1/2 + K) u = V t, summed with n, are of the order 1 - 2 nu on both sides, and the errors of rules and
of test functions, which do not contain n, are not. What the rows state is that no point of the cavity is dilated by
int (U t - T u). Its dilatation is (1 - 2 nu) / (2 mu (1 - nu)) times the divergence of the single and the double layer
of Laplace with the densities t and 2 mu u. Summed over the cavity, with the layers V_0 and K_0 of Laplace for each
component,

    <n, (1/2 + K_0) u>_k = <n, V_0 t>_k / (2 mu),

Betti's reciprocity with the gradient of the Newton potential of the cavity. It has no 1 - 2 nu, and takes the place of
that sum of rows.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.formulations.elastic.conditions.rigid_motions import rigid_motions
from calderon.formulations.elastic.system.columns import Spaces, restricted
from calderon.greens import Laplace
from calderon.mesh.containment import nested_components
from calderon.operators import adjoint_double_layer, single_layer
from calderon.operators.methods import candidates
from calderon.quadrature import Quadrature
from calderon.solvers import cg, jacobi
from calderon.spaces import P0, NodalVectorSpace

Array = NDArray[np.float64]
RTOL = 1e-5
"""Tolerance of the layers of Laplace, where they are compressed, and of the combinations of test functions."""


@dataclass(frozen=True, eq=False)
class VolumeBalance:
    """The balances that replace k sums of rows of an equation A x = b.

    rows (unknowns, k): C, orthonormal columns, the sums. columns (unknowns, k): F; F^T x is the unknown part of the
    balance. forms (columns, k): the balance of displacements and tractions of a solid with E = 1. share (k,): C^T A is
    about share F^T.
    """

    rows: sp.csr_array
    columns: Array
    forms: Array
    share: Array

    def replace_rows(self, matrix: Array) -> None:
        """Replace the sums of rows in a matrix A (unknowns, unknowns)."""
        own = np.flatnonzero(np.diff(self.rows.indptr))
        weights = self.rows[own].toarray()
        matrix[own] += weights @ (self.columns.T - weights.T @ matrix[own])

    def product(self, product: Array, x: Array) -> Array:
        """The product (1 - C C^T) A x + C F^T x (unknowns, k), from A x and x (unknowns, k)."""
        return np.asarray(product + self.rows @ (self.columns.T @ x - self.rows.T @ product))

    def right(self, right: Array, known: Array) -> Array:
        """The right-hand sides (unknowns, k) with balances instead of the sums. right (unknowns, k): those of A. known
        (columns, k): known displacements and tractions over E."""
        return np.asarray(right - self.rows @ (self.forms.T @ known + self.rows.T @ right))

    @property
    def change(self) -> tuple[sp.csr_array, Array]:
        """C and G, with C G^T about what is added to A."""
        return self.rows, self.columns * (1 - self.share)

    def change_of(self, numbers: NDArray[np.int64]) -> Array:
        """The part of C G^T between some unknowns (n,)."""
        rows, columns = self.change
        return np.asarray(rows[numbers] @ columns[numbers].T)


@dataclass(frozen=True, eq=False)
class CavityForms:
    """The balances of k cavities of one body.

    spaces: of the body. forms (columns, k): <n, (1/2 + K_0) u> and -<n, V_0 t> / (2 mu) for E = 1 of displacements and
    tractions, one below the other. faces: constants on the triangles of cavities. normals (3 faces, k): n in these.
    ratio: Poisson's.
    """

    spaces: Spaces
    faces: NodalVectorSpace
    normals: Array
    forms: Array
    ratio: float

    def in_unknowns(self, rows: Any, scale: Array) -> VolumeBalance | None:
        """The balances in unknowns; None where they have none. rows: the `BodyRows` of the body. scale: as in
        `Equation`."""
        columns = rows.fields.T @ self.forms
        sums = self._combinations(rows.tests) / scale[:, None]
        sizes, lengths = np.linalg.norm(columns, axis=0), np.linalg.norm(sums, axis=0)
        kept = (sizes > 0) & (lengths > 0)
        if not kept.any():
            return None
        sizes, lengths = sizes[kept], lengths[kept]
        share = (1 - 2 * self.ratio) / (1 - self.ratio) * sizes / lengths
        unknowns, forms = (each[:, kept] / sizes for each in (columns, self.forms))
        return VolumeBalance(sp.csr_array(sums[:, kept] / lengths), unknowns, forms, share)

    def _combinations(self, tests: sp.csr_array) -> Array:
        """(unknowns, k) the combinations of test functions (rows, unknowns) that are nearest to the normals."""
        spaces = self.spaces.tests
        mass = sp.block_array([[trial.mass_matrix(test) for trial in spaces] for test in spaces])
        gram = (tests.T @ mass @ tests).tocsr()
        right = tests.T @ np.concatenate([self.faces.mass_matrix(test) @ self.normals for test in spaces])
        kept, weights = np.flatnonzero(gram.diagonal()), np.zeros(right.shape)
        if len(kept):
            gram = gram[kept][:, kept]
            weights[kept] = cg(gram, right[kept], rtol=RTOL, preconditioner=jacobi(gram))[0]
        return weights


def cavity_forms(solid: Any, spaces: Spaces, method: str, rules: Quadrature) -> CavityForms | None:
    """The balances of an `ElasticSolid`; None without cavities. spaces: of the body. method, rules: of the layers of
    Laplace, those of the layers of the solid."""
    mesh, u = solid.mesh, spaces.displacements
    cavities = np.arange(mesh.number_of_components)
    if not solid.exterior:
        cavities = nested_components(mesh.vertices, mesh.triangles, mesh.components)
    faces = restricted(P0(mesh, components=3), np.isin(mesh.components, cavities))  # type: ignore[arg-type]
    if faces is None:
        return None
    inside = mesh.components[faces.triangles][:, None] == cavities
    normals = (mesh.normals[faces.triangles][:, :, None] * inside[:, None]).reshape(len(inside), -1)
    options: dict[str, Any] = {"rtol": RTOL} if candidates(method)[0].compresses else {}

    def tested(layer: Any) -> Array:
        """(rows, 3 k) a layer of Laplace, times the components of the normals."""
        return np.asarray(layer.assemble(method, **options) @ normals)

    mass, ratio = u.scalar.mass_matrix(faces.scalar).T, solid.material.poissons_ratio
    on_normals = tested(adjoint_double_layer(Laplace(), faces.scalar, u.scalar, quadrature=rules))
    forms = (on_normals + 0.5 * (mass @ normals)).reshape(-1, len(cavities))
    _remove_rigid_motions(forms, u.scalar.nodes, mass @ inside)
    if spaces.loaded is not None:
        on_normals = tested(single_layer(Laplace(), faces.scalar, spaces.loaded.scalar, quadrature=rules))
        forms = np.concatenate([forms, -(1 + ratio) * on_normals.reshape(-1, len(cavities))])
    return CavityForms(spaces, faces, normals.reshape(-1, len(cavities)), forms, ratio)


def _remove_rigid_motions(forms: Array, nodes: Array, weights: Array) -> None:
    """Let forms (3 n, k) be zero for translations and rotations, which the exact ones are; weights (n, k): of nodes, on
    each cavity."""
    for k, weight in enumerate(weights.T):
        own = np.flatnonzero(weight)
        centre, size = nodes[own].mean(axis=0), float(np.ptp(nodes[own], axis=0).max())
        motions = rigid_motions((nodes - centre) / size, np.zeros(3)).reshape(-1, 6)
        weighted = np.repeat(weight, 3)[:, None] * motions
        forms[:, k] -= weighted @ np.linalg.solve(weighted.T @ motions, motions.T @ forms[:, k])
