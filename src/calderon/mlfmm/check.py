"""Rows of a matrix that are computed directly, with which products by plane waves are compared."""

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np
import scipy
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends import Device, DeviceMatrix
from calderon.mlfmm.medium import Medium
from calderon.mlfmm.points import centres_of
from calderon.mlfmm.spectrum import Array
from calderon.operators.algebra import BoundaryOperator
from calderon.operators.products import SandwichProduct, SumOfProducts
from calderon.operators.sparse_factors import boxes_of, has_places
from calderon.operators.tree import Index, Term, integrals_of, terms_of
from calderon.products.check import ROWS, Check, checked_rows
from calderon.products.near_filling import inside_runs

SMALL = 2e-5
"""Tolerance below which half of the checked rows are those with the largest expected errors, not random ones."""
NOISE = 0.1
"""Part of a tolerance that rounding to single precision may have; numbers are in double precision above."""
RANDOM = 3
"""Random vectors with which rows are checked, in addition to a plane wave."""


def rows_checked(shape: tuple[int, int]) -> int:
    """Rows of a matrix that are computed directly: as many as have 1.8 million entries, which say what the error is to
    a tenth at least and take as long as a few products, and 256 MB at most unless one row takes more. Of a matrix with
    fewer rows than columns, whose products take less, they are that share of its rows."""
    count, size = shape
    many = 1.8e6 / size * min(1.0, count / size)
    return min(count, max(1, min(int(np.clip(many, ROWS, 1024)), 256_000_000 // (16 * size))))


class WaveCheck(NamedTuple):
    """The check of an operator of waves. check: exact products of some rows with random vectors, which have one error
    together, and with a plane wave; entries (rows, n): of these rows, on a device if that has computed them."""

    check: Check
    entries: NDArray[Any] | DeviceMatrix

    @staticmethod
    def of(
        operator: BoundaryOperator, rtol: float, double: bool, terms: Sequence[Any] = (), limit: int | None = None,
        devices: Sequence[Device] = (),
    ) -> "WaveCheck":  # fmt: skip
        """The check of rows of an operator, at most `limit` if given; double: whether their entries are in double
        precision. For tolerances below SMALL a part of them is where the errors of `terms`, see `errors_of_rows`, are
        largest, and weights say of how many rows the others are samples. devices: the first
        one computes entries, if one has kernels for all of them."""
        random, (count, size) = np.random.default_rng(0), operator.shape
        known = rows_of_integrals(operator)
        widest = max([size, *(each.trial.dimension for each in integrals_of(operator))])  # with images of functions
        most = min(rows_checked((count, widest)), limit or count, len(known))
        extreme = np.zeros(0, np.int64)
        if rtol < SMALL and most < len(known):
            extreme = known[np.argsort(-errors_of_rows(terms, count)[known], kind="stable")[: most // 2]]
        others = np.setdiff1d(known, extreme)
        rows = np.concatenate([extreme, random.choice(others, most - len(extreme), replace=False)])
        weights = np.repeat([1.0, len(others) / (most - len(extreme))], [len(extreme), most - len(extreme)])
        order = np.argsort(rows)
        rows, weights = rows[order], weights[order]
        vectors = np.empty((size, RANDOM + 1), complex)
        vectors[:, :RANDOM] = random.standard_normal((size, RANDOM)) + 1j * random.standard_normal((size, RANDOM))
        vectors[:, RANDOM] = plane_wave(operator)
        real = np.dtype(np.float64 if double else np.float32)
        entries, exact = checked_rows(operator, integrals_of(operator), rows, real, devices, vectors)
        groups = np.repeat([0, 1], [RANDOM, 1])
        return WaveCheck(Check(rows, vectors, exact, groups, weights), entries)

    @property
    def rounding(self) -> float:
        """Relative error of products with the plane wave, or with random vectors, if entries are rounded to single
        precision: it is large where fields cancel, as those of hypersingular operators and long waves do. Vectors have
        sizes that do not depend on the column."""
        vectors, entries = self.check.vectors, cast("Any", self.entries)
        if isinstance(entries, DeviceMatrix):
            squares = entries.square_sums()
        else:
            squares = np.square(entries.real).sum(axis=1) + np.square(entries.imag).sum(axis=1)
        total = np.sqrt(np.outer(squares, (vectors.real**2 + vectors.imag**2).mean(axis=0)))
        sizes, norms = self.check.norms(total), self.check.norms(self.check.exact)
        return float(np.finfo(np.float32).eps / 2 * (sizes[norms > 0] / norms[norms > 0]).max(initial=0.0))

    def near_part(self, media: Sequence[Medium], local: sp.csr_array | None) -> NDArray[np.complex128] | None:
        """(rows, vectors) products of the exact entries between neighbouring leaves, without those of `local`; None
        where there is no single medium, or not all terms are plain."""
        if local is None or len(media) != 1:
            return None
        medium, rows, entries = media[0], self.check.rows, self.entries
        lists, columns = medium.lists, medium.clusters(medium.leaf[medium.sites.columns])
        # the columns of each row: those of the leaves next to its own, if it has one
        near = [np.zeros(0, np.int64)]
        for leaf in medium.leaf[medium.sites.rows[rows]]:
            found = lists.near[lists.near_start[leaf] : lists.near_start[leaf + 1]] if leaf >= 0 else ()
            near.append(np.concatenate([near[0], *(columns.order[columns.start[n] : columns.stop[n]] for n in found)]))
        ends, own = np.cumsum([len(each) for each in near]), np.concatenate(near)
        which = np.repeat(np.arange(len(rows)), np.diff(ends))
        values = entries.taken(which, own) if isinstance(entries, DeviceMatrix) else entries[which, own]
        apart = np.asarray(local[rows[which], own]).ravel()  # sparse entries may stand where no leaves are neighbours
        exact = sp.csr_array((values - apart, own, ends), (len(rows), len(self.check.vectors)))
        return np.asarray(exact @ self.check.vectors, complex)

    def error(self, found: NDArray[Any]) -> float:
        """The larger relative error of products (rows, vectors) with random vectors, and with the plane wave."""
        return float(self.check.errors(found).max())


def rows_of_integrals(operator: BoundaryOperator) -> Index:
    """The rows of an expression in which an integral stands: of blocks some may be sparse, and exact in every product,
    so that the products of these would hide the errors of the others."""
    found = np.zeros(operator.shape[0], bool)
    for term in terms_of(operator):
        if any(True for _ in term.atom.integrals()):
            found[term.top : term.top + term.shape[0]] = True
    return np.flatnonzero(found)


def errors_of_rows(terms: Sequence[tuple[Term, Any]], count: int) -> Array:
    """(count,) expected squared errors of the rows of a sum of terms, up to a common factor; terms: each with its
    product. Errors of terms are independent, so that their squares add; transposed terms are left out."""
    found = np.zeros(count)
    for term, value in terms:
        if not term.transposed:
            errors = _row_errors(value)
            found[term.top : term.top + len(errors)] += errors
    return found


def _row_errors(value: Any) -> Array:
    """(rows,) expected squared errors v of the rows of a product, up to a common factor (`likely_errors`).

    value: a medium; a sum of products; or sum_d L_d^T A R_d, where v_i = sum_d sum_j |L_d|_ji^2 v_j with those of A.
    Any other product, which has no plane waves, gives an empty array.
    """
    if isinstance(value, Medium):
        return likely_errors(value)
    if isinstance(value, SumOfProducts):
        return errors_of_rows(value.terms, value.shape[0])
    if isinstance(value, SandwichProduct):
        errors = _row_errors(value.inner)
        squares = [abs(each).multiply(abs(each)) for each in value.left or [sp.eye_array(len(errors))]]
        return np.asarray(sum((each.T @ errors for each in squares), np.zeros(value.shape[0])))
    return np.zeros(0)


def likely_errors(medium: Medium) -> Array:
    """(rows,) squared, up to a factor: the field at a function x in a leaf, of one y in a leaf at a distance R, has
    an error like (|x - y| / R)^12 / R for the points of their supports that are farthest apart, both from the
    centre of their leaf."""
    # middles of functions from the centres of their leaves, and their reach
    used = np.flatnonzero(np.isfinite(medium.sites.boxes[:, 0, 0]))
    centres, found = centres_of(medium.tree)[medium.lists.leaves], np.zeros(len(medium.sites.boxes))
    local, leaf = np.zeros((len(found), 3)), medium.leaf
    local[used] = medium.sites.boxes[used].mean(axis=1) - centres[leaf[used]]
    reach = np.zeros(len(found))
    reach[used] = np.linalg.norm(np.diff(medium.sites.boxes[used], axis=1)[:, 0], axis=1) / 2
    rows, columns = (medium.clusters(leaf[each]) for each in (medium.sites.rows, medium.sites.columns))
    targets, sources = medium.sites.rows[rows.order], medium.sites.columns[columns.order]
    edges = medium.tree.cube.edge * 0.5 ** medium.tree.level[medium.lists.leaves].astype(float)
    # sums over the functions of leaves that are close to a leaf, but no neighbours
    for n in np.flatnonzero(rows.stop > rows.start):
        distance = np.linalg.norm(centres - centres[n], axis=1)
        apart = distance < 4 * edges[n]  # within which such errors matter
        apart[medium.lists.near[medium.lists.near_start[n] : medium.lists.near_start[n + 1]]] = False
        own, other = targets[rows.start[n] : rows.stop[n]], sources[inside_runs(
            columns.start[apart], columns.stop[apart], len(sources))]  # fmt: skip
        square = distance[leaf[other]] ** 2
        gaps = scipy.spatial.distance.cdist(local[own], local[other]) + reach[own][:, None] + reach[other]
        found[own] = ((gaps**2 / square) ** 12 / square).sum(axis=1)
    return found[medium.sites.rows]


def plane_wave(operator: BoundaryOperator) -> NDArray[np.complex128]:
    """(n,) values exp(i k d . x) of a plane wave at the middles of the supports of all unknowns, on which products are
    checked; k: the largest |wavenumber| of the operator. Unknowns without a place get 1."""
    places, direction = np.zeros((operator.shape[1], 3)), np.array([0.36, 0.48, 0.8])
    for term in terms_of(operator):
        space: Any = term.atom.test if term.transposed else term.atom.trial
        if has_places(space):
            places[term.left : term.left + space.dimension] = boxes_of(space).mean(axis=1)
    k = max(abs(complex(each.green.wavenumber)) for each in integrals_of(operator))
    return np.asarray(np.exp(1j * k * (places @ direction)))


def cancels(operator: BoundaryOperator, rtol: float) -> bool:
    """Whether numbers in single precision lose a tolerance because fields cancel, from a few rows; those of waves that
    are short against the edges do not."""
    phases = (
        abs(complex(each.green.wavenumber)) * float(side.mesh.diameters.max())
        for each in integrals_of(operator)
        for side in (each.test, each.trial)
    )
    # a quarter is the longest edge times the wavenumber with which fields may cancel so much, and eight rows show it
    return min(phases) < 0.25 and WaveCheck.of(operator, rtol, False, limit=8).rounding > NOISE * rtol
