"""Blocks that a device works on together, as many as its memory takes."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Defines, Device, Source, format_bytes, require_device_memory
from calderon.backends.devices.device_matrix import GROUP
from calderon.hmatrix.tree.block_tree import BlockTree
from calderon.products.device.tables import runs_that_fit

ADVICE = 'try precision="single", a larger rtol, or backend="numba"'
BATCH = 4 * (2**31 - 1)
"""Bytes of the numbers of blocks that are worked on together, at most: 32 bits count those of four bytes."""
SHARE = 4
"""Numbers of a batch, and what else it takes, are at most this part of the memory of the device each."""


def most_bytes(device: Device) -> int:
    """Bytes of the numbers of blocks that a device works on together, at most."""
    return min(BATCH, device.memory() // SHARE)


def source_of(name: str, numbers: np.dtype[Any], wide: np.dtype[Any], defines: Defines = ()) -> Source:
    """The variant of a file of this folder for numbers of that type, and sums of such reals; defines: those of the rows
    of the matrix, COMPLEX among them, if it reads any."""
    own = defines or (("COMPLEX", int(numbers.kind == "c")),)
    return Source.of(f"hmatrix/device/{name}.c", np.empty(0, numbers).real.dtype, GROUP, own, WIDE_REAL=wide)


class Batch(NamedTuple):
    """chosen: which blocks of a list. begins, scratch (b,): where the numbers and the working memory of each begin; in
    all so many numbers and reals."""

    chosen: slice
    begins: NDArray[np.int64]
    scratch: NDArray[np.int64]
    numbers: int
    reals: int

    def part(self, which: slice) -> "Batch":
        """Some of the blocks, with numbers from 0 on, in the same working memory."""
        begins = self.begins[which]
        return self._replace(begins=begins - begins[0], scratch=self.scratch[which])


def batches(
    numbers: NDArray[np.int64], reals: NDArray[np.int64], dtype: np.dtype[Any], device: Device, what: str
) -> list[Batch]:
    """Cut a list of blocks which take so many numbers of the matrix and so many real ones besides. MemoryError where
    one alone does not fit; what: they are, in the message."""
    sizes, most = np.maximum(numbers * dtype.itemsize, reals * np.empty(0, dtype).real.itemsize), most_bytes(device)
    if (size := int(sizes.max(initial=0))) > most:
        raise MemoryError(
            f"{what} needs {format_bytes(size)} on {device.name} ({device.label}), which has "
            f"{format_bytes(device.memory())} free, 1/{SHARE} of it for that: {ADVICE}"
        )
    found, real = list[Batch](), np.empty(0, dtype).real.itemsize
    for part in runs_that_fit(sizes, most):
        ends, real_ends = np.cumsum(numbers[part]), np.cumsum(reals[part])
        begins = ends - numbers[part], real_ends - reals[part]
        found.append(Batch(part, *begins, int(ends[-1]), int(real_ends[-1])))
    together = max((each.numbers * dtype.itemsize + each.reals * real for each in found), default=0)
    require_device_memory(device, together, f"{what} with those that are computed together", ADVICE)
    return found


def in_rounds(tree: BlockTree, blocks: NDArray[np.int64], rounds: int = 1) -> NDArray[np.int64]:
    """The blocks in so many rounds, one after the other, in each the largest first, so that no group of threads
    is left alone with one at the end, and none of the rounds has large ones alone, which are few."""
    m, n = tree.sizes(blocks)
    order = np.argsort(-(m + n), kind="stable")
    return blocks[np.concatenate([order[first::rounds] for first in range(rounds)])]


def rounds_of(numbers: int, dtype: np.dtype[Any], device: Device) -> int:
    """Batches that so many numbers of the matrix take, with some to spare."""
    return 1 + int(1.1 * numbers * dtype.itemsize / most_bytes(device))
