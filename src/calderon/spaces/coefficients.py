"""Coefficients with a meaning: what scalar functions and vector fields of a space share."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.data import LabelledArrays
from calderon.validation import finite_number, inverse, unmasked
from calderon.view import Described, Scene, Surface


class _AnySpace(Protocol):
    @property
    def dimension(self) -> int: ...
    def interpolation(self, data: Any) -> Any: ...
    def projection(self, data: Any) -> Any: ...
    def mass_matrix(self) -> sp.csr_array: ...


S = TypeVar("S", bound=_AnySpace)


@dataclass(frozen=True, eq=False)
class Coefficients(Described, Generic[S]):
    """u = sum_j coefficients[j] phi_j with the functions phi_j of a space; label and unit go into files and pictures.

    Raises TypeError for another kind of space and for what are no numbers, ValueError when the number of coefficients
    is not the dimension, for NaN and infinity. Functions of one space add, and are multiplied by numbers. In
    products with matrices, `A @ u`, `u @ A @ u`, and for NumPy, `np.asarray(u)`, a function is its coefficients; other
    arithmetic with arrays needs `u.coefficients`.
    """

    space: S
    coefficients: NDArray[Any]
    label: str = "u"
    unit: str = ""

    kind: ClassVar[type | tuple[type, ...]]
    example: ClassVar[str]
    __array_ufunc__ = None  # NumPy's scalars leave the product to the function

    def __post_init__(self) -> None:
        self._require(self.space)
        if not (isinstance(self.label, str) and isinstance(self.unit, str)):
            raise TypeError(f"label and unit are texts, got {self.label!r} and {self.unit!r}")
        coefficients = np.array(unmasked(self.coefficients, "coefficients"))
        if coefficients.dtype.kind not in "biufc":
            raise TypeError(f"coefficients must be numbers, got an array of {coefficients.dtype}")
        if coefficients.shape != (self.space.dimension,):
            raise ValueError(
                f"{self.space} needs coefficients of shape ({self.space.dimension},), got {coefficients.shape}"
            )
        bad = np.flatnonzero(~np.isfinite(coefficients))
        if len(bad):
            raise ValueError(
                f"{len(bad)} of {len(coefficients)} coefficients are NaN or infinite, the first is number {bad[0]}"
            )
        coefficients.flags.writeable = False
        object.__setattr__(self, "coefficients", coefficients)

    @classmethod
    def _require(cls, space: Any) -> None:
        """TypeError for another kind of space."""
        if not isinstance(space, cls.kind):
            raise TypeError(
                f"a {cls.__name__} belongs to a space such as {cls.example}(mesh), got {type(space).__name__}"
            )

    @property
    def brief(self) -> str:
        """Label, unit and space."""
        return f"{self.label}{f' [{self.unit}]' if self.unit else ''} in {self.space!r}"

    @classmethod
    def interpolate(cls, space: S, data: Any, label: str = "u", unit: str = "") -> Self:
        """The function of `space` with the degrees of freedom of `data`: values at the nodes of scalar spaces, normal
        components on the edges of RWG (tangential for SNC). data: a constant, f(x) or f(x, n)."""
        cls._require(space)
        return cls(space, space.interpolation(data).coefficients, label, unit)

    @classmethod
    def project(cls, space: S, data: Any, label: str = "u", unit: str = "") -> Self:
        """The function of `space` nearest to `data` in L2."""
        cls._require(space)
        return cls(space, space.projection(data).coefficients, label, unit)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """(dimension,) the coefficients."""
        return np.array(self.coefficients, dtype, copy=copy)

    def __matmul__(self, other: Any) -> Any:
        """The coefficients times an array, a sparse matrix or the coefficients of another function."""
        return self.coefficients @ other

    def __rmatmul__(self, matrix: NDArray[Any]) -> Any:
        """An array times the coefficients."""
        return matrix @ self.coefficients

    @abstractmethod
    def arrays(self) -> LabelledArrays:
        """The function at places with their coordinates, as `data.LabelledArrays` (to_xarray(), to_pandas(),
        write_csv(path))."""

    def to_xarray(self) -> Any:
        """`arrays` as an `xarray.Dataset`."""
        return self.arrays().to_xarray()

    def to_pandas(self) -> Any:
        """`arrays` as a tidy `pandas.DataFrame`."""
        return self.arrays().to_pandas()

    def _scene_of(self, body: Surface) -> Scene:
        """The scene of a surface that shows the function."""
        return Scene((body,), title=self.label[:1].upper() + self.label[1:], subtitle=str(self.space))

    def l2_norm(self) -> float:
        """The L2 norm over the surface."""
        product = self.coefficients.conj() @ (self.space.mass_matrix() @ self.coefficients)
        return float(np.sqrt(max(product.real, 0.0)))

    def named(self, label: str, unit: str = "") -> Self:
        """This function under another label and unit."""
        return replace(self, label=label, unit=unit)

    def __add__(self, other: Self) -> Self:
        if not isinstance(other, type(self)) or other.space is not self.space:
            raise ValueError(
                f"only functions of the same space, on one mesh object, can be added, got {type(other).__name__}"
            )
        return replace(self, coefficients=self.coefficients + other.coefficients)

    def __sub__(self, other: Self) -> Self:
        return self + other * -1 if isinstance(other, type(self)) else self + other

    def __mul__(self, factor: complex) -> Self:
        return replace(self, coefficients=self.coefficients * finite_number(factor, "the factor of a function"))

    __rmul__ = __mul__

    def __truediv__(self, divisor: complex) -> Self:
        return self * inverse(divisor, "the divisor of a function")

    def __neg__(self) -> Self:
        return self * -1


def function_in(space: Any, coefficients: NDArray[Any]) -> Any:
    """The Function or VectorFunction with these coefficients, whichever belongs to the kind of the space."""
    return next(each for each in Coefficients.__subclasses__() if isinstance(space, each.kind))(space, coefficients)
