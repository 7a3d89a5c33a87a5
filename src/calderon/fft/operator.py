"""The electric field of planar metal in layers by grids and fast Fourier transforms."""

import time
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
import scipy
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends import Device, Execution, counted, require_memory, run_tasks, thread_count
from calderon.backends.threads import in_parts
from calderon.fft.device import DeviceGrid
from calderon.fft.device_near import DeviceNear
from calderon.fft.grid import SPACINGS, Grid
from calderon.fft.kernels import add_rows, gather, scatter
from calderon.fft.near import both_orders, exact_entries, near_pairs, subtract_grid
from calderon.fft.shared import distributed
from calderon.fft.spectra import node_greens, transformed
from calderon.galerkin.layered.matrix import LayeredMatrix
from calderon.galerkin.layered.metal import LayeredMetal
from calderon.operators.layered import LayeredElectricField
from calderon.operators.tree import terms_of
from calderon.products.check import Check, random_rows
from calderon.products.device.sums import OnOneDevice
from calderon.products.operator import FastOperator
from calderon.products.shared import SharedProduct
from calderon.solvers.live_bar import assembly_progress
from calderon.validation import one_of, positive_length


@dataclass(frozen=True, eq=False)
class Bands:
    """Functions by bands of rows of the grid, of which every other one may be filled at a time."""

    order: NDArray[np.int64]
    starts: NDArray[np.int64]

    @staticmethod
    def of(first: NDArray[np.int64], width: int) -> "Bands":
        band = first[:, 0] // width
        order = np.argsort(band, kind="stable")
        return Bands(order, np.searchsorted(band[order], np.arange(int(band.max()) + 2)))


@dataclass(frozen=True, eq=False)
class Parts:
    """factor times an electric field in layers, plus a sparse symmetric matrix, such as that of a sheet impedance."""

    field: LayeredElectricField
    factor: complex
    sparse: sp.csr_array

    @staticmethod
    def of(operator: Any) -> "Parts":
        """Field, factor and sparse matrix of an expression; ValueError for one that is not of this kind."""
        terms = terms_of(operator)
        fields = [term for term in terms if term.is_plain and term.atom.is_layered]
        local = [term for term in terms if term.atom.is_local]
        whole = all(term.region == (0, 0, operator.shape) for term in terms)
        if len(fields) != 1 or len(fields) + len(local) < len(terms) or not whole:
            raise ValueError(
                "method 'fft' multiplies the electric field of planar metal in layers, layered_electric_field(stack, "
                f"frequency, RWG(mesh)), or that and multiples of the identity, got {operator!r}: use method='dense' "
                "or 'mlfmm'"
            )
        sparse = sp.csr_array(operator.shape, dtype=complex)
        for term in local:
            matrix = sp.csr_array(term.atom.value(None)) * term.factor
            sparse = sparse + (matrix.T if term.transposed else matrix)
        if abs(sparse - sparse.T).max() > 1e-12 * abs(sparse).max():
            raise ValueError(f"method 'fft' needs a symmetric matrix, got {operator!r}: use method='dense'")
        return Parts(fields[0].atom, fields[0].factor, sparse)


class GridOperator(FastOperator):
    """Near entries less those of the grid, plus convolutions on the grid.

    near: sparse, less the grid; touching: entries themselves, of functions with common triangles. matrix: of the field;
    parts: what that is multiplied by, and what is added. grid, spectra: nodes, and transformed Green's functions of
    their differences; factors: of the three components of the field. Further attributes are those of `FastOperator`.
    """

    kind = "pre-corrected FFT operator"

    def __init__(
        self,
        matrix: LayeredMatrix,
        parts: Parts,
        grid: Grid,
        spectra: NDArray[Any],
        entries: tuple[sp.csr_array, sp.csr_array],
        factors: NDArray[np.complex128],
    ) -> None:
        self.touching, self.near = entries
        super().__init__(self.near.shape, np.dtype(complex))
        self._count = self.near.nnz
        self.matrix, self.parts, self.grid, self.spectra, self.factors = matrix, parts, grid, spectra, factors
        self._bands = Bands.of(grid.first, 2 * (grid.order + 1))

    @property
    def nbytes(self) -> int:
        """Bytes of near entries, weights and spectra."""
        sparse = (self.touching, self.near)
        near = sum(each.data.nbytes + each.indices.nbytes + each.indptr.nbytes for each in sparse)
        return int(near + self.grid.weights.nbytes + self.spectra.nbytes)

    def near_entries(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.complex128]:
        """(n,) the exact entries in these rows and columns, of unknowns whose supports touch."""
        return np.asarray(self.touching[rows, columns], complex).ravel()

    def _matvec(self, x: NDArray[Any]) -> NDArray[Any]:
        vector = np.ascontiguousarray(x, complex).ravel()
        field = self._convolved(self._on_grid(vector))
        grid, number = self.grid, self.shape[0]
        y = np.empty(number, complex)

        def work(low: int, high: int) -> None:
            gather(field, low, high, grid.first, grid.plane, grid.weights, grid.order + 1, self.factors, y)
            add_rows(self.near.indptr, self.near.indices, self.near.data, vector, low, high, y)

        in_parts(work, number)
        return y

    def _rmatvec(self, x: NDArray[Any]) -> NDArray[Any]:
        return self._matvec(np.conj(x)).conj()  # the matrix is symmetric

    def _on_grid(self, x: NDArray[np.complex128]) -> NDArray[Any]:
        """(planes, 3, nx, ny) currents and charges at the nodes."""
        grid, bands = self.grid, self._bands
        out = np.zeros((self.spectra.shape[0], 3, *grid.shape), self.spectra.dtype)
        count = len(bands.starts) - 1
        for colour in (0, 1):

            def work(task: int, colour: int = colour) -> None:
                low, high = bands.starts[2 * task + colour : 2 * task + colour + 2]
                scatter(x, bands.order, low, high, grid.first, grid.plane, grid.weights, grid.order + 1, out)

            if count > colour:
                run_tasks(work, (count - colour + 1) // 2)
        return out

    def _convolved(self, sources: NDArray[Any]) -> NDArray[Any]:
        """The fields (planes, 3, nx, ny): of currents by G_xx, of charges by K. Rows of zeros are not transformed."""
        (nx, ny), size, workers = self.grid.shape, self.spectra.shape[-2:], thread_count()
        waves = scipy.fft.fft(sources, size[1], axis=3, workers=workers)
        waves = scipy.fft.fft(waves, size[0], axis=2, workers=workers, overwrite_x=True)
        planes = len(waves)
        if planes == 1:
            waves[0, :2] *= self.spectra[0, 0, 0]
            waves[0, 2] *= self.spectra[0, 0, 1]
        else:
            waves = np.stack([
                np.stack([sum(self.spectra[a, b, c // 2] * waves[b, c] for b in range(planes)) for c in range(3)])
                for a in range(planes)
            ])  # fmt: skip
        waves = scipy.fft.ifft(waves, axis=2, workers=workers, overwrite_x=True)[:, :, :nx]
        return np.ascontiguousarray(scipy.fft.ifft(waves, axis=3, workers=workers)[..., :ny])

    @property
    def details(self) -> str:
        """The grid, and entries of a row that are not the grid's."""
        nx, ny = self.grid.shape
        return (
            f"grid {nx} x {ny} of {1e3 * self.grid.spacing:.3g} mm, order {self.grid.order}, "
            f"{self._count / self.shape[0]:.0f} near entries a row"
        )


class DeviceGridOperator(OnOneDevice, GridOperator):
    """A grid operator whose products are on a device, where vectors of `gmres` and the near entries stay; see
    `OnDevice`. The processor has a copy of these where it reads them, as for preconditioners."""

    _near: sp.csr_array | None

    def __init__(self, device: Device, *given: Any) -> None:
        """Send the tables of a grid operator; given: the arguments of `GridOperator`."""
        super().__init__(*given)
        self.backend = device.name
        self._there = DeviceGrid(device, self.grid, self.spectra, given[4][1], self.factors)
        self._near = None
        self.product: DeviceGrid = self._there

    @property
    def near(self) -> sp.csr_array:
        """Sparse entries less the grid."""
        return self._there.near if self._near is None else self._near

    @near.setter
    def near(self, entries: sp.csr_array) -> None:
        self._near = entries

    @property
    def nbytes(self) -> int:
        """Bytes of near entries, weights and spectra on the device, and of entries of functions that touch."""
        touching = self.touching
        return self._there.nbytes + int(touching.data.nbytes + touching.indices.nbytes + touching.indptr.nbytes)

    @property
    def there(self) -> DeviceGrid:
        """The products that sums on the device are made of."""
        return self.product

    def _matvec(self, x: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self.product.matvec(x.ravel()), complex)

    def _rmatvec(self, x: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self.product.rmatvec(x.ravel()), complex)


class SharedGridOperator(GridOperator):
    """A grid operator whose products several backends share."""

    def __init__(self, execution: Execution, *given: Any) -> None:
        """Share a grid operator among a team; given: the arguments of `GridOperator`."""
        super().__init__(*given)
        tables = self.grid, self.spectra, self.near, self.factors
        self.shared = SharedProduct(execution, partial(distributed, execution, *tables))
        self.backend = execution.name

    def _matvec(self, x: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self.shared @ np.ascontiguousarray(x, complex).ravel())


def grid_operator(
    operator: Any,
    backend: str = "numba",
    precision: str = "double",
    progress: bool | None = None,
    spacing: float | None = None,
    order: int = 3,
    near: float | None = None,
    local: sp.csr_array | None = None,
) -> GridOperator:
    """The pre-corrected FFT operator of a `layered_electric_field`, or of that and multiples of the identity.

    See `BoundaryOperator.assemble`. local: a sparse symmetric matrix that is added, such as that of loads, which couple
    all functions of a gap; entries of functions that it couples are exact, however far apart they are.

    J. R. Phillips, J. K. White, IEEE Trans. Comput.-Aided Des. 16 (1997) 1059.
    """
    began = time.perf_counter()
    parts = Parts.of(operator)
    if local is not None:
        parts = replace(parts, sparse=parts.sparse + local)
    one_of(precision, ("double", "mixed"), "precision of method 'fft'")
    execution = Execution.of(backend, precision, several=True, mixed=True)
    _require_flat(parts, order)
    # the grid, and the distance up to which entries are exact
    metal = LayeredMetal(parts.field.sections, operator.trial)
    grid = Grid.of(metal, None if spacing is None else positive_length(spacing, "spacing in m"), int(order))
    reach = SPACINGS * grid.spacing if near is None else positive_length(near, "near in m")
    if reach < 2 * grid.spacing:
        raise ValueError(f"near = {reach:.3g} m is below two spacings of {grid.spacing:.3g} m: choose a larger radius")
    size, planes = int(np.prod(grid.shape)), len(metal.heights)
    require_memory(16 * 4 * size * (2 * planes**2 + 6 * planes), "grids of that spacing", "use a larger spacing")
    metal = LayeredMetal(parts.field.sections, operator.trial, 2 * (order + 2) * grid.spacing, parts.field.charges)
    matrix = LayeredMatrix(metal, parts.field.quadrature)
    # Green's functions between nodes, the near entries minus what the grid gives of them, and exact rows
    greens = node_greens(metal, grid)
    k0 = metal.sections.k0
    factors = parts.factor * np.array([1j * k0, 1j * k0, -0.25j * k0 * metal.charge])
    *entries, check = _near(execution, matrix, parts, (grid, reach), greens, factors, progress)
    # transforms for the products, and the error in random rows
    spectra = transformed(greens, np.complex64 if precision == "mixed" else complex, thread_count())
    found = _placed(execution, matrix, parts, grid, spectra, tuple(entries), factors)
    found.error, found.checked = check.error(found), len(check.rows)
    found.seconds = time.perf_counter() - began
    return found


def _near(
    execution: Execution, matrix: LayeredMatrix, parts: Parts, near: tuple[Grid, float], greens: NDArray[Any],
    factors: NDArray[Any], progress: bool | None,
) -> tuple[sp.csr_array, Any, Check]:  # fmt: skip
    """Entries `touching` and `near` of `GridOperator`, where products read them, and the check of these; near: the grid
    and the near radius. Tables that a device needs for entries alone are released at the end."""
    grid, reach = near
    pattern = near_pairs(grid, reach, parts.sparse)
    special = parts.factor * matrix.near[0]
    special = sp.csr_array(special + parts.sparse) if parts.sparse.nnz else special
    touching = parts.factor * _of_common_triangles(matrix) + parts.sparse
    there: DeviceNear | None = None
    with assembly_progress("near entries", "boxes", progress) as advance:
        if execution.devices and not execution.team:
            there = DeviceNear(execution.devices[0], matrix, parts.factor, special, grid, greens, factors[1:])
            entries: Any = there.entries(pattern)
        else:
            half = exact_entries(matrix, parts.factor, special, grid, pattern, reach, advance)
            subtract_grid(half, grid, greens, factors)
            entries = both_orders(half)
        check = _check_of(matrix, parts, there)
        if there is not None:
            counted(advance, 1)()
    return sp.csr_array(touching), entries, check


def _of_common_triangles(matrix: LayeredMatrix) -> sp.csr_array:
    """The near entries of functions that share a triangle."""
    space: Any = matrix.metal.space
    start, triangles, _ = space.carriers
    shape = space.dimension, space.mesh.number_of_triangles
    on = sp.csr_array((np.ones(len(triangles), np.int32), space.triangles[triangles], start), shape)
    both = on @ on.T
    rows, columns = both.tocoo().coords
    return sp.csr_array((matrix.near[0][rows, columns], both.indices, both.indptr), both.shape)


def _require_flat(parts: Parts, order: Any) -> None:
    """ValueError for an order that grids do not have, and for vertical metal."""
    if isinstance(order, bool) or not isinstance(order, Integral) or order not in range(1, 7):
        raise ValueError(f"order = {order!r}: the degree of interpolation on the grid is a whole number from 1 to 6")
    if len(upright := parts.field.parts.vertical):
        raise ValueError(
            f"method 'fft' multiplies horizontal metal, and {len(upright)} triangles are vertical: use method='dense', "
            "or PlanarProblem(...).solve(..., method='fft'), which adds them as columns"
        )


def _placed(execution: Execution, *given: Any) -> GridOperator:
    """The grid operator where its products are; given: the arguments of `GridOperator`."""
    if execution.team:
        return SharedGridOperator(execution, *given)
    return DeviceGridOperator(execution.devices[0], *given) if execution.devices else GridOperator(*given)


def _check_of(matrix: LayeredMatrix, parts: Parts, there: DeviceNear | None) -> Check:
    """Exact products of eight random rows with a random vector: each takes integrals of all pairs of a function, and
    the error is a fact of the result, not compared with a tolerance.

    A device computes all rows but one. The processor computes that one, which shows faults of the kernel and of tables
    there that near entries and all other rows have in common."""
    random, number = np.random.default_rng(0), parts.sparse.shape[0]
    rows = random_rows(random, number, 8)
    x = random.standard_normal(number) + 1j * random.standard_normal(number)
    own = rows if there is None else rows[:1]
    direct = np.zeros((len(own), number), complex)
    matrix.add_to(direct, parts.factor, own, None)
    exact = direct @ x + parts.sparse[own] @ x
    if there is not None and len(rows) > 1:
        exact = np.append(exact, there.rows(rows[1:]) @ x)
    return Check(rows, x[:, None], exact[:, None], groups=np.zeros(1, np.int64))
