"""The equations of penetrable bodies for J = n x H and M = -n x E on every interface.

In a region with surfaces S of sign s (+1 where n points into it) the field is E = E_inc + sum s (z T J - K M),
H = H_inc + sum s (K J + T M / z), H times the impedance of the surroundings and incident waves in these only; on an
interface the principal values are half of the traces. See `Region` for z, T, K.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.backends import require_memory
from calderon.formulations.electromagnetic.dielectric_regions import Region
from calderon.operators import (
    BlockOperator,
    BoundaryOperator,
    electric_field,
    identity,
    magnetic_field,
    transformed,
)
from calderon.operators.algebra import Sum
from calderon.solvers import sparse_inverse
from calderon.spaces import BC, EdgeSpace, Loads
from calderon.spaces.mirror_images import MirroredFunctions

Table = defaultdict[tuple[int, int], list[tuple[complex, BoundaryOperator]]]
"""Summands (factor, operator) of the block in a row and column."""
TestedField = Callable[[Loads], NDArray[Any]]
"""Integrals (dimension, m) of m fields against the functions of a quadrature."""


@dataclass(frozen=True, eq=False)
class Rotation:
    """n x on fields of an RWG space, tested with RWG functions f, through the dual functions g.

    Of a tangential field u the RWG field v nearest to n x u has <n x g, v> = <g, u>, a pairing as well conditioned as
    the identity, which <n x f, v> is not. Here u is projected on RWG first, unless it is given as a function.
    """

    space: EdgeSpace

    def apply(self, tested: NDArray[Any]) -> NDArray[Any]:
        """<f, n x u> (n, m) from <f, u> (n, m)."""
        return self._rotated(self._between @ self.space.solve_mass(tested))

    def tested(self, field: TestedField) -> NDArray[Any]:
        """<f, n x u> (n, m) of fields u given in closed form."""
        return self._rotated(self._dual.matrix.T @ field(self._loads))

    @cached_property
    def _loads(self) -> Loads:
        return self._dual.base.loads()

    @cached_property
    def _dual(self) -> Any:
        return BC(self.space.mesh)

    @cached_property
    def _between(self) -> Any:
        return self.space.mass_matrix(self._dual)

    @cached_property
    def _mass(self) -> Any:
        return self.space.mass_matrix()

    @cached_property
    def _inverse(self) -> LinearOperator:
        return sparse_inverse(self.space.mass_matrix(self._dual.perpendicular()))

    def _rotated(self, pairings: NDArray[Any]) -> NDArray[Any]:
        """<f, v> from <g, u>."""
        return self._mass @ self._inverse.matmat(pairings)


@dataclass(frozen=True, eq=False, repr=False)
class RotatedBlocks(BlockOperator):
    """Blocks [[A, B], [C, D]] that stand for [[A, R B], [R C, D]], R the rotations of each interface in turn."""

    rotations: tuple[Rotation, ...]

    def assemble(self, method: str = "dense", **options: Any) -> "RotatedMatrix":
        return RotatedMatrix(super().assemble(method, **options), self.rotations)


class RotatedMatrix(LinearOperator):
    """[[A, R B], [R C, D]] from the matrix of [[A, B], [C, D]], which stays as it is: R is applied to its products."""

    def __init__(self, matrix: Any, rotations: tuple[Rotation, ...]) -> None:
        super().__init__(dtype=matrix.dtype, shape=matrix.shape)
        self.matrix, self.rotations = matrix, rotations

    def to_array(self) -> NDArray[Any]:
        """All entries, a new array."""
        what = "the entries of Mueller's equations in addition to their matrix"
        require_memory(self.matrix.nbytes, what, "try 'gmres'")
        full = self.matrix.to_array().copy()
        half = len(full) // 2
        for block in (full[:half, half:], full[half:, :half]):
            for n in range(0, half, 256):
                columns = slice(n, n + 256)
                block[:, columns] = self._rotated(block[:, columns])
        return full

    toarray = to_array

    def _matmat(self, x: NDArray[Any]) -> NDArray[Any]:
        half, m = len(x) // 2, x.shape[1]
        apart = np.zeros((len(x), 2 * m), np.result_type(x, self.dtype))
        apart[:half, :m], apart[half:, m:] = x[:half], x[half:]
        image = self.matrix @ apart
        top = image[:half, :m] + self._rotated(image[:half, m:])
        return np.concatenate([top, image[half:, m:] + self._rotated(image[half:, :m])]).astype(self.dtype)

    def _rotated(self, tested: NDArray[Any]) -> NDArray[Any]:
        cuts = np.cumsum([rotation.space.dimension for rotation in self.rotations])[:-1]
        parts = zip(self.rotations, np.split(tested, cuts), strict=True)
        return np.concatenate([rotation.apply(part.astype(np.complex128)) for rotation, part in parts])

    def __str__(self) -> str:
        return f"{self.matrix}, rotated"

    __repr__ = __str__


def pmchwt(functions: Sequence[MirroredFunctions], regions: Sequence[Region]) -> BlockOperator:
    """The fields from both sides of each interface are equal, tested with RWG functions (Poggio, Miller; Chang,
    Harrington; Wu, Tsai): rows of E, then of -H, for unknowns J of all interfaces, then M. Complex symmetric, without
    mirrors. On conductors there is no M and no row of H, and E is zero.

    functions (2 n): of J, then of M, on the n interfaces.
    """
    n, mirrored = len(functions) // 2, functions[0].images is not None
    rotated = [each.space.perpendicular().of_functions(each.functions) for each in functions]
    table: Table = defaultdict(list)

    def field(medium: Region, row: int, column: int, magnetic: bool) -> BoundaryOperator:
        """T or K of the currents of a column, tested with the functions of a row."""
        trial = functions[column]
        form, test = (magnetic_field, rotated[row]) if magnetic else (electric_field, functions[row].part)
        return transformed(medium.operator(form(medium.green, trial.space, test)), right=trial.images)

    for medium in regions:
        if medium.is_conductor:
            continue
        for place, (i, s) in enumerate(medium.surfaces):
            for j, t in medium.surfaces if mirrored else medium.surfaces[: place + 1]:
                z, sign = medium.impedance, float(s * t)
                for row, column, factor, magnetic in (
                    (i, j, sign * z, False), (n + i, n + j, -sign / z, False), (i, n + j, -sign, True),
                    (n + i, j, -sign, True),
                ):  # fmt: skip
                    term = field(medium, row, column, magnetic)
                    table[row, column].append((factor, term))
                    if i != j and not mirrored:
                        table[column, row].append((factor, term.T))
    return BlockOperator(_sums_of(table, unknown_fields(regions)))


def local_pmchwt(functions: Sequence[MirroredFunctions], regions: Sequence[Region]) -> sp.csr_array:
    """A sparse matrix near that of `pmchwt`, for its inverse: T of each surface alone by `Region.local_field`, which
    keeps J and M apart."""
    n, table = len(functions) // 2, defaultdict[int, list[sp.csr_array]](list)
    for medium in regions:
        for i, _ in [] if medium.is_conductor else medium.surfaces:
            field = medium.local_field(functions[i].space)
            for number, factor in ((i, medium.impedance), (n + i, -1 / medium.impedance)):
                own = functions[number]
                part = field[own.functions]
                table[number].append(factor * (part if own.images is None else part @ own.images))
    return sp.csr_array(sp.block_diag([sum(table[number]) for number in unknown_fields(regions)]))


def unknown_fields(regions: Sequence[Region]) -> list[int]:
    """Which of J and M of surfaces 0 .. n - 1 (numbers 0 .. 2 n - 1) are unknown: not M on conductors."""
    n = len(regions) - 1
    return [*range(n), *(n + i for i in range(n) if not regions[i + 1].is_conductor)]


def mueller(
    spaces: Sequence[EdgeSpace], regions: Sequence[Region], rotations: Sequence[Rotation]
) -> tuple[RotatedBlocks, NDArray[np.complex128]]:
    """Sums of n x H from both sides weighted by the permeabilities, then of -n x E weighted by the permittivities, for
    unknowns J, then M; the hypersingular parts of T cancel. Also the weights (2, n) of <f, n x H_inc> and
    <f, -n x E_inc>.

    Each row is divided by the mean weight, so that the identity stands in the diagonal. n x T is a smoothing operator
    once both sides are added, and therefore rotated by `Rotation`; n x K is tested directly.
    """
    n = len(spaces)
    table: Table = defaultdict(list)
    weights = _sums(regions, n)
    loads = np.zeros((2, n), np.complex128)
    for number, space in enumerate(spaces):
        for place in (number, n + number):
            table[place, place].append((1.0, identity(space)))
    for number, medium in enumerate(regions):
        for i, _ in medium.surfaces:
            h, e = medium.permeability / weights[0, i], medium.permittivity / weights[1, i]
            if number == 0:
                loads[:, i] = h, e
            for j, t in medium.surfaces:
                K = medium.operator(magnetic_field(medium.green, spaces[j], spaces[i]))
                T = medium.operator(electric_field(medium.green, spaces[j], spaces[i]))
                z = medium.impedance
                table[i, j].append((-h * t, K))
                table[n + i, n + j].append((-e * t, K))
                table[i, n + j].append((-h * t / z, T))
                table[n + i, j].append((e * t * z, T))
    return RotatedBlocks(_sums_of(table, range(2 * n)), tuple(rotations)), loads


def _sums(regions: Sequence[Region], number: int) -> NDArray[np.complex128]:
    """(2, number) the means of permeability and permittivity on both sides of each interface."""
    means = np.zeros((2, number), np.complex128)
    for medium in regions:
        for i, _ in medium.surfaces:
            means[:, i] += medium.permeability / 2, medium.permittivity / 2
    if np.any(np.abs(means) < 1e-12):
        raise ValueError(
            "Mueller's equations do not exist where permittivities or permeabilities on both sides of a surface add up "
            "to zero: take formulation='pmchwt'"
        )
    return means


def _sums_of(table: Table, kept: Sequence[int]) -> tuple[tuple[BoundaryOperator | None, ...], ...]:
    """The blocks of these rows and columns; None where there are no summands."""
    return tuple(tuple(Sum.of(table[i, j]) if table[i, j] else None for j in kept) for i in kept)
