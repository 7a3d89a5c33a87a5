"""Fields of surfaces as values: u(points), 2 * u + v."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.validation import finite_number, inverse, unmasked
from calderon.view import Described


class FieldAlgebra(Described):
    """A field that has values at points, adds to others of its kind and is multiplied by numbers."""

    __array_ufunc__ = None  # NumPy's scalars leave the product to the field

    def __call__(self, points: ArrayLike) -> NDArray[Any]:
        """The values (...) or vectors (..., 3) at points (..., 3); see `evaluate`."""
        x = unmasked(points, "points")
        if x.ndim == 0 or x.shape[-1] != 3:
            raise ValueError(f"points have three coordinates, shape (..., 3), got {x.shape}")
        values = self.evaluate(x.reshape(-1, 3))  # type: ignore[attr-defined]
        return np.asarray(values.reshape((*x.shape[:-1], *values.shape[1:])))

    def _weighted(self) -> tuple[tuple[complex, Any], ...]:
        """Factors and fields whose sum this field is."""
        return ((1.0, self),)

    def __add__(self, other: Any) -> "SumOfFields":
        if not isinstance(other, FieldAlgebra):
            return NotImplemented
        terms = (*self._weighted(), *other._weighted())
        kinds = {type(field).__name__ for _, field in terms}
        if len(kinds) > 1:
            raise TypeError(f"fields of one kind add, got {' and '.join(sorted(kinds))}")
        return SumOfFields(terms)

    def __mul__(self, factor: complex) -> "SumOfFields":
        number = finite_number(factor, "the factor of a field")
        return SumOfFields(tuple((weight * number, field) for weight, field in self._weighted()))

    __rmul__ = __mul__

    def __neg__(self) -> "SumOfFields":
        return self * -1

    def __sub__(self, other: Any) -> "SumOfFields":
        return self + -other if isinstance(other, FieldAlgebra) else NotImplemented

    def __truediv__(self, divisor: complex) -> "SumOfFields":
        return self * inverse(divisor, "the divisor of a field")


@dataclass(frozen=True, eq=False, repr=False)
class SumOfFields(FieldAlgebra):
    """sum_j c_j u_j for terms (c_j, u_j) of potentials, or of fields of currents."""

    terms: tuple[tuple[complex, Any], ...]

    def evaluate(self, points: ArrayLike, *given: Any, **options: Any) -> NDArray[Any]:
        """The values at points (n, 3); arguments as for the terms."""
        return np.sum([weight * field.evaluate(points, *given, **options) for weight, field in self.terms], axis=0)

    def gradient(self, points: ArrayLike, *given: Any, **options: Any) -> NDArray[Any]:
        """The gradient (n, 3) at points (n, 3); arguments as for the terms."""
        return np.sum([weight * field.gradient(points, *given, **options) for weight, field in self.terms], axis=0)

    def far_field(self, theta: ArrayLike, phi: ArrayLike | None = None, **options: Any) -> NDArray[Any]:
        """The far field; arguments as for the terms."""
        return np.sum([weight * field.far_field(theta, phi, **options) for weight, field in self.terms], axis=0)

    def _weighted(self) -> tuple[tuple[complex, Any], ...]:
        return self.terms

    @property
    def brief(self) -> str:
        """The number of terms and the first of them."""
        return f"{len(self.terms)} term(s), the first of {self.terms[0][1]!r}"
