"""Coefficients with a meaning: what scalar functions and vector fields of a space share."""

from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


class _AnySpace(Protocol):
    @property
    def dimension(self) -> int: ...
    def interpolation(self, data: Any) -> NDArray[Any]: ...
    def projection(self, data: Any) -> NDArray[Any]: ...
    def mass_matrix(self) -> sp.csr_array: ...


S = TypeVar("S", bound=_AnySpace)


@dataclass(frozen=True, eq=False)
class Coefficients(Generic[S]):
    """u = sum_j coefficients[j] phi_j with the functions phi_j of a space; label and unit go into files and pictures.

    Raises ValueError when the number of coefficients is not the dimension.
    """

    space: S
    coefficients: NDArray[Any]
    label: str = "u"
    unit: str = ""

    def __post_init__(self) -> None:
        coefficients = np.array(self.coefficients)
        if coefficients.shape != (self.space.dimension,):
            raise ValueError(
                f"{self.space} needs coefficients of shape ({self.space.dimension},), got {coefficients.shape}"
            )
        coefficients.flags.writeable = False
        object.__setattr__(self, "coefficients", coefficients)

    @classmethod
    def interpolate(cls, space: S, data: Any, label: str = "u", unit: str = "") -> Self:
        """The function of `space` with the degrees of freedom of `data`: values at the nodes of scalar spaces, normal
        components on the edges of RWG (tangential for SNC). data: a constant, f(x) or f(x, n)."""
        return cls(space, space.interpolation(data), label, unit)

    @classmethod
    def project(cls, space: S, data: Any, label: str = "u", unit: str = "") -> Self:
        """The function of `space` nearest to `data` in L2."""
        return cls(space, space.projection(data), label, unit)

    def l2_norm(self) -> float:
        """The L2 norm over the surface."""
        product = self.coefficients.conj() @ (self.space.mass_matrix() @ self.coefficients)
        return float(np.sqrt(max(product.real, 0.0)))

    def named(self, label: str, unit: str = "") -> Self:
        """The same function under another label and unit."""
        return replace(self, label=label, unit=unit)

    def __add__(self, other: Self) -> Self:
        if not isinstance(other, type(self)) or other.space is not self.space:
            raise ValueError("only functions of the same space object can be added")
        return replace(self, coefficients=self.coefficients + other.coefficients)

    def __sub__(self, other: Self) -> Self:
        return self + (-1) * other

    def __mul__(self, factor: complex) -> Self:
        return replace(self, coefficients=self.coefficients * factor)

    __rmul__ = __mul__
