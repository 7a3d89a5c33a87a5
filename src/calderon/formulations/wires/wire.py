"""Thin wires."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from calderon.exact import SPEED_OF_LIGHT, VACUUM_IMPEDANCE
from calderon.layers import Conductor
from calderon.validation import (
    describe,
    instance,
    points_in_space,
    positive_length,
    relative_constant,
    whole_number,
)

MOST_SEGMENTS = 100_000
"""Segments of a wire, or of a deck, at most: a dense matrix of so many does not fit anywhere."""
MU0 = VACUUM_IMPEDANCE / SPEED_OF_LIGHT


@dataclass(frozen=True, eq=False)
class Wire:
    """A thin wire along straight parts, with a current that is piecewise linear and the same all around it.

    points (n, 3): its ends and bends in m; a closed loop ends where it begins. radius in m, of the metal. segments: how
    many carry linear functions, in all, distributed to the parts by their lengths, or a number for each part; twenty a
    wavelength give about 1 % of the impedance. conductor: a `Conductor` for metal that loses power; None for a perfect
    one. coating: (radius in m, relative permittivity) of an insulation, thin against the wavelength.

    Wires are joined where they have a common point at the end of a segment. Impedance per length of a conductor, with
    exp(-i omega t):

        Z' = kc / (2 pi a sigma) J0(kc a) / J1(kc a),      kc^2 = i omega mu sigma;

    a coating to the radius b acts as the radius a (b/a)^(1 - 1/eps) and the inductance mu0 / (2 pi) (1 - 1/eps) ln(b/a)
    per length.

    J. H. Richmond and E. H. Newman, Radio Sci. 11 (1976) 13 (coatings).
    """

    points: ArrayLike
    radius: float
    segments: int | Sequence[int] = 1
    conductor: Conductor | None = None
    coating: tuple[float, complex] | None = None

    def __post_init__(self) -> None:
        points = points_in_space(self.points, "the points of a wire")
        if len(points) < 2:
            raise ValueError(f"a wire has two points or more, got {len(points)}")
        lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
        if not lengths.min() > 1e-9 * lengths.max():
            number = int(lengths.argmin())
            raise ValueError(f"points {number} and {number + 1} of a wire are one: leave one of them out")
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "radius", positive_length(self.radius, "the radius of a wire in m"))
        object.__setattr__(self, "segments", self._distributed(lengths))
        if self.conductor is not None:
            instance(self.conductor, Conductor, "the conductor of a wire is a Conductor(sigma) or None")
            if self.conductor.thickness is not None:
                raise ValueError("wires are solid: their conductor has no thickness=")
        if self.coating is not None:
            object.__setattr__(self, "coating", self._coated())

    def _distributed(self, lengths: NDArray[np.float64]) -> tuple[int, ...]:
        """A number of segments for each part."""
        given = self.segments
        if isinstance(given, Sequence | np.ndarray):
            found = tuple(whole_number(each, "segments", most=MOST_SEGMENTS) for each in given)
            if len(found) != len(lengths):
                raise ValueError(f"segments has {len(found)} numbers, and the wire has {len(lengths)} straight parts")
            return found
        whole = whole_number(given, "segments", most=MOST_SEGMENTS)
        if whole < len(lengths):
            if whole != 1:
                raise ValueError(
                    f"segments = {whole}, and the wire has {len(lengths)} straight parts: give one for each"
                )
            return (1,) * len(lengths)
        shares = whole * lengths / lengths.sum()
        numbers = np.maximum(1, np.floor(shares)).astype(int)
        while (left := whole - numbers.sum()) != 0:  # the longest segments are divided, the shortest ones joined
            place = (
                np.argmax(lengths / numbers)
                if left > 0
                else np.argmin(np.where(numbers > 1, lengths / numbers, np.inf))
            )
            numbers[place] += np.sign(left)
        return tuple(int(each) for each in numbers)

    def _coated(self) -> tuple[float, complex]:
        if not isinstance(self.coating, tuple | list) or len(self.coating) != 2:
            raise TypeError(f"coating is (radius in m, relative permittivity), got {describe(self.coating)}")
        radius = positive_length(self.coating[0], "the radius of a coating in m")
        if not radius > self.radius:
            raise ValueError(f"the coating ends at {radius:g} m, within the metal, whose radius is {self.radius:g} m")
        return radius, complex(relative_constant(self.coating[1], "the permittivity of a coating"))

    @property
    def ends(self) -> NDArray[np.float64]:
        """(n + 1, 3) the ends of all segments along the wire."""
        points = np.asarray(self.points)
        numbers: tuple[int, ...] = self.segments  # type: ignore[assignment]
        parts = [
            a + np.arange(n)[:, None] / n * (b - a) for a, b, n in zip(points[:-1], points[1:], numbers, strict=True)
        ]
        return np.concatenate([*parts, points[-1:]])

    @property
    def effective_radius(self) -> float:
        """The radius in m of the bare wire that has the charges of the coated one."""
        if self.coating is None:
            return self.radius
        outer, permittivity = self.coating
        return float(self.radius * (outer / self.radius) ** (1 - 1 / permittivity).real)

    def impedance(self, frequency: float) -> complex:
        """Z' in ohm/m at a frequency in Hz, of metal and coating."""
        omega, found = 2 * np.pi * positive_length(frequency, "frequency"), 0j
        if self.conductor is not None:
            wavenumber = self.conductor.wavenumber(frequency)
            ratio = special.jve(0, wavenumber * self.radius) / special.jve(1, wavenumber * self.radius)
            own = wavenumber / (2 * np.pi * self.radius * self.conductor.sigma) * ratio
            found += complex(self.conductor.loss_factor(frequency) * own.real, own.imag)
        if self.coating is not None:
            outer, permittivity = self.coating
            found -= 1j * omega * MU0 / (2 * np.pi) * (1 - 1 / permittivity) * np.log(outer / self.radius)
        return complex(found)
