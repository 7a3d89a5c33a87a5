"""What all incident fields have in common: they add, and are multiplied by numbers."""

from abc import ABC
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from calderon.validation import finite_number


class IncidentField(ABC):
    """A field given in closed form. Fields with the same constants add, and are multiplied by numbers."""

    wavenumber: complex
    sums: ClassVar[Callable[..., "SumOfFields"]]
    """The class of sums of such fields."""
    __array_ufunc__ = None  # NumPy's scalars leave the product to the field

    def _weighted(self) -> tuple[tuple[complex, Any], ...]:
        """Factors and fields whose sum this field is."""
        return ((1.0, self),)

    def __add__(self, other: Any) -> Any:
        if getattr(other, "sums", None) is not self.sums:
            return NotImplemented
        return self.sums((*self._weighted(), *other._weighted()))

    def __mul__(self, factor: complex) -> Any:
        return self.sums(tuple((weight * factor, field) for weight, field in self._weighted()))

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
            values = {complex(getattr(wave, name)) for _, wave in self.terms}
            if len(values) != 1:
                raise ValueError(f"waves add only at one {description}, got {sorted(values, key=abs)}")

    @property
    def wavenumber(self) -> complex:  # type: ignore[override]
        return self.terms[0][1].wavenumber  # type: ignore[no-any-return]

    def _weighted(self) -> tuple[tuple[complex, Any], ...]:
        return self.terms

    def _sum(self, value: Callable[[Any], np.ndarray]) -> np.ndarray:
        """sum_j c_j value(u_j)."""
        return np.sum([weight * value(wave) for weight, wave in self.terms], axis=0)
