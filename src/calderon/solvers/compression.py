"""Many right-hand sides as combinations of few: b_j = |b_j| (Q c_j + e_j), Q orthonormal, |e_j| below a tolerance.

The plane waves of a sweep over angles hardly leave a space of about ka + 10 dimensions. Columns are orthogonalised in
the order of what is left of them (Gram-Schmidt with pivots, G. H. Golub and C. F. Van Loan, Matrix Computations, 2013,
section 5.4.2), some at a time so that they need not be in memory together, and the smallest singular values go last.
"""

import numpy as np
from numpy.typing import NDArray


class CompressedSides:
    """Right-hand sides b_j = |b_j| (Q c_j + e_j); `add` brings them in turn.

    rows (r, n): Q transposed. coefficients (r, m): c_j. sizes (m,): |b_j|. errors (m,): bounds of |e_j|.
    """

    def __init__(self, tolerance: float) -> None:
        self.tolerance = tolerance
        self.rows: NDArray[np.complex128] = np.zeros((0, 0), np.complex128)
        self.coefficients: NDArray[np.complex128] = np.zeros((0, 0), np.complex128)
        self.sizes: NDArray[np.float64] = np.zeros(0)
        self.errors: NDArray[np.float64] = np.zeros(0)

    @property
    def rank(self) -> int:
        """Number of columns of Q."""
        return len(self.rows)

    def add(self, sides: NDArray[np.complex128]) -> None:
        """Append right-hand sides (n, s)."""
        sizes = np.linalg.norm(sides, axis=0)
        rest = np.ascontiguousarray((sides / np.where(sizes > 0, sizes, 1)).T)
        rows = self.rows if self.rank else np.zeros((0, rest.shape[1]), np.complex128)
        known = orthogonalise(rest, rows)
        fresh, found, count = np.empty_like(rest), np.zeros((len(rest), len(rest)), np.complex128), 0
        # half of the tolerance is left for singular values that are dropped
        while count < len(rest) and (left := np.linalg.norm(rest, axis=1)).max() > 0.5 * self.tolerance:
            new = rest[left.argmax()] / left.max()
            for others in (rows, fresh[:count]):
                orthogonalise(new[None], others)
            fresh[count] = new / np.linalg.norm(new)
            found[count] = rest @ fresh[count].conj()
            rest -= found[count][:, None] * fresh[count]
            count += 1
        fresh, found = fresh[:count], found[:count]
        above = np.pad(self.coefficients, ((0, count), (0, 0)))
        own = np.concatenate([known, found])
        self.coefficients = np.concatenate([above.reshape(len(own), -1), own], axis=1)
        self.rows = np.concatenate([rows, fresh])
        self.sizes = np.append(self.sizes, sizes)
        self.errors = np.append(self.errors, np.linalg.norm(rest, axis=1))

    def truncate(self) -> None:
        """Drop the smallest singular values of Q (c_1 c_2 ..) that the tolerance allows."""
        left, values, right = np.linalg.svd(self.coefficients, full_matrices=False)
        weights = values[:, None] * right
        tails = np.cumsum((np.abs(weights) ** 2)[::-1], axis=0)[::-1]  # of what is dropped from each row on
        errors = self.errors + np.sqrt(np.concatenate([tails, np.zeros((1, tails.shape[1]))]))
        rank = int(np.argmax((errors <= np.maximum(self.tolerance, self.errors)).all(axis=1)))
        self.rows, self.coefficients = left[:, :rank].T @ self.rows, weights[:rank]
        self.errors = errors[rank]


def orthogonalise(vectors: NDArray[np.complex128], rows: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """Coefficients (k, s) of vectors (s, n) in orthonormal rows (k, n), whose part is subtracted from the vectors:
    twice, so that what is left is orthogonal to rounding."""
    total = np.zeros((len(rows), len(vectors)), np.complex128)
    for _ in range(2 if len(rows) else 0):
        part = (rows @ vectors.conj().T).conj()
        vectors -= part.T @ rows
        total += part
    return total
