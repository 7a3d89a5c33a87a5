"""The H-matrix as a SciPy linear operator, and what it is made of, level by level."""

import os
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.backends import computable, format_bytes, require_memory, run_tasks, thread_count
from calderon.hmatrix.device.products import DeviceProducts
from calderon.hmatrix.products import BLOCK, COLUMN, HEIGHT, OFFSET, RANK, ROW, WIDTH, multiply
from calderon.hmatrix.saving import HMATRIX, get_hmatrix, new_matrix_file, put_hmatrix, saved_matrix_file
from calderon.hmatrix.storage import Slab, entries_at, shares_of, stored
from calderon.hmatrix.tree.block_tree import BlockTree


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


class HMatrix(LinearOperator):
    """A matrix in blocks of low rank and dense ones: N log N numbers instead of N^2.

    Works wherever SciPy takes a LinearOperator: products with vectors and matrices, `.T`, `.H`; in the order of the
    unknowns, not of the clusters. tree: the blocks. rtol: relative error of each block in the Frobenius norm. nbytes:
    of the stored numbers. seconds: of the assembly. full: blocks that should have had a low rank, had none, and are
    kept dense. on_device: the blocks on devices, which do the products; slabs may be None then. error: relative, of
    products of some rows with smooth vectors and a random one, the largest; None if it was not measured. Products of a
    matrix in single precision with a vector in double precision are summed in double.
    """

    def __init__(
        self,
        tree: BlockTree,
        slabs: list[Slab] | None,
        dtype: np.dtype[Any],
        rtol: float,
        *,
        correction: sp.csr_array | None = None,
        full: int = 0,
        label: str = "",
        seconds: float = 0.0,
        backend: str = "numba",
        on_device: DeviceProducts | None = None,
        error: float | None = None,
    ) -> None:
        super().__init__(dtype=dtype, shape=tree.shape)
        self.tree, self._slabs, self.rtol, self.correction, self.full = tree, slabs, rtol, correction, full
        self.label, self.seconds, self.backend = label, seconds, backend
        self.on_device, self.error = on_device, error

    @property
    def slabs(self) -> list[Slab]:
        """The blocks in memory of the host, to which devices copy them when they are first requested; MemoryError
        before, where there is no room."""
        if self._slabs is None:
            assert self.on_device is not None
            advice = "keep to products, which devices compute"
            require_memory(self.nbytes, "a copy of an H-matrix that devices hold", advice)
            self._slabs = self.on_device.slabs()
        return self._slabs

    @property
    def table(self) -> NDArray[np.int64]:
        """(blocks, 7) all stored blocks: see products.py."""
        if self._slabs is None and self.on_device is not None:
            return np.concatenate(self.on_device.tables)
        return np.concatenate([slab.table for slab in self.slabs])

    @cached_property
    def _shares(self) -> list[list[Slab]]:
        return shares_of(self.slabs, thread_count())

    @property
    def nbytes(self) -> int:
        """Memory of the numbers of all blocks, with the tables that describe them."""
        sparse = 0 if self.correction is None else self.correction.data.nbytes + self.correction.indices.nbytes
        table = self.table
        return int(stored(table).sum()) * self.dtype.itemsize + table.nbytes + sparse

    @property
    def statistics(self) -> Statistics:
        """Numbers of blocks, ranks and memory by level of the block tree (the deeper one of the two clusters)."""
        table, tree = self.table, self.tree
        blocks, nbytes = table[:, BLOCK], stored(table) * self.dtype.itemsize
        depth = np.maximum(tree.rows.level[tree.row[blocks]], tree.columns.level[tree.column[blocks]])

        def level(chosen: NDArray[np.bool_]) -> Level:
            ranks = table[chosen, RANK]
            low = ranks[ranks >= 0]
            mean = float(low.mean()) if len(low) else 0.0
            return Level(len(low), len(ranks) - len(low), mean, int(low.max(initial=0)), int(nbytes[chosen].sum()))

        return Statistics([level(depth == each) for each in range(depth.max(initial=0) + 1)], level(depth >= 0))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the matrix to an HDF5 file (.h5 or .hdf5), whole or not at all; see saving.py."""
        with new_matrix_file(path, HMATRIX) as file:
            put_hmatrix(file, self)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "HMatrix":
        """The matrix that was saved. ValueError for another kind or version of file, DamagedFile for a damaged one."""
        with saved_matrix_file(path, HMATRIX) as file:
            return cls(**get_hmatrix(file))

    def _matmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return self._product(x, False)

    def _rmatmat(self, x: NDArray[Any]) -> NDArray[Any]:
        conjugate = self.dtype.kind == "c" or x.dtype.kind == "c"
        return np.conj(self._product(np.conj(x), True)) if conjugate else self._product(x, True)

    def _product(self, x: NDArray[Any], transposed: bool) -> NDArray[Any]:
        """A x or A^T x for x (n, k)."""
        x = computable(x)
        if x.dtype.kind == "c" and self.dtype.kind != "c":
            both = self._product(np.concatenate([x.real, x.imag], axis=1), transposed)
            return both[:, : x.shape[1]] + 1j * both[:, x.shape[1] :]
        dtype = np.result_type(self.dtype, x.dtype)
        sides = self.tree.columns.order, self.tree.rows.order
        given, wanted = sides[::-1] if transposed else sides
        y = np.empty((len(wanted), x.shape[1]), dtype)
        together = 32  # vectors that are multiplied at a time
        for start in range(0, x.shape[1], together):
            part = np.ascontiguousarray(x[given, start : start + together].T, dtype)
            y[wanted, start : start + together] = self._in_cluster_order(part, transposed).T
        return y

    def _in_cluster_order(self, x: NDArray[Any], transposed: bool) -> NDArray[Any]:
        """(k, m) products with x (k, n), or (k, n) transposed ones with x (k, m), in the order of the clusters."""
        y = self._on_processor(x, transposed) if self.on_device is None else self.on_device.product(x, transposed)
        if self.correction is not None:
            y += ((self.correction.T if transposed else self.correction) @ x.T).T
        return y

    def products_of(self, rows: NDArray[np.int64], x: NDArray[Any]) -> NDArray[Any]:
        """(r, k) products of some rows with x (n, k), all in cluster order, by the blocks that hold these rows."""
        vectors = np.ascontiguousarray(x.T, self.dtype)
        if self.on_device is not None:  # all products take less time there than the blocks to the host
            return self._in_cluster_order(vectors, False).T[rows]
        before = np.searchsorted(np.sort(rows), np.arange(self.shape[0] + 1))
        sums, symmetric = np.zeros((x.shape[1], self.shape[0]), self.dtype), self.tree.symmetric
        for numbers, table in self.slabs:
            low, high = table[:, ROW], table[:, ROW] + table[:, HEIGHT]
            chosen = before[high] > before[low]
            if symmetric:
                chosen |= before[table[:, COLUMN] + table[:, WIDTH]] > before[table[:, COLUMN]]
            multiply(numbers, table[chosen], vectors, sums, sums, True, symmetric)
        found = sums.T[rows]
        return found if self.correction is None else found + self.correction[rows] @ vectors.T

    def _on_processor(self, x: NDArray[Any], transposed: bool) -> NDArray[Any]:
        """The product of the blocks, without the correction, with x (k, n): rows are vectors in cluster order, k of
        them. Each task sums its share of the blocks by itself; the sums are added in the order of the tasks."""
        symmetric = self.tree.symmetric
        # down: A x is wanted, across: A^T x; both where half of a symmetric matrix is stored
        down, across = symmetric or not transposed, symmetric or transposed
        sums = np.zeros((len(self._shares), len(x), self.shape[1 if transposed else 0]), x.dtype)

        def work(number: int) -> None:
            for numbers, table in self._shares[number]:
                multiply(numbers, table, x, sums[number], sums[number], down, across)

        run_tasks(work, len(self._shares))
        return np.asarray(sums.sum(axis=0))

    def near_entries(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[Any]:
        """(n,) the entries in these rows and columns, in the order of the unknowns: exact in dense blocks, in which
        those of functions with a common triangle lie, but for blocks that were put together to save memory."""
        places = [np.argsort(tree.order) for tree in (self.tree.rows, self.tree.columns)]
        i, j = places[0][rows], places[1][columns]
        found = entries_at(self.slabs, self.tree, i, j)
        return found if self.correction is None else found + np.asarray(self.correction[i, j]).ravel()

    def to_array(self) -> NDArray[Any]:
        """All entries, in the order of the unknowns: as much memory as a dense matrix."""
        out = np.zeros(self.shape, self.dtype) if self.correction is None else self.correction.toarray()
        for numbers, table in self.slabs:
            for row in table:
                r, m, c, n = row[ROW], row[HEIGHT], row[COLUMN], row[WIDTH]
                part = numbers[row[OFFSET] :]
                if row[RANK] < 0:
                    block = part[: m * n].reshape(m, n)
                else:
                    crosses = part[: row[RANK] * (m + n)].reshape(row[RANK], m + n)
                    block = crosses[:, :m].T @ crosses[:, m:]
                out[r : r + m, c : c + n] += block
                if self.tree.symmetric and r != c:
                    out[c : c + n, r : r + m] += block.T
        result = np.empty_like(out)
        result[np.ix_(self.tree.rows.order, self.tree.columns.order)] = out
        return result

    toarray = to_array

    def __str__(self) -> str:
        size = f"{self.shape[0]} x {self.shape[1]} {self.dtype}, {format_bytes(self.nbytes)}"
        share = self.nbytes / (self.shape[0] * self.shape[1] * self.dtype.itemsize)
        total = self.statistics.total
        ranks = f"ranks up to {total.largest_rank}, mean {total.mean_rank:.1f}"
        full = f", {self.full} admissible blocks of full rank kept dense" if self.full else ""
        what = f", {self.label}" if self.label else ""
        error = "" if self.error is None else f", error {self.error:.1e} on some rows"
        return (
            f"H-matrix {size} ({share:.2g} of dense), rtol {self.rtol:g}{error}, {ranks}{full}, "
            f"backend {self.backend}, {self.seconds:.2f} s{what}"
        )

    __repr__ = __str__
