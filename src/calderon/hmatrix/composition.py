"""Operators of every kind through H-matrices of the integral operators in them."""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from scipy.sparse.linalg import LinearOperator

from calderon.backends import Computing, computing, require_device_memory
from calderon.galerkin.limits import checked_range
from calderon.galerkin.rows.device import device_rows
from calderon.galerkin.rows.entry_kernels import CompiledRows
from calderon.galerkin.rows.galerkin_entries import compiled_rows
from calderon.hmatrix.admissibility import Admissibility
from calderon.hmatrix.block_tree import BlockTree, block_tree
from calderon.hmatrix.cluster_tree import ClusterTree, cluster_tree
from calderon.hmatrix.composed_operator import ComposedOperator, Transformed
from calderon.hmatrix.compression import Advance, expected_bytes, hmatrix, hmatrix_of
from calderon.hmatrix.device_compression import compress_on_devices
from calderon.hmatrix.device_dense_blocks import device_filling
from calderon.hmatrix.device_products import ADVICE as ON_PROCESSOR
from calderon.hmatrix.device_products import DeviceProducts
from calderon.hmatrix.hmatrix import HMatrix
from calderon.hmatrix.identities import identity_of
from calderon.hmatrix.saved_parts import SavedParts
from calderon.hmatrix.saving import with_shared_trees
from calderon.hmatrix.smooth_vectors import smooth_vectors
from calderon.hmatrix.terms import terms_of
from calderon.hmatrix.tolerances import Filling, Scales, block_errors, filling_of
from calderon.integrands import SINGLE_LAYER
from calderon.operators.blocks import BlockOperator
from calderon.operators.boundary import BoundaryOperator, IntegralOperator, Sum, TransformedHypersingular
from calderon.operators.composed import composed
from calderon.operators.transformed import transforms
from calderon.solvers.iteration import tolerance
from calderon.spaces import DualTests
from calderon.spaces.supports import support_boxes

DEFAULT_RTOL = 1e-4


@dataclass(frozen=True)
class Choices:
    """How operators are compressed: relative tolerance; unknowns in a leaf of the cluster trees, None for 48 of
    functions of one triangle on the processor, else 32; admissibility, whose wavenumber is that of each operator;
    whether blocks that are small beside the whole matrix have a larger tolerance and, on the processor alone, blocks
    are put together where it saves memory."""

    rtol: float = DEFAULT_RTOL
    leaf: int | None = None
    admissibility: Admissibility = field(default_factory=Admissibility)
    coarsen: bool = True

    def __post_init__(self) -> None:
        tolerance(self.rtol, example="1e-4")


def assemble_hmatrix(
    operator: BoundaryOperator | BlockOperator,
    *,
    backend: str = "numba",
    precision: str = "double",
    rtol: float | None = None,
    progress: bool = False,
    choices: Choices | None = None,
    matrix_file: str | os.PathLike[str] | None = None,
) -> HMatrix | ComposedOperator:
    """Compress an operator: an HMatrix for an integral operator, for others the products of its parts.

    rtol: relative error of each block, default 1e-4. choices: leaf size and admissibility, for those who measure.
    backend: a device computes all blocks, and the products; several, joined by "+", share the blocks, and those of them
    that are devices the products. matrix_file: an HDF5 file in which every
    H-matrix is saved when it is ready, and from which those that are there are taken: an interrupted assembly goes on
    where it was. Raises ValueError for a tolerance outside of
    0..1, and for a file that belongs to another operator, mesh or tolerance.
    """
    how = computing(backend, precision, several=True)
    choices = choices or Choices()
    choices = choices if rtol is None else replace(choices, rtol=rtol)
    label = repr(operator)
    label = label if len(label) < 100 else label[:97] + "..."
    started = time.perf_counter()
    saved = None if matrix_file is None else SavedParts(matrix_file)
    if not progress:
        return _assembled(operator, label, started, _Composition(how, choices, saved))
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, transient=True) as bar:
        task = bar.add_task("compressing", total=None)

        def advance(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        return _assembled(operator, label, started, _Composition(how, choices, saved, advance))


def _assembled(
    operator: BoundaryOperator | BlockOperator, label: str, started: float, composition: "_Composition"
) -> HMatrix | ComposedOperator:
    product = composition.product(operator)
    seconds = time.perf_counter() - started
    if isinstance(product, HMatrix):
        product.label, product.seconds = label, seconds
        return product
    terms = terms_of(operator, composition.compressed)
    return ComposedOperator(product, composition.parts, label, seconds, composition.choices.rtol, terms)


def save_assembly(
    operator: BoundaryOperator | BlockOperator,
    matrix: HMatrix | ComposedOperator,
    matrix_file: str | os.PathLike[str],
    *,
    backend: str = "numba",
    precision: str = "double",
    rtol: float | None = None,
) -> None:
    """Have in an HDF5 file what `assemble_hmatrix`, which gave `matrix` with the same options, would have saved there;
    what the file holds of it already stays. ValueError for a file of another operator, mesh or tolerance."""
    how = computing(backend, precision, several=True)
    parts = [matrix] if isinstance(matrix, HMatrix) else matrix.parts
    choices = Choices() if rtol is None else Choices(rtol)
    _Composition(how, choices, SavedParts(matrix_file), ready=parts).product(operator)


class _Composition:
    """The H-matrices of one assembly; spaces are clustered once, operators that occur twice compressed once. ready:
    those of an earlier assembly, in its order, which need not be computed."""

    def __init__(
        self,
        how: Computing,
        choices: Choices,
        saved: SavedParts | None = None,
        advance: Advance | None = None,
        ready: Sequence[HMatrix] = (),
    ) -> None:
        self.how, self.choices, self.saved, self.advance, self.ready = how, choices, saved, advance, ready
        self.devices = [each.device for each in how.team or (how,) if each.device is not None]
        self.parts: list[HMatrix] = []
        self._trees: dict[int, tuple[Any, ClusterTree]] = {}
        self._made: dict[int, tuple[Any, HMatrix]] = {}

    def product(self, operator: BoundaryOperator | BlockOperator) -> LinearOperator:
        """The products of an operator by those of its parts."""
        for _, part in operator.parts if isinstance(operator, Sum) else ():
            if isinstance(part.test, DualTests):
                self._tree(part.test)  # before that of the functions that they stand for
        return composed(operator, self.how, lambda each, _: self.compressed(each), self._transformed)

    def compressed(self, operator: IntegralOperator) -> HMatrix:
        """The H-matrix of an integral operator, made once."""
        made = self._made.get(id(operator))
        if made is None:
            found = self._kept(operator) if self.ready else self._restored(operator) or self._computed(operator)
            self._made[id(operator)] = made = (operator, found)
        return made[1]

    def _identity(self, operator: IntegralOperator) -> dict[str, str]:
        choices, dtype = self.choices, self.how.dtype(operator.is_complex)
        leaf = " x ".join(str(self._leaf(space)) for space in (operator.test, operator.trial))
        blocks = f"leaf {leaf}, {choices.admissibility}, coarsen {choices.coarsen}"
        return identity_of(operator) | {"rtol": f"{choices.rtol:g}", "numbers": str(dtype), "blocks": blocks}

    def _kept(self, operator: IntegralOperator) -> HMatrix:
        """The H-matrix that is ready, written to the file unless it is there."""
        number, identity = len(self.parts), self._identity(operator)
        self.parts.append(self.ready[number])
        if self.saved is not None and not self.saved.holds(number, identity):
            self.saved.keep(self.parts, identity)
        return self.parts[number]

    def _restored(self, operator: IntegralOperator) -> HMatrix | None:
        """The H-matrix of an operator from the file, if it is there."""
        arguments = None
        if self.saved is not None:
            arguments = self.saved.find(len(self.parts), self._identity(operator))
        if arguments is None:
            return None
        known = [tree for _, tree in self._trees.values()]
        found = HMatrix(**with_shared_trees(arguments, known))
        for space, tree in ((operator.test, found.tree.rows), (operator.trial, found.tree.columns)):
            self._trees.setdefault(id(space), (space, tree))
        if self.devices:
            found.on_device = DeviceProducts(self.devices, found.tree, found.slabs, found.dtype)
        self.parts.append(found)
        return found

    def _computed(self, operator: IntegralOperator) -> HMatrix:
        """The H-matrix of an operator, written to the file if there is one."""
        rows, columns = self._tree(operator.test), self._tree(operator.trial)
        wavenumber = abs(complex(operator.green.wavenumber).real)
        admissible = replace(self.choices.admissibility, wavenumber=wavenumber)
        blocks = block_tree(rows, columns, admissible, operator.is_symmetric and rows is columns)
        found = self._hmatrix(operator, blocks, wavenumber)
        self.parts.append(found)
        if self.saved is not None:
            self.saved.keep(self.parts, self._identity(operator))
        return found

    def _hmatrix(self, operator: IntegralOperator, blocks: BlockTree, wavenumber: float) -> HMatrix:
        rtol = self.choices.rtol
        entries = compiled_rows(operator, blocks.rows.clusters, blocks.columns.clusters, self.how)
        if square := float(np.abs(entries.special.data).max(initial=0.0)) ** 2:
            what = f"compression, which squares the entries of the {operator.integrand.name} on this surface,"
            checked_range(entries.real, rtol * square, square, what)
        if not self.devices:
            errors = self._errors(operator, entries, blocks, wavenumber, filling_of)
            return hmatrix(entries, blocks, rtol, repr(operator), self.advance, errors)
        expected = expected_bytes(blocks, rtol, entries.dtype)
        share = expected // len(self.devices)
        for device in self.devices:
            require_device_memory(device, share, f"H-matrix of {blocks.shape[0]} x {blocks.shape[1]}", ON_PROCESSOR)
        on_devices = [device_rows(operator, entries, device) for device in self.devices]
        with_processor = any(each.device is None for each in self.how.team)
        filling = filling_of if with_processor else partial(device_filling, on_devices[0])
        errors = self._errors(operator, entries, blocks, wavenumber, filling)
        found = compress_on_devices(on_devices, with_processor, entries, blocks, rtol, self.advance, errors)
        if self.how.team:
            self.how.parts.append(found.parts)
        matrix = hmatrix_of(found.compressed, entries, rtol, repr(operator), self.how.name)
        if found.devices:
            matrix.on_device = DeviceProducts(found.devices, blocks, matrix.slabs, matrix.dtype)
        return matrix

    def _errors(
        self,
        operator: IntegralOperator,
        entries: CompiledRows,
        blocks: BlockTree,
        wavenumber: float,
        filling: Callable[[CompiledRows, BlockTree], Filling],
    ) -> NDArray[np.float64] | None:
        """The error that each block may have, if the choice is so."""
        if not self.choices.coarsen:
            return None
        scales = self._scales(operator, blocks, wavenumber)
        return block_errors(filling(entries, blocks), blocks, self.choices.rtol, scales)

    def _scales(self, operator: IntegralOperator, blocks: BlockTree, wavenumber: float) -> Scales:
        """Areas of supports, and smooth functions."""
        rows, columns = (
            (np.diff(support_boxes(space), axis=1) ** 2).sum(axis=(1, 2))[tree.order]
            for space, tree in ((operator.test, blocks.rows), (operator.trial, blocks.columns))
        )
        return Scales(rows, columns, smooth_vectors(operator.trial, wavenumber)[blocks.columns.order])

    def _tree(self, space: Any) -> ClusterTree:
        """The clusters of a space, or of another one with the same functions on the same triangles."""
        if id(space) not in self._trees:
            if isinstance(space, DualTests):  # wider than those that they stand for, whose tree it is, too
                tree = cluster_tree(support_boxes(space), self._leaf(space))
                self._trees[id(space)], self._trees[id(space.primal)] = (space, tree), (space.primal, tree)
                return tree
            for other, tree in self._trees.values():
                same = other.mesh is space.mesh and other.dofs.shape == space.dofs.shape
                if same and (other.dofs == space.dofs).all() and (other.triangles == space.triangles).all():
                    self._trees[id(space)] = (space, tree)
                    return tree
            self._trees[id(space)] = (space, cluster_tree(support_boxes(space), self._leaf(space)))
        return self._trees[id(space)][1]

    def _leaf(self, space: Any) -> int:
        """Unknowns in a leaf: entries that cost one pair of triangles are cheap, and larger leaves save overhead."""
        if self.choices.leaf is not None:
            return self.choices.leaf
        return 48 if space.dofs.shape[1] == 1 and not self.devices else 32

    def _transformed(self, operator: TransformedHypersingular) -> LinearOperator:
        """sum_d T_d^T V T_d - k^2 N_d^T V N_d (operators/transformed.py) with an H-matrix V."""
        test, trial = operator.test, operator.trial
        k2 = complex(operator.green.wavenumber) ** 2
        left, *left_parts = transforms(test, test.element.degree - (k2 == 0))
        if trial is test:
            right, right_parts = left, left_parts
        else:
            right, *right_parts = transforms(trial, trial.element.degree - (k2 == 0))
        layer = self.compressed(IntegralOperator(operator.green, SINGLE_LAYER, right, left, operator.quadrature))
        factors: list[complex] = [1.0] * 3 + ([] if k2 == 0 else [-k2 if operator.green.is_complex else -k2.real] * 3)
        dtype = self.how.dtype(operator.is_complex)
        return Transformed(layer, factors, left_parts[0] + left_parts[1], right_parts[0] + right_parts[1], dtype)
