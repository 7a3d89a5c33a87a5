"""One Krylov space with its orthonormal basis, and the least-squares problem that GMRES solves in it.

Arnoldi:  B V_j = V_{j+1} H_j,  V^* V = I,  H upper Hessenberg;  GMRES takes x = V_j y with y minimising
|beta e_1 - H_j y|, by Givens rotations that give the residual of each step without forming x (Saad, Iterative Methods
for Sparse Linear Systems, 2003, section 6.5).

The basis is orthogonalised by classical Gram-Schmidt, repeated when more than 1 - 1/sqrt(2) of the vector cancelled
("twice is enough", Daniel, Gragg, Kaufman and Stewart 1976), so that it stays orthonormal to rounding and its cost is
matrix-vector products of BLAS on rows that lie one after another.
"""

import math

import numpy as np

from calderon.solvers.system import norm

ROWS = 32  # basis vectors allocated at a time when the number of steps is not known


class KrylovSpace:
    """Grows by one vector a step; `start` (n,) is the initial residual, `limit` the largest number of steps or None."""

    def __init__(self, start: np.ndarray, limit: int | None):
        self.beta = norm(start)
        self.steps = 0
        self.exhausted = False
        self._rows = ROWS if limit is None else min(limit + 1, 2 * ROWS)
        self._blocks: list[np.ndarray] = []
        self._triangle: list[list[complex]] = []  # columns of R
        self._rotations: list[tuple[float, complex]] = []
        self._rhs: list[complex] = [self.beta]  # Q beta e_1
        self._append(start / self.beta)

    @property
    def newest(self) -> np.ndarray:
        """The basis vector (n,) that the operator is to be applied to."""
        return self._blocks[-1][self.steps % self._rows]

    @property
    def residual(self) -> float:
        """Norm of the least-squares residual after the steps taken."""
        return abs(self._rhs[-1])

    def extend(self, image: np.ndarray) -> float:
        """Take B v for the newest v (overwritten), give the new residual norm.

        The space is exhausted when B v lies in it: then it holds the solution, unless B is singular.
        """
        before = norm(image)
        if not math.isfinite(before):
            raise ValueError(
                "the operator or the preconditioner gave NaN or infinity: "
                "look at the mesh for degenerate elements, and at the ranges of the numbers in single precision"
            )
        column = self._orthogonalise(image)
        after = norm(image)
        if after < before * math.sqrt(0.5):
            column += self._orthogonalise(image)
            after = norm(image)
        if after <= 8 * np.finfo(float).eps * before:
            after, self.exhausted = 0.0, True
        self._rotate([*column.tolist(), after])
        self.steps += 1
        if not self.exhausted:
            image /= after
            self._append(image)
        return self.residual

    def combination(self) -> np.ndarray:
        """The minimiser V y (n,) in the space."""
        triangle = np.zeros((self.steps, self.steps), self._blocks[0].dtype)
        for j, column in enumerate(self._triangle):
            triangle[: j + 1, j] = column
        rhs = np.array(self._rhs[:-1], triangle.dtype)
        if np.any(triangle.diagonal() == 0):  # a singular operator; the residual tells
            y = np.linalg.lstsq(triangle, rhs)[0]
        else:
            y = np.linalg.solve(triangle, rhs)
        total = np.zeros(self._blocks[0].shape[1], y.dtype)
        for b, block in enumerate(self._blocks):
            part = y[b * self._rows : (b + 1) * self._rows]
            total += part @ block[: len(part)]
        return total

    def _append(self, vector: np.ndarray) -> None:
        if self.steps % self._rows == 0:
            self._blocks.append(np.empty((self._rows, len(vector)), vector.dtype))
        self._blocks[-1][self.steps % self._rows] = vector

    def _orthogonalise(self, image: np.ndarray) -> np.ndarray:
        """Coefficients V^* w (steps + 1,); w loses its part in the space."""
        known = self.steps + 1
        coefficients = np.empty(known, image.dtype)
        conjugate = image.conj()
        for b, block in enumerate(self._blocks):
            rows = block[: min(self._rows, known - b * self._rows)]
            # conjugating the short result instead of the basis avoids a copy of the basis
            coefficients[b * self._rows : b * self._rows + len(rows)] = (rows @ conjugate).conj()
        for b, block in enumerate(self._blocks):
            part = coefficients[b * self._rows : (b + 1) * self._rows]
            image -= part @ block[: len(part)]
        return coefficients

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
