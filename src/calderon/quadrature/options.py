"""Options of the quadrature of boundary operators and potentials."""

import numbers
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Quadrature:
    """How integrals over pairs of triangles are computed.

    regular: degree of the symmetric rule for distant pairs (1 to 20; 4 means 6 x 6 points).
    singular: accuracy of touching pairs (2 to 12): the exponent of the error is in proportion, and each pair takes as
    many Gauss points along each direction as that requires; 8 gives 1e-6 for the double layer of 1 on a cube, 5 about
    1e-5. near: pairs closer than this many times the longer of their diameters get a raised degree or are subdivided.
    Matrices in single precision are accurate to 1e-5 of their largest entry: double layers use `singular` - 1, single
    layers `singular` - 2, both 0.95 `near`, except for quadratic functions and vector fields. Raises ValueError outside
    those ranges, TypeError for what is not a number.
    """

    regular: int = 4
    singular: int = 8
    near: float = 1.5

    def __post_init__(self) -> None:
        for name, low, high in (("regular", 1, 20), ("singular", 2, 12), ("near", 0.0, 10.0)):
            value: Any = getattr(self, name)
            kinds = numbers.Real if name == "near" else numbers.Integral
            if not isinstance(value, kinds) or isinstance(value, bool):
                what = "a number" if name == "near" else "an integer"
                raise TypeError(f"quadrature {name}={value!r} is not {what}: choose {low} to {high}")
            if not low <= value <= high:  # type: ignore[operator]
                raise ValueError(f"quadrature {name}={value!r} is out of range: choose {low} to {high}")

    def touching(self, power: int, coarse: bool) -> int:
        """`singular` for six digits, or for five, of a kernel singular like 1/|x - y|^power."""
        fewer = {1: 2, 2: 1}[power] if coarse else 0
        return max(2, self.singular - fewer)

    def reach(self, coarse: bool) -> float:
        """`near` for six digits, or for five."""
        return 0.95 * self.near if coarse else self.near


@dataclass(frozen=True)
class NearQuadrature(Quadrature):
    """Quadrature of the near entries of fast methods. Pairs that are farther apart than some 2.3 times their longest
    edges have the rule of degree `distant`, as charges of plane waves have it, in blocks of rows where that is
    possible. Vector fields in single precision have as few digits as others."""

    distant: int = 2
