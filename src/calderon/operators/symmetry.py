"""Symmetric matrices from half of the work: every pair of triangles is integrated once, then A = S + S^T."""

import functools
from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from calderon.backends import run_tasks
from calderon.backends.numba import STAMP, kernel

TILE = 64
"""Rows and columns of a square that is exchanged with its mirror image at a time: both fit the caches."""


def symmetrise(matrix: NDArray[Any]) -> None:
    """matrix += matrix^T in place, on all threads."""
    size = len(matrix)
    add = _kernel()
    run_tasks(lambda block: add(matrix, block * TILE, min((block + 1) * TILE, size)), -(-size // TILE))


@functools.lru_cache(maxsize=1)
def _kernel() -> Callable[..., None]:
    stamp = STAMP

    @kernel
    def add(matrix, lo, hi):  # type: ignore[no-untyped-def]
        """Rows lo..hi right of the diagonal, and their mirror images."""
        _ = stamp
        for start in range(lo, matrix.shape[0], hi - lo):
            end = min(start + hi - lo, matrix.shape[0])
            for i in range(lo, hi):
                for j in range(max(start, i), end):
                    total = matrix[i, j] + matrix[j, i]
                    matrix[i, j] = total
                    matrix[j, i] = total

    return add
