"""Compression by devices, alone or together with the processor.

The blocks come in pieces from one list, the smallest first: the processor's threads take pieces from its front,
devices take runs of them from its end, by their measured speeds (backends/sharing.py). So a device has blocks that are
large or many, and the processor the small ones. A device alone has a few rounds of blocks of all sizes: a large block
keeps one group of threads busy long. The blocks of a device stay there. What a device that fails was to do, and what it
holds, is done by the others.
"""

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Deliver, Device, Execution, HandedOver, at_once, at_the_same_time, counted, share_tasks
from calderon.galerkin.rows.device import DeviceRows
from calderon.hmatrix.compression import Advance, Blocks, Compression, Matrix, Points, cost_of, pieces_of
from calderon.hmatrix.device.dense_blocks import DeviceDenseBlocks
from calderon.hmatrix.device.skeleton import DeviceCompression
from calderon.hmatrix.hmatrix import HMatrix
from calderon.hmatrix.tolerances import Sample, Scales, SumRows, sampled
from calderon.hmatrix.tree.block_tree import BlockTree

ROUND, ROUNDS = 1e9, 8
"""Entries of a round of a device alone, about, and rounds at most."""


class DeviceTeam:
    """The devices that compute one matrix, with entries of type `dtype`; rows(device): its rows there, which are made
    when they are needed, once."""

    def __init__(
        self, devices: Sequence[Device], rows: Callable[[Device], DeviceRows], dtype: np.dtype[Any], tree: BlockTree
    ) -> None:
        self.devices, self.rows, self.dtype, self.tree = devices, rows, dtype, tree
        self._dense: dict[str, DeviceDenseBlocks] = {}
        self._locks = {each.name: threading.Lock() for each in devices}

    def dense_blocks(self, device: Device) -> DeviceDenseBlocks:
        """The dense blocks on one of the devices."""
        with self._locks[device.name]:
            if device.name not in self._dense:
                self._dense[device.name] = DeviceDenseBlocks(self.rows(device), self.dtype, self.tree)
            return self._dense[device.name]

    def sampled(self, scales: Scales, sums: SumRows | None) -> tuple[Sample, float]:
        """The rows of a sample, and about the largest entry of functions that touch, by the first device that does not
        fail; the error of the last one where all do. sums: those of the processor, which then makes the sample, and
        the largest entry is 0. Meanwhile all devices prepare their dense blocks."""
        found: list[tuple[Sample, float]] = []

        def prepare(device: Device) -> None:
            with suppress(Exception):  # it comes again when blocks are needed, and others do the work
                self.dense_blocks(device)

        def on_device(device: Device, _: range, __: Deliver) -> None:
            try:
                blocks = self.dense_blocks(device)
                sample = sampled(blocks.row_sums, self.tree, scales, blocks.real)
                found.append((sample, blocks.largest_special()))
            except Exception as error:  # drivers raise what they like
                raise HandedOver(f"{device.name} ({device.label}) failed: {error}") from error

        def sample() -> None:
            if sums is not None:
                found.append((sampled(sums, self.tree, scales, np.empty(0, self.dtype).real.dtype), 0.0))
            else:
                share_tasks(None, [partial(on_device, each) for each in self.devices], np.ones(1))

        if self.devices:  # the sample in this thread, whose filters warnings obey
            at_once(lambda: at_the_same_time([partial(prepare, each) for each in self.devices]), sample)
        else:
            sample()
        return found[0]


def compress_on_devices(
    team: DeviceTeam,
    matrix: Matrix,
    execution: Execution,
    rtol: float,
    label: str = "",
    advance: Advance | None = None,
    errors: NDArray[np.float64] | None = None,
    points: Points | None = None,
) -> HMatrix:
    """The H-matrix as `hmatrix` makes it, but without blocks put together; devices that have not failed hold it and do
    its products. MemoryError where a block, or the matrix, does not fit on a device and there is no other."""
    tree, devices = team.tree, team.devices
    with_processor = len(devices) < len(execution.team)
    alone = len(devices) == 1 and not with_processor
    given = tree, rtol, errors
    here = Compression(matrix.rows(), *given, points=points) if with_processor else None
    work = here or Blocks(matrix, *given, points)
    tasks, weights = _tasks_of(tree, alone)

    def on_processor(numbers: list[int], number: int) -> None:
        for piece in tasks[numbers[number]]:
            assert here is not None
            here.keep(here.run(*piece))

    prepared: dict[str, DeviceCompression] = {}
    done: dict[str, list[int]] = {each.name: [] for each in devices}
    working, pending = list(devices), list(range(len(tasks)))

    def on_device(device: Device, numbers: list[int], run: range, _: Deliver) -> None:
        """Compress a run of tasks on one device; HandedOver where it fails, so that others take them."""
        name, chosen = device.name, [numbers[number] for number in run]
        try:
            if name not in prepared:
                prepared[name] = DeviceCompression(team.dense_blocks(device), work, alone)
            prepared[name].compress([piece for number in chosen for piece in tasks[number]])
            if not alone:
                device.synchronize()  # speeds are those of kernels, not of launches
        except Exception as error:  # drivers raise what they like
            working.remove(device)
            prepared.pop(name, None)
            pending.extend(done[name])
            raise HandedOver(f"{name} ({device.label}) failed: {error}") from error
        done[name] += chosen

    # the processor and the devices share the tasks, and then those that a device had done before it failed
    parts, step = list[NDArray[np.float64]](), counted(advance, len(tasks))
    while pending:
        numbers = pending.copy()
        pending.clear()
        processor = partial(on_processor, numbers) if with_processor else None
        workers = [partial(on_device, each, numbers) for each in working]
        parts.append(share_tasks(processor, workers, weights[numbers], None, step))
    if execution.team:
        execution.parts.append(parts[0])
    # devices that have not failed hold the matrix
    kept = [prepared[each.name] for each in working if each.name in prepared]
    for each in kept:
        work.approximated += each.corrected()
    return work.result(label, execution.name, [each.store for each in kept])


def _tasks_of(tree: BlockTree, alone: bool) -> tuple[list[list[tuple[int, NDArray[np.int64]]]], NDArray[np.float64]]:
    """Pieces of work, those of small blocks first, and their costs; a device alone takes them in rounds of blocks of
    all sizes."""
    pieces = pieces_of(tree)
    costs = [cost_of(tree, blocks) for _, blocks in pieces]
    order = np.argsort([each.mean() for each in costs], kind="stable").tolist()
    pieces, weights = [pieces[number] for number in order], np.array([costs[number].sum() for number in order])
    if not alone:
        return [[piece] for piece in pieces], weights
    rounds = int(np.clip(weights.sum() / ROUND, 1, ROUNDS))
    parts = [slice(first, None, rounds) for first in range(rounds)]
    return [pieces[part] for part in parts], np.array([weights[part].sum() for part in parts])
