"""Systems of operators: a table of blocks, None for zero; an operator like others, between block spaces."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from calderon.operators.algebra import BoundaryOperator, Expression, SparseOperator, checked_operator
from calderon.operators.products import Products
from calderon.operators.sparse_factors import SparseFactors, Unknowns, checked_factors, common_space, pairing
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


@dataclass(frozen=True, eq=False)
class GivenMatrix(BoundaryOperator):
    """A matrix that was computed before: an array (rows, columns), or the products of a LinearOperator of SciPy."""

    matrix: Any
    trial: Any
    test: Any

    def __repr__(self) -> str:
        return f"{type(self.matrix).__name__}, {self.shape[0]} x {self.shape[1]}"

    @property
    def is_complex(self) -> bool:
        return bool(np.dtype(self.matrix.dtype).kind == "c")

    def value(self, products: Products) -> LinearOperator:
        return aslinearoperator(self.matrix)

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
    """[[A, B], [C, D]] with operators or None. Rows share a test space, columns a trial space."""

    table: tuple[tuple[BoundaryOperator | None, ...], ...]

    @property
    def heights(self) -> list[int]:
        """Dimensions of the test spaces, row by row."""
        return [space.dimension for space in self.test.spaces]

    @property
    def widths(self) -> list[int]:
        """Dimensions of the trial spaces, column by column."""
        return [space.dimension for space in self.trial.spaces]

    @property
    def spaces(self) -> tuple[BlockSpace, BlockSpace]:
        columns = zip(*self.table, strict=True)
        trial = tuple(common_space([each.trial for each in line if each is not None]) for line in columns)
        test = tuple(common_space([each.test for each in row if each is not None]) for row in self.table)
        return BlockSpace(trial), BlockSpace(test)

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


def blocks(table: Sequence[Sequence[Block]]) -> BlockOperator:
    """The block operator [[A, B], [C, None]]; None stands for zero.

    A block is a lazy operator, or a matrix: a sparse one of SciPy, an array of two dimensions, or a LinearOperator of
    SciPy, whose products are used as they are. Real and complex ones may be mixed. The unknowns of a row or column of
    matrices alone have no functions.

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
    tests = [_side("row", number, line, 0) for number, line in enumerate(rows)]
    trials = [_side("column", number, line, 1) for number, line in enumerate(zip(*rows, strict=True))]
    operators = tuple(
        tuple(_block(each, trial, test) for each, trial in zip(row, trials, strict=True))
        for row, test in zip(rows, tests, strict=True)
    )
    return BlockOperator(operators)


def _side(name: str, number: int, line: Sequence[Block], axis: int) -> Any:
    """The space of a row or column of blocks: that of an operator in it, or unknowns without functions; ValueError
    where blocks have different sizes, or there is none."""
    given = [each for each in line if each is not None]
    for each in given:
        if len(each.shape) != 2:
            raise ValueError(f"{name} {number} of the blocks has an array of shape {each.shape}: matrices are needed")
    sizes = {each.shape[axis] for each in given}
    if len(sizes) != 1:
        found = "no operator" if not sizes else f"operators of dimensions {sorted(sizes)}"
        raise ValueError(f"{name} {number} of the blocks has {found}: one space per {name} is needed")
    spaces = [each.trial if axis else each.test for each in given if hasattr(each, "trial")]
    return common_space(spaces) if spaces else Unknowns(sizes.pop())


def _block(given: Block, trial: Any, test: Any) -> BoundaryOperator | None:
    """A block as a lazy operator between these spaces."""
    if given is None or hasattr(given, "trial"):
        return given
    if sp.issparse(given) or hasattr(given, "tocsr"):
        matrix = checked_factors(given if sp.issparse(given) else given.tocsr(), "a block")
        return SparseOperator("sparse matrix", matrix, trial, test, str(SparseFactors.of(matrix).key))
    if isinstance(given, np.ndarray) and (given.dtype.kind not in "biufc" or not np.isfinite(given).all()):
        raise ValueError(f"a block that is an array of {given.dtype} needs finite numbers")
    return GivenMatrix(given, trial, test)
