"""Double layers on one space: both orders of a pair of triangles from one evaluation (mutual_tile.py)."""

import math

import numpy as np
from numpy.typing import NDArray

from calderon.backends import thread_count
from calderon.galerkin.block import TILE, Block, Stage
from calderon.galerkin.regular.element_tables import LANES, blocked
from calderon.galerkin.regular.mutual_tile import mutual_kernel, mutual_scratch
from calderon.galerkin.regular.scatter_columns import columns_of
from calderon.galerkin.selection import Rows, carried, filled_rows, incidence, sharing
from calderon.galerkin.special_part import Renumbered
from calderon.greens import Radial
from calderon.integrands import Component
from calderon.pairs.rules import Batch
from calderon.quadrature import triangle_rule

PIECES = 64
"""Parts for each thread at least, if the mesh is large enough: two that write to common entries wait for each other."""
BOTH = Component(1, normal="trial"), Component(1, normal="test")
"""Both orders of a pair as components: the double layer, and its adjoint, of the pair in the other order."""


class MutualBlock(Block):
    """All rows and columns of a double layer, or of its adjoint, on one space: A, for pairs i < j of triangles, goes to
    rows of i, and B, of the pairs (j, i), to rows of j; for the adjoint A and B change places."""

    def _compile(self, radial: Radial, factor: complex) -> None:
        """Coefficients and compiled kernels."""
        self.coefficients = self._coefficients(factor)
        self.linear = self.test_space.element.degree > 0
        self.adjoint = self.integrand.normal == "test"
        rule = triangle_rule(self.quadrature.regular)
        self.distant_rule = self._distant_rule()
        form = (self.threes, not self._through_centroids(), rule.number_of_points, self.trial.places.shape[1])
        self.tile = mutual_kernel(radial, self.linear, self.green.is_complex, self.is_complex, *form, self.distant_rule)
        self.tile_scalars = self._scalars(radial.lacking(BOTH[0].radial, 8 * self.real.itemsize))
        self.moments = self._moment_kernels(BOTH)

    def _prepare(self) -> None:
        """Prepare pairs i <= j of triangles, and divide them into parts: tiles and columns."""
        self.half = True  # pairs i <= j
        super()._prepare()
        count, size = len(self.test.triangles), TILE * 8 // (self.real.itemsize * (2 if self.is_complex else 1))
        pieces = math.sqrt(2 * PIECES * thread_count())  # tiles times columns, half of them
        size = min(size, max(LANES, math.ceil(count / (pieces * LANES)) * LANES))
        self.tiles = np.append(np.arange(0, count, size), count)
        self.neighbours = None
        rows = [self._rows(*bounds) for bounds in zip(self.tiles[:-1], self.tiles[1:], strict=True)]
        self.rows_of_tile = [(filled_rows(numbers, len(ids)), ids) for numbers, ids in rows]
        self._cut()

    def _reads_spreads(self) -> bool:
        """Whether tiles read corners less centroids."""
        return self.threes  # also for distances from planes

    def _cut(self) -> None:
        """Parts (n, 2), a tile and a column, and the trial triangles with which the columns begin and end."""
        count = len(self.tiles) - 1
        wide = max(1, count * count // (2 * PIECES * thread_count() * 4))  # large meshes: several tiles in a part
        starts = np.append(np.arange(0, count, wide), count)
        self.parts = np.array([(i, j) for i in range(count) for j in range(len(starts) - 1) if starts[j + 1] > i])
        self.columns = self.tiles[starts]
        bounds = [int(each) // LANES for each in self.columns[1:-1]]  # parts add whole groups of columns to the matrix
        places = blocked(self.trial.places.T, -1).reshape(len(self.trial_side.jacobian), -1)
        self.trial_side = self.trial_side._replace(columns=columns_of(places, bounds))

    def stages(self) -> list[Stage]:
        """The distant pairs by parts, then touching and near pairs by spans."""
        return [
            Stage(self.add_part, len(self.parts), self._part_neighbours(), self._pairs_of_parts().tolist()),
            Stage(self.add_span, len(self.spans) - 1, self._special_neighbours(), np.diff(self.spans).tolist()),
        ]

    def _part_neighbours(self) -> list[NDArray[np.int64]]:
        """For each part the others (and itself) that write to common entries: rows and columns of the tile and of the
        columns, or exchanged."""
        tiles, columns = (carried(each, self.test.places, len(self.out)) for each in (self.tiles, self.columns))
        alike, across = (tiles @ tiles.T).toarray() > 0, (tiles @ columns.T).toarray() > 0
        side = (columns @ columns.T).toarray() > 0
        i, j = self.parts.T
        return [np.flatnonzero((alike[a][i] & side[b][j]) | (across[a][j] & across[:, b][i])) for a, b in self.parts]

    def _special_neighbours(self) -> list[NDArray[np.int64]]:
        """For each span the others (and itself) whose touching and near pairs write to common rows."""
        shape = (len(self.spans) - 1, len(self.out))
        table = carried(self.spans, self.test.places, shape[1])
        for batch in self.batches:
            i, j = batch.pairs.triangles.T
            found = [np.unique(each) for each in np.split(j, np.searchsorted(i, self.spans[1:-1]))]
            span = np.repeat(np.arange(shape[0]), [len(each) for each in found])
            table = table + incidence(span, self.trial.places[np.concatenate(found)], shape)
        return sharing(table)

    def _pairs_of_parts(self) -> NDArray[np.float64]:
        """(parts,) how many pairs of triangles each computes."""
        tile, column = self.parts.T
        lo, hi, start, stop = self.tiles[tile], self.tiles[tile + 1], self.columns[column], self.columns[column + 1]
        return (hi - lo) * (stop - np.maximum(start, (lo + hi) / 2))

    def add_part(self, number: int) -> None:
        """The pairs of one part that are neither touching nor near."""
        tile, column = self.parts[number]
        lo, hi = int(self.tiles[tile]), int(self.tiles[tile + 1])
        start, stop = (int(each) for each in self.columns[column : column + 2])
        tile_rows, row_ids = self.rows_of_tile[tile]
        points, functions = len(self.trial_side.measure), self.trial.places.shape[1]
        columns = self.trial_side.columns
        scratch = mutual_scratch(len(row_ids), functions, points, self.is_complex, columns, self.real)
        first, last = max(lo, start) // LANES, -(-stop // LANES)
        for group in range(len(self.test_side.weights)):
            self.tile(
                self.test_side, self.trial_side, self.spreads, self.distant, group, self.skip_start, self.skip_position,
                self.tile_scalars, lo, hi, first, last, self.adjoint, tile_rows, row_ids, scratch, self.out,
            )  # fmt: skip

    def _add_pairs(self, batch: Batch, rows: Rows, local: Renumbered | None) -> None:
        """Add both orders of all pairs of a batch; arguments as in `Block`."""
        forward, back = self._all_moments(batch, BOTH)
        if self.adjoint:
            forward, back = back, forward
        places = self.test.places, self.trial.places
        for moments, each in (
            (forward, batch.pairs),
            (np.ascontiguousarray(back.swapaxes(2, 3)), batch.pairs.exchanged()),
        ):
            self._scatter(moments[None], each, self.data, *places, self.out, False)
