"""Options of the quadrature of boundary operators and potentials."""

import numbers
from dataclasses import dataclass, replace
from typing import Any

ACCURACY = 1e-5
"""The usual `Quadrature.accuracy`; compressed methods replace it by what their tolerance permits."""


@dataclass(frozen=True)
class Quadrature:
    """How integrals over pairs of triangles are computed.

    regular: degree of the symmetric rule for pairs that are not near (1 to 20; 4 means 6 x 6 points).
    singular: accuracy of touching pairs (2 to 12): the exponent of the error is in proportion, and each pair takes as
    many Gauss points along each direction as that requires; 8 gives 1e-6 for the double layer of 1 on a cube, 5 about
    1e-5. near: pairs closer than this many times the longer of their diameters get a raised degree or are subdivided.
    Matrices in single precision are accurate to 1e-5 of their largest entry: double layers use `singular` - 1, single
    layers `singular` - 2, both 0.95 `near`, except for quadratic functions and vector fields.
    accuracy: error of entries, over the largest one, and of products, up to which distant pairs take cheaper rules than
    the usual one of degree 4 (pairs/zones.py; 0 to 0.1): 0 for one rule at any distance, as there is for another
    degree. Products of waves whose terms cancel to less than a tenth of their sum may miss it. Compressed methods take
    instead of the default what their tolerance permits, or requires where it is a smaller one. Raises ValueError
    outside those ranges, TypeError for what is not a number.
    """

    regular: int = 4
    singular: int = 8
    near: float = 1.5
    accuracy: float = ACCURACY

    def __post_init__(self) -> None:
        limits = ("regular", 1, 20), ("singular", 2, 12), ("near", 0.0, 10.0), ("accuracy", 0.0, 0.1)
        for name, low, high in limits:
            value: Any = getattr(self, name)
            kinds = numbers.Real if isinstance(low, float) else numbers.Integral
            if not isinstance(value, kinds) or isinstance(value, bool):
                what = "a number" if isinstance(low, float) else "an integer"
                raise TypeError(f"quadrature {name}={value!r} is not {what}: choose {low} to {high}")
            if not low <= value <= high:  # type: ignore[operator]
                raise ValueError(f"quadrature {name}={value!r} is out of range: choose {low} to {high}")

    def permitting(self, error: float) -> "Quadrature":
        """The quadrature with that accuracy instead of the usual one; as it is where another one was chosen."""
        return replace(self, accuracy=min(error, 0.1)) if self.accuracy == ACCURACY else self

    def touching(self, power: int, coarse: bool) -> int:
        """`singular` for six digits, or for five, of a kernel singular like 1/|x - y|^power."""
        fewer = {1: 2, 2: 1}[power] if coarse else 0
        return max(2, self.singular - fewer)

    def reach(self, coarse: bool) -> float:
        """`near` for six digits, or for five."""
        return 0.95 * self.near if coarse else self.near


@dataclass(frozen=True)
class NearQuadrature(Quadrature):
    """Quadrature of the near entries of fast methods: vector fields in single precision have as few digits as
    others."""
