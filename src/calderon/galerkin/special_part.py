"""The touching and near pairs of a block: which ones, by which rules, and their local matrices added to rows."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import kernel
from calderon.galerkin.forms.form import Form
from calderon.galerkin.selection import Rows, Selection, vertex_numbers
from calderon.galerkin.special.close_moments import Integral, close_moments
from calderon.galerkin.special.near_pairs import product_kernel, product_scratch
from calderon.galerkin.special.scatter import scatter
from calderon.galerkin.special.touching_pairs import moment_kernel, moment_scratch
from calderon.greens import Radial
from calderon.integrands import Components, Integrand
from calderon.mesh.geometry import FlatTriangles
from calderon.pairs.classes import Pairs, TouchingPairs, kept_with, near_pairs, touching_pairs
from calderon.pairs.near import restrict, restriction
from calderon.pairs.overlaps import refuse_overlaps
from calderon.pairs.rules import Batch, Wanted, batch_of, close_batches, special_rules
from calderon.pairs.tables import ProductTable
from calderon.quadrature import Quadrature

HELD = 2048
"""Touching and near pairs of a task whose moments are held at a time."""


class Renumbered(NamedTuple):
    """Data and places of the triangles of some pairs alone: of the test triangles from `first` on, and of those trial
    triangles that `position` (all,) numbers. What a form of curls reads of all triangles would exceed the estimate of
    memory."""

    first: int
    position: NDArray[np.int32]
    data: tuple[NDArray[np.float64], NDArray[np.float64]]
    places: tuple[NDArray[np.int64], NDArray[np.int64]]


class SpecialPart:
    """The touching and near pairs of a block; `Block` has the rest, and sets these attributes.

    by_rule: whether batches of special pairs are sorted by rule, not by test triangle. digits, mirrored: of
    pairs.rules.Wanted, unless pairs are coarse.
    """

    by_rule = False
    digits, mirrored = 6, False
    integrand: Integrand
    green: Any
    radial: Radial
    quadrature: Quadrature
    out: Any
    half: bool
    scale: float
    parameters: NDArray[np.float64]
    coefficients: NDArray[np.float64]
    data: Any
    test_space: Any
    trial_space: Any
    test: Selection
    trial: Selection
    test_surface: FlatTriangles
    trial_surface: FlatTriangles
    moments: tuple[Callable[..., None], Callable[..., None]]
    batches: list[Batch]

    @property
    def form(self) -> Form:
        """The form, which makes local matrices of moments."""
        raise NotImplementedError

    def form_data(self, test: bool, which: NDArray[Any]) -> NDArray[np.float64]:
        """(n, k) numbers that the form reads of some triangles of the test or of the trial side."""
        raise NotImplementedError

    def rows(self, lo: int, hi: int) -> Rows:
        """The rows of the matrix that test triangles lo up to, without, hi add to."""
        raise NotImplementedError

    def _moment_kernels(self, components: Components) -> tuple[Callable[..., None], Callable[..., None]]:
        """The compiled moments of touching and of near pairs."""
        given = self.radial, components, self.green.is_complex
        return moment_kernel(*given), product_kernel(*given)

    def _special_pairs(self) -> tuple[list[Batch], NDArray[np.int32]]:
        """Batches of touching and near pairs, and the list (n, 2) of all of them for the regular part to leave out."""
        touching, pairs, ratio = self._found()
        special = np.concatenate([touching.pairs, pairs])
        touching, pairs = touching._replace(pairs=special[: len(touching.pairs)]), special[len(touching.pairs) :]
        batches = self._batches(self._acting(touching), pairs, ratio)
        return [each for each in batches if each.rules.size], special

    def _found(self) -> tuple[TouchingPairs, NDArray[np.int32], NDArray[np.float32]]:
        """Touching pairs, near pairs and the ratio of distance to size of these; those of whole spaces on one mesh are
        kept with it."""
        sides = (self.test_space, self.test), (self.trial_space, self.trial)
        whole = all(len(chosen.triangles) == len(space.triangles) for space, chosen in sides)
        if not whole or self.test_space.mesh is not self.trial_space.mesh:
            return self._searched()
        numbers = [space.triangles[chosen.triangles].tobytes() for space, chosen in sides]
        key = *numbers, self.half, self.quadrature.reach(self._coarse())
        return kept_with(self.test_space.mesh, key, self._searched)

    def _searched(self) -> tuple[TouchingPairs, NDArray[np.int32], NDArray[np.float32]]:
        """The pairs of `_found`, by a search."""
        spaces, chosen = (self.test_space, self.trial_space), (self.test.triangles, self.trial.triangles)
        ids = vertex_numbers(spaces[0], chosen[0], spaces[1], chosen[1])
        touching = touching_pairs(ids[0], ids[1], self.half)
        corners = self.test_surface.corners, self.trial_surface.corners
        pairs, ratio = near_pairs(*corners, ids, self.quadrature.reach(self._coarse()), self.half)
        refuse_overlaps(spaces, chosen, corners, touching, pairs, ratio)
        return touching, pairs, ratio.astype(np.float32)

    def _acting(self, touching: TouchingPairs) -> TouchingPairs:
        """The touching pairs whose integrals do not all vanish. Those of a triangle with itself do if all components
        have the factor d . n, which is 0 in one plane; rounding would leave 1e-6 of the entries of needles."""
        return touching.part(touching.shared < 3) if self._vanishing else touching

    @property
    def _vanishing(self) -> bool:
        """Whether integrals over a triangle and itself are zero."""
        return all(each.vanishes_in_a_plane for each in self.form.special)

    def _batches(self, touching: TouchingPairs, pairs: NDArray[np.int32], ratio: NDArray[np.float32]) -> list[Batch]:
        """Batches of touching pairs, of near pairs (n, 2) at that ratio of distance to size, and of parts of pairs if
        there are any. Both orders of a pair get the same points."""
        backward = self._backward(touching.pairs), self._backward(pairs)
        x, y = self.test_surface.corners, self.trial_surface.corners
        elements, wanted, real = (self.test_space.element, self.trial_space.element), self.wanted, self._rule_type
        power = wanted.power
        rules = special_rules(touching, pairs, ratio, x, y, backward, wanted)
        whole = [batch_of(each, elements, power, real, None, self.by_rule) for each in (rules.touching, rules.near)]
        whole += close_batches(rules.close, wanted, self.by_rule)
        return [*whole, batch_of(rules.pieces, elements, power, real, rules.parts, self.by_rule)]

    @property
    def wanted(self) -> Wanted:
        """Requirements of the rules of touching and near pairs."""
        power, coarse = self.form.power(self.radial), self._coarse()
        degree = self.test_space.element.degree + self.trial_space.element.degree
        wavenumber, digits = abs(complex(self.green.wavenumber)) / self.scale, 5 if coarse else self.digits
        return Wanted(self.quadrature.touching(power, coarse), wavenumber, power, degree, digits, self.mirrored)

    @property
    def _rule_type(self) -> type[np.floating]:
        """Type of the tables of rules: moments have the product of two areas, which single precision holds from 1e-12
        of a mesh of unit size on."""
        least = min(each.jacobian.min(initial=1.0) for each in (self.test_surface, self.trial_surface))
        return np.float32 if self._coarse() and least > 1e-12 else np.float64

    def _single(self) -> bool:
        """Whether the matrix is in single precision."""
        return bool(np.empty(0, self.out.dtype).real.dtype == np.float32)

    def _coarse(self) -> bool:
        """Whether touching and near pairs need fewer digits: in single precision, but for quadratic functions, where
        the rule of distant pairs begins later."""
        return self._single() and self.test_space.element.degree + self.trial_space.element.degree < 3

    def _backward(self, pairs: NDArray[np.int32]) -> NDArray[np.bool_]:
        """(n,) where the test triangle has the larger number in the mesh: a pair has one rule in all matrices, in
        whatever order these take triangles."""
        (mesh, first), (other, second) = self.triangles_of_sides
        found = np.zeros(len(pairs), np.bool_)
        if mesh is other:
            _mark_larger(first, second, pairs, found)
        return found

    @functools.cached_property
    def triangles_of_sides(self) -> tuple[tuple[Any, NDArray[np.int64]], ...]:
        """Mesh and triangles of the test and of the trial side."""
        test = self.test_space.mesh, self.test_space.triangles[self.test.triangles]
        if self.trial_space is self.test_space and self.trial is self.test:
            return test, test
        return test, (self.trial_space.mesh, self.trial_space.triangles[self.trial.triangles])

    def _add_special_between(self, bounds: NDArray[np.int64], rows: Rows | None = None) -> None:
        """The touching and near pairs of the test triangles between two bounds."""
        lo, hi = (int(each) for each in bounds)
        target, parts = rows or self.rows(lo, hi), [batch.between(lo, hi) for batch in self.batches]
        local = self._renumbered(lo, hi, parts, target) if self.integrand.curls and parts else None
        for part in parts:
            for start in range(0, len(part.rules), HELD):
                self._add_pairs(part.part(slice(start, start + HELD)), target, local)

    def _renumbered(self, lo: int, hi: int, parts: list[Batch], rows: Rows) -> "Renumbered":
        """The triangles of the pairs of some batches, whose test triangles are from `lo` to before `hi`."""
        trials = np.unique(np.concatenate([part.pairs.triangles[:, 1] for part in parts]))
        position = np.empty(len(self.trial.triangles), np.int32)
        position[trials] = np.arange(len(trials), dtype=np.int32)
        data = self.form_data(True, np.arange(lo, hi)), self.form_data(False, trials)
        return Renumbered(lo, position, data, (rows.places[lo:hi], self.trial.places[trials]))

    def _add_pairs(self, batch: Batch, rows: Rows, local: "Renumbered | None") -> None:
        """Add all pairs of a batch; local: what is known of their triangles alone."""
        moments, pairs = self._all_moments(batch), batch.pairs
        if local is None:
            self._scatter(moments, pairs, self.data, rows.places, self.trial.places, rows.out, self.half)
            return
        i, j = pairs.triangles.T
        moments[:, :, (i == j) & self.half] *= 0.5
        pairs = pairs._replace(triangles=np.stack([i - np.int32(local.first), local.position[j]], axis=1))
        self._scatter(moments, pairs, local.data, *local.places, rows.out, False)

    def _scatter(
        self, moments: Any, pairs: Any, data: Any, rows: Any, columns: Any, out: NDArray[Any], half: bool
    ) -> None:
        """Add the local matrices of pairs with these moments (components, 2, n, A, B); arguments as of `scatter`."""
        elements = self.test_space.element, self.trial_space.element
        scatter(self.form, moments, pairs, elements, data, (rows, columns), self.coefficients, half, out)

    def _all_moments(self, batch: Batch, components: Components | None = None) -> NDArray[np.float64]:
        """(components, 2, n, A, B) real and imaginary integrals of components, those of the form for None, with test
        and trial functions of the n pairs of a batch, numbered in the order of its rule."""
        components = components or self.form.special
        surfaces, pairs = (self.test_surface, self.trial_surface), batch.pairs
        elements = self.test_space.element, self.trial_space.element
        count = len(pairs.triangles)
        # close pairs by lines; parts of triangles as triangles of their own
        if batch.close is not None:
            integral = Integral(self.radial, components, self.green.is_complex, self.parameters)
            return close_moments(batch.close, integral, *surfaces, pairs.triangles, elements)
        if batch.parts is not None:
            sides = zip(surfaces, pairs.triangles.T, batch.parts, strict=True)
            surfaces = tuple(side.parts(*cut) for side, *cut in sides)  # type: ignore[assignment]
            pairs = Pairs(np.repeat(np.arange(count, dtype=np.int32)[:, None], 2, axis=1), *pairs[1:])
        matrices = np.zeros((len(components), 2, count, elements[0].size, elements[1].size))
        # the loop of the kind of rule
        touching, product = self.moments
        if isinstance(batch.tables, ProductTable):
            run, scratch = product, product_scratch(batch.tables, 2 * len(components))
        else:
            run, scratch = touching, moment_scratch(batch.tables, len(components))
        run(*surfaces, pairs, batch.rules, batch.tables, self.parameters, scratch, matrices)
        if batch.parts is not None:
            whole = [restriction(*each) for each in zip(elements, batch.parts, strict=True)]
            for each in matrices:
                restrict(*whole, each)
        return matrices


@kernel
def _mark_larger(first, second, pairs, found):
    """Mark in found (n,) the pairs (n, 2) whose number in `first` is larger than that in `second`."""
    for n in range(len(pairs)):
        found[n] = first[pairs[n, 0]] > second[pairs[n, 1]]
