"""Blocks of low rank on a device: adaptive cross approximation (aca.c), then fewer crosses (recompression.c).

Many blocks advance together, a group of threads each.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Kernels, count_work
from calderon.backends.devices.device_matrix import GROUP
from calderon.hmatrix.aca import FULL, NO_ROOM
from calderon.hmatrix.compression import APPROXIMATION, TRUNCATION, Blocks
from calderon.hmatrix.device.batches import Batch, batches, in_rounds, most_bytes, rounds_of, source_of
from calderon.hmatrix.device.dense_blocks import DeviceDenseBlocks
from calderon.hmatrix.device.store import DeviceStore, ahead_of
from calderon.hmatrix.products import BLOCK, RANK
from calderon.hmatrix.storage import table_of
from calderon.hmatrix.tree.block_tree import DENSE, LOW_RANK
from calderon.products.device.tables import indices, runs_that_fit

CROSSES, CROSSES_PER_DIGIT = 12, 8
"""Crosses for which a block has room, and so many more for each digit of the tolerance."""


class DeviceCompression:
    """Approximates blocks by crosses, to the tolerances of `work`, and keeps them in `store` with dense ones; alone:
    whether the device has all blocks."""

    def __init__(self, dense: DeviceDenseBlocks, work: Blocks, alone: bool) -> None:
        self.dense, self.work, self.rows, self.tree, self.dtype = dense, work, dense.rows, dense.tree, dense.dtype
        self.device, self.real, self.wide, self.alone = dense.device, dense.real, dense.wide, alone
        self.store = DeviceStore(self.device, self.dtype)
        if alone:
            self.store.ahead = ahead_of(self.tree, self.tree.leaves)
        aca = source_of("aca", self.dtype, self.real, self.rows.defines)
        fewer = source_of("recompression", self.dtype, self.wide)
        self.approximation, self.recompression = (Kernels(self.device, each, GROUP) for each in (aca, fewer))
        self.limits = self.device.array(work.limits)
        counts = np.array([len(each.order) for each in (self.tree.rows, self.tree.columns)], np.int32)
        self.points = [self.device.array(each) for each in (*work.points, counts)]
        self.truncation = self.device.array(np.array([work.truncation], self.wide))
        self.errors = APPROXIMATION * work.errors, TRUNCATION * work.errors
        self.room = int(CROSSES + CROSSES_PER_DIGIT * max(1.0, -float(np.log10(work.rtol))))

    def compress(self, pieces: Sequence[tuple[int, NDArray[np.int64]]]) -> None:
        """Keep the blocks of some pieces."""
        kinds = {kind: [blocks for each, blocks in pieces if each == kind] for kind in (DENSE, LOW_RANK)}
        dense, low = (np.concatenate([np.zeros(0, np.int64), *kinds[kind]]) for kind in (DENSE, LOW_RANK))
        if not self.alone:
            self.store.ahead = self.store.ahead + ahead_of(self.tree, np.concatenate([dense, low]))
        full = self._approximate(low)
        self.dense.fill(np.concatenate([dense, full]), self.store)
        self.work.note_full(full)

    def corrected(self) -> list[NDArray[np.int64]]:
        """Tables of the blocks of low rank in which touching or near pairs of triangles are to be corrected."""
        low = [table[table[:, RANK] >= 0] for table in self.store.tables]
        return [table[np.isin(table[:, BLOCK], self.dense.with_special(table[:, BLOCK]))] for table in low]

    def _approximate(self, blocks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Keep blocks, as many at a time as there is room for; the others, which have no low rank."""
        room, full = self.room, [blocks[:0]]
        while len(blocks):
            left: list[NDArray[np.int64]] = []
            total = int(room * np.sum(self.tree.sizes(blocks)))
            blocks = in_rounds(self.tree, blocks, rounds_of(total, self.dtype, self.device))
            m, n = self.tree.sizes(blocks)
            rooms = np.minimum(room, m * n // (m + n) + 1)
            sides = self.rows.row_room[self.tree.row[blocks]], self.rows.column_room[self.tree.column[blocks]]
            reals = 2 * (m + n) + np.maximum(*sides)
            for batch in batches(rooms * (m + n), reals, self.dtype, self.device, "a block of low rank"):
                chosen = blocks[batch.chosen]
                ranks, crosses = self._skeletons(chosen, rooms[batch.chosen], batch)
                full.append(chosen[ranks == FULL])
                left.append(chosen[ranks == NO_ROOM])
                done = ranks >= 0
                self._recompress(chosen[done], ranks[done], batch.begins[done], crosses)
            blocks, room = np.concatenate(left), 4 * room
        return np.concatenate(full)

    def _skeletons(
        self, blocks: NDArray[np.int64], room: NDArray[np.int64], batch: Batch
    ) -> tuple[NDArray[np.int64], Any]:
        """Ranks (blocks,), FULL or NO_ROOM, and the crosses on the device."""
        tree, device, count = self.tree, self.device, len(blocks)
        table = np.stack([tree.row[blocks], tree.column[blocks], batch.begins, batch.scratch, room], axis=1)
        crosses, scratch = device.empty((batch.numbers,), self.dtype), device.empty((batch.reals,), self.real)
        ranks = device.empty((count,), np.int32)
        errors = device.array(self.errors[0][blocks].astype(self.real))
        given = *self.rows.arguments, self.limits, *self.points, indices(device, table), errors, crosses, scratch
        self.approximation.launch("approximate", count * GROUP, *given, ranks)
        found = device.to_host(ranks).astype(np.int64)
        # a row and a column for each cross, and for the one that is too small
        work = self.rows.column_work[tree.column[blocks]] + self.rows.row_work[tree.row[blocks]]
        count_work(device, "approximate", lambda: float(work @ np.where(found >= 0, found + 1, room)))
        return found, crosses

    def _recompress(
        self, blocks: NDArray[np.int64], ranks: NDArray[np.int64], begins: NDArray[np.int64], crosses: Any
    ) -> None:
        """Keep blocks with as many crosses as the tolerance requires, in parts whose small matrices fit; begins: where
        the crosses of each begin."""
        device, tree, store, small = self.device, self.tree, self.store, np.result_type(self.dtype, self.wide)
        sizes = 4 * ranks**2 + 2 * ranks  # four matrices of rank x rank numbers, and two vectors, for a block
        m, n = tree.sizes(blocks)
        for where in runs_that_fit(sizes, most_bytes(device) // small.itemsize):
            own, ends, kept = blocks[where], np.cumsum(sizes[where]), ranks[where].copy()
            given = np.stack([begins[where], m[where], n[where], kept, ends - sizes[where]], axis=1)
            tables, several = device.empty((int(ends[-1]),), small), np.flatnonzero(kept > 1)
            # how many of several crosses are needed, with their weights in the tables
            found = device.empty((len(several),), np.int32)
            errors = device.array(self.errors[1][own[several]].astype(self.wide))
            described = crosses, indices(device, given[several]), self.truncation, errors, tables, found
            self.recompression.launch("recompress", len(several) * GROUP, *described)
            kept[several] = device.to_host(found)
            counts = kept * (m + n)[where]
            if not store.rank:  # as many crosses of every block, and as many of every cross
                fewer = float(counts.sum() / max(1, (ranks * (m + n))[where].sum()))
                store.rank = fewer * float((ranks * (m + n)).sum() / (m + n).sum())
            # these, combined of those that were given, in their places
            for part, out, start in store.parts(counts):
                first = start + np.cumsum(counts[part]) - counts[part]
                table = indices(device, np.column_stack([given[part], kept[part], first]))
                threads = len(first) * GROUP if counts[part].any() else 0
                self.recompression.launch("combine", threads, crosses, table, tables, out)
                store.keep(table_of(tree, own[part], kept[part], start))
