"""The entries of a sum of forms between pairs of boxes of unknowns: one dense block for each pair, for all terms."""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends import Execution, require_memory, run_tasks
from calderon.backends.numba import kernel
from calderon.backends.vectors import aligned
from calderon.galerkin.bilinear_form import BilinearForm
from calderon.galerkin.rows.entry_kernels import Clusters, CompiledRows
from calderon.galerkin.rows.galerkin_entries import compiled_rows

SHARE = 64
"""Blocks of one task."""
ADVICE = "try smaller boxes, precision='single', or fewer pairs of boxes"


class NearBlocks(NamedTuple):
    """Dense blocks between boxes: pairs (n, 2) of a row and a column cluster; block k is numbers[starts[k] :
    starts[k + 1]], row by row, in the order of the clusters."""

    rows: Clusters
    columns: Clusters
    pairs: NDArray[np.int64]
    starts: NDArray[np.int64]
    numbers: NDArray[Any]

    def matrix(self) -> sp.csr_array:
        """The sparse matrix (test, trial) of all blocks, in the order of the unknowns."""
        places = []
        for i, j in self.pairs.tolist():
            run = self.rows.order[self.rows.start[i] : self.rows.stop[i]]
            across = self.columns.order[self.columns.start[j] : self.columns.stop[j]]
            places.append(np.stack(np.meshgrid(run, across, indexing="ij")).reshape(2, -1))
        where = np.concatenate([np.zeros((2, 0), np.int64), *places], axis=1)
        shape = len(self.rows.order), len(self.columns.order)
        return sp.coo_array((self.numbers, tuple(where)), shape=shape).tocsr()


def near_blocks(
    terms: Sequence[tuple[complex, BilinearForm]],
    rows: Clusters,
    columns: Clusters,
    pairs: NDArray[np.int64],
    execution: Execution,
) -> NearBlocks:
    """The entries of sum factor * form between the boxes of each of the pairs (n, 2), as exact as a dense matrix.

    terms: factors and forms on one test and one trial space; their touching and near pairs of triangles are searched
    once. rows, columns: boxes of test and of trial functions. Raises ValueError for forms on different spaces,
    MemoryError before the blocks are allocated if there is no room.
    """
    spaces = {(id(form.test), id(form.trial)) for _, form in terms}
    if len(spaces) != 1:
        raise ValueError(f"near blocks need terms on one test and one trial space, got {len(spaces)} pairs of spaces")
    sizes = [(clusters.stop - clusters.start)[each] for clusters, each in zip((rows, columns), pairs.T, strict=True)]
    starts = np.append(0, np.cumsum(sizes[0] * sizes[1]))
    is_complex = any(form.is_complex or complex(factor).imag != 0 for factor, form in terms)
    kind = execution.dtype(is_complex)
    require_memory(int(starts[-1]) * kind.itemsize, f"{len(pairs)} near blocks", ADVICE)
    blocks = NearBlocks(rows, columns, np.ascontiguousarray(pairs), starts, np.zeros(int(starts[-1]), kind))
    found = None
    for factor, form in terms:
        entries = compiled_rows(form, rows, columns, execution, found)
        found = entries.found
        _add(blocks, complex(factor) if is_complex else complex(factor).real, entries)
    return blocks


def _add(blocks: NearBlocks, factor: complex | float, entries: CompiledRows) -> None:
    """Add a multiple of one form."""
    run, count = block_kernel(entries.block), len(blocks.pairs)
    rows, columns, special = blocks.rows, blocks.columns, entries.special
    most = [int((each.stop - each.start).max(initial=0)) for each in (rows, columns)]
    number = blocks.numbers.dtype.type(factor)

    def work(share: int) -> None:
        low, high = share * SHARE, min((share + 1) * SHARE, count)
        room = aligned(entries.scratch, entries.real), np.zeros((most[0], most[1]), entries.dtype)
        run(
            entries.data, blocks.pairs[low:high], blocks.starts[low:high], rows.start, rows.stop, columns.start,
            columns.stop, special.indptr, special.indices, special.data, number, *room, blocks.numbers,
        )  # fmt: skip

    run_tasks(work, math.ceil(count / SHARE))


@functools.lru_cache(maxsize=64)
def block_kernel(block: Callable[..., None]) -> Callable[..., None]:
    """The compiled loop over blocks, from `CompiledRows.block`."""

    @kernel
    def run(  # type: ignore[no-untyped-def]
        data, pairs, starts, row_start, row_stop, column_start, column_stop, indptr, indices, values, factor, scratch,
        room, numbers,
    ):  # fmt: skip
        for k in range(len(pairs)):
            i, j, place = pairs[k, 0], pairs[k, 1], starts[k]
            top, left = row_start[i], column_start[j]
            height, width = row_stop[i] - top, column_stop[j] - left
            block(data, i, j, scratch, room)
            for r in range(height):
                for at in range(indptr[top + r], indptr[top + r + 1]):
                    column = indices[at] - left
                    if 0 <= column < width:
                        room[r, column] += values[at]
                for c in range(width):
                    numbers[place + r * width + c] += factor * room[r, c]

    return run
