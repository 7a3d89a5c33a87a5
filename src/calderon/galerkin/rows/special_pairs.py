"""Touching and near pairs of triangles and their local matrices, apart from the pairs that the regular rule serves."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Computing, run_tasks
from calderon.galerkin.bilinear_form import BilinearForm
from calderon.galerkin.block import Block
from calderon.galerkin.dual_test_block import DualBlock, affine_scatter_kernel
from calderon.galerkin.edge_block import EdgeBlock
from calderon.galerkin.limits import resolved_triangles
from calderon.galerkin.regular.edge_tables import edge_scales
from calderon.galerkin.regular.element_tables import Surface
from calderon.greens import Radial
from calderon.pairs.classes import Pairs, TouchingPairs
from calderon.pairs.rules import Batch
from calderon.pairs.tables import ProductTable
from calderon.quadrature.singular import points_on_side

SHARE = 32_768
"""Pairs that are integrated at a time."""


class SpecialPairs(Block):
    """The touching and near pairs of an operator between all its functions, by half where it is symmetric.

    `batches` holds their rules, `near` (n, 2) those that do not touch, `idle` (m, 2) those whose integrals vanish.
    """

    by_rule = True
    near: NDArray[np.int32]
    idle = np.zeros((0, 2), np.int32)

    @staticmethod
    def of(operator: BilinearForm, how: Computing) -> "SpecialPairs":
        """The pairs of an operator."""
        resolved_triangles(operator.green, operator.test, operator.trial)
        empty = np.broadcast_to(np.zeros((), how.dtype(operator.is_complex)), operator.shape)
        form = operator.green, operator.integrand, operator.test, operator.trial
        kind = KINDS[operator.block]
        return kind(empty, *form, 1.0, None, None, operator.quadrature, how.real, half=operator.is_symmetric)

    def _compile(self, radial: Radial, factor: complex) -> None:
        self.radial = radial
        super()._compile(radial, factor)

    def _prepare(self) -> None:
        self.batches, _ = self._special_pairs()

    def _batches(self, touching: TouchingPairs, pairs: NDArray[np.int32], ratio: NDArray[np.float32]) -> list[Batch]:
        self.near = pairs
        return super()._batches(touching, pairs, ratio)

    def regular(self) -> list[Batch]:
        """The near pairs that do not touch, with the rule of distant ones."""
        order = np.broadcast_to(np.arange(3, dtype=np.int8), (len(self.near), 3))
        side = points_on_side(self.quadrature.regular)
        tables = ProductTable.of([(side, side)], self.test_space.element, self.trial_space.element)
        return [Batch(tables, np.zeros(len(self.near), np.int32), Pairs(self.near, order, order), None)]

    def _integrals(self, batch: Batch) -> NDArray[np.float64]:
        """Moments as the scatter kernel wants them."""
        return self._moments(batch, self.test_surface)

    def _sides_of(self, i: NDArray[np.int32], j: NDArray[np.int32]) -> tuple[Any, ...]:
        """What the scatter kernel reads of the triangles of each pair."""
        sides = self.test_surface, self.trial_surface
        if not self.integrand.curls:
            return sides  # nothing is read
        return tuple(Surface(*(part[which] for part in side)) for side, which in zip(sides, (i, j), strict=True))

    def _form(self) -> tuple[bool, ...]:
        """More arguments of the scatter kernel."""
        return (self.integrand.curls,)

    def local(self, batch: Batch) -> NDArray[Any]:
        """(n, A, B) local matrices of the n pairs of a batch."""
        pairs = batch.pairs
        count, (i, j) = len(pairs.triangles), pairs.triangles.T
        moments = self._integrals(batch)
        height, width = moments.shape[-2:]
        out = np.zeros((count * height, width), self.out.dtype)
        rows = np.arange(count * height).reshape(count, height)
        columns = np.broadcast_to(np.arange(width), (count, width))
        numbers = np.repeat(np.arange(count, dtype=np.int32)[:, None], 2, axis=1)
        self.scatter(
            moments, Pairs(numbers, *pairs[1:]), *self._sides_of(i, j), rows, np.ascontiguousarray(columns),
            self.coefficients, *self._form(), False, out,
        )  # fmt: skip
        return out.reshape(count, height, width)

    def values(self, batches: list[Batch]) -> NDArray[Any]:
        """(n, A, B) local matrices of the pairs of some batches."""
        shares = [(batch, low, low + SHARE) for batch in batches for low in range(0, len(batch.rules), SHARE)]
        starts = np.cumsum([0, *(len(batch.rules[low:high]) for batch, low, high in shares)])
        height, width = self.test.places.shape[1], self.trial.places.shape[1]
        out = np.zeros((starts[-1], height, width), self.out.dtype)

        def work(number: int) -> None:
            batch, low, high = shares[number]
            out[starts[number] : starts[number + 1]] = self.local(batch.part(slice(low, high)))

        run_tasks(work, len(shares))
        return out

    def triangles(self, batches: list[Batch]) -> NDArray[np.int32]:
        """(n, 2) triangles of the pairs of some batches."""
        return np.concatenate([np.zeros((0, 2), np.int32), *(batch.pairs.triangles for batch in batches)])


class EdgeSpecialPairs(SpecialPairs, EdgeBlock):
    """The same of an electric or magnetic field between edge functions."""

    def _prepare(self) -> None:
        self.test_scales = edge_scales(self.test_space, self.test.triangles, self.scale)
        self.trial_scales = edge_scales(self.trial_space, self.trial.triangles, self.scale)
        self.test_corners = self.corners_of_moments()
        super()._prepare()

    def _acting(self, touching: TouchingPairs) -> TouchingPairs:
        if not self.electric:
            self.idle = touching.pairs[touching.shared == 3]
        return super()._acting(touching)

    def _integrals(self, batch: Batch) -> NDArray[np.float64]:
        return self.integrals(batch)

    def _sides_of(self, i: NDArray[np.int32], j: NDArray[np.int32]) -> tuple[Any, ...]:
        return self.test_corners[i], self.trial_surface.corners[j], self.test_scales[i], self.trial_scales[j]

    def _form(self) -> tuple[bool, ...]:
        return ()


class DualSpecialPairs(EdgeSpecialPairs, DualBlock):
    """The same of the magnetic field tested with fields that are affine on triangles."""

    def _prepare(self) -> None:
        self.trial_scales = edge_scales(self.trial_space, self.trial.triangles, self.scale)
        self.test_corners = self.crossed_values()
        SpecialPairs._prepare(self)

    def local(self, batch: Batch) -> NDArray[Any]:
        (i, j), count, functions = batch.pairs.triangles.T, len(batch.rules), self.test_corners.shape[1]
        out = np.zeros((count * functions, 3), self.out.dtype)
        rows = np.arange(count * functions).reshape(count, functions)
        columns = np.ascontiguousarray(np.broadcast_to(np.arange(3), (count, 3)))
        numbers = np.repeat(np.arange(count, dtype=np.int32)[:, None], 2, axis=1)
        affine_scatter_kernel()(
            self.integrals(batch), Pairs(numbers, *batch.pairs[1:]), self.test_corners[i],
            self.trial_surface.corners[j], self.trial_scales[j], rows, columns, self.coefficients, out,
        )  # fmt: skip
        return out.reshape(count, functions, 3)


KINDS: dict[type[Block], type[SpecialPairs]] = {
    Block: SpecialPairs,
    EdgeBlock: EdgeSpecialPairs,
    DualBlock: DualSpecialPairs,
}
"""The pairs of each kind of block."""
