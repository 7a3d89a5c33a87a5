"""Adding a block of a Galerkin matrix to an array, on the processor or on a device."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Deliver, Execution, counted, run_tasks, share_tasks
from calderon.galerkin.bilinear_form import BilinearForm
from calderon.galerkin.block import Block
from calderon.galerkin.device.block import DeviceBlock, device_class
from calderon.galerkin.limits import resolved_triangles
from calderon.galerkin.mutual_block import MutualBlock
from calderon.integrands import Integrand
from calderon.spaces import Space

Index = NDArray[np.int64]


def kind_of_whole(kind: type[Block], integrand: Integrand, test: Space, trial: Space) -> type[Block]:
    """The class that computes a whole matrix on the processor: double layers on one space take both orders of a pair at
    once."""
    return MutualBlock if kind is Block and integrand.component.normal != "none" and test is trial else kind


def block_of(
    bilinear: BilinearForm,
    out: NDArray[Any],
    execution: Execution,
    half: bool = False,
    factor: complex = 1.0,
    rows: Index | None = None,
    columns: Index | None = None,
    kind: type[Block] | None = None,
) -> Block:
    """The block that `add_block` computes, of which nothing is computed yet. kind: another class than that of the
    form."""
    green, integrand, test, trial = bilinear.green, bilinear.integrand, bilinear.test, bilinear.trial
    resolved_triangles(green, test, trial)
    kind = kind or bilinear.block
    if execution.devices:
        kind = partial(device_class(kind), execution.devices[0])  # type: ignore[assignment]
    quadrature, real = bilinear.quadrature, execution.regular
    return kind(out, green, integrand, test, trial, factor, rows, columns, quadrature, real, half)


def add_block(
    out: NDArray[Any],
    bilinear: BilinearForm,
    factor: complex,
    rows: Index | None,
    columns: Index | None,
    execution: Execution,
    advance: Callable[[int, int], None] | None = None,
    half: bool = False,
) -> None:
    """out += factor * matrix[rows][:, columns] of a bilinear form; all rows or columns for None.

    `out` (rows, columns) has contiguous rows and is complex where the Green's function or the factor is. rows and
    columns hold no number twice. advance(done, total) is called after each tile. half: for a symmetric integrand on
    one space, all rows and columns, add only S where the matrix is S + S^T: half the work (see `symmetrise`).
    execution: where; a device computes tiles one after the other, several share them (`backends.share_tasks`).
    """
    kind, team = bilinear.block, execution.team
    if execution.uses_processor and execution.far is None and not team and rows is None and columns is None:
        kind = kind_of_whole(kind, bilinear.integrand, bilinear.test, bilinear.trial)
    if execution.devices and not team:
        with execution.devices[0].large:
            _on_device(block_of(bilinear, out, execution, half, factor, rows, columns, kind), advance)
        return
    works = [block_of(bilinear, out, each, half, factor, rows, columns, kind) for each in team or (execution,)]
    work = works[0]
    tiles = _shared_tiles(work, len(works)) if team else work.tiles
    stages = [] if team else work.stages()
    count = sum(stage.tasks for stage in stages) or len(tiles) - 1
    step = counted(advance, count)
    if count <= 0 or not work.trial.triangles.size:
        return
    if team:
        execution.parts.append(_share(works, tiles, half, step))
    for stage in stages:
        run_tasks(*stage, step)


def _on_device(work: Any, advance: Callable[[int, int], None] | None) -> None:
    """Compute a whole block on a device, whose memory is free again when this has returned."""
    step = counted(advance, len(work.tiles) - 1)
    if work.trial.triangles.size:
        for _ in work.add_between(0, int(work.tiles[-1])):
            step()


def _shared_tiles(work: Block, workers: int) -> NDArray[np.int64]:
    """Bounds of the tiles that workers share: those of the processor, or small ones where it takes no part."""
    count = int(work.tiles[-1])
    if not isinstance(work, DeviceBlock):
        return work.tiles
    # 64 tiles for each of several devices
    return np.unique(np.linspace(0, count, min(count, 64 * workers) + 1).astype(np.int64))


def _share(works: list[Block], tiles: NDArray[np.int64], half: bool, step: Callable[[], None]) -> NDArray[np.float64]:
    """Let the processor (first, if among them) and devices do all tiles; the part that each did."""
    trials = len(works[0].trial.triangles)
    ends = np.cumsum(np.append(0, trials - np.arange(tiles[-1]) if half else np.full(tiles[-1], trials)))
    on_processor = not isinstance(works[0], DeviceBlock)

    def on_device(work: DeviceBlock, tasks: range, deliver: Deliver) -> None:
        """Compute consecutive tiles on a device."""
        for _ in work.add_between(int(tiles[tasks[0]]), int(tiles[tasks[-1] + 1]), deliver):
            pass

    devices = [partial(on_device, work) for work in works if isinstance(work, DeviceBlock)]
    weights = np.diff(ends[tiles]).astype(np.float64)
    return share_tasks(works[0].run if on_processor else None, devices, weights, works[0].neighbours, step)
