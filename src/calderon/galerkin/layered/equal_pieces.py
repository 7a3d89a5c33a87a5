"""Equal pieces of metal, such as elements of arrays, whose own near pairs are integrated once."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends.numba import kernel
from calderon.galerkin.layered.metal import LayeredMetal
from calderon.mesh.topology import components_by_edges

SAME = 1e-9
"""Distance of vertices that count as equal, over the size of a piece."""
SHIFT = 0.37
"""Added before rounding, as coordinates are often multiples of the tolerance."""
Index = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class EqualPieces:
    """Pieces that are connected by edges.

    number (rows,): of the piece of each row of the table of functions. models (pieces,): whether a piece is the first
    one of its kind. functions: those (m,) of each model, and those of its copies (c, m). rows: the same of rows.
    """

    number: Index
    models: NDArray[np.bool_]
    functions: list[tuple[Index, Index]]
    rows: list[tuple[Index, Index]]

    def kept(self, pairs: NDArray[Any]) -> NDArray[np.bool_]:
        """(n,) which pairs of rows (n, 2) are those of different pieces, or of models."""
        i, j = self.number[pairs.T]
        return np.asarray((i != j) | self.models[i])

    def all_pairs(self, kept: NDArray[np.int32]) -> NDArray[np.int32]:
        """Kept pairs, and for those of models the same ones of their copies: a search may see others, by rounding."""
        found: list[Any] = [kept]
        own = kept[self.number[kept[:, 0]] == self.number[kept[:, 1]]]
        own = own[np.argsort(self.number[own[:, 0]], kind="stable")]
        ends = np.searchsorted(self.number[own[:, 0]], np.arange(len(self.models) + 1))
        for model, copies in self.rows:
            n = self.number[model[0]]
            found.append(copies[:, np.searchsorted(model, own[ends[n] : ends[n + 1]])].reshape(-1, 2))
        return np.concatenate(found).astype(np.int32)

    def copied(self, matrix: sp.csr_array) -> sp.csr_array:
        """A matrix of the kept pairs, with the entries of models for their copies, too."""
        blocks = [matrix[model][:, model] for model, _ in self.functions]
        counts = np.zeros(matrix.shape[0], np.int64)
        for (_, copies), block in zip(self.functions, blocks, strict=True):
            counts[copies] = np.diff(block.indptr)
        starts = np.append(0, np.cumsum(counts))
        starts = starts.astype(np.int32 if starts[-1] <= np.iinfo(np.int32).max else np.int64)
        columns, data = np.empty(starts[-1], starts.dtype), np.empty(starts[-1], matrix.dtype)
        for (_, copies), block in zip(self.functions, blocks, strict=True):
            block.sort_indices()
            _put_copies(copies, block.indptr, block.indices, block.data, starts, columns, data)
        return matrix + sp.csr_array((data, columns, starts), matrix.shape)


@kernel
def _put_copies(copies, indptr, indices, values, starts, columns, data):
    """Put the rows of a matrix of m functions, indptr (m + 1,), indices and values, into the rows of its copies
    (c, m) in a larger one: starts (n + 1,), columns and data. Functions of pieces increase, and so do columns."""
    for c in range(copies.shape[0]):
        for row in range(copies.shape[1]):
            to = starts[copies[c, row]]
            for k in range(indptr[row], indptr[row + 1]):
                columns[to], data[to] = copies[c, indices[k]], values[k]
                to += 1


def equal_pieces(metal: LayeredMetal) -> EqualPieces | None:
    """The pieces of metal; None where no two are equal up to a translation within their plane."""
    space, flat = metal.space, metal.flat
    mesh = space.mesh
    # pieces: triangles that share edges
    number = np.unique(components_by_edges(mesh.triangle_edges, len(mesh.edges))[space.triangles], return_inverse=True)[
        1
    ]
    order = np.argsort(number, kind="stable")
    pieces = np.split(order, np.flatnonzero(np.diff(number[order])) + 1)
    corners = (flat.centres.reshape(-1, 1, 2) + flat.vertices.reshape(-1, 3, 2)).reshape(-1, 6)
    factors = flat.factors.reshape(-1, 3)
    groups = dict[tuple[Any, ...], list[tuple[Index, Index]]]()
    firsts = []
    # a key of each piece: height, functions, and shape and signs rounded to a tolerance
    for rows in pieces:
        functions, pattern = np.unique(space.dofs[rows], return_inverse=True)
        offset = corners[rows] - np.tile(corners[rows[0], :2], 3)
        unit = SAME * max(float(np.abs(offset).max()), 1e-300)
        digits = np.floor(np.log2(unit))  # equal for equal pieces but for rounding
        shape = np.floor(offset / 2**digits + SHIFT).astype(np.int64).tobytes()
        signs = np.floor(factors[rows] * 2**digits / SAME**0.5 + SHIFT).astype(np.int64).tobytes()
        key = (int(flat.heights[rows[0]]), len(rows), functions[0] < 0, pattern.tobytes(), shape, signs)
        members = groups.setdefault(key, [])
        firsts.append(not members)
        members.append((functions[functions >= 0], rows))
    # groups of more than one piece
    several = [zip(*each, strict=True) for each in groups.values() if len(each) > 1]
    if not several:
        return None
    functions_of, rows_of = zip(*([(each[0], np.array(each[1:])) for each in both] for both in several), strict=True)
    return EqualPieces(number, np.array(firsts), list(functions_of), list(rows_of))
