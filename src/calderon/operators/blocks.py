"""Systems of boundary operators: a table of blocks, None for zero; an operator like others, between block spaces."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from calderon.operators.algebra import BoundaryOperator, Expression, checked_operator
from calderon.operators.tree import Term
from calderon.validation import describe


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
        return sp.csr_array(sp.block_diag([trial.mass_matrix(other) for trial, other in pairs]))


@dataclass(frozen=True, eq=False)
class BlockOperator(Expression):
    """[[A, B], [C, D]] with boundary operators or None. Rows share a test space, columns a trial space."""

    table: tuple[tuple[BoundaryOperator | None, ...], ...]

    def __post_init__(self) -> None:
        if not self.table or len({len(row) for row in self.table}) != 1 or not self.table[0]:
            raise ValueError("blocks need a rectangular table of operators or None, such as [[A, B], [C, None]]")
        for each in (each for row in self.table for each in row):
            if each is not None:
                what = "blocks are operators that are not assembled, or None for zero"
                checked_operator(each, what, "a number c stands for c * identity(space)")
        for name, lines in (("row", self.table), ("column", tuple(zip(*self.table, strict=True)))):
            for number, line in enumerate(lines):
                sizes = {each.shape[0 if name == "row" else 1] for each in line if each is not None}
                if len(sizes) != 1:
                    found = "no operator" if not sizes else f"operators of dimensions {sorted(sizes)}"
                    raise ValueError(f"{name} {number} of the blocks has {found}: one space per {name} is needed")

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
        trial = tuple(next(each.trial for each in line if each is not None) for line in columns)
        test = tuple(next(each.test for each in row if each is not None) for row in self.table)
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


def blocks(table: Sequence[Sequence[BoundaryOperator | None]]) -> BlockOperator:
    """The block operator [[A, B], [C, None]]; None stands for zero. TypeError for anything but a list of rows."""
    for each in table if isinstance(table, Iterable) else [table]:
        if not isinstance(each, Iterable):
            raise TypeError(
                f"blocks are given as a list of rows, such as [[A, B], [C, None]], got {describe(each)} where a row "
                "should be: one row is [[A, B]], one column [[A], [B]]"
            )
    return BlockOperator(tuple(tuple(row) for row in table))
