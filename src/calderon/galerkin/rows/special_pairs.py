"""Touching and near pairs of triangles and their local matrices, apart from the pairs that the regular rule serves."""

import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Execution, run_tasks
from calderon.galerkin.bilinear_form import BilinearForm
from calderon.galerkin.block import Block
from calderon.galerkin.limits import resolved_triangles
from calderon.galerkin.special.scatter import put_products
from calderon.greens import Radial
from calderon.pairs.classes import Pairs, TouchingPairs
from calderon.pairs.grouping import arranged
from calderon.pairs.rules import Batch
from calderon.pairs.tables import ProductTable
from calderon.quadrature.singular import points_on_side

SPAN = 4096
"""Pairs that are integrated at a time."""


class SpecialPairs(Block):
    """The touching and near pairs of an operator between all its functions, by half where it is symmetric.

    `batches` holds their rules, `near` (n, 2) those that do not touch, `idle` (m, 2) those whose integrals vanish.

    mirrored_moments: the moments of a kernel g(x, y) = -g(y, x), such as a gradient, on the same triangles on both
    sides, M_ab of a pair (i, j), are -M_ba of (j, i): pairs i < j are found, and give local matrices of both orders.
    """

    by_rule = True
    mirrored_moments = False
    searched = False
    near: NDArray[np.int32]
    idle = np.zeros((0, 2), np.int32)

    found: "FoundPairs | None" = None
    """The result of a search, for other operators on the same triangles."""

    @staticmethod
    def of(
        operator: BilinearForm, execution: Execution, found: "FoundPairs | None" = None, factor: complex = 1.0
    ) -> "SpecialPairs":
        """The pairs of a multiple of an operator; found: `found` of another one, which is taken if its search fits."""
        return SpecialPairs._made(operator, execution, found, factor, False)

    @staticmethod
    def search(operator: BilinearForm, execution: Execution, found: "FoundPairs | None" = None) -> "SpecialPairs":
        """The special pairs of an operator without rules, batches and data: `found`, and the functions of triangles."""
        return SpecialPairs._made(operator, execution, found, 1.0, True)

    @staticmethod
    def _made(
        operator: BilinearForm, execution: Execution, found: "FoundPairs | None", factor: complex, searched: bool
    ) -> "SpecialPairs":
        """The special pairs of an operator; searched: without rules, batches and data."""
        resolved_triangles(operator.green, operator.test, operator.trial)
        empty = np.broadcast_to(np.zeros((), execution.dtype(operator.is_complex)), operator.shape)
        form = operator.green, operator.integrand, operator.test, operator.trial
        kind = special_pairs_of(operator.block)  # type: ignore[arg-type]
        if found is not None or searched:
            kind = type(kind.__name__, (kind,), {"found": found, "searched": searched})
        return kind(empty, *form, factor, None, None, operator.quadrature, execution.real, half=operator.is_symmetric)

    def _compile(self, radial: Radial, factor: complex) -> None:
        """Coefficients and kernels, and whether moments are mirrored."""
        self.radial = radial
        super()._compile(radial, factor)
        (mesh, first), (other, second) = self.triangles_of_sides
        if all(each.is_odd for each in self.form.special) and mesh is other and np.array_equal(first, second):
            self.mirrored_moments = self.half = True

    @property
    def in_one_order(self) -> bool:
        """Whether local matrices of pairs (i, j) alone are those of (j, i), too, transposed."""
        return self.half and not self.mirrored_moments

    def _form_data(self) -> Any:
        """Numbers that the form reads, nothing where pairs are searched and no local matrix is made."""
        return () if self.searched else super()._form_data()

    def _prepare(self) -> None:
        """Find the pairs and, unless they are searched alone, their rules."""
        if self.searched:
            self._found()
        else:
            self.batches, _ = self._special_pairs()

    def _found(self) -> tuple[TouchingPairs, NDArray[np.int32], NDArray[np.float32]]:
        """Touching pairs, near pairs and their ratios, from an earlier search where it fits."""
        sides, key = self.triangles_of_sides, (self.half, self.quadrature.reach(self._coarse()))
        if self.found is not None and self.found.fits((False, key[1]), sides) and self.half:
            self.found = self.found.by_half()
        if self.found is None or not self.found.fits(key, sides):
            self.found = FoundPairs(key, sides, super()._found())
        return self.found.pairs

    def _acting(self, touching: TouchingPairs) -> TouchingPairs:
        """The touching pairs whose integrals do not all vanish; the others are kept as `idle`."""
        acting = super()._acting(touching)
        if len(acting.pairs) < len(touching.pairs):
            self.idle = touching.pairs[touching.shared == 3]
            if self.mirrored_moments:  # two pieces of one triangle at a junction, in the other order, too
                self.idle = np.concatenate([self.idle, self.idle[self.idle[:, 0] < self.idle[:, 1], ::-1]])
        return acting

    def _batches(self, touching: TouchingPairs, pairs: NDArray[np.int32], ratio: NDArray[np.float32]) -> list[Batch]:
        """Batches of all pairs; near ones are kept as `near`."""
        self.near = pairs
        return super()._batches(touching, pairs, ratio)

    def regular(self) -> list[Batch]:
        """The near pairs that do not touch, with the rule of distant ones."""
        side = points_on_side(self.quadrature.regular)
        tables = ProductTable.of([(side, side)], self.test_space.element, self.trial_space.element)
        order = np.broadcast_to(np.arange(3, dtype=np.int8), (len(self.near), 3))
        return [Batch(tables, np.zeros(len(self.near), np.int32), Pairs(self.near, order, order), None)]

    @property
    def numbers_of_tests(self) -> int:
        """The numbers of a test function, where a triangle has more test functions than each of them has numbers, else
        0. Entries are linear in them, and local matrices are those of the numbers."""
        return self.form.function if 0 < self.form.function < self.test.places.shape[1] else 0

    def _put_local(self, batch: Batch, out: NDArray[Any]) -> None:
        """Add to zeros (orders, n, A, B) the local matrices of the n pairs of a batch, and with mirrored moments those
        of the other order."""
        moments, pairs = self._all_moments(batch), batch.pairs
        self._add_local(moments, pairs, out[0])
        if self.mirrored_moments:
            self._add_local(-moments.swapaxes(3, 4), pairs.exchanged(), out[1])

    def _add_local(self, moments: NDArray[np.float64], pairs: Pairs, out: NDArray[Any]) -> None:
        """Add the local matrices of pairs with these moments to zeros, `out` (n, A, B)."""
        if self.form.direct and not self.form.curls:
            elements = self.test_space.element, self.trial_space.element
            put_products(moments, pairs, elements, self.coefficients, out)
            return
        count, height, width = out.shape
        trial = self.form_data(False, pairs.triangles[:, 1])
        if self.numbers_of_tests:
            units = np.broadcast_to(np.eye(height).ravel(), (count, height**2))
            test = np.concatenate([self.data[0][:, : self.form.head][pairs.triangles[:, 0]], units], axis=1)
        else:
            test = self.form_data(True, pairs.triangles[:, 0])
        rows = np.arange(count * height).reshape(count, height)
        columns = np.ascontiguousarray(np.broadcast_to(np.arange(width), (count, width)))
        numbers = np.repeat(np.arange(count, dtype=np.int32)[:, None], 2, axis=1)
        self._scatter(moments, Pairs(numbers, *pairs[1:]), (test, trial), rows, columns, out.reshape(-1, width), False)

    def values(self, batches: list[Batch]) -> NDArray[Any]:
        """(n, A, B) local matrices of the pairs of some batches, as `triangles` lists them; A: local functions, or
        `numbers_of_tests`."""
        shares = [(batch, low, low + SPAN) for batch in batches for low in range(0, len(batch.rules), SPAN)]
        starts = np.cumsum([0, *(len(batch.rules[low:high]) for batch, low, high in shares)])
        height, width = self.numbers_of_tests or self.test.places.shape[1], self.trial.places.shape[1]
        out = np.zeros((1 + self.mirrored_moments, starts[-1], height, width), self.out.dtype)

        def work(number: int) -> None:
            """Compute one share of the pairs."""
            batch, low, high = shares[number]
            self._put_local(batch.part(slice(low, high)), out[:, starts[number] : starts[number + 1]])

        run_tasks(work, len(shares))
        return out.reshape(-1, height, width)

    def triangles(self, batches: list[Batch]) -> NDArray[np.int32]:
        """(n, 2) triangles of the pairs of some batches, with mirrored moments in one order, then in the other."""
        pairs = np.concatenate([np.zeros((0, 2), np.int32), *(batch.pairs.triangles for batch in batches)])
        return np.concatenate([pairs, pairs[:, ::-1]]) if self.mirrored_moments else pairs


class FoundPairs(NamedTuple):
    """Touching pairs, near pairs and their distances, or of a search on a device the candidates for them, and what they
    were searched for: key, by half and how near, or what a device searched for, and the mesh and triangles of both
    sides. there: triangles on the device."""

    key: tuple[Any, ...]
    sides: tuple[tuple[Any, NDArray[np.int64]], ...]
    pairs: Any
    there: tuple[Any, ...] = ()

    def fits(self, key: tuple[Any, ...], sides: tuple[tuple[Any, NDArray[np.int64]], ...]) -> bool:
        """Whether it is what was searched for."""
        both = zip(self.sides, sides, strict=True)
        return self.key == key and all(a[0] is b[0] and np.array_equal(a[1], b[1]) for a, b in both)

    def around(self, triangles: NDArray[np.bool_]) -> "FoundPairs":
        """The pairs with some of the triangles of the first side, and, where both sides have the same triangles, those
        in which they come second: a search by half has pairs in one order."""
        (mesh, first), (other, second) = self.sides
        same = mesh is other and np.array_equal(first, second)

        def chosen(pairs: NDArray[np.int32]) -> NDArray[np.bool_]:
            """(n,) which pairs have one of the triangles."""
            return triangles[pairs[:, 0]] | triangles[pairs[:, 1]] if same else triangles[pairs[:, 0]]

        touching, near, ratio = self.pairs
        kept = np.flatnonzero(chosen(near))
        pairs = touching.part(chosen(touching.pairs)), arranged(near, kept), ratio[kept]
        return FoundPairs(self.key, self.sides, pairs)

    def by_half(self) -> "FoundPairs":
        """The pairs that a search by half finds, from a search of all pairs on one side."""
        touching, near, ratio = self.pairs
        kept = np.flatnonzero(near[:, 0] < near[:, 1])
        upper = touching.part(touching.pairs[:, 0] <= touching.pairs[:, 1])
        return FoundPairs((True, self.key[1]), self.sides, (upper, arranged(near, kept), ratio[kept]))


@functools.lru_cache(maxsize=16)
def special_pairs_of(block: type[Block]) -> type[SpecialPairs]:
    """The special pairs of a kind of block."""
    return SpecialPairs if block is Block else type(f"SpecialPairsOf{block.__name__}", (SpecialPairs, block), {})
