"""Products with an operator whose matrix is never stored: entries are computed again in every product.

The regular part of a tile of test triangles is computed, multiplied and discarded; touching and near pairs are kept as
a sparse matrix (on a device they are computed again, too). Memory is proportional to the number of unknowns; a product
takes as long as a dense assembly, symmetric matrices A = S + S^T being used twice. The numbers are those of the dense
matrix, which makes it a reference for methods that compress.
"""

import time
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.backends import Execution, InOrder, Kernels, require_memory, run_tasks, thread_count
from calderon.galerkin.assembly import block_of
from calderon.galerkin.device.block import DeviceBlock
from calderon.galerkin.device.local_matrices import SMALL_GROUP
from calderon.galerkin.joint_block import JointBlock, are_joint
from calderon.operators.algebra import BoundaryOperator
from calderon.operators.boundary import IntegralOperator
from calderon.operators.lazy_operator import short_label
from calderon.operators.memory_estimate import preparation_bytes
from calderon.operators.products import Products
from calderon.operators.tree import Term, terms_of
from calderon.products.operator import in_units

TILE_BYTES = 8_000_000
"""Rows of a tile that are held at a time, for each thread: with 32 MB products take a tenth longer, as rows leave the
caches before they are multiplied."""
FEWEST_TRIANGLES = 8
"""Test triangles of a tile at least."""


class MatrixFree(LinearOperator):
    """An operator without a matrix. `seconds`: what its preparation took. `backend`: where products are computed."""

    def __init__(
        self, product: LinearOperator, operator: BoundaryOperator, precision: str, seconds: float, backend: str
    ) -> None:
        super().__init__(dtype=product.dtype, shape=product.shape)
        self._product, self._operator, self._precision = product, operator, precision
        self.label, self.seconds, self.backend = short_label(operator), seconds, backend

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy is prepared anew: kernels belong to their process."""
        again = partial(assemble_matrix_free, self._operator, backend=self.backend, precision=self._precision)
        return again, ()

    def _matmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return in_units(self._product.matmat, x)

    def _rmatmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return in_units(self._product.rmatmat, x)

    def __str__(self) -> str:
        size = f"{self.shape[0]} x {self.shape[1]} {self.dtype}"
        return f"matrix-free operator {size}, backend {self.backend}, {self.label}"

    __repr__ = __str__


def assemble_matrix_free(
    operator: BoundaryOperator, *, backend: str, precision: str, progress: bool | None = None
) -> MatrixFree:
    """Prepare products with an operator; nothing takes long here, so progress shows nothing."""
    started = time.perf_counter()
    execution = Execution.of(backend, precision)
    if execution.devices:
        products = Products(execution, lambda each: OnDevice(each, execution, each.is_symmetric))
    else:
        products = JointProducts(execution)
    product = products.of(operator)
    return MatrixFree(product, operator, precision, time.perf_counter() - started, execution.name)


class Tiled(LinearOperator):
    """Products with an integral operator by its tiles. half: A = S + S^T, and S is computed. held: bytes of the rows
    that are held at a time; MemoryError before anything is prepared. given: further arguments of `block_of`."""

    def __init__(self, operator: IntegralOperator, execution: Execution, half: bool, held: int, **given: Any) -> None:
        super().__init__(dtype=execution.dtype(operator.is_complex), shape=operator.shape)
        what = f"the matrix-free product of {operator!r}"
        advice = 'try fewer threads (NUMBA_NUM_THREADS), precision="single" or a coarser mesh'
        require_memory(preparation_bytes(operator) + held, what, advice)
        without_memory = np.broadcast_to(np.zeros((), self.dtype), self.shape)
        self._block: Any = block_of(operator, without_memory, execution, half, **given)
        self._half = half

    def _product(self, x: NDArray[Any], rows: bool, columns: bool) -> NDArray[Any]:
        """A x (rows) plus A^T x (columns) with the matrix A that the tiles make up."""
        raise NotImplementedError

    def _matmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return self._product(x, True, self._half)

    def _rmatmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return np.conj(self._product(np.conj(x), self._half, True))


class OnProcessor(Tiled):
    """On the processor, all threads."""

    def __init__(self, operator: IntegralOperator, execution: Execution, half: bool, **given: Any) -> None:
        row = operator.shape[1] * execution.dtype(operator.is_complex).itemsize
        held = thread_count() * max(TILE_BYTES, 8 * FEWEST_TRIANGLES * row)
        super().__init__(operator, execution, half, held, **given)
        block = self._block
        rows_of_triangle = block.test.places.shape[1] if block.neighbours is None else 1
        block.shorten(max(FEWEST_TRIANGLES, TILE_BYTES // (row * rows_of_triangle)))
        self._count = len(block.tiles) - 1
        self._near = self._special()

    def _special(self) -> sp.csr_array:
        """The touching and near pairs."""
        parts: list[Any] = [None] * self._count
        block = self._block

        def work(number: int) -> None:
            buffer, rows, ids = self._buffer(number, [])
            block.add_special(number, rows)
            lo, hi = block.tiles[number : number + 2]
            keys = [np.zeros(0, np.int64)]
            for batch in block.batches:
                i, j = batch.between(lo, hi).pairs.triangles.T
                r, c = rows.places[i][:, :, None], block.trial.places[j][:, None, :]
                keys.append(np.where((r >= 0) & (c >= 0), r * self.shape[1] + c, -1).ravel())
            found = np.unique(np.concatenate(keys))
            r, c = np.divmod(found[found >= 0], self.shape[1])
            parts[number] = buffer[r, c], ids[r], c

        run_tasks(work, self._count)
        values, row_ids, column_ids = (np.concatenate(each) for each in zip(*parts, strict=True))
        total = sp.coo_array((values, (row_ids, column_ids)), self.shape).tocsr()
        return (total + total.T).tocsr() if self._half else total

    def _buffer(self, number: int, free: list[NDArray[Any]]) -> tuple[NDArray[Any], Any, NDArray[np.int64]]:
        """Zeros for the rows of a tile, the rows in it, and which ones of the matrix they are.

        free: arrays that earlier tiles have left, of which one is taken where there is one: new pages take longer than
        zeros.
        """
        height = min(int(np.diff(self._block.tiles).max()) * self._block.test.places.shape[1], self.shape[0])
        try:
            whole = free.pop()
        except IndexError:
            whole = np.empty((height, self.shape[1]), self.dtype)
        rows, ids = self._block.rows_apart(number, whole)
        whole[: len(ids)] = 0
        return whole, rows, ids

    def _product(self, x: NDArray[Any], rows: bool, columns: bool) -> NDArray[Any]:
        """Touching and near pairs by the sparse matrix, which holds both halves, and the regular part of the tiles."""
        y = (self._near if rows else self._near.T) @ x

        def add(ids: NDArray[np.int64], down: NDArray[Any] | None, across: NDArray[Any] | None) -> None:
            if down is not None:
                y[ids] += down
            if across is not None:
                y[:] += across

        results, free = InOrder(add), list[NDArray[Any]]()

        def work(number: int) -> None:
            buffer, places, ids = self._buffer(number, free)
            self._block.add_regular(number, places)
            part = buffer[: len(ids)]
            down = part @ x if rows else None
            across = part.T @ x[ids] if columns else None
            free.append(buffer)
            results.add(number, ids, down, across)

        run_tasks(work, self._count)
        return y


class JointLayers(OnProcessor):
    """a V + b K' on the processor, from terms for which `are_joint` holds: distances are found once."""

    def __init__(self, layer: Term, adjoint: Term, execution: Execution) -> None:
        single = OnProcessor(layer.atom, execution, False, factor=layer.factor)
        single._block.batches = []  # touching and near pairs, which are summed by now
        kind = partial(JointBlock, single._block)
        super().__init__(adjoint.atom, execution, False, factor=adjoint.factor, kind=kind)
        self._near = self._near + single._near


class JointProducts(Products):
    """Products on the processor, of single layers with adjoint double layers where there are both."""

    def __init__(self, execution: Execution) -> None:
        super().__init__(execution, lambda each: OnProcessor(each, execution, each.is_symmetric))

    def values(self, operator: Any) -> list[tuple[Term, Any]]:
        """The terms of an expression with the values of their atoms; two layers together as one term."""
        rest, found = terms_of(operator), list[tuple[Term, Any]]()
        for term in list(rest):
            for other in rest:
                plain = term.is_plain and other.is_plain and term.region == other.region
                if plain and all(isinstance(each.atom, IntegralOperator) for each in (term, other)):
                    if are_joint(term.atom, other.atom):
                        rest = [each for each in rest if each is not term and each is not other]
                        found.append((other._replace(factor=1.0), JointLayers(term, other, self.execution)))
                        break
        return found + [(term, self.value(term.atom)) for term in rest]


class OnDevice(Tiled):
    """On a device: tiles of local matrices, touching and near pairs among them."""

    def __init__(self, operator: IntegralOperator, execution: Execution, half: bool) -> None:
        super().__init__(operator, execution, half, 0)
        assert isinstance(self._block, DeviceBlock)
        self._device = self._block.device
        given = self._device, "dense/multiply.c", self._block.real, SMALL_GROUP
        self._kernels = Kernels.of(*given, OUT_COMPLEX=operator.is_complex)

    def _product(self, x: NDArray[Any], rows: bool, columns: bool) -> NDArray[Any]:
        y = np.empty((self.shape[0 if rows else 1], x.shape[1]), np.result_type(self.dtype, x.dtype))
        for number, column in enumerate(x.T):
            y[:, number] = self._one(column, rows, columns)
        return y

    def _one(self, x: NDArray[Any], rows: bool, columns: bool) -> NDArray[Any]:
        """The product with one vector."""
        block, device = self._block, self._device
        tests, trials = block.test.places, block.trial.places.T.ravel()  # local functions, in the order of the device
        local = np.append(x, 0)
        given, total = self._sent(local[trials] if rows else x[:1]), self._sent(np.zeros(len(trials)))
        size = max(self.shape) + 1
        y = np.zeros(size, np.result_type(self.dtype, x.dtype))
        # the local matrices of a tile are integrated, multiplied and dropped
        for number in range(len(block.tiles) - 1):
            lo, hi = block.integrate(number)
            places = tests[lo:hi].ravel()
            matrices = block.local, block.local_i
            if rows:
                part = device.empty((len(places), 2), block.real)
                self._kernels.launch("multiply", len(places) * SMALL_GROUP, *matrices, given, len(trials), part)
                self._add(y, places, part)
            if columns:
                given_rows = self._sent(local[places]), len(places)
                self._kernels.launch("multiply_transposed", len(trials), *matrices, *given_rows, len(trials), total)
        if columns:
            self._add(y, trials, total)
        return y[: self.shape[0] if rows else self.shape[1]]

    def _sent(self, values: NDArray[Any]) -> Any:
        """Real and imaginary parts (n, 2) on the device."""
        pairs = np.stack([values.real, values.imag], axis=1)
        return self._device.array(np.ascontiguousarray(pairs, self._block.real))

    def _add(self, y: NDArray[Any], places: NDArray[np.int64], parts: Any) -> None:
        """y[places] += parts of the device; the last number of y belongs to no function."""
        re, im = self._device.to_host(parts).T
        np.add.at(y, places, re + 1j * im if y.dtype.kind == "c" else re)
