"""Near blocks in an HDF5 file, saved by chunks while they are computed.

A chunk has all blocks of some row boxes, so that its numbers do not depend on which chunks are computed in one run.
Trees, maps and plane waves are set up again: nothing of the file says where a number belongs but its place.
"""

import os
from collections.abc import Sequence
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from calderon.backends import Execution
from calderon.files import OTHER, FileKind, Pieces, SavedGroup, checked_path, put, saved_file
from calderon.galerkin.bilinear_form import BilinearForm
from calderon.galerkin.rows.near_blocks import NearBlocks, add_entries, compiled_terms, strips_for
from calderon.operators.algebra import BoundaryOperator
from calderon.operators.fingerprint import digest, fingerprint_of_all
from calderon.processes import refuse_held

NEAR = FileKind("calderon near blocks", "near blocks", "remove it and assemble again", version=1, former=1)
CHUNK, MOST = 16_000_000, 64
"""Bytes of a chunk at least, and chunks of a region of the matrix, about, at most."""

Terms = Sequence[tuple[complex, BilinearForm]]


class SavedNear:
    """The near blocks of an operator in a file, and those of an assembly that ended early next to it.

    attempt: of which leaves the blocks in the file are, None without the file. Raises what `Pieces` raises, also for a
    file of another operator, mesh, tolerance or precision.
    """

    def __init__(self, path: str | os.PathLike[str], operator: BoundaryOperator, rtol: float, precision: str) -> None:
        identity = fingerprint_of_all(operator) | {"rtol": f"{rtol:g}", "numbers": precision}
        self.pieces = Pieces(path, NEAR, identity)
        self.attempt: int | None = None
        self._now, self._regions = 0, list[NearBlocks]()
        try:
            if self.pieces.is_complete:
                with self.pieces.result() as file:
                    self.attempt = file.whole("attempt")
        except BaseException:
            self.pieces.close()
            raise

    def __enter__(self) -> "SavedNear":
        return self

    def __exit__(self, *details: Any) -> None:
        self.pieces.close()

    def begin(self, attempt: int) -> None:
        """Blocks of these leaves follow, region by region."""
        self._now, self._regions = attempt, []

    def fill(self, blocks: NearBlocks, groups: Sequence[Terms], execution: Execution) -> None:
        """Add all terms, those on the same spaces in one group, to the blocks of the next region of the matrix."""
        number = len(self._regions)
        self._regions.append(blocks)
        if self.attempt == self._now:
            with self.pieces.result() as file:
                _restore(blocks, file[f"parts/{number}"])
            return
        bounds, name, missing = chunks_of(blocks), f"{_layout(blocks)}-{number}", []
        for c in range(len(bounds) - 1):
            own = _numbers(blocks, bounds, c)
            found = self.pieces.piece(f"{name}-{c}", own.shape, own.dtype)
            if found is None:
                missing.append(c)
            else:
                own[:] = found
        for c in _computed(blocks, bounds, missing, groups, execution):
            self.pieces.keep(f"{name}-{c}", _numbers(blocks, bounds, c))

    def finish(self) -> None:
        """Have the blocks of the leaves that were taken in the file."""
        if self.attempt != self._now:
            self.write(self._regions, self._now)

    def write(self, regions: Sequence[NearBlocks], attempt: int) -> None:
        """Write blocks of all regions to the file, instead of what is there."""
        with self.pieces.finish() as file:
            file.attrs["attempt"] = attempt
            for number, blocks in enumerate(regions):
                _put(file.create_group(f"parts/{number}"), blocks)
        self.attempt = attempt


def require_near_file(path: str | os.PathLike[str]) -> None:
    """What `SavedNear` raises for the name of a file, one in use, one of another kind and a damaged one."""
    place = checked_path(path, NEAR)
    refuse_held(place.resolve(), OTHER)
    if place.exists():
        with saved_file(place, NEAR):
            pass


def chunks_of(blocks: NearBlocks) -> NDArray[np.int64]:
    """(chunks + 1,) the first block of each chunk; blocks are in the order of their row boxes."""
    new = np.flatnonzero(np.diff(blocks.pairs[:, 0], prepend=-1))
    size = max(1, CHUNK // blocks.room.itemsize, int(blocks.starts[-1]) // MOST)
    first = np.unique(blocks.starts[new] // size, return_index=True)[1]
    return np.append(new[first], len(blocks.pairs))


def _numbers(blocks: NearBlocks, bounds: NDArray[np.int64], chunk: int) -> NDArray[Any]:
    low, high = blocks.starts[bounds[chunk : chunk + 2]]
    return blocks.room[low:high]


def _computed(
    blocks: NearBlocks, bounds: NDArray[np.int64], chunks: list[int], groups: Sequence[Terms], execution: Execution
) -> Any:
    """Compute some chunks, and yield the number of each when it is ready."""
    chosen = [np.arange(bounds[c], bounds[c + 1]) for c in chunks]
    if not chosen:
        return
    compiled = []
    for terms in groups:
        strips = strips_for(terms, blocks, np.concatenate(chosen))
        boxes = blocks.pairs[strips.numbers[strips.columns.run_starts[:-1]], 0]
        compiled.append((strips, boxes, list(compiled_terms(terms, blocks, strips, execution))))
    for c, own in zip(chunks, chosen, strict=True):
        first, last = blocks.pairs[own[[0, -1]], 0]
        for strips, boxes, entries in compiled:
            part = slice(int(np.searchsorted(boxes, first)), int(np.searchsorted(boxes, last, side="right")))
            for factor, each in entries:
                add_entries(blocks, strips, factor, each, part)
        yield c


def _layout(blocks: NearBlocks) -> str:
    sides = (each[:3] for each in (blocks.rows, blocks.columns))
    return digest(blocks.pairs, blocks.starts, *(part for side in sides for part in side))


def _put(group: h5py.Group, blocks: NearBlocks) -> None:
    bounds = chunks_of(blocks)
    group.attrs["layout"] = _layout(blocks)
    for c in range(len(bounds) - 1):
        put(group, str(c), _numbers(blocks, bounds, c))


def _restore(blocks: NearBlocks, group: SavedGroup) -> None:
    group.require(group.text("layout") == _layout(blocks), "its blocks are those of other leaves")
    bounds = chunks_of(blocks)
    for c in range(len(bounds) - 1):
        own = _numbers(blocks, bounds, c)
        own[:] = group.array(str(c), own.dtype, own.shape)
