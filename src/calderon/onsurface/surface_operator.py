"""Rational functions as partial fractions; those of the Laplace-Beltrami operator are sparse systems, one a fraction.

With X = Delta_Gamma / k_eps^2, the mass matrix M and the stiffness L, (1 + b X)^-1 = (M - b L / k_eps^2)^-1 M.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Complex
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.backends import require_memory, run_tasks
from calderon.solvers.symmetric import SymmetricFactors, SymmetricPencil
from calderon.spaces import Space
from calderon.validation import inverse


@dataclass(frozen=True, eq=False)
class PartialFractions:
    """f(X) = constant + sum_j weights[j] / (1 + shifts[j] X), with distinct shifts that are not zero.

    Affine maps, sums and reciprocals of such functions are such functions.
    """

    constant: complex
    weights: NDArray[Any]
    shifts: NDArray[Any]

    def __call__(self, X: ArrayLike) -> NDArray[np.complex128]:
        """f at numbers X of any shape."""
        x = np.asarray(X, dtype=complex)[..., None]
        return np.asarray(self.constant + np.sum(self.weights / (1 + self.shifts * x), axis=-1))

    def scaled(self, factor: complex) -> "PartialFractions":
        """factor f."""
        return PartialFractions(factor * self.constant, factor * self.weights, self.shifts)

    def raised(self, term: complex) -> "PartialFractions":
        """f + term."""
        return PartialFractions(self.constant + term, self.weights, self.shifts)

    def plus(self, other: "PartialFractions") -> "PartialFractions":
        """The sum of two functions without common shifts."""
        weights, shifts = np.append(self.weights, other.weights), np.append(self.shifts, other.shifts)
        return PartialFractions(self.constant + other.constant, weights, shifts)

    def reciprocal(self) -> "PartialFractions":
        """1 / f.

        With w_j = 1 / (1 + b_j X) the zeros of c + sum a_j w_j are the eigenvalues X of -(1 + 1 a^T / c) w = X b w; at
        each, 1 / f has the residue 1 / f'. Raises ValueError where f has a zero at X = 0 or at infinity.
        """
        a, b, c = self.weights, self.shifts, self.constant
        least = 1e-8 * max(abs(c), float(np.abs(a).max(initial=0.0)))
        if abs(c) <= least or abs(c + a.sum()) <= least:
            raise ValueError("the function vanishes at 0 or at infinity: its reciprocal has no partial fractions here")
        zeros = np.linalg.eigvals(-(np.eye(len(a)) + a[None] / c) / b[:, None])
        slopes = -np.sum(a * b / (1 + b * zeros[:, None]) ** 2, axis=1)
        return PartialFractions(1 / c, -1 / (slopes * zeros), -1 / zeros)


class SurfaceOperator(LinearOperator):
    """f(X), X = Delta_Gamma / k_eps^2, for a rational function f: maps coefficients (n,) or (n, m) to coefficients.

    space: P1 or P2. wavenumber: k_eps, that of X. functions: f as partial fractions, or several that are multiplied,
    the last one first. name: of f in texts. pencil: mass and stiffness of the space, ordered; made unless given.
    precision: of sparse factors, "double", or "single" for preconditioners of half the memory.

    Numbers act as multiples of the identity: `2 * A`, `A + 1`, `1 - A`; `A + B` adds functions of one X; `A @ B`
    multiplies them one after the other; `A.inverse()` is 1/f(X). `A.tested` is f(X) M^-1, which takes integrals against
    the test functions, such as residuals of Galerkin equations: the form of a preconditioner. Sparse factors are
    computed with the first product and kept; MemoryError where there is no room for them.

    Functions of which two poles nearly coincide lose digits as a sum of fractions; as a product they do not.
    """

    def __init__(
        self,
        space: Space,
        wavenumber: complex,
        functions: PartialFractions | tuple[PartialFractions, ...],
        name: str = "f(X)",
        pencil: SymmetricPencil | None = None,
        precision: str = "double",
    ) -> None:
        super().__init__(dtype=np.dtype(np.complex128), shape=(space.dimension, space.dimension))
        self.space = space
        self.wavenumber = complex(wavenumber)
        self.functions = (functions,) if isinstance(functions, PartialFractions) else functions
        self.name, self.precision = name, precision
        matrices = (space.mass_matrix(), space.laplace_beltrami_matrix())
        self.pencil = SymmetricPencil(matrices, space.nodes) if pencil is None else pencil

    def symbol(self, eigenvalues: ArrayLike) -> NDArray[np.complex128]:
        """The factors f(-lambda / k_eps^2) of functions with -Delta u = lambda u; eigenvalues: lambda in 1/m^2."""
        x = -np.asarray(eigenvalues) / self.wavenumber**2
        return np.asarray(np.prod([function(x) for function in self.functions], axis=0))

    @property
    def order(self) -> int:
        """Number of sparse systems."""
        return sum(len(function.shifts) for function in self.functions)

    @cached_property
    def tested(self) -> LinearOperator:
        """f(X) M^-1, a symmetric matrix: integrals (n,) or (n, m) against the basis functions to coefficients."""
        given: Any = {"matvec": self.from_tested, "matmat": self.from_tested, "dtype": self.dtype}
        adjoint = lambda x: self.from_tested(np.conj(x)).conj()  # noqa: E731
        found: Any = LinearOperator(self.shape, rmatvec=adjoint, rmatmat=adjoint, **given)
        found.name = f"OSRC of {self.order} sparse systems"
        return found

    def inverse(self) -> "SurfaceOperator":
        """1/f(X); ValueError where f vanishes at X = 0 or at infinity."""
        return self._replaced([function.reciprocal() for function in self.functions], f"1/({self.name})")

    def __mul__(self, other: Any) -> Any:  # a SurfaceOperator for numbers
        if not isinstance(other, Complex):
            return super().__mul__(other)
        factor, (first, *others) = complex(other), self.functions
        return self._replaced([first.scaled(factor), *others], f"({factor:.4g}) ({self.name})")

    __rmul__ = __mul__

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, SurfaceOperator) and self._has_same_variable(other):
            return self._replaced([*self.functions, *other.functions], f"({self.name}) times ({other.name})")
        return super().__matmul__(other)

    def __truediv__(self, other: complex) -> Any:
        return self * inverse(other, "the divisor of an operator")

    def __add__(self, other: Any) -> Any:
        is_sum = len(self.functions) == 1
        if is_sum and isinstance(other, SurfaceOperator) and self._has_same_variable(other):
            if len(other.functions) == 1:
                return self._replaced([self.functions[0].plus(other.functions[0])], f"{self.name} + {other.name}")
        if not (is_sum and isinstance(other, Complex)):
            return super().__add__(other)
        term = complex(other)
        return self._replaced([self.functions[0].raised(term)], f"{term:.4g} + {self.name}")

    __radd__ = __add__

    def __neg__(self) -> "SurfaceOperator":
        return self * -1

    def __rsub__(self, other: complex) -> Any:
        return (-self) + other

    def _has_same_variable(self, other: "SurfaceOperator") -> bool:
        return other.space is self.space and other.wavenumber == self.wavenumber

    def _replaced(self, functions: Sequence[PartialFractions], name: str) -> "SurfaceOperator":
        return SurfaceOperator(self.space, self.wavenumber, tuple(functions), name, self.pencil, self.precision)

    @property
    def mass(self) -> sp.csr_array:
        """The mass matrix M of the space."""
        return self.pencil.matrices[0]

    @cached_property
    def _factors(self) -> list[list[SymmetricFactors]]:
        """Sparse factors of M - b_j L / k_eps^2 for each fraction j of each function."""
        single = self.precision == "single"
        nbytes = self.order * self.pencil.nbytes(np.complex64 if single else np.complex128)
        advice = "try precision='single', or preconditioner='mass'"
        require_memory(nbytes, f"sparse factors of the {self.name}", advice)
        coefficients = [-function.shifts / self.wavenumber**2 for function in self.functions]
        return [_by_threads(lambda j: self.pencil.factorise(1.0, each[j], single=single), len(each))  # noqa: B023
                for each in coefficients]  # fmt: skip

    @cached_property
    def _mass_factors(self) -> SymmetricFactors:
        return self.pencil.factorise(1.0, 0.0, single=self.precision == "single")

    def _applied(self, function: int, values: NDArray[Any], tested: NDArray[Any]) -> NDArray[np.complex128]:
        """c u + sum_j a_j (M - b_j L / k_eps^2)^-1 M u by one of the functions, u: values, M u: tested; the terms by
        threads, added in their order."""
        fractions, factors = self.functions[function], self._factors[function]
        terms = _by_threads(lambda j: fractions.weights[j] * factors[j].solve(tested), len(factors))
        return np.asarray(fractions.constant * values + sum(terms, np.zeros(tested.shape, complex)))

    def from_tested(self, x: NDArray[Any]) -> NDArray[np.complex128]:
        """f(X) M^-1 x."""
        last = len(self.functions) - 1
        y = self._applied(last, self._mass_factors.solve(x), x)
        for number in reversed(range(last)):
            y = self._applied(number, y, self.mass @ y)
        return y

    def _matvec(self, x: NDArray[Any]) -> NDArray[np.complex128]:
        for number in reversed(range(len(self.functions))):
            x = self._applied(number, x, self.mass @ x)
        return x

    _matmat = _matvec

    def _rmatvec(self, x: NDArray[Any]) -> NDArray[np.complex128]:
        return np.asarray((self.mass @ self.from_tested(np.conj(x))).conj())

    def __str__(self) -> str:
        return f"{self.name} on {self.space.name}, {self.shape[0]} x {self.shape[1]}, {self.order} sparse systems"

    __repr__ = __str__


def _by_threads(task: Callable[[int], Any], number: int) -> list[Any]:
    """[task(0), ..., task(number - 1)]."""
    results: list[Any] = [None] * number

    def work(j: int) -> None:
        results[j] = task(j)

    run_tasks(work, number)
    return results
