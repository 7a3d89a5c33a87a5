"""Blocks of low rank on a device: adaptive cross approximation (aca.c), then fewer crosses (recompression.c).

Many blocks advance together, a group of threads each.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Kernels, count_work
from calderon.backends.devices.device_matrix import GROUP, vector_type
from calderon.galerkin.rows.device import DeviceRows
from calderon.hmatrix.aca import FULL, NO_ROOM
from calderon.hmatrix.compression import APPROXIMATION, TRUNCATION, Blocks
from calderon.hmatrix.device.batches import Batch, batches, in_rounds, most_bytes, rounds_of, source_of
from calderon.hmatrix.device.store import DeviceStore
from calderon.hmatrix.storage import table_of
from calderon.products.device.tables import indices, runs_that_fit

CROSSES, CROSSES_PER_DIGIT = 12, 8
"""Crosses for which a block has room, and so many more for each digit of the tolerance."""


class DeviceSkeletons:
    """Approximates blocks by crosses, to the tolerances of `work`."""

    def __init__(self, rows: DeviceRows, work: Blocks) -> None:
        self.rows, self.tree, self.dtype, self.device = rows, work.tree, work.dtype, rows.device
        self.real = np.empty(0, self.dtype).real.dtype
        self.wide = vector_type(self.device)
        aca = source_of("aca", self.dtype, self.real, rows.defines)
        fewer = source_of("recompression", self.dtype, self.wide)
        self.approximation, self.recompression = (Kernels(self.device, each, GROUP) for each in (aca, fewer))
        self.limits = self.device.array(work.limits)
        counts = np.array([len(each.order) for each in (self.tree.rows, self.tree.columns)], np.int32)
        self.points = [self.device.array(each) for each in (*work.points, counts)]
        self.truncation = self.device.array(np.array([work.truncation], self.wide))
        self.errors = APPROXIMATION * work.errors, TRUNCATION * work.errors
        self.room = int(CROSSES + CROSSES_PER_DIGIT * max(1.0, -float(np.log10(work.rtol))))

    def approximate(self, blocks: NDArray[np.int64], store: DeviceStore) -> NDArray[np.int64]:
        """Keep blocks in a store, as many at a time as there is room for; the others, which have no low rank."""
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
                self._recompress(chosen[done], ranks[done], batch.begins[done], crosses, store)
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
        self, blocks: NDArray[np.int64], ranks: NDArray[np.int64], begins: NDArray[np.int64], crosses: Any,
        store: DeviceStore,
    ) -> None:  # fmt: skip
        """Keep blocks with as many crosses as the tolerance requires, in parts whose small matrices fit."""
        small = np.dtype(np.result_type(self.dtype, self.wide))
        sizes = 4 * ranks**2 + 2 * ranks  # four matrices of rank x rank numbers, and two vectors, for a block
        m, n = self.tree.sizes(blocks)
        for where in runs_that_fit(sizes, most_bytes(self.device) // small.itemsize):
            tables = np.cumsum(sizes[where]) - sizes[where]
            given = np.stack([begins[where], m[where], n[where], ranks[where], tables], axis=1)
            room = self.device.empty((int(sizes[where].sum()),), small)
            kept = self._kept(blocks[where], given, crosses, room)
            if not store.rank:  # as many crosses of every block, and as many of every cross
                fewer = float((kept * (m + n)[where]).sum() / max(1, (ranks * (m + n))[where].sum()))
                store.rank = fewer * float((ranks * (m + n)).sum() / (m + n).sum())
            self._combine(blocks[where], given, kept, crosses, room, store)

    def _kept(
        self, blocks: NDArray[np.int64], given: NDArray[np.int64], crosses: Any, tables: Any
    ) -> NDArray[np.int64]:
        """(b,) how many of the crosses of blocks are needed, with their weights in `tables`.

        given (b, 5): where the crosses of each block begin, m, n, rank, and where its small matrices begin in `tables`,
        room on the device."""
        device, ranks = self.device, given[:, 3].copy()
        several = np.flatnonzero(ranks > 1)
        kept = device.empty((len(several),), np.int32)
        errors = device.array(self.errors[1][blocks[several]].astype(self.wide))
        described = crosses, indices(device, given[several]), self.truncation, errors, tables, kept
        self.recompression.launch("recompress", len(several) * GROUP, *described)
        ranks[several] = device.to_host(kept)
        return ranks

    def _combine(
        self, blocks: NDArray[np.int64], given: NDArray[np.int64], kept: NDArray[np.int64], crosses: Any, tables: Any,
        store: DeviceStore,
    ) -> None:  # fmt: skip
        """Keep in the store so many crosses of blocks, combined of those given; arguments as in `_kept`."""
        counts = kept * (given[:, 1] + given[:, 2])
        for part, out, start in store.parts(counts):
            own = counts[part]
            described = [given[part], kept[part, None], (start + np.cumsum(own) - own)[:, None]]
            table = indices(self.device, np.concatenate(described, axis=1))
            self.recompression.launch("combine", len(own) * GROUP if own.any() else 0, crosses, table, tables, out)
            store.keep(table_of(self.tree, blocks[part], kept[part], start))
