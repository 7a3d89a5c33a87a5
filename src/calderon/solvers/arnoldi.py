"""One Krylov space with its orthonormal basis, and the least-squares problem that GMRES solves in it.

Arnoldi:  B V_j = V_{j+1} H_j,  V^* V = I,  H upper Hessenberg;  GMRES takes x = V_j y with y minimising
|beta e_1 - H_j y|, by Givens rotations that give the residual of each step without forming x (Saad, Iterative Methods
for Sparse Linear Systems, 2003, section 6.5).

The basis is orthogonalised by classical Gram-Schmidt, repeated when more than 1 - 1/sqrt(2) of the vector cancelled
("twice is enough", Daniel, Gragg, Kaufman and Stewart 1976), so that it stays orthonormal to rounding and its cost is
matrix-vector products of BLAS on rows that lie one after another.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from calderon.backends import one_thread
from calderon.solvers.system import norm, require_finite


class Basis:
    """Orthonormal vectors (n,) in rows that lie one after another, any number of them.

    length: n. limit: the number of steps at most, None where it is not known. blocks: arrays of `rows` vectors each,
    the last one in part unused. size: number of vectors.
    """

    def __init__(self, length: int, dtype: np.dtype, limit: int | None):
        self.dtype, self.length = dtype, length
        self.rows = 32 if limit is None else min(limit + 1, 64)  # allocated at a time
        self.blocks: list[Any] = []
        self.size = 0

    @property
    def newest(self) -> Any:
        """The last vector."""
        return self.blocks[-1][(self.size - 1) % self.rows]

    def append(self, vector: Any, divisor: float) -> None:
        """Append vector / divisor to the basis."""
        if self.size % self.rows == 0:
            self.blocks.append(np.empty((self.rows, self.length), self.dtype))
        np.divide(vector, divisor, out=self.blocks[-1][self.size % self.rows])
        self.size += 1

    def orthogonalise(self, vector: Any) -> np.ndarray:
        """Coefficients V^* w (size,); the component in the space is subtracted from w."""
        coefficients = np.empty(self.size, self.dtype)
        for block, part in self._parts(coefficients):
            part[:] = self._coefficients(block, len(part), vector)
        for block, part in self._parts(coefficients):
            self._add(vector, block, -part)
        return coefficients

    def combination(self, coefficients: np.ndarray) -> np.ndarray:
        """V y (n,) on the host."""
        total = self.from_host(np.zeros(self.length, self.dtype))
        for block, part in self._parts(coefficients):
            self._add(total, block, part)
        return self.to_host(total)

    def from_host(self, vector: np.ndarray) -> Any:
        """A vector (n,) of the host as those that the basis accepts."""
        return vector

    def to_host(self, vector: Any) -> np.ndarray:
        """The inverse of `from_host`."""
        return np.asarray(vector)

    def norm(self, vector: Any) -> float:
        """Euclidean norm."""
        return norm(vector)

    def _parts(self, coefficients: np.ndarray) -> Iterator[tuple[Any, np.ndarray]]:
        """Each block with the numbers of its vectors."""
        for b, block in enumerate(self.blocks):
            part = coefficients[b * self.rows : (b + 1) * self.rows]
            if len(part):
                yield block, part

    def _coefficients(self, block: Any, count: int, vector: Any) -> np.ndarray:
        """V^* w (count,) of the first vectors of a block."""
        # conjugating the short vectors instead of the basis avoids a copy of the basis
        with one_thread:
            return (block[:count] @ vector.conj()).conj()

    def _add(self, vector: Any, block: Any, coefficients: np.ndarray) -> None:
        """vector += coefficients @ block."""
        with one_thread:
            vector += coefficients @ block[: len(coefficients)]


class KrylovSpace:
    """A Krylov space that grows by one vector a step.

    start (n,): the initial residual, on the host; beta: its norm. basis: empty at first. exhausted: whether the
    products of the space lie in it.
    """

    def __init__(self, start: np.ndarray, basis: Basis):
        self.beta = norm(start)
        self.steps = 0
        self.exhausted = False
        self.basis = basis
        self._triangle: list[list[complex]] = []  # columns of R
        self._rotations: list[tuple[float, complex]] = []
        self._rhs: list[complex] = [self.beta]  # Q beta e_1
        basis.append(basis.from_host(start), self.beta)

    @property
    def residual(self) -> float:
        """Norm of the least-squares residual after the steps taken."""
        return abs(self._rhs[-1])

    @property
    def condition(self) -> float:
        """The condition number of the operator in the space, that of R: below that of the whole operator, near to it
        where the solution has a part along the smallest singular vector."""
        values = np.linalg.svd(self._matrix(), compute_uv=False)
        return np.inf if values[-1] == 0 else float(values[0] / values[-1])

    def extend(self, image: Any) -> float:
        """Accept B v for the newest v (overwritten), return the new residual norm.

        The space is exhausted when B v lies in it: then it holds the solution, unless B is singular.
        """
        basis = self.basis
        before = basis.norm(image)
        require_finite(before)
        column = basis.orthogonalise(image)
        after = basis.norm(image)
        if after < before * math.sqrt(0.5):
            column += basis.orthogonalise(image)
            after = basis.norm(image)
        if after <= 8 * np.finfo(float).eps * before:
            after, self.exhausted = 0.0, True
        self._rotate([*column.tolist(), after])
        self.steps += 1
        if not self.exhausted:
            basis.append(image, after)
        return self.residual

    def combination(self) -> np.ndarray:
        """The minimiser V y (n,) in the space."""
        triangle = self._matrix()
        rhs = np.array(self._rhs[:-1], triangle.dtype)
        if np.any(triangle.diagonal() == 0):  # a singular operator; the residual shows it
            y = np.linalg.lstsq(triangle, rhs)[0]
        else:
            y = np.linalg.solve(triangle, rhs)
        return self.basis.combination(y)

    def _matrix(self) -> np.ndarray:
        """R (steps, steps)."""
        triangle = np.zeros((self.steps, self.steps), self.basis.dtype)
        for j, column in enumerate(self._triangle):
            triangle[: j + 1, j] = column
        return triangle

    def _rotate(self, column: list[complex]) -> None:
        for i, (c, s) in enumerate(self._rotations):
            upper, lower = column[i], column[i + 1]
            column[i] = c * upper + s * lower
            column[i + 1] = c * lower - s.conjugate() * upper
        upper, lower = column[-2], column[-1]
        length = math.hypot(abs(upper), abs(lower))
        if length == 0:
            c, s = 1.0, 0.0
        elif upper == 0:
            c, s = 0.0, 1.0
        else:
            phase = upper / abs(upper)
            c, s = abs(upper) / length, phase * lower.conjugate() / length
        column[-2] = c * upper + s * lower
        self._triangle.append(column[:-1])
        self._rotations.append((c, s))
        last = self._rhs.pop()
        self._rhs += [c * last, -s.conjugate() * last]
