"""Operators of acoustic and electromagnetic waves by the multilevel fast multipole method, planned and checked."""

import os
import time
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.backends import Execution, computable, return_memory
from calderon.mlfmm.check import cancels
from calderon.mlfmm.medium import Medium
from calderon.mlfmm.plan import attempts, chosen, needs_double, require_device_waves, require_waves, rtol_of
from calderon.mlfmm.preparation import prepared
from calderon.operators.algebra import BoundaryOperator
from calderon.operators.lazy_operator import short_label
from calderon.operators.methods import Plan
from calderon.operators.products import near_entries
from calderon.operators.tree import with_integrals
from calderon.pairs.zones import tolerant
from calderon.products.check import ROWS
from calderon.products.device.sums import DeviceSum, OnOneDevice
from calderon.products.near_file import SavedNear
from calderon.products.operator import FastOperator, in_units
from calderon.solvers.live_bar import assembly_progress


class LevelInfo(NamedTuple):
    """The record of one level.

    edge, wavelengths: of its boxes, in m and in wavelengths. boxes: their number. half, full: degrees of stored
    patterns and of translations, 0 with equivalent sources. pairs: of separated boxes. nbytes: of patterns or sources.
    points: equivalent sources of an edge of a box, 0 with plane waves.
    """

    edge: float
    wavelengths: float
    boxes: int
    half: int
    full: int
    pairs: int
    nbytes: int
    points: int = 0


class Multipole(FastOperator):
    """An operator by plane waves and equivalent sources of all its wavenumber groups.

    product: what multiplies. media: the groups. stored: products of the processor, with its near blocks. error: the
    larger one of products with random vectors and with a plane wave; attempt: number of times the leaf size was
    increased. Further attributes are those of `FastOperator`.
    """

    kind = "multilevel fast multipole operator"

    def __init__(
        self, product: LinearOperator, media: Sequence[Medium], stored: Any, label: str, rtol: float, backend: str
    ) -> None:
        super().__init__(product.shape, product.dtype, label, rtol, backend)
        self.product, self.media, self.stored, self.attempt = product, list(media), stored, 0

    @property
    def nbytes(self) -> int:
        """Bytes of near blocks, waves, and maps between them and the unknowns."""
        return sum(each.nbytes for each in self.media)

    @property
    def near_nbytes(self) -> int:
        """Bytes of near blocks."""
        return sum(near.store.nbytes for each in self.media for near in each.near)

    @property
    def levels(self) -> list[list[LevelInfo]]:
        """The levels of each wavenumber group, the coarsest first."""
        found = []
        for medium in self.media:
            far, waves = medium.far, abs(medium.k) / (2 * np.pi)
            count = medium.rank * far.traversal.spectra if far else 0
            found.append([
                LevelInfo(each.edge, each.edge * waves, each.count, each.half.degree, each.full.degree,
                          len(each.pairs.source), each.nbytes(count))
                for each in (far.traversal.levels if far else [])
            ])  # fmt: skip
            if far and far.low:
                found[-1] += [
                    LevelInfo(each.edge, each.edge * waves, each.count, 0, 0, len(each.pairs.source),
                              each.nbytes(medium.rank * far.sums), far.low.cubes.p)
                    for each in far.low.levels
                ]  # fmt: skip
        return found

    def near_entries(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.complex128]:
        """(n,) the entries in these rows and columns, of unknowns whose supports touch; of combinations, the part of
        functions in neighbouring leaves. ValueError for an expression with products, whose entries are not stored."""
        return near_entries(self.stored, rows, columns)

    def _matmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return self._of_type(in_units(self.product.matmat, x), x)

    def _rmatmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return self._of_type(in_units(self.product.rmatmat, x), x)

    def _of_type(self, found: NDArray[Any], x: NDArray[Any]) -> NDArray[Any]:
        """Products with x, computed with complex numbers; the product of a real operator with real x is real."""
        kind = np.result_type(self.dtype, computable(x).dtype)
        return np.asarray(found if kind.kind == "c" else found.real, kind)

    @property
    def details(self) -> str:
        """How many levels each medium has, how many of all are low-frequency ones, with points on cubes instead of
        plane waves, and the precision of waves."""
        levels = " and ".join(str(len(each)) for each in self.levels)
        levels += " levels" if any(self.levels) else " levels (all entries are near ones)"
        low = sum(level.points > 0 for each in self.levels for level in each)
        levels += f", {low} of them low-frequency ones" if low else ""
        numbers = " and ".join(sorted({"single" if each.real == np.float32 else "double" for each in self.media}))
        return f"{levels}, waves in {numbers} precision"


class DeviceMultipole(OnOneDevice, Multipole):
    """A multipole operator whose parts are all on one device, where vectors of `gmres` stay; see `OnDevice`."""

    product: DeviceSum


def assemble_mlfmm(
    operator: BoundaryOperator,
    *,
    backend: str = "numba",
    precision: str = "double",
    rtol: float | None = None,
    progress: bool | None = None,
    matrix_file: str | os.PathLike[str] | None = None,
    once: bool = False,
) -> Multipole:
    """Prepare products with operators of Helmholtz's equation and of Maxwell's equations.

    All terms with one wavenumber take one traversal of the octree together: their charges enter one set of plane waves,
    and their tests read from it. Entries between unknowns of neighbouring leaves are exact.

    rtol: relative error of products, default 1e-3, measured with the whole operator at 64 to 1,024 random rows (fewer
    of large matrices). Above it the plane waves get higher degrees, and RuntimeError is raised where that does not
    help. Numbers are in single precision for 1e-4 and above, and never for less. matrix_file: an HDF5 file for near
    blocks, which are saved by chunks as they are computed, and taken from what is there. once: whether one product is
    needed, for which a check of more than 64 rows would take too large a part of the time.
    Raises ValueError for other equations and for a file of another operator, mesh or tolerance, MemoryError before
    there is no room.

    backend: a device gets near blocks, tables and lists, which the processor makes, and multiplies, also for the check;
    of several devices, "cuda:0+cuda:1", each the part of some leaves. In "numba+cuda:0" the processor multiplies by
    near blocks, as many as it does while the device is busy.
    """
    started = time.perf_counter()
    execution = Execution.of(backend, precision, several=True)
    wanted = rtol_of(rtol, precision)
    require_waves(operator)
    if execution.devices:
        require_device_waves(operator)
    saved = None if matrix_file is None else SavedNear(matrix_file, operator, wanted, precision)
    operator = with_integrals(operator, lambda each: tolerant(each, wanted, loosened=False))
    with assembly_progress("computing near entries", "parts", progress) as advance, saved or nullcontext():
        parts = prepared(operator, wanted, execution, saved, advance, ROWS if once else None)
        if execution.team:
            parts.shared()
        product = parts.on_their_device()
        on_device = isinstance(product, DeviceSum)
        shares = on_device or bool(execution.team) or not execution.devices
        name = execution.name if shares else f"{execution.name} and numba"
    kind = DeviceMultipole if on_device else Multipole
    result = kind(product, parts.media, parts.product, short_label(operator), wanted, name)
    if not on_device:
        result.dtype = execution.dtype(operator.is_complex)
    result.error, result.checked, result.attempt = parts.error, parts.rows, parts.setting.number
    return_memory()
    result.seconds = time.perf_counter() - started
    return result


def save_near(
    operator: BoundaryOperator,
    matrix: Multipole,
    matrix_file: str | os.PathLike[str],
    *,
    backend: str = "numba",
    precision: str = "double",
    rtol: float | None = None,
) -> None:
    """Have in an HDF5 file what `assemble_mlfmm`, which gave `matrix` with the same options, would have saved there.
    ValueError for a file of another operator, mesh or tolerance."""
    with SavedNear(matrix_file, operator, rtol_of(rtol, precision), precision) as saved:
        if saved.attempt is None:
            saved.write([near.store for each in matrix.media for near in each.near], matrix.attempt)


def plan_mlfmm(operator: BoundaryOperator, rtol: float | None = None, precision: str = "double") -> Plan:
    """Levels, degrees, bytes and seconds of `assemble_mlfmm`; ValueError as there."""
    require_waves(operator)
    wanted = rtol_of(rtol, precision)
    precise = needs_double(operator, wanted, precision) or (precision == "double" and cancels(operator, wanted))
    most = 6e8  # bytes of plane waves that a plan prepares: those of 300,000 unknowns, in 5 processor seconds
    return chosen(operator, wanted, list(attempts(wanted, precise)), most).plan
