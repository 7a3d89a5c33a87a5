"""The hypersingular operator through single layers between discontinuous functions.

With T_d the sparse matrix that writes component d of the surface curl of every continuous function in discontinuous
functions, and N_d the one that does so with the function times component d of the normal,

    D = sum_d T_d^T V T_d - k^2 sum_d N_d^T V N_d,

V being the single layer between the discontinuous functions (Maue's formula, component by component). V is computed
some rows at a time and never stored. It serves spaces whose curls are not constant (P2), and V compresses better than
the direct form.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends import Computing
from calderon.galerkin.assembly import add_block
from calderon.greens import Green
from calderon.integrands import SINGLE_LAYER
from calderon.mesh.locality import locality_order
from calderon.quadrature.options import Quadrature
from calderon.spaces import Space
from calderon.spaces.lagrange import discontinuous

SLICE = 64_000_000
"""Bytes of the rows of V that are held at a time, or a twentieth of the result if that is more."""


def transforms(space: Space, degree: int) -> tuple[Space, list[sp.csr_array], list[sp.csr_array]]:
    """The discontinuous space of that degree on the support, and the three matrices T_d and N_d each (its dimension,
    space.dimension)."""
    fine = discontinuous(space, degree)
    nodes = fine.element.nodes
    normals = np.repeat(space.mesh.normals[space.triangles], len(nodes), axis=0)
    values = space.expansion(nodes)
    return fine, space.surface_curl(nodes), [(sp.diags_array(normals[:, d]) @ values).tocsr() for d in range(3)]


def add_transformed(
    out: NDArray[Any],
    green: Green,
    test: Space,
    trial: Space,
    factor: complex,
    rows: NDArray[np.int64] | None,
    columns: NDArray[np.int64] | None,
    quadrature: Quadrature | None,
    how: Computing,
    advance: Callable[[int, int], None] | None = None,
) -> None:
    """out += factor * matrix[rows][:, columns]; arguments as for `adding.add_block`."""
    k2 = complex(green.wavenumber) ** 2
    static = k2 == 0
    left, *left_parts = transforms(test, test.element.degree - static)
    right, *right_parts = transforms(trial, trial.element.degree - static)
    if columns is not None:
        right_parts = [[each[:, columns] for each in part] for part in right_parts]
    kept = np.unique(np.concatenate([each.indices for each in _rows_in_use(right_parts)]))
    wanted = np.arange(test.dimension) if rows is None else rows
    order = locality_order(test.nodes[wanted])
    complex_values = green.is_complex
    kind = how.dtype(complex_values)
    functions_per_row = 1.5 * max(1.0, left_parts[0][0].nnz / test.dimension)
    room = max(SLICE, out.nbytes // 20)
    size = max(1, int(room / (len(kept) * kind.itemsize * functions_per_row)))
    pieces = np.array_split(order, -(-len(order) // size))
    for number, piece in enumerate(pieces):
        curls, normals = ([each[:, wanted[piece]] for each in part] for part in left_parts)
        needed = np.unique(np.concatenate([each.indices for each in _rows_in_use([curls, normals])]))
        layer = np.zeros((len(needed), len(kept)), kind)
        add_block(layer, green, SINGLE_LAYER, left, right, 1.0, needed, kept, quadrature, how)
        total = np.zeros((len(piece), out.shape[1]), np.result_type(kind, np.float64))
        for d in range(3):
            total += curls[d][needed].T @ (right_parts[0][d][kept].T @ layer.T).T
            if not static:
                mass = normals[d][needed].T @ (right_parts[1][d][kept].T @ layer.T).T
                total -= (k2 if complex_values else k2.real) * mass
        value = factor if out.dtype.kind == "c" else complex(factor).real
        out[piece] += (value * total).astype(out.dtype)
        if advance is not None:
            advance(number + 1, len(pieces))


def _rows_in_use(parts: list[list[sp.csr_array]]) -> list[sp.csr_array]:
    """The matrices with rows as columns, so that `indices` are the rows that are not empty."""
    return [each.T.tocsr() for part in parts for each in part]
