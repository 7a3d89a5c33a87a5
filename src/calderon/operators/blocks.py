"""Operators with matrices: tables of blocks, None for zero, which are operators between block spaces, and sparse
matrices around an operator."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.operators.algebra import MULTIPLIES, BoundaryOperator, Expression, SparseOperator, checked_operator
from calderon.operators.products import Products
from calderon.operators.sparse_factors import Unknowns, common_space, pairing
from calderon.operators.tree import Index, Term
from calderon.validation import describe

Block = Any
"""A lazy operator, a sparse matrix of SciPy, an array (rows, columns), a LinearOperator of SciPy, or None for zero."""


@dataclass(frozen=True)
class BlockSpace:
    """The spaces of the rows or columns of blocks, one after the other."""

    spaces: tuple[Any, ...]

    @property
    def dimension(self) -> int:
        return sum(space.dimension for space in self.spaces)

    @property
    def name(self) -> str:
        return " + ".join(space.name for space in self.spaces)

    @property
    def mesh(self) -> tuple[Any, ...]:
        """The meshes of the spaces."""
        return tuple(space.mesh for space in self.spaces)

    def mass_matrix(self, test: "BlockSpace") -> sp.csr_array:
        """Block diagonal, of the spaces in pairs."""
        pairs = zip(self.spaces, test.spaces, strict=True)
        return sp.csr_array(sp.block_diag([pairing(trial, other) for trial, other in pairs]))


class ArrayProduct(LinearOperator):
    """The products of an array, which gives its entries, too."""

    def __init__(self, array: NDArray[Any]) -> None:
        super().__init__(dtype=array.dtype, shape=array.shape)
        self._array = array

    def near_entries(self, rows: Index, columns: Index) -> NDArray[Any]:
        """(n,) the entries in these rows and columns."""
        return np.asarray(self._array[rows, columns])

    def _matmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self._array @ x)

    def _rmatmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self._array.conj().T @ x)


@dataclass(frozen=True, eq=False)
class GivenMatrix(BoundaryOperator):
    """A matrix that was computed before: an array (rows, columns), or the products of a LinearOperator of SciPy."""

    matrix: Any
    trial: Any
    test: Any

    def __repr__(self) -> str:
        return f"{type(self.matrix).__name__}, {self.shape[0]} x {self.shape[1]}"

    @property
    def signature(self) -> str:
        if not isinstance(self.matrix, np.ndarray):
            return repr(self)
        return f"{self!r} {hashlib.sha256(np.ascontiguousarray(self.matrix).tobytes()).hexdigest()[:16]}"

    @property
    def is_complex(self) -> bool:
        return bool(np.dtype(self.matrix.dtype).kind == "c")

    @property
    def given_bytes(self) -> int:
        return int(getattr(self.matrix, "nbytes", 0))

    def value(self, products: Products) -> LinearOperator:
        return self.matrix if isinstance(self.matrix, LinearOperator) else ArrayProduct(self.matrix)

    def add_to(self, place: Any, factor: complex, rows: Index | None, columns: Index | None) -> None:
        i, j = (
            np.arange(size) if each is None else each for size, each in zip(self.shape, (rows, columns), strict=True)
        )
        with place.on_host(repr(self)) as out:
            for some in (slice(first, first + 64) for first in range(0, len(j), 64)):  # so many unit vectors at a time
                if isinstance(self.matrix, np.ndarray):
                    entries = self.matrix[np.ix_(i, j[some])]
                else:
                    units = np.zeros((self.shape[1], len(j[some])))
                    units[j[some], np.arange(units.shape[1])] = 1.0
                    entries = self.matrix.matmat(units)[i]
                out[:, some] += (factor * entries).astype(out.dtype)


@dataclass(frozen=True, eq=False)
class BlockOperator(Expression):
    """[[A, B], [C, D]] with operators or None. Rows share a test space, columns a trial space.

    trials, tests: spaces that are given for columns and rows, None for those of the operators."""

    table: tuple[tuple[BoundaryOperator | None, ...], ...]
    trials: tuple[Any, ...] | None = field(default=None, kw_only=True)
    tests: tuple[Any, ...] | None = field(default=None, kw_only=True)

    @property
    def heights(self) -> list[int]:
        """Dimensions of the test spaces, row by row."""
        return [space.dimension for space in self.test.spaces]

    @property
    def widths(self) -> list[int]:
        """Dimensions of the trial spaces, column by column."""
        return [space.dimension for space in self.trial.spaces]

    @cached_property
    def spaces(self) -> tuple[BlockSpace, BlockSpace]:
        trials = self.trials or (None,) * len(self.table[0])
        tests = self.tests or (None,) * len(self.table)
        columns = zip(*self.table, strict=True)
        trial = (
            _common(space, [each.trial for each in line if each]) for space, line in zip(trials, columns, strict=True)
        )
        test = (
            _common(space, [each.test for each in row if each]) for space, row in zip(tests, self.table, strict=True)
        )
        return BlockSpace(tuple(trial)), BlockSpace(tuple(test))

    def terms(self) -> list[Term]:
        tops, lefts = (np.cumsum([0, *sizes]).tolist() for sizes in (self.heights, self.widths))
        return [
            term.moved(top, left)
            for top, row in zip(tops, self.table, strict=False)
            for left, each in zip(lefts, row, strict=False)
            if each is not None
            for term in each.terms()
        ]

    def __repr__(self) -> str:
        return f"{len(self.heights)} x {len(self.widths)} blocks, {self.shape[0]} x {self.shape[1]}"


def blocks(
    table: Sequence[Sequence[Block]], trial: Sequence[Any] | None = None, test: Sequence[Any] | None = None
) -> BlockOperator:
    """The block operator [[A, B], [C, None]]; None stands for zero.

    A block is a lazy operator, or a matrix: a sparse one of SciPy, an array of two dimensions, or a LinearOperator of
    SciPy, whose products are used as they are. Real and complex ones may be mixed. trial, test: the spaces of the
    columns and of the rows, such as a `VolumeSpace` of finite elements; None, also for single ones, takes those of the
    operators. The unknowns of a row or column of matrices alone have no functions unless a space is given.

    Raises TypeError for anything but a list of rows of these, ValueError for sizes that do not fit.
    """
    for each in table if isinstance(table, Iterable) else [table]:
        if not isinstance(each, Iterable) or sp.issparse(each):
            raise TypeError(
                f"blocks are given as a list of rows, such as [[A, B], [C, None]], got {describe(each)} where a row "
                "should be: one row is [[A, B]], one column [[A], [B]]"
            )
    rows = [list(row) for row in table]
    if not rows or len({len(row) for row in rows}) != 1 or not rows[0]:
        raise ValueError("blocks need a rectangular table of operators or None, such as [[A, B], [C, None]]")
    for each in (each for row in rows for each in row):
        if not (each is None or sp.issparse(each) or isinstance(each, LinearOperator | np.ndarray)):
            checked_operator(
                each,
                "blocks are operators that are not assembled, sparse matrices, arrays and LinearOperators of SciPy, or "
                "None for zero",
                "a number c stands for c * identity(space)",
            )
    # spaces of rows and columns, on which all blocks must agree
    tests, trials = _sides("row", rows, 0, test), _sides("column", list(zip(*rows, strict=True)), 1, trial)
    operators = tuple(
        tuple(_block(each, column, row_space) for each, column in zip(row, trials, strict=True))
        for row, row_space in zip(rows, tests, strict=True)
    )
    return BlockOperator(operators, trials=tuple(trials), tests=tuple(tests))


def _sides(name: str, lines: Sequence[Sequence[Block]], axis: int, given: Sequence[Any] | None) -> list[Any]:
    """The spaces of all rows or columns of blocks; given: those that the caller names."""
    spaces = [None] * len(lines) if given is None else list(given)
    if len(spaces) != len(lines):
        raise ValueError(f"{len(lines)} {name}s of blocks have as many spaces, or None for them, got {len(spaces)}")
    return [_side(f"{name} {n}", line, axis, each) for n, (line, each) in enumerate(zip(lines, spaces, strict=True))]


def _side(name: str, line: Sequence[Block], axis: int, space: Any) -> Any:
    """The space of a row or column of blocks: the given one, that of an operator in it, or unknowns without functions;
    ValueError where blocks have different sizes, or there is none."""
    given = [each for each in line if each is not None]
    for each in given:
        if len(each.shape) != 2:
            raise ValueError(f"{name} of the blocks has an array of shape {each.shape}: matrices are needed")
    sizes = {each.shape[axis] for each in given}
    if len(sizes) != 1:
        found = "no operator" if not sizes else f"operators of dimensions {sorted(sizes)}"
        raise ValueError(f"{name} of the blocks has {found}: one space per {name.split()[0]} is needed")
    spaces = [each.trial if axis else each.test for each in given if hasattr(each, "trial")]
    if space is not None and (not hasattr(space, "mass_matrix") or space.dimension not in sizes):
        raise ValueError(
            f"{name} of the blocks has dimension {sizes.pop()}, and the space that is given for it is {describe(space)}"
            f"{f' of dimension {space.dimension}' if hasattr(space, 'dimension') else ''}"
        )
    return _common(space, spaces) if spaces or space else Unknowns(sizes.pop())


def _common(given: Any, spaces: list[Any]) -> Any:
    """The common space of a row or column; given: what the caller names, or None."""
    return common_space(spaces if given is None else [given, *spaces])


def _block(given: Block, trial: Any, test: Any) -> BoundaryOperator | None:
    """A block as a lazy operator between these spaces."""
    if given is None or hasattr(given, "trial"):
        return given
    if sp.issparse(given) or hasattr(given, "tocsr"):
        return SparseOperator.given(given if sp.issparse(given) else given.tocsr(), trial, test, "a block")
    if np.dtype(given.dtype).kind not in "biufc":
        raise ValueError(f"a block of {given.dtype} holds no numbers")
    if isinstance(given, np.ndarray) and not np.isfinite(given).all():
        raise ValueError(f"a block that is an array needs finite numbers, got {given[~np.isfinite(given)][0]}")
    return GivenMatrix(given, trial, test)


def transformed(operator: BoundaryOperator, left: Any = None, right: Any = None) -> BoundaryOperator:
    """L^T A R with sparse matrices around any operator A: sums, blocks, compositions, those of several meshes.

    left: L, (rows of A, rows of the result); right: R, (columns of A, columns of the result); None is the identity.
    Sparse matrices of SciPy, or arrays of two dimensions, real or complex; nothing is conjugated. `S @ A` is
    transformed(A, left=S.T), `A @ S` transformed(A, right=S). The unknowns of the result are coefficients of
    combinations of functions, which can be added to any others that are as many. By every method: fast ones multiply
    with A between the matrices, whose terms of one wavenumber share an octree; a dense matrix computes A first.

    Raises ValueError for matrices of other heights or with entries that are not finite, TypeError for what is neither
    an operator nor a matrix.
    """
    checked_operator(operator, "sparse factors stand around operators that are not assembled", MULTIPLIES)
    return operator.with_factors(left, right)
