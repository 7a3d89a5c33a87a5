"""Near blocks in an HDF5 file, saved by chunks while they are computed.

Trees, maps and plane waves are set up again: nothing of the file says where a number belongs but its place.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.files import OTHER, FileKind, Pieces, SavedGroup, checked_path, put, saved_file, warn_unsaved
from calderon.files.formats import h5py
from calderon.operators.algebra import BoundaryOperator
from calderon.operators.fingerprint import digest, fingerprint_of_all
from calderon.processes import refuse_held
from calderon.products.near_entries import NearBlocks
from calderon.products.near_store import NearStore

NEAR_BLOCKS = FileKind("calderon near blocks", "near blocks", "remove it and assemble again", version=2, former=2)


class SavedNear:
    """The near blocks of an operator in a file, and those of an assembly that ended early next to it.

    attempt: of which leaves the blocks in the file are, None without the file. Raises what `Pieces` raises, also for a
    file of another operator, mesh, tolerance or precision.
    """

    def __init__(self, path: str | os.PathLike[str], operator: BoundaryOperator, rtol: float, precision: str) -> None:
        identity = fingerprint_of_all(operator) | {"rtol": f"{rtol:g}", "numbers": precision}
        self.pieces = Pieces(path, NEAR_BLOCKS, identity)
        self.attempt: int | None = None
        self._now, self._regions, self._name, self._has_room = 0, list[NearStore](), "", True
        try:
            if self.pieces.is_complete:
                with self.pieces.result() as file:
                    self.attempt = file.whole("attempt")
        except BaseException:
            self.pieces.close()
            raise

    def __enter__(self) -> SavedNear:
        return self

    def __exit__(self, *details: Any) -> None:
        self.pieces.close()

    def begin(self, attempt: int) -> None:
        """Blocks of these leaves follow, region by region."""
        self._now, self._regions = attempt, []

    def restore(self, near: NearStore) -> list[int]:
        """Enter what is saved of the next region of the matrix; returns the chunks that are not."""
        number, bounds, missing = len(self._regions), near.chunks, list[int]()
        self._regions.append(near)
        self._name = f"{_layout(near.layout)}-{number}"
        if self.attempt == self._now:
            with self.pieces.result() as file:
                _restore(near, file[f"parts/{number}"])
            return missing
        for c in range(len(bounds) - 1):
            found = self.pieces.piece(f"{self._name}-{c}", (_count(near, bounds, c),), near.kind)
            if found is None:
                missing.append(c)
            else:
                _enter(near, bounds, c, found)
        return missing

    def keep(self, chunk: int, numbers: NDArray[Any]) -> None:
        """Save a chunk of the region that was restored last; a RuntimeWarning where the disk is full, once."""
        if self._has_room:
            try:
                self.pieces.keep(f"{self._name}-{chunk}", numbers)
            except OSError as error:
                self._warn(error)

    def finish(self) -> None:
        """Have the blocks of the leaves that were taken in the file."""
        if self.attempt != self._now:
            self.write(self._regions, self._now)

    def write(self, regions: Sequence[NearStore], attempt: int) -> None:
        """Write blocks of all regions to the file, instead of what is there; a RuntimeWarning where the disk is
        full."""
        if not self._has_room:
            return
        try:
            with self.pieces.finish() as file:
                file.attrs["attempt"] = attempt
                for number, near in enumerate(regions):
                    _put(file.create_group(f"parts/{number}"), near)
        except OSError as error:
            self._warn(error)
        else:
            self.attempt = attempt

    def _warn(self, error: OSError) -> None:
        warn_unsaved(error, "what was computed of near blocks")
        self._has_room = False


def require_near_file(path: str | os.PathLike[str]) -> None:
    """Raise what `SavedNear` raises for the name of a file, one in use, one of another kind and a damaged one."""
    place = checked_path(path, NEAR_BLOCKS)
    refuse_held(place.resolve(), OTHER)
    if place.exists():
        with saved_file(place, NEAR_BLOCKS):
            pass


def _count(near: NearStore, bounds: NDArray[np.int64], chunk: int) -> int:
    first, last = near.layout.starts[bounds[chunk : chunk + 2]]
    return int(last - first)


def _enter(near: NearStore, bounds: NDArray[np.int64], chunk: int, values: NDArray[Any]) -> None:
    """Write the entries of a chunk, one block after the other, to the store."""
    own = np.arange(bounds[chunk], bounds[chunk + 1])
    near.enter(own, values, near.layout.starts[own] - near.layout.starts[bounds[chunk]])


def _layout(blocks: NearBlocks) -> str:
    sides = (each[:3] for each in (blocks.rows, blocks.columns))
    return digest(blocks.pairs, blocks.starts, *(part for side in sides for part in side))


def _put(group: h5py.Group, near: NearStore) -> None:
    bounds = near.chunks
    group.attrs["layout"] = _layout(near.layout)
    for c in range(len(bounds) - 1):
        put(group, str(c), near.entries_of(np.arange(bounds[c], bounds[c + 1])))


def _restore(near: NearStore, group: SavedGroup) -> None:
    group.require(group.text("layout") == _layout(near.layout), "its blocks are those of other leaves")
    bounds = near.chunks
    for c in range(len(bounds) - 1):
        found = group.array(str(c), near.kind, (_count(near, bounds, c),))
        _enter(near, bounds, c, found)
