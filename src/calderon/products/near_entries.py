"""The entries of a sum of forms between pairs of boxes of unknowns: one dense block for each pair, for all terms.

Functions at the boundary of a box share triangles with functions of the next one. All blocks of one row box are
therefore computed together, as one strip, in which each pair of triangles is integrated once.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Execution, require_memory, run_tasks
from calderon.backends.numba import first_at_least, kernel
from calderon.backends.vectors import aligned
from calderon.galerkin.bilinear_form import BilinearForm
from calderon.galerkin.rows.entry_kernels import Clusters, CompiledRows, block
from calderon.galerkin.rows.galerkin_entries import compiled_sum, go_together
from calderon.galerkin.rows.special_pairs import FoundPairs, SpecialPairs

BEYOND = 32
"""Numbers behind the last block, which loads of whole vectors may touch."""
ADVICE = "try smaller boxes, precision='single', or fewer pairs of boxes"


class NearBlocks(NamedTuple):
    """Dense blocks between boxes: pairs (n, 2) of a row and a column cluster; block k is numbers[starts[k] :
    starts[k + 1]], row by row, in the order of the clusters. room: the numbers and BEYOND further ones."""

    rows: Clusters
    columns: Clusters
    pairs: NDArray[np.int64]
    starts: NDArray[np.int64]
    room: NDArray[Any]

    @property
    def numbers(self) -> NDArray[Any]:
        """The entries of all blocks."""
        return self.room[: self.starts[-1]]


def empty_blocks(
    terms: Sequence[tuple[complex, BilinearForm]],
    rows: Clusters,
    columns: Clusters,
    pairs: NDArray[np.int64],
    execution: Execution,
) -> NearBlocks:
    """Blocks of zeros for the entries of sum factor * form between the boxes of each of the pairs (n, 2).

    terms: factors and forms on one test and one trial space. rows, columns: boxes of test and of trial functions.
    Raises MemoryError before the blocks are allocated if there is no room.
    """
    sizes = [(clusters.stop - clusters.start)[each] for clusters, each in zip((rows, columns), pairs.T, strict=True)]
    starts = np.append(0, np.cumsum(sizes[0] * sizes[1]))
    kind = execution.dtype(any(form.is_complex or complex(factor).imag != 0 for factor, form in terms))
    require_memory(int(starts[-1]) * kind.itemsize, f"{len(pairs)} near blocks", ADVICE)
    room = np.zeros(int(starts[-1]) + BEYOND, kind)
    return NearBlocks(rows, columns, np.ascontiguousarray(pairs), starts, room)


def fill_blocks(
    blocks: NearBlocks,
    numbers: NDArray[np.int64],
    terms: Sequence[tuple[complex, BilinearForm]],
    execution: Execution,
    found: FoundPairs | None = None,
) -> FoundPairs | None:
    """Add sum factor * form to the blocks with these numbers, as exact as a dense matrix; functions without triangles
    in the spaces of the forms have zeros. found: the search for special pairs, once for all terms, that an earlier call
    on the same triangles returned. ValueError for forms on different spaces."""
    strips = strips_for(terms, blocks, numbers)
    for factor, entries in compiled_terms(terms, blocks, strips, execution, found):
        found = entries.found
        add_entries(blocks, strips, factor, entries)
    return found


def compiled_terms(
    terms: Sequence[tuple[complex, BilinearForm]],
    blocks: NearBlocks,
    strips: "Strips",
    execution: Execution,
    found: FoundPairs | None = None,
) -> Iterator[tuple[complex | float, CompiledRows]]:
    """The factor and the entries of each term, for `add_entries`; found: as of `fill_blocks`."""
    is_complex = blocks.room.dtype.kind == "c"
    for (factor, form), *others in in_twos(terms):
        own = [(factor, form), *others] if others else [(1.0, form)]
        entries = compiled_sum(own, blocks.rows, strips.columns, execution, found, with_columns=False)
        found, left = entries.found, complex(1.0 if others else factor)
        yield left if is_complex else left.real, entries


class Search(NamedTuple):
    """Special pairs of all triangles, and the test functions (triangles, L) of each, -1 for none."""

    found: FoundPairs
    functions: NDArray[np.int64]

    @staticmethod
    def of(groups: Sequence[Sequence[tuple[complex, BilinearForm]]], execution: Execution) -> list["Search"]:
        """The searches of groups of terms, each on one test and one trial space; by half where all terms are symmetric.
        Groups on the same triangles share what is found."""
        forms = [min((form for _, form in terms), key=lambda form: form.is_symmetric) for terms in groups]
        results, found = dict[int, Search](), None
        for n in sorted(range(len(forms)), key=lambda n: forms[n].is_symmetric):  # which need half of the pairs
            pairs = SpecialPairs.search(forms[n], execution, found)
            found = pairs.found or found
            assert found is not None
            results[n] = Search(found, pairs.test.places)
        return [results[n] for n in range(len(forms))]

    def around(self, functions: NDArray[np.bool_]) -> FoundPairs:
        """The pairs of the triangles of some test functions."""
        return self.found.around(np.asarray(np.append(functions, False)[self.functions].any(axis=1)))


def in_twos(terms: Sequence[tuple[complex, BilinearForm]]) -> Iterator[list[tuple[complex, BilinearForm]]]:
    """Groups of terms: those that are computed in one pass together, and each of the others alone."""
    left = list(terms)
    while left:
        factor, form = left.pop(0)
        suits = [form.is_complex or all(complex(n).imag == 0 for n in (factor, each)) for each, _ in left]
        found = next((n for n, (_, each) in enumerate(left) if suits[n] and go_together(form, each)), None)
        yield [(factor, form)] if found is None else [(factor, form), left.pop(found)]


class Strips(NamedTuple):
    """Blocks of one row box next to each other: columns.joined the blocks of each strip, columns the column boxes of
    these blocks, numbers (n,) which of the pairs they are."""

    columns: Clusters
    numbers: NDArray[np.int64]


def strips_for(terms: Sequence[tuple[complex, BilinearForm]], blocks: NearBlocks, chosen: NDArray[np.int64]) -> Strips:
    """The strips in which terms fill these blocks; ValueError for terms on different spaces."""
    spaces = {(id(form.test), id(form.trial)) for _, form in terms}
    if len(spaces) != 1:
        raise ValueError(f"near blocks need terms on one test and one trial space, got {len(spaces)} pairs of spaces")
    return strips_of(blocks, chosen, terms[0][1].trial.dofs.shape[1] > 1)


def strips_of(blocks: NearBlocks, chosen: NDArray[np.int64], together: bool) -> Strips:
    """The strips of these blocks; together: more than one block in each. The column boxes of a strip are disjoint, and
    have about 512 columns at most: its entries should fit into the second-level cache."""
    columns, pairs = blocks.columns, blocks.pairs[chosen]
    numbers = chosen[np.lexsort((columns.start[pairs[:, 1]], pairs[:, 0]))]
    box, column = blocks.pairs[numbers].T
    start, stop = columns.start[column], columns.stop[column]
    new = np.diff(box, prepend=-1) != 0
    if not together:
        new[:] = True
    before = np.cumsum(stop - start) - (stop - start)
    first = np.maximum.accumulate(np.where(new, np.arange(len(new)), 0))
    new |= np.diff((before - before[first]) // 512, prepend=0) != 0
    offset = box * len(columns.order)
    new[1:] |= (start + offset)[1:] < np.maximum.accumulate(stop + offset)[:-1]
    joined = np.append(np.flatnonzero(new), len(new))
    return Strips(Clusters(columns.order, start, stop, joined), numbers)


def add_entries(
    blocks: NearBlocks, strips: Strips, factor: complex | float, entries: CompiledRows, part: slice = slice(None)
) -> None:
    """Add a multiple of one form, whose entries have the columns of the strips, to the strips of a part."""
    functions, rows, columns, special = entries.functions(), blocks.rows, strips.columns, entries.special
    special.sort_indices()  # `fill_strips` searches the columns of a row
    joined = columns.run_starts
    low, high, _ = part.indices(len(joined) - 1)
    ends = np.append(0, np.cumsum(columns.stop - columns.start))
    widest = int(np.diff(ends[joined]).max(initial=0))
    number, highest = blocks.numbers.dtype.type(factor), int((rows.stop - rows.start).max(initial=0))

    def work(share: int) -> None:  # of 16 strips
        room = aligned(entries.scratch, entries.real), np.zeros((highest, widest), entries.dtype)
        fill_strips(
            functions.board, low + 16 * share, min(low + 16 * (share + 1), high), joined,
            blocks.pairs[strips.numbers, 0], blocks.starts[strips.numbers], rows.start, rows.stop, columns.start,
            columns.stop, special.indptr, special.indices, special.data, number, *room, blocks.numbers,
        )  # fmt: skip

    run_tasks(work, math.ceil((high - low) / 16))


@kernel
def fill_strips(
    functions, low, high, joined, boxes, places, row_start, row_stop, column_start, column_stop, indptr, indices,
    values, factor, scratch, room, numbers,
):  # fmt: skip
    """Add `factor` times the entries of a form to the blocks of the strips low up to, without, high.

    functions: board of the compiled entries of the form, see `block`; joined (strips + 1,): the first block of each
    strip; boxes, places (blocks,): the row box of each block, and where its entries begin in `numbers`, which is
    written; row_start, row_stop (boxes,), column_start, column_stop (blocks,): rows of boxes and columns of blocks.
    indptr, indices, values: the sparse matrix of special pairs. scratch, room (height, width): for entries of one
    strip.
    """
    for k in range(low, high):
        # all entries of a strip but those of special pairs
        i, begin = boxes[joined[k]], 0
        top, height = row_start[i], row_stop[i] - row_start[i]
        block(functions, i, k, scratch, room)
        # these, and all of them into its blocks
        for n in range(joined[k], joined[k + 1]):
            left, width, place = column_start[n], column_stop[n] - column_start[n], places[n]
            for r in range(height):
                at, end = indptr[top + r], indptr[top + r + 1]
                at = first_at_least(indices, at, end, left)  # columns of a row increase
                while at < end and indices[at] < left + width:
                    room[r, begin + indices[at] - left] += values[at]
                    at += 1
                for c in range(width):
                    numbers[place + r * width + c] += factor * room[r, begin + c]
            begin += width
