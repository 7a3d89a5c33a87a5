"""Compression with a device: many blocks of low rank advance there at a time (aca.c), while the processor's threads
fill the dense blocks and make the crosses that come from the device fewer.

Blocks whose rank is larger than there was room for go to the processor, too.
"""

import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Source, format_bytes, real_name, require_memory, thread_count
from calderon.backends.threads import Dealing
from calderon.hmatrix.aca import FULL, NO_ROOM
from calderon.hmatrix.block_tree import DENSE, LOW_RANK, BlockTree
from calderon.hmatrix.compression import Advance, Compressed, Compression, expected_bytes, pieces_of
from calderon.hmatrix.storage import ADVICE
from calderon.operators.compiled_rows import CompiledRows
from calderon.operators.device_rows import Defines, DeviceRows

GROUP = 128
"""Threads that work on a block."""
CROSSES_PER_DIGIT, CROSSES = 8, 12
"""A block has room for so many crosses for each digit of the tolerance, and so many more."""
BATCH = 4 << 30
"""Bytes of crosses of the blocks that advance together, at most."""
SHARE = 4
"""Crosses of a batch and their copy take at most this part of the memory of the device each."""
BLOCKS = 1 << 16
"""Blocks that advance together, at most."""
PIECE = 1 << 20
"""Crosses that the processor makes fewer at a time, in numbers."""
WAITING = 64
"""Pieces of work for the processor beyond which the device waits."""


class Batch(NamedTuple):
    """Blocks that advance together: their numbers, room for crosses, and where crosses and other memory begin."""

    blocks: NDArray[np.int64]
    room: NDArray[np.int64]
    begins: NDArray[np.int64]
    scratch: NDArray[np.int64]
    numbers: int
    reals: int


def compress_on_device(
    device_rows: DeviceRows, rows: CompiledRows, tree: BlockTree, rtol: float, advance: Advance | None = None
) -> Compressed:
    """All blocks of a matrix, as `compress` gives them. MemoryError where a block does not fit on the device."""
    require_memory(expected_bytes(tree, rtol, rows.dtype), f"H-matrix of {tree.shape[0]} x {tree.shape[1]}", ADVICE)
    started = time.perf_counter()
    work = Compression(rows, tree, rtol)
    _Sharing(work, DeviceApproximation(device_rows, work, rtol), advance).run()
    return work.result(started)


def approximation_source(defines: Defines, real: np.dtype[Any]) -> Source:
    """The variant of aca.c for a matrix with these definitions."""
    return Source("hmatrix/aca.c", real_name(real), (*defines, ("GROUP_SIZE", GROUP)))


class DeviceApproximation:
    """Adaptive cross approximation of blocks on a device."""

    def __init__(self, rows: DeviceRows, work: Compression, rtol: float) -> None:
        self.rows, self.tree, self.dtype, self.device = rows, work.tree, work.rows.dtype, rows.device
        self.real = np.empty(0, self.dtype).real.dtype
        self.program = self.device.build(approximation_source(rows.defines, self.real))
        self.limits = self.device.array(work.limits)
        self.room = int(CROSSES + CROSSES_PER_DIGIT * max(1.0, -np.log10(rtol)))

    def batches(self) -> list[Batch]:
        """All blocks of low rank, the largest first."""
        leaves = self.tree.leaves
        blocks = leaves[self.tree.kind[leaves] == LOW_RANK]
        m, n = self.tree.sizes(blocks)
        order = np.argsort(-(m + n), kind="stable")
        blocks, m, n = blocks[order], m[order], n[order]
        room = np.minimum(self.room, m * n // (m + n) + 1)
        numbers = room * (m + n)
        local = np.maximum(self.rows.row_room[self.tree.row[blocks]], self.rows.column_room[self.tree.column[blocks]])
        reals = m + n + local
        itemsize, real = self.dtype.itemsize, self.real.itemsize
        most = min(BATCH, self.device.memory() // SHARE)
        found, first = [], 0
        ends, real_ends = np.cumsum(numbers), np.cumsum(reals)
        while first < len(blocks):
            before, real_before = (int(each[first - 1]) if first else 0 for each in (ends, real_ends))
            size = np.maximum((ends - before) * itemsize, (real_ends - real_before) * real)
            fits = (size <= most) & (np.maximum(ends - before, real_ends - real_before) < 2**31)
            stop = min(first + int(np.searchsorted(~fits[first:], True)), first + BLOCKS)
            if stop == first:
                raise MemoryError(
                    f"a block of {m[first]} x {n[first]} needs {format_bytes(size[first])} on {self.device.name} "
                    f"({self.device.label}), which has {format_bytes(self.device.memory())} free, 1/{SHARE} of it for "
                    'crosses: try precision="single", a larger rtol, or backend="numba"'
                )
            part = slice(first, stop)
            found.append(
                Batch(
                    blocks[part],
                    room[part],
                    ends[part] - numbers[part] - before,
                    real_ends[part] - reals[part] - real_before,
                    int(ends[stop - 1]) - before,
                    int(real_ends[stop - 1]) - real_before,
                )  # fmt: skip
            )
            first = stop
        return found

    def approximate(self, batch: Batch) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Ranks (blocks,) or FULL or NO_ROOM, and the crosses of the blocks one after the other."""
        tree, device, count = self.tree, self.device, len(batch.blocks)
        table = np.stack(
            [tree.row[batch.blocks], tree.column[batch.blocks], batch.begins, batch.scratch, batch.room], axis=1
        )
        work, scratch = device.empty((batch.numbers,), self.dtype), device.empty((batch.reals,), self.real)
        ranks = device.empty((count,), np.int32)
        device.launch(
            self.program, "approximate", (count * GROUP,), (GROUP,), *self.rows.arguments, self.limits,
            device.array(table.astype(np.int32)), work, scratch, ranks,
        )  # fmt: skip
        found = device.to_host(ranks).astype(np.int64)
        m, n = tree.sizes(batch.blocks)
        counts = np.maximum(found, 0) * (m + n)
        total = int(counts.sum())
        parts = np.stack([batch.begins, np.cumsum(counts) - counts, counts], axis=1)
        packed = device.empty((total,), self.dtype)
        device.launch(
            self.program, "pack", (count * GROUP if total else 0,), (GROUP,), work,
            device.array(parts.astype(np.int32)), packed,
        )  # fmt: skip
        return found, device.to_host(packed)


class _Sharing:
    """The device's thread and those of the processor, with the work that waits for the latter."""

    def __init__(self, work: Compression, device: DeviceApproximation, advance: Advance | None) -> None:
        self.work, self.device, self.advance = work, device, advance
        self.dense = deque(piece for piece in pieces_of(work.tree) if piece[0] == DENSE)
        self.batches = device.batches()
        self.waiting: deque[Callable[[], None]] = deque()
        self.approximating = True
        self.done, self.total = 0, len(self.dense) + len(self.batches)
        self.dealing = Dealing(0)

    def run(self) -> None:
        self.dealing.run([self._on_device, *[self._on_processor] * thread_count()])

    def _on_device(self) -> None:
        condition = self.dealing.condition
        for batch in self.batches:
            if self.dealing.stopped:
                return
            ranks, crosses = self.device.approximate(batch)
            with condition:
                while len(self.waiting) > WAITING and not self.dealing.stopped:
                    condition.wait()
                self.waiting.extend(self._pieces(batch.blocks, ranks, crosses))
                self._step()
                condition.notify_all()
        with condition:
            self.approximating = False
            condition.notify_all()

    def _pieces(
        self, blocks: NDArray[np.int64], ranks: NDArray[np.int64], crosses: NDArray[Any]
    ) -> Iterator[Callable[[], None]]:
        """Work that makes a batch's crosses fewer, and that which the device left."""
        m, n = self.work.tree.sizes(blocks)
        counts = np.maximum(ranks, 0) * (m + n)
        ends = np.cumsum(counts)
        number = (ends - counts) // PIECE
        starts = np.flatnonzero(np.diff(number, prepend=-1)) if len(blocks) else np.zeros(0, np.int64)
        for first, stop in zip(starts, [*starts[1:], len(blocks)], strict=True):
            part = crosses[ends[first] - counts[first] : ends[stop - 1]]
            yield lambda part=part, chosen=slice(first, stop): self._shorten(part, blocks[chosen], ranks[chosen])  # type: ignore[misc]
        for block in blocks[ranks == NO_ROOM]:
            yield lambda block=block: self.work.run(LOW_RANK, np.array([block]))  # type: ignore[misc]

    def _shorten(self, crosses: NDArray[Any], blocks: NDArray[np.int64], ranks: NDArray[np.int64]) -> None:
        with self.work.arena() as arena:
            self.work.shorten(arena, crosses, blocks, ranks)
            self.work.keep_full(arena, blocks[ranks == FULL])

    def _on_processor(self) -> None:
        while (task := self._next()) is not None:
            task()

    def _next(self) -> Callable[[], None] | None:
        """The device's crosses first, as their memory waits; None when nothing more will come."""
        condition = self.dealing.condition
        with condition:
            while not self.dealing.stopped:
                if self.waiting:
                    task = self.waiting.popleft()
                    condition.notify_all()
                    return task
                if self.dense:
                    piece = self.dense.popleft()
                    return lambda: self._fill(*piece)
                if not self.approximating:
                    return None
                condition.wait()
        return None

    def _fill(self, kind: int, blocks: NDArray[np.int64]) -> None:
        self.work.run(kind, blocks)
        with self.dealing.condition:
            self._step()

    def _step(self) -> None:
        """One more piece or batch is done."""
        self.done += 1
        if self.advance is not None:
            self.advance(self.done, self.total)
