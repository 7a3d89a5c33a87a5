"""Compression by devices, alone or together with the processor.

The blocks come in pieces from one list, the smallest first: the processor's threads take pieces from its front,
devices take runs of them from its end, by their measured speeds (backends/sharing.py). So a device has blocks that are
large or many, and the processor the small ones. What a device that fails was to do is done by the others. A device
alone has a few rounds of blocks of all sizes: a large block keeps one group of threads busy long.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Deliver, Execution, HandedOver, counted, share_tasks
from calderon.galerkin.rows.device import DeviceRows
from calderon.galerkin.rows.entry_kernels import CompiledRows
from calderon.hmatrix.compression import Advance, Compression, Points, cost_of, pieces_of
from calderon.hmatrix.device.dense_blocks import DeviceDenseBlocks, device_filling
from calderon.hmatrix.device.products import DeviceProducts
from calderon.hmatrix.device.skeleton import DeviceSkeletons
from calderon.hmatrix.hmatrix import HMatrix
from calderon.hmatrix.storage import Slab
from calderon.hmatrix.tolerances import Sample, Scales, sampled
from calderon.hmatrix.tree.block_tree import DENSE, LOW_RANK, BlockTree

ROUND, ROUNDS = 1e9, 8
"""Entries of a round of a device alone, about, and rounds at most."""


def compress_on_devices(
    devices: Sequence[DeviceRows],
    execution: Execution,
    rows: CompiledRows,
    tree: BlockTree,
    rtol: float,
    label: str = "",
    advance: Advance | None = None,
    errors: NDArray[np.float64] | None = None,
    points: Points | None = None,
) -> HMatrix:
    """The H-matrix as `hmatrix` makes it, but without blocks put together; devices that have not failed do its
    products. MemoryError where a block does not fit on a device and there is no other."""
    with_processor = len(devices) < len(execution.team)
    work = Compression(rows, tree, rtol, errors, points=points)
    # pieces of work, small blocks first; one device alone takes them in rounds of mixed sizes
    pieces = sorted(pieces_of(tree), key=lambda piece: float(cost_of(tree, piece[1]).mean()))
    weights = np.array([cost_of(tree, blocks).sum() for _, blocks in pieces])
    tasks = [[piece] for piece in pieces]
    if len(devices) == 1 and not with_processor:
        rounds = int(np.clip(weights.sum() / ROUND, 1, ROUNDS))
        tasks = [pieces[first::rounds] for first in range(rounds)]
        weights = np.array([weights[first::rounds].sum() for first in range(rounds)])

    def on_processor(number: int) -> None:
        for piece in tasks[number]:
            work.keep(work.run(*piece))

    prepared: dict[str, DeviceCompression] = {}

    def on_device(each: DeviceRows, run: range, _: Deliver) -> None:
        """Compress a run of tasks on one device; HandedOver where it fails, so that others take them."""
        device = each.device
        try:
            if device.name not in prepared:
                prepared[device.name] = DeviceCompression(each, work)
            slabs, full = prepared[device.name].compressed([piece for task in run for piece in tasks[task]])
        except Exception as error:  # drivers raise what they like
            working.remove(device)
            raise HandedOver(f"{device.name} ({device.label}) failed: {error}") from error
        work.add(slabs, full)

    # the processor and the devices share the tasks; devices that have not failed multiply afterwards
    working = [each.device for each in devices]
    workers = [partial(on_device, each) for each in devices]
    step = counted(advance, len(tasks))
    parts = share_tasks(on_processor if with_processor else None, workers, weights, None, step)
    if execution.team:
        execution.parts.append(parts)
    matrix = work.result(label, execution.name)
    if working:
        matrix.on_device = DeviceProducts(working, tree, matrix.slabs, matrix.dtype)
    return matrix


def sampled_on_devices(devices: Sequence[DeviceRows], rows: CompiledRows, tree: BlockTree, scales: Scales) -> Sample:
    """The rows of a sample, by the first device that does not fail; the error of the last one where all do."""
    found: list[Sample] = []

    def on_device(each: DeviceRows, _: range, __: Deliver) -> None:
        try:
            found.append(sampled(device_filling(each, rows, tree), tree, scales, rows.real))
        except Exception as error:  # drivers raise what they like
            raise HandedOver(f"{each.device.name} ({each.device.label}) failed: {error}") from error

    share_tasks(None, [partial(on_device, each) for each in devices], np.ones(1))
    return found[0]


class DeviceCompression:
    """Blocks of both kinds on one device."""

    def __init__(self, device_rows: DeviceRows, work: Compression) -> None:
        self.skeletons = DeviceSkeletons(device_rows, work)
        self.dense = DeviceDenseBlocks(device_rows, work.rows, work.tree)

    def compressed(self, pieces: Sequence[tuple[int, NDArray[np.int64]]]) -> tuple[list[Slab], NDArray[np.int64]]:
        """The blocks of some pieces, and which of them should have had a low rank but are dense."""
        kinds = {kind: [blocks for each, blocks in pieces if each == kind] for kind in (DENSE, LOW_RANK)}
        dense, low = (np.concatenate([np.zeros(0, np.int64), *kinds[kind]]) for kind in (DENSE, LOW_RANK))
        full: list[int] = []
        slabs = list(self.skeletons.approximate(low, full))
        without = np.array(full, np.int64)
        slabs += self.dense.fill(np.concatenate([dense, without]))
        return slabs, without
