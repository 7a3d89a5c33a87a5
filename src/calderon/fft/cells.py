"""Preconditioner of arrays: the inverse of the exact matrix of each element alone."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.backends import require_memory, run_tasks
from calderon.backends.threads import in_parts
from calderon.fft.kernels import add_rows
from calderon.fft.operator import GridOperator
from calderon.validation import instance, unmasked


class CellInverse(LinearOperator):
    """A sparse matrix of dense blocks, the inverses of those of elements."""

    def __init__(self, matrix: sp.csr_array) -> None:
        super().__init__(dtype=np.dtype(complex), shape=matrix.shape)
        self.matrix = matrix

    def _matvec(self, x: NDArray[Any]) -> NDArray[Any]:
        vector, y = np.ascontiguousarray(x, complex).ravel(), np.zeros(self.shape[0], complex)
        data = self.matrix.indptr, self.matrix.indices, self.matrix.data, vector
        in_parts(lambda low, high: add_rows(*data, low, high, y), len(y))
        return y


def cell_inverse(operator: GridOperator, cells: ArrayLike | None = None) -> CellInverse:
    """The inverse of the matrix without what joins different elements, for `gmres(..., preconditioner=)`.

    cells: the number of the element of each function; None: the tags of the triangles of the mesh, as those of
    `ReflectArray.mesh`. A few large elements take much memory: then "near" is the better preconditioner.
    """
    instance(operator, GridOperator, "a matrix assembled by method='fft' is needed")
    space: Any = operator.matrix.metal.space
    labels = space.mesh.tags[space.pairs[:, 0]] if cells is None else unmasked(cells, "cells")
    if labels.shape != (space.dimension,):
        raise ValueError(f"cells are one number for each of {space.dimension} functions, got shape {labels.shape}")
    # functions sorted by elements, and one dense block for each
    order = np.argsort(labels, kind="stable")
    members = np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)
    size = np.array([len(own) for own in members])
    require_memory(40 * int((size**2).sum()), f"blocks of {len(members)} elements", "use smaller cells")
    blocks: list[Any] = [None] * len(members)

    def work(number: int) -> None:
        own = members[number]
        distant = operator.matrix.distant_block(own, own, np.inf)
        blocks[number] = parts.factor * distant + near[own][:, own].toarray()

    parts = operator.parts
    near = (parts.factor * operator.matrix.near[0] + parts.sparse).tocsr()
    run_tasks(work, len(members))
    # not in the tasks: threads of BLAS would wait for one another
    ends = np.cumsum(size**2)
    values, columns = np.empty(ends[-1], complex), np.empty(ends[-1], np.int32)
    for number, (own, end) in enumerate(zip(members, ends, strict=True)):
        part = slice(end - len(own) ** 2, end)
        values[part], columns[part] = np.linalg.inv(blocks[number]).ravel(), np.tile(own, len(own))
        blocks[number] = None
    starts = np.concatenate([[0], np.cumsum(np.repeat(size, size))])
    inverse, place = sp.csr_array((values, columns, starts), operator.shape), np.argsort(order)
    return CellInverse(inverse if np.array_equal(place, order) else inverse[place])
