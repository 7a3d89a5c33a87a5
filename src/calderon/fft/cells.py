"""Preconditioner of arrays: the inverse of the exact matrix of each element alone."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.backends import require_memory, run_tasks
from calderon.fft.operator import GridOperator
from calderon.validation import unmasked


class CellInverse(LinearOperator):
    """Inverses of dense blocks. members: numbers of the functions of each; inverses: of each."""

    def __init__(self, shape: tuple[int, int], members: list[NDArray[Any]], inverses: list[NDArray[Any]]) -> None:
        super().__init__(dtype=np.dtype(complex), shape=shape)
        self.members, self.inverses = members, inverses

    def _matvec(self, x: NDArray[Any]) -> NDArray[Any]:
        vector, y = np.ravel(x), np.empty(self.shape[0], complex)
        for own, inverse in zip(self.members, self.inverses, strict=True):
            y[own] = inverse @ vector[own]
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
    require_memory(
        16 * sum(len(own) ** 2 for own in members), f"blocks of {len(members)} elements", "use smaller cells"
    )
    blocks: list[Any] = [None] * len(members)

    def work(number: int) -> None:
        own = members[number]
        blocks[number] = operator.matrix.distant_block(own, own, np.inf) + near[own][:, own].toarray()

    near = operator.matrix.near[0]
    run_tasks(work, len(members))
    # not in the tasks: threads of BLAS would wait for one another
    return CellInverse(operator.shape, members, [np.linalg.inv(block) for block in blocks])
