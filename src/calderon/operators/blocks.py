"""Systems of boundary operators: a table of blocks, None for zero."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Computing, computing, entry_type
from calderon.operators.boundary import BoundaryOperator, IntegralOperator, SparseOperator, Sum
from calderon.operators.methods import builder_for, special_options
from calderon.validation import describe


@dataclass(frozen=True, eq=False)
class BlockOperator:
    """[[A, B], [C, D]] with boundary operators or None. Rows share a test space, columns a trial space."""

    table: tuple[tuple[BoundaryOperator | None, ...], ...]

    def __post_init__(self) -> None:
        if not self.table or len({len(row) for row in self.table}) != 1 or not self.table[0]:
            raise ValueError("blocks need a rectangular table of operators or None, such as [[A, B], [C, None]]")
        for each in (each for row in self.table for each in row):
            if not isinstance(each, BoundaryOperator | None):
                raise TypeError(
                    f"blocks are operators that are not assembled, or None for zero, got {describe(each)}: a number c "
                    "stands for c * identity(space)"
                )
        for name, lines in (("row", self.table), ("column", tuple(zip(*self.table, strict=True)))):
            for number, line in enumerate(lines):
                sizes = {each.shape[0 if name == "row" else 1] for each in line if each is not None}
                if len(sizes) != 1:
                    found = "no operator" if not sizes else f"operators of dimensions {sorted(sizes)}"
                    raise ValueError(f"{name} {number} of the blocks has {found}: one space per {name} is needed")

    @property
    def heights(self) -> list[int]:
        """Dimensions of the test spaces, row by row."""
        return [next(each.shape[0] for each in row if each is not None) for row in self.table]

    @property
    def widths(self) -> list[int]:
        """Dimensions of the trial spaces, column by column."""
        return [next(each.shape[1] for each in line if each is not None) for line in zip(*self.table, strict=True)]

    @property
    def shape(self) -> tuple[int, int]:
        return sum(self.heights), sum(self.widths)

    @property
    def is_complex(self) -> bool:
        return any(each is not None and each.is_complex for row in self.table for each in row)

    def __repr__(self) -> str:
        return f"{len(self.heights)} x {len(self.widths)} blocks, {self.shape[0]} x {self.shape[1]}"

    def dtype(self, precision: str = "double") -> np.dtype[Any]:
        """The NumPy type of the matrix in that precision."""
        return Computing(np.dtype(entry_type(precision))).dtype(self.is_complex)

    def fill(self, out: NDArray[Any], how: Computing, advance: Any = None) -> None:
        """out = matrix, where out (rows, columns) is zero and C-contiguous."""
        top = np.cumsum([0, *self.heights])
        left = np.cumsum([0, *self.widths])
        for i, row in enumerate(self.table):
            for j, operator in enumerate(row):
                if operator is not None:
                    place = out[top[i] : top[i + 1], left[j] : left[j + 1]]
                    _fill_block(place, out.shape[1], operator, how, advance)

    def assemble(
        self, method: str = "dense", *, backend: str = "numba", precision: str = "double", rtol: float | None = None,
        progress: bool = False, keep_on_device: bool = False, matrix_file: str | os.PathLike[str] | None = None,
    ) -> Any:  # fmt: skip
        """Compute the matrix of the whole system; see BoundaryOperator.assemble."""
        build = builder_for(method)
        computing(backend, precision, several=method in ("dense", "hmatrix"), mixed=method == "dense")
        options = special_options(method, keep_on_device, matrix_file)
        return build(self, backend=backend, precision=precision, rtol=rtol, progress=progress, **options)

    def split(self, vector: NDArray[Any]) -> list[NDArray[Any]]:
        """Cut a solution (columns' dimension, ...) into one piece per column of blocks."""
        return np.split(vector, np.cumsum(self.widths)[:-1])


def _fill_block(place: NDArray[Any], pitch: int, operator: BoundaryOperator, how: Computing, advance: Any) -> None:
    """Compute one block at its place in a matrix whose rows are `pitch` long, without a copy where the operator allows.

    Integral and sparse operators add to the columns of their trial functions, in rows that lie one after the other.
    They are given full rows that begin at the block's first entry, so that a block's column number is the right one.
    (Such rows end beyond those of the matrix, the last one beyond the array: nothing is written there, as a block is
    no wider than its columns.)
    """
    terms = operator.parts if isinstance(operator, Sum) else ((1.0, operator),)
    if all(isinstance(term, IntegralOperator | SparseOperator) for _, term in terms):
        operator.fill(np.lib.stride_tricks.as_strided(place, (len(place), pitch), place.strides), how, advance)
        return
    block = np.zeros(place.shape, place.dtype)
    operator.fill(block, how, advance)
    place += block


def blocks(table: Sequence[Sequence[BoundaryOperator | None]]) -> BlockOperator:
    """The block operator [[A, B], [C, None]]; None stands for zero. TypeError for what is no list of rows."""
    for each in table if isinstance(table, Iterable) else [table]:
        if not isinstance(each, Iterable):
            raise TypeError(
                f"blocks are given as a list of rows, such as [[A, B], [C, None]], got {describe(each)} where a row "
                "should be: one row is [[A, B]], one column [[A], [B]]"
            )
    return BlockOperator(tuple(tuple(row) for row in table))
