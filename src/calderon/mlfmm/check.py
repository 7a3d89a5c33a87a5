"""Rows of a matrix that are computed directly, with which products by plane waves are compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.mlfmm.medium import Medium, errors_of_rows
from calderon.operators.algebra import BoundaryOperator, integrals_of
from calderon.operators.tree import terms_of

CHECKED, ENTRIES, ROOM = (64, 1024), 1.8e6, 256_000_000
"""Random rows of the matrix that are computed directly, too, and bytes of them at most, unless one takes more."""
SMALL, EXTREME = 2e-5, 0.5
"""Tolerance below which so many of the checked rows are those whose errors are likely the largest, not random ones."""
RANDOM = 3
"""Random vectors with which rows are checked, in addition to a plane wave."""
NOISE = 0.1
"""Part of a tolerance that rounding to single precision may have; numbers are in double precision above."""
LONG, FEW = 0.25, 8
"""Longest edge times the wavenumber below which fields may cancel so much, and rows that tell."""
DIRECTION = np.array([0.36, 0.48, 0.8])
"""Of the plane wave with which rows are checked."""


@dataclass(frozen=True)
class Check:
    """Rows of the matrix, of how many each is one, vectors (n, RANDOM + 1), of which the last one is a plane wave, and
    their products with these rows."""

    rows: NDArray[np.int64]
    counts: NDArray[np.float64]
    vectors: NDArray[np.complex128]
    exact: NDArray[np.complex128]
    entries: NDArray[Any]

    @staticmethod
    def of(
        operator: BoundaryOperator, rtol: float, double: bool, terms: Sequence[Any] = (), limit: int = CHECKED[1]
    ) -> "Check":
        """double: precision of the entries; terms: of `errors_of_rows`, for tolerances below SMALL; limit: rows at
        most."""
        random, (count, size) = np.random.default_rng(0), operator.shape
        most = min(count, limit, max(1, min(int(np.clip(ENTRIES / size, *CHECKED)), ROOM // (16 * size))))
        extreme = np.zeros(0, np.int64)
        if rtol < SMALL and most < count:
            extreme = np.argsort(-errors_of_rows(terms, count), kind="stable")[: int(EXTREME * most)]
        others = np.setdiff1d(np.arange(count), extreme)
        rows = np.concatenate([extreme, random.choice(others, most - len(extreme), replace=False)])
        counts = np.repeat([1.0, len(others) / (most - len(extreme))], [len(extreme), most - len(extreme)])
        order = np.argsort(rows)
        rows, counts = rows[order], counts[order]
        k = max(abs(complex(each.green.wavenumber)) for each, _ in integrals_of(operator))
        places = np.zeros((size, 3))
        for term in terms_of(operator):
            space: Any = getattr(term.atom, "test" if term.transposed else "trial", None)
            if hasattr(space, "dofs"):
                places[term.left : term.left + space.dimension] = space.boxes.mean(axis=1)
        vectors = np.empty((size, RANDOM + 1), complex)
        vectors[:, :RANDOM] = random.standard_normal((size, RANDOM)) + 1j * random.standard_normal((size, RANDOM))
        vectors[:, RANDOM] = np.exp(1j * k * (places @ DIRECTION))
        entries = operator.entries(rows, slice(None), precision="double" if double else "single")
        return Check(rows, counts, vectors, entries @ vectors, entries)

    @property
    def rounding(self) -> float:
        """Relative error of products with the plane wave, or with random vectors, if entries are rounded to single
        precision: it is large where fields cancel, as those of hypersingular operators and long waves do."""
        sizes, roundings = np.abs(self.vectors) ** 2, np.empty(2)
        total = np.sqrt(np.abs(self.entries) ** 2 @ sizes)
        for n, own in enumerate((slice(0, RANDOM), slice(RANDOM, None))):
            norm = np.linalg.norm(self.exact[:, own])
            roundings[n] = np.linalg.norm(total[:, own]) / norm if norm > 0 else 0.0
        return float(np.finfo(np.float32).eps / 2 * roundings.max())

    def near_part(self, media: Sequence[Medium], local: sp.csr_array | None) -> NDArray[np.complex128] | None:
        """What near entries are to add to products, those of `local` apart; None where there is no single medium, or
        not all terms are plain."""
        if local is None or len(media) != 1:
            return None
        medium, total = media[0], np.empty_like(self.exact)
        leaves = medium.leaf[medium.sites.columns]
        pairs = medium.lists.near_pairs[np.argsort(medium.lists.near_pairs[:, 0], kind="stable")]
        starts = np.searchsorted(pairs[:, 0], np.arange(len(medium.lists.leaves) + 1))
        for n, leaf in enumerate(medium.leaf[medium.sites.rows[self.rows]]):
            is_near = np.zeros(len(medium.lists.leaves) + 1, bool)  # the last one of unknowns in no leaf
            is_near[pairs[starts[leaf] : starts[leaf + 1], 1]] = True
            own = np.flatnonzero(is_near[leaves])
            total[n] = self.entries[n, own] @ self.vectors[own]
        return np.asarray(total - local[self.rows] @ self.vectors)

    def products(self, product: LinearOperator) -> NDArray[Any]:
        """Of the checked rows."""
        return np.asarray(product.matmat(self.vectors)[self.rows])

    def error(self, found: NDArray[Any]) -> float:
        """The larger relative error of products with random vectors, all together, and with the plane wave."""
        errors, weights = [], np.sqrt(self.counts)[:, None]
        for own in (slice(0, RANDOM), slice(RANDOM, None)):
            change, norm = (np.linalg.norm(weights * each[:, own]) for each in (found - self.exact, self.exact))
            errors.append(change / norm if norm > 0 else change)
        return float(max(errors))


def cancels(operator: BoundaryOperator, rtol: float) -> bool:
    """Whether numbers in single precision lose a tolerance because fields cancel, from a few rows; those of waves that
    are short against the edges do not."""
    phases = (
        abs(complex(each.green.wavenumber)) * float(side.mesh.diameters.max())
        for each, _ in integrals_of(operator)
        for side in (each.test, each.trial)
    )
    return min(phases) < LONG and Check.of(operator, rtol, False, limit=FEW).rounding > NOISE * rtol
