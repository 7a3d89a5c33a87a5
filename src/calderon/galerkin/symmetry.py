"""Symmetric matrices from half of the work: every pair of triangles is integrated once, then A = S + S^T."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import run_tasks
from calderon.backends.numba import kernel
from calderon.backends.vector_loads import transpose
from calderon.backends.vectors import entries

TILE = 64
"""Rows and columns of a square that is exchanged with its mirror image at a time: both fit the caches."""


def symmetrise(matrix: NDArray[Any]) -> None:
    """matrix += matrix^T in place, on all threads."""
    size = len(matrix)
    run_tasks(lambda block: _add_mirror_images(matrix, block * TILE, min((block + 1) * TILE, size)), -(-size // TILE))


@kernel
def _add_mirror_images(matrix, lo, hi):
    """Add mirror images to rows lo up to, without, hi of a square matrix right of the diagonal, and the sums to the
    mirrored places, square by square through two buffers."""
    mirrored, total = np.empty((TILE, TILE), matrix.dtype), np.empty((TILE, TILE), matrix.dtype)
    step = entries(matrix)
    for start in range(lo, matrix.shape[0], TILE):
        end = min(start + TILE, matrix.shape[0])
        # the mirrored square, transposed
        whole = end - start == TILE and hi - lo == TILE
        if whole:
            for j in range(0, TILE, step):
                for i in range(0, TILE, step):
                    transpose(matrix, start + j, lo + i, mirrored, i, j)
        else:
            for j in range(start, end):
                for i in range(lo, hi):
                    mirrored[i - lo, j - start] = matrix[j, i]
        # sums of both
        for i in range(lo, hi):
            row, other, result = matrix[i, start:end], mirrored[i - lo], total[i - lo]
            for j in range(row.size):
                result[j] = row[j] + other[j]
            for j in range(row.size):  # row[:] = result brings messages about shapes, two seconds to compile
                row[j] = result[j]
        # back to the mirrored square, which is the same one on the diagonal
        if start == lo:
            continue
        if whole:
            for j in range(0, TILE, step):
                for i in range(0, TILE, step):
                    transpose(total, i, j, matrix, start + j, lo + i)
        else:
            for j in range(start, end):
                for i in range(lo, hi):
                    matrix[j, i] = total[i - lo, j - start]
