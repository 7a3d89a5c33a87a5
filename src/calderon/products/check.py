"""The check of fast products: rows of a matrix that are computed directly, and the error of the products there.

A product y = A x is compared with exact products of m random rows. Its estimated error is

    error = |W (y - A x)|_2 / |W A x|_2   over these rows,

where W holds the roots of the numbers of rows that each stands for. If the errors of rows were independent numbers of
one normal distribution, m error^2 by the square of the true error would have the chi-square distribution with m degrees
of freedom (times the number of random vectors, and twice as many for complex numbers). Its quantiles say which part of
a tolerance an estimate may have so that the error of all rows holds the tolerance: that is `confidence`, and the table
`Acceptance` below follows from it.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.backends import Device, DeviceMatrix, Execution
from calderon.galerkin.bilinear_form import BilinearForm
from calderon.operators.tree import entries_of, fill
from calderon.products.device.near_filling import able
from calderon.products.device.places import DevicePlace

ROWS = 64
"""Random rows that are computed directly; they say what an error is to 1 / sqrt(2 m), a tenth."""


class Acceptance(NamedTuple):
    """Parts of a tolerance that an estimated error is compared with.

    wished: attempts end with an error of at most this. allowed: after the last attempt, the error may be this. aimed:
    where an attempt may be set to an error, it is set to this, a fifth below the wish, so that one is usually enough.
    improvements: how often the product of a setting is improved at most; there are as many orders of harmonics.
    """

    wished: float
    allowed: float
    aimed: float = 0.0
    improvements: int = 12


ACCEPT_POINT_SUMS = Acceptance(wished=1.0, allowed=1.0, improvements=0)
"""Orders of harmonics have the largest errors of all points of several measured sets: the check is a second lock."""
ACCEPT_BLOCKS = Acceptance(wished=1.0, allowed=1.0, improvements=0)
"""Blocks of H-matrices have tolerances that add up to a half of that of the product: the check finds blocks that went
wrong."""
ACCEPT_FUNCTIONS = Acceptance(wished=0.6, allowed=1.0)
"""Transposed products of single layers, which are not checked, have errors up to 1.4 times as large: 0.6 x 1.4 = 0.84,
which 64 rows hold with 96 in 100."""
ACCEPT_WAVE_SUMS = Acceptance(wished=0.5, allowed=1.0, aimed=0.4, improvements=4)
"""Few targets, those at corners of boxes, have most of the error, so that it is not normally distributed: of 200
estimates with 128 of 100,000 targets on a sphere one in a hundred is below a half of the error."""
ACCEPT_WAVES = Acceptance(wished=0.5, allowed=0.9, aimed=0.4, improvements=5)
"""Whole functions have errors of the same kind. 64 rows with three random complex vectors are 384 numbers: with 0.9 of
the tolerance they hold it with 997 in 1,000 where errors are normally distributed."""
ACCEPT_FINE_WAVES = Acceptance(wished=0.5, allowed=0.75, aimed=0.4, improvements=5)
"""For small tolerances half of the rows are those with the largest expected errors: 32 random ones, 192 numbers, stay
for all others, and more than that of the error stands in the first half."""


def confidence(part: float, numbers: int) -> float:
    """Probability that normally distributed errors hold a tolerance of which so many checked numbers have a part: that
    of chi-square above part^2 times their number."""
    return float(scipy.special.chdtrc(numbers, part**2 * numbers))


def random_rows(random: np.random.Generator, count: int, most: int = ROWS) -> NDArray[np.int64]:
    """Different numbers of rows in their order: `most` of `count`, or all of them."""
    return np.sort(random.choice(count, min(count, most), replace=False))


@dataclass(frozen=True, eq=False)
class Check:
    """Products of some rows of a matrix with some vectors, computed directly.

    rows (m,): their numbers. vectors (n, k). exact (m, k): their products. groups (k,): the number of the group of each
    vector; vectors of one group have one error, in the 2-norm over all of them. weights (m,): how many rows each stands
    for, None for one. transposed: the rows are those of the transposed matrix, columns of the matrix.
    """

    rows: NDArray[np.int64]
    vectors: NDArray[Any]
    exact: NDArray[Any]
    groups: NDArray[np.int64]
    weights: NDArray[np.float64] | None = None
    transposed: bool = False

    @property
    def place(self) -> str:
        """Text that says where errors are measured: "64 random rows"."""
        return f"{len(self.rows)} random {'columns' if self.transposed else 'rows'}"

    def products(self, product: LinearOperator) -> NDArray[Any]:
        """(m, k) products of a fast operator at the checked rows."""
        found = product.rmatmat(self.vectors) if self.transposed else product.matmat(self.vectors)
        return np.asarray(found[self.rows])

    def errors(
        self,
        found: NDArray[Any],
        least: Callable[[], NDArray[np.float64]] | None = None,
        resolved: float = 1.0,
        enough: float = 0.0,
    ) -> NDArray[np.float64]:
        """(groups,) relative errors of the products (m, k) of the checked rows.

        least: gives norms (groups,) that replace those of exact products below `resolved` times them, where terms
        cancel; it is called where an error is above `enough` only. Errors of products that are zero are absolute.
        """
        change, norms = (self.norms(each) for each in (found - self.exact, self.exact))
        if least is not None and (change > enough * norms).any():
            sizes = least()
            norms = np.where(norms < resolved * sizes, sizes, norms)
        return change / np.where(norms > 0, norms, 1.0)

    def norms(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """(groups,) norms of values (m, k) of the rows."""
        squares = np.abs(values) ** 2
        total = squares.sum(axis=0) if self.weights is None else self.weights @ squares
        return np.sqrt(np.bincount(self.groups, total))

    def error(self, product: LinearOperator) -> float:
        """The largest relative error of a fast operator."""
        return float(self.errors(self.products(product)).max())


def checked_rows(
    operator: Any,
    forms: Sequence[BilinearForm],
    rows: NDArray[np.int64],
    real: "np.dtype[Any]",
    devices: Sequence[Device],
    vectors: NDArray[Any],
) -> tuple[NDArray[Any] | DeviceMatrix, NDArray[Any]]:
    """The entries of an operator in some rows, increasing, and their products (rows, k) with vectors (n, k), with which
    others are compared: by the first of some devices that has kernels of all its forms in that precision, and room for
    both, where entries stay; else by the processor."""
    precision = "single" if real == np.float32 else "double"
    for device in able(devices, forms, real)[:1]:
        execution = Execution.of(device.name, precision, mixed=True)
        with suppress(MemoryError):
            matrix = DeviceMatrix(device, (len(rows), operator.shape[1]), execution.dtype(operator.is_complex))
            fill(DevicePlace(matrix, execution, 0, 0, matrix.shape), operator, rows)
            return matrix, np.asarray(matrix @ vectors)
    entries = entries_of(operator, Execution.of("numba", precision, mixed=True), rows, None)
    return entries, np.asarray(entries @ vectors)
