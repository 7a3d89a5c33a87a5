"""Other unknowns and weights of rows, in which an equation keeps its digits."""

from typing import Any

from numpy.typing import NDArray

from calderon.operators.methods import Method


class Scaling:
    """A change A x = b -> A' x' = L b with x = R x', and weights W of its residuals; here L = R = W = 1.

    Subclasses replace what differs. Vectors are columns (n, m).
    """

    def check(self, method: Method, rtol: float | None) -> None:
        """ValueError where a method of that accuracy, None of an exact one, does not hold the equation."""

    def holding(self, rtol: float) -> float:
        """The accuracy of compressed entries, at most `rtol`, that holds the equation."""
        return rtol

    def tested(self, rhs: NDArray[Any]) -> NDArray[Any]:
        """L b of right-hand sides b (n, m)."""
        return rhs

    def found(self, solution: NDArray[Any]) -> NDArray[Any]:
        """R x' of solutions x' (n, m)."""
        return solution

    def weighted(self, residuals: NDArray[Any]) -> NDArray[Any]:
        """W r of residuals r (n, m)."""
        return residuals

    def matrix(self, matrix: Any) -> Any:
        """W A' of the assembled matrix A'."""
        return matrix

    def preconditioner(self, inverse: Any, mass: bool) -> Any:
        """An approximate inverse of W A' from one of A'. mass: whether that is the inverse of the identity."""
        return inverse
