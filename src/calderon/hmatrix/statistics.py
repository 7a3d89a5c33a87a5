"""What an H-matrix is made of, level by level."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import format_bytes
from calderon.hmatrix.block_tree import BlockTree
from calderon.hmatrix.products import BLOCK, RANK
from calderon.hmatrix.storage import Slab, stored


class Level(NamedTuple):
    """Blocks of one level of the tree, or of all: how many are of low rank and how many dense, the mean and largest
    rank of the former, memory in bytes."""

    low_rank: int
    dense: int
    mean_rank: float
    largest_rank: int
    nbytes: int


class Statistics(NamedTuple):
    """levels: from the whole matrix to the smallest blocks. total: all of them. Prints as a table."""

    levels: list[Level]
    total: Level

    def __str__(self) -> str:
        lines = ["level  low rank   dense  mean rank  largest     memory"]
        for name, level in [*enumerate(self.levels), ("all", self.total)]:
            lines.append(
                f"{name:>5}  {level.low_rank:8d}  {level.dense:6d}  {level.mean_rank:9.1f}  {level.largest_rank:7d}  "
                f"{format_bytes(level.nbytes):>9}"
            )
        return "\n".join(lines)


def statistics(tree: BlockTree, slabs: list[Slab], dtype: np.dtype[Any]) -> Statistics:
    """Blocks, ranks and memory by level of the block tree (the deeper level of the two clusters of a block)."""
    table = np.concatenate([slab.table for slab in slabs])
    blocks, nbytes = table[:, BLOCK], stored(table) * dtype.itemsize
    level = np.maximum(tree.rows.level[tree.row[blocks]], tree.columns.level[tree.column[blocks]])
    depth = int(level.max(initial=0)) + 1
    return Statistics(
        [_level(table, nbytes, level == each) for each in range(depth)], _level(table, nbytes, level >= 0)
    )


def _level(table: NDArray[np.int64], nbytes: NDArray[np.int64], chosen: NDArray[np.bool_]) -> Level:
    ranks = table[chosen, RANK]
    low = ranks[ranks >= 0]
    mean = float(low.mean()) if len(low) else 0.0
    return Level(len(low), len(ranks) - len(low), mean, int(low.max(initial=0)), int(nbytes[chosen].sum()))
