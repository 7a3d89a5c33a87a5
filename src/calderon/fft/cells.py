"""Preconditioner of arrays: the inverse of the exact matrix of each element alone."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.backends import require_memory, run_tasks
from calderon.fft.kernels import add_rows
from calderon.fft.operator import ROWS, GridOperator
from calderon.validation import unmasked


class CellInverse(LinearOperator):
    """A sparse matrix of dense blocks, the inverses of those of elements."""

    def __init__(self, matrix: sp.csr_array) -> None:
        super().__init__(dtype=np.dtype(complex), shape=matrix.shape)
        self.matrix = matrix

    def _matvec(self, x: NDArray[Any]) -> NDArray[Any]:
        vector, y = np.ascontiguousarray(x, complex).ravel(), np.zeros(self.shape[0], complex)
        data = self.matrix.indptr, self.matrix.indices, self.matrix.data, vector

        def work(task: int) -> None:
            add_rows(*data, ROWS * task, min(ROWS * (task + 1), len(y)), y)

        run_tasks(work, -(-len(y) // ROWS))
        return y


def cell_inverse(operator: GridOperator, cells: ArrayLike | None = None) -> CellInverse:
    """The inverse of the matrix without what joins different elements, for `gmres(..., preconditioner=)`.

    cells: the number of the element of each function; None: the tags of the triangles of the mesh, as those of
    `ReflectArray.mesh`. A few large elements take much memory: then "near" is the better preconditioner.
    """
    space: Any = operator.matrix.metal.space
    labels = space.mesh.tags[space.pairs[:, 0]] if cells is None else unmasked(cells, "cells")
    if labels.shape != (space.dimension,):
        raise ValueError(f"cells are one number for each of {space.dimension} functions, got shape {labels.shape}")
    order = np.argsort(labels, kind="stable")
    members = np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)
    size = np.array([len(own) for own in members])
    require_memory(40 * int((size**2).sum()), f"blocks of {len(members)} elements", "use smaller cells")
    blocks: list[Any] = [None] * len(members)

    def work(number: int) -> None:
        own = members[number]
        blocks[number] = operator.matrix.distant_block(own, own, np.inf) + near[own][:, own].toarray()

    near = operator.matrix.near[0]
    run_tasks(work, len(members))
    # not in the tasks: threads of BLAS would wait for one another
    values = [np.linalg.inv(block).ravel() for block in blocks]
    columns = np.concatenate([np.tile(own, len(own)) for own in members])
    starts = np.concatenate([[0], np.cumsum(np.repeat(size, size))])
    inverse = sp.csr_array((np.concatenate(values), columns, starts), operator.shape)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return CellInverse(inverse[place])
