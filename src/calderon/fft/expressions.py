"""Expressions with the electric field of planar metal in layers, also between sparse factors, by grids."""

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.backends import Execution
from calderon.fft.operator import GridOperator, grid_operator
from calderon.operators.lazy_operator import short_label
from calderon.operators.products import Products, near_entries
from calderon.operators.tree import Term, terms_of
from calderon.products.device.sums import DeviceSum, OnOneDevice
from calderon.products.operator import FastOperator


class GridProducts(FastOperator):
    """An operator by the products of grids with sparse factors around them.

    product: what multiplies. grids: the operators in between. error: the largest of theirs, each at `checked` rows.
    Further attributes are those of `FastOperator`.
    """

    kind = "pre-corrected FFT operator"

    def __init__(self, product: LinearOperator, grids: list[GridOperator], label: str, seconds: float) -> None:
        super().__init__(product.shape, complex, label)
        self.product, self.grids, self.seconds, self.backend = product, grids, seconds, grids[0].backend
        self.error, self.checked = max(each.error for each in grids), min(each.checked for each in grids)

    @property
    def nbytes(self) -> int:
        """Bytes of near entries, weights and spectra."""
        return sum(each.nbytes for each in self.grids)

    @property
    def details(self) -> str:
        """The number of grids."""
        return f"{len(self.grids)} grid{'s' * (len(self.grids) > 1)}"

    def near_entries(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[Any]:
        """(n,) the entries in these rows and columns, as far as functions in between have common triangles."""
        return near_entries(self.product, rows, columns)

    def _matmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self.product.matmat(x))

    def _rmatmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self.product.rmatmat(x))


class DeviceGridProducts(OnOneDevice, GridProducts):
    """Products of grids with sparse factors around them on a device, where vectors of `gmres` stay."""

    product: DeviceSum


class _Grids(Products):
    """Products of expressions, of which those without sparse factors are one grid each."""

    def __init__(self, options: dict[str, Any]) -> None:
        super().__init__(Execution.of(options.get("backend", "numba"), "double"), self._grid, layered=True)
        self.options, self.grids = options, list[GridOperator]()

    def of(self, operator: Any) -> LinearOperator:
        """The products of an expression."""
        return super().of(operator) if has_factors(operator) else self._grid(operator)

    def _grid(self, operator: Any) -> GridOperator:
        self.grids.append(grid_operator(operator, **self.options))
        return self.grids[-1]


def has_factors(operator: Any) -> bool:
    """Whether sparse factors stand around operators in an expression."""
    return any(term.atom.is_transformed for term in terms_of(operator))


def grids_in(operator: Any) -> list[Any]:
    """The expressions between sparse factors that are one grid each; the operator itself without any factors."""
    if not has_factors(operator):
        return [operator]
    return [grid for term in terms_of(operator) for inner in term.atom.expressions for grid in grids_in(inner)]


def assemble_fft(operator: Any, **options: Any) -> GridOperator | GridProducts:
    """Prepare products with the electric field of planar metal in layers, multiples of the identity, and these between
    sparse factors.

    options: those of `grid_operator`. Raises
    ValueError for other operators.
    """
    if not has_factors(operator):
        return grid_operator(operator, **options)
    began, grids = time.perf_counter(), _Grids(options)
    product = grids.of(operator)
    label, devices = short_label(operator), grids.execution.devices
    there = DeviceSum.of(devices[0], [(Term(1.0, None), product)], product.shape, complex) if devices else None
    if there is None:
        return GridProducts(product, grids.grids, label, time.perf_counter() - began)
    return DeviceGridProducts(there, grids.grids, label, time.perf_counter() - began)
