"""Operators of every kind through H-matrices of the integral operators in them.

The one file of this folder that looks at spaces, integrands and operators: which unknowns are clustered, what the
matrix of an operator is recognised by in a file, and which smooth functions it is expected to be applied to.
"""

import functools
import math
import os
import time
from collections.abc import Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.backends import Device, Execution
from calderon.galerkin.layered.rows import layered_rows
from calderon.galerkin.limits import checked_range
from calderon.galerkin.rows.device import DeviceRows, device_rows
from calderon.galerkin.rows.entry_kernels import Clusters, CompiledRows
from calderon.galerkin.rows.galerkin_entries import compiled_rows
from calderon.hmatrix.composed_operator import ComposedOperator
from calderon.hmatrix.compression import Advance, Matrix, hmatrix
from calderon.hmatrix.device.compression import DeviceTeam, compress_on_devices
from calderon.hmatrix.device.products import DeviceProducts
from calderon.hmatrix.hmatrix import HMatrix
from calderon.hmatrix.off_diagonal import Term
from calderon.hmatrix.saving import SavedParts, with_shared_trees
from calderon.hmatrix.tolerances import Scales, block_errors, checked, sums_of
from calderon.hmatrix.tree.block_tree import Admissibility, BlockTree, block_tree
from calderon.hmatrix.tree.cluster_tree import ClusterTree, cluster_tree
from calderon.integrands.integrand import ELECTRIC_FIELD, MAGNETIC_FIELD, VECTOR_POTENTIAL
from calderon.operators.algebra import BoundaryOperator
from calderon.operators.boundary import IntegralOperator
from calderon.operators.fingerprint import fingerprint
from calderon.operators.layered import LayeredElectricField
from calderon.operators.lazy_operator import short_label
from calderon.operators.memory_estimate import given_bytes, preparation_bytes
from calderon.operators.methods import Plan
from calderon.operators.products import Products
from calderon.operators.tree import integrals_of
from calderon.pairs.zones import tolerant
from calderon.products.cost import BLOCKS, Cost, row_flops
from calderon.solvers.iteration import tolerance
from calderon.solvers.live_bar import assembly_progress
from calderon.spaces import DualTests, Space, numbering
from calderon.spaces.supports import Supports, supports_of

DEFAULT_RTOL = 1e-4


class Work(NamedTuple):
    """Memory and work of matrices, by measurement.

    numbers: that stay of each of 10,000 unknowns and each digit of the tolerance. growth: power of the number of
    unknowns with which they grow. currents: how many times as many there are of currents. algebra: flops of
    recompression of a number: 4 k^2 operations for a row of rank k = 25, of a block and of those it is joined with;
    complex ones take three times as long. layered_bytes, layered_flops: of an unknown out of 7,000 of metal in layers,
    to 1e-5, factors among them.
    """

    numbers: float = 131
    growth: float = 0.15
    currents: float = 2.0
    algebra: float = 3000
    layered_bytes: float = 9200
    layered_flops: float = 8e7


WORK = Work()


@dataclass(frozen=True)
class Choices:
    """How operators are compressed: relative tolerance; unknowns in a leaf of the cluster trees, None for 48 of
    functions of one triangle on the processor, else 32; admissibility, whose wavenumber is that of each operator;
    whether blocks that are small within the whole matrix have a larger tolerance and, on the processor alone, blocks
    are put together where it saves memory."""

    rtol: float = DEFAULT_RTOL
    leaf: int | None = None
    admissibility: Admissibility = field(default_factory=Admissibility)
    coarsen: bool = True

    def __post_init__(self) -> None:
        tolerance(self.rtol, example="1e-4")


def plan_hmatrix(operator: BoundaryOperator, rtol: float | None = None, precision: str = "double") -> Plan:
    """Bytes and seconds of `assemble_hmatrix`, in double precision, by the numbers that stay of P1 on spheres. Ranks of
    blocks grow with the wavenumber times the diameter of the surfaces, fitted from 1 to 106; of bodies far from each
    other it is twice that of a sphere of their area. Each number is an entry of a row or of a column, and is combined
    with others when blocks are recompressed."""
    layered = [term.atom for term in operator.terms() if term.atom.is_layered]
    if layered:
        return _plan_layered(operator, layered, DEFAULT_RTOL if rtol is None else rtol)
    nbytes, assembly = 0.0, Cost()
    for each in integrals_of(operator):
        digits = -math.log10(DEFAULT_RTOL if rtol is None else rtol)
        numbers = (
            digits * WORK.numbers * max(each.shape) * (max(each.shape) / 1e4) ** WORK.growth * _growth_of_ranks(each)
        )
        numbers *= 1 if each.is_symmetric else 2
        nbytes += numbers * each.dtype().itemsize
        algebra = WORK.algebra * (3 if each.is_complex else 1)
        assembly += Cost(numbers * (row_flops(each) + algebra))
    nbytes *= operator.dtype(precision).itemsize / operator.dtype().itemsize
    given = given_bytes(operator)
    needed = int(nbytes) + preparation_bytes(operator) + given
    reading = Cost(nbytes=BLOCKS * nbytes + given).seconds
    return Plan("hmatrix", needed, assembly.seconds, reading, precision=precision)


def _growth_of_ranks(form: IntegralOperator) -> float:
    """Ranks of blocks of an operator over the ranks of a scalar operator that does not oscillate."""
    vertices = np.concatenate([space.mesh.vertices for space in (form.test, form.trial)])
    area = max(float(space.mesh.areas.sum()) for space in (form.test, form.trial))
    x = form.wavenumber * min(float(np.ptp(vertices, axis=0).max()), 2 * math.sqrt(area / math.pi))
    currents = form.integrand in (ELECTRIC_FIELD, MAGNETIC_FIELD, VECTOR_POTENTIAL)
    return (WORK.currents if currents else 1.0) * (1 + 0.02 * x + 2.5e-5 * x**2)


def _plan_layered(operator: BoundaryOperator, fields: list[LayeredElectricField], rtol: float) -> Plan:
    """The plan for metal in layers, by what 7,000 unknowns took; ValueError for vertical metal."""
    if any(len(each.parts.vertical) for each in fields):
        raise ValueError("H-matrices are of horizontal metal: vertical metal is dense, take method='dense'")
    count = operator.shape[0]
    size = (2 - math.log10(rtol)) / 7 * (count / 7000) ** 0.15 * count
    nbytes = int(WORK.layered_bytes * size)
    assembly = Cost(sum(each.special_flops for each in fields) + WORK.layered_flops * size)
    return Plan("hmatrix", nbytes, assembly.seconds, Cost(nbytes=BLOCKS * nbytes).seconds)


def assemble_hmatrix(
    operator: BoundaryOperator,
    *,
    backend: str = "numba",
    precision: str = "double",
    rtol: float | None = None,
    progress: bool | None = None,
    choices: Choices | None = None,
    matrix_file: str | os.PathLike[str] | None = None,
) -> HMatrix | ComposedOperator:
    """Compress an operator: an HMatrix for an integral operator, for others the products of its parts.

    rtol: relative error of each block, default 1e-4. choices: leaf size and admissibility, for those who measure.
    backend: a device computes all blocks, and the products; several, joined by "+", share the blocks, and those of them
    that are devices the products. matrix_file: an HDF5 file in which every H-matrix is saved when it is ready, and from
    which those that are there are taken: an interrupted assembly goes on where it was. Raises ValueError for a
    tolerance outside of 0..1, and for a file that belongs to another operator, mesh or tolerance.
    """
    execution = Execution.of(backend, precision, several=True)
    choices = choices or Choices()
    choices = choices if rtol is None else replace(choices, rtol=rtol)
    label = short_label(operator)
    started = time.perf_counter()
    saved = None if matrix_file is None else SavedParts(matrix_file)
    with assembly_progress("compressing", "blocks", progress) as advance, closing(saved) if saved else nullcontext():
        composition = _Composition(execution, choices, saved, advance)
        product = composition.product(operator)
    seconds = time.perf_counter() - started
    if isinstance(product, HMatrix):
        product.label, product.seconds = label, seconds
        return product
    return ComposedOperator(product, composition.parts, label, seconds, choices.rtol, composition.summands(operator))


def save_assembly(
    operator: BoundaryOperator,
    matrix: HMatrix | ComposedOperator,
    matrix_file: str | os.PathLike[str],
    *,
    backend: str = "numba",
    precision: str = "double",
    rtol: float | None = None,
) -> None:
    """Have in an HDF5 file what `assemble_hmatrix`, which gave `matrix` with the same options, would have saved there;
    what the file holds of it already stays. ValueError for a file of another operator, mesh or tolerance."""
    execution = Execution.of(backend, precision, several=True)
    parts = [matrix] if isinstance(matrix, HMatrix) else matrix.parts
    choices = Choices() if rtol is None else Choices(rtol)
    with closing(SavedParts(matrix_file)) as saved:
        _Composition(execution, choices, saved, ready=parts).product(operator)


class _Composition:
    """The H-matrices of one assembly; spaces are clustered once, operators that occur twice compressed once. ready:
    those of an earlier assembly, in its order, which need not be computed."""

    def __init__(
        self,
        execution: Execution,
        choices: Choices,
        saved: SavedParts | None = None,
        advance: Advance | None = None,
        ready: Sequence[HMatrix] = (),
    ) -> None:
        self.execution, self.choices, self.saved, self.advance, self.ready = execution, choices, saved, advance, ready
        self.devices = execution.devices
        self.parts: list[HMatrix] = []
        self._trees: dict[int, tuple[Any, ClusterTree]] = {}
        self._places: dict[int, tuple[Any, Supports]] = {}
        self._products = Products(execution, self.compressed, layered=True)

    def product(self, operator: BoundaryOperator) -> LinearOperator:
        """The products of an operator, from the products of its parts."""
        for each in integrals_of(operator):
            if isinstance(each.test, DualTests):
                self._tree(each.test)  # before that of the functions that they stand for
        return self._products.of(operator)

    def summands(self, operator: BoundaryOperator) -> list[Term] | None:
        """The operator as a sum of compressed and sparse matrices; None where it is made of others, or of blocks."""
        if not all(each.atom.is_leaf and each.shape == operator.shape for each in operator.terms()):
            return None
        return [
            Term(each.factor, sp.csr_array(value) if each.atom.is_local else value, each.transposed, each.conjugated)
            for each, value in self._products.values(operator)
        ]

    def compressed(self, operator: IntegralOperator | LayeredElectricField) -> HMatrix:
        """The H-matrix of an integral operator: the next one that is ready, or from the file, or computed. It is
        written to the file, if there is one, unless it is there."""
        number = len(self.parts)
        identity = self._identity(operator) if self.saved is not None else {}
        is_saved = self.saved is not None and self.saved.holds(number, identity)
        if self.saved is not None and not is_saved:
            self.saved.claim()
            is_saved = self.saved.holds(number, identity)
        if self.ready:
            found = self.ready[number]
        else:
            found = self._restored(operator, number) if is_saved else self._computed(operator)
        self.parts.append(found)
        if self.saved is not None and not is_saved:
            self.saved.keep(self.parts, identity)
        return found

    def _identity(self, operator: IntegralOperator | LayeredElectricField) -> dict[str, str]:
        choices, dtype = self.choices, self.execution.dtype(operator.is_complex)
        leaf = " x ".join(str(self._leaf(space)) for space in (operator.test, operator.trial))
        blocks = f"leaf {leaf}, {choices.admissibility}, coarsen {choices.coarsen}"
        return fingerprint(operator) | {"rtol": f"{choices.rtol:g}", "numbers": str(dtype), "blocks": blocks}

    def _restored(self, operator: IntegralOperator | LayeredElectricField, number: int) -> HMatrix:
        """The H-matrix of an operator from the file."""
        assert self.saved is not None
        known = [tree for _, tree in self._trees.values()]
        found = HMatrix(**with_shared_trees(self.saved.read(number), known))
        for space, tree in ((operator.test, found.tree.rows), (operator.trial, found.tree.columns)):
            self._trees.setdefault(id(space), (space, tree))
        if self.devices:
            found.on_device = DeviceProducts.of(self.devices, found.tree, found.slabs, found.dtype)
        return found

    def _computed(self, operator: IntegralOperator | LayeredElectricField) -> HMatrix:
        """The H-matrix of an operator, computed and checked; raises MemoryError if a device has no room for it."""
        if isinstance(operator, IntegralOperator):
            operator = tolerant(operator, self.choices.rtol)
        # which blocks are compressed
        rows, columns = self._tree(operator.test), self._tree(operator.trial)
        wavenumber = operator.wavenumber
        admissible = replace(self.choices.admissibility, wavenumber=wavenumber)
        blocks = block_tree(rows, columns, admissible, operator.is_symmetric and rows is columns)
        rtol, execution = self.choices.rtol, self.execution
        with_processor = len(self.devices) < len(execution.team or (execution,))
        supports = self._supports(operator.test), self._supports(operator.trial)
        scales = scales_of(operator, blocks, wavenumber, supports)
        make = functools.cache(lambda: rows_of(operator, rows.clusters, columns.clusters, execution))
        entries = make() if with_processor or operator.is_layered else None

        def on_device(device: Device) -> DeviceRows:
            """The rows on a device, which searches for touching and near pairs itself."""
            form: Any = operator
            return device_rows(form, rows.clusters, columns.clusters, execution, device)

        # a sample of entries, for the errors of blocks and for the check of the matrix
        dtype = execution.dtype(operator.is_complex)
        team = DeviceTeam(self.devices, on_device, dtype, blocks)
        sample, largest = team.sampled(scales, None if entries is None else sums_of(entries, blocks))
        matrix = Matrix(dtype, largest, make) if entries is None else Matrix.of(entries)
        # squares of entries must lie in the range of the precision
        if square := matrix.largest**2:
            what = f"compression, which squares the entries of the {operator.integrand.name} on this surface,"
            checked_range(execution.real, rtol * square, square, what)
        points = supports[0].middles, supports[1].middles

        # compressed with smaller tolerances until the sample agrees
        def made(finer: float) -> HMatrix:
            errors = block_errors(sample, blocks, finer, scales) if self.choices.coarsen else None
            given = finer, repr(operator), self.advance, errors, points
            if not self.devices:
                return hmatrix(make(), blocks, *given)
            return compress_on_devices(team, matrix, execution, *given)

        return checked(made, sample, rtol, repr(operator))

    def _supports(self, space: Any) -> Supports:
        """Where the functions of a space are."""
        if id(space) not in self._places:
            self._places[id(space)] = (space, supports_of(space))
        return self._places[id(space)][1]

    def _tree(self, space: Any) -> ClusterTree:
        """The clusters of a space, or of another one with the same functions on the same triangles."""
        if id(space) not in self._trees:
            if isinstance(space, DualTests):  # wider than those that they stand for, whose tree it is, too
                tree = cluster_tree(self._supports(space).boxes, self._leaf(space))
                self._trees[id(space)], self._trees[id(space.primal)] = (space, tree), (space.primal, tree)
                return tree
            for other, tree in self._trees.values():
                same = other.mesh is space.mesh and other.dofs.shape == space.dofs.shape
                if same and (other.dofs == space.dofs).all() and (other.triangles == space.triangles).all():
                    self._trees[id(space)] = (space, tree)
                    return tree
            self._trees[id(space)] = (space, cluster_tree(self._supports(space).boxes, self._leaf(space)))
        return self._trees[id(space)][1]

    def _leaf(self, space: Any) -> int:
        """Unknowns in a leaf: entries that cost one pair of triangles are cheap, and larger leaves save overhead."""
        if self.choices.leaf is not None:
            return self.choices.leaf
        return 48 if space.dofs.shape[1] == 1 and not self.devices else 32


def rows_of(
    operator: IntegralOperator | LayeredElectricField, rows: Clusters, columns: Clusters, execution: Execution
) -> CompiledRows:
    """Rows and blocks of an integral operator; ValueError for those in layers that are not on the processor in double
    precision, or of vertical metal."""
    one: Any = operator
    if not operator.is_layered:
        return compiled_rows(one, rows, columns, execution)
    if execution.devices or execution.real != np.float64:
        raise ValueError(
            f"H-matrices of metal between layers are computed on the processor in double precision, got {execution}: "
            "leave out backend= and precision="
        )
    if len(upright := one.parts.vertical):
        raise ValueError(
            f"method 'hmatrix' takes horizontal metal, and {len(upright)} triangles are vertical: use method='dense'"
        )
    return layered_rows(one.matrix, rows)


def is_sum(operator: BoundaryOperator) -> bool:
    """Whether an operator is a sum of integral and sparse operators between one space and itself or its dual tests."""
    terms = operator.terms()
    between = ((each.atom.trial, numbering(each.atom.test)) for each in terms)
    return all(each.atom.is_leaf and each.shape == operator.shape for each in terms) and all(a is b for a, b in between)


def scales_of(
    operator: IntegralOperator | LayeredElectricField,
    blocks: BlockTree,
    wavenumber: float,
    supports: tuple[Supports, Supports],
) -> Scales:
    """Areas of supports of test and trial functions, and smooth functions."""
    sides = zip(supports, (blocks.rows, blocks.columns), strict=True)
    both = {id(each): (np.diff(each.boxes, axis=1) ** 2).sum(axis=(1, 2))[tree.order] for each, tree in sides}
    rows, columns = (both[id(each)] for each in supports)
    return Scales(rows, columns, smooth_vectors(operator.trial, wavenumber)[blocks.columns.order])


def smooth_vectors(space: Any, wavenumber: float) -> NDArray[np.float64]:
    """(dimension, s) coefficients of cosines with a wavelength of the size of the surface, or that of the wavenumber
    (rad/m) if it is shorter; for tangential fields of their surface gradients and, without divergence, of these turned
    by a right angle."""
    used = np.zeros(space.mesh.number_of_vertices, bool)
    used[space.mesh.triangles[space.triangles]] = True
    points = space.mesh.vertices[used]
    k = max(2 * np.pi / np.linalg.norm(np.ptp(points, axis=0)), wavenumber)
    # three directions at right angles to each other, along no axis, and three phases
    directions = np.array([[0.8, 0.48, 0.36], [-0.36, 0.8, 0.48], [0.48, -0.36, 0.8]])
    waves = [_Wave(k * direction, phase) for direction, phase in zip(directions, (0.4, 1.7, 2.9), strict=True)]
    if isinstance(space, Space):
        return np.stack([wave.value(space.nodes) for wave in waves], axis=1)
    fields = [field for wave in waves for field in (wave.gradient, wave.rotated)]
    return np.stack([space.interpolation(field).coefficients for field in fields], axis=1)


class _Wave:
    """cos(k . x + phase) with its surface gradient."""

    def __init__(self, wavevector: NDArray[np.float64], phase: float) -> None:
        self.wavevector, self.phase = wavevector, phase

    def value(self, x: Any) -> NDArray[np.float64]:
        return np.asarray(np.cos(x @ self.wavevector + self.phase))

    def gradient(self, x: Any, n: Any) -> NDArray[np.float64]:
        along = self.wavevector - (n @ self.wavevector)[:, None] * n
        return np.asarray(-np.sin(x @ self.wavevector + self.phase)[:, None] * along)

    def rotated(self, x: Any, n: Any) -> NDArray[np.float64]:
        return np.cross(n, self.gradient(x, n))
