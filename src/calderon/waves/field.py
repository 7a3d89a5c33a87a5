"""Incident fields: functions of points that add and are multiplied by numbers, scalar or electromagnetic."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from calderon.validation import along_normals, finite_number, one_of, wave_impedance


class IncidentField(ABC):
    """A field given in closed form. Fields with the same constants add, and are multiplied by numbers.

    wavenumber: k in 1/m; None for a field that takes it from the problem it is given to.
    """

    wavenumber: complex
    sums: ClassVar[Callable[..., "SumOfFields"]]
    """The class of sums of such fields."""
    __array_ufunc__ = None  # NumPy's scalars leave the product to the field

    def _weighted(self) -> tuple[tuple[complex, Any], ...]:
        """Factors and fields whose sum this field is."""
        return ((1.0, self),)

    def at(self, wavenumber: complex) -> Self:
        """This field, from its place, at another wavenumber in 1/m."""
        return replace(self, wavenumber=wavenumber)  # type: ignore[type-var]

    def mirrored(self, plane: str) -> Self:
        """The image of this field in a plane through the origin, "x" for x = 0, "y" or "z": u(R x) of sound, and E' =
        R E(R x), H' = -R H(R x) of an electromagnetic field."""
        raise TypeError(f"{type(self).__name__} has no image in the mirror {plane} = 0: add that of its sources to it")

    @property
    def _known_wavenumber(self) -> complex:
        """k; ValueError for a field that has none yet."""
        if self.wavenumber is None:
            raise ValueError(
                f"this {type(self).__name__} has no wavenumber of its own and takes that of the problem it is "
                "given to: to evaluate it, give wavenumber=k, or take .at(k)"
            )
        return self.wavenumber

    def __add__(self, other: Any) -> Any:
        if getattr(other, "sums", None) is not self.sums:
            return NotImplemented
        return self.sums((*self._weighted(), *other._weighted()))

    def __mul__(self, factor: complex) -> Any:
        number = finite_number(factor, "the factor of a wave")
        return self.sums(tuple((weight * number, field) for weight, field in self._weighted()))

    __rmul__ = __mul__

    def __neg__(self) -> Any:
        return self * -1

    def __sub__(self, other: Any) -> Any:
        return self + -other if getattr(other, "sums", None) is self.sums else NotImplemented


class SumOfFields(IncidentField):
    """sum_j c_j u_j for terms (c_j, u_j) with the same `constants`: attributes, and their names in errors."""

    terms: tuple[tuple[complex, Any], ...]
    constants: ClassVar[dict[str, str]] = {"wavenumber": "wavenumber"}

    def __post_init__(self) -> None:
        for weight, _ in self.terms:
            finite_number(weight, "the factor of a wave")
        for name, description in self.constants.items():
            given = [getattr(wave, name) for _, wave in self.terms]
            values = {value if value is None else complex(value) for value in given}
            if len(values) != 1:
                raise ValueError(
                    f"waves add only at one {description}, got {sorted(values, key=lambda k: abs(k or 0))}"
                )

    @property
    def wavenumber(self) -> complex:  # type: ignore[override]
        return self.terms[0][1].wavenumber

    def at(self, wavenumber: complex) -> Self:
        terms = tuple((weight, wave.at(wavenumber)) for weight, wave in self.terms)
        return replace(self, terms=terms)  # type: ignore[type-var]

    def mirrored(self, plane: str) -> Self:
        terms = tuple((weight, wave.mirrored(plane)) for weight, wave in self.terms)
        return replace(self, terms=terms)  # type: ignore[type-var]

    def _weighted(self) -> tuple[tuple[complex, Any], ...]:
        return self.terms

    def _sum(self, value: Callable[[Any], np.ndarray]) -> np.ndarray:
        """sum_j c_j value(u_j)."""
        return np.sum([weight * value(wave) for weight, wave in self.terms], axis=0)


class Wave(IncidentField):
    """A field given in closed form, with wavenumber k: Laplace u + k^2 u = 0 away from its sources.

    Waves of the same wavenumber add, and are multiplied by numbers.
    """

    @abstractmethod
    def __call__(self, x: ArrayLike, n: ArrayLike | None = None) -> np.ndarray:
        """The field (n,) at points x (n, 3); normals n, if given, are ignored (load vectors pass them)."""

    @abstractmethod
    def gradient(self, x: ArrayLike) -> np.ndarray:
        """The gradient (n, 3) at points x (n, 3)."""

    def normal_derivative(self, x: ArrayLike, n: ArrayLike) -> np.ndarray:
        """n . grad u (n,) at points x (n, 3) with normals n (n, 3)."""
        return along_normals(self.gradient(x), n)


@dataclass(frozen=True)
class Superposition(SumOfFields, Wave):
    """sum_j c_j u_j for terms (c_j, u_j) of one wavenumber."""

    terms: tuple[tuple[complex, Wave], ...]

    def __call__(self, x: ArrayLike, n: ArrayLike | None = None) -> np.ndarray:
        return self._sum(lambda wave: wave(x))

    def gradient(self, x: ArrayLike) -> np.ndarray:
        return self._sum(lambda wave: wave.gradient(x))


Wave.sums = Superposition


class ElectromagneticWave(IncidentField):
    """A field given in closed form in a medium of wavenumber k and impedance eta, time factor exp(-i omega t):
    curl E = ik eta H and curl H = -(ik / eta) E away from its sources.

    Waves of the same medium add, and are multiplied by numbers.

    impedance: eta; a wave that is made without takes that of the problem which is solved for it, and 1 alone: then H is
    in units of E over the impedance of the medium, "E0/eta". takes_impedance: whether it is made without.
    """

    impedance: complex
    takes_impedance: bool = False

    def at(self, wavenumber: complex, impedance: complex | None = None) -> Self:
        """This field, from its place, at another wavenumber in 1/m, and in a medium of another impedance if one is
        given."""
        if impedance is None and not self.takes_impedance:
            impedance = self.impedance
        return replace(self, wavenumber=wavenumber, impedance=impedance)  # type: ignore[type-var]

    def _settle_impedance(self) -> None:
        """Check the impedance; without one it is 1 as soon as the wavenumber is known."""
        given = self.impedance
        object.__setattr__(self, "takes_impedance", given is None)
        alone = None if self.wavenumber is None else 1.0
        object.__setattr__(self, "impedance", alone if given is None else wave_impedance(given))

    @abstractmethod
    def electric(self, points: ArrayLike) -> np.ndarray:
        """E (n, 3) in V/m at points (n, 3)."""

    @abstractmethod
    def magnetic(self, points: ArrayLike) -> np.ndarray:
        """H (n, 3) at points (n, 3), in A/m for eta in ohm."""


@dataclass(frozen=True)
class ElectromagneticSuperposition(SumOfFields, ElectromagneticWave):
    """sum_j c_j E_j and sum_j c_j H_j for terms (c_j, wave_j) of one medium."""

    terms: tuple[tuple[complex, ElectromagneticWave], ...]
    constants: ClassVar[dict[str, str]] = {"wavenumber": "wavenumber", "impedance": "impedance of the medium"}

    @property
    def impedance(self) -> complex:  # type: ignore[override]
        return self.terms[0][1].impedance

    @property
    def takes_impedance(self) -> bool:  # type: ignore[override]
        return all(wave.takes_impedance for _, wave in self.terms)

    def at(self, wavenumber: complex, impedance: complex | None = None) -> Self:
        return replace(self, terms=tuple((weight, wave.at(wavenumber, impedance)) for weight, wave in self.terms))

    def electric(self, points: ArrayLike) -> np.ndarray:
        return self._sum(lambda wave: wave.electric(points))

    def magnetic(self, points: ArrayLike) -> np.ndarray:
        return self._sum(lambda wave: wave.magnetic(points))


ElectromagneticWave.sums = ElectromagneticSuperposition


def reflected(vector: np.ndarray, plane: str) -> np.ndarray:
    """R v of vectors (..., 3), v with another sign across the plane "x", "y" or "z"; ValueError for another plane."""
    one_of(plane, ("x", "y", "z"), "plane")
    return np.where(np.arange(3) == "xyz".index(plane), -vector, vector)


def described_wavenumber(wave: IncidentField) -> str:
    """The wavenumber of a field as a part of its text."""
    return "k of the problem" if wave.wavenumber is None else f"k = {wave.wavenumber:.6g} 1/m"
