"""Adding a block of a Galerkin matrix to an array, on the processor or on a device."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Deliver, Execution, run_tasks, share_tasks
from calderon.galerkin.block import Block
from calderon.galerkin.device.block import DeviceBlock, device_class
from calderon.galerkin.limits import resolved_triangles
from calderon.galerkin.mutual_block import MutualBlock
from calderon.greens import Green
from calderon.integrands import Integrand
from calderon.quadrature.options import Quadrature
from calderon.spaces import Space

TILES = 64
"""Tiles for each of several devices that share a matrix."""


def _block(kind: type[Block], execution: Execution, form: tuple[Any, ...]) -> Block:
    _, green, _, test, trial, *_ = form
    resolved_triangles(green, test, trial)
    return kind(*form) if execution.device is None else device_class(kind)(execution.device, *form)


def kind_of_whole(kind: type[Block], integrand: Integrand, test: Space, trial: Space) -> type[Block]:
    """What computes a whole matrix on the processor: double layers on one space take both orders of a pair at once."""
    return MutualBlock if kind is Block and integrand.normal != "none" and test is trial else kind


def block_of(operator: Any, out: NDArray[Any], execution: Execution, half: bool) -> Block:
    """The matrix of an IntegralOperator, or its half (see `add_block`), as a block of which nothing is computed."""
    form = (out, operator.green, operator.integrand, operator.test, operator.trial, 1.0, None, None)
    return _block(operator.block, execution, (*form, operator.quadrature, execution.regular, half))


def add_block(
    out: NDArray[Any],
    green: Green,
    integrand: Integrand,
    test: Space,
    trial: Space,
    factor: complex,
    rows: NDArray[np.int64] | None,
    columns: NDArray[np.int64] | None,
    quadrature: Quadrature | None,
    execution: Execution,
    advance: Callable[[int, int], None] | None = None,
    half: bool = False,
    kind: type[Block] = Block,
) -> None:
    """out += factor * matrix[rows][:, columns] of the boundary operator <phi_i, A psi_j>; all rows or columns for None.

    `out` (rows, columns) has contiguous rows and is complex where the Green's function or the factor is. rows and
    columns hold no number twice. advance(done, total) is called after each tile. half: for a symmetric integrand on
    one space, all rows and columns, add only S where the matrix is S + S^T: half the work (see `symmetrise`). kind:
    the class that computes, for spaces of vector fields (edge_block.py). execution: where; a device takes tiles one
    after the other, several share them (`backends.share_tasks`).
    """
    form = (
        out,
        green,
        integrand,
        test,
        trial,
        factor,
        rows,
        columns,
        quadrature or Quadrature(),
        execution.regular,
        half,
    )
    simple = execution.device is None and execution.far is None and not execution.team
    if simple and rows is None and columns is None:
        kind = kind_of_whole(kind, integrand, test, trial)
    works = [_block(kind, each, form) for each in execution.team or (execution,)]
    work = works[0]
    tiles = _shared_tiles(work, len(works)) if execution.team else work.tiles
    stages = [] if execution.team or execution.device is not None else work.stages()
    count = sum(stage.tasks for stage in stages) or len(tiles) - 1
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        if advance is not None:
            advance(done, count)

    if count <= 0 or not work.trial.triangles.size:
        return
    if execution.team:
        execution.parts.append(_share(works, tiles, half, step))
    elif execution.device is None:
        for stage in stages:
            run_tasks(*stage, step)
    else:
        for _ in work.add_between(0, int(tiles[-1])):  # type: ignore[attr-defined]
            step()


def _shared_tiles(work: Block, workers: int) -> NDArray[np.int64]:
    """Those of the processor, or small ones where it takes no part."""
    count = int(work.tiles[-1])
    if not isinstance(work, DeviceBlock):
        return work.tiles
    return np.unique(np.linspace(0, count, min(count, TILES * workers) + 1).astype(np.int64))


def _share(works: list[Block], tiles: NDArray[np.int64], half: bool, step: Callable[[], None]) -> NDArray[np.float64]:
    """Let the processor (first, if among them) and devices do all tiles; the part that each did."""
    trials = len(works[0].trial.triangles)
    ends = np.cumsum(np.append(0, trials - np.arange(tiles[-1]) if half else np.full(tiles[-1], trials)))
    on_processor = not isinstance(works[0], DeviceBlock)

    def on_device(work: DeviceBlock, tasks: range, deliver: Deliver) -> None:
        for _ in work.add_between(int(tiles[tasks[0]]), int(tiles[tasks[-1] + 1]), deliver):
            pass

    devices = [partial(on_device, work) for work in works if isinstance(work, DeviceBlock)]
    weights = np.diff(ends[tiles]).astype(np.float64)
    return share_tasks(works[0].run if on_processor else None, devices, weights, works[0].neighbours, step)
