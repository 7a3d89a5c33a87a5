"""Power and files of a fed antenna, in space or on a board, from voltages, currents and the far field."""

import os
from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.data.far_fields import Directions
from calderon.data.pattern_files import Pattern, write_patterns
from calderon.validation import positive_length


class Feeds:
    """Voltages (p,) in V and currents (p,) in A at the feeds of an antenna, with its far field."""

    frequency: Any
    voltages: NDArray[np.complex128]
    feed_currents: NDArray[np.complex128]

    @abstractmethod
    def far_field(self, theta: ArrayLike, phi: ArrayLike | None = None) -> NDArray[np.complex128]: ...

    @abstractmethod
    def radiated_power(self) -> float: ...

    @property
    @abstractmethod
    def _eta(self) -> float: ...

    @property
    def input_power(self) -> float:
        """Time-averaged power in W that the feeds deliver, sum Re(U conj(I)) / 2."""
        return float(np.sum(self.voltages * self.feed_currents.conj()).real / 2)

    def available_power(self, reference: float = 50.0) -> float:
        """Power in W that generators of the internal resistance `reference` (ohm) could deliver which give the feeds
        these voltages: sum |U + R I|^2 / (8 R)."""
        r = reference_resistance(reference)
        return float(np.sum(np.abs(self.voltages + r * self.feed_currents) ** 2) / (8 * r))

    def pattern(self, theta: Any = None, phi: Any = None, reference: float = 50.0) -> Pattern:
        """The far field by theta and phi in radians, 1-D arrays, by default every 5 degrees."""
        angles = [(theta, 180), (phi, 360)]
        toward = Directions.of(*(np.radians(np.arange(0, end + 1, 5.0)) if a is None else a for a, end in angles))
        along = [each.values for each in toward.components(toward.evaluated(self.far_field))[:2]]
        powers = self.radiated_power(), self.input_power, self.available_power(reference)
        axes = [each.values for each in toward.axes]
        return Pattern(float(self.frequency), axes[0], axes[1], along[0], along[1], *powers, self._eta)

    def write_far_field(
        self, path: str | os.PathLike[str], theta: Any = None, phi: Any = None, reference: float = 50.0
    ) -> None:
        """Write the far field to a .ffe file (FEKO) or a .ffs file (CST), for exp(+j omega t) as these require; angles
        in radians, by default every 5 degrees. reference: of the lines, for the available power."""
        write_patterns(path, [self.pattern(theta, phi, reference)])


def reference_resistance(value: float) -> float:
    """The impedance in ohm of the lines at the feeds, positive; ValueError otherwise."""
    return positive_length(value, "the reference impedance in ohm, a positive resistance such as 50,")
