"""Operators through another one between finer functions, with sparse matrices that write the functions in finer ones.

The hypersingular operator through single layers between discontinuous functions (Maue's formula, component by
component): with T_d the sparse matrix that writes component d of the surface curl of every continuous function in
discontinuous functions, and N_d the one that does so with the function times component d of the normal,

    D = sum_d T_d^T V T_d - k^2 sum_d N_d^T V N_d.

It serves spaces whose curls are not constant (P2), and V compresses better than the direct form. Likewise operators of
dual functions, which are combinations of edge functions of the refined mesh.
"""

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from calderon.mesh.locality import locality_order
from calderon.operators.algebra import BoundaryOperator, Index, Sliced, with_spaces
from calderon.operators.tree import ArrayPlace, Congruence, Products
from calderon.spaces import NodalVectorSpace, Space
from calderon.spaces.supports import support_boxes

SLICE = 64_000_000
"""Bytes of the rows of A that are held at a time, or a twentieth of the result if that is more."""
ROWS_AT_ONCE = 64
"""Rows whose columns are combined together: more do not stay in the cache while they are transposed."""
Matrices = list[sp.csr_array]


@dataclass(frozen=True, eq=False)
class TransformedOperator(BoundaryOperator):
    """sum_d factors[d] L_d^T A R_d with sparse matrices L_d, R_d; A is computed some rows at a time and never stored.

    sides: gives the matrices L_d (inner.test.dimension, test.dimension) and R_d (inner.trial.dimension,
    trial.dimension). name: what the operator is.
    """

    name: str
    inner: Any
    trial: Any
    test: Any
    sides: Callable[[], tuple[Matrices, Matrices]]
    factors: tuple[complex, ...] = (1.0,)

    def __repr__(self) -> str:
        return with_spaces(f"{self.name} of {self.inner.green}", self)

    @property
    def is_complex(self) -> bool:
        return bool(self.inner.is_complex)

    @property
    def key(self) -> Hashable:
        return TransformedOperator, self.inner.key, self.trial, self.test, self.factors

    def integrals(self) -> Iterator[Sliced]:
        return iter([(self.inner, self.shape)])

    def value(self, products: Products) -> Any:
        return Congruence(products.value(self.inner), list(self.factors), *self.sides())

    def add_to(self, place: Any, factor: complex, rows: Index | None, columns: Index | None) -> None:
        with place.on_host(repr(self)) as out:
            self._add(out, factor, rows, columns, place.execution, place.advance)

    def _add(self, out, factor, rows, columns, execution, advance):  # type: ignore[no-untyped-def]
        left, right = (
            [each if chosen is None else each[:, chosen].tocsr() for each in side]
            for side, chosen in zip(self.sides(), (rows, columns), strict=True)
        )
        height, kept = (np.flatnonzero(sum(np.diff(each.indptr) for each in side)) for side in (left, right))
        kind = execution.dtype(self.is_complex)
        wide = np.result_type(kind, np.float64)  # of sums; products of sparse matrices would convert to it in each call
        right = [each[kept].T.tocsr().astype(wide) for each in right]
        order = height[locality_order(support_boxes(self.inner.test)[height].mean(axis=1))]
        most = max(1, int(max(SLICE, out.nbytes // 20) / (len(kept) * kind.itemsize)))
        pieces = np.array_split(order, -(-len(order) // most))
        scales = [factor * each if out.dtype.kind == "c" else complex(factor * each).real for each in self.factors]
        for number, piece in enumerate(pieces):
            needed = np.sort(piece)
            block = np.zeros((len(needed), len(kept)), kind)
            self.inner.add_to(ArrayPlace(block, execution), 1.0, needed, kept)
            block = block.astype(wide, copy=False)
            weights = [(scale * each[needed]).tocsc() for scale, each in zip(scales, left, strict=True)]
            touched = np.flatnonzero(sum(np.diff(each.indptr) for each in weights))
            weights = [each[:, touched].T.tocsr().astype(np.result_type(each, wide)) for each in weights]
            for n in range(0, len(touched), ROWS_AT_ONCE):
                few = slice(n, n + ROWS_AT_ONCE)
                parts = [np.ascontiguousarray((each[few] @ block).T) for each in weights]
                total = sum(each @ part for each, part in zip(right, parts, strict=True))
                out[touched[few]] += total.T.astype(out.dtype)
            if advance is not None:
                advance(number + 1, len(pieces))


def transforms(space: Space, fine: Space) -> Matrices:
    """The matrices T_d, then N_d, each (fine.dimension, space.dimension), with discontinuous functions `fine` on the
    same triangles."""
    nodes = fine.element.nodes
    normals = space.geometry.normals_at(nodes).reshape(-1, 3)
    values = space.expansion(nodes)
    return [*space.surface_curl(nodes), *((sp.diags_array(each) @ values).tocsr() for each in normals.T)]


def tangential_derivatives(space: NodalVectorSpace, fine: Space) -> tuple[sp.csr_array, dict[str, Matrices]]:
    """Factors of the hypersingular operator of elastostatics, for vectors of three components: with the curls
    c = n x grad and M_ij = n_j d_i - n_i d_j = -eps_ijk c_k of scalar functions, written in discontinuous functions
    `fine`, the matrix of (M u)_i = sum_j M_ij u_j in vectors of them, and matrices (fine.dimension, space.dimension):

    "rows": (M u)_i; "curls": c_k u_l; "left", "right": M_kj u_i and M_ki u_j, for all i, j, k where neither is 0.
    """
    curls = space.scalar.surface_curl(fine.element.nodes)
    unit = [sp.csr_array(each[None]) for each in np.eye(3)]

    def turned(i: int, j: int, component: int) -> sp.csr_array:
        """M_ij of a component, i and j different."""
        sign = -1.0 if (j - i) % 3 == 1 else 1.0
        return sign * sp.kron(curls[3 - i - j], unit[component], format="csr")

    rows = [turned(i, (i + 1) % 3, (i + 1) % 3) + turned(i, (i + 2) % 3, (i + 2) % 3) for i in range(3)]
    whole = sum(sp.kron(each, axis.T, format="csr") for each, axis in zip(rows, unit, strict=True))
    triples = [(i, j, k) for i in range(3) for j in range(3) for k in range(3) if k not in (i, j)]
    return whole, {
        "rows": rows,
        "curls": [sp.kron(each, axis, format="csr") for each in curls for axis in unit],
        "left": [turned(k, j, i) for i, j, k in triples],
        "right": [turned(k, i, j) for i, j, k in triples],
    }
