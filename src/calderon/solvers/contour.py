"""Eigenvalues within an ellipse of a matrix that depends on a complex number, from solutions along the ellipse.

W.-J. Beyn, Linear Algebra Appl. 436 (2012) 3839: with random columns R and nodes z_j of the trapezoidal rule,

    A0 = 1/(2 pi i) int A(z)^-1 R dz,   A1 = 1/(2 pi i) int z A(z)^-1 R dz,   A0 = U S W*,

the eigenvalues of U* A1 W S^-1 are those of A(z) x = 0 within, U times its eigenvectors the vectors x. What lies just
outside is not integrated to zero and appears, too.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

Complex = NDArray[np.complex128]
NODES = 32
"""Nodes on an ellipse: an eigenvalue one and a half widths from the centre leaks in by 2e-9 for a height of 0.2."""
LEAST = 1e-7
"""Singular values, relative to the sum of the sizes along the contour, that count: smaller ones are errors of
solutions, and what leaks in."""


@dataclass(frozen=True)
class Ellipse:
    """The ellipse about the interval from low to high on the real axis, 10 % wider than it. height: its half height
    over its half width."""

    low: float
    high: float
    height: float

    @property
    def centre(self) -> float:
        """The middle of the interval."""
        return 0.5 * (self.low + self.high)

    @property
    def half_width(self) -> float:
        """Half the long axis."""
        return 0.55 * (self.high - self.low)

    def nodes(self, count: int) -> tuple[Complex, Complex]:
        """Nodes z (count,) and weights (count,) of 1/(2 pi i) int dz."""
        angle = 2 * np.pi * (np.arange(count) + 0.5) / count
        a, b = self.half_width, self.height * self.half_width
        slope = -a * np.sin(angle) + 1j * b * np.cos(angle)
        return self.centre + a * np.cos(angle) + 1j * b * np.sin(angle), slope / (1j * count)

    def contains(self, z: Complex) -> NDArray[np.bool_]:
        """Whether numbers (n,) lie within the ellipse and, by their real parts, within the interval."""
        across = (z.real - self.centre) / self.half_width, z.imag / (self.height * self.half_width)
        return (np.hypot(*across) < 1) & (z.real >= self.low) & (z.real <= self.high)


def eigenpairs(
    solved: Callable[[complex, NDArray[Any]], NDArray[Any]],
    size: int,
    contour: Ellipse,
    columns: int,
) -> tuple[Complex, Complex]:
    """Eigenvalues (m,) within a contour, by their real parts, and vectors (size, m) of unit length.

    solved: A(z)^-1 R of a complex number z and columns R (size, n). size: of the matrix. columns: of R at first, more
    than the expected eigenvalues with their multiplicities; where they do not suffice, they are doubled.
    """
    generator = np.random.default_rng(0)
    while True:
        columns = min(columns, size)
        given = generator.standard_normal((size, columns)) + 1j * generator.standard_normal((size, columns))
        (zeroth, first), total = (np.zeros((size, columns), np.complex128) for _ in range(2)), 0.0
        for z, weight in zip(*contour.nodes(NODES), strict=True):
            found = weight * solved(complex(z), given)
            total += float(np.linalg.norm(found, axis=0).max())
            zeroth += found
            first += (z - contour.centre) / contour.half_width * found  # about the centre: less cancels
        left, sizes, right = scipy.linalg.svd(zeroth, full_matrices=False)
        rank = int(np.count_nonzero(sizes > LEAST * total))
        if rank < columns or columns == size:
            break
        columns *= 2
    if not rank:
        return np.zeros(0, np.complex128), np.zeros((size, 0), np.complex128)
    reduced = left[:, :rank].conj().T @ first @ right[:rank].conj().T / sizes[:rank]
    values, vectors = scipy.linalg.eig(reduced)
    values = contour.centre + contour.half_width * values
    vectors = left[:, :rank] @ vectors
    kept = np.flatnonzero(contour.contains(values))
    kept = kept[np.argsort(values[kept].real)]
    return values[kept], vectors[:, kept] / np.linalg.norm(vectors[:, kept], axis=0)
